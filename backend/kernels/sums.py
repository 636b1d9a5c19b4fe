"""The binary tree of blocks in the order of sums (phases.md), for chains along rows: a stack of partial results, one a level,
joined as a binary counter carries.

Neighbours: `rows` (asks); `backend.loops.orders` (the order of all other sums); `backend.run.sums` is the definition.
"""

from __future__ import annotations

from ...typechecker.elements import Kind
from .emission import Emission
from .ir import BLOCK, Step
from .scalar_text import combine
from .vectors import Vectors
from .writer import Writer


def carry(w: Writer, v: Vectors, function: str, kind: Kind, tree: str, index: str, value: str, pitch: int = 0) -> None:
    """Put partial result number `index` on the stack, joining it with those that are complete with it.

    `pitch`: bytes from level to level."""
    pitch = pitch or 2 * kind.bytes
    before, head, join, put = w.block, w.new_label(), w.new_label(), w.new_label()
    w.jump(head)
    w.label(head)
    left, address, total = w.fresh(), w.fresh(), w.fresh()
    holes = [w.hole() for _ in range(3)]
    odd = w.let(f"trunc i64 {left} to i1")
    w.branch(odd, join, put)
    w.label(join)
    joined = combine(v, function, kind, v.load(kind, address), total)
    following, above = w.word("lshr", left, 1), w.at(address, pitch)
    w.jump(head)
    w.fill(holes[0], f"{left} = phi i64 [ {index}, %{before} ], [ {following}, %{join} ]")
    w.fill(holes[1], f"{address} = phi ptr [ {tree}, %{before} ], [ {above}, %{join} ]")
    w.fill(holes[2], f"{total} = phi {v.type(kind)} [ {value}, %{before} ], [ {joined}, %{join} ]")
    w.label(put)
    v.store(kind, total, address)


def finish(w: Writer, v: Vectors, function: str, kind: Kind, tree: str, size: str, pitch: int = 0) -> str:
    """All partial results on the stack together, the latest (which are the smallest) first."""
    pitch = pitch or 2 * kind.bytes
    count = w.word("lshr", w.word("add", size, BLOCK - 1), BLOCK.bit_length() - 1)
    level = w.call("i64", "llvm.cttz.i64", ("i64", count), ("i1", "true"))
    first = w.at(tree, w.word("mul", level, pitch))
    latest = v.load(kind, first)
    rest = w.word("lshr", w.word("lshr", count, level), 1)
    before, head, body, join, skip, out = w.block, *(w.new_label() for _ in range(5))
    w.jump(head)
    w.label(head)
    left, address, total = w.fresh(), w.fresh(), w.fresh()
    holes = [w.hole() for _ in range(3)]
    w.branch(w.test("ne", left, 0), body, out)
    w.label(body)
    above = w.at(address, pitch)
    w.branch(w.let(f"trunc i64 {left} to i1"), join, skip)
    w.label(join)
    joined = combine(v, function, kind, v.load(kind, above), total)
    w.jump(skip)
    w.label(skip)
    value = w.let(f"phi {v.type(kind)} [ {total}, %{body} ], [ {joined}, %{join} ]")
    following = w.word("lshr", left, 1)
    w.jump(head)
    w.fill(holes[0], f"{left} = phi i64 [ {rest}, %{before} ], [ {following}, %{skip} ]")
    w.fill(holes[1], f"{address} = phi ptr [ {first}, %{before} ], [ {above}, %{skip} ]")
    w.fill(holes[2], f"{total} = phi {v.type(kind)} [ {latest}, %{before} ], [ {value}, %{skip} ]")
    w.label(out)
    return total


def column_address(e: Emission, operand: int, cell: str) -> str:
    row = e.kernel.operands[operand]
    stride = {Step.NONE: 0, Step.UNIT: row.kind.bytes, Step.REVERSED: -row.kind.bytes}.get(
        row.step, e.strides[operand][e.kernel.vector_axis]
    )
    return e.w.at(e.bases[operand], e.w.word("mul", cell, stride))
