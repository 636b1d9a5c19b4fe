"""The meanings of `backend.scalar` on NumPy arrays, step by step: the same bits as compiled code.

What is an instruction or few runs here wherever a phase is NumPy's.  Series run here for the first few items of a process only:
importing llvmlite and compiling take a tenth of a second, in which these compute some thousand items.  Fused multiply-adds are
the C library's, item by item, which rounds once on every processor.

Neighbours: `reals`, `mathematics` (ask for these), `backend.scalar.machine.Machine` (what they are).
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ....typechecker.elements import Kind
from ...scalar.table import Definition
from ...scalar.tables import entries
from .kinds import DTYPES


class Words:
    """Whole numbers of 32 or 64 bits."""

    __slots__ = ("bits",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, bits: Any) -> None:
        self.bits = bits

    def of(self, other: Words | int) -> Any:
        return other.bits if isinstance(other, Words) else self.bits.dtype.type(other & ((1 << 8 * self.bits.itemsize) - 1))

    def __add__(self, other: Words | int) -> Words:
        return Words(self.bits + self.of(other))

    def __sub__(self, other: Words | int) -> Words:
        return Words(self.bits - self.of(other))

    def __and__(self, other: Words | int) -> Words:
        return Words(self.bits & self.of(other))

    def __lshift__(self, other: int) -> Words:
        return Words(self.bits << self.of(other))

    def __rshift__(self, other: int) -> Words:
        return Words(self.bits >> self.of(other))

    def __eq__(self, other: object) -> Any:
        return self.bits == self.of(other) if isinstance(other, Words | int) else NotImplemented

    def __lt__(self, other: int) -> Any:
        return self.signed < other

    @property
    def signed(self) -> Any:
        return self.bits.view(f"i{self.bits.itemsize}")


class Arrays:
    """`backend.scalar.machine.Machine` on arrays of one kind, and on scalars of NumPy."""

    def __init__(self, kind: Kind, fused: Callable[[float, float, float], float] | None = None) -> None:
        self.dtype, self.fused = DTYPES[kind], fused

    def like(self, x: Any, number: float) -> Any:
        return x.dtype.type(number)

    def is_float(self, x: Any) -> bool:
        return bool(x.dtype.kind == "f")

    def is_signed(self, x: Any) -> bool:
        return x.dtype.kind in "fi"

    def width(self, x: Any) -> int:
        return int(8 * x.itemsize)

    def shifted_right(self, y: Any, count: Any) -> Any:
        return y >> count

    def shifted_right_unsigned(self, y: Any, count: Any) -> Any:
        unsigned = np.dtype(f"u{y.itemsize}")
        return (y.view(unsigned) >> count.view(unsigned)).view(y.dtype)

    def smaller(self, x: Any, y: Any) -> Any:
        return np.minimum(x, y)

    def larger(self, x: Any, y: Any) -> Any:
        return np.maximum(x, y)

    def residue(self, x: Any, y: Any) -> Any:
        rest = np.remainder(y, x)
        return rest if x.all() else np.where(x == 0, y, rest)

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        assert self.fused is not None, "only series have any"
        operands = np.broadcast_arrays(x, y, z)
        made = map(self.fused, *(operand.reshape(-1).tolist() for operand in operands))
        return np.array(list(made), self.dtype).reshape(operands[0].shape)

    def choose(self, condition: Any, x: Any, y: Any) -> Any:
        if isinstance(x, Words):
            return Words(np.where(condition, x.bits, y.bits))
        dtype = getattr(x, "dtype", getattr(y, "dtype", self.dtype))
        return np.where(condition, np.asarray(x, dtype), np.asarray(y, dtype))

    def magnitude(self, x: Any) -> Any:
        return abs(x)

    def root(self, x: Any) -> Any:
        return np.sqrt(x)

    def signed(self, size: Any, x: Any) -> Any:
        return np.copysign(size, x)

    def bits(self, x: Any) -> Words:
        return Words(np.asarray(x).view(f"u{x.itemsize}"))

    def float_of(self, bits: Words) -> Any:
        return np.asarray(bits.bits).view(f"f{bits.bits.itemsize}")

    def number(self, word: Words) -> Any:
        return word.signed.astype(self.dtype)

    def lookup(self, table: str, index: Words, start: int) -> Any:
        return np.take(_entries(table), (index - start).signed, mode="clip")  # items that are not chosen may be outside

    def pick(self, entries: tuple[float, ...], index: Words) -> Any:
        return np.take(np.array(entries, self.dtype), (index & 15).signed)

    def patch(self, name: str, where: Any, x: Any, value: Any) -> Any:
        if not np.any(where):
            return value
        made, function = np.array(value), getattr(math, name)
        made[where] = [function(item) if math.isfinite(item) else math.nan for item in np.asarray(x)[where].reshape(-1).tolist()]
        return made

    def usually(self, where: Any, value: Any, other: Callable[[], Any]) -> Any:
        return value if np.all(where) else self.choose(where, value, other())


@cache
def _entries(table: str) -> Any:
    return np.array(entries(table))


@cache
def machine(kind: Kind) -> Arrays | None:
    """Of series; None where there is no C library to ask."""
    name, type = ("fma", ctypes.c_double) if kind is Kind.F64 else ("fmaf", ctypes.c_float)
    try:
        fused = getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError, TypeError):
        return None
    fused.argtypes, fused.restype = [type] * 3, type
    return Arrays(kind, fused)


def by_steps(found: Definition, kind: Kind, operands: Sequence[Any]) -> Any:
    """A definition on arrays of a kind, of one shape; None where that cannot be."""
    steps = machine(found.kind)
    if steps is None:
        return None
    with np.errstate(all="ignore"):
        return np.asarray(found.compute(*(np.asarray(operand, DTYPES[found.kind]) for operand in operands), steps), DTYPES[kind])
