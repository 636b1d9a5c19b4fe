"""Programs that are chains of rows, what they read, and runs of them: kernels, NumPy's tier, and phases one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from rho import backend
from rho.backend.jit import tiering
from rho.backend.schedule import single_device
from rho.backend.schedule.plan.plan import Device, ExecutionPlan, RowsStep
from rho.tests.harness.tiers import checked
from rho.tests.kernels.phases import data
from rho.typechecker.elements import Kind

FLOATS = """r ← {e ← *⍵-⌈/⍵ ⋄ e÷+/e}⍤1 ⊢ A
r ← {(⌈/⍵)+⍟+/*⍵-⌈/⍵}⍤1 ⊢ A
r ← {m ← (+/⍵)÷≢⍵ ⋄ d ← ⍵-m ⋄ d÷√1e¯5+(+/d×d)÷≢⍵}⍤1 ⊢ A
r ← {(⍵-(+/⍵)÷≢⍵)×+/⍵}⍤1 ⊢ A
r ← {√+/(⍵-⌈/⍵)*2}⍤1 ⊢ A
r ← {⍵÷√+/⍵×⍵}⍤1 ⊢ A
r ← {(⌈/⍵)-⌊/⍵+⌈/⍵}⍤1 ⊢ A
r ← {(×/⍵)+⌊/⍵×+/⍵}⍤1 ⊢ A
r ← {(⍵>(+/⍵)÷≢⍵)×⍵}⍤1 ⊢ A
r ← {+/⍵>(+/⍵)÷≢⍵}⍤1 ⊢ A
r ← {∨/⍵>2×(+/|⍵)÷≢⍵}⍤1 ⊢ A
r ← {(∧/⍵>⌊/⍵)∨(⌈/⍵)>3}⍤1 ⊢ A
r ← {⌽⍵-⌈/⍵}⍤1 ⊢ A
r ← {x ← ⌽⍵ ⋄ (x-⌈/x)+⍵×+/⍵}⍤1 ⊢ A
r ← v ({(⍵-(+/⍵)÷≢⍵)×⍺}⍤1) A
r ← w ({(⍵×⍺)÷+/⍵×⍺}⍤0 1) A
r ← {e ← *⍵-⌈/⍵ ⋄ e÷+/e} v
r ← {m ← (+/⍵)÷≢⍵ ⋄ √(+/(⍵-m)*2)÷≢⍵} v""".splitlines()
WHOLE = """m ← (+/A)÷≢⍉A|output m|output q ← (+/(A-m)*2)÷≢⍉A
s ← +/A|e ← 1○A-s|output e|output t ← ⌈/e|output u ← e-t|output s
a ← A×2|output x ← +/a|output y ← a-⌈/a
a ← A+1|b ← a÷+/a|output c ← b-⌈/b|output b
x ← +/A|output y ← A-x|output z ← +/y×y|output x""".splitlines()
WHOLES = """r ← {(⍵×2)-⌈/⍵}⍤1 ⊢ I
r ← {(+/⍵)-⌊/⍵×⌈/⍵}⍤1 ⊢ I
r ← {⍵=⌈/⍵}⍤1 ⊢ I
r ← {+/⍵=⌈/⍵}⍤1 ⊢ I
r ← {(+/⍵)>+/⍵≠∨/⍵}⍤1 ⊢ B
r ← {⍵≠∨/⍵}⍤1 ⊢ B""".splitlines()
SHORT = (
    FLOATS[:3]
    + WHOLE[:2]
    + """r ← {m ← (+/⍵)÷≢⍵ ⋄ (⌈/⍵-m)-⌊/⍵-m}⍤1 ⊢ A
r ← {(×/⍵-⌊/⍵)+⍵}⍤1 ⊢ A
r ← {x ← ⌽⍵ ⋄ y ← x-⌈/x ⋄ y+⍵×+/|y}⍤1 ⊢ A
r ← v ({y ← ⍵-+/⍵×⍺ ⋄ y×⌈/y}⍤1) A
r ← w ({y ← ⍵-(⍺×⌈/⍵) ⋄ y÷1++/y}⍤0 1) A
r ← {∨/⍵>2×(+/|⍵)÷≢⍵}⍤1 ⊢ A
r ← {+/⍵>(+/⍵)÷≢⍵}⍤1 ⊢ A""".splitlines()
)
MANY = ((1700, 5), (1031, 8), (900, 10), (513, 16), (487, 17), (300, 31))


def given(shape: tuple[int, int], kind: Kind) -> dict[str, Any]:
    r, c = shape
    return {
        "A": data(kind, r * c, 1).reshape(r, c), "v": data(kind, c, 2), "w": data(kind, r, 3),
        "I": data(Kind.I64, r * c, 4).reshape(r, c) % 1000, "B": data(Kind.BOOL, r * c, 5).reshape(r, c),
    }  # fmt: skip


def program(text: str, kind: Kind) -> str:
    kinds = {"A": f"{kind.value}[r c]", "v": f"{kind.value}[c]", "w": f"{kind.value}[r]", "I": "i64[r c]", "B": "bool[r c]"}
    declared = "".join(f"input {name} : {type}\n" for name, type in kinds.items())
    return declared + (text.replace("|output", "\noutput").replace("|", "\n") if "output" in text else f"output {text}") + "\n"


def planned(text: str, inputs: Mapping[str, Any], threads: int = 1) -> tuple[ExecutionPlan, Any]:
    core = checked(text)
    assert core is not None, text
    bound = backend.load(core, inputs, {})
    return backend.plan(bound, Device(single_device.HOME, "cpu", threads)), bound


def chains(plan: ExecutionPlan) -> list[RowsStep]:
    return [step for queue in plan.main.queues for step in queue.steps if isinstance(step, RowsStep)]


def run(text: str, inputs: Mapping[str, Any], mode: str, threads: int = 1) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        if mode == "apart":
            patch.setattr(single_device, "units_of", lambda phases, graph, kept, split: list(phases))
        patch.setenv(tiering.SWITCH, "always" if mode == "always" else "off")
        patch.setattr("rho.backend.cpu.parallel_for.PARALLEL", 1)
        plan, bound = planned(text, inputs, threads)
        assert bool(chains(plan)) == (mode != "apart"), text
        results = backend.execute(plan, bound, inputs)
    return {name: shown.value for name, shown in results.outputs.items()}
