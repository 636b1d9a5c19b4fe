"""Scans in two passes: cut anywhere on any devices they give the bits of one pass, within the planned memory."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import numpy as np
import pytest
from share import seeds

from rho import backend
from rho.backend.cpu.backend import CpuBackend
from rho.backend.devices.profile import DeviceProfile, LinkProfile, Profile
from rho.backend.devices.profile_toml import read_profile
from rho.backend.distributed.buffers import QueueClock
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.partial_graphs import divisible_scans
from rho.backend.graph.phases import LibraryPhase
from rho.backend.graph.registry import SCAN_BLOCK
from rho.backend.graph.verify import verify as verify_graph
from rho.backend.schedule.plan.plan import RunStep, decode_plan, encode_plan
from rho.backend.schedule.program.iteration_plan import bound_in_form
from rho.backend.schedule.program.plan_from_schedule import plan_of
from rho.backend.schedule.program.problem_from_program import problem_of
from rho.backend.schedule.program.schedule_from_plan import answer_of
from rho.backend.schedule.verify.plan_checks import check_plan
from rho.backend.schedule.verify.schedule_checks import verify
from rho.backend.vm.executor import execute_plan
from rho.tests.backend.quick import with_modes
from rho.tests.backend.test_programs_on_devices import random_modes, run, same_bits, ticks_of, topology
from rho.tests.harness.tiers import by_reference, checked, differences, values_of

SCANS = {
    "+\\x": "f64", "+\\i": "i64", "⌈\\x": "f64", "⌊\\i": "i64", "×\\i": "i64", "∨\\x>3.4": "f64", "+\\1○+\\x": "f64",
    "+⍀(n 1)⍴x": "f64", "+\\x>0": "f64", "⌽+\\⌽x": "f64",
}  # fmt: skip


def loaded(scan: str, length: int, seed: int) -> tuple[BoundGraph, dict[str, np.ndarray], object]:
    core = checked(f"input x : f64[n] where n≥1\ninput i : i64[n]\nb ← {scan}\noutput b\n⎕←⌈/b\n⎕←+/i")
    assert core is not None
    draw = np.random.default_rng(seed)
    x = draw.standard_normal(length) * 10.0 ** draw.integers(-8, 8, length)
    data = {"x": x, "i": draw.integers(-9, 9, length)}
    return backend.load(core, data), data, core


@pytest.mark.parametrize("part", range(4))
def test_scans_on_random_devices(part: int) -> None:
    names = sorted(SCANS)
    for seed in seeds(60, 2030_11_30, least=12)[part::4]:
        chance = random.Random(seed)
        scan, length = names[seed % len(names)], chance.choice([2, 3, 5]) * SCAN_BLOCK + chance.choice([0, 1, 64, 77, 4095])
        bound, data, core = loaded(scan, length, seed)
        alone = backend.execute(backend.plan(bound), bound, data)
        scans = divisible_scans(bound.graph)
        if length <= 2 * SCAN_BLOCK:
            assert scans == ()
            continue
        form = bound_in_form(bound, scans)
        assert {p.op for p in form.graph.phases if isinstance(p, LibraryPhase)} >= {"scan_totals", "scan_before", "scan"}
        verify_graph(form.graph)
        chunks = chance.choice([1, 4])
        made = problem_of(form, topology(chance), ticks_of=ticks_of(chance), chunks=chunks).along()
        answer = with_modes(made.problem, random_modes(made.problem, chance))
        assert answer is not None
        answer = dataclasses.replace(answer, chunks=chunks)
        assert [v for v in verify(made.problem, answer) if v.code.value not in ("V7", "V10")] == []
        places = tuple(p for p, phase in enumerate(made.phases) if phase.id in scans)
        plan = plan_of(made, dataclasses.replace(answer, speculated=places))
        assert plan.divided == scans
        assert decode_plan(encode_plan(plan)) == plan
        assert check_plan(plan, bound) == ()
        assert answer_of(plan, made).schedule == answer.schedule
        found = run(plan, bound, data)
        assert same_bits(found, alone)
        assert all(held <= plan.peak[device] for device, held in found.held.items())
        here = {d.id: CpuBackend() for d in plan.devices}
        assert same_bits(execute_plan(plan, bound, data, here, pace=QueueClock.THREADS), alone)
