"""Loops that are differentiated: states are kept where the way back reads them, all or at some iterations only."""

from __future__ import annotations

import numpy as np
import pytest

import rho
from rho import backend
from rho.tests.harness.tiers import checked
from rho.typechecker.gradients import control_rules

LOOPS = (
    "{+/{1○⍵×1.1}⍣N⊢⍵}",
    "{p←⍵ ⋄ +/{p×1○⍵}⍣N⊢p}",
    "{+/{(1○⍵)+⍺×⍵*2}⍣(⍳N)⊢0.01×⍵}",
    "{+/{(1○⍵)×⍺}⍣(N⍴⍵)⊢⍵}",
    "{a←⍵ ⋄ +/{(1○⍵)×a[5|⍺]}⍣(⍳N)⊢⍵}",
    "{(p q)←{(p q)←⍵ ⋄ (q×p ⋄ 1○p)}⍣N⊢(⍵ ⋄ 2×⍵) ⋄ +/p+q}",
    "{+/{{1○⍵×1.1}⍣N⊢⍵}⍣3⊢⍵}",
    "{+/{{⍵×1○⍵}⍣N⊢⍵}¨⍵}",
)


@pytest.mark.parametrize("text", LOOPS)
@pytest.mark.parametrize("count", [4, 7, 23])
def test_states_that_are_computed_again_change_nothing_but_rounding(
    text: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.random.default_rng(count).uniform(0.2, 1.2, 5)
    text = text.replace("N", str(count))
    kept = rho.grad(text)(x)
    monkeypatch.setattr(control_rules, "_MANY_BYTES", 8)
    again = rho.grad(text + " ")(x)
    assert np.allclose(kept, again, rtol=1e-13, atol=1e-15)


def peak(text: str, count: int) -> int:
    core = checked(f"input x : f64[n]\noutput g ← {text}∂x")
    assert core is not None
    inputs = {"x": np.random.default_rng(1).uniform(0.2, 1.2, count)}
    return max(backend.plan(backend.load(core, inputs)).peak.values())


def test_a_linear_loop_keeps_nothing() -> None:
    assert peak("{+/({⍵+0.1×(1⌽⍵)-⍵}⍣1000⊢⍵)*2}", 100_000) < 12 * 800_000


def test_a_long_loop_keeps_few_states() -> None:
    everything = 400 * 800_000
    assert peak("{+/{1○⍵×1.1}⍣400⊢⍵}", 100_000) < everything / 3


@pytest.mark.parametrize("text", ["{⍵×1.1}⍣(500 ⋄ {(+/⍵)>9})", "{1○⍵×1.1}⍣400", "{1○⍵}⍣\\3", "{⍺×1○⍵}⍣⍵"])
def test_loops_of_empty_arrays(text: str) -> None:
    assert rho.grad(f"{{+/,{text}⊢⍵}}")(np.zeros(0)).shape == (0,)
