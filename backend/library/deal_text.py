"""Items dealt into parts that are sorted on their own, as LLVM text: what is below the first pivot, what is below the second, …

TALLY: how many items of a piece are below each pivot.  DEAL: each item of a piece goes where its part has the next free place.
Both work on items as they are (what is sorted), or on words of key and position (`sort_text`; what is graded), compared as bits.
NaN is below nothing.  Pieces have their own places in every part, so they can be dealt at once, and the parts lie one after the
other: there is no second buffer.  No place beyond the last is written, whatever another thread does to the items meanwhile.

The words are those of `sort_text` (Note [Arguments]).

Neighbours: `sort_text`; `kernels.store` (compiles it), `compiled_sorts` (chooses pivots, and calls it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ...typechecker.elements import Kind
from ..kernels.vectors import STORED, Vectors
from ..kernels.writer import Writer, function_text
from .sort_text import HEAD, Moves, below, key_of, note, word_of, words_of


class Stage(Enum):
    """See the module."""

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

    def loaded(self, v: Vectors, place: str) -> str:
        """The items from a place on, or their words."""
        w, code, items = self.w, self.code, self.words.items
        if not code.keyed:
            return v.load(self.kind, w.at(items, w.word("mul", place, self.kind.bytes)))
        position = w.word("add", self.words.first, place)
        return word_of(v, key_of(v, code.kind, code.descending, items, place), position, *self.moves)

    def below(self, v: Vectors, item: str, pivot: str) -> str:
        return v.compare("ult" if self.code.keyed else "olt" if self.kind.is_float else "slt", self.kind, item, pivot)

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
        own = w.word("mul", w.smaller(place, words.last), self.kind.bytes)
        w.do(f"store {type} {item}, ptr {w.at(words.target, own)}, align {self.kind.bytes}")
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
