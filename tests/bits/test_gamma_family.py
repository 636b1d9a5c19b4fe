"""The gamma family within the bounds that docs/kernels.md states, against mpmath; the plan has the reference's bits."""

from __future__ import annotations

import math
from collections.abc import Iterator

import mpmath
import numpy as np
import pytest
from share import drawing, repeats

from rho.backend.scalar.special import binomial, digamma, factorial, lgamma
from rho.tests.harness.tiers import MODES, accepted, arrays, outcome

EPSILON = 2.0**-52
DRAWS = repeats(4000)


def positive(seed: str) -> Iterator[float]:
    draw = drawing(seed)
    for zero in (1.0, 2.0):  # of lgamma
        for power in range(1, 53):
            yield from (zero + 2.0**-power, zero - 2.0**-power)
    for _ in range(DRAWS):
        yield draw.uniform(0, 4)
        yield draw.uniform(0, 171)
        yield math.ldexp(draw.random(), draw.randint(-60, 6))


def negative(seed: str) -> Iterator[float]:
    draw = drawing(seed)
    for _ in range(DRAWS):
        x = draw.uniform(-30, 0)
        yield x
        yield round(x) + math.copysign(2.0 ** -draw.randint(2, 40), x)


def units(value: float, exact: mpmath.mpf, least: float = 0.0) -> float:
    """The error in units of the last place of the exact value, or of `least` where that is larger."""
    size = max(abs(float(exact)), least)
    return float(abs(mpmath.mpf(value) - exact)) / math.ulp(size)


@pytest.fixture(autouse=True)
def precise() -> Iterator[None]:
    with mpmath.workdps(60):
        yield


def test_lgamma_of_positive_numbers() -> None:
    worst = max((units(lgamma(x), mpmath.loggamma(mpmath.mpf(x))), x) for x in [*positive("lgamma"), 1e3, 1e10, 1e300] if x > 0)
    assert worst[0] <= 10, worst


def test_lgamma_of_negative_numbers() -> None:
    def exact(x: float) -> mpmath.mpf:
        return mpmath.log(abs(mpmath.gamma(mpmath.mpf(x))))

    def least(x: float) -> float:
        return max(1.0, abs(float(mpmath.loggamma(1 - mpmath.mpf(x)))))

    worst = max((units(lgamma(x), exact(x), least(x)), x) for x in negative("lgamma") if x != math.floor(x))
    assert worst[0] <= 8, worst


def test_factorial() -> None:
    numbers = [x for x in [*positive("!"), *negative("!"), 127.58851162026234] if x > -20 and x < 170.6 and not x < 0 == x % 1]
    worst = max((units(factorial(x), mpmath.gamma(1 + mpmath.mpf(x))), x) for x in numbers if x > 0 or x != math.floor(x))
    assert worst[0] <= 10, worst


def test_digamma() -> None:
    numbers = [x for x in [*positive("digamma"), *negative("digamma"), -1e-20, 1e-300] if x > 0 or x != math.floor(x)]
    worst = max((units(digamma(x), mpmath.digamma(mpmath.mpf(x)), 1.0), x) for x in numbers if x != 0)
    assert worst[0] <= 12, worst


def test_binomial() -> None:
    draw = drawing("binomial")
    worst = (0.0, 0.0, 0.0)
    for _ in range(DRAWS):
        x, y = draw.choice([draw.uniform(0, 40), float(draw.randint(0, 40))]), draw.uniform(0, 80)
        exact = mpmath.binomial(mpmath.mpf(y), mpmath.mpf(x))
        if y - x > 1e-3 or y - x > -0.9:
            worst = max(worst, (units(binomial(x, y), exact), x, y))
    assert worst[0] <= 512, worst


def test_the_zeros_of_lgamma_keep_their_digits() -> None:
    """As reported: 12 digits were lost at 1+1e¯12, all of them at 2+2e¯16."""
    for x in (1 + 1e-12, 2 + 4.5e-16, 1 - 1e-12, 2 - 1e-10, 1.0, 2.0):
        exact = mpmath.loggamma(mpmath.mpf(x))
        assert abs(mpmath.mpf(lgamma(x)) - exact) <= 4 * EPSILON * abs(exact)


@pytest.mark.parametrize("kind", ["f64", "f32"])
@pytest.mark.parametrize("function", ["⎕lgamma x", "⎕digamma x", "!x", "x!7.5", "2.5!x"])
def test_every_tier_has_the_same_bits(function: str, kind: str) -> None:
    numbers = [*positive("bits"), *negative("bits"), 0.0, -0.0, math.inf, -math.inf, math.nan, -3.0, 170.6, 1e300][-600:]
    dtype = np.float64 if kind == "f64" else np.float32
    with np.errstate(over="ignore"):
        inputs = {"x": np.array(numbers).astype(dtype)}
    core = accepted(f"input x : {kind}[n]\noutput r ← {function}")
    (expected,) = arrays(outcome(core, inputs, "reference"))
    for mode in MODES:
        (result,) = arrays(outcome(core, inputs, mode))
        assert result.tobytes() == expected.tobytes() or np.array_equal(result, expected, equal_nan=True), mode
