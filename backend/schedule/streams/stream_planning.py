"""The plan of a program that reads inputs tile by tile: passes, the rows of a tile, and the memory needed.

Note [Memory of a pass].  The tile's own plan counts its inputs, values and work space once.  In addition there are the tiles that
are prefetched (`DEPTH` − 1 of them), partial results and collected rows so far, and buffers of reading and writing stores (items
as stored, a chunk, a block of text).  The rows of a tile are halved from `TILE` bytes of the inputs until the pass fits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from itertools import islice
from math import prod
from typing import Final, TypeGuard

from ....lang.support.records import dataclass, replace
from ....lang.syntax.source import Span
from ....typechecker.elements import ArrayType, Kind
from ....typechecker.sizes.polynomials import Size, SizeVariable, number
from ....typechecker.sizes.size import upper_bound
from ...graph import traverse
from ...graph.bind_sizes import BoundGraph, substitute_sizes
from ...graph.partial_graphs import restrict, unrolled, unrolling_obstacle
from ...graph.passes.redundancy import drop_dead
from ...graph.phases import (
    AxisKind,
    Graph,
    Input,
    LibraryPhase,
    Loop,
    Output,
    Phase,
    PhaseId,
    Print,
    Structured,
    ValueId,
    frame_of,
)
from ..plan.plan import Access, Box, Device, ExecutionPlan, PlannedFile, PlannedStore, StreamStep, SubPlan, TileShare
from ..program_facts.partitioning import BLOCK, shape_of
from ..program_facts.scratch_memory import rounded_to_alignment
from ..single_device import Detail, PlannedUnit, plan_one_device
from .known_rewrites import with_arm, with_compared_places, with_joined_slices
from .pass_partitioning import CannotStream, may_fail, partition_passes
from .tile_demands import (
    OutputKind,
    PassOutput,
    PassPartitioning,
    Rows,
    TiledAxis,
    TileDemand,
    TilePass,
    count_tiles,
    demand,
    has_rounds,
    is_carried,
    out_of_order,
    part_of,
    tiles_of,
)
from .tile_graph import key_of, tile_of, with_parts

# ---------------------------------------------------------------------------------------------------- external sort
#
# External merge sort: sorted tiles are written as runs to a scratch file, which are merged while they are read.
#
# A sort or grade that does not fit in memory becomes an output and an input of the same name.  The output is written as sorted
# runs; the input is their merge, in the same stable order as in memory.  So the passes before and after it are planned, verified
# and run like those of any other store.

MIN_RUN_READ: Final = 64
"""The least items of a run that are read at a time."""
WORDS: Final = 6
"""Words of memory per item while a tile is sorted or runs are merged: items, keys, positions, the order, work space."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """A scratch store `name` that sorts `size` items of a `kind`; with `grades` it yields their positions instead."""

    name: str
    size: int
    kind: Kind
    descending: bool
    grades: bool

    @property
    def bytes(self) -> int:
        """The size on disk."""
        return self.size * (self.kind.bytes + (8 if self.grades else 0))

    @property
    def working_memory(self) -> int:
        """The memory that merging takes, in bytes."""
        return min(32 << 20, max(1 << 18, self.bytes // 64))

    @property
    def merged(self) -> int:
        """Items that are merged at a time."""
        return self.working_memory // (WORDS * 8)

    @property
    def most_runs(self) -> int:
        return self.working_memory // (MIN_RUN_READ * WORDS * 8)

    def sorting(self, rows: int) -> int:
        """Returns the bytes of memory needed to sort a run of `rows` items."""
        return rows * WORDS * 8


def with_external_sort(bound: BoundGraph, wanted: Phase) -> tuple[BoundGraph, Scratch] | None:
    """Returns the graph with a sort or grade of a vector of real numbers as an external sort; None for other phases."""
    graph = bound.graph
    if not isinstance(wanted, LibraryPhase) or wanted.op not in ("sort", "grade") or frame_of(wanted):
        return None
    (value,), type = wanted.args, graph.types[wanted.args[0]]
    shape = shape_of(value, graph.types)
    if shape is None or len(shape) != 1 or type.element.kind.is_complex or type.element.kind is Kind.CHAR:
        return None
    (result,), fresh, grades = wanted.results, traverse.fresh_id(graph), wanted.op == "grade"
    scratch = Scratch(f"order {fresh}", shape[0], type.element.kind, bool(wanted.attributes["descending"]), grades)
    pair: list[Phase] = [
        Output(PhaseId(fresh), wanted.span, scratch.name, value),
        Input(PhaseId(fresh + 1), wanted.span, scratch.name, result),
    ]
    phases = (one for phase in graph.phases for one in (pair if phase.id == wanted.id else (phase,)))
    return BoundGraph(replace(graph, phases=tuple(phases)), bound.sizes), scratch


# ---------------------------------------------------------------------------------------------------- selection stages
#
# Selections by masks from stored inputs: a separate stage, because the sizes of later values are known only after it.
#
# The graph of a stage computes masks and items and writes the selected items, tile by tile, to a scratch store, one for each
# `compress` or `where` of the mask.  In the remaining graph these stores are inputs, and the size of the selection is a number:
# the count, or its greatest value while the program is planned.

@dataclass(frozen=True, slots=True)
class Selected:
    """A scratch store `name` of the selected cells, of a `kind`.  With `places` the cells are positions in the mask."""

    name: str
    kind: Kind
    cell: tuple[int, ...]
    places: bool


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection stage: the graph `bound` writes `stores`, all of length `size` of the program's graph, at most `most`.

    `span`: that of the selecting expression.
    """

    bound: BoundGraph
    stores: tuple[Selected, ...]
    size: SizeVariable
    most: int
    span: Span


