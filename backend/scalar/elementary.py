"""exp, ln, tanh and erf of binary64, and the series that definitions share.

exp, ln, tanh: polynomials of least relative error (Remez's exchange in 160 bits, coefficients then rounded).  erf: a table of the
function and its derivative at multiples of 1/256, with a Taylor polynomial between.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from typing import Any, Final

from .coefficient_tables import INTERVALS, STEPS_PER_UNIT
from .function_table import ScalarMachine

# ---------------------------------------------------------------------------------------------------- elementary

SHIFT: Final = 6755399441055744.0
"""1.5 × 2⁵²: added to a float below 2⁵¹ in magnitude, it leaves the nearest integer in the low bits."""
SHIFT_BITS: Final = struct.unpack("<q", struct.pack("<d", SHIFT))[0]
BIAS: Final = 1023
INFINITY: Final = float("inf")
NAN: Final = float("nan")


def polynomial(m: ScalarMachine, x: Any, *coefficients: float) -> Any:
    """Horner's rule, lowest degree first."""
    if len(coefficients) == 2:
        return m.fma(x, coefficients[1], coefficients[0])
    value = m.fma(x, coefficients[-1], coefficients[-2])
    for coefficient in reversed(coefficients[:-2]):
        value = m.fma(value, x, coefficient)
    return value


def polynomial_by_halves(m: ScalarMachine, x: Any, square: Any, *coefficients: float) -> Any:
    """A polynomial as its even and odd parts, which are independent and so halve the latency (Estrin's scheme)."""
    return m.fma(polynomial(m, square, *coefficients[1::2]), x, polynomial(m, square, *coefficients[::2]))


def polynomial_by_quarters(m: ScalarMachine, x: Any, square: Any, *coefficients: float) -> Any:
    """A polynomial in four independent parts: two more multiplications, and half the latency again."""
    even, odd = coefficients[::2], coefficients[1::2]
    fourth = square * square
    return m.fma(polynomial_by_halves(m, square, fourth, *odd), x, polynomial_by_halves(m, square, fourth, *even))


LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""ln 2 in two parts; the first has so few digits that its multiples by exponents are exact."""
LOG2_E: Final = 1.44269504088896338700


BELOW = (0.5000000000000012, 0.166666666666667, 0.041666666666515244, 0.008333333333307177, 0.0013888888947066716,
          0.0001984126991744533, 2.4801489885625252e-05, 2.755721624537543e-06, 2.763130180713565e-07,
          2.511787870584534e-08)  # fmt: skip
"""(exp(r) - 1 - r) ÷ r² for |r| up to ½ ln 2."""
ABOVE = (0.5000000000000004, 0.16666666666666052, 0.04166666666656552, 0.008333333334351642, 0.0013888888928899764,
          0.0001984126452718727, 2.4801640702156834e-05, 2.756486263586266e-06, 2.7258600508512966e-07,
          2.933875021628296e-08)  # fmt: skip
"""The same for r between ¯¼ ln 2 and ¾ ln 2, where it is to be added to r."""


def power_series(x: Any, exponent: Any, coefficients: tuple[float, ...], m: ScalarMachine) -> Any:
    """exp(r) - 1 with r = x - exponent × ln 2."""
    high = m.fma(exponent, -LN2_HIGH, x)
    low = exponent * LN2_LOW
    r = high - low
    t = r * r
    return m.fma(t, polynomial_by_halves(m, r, t, *coefficients), -low) + high


def exp(x: Any, m: ScalarMachine) -> Any:
    """e to the x as exp(r) × 2ᵏ, with x = k ln 2 + r.

    A larger constant than `SHIFT` leaves k plus the exponent bias in the low bits; a left shift turns these into the float 2ᵏ."""
    shifted = m.fma(x, LOG2_E, SHIFT + BIAS)
    y = power_series(x, shifted - (SHIFT + BIAS), BELOW, m) + 1.0

    def other() -> Any:
        """Near the ends of the range: scaled by 2 to about k÷2 twice, so that no factor overflows."""
        near = m.choose(x < -746.0, -746.0, m.choose(x > 710.0, 710.0, x))
        shifted = m.fma(near, LOG2_E, SHIFT + 2 * BIAS)
        half = m.bits(m.fma(near, LOG2_E / 2, SHIFT + BIAS))
        y = power_series(near, shifted - (SHIFT + 2 * BIAS), BELOW, m) + 1.0
        return y * m.float_of(half << 52) * m.float_of((m.bits(shifted) - half) << 52)

    return m.select_rare(m.magnitude(x) < 708.0, y * m.float_of(m.bits(shifted) << 52), other)


_ONE_BITS: Final = BIAS << 52
_ROOT_HALF_BITS: Final = struct.unpack("<q", struct.pack("<d", 0.7071067811865476))[0]
MANTISSA: Final = (1 << 52) - 1
WHOLE: Final = 2.0**52
WHOLE_BITS: Final = struct.unpack("<q", struct.pack("<d", WHOLE))[0]
LEAST_NORMAL: Final = 2.0**-1022


def parts_of_normal(x: Any, less: float, m: ScalarMachine) -> tuple[Any, Any]:
    """k - less and f, where x = 2ᵏ (1 + f) with 1 + f between √½ and √2."""
    above = m.bits(x) + (_ONE_BITS - _ROOT_HALF_BITS)
    k = m.float_of((above >> 52) + WHOLE_BITS) - (WHOLE + BIAS + less)
    return k, m.float_of((above & MANTISSA) + _ROOT_HALF_BITS) - 1.0


def log_series(f: Any, square: Any, m: ScalarMachine) -> Any:
    """(ln(1 + f) - f + f²÷2) ÷ f³."""
    return polynomial_by_quarters(m, f, square, 0.3333333333333314, -0.24999999999987976, 0.20000000000066617,
                    -0.1666666666982584, 0.14285714280092862, -0.12499999691446956, 0.11111111147477944, -0.10000015206101559,
                    0.09090923931530051,
                    -0.08332913543675086, 0.0769152982538771, -0.07149439486001148, 0.06684589052366535, -0.061966784765715814,
                    0.056683779334960674, -0.05677784603507098, 0.06503491066056542, -0.059817016352003295,
                    0.026150922143760847)  # fmt: skip


def log_of_normal(x: Any, less: float, m: ScalarMachine, correction: Any = None) -> Any:
    """ln of a normal positive number, minus `less` times ln 2; `correction`: a small term to add before the last rounding."""
    k, f = parts_of_normal(x, less, m)
    high = k * LN2_HIGH
    total = high + f
    rest = m.fma(k, LN2_LOW, f - (total - high))
    if correction is not None:
        rest = rest + correction
    square = f * f
    return m.fma(square, m.fma(f, log_series(f, square, m), -0.5), rest) + total


def ln(x: Any, m: ScalarMachine) -> Any:
    """Natural logarithm."""

    def other() -> Any:
        value = log_of_normal(m.choose(x < LEAST_NORMAL, x * 2.0**54, x), 54.0, m)
        value = m.choose(x == 0.0, -INFINITY, value)
        value = m.choose(x < 0.0, NAN, value)
        return m.choose(m.magnitude(x) < INFINITY, value, m.choose(x < 0.0, NAN, x))

    return m.select_rare((x >= LEAST_NORMAL) & (x < INFINITY), log_of_normal(x, 0.0, m), other)


def tanh(x: Any, m: ScalarMachine) -> Any:
    """The hyperbolic tangent: e ÷ (e + 2) with e = exp(2|x|) - 1, corrected for the rounding of e + 2.

    For small |x| the exponential is not reduced by a power of two, which would cancel."""
    size = m.magnitude(x)
    size = m.choose(size > 20.0, 20.0, size)
    double = size + size
    shifted = m.fma(double, LOG2_E, -0.25) + (SHIFT + BIAS)
    exponent = shifted - (SHIFT + BIAS)
    power = m.float_of(m.bits(shifted) << 52)
    e = m.fma(power, power_series(double, exponent, ABOVE, m), power - 1.0)
    y = 1.0 / (e + 2.0)
    q = e * y
    return m.signed(m.fma(m.fma(-q, e, m.fma(q, -2.0, e)), y, q), x)


def erf(x: Any, m: ScalarMachine) -> Any:
    """The error function: with r the nearest multiple of 1/256 to |x| and d the rest, Taylor's polynomial of degree 5 at r."""
    size = m.magnitude(x)
    shifted = m.fma(m.choose(size < 6.0, size, 6.0), float(STEPS_PER_UNIT), SHIFT)
    steps, k = shifted - SHIFT, m.bits(shifted)
    d = m.fma(steps, -1.0 / STEPS_PER_UNIT, m.choose(size > 6.0, 6.0, size))
    at, slope = m.lookup("erf", k, SHIFT_BITS), m.lookup("erf_slope", k, SHIFT_BITS)
    r = steps * (1.0 / STEPS_PER_UNIT)
    square = r * r
    c2 = m.fma(square, 2.0 / 3.0, -1.0 / 3.0)
    c3 = r * m.fma(square, -1.0 / 3.0, 0.5)
    c4 = polynomial(m, square, 0.1, -0.4, 2.0 / 15.0)
    rise = slope * d
    inner = m.fma(d, m.fma(d, m.fma(d, c4, c3), c2), -r) * d
    return m.signed(m.fma(rise, inner, m.fma(slope, d, at)), x)


