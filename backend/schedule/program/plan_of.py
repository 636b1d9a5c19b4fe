"""A schedule of a program's problem as a plan: queues with fences and waits, boxes, frees, buffers and peaks.

Every step of the schedule becomes a step of the plan in the queue that `fences` gives it; rows become boxes through the cut of
their phase.  A phase that one device runs whole has no box, so that it runs as it would alone.

Note [Lifetimes].  A piece on a device is freed after the last step there that reads it (its box meets what the step needs), or as
soon as it is there where only transfers read it (they put the free off, `plan.FreeStep`); pieces that nothing reads stay.
In buffers and peaks it lives from the start of its shard or transfer to the end of its last reader, transfers included.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...devices.writing import fingerprint
from ...graph import traverse
from ...graph.phases import Input, Output, Print, ValueId
from ..answer import Answer, Placed, Schedule, Shard, Transfer
from ..constraints import devices_named
from ..facts.regions import regions_of
from ..facts.sharding import operand_boxes, reads_of
from ..facts.workspace import Numbers
from ..plan.model import (
    Box,
    BranchStep,
    CellsStep,
    CombineStep,
    FenceId,
    FenceStep,
    FreeStep,
    LoopStep,
    Plan,
    Prediction,
    Queue,
    RunStep,
    Step,
    SubPlan,
    TransferStep,
    WaitStep,
)
from ..plan.parts import Device, DeviceId, PlannedChunks, PlannedFile, PlannedLink, PlannedPhase, Space
from ..problem import Keep
from ..single.one_device import described, step_of
from ..timeline.fences import Synchronisation, synchronise
from .axes import cuts_in
from .boxes import Boxes
from .buffers import Piece, Sent, buffers_of, peaks_of, reads_until
from .joining import loop_step, needed_on, with_joins
from .together import ProgramProblem


def plan_of(program: ProgramProblem, answer: Answer, texts: tuple[PlannedFile, ...] = ()) -> Plan:
    """The plan of an answer that has a schedule."""
    schedule = answer.schedule
    assert schedule is not None, "an answer without a schedule has no plan"
    return _Writer(program, schedule, synchronise(program.problem, schedule)).plan(answer, texts)


def sub_plan_of(program: ProgramProblem, schedule: Schedule, results: frozenset[ValueId]) -> SubPlan:
    """The plan of a turn of a loop; `results` stay where they are made."""
    return _Writer(program, schedule, synchronise(program.problem, schedule), results=results).sub_plan()


@dataclass(slots=True)
class _Writer:
    program: ProgramProblem
    schedule: Schedule
    sync: Synchronisation
    results: frozenset[ValueId] = frozenset()
    boxes: Boxes = field(init=False)
    names: tuple[str, ...] = ()
    numbers: Numbers = field(default_factory=Numbers)
    made: dict[tuple[int, int], Shard] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)
    on: dict[tuple[int, int], list[Piece]] = field(default_factory=lambda: defaultdict(list))
    frees: dict[tuple[int, int], list[FreeStep]] = field(default_factory=lambda: defaultdict(list))
    brought_in: frozenset[ValueId] = frozenset()

    # ------------------------------------------------------------------------------ the plan

    def plan(self, answer: Answer, texts: tuple[PlannedFile, ...]) -> Plan:
        problem, bound = self.program.problem, self.program.bound
        graph = bound.graph
        main, devices = self.sub_plan(), self.devices()
        home = DeviceId(self.names[problem.home])
        first = {phase: DeviceId(self.names[device]) for phase, device in sorted(self.made, reverse=True)}
        listed = tuple(described(phase, graph, self.numbers, first.get(place, home)) for place, phase in enumerate(graph.phases))
        listed += tuple(self.turns(home))
        known = {phase.id for phase in listed}
        inner = tuple(
            described(phase, graph, self.numbers, home) for phase in traverse.all_phases(graph) if phase.id not in known
        )
        profile = self.program.profile
        spread = tuple(gang.spread for _, gang in sorted(self.program.gangs.items()))
        return Plan(
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
            speculated=tuple(graph.phases[p].id for p in answer.speculated),
            spread=spread,
            regions=regions_of(graph, {one.phase for one in spread}),
            chunks=tuple(self.chunks()),
            space=Space(cuts_in(self.program), answer.chunks, self.program.dealt),
        )

    def chunks(self) -> Iterator[PlannedChunks]:
        """The phases that have chunks."""
        counts = Counter((shard.phase, shard.device) for shard in self.schedule.shards)
        for place, phase in enumerate(self.program.bound.graph.phases):
            count = max((number for (own, _), number in counts.items() if own == place), default=0)
            if count > 1:
                yield PlannedChunks(phase.id, count)

    def sub_plan(self) -> SubPlan:
        problem = self.program.problem
        self.names = problem.device_names()
        self.brought_in = frozenset(phase.result for phase in self.program.bound.graph.phases if isinstance(phase, Input))
        self.made = {(shard.phase, int(shard.device)): shard for shard in self.schedule.shards}
        self.boxes = Boxes(self.program, self.schedule.shards)
        self.make_pieces()
        self.use_pieces()
        self.free_pieces()
        return SubPlan(self.queues(), buffers_of(self.pieces, self.program, self.names), self.peaks())

    def turns(self, home: DeviceId) -> Iterator[PlannedPhase]:
        """The phases of loops that devices run together, as they run them."""
        for gang in self.program.gangs.values():
            for one in (gang.body, gang.leave):
                if one is not None:
                    graph = one.turn.bound.graph
                    yield from (described(phase, graph, self.numbers, home) for phase in graph.phases)

    def devices(self) -> tuple[Device, ...]:
        problem, profile = self.program.problem, self.program.profile
        found: list[Device] = []
        for group in problem.devices:
            known = None if profile is None else profile.device(group.id)
            backend, threads = ("cpu", 1) if known is None else (known.backend.value, known.threads)
            found += [Device(DeviceId(name), backend, threads, group.memory, group.kind) for name in group.names()]
        return tuple(found)

    # ------------------------------------------------------------------------------ pieces

    def make_pieces(self) -> None:
        """The buffer of every shard, combine and transfer."""
        graph, problem = self.program.bound.graph, self.program.problem
        keeps = {(d.phase, name) for d in problem.directives if isinstance(d, Keep) for name in devices_named(problem, d.device)}
        for which, queue in enumerate(self.sync.queues):
            for position, step in enumerate(queue.steps):
                at = which, position
                match step:
                    case Shard():
                        if self.is_elsewhere(step):
                            continue
                        partial = problem.phases[step.phase].combine is not None
                        boxes = self.boxes.of_shard(step)
                        made = Piece(int(step.device), step.phase, boxes, 0, step.start, step.end, at, partial=partial)
                    case Transfer():
                        boxes = self.boxes.of_transfer(step)
                        made = Piece(int(step.target), step.phase, boxes, 0, step.start, step.arrive, at, partial=step.partial)
                    case _:
                        boxes = (None,) * len(traverse.results(graph.phases[step.phase]))
                        made = Piece(int(problem.home), step.phase, boxes, 0, step.start, step.end, at)
                made.bytes = self.piece_bytes(made)
                made.kept = (made.phase, made.device) in keeps
                if not isinstance(step, Transfer) and not made.partial:
                    made.kept |= any(value in self.results for value in traverse.results(graph.phases[made.phase]))
                self.pieces.append(made)
                if traverse.results(graph.phases[made.phase]):
                    self.on[made.device, made.phase].append(made)

    def is_elsewhere(self, shard: Shard) -> bool:
        """Does the shard take part in a phase whose results are all at home?"""
        together = self.program.problem.phases[shard.phase].together
        return together is not None and together.gathers and shard.device != self.program.problem.home

    def piece_bytes(self, piece: Piece) -> int:
        if piece.partial:
            combine = self.program.problem.phases[piece.phase].combine
            return 0 if combine is None else combine.bytes
        phase = self.program.bound.graph.phases[piece.phase]
        if isinstance(phase, Print | Output) and phase.arg in self.brought_in:
            return self.bytes(phase.arg, None)  # an input is the caller's: what leaves the run is a copy
        values = traverse.results(phase)
        return sum(self.bytes(value, box) for value, box in zip(values, piece.boxes, strict=True))

    def bytes(self, value: ValueId, box: Box | None) -> int:
        return self.numbers.bytes(self.program.bound.graph.types[value], box)

    # ------------------------------------------------------------------------------ lifetimes

    def use_pieces(self) -> None:
        """See Note [Lifetimes]."""
        problem = self.program.problem
        sources: dict[int, list[int]] = defaultdict(list)
        for edge in problem.edges:
            sources[edge.target].append(edge.source)
        sent: dict[tuple[int, int, bool], list[Sent]] = defaultdict(list)
        for which, queue in enumerate(self.sync.queues):
            for position, step in enumerate(queue.steps):
                at = which, position
                if isinstance(step, Shard):
                    needed = self.needed(step)
                    for piece in (piece for source in sources[step.phase] for piece in self.on[int(step.device), source]):
                        early = piece.start < step.end or piece.there <= step.start  # a step may take no time
                        if not piece.partial and early and self.meets(piece, needed):
                            piece.last, piece.used = at, True
                            piece.end = max(piece.end, step.end)
                elif isinstance(step, Transfer):
                    key = int(step.source), step.phase, step.partial
                    sent[key].append((step.start, step.arrive, self.boxes.of_transfer(step)))
                else:
                    for piece in self.on[int(problem.home), step.phase]:
                        if piece.partial:
                            piece.used, piece.end = True, max(piece.end, step.end)
        for (device, phase, partial), moves in sent.items():
            pieces = [piece for piece in self.on[device, phase] if piece.partial == partial]
            for piece, until in zip(pieces, reads_until(pieces, moves), strict=True):
                if until is not None:
                    piece.sent, piece.end = True, max(piece.end, until)
        makespan = self.schedule.makespan
        for piece in self.pieces:
            if piece.kept or not (piece.used or piece.sent):
                piece.end = max(piece.end, makespan)

    def needed(self, shard: Shard) -> dict[ValueId, list[Box | None]]:
        """What a shard reads, by value."""
        if shard.phase in self.program.gangs:
            return needed_on(self.program.gangs[shard.phase], int(shard.device))
        phase, box = self.program.phases[shard.phase], self.boxes.of_run(shard)
        found: dict[ValueId, list[Box | None]] = defaultdict(list)
        if box is None:
            for value in traverse.uses(phase):
                found[value].append(None)
        else:
            for value, part in zip(
                reads_of(phase, self.program.bound.graph.types),
                operand_boxes(phase, self.program.bound.graph.types, box),
                strict=True,
            ):
                found[value].append(part)
        return found

    def meets(self, piece: Piece, needed: dict[ValueId, list[Box | None]]) -> bool:
        values = traverse.results(self.program.phases[piece.phase])
        for value, own in zip(values, piece.boxes, strict=True):
            for box in needed.get(value, ()):
                if own is None or box is None:
                    return True
                if all(max(a, c) < min(b, d) for (a, b), (c, d) in zip(own, box, strict=True)):
                    return True
        return False

    def free_pieces(self) -> None:
        """What came to a device twice, once to be sent on, is let go of once, after the last use of either."""
        same: dict[tuple[object, ...], list[Piece]] = defaultdict(list)
        for piece in self.pieces:
            same[piece.device, piece.phase, piece.partial, piece.boxes].append(piece)
        for pieces in same.values():
            values = traverse.results(self.program.phases[pieces[0].phase])
            if not values or any(piece.kept or not (piece.used or piece.sent) for piece in pieces):
                continue
            piece = max(pieces, key=lambda one: (one.last is not None, one.last or (0, 0), one.there))
            if piece.partial and piece.last is None and not piece.sent:
                continue  # the combine lets go of it
            where = DeviceId(self.names[piece.device])
            at = piece.last if piece.last is not None else piece.made
            own = self.sync.queues[at[0]].device
            device = None if own is not None and self.names[own] == where else where
            freed = [self.freed_box(piece, number) for number in range(len(values))]
            for box in dict.fromkeys(freed):
                own_values = tuple(v for v, b in zip(values, freed, strict=True) if b == box)
                self.frees[at].append(FreeStep(own_values, box, device))

    def freed_box(self, piece: Piece, number: int) -> Box | None:
        """The box of a result that a free names; of a whole one beside its parts too, which a free without a box would end."""
        box, others = piece.boxes[number], self.on[piece.device, piece.phase]
        if box is not None or all(one.partial or one.boxes[number] is None for one in others):
            return box
        shape = self.program.bound.graph.types[traverse.results(self.program.phases[piece.phase])[number]].shape
        return tuple((0, self.numbers.cap(size)) for size in shape)

    # ------------------------------------------------------------------------------ queues

    def peaks(self) -> tuple[tuple[DeviceId, int], ...]:
        found = peaks_of(self.pieces, self.schedule, self.program)
        return tuple((DeviceId(name), found.get(place, 0)) for place, name in enumerate(self.names))

    def queues(self) -> tuple[Queue, ...]:
        waits: dict[tuple[int, int], list[FenceId]] = defaultdict(list)
        for wait in self.sync.waits:
            waits[wait.queue, wait.position].append(FenceId(wait.fence))
        fences: dict[tuple[int, int], list[FenceId]] = defaultdict(list)
        for fence in self.sync.fences:
            for queue, position in fence.after:
                fences[queue, position].append(FenceId(fence.id))
        found: list[Queue] = []
        for which, own in enumerate(self.sync.queues):
            steps: list[Step] = []
            for position, step in enumerate(own.steps):
                steps += [WaitStep(fence) for fence in waits[which, position]]
                steps += self.steps_of(step)
                steps += [FenceStep(fence) for fence in fences[which, position]]
                steps += self.frees[which, position]
            found.append(Queue(DeviceId(own.name), own.kind, tuple(steps)))
        return with_joins(found, self.program, self.schedule)

    def steps_of(self, step: Placed) -> Sequence[Step]:
        graph = self.program.bound.graph
        if isinstance(step, Transfer):
            return self.transfer_steps(step)
        phase = graph.phases[step.phase]
        if not isinstance(step, Shard):
            return [CombineStep(phase.id, step.start, step.end)]
        if step.phase in self.program.gangs:
            return [loop_step(self.program.gangs[step.phase], step, int(self.program.problem.home))]
        if (box := self.boxes.of_run(step)) is not None:
            return [RunStep(phase.id, None, box, step.start, step.end)]
        made = step_of(phase, graph, Device(DeviceId(self.names[step.device]), "cpu"))
        assert isinstance(made, RunStep | LoopStep | BranchStep | CellsStep)
        return [replace(made, start=step.start, end=step.end)]

    def transfer_steps(self, moved: Transfer) -> Sequence[Step]:
        phase = self.program.phases[moved.phase]
        values, boxes = traverse.results(phase), self.boxes.of_transfer(moved)
        source, target = DeviceId(self.names[moved.source]), DeviceId(self.names[moved.target])
        link = "" if moved.link is None else self.program.problem.links[moved.link].id
        whole = [self.bytes(value, None) for value in values]
        found: list[Step] = []
        for value, box, all_of_it in zip(values, boxes, whole, strict=True):
            size = moved.bytes * all_of_it // max(1, sum(whole)) if moved.partial else self.bytes(value, box)
            ticks, units = (moved.start, moved.busy, moved.arrive), (moved.first, moved.stop)
            found.append(TransferStep(value, source, target, size, box, moved.partial, link, *ticks, units))
        return found