def selection_of(bound: BoundGraph, wanted: Phase) -> Selection | None:
    """Returns the stage of all phases that select by the same mask as this one; None if the phase does not select."""
    graph = bound.graph
    if not _selects(wanted, graph):
        return None
    mask = shape_of(wanted.args[0], graph.types)
    assert mask is not None, "its size is known"
    members = [p for p in graph.phases if _selects(p, graph) and p.args[0] == wanted.args[0] and p.defines == wanted.defines]
    fresh, types, outputs, stores = traverse.fresh_id(graph), dict(graph.types), list[Phase](), list[Selected]()
    for index, phase in enumerate(members):
        (result,) = phase.results
        cell = tuple(size.constant or 0 for size in types[result].shape[1:])
        types[result] = ArrayType(types[result].element, (number(mask[0]), *types[result].shape[1:]))
        stores.append(Selected(_name(phase), types[result].element.kind, cell, phase.op == "where"))
        outputs.append(Output(PhaseId(fresh + index), phase.span, stores[-1].name, result))
    kept_phases = (replace(p, defines=()) if p in members else p for p in _upstream(graph, members))
    stage = replace(graph, phases=(*kept_phases, *outputs), types=types, guards=(), roots=frozenset())
    return Selection(BoundGraph(drop_dead(stage), bound.sizes), tuple(stores), wanted.defines[0], mask[0], wanted.span)


def after(bound: BoundGraph, selection: Selection, count: int) -> BoundGraph:
    """Returns the program's remaining graph after `count` items have been selected."""
    names = {store.name for store in selection.stores}
    phases = tuple(
        Input(phase.id, phase.span, _name(phase), phase.results[0])
        if isinstance(phase, LibraryPhase) and phase.defines and _name(phase) in names else phase
        for phase in bound.graph.phases
    )  # fmt: skip
    left = substitute_sizes(replace(bound.graph, phases=phases), {selection.size: number(count)})
    return BoundGraph(drop_dead(left), {**bound.sizes, selection.size: count})


def _selects(phase: Phase, graph: Graph) -> TypeGuard[LibraryPhase]:
    """Returns whether a phase selects major cells of operands of known sizes by a boolean vector."""
    if not isinstance(phase, LibraryPhase) or phase.op not in ("compress", "where") or not phase.defines or frame_of(phase):
        return False
    shapes = [shape_of(value, graph.types) for value in phase.args]
    if any(shape is None or not shape for shape in shapes) or len(shapes[0] or ()) != 1:
        return False
    return phase.op == "where" or (phase.attributes["axis"] == 0 and (shapes[1] or ())[0] == (shapes[0] or ())[0])


_SELECTED: Final = "selected "


def _name(phase: LibraryPhase) -> str:
    return f"{_SELECTED}{phase.id}"


def _upstream(graph: Graph, members: Iterable[Phase]) -> tuple[Phase, ...]:
    """Returns the phases that `members` depend on, also through scratch stores, and these, in graph order."""
    ids = {phase.id for phase in members}
    wanted, stores = set[ValueId](), set[str]()
    for phase in reversed(graph.phases):
        fills = isinstance(phase, Output) and phase.name in stores
        if fills or phase.id in ids or wanted.intersection(traverse.results(phase)):
            ids.add(phase.id)
            wanted.update(traverse.uses(phase))
            if isinstance(phase, Input):
                stores.add(phase.name)
    return tuple(phase for phase in graph.phases if phase.id in ids)


@dataclass(frozen=True, slots=True)
class PhaseCheck:
    """A graph that ends with a phase that may fail, and has the values of all such phases in it as `outputs`."""

    bound: BoundGraph
    last: Phase
    outputs: tuple[str, ...]

    @property
    def box(self) -> Box:
        """The box of all of the last phase's iteration space."""
        assert isinstance(self.last, Structured), "other phases are tiled along their first axis"
        return tuple((0, _number(axis.size)) for axis in self.last.axes)

    def within(self, box: Box) -> PhaseCheck:
        """Returns the check of only a box of the last phase's iteration space."""
        graph, last = self.bound.graph, self.last
        assert isinstance(last, Structured), "other phases are tiled along their first axis"
        operands = [tuple((0, _number(size)) for size in graph.types[read.value].shape) for read in last.reads]
        part = restrict(last, box, operands).phase
        reads = tuple(replace(read, value=full.value) for read, full in zip(part.reads, last.reads, strict=True))
        part = replace(part, reads=reads)
        shape = tuple(axis.size for axis in part.axes if axis.kind is AxisKind.PARALLEL)
        types = {**graph.types, **{value: replace(graph.types[value], shape=shape) for value in traverse.results(last)}}
        phases = tuple(part if phase.id == last.id else phase for phase in graph.phases)
        return replace(self, bound=BoundGraph(replace(graph, phases=phases, types=types), self.bound.sizes), last=part)


