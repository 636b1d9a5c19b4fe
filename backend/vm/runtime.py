"""The native runtime: a thread pool for the tasks of a launch, and the interpreter of native programs.

Both are written in C (`runtime.c`) and checked in as LLVM text (`runtime.ll`), which is compiled once and cached on disk.
Without it (no llvmlite, an unsupported host) Python does the same work with the same bits.

Pool threads are daemon threads of Python that stay in native code.  They hold no interpreter lock, end with the process, and are
started when a launch first has tasks for them.  A forked child starts a new pool.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...lang.support import processes
from ...lang.support.files import read_text
from ...lang.support.records import dataclass
from ..jit import compiler, tiering
from .run_state import MovedArray

# ---------------------------------------------------------------------------------------------------- addresses of the host
#
# The host as the runtime sees it (`host.h`): addresses of functions, field offsets in Python's objects, and constants of the
# system.

ROUTINES: Final = ("product", "solve", "sorted_rows")
_RUNTIME_ENTRIES: Final = ("worker", "launch", "call", "renew", "alone", *ROUTINES)
_SYSTEM: Final = (
    "malloc", "free", "clock_gettime", "sched_yield", "pthread_mutex_init", "pthread_cond_init", "pthread_mutex_lock",
    "pthread_mutex_unlock", "pthread_cond_wait", "pthread_cond_broadcast",
)  # fmt: skip
_PROCESSORS: Final = ("sched_getcpu", "sched_getaffinity", "pthread_self", "pthread_setaffinity_np")
"""Functions of Linux that pin threads to processors; without them the system places the pool threads."""
_PYTHON: Final = (
    "PyFloat_AsDouble", "PyLong_AsLongLong", "PyErr_Occurred", "PyErr_Fetch", "PyErr_Restore", "PyErr_Clear", "PyErr_NoMemory",
    "PyErr_CheckSignals", "Py_IncRef", "Py_DecRef", "PyTuple_New", "PyTuple_SetItem", "PyObject_Vectorcall",
    "PyLong_FromLongLong", "PyBytes_FromStringAndSize", "PyEval_SaveThread", "PyEval_RestoreThread",
    "PyFloat_Type", "PyLong_Type",
)  # fmt: skip
_NUMPY: Final = {"PyArray_NewFromDescr": 94, "PyArray_SetBaseObject": 282}
"""Indices in NumPy's table of C functions, which are part of its ABI."""
_CONSTANTS: Final = ("clock", "worth_waking", "long_work", "pause")
_LAYOUT: Final = ("type", "items", "bytes", "data", "rank", "shape", "strides", "base", "dtype")


class HostStruct(ctypes.Structure):
    """The Python form of `struct host`."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (*_RUNTIME_ENTRIES, *_SYSTEM, *_PROCESSORS, *_PYTHON, *_NUMPY, *_LAYOUT, *_CONSTANTS)
    )


def describe_host() -> HostStruct | None:
    """Describes the host; None if the runtime does not support it: another Python than CPython with its lock, unexpected field
    offsets, or a system without POSIX threads."""
    layout, table = _layout(), numpy_functions()
    if layout is None or table is None:
        return None
    system = ctypes.CDLL(None)
    try:
        addresses = {name: _address(getattr(system, name)) for name in _SYSTEM}
        addresses |= {name: _address(getattr(ctypes.pythonapi, name)) for name in _PYTHON}
    except AttributeError:
        return None
    if all(hasattr(system, name) for name in _PROCESSORS):
        addresses |= {name: _address(getattr(system, name)) for name in _PROCESSORS}
    addresses |= {name: ctypes.c_void_p.from_address(table + slot * 8).value or 0 for name, slot in _NUMPY.items()}
    constants = dict(
        zip(_CONSTANTS, (time.CLOCK_MONOTONIC, tiering.WORTH_WAKING, tiering.LONG_NANOSECONDS, id(yield_to_python)), strict=True)
    )
    return HostStruct(**addresses, **layout, **constants)


def yield_to_python() -> None:
    """Called at intervals by loops and long launches.  When a Python function begins, CPython handles signals and exceptions from
    other threads, and lets other threads run."""


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def python_api(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    """A function of Python's C API, with its own prototype, so that other users of `ctypes.pythonapi` cannot change it."""
    function: Callable[..., Any] = ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))
    return function


