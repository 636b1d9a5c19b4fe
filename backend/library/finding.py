"""`⍷`: where a pattern starts.

Note [Candidates].  All positions are compared with one pattern item after another, a shifted view each; once few positions
are left, only those are compared.  So the cost is that of reading the operand about twice, unless it repeats itself.

Neighbours: `searching`; `reference.searching.find` (the definition).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ..run.cpu.kinds import NumArray
from .frames import Call, Operation, cell_by_cell
from .searching import comparable

_FEW: Final = 16


def find(call: Call, pattern: NumArray, arg: NumArray) -> NumArray:
    """Does the pattern (rank raised by leading axes of length 1) start here?"""
    result = np.zeros(arg.shape, np.bool_)
    if pattern.ndim > arg.ndim:
        return result
    shape = (*[1] * (arg.ndim - pattern.ndim), *pattern.shape)
    box = tuple(n - max(k, 1) + 1 for n, k in zip(arg.shape, shape, strict=True))
    if any(size <= 0 for size in box) or (pattern.size and not comparable(call)):
        return result
    inside = tuple(slice(0, size) for size in box)
    if not pattern.size:
        result[inside] = True
        return result
    items = pattern.reshape(-1)
    offsets = np.indices(shape).reshape(arg.ndim, pattern.size).T
    alive = np.ones(box, np.bool_)
    for place, (item, offset) in enumerate(zip(items, offsets, strict=True)):
        alive &= arg[tuple(slice(int(o), int(o) + size) for o, size in zip(offset, box, strict=True))] == item
        left = int(np.count_nonzero(alive))
        if left <= alive.size // _FEW:
            alive = _survivors(alive, arg, items[place + 1 :], offsets[place + 1 :])
            break
    result[inside] = alive
    return result


def _survivors(alive: NumArray, arg: NumArray, items: NumArray, offsets: NumArray) -> NumArray:
    """Of the candidates those where the rest of the pattern agrees too; see Note [Candidates]."""
    strides = np.array([math.prod(arg.shape[axis + 1 :]) for axis in range(arg.ndim)], np.int64)
    flat = np.ascontiguousarray(arg).reshape(-1)
    candidates = np.stack(np.nonzero(alive), 1) if arg.ndim else np.zeros((int(alive), 0), np.int64)
    starts = candidates @ strides
    steps = (offsets @ strides).tolist()
    for item, step in zip(items, steps, strict=True):
        if not len(starts):
            break
        hit = flat[starts + step] == item
        starts, candidates = starts[hit], candidates[hit]
    result = np.zeros(alive.shape, np.bool_)
    if len(candidates):
        result[tuple(candidates.T)] = True
    return result


FINDING: Final[dict[str, Operation]] = {"find": cell_by_cell(find)}
