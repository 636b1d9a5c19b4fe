"""Forks, and equal phases behind a bus: the exact search proves what brute force finds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from share import seeds

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.bounds.head_tail_bounds import Costs
from rho.backend.schedule.exact.makespan_bisection import refine
from rho.backend.schedule.exact.z3_solver import SolverSteps
from rho.backend.schedule.problem import Contention, DeviceGroup, Edge, Link, PhaseIndex, PhaseTask, Problem, Status
from rho.backend.schedule.search.mode_enumeration import candidate_modes
from rho.backend.schedule.search.portfolio import bound_is_reproved, plan_problem
from rho.backend.schedule.timeline.serial_sgs import ScheduleDecoder
from rho.backend.schedule.verify.schedule_checks import verify

from .oracle import shortest

STEPS = 500_000_000


def fork(random: Random, *, source: bool, sink: bool, members: int) -> Problem:
    """Members between a source and a sink, ways in and out in agreement, on one, two or three devices."""
    sync = random.randint(0, 1)
    devices = (DeviceGroup("a", "a", home=True, sync=sync), DeviceGroup("b", "b", random.randint(1, 2), sync=sync))
    ticks = [{k: Ticks(((1, random.randint(1, 6)),)) for k in "ab"} for _ in range(members + source + sink)]
    into, out = (
        sorted(random.randint(0, 6) for _ in range(members)),
        sorted((random.randint(0, 6) for _ in range(members)), reverse=True),
    )
    names = random.sample(range(members), members)
    edges = []
    for place, name in enumerate(names):
        own = PhaseIndex(name + source)
        if source:
            edges.append(Edge(PhaseIndex(0), own, ticks=into[place]))
        if sink:
            edges.append(Edge(own, PhaseIndex(members + source), ticks=out[place]))
    phases = tuple(PhaseTask(f"t{i}", table, out_bytes=1) for i, table in enumerate(ticks))
    return Problem(devices, (), phases, tuple(edges), contention=Contention.OFF)


def best_of(problem: Problem) -> int:
    costs = Costs(ScheduleDecoder(problem))
    found = shortest(problem, [[((d, 1),) for d in devices] for devices in costs.allowed])
    assert found is not None
    return found


@pytest.mark.parametrize(("source", "sink"), [(True, False), (False, True), (True, True), (False, False)])
def test_forks_are_solved(source: bool, sink: bool) -> None:
    for seed in seeds(12, least=3):
        problem = fork(Random(seed), source=source, sink=sink, members=3 if source and sink else 4)
        best = best_of(problem)
        decoder = ScheduleDecoder(problem)
        answer = plan_problem(problem)
        assert answer.status is Status.OPTIMAL and answer.values == (best,), seed
        assert not verify(problem, answer) and bound_is_reproved(problem, answer)
        modes = candidate_modes(Costs(decoder)).choices
        assert refine(problem, modes, None, 0, SolverSteps(STEPS)).lower_bound == best


def doubled(random: Random) -> Problem:
    """A few phases, some of them alike, behind one bus with memory limits."""
    devices = (DeviceGroup("a", "a", home=True), DeviceGroup("b", "b", 2, memory=random.choice((None, 12))))
    links = (Link("l", "a", "b", random.randint(0, 2), Fraction(random.randint(1, 3)), group="bus"),)
    twin = PhaseTask("", {k: Ticks(((1, random.randint(1, 5)),)) for k in "ab"}, out_bytes=random.randint(1, 5))
    first = PhaseTask("s", {k: Ticks(((1, random.randint(1, 3)),)) for k in "ab"}, out_bytes=random.randint(1, 5))
    phases = (first, *(replace(twin, id=f"t{i}") for i in range(2)), PhaseTask("e", {"a": Ticks(((1, 2),))}))
    edges = [Edge(PhaseIndex(0), PhaseIndex(i)) for i in (1, 2)] + [Edge(PhaseIndex(i), PhaseIndex(3)) for i in (1, 2)]
    return Problem(devices, links, phases, tuple(edges))


def test_equal_phases_behind_a_bus() -> None:
    for seed in seeds(16, least=3):
        problem = doubled(Random(seed))
        modes = candidate_modes(Costs(ScheduleDecoder(problem))).choices
        spread = replace(  # the oracle knows single devices
            problem,
            devices=(problem.devices[0], *(replace(problem.devices[1], id=f"b{i}", count=1) for i in range(2))),
            links=tuple(replace(problem.links[0], id=f"l{i}", target=f"b{i}") for i in range(2)),
        )
        best = shortest(spread, [[((int(d), n),) for ((d, n),) in options] for options in modes])
        outcome = refine(problem, modes, None, 0, SolverSteps(STEPS))
        assert outcome.schedule is not None and outcome.proved, seed
        assert outcome.lower_bound == best, seed