# ---------------------------------------------------------------------------------------------------- powers
#
# x to the power y: the exponential of y times a logarithm of 1.5 times the precision.
#
# The logarithm is a double-double `high + low`: for x = 2ᵏ z with z near 1/c, and c of few bits from a table, r = z c - 1 is
# exact, and ln x = k ln 2 - ln c + ln(1 + r), whose terms below r³ keep their rounding errors.  So does the sum of the
# exponential.  The error before the last rounding is less than a third of an ulp, so exact powers are exact.

_LEAST_NORMAL: Final = 2.0**-1022
_FAR: Final = 2.0**64
"""Exponents are clamped to this: any base but 1 overflows or underflows there."""


def _logarithm(x: Any, m: ScalarMachine, less: Any = None) -> tuple[Any, Any]:
    """ln of a normal positive number, minus `less` times ln 2, in two parts."""
    above = m.bits(x) + (_ONE_BITS - INTERVALS)
    k = m.float_of((above >> 52) + WHOLE_BITS) - (WHOLE + BIAS)
    k = k if less is None else k - less
    rest = above & MANTISSA
    interval = rest >> 45
    r = m.fma(m.float_of(rest + INTERVALS), m.lookup("inverse", interval, 0), -1.0)
    first = m.fma(k, LN2_HIGH, m.lookup("log_high", interval, 0))
    total = first + r
    low = m.fma(k, LN2_LOW, m.lookup("log_low", interval, 0)) + (r - (total - first))
    half = r * -0.5
    square = r * half
    high = total + square
    low = low + ((total - high) + square) + m.fma(half, r, -square)
    t = r * r
    p = polynomial_by_halves(m, r, t, 0.3333333333333333, -0.2500000000000102, 0.20000000000003595, -0.16666666598813784,
               0.14285714165330746, -0.1250144944124101, 0.1111284407235116)  # fmt: skip
    low = m.fma(t * r, p, low)
    value = high + low
    return value, (high - value) + low


def _times(y: Any, parts: tuple[Any, Any], m: ScalarMachine) -> tuple[Any, Any]:
    high, low = parts
    product = y * high
    return product, m.fma(y, low, m.fma(y, high, -product))


def _exponential(high: Any, low: Any, m: ScalarMachine) -> tuple[Any, Any]:
    """exp(high + low) divided by a power of two, and that power's exponent."""
    exponent = m.fma(high, LOG2_E, SHIFT) - SHIFT
    near = m.fma(exponent, -LN2_HIGH, high)
    away = m.fma(exponent, LN2_LOW, -low)
    r = near - away
    t = r * r
    series = m.fma(t, polynomial_by_halves(m, r, t, *BELOW), -away)
    one = near + 1.0
    return one + ((near - (one - 1.0)) + series), exponent


def power(x: Any, y: Any, m: ScalarMachine) -> Any:
    """x to the y."""
    product, low = _times(y, _logarithm(x, m), m)
    value, exponent = _exponential(product, low, m)

    def other() -> Any:
        size = m.magnitude(x)
        tiny = size < _LEAST_NORMAL
        parts = _logarithm(m.choose(tiny, size * 2.0**54, size), m, m.choose(tiny, 54.0, 0.0))
        product, low = _times(m.choose(y > _FAR, _FAR, m.choose(y < -_FAR, -_FAR, y)), parts, m)
        low = m.choose(m.magnitude(product) < 746.0, low, 0.0)
        product = m.choose(product < -746.0, -746.0, m.choose(product > 710.0, 710.0, product))
        value, exponent = _exponential(product, low, m)
        half = m.bits(m.fma(exponent, 0.5, SHIFT + BIAS))
        value = value * m.float_of(half << 52) * m.float_of((m.bits(exponent + (SHIFT + 2 * BIAS)) - half) << 52)
        return _with_special_cases(x, y, value, m)

    usual = (x >= _LEAST_NORMAL) & (x < INFINITY) & (m.magnitude(product) < 708.0)
    return m.select_rare(usual, value * m.float_of(m.bits(exponent + (SHIFT + BIAS)) << 52), other)


def narrow_power(x: Any, y: Any, m: ScalarMachine) -> Any:
    """x to the y for numbers of binary32, whose results fit binary64, with the precision that binary32 needs."""

    def other() -> Any:
        value = _narrow(m.choose(y > _FAR, _FAR, m.choose(y < -_FAR, -_FAR, y)), m.magnitude(x), m)
        return _with_special_cases(x, y, value, m)

    usual = (x > 0.0) & (x < INFINITY) & (m.magnitude(y) < _FAR)
    return m.select_rare(usual, _narrow(y, x, m), other)


