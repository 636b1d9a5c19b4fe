"""x to the power y: within its bound, exact where it can be, IEEE at the ends, the same on every tier."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest

from rho.backend.cpu.numpy_scalars import defined_function
from rho.backend.cpu.views import DTYPES
from rho.backend.reference.scalars import power as exactly
from rho.backend.scalar import coefficient_tables
from rho.tests.kernels.phases import apply, both, phase, projection, read, same_bits
from rho.typechecker.elements import Kind

ENDS = [0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 1.5, -1.5, 7.25, -7.25, math.inf, -math.inf, math.nan, 5e-324, -5e-324,
        1e308, -1e308, 2.0**52, 2.0**53, -(2.0**53), 2.0**53 - 1, 2.0**52 + 1, 1 / 3, -1 / 3, 1e-300, 2.0**64, 2.0**65, -1074,
        -1075]  # fmt: skip


def power(x: Any, y: Any, kind: Kind = Kind.F64) -> Any:
    """Never NumPy's."""
    return defined_function("pow", kind, 0, lambda *args: pytest.fail("not compiled"))(x, y)


def bases_and_exponents() -> tuple[Any, Any]:
    rng, count = np.random.default_rng(1), 600
    pairs = [(rng.uniform(0.01, 20, count), rng.uniform(-5, 5, count)),
             (10 ** rng.uniform(-300, 300, count), rng.uniform(-1, 1, count)),
             (rng.uniform(0.9, 1.1, count), rng.uniform(-7000, 7000, count)),
             (1 + rng.uniform(-1e-6, 1e-6, count), 10 ** rng.uniform(0, 8.8, count)),
             (rng.uniform(0, 2, count) * 2.0**-1040, rng.uniform(-1, 1.02, count))]  # fmt: skip
    return np.concatenate([x for x, _ in pairs]), np.concatenate([y for _, y in pairs])


def test_error_bound() -> None:
    x, y = bases_and_exponents()
    with mpmath.workprec(160):
        for a, b, got in zip(x.tolist(), y.tolist(), power(x, y).tolist(), strict=True):
            true = mpmath.mpf(a) ** mpmath.mpf(b)
            if math.isfinite(got):
                assert abs(mpmath.mpf(got) - true) <= 0.8 * math.ulp(float(true)), (a, b)


def test_error_bound_of_the_narrow_kind() -> None:
    rng = np.random.default_rng(2)
    x, y = (rng.uniform(*ends, 100_000).astype(np.float32) for ends in ((0.001, 30), (-20, 20)))
    true = power(x.astype(float), y.astype(float))
    with np.errstate(over="ignore"):
        unit = np.spacing(true.astype(np.float32)).astype(float)
    error = np.abs(power(x, y, Kind.F32).astype(float) - true) / unit
    assert error[np.isfinite(error)].max() < 0.6


def test_powers_that_are_numbers_are_exact() -> None:
    pairs = [(a, b) for a, b in itertools.product(range(-60, 61), range(40)) if abs(a) ** b < 2**53]
    x, y = (np.array(column, float) for column in zip(*pairs, strict=True))
    assert power(x, y).tolist() == [float(a**b) for a, b in pairs]
    assert power(np.array([2.0]), np.array([-1074.0])) == 5e-324


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32])
def test_ends(kind: Kind) -> None:
    """Those of the reference, within a unit where they are no ends."""
    with np.errstate(all="ignore"):
        some = np.array(ENDS).astype(DTYPES[kind])
    x, y = (column.ravel() for column in np.meshgrid(some, some))
    wanted = [exactly(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    with np.errstate(all="ignore"):
        want = np.array(wanted).astype(DTYPES[kind])
        got = power(x, y, kind)
        near = np.abs(got - want) <= np.spacing(np.abs(want))
    assert (near | (got == want) | np.isnan(got) & np.isnan(want)).all()
    assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32])
def test_tiers_agree(kind: Kind) -> None:
    with np.errstate(over="ignore", under="ignore"):
        x, y = (column.astype(DTYPES[kind]) for column in bases_and_exponents())
    x[::5], y[::7] = -x[::5], np.round(y[::7])
    for count in (1, 5, len(x)):
        one = projection([count], [count], [0])
        made = phase([count], [one, one], [read(0, kind), read(1, kind), apply("pow", (0, 1), kind)], [2])
        for got, want in both(made, [x[:count], y[:count]]):
            assert same_bits(got, want)


def test_tables() -> None:
    inverse, high, low = (coefficient_tables.entries(name) for name in ("inverse", "log_high", "log_low"))
    with mpmath.workprec(200):
        for place, (c, a, b) in enumerate(zip(inverse, high, low, strict=True)):
            assert (c * 128).is_integer() and (a * 2.0**40).is_integer()
            assert float(-mpmath.log(mpmath.mpf(c)) - mpmath.mpf(a)) == b
            ends = np.array([coefficient_tables.INTERVALS + (place << 45),
                coefficient_tables.INTERVALS + (place + 1 << 45) - 1]).view(float)
            for end in ends.tolist():  # the product less 1 is a number of binary64
                r = mpmath.mpf(end) * mpmath.mpf(c) - 1
                assert abs(r) < 0.008 and mpmath.mpf(float(r)) == r
