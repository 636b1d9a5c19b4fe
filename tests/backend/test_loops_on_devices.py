"""Loops on several devices: the bits of one device, within the memory that the plan says."""

from __future__ import annotations

import random

import numpy as np
import pytest
from share import seeds

from rho import backend
from rho.backend.cpu.backend import CpuBackend
from rho.backend.distributed.buffers import QueueClock
from rho.backend.graph.phases import Loop
from rho.backend.schedule.plan.plan import RunStep, decode_plan, encode_plan
from rho.backend.schedule.program.plan_from_schedule import plan_of
from rho.backend.schedule.program.problem_from_program import problem_of
from rho.backend.schedule.verify.plan_checks import check_plan
from rho.backend.schedule.verify.schedule_checks import verify
from rho.backend.vm.executor import execute_plan
from rho.tests.backend.quick import split_evenly, with_modes
from rho.tests.backend.test_programs_on_devices import random_modes, run, same_bits, ticks_of, topology
from rho.tests.harness.tiers import checked

MANDELBROT = """param w ← 40
x ← ¯2+3×(⍳w)÷w
y ← ¯1+2×(⍳w)÷w
c ← (0J1×y)∘.+x
step ← {
  (z count) ← ⍵
  alive ← 2≥|z
  (alive¿(c+z×z ⋄ z) ⋄ count+alive)
}
(z count) ← step⍣9 ⊢ (c ⋄ 0×i64 2≥|c)
output count
⎕←+/,count"""
LOGISTIC = "input x : f64[n]\ny ← {⍵+0.1×x-⍵×⍵}⍣7⊢x\noutput y\n⎕←+/y"


@pytest.mark.parametrize("text", [MANDELBROT, LOGISTIC])
@pytest.mark.parametrize("seed", seeds(4, least=2))
def test_an_element_wise_loop_is_cut_like_a_map(text: str, seed: int) -> None:
    core = checked(text)
    assert core is not None
    data = {"x": np.linspace(0, 1, 50)} if text is LOGISTIC else {}
    bound = backend.load(core, data)
    (place,) = [place for place, phase in enumerate(bound.graph.phases) if isinstance(phase, Loop)]
    alone = backend.execute(backend.plan(bound), bound, data)
    chance = random.Random(seed)
    made = problem_of(bound, topology(chance), ticks_of=ticks_of(chance))
    assert made.problem.phases[place].rows > 1
    for answer in (split_evenly(made.problem), with_modes(made.problem, random_modes(made.problem, chance))):
        assert answer is not None
        assert [v for v in verify(made.problem, answer) if v.code.value not in ("V7", "V10")] == []
        plan = plan_of(made, answer)
        assert check_plan(plan, bound) == ()
        assert decode_plan(encode_plan(plan)) == plan
        shards = [s for s in answer.schedule.shards if s.phase == place] if answer.schedule else []
        steps = [s for q in plan.main.queues for s in q.steps if isinstance(s, RunStep) and s.phase == made.phases[place].id]
        assert len(shards) in (1, len(steps))
        found = run(plan, bound, data)
        assert same_bits(found, alone)
        assert all(held <= plan.peak[device] for device, held in found.held.items())
        assert same_bits(execute_plan(plan, bound, data, {d.id: CpuBackend() for d in plan.devices}, pace=QueueClock.THREADS),
            alone)
