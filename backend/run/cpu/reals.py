"""Scalar functions of real numbers on NumPy arrays (the contract is that of `scalars`).

`PLAIN` names those that are one ufunc, which may also reduce, accumulate and work in place at no cost.

Neighbours: `typechecker.scalars` (definitions), `mathematics`, `special`, `conversions`; `scalars` and `complexes` ask here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from ....typechecker.elements import Kind
from ...scalar.table import TRANSCENDENTAL, UFUNCS
from .kinds import NumArray

Implementation: TypeAlias = Callable[..., Any]

PLAIN: Final[dict[str, np.ufunc]] = {function: getattr(np, ufunc) for function, ufunc in UFUNCS.items()}


def real_function(function: str, kind: Kind, parameter: int = 0) -> Implementation:
    """`function` of operands that are no complex numbers."""
    if function in TRANSCENDENTAL:
        from .mathematics import own_function

        return own_function(function, kind, parameter, _plain(function, kind, parameter))
    return _plain(function, kind, parameter)


def _plain(function: str, kind: Kind, parameter: int) -> Implementation:
    """By NumPy's functions."""
    if function == "circular":
        return _CIRCULAR[parameter]
    if function == "gcd" and kind.is_integer:
        return np.gcd
    if function == "lcm" and kind.is_integer:
        return _integer_lcm
    if function == "residue" and kind.is_integer:
        return _integer_residue
    if function in _EXTREMES:
        return _EXTREMES[function]
    if function in PLAIN:
        return PLAIN[function]
    if function in _COMPOUND:
        return _COMPOUND[function]
    from .special import special

    return special(function)


def place(value: Any, out: NumArray | None) -> Any:
    """`value` as the result: copied into `out` if there is one."""
    if out is None:
        return value
    np.copyto(out, value, casting="unsafe")
    return out


# ------------------------------------------------------------------------ compound functions


def _nand(x: Any, y: Any, out: NumArray | None = None) -> Any:
    return np.logical_not(np.logical_and(x, y, out), out)


def _nor(x: Any, y: Any, out: NumArray | None = None) -> Any:
    return np.logical_not(np.logical_or(x, y, out), out)


def _reciprocal(x: Any, out: NumArray | None = None) -> Any:
    return np.true_divide(np.array(1, x.dtype), x, out)


def _pi_times(x: Any, out: NumArray | None = None) -> Any:
    return np.multiply(x, np.array(math.pi, x.dtype), out)


def _count(x: Any) -> Any:
    """How far to shift: modulo the width."""
    return np.bitwise_and(x, x.dtype.type(8 * x.dtype.itemsize - 1))


def _shift_left(x: Any, y: Any, out: NumArray | None = None) -> Any:
    return np.left_shift(y, _count(x), out)


def _shift_right(x: Any, y: Any, out: NumArray | None = None) -> Any:
    return np.right_shift(y, _count(x), out)


def _shift_right_unsigned(x: Any, y: Any, out: NumArray | None = None) -> Any:
    wide = np.dtype(f"u{y.dtype.itemsize}")
    return place(np.right_shift(np.asarray(y).view(wide), np.asarray(_count(x)).view(wide)).view(y.dtype), out)


def _minimum(x: Any, y: Any, out: NumArray | None = None) -> Any:
    return np.minimum(x, y, out=out)


def _maximum(x: Any, y: Any, out: NumArray | None = None) -> Any:
    return np.maximum(x, y, out=out)


def _power(x: Any, y: Any, out: NumArray | None = None) -> Any:
    return np.power(x, y, out)


def _square_root_power(x: Any, out: NumArray | None = None) -> Any:
    """x*0.5: as the square root, but 0 of -0.0 and ∞ of -∞ (for which `np.power` would call the square root)."""
    far = x == -np.inf
    root = np.add(np.sqrt(x, out), np.array(0, x.dtype), out)
    return place(np.where(far, np.array(np.inf, x.dtype), root), out) if far.any() else root


def _cube(x: Any, out: NumArray | None = None) -> Any:
    return np.multiply(np.square(x), x, out)


def _fourth_power(x: Any, out: NumArray | None = None) -> Any:
    return np.square(np.square(x), out)


FIXED_POWERS: Final[dict[Any, Implementation]] = {
    2.0: np.square, 3.0: _cube, 4.0: _fourth_power, 0.5: _square_root_power, -1.0: _reciprocal,
}  # fmt: skip
"""x to a constant power by faster functions: those of `kernels.constants`."""


def _log(x: Any, y: Any, out: NumArray | None = None) -> Any:
    """Base 2 and 10 by their own functions."""
    if x.ndim == 0:
        if x == 2:
            return np.log2(y, out)
        if x == 10:
            return np.log10(y, out)
        return np.true_divide(np.log(y), np.log(x), out)
    two, ten = x == 2, x == 10
    result = np.log(y) / np.log(x)
    if two.any():
        result = np.where(two, np.log2(y), result)
    if ten.any():
        result = np.where(ten, np.log10(y), result)
    return place(result, out)


