"""Reads: a projection with known sizes, compiled into a function from an operand to a view over the iteration space.

Axes of the space that the read does not depend on have length 1 in the view, so that NumPy's broadcasting replicates and
nothing is computed twice.  An affine stage without fills is a strided view of its operand, a stage with fills copies the part
that is read into a padded box.  A reshape is a view where strides can express it, or a copy of few items.  Otherwise it is
*deferred*, with every stage before it: the code that computes on a box of the space copies the items of that box.

Note [Safety of strided views].  `bounds` computes the least and greatest index on every axis from the sizes; a view is made only
if both are inside the operand.  A projection that leaves it is a bug in Rho and raises AssertionError.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import partial
from math import prod
from operator import add, mul, sub
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...lang.support.records import dataclass, replace, require_invariant
from ...typechecker.core.operations import Payload
from ...typechecker.elements import Kind
from ...typechecker.sizes.polynomials import Size
from ..graph.phases import Affine, Projection, Read, Reshaped, Stage, Structured, ValueId
from ..vm.run_state import pooled_empty

# ---------------------------------------------------------------------------------------------------- dtypes
#
# Storage of kinds on the CPU back end: one NumPy dtype per kind.
#
# Text is stored as code points (`uint32`), so that comparison and sorting are those of numbers; the boundary converts to and from
# NumPy's `U1` without a copy.  All other kinds are stored as callers store them.

NumArray: TypeAlias = np.ndarray[Any, Any]

DTYPES: Final[dict[Kind, np.dtype[Any]]] = {
    Kind.BOOL: np.dtype(np.bool_), Kind.U8: np.dtype(np.uint8), Kind.I32: np.dtype(np.int32),
    Kind.I64: np.dtype(np.int64), Kind.F32: np.dtype(np.float32), Kind.F64: np.dtype(np.float64),
    Kind.C64: np.dtype(np.complex64), Kind.C128: np.dtype(np.complex128), Kind.CHAR: np.dtype(np.uint32),
}  # fmt: skip

FILLS: Final[dict[Kind, int]] = dict.fromkeys(Kind, 0) | {Kind.CHAR: ord(" ")}
"""The prototype of each kind, as stored."""


def constant(kind: Kind, value: Payload) -> NumArray:
    """A 0-d array of the kind (the form that ufuncs take fastest)."""
    return np.array(ord(value) if isinstance(value, str) else value, DTYPES[kind])


def constants(kind: Kind, data: tuple[Payload, ...], shape: tuple[int, ...]) -> NumArray:
    """A read-only array of the kind from row-major items."""
    if kind is Kind.CHAR:
        data = tuple(map(ord, data))  # type: ignore[arg-type]
    array = np.array(data, DTYPES[kind]).reshape(shape)
    array.flags.writeable = False
    return array


def start_of(array: NumArray) -> int:
    """The address of the array's first item."""
    address: int = array.__array_interface__["data"][0]
    return address


def has_unit_stride(array: NumArray) -> bool:
    """Returns whether the last axis has unit stride."""
    return not array.ndim or array.shape[-1] <= 1 or array.strides[-1] == array.itemsize


def is_packed(array: NumArray) -> bool:
    """Returns whether the array is contiguous in rows."""
    return array.ndim > 1 and has_unit_stride(array) and (
        array.shape[-2] <= 1 or array.strides[-2] == array.shape[-1] * array.itemsize
    )


def model_array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NumArray:
    """A row-major array whose items have no memory; only its shape and strides may be used."""
    return as_strided(np.empty(1, dtype), shape, contiguous(shape, dtype.itemsize)[:-1])


def in_parts(array: NumArray) -> NumArray:
    """Returns an array as views of loop programs have it: complex numbers as two floats along a last axis."""
    if array.dtype.kind != "c":
        return array
    part = array.real.dtype
    return as_strided(array.real, (*array.shape, 2), (*array.strides, part.itemsize), subok=False)


def as_stored(value: NumArray, kind: Kind) -> NumArray:
    """Converts a caller's array to storage form: text becomes code points; other byte orders and layouts are copied."""
    if type(value) is np.ndarray and value.dtype is DTYPES[kind]:
        return value
    if kind is Kind.CHAR and value.dtype.kind == "U":
        value = np.ascontiguousarray(value, np.dtype("U1")).view(np.uint32).reshape(value.shape)
    return np.asarray(value, DTYPES[kind])


