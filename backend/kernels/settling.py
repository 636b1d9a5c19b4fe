"""What a sort of items leaves open, as LLVM text: items that are NaN or equal to zero are put in the order they came in.

The sorted items are made to be those of the stable grade, to the bit: NaN last, whichever way, zeros of both signs as they came.
Vectors without these are only looked at where they would be.  No item is put outside the places of its kind, whatever another
thread does to the items meanwhile.

Neighbours: `sorting` (asks for it).
"""

from __future__ import annotations

from ...typechecker.elements import Kind
from .vectors import STORED
from .writer import Writer


def settle(w: Writer, kind: Kind, descending: bool, count: str, items: str, target: str) -> None:
    """Of items sorted upwards, as many as there are."""
    if not kind.is_float and not descending:
        return
    settling = _Settling(w, kind, count, items, target)
    numbers = settling.numbers() if kind.is_float else count
    if kind.is_float:
        settling.put_back("uno", numbers, count)
    if descending:
        settling.reverse(numbers)
    if kind.is_float:
        settling.zeros(numbers, descending)


class _Settling:
    def __init__(self, w: Writer, kind: Kind, count: str, items: str, target: str) -> None:
        self.w, self.kind, self.count, self.items, self.target = w, kind, count, items, target
        self.type, self.zero = STORED[kind], "0.0"

    def load(self, base: str, place: str) -> str:
        return self.w.let(f"load {self.type}, ptr {self._at(base, place)}, align 1")

    def store(self, item: str, place: str) -> None:
        self.w.do(f"store {self.type} {item}, ptr {self._at(self.target, place)}, align 1")

    def _at(self, base: str, place: str) -> str:
        return self.w.at(base, self.w.word("mul", place, self.kind.bytes))

    def test(self, relation: str, item: str) -> str:
        return self.w.let(f"fcmp {relation} {self.type} {item}, {self.zero}")

    def numbers(self) -> str:
        """How many items are not NaN."""
        w, before = self.w, self.w.block
        head, look, back, out = (w.new_label() for _ in range(4))
        w.jump(head)
        w.label(head)
        at, line = w.fresh(), w.hole()
        w.branch(w.test("ne", at, 0), look, out)
        w.label(look)
        less = w.word("sub", at, 1)
        w.branch(self.test("uno", self.load(self.target, less)), back, out)
        w.label(back)
        w.jump(head)
        w.fill(line, f"{at} = phi i64 [ {self.count}, %{before} ], [ {less}, %{back} ]")
        w.label(out)
        return at

    def put_back(self, relation: str, start: str, stop: str) -> None:
        """The items of such a relation with zero, in their order, from one place to another."""
        w, before = self.w, self.w.block
        head, look, put, next, out = (w.new_label() for _ in range(5))
        w.jump(head)
        w.label(head)
        index, index_line = w.fresh(), w.hole()
        place, place_line = w.fresh(), w.hole()
        w.branch(w.let(f"and i1 {w.test('ult', place, stop)}, {w.test('ult', index, self.count)}"), look, out)
        w.label(look)
        item = self.load(self.items, index)
        wanted = self.test(relation, item)
        w.branch(wanted, put, next)
        w.label(put)
        self.store(item, place)
        w.jump(next)
        w.label(next)
        further = w.word("add", index, 1)
        following = w.word("add", place, w.let(f"zext i1 {wanted} to i64"))
        w.jump(head)
        w.fill(index_line, f"{index} = phi i64 [ 0, %{before} ], [ {further}, %{next} ]")
        w.fill(place_line, f"{place} = phi i64 [ {start}, %{before} ], [ {following}, %{next} ]")
        w.label(out)

    def reverse(self, numbers: str) -> None:
        w = self.w
        last = w.word("sub", numbers, 1)
        loop = w.begin(0, w.word("lshr", numbers, 1))
        other = w.word("sub", last, loop.index)
        low, high = self.load(self.target, loop.index), self.load(self.target, other)
        self.store(high, loop.index)
        self.store(low, other)
        w.end(loop)

    def zeros(self, numbers: str, descending: bool) -> None:
        """Where the items pass through zero, those that equal it."""
        first = self._from(numbers, "olt" if not descending else "ogt")
        last = self._from(numbers, "ole" if not descending else "oge")
        self.put_back("oeq", first, last)

    def _from(self, numbers: str, relation: str) -> str:
        """The first place whose item has no such relation with zero; all before have it."""
        w, before = self.w, self.w.block
        head, halve, out = (w.new_label() for _ in range(3))
        w.jump(head)
        w.label(head)
        low, low_line = w.fresh(), w.hole()
        high, high_line = w.fresh(), w.hole()
        w.branch(w.test("ult", low, high), halve, out)
        w.label(halve)
        middle = w.word("lshr", w.word("add", low, high), 1)
        has = self.test(relation, self.load(self.target, middle))
        lower = w.let(f"select i1 {has}, i64 {w.word('add', middle, 1)}, i64 {low}")
        upper = w.let(f"select i1 {has}, i64 {high}, i64 {middle}")
        w.jump(head)
        w.fill(low_line, f"{low} = phi i64 [ 0, %{before} ], [ {lower}, %{halve} ]")
        w.fill(high_line, f"{high} = phi i64 [ {numbers}, %{before} ], [ {upper}, %{halve} ]")
        w.label(out)
        return low
