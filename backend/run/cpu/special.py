"""Special functions on NumPy arrays: the gamma family, the error function, and divisors of floats.

Factorials of whole numbers, which are the common ones, go through a table; the rest go item by item through the definitions,
which are also those of the reference.

Neighbours: `scalar.special` (definitions), `scalars`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

from ...scalar import special as definitions
from .kinds import NumArray


def itemwise(function: Callable[..., Any], *args: Any) -> Any:
    """`function` of Python values, applied to each item of the broadcast operands; the first operand's dtype."""
    dtype = args[0].dtype
    if len(args) == 1:
        flat = args[0].reshape(-1).tolist()
        return np.array(list(map(function, flat)), dtype).reshape(args[0].shape)
    operands = np.broadcast_arrays(*args)
    columns = [operand.reshape(-1).tolist() for operand in operands]
    return np.array(list(map(function, *columns)), dtype).reshape(operands[0].shape)


@cache
def _factorials() -> NumArray:
    return np.array([float(math.factorial(n)) for n in range(171)])


def _factorial(x: Any) -> Any:
    whole = (x >= 0) & (x <= 170) & (x == np.floor(x))
    table = _factorials()[np.where(whole, x, 0).astype(np.intp)].astype(x.dtype)
    if whole.all():
        return table
    result = np.asarray(table)
    rest = ~whole
    if result.ndim == 0:
        return itemwise(definitions.factorial, x)
    result[rest] = itemwise(definitions.factorial, x[rest])
    return result


def _item(function: Callable[..., float]) -> Callable[..., Any]:
    return lambda *args: itemwise(function, *args)


SPECIAL: Final[dict[str, Callable[..., Any]]] = {
    "factorial": _factorial, "erf": _item(math.erf), "erfc": _item(math.erfc), "lgamma": _item(definitions.lgamma),
    "digamma": _item(definitions.digamma), "binomial": _item(definitions.binomial), "gcd": _item(definitions.float_gcd),
    "lcm": _item(definitions.float_lcm),
}  # fmt: skip