def _narrow(y: Any, x: Any, m: ScalarMachine) -> Any:
    """2 to the y log₂x."""
    k, f = parts_of_normal(x, 0.0, m)
    p = polynomial_by_halves(m, f, f * f, 1.4426950408893544, -0.721347520424968, 0.4808983465855136, -0.3606737658999583,
               0.2885390706811076, -0.24044872728079578, 0.20609526645751006, -0.1803504037487445, 0.16042523553567473,
               -0.14412618369012728,
               0.1291440880123326, -0.1196255760838126, 0.12612357581947362, -0.12352078815220414,
               0.06318188034523238)  # fmt: skip
    product = y * m.fma(f, p, k)
    product = m.choose(product < -200.0, -200.0, m.choose(product > 200.0, 200.0, product))
    shifted = product + (SHIFT + BIAS)
    r = product - (shifted - (SHIFT + BIAS))
    value = m.fma(r, polynomial(m, r, 0.6931472028552288, 0.24022647913690565, 0.05550332470906302, 0.009618437350618634,
                                0.001339887448077183, 0.00015353363775035228), 1.0)  # fmt: skip
    return value * m.float_of(m.bits(shifted) << 52)


def _with_special_cases(x: Any, y: Any, value: Any, m: ScalarMachine) -> Any:
    """x to the y, where `value` is |x| to the y: adds the sign and the special cases of IEEE 754."""
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


def root(degree: Any, x: Any, m: ScalarMachine) -> Any:
    """x to the power 1÷degree; the square root is exact."""
    value = power(x, 1.0 / degree, m)
    return m.select_rare(m.magnitude(degree - 2.0) > 0.0, value, lambda: m.choose(degree == 2.0, m.root(x), value))


# --------------------------------------------------------------------------------------------------- inverse circular functions
#
# The inverses of the circular functions of binary64: a small remainder is added to a large value with one rounding.
#
# asin, acos: a minimax polynomial in z = x², or in z = (1-|x|)÷2 for |x| above a half, where the rounding error of the root is
# kept.  atan: the nearest of five angles with simple tangents, and the remainder by the polynomial of FreeBSD's msun (Sun
# Microsystems, 1993; freely usable with notice).
#
# Largest errors found against mpmath are asserted in tests/kernels/test_mathematics.py: 1 ulp.

_QUARTER, _QUARTER_LOW = 1.5707963267948966, 6.123233995736766e-17
"""π÷2."""
_SINE: Final = (0.16666666666665383, 0.07500000000343057, 0.044642856823473624, 0.030381959331533225, 0.022371753518465303,
                0.017359771156599837, 0.013884598146143417, 0.012173280733222167, 0.006510849148230356, 0.01957391393743722,
                -0.016294081494072903, 0.031958968696819225)  # fmt: skip
"""(asin(√z) ÷ √z - 1) ÷ z for z up to ¼."""
_TANGENT: Final = (3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01,
                   -1.11111104054623557880e-01, 9.09088713343650656196e-02, -7.69187620504482999495e-02,
                   6.66107313738753120669e-02, -5.83357013379057348645e-02, 4.97687799461593236017e-02,
                   -3.65315727442169155270e-02, 1.62858201153657823623e-02)  # fmt: skip
_ANGLES: Final = (
    (7 / 16, 0.5, 0.4636476090008061, 2.2698777452961687e-17),
    (11 / 16, 1.0, 0.7853981633974483, 3.061616997868383e-17),
    (19 / 16, 1.5, 0.982793723247329, 1.3903311031230998e-17),
)
"""Rows: the lower bound of |x|, a tangent, and its angle in two parts."""


def _sine_parts(x: Any, m: ScalarMachine) -> tuple[Any, Any, Any]:
    """Whether |x| is below a half; and asin|x| or, if it is not, acos|x|, in two parts."""
    size = m.magnitude(x)
    small = size < 0.5
    away = m.fma(size, -0.5, 0.5)
    root = m.root(away)
    rest = m.fma(-root, root, away) / m.choose(root > 0.0, root + root, 1.0)
    z, first = m.choose(small, size * size, away), m.choose(small, size, root)
    series = first * z * polynomial_by_halves(m, z, z * z, *_SINE)
    beyond = series + rest
    return small, m.choose(small, size, root + root), m.choose(small, series, beyond + beyond)


def _minus(high: Any, low: Any, first: Any, second: Any) -> Any:
    """high + low - first - second, where high is at least first, or 0."""
    difference = -first + high
    return difference + (((-difference + high) - first) - (second - low))


def asin(x: Any, m: ScalarMachine) -> Any:
    """The angle whose sine is x."""
    small, first, second = _sine_parts(x, m)
    value = _minus(_QUARTER, _QUARTER_LOW, first, second)
    return m.signed(m.choose(small, first + second, value), x)


