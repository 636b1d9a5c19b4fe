"""The verifier accepts what planners make, and rejects each of the twelve corruptions with its own code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

import pytest
from following import followed
from hypothesis import example, given, settings, strategies as st

from rho.backend.devices.cost_functions import Duplex, Ticks
from rho.backend.schedule.instances.directive_resolution import DirectivesRejected, resolve_texts
from rho.backend.schedule.instances.solve_instance import solve
from rho.backend.schedule.problem import (
    Answer,
    BoundCertificate,
    Combine,
    Conflict,
    Decisions,
    DeviceGroup,
    DeviceIndex,
    Edge,
    Fence,
    Link,
    PhaseIndex,
    PhaseTask,
    PlaceDirective,
    Problem,
    QueueIndex,
    QueueKind,
    Schedule,
    ScheduledQueue,
    Shard,
    SourceLine,
    Status,
    Synchronisation,
    Transfer,
    Wait,
)
from rho.backend.schedule.search import portfolio
from rho.backend.schedule.search.portfolio import plan_objectives, plan_problem
from rho.backend.schedule.search.strategy import FAST
from rho.backend.schedule.timeline.fence_insertion import Merging, synchronise
from rho.backend.schedule.timeline.serial_sgs import decode_schedule
from rho.backend.schedule.verify.judge import Rule, is_tiled
from rho.backend.schedule.verify.schedule_checks import memory_in_use, verify, verify_schedule
from rho.lang.diagnostics.model import Code
from rho.tests.plans.answers import together

from .drawn import decisions_for, directives_for, problem_of
from .examples import PEFT, TOPCUOGLU
from .naive import Naive

SEEDS = st.integers(0, 1 << 40)


@given(SEEDS)
@settings(max_examples=200, deadline=None)
def test_everything_laid_out_is_accepted(seed: int) -> None:
    drawn = Random(seed)
    problem = problem_of(drawn)
    schedule = decode_schedule(problem, decisions_for(drawn, problem))
    if schedule is None:
        return
    for merging in Merging:
        found = verify_schedule(problem, schedule, synchronise(problem, schedule, merging))
        assert found == (), "\n".join(map(str, found))


@pytest.mark.long
@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_every_plan_is_accepted(seed: int) -> None:
    problem = problem_of(Random(seed), most_phases=4)
    answer = plan_problem(problem, FAST)
    if answer.schedule is not None:
        assert verify(problem, answer, synchronise(problem, answer.schedule)) == ()


@pytest.mark.long
@example(14433)  # copies of a part and of all of what is replicated on one device, both to the end
@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_every_plan_under_directives_is_accepted(seed: int) -> None:
    drawn = Random(seed)
    problem = problem_of(drawn, most_phases=4)
    powered = tuple(replace(g, idle_mw=drawn.randint(0, 5), active_mw=drawn.randint(5, 20)) for g in problem.devices)
    problem = replace(problem, devices=powered, power_off_unused=drawn.random() < 0.5)
    goals = drawn.choice([["latency"], ["latency", "syncs"], ["syncs"], ["energy"], ["machines", "latency"]])
    try:
        resolved = resolve_texts(problem, directives_for(drawn, problem), goals)
    except DirectivesRejected:
        return
    problem = replace(problem, directives=resolved.directives, objectives=resolved.objectives)
    answer = plan_objectives(problem, FAST)
    if answer.schedule is not None:
        assert verify(problem, answer, synchronise(problem, answer.schedule)) == ()


@pytest.mark.parametrize("problem", [TOPCUOGLU, PEFT])
def test_known_examples_are_accepted(problem: Problem) -> None:
    answer = plan_problem(problem, FAST)
    assert answer.schedule is not None
    assert verify(problem, answer, synchronise(problem, answer.schedule)) == ()


# ------------------------------------------------------------------ the twelve corruptions


@dataclass(frozen=True)
class Case:
    """A problem with an answer that is right."""

    problem: Problem
    answer: Answer
    sync: Synchronisation

    @property
    def schedule(self) -> Schedule:
        assert self.answer.schedule is not None
        return self.answer.schedule

    def with_schedule(self, **lists: object) -> Case:
        schedule = replace(self.schedule, **lists)  # type: ignore[arg-type]
        sync = followed(self.sync, self.schedule, schedule)
        return replace(self, answer=replace(self.answer, schedule=schedule, values=(schedule.makespan,)), sync=sync)

    def phase(self, id: str) -> PhaseIndex:
        return PhaseIndex(next(i for i, phase in enumerate(self.problem.phases) if phase.id == id))


def both(ticks: int, rows: int = 0) -> dict[str, Ticks]:
    return {kind: Ticks(((max(1, rows), ticks),)) for kind in ("cpu", "gpu")}


def right() -> Case:
    """x on the CPU; a cut over both; s combined at home; b after it on the GPU; two prints; a bus of one byte a tick."""
    phases = (
        PhaseTask("x", both(2), out_bytes=8),
        PhaseTask("a", both(16, 8), rows=8, out_bytes=16),
        PhaseTask("s", both(8, 8), rows=8, combine=Combine(1, bytes=2), out_bytes=4),
        PhaseTask("b", both(5), out_bytes=4),
        PhaseTask("print x", both(1), home=True, effect=True),
        PhaseTask("print b", both(1), home=True, effect=True),
    )
    names = [phase.id for phase in phases]
    joined = [("x", "a"), ("a", "s"), ("s", "b"), ("x", "print x"), ("b", "print b")]
    edges = tuple(Edge(PhaseIndex(names.index(p)), PhaseIndex(names.index(q))) for p, q in joined)
    problem = Problem(
        (DeviceGroup("cpu0", "cpu", home=True, memory=100), DeviceGroup("gpu0", "gpu", memory=30)),
        (Link("bus", "cpu0", "gpu0", 3, Fraction(1)),), phases, edges,
        directives=(PlaceDirective(SourceLine(1, "place b on gpu0"), (PhaseIndex(3),), "gpu0"),),
    )  # fmt: skip
    modes = (((0, 1),), ((0, 4), (1, 4)), ((0, 4), (1, 4)), ((1, 1),), ((0, 1),), ((0, 1),))
    schedule = decode_schedule(problem, Decisions(modes, (0, 4, 1, 2, 3, 5)))
    assert schedule is not None
    ticks = schedule.makespan
    answer = Answer(Status.OPTIMAL, schedule, ticks, (ticks,), BoundCertificate("bound", ticks))
    return Case(problem, answer, synchronise(problem, schedule))


def swap_steps(case: Case) -> Case:
    """In the GPU's queue `a` and `s` change places."""
    queues = list(case.sync.queues)
    place = next(q for q, queue in enumerate(queues) if queue.name == "gpu0")
    first, second, *rest = queues[place].steps
    queues[place] = replace(queues[place], steps=(second, first, *rest))
    return replace(case, sync=replace(case.sync, queues=tuple(queues)))


