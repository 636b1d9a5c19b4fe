"""Chunks in sequence, run: programs larger than a device's memory, and sums in chunks with the bits of one device."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rho import backend
from rho.backend.cpu.backend import CpuBackend
from rho.backend.devices.profile import CostTable, DeviceProfile, LinkProfile, Profile, Roofline
from rho.backend.distributed.buffers import QueueClock
from rho.backend.schedule.plan.plan import ExecutionPlan, RunStep, decode_plan, encode_plan
from rho.backend.schedule.plan.plan_text import bound_text
from rho.backend.schedule.program.plan_program import faults_of_stored, plan_is_reproved, plan_program
from rho.backend.schedule.search.strategy import FAST
from rho.backend.vm.executor import execute_plan
from rho.lang.syntax.source import Source
from rho.typechecker.check import check
from rho.typechecker.core.operations import Core

MAP = "input x : f64[n]\ny ← 1+x×x\noutput y\n"
SUM = "input x : f64[n]\n⎕←+/x\n"


def core_of(text: str) -> Core:
    checked = check(Source("chunks.rho", text))
    assert checked.core is not None, checked.diagnostics
    return checked.core


def machine(*memories: int, copies: int = 10**10) -> Profile:
    """A slow home, and quick cards with so many bytes each, to which so many bytes a second go."""
    home = DeviceProfile("cpu0", "cpu", home=True, roofline=Roofline(10**8, 10**8))
    cards = tuple(
        DeviceProfile(f"gpu{place}", "gpu", memory_bytes=memory, roofline=Roofline(10**12, 10**10))
        for place, memory in enumerate(memories)
    )
    links = tuple(LinkProfile("cpu0", card.name, latency_ns=1000, table=CostTable.of_rate(copies)) for card in cards)
    return Profile((home, *cards), links)


def runs_on(plan: ExecutionPlan, device: str) -> int:
    """The most boxes of one phase that a device runs."""
    steps = [step for queue in plan.main.queues if queue.device == device for step in queue.steps]
    ran = [step.phase for step in steps if isinstance(step, RunStep)]
    return max(map(ran.count, ran), default=0)


def test_a_sum_of_forty_gigabytes_on_a_card_of_twenty_five_is_a_plan() -> None:
    core = core_of(SUM)
    planned = plan_program(core, backend.bind_shapes(core, {"x": (5 * 10**9,)}), machine(25 * 10**9), budget=FAST)
    plan = planned.plan
    assert planned.answer.schedule is not None
    assert runs_on(plan, "gpu0") > 1
    assert plan.peak["gpu0"] <= 25 * 10**9
    assert planned.answer.schedule.makespan * plan.tick_ns < 6 * 10**9  # at home it takes 400 s, in whole shards 150
    assert plan.chunks and plan.space.chunks == 32


def test_the_proof_of_whole_shards_stands_beside_a_better_plan_in_chunks() -> None:
    core, profile = core_of(MAP), machine(25 * 10**9)
    bound = backend.bind_shapes(core, {"x": (10**7,)})
    plan = plan_program(core, bound, profile, budget=FAST).plan
    assert plan.prediction is not None and plan.chunks
    least = plan.prediction.proof.detail["whole"]
    assert plan.prediction.makespan < least
    assert bound_text(plan).endswith(f"; the least in whole shards along these axes {least}")
    assert plan_is_reproved(plan, bound, core, profile)
    for name, claimed in (("whole", least + 1), ("axes", plan.prediction.makespan)):
        proof = replace(plan.prediction.proof, detail={**plan.prediction.proof.detail, name: claimed})
        forged = replace(plan, prediction=replace(plan.prediction, proof=proof))
        assert not plan_is_reproved(forged, bound, core, profile)


@pytest.mark.parametrize("memories", [(1_200_000, 900_000), (900_000,)])
@pytest.mark.parametrize("text", [MAP, SUM])
def test_a_program_larger_than_its_cards_runs_with_the_same_bits(memories: tuple[int, ...], text: str) -> None:
    core, data = core_of(text), {"x": np.random.default_rng(1).standard_normal(250_000)}
    bound, profile = backend.load(core, data), machine(*memories)
    planned = plan_program(core, bound, profile, budget=FAST)
    plan = planned.plan
    if len(memories) == 1:
        assert runs_on(plan, "gpu0") > 1
        assert plan.chunks
    assert decode_plan(encode_plan(plan)) == plan
    assert faults_of_stored(plan, bound, core, profile) == []
    assert plan_is_reproved(plan, bound, core, profile)
    alone = backend.execute(backend.plan(bound), bound, data)
    for pace in QueueClock:
        here = {device.id: CpuBackend() for device in plan.devices}
        found = execute_plan(plan, bound, data, here, pace=pace)
        assert [one.value.tobytes() for one in found.printed] == [one.value.tobytes() for one in alone.printed]
        assert all(found.outputs[name].value.tobytes() == one.value.tobytes() for name, one in alone.outputs.items())
        assert all(held <= plan.peak[device] for device, held in found.held.items())


@pytest.mark.parametrize(
    "change", [{"count": 2}, {"count": 33}, {"phase": 0}],
)
def test_forged_chunks_are_found(change: dict[str, int]) -> None:
    core = core_of(SUM)
    bound, profile = backend.bind_shapes(core, {"x": (250_000,)}), machine(900_000)
    plan = plan_program(core, bound, profile, budget=FAST).plan
    forged = tuple(replace(one, **change) for one in plan.chunks)
    assert forged != plan.chunks
    assert faults_of_stored(replace(plan, chunks=forged), bound, core, profile) != []
    assert faults_of_stored(replace(plan, chunks=()), bound, core, profile) != []
    for most in (64, 1):
        assert faults_of_stored(replace(plan, space=replace(plan.space, chunks=most)), bound, core, profile) != []
