"""An instance solved: planned, synchronised and verified.

Neighbours: `objectives` (plans), `fences`, `verifier`; `result` writes what this gives.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from ..budget import DEFAULT, Budget
from ..fences import Synchronisation, synchronise
from ..objectives import plan_objectives, unrolled
from ..problem import Answer, Objective, Problem
from ..verifier import verify

DEFAULT_SECONDS: Final = 5
"""What the default budget's counts stand for."""


@dataclass(frozen=True, slots=True)
class Solved:
    """`problem` is what was planned (the batches unrolled, if there are several); `seconds` are of planning."""

    problem: Problem
    answer: Answer
    sync: Synchronisation | None
    seconds: float


class BadPlan(Exception):
    """The planner made something that the verifier rejects: a bug in Rho."""


def budget_of(seconds: float) -> Budget:
    """Work that takes about so long on the machine that the default's 5 seconds speak of."""
    times = seconds / DEFAULT_SECONDS
    moves, steps = int(DEFAULT.moves * times), int((DEFAULT.steps or 0) * times)
    return Budget(max(1, moves), max(1, steps), (DEFAULT.seconds or 0) * times)


def solve(problem: Problem, budget: Budget = DEFAULT) -> Solved:
    """The best answer that the budget finds, checked."""
    if Objective.THROUGHPUT in problem.objectives:
        problem = unrolled(problem)
    begun = time.perf_counter()
    answer = plan_objectives(problem, budget)
    seconds = time.perf_counter() - begun
    sync = None if answer.schedule is None else synchronise(problem, answer.schedule)
    violations = verify(problem, answer, sync)
    if violations:
        raise BadPlan("\n".join(map(str, violations)))
    return Solved(problem, answer, sync, seconds)
