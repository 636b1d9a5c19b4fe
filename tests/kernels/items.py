"""The definitions of `kernels.mathematics` on single numbers of binary64, in Python: what the compiled ones are compared with.

Values are NumPy's scalars, which divide by zero."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

from rho.backend.kernels.tables import entries

_ALL: Final = (1 << 64) - 1


class Word:
    """64 bits."""

    __slots__ = ("bits",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, bits: int) -> None:
        self.bits = bits & _ALL

    def __add__(self, other: Word | int) -> Word:
        return Word(self.bits + _of(other))

    def __sub__(self, other: Word | int) -> Word:
        return Word(self.bits - _of(other))

    def __and__(self, other: Word | int) -> Word:
        return Word(self.bits & _of(other))

    def __lshift__(self, other: int) -> Word:
        return Word(self.bits << other)

    def __rshift__(self, other: int) -> Word:
        return Word(self.bits >> other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Word | int) and self.bits == _of(other) & _ALL

    def __lt__(self, other: int) -> bool:
        return (self.bits ^ 1 << 63) - (1 << 63) < other


def _of(other: Word | int) -> int:
    return other.bits if isinstance(other, Word) else other


class Items:
    """`backend.kernels.elementary.Machine` on Python's numbers."""

    def __init__(self, fma: Callable[[float, float, float], float]) -> None:
        self._fma = fma

    def fma(self, x: float, y: float, z: float) -> float:
        return np.float64(self._fma(x, y, z))

    def choose(self, condition: bool, x: Any, y: Any) -> Any:
        chosen = x if condition else y
        return np.float64(chosen) if isinstance(chosen, float) else chosen

    def magnitude(self, x: float) -> float:
        return np.float64(abs(x))

    def root(self, x: float) -> float:
        return np.float64(math.sqrt(x) if x >= 0 else math.nan)

    def signed(self, size: float, x: float) -> float:
        return np.float64(math.copysign(size, x))

    def bits(self, x: float) -> Word:
        return Word(struct.unpack("<Q", struct.pack("<d", x))[0])

    def float_of(self, bits: Word) -> float:
        return np.float64(struct.unpack("<d", struct.pack("<Q", bits.bits))[0])

    def number(self, word: Word) -> float:
        return np.float64((word.bits ^ 1 << 63) - (1 << 63))

    def lookup(self, table: str, index: Word, start: int) -> float:
        return entries(table)[index.bits - start]

    def patch(self, name: str, where: bool, x: float, value: float) -> float:
        if not where:
            return value
        return float(getattr(math, name)(x)) if math.isfinite(x) else math.nan

    def usually(self, where: bool, value: float, other: Callable[[], float]) -> float:
        return value if where else other()


@cache
def items() -> Items:
    fma = ctypes.CDLL(None).fma
    fma.argtypes, fma.restype = [ctypes.c_double] * 3, ctypes.c_double
    return Items(fma)
