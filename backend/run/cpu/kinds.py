"""Storage of kinds on the CPU back end: one NumPy dtype a kind.

Text is stored as code points (`uint32`), so that comparison and sorting are those of numbers; the boundary converts to
and from NumPy's `U1` without a copy.  Everything else is stored as the outside stores it.

Neighbours: `run.values` (the same table at the boundary).
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from ....typechecker.core import Payload
from ....typechecker.elements import Kind

NumArray: TypeAlias = np.ndarray[Any, Any]

DTYPES: Final[dict[Kind, np.dtype[Any]]] = {
    Kind.BOOL: np.dtype(np.bool_), Kind.U8: np.dtype(np.uint8), Kind.I32: np.dtype(np.int32),
    Kind.I64: np.dtype(np.int64), Kind.F32: np.dtype(np.float32), Kind.F64: np.dtype(np.float64),
    Kind.C64: np.dtype(np.complex64), Kind.C128: np.dtype(np.complex128), Kind.CHAR: np.dtype(np.uint32),
}  # fmt: skip

FILLS: Final[dict[Kind, int]] = dict.fromkeys(Kind, 0) | {Kind.CHAR: ord(" ")}
"""The prototype of each kind, as stored."""


def constant(kind: Kind, value: Payload) -> NumArray:
    """A 0-d array of the kind (the form that ufuncs take fastest)."""
    return np.array(ord(value) if isinstance(value, str) else value, DTYPES[kind])


def constants(kind: Kind, data: tuple[Payload, ...], shape: tuple[int, ...]) -> NumArray:
    """A read-only array of the kind from row-major items."""
    if kind is Kind.CHAR:
        data = tuple(map(ord, data))  # type: ignore[arg-type]
    made = np.array(data, DTYPES[kind]).reshape(shape)
    made.flags.writeable = False
    return made


def start_of(array: NumArray) -> int:
    """Where its first item is."""
    found: int = array.__array_interface__["data"][0]
    return found


def stored(value: NumArray, kind: Kind) -> NumArray:
    """An outside array as it is stored here: text becomes code points, foreign byte orders and layouts are copied."""
    if type(value) is np.ndarray and value.dtype is DTYPES[kind]:
        return value
    if kind is Kind.CHAR and value.dtype.kind == "U":
        value = np.ascontiguousarray(value, np.dtype("U1")).view(np.uint32).reshape(value.shape)
    return np.asarray(value, DTYPES[kind])


def shown(value: NumArray, kind: Kind) -> NumArray:
    """A stored array as the outside knows it: text has dtype `U1`."""
    if kind is Kind.CHAR:
        return np.ascontiguousarray(value, np.uint32).view(np.dtype("U1")).reshape(value.shape)
    return value