def acos(x: Any, m: ScalarMachine) -> Any:
    """The angle whose cosine is x: π÷2 - asin x for small x, `_sine_parts` from 0.5 on, and π minus these below -0.5."""
    small, first, second = _sine_parts(x, m)
    positive = x > 0.0
    high = m.choose(small, _QUARTER, m.choose(positive, 0.0, 2 * _QUARTER))
    low = m.choose(small, _QUARTER_LOW, m.choose(positive, 0.0, 2 * _QUARTER_LOW))
    sign = m.choose(small, m.choose(positive, 1.0, -1.0), m.choose(positive, -1.0, 1.0))
    return _minus(high, low, first * sign, second * sign)


def atan(x: Any, m: ScalarMachine) -> Any:
    """The angle whose tangent is x."""
    return m.signed(_angle(m.magnitude(x), m), x)


def atan2(y: Any, x: Any, m: ScalarMachine) -> Any:
    """The angle of the point (x, y): that of the quotient of the smaller and the larger part, subtracted from π÷2 or π."""
    up, along = m.magnitude(y), m.magnitude(x)
    steep = up > along
    larger, less = m.choose(steep, up, along), m.choose(steep, along, up)
    angle = _angle(m.choose(larger == 0.0, less, m.choose(less == larger, 1.0, less / larger)), m)
    back = m.signed(m.like(x, 1.0), x) < 0.0
    high = m.choose(steep, _QUARTER, m.choose(back, 2 * _QUARTER, 0.0))
    low = m.choose(steep, _QUARTER_LOW, m.choose(back, 2 * _QUARTER_LOW, 0.0))
    angle = m.choose(back ^ steep, -angle, angle)
    return m.signed(high + (angle + low), y)


def _angle(size: Any, m: ScalarMachine) -> Any:
    """The angle whose tangent is x ≥ 0: the sum of those of c and of (x-c) ÷ (1+cx), or of π÷2 and that of -1÷x."""
    over, under, high, low = size, 1.0, 0.0, 0.0
    for least, tangent, angle, rest in _ANGLES:
        beyond = size >= least
        over = m.choose(beyond, size - tangent, over)
        under = m.choose(beyond, m.fma(size, tangent, 1.0), under)
        high, low = m.choose(beyond, angle, high), m.choose(beyond, rest, low)
    far = size >= 39 / 16
    over, under = m.choose(far, -1.0, over), m.choose(far, size, under)
    high, low = m.choose(far, _QUARTER, high), m.choose(far, _QUARTER_LOW, low)
    t = over / under
    z = t * t
    series = z * polynomial_by_halves(m, z, z * z, *_TANGENT)
    return high - (m.fma(t, series, -low) - t)


# ---------------------------------------------------------------------------------------------------- hyperbolic functions
#
# The hyperbolic functions and their inverses, and the other logarithms, of binary64.
#
# sinh and expm1 use exp(|x|) - 1, which is accurate near 0.  The inverses are logarithms of 1 + a, where a is in two parts.
# Logarithms to the bases 2 and 10 add exact multiples of the exponent, so that those of powers of the base are exact.
#
# Largest errors found against mpmath are asserted in tests/kernels/test_mathematics.py: 2 ulp.

_HYPERBOLIC_FAR: Final = 2.0**28
"""For |x| beyond this, x²+1 rounds to x²."""


# ------------------------------------------------------------------------------------- exponentials


def _power_less_one(x: Any, m: ScalarMachine) -> Any:
    """exp(x) - 1 for |x| below 708."""
    shifted = m.fma(x, LOG2_E, -0.25) + (SHIFT + BIAS)
    power = m.float_of(m.bits(shifted) << 52)
    return m.fma(power, power_series(x, shifted - (SHIFT + BIAS), ABOVE, m), power - 1.0)


def _half_power(x: Any, m: ScalarMachine) -> Any:
    """exp(x) ÷ 2 of a large x, which may be finite where exp(x) is not."""
    near = m.choose(x > 712.0, 712.0, x)
    shifted = m.fma(near, LOG2_E, SHIFT + 2 * BIAS - 1)
    y = power_series(near, shifted - (SHIFT + 2 * BIAS - 1), BELOW, m) + 1.0
    half = m.bits(m.fma(near, LOG2_E / 2, SHIFT + BIAS))
    return y * m.float_of(half << 52) * m.float_of((m.bits(shifted) - half) << 52)


def expm1(x: Any, m: ScalarMachine) -> Any:
    """e to the x, less 1."""

    def other() -> Any:
        return m.choose(x < 0.0, -1.0, exp(x, m))

    size = m.magnitude(x)
    value = m.select_rare(size < 700.0, _power_less_one(m.choose(x < -700.0, -700.0, x), m), other)
    return m.choose(x == 0.0, x, value)


