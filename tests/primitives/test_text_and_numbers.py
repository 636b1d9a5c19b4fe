"""`⎕text ⎕number ⎕date`: text from numbers and back, on every tier as the reference has it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rho
from rho.backend.run.text import fixed_text
from rho.backend.run.text_reading import number_in

from .agreement import outcome

PROGRAMS = (
    "2⎕text 3.14159",
    "0⎕text ¯1.5 2.5 1e20 ⎕nan",
    "3⎕text 2 3⍴⍳6",
    "1⎕text u8 0 255",
    "2⎕text 1=1 0",
    "30⎕text ÷3",
    "2⎕text f32 0.1 1e30",
    "0⎕text ¯9223372036854775808 9223372036854775807",
    "2⎕text ⍬",
    "2⎕text 0 3⍴1.5",
    "⎕number 2⎕text ÷1+⍳9",
    "⎕number ''",
    "⎕number 0 3⍴'a'",
    "⎕number 3 0⍴'a'",
    "⎕number ['¯3 ' ⋄ 'n/a' ⋄ '1e3' ⋄ '∞  ' ⋄ 'NaN']",
    "⎕number 2 2 2⍴'1234 5 6'",
    "{⎕number ⍵}⍤1⊢['12' ⋄ '34']",
    "+/⎕number ['1 ' ⋄ '20']",
    "⎕date ['1970-01-01' ⋄ '0001-01-01' ⋄ '9999-12-31']",
    "⎕date 0 10⍴'a'",
    "⎕date ' 2024-02-29 '",
    "7|⎕date ['2024-02-29' ⋄ '2024-03-01']",
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_tier_says_what_the_reference_does(program: str) -> None:
    result = outcome(program)
    assert result.difference is None and not result.refused


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


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("⎕number 5", "E300"),
        ("⎕date 1 2", "E300"),
        ("⎕number 'a'[0]", "E131"),
        ("2⎕text 'abc'", "E300"),
        ("2⎕text 1J2", "E300"),
        ("31⎕text 1.5", "E403"),
        ("¯1⎕text 1.5", "E403"),
        ("1.5⎕text 1.5", "E403"),
        ("(⌈/⍳3)⎕text 1.5", "E403"),
        ("⎕date '2024-02-30'", "E705"),
        ("⎕date ''", "E705"),
        ("⎕date ['2024-01-01' ⋄ '1/2/2024  ']", "E705"),
        ("⎕text 1.5", "E133"),
    ],
)
def test_refusals(program: str, code: str) -> None:
    with pytest.raises(rho.RhoError) as caught:
        rho.eval(program)
    assert [one.code for one in caught.value.diagnostics] == [code]
