"""Items as integers in the order of the items.

A key column is an integer array whose order is the order of the items (or the reverse): `¯0.0` equals `0.0`, NaN comes last
in either sense and equals NaN, a complex number is two columns.

Neighbours: `reduce` (places of extremes), `backend.library.keys` (cells as words); `reference.searching` (the order defined).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .kinds import NumArray


def order_columns(items: NumArray, *, descending: bool = False) -> list[NumArray]:
    """The key arrays (of the shape of `items`) of items of any kind: two of complex items, else one."""
    if items.dtype.kind != "c":
        return [keys_of(np, items, np.isnan(items) if items.dtype.kind == "f" else None, descending=descending)]
    missing = np.isnan(items)
    return [keys_of(np, part, missing, descending=descending) for part in (items.real, items.imag)]


def keys_of(xp: Any, items: Any, missing: Any, *, descending: bool) -> Any:
    """Integers in the order of items, which are `missing` where they are NaN; `xp`: NumPy, or CuPy."""
    if items.dtype.kind == "b":
        items = items.view(np.uint8)
    if missing is None:
        return xp.invert(items) if descending else items
    signed = np.int64 if items.dtype.itemsize == 8 else np.int32
    keys = xp.ascontiguousarray(items + items.dtype.type(0)).reshape(items.shape).view(signed)
    top = signed(np.iinfo(signed).max)
    signs = keys >> signed(8 * items.dtype.itemsize - 1)
    signs &= top
    keys ^= signs
    del signs
    if descending:
        xp.invert(keys, keys)
    keys[missing] = top
    return keys
