"""Passes over stored inputs as data, and the rows of every value that a tile of a pass needs.

Demands are propagated backwards from the boxes of the sinks through the phases.  If several phases read a value, its tile is the
hull of their demands, so the halo of a window is computed again with each tile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import accumulate
from typing import Final, TypeAlias, TypeGuard

from ....lang.support.records import dataclass
from ....typechecker import elements
from ...graph import traverse
from ...graph.phases import ARGUMENT_REDUCTIONS, Fold, Graph, LibraryPhase, Phase, PhaseId, Structured, ValueId, frame_of
from ...graph.symbolic_costs import Types
from ...scalar.function_table import REDUCTIONS
from ..plan.plan import Box
from ..program_facts.partitioning import (
    BLOCK,
    Cut,
    box_along_axis,
    constant_sizes,
    is_ordered,
    operand_boxes,
    reads_of,
    result_boxes,
    shape_of,
    space_of,
)

# ---------------------------------------------------------------------------------------------------- state carried between tiles
#
# Library phases that are tiled along an axis of their operands: either in order, each tile starting with the state that the tile
# before it left, or with a partial result for each tile (products whose summed axis is tiled).
#
# Note [States].  A scan and a reduction by key give the same bits if the state is prepended to the items of the tile: for a
# reduction by key one item a bin; for a scan the total, padded with neutral items (`neutral`) to a block of the order of scans.
# A neutral last item then has the total before the next block.  The state starts as neutral items, so the first tile is like
# every other.  If the neutral item differs from the result of an empty bin (¯0.0 and 0.0), a boolean state marks the bins that
# have items.
#
# A scan of what is reversed goes on from the tile after: a pass with such scans (`backward`) has its tiles from the last to the
# first.
#
# A scan by a function of the program has no neutral item: its first tile is scanned alone, others with the state before them.
#
# Note [Rounds].  Several devices share a pass with scans by functions that are exact in any order, or sums: in a first round each
# (but the last) goes through its tiles for the totals of their blocks alone, in a second one it begins with all totals before it,
# joined in their order, which is that of scans.  A scan of what follows another scan would take one more round: it has none.
#
# Note [Places].  An argument reduction (the position of the least or greatest item) combines the positions of tiles together with
# the items there: of equal items the earlier wins.
#
# Note [Selecting].  The rows that a tile of a mask selects are appended to a store.  The result is typed with as many rows as the
# mask; no phase depends on that, as it goes to the store at once.

CARRIES: Final = frozenset({"add", "mul", "min", "max", "and", "or"})
"""Functions with a neutral item."""


@dataclass(frozen=True, slots=True)
class TiledAxis(Cut):
    """A cut of a library phase along an axis of its operands.

    `axes`: that axis in each operand; `function`: combines partial results; without it tiles are processed in order.
    """

    axes: tuple[int, ...] = ()
    function: str | None = None

    @property
    def in_order(self) -> bool:
        return self.function is None


@dataclass(frozen=True, slots=True)
class JoinedAxis(Cut):
    """A cut of a join along the axis that it joins; `ends`: the rows before each operand, and after the last."""

    ends: tuple[int, ...] = ()


def captured(phase: Phase) -> tuple[ValueId, ...]:
    """Returns the outer values that the function of a scan captures."""
    if not isinstance(phase, Fold):
        return ()
    inner = list(traverse.all_phases(phase.body))
    bodies = [phase.body, *(body for one in inner for body in traverse.subgraphs(one))]
    within = {*(param for body in bodies for param in body.params), *(value for one in inner for value in traverse.results(one))}
    return tuple(dict.fromkeys(value for value in traverse.uses(phase) if value not in within and value not in phase.args))


def is_carried(cut: Cut | None) -> bool:
    """Returns whether a phase with this cut carries state from tile to tile."""
    return isinstance(cut, TiledAxis) and cut.in_order


def has_rounds(flow: PassPartitioning, one: TilePass) -> bool:
    """Returns whether states are carried, and only by scans that several devices may share.  See Note [Rounds]."""
    after, scans = set[ValueId](), 0
    for phase in one.phases:
        is_after = not after.isdisjoint(flow.follows.get(phase.id, ()))
        if is_carried(flow.cuts.get(phase.id)):
            if is_after or not (isinstance(phase, LibraryPhase) and phase.op == "scan" and _has_totals(phase, flow.graph.types)):
                return False
            scans += 1
        elif not is_after:
            continue
        after.update(traverse.results(phase))
    return scans > 0


def _has_totals(scan: LibraryPhase, types: Types) -> bool:
    """Returns whether a scan goes on from the joined totals of the blocks before: it has the order of scans, or none."""
    function, kind = function_of(scan), types[scan.results[0]].element.kind
    return elements.is_ordered(function, kind) or elements.is_exact_in_any_order(function, kind)


def cuts_in_tiles(phase: Phase, types: Types) -> tuple[Cut, ...]:
    """Returns the cuts of a phase into tiles that are no cuts over devices."""
    match phase:
        case LibraryPhase(op="contract"):
            return tuple(_summed_cuts(phase, types))
        case LibraryPhase() if selects(phase):
            shape = shape_of(phase.args[0], types)
            if shape is not None and shape[0] > 1:
                return (TiledAxis(0, shape[0], 1, False, (0,) * len(phase.args)),)
        case LibraryPhase(op="key_reduce"):
            shape = shape_of(phase.args[0], types)
            if shape is not None and len(shape) == 1 and shape[0] > 1 and _carries(phase, types):
                return (TiledAxis(0, shape[0], 1, True, (0, 0)),)
        case LibraryPhase(op="scan"):
            shape = shape_of(phase.args[0], types)
            if shape is not None and phase.attributes["axis"] == 0 and shape[0] > 1 and 0 not in shape and _carries(phase, types):
                return (TiledAxis(0, shape[0], BLOCK if is_ordered_scan(phase, types) else 1, False, (0,)),)
        case LibraryPhase(op="join") if not frame_of(phase):
            shapes, axis = [shape_of(value, types) for value in phase.args], phase.attributes["axis"]
            if axis == 0 and all(shape and 0 not in shape[1:] for shape in shapes):
                ends = (0, *accumulate(shape[0] for shape in shapes if shape))
                return (JoinedAxis(0, ends[-1], ends=ends),) if ends[-1] > 1 else ()
        case Fold(scan=True):
            shapes = [shape_of(value, types) for value in (*phase.args, *phase.results)]
            first = shapes[0]
            if first and first[0] > 1 and all(shape and shape[0] == first[0] and 0 not in shape for shape in shapes):
                return (TiledAxis(0, first[0], 1, False, (0,) * len(phase.args)),)
        case Structured() if any(result.reduction in ARGUMENT_REDUCTIONS for result in phase.results):
            space = constant_sizes(axis.size for axis in phase.axes)
            reductions = {result.reduction for result in phase.results}
            if space is not None and 0 not in space and reductions <= REDUCTIONS | ARGUMENT_REDUCTIONS:
                ordered = any(is_ordered(phase, result.value, types) for result in phase.results)
                return (Cut(len(space) - 1, space[-1], BLOCK if ordered else 1, True),)
        case _:
            pass
    return ()


def selects(phase: Phase) -> TypeGuard[LibraryPhase]:
    """Returns whether the phase is the selecting phase of a selection stage; its result has at most one row per row of the
    mask."""
    return isinstance(phase, LibraryPhase) and phase.op in ("compress", "where") and not phase.defines


def _summed_cuts(phase: LibraryPhase, types: Types) -> Iterator[Cut]:
    """Yields the cuts along the axes that a product sums over."""
    kind = types[phase.results[0]].element.kind
    for one in phase.signature:
        shapes = [shape_of(value, types) for value in phase.args]
        axes = [axis for axis in one.operands if axis is not None]
        if one.combine is not None and len(axes) == len(shapes) and shapes[0] is not None and shapes[0][axes[0]] > 1:
            grain = BLOCK if elements.is_ordered(one.combine, kind) else 1
            yield TiledAxis(0, shapes[0][axes[0]], grain, True, tuple(axes), one.combine)


def _carries(phase: LibraryPhase, types: Types) -> bool:
    kind = types[phase.results[0]].element.kind
    return not frame_of(phase) and phase.attributes["function"] in CARRIES and not kind.is_complex


def is_ordered_scan(phase: LibraryPhase, types: Types) -> bool:
    """Returns whether the bits of a scan depend on where its blocks begin."""
    return elements.is_ordered(function_of(phase), types[phase.results[0]].element.kind)


def tells_empty(phase: LibraryPhase, types: Types) -> bool:
    """Returns whether an empty bin's result differs from the neutral item.  See Note [States]."""
    return types[phase.results[0]].element.kind.is_float and function_of(phase) == "add"


