"""Loops that may end early, or whose count a run determines, as launches of native programs: the bits of the plan on NumPy."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from share import drawing, repeats

import rho
from rho.backend.cpu.regions import RegionExecution
from rho.backend.vm import runtime
from rho.backend.vm.call_sites import RegionSite
from rho.tests.harness.tiers import kernels

pytestmark = pytest.mark.skipif(runtime.native() is None, reason="no native calls in this Python")

STATES = ("⊢⍵", "⊢(⍵ ⋄ +/⍵)")
BODIES = {
    STATES[0]: ("(⍵+1⌽⍵)-⌽⍵", "⍵+1", "⌊\\⌽⍵", "1⌽⍵", "⍵⌈+/⍵", "x+¯1⌽⍵", "2×⍵"),
    STATES[1]: ("(a ⋄ b) ← ⍵ ⋄ (1⌽a ⋄ b-1)", "(a ⋄ b) ← ⍵ ⋄ (a+b ⋄ b)", "(a ⋄ b) ← ⍵ ⋄ (⌽a ⋄ +/a)"),
}
ENDS = {STATES[0]: ("⍺≡⍵", "20<+/⍺", "∧/⍺=⍵", "0<+/0×⍺", "0≤+/0×⍺"),
        STATES[1]: ("(a ⋄ b) ← ⍺ ⋄ b<0", "(a ⋄ b) ← ⍺ ⋄ (c ⋄ d) ← ⍵ ⋄ b=d", "(a ⋄ b) ← ⍺ ⋄ 9<⌈/0,a")}  # fmt: skip
COUNTS = ("0", "1", "6", "7", "+/x>1", "3+≢x", "9⌊0⌈⌊/9,⌊|x")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code is compiled when it is first asked for, and regions are chosen."""
    monkeypatch.setenv("RHO_KERNELS", "always")


def drawn(rng: random.Random) -> str:
    state = rng.choice(STATES)
    body, count = rng.choice(BODIES[state]), rng.choice(COUNTS)
    many = f"({count} ⋄ {{{rng.choice(ENDS[state])}}})" if rng.random() < 0.7 else f"({count})"
    return f"{{x ← ⍵ ⋄ {{{body}}}⍣{many}{state}}}"


def parts(result: Any) -> list[Any]:
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("number", range(repeats(60)))
def test_early_ends_and_counts_of_a_run(number: int) -> None:
    rng = drawing(number)
    text = drawn(rng)
    try:
        function = rho.compile(text)
    except rho.RhoError as refused:
        pytest.skip(f"{text}: {refused.diagnostics[0].code}")
    data = np.random.default_rng(rng.getrandbits(32))
    for dtype in rng.sample([np.float64, np.float32, np.int64, np.int32], 2):
        for size in (1, 5, rng.randrange(2, 40)):
            operands = [data.integers(-2, 4, size).astype(dtype) for _ in range(4)]
            with kernels("off"):
                wanted = [parts(rho.compile(text)(x)) for x in operands]
            for _ in range(3):
                for x, expected in zip(operands, wanted, strict=True):
                    for got, part in zip(parts(function(x)), expected, strict=True):
                        np.testing.assert_array_equal(got, part, err_msg=f"{text} {x!r}", strict=True)


@pytest.mark.parametrize("text", [
    "{{(0.5×⍵)+0.25×(1⌽⍵)+¯1⌽⍵}⍣(90 ⋄ {0.01>⌈/|⍺-⍵})⊢⍵}", "{{⍵+1}⍣(+/⍵>1)⊢0}", "{{1⌽⍵}⍣(+/⍵>1)⊢⍵}",
    "{x ← ⍵ ⋄ {x+¯1⌽⍵}⍣(+/x>1 ⋄ {20<+/⍺})⊢⍵}",
])  # fmt: skip
def test_such_a_loop_is_a_launch(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, x = rho.compile(text), np.array([0.5, 1.5, 2.5, 0.0, 7.0])
    for _ in range(8):
        function(x)

    def refuse(*arguments: Any) -> Any:
        raise AssertionError("Python runs the loop")

    monkeypatch.setattr(RegionExecution, "__init__", refuse)
    monkeypatch.setattr(RegionSite, "__call__", refuse)
    function(x)
