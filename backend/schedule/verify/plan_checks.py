"""Verifies the plan of a program before it runs.

It shares with the planners the boxes of phases, sizes, scratch memory and shared loops (`program_facts`), chains of rows, and the
iterations of loops (`graph.partial_graphs`); an error there may be repeated here.  The graph is the one that runs.  The rules:

* V1 every phase runs exactly once, on a device of the plan, in a step of its kind;
* V2 queues and fences have no cycle;
* V3 the boxes of a phase tile it;
* V4 the operands of every step are on its device, produced or brought there before, and fences guarantee it;
* V5 no device holds more than its memory, nor more than the plan states;
* V6 transfers use links of the plan, and their bytes are those of their box;
* V7 every wait is needed;
* V8 printing happens at home, and saving at home or in a store, in the order of the program;
* V9 ticks add up, and no queue continues before what it waits for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import prod

from ....lang.support.records import dataclass, field, replace
from ...graph import traverse
from ...graph.bind_sizes import BoundGraph
from ...graph.partial_graphs import LoopIteration, in_form
from ...graph.phases import (
    Branch,
    Constant,
    Fold,
    Input,
    LibraryPhase,
    Loop,
    Map,
    Output,
    Phase,
    PhaseId,
    Print,
    Structured,
    ValueId,
)
from ...graph.symbolic_costs import reduced_axes
from ...lower.fusion_units import GroupUnit, RowsUnit, may_reuse_operand, units_of
from ..plan.plan import (
    BranchStep,
    CellsStep,
    CombineStep,
    DeviceId,
    ExecutionPlan,
    FenceStep,
    FreeStep,
    JoinStep,
    LoopStep,
    RowsStep,
    RunStep,
    Step,
    StreamStep,
    SubPlan,
    TransferStep,
    WaitStep,
    box_text,
    phases_of,
)
from ..problem import QueueKind
from ..program_facts.partitioning import (
    SharedLoop,
    full_box,
    is_cut_in_sums,
    is_shared,
    iteration_ticks,
    operand_boxes,
    reads_of,
    result_boxes,
    shape_of,
    shared_loops,
    space_of,
    stores_of,
)
from ..program_facts.scratch_memory import Numbers, rounded_to_alignment, step_scratch_bytes
from .judge import (
    Box,
    Coverage,
    Execution,
    Leaving,
    ReadFault,
    ResidentPiece,
    Rule,
    Task,
    TaskRead,
    Violation,
    blocking_waits,
    collisions,
    is_tiled,
    peaks,
    redundant_waits,
    unordered_tasks,
    unresident_reads,
    volume,
)

# ---------------------------------------------------------------------------------------------------- coverage
#
# V1, V3 and V8 of a plan, or of an iteration in it: every phase runs once, in a step of its kind, in boxes that tile it.

PhaseStep = RunStep | LoopStep | JoinStep | BranchStep | CellsStep


def check_phase_coverage(
    plan: ExecutionPlan, main: SubPlan, bound: BoundGraph, shared: Mapping[PhaseId, SharedLoop]
) -> list[Violation]:
    """Violations of V1, V3 and V8; if there are any, the plan is not checked further."""
    graph, devices = bound.graph, {device.id for device in plan.devices}
    phases = {phase.id: phase for phase in graph.phases}
    runs: dict[PhaseId, list[PhaseStep | RowsStep]] = defaultdict(list)
    combines: dict[PhaseId, int] = defaultdict(int)
    effects: list[PhaseId] = []
    saved: list[PhaseId] = []
    violations: list[Violation] = []

    def wrong(code: Rule, message: str) -> None:
        violations.append(Violation(code, message))

    if plan.home not in devices:
        wrong(Rule.V1, f"{plan.home} is home, and no device of the plan")
    for queue in main.queues:
        for step in queue.steps:
            if isinstance(step, StreamStep):
                wrong(Rule.V1, "a pass over stored inputs is planned for one run: no plan that is kept has one")
            elif any(named not in phases for named in phases_of(step)):
                wrong(Rule.V1, f"phase #{phases_of(step)[0]} is not in the program")
                continue
            elif isinstance(step, JoinStep) and step.phase not in shared:
                wrong(Rule.V1, f"{queue.device} joins phase #{step.phase}, which queues do not run together")
            elif isinstance(step, JoinStep) and step.rows is None:
                pass  # a channel's join: `_check_shared_loop` checks it
            elif phases_of(step) and (queue.device not in devices or queue.kind is not QueueKind.COMPUTE):
                wrong(Rule.V1, f"phase #{phases_of(step)[0]} runs on {queue.device}, which is not a device of the plan")
            if isinstance(step, CombineStep):
                combines[step.phase] += 1
                if queue.device != plan.home:
                    wrong(Rule.V1, f"phase #{step.phase} is combined on {queue.device}, not at home")
            elif isinstance(step, RowsStep):
                for named in step.phases:
                    runs[named].append(step)
            elif isinstance(step, RunStep | LoopStep | JoinStep | BranchStep | CellsStep):
                runs[step.phase].append(step)
                if isinstance(phases[step.phase], Print | Output):
                    saves = isinstance(phases[step.phase], Output) and queue.device in stores_of(plan)
                    (saved if saves else effects).append(step.phase)
                    if queue.device != plan.home and not saves:
                        wrong(Rule.V8, f"phase #{step.phase} prints on {queue.device}, not at home")
    for phase in graph.phases:
        violations += _check_phase(phase, runs[phase.id], combines[phase.id], bound, shared)
    for loop in shared.values():
        violations += _check_shared_loop(plan, loop)
    order = [phase.id for phase in graph.phases if isinstance(phase, Print | Output) and phase.id not in saved]
    if not violations and effects != order:
        wrong(Rule.V8, "what prints is not in the order of the program")
    return violations


def _check_phase(
    phase: Phase, runs: Sequence[PhaseStep | RowsStep], combines: int, bound: BoundGraph, shared: Mapping[PhaseId, SharedLoop]
) -> Iterator[Violation]:  # fmt: skip
    boxes = [step.box for step in runs if isinstance(step, RunStep) and step.box is not None]
    space = space_of(phase, bound.graph.types)
    if not runs:
        yield Violation(Rule.V1, f"phase #{phase.id} does not run")
    elif any(is_shared(step) for step in runs):
        if phase.id not in shared or not all(is_shared(step) for step in runs):
            yield Violation(Rule.V1, f"phase #{phase.id} is not one loop that queues run together")
    elif not all(_is_step_of_kind(step, phase) for step in runs):
        yield Violation(Rule.V1, f"phase #{phase.id} runs in a step of another kind")
    elif not boxes and len(runs) > 1:
        yield Violation(Rule.V1, f"phase #{phase.id} runs {len(runs)} times")
    elif boxes and len(boxes) != len(runs):
        yield Violation(Rule.V1, f"phase #{phase.id} runs whole and in boxes")
    elif boxes and (space is None or not is_tiled(full_box(space), boxes)):
        yield Violation(Rule.V3, f"the boxes of phase #{phase.id} do not tile it")
    elif combines != is_cut_in_sums(phase, bound.graph.types, boxes) and not (combines == 1 and boxes and _reduces(phase, bound)):
        yield Violation(Rule.V1, f"phase #{phase.id} is combined {combines} times")


def _is_step_of_kind(step: PhaseStep | RowsStep, phase: Phase) -> bool:
    match step:
        case RowsStep():
            return isinstance(phase, Structured | LibraryPhase | Constant)
        case RunStep():
            if step.box is not None:
                return isinstance(phase, Structured | LibraryPhase | Loop)  # a distributed loop counts as one phase
            return not isinstance(phase, Loop | Branch | Map | Fold)
        case LoopStep() | JoinStep():
            return isinstance(phase, Loop)
        case BranchStep():
            return isinstance(phase, Branch)
        case CellsStep():
            return isinstance(phase, Map | Fold)


def _reduces(phase: Phase, bound: BoundGraph) -> bool:
    if isinstance(phase, LibraryPhase):
        return bool(reduced_axes(phase, bound.graph.types))
    return isinstance(phase, Structured) and any(r.reduction is not None for r in phase.results)


def _check_shared_loop(plan: ExecutionPlan, loop: SharedLoop) -> Iterator[Violation]:
    """Faults of the queues that take part in a distributed loop: their rows and their ticks."""
    step, parts, queues, iteration = loop.step, loop.parts, plan.main.queues, loop.iteration
    name = f"loop #{step.phase}"
    plans = [step.body, *(() if step.leave is None else (step.leave,))]
    inside = {(queue.device, queue.kind) for one in plans for queue in one.queues}
    joined = [(queues[which].device, queues[which].kind) for which, _ in parts]
    if set(joined) != inside or len(set(joined)) != len(joined):
        odd = ", ".join(sorted(device for device, _ in set(joined) ^ inside)) or "one of them twice"
        yield Violation(Rule.V1, f"the queues of {name} and those that run it differ: {odd}")
    if any((one.rows is None) != (queues[which].kind is QueueKind.COPY) for which, one in parts):
        yield Violation(Rule.V1, f"{name} has rows on a channel, or none on a device")
    rows = sorted(one.rows for _, one in parts if one.rows is not None)
    cut = [(index, axis) for index, axis in enumerate(iteration.axes) if axis is not None]
    sizes = {iteration.bound.graph.types[iteration.next[index]].shape[axis].constant for index, axis in cut}
    if not rows or rows[0][0] or any(a[1] != b[0] for a, b in pairwise(rows)) or any(a >= b for a, b in rows):
        yield Violation(Rule.V3, f"the rows of {name} do not follow each other")
    elif sizes and sizes != {rows[-1][1]}:
        yield Violation(Rule.V3, f"the rows of {name} are not those of its states")
    if (loop.epilogue is None) != (step.leave is None) or step.until is not None:
        yield Violation(Rule.V1, f"{name} leaves its states elsewhere than it says")
    if len({(one.start, one.end) for _, one in parts}) > 1:
        yield Violation(Rule.V9, f"{name} does not start and end everywhere at the same ticks")
    last = 0 if step.leave is None else iteration_ticks(step.leave)
    ticks = max(1, step.making + (iteration.loop.trip.constant or 0) * iteration_ticks(step.body) + last)
    if step.end - step.start != ticks:
        yield Violation(Rule.V9, f"{name} takes {step.end - step.start} ticks, its iterations {ticks}")


# ---------------------------------------------------------------------------------------------------- execution of a plan
#
# A plan of a program as an execution: values on devices, boxes of their axes, frees as they are stated.
#
# A distributed loop is unrolled: its first two iterations, of which the second reads the states where the first left them (one,
# if the loop has no second), and its epilogue; all its queues meet at a barrier before and after each.  Values of an iteration
# are distinct values.  In the execution of the whole plan an iteration takes no memory and no devices: it is judged for these in
# an execution of its own.

ComputeStep = RunStep | LoopStep | BranchStep | CellsStep
ITERATIONS = ("an iteration of", "the next iteration of")
"""The unrolled iterations, as messages call them."""
UNKNOWN: Box = ((0, 1),)
"""The box of a value with run-time sizes."""


@dataclass(frozen=True, slots=True)
class CheckedScope:
    """The graph of the steps that are translated.  `iteration`: (loop, number) inside a distributed loop, where `iteration_label`
    names it in messages, ticks count from `tick_offset`, and entries read `previous_values`, those of the iteration before.
    `counts_resources`: do the tasks take memory and devices in this execution?"""

    bound: BoundGraph
    counts_resources: bool = True
    iteration: tuple[PhaseId, int] | None = None
    iteration_label: str = ""
    tick_offset: int = 0
    previous_values: tuple[ValueId, ...] = ()
    phases: Mapping[PhaseId, Phase] = field(default_factory=dict)
    producers: Mapping[ValueId, Phase] = field(default_factory=dict)

    @staticmethod
    def of(bound: BoundGraph, counts: bool = True, **more: object) -> CheckedScope:
        phases = {phase.id: phase for phase in bound.graph.phases}
        makers = {value: phase for phase in bound.graph.phases for value in traverse.results(phase)}
        return CheckedScope(bound, counts, phases=phases, producers=makers, **more)  # type: ignore[arg-type]

    def name(self, value: ValueId) -> Hashable:
        """The name of a value in the execution."""
        if self.iteration is None or (value not in self.producers and value not in self.previous_values):
            return value
        loop, number = self.iteration
        return (loop, number if value in self.producers else number - 1, value)

    def read(self, phase: Phase, index: int, value: ValueId) -> Hashable:
        """The name of the value that a phase reads: an entry of an iteration reads the state that the one before has left."""
        if self.iteration is not None and self.previous_values and phase in self.bound.graph.phases[: len(self.previous_values)]:
            loop, number = self.iteration
            return (loop, number - 1, self.previous_values[self.bound.graph.phases.index(phase)])
        return self.name(value)

    @property
    def prefix(self) -> str:
        return "" if self.iteration is None else f"{self.iteration_label} loop #{self.iteration[0]}: "


class PlanTranslation:
    def __init__(self, plan: ExecutionPlan, main: SubPlan, bound: BoundGraph, shared: Mapping[PhaseId, SharedLoop]) -> None:
        self.plan, self.shared = plan, shared
        names: list[str] = [queue.device for queue in main.queues]
        self.execution = Execution(self.describe_fault, names, [[] for _ in names], states_frees=True)
        self.faults: list[Violation] = []
        self.numbers = Numbers()
        self.combined: set[PhaseId] = set()
        self.last = iteration_ticks(main)
        self.given = {phase.result for phase in bound.graph.phases if isinstance(phase, Input)}
        scope = CheckedScope.of(bound)
        self.note_combined(main)
        for which, queue in enumerate(main.queues):
            self.queue(which, queue.device, queue.kind, queue.steps, scope)

    def note_combined(self, main: SubPlan) -> None:
        self.combined |= {step.phase for queue in main.queues for step in queue.steps if isinstance(step, CombineStep)}

    # ------------------------------------------------------------------------------ queues

    def queue(self, which: int, device: DeviceId, kind: QueueKind, steps: Sequence[Step], scope: CheckedScope) -> None:
        execution = self.execution
        now = released = 0
        for step in steps:
            here = execution.queues[which]
            match step:
                case WaitStep():
                    execution.waits[which, len(here)].append(self.fence(step.fence, scope))
                    continue
                case FenceStep():
                    if kind is QueueKind.COPY:
                        self.end_waits(which, kind, now)
                    execution.fences[self.fence(step.fence, scope)].append((which, len(here) - 1))
                    continue
                case LoopStep() | JoinStep() if is_shared(step):
                    self.loop_part(which, device, kind, step, scope)
                    now, released = step.end, max(step.start + 1, step.end)
                    continue
                case RunStep() | LoopStep() | BranchStep() | CellsStep():
                    task = self.run(which, device, step, scope)
                case RowsStep():
                    task = self.rows(which, device, step, scope, now)
                case CombineStep():
                    task = self.combine(which, step, scope)
                case TransferStep():
                    task = self.transfer(which, step, scope)
                case FreeStep():
                    task = self.free(which, device, step, scope, now, released)
                case _:
                    continue
            now = task.end
            released = max(released, now if isinstance(step, RowsStep | FreeStep) else task.releases_at)
        self.end_waits(which, kind, now)

    def end_waits(self, which: int, kind: QueueKind, now: int) -> None:
        """Add a task after waits that no step follows: an empty transfer only waits and signals, at ticks that no plan states."""
        if self.execution.waits.get((which, len(self.execution.queues[which]))):
            self.add(which, "the end", now, now, None).reads_at = self.last if kind is QueueKind.COPY else None

    def fence(self, fence: Hashable, scope: CheckedScope) -> Hashable:
        return fence if scope.iteration is None else (*scope.iteration, fence)

    def add(self, which: int, what: object, start: int, end: int, by: int | None, lanes: Sequence[Hashable] = ()) -> Task:
        return self.execution.add(which, Task(what, start, end, by, dict.fromkeys(lanes, start), end))

    def step(self, which: int, what: str, step: ComputeStep | CombineStep | TransferStep, scope: CheckedScope) -> Task:
        """The task of a step; one that computes occupies its device exclusively."""
        start, end = step.start, step.arrive if isinstance(step, TransferStep) else step.end
        lanes = (self.execution.names[which],) if scope.counts_resources and not isinstance(step, TransferStep) else ()
        by = None if isinstance(step, CombineStep) else scope.tick_offset + start
        return self.add(which, scope.prefix + what, scope.tick_offset + start, scope.tick_offset + end, by, lanes)

    # ------------------------------------------------------------------------------ steps

    def run(self, which: int, device: DeviceId, step: ComputeStep, scope: CheckedScope) -> Task:
        phase, types = scope.phases[step.phase], scope.bound.graph.types
        box = step.box if isinstance(step, RunStep) else None
        task = self.step(which, f"phase #{phase.id}", step, scope)
        self.execution.extra_memory[device].append(
            (step.start, step.end, self.scratch(step, phase, box, scope) if scope.counts_resources else 0)
        )
        if isinstance(step, RunStep) and step.overwrite is not None and step.overwrite not in traverse.operands(phase):
            self.add_fault(Rule.V4, f"phase #{phase.id} writes over %{step.overwrite}, which it does not read")
        if isinstance(phase, Print | Output) and device == self.plan.home:
            read = self.operand(device, phase, phase.arg, self.full_box_of(phase.arg, scope), scope)
            task.reads.append(replace(read, leaves=Leaving.COPY if phase.arg in self.given else Leaving.ITSELF))
            self.given.add(phase.arg)
            return task
        if box is None:
            inner_values = {value for inner in _inner_values(phase) for value in inner}
            for value in dict.fromkeys(v for v in traverse.uses(phase) if v not in inner_values):
                task.reads.append(self.operand(device, phase, value, self.full_box_of(value, scope), scope))
            self.results(device, task, phase, [self.full_box_of(value, scope) for value in traverse.results(phase)], scope)
            return task
        for value, part in dict.fromkeys(zip(reads_of(phase, types), operand_boxes(phase, types, box), strict=True)):
            if volume(part):
                task.reads.append(self.operand(device, phase, value, part, scope))
        if phase.id in self.combined:
            for value in traverse.results(phase):
                piece = ResidentPiece(box, task.start, task.end, task.end)
                self.execution.add_piece((device, ("partial", scope.name(value))), piece, task)
        else:
            self.results(device, task, phase, result_boxes(phase, types, box), scope)
        return task

    def results(self, device: DeviceId, task: Task, phase: Phase, boxes: Sequence[Box], scope: CheckedScope) -> None:
        """Add the results of a phase, whose memory is counted as one piece, the first result's."""
        values = traverse.results(phase)
        total = sum(self.bytes(value, box, scope) for value, box in zip(values, boxes, strict=True))
        for index, (value, box) in enumerate(zip(values, boxes, strict=True)):
            size = rounded_to_alignment(total) if scope.counts_resources and index == 0 else 0
            self.execution.add_piece((device, scope.name(value)), ResidentPiece(box, task.start, task.end, task.end, size), task)

    def rows(self, which: int, device: DeviceId, step: RowsStep, scope: CheckedScope, now: int) -> Task:
        """The task of a chain along rows: it reads the operands that its members do not produce, and makes the chain's
        results."""
        named = ", ".join(f"#{one}" for one in step.phases)
        task = self.add(which, f"the chain of phases {named}", now, now, None)
        if (wrong := _chain_fault(step, scope.bound)) is not None:
            self.add_fault(Rule.V4, f"phases {named}: together this {wrong}")
        defined: set[ValueId] = set()
        for member in step.phases:
            phase = scope.phases[member]
            for value in dict.fromkeys(traverse.operands(phase)):
                if value not in defined:
                    task.reads.append(self.read(device, scope.name(value), self.full_box_of(value, scope)))
            defined.update(traverse.results(phase))
            results = [value for value in traverse.results(phase) if value in step.results]
            total = sum(self.bytes(value, self.full_box_of(value, scope), scope) for value in results)
            for index, value in enumerate(results):
                piece = ResidentPiece(self.full_box_of(value, scope), now, now, now, 0 if index else rounded_to_alignment(total))
                self.execution.add_piece((device, scope.name(value)), piece, task)
        return task

    def combine(self, which: int, step: CombineStep, scope: CheckedScope) -> Task:
        phase, home = scope.phases[step.phase], self.plan.home
        task = self.step(which, f"the combine of phase #{phase.id}", step, scope)
        space = space_of(phase, scope.bound.graph.types) or ()
        for value in traverse.results(phase):
            task.reads.append(TaskRead((home, ("partial", scope.name(value))), full_box(space), Coverage.TILE))
        self.results(home, task, phase, [self.full_box_of(value, scope) for value in traverse.results(phase)], scope)
        return task

    def transfer(self, which: int, step: TransferStep, scope: CheckedScope) -> Task:
        task = self.step(which, f"the transfer to {step.target}", step, scope)
        task.sends = True
        if not self.is_linked(step):
            self.add_fault(Rule.V6, f"no link `{step.link}` joins {step.source} and {step.target}")
        if step.value not in scope.producers and (scope.iteration is None or step.value not in scope.bound.graph.types):
            self.add_fault(Rule.V6, f"%{step.value} is not a value of the program")
            return task
        piece = ResidentPiece(step.box or (), task.start, task.end, task.end)
        if step.partial:
            name: Hashable = ("partial", scope.name(step.value))
            task.reads.append(TaskRead((step.source, name), piece.box, Coverage.EXACT))
            self.execution.add_piece((step.target, name), piece, task)
            return task
        everything, shape = self.full_box_of(step.value, scope), shape_of(step.value, scope.bound.graph.types)
        if step.box is not None and (shape is None or not _is_within(step.box, shape)):
            self.add_fault(Rule.V6, f"the box of a transfer lies outside %{step.value}")
            return task
        piece.box = everything if step.box is None else step.box
        size = self.bytes(step.value, piece.box, scope)
        if step.bytes != size:
            self.add_fault(Rule.V6, f"a transfer of %{step.value} says {step.bytes} bytes, its box has {size}")
        if volume(piece.box):
            task.reads.append(TaskRead((step.source, scope.name(step.value)), piece.box))
        values = traverse.results(scope.producers[step.value]) if step.value in scope.producers else ()
        if scope.counts_resources and values and step.value == values[0]:
            total = sum(self.bytes(value, self.full_box_of(value, scope), scope) for value in values)
            piece.size = rounded_to_alignment(step.bytes * total // max(1, self.bytes(step.value, everything, scope)))
        self.execution.add_piece((step.target, scope.name(step.value)), piece, task)
        return task

    def free(self, which: int, device: DeviceId, step: FreeStep, scope: CheckedScope, now: int, released: int) -> Task:
        where = device if step.device is None else step.device
        task = self.add(which, "", now, now, None)
        task.freed_at = released
        names = [scope.name(value) for value in step.values]
        task.frees = [(((where, name), (where, ("partial", name))), step.box) for name in names]
        if scope.iteration is not None and any(value not in scope.producers for value in step.values):
            self.add_fault(Rule.V4, f"{scope.prefix}a value of around the loop is freed on {where} before the loop has ended")
        return task

    # ------------------------------------------------------------------------------ distributed loops

    def loop_part(self, which: int, device: DeviceId, kind: QueueKind, step: LoopStep | JoinStep, scope: CheckedScope) -> None:
        """Add a queue's part of a distributed loop: its steps of the unrolled iterations and the epilogue, and its results."""
        loop = self.shared[step.phase]
        iteration, body, leave = loop.iteration, loop.step.body, loop.step.leave
        begins, lasts = step.start + loop.step.making, iteration_ticks(body)
        last = unrolled_iterations(iteration)
        iterations = [(part, iteration, body, iteration.next if index else ()) for index, part in enumerate(ITERATIONS[:last])]
        if loop.epilogue is not None and leave is not None:
            iterations.append(("what follows", loop.epilogue, leave, iteration.next))
        for index, (part, one, plan, before) in enumerate(iterations):
            self.add_barrier(which, step.phase, index)
            self.note_combined(plan)
            at = begins + index * lasts
            inner = CheckedScope.of(
                one.bound, False, iteration=(step.phase, index + 1), iteration_label=part, tick_offset=at, previous_values=before
            )
            for queue in plan.queues:
                if (queue.device, queue.kind) == (device, kind):
                    self.queue(which, device, kind, queue.steps, inner)
        self.add_barrier(which, step.phase, len(iterations))
        lanes = () if step.rows is None else (device,)
        task = self.add(which, f"the end of loop #{step.phase}", step.start, step.end, None, lanes)
        if step.rows is None:
            return
        if iteration.stop is not None:
            name = (step.phase, last, iteration.stop)
            task.reads.append(self.read(device, name, self.full_box_of(iteration.stop, CheckedScope.of(iteration.bound))))
        self.loop_results(device, task, loop, step.rows, scope)

    def loop_results(self, device: DeviceId, task: Task, loop: SharedLoop, rows: tuple[int, int], scope: CheckedScope) -> None:
        """Add the parts of the loop's results on a device: its part of the last states, or at home all of them."""
        id, results = loop.step.phase, loop.iteration.loop.results
        plans = [one for one in (loop.step.body, loop.step.leave) if one is not None]
        boxes = loop.boxes(rows)
        if loop.epilogue is not None:
            boxes = [self.full_box_of(value, scope) for value in results]
        there = loop.epilogue is None or device == self.plan.home
        total = (
            rounded_to_alignment(sum(self.bytes(v, box, scope) for v, box in zip(results, boxes, strict=True))) if there else 0
        )
        meanwhile = max(0, max(dict(one.peak).get(device, 0) for one in plans) - total)
        self.execution.extra_memory[device].append((task.start, task.end, meanwhile))
        left, number = (
            (loop.iteration.next, unrolled_iterations(loop.iteration))
            if loop.epilogue is None
            else (results, unrolled_iterations(loop.iteration) + 1)
        )
        for index, (inner, value, box) in enumerate(zip(left, results, boxes, strict=True) if there else ()):
            task.reads.append(self.read(device, (id, number, inner), box))
            piece = ResidentPiece(box, task.start, task.end, task.end, 0 if index else total)
            self.execution.add_piece((device, value), piece, task)

    def add_barrier(self, which: int, loop: PhaseId, number: int) -> None:
        """A barrier at which all queues of the loop wait for each other."""
        fence, position = ("meet", loop, number), len(self.execution.queues[which])
        self.execution.fences[fence].append((which, position - 1))
        self.execution.waits[which, position].append(fence)

    # ------------------------------------------------------------------------------ values

    def read(self, device: DeviceId, name: Hashable, box: Box) -> TaskRead:
        return TaskRead((device, name), box)

    def operand(self, device: DeviceId, phase: Phase, value: ValueId, box: Box, scope: CheckedScope) -> TaskRead:
        """A step's read of an operand in one array."""
        size = rounded_to_alignment(self.bytes(value, box, scope)) if scope.counts_resources else 0
        return TaskRead((device, scope.read(phase, 0, value)), box, size=size)

    def full_box_of(self, value: ValueId, scope: CheckedScope) -> Box:
        shape = shape_of(value, scope.bound.graph.types)
        return UNKNOWN if shape is None else full_box(shape)

    def bytes(self, value: ValueId, box: Box, scope: CheckedScope) -> int:
        types = scope.bound.graph.types
        return self.numbers.bytes(types[value], None if shape_of(value, types) is None else box)

    def scratch(self, step: ComputeStep, phase: Phase, box: Box | None, scope: CheckedScope) -> int:
        """Scratch bytes of a step; those of a box are in proportion to its size."""
        scratch = step_scratch_bytes(step, phase, scope.bound.graph.types, self.numbers)
        space = None if box is None else space_of(phase, scope.bound.graph.types)
        if box is not None and space is not None:
            scratch = -(-scratch * volume(box) // max(1, prod(space)))
        return rounded_to_alignment(scratch)

    def is_linked(self, step: TransferStep) -> bool:
        if not step.link:
            return not self.plan.links
        ends = [{device.partition("[")[0], str(device)} for device in (step.source, step.target)]
        return any(
            one.id == step.link
            and ((one.source in ends[0] and one.target in ends[1]) or (one.source in ends[1] and one.target in ends[0]))
            for one in self.plan.links
        )

    # ------------------------------------------------------------------------------ words

    def add_fault(self, code: Rule, message: str) -> None:
        self.faults.append(Violation(code, message))

    def describe_fault(self, lack: ReadFault, task: Task, read: TaskRead | Task) -> Violation:
        assert isinstance(read, TaskRead)
        device, name = read.key
        part = box_text(read.box)
        if task.frees:
            return Violation(Rule.V5, f"{_value_text(name)}{part if read.box else ''} is freed on {device}, where it is not")
        if read.match is Coverage.TILE:
            return Violation(Rule.V4, f"{task.what} begins before all partial results are at home, each once")
        return Violation(Rule.V4, f"{task.what} reads {_value_text(name)}{part} on {device}, where it is not known to be")


def unrolled_iterations(iteration: LoopIteration) -> int:
    """The number of iterations of a loop that the execution unrolls."""
    return min(len(ITERATIONS), iteration.loop.trip.constant or 0)


def _value_text(name: Hashable) -> str:
    if isinstance(name, tuple):
        return f"partial results of {_value_text(name[1])}" if name[0] == "partial" else f"%{name[2]}"
    return f"%{name}"


def _is_within(box: Box, shape: Sequence[int]) -> bool:
    return len(box) == len(shape) and all(0 <= a <= b <= n for (a, b), n in zip(box, shape, strict=True))


def _inner_values(phase: Phase) -> Iterator[tuple[ValueId, ...]]:
    """The values that the sub-graphs of a phase define."""
    pending = list(traverse.subgraphs(phase))
    while pending:
        graph = pending.pop()
        yield graph.params
        for inner in graph.phases:
            yield traverse.results(inner)
            pending.extend(traverse.subgraphs(inner))


def _chain_fault(step: RowsStep, bound: BoundGraph) -> str | None:
    """The fault of a step that runs a chain of the main block; None if there is none."""
    for unit in units_of(bound.graph.phases, bound.graph, bound.graph.roots):
        if not isinstance(unit, RowsUnit | GroupUnit) or unit.ids != step.phases:
            continue
        results = traverse.results(unit.joined.phase if isinstance(unit, RowsUnit) else unit.phase)
        if results != step.results:
            return "does not make what others need of it"
        reads = unit.joined.phase.reads if isinstance(unit, RowsUnit) else ()
        over = [read for read in reads if read.value == step.overwrite]
        if step.overwrite is not None and (not over or not may_reuse_operand(unit) or any(r.projection.stages for r in over)):
            return f"writes over %{step.overwrite}, which it reads elsewhere or later, or not at all"
        return None
    return "is neither a chain along rows nor a group of neighbours"


# ---------------------------------------------------------------------------------------------------- verdict

__all__ = ["check_plan", "memory_in_use", "needless_waits"]


def check_plan(plan: ExecutionPlan, bound: BoundGraph) -> tuple[Violation, ...]:
    """All violations of a plan of several devices; empty if it may run."""
    bound = replace(bound, graph=in_form(bound.graph, plan.form))
    shared = shared_loops(plan, bound)
    violations = check_phase_coverage(plan, plan.main, bound, shared)
    iterations = [] if violations else list(_iterations(shared))
    for name, body, inner in iterations:
        violations += [Violation(one.code, f"{name}: {one.message}") for one in check_phase_coverage(plan, body, inner, {})]
    if violations:
        return tuple(violations)
    translation = PlanTranslation(plan, plan.main, bound, shared)
    violations = [*translation.faults, *unresident_reads(translation.execution), *unordered_tasks(translation.execution)]
    if not violations:
        violations += _check_memory(plan, plan.main, translation.execution)
    violations += [*_check_ticks(plan.main, translation.execution), *_check_makespan(plan)]
    for name, body, inner in iterations:
        alone = PlanTranslation(plan, body, inner, {}).execution
        inner_violations = [*_check_memory(plan, body, alone), *_check_ticks(body, alone)]
        violations += [Violation(one.code, f"{name}: {one.message}") for one in inner_violations]
    return tuple(violations)


def needless_waits(plan: ExecutionPlan, bound: BoundGraph) -> tuple[Violation, ...]:
    """V7: waits that the others imply; not checked for large plans."""
    bound = replace(bound, graph=in_form(bound.graph, plan.form))
    execution = PlanTranslation(plan, plan.main, bound, shared_loops(plan, bound)).execution
    if sum(map(len, execution.queues)) * len(execution.waits) > MOST_WORK:
        return ()
    stated = [(at, fence) for at, fence in redundant_waits(execution) if isinstance(fence, int)]
    return tuple(Violation(Rule.V7, f"{execution.names[at[0]]} need not wait for fence f{fence}") for at, fence in stated)


MOST_WORK = 1_000_000


def memory_in_use(plan: ExecutionPlan, bound: BoundGraph) -> Mapping[DeviceId, int]:
    """The most bytes in use on each device by the plan's ticks, scratch included, each buffer rounded up to the alignment."""
    peak_of = peaks(PlanTranslation(plan, plan.main, bound, shared_loops(plan, bound)).execution)
    return {device.id: peak_of.get(device.id, (0, 0))[0] for device in plan.devices}


def _iterations(shared: Mapping[PhaseId, SharedLoop]) -> Iterator[tuple[str, SubPlan, BoundGraph]]:
    for id, loop in shared.items():
        yield f"an iteration of loop #{id}", loop.step.body, loop.iteration.bound
        if loop.epilogue is not None and loop.step.leave is not None:
            yield f"what follows loop #{id}", loop.step.leave, loop.epilogue.bound


def _check_memory(plan: ExecutionPlan, main: SubPlan, execution: Execution) -> Iterator[Violation]:
    limits, said, peak_of = {device.id: device.memory for device in plan.devices}, dict(main.peak), peaks(execution)
    for device, limit in limits.items():
        peak, _ = peak_of.get(device, (0, 0))
        if limit is not None and peak > limit:
            yield Violation(Rule.V5, f"{device} would hold {peak:,} bytes and has {limit:,}")
        elif peak > said.get(device, 0):
            yield Violation(Rule.V5, f"{device} would hold {peak:,} bytes, the plan says {said.get(device, 0):,}")


def _check_ticks(main: SubPlan, execution: Execution) -> Iterator[Violation]:
    for lane, first, then in collisions(execution):
        yield Violation(Rule.V9, f"{then.what} starts at {then.start}, when {lane} is busy with {first.what} until {first.end}")
    for queue, tasks in zip(main.queues, execution.queues, strict=True):
        for task in tasks:
            if not task.start <= task.end:
                yield Violation(Rule.V9, f"{task.what} ends before it starts")
        running = [task for task in tasks if task.resources]
        if queue.kind is QueueKind.COMPUTE and any(a.start > b.start for a, b in pairwise(running)):
            yield Violation(Rule.V9, f"the steps of {queue.device} are not in the order of their ticks")
        for step in queue.steps:
            if isinstance(step, TransferStep) and not step.start <= step.busy <= step.arrive:
                yield Violation(Rule.V9, f"a transfer of %{step.value} arrives before it starts")
    for task, awaited in blocking_waits(execution):
        name = execution.names[task.position[0]]
        yield Violation(Rule.V9, f"{name} goes on before tick {awaited.end}, until which it waits for {awaited.what}")


def _check_makespan(plan: ExecutionPlan) -> Iterator[Violation]:
    steps = [step for queue in plan.main.queues for step in queue.steps]
    last = max((step.arrive if isinstance(step, TransferStep) else getattr(step, "end", 0) for step in steps), default=0)
    if plan.prediction is not None and plan.prediction.makespan != last:
        yield Violation(Rule.V9, f"the plan says {plan.prediction.makespan} ticks, its steps end at {last}")
