"""The planner for one device: phases in the order of the graph, values freed after their last use.

What it decides: which phases are views of an operand (no buffer), which results may take the buffer of a dying operand,
when each buffer lives and where it lies, and so the peak.  Run-time sizes count at their caps.

Note [Taking a dying buffer].  A structured phase may write its result over an operand that dies in it when both have one
kind and shape, every read of that storage in the phase is at the point itself, the storage belongs to a value made in
this block, and no other value is a view of it.  The executor checks again that nobody else holds the array.

Note [Views].  A phase whose results are an operand under other indices makes no buffer; the operand's storage then lives as long
as the view.  A small part of a large value that dies is copied instead, so that the large one can go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from enum import Enum
from math import prod
from typing import Final

from ....lang.records import dataclass
from ...graph import traverse
from ...graph.bind import BoundGraph
from ...graph.phases import (
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
from ...kernels.units import GroupUnit, RowsUnit, Unit, may_write_over, shape_of, units_of
from ..facts.workspace import Numbers, first_gap, is_reordered, peak_of, rounded, rows_workspace, scratch_of
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
)
from ..plan.parts import Device, DeviceId, PlannedFile, PlannedPhase, PlannedRegion

HOME: Final = DeviceId("cpu0")
COPY_BELOW: Final = 2
"""A view that keeps more than this many times its own bytes alive is copied instead."""
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
    return describe(phase, graph, numbers.cap, device, scratch_within(phase, graph, numbers))


def step_of(phase: Phase, graph: Graph, device: Device, detail: Detail = Detail.FULL) -> Step:
    """The step that runs a whole phase on a device, for plans of several."""
    return _Planner(graph, device, Numbers(), detail).step(phase, None)[0]


def scratch_within(phase: Phase, graph: Graph, numbers: Numbers) -> int:
    """The bytes that a phase needs while it runs beside its operands and results, with its bodies as this planner has them."""
    return _Planner(graph, Device(HOME, "cpu"), numbers, Detail.STEPS).step(phase, None)[1]


@dataclass(slots=True)
class _Storage:
    """One buffer while its block is planned."""

    value: ValueId
    role: Role
    bytes: int
    first: int
    last: int
    reuses: ValueId | None = None
    aliases: list[ValueId] = field(default_factory=list)


@dataclass(slots=True)
class _Planner:
    graph: Graph
    device: Device
    numbers: Numbers
    detail: Detail
    scattered: set[ValueId] = field(default_factory=set)  # values that may not lie in rows
    bodies: dict[int, SubPlan] = field(default_factory=dict)
    most: int = 0
    """The place of the unit, of those planned last, that needs most memory."""

    def bytes(self, value: ValueId) -> int:
        type = self.graph.types[value]
        return prod(map(self.numbers.cap, type.shape)) * type.element.kind.bytes

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
        end = len(units)
        last: dict[ValueId, int] = {}
        for place, phase in enumerate(map(_shape, units)):
            for value in traverse.uses(phase):
                last[value] = place
            if isinstance(phase, Print | Output):
                last[phase.arg] = end  # the results of the run hold it
        printed = {p.arg for p in units if isinstance(p, Print | Output)}
        last.update(dict.fromkeys((*results, *keep, *printed), end))
        storages: dict[ValueId, _Storage] = {}
        root: dict[ValueId, ValueId] = {}
        for value in params:
            storages[value] = _Storage(value, Role.VALUE, self.bytes(value), 0, last.get(value, 0))
            root[value] = value
            if len(self.graph.types[value].shape) > 1:
                self.scattered.add(value)
        steps: list[Step] = []
        inner: list[int] = []
        kept = [0] * end
        for place, unit in enumerate(units):
            phase, overwrite = _shape(unit), None
            made = traverse.results(phase)
            is_phase = not isinstance(unit, RowsUnit | GroupUnit | PlannedUnit)
            source = self.view_of(phase, storages, root, last) if is_phase else None
            if is_phase and (is_view(phase) or is_reordered(phase, self.graph.types)):
                self.scattered.update(made)
            if source is not None:
                for value in made:
                    root[value] = root[source]
                    home = storages[root[source]]
                    home.aliases.append(value)
                    home.last = max(home.last, last.get(value, place))
            else:
                if not isinstance(unit, PlannedUnit) and may_write_over(unit):
                    overwrite = self.dying(phase, place, storages, root, last)
                for value in made:
                    role = (
                        Role.INPUT if isinstance(phase, Input) else Role.CONSTANT if isinstance(phase, Constant) else Role.VALUE
                    )
                    held = end if role is Role.INPUT else max(last.get(value, place), place)
                    storages[value] = _Storage(value, role, self.bytes(value), 0 if role is Role.INPUT else place, held)
                    root[value] = value
                if overwrite is not None:
                    storages[made[0]].reuses = overwrite
            match unit:
                case PlannedUnit():
                    step, needed = unit.step, unit.bytes
                case RowsUnit():
                    step, needed = self.rows(unit, overwrite)
                case GroupUnit():
                    step, needed = self.group(unit)
                case _:
                    step, needed = self.step(phase, overwrite)
            steps.append(step)
            inner.append(needed)
            if isinstance(phase, Print | Output) and self.is_input(phase.arg, storages, root):
                kept[place] = rounded(self.bytes(phase.arg))
            dead = self.dead(phase, place, last, root)
            if dead:
                steps.append(FreeStep(dead))
        peak, self.most = _peak(storages.values(), inner, kept, end)
        buffers = _place(storages, root, self.device.id) if self.detail is Detail.FULL else ()
        return SubPlan((Queue(self.device.id, QueueKind.COMPUTE, tuple(steps)),), buffers, ((self.device.id, peak),))

    def is_input(self, value: ValueId, storages: dict[ValueId, _Storage], root: dict[ValueId, ValueId]) -> bool:
        """Does a value lie in an input's buffer?  The caller owns that, so what leaves the run is a copy."""
        home = storages.get(root.get(value, value))
        return home is not None and home.role is Role.INPUT

    def dead(self, phase: Phase, place: int, last: dict[ValueId, int], root: dict[ValueId, ValueId]) -> tuple[ValueId, ...]:
        """The values of this block that no later phase needs."""
        if isinstance(phase, Print | Output):
            return ()
        mentioned = dict.fromkeys((*traverse.uses(phase), *traverse.results(phase)))
        return tuple(v for v in mentioned if v in root and last.get(v, place) <= place)

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
        return step, scratch_of(step, phase, self.graph.types, self.numbers, self.scattered)

    def rows(self, unit: RowsUnit, overwrite: ValueId | None) -> tuple[Step, int]:
        """The step of a chain, and what it needs beside operands and results."""
        phase = unit.joined.phase
        return RowsStep(unit.ids, traverse.results(phase), overwrite), rounded(rows_workspace(phase, self.numbers.cap))

    def group(self, unit: GroupUnit) -> tuple[Step, int]:
        """The step of a group of neighbours, and what its members one by one need beside operands and results."""
        results = unit.phase.results
        needed = peak_of(self.units(unit.members, (), results, ())) - sum(rounded(self.bytes(value)) for value in results)
        return RowsStep(unit.ids, results, None), needed

    def sub(self, graph: SubGraph) -> SubPlan:
        """Planned once, though blocks around it may be planned twice."""
        if id(graph) not in self.bodies:
            self.bodies[id(graph)] = self.block(graph.phases, graph.params, graph.results)
        return self.bodies[id(graph)]

    def view_of(self, phase: Phase, storages: dict[ValueId, _Storage], root: dict[ValueId, ValueId], last: dict[ValueId, int]
                ) -> ValueId | None:  # fmt: skip
        """The operand whose storage the only result of a phase shares.  See Note [Views]."""
        if not is_view(phase):
            return None
        assert isinstance(phase, Structured)
        source = phase.reads[0].value
        home = storages.get(root.get(source, source))
        if home is None:
            return None
        result = phase.results[0].value
        outlives = last.get(result, 0) > home.last
        if outlives and home.role is Role.VALUE and self.bytes(result) * COPY_BELOW < home.bytes:
            return None
        return source

    def dying(self, phase: Phase, place: int, storages: dict[ValueId, _Storage], root: dict[ValueId, ValueId],
              last: dict[ValueId, int]) -> ValueId | None:  # fmt: skip
        """An operand whose buffer the first result may take.  See Note [Taking a dying buffer]."""
        if not isinstance(phase, Structured) or any(r.reduction for r in phase.results):
            return None
        wanted = self.graph.types[phase.results[0].value]
        for read in phase.reads:
            value = read.value
            if last.get(value) != place or root.get(value) != value:
                continue
            storage, type = storages[value], self.graph.types[value]
            if storage.role is not Role.VALUE or storage.aliases or not type.shape:
                continue
            if type.element.kind is not wanted.element.kind or type.shape != wanted.shape:
                continue
            if all(not r.projection.stages for r in phase.reads if r.value == value):
                return value
        return None


