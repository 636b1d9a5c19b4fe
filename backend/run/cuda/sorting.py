"""Grades and sorts of vectors: a stable sort of integer keys whose order is that of the items.

`¯0.0` equals `0.0`, NaN comes last in either sense: the keys of `cpu.library.keys`.

Neighbours: `library`; `cpu.library.grading` (the same on NumPy).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .library import Call


def order_keys(xp: Any, items: Any, *, descending: bool) -> Any:
    """Integers in the order of the items (not complex)."""
    if items.dtype.kind == "b":
        items = items.view(np.uint8)
    if items.dtype.kind != "f":
        return xp.invert(items) if descending else items
    signed: Any = np.int64 if items.dtype.itemsize == 8 else np.int32
    top = signed(np.iinfo(signed).max)
    bits = xp.ascontiguousarray(items + items.dtype.type(0)).view(signed)
    keys = bits ^ ((bits >> signed(8 * items.dtype.itemsize - 1)) & top)
    if descending:
        keys = xp.invert(keys)
    return xp.where(xp.isnan(items), top, keys)


def stable_order(xp: Any, keys: Any) -> Any:
    """Positions in ascending order of keys, equal ones in their order; CuPy's only sort is stable."""
    return xp.argsort(keys, kind="stable").astype(np.int64)


def grade(call: Call, arrays: Any) -> Any:
    return stable_order(call.xp, order_keys(call.xp, arrays[0], descending=call.flag("descending")))


def sorted_items(xp: Any, items: Any, *, descending: bool) -> Any:
    """The items in the order of their stable grade; equal whole numbers are all the same."""
    if items.dtype.kind == "f" or descending:
        return xp.take(items, stable_order(xp, order_keys(xp, items, descending=descending)))
    return xp.sort(items)