def drop_wait(case: Case) -> Case:
    number = next(n for n, w in enumerate(case.sync.waits) if case.sync.queues[w.queue].kind is QueueKind.COMPUTE)
    return replace(case, sync=replace(case.sync, waits=case.sync.waits[:number] + case.sync.waits[number + 1 :]))


def drop_transfer(case: Case) -> Case:
    moves = tuple(t for t in case.schedule.transfers if t.phase != case.phase("x"))
    dropped = case.with_schedule(transfers=moves)
    return replace(dropped, sync=synchronise(case.problem, dropped.schedule))


def resized(case: Case, first: int, stop: int) -> Case:
    a = case.phase("a")
    shards = tuple(replace(s, first=first, stop=stop) if (s.phase, s.device) == (a, 1) else s for s in case.schedule.shards)
    return case.with_schedule(shards=shards)


def shrink_box(case: Case) -> Case:
    return resized(case, 4, 7)


def overlap_box(case: Case) -> Case:
    return resized(case, 3, 8)


def wrong_device(case: Case) -> Case:
    """Everything of `b` stays at home: right in itself, and not what was asked for."""
    modes = (((0, 1),), ((0, 4), (1, 4)), ((0, 4), (1, 4)), ((0, 1),), ((0, 1),), ((0, 1),))
    schedule = decode_schedule(replace(case.problem, directives=()), Decisions(modes, (0, 4, 1, 2, 3, 5)))
    assert schedule is not None
    moved = case.with_schedule(shards=schedule.shards, combines=schedule.combines, transfers=schedule.transfers)
    ticks = schedule.makespan
    answer = replace(moved.answer, lower_bound=ticks, proof=BoundCertificate("bound", ticks))
    return replace(moved, answer=answer, sync=synchronise(case.problem, schedule))


