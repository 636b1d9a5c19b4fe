"""Floats to constant powers are the same in every tier: alone, in loops, in reductions and chains along rows."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import rho
from rho.tests.harness.share import SEED, drawing

EXPONENTS = ("2", "3", "4", "0.5", "¯1", "5", "6", "7", "¯0.5", "8", "2.5", "0", "1")
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
        assert np.array_equal(native(x), expected, equal_nan=True), text


POWERS = ("2", "3", "4", "5", "6", "7", "8", "¯1", "0.5", "¯0.5")
UNITS = {"2": 1, "3": 2, "4": 3, "5": 4, "0.5": 0.5, "¯0.5": 1.5}


@pytest.mark.parametrize("exponent", POWERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_they_are_within_the_units_that_are_promised(exponent: str, dtype: type) -> None:
    draw = drawing("powers", exponent, dtype.__name__)
    power = float(exponent.replace("¯", "-"))
    limits = np.finfo(dtype)
    widest = math.log(float(limits.max)) / max(1.0, abs(power))
    items = [math.exp(draw.uniform(-1.02, 0.98) * widest) for _ in range(300)] + [draw.uniform(0.5, 2) for _ in range(300)]
    x = np.array(items, dtype)
    if power == int(power):
        x[::3] *= -1
    result = rho.compile("{⍵*" + exponent + "}")(x)
    with mpmath.workprec(400):
        for item, value in zip(x.tolist(), result.tolist(), strict=True):
            exact = mpmath.mpf(item) ** power
            if abs(exact) > float(limits.max) * (1 - 3 * float(limits.eps)):
                continue
            unit = float(np.spacing(dtype(min(abs(exact), float(limits.max) * (1 - float(limits.eps))))))
            unit = max(unit, float(limits.smallest_subnormal))
            assert abs(mpmath.mpf(value) - exact) <= UNITS.get(exponent, 0.8) * unit, (item, value, SEED)


def pow_of_c(x: float, y: float) -> float:
    """IEEE 754's power, without Python's errors."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return math.copysign(math.inf, x) if y % 2 == 1 else math.inf
    except ValueError:
        return math.nan if x else math.copysign(math.inf, x) if y % 2 == 1 else math.inf


@pytest.mark.parametrize("exponent", POWERS)
def test_special_values_are_those_of_the_power_itself(exponent: str) -> None:
    power = float(exponent.replace("¯", "-"))
    items = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 5e-324, -5e-324]
    result = rho.compile("{⍵*" + exponent + "}")(np.array(items))
    assert [str(value) for value in result.tolist()] == [str(pow_of_c(item, power)) for item in items]


@pytest.mark.parametrize("exponent", ["2", "3", "4", "5", "6", "7", "8"])
def test_whole_numbers_to_whole_powers_are_exact(exponent: str) -> None:
    most = int((2**53) ** (1 / int(exponent)))
    items = sorted({*range(-20, 21), most, -most, most - 1})
    items = [item for item in items if abs(item) <= most]
    result = rho.compile("{⍵*" + exponent + "}")(np.array(items, float))
    assert result.tolist() == [float(item ** int(exponent)) for item in items]
