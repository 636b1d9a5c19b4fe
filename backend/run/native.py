"""Native code that calls kernels: a team of threads for the pieces of a launch, and Python functions that check and launch.

Both are one module of `kernels.native_text`, compiled once and kept on disk.  Where it cannot be had (no llvmlite, another Python
than CPython with its lock, fields of objects elsewhere than expected, no POSIX threads) everything goes through Python instead,
with the same bits.

Helpers are Python's daemon threads inside native code: they hold no lock of the interpreter, end with the process, and are
started when a launch first has pieces for them.  A forked child has a new team without helpers, and starts its own.

Neighbours: `kernels.native_text` (what the words mean), `cpu.compiled` (launches), `cpu.linking` (calls).
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..kernels import llvm_leaf
from ..kernels.native_text import CHANGE, FUNCTIONS, LOOKING, MUTEX, TEAM_BYTES, Layout
from ..kernels.store import address_of

LOOKING_NANOSECONDS: Final = 40_000
"""How long a helper looks for work before it sleeps."""
MOST_HELPERS: Final = 64
_PYTHON: Final = (
    "PyFloat_AsDouble", "PyLong_AsLongLong", "PyErr_Occurred", "PyErr_ExceptionMatches", "PyErr_Clear", "Py_IncRef",
    "Py_DecRef", "PyTuple_New", "PyTuple_SetItem", "PyObject_CallFunctionObjArgs", "PyEval_SaveThread", "PyEval_RestoreThread",
    "PyFloat_Type", "PyLong_Type", "PyExc_MemoryError", "PyObject_Vectorcall", "PyLong_FromLongLong",
)  # fmt: skip
_SYSTEM: Final = (
    "clock_gettime", "sched_yield", "pthread_mutex_lock", "pthread_mutex_unlock", "pthread_cond_wait", "pthread_cond_broadcast",
)  # fmt: skip
_PLACING: Final = ("sched_getcpu", "sched_getaffinity", "pthread_self", "pthread_setaffinity_np")
"""What Linux has of processors; without them helpers run where the system puts them."""
_NUMPY: Final = {"PyArray_NewFromDescr": 94, "PyArray_SetBaseObject": 282}
"""The places of these in NumPy's table of functions, which never move."""
_FAST_CALL: Final = 0x80

Launcher = Callable[[int, int, int], int]


class Native:
    """The functions of the module.  `launch(words, bases, failure)`: addresses; gives up the interpreter lock."""

    def __init__(self, addresses: Sequence[int]) -> None:
        worker, launch, call, self._team_variable = addresses
        self.launch: Launcher = ctypes.CFUNCTYPE(ctypes.c_int64, *(ctypes.c_void_p,) * 3)(launch)
        self._work = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(worker)
        self._method = _Method(b"call", call, _FAST_CALL, None)
        self._new_function = _of_python("PyCFunction_NewEx", ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
        self._helpers = 0
        self._team = 0
        self._lock = threading.Lock()
        self._renew()
        os.register_at_fork(before=self._lock.acquire, after_in_parent=self._lock.release, after_in_child=self._forked)

    def function(self, words: Any, keep: Sequence[object]) -> Callable[..., Any]:
        """A Python function that runs the call of these words; it holds what their addresses mean."""
        function: Callable[..., Any] = self._new_function(ctypes.addressof(self._method), (words, *keep), None)
        return function

    def ask_for_helpers(self, count: int) -> None:
        """Have as many helpers, if the system has threads."""
        if self._helpers >= count:
            return
        with self._lock:
            while self._helpers < min(count, MOST_HELPERS):
                thread = threading.Thread(target=self._work, args=(self._team,), daemon=True, name="rho helper")
                try:
                    thread.start()
                except RuntimeError:
                    return
                self._helpers += 1

    def _renew(self) -> None:
        self._team = _new_team()
        ctypes.c_void_p.from_address(self._team_variable).value = self._team
        self._helpers = 0

    def _forked(self) -> None:
        self._renew()
        self._lock.release()


def _of_python(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    """A function of Python's interface, with a type that no other user of `pythonapi` changes."""
    found: Callable[..., Any] = ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))
    return found


