"""The series of `backend.scalar` on single numbers, in Python: the first few items of a process, with the same bits.

Importing llvmlite and compiling take a tenth of a second, in which these compute some thousand items.  Values are scalars of
NumPy, which divide by zero; fused multiply-adds are the C library's, which rounds once on every processor.

Neighbours: `mathematics` (asks for these), `backend.scalar.machine.Machine` (what they are).
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ....typechecker.elements import Kind
from ...scalar.table import Definition
from ...scalar.tables import entries
from .kinds import DTYPES


class Word:
    """A whole number of 32 or 64 bits."""

    __slots__ = ("bits", "width")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, bits: int, width: int) -> None:
        self.bits, self.width = bits & ((1 << width) - 1), width

    def __add__(self, other: Word | int) -> Word:
        return Word(self.bits + _of(other), self.width)

    def __sub__(self, other: Word | int) -> Word:
        return Word(self.bits - _of(other), self.width)

    def __and__(self, other: Word | int) -> Word:
        return Word(self.bits & _of(other), self.width)

    def __lshift__(self, other: int) -> Word:
        return Word(self.bits << other, self.width)

    def __rshift__(self, other: int) -> Word:
        return Word(self.bits >> other, self.width)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Word | int) and self.bits == Word(_of(other), self.width).bits

    def __lt__(self, other: int) -> bool:
        return self.signed < other

    @property
    def signed(self) -> int:
        half = 1 << self.width - 1
        return (self.bits ^ half) - half


def _of(other: Word | int) -> int:
    return other.bits if isinstance(other, Word) else other


class Items:
    """`backend.scalar.machine.Machine` on scalars of NumPy, of one kind."""

    def __init__(self, kind: Kind, fused: Callable[[float, float, float], float]) -> None:
        self.scalar: Callable[[Any], Any] = DTYPES[kind].type
        self.fused = fused
        self.formats = ("<d", "<Q") if kind is Kind.F64 else ("<f", "<I")

    def like(self, x: Any, number: float) -> Any:
        return type(x)(number)

    def is_float(self, x: Any) -> bool:
        return isinstance(x, np.floating)

    def is_signed(self, x: Any) -> bool:
        return isinstance(x, np.floating | np.signedinteger)

    def width(self, x: Any) -> int:
        return int(8 * x.itemsize)

    def shifted_right(self, y: Any, count: Any) -> Any:
        return y >> count

    def shifted_right_unsigned(self, y: Any, count: Any) -> Any:
        unsigned = np.dtype(f"u{y.itemsize}").type
        return (y.view(unsigned) >> count.view(unsigned)).view(type(y))

    def smaller(self, x: Any, y: Any) -> Any:
        return np.minimum(x, y)

    def larger(self, x: Any, y: Any) -> Any:
        return np.maximum(x, y)

    def residue(self, x: Any, y: Any) -> Any:
        return y if x == 0 else np.remainder(y, x)

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        return self.scalar(self.fused(float(x), float(y), float(z)))

    def choose(self, condition: Any, x: Any, y: Any) -> Any:
        chosen = x if condition else y
        return chosen if isinstance(chosen, Word) else self.scalar(chosen)

    def magnitude(self, x: Any) -> Any:
        return abs(x)

    def root(self, x: Any) -> Any:
        return np.sqrt(x)

    def signed(self, size: Any, x: Any) -> Any:
        return np.copysign(size, x)

    def bits(self, x: Any) -> Word:
        number, word = self.formats
        return Word(struct.unpack(word, struct.pack(number, x))[0], 8 * struct.calcsize(word))

    def float_of(self, bits: Word) -> Any:
        number, word = self.formats
        return self.scalar(struct.unpack(number, struct.pack(word, bits.bits))[0])

    def number(self, word: Word) -> Any:
        return self.scalar(word.signed)

    def lookup(self, table: str, index: Word, start: int) -> Any:
        return self.scalar(entries(table)[index.bits - start])

    def pick(self, entries: tuple[float, ...], index: Word) -> Any:
        return self.scalar(entries[index.bits & 15])

    def patch(self, name: str, where: Any, x: Any, value: Any) -> Any:
        if not where:
            return value
        return self.scalar(getattr(math, name)(x) if math.isfinite(x) else math.nan)

    def usually(self, where: Any, value: Any, other: Callable[[], Any]) -> Any:
        return value if where else other()


@cache
def machine(kind: Kind) -> Items | None:
    """None where there is no C library to ask."""
    name, type = ("fma", ctypes.c_double) if kind is Kind.F64 else ("fmaf", ctypes.c_float)
    try:
        fused = getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError, TypeError):
        return None
    fused.argtypes, fused.restype = [type] * 3, type
    return Items(kind, fused)


def itemwise(found: Definition, kind: Kind, operands: Sequence[Any]) -> Any:
    """A definition on arrays of a kind, of one shape, item by item; None where that cannot be."""
    steps = machine(found.kind)
    if steps is None:
        return None
    wide = DTYPES[found.kind].type
    with np.errstate(all="ignore"):
        columns = [[wide(item) for item in operand.reshape(-1)] for operand in operands]
        made = [found.compute(*row, steps) for row in zip(*columns, strict=True)]
        return np.array(made, DTYPES[found.kind]).astype(DTYPES[kind]).reshape(operands[0].shape)
