"""Selection and update by indices on a device; every index that was not proved to be inside its axis is checked.

Neighbours: `library`; `backend.library.selecting` (the same on NumPy).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...library.selecting import check_update
from .call import Call
from .sorting import stable_order


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
        choices.append(choice)
    if call.flag("checked"):
        check_update(call.phase, {axis: choices[axis][np.newaxis] for axis, has in enumerate(indexed) if has}, cell)
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
