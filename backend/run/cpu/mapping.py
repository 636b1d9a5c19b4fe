"""Runs a structured phase without a reduce axis: element-wise work, one pass over memory.

Neighbours: `space` (boxes and layout), `structured` (compiles).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...graph.phases import ValueId
from ..team import run_boxes
from . import space
from .body import Body
from .kinds import NumArray
from .space import Box, Compiled, boxes
from .views import View


class MappingRun(Compiled):
    """`nodes` are the result slots."""

    def __init__(self, body: Body, views: Sequence[tuple[ValueId, View]], points: tuple[int, ...], nodes: Sequence[int],
                 dtypes: Sequence[np.dtype[Any]], threads: int) -> None:  # fmt: skip
        super().__init__(body, views, points, nodes, threads)
        self.nodes, self.dtypes = nodes, dtypes
        self.fresh = {made.slot for made in (*body.inner, *body.hoisted)} | {slot for slot, _ in body.axes}
        self.inner = {made.slot for made in body.inner}

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        slots = self.slots(values)
        if self.count <= space.WHOLE:
            self.whole(slots)
            return self.collect(slots, {})
        layout = self.layout(slots)
        outputs: list[NumArray | None] = []
        written: dict[int, NumArray] = {}
        late: int | None = None
        """A result that is written over an operand once the others of a box, which may read that, are there."""
        for place, (node, dtype) in enumerate(zip(self.nodes, self.dtypes, strict=True)):
            if node not in self.inner or node in written:
                outputs.append(None)
                continue
            target = overwrite if place == 0 and overwrite is not None and overwrite.dtype == dtype else None
            if target is not None:
                target = target.transpose(layout.order)
            if target is None or target.shape != layout.points or not target.flags.c_contiguous:
                target = np.empty(layout.points, dtype)
            elif node != self.body.inner[-1].slot:
                late = node
            written[node] = target
            outputs.append(None if node == late else target)
        threads, points = self.team()
        points = self.box_points(threads, points)

        def make_worker() -> Callable[[Box], object]:
            run = self.worker(layout, outputs, points)
            if late is None:
                return run

            def work(box: Box) -> None:
                written[late][box] = run(box)[late]

            return work

        run_boxes(boxes(layout.points, points), make_worker, threads)
        return self.collect(slots, {node: layout.restore(value) for node, value in written.items()})

    def box_points(self, threads: int, points: int) -> int:
        """A body of one ufunc has no temporary to keep in cache: one call, or a few a thread where threads share."""
        inner = self.body.inner
        if len(inner) == 1 and isinstance(inner[0].function, np.ufunc) and not self.body.axes:
            return self.count if threads == 1 else max(points, -(-self.count // (8 * threads)))
        return points * 8 // max((made.dtype.itemsize for made in inner), default=8)

    def collect(self, slots: Sequence[Any], written: Mapping[int, NumArray]) -> tuple[Any, ...]:
        """The results in full shape, none sharing memory with another or with an operand."""
        results: list[Any] = []
        given: set[int] = set()
        for node, dtype in zip(self.nodes, self.dtypes, strict=True):
            value = written.get(node, slots[node])
            if value.shape != self.space:
                value = np.array(np.broadcast_to(value, self.space), dtype)
            elif node in given or node not in self.fresh:
                value = np.array(value, dtype)
            given.add(node)
            results.append(value)
        return tuple(results)