def checks_of(bound: BoundGraph, inputs: Collection[str]) -> Iterator[PhaseCheck]:
    """Yields checks of the `inputs`, then of all phases that may fail, in graph order."""
    graph = bound.graph
    read = [phase for phase in graph.phases if isinstance(phase, Input) and phase.name in inputs]
    failing = [*read, *(phase for phase in graph.phases if may_fail(phase))]
    for last in failing:
        phases = _upstream(graph, [last])
        checked = [traverse.results(phase)[0] for phase in phases if phase in failing]
        fresh = traverse.fresh_id(graph)
        outputs = [Output(PhaseId(fresh + at), last.span, f"checked {at}", value) for at, value in enumerate(checked)]
        if not any(traverse.defines(phase) for phase in phases):
            part = replace(graph, phases=(*phases, *outputs), guards=(), roots=frozenset())
            yield PhaseCheck(BoundGraph(drop_dead(part), bound.sizes), last, tuple(output.name for output in outputs))


def axes_before_tiles(request: Streaming, phase: Phase) -> int:
    """Returns how many axes of a phase are outside the tiled one; none if that is reduced, as its loop is the outermost."""
    cut = _flow(request).cuts.get(phase.id)
    return cut.axis if cut is not None and isinstance(phase, Structured) and not cut.combines else 0


# ---------------------------------------------------------------------------------------------------- rewrites
#
# The rewrites by which a program becomes streamable, as data, so that another process can repeat them.

class StreamRewriteKind(Enum):
    """How a graph is rewritten at a phase."""

    SORT = "a sort or grade becomes an external sort"
    SLICES = "small slices become separate values"
    ARM = "a branch becomes the arm that sizes decide"
    JOINED = "a gather at places that step becomes slices joined"
    PLACES = "a gather at few places becomes a reduction"
    UNROLLING = "a loop is unrolled"
    STAGE = "only the selection stage of a phase is left"
    SELECTED = "what a selection stage selected is read"


@dataclass(frozen=True, slots=True)
class StreamRewrite:
    """A rewrite at a phase; `count`: of the items that were selected."""

    kind: StreamRewriteKind
    phase: PhaseId
    count: int = 0


_REWRITES: Final = {
    StreamRewriteKind.SLICES: with_parts, StreamRewriteKind.ARM: with_arm, StreamRewriteKind.JOINED: with_joined_slices,
    StreamRewriteKind.PLACES: with_compared_places,
}  # fmt: skip
"""Rewrites of the phase that prevents a plan, which need nothing else."""


def rewritten(bound: BoundGraph, rewrites: Iterable[StreamRewrite]) -> BoundGraph:
    """Returns the graph after these rewrites, which the planner has applied to an equal graph.  Raises ValueError if one does not
    apply."""
    for one in rewrites:
        phase = next((phase for phase in bound.graph.phases if phase.id == one.phase), None)
        result: BoundGraph | None = None
        if phase is not None:
            selection = selection_of(bound, phase) if one.kind in (StreamRewriteKind.STAGE, StreamRewriteKind.SELECTED) else None
            match one.kind:
                case StreamRewriteKind.SORT:
                    result = (with_external_sort(bound, phase) or (None,))[0]
                case _ if one.kind in _REWRITES:
                    result = _REWRITES[one.kind](bound, phase)
                case StreamRewriteKind.UNROLLING if isinstance(phase, Loop):
                    result = unrolled(bound, phase)
                case StreamRewriteKind.STAGE if selection is not None:
                    result = selection.bound
                case StreamRewriteKind.SELECTED if selection is not None:
                    result = after(bound, selection, one.count)
                case _:
                    pass
        if result is None:
            raise ValueError(f"phase #{one.phase} is not rewritten: {one.kind.value}")
        bound = result
    return bound


# ---------------------------------------------------------------------------------------------------- plan of the passes

DEPTH: Final = 2
"""Tiles of the inputs in memory: the current one, and the next, which is prefetched."""
TILE: Final = 16 << 20
"""The most bytes of inputs in a tile; more would not be faster."""
RUN: Final = 1 << 16
"""The least contiguous bytes that a tile should write to a file; tiles are enlarged for it if memory permits."""
MOST_KINDS: Final = 64
"""The most different graphs of tiles in one pass, as each is planned and compiled separately."""
MOST_PHASES: Final = 2_000
"""The most phases to which one loop may be unrolled."""
_SELECTION_SHARE: Final = 16
"""Selected cells become a whole input if they take at most 1/_SELECTION_SHARE of the memory."""
_COLLECTED_SHARE: Final = 2
"""A value is collected whole if it takes at most 1/_COLLECTED_SHARE of the memory."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored input: its bytes in the store, the memory that reading takes besides the rows, and whether it is seekable."""

    bytes: int
    working_memory: int = 0
    going_back: bool = True


@dataclass(frozen=True, slots=True)
class Target:
    """A file that an output is written to in tiles: the memory that writing takes, and whether tiles may be along any axis."""

    working_memory: int = 0
    any_axis: bool = True


@dataclass(frozen=True, slots=True)
class TileDevice:
    """A device that tiles are dealt to; `ns`: predicts the nanoseconds of a tile from its graph and the bytes that it reads."""

    device: Device
    ns: Callable[[BoundGraph, int], int]


