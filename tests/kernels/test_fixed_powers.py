"""Floats to constant powers are the same in every tier: alone, in loops, in reductions and chains along rows."""

from __future__ import annotations

import numpy as np
import pytest

import rho

EXPONENTS = ("2", "3", "4", "0.5", "¯1", "5", "2.5", "0", "1")
FORMS = (
    "{⍵*E}",
    "{{⍵*E}⍣2⊢⍵}",
    "{{⍵-0.1×⍵*E}⍣3⊢⍵}",
    "{+/⍵*E}",
    "{{(+/⍵*E)÷1+⍵*E}⍣2⊢⍵}",
    "{{⍵÷1+(+/⍵*E),+/⍵*2}⍤1⊢3 2⍴⍵}",
    "{⌈/1+⍵*E}",
    "{{(⍵*E)+1⌽⍵*3}⍣2⊢⍵}",
)


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("form", FORMS)
def test_all_tiers_agree(form: str, exponent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.array([0.61, 0.616, 0.03, 1.5, 0.2, 0.9])
    text = form.replace("E", exponent)
    monkeypatch.setenv("RHO_KERNELS", "off")
    expected = rho.compile(text)(x)
    monkeypatch.setenv("RHO_KERNELS", "always")
    native = rho.compile(text)
    for _ in range(5):
        assert np.array_equal(native(x), expected), text
