"""Items of an operand by computed indices, as LLVM text: every index is checked, and one that is outside reads item 0 instead.

The index is in a register when it is checked and used, so that a thread that changes it meanwhile does no harm.

Where an index serves a whole row, the operand's address is moved once, before the row: from there on it is a plain operand.

Neighbours: `ir` (`FETCH`), `emission` (uses this), `backend.run.cpu.gathering` (bodies of this).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...lang.certain import certain
from ...typechecker.elements import Kind
from .ir import FETCH, Apply, Step
from .vectors import Check

if TYPE_CHECKING:
    from .emission import Cursor, Emission


def fetch(e: Emission, place: int, node: Apply, args: Sequence[str], cursor: Cursor | None) -> str:
    """The lanes of node `place`."""
    row = e.kernel.operands[node.parameter]
    if _serves_a_row(e, node):
        return e.load(node.parameter, cursor)
    certain(row.step is Step.NONE, "an operand that is fetched from has no step")
    ahead = _ahead(e, place, args)
    address = cursor.address if cursor else e.bases[node.parameter]
    return e.v.gather(row.kind, e.w.let(f"getelementptr i8, ptr {address}, <{e.v.lanes} x i64> {ahead}"))


def move_to_rows(e: Emission, depth: int) -> None:
    """The addresses of operands whose index is known at a depth, where a row is what it picks."""
    for place, node in enumerate(e.kernel.body):
        if isinstance(node, Apply) and node.function == FETCH and _serves_a_row(e, node) and e.depths[node.args[0]] == depth:
            ahead = _ahead(e, place, [e.known[arg] for arg in node.args])
            first = e.w.let(f"extractelement {e.v.type(Kind.I64)} {ahead}, i64 0")
            e.bases[node.parameter] = e.w.at(e.bases[node.parameter], first)


def _serves_a_row(e: Emission, node: Apply) -> bool:
    return e.kernel.operands[node.parameter].step is not Step.NONE and e.depths[node.args[0]] < e.inner


def _ahead(e: Emission, place: int, args: Sequence[str]) -> str:
    """How many bytes from the first item, for each lane."""
    index, count, stride = args
    v = e.v
    outside = v.compare("uge", Kind.I64, index, count)
    v.checks.append(Check(place, outside, index, Kind.I64))
    return v.binary("mul", Kind.I64, v.choose(Kind.I64, outside, "zeroinitializer", index), stride)
