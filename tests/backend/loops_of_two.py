"""Loops that two devices run together: their texts, ticks by hand, and their plans."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rho import backend
from rho.backend.devices.cost_functions import Ticks
from rho.backend.devices.profile import DeviceProfile, LinkProfile, Profile
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.phases import Loop, Phase
from rho.backend.schedule.plan.plan import ExecutionPlan, LoopStep
from rho.backend.schedule.problem import DeviceGroup
from rho.backend.schedule.program.plan_program import PlannedProgram, plan_program
from rho.backend.schedule.program_facts.partitioning import Cut
from rho.backend.schedule.search.strategy import FAST
from rho.tests.harness.tiers import checked

LATENCY = 2
TURNS = 10
SHIFTED = "input x : f64[n]\ny ← {⍵+0.25×(0,¯1↓⍵)+((1↓⍵),0)-2×⍵}⍣10⊢x\noutput y"
TURNED = "input x : f64[n]\ny ← {⍵+0.25×(¯1⌽⍵)+(1⌽⍵)-2×⍵}⍣10⊢x\noutput y"
UNTIL = "input x : f64[n]\ny ← {⍵+0.25×(¯1⌽⍵)+(1⌽⍵)-2×⍵}⍣(10 ⋄ {0.5>+/|⍺-⍵})⊢x\noutput y"
FARTHEST = "input x : f64[n] where n ≥ 1\ny ← {0.5×⌈/|x-⍵}⍣10⊢1.0\n⎕←y"


def by_hand(rows: int) -> Callable[[Phase, DeviceGroup, Cut | None, int], Ticks]:
    """A tick a row; a tick for what is whole; as many as there are rows for each turn of a loop on one device."""

    def ticks(phase: Phase, group: DeviceGroup, cut: Cut | None, tick_ns: int) -> Ticks:
        if isinstance(phase, Loop):
            return Ticks(((1, rows * TURNS),))
        return Ticks(((1, 1),)) if cut is None else Ticks(((cut.rows, cut.rows),))

    return ticks


def two(memory: int | None = None) -> Profile:
    devices = (DeviceProfile("cpu0", "cpu", home=True), DeviceProfile("d1", "k0", memory_bytes=memory))
    return Profile(devices, (LinkProfile("cpu0", "d1", latency_ns=LATENCY),))


def planned(text: str, rows: int = 40, profile: Profile | None = None) -> tuple[PlannedProgram, BoundGraph, dict[str,
    np.ndarray]]:
    core = checked(text)
    assert core is not None
    data = {"x": np.linspace(0.0, 1.0, rows) ** 2}
    bound = backend.load(core, data)
    return plan_program(core, bound, profile or two(), budget=FAST, ticks_of=by_hand(rows)), bound, data


def the_loop(plan: ExecutionPlan) -> LoopStep:
    (found,) = [step for queue in plan.main.queues for step in queue.steps if isinstance(step, LoopStep)]
    return found
