"""Verifies a plan with passes against the graph, before anything runs.

It walks the steps in order and checks that the full values that each step reads are computed, that every phase has run by the
end, and for every pass that each tile has the rows that its phases read, that the tiles of each sink partition its points, that
tiles of ordered sums begin where subtrees do, and that the stated bytes to read are those of the tiles.  Boxes are derived again
from projections, phase by phase.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...graph import traverse
from ...graph.bind_sizes import BoundGraph
from ...graph.phases import Input, Phase, PhaseId, ValueId
from ..plan.plan import Access, BranchStep, CellsStep, ExecutionPlan, FreeStep, LoopStep, RunStep, StreamStep
from ..program_facts.partitioning import reads_of
from .pass_partitioning import partition_passes
from .stream_planning import Stored
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
    tiles_of,
)


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
    ends = {index: sink.size if one.backward else 0 for index, sink in enumerate(one.sinks)}
    reads, reached = 0, dict[PhaseId, int]()
    twice = step.shares[-1].first if step.shares and has_rounds(flow, one) else 0
    for number, tile in enumerate(tiles):
        needed = demand(flow, one, tile)
        yield from _tile(flow, one, needed)
        for phase_id, at in out_of_order(flow, one, needed, reached):
            yield f"a tile of phase #{phase_id}, whose items are taken in order, begins at {at}"
        for index, sink in enumerate(one.sinks):
            start, stop = part_of(sink, tile)
            if start < stop and (stop if one.backward else start) != ends[index]:
                yield f"a tile of phase #{sink.phase.id} goes from {start} to {stop}, and not on from {ends[index]}"
            ends[index] = min(ends[index], start) if one.backward else max(ends[index], stop)
        for phase in one.phases:
            if isinstance(phase, Input) and phase.result in needed.rows:
                start, stop = needed.rows[phase.result]
                length = flow.graph.types[phase.result].shape[0].constant or 1
                reads += stored[phase.name].bytes * (stop - start) // length * (1 + (number < twice))
    for index, sink in enumerate(one.sinks):
        if ends[index] != (0 if one.backward else sink.size):
            yield f"the tiles of phase #{sink.phase.id} end at {ends[index]} of {sink.size}"
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
