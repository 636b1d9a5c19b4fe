"""Stored plans of small programs that between them have every kind of step, to be forged, and who judges them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from rho import backend
from rho.backend.devices.profile import Profile
from rho.backend.devices.this_machine import load_profile
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.schedule.plan.plan import ExecutionPlan, PlanFormatError, decode_plan, encode_plan
from rho.backend.schedule.problem import Objective
from rho.backend.schedule.program.plan_program import faults_of_stored, plan_program, require_current, texts_of
from rho.backend.schedule.program.schedule_from_plan import single_device_faults
from rho.backend.schedule.search.strategy import Budget
from rho.backend.schedule.single_device import plan_one_device
from rho.lang.diagnostics.model import Refused
from rho.lang.syntax.source import Source
from rho.typechecker.check import check
from rho.typechecker.core.operations import Core

__all__ = ["PROGRAMS", "ExecutionPlan", "Stored", "encode_plan", "faults", "stored"]

BUDGET = Budget(60, 0)
Shapes = dict[str, tuple[int, ...]]

SUMS = ("input x : f64[n]\ny ← √1+x×x\n+/y", {"x": (200_000,)})
PAIR = ("input x : f64[n m]\ninput y : f64[n m]\nz ← x×y\noutput z\n+/z-x\nschedule { place z on gpu0 ⋄ minimize energy }",
        {"x": (60, 50), "y": (60, 50)})  # fmt: skip
HEAT = ("input x : f64[n]\ny ← {⍵+0.1×(0,¯1↓⍵)+((1↓⍵),0)-2×⍵}⍣100 ⊢ x\n+/y", {"x": (400_000,)})
BRANCH = ("input b : f64[]\ninput x : f64[n]\nz ← {b>0: x+1 ⋄ x×2}⍬\noutput z\nschedule { speculate z }",
          {"b": (), "x": (20_000,)})  # fmt: skip
INNER = ("input x : f64[n m]\n{+/{⍵×0.5}⍣3 ⊢ ⍵}⍤1 ⊢ x\n{⍵>0.5: ⍵÷2 ⋄ ⍵+1}¨x", {"x": (6, 4)})
SOFTMAX = ("input x : f64[n d] where d ≥ 1\ne ← *x-⌈/x\ne÷+/e", {"x": (40, 30)})

SORTED = ("input x : f64[n]\ny ← x[⍋x]\noutput y\n+/y", {"x": (30_000,)})
TABLE = ("input x : f64[n m] where n ≥ 1\na ← 7○x×1.5\nb ← +⍀a\noutput c ← ⌈⌿b", {"x": (600, 500)})

PROGRAMS: dict[str, tuple[tuple[str, Shapes], str | None, tuple[Objective, ...]]] = {
    "sums": (SUMS, "workstation", ()),
    "pair": (PAIR, "workstation", ()),
    "machines": (SUMS, "workstation", (Objective.LATENCY, Objective.MACHINES)),
    "throughput": (SUMS, "laptop", (Objective.THROUGHPUT, Objective.LATENCY)),
    "heat": (HEAT, "workstation", ()),
    "branch": (BRANCH, "workstation", ()),
    "inner": (INNER, "laptop", ()),
    "alone": (SOFTMAX, None, ()),
    "sorted": (SORTED, "workstation", ()),
    "table": (TABLE, "workstation", ()),
}


@dataclass(frozen=True)
class Stored:
    text: str
    plan: ExecutionPlan
    core: Core
    bound: BoundGraph
    profile: Profile | None


@cache
def stored(name: str) -> Stored:
    (text, shapes), devices, objectives = PROGRAMS[name]
    core = check(Source("forged.rho", text)).core
    assert core is not None
    bound = backend.bind_shapes(core, shapes)
    if devices is None:
        plan = plan_one_device(bound, program=texts_of(core))
        return Stored(encode_plan(plan), plan, core, bound, None)
    profile = load_profile(devices)
    plan = plan_program(core, bound, profile, objectives=objectives, budget=BUDGET).plan
    return Stored(encode_plan(plan), plan, core, bound, profile)


def faults(right: Stored, text: str, known: bool) -> list[str]:
    """What is said against the text of a plan; `known`: with the profile that it names."""
    profile = right.profile if known else None
    try:
        plan = decode_plan(text)
        require_current(plan, right.core, right.bound, profile, "plan.json")
    except PlanFormatError as error:
        return [f"E705: {error}"]
    except Refused as error:
        return [error.diagnostics[0].message]
    if right.profile is None:
        return single_device_faults(plan, right.bound)
    return faults_of_stored(plan, right.bound, right.core, profile)
