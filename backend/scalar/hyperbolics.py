"""The hyperbolic functions and their inverses, and logarithms beside the natural one, of binary64.

sinh and expm1 are of exp(|x|) - 1, which loses nothing near 0.  The inverses are logarithms of 1 + a, where a is in two
parts.  Logarithms to the bases 2 and 10 add exact multiples of the exponent: powers of the base have exact ones.

Largest errors found against mpmath are asserted in tests/kernels/test_mathematics.py: 2 ulp.

Neighbours: `elementary` (exp and ln, whose steps these are; tanh), `table` (names these).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .elementary import (
    ABOVE,
    BELOW,
    BIAS,
    INFINITY,
    LEAST_NORMAL,
    LOG2_E,
    NAN,
    SHIFT,
    exp,
    ln,
    log_of_normal,
    log_series,
    parts_of_normal,
    power_series,
)
from .machine import Machine

_FAR: Final = 2.0**28
"""Beside numbers beyond this 1 is nothing, after a square root."""


# ------------------------------------------------------------------------------------- exponentials


def _power_less_one(x: Any, m: Machine) -> Any:
    """exp(x) - 1 for |x| below 708."""
    shifted = m.fma(x, LOG2_E, -0.25) + (SHIFT + BIAS)
    power = m.float_of(m.bits(shifted) << 52)
    return m.fma(power, power_series(x, shifted - (SHIFT + BIAS), ABOVE, m), power - 1.0)


def _half_power(x: Any, m: Machine) -> Any:
    """exp(x) ÷ 2 of a large x, which may be finite where exp(x) is not."""
    near = m.choose(x > 712.0, 712.0, x)
    shifted = m.fma(near, LOG2_E, SHIFT + 2 * BIAS - 1)
    y = power_series(near, shifted - (SHIFT + 2 * BIAS - 1), BELOW, m) + 1.0
    half = m.bits(m.fma(near, LOG2_E / 2, SHIFT + BIAS))
    return y * m.float_of(half << 52) * m.float_of((m.bits(shifted) - half) << 52)


def expm1(x: Any, m: Machine) -> Any:
    """e to the x, less 1."""

    def other() -> Any:
        return m.choose(x < 0.0, -1.0, exp(x, m))

    size = m.magnitude(x)
    value = m.usually(size < 700.0, _power_less_one(m.choose(x < -700.0, -700.0, x), m), other)
    return m.choose(x == 0.0, x, value)


def sinh(x: Any, m: Machine) -> Any:
    """The hyperbolic sine: (e + e÷(e+1)) ÷ 2 with e = exp(|x|) - 1."""
    size = m.magnitude(x)
    e = _power_less_one(size, m)
    value = m.usually(size < 700.0, (e / (e + 1.0) + e) * 0.5, lambda: _half_power(size, m))
    return m.signed(value, x)


def cosh(x: Any, m: Machine) -> Any:
    """The hyperbolic cosine: (y + 1÷y) ÷ 2 with y = exp |x|."""
    size = m.magnitude(x)
    shifted = m.fma(size, LOG2_E, SHIFT + BIAS)
    y = (power_series(size, shifted - (SHIFT + BIAS), BELOW, m) + 1.0) * m.float_of(m.bits(shifted) << 52)
    return m.usually(size < 700.0, m.fma(y, 0.5, 0.5 / y), lambda: _half_power(size, m))


# --------------------------------------------------------------------------------------- logarithms


def _log_beside_one(x: Any, rest: Any, m: Machine) -> Any:
    """ln(1 + x + rest) for x above -1 and not infinite; the rest is what rounding x left."""
    total = x + 1.0
    larger = m.choose(x > 1.0, x, 1.0)
    smaller = m.choose(x > 1.0, 1.0, x)
    return log_of_normal(total, 0.0, m, ((smaller - (total - larger)) + rest) / total)


def log1p(x: Any, m: Machine) -> Any:
    """ln(1 + x)."""

    def other() -> Any:
        return m.choose(x == -1.0, -INFINITY, m.choose(x < -1.0, NAN, x))

    value = m.usually((x > -1.0) & (x < INFINITY), _log_beside_one(x, 0.0, m), other)
    return m.choose(x == 0.0, x, value)


def asinh(x: Any, m: Machine) -> Any:
    """The inverse of sinh: ln(1 + a) with a = |x| + x² ÷ (1 + √1+x²)."""
    size = m.magnitude(x)
    more = size * size / (m.root(m.fma(size, size, 1.0)) + 1.0)
    a = size + more
    value = m.usually(size < _FAR, _log_beside_one(a, more - (a - size), m), lambda: _log_of_double(size, m))
    return m.signed(value, x)


def _log_of_double(x: Any, m: Machine) -> Any:
    """ln 2x of a large x."""
    return m.choose(x < INFINITY, log_of_normal(x, -1.0, m), x)


def acosh(x: Any, m: Machine) -> Any:
    """The inverse of cosh: ln(1 + a) with a = t + √2t+t² and t = x - 1."""
    t = x - 1.0
    square = m.fma(t, t, t + t)
    root = m.root(square)
    a = root + t
    rest = t - (a - root)
    value = m.usually(x < _FAR, _log_beside_one(a, rest, m), lambda: _log_of_double(x, m))
    return m.choose(x < 1.0, NAN, value)


def atanh(x: Any, m: Machine) -> Any:
    """The inverse of tanh: half of ln(1 + a) with a = 2|x| ÷ 1-|x|."""
    size = m.magnitude(x)
    under = 1.0 - size
    rounded = (1.0 - under) - size
    y = 1.0 / under
    double = size + size
    a = double * y
    rest = m.fma(a, -rounded, m.fma(-a, under, double)) * y

    def other() -> Any:
        return m.choose(size == 1.0, INFINITY, m.choose(size > 1.0, NAN, x))

    return m.signed(m.usually(size < 1.0, _log_beside_one(a, rest, m) * 0.5, other), x)


_TWO: Final = (1.4426950408889634, 2.0355273740931033e-17, 1.0, 0.0)
_TEN: Final = (0.4342944819032518, 1.098319650216765e-17, 0.301029995663157, 8.241712586023572e-13)
"""The logarithm of e in two parts, and that of 2, the first of few digits."""


def _to_base(x: Any, base: tuple[float, float, float, float], m: Machine) -> Any:
    e, e_low, two, two_low = base

    def of_normal(x: Any, less: float) -> Any:
        k, f = parts_of_normal(x, less, m)
        first = f * e
        high = k * two
        total = high + first
        series = f * f * m.fma(f, log_series(f, f * f, m), -0.5)
        low = m.fma(series, e, m.fma(f, e_low, m.fma(f, e, -first)))
        return (m.fma(k, two_low, low) + (first - (total - high))) + total

    return _with_ends(x, of_normal, m)


def _with_ends(x: Any, of_normal: Callable[[Any, float], Any], m: Machine) -> Any:
    """A logarithm of any number by that of a normal one less a number of times that of 2."""

    def other() -> Any:
        value = of_normal(m.choose(x < LEAST_NORMAL, x * 2.0**54, x), 54.0)
        value = m.choose(x == 0.0, -INFINITY, value)
        value = m.choose(x < 0.0, NAN, value)
        return m.choose(m.magnitude(x) < INFINITY, value, m.choose(x < 0.0, NAN, x))

    return m.usually((x >= LEAST_NORMAL) & (x < INFINITY), of_normal(x, 0.0), other)


def log2(x: Any, m: Machine) -> Any:
    """The logarithm to the base 2."""
    return _to_base(x, _TWO, m)


def log10(x: Any, m: Machine) -> Any:
    """The logarithm to the base 10."""
    return _to_base(x, _TEN, m)


def log(base: Any, x: Any, m: Machine) -> Any:
    """The logarithm to any base: ln x ÷ ln base, and those of the bases 2 and 10."""
    quotient = ln(x, m) / ln(base, m)
    has_own = (base - 2.0) * (base - 10.0)

    def other() -> Any:
        return m.choose(base == 2.0, log2(x, m), m.choose(base == 10.0, log10(x, m), quotient))

    return m.usually(m.magnitude(has_own) > 0.0, quotient, other)
