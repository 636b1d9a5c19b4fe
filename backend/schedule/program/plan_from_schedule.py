"""The plan of a schedule of a program's problem: queues with fences and waits, boxes, frees, buffers and peaks.

Every step of the schedule becomes a step of the plan, in the queue that `fence_insertion` assigns; rows become boxes through the
cut of their phase.  A phase that one device runs undivided has no box, so that it runs as in a plan of one device.

Note [Live ranges].  A piece on a device is freed after the last step there whose boxes overlap it and that starts when the piece
is there, or as soon as it is resident if only transfers read it (they defer the free, `plan.FreeStep`); pieces that nothing reads
stay, and so do those that are results of the run.  In buffers and peaks a piece is live from the start of its shard or transfer
to the end of its last reader, transfers included; what takes no time is live for a tick, and what stays is live in the last tick
too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final, TypeAlias

from ....lang.support.records import dataclass, field, replace
from ...devices.profile_toml import fingerprint
from ...graph import traverse
from ...graph.phases import Branch, Input, Output, Phase, PhaseId, Print, ValueId
from ..plan.plan import (
    Box,
    BranchStep,
    Buffer,
    CellsStep,
    CombineStep,
    Device,
    DeviceId,
    ExecutionPlan,
    FenceId,
    FenceStep,
    FreeStep,
    JoinStep,
    LoopStep,
    PlannedChunks,
    PlannedFile,
    PlannedLink,
    PlannedPhase,
    Prediction,
    Queue,
    Role,
    RunStep,
    Space,
    Step,
    SubPlan,
    TransferStep,
    WaitStep,
)
from ..problem import Answer, Keep, QueueKind, Schedule, ScheduledStep, Shard, Synchronisation, Transfer, devices_named
from ..program_facts.partitioning import MAX_READER_PAIRS, boxes_overlap, full_box, is_inside, operand_boxes, reads_of, regions_of
from ..program_facts.scratch_memory import Numbers, first_fit, rounded_to_alignment
from ..single_device import describe_phase, step_of
from ..timeline.fence_insertion import synchronise
from .distributed_loop import Boxes, DistributedLoop, ProgramProblem
from .problem_from_program import cuts_in

# ---------------------------------------------------------------------------------------------------- assignment of buffers
#
# The buffers of a plan under construction: their live ranges, their addresses, and the peak.

MAX_SEARCHED_BUFFERS: Final = 256
"""Live buffers of a device up to which addresses are assigned by first fit."""


@dataclass(slots=True)
class PlannedBuffer:
    """One buffer: pieces of all results of a phase on one device.  Live in ticks [start, end); readable from `available` on."""

    device: int
    phase: int
    boxes: tuple[Box | None, ...]
    bytes: int
    start: int
    end: int
    produced_by: tuple[int, int]  # queue and position of the step that produces or brings it
    last_reader: tuple[int, int] | None = None  # of the last step that reads it
    is_sent: bool = False
    is_read: bool = False
    is_retained: bool = False
    is_partial: bool = False
    stays: bool = False
    available: int = field(init=False)

    def __post_init__(self) -> None:
        self.available = self.end

    @property
    def span(self) -> tuple[int, int]:
        """The ticks [start, end) in which the buffer takes memory."""
        return self.start, max(self.end + self.stays, self.start + 1)


SentBoxes: TypeAlias = tuple[int, int, tuple[Box | None, ...]]
"""A transfer out of a device: (start, arrival, boxes that it reads)."""


def reads_until(pieces: Sequence[PlannedBuffer], moves: list[SentBoxes]) -> list[int | None]:
    """For each piece of one output on a device, the tick at which the last transfer that reads it has arrived; None if no
    transfer reads it.

    With very many pieces and transfers an upper bound: the arrival of the last transfer that starts later."""
    if len(pieces) * len(moves) > MAX_READER_PAIRS:
        moves.sort(key=lambda move: move[:2])
        latest = list(accumulate((arrive for _, arrive, _ in reversed(moves)), max))[::-1]
        starts = [start for start, _, _ in moves]
        places = [bisect_left(starts, piece.start) for piece in pieces]
        return [latest[index] if index < len(moves) else None for index in places]
    return [
        max(
            (arrive for start, arrive, boxes in moves if start >= piece.start and any(map(boxes_overlap, piece.boxes, boxes))),
            default=None,
        )
        for piece in pieces
    ]


def peaks_of(
    pieces: Sequence[PlannedBuffer], schedule: Schedule, program: ProgramProblem, assembled: Mapping[Shard, int]
) -> dict[int, int]:
    """The most bytes alive at once on each device; with those of running shards: their scratch, and operands that are `assembled`
    from several pieces."""
    changes: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for piece in pieces:
        (start, end), size = piece.span, rounded_to_alignment(piece.bytes)
        changes[piece.device] += [(start, size), (end, -size)]
    for shard in schedule.shards:
        task = program.problem.phases[shard.phase]
        size = rounded_to_alignment(-(-task.scratch * (shard.stop - shard.first) // task.units))
        if task.distributed is not None:
            size = next(out_of_device for (d, _), out_of_device in zip(task.distributed.mode, task.distributed.scratch,
                strict=True) if d == shard.device)
        size += assembled.get(shard, 0)
        changes[int(shard.device)] += [(shard.start, size), (max(shard.end, shard.start + 1), -size)]
    return {device: _peak(deltas) for device, deltas in changes.items()}


def buffers_of(pieces: Sequence[PlannedBuffer], program: ProgramProblem, names: Sequence[str]) -> tuple[Buffer, ...]:
    """The plan's buffers with addresses by first fit in order of start (beyond `MAX_SEARCHED_BUFFERS` live ones: one after the
    other); `first` and `last` are ticks."""
    buffers: list[Buffer] = []
    occupied: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    tops: dict[int, int] = defaultdict(int)
    numbers, types = Numbers(), program.bound.graph.types
    for piece in sorted(pieces, key=lambda p: (p.start, p.phase, p.device, p.produced_by)):
        if piece.is_partial:
            continue
        phase = program.phases[piece.phase]
        role = Role.INPUT if isinstance(phase, Input) else Role.VALUE
        for value, box in zip(traverse.results(phase), piece.boxes, strict=True):
            size = numbers.bytes(types[value], box)
            offset = tops[piece.device]
            if len(occupied[piece.device]) < MAX_SEARCHED_BUFFERS:
                occupied[piece.device] = [t for t in occupied[piece.device] if t[2] > piece.start]
                offset = first_fit(sorted((a, b) for a, b, _ in occupied[piece.device]), rounded_to_alignment(size))
            occupied[piece.device].append((offset, offset + rounded_to_alignment(size), piece.span[1]))
            tops[piece.device] = max(tops[piece.device], offset + rounded_to_alignment(size))
            buffers.append(Buffer(value, DeviceId(names[piece.device]), role, size, offset, piece.start, piece.end))
    return tuple(buffers)


def _peak(changes: Sequence[tuple[int, int]]) -> int:
    live = most = 0
    for _, size in sorted(changes):
        live += size
        most = max(most, live)
    return most


# ---------------------------------------------------------------------------------------------------- steps of distributed loops
#
# The steps of a distributed loop: a `LoopStep` in one queue, and a `JoinStep` in each other queue of its body.
#
# The `LoopStep` is in the queue of home or of the loop's first device; queues of channels join before whatever they carry later.

def loop_step(distributed: DistributedLoop, shard: Shard, home: int) -> LoopStep | JoinStep:
    """The step of a device that takes part in a distributed loop."""
    devices = [device for device, _ in distributed.mode]
    first = home if home in devices else devices[0]
    rows = shard.first, shard.stop
    if shard.device != first:
        return JoinStep(distributed.loop.id, rows, shard.start, shard.end)
    leave = None if distributed.epilogue is None else distributed.epilogue.plan
    return LoopStep(
        distributed.loop.id, distributed.body.plan, None, shard.start, shard.end, rows, leave, distributed.first_run_overhead
    )


def with_joins(queues: Sequence[Queue], program: ProgramProblem, schedule: Schedule) -> tuple[Queue, ...]:
    """The queues, with the join steps of the channels that distributed loops use."""
    steps_of = {(queue.device, queue.kind): list(queue.steps) for queue in queues}
    for p, distributed in program.distributed_loops.items():
        shard = next(shard for shard in schedule.shards if shard.phase == p)
        join = JoinStep(distributed.loop.id, None, shard.start, shard.end)
        for name in channels_of(distributed):
            steps = steps_of.setdefault((name, QueueKind.COPY), [])
            steps.insert(_join_position(steps, shard.start), join)
    return tuple(Queue(device, kind, tuple(steps)) for (device, kind), steps in steps_of.items())


def needed_around(distributed: DistributedLoop, device: int) -> dict[ValueId, list[Box | None]]:
    """The boxes of outer values that a device reads in an iteration."""
    iteration, schedule = distributed.body.iteration, distributed.body.schedule
    graph = iteration.bound.graph
    boxes = Boxes(distributed.body.program, schedule.shards)
    around = set(distributed.outer_values)
    boxes_needed: dict[ValueId, list[Box | None]] = defaultdict(list)
    for shard in schedule.shards:
        if shard.device != device:
            continue
        phase, box = graph.phases[shard.phase], boxes.of_run(shard)
        parts: list[tuple[ValueId, Box | None]] = [(value, None) for value in traverse.uses(phase)]
        if box is not None:
            parts = list(zip(reads_of(phase, graph.types), operand_boxes(phase, graph.types, box), strict=True))
        for value, part in parts:
            if value in around:
                boxes_needed[value].append(part)
    return boxes_needed


def channels_of(distributed: DistributedLoop) -> list[DeviceId]:
    """The channels that transfers of a loop take."""
    return sorted({queue.device for one in distributed.plans for queue in one.plan.queues if queue.kind is QueueKind.COPY})


def _join_position(steps: Sequence[Step], start: int) -> int:
    """The position before the first transfer (and its waits) or loop that starts at `start` or later."""
    for position, step in enumerate(steps):
        later = isinstance(step, TransferStep) and step.start >= start and step.arrive > start
        if later or (isinstance(step, JoinStep) and step.start >= start):
            while position and isinstance(steps[position - 1], WaitStep):
                position -= 1
            return position
    return len(steps)


# ---------------------------------------------------------------------------------------------------- plan of a schedule

def plan_of(program: ProgramProblem, answer: Answer, texts: tuple[PlannedFile, ...] = ()) -> ExecutionPlan:
    """The plan of an answer that has a schedule."""
    schedule = answer.schedule
    assert schedule is not None, "an answer without a schedule has no plan"
    return _PlanWriter(program, schedule, synchronise(program.problem, schedule)).plan(answer, texts)


def assembled_operands(program: ProgramProblem, schedule: Schedule) -> dict[int, int]:
    """By phase, the bytes of operands that its shards put together from several pieces, for all rows of the phase."""
    writer = _PlanWriter(program, schedule, synchronise(program.problem, schedule))
    writer.sub_plan()
    sizes: dict[int, int] = {}
    for shard, size in writer.assembled.items():
        full = -(-size * program.problem.phases[shard.phase].units // max(1, shard.stop - shard.first))
        sizes[shard.phase] = max(sizes.get(shard.phase, 0), full)
    return sizes


def sub_plan_of(program: ProgramProblem, schedule: Schedule, results: frozenset[ValueId]) -> SubPlan:
    """The plan of an iteration of a loop; `results` stay where they are produced."""
    return _PlanWriter(program, schedule, synchronise(program.problem, schedule), results=results).sub_plan()


def _copied_outputs(phases: Sequence[Phase]) -> Iterator[int]:
    """Yields the indices of prints and outputs that are copies: of inputs, which belong to the caller, and of earlier results."""
    given: set[ValueId] = set()
    for index, phase in enumerate(phases):
        if isinstance(phase, Input):
            given.add(phase.result)
        elif isinstance(phase, Print | Output):
            if phase.arg in given:
                yield index
            given.add(phase.arg)


@dataclass(slots=True)
class _PlanWriter:
    program: ProgramProblem
    schedule: Schedule
    sync: Synchronisation
    results: frozenset[ValueId] = frozenset()
    boxes: Boxes = field(init=False)
    names: tuple[str, ...] = ()
    numbers: Numbers = field(default_factory=Numbers)
    shard_at: dict[tuple[int, int], Shard] = field(default_factory=dict)
    buffers: list[PlannedBuffer] = field(default_factory=list)
    on: dict[tuple[int, int], list[PlannedBuffer]] = field(default_factory=lambda: defaultdict(list))
    frees: dict[tuple[int, int], list[FreeStep]] = field(default_factory=lambda: defaultdict(list))
    copied_outputs: frozenset[int] = frozenset()
    makers: dict[ValueId, int] = field(default_factory=dict)
    assembled: dict[Shard, int] = field(default_factory=dict)

    # ------------------------------------------------------------------------------ the plan

    def plan(self, answer: Answer, texts: tuple[PlannedFile, ...]) -> ExecutionPlan:
        problem, bound = self.program.problem, self.program.bound
        graph = bound.graph
        main, devices = self.sub_plan(), self.devices()
        home = DeviceId(self.names[problem.home])
        first = {phase: DeviceId(self.names[device]) for phase, device in sorted(self.shard_at, reverse=True)}
        listed = tuple(describe_phase(phase, graph, self.numbers, first.get(p, home)) for p, phase in enumerate(graph.phases))
        listed += tuple(self.loop_phases(home))
        known = {phase.id for phase in listed}
        inner = tuple(
            describe_phase(phase, graph, self.numbers, home) for phase in traverse.all_phases(graph) if phase.id not in known
        )
        profile = self.program.profile
        spread = tuple(distributed.partition for _, distributed in sorted(self.program.distributed_loops.items()))
        return ExecutionPlan(
            texts,
            tuple(sorted((v.name, n) for v, n in bound.sizes.items())),
            devices,
            home,
            (*listed, *inner),
            main,
            tuple((p.name, p.result) for p in graph.phases if isinstance(p, Input)),
            tuple((p.name, p.arg) for p in graph.phases if isinstance(p, Output)),
            tick_ns=problem.tick_ns,
            profile="" if profile is None else fingerprint(profile),
            links=tuple(PlannedLink(link.id, link.source, link.target) for link in problem.links),
            prediction=Prediction(
                self.schedule.makespan,
                answer.lower_bound,
                answer.status,
                tuple((o.value, value) for o, value in zip(problem.objectives, answer.values, strict=False)),
                answer.proof,
                answer.baselines,
            ),
            directives=tuple(dict.fromkeys(d.line.text for d in problem.directives if d.line.number)),
            speculated=tuple(graph.phases[p].id for p in answer.speculated if isinstance(graph.phases[p], Branch)),
            divided=tuple(graph.phases[p].id for p in answer.speculated if not isinstance(graph.phases[p], Branch)),
            spread=spread,
            regions=regions_of(graph, {one.phase for one in spread}),
            chunks=tuple(self.chunks()),
            space=Space(
                cuts_in(self.program), answer.chunks, self.program.shared_loops, answer.every_axis, self.broadcasts(answer)
            ),
        )

    def broadcasts(self, answer: Answer) -> tuple[PhaseId, ...]:
        """The inputs that plans of the bound may broadcast: those that this one does, and others."""
        may, done = self.program.broadcasts, answer.speculated
        phases = enumerate(self.program.bound.graph.phases)
        return tuple(phase.id for p, phase in phases if isinstance(phase, Input) and (p in done or phase.id in may))

    def chunks(self) -> Iterator[PlannedChunks]:
        """The phases that have chunks."""
        counts = Counter((shard.phase, shard.device) for shard in self.schedule.shards)
        for p, phase in enumerate(self.program.bound.graph.phases):
            count = max((number for (q, _), number in counts.items() if q == p), default=0)
            if count > 1:
                yield PlannedChunks(phase.id, count)

    def sub_plan(self) -> SubPlan:
        problem = self.program.problem
        self.names = problem.device_names()
        self.copied_outputs = frozenset(_copied_outputs(self.program.bound.graph.phases))
        self.shard_at = {(shard.phase, int(shard.device)): shard for shard in self.schedule.shards}
        self.boxes = Boxes(self.program, self.schedule.shards)
        phases = enumerate(self.program.phases)
        self.makers = {value: index for index, phase in phases for value in traverse.results(phase)}
        self.create_buffers()
        self.extend_lifetimes()
        self.insert_frees()
        return SubPlan(self.queues(), buffers_of(self.buffers, self.program, self.names), self.peaks())

    def loop_phases(self, home: DeviceId) -> Iterator[PlannedPhase]:
        """The phases of the iterations of distributed loops."""
        for distributed in self.program.distributed_loops.values():
            for one in (distributed.body, distributed.epilogue):
                if one is not None:
                    graph = one.iteration.bound.graph
                    yield from (describe_phase(phase, graph, self.numbers, home) for phase in graph.phases)

    def devices(self) -> tuple[Device, ...]:
        problem, profile = self.program.problem, self.program.profile
        devices: list[Device] = []
        for group in problem.devices:
            known = None if profile is None else profile.device(group.id)
            backend, threads = ("cpu", 1) if known is None else (known.backend, known.threads)
            devices += [Device(DeviceId(name), backend, threads, group.memory, group.kind) for name in group.names()]
        return tuple(devices)

    # ------------------------------------------------------------------------------ pieces

    def create_buffers(self) -> None:
        """The buffer of every shard, combine and transfer."""
        graph, problem = self.program.bound.graph, self.program.problem
        keeps = {(d.phase, name) for d in problem.directives if isinstance(d, Keep) for name in devices_named(problem, d.device)}
        for which, queue in enumerate(self.sync.queues):
            for position, step in enumerate(queue.steps):
                at = which, position
                match step:
                    case Shard():
                        if self.holds_no_output(step):
                            continue
                        partial = problem.phases[step.phase].combine is not None
                        boxes = self.boxes.of_shard(step)
                        piece = PlannedBuffer(
                            int(step.device), step.phase, boxes, 0, step.start, step.end, at, is_partial=partial
                        )
                    case Transfer():
                        boxes = self.boxes.of_transfer(step)
                        piece = PlannedBuffer(int(step.target), step.phase, boxes, 0, step.start, step.arrive, at,
                            is_partial=step.partial)
                    case _:
                        boxes = (None,) * len(traverse.results(graph.phases[step.phase]))
                        piece = PlannedBuffer(int(problem.home), step.phase, boxes, 0, step.start, step.end, at)
                piece.bytes = self.buffer_bytes(piece)
                piece.is_retained = (piece.phase, piece.device) in keeps
                if not isinstance(step, Transfer) and not piece.is_partial:
                    piece.is_retained |= any(value in self.results for value in traverse.results(graph.phases[piece.phase]))
                self.buffers.append(piece)
                if traverse.results(graph.phases[piece.phase]):
                    self.on[piece.device, piece.phase].append(piece)

    def holds_no_output(self, shard: Shard) -> bool:
        """Does the shard take part in a distributed phase whose results are gathered at home?"""
        distributed = self.program.problem.phases[shard.phase].distributed
        return distributed is not None and distributed.gathers and shard.device != self.program.problem.home

    def buffer_bytes(self, piece: PlannedBuffer) -> int:
        if piece.is_partial:
            combine = self.program.problem.phases[piece.phase].combine
            return 0 if combine is None else combine.bytes
        phase = self.program.bound.graph.phases[piece.phase]
        if isinstance(phase, Print | Output) and piece.phase in self.copied_outputs:
            return self.bytes(phase.arg, None)
        values = traverse.results(phase)
        return sum(self.bytes(value, box) for value, box in zip(values, piece.boxes, strict=True))

    def bytes(self, value: ValueId, box: Box | None) -> int:
        return self.numbers.bytes(self.program.bound.graph.types[value], box)

    # ------------------------------------------------------------------------------ lifetimes

    def extend_lifetimes(self) -> None:
        """See Note [Live ranges]."""
        problem = self.program.problem
        sources: dict[int, list[int]] = defaultdict(list)
        for edge in problem.edges:
            sources[edge.target].append(edge.source)
        sent: dict[tuple[int, int, bool], list[SentBoxes]] = defaultdict(list)
        for which, queue in enumerate(self.sync.queues):
            for position, step in enumerate(queue.steps):
                at = which, position
                if isinstance(step, Shard):
                    needed = self.boxes_read(step)
                    for piece in (piece for source in sources[step.phase] for piece in self.on[int(step.device), source]):
                        if not piece.is_partial and piece.available <= step.start and self.is_read_by(piece, needed):
                            piece.last_reader, piece.is_read = at, True
                            piece.end = max(piece.end, step.end, step.start + 1)
                    if step.phase not in self.program.distributed_loops:
                        self.assembled[step] = self.assemble(step, needed)
                elif isinstance(step, Transfer):
                    key = int(step.source), step.phase, step.partial
                    sent[key].append((step.start, max(step.arrive, step.start + 1), self.boxes.of_transfer(step)))
                else:
                    for piece in self.on[int(problem.home), step.phase]:
                        if piece.is_partial:
                            piece.is_read, piece.end = True, max(piece.end, step.end, step.start + 1)
        for (device, phase, partial), moves in sent.items():
            pieces = [piece for piece in self.on[device, phase] if piece.is_partial == partial]
            for piece, until in zip(pieces, reads_until(pieces, moves), strict=True):
                if until is not None:
                    piece.is_sent, piece.end = True, max(piece.end, until)
        self.retain_results()
        for piece in self.buffers:
            if piece.is_retained or not (piece.is_read or piece.is_sent):
                piece.end, piece.stays = max(piece.end, self.schedule.makespan), True

    def retain_results(self) -> None:
        """Retain what leaves the run to its end: the array that a result is assembled in, a copy, or the value's own piece."""
        for piece in self.buffers:
            phase = self.program.phases[piece.phase]
            if not isinstance(phase, Print | Output) or piece.device != self.program.problem.home:
                continue
            if assembled := self.assembled.pop(self.shard_at[piece.phase, piece.device], 0):
                piece.bytes = assembled
            elif piece.phase not in self.copied_outputs:
                maker = self.makers[phase.arg]
                index = traverse.results(self.program.phases[maker]).index(phase.arg)
                full = self.full_box(phase.arg)
                for one in self.on[piece.device, maker]:
                    one.is_retained |= not one.is_partial and one.boxes[index] in (None, full)

    def assemble(self, shard: Shard, needed: dict[ValueId, list[Box | None]]) -> int:
        """The bytes of what a shard reads that no piece on its device holds alone: it is put together in an array."""
        size = 0
        for value, boxes in needed.items():
            maker = self.makers.get(value)
            pieces = [] if maker is None else [
                piece for piece in self.on[int(shard.device), maker] if not piece.is_partial and piece.available <= shard.start
            ]  # fmt: skip
            if maker is None or len(pieces) < 2:
                continue
            index = traverse.results(self.program.phases[maker]).index(value)
            full = self.full_box(value)
            held = [piece.boxes[index] or full for piece in pieces]
            size += sum(
                rounded_to_alignment(self.bytes(value, box))
                for box in dict.fromkeys(boxes)
                if not any(is_inside(box or full, one) for one in held)
            )
        return size

    def full_box(self, value: ValueId) -> Box:
        return full_box([self.numbers.cap(size) for size in self.program.bound.graph.types[value].shape])

    def boxes_read(self, shard: Shard) -> dict[ValueId, list[Box | None]]:
        """The boxes that a shard reads, by value."""
        if shard.phase in self.program.distributed_loops:
            return needed_around(self.program.distributed_loops[shard.phase], int(shard.device))
        phase, box = self.program.phases[shard.phase], self.boxes.of_run(shard)
        boxes_needed: dict[ValueId, list[Box | None]] = defaultdict(list)
        if box is None:
            for value in traverse.uses(phase):
                boxes_needed[value].append(None)
        else:
            for value, part in zip(
                reads_of(phase, self.program.bound.graph.types),
                operand_boxes(phase, self.program.bound.graph.types, box),
                strict=True,
            ):
                boxes_needed[value].append(part)
        return boxes_needed

    def is_read_by(self, piece: PlannedBuffer, needed: dict[ValueId, list[Box | None]]) -> bool:
        values = traverse.results(self.program.phases[piece.phase])
        for value, held_box in zip(values, piece.boxes, strict=True):
            for box in needed.get(value, ()):
                if held_box is None or box is None:
                    return True
                if all(max(a, c) < min(b, d) for (a, b), (c, d) in zip(held_box, box, strict=True)):
                    return True
        return False

    def insert_frees(self) -> None:
        """Add the frees; a box that reached a device twice, once to be forwarded, is freed once, after the last use of either."""
        same: dict[tuple[object, ...], list[PlannedBuffer]] = defaultdict(list)
        for piece in self.buffers:
            same[piece.device, piece.phase, piece.is_partial, piece.boxes].append(piece)
        for pieces in same.values():
            values = traverse.results(self.program.phases[pieces[0].phase])
            if not values or any(piece.is_retained or not (piece.is_read or piece.is_sent) for piece in pieces):
                continue
            piece = max(pieces, key=lambda one: (one.last_reader is not None, one.last_reader or (0, 0), one.available))
            if piece.is_partial and piece.last_reader is None and not piece.is_sent:
                continue  # the combine frees it
            where = DeviceId(self.names[piece.device])
            at = piece.last_reader if piece.last_reader is not None else piece.produced_by
            own_device = self.sync.queues[at[0]].device
            device = None if own_device is not None and self.names[own_device] == where else where
            freed = [self.freed_box(piece, number) for number in range(len(values))]
            for box in dict.fromkeys(freed):
                own_values = tuple(v for v, b in zip(values, freed, strict=True) if b == box)
                self.frees[at].append(FreeStep(own_values, box, device))

    def freed_box(self, piece: PlannedBuffer, number: int) -> Box | None:
        """The box that a free names.  It is also the full box where the device has parts as well, because a free without a box
        frees all."""
        box, others = piece.boxes[number], self.on[piece.device, piece.phase]
        if box is not None or all(one.is_partial or one.boxes[number] is None for one in others):
            return box
        shape = self.program.bound.graph.types[traverse.results(self.program.phases[piece.phase])[number]].shape
        return tuple((0, self.numbers.cap(size)) for size in shape)

    # ------------------------------------------------------------------------------ queues

    def peaks(self) -> tuple[tuple[DeviceId, int], ...]:
        peak_of = peaks_of(self.buffers, self.schedule, self.program, self.assembled)
        return tuple((DeviceId(name), peak_of.get(device, 0)) for device, name in enumerate(self.names))

    def queues(self) -> tuple[Queue, ...]:
        waits: dict[tuple[int, int], list[FenceId]] = defaultdict(list)
        for wait in self.sync.waits:
            waits[wait.queue, wait.position].append(FenceId(wait.fence))
        fences: dict[tuple[int, int], list[FenceId]] = defaultdict(list)
        for fence in self.sync.fences:
            for queue, position in fence.after:
                fences[queue, position].append(FenceId(fence.id))
        queues: list[Queue] = []
        for which, queue_of_steps in enumerate(self.sync.queues):
            steps: list[Step] = []
            for position, step in enumerate(queue_of_steps.steps):
                steps += [WaitStep(fence) for fence in waits[which, position]]
                steps += self.steps_of(step)
                steps += [FenceStep(fence) for fence in fences[which, position]]
                steps += self.frees[which, position]
            queues.append(Queue(DeviceId(queue_of_steps.name), queue_of_steps.kind, tuple(steps)))
        return with_joins(queues, self.program, self.schedule)

    def steps_of(self, step: ScheduledStep) -> Sequence[Step]:
        graph = self.program.bound.graph
        if isinstance(step, Transfer):
            return self.transfer_steps(step)
        phase = graph.phases[step.phase]
        if not isinstance(step, Shard):
            return [CombineStep(phase.id, step.start, step.end)]
        if step.phase in self.program.distributed_loops:
            return [loop_step(self.program.distributed_loops[step.phase], step, int(self.program.problem.home))]
        if (box := self.boxes.of_run(step)) is not None:
            return [RunStep(phase.id, None, box, step.start, step.end)]
        planned_step = step_of(phase, graph, Device(DeviceId(self.names[step.device]), "cpu"))
        assert isinstance(planned_step, RunStep | LoopStep | BranchStep | CellsStep)
        return [replace(planned_step, start=step.start, end=step.end)]

    def transfer_steps(self, moved: Transfer) -> Sequence[Step]:
        phase = self.program.phases[moved.phase]
        values, boxes = traverse.results(phase), self.boxes.of_transfer(moved)
        source, target = DeviceId(self.names[moved.source]), DeviceId(self.names[moved.target])
        link = "" if moved.link is None else self.program.problem.links[moved.link].id
        full_sizes = [self.bytes(value, None) for value in values]
        transfers: list[Step] = []
        for value, box, all_of_it in zip(values, boxes, full_sizes, strict=True):
            size = moved.bytes * all_of_it // max(1, sum(full_sizes)) if moved.partial else self.bytes(value, box)
            ticks, units = (moved.start, moved.busy, moved.arrive), (moved.first, moved.stop)
            transfers.append(TransferStep(value, source, target, size, box, moved.partial, link, *ticks, units))
        return transfers
