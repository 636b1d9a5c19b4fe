"""Inputs that are broadcast by scatter and all-gather: cut anywhere on any devices they give the bits of one device, within the
planned memory, and are used where home would send them to one device after the other."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest
from share import seeds

from rho import backend
from rho.backend.cpu.backend import CpuBackend
from rho.backend.devices.profile import CostTable, DeviceProfile, LinkProfile, Profile, Roofline
from rho.backend.distributed.buffers import QueueClock
from rho.backend.graph import partial_graphs
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.partial_graphs import broadcast_inputs
from rho.backend.graph.phases import LibraryPhase
from rho.backend.graph.verify import verify as verify_graph
from rho.backend.schedule.plan.plan import TransferStep, decode_plan, encode_plan
from rho.backend.schedule.plan.plan_text import queues_text
from rho.backend.schedule.program.iteration_plan import bound_in_form
from rho.backend.schedule.program.plan_from_schedule import plan_of
from rho.backend.schedule.program.plan_program import PlannedProgram, faults_of_stored, plan_is_reproved, plan_program
from rho.backend.schedule.program.problem_from_program import problem_of
from rho.backend.schedule.program.schedule_from_plan import answer_of
from rho.backend.schedule.search.strategy import FAST
from rho.backend.schedule.verify.plan_checks import check_plan
from rho.backend.schedule.verify.schedule_checks import verify
from rho.backend.vm.executor import execute_plan
from rho.tests.backend.quick import with_modes
from rho.tests.backend.test_programs_on_devices import random_modes, run, same_bits, ticks_of, topology
from rho.tests.harness.tiers import checked

READERS = (
    "x+.×y", "(⍉x)+.×y", "y[⍋,x[;0];]", "⌈/x∘.-y", "y[n|⌊,x;]", "⌈/⌈/y∘.-x", "x+.×1+y", "y[n|⌊x;]", "(x+.×y)+y",
    "x+.×(x>3)+.×y",
)  # fmt: skip


def loaded(step: str, rows: int, seed: int) -> tuple[BoundGraph, dict[str, np.ndarray]]:
    core = checked(f"input x : f64[n n] where n≥1\ninput y : f64[n n]\nb ← {step}\noutput b\n⎕←⌈/,y")
    assert core is not None
    draw = np.random.default_rng(seed)  # integers: BLAS rounds products of other numbers by their shapes
    data = {name: draw.integers(-99, 99, (rows, rows)).astype(np.float64) for name in "xy"}
    return backend.load(core, data), data


@pytest.mark.parametrize("part", range(2))
def test_broadcasts_on_random_devices(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partial_graphs, "_LEAST_BROADCAST", 1)
    for seed in seeds(40, 2032_11_30, least=12)[part::2]:
        chance = random.Random(seed)
        monkeypatch.setenv("RHO_KERNELS", chance.choice(["always", "off"]))
        bound, data = loaded(READERS[seed % len(READERS)], chance.choice([5, 12, 40]), seed)
        alone = backend.execute(backend.plan(bound), bound, data)
        inputs = broadcast_inputs(bound.graph)
        assert inputs, READERS[seed % len(READERS)]
        form = bound_in_form(bound, inputs)
        verify_graph(form.graph)
        copies = [phase for phase in form.graph.phases if isinstance(phase, LibraryPhase) and phase.op == "broadcast"]
        assert len(copies) == len(inputs)
        chunks = chance.choice([1, 4])
        made = problem_of(form, topology(chance), ticks_of=ticks_of(chance), chunks=chunks).along()
        answer = with_modes(made.problem, random_modes(made.problem, chance))
        assert answer is not None
        places = tuple(p for p, phase in enumerate(made.phases) if phase.id in inputs)
        answer = dataclasses.replace(answer, chunks=chunks, speculated=places)
        assert [v for v in verify(made.problem, answer) if v.code.value not in ("V7", "V10")] == []
        plan = plan_of(made, answer)
        assert plan.divided == inputs == plan.space.broadcasts
        assert decode_plan(encode_plan(plan)) == plan
        assert check_plan(plan, bound) == ()
        assert answer_of(plan, made).schedule == answer.schedule
        found = run(plan, bound, data)
        assert same_bits(found, alone)
        assert all(held <= plan.peak[device] for device, held in found.held.items())
        here = {d.id: CpuBackend() for d in plan.devices}
        assert same_bits(execute_plan(plan, bound, data, here, pace=QueueClock.THREADS), alone)


def equal_devices(count: int, *, shared: bool = True, between: bool = True) -> Profile:
    """`count` equal devices; home sends to one at a time (`shared`), and each has links to the others (`between`)."""
    roof = Roofline(2 * 10**10, 10**11)
    devices = (DeviceProfile("cpu0", "cpu", home=True, roofline=Roofline(10**9, 10**10)), DeviceProfile("d", "gpu", count=count,
        roofline=roof))  # fmt: skip
    table = CostTable((1 << 10, 1 << 20), (1_000, 1_000_000))
    links = [LinkProfile("cpu0", "d", latency_ns=500, table=table, group="home" if shared else "nic[i]")]
    links += [LinkProfile("d", "d", latency_ns=500, table=table, group="nic[i]")] if between else []
    return Profile(devices, tuple(links))


def planned(profile: Profile, text: str = "output b ← x+.×y") -> tuple[PlannedProgram, BoundGraph]:
    core = checked(f"input x : f64[n m] where n≥1\ninput y : f64[m m]\n{text}")
    assert core is not None
    bound = backend.load(core, {"x": np.ones((1024, 1024)), "y": np.ones((1024, 1024))})
    found = plan_program(core, bound, profile, budget=FAST)
    assert faults_of_stored(found.plan, bound, core, profile) == []
    assert plan_is_reproved(found.plan, bound, core, profile)
    return found, bound


def test_inputs_are_broadcast_where_home_sends_to_one_device_at_a_time() -> None:
    found, bound = planned(equal_devices(8))
    (y,) = (phase.id for phase in bound.graph.phases if getattr(phase, "name", "") == "y")
    assert y in found.plan.divided and "broadcast by scatter and all-gather: " in queues_text(found.plan)
    sent = [step for queue in found.plan.main.queues for step in queue.steps if isinstance(step, TransferStep)]
    assert any("cpu0" not in (step.source, step.target) for step in sent)
    point_to_point, _ = planned(equal_devices(8, between=False))
    assert not point_to_point.plan.divided and point_to_point.plan.space.broadcasts == ()
    assert found.answer.values[0] * 4 < point_to_point.answer.values[0] * 3
    assert found.answer.lower_bound <= found.answer.values[0]
    data = {name: np.random.default_rng(3).integers(-9, 9, (1024, 1024)).astype(np.float64) for name in "xy"}
    assert same_bits(run(found.plan, bound, data), backend.execute(backend.plan(bound), bound, data))


@pytest.mark.parametrize("profile", [equal_devices(8, shared=False), equal_devices(8, between=False)])
def test_inputs_are_not_broadcast_where_home_sends_to_all_at_once_or_devices_are_apart(profile: Profile) -> None:
    found, bound = planned(profile)
    assert broadcast_inputs(bound.graph) and found.plan.space.broadcasts == ()


def test_small_inputs_and_inputs_that_are_read_in_parts_are_not_broadcast() -> None:
    data = {"x": np.ones((1024, 1024)), "y": np.ones((1024, 1024)), "v": np.ones(1024)}
    for step in ("x×2", "+\\x", "⍉x×2", "x+.×v", "x+v", "x+y[;0]", "x×⍉y", "1⊖x"):
        core = checked(f"input x : f64[n n] where n≥1\ninput y : f64[n n]\ninput v : f64[n]\noutput b ← {step}")
        assert core is not None
        assert broadcast_inputs(backend.load(core, data).graph) == (), step
