"""Strategies with a lower bound that needs no solver: one cut, paths and loads, the LP relaxation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..timeline.levels import FOREVER
from ..timeline.timing import Decisions, Queueing
from .convex import worth
from .heuristics import retime
from .heuristics.candidates import acceptable
from .loads import best_bound, energy
from .splitting import split
from .strategy import MOST_DEVICES, Context, Strategy

if TYPE_CHECKING:
    from .smt.solver import Steps

MOST_ENERGY: Final = 64
"""Phases up to which every interval is looked at."""
WIDTHS: Final = (1, 2, 4, 16)
"""Devices of a class that the shares of the LP relaxation are tried on, where there are many."""

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

# ------------------------------------------------------------------------------------- LP relaxation


def _lp_relaxation(context: Context) -> None:
    from .lp_relaxation import Fluid  # array library

    found = context.found
    if found.schedule is None:
        return
    fluid = Fluid(context.bounds, found.schedule.makespan)
    found.raise_bound(fluid.bound(), "bound")
    if fluid.solved:
        for width in (MOST_DEVICES,) if context.few_devices else WIDTHS:
            decisions = Decisions(fluid.guided(width), tuple(context.bounds.order), Queueing.INSERT)
            guided = retime(context.timer, "LP relaxation", decisions)
            if context.guided is None or (guided.ticks or FOREVER) < (context.guided.ticks or FOREVER):
                context.guided = guided
        found.offer(context.guided.schedule if context.guided is not None else None)


def _lp_applies(context: Context) -> bool:
    return worth(context.bounds, FOREVER if context.found.schedule is None else context.found.schedule.makespan)


def _lp_refutes(context: Context, bound: int, steps: Steps) -> bool:
    from .lp_relaxation import Fluid  # array library

    return Fluid(context.bounds, bound).bound() >= bound


LP_RELAXATION: Final = Strategy(
    "lp-relaxation", "rows of all cuts as a fluid, with cutting planes; a schedule whose cuts are those of its solution",
    _lp_relaxation, _lp_applies, _lp_refutes,
)  # fmt: skip
