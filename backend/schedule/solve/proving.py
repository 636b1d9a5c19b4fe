"""Strategies that ask the solver: of a relaxation over all cuts, and of the candidate modes exactly."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from ..timeline.timing import decisions_of, left_shift
from .budget import Budget
from .heuristics.candidates import MOST_SHARDS, acceptable
from .strategy import Context, Strategy

if TYPE_CHECKING:
    from .smt.solver import Steps

MOST_SOLVED: Final = 64
"""Phases up to which the exact search is asked after the heuristics for large graphs."""
MOST_LINKED: Final = 32
"""The same where transfers or memory make the encoding large."""
MOST_REFUTED: Final = 40
"""Phases up to which the exact search is asked to refute a bound again."""
MOST_RELAXED: Final = 64
"""Phases up to which the bound over all cuts is asked for."""
MOST_RELAXING: Final = 20_000_000
"""Solver steps for the bound over all cuts."""
HOPEFUL: Final = 16
"""Where candidate modes are not all there are, the solver is asked if the gap is at most one part in so many."""


def _steps(budget: Budget, most: int) -> Steps:
    from .smt.solver import Steps

    until = None if budget.seconds is None else time.monotonic() + budget.seconds
    return Steps(most if budget.steps is None else min(budget.steps, most), until)


def _asked(context: Context) -> bool:
    """Is there a solver, and may it be asked?"""
    from .smt.solver import available

    return context.budget.steps != 0 and available()


def _hopeful(context: Context) -> bool:
    found = context.found
    if context.modes.complete or context.budget.steps is None or found.schedule is None:
        return True
    return HOPEFUL * (found.schedule.makespan - found.bound) <= found.schedule.makespan


# ------------------------------------------------------------------------------------- all cuts


def _relaxable(context: Context) -> bool:
    if not _asked(context) or len(context.problem.phases) > MOST_RELAXED or not context.few_devices:
        return False
    return not _solvable(context) or (not context.modes.complete and _hopeful(context))


def _relax(context: Context) -> None:
    from .smt.relaxed import relaxed_bound

    found = context.found
    if found.schedule is None or found.met:
        return
    ticks = relaxed_bound(context.bounds, found.bound, found.schedule.makespan, _steps(context.budget, MOST_RELAXING))
    if ticks > found.bound:
        found.raise_bound(ticks, "z3")


def _relaxation_refutes(context: Context, bound: int, steps: Steps) -> bool:
    from .smt.relaxed import refuted

    return refuted(context.bounds, bound - 1, steps)


RELAXATION: Final = Strategy(
    "relaxation", "the solver refutes an easier problem, in which a phase may be cut in every way",
    _relax, _relaxable, _relaxation_refutes,
)  # fmt: skip

# ------------------------------------------------------------------------------------- exact search


def _solvable(context: Context) -> bool:
    if not _asked(context) or not context.few_devices:
        return False
    timer = context.timer
    heavy = (timer.linked or timer.capped) and context.budget.steps is not None
    return not context.is_large or len(context.problem.phases) <= (MOST_LINKED if heavy else MOST_SOLVED)


def _prove(context: Context) -> None:
    """The exact search; where it finds a better schedule, what holds of all cuts is asked again."""
    known = context.found.schedule
    ask_solver(context, context.budget)
    better = context.found.schedule
    if better is None or better is known:
        return
    if not context.modes.complete and RELAXATION.name not in context.budget.without:
        _relax(context)
    if not context.found.met and len(better.shards) <= MOST_SHARDS:
        context.found.offer(left_shift(context.timer, better))


def ask_solver(context: Context, budget: Budget) -> None:
    """Its bound is one of the problem only if the modes are all there are."""
    from .smt.search import refine
    from .smt.solver import available

    if not available():
        return
    found, timer, modes = context.found, context.timer, context.modes
    choices = [list(options) for options in modes.choices]
    if found.schedule is not None:
        for p, mode in enumerate(decisions_of(timer.problem, found.schedule).modes):
            if mode not in choices[p]:
                choices[p].append(mode)
    outcome = refine(timer.problem, choices, found.schedule, found.bound, _steps(budget, 1 << 50))
    found.aborted |= outcome.aborted
    if outcome.schedule is not None and acceptable(timer.limits, outcome.schedule):
        found.offer(outcome.schedule)
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
