"""What `decode_schedule` does with decisions: each Note of `problem` by a small case whose ticks are worked out by hand."""

from __future__ import annotations

from fractions import Fraction

from rho.backend.devices.cost_functions import Duplex, Ticks
from rho.backend.schedule.problem import (
    Before,
    Combine,
    Contention,
    Decisions,
    DeviceGroup,
    Edge,
    InsertionPolicy,
    IssueBefore,
    Keep,
    Link,
    PhaseIndex,
    PhaseTask,
    Problem,
    SourceLine,
)
from rho.backend.schedule.timeline.serial_sgs import Infeasible, ScheduleDecoder, decode_schedule

HOME = DeviceGroup("cpu0", "cpu", home=True)
GPU = DeviceGroup("gpu0", "gpu")


def ticks(**by_kind: int) -> dict[str, Ticks]:
    return {kind: Ticks(((1, count),)) for kind, count in by_kind.items()}


def task(name: str, cpu: int = 1, gpu: int = 1, **more: object) -> PhaseTask:
    return PhaseTask(name, ticks(cpu=cpu, gpu=gpu), **more)  # type: ignore[arg-type]


def edge(source: int, target: int, **more: object) -> Edge:
    return Edge(PhaseIndex(source), PhaseIndex(target), **more)  # type: ignore[arg-type]


def link(**more: object) -> Link:
    return Link("pcie", "cpu0", "gpu0", bytes_per_tick=Fraction(1), **more)  # type: ignore[arg-type]