def function_of(phase: LibraryPhase) -> str:
    """Returns the function of a scan or a reduction by key."""
    function = phase.attributes["function"]
    assert isinstance(function, str)
    return function


# ------------------------------------------------------------------------------------------- boxes


def box_along(phase: Phase, types: Types, cut: Cut, interval: tuple[int, int]) -> Box:
    """Returns the box of the iteration space that has the points `interval` along the cut."""
    if isinstance(cut, TiledAxis):
        return (interval,)
    space = space_of(phase, types)
    assert space is not None, "only phases of known sizes are cut"
    return box_along_axis(space, cut.axis, interval)


def boxes_read(phase: Phase, types: Types, cut: Cut, box: Box) -> tuple[Box, ...]:
    """Returns the boxes of the operands that a box along the cut reads, as `operand_boxes` does."""
    if isinstance(cut, JoinedAxis):
        (start, stop), *other = box
        places = zip(cut.ends, cut.ends[1:], strict=False)
        rows = [(max(first, min(start, last)) - first, max(first, min(stop, last)) - first) for first, last in places]
        return tuple((one, *other) for one in rows)
    if not isinstance(cut, TiledAxis):
        return operand_boxes(phase, types, box)
    assert isinstance(phase, LibraryPhase | Fold)
    return tuple(
        box_along_axis(shape_of(value, types) or (), axis, box[0]) for value, axis in zip(phase.args, cut.axes, strict=True)
    )


