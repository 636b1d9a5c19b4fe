"""Runs a structured phase with a reduce axis: the body box by box, each box reduced at once.

Boxes are runs of cells with the whole reduce axis, or with pieces of it where it is long, cut at multiples of a block of
the order of sums.  Partial results are joined in that order, so the boxes do not show.

Neighbours: `space` (boxes and layout), `reduce` (one reduction), `structured` (compiles).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...graph.phases import ValueId
from ...scalar.table import REDUCTIONS
from ..team import run_boxes
from . import space
from .body import Body
from .kinds import NumArray
from .reduce import EXTREMES, Reduction
from .space import Box, Compiled, Layout, boxes
from .views import View

RUN: Final = 64
"""Cells of a box, at least, where cells lie next to each other in memory and the reduce axis does not."""


class ReducingRun(Compiled):
    """The reduce axis is the last of the space; each reduction has its slot."""

    def __init__(
        self,
        body: Body,
        views: Sequence[tuple[ValueId, View]],
        points: tuple[int, ...],
        reductions: Sequence[Reduction],
        threads: int,
    ) -> None:
        super().__init__(body, views, points, [r.node for r in reductions], threads)
        self.reductions = reductions
        self.shown = frozenset()

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        slots = self.slots(values)
        if self.count <= space.WHOLE or not (self.body.inner or self.body.axes):
            self.whole(slots)
            both = self.extreme_and_place(slots)
            return both if both is not None else tuple(self.reduce_whole(r, slots[r.node]) for r in self.reductions)
        return self.reduce_in_boxes(self.layout(slots))

    def reduce_whole(self, reduction: Reduction, value: Any) -> Any:
        if value.shape != self.space:
            value = np.broadcast_to(value, self.space)
        if self.threads > 1 and value.size >= space.THREADED:
            return reduction.threaded(value, self.threads)
        return reduction.whole(value)

    def extreme_and_place(self, slots: Sequence[Any]) -> tuple[Any, ...] | None:
        """Of one vector the extreme is the item at its place; None where it is another: a zero of another sign, or NaN."""
        first = self.reductions[0]
        if len(self.reductions) != 2 or EXTREMES.get(self.reductions[1].function) != first.function:
            return None
        value = slots[first.node]
        if first.node != self.reductions[1].node or len(self.space) != 1 or value.shape != self.space:
            return None
        place = self.reductions[1].plain_place(value, self.threads if value.size >= space.THREADED else 1)
        extreme = None if place is None else value[place]
        return None if extreme is None or not extreme else (extreme, place)

    def reduce_in_boxes(self, layout: Layout) -> tuple[Any, ...]:
        """Cells are repeated at the end along axes on which nothing varies."""
        axis = layout.order.index(len(self.space) - 1)
        length = self.space[-1]
        cells = layout.points[:axis] + layout.points[axis + 1 :]
        threads, points = self.team()
        inner, points = axis == len(cells), 2 * points
        whole = any(r.function not in REDUCTIONS for r in self.reductions)  # pieces cannot be joined
        piece = length if whole else min(r.piece(length, points, inner) for r in self.reductions)
        many = max(1, points // piece) if inner else max(RUN, points // piece)
        outputs: list[NumArray | None] = [None] * len(self.reductions)
        rooms = [r.room(cells, axis, length, piece) for r in self.reductions]

        def make_worker() -> Callable[[Box], None]:
            evaluate = self.worker(layout, outputs, many * piece)

            def work(box: Box) -> None:
                own = evaluate(box if layout.points[axis] != 1 else (*box[:axis], slice(0, 1), *box[axis + 1 :]))
                shape = tuple(part.stop - part.start for part in box)
                for reduction, room in zip(self.reductions, rooms, strict=True):
                    value = own[reduction.node]
                    if value.shape != shape:
                        value = np.broadcast_to(value, shape)
                    part = reduction.partial(value, axis)
                    first = box[axis].start // piece * reduction.parts(piece)
                    room[(*box[:axis], slice(first, first + part.shape[axis]), *box[axis + 1 :])] = part

            return work

        pieces = [slice(start, min(start + piece, length)) for start in range(0, length, piece)]
        grid = ((*box[:axis], part, *box[axis:]) for box in boxes(cells, many) for part in pieces)
        run_boxes(grid, make_worker, threads)
        rest = [a for a in layout.order if a != len(self.space) - 1]
        return tuple(
            self.spread(layout.restore(r.combine(room, axis), rest)) for r, room in zip(self.reductions, rooms, strict=True)
        )

    def spread(self, value: Any) -> Any:
        cells = self.space[:-1]
        return value if value.shape == cells else np.array(np.broadcast_to(value, cells))
