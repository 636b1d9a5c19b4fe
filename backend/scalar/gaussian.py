"""Arithmetic of complex numbers item by item, part by part: Python's own differs between versions.

Every intermediate is rounded by `Rounding`: the identity for c128, binary32 for c64.

Neighbours: `special` (divisors of reals), `reference.complexes` and `run.cpu.complexes` (which compute with it).
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Final, TypeAlias

from .special import GCD_STEPS, NAN, gcd_tolerance, real_quotient

Rounding: TypeAlias = Callable[[float], float]
NOT_A_NUMBER: Final = complex(NAN, NAN)


def exact(x: float) -> float:
    """The rounding of c128: none beyond binary64's own."""
    return x


def multiply(x: complex, y: complex, rounded: Rounding = exact) -> complex:
    real = rounded(rounded(x.real * y.real) - rounded(x.imag * y.imag))
    return complex(real, rounded(rounded(x.real * y.imag) + rounded(x.imag * y.real)))


def divide(x: complex, y: complex, rounded: Rounding = exact) -> complex:
    """Smith's method; by exactly 0, each part divided by 0."""
    quotient = real_quotient
    if y == 0:
        return complex(quotient(x.real, 0.0), quotient(x.imag, 0.0))
    if abs(y.real) >= abs(y.imag):
        ratio = rounded(quotient(y.imag, y.real))
        scale = rounded(y.real + rounded(y.imag * ratio))
        real = rounded(x.real + rounded(x.imag * ratio))
        imaginary = rounded(x.imag - rounded(x.real * ratio))
    else:
        ratio = rounded(quotient(y.real, y.imag))
        scale = rounded(rounded(y.real * ratio) + y.imag)
        real = rounded(rounded(x.real * ratio) + x.imag)
        imaginary = rounded(rounded(x.imag * ratio) - x.real)
    return complex(rounded(quotient(real, scale)), rounded(quotient(imaginary, scale)))


def floor(z: complex) -> complex:
    """McDonnell's complex floor; a part that is not finite stays as it is."""
    if not (math.isfinite(z.real) and math.isfinite(z.imag)):
        return complex(*(float(math.floor(p)) if math.isfinite(p) else p for p in (z.real, z.imag)))
    real, imaginary = float(math.floor(z.real)), float(math.floor(z.imag))
    f, g = z.real - real, z.imag - imaginary
    if f + g < 1:
        return complex(real, imaginary)
    return complex(real + 1, imaginary) if f >= g else complex(real, imaginary + 1)


def residue(x: complex, y: complex) -> complex:
    return y if x == 0 else y - multiply(x, floor(divide(y, x)))


def greatest_common_divisor(x: complex, y: complex) -> complex:
    """Euclid with the complex residue, turned by a unit into re > 0, im ≥ 0."""
    if not (cmath.isfinite(x) and cmath.isfinite(y)):
        return NOT_A_NUMBER
    tolerance = gcd_tolerance(abs(x), abs(y))
    for _ in range(GCD_STEPS):
        if abs(y) <= tolerance:
            break
        x, y = y, residue(y, x)
    else:
        return NOT_A_NUMBER  # numbers that are not whole may have no common divisor that rounding lets us reach
    for turned in (x, complex(-x.imag, x.real), -x, complex(x.imag, -x.real)):
        if turned.real > 0 and turned.imag >= 0:
            return complex(turned.real, turned.imag or 0.0)
    return 0j


def least_common_multiple(x: complex, y: complex) -> complex:
    if x == 0 or y == 0:
        return 0j
    return multiply(x, divide(y, greatest_common_divisor(x, y)))
