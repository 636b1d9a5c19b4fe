"""How many syncs a schedule needs (S01, S02, S04, S05, S06, S09, S20), and that the queues stay without circles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from hypothesis import given, settings, strategies as st

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.problem import (
    Before,
    Decisions,
    DeviceGroup,
    Edge,
    Fence,
    Link,
    Objective,
    PhaseIndex,
    PhaseTask,
    Problem,
    QueueKind,
    Schedule,
    SourceLine,
    Synchronisation,
)
from rho.backend.schedule.timeline.fence_insertion import Merging, synchronise
from rho.backend.schedule.timeline.serial_sgs import decode_schedule

CPU, GPU = 0, 1
LINE = SourceLine(1, "")


def machine(phases: dict[str, int], edges: Sequence[tuple[str, str]], latency: int = 10, bytes_each: int = 8) -> Problem:
    """A CPU (home) and a GPU; `phases` by id with their ticks on either; names that start with `print` are effects."""
    names = list(phases)
    tasks = tuple(
        PhaseTask(
            name, {"cpu": Ticks(((1, ticks),)), "gpu": Ticks(((1, ticks),))}, out_bytes=bytes_each,
            home=name.startswith("print"), effect=name.startswith("print"),
        )
        for name, ticks in phases.items()
    )  # fmt: skip
    joined = tuple(Edge(PhaseIndex(names.index(a)), PhaseIndex(names.index(b))) for a, b in edges)
    return Problem(
        (DeviceGroup("cpu0", "cpu", home=True), DeviceGroup("gpu0", "gpu")),
        (Link("pcie", "cpu0", "gpu0", latency, None),), tasks, joined,
    )  # fmt: skip


def scheduled(problem: Problem, on_gpu: str, order: str = "") -> Schedule:
    """The named phases on the GPU, the rest on the CPU, in that order (else as listed)."""
    ids = [phase.id for phase in problem.phases]
    gpu = on_gpu.split()
    ranks = [ids.index(name.replace("_", " ")) for name in order.split()] or list(range(len(ids)))
    modes = tuple((((GPU if name in gpu else CPU), 1),) for name in ids)
    made = decode_schedule(problem, Decisions(modes, tuple(ranks)))
    assert made is not None
    return made


def waits_of(sync: Synchronisation, device: str) -> list[tuple[int, Fence]]:
    return [(w.position, sync.fences[w.fence]) for w in sync.waits if sync.queues[w.queue].name == device]


def test_s01_everything_at_home_needs_nothing() -> None:
    problem = machine({"b": 0, "x": 0, "y": 0, "z": 4}, [("b", "z"), ("x", "z"), ("y", "z")])
    schedule = scheduled(problem, "")
    sync = synchronise(problem, schedule)
    assert (sync.syncs, schedule.transfers, sync.fences) == (0, (), ())


def test_s02_one_fence_after_the_last_input() -> None:
    phases = {"b": 0, "x": 0, "y": 0, "z": 4}
    edges = [("b", "z"), ("x", "z"), ("y", "z")]
    problem = machine(phases, edges)
    sync = synchronise(problem, scheduled(problem, "z"))
    assert sync.syncs == 1
    printed = machine({**phases, "print z": 0}, [*edges, ("z", "print z")])
    assert synchronise(printed, scheduled(printed, "z")).syncs == 2


ARITHMETIC = {"x": 0, "y": 0, "z": 0, "a": 3, "b": 3, "c": 3, "print a": 0, "d": 3}
ARITHMETIC_EDGES = [
    ("x", "a"), ("y", "a"), ("x", "b"), ("y", "b"), ("x", "c"), ("z", "c"), ("y", "d"), ("z", "d"), ("a", "print a"),
]  # fmt: skip


def test_s04_two_syncs_and_batches() -> None:
    problem = machine(ARITHMETIC, ARITHMETIC_EDGES)
    problem = replace(problem, directives=(Before(LINE, (PhaseIndex(6),), (PhaseIndex(7),)),))
    schedule = scheduled(problem, "a b", "x y z a b c print_a d")
    sync = synchronise(problem, schedule)
    assert sync.syncs == 2
    assert sorted(problem.phases[t.phase].id for t in schedule.transfers) == ["a", "x", "y"]
    ((position, fence),) = waits_of(sync, "gpu0")
    assert position == 0 and len(fence.after) == 1  # {x, y} in one batch, behind the later of them
    c, print_a = (next(s for s in schedule.shards if problem.phases[s.phase].id == name) for name in ("c", "print a"))
    assert c.end <= print_a.start  # c runs before the read


def test_s04_by_completion_moves_the_fence_after_b() -> None:
    problem = machine(ARITHMETIC, ARITHMETIC_EDGES, latency=0)
    ids = [phase.id for phase in problem.phases]
    a, b, c, d = (PhaseIndex(ids.index(name)) for name in "abcd")
    problem = replace(problem, directives=(Before(LINE, (a, b), (c, d)),))
    schedule = scheduled(problem, "a b", "x y z a b c print_a d")
    sync = synchronise(problem, schedule)
    assert sync.syncs == 2
    ((_, read),) = waits_of(sync, "cpu0")
    told = {sync.queues[q].name: p for q, p in read.after}
    assert told["gpu0"] == 1  # after b, the second of the GPU's two
    assert len(told) == 2  # and a has arrived


def test_s05_there_and_back() -> None:
    problem = machine({"x": 0, "y": 5, "z": 1, "print z": 0}, [("x", "y"), ("y", "z"), ("z", "print z")])
    assert synchronise(problem, scheduled(problem, "y")).syncs == 2


def test_s06_one_wait_on_the_last_of_three() -> None:
    problem = machine({"x": 2, "y": 2, "z": 2, "sum": 1}, [("z", "sum"), ("x", "sum"), ("y", "sum")])
    sync = synchronise(problem, scheduled(problem, "sum"))
    ((position, fence),) = waits_of(sync, "gpu0")
    assert position == 0
    ((queue, last),) = fence.after
    assert sync.queues[queue].kind is QueueKind.COPY and last == 2


def sums(latency: int = 10) -> Problem:
    edges = [("x", "y1"), ("z", "y2"), ("y1", "sum"), ("y2", "sum")]
    return machine({"x": 0, "z": 0, "y1": 4, "y2": 4, "sum": 1}, edges, latency)


def test_s09_three_without_delay_two_when_syncs_count() -> None:
    problem = sums()
    schedule = scheduled(problem, "y1 y2")
    sync = synchronise(problem, schedule)
    assert sync.syncs == 3
    assert len(waits_of(sync, "cpu0")) == 1
    assert synchronise(problem, schedule, Merging.SLACK).syncs == 2
    assert synchronise(replace(problem, objectives=(Objective.SYNCS,)), schedule).syncs == 2


def test_s20_a_tensor_used_twice_is_brought_once() -> None:
    problem = machine({"t": 1, "p": 2, "q": 2}, [("t", "p"), ("t", "q")], bytes_each=100)
    schedule = scheduled(problem, "p q")
    assert [t.bytes for t in schedule.transfers] == [100]
    assert synchronise(problem, schedule).syncs == 1


def test_what_a_queue_knows_by_way_of_another_needs_no_wait() -> None:
    """a on the CPU before b on the GPU before c on the CPU."""
    problem = machine({"a": 2, "b": 2, "c": 2}, [])
    a, b, c = map(PhaseIndex, range(3))
    problem = replace(problem, directives=(Before(LINE, (a,), (b,)), Before(LINE, (a, b), (c,))))
    sync = synchronise(problem, scheduled(problem, "b"))
    assert sync.syncs == 2
    assert all(len(fence.after) == 1 for fence in sync.fences)


def brute_force_syncs(problem: Problem, sync: Synchronisation) -> bool:
    """Every wait of a device is needed: without it some step no longer knows what it needs (by a closure of its own)."""
    return all(not implied(sync, dropped) for dropped in range(len(sync.waits)))


def implied(sync: Synchronisation, dropped: int) -> bool:
    """The fence of the dropped wait is known at its step from the other waits."""
    wait = sync.waits[dropped]
    before: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for q, queue in enumerate(sync.queues):
        for p in range(len(queue.steps)):
            before[q, p] = {(q, p - 1)} if p else set()
    for number, other in enumerate(sync.waits):
        if number != dropped:
            before[other.queue, other.position] |= {(int(q), p) for q, p in sync.fences[other.fence].after}
    seen: set[tuple[int, int]] = set()
    stack = [(int(wait.queue), wait.position)]
    while stack:
        for earlier in before[stack.pop()] - seen:
            seen.add(earlier)
            stack.append(earlier)
    return all((int(q), p) in seen for q, p in sync.fences[wait.fence].after)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_no_wait_can_be_dropped(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 7))
    names = [f"p{i}" for i in range(count)]
    edges = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if data.draw(st.booleans())]
    latency = data.draw(st.integers(0, 3))
    problem = machine({name: data.draw(st.integers(0, 4)) for name in names}, edges, latency)
    problem = replace(problem, links=(replace(problem.links[0], bytes_per_tick=Fraction(data.draw(st.integers(1, 8)))),))
    schedule = scheduled(problem, " ".join(name for name in names if data.draw(st.booleans())))
    for merging in Merging:
        assert brute_force_syncs(problem, synchronise(problem, schedule, merging))
