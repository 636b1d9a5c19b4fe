"""Integer and float meanings of the scalar functions, one small function a row of `typechecker.scalars`.

Integer functions return exact results (the caller wraps them); float functions compute in binary64 (the caller rounds
to f32).  None raises: IEEE specials replace Python's exceptions.

Neighbours: `special`, `scalars` (dispatch by kind).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from ..scalar.special import INFINITY, NAN, binomial, digamma, factorial, float_gcd, float_lcm, lgamma, real_quotient


def total(function: Callable[[float], float], overflow: float = INFINITY) -> Callable[[float], float]:
    """`function` with NaN for a domain error and `overflow` for an overflow."""

    def evaluate(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return NAN
        except OverflowError:
            return overflow

    return evaluate


# ------------------------------------------------------------------------ integers


def integer_residue(x: int, y: int) -> int:
    return y % x if x else y


def integer_power(x: int, y: int) -> int:
    """x to the y modulo 2⁶⁴, which every integer kind's width divides."""
    if y < 0:
        raise AssertionError("ipow has a negative exponent")
    return pow(x, y, 1 << 64)


INTEGER_MONADIC: Final[dict[str, Callable[[int], int]]] = {
    "neg": lambda x: -x,
    "sign": lambda x: (x > 0) - (x < 0),
    "abs": abs,
    "bnot": lambda x: ~x,
}

INTEGER_DYADIC: Final[dict[str, Callable[[int, int], int]]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "ipow": integer_power,
    "min": min,
    "max": max,
    "residue": integer_residue,
    "gcd": math.gcd,
    "lcm": lambda x, y: x * (y // math.gcd(x, y)) if x and y else 0,
    "band": lambda x, y: x & y,
    "bor": lambda x, y: x | y,
    "bxor": lambda x, y: x ^ y,
}


def shifted(function: str, width: int, x: int, y: int) -> int:
    """y shifted by x bits modulo the width, as digits of a number without a sign where the sign does not come in."""
    count = x % width
    if function == "shl":
        return y << count
    return (y if function == "shr" else y % (1 << width)) >> count


# -------------------------------------------------------------------------- floats


def sign(x: float) -> float:
    return NAN if math.isnan(x) else float((x > 0) - (x < 0))


def natural_log(x: float) -> float:
    return -INFINITY if x == 0 else total(math.log)(x)


def power(x: float, y: float) -> float:
    """IEEE pow."""
    odd = math.isfinite(y) and y == math.floor(y) and math.fmod(y, 2) != 0
    try:
        return math.pow(x, y)
    except OverflowError:
        return -INFINITY if x < 0 and odd else INFINITY
    except ValueError:
        if x != 0:
            return NAN
        return math.copysign(INFINITY, x) if odd else INFINITY


def log_base(x: float, y: float) -> float:
    if x == 2 or x == 10:
        if y == 0:
            return -INFINITY
        return total(math.log2 if x == 2 else math.log10)(y)
    return real_quotient(natural_log(y), natural_log(x))


def root(x: float, y: float) -> float:
    return total(math.sqrt)(y) if x == 2 else power(y, real_quotient(1.0, x))


def minimum(x: float, y: float) -> float:
    return NAN if math.isnan(x) or math.isnan(y) else x if x < y else y  # of equal zeros the second, as everywhere


def maximum(x: float, y: float) -> float:
    return NAN if math.isnan(x) or math.isnan(y) else x if x > y else y


def residue(x: float, y: float) -> float:
    if x == 0:
        return y
    return NAN if math.isinf(y) or math.isnan(y) or math.isnan(x) else y % x


def arctanh(x: float) -> float:
    return math.copysign(INFINITY, x) if abs(x) == 1 else total(math.atanh)(x)


def sinh(x: float) -> float:
    return total(math.sinh, math.copysign(INFINITY, x))(x)


def log1p(x: float) -> float:
    return -INFINITY if x == -1 else total(math.log1p)(x)


def phase(x: float) -> float:
    if math.isnan(x):
        return NAN
    return math.pi if x < 0 else 0.0


FLOAT_MONADIC: Final[dict[str, Callable[[float], float]]] = {
    "neg": lambda x: -x,
    "sign": sign,
    "reciprocal": lambda x: real_quotient(1.0, x),
    "abs": abs,
    "exp": total(math.exp),
    "ln": natural_log,
    "sqrt": total(math.sqrt),
    "factorial": factorial,
    "pi_times": lambda x: math.pi * x,
    "erf": math.erf,
    "erfc": math.erfc,
    "lgamma": lgamma,
    "digamma": digamma,
    "expm1": total(math.expm1),
    "log1p": log1p,
}

FLOAT_DYADIC: Final[dict[str, Callable[[float, float], float]]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": real_quotient,
    "pow": power,
    "log": log_base,
    "root": root,
    "min": minimum,
    "max": maximum,
    "residue": residue,
    "binomial": binomial,
    "gcd": float_gcd,
    "lcm": float_lcm,
    "atan2": math.atan2,
}

FLOAT_CIRCULAR: Final[dict[int, Callable[[float], float]]] = {
    0: lambda x: total(math.sqrt)(1 - x * x),
    1: total(math.sin),
    2: total(math.cos),
    3: total(math.tan),
    4: lambda x: abs(x) if abs(x) > 2.0**27 else math.sqrt(1 + x * x),
    5: sinh,
    6: total(math.cosh),
    7: math.tanh,
    8: lambda x: NAN,
    9: lambda x: x,
    10: abs,
    11: lambda x: 0.0,
    12: phase,
    -1: total(math.asin),
    -2: total(math.acos),
    -3: math.atan,
    -4: lambda x: x if abs(x) > 2.0**27 else sign(x) * total(math.sqrt)(x * x - 1),
    -5: math.asinh,
    -6: total(math.acosh),
    -7: arctanh,
    -8: lambda x: NAN,
    -9: lambda x: x,
    -10: lambda x: x,
}
