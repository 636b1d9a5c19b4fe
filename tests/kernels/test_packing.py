"""Small operands that are packed first: the same bits, in phases and in loops, and no more memory than is planned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rho import backend
from rho.backend.jit import tiering
from rho.tests.harness.tiers import checked
from rho.tests.kernels.phases import same_bits

DECLARED = "input A : f64[n m]\ninput B : f64[m 7]\ninput C : f64[k m]\n"
PROGRAMS = """{0.5×⍵+⍤1 ⊢ B[;3]}⍣5 ⊢ A
{(⍵×⍤1 ⊢ B[;0])-⍤1 ⊢ B[;3]}⍣5 ⊢ A
{⍵+⍤1 ⊢ ⌽B[;3]}⍣3 ⊢ A
A×⍤1 ⊢ B[;3]
+/(A (-⍤1⍤1 2) C)*2
⌈/A (+⍤1⍤1 2) ⍉B""".splitlines()


def run(text: str, inputs: dict[str, Any], mode: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv(tiering.SWITCH, mode)
    core = checked(f"{DECLARED}r ← {text}\noutput r\n")
    assert core is not None
    bound = backend.load(core, inputs)
    plan = backend.plan(bound)
    backend.execute(plan, bound, inputs)
    return np.asarray(backend.execute(plan, bound, inputs).outputs["r"].value)


@pytest.mark.parametrize("stretch", [1, tiering.HEARD_NANOSECONDS])
@pytest.mark.parametrize("text", PROGRAMS)
def test_packed_operands_give_the_same_bits(text: str, stretch: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiering, "HEARD_NANOSECONDS", stretch)
    rng = np.random.default_rng(1)
    inputs = {"A": rng.random((300, 40)), "B": rng.random((40, 7)), "C": rng.random((9, 40))}
    assert same_bits(run(text, inputs, "always", monkeypatch), run(text, inputs, "off", monkeypatch))
