"""The strategy that asks the solver, of the candidate modes exactly."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from ..timeline.timing import decisions_of
from .budget import Budget
from .heuristics.candidates import MOST_SHARDS, acceptable, retime
from .strategy import Context, Strategy

if TYPE_CHECKING:
    from .smt.solver import Steps

MOST_STEPS: Final = 1 << 50
"""Of a budget without a limit."""
MOST_SOLVED: Final = 64
"""Phases up to which the exact search is asked after the heuristics for large graphs."""
MOST_LINKED: Final = 32
"""The same where transfers or memory make the encoding large."""
MOST_REFUTED: Final = 40
"""Phases up to which the exact search is asked to refute a bound again."""
HOPEFUL: Final = 16
"""Where candidate modes are not all there are, the solver is asked if the gap is at most one part in so many."""


def _steps(budget: Budget) -> Steps:
    from .smt.solver import Steps

    until = None if budget.seconds is None else time.monotonic() + budget.seconds
    return Steps(MOST_STEPS if budget.steps is None else budget.steps, until)


def _asked(context: Context) -> bool:
    """Is there a solver, and may it be asked?"""
    from .smt.solver import available

    return context.budget.steps != 0 and available()


def _hopeful(context: Context) -> bool:
    found = context.found
    if context.modes.complete or context.budget.steps is None or found.schedule is None:
        return True
    return HOPEFUL * (found.schedule.makespan - found.bound) <= found.schedule.makespan


def _solvable(context: Context) -> bool:
    if not _asked(context) or not context.few_devices:
        return False
    timer = context.timer
    heavy = (timer.linked or timer.capped) and context.budget.steps is not None
    return not context.is_large or len(context.problem.phases) <= (MOST_LINKED if heavy else MOST_SOLVED)


def _prove(context: Context) -> None:
    """Its bound is one of the problem only if the modes are all there are."""
    from .smt.search import refine

    found, timer, modes = context.found, context.timer, context.modes
    choices = [list(options) for options in modes.choices]
    if found.schedule is not None:
        for p, mode in enumerate(decisions_of(timer.problem, found.schedule).modes):
            if mode not in choices[p]:
                choices[p].append(mode)
    outcome = refine(timer.problem, choices, found.schedule, found.bound, _steps(context.budget))
    found.aborted |= outcome.aborted
    if outcome.schedule is not None and acceptable(timer.limits, outcome.schedule):
        found.offer(outcome.schedule)
        if len(outcome.schedule.shards) <= MOST_SHARDS:
            found.offer(retime(timer, "left shift", decisions_of(timer.problem, outcome.schedule)).schedule)
    if modes.complete and outcome.lower_bound > found.bound:
        found.raise_bound(outcome.lower_bound, "z3")
    elif not modes.complete and not found.met:
        # what holds of the cuts that were tried, though not of all: told beside the bound, never as one
        found.detail = {**(found.detail or {}), "candidates": outcome.lower_bound}


def _search_refutes(context: Context, bound: int, steps: Steps) -> bool:
    from .smt.search import Search
    from .smt.solver import Verdict

    modes = context.modes
    if not modes.complete or len(context.problem.phases) > MOST_REFUTED or not context.few_devices:
        return False
    search = Search(context.problem, modes.choices, steps)
    return search.probe(bound - 1, steps.left) is Verdict.UNSAT


Z3: Final = Strategy(
    "z3", "the exact search over candidate modes, orders and transfers: bisection with lazy constraints for memory",
    _prove, lambda context: _solvable(context) and _hopeful(context), _search_refutes,
)  # fmt: skip