def sinh(x: Any, m: ScalarMachine) -> Any:
    """The hyperbolic sine: (e + e÷(e+1)) ÷ 2 with e = exp(|x|) - 1."""
    size = m.magnitude(x)
    e = _power_less_one(size, m)
    value = m.select_rare(size < 700.0, (e / (e + 1.0) + e) * 0.5, lambda: _half_power(size, m))
    return m.signed(value, x)


def cosh(x: Any, m: ScalarMachine) -> Any:
    """The hyperbolic cosine: (y + 1÷y) ÷ 2 with y = exp |x|."""
    size = m.magnitude(x)
    shifted = m.fma(size, LOG2_E, SHIFT + BIAS)
    y = (power_series(size, shifted - (SHIFT + BIAS), BELOW, m) + 1.0) * m.float_of(m.bits(shifted) << 52)
    return m.select_rare(size < 700.0, m.fma(y, 0.5, 0.5 / y), lambda: _half_power(size, m))


# --------------------------------------------------------------------------------------- logarithms


def _log_near_one(x: Any, rest: Any, m: ScalarMachine) -> Any:
    """ln(1 + x + rest) for finite x above -1; `rest`: the rounding error of x."""
    total = x + 1.0
    larger = m.choose(x > 1.0, x, 1.0)
    smaller = m.choose(x > 1.0, 1.0, x)
    return log_of_normal(total, 0.0, m, ((smaller - (total - larger)) + rest) / total)


def log1p(x: Any, m: ScalarMachine) -> Any:
    """ln(1 + x)."""

    def other() -> Any:
        return m.choose(x == -1.0, -INFINITY, m.choose(x < -1.0, NAN, x))

    value = m.select_rare((x > -1.0) & (x < INFINITY), _log_near_one(x, 0.0, m), other)
    return m.choose(x == 0.0, x, value)


def asinh(x: Any, m: ScalarMachine) -> Any:
    """The inverse of sinh: ln(1 + a) with a = |x| + x² ÷ (1 + √1+x²)."""
    size = m.magnitude(x)
    more = size * size / (m.root(m.fma(size, size, 1.0)) + 1.0)
    a = size + more
    value = m.select_rare(size < _HYPERBOLIC_FAR, _log_near_one(a, more - (a - size), m), lambda: _log_of_double(size, m))
    return m.signed(value, x)


def _log_of_double(x: Any, m: ScalarMachine) -> Any:
    """ln 2x of a large x."""
    return m.choose(x < INFINITY, log_of_normal(x, -1.0, m), x)


def acosh(x: Any, m: ScalarMachine) -> Any:
    """The inverse of cosh: ln(1 + a) with a = t + √2t+t² and t = x - 1."""
    t = x - 1.0
    square = m.fma(t, t, t + t)
    root = m.root(square)
    a = root + t
    rest = t - (a - root)
    value = m.select_rare(x < _HYPERBOLIC_FAR, _log_near_one(a, rest, m), lambda: _log_of_double(x, m))
    return m.choose(x < 1.0, NAN, value)


def atanh(x: Any, m: ScalarMachine) -> Any:
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

    return m.signed(m.select_rare(size < 1.0, _log_near_one(a, rest, m) * 0.5, other), x)


_TWO: Final = (1.4426950408889634, 2.0355273740931033e-17, 1.0, 0.0)
_TEN: Final = (0.4342944819032518, 1.098319650216765e-17, 0.301029995663157, 8.241712586023572e-13)
"""The logarithms of e and of 2, each in two parts; the first part of that of 2 has few digits."""


def _to_base(x: Any, base: tuple[float, float, float, float], m: ScalarMachine) -> Any:
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


def _with_ends(x: Any, of_normal: Callable[[Any, float], Any], m: ScalarMachine) -> Any:
    """A logarithm of any number from `of_normal(x, k)`, the logarithm of a normal number minus k times that of 2."""

    def other() -> Any:
        value = of_normal(m.choose(x < LEAST_NORMAL, x * 2.0**54, x), 54.0)
        value = m.choose(x == 0.0, -INFINITY, value)
        value = m.choose(x < 0.0, NAN, value)
        return m.choose(m.magnitude(x) < INFINITY, value, m.choose(x < 0.0, NAN, x))

    return m.select_rare((x >= LEAST_NORMAL) & (x < INFINITY), of_normal(x, 0.0), other)


def log2(x: Any, m: ScalarMachine) -> Any:
    """The logarithm to the base 2."""
    return _to_base(x, _TWO, m)


def log10(x: Any, m: ScalarMachine) -> Any:
    """The logarithm to the base 10."""
    return _to_base(x, _TEN, m)


def log(base: Any, x: Any, m: ScalarMachine) -> Any:
    """The logarithm to any base: ln x ÷ ln base, and those of the bases 2 and 10."""
    quotient = ln(x, m) / ln(base, m)
    has_own = (base - 2.0) * (base - 10.0)

    def other() -> Any:
        return m.choose(base == 2.0, log2(x, m), m.choose(base == 10.0, log10(x, m), quotient))

    return m.select_rare(m.magnitude(has_own) > 0.0, quotient, other)


