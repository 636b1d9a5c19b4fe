"""The same devices for every phase: aligned cuts move nothing between them."""

from __future__ import annotations

from typing import Final

from ...timeline.orders import order_of
from ...timeline.timing import Decisions
from ..costs import Costs
from ..modes import water_filled
from .baseline import even_mode
from .candidates import Candidate, retime

MOST_SETS: Final = 12


def uniform(costs: Costs, base: Decisions) -> list[Candidate]:
    """For each set of devices (all; each class; all but one class): phases that can be cut are cut over it, the others as in
    `base`.  Cuts are water-filled by phase, and also all in the proportion of the slowest phase to be aligned."""
    timer = costs.timer
    limits = timer.limits
    cut = [
        p for p, task in enumerate(timer.problem.phases)
        if task.rows and p not in limits.fixed and p not in limits.unsplit and len(costs.allowed[p]) > 1
    ]  # fmt: skip
    order = order_of(timer.before)
    if not cut or order is None:
        return []
    everything = sorted(d for members in costs.members for d in members)
    sets = [everything, *(list(members) for members in costs.members if len(members) > 1)]
    if len(costs.members) > 2:
        sets += [[d for d in everything if d not in set(members)] for members in costs.members]
    result: list[Candidate] = []
    for devices in sets[:MOST_SETS]:
        modes = list(base.modes)
        for p in cut:
            allowed = set(costs.allowed[p])
            chosen = [d for d in devices if d in allowed][: limits.machines]
            mode = water_filled(costs, p, chosen) if chosen else None
            if mode is not None:
                modes[p] = mode
        for priority in dict.fromkeys((base.priority, tuple(order))):
            result.append(retime(timer, "uniform", Decisions(tuple(modes), priority)))
    even = tuple(even_mode(costs, p) if p in cut else mode for p, mode in enumerate(base.modes))
    result.append(retime(timer, "uniform", Decisions(even, base.priority)))
    return result
