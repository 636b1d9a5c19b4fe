"""A plan against the program it is for: what a plan must satisfy before anything of it runs.

Shared with what makes plans: the boxes of phases (`sharding`), sizes and scratch of one device (`one_device`, through
`replay`), the limits of `buffers`, chains of rows (`units`) and turns of loops (`graph.turns`); an error there may be made
here again.  The graph is the one that runs.  Codes are those of the design's verifier:
  V1 every phase runs exactly once, on a device of the plan, in a step of its kind; V2 queues and fences have no circle;
  V3 boxes tile their phase; V4 every step finds its operands on its device, made or brought there before, with fences that
  say so; V5 no device holds more than its memory, nor than the plan says; V6 transfers follow links of the plan, and their
  bytes are those of their box; V8 what prints and saves does so at home, in the order of the program; V9 ticks add up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from ....graph import traverse
from ....graph.arms import with_arms_out
from ....graph.bind import BoundGraph
from ....graph.phases import Output, Phase, PhaseId, Print, ValueId
from ...facts.sharding import operand_boxes, reads_of, result_boxes, shape_of, space_of, tiles, volume, whole
from ...facts.workspace import Numbers
from ...plan.model import (
    Box,
    BranchStep,
    CellsStep,
    CombineStep,
    DeviceId,
    FenceId,
    FenceStep,
    FreeStep,
    JoinStep,
    LoopStep,
    Plan,
    QueueKind,
    RowsStep,
    RunStep,
    Step,
    StreamStep,
    SubPlan,
    TransferStep,
    WaitStep,
    phases_of,
)
from .facts import (
    At,
    Broken,
    Fault,
    Piece,
    Reader,
    Running,
    covered,
    cuts_reduction,
    fault_of_rows,
    fits,
    group_of,
    inside_of,
    inside_shape,
    join,
    knows,
    reduces,
    shown,
)
from .replay import peaks_of
from .turns_checked import Shared, is_shared, shared_loops
from .turns_followed import follow_turns


def check_plan(plan: Plan, bound: BoundGraph) -> tuple[Fault, ...]:
    """What is wrong with a plan of several devices; empty: nothing."""
    checker = Checker(plan, replace(bound, graph=with_arms_out(bound.graph, plan.speculated)))
    checker.judge()
    return tuple(checker.faults)


def needless_waits(plan: Plan, bound: BoundGraph) -> tuple[Fault, ...]:
    """V7: waits without which the plan is right as well.  One check of the plan for each, so of large plans it is not asked."""
    found: list[Fault] = []
    steps = [step for queue in plan.main.queues for step in queue.steps]
    if len(steps) * sum(isinstance(step, WaitStep) for step in steps) > 10_000:
        return ()
    for which, queue in enumerate(plan.main.queues):
        for position, step in enumerate(queue.steps):
            if isinstance(step, WaitStep):
                rest = replace(queue, steps=(*queue.steps[:position], *queue.steps[position + 1 :]))
                queues = (*plan.main.queues[:which], rest, *plan.main.queues[which + 1 :])
                if not check_plan(replace(plan, main=replace(plan.main, queues=queues)), bound):
                    found.append(Fault("V7", f"{queue.device} need not wait for fence f{step.fence}"))
    return tuple(found)


def late_waits(plan: Plan) -> list[Fault]:
    """V9: queues that go on before the fences they wait for, each of which is passed when all before it has ended."""
    passed: dict[FenceId, int] = defaultdict(int)
    for queue in plan.main.queues:
        ended = 0
        for step in queue.steps:
            ended = max(ended, step.arrive if isinstance(step, TransferStep) else getattr(step, "end", 0))
            if isinstance(step, FenceStep):
                passed[step.fence] = max(passed[step.fence], ended)
    found: list[Fault] = []
    for queue in plan.main.queues:
        waiting = 0
        for step in queue.steps:
            if isinstance(step, WaitStep):
                waiting = max(waiting, passed[step.fence])
            elif isinstance(step, FenceStep | FreeStep | RowsStep | StreamStep):
                continue
            elif (step.end if isinstance(step, CombineStep) else step.start) < waiting:  # it merges as partials arrive
                found.append(Fault("V9", f"{queue.device} goes on before tick {waiting}, until which it waits"))
                break
    return found


@dataclass(slots=True)
class Checker:
    plan: Plan
    bound: BoundGraph
    faults: list[Fault] = field(default_factory=list)
    phases: dict[PhaseId, Phase] = field(default_factory=dict)
    combined: set[PhaseId] = field(default_factory=set)
    held: dict[tuple[DeviceId, ValueId], list[Piece]] = field(default_factory=lambda: defaultdict(list))
    shared: dict[PhaseId, Shared] = field(default_factory=dict)

    def fault(self, code: str, message: str) -> None:
        self.faults.append(Fault(code, message))

    def steps(self) -> Iterator[tuple[At, DeviceId, Step]]:
        for which, queue in enumerate(self.plan.main.queues):
            for position, step in enumerate(queue.steps):
                yield (which, position), queue.device, step

    # ------------------------------------------------------------------------------ V1, V3, V8

    def once(self) -> None:
        graph, plan = self.bound.graph, self.plan
        self.phases = {phase.id: phase for phase in graph.phases}
        self.shared = shared_loops(plan, self.bound)
        devices = {device.id for device in plan.devices}
        if plan.home not in devices:
            raise Broken("V1", f"{plan.home} is home, and no device of the plan")
        runs: dict[PhaseId, list[Running | RowsStep]] = defaultdict(list)
        combines: dict[PhaseId, int] = defaultdict(int)
        effects: list[PhaseId] = []
        for at, device, step in self.steps():
            if isinstance(step, StreamStep):
                raise Broken("V1", "a pass over stored inputs is planned for one run: no plan that is kept has one")
            for named in phases_of(step):
                if named not in self.phases:
                    raise Broken("V1", f"phase #{named} is not in the program")
                if isinstance(step, JoinStep) and step.phase not in self.shared:
                    raise Broken("V1", f"{device} joins phase #{step.phase}, which queues do not run together")
                if isinstance(step, JoinStep) and step.rows is None:
                    continue  # of a channel: see `turns_checked`
                if device not in devices or plan.main.queues[at[0]].kind is not QueueKind.COMPUTE:
                    raise Broken("V1", f"phase #{named} runs on {device}, which is no device of the plan")
            if isinstance(step, CombineStep):
                combines[step.phase] += 1
                self.combined.add(step.phase)
                if device != plan.home:
                    self.fault("V1", f"phase #{step.phase} is combined on {device}, not at home")
            elif isinstance(step, RowsStep):
                for named in step.phases:
                    runs[named].append(step)
            elif isinstance(step, RunStep | LoopStep | JoinStep | BranchStep | CellsStep):
                runs[step.phase].append(step)
                if isinstance(self.phases[step.phase], Print | Output):
                    effects.append(step.phase)
                    if device != plan.home:
                        self.fault("V8", f"phase #{step.phase} prints on {device}, not at home")
        for phase in graph.phases:
            self.one_phase(phase, runs[phase.id], combines[phase.id])
        order = [phase.id for phase in graph.phases if isinstance(phase, Print | Output)]
        if not self.faults and effects != order:
            self.fault("V8", "what prints is not in the order of the program")

    def one_phase(self, phase: Phase, runs: Sequence[Running | RowsStep], combines: int) -> None:
        boxes = [step.box for step in runs if isinstance(step, RunStep) and step.box is not None]
        if not runs:
            self.fault("V1", f"phase #{phase.id} does not run")
        elif any(is_shared(step) for step in runs):
            if phase.id not in self.shared or not all(is_shared(step) for step in runs):
                self.fault("V1", f"phase #{phase.id} is not one loop that queues run together")
            else:
                self.faults += [Fault(code, message) for code, message in self.shared[phase.id].faults]
        elif not all(fits(step, phase) for step in runs):
            self.fault("V1", f"phase #{phase.id} runs in a step of another kind")
        elif not boxes and len(runs) > 1:
            self.fault("V1", f"phase #{phase.id} runs {len(runs)} times")
        elif boxes:
            space = space_of(phase, self.bound.graph.types)
            if len(boxes) != len(runs):
                self.fault("V1", f"phase #{phase.id} runs whole and in boxes")
            elif space is None or not tiles(boxes, space):
                self.fault("V3", f"the boxes of phase #{phase.id} do not tile it")
            elif combines != int(cuts_reduction(phase, boxes)) and not (combines == 1 and reduces(phase)):
                self.fault("V1", f"phase #{phase.id} is combined {combines} times")
        elif combines:
            self.fault("V1", f"phase #{phase.id} is combined without shards")

    # ------------------------------------------------------------------------------ V2, V4, V6

    def follow(self) -> None:
        """Run the queues in their order, with what each of them knows to be complete."""
        queues = self.plan.main.queues
        places = [0] * len(queues)
        known: list[dict[int, int]] = [{} for _ in queues]
        fences: dict[FenceId, int] = defaultdict(int)
        for _, _, step in self.steps():
            if isinstance(step, FenceStep):
                fences[step.fence] += 1
        arrived: dict[PhaseId, list[int]] = defaultdict(list)
        told: dict[FenceId, dict[int, int]] = defaultdict(dict)
        waiting: dict[FenceId, list[int]] = defaultdict(list)
        ready = list(range(len(queues)))
        while ready:
            which = ready.pop()
            steps = queues[which].steps
            while places[which] < len(steps):
                step = steps[places[which]]
                if isinstance(step, WaitStep):
                    if step.fence not in fences:
                        raise Broken("V2", f"nothing passes fence f{step.fence}")
                    if fences[step.fence]:
                        waiting[step.fence].append(which)
                        break
                    join(known[which], told[step.fence])
                elif isinstance(step, FenceStep):
                    fences[step.fence] -= 1
                    join(told[step.fence], known[which])
                    told[step.fence][which] = places[which]
                    if not fences[step.fence]:
                        ready += waiting.pop(step.fence, [])
                elif is_shared(step) and which not in arrived[phases_of(step)[0]]:
                    shared = self.shared[phases_of(step)[0]]
                    here = arrived[phases_of(step)[0]]
                    here.append(which)
                    if len(here) < len(shared.parts):
                        break
                    for other in here:
                        known[other][other] = places[other]
                        join(known[which], known[other])
                    for other in here:
                        join(known[other], known[which])
                    there = {queues[one].device: (one, places[one]) for one in here}
                    follow_turns(self, shared, known[which], there)
                    ready += [other for other in here if other != which]
                elif not is_shared(step):
                    self.step((which, places[which]), queues[which].device, step, known[which])
                known[which][which] = places[which]
                places[which] += 1
        if any(place < len(queue.steps) for place, queue in zip(places, queues, strict=True)):
            self.fault("V2", "queues wait for each other in a circle")

    def step(self, at: At, device: DeviceId, step: Step, known: Mapping[int, int]) -> None:
        match step:
            case RunStep() | LoopStep() | JoinStep() | BranchStep() | CellsStep():
                self.run(at, device, step, known)
            case RowsStep():
                self.rows(at, device, step, known)
            case CombineStep():
                self.combine(at, step, known)
            case TransferStep():
                self.transfer(at, step, known)
            case FreeStep():
                self.free(device if step.device is None else step.device, step)
            case FenceStep() | WaitStep() | StreamStep():
                return

    def alone(self, body: SubPlan, bound: BoundGraph) -> Checker:
        """What judges a plan inside this one by itself."""
        return Checker(replace(self.plan, main=body, prediction=None, spread=()), bound)

    def judge(self) -> None:
        """Everything, as far as it makes sense to go on."""
        try:
            self.once()
            if not self.faults:
                self.follow()
            if not self.faults:
                self.memory()
                self.clock()
        except Broken as broken:
            self.faults.append(broken.fault)

    def free(self, where: DeviceId, step: FreeStep) -> None:
        for value in step.values:
            meant = [piece for piece in self.held[where, value] if step.box is None or piece.box == step.box]
            if not any(not piece.freed for piece in meant):
                part = "" if step.box is None else shown(step.box)
                self.fault("V5", f"%{value}{part} is freed on {where}, where it is not")
            for piece in meant:
                piece.freed = True

    def run(self, at: At, device: DeviceId, step: Running, known: Mapping[int, int]) -> None:
        phase, types = self.phases[step.phase], self.bound.graph.types
        box = step.box if isinstance(step, RunStep) else None
        if isinstance(step, RunStep) and step.overwrite is not None and step.overwrite not in traverse.operands(phase):
            self.fault("V4", f"phase #{phase.id} writes over %{step.overwrite}, which it does not read")
        if box is None:
            own = {value for inner in inside_of(phase) for value in inner}
            for value in dict.fromkeys(v for v in traverse.uses(phase) if v not in own):
                self.need(device, value, None, known, f"phase #{phase.id}")
            for value in traverse.results(phase):
                self.held[device, value].append(Piece(None, at, False))
            return
        for value, part in zip(reads_of(phase, types), operand_boxes(phase, types, box), strict=True):
            self.need(device, value, part, known, f"phase #{phase.id} at {shown(box)}")
        partial = step.phase in self.combined
        for value, part in zip(traverse.results(phase), result_boxes(phase, types, box), strict=True):
            self.held[device, value].append(Piece(box if partial else part, at, partial))

    def rows(self, at: At, device: DeviceId, step: RowsStep, known: Mapping[int, int]) -> None:
        """A chain needs what its members read and do not make, and makes some of their results."""
        wrong = fault_of_rows(step, self.bound.graph)
        if wrong is not None:
            self.fault("V4", f"phases {', '.join(f'#{named}' for named in step.phases)}: together this {wrong}")
        made: set[ValueId] = set()
        for named in step.phases:
            phase = self.phases[named]
            for value in dict.fromkeys(traverse.operands(phase)):
                if value not in made:
                    self.need(device, value, None, known, f"phase #{named}")
            made.update(traverse.results(phase))
        for value in step.results:
            self.held[device, value].append(Piece(None, at, False))

    def combine(self, at: At, step: CombineStep, known: Mapping[int, int]) -> None:
        phase, home = self.phases[step.phase], self.plan.home
        space = space_of(phase, self.bound.graph.types)
        assert space is not None
        for value in traverse.results(phase):
            there = [p for p in self.held[home, value] if p.partial and not p.freed and knows(known, p.since)]
            parts = [p.box for p in there if p.box is not None]
            if not tiles(parts, space):
                self.fault("V4", f"phase #{phase.id} is combined before all partial results are at home")
            self.held[home, value] = [Piece(None, at, False)]

    def need(
        self, device: DeviceId, value: ValueId, box: Box | None, known: Mapping[int, int], who: str, reader: Reader = Reader.RUN
    ) -> None:
        """Is a box of a value on a device, as far as the queue knows?"""
        pieces = [
            p for p in self.held[device, value]
            if not p.partial and knows(known, p.since) and (reader is Reader.TRANSFER or not p.freed)
        ]  # fmt: skip
        if any(p.box is None for p in pieces):
            return
        shape = shape_of(value, self.bound.graph.types)
        wanted = box if box is not None else None if shape is None else whole(shape)
        if wanted is not None and covered(wanted, [p.box for p in pieces if p.box is not None]):
            return
        part = "" if box is None else shown(box)
        self.fault("V4", f"{who} reads %{value}{part} on {device}, where it is not known to be")

    def transfer(self, at: At, step: TransferStep, known: Mapping[int, int]) -> None:
        if not self.linked(step):
            self.fault("V6", f"no link `{step.link}` joins {step.source} and {step.target}")
        type = self.bound.graph.types.get(step.value)
        if type is None:
            raise Broken("V6", f"%{step.value} is no value of the program")
        if step.partial:
            pieces = [p for p in self.held[step.source, step.value] if p.partial and p.box == step.box]
            if not any(knows(known, p.since) for p in pieces):
                self.fault("V4", f"partial results of %{step.value} leave {step.source} before they are there")
            self.held[step.target, step.value].append(Piece(step.box, at, True))
            return
        shape = shape_of(step.value, self.bound.graph.types)
        if step.box is not None and (shape is None or not inside_shape(step.box, shape)):
            self.fault("V6", f"the box of a transfer lies outside %{step.value}")
            return
        numbers = Numbers()
        count = prod(map(numbers.cap, type.shape)) if step.box is None else volume(step.box)
        if step.bytes != count * type.element.kind.bytes:
            size = count * type.element.kind.bytes
            self.fault("V6", f"a transfer of %{step.value} says {step.bytes} bytes, its box has {size}")
        self.need(step.source, step.value, step.box, known, f"the transfer to {step.target}", Reader.TRANSFER)
        self.held[step.target, step.value].append(Piece(step.box, at, False))

    def linked(self, step: TransferStep) -> bool:
        if not step.link:
            return not self.plan.links
        ends = {group_of(step.source), str(step.source)}, {group_of(step.target), str(step.target)}
        return any(
            one.id == step.link
            and ((one.source in ends[0] and one.target in ends[1]) or (one.source in ends[1] and one.target in ends[0]))
            for one in self.plan.links
        )

    # ------------------------------------------------------------------------------ V5, V9

    def memory(self) -> None:
        """Replay the plan's ticks: pieces from their start until they are freed and the transfers that read them have arrived."""
        found = peaks_of(self.plan, self.bound)
        limits = {device.id: device.memory for device in self.plan.devices}
        said = dict(self.plan.main.peak)
        for device, peak in found.items():
            limit = limits.get(device)
            if limit is not None and peak > limit:
                self.fault("V5", f"{device} would hold {peak:,} bytes and has {limit:,}")
            elif peak > said.get(device, 0):
                self.fault("V5", f"{device} would hold {peak:,} bytes, the plan says {said.get(device, 0):,}")

    def clock(self) -> None:
        makespan = 0
        for queue in self.plan.main.queues:
            free = 0
            for step in queue.steps:
                if isinstance(step, RunStep | LoopStep | JoinStep | BranchStep | CellsStep | CombineStep):
                    if queue.kind is QueueKind.COPY:
                        free = 0
                    if step.start < free or step.end < step.start:
                        self.fault("V9", f"phase #{step.phase} starts at {step.start}, when {queue.device} is busy until {free}")
                    free = makespan_of = step.end
                    makespan = max(makespan, makespan_of)
                elif isinstance(step, TransferStep):
                    if not step.start <= step.busy <= step.arrive:
                        self.fault("V9", f"a transfer of %{step.value} arrives before it starts")
                    makespan = max(makespan, step.arrive)
        if self.plan.prediction is not None and self.plan.prediction.makespan != makespan:
            self.fault("V9", f"the plan says {self.plan.prediction.makespan} ticks, its steps end at {makespan}")