@dataclass(frozen=True, slots=True)
class Streaming:
    """A request to plan: the inputs that may be read, and the outputs that may be written, tile by tile, in `limit` bytes.

    `rows`: the rows of a tile of each pass, if chosen before; `scratch`: stores that are no files of the program; `rewrites`: of
    the program's graph, which gave `bound`; `devices`: those that tiles are dealt to, home first, and `undivided` the stores that
    only home has.
    """

    bound: BoundGraph
    sources: Mapping[str, Stored]
    sinks: Mapping[str, Target]
    limit: int
    rows: tuple[int, ...] | None = None
    scratch: tuple[Scratch, ...] = ()
    rewrites: tuple[StreamRewrite, ...] = ()
    devices: tuple[TileDevice, ...] = ()
    undivided: frozenset[str] = frozenset()

    def with_rewrite(self, bound: BoundGraph, kind: StreamRewriteKind, phase: Phase, count: int = 0) -> Streaming:
        """Returns the request for the graph after this rewrite."""
        return replace(self, bound=bound, rewrites=(*self.rewrites, StreamRewrite(kind, phase.id, count)))

    def with_scratch(self, bound: BoundGraph, scratch: Scratch) -> Streaming:
        """Returns the request for the graph `bound` with a scratch store added."""
        store = Stored(scratch.bytes, scratch.working_memory, going_back=False)
        sources, sinks = {**self.sources, scratch.name: store}, {**self.sinks, scratch.name: Target()}
        return replace(
            self, bound=bound, sources=sources, sinks=sinks, scratch=(*self.scratch, scratch),
            undivided=self.undivided | {scratch.name},
        )  # fmt: skip

    def with_selected(self, bound: BoundGraph, selection: Selection, count: int) -> Streaming:
        """Returns the remaining request after `count` cells have been selected; if they are few, they become a whole input."""
        sources = dict(self.sources)
        for store in selection.stores:
            size = count * prod(store.cell) * store.kind.bytes
            if size * _SELECTION_SHARE > self.limit:
                sources[store.name] = Stored(size)
        names = {store.name for store in selection.stores}
        return replace(self, bound=bound, sources=sources, undivided=self.undivided | names)

    def scratch_of(self, sink: PassOutput) -> Scratch | None:
        """Returns the scratch store that a flow ends in, if any."""
        if not isinstance(sink.phase, Output):
            return None
        return next((one for one in self.scratch if one.name == sink.phase.name), None)


@dataclass(frozen=True, slots=True)
class SelectionStage:
    """A selection stage with its plan."""

    plan: ExecutionPlan
    request: Streaming
    selection: Selection


PlanSelection = Callable[[Streaming, Selection], int]
"""Plans a selection stage and returns how many cells it selects (an upper bound while planning)."""


def plan_streams(
    request: Streaming, device: Device, program: tuple[PlannedFile, ...] = (), detail: Detail = Detail.STEPS,
    settle: PlanSelection | None = None,
) -> tuple[ExecutionPlan, Streaming]:  # fmt: skip
    """Returns a plan whose peak is at most the limit, and the rewritten request that it is for.

    Rewrites: loops that need a complete input in each iteration are unrolled, with passes for each iteration; sorts and grades
    become external sorts; small slices become separate values; selections by masks become stages; branches that sizes decide
    become an arm, gathers at indices that step become joined slices, those at few places reductions.  Raises CannotStream with
    the phase that prevents a plan.
    """
    while True:
        try:
            return _planned(request, device, program, detail), request
        except CannotStream as trouble:
            if (ordered := with_external_sort(request.bound, trouble.phase)) is not None:
                request = request.with_scratch(*ordered).with_rewrite(ordered[0], StreamRewriteKind.SORT, trouble.phase)
                continue
            others = ((rewrite(request.bound, trouble.phase), kind) for kind, rewrite in _REWRITES.items())
            if (other := next(((one, kind) for one, kind in others if one is not None), None)) is not None:
                request = request.with_rewrite(*other, trouble.phase)
                continue
            if settle is not None and (selection := selection_of(request.bound, trouble.phase)) is not None:
                stage = request.with_rewrite(selection.bound, StreamRewriteKind.STAGE, trouble.phase)
                stores = {store.name: Target() for store in selection.stores}
                count = settle(replace(stage, sinks=stores, undivided=stage.undivided | stores.keys()), selection)
                left = after(request.bound, selection, count)
                request = request.with_selected(left, selection, count)
                request = request.with_rewrite(left, StreamRewriteKind.SELECTED, trouble.phase, count)
                continue
            if not isinstance(trouble.phase, Loop):
                raise
            if why := unrolling_obstacle(trouble.phase, MOST_PHASES):
                raise CannotStream(trouble.phase, f"{trouble.why} in each iteration, and {why}") from None
            request = request.with_rewrite(unrolled(request.bound, trouble.phase), StreamRewriteKind.UNROLLING, trouble.phase)