def numpy_functions() -> int | None:
    """The address of NumPy's table of C functions."""
    core = getattr(np, "_core", None)
    capsule = getattr(getattr(core, "_multiarray_umath", None), "_ARRAY_API", None)
    if capsule is None:
        return None
    table: int | None = python_api("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(capsule, None)
    return table


def _layout() -> dict[str, int] | None:
    """Field offsets in CPython's and NumPy's objects; None if they differ from what is expected."""
    if platform.python_implementation() != "CPython" or os.name != "posix" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    if sys.byteorder != "little" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    head = object.__basicsize__
    places = (head - 8, tuple.__basicsize__, bytes.__basicsize__ - 1, head, head + 8, head + 16, head + 24, head + 32, head + 40)
    layout = dict(zip(_LAYOUT, places, strict=True))
    examples = (np.zeros((2, 3))[:, ::2], np.arange(5, dtype=np.int32)[::-1], np.zeros(()), np.zeros((0, 4), np.bool_))
    text = b"some"
    if ctypes.string_at(id(text) + layout["bytes"], len(text)) != text:
        return None
    return layout if all(_is_as_expected(layout, array) for array in examples) else None


def _is_as_expected(layout: dict[str, int], array: Any) -> bool:
    at = id(array)

    def word(address: int) -> int | None:
        return ctypes.c_void_p.from_address(address).value

    if word(at + layout["type"]) != id(np.ndarray) or word(at + layout["dtype"]) != id(array.dtype):
        return False
    if word(at + layout["data"]) != array.ctypes.data or ctypes.c_int.from_address(at + layout["rank"]).value != array.ndim:
        return False
    if word(at + layout["base"]) != (None if array.base is None else id(array.base)):
        return False
    pair, cell = (array, None), MovedArray([array])
    items = word(id(cell) + layout["items"])
    if word(id(pair) + layout["items"]) != at or items is None or word(items) != at:
        return False
    shape, strides = word(at + layout["shape"]), word(at + layout["strides"])
    if not array.ndim:
        return True
    assert shape is not None and strides is not None
    row = ctypes.c_int64 * array.ndim
    return bool(tuple(row.from_address(shape)) == array.shape and tuple(row.from_address(strides)) == array.strides)


# ---------------------------------------------------------------------------------------------------- native library

__all__ = ["Launcher", "Native", "Runtime", "native", "numpy_functions"]

MAX_POOL_THREADS: Final = 64
FOLDER: Final = Path(__file__).parent
_MAX_TEXT_BYTES: Final = 1 << 20
"""The most bytes of the checked-in text."""
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
    """The text of the runtime for a processor."""

    processor: str

    def text(self) -> str:
        """The LLVM module, with this processor's spin-wait instruction."""
        call, arguments = _PAUSES.get(self.processor, ("", ""))
        declared = f"declare void {call.split('(')[0]}{arguments}\n" if call else ""
        pause = f"define internal void @rho_pause() alwaysinline {{\n{call and f'  call void {call}'}\n  ret void\n}}\n"
        return compiler.UNOPTIMIZED + read_text(FOLDER / "runtime.ll", _MAX_TEXT_BYTES) + declared + pause


class Native:
    """The functions of the runtime.  `launch(words, slots, failure)` takes addresses, and raises the exception of an
    interrupt."""

    def __init__(self, host: HostStruct) -> None:
        self.launch: Launcher = ctypes.PYFUNCTYPE(ctypes.c_int64, *(ctypes.c_void_p,) * 3)(host.launch)
        self.routines = {name: int(getattr(host, name)) for name in ROUTINES}
        """The addresses of the functions that turn an argument block into calls of libraries (`routines.c`)."""
        self._work = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(host.worker)
        self._renewed = ctypes.CFUNCTYPE(ctypes.c_void_p)(host.renew)
        self._alone = ctypes.CFUNCTYPE(ctypes.c_void_p)(host.alone)
        self._method = _Method(b"call", host.call, _FAST_CALL, None)
        self._new_function = python_api("PyCFunction_NewEx", ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
        self._lock = processes.lock()
        processes.keep_forever(self._method)  # functions read it when they are freed
        self._renew()
        processes.in_children(self._renew)

    def function(self, words: Any, keep: Sequence[object]) -> Callable[..., Any]:
        """A Python function that runs the native program `words`; it keeps the objects in `keep` alive."""
        function: Callable[..., Any] = self._new_function(ctypes.addressof(self._method), (words, *keep), None)
        return function

    def ask_for_helpers(self, count: int) -> None:
        """Start pool threads until there are `count`, unless the system refuses more threads."""
        if self._helpers >= count:
            return
        with self._lock:
            while self._helpers < min(count, MAX_POOL_THREADS):
                thread = threading.Thread(target=self._work, args=(self._pool,), daemon=True, name="rho worker")
                try:
                    thread.start()
                except RuntimeError:
                    return
                self._helpers += 1

    @property
    def alone(self) -> ctypes.c_int64:
        """Nanoseconds of work that launches still do alone before they wake pool threads (`pool.c`, Note [The pool])."""
        return ctypes.c_int64.from_address(self._alone())

    def _renew(self) -> None:
        self._helpers, self._pool = 0, self._renewed()
        if not self._pool:
            raise MemoryError


class _Method(ctypes.Structure):
    """Python's `PyMethodDef`."""

    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


def native() -> Native | None:
    """The runtime, compiled now if necessary; None if this process cannot use it."""
    if not _made:
        with _making:
            if not _made:
                _made.append(_native())
    return _made[0]


def routine_address(name: str) -> int:
    """The address of a routine of `routines.c`; 0 if this process or `RHO_KERNELS` has none."""
    runtime = None if tiering.mode() is tiering.Mode.OFF else native()
    return 0 if runtime is None else runtime.routines[name]


_making = processes.lock()
_made: list[Native | None] = []


def _native() -> Native | None:
    host = describe_host()
    if host is None:
        return None
    address = compiler.address_of(Runtime(platform.machine()))
    return None if address is None else start_runtime(host, address)


def start_runtime(host: HostStruct, address: int) -> Native:
    """Starts the runtime, whose entry function is at `address`."""
    ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(address)(ctypes.addressof(host))
    return Native(host)
