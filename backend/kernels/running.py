"""Scans whose order does not show, as LLVM text: vector by vector, each joined with itself moved by 1, 2, 4, … lanes.

Only one step a vector waits for the vector before: what is before it joined with its total.

Truth values: `∧\\` and `∨\\` look for the item that decides, and fill what is before and behind it; `≠\\` and `=\\` are parities,
found in words of eight items.

Neighbours: `scanning` (the words).
"""

from __future__ import annotations

from typing import Final

from ...typechecker.elements import Kind
from ...typechecker.scalars import neutral
from .scalar_text import fold_lanes
from .scan_words import BLOCK, PARITIES, ScanWriting

_CHAINS: Final = 4
"""Vectors that go round a loop of totals together."""
_BYTES: Final = 64
_ONES: Final = 0x0101010101010101
_SEVENS: Final = 0x7F7F7F7F7F7F7F7F
_FILL: Final = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"


def write_lines(s: ScanWriting) -> None:
    w = s.w
    count, length, source, source_line = s.word(0), s.word(1), s.word(2, "ptr"), s.word(3)
    result, result_line, carry = s.word(5, "ptr"), s.word(6), s.word(7, "ptr")
    line = w.begin(0, count)
    source = w.at(source, w.word("mul", line.index, source_line))
    result = w.at(result, w.word("mul", line.index, result_line))
    behind = w.at(carry, s.kind.bytes)
    if s.kind is not Kind.BOOL:
        _line(s, source, result, length, carry, behind)
    elif s.code.function in PARITIES:
        _parities(s, source, result, length, carry, behind)
    else:
        _decided(s, source, result, length, carry, behind)
    w.end(line)


def _line(s: ScanWriting, source: str, result: str, length: str, carry: str, behind: str) -> None:
    w, v, one, kind, lanes = s.w, s.v, s.one, s.kind, s.code.lanes
    first = v.splat(kind, w.let(f"extractelement {s.type} {one.load(kind, carry)}, i64 0"))
    align, tail = (min(64, lanes * kind.bytes), ", !nontemporal !0") if s.code.streamed else (1, "")
    whole = w.word("and", length, -lanes)
    vectors = w.begin(0, whole, lanes, [(v.type(kind), first)])
    before = vectors.carried[0]
    own = v.load(kind, s.item(source, vectors.index))
    blank = v.constant(kind, neutral(s.code.function, kind))
    step = 1
    while step < lanes:
        own = s.joined(_moved(s, own, blank, step), own, v)
        step *= 2
    total = _spread(s, own)
    v.store(kind, s.joined(before, own, v), s.item(result, vectors.index), align, tail)
    w.end(vectors, [s.joined(before, total, v)])
    start = w.let(f"shufflevector {v.type(kind)} {vectors.carried[0]}, {v.type(kind)} poison, <1 x i32> zeroinitializer")
    rest = w.begin(whole, length, 1, [(s.type, start)])
    value = s.joined(rest.carried[0], one.load(kind, s.item(source, rest.index)))
    one.store(kind, value, s.item(result, rest.index))
    w.end(rest, [value])
    one.store(kind, rest.carried[0], behind)


def _moved(s: ScanWriting, value: str, blank: str, step: int) -> str:
    """The lanes moved up, nothing in the first."""
    lanes, type = s.code.lanes, s.v.type(s.kind)
    places = ", ".join(f"i32 {lane - step if lane >= step else lanes + lane}" for lane in range(lanes))
    return s.w.let(f"shufflevector {type} {value}, {type} {blank}, <{lanes} x i32> <{places}>")


def _spread(s: ScanWriting, value: str) -> str:
    """The last lane in all lanes."""
    lanes, type = s.code.lanes, s.v.type(s.kind)
    return s.w.let(f"shufflevector {type} {value}, {type} poison, <{lanes} x i32> splat (i32 {lanes - 1})")


# --------------------------------------------------------------------------------------- truth values


def _decided(s: ScanWriting, source: str, result: str, length: str, carry: str, behind: str) -> None:
    """What is before the first item that decides, and what is behind it."""
    w = s.w
    w.declarations[_FILL] = None
    open = int(neutral(s.code.function, Kind.BOOL))
    decides = "eq" if open else "ne"
    look, hit, ready = (w.new_label() for _ in range(3))
    own = w.let(f"load i8, ptr {carry}, align 1")
    before = w.block
    w.branch(w.let(f"icmp {decides} i8 {own}, 0"), ready, look)
    w.label(look)
    whole = w.word("and", length, -_BYTES)
    vectors = w.begin(0, whole, _BYTES)
    bytes = w.let(f"load <{_BYTES} x i8>, ptr {w.at(source, vectors.index)}, align 1")
    held = w.let(f"icmp {decides} <{_BYTES} x i8> {bytes}, zeroinitializer")
    found = w.let(f"bitcast <{_BYTES} x i1> {held} to i64")
    following = w.new_label()
    w.branch(w.test("ne", found, 0), hit, following)
    w.label(hit)
    in_vector = w.word("add", vectors.index, w.call("i64", "llvm.cttz.i64", ("i64", found), ("i1", "false")))
    w.jump(ready)
    w.label(following)
    w.end(vectors)
    rest = w.begin(whole, length)
    item = w.let(f"load i8, ptr {w.at(source, rest.index)}, align 1")
    near, on = w.new_label(), w.new_label()
    w.branch(w.let(f"icmp {decides} i8 {item}, 0"), near, on)
    w.label(near)
    w.jump(ready)
    w.label(on)
    w.end(rest)
    after = w.block
    w.jump(ready)
    w.label(ready)
    place = w.let(f"phi i64 [ 0, %{before} ], [ {in_vector}, %{hit} ], [ {rest.index}, %{near} ], [ {length}, %{after} ]")
    last = w.let(f"phi i8 [ {1 - open}, %{before} ], [ {1 - open}, %{hit} ], [ {1 - open}, %{near} ], [ {open}, %{after} ]")
    w.do(f"call void @llvm.memset.p0.i64(ptr {result}, i8 {open}, i64 {place}, i1 false)")
    left = w.word("sub", length, place)
    w.do(f"call void @llvm.memset.p0.i64(ptr {w.at(result, place)}, i8 {1 - open}, i64 {left}, i1 false)")
    w.do(f"store i8 {last}, ptr {behind}, align 1")


