r"""Scans as loop programs, in the order of scans (`backend.reference.scans`): runs of `RUN` items, blocks of `BLOCK`.

Where the order does not show, a line is a vector loop whose reduction is used at each item.  Else some runs are gone along side
by side, so that few additions wait for each other, into scratch; then, run by run, with what is before each joined, into the
result.  So are short lines themselves.  Truth values are scanned as the numbers 0 and 1, of `=\` negated: ~x=y is
(~x)≠~y.

Words of LINES: lines; items of each; the source, its stride from line to line and, unless `unit`, from item to item; the result
and its stride from line to line; the address of what is before the first item, behind which what is behind the last is written.
Words of COLUMNS: tables; items of each line; the lines of a table, which lie next to each other; the source and its strides from
table to table and item to item; the result and its strides.

Neighbours: `written` (the others), `backend.run.cpu.scanning` (runs this), `card_scans` (the same on cards).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from ...typechecker.elements import Kind
from ...typechecker.scalars import is_ordered, neutral
from ..kernels.build import bits_of
from ..kernels.ir import BLOCK, RUN
from .builder import Builder, at
from .ir import ZERO, Index, LoopKind, Program, Role, View, plus, times
from .orders import integer, whole_multiples
from .written import Written

_RUNS: Final = 8
"""Runs that are gone along side by side: as many as are turned, and their scratch does not crowd the nearest cache."""
_LINES: Final = 8
"""Short lines that are, too, where there are so many."""
_TOGETHER: Final = 8
"""Items of each that are turned together."""
_SHORT: Final = 8 * RUN
"""Items of a short line."""
_STRIP: Final = 512
"""Columns that are scanned together."""
_FEW: Final = 8
"""Items that are no work for a vector."""
_DECIDED: Final = {"min": 0, "max": 1}
"""After which number nothing changes, of 0 and 1."""
_ON_BYTES: Final = {"and": "min", "or": "max", "ne": "bxor", "eq": "bxor"}
"""Functions of truth values, on 0 and 1."""

Take = Callable[[Index], str]
"""The item of a chain at a place."""
Give = Callable[[Index, str], None]
"""Takes what a chain has come to at a place."""


class Form(Enum):
    LINES = "lines"
    COLUMNS = "columns"


@dataclass(frozen=True, slots=True)
class Scan(Written):
    """A scan that kernels do.  `unit`: the items of a source line lie next to each other.  `streamed`: results bypass the caches;
    lines of the result start at multiples of 64 bytes."""

    function: str
    kind: Kind
    form: Form
    unit: bool = True
    streamed: bool = False

    @property
    def is_free(self) -> bool:
        """Does the order not show?"""
        return not is_ordered(self.function, self.kind)

    def program(self) -> Program:
        return (_Lines if self.form is Form.LINES else _Columns)(self).program()


class Scanning:
    """Items that are loaded, joined and stored."""

    def __init__(self, scan: Scan) -> None:
        self.b, self.scan = Builder(), scan
        is_truth = scan.kind is Kind.BOOL
        self.kind, self.function = (Kind.U8, _ON_BYTES[scan.function]) if is_truth else (scan.kind, scan.function)
        self.nothing = self.number(neutral(self.function, self.kind))

    def number(self, value: float) -> str:
        return self.b.constant(self.kind, bits_of(self.kind, value))

    def load(self, view: str, *place: Index, mask: str | None = None) -> str:
        """An item as it is joined."""
        b, item = self.b, self.b.load(view, place, mask)
        if self.scan.kind is not Kind.BOOL:
            return item
        number = b.apply("convert", (item,), Kind.BOOL, Kind.U8)
        return b.apply("bxor", (number, self.number(1)), Kind.U8, Kind.U8) if self.scan.function == "eq" else number

    def item(self, *place: Index, mask: str | None = None) -> str:
        """An item of the source."""
        return self.load("source", *place, mask=mask)

    def store(self, view: str, value: str, *place: Index) -> None:
        if self.scan.kind is Kind.BOOL:
            value = self.b.apply("eq" if self.scan.function == "eq" else "ne", (value, self.number(0)), Kind.U8, Kind.BOOL)
        self.b.store(view, place, value)

    def joined(self, left: str, right: str) -> str:
        return self.b.apply(self.function, (left, right), self.kind, self.kind)

    def room(self, *shape: int) -> str:
        return self.b.view("room", self.kind, tuple([Index((), n) for n in shape]), Role.SCRATCH, private=True).name

    def least(self, form: Index, most: int) -> Index:
        return at(integer(self.b, "min", self.b.number(form), self.b.constant(Kind.I64, most)))


class _Lines(Scanning):
    """Lines one after the other, or some side by side."""

    def program(self) -> Program:
        b, scan = self.b, self.scan
        lines, length = at("lines"), at("length")
        views = (
            View("source", scan.kind, (lines, length), Role.INPUT, unit=scan.unit),
            View("result", scan.kind, (lines, length), Role.OUTPUT, streamed=scan.streamed),
            View("carry", scan.kind, (Index((), 2),), Role.OUTPUT),
        )
        self.free(lines, length) if scan.is_free else self.ordered(lines, length)
        return Program("lines", ("lines", "length"), (*views, *b.views.values()), (*b.preamble, *b.statements))

    def free(self, lines: Index, length: Index) -> None:
        b = self.b
        before = self.load("carry", ZERO)
        with b.block() as few, b.range(LoopKind.SERIAL, lines) as line:
            self.store("carry", self.part(LoopKind.SERIAL, at(line.index), ZERO, (length,), before), Index((), 1))
        with b.block() as many, b.range(LoopKind.SERIAL, lines) as line:
            if self.scan.kind is Kind.BOOL and self.function in _DECIDED:
                last = self.until_decided(at(line.index), length, before)
            else:
                last = self.part(LoopKind.VECTOR, at(line.index), ZERO, (length,), before)
            self.store("carry", last, Index((), 1))
        b.choose(b.compare("le", length, Index((), _FEW)), few, many)

    def part(self, kind: LoopKind, line: Index, start: Index, end: tuple[Index, ...], before: str) -> str:
        """Some items of a line, in any order; the last."""
        b = self.b
        with b.loop(kind, (start,), end, [(self.kind, before, self.function if kind is LoopKind.VECTOR else None)]) as loop:
            loop.yields = (self.joined(loop.inside[0], self.item(line, at(loop.index))),)
            self.store("result", loop.yields[0], line, at(loop.index))
        return loop.results[0]

    def until_decided(self, line: Index, length: Index, before: str) -> str:
        """A line whose items are the same from some item on, which is looked for block by block."""
        b, decided = self.b, self.number(_DECIDED[self.function])
        entry = [(self.kind, before, None), (Kind.I64, b.constant(Kind.I64, 0), None)]
        with b.loop(LoopKind.SERIAL, (ZERO,), (length,), entry, step=BLOCK) as block:
            end = plus(at(block.index), Index((), BLOCK))
            last = self.part(LoopKind.VECTOR, line, at(block.index), (end, length), block.inside[0])
            block.yields = last, b.number(end)
            block.until = b.apply("eq", (last, decided), self.kind, Kind.BOOL)
        last, done = block.results
        with b.loop(LoopKind.VECTOR, (at(done),), (length,)) as loop:
            self.store("result", last, line, at(loop.index))
        return last

    def ordered(self, lines: Index, length: Index) -> None:
        b = self.b
        before = self.load("carry", ZERO)
        with b.block() as side_by_side:
            self.short_lines(lines, length, before)
        with b.block() as one_by_one, b.range(LoopKind.SERIAL, lines) as line:
            with b.loop(LoopKind.SERIAL, (ZERO,), (length,), [(self.kind, before, None)], step=BLOCK) as block:
                (before_block,) = block.inside
                total = self.block(at(line.index), at(block.index), length, before_block)
                block.yields = (self.joined(before_block, total),)
            self.store("carry", block.results[0], Index((), 1))
        is_short = b.compare("le", length, Index((), _SHORT))
        are_enough = b.compare("le", Index((), _LINES), lines)
        b.choose(b.apply("and", (is_short, are_enough), Kind.BOOL, Kind.BOOL), side_by_side, one_by_one)

    def chain(self, first: Index, whole: Index, end: Index, take: Take, give: Give) -> str:
        """Scan a chain of items, up to `whole` so many together; its total."""
        b, total = self.b, self.nothing
        for start, stop, together in ((first, whole, _TOGETHER), (whole, end, 1)):
            if start == stop:
                continue
            most = plus(stop, Index((), 1 - together))
            with b.loop(LoopKind.SERIAL, (start,), (most,), [(self.kind, total, None)], step=together) as loop:
                (total,) = loop.inside
                for place in [plus(at(loop.index), Index((), ahead)) for ahead in range(together)]:
                    total = self.joined(total, take(place))
                    give(place, total)
                loop.yields = (total,)
            (total,) = loop.results
        return total

    def short_lines(self, lines: Index, length: Index, before: str) -> None:
        b = self.b
        runs, whole = whole_multiples(b, length, RUN), times(whole_multiples(b, length, _TOGETHER), _TOGETHER)
        with b.range(LoopKind.VECTOR, lines) as line:

            def run(start: Index, whole: Index, end: Index, before_run: str) -> str:
                first = self.joined(before, before_run)

                def give(place: Index, total: str) -> None:
                    self.store("result", self.joined(first, total), at(line.index), place)

                return self.chain(start, whole, end, lambda place: self.item(at(line.index), place), give)

            with b.range(LoopKind.SERIAL, runs, [(self.kind, self.nothing, None)]) as loop:
                start, (before_run,) = times(at(loop.index), RUN), loop.inside
                end = plus(start, Index((), RUN))
                loop.yields = (self.joined(before_run, run(start, end, end, before_run)),)
            run(times(runs, RUN), whole, length, loop.results[0])

    def block(self, line: Index, start: Index, length: Index, before_block: str) -> str:
        """The items of a block, and its total."""
        b = self.b
        items = self.least(plus(length, times(start, -1)), BLOCK)
        runs = whole_multiples(b, items, RUN)
        with b.loop(LoopKind.SERIAL, (ZERO,), (runs,), [(self.kind, self.nothing, None)], step=_RUNS) as group:
            count = self.least(plus(runs, times(at(group.index), -1)), _RUNS)
            first = plus(start, times(at(group.index), RUN))
            group.yields = (self.runs(count, line, first, before_block, group.inside[0]),)
        before, rest = group.results[0], plus(start, times(runs, RUN))
        before_rest = self.joined(before_block, before)

        def take(place: Index) -> str:
            return self.item(line, plus(rest, place))

        def give(place: Index, total: str) -> None:
            self.store("result", self.joined(before_rest, total), line, plus(rest, place))

        left = plus(items, times(runs, -RUN))
        whole = times(whole_multiples(b, left, _TOGETHER), _TOGETHER)
        return self.joined(before, self.chain(ZERO, whole, left, take, give))

    def runs(self, count: Index, line: Index, start: Index, before_block: str, before: str) -> str:
        """Whole runs side by side; what is before them in the block joined with their totals."""
        b, whole = self.b, Index((), RUN)
        scanned, totals = self.room(_RUNS, RUN), self.room(_RUNS)
        with b.range(LoopKind.VECTOR, count) as run:

            def take(place: Index) -> str:
                return self.item(line, plus(plus(start, times(at(run.index), RUN)), place))

            def give(place: Index, total: str) -> None:
                b.store(scanned, (at(run.index), place), total)

            b.store(totals, (at(run.index),), self.chain(ZERO, whole, whole, take, give))
        with b.range(LoopKind.SERIAL, count, [(self.kind, before, None)]) as run:
            (before_run,) = run.inside
            first = self.joined(before_block, before_run)
            with b.range(LoopKind.VECTOR, whole) as item:
                shown = self.joined(first, b.load(scanned, (at(run.index), at(item.index))))
                self.store("result", shown, line, plus(plus(start, times(at(run.index), RUN)), at(item.index)))
            run.yields = (self.joined(before_run, b.load(totals, (at(run.index),))),)
        return run.results[0]


class _Columns(Scanning):
    """Lines side by side.  What each has come to stays in a register for a run; what is before that is in scratch."""

    def program(self) -> Program:
        b, scan = self.b, self.scan
        tables, length, cells = at("tables"), at("length"), at("cells")
        roles = ("source", Role.INPUT), ("result", Role.OUTPUT)
        views = [View(name, scan.kind, (tables, length, cells), role) for name, role in roles]
        rooms = self.room(_STRIP), self.room(_STRIP)
        with b.range(LoopKind.SERIAL, tables) as table, b.loop(LoopKind.SERIAL, (ZERO,), (cells,), step=_STRIP) as strip:
            count = self.least(plus(cells, times(at(strip.index), -1)), _STRIP)
            self.strip(at(table.index), length, at(strip.index), count, rooms)
        return Program("columns", ("tables", "length", "cells"), (*views, *b.views.values()), (*b.preamble, *b.statements))

    def strip(self, table: Index, length: Index, first: Index, cells: Index, rooms: tuple[str, str]) -> None:
        b, (run_room, block_room) = self.b, rooms
        with b.range(LoopKind.VECTOR, cells) as cell:
            for room in rooms:
                b.store(room, (at(cell.index),), self.nothing)
        with b.loop(LoopKind.SERIAL, (ZERO,), (length,), step=BLOCK) as block:
            end = plus(at(block.index), Index((), BLOCK)), length
            with b.loop(LoopKind.SERIAL, (at(block.index),), end, step=RUN) as run, b.range(LoopKind.VECTOR, cells) as cell:
                here = (at(cell.index),)
                before_run = b.load(run_room, here)
                before, ends = self.joined(b.load(block_room, here), before_run), (plus(at(run.index), Index((), RUN)), length)
                with b.loop(LoopKind.SERIAL, (at(run.index),), ends, [(self.kind, self.nothing, None)]) as item:
                    place = table, at(item.index), plus(first, at(cell.index))
                    item.yields = (self.joined(item.inside[0], self.item(*place)),)
                    self.store("result", self.joined(before, item.yields[0]), *place)
                b.store(run_room, here, self.joined(before_run, item.results[0]))
            with b.range(LoopKind.VECTOR, cells) as cell:
                here = (at(cell.index),)
                b.store(block_room, here, self.joined(b.load(block_room, here), b.load(run_room, here)))
                b.store(run_room, here, self.nothing)
