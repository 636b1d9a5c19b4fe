"""V2 and V7: the order that queues, fences and waits enforce, without looking at ticks.

Note [Closure].  A step comes after the one before it in its queue, and after what the fences of the waits before it tell of.
What it is therefore certain to come after is found by walking back; every dependency must be found so (V2), and no wait may
tell only what is found without it (V7).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, TypeAlias

from ...problem import Before
from ...synchronisation import QueueKind, Step, StepKind, Synchronisation
from .facts import Facts
from .violation import Code, Violation

Event: TypeAlias = tuple[int, int]
MOST_WORK: Final = 20_000_000
"""Waits × steps above which V7 is not asked; steps × queues above which orders are checked by ticks alone."""
MOST_STEPS: Final = 10_000


def one_at_a_time(facts: Facts) -> Iterator[Violation]:
    """V2 of the ticks: a device runs one step at a time."""
    lanes: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for shard in facts.schedule.shards:
        lanes[shard.device].append((shard.start, shard.end, shard.phase))
    for step in facts.schedule.combines:
        lanes[facts.home].append((step.start, step.end, step.phase))
    for device, steps in lanes.items():
        for (_, end, first), (start, _, then) in pairwise(sorted(steps)):
            if start < end:
                names = f"`{facts.id(first)}` and `{facts.id(then)}`"
                yield Violation(Code.V2, f"{facts.names[device]} runs {names} at once, at {start}")


class Closure:
    """What comes before what."""

    def __init__(self, sync: Synchronisation) -> None:
        self.sync = sync
        self.place: dict[Step, Event] = {}
        for q, queue in enumerate(sync.queues):
            for p, step in enumerate(queue.steps):
                self.place[step] = (q, p)
        self.told: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for number, wait in enumerate(sync.waits):
            self.told[wait.queue][wait.position].append(number)
        self.clocks: dict[Event, dict[int, int]] | None = self._clocks()

    def _clocks(self) -> dict[Event, dict[int, int]] | None:
        """By step, the last step of each queue that is certainly complete before it starts; None if there is a circle."""
        events = {event: step for step, event in self.place.items()}
        earlier: dict[Event, list[Event]] = {}
        for q, p in events:
            found = [(q, p - 1)] if p else []
            for number in self.told[q].get(p, ()):
                found += [(int(other), at) for other, at in self.sync.fences[self.sync.waits[number].fence].after]
            earlier[q, p] = found
        clocks: dict[Event, dict[int, int]] = {}
        waiting = {event: len(found) for event, found in earlier.items()}
        followers: dict[Event, list[Event]] = defaultdict(list)
        for event, found in earlier.items():
            for other in found:
                followers[other].append(event)
        free = [event for event, count in waiting.items() if count == 0]
        for event in free:
            clock: dict[int, int] = {}
            for before in earlier[event]:
                for q, p in (*clocks[before].items(), before):
                    clock[q] = max(clock.get(q, -1), p)
            clocks[event] = clock
            for other in followers[event]:
                waiting[other] -= 1
                if waiting[other] == 0:
                    free.append(other)
        return clocks if len(clocks) == len(events) else None

    def knows(self, step: Step, earlier: Step) -> bool:
        assert self.clocks is not None
        q, p = self.place[earlier]
        return self.clocks[self.place[step]].get(q, -1) >= p

    def needless(self, number: int) -> bool:
        """What a wait tells is found without it."""
        wait = self.sync.waits[number]
        reached: dict[int, int] = {int(wait.queue): wait.position - 1}
        followed: dict[int, int] = {}
        stack = [(int(wait.queue), wait.position)]
        while stack:
            q, p = stack.pop()
            for at in range(followed.get(q, -1) + 1, p + 1):
                for other in self.told[q].get(at, ()):
                    if other == number:
                        continue
                    for w, x in self.sync.fences[self.sync.waits[other].fence].after:
                        reached[w] = max(reached.get(w, -1), x)
                        if followed.get(w, -1) < x:
                            stack.append((int(w), x))
            followed[q] = max(followed.get(q, -1), p)
        return all(reached.get(q, -1) >= p for q, p in self.sync.fences[wait.fence].after)


def ordered(facts: Facts, sync: Synchronisation) -> Iterator[Violation]:
    """V2: each step once in its own queue, no circle, every dependency enforced."""
    wrong = list(_queues(facts, sync))
    yield from wrong
    if wrong:
        return
    for wait in sync.waits:
        positions = range(len(sync.queues[wait.queue].steps)) if 0 <= wait.queue < len(sync.queues) else range(0)
        if wait.position not in positions or not 0 <= wait.fence < len(sync.fences):
            yield Violation(Code.V2, f"a wait before step {wait.position} of queue {wait.queue} is nowhere")
            return
    if len(set(sync.waits)) < len(sync.waits):
        yield Violation(Code.V2, "a wait is stated twice")
    for place, fence in enumerate(sync.fences):
        if any(not 0 <= q < len(sync.queues) or not 0 <= p < len(sync.queues[q].steps) for q, p in fence.after):
            yield Violation(Code.V2, f"fence f{fence.id} is nowhere")
            return
        if fence.id != place or not fence.after or len({q for q, _ in fence.after}) < len(fence.after):
            yield Violation(Code.V2, f"fence f{fence.id} has number {place}, or comes after nothing, or twice after one queue")
        elif int(fence.source) not in {_teller(facts, sync.queues[q].steps[p]) for q, p in fence.after}:
            yield Violation(Code.V2, f"fence f{fence.id} tells of device {fence.source}, which does nothing before it")
    yield from _in_time(facts, sync)
    if sum(len(queue.steps) for queue in sync.queues) * len(sync.queues) > MOST_WORK:
        return
    closure = Closure(sync)
    if closure.clocks is None:
        yield Violation(Code.V2, "queues wait for each other in a circle")
        return
    for step, earlier in _dependencies(facts):
        if step not in closure.place or not any(e in closure.place and closure.knows(step, e) for e in earlier):
            names = f"{_name(facts, step)} is not certain to come after {' or '.join(_name(facts, e) for e in earlier)}"
            yield Violation(Code.V2, names)


def _in_time(facts: Facts, sync: Synchronisation) -> Iterator[Violation]:
    """No wait holds its queue up beyond the tick at which the schedule goes on."""
    for wait in sync.waits:
        queue = sync.queues[wait.queue]
        step = queue.steps[wait.position]
        for q, p in sync.fences[wait.fence].after:
            done = _ended(facts, sync.queues[q].steps[p])
            if done > _started(facts, step):
                name = _name(facts, sync.queues[q].steps[p])
                yield Violation(Code.V2, f"{queue.name} waits for {name} until {done}, and goes on with {_name(facts, step)}")


def _started(facts: Facts, step: Step) -> int:
    match step.kind:
        case StepKind.SHARD:
            return facts.schedule.shards[step.index].start
        case StepKind.COMBINE:
            return facts.schedule.combines[step.index].end  # it merges as partial results arrive
        case StepKind.TRANSFER:
            return facts.schedule.transfers[step.index].start


def _ended(facts: Facts, step: Step) -> int:
    match step.kind:
        case StepKind.SHARD:
            return facts.schedule.shards[step.index].end
        case StepKind.COMBINE:
            return facts.schedule.combines[step.index].end
        case StepKind.TRANSFER:
            return facts.schedule.transfers[step.index].arrive


def _queues(facts: Facts, sync: Synchronisation) -> Iterator[Violation]:
    schedule = facts.schedule
    counts = ((StepKind.SHARD, schedule.shards), (StepKind.COMBINE, schedule.combines), (StepKind.TRANSFER, schedule.transfers))
    steps = [step for queue in sync.queues for step in queue.steps]
    wanted = {Step(kind, index) for kind, each in counts for index in range(len(each))}
    if len(steps) != len(set(steps)) or set(steps) != wanted:
        yield Violation(Code.V2, "the queues do not hold each step once")
        return
    names = [queue.name for queue in sync.queues]
    for place, queue in enumerate(sync.queues):
        if queue.name in names[:place]:
            yield Violation(Code.V2, f"two queues are called {queue.name}")
        computes = queue.kind is QueueKind.COMPUTE
        if computes != (queue.device is not None) or (computes and queue.name not in facts.names):
            yield Violation(Code.V2, f"queue {queue.name} is of no device, or of one that does not compute")
            continue
        for step in queue.steps:
            if (step.kind is StepKind.TRANSFER) == computes:
                yield Violation(Code.V2, f"{_name(facts, step)} is in queue {queue.name}")
            elif computes and not _device(facts, step) == queue.device == facts.names.index(queue.name):
                yield Violation(Code.V2, f"{_name(facts, step)} is in the queue of {queue.name}")
        ticks = [_when(facts, step) for step in queue.steps]
        for (_, early), (at, late) in pairwise(enumerate(ticks)):
            if early > late:
                yield Violation(Code.V2, f"{_name(facts, queue.steps[at])} comes after what is later, in queue {queue.name}")
    yield from _channels(facts, sync)


def _when(facts: Facts, step: Step) -> tuple[int, int]:
    """By which the steps of a queue are in order: starts and ends of a device's, arrivals and starts of transfers."""
    match step.kind:
        case StepKind.SHARD:
            shard = facts.schedule.shards[step.index]
            return shard.start, shard.end
        case StepKind.COMBINE:
            made = facts.schedule.combines[step.index]
            own = [shard.end for shard in facts.on[made.phase, facts.home]]
            return max([made.start, *own]), made.end
        case StepKind.TRANSFER:
            moved = facts.schedule.transfers[step.index]
            return moved.arrive, moved.start


