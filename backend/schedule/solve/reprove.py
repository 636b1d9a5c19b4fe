"""An answer's proof, done again: nothing of the stored proof is believed, the bound is derived again from the problem alone.

A bound that somebody else claims (a proposer, a hand-written file) is confirmed only in this way, so one above a feasible plan
never is.  `plan --check --prove` calls `reprove`; `recipe.confirmed` folds over the strategies.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ..answer import Answer, Status
from ..problem import Objective, Problem
from .recipe import confirmed
from .smt.conflict import find_conflict
from .smt.solver import Steps

STEPS: Final = 400_000_000


def reprove(problem: Problem, answer: Answer, steps: Steps | None = None) -> bool:
    """Whether the answer's bound, and its being optimal or impossible, can be derived again."""
    steps = steps or Steps(STEPS)
    problem = replace(problem, chunks=answer.chunks)  # the space of its bound
    if answer.status is Status.ABORTED:
        return False
    if answer.status is Status.IMPOSSIBLE:
        if answer.conflict is None:
            return False
        found = find_conflict(replace(problem, directives=answer.conflict.directives), steps)  # these alone
        return found is not None and found.code == answer.conflict.code
    if answer.schedule is None or not answer.values:
        return answer.lower_bound <= 0 or confirmed(problem, answer.lower_bound, steps)
    if answer.lower_bound > answer.values[0]:
        return False  # no bound is above a plan
    if answer.status is Status.OPTIMAL and answer.lower_bound != answer.values[0]:
        return False
    objective = problem.objectives[0] if problem.objectives else Objective.LATENCY
    if objective is not Objective.LATENCY:
        from .objectives import bound_of  # it plans

        return bound_of(problem, answer.schedule) >= answer.lower_bound
    if answer.schedule.makespan != answer.values[0]:
        return False
    return confirmed(problem, answer.lower_bound, steps)
