"""Complex meanings of the scalar functions on NumPy arrays, principal values as `cmath` has them.

Products and magnitudes are spelled out as `kernels.complexes` does, to the same bits: NumPy's own products fuse a multiplication
with an addition on some processors and some layouts, and its magnitudes are the C library's.

Neighbours: `reference.complexes` (the definitions item by item), `kernels.complexes`, `reals`, `scalars`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from ....typechecker.elements import Kind
from ...kernels.complexes import LARGE, SHRINK, SMALL, Formulas
from .kinds import DTYPES
from .reals import real_function
from .special import itemwise

Implementation: TypeAlias = Callable[..., Any]


def _monadic(compute: Callable[[Any], Any]) -> Implementation:
    return lambda z: np.asarray(compute(z), z.dtype)


def _dyadic(compute: Callable[[Any, Any], Any]) -> Implementation:
    if compute in _IN_DOUBLE:
        return lambda x, y: np.asarray(compute(x.astype(np.complex128), y.astype(np.complex128)), x.dtype)
    return lambda x, y: np.asarray(compute(x, y), x.dtype)


def _combine(real: Any, imaginary: Any, like: Any) -> Any:
    result = np.empty(np.shape(real), like.dtype)
    result.real = real
    result.imag = imaginary
    return result


def in_parts(made: Sequence[Any], split: Collection[int]) -> tuple[Any, ...]:
    """Results of which some are real and imaginary parts next to each other."""
    found: list[Any] = []
    place = 0
    while place < len(made):
        if place in split:
            dtype = np.result_type(made[place].dtype, np.complex64)
            found.append(_combine(made[place], made[place + 1], np.empty(0, dtype)))
            place += 1
        else:
            found.append(made[place])
        place += 1
    return tuple(found)


def multiply(x: Any, y: Any) -> Any:
    """By four multiplications, each rounded."""
    a, b, c, d = x.real, x.imag, y.real, y.imag
    return _combine(a * c - b * d, a * d + b * c, x)


def magnitude(z: Any) -> Any:
    """The root of the sum of squares, in binary64; scaled by a power of two where squares would overflow or vanish."""
    a, b = np.abs(z.real).astype(np.float64), np.abs(z.imag).astype(np.float64)
    far = np.isinf(a) | np.isinf(b)
    if z.dtype == np.complex64:
        root = np.sqrt(a * a + b * b)
    else:
        most = np.maximum(a, b)
        large, small = most > LARGE, most < SMALL
        if np.any(large) or np.any(small):
            factor = np.where(large, SHRINK, np.where(small, 1 / SHRINK, 1.0))
            a, b = a * factor, b * factor
            root = np.sqrt(a * a + b * b) * np.where(large, 1 / SHRINK, np.where(small, SHRINK, 1.0))
        else:
            root = np.sqrt(a * a + b * b)
    return np.where(far, np.inf, root).astype(z.real.dtype)


def divide(x: Any, y: Any) -> Any:
    """NumPy divides by Smith's method; by exactly 0 each part is divided by 0."""
    quotient = np.true_divide(x, y)
    zero = np.equal(y, 0)
    if zero.any():
        nothing = np.array(0.0, x.real.dtype)
        x = np.broadcast_to(x, quotient.shape)
        quotient = np.where(zero, _combine(x.real / nothing, x.imag / nothing, quotient), quotient)
    return quotient


def _sign(z: Any) -> Any:
    size = np.absolute(z)
    size = np.where(size == 0, np.array(1, size.dtype), size)
    return np.where(np.equal(z, 0), np.array(0, z.dtype), _combine(z.real / size, z.imag / size, z))


def floor(z: Any) -> Any:
    """McDonnell's complex floor; a part that is not finite stays as it is."""
    real, imaginary = np.floor(z.real), np.floor(z.imag)
    f, g = z.real - real, z.imag - imaginary
    finite = np.isfinite(z.real) & np.isfinite(z.imag)
    carry = finite & (f + g >= 1)
    one = np.array(1, real.dtype)
    return _combine(np.where(carry & (f >= g), real + one, real), np.where(carry & (f < g), imaginary + one, imaginary), z)


def _ceiling(z: Any) -> Any:
    return -floor(-z) + np.array(0, z.dtype)


def _power(x: Any, y: Any) -> Any:
    result = np.power(x, y)
    zero = np.equal(x, 0)
    if zero.any():
        nan = np.array(complex(math.nan, math.nan), result.dtype)
        at_zero = np.where(np.equal(y, 0), np.array(1, result.dtype), np.where(y.real > 0, np.array(0, result.dtype), nan))
        result = np.where(zero, at_zero, result)
    return result


def _log(x: Any, y: Any) -> Any:
    return divide(np.log(y), np.log(x))


def _root(x: Any, y: Any) -> Any:
    return np.where(np.equal(x, 2), np.sqrt(y), _power(y, divide(np.array(1, x.dtype), x)))


def _residue(x: Any, y: Any) -> Any:
    zero = np.equal(x, 0)
    safe = np.where(zero, np.array(1, x.dtype), x)
    return np.where(zero, y, y - safe * floor(_smith(y, safe)))


