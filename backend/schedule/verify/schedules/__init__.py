"""The independent judge of schedules: V1 to V10 of scheduling.md, over a problem and an answer.

It shares no code with the planners: of the scheduler only the data of `problem` and `synchronisation` is imported, and
what their notes say is computed again (`facts`).  One module a group of codes.  V11 (values) is the executor's.

    V1 V3 V8 places · V2 V7 order · V4 V6 moves · V5 memory · V9 clock · V10 claims

Every field of an answer is judged from the schedule, but for those that `claims.ADVISORY` names.  That no plan is better
cannot be seen from a schedule: `standing` says whether a bound is proved here or only claimed.
"""

from __future__ import annotations

from ...problem import Answer, Problem, Schedule, Status
from ...synchronisation import Synchronisation
from .claims import ADVISORY, Standing, claimed, standing
from .clock import timed, valued
from .facts import Facts
from .memory import fits
from .moves import carried, resident
from .order import needed, one_at_a_time, ordered
from .places import obeyed, present, tiled, together
from .violation import Code, Violation

__all__ = ["ADVISORY", "Code", "Standing", "Violation", "standing", "verify", "verify_schedule"]


def verify(problem: Problem, answer: Answer, sync: Synchronisation | None = None) -> tuple[Violation, ...]:
    """Everything wrong with an answer; empty if it may be used.  Of a schedule that is wrong no values are asked."""
    schedule = answer.schedule
    claims = tuple(claimed(problem, answer, verify_schedule))
    if schedule is None:
        if answer.status in (Status.OPTIMAL, Status.GAP):
            return (Violation(Code.V1, f"called {answer.status.value} without a schedule"),)
        return claims
    found = verify_schedule(problem, schedule, sync)
    return (*(found or valued(Facts(problem, schedule), answer, sync)), *claims)


def verify_schedule(problem: Problem, schedule: Schedule, sync: Synchronisation | None = None) -> tuple[Violation, ...]:
    """Everything wrong with a schedule by itself.  Where phases are missing nothing else is asked."""
    facts = Facts(problem, schedule)
    missing = tuple(present(facts))
    if missing:
        return missing
    found = [
        *tiled(facts),
        *together(facts),
        *obeyed(facts),
        *one_at_a_time(facts),
        *resident(facts),
        *carried(facts),
        *timed(facts),
        *fits(facts),
    ]
    if sync is not None:
        found += ordered(facts, sync)
        if not found:
            found += needed(facts, sync)
    return tuple(found)
