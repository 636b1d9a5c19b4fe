"""Python values as arrays that Rho can take, without copying where the memory can be shared.

Taken: anything with the array interface, the buffer protocol or DLPack (on the CPU), numbers, text, and nested lists.

Neighbours: `functions`, `programs`; `backend.run.values` (which element types there are).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backend.run.values import kind_of_dtype
from ...typechecker.elements import Kind


def as_array(value: object, what: str) -> tuple[np.ndarray[Any, Any], Kind]:
    """The array and its element kind; `what` names the argument in messages.

    TypeError: not an array, or of elements that Rho has no type for.  The array may be the caller's own: never write to it."""
    if isinstance(value, str):
        array = np.array(list(value), dtype="U1")
    elif isinstance(value, np.ndarray):
        array = value
    elif hasattr(value, "__array__") or hasattr(value, "__array_interface__") or isinstance(value, (int, float, complex, bool)):
        array = np.asarray(value)
    elif hasattr(value, "__dlpack__"):
        array = _from_dlpack(value, what)
    else:
        array = _from_items(value, what)
    kind = kind_of_dtype(array.dtype)
    if kind is None:
        raise TypeError(f"{what} has elements of type {array.dtype}, which no Rho element type stores; {_ADVICE}")
    return array, kind


_ADVICE = "convert it to bool, uint8, int32, int64, float32, float64, complex64, complex128 or one-character text"


def _from_dlpack(value: Any, what: str) -> np.ndarray[Any, Any]:
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError) as error:
        raise TypeError(f"{what} is not in memory that NumPy can share: {error}") from None


def _from_items(value: object, what: str) -> np.ndarray[Any, Any]:
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError) as error:
        raise TypeError(f"{what} is not a rectangular array: {error}") from None
    if array.dtype == object:
        raise TypeError(f"{what} is a {type(value).__name__}, not an array of numbers or text")
    return array
