"""The search for axes and bounds over all of them, against every choice of axes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from share import seeds

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.exact.z3_solver import SolverSteps
from rho.backend.schedule.problem import AxisSpace, Combine, DeviceGroup, Edge, Link, PhaseIndex, PhaseTask, Problem, Status
from rho.backend.schedule.search.axis_search import (
    LeastTicks,
    bound_holds_along_all,
    bytes_beside,
    least_bytes,
    lower_bound,
    plan_axes,
    without_axes,
)
from rho.backend.schedule.search.portfolio import bound_is_confirmed, plan_objectives
from rho.backend.schedule.search.strategy import DEFAULT, FAST, Budget
from rho.backend.schedule.verify.judge import Rule
from rho.backend.schedule.verify.schedule_checks import BoundStatus, bound_status, verify

from .drawn import problem_of
from .oracle import Mode, shortest

QUICK = Budget(40, 0)


def with_axes(r: Random, problem: Problem, *, combines: bool = True, most_rows: int = 8) -> Problem:
    """The problem with other axes of its phases of several rows."""
    phases = tuple(
        (task, *(another(r, task, combines=combines, most_rows=most_rows) for _ in range(r.randint(0, 2) if task.rows else 0)))
        for task in problem.phases
    )
    edges = tuple(
        {
            (i, j): edge if i + j == 0 else replace(edge, whole=r.random() < 0.5, halo=r.randint(0, 1) if source.rows else 0)
            for i, source in enumerate(phases[edge.source]) for j in range(len(phases[edge.target]))
        }
        for edge in problem.edges
    )  # fmt: skip
    return replace(problem, axes=AxisSpace(phases, edges), chosen=(0,) * len(phases))


def another(r: Random, task: PhaseTask, *, combines: bool, most_rows: int) -> PhaseTask:
    rows = r.randint(1, most_rows)

    def table() -> Ticks:
        low = r.randint(0, 6)
        return Ticks(((1, low), (rows + 1, low + r.randint(0, 9))))

    combine = Combine(r.randint(0, 3), max(task.out_bytes, r.randint(0, 6))) if combines else None
    return replace(
        task, ticks={kind: table() for kind in task.ticks}, rows=rows, combine=combine if r.random() < 0.4 else None,
        scratch=r.randint(0, 6),
    )  # fmt: skip


def space_of(problem: Problem) -> AxisSpace:
    assert problem.axes is not None
    return problem.axes


def every_choice(problem: Problem) -> list[tuple[int, ...]]:
    return list(product(*(range(len(options)) for options in space_of(problem).phases)))


def beside(problem: Problem, chosen: tuple[int, ...]) -> int:
    along, space = problem.along(chosen), space_of(problem)
    combined = sum((1 << 16) + task.combine.bytes for task in along.phases if task.combine is not None)
    moved = sum(
        bytes_beside(space, options, chosen[edge.source], chosen[edge.target])
        for edge, options in zip(along.edges, space.edges, strict=True)
    )
    return combined + moved + sum(task.out_bytes // task.rows for task in along.phases if task.rows)


@pytest.mark.parametrize("seed", seeds(300, least=20))
def test_the_fewest_bytes(seed: int) -> None:
    r = Random(seed)
    problem = with_axes(r, problem_of(r, 7))
    chosen = least_bytes(space_of(problem))
    assert beside(problem, chosen) == min(beside(problem, one) for one in every_choice(problem)), seed
    phase = r.randrange(len(problem.phases))
    axis = r.randrange(len(space_of(problem).phases[phase]))
    fixed = least_bytes(space_of(problem), {phase: axis})
    assert fixed[phase] == axis
    assert beside(problem, fixed) == min(beside(problem, one) for one in every_choice(problem) if one[phase] == axis), seed


@pytest.mark.parametrize("seed", seeds(200, least=15))
def test_the_least_ticks_of_several_axes(seed: int) -> None:
    r = Random(seed)
    counts = [r.choice((1, 2, 3, 6)) for _ in range(r.randint(1, 3))]
    tables = [(n, Ticks(((1, low := r.randint(0, 9)), (12 // n + 1, low + r.randint(0, 30))))) for n in counts]
    least = LeastTicks(tables, 12)
    for n, table in tables:
        for rows in range(1, 12 // n + 1):
            assert least.at(n * rows) <= table.at(rows) and least.rate(12) <= table.rate(12 // n) / n
            for time in range(0, 40, 3):
                assert table.at(rows) > time or least.max_rows_within(time, 12) >= n * rows
    for first in range(1, 13):
        for last in range(first, 13):
            found = min(least.at(rows) for rows in range(first, last + 1))
            assert least.weak_min_ticks(first, last) <= found and least.min_ticks(first, last) <= found


def simple(r: Random) -> Problem:
    """A problem that the oracle knows: one link a pair of devices, no combines."""
    problem = problem_of(r, 3)
    phases = tuple(
        replace(task, combine=None, inplace=False, effect=False, rows=min(task.rows, 2), out_bytes=task.out_bytes or 4)
        for task in problem.phases
    )
    groups = tuple(replace(group, count=1, memory=None) for group in problem.devices[:2])
    links = tuple(replace(link, group=None) for link in problem.links if {link.source, link.target} == {"cpu0", "gpu"})[:1]
    edges = tuple(replace(edge, bytes=None) for edge in problem.edges)
    problem = replace(problem, phases=phases, devices=groups, links=links, edges=edges, memory_grain=1)
    return with_axes(r, problem, combines=False, most_rows=3)


def modes_of(task: PhaseTask) -> list[Mode]:
    if task.home:
        return [((0, task.units),)]
    halves = [((a, rows), (1 - a, task.rows - rows)) for a in (0, 1) for rows in range(1, task.rows)]
    return [((0, task.units),), ((1, task.units),), *halves]


@pytest.mark.parametrize("seed", seeds(120, least=8))
def test_no_bound_is_above_the_best_of_all_axes(seed: int) -> None:
    r = Random(seed)
    problem = simple(r)
    alongs = [problem.along(chosen) for chosen in every_choice(problem)]
    best = min((t for one in alongs if (t := shortest(one, [modes_of(task) for task in one.phases])) is not None), default=None)
    answer = plan_axes(problem, FAST)
    assert verify(problem, answer) == (), seed
    if best is None:
        assert answer.schedule is None
        return
    assert answer.every_axis and answer.lower_bound <= best and answer.status is not Status.IMPOSSIBLE, (seed, best)
    assert answer.schedule is None or answer.schedule.makespan >= best, (seed, best)


@pytest.mark.parametrize("seed", seeds(100, least=8))
def test_no_bound_is_above_a_plan_along_any_axes(seed: int) -> None:
    """With combines, halos, several devices and links, and memory: a phase that is put together at home along one axis, too."""
    r = Random(seed)
    problem = with_axes(r, problem_of(r, 5))
    problem = replace(problem, chunks=r.choice((1, 1, 4)))
    anywhere, fits = without_axes(problem), False
    for chosen in r.sample(choices := every_choice(problem), min(5, len(choices))):
        answer = plan_objectives(problem.along(chosen), QUICK)
        if answer.schedule is None:
            continue
        fits = True
        assert verify(problem, replace(answer, axes=chosen)) == ()
        bounded = replace(anywhere, chunks=answer.chunks)
        assert lower_bound(bounded, answer.values[0], FAST) <= answer.values[0], (seed, chosen)
    assert not fits or plan_objectives(anywhere, QUICK).status is not Status.IMPOSSIBLE, seed


def test_what_is_said_of_axes_is_judged() -> None:
    problem = next(
        drawn for seed in range(100) if len(every_choice(drawn := with_axes(Random(seed), problem_of(Random(seed), 4)))) > 1
        and plan_axes(drawn, QUICK).schedule is not None
    )  # fmt: skip
    answer = plan_axes(problem, QUICK)
    assert verify(problem, answer) == () and bound_status(problem, answer) is BoundStatus.CLAIMED
    for wrong in (answer.axes[1:], (*answer.axes, 0), (-1, *answer.axes[1:]), (9, *answer.axes[1:])):
        assert [one.code for one in verify(problem, replace(answer, axes=wrong))] == [Rule.V3]
    assert [one.code for one in verify(problem.along(answer.axes), replace(answer, axes=(7, *answer.axes[1:])))] == [Rule.V3]


def test_few_choices_are_refuted_one_by_one() -> None:
    """Each of two phases takes 6 ticks a row along one axis and 10 along the other, and where both are quick they do not line up:
    the problem without axes has 12 ticks on two devices, each choice of axes 16 or more."""
    pytest.importorskip("z3")
    quick, slow = (PhaseTask("", {"cpu": Ticks(((1, n), (2, 2 * n)))}, rows=2, out_bytes=1000) for n in (6, 10))
    devices = (DeviceGroup("c0", "cpu", home=True), DeviceGroup("c1", "cpu"))
    apart = Edge(PhaseIndex(0), PhaseIndex(1), whole=True)
    lined = replace(apart, whole=False)
    space = AxisSpace(
        ((replace(quick, id="a"), replace(slow, id="a")), (replace(quick, id="b"), replace(slow, id="b"))),
        ({(0, 0): apart, (0, 1): lined, (1, 0): lined, (1, 1): apart},),
    )
    problem = Problem(devices, (Link("l", "c0", "c1", 1, Fraction(1)),), (), (), axes=space)
    problem = replace(problem.along((0, 0)), axes=space)
    assert not bound_is_confirmed(without_axes(problem), 16, SolverSteps(10_000_000))
    assert bound_holds_along_all(problem, 16, SolverSteps(10_000_000))
    assert not bound_holds_along_all(problem, 17, SolverSteps(10_000_000))
    answer = plan_axes(problem, FAST)
    assert answer.values == (16,) and answer.axes in ((0, 1), (1, 0))
    proved = plan_axes(problem, DEFAULT)
    assert (proved.status, proved.lower_bound) == (Status.OPTIMAL, 16)
