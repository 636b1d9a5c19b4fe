"""Loops that may end early, or whose count a run determines, as launches of native programs: the bits of the plan on NumPy."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from share import drawing, repeats, share

import rho
from rho.backend.cpu.regions import RegionExecution
from rho.backend.jit import tiering
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
INDEXED = (
    "{x ← ⍵ ⋄ {y ← ⍵ ⋄ y[⍺] ← +/⍺↑y ⋄ y}⍣(⍳≢x)⊢x}", "{x ← ⍵ ⋄ {⍵++/(⍺↑x)[⍋⍺↑x]}⍣(⍳≢x)⊢0}", "{x ← ⍵ ⋄ {⍵++/⍺↓⌽x}⍣(⌽⍳≢x)⊢0}",
    "{x ← ⍵ ⋄ {i ← ⍺ ⋄ ⍵+{⍵+x[⍺]×x[i]}⍣(⍳i)⊢0}⍣(⍳≢x)⊢0}", "{x ← ⍵ ⋄ {⍵++/(x>⍺)/⍺↑x,x}⍣(⍳≢x)⊢0}",
    "{x ← ⍵ ⋄ {i ← ⍺ ⋄ ⍵++/{x[i]>0 : i↑x ⋄ (1+i)↓x} 0}⍣(⍳≢x)⊢0}", "{x ← ⍵ ⋄ {≢∪⍺↑x}⍣(⍳≢x)⊢0}",
    "{x ← ⍵ ⋄ k ← +/x>1 ⋄ {⍵++/⍺↑x}⍣(⍳k)⊢0}", "{x ← ⍵ ⋄ {i ← ⍺ ⋄ ⌽{y ← ⍵ ⋄ y[i] ← y[i]+y[⍺] ⋄ y}⍣(⍳i)⊢⍵}⍣(⍳≢x)⊢x}",
)
"""Loops whose index is a size of what they compute."""
COUNTS = ("0", "1", "6", "7", "+/x>1", "3+≢x", "9⌊0⌈⌊/9,⌊|x")


@pytest.fixture(autouse=True, params=["always", "auto"])
def at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code is compiled when it is first asked for; regions are always chosen, or where the cost model says so."""
    monkeypatch.setenv("RHO_KERNELS", request.param)
    monkeypatch.setattr(tiering, "COMPILE_NANOSECONDS", 1.0)
    monkeypatch.setattr(tiering, "WORTH_COMPILING", 1.0)


def drawn(rng: random.Random) -> str:
    state = rng.choice(STATES)
    body, count = rng.choice(BODIES[state]), rng.choice(COUNTS)
    many = f"({count} ⋄ {{{rng.choice(ENDS[state])}}})" if rng.random() < 0.7 else f"({count})"
    return f"{{x ← ⍵ ⋄ {{{body}}}⍣{many}{state}}}"


def parts(result: Any) -> list[Any]:
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,))]


def check(text: str, rng: random.Random) -> None:
    function = rho.compile(text)
    data = np.random.default_rng(rng.getrandbits(32))
    for dtype in rng.sample([np.float64, np.float32, np.int64, np.int32], 2):
        for size in (1, 5, rng.randrange(2, 40)):
            operands = [data.integers(-2, 4, size).astype(dtype) for _ in range(4)]
            try:
                with kernels("off"):
                    wanted = [parts(rho.compile(text)(x)) for x in operands]
            except rho.RhoError as refused:
                assert size == 1 or dtype is not np.float64, (text, refused)
                continue
            for _ in range(3):
                for x, expected in zip(operands, wanted, strict=True):
                    for got, part in zip(parts(function(x)), expected, strict=True):
                        np.testing.assert_array_equal(got, part, err_msg=f"{text} {x!r}", strict=True)


@pytest.mark.parametrize("number", range(repeats(60)))
def test_early_ends_and_counts_of_a_run(number: int) -> None:
    rng = drawing(number)
    check(drawn(rng), rng)


@pytest.mark.parametrize("text", share(INDEXED))
def test_an_index_that_is_a_size(text: str) -> None:
    check(text, drawing(text))


@pytest.mark.parametrize("text", [
    "{{(0.5×⍵)+0.25×(1⌽⍵)+¯1⌽⍵}⍣(90 ⋄ {0.01>⌈/|⍺-⍵})⊢⍵}", "{{⍵+1}⍣(+/⍵>1)⊢0}", "{{1⌽⍵}⍣(+/⍵>1)⊢⍵}",
    "{x ← ⍵ ⋄ {x+¯1⌽⍵}⍣(+/x>1 ⋄ {20<+/⍺})⊢⍵}", "{x ← ⍵ ⋄ {y ← ⍵ ⋄ y[⍺] ← +/⍺↑y ⋄ y}⍣(⍳≢x)⊢x}", INDEXED[2], INDEXED[3],
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


@pytest.mark.parametrize("text", ["{x ← ⍵ ⋄ {⍵+x[⌊x[⍺]]++/⍺↑x}⍣(⍳≢x)⊢0}", "{x ← ⍵ ⋄ {⍵+x[⌊x[⍺]]+≢∪⍋⍺↑x}⍣(⍳≢x)⊢0}"])
def test_a_failure_names_its_iteration(text: str) -> None:
    function, messages = rho.compile(text), set[str]()
    for repeat in range(12):
        with kernels("off" if not repeat else "auto"), pytest.raises(rho.RhoError) as failed:
            (rho.compile(text) if not repeat else function)(np.array([0.0, 1, 7, 1]))
        messages.add(str(failed.value))
        function(np.array([0.0, 1, 2, 1]))
    assert len(messages) == 1
    assert "in iteration 2" in messages.pop()
