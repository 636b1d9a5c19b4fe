"""The bound over all cuts: below every plan of random problems, and enough to prove what candidate cuts alone cannot."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from rho.backend.schedule.answer import Status
from rho.backend.schedule.problem import DeviceGroup, Edge, Link, PhaseIndex, PhaseTask, Problem, Ticks
from rho.backend.schedule.solve import plan_problem
from rho.backend.schedule.solve.bounds import Bounds
from rho.backend.schedule.solve.budget import Budget
from rho.backend.schedule.solve.costs import Costs
from rho.backend.schedule.solve.reprove import reprove
from rho.backend.schedule.solve.smt import relaxed
from rho.backend.schedule.solve.smt.relaxed import Relaxation
from rho.backend.schedule.solve.smt.solver import Steps, Verdict
from rho.backend.schedule.timeline.timing import Timer

from .drawn import decisions_for, problem_of

STEPS = 1_000_000_000


def shortest_known(random: Random, problem: Problem, timer: Timer) -> int | None:
    """The best of the planner without proofs and of random decisions."""
    answer = plan_problem(problem, Budget(200, 0))
    found = [] if answer.schedule is None else [answer.schedule.makespan]
    found += [ticks for _ in range(30) if (ticks := timer.makespan(decisions_for(random, problem))) is not None]
    return min(found, default=None)


@pytest.mark.parametrize("places", [1, 6])
def test_no_plan_of_a_random_problem_is_refuted(places: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relaxed, "MOST_PLACES", places)
    asked = sharp = 0
    for seed in range(30):
        random = Random(seed)
        problem = problem_of(random, 5)
        if seed % 2:
            problem = replace(problem, devices=tuple(replace(group, memory=None) for group in problem.devices))
        timer = Timer(problem)
        costs = Costs(timer)
        best = shortest_known(random, problem, timer) if all(costs.allowed) else None
        if best is None:
            continue
        bounds = Bounds(costs)
        for levels in (2, 3, 8):
            model = Relaxation(bounds, levels)
            assert model.probe(best, Steps(STEPS), STEPS) is not Verdict.UNSAT, (seed, levels)
            asked += 1
        sharp += model.probe(best - 1, Steps(STEPS), STEPS) is Verdict.UNSAT
    assert asked > 50 and sharp > 10


def launches(count: int) -> Problem:
    """A chain that may be cut, whose phases cost their launch: half as much at home as on a node."""
    devices = (DeviceGroup("head", "h", home=True, sync=3), DeviceGroup("node", "n", 10, sync=4))
    links = (Link("net", "head", "node", 5, Fraction(2)),)
    table = {"h": Ticks(((1, 20), (64, 22))), "n": Ticks(((1, 40), (64, 42)))}
    phases = tuple(PhaseTask(f"p{i}", table, rows=64, out_bytes=64) for i in range(count))
    print_ = PhaseTask("print", {"h": Ticks(((1, 20),))}, home=True, effect=True)
    edges = (*(Edge(PhaseIndex(i), PhaseIndex(i + 1)) for i in range(count - 1)), Edge(PhaseIndex(count - 1), PhaseIndex(count)))
    return Problem(devices, links, (*phases, print_), edges)


def test_launches_are_proved_not_worth_cutting() -> None:
    problem = launches(4)
    answer = plan_problem(problem)
    assert answer.status is Status.OPTIMAL and answer.values == (4 * 22 + 20,)
    assert reprove(problem, answer)
    assert not reprove(problem, replace(answer, lower_bound=answer.lower_bound + 1, values=(answer.values[0] + 1,)))
