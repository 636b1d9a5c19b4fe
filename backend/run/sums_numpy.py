"""The documented order of float sums and products on NumPy arrays, along any axis.

`reference.sums` is the definition in plain Python; this module computes the same bits for whole arrays: lanes go down the
rows of each block in order, lanes combine by halving, blocks by the binary tree on the block index.

Note [Lanes down the rows].  `ufunc.reduce` may reorder an axis by its stride, so rows are added one ufunc call a row.
Over contiguous memory `einsum` makes the same float additions in one pass, about 1.7 × faster, but it starts at 0.0, so
a lane of ¯0.0 alone would give 0.0.  That shows only in a partial that is zero, and then the plain way is taken again.

Neighbours: `run.cpu.reduce` (whole arrays and partial sums of cut axes), `tests/backend/test_sums_numpy.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..kernels.ir import BLOCK, LANES, ROWS

NumArray: TypeAlias = np.ndarray[Any, Any]

_PIECE = 1 << 20
"""Elements summed at once along the leading axis: bounds the lanes held in memory."""
_CELLS = 1 << 18
_SHORT_CELLS = 1 << 17
"""The same where cells lie outside; short ones stay in cache."""
_NARROW = 8
"""Halving goes on across cells, not along them, below this many lanes."""


def ordered_reduce(ufunc: np.ufunc, data: NumArray, axis: int) -> Any:
    """Reduce `axis` (length ≥ 1) with `np.add` or `np.multiply` in the documented order; keeps the dtype."""
    return combine_tree(ufunc, block_partials(ufunc, data, axis), axis)


def block_partials(ufunc: np.ufunc, data: NumArray, axis: int) -> NumArray:
    """One partial result a block: `data.shape` with `axis` of length ⌈n÷4096⌉."""
    shape = data.shape
    length = shape[axis]
    count = -(-length // BLOCK)
    partials = np.empty((*shape[:axis], count, *shape[axis + 1 :]), data.dtype)
    cell = max(1, data.size // max(1, shape[0]))
    if axis:
        step = max(1, (_SHORT_CELLS if length <= 4 * _NARROW else _CELLS) // cell)
        for start in range(0, shape[0], step):
            _fill_partials(ufunc, data[start : start + step], axis, partials[start : start + step])
    else:
        step = max(1, _PIECE // (cell * BLOCK))
        for block in range(0, count, step):
            rows = data[block * BLOCK : (block + step) * BLOCK]
            _fill_partials(ufunc, rows, 0, partials[block : block + step])
    return partials


def combine_tree(ufunc: np.ufunc, partials: NumArray, axis: int) -> Any:
    """Neighbours along `axis` are paired level by level; a last odd one passes through; the axis goes."""
    level = partials if axis == 0 else np.moveaxis(partials, axis, 0)
    while len(level) > 1:
        even = len(level) // 2 * 2
        paired = ufunc(level[0:even:2], level[1:even:2])
        level = np.concatenate((paired, level[even:])) if even < len(level) else paired
    return level[0]


def _fill_partials(ufunc: np.ufunc, data: NumArray, axis: int, out: NumArray) -> None:
    lead: tuple[Any, ...] = (slice(None),) * axis
    whole, rest = divmod(data.shape[axis], BLOCK)
    if whole:
        blocks = _split(data[(*lead, slice(0, whole * BLOCK))], axis, (whole, ROWS, LANES))
        out[(*lead, slice(0, whole))] = _settled(
            ufunc, blocks, axis + 1, _halve(ufunc, _down_rows(ufunc, blocks, axis + 1), axis + 1)
        )
    if rest:
        out[(*lead, whole)] = _short_block(ufunc, data[(*lead, slice(whole * BLOCK, None))], axis)


def _settled(ufunc: np.ufunc, rows: NumArray, axis: int, partials: Any) -> Any:
    """The partials, computed the plain way if a zero among them may have the wrong sign."""
    if _is_fast(ufunc, rows, axis) and not np.all(partials):
        return _halve(ufunc, _plainly_down_rows(ufunc, rows, axis), axis)
    return partials


def _short_block(ufunc: np.ufunc, items: NumArray, axis: int) -> Any:
    """The partial of the last block, which may lack rows and lanes: its first lanes have a row more than the others."""
    lead: tuple[Any, ...] = (slice(None),) * axis
    rows, rest = divmod(items.shape[axis], LANES)
    if rows == 0:
        return _halve(ufunc, items, axis)
    longer = _rows_of(items, axis, rows + 1, 0, rest)
    shorter = _rows_of(items, axis, rows, rest, LANES - rest)

    def finish(down: Callable[..., None]) -> Any:
        lanes = np.empty((*items.shape[:axis], LANES, *items.shape[axis + 1 :]), items.dtype)
        if rest:
            down(ufunc, longer, axis, lanes[(*lead, slice(0, rest))])
        down(ufunc, shorter, axis, lanes[(*lead, slice(rest, None))])
        return _halve(ufunc, lanes, axis)

    partial = finish(_into_lanes)
    if not np.all(partial):
        return finish(_plainly_into_lanes)
    return partial


def _rows_of(items: NumArray, axis: int, rows: int, start: int, lanes: int) -> NumArray:
    """Lanes `start` and on of the first rows, as (…, rows, lanes, …)."""
    part = items[(*(slice(None),) * axis, slice(start, None))]
    stride = items.strides[axis]
    shape = (*items.shape[:axis], rows, lanes, *items.shape[axis + 1 :])
    strides = (*items.strides[:axis], stride * LANES, stride, *items.strides[axis + 1 :])
    return np.lib.stride_tricks.as_strided(part, shape, strides)


def _into_lanes(ufunc: np.ufunc, rows: NumArray, axis: int, lanes: NumArray) -> None:
    if not _is_fast(ufunc, rows, axis):
        _plainly_into_lanes(ufunc, rows, axis, lanes)
        return
    axes = list(range(rows.ndim))
    np.einsum(rows, axes, axes[:axis] + axes[axis + 1 :], out=lanes)


def _plainly_into_lanes(ufunc: np.ufunc, rows: NumArray, axis: int, lanes: NumArray) -> None:
    lead: tuple[Any, ...] = (slice(None),) * axis
    lanes[...] = rows[(*lead, 0)]
    for row in range(1, rows.shape[axis]):
        ufunc(lanes, rows[(*lead, row)], out=lanes)


def _split(data: NumArray, axis: int, sizes: tuple[int, ...]) -> NumArray:
    """One axis as several, without a copy."""
    stride = data.strides[axis]
    strides: list[int] = []
    for size in reversed(sizes):
        strides.insert(0, stride)
        stride *= size
    shape = (*data.shape[:axis], *sizes, *data.shape[axis + 1 :])
    return np.lib.stride_tricks.as_strided(data, shape, (*data.strides[:axis], *strides, *data.strides[axis + 1 :]))


def _is_fast(ufunc: np.ufunc, rows: NumArray, axis: int) -> bool:
    """May `einsum` add these rows?  Floats whose lanes and what follows are contiguous."""
    if ufunc is not np.add or rows.dtype.kind != "f" or rows.shape[axis] < 3:
        return False
    if rows.shape[axis + 1] == 1 and rows.ndim == axis + 2:
        return False
    cell = rows.itemsize
    for size, stride in zip(reversed(rows.shape[axis + 1 :]), reversed(rows.strides[axis + 1 :]), strict=True):
        if stride != cell:
            return False
        cell *= size
    return True


def _down_rows(ufunc: np.ufunc, rows: NumArray, axis: int) -> NumArray:
    """Reduce the axis of rows, which the axis of lanes follows, row after row.  See Note [Lanes down the rows]."""
    if not _is_fast(ufunc, rows, axis):
        return _plainly_down_rows(ufunc, rows, axis)
    axes = list(range(rows.ndim))
    lanes: NumArray = np.einsum(rows, axes, axes[:axis] + axes[axis + 1 :])
    return lanes


def _plainly_down_rows(ufunc: np.ufunc, rows: NumArray, axis: int) -> NumArray:
    lead: tuple[Any, ...] = (slice(None),) * axis
    summed: NumArray = rows[(*lead, 0)].copy()
    for row in range(1, rows.shape[axis]):
        ufunc(summed, rows[(*lead, row)], out=summed)
    return summed


def _halve(ufunc: np.ufunc, lanes: NumArray, axis: int) -> Any:
    """Combine lanes along `axis` by halving; absent lanes contribute nothing; the axis goes."""
    lead: tuple[Any, ...] = (slice(None),) * axis
    half, length = LANES // 2, lanes.shape[axis]
    narrow = 1
    if axis == lanes.ndim - 1 and lanes.size > length:
        narrow = LANES if length <= 4 * _NARROW else _NARROW
    while half >= narrow:
        if length > half:
            joined = ufunc(lanes[(*lead, slice(0, length - half))], lanes[(*lead, slice(half, length))])
            if length < 2 * half:
                joined = np.concatenate((joined, lanes[(*lead, slice(length - half, half))]), axis)
            lanes, length = joined, half
        half //= 2
    columns = [lanes[(*lead, lane)] for lane in range(length)]
    while half:
        if len(columns) > half:
            joined_columns = [ufunc(low, high) for low, high in zip(columns, columns[half:], strict=False)]
            columns = (joined_columns + columns[len(joined_columns) :])[:half]
        half //= 2
    return columns[0]
