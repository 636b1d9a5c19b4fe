"""A problem in larger ticks: what all its times are multiples of is divided out before it is planned.

Every constraint says that one moment is some ticks after another, or that one interval ends before another begins.  If all these
ticks are multiples of g, rounding all moments of a plan down to multiples of g keeps every constraint, memory among them, so
the optimum is a multiple of g too: bounds may be rounded up, and the search has fewer moments to tell apart.  Only memory that
what takes no time holds for one tick (Note [Memory] of `problem`) is not a multiple.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd

from ..answer import Answer, Baseline, Proof, Schedule
from ..constraints import restrictions
from ..problem import Deadline, Problem, Ticks


def common_ticks(problem: Problem) -> int:
    """What all times are multiples of; 1 where links, rows or memory decide about them."""
    if problem.links or any(phase.rows for phase in problem.phases) or _holds_for_a_tick(problem):
        return 1
    found = 0
    for group in problem.devices:
        found = gcd(found, group.sync)
    for edge in problem.edges:
        found = gcd(found, edge.ticks or 0)
    for phase in problem.phases:
        found = gcd(found, phase.ready, *(ticks.at(1) for ticks in phase.ticks.values()))
        if phase.combine is not None:
            return 1
    return max(1, found)


def _holds_for_a_tick(problem: Problem) -> bool:
    """Does anything take no time where memory is limited?"""
    if not any(cap is not None for cap in restrictions(problem).caps):
        return False
    at_once = len(problem.device_names()) > 1 and not all(edge.ticks for edge in problem.edges)
    return at_once or any(not ticks.at(1) for phase in problem.phases for ticks in phase.ticks.values())


def in_larger_ticks(problem: Problem, size: int) -> Problem:
    """The same in ticks of `size` ticks each, which divides all times."""
    return replace(
        problem,
        devices=tuple(replace(group, sync=group.sync // size) for group in problem.devices),
        edges=tuple(edge if edge.ticks is None else replace(edge, ticks=edge.ticks // size) for edge in problem.edges),
        phases=tuple(
            replace(
                phase,
                ready=phase.ready // size,
                ticks={kind: Ticks(((1, ticks.at(1) // size),)) for kind, ticks in phase.ticks.items()},
            )
            for phase in problem.phases
        ),
        directives=tuple(
            replace(line, ticks=line.ticks // size) if isinstance(line, Deadline) else line for line in problem.directives
        ),
    )


def in_own_ticks(answer: Answer, size: int) -> Answer:
    """An answer of the smaller problem for the original."""
    proof = Proof(answer.proof.method, answer.proof.lower_bound * size, answer.proof.detail)
    return replace(
        answer,
        schedule=None if answer.schedule is None else _stretched(answer.schedule, size),
        lower_bound=answer.lower_bound * size,
        values=tuple(value * size for value in answer.values),
        proof=proof,
        baselines=tuple(Baseline(one.name, None if one.ticks is None else one.ticks * size) for one in answer.baselines),
    )


def _stretched(schedule: Schedule, size: int) -> Schedule:
    return Schedule(
        tuple(replace(shard, start=shard.start * size, end=shard.end * size) for shard in schedule.shards),
        tuple(replace(step, start=step.start * size, end=step.end * size) for step in schedule.combines),
        tuple(
            replace(moved, start=moved.start * size, busy=moved.busy * size, arrive=moved.arrive * size)
            for moved in schedule.transfers
        ),
        schedule.decisions,
    )
