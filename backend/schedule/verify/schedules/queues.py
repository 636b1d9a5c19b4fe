"""V2 of the queues themselves: each step once where it belongs, in the order of time, fences and waits that are somewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from ...answer import CombineStep, Placed, Shard, Transfer
from ...synchronisation import QueueKind, Synchronisation
from ..violation import Rule, Violation
from .facts import Facts


def sound(facts: Facts, sync: Synchronisation) -> Iterator[Violation]:
    """Without this nothing can be said of the order that queues give."""
    wrong = tuple(_queues(facts, sync))
    yield from wrong or _fences(facts, sync)


def _fences(facts: Facts, sync: Synchronisation) -> Iterator[Violation]:
    there = {(q, p) for q, queue in enumerate(sync.queues) for p in range(len(queue.steps))}
    for wait in sync.waits:
        if (wait.queue, wait.position) not in there or not 0 <= wait.fence < len(sync.fences):
            yield Violation(Rule.V2, f"a wait before step {wait.position} of queue {wait.queue} is nowhere")
    if len(set(sync.waits)) < len(sync.waits):
        yield Violation(Rule.V2, "a wait is stated twice")
    for place, fence in enumerate(sync.fences):
        if not there.issuperset(fence.after):
            yield Violation(Rule.V2, f"fence f{fence.id} is nowhere")
        elif fence.id != place or not fence.after or len({q for q, _ in fence.after}) < len(fence.after):
            yield Violation(Rule.V2, f"fence f{fence.id} has number {place}, or comes after nothing, or twice after one queue")
        elif int(fence.source) not in {_teller(facts, sync.queues[q].steps[p]) for q, p in fence.after}:
            yield Violation(Rule.V2, f"fence f{fence.id} tells of device {fence.source}, which does nothing before it")


def _queues(facts: Facts, sync: Synchronisation) -> Iterator[Violation]:
    schedule = facts.schedule
    steps: Counter[Placed] = Counter(step for queue in sync.queues for step in queue.steps)
    everything: Counter[Placed] = Counter((*schedule.shards, *schedule.combines, *schedule.transfers))
    if steps != everything or steps.total() > len(steps):
        lacks = next(map(facts.name, everything - steps), "one is there twice, or is not of the schedule")
        yield Violation(Rule.V2, f"the queues do not hold each step once: {lacks}")
        return
    names = [queue.name for queue in sync.queues]
    channels: dict[tuple[object, ...], str] = {}
    for place, queue in enumerate(sync.queues):
        if queue.name in names[:place]:
            yield Violation(Rule.V2, f"two queues are called {queue.name}")
        computes = queue.kind is QueueKind.COMPUTE
        if computes != (queue.device is not None) or (computes and queue.name not in facts.names):
            yield Violation(Rule.V2, f"queue {queue.name} is of no device, or of one that does not compute")
            continue
        for step in queue.steps:
            if isinstance(step, Transfer) == computes:
                yield Violation(Rule.V2, f"{facts.name(step)} is in queue {queue.name}")
            elif isinstance(step, Transfer):
                channel = facts.channel(step) if step.busy > step.start else None
                if channel is not None and channels.setdefault(channel, queue.name) != queue.name:
                    yield Violation(Rule.V2, f"{facts.name(step)} is in queue {queue.name}, its channel's is {channels[channel]}")
            elif not _device(facts, step) == queue.device == facts.names.index(queue.name):
                yield Violation(Rule.V2, f"{facts.name(step)} is in the queue of {queue.name}")
        for early, late in pairwise(queue.steps):
            if _when(facts, early) > _when(facts, late):
                yield Violation(Rule.V2, f"{facts.name(late)} comes after what is later, in queue {queue.name}")


def _when(facts: Facts, step: Placed) -> tuple[int, int]:
    """By which the steps of a queue are in order: starts and ends of a device's, arrivals and starts of transfers."""
    match step:
        case Shard():
            return step.start, step.end
        case CombineStep():
            return max([step.start, *(shard.end for shard in facts.on[step.phase, facts.home])]), step.end
        case Transfer():
            return step.arrive, step.start


def _teller(facts: Facts, step: Placed) -> int:
    """The device whose doing a fence after a step tells of: of a transfer its source."""
    return int(step.source) if isinstance(step, Transfer) else _device(facts, step)


def _device(facts: Facts, step: Shard | CombineStep) -> int:
    return facts.home if isinstance(step, CombineStep) else int(step.device)