def _root(x: Any, y: Any, out: NumArray | None = None) -> Any:
    """In binary64, rounded once: the degree's reciprocal needs the digits."""
    if x.dtype == np.float32:
        wide = _root(x.astype(np.float64), y.astype(np.float64))
        return place(wide, out) if out is not None else wide.astype(np.float32)
    if x.ndim == 0:
        return np.sqrt(y, out) if x == 2 else np.power(y, np.true_divide(np.array(1, x.dtype), x), out)
    return place(np.where(x == 2, np.sqrt(y), np.power(y, np.true_divide(np.array(1, x.dtype), x))), out)


def _float_residue(x: Any, y: Any, out: NumArray | None = None) -> Any:
    """Python's `y % x` by NumPy's remainder, which is the same; y where x is 0."""
    if x.all():
        return np.remainder(y, x, out)
    return place(np.where(x == 0, y, np.remainder(y, x)), out)


def _integer_residue(x: Any, y: Any, out: NumArray | None = None) -> Any:
    if x.all():
        return np.remainder(y, x, out)
    return place(np.where(x == 0, y, np.remainder(y, x)), out)


def _integer_lcm(x: Any, y: Any, out: NumArray | None = None) -> Any:
    """x×(y÷gcd): keeps the product's sign; 0 where either is 0."""
    divisor = np.gcd(x, y)
    return np.multiply(x, np.floor_divide(y, np.where(divisor == 0, np.array(1, divisor.dtype), divisor)), out)


def _whole(rounding: np.ufunc) -> Implementation:
    def apply(x: Any, out: NumArray | None = None) -> Any:
        rounded = rounding(x)
        from .conversions import require_i64

        require_i64(rounded, "floor" if rounding is np.floor else "ceiling")
        return place(rounded, out) if out is not None else rounded.astype(np.int64)

    return apply


def _select(condition: Any, x: Any, y: Any, out: NumArray | None = None) -> Any:
    if out is None or any(np.may_share_memory(out, operand) for operand in (condition, x, y)):
        return place(np.where(condition, x, y), out)  # two copies would read what the first has written
    np.copyto(out, y)
    np.copyto(out, x, where=condition)
    return out


_EXTREMES: Final[dict[str, Implementation]] = {"min": _minimum, "max": _maximum}  # NumPy wants their `out` by name

_COMPOUND: Final[dict[str, Implementation]] = {
    "nand": _nand, "nor": _nor, "reciprocal": _reciprocal, "pi_times": _pi_times, "pow": _power, "log": _log, "root": _root,
    "shl": _shift_left, "shr": _shift_right, "shru": _shift_right_unsigned,
    "residue": _float_residue, "floor": _whole(np.floor), "ceil": _whole(np.ceil), "select": _select,
}  # fmt: skip


# ------------------------------------------------------------------------ circular functions


def _of_square(sign: int, shift: int) -> Implementation:
    """√(shift + sign×x²)."""

    def apply(x: Any, out: NumArray | None = None) -> Any:
        square = np.multiply(x, x, out)
        combine = np.add if sign > 0 else np.subtract
        return np.sqrt(combine(np.array(shift, x.dtype), square, out), out)

    return apply


def _nan(x: Any, out: NumArray | None = None) -> Any:
    return place(np.full(x.shape, np.nan, x.dtype), out)


def _zero(x: Any, out: NumArray | None = None) -> Any:
    return place(np.zeros(x.shape, x.dtype), out)


def _itself(x: Any, out: NumArray | None = None) -> Any:
    return place(x, out)


def _phase(x: Any, out: NumArray | None = None) -> Any:
    """0 or π; NaN of NaN."""
    return place(np.where(x < 0, np.array(math.pi, x.dtype), np.where(x != x, x, np.array(0, x.dtype))), out)


def _minus_four(x: Any, out: NumArray | None = None) -> Any:
    """sign(x) × √(x²-1)."""
    return np.multiply(np.sign(x), np.sqrt(x * x - np.array(1, x.dtype)), out)


_CIRCULAR: Final[dict[int, Implementation]] = {
    0: _of_square(-1, 1), 1: np.sin, 2: np.cos, 3: np.tan, 4: _of_square(1, 1), 5: np.sinh, 6: np.cosh, 7: np.tanh, 8: _nan,
    9: _itself, 10: np.absolute, 11: _zero, 12: _phase,
    -1: np.arcsin, -2: np.arccos, -3: np.arctan, -4: _minus_four, -5: np.arcsinh, -6: np.arccosh, -7: np.arctanh, -8: _nan,
    -9: _itself, -10: _itself,
}  # fmt: skip
