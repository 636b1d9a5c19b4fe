"""The search over states: as short as brute force, and nothing refuted that there is."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random

import pytest

from rho.backend.schedule.answer import Status
from rho.backend.schedule.problem import Contention, DeviceGroup, Edge, PhaseIndex, PhaseTask, Problem, Ticks
from rho.backend.schedule.solve import plan_problem
from rho.backend.schedule.solve.bounds import Bounds
from rho.backend.schedule.solve.costs import Costs
from rho.backend.schedule.solve.partial_schedules.layers import Layers
from rho.backend.schedule.solve.partial_schedules.model import eligible, mirrored, model_of
from rho.backend.schedule.solve.partial_schedules.search import decided, solve, states_of
from rho.backend.schedule.solve.reprove import reprove
from rho.backend.schedule.timeline.timing import Timer
from rho.backend.schedule.verify.schedules import verify

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
    costs = Costs(Timer(problem))
    found = shortest(problem, [[((d, 1),) for d in devices] for devices in costs.allowed])
    assert found is not None
    return found


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_both_directions_find_what_there_is_and_refute_the_rest(first: int) -> None:
    for seed in range(first, first + 10):
        problem = graph(seed, 5)
        best = best_of(problem)
        bounds = Bounds(Costs(Timer(problem)))
        model = model_of(bounds)
        assert model is not None
        for side in (model, mirrored(model)):
            assert side.bound <= best, seed
            if best:
                assert Layers(side).within(best - 1, 10_000, 1 << 60) is False, seed
            found = Layers(side).within(best, 10_000, 1 << 60)
            assert isinstance(found, list), seed
            schedule = bounds.timer.lay_out(decided(side, found))
            assert schedule is not None and schedule.makespan <= best, seed


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_answers_are_proved_and_verified(first: int) -> None:
    for seed in range(first, first + 10):
        problem = graph(100 + seed)
        answer = plan_problem(problem)
        assert answer.status is Status.OPTIMAL and answer.values == (best_of(problem),), seed
        assert not verify(problem, answer) and reprove(problem, answer), seed


def test_narrow_searches_refute_nothing_that_there_is() -> None:
    for seed in range(30):
        problem = graph(seed)
        best = best_of(problem)
        states = states_of(Bounds(Costs(Timer(problem))), 1 << 60)
        assert states is not None
        for most in (1, 2, 5):
            assert states.within(best, most) is not False, seed


def test_work_ends() -> None:
    problem = graph(3)
    bounds = Bounds(Costs(Timer(problem)))
    states = states_of(bounds, 0)
    assert states is not None
    assert solve(states, 0, 1 << 20) == (states.lower, None)


def test_what_is_not_searched() -> None:
    problem = graph(1)
    assert eligible(Bounds(Costs(Timer(problem))))
    for other in (
        replace(problem, devices=(replace(problem.devices[0], memory=9), *problem.devices[1:])),
        replace(problem, phases=(replace(problem.phases[0], rows=4), *problem.phases[1:])),
        replace(problem, devices=(replace(problem.devices[0], sync=1), *problem.devices[1:])),
    ):
        assert not eligible(Bounds(Costs(Timer(other))))


def fork_join(seed: int, members: int) -> Problem:
    """Ways in and out in no agreement."""
    r = Random(seed)
    devices = (DeviceGroup("a", "a", home=True, sync=r.randint(0, 1)), DeviceGroup("b", "b", r.randint(1, 2)))
    phases = tuple(PhaseTask(f"t{p}", {k: Ticks(((1, r.randint(1, 6)),)) for k in "ab"}, out_bytes=1) for p in range(members + 2))
    ways = [(0, m) for m in range(1, members + 1)] + [(m, members + 1) for m in range(1, members + 1)]
    edges = tuple(Edge(PhaseIndex(a), PhaseIndex(b), ticks=r.randint(0, 7)) for a, b in ways)
    return Problem(devices, (), phases, edges, contention=Contention.OFF)


def test_more_members_than_brute_force_can() -> None:
    for seed in range(4):
        problem = fork_join(seed, 11)
        answer = plan_problem(problem)
        assert answer.status is Status.OPTIMAL, seed
        assert not verify(problem, answer) and reprove(problem, answer)