# ---------------------------------------------------------------------------------------------------- circular functions
#
# The circular functions of binary64, with coefficients of FreeBSD's msun (Sun Microsystems, 1993; freely usable with notice).

_CIRCULAR_FAR: Final = 1.0e6
"""Angles beyond this need more digits of π, and go to the C library."""


def _quarter_turns(x: Any, quarter: int, m: ScalarMachine) -> tuple[Any, Any, Any]:
    """x minus a multiple of π÷2, in two parts, and the multiple plus `quarter` in the low bits of an integer.

    π÷2 is subtracted in three parts (Cody and Waite).  The second has so few digits that its multiples are exact, and the third
    step recovers the rounding error of the second, so that angles close to a multiple keep full precision."""
    shifted = m.fma(x, 6.36619772367581382433e-01, SHIFT + quarter)
    quarters = shifted - (SHIFT + quarter)
    t = m.fma(quarters, -1.5707963267948966, x)
    r = m.fma(quarters, -6.12323399538461e-17, t)
    low = m.fma(quarters, -3.5215598651832e-27, m.fma(quarters, -6.12323399538461e-17, t - r))
    y = r + low
    return y, (r - y) + low, m.bits(shifted)


def _sine_part(y: Any, rest: Any, z: Any, m: ScalarMachine) -> Any:
    p = polynomial(m, z, -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
                   2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)  # fmt: skip
    return m.fma(z * y, p, m.fma(z * -0.5, rest, rest)) + y


