"""What sorting does beside NumPy's sort of words, as LLVM text.

SPAN: of the keys of items (`run.cpu.library.keys`: integers in the order of the items) the least, the greatest, and the bits in
which any differs from the first.  WORDS: the keys from the least on, cut and moved up, each with its position below.  ALIKE: how
many sorted words differ from the one before in the position only.  UP and DOWN merge two sorted runs of nearly one length from
both ends, each as many as the shorter has, so that neither run ends before; UP one more where the lengths differ (by one).
Of equal items those of the first run come first.  These runs are of words, compared as bits.  ITEMS merges two runs of items
(neither is empty, no NaN is among them), compared as numbers, from both ends in one loop, since neither end has to wait for the
other; what is left between, where the lengths differ, one by one.

Words of SPAN: items, their address, the result (three words).  Of WORDS: items, their address, the number of the first, the least
key, bits cut, bits moved up, the result.  Of ALIKE: words, their address, bits of a position, the result.  Of the others: the
addresses of the runs, their lengths, the result.

Neighbours: `store` (compiles it), `backend.run.cpu.sorting` (calls it).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from ...typechecker.elements import Kind
from .llvm_text import function_text
from .scalar_text import Vectors
from .writer import Writer


class Form(Enum):
    """See the module."""

    SPAN = "span"
    WORDS = "words"
    ALIKE = "alike"
    UP = "up"
    DOWN = "down"
    ITEMS = "items"


_WORDS: Final = {Form.SPAN: "ipp", Form.WORDS: "ipiiiip", Form.ALIKE: "ipip"}
"""Which are addresses."""
_MERGED: Final = "ppiip"
_TYPES: Final = {Kind.F64: "double", Kind.F32: "float", Kind.I64: "i64", Kind.I32: "i32"}
MERGED_KINDS: Final = frozenset(_TYPES)
"""Of which items are merged."""


@dataclass(frozen=True, slots=True)
class Sorting:
    """`kind`: of the items; I64 of words, which are compared as bits."""

    form: Form
    kind: Kind
    lanes: int = 1
    descending: bool = False

    def text(self) -> str:
        writing = _Writing(self)
        match self.form:
            case Form.SPAN:
                writing.span()
            case Form.WORDS:
                writing.packed()
            case Form.ALIKE:
                writing.alike()
            case Form.UP:
                writing.up()
            case Form.DOWN:
                writing.down()
            case Form.ITEMS:
                writing.items()
        writing.w.do("ret i64 0")
        return function_text(writing.w, ["entry:", "  br label %start", *writing.w.lines])


class _Writing:
    def __init__(self, code: Sorting) -> None:
        self.code, self.w = code, Writer()
        self.one, self.v = Vectors(self.w, 1), Vectors(self.w, code.lanes)
        self.w.label("start")
        self.words = [
            self.word(place, "ptr" if row == "p" else "i64") for place, row in enumerate(_WORDS.get(code.form, _MERGED))
        ]
        self.type, self.bytes = _TYPES.get(code.kind, "i64"), code.kind.bytes

    def word(self, place: int, type: str) -> str:
        address = self.w.let(f"getelementptr i64, ptr %words, i64 {place}")
        return self.w.let(f"load {type}, ptr {address}, align 8")

    def at(self, base: str, place: str, bytes: int) -> str:
        return self.w.at(base, self.w.word("mul", place, bytes))

    # ------------------------------------------------------------------------------------------- keys

    def key(self, v: Vectors, base: str, place: str) -> str:
        """The keys of the items from a place on, as i64."""
        kind, w = self.code.kind, self.w
        x = v.load(kind, self.at(base, place, kind.bytes))
        if not kind.is_float:
            wide = x
            if kind is not Kind.I64:
                sign = "sext" if kind is Kind.I32 else "zext"
                wide = w.let(f"{sign} {v.type(kind)} {x} to {v.type(Kind.I64)}")
            return v.binary("xor", Kind.I64, wide, v.constant(Kind.I64, -1)) if self.code.descending else wide
        integer = Kind.I64 if kind is Kind.F64 else Kind.I32
        top = v.constant(integer, (1 << (8 * kind.bytes - 1)) - 1)
        bits = v.cast("bitcast", kind, integer, v.binary("fadd", kind, x, v.constant(kind, 0.0)))
        sign = v.binary("ashr", integer, bits, v.constant(integer, 8 * kind.bytes - 1))
        ordered = v.binary("xor", integer, bits, v.binary("and", integer, sign, top))
        if self.code.descending:
            ordered = v.binary("xor", integer, ordered, v.constant(integer, -1))
        ordered = v.choose(integer, v.compare("uno", kind, x, x), top, ordered)
        return ordered if integer is Kind.I64 else v.cast("sext", integer, Kind.I64, ordered)

    def span(self) -> None:
        w, v, one, lanes = self.w, self.v, self.one, self.code.lanes
        count, items, result = self.words
        type, narrow = v.type(Kind.I64), one.type(Kind.I64)
        first = w.let(f"extractelement {narrow} {self.key(one, items, '0')}, i64 0")
        wide = v.splat(Kind.I64, first)
        whole = w.word("and", count, -lanes)
        vectors = w.begin(0, whole, lanes, [(type, wide), (type, wide), (type, "zeroinitializer")])
        key = self.key(v, items, vectors.index)
        w.end(vectors, self._spanned(v, vectors.carried, key, wide))
        folded = []
        for name, value in zip(("smin", "smax", "or"), vectors.carried, strict=True):
            folded.append(w.call("i64", f"llvm.vector.reduce.{name}.v{lanes}i64", (type, value)))
        starts = [(narrow, one.splat(Kind.I64, value)) for value in folded]
        single = one.splat(Kind.I64, first)
        rest = w.begin(whole, count, 1, starts)
        w.end(rest, self._spanned(one, rest.carried, self.key(one, items, rest.index), single))
        for place, value in enumerate(rest.carried):
            one.store(Kind.I64, value, w.at(result, 8 * place))

    def _spanned(self, v: Vectors, found: tuple[str, ...], key: str, first: str) -> list[str]:
        least, most, bits = found
        changed = v.binary("or", Kind.I64, bits, v.binary("xor", Kind.I64, key, first))
        return [v.intrinsic("smin", Kind.I64, least, key), v.intrinsic("smax", Kind.I64, most, key), changed]

    def packed(self) -> None:
        w, lanes = self.w, self.code.lanes
        count, items, first, low, cut, up, result = self.words
        whole = w.word("and", count, -lanes)
        for v, start, stop, step in ((self.v, "0", whole, lanes), (self.one, whole, count, 1)):
            numbers = [v.splat(Kind.I64, number) for number in (low, cut, up)]
            loop = w.begin(start, stop, step)
            key = v.binary("sub", Kind.I64, self.key(v, items, loop.index), numbers[0])
            key = v.binary("shl", Kind.I64, v.binary("lshr", Kind.I64, key, numbers[1]), numbers[2])
            place = v.splat(Kind.I64, w.word("add", first, loop.index))
            if step > 1:
                place = v.binary("add", Kind.I64, place, v.counting())
            v.store(Kind.I64, v.binary("or", Kind.I64, key, place), self.at(result, loop.index, 8))
            w.end(loop)

    def alike(self) -> None:
        w, lanes = self.w, self.code.lanes
        count, items, bits, result = self.words
        pairs = w.word("sub", count, 1)
        whole = w.word("and", pairs, -lanes)
        total = "0"
        for v, start, stop, step in ((self.v, "0", whole, lanes), (self.one, whole, pairs, 1)):
            limit = v.splat(Kind.I64, w.word("shl", 1, bits))
            loop = w.begin(start, stop, step, [("i64", total)])
            address = self.at(items, loop.index, 8)
            changed = v.binary("xor", Kind.I64, v.load(Kind.I64, address), v.load(Kind.I64, w.at(address, 8)))
            same = w.let(f"zext <{step} x i1> {v.compare('ult', Kind.I64, changed, limit)} to <{step} x i64>")
            added = w.call("i64", f"llvm.vector.reduce.add.v{step}i64", (f"<{step} x i64>", same))
            w.end(loop, [w.word("add", loop.carried[0], added)])
            total = loop.carried[0]
        w.do(f"store i64 {total}, ptr {result}, align 8")

    # ------------------------------------------------------------------------------------------ merge

    def up(self) -> None:
        """From the least on."""
        w = self.w
        first, second, first_length, second_length, result = self.words
        shorter = w.smaller(first_length, second_length)
        steps = w.begin(0, shorter, 1, [("i64", "0")])
        taken = steps.carried[0]
        other = w.word("sub", steps.index, taken)
        x, y = self.item(first, taken), self.item(second, other)
        later = self.less(y, x)
        self.put(w.let(f"select i1 {later}, {self.type} {y}, {self.type} {x}"), self.at(result, steps.index, self.bytes))
        w.end(steps, [w.word("add", taken, w.let(f"zext i1 {w.let(f'xor i1 {later}, true')} to i64"))])
        taken = steps.carried[0]
        other = w.word("sub", shorter, taken)
        more, none, one, two, both, ready = (w.new_label() for _ in range(6))
        w.branch(w.test("ne", first_length, second_length), more, none)
        w.label(more)
        w.branch(w.test("uge", taken, first_length), two, both)
        w.label(both)
        ask = w.new_label()
        w.branch(w.test("uge", other, second_length), one, ask)
        w.label(ask)
        w.branch(self.less(self.item(second, other), self.item(first, taken)), two, one)
        w.label(one)
        self.put(self.item(first, taken), self.at(result, shorter, self.bytes))
        w.jump(ready)
        w.label(two)
        self.put(self.item(second, other), self.at(result, shorter, self.bytes))
        w.jump(ready)
        w.label(ready)
        w.jump(none)
        w.label(none)

    def down(self) -> None:
        """From the greatest on."""
        w = self.w
        first, second, first_length, second_length, result = self.words
        last, first_last, second_last = (
            w.word("sub", length, 1) for length in (w.word("add", first_length, second_length), first_length, second_length)
        )
        steps = w.begin(0, w.smaller(first_length, second_length), 1, [("i64", "0")])
        taken = steps.carried[0]
        x = self.item(first, w.word("sub", first_last, taken))
        y = self.item(second, w.word("sub", second_last, w.word("sub", steps.index, taken)))
        later = self.less(y, x)
        self.put(w.let(f"select i1 {later}, {self.type} {x}, {self.type} {y}"),
                 self.at(result, w.word("sub", last, steps.index), self.bytes))  # fmt: skip
        w.end(steps, [w.word("add", taken, w.let(f"zext i1 {later} to i64"))])

    def items(self) -> None:
        """From both ends at once."""
        w = self.w
        first, second, first_length, second_length, result = self.words
        shorter = w.smaller(first_length, second_length)
        total = w.word("add", first_length, second_length)
        last, first_last, second_last = (w.word("sub", length, 1) for length in (total, first_length, second_length))
        steps = w.begin(0, shorter, 1, [("i64", "0"), ("i64", "0")])
        low, high = steps.carried
        x, y = self.item(first, low), self.item(second, w.word("sub", steps.index, low))
        above_x = self.item(first, w.word("sub", first_last, high))
        above_y = self.item(second, w.word("sub", second_last, w.word("sub", steps.index, high)))
        later, above = self.less(y, x), self.less(above_y, above_x)
        self.put(w.let(f"select i1 {later}, {self.type} {y}, {self.type} {x}"), self.at(result, steps.index, self.bytes))
        self.put(w.let(f"select i1 {above}, {self.type} {above_x}, {self.type} {above_y}"),
                 self.at(result, w.word("sub", last, steps.index), self.bytes))  # fmt: skip
        taken = w.let(f"zext i1 {w.let(f'xor i1 {later}, true')} to i64")
        w.end(steps, [w.word("add", low, taken), w.word("add", high, w.let(f"zext i1 {above} to i64"))])
        low, high = steps.carried
        ahead = w.word("sub", shorter, low)
        first_end = w.word("sub", first_length, high)
        second_end = w.word("sub", second_length, w.word("sub", shorter, high))
        first_most, second_most = (w.word("sub", end, 1) for end in (first_end, second_end))
        left = w.word("sub", total, w.word("mul", shorter, 2))
        rest = w.begin(0, left, 1, [("i64", low), ("i64", ahead)])
        low, ahead = rest.carried
        is_first, is_second = w.test("ult", low, first_end), w.test("ult", ahead, second_end)
        x = self.item(first, self.within(low, first_most))
        y = self.item(second, self.within(ahead, second_most))
        wins = w.let(f"and i1 {is_second}, {self.less(y, x)}")
        later = w.let(f"select i1 {is_first}, i1 {wins}, i1 true")
        spot = self.at(result, w.word("add", shorter, rest.index), self.bytes)
        self.put(w.let(f"select i1 {later}, {self.type} {y}, {self.type} {x}"), spot)
        step = w.let(f"zext i1 {later} to i64")
        w.end(rest, [w.word("add", low, w.word("xor", step, 1)), w.word("add", ahead, step)])

    def within(self, place: str, most: str) -> str:
        """A place of an item that there is, where `place` is at most one too far."""
        return self.w.call("i64", "llvm.smax.i64", ("i64", self.w.smaller(place, most)), ("i64", "0"))

    def item(self, base: str, place: str) -> str:
        return self.w.let(f"load {self.type}, ptr {self.at(base, place, self.bytes)}, align 1")

    def put(self, value: str, address: str) -> None:
        self.w.do(f"store {self.type} {value}, ptr {address}, align 1")

    def less(self, x: str, y: str) -> str:
        if self.code.form in (Form.UP, Form.DOWN):
            return self.w.test("ult", x, y)
        return self.w.let(f"{'fcmp olt' if self.code.kind.is_float else 'icmp slt'} {self.type} {x}, {y}")
