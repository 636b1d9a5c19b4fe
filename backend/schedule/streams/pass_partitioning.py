"""Partitions a program into passes over stored inputs: the axis along which each value is tiled, its pass, and the pass outputs.

A value *flows* along an axis if a tile of it needs little more than a tile of the inputs; it is never whole in memory.  A flow
ends in a `PassOutput`: partial results are joined, tiles are collected into a value that fits, or tiles are written to a store.
A phase that needs the result of a pass is in the next pass, which reads the inputs again and computes the flowing values again.

Note [Following].  Whether a phase flows with its operands is found by trial, not by its kind: every cut over devices
(`sharding.cuts_of`) is tried, and taken if each of eight boxes along the cut needs only a small part of each flowing operand.
Windows need a few more rows than the box (a halo), which the hull of all demands includes (`tile_demands`).

Note [Generated values].  A value without operands (`⍳n`, `n⍴1`) is computed again for every tile that needs it, and whole where a
phase needs it whole: it flows, and no pass is needed for it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from math import prod
from typing import Final

from ....lang.support.records import dataclass, field, replace
from ....typechecker.elements import ArrayType
from ...graph import traverse
from ...graph.phases import ApplyNode, Fold, Graph, Input, LibraryPhase, Loop, Output, Phase, PhaseId, Structured, ValueId
from ...graph.registry import may_fail as library_may_fail
from ..program_facts.partitioning import BLOCK, Cut, constant_sizes, cuts_of, is_ordered, reads_of, shape_of
from .tile_demands import (
    JoinedAxis,
    OutputKind,
    PassOutput,
    PassPartitioning,
    TileDemand,
    TilePass,
    box_along,
    boxes_read,
    cuts_in_tiles,
    demand,
    is_carried,
    selects,
)
from .tile_graph import reads_apart

_SAMPLES: Final = 8
_SMALL_TABLE, _FULL_BINS = 1 << 10, 1 << 16
"""A partial result of up to `_SMALL_TABLE` items is always joined; a larger one if its operand has `_FULL_BINS` items for each of
its items."""
_LARGE: Final = 1 << 16
"""The least points of a generated value that flows; one that tiles of other operands read in full is made whole as well."""

_HELP: Final = {
    "contract": "; a product sums over the rows of files: store the transpose, as in `(⍉b)+.×a`",
    "gather": "; computed places may lie anywhere in it: up to 64 are looked up in tiles, `x[⍋x]` and `⍋x` alone are ordered",
    **dict.fromkeys(("sort", "grade"), "; vectors of numbers are ordered in tiles, as `x[⍋x]` or `⍋x` alone"),
}
"""Advice by library operation: what to write instead so that it streams."""


class CannotStream(Exception):
    """A phase that cannot be computed tile by tile, and the reason."""

    def __init__(self, phase: Phase, why: str) -> None:
        super().__init__(why)
        self.phase, self.why = phase, why


Fits = Callable[[int], bool]


def partition_passes(graph: Graph, sources: Iterable[str], sinks: Iterable[str], fits: Fits) -> PassPartitioning:
    """Returns the passes of a program whose inputs `sources` are read, and outputs `sinks` written, tile by tile.

    `fits(bytes)`: whether a value of that size may be whole in memory.  Raises CannotStream.
    """
    return _PassBuilder(graph, frozenset(sources), frozenset(sinks), fits).flow()


@dataclass(slots=True)
class _PassBuilder:
    graph: Graph
    sources: frozenset[str]
    sinks: frozenset[str]
    fits: Fits
    axes: dict[ValueId, int] = field(default_factory=dict)
    cuts: dict[PhaseId, Cut] = field(default_factory=dict)
    follows: dict[PhaseId, frozenset[ValueId]] = field(default_factory=dict)
    flows: dict[ValueId, int] = field(default_factory=dict)  # by value: the first pass in which it can flow
    whole_after: dict[ValueId, int] = field(default_factory=dict)  # by value: the pass after which it is whole in memory
    ends: list[tuple[int, PassOutput]] = field(default_factory=list)
    whole: list[tuple[int, Phase]] = field(default_factory=list)
    makers: dict[ValueId, Phase] = field(default_factory=dict)
    written_after: dict[str, int] = field(default_factory=dict)  # by output: the pass after which it has been written
    generated: set[ValueId] = field(default_factory=set)
    """See Note [Generated values]."""

    def flow(self) -> PassPartitioning:
        for phase in self.graph.phases:
            self.makers.update(dict.fromkeys(traverse.results(phase), phase))
            self.assign_pass(phase)
        for maker in self.partially_computed():
            (value, *_) = traverse.results(maker)
            if not self.fits(self.bytes(value)):
                raise CannotStream(maker, "may fail in rows that nothing reads")
            self.collect(value, maker)
        return self.flowing()

    def flowing(self) -> PassPartitioning:
        return PassPartitioning(self.graph, self.axes, self.cuts, self.follows, self.passes(), tuple(self.whole))

    def partially_computed(self) -> list[Phase]:
        """The tiled phases that may fail, and of which the tiles of all passes together do not compute every row."""
        failing = [
            phase for phase in self.graph.phases
            if phase.id in self.cuts and not self.cuts[phase.id].combines and may_fail(phase)
            and not self.whole_after.keys() & set(traverse.results(phase))
        ]  # fmt: skip
        if not failing:
            return []
        flow, covered = self.flowing(), dict[PhaseId, list[tuple[int, int]]]()
        for one in flow.passes:
            for id, box in demand(flow, one, (0, one.size)).boxes.items():
                covered.setdefault(id, []).append(box[self.cuts[id].axis])
        return [phase for phase in failing if not covers(covered.get(phase.id, ()), self.cuts[phase.id].size)]

    def assign_pass(self, phase: Phase) -> None:
        if isinstance(phase, Input) and phase.name in self.sources:
            self.axes[phase.result], self.flows[phase.result] = 0, self.written_after.get(phase.name, 0)
            return
        used = [value for value in dict.fromkeys(traverse.uses(phase)) if value in self.axes or value in self.whole_after]
        flowing = [value for value in used if value in self.axes and value not in self.whole_after]
        if isinstance(phase, Output) and flowing and phase.name in self.sinks:
            self.ends.append((self.flows[phase.arg], self.output_of(phase, OutputKind.WRITTEN, phase.arg)))
            self.written_after[phase.name] = self.flows[phase.arg] + 1
            return
        few = [value for value in flowing if self.shape(value)[self.axes[value]] < _SAMPLES and self.fits(self.bytes(value))]
        if len(few) < len(flowing):  # tiles of more rows do not satisfy the remaining phases
            for value in few:
                self.collect(value, phase)
            flowing = [value for value in flowing if value not in few]
        cut = self.cut_of(phase, flowing)
        large = [value for value in flowing if prod(self.shape(value)) >= _LARGE]
        if cut is None and 0 < len(large) < len(flowing):
            cut = self.cut_of(phase, large)
            if cut is not None:
                for value in flowing:
                    if value not in large:
                        self.collect(value, phase)
                flowing = large
        if cut is None and selects(phase):
            raise CannotStream(phase, "selects by a mask that does not follow the inputs")
        if reads_apart(phase, self.graph.types, set(flowing) - self.generated):
            raise CannotStream(phase, "reads rows that are far apart")
        generated = self.generated.issuperset(flowing)
        if cut is None or (generated and (used != flowing or is_carried(cut))):
            for value in flowing:
                self.collect(value, phase)
            self.make_whole(phase, used, flowing=bool(flowing))
            return
        follow = frozenset(v for v in flowing if v not in self.generated or follows(phase, cut, self.graph, {v: self.axes[v]}))
        for value in flowing:
            if value not in follow:
                self.collect(value, phase)
        level = max([self.flows[value] if value in follow else self.whole_after[value] for value in used], default=0)
        self.cuts[phase.id], self.follows[phase.id] = cut, follow
        if cut.combines:
            ends = OutputKind.CARRIED if is_carried(cut) else OutputKind.JOINED
            self.ends.append((level, PassOutput(phase, ends, cut.size, cut.grain)))
            self.whole_after.update(dict.fromkeys(traverse.results(phase), level + 1))
            return
        for value in traverse.results(phase):
            self.axes[value], self.flows[value] = cut.axis, level
        if generated:
            self.generated.update(traverse.results(phase))

    def max_bytes(self, phase: Phase) -> int:
        """An upper bound of the bytes of a phase's results with run-time sizes."""
        caps = {variable: variable.cap for variable in traverse.defines(phase) if variable.cap is not None}
        types = [self.graph.types[value] for value in traverse.results(phase)] if caps else []
        sizes = [[size.substitute(caps).constant for size in type.shape] for type in types]
        return sum(prod(n or 0 for n in shape) * type.element.kind.bytes for shape, type in zip(sizes, types, strict=True))

    def make_whole(self, phase: Phase, used: Iterable[ValueId], *, flowing: bool = False) -> None:
        """Run a phase on full values; `flowing`: the operands that are collected for it."""
        if flowing and not self.fits(self.max_bytes(phase)):
            raise CannotStream(phase, "may make more than fits")
        level = max((self.whole_after[value] for value in used), default=0)
        self.whole.append((level, phase))
        self.whole_after.update(dict.fromkeys(traverse.results(phase), level))

    def cut_of(self, phase: Phase, flowing: list[ValueId]) -> Cut | None:
        """The cut of the phase that agrees with the tiles of its operands; parallel axes first."""
        if not isinstance(phase, Structured | LibraryPhase | Loop | Fold):
            return None
        if any(size.constant is None for size in traverse.sizes(phase)):
            return None
        if not flowing and (not isinstance(phase, Structured) or prod(constant_sizes(a.size for a in phase.axes) or ()) < _LARGE):
            return None
        operands = set(reads_of(phase, self.graph.types))
        if not operands.issuperset(flowing):
            return None
        stored = {value: self.axes[value] for value in flowing if value not in self.generated}
        along = stored or {value: self.axes[value] for value in flowing}
        cuts = sorted(cuts_of(phase, self.graph.types), key=lambda cut: cut.combines)
        in_tiles = cuts_in_tiles(phase, self.graph.types)
        if any(map(is_carried, in_tiles)) and self.has_large_results(phase):
            cuts = [cut for cut in cuts if not cut.combines]
        candidates = [*cuts, *in_tiles]
        return next((cut for cut in candidates if follows(phase, cut, self.graph, along)), None)

    def has_large_results(self, phase: Phase) -> bool:
        """Are partial results too large to join (a few are in memory for each tile) or of lengths known only when run?"""
        values = tuple(traverse.results(phase)), tuple(traverse.uses(phase))
        if any(shape_of(value, self.graph.types) is None for value in (*values[0], *values[1])):
            return True
        results, operands = ([prod(self.shape(value)) for value in some] for some in values)
        return max(results) > max(_SMALL_TABLE, max(operands) // _FULL_BINS)

    def collect(self, value: ValueId, wanted: Phase) -> None:
        """Collect the tiles of a value in memory, if it fits; raises CannotStream."""
        if value in self.whole_after:
            return
        maker = self.makers[value]
        if value in self.generated:
            used = [one for one in dict.fromkeys(traverse.uses(maker)) if one in self.axes]
            for one in used:
                self.collect(one, wanted)
            self.make_whole(maker, used)
            return
        if isinstance(maker, Input) or not self.fits(self.bytes(value)):
            help = _HELP.get(wanted.op, "") if isinstance(wanted, LibraryPhase) else ""
            raise CannotStream(wanted, _one_tile(wanted, self.graph.types) or f"needs all of its argument at once{help}")
        self.ends.append((self.flows[value], self.output_of(maker, OutputKind.COLLECTED, value)))
        self.whole_after[value] = self.flows[value] + 1

    def bytes(self, value: ValueId) -> int:
        """Returns the bytes of a flowing value."""
        return prod(self.shape(value)) * self.graph.types[value].element.kind.bytes

    def shape(self, value: ValueId) -> tuple[int, ...]:
        """Returns the shape of a flowing value."""
        shape = shape_of(value, self.graph.types)
        assert shape is not None, "only phases of known sizes are cut"
        return shape

    def output_of(self, phase: Phase, ends: OutputKind, value: ValueId) -> PassOutput:
        """The pass output that collects the tiles of a value along its axis."""
        return PassOutput(phase, ends, self.shape(value)[self.axes[value]], value=value)

    # ------------------------------------------------------------------------------------- passes

    def passes(self) -> tuple[TilePass, ...]:
        """Returns the passes; sinks share one if they have one level and direction, a common input, and need the same rows of it
        per tile."""
        groups: list[tuple[tuple[int, bool], dict[ValueId, str], list[PassOutput]]] = []
        for level, sink in sorted(self.ends, key=lambda end: end[0]):
            pace, backward = self.pace(sink)
            for other, paces, sinks in groups:
                shared = paces.keys() & pace.keys()
                if other == (level, backward) and shared and all(paces[value] == pace[value] for value in shared):
                    paces |= pace
                    sinks.append(sink)
                    break
            else:
                groups.append(((level, backward), pace, [sink]))
        result = []
        for (level, backward), _, sinks in groups:
            phases = self.upstream(sinks)
            one = TilePass(level, tuple(sinks), phases, self.grain(phases), backward)
            result.append(replace(one, breaks=self.breaks(one)))
        return tuple(result)

    def breaks(self, one: TilePass) -> tuple[int, ...]:
        """Returns the points of a pass between the operands of a join where a tile of both would need a large part of a value."""
        flow = PassPartitioning(self.graph, self.axes, self.cuts, self.follows, (), ())
        joins = [(phase.id, cut) for phase in one.phases if isinstance(cut := self.cuts.get(phase.id), JoinedAxis)]
        points = set[int]()
        for phase, end in ((phase, end) for phase, cut in joins if one.grain == 1 for end in cut.ends[1:-1]):
            point = bisect_left(range(one.size), True, key=lambda row: _reaches(demand(flow, one, (row, row + 1)), phase, end))
            if 0 < point < one.size:
                before, after = (demand(flow, one, (row, row + 1)).rows for row in (point - 1, point))
                gaps = {value: max(b[0] - a[1], a[0] - b[1]) for value, a in before.items() if (b := after.get(value))}
                if any(gap * _SAMPLES > self.shape(value)[self.axes[value]] for value, gap in gaps.items()):
                    points.add(point)
        return tuple(sorted(points))

    def grain(self, phases: Iterable[Phase]) -> int:
        """Returns the common grain of a pass with these phases."""
        cuts = [self.cuts[phase.id] for phase in phases if phase.id in self.cuts]
        return max((cut.grain for cut in cuts), default=1)

    def upstream(self, sinks: Iterable[PassOutput]) -> tuple[Phase, ...]:
        wanted: set[ValueId] = set()
        ids: set[PhaseId] = set()
        for sink in sinks:
            ids.add(sink.phase.id)
            wanted.update(self.follows[sink.phase.id] if sink.value is None else [sink.value])
        for phase in reversed(self.graph.phases):
            flows = phase.id in self.cuts or (isinstance(phase, Input) and phase.result in self.axes)
            if phase.id in ids or (flows and wanted.intersection(traverse.results(phase))):
                ids.add(phase.id)
                wanted.update(self.follows.get(phase.id, ()))
        return tuple(phase for phase in self.graph.phases if phase.id in ids)

    def pace(self, sink: PassOutput) -> tuple[dict[ValueId, str], bool]:
        """Returns for each input roughly how many of its rows a tile advances per row of the sink; and whether a scan goes on
        from the tile after."""
        phases = self.upstream([sink])
        alone = TilePass(0, (sink,), phases, self.grain(phases))
        flow = PassPartitioning(self.graph, self.axes, self.cuts, self.follows, (), ())
        rows = max(sink.grain, sink.size // 4 // sink.grain * sink.grain)
        first, second = (demand(flow, alone, (at, min(at + rows, sink.size))) for at in (rows, 2 * rows))
        places = {phase.result for phase in alone.phases if isinstance(phase, Input)}
        boxes = first.boxes.keys() & second.boxes
        scans = [phase.id for phase in phases if is_carried(self.cuts.get(phase.id)) and phase.id in boxes]
        paces = {
            value: f"{(second.rows[value][0] - first.rows[value][0]) / rows:.3g}"
            for value in sorted(places & first.rows.keys() & second.rows.keys())
        }
        return paces, any(second.boxes[scan][0] < first.boxes[scan][0] for scan in scans)


def _reaches(needed: TileDemand, join: PhaseId, end: int) -> bool:
    """Does a tile need rows of a join from `end` on, or none?"""
    return join not in needed.boxes or needed.boxes[join][0][0] >= end


def _one_tile(phase: Phase, types: Mapping[ValueId, ArrayType]) -> str:
    """Returns the reason why a reduction in blocks has a single tile: its items are one block.  Empty for other phases."""
    if not isinstance(phase, Structured) or not any(is_ordered(phase, r.value, types) for r in phase.results if r.reduction):
        return ""
    items = phase.axes[-1].size.constant
    if items is None or items > BLOCK:
        return ""
    return f"has one tile: its {items:,} items are one block, and blocks of {BLOCK:,} are not cut"


def may_fail(phase: Phase) -> bool:
    """Returns whether this phase may raise an error of the program."""
    match phase:
        case Structured():
            return any(isinstance(node, ApplyNode) and node.span is not None for node in phase.body)
        case LibraryPhase():
            return library_may_fail(phase)
        case _:
            return any(may_fail(inside) for body in traverse.subgraphs(phase) for inside in body.phases)


def covers(intervals: Iterable[tuple[int, int]], rows: int) -> bool:
    """Returns whether the intervals cover all rows."""
    reached = 0
    for start, stop in sorted(intervals):
        if start > reached:
            break
        reached = max(reached, stop)
    return reached >= rows


def follows(phase: Phase, cut: Cut, graph: Graph, axes: Mapping[ValueId, int]) -> bool:
    """Returns whether boxes along the cut need only a small part of every flowing operand.  See Note [Following]."""
    types = graph.types
    if isinstance(cut, JoinedAxis):  # each row is read once
        return all(axis == 0 for axis in axes.values())
    rows, step = cut.rows, max(1, cut.rows // _SAMPLES)
    reads = reads_of(phase, types)
    for first in range(0, rows, step):
        box = box_along(phase, types, cut, cut.interval(first, min(first + step, rows)))
        for value, part in zip(reads, boxes_read(phase, types, cut, box), strict=True):
            if value not in axes:
                continue
            extent = types[value].shape[axes[value]].constant
            start, stop = part[axes[value]]
            if extent is None or 4 * (stop - start) > 3 * extent:
                return False
    return True
