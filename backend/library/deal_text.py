"""Items dealt into parts that are sorted on their own, as LLVM text: what is below the first pivot, what is below the second, …

SAMPLE: pivots, from items all over the vector.  TALLY: how many items of a piece are below each pivot.  DEAL: each item of a
piece goes where its part has the next free place.  All work on items as they are (what is sorted), or on words of key and
position (`sorting`; what is graded), compared as bits.  NaN is below nothing.  Pieces have their own places in every part, so
they can be dealt at once, and the parts lie one after the other: there is no second buffer.  No place beyond the last is written,
whatever another thread does to the items meanwhile.

Note [Pivots].  Parts of items end between different values; where many are equal, the nearest end of them is taken.  Words differ
in their positions, so that equal keys can be in two parts, unless bits of keys were lost: then words that are alike but for the
position stay together, to be repaired.

The words are those of `sorting` (Note [Arguments]); the number of SAMPLE is how many items it takes.

Neighbours: `sort_text`; `kernels.store` (compiles it), `compiled_sorts` (calls it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from ...typechecker.elements import Kind
from ..kernels.vectors import STORED, Vectors
from ..kernels.writer import Writer, function_text
from .sort_text import HEAD, Moves, below, call_sort, key_of, note, word_of, words_of

_SPREAD: Final = -0x61C8864680B583EB
"""Odd, near 2⁶⁴ times the golden section: its multiples are all over the words, regular in no way that data are likely to be."""


class Stage(Enum):
    """See the module."""

    SAMPLE = "sample"
    TALLY = "tally"
    DEAL = "deal"


@dataclass(frozen=True, slots=True)
class Dealing:
    """`keyed`: words of key and position, not items.  Only TALLY has lanes."""

    stage: Stage
    kind: Kind
    parts: int
    keyed: bool
    lanes: int = 1
    descending: bool = False

    def text(self) -> str:
        w = Writer()
        w.label("start")
        writing = _Writing(self, w)
        match self.stage:
            case Stage.SAMPLE:
                writing.sample()
            case Stage.TALLY:
                writing.tally()
            case Stage.DEAL:
                writing.deal()
        w.do("ret i64 0")
        return function_text(w, ["entry:", "  br label %start", *w.lines])


class _Writing:
    def __init__(self, code: Dealing, w: Writer) -> None:
        self.code, self.w, self.words = code, w, words_of(w)
        self.kind = Kind.I64 if code.keyed else code.kind
        self.integer = Kind.I64 if self.kind.bytes == 8 else Kind.I32
        self.type = STORED[self.kind]
        self.moves = [note(w, self.words.notes, place) for place in (Moves.LEAST, Moves.CUT, Moves.UP)] if code.keyed else []

    def pivots(self) -> list[str]:
        w, notes = self.w, self.words.notes
        return [w.let(f"load {self.type}, ptr {w.at(notes, 8 * place)}, align 8") for place in range(self.code.parts - 1)]

    def loaded(self, v: Vectors, place: str, number: str | None = None) -> str:
        """The items from a place on, or their words; `number`: instead of the position."""
        w, code, items = self.w, self.code, self.words.items
        if not code.keyed:
            return v.load(self.kind, w.at(items, w.word("mul", place, self.kind.bytes)))
        position = w.word("add", self.words.first, place) if number is None else number
        return word_of(v, key_of(v, code.kind, code.descending, items, place), position, *self.moves)

    def below(self, v: Vectors, item: str, pivot: str) -> str:
        return v.compare(self.relation(), self.kind, item, pivot)

    def relation(self) -> str:
        return "ult" if self.code.keyed else "olt" if self.kind.is_float else "slt"

    # ----------------------------------------------------------------------------------------- pivots

    def sample(self) -> None:
        w, words, one = self.w, self.words, Vectors(self.w, 1)
        ahead = w.word("mul", w.word("add", w.word("mul", words.pieces, self.code.parts), HEAD), 8)
        sample = w.at(words.notes, ahead)
        split = w.test("eq", note(w, words.notes, Moves.LOST), 0) if self.code.keyed else ""
        loop = w.begin(0, words.number)
        spread = w.word("lshr", w.word("mul", w.word("add", loop.index, 1), _SPREAD), 32)
        place = w.word("lshr", w.word("mul", spread, words.length), 32)
        number = w.let(f"select i1 {split}, i64 {place}, i64 0") if self.code.keyed else None
        one.store(self.kind, self.loaded(one, place, number), self._spot(sample, loop.index))
        w.end(loop)
        call_sort(w, words.function, sample, words.number)
        size = self._numbers(sample)
        for part in range(1, self.code.parts):
            pivot = self._pivot(sample, size, w.word("udiv", w.word("mul", size, part), self.code.parts))
            w.do(f"store {self.type} {pivot}, ptr {w.at(words.notes, 8 * (part - 1))}, align 8")

    def _spot(self, base: str, place: str) -> str:
        return self.w.at(base, self.w.word("mul", place, self.kind.bytes))

    def _item(self, base: str, place: str) -> str:
        return self.w.let(f"load {self.type}, ptr {self._spot(base, place)}, align {self.kind.bytes}")

    def _less(self, x: str, y: str) -> str:
        return self.w.let(f"{'fcmp' if self.kind.is_float else 'icmp'} {self.relation()} {self.type} {x}, {y}")

    def _numbers(self, sample: str) -> str:
        """How many are not NaN; at least one is taken for such."""
        w = self.w
        if not self.kind.is_float:
            return self.words.number
        loop = w.begin(0, self.words.number, 1, [("i64", "0")])
        item = self._item(sample, loop.index)
        w.end(loop, [w.word("add", loop.carried[0], w.let(f"zext i1 {w.let(f'fcmp ord {self.type} {item}, {item}')} to i64"))])
        return w.call("i64", "llvm.umax.i64", ("i64", loop.carried[0]), ("i64", "1"))

    def _pivot(self, sample: str, size: str, place: str) -> str:
        """Of the value at a place of the sample and the next greater one, that before which the nearest number of items lies."""
        w = self.w
        value = self._item(sample, place)
        loop = w.begin(0, size, 1, [("i64", "0"), ("i64", "0")])
        item = self._item(sample, loop.index)
        lower, higher = (self._less(x, y) for x, y in ((item, value), (value, item)))
        w.end(loop, self._counted(loop.carried, [lower, higher]))
        before, after = loop.carried[0], w.word("sub", size, loop.carried[1])
        is_last = w.test("eq", after, size)
        is_near = w.test("ule", w.word("sub", place, before), w.word("sub", after, place))
        next = self._item(sample, w.smaller(after, w.word("sub", size, 1)))
        return w.let(f"select i1 {w.let(f'or i1 {is_last}, {is_near}')}, {self.type} {value}, {self.type} {next}")

    # ------------------------------------------------------------------------------------------ parts

    def tally(self) -> None:
        w, words, lanes, one = self.w, self.words, self.code.lanes, Vectors(self.w, 1)
        many = Vectors(w, lanes)
        type, pivots = many.type(self.integer), self.pivots()
        whole = w.word("and", words.length, -lanes)
        wide = [many.splat(self.kind, pivot) for pivot in pivots]
        loop = w.begin(0, whole, lanes, [(type, "zeroinitializer")] * len(pivots))
        item = self.loaded(many, loop.index)
        counted = []
        for before, pivot in zip(loop.carried, wide, strict=True):
            less = w.let(f"sext <{lanes} x i1> {self.below(many, item, pivot)} to {type}")
            counted.append(many.binary("sub", self.integer, before, less))
        w.end(loop, counted)
        totals, narrow = [], STORED[self.integer]
        for value in loop.carried:
            total = w.call(narrow, f"llvm.vector.reduce.add.v{lanes}{narrow}", (type, value))
            totals.append(total if narrow == "i64" else w.let(f"zext i32 {total} to i64"))
        rest = w.begin(whole, words.length, 1, [("i64", total) for total in totals])
        item = self.loaded(one, rest.index)
        flags = [self._one(self.below(one, item, one.splat(self.kind, pivot))) for pivot in pivots]
        w.end(rest, self._counted(rest.carried, flags))
        row = w.word("mul", w.word("add", w.word("mul", words.number, self.code.parts), HEAD), 8)
        for place, value in enumerate((*rest.carried, words.length)):
            w.do(f"store i64 {value}, ptr {w.at(words.notes, w.word('add', row, 8 * place))}, align 8")

    def deal(self) -> None:
        w, words, parts = self.w, self.words, self.code.parts
        starts = [below(w, words, parts, words.pieces, part) if part else "0" for part in range(parts)]
        ahead = [below(w, words, parts, words.number, part) if part else "0" for part in range(parts + 1)]
        at = [w.word("add", start, w.word("sub", ahead[part + 1], ahead[part])) for part, start in enumerate(starts)]
        pivots, one, type = self.pivots(), Vectors(w, 1), self.type
        loop = w.begin(0, words.length, 1, [("i64", start) for start in at])
        vector = self.loaded(one, loop.index)
        flags = [self._one(self.below(one, vector, one.splat(self.kind, pivot))) for pivot in pivots]
        item = w.let(f"extractelement <1 x {type}> {vector}, i64 0")
        place = loop.carried[-1]
        for flag, other in zip(reversed(flags), reversed(loop.carried[:-1]), strict=True):
            place = w.let(f"select i1 {flag}, i64 {other}, i64 {place}")
        own = w.smaller(place, words.last)
        w.do(f"store {type} {item}, ptr {self._spot(words.target, own)}, align {self.kind.bytes}")
        w.end(loop, self._counted(loop.carried, self._own_parts(flags)))

    def _own_parts(self, flags: list[str]) -> list[str]:
        """Is an item in each part?  It is below all pivots from some on, so each flag holds where the one before does."""
        parts = flags[:1]
        for before, flag in zip(flags, [*flags[1:], "true"], strict=True):
            parts.append(self.w.let(f"xor i1 {flag}, {before}"))
        return parts

    def _counted(self, numbers: Sequence[str], flags: Sequence[str]) -> list[str]:
        """Each number, and one more where its flag holds."""
        w = self.w
        return [w.word("add", number, w.let(f"zext i1 {flag} to i64")) for number, flag in zip(numbers, flags, strict=True)]

    def _one(self, flag: str) -> str:
        return self.w.let(f"extractelement <1 x i1> {flag}, i64 0")
