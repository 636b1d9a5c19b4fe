"""exp, ln, tanh and erf of binary64, and the series that definitions share.

exp, ln, tanh: polynomials of least relative error (Remez's exchange in 160 bits, coefficients then rounded).  erf: a table of the
function and its derivative at multiples of 1/256, with a Taylor polynomial between.

Neighbours: `table` (names them, says what they are within), `machine`, `circles`, `powers`, `single`.
"""

from __future__ import annotations

import struct
from typing import Any, Final

from .machine import Machine
from .tables import STEPS_PER_UNIT

SHIFT: Final = 6755399441055744.0
"""1.5 × 2⁵²: added to a float below 2⁵¹ in magnitude, it leaves the nearest whole number in the low bits."""
SHIFT_BITS: Final = struct.unpack("<q", struct.pack("<d", SHIFT))[0]
BIAS: Final = 1023
INFINITY: Final = float("inf")
NAN: Final = float("nan")


def polynomial(m: Machine, x: Any, *coefficients: float) -> Any:
    """Horner's rule, lowest degree first."""
    if len(coefficients) == 2:
        return m.fma(x, coefficients[1], coefficients[0])
    value = m.fma(x, coefficients[-1], coefficients[-2])
    for coefficient in reversed(coefficients[:-2]):
        value = m.fma(value, x, coefficient)
    return value


def halves(m: Machine, x: Any, square: Any, *coefficients: float) -> Any:
    """The same by the even and the odd powers, which are independent of each other."""
    return m.fma(polynomial(m, square, *coefficients[1::2]), x, polynomial(m, square, *coefficients[::2]))


def quarters(m: Machine, x: Any, square: Any, *coefficients: float) -> Any:
    """The same in four: two more multiplications, and half the waiting."""
    even, odd = coefficients[::2], coefficients[1::2]
    fourth = square * square
    return m.fma(halves(m, square, fourth, *odd), x, halves(m, square, fourth, *even))


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


def power_series(x: Any, whole: Any, coefficients: tuple[float, ...], m: Machine) -> Any:
    """exp(r) - 1 with r = x - whole × ln 2."""
    high = m.fma(whole, -LN2_HIGH, x)
    low = whole * LN2_LOW
    r = high - low
    t = r * r
    return m.fma(t, halves(m, r, t, *coefficients), -low) + high


def exp(x: Any, m: Machine) -> Any:
    """e to the x: x = k ln 2 + r, times 2ᵏ.

    Adding more than the shift leaves exponents with their bias in the low bits, which a shift to the left makes floats."""
    shifted = m.fma(x, LOG2_E, SHIFT + BIAS)
    y = power_series(x, shifted - (SHIFT + BIAS), BELOW, m) + 1.0

    def other() -> Any:
        """Near the ends of the range: times 2 to about half of k, times 2 to the rest of it."""
        near = m.choose(x < -746.0, -746.0, m.choose(x > 710.0, 710.0, x))
        shifted = m.fma(near, LOG2_E, SHIFT + 2 * BIAS)
        half = m.bits(m.fma(near, LOG2_E / 2, SHIFT + BIAS))
        y = power_series(near, shifted - (SHIFT + 2 * BIAS), BELOW, m) + 1.0
        return y * m.float_of(half << 52) * m.float_of((m.bits(shifted) - half) << 52)

    return m.usually(m.magnitude(x) < 708.0, y * m.float_of(m.bits(shifted) << 52), other)


_ONE_BITS: Final = BIAS << 52
_ROOT_HALF_BITS: Final = struct.unpack("<q", struct.pack("<d", 0.7071067811865476))[0]
MANTISSA: Final = (1 << 52) - 1
WHOLE: Final = 2.0**52
WHOLE_BITS: Final = struct.unpack("<q", struct.pack("<d", WHOLE))[0]
LEAST_NORMAL: Final = 2.0**-1022