def extra_wait(case: Case) -> Case:
    """The last step of the CPU waits for the first of the GPU, of which it has long known."""
    queues = [queue.name for queue in case.sync.queues]
    cpu, gpu = queues.index("cpu0"), queues.index("gpu0")
    fence = Fence(len(case.sync.fences), DeviceIndex(1), ((QueueIndex(gpu), 0),))
    wait = Wait(QueueIndex(cpu), len(case.sync.queues[cpu].steps) - 1, fence.id)
    return replace(case, sync=replace(case.sync, fences=(*case.sync.fences, fence), waits=(*case.sync.waits, wait)))


def less_memory(case: Case) -> Case:
    """The GPU has one byte less than is used."""
    peak, _ = memory_in_use(case.problem, case.schedule)[1]
    cpu, gpu = case.problem.devices
    return replace(case, problem=replace(case.problem, devices=(cpu, replace(gpu, memory=peak - 1))))


def reorder_effects(case: Case) -> Case:
    """The prints change places in the program."""
    first, second = case.phase("print x"), case.phase("print b")
    names = list(case.problem.phases)
    names[first], names[second] = names[second], names[first]
    swap = {first: second, second: first}
    edges = tuple(replace(e, target=swap.get(e.target, e.target)) for e in case.problem.edges)
    shards = tuple(replace(s, phase=swap.get(s.phase, s.phase)) for s in case.schedule.shards)
    problem = replace(case.problem, phases=tuple(names), edges=edges)
    return replace(case.with_schedule(shards=shards), problem=problem)


def forge_ticks(case: Case) -> Case:
    ticks = case.schedule.makespan - 1
    return replace(case, answer=replace(case.answer, values=(ticks,), lower_bound=ticks, proof=BoundCertificate("bound", ticks)))


def forge_bound(case: Case) -> Case:
    ticks = case.schedule.makespan + 1
    return replace(case, answer=replace(case.answer, lower_bound=ticks, proof=BoundCertificate("z3", ticks)))


def unknown_link(case: Case) -> Case:
    return case.with_schedule(transfers=tuple(replace(t, link=7) for t in case.schedule.transfers))


MUTATIONS: list[tuple[Callable[[Case], Case], Rule]] = [
    (swap_steps, Rule.V2), (drop_wait, Rule.V2), (drop_transfer, Rule.V4), (shrink_box, Rule.V3), (overlap_box, Rule.V3),
    (wrong_device, Rule.V8), (extra_wait, Rule.V7), (less_memory, Rule.V5), (reorder_effects, Rule.V8), (forge_ticks, Rule.V9),
    (forge_bound, Rule.V10), (unknown_link, Rule.V6),
]  # fmt: skip


def test_the_right_answer_is_accepted() -> None:
    case = right()
    assert verify(case.problem, case.answer, case.sync) == ()
    assert len(case.schedule.transfers) == 4 and len(case.schedule.combines) == 1


@pytest.mark.parametrize(("mutate", "code"), MUTATIONS, ids=[m.__name__ for m, _ in MUTATIONS])
def test_corruptions_are_rejected_by_their_code(mutate: Callable[[Case], Case], code: Rule) -> None:
    bad = mutate(right())
    found = verify(bad.problem, bad.answer, bad.sync)
    assert code in {violation.code for violation in found}
    assert all("`" in violation.message or any(c.isdigit() for c in violation.message) for violation in found)
    assert str(found[0]) == f"{found[0].code.name}: {found[0].message}"


@pytest.mark.parametrize("mutate", [swap_steps, drop_wait, wrong_device, extra_wait, less_memory, forge_ticks, forge_bound])
def test_corruptions_of_one_thing_break_one_rule(mutate: Callable[[Case], Case]) -> None:
    bad = mutate(right())
    assert len({violation.code for violation in verify(bad.problem, bad.answer, bad.sync)}) == 1


