"""Lower bounds of energy and of the initiation interval that need no search: relaxations of the assignment, in integers.

Both drop orders, transfers and memory, and let rows be shared out as a fluid, so they hold for every schedule.

* Energy: what is certainly on idles for some time between the shortest and the deadline, in which the devices of a class can
  work for so long only; each phase goes where its work costs least, to which prices of the classes' time are added (the dual
  of the linear program; any prices give a bound).  With `power_off_unused` a device other than home that works is on at least
  for as long, so its work costs its active power.
* Interval: no weights of the classes of devices let the busiest device work for less (`loads.shared`), and a phase that is not
  cut works on one device.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from ..problem import DeviceIndex, Objective, Problem
from ..timeline.orders import order_of
from ..timeline.timing import Timer
from .bounds import Bounds
from .costs import Costs
from .filling import least
from .loads import SCALE, shared, sizes, works

GRAIN: Final = 1 << 10
"""Prices are in parts of a milliwatt."""
ROUNDS: Final = 3
"""Of setting the best price of each class, the others as they are."""


def floor_of(problem: Problem, objective: Objective, shortest: int) -> int:
    """No schedule is worth less (energy in picojoules); `shortest`: no schedule is shorter."""
    if objective not in (Objective.ENERGY, Objective.THROUGHPUT) or not problem.phases:
        return 0
    costs = Costs(Timer(problem))
    if not costs.timer.limits.possible or order_of(costs.timer.before) is None or not all(costs.allowed):
        return 0
    bounds = Bounds(costs)
    if objective is Objective.ENERGY:
        return _energy(problem, bounds, shortest)
    whole = (min(bounds.ticks_on(p, c) for c in costs.allowed_classes[p]) for p in bounds.order if bounds.whole[p])
    return -(-max(shared(bounds), max(whole, default=0)) // problem.executions)


def _energy(problem: Problem, bounds: Bounds, shortest: int) -> int:
    groups = problem.devices
    if any(group.active_mw < group.idle_mw for group in groups):
        return 0  # work that saves energy: nothing is known of how much there is at the most
    on = [group.idle_mw * group.count for group in groups]
    if problem.power_off_unused:
        on = [group.idle_mw for group in groups if group.home]
    powers = [_power(problem, bounds, c) * GRAIN for c in range(len(bounds.costs.members))]
    work, number, latest = works(bounds), sizes(bounds), bounds.timer.limits.deadline
    prices = [0] * len(powers)

    def worth() -> int:
        """`GRAIN` times what the prices show, in milliwatts times ticks."""
        working = sum(min(ticks * (powers[c] + prices[c]) for c, ticks in by_class.items()) for by_class in work) // SCALE
        idling = GRAIN * sum(on) - sum(p * n for p, n in zip(prices, number, strict=True))
        return working + idling * (shortest if idling >= 0 else latest or 0)

    def falls(kind: int, price: int) -> bool:
        """Is a higher price of a class no better?"""
        prices[kind] = price
        before = worth()
        prices[kind] = price + 1
        return worth() <= before

    for kind in [*range(len(prices))] * ROUNDS:
        others = GRAIN * sum(on) - sum(p * n for p, n in zip(prices, number, strict=True)) + prices[kind] * number[kind]
        most = max((powers[c] * ticks // own[kind] for own in work if own.get(kind) for c, ticks in own.items()), default=0)
        prices[kind] = least(0, max(0, others // number[kind]) if latest is None else most + sum(prices), partial(falls, kind))
    return problem.tick_ns * (worth() // GRAIN)


def _power(problem: Problem, bounds: Bounds, kind: int) -> int:
    """Milliwatts that working on a class of devices costs at the least, beside what is counted as always on."""

    def of(device: int) -> int:
        group = problem.group_of(DeviceIndex(device))
        always = not problem.power_off_unused or device == problem.home
        return group.active_mw - group.idle_mw if always else group.active_mw

    return min(map(of, bounds.costs.members[kind]))
