"""Reads that no strides can say (a ravel of a broadcast or of a transpose), as arrays of which boxes are copied when asked for.

Note [Boxes of a ravel].  A box of a reshaped array is a few runs of its row-major order, and a run is the end of one row of the
source, rows in full, and the start of another, for each axis in turn.  So a copy costs what a copy of the box costs, however
large the source is.  Where runs would be very short, and where an affine stage before the reshape leaves most of a bounding box
unread, items are fetched by index arithmetic, a few at a time.

Neighbours: `views` (makes them, where an array has more than `WHOLE` items), `slices` and `boxes` (work on boxes of the space).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from .kinds import NumArray
from .layouts import reshaped_strides

Numbers: TypeAlias = tuple[int, ...]
Box: TypeAlias = tuple[slice, ...]

WHOLE: Final = 1 << 13
"""Arrays of at most this many items are copied at once."""
POINTS: Final = 1 << 15
"""Items that are copied at a time where all of them are wanted."""
SHORTEST: Final = 32
"""Items of a run from which on runs are copied one by one."""
AROUND: Final = 2
"""A bounding box may be this many times the size of what is read of it."""
FETCHED: Final = 1 << 12
"""Items that are fetched by index arithmetic at a time."""


class Deferred:
    """An array of a shape of which nothing is there yet."""

    def __init__(self, shape: Numbers, dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype, self.ndim = shape, dtype, len(shape)

    def __getitem__(self, box: Sequence[slice]) -> NumArray:
        """The items in a box of unit steps, as an array to read."""
        bounds = tuple(part.indices(size)[:2] for part, size in zip(box, self.shape, strict=True))
        return self.box(bounds)

    def box(self, bounds: Sequence[tuple[int, int]]) -> NumArray:
        raise NotImplementedError

    def take(self, indices: tuple[NumArray, ...]) -> NumArray:
        """The items at some indices, one array of them an axis."""
        raise NotImplementedError

    def fetched(self, bounds: Sequence[tuple[int, int]]) -> NumArray:
        """A box by index arithmetic."""
        extents = tuple(stop - start for start, stop in bounds)
        made: NumArray = np.empty(prod(extents), self.dtype)
        for first in range(0, len(made), FETCHED):
            points = np.unravel_index(np.arange(first, min(first + FETCHED, len(made))), extents)
            points = tuple([own + start for own, (start, _) in zip(points, bounds, strict=True)])
            made[first : first + FETCHED] = self.take(points)
        return made.reshape(extents)

    def into(self, target: NumArray) -> NumArray:
        """All items, copied to where they are to lie, some at a time."""
        for box in boxes_of(self.shape):
            target[box] = self[box]
        return target

    def whole(self) -> NumArray:
        return self.box([(0, size) for size in self.shape])


Source: TypeAlias = NumArray | Deferred


def boxes_of(shape: Numbers) -> Iterator[Box]:
    """Boxes of about `POINTS` items that tile a shape, as much as can be of the last axes."""
    steps, left = [1] * len(shape), POINTS
    for axis in reversed(range(len(shape))):
        steps[axis] = max(1, min(shape[axis], left))
        left //= steps[axis]
    for corner in itertools.product(*(range(0, size, step) for size, step in zip(shape, steps, strict=True))):
        yield tuple([slice(at, min(at + step, size)) for at, step, size in zip(corner, steps, shape, strict=True)])


def reshaped(source: Source, shape: Numbers) -> Source:
    """The row-major order of an array under other axes: a view, a copy where it is small, else boxes of it."""
    if prod(shape) <= max(WHOLE, 1):
        return (source.whole() if isinstance(source, Deferred) else source).reshape(shape)
    if not isinstance(source, Deferred):
        if source.flags.c_contiguous:
            return source.reshape(shape)
        if reshaped_strides(source.shape, source.strides, shape) is not None:
            return source.reshape(shape)
    return Ravelled(source, shape)


class Ravelled(Deferred):
    """The row-major order of an array under other axes.  See Note [Boxes of a ravel]."""

    def __init__(self, source: Source, shape: Numbers) -> None:
        super().__init__(shape, source.dtype)
        self.source = source

    def box(self, bounds: Sequence[tuple[int, int]]) -> NumArray:
        shape, last = self.shape, len(bounds) - 1
        while last > 0 and bounds[last] == (0, shape[last]):
            last -= 1
        inner = prod(shape[last + 1 :])
        start, stop = bounds[last]
        run = (stop - start) * inner
        extents = tuple(b - a for a, b in bounds)
        count = prod(extents[:last])
        if count > 1 and run < SHORTEST:
            return self.fetched(bounds)
        made: NumArray = np.empty((count, run), self.dtype)
        for target, corner in zip(made, itertools.product(*(range(a, b) for a, b in bounds[:last])), strict=True):
            place = 0
            for index, size in zip(corner, shape, strict=False):
                place = place * size + index
            first = (place * shape[last] + start) * inner
            _copy_run(self.source, first, first + run, target)
        return made.reshape(extents)

    def take(self, indices: tuple[NumArray, ...]) -> NumArray:
        flat = np.zeros_like(indices[0])
        for index, size in zip(indices, self.shape, strict=True):
            flat = flat * size + index
        return _taken(self.source, tuple(np.unravel_index(flat, self.source.shape)))


class Moved(Deferred):
    """An affine stage over an array: index d is Σ coefficients[d][a] × point[a] + constants[d]; outside lies `fill`, if any."""

    def __init__(self, source: Deferred, shape: Numbers, coefficients: Sequence[Numbers], constants: Numbers, fill: int | None
                 ) -> None:  # fmt: skip
        super().__init__(shape, source.dtype)
        self.source, self.coefficients, self.constants, self.fill = source, coefficients, constants, fill

    def box(self, bounds: Sequence[tuple[int, int]]) -> NumArray:
        extents = tuple(stop - start for start, stop in bounds)
        if 0 in extents:
            return np.empty(extents, self.dtype)
        reach: list[tuple[int, int]] = []
        for row, constant in zip(self.coefficients, self.constants, strict=True):
            ends = [(c * start, c * (stop - 1)) for c, (start, stop) in zip(row, bounds, strict=True)]
            reach.append((constant + sum(map(min, ends)), constant + sum(map(max, ends)) + 1))
        around = [stop - start for start, stop in reach]
        if prod(around) > AROUND * max(prod(extents), WHOLE):
            return self.fetched(bounds)
        own = self._padded(reach)
        strides = tuple([
            sum(row[axis] * stride for row, stride in zip(self.coefficients, own.strides, strict=True))
            for axis in range(len(extents))
        ])  # fmt: skip
        corner = []
        for row, constant, (least, _) in zip(self.coefficients, self.constants, reach, strict=True):
            corner.append(slice(constant + sum(c * start for c, (start, _) in zip(row, bounds, strict=True)) - least, None))
        return np.lib.stride_tricks.as_strided(own[tuple(corner)], extents, strides)

    def _padded(self, reach: Sequence[tuple[int, int]]) -> NumArray:
        """The items in a box of the source, with fills around it where it is left."""
        inside = [(max(0, start), min(size, stop)) for (start, stop), size in zip(reach, self.source.shape, strict=True)]
        if inside == list(reach):
            return self.source.box(inside)
        made: NumArray = np.full([stop - start for start, stop in reach], self.fill, self.dtype)
        if all(start < stop for start, stop in inside):
            part = [slice(a - low, b - low) for (a, b), (low, _) in zip(inside, reach, strict=True)]
            made[tuple(part)] = self.source.box(inside)
        return made

    def take(self, indices: tuple[NumArray, ...]) -> NumArray:
        found: list[NumArray] = []
        inside = np.ones(indices[0].shape, bool)
        for row, constant, size in zip(self.coefficients, self.constants, self.source.shape, strict=True):
            index = np.full(indices[0].shape, constant)
            for own, c in zip(indices, row, strict=True):
                if c:
                    index = index + c * own
            if self.fill is not None:
                inside &= (index >= 0) & (index < size)
            found.append(index)
        if self.fill is None:
            return self.source.take(tuple(found))
        made: NumArray = np.full(indices[0].shape, self.fill, self.dtype)
        made[inside] = self.source.take(tuple([index[inside] for index in found]))
        return made


def _taken(source: Source, indices: tuple[NumArray, ...]) -> NumArray:
    return source.take(indices) if isinstance(source, Deferred) else source[indices]


def _copy_run(source: Source, start: int, stop: int, target: NumArray, before: Numbers = ()) -> None:
    """Items `start` to `stop` of the row-major order of the cell at these indices.  See Note [Boxes of a ravel]."""
    shape = source.shape[len(before) :]
    row = prod(shape[1:])
    cell = [slice(index, index + 1) for index in before]
    first = start // row
    if start % row or stop - start < row:
        end = min(stop, (first + 1) * row)
        _copy_run(source, start - first * row, end - first * row, target[: end - start], (*before, first))
        start, target, first = end, target[end - start :], first + 1
    rows = (stop - start) // row
    if rows:
        part = source[(*cell, slice(first, first + rows), *[slice(0, size) for size in shape[1:]])]
        target[: rows * row].reshape(part.shape)[...] = part
        start, target, first = start + rows * row, target[rows * row :], first + rows
    if start < stop:
        _copy_run(source, start - first * row, stop - first * row, target, (*before, first))