def boxes_made(phase: Phase, types: Types, cut: Cut, box: Box) -> tuple[Box, ...]:
    """Returns the boxes of the results that a box along the cut makes, as `result_boxes` does."""
    if not isinstance(cut, TiledAxis):
        return result_boxes(phase, types, box)
    assert isinstance(phase, LibraryPhase | Fold)
    return tuple(box_along_axis(shape_of(value, types) or (), 0, box[0]) for value in phase.results)


# ---------------------------------------------------------------------------------------------------- passes

Rows: TypeAlias = tuple[int, int]


class OutputKind(Enum):
    """How the tiles of a pass output are used: combined, collected or written."""

    JOINED = "partial results are joined"
    CARRIED = "a state goes from tile to tile"
    COLLECTED = "tiles become a value in memory"
    WRITTEN = "tiles go to a store"


@dataclass(frozen=True, slots=True)
class PassOutput:
    """The end of a flow in a pass.

    `size`: points along the tiled axis; tiles begin at multiples of `grain`; `value`: the value whose tiles are collected or
    written (otherwise all results of the phase are combined).
    """

    phase: Phase
    kind: OutputKind
    size: int
    grain: int = 1
    value: ValueId | None = None


@dataclass(frozen=True, slots=True)
class TilePass:
    """One pass over the inputs: its sinks, and the phases that flow to them in graph order; tiles begin at multiples of
    `grain`, and go from the last to the first if it is `backward`.  `breaks`: points where a tile ends, since a join goes on
    there with rows that are far from those before."""

    level: int
    sinks: tuple[PassOutput, ...]
    phases: tuple[Phase, ...]
    grain: int
    backward: bool = False
    breaks: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        return max(sink.size for sink in self.sinks)

    @property
    def results(self) -> tuple[ValueId, ...]:
        """The values that are whole in memory after the pass."""
        results: dict[ValueId, None] = {}
        for sink in self.sinks:
            if sink.kind in (OutputKind.JOINED, OutputKind.CARRIED):
                results.update(dict.fromkeys(traverse.results(sink.phase)))
            elif sink.kind is OutputKind.COLLECTED and sink.value is not None:
                results[sink.value] = None
        return tuple(results)