def as_view(value: NumArray, kind: Kind) -> NumArray:
    """A stored array in the form for callers: text has dtype `U1`."""
    if kind is Kind.CHAR:
        return np.ascontiguousarray(value, np.uint32).view(np.dtype("U1")).reshape(value.shape)
    return value


# ---------------------------------------------------------------------------------------------------- layouts
#
# Shapes and strides of the arrays that kernels are bound to.

def broadcasts(shape: tuple[int, ...], space: tuple[int, ...]) -> bool:
    """Does an array of this shape broadcast over the space?"""
    if len(shape) != len(space):
        return prod(shape) == 1
    return all(extent in (1, size) for extent, size in zip(shape, space, strict=True))


def contiguous(sizes: Sequence[int], bytes: int) -> tuple[int, ...]:
    """Byte strides of a contiguous array of these sizes, followed by 0 for a reduce axis."""
    strides: list[int] = []
    for size in reversed(sizes):
        strides.insert(0, bytes)
        bytes *= size
    return (*strides, 0)


def common_stride(shape: Sequence[int], strides: Sequence[int]) -> int | None:
    """The common stride of some axes taken as one axis, 0 if the array repeats along all of them; None if they are not evenly
    spaced."""
    step = 0
    reach: int | None = None
    """How far the axes inside go in all; None before the first of them, whose stride may be 0."""
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size == 1:
            continue
        if reach is None:
            step = stride
        elif stride != reach:
            return None
        reach = stride * size
    return step


def reshaped_strides(shape: Sequence[int], strides: Sequence[int], target: Sequence[int]) -> tuple[int, ...] | None:
    """The strides of a reshape without a copy; None if it needs a copy."""
    if prod(shape) == 0 or prod(shape) == 1:
        return (0,) * len(target)
    axes = [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]
    runs: list[list[int]] = []  # [items, stride of the last axis]
    for n, s in axes:
        if runs and runs[-1][1] == n * s:
            runs[-1] = [runs[-1][0] * n, s]
        else:
            runs.append([n, s])
    target_strides = [0] * len(target)
    axis = len(target) - 1
    for items, stride in reversed(runs):
        while items > 1:
            while target[axis] == 1:
                axis -= 1
            if items % target[axis]:
                return None
            target_strides[axis] = stride
            stride *= target[axis]
            items //= target[axis]
            axis -= 1
    return tuple(target_strides)


# ---------------------------------------------------------------------------------------------------- strided views
#
# One affine stage in numbers, for arrays of the host and of cards: what it reads of its operand, and with which strides.

Numbers: TypeAlias = tuple[int, ...]
Slices: TypeAlias = tuple[slice, ...]


@dataclass(frozen=True, slots=True)
class StridedView:
    """An affine stage in numbers: over `space`, index d of the operand of this shape is Σ coefficients[d][a] × point[a] +
    constants[d]."""

    space: Numbers
    shape: Numbers
    coefficients: tuple[Numbers, ...]
    constants: Numbers

    def bounds(self, box: Sequence[tuple[int, int]] | None = None) -> tuple[Numbers, Numbers]:
        """The least and greatest index on each axis of the operand, over the space or a nonempty box of it."""
        low, high = list(self.constants), list(self.constants)
        for axis, row in enumerate(self.coefficients):
            for coefficient, (start, stop) in zip(row, box or [(0, size) for size in self.space], strict=True):
                low[axis] += min(coefficient * start, coefficient * (stop - 1))
                high[axis] += max(coefficient * start, coefficient * (stop - 1))
        return tuple(low), tuple(high)

    def layout(self, strides: Sequence[int]) -> tuple[int, Numbers]:
        """The offset of the first item, and the strides of the view, in an operand of these strides."""
        columns = zip(*self.coefficients, strict=True) if self.coefficients else ((),) * len(self.space)
        return sum(map(mul, self.constants, strides)), tuple([sum(map(mul, column, strides)) for column in columns])

    def within(self, box: Sequence[tuple[int, int]]) -> StridedView:
        """The view of a box of the space."""
        starts = [start for start, _ in box]
        firsts = [sum(map(mul, row, starts)) for row in self.coefficients]
        extents = tuple([stop - start for start, stop in box])
        return replace(self, space=extents, constants=tuple(map(add, self.constants, firsts)))

    def padded(self, low: Numbers, high: Numbers) -> tuple[StridedView, Slices, Slices]:
        """The view of a copy of the operand's items from `low` to `high`, with fills outside it; the slices of the operand and of
        the copy that have the same items."""
        source: list[slice] = []
        for least, greatest, size in zip(low, high, self.shape, strict=True):
            start = max(least, 0)
            source.append(slice(start, max(start, min(greatest + 1, size))))
        target = [slice(part.start - least, part.stop - least) for part, least in zip(source, low, strict=True)]
        box = tuple([greatest - least + 1 for least, greatest in zip(low, high, strict=True)])
        return replace(self, shape=box, constants=tuple(map(sub, self.constants, low))), tuple(source), tuple(target)

    def indices(self, points: Sequence[Any]) -> list[Any]:
        """By axis of the operand, the index that each point reads; `points`: arrays of coordinates by axis of the space."""
        shape = np.broadcast_shapes(*map(np.shape, points))
        indices: list[Any] = []
        for row, constant in zip(self.coefficients, self.constants, strict=True):
            index: Any = np.full(shape, constant)
            for coefficient, point in zip(row, points, strict=True):
                if coefficient:
                    index = index + coefficient * point
            indices.append(index)
        return indices

    def all_indices(self) -> list[Any]:
        """`indices` of all points of the space."""
        return self.indices(np.ix_(*map(np.arange, self.space)))

    def are_inside(self, indices: Sequence[Any]) -> Any:
        """Which of some points read inside the operand."""
        return np.logical_and.reduce([(index >= 0) & (index < size) for index, size in zip(indices, self.shape, strict=True)])


