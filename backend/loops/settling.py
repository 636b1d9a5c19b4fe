"""What a sort of items leaves open, as a loop program: items that are NaN or equal to zero are put in the order they came in.

The sorted items are made to be those of the stable grade, to the bit: NaN last, whichever way, zeros of both signs as they came.
Vectors without these are only looked at where they would be.  Nothing is put outside the places of these items, whatever another
thread does to the items meanwhile.

Words: how many items; the items as they came; the items, sorted upwards.

Neighbours: `written` (the others), `backend.library.sort_text` (sorts), `backend.library.compiled_sorts` (runs both).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...typechecker.elements import Kind
from .builder import Builder, at
from .ir import Index, LoopKind, Program, Role, View, index, plus, times
from .orders import integer, whole_multiples
from .written import Written

_HALVINGS: Final = 63


@dataclass(frozen=True, slots=True)
class Settling(Written):
    """Of items of a kind, a float's or `descending`."""

    kind: Kind
    descending: bool

    def program(self) -> Program:
        b = Builder()
        views = View("items", self.kind, (at("count"),), Role.INPUT), View("sorted", self.kind, (at("count"),), Role.OUTPUT)
        numbers = "count"
        if self.kind.is_float:
            numbers = self.numbers(b)
            self.put_back(b, "ne", numbers, "count")
        if self.descending:
            last = plus(at(numbers), Index((), -1))
            with b.range(LoopKind.VECTOR, whole_multiples(b, at(numbers), 2)) as pair:
                places = at(pair.index), plus(last, times(at(pair.index), -1))
                low, high = (b.load("sorted", (place,)) for place in places)
                b.store("sorted", places[:1], high)
                b.store("sorted", places[1:], low)
        if self.kind.is_float:
            strict, loose = ("gt", "ge") if self.descending else ("lt", "le")
            self.put_back(b, "eq", self.start(b, numbers, strict), self.start(b, numbers, loose))
        return Program("settling", ("count",), views, (*b.preamble, *b.statements))

    def test(self, b: Builder, relation: str, item: str) -> str:
        """With zero; `ne` with itself: is it NaN?"""
        other = item if relation == "ne" else b.constant(self.kind, 0)
        return b.apply(relation, (item, other), self.kind, Kind.BOOL)

    def numbers(self, b: Builder) -> str:
        """How many items are not NaN."""
        with b.range(LoopKind.SERIAL, at("count"), [(Kind.I64, "count", None)]) as loop:
            place = plus(index("count", (loop.index, -1)), Index((), -1))
            is_nan = self.test(b, "ne", b.load("sorted", (place,)))
            loop.yields = (integer(b, "sub", loop.inside[0], b.apply("convert", (is_nan,), Kind.BOOL, Kind.I64)),)
            loop.until = b.apply("not", (is_nan,), Kind.BOOL, Kind.BOOL)
        return loop.results[0]

    def put_back(self, b: Builder, relation: str, start: str, stop: str) -> None:
        """The items of such a relation, in their order, from one place to another, where there are as many: each item is put
        where the next is due, and written over by the next unless it is one."""
        with b.block() as some, b.range(LoopKind.SERIAL, at("count"), [(Kind.I64, start, None)]) as loop:
            place, item = loop.inside[0], b.load("items", (at(loop.index),))
            b.store("sorted", (at(place),), item)
            wanted = b.apply("convert", (self.test(b, relation, item),), Kind.BOOL, Kind.I64)
            following = integer(b, "add", place, wanted)
            loop.yields, loop.until = (following,), b.compare("le", at(stop), at(following))
        b.choose(b.compare("lt", at(start), at(stop)), some, ())

    def start(self, b: Builder, numbers: str, relation: str) -> str:
        """The first place whose item has no such relation with zero; all before have it."""
        one, zero = b.constant(Kind.I64, 1), b.constant(Kind.I64, 0)
        carried = [(Kind.I64, zero, None), (Kind.I64, numbers, None)]
        with b.range(LoopKind.SERIAL, Index((), _HALVINGS), carried) as loop:
            low, high = loop.inside
            middle = integer(b, "shr", one, integer(b, "add", low, high))
            is_open = b.compare("lt", at(low), at(high))
            item = b.load("sorted", (at(middle),), is_open)
            has = b.apply("and", (is_open, self.test(b, relation, item)), Kind.BOOL, Kind.BOOL)
            low = b.apply("select", (has, integer(b, "add", middle, one), low), Kind.I64, Kind.I64)
            high = b.apply("select", (has, high, middle), Kind.I64, Kind.I64)
            loop.yields, loop.until = (low, high), b.compare("le", at(high), at(low))
        return loop.results[0]
