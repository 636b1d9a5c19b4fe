"""Conversions between kinds as LLVM text; lanes whose value does not fit are noted in `Vectors.checks`.

Neighbours: `scalar_text` (asks), `vectors`.
"""

from __future__ import annotations

import math
from typing import Final

from ...typechecker.elements import Kind
from .vectors import COMPUTED, UNSIGNED, Check, Vectors


def convert(v: Vectors, source: Kind, target: Kind, x: str) -> str:
    """To a kind that is known to hold the value (floats round)."""
    if source is target:
        return x
    if target is Kind.BOOL:
        return v.compare("une" if source.is_float else "ne", source, x, v.constant(source, 0))
    if source.is_float:
        if target.is_float:
            return v.cast("fpext" if target is Kind.F64 else "fptrunc", source, target, x)
        return v.cast("fptosi", source, target, x)
    if target.is_float:
        return v.cast("uitofp" if source in UNSIGNED else "sitofp", source, target, x)
    if COMPUTED[source] == COMPUTED[target]:
        return x
    if target.bytes < source.bytes:
        return v.cast("trunc", source, target, x)
    return v.cast("zext" if source in UNSIGNED else "sext", source, target, x)


_BOUNDS: Final = {Kind.BOOL: (0, 1), Kind.CHAR: (0, 0x10FFFF), Kind.U8: (0, 255), Kind.I32: (-(1 << 31), (1 << 31) - 1)}


def convert_checked(v: Vectors, place: int, source: Kind, target: Kind, x: str) -> str:
    """As `convert`, noting the lanes whose value does not fit."""
    if source is target:
        return x
    if target.is_float:
        result = convert(v, source, target, x)
        if source is Kind.F64:
            far = v.compare("oeq", target, v.intrinsic("fabs", target, result), v.constant(target, math.inf))
            near = v.compare("one", source, v.intrinsic("fabs", source, x), v.constant(source, math.inf))
            v.checks.append(Check(place, v.w.let(f"and <{v.lanes} x i1> {far}, {near}"), x, source))
        return result
    if source.is_float:
        whole = whole_checked(v, place, source, x, x, target)
        return convert(v, Kind.I64, target, whole)
    if target is not Kind.I64 and source is not Kind.BOOL:
        wide = convert(v, source, Kind.I64, x)
        _check_range(v, place, target, wide, x, source)
    return convert(v, source, target, x)


def _check_range(v: Vectors, place: int, target: Kind, wide: str, value: str, kind: Kind) -> None:
    low, high = _BOUNDS[target]
    below = v.compare("slt", Kind.I64, wide, v.constant(Kind.I64, low))
    above = v.compare("sgt", Kind.I64, wide, v.constant(Kind.I64, high))
    v.checks.append(Check(place, v.w.let(f"or <{v.lanes} x i1> {below}, {above}"), value, kind))


def whole_checked(v: Vectors, place: int, kind: Kind, x: str, value: str, target: Kind) -> str:
    """A float that must be a whole number of the target's range, as an i64; 0 in the lanes that are noted as bad."""
    limit = float(1 << 63)
    inside = v.binary("and", Kind.BOOL, v.compare("oge", kind, x, v.constant(kind, -limit)),
                      v.compare("olt", kind, x, v.constant(kind, limit)))  # fmt: skip
    if x == value:
        inside = v.binary("and", Kind.BOOL, inside, v.compare("oeq", kind, v.intrinsic("floor", kind, x), x))
    v.checks.append(Check(place, v.binary("xor", Kind.BOOL, inside, v.constant(Kind.BOOL, 1)), value, kind))
    whole = v.cast("fptosi", kind, Kind.I64, v.choose(kind, inside, x, v.constant(kind, 0.0)))
    if target is not Kind.I64:
        _check_range(v, place, target, whole, value, kind)
    return whole
