"""Tables of sixteen numbers in registers, where processors permute them by indices.

Neighbours: `scalar_text` (asks), `vectors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from ...typechecker.elements import Kind
from .llvm_leaf import has_feature
from .vectors import Vectors


def picked(v: Vectors, entries: tuple[float, ...], index: str) -> str:
    """Of sixteen entries of binary32 those that the low four bits of each i32 lane name."""
    w, lanes = v.w, v.lanes
    if not has_feature("avx2"):
        items = ", ".join(f"float {v.number(entry, Kind.F32)}" for entry in entries)
        name = f"@p{sha256(items.encode()).hexdigest()[:12]}"
        w.declarations[f"{name} = private constant [16 x float] [{items}], align 64"] = None
        low = v.binary("and", Kind.I32, index, v.constant(Kind.I32, 15))
        return v.gather(Kind.F32, w.let(f"getelementptr float, ptr {name}, {v.type(Kind.I32)} {low}"))
    width = 16 if has_feature("avx512f") else 8
    parts = []
    for first in range(0, lanes, width):
        order = ", ".join(f"i32 {min(first + lane, lanes - 1)}" for lane in range(width))
        part = w.let(f"shufflevector {v.type(Kind.I32)} {index}, {v.type(Kind.I32)} poison, <{width} x i32> <{order}>")
        parts.append(_permuted(v, entries, part, width))
    while len(parts) > 1:
        order = ", ".join(f"i32 {lane}" for lane in range(2 * width))
        type = f"<{width} x float>"
        parts = [w.let(f"shufflevector {type} {a}, {type} {b}, <{2 * width} x i32> <{order}>")
                 for a, b in zip(parts[::2], parts[1::2], strict=True)]  # fmt: skip
        width *= 2
    if width == lanes:
        return parts[0]
    order = ", ".join(f"i32 {lane}" for lane in range(lanes))
    return w.let(f"shufflevector <{width} x float> {parts[0]}, <{width} x float> poison, <{lanes} x i32> <{order}>")


def _permuted(v: Vectors, entries: tuple[float, ...], index: str, width: int) -> str:
    w = v.w

    def table(some: Sequence[float]) -> str:
        return "<" + ", ".join(f"float {v.number(entry, Kind.F32)}" for entry in some) + ">"

    if width == 16:
        name, type, places = "llvm.x86.avx512.permvar.sf.512", "<16 x float>", "<16 x i32>"
        return w.call(type, name, (type, table(entries)), (places, index))
    name, type, places = "llvm.x86.avx2.permps", "<8 x float>", "<8 x i32>"
    low, high = (w.call(type, name, (type, table(half)), (places, index)) for half in (entries[:8], entries[8:]))
    is_high = w.let(f"icmp slt {places} {w.let(f'shl {places} {index}, splat (i32 28)')}, zeroinitializer")
    return w.let(f"select <8 x i1> {is_high}, {type} {high}, {type} {low}")
