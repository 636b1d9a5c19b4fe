"""Element types: kinds, ranges, index types, weak literals, promotion.

An `Element` is a storage kind with what else is known statically: an integer range, the size an
index stays below, and whether it is weak (a literal, a `param` or a known size, which never widens
an array's element type).  Rules: language.md, Numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .sizes import Size


class Kind(Enum):
    """Storage kind of an element."""

    BOOL = "bool"
    U8 = "u8"
    I32 = "i32"
    I64 = "i64"
    F32 = "f32"
    F64 = "f64"
    C64 = "c64"
    C128 = "c128"
    CHAR = "char"

    @property
    def bytes(self) -> int:
        """Storage bytes of one element (char is a 4-byte code point)."""
        return _BYTES[self]

    @property
    def is_integer(self) -> bool:
        """Integers proper: u8, i32, i64 (not bool)."""
        return self in (Kind.U8, Kind.I32, Kind.I64)

    @property
    def is_float(self) -> bool:
        return self in (Kind.F32, Kind.F64)

    @property
    def is_complex(self) -> bool:
        return self in (Kind.C64, Kind.C128)


_BYTES = {
    Kind.BOOL: 1, Kind.U8: 1, Kind.I32: 4, Kind.I64: 8, Kind.F32: 4,
    Kind.F64: 8, Kind.C64: 8, Kind.C128: 16, Kind.CHAR: 4,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Element:
    """An element type.

    `low`, `high`: inclusive integer range when known (bool and integer kinds; Python ints, never
    sizes).  `below`: the element is `idx<below>`, stored from 0 as i64.  `weak`: see above.
    """

    kind: Kind
    low: int | None = None
    high: int | None = None
    below: Size | None = None
    weak: bool = False