def _cosine_part(y: Any, rest: Any, z: Any, m: ScalarMachine) -> Any:
    p = polynomial(m, z, 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                   -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip
    w = m.fma(z, -0.5, 1.0)
    return m.fma(z * z, p, m.fma(y, -rest, m.fma(z, -0.5, 1.0 - w))) + w


def _circular(x: Any, m: ScalarMachine, name: str, quarter: int) -> Any:
    far = m.magnitude(x) > _CIRCULAR_FAR
    y, rest, k = _quarter_turns(m.choose(far, 0.0, x), quarter, m)
    z = y * y
    value = by_quarter(_sine_part(y, rest, z, m), _cosine_part(y, rest, z, m), k, m)
    if not quarter:
        value = m.choose(x == 0.0, x, value)
    return m.scalar_fallback(name, far, x, value)


def by_quarter(sine: Any, cosine: Any, k: Any, m: ScalarMachine) -> Any:
    """The sine or the cosine of the reduced angle, with the sign that k quarter turns require."""
    value = m.choose((k & 1) == 0, sine, cosine)
    return m.choose((k & 2) == 0, value, -value)


def sin(x: Any, m: ScalarMachine) -> Any:
    """The sine."""
    return _circular(x, m, "sin", 0)


def cos(x: Any, m: ScalarMachine) -> Any:
    """The cosine."""
    return _circular(x, m, "cos", 1)


def tan(x: Any, m: ScalarMachine) -> Any:
    """The tangent."""
    far = m.magnitude(x) > _CIRCULAR_FAR
    y, rest, k = _quarter_turns(m.choose(far, 0.0, x), 0, m)
    z = y * y
    sine, cosine = _sine_part(y, rest, z, m), _cosine_part(y, rest, z, m)
    even = (k & 1) == 0
    value = m.choose(even, sine, -cosine) / m.choose(even, cosine, sine)
    return m.scalar_fallback("tan", far, x, m.choose(x == 0.0, x, value))


# ---------------------------------------------------------------------------------------------------- basic
#
# Definitions that are one or a few instructions, for every kind.
#
# Comparisons and arithmetic are those of the kind: integers wrap, floats follow IEEE 754.

def _python(operation: Callable[..., Any]) -> Callable[..., Any]:
    """The definition by an operator of Python, which the values of every machine have."""
    return lambda *values: operation(*values[:-1])


add = _python(operator.add)
sub = _python(operator.sub)
mul = _python(operator.mul)
div = _python(operator.truediv)
neg = _python(operator.neg)
complement = _python(operator.invert)
bit_and = _python(operator.and_)
bit_or = _python(operator.or_)
bit_xor = _python(operator.xor)
lt = _python(operator.lt)
le = _python(operator.le)
eq = _python(operator.eq)
ge = _python(operator.ge)
gt = _python(operator.gt)
ne = _python(operator.ne)


def reciprocal(x: Any, m: ScalarMachine) -> Any:
    return 1.0 / x


def pi_times(x: Any, m: ScalarMachine) -> Any:
    return x * math.pi


def square(x: Any, m: ScalarMachine) -> Any:
    return x * x


def sqrt(x: Any, m: ScalarMachine) -> Any:
    return m.root(x)


def half_power(x: Any, m: ScalarMachine) -> Any:
    """x*0.5: the square root, except that -0.0 gives 0 and -∞ gives ∞."""
    root = m.root(x) + 0.0
    return m.choose(x == -math.inf, math.inf, root)


def same(x: Any, y: Any, m: ScalarMachine) -> Any:
    """Are all bits the same?"""
    return m.bits(x) == m.bits(y) if m.is_float(x) else x == y


def outside(x: Any, y: Any, m: ScalarMachine) -> Any:
    """Is x out of range as an index of y ≥ 0 items?"""
    return (x < 0) | (x >= y)


def abs(x: Any, m: ScalarMachine) -> Any:
    return m.magnitude(x)


def sign(x: Any, m: ScalarMachine) -> Any:
    """The sign of x; NaN for NaN, 0 for -0.0."""
    zero = m.like(x, 0)
    below = m.choose(x < 0, m.like(x, -1), zero) if m.is_signed(x) else zero
    result = m.choose(x > 0, m.like(x, 1), below)
    return m.choose(x != x, x, result) if m.is_float(x) else result


def minimum(x: Any, y: Any, m: ScalarMachine) -> Any:
    """The minimum; NaN if either is NaN, the second operand if both are equal."""
    if not m.is_float(x):
        return m.smaller(x, y)
    chosen = m.choose(x < y, x, y)
    return m.choose(x != x, x, chosen)


def maximum(x: Any, y: Any, m: ScalarMachine) -> Any:
    if not m.is_float(x):
        return m.larger(x, y)
    chosen = m.choose(x > y, x, y)
    return m.choose(x != x, x, chosen)


def residue(x: Any, y: Any, m: ScalarMachine) -> Any:
    return m.residue(x, y)


# ------------------------------------------------------------------------------------- bits and truths


def nand(x: Any, y: Any, m: ScalarMachine) -> Any:
    return ~(x & y)


def nor(x: Any, y: Any, m: ScalarMachine) -> Any:
    return ~(x | y)


def shl(x: Any, y: Any, m: ScalarMachine) -> Any:
    return y << (x & (m.width(x) - 1))


def shr(x: Any, y: Any, m: ScalarMachine) -> Any:
    return m.shifted_right(y, x & (m.width(x) - 1))


def shru(x: Any, y: Any, m: ScalarMachine) -> Any:
    return m.shifted_right_unsigned(y, x & (m.width(x) - 1))


def select(condition: Any, x: Any, y: Any, m: ScalarMachine) -> Any:
    return m.choose(condition, x, y)


# ------------------------------------------------------------------------------------- conversions


def floor(x: Any, m: ScalarMachine) -> Any:
    return m.rounded_down(x)


def ceil(x: Any, m: ScalarMachine) -> Any:
    return m.rounded_up(x)


def convert(x: Any, m: ScalarMachine) -> Any:
    return m.converted(x)


def convert_checked(x: Any, m: ScalarMachine) -> Any:
    return m.checked(x)


# -------------------------------------------------------------------------------------------------- functions of operands alone
#
# The circular functions that are roots or simpler: the same steps as NumPy.

_LARGE: Final = 2.0**27


def root_less(x: Any, m: ScalarMachine) -> Any:
    """√1-x²."""
    return m.root(1.0 - x * x)


def root_more(x: Any, m: ScalarMachine) -> Any:
    """√1+x²."""
    return _beyond_one(x, m.root(x * x + 1.0), m)


def root_less_one(x: Any, m: ScalarMachine) -> Any:
    """sign(x) × √x²-1."""
    value = _beyond_one(x, m.root(x * x - 1.0), m)
    return m.choose(x < 0.0, -value, value)


def _beyond_one(x: Any, root: Any, m: ScalarMachine) -> Any:
    """`root`, which is √x²±1, or |x| where the 1 is below the rounding of x² (which might overflow)."""
    size = m.magnitude(x)
    return m.choose(size > _LARGE, size, root)


def zero(x: Any, m: ScalarMachine) -> Any:
    """0."""
    return m.float_of(m.bits(x) & 0)


def nan(x: Any, m: ScalarMachine) -> Any:
    """NaN."""
    nought = zero(x, m)
    return m.choose(nought == 0.0, NAN, nought)


def identity(x: Any, m: ScalarMachine) -> Any:
    """x."""
    return x


def size(x: Any, m: ScalarMachine) -> Any:
    """|x|."""
    return m.magnitude(x)


def angle(x: Any, m: ScalarMachine) -> Any:
    """0 for x ≥ 0 and π for x < 0; NaN for NaN."""
    return m.choose(x < 0.0, math.pi, m.choose(x == x, zero(x, m), x))
