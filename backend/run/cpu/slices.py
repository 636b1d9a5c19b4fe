"""Structured phases on NumPy: the body on all points where they are few, else slice by slice.

A slice has so few points that what is computed on it stays in cache, and within what the plan counts.  A reduced axis is cut at
multiples of a block of the order of sums, so that slices do not show.

Note [Layout].  Slices run through the space in the order in which its largest operand lies in memory, so that a transposed
operand is read in runs; results are made in that order too, and handed on transposed.

Neighbours: `body` (instructions), `reduce` (one reduction), `structured` and `rows` (compile phases and chains).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ...graph.phases import ValueId
from ...schedule.facts.workspace import TEAM_POINTS
from ..pool import room
from .body import Body, evaluate
from .kinds import NumArray
from .reduce import Reduction, reduced
from .views import View

WHOLE: Final = 1 << 13
"""Spaces of at most this many points are one slice."""
POINTS: Final = TEAM_POINTS // 4
"""Points of a slice of items of 8 bytes: 512 KiB an operand."""

Numbers: TypeAlias = tuple[int, ...]
Box: TypeAlias = tuple[slice, ...]
_ALL: Final = slice(None)
_FAR: Final = 1 << 62


def slices(extents: Sequence[int], grains: Sequence[int], points: int) -> Iterator[Box]:
    """Boxes that tile the extents: as much as can be of the last axes, of about so many points, in whole grains of each axis."""
    steps = list(grains)
    for axis in reversed(range(len(steps))):
        others = prod(steps) // max(1, steps[axis])
        steps[axis] = min(extents[axis], max(1, points // max(1, others * grains[axis])) * grains[axis])
    starts = [range(0, extent, max(1, step)) for extent, step in zip(extents, steps, strict=True)]
    for corner in itertools.product(*starts):
        yield tuple(slice(at, min(at + n, end)) for at, n, end in zip(corner, steps, extents, strict=True))


class Sliced:
    """A body over a space; `nodes` are those of its results."""

    def __init__(self, body: Body, views: Sequence[tuple[ValueId, View]], space: Numbers, nodes: Sequence[int]) -> None:
        self.body, self.views, self.space, self.nodes = body, views, space, nodes
        full = frozenset().union(*(body.varying[made.slot] for made in body.inner), *(body.varying[node] for node in nodes))
        self.extents = tuple(size if axis in full else 1 for axis, size in enumerate(space))
        self.is_one = prod(self.extents) <= WHOLE or not (body.inner or body.axes)

    def operands(self, values: Mapping[ValueId, Any]) -> list[Any]:
        """Every slot that slices read, over the whole space."""
        body, rank = self.body, len(self.space)
        slots: list[Any] = [None] * len(body.varying)
        for slot, value in body.constants:
            slots[slot] = value
        for slot, index in body.reads:
            value_id, view = self.views[index]
            slots[slot] = view(values[value_id])
        for slot, axis in body.axes:
            if body.hoisted or self.is_one:
                slots[slot] = _coordinates(rank, axis, slice(0, self.space[axis]))
        evaluate(body.hoisted, slots, {})
        return slots

    def order(self, slots: Sequence[Any]) -> Numbers:
        """The axes from the outermost to the innermost.  See Note [Layout]."""
        rank = len(self.space)
        if self.is_one or rank < 2:
            return tuple(range(rank))
        reads = [slots[slot] for slot, _ in self.body.reads if slots[slot] is not None and slots[slot].ndim == rank]
        if not reads:
            return tuple(range(rank))
        largest = max(reads, key=lambda array: array.size)
        return tuple(sorted(range(rank), key=lambda axis: -abs(largest.strides[axis]) if largest.shape[axis] > 1 else -_FAR))

    def cut(self, slots: Sequence[Any], order: Numbers, box: Box) -> list[Any]:
        """The slots of a slice, whose axes are in the order of slices, as those of its box are."""
        rank = len(order)
        own = [a.transpose(order)[_within(box, order, a.shape)] if a is not None and a.ndim == rank else a for a in slots]
        for slot, axis in self.body.axes:
            own[slot] = _coordinates(rank, order.index(axis), box[order.index(axis)])
        return own

    def shape(self, box: Box, order: Numbers) -> Numbers:
        """That of what is computed of a slice."""
        return tuple([part.stop - part.start if self.extents[axis] != 1 else 1 for axis, part in zip(order, box, strict=True)])


class MappedRun(Sliced):
    """A phase without a reduce axis."""

    def __init__(self, body: Body, views: Sequence[tuple[ValueId, View]], space: Numbers, nodes: Sequence[int],
                 dtypes: Sequence[np.dtype[Any]]) -> None:  # fmt: skip
        super().__init__(body, views, space, nodes)
        self.dtypes = dtypes
        self.points = POINTS * 8 // max((made.dtype.itemsize for made in body.inner), default=8)
        computed = {made.slot for made in body.inner}
        self.direct = frozenset(place for place, node in enumerate(nodes) if node in computed and nodes.index(node) == place)
        """Results that are computed where they stay; others are copied there."""

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        """The results; none shares memory with another, or with an operand but the one that is written over."""
        slots = self.operands(values)
        order, direct = self.order(slots), self.direct
        extents = tuple([self.extents[axis] for axis in order])
        over = _fitting(overwrite, order, extents, self.dtypes[0])
        targets = [over if place == 0 and over is not None else room(extents, d) for place, d in enumerate(self.dtypes)]
        if over is not None and len(targets) > 1:
            direct = direct - {0}  # the others may be made of what is written over
        for box in (None,) if self.is_one else slices(extents, (1,) * len(extents), self.points):
            own = slots if box is None else self.cut(slots, order, box)
            parts = targets if box is None else [target[box] for target in targets]
            shape = None if box is None else self.shape(box, order)
            evaluate(self.body.inner, own, {self.nodes[place]: parts[place] for place in direct}, shape)
            for place in reversed(range(len(parts))):
                if place not in direct:
                    parts[place][...] = own[self.nodes[place]]
        return tuple([spread(restored(target, order), self.space) for target in targets])


class ReducedRun(Sliced):
    """A phase whose last axis is reduced."""

    def __init__(self, body: Body, views: Sequence[tuple[ValueId, View]], space: Numbers,
                 reductions: Sequence[Reduction]) -> None:  # fmt: skip
        super().__init__(body, views, space, [r.node for r in reductions])
        self.reductions = reductions

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        slots, last = self.operands(values), len(self.space) - 1
        if self.is_one:
            evaluate(self.body.inner, slots, {})
            extents = (*self.extents[:-1], self.space[-1])
            wholes = reduced(self.reductions, [repeated(slots[node], extents) for node in self.nodes])
            return tuple([spread(whole, self.space[:-1]) for whole in wholes])
        order = self.order(slots)
        axis = order.index(last)
        extents = tuple([self.space[last] if a == last else self.extents[a] for a in order])
        targets = [r.room(extents, axis) for r in self.reductions]
        grains = [1] * len(order)
        grains[axis] = max(r.grain(self.space[last]) for r in self.reductions)
        for box in slices(extents, grains, 2 * POINTS):
            own = self.cut(slots, order, box)
            evaluate(self.body.inner, own, {}, self.shape(box, order))
            for r, target in zip(self.reductions, targets, strict=True):
                r.put(target, box, axis, repeated(own[r.node], tuple([part.stop - part.start for part in box])))
        cells = tuple([a for a in order if a != last])
        combined = [restored(r.combine(target, axis), cells) for r, target in zip(self.reductions, targets, strict=True)]
        return tuple([spread(value, self.space[:-1]) for value in combined])


def _fitting(array: NumArray | None, order: Numbers, extents: Numbers, dtype: np.dtype[Any]) -> NumArray | None:
    """The array in the order of slices, if the result of such items can be written over it."""
    if array is None or array.dtype != dtype or array.ndim != len(order):
        return None
    moved = array.transpose(order)
    return moved if moved.shape == extents and moved.flags.c_contiguous else None


def restored(value: Any, order: Numbers) -> Any:
    """A value in an order of axes, in the program's."""
    return value if order == tuple(range(len(order))) else value.transpose(np.argsort(order))


def repeated(value: Any, shape: Numbers) -> Any:
    """A view of a value in this shape."""
    return value if value.shape == shape else np.broadcast_to(value, shape)


def spread(value: Any, shape: Numbers) -> Any:
    """A value of its own in this shape."""
    return value if value.shape == shape else np.array(np.broadcast_to(value, shape))


def _within(box: Box, order: Numbers, shape: Numbers) -> Box:
    """A box (in the order of slices) of an array of this shape, which is 1 where it does not vary."""
    return tuple([_ALL if shape[axis] == 1 else part for axis, part in zip(order, box, strict=True)])


def _coordinates(rank: int, axis: int, part: slice) -> NumArray:
    line = np.arange(part.start, part.stop)
    return line.reshape((1,) * axis + (len(line),) + (1,) * (rank - axis - 1))
