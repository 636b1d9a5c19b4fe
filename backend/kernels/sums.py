"""Reductions in the order of sums (phases.md) across an axis that is not contiguous.

A block's lane is reduced down its rows in registers; a vector holds one lane of several cells, and lanes are visited in
bit-reversed order, in which halving is a binary tree of neighbours.  Such trees, of lanes and of blocks, are kept as a stack of
partial results, one a level, joined as a binary counter carries.  Absent elements count as the identity, which changes no bit.

Neighbours: `emission`, `llvm_text`; `backend.loops.orders` (along an axis); `backend.run.sums` is the definition.
"""

from __future__ import annotations

from ...typechecker.elements import Kind
from ...typechecker.scalars import neutral
from .emission import Emission
from .ir import BLOCK, LANES, Step
from .scalar_text import combine
from .vectors import Cursor, Vectors
from .writer import Writer

TILE = 1024
"""Cells whose partial results one thread holds, of all results together."""
_GROUP = 8
"""Lanes of a full tile that are visited together."""
_LANE_LEVELS = 6
_TOGETHER = ((4, 8), (2, 16), (1, 0))
"""Vectors that go round a loop together, for bodies of so many nodes."""
_LINE = 64
_AHEAD = 1024
"""Bytes ahead of what is read that memory is asked for: further than processors look by themselves."""
_MASKED = 4
"""Bytes of items that processors load under a mask."""
_BLOCK_LEVELS = 28


# ----------------------------------------------------------------------------------- trees on a stack


def _carry(w: Writer, v: Vectors, e: Emission, place: int, tree: str, index: str, value: str, pitch: int = 0) -> None:
    """`carry` for a result."""
    result = e.kernel.results[place]
    carry(w, v, result.reduction or "", result.kind, tree, index, value, pitch)


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


def _finish(w: Writer, v: Vectors, e: Emission, place: int, tree: str, size: str, pitch: int = 0) -> str:
    """`finish` for a result."""
    result = e.kernel.results[place]
    return finish(w, v, result.reduction or "", result.kind, tree, size, pitch)


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


# --------------------------------------------------------------------------------------------- across


def write_across(e: Emission) -> None:
    """Outer loops, then tiles of the vector axis, each down the whole last axis.

    Lanes next to each other are visited together, as many as there is room for, so that memory is read in runs of rows; these
    groups come in bit-reversed order, and the lanes of the last one left are halved."""
    w, kernel = e.w, e.kernel
    cells, size = e.sizes[-2], e.sizes[-1]
    tile = TILE >> (len(kernel.results) - 1).bit_length()
    space = _GROUP * tile
    loops = e.open_outer(kernel.axes - 2)
    lane_trees = [e.room(_LANE_LEVELS * space * r.kind.bytes) for r in kernel.results]
    block_trees = [e.room(_BLOCK_LEVELS * tile * r.kind.bytes) for r in kernel.results]
    last = w.word("sub", cells, kernel.lanes)
    tiles = w.begin(0, cells, tile)
    stop = w.smaller(w.word("add", tiles.index, tile), cells)
    width = w.word("and", w.word("add", w.word("sub", stop, tiles.index), kernel.lanes - 1), -kernel.lanes)
    blocks = w.begin(0, w.word("lshr", w.word("add", size, BLOCK - 1), BLOCK.bit_length() - 1))
    start = w.word("mul", blocks.index, BLOCK)
    length = w.smaller(w.word("sub", size, start), BLOCK)
    lanes = w.smaller(length, LANES)
    bits = _bits(w, w.word("sub", lanes, 1))
    held = w.smaller(w.word("sub", _bits(w, w.word("udiv", space, width)), 1), bits)
    group, rest = w.word("shl", 1, held), w.word("sub", bits, held)
    visits = w.begin(0, w.word("shl", 1, rest))
    turned = w.call("i64", "llvm.bitreverse.i64", ("i64", visits.index))
    first = w.word("shl", w.word("lshr", w.word("lshr", turned, 1), w.word("sub", 63, rest)), held)
    members = w.begin(0, group)
    lane = w.word("add", first, members.index)
    room = w.word("mul", members.index, width)
    vectors = w.begin(tiles.index, stop, kernel.lanes)
    cell = w.smaller(vectors.index, last)
    totals = _lane_across(e, cell, start, lane, length)
    slot = w.word("add", room, w.word("sub", vectors.index, tiles.index))
    for place, result in enumerate(kernel.results):
        tree = w.at(lane_trees[place], w.word("mul", slot, result.kind.bytes))
        _carry(w, e.v, e, place, tree, visits.index, totals[place], space * result.kind.bytes)
    w.end(vectors)
    w.end(members)
    w.end(visits)
    tops = [w.at(tree, w.word("mul", rest, space * r.kind.bytes)) for tree, r in zip(lane_trees, kernel.results, strict=True)]
    _halve_across(e, tops, width, held)
    vectors = w.begin(0, w.word("sub", stop, tiles.index), kernel.lanes)
    for place, result in enumerate(kernel.results):
        offset, pitch = w.word("mul", vectors.index, result.kind.bytes), tile * result.kind.bytes
        value = e.v.load(result.kind, w.at(tops[place], offset))
        _carry(w, e.v, e, place, w.at(block_trees[place], offset), blocks.index, value, pitch)
    w.end(vectors)
    w.end(blocks)
    vectors = w.begin(tiles.index, stop, kernel.lanes)
    slot = w.word("sub", vectors.index, tiles.index)
    cell = w.smaller(vectors.index, last)
    for place, result in enumerate(kernel.results):
        tree = w.at(block_trees[place], w.word("mul", slot, result.kind.bytes))
        total = _finish(w, e.v, e, place, tree, size, tile * result.kind.bytes)
        e.v.store(result.kind, total, w.at(e.outputs[place], w.word("mul", cell, result.kind.bytes)))
    w.end(vectors)
    w.end(tiles)
    e.close_outer(loops)