def _channels(facts: Facts, sync: Synchronisation) -> Iterator[Violation]:
    """What one channel carries is in one queue."""
    queues: dict[tuple[object, ...], str] = {}
    for queue in sync.queues:
        for step in queue.steps:
            if step.kind is StepKind.TRANSFER and queue.kind is QueueKind.COPY:
                moved = facts.schedule.transfers[step.index]
                channel = facts.channel(moved) if moved.busy > moved.start else None
                if channel is not None and queues.setdefault(channel, queue.name) != queue.name:
                    yield Violation(Code.V2, f"{_name(facts, step)} is in queue {queue.name}, its channel's is {queues[channel]}")


def _teller(facts: Facts, step: Step) -> int:
    """The device whose doing a fence after a step tells of: of a transfer its source."""
    return int(facts.schedule.transfers[step.index].source) if step.kind is StepKind.TRANSFER else _device(facts, step)


def _device(facts: Facts, step: Step) -> int:
    return facts.home if step.kind is StepKind.COMBINE else int(facts.schedule.shards[step.index].device)


def _name(facts: Facts, step: Step) -> str:
    match step.kind:
        case StepKind.SHARD:
            shard = facts.schedule.shards[step.index]
            return f"`{facts.id(shard.phase)}` on {facts.names[shard.device]} (at {shard.start})"
        case StepKind.COMBINE:
            made = facts.schedule.combines[step.index]
            return f"the combine of `{facts.id(made.phase)}` (at {made.start})"
        case StepKind.TRANSFER:
            moved = facts.schedule.transfers[step.index]
            way = f"{facts.names[moved.source]} to {facts.names[moved.target]}"
            return f"`{facts.id(moved.phase)}` from {way} (at {moved.start})"


