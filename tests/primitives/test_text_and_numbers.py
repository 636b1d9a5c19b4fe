"""Digits of numbers as text, which are read again (text.md: `⎕text ⎕number ⎕date` on every tier)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rho
from rho.backend.io.cells import number_in
from rho.backend.vm.values import fixed_text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (1.005, 2, "1.00"),
        (-0.004, 2, "0.00"),
        (-0.006, 2, "¯0.01"),
        (999999999999999.9, 1, "999999999999999.9"),
        (1e15, 1, "1.0E15"),
        (-1.5e300, 2, "¯1.50E300"),
        (math.inf, 2, "∞"),
        (-math.inf, 0, "¯∞"),
        (math.nan, 5, "NaN"),
        (-7, 2, "¯7.00"),
        (7, 0, "7"),
        (0.5, 0, "0"),
        (1.5, 0, "2"),
    ],
)
def test_digits_after_the_point(value: float, digits: int, text: str) -> None:
    assert fixed_text(value, digits) == text


def test_what_is_written_is_read_again() -> None:
    values = np.random.default_rng(3).standard_normal(200) * 10.0 ** np.random.default_rng(4).integers(-9, 14, 200)
    assert all(abs(number_in(fixed_text(value, 12)) - value) <= 5e-13 + abs(value) * 1e-15 for value in values.tolist())


def test_ten_thousand_rows() -> None:
    x = np.round(np.random.default_rng(5).standard_normal(10_000) * 1000, 2)
    assert rho.compile("{⎕number 2⎕text ⍵}")(x).tolist() == x.tolist()
