"""A body over its iteration space: the slots it reads, the layout it runs in, and the worker that runs it on a box.

Note [Layout].  Boxes run through the space in the order in which its largest operand lies in memory, so that a transposed operand
is read in runs; results are made in that order too, and handed on transposed.

Neighbours: `body` (instructions), `mapping` and `reducing` (what becomes of the results).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ...graph.phases import ValueId
from ...schedule.facts.workspace import LARGEST_TEAM, TEAM_POINTS
from .body import Body
from .kinds import NumArray
from .views import View

WHOLE: Final = 1 << 13
"""Spaces of at most this many points run whole."""
BOX: Final = TEAM_POINTS // 2
"""Points of a box of one of two threads: 1 MiB an f64 operand.  One thread alone does better with half of that."""
THREADED: Final = 1 << 19
"""Spaces of at least this many points use the whole team."""

Box: TypeAlias = tuple[slice, ...]
_ALL: Final = slice(None)


@dataclass(frozen=True, slots=True)
class Layout:
    """The space with its axes in memory order: `order[new] = old`."""

    order: tuple[int, ...]
    points: tuple[int, ...]
    slots: tuple[Any, ...]
    varying: tuple[frozenset[int], ...]
    axes: tuple[tuple[int, int], ...]

    def restore(self, value: Any, order: Sequence[int] | None = None) -> Any:
        """A value in this layout with its axes in the program's order."""
        order = self.order if order is None else order
        return value if list(order) == sorted(order) else value.transpose(sorted(range(len(order)), key=order.__getitem__))


class Compiled:
    """What mapping and reducing share."""

    def __init__(self, body: Body, views: Sequence[tuple[ValueId, View]], space: tuple[int, ...], shown: Sequence[int],
                 threads: int) -> None:  # fmt: skip
        self.body, self.views, self.space, self.threads = body, views, space, min(threads, LARGEST_TEAM)
        full = frozenset().union(*(body.varying[i.slot] for i in body.inner), *(body.varying[slot] for slot in shown))
        self.points = tuple(size if axis in full else 1 for axis, size in enumerate(space))
        self.count = prod(self.points)
        self.shown = frozenset(shown)

    def team(self) -> tuple[int, int]:
        """Threads to use, and the points of a box of each."""
        threads = self.threads if self.count >= THREADED else 1
        return threads, max(1, 2 * BOX // max(threads, 2) if threads > 1 else BOX // 2)

    def slots(self, values: Mapping[ValueId, Any]) -> list[Any]:
        """Every slot that boxes read, over the whole space."""
        body = self.body
        slots: list[Any] = [None] * body.slots
        for slot, value in body.constants:
            slots[slot] = value
        for slot, index in body.reads:
            value_id, view = self.views[index]
            slots[slot] = view(values[value_id])
        for slot, axis in body.axes:
            if body.hoisted or self.count <= WHOLE or slot in self.shown:
                slots[slot] = _coordinates(len(self.space), axis, 0, self.space[axis])
        for made in body.hoisted:
            slots[made.slot] = made.function(*[slots[a] for a in made.args], None)
        return slots

    def whole(self, slots: list[Any]) -> None:
        """The body on whole arrays."""
        for made in self.body.inner:
            slots[made.slot] = made.function(*[slots[a] for a in made.args], None)

    def layout(self, slots: Sequence[Any]) -> Layout:
        """See Note [Layout]."""
        body, rank = self.body, len(self.space)
        order = tuple(range(rank))
        largest = max((slots[slot] for slot, _ in body.reads if slots[slot].ndim == rank), key=lambda a: a.size, default=None)
        if largest is not None and rank > 1:
            order = tuple(sorted(order, key=lambda axis: -abs(largest.strides[axis]) if largest.shape[axis] > 1 else -_FAR))
        if order == tuple(range(rank)):
            return Layout(order, self.points, tuple(slots), body.varying, body.axes)
        place = {old: new for new, old in enumerate(order)}
        moved = tuple(a.transpose(order) if a is not None and a.ndim == rank else a for a in slots)
        varying = tuple(frozenset(place[axis] for axis in on) for on in body.varying)
        return Layout(
            order, tuple(self.points[axis] for axis in order), moved, varying, tuple((s, place[a]) for s, a in body.axes)
        )

    def worker(self, layout: Layout, outputs: Sequence[NumArray | None], box_points: int) -> Callable[[Box], list[Any]]:
        """Runs the body on a box of the layout; results that have an output are written to it, others stay in its slots."""
        body, rank = self.body, len(self.space)
        box_points = min(box_points, self.count)  # no box has more
        pools = [np.empty(box_points, dtype) for dtype in body.registers]
        loose = {i.slot: np.empty(box_points, i.dtype) for i in body.inner if i.register < 0 and outputs[i.output] is None}
        own = list(layout.slots)
        axes = dict(layout.axes)
        moving = [
            (slot, array, layout.varying[slot])
            for slot, array in enumerate(layout.slots)
            if array is not None and layout.varying[slot] and slot not in axes
        ]

        def run(box: Box) -> list[Any]:
            shape = tuple(part.stop - part.start for part in box)
            count = prod(shape)
            for slot, array, on in moving:
                own[slot] = array[tuple(part if axis in on else _ALL for axis, part in enumerate(box))]
            for slot, axis in axes.items():
                own[slot] = _coordinates(rank, axis, box[axis].start, box[axis].stop)
            for made in body.inner:
                if made.register >= 0:
                    target = pools[made.register][:count].reshape(shape)
                else:
                    output = outputs[made.output]
                    target = loose[made.slot][:count].reshape(shape) if output is None else output[box]
                own[made.slot] = made.function(*[own[a] for a in made.args], target)
            return own

        return run


_FAR: Final = 1 << 62


def _coordinates(rank: int, axis: int, start: int, stop: int) -> NumArray:
    line = np.arange(start, stop)
    return line if rank == 1 else line.reshape((1,) * axis + (stop - start,) + (1,) * (rank - axis - 1))


def boxes(shape: Sequence[int], points: int) -> Iterator[Box]:
    """Disjoint boxes of at most `points` points that tile the shape, contiguous in row-major order."""
    inner, axis = 1, len(shape)
    while axis and inner * shape[axis - 1] <= points:
        axis -= 1
        inner *= shape[axis]
    rest = tuple(slice(0, size) for size in shape[axis:])
    if axis == 0:
        yield rest
        return
    rows = max(1, points // inner)
    outer = shape[: axis - 1]
    starts = range(0, shape[axis - 1], rows)
    for place in itertools.product(*map(range, outer)):
        for start in starts:
            yield (*(slice(p, p + 1) for p in place), slice(start, min(start + rows, shape[axis - 1])), *rest)


def common_stride(shape: Sequence[int], strides: Sequence[int]) -> int | None:
    """The stride of some axes as one, 0 where they repeat what is there once; None where they are not evenly spaced."""
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
