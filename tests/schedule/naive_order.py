"""The order that queues, fences and waits enforce, found by walking back from every step: a second opinion to V2 and V7."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from rho.backend.schedule.problem import (
    Before,
    Edge,
    QueueKind,
    ScheduledCombine,
    ScheduledStep,
    Shard,
    Synchronisation,
    Transfer,
    Wait,
)

from .naive import Naive

Event = tuple[int, int]
"""A queue and a position in it."""


class NaiveOrder(Naive):
    def order_codes(self, sync: Synchronisation) -> set[str]:
        """V2 or V7, as the verifier says them of a schedule that is right by itself."""
        self.sync = sync
        if any(self.misplaced()) or any(self.meaningless()) or any(self.unordered()):
            return {"V2"}
        return {"V7"} if any(self.needless()) else set()

    def misplaced(self) -> Iterator[bool]:
        """Each step once, in the queue of its device or of its channel, in the order of time."""
        schedule, queues = self.schedule, self.sync.queues
        steps = [step for queue in queues for step in queue.steps]
        every = [*schedule.shards, *schedule.combines, *schedule.transfers]
        if sorted(steps, key=str) != sorted(every, key=str) or len(set(every)) < len(every):
            yield True
            return
        yield len({queue.name for queue in queues}) < len(queues)
        channels: dict[object, set[int]] = {}
        for place, queue in enumerate(queues):
            yield (queue.kind is QueueKind.COMPUTE) != (queue.device is not None)
            for step in queue.steps:
                yield (isinstance(step, Transfer)) == (queue.kind is QueueKind.COMPUTE)
                if not isinstance(step, Transfer):
                    yield self.device(step) != queue.device or queue.name != self.names[self.device(step)]
                else:
                    channel = self.channel(step.link, step.source, step.target)
                    if channel is not None and step.busy > step.start:
                        channels.setdefault(channel, set()).add(place)
            if queue.device is not None:
                yield queue.name not in self.names
            yield from (self.when(a) > self.when(b) for a, b in pairwise(queue.steps))
        yield from (len(places) > 1 for places in channels.values())

    def device(self, step: ScheduledStep) -> int:
        return self.home if isinstance(step, ScheduledCombine) else int(step.device)

    def when(self, step: ScheduledStep) -> tuple[int, int]:
        """Queues of devices are in order of starts, where a combine starts when home is done; those of channels of arrivals."""
        if isinstance(step, Transfer):
            return step.arrive, step.start
        if isinstance(step, Shard):
            return step.start, step.end
        return max([step.start, *(s.end for s in self.shards(step.phase, self.home))]), step.end

    def meaningless(self) -> Iterator[bool]:
        """Waits and fences that speak of nothing, or hold up what the schedule starts earlier."""
        queues, fences = self.sync.queues, self.sync.fences
        there = {(q, p) for q, queue in enumerate(queues) for p in range(len(queue.steps))}
        yield len({(w.queue, w.position, w.fence) for w in self.sync.waits}) < len(self.sync.waits)
        for wait in self.sync.waits:
            yield (wait.queue, wait.position) not in there or wait.fence not in range(len(fences))
        for place, fence in enumerate(fences):
            yield fence.id != place or not fence.after or len({q for q, _ in fence.after}) < len(fence.after)
            yield any(event not in there for event in fence.after)
            steps = [queues[q].steps[p] for q, p in fence.after if (q, p) in there]
            yield fence.source not in {
                s.source if isinstance(s, Transfer) else self.device(s) for s in steps
            }
        for wait in self.sync.waits:
            if (wait.queue, wait.position) in there and 0 <= wait.fence < len(fences):
                goes_on = self.times(queues[wait.queue].steps[wait.position])[0]
                after = [event for event in fences[wait.fence].after if event in there]
                yield any(self.times(queues[q].steps[p])[1] > goes_on for q, p in after)

    def times(self, step: ScheduledStep) -> tuple[int, int]:
        """When a step cannot wait any longer, and when it is done."""
        if isinstance(step, Transfer):
            return step.start, step.arrive
        if isinstance(step, ScheduledCombine):
            return (step.end,) * 2
        return step.start, step.end

    def past(self, event: Event, without: Wait | None = None) -> set[Event]:
        """All that is certainly done before a step starts."""
        found: set[Event] = set()
        pending = [event]
        while pending:
            q, p = pending.pop()
            before = {(q, p - 1)} if p else set()
            for wait in self.sync.waits:
                if (wait.queue, wait.position) == (q, p) and wait is not without:
                    before |= {(int(other), at) for other, at in self.sync.fences[wait.fence].after}
            pending += before - found
            found |= before
        return found

    def unordered(self) -> Iterator[bool]:
        events = {step: (q, p) for q, queue in enumerate(self.sync.queues) for p, step in enumerate(queue.steps)}
        pasts = {event: self.past(event) for event in events.values()}
        yield from (event in past for event, past in pasts.items())
        yield from (events[early] not in pasts[events[late]] for late, early in self.dependencies())
        for own, needs, parts in self.readings():
            there = [units for step, units in parts if events[step] in pasts[events[own]]]
            yield not there or bool(needs - set().union(*there))

    def needless(self) -> Iterator[bool]:
        for wait in self.sync.waits:
            known = self.past((int(wait.queue), wait.position), without=wait)
            yield all((int(q), p) in known for q, p in self.sync.fences[wait.fence].after)

    def dependencies(self) -> Iterator[tuple[ScheduledStep, ScheduledStep]]:
        schedule, tasks = self.schedule, self.problem.phases
        for shard in schedule.shards:
            own = shard
            pairs = [(a, b) for d in self.problem.directives if isinstance(d, Before) for a in d.first for b in d.then]
            pairs += pairwise([phase for phase, task in enumerate(tasks) if task.effect])  # type: ignore[arg-type]
            yield from ((own, step) for a, b in pairs if b == shard.phase for step, _ in self.makers(int(a), None, None))
        for combine in schedule.combines:
            own = combine
            for other in schedule.shards:
                if (other.phase, other.device) == (combine.phase, self.home):
                    yield own, other
            for moved in schedule.transfers:
                if moved.partial and (moved.phase, moved.target) == (combine.phase, self.home):
                    yield own, moved
        for moved in schedule.transfers:
            if moved.partial:
                for s in schedule.shards:
                    if (s.phase, s.device) == (moved.phase, moved.source):
                        yield moved, s

    def readings(self) -> Iterator[tuple[ScheduledStep, set[int], list[tuple[ScheduledStep, set[int]]]]]:
        """(step, units that it reads, what brings them in time and which): of these, those certain to be there must suffice."""
        for shard in self.schedule.shards:
            for edge in self.problem.edges:
                if edge.target == shard.phase:
                    own, device = shard, int(shard.device)
                    came = self.came(edge.source, device, shard.start - self.groups[device].sync, edge)
                    made = self.makers(edge.source, device, shard.start)
                    yield own, self.needs(edge, shard), [*made, *came]
        for moved in self.schedule.transfers:
            if not moved.partial:
                own, device = moved, int(moved.source)
                parts = [*self.makers(moved.phase, device, moved.start), *self.came(moved.phase, device, moved.start, None)]
                yield own, set(range(moved.first, moved.stop)), [(step, units) for step, units in parts if step != own]

    def makers(self, phase: int, device: int | None, tick: int | None) -> Iterator[tuple[ScheduledStep, set[int]]]:
        """The steps that make some of an output on a device by a tick, and which; without device or tick, anywhere, whenever."""
        everything = set(range(self.units(phase)))
        for combine in self.schedule.combines:
            if combine.phase == phase and device in (None, self.home) and (tick is None or combine.end <= tick):
                yield combine, everything
        if self.combine_end(phase) is not None:
            return
        gathered = self.whole(phase) and self.problem.phases[phase].rows > 0
        for s in self.schedule.shards:
            if s.phase != phase or device not in (None, s.device) or (gathered and s.device != self.home):
                continue
            if tick is None or s.end <= tick:
                yield s, everything if self.whole(phase) else set(range(s.first, s.stop))

    def came(self, phase: int, device: int, tick: int, edge: Edge | None) -> Iterator[tuple[ScheduledStep, set[int]]]:
        """The transfers that brought some of it to a device by a tick, as an edge takes it."""
        for moved in self.schedule.transfers:
            there = moved.phase == phase and moved.target == device and not moved.partial and moved.arrive <= tick
            if there and (edge is None or self.serves(moved, edge)):
                yield moved, set(range(moved.first, moved.stop))
