"""Reductions in the order of sums (phases.md): along a contiguous axis, and across one that is not.

ALONG: the items of a block join their lanes in the order of memory; the lanes lie in a small buffer, which is halved.  ACROSS:
a block's lane is reduced down its rows in registers; a vector holds one lane of several cells, and lanes are visited in
bit-reversed order, in which halving is a binary tree of neighbours.  Such trees, of lanes and of blocks, are kept as a stack of
partial results, one a level, joined as a binary counter carries.  Absent elements count as the identity, which changes no bit.

Neighbours: `emission`, `llvm_text`; `backend.run.sums` is the definition.
"""

from __future__ import annotations

from ...typechecker.elements import Kind
from ...typechecker.scalars import neutral
from .deciding import leave_decided
from .emission import VECTOR_ALIGN, Emission, pack_operand
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


def write_along(e: Emission) -> None:
    """Outer loops over cells, then the last axis of each."""
    w, kernel = e.w, e.kernel
    loops = e.open_outer(kernel.axes - 1)
    size = e.sizes[-1]
    buffers = [e.room(LANES * r.kind.bytes) for r in kernel.results]
    scalars = Vectors(w, 1)
    trees = [e.room(_BLOCK_LEVELS * 2 * r.kind.bytes) for r in kernel.results]
    blocks = w.begin(0, w.word("lshr", w.word("add", size, BLOCK - 1), BLOCK.bit_length() - 1))
    start = w.word("mul", blocks.index, BLOCK)
    length = w.smaller(w.word("sub", size, start), BLOCK)
    lanes = w.smaller(length, LANES)
    _clear(e, buffers)
    _lanes_along(e, buffers, start, length)
    for place, result in enumerate(kernel.results):
        value = _halve(e, place, buffers[place], lanes)
        assert result.reduction is not None
        ready = leave_decided(e, value, scalars)
        _carry(w, scalars, e, place, trees[place], blocks.index, value)
    w.end(blocks)
    for place, result in enumerate(kernel.results):
        total = _finish(w, scalars, e, place, trees[place], size)
        scalars.store(result.kind, total, e.outputs[place])
    if ready:
        w.jump(ready)
        w.label(ready)
    e.close_outer(loops)


def _clear(e: Emission, buffers: list[str]) -> None:
    """Fill the lane buffers with identities."""
    w, v = e.w, e.v
    loop = w.begin(0, LANES, e.kernel.lanes)
    for buffer, result in zip(buffers, e.kernel.results, strict=True):
        assert result.reduction is not None
        none = v.constant(result.kind, neutral(result.reduction, result.kind))
        v.store(result.kind, none, w.at(buffer, w.word("mul", loop.index, result.kind.bytes)), _aligned(e, result.kind.bytes))
    w.end(loop)


def _aligned(e: Emission, bytes: int) -> int:
    return min(VECTOR_ALIGN, e.kernel.lanes * bytes)


def _lanes_along(e: Emission, buffers: list[str], start: str, length: str) -> None:
    """The items of a block in the order of memory, each vector joining its lanes in the buffers."""
    w, width, size = e.w, e.kernel.lanes, len(e.kernel.body)
    together = next(count for count, most in _TOGETHER if size <= most or count == 1)
    step = min(together * width, LANES)
    whole = w.word("and", length, -step)
    items = w.begin(0, whole, step)
    for first in range(0, step, width):
        place = w.word("add", items.index, first) if first else items.index
        values = _values(e, w.word("add", start, place))
        _join(e, buffers, place, values)
    w.end(items)
    items = w.begin(whole, length, width)
    values = _last_values(e, w.word("add", start, items.index), w.word("sub", length, items.index))
    _join(e, buffers, items.index, values)
    w.end(items)


def _join(e: Emission, buffers: list[str], place: str, values: list[str]) -> None:
    """A vector of each result joins its lanes."""
    w, v = e.w, e.v
    lane = w.word("and", place, LANES - 1)
    for buffer, result, value in zip(buffers, e.kernel.results, values, strict=True):
        address, align = w.at(buffer, w.word("mul", lane, result.kind.bytes)), _aligned(e, result.kind.bytes)
        joined = combine(v, result.reduction or "", result.kind, v.load(result.kind, address, align), value)
        v.store(result.kind, joined, address, align)


def _address(e: Emission, operand: int, place: str) -> str:
    """Where an operand's vector starts."""
    row = e.kernel.operands[operand]
    stride = {Step.UNIT: row.kind.bytes, Step.REVERSED: -row.kind.bytes}.get(row.step, e.strides[operand][e.kernel.vector_axis])
    return e.w.at(e.bases[operand], e.w.word("mul", place, stride))


