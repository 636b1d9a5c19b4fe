"""The addresses of NumPy's sorting functions, for kernels that call them: the fastest sorts of this processor, in any thread.

They are in the public table of a type (`PyArray_ArrFuncs` of numpy/ndarraytypes.h, which `_PyDataType_GetArrFuncs` gives), work
in place, hold no lock, and allocate nothing for numbers.  Each is tried once before it is used.

Neighbours: `compiled_sorts` (asks), `sort_text` (calls them); `run.native` (NumPy's table of functions).
"""

from __future__ import annotations

import ctypes
import platform
from typing import Any, Final

import numpy as np

from ..run.native import numpy_functions

_VERSION: Final = 0x02000000
_VERSION_PLACE: Final = 0
_OF_TYPE_PLACE: Final = 365
"""Places in NumPy's table, which never move within this version."""
_SORT_PLACE: Final = 21 + 12
"""Words of a type's table before its first sort: casts, and single functions."""
_found: dict[np.dtype[Any], int | None] = {}


def numpy_sort(dtype: np.dtype[Any]) -> int | None:
    """Where the function is; None where it cannot be had."""
    if dtype not in _found:
        _found[dtype] = _sort_of(dtype)
    return _found[dtype]


def _sort_of(dtype: np.dtype[Any]) -> int | None:
    table = numpy_functions() if platform.python_implementation() == "CPython" and ctypes.sizeof(ctypes.c_void_p) == 8 else None
    if table is None or not dtype.isnative or dtype.kind not in "fiub":
        return None
    version, of_type = (ctypes.c_void_p.from_address(table + 8 * place).value for place in (_VERSION_PLACE, _OF_TYPE_PLACE))
    if version is None or of_type is None or ctypes.CFUNCTYPE(ctypes.c_uint)(version)() != _VERSION:
        return None
    functions: int | None = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(of_type)(dtype)
    address = None if functions is None else ctypes.c_void_p.from_address(functions + 8 * _SORT_PLACE).value
    return address if address is not None and _sorts(address, dtype) else None


def _sorts(address: int, dtype: np.dtype[Any]) -> bool:
    items = (np.arange(300) * 77 % 101 % (2 if dtype.kind == "b" else 101)).astype(dtype)
    wanted = np.sort(items)
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)(address)
    return function(items.ctypes.data, len(items), None) == 0 and np.array_equal(items, wanted)
