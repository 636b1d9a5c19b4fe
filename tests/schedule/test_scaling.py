"""Times with a common divisor: the plan is that of the smaller problem, and rounding the bound up is no claim too much."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from share import seeds

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.problem import Deadline, DeviceGroup, Edge, Link, PhaseIndex, PhaseTask, Problem, SourceLine, Status
from rho.backend.schedule.search.mode_enumeration import common_ticks, in_larger_ticks, in_original_ticks
from rho.backend.schedule.search.portfolio import bound_is_reproved, plan_problem
from rho.backend.schedule.verify.schedule_checks import verify

from .oracle import shortest


def drawn(random: Random, size: int) -> Problem:
    devices = (DeviceGroup("p", "p", 2, home=True, memory=random.choice((None, 45)), sync=size * random.randint(0, 1)),)
    phases = tuple(
        PhaseTask(
            f"t{i}", {"p": Ticks(((1, size * random.randint(1, 9)),))}, out_bytes=random.randint(1, 9), ready=size * (i % 2)
        )
        for i in range(random.randint(2, 5))
    )
    edges = tuple(
        Edge(PhaseIndex(a), PhaseIndex(b), ticks=size * random.randint(0, 4))
        for b in range(len(phases))
        for a in range(b)
        if random.random() < 0.4
    )
    return Problem(devices, (), phases, edges)


def test_the_optimum_is_a_multiple() -> None:
    for seed in seeds(25, least=4):
        problem = drawn(Random(seed), 6)
        size = common_ticks(problem)
        decided_by_memory = problem.devices[0].memory is not None and not all(edge.ticks for edge in problem.edges)
        assert size % 6 == 0 or (size == 1 and decided_by_memory)
        answer = plan_problem(problem)
        assert answer.status is Status.OPTIMAL and not verify(problem, answer)
        assert bound_is_reproved(problem, answer)
        if problem.devices[0].memory is None:
            modes = [[((d, 1),) for d in range(2)] for _ in problem.phases]
            assert answer.values == (shortest(problem, modes),), seed


def test_a_bound_is_rounded_up() -> None:
    """Three phases of 100 on two devices: 150 of work each, and no plan of less than 200."""
    phases = tuple(PhaseTask(f"t{i}", {"p": Ticks(((1, 100),))}) for i in range(3))
    problem = Problem((DeviceGroup("p", "p", 2, home=True),), (), phases, ())
    answer = plan_problem(problem)
    assert answer.values == (200,) and answer.proof.method == "bound" and answer.lower_bound == 200
    assert in_original_ticks(plan_problem(in_larger_ticks(problem, 100)), 100).values == (200,)


def test_what_links_and_rows_decide_is_left_as_it_is() -> None:
    problem = Problem((DeviceGroup("p", "p", home=True),), (), (PhaseTask("t", {"p": Ticks(((1, 10),))}, rows=2),), ())
    assert common_ticks(problem) == 1
    linked = replace(problem, phases=(PhaseTask("t", {"p": Ticks(((1, 10),))}),), links=(Link("l", "p", "p", 3),))
    assert common_ticks(linked) == 1


def test_deadlines_are_kept() -> None:
    phases = (PhaseTask("t", {"p": Ticks(((1, 100),))}), PhaseTask("u", {"p": Ticks(((1, 100),))}))
    problem = Problem((DeviceGroup("p", "p", home=True),), (), phases, (), (Deadline(SourceLine(1, "deadline 199"), 199),))
    answer = plan_problem(problem)
    assert answer.status is Status.IMPOSSIBLE and answer.conflict is not None and "199" in answer.conflict.directives[0].line.text
    assert plan_problem(replace(problem, directives=(Deadline(SourceLine(1, "deadline 200"), 200),))).values == (200,)
