"""Moves of annealing that change where phases are cut: rows go from one device to another, in one phase or in several at
once, and a phase takes the cut of a neighbour, so that nothing moves between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Final

from ...timeline.timing import Decisions, Mode
from ..costs import Costs

MOST_DEVICES: Final = 64

Shift = Callable[[Random, Decisions], Decisions]


def shifts(costs: Costs, among: frozenset[int] | None = None) -> Shift | None:
    """The moves of a problem (between devices `among` these); None where nothing can be cut in another way."""
    timer = costs.timer
    limits, phases = timer.limits, timer.problem.phases
    devices = [own if among is None else [d for d in own if d in among] for own in costs.allowed]
    open_phases = [
        p
        for p, task in enumerate(phases)
        if task.rows > 1 and p not in limits.fixed and p not in limits.unsplit and 1 < len(devices[p]) <= MOST_DEVICES
    ]
    if not open_phases:
        return None
    beside = {
        p: [
            q
            for q in {timer.targets[e] for e in timer.outgoing[p]} | {timer.sources[e] for e in timer.incoming[p]}
            if phases[q].units == phases[p].units and q in open_phases
        ]
        for p in open_phases
    }
    allowed = [frozenset(own) for own in devices]

    def transferred(mode: Mode, source: int, target: int, count: int) -> Mode:
        rows = dict(mode)
        moved = min(count, rows.get(source, 0))
        rows[source] = rows.get(source, 0) - moved
        rows[target] = rows.get(target, 0) + moved
        return tuple(sorted((device, n) for device, n in rows.items() if n))

    def shift(random: Random, state: Decisions) -> Decisions:
        p = open_phases[int(random.random() * len(open_phases))]
        mode, pick = state.modes[p], random.random()
        modes = list(state.modes)
        if pick < 0.3 and beside[p]:
            other = state.modes[beside[p][int(random.random() * len(beside[p]))]]
            if all(device in allowed[p] for device, _ in other):
                modes[p] = other
                return replace(state, modes=tuple(modes))
        source = mode[int(random.random() * len(mode))][0]
        choices = [d for d in devices[p] if d != source]
        target = choices[int(random.random() * len(choices))]
        size = phases[p].rows
        count = max(1, int(random.expovariate(1.0) * (1.0, 4.0, size / 4)[int(random.random() * 3)]))
        modes[p] = transferred(mode, source, target, count)
        if pick > 0.75:
            for q in open_phases:
                if q != p and {source, target} <= allowed[q] and random.random() < 0.5:
                    modes[q] = transferred(state.modes[q], source, target, max(1, count * phases[q].rows // size))
        return replace(state, modes=tuple(modes))

    return shift
