"""Complex meanings of the scalar functions (c128, c64), principal values as `cmath` and Dyalog have them.

Addition, multiplication and division are those of `scalar.gaussian`.  Transcendental functions compute in binary64 and are
rounded once by the caller.

Neighbours: `scalar.special`, `scalars` (dispatch by kind).
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Final

from ..scalar.gaussian import (
    NOT_A_NUMBER,
    Rounding,
    divide,
    floor,
    greatest_common_divisor,
    least_common_multiple,
    multiply,
    residue,
)  # fmt: skip
from ..scalar.special import INFINITY, NAN, complex_binomial, complex_factorial
from . import reals


def total(function: Callable[[complex], complex]) -> Callable[[complex], complex]:
    """`function` with NaN for a domain error and infinities for an overflow."""

    def evaluate(z: complex) -> complex:
        try:
            return function(z)
        except (ValueError, ZeroDivisionError):
            return NOT_A_NUMBER
        except OverflowError:
            return complex(INFINITY, NAN)

    return evaluate


def exponential(z: complex) -> complex:
    try:
        return cmath.exp(z)
    except OverflowError:
        scale = reals.FLOAT_MONADIC["exp"](z.real)
        return complex(scale * math.cos(z.imag), scale * math.sin(z.imag) if z.imag else 0.0)
    except ValueError:
        return NOT_A_NUMBER


def natural_log(z: complex) -> complex:
    return complex(-INFINITY, 0.0) if z == 0 else total(cmath.log)(z)


def sign(z: complex) -> complex:
    return 0j if z == 0 else divide(z, complex(abs(z)))


def power(x: complex, y: complex) -> complex:
    """Small whole exponents by repeated squaring, else exp(y × ln x)."""
    if y == 0:
        return complex(1)
    if x == 0:
        return 0j if y.real > 0 else NOT_A_NUMBER
    if y.imag == 0 and abs(y.real) < 100 and y.real == math.floor(y.real):
        exponent, base, product = abs(int(y.real)), x, complex(1)
        while exponent:
            if exponent & 1:
                product = multiply(product, base)
            base = multiply(base, base)
            exponent >>= 1
        return divide(complex(1), product) if y.real < 0 else product
    return exponential(multiply(y, natural_log(x)))


def root(x: complex, y: complex) -> complex:
    return total(cmath.sqrt)(y) if x == 2 else power(y, divide(complex(1), x))


def turned(z: complex) -> complex:
    """z × 0J1."""
    return complex(-z.imag, z.real)


def hyperbolic_companion(z: complex) -> complex:
    """`¯4○z`: (z+1) × √(z-1)÷z+1, and 0 at ¯1."""
    return 0j if z == -1 else multiply(z + 1, cmath.sqrt(divide(z - 1, z + 1)))


def root_of_square(constant: int, factor: int, z: complex) -> complex:
    """√constant+factor×z²; where z² might overflow the constant is nothing beside it."""
    if 2.0**500 < max(abs(z.real), abs(z.imag)) < math.inf:
        z = complex(math.ldexp(z.real, -762), math.ldexp(z.imag, -762))
        root = cmath.sqrt(factor * multiply(z, z))
        return complex(math.ldexp(root.real, 762), math.ldexp(root.imag, 762))
    return cmath.sqrt(constant + factor * multiply(z, z))


COMPLEX_MONADIC: Final[dict[str, Callable[[complex], complex]]] = {
    "conj": lambda z: complex(z.real, -z.imag),
    "neg": lambda z: complex(-z.real, -z.imag),
    "sign": sign,
    "floor": floor,
    "ceil": lambda z: -floor(-z) + 0,
    "exp": exponential,
    "ln": natural_log,
    "sqrt": total(cmath.sqrt),
    "factorial": complex_factorial,
    "pi_times": lambda z: complex(math.pi * z.real, math.pi * z.imag),
}

COMPLEX_DYADIC: Final[dict[str, Callable[[complex, complex], complex]]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "pow": power,
    "log": lambda x, y: divide(natural_log(y), natural_log(x)),
    "root": root,
    "residue": residue,
    "binomial": complex_binomial,
    "gcd": greatest_common_divisor,
    "lcm": least_common_multiple,
}

ROUNDED_DYADIC: Final[dict[str, Callable[[complex, complex, Rounding], complex]]] = {"mul": multiply, "div": divide}

COMPLEX_CIRCULAR: Final[dict[int, Callable[[complex], complex]]] = {
    0: lambda z: root_of_square(1, -1, z),
    1: total(cmath.sin),
    2: total(cmath.cos),
    3: total(cmath.tan),
    4: lambda z: root_of_square(1, 1, z),
    5: total(cmath.sinh),
    6: total(cmath.cosh),
    7: total(cmath.tanh),
    8: lambda z: root_of_square(-1, -1, z),
    -1: total(cmath.asin),
    -2: total(cmath.acos),
    -3: total(cmath.atan),
    -4: hyperbolic_companion,
    -5: total(cmath.asinh),
    -6: total(cmath.acosh),
    -7: total(cmath.atanh),
    -8: lambda z: -root_of_square(-1, -1, z),
    -9: lambda z: z,
    -10: lambda z: complex(z.real, -z.imag),
    -11: turned,
    -12: lambda z: exponential(turned(z)),
}

COMPLEX_TO_REAL: Final[dict[int, Callable[[complex], float]]] = {
    9: lambda z: z.real,
    10: lambda z: magnitude(z),
    11: lambda z: z.imag,
    12: cmath.phase,
}


def magnitude(z: complex) -> float:
    """hypot(re, im)."""
    return math.hypot(z.real, z.imag)
