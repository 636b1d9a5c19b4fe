"""Memory that a kernel needs while it runs: a few KiB on the stack, the rest in a block of its thread.

A thread may have a stack of 128 KiB (`threading.stack_size`; some C libraries give no more), and a kernel that sums columns wants
600.  So each thread that runs such a kernel has a block, made when it is first wanted, kept for what follows (so that its pages
are there, as those of a stack would be), and given back by the C library when the thread ends.  Where it cannot be had the kernel
does nothing and returns `NO_MEMORY`.  Kernels do not call each other, so one block a thread is enough.

Neighbours: `loops.llvm.printer` (uses this), `llvm_leaf` (gives the symbols).
"""

from __future__ import annotations

from typing import Final

from .ir import NO_MEMORY
from .writer import Writer

ALIGN: Final = 64
ON_STACK: Final = 8 << 10
"""Bytes of one kernel's rooms that lie on the stack."""


class Rooms:
    """The rooms of one kernel, made once on entry."""

    def __init__(self, writer: Writer) -> None:
        self.w = writer
        self._near: list[str] = []
        self._far: list[str] = []
        self._on_stack = self._beside = 0

    def room(self, bytes: int) -> str:
        """The address of as many bytes, a multiple of `ALIGN`."""
        name = self.w.fresh()
        size = -(-bytes // ALIGN) * ALIGN
        if self._on_stack + size <= ON_STACK:
            self._on_stack += size
            self._near.append(f"  {name} = alloca [{bytes} x i8], align {ALIGN}")
        else:
            self._far.append(f"  {name} = getelementptr i8, ptr %rooms, i64 {self._beside}")
            self._beside += size
        return name

    def entry(self) -> list[str]:
        """The function's first block, which goes on to `start`."""
        found: list[str] = []
        if self._far:
            self.w.declarations[_BLOCK_OF_THREAD] = None
            found = [
                f"  %rooms = call noalias ptr @block_of_thread(i64 {self._beside})",
                "  %no.rooms = icmp eq ptr %rooms, null",
                "  br i1 %no.rooms, label %rooms.missing, label %rooms.there",
                "rooms.missing:",
                f"  ret i64 {NO_MEMORY}",
                "rooms.there:",
            ]
        return ["entry:", *self._near, *found, *self._far, "  br label %start"]


_BLOCK_OF_THREAD: Final = f"""
@rho_block_key = external global i64
declare ptr @rho_pthread_getspecific(i64)
declare i32 @rho_pthread_setspecific(i64, ptr)
declare ptr @rho_malloc(i64)
declare void @rho_free(ptr)

; This thread's block, made or made larger if need be; null if there is no memory.  Its first word: how many bytes it has.
define internal ptr @block_of_thread(i64 %bytes) noinline {{
  %key = load i64, ptr @rho_block_key
  %own = call ptr @rho_pthread_getspecific(i64 %key)
  %is.own = icmp ne ptr %own, null
  br i1 %is.own, label %look, label %make
look:
  %has = load i64, ptr %own
  %is.enough = icmp uge i64 %has, %bytes
  br i1 %is.enough, label %give, label %drop
drop:
  call i32 @rho_pthread_setspecific(i64 %key, ptr null)
  call void @rho_free(ptr %own)
  br label %make
make:
  %whole = add i64 %bytes, {2 * ALIGN}
  %made = call ptr @rho_malloc(i64 %whole)
  %is.made = icmp ne ptr %made, null
  br i1 %is.made, label %keep, label %fail
keep:
  store i64 %bytes, ptr %made
  %code = call i32 @rho_pthread_setspecific(i64 %key, ptr %made)
  %is.kept = icmp eq i32 %code, 0
  br i1 %is.kept, label %give, label %undo
undo:
  call void @rho_free(ptr %made)
  br label %fail
fail:
  ret ptr null
give:
  %block = phi ptr [ %own, %look ], [ %made, %keep ]
  %address = ptrtoint ptr %block to i64
  %beyond = add i64 %address, {8 + ALIGN - 1}
  %aligned = and i64 %beyond, -{ALIGN}
  %result = inttoptr i64 %aligned to ptr
  ret ptr %result
}}"""
