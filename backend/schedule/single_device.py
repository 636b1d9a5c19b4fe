"""The planner for one device: phases in the order of the graph, values freed after their last use.

It decides which phases are views of an operand (no buffer), which results are written over a dying operand, the live range and
address of each buffer, and so the peak.  Run-time sizes count at their caps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Final

from ...lang.support.records import dataclass, field
from ...typechecker.elements import ArrayType
from ..graph import traverse
from ..graph.bind_sizes import BoundGraph
from ..graph.phases import (
    Branch,
    Fold,
    Graph,
    Input,
    Loop,
    Map,
    Output,
    Phase,
    PhaseId,
    SubGraph,
    ValueId,
)
from ..lower.fusion_units import GroupUnit, RowsUnit, Unit, may_reuse_operand, shape_of, units_of
from .plan.plan import (
    BranchStep,
    Buffer,
    CellsStep,
    Device,
    DeviceId,
    ExecutionPlan,
    FreeStep,
    LoopStep,
    PlannedFile,
    PlannedPhase,
    PlannedRegion,
    Queue,
    Role,
    RowsStep,
    RunStep,
    Step,
    SubPlan,
    sub_plans,
)
from .problem import QueueKind
from .program_facts.scratch_memory import (
    BlockLiveness,
    Numbers,
    Storage,
    called_bytes,
    first_fit,
    peak_of,
    phase_scratch_bytes,
    rounded_to_alignment,
    rows_workspace,
    shared_buffers,
)

# ---------------------------------------------------------------------------------------------------- plan of one device

HOME: Final = DeviceId("cpu0")
_MAX_REPLANS: Final = 16
"""The most plans of a block, each with fewer chains and groups, before all phases run one by one."""


class Detail(Enum):
    """How much detail a plan has.  `STEPS`: what execution needs.  `FULL`: also phases in numbers, and addresses, for people and
    files."""

    STEPS = "steps"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class PlannedUnit:
    """A unit whose step was planned elsewhere (a pass of a stream): `phase` has its operands and results, `bytes` is the
    additional memory that it needs."""

    phase: Phase
    step: Step
    bytes: int


def plan_one_device(bound: BoundGraph, device: Device | None = None, program: tuple[PlannedFile, ...] = (),
                    detail: Detail = Detail.FULL, units: Sequence[Phase | PlannedUnit]
                    | None = None, moved: frozenset[str] = frozenset()) -> ExecutionPlan:  # fmt: skip
    """The plan of a bound graph on one device; `units`: planned instead of the graph's phases, in their order; inputs in `moved`
    may be overwritten at their last read."""
    device = device or Device(HOME, "cpu")
    numbers = Numbers()
    graph = bound.graph
    planner = _Planner(graph, device, numbers, detail, moved=moved)
    if units is None:
        main = planner.block(graph.phases, (), (), keep=graph.roots)
    else:
        main = planner.units(units, (), (), tuple(graph.roots))
    full, regions = detail is Detail.FULL, tuple[PlannedRegion, ...]()
    if full:
        from .program_facts.partitioning import regions_of  # imported here, since most runs have no loops

        regions = regions_of(graph)
    phases = tuple(describe_phase(p, graph, numbers, device.id) for p in traverse.all_phases(graph)) if full else ()
    return ExecutionPlan(
        program,
        tuple(sorted((v.name, n) for v, n in bound.sizes.items())),
        (device,),
        device.id,
        phases,
        main,
        tuple((p.name, p.result) for p in graph.phases if isinstance(p, Input)),
        tuple((p.name, p.arg) for p in graph.phases if isinstance(p, Output)),
        regions=regions,
    )


def describe_phase(phase: Phase, graph: Graph, numbers: Numbers, device: DeviceId) -> PlannedPhase:
    """The description of a phase, with the bytes that its step needs."""
    from .plan.plan_text import describe

    return describe(phase, graph, numbers.cap, device, working_bytes(phase, graph, numbers))


def step_of(phase: Phase, graph: Graph, device: Device, detail: Detail = Detail.FULL) -> Step:
    """The step that runs an undivided phase on a device, for plans of several devices."""
    return _Planner(graph, device, Numbers(), detail).step(phase, None)[0]


def member_steps(members: Sequence[Phase], results: Sequence[ValueId], dying: Sequence[ValueId],
                types: Mapping[ValueId, ArrayType]) -> tuple[Step, ...]:  # fmt: skip
    """The steps that run a neighbour group member by member; `dying`: operands that nothing reads afterwards."""
    planner = _Planner(Graph((), dict(types), {}, (), (), ()), Device(HOME, "cpu"), Numbers(), Detail.STEPS)
    (queue,) = planner.units(members, dying, results, ()).queues
    return queue.steps


def working_bytes(phase: Phase, graph: Graph, numbers: Numbers) -> int:
    """The bytes that a phase needs while it runs in addition to operands and results; its bodies are planned here."""
    return _Planner(graph, Device(HOME, "cpu"), numbers, Detail.STEPS).step(phase, None)[1]


@dataclass(slots=True)
class _Planner:
    graph: Graph
    device: Device
    numbers: Numbers
    detail: Detail
    scattered: set[ValueId] = field(default_factory=set)  # values that may not be contiguous
    bodies: dict[int, SubPlan] = field(default_factory=dict)
    shared: frozenset[ValueId] | None = None
    moved: frozenset[str] = frozenset()
    peak_index: int = 0
    """The unit at the peak of the last planned block."""

    def block(self, phases: Sequence[Phase], params: Sequence[ValueId], results: Sequence[ValueId],
              keep: Iterable[ValueId] = ()) -> SubPlan:  # fmt: skip
        """Steps and buffers of a block; values in `results` and `keep` live to its end.

        Chains along rows and neighbour groups are one step each, unless they need more memory than their members one by one: then
        the units at the peak are split."""
        keep = tuple(keep)
        if self.device.backend != "cpu":
            return self.units(phases, params, results, keep)
        split: frozenset[PhaseId] = frozenset()
        apart: SubPlan | None = None
        for _ in range(_MAX_REPLANS):
            units = units_of(phases, self.graph, (*results, *keep), split)
            several = {index: unit.ids[-1] for index, unit in enumerate(units) if isinstance(unit, RowsUnit | GroupUnit)}
            plan = self.units(units, params, results, keep)
            if not several:
                return plan
            most = self.peak_index
            apart = apart or self.units(phases, params, results, keep)
            if stays_within_peak(plan, apart):
                return plan
            split |= {several[min(several, key=lambda index: abs(index - most))]}
        assert apart is not None, "the first round makes it"
        return apart

    def units(self, units: Sequence[Unit | PlannedUnit], params: Sequence[ValueId], results: Sequence[ValueId], keep:
    Sequence[ValueId] ) -> SubPlan:  # fmt: skip
        phases = list(map(_as_phase, units))
        block = BlockLiveness(
            self.graph, self.numbers, self.scattered, phases, params, (*results, *keep), moved=self.moved
        )  # fmt: skip
        steps: list[Step] = []
        inner: list[int] = []
        for index, unit in enumerate(units):
            writes_over = not isinstance(unit, PlannedUnit) and may_reuse_operand(unit)
            alone = not isinstance(unit, RowsUnit | GroupUnit | PlannedUnit)
            overwrite = block.allocate_results(index, alone=alone, writes_over=writes_over)
            match unit:
                case PlannedUnit():
                    step, needed = unit.step, unit.bytes
                case RowsUnit():
                    step, needed = self.rows(unit, overwrite)
                case GroupUnit():
                    step, needed = self.group(
                        unit, [value for value in self.exclusively_owned(unit.phase) if block.dies(value, index)]
                    )
                case _:
                    step, needed = self.step(unit, overwrite)
            steps.append(step)
            inner.append(needed)
            if dead := block.dead_values(index):
                steps.append(FreeStep(dead))
        in_use = block.live_bytes(inner)
        peak = max(in_use)
        self.peak_index = in_use.index(peak)
        buffers = _assign_addresses(block.storages, self.device.id) if self.detail is Detail.FULL else ()
        return SubPlan((Queue(self.device.id, QueueKind.COMPUTE, tuple(steps)),), buffers, ((self.device.id, peak),))

    def step(self, phase: Phase, overwrite: ValueId | None) -> tuple[Step, int]:
        """The step of a phase, and its bytes in addition to operands and results."""
        match phase:
            case Loop():
                body = self.sub_plan(phase.body)
                until = None if phase.until is None else self.sub_plan(phase.until)
                step: Step = LoopStep(phase.id, body, until)
            case Branch():
                step = BranchStep(phase.id, self.sub_plan(phase.then), self.sub_plan(phase.otherwise))
            case Map() | Fold():
                step = CellsStep(phase.id, self.sub_plan(phase.body))
            case _:
                step = RunStep(phase.id, overwrite)
        bodies = [*map(peak_of, sub_plans(step)), *called_bytes(phase, self.graph.types, self.numbers)]
        return step, phase_scratch_bytes(phase, bodies, self.graph.types, self.numbers, self.scattered)

    def rows(self, unit: RowsUnit, overwrite: ValueId | None) -> tuple[Step, int]:
        """The step of a chain, and its bytes in addition to operands and results."""
        phase = unit.joined.phase
        needed = rows_workspace(phase, self.numbers.cap, self.scattered)
        return RowsStep(unit.ids, traverse.results(phase), overwrite), rounded_to_alignment(needed)

    def group(self, unit: GroupUnit, dying: Sequence[ValueId]) -> tuple[Step, int]:
        """The step of a neighbour group, and the bytes that its members need one by one, in addition to operands and results (the
        group's kernel needs no more).  `dying`: operands that they may overwrite."""
        results = unit.phase.results
        already_counted = sum(rounded_to_alignment(self.numbers.bytes(self.graph.types[value])) for value in (*results, *dying))
        needed = peak_of(self.units(unit.members, dying, results, ())) - already_counted
        least = max(self.step(member, None)[1] for member in unit.members)
        return RowsStep(unit.ids, results, None), max(needed, least)

    def exclusively_owned(self, group: Map) -> Sequence[ValueId]:
        """The operands of a group whose buffers no other value shares."""
        if self.shared is None:
            self.shared = shared_buffers(traverse.all_phases(self.graph))
        return [value for value in traverse.uses(group) if value not in self.shared]

    def sub_plan(self, graph: SubGraph) -> SubPlan:
        """The plan of a sub-graph, cached because blocks around it may be planned twice."""
        if id(graph) not in self.bodies:
            self.bodies[id(graph)] = self.block(graph.phases, graph.params, graph.results)
        return self.bodies[id(graph)]


def _as_phase(unit: Unit | PlannedUnit) -> Phase:
    return unit.phase if isinstance(unit, PlannedUnit) else shape_of(unit)


def stays_within_peak(chained: SubPlan, apart: SubPlan) -> bool:
    """Does a plan with chains stay within the peak of one without?  Memory formulas do not model chains."""
    return peak_of(chained) <= peak_of(apart)


def _assign_addresses(storages: Iterable[Storage[int]], device: DeviceId) -> tuple[Buffer, ...]:
    """Addresses by first fit in order of allocation; aliases follow their storage."""
    placed: list[tuple[int, int, int]] = []  # offset, end of range, last step
    offsets: dict[ValueId, int] = {}
    buffers: list[Buffer] = []
    for storage in sorted(storages, key=lambda s: (s.first, s.reuses is not None, s.value)):
        size = rounded_to_alignment(storage.bytes)
        if storage.reuses is not None:
            offset = offsets[storage.reuses]
        else:
            active = sorted((start, stop) for start, stop, until in placed if until >= storage.first)
            offset = first_fit(active, size)
        placed = [p for p in placed if p[2] >= storage.first]
        placed.append((offset, offset + size, storage.last))
        offsets[storage.value] = offset
        buffers.append(
            Buffer(storage.value, device, storage.role, storage.bytes, offset, storage.first, storage.last, None, storage.reuses)
        )
        for value in storage.aliases:
            buffers.append(Buffer(value, device, Role.ALIAS, 0, offset, storage.first, storage.last, storage.value))
    return tuple(buffers)
