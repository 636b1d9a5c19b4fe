"""x to the power y: the exponential of y times a logarithm that has half as many digits again.

The logarithm is in two parts, `high + low`: of x = 2ᵏ z with z near 1/c, c of few bits from a table, z c - 1 = r is exact, and
ln x = k ln 2 - ln c + ln(1 + r), of which everything but r³ and beyond is kept with what was rounded away.  The exponential keeps
what its sum rounds away.  What is wrong before the last rounding is less than a third of a unit: exact powers are found.

Neighbours: `elementary` (exp and ln, whose steps these are), `tables`, `table`.
"""

from __future__ import annotations

from typing import Any, Final

from .elementary import (
    BELOW,
    BIAS,
    INFINITY,
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    MANTISSA,
    NAN,
    SHIFT,
    WHOLE,
    WHOLE_BITS,
    halves,
    parts_of_normal,
    polynomial,
)
from .machine import Machine
from .tables import INTERVALS

_LEAST_NORMAL: Final = 2.0**-1022
_ONE_BITS: Final = BIAS << 52
_FAR: Final = 2.0**64
"""Exponents beyond this are as good as this: any base but 1 overflows or vanishes."""


def _logarithm(x: Any, m: Machine, less: Any = None) -> tuple[Any, Any]:
    """ln of a normal positive number, less a multiple of ln 2, in two parts."""
    above = m.bits(x) + (_ONE_BITS - INTERVALS)
    k = m.float_of((above >> 52) + WHOLE_BITS) - (WHOLE + BIAS)
    k = k if less is None else k - less
    rest = above & MANTISSA
    place = rest >> 45
    r = m.fma(m.float_of(rest + INTERVALS), m.lookup("inverse", place, 0), -1.0)
    first = m.fma(k, LN2_HIGH, m.lookup("log_high", place, 0))
    total = first + r
    low = m.fma(k, LN2_LOW, m.lookup("log_low", place, 0)) + (r - (total - first))
    half = r * -0.5
    square = r * half
    high = total + square
    low = low + ((total - high) + square) + m.fma(half, r, -square)
    t = r * r
    p = halves(m, r, t, 0.3333333333333333, -0.2500000000000102, 0.20000000000003595, -0.16666666598813784, 0.14285714165330746,
               -0.1250144944124101, 0.1111284407235116)  # fmt: skip
    low = m.fma(t * r, p, low)
    value = high + low
    return value, (high - value) + low


def _times(y: Any, parts: tuple[Any, Any], m: Machine) -> tuple[Any, Any]:
    high, low = parts
    product = y * high
    return product, m.fma(y, low, m.fma(y, high, -product))


def _exponential(high: Any, low: Any, m: Machine) -> tuple[Any, Any]:
    """exp(high + low) less a power of two, and its exponent."""
    whole = m.fma(high, LOG2_E, SHIFT) - SHIFT
    near = m.fma(whole, -LN2_HIGH, high)
    away = m.fma(whole, LN2_LOW, -low)
    r = near - away
    t = r * r
    series = m.fma(t, halves(m, r, t, *BELOW), -away)
    one = near + 1.0
    return one + ((near - (one - 1.0)) + series), whole


def power(x: Any, y: Any, m: Machine) -> Any:
    """x to the y."""
    product, low = _times(y, _logarithm(x, m), m)
    value, whole = _exponential(product, low, m)

    def other() -> Any:
        size = m.magnitude(x)
        tiny = size < _LEAST_NORMAL
        parts = _logarithm(m.choose(tiny, size * 2.0**54, size), m, m.choose(tiny, 54.0, 0.0))
        product, low = _times(m.choose(y > _FAR, _FAR, m.choose(y < -_FAR, -_FAR, y)), parts, m)
        low = m.choose(m.magnitude(product) < 746.0, low, 0.0)
        product = m.choose(product < -746.0, -746.0, m.choose(product > 710.0, 710.0, product))
        value, whole = _exponential(product, low, m)
        half = m.bits(m.fma(whole, 0.5, SHIFT + BIAS))
        value = value * m.float_of(half << 52) * m.float_of((m.bits(whole + (SHIFT + 2 * BIAS)) - half) << 52)
        return _beside(x, y, value, m)

    usual = (x >= _LEAST_NORMAL) & (x < INFINITY) & (m.magnitude(product) < 708.0)
    return m.usually(usual, value * m.float_of(m.bits(whole + (SHIFT + BIAS)) << 52), other)


def narrow_power(x: Any, y: Any, m: Machine) -> Any:
    """The same of numbers of binary32, none of which is too small or large for binary64, with as many digits as they need."""

    def other() -> Any:
        value = _narrow(m.choose(y > _FAR, _FAR, m.choose(y < -_FAR, -_FAR, y)), m.magnitude(x), m)
        return _beside(x, y, value, m)

    usual = (x > 0.0) & (x < INFINITY) & (m.magnitude(y) < _FAR)
    return m.usually(usual, _narrow(y, x, m), other)


def _narrow(y: Any, x: Any, m: Machine) -> Any:
    """2 to the y log₂x."""
    k, f = parts_of_normal(x, 0.0, m)
    p = halves(m, f, f * f, 1.4426950408893544, -0.721347520424968, 0.4808983465855136, -0.3606737658999583, 0.2885390706811076,
               -0.24044872728079578, 0.20609526645751006, -0.1803504037487445, 0.16042523553567473, -0.14412618369012728,
               0.1291440880123326, -0.1196255760838126, 0.12612357581947362, -0.12352078815220414,
               0.06318188034523238)  # fmt: skip
    product = y * m.fma(f, p, k)
    product = m.choose(product < -200.0, -200.0, m.choose(product > 200.0, 200.0, product))
    shifted = product + (SHIFT + BIAS)
    r = product - (shifted - (SHIFT + BIAS))
    value = m.fma(r, polynomial(m, r, 0.6931472028552288, 0.24022647913690565, 0.05550332470906302, 0.009618437350618634,
                                0.001339887448077183, 0.00015353363775035228), 1.0)  # fmt: skip
    return value * m.float_of(m.bits(shifted) << 52)


def _beside(x: Any, y: Any, value: Any, m: Machine) -> Any:
    """With `value` that of |x|, where that is finite and no zero: as IEEE has the rest."""
    size, exponent = m.magnitude(x), m.magnitude(y)
    value = m.choose(size == 0.0, m.choose(y < 0.0, INFINITY, 0.0), value)
    value = m.choose(size == INFINITY, m.choose(y < 0.0, 0.0, INFINITY), value)
    has_units = exponent < WHOLE
    shifted = exponent + WHOLE
    is_whole = m.choose(has_units, shifted - WHOLE, exponent) == exponent
    is_odd = ((m.bits(m.choose(has_units, shifted, exponent)) & 1) == 1) & (exponent < 2 * WHOLE) & is_whole
    value = m.choose(is_odd & (m.bits(x) < 0), -value, value)
    value = m.choose((x < 0.0) & (x > -INFINITY), m.choose(is_whole, value, NAN), value)
    value = m.choose(x == x, m.choose(y == y, value, y), x)
    return m.choose(y == 0.0, 1.0, m.choose(x == 1.0, 1.0, value))


def root(degree: Any, x: Any, m: Machine) -> Any:
    """x to the power 1÷degree; the square root is exact."""
    value = power(x, 1.0 / degree, m)
    return m.usually(m.magnitude(degree - 2.0) > 0.0, value, lambda: m.choose(degree == 2.0, m.root(x), value))
