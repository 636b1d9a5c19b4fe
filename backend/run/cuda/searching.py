"""Searches on a device, through one stable sort of integer keys; operands of one kind, cells that are single items.

Equality is exact: 0.0 equals ¯0.0, which have one key, and NaN equals nothing.

Neighbours: `sorting` (keys), `library`; `cpu.library.searching` (the definitions on NumPy).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .call import Call
from .sorting import order_keys, stable_order


def _positions(xp: Any, table: Any, arg: Any) -> Any:
    """For each item of `arg` the first equal one of the vector `table`, its length if none."""
    size = table.size
    if not size or not arg.size:
        return xp.full(arg.shape, size, np.int64)
    keys, wanted = (order_keys(xp, items, descending=False) for items in (table, arg))
    order = stable_order(xp, keys)
    ordered = xp.take(keys, order)
    places = xp.searchsorted(ordered, wanted.reshape(-1)).reshape(arg.shape)
    inside = xp.minimum(places, size - 1)
    found = (places < size) & (xp.take(ordered, inside) == wanted) & (arg == arg)
    return xp.where(found, xp.take(order, inside), size).astype(np.int64)


def index_of(call: Call, arrays: Any) -> Any:
    table, arg = arrays
    return _positions(call.xp, table, arg)


def member_of(call: Call, arrays: Any) -> Any:
    arg, table = arrays
    return _positions(call.xp, table.reshape(-1), arg) < table.size


def first_occurrence(call: Call, arrays: Any) -> Any:
    """Is each item the first equal to it?  A NaN is."""
    xp, arg = call.xp, arrays[0]
    if not arg.size:
        return xp.empty(arg.shape, np.bool_)
    return (_positions(xp, arg, arg) == xp.arange(arg.size)) | (arg != arg)


def interval_index(call: Call, arrays: Any) -> Any:
    """(Count of table items not after the item) - 1; -1 for a NaN."""
    xp, (table, arg) = call.xp, arrays
    keys, wanted = (order_keys(xp, items, descending=False) for items in (table, arg))
    if not arg.size:
        return xp.empty(arg.shape, np.int64)
    found = xp.searchsorted(xp.sort(keys), wanted.reshape(-1), side="right").reshape(arg.shape).astype(np.int64) - 1
    return xp.where(arg == arg, found, -1)


def match(call: Call, arrays: Any) -> Any:
    left, right = arrays
    if left.shape != right.shape:
        return call.xp.zeros((), np.bool_)
    return (left == right).all()
