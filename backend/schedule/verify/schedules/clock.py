"""V9: every tick worked out again from the tables, every objective from the schedule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import assert_never

from ...answer import Answer
from ...problem import Objective
from ...synchronisation import QueueKind, Synchronisation
from ..violation import Rule, Violation
from .facts import Facts


def timed(facts: Facts) -> Iterator[Violation]:
    """V9 of the steps."""
    for shard in facts.schedule.shards:
        task = facts.problem.phases[shard.phase]
        ticks = facts.ticks(shard.phase, shard.device, shard.stop - shard.first if task.rows else 1)
        if ticks is not None and shard.end - shard.start != ticks:
            took = shard.end - shard.start
            yield Violation(Rule.V9, f"`{task.id}` on {facts.names[shard.device]} takes {ticks} ticks, not {took}")
        if shard.start < max(0, task.ready):
            yield Violation(Rule.V9, f"`{task.id}` starts at {shard.start}, before it is ready at {task.ready}")
    for phase, task in enumerate(facts.problem.phases):
        if task.together is not None:
            starts = {shard.start for shard in facts.shards[phase]}
            if len(starts) > 1:
                yield Violation(Rule.V9, f"`{task.id}` starts at {min(starts)} here and at {max(starts)} there, not together")
    for moved in facts.schedule.transfers:
        if moved.link is None:
            busy = moved.start
            delays = {edge.ticks or 0 for edge in facts.outgoing[moved.phase] if facts.delayed(edge)} or {0}
            arrives = {busy + delay for delay in (delays | {0} if moved.partial or moved.phase in facts.wanted else delays)}
        elif 0 <= moved.link < len(facts.problem.links):
            link = facts.problem.links[moved.link]
            rate = link.bytes_per_tick
            busy = moved.start + (0 if rate is None else -(-moved.bytes * rate.denominator // rate.numerator))
            arrives = {busy + link.latency}
        else:
            continue
        if moved.busy != busy or moved.arrive not in arrives:
            said = f"busy until {moved.busy} and there at {moved.arrive}"
            yield Violation(Rule.V9, f"`{facts.id(moved.phase)}` sent at {moved.start}: {said}, not {busy} and {max(arrives)}")
    for step in facts.schedule.combines:
        yield from _combined(facts, step.phase, step.start, step.end)


def _combined(facts: Facts, phase: int, start: int, end: int) -> Iterator[Violation]:
    combine = facts.problem.phases[phase].combine
    if combine is None:
        return
    there = [shard.end for shard in facts.shards[phase] if shard.device == facts.home]
    partials = [t for t in facts.schedule.transfers if t.partial and t.phase == phase and t.target == facts.home]
    there += [moved.arrive + facts.sync[facts.home] for moved in partials]
    if not there:
        return
    there.sort()
    earliest = there[-1] if combine.barrier else there[0]
    done = start
    for arrival in there:
        done = max(done, 0 if combine.barrier else arrival) + combine.ticks_per_shard
    if start < earliest or end != done:
        said = f"starts at {start} and ends at {end}"
        yield Violation(Rule.V9, f"the combine of `{facts.id(phase)}` {said}; it can start at {earliest}, and then end at {done}")


def valued(facts: Facts, answer: Answer, sync: Synchronisation | None) -> Iterator[Violation]:
    """V9 of the objectives: every one is worked out from the schedule (syncs from its queues), none is taken on trust."""
    objectives = facts.problem.objectives or (Objective.LATENCY,)
    if len(answer.values) != len(objectives):
        names = ", ".join(objective.value for objective in objectives)
        yield Violation(Rule.V9, f"{len(answer.values)} values for {len(objectives)} objectives: {names}")
    for objective, value in zip(objectives, answer.values, strict=False):
        found = value_of(facts, objective, sync)
        if found is None:
            yield Violation(Rule.V9, f"{value} {objective.value}: without queues there is nothing that shows how many there are")
        elif found != value:
            yield Violation(Rule.V9, f"{objective.value} is {found}, not {value}")


def value_of(facts: Facts, objective: Objective, sync: Synchronisation | None) -> int | None:
    """What the schedule is worth; None: of syncs, where its queues are not known."""
    match objective:
        case Objective.LATENCY:
            return _makespan(facts)
        case Objective.THROUGHPUT:
            return ceil(Fraction(_busiest(facts), facts.problem.executions))
        case Objective.ENERGY:
            return _millijoules(facts)
        case Objective.MACHINES:
            return len({shard.device for shard in facts.schedule.shards})
        case Objective.SYNCS:
            if sync is None:
                return None
            return sum(sync.queues[wait.queue].kind is QueueKind.COMPUTE for wait in sync.waits)
        case _:
            assert_never(objective)


def _busiest(facts: Facts) -> int:
    """The ticks that the busiest device or channel works: the steady state of executions in a row can be no quicker."""
    schedule = facts.schedule
    busy: dict[object, int] = defaultdict(int)
    for shard in schedule.shards:
        busy[shard.device] += shard.end - shard.start
        together = facts.problem.phases[shard.phase].together
        if together is not None and shard.first == 0:
            for kept in facts.held(shard, together):
                busy[kept] += shard.end - shard.start
    for step in schedule.combines:
        busy[facts.home] += step.end - step.start
    for moved in schedule.transfers:
        if (channel := facts.channel(moved)) is not None:
            busy[channel] += moved.busy - moved.start
    return max(busy.values(), default=0)


def _millijoules(facts: Facts) -> int:
    """Idle power of what is on for the whole time, what working adds, and the links' bytes; rounded up."""
    schedule, problem = facts.schedule, facts.problem
    steps = [(int(shard.device), shard.end - shard.start) for shard in schedule.shards]
    steps += [(facts.home, step.end - step.start) for step in schedule.combines]
    ends = {int(end) for moved in schedule.transfers for end in (moved.source, moved.target)}
    used = {device for device, _ in steps} | ends | {facts.home}
    picojoules = Fraction(0)
    for device, place in enumerate(facts.group):
        group = problem.devices[place]
        if device in used or not problem.power_off_unused:
            picojoules += group.idle_mw * _makespan(facts) * problem.tick_ns
    for device, ticks in steps:
        group = problem.devices[facts.group[device]]
        picojoules += (group.active_mw - group.idle_mw) * ticks * problem.tick_ns
    for moved in schedule.transfers:
        if moved.link is not None:
            picojoules += 1000 * problem.links[moved.link].nj_per_byte * moved.bytes
    picojoules += sum(task.together.picojoules for task in problem.phases if task.together is not None)
    return ceil(picojoules / 10**9)


def _makespan(facts: Facts) -> int:
    schedule = facts.schedule
    ends = [shard.end for shard in schedule.shards] + [step.end for step in schedule.combines]
    return max(ends + [moved.arrive for moved in schedule.transfers], default=0)