def _parities(s: ScanWriting, source: str, result: str, length: str, carry: str, behind: str) -> None:
    """Eight items a word, some words a vector.  x=y is x≠~y, so `=\\` is the parity of the items negated from a true start."""
    w, words = s.w, s.code.lanes // 8
    type, turned = f"<{words} x i64>", s.code.function == "eq"

    def each(operation: str, x: str, y: str | int) -> str:
        return w.let(f"{operation} {type} {x}, {y if isinstance(y, str) else f'splat (i64 {y})'}")

    start = w.let(f"icmp ne i8 {w.let(f'load i8, ptr {carry}, align 1')}, 0")
    odd = w.let(f"select i1 {start}, i64 {_ONES}, i64 0")
    first = w.let(f"insertelement {type} poison, i64 {odd}, i64 0")
    first = w.let(f"shufflevector {type} {first}, {type} poison, <{words} x i32> zeroinitializer")
    whole = w.word("and", length, -s.code.lanes)
    vectors = w.begin(0, whole, s.code.lanes, [(type, first)])
    own = w.let(f"load {type}, ptr {w.at(source, vectors.index)}, align 1")
    own = each("and", each("lshr", each("or", own, each("add", each("and", own, _SEVENS), _SEVENS)), 7), _ONES)
    if turned:
        own = each("xor", own, _ONES)
    for bits in (8, 16, 32):
        own = each("xor", own, each("shl", own, bits))
    before = _from_lane(s, type, each("lshr", own, 56), 1)
    step = 1
    while step < words:
        before = each("xor", before, _from_lane(s, type, before, step))
        step *= 2
    own = each("xor", own, each("and", each("sub", "zeroinitializer", before), _ONES))
    last = w.let(f"shufflevector {type} {own}, {type} poison, <{words} x i32> splat (i32 {words - 1})")
    total = each("and", each("sub", "zeroinitializer", each("lshr", last, 56)), _ONES)
    w.do(f"store {type} {each('xor', own, vectors.carried[0])}, ptr {w.at(result, vectors.index)}, align 1")
    w.end(vectors, [each("xor", vectors.carried[0], total)])
    state = w.let(f"trunc i64 {w.let(f'extractelement {type} {vectors.carried[0]}, i64 0')} to i8")
    rest = w.begin(whole, length, 1, [("i8", state)])
    item = w.let(f"load i8, ptr {w.at(source, rest.index)}, align 1")
    relation = "eq" if turned else "ne"
    bit = w.let(f"zext i1 {w.let(f'icmp {relation} i8 {item}, 0')} to i8")
    value = w.let(f"xor i8 {rest.carried[0]}, {bit}")
    w.do(f"store i8 {value}, ptr {w.at(result, rest.index)}, align 1")
    w.end(rest, [value])
    w.do(f"store i8 {rest.carried[0]}, ptr {behind}, align 1")


def _from_lane(s: ScanWriting, type: str, value: str, step: int) -> str:
    """Words moved up, zeros in the first."""
    words = s.code.lanes // 8
    places = ", ".join(f"i32 {lane - step if lane >= step else words + lane}" for lane in range(words))
    return s.w.let(f"shufflevector {type} {value}, {type} zeroinitializer, <{words} x i32> <{places}>")


# -------------------------------------------------------------------------------------------- totals


def write_totals(s: ScanWriting) -> None:
    """The total of each block."""
    w, v, one, kind, lanes = s.w, s.v, s.one, s.kind, s.code.lanes
    length, source, result = s.word(1), s.word(2, "ptr"), s.word(5, "ptr")
    blank = v.constant(kind, neutral(s.code.function, kind))
    blocks = w.begin(0, length, BLOCK)
    items = w.smaller(w.word("sub", length, blocks.index), BLOCK)
    origin = s.item(source, blocks.index)
    wide = w.word("and", items, -lanes * _CHAINS)
    groups = w.begin(0, wide, lanes * _CHAINS, [(v.type(kind), blank)] * _CHAINS)
    loaded = [v.load(kind, s.item(origin, w.word("add", groups.index, lanes * chain))) for chain in range(_CHAINS)]
    w.end(groups, [s.joined(total, value, v) for total, value in zip(groups.carried, loaded, strict=True)])
    low, high = (s.joined(groups.carried[i], groups.carried[i + 1], v) for i in (0, 2))
    total = _folded(s, s.joined(low, high, v))
    rest = w.begin(wide, items, 1, [(s.type, total)])
    w.end(rest, [s.joined(rest.carried[0], one.load(kind, s.item(origin, rest.index)))])
    one.store(kind, rest.carried[0], s.item(result, w.word("lshr", blocks.index, BLOCK.bit_length() - 1)))
    w.end(blocks)


def _folded(s: ScanWriting, value: str) -> str:
    return fold_lanes(s.w, s.code.function, s.kind, value, s.code.lanes)
