"""The order of scans (`reference.scans`) on NumPy arrays, along any axis.

Runs are scanned in place in the result, then what is before each run is joined to it.  A line is gone along in pieces of whole
blocks that stay in cache, each from what is before it.

Neighbours: `reference.scans` (the definition), `cpu.scanning` (kernels), `tests/backend/test_scans.py`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..kernels.ir import BLOCK, RUN

NumArray: TypeAlias = np.ndarray[Any, Any]

_PIECE = 1 << 15
"""Items that are gone through twice at once: they stay in cache."""
_EACH = BLOCK // RUN
_NOTHING: dict[np.ufunc, float] = {np.add: -0.0, np.multiply: 1.0}
"""What changes nothing, not even the sign of a zero."""


def ordered_scan(ufunc: np.ufunc, data: NumArray, axis: int) -> NumArray:
    """Scan `axis` with `np.add` or `np.multiply` in the documented order; a new array of the same dtype."""
    length = data.shape[axis]
    if length <= RUN:
        return np.asarray(ufunc.accumulate(data, axis, data.dtype))
    result = np.empty(data.shape, data.dtype)
    lead: tuple[Any, ...] = (slice(None),) * axis
    cells = max(1, data.size // length)
    if axis and cells > 1 and data.size > _PIECE:  # lines lie along memory: some lines at a time
        step = max(1, _PIECE * data.shape[0] // data.size)
        for start in range(0, data.shape[0], step):
            _scan_lines(ufunc, data[start : start + step], axis, lead, result[start : start + step])
    else:
        _scan_lines(ufunc, data, axis, lead, result)
    return result


def _scan_lines(ufunc: np.ufunc, data: NumArray, axis: int, lead: tuple[Any, ...], result: NumArray) -> None:
    length = data.shape[axis]
    step = max(1, _PIECE * length // max(1, data.size * BLOCK)) * BLOCK
    before: NumArray | None = None
    for start in range(0, length, step):
        part = (*lead, slice(start, start + step))
        before = _scan_piece(ufunc, data[part], axis, lead, result[part], before)


def _scan_piece(
    ufunc: np.ufunc, data: NumArray, axis: int, lead: tuple[Any, ...], result: NumArray, before: NumArray | None
) -> NumArray:
    """Scan whole blocks (the last may be short), given what is before them; what is before what follows."""
    length = data.shape[axis]
    whole, rest = length // RUN, (*lead, slice(length - length % RUN, length))
    runs = -(-length // RUN)
    blocks, each = -(-runs // _EACH), min(runs, _EACH)
    totals = np.empty((*data.shape[:axis], blocks * each, *data.shape[axis + 1 :]), data.dtype)
    totals[(*lead, slice(runs, None))] = _NOTHING[ufunc]
    if whole:
        source, target = (_split(array[(*lead, slice(0, whole * RUN))], axis, whole, RUN) for array in (data, result))
        ufunc.accumulate(source, axis + 1, data.dtype, target)
        totals[(*lead, slice(0, whole))] = target[(*lead, slice(None), -1)]
    if whole < runs:
        ufunc.accumulate(data[rest], axis, data.dtype, result[rest])
        totals[(*lead, whole)] = result[(*lead, length - 1)]
    totals = _split(totals, axis, blocks, each)
    inside = ufunc.accumulate(totals, axis + 1, data.dtype)
    totals[(*lead, slice(None), slice(1, None))] = inside[(*lead, slice(None), slice(0, -1))]
    totals[(*lead, slice(None), 0)] = _NOTHING[ufunc]
    if before is not None or blocks > 1:
        first = np.full_like(totals[(*lead, slice(0, 1), 0)], _NOTHING[ufunc]) if before is None else before
        carried = np.concatenate((first, inside[(*lead, slice(None), -1)]), axis)
        ufunc.accumulate(carried, axis, data.dtype, carried)
        ufunc(np.expand_dims(carried[(*lead, slice(0, -1))], axis + 1), totals, totals)
        before = carried[(*lead, slice(blocks, None))]
    else:
        before = inside[(*lead, slice(None), -1)]
    ahead = totals.reshape((*data.shape[:axis], blocks * each, *data.shape[axis + 1 :]))
    if whole:
        ufunc(np.expand_dims(ahead[(*lead, slice(0, whole))], axis + 1), target, target)
    if whole < runs:
        ufunc(ahead[(*lead, slice(whole, whole + 1))], result[rest], result[rest])
    return before


def _split(array: NumArray, axis: int, count: int, each: int) -> NumArray:
    """A view with the axis as `count` times `each` items."""
    shape = array.shape
    return array.reshape((*shape[:axis], count, each, *shape[axis + 1 :]))
