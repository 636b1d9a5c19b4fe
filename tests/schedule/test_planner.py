"""Answers of the planner: published optima, brute force on small problems, and what must hold of every answer."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from share import repeats, seeds

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.problem import (
    DeviceGroup,
    Edge,
    LimitMachines,
    Link,
    PhaseIndex,
    PhaseTask,
    PlaceDirective,
    Problem,
    SourceLine,
    Status,
)
from rho.backend.schedule.search.portfolio import plan_problem
from rho.backend.schedule.search.strategy import FAST, Budget

from . import oracle
from .drawn import problem_of
from .examples import PEFT, TOPCUOGLU

SMALL = Budget(400, 2_000_000)


def drawn(seed: int, phases: int = 5) -> Problem:
    """Atomic phases on three unequal devices, one bus, sometimes memory limits."""
    random = Random(seed)
    memory = random.choice((None, 60))
    devices = tuple(DeviceGroup(f"d{i}", f"k{i}", home=i == 0, memory=memory if i else None) for i in range(3))
    links = tuple(Link(f"l{i}", "d0", f"d{i}", latency=random.randint(0, 2), bytes_per_tick=10, group="bus") for i in (1, 2))  # type: ignore[arg-type]
    tasks = tuple(
        PhaseTask(f"p{p}", {f"k{k}": Ticks(((1, random.randint(1, 12)),)) for k in range(3)}, out_bytes=random.randint(1, 30))
        for p in range(phases)
    )
    edges = tuple(Edge(PhaseIndex(p), PhaseIndex(q)) for q in range(phases) for p in range(q) if random.random() < 0.4)
    return Problem(devices, links, tasks, edges)


@pytest.mark.parametrize(("problem", "optimum"), [(TOPCUOGLU, 73), (PEFT, 113)])
def test_s28_published_examples_are_proved(problem: Problem, optimum: int) -> None:
    answer = plan_problem(problem)
    assert (answer.status, answer.values, answer.lower_bound) == (Status.OPTIMAL, (optimum,), optimum)
    assert answer.schedule is not None
    assert answer.schedule.makespan == optimum


@pytest.mark.parametrize("seed", seeds(8, least=2))
def test_the_plan_is_as_short_as_brute_force(seed: int) -> None:
    problem = drawn(seed, 4)
    answer = plan_problem(problem, SMALL)
    choices = [[((d, 1),) for d in range(3)] for _ in problem.phases]
    shortest = oracle.shortest(problem, choices, 1 + sum(12 + 30 for _ in problem.phases))
    assert answer.status is Status.OPTIMAL
    assert answer.values == (shortest,)


@pytest.mark.parametrize("seed", seeds(12, least=3))
def test_no_answer_is_worse_than_a_baseline_or_below_its_bound(seed: int) -> None:
    answer = plan_problem(drawn(seed, 9), FAST)
    assert answer.schedule is not None
    assert answer.values == (answer.schedule.makespan,)
    assert answer.lower_bound <= answer.values[0]
    assert (answer.status is Status.OPTIMAL) == (answer.lower_bound == answer.values[0])
    assert [b.name for b in answer.baselines] == ["best single", "even split", "HEFT", "PEFT"]
    assert all(b.ticks is None or answer.values[0] <= b.ticks for b in answer.baselines)


@pytest.mark.parametrize("seed", seeds(4, least=2))
def test_the_same_problem_gives_the_same_plan(seed: int) -> None:
    problem = drawn(seed, 8)
    first = repr(plan_problem(problem, FAST))
    assert all(repr(plan_problem(problem, FAST)) == first for _ in range(repeats(19)))


@pytest.mark.parametrize("seed", seeds(5, least=2))
def test_a_directive_never_helps(seed: int) -> None:
    problem = drawn(seed)
    free = plan_problem(problem, SMALL)
    random = Random(seed)
    place = PlaceDirective(SourceLine(1, "place"), (PhaseIndex(random.randrange(5)),), f"d{random.randrange(3)}")
    bound = plan_problem(replace(problem, directives=(place,)), SMALL)
    assert free.status is Status.OPTIMAL
    if bound.status is Status.IMPOSSIBLE:  # the device is too small
        assert bound.conflict is not None and bound.conflict.code == "SCH103"
        return
    assert bound.status is Status.OPTIMAL and bound.values >= free.values


@pytest.mark.parametrize("seed", seeds(5, least=2))
def test_another_device_never_hurts(seed: int) -> None:
    problem = drawn(seed)
    fewer = replace(problem, devices=problem.devices[:2], links=problem.links[:1])
    more, less = plan_problem(problem, SMALL), plan_problem(fewer, SMALL)
    assert more.status is less.status is Status.OPTIMAL
    assert more.values <= less.values


@pytest.mark.parametrize("seed", seeds(4, least=2))
def test_all_costs_times_k_is_the_time_times_k(seed: int) -> None:
    problem = drawn(seed)
    phases = tuple(replace(t, ticks={k: Ticks(((1, 7 * v.at(1)),)) for k, v in t.ticks.items()}) for t in problem.phases)
    delays = replace(problem, links=(), edges=tuple(replace(e, ticks=3) for e in problem.edges))
    scaled = replace(delays, phases=phases, edges=tuple(replace(e, ticks=21) for e in problem.edges))
    once, often = plan_problem(delays, SMALL), plan_problem(scaled, SMALL)
    assert once.status is often.status is Status.OPTIMAL
    assert often.values == (7 * once.values[0],)


@pytest.mark.parametrize("seed", seeds(4, least=2))
def test_other_names_give_the_same_plan(seed: int) -> None:
    problem = drawn(seed, 8)
    named = {"d0": "host", "d1": "first", "d2": "second"}
    other = replace(
        problem,
        devices=tuple(replace(g, id=named[g.id]) for g in problem.devices),
        links=tuple(replace(k, source=named[k.source], target=named[k.target]) for k in problem.links),
    )
    one, two = plan_problem(problem, FAST), plan_problem(other, FAST)
    assert one.schedule == two.schedule


def test_s32_small_work_stays_home_and_equal_devices_are_one() -> None:
    gpus = DeviceGroup("gpu", "gpu", count=3)
    links = (Link("pcie", "cpu", "gpu", latency=50),)
    phases = tuple(PhaseTask(f"p{i}", {"cpu": Ticks(((1, 4),)), "gpu": Ticks(((1, 3),))}, home=i == 0) for i in range(3))
    edges = (Edge(PhaseIndex(0), PhaseIndex(1)), Edge(PhaseIndex(1), PhaseIndex(2)))
    answer = plan_problem(Problem((DeviceGroup("cpu", "cpu", home=True), gpus), links, phases, edges), FAST)
    assert answer.status is Status.OPTIMAL
    assert answer.values == (12,)
    assert answer.schedule is not None
    assert {int(s.device) for s in answer.schedule.shards} == {0}
    assert answer.schedule.transfers == ()


def test_limit_machines_holds_without_a_cut() -> None:
    limit = LimitMachines(SourceLine(1, "limit machines 2"), 2)
    phases = tuple(PhaseTask(f"p{i}", {"p": Ticks(((1, 5),))}) for i in range(4))
    answer = plan_problem(Problem((DeviceGroup("p", "p", count=4, home=True),), (), phases, (), (limit,)), FAST)
    assert answer.values == (10,)
    assert answer.status is Status.OPTIMAL


def test_too_little_memory_is_impossible_with_the_numbers() -> None:
    phases = (PhaseTask("m", {"a": Ticks(((1, 1),)), "b": Ticks(((1, 2),))}, rows=200, out_bytes=200_000_000),)
    devices = (DeviceGroup("A", "a", memory=90_000_000, home=True), DeviceGroup("B", "b", memory=100_000_000))
    answer = plan_problem(Problem(devices, (), phases, ()), FAST)
    assert answer.status is Status.IMPOSSIBLE
    assert answer.conflict is not None
    assert answer.conflict.code == "SCH103"
    assert "short 10 MB" in answer.conflict.facts


def test_no_phases_take_no_time() -> None:
    answer = plan_problem(Problem((DeviceGroup("p", "p", home=True),), (), (), ()), FAST)
    assert (answer.status, answer.values) == (Status.OPTIMAL, (0,))


@pytest.mark.long
def test_no_schedule_is_impossible_with_a_reason_or_given_up_never_a_gap() -> None:
    """Tight memory and one or two machines: what cannot be planned is said to be so."""
    seen: set[Status] = set()
    for seed in (2, 12, 24, 26, 27, 715):
        random = Random(seed)
        problem = problem_of(random)
        devices = tuple(replace(group, memory=random.randint(15, 60)) for group in problem.devices)
        for most in (1, 2):
            limit = LimitMachines(SourceLine(1, f"limit machines {most}"), most)
            answer = plan_problem(replace(problem, devices=devices, directives=(limit,)))
            seen.add(answer.status)
            assert answer.schedule is not None or answer.status is Status.ABORTED or answer.conflict is not None, seed
            assert answer.schedule is not None or answer.status is not Status.GAP, seed
    assert Status.IMPOSSIBLE in seen
