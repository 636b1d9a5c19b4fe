"""Ops that move items and never compute on them: join, stack, rotate, cycling reshape, and sizes as a vector.

Neighbours: `frames`; `reference.structure` (definitions).
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final

import numpy as np

from ..graph.cells import frame_of
from ..graph.phases import LibraryPhase
from ..run.cpu.copying import cycled, joined
from ..run.cpu.kinds import DTYPES, FILLS, NumArray
from ..run.device import Types
from ..run.pool import LEAST
from .frames import Arrays, Call, Function, Operation, cell_by_cell, in_order, whole

_LONG_ROW: Final = 64
_SHORT: Final = 64
"""Shorter runs are turned otherwise."""


def size_vector(call: Call, arrays: Arrays) -> NumArray:
    return np.array(call.sizes(call.context), np.int64).reshape(call.context.shape(call.phase.results[0]))


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
        return np.concatenate(_turned(arg, amount, axis), axis)
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


def _turned(arg: NumArray, amount: Any, axis: int) -> tuple[NumArray, NumArray]:
    """What comes first after one rotation, and what follows it."""
    turn, lead = int(amount) % arg.shape[axis], (slice(None),) * axis
    return arg[(*lead, slice(turn, None))], arg[(*lead, slice(0, turn))]


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


# ------------------------------------------------------------------------------- in memory of the pool


def _join_large(call: Call, arrays: Arrays) -> NumArray | None:
    if call.rank or sum([array.nbytes for array in arrays]) < LEAST:
        return None
    return joined(arrays, call.axis(), call.threads)


def _rotate_large(call: Call, arrays: Arrays) -> NumArray | None:
    """One amount for all: two copies of slices."""
    arg, amount = arrays
    axis = call.axis()
    if call.rank or amount.ndim or arg.nbytes < LEAST or arg.shape[axis] < _SHORT:
        return None
    return joined(_turned(arg, amount, axis), axis, call.threads)


def _cycle_large(call: Call, arrays: Arrays) -> NumArray | None:
    (arg,), shape = arrays, call.shape()
    if call.rank or not arg.size or math.prod(shape) * arg.itemsize < LEAST:
        return None
    return cycled(arg, shape, call.threads)


# ----------------------------------------------------------------------------------- by NumPy alone


def _short_rotate(phase: LibraryPhase, types: Types, otherwise: Function) -> Function | None:
    axis = phase.attributes["axis"]
    assert isinstance(axis, int)
    if frame_of(phase) or types.types[phase.args[1]].shape or not math.prod(types.shape(phase.args[0])):
        return None
    return _rotated(axis)


@cache
def _rotated(axis: int) -> Function:
    """Always the same one: bindings for several sizes are alike."""
    return lambda items, amount: in_order(np.concatenate(_turned(items, amount, axis), axis))


def _short_join(phase: LibraryPhase, types: Types, otherwise: Function) -> Function | None:
    axis = phase.attributes["axis"]
    assert isinstance(axis, int)
    if frame_of(phase) or not all(types.types[value].shape for value in phase.args):
        return None
    return _joined(axis)


@cache
def _joined(axis: int) -> Function:
    return lambda *parts: in_order(np.concatenate(parts, axis))


MOVING: Final[dict[str, Operation]] = {
    "size_vector": whole(size_vector), "join": cell_by_cell(join, _join_large, _short_join), "stack": cell_by_cell(stack),
    "rotate": cell_by_cell(rotate, _rotate_large, _short_rotate), "reshape_cycle": cell_by_cell(reshape_cycle, _cycle_large),
}  # fmt: skip
