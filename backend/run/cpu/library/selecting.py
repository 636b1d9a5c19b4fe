"""Selection and update by indices.  Every index is checked: one outside its axis is E310, or a broken invariant where it
was proved to be inside; NumPy's wrapping of negative indices is never reached.

Neighbours: `frames` (Note [One batch axis]), `masking`; `reference.selection` (definitions).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ....graph.registry import wanted_of
from ...failures import outside
from ..kinds import FILLS, NumArray
from .frames import Arrays, Call, Implementation, whole
from .sorting import sorted_items, sorted_rows


def check_indices(indices: NumArray, size: int, *, checked: bool, least: int = 0, shift: object = None) -> None:
    """Fail with the first index that is not in `least` … size-1."""
    if not indices.size or (int(indices.min()) >= least and int(indices.max()) < size):
        return
    wrong = (indices < least) | (indices >= size)
    index = int(indices[wrong].reshape(-1)[0])
    if not checked:
        raise AssertionError(f"index {index} was proved to be below {size}")
    raise outside(index, size, shift)


def gather(call: Call, arrays: Arrays) -> Arrays:
    """result[a… i… b…] = arg[a… indices[i…] b…]; an index of -1 gives a fill if the op has fills."""
    axis, fills = call.axis(), call.flag("fills")
    if "sorts" in call.phase.attributes:
        return sort(call, arrays)
    arg, indices = call.batched(arrays)
    count = math.prod(call.frame)
    own, cell = indices.shape[1:], arg.shape[1:]
    shape = (count, *cell[:axis], *own, *cell[axis + 1 :])
    if not count:
        return call.unbatched(np.empty(shape, arg.dtype))
    length = cell[axis]
    indices = indices.astype(np.intp, copy=False)
    check_indices(indices, length, checked=call.flag("checked"), least=-1 if fills else 0,
                  shift=call.phase.attributes.get("shift"))  # fmt: skip
    absent = indices < 0 if fills else None
    if absent is not None and not absent.any():
        absent = None
    if absent is not None:
        indices = np.where(absent, 0, indices)
    fill = FILLS[call.kind()]
    if absent is not None and not length:
        return call.unbatched(np.full(shape, fill, arg.dtype))
    if not math.prod(shape):
        return call.unbatched(np.empty(shape, arg.dtype))
    if len(indices) == 1:
        result = np.take(arg, indices[0], axis + 1, mode="clip")
        place = (slice(None),) * (axis + 1)
        if absent is not None:
            result[(*place, absent[0])] = fill
        return call.unbatched(np.broadcast_to(result, shape).copy() if len(result) < count else result)
    # each cell has its own indices: positions in the rows of arg, all axes before the selected one flattened
    before = math.prod(cell[:axis])
    rows = np.ascontiguousarray(arg).reshape(len(arg) * before * length, math.prod(cell[axis + 1 :]))
    starts = np.arange(len(arg) * before).reshape(len(arg), before, 1) * length
    result = rows[starts + indices.reshape(count, 1, -1)]
    if absent is not None:
        result[np.broadcast_to(absent.reshape(count, 1, -1), result.shape[:-1])] = fill
    return call.unbatched(result.reshape(shape))


def sort(call: Call, arrays: Arrays) -> Arrays:
    """A gather in the order of a grade that is not made (`graph.passes.rules.orders`)."""
    descending, wanted = call.phase.attributes["sorts"] == "down", wanted_of(call.phase)
    if not call.rank:
        return (sorted_items(arrays[0], descending=descending, wanted=wanted),)
    (rows, _) = call.batched(arrays)
    return call.unbatched(sorted_rows(rows, descending=descending, wanted=wanted, threads=call.threads))


def update(call: Call, arrays: Arrays) -> Arrays:
    """`arg` with arg[i;j;…] ← value; the last of duplicates wins (one-dimensional assignment runs in order)."""
    indexed = call.phase.attributes["indexed"]
    assert isinstance(indexed, tuple)
    arg, *present, value = call.batched(arrays)
    count, cell = math.prod(call.frame), arg.shape[1:]
    result = np.array(np.broadcast_to(arg, (count, *cell)), order="C")
    if not count:
        return call.unbatched(result)
    supply = iter(present)
    choices = [
        next(supply).astype(np.int64, copy=False) if has else np.arange(length)[np.newaxis]
        for has, length in zip(indexed, cell, strict=True)
    ]
    for choice, length in zip(choices, cell, strict=True):
        check_indices(choice, length, checked=call.flag("checked"))
    last = max((axis + 1 for axis, has in enumerate(indexed) if has), default=0)
    selection = tuple(n for choice in choices[:last] for n in choice.shape[1:])
    places: NumArray = np.arange(count).reshape(count, *[1] * len(selection))
    used = 0
    for choice, length in zip(choices[:last], cell, strict=False):
        rank = choice.ndim - 1
        wide = choice.reshape(len(choice), *[1] * used, *choice.shape[1:], *[1] * (len(selection) - used - rank))
        places = places * length + wide
        used += rank
    tail = cell[last:]
    if value.ndim == 1:
        value = value.reshape(len(value), *[1] * (len(selection) + len(tail)))
    places = np.ascontiguousarray(np.broadcast_to(places, (count, *selection))).reshape(-1)
    values = np.broadcast_to(value, (count, *selection, *tail))
    if tail:
        rows = result.reshape(count * math.prod(cell[:last]), *tail)
        rows[places] = values.reshape(len(places), *tail)
    else:
        result.reshape(-1)[places] = values.reshape(-1)
    return call.unbatched(result)


SELECTING: Final[dict[str, Implementation]] = {"gather": whole(gather), "update": whole(update)}
