"""Constants by their bits, as they are shown and read.

Neighbours: `writing`, `reading`.
"""

from __future__ import annotations

import math
import struct
from typing import Final

from ....typechecker.elements import Kind

_FLOATS: Final = {Kind.F64: ("<d", "<Q"), Kind.F32: ("<f", "<I")}
_NAN: Final = {Kind.F64: 0x7FF8 << 48, Kind.F32: 0x7FC0 << 16}


def float_bits(kind: Kind, value: float) -> int:
    """The stored bits of a float of kind f32 or f64."""
    to, back = _FLOATS[kind]
    try:
        return int(struct.unpack(back, struct.pack(to, value))[0])
    except OverflowError:
        return float_bits(kind, math.copysign(math.inf, value))


def literal_value(kind: Kind, bits: int) -> bool | int | float | str:
    """The item that a constant's bits are."""
    if kind in _FLOATS:
        to, back = _FLOATS[kind]
        return float(struct.unpack(to, struct.pack(back, bits))[0])
    return bool(bits) if kind is Kind.BOOL else chr(bits) if kind is Kind.CHAR else bits


def literal(kind: Kind, bits: int) -> str:
    if kind in _FLOATS:
        value = literal_value(kind, bits)
        shown = repr(value) if kind is Kind.F64 else f"{value:.9g}"
        return shown if literal_bits(kind, shown) == bits else f"bits 0x{bits:x}"
    if kind is Kind.BOOL and bits in (0, 1):
        return "true" if bits else "false"
    return str(bits)


def literal_bits(kind: Kind, shown: str) -> int:
    if shown in ("true", "false"):
        return int(shown == "true")
    if kind not in _FLOATS:
        return int(shown)
    return _NAN[kind] if shown == "nan" else float_bits(kind, float(shown))
