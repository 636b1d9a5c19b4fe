"""The value of a schedule under each objective."""

from __future__ import annotations

from fractions import Fraction

from ..problem import Objective, Problem, Schedule
from .fence_insertion import synchronise
from .problem_index import Routes

# Note [Energy].  Each powered device takes idle power over the makespan, and its active instead of its idle power while a shard
# or combine runs; links cost by the byte.  With `power_off_unused`, an unused device is off; home is always on.
#
# Note [Interval].  The steady state of repeated executions is bound by the busiest device or channel: the initiation interval is
# its ticks.

def objective_value(problem: Problem, schedule: Schedule, objective: Objective) -> int:
    """Ticks, ticks of the initiation interval, millijoules rounded up, devices, or syncs."""
    match objective:
        case Objective.LATENCY:
            return schedule.makespan
        case Objective.THROUGHPUT:
            return load_of_schedule(problem, schedule)
        case Objective.ENERGY:
            return -(-energy_of_schedule(problem, schedule) // 10**9)
        case Objective.MACHINES:
            return len({shard.device for shard in schedule.shards})
        case Objective.SYNCS:
            return synchronise(problem, schedule).syncs


def objective_values(problem: Problem, schedule: Schedule) -> tuple[int, ...]:
    """The value of each of the problem's objectives, in the problem's order and units (see `objective_value`)."""
    return tuple(objective_value(problem, schedule, objective) for objective in problem.objectives)


def load_of_schedule(problem: Problem, schedule: Schedule) -> int:
    """Ticks that the busiest device or channel is busy.  See Note [Interval]."""
    busy: dict[object, int] = {}
    for shard in schedule.shards:
        busy[shard.device] = busy.get(shard.device, 0) + shard.end - shard.start
    for step in schedule.combines:
        busy[problem.home] = busy.get(problem.home, 0) + step.end - step.start
    routes = Routes(problem)
    for transfer in schedule.transfers:
        path = routes.path(transfer.source, transfer.target) if transfer.link is not None else None
        if path is not None and path[0].channel is not None:
            busy[path[0].channel] = busy.get(path[0].channel, 0) + transfer.busy - transfer.start
    for shard in schedule.shards:
        distributed = problem.phases[shard.phase].distributed
        if distributed is not None and shard.first == 0:  # a distributed phase reserves its channels
            paths = [routes.path(source, target) for _, source, target in distributed.channels]
            for channel in {path[0].channel for path in paths if path is not None and path[0].channel is not None}:
                busy[channel] = busy.get(channel, 0) + shard.end - shard.start
    return max(busy.values(), default=0)


def energy_of_schedule(problem: Problem, schedule: Schedule) -> int:
    """Picojoules.  See Note [Energy]."""
    names = len(problem.device_names())
    working = [0] * names
    on = [not problem.power_off_unused] * names
    on[problem.home] = True
    total = Fraction(0)
    for shard in schedule.shards:
        working[shard.device] += shard.end - shard.start
        on[shard.device] = True
        distributed = problem.phases[shard.phase].distributed
        total += distributed.picojoules if distributed is not None and shard.first == 0 else 0
    for step in schedule.combines:
        working[problem.home] += step.end - step.start
    for transfer in schedule.transfers:
        on[transfer.source] = on[transfer.target] = True
        if transfer.link is not None:
            total += problem.links[transfer.link].nj_per_byte * transfer.bytes * 1000
    device = 0
    for group in problem.devices:
        for _ in range(group.count):
            ticks = working[device]
            total += problem.tick_ns * (group.active_mw - group.idle_mw) * ticks
            total += problem.tick_ns * group.idle_mw * schedule.makespan if on[device] else 0
            device += 1
    return -(-total.numerator // total.denominator)


def exact_objective_value(problem: Problem, schedule: Schedule, objective: Objective) -> int:
    """Like `objective_value`, in the finest unit: picojoules."""
    return (
        energy_of_schedule(problem, schedule) if objective is Objective.ENERGY else objective_value(problem, schedule, objective)
    )
