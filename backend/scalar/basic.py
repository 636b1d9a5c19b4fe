"""The meanings that are an instruction or few, of every kind they have.

Comparisons and arithmetic are those of the kind: whole numbers wrap, floats follow IEEE 754.

Neighbours: `machine` (what they are written for), `table` (names them), `typechecker.scalars` (what they have to be).
"""

from __future__ import annotations

import math
from typing import Any

from .machine import Machine


def add(x: Any, y: Any, m: Machine) -> Any:
    return x + y


def sub(x: Any, y: Any, m: Machine) -> Any:
    return x - y


def mul(x: Any, y: Any, m: Machine) -> Any:
    return x * y


def div(x: Any, y: Any, m: Machine) -> Any:
    return x / y


def neg(x: Any, m: Machine) -> Any:
    return -x


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


def complement(x: Any, m: Machine) -> Any:
    return ~x


def both(x: Any, y: Any, m: Machine) -> Any:
    return x & y


def either(x: Any, y: Any, m: Machine) -> Any:
    return x | y


def differing(x: Any, y: Any, m: Machine) -> Any:
    return x ^ y


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


# ------------------------------------------------------------------------------------- comparisons


def lt(x: Any, y: Any, m: Machine) -> Any:
    return x < y


def le(x: Any, y: Any, m: Machine) -> Any:
    return x <= y


def eq(x: Any, y: Any, m: Machine) -> Any:
    return x == y


def ge(x: Any, y: Any, m: Machine) -> Any:
    return x >= y


def gt(x: Any, y: Any, m: Machine) -> Any:
    return x > y


def ne(x: Any, y: Any, m: Machine) -> Any:
    return x != y


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
