"""Twins, families and forks: what is left out of the search is never the only optimum."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from rho.backend.schedule.problem import Contention, DeviceGroup, Edge, Link, PhaseIndex, PhaseTask, Problem, Status, Ticks
from rho.backend.schedule.solve import plan_problem
from rho.backend.schedule.solve.costs import Costs
from rho.backend.schedule.solve.forks import fork_of, within
from rho.backend.schedule.solve.modes import candidate_modes
from rho.backend.schedule.solve.reprove import reprove
from rho.backend.schedule.solve.smt.families import family, twins
from rho.backend.schedule.solve.smt.search import refine
from rho.backend.schedule.solve.smt.shape import Shape
from rho.backend.schedule.solve.smt.solver import Steps
from rho.backend.schedule.timeline.timing import Decisions, Timer
from rho.backend.schedule.verify.schedules import verify

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
    costs = Costs(Timer(problem))
    found = shortest(problem, [[((d, 1),) for d in devices] for devices in costs.allowed])
    assert found is not None
    return found


@pytest.mark.parametrize(("source", "sink"), [(True, False), (False, True), (True, True), (False, False)])
def test_forks_are_solved(source: bool, sink: bool) -> None:
    for seed in range(12):
        problem = fork(Random(seed), source=source, sink=sink, members=3 if source and sink else 4)
        best = best_of(problem)
        timer = Timer(problem)
        found = fork_of(Costs(timer))
        assert found is not None
        assert within(found, best - 1) is False
        plan = within(found, best)
        assert isinstance(plan, Decisions) and timer.makespan(plan) == best
        answer = plan_problem(problem)
        assert answer.status is Status.OPTIMAL and answer.values == (best,), seed
        assert not verify(problem, answer) and reprove(problem, answer)
        modes = candidate_modes(Costs(timer)).choices
        assert refine(problem, modes, None, 0, Steps(STEPS)).lower_bound == best


def test_what_is_no_family() -> None:
    problem = fork(Random(1), source=True, sink=True, members=4)
    timer = Timer(problem)
    shape = Shape(problem, candidate_modes(Costs(timer)).choices)
    assert family(shape)
    ways = {edge.target: edge.ticks for edge in problem.edges}
    across = tuple(replace(edge, ticks=ways.get(edge.source, 9)) if edge.target == 5 else edge for edge in problem.edges)
    late = replace(problem, edges=tuple(replace(e, ticks=i) for i, e in enumerate(across)))
    assert not family(Shape(late, candidate_modes(Costs(Timer(late))).choices))
    capped = replace(problem, devices=(replace(problem.devices[0], memory=5), problem.devices[1]))
    assert fork_of(Costs(Timer(capped))) is None
    chain = replace(problem, edges=(Edge(PhaseIndex(0), PhaseIndex(1)), Edge(PhaseIndex(1), PhaseIndex(2))))
    assert not family(Shape(chain, candidate_modes(Costs(Timer(chain))).choices))


def doubled(random: Random) -> Problem:
    """A few phases, some of them alike, behind one bus with memory limits."""
    devices = (DeviceGroup("a", "a", home=True), DeviceGroup("b", "b", 2, memory=random.choice((None, 12))))
    links = (Link("l", "a", "b", random.randint(0, 2), Fraction(random.randint(1, 3)), group="bus"),)
    twin = PhaseTask("", {k: Ticks(((1, random.randint(1, 5)),)) for k in "ab"}, out_bytes=random.randint(1, 5))
    first = PhaseTask("s", {k: Ticks(((1, random.randint(1, 3)),)) for k in "ab"}, out_bytes=random.randint(1, 5))
    phases = (first, *(replace(twin, id=f"t{i}") for i in range(2)), PhaseTask("e", {"a": Ticks(((1, 2),))}))
    edges = [Edge(PhaseIndex(0), PhaseIndex(i)) for i in (1, 2)] + [Edge(PhaseIndex(i), PhaseIndex(3)) for i in (1, 2)]
    return Problem(devices, links, phases, tuple(edges))


def test_twins_behind_a_bus() -> None:
    for seed in range(16):
        problem = doubled(Random(seed))
        modes = candidate_modes(Costs(Timer(problem))).choices
        assert twins(Shape(problem, modes)) == [[1, 2]]
        spread = replace(  # the oracle knows single devices
            problem,
            devices=(problem.devices[0], *(replace(problem.devices[1], id=f"b{i}", count=1) for i in range(2))),
            links=tuple(replace(problem.links[0], id=f"l{i}", target=f"b{i}") for i in range(2)),
        )
        best = shortest(spread, [[((int(d), n),) for ((d, n),) in options] for options in modes])
        outcome = refine(problem, modes, None, 0, Steps(STEPS))
        assert outcome.schedule is not None and outcome.proved, seed
        assert outcome.lower_bound == best, seed
