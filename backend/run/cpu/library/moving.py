"""Ops that move items and never compute on them: join, stack, rotate, cycling reshape, and sizes as a vector.

Neighbours: `frames`; `reference.structure` (definitions).
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from .....typechecker.sizes import Size
from ..kinds import DTYPES, FILLS, NumArray
from .frames import Arrays, Call, Implementation, cell_by_cell, whole

_LONG_ROW: Final = 64
_FEW_STEPS: Final = 8
_MANY: Final = 1 << 10


def size_vector(call: Call, arrays: Arrays) -> NumArray:
    sizes = call.phase.attributes["sizes"]
    assert isinstance(sizes, tuple)
    numbers = [call.context.size(size) for size in sizes if isinstance(size, Size)]
    return np.array(numbers, np.int64).reshape(call.context.shape(call.phase.results[0]))


def join(call: Call, *arrays: NumArray) -> NumArray:
    return np.concatenate(arrays, call.axis())


def stack(call: Call, *arrays: NumArray) -> NumArray:
    return np.stack(arrays, call.axis())


def rotate(call: Call, arg: NumArray, amount: NumArray) -> NumArray:
    """A scalar amount is two copies of slices; many amounts are two copies a long row, or one gather."""
    axis = call.axis()
    length = arg.shape[axis]
    if not arg.size:
        return arg.copy()
    if amount.ndim == 0:
        turn = int(amount) % length
        lead: tuple[Any, ...] = (slice(None),) * axis
        if length <= _FEW_STEPS and arg.size >= _MANY and math.prod(arg.shape[axis + 1 :]) < _LONG_ROW:
            turned = np.empty_like(arg, order="C")
            sources, targets = np.moveaxis(arg, axis, 0), np.moveaxis(turned, axis, 0)
            for step in range(length):  # runs of a few items would be copied one by one
                targets[step] = sources[(step + turn) % length]
            return turned
        return np.concatenate((arg[(*lead, slice(turn, None))], arg[(*lead, slice(0, turn))]), axis)
    amounts = amount.astype(np.int64) % length
    rows, turns = np.moveaxis(arg, axis, -1), amounts.reshape(-1)
    result = np.empty_like(arg)
    if length < _LONG_ROW:
        places = (np.arange(length) + amounts[..., np.newaxis]) % length
        np.moveaxis(result, axis, -1)[...] = np.take_along_axis(rows, places, -1)
        return result
    moved = np.moveaxis(result, axis, -1)
    for point, turn in zip(np.ndindex(rows.shape[:-1]), turns.tolist(), strict=True):
        moved[point][: length - turn] = rows[point][turn:]
        moved[point][length - turn :] = rows[point][:turn]
    return result


def reshape_cycle(call: Call, arg: NumArray) -> NumArray:
    """Row-major; cycles or truncates; fills from an empty operand."""
    shape, kind = call.shape(), call.kind()
    count = math.prod(shape)
    if not arg.size:
        return np.full(shape, FILLS[kind], DTYPES[kind])
    items = arg.reshape(-1)
    result = np.empty(count, arg.dtype)
    filled = min(count, len(items))
    result[:filled] = items[:filled]
    while filled < count:  # whole cycles double
        step = min(filled, count - filled)
        result[filled : filled + step] = result[:step]
        filled += step
    return result.reshape(shape)


MOVING: Final[dict[str, Implementation]] = {
    "size_vector": whole(size_vector), "join": cell_by_cell(join), "stack": cell_by_cell(stack), "rotate": cell_by_cell(rotate),
    "reshape_cycle": cell_by_cell(reshape_cycle),
}  # fmt: skip