def _bits(w: Writer, number: str) -> str:
    """How many binary digits a number has."""
    return w.word("sub", 64, w.call("i64", "llvm.ctlz.i64", ("i64", number), ("i1", "false")))


def _halve_across(e: Emission, rows: list[str], width: str, bits: str) -> None:
    """2 to the `bits` rows of partial results, `width` items each, halved until the first is all."""
    w = e.w
    steps = w.begin(0, bits)
    half = w.word("lshr", w.word("lshr", w.word("shl", 1, bits), 1), steps.index)
    span = w.word("mul", half, width)
    items = w.begin(0, span, e.kernel.lanes)
    for base, result in zip(rows, e.kernel.results, strict=True):
        low = w.at(base, w.word("mul", items.index, result.kind.bytes))
        high = w.at(low, w.word("mul", span, result.kind.bytes))
        joined = combine(e.v, result.reduction or "", result.kind, e.v.load(result.kind, low), e.v.load(result.kind, high))
        e.v.store(result.kind, joined, low)
    w.end(items)
    w.end(steps)


def _lane_across(e: Emission, cell: str, start: str, lane: str, length: str) -> tuple[str, ...]:
    """One lane of a vector of cells, down the rows of a block."""
    w, v, kernel = e.w, e.v, e.kernel
    firsts = [(v.type(r.kind), v.constant(r.kind, neutral(r.reduction or "", r.kind))) for r in kernel.results]
    columns = {i: column_address(e, i, cell) for i in e.varying}
    rows = w.begin(lane, length, LANES, firsts)
    row = w.word("add", start, rows.index)
    cursors = {i: Cursor(w.at(base, w.word("mul", row, e.strides[i][-1])), e.offsets[i]) for i, base in columns.items()}
    coordinates = {kernel.axes - 1: w.word("add", e.origins[-1], row), kernel.axes - 2: w.word("add", e.origins[-2], cell)}
    found = e.evaluate(cursors, coordinates)
    e.flush_checks(None)
    joined = [
        combine(v, r.reduction or "", r.kind, total, found[r.node]) for r, total in zip(kernel.results, rows.carried, strict=True)
    ]
    w.end(rows, joined)
    return rows.carried


def column_address(e: Emission, operand: int, cell: str) -> str:
    row = e.kernel.operands[operand]
    stride = {Step.NONE: 0, Step.UNIT: row.kind.bytes, Step.REVERSED: -row.kind.bytes}.get(
        row.step, e.strides[operand][e.kernel.vector_axis]
    )
    return e.w.at(e.bases[operand], e.w.word("mul", cell, stride))
