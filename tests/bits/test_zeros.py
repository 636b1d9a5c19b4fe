"""The greatest and the least of zeros of both signs is a zero without a sign, in every mode, layout and length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rho

PROGRAMS = ("{⌈/⍵}", "{⌊/⍵}", "{⌈⌿⍵}", "{⌊⌿⍵}", "{⌈/-⍵}", "{⌈/,⍵}", "{⌈/⌊⌿⍵}", "{{⌈/⍵}⍤1⊢⍵}", "{⌈/⍵-⍤1 0⊢⌈/⍵}")
SHAPES = ((1, 1), (3, 5), (5, 3), (100, 2), (40, 257), (257, 40), (3, 20_000), (70_000, 3), (1, 300_000))


@pytest.mark.parametrize("mode", ["off", "on", "always"])
@pytest.mark.parametrize("text", PROGRAMS)
def test_the_greatest_of_zeros_has_no_sign(text: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", mode)
    function, draw = rho.compile(text), np.random.default_rng(3)
    for shape in SHAPES:
        for dtype in (np.float64, np.float32):
            zeros = np.where(draw.random(shape) < 0.5, 0.0, -0.0).astype(dtype)
            for order in "CF":
                given: Any = np.asarray(zeros, order=order)  # type: ignore[call-overload]
                for _ in range(2):
                    found = np.asarray(function(given))
                    assert not found.any() and not np.signbit(found).any(), (shape, dtype, order)


def test_the_reference_says_so_too() -> None:
    assert str(rho.eval("÷⌈/¯0.0 0.0")) == str(rho.eval("÷⌈/0.0 ¯0.0")) == str(rho.eval("÷⌊/0.0 ¯0.0")) == "inf"