class _Method(ctypes.Structure):
    """Python's `PyMethodDef`."""

    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


def _new_team() -> int:
    """The address of a team's memory, which is never given back: helpers look at it until the process is gone."""
    memory: int | None = _of_python("PyMem_RawCalloc", ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)(1, TEAM_BYTES + 64)
    if memory is None:
        raise MemoryError
    team = -(-memory // 64) * 64
    system = ctypes.CDLL(None)
    system.pthread_mutex_init(ctypes.c_void_p(team + MUTEX), None)
    system.pthread_cond_init(ctypes.c_void_p(team + CHANGE), None)
    ctypes.c_int64.from_address(team + LOOKING).value = LOOKING_NANOSECONDS
    return team


def native() -> Native | None:
    """The module, compiled now if need be; None if this process cannot have it."""
    if not _made:
        with _making:
            if not _made:
                _made.append(_native())
    return _made[0]


_making = threading.Lock()
_made: list[Native | None] = []


def _native() -> Native | None:
    layout = _layout()
    if layout is None or llvm_leaf.binding() is None:
        return None
    symbols = _symbols((*_SYSTEM, *_PLACING) if layout.places else _SYSTEM)
    if symbols is None:
        return None
    llvm_leaf.name_symbols(symbols)
    address = address_of(layout)
    if address is None:
        return None
    words = (ctypes.c_int64 * len(FUNCTIONS))()
    ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(address)(ctypes.addressof(words))
    return Native(list(words))


def _symbols(names: Sequence[str]) -> dict[str, int] | None:
    system = ctypes.CDLL(None)
    try:
        found = {name: _address(getattr(ctypes.pythonapi, name)) for name in _PYTHON}
        found |= {name: _address(getattr(system, name)) for name in names}
    except AttributeError:
        return None
    table = numpy_functions()
    if table is None:
        return None
    return found | {name: ctypes.c_void_p.from_address(table + place * 8).value or 0 for name, place in _NUMPY.items()}


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def numpy_functions() -> int | None:
    """The address of NumPy's table of functions."""
    core = getattr(np, "_core", None)
    capsule = getattr(getattr(core, "_multiarray_umath", None), "_ARRAY_API", None)
    if capsule is None:
        return None
    found: int | None = _of_python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(capsule, None)
    return found


def _layout() -> Layout | None:
    """Where fields are, if they are where they are expected."""
    if platform.python_implementation() != "CPython" or os.name != "posix" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    if sys.byteorder != "little" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    head = object.__basicsize__
    layout = Layout(
        head - 8, tuple.__basicsize__, head, head + 8, head + 16, head + 24, head + 40,
        time.CLOCK_MONOTONIC, platform.machine(), all(hasattr(ctypes.CDLL(None), name) for name in _PLACING),
    )  # fmt: skip
    examples = (np.zeros((2, 3))[:, ::2], np.arange(5, dtype=np.int32)[::-1], np.zeros(()), np.zeros((0, 4), np.bool_))
    return layout if all(_is_as_expected(layout, array) for array in examples) else None


def _is_as_expected(layout: Layout, array: Any) -> bool:
    at = id(array)

    def word(address: int) -> int | None:
        return ctypes.c_void_p.from_address(address).value

    if word(at + layout.type) != id(np.ndarray) or word(at + layout.dtype) != id(array.dtype):
        return False
    if word(at + layout.data) != array.ctypes.data or ctypes.c_int.from_address(at + layout.rank).value != array.ndim:
        return False
    pair = (array, None)
    if word(id(pair) + layout.items) != at:
        return False
    shape, strides = word(at + layout.shape), word(at + layout.strides)
    if not array.ndim:
        return True
    assert shape is not None and strides is not None
    row = ctypes.c_int64 * array.ndim
    return bool(tuple(row.from_address(shape)) == array.shape and tuple(row.from_address(strides)) == array.strides)
