"""Operands that are copied first, packed or padded: the same bits in phases, loops and calls, which then enter no Python."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import rho
from rho import backend
from rho.backend.jit import tiering
from rho.backend.vm import runtime
from rho.backend.vm.call_sites import CallSite
from rho.tests.harness.share import seeds
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


@pytest.mark.parametrize("stretch", [1, tiering.INTERRUPT_NANOSECONDS])
@pytest.mark.parametrize("text", PROGRAMS)
def test_packed_operands_give_the_same_bits(text: str, stretch: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiering, "INTERRUPT_NANOSECONDS", stretch)
    rng = np.random.default_rng(1)
    inputs = {"A": rng.random((300, 40)), "B": rng.random((40, 7)), "C": rng.random((9, 40))}
    assert same_bits(run(text, inputs, "always", monkeypatch), run(text, inputs, "off", monkeypatch))


VECTORS = ("(X,X)", "(7↑X)", "(¯9↑X)", "({+/⍵}⌺3⊢X)", "({⌈/⍵}⌺5⊢X)", "(1↓X)", "(⌽X)", "(X×2)", "(+\\X)", "(0,X)", "(X∘.×⍳3)[;1]")
MATRICES = ("(6 9↑X)", "(¯8 2↑X)", "(⍉X)", "(⌽X)", "({+/,⍵}⌺3 3⊢X)", "({⌊/,⍵}⌺3 3⊢X)", "(X⍪X)", "(+⍀X)", "(1↓X)")
READERS = ("X", "+/,X", "⌈/,X", "(X)∘.+⍳4", "+/(X)∘.×⍳5", "(X)∘.⌊⌽⍳9", "×X")


@pytest.mark.skipif(runtime.native() is None, reason="no native calls in this Python")
@pytest.mark.parametrize("seed", seeds(60, least=10))
def test_calls_of_padded_operands(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes beyond the ends, windows and outer products of some kinds and layouts, on other items in each call."""
    draw, items = random.Random(seed), np.random.default_rng(seed)
    is_matrix = draw.random() < 0.5
    text, shape = "⍵", (draw.choice([3, 7]), 5) if is_matrix else (draw.choice([4, 30, 100]),)
    for _ in range(draw.choice([1, 2, 3])):
        text = draw.choice(MATRICES if is_matrix else VECTORS).replace("X", text)
    text = "{" + draw.choice(READERS).replace("X", text) + "}"
    dtype = draw.choice(["f8", "f4", "i8", "i4", "u1", "c16"])
    given = [items.integers(0, 9, shape).astype(dtype) for _ in range(3)]
    if draw.random() < 0.3:
        given = [np.repeat(array, 2, axis=-1)[..., ::2] for array in given]
    try:
        monkeypatch.setenv("RHO_KERNELS", "off")
        expected = [np.asarray(rho.compile(text)(array)) for array in given]
    except rho.RhoError:
        return  # no function of such items, which is a matter of the language
    monkeypatch.setenv("RHO_KERNELS", "always")
    function = rho.compile(text)
    for _ in range(2):
        assert all(same_bits(np.asarray(function(array)), want) for array, want in zip(given, expected, strict=True)), text


@pytest.mark.skipif(runtime.native() is None, reason="no native calls in this Python")
@pytest.mark.parametrize("text", ["{15↑⍵}", "{¯15↑⍵}", "{{+/⍵}⌺3⊢⍵}", "{+/20↑⍵}", "{⍵,⍵}", "{⍵≡⍵}", "{(2×⍵)∘.-⌽⍵}", "{⍵⍳⌊/⍵}"])
def test_settled_calls_enter_no_python(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies before a launch, and operands that are given twice, had no specialization: every call took 7 to 15 µs."""
    monkeypatch.setenv("RHO_KERNELS", "always")
    function, x = rho.compile(text), np.random.default_rng(1).random(12)
    values = [np.asarray(function(x)).tolist() for _ in range(9)]
    calls: list[object] = []
    monkeypatch.setattr(CallSite, "__call__", lambda *given: calls.append(given))
    assert np.asarray(function(x)).tolist() == values[0]
    assert not calls
