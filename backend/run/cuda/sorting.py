"""Grades and sorts of lines: a stable sort of integer keys whose order is that of the items.

`¯0.0` equals `0.0`, NaN comes last in either sense: the keys of `cpu.order`.

Neighbours: `library`; `cpu.library.grading` (the same on NumPy).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph.cells import frame_of
from ..cpu.order import keys_of
from .call import Call


def order_keys(xp: Any, items: Any, *, descending: bool) -> Any:
    """Integers in the order of the items (not complex)."""
    return keys_of(xp, items, xp.isnan(items) if items.dtype.kind == "f" else None, descending=descending)


def stable_order(xp: Any, keys: Any) -> Any:
    """Positions along the last axis in ascending order of keys, equal ones in their order; CuPy's only sort is stable."""
    return xp.argsort(keys, axis=-1, kind="stable").astype(np.int64)


def grade(call: Call, arrays: Any) -> Any:
    """Of lines along the last axis; of cells that are no items one item after the other, the last one first."""
    xp, (arg,) = call.xp, arrays
    if not arg.size:
        return xp.broadcast_to(xp.arange(call.shape()[-1]), call.shape()).copy()
    keys = order_keys(xp, arg, descending=call.flag("descending"))
    if arg.ndim == frame_of(call.phase) + 1:
        return stable_order(xp, keys)
    columns = keys.reshape(len(keys), -1)
    order = stable_order(xp, columns[:, -1])
    for column in range(columns.shape[1] - 2, -1, -1):
        order = xp.take(order, stable_order(xp, xp.take(columns[:, column], order)))
    return order


def sorted_items(xp: Any, items: Any, *, descending: bool) -> Any:
    """The items of each line in the order of their stable grade; equal whole numbers are all the same."""
    if items.dtype.kind == "f" or descending:
        order = stable_order(xp, order_keys(xp, items, descending=descending))
        return xp.take(items, order) if items.ndim == 1 else xp.take_along_axis(items, order, -1)
    return xp.sort(items)