def test_a_missing_or_doubled_phase_is_v1() -> None:
    case = right()
    missing = case.with_schedule(shards=case.schedule.shards[1:])
    doubled = case.with_schedule(shards=(*case.schedule.shards, case.schedule.shards[0]))
    for bad in (missing, doubled):
        assert {v.code for v in verify(bad.problem, bad.answer)} == {Rule.V1}


def test_two_steps_at_once_and_a_crowded_bus() -> None:
    case = right()
    x = case.phase("print x")
    shards = tuple(replace(s, start=1, end=2) if s.phase == x else s for s in case.schedule.shards)
    found = verify_schedule(case.problem, case.with_schedule(shards=shards).schedule)
    assert Rule.V2 in {v.code for v in found}
    moves = tuple(replace(t, start=t.start - 1, busy=t.busy - 1, arrive=t.arrive - 1) for t in case.schedule.transfers[1:])
    found = verify_schedule(case.problem, case.with_schedule(transfers=(case.schedule.transfers[0], *moves)).schedule)
    assert {v.code for v in found} & {Rule.V4, Rule.V6}


def test_answers_without_a_schedule() -> None:
    problem = right().problem
    conflict = Conflict(Code.SCH103, (), ("short",))
    impossible = Answer(Status.IMPOSSIBLE, None, 0, (), BoundCertificate("none", 0), conflict=conflict)
    assert verify(problem, impossible) == ()
    assert [v.code for v in verify(problem, replace(impossible, status=Status.OPTIMAL))] == [Rule.V1]


@pytest.mark.parametrize("longest", [1, 3])
def test_a_loop_of_several_devices_keeps_its_channels_from_when_nothing_is_under_way(longest: int) -> None:
    """What is sent before over a channel has arrived when the loop starts, over whichever of its links it goes."""
    problem = together()
    link = replace(problem.links[0], group="g")
    problem = replace(problem, links=(link, Link("long", "gpu0", "cpu0", longest, Fraction(2), Duplex.SIMPLEX, "g")))
    schedule = solve(problem, FAST).answer.schedule
    assert schedule is not None
    loop = next(shard for shard in schedule.shards if shard.phase == 1 and shard.first == 0)
    last = loop.start - 4 - longest
    for start, crowded in ((last, False), (last + 1, True), (loop.start - 4, True), (loop.end - 1, True), (loop.end, False)):
        moved = Transfer(PhaseIndex(0), DeviceIndex(0), DeviceIndex(1), 0, 8, 8, 0, start, start + 4, start + 5)
        crowd = replace(schedule, transfers=(moved,))
        assert any("channel" in v.message for v in verify_schedule(problem, crowd) if v.code is Rule.V6) == crowded
        assert any(Naive(problem, crowd).badly_sent()) == crowded


def test_steps_in_queues_of_the_other_kind() -> None:
    """Nothing waits for them, so that nothing else is wrong."""
    task = PhaseTask("x", both(2), out_bytes=4)
    devices = (DeviceGroup("cpu0", "cpu", home=True), DeviceGroup("gpu0", "gpu"))
    problem = Problem(devices, (Link("bus", "cpu0", "gpu0"),), (task,), ())
    moved = Transfer(PhaseIndex(0), DeviceIndex(0), DeviceIndex(1), 0, 4, 4, 0, 2, 2, 2)
    schedule = Schedule((Shard(PhaseIndex(0), DeviceIndex(0), 0, 1, 0, 2),), (), (moved,))
    run, send = schedule.shards[0], moved
    right = ((run,), (), (send,))
    for steps in (right, ((), (), (run, send)), ((run,), (send,), ()), ((run, send), (), ())):
        names = (("cpu0", DeviceIndex(0)), ("gpu0", DeviceIndex(1)), ("bus", None))
        kinds = (QueueKind.COMPUTE, QueueKind.COMPUTE, QueueKind.COPY)
        queues = tuple(ScheduledQueue(kind, *name, own) for kind, name, own in zip(kinds, names, steps, strict=True))
        fences, waits = (Fence(0, DeviceIndex(0), ((QueueIndex(0), 0),)),), (Wait(QueueIndex(2), 0, 0),)
        sync = Synchronisation(queues, fences, waits) if steps == right else Synchronisation(queues, (), ())
        found = verify_schedule(problem, schedule, sync)
        assert {v.code for v in found} == (set() if steps == right else {Rule.V2}), steps


