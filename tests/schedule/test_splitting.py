"""One phase cut over devices: the scenarios S10 to S17 of the design, by their numbers, and the certificate."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.bounds.head_tail_bounds import Costs, apportion_within
from rho.backend.schedule.bounds.single_phase_split import PhaseSplit, split_single_phase
from rho.backend.schedule.problem import (
    Combine,
    Decisions,
    DeviceGroup,
    Edge,
    LimitMachines,
    Link,
    PhaseIndex,
    PhaseTask,
    Problem,
    SourceLine,
)
from rho.backend.schedule.timeline.serial_sgs import ScheduleDecoder, decode_schedule

MB = 1_000_000


def solve(problem: Problem) -> PhaseSplit:
    found = split_single_phase(Costs(ScheduleDecoder(problem)))
    assert found is not None
    return found


def optimum(problem: Problem) -> tuple[int, list[int]]:
    """The makespan, proved, and the rows of each shard of the phase that is cut."""
    found = solve(problem)
    assert found.schedule is not None
    assert found.schedule.makespan == found.lower_bound
    assert found.detail["reached"] < found.detail["rows"]
    rows = sorted((int(s.device), s.stop - s.first) for s in found.schedule.shards if problem.phases[s.phase].rows)
    return found.lower_bound, [count for _, count in rows]


def s10(rows: int) -> Problem:
    phases = (
        PhaseTask("x", {"cpu": Ticks(((1, 0),))}, home=True),
        PhaseTask("sum", {"cpu": Ticks(((1, 4),))}, rows=rows),
        PhaseTask("rest", {"cpu": Ticks(((1, rows),))}, home=True),
    )
    edges = (Edge(PhaseIndex(0), PhaseIndex(1)), Edge(PhaseIndex(1), PhaseIndex(2)))
    devices = (DeviceGroup("here", "cpu", home=True), DeviceGroup("there", "cpu"))
    return Problem(devices, (Link("net", "here", "there", latency=20),), phases, edges)


def cut(problem: Problem, phase: int, *rows: int) -> int:
    """The makespan of given rows for devices 0, 1… of the phase that is cut; everything else at home."""
    mode = tuple((d, count) for d, count in enumerate(rows) if count)
    modes = tuple(mode if p == phase else ((0, 1),) for p in range(len(problem.phases)))
    schedule = decode_schedule(problem, Decisions(modes, tuple(range(len(modes)))))
    assert schedule is not None
    return schedule.makespan


def test_s10_a_far_node_is_used_from_twelve_rows_on() -> None:
    assert optimum(s10(8)) == (40, [8])
    assert cut(s10(8), 1, 4, 4) == 64
    assert optimum(s10(11)) == (55, [11])
    assert optimum(s10(12)) == (56, [11, 1])
    assert cut(s10(12), 1, 12, 0) == 60


def test_s11_forty_rows_are_cut_unevenly() -> None:
    assert optimum(s10(40)) == (140, [25, 15])
    assert cut(s10(40), 1, 20, 20) == 160
    assert cut(s10(40), 1, 40, 0) == 200


def two(rows: int, a: Ticks, b: Ticks, **more: object) -> Problem:
    phases = (PhaseTask("m", {"a": a, "b": b}, rows=rows, **more),)  # type: ignore[arg-type]
    return Problem((DeviceGroup("A", "a", home=True), DeviceGroup("B", "b")), (), phases, ())


def test_s12_speeds_one_to_three() -> None:
    assert optimum(two(100, Ticks(((1, 1),)), Ticks(((3, 1),)))) == (25, [25, 75])


def test_s13_a_start_up_cost() -> None:
    problem = two(20, Ticks(((1, 10),)), Ticks(((1, 42), (2, 44))))
    assert optimum(problem) == (68, [6, 14])
    assert cut(problem, 0, 10, 10) == 100
    assert cut(problem, 0, 20, 0) == 200
    assert cut(problem, 0, 0, 20) == 80


def s14(group: str | None) -> Problem:
    phases = (
        PhaseTask("x", {"cpu": Ticks(((1, 0),))}, home=True, out_bytes=30),
        PhaseTask("m", {"gpu": Ticks(((1, 1),))}, rows=30),
    )
    return Problem(
        (DeviceGroup("cpu", "cpu", home=True), DeviceGroup("G0", "gpu"), DeviceGroup("G1", "gpu")),
        tuple(Link(f"to {g}", "cpu", g, bytes_per_tick=Fraction(1), group=group) for g in ("G0", "G1")),
        phases,
        (Edge(PhaseIndex(0), PhaseIndex(1)),),
    )


def test_s14_a_shared_link_serves_one_after_the_other() -> None:
    assert optimum(s14("bus")) == (40, [20, 10])
    schedule = decode_schedule(s14("bus"), Decisions((((0, 1),), ((1, 15), (2, 15))), (0, 1)))
    assert schedule is not None
    assert schedule.makespan == 45
    assert optimum(s14(None)) == (30, [15, 15])


def s15(first: int | None, second: int | None) -> Problem:
    phases = (PhaseTask("m", {"a": Ticks(((1, 1),)), "b": Ticks(((1, 2),))}, rows=200, out_bytes=200 * MB),)
    return Problem((DeviceGroup("A", "a", memory=first, home=True), DeviceGroup("B", "b", memory=second)), (), phases, ())


def test_s15_memory_binds() -> None:
    assert optimum(s15(120 * MB, 150 * MB)) == (160, [120, 80])
    assert optimum(s15(None, None)) == (134, [133, 67])
    assert optimum(s15(200 * MB, 150 * MB)) == (134, [133, 67])


def test_s15_too_little_memory_says_how_much_is_missing() -> None:
    found = solve(s15(90 * MB, 100 * MB))
    assert found.schedule is None
    assert found.conflict is not None
    assert found.conflict.code == "SCH103"
    assert found.conflict.facts == ("`m` needs 200 MB", "memory is 90 MB + 100 MB", "short 10 MB")


def forty(each: int, *directives: LimitMachines, count: int = 100, rows: int = 6400) -> Problem:
    phases = (PhaseTask("m", {"node": Ticks(((1, 10),))}, rows=rows, combine=Combine(each)),)
    return Problem((DeviceGroup("node", "node", count=count, home=True),), (), phases, (), directives)


def test_s16_a_costly_combine_limits_the_nodes() -> None:
    problem = forty(100)
    time, rows = optimum(problem)
    assert (time, len(rows)) == (5060, 25)
    time, rows = optimum(forty(100, LimitMachines(SourceLine(1, "limit machines 20"), 20)))
    assert (time, len(rows)) == (5200, 20)


def test_s17_a_cheap_combine_uses_more() -> None:
    time, rows = optimum(forty(10))
    assert (time, len(rows)) == (1600, 80)
    time, rows = optimum(forty(10, LimitMachines(SourceLine(1, "limit machines 40"), 40)))
    assert (time, len(rows)) == (2000, 40)


def test_forty_unequal_devices() -> None:
    speeds = [7 + 3 * (i % 13) for i in range(40)]
    phases = (PhaseTask("m", {f"k{i}": Ticks(((1, 50 + s), (2, 50 + 2 * s))) for i, s in enumerate(speeds)}, rows=100_000),)
    devices = tuple(DeviceGroup(f"d{i}", f"k{i}", home=i == 0) for i in range(40))
    time, rows = optimum(Problem(devices, (), phases, ()))
    assert sum(rows) == 100_000
    assert sum((time - 50) // s for s in speeds) >= 100_000 > sum((time - 51) // s for s in speeds)


@pytest.mark.parametrize(
    ("counts", "rows", "expected"), [([134, 67], 200, [133, 67]), ([6, 14], 20, [6, 14]), ([5, 5, 5], 2, [1, 1, 0])]
)
def test_fill_is_in_proportion(counts: list[int], rows: int, expected: list[int]) -> None:
    assert apportion_within(counts, rows) == expected