def on(*devices: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    return tuple(((device, 1),) for device in devices)


def starts(problem: Problem, decisions: Decisions) -> dict[str, int]:
    schedule = decode_schedule(problem, decisions)
    assert schedule is not None
    return {problem.phases[shard.phase].id: shard.start for shard in schedule.shards}


def test_a_transfer_takes_bandwidth_then_latency_then_sync() -> None:
    gpu = DeviceGroup("gpu0", "gpu", sync=3)
    problem = Problem((HOME, gpu), (link(latency=7),), (task("x", out_bytes=10), task("y")), (edge(0, 1),))
    assert starts(problem, Decisions(on(0, 1), (0, 1))) == {"x": 0, "y": 1 + 10 + 7 + 3}


def test_one_output_is_sent_once_for_two_consumers() -> None:
    problem = Problem((HOME, GPU), (link(),), (task("x", out_bytes=10), task("y"), task("z")), (edge(0, 1), edge(0, 2)))
    schedule = decode_schedule(problem, Decisions(on(0, 1, 1), (0, 1, 2)))
    assert schedule is not None
    assert [(t.bytes, t.start, t.arrive) for t in schedule.transfers] == [(10, 1, 11)]
    assert schedule.makespan == 13


def test_a_shared_channel_is_exclusive_unless_contention_is_off_or_the_directions_differ() -> None:
    phases = (task("a", out_bytes=10), task("b", out_bytes=10), task("c"), task("d"))
    edges = (edge(0, 2), edge(1, 3))
    down_and_up = Decisions(on(0, 1, 1, 0), (0, 1, 2, 3))
    half = Problem((HOME, GPU), (link(group="bus"),), phases, edges)
    full = Problem((HOME, GPU), (link(group="bus", duplex=Duplex.FULL),), phases, edges)
    off = Problem((HOME, GPU), (link(group="bus"),), phases, edges, contention=Contention.OFF)
    assert starts(half, down_and_up)["d"] == 21
    assert starts(full, down_and_up)["d"] == 11
    assert starts(off, down_and_up)["d"] == 11


def test_without_links_an_edge_takes_its_own_ticks_between_devices() -> None:
    problem = Problem((HOME, GPU), (), (task("x"), task("y"), task("z")), (edge(0, 1, ticks=5), edge(0, 2, ticks=9)))
    assert starts(problem, Decisions(on(0, 1, 0), (0, 1, 2))) == {"x": 0, "y": 6, "z": 1}


def test_two_devices_without_a_link_go_through_home() -> None:
    gpus = DeviceGroup("gpu", "gpu", count=2)
    problem = Problem(
        (HOME, gpus),
        (Link("pcie", "cpu0", "gpu", latency=2, bytes_per_tick=Fraction(1)),),
        (task("x", out_bytes=10), task("y")),
        (edge(0, 1),),
    )
    schedule = decode_schedule(problem, Decisions(on(1, 2), (0, 1)))
    assert schedule is not None
    assert [(t.source, t.target, t.start, t.arrive) for t in schedule.transfers] == [(1, 0, 1, 13), (0, 2, 13, 25)]
    assert schedule.makespan == 26


def test_shards_take_the_rows_they_need_with_their_halo() -> None:
    phases = (task("x", rows=10, out_bytes=100), task("y", rows=10, out_bytes=100))
    problem = Problem((HOME, GPU), (link(),), phases, (edge(0, 1, halo=1),))
    schedule = decode_schedule(problem, Decisions((((0, 5), (1, 5)), ((0, 6), (1, 4))), (0, 1)))
    assert schedule is not None
    assert {(t.source, t.target, t.first, t.stop, t.bytes) for t in schedule.transfers} == {(1, 0, 5, 7, 20)}
    moved = decode_schedule(problem, Decisions((((0, 5), (1, 5)), ((0, 4), (1, 6))), (0, 1)))
    assert moved is not None
    assert {(t.source, t.target, t.first, t.stop, t.bytes) for t in moved.transfers} == {(0, 1, 3, 5, 20)}


def test_a_combine_waits_for_all_partials() -> None:
    phases = (task("sum", cpu=1, gpu=4, rows=4, combine=Combine(3, bytes=2), out_bytes=8),)
    schedule = decode_schedule(Problem((HOME, GPU), (link(),), phases, ()), Decisions((((0, 2), (1, 2)),), (0,)))
    assert schedule is not None and schedule.makespan == 8 + 2 + 2 * 3


def test_insertion_fills_a_gap_that_appending_leaves() -> None:
    phases = (task("a", cpu=5), task("b", gpu=1, cpu=1), task("c", gpu=2))
    problem = Problem((HOME, GPU), (), phases, (edge(0, 1),))
    modes = on(0, 1, 1)
    assert starts(problem, Decisions(modes, (0, 1, 2)))["c"] == 6
    assert starts(problem, Decisions(modes, (0, 1, 2), InsertionPolicy.INSERT))["c"] == 0


def test_memory_is_counted_by_liveness() -> None:
    """S21: a chain of three 100 MB tensors peaks at 200 MB."""
    phases = tuple(task(name, out_bytes=100) for name in "abc")
    for cap, fits in ((200, True), (199, False)):
        problem = Problem((DeviceGroup("gpu0", "gpu", memory=cap, home=True),), (), phases, (edge(0, 1), edge(1, 2)))
        assert (decode_schedule(problem, Decisions(on(0, 0, 0), (0, 1, 2))) is not None) == fits
        if not fits:
            assert ScheduleDecoder(problem).try_decode(Decisions(on(0, 0, 0), (0, 1, 2))) == Infeasible(0, 1, scheduled_phases=1)


def test_an_in_place_output_takes_the_room_of_its_last_operand() -> None:
    phases = (task("a", out_bytes=100), task("b", out_bytes=100, inplace=True))
    problem = Problem((DeviceGroup("gpu0", "gpu", memory=100, home=True),), (), phases, (edge(0, 1),))
    assert starts(problem, Decisions(on(0, 0), (0, 1))) == {"a": 0, "b": 1}


def test_a_shard_waits_until_memory_is_free() -> None:
    gpu = DeviceGroup("gpu0", "gpu", memory=100)
    phases = (task("a", gpu=5, out_bytes=60), task("b", out_bytes=60), task("c", cpu=1), task("d", cpu=1))
    problem = Problem((HOME, gpu), (link(),), phases, (edge(0, 2), edge(1, 3)))
    assert starts(problem, Decisions(on(1, 1, 0, 0), (0, 2, 1, 3))) == {"a": 0, "b": 65, "c": 65, "d": 126}


def test_orders_of_directives_hold() -> None:
    line = SourceLine(1, "")
    phases = (task("a", cpu=4), task("b", gpu=2), task("c"))
    a, b, c = (PhaseIndex(i) for i in range(3))
    before = Problem((HOME, GPU), (), phases, (), (Before(line, (a,), (b,)),))
    assert starts(before, Decisions(on(0, 1, 0), (1, 0, 2)))["b"] == 4
    order = ScheduleDecoder(Problem((HOME, GPU), (), phases, (), (IssueBefore(line, (c,), (a,)),)))
    assert order.repair_order((0, 1, 2)) == [1, 2, 0]
    cyclic = Problem((HOME, GPU), (), phases, (edge(0, 1),), (Before(line, (b,), (a,)),))
    assert decode_schedule(cyclic, Decisions(on(0, 0, 0), (0, 1, 2))) is None


def test_kept_outputs_are_brought_and_stay() -> None:
    directives = (Keep(SourceLine(1, "keep x on gpu0"), PhaseIndex(0), "gpu0"),)
    problem = Problem((HOME, GPU), (link(),), (task("x", out_bytes=10),), (), directives)
    schedule = decode_schedule(problem, Decisions(on(0), (0,)))
    assert schedule is not None
    assert [(t.target, t.arrive) for t in schedule.transfers] == [(1, 11)]
    assert schedule.makespan == 11


def test_an_occupation_of_no_ticks_excludes_nothing() -> None:
    phases = (task("x", out_bytes=10), task("y"), task("z", ready=5), task("w"))
    problem = Problem((HOME, GPU), (link(),), phases, (edge(0, 1), edge(2, 3)))
    assert starts(problem, Decisions(on(0, 1, 0, 1), (0, 2, 1, 3)))["w"] == 12
    assert {t.start for t in decode_schedule(problem, Decisions(on(0, 1, 0, 1), (0, 2, 1, 3))).transfers} == {1, 6}  # type: ignore[union-attr]