@pytest.mark.parametrize("size", [4, 0])
def test_the_transfers_of_a_channel_are_in_one_queue(size: int) -> None:
    """Those that occupy it for no tick may be in any."""
    phases = (PhaseTask("x", both(2), out_bytes=size), PhaseTask("y", both(2), out_bytes=size))
    devices = (DeviceGroup("cpu0", "cpu", home=True), DeviceGroup("gpu0", "gpu"))
    problem = Problem(devices, (Link("bus", "cpu0", "gpu0", bytes_per_tick=Fraction(1)),), phases, ())
    cpu, gpu = DeviceIndex(0), DeviceIndex(1)
    shards = tuple(Shard(PhaseIndex(p), cpu, 0, 1, 2 * p, 2 * p + 2) for p in range(2))
    begins = (4, 4 + size)
    moves = tuple(Transfer(PhaseIndex(p), cpu, gpu, 0, size, size, 0, t, t + size, t + size) for p, t in enumerate(begins))
    first, second = moves
    for channels in (((first, second),), ((first,), (second,))):
        runs = ScheduledQueue(QueueKind.COMPUTE, "cpu0", cpu, shards)
        copies = [ScheduledQueue(QueueKind.COPY, f"bus{k}", None, steps) for k, steps in enumerate(channels)]
        queues = (runs, ScheduledQueue(QueueKind.COMPUTE, "gpu0", gpu, ()), *copies)
        fences = (Fence(0, cpu, ((QueueIndex(0), 0),)), Fence(1, cpu, ((QueueIndex(0), 1),)))
        waits = (Wait(QueueIndex(2), 0, 0), Wait(QueueIndex(1 + len(channels)), 2 - len(channels), 1))
        found = verify_schedule(problem, Schedule(shards, (), moves), Synchronisation(queues, fences, waits))
        assert {v.code for v in found} == ({Rule.V2} if size and len(channels) == 2 else set()), found



def test_the_memory_of_what_holds_nothing_suffices() -> None:
    """Of a device on which nothing is, not a byte is in use."""
    devices = (DeviceGroup("cpu0", "cpu", home=True), DeviceGroup("gpu0", "gpu", memory=0))
    problem = Problem(devices, (), (PhaseTask("x", both(2), out_bytes=4),), ())
    for device, full in ((0, False), (1, True)):
        found = verify_schedule(problem, Schedule((Shard(PhaseIndex(0), DeviceIndex(device), 0, 1, 0, 2),), (), ()))
        assert {v.code for v in found} == ({Rule.V5} if full else set()), found


def test_what_is_empty_along_one_axis_is_tiled_along_the_others() -> None:
    box = ((0, 3), (0, 0))
    assert is_tiled(box, [((0, 1), (0, 0)), ((1, 3), (0, 0))]) and is_tiled(box, [box]) and is_tiled(((0, 0),), [((0, 0),)])
    assert not is_tiled(box, [((0, 1), (0, 0))]) and not is_tiled(box, [box, box]) and not is_tiled(((0, 0),), [])


def test_conflicts_of_subproblems_are_not_cured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cure is tested by planning, whose subproblems may be impossible too: their cures had subproblems again, without end."""
    depth = deepest = 0
    explained = portfolio.explained

    def counted(problem: Problem, answer: Answer) -> Answer:
        nonlocal depth, deepest
        depth += 1
        deepest = max(deepest, depth)
        try:
            return explained(problem, answer)
        finally:
            depth -= 1

    monkeypatch.setattr(portfolio, "explained", counted)
    for seed in (27, 508, 1606):
        drawn = Random(seed)
        problem = problem_of(drawn, most_phases=4)
        powered = tuple(replace(g, idle_mw=drawn.randint(0, 5), active_mw=drawn.randint(5, 20)) for g in problem.devices)
        problem = replace(problem, devices=powered, power_off_unused=drawn.random() < 0.5)
        resolved = resolve_texts(problem, directives_for(drawn, problem), ["latency"])
        portfolio.plan_problem(replace(problem, directives=resolved.directives), FAST)
    assert deepest == 1
