"""The meanings that are an instruction or few, of every kind they have.

Comparisons and arithmetic are those of the kind: whole numbers wrap, floats follow IEEE 754.

Neighbours: `machine` (what they are written for), `table` (names them), `typechecker.scalars` (what they have to be).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from .machine import Machine


def _python(operation: Callable[..., Any]) -> Callable[..., Any]:
    """An operator of Python's, which values of every machine have."""
    return lambda *values: operation(*values[:-1])


add = _python(operator.add)
sub = _python(operator.sub)
mul = _python(operator.mul)
div = _python(operator.truediv)
neg = _python(operator.neg)
complement = _python(operator.invert)
both = _python(operator.and_)
either = _python(operator.or_)
differing = _python(operator.xor)
lt = _python(operator.lt)
le = _python(operator.le)
eq = _python(operator.eq)
ge = _python(operator.ge)
gt = _python(operator.gt)
ne = _python(operator.ne)


def reciprocal(x: Any, m: Machine) -> Any:
    return 1.0 / x


def pi_times(x: Any, m: Machine) -> Any:
    return x * math.pi


def square(x: Any, m: Machine) -> Any:
    return x * x


def sqrt(x: Any, m: Machine) -> Any:
    return m.root(x)


def half_power(x: Any, m: Machine) -> Any:
    """x*0.5: as the square root, but 0 of -0.0 and ∞ of -∞."""
    root = m.root(x) + 0.0
    return m.choose(x == -math.inf, math.inf, root)


def same(x: Any, y: Any, m: Machine) -> Any:
    """Are all bits the same?"""
    return m.bits(x) == m.bits(y) if m.is_float(x) else x == y


def outside(x: Any, y: Any, m: Machine) -> Any:
    """Is x no index of so many (y ≥ 0) items?"""
    return (x < 0) | (x >= y)


def abs(x: Any, m: Machine) -> Any:
    return m.magnitude(x)


def sign(x: Any, m: Machine) -> Any:
    """Of a NaN the NaN itself; 0 of -0.0."""
    zero = m.like(x, 0)
    below = m.choose(x < 0, m.like(x, -1), zero) if m.is_signed(x) else zero
    found = m.choose(x > 0, m.like(x, 1), below)
    return m.choose(x != x, x, found) if m.is_float(x) else found


def least(x: Any, y: Any, m: Machine) -> Any:
    """NaN if either is NaN; of equal ones the second."""
    if not m.is_float(x):
        return m.smaller(x, y)
    chosen = m.choose(x < y, x, y)
    return m.choose(x != x, x, chosen)


def greatest(x: Any, y: Any, m: Machine) -> Any:
    if not m.is_float(x):
        return m.larger(x, y)
    chosen = m.choose(x > y, x, y)
    return m.choose(x != x, x, chosen)


def residue(x: Any, y: Any, m: Machine) -> Any:
    return m.residue(x, y)


# ------------------------------------------------------------------------------------- bits and truths


def nand(x: Any, y: Any, m: Machine) -> Any:
    return ~(x & y)


def nor(x: Any, y: Any, m: Machine) -> Any:
    return ~(x | y)


def shl(x: Any, y: Any, m: Machine) -> Any:
    return y << (x & (m.width(x) - 1))


def shr(x: Any, y: Any, m: Machine) -> Any:
    return m.shifted_right(y, x & (m.width(x) - 1))


def shru(x: Any, y: Any, m: Machine) -> Any:
    return m.shifted_right_unsigned(y, x & (m.width(x) - 1))


def select(condition: Any, x: Any, y: Any, m: Machine) -> Any:
    return m.choose(condition, x, y)


# ------------------------------------------------------------------------------------- conversions


def floor(x: Any, m: Machine) -> Any:
    return m.rounded_down(x)


def ceil(x: Any, m: Machine) -> Any:
    return m.rounded_up(x)


def convert(x: Any, m: Machine) -> Any:
    return m.converted(x)


def convert_checked(x: Any, m: Machine) -> Any:
    return m.checked(x)
