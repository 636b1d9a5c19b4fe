"""The planner for one device: phases in the order of the graph, values freed after their last use.

It decides which phases are views of an operand (no buffer), which results are written over a dying operand, the live range and
address of each buffer, and so the peak.  Run-time sizes count at their caps.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from enum import Enum
from functools import reduce
from typing import Final, Generic

from ...lang.support.records import dataclass, field
from ...typechecker.elements import ArrayType
from ...typechecker.sizes.polynomials import ZERO, Size, number
from ..graph import traverse
from ..graph.bind_sizes import BoundGraph
from ..graph.phases import (
    Affine,
    Branch,
    Constant,
    Fold,
    Graph,
    Input,
    Loop,
    Map,
    Output,
    Phase,
    PhaseId,
    Print,
    ReadNode,
    Structured,
    SubGraph,
    ValueId,
)
from ..graph.symbolic_costs import bytes_of, upper_bound_of
from ..lower.fusion_units import GroupUnit, RowsUnit, Unit, may_reuse_operand, shape_of, units_of
from .plan.plan import (
    ALIGNMENT,
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
    Amount,
    Amounts,
    Numbers,
    first_fit,
    is_reordered,
    peak_of,
    phase_scratch_bytes,
    rounded_to_alignment,
    rows_workspace,
    workspace_bound,
)

# ---------------------------------------------------------------------------------------------------- live ranges of buffers
#
# Liveness of a block, unit by unit: which results are views of an operand, which are written over a dying operand, the live range
# of each buffer, and the bytes in use at every unit.
#
# Over numbers it is the plan of one device; over formulas (`peak_bound`) it is an upper bound for all sizes: a result that may or
# may not be a view has a buffer of its own *and* extends its operand's, and only an operand that dies for every size is
# overwritten.
#
# Note [Taking a dying buffer].  A structured phase may write its result over an operand that dies in it when both have one kind
# and shape, every read of that storage in the phase is at the point itself, the storage belongs to a value defined in this block,
# and no other value is a view of it.  The executor checks again that no other reference to the array exists.
#
# Note [Views].  A phase whose result is an operand under other indices allocates no buffer; the operand's storage then lives as
# long as the view.  A small part of a large value that dies is copied instead, so that the large buffer can be freed.

COPY_BELOW: Final = 2
"""A view that keeps more than this many times its own bytes alive is copied instead."""


@dataclass(slots=True, eq=False)
class Storage(Generic[Amount]):
    """A buffer.  It lives at least to unit `certain_last` and at most to unit `last`; `reuses`: the operand that it is written
    over."""

    value: ValueId
    role: Role
    bytes: Amount
    first: int
    last: int
    certain_last: int
    reuses: ValueId | None = None
    aliases: list[ValueId] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class BlockLiveness(Generic[Amount]):
    """Liveness analysis of a block: its units as `phases`, with its `params` and the values `live_out` at its end.  `scattered`:
    values that may not be contiguous, which the analysis extends; `output_copies`: by unit, bytes of copies for the run's
    results; `given`: storages that earlier results of the run occupy; `moved`: inputs that the caller handed over, which die like
    other values."""

    graph: Graph
    amounts: Amounts[Amount]
    scattered: set[ValueId]
    phases: Sequence[Phase]
    params: Iterable[ValueId]
    live_out: Iterable[ValueId]
    storages: list[Storage[Amount]] = field(default_factory=list)
    storages_of: dict[ValueId, list[Storage[Amount]]] = field(default_factory=dict)
    output_copies: list[Amount] = field(default_factory=list)
    given: list[Storage[Amount]] = field(default_factory=list)
    moved: frozenset[str] = frozenset()
    last: dict[ValueId, int] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return len(self.phases)

    def __post_init__(self) -> None:
        leaving: list[ValueId] = []
        for index, phase in enumerate(self.phases):
            self.last.update(dict.fromkeys(traverse.uses(phase), index))
            if isinstance(phase, Print | Output):
                leaving.append(phase.arg)  # the run's result keeps the buffer alive
        self.last.update(dict.fromkeys((*self.live_out, *leaving), self.end))
        for value in self.params:
            self.add_storage(value, Role.VALUE, 0, self.last.get(value, 0))
            if len(self.graph.types[value].shape) > 1:
                self.scattered.add(value)

    def bytes(self, value: ValueId) -> Amount:
        return self.amounts.bytes(self.graph.types[value])

    def add_storage(self, value: ValueId, role: Role, first: int, until: int) -> Storage[Amount]:
        storage = Storage(value, role, self.bytes(value), first, until, until)
        self.storages.append(storage)
        self.storages_of.setdefault(value, []).append(storage)
        return storage

    def allocate_results(self, index: int, *, alone: bool = True, writes_over: bool = True) -> ValueId | None:
        """Add the storages of the results of unit `index`; returns the operand that its first result is written over.

        `alone`: the unit is a single phase; `writes_over`: it may overwrite an operand."""
        phase = self.phases[index]
        results = traverse.results(phase)
        source, certain = self.viewed_operand(phase) if alone else (None, False)
        if alone and (source is not None or is_view(phase, exact=self.amounts.exact) or is_reordered(phase, self.graph.types)):
            self.scattered.update(results)
        overwritten = self.overwritable_operand(phase, index) if source is None and writes_over else None
        for value in results:
            until = max(self.last.get(value, index), index)
            for home in [] if source is None else self.storages_of[source]:
                self.storages_of.setdefault(value, []).append(home)
                home.aliases.append(value)
                home.last = max(home.last, until)
                home.certain_last = max(home.certain_last, until) if certain else home.certain_last
            if isinstance(phase, Input) and phase.name not in self.moved:
                self.add_storage(value, Role.INPUT, 0, self.end)
            elif isinstance(phase, Input):
                self.add_storage(value, Role.VALUE, 0, until)
            elif not certain:
                self.add_storage(value, Role.CONSTANT if isinstance(phase, Constant) else Role.VALUE, index, until)
        if overwritten is not None:
            self.storages_of[results[0]][0].reuses = overwritten
        left = self.amounts.zero
        if isinstance(phase, Print | Output):
            homes = self.storages_of.get(phase.arg, [])
            if any(home.role is Role.INPUT or home in self.given for home in homes):  # the caller already holds that buffer
                left = self.amounts.rounded(self.bytes(phase.arg))
            self.given += homes
        self.output_copies.append(left)
        return overwritten

    def viewed_operand(self, phase: Phase) -> tuple[ValueId | None, bool]:
        """The operand whose storage the only result shares, and whether it does so for all sizes.  See Note [Views]."""
        if not is_view(phase, exact=self.amounts.exact):
            return None, False
        assert isinstance(phase, Structured)
        result, source = phase.results[0].value, phase.reads[0].value
        if source not in self.storages_of:
            return None, False
        first, *more = self.storages_of[source]
        certain = not more and is_view(phase) and (
            self.last.get(result, 0) <= first.certain_last
            or first.role is not Role.VALUE
            or self.amounts.never_less(self.bytes(result) * COPY_BELOW, first.bytes)
        )  # fmt: skip
        return (source if certain or not self.amounts.exact else None), certain

    def overwritable_operand(self, phase: Phase, index: int) -> ValueId | None:
        """The operand whose buffer the first result may be written over, if any.  See Note [Taking a dying buffer]."""
        if not isinstance(phase, Structured) or any(r.reduction for r in phase.results):
            return None
        wanted = self.graph.types[phase.results[0].value]
        for value in dict.fromkeys(read.value for read in phase.reads):
            type = self.graph.types[value]
            if not self.dies(value, index) or not type.shape:
                continue
            if type.element.kind is not wanted.element.kind or type.shape != wanted.shape:
                continue
            if all(not r.projection.stages for r in phase.reads if r.value == value):
                return value
        return None

    def dies(self, value: ValueId, index: int) -> bool:
        """Is `value` defined in this block with its own buffer, and read by no unit after `index`?"""
        storages = self.storages_of.get(value, [])
        if self.last.get(value) != index or len(storages) != 1:
            return False
        return storages[0].value == value and storages[0].role is Role.VALUE and not storages[0].aliases

    def dead_values(self, index: int) -> tuple[ValueId, ...]:
        """The values of this block that no later phase needs."""
        phase: Phase = self.phases[index]
        mentioned = () if isinstance(phase, Print | Output) else (*traverse.uses(phase), *traverse.results(phase))
        return tuple(v for v in dict.fromkeys(mentioned) if v in self.storages_of and self.last.get(v, index) <= index)

    def live_bytes(self, inner: Sequence[Amount]) -> list[Amount]:
        """Bytes in use at every unit: live buffers, the unit's `inner` bytes, and copies for the run's results."""
        change = [self.amounts.zero] * (self.end + 2)
        for storage in self.storages:
            size = self.amounts.rounded(storage.bytes)
            first = storage.first + (storage.reuses is not None)  # until then the dying operand accounts for the memory
            change[min(first, self.end)] += size
            change[storage.last + 1] -= size
        live = self.amounts.zero
        amounts: list[Amount] = []
        for index in range(self.end):
            live = live + change[index] + self.output_copies[index]
            amounts.append(live + inner[index])
        amounts.append(live + change[self.end])
        return amounts


def shared_buffers(phases: Iterable[Phase]) -> frozenset[ValueId]:
    """The values whose buffers several names may share: inputs and constants, views and their operands."""
    shared: set[ValueId] = set()
    for phase in phases:
        if isinstance(phase, Input | Constant):
            shared.add(phase.result)
        elif is_view(phase):
            shared.update((*traverse.operands(phase), *traverse.results(phase)))
    return frozenset(shared)


def is_view(phase: Phase, *, exact: bool = True) -> bool:
    """Is a phase a view of one operand, expressible by strides for any layout?  Not `exact`: for some sizes."""
    if not isinstance(phase, Structured) or len(phase.results) != 1 or len(phase.reads) != 1:
        return False
    result = phase.results[0]
    if result.reduction is not None or not isinstance(phase.body[result.node], ReadNode):
        return False
    return not exact or all(isinstance(stage, Affine) and not stage.fills for stage in phase.reads[0].projection.stages)


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
        return step, phase_scratch_bytes(
            phase, list(map(peak_of, sub_plans(step))), self.graph.types, self.numbers, self.scattered
        )

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


# ---------------------------------------------------------------------------------------------------- symbolic peak
#
# The symbolic peak: memory as a formula in the sizes, an upper bound of the planned peak for all sizes.
#
# It is the liveness analysis on polynomials instead of numbers, phase by phase.  Buffers whose size is not a number count 512
# bytes more for rounding.

class PeakFormulas:
    """Amounts of bytes as formulas in the sizes."""

    zero = ZERO
    exact = False

    def bytes(self, type: ArrayType) -> Size:
        return bytes_of(type)

    def number(self, size: Size) -> Size:
        return size

    def larger(self, a: Size, b: Size) -> Size:
        return upper_bound_of(a, b)

    def rounded(self, count: Size) -> Size:
        known = count.constant
        return count + ALIGNMENT if known is None else number(rounded_to_alignment(known))

    def never_less(self, a: Size, b: Size) -> bool:
        low = (a - b).bounds()[0]
        return low is not None and low >= 0

    def workspace(self, phase: Structured, scattered: Container[ValueId]) -> Size:
        return workspace_bound(phase, scattered)


def peak_bound(graph: Graph) -> Size:
    """An upper bound of the planned peak, as a formula in the sizes."""
    formulas, scattered = PeakFormulas(), set[ValueId]()

    def peak(phases: Sequence[Phase], params: Iterable[ValueId], results: Iterable[ValueId]) -> Size:
        block, inner = BlockLiveness(graph, formulas, scattered, phases, params, results), list[Size]()
        for index, phase in enumerate(phases):
            block.allocate_results(index)
            bodies = [peak(body.phases, body.params, body.results) for body in traverse.subgraphs(phase)]
            inner.append(phase_scratch_bytes(phase, bodies, graph.types, formulas, scattered))
        return reduce(upper_bound_of, block.live_bytes(inner), ZERO)

    return peak(graph.phases, (), graph.roots)