# ---------------------------------------------------------------------------------------------------- deferred operands
#
# Deferred views: reads that strides cannot express (a ravel of a broadcast or of a transpose), whose boxes are copied on demand.
#
# Note [Boxes of a ravel].  A box of a reshaped array is a few runs of its row-major order, and a run is the end of one row of the
# source, full rows, and the start of another, recursively for each axis.  So the cost of a copy depends on the box, not on the
# size of the source.  Where runs would be very short, and where an affine stage before the reshape leaves most of a bounding box
# unread, items are fetched by index arithmetic, a few at a time.

Box: TypeAlias = Slices

WHOLE: Final = 1 << 13
"""The most items of an array that is copied at once instead of box by box."""
POINTS: Final = 1 << 15
"""Items copied at a time when a deferred view is materialized."""
MIN_DEFERRED: Final = 32
"""The least length of contiguous runs that are copied run by run; items of shorter runs are fetched by index arithmetic."""
MAX_BOX_RATIO: Final = 2
"""The most items of a bounding box per item read of it; in sparser boxes, items are fetched one by one."""
MAX_FETCHED: Final = 1 << 12
"""The most items that are fetched by index arithmetic at a time."""


class DeferredView:
    """An array whose items are copied only on demand."""

    def __init__(self, shape: Numbers, dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype, self.ndim = shape, dtype, len(shape)

    def __getitem__(self, box: Sequence[slice]) -> NumArray:
        """The items in a box with unit steps, as a read-only array."""
        bounds = tuple(part.indices(size)[:2] for part, size in zip(box, self.shape, strict=True))
        return self.box(bounds)

    def box(self, bounds: Sequence[tuple[int, int]]) -> NumArray:
        raise NotImplementedError

    def take(self, indices: tuple[NumArray, ...]) -> NumArray:
        """The items at the given indices: one index array per axis."""
        raise NotImplementedError

    def fetched(self, bounds: Sequence[tuple[int, int]]) -> NumArray:
        """The items of a box, fetched by index arithmetic."""
        extents = tuple(stop - start for start, stop in bounds)
        values: NumArray = np.empty(prod(extents), self.dtype)
        for first in range(0, len(values), MAX_FETCHED):
            points = np.unravel_index(np.arange(first, min(first + MAX_FETCHED, len(values))), extents)
            points = tuple([coordinates + start for coordinates, (start, _) in zip(points, bounds, strict=True)])
            values[first : first + MAX_FETCHED] = self.take(points)
        return values.reshape(extents)

    def into(self, target: NumArray) -> NumArray:
        """Copy all items into `target`, `POINTS` at a time."""
        for box in boxes(self.shape, box_steps(self.shape, (1,) * self.ndim, POINTS)):
            target[box] = self[box]
        return target

    def materialized(self) -> NumArray:
        return self.box([(0, size) for size in self.shape])


Source: TypeAlias = NumArray | DeferredView


def box_steps(extents: Sequence[int], grains: Sequence[int], points: int) -> Numbers:
    """The extents of boxes of about `points` points: as much as possible of the last axes, in multiples of each axis's grain."""
    steps = list(grains)
    for axis in reversed(range(len(steps))):
        others = prod(steps) // max(1, steps[axis])
        steps[axis] = max(1, min(extents[axis], max(1, points // max(1, others * grains[axis])) * grains[axis]))
    return tuple(steps)


def boxes(extents: Sequence[int], steps: Sequence[int]) -> Iterator[Box]:
    """Boxes of these steps that tile the extents."""
    for corner in itertools.product(*(range(0, size, step) for size, step in zip(extents, steps, strict=True))):
        yield tuple([slice(at, min(at + step, size)) for at, step, size in zip(corner, steps, extents, strict=True)])


def reshaped(source: Source, shape: Numbers) -> Source:
    """A reshape: a view if possible, a copy if the array is small, else a deferred view."""
    if prod(shape) <= max(WHOLE, 1):
        return (source.materialized() if isinstance(source, DeferredView) else source).reshape(shape)
    if not isinstance(source, DeferredView):
        if source.flags.c_contiguous:
            return source.reshape(shape)
        if reshaped_strides(source.shape, source.strides, shape) is not None:
            return source.reshape(shape)
    return RavelledView(source, shape)


class RavelledView(DeferredView):
    """A deferred reshape.  See Note [Boxes of a ravel]."""

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
        if count > 1 and run < MIN_DEFERRED:
            return self.fetched(bounds)
        values: NumArray = np.empty((count, run), self.dtype)
        for target, corner in zip(values, itertools.product(*(range(a, b) for a, b in bounds[:last])), strict=True):
            position = 0
            for index, size in zip(corner, shape, strict=False):
                position = position * size + index
            first = (position * shape[last] + start) * inner
            _copy_run(self.source, first, first + run, target)
        return values.reshape(extents)

    def take(self, indices: tuple[NumArray, ...]) -> NumArray:
        flat = np.zeros_like(indices[0])
        for index, size in zip(indices, self.shape, strict=True):
            flat = flat * size + index
        return _taken(self.source, tuple(np.unravel_index(flat, self.source.shape)))


class ReindexedView(DeferredView):
    """An affine stage over a deferred view; reads outside it give `fill`, if set."""

    def __init__(self, source: DeferredView, view: StridedView, fill: int | None) -> None:
        super().__init__(view.space, source.dtype)
        self.source, self.view, self.fill = source, view, fill

    def box(self, bounds: Sequence[tuple[int, int]]) -> NumArray:
        extents = tuple(stop - start for start, stop in bounds)
        if 0 in extents:
            return np.empty(extents, self.dtype)
        low, high = self.view.bounds(bounds)
        around, inside, target = self.view.within(bounds).padded(low, high)
        if prod(around.shape) > MAX_BOX_RATIO * max(prod(extents), WHOLE):
            return self.fetched(bounds)
        box = [(part.start, part.stop) for part in inside]
        if around.shape == tuple(stop - start for start, stop in box):
            items = self.source.box(box)
        else:
            items = np.full(around.shape, self.fill, self.dtype)
            if all(start < stop for start, stop in box):
                items[target] = self.source.box(box)
        return _by_strides(around, items)

    def take(self, indices: tuple[NumArray, ...]) -> NumArray:
        coordinates = self.view.indices(indices)
        if self.fill is None:
            return self.source.take(tuple(coordinates))
        inside = self.view.are_inside(coordinates)
        values: NumArray = np.full(indices[0].shape, self.fill, self.dtype)
        values[inside] = self.source.take(tuple([index[inside] for index in coordinates]))
        return values


def _taken(source: Source, indices: tuple[NumArray, ...]) -> NumArray:
    return source.take(indices) if isinstance(source, DeferredView) else source[indices]


def _copy_run(source: Source, start: int, stop: int, target: NumArray, before: Numbers = ()) -> None:
    """Copies items [start, stop) of the row-major order of the cell at indices `before` into `target`.  See Note [Boxes of a
    ravel]."""
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


# ---------------------------------------------------------------------------------------------------- views of reads

ViewOf: TypeAlias = Callable[[Any], Any]
"""The function from an operand to the array, or the `DeferredView`, of its items at the points of a space."""
PADDING_LIMIT: Final = 4
"""The most items of a padded box per item read of it; beyond this ratio, items are fetched one by one."""


def compile_view(
    projection: Projection, space: Numbers, fill: int, number: Callable[[Size], int]
) -> tuple[ViewOf, tuple[bool, ...]]:
    """A function from an operand to the view of a read, and for each axis of the space whether the view varies on it."""
    boxes = [space]
    for stage in projection.stages:
        boxes.append(tuple(map(number, stage.shape if isinstance(stage, Affine) else stage.target)))
    varying = [tuple(size != 1 for size in boxes[-1])]
    for stage, box, target in zip(reversed(projection.stages), reversed(boxes[:-1]), reversed(boxes[1:]), strict=True):
        varying.insert(0, _varying(stage, box, target, varying[0]))
    if not projection.stages:
        return _as_is, varying[0]
    reduced = [tuple(n if on else 1 for n, on in zip(box, which, strict=True)) for box, which in zip(boxes, varying, strict=True)]
    steps: list[ViewOf] = []
    for index, stage in enumerate(projection.stages):
        box, reached, target, matters = reduced[index], boxes[index + 1], reduced[index + 1], varying[index + 1]
        if isinstance(stage, Affine) and stage.fills:
            target, matters = reached, (True,) * len(reached)
        step = _compile_stage(stage, box, target, matters, fill, number)
        if isinstance(stage, Affine) and any(isinstance(later, Reshaped) for later in projection.stages[index + 1 :]):
            step = _or_deferred(step, stage, box, target, matters, fill, number)
        steps.append(step if target == reduced[index + 1] else _filling(step, reached))
    if len(steps) == 1:
        return steps[0], varying[0]
    steps.reverse()
    if prod(reduced[0]) <= WHOLE:
        return _few(steps), varying[0]

    def view(operand: Any) -> Any:
        for step in steps:
            operand = step(operand)
        return operand

    return view, varying[0]


def _few(steps: Sequence[ViewOf]) -> ViewOf:
    """The composition of these steps, for few items: a deferred result is copied at once."""

    def view(operand: Any) -> Any:
        for step in steps:
            operand = step(operand)
        return operand.materialized() if isinstance(operand, DeferredView) else operand

    return view


def compile_views(
    phase: Structured, space: Numbers, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int]
) -> tuple[list[tuple[ValueId, ViewOf]], list[tuple[bool, ...]]]:
    """For each read of a phase: the value and its view, and by axis of the space whether the view varies on it."""
    views = [compile_view(read.projection, space, FILLS[kinds(read.value)], number) for read in phase.reads]
    return [(read.value, view) for read, (view, _) in zip(phase.reads, views, strict=True)], [varying for _, varying in views]


def may_defer(read: Read) -> bool:
    """Can a view of this read be deferred for some operand?"""
    return any(isinstance(stage, Reshaped) for stage in read.projection.stages)


def _as_is(operand: Any) -> Any:
    return operand


def _varying(stage: Stage, box: Numbers, target: Numbers, varies: tuple[bool, ...]) -> tuple[bool, ...]:
    """By axis of its box, whether a stage's target depends on it, given which axes of the target matter.

    An axis on which nothing varies has length 1 from here on; a fill depends on every index."""
    if isinstance(stage, Affine):
        used = {t.axis for index, on in zip(stage.indices, varies, strict=True) if on or stage.fills for t in index.terms}
        return tuple(size != 1 and axis in used for axis, size in enumerate(box))
    if 0 in box:
        return tuple(size != 1 for size in box)
    varying = [False] * len(box)
    for sources, targets in mergeable_axes(box, target):
        if any(varies[axis] for axis in targets):
            for axis in sources:
                varying[axis] = box[axis] != 1
    return tuple(varying)


def mergeable_axes(source: Numbers, target: Numbers) -> Iterator[tuple[range, range]]:
    """The shortest groups of leading axes with equal products, one after the other, of two boxes of equal size without zeros."""
    i = j = 0
    while i < len(source) or j < len(target):
        start_i, start_j, left, right = i, j, 1, 1
        while True:
            if left < right or (left == right and i == start_i and i < len(source)):
                left *= source[i]
                i += 1
            elif right < left or (left == right and j == start_j and j < len(target)):
                right *= target[j]
                j += 1
            if left == right and (i > start_i or i == len(source)) and (j > start_j or j == len(target)):
                break
        yield range(start_i, i), range(start_j, j)


def _filling(step: ViewOf, shape: Numbers) -> ViewOf:
    """The stage, which may leave its box, on an operand that is expanded to the box's full extent along axes where it repeats."""
    return lambda operand: step(_repeated(operand, shape))


def _reshaped(stage: Reshaped, space: Numbers, shape: Numbers, matters: tuple[bool, ...], number: Callable[[Size], int]
              ) -> ViewOf:  # fmt: skip
    """A reshape stage; axes that are reshaped together are all expanded if one of them matters."""
    source, target = tuple(map(number, stage.source)), tuple(map(number, stage.target))
    wanted = list(shape)
    if 0 not in source:
        for _, axes in mergeable_axes(source, target):
            if any(matters[axis] for axis in axes):
                for axis in axes:
                    wanted[axis] = target[axis]
    needed = tuple(wanted)
    if needed == shape:
        return lambda operand: reshaped(operand, space)
    return lambda operand: reshaped(_repeated(operand, needed), space)


def _repeated(operand: Any, shape: Numbers) -> Any:
    """A view of the operand in `shape`, repeated along axes on which it has one item."""
    if not isinstance(operand, DeferredView):
        return np.broadcast_to(operand, shape)
    rows = [[int(axis == source and operand.shape[source] != 1) for axis in range(len(shape))] for source in range(len(shape))]
    return ReindexedView(operand, StridedView(shape, operand.shape, tuple(map(tuple, rows)), (0,) * len(shape)), None)


def _compile_stage(
    stage: Stage, space: Numbers, shape: Numbers, matters: tuple[bool, ...], fill: int, number: Callable[[Size], int]
) -> ViewOf:
    if isinstance(stage, Reshaped):
        return _reshaped(stage, space, shape, matters, number)
    known = strided_view(stage, space, shape, matters, number)
    if 0 in space:
        return lambda operand: np.empty(space, operand.dtype)
    low, high = known.bounds()
    match index_range(stage, known, low, high):
        case IndexRange.INSIDE:
            return _strided(known)
        case IndexRange.AROUND:
            return _padded(known, low, high, fill)
        case IndexRange.FAR:
            return _gathered(known, fill)


def _or_deferred(
    view: ViewOf, stage: Affine, space: Numbers, shape: Numbers, matters: Sequence[bool], fill: int, number: Callable[[Size], int]
) -> ViewOf:
    """An affine stage after a reshape: `view` for an array; for a deferred view, a deferred view of the stage."""
    known = strided_view(stage, space, shape, matters, number)

    def view_of(operand: Any) -> Any:
        if isinstance(operand, DeferredView) and 0 not in space:
            return ReindexedView(operand, known, fill if stage.fills else None)
        return view(operand)

    return view_of


def strided_view(
    stage: Affine, space: Numbers, shape: Numbers, matters: Sequence[bool], number: Callable[[Size], int]
) -> StridedView:
    """An affine stage with known sizes; indices that do not matter are 0."""
    coefficients = [[0] * len(space) for _ in shape]
    constants = [0] * len(shape)
    for position, (row, index) in enumerate(zip(coefficients, stage.indices, strict=True)):
        if not matters[position]:
            continue
        constants[position] = number(index.constant)
        for term in index.terms:
            if space[term.axis] != 1:
                row[term.axis] += term.coefficient
    return StridedView(space, shape, tuple(map(tuple, coefficients)), tuple(constants))


class IndexRange(Enum):
    """How a read's indices relate to its operand's extents."""

    INSIDE = "not at all"
    AROUND = "so little that the operand is padded"
    FAR = "so far that items are fetched one by one"


def index_range(stage: Affine, known: StridedView, low: Numbers, high: Numbers) -> IndexRange:
    if all(a >= 0 and b < n for a, b, n in zip(low, high, known.shape, strict=True)):
        return IndexRange.INSIDE
    require_invariant(stage.fills, f"a read stays in its operand: {low} to {high} of {known.shape}")
    near = prod(b - a + 1 for a, b in zip(low, high, strict=True)) <= PADDING_LIMIT * max(prod(known.space), 64)
    return IndexRange.AROUND if near else IndexRange.FAR


def _strided(stage: StridedView) -> ViewOf:
    """The view of an in-bounds affine stage: by indexing and transposing if possible, else by explicit strides."""
    uses = [[(axis, c) for axis, c in enumerate(row) if c] for row in stage.coefficients]
    axes = [terms[0][0] for terms in uses if len(terms) == 1]
    if all(len(terms) <= 1 for terms in uses) and len(set(axes)) == len(axes):
        return _indexed(stage, uses)

    return partial(_by_strides, stage)


def _by_strides(stage: StridedView, operand: NumArray) -> NumArray:
    offset, steps = stage.layout(operand.strides)
    if operand.flags.c_contiguous:
        return np.ndarray(stage.space, operand.dtype, operand, offset, steps)
    return as_strided(operand[tuple(slice(c, None) for c in stage.constants)], stage.space, steps)


def _indexed(stage: StridedView, uses: Sequence[Sequence[tuple[int, int]]]) -> ViewOf:
    """The view where each operand axis is indexed by a number, or by a slice along one axis of the space; None otherwise."""
    picks: list[Any] = []
    axes: list[int] = []
    for terms, start in zip(uses, stage.constants, strict=True):
        if not terms:
            picks.append(start)
            continue
        axis, step = terms[0]
        last = start + step * (stage.space[axis] - 1)
        stop = last + (1 if step > 0 else -1)
        picks.append(slice(start, stop if stop >= 0 else None, step))
        axes.append(axis)
    index = (*picks, ...)  # without the ellipsis an item would be a copy
    all_picked = all(p == slice(0, n, 1) for p, n in zip(picks, stage.shape, strict=True))
    order = sorted(range(len(axes)), key=axes.__getitem__)
    permuted = order != list(range(len(order)))
    shape = stage.space

    def view(operand: Any) -> Any:
        if not all_picked:
            operand = operand[index]
        if permuted:
            operand = operand.transpose(order)
        return operand if operand.shape == shape else operand[expand]

    expand = tuple(slice(None) if axis in axes else None for axis in range(len(shape)))
    return view


def _padded(stage: StridedView, low: Numbers, high: Numbers, fill: int) -> ViewOf:
    """Copies the operand's part that is read into a box surrounded by fills, then views that box."""
    around, source, target = stage.padded(low, high)
    inner, empty = _strided(around), any(part.start == part.stop for part in source)

    def view(operand: Any) -> Any:
        padded: NumArray = pooled_empty(around.shape, operand.dtype)
        if _recorded.pads is not None:
            _recorded.pads.append(Pad(padded, fill, None if empty else (operand[source], target)))
        elif empty:
            padded.fill(fill)
        else:
            _fill_around(padded, target, fill)
            padded[target] = operand[source]
        return inner(padded)

    return view


@dataclass(frozen=True, slots=True)
class Pad:
    """An array of fills except for `inside`: a view of the operand, and the slices of the array where its items belong."""

    array: NumArray
    fill: int
    inside: tuple[NumArray, tuple[slice, ...]] | None


class _Recorded(threading.local):
    pads: list[Pad] | None = None


_recorded: Final = _Recorded()


@contextmanager
def recorded_pads() -> Iterator[list[Pad]]:
    """Collects the pads of views made within the block; their arrays stay empty."""
    _recorded.pads = pads = list[Pad]()
    try:
        yield pads
    finally:
        _recorded.pads = None


def _fill_around(padded: NumArray, inside: Sequence[slice], fill: int) -> None:
    """Fills all of the array except the inside box, slab by slab."""
    region: list[slice] = []
    for axis, part in enumerate(inside):
        rest = (slice(None),) * (len(inside) - axis - 1)
        if part.start:
            padded[(*region, slice(0, part.start), *rest)] = fill
        if part.stop < padded.shape[axis]:
            padded[(*region, slice(part.stop, None), *rest)] = fill
        region.append(part)


def _gathered(stage: StridedView, fill: int) -> ViewOf:
    """The view of a sparse read far outside its operand: a copy by index arrays."""
    indices = stage.all_indices()
    inside = stage.are_inside(indices)

    def view(operand: Any) -> Any:
        values = np.full(stage.space, fill, operand.dtype)
        values[inside] = operand[tuple(index[inside] for index in indices)]
        return values

    return view
