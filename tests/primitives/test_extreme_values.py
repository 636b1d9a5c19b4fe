"""Formulas whose intermediate values might overflow give a result that fits: library functions, roots of squares, calendars."""

from __future__ import annotations

import cmath
import math
from datetime import date, timedelta

import numpy as np
import pytest
from share import drawing

import rho

SCALES = (1e-200, 1e-20, 1.0, 1e20, 1e160, 1e200, 1e300)
CYCLE = 146_097  # days of 400 years


@pytest.mark.parametrize("scale", SCALES)
def test_norms_deviations_and_correlations_of_any_size(scale: float) -> None:
    norm, distance, unit = (rho.compile(f"use linalg\nlinalg.{name}") for name in ("norm", "distance", "unit"))
    deviation, correlation = rho.compile("use stats\nstats.deviation"), rho.compile("use stats\nstats.correlation")
    random = np.random.default_rng(drawing(scale).getrandbits(32))
    for count in (2, 7, 300):
        x, y = random.normal(size=count), random.normal(size=count)
        length = float(np.linalg.norm(x))
        assert math.isclose(norm(x * scale), length * scale, rel_tol=1e-12)
        assert math.isclose(distance(x * scale, y * scale), float(np.linalg.norm(x - y)) * scale, rel_tol=1e-12)
        np.testing.assert_allclose(unit(x * scale), x / length, rtol=1e-12)
        assert math.isclose(deviation(x * scale), float(np.std(x)) * scale, rel_tol=1e-9)
        assert math.isclose(correlation(x * scale, y / scale), float(np.corrcoef(x, y)[0, 1]), rel_tol=1e-9, abs_tol=1e-9)


def test_what_is_zero_infinite_or_not_a_number_stays_so() -> None:
    norm, deviation = rho.compile("use linalg\nlinalg.norm"), rho.compile("use stats\nstats.deviation")
    assert norm(np.zeros(0)) == norm(np.zeros(3)) == deviation(np.full(3, 1e300)) == 0
    assert norm(np.array([3.0, -np.inf])) == np.inf and np.isnan(norm(np.array([3.0, np.nan])))
    assert np.isnan(deviation(np.array([3.0, np.nan]))) and np.isnan(deviation(np.array([3.0, np.inf])))


def test_the_median_is_nan_of_nan_and_does_not_overflow() -> None:
    median = rho.compile("use stats\nstats.median")
    assert np.isnan(median([1.0, 2.0, np.nan])) and np.isnan(median([np.nan]))
    assert median([1e308, 1.5e308]) == 1.25e308 and median([5e-324]) == 5e-324 and median([-np.inf, np.inf, 4.0]) == 4
    assert median([np.inf, np.inf]) == np.inf and np.isnan(median([-np.inf, np.inf]))


@pytest.mark.parametrize("mode", ["off", "always"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_roots_of_squares_and_one(mode: str, dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", mode)
    large = np.finfo(dtype).max
    x = np.array([0, 0.5, 1, 3, 2.0**27, 2.0**28, large / 4, large, np.inf], dtype)
    x = np.concatenate([x, -x])
    with np.errstate(all="ignore"):
        expected = np.hypot(x.astype(np.float64), 1)
        np.testing.assert_allclose(np.asarray(rho.compile("{4○⍵}")(x)), expected.astype(dtype), rtol=1e-6)
        below = np.asarray(rho.compile("{¯4○⍵}")(x))
    assert np.isnan(below[np.abs(x) < 1]).all() and (below[np.abs(x) > 2.0**26] == x[np.abs(x) > 2.0**26]).all()


def test_roots_of_complex_squares() -> None:
    near = np.array([2 + 1j, -2 + 3j, 1 - 1j, 0.25j], complex)
    for parameter, constant, factor in ((0, 1, -1), (4, 1, 1), (8, -1, -1)):
        function = rho.compile(f"{{{parameter}○⍵}}")
        np.testing.assert_allclose(function(near), [cmath.sqrt(constant + factor * z * z) for z in near], rtol=1e-14)
        far = near * 1e250  # the 1 is nothing beside: z or 0J1×z, of the half plane that roots lie in
        roots = np.asarray(function(far))
        np.testing.assert_allclose(roots / 1e250, [cmath.sqrt(factor * z * z) for z in near], rtol=1e-14, atol=1e-14)


def test_calendars_reach_to_the_ends_of_the_integers() -> None:
    year, month, day = (rho.compile(f"use dates\ndates.{name}") for name in ("year", "month", "day"))
    random = drawing("days")
    for _ in range(50):
        near = random.randrange(-700_000, 2_900_000)
        cycles = random.choice([0, random.randrange(-(2**45), 2**45)])
        days = np.array([near + cycles * CYCLE]).astype("M8[D]")
        expected = date(1970, 1, 1) + timedelta(near)
        assert (year(days)[0], month(days)[0], day(days)[0]) == (expected.year + 400 * cycles, expected.month, expected.day)
    first, last = -(2**63) + 1, 2**63 - 1
    assert year(np.array([first]).astype("M8[D]"))[0] < 0 < year(np.array([last]).astype("M8[D]"))[0]