def parts_of_normal(x: Any, less: float, m: Machine) -> tuple[Any, Any]:
    """k - less and f of x = 2ᵏ (1 + f) with 1 + f between √½ and √2."""
    above = m.bits(x) + (_ONE_BITS - _ROOT_HALF_BITS)
    k = m.float_of((above >> 52) + WHOLE_BITS) - (WHOLE + BIAS + less)
    return k, m.float_of((above & MANTISSA) + _ROOT_HALF_BITS) - 1.0


def log_series(f: Any, square: Any, m: Machine) -> Any:
    """(ln(1 + f) - f + f²÷2) ÷ f³."""
    return quarters(m, f, square, 0.3333333333333314, -0.24999999999987976, 0.20000000000066617, -0.1666666666982584,
                    0.14285714280092862, -0.12499999691446956, 0.11111111147477944, -0.10000015206101559, 0.09090923931530051,
                    -0.08332913543675086, 0.0769152982538771, -0.07149439486001148, 0.06684589052366535, -0.061966784765715814,
                    0.056683779334960674, -0.05677784603507098, 0.06503491066056542, -0.059817016352003295,
                    0.026150922143760847)  # fmt: skip


def log_of_normal(x: Any, less: float, m: Machine, beside: Any = None) -> Any:
    """ln of a normal positive number, less a multiple of ln 2; `beside`: something small to add before the last rounding."""
    k, f = parts_of_normal(x, less, m)
    high = k * LN2_HIGH
    total = high + f
    rest = m.fma(k, LN2_LOW, f - (total - high))
    if beside is not None:
        rest = rest + beside
    square = f * f
    return m.fma(square, m.fma(f, log_series(f, square, m), -0.5), rest) + total


def ln(x: Any, m: Machine) -> Any:
    """Natural logarithm."""

    def other() -> Any:
        value = log_of_normal(m.choose(x < LEAST_NORMAL, x * 2.0**54, x), 54.0, m)
        value = m.choose(x == 0.0, -INFINITY, value)
        value = m.choose(x < 0.0, NAN, value)
        return m.choose(m.magnitude(x) < INFINITY, value, m.choose(x < 0.0, NAN, x))

    return m.usually((x >= LEAST_NORMAL) & (x < INFINITY), log_of_normal(x, 0.0, m), other)


def tanh(x: Any, m: Machine) -> Any:
    """The hyperbolic tangent: e ÷ (e + 2) with e = exp(2|x|) - 1, corrected for the rounding of e + 2.

    Where e would be less than its parts, no power of two is taken out."""
    size = m.magnitude(x)
    size = m.choose(size > 20.0, 20.0, size)
    double = size + size
    shifted = m.fma(double, LOG2_E, -0.25) + (SHIFT + BIAS)
    whole = shifted - (SHIFT + BIAS)
    power = m.float_of(m.bits(shifted) << 52)
    e = m.fma(power, power_series(double, whole, ABOVE, m), power - 1.0)
    y = 1.0 / (e + 2.0)
    q = e * y
    return m.signed(m.fma(m.fma(-q, e, m.fma(q, -2.0, e)), y, q), x)


def erf(x: Any, m: Machine) -> Any:
    """The error function: with r the nearest multiple of 1/256 to |x| and d the rest, Taylor's polynomial of degree 5 at r."""
    size = m.magnitude(x)
    shifted = m.fma(m.choose(size < 6.0, size, 6.0), float(STEPS_PER_UNIT), SHIFT)
    whole, k = shifted - SHIFT, m.bits(shifted)
    d = m.fma(whole, -1.0 / STEPS_PER_UNIT, m.choose(size > 6.0, 6.0, size))
    at, slope = m.lookup("erf", k, SHIFT_BITS), m.lookup("erf_slope", k, SHIFT_BITS)
    r = whole * (1.0 / STEPS_PER_UNIT)
    square = r * r
    c2 = m.fma(square, 2.0 / 3.0, -1.0 / 3.0)
    c3 = r * m.fma(square, -1.0 / 3.0, 0.5)
    c4 = polynomial(m, square, 0.1, -0.4, 2.0 / 15.0)
    rise = slope * d
    inner = m.fma(d, m.fma(d, m.fma(d, c4, c3), c2), -r) * d
    return m.signed(m.fma(rise, inner, m.fma(slope, d, at)), x)
