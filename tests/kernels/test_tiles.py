"""Loops over rotations, several turns at a time in tiles of rows: the bits of NumPy's turns, whatever the tiles and threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rho import backend
from rho.backend.cpu import parallel_for, regions
from rho.backend.jit import tiering
from rho.backend.schedule.plan.plan import Device
from rho.tests.harness.tiers import checked
from rho.tests.kernels.phases import same_bits

DECLARED = (
    "input A : f64[n m]\ninput F : f32[n m]\ninput B : bool[n m]\ninput I : i32[n m]\ninput U : u8[n m]\n"
    "input k : i64\ninput v : f64[m]\n"
)
TURNS = """{⍵+0.1×((1⊖⍵)+(¯1⊖⍵)+(1⌽⍵)+¯2⌽⍵)-4×⍵}⍣7 ⊢ A
{0.25×((1⊖⍵)+(¯1⊖⍵)+(1⌽⍵)+¯1⌽⍵)}⍣12 ⊢ F
{s ← (¯1⌽⍵)+⍵+1⌽⍵ ⋄ n ← (¯1⊖s)+s+1⊖s ⋄ (n=3)∨⍵∧n=4}⍣9 ⊢ B
{A+0.5×3⊖⍵}⍣5 ⊢ 2×A
{(0.5×¯2⊖⍵)+⍤1 ⊢ v}⍣6 ⊢ A
{255|⍵+1⌽¯3⊖⍵}⍣5 ⊢ i64 U
{(k⊖⍵)-I}⍣4 ⊢ I
{A⌈¯1⌽⍵}⍣5 ⊢ A""".splitlines()
PAIRS = ["{(a b) ← ⍵ ⋄ (b-1⌽a ⋄ a+¯1⊖b)}⍣6 ⊢ (A ⋄ A×2)", "{(a f) ← ⍵ ⋄ ((f64 1⊖f)+¯1⊖a ⋄ f×0.5)}⍣5 ⊢ (A ⋄ F)"]
SHAPES = ((64, 37), (21, 16), (40, 130), (16, 17), (33, 64))


@pytest.fixture(autouse=True)
def small_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bands of few rows, so that there are several of them."""
    monkeypatch.setattr(parallel_for, "cache_bytes", lambda: 24 << 10)
    monkeypatch.setattr(tiering, "PIECES_NANOSECONDS", 1)


def given(n: int, m: int) -> dict[str, Any]:
    rng = np.random.default_rng(n * m)
    special = rng.random((n, m))
    special[0, 0], special[n - 1, m - 1], special[n // 2, 0] = np.nan, -0.0, np.inf
    return {
        "A": special, "F": special.astype(np.float32), "B": rng.random((n, m)) < 0.4, "I": rng.integers(-9, 9, (n, m), np.int32),
        "U": rng.integers(0, 255, (n, m)).astype(np.uint8), "k": np.int64(2), "v": rng.random(m),
    }  # fmt: skip


def results(text: str, data: dict[str, Any], threads: int) -> list[Any]:
    core = checked(DECLARED + text)
    assert core is not None, text
    bound = backend.load(core, data, {})
    made = backend.execute(backend.plan(bound, Device("cpu0", "cpu", threads)), bound, data).outputs
    return [np.asarray(shown.value) for shown in made.values()]


@pytest.mark.parametrize(
    "text", [*(f"output r ← {turn}" for turn in TURNS), *(f"(p q) ← {pair}\noutput p\noutput q" for pair in PAIRS)]
)
def test_bits(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int] = []
    original = regions.run_tiles
    monkeypatch.setattr(regions, "run_tiles", lambda *args: (ran.append(args[4].bands), original(*args))[1])
    for n, m in SHAPES:
        data = given(n, m)
        monkeypatch.setenv(tiering.SWITCH, "off")
        expected = results(text, data, 1)
        monkeypatch.setenv(tiering.SWITCH, "always")
        for threads in (1, 2, 3):
            for made, wanted in zip(results(text, data, threads), expected, strict=True):
                assert made.dtype == wanted.dtype
                assert same_bits(made, wanted), (n, m, threads)
    assert ran or "k⊖" in text  # by how much is data


def test_operands_that_lie_anyhow(monkeypatch: pytest.MonkeyPatch) -> None:
    data = given(40, 33)
    data["A"] = np.asfortranarray(data["A"])
    monkeypatch.setenv(tiering.SWITCH, "off")
    (expected,) = results(f"output r ← {TURNS[0]}", data, 1)
    monkeypatch.setenv(tiering.SWITCH, "always")
    (made,) = results(f"output r ← {TURNS[0]}", data, 2)
    assert same_bits(made, expected)
