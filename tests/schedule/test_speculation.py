"""S03, and what is true of both forms of a select."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.problem import (
    DeviceGroup,
    Edge,
    Link,
    Objective,
    PhaseIndex,
    PhaseTask,
    PlaceDirective,
    Problem,
    Select,
    SourceLine,
    Speculate,
    Status,
)
from rho.backend.schedule.search.branch_forms import plan_selects, with_late
from rho.backend.schedule.search.strategy import FAST
from rho.backend.schedule.timeline.fence_insertion import synchronise
from rho.backend.schedule.verify.schedule_checks import verify

LINE = SourceLine(1, "place z on gpu0")


def branch(*objectives: Objective, ready: int = 20, arm: int = 4) -> Problem:
    """z ← x+y or x-y by b, on the GPU; the inputs come from the CPU, 10 ticks away."""

    def task(id: str, ticks: int, ready: int = 0, home: bool = False) -> PhaseTask:
        return PhaseTask(id, {kind: Ticks(((1, ticks),)) for kind in ("cpu", "gpu")}, out_bytes=8, ready=ready, home=home)

    phases = (
        task("x", 0, home=True), task("y", 0, home=True), task("b", 0, ready, home=True),
        task("plus", arm), task("minus", arm), task("z", 1),
    )  # fmt: skip
    joined = [(0, 3), (1, 3), (0, 4), (1, 4), (2, 5), (3, 5), (4, 5)]
    on_gpu = PlaceDirective(LINE, (PhaseIndex(3), PhaseIndex(4), PhaseIndex(5)), "gpu0")
    return Problem(
        (DeviceGroup("cpu0", "cpu", home=True), DeviceGroup("gpu0", "gpu")), (Link("pcie", "cpu0", "gpu0", 10),), phases,
        tuple(Edge(PhaseIndex(a), PhaseIndex(b)) for a, b in joined),
        directives=(on_gpu,), objectives=objectives or (Objective.LATENCY,),
        selects=(Select(PhaseIndex(5), PhaseIndex(2), (PhaseIndex(3),), (PhaseIndex(4),)),),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("objective", "ticks", "syncs", "speculated"), [(Objective.LATENCY, 31, 2, (5,)), (Objective.SYNCS, 34, 1, ())]
)
def test_s03(objective: Objective, ticks: int, syncs: int, speculated: tuple[int, ...]) -> None:
    planned = plan_selects(branch(objective))
    answer = planned.answer
    assert answer.schedule is not None
    sync = synchronise(planned.problem, answer.schedule)
    assert (answer.schedule.makespan, sync.syncs, answer.speculated, answer.status) == (ticks, syncs, speculated, Status.OPTIMAL)
    assert verify(planned.problem, answer, sync) == ()


def test_s03_in_detail() -> None:
    planned = plan_selects(branch())
    assert planned.answer.schedule is not None
    times = {planned.problem.phases[s.phase].id: (s.start, s.end) for s in planned.answer.schedule.shards if s.device == 1}
    assert sorted([times["plus"], times["minus"]]) == [(10, 14), (14, 18)]
    assert times["z"] == (30, 31)


def test_a_condition_that_is_there_needs_no_guess() -> None:
    planned = plan_selects(branch(ready=0))
    assert planned.answer.values == (14,)
    assert planned.answer.speculated == ()


def test_speculate_asks_for_it() -> None:
    asked = replace(branch(ready=0), directives=(*branch().directives, Speculate(LINE, PhaseIndex(5))))
    assert plan_selects(asked).answer.speculated == (5,)


def test_effects_are_never_speculated() -> None:
    problem = branch()
    phases = tuple(replace(p, effect=True, home=True) if p.id == "minus" else p for p in problem.phases)
    planned = plan_selects(replace(problem, phases=phases, directives=()))
    assert planned.answer.speculated == ()
    assert planned.problem.phases[-1].effect and planned.problem.phases[-1].home


def test_the_late_form_is_one_phase() -> None:
    late = with_late(branch(arm=7), [0])
    assert [phase.id for phase in late.phases] == ["x", "y", "b", "z"]
    assert sorted((e.source, e.target) for e in late.edges) == [(0, 3), (1, 3), (2, 3)]
    assert late.phases[3].ticks["gpu"].at(1) == 7
    assert late.directives == (PlaceDirective(LINE, (PhaseIndex(3),), "gpu0"),)
    assert late.selects == ()


def test_a_select_within_an_arm_is_late_with_it() -> None:
    """z chooses between `plus` and w, which chooses between u and v."""
    problem = branch()
    u, v = (replace(problem.phases[3], id=name) for name in "uv")
    selects = (Select(PhaseIndex(4), PhaseIndex(2), (PhaseIndex(6),), (PhaseIndex(7),)),
               Select(PhaseIndex(5), PhaseIndex(2), (PhaseIndex(3),), (PhaseIndex(4), PhaseIndex(6), PhaseIndex(7))))  # fmt: skip
    more = tuple(Edge(PhaseIndex(a), PhaseIndex(b)) for a, b in [(0, 6), (1, 7), (6, 4), (7, 4), (2, 4)])
    nested = replace(problem, phases=(*problem.phases, u, v), edges=(*problem.edges, *more), selects=selects)
    assert [phase.id for phase in with_late(nested, [0, 1]).phases] == ["x", "y", "b", "z"]
    inner = with_late(nested, [0])
    assert [phase.id for phase in inner.phases] == ["x", "y", "b", "plus", "minus", "z"]
    assert inner.selects == (Select(PhaseIndex(5), PhaseIndex(2), (PhaseIndex(3),), (PhaseIndex(4),)),)
    assert plan_selects(nested, FAST).answer.schedule is not None


@given(st.integers(0, 1 << 40))
@settings(max_examples=30, deadline=None)
def test_the_choice_is_never_worse_than_either_form(seed: int) -> None:
    r = Random(seed)
    problem = branch(ready=r.randint(0, 30), arm=r.randint(0, 20))
    best = plan_selects(problem, FAST).answer.values
    for late in ([], [0]):
        form = replace(with_late(problem, late), selects=())
        assert best <= plan_selects(form, FAST).answer.values
