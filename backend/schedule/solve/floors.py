"""Lower bounds of energy and of the initiation interval that need no search: relaxations of the assignment, in integers.

Both drop orders, transfers and memory, and let rows be shared out as a fluid, so they hold for every schedule.

* Energy: each phase where its work costs least, and the idle power of what is certainly on for the shortest time there may be.
  With `power_off_unused` a device other than home that works is on at least for as long, so its work costs its active power.
* Interval: no weights of the classes of devices let the busiest device work for less (`loads.shared`), and a phase that is not
  cut works on one device.
"""

from __future__ import annotations

from ..problem import DeviceIndex, Objective, Problem
from ..timeline.orders import order_of
from ..timeline.timing import Timer
from .batches import executions
from .bounds import Bounds
from .costs import Costs
from .loads import SCALE, shared, works


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
    return -(-max(shared(bounds), max(whole, default=0)) // executions(problem))


def _energy(problem: Problem, bounds: Bounds, shortest: int) -> int:
    groups = problem.devices
    if any(group.active_mw < group.idle_mw for group in groups):
        return 0  # work that saves energy: nothing is known of how much there is at the most
    on = [group.idle_mw * group.count for group in groups]
    if problem.power_off_unused:
        on = [group.idle_mw for group in groups if group.home]
    work = sum(min(ticks * _power(problem, bounds, c) // SCALE for c, ticks in by_class.items()) for by_class in works(bounds))
    return problem.tick_ns * (sum(on) * shortest + work)


def _power(problem: Problem, bounds: Bounds, kind: int) -> int:
    """Milliwatts that working on a class of devices costs at the least, beside what is counted as always on."""

    def of(device: int) -> int:
        group = problem.group_of(DeviceIndex(device))
        always = not problem.power_off_unused or device == problem.home
        return group.active_mw - group.idle_mw if always else group.active_mw

    return min(map(of, bounds.costs.members[kind]))
