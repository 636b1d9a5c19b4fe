"""Passes of a program that is read in tiles: their predicted time, by the cost model and the disk's cost tables; and the
verification of a plan with passes against the graph, before anything runs.

In a pass one thread reads, and merges sorted runs from disk, while another computes, sorts and writes: the pass takes as long
as the slower one.  It computes the graph of a tile once for each tile.  Passes, and the phases between them, run one after the
other.

The verification walks the steps in order and checks that the full values that each step reads are computed, that every phase
has run by the end, and for every pass that each tile has the rows that its phases read, that the tiles of each sink partition
its points, that tiles of ordered sums begin where subtrees do, and that the stated bytes to read are those of the tiles.  Boxes
are derived again from projections, phase by phase.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from ....lang.support.records import cached_property, dataclass
from ....lang.syntax.source import Source
from ....typechecker.check import check
from ...devices.phase_cost import step_ns
from ...devices.profile import Profile
from ...devices.this_machine import READ, SCRATCH_READ, SCRATCH_WRITE, WRITE, disk_ns
from ...graph import traverse
from ...graph.bind_sizes import BoundGraph, bind
from ...graph.lowering.blocks import lower
from ...graph.passes.pipeline import optimise
from ...graph.phases import Constant, Input, Output, Phase, PhaseId, Print, ValueId
from ..plan.plan import Access, BranchStep, CellsStep, ExecutionPlan, FreeStep, LoopStep, RunStep, StreamStep
from ..program_facts.partitioning import reads_of
from .pass_partitioning import partition_passes
from .stream_planning import Scratch, Stored, tiles_of
from .tile_demands import (
    JoinedAxis,
    PassPartitioning,
    TileDemand,
    TilePass,
    boxes_made,
    boxes_read,
    demand,
    has_rounds,
    is_carried,
    out_of_order,
    part_of,
)
from .tile_graph import tile_of

_SORT_EXPRESSION: Final = "x[⍋x]"
_GRADE_EXPRESSION: Final = "x[⍋y]"
"""Items in the order of a grade that is computed: it sorts runs of positions, and merges by grading the heads of the runs."""


@dataclass(frozen=True)
class PassTimes:
    """Predicts the time of a plan with passes, of the program `bound`.  `temporary`: names of the stores that are temporary
    files, of which those in `scratch` are sorted."""

    plan: ExecutionPlan
    bound: BoundGraph
    scratch: Sequence[Scratch]
    temporary: Collection[str]

    def ns(self, profile: Profile) -> int:
        """Returns the predicted nanoseconds of the plan."""
        steps = [step for queue in self.plan.main.queues for step in queue.steps if isinstance(step, StreamStep)]
        inside = {phase for step in steps for phase in step.phases}
        between = [phase for phase in self.bound.graph.phases if phase.id not in inside]
        return computing_ns(between, self.bound, profile) + sum(self.pass_ns(step, profile) for step in steps)

    @cached_property
    def flow(self) -> PassPartitioning:
        names = {access: [store.name for store in self.plan.stores if store.access is access] for access in Access}
        return partition_passes(self.bound.graph, names[Access.READ], names[Access.WRITE], lambda count: True)

    def tiles_ns(self, step: StreamStep, profile: Profile) -> int:
        """Returns the computing nanoseconds of all tiles of a pass, as if each cost as much as the middle one."""
        same = (one for one in self.flow.passes if tuple(p.id for p in one.phases) == step.phases and one.results == step.results)
        one = next(same)
        tiles = [*tiles_of(one, step.rows)]
        tile = tiles[len(tiles) // 2]
        bound = tile_of(self.flow, one, demand(self.flow, one, tile), tile).bound
        return computing_ns(bound.graph.phases, bound, profile, len(tiles)) + len(tiles) * profile.home.host_dispatch_ns

    def pass_ns(self, step: StreamStep, profile: Profile) -> int:
        device, ids = profile.home, set(step.phases)
        phases = [phase for phase in self.bound.graph.phases if phase.id in ids]
        taken = {phase.name for phase in phases if isinstance(phase, Input)}
        produced = {phase.name for phase in phases if isinstance(phase, Output)}
        back, scratch_write = min(step.reads, self.bytes(taken)), min(step.writes, self.bytes(produced))
        merged = sum(sorting_ns(one, one.merged, profile, _GRADE_EXPRESSION) for one in self.scratch if one.name in taken)
        ordered = sum(
            sorting_ns(one, step.rows, profile, _GRADE_EXPRESSION if one.grades else _SORT_EXPRESSION)
            for one in self.scratch if one.name in produced
        )  # fmt: skip
        reading = disk_ns(device, READ, step.reads - back) + disk_ns(device, SCRATCH_READ, back) + merged
        writing = disk_ns(device, WRITE, step.writes - scratch_write) + disk_ns(device, SCRATCH_WRITE, scratch_write)
        ns = max(reading, self.tiles_ns(step, profile) + ordered + writing)
        largest = max((share.stop - share.first for share in step.shares if share.device == self.plan.home), default=step.tiles)
        return ns * largest // step.tiles  # the other devices run as many tiles as fit in this time

    def bytes(self, names: Collection[str]) -> int:
        """Returns the bytes of the temporary stores with these names."""
        stored = {store.name: store.bytes for store in self.plan.stores if store.name in self.temporary}
        return sum(stored.get(name, 0) for name in names)


def computing_ns(phases: Iterable[Phase], bound: BoundGraph, profile: Profile, times: int = 1) -> int:
    """Nanoseconds of executing each phase `times` times; a phase without a cost table counts as 0."""
    real = [phase for phase in phases if not isinstance(phase, Constant | Input | Output | Print)]
    estimates = [step_ns(phase, bound, profile.home, profile.calibration, times) for phase in real]
    return sum(one.ns for one in estimates if one is not None)


def sorting_ns(scratch: Scratch, piece: int, profile: Profile, expression: str) -> int:
    """Nanoseconds of sorting the items of a scratch store once, in pieces of `piece` items, each by `expression`."""
    declared = "".join(f"input {name} : {scratch.kind.value}[n]\n" for name in "xy")
    core = check(Source("<order>", f"{declared}output z ← {expression}\n")).core
    assert core is not None, "numbers have an order"
    piece = max(1, min(piece, scratch.size))
    bound = bind(
        optimise(lower(core)),
        {variable: piece for size in core.types[core.inputs[0].value].shape for variable in size.variables()},
    )
    return computing_ns(bound.graph.phases, bound, profile, -(-scratch.size // piece))


def faults_of_streams(plan: ExecutionPlan, bound: BoundGraph, stored: Mapping[str, Stored], limit: int) -> list[str]:
    """Returns the faults of a plan as messages; empty if the plan is valid."""
    return list(_faults(plan, bound, stored, limit))


def _faults(plan: ExecutionPlan, bound: BoundGraph, stored: Mapping[str, Stored], limit: int) -> Iterator[str]:
    limits = {device.id: device.memory for device in plan.devices if device.memory is not None and device.id != plan.home}
    for device, peak in plan.main.peak:
        if peak > limits.get(device, limit):
            yield f"{device} holds {peak:,} bytes of {limits.get(device, limit):,}"
    names = {access: {store.name for store in plan.stores if store.access is access} for access in Access}
    flow = partition_passes(bound.graph, names[Access.READ], names[Access.WRITE], lambda count: True)
    phases = {phase.id: phase for phase in bound.graph.phases}
    there: set[ValueId] = set()
    run: set[PhaseId] = set()
    for step in plan.main.queues[0].steps:
        match step:
            case RunStep() | LoopStep() | BranchStep() | CellsStep():
                used, defined = traverse.uses(phases[step.phase]), traverse.results(phases[step.phase])
                if missing := set(used) - _inside(phases[step.phase]) - there:
                    yield f"phase #{step.phase} reads %{min(missing)}, which is not there"
                there.update(defined)
                run.add(step.phase)
            case StreamStep():
                passes = [one for one in flow.passes if _ids(one) == step.phases and one.results == step.results]
                if len(passes) != 1:
                    yield "a pass has not the phases that flow to what it makes"
                    continue
                yield from _pass(flow, passes[0], step, stored, there)
                yield from _shares(plan, flow, passes[0], step, stored)
                there.update(step.results)
                run.update(step.phases)
            case FreeStep():
                there.difference_update(step.values)
            case _:
                yield "a plan with passes has steps that run, stream and free"
    unread = {phase.id for phase in bound.graph.phases if isinstance(phase, Input) and phase.name in names[Access.READ]}
    if left := phases.keys() - run - unread:  # an input that no pass reads contributes only sizes
        yield f"phase #{min(left)} does not run"


def _inside(phase: Phase) -> set[ValueId]:
    """Returns the values inside the bodies of a phase."""
    bodies = traverse.subgraphs(phase)
    inner = [one for body in bodies for one in traverse.all_phases(body)]
    params = {param for one in (phase, *inner) for body in traverse.subgraphs(one) for param in body.params}
    return params | {value for one in inner for value in traverse.results(one)}


def _ids(one: TilePass) -> tuple[PhaseId, ...]:
    return tuple(phase.id for phase in one.phases)


def _pass(
    flow: PassPartitioning, one: TilePass, step: StreamStep, stored: Mapping[str, Stored], there: set[ValueId]
) -> Iterator[str]:
    if step.rows < 1 or step.rows % one.grain or (step.rows // one.grain) & (step.rows // one.grain - 1):
        yield f"tiles of {step.rows} rows do not begin where subtrees of sums do"
        return
    tiles = list(tiles_of(one, step.rows))
    if len(tiles) != step.tiles:
        yield f"a pass has {step.tiles} tiles, not {len(tiles)}"
    for phase in one.phases:
        if missing := set(flow.whole_operands(phase)) - there:
            yield f"phase #{phase.id} reads %{min(missing)}, which is not there"
    ends = dict.fromkeys(range(len(one.sinks)), 0)
    reads, reached = 0, dict[PhaseId, int]()
    twice = step.shares[-1].first if step.shares and has_rounds(flow, one) else 0
    for number, tile in enumerate(tiles):
        needed = demand(flow, one, tile)
        yield from _tile(flow, one, needed)
        for phase_id, at in out_of_order(flow, one, needed, reached):
            yield f"a tile of phase #{phase_id}, whose items are taken in order, begins at {at}"
        for index, sink in enumerate(one.sinks):
            start, stop = part_of(sink, tile)
            if start < stop and start != ends[index]:
                yield f"a tile of phase #{sink.phase.id} begins at {start}, not at {ends[index]}"
            ends[index] = max(ends[index], stop)
        for phase in one.phases:
            if isinstance(phase, Input) and phase.result in needed.rows:
                start, stop = needed.rows[phase.result]
                length = flow.graph.types[phase.result].shape[0].constant or 1
                reads += stored[phase.name].bytes * (stop - start) // length * (1 + (number < twice))
    for index, sink in enumerate(one.sinks):
        if ends[index] != sink.size:
            yield f"the tiles of phase #{sink.phase.id} end at {ends[index]}, not at {sink.size}"
    if reads != step.reads:
        yield f"a pass reads {reads:,} bytes, not {step.reads:,}"


def _shares(
    plan: ExecutionPlan, flow: PassPartitioning, one: TilePass, step: StreamStep, stored: Mapping[str, Stored]
) -> Iterator[str]:  # fmt: skip
    """Yields faults of the tiles' assignment: each tile belongs to one device, and the devices together read what the pass
    reads."""
    if not step.shares:
        return
    if any(is_carried(flow.cuts.get(phase.id)) for phase in one.phases) and not has_rounds(flow, one):
        yield "tiles that continue from the one before are dealt to several devices"
    ends, peaks, devices = [0, *(share.stop for share in step.shares)], dict(plan.main.peak), [one.id for one in plan.devices]
    if [share.first for share in step.shares] != ends[:-1] or ends[-1] != step.tiles or ends != sorted(set(ends)):
        yield f"the shares of a pass do not divide its {step.tiles} tiles"
    if len({share.device for share in step.shares}) < len(step.shares) or not {s.device for s in step.shares} <= {*devices}:
        yield "a device has two shares of a pass, or is none of the plan"
    for share in step.shares:
        if share.memory > peaks.get(share.device, 0):
            yield f"a share takes {share.memory:,} bytes, more than {share.device} holds"
    if sum(share.reads for share in step.shares) != step.reads:
        yield f"the shares of a pass do not read its {step.reads:,} bytes"


def _tile(flow: PassPartitioning, one: TilePass, needed: TileDemand) -> Iterator[str]:
    """Yields faults of a tile: rows that a phase reads but the tile lacks, and demanded rows that no phase computes."""
    types = flow.graph.types
    defined = {phase.result for phase in one.phases if isinstance(phase, Input)}
    ending = {sink.phase.id for sink in one.sinks if sink.value is None}
    for phase in one.phases:
        box = needed.boxes.get(phase.id)
        if box is None:
            continue
        cut = flow.cuts[phase.id]
        for value, part in zip(reads_of(phase, types), boxes_read(phase, types, cut, box), strict=True):
            if value not in flow.follows[phase.id]:
                continue
            if isinstance(cut, JoinedAxis) and part[0][0] == part[0][1]:
                continue
            (start, stop), rows = part[flow.axes[value]], needed.rows.get(value, (0, 0))
            if value not in defined or (start < stop and not rows[0] <= start < stop <= rows[1]):
                yield f"phase #{phase.id} reads rows {start} to {stop} of %{value}, of which a tile has {rows[0]} to {rows[1]}"
        if phase.id in ending:
            continue
        defined.update(traverse.results(phase))
        for value, part in zip(traverse.results(phase), boxes_made(phase, types, cut, box), strict=True):
            if value in needed.rows and part[flow.axes[value]] != needed.rows[value]:
                yield f"phase #{phase.id} makes rows {part[flow.axes[value]]} of %{value}, and {needed.rows[value]} are wanted"
