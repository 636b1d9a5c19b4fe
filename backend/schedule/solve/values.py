"""What a schedule is worth under each objective, as the planners count it.

Note [Energy].  Each powered device idles for the whole makespan and uses its active instead of its idle power while a shard or
combine runs; links cost by the byte.  With `power_off_unused`, a device that takes no part is off; home is always on.

Note [Interval].  The steady state of many executions is bound by the busiest device or channel: the initiation interval is its
ticks divided by the executions that the schedule holds.  A problem of several `batches` is planned as `unrolled`: one phase
per execution, so that executions may be shared out over devices.
"""

from __future__ import annotations

from fractions import Fraction

from ..answer import Schedule
from ..problem import Objective, Problem
from ..timeline.fences import synchronise
from ..timeline.routes import Routes


def value(problem: Problem, schedule: Schedule, objective: Objective) -> int:
    """Ticks, ticks of the initiation interval, millijoules rounded up, devices, or syncs."""
    match objective:
        case Objective.LATENCY:
            return schedule.makespan
        case Objective.THROUGHPUT:
            return -(-load(problem, schedule) // problem.executions)
        case Objective.ENERGY:
            return -(-energy(problem, schedule) // 10**9)
        case Objective.MACHINES:
            return machines(schedule)
        case Objective.SYNCS:
            return syncs(problem, schedule)


def values(problem: Problem, schedule: Schedule) -> tuple[int, ...]:
    """The value of each of the problem's objectives, in their order."""
    return tuple(value(problem, schedule, objective) for objective in problem.objectives)


def machines(schedule: Schedule) -> int:
    """Devices with a shard."""
    return len({shard.device for shard in schedule.shards})


def syncs(problem: Problem, schedule: Schedule) -> int:
    """Waits of devices."""
    return synchronise(problem, schedule).syncs


def transfers(schedule: Schedule) -> int:
    return len(schedule.transfers)


def receivers(schedule: Schedule) -> int:
    return len({transfer.target for transfer in schedule.transfers})


def load(problem: Problem, schedule: Schedule) -> int:
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
        together = problem.phases[shard.phase].together
        if together is not None and shard.first == 0:  # it keeps its channels to itself
            paths = [routes.path(source, target) for _, source, target in together.channels]
            for channel in {path[0].channel for path in paths if path is not None and path[0].channel is not None}:
                busy[channel] = busy.get(channel, 0) + shard.end - shard.start
    return max(busy.values(), default=0)


def energy(problem: Problem, schedule: Schedule) -> int:
    """Picojoules.  See Note [Energy]."""
    names = len(problem.device_names())
    working = [0] * names
    on = [not problem.power_off_unused] * names
    on[problem.home] = True
    total = Fraction(0)
    for shard in schedule.shards:
        working[shard.device] += shard.end - shard.start
        on[shard.device] = True
        together = problem.phases[shard.phase].together
        total += together.picojoules if together is not None and shard.first == 0 else 0
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


def exact_value(problem: Problem, schedule: Schedule, objective: Objective) -> int:
    """Like `value`, in the finest unit: picojoules."""
    return energy(problem, schedule) if objective is Objective.ENERGY else value(problem, schedule, objective)
