"""Structured phases on NumPy: the body on all points where they are few, else slice by slice.

A slice has so few points that what is computed on it stays in cache, and within what the plan counts.  A reduced axis is cut at
multiples of a block of the order of sums, so that slices do not show.

Operands that are `deferred` are copied slice by slice, and at once where nodes that are computed once need them.

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
from ..pool import room, trim
from .body import Body, evaluate
from .deferred import WHOLE, Deferred
from .kinds import NumArray
from .reduce import Reduction
from .views import View

POINTS: Final = TEAM_POINTS // 8
"""Points of a slice: 512 KiB an operand of items of 16 bytes, the largest."""

Numbers: TypeAlias = tuple[int, ...]
Box: TypeAlias = tuple[slice, ...]
_ALL: Final = slice(None)


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
        self.once = tuple({arg for made in body.hoisted for arg in made.args})

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
        if self.once:
            originals = {slot: slots[slot] for slot in self.once if isinstance(slots[slot], Deferred)}
            for slot, deferred in originals.items():
                slots[slot] = deferred.whole()
            evaluate(body.hoisted, slots, {})
            slots = [originals.get(slot, value) if value is not None else None for slot, value in enumerate(slots)]
        return slots

    def is_at_once(self, slots: Sequence[Any]) -> bool:
        """Is the space one slice, of these operands?"""
        return self.is_one and not any(isinstance(value, Deferred) for value in slots)

    def cut(self, slots: Sequence[Any], box: Box) -> list[Any]:
        """The slots of a slice."""
        rank = len(box)
        own = [a[_within(box, a.shape)] if a is not None and a.ndim == rank else a for a in slots]
        for slot, axis in self.body.axes:
            own[slot] = _coordinates(rank, axis, box[axis])
        return own


class MappedRun(Sliced):
    """A phase without a reduce axis."""

    def __init__(self, body: Body, views: Sequence[tuple[ValueId, View]], space: Numbers, nodes: Sequence[int],
                 dtypes: Sequence[np.dtype[Any]]) -> None:  # fmt: skip
        super().__init__(body, views, space, nodes)
        self.dtypes = dtypes
        computed = {made.slot for made in body.inner if isinstance(made.function, np.ufunc)}
        self.direct = frozenset(place for place, node in enumerate(nodes) if node in computed and nodes.index(node) == place)
        """Results that are computed where they stay; others are copied there."""

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        """The results; none shares memory with another, or with an operand but the one that is written over."""
        slots, direct = self.operands(values), self.direct
        over = _fitting(overwrite, self.extents, self.dtypes[0])
        targets = [over if place == 0 and over is not None else room(self.extents, d) for place, d in enumerate(self.dtypes)]
        if over is not None and len(targets) > 1:
            direct = direct - {0}  # the others may be made of what is written over
        is_one = self.is_at_once(slots)
        if not is_one:
            trim()
        for box in (None,) if is_one else slices(self.extents, (1,) * len(self.extents), POINTS):
            own = slots if box is None else self.cut(slots, box)
            parts = targets if box is None else [target[box] for target in targets]
            evaluate(self.body.inner, own, {self.nodes[place]: parts[place] for place in direct})
            for place in reversed(range(len(parts))):
                if place not in direct:
                    parts[place][...] = own[self.nodes[place]]
            del own  # before the next slice is copied
        return tuple([spread(target, self.space) for target in targets])


class ReducedRun(Sliced):
    """A phase whose last axis is reduced."""

    def __init__(self, body: Body, views: Sequence[tuple[ValueId, View]], space: Numbers,
                 reductions: Sequence[Reduction]) -> None:  # fmt: skip
        super().__init__(body, views, space, [r.node for r in reductions])
        self.reductions = reductions

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        """Boxes have the reduced axis first, so that cells are reduced side by side."""
        slots, length = self.operands(values), self.space[-1]
        extents = (length, *self.extents[:-1])
        targets = [r.room(extents) for r in self.reductions]
        if not self.is_at_once(slots):
            trim()
        grains = (max(r.grain(length) for r in self.reductions), *[1] * (len(extents) - 1))
        for first, *cells in slices(extents, grains, 4 * POINTS):
            box = (*cells, first)
            own = self.cut(slots, box)
            evaluate(self.body.inner, own, {})
            shape = tuple([part.stop - part.start for part in box])
            for r, target in zip(self.reductions, targets, strict=True):
                value = repeated(own[r.node], shape)
                r.put(target, (first, *cells), value.transpose(value.ndim - 1, *range(value.ndim - 1)))
            del own, value  # before the next slice is copied
        return tuple([spread(r.combine(target), self.space[:-1]) for r, target in zip(self.reductions, targets, strict=True)])


def _fitting(array: NumArray | None, extents: Numbers, dtype: np.dtype[Any]) -> NumArray | None:
    """The array, if the result of such items can be written over it."""
    fits = array is not None and array.dtype == dtype and array.shape == extents and array.flags.c_contiguous
    return array if fits else None


def repeated(value: Any, shape: Numbers) -> Any:
    """A view of a value in this shape."""
    return value if value.shape == shape else np.broadcast_to(value, shape)


def spread(value: Any, shape: Numbers) -> Any:
    """A value of its own in this shape."""
    return value if value.shape == shape else np.array(np.broadcast_to(value, shape))


def _within(box: Box, shape: Numbers) -> Box:
    """A box of an array of this shape, which is 1 where it does not vary."""
    return tuple([_ALL if size == 1 else part for size, part in zip(shape, box, strict=True)])


def _coordinates(rank: int, axis: int, part: slice) -> NumArray:
    line = np.arange(part.start, part.stop)
    return line.reshape((1,) * axis + (len(line),) + (1,) * (rank - axis - 1))
