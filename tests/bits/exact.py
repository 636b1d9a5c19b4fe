"""Integers of every width in Python's exact arithmetic: their edges, and what scalar functions give, wrapped to the width."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

WIDTHS = {"bool": (0, 1), "u8": (0, 255), "i32": (-(2**31), 2**31 - 1), "i64": (-(2**63), 2**63 - 1)}
DTYPES = {"bool": np.bool_, "u8": np.uint8, "i32": np.int32, "i64": np.int64, "f64": np.float64, "f32": np.float32}
ORDER = ("bool", "u8", "i32", "i64")
POWERS = (1, 2, 7, 8, 15, 16, 24, 31, 32, 53, 62, 63)
LARGE = (2**62, 2**63 - 1, -(2**63))
EDGES = sorted({0, 1, 3, 7, 10, -1, -3, -7, -10, *(s * 2**k + d for k in POWERS for s in (1, -1) for d in (-1, 0, 1))})


def edges(kind: str) -> list[int]:
    low, high = WIDTHS[kind]
    return [n for n in EDGES if low <= n <= high]


def wrapped(number: int, kind: str) -> int:
    """Two's complement of the width."""
    if kind == "bool":
        return number
    low, high = WIDTHS[kind]
    return (number - low) % (high - low + 1) + low


def array(kind: str, items: Any) -> np.ndarray:
    return np.array(items, dtype=DTYPES[kind])


def joint(*kinds: str) -> str:
    """The kind of arithmetic on these kinds."""
    return max((*kinds, "u8"), key=ORDER.index) if set(kinds) != {"bool"} else "i64"


def residue(x: int, y: int) -> int:
    return y % x if x else y


def lcm(x: int, y: int) -> int:
    """Rho's least common multiple has the sign of its arguments' product."""
    return x * (y // math.gcd(x, y)) if x and y else 0


def quotient(x: int, y: int) -> float:
    a, b = float(x), float(y)
    if b:
        return a / b
    return math.nan if not a else math.copysign(math.inf, a)


ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": int.__add__, "-": int.__sub__, "×": int.__mul__, "⌊": min, "⌈": max, "|": residue, "∨": math.gcd, "∧": lcm,
}  # fmt: skip
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda x, y: x < y, "≤": lambda x, y: x <= y, "=": lambda x, y: x == y,
    "≥": lambda x, y: x >= y, ">": lambda x, y: x > y, "≠": lambda x, y: x != y,
}  # fmt: skip
TRUTHS = {
    "∧": lambda x, y: bool(x and y), "∨": lambda x, y: bool(x or y), "⍲": lambda x, y: not (x and y),
    "⍱": lambda x, y: not (x or y),
}  # fmt: skip
MONADIC: dict[str, Callable[[int], int]] = {
    "-": int.__neg__, "×": lambda x: (x > 0) - (x < 0), "|": abs, "⌊": int, "⌈": int, "+": int,
    "(0⌈3⌊⊢)": lambda x: max(0, min(3, x)),
    "(×⍨)": lambda x: x * x, "(⊢*2⍨)": lambda x: x * x, "(⊢*3⍨)": lambda x: x**3, "(⊢*7⍨)": lambda x: x**7, "(⊢*0⍨)": lambda x: 1,
}  # fmt: skip