def _smith(x: Any, y: Any) -> Any:
    """Division rounded as the reference rounds it, since a floor follows."""
    c, d = y.real, y.imag
    wide = np.absolute(c) >= np.absolute(d)
    large, small = np.where(wide, c, d), np.where(wide, d, c)
    ratio = small / large
    scale = np.where(wide, c + d * ratio, c * ratio + d)
    real = np.where(wide, x.real + x.imag * ratio, x.real * ratio + x.imag)
    imaginary = np.where(wide, x.imag - x.real * ratio, x.imag * ratio - x.real)
    return _combine(real / scale, imaginary / scale, x)


def _reciprocal(z: Any) -> Any:
    return divide(np.array(1, z.dtype), z)


def _pi_times(z: Any) -> Any:
    return _combine(z.real * math.pi, z.imag * math.pi, z)


class _Arrays(Formulas[Any]):
    """The formulas of kernels on NumPy's arrays."""

    def number(self, value: float, kind: Kind) -> Any:
        return np.array(value, DTYPES[kind])

    def do(self, function: str, *args: Any, on: Kind, to: Kind | None = None, parameter: int = 0) -> Any:
        return real_function(function, on, parameter)(*args)


_ARRAYS: Final = _Arrays()


def _exponential(z: Any) -> Any:
    return _combine(*_ARRAYS.exponential(z.real.astype(np.float64, copy=False), z.imag.astype(np.float64, copy=False)), z)


def _gcd(x: Any, y: Any) -> Any:
    from ...scalar.gaussian import greatest_common_divisor

    return itemwise(greatest_common_divisor, x, y)


def _lcm(x: Any, y: Any) -> Any:
    from ...scalar.gaussian import least_common_multiple

    return itemwise(least_common_multiple, x, y)


def _factorial(z: Any) -> Any:
    from ...scalar.special import complex_factorial

    return itemwise(complex_factorial, z)


def _binomial(x: Any, y: Any) -> Any:
    from ...scalar.special import complex_binomial

    return itemwise(complex_binomial, x, y)


_IN_DOUBLE: Final = frozenset({_power, _log, _root, _residue})
"""c64 rounds once: the intermediate logarithm would lose digits."""

COMPLEX: Final[dict[str, Implementation]] = {
    "div": _dyadic(divide), "sign": _monadic(_sign), "floor": _monadic(floor), "ceil": _monadic(_ceiling), "pow": _dyadic(_power),
    "log": _dyadic(_log), "root": _dyadic(_root), "residue": _dyadic(_residue), "reciprocal": _monadic(_reciprocal),
    "pi_times": _monadic(_pi_times), "gcd": _dyadic(_gcd), "lcm": _dyadic(_lcm), "factorial": _monadic(_factorial),
    "binomial": _dyadic(_binomial), "mul": multiply, "abs": magnitude, "exp": _monadic(_exponential),
}  # fmt: skip


def _minus_four(z: Any) -> Any:
    one = np.array(1, z.dtype)
    bottom = np.equal(z, -one)
    return np.where(bottom, np.array(0, z.dtype), (z + one) * np.sqrt(divide(z - one, np.where(bottom, one, z + one))))


def _root_of_square(constant: int, factor: int, z: Any) -> Any:
    """√constant+factor×z²; where z² might overflow the constant is nothing beside it."""
    z = np.asarray(z, np.complex128)
    size = np.maximum(np.abs(z.real), np.abs(z.imag))
    is_large = (size > 2.0**500) & (size < np.inf)
    if not is_large.any():
        return np.sqrt(constant + factor * (z * z))
    z = np.where(is_large, z * 2.0**-762, z)
    root = np.sqrt(np.where(is_large, 0, constant) + factor * (z * z))
    return np.where(is_large, root * 2.0**762, root)


def _turned(z: Any) -> Any:
    """z × 0J1."""
    return _combine(-z.imag, z.real, z)


_CIRCULAR: Final[dict[int, Callable[[Any], Any]]] = {
    0: lambda z: _root_of_square(1, -1, z), 1: np.sin, 2: np.cos, 3: np.tan,
    4: lambda z: _root_of_square(1, 1, z), 5: np.sinh, 6: np.cosh, 7: np.tanh,
    8: lambda z: _root_of_square(-1, -1, z), 9: np.real, 10: magnitude, 11: np.imag, 12: np.angle,
    -1: np.arcsin, -2: np.arccos, -3: np.arctan, -4: _minus_four, -5: np.arcsinh, -6: np.arccosh, -7: np.arctanh,
    -8: lambda z: -_root_of_square(-1, -1, z), -9: np.asarray, -10: np.conjugate, -11: _turned,
    -12: lambda z: _exponential(_turned(z)),
}  # fmt: skip


_REAL: Final = frozenset({9, 10, 11, 12})
"""Those that are real."""


def complex_circular(parameter: int) -> Implementation:
    compute = _CIRCULAR[parameter]
    return lambda z: np.array(compute(z), z.dtype if parameter not in _REAL else None)
