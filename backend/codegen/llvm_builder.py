"""Writes LLVM text in single assignment: fresh names, basic blocks, counted loops with carried values.

A loop's phis are written before what they carry is known; their lines are filled in when the loop ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...lang.support.records import dataclass
from ..lower.loop_order import NAME, NO_MEMORY

# ---------------------------------------------------------------------------------------- instruction writer

@dataclass(slots=True)
class EmittedLoop:
    """An open loop: `index` counts; `carried` are the values at the start of an iteration and, after the loop, the last ones."""

    index: str
    carried: tuple[str, ...]
    head: str
    exit: str
    step: str
    _types: tuple[str, ...]
    _lines: tuple[int, ...]
    _entry: tuple[str, ...]


class IrBuilder:
    """Writes the lines of one function body; `block` is the label of the current basic block."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.block = ""
        self._names = 0
        self.declarations: dict[str, None] = {}

    def fresh(self) -> str:
        self._names += 1
        return f"%v{self._names}"

    def let(self, text: str) -> str:
        """Appends an instruction; returns the name of its value."""
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def new_label(self) -> str:
        self._names += 1
        return f"b{self._names}"

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self.block = name

    def jump(self, label: str) -> None:
        self.do(f"br label %{label}")

    def branch(self, condition: str, then: str, otherwise: str) -> None:
        self.do(f"br i1 {condition}, label %{then}, label %{otherwise}")

    def call(self, result: str, name: str, *args: tuple[str, str]) -> str:
        """Appends a call of a declared function or intrinsic; `args` are (type, value)."""
        self.declarations[f"declare {result} @{name}({', '.join(type for type, _ in args)})"] = None
        return self.let(f"call {result} @{name}({', '.join(f'{type} {value}' for type, value in args)})")

    def hole(self) -> int:
        """Appends a placeholder line, which is filled in later; returns its index."""
        self.lines.append("")
        return len(self.lines) - 1

    def fill(self, hole: int, text: str) -> None:
        self.lines[hole] = f"  {text}"

    # ------------------------------------------------------------------------------- 64-bit arithmetic

    def word(self, operation: str, left: object, right: object) -> str:
        return self.let(f"{operation} i64 {left}, {right}")

    def test(self, relation: str, left: object, right: object) -> str:
        return self.let(f"icmp {relation} i64 {left}, {right}")

    def smaller(self, left: object, right: object) -> str:
        return self.call("i64", "llvm.umin.i64", ("i64", str(left)), ("i64", str(right)))

    def at(self, pointer: str, offset: object) -> str:
        """An address plus an offset in bytes."""
        return self.let(f"getelementptr i8, ptr {pointer}, i64 {offset}")

    # ------------------------------------------------------------------------------------------ loops

    def begin(self, start: object, stop: object, step: object = 1, carried: Sequence[tuple[str, str]] = ()) -> EmittedLoop:
        """Opens a loop `while index < stop` (unsigned), with `carried` values given as (type, first value)."""
        before, head, body, leave = self.block, self.new_label(), self.new_label(), self.new_label()
        self.jump(head)
        self.label(head)
        names = [self.fresh() for _ in range(len(carried) + 1)]
        lines = [self.hole() for _ in names]
        going = self.test("ult", names[0], stop)
        self.branch(going, body, leave)
        self.label(body)
        types = ("i64", *(type for type, _ in carried))
        firsts = (str(start), *(first for _, first in carried))
        entry = tuple(f"[ {first}, %{before} ]" for first in firsts)
        return EmittedLoop(names[0], tuple(names[1:]), head, leave, str(step), types, tuple(lines), entry)

    def end(self, loop: EmittedLoop, carried: Sequence[str] = ()) -> None:
        following = self.word("add", loop.index, loop.step)
        latch = self.block
        self.jump(loop.head)
        values = (following, *carried)
        names = (loop.index, *loop.carried)
        for name, type, line, entry, value in zip(names, loop._types, loop._lines, loop._entry, values, strict=True):
            self.fill(line, f"{name} = phi {type} {entry}, [ {value}, %{latch} ]")
        self.label(loop.exit)


def function_text(writer: IrBuilder, lines: list[str]) -> str:
    """The module of a finished function body."""
    body, declarations = "\n".join(lines), "\n".join(writer.declarations)
    metadata = "\n!0 = !{i32 1}\n" if "!nontemporal" in body else "\n"
    return (
        f"define i64 @{NAME}(ptr noalias %words) #0 {{\n{body}\n}}\n{declarations}\n"
        f'attributes #0 = {{ nounwind "prefer-vector-width"="512" "no-trapping-math"="true" }}{metadata}'
    )


# ------------------------------------------------------------------------------------------- scratch memory
#
# Memory that a kernel needs while it runs: a few KiB on the stack, the rest in a block that belongs to its thread.
#
# A thread may have a stack of 128 KiB (`threading.stack_size`; some C libraries give no more), and a kernel that sums columns
# needs 600.  So each thread that runs such a kernel allocates a block on first use, keeps it for later kernels (its pages then
# are mapped, as a stack's are), and the C library frees it when the thread ends.  A kernel that gets no block does nothing and
# returns `NO_MEMORY`.  Kernels do not call each other, so one block per thread suffices.

ALIGN: Final = 64
ON_STACK: Final = 8 << 10
"""The most bytes of one kernel's scratch memory that are on the stack."""


class ThreadArena:
    """Scratch memory of one kernel, allocated once on entry: on the stack up to `ON_STACK` bytes, else in its thread's block."""

    def __init__(self, writer: IrBuilder) -> None:
        self.w = writer
        self._near: list[str] = []
        self._far: list[str] = []
        self._on_stack = self._arena_bytes = 0

    def room(self, bytes: int) -> str:
        """The address of as many bytes, a multiple of `ALIGN`."""
        name = self.w.fresh()
        size = -(-bytes // ALIGN) * ALIGN
        if self._on_stack + size <= ON_STACK:
            self._on_stack += size
            self._near.append(f"  {name} = alloca [{bytes} x i8], align {ALIGN}")
        else:
            self._far.append(f"  {name} = getelementptr i8, ptr %rooms, i64 {self._arena_bytes}")
            self._arena_bytes += size
        return name

    def entry(self) -> list[str]:
        """The function's first block, which goes on to `start`."""
        stack_test: list[str] = []
        if self._far:
            self.w.declarations[_BLOCK_OF_THREAD] = None
            stack_test = [
                f"  %rooms = call noalias ptr @block_of_thread(i64 {self._arena_bytes})",
                "  %no.rooms = icmp eq ptr %rooms, null",
                "  br i1 %no.rooms, label %rooms.missing, label %rooms.there",
                "rooms.missing:",
                f"  ret i64 {NO_MEMORY}",
                "rooms.there:",
            ]
        return ["entry:", *self._near, *stack_test, *self._far, "  br label %start"]


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
