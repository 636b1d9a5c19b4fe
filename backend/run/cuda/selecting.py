"""Selection and update by indices on a device; every index that was not proved to be inside its axis is checked.

Neighbours: `library`; `cpu.library.selecting` (the same on NumPy).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...graph.registry import frame_of, framed_of
from ..cpu.kinds import FILLS
from ..failures import CheckFailed
from .sorting import sorted_items, stable_order

if TYPE_CHECKING:
    from .library import Call


def check_indices(indices: Any, size: int, *, checked: bool, least: int = 0) -> None:
    """Fail with the first index that is not in `least` … size-1."""
    if not indices.size or (int(indices.min()) >= least and int(indices.max()) < size):
        return
    outside = (indices < least) | (indices >= size)
    index = int(indices[outside].reshape(-1)[0])
    if not checked:
        raise AssertionError(f"index {index} was proved to be below {size}")
    raise CheckFailed("E310", f"index {index} (counted from 0) is outside an axis of length {size}")


def gather(call: Call, arrays: Any) -> Any:
    """Cells with indices of their own are gathered from one long axis, on which each has a stretch."""
    order = call.phase.attributes.get("sorts")
    if order is not None:
        return sorted_items(call.xp, arrays[0], descending=order == "down")
    xp, axis, rank = call.xp, call.axis(), frame_of(call.phase)
    shape, fills, fill = call.shape(), call.flag("fills"), FILLS[call.kind()]
    carried = framed_of(call.phase)
    arg, indices = (
        a.reshape((math.prod(shape[:rank]), *a.shape[rank:])) if rank and carries else a[None]
        for a, carries in zip(arrays, carried, strict=True)
    )
    cell = arg.shape[1:]
    length, before, behind = cell[axis], math.prod(cell[:axis]), math.prod(cell[axis + 1 :])
    if not math.prod(shape[:rank]):
        return xp.empty(shape, arg.dtype)
    indices = indices.reshape(len(indices), -1).astype(np.int64)
    if fills or call.flag("checked"):
        check_indices(indices, length, checked=call.flag("checked"), least=-1 if fills else 0)
    if not math.prod(shape):
        return xp.empty(shape, arg.dtype)
    if fills and not length:
        return xp.full(shape, fill, arg.dtype)
    absent = indices < 0
    places = xp.where(absent, 0, indices) if fills else indices
    count = max(len(arg), len(indices))
    starts = (xp.arange(len(arg)).reshape(-1, 1) * before + xp.arange(before)) * length
    rows = arg.reshape(len(arg) * before * length, behind)
    result = xp.take(rows, starts[:, :, None] + places[:, None, :], 0)
    if fills:
        result = xp.where(absent[:, None, :, None], arg.dtype.type(fill), result)
    if count < math.prod(shape[:rank]):
        result = xp.broadcast_to(result, (math.prod(shape[:rank]), *result.shape[1:])).copy()
    return result.reshape(shape)


def update(call: Call, arrays: Any) -> Any:
    """`arg` with arg[i;j;…] ← value; of places that come twice a stable sort finds the last, which wins."""
    xp, indexed = call.xp, call.phase.attributes["indexed"]
    assert isinstance(indexed, tuple)
    arg, *present, value = arrays
    cell, supply = arg.shape, iter(present)
    last = max((axis + 1 for axis, has in enumerate(indexed) if has), default=0)
    choices = []
    for has, length in zip(indexed, cell, strict=True):
        choice = next(supply).astype(np.int64) if has else xp.arange(length)
        if has and call.flag("checked"):
            check_indices(choice, length, checked=True)
        choices.append(choice)
    selection = tuple(n for choice in choices[:last] for n in choice.shape)
    places, used = xp.zeros((1,) * len(selection), np.int64), 0
    for choice, length in zip(choices[:last], cell, strict=False):
        after = len(selection) - used - choice.ndim
        places = places * length + choice.reshape((1,) * used + choice.shape + (1,) * after)
        used += choice.ndim
    flat = xp.broadcast_to(places, selection).reshape(-1)
    tail = cell[last:]
    result = arg.copy()
    if not flat.size or not math.prod(tail):
        return result
    rows = result.reshape(math.prod(cell[:last]), *tail)
    if value.ndim == 0:
        rows[flat] = value
        return rows.reshape(cell)
    values = xp.broadcast_to(value, (*selection, *tail)).reshape(flat.size, *tail)
    order = stable_order(xp, flat)
    ordered = xp.take(flat, order)
    final = xp.take(order, xp.flatnonzero(xp.concatenate((ordered[1:] != ordered[:-1], xp.ones((1,), np.bool_)))))
    rows[xp.take(flat, final)] = xp.take(values, final, 0)
    return rows.reshape(cell)
