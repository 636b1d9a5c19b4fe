"""The circular functions that are roots or less, of either kind: what NumPy computes for them, step by step.

Neighbours: `table` (names these), `backend.run.cpu.scalars` (the same on arrays).
"""

from __future__ import annotations

import math
from typing import Any, Final

from .elementary import NAN
from .machine import Machine

_LARGE: Final = 2.0**27


def root_less(x: Any, m: Machine) -> Any:
    """√1-x²."""
    return m.root(1.0 - x * x)


def root_more(x: Any, m: Machine) -> Any:
    """√1+x²."""
    return _beyond_one(x, m.root(x * x + 1.0), m)


def root_less_one(x: Any, m: Machine) -> Any:
    """sign(x) × √x²-1."""
    value = _beyond_one(x, m.root(x * x - 1.0), m)
    return m.choose(x < 0.0, -value, value)


def _beyond_one(x: Any, root: Any, m: Machine) -> Any:
    """`root`, which is √x²±1: |x| where the 1 is below the rounding of x², which might overflow."""
    size = m.magnitude(x)
    return m.choose(size > _LARGE, size, root)


def zero(x: Any, m: Machine) -> Any:
    """0."""
    return m.float_of(m.bits(x) & 0)


def nothing(x: Any, m: Machine) -> Any:
    """NaN."""
    nought = zero(x, m)
    return m.choose(nought == 0.0, NAN, nought)


def itself(x: Any, m: Machine) -> Any:
    """x."""
    return x


def size(x: Any, m: Machine) -> Any:
    """|x|."""
    return m.magnitude(x)


def angle(x: Any, m: Machine) -> Any:
    """0 or π; NaN of NaN."""
    return m.choose(x < 0.0, math.pi, m.choose(x == x, zero(x, m), x))