def _prefetch(w: Writer, address: str, bytes: int) -> None:
    w.declarations["declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"] = None
    for line in range(0, bytes, _LINE):
        w.do(f"call void @llvm.prefetch.p0(ptr {w.at(address, line)}, i32 0, i32 3, i32 1)")


def _values(e: Emission, place: str) -> list[str]:
    """The vectors that are reduced, from a place on."""
    axis = e.kernel.vector_axis
    cursors = {i: Cursor(_address(e, i, place), e.offsets[i]) for i in e.varying}
    for i, cursor in cursors.items():
        operand = e.kernel.operands[i]
        if operand.step is Step.UNIT:
            _prefetch(e.w, e.w.at(cursor.address, _AHEAD), e.kernel.lanes * operand.kind.bytes)
    found = e.evaluate(cursors, {axis: e.w.word("add", e.origins[axis], place)})
    e.flush_checks(None)
    return [found[result.node] for result in e.kernel.results]


def _last_values(e: Emission, place: str, left: str) -> list[str]:
    """The same where fewer items may be left than a vector has: identities for those that are absent."""
    w, v, kernel = e.w, e.v, e.kernel
    axis, width = kernel.vector_axis, kernel.lanes
    active, short = w.smaller(left, width), w.test("ult", left, width)
    present = v.compare("ult", Kind.I64, v.counting(), v.splat(Kind.I64, active))
    if all(kernel.operands[i].step is Step.UNIT and _MASKED <= kernel.operands[i].kind.bytes <= 8 for i in e.varying):
        cursors = {i: Cursor(_address(e, i, place), present=present) for i in e.varying}
    else:
        cursors = _packed(e, place, short, active)
    found = e.evaluate(cursors, {axis: w.word("add", e.origins[axis], place)})
    e.flush_checks(active)
    return [
        v.choose(r.kind, present, found[r.node], v.constant(r.kind, neutral(r.reduction or "", r.kind))) for r in kernel.results
    ]


def _packed(e: Emission, place: str, short: str, active: str) -> dict[int, Cursor]:
    """The operands where they are, or, of a short vector, copied to the stack."""
    w, width = e.w, e.kernel.lanes
    addresses = {i: _address(e, i, place) for i in e.varying}
    pack, ready = w.new_label(), w.new_label()
    before = w.block
    w.branch(short, pack, ready)
    w.label(pack)
    packed = {i: pack_operand(e, i, addresses[i], active) for i in e.varying}
    after = w.block
    w.jump(ready)
    w.label(ready)
    cursors: dict[int, Cursor] = {}
    for i in e.varying:
        address = w.let(f"phi ptr [ {addresses[i]}, %{before} ], [ {packed[i]}, %{after} ]")
        offsets = ""
        if e.kernel.operands[i].step is Step.STRIDED:
            bytes = e.kernel.operands[i].kind.bytes
            near = "<" + ", ".join(f"i64 {lane * bytes}" for lane in range(width)) + ">"
            offsets = w.let(f"phi <{width} x i64> [ {e.offsets[i]}, %{before} ], [ {near}, %{after} ]")
        cursors[i] = Cursor(address, offsets)
    return cursors


def _halve(e: Emission, place: int, buffer: str, lanes: str) -> str:
    """The lanes of a buffer by halving; a vector of one."""
    w, width, result = e.w, e.kernel.lanes, e.kernel.results[place]
    function, kind = result.reduction or "", result.kind
    bytes, align = kind.bytes, _aligned(e, kind.bytes)
    half = LANES // 2
    while half >= width:
        stop = w.let(f"select i1 {w.test('ugt', lanes, half)}, i64 {half}, i64 0")
        loop = w.begin(0, stop, width)
        low = w.at(buffer, w.word("mul", loop.index, bytes))
        high = w.at(low, half * bytes)
        joined = combine(e.v, function, kind, e.v.load(kind, low, align), e.v.load(kind, high, align))
        e.v.store(kind, joined, low, align)
        w.end(loop)
        half //= 2
    return fold_lanes(w, function, kind, e.v.load(kind, buffer, align), width)


def fold_lanes(w: Writer, function: str, kind: Kind, value: str, count: int) -> str:
    """The lanes of a vector by halving; a vector of one."""
    while count > 1:
        count //= 2
        v, whole = Vectors(w, count), Vectors(w, 2 * count).type(kind)
        parts = []
        for first in (0, count):
            order = "<" + ", ".join(f"i32 {first + lane}" for lane in range(count)) + ">"
            parts.append(w.let(f"shufflevector {whole} {value}, {whole} poison, <{count} x i32> {order}"))
        value = combine(v, function, kind, parts[0], parts[1])
    return value


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
