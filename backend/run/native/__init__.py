"""Native code that calls kernels: a pool of threads for the chunks of a launch, and the interpreter of programs of words.

Both are C (`runtime.c`), checked in as LLVM text (`runtime.ll`), compiled once and kept on disk.  Where that cannot be had (no
llvmlite, a host that is not as expected) everything goes through Python instead, with the same bits.

Workers are Python's daemon threads inside native code: they hold no lock of the interpreter, end with the process, and are
started when a launch first has chunks for them.  A forked child has a new pool without workers, and starts its own.

Neighbours: `host` (what it is given), `words` (the operations), `cpu.launching` (launches), `encode` (programs).
"""

from __future__ import annotations

import ctypes
import platform
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ....lang import forking
from ....lang.opening import read_text
from ...kernels import llvm_leaf
from ...kernels.store import address_of
from .host import Host, numpy_functions, of_python, this_host

__all__ = ["Launcher", "Native", "Runtime", "native", "numpy_functions"]

MOST_HELPERS: Final = 64
FOLDER: Final = Path(__file__).parent
_MOST_BYTES: Final = 1 << 20
"""Of the checked-in text."""
_FAST_CALL: Final = 0x80
_PAUSES: Final = {
    "x86_64": ("@llvm.x86.sse2.pause()", "()"),
    "AMD64": ("@llvm.x86.sse2.pause()", "()"),
    "aarch64": ("@llvm.aarch64.hint(i32 1)", "(i32)"),
    "arm64": ("@llvm.aarch64.hint(i32 1)", "(i32)"),
}

Launcher = Callable[[int, int, int], int]


@dataclass(frozen=True, slots=True)
class Runtime:
    """The runtime's code for a processor."""

    processor: str

    def text(self) -> str:
        """The module, with what tells this processor that a thread waits."""
        call, arguments = _PAUSES.get(self.processor, ("", ""))
        declared = f"declare void {call.split('(')[0]}{arguments}\n" if call else ""
        pause = f"define internal void @rho_pause() alwaysinline {{\n{call and f'  call void {call}'}\n  ret void\n}}\n"
        return llvm_leaf.QUICK + read_text(FOLDER / "runtime.ll", _MOST_BYTES) + declared + pause


class Native:
    """The runtime's functions.  `launch(words, slots, failure)`: addresses; gives up the interpreter lock."""

    def __init__(self, host: Host) -> None:
        self.launch: Launcher = ctypes.CFUNCTYPE(ctypes.c_int64, *(ctypes.c_void_p,) * 3)(host.launch)
        self.product = int(host.product)
        """Where the function is that makes a block of words calls of BLAS (`product.c`)."""
        self._work = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(host.worker)
        self._renewed = ctypes.CFUNCTYPE(ctypes.c_void_p)(host.renew)
        self._alone = ctypes.CFUNCTYPE(ctypes.c_void_p)(host.alone)
        self._method = _Method(b"call", host.call, _FAST_CALL, None)
        self._new_function = of_python("PyCFunction_NewEx", ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
        self._lock = forking.lock()
        self._renew()
        forking.in_children(self._renew)

    def function(self, words: Any, keep: Sequence[object]) -> Callable[..., Any]:
        """A Python function that runs the call of these words; it holds what their addresses mean."""
        function: Callable[..., Any] = self._new_function(ctypes.addressof(self._method), (words, *keep), None)
        return function

    def ask_for_helpers(self, count: int) -> None:
        """Have as many workers of the pool, if the system has threads."""
        if self._helpers >= count:
            return
        with self._lock:
            while self._helpers < min(count, MOST_HELPERS):
                thread = threading.Thread(target=self._work, args=(self._pool,), daemon=True, name="rho worker")
                try:
                    thread.start()
                except RuntimeError:
                    return
                self._helpers += 1

    @property
    def alone(self) -> ctypes.c_int64:
        """The nanoseconds of launches that are still to come alone (`pool.c`, Note [The pool])."""
        return ctypes.c_int64.from_address(self._alone())

    def _renew(self) -> None:
        self._helpers, self._pool = 0, self._renewed()
        if not self._pool:
            raise MemoryError


class _Method(ctypes.Structure):
    """Python's `PyMethodDef`."""

    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


def native() -> Native | None:
    """The runtime, compiled now if need be; None if this process cannot have it."""
    if not _made:
        with _making:
            if not _made:
                _made.append(_native())
    return _made[0]


_making = forking.lock()
_made: list[Native | None] = []


def _native() -> Native | None:
    host = this_host()
    if host is None or llvm_leaf.binding() is None:
        return None
    address = address_of(Runtime(platform.machine()))
    return None if address is None else started(host, address)


def started(host: Host, address: int) -> Native:
    """The runtime whose `kernel` is at an address, for this host."""
    ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(address)(ctypes.addressof(host))
    return Native(host)
