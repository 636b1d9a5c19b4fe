"""Transfers that occupy nothing: they start while their link is busy, and every room agrees about that."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.problem import DeviceGroup, Edge, Link, PhaseIndex, PhaseTask, Problem, Schedule, Status
from rho.backend.schedule.search.portfolio import bound_is_reproved, plan_problem
from rho.backend.schedule.verify.schedule_checks import verify

from .oracle import shortest


def busy_link(empty: int) -> Problem:
    """Two results go from home to the other device over one link of a byte a tick: one of 50 bytes, one of `empty`."""
    devices = (DeviceGroup("home", "h", home=True), DeviceGroup("far", "f"))
    phases = (
        PhaseTask("large", {"h": Ticks(((1, 1),))}, out_bytes=50),
        PhaseTask("small", {"h": Ticks(((1, 10),))}, out_bytes=empty),
        PhaseTask("long", {"f": Ticks(((1, 60),))}),
        PhaseTask("short", {"f": Ticks(((1, 5),))}),
    )
    edges = (Edge(PhaseIndex(0), PhaseIndex(3)), Edge(PhaseIndex(1), PhaseIndex(2)))
    return Problem(devices, (Link("l", "home", "far", 2, Fraction(1)),), phases, edges)


def test_what_occupies_nothing_does_not_wait() -> None:
    problem = busy_link(0)
    answer = plan_problem(problem)
    # `small` first, its empty transfer, `long` from 12 to 72; `large` is sent beside it
    assert answer.status is Status.OPTIMAL and answer.values == (77,)
    assert not verify(problem, answer) and bound_is_reproved(problem, answer)


def test_it_may_start_while_the_link_is_busy() -> None:
    problem = busy_link(0)
    answer = plan_problem(replace(problem, phases=(problem.phases[0], replace(problem.phases[1], ready=20), *problem.phases[2:])))
    assert answer.schedule is not None
    moved = {int(one.phase): one for one in answer.schedule.transfers}
    assert moved[0].start < moved[1].start == moved[1].busy < moved[0].busy
    assert answer.status is Status.OPTIMAL and answer.values == (30 + 2 + 60 + 5,)


def test_a_single_byte_waits() -> None:
    problem = busy_link(1)
    answer = plan_problem(problem)
    assert answer.schedule is not None and not verify(problem, answer)
    both = [((0, 1),), ((0, 1),), ((1, 1),), ((1, 1),)]
    assert answer.values == (shortest(problem, [[mode] for mode in both]),)
    moved = {int(one.phase): one for one in answer.schedule.transfers}
    inside = replace(moved[1], start=moved[0].start + 1, busy=moved[0].start + 2, arrive=moved[0].start + 4)
    rest = tuple(one for one in answer.schedule.transfers if int(one.phase) != 1)
    forged = Schedule(answer.schedule.shards, (), tuple(sorted((*rest, inside), key=lambda one: (one.start, one.phase))))
    codes = {fault.code.name for fault in verify(problem, replace(answer, schedule=forged))}
    assert "V6" in codes