def _planned(request: Streaming, device: Device, program: tuple[PlannedFile, ...], detail: Detail) -> ExecutionPlan:
    flow = _flow(request)
    units: list[Phase | PlannedUnit] = []
    last = [phase for _, phase in flow.whole if isinstance(phase, Print | Output)]
    for level in range(1 + max([one.level + 1 for one in flow.passes], default=0)):
        units += [phase for at, phase in flow.whole if at == level and phase not in last]
        units += [_unit(request, flow, one, device) for one in flow.passes if one.level == level]
    plan = plan_one_device(request.bound, device, program, detail, [*units, *last])
    if max(count for _, count in plan.main.peak) > request.limit:
        raise CannotStream(_largest(flow), "makes values that do not fit")
    steps = [step for queue in plan.main.queues for step in queue.steps if isinstance(step, StreamStep)]
    if shares := [share for step in steps for share in step.shares]:
        plan = replace(plan, devices=tuple(one.device for one in request.devices), main=_with_peaks(plan.main, shares))
    return replace(plan, stores=tuple(_stores(request, flow)))


def _with_peaks(main: SubPlan, shares: Sequence[TileShare]) -> SubPlan:
    """Returns the steps, where each also states the most memory of every device other than home."""
    peaks = dict(main.peak)
    for share in shares:
        peaks[share.device] = max(peaks.get(share.device, 0), share.memory)
    return replace(main, peak=tuple(peaks.items()))


def _flow(request: Streaming) -> PassPartitioning:
    """Returns the passes; an output to a file that takes rows in order is written in tiles only if these are its tiles."""
    fits: Callable[[int], bool] = lambda count: count * _COLLECTED_SHARE <= request.limit  # noqa: E731
    flow = partition_passes(request.bound.graph, request.sources, request.sinks, fits)
    undivided = {
        sink.phase.name
        for one in flow.passes for sink in one.sinks
        if isinstance(sink.phase, Output) and not request.sinks[sink.phase.name].any_axis
        and (one.backward or flow.axes[sink.phase.arg])
    }  # fmt: skip
    return partition_passes(request.bound.graph, request.sources, request.sinks.keys() - undivided, fits) if undivided else flow


def _largest(flow: PassPartitioning) -> Phase:
    """Returns the phase on whole values with the largest results."""

    def size(phase: Phase) -> int:
        types = [flow.graph.types[value] for value in traverse.results(phase)]
        return sum(prod(n.constant or 0 for n in type.shape) * type.element.kind.bytes for type in types)

    return max((phase for _, phase in flow.whole), key=size, default=flow.graph.phases[0])


def _stores(request: Streaming, flow: PassPartitioning) -> Iterator[PlannedStore]:
    for phase in flow.graph.phases:
        if isinstance(phase, Input) and phase.name in request.sources:
            yield PlannedStore(phase.name, Access.READ, request.sources[phase.name].bytes)
    for one in flow.passes:
        for sink in one.sinks:
            if sink.kind is OutputKind.WRITTEN and isinstance(sink.phase, Output):
                yield PlannedStore(sink.phase.name, Access.WRITE, _written_bytes(request, flow, sink))


def _written_bytes(request: Streaming, flow: PassPartitioning, sink: PassOutput) -> int:
    """Returns the bytes that a flow writes to its store; 0 if it ends in memory."""
    if not isinstance(sink.phase, Output):
        return 0
    scratch = request.scratch_of(sink)
    return _bytes_of(flow, sink.phase.arg) if scratch is None else scratch.bytes


def _bytes_of(flow: PassPartitioning, value: ValueId, rows: Rows | None = None) -> int:
    type = flow.graph.types[value]
    axis = flow.axes.get(value, 0)
    shape = [rows[1] - rows[0] if rows and i == axis else _number(size) for i, size in enumerate(type.shape)]
    return prod(shape) * type.element.kind.bytes


def _number(size: Size) -> int:
    """Returns an upper bound of a size: its value, or its cap if only the run knows it."""
    return upper_bound(size).evaluate({}) if size.constant is None else size.constant


# ------------------------------------------------------------------------------------------ one pass


