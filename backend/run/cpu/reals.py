"""Scalar functions of real numbers on NumPy arrays (the contract is that of `scalars`).

`PLAIN` names those that are one ufunc, which may also reduce and accumulate.

Neighbours: `typechecker.scalars` (definitions), `mathematics`, `special`, `conversions`; `scalars` and `complexes` ask here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from ....typechecker.elements import Kind
from ...kernels.constants import FIXED_POWERS
from ...scalar.table import TRANSCENDENTAL, UFUNCS, definition, is_plain
from .meanings import Arrays

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
    if function == "circular" and parameter in _CIRCULAR:
        return _CIRCULAR[parameter]
    if function == "gcd" and kind.is_integer:
        return np.gcd
    if function == "lcm" and kind.is_integer:
        return _integer_lcm
    if function in PLAIN:
        return PLAIN[function]
    if function in _COMPOUND:
        return _COMPOUND[function]
    if is_plain(function, parameter):
        return _by_meaning(function, kind, parameter)
    from .special import SPECIAL

    return SPECIAL[function]


def _by_meaning(function: str, kind: Kind, parameter: int = 0) -> Implementation:
    """An instruction or few, of which NumPy has no function of its own."""
    found, steps = definition(function, parameter, kind), Arrays(kind)
    assert found is not None, "what is plain has a meaning"
    return lambda *args: np.asarray(found.compute(*args, steps))


# ------------------------------------------------------------------------ compound functions


def fixed_power(exponent: float, kind: Kind) -> Implementation:
    """x to a constant power by the faster functions that kernels take."""
    steps = [(name, _plain(name, kind, 0)) for name in FIXED_POWERS[exponent]]

    def power(x: Any) -> Any:
        made = x
        for name, step in steps:
            made = step(made, x) if name == "mul" else step(made)
        return made

    return power


def _log(x: Any, y: Any) -> Any:
    """Base 2 and 10 by their own functions."""
    result = np.log(y) / np.log(x)
    for base, logarithm in ((2, np.log2), (10, np.log10)):
        if np.any(x == base):
            result = np.where(x == base, logarithm(y), result)
    return result


def _root(x: Any, y: Any) -> Any:
    """In binary64, rounded once: the degree's reciprocal needs the digits."""
    if x.dtype == np.float32:
        return _root(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
    return np.where(x == 2, np.sqrt(y), np.power(y, np.true_divide(1.0, x)))


def _integer_lcm(x: Any, y: Any) -> Any:
    """x×(y÷gcd): keeps the product's sign; 0 where either is 0."""
    divisor = np.gcd(x, y)
    return np.multiply(x, np.floor_divide(y, np.where(divisor == 0, np.array(1, divisor.dtype), divisor)))


def _whole(rounding: np.ufunc) -> Implementation:
    def rounded(x: Any) -> Any:
        from .conversions import require_i64

        whole = rounding(x)
        require_i64(whole, "floor" if rounding is np.floor else "ceiling")
        return whole.astype(np.int64)

    return rounded


_COMPOUND: Final[dict[str, Implementation]] = {
    "pow": np.power, "log": _log, "root": _root, "floor": _whole(np.floor), "ceil": _whole(np.ceil), "select": np.where,
}


_CIRCULAR: Final[dict[int, Implementation]] = {
    1: np.sin, 2: np.cos, 3: np.tan, 5: np.sinh, 6: np.cosh, 7: np.tanh, -1: np.arcsin, -2: np.arccos, -3: np.arctan,
    -5: np.arcsinh, -6: np.arccosh, -7: np.arctanh,
}  # fmt: skip
"""Those that are one of NumPy's."""
