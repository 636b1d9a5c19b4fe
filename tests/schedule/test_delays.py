"""Graphs of whole phases with delays: proved as short as brute force finds them, and more members than it can look at."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from share import seeds

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.bounds.head_tail_bounds import Costs
from rho.backend.schedule.problem import Contention, DeviceGroup, Edge, PhaseIndex, PhaseTask, Problem, Status
from rho.backend.schedule.search.portfolio import bound_is_reproved, plan_problem
from rho.backend.schedule.timeline.serial_sgs import ScheduleDecoder
from rho.backend.schedule.verify.schedule_checks import verify

from .oracle import shortest


def graph(seed: int, most: int = 6) -> Problem:
    """Some phases with delays between them on two or three devices, equal and unequal, some of them for one kind only."""
    r = Random(seed)
    count = r.randint(3, most)
    groups = (DeviceGroup("a", "a", home=True), DeviceGroup("b", "b", r.randint(1, 2)))
    if r.random() < 0.4:
        groups = (DeviceGroup("a", "a", r.randint(1, 3), home=True),)
    phases = []
    for p in range(count):
        ticks = {k: Ticks(((1, r.choice((0, 1, 2, 3, 5, 8))),)) for k in "ab"}
        if r.random() < 0.15 and len(groups) == 2:
            del ticks[r.choice("ab")]
        phases.append(PhaseTask(f"t{p}", ticks, out_bytes=1, ready=r.choice((0, 0, 0, 4))))
    slow = r.choice((0, 3, 9))
    edges = [
        Edge(PhaseIndex(p), PhaseIndex(q), ticks=r.randint(0, slow))
        for p, q in combinations(range(count), 2)
        if r.random() < 0.35
    ]
    return Problem(groups, (), tuple(phases), tuple(edges), contention=Contention.OFF)


def best_of(problem: Problem) -> int:
    costs = Costs(ScheduleDecoder(problem))
    found = shortest(problem, [[((d, 1),) for d in devices] for devices in costs.allowed])
    assert found is not None
    return found


@pytest.mark.parametrize("first", range(4))
def test_answers_are_proved_and_verified(first: int) -> None:
    for seed in seeds(40, least=8)[first::4]:
        problem = graph(seed)
        answer = plan_problem(problem)
        assert answer.status is Status.OPTIMAL and answer.values == (best_of(problem),), seed
        assert not verify(problem, answer) and bound_is_reproved(problem, answer), seed


def fork_join(seed: int, members: int) -> Problem:
    """Ways in and out in no agreement."""
    r = Random(seed)
    devices = (DeviceGroup("a", "a", home=True, sync=r.randint(0, 1)), DeviceGroup("b", "b", r.randint(1, 2)))
    phases = tuple(PhaseTask(f"t{p}", {k: Ticks(((1, r.randint(1, 6)),)) for k in "ab"}, out_bytes=1) for p in range(members + 2))
    ways = [(0, m) for m in range(1, members + 1)] + [(m, members + 1) for m in range(1, members + 1)]
    edges = tuple(Edge(PhaseIndex(a), PhaseIndex(b), ticks=r.randint(0, 7)) for a, b in ways)
    return Problem(devices, (), phases, edges, contention=Contention.OFF)


def test_more_members_than_brute_force_can() -> None:
    for seed in seeds(4, least=2):
        problem = fork_join(seed, 11)
        answer = plan_problem(problem)
        assert answer.status is Status.OPTIMAL, seed
        assert not verify(problem, answer) and bound_is_reproved(problem, answer)
