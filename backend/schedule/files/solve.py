"""An instance solved: planned, synchronised and verified."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from ..answer import Answer
from ..problem import Objective, PhaseIndex, Problem, Select
from ..solve.batches import unrolled
from ..solve.budget import DEFAULT, Budget
from ..solve.speculation import plan_selects
from ..timeline.fences import Synchronisation, synchronise
from ..verify.schedules import verify


@dataclass(frozen=True, slots=True)
class Solved:
    """`problem` is what was planned: the batches unrolled, if there are several, and late selects one phase.  `seconds` are of
    planning; `speculated` are ids of selects."""

    problem: Problem
    answer: Answer
    sync: Synchronisation | None
    seconds: float
    speculated: tuple[str, ...] = ()


class BadPlan(Exception):
    """The planner made something that the verifier rejects: a bug in Rho."""


def solve(problem: Problem, budget: Budget = DEFAULT) -> Solved:
    """The best answer that the budget finds, checked."""
    if Objective.THROUGHPUT in problem.objectives:
        problem = _unrolled(problem)
    begun = time.perf_counter()
    planned = plan_selects(problem, budget)
    seconds = time.perf_counter() - begun
    form, answer = planned.problem, planned.answer
    sync = None if answer.schedule is None else synchronise(form, answer.schedule)
    violations = verify(form, answer, sync)
    if violations:
        raise BadPlan("\n".join(map(str, violations)))
    speculated = tuple(problem.phases[phase].id for phase in answer.speculated)
    return Solved(form, answer, sync, seconds, speculated)


def _unrolled(problem: Problem) -> Problem:
    """Every execution with its own phases and selects."""
    count = len(problem.phases)
    made = unrolled(problem)

    def moved(select: Select, by: int) -> Select:
        then, otherwise = (tuple(PhaseIndex(p + by) for p in arm) for arm in (select.then, select.otherwise))
        return Select(PhaseIndex(select.phase + by), PhaseIndex(select.condition + by), then, otherwise)

    starts = range(0, len(made.phases), max(1, count))
    selects = tuple(moved(select, start) for start in starts for select in problem.selects)
    return replace(made, selects=selects)
