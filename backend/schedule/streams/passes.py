"""Passes over stored inputs as data, and the rows of every value that a tile of a pass needs.

Demands are propagated backwards from the boxes of the sinks through the phases.  If several phases read a value, its tile is the
hull of their demands, so the halo of a window is computed again with each tile.

Neighbours: `carries` (phases in order), `flow` (finds the passes), `tiles` (the graph of a tile), `planning`, `judge`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from ...graph import traverse
from ...graph.phases import Graph, Phase, PhaseId, ValueId
from ..facts.sharding import Cut, reads_of
from ..plan.model import Box
from .carries import box_along, boxes_read, is_carried

Rows: TypeAlias = tuple[int, int]


class Ends(Enum):
    """What becomes of the tiles of a flow that ends."""

    JOINED = "partial results are joined"
    CARRIED = "a state goes from tile to tile"
    COLLECTED = "tiles become a value in memory"
    WRITTEN = "tiles go to a store"


@dataclass(frozen=True, slots=True)
class Sink:
    """Where a flow ends.  `size` points along the axis that is cut, in tiles at multiples of `grain`; `value` for those
    whose tiles are kept; of the others all results of the phase are."""

    phase: Phase
    ends: Ends
    size: int
    grain: int = 1
    value: ValueId | None = None


@dataclass(frozen=True, slots=True)
class Pass:
    """Sinks that one reading of the inputs feeds, and the phases that flow to them, in the order of the graph; tiles begin at
    multiples of `grain`."""

    level: int
    sinks: tuple[Sink, ...]
    phases: tuple[Phase, ...]
    grain: int

    @property
    def size(self) -> int:
        return max(sink.size for sink in self.sinks)

    @property
    def results(self) -> tuple[ValueId, ...]:
        """What is there as a whole afterwards."""
        found: dict[ValueId, None] = {}
        for sink in self.sinks:
            if sink.ends in (Ends.JOINED, Ends.CARRIED):
                found.update(dict.fromkeys(traverse.results(sink.phase)))
            elif sink.ends is Ends.COLLECTED and sink.value is not None:
                found[sink.value] = None
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Flow:
    """Of a whole program: `axes` of what flows, `cuts` of the phases that do and which of their operands do (`follows`),
    `passes` in order, and the phases that run on whole values, with the pass that each must come after (0: none)."""

    graph: Graph
    axes: Mapping[ValueId, int]
    cuts: Mapping[PhaseId, Cut]
    follows: Mapping[PhaseId, frozenset[ValueId]]
    passes: tuple[Pass, ...]
    whole: tuple[tuple[int, Phase], ...]

    def whole_operands(self, phase: Phase) -> tuple[ValueId, ...]:
        """What a phase that flows reads of values that do not."""
        own = self.follows.get(phase.id)
        return () if own is None else tuple(value for value in reads_of(phase, self.graph.types) if value not in own)


@dataclass(frozen=True, slots=True)
class Demand:
    """What a tile needs: `rows` of each value that flows, along its axis; `boxes` of the phases that make or end them."""

    rows: Mapping[ValueId, Rows]
    boxes: Mapping[PhaseId, Box]


def part_of(sink: Sink, tile: Rows) -> Rows:
    """The points of a sink in a tile."""
    return min(tile[0], sink.size), min(tile[1], sink.size)


def demand(flow: Flow, one: Pass, tile: Rows) -> Demand:
    """What the points [first, stop) of each sink need."""
    rows: dict[ValueId, Rows] = {}
    boxes: dict[PhaseId, Box] = {}
    ending = {sink.phase.id: sink for sink in one.sinks if sink.value is None}
    for sink in one.sinks:
        own = part_of(sink, tile)
        if sink.value is not None and own[0] < own[1]:
            _widen(rows, sink.value, own)
    types = flow.graph.types
    for phase in reversed(one.phases):
        cut = flow.cuts.get(phase.id)
        if cut is None:
            continue
        if phase.id in ending:
            interval = part_of(ending[phase.id], tile)
        else:
            wanted = [rows[value] for value in traverse.results(phase) if value in rows]
            if not wanted:
                continue
            interval = min(start for start, _ in wanted), max(stop for _, stop in wanted)
            rows.update(dict.fromkeys(traverse.results(phase), interval))
        if interval[0] >= interval[1]:
            continue
        box = boxes[phase.id] = box_along(phase, types, cut, interval)
        for value, part in zip(reads_of(phase, types), boxes_read(phase, types, cut, box), strict=True):
            if value in flow.follows[phase.id]:
                start, stop = part[flow.axes[value]]
                extent = types[value].shape[flow.axes[value]].constant or 0
                _widen(rows, value, (start, stop) if start < stop else (min(start, extent - 1), min(start, extent - 1) + 1))
    return Demand(rows, boxes)


def out_of_order(flow: Flow, one: Pass, needed: Demand, reached: dict[PhaseId, int]) -> Iterator[tuple[PhaseId, int]]:
    """Phases that take their items in order, of which a tile does not begin where the one before it ended, and where it does;
    `reached` is updated."""
    for phase in one.phases:
        cut = flow.cuts.get(phase.id)
        if cut is not None and phase.id in needed.boxes and is_carried(cut):
            ((start, stop),) = needed.boxes[phase.id]
            if start != reached.get(phase.id, 0) or start % cut.grain:
                yield phase.id, start
            reached[phase.id] = stop


def _widen(rows: dict[ValueId, Rows], value: ValueId, more: Rows) -> None:
    old = rows.get(value, more)
    rows[value] = min(old[0], more[0]), max(old[1], more[1])
