"""Annealing over orders alone: each phase goes to the device where it ends first, as in HEFT.

Much smaller than the space of `annealing`, and enough where devices are alike and transfers cheap.  Ends are those of HEFT's
placement, so contention and memory are not seen until the best order is laid out.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from random import Random

from ...timeline.levels import FOREVER
from ...timeline.timing import Decisions
from ..costs import Costs
from .annealing import SEED, WHOLE
from .listing import Placement


def anneal_order(costs: Costs, start: Sequence[int], moves: int, goal: int = 0, seed: int = SEED) -> Decisions | None:
    """Decisions of the best order met in `moves` moves from `start`, a legal one; stops at `goal`."""
    timer = costs.timer
    random = Random(seed)
    after: list[set[int]] = [set() for _ in timer.before]
    for p, earlier in enumerate(timer.before):
        for q in earlier:
            after[q].add(p)
    current = list(start)
    best, best_value = current, _value(costs, current, FOREVER)
    value = best_value
    heat, cold = max(1.0, value * WHOLE[0] / 2), max(0.05, value * WHOLE[1])
    cooling = (cold / heat) ** (1.0 / max(1, moves))
    for _ in range(moves):
        if best_value <= goal:
            break
        heat *= cooling
        place = int(random.random() * len(current))
        p = current[place]
        low = high = place
        while low > 0 and current[low - 1] not in timer.before[p]:
            low -= 1
        while high + 1 < len(current) and current[high + 1] not in after[p]:
            high += 1
        trial = current[:place] + current[place + 1 :]
        trial.insert(low + int(random.random() * (high - low + 1)), p)
        most = value + int(-heat * log(1.0 - random.random()))
        found = _value(costs, trial, most)
        if found <= most:
            current, value = trial, found
            if found < best_value:
                best, best_value = trial, found
    placement = Placement(costs)
    return placement.decisions(best) if all(placement.place(p, None) for p in best) else None


def _value(costs: Costs, order: Sequence[int], limit: int) -> int:
    """The end of the placement, or something past `limit`."""
    placement = Placement(costs)
    tails = costs.timer.tails
    latest = 0
    for p in order:
        if not placement.place(p, None) or placement.finish[p] + tails[p] > limit:
            return 2 * FOREVER
        latest = max(latest, placement.finish[p])
    return latest
