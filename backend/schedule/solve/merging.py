"""Fewer waits for later starts: a step waits at once for what a later step of its queue will wait for anyway.

`fewer_syncs` takes two waits of one queue for one device, has the first step's phase start no earlier than both fences have
passed, lays the same decisions out again, and keeps the schedule if a wait is saved.  The best such delay by makespan is
repeated while one is found.  Decisions are laid out by `timing`, so that memory, orders and copies hold as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ..answer import Placed, Schedule, Shard, Transfer
from ..problem import Deadline, PhaseIndex, Problem
from ..timeline.fences import Merging, QueueKind, Synchronisation, done, synchronise
from ..timeline.timing import Queueing, Timer, decisions_of

MOST_WORK: Final = 200_000
"""Steps × waits above which nothing is tried."""


def fewer_syncs(problem: Problem, schedule: Schedule, most: int | None = None) -> Schedule:
    """A schedule of the same decisions with as many syncs (by `Merging.SLACK`) or fewer, and at most `most` ticks."""
    limits = [d.ticks for d in problem.directives if isinstance(d, Deadline)] + ([] if most is None else [most])
    best, sync = schedule, synchronise(problem, schedule, Merging.SLACK)
    delayed = problem
    while True:
        if sum(len(queue.steps) for queue in sync.queues) * len(sync.waits) > MOST_WORK:
            return best
        found: list[tuple[int, int, Problem, Schedule, Synchronisation]] = []
        for phase, tick in sorted(set(_delays(problem, best, sync))):
            later = _with_ready(delayed, phase, tick)
            for queueing in Queueing:
                made = Timer(later).lay_out(replace(decisions_of(later, best), queueing=queueing))
                if made is None or any(made.makespan > limit for limit in limits):
                    continue
                again = synchronise(problem, made, Merging.SLACK)
                if again.syncs < sync.syncs:
                    found.append((made.makespan, len(found), later, made, again))
        if not found:
            return best
        _, _, delayed, best, sync = min(found, key=lambda each: each[:2])


def _with_ready(problem: Problem, phase: PhaseIndex, tick: int) -> Problem:
    tasks = list(problem.phases)
    tasks[phase] = replace(tasks[phase], ready=max(tick, tasks[phase].ready))
    return replace(problem, phases=tuple(tasks))


def _delays(problem: Problem, schedule: Schedule, sync: Synchronisation) -> Iterator[tuple[PhaseIndex, int]]:
    """A phase that waits, and the tick at which the queue's next fence of the same device has passed."""
    arrival = [group.sync for group in problem.devices for _ in range(group.count)]
    last: dict[tuple[int, int], Placed] = {}
    for wait in sync.waits:
        queue, fence = sync.queues[wait.queue], sync.fences[wait.fence]
        if queue.kind is not QueueKind.COMPUTE:
            continue
        key = (int(wait.queue), int(fence.source))
        first = last.get(key)
        if isinstance(first, Shard):
            passed = max(_passed(sync.queues[q].steps[p], arrival) for q, p in fence.after)
            yield first.phase, passed
        last[key] = queue.steps[wait.position]


def _passed(step: Placed, arrival: list[int]) -> int:
    """The tick from which a consumer of a step may start."""
    return done(step) + (arrival[step.target] if isinstance(step, Transfer) else 0)
