"""Functions of binary32 in binary32: the definitions of `mathematics` for the narrow kind, twice as many to a vector.

They are Python over the same values; a constant is rounded to binary32 where it meets one, once, so that every tier has the same
bits.  exp, ln, tanh and erf compute in binary32; sine and cosine in binary64 with polynomials that are as long as binary32 needs.
Largest errors found against binary64 are asserted in tests/kernels/test_mathematics.py: 2 ulp.

Methods and coefficients: Cephes (S. Moshier) for exp, ln and tanh, FreeBSD's msun for sine and cosine, N. Juffa's for erf.

Neighbours: `mathematics` (binary64, and who asks).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .mathematics import Machine

_SHIFT: Final = 12582912.0
"""1.5 × 2²³: added to a float below 2²² in magnitude, it leaves the nearest whole number in the low bits."""
_SHIFT_BITS: Final = 0x4B400000
_ONE_BITS: Final = 127 << 23
_LN2_HIGH, _LN2_LOW = 0.693359375, 2.12194440e-4
_ROOT_HALF_BITS: Final = 0x3F3504F3
_EXPONENT_MASK: Final = -1 << 23
_LEAST_NORMAL: Final = 2.0**-126
_INFINITY: Final = float("inf")


def _polynomial(x: Any, *coefficients: float) -> Any:
    """Horner's rule, lowest degree first."""
    value = x * coefficients[-1] + coefficients[-2]
    for coefficient in reversed(coefficients[:-2]):
        value = value * x + coefficient
    return value


def exp(x: Any, m: Machine) -> Any:
    """e to the x: x = k ln 2 + r, a polynomial in r, scaled by 2ᵏ in two steps."""
    x = m.choose(x < -110.0, -110.0, m.choose(x > 110.0, 110.0, x))
    shifted = x * 1.44269504088896341 + _SHIFT
    whole, k = shifted - _SHIFT, m.bits(shifted) - _SHIFT_BITS
    r = x - whole * _LN2_HIGH
    r = r + whole * _LN2_LOW
    y = _polynomial(r, 5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3, 1.3981999507e-3, 1.9875691500e-4)
    y = (y * (r * r) + r) + 1.0
    first = k >> 1
    return y * m.float_of((first << 23) + _ONE_BITS) * m.float_of(((k - first) << 23) + _ONE_BITS)


def ln(x: Any, m: Machine) -> Any:
    """Natural logarithm: x = 2ᵏ (1 + f) with 1 + f between √½ and √2."""
    tiny = x < _LEAST_NORMAL
    scaled = m.choose(tiny, x * 2.0**25, x)
    beyond = m.bits(scaled) - _ROOT_HALF_BITS
    f = m.float_of(m.bits(scaled) - (beyond & _EXPONENT_MASK)) - 1.0
    k = m.float_of((beyond >> 23) + _SHIFT_BITS) - _SHIFT
    k = m.choose(tiny, k - 25.0, k)
    z = f * f
    y = _polynomial(f, 3.3333331174e-1, -2.4999993993e-1, 2.0000714765e-1, -1.6668057665e-1, 1.4249322787e-1, -1.2420140846e-1,
                    1.1676998740e-1, -1.1514610310e-1, 7.0376836292e-2)  # fmt: skip
    y = y * f * z - k * _LN2_LOW
    value = (f + (y - z * 0.5)) + k * _LN2_HIGH
    value = m.choose(x == 0.0, -_INFINITY, value)
    value = m.choose(x < 0.0, (x - x) / (x - x), value)
    return m.choose(m.magnitude(x) < _INFINITY, value, m.choose(x == -_INFINITY, x - x, x))


def tanh(x: Any, m: Machine) -> Any:
    """The hyperbolic tangent: a polynomial below 0.625, 1 - 2÷(1 + exp 2|x|) above."""
    size = m.magnitude(x)
    z = x * x
    near = x + x * z * _polynomial(z, -3.33332819422e-1, 1.33314422036e-1, -5.37397155531e-2, 2.06390887954e-2,
                                   -5.70498872745e-3)  # fmt: skip
    far = 1.0 - 2.0 / (exp(size + size, m) + 1.0)
    value = m.choose(size < 0.625, near, m.choose(x < 0.0, -far, far))
    return m.choose(x == 0.0, x, value)


def erf(x: Any, m: Machine) -> Any:
    """The error function: a polynomial near 0, 1 - exp of a polynomial beyond."""
    size, square = m.magnitude(x), x * x
    near = x + x * _polynomial(square, 1.28379166e-1, -3.76125336e-1, 1.12819925e-1, -2.67681349e-2, 4.99119423e-3,
                               -5.96761703e-4)  # fmt: skip
    t = m.choose(size < 6.0, size, 6.0)
    s = t * t
    a = (t * -1.72853470e-5 + 3.83197126e-4) * s + (t * -3.88396438e-3 + 2.42546219e-2)
    a = ((a * t + -1.06777877e-1) * t + -6.34846687e-1) * t + -1.28717512e-1
    far = 1.0 - exp(a * t - t, m)
    value = m.choose(size > 0.927734375, m.choose(x < 0.0, -far, far), near)
    return m.choose(size < _INFINITY, value, m.choose(x > 0.0, 1.0, m.choose(x < 0.0, -1.0, x)))


def _sine_part(y: Any) -> Any:
    z = y * y
    s = z * y
    return (y + s * (z * 0.0083333293858894631756 - 0.166666666416265235595)) + s * (z * z) * (
        z * 0.0000027183114939898219064 - 0.000198393348360966317347
    )


def _cosine_part(y: Any) -> Any:
    z = y * y
    w = z * z
    return ((z * -0.499999997251031003120 + 1.0) + w * 0.0416666233237390631894) + (w * z) * (
        z * 0.0000243904487962774090654 - 0.00138867637746099294692
    )


_FAR: Final = 1.0e6
_WIDE_SHIFT: Final = 6755399441055744.0
_WIDE_SHIFT_BITS: Final = 0x4338000000000000


def _circular(x: Any, m: Machine, name: str, turn: int) -> Any:
    """Of a binary32 number widened to binary64."""
    far = m.magnitude(x) > _FAR
    near = m.choose(far, 0.0, x)
    shifted = near * 6.36619772367581382433e-01 + _WIDE_SHIFT
    whole, k = shifted - _WIDE_SHIFT, m.bits(shifted) - (_WIDE_SHIFT_BITS - turn)
    y = (near - whole * 1.57079631090164184570) - whole * 1.58932547735281966916e-8
    value = m.choose((k & 1) == 0, _sine_part(y), _cosine_part(y))
    value = m.choose((k & 2) == 0, value, -value)
    if not turn:
        value = m.choose(x == 0.0, x, value)
    return m.patch(name, far, x, value)


def sin(x: Any, m: Machine) -> Any:
    """The sine."""
    return _circular(x, m, "sin", 0)


def cos(x: Any, m: Machine) -> Any:
    """The cosine."""
    return _circular(x, m, "cos", 1)
