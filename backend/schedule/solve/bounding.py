"""Strategies with a lower bound that needs no solver: one cut, paths and loads, partial schedules, the LP relaxation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..timeline.levels import FOREVER
from ..timeline.timing import Decisions, Queueing
from .convex import worth
from .heuristics import retime
from .heuristics.candidates import acceptable
from .loads import best_bound, energy
from .partial_schedules.model import eligible
from .proving import ask_solver
from .splitting import split
from .strategy import MOST_DEVICES, MOST_EXACT, Context, Strategy

if TYPE_CHECKING:
    from .smt.solver import Steps

MOST_ENERGY: Final = 64
"""Phases up to which every interval is looked at."""
MOST_LINKED: Final = 32
"""Phases up to which the solver is asked between the two parts of the search over partial schedules."""
WIDTHS: Final = (1, 2, 4, 16)
"""Devices of a class that the shares of the LP relaxation are tried on, where there are many."""
FIRST_STATES: Final = 4
"""The part of the search over partial schedules that comes before the solver."""
LARGE_STATES: Final = 3
"""How much more is searched where the solver is not asked."""
FIRST_STEPS: Final = 4_000_000
FIRST_SHARE: Final = 5
"""The solver is asked so many steps, or such a part, between the two parts of the search over partial schedules."""
STATES: Final = 200_000_000
"""Partial schedules looked at when a bound is derived again."""

# ------------------------------------------------------------------------------------- one cut phase


def _split(context: Context) -> None:
    _ = context.bounds  # layouts stop early by them
    found, whole = context.found, split(context.costs)
    if whole is None:
        return
    if whole.schedule is not None and acceptable(context.timer.limits, whole.schedule):
        found.offer(whole.schedule)
        # of equally long plans the one with the fewest shards: that of the cut
        if found.schedule is not None and whole.schedule.makespan == found.schedule.makespan:
            found.schedule = whole.schedule
    if whole.lower_bound:
        found.raise_bound(whole.lower_bound, "certificate", whole.detail)
    context.conflict = whole.conflict


def _split_refutes(context: Context, bound: int, steps: Steps) -> bool:
    whole = split(context.costs)
    return whole is not None and whole.lower_bound >= bound


SINGLE_SPLIT: Final = Strategy(
    "single-split", "one phase that can be cut, dealt out exactly, with the certificate that rows sum to too few a tick earlier",
    _split, lambda context: not context.has_together, _split_refutes, first=True,
)  # fmt: skip

# ------------------------------------------------------------------------------------- bounds alone


def _paths(context: Context) -> None:
    context.found.raise_bound(best_bound(context.bounds).ticks, "bound")


PATHS: Final = Strategy(
    "paths", "the longest path, and the work of devices and links shared out as a fluid",
    _paths, refutes=lambda context, bound, _: best_bound(context.bounds).ticks >= bound, of_chunks=True,
)  # fmt: skip


def _energetic(context: Context) -> None:
    context.found.raise_bound(energy(context.bounds, context.found.bound).ticks, "bound")


ENERGETIC: Final = Strategy(
    "energetic", "no interval has more work than all devices can do in it",
    _energetic, lambda context: len(context.problem.phases) <= MOST_ENERGY,
    lambda context, bound, _: energy(context.bounds, best_bound(context.bounds).ticks).ticks >= bound, of_chunks=True,
)  # fmt: skip

# ------------------------------------------------------------------------------------- partial schedules


def _partial_schedules(context: Context) -> None:
    """Small graphs, of which the search knows little at first, are asked of the solver in between: it is quicker where delays
    are long."""
    from .partial_schedules.search import solve, states_of  # array library

    found, budget, bounds = context.found, context.budget, context.bounds
    if found.schedule is None:
        return
    count = len(context.problem.phases)
    work = budget.states if count <= MOST_EXACT else budget.states * LARGE_STATES
    states = states_of(bounds, work)
    if states is None:
        return
    for share in (FIRST_STATES, 1):
        states.left = work // share
        bound, decisions = solve(states, found.bound, found.schedule.makespan)
        if decisions is not None:
            found.offer(context.timer.lay_out(decisions))
        found.raise_bound(bound, "search")
        if found.met or share == 1 or count > MOST_LINKED:
            break
        if budget.steps != 0 and "z3" not in budget.without:
            steps = FIRST_STEPS if budget.steps is None else budget.steps // FIRST_SHARE
            ask_solver(context, replace(budget, steps=steps))
        if found.met:
            break


def _states_refute(context: Context, bound: int, steps: Steps) -> bool:
    from .partial_schedules.search import refuted  # array library

    return refuted(context.bounds, bound - 1, STATES)


PARTIAL_SCHEDULES: Final = Strategy(
    "partial-schedules", "dynamic programming over partial schedules of whole phases with delays, under dominance",
    _partial_schedules, lambda context: eligible(context.bounds), _states_refute,
)  # fmt: skip

# ------------------------------------------------------------------------------------- LP relaxation


def _lp_relaxation(context: Context) -> None:
    from .lp_relaxation import Fluid  # array library

    found = context.found
    if found.schedule is None:
        return
    fluid = Fluid(context.bounds, found.schedule.makespan)
    found.raise_bound(fluid.bound(found.schedule.makespan), "bound")
    if fluid.solved:
        for width in (MOST_DEVICES,) if context.few_devices else WIDTHS:
            decisions = Decisions(fluid.guided(width), tuple(context.bounds.order), Queueing.INSERT)
            guided = retime(context.timer, "LP relaxation", decisions)
            if context.guided is None or (guided.ticks or FOREVER) < (context.guided.ticks or FOREVER):
                context.guided = guided
        found.offer(context.guided.schedule if context.guided is not None else None)


def _lp_refutes(context: Context, bound: int, steps: Steps) -> bool:
    from .lp_relaxation import Fluid  # array library

    return Fluid(context.bounds, bound).bound(bound) >= bound


LP_RELAXATION: Final = Strategy(
    "lp-relaxation", "rows of all cuts as a fluid, with cutting planes; a schedule whose cuts are those of its solution",
    _lp_relaxation, lambda context: worth(context.bounds), _lp_refutes,
)  # fmt: skip
