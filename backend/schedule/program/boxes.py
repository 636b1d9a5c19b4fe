"""The boxes of the steps of a schedule: rows of the problem as intervals of axes, of what runs and of what is moved.

A phase that one device runs whole has no box, so that it runs as it would alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...graph import traverse
from ...graph.costs import Types
from ...graph.phases import Input, ValueId
from ..answer import Shard, Transfer
from ..facts.sharding import box_of, result_boxes, slab, space_of
from ..facts.workspace import Numbers
from ..plan.model import Box
from .together import ProgramProblem


@dataclass(slots=True)
class Boxes:
    """`shards`: those of the schedule."""

    program: ProgramProblem
    shards: Sequence[Shard]
    numbers: Numbers = field(default_factory=Numbers)
    whole: dict[int, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        phases = self.program.problem.phases
        shards = Counter(shard.phase for shard in self.shards)
        self.whole = {phase: count == 1 and phases[phase].combine is None for phase, count in shards.items()}

    def of_shard(self, shard: Shard) -> tuple[Box | None, ...]:
        """The box of each result that a shard makes (of partial results: the box of the iteration space they are over)."""
        phase = self.program.phases[shard.phase]
        values = traverse.results(phase)
        if shard.phase in self.program.gangs:
            return self.rows_boxes(shard.phase, shard.first, shard.stop)
        box = self.of_run(shard)
        if box is None:
            return (None,) * len(values)
        if self.program.problem.phases[shard.phase].combine is not None:
            return (box,) * len(values)
        return tuple(self.or_whole(v, b) for v, b in zip(values, result_boxes(phase, self.types, box), strict=True))

    @property
    def types(self) -> Types:
        return self.program.bound.graph.types

    def or_whole(self, value: ValueId, box: Box) -> Box | None:
        """None where the box is all of the value."""
        shape = [size.constant for size in self.types[value].shape]
        return None if box == tuple((0, n) for n in shape) else box

    def rows_boxes(self, place: int, first: int, stop: int) -> tuple[Box | None, ...]:
        """Rows of each result of a loop that devices run together."""
        gang = self.program.gangs[place]
        if gang.is_gathered:
            return (None,) * len(gang.loop.results)
        shapes = [[self.numbers.cap(size) for size in self.types[value].shape] for value in gang.loop.results]
        return tuple(slab(shape, axis, (first, stop)) for shape, axis in zip(shapes, gang.spread.axes, strict=True))

    def of_run(self, shard: Shard) -> Box | None:
        cut = self.program.cuts.of[shard.phase]
        narrow = any(edge.target == shard.phase and edge.only is not None for edge in self.program.problem.edges)
        if (cut is None or self.whole[shard.phase]) and not narrow:
            return None
        space = space_of(self.program.phases[shard.phase], self.types)
        assert space is not None, "what is cut has known sizes"
        return tuple((0, n) for n in space) if cut is None else box_of(cut, space, shard.first, shard.stop)

    def of_transfer(self, moved: Transfer) -> tuple[Box | None, ...]:
        """The box of each result that a transfer carries: rows of the cut, or the part of an atomic output rounded outwards."""
        phase, task = self.program.phases[moved.phase], self.program.problem.phases[moved.phase]
        values = traverse.results(phase)
        if moved.partial:
            return self.of_shard(Shard(moved.phase, moved.source, moved.first, moved.stop, 0, 0))
        cut = self.program.cuts.of[moved.phase]
        if cut is not None and moved.phase in self.program.gangs:
            boxes = self.rows_boxes(moved.phase, moved.first, moved.stop)
            return tuple(None if box is None else self.or_whole(v, box) for v, box in zip(values, boxes, strict=True))
        if cut is not None and task.combine is None:
            if isinstance(phase, Input):
                shape = [self.numbers.cap(size) for size in self.types[phase.result].shape]
                return (self.or_whole(phase.result, box_of(cut, shape, moved.first, moved.stop)),)
            space = space_of(phase, self.types)
            assert space is not None, "what is cut has known sizes"
            boxes = result_boxes(phase, self.types, box_of(cut, space, moved.first, moved.stop))
            return tuple(self.or_whole(v, b) for v, b in zip(values, boxes, strict=True))
        return tuple(self.share(value, moved, task.out_bytes) for value in values)

    def share(self, value: ValueId, moved: Transfer, out: int) -> Box | None:
        """The rows of a value in the bytes [first, stop) of `out` bytes."""
        shape = [size.constant for size in self.types[value].shape]
        if not shape or any(n is None for n in shape) or (moved.first == 0 and moved.stop >= out) or not out:
            return None
        known = [n for n in shape if n is not None]
        low, high = moved.first * known[0] // out, -(-moved.stop * known[0] // out)
        return self.or_whole(value, ((low, high), *((0, n) for n in known[1:])))