@dataclass(frozen=True, slots=True)
class PassPartitioning:
    """A program partitioned into passes.

    `axes`: the tiled axis of each flowing value; `cuts`: the cut of each flowing phase; `follows`: which of its operands flow;
    `passes`: in order; and the phases that run on whole values, with the pass after which each can run (0: none).
    """

    graph: Graph
    axes: Mapping[ValueId, int]
    cuts: Mapping[PhaseId, Cut]
    follows: Mapping[PhaseId, frozenset[ValueId]]
    passes: tuple[TilePass, ...]
    whole: tuple[tuple[int, Phase], ...]

    def whole_operands(self, phase: Phase) -> tuple[ValueId, ...]:
        """Returns the operands of a flowing phase that do not flow."""
        tiled = self.follows.get(phase.id)
        read = (*reads_of(phase, self.graph.types), *captured(phase))
        return () if tiled is None else tuple(value for value in read if value not in tiled)


@dataclass(frozen=True, slots=True)
class TileDemand:
    """The demand of a tile: `rows` of each flowing value along its axis; `boxes` of the phases that compute or consume them."""

    rows: Mapping[ValueId, Rows]
    boxes: Mapping[PhaseId, Box]


def part_of(sink: PassOutput, tile: Rows) -> Rows:
    """Returns the points of a sink in a tile."""
    return min(tile[0], sink.size), min(tile[1], sink.size)


def tiles_of(one: TilePass, rows: int) -> Iterator[Rows]:
    """Yields the tiles of a pass, in order."""
    ends = [*zip((0, *one.breaks), (*one.breaks, one.size), strict=True)]
    for first, last in reversed(ends) if one.backward else ends:
        starts = range(first, last, rows)
        for start in reversed(starts) if one.backward else starts:
            yield start, min(start + rows, last)


def count_tiles(one: TilePass, rows: int) -> int:
    return sum(-(-(last - first) // rows) for first, last in zip((0, *one.breaks), (*one.breaks, one.size), strict=True))


def demand(flow: PassPartitioning, one: TilePass, tile: Rows) -> TileDemand:
    """Returns the rows and boxes that the points [first, stop) of each sink need."""
    rows: dict[ValueId, Rows] = {}
    boxes: dict[PhaseId, Box] = {}
    ending = {sink.phase.id: sink for sink in one.sinks if sink.value is None}
    for sink in one.sinks:
        rows_of_sink = part_of(sink, tile)
        if sink.value is not None and rows_of_sink[0] < rows_of_sink[1]:
            _widen(rows, sink.value, rows_of_sink)
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
            if is_carried(cut) and (tile[1] >= one.size if one.backward else not tile[0]):
                interval = 0, interval[1]  # the next tile begins here even if the readers skip the first items
            rows.update(dict.fromkeys(traverse.results(phase), interval))
        if interval[0] >= interval[1]:
            continue
        box = boxes[phase.id] = box_along(phase, types, cut, interval)
        for value, part in zip(reads_of(phase, types), boxes_read(phase, types, cut, box), strict=True):
            if value in flow.follows[phase.id]:
                start, stop = part[flow.axes[value]]
                if start >= stop and isinstance(cut, JoinedAxis):
                    continue
                extent = types[value].shape[flow.axes[value]].constant or 0
                _widen(rows, value, (start, stop) if start < stop else (min(start, extent - 1), min(start, extent - 1) + 1))
    return TileDemand(rows, boxes)


def out_of_order(
    flow: PassPartitioning, one: TilePass, needed: TileDemand, reached: dict[PhaseId, int]
) -> Iterator[tuple[PhaseId, int]]:
    """Yields the in-order phases whose tile does not start where their last tile ended, with its start; updates `reached`."""
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
