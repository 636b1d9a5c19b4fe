"""A schedule of a problem, and its queues, as an execution: outputs are values, units (rows or bytes) their one axis."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import compress, pairwise
from math import ceil

from ...answer import CombineStep, Placed, Shard, Transfer
from ...problem import Before, Edge, Keep, Replicate
from ...synchronisation import Synchronisation
from ..execution import Box, Execution, Lack, Match, Piece, Read, Task
from ..judge import covered
from ..violation import Rule, Violation
from .facts import Facts


@dataclass(frozen=True, slots=True)
class Partial:
    """The partial results of a phase, of which each is of some rows."""

    phase: int


class Translation:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.execution = Execution(self.said)
        self.tasks: dict[Placed, Task] = {}
        self.shards: dict[int, list[Task]] = {}
        self.combines: dict[int, Task] = {}
        schedule = facts.schedule
        everything: list[Task] = []
        for shard in schedule.shards:
            self.tasks[shard] = task = self.shard(shard)
            self.shards.setdefault(shard.phase, []).append(task)
            everything.append(task)
        for step in schedule.combines:
            self.tasks[step] = self.combines[step.phase] = self.combine(step)
            everything.append(self.tasks[step])
        for moved in schedule.transfers:
            self.tasks[moved] = self.transfer(moved)
            everything.append(self.tasks[moved])
        self.wanted()
        self.orders()
        self.execution.queues = [everything]

    def queued(self, sync: Synchronisation) -> Execution:
        """With the queues, fences and waits that are stated."""
        execution = self.execution
        execution.queues = [[] for _ in sync.queues]
        for which, queue in enumerate(sync.queues):
            for step in queue.steps:
                execution.add(which, self.tasks[step])
        execution.fences.update({fence.id: [(int(q), p) for q, p in fence.after] for fence in sync.fences})
        for wait in sync.waits:
            execution.waits[int(wait.queue), wait.position].append(wait.fence)
        return execution

    # ------------------------------------------------------------------ steps

    def shard(self, shard: Shard) -> Task:
        facts, device = self.facts, int(shard.device)
        problem = facts.problem.phases[shard.phase]
        made = self.result_bytes(shard)
        lanes: dict[Hashable, int] = {device: shard.start}
        if problem.together is not None and shard.first == 0:
            lanes |= facts.held(shard, problem.together)
        task = Task(shard, shard.start, shard.end, shard.start, lanes, shard.end, takes_place=made if problem.inplace else 0)
        for edge in facts.incoming[shard.phase]:
            box = self.box(edge.source, *facts.needed(edge, shard))
            task.reads.append(Read((device, edge.source), box, way=self.way(edge)))
        self.execution.spans[device].append((shard.start, shard.end, self.scratch(shard)))
        piece = Piece(((shard.first, shard.stop),), shard.start, shard.end, shard.end, made)
        if problem.combine is not None:
            self.execution.make((device, Partial(shard.phase)), piece, task)
        elif not facts.elsewhere(shard.phase, device):
            if facts.whole(shard.phase):
                piece.box = self.box(shard.phase, 0, facts.units(shard.phase))
            self.execution.make((device, shard.phase), piece, task)
        return task

    def combine(self, step: CombineStep) -> Task:
        """It merges as partial results arrive, which V9 judges."""
        facts, phase = self.facts, self.facts.problem.phases[step.phase]
        task = Task(step, step.start, step.end, None, {facts.home: step.start}, step.end)
        task.reads.append(Read((facts.home, Partial(step.phase)), ((0, phase.units),), Match.TILE))
        size = facts.rounded(phase.out_bytes)
        piece = Piece(self.box(step.phase, 0, facts.units(step.phase)), step.start, step.end, step.end, size)
        self.execution.make((facts.home, step.phase), piece, task)
        return task

    def transfer(self, moved: Transfer) -> Task:
        facts, target = self.facts, int(moved.target)
        channel = facts.channel(moved) if moved.busy > moved.start else None
        lanes: dict[Hashable, int] = {} if channel is None else {channel: moved.start}
        task = Task(moved, moved.start, moved.arrive, moved.start, lanes, moved.busy, sends=True)
        value = Partial(moved.phase) if moved.partial else moved.phase
        box = ((moved.first, moved.stop),) if moved.partial else self.box(moved.phase, moved.first, moved.stop)
        task.reads.append(Read((int(moved.source), value), box, Match.EXACT if moved.partial else Match.COVER))
        way = ("ticks", moved.arrive - moved.start) if moved.link is None else "link"
        usable = moved.arrive + facts.sync[target]
        piece = Piece(box, moved.start, moved.arrive, usable, facts.rounded(moved.bytes), None if moved.partial else way)
        self.execution.make((target, value), piece, task)
        return task

    def box(self, phase: int, first: int, stop: int) -> Box:
        """Of units; an output of no bytes is still something to be there."""
        return ((-1, 0),) if first == stop == self.facts.units(phase) == 0 else ((first, stop),)

    def way(self, edge: Edge) -> object:
        """How a copy comes that the edge takes: in its own ticks, or over a link."""
        return ("ticks", edge.ticks or 0) if self.facts.delayed(edge) else "link"

    def scratch(self, shard: Shard) -> int:
        """Bytes that a shard needs while it runs."""
        task = self.facts.problem.phases[shard.phase]
        if task.together is not None:
            stated = {int(device): size for (device, _), size in zip(task.together.mode, task.together.scratch, strict=True)}
            return self.facts.rounded(stated.get(int(shard.device), 0))
        return self.facts.rounded(ceil(task.scratch * (shard.stop - shard.first) / task.units)) if task.scratch else 0

    def result_bytes(self, shard: Shard) -> int:
        """Bytes that a shard makes: of the output, or its partial result."""
        facts, task = self.facts, self.facts.problem.phases[shard.phase]
        if task.combine is not None:
            return facts.rounded(task.combine.bytes)
        first, stop = (0, facts.units(shard.phase)) if facts.whole(shard.phase) else (shard.first, shard.stop)
        return facts.rounded(facts.size(shard.phase, first, stop, None))

    # ------------------------------------------------------------------ directives and effects

    def holds(self, phase: int, device: int) -> bool:
        """All of an output is on a device at the end."""
        there = [piece.box for piece in self.execution.pieces.get((device, phase), ())]
        return bool(there) and covered(self.box(phase, 0, self.facts.units(phase)), there)

    def wanted(self) -> None:
        """What is kept is used to the end; of equal copies one is enough."""
        facts, last = self.facts, self.facts.schedule.makespan + 1
        for directive in facts.problem.directives:
            if isinstance(directive, Keep | Replicate):
                named = facts.named(directive.device) if isinstance(directive, Keep) else facts.used
                there = [device for device in sorted(named) if self.holds(directive.phase, device)]
                for device in there[:1] if isinstance(directive, Keep) else there:
                    pieces = sorted(self.execution.pieces[device, directive.phase], key=lambda piece: piece.start)
                    for piece in {piece.box: piece for piece in pieces}.values():
                        piece.uses.append((last, None))

    def orders(self) -> None:
        """`before`, and the order of effects: all that makes the first is complete before any of the second starts."""
        pairs = [(a, b) for d in self.facts.problem.directives if isinstance(d, Before) for b in d.then for a in d.first]
        effects = [index for index, phase in enumerate(self.facts.problem.phases) if phase.effect]
        for first, then in (*pairs, *pairwise(effects)):
            for task in self.shards[then]:
                task.after += self.makers(first)

    def makers(self, phase: int) -> Iterator[Task]:
        if phase in self.combines:
            return iter((self.combines[phase],))
        shards = self.facts.shards[phase]
        return compress(self.shards[phase], [not self.facts.elsewhere(phase, shard.device) for shard in shards])

    # ------------------------------------------------------------------ words

    def said(self, lack: Lack, task: Task, read: Read | Task) -> Violation:
        facts, step = self.facts, task.what
        if isinstance(read, Task):
            return Violation(Rule.V2, f"{self.name(task)} is not certain to come after {self.name(read)}")
        (low, high), value = read.box[0], read.key[1]
        phase = value.phase if isinstance(value, Partial) else value
        assert isinstance(phase, int)
        part = f"[{max(0, low)}, {high}) of `{facts.id(phase)}`"
        if lack is Lack.UNCERTAIN:
            return Violation(Rule.V2, f"{self.name(task)} is not certain to come after what brings {part}")
        if isinstance(step, Shard):
            where = f"`{facts.id(step.phase)}` starts at {step.start} on {facts.names[step.device]}"
            return Violation(Rule.V4, f"{where} without {part}")
        if isinstance(step, Transfer):
            return Violation(Rule.V4, f"{facts.names[step.source]} has not {part} to send at {step.start}")
        return Violation(Rule.V4, f"the partial results of `{facts.id(phase)}` are not brought home, each once")

    def name(self, task: Task) -> str:
        return self.facts.name(task.what)
