"""The planner for one device: phases in the order of the graph, values freed after their last use.

What it decides: which phases are views of an operand (no buffer), which results may take the buffer of a dying operand,
when each buffer lives (`storages`) and where it lies, and so the peak.  Run-time sizes count at their caps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Final

from ....lang.records import dataclass
from ....typechecker.types import ArrayType
from ...graph import traverse
from ...graph.bind import BoundGraph
from ...graph.phases import (
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
from ...kernels.units import GroupUnit, RowsUnit, Unit, may_write_over, shape_of, units_of
from ..facts.workspace import Numbers, first_gap, peak_of, rounded, rows_workspace, scratch_within
from ..plan.describe import describe
from ..plan.model import (
    BranchStep,
    Buffer,
    CellsStep,
    FreeStep,
    LoopStep,
    Plan,
    Queue,
    QueueKind,
    Role,
    RowsStep,
    RunStep,
    Step,
    SubPlan,
    inside,
)
from ..plan.parts import Device, DeviceId, PlannedFile, PlannedPhase, PlannedRegion
from .storages import Block, Storage, shared_buffers

HOME: Final = DeviceId("cpu0")
_MOST_SPLIT: Final = 16
"""Plans of a block with fewer and fewer chains and groups, before all are done phase by phase."""


class Detail(Enum):
    """`STEPS`: what execution needs.  `FULL`: also phases in numbers and addresses, for people and files."""

    STEPS = "steps"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class PlannedUnit:
    """A unit whose step was planned elsewhere (a pass of a stream): `phase` says what it reads and makes as a whole, `bytes`
    what it needs beside."""

    phase: Phase
    step: Step
    bytes: int


def plan_one_device(bound: BoundGraph, device: Device | None = None, program: tuple[PlannedFile, ...] = (),
                    detail: Detail = Detail.FULL, units: Sequence[Phase | PlannedUnit] | None = None) -> Plan:  # fmt: skip
    """The plan of a bound graph on one device; `units` in place of its phases, in their order."""
    device = device or Device(HOME, "cpu")
    numbers = Numbers()
    graph = bound.graph
    planner = _Planner(graph, device, numbers, detail)
    if units is None:
        main = planner.block(graph.phases, (), (), keep=graph.roots)
    else:
        main = planner.units(units, (), (), tuple(graph.roots))
    full, regions = detail is Detail.FULL, tuple[PlannedRegion, ...]()
    if full:
        from ..facts.regions import regions_of  # loops, which a run may not need

        regions = regions_of(graph)
    phases = tuple(described(p, graph, numbers, device.id) for p in traverse.all_phases(graph)) if full else ()
    return Plan(
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


def described(phase: Phase, graph: Graph, numbers: Numbers, device: DeviceId) -> PlannedPhase:
    """A phase in numbers and words, with what its step needs."""
    return describe(phase, graph, numbers.cap, device, needed_within(phase, graph, numbers))


def step_of(phase: Phase, graph: Graph, device: Device, detail: Detail = Detail.FULL) -> Step:
    """The step that runs a whole phase on a device, for plans of several."""
    return _Planner(graph, device, Numbers(), detail).step(phase, None)[0]


def steps_apart(members: Sequence[Phase], results: Sequence[ValueId], dying: Sequence[ValueId],
                types: Mapping[ValueId, ArrayType]) -> tuple[Step, ...]:  # fmt: skip
    """How a group of neighbours is run member by member; `dying`: operands that nothing needs afterwards."""
    planner = _Planner(Graph((), dict(types), {}, (), (), ()), Device(HOME, "cpu"), Numbers(), Detail.STEPS)
    (queue,) = planner.units(members, dying, results, ()).queues
    return queue.steps


def needed_within(phase: Phase, graph: Graph, numbers: Numbers) -> int:
    """The bytes that a phase needs while it runs beside its operands and results, with its bodies as this planner has them."""
    return _Planner(graph, Device(HOME, "cpu"), numbers, Detail.STEPS).step(phase, None)[1]


@dataclass(slots=True)
class _Planner:
    graph: Graph
    device: Device
    numbers: Numbers
    detail: Detail
    scattered: set[ValueId] = field(default_factory=set)  # values that may not lie in rows
    bodies: dict[int, SubPlan] = field(default_factory=dict)
    shared: frozenset[ValueId] | None = None
    most: int = 0
    """The place of the unit, of those planned last, that needs most memory."""

    def block(self, phases: Sequence[Phase], params: Sequence[ValueId], results: Sequence[ValueId],
              keep: Iterable[ValueId] = ()) -> SubPlan:  # fmt: skip
        """Steps and buffers of a block; values in `results` and `keep` live to its end.

        Chains along rows and groups of neighbours are one step each, unless that would need more memory than their members one by
        one: then those about the step that needs most are done one by one."""
        keep = tuple(keep)
        if self.device.backend != "cpu":
            return self.units(phases, params, results, keep)
        split: frozenset[PhaseId] = frozenset()
        apart: SubPlan | None = None
        for _ in range(_MOST_SPLIT):
            units = units_of(phases, self.graph, (*results, *keep), split)
            several = {place: unit.ids[-1] for place, unit in enumerate(units) if isinstance(unit, RowsUnit | GroupUnit)}
            made = self.units(units, params, results, keep)
            if not several:
                return made
            most = self.most
            apart = apart or self.units(phases, params, results, keep)
            if needs_no_more(made, apart):
                return made
            split |= {several[min(several, key=lambda place: abs(place - most))]}
        assert apart is not None, "the first round makes it"
        return apart

    def units(self, units: Sequence[Unit | PlannedUnit], params: Sequence[ValueId], results: Sequence[ValueId], keep:
    Sequence[ValueId] ) -> SubPlan:  # fmt: skip
        block = Block(self.graph, self.numbers, self.scattered, list(map(_shape, units)), params, (*results, *keep))
        steps: list[Step] = []
        inner: list[int] = []
        for place, unit in enumerate(units):
            writes_over = not isinstance(unit, PlannedUnit) and may_write_over(unit)
            alone = not isinstance(unit, RowsUnit | GroupUnit | PlannedUnit)
            overwrite = block.enter(place, alone=alone, writes_over=writes_over)
            match unit:
                case PlannedUnit():
                    step, needed = unit.step, unit.bytes
                case RowsUnit():
                    step, needed = self.rows(unit, overwrite)
                case GroupUnit():
                    step, needed = self.group(unit, [value for value in self.alone(unit.phase) if block.goes(value, place)])
                case _:
                    step, needed = self.step(unit, overwrite)
            steps.append(step)
            inner.append(needed)
            if dead := block.dead(place):
                steps.append(FreeStep(dead))
        in_use = block.in_use(inner)
        peak = max(in_use)
        self.most = in_use.index(peak)
        buffers = _place(block.storages, self.device.id) if self.detail is Detail.FULL else ()
        return SubPlan((Queue(self.device.id, QueueKind.COMPUTE, tuple(steps)),), buffers, ((self.device.id, peak),))

    def step(self, phase: Phase, overwrite: ValueId | None) -> tuple[Step, int]:
        """The step of a phase, and the bytes it needs beside operands and results."""
        match phase:
            case Loop():
                body = self.sub(phase.body)
                until = None if phase.until is None else self.sub(phase.until)
                step: Step = LoopStep(phase.id, body, until)
            case Branch():
                step = BranchStep(phase.id, self.sub(phase.then), self.sub(phase.otherwise))
            case Map() | Fold():
                step = CellsStep(phase.id, self.sub(phase.body))
            case _:
                step = RunStep(phase.id, overwrite)
        return step, scratch_within(phase, list(map(peak_of, inside(step))), self.graph.types, self.numbers, self.scattered)

    def rows(self, unit: RowsUnit, overwrite: ValueId | None) -> tuple[Step, int]:
        """The step of a chain, and what it needs beside operands and results."""
        phase = unit.joined.phase
        needed = rows_workspace(phase, self.numbers.cap, self.scattered)
        return RowsStep(unit.ids, traverse.results(phase), overwrite), rounded(needed)

    def group(self, unit: GroupUnit, dying: Sequence[ValueId]) -> tuple[Step, int]:
        """The step of a group of neighbours, and what its members one by one need beside operands and results.  `dying`: operands
        that they may write over.  As one kernel they need no more than a member does by itself."""
        results = unit.phase.results
        beside = sum(rounded(self.numbers.bytes(self.graph.types[value])) for value in (*results, *dying))
        needed = peak_of(self.units(unit.members, dying, results, ())) - beside
        least = max(self.step(member, None)[1] for member in unit.members)
        return RowsStep(unit.ids, results, None), max(needed, least)

    def alone(self, group: Map) -> Sequence[ValueId]:
        """The operands of a group whose buffers nothing else has."""
        if self.shared is None:
            self.shared = shared_buffers(traverse.all_phases(self.graph))
        return [value for value in traverse.uses(group) if value not in self.shared]

    def sub(self, graph: SubGraph) -> SubPlan:
        """Planned once, though blocks around it may be planned twice."""
        if id(graph) not in self.bodies:
            self.bodies[id(graph)] = self.block(graph.phases, graph.params, graph.results)
        return self.bodies[id(graph)]


def _shape(unit: Unit | PlannedUnit) -> Phase:
    return unit.phase if isinstance(unit, PlannedUnit) else shape_of(unit)


def needs_no_more(chained: SubPlan, apart: SubPlan) -> bool:
    """Does a plan with chains stay within the peak of one without?  (Formulas of memory know of no chains.)"""
    return peak_of(chained) <= peak_of(apart)


def _place(storages: Iterable[Storage[int]], device: DeviceId) -> tuple[Buffer, ...]:
    """Addresses by first fit in order of birth; aliases follow their storage."""
    placed: list[tuple[int, int, int]] = []  # offset, end of range, last step
    offsets: dict[ValueId, int] = {}
    buffers: list[Buffer] = []
    for storage in sorted(storages, key=lambda s: (s.first, s.reuses is not None, s.value)):
        size = rounded(storage.bytes)
        if storage.reuses is not None:
            offset = offsets[storage.reuses]
        else:
            active = sorted((start, stop) for start, stop, until in placed if until >= storage.first)
            offset = first_gap(active, size)
        placed = [p for p in placed if p[2] >= storage.first]
        placed.append((offset, offset + size, storage.last))
        offsets[storage.value] = offset
        buffers.append(
            Buffer(storage.value, device, storage.role, storage.bytes, offset, storage.first, storage.last, None, storage.reuses)
        )
        for value in storage.aliases:
            buffers.append(Buffer(value, device, Role.ALIAS, 0, offset, storage.first, storage.last, storage.value))
    return tuple(buffers)