def _unit(request: Streaming, flow: PassPartitioning, one: TilePass, device: Device) -> PlannedUnit:
    """Returns a pass with the most rows per tile with which its memory fits."""
    left = request.limit - _whole_bytes(flow, one)
    if request.rows is None:
        rows = _first_rows(request, flow, one)
        least, _ = _of_tiles(request, flow, one, islice(tiles_of(one, one.grain), 1), device)
        if least + _joined_bytes(flow, one, one.size) + _store_memory(request, one) > left:
            need, rows = _least_memory(request, flow, one, device)
            raise _needs(request, flow, one, rows, need)
    else:
        rows = _chosen_rows(request.rows, flow, one)
    tried: list[tuple[int, int]] = []
    while (need_and_reads := memory_of(request, flow, one, rows, device))[0] > left:
        tried.append((need_and_reads[0], rows))
        if rows <= one.grain or request.rows is not None:
            need, rows = min(tried)
            raise _needs(request, flow, one, rows, need)
        rows = max(one.grain, rows // 2)
    need, reads = need_and_reads
    writes = sum(_written_bytes(request, flow, sink) for sink in one.sinks)
    tiles = count_tiles(one, rows)
    for sink in one.sinks:
        if (scratch := request.scratch_of(sink)) is not None and tiles > scratch.most_runs:
            raise CannotStream(sink.phase, f"would sort {tiles:,} parts, and at most {scratch.most_runs:,} are merged")
    step = StreamStep(tuple(phase.id for phase in one.phases), one.results, rows, tiles, DEPTH, reads, writes)
    if request.devices:
        step, need = _dealt(request, flow, one, step, need, device)
    outside = tuple(dict.fromkeys(value for phase in one.phases for value in flow.whole_operands(phase)))
    first = one.sinks[0].phase
    shape = LibraryPhase(first.id, first.span, "stream", outside, one.results, {}, (), ())
    return PlannedUnit(shape, step, need)


# ------------------------------------------------------------------------------------------ tiles dealt to devices
#
# Each device runs the tiles of consecutive rows, and reads these rows of the stores itself.  Its partial results are subtrees of
# the order of sums (`partial_trees`), which home joins with the others in that order, so that the bits do not depend on who runs
# which tile.  Rows that are collected, or go to a temporary file, are sent to home; rows of an output are written in place.

_PARTS: Final = 16
"""The least number of parts per device into which the tiles are divided for dealing, if there are so many."""


def partial_trees(first: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yields the first tile and the number of tiles of each of the largest subtrees of the order of sums within [first, stop)."""
    while first < stop:
        size = (first & -first) or 1 << (stop - 1).bit_length()
        while first + size > stop:
            size >>= 1
        yield first, size
        first += size


def _dealt(
    request: Streaming, flow: PassPartitioning, one: TilePass, step: StreamStep, need: int, device: Device
) -> tuple[StreamStep, int]:  # fmt: skip
    """Returns the pass with its tiles dealt to the devices in proportion to their speed, and the memory that it takes at home.

    Tiles are made smaller for devices with less memory, unless products of them are added, whose bits depend on their rows."""
    if why := _undivided(request, flow, one, step):
        return replace(step, undivided=why), need
    left, fixed = request.limit - _whole_bytes(flow, one), any(_adds_products(flow, sink) for sink in one.sinks)
    most = min((runs.most_runs for sink in one.sinks if (runs := request.scratch_of(sink)) is not None), default=one.size)
    rows = step.rows
    while True:
        need_of_tiles, reads = memory_of(request, flow, one, rows, device)
        tiled = replace(step, rows=rows, tiles=count_tiles(one, rows), reads=reads)
        operands = {value for phase in one.phases for value in flow.whole_operands(phase)}
        left_alone = _totals_bytes(flow, one, tiled.tiles)
        there = need_of_tiles + left_alone + sum(rounded_to_alignment(_bytes_of(flow, value)) for value in operands)
        shares = _shares(request, flow, one, tiled, there)
        here = need_of_tiles + left_alone + _delivered_bytes(request, flow, one, rows, shares)
        if len(shares) > 1 and here <= left:
            home = request.devices[0].device.id
            shares = tuple(replace(s, memory=here) if s.device == home else s for s in shares)
            return replace(tiled, shares=shares, reads=sum(share.reads for share in shares)), here
        rows = max(one.grain, rows // 2)
        if fixed or request.rows is not None or rows == tiled.rows or count_tiles(one, rows) > most:
            return replace(step, undivided="the devices have too little memory for tiles on several"), need


def _undivided(request: Streaming, flow: PassPartitioning, one: TilePass, step: StreamStep) -> str:
    """Returns why one device runs all tiles of a pass; empty if several may."""
    if one.backward or (not has_rounds(flow, one) and any(is_carried(flow.cuts.get(phase.id)) for phase in one.phases)):
        return "each tile continues from the one before"
    for phase in one.phases:
        if isinstance(phase, Input) and phase.name in request.undivided:
            is_temporary = phase.name.startswith(_SELECTED) or any(one.name == phase.name for one in request.scratch)
            return "it reads a temporary file of home" if is_temporary else f"not all workers see the file of `{phase.name}`"
    return "it is one tile" if step.tiles < 2 else ""


def _adds_products(flow: PassPartitioning, sink: PassOutput) -> bool:
    cut = flow.cuts.get(sink.phase.id)
    return sink.kind is OutputKind.JOINED and isinstance(cut, TiledAxis)


def _shares(request: Streaming, flow: PassPartitioning, one: TilePass, step: StreamStep, there: int) -> tuple[TileShare, ...]:
    """Returns the tiles of each device in proportion to its speed; `there`: the bytes of a tile on devices other than home."""
    joined = _joined_bytes(flow, one, one.size) * step.tiles.bit_length()  # subtrees at both ends of a device's tiles
    takes = there + joined
    fitting = [other for other in request.devices[1:] if other.device.memory is None or takes <= other.device.memory]
    devices = [request.devices[0], *fitting]
    tiles = list(tiles_of(one, step.rows))
    middle = tiles[len(tiles) // 2 - 1]
    needed = demand(flow, one, middle)
    graph, read = tile_of(flow, one, needed, middle).bound, _stored_bytes(request, flow, one, needed)
    speeds = [Fraction(1, max(1, other.ns(graph, read))) for other in devices]
    grain = 1
    while len(tiles) >= 2 * grain * _PARTS * len(devices):
        grain *= 2
    shares, first, before = list[TileShare](), 0, Fraction(0)
    for other, speed in zip(devices, speeds, strict=True):
        before += speed
        stop = min(len(tiles), round(len(tiles) * before / sum(speeds) / grain) * grain)
        if other is devices[-1]:
            stop = len(tiles)
        if stop > first:
            reads = sum(_stored_bytes(request, flow, one, demand(flow, one, tile)) for tile in tiles[first:stop])
            if stop < len(tiles) and has_rounds(flow, one):
                reads *= 2
            shares.append(TileShare(other.device.id, first, stop, reads, takes))
            first = stop
    return tuple(shares)


def _delivered_bytes(
    request: Streaming, flow: PassPartitioning, one: TilePass, rows: int, shares: Sequence[TileShare]
) -> int:  # fmt: skip
    """Returns the memory that results of other devices take at home: a message from each, and subtrees of sums."""
    home = request.devices[0].device.id
    others = [share for share in shares if share.device != home]
    parts = sum(len([*partial_trees(share.first, share.stop)]) for share in others)
    joined = [value for sink in one.sinks if sink.kind is OutputKind.JOINED for value in traverse.results(sink.phase)]
    messages = [rounded_to_alignment(_bytes_of(flow, value)) for value in joined]
    for sink in one.sinks:
        if sink.value is not None and is_delivered(sink, request.undivided):
            messages.append(rounded_to_alignment(_bytes_of(flow, sink.value, part_of(sink, (0, rows)))))
    return len(others) * max(messages, default=0) + parts * sum(messages[: len(joined)])


def _totals_bytes(flow: PassPartitioning, one: TilePass, tiles: int) -> int:
    """Returns the memory that the totals of the blocks of scans take in the first of two rounds."""
    if not has_rounds(flow, one):
        return 0
    scans = [phase.results[0] for phase in one.phases if isinstance(phase, LibraryPhase) and is_carried(flow.cuts.get(phase.id))]
    return sum((-(-one.size // BLOCK) + tiles) * _bytes_of(flow, scan, (0, 1)) for scan in scans)


def is_delivered(sink: PassOutput, undivided: Collection[str]) -> bool:
    """Returns whether rows of a sink are sent to home, rather than written in place."""
    return not isinstance(sink.phase, Output) or sink.phase.name in undivided


def _least_memory(request: Streaming, flow: PassPartitioning, one: TilePass, device: Device) -> tuple[int, int]:
    """Returns the least memory of a pass for its first tile, partial results and files, and the rows of a tile that has it."""
    rows, candidates = one.grain, list[tuple[int, int]]()
    while True:
        tile, _ = _of_tiles(request, flow, one, islice(tiles_of(one, rows), 1), device)
        candidates.append((tile + _joined_bytes(flow, one, rows) + _store_memory(request, one), rows))
        if rows >= one.size or tile >= min(candidates)[0]:
            return min(candidates)
        rows *= 2


def _needs(request: Streaming, flow: PassPartitioning, one: TilePass, rows: int, need: int) -> CannotStream:
    """Returns the error that tiles of `rows` rows need at least `need` bytes, which do not fit, and that no other tiles need
    less."""
    many = "one row" if rows == 1 else f"{rows:,} rows"
    note = f", beside {undivided:,} bytes of values that are kept whole" if (undivided := _whole_bytes(flow, one)) else ""
    return CannotStream(
        _largest_phase(flow, one, rows), f"needs at least {need:,} bytes for a tile of {many}{_store_takes(request, one)}{note}"
    )


def _whole_bytes(flow: PassPartitioning, one: TilePass) -> int:
    """Returns the bytes of the whole values that the pass uses, and of its results."""
    used = {value for phase in one.phases for value in flow.whole_operands(phase)}
    return sum(rounded_to_alignment(_bytes_of(flow, value)) for value in (*used, *one.results))


def _chosen_rows(rows: tuple[int, ...], flow: PassPartitioning, one: TilePass) -> int:
    """Returns the rows per tile of the pass, if the request fixes them."""
    if len(rows) == len(flow.passes):
        row_count = rows[flow.passes.index(one)]
        if row_count >= one.grain and row_count % one.grain == 0:
            return row_count
    raise CannotStream(one.sinks[0].phase, "is in another pass than was planned, or its tiles begin elsewhere")


def _first_rows(request: Streaming, flow: PassPartitioning, one: TilePass) -> int:
    """Returns the first rows to try: a power of two times the grain, about `TILE` bytes, more if writes were below `RUN`."""
    rows = one.grain
    while rows < one.size:
        inputs = _tile_bytes(flow, one, demand(flow, one, (0, min(2 * rows, one.size))))
        if inputs > (TILE if _run_bytes(flow, one, rows) >= RUN else max(TILE, request.limit // 8)):
            break
        rows *= 2
    return rows


def _run_bytes(flow: PassPartitioning, one: TilePass, rows: int) -> int:
    """Returns the least contiguous bytes that a tile writes to a file; `RUN` if each tile is contiguous."""
    runs = [RUN]
    for sink in one.sinks:
        if sink.kind is OutputKind.WRITTEN and sink.value is not None and flow.axes[sink.value]:
            type = flow.graph.types[sink.value]
            behind = type.shape[flow.axes[sink.value] + 1 :]
            runs.append(rows * prod(map(_number, behind)) * type.element.kind.bytes)
    return min(runs)


def _tile_bytes(flow: PassPartitioning, one: TilePass, needed: TileDemand) -> int:
    values = [phase.result for phase in one.phases if isinstance(phase, Input) and phase.result in needed.rows]
    return sum(_bytes_of(flow, value, needed.rows[value]) for value in values)


def memory_of(request: Streaming, flow: PassPartitioning, one: TilePass, rows: int, device: Device) -> tuple[int, int]:
    """Returns the memory of a pass besides whole values, and the bytes that it reads.  See Note [Memory of a pass]."""
    most, reads = _of_tiles(request, flow, one, tiles_of(one, rows), device)
    sorting = sum(scratch.sorting(rows) for sink in one.sinks if (scratch := request.scratch_of(sink)) is not None)
    return most + _joined_bytes(flow, one, rows) + _store_memory(request, one) + sorting, reads


def _of_tiles(
    request: Streaming, flow: PassPartitioning, one: TilePass, tiles: Iterable[Rows], device: Device
) -> tuple[int, int]:
    """Returns the memory of the largest tile, and the bytes that all tiles read; stops at a tile above the limit."""
    peaks: dict[tuple[object, ...], int] = {}
    most, reads, reached, begun = 0, 0, dict[PhaseId, int](), dict[PhaseId, int]()
    phases = {phase.id: phase for phase in one.phases}
    for tile in tiles:
        needed = demand(flow, one, tile)
        for phase_id, _ in out_of_order(flow, one, needed, reached):
            raise CannotStream(phases[phase_id], "is wanted in another order than that of its items, or more than once")
        for phase in one.phases:
            if isinstance(phase, Input) and phase.result in needed.rows and not request.sources[phase.name].going_back:
                if needed.rows[phase.result][0] < begun.get(phase.id, 0):
                    why = f"needs rows of `{phase.name}` in another order than the file has them"
                    raise CannotStream(_largest_phase(flow, one, tile[1] - tile[0]), why + _stored_better(request, phase.name))
                begun[phase.id] = needed.rows[phase.result][0]
        key = key_of(flow, one, needed)
        inputs = _tile_bytes(flow, one, needed)
        reads += _stored_bytes(request, flow, one, needed)
        if key not in peaks:
            if len(peaks) == MOST_KINDS:
                raise CannotStream(_largest_phase(flow, one, tile[1] - tile[0]), "needs different rows in every tile")
            tile_program = tile_of(flow, one, needed, tile)
            plan = plan_one_device(tile_program.bound, device, detail=Detail.STEPS)
            around = sum(rounded_to_alignment(_bytes_of(flow, value)) for value in tile_program.operands.values())
            peaks[key] = max(count for _, count in plan.main.peak) - around + (DEPTH - 1) * rounded_to_alignment(inputs)
            if peaks[key] > request.limit:
                return peaks[key], reads
        most = max(most, peaks[key])
    return most, reads


def _stored_bytes(request: Streaming, flow: PassPartitioning, one: TilePass, needed: TileDemand) -> int:
    total = 0
    for phase in one.phases:
        if isinstance(phase, Input) and phase.result in needed.rows:
            start, stop = needed.rows[phase.result]
            length = _number(flow.graph.types[phase.result].shape[0])
            total += request.sources[phase.name].bytes * (stop - start) // max(1, length)
    return total


def _joined_bytes(flow: PassPartitioning, one: TilePass, rows: int) -> int:
    """Returns the bytes of partial results: one for each level of the tree, and the newest one."""
    levels = 1 + count_tiles(one, rows).bit_length()
    joined = [value for sink in one.sinks if sink.kind is OutputKind.JOINED for value in traverse.results(sink.phase)]
    return levels * sum(rounded_to_alignment(_bytes_of(flow, value)) for value in joined)


def _store_memory(request: Streaming, one: TilePass) -> int:
    read = sum(request.sources[phase.name].working_memory for phase in one.phases if isinstance(phase, Input))
    return read + sum(request.sinks[sink.phase.name].working_memory for sink in one.sinks if isinstance(sink.phase, Output))


def _store_takes(request: Streaming, one: TilePass) -> str:
    """Returns a note on the store whose buffers take most memory, if they take a quarter of it or more; otherwise empty."""
    taken = {("reading", p.name): request.sources[p.name].working_memory for p in one.phases if isinstance(p, Input)}
    taken |= {("writing", s.phase.name): request.sinks[s.phase.name].working_memory for s in one.sinks if isinstance(s.phase,
        Output)}
    (act, name), most = max(taken.items(), key=lambda item: item[1], default=(("", ""), 0))
    if not name or most * 4 < request.limit:
        return ""
    help = _stored_better(request, name) if act == "reading" else ""
    return f", of which {act} `{name}` takes {most:,}{help}"


def _stored_better(request: Streaming, name: str) -> str:
    """Returns advice to store an input in a seekable format that needs less memory; empty for scratch stores."""
    if any(one.name == name for one in request.scratch):
        return ""
    return "; chunks, groups of rows and blocks of text are decoded whole: make them smaller, or store the numbers in an npy file"


def _largest_phase(flow: PassPartitioning, one: TilePass, rows: int) -> Phase:
    """Returns the phase of a tile that reads and writes most bytes."""
    needed = demand(flow, one, (0, min(rows, one.size)))

    def size(phase: Phase) -> int:
        values: Sequence[ValueId] = (*traverse.uses(phase), *traverse.results(phase))
        return sum(_bytes_of(flow, value, needed.rows[value]) for value in values if value in needed.rows)

    phases = [phase for phase in one.phases if not isinstance(phase, Input)]
    return max(phases, key=size, default=one.phases[0])