def _shape(unit: Unit | PlannedUnit) -> Phase:
    return unit.phase if isinstance(unit, PlannedUnit) else shape_of(unit)


def needs_no_more(chained: SubPlan, apart: SubPlan) -> bool:
    """Does a plan with chains stay within the peak of one without?  (Formulas of memory know of no chains.)"""
    return peak_of(chained) <= peak_of(apart)


def is_view(phase: Phase) -> bool:
    """Is a phase one operand under other indices, which strides can say of any layout?"""
    if not isinstance(phase, Structured) or len(phase.results) != 1 or len(phase.reads) != 1:
        return False
    result = phase.results[0]
    if result.reduction is not None or not isinstance(phase.body[result.node], ReadNode):
        return False
    return all(isinstance(stage, Affine) and not stage.fills for stage in phase.reads[0].projection.stages)


# -------------------------------------------------------------------------------------------- memory


def _peak(storages: Iterable[_Storage], inner: Sequence[int], copied: Sequence[int], end: int) -> tuple[int, int]:
    """The most bytes alive at once, and where: buffers of a step's operands and results, what the step needs itself, and copies
    that the run's results keep."""
    change = [0] * (end + 2)
    for storage in storages:
        size = rounded(storage.bytes)
        first = storage.first + (1 if storage.reuses is not None else 0)  # until then the memory is the dying operand's
        change[min(first, end)] += size
        change[storage.last + 1] -= size
    live = peak = most = 0
    for place in range(end + 1):
        live += change[place] + (copied[place] if place < end else 0)
        needed = live + (inner[place] if place < end else 0)
        if needed > peak:
            peak, most = needed, place
    return peak, most


def _place(storages: dict[ValueId, _Storage], root: dict[ValueId, ValueId], device: DeviceId) -> tuple[Buffer, ...]:
    """Addresses by first fit in order of birth; aliases follow their storage."""
    placed: list[tuple[int, int, int]] = []  # offset, end of range, last step
    offsets: dict[ValueId, int] = {}
    buffers: list[Buffer] = []
    for storage in sorted(storages.values(), key=lambda s: (s.first, s.reuses is not None, s.value)):
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
