"""Complex numbers in memory, where the two parts of each lie side by side: vectors of either part are taken out.

Neighbours: `complexes` (bodies in parts), `emission` (uses this).
"""

from __future__ import annotations

from ...typechecker.elements import Kind
from .complexes import PART
from .ir import Operand, Step
from .vectors import STORED, Cursor, Vectors


def load_part(v: Vectors, row: Operand, base: str, cursor: Cursor | None, part: int) -> str:
    """One part of the lanes of a complex operand from an address, or from its base where it does not move."""
    w, kind, lanes = v.w, PART[row.kind], v.lanes
    address = cursor.address if cursor else base
    ahead = part * kind.bytes
    match row.step:
        case Step.NONE:
            item = w.let(f"load {STORED[kind]}, ptr {w.at(address, ahead)}, align 1")
            return v.splat(kind, item)
        case Step.UNIT:
            return _every_second(v, kind, address, [2 * lane + part for lane in range(lanes)])
        case Step.REVERSED:
            low = w.at(address, -(lanes - 1) * row.kind.bytes)
            return _every_second(v, kind, low, [2 * (lanes - 1 - lane) + part for lane in range(lanes)])
        case Step.STRIDED:
            assert cursor is not None
            start = w.at(address, ahead)
            return v.gather(kind, w.let(f"getelementptr i8, ptr {start}, <{lanes} x i64> {cursor.offsets}"))


def _every_second(v: Vectors, kind: Kind, address: str, order: list[int]) -> str:
    type = f"<{2 * v.lanes} x {STORED[kind]}>"
    value = v.w.let(f"load {type}, ptr {address}, align 1")
    places = ", ".join(f"i32 {place}" for place in order)
    return v.w.let(f"shufflevector {type} {value}, {type} poison, <{len(order)} x i32> <{places}>")
