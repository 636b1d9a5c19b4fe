"""Programs on declared devices: random programs, topologies and decisions give the bits of one device, within their memory."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable

import numpy as np
import pytest
from share import seeds

from rho import backend
from rho.backend.cpu.backend import CpuBackend
from rho.backend.devices.cost_functions import Ticks
from rho.backend.devices.profile import DeviceProfile, LinkProfile, Profile
from rho.backend.devices.this_machine import load_profile
from rho.backend.distributed.buffers import QueueClock
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.partial_graphs import speculable_branches, speculated_branches
from rho.backend.graph.phases import Phase
from rho.backend.schedule.plan.plan import (
    ExecutionPlan,
    FenceStep,
    FreeStep,
    Queue,
    RunStep,
    Step,
    TransferStep,
    WaitStep,
    decode_plan,
    encode_plan,
)
from rho.backend.schedule.problem import DeviceGroup, Mode, Problem
from rho.backend.schedule.program.distributed_loop import ProgramProblem
from rho.backend.schedule.program.iteration_plan import bound_in_form
from rho.backend.schedule.program.plan_from_schedule import plan_of
from rho.backend.schedule.program.plan_program import plan_program
from rho.backend.schedule.program.problem_from_program import problem_of
from rho.backend.schedule.program.schedule_from_plan import answer_of
from rho.backend.schedule.program_facts.partitioning import Cut
from rho.backend.schedule.search.strategy import FAST
from rho.backend.schedule.verify.plan_checks import check_plan, memory_in_use, needless_waits
from rho.backend.schedule.verify.schedule_checks import verify
from rho.backend.vm.executor import execute_plan
from rho.backend.vm.run_state import RunResults
from rho.backend.vm.values import to_numpy
from rho.lang.diagnostics.model import Refused, Rejected, RunFailed
from rho.lang.syntax.source import Source
from rho.tests.backend.quick import split_evenly, with_modes
from rho.tests.graph.test_random import program
from rho.tests.harness.tiers import EVERY_PASS, by_reference, checked, differences, longest, rounds, values_of
from rho.typechecker.check import check


def topology(chance: random.Random) -> Profile:
    """One to four devices beside home, joined to home, some also to each other."""
    count = chance.randint(1, 4)
    devices = [DeviceProfile("cpu0", "cpu", home=True), *(DeviceProfile(f"d{i}", f"k{i % 2}") for i in range(1, count + 1))]
    links = [
        LinkProfile("cpu0", one.name, latency_ns=chance.randint(0, 9), group=chance.choice([None, "bus"])) for one in devices[1:]
    ]
    if count > 1 and chance.random() < 0.5:
        links.append(LinkProfile("d1", "d2", latency_ns=1))
    return Profile(tuple(devices), tuple(links))


def ticks_of(chance: random.Random) -> Callable[[Phase, DeviceGroup, Cut | None, int], Ticks]:
    speeds = {"cpu": chance.randint(1, 4), "k0": chance.randint(1, 4), "k1": chance.randint(1, 4)}

    def ticks(phase: Phase, group: DeviceGroup, cut: Cut | None, tick_ns: int) -> Ticks:
        speed = speeds[group.kind.partition("/")[0]]  # the kind of a worker is that of its tables and its name
        return Ticks(((1, 5 * speed),)) if cut is None else Ticks(((1, speed), (max(2, cut.rows), max(2, cut.rows) * speed)))

    return ticks


def random_modes(problem: Problem, chance: random.Random) -> list[Mode]:
    """Each phase whole somewhere, or in uneven parts over some devices; with chunks, which may have several parts each."""
    home, kinds = int(problem.home), [group.kind for group in problem.devices for _ in range(group.count)]
    modes: list[Mode] = []
    for task in problem.phases:
        if task.home:
            modes.append(((home, max(1, task.rows)),))
            continue
        every = [device for device, kind in enumerate(kinds) if kind in task.ticks]
        chosen = chance.sample(every, chance.randint(1, min(len(every), max(1, task.rows))) if task.rows else 1)
        if problem.chunks > 1 and task.rows:
            chosen = chance.choices(chosen, k=chance.randint(1, min(problem.chunks, task.rows)))
        ends = sorted(chance.sample(range(1, task.rows), len(chosen) - 1)) if task.rows else []
        parts = [b - a for a, b in zip([0, *ends], [*ends, max(1, task.rows)], strict=True)]
        modes.append(tuple(zip(chosen, parts, strict=True)))
    return modes


def run(plan: ExecutionPlan, bound: BoundGraph, data: dict) -> RunResults:  # type: ignore[type-arg]
    return execute_plan(plan, bound, data, {d.id: CpuBackend() for d in plan.devices}, pace=QueueClock.SIMULATED)


def same_bits(found: RunResults, alone: RunResults) -> bool:
    pairs = [*zip(found.printed, alone.printed, strict=True), *((found.outputs[n], alone.outputs[n]) for n in alone.outputs)]
    return all(a.value.tobytes() == b.value.tobytes() and a.value.shape == b.value.shape for a, b in pairs)


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_random_programs_on_random_topologies(part: int) -> None:
    several = 0
    for seed in seeds(80, 30020045, least=16)[part::4]:
        build, chance = program(seed), random.Random(seed)
        core, data = build.core(), {name: to_numpy(value) for name, value in build.data.items()}
        expected = by_reference(core, data)
        if isinstance(expected, str):
            continue
        for without in (frozenset[str](), EVERY_PASS):
            bound = backend.load(core, data, without=without)
            alone = backend.execute(backend.plan(bound), bound, data)
            apart = speculated_branches(bound.graph, [b for b in speculable_branches(bound.graph) if chance.random() < 0.7])
            made = problem_of(bound_in_form(bound, apart), topology(chance), ticks_of=ticks_of(chance))
            places = tuple(place for place, phase in enumerate(made.phases) if phase.id in apart)
            whole = made
            for answer, chunks in (
                (split_evenly(made.problem), 1), (with_modes(made.problem, random_modes(made.problem, chance)), 1), (None, 5)
            ):  # fmt: skip
                made = dataclasses.replace(whole, problem=dataclasses.replace(whole.problem, chunks=chunks))
                answer = answer or with_modes(made.problem, random_modes(made.problem, chance))
                assert answer is not None
                answer = dataclasses.replace(answer, chunks=chunks)
                violations = [v for v in verify(made.problem, answer) if v.code.value not in ("V7", "V10")]
                assert violations == []
                plan = plan_of(made, dataclasses.replace(answer, speculated=places))
                assert plan.speculated == apart
                assert decode_plan(encode_plan(plan)) == plan
                assert check_plan(plan, bound) == ()
                assert answer_of(plan, made).schedule == answer.schedule
                found = run(plan, bound, data)
                assert not differences(values_of(found), expected, longest(data) if rounds(core) else 0)
                assert same_bits(found, alone)
                here = {d.id: CpuBackend() for d in plan.devices}
                assert same_bits(execute_plan(plan, bound, data, here, pace=QueueClock.THREADS), alone)
                assert all(held <= plan.peak[device] for device, held in found.held.items())
                several += sum(bool(q.steps) for q in plan.main.queues) > 1
    assert several


LAYER = "input X : f64[n 3]\ninput W : f64[3 4]\nY ← 0⌈1+X×⍤1⊢2 3 4\nZ ← +⌿Y\noutput Y\n⎕←Z\n⎕←+/,W"


def layer() -> tuple[BoundGraph, dict]:  # type: ignore[type-arg]
    rng = np.random.default_rng(5)
    data = {"X": rng.standard_normal((40, 3)), "W": rng.standard_normal((3, 4))}
    core = checked(LAYER)
    assert core is not None
    return backend.load(core, data), data


def planned(count: int = 3) -> tuple[ProgramProblem, ExecutionPlan, BoundGraph, dict]:  # type: ignore[type-arg]
    bound, data = layer()
    devices = [DeviceProfile("cpu0", "cpu", home=True), *(DeviceProfile(f"d{i}", "k0") for i in range(1, count))]
    profile = Profile(tuple(devices), tuple(LinkProfile("cpu0", d.name, latency_ns=1) for d in devices[1:]))
    made = problem_of(bound, profile, ticks_of=ticks_of(random.Random(1)))
    answer = split_evenly(made.problem)
    assert answer is not None
    return made, plan_of(made, answer), bound, data


def changed(plan: ExecutionPlan, which: type, change: Callable[[Step], list[Step]], skip: int = 0) -> ExecutionPlan:
    """The plan with one step of a kind replaced."""
    queues: list[Queue] = []
    done = False
    for queue in plan.main.queues:
        steps: list[Step] = []
        for step in queue.steps:
            if isinstance(step, which) and not done and (which is not RunStep or step.box is not None):  # type: ignore[attr-defined]
                if skip == 0:
                    steps += change(step)
                    done = True
                    continue
                skip -= 1
            steps.append(step)
        queues.append(dataclasses.replace(queue, steps=tuple(steps)))
    assert done
    return dataclasses.replace(plan, main=dataclasses.replace(plan.main, queues=tuple(queues)))


def shrink(step: Step) -> list[Step]:
    assert isinstance(step, RunStep)
    assert step.box is not None
    (start, stop), *rest = step.box
    return [dataclasses.replace(step, box=((start, stop - 1), *rest))]


def widen(step: Step) -> list[Step]:
    assert isinstance(step, RunStep)
    assert step.box is not None
    (start, stop), *rest = step.box
    return [dataclasses.replace(step, box=((start, stop + 1), *rest))]


def narrow(step: Step) -> list[Step]:
    assert isinstance(step, TransferStep)
    assert step.box is not None
    (start, stop), *rest = step.box
    size = step.bytes * (stop - start - 1) // (stop - start)
    return [dataclasses.replace(step, box=((start, stop - 1), *rest), bytes=size)]


@pytest.mark.parametrize(
    ("code", "which", "change"),
    [
        ("V3", RunStep, shrink),
        ("V3", RunStep, widen),
        ("V3", RunStep, lambda step: [step, step]),
        ("V3", RunStep, lambda step: []),
        ("V1", RunStep, lambda step: [dataclasses.replace(step, phase=999)]),
        ("V4", TransferStep, lambda step: []),
        ("V4", TransferStep, narrow),
        ("V4", WaitStep, lambda step: []),
        ("V2", FenceStep, lambda step: []),
        ("V6", TransferStep, lambda step: [dataclasses.replace(step, link="nowhere")]),
        ("V6", TransferStep, lambda step: [dataclasses.replace(step, bytes=step.bytes + 1)]),
        ("V6", TransferStep, lambda step: [dataclasses.replace(step, box=tuple((a, b + 99999) for a, b in step.box))]),
        ("V9", RunStep, lambda step: [dataclasses.replace(step, end=step.end + 1000)]),
        ("V5", FreeStep, lambda step: [step, step]),
        ("V5", FreeStep, lambda step: [dataclasses.replace(step, device="nowhere")]),
        ("V4", RunStep, lambda step: [dataclasses.replace(step, overwrite=999)]),
    ],
)
def test_corrupted_plans_are_rejected_by_their_code(code: str, which: type, change: Callable[[Step], list[Step]]) -> None:
    _, plan, bound, _ = planned()
    assert check_plan(plan, bound) == ()
    assert code in {fault.code.name for fault in check_plan(changed(plan, which, change), bound)}


def test_no_wait_is_needless_and_one_more_is_v7() -> None:
    """S06 among them: what was waited for already needs no second wait."""
    _, plan, bound, _ = planned()
    assert needless_waits(plan, bound) == ()
    twice = changed(plan, WaitStep, lambda step: [step, step])
    assert check_plan(twice, bound) == ()
    assert {fault.code.name for fault in needless_waits(twice, bound)} == {"V7"}


def test_memory_that_is_too_small_or_a_forged_peak_is_v5() -> None:
    _, plan, bound, _ = planned()
    device = plan.devices[1]
    need = plan.peak[device.id]
    assert memory_in_use(plan, bound)[device.id] <= need
    devices = (plan.devices[0], dataclasses.replace(device, memory=need - 512), *plan.devices[2:])
    small = dataclasses.replace(plan, devices=devices)
    assert {fault.code.name for fault in check_plan(small, bound)} == {"V5"}
    forged = dataclasses.replace(plan, main=dataclasses.replace(plan.main, peak=((device.id, 0),)))
    assert {fault.code.name for fault in check_plan(forged, bound)} == {"V5"}


def test_home_is_a_device_of_the_plan() -> None:
    _, plan, bound, _ = planned()
    assert {fault.code.name for fault in check_plan(dataclasses.replace(plan, devices=plan.devices[1:]), bound)} == {"V1"}


def test_a_device_that_holds_more_than_it_has_fails_with_e702() -> None:
    _, plan, bound, data = planned()
    held = run(plan, bound, data).held
    device = plan.devices[1]
    devices = (plan.devices[0], dataclasses.replace(device, memory=held[device.id] - 1), *plan.devices[2:])
    with pytest.raises((RunFailed, Refused), match="E702") as caught:
        run(dataclasses.replace(plan, devices=devices), bound, data)
    assert caught.value.diagnostics[0].span.end > 0
    unlimited = dataclasses.replace(plan, main=dataclasses.replace(plan.main, peak=()), devices=devices)
    with pytest.raises(RunFailed, match="E702"):
        run(unlimited, bound, data)


def test_a_step_without_its_operands_is_never_run() -> None:
    _, plan, bound, data = planned()
    with pytest.raises((AssertionError, KeyError)):
        run(changed(plan, TransferStep, lambda step: []), bound, data)


def test_nothing_stays_on_a_device_that_nothing_needs() -> None:
    _, plan, _, _ = planned()
    freed = {(step.device or queue.device, value) for queue in plan.main.queues for step in queue.steps
             if isinstance(step, FreeStep) for value in step.values}  # fmt: skip
    for queue in plan.main.queues:
        for step in queue.steps:
            if isinstance(step, TransferStep) and not step.partial:
                assert (step.target, step.value) in freed


def test_many_devices_are_a_loop_not_threads() -> None:
    x = np.random.default_rng(3).standard_normal(4096 * 130)
    core = checked("input x : f64[n]\ny ← 1+x×2\ns ← +/y\noutput y\noutput s")
    assert core is not None
    bound = backend.load(core, {"x": x})
    profile = Profile(
        (DeviceProfile("cpu0", "cpu", home=True), DeviceProfile("node", "k0", count=100)), (LinkProfile("cpu0", "node"),)
    )
    made = problem_of(bound, profile, ticks_of=ticks_of(random.Random(2)))
    answer = split_evenly(made.problem)
    assert answer is not None
    plan = plan_of(made, answer)
    assert check_plan(plan, bound) == ()
    assert len(plan.main.queues) > 100
    assert same_bits(run(plan, bound, {"x": x}), backend.execute(backend.plan(bound), bound, {"x": x}))


# ------------------------------------------------------------------------------- the whole planner


SCHEDULED = """input x : f64[3]
input y : f64[3]
input z : f64[3]
a ← x+y
b ← x×y
c ← x-z
d ← y÷z
⎕←a
⎕←d
"""
VECTORS = {name: np.array([1.5, 2.0, 4.0]) * k for k, name in enumerate("xyz", 1)}


def scheduled(block: str, text: str = SCHEDULED) -> ExecutionPlan:
    found = check(Source("<test>", text + "schedule {\n" + block + "\n}\n"))
    if found.core is None:  # what no devices are needed for is refused here already
        raise Rejected(found.diagnostics)
    core = found.core
    bound = backend.load(core, VECTORS)
    plan = plan_program(core, bound, load_profile("workstation"), budget=FAST).plan
    alone = backend.execute(backend.plan(bound), bound, VECTORS)
    assert same_bits(run(plan, bound, VECTORS), alone)
    return plan


def syncs(plan: ExecutionPlan) -> int:
    return sum(isinstance(s, WaitStep) for q in plan.main.queues if q.kind.value == "compute" for s in q.steps)


def test_s04_as_a_program_has_two_syncs() -> None:
    plan = scheduled("place a b on gpu0\nplace c d on cpu\nprint a before d")
    assert syncs(plan) == 2
    moved = [(s.source, s.target) for q in plan.main.queues for s in q.steps if isinstance(s, TransferStep)]
    assert sorted(moved) == [("cpu0", "gpu0"), ("cpu0", "gpu0"), ("gpu0", "cpu0")]
    assert plan.directives == ("place a b on gpu0", "place c d on cpu", "print a before d")


@pytest.mark.parametrize(
    ("block", "code"),
    [
        ("place w on gpu0", "SCH107"),
        ("place a on tpu", "SCH107"),
        ("place print on gpu0", "SCH105"),
        ("a before a", "SCH101"),
        ("a before c\nc before a", "SCH101"),
        ("print a before a", "SCH102"),
        ("limit memory gpu0 1B\nplace a on gpu0", "SCH103"),
        ("deadline 1ns", "SCH106"),
    ],
)
def test_what_a_block_asks_in_vain_is_rejected(block: str, code: str) -> None:
    with pytest.raises(Rejected) as caught:
        scheduled(block)
    found = caught.value.diagnostics[0]
    assert found.code == code
    assert SCHEDULED + "schedule {\n" + block in (SCHEDULED + "schedule {\n" + block + "\n}\n")
    assert found.span.start >= len(SCHEDULED)


PAGE = "x ← ⍳6\ny ← x×x\nz ← x+10\ny\nz\n"
"""The example of docs/scheduling.md."""


@pytest.mark.parametrize("line", ["order x z", "order x y z", "order x z y"])
def test_an_order_is_of_named_values(line: str) -> None:
    assert scheduled(line, PAGE).directives == (line,)
    assert scheduled("order x a d", SCHEDULED.replace("⎕←a\n⎕←d", "+/a\n+/d")).directives


def test_a_deadline_that_cannot_be_met_is_told_in_time_not_in_ticks() -> None:
    with pytest.raises(Rejected) as caught:
        scheduled("deadline 1ns")
    found = caught.value.diagnostics[0]
    assert "ticks" not in " ".join((found.message, *found.notes))
    assert any(unit in found.message for unit in (" ns", " µs", " ms")) and "too few" in found.notes[0]


def test_a_name_of_two_values_is_ambiguous() -> None:
    with pytest.raises(Rejected, match="SCH201"):
        scheduled("place a on gpu0", SCHEDULED + "a ← a+1\n⎕←a\n")


def test_s32_plans_have_the_same_bytes() -> None:
    assert len({encode_plan(scheduled("place a on gpu0")) for _ in range(3)}) == 1


@pytest.mark.parametrize("seed", seeds(4, least=2))
def test_a_size_that_a_run_finds_reaches_other_devices_in_stored_plans(seed: int) -> None:
    """It has no bytes and no step; the verifier missed it."""
    core = checked("input x : f64[n]\nt ← (x>0)/x\noutput y ← x×f64 ≢t\noutput z ← (≢t)⍴1.5\n")
    assert core is not None
    data, chance = {"x": np.random.default_rng(seed).standard_normal(9)}, random.Random(seed)
    bound = backend.load(core, data)
    made = problem_of(bound, topology(chance), ticks_of=ticks_of(chance))
    answer = split_evenly(made.problem)
    assert answer is not None and any(moved.bytes == 0 for moved in answer.schedule.transfers)
    again = answer_of(plan_of(made, answer), made)
    assert again.schedule == answer.schedule
    assert not [v for v in verify(made.problem, again) if v.code.value not in ("V7", "V10")]
