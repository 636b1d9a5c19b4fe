"""Candidate modes: complete where they can be, water-filled and undominated where not."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from share import seeds

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.bounds.head_tail_bounds import Costs
from rho.backend.schedule.problem import (
    DeviceGroup,
    Edge,
    Link,
    NoSplit,
    PhaseIndex,
    PhaseTask,
    PlaceDirective,
    Problem,
    SourceLine,
    Split,
    Status,
)
from rho.backend.schedule.search.mode_enumeration import MOST_MODES, candidate_modes, enumerate_modes, water_filled
from rho.backend.schedule.search.portfolio import plan_problem
from rho.backend.schedule.search.strategy import Budget
from rho.backend.schedule.timeline.serial_sgs import ScheduleDecoder

from . import oracle

DEVICES = (DeviceGroup("A", "a", home=True), DeviceGroup("B", "b"), DeviceGroup("C", "b", count=3))


def one(rows: int, *directives: object) -> Costs:
    phases = (PhaseTask("m", {"a": Ticks(((1, 2),)), "b": Ticks(((1, 3),))}, rows=rows),)
    return Costs(ScheduleDecoder(Problem(DEVICES, (), phases, (), directives)))  # type: ignore[arg-type]


def test_cuts_of_few_rows_are_all_there() -> None:
    modes, complete = enumerate_modes(one(2), 0)
    assert complete
    assert len(modes) == len(set(modes)) == 5 + 5 * 4
    assert all(sum(rows for _, rows in mode) == 2 for mode in modes)


def test_cuts_of_many_rows_are_water_filled_and_few() -> None:
    costs = one(1000)
    modes, complete = enumerate_modes(costs, 0)
    assert not complete
    assert len(modes) <= MOST_MODES
    assert all(sum(rows for _, rows in mode) == 1000 for mode in modes)
    widest = water_filled(costs, 0, [0, 1, 2, 3, 4])
    assert widest is not None and widest in modes
    ticks = [2 * rows if device == 0 else 3 * rows for device, rows in widest]
    assert max(ticks) - min(ticks) <= 3


def test_directives_decide_modes() -> None:
    line = SourceLine(1, "")
    phase = PhaseIndex(0)
    assert enumerate_modes(one(10, Split(line, phase, (3, 1), ("A", "B"))), 0) == ((((0, 8), (1, 2)),), True)
    singles = tuple(((device, 10),) for device in range(5))
    assert enumerate_modes(one(10, NoSplit(line, phase)), 0)[0][:2] == singles[:2]
    assert enumerate_modes(one(10, PlaceDirective(line, (phase,), "B")), 0) == ((((1, 10),),), True)


def test_atomic_phases_are_complete_with_as_many_equal_devices_as_phases() -> None:
    phases = tuple(PhaseTask(f"t{i}", {"p": Ticks(((1, 1),))}) for i in range(3))
    found = candidate_modes(Costs(ScheduleDecoder(Problem((DeviceGroup("p", "p", count=50, home=True),), (), phases, ()))))
    assert found.complete
    assert [len(choices) for choices in found.choices] == [3, 3, 3]


@pytest.mark.parametrize("seed", seeds(5, least=2))
def test_cut_phases_are_as_fast_as_brute_force(seed: int) -> None:
    random = Random(seed)
    devices = (DeviceGroup("A", "a", home=True, sync=1), DeviceGroup("B", "b"))
    links = (Link("l", "A", "B", latency=random.randint(0, 3), bytes_per_tick=2, group="bus"),)  # type: ignore[arg-type]
    phases = tuple(
        PhaseTask(
            f"p{i}", {k: Ticks(((1, random.randint(1, 9)),)) for k in "ab"}, rows=3 * (i < 2), out_bytes=3 * random.randint(1, 4),
        )
        for i in range(3)
    )  # fmt: skip
    edges = (Edge(PhaseIndex(0), PhaseIndex(1)), Edge(PhaseIndex(1), PhaseIndex(2)))
    problem = Problem(devices, links, phases, edges)
    choices = candidate_modes(Costs(ScheduleDecoder(problem)))
    assert choices.complete
    answer = plan_problem(problem, Budget(400, 3_000_000))
    assert answer.status is Status.OPTIMAL
    assert answer.values == (oracle.shortest(problem, [list(modes) for modes in choices.choices], 200),)
    slower = replace(problem, directives=(NoSplit(SourceLine(1, "nosplit p0"), PhaseIndex(0)),))
    assert plan_problem(slower, Budget(400, 3_000_000)).values >= answer.values
