"""The front end of schedules: V1 to V10 of scheduling.md, over a problem and an answer.

It shares no code with the planners: of the scheduler only the data of `problem` and `synchronisation` is imported, and what
their notes say is computed again (`facts`).  V11 (values) is the executor's.

    V1 V3 V8 places · V2 queues · V6 moves · V9 clock · V10 claims · the rest is the judge's, of what `translate` gives it

Every field of an answer is judged from the schedule, but for those that `claims.ADVISORY` names.  That no plan is better
cannot be seen from a schedule: `standing` says whether a bound is proved here or only claimed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...answer import Answer, Schedule, Status
from ...problem import Problem
from ...synchronisation import Synchronisation
from ..execution import Execution
from ..judge import collisions, held_up, needless, ordered, peaks, resident
from ..violation import Rule, Violation
from .claims import ADVISORY, Standing, claimed, standing
from .clock import timed, valued
from .facts import Facts
from .moves import carried
from .places import obeyed, present, tiled, together
from .queues import sound
from .translate import Translation

__all__ = ["ADVISORY", "Rule", "Standing", "Violation", "memory_in_use", "standing", "verify", "verify_schedule"]

MOST_WORK: Final = 20_000_000
"""Waits × steps above which V7 is not asked; steps × queues above which orders are checked by ticks alone."""
MOST_STEPS: Final = 10_000


def verify(problem: Problem, answer: Answer, sync: Synchronisation | None = None) -> tuple[Violation, ...]:
    """Everything wrong with an answer; empty if it may be used.  Of a schedule that is wrong no values are asked."""
    schedule = answer.schedule
    claims = tuple(claimed(problem, answer, verify_schedule))
    if schedule is None:
        if answer.status in (Status.OPTIMAL, Status.GAP):
            return (Violation(Rule.V1, f"called {answer.status.value} without a schedule"),)
        return claims
    found = verify_schedule(problem, schedule, sync)
    return (*(found or valued(Facts(problem, schedule), answer, sync)), *claims)


def verify_schedule(problem: Problem, schedule: Schedule, sync: Synchronisation | None = None) -> tuple[Violation, ...]:
    """Everything wrong with a schedule by itself.  Where phases are missing nothing else is asked."""
    facts = Facts(problem, schedule)
    missing = tuple(present(facts))
    if missing:
        return missing
    translated = Translation(facts)
    execution = translated.execution
    found = [
        *tiled(facts), *together(facts), *obeyed(facts, translated.holds), *_at_once(facts, execution), *resident(execution),
        *carried(facts), *timed(facts), *_too_full(facts, execution),
    ]  # fmt: skip
    if sync is not None:
        wrong = tuple(sound(facts, sync))
        found += wrong
        if not wrong:
            found += _in_time(translated.queued(sync), facts)
            if sum(map(len, execution.queues)) * len(sync.queues) <= MOST_WORK:
                found += ordered(execution)
        if not found:
            found += _needless(facts, translated, sync)
    return tuple(found)


def memory_in_use(problem: Problem, schedule: Schedule) -> dict[int, tuple[int, int]]:
    """By device with a limit: the most bytes in use, and the tick at which they first are."""
    facts = Facts(problem, schedule)
    found = peaks(Translation(facts).execution)
    return {device: found.get(device, (0, 0)) for device, cap in enumerate(facts.caps) if cap is not None}


def _at_once(facts: Facts, execution: Execution) -> Iterator[Violation]:
    """V2 of devices and V6 of channels: one thing at a time."""
    for lane, first, then in collisions(execution):
        names = f"`{facts.id(first.what.phase)}` and `{facts.id(then.what.phase)}`"  # type: ignore[attr-defined]
        if isinstance(lane, int):
            yield Violation(Rule.V2, f"{facts.names[lane]} runs {names} at once, at {then.start}")
        else:
            yield Violation(Rule.V6, f"{names} are on one channel at {then.start}")


def _too_full(facts: Facts, execution: Execution) -> Iterator[Violation]:
    """V5: no device has more in use than it has."""
    if any(cap is not None for cap in facts.caps):
        found = peaks(execution)
        for device, cap in enumerate(facts.caps):
            peak, tick = found.get(device, (0, 0))
            if cap is not None and peak > cap:
                yield Violation(Rule.V5, f"{facts.names[device]} has {peak} bytes in use at {tick}, and {cap} at most")


def _in_time(execution: Execution, facts: Facts) -> Iterator[Violation]:
    """V2: no wait holds its queue up beyond the tick at which the schedule goes on."""
    for task, told in held_up(execution):
        names = f"`{facts.name(task.what)}` waits for {facts.name(told.what)} until {told.end}"
        yield Violation(Rule.V2, f"{names}, and is to go on before")


def _needless(facts: Facts, translated: Translation, sync: Synchronisation) -> Iterator[Violation]:
    """V7: no wait tells what is known without it; not asked of large schedules."""
    steps = sum(len(queue.steps) for queue in sync.queues)
    if steps <= MOST_STEPS and steps * len(sync.waits) <= MOST_WORK:
        for (which, place), fence in needless(translated.execution):
            waits = f"{sync.queues[which].name} waits for fence f{fence}"
            step = translated.name(translated.execution.queues[which][place])
            yield Violation(Rule.V7, f"{waits} before {step}, of which it knows already")
