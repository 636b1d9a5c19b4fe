"""Compress and where as loop programs: what a mask selects, in order.

Eight truth values are looked at together, as one word: where none holds nothing is read, else each item is written where the next
one is due, and is written over by the next unless it is held.  So nothing is guessed.  Near the end of what is due, only what
holds is written, and never more than is due: another thread may write to the mask after it was counted.

Words: tables; items of each; how many items are due; the number of the first item (of PAIRS: table); the numbers of a cell; the
mask and its bytes from table to table, twice; of ITEMS and CELLS the source and its strides from table to table and, unless
`unit`, from item to item; the result and, of CELLS, its bytes from cell to cell.  The results of all tables lie one after the
other.  The processor has the lowest byte of a word first.

Neighbours: `written` (the others), `backend.run.cpu.selecting` (runs this).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from ...typechecker.elements import Kind
from .builder import Builder, at
from .ir import ONE, ZERO, Index, LoopKind, Program, Role, View, plus, times
from .orders import integer, whole_multiples
from .written import Written

_TOGETHER: Final = 8
_ONES: Final = 0x0101010101010101
_SEVENS: Final = 0x7F7F7F7F7F7F7F7F


class Form(Enum):
    ITEMS = "items"
    """Items of a source, of `kind`, of one number or two."""
    CELLS = "cells"
    """Runs of numbers of a source."""
    PLACES = "places"
    """The number of the item."""
    PAIRS = "pairs"
    """The number of the table and that of the item (the coordinates in a matrix)."""


@dataclass(frozen=True, slots=True)
class Select(Written):
    """`count`: numbers of an item of ITEMS.  `unit`: the items lie next to each other."""

    form: Form
    kind: Kind = Kind.I64
    count: int = 1
    unit: bool = False

    @property
    def is_numbering(self) -> bool:
        return self.form in (Form.PLACES, Form.PAIRS)

    def program(self) -> Program:
        return _Selecting(self).program()


class _Selecting:
    def __init__(self, code: Select) -> None:
        self.code, self.b = code, Builder()
        self.numbers = 2 if code.form is Form.PAIRS else code.count

    def program(self) -> Program:
        b, code = self.b, self.code
        tables, items = at("tables"), at("items")
        # of the words those of whole groups are there
        views = [View("mask", Kind.BOOL, (tables, items), Role.INPUT), View("words", Kind.I64, (tables, items), Role.INPUT)]
        groups = whole_multiples(b, items, _TOGETHER)
        is_cells, count = code.form is Form.CELLS, Index((), code.count)
        if not code.is_numbering:
            axes = (times(items, code.count),) if code.unit else (items, at("cell") if is_cells else count)
            views.append(View("source", code.kind, (tables, *axes), Role.INPUT))
        axes = (at("due"), at("cell")) if is_cells else (times(at("due"), self.numbers),)
        views.append(View("result", code.kind, axes, Role.OUTPUT))
        with b.range(LoopKind.SERIAL, tables, [(Kind.I64, b.constant(Kind.I64, 0), None)]) as table:
            with b.range(LoopKind.SERIAL, groups, [(Kind.I64, table.inside[0], None)]) as group:
                group.yields = (self.group(at(table.index), at(group.index), group.inside[0]),)
            rest = self.one_by_one(at(table.index), times(groups, _TOGETHER), items, group.results[0])
            table.yields = (rest,)
        parameters = ("tables", "items", "due", "first", "cell")
        return Program("selecting", parameters, tuple(views), (*b.preamble, *b.statements))

    def group(self, table: Index, group: Index, place: str) -> str:
        """Eight items; the place that is due next."""
        b, first = self.b, times(group, _TOGETHER)
        word = b.load("words", (table, group))
        with b.block() as some:
            after = times(plus(group, ONE), _TOGETHER)
            with b.block() as slow:
                last = self.one_by_one(table, first, after, place)
            if self.code.form is Form.CELLS:
                b.statements += slow
            else:
                with b.block() as fast:
                    end = self.all(table, first, word, place)
                room = b.compare("le", plus(at(place), Index((), _TOGETHER)), at("due"))
                (last,) = b.choose(room, fast, slow, [(Kind.I64, end, last)])
        return b.choose(b.compare("ne", at(word), ZERO), some, (), [(Kind.I64, last, place)])[0]

    def all(self, table: Index, first: Index, word: str, place: str) -> str:
        """Every item where the next one is due."""
        b, sevens, ones = self.b, self.b.constant(Kind.I64, _SEVENS), self.b.constant(Kind.I64, _ONES)
        # each byte that is not 0 becomes 1; then byte k counts those up to k
        low = integer(b, "add", integer(b, "band", word, sevens), sevens)
        held = integer(b, "band", self.shifted(integer(b, "bor", low, word), 7), ones)
        upto = integer(b, "mul", held, ones)
        self.write(table, first, at(place))
        for item in range(1, _TOGETHER):
            before = integer(b, "band", self.shifted(upto, 8 * item - 8), b.constant(Kind.I64, 255))
            self.write(table, plus(first, Index((), item)), plus(at(place), at(before)))
        return integer(b, "add", place, self.shifted(upto, 56))

    def shifted(self, value: str, by: int) -> str:
        return integer(self.b, "shru", self.b.constant(Kind.I64, by), value) if by else value

    def one_by_one(self, table: Index, lower: Index, upper: Index, place: str) -> str:
        """Items that are held and due; the place that is due next."""
        b = self.b
        with b.loop(LoopKind.SERIAL, (lower,), (upper,), [(Kind.I64, place, None)]) as item:
            now = at(item.inside[0])
            held = b.load("mask", (table, at(item.index)))
            is_due = b.apply("and", (held, b.compare("lt", now, at("due"))), Kind.BOOL, Kind.BOOL)
            with b.block() as written:
                self.write(table, at(item.index), now)
            b.choose(is_due, written, ())
            item.yields = (integer(b, "add", item.inside[0], b.apply("convert", (is_due,), Kind.BOOL, Kind.I64)),)
        return item.results[0]

    def write(self, table: Index, item: Index, place: Index) -> None:
        b = self.b
        match self.code.form:
            case Form.CELLS:
                with b.range(LoopKind.VECTOR, at("cell")) as number:
                    b.store("result", (place, at(number.index)), b.load("source", (table, item, at(number.index))))
            case Form.ITEMS:
                for part in (Index((), number) for number in range(self.numbers)):
                    source = (plus(times(item, self.numbers), part),) if self.code.unit else (item, part)
                    b.store("result", (plus(times(place, self.numbers), part),), b.load("source", (table, *source)))
            case Form.PLACES:
                b.store("result", (place,), b.number(plus(at("first"), item)))
            case Form.PAIRS:
                for half, coordinate in ((ZERO, plus(at("first"), table)), (ONE, item)):
                    b.store("result", (plus(times(place, 2), half),), b.number(coordinate))