def _dependencies(facts: Facts) -> Iterator[tuple[Step, list[Step]]]:
    """(step, steps of which one must be known to come before it)."""
    schedule = facts.schedule
    makers: dict[int, list[tuple[int, Step]]] = defaultdict(list)
    shards: dict[int, list[tuple[int, Step]]] = defaultdict(list)
    for index, shard in enumerate(schedule.shards):
        shards[shard.phase].append((int(shard.device), Step(StepKind.SHARD, index)))
    combines: dict[int, Step] = {combine.phase: Step(StepKind.COMBINE, index) for index, combine in enumerate(schedule.combines)}
    for phase in range(len(facts.problem.phases)):
        own = combines.get(phase)
        makers[phase] = [(facts.home, own)] if own is not None else shards[phase]
        if facts.problem.phases[phase].is_gathered and own is None:
            makers[phase] = [(device, step) for device, step in shards[phase] if device == facts.home]
    moves: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, moved in enumerate(schedule.transfers):
        moves[moved.phase, moved.target].append(index)
    for index, shard in enumerate(schedule.shards):
        step = Step(StepKind.SHARD, index)
        for edge in facts.incoming[shard.phase]:
            low, high = facts.needed(edge, shard)
            yield from ((step, [maker]) for maker in _made(facts, makers[edge.source], int(shard.device), low, high))
            for number in moves[edge.source, shard.device]:
                moved = schedule.transfers[number]
                overlap = low == high or (moved.first < high and moved.stop > low)
                if overlap and not moved.partial and moved.arrive <= shard.start:
                    yield step, [Step(StepKind.TRANSFER, number)]
    for directive in facts.problem.directives:
        if isinstance(directive, Before):
            for then in map(int, directive.then):
                yield from ((step, [m]) for _, step in shards[then] for first in directive.first for _, m in makers[first])
    effects = [index for index, phase in enumerate(facts.problem.phases) if phase.effect]
    for first, then in pairwise(effects):
        yield from ((step, [maker]) for _, step in shards[then] for _, maker in makers[first])
    for combined, combining in combines.items():
        yield from ((combining, [step]) for device, step in shards[combined] if device == facts.home)
        partials = [t for t in moves[combined, facts.home] if schedule.transfers[t].partial]
        yield from ((combining, [Step(StepKind.TRANSFER, number)]) for number in partials)
    for index, moved in enumerate(schedule.transfers):
        step = Step(StepKind.TRANSFER, index)
        sent = (shards if moved.partial else makers)[moved.phase]
        made = _made(facts, sent, int(moved.source), moved.first, moved.stop)
        if made:
            yield from ((step, [maker]) for maker in made)
            continue
        for number in moves[moved.phase, moved.source]:
            came = schedule.transfers[number]
            overlap = moved.first == moved.stop or (came.first < moved.stop and came.stop > moved.first)
            if overlap and not came.partial and came.arrive <= moved.start:
                yield step, [Step(StepKind.TRANSFER, number)]


def _made(facts: Facts, makers: list[tuple[int, Step]], device: int, low: int, high: int) -> list[Step]:
    """Of the steps that make an output, those on a device that make something of [low, high)."""
    found: list[Step] = []
    for where, step in makers:
        if where != device:
            continue
        if step.kind is StepKind.SHARD:
            shard = facts.schedule.shards[step.index]
            if not facts.whole(shard.phase) and (shard.first >= high or shard.stop <= low):
                continue
        found.append(step)
    return found


def needed(facts: Facts, sync: Synchronisation) -> Iterator[Violation]:
    """V7: no wait of a device tells what is known without it; not asked of large schedules."""
    steps = sum(len(queue.steps) for queue in sync.queues)
    if steps > MOST_STEPS or steps * len(sync.waits) > MOST_WORK:
        return
    closure = Closure(sync)
    for number, wait in enumerate(sync.waits):
        if closure.needless(number):
            queue = sync.queues[wait.queue]
            step = _name(facts, queue.steps[wait.position])
            yield Violation(Code.V7, f"{queue.name} waits for fence f{wait.fence} before {step}, of which it knows already")
