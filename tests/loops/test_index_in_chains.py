"""A body's phases that run row by row together see the index of the turn, not of the first one."""

from __future__ import annotations

import numpy as np
import pytest

import rho

PROGRAM = (
    "{n ← ≢⍵ ⋄ (x y) ← {i ← ⍺ ⋄ (x y) ← ⍵ ⋄ x ← {z ← ⍵ ⋄ z[⍺] ← 1000|z[⍺]+z[0] ⋄ z}⍣(⍳n) ⊢ x ⋄ x[0] ← 1000|(⌈/y)-x[i] ⋄ (x ⋄ y)}"
    "⍣(⍳n) ⊢ (⍺ ⋄ ⍵) ⋄ x}"
)


@pytest.mark.parametrize("mode", ["off", "auto", "always"])
@pytest.mark.parametrize("n", [1, 31, 32, 40])
def test_a_reduction_beside_the_index(n: int, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", mode)
    random = np.random.default_rng(3)
    x, y = random.integers(0, 500, n), random.integers(0, 500, n)
    expected = x.copy()
    for i in range(n):
        for k in range(n):
            expected[k] = (expected[k] + expected[0]) % 1000
        expected[0] = (y.max() - expected[i]) % 1000
    function = rho.compile(PROGRAM)
    for _ in range(3):
        assert np.array_equal(function(x, y), expected)
