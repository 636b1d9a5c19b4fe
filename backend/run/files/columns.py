"""Tables that are text: all columns (`sales.csv`), one by its header (`sales.csv:price`) or by its place (`sales.csv:#2`).

A cell is a number, bool, date, time or text, padded with blanks or not; an empty one is an error, not NaN, unless `missing` says
what stands for it.  Of a column that is named the first record is the header; otherwise it is one, and skipped, if none of its
cells is a number, a date or what the column is declared as.  A whole table has the shape [records, columns]; declared with one
axis it may be one column or one record, declared as a scalar it is one cell.

A table is measured once (`records.measured`) and read once, for all the columns that were asked for (`Table.shape`).

Note [Fast and exact].  NumPy's C reader is tried first on a block's numbers; wherever it hesitates (any error or warning)
the cells are converted together by Python, and where that fails one by one, which either succeeds or names the line and
column at fault.

Neighbours: `records` (the text), `conversions` (cells to items), `delimited_writing` (the other way), `shell.execution.loading`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import Any, Final

from ....lang.codes import Code
from ....lang.primitives import nearest
from ....lang.properties import cached_property
from ....lang.reading_clauses import AS_WRITTEN, Form
from ....typechecker.elements import Kind
from .advice import for_line
from .cells import Unsuitable
from .content import Content
from .conversions import BLANK, MISSING, QUOTED, Column, NotAtOnce, converter, filled, put
from .elements import changed, require_shape
from .filling import new_array
from .headers import may_be_years
from .records import START, Block, Measure, Place, blocks, measured
from .trouble import FileTrouble, damaged, disagrees, listed

_PLACE: Final = re.compile(r"#([0-9]{1,6})")
BESIDE: Final = 6 << 20
"""Bytes that a block takes while its cells become items."""
_SHOWN: Final = 4
_MOST_TOLD: Final = 1_000
_ONCE: Final = {Kind.I64: "int64", Kind.F64: "float64", Kind.F32: "float64"}
"""The kinds that NumPy reads, and as what."""


@dataclass(frozen=True, slots=True)
class _Task:
    """Items to be read: the array, which column of the table (None: all), and whether the first record is a header."""

    wanted: Column
    array: Any
    place: int | None
    headed: bool
    convert: Any


class Table:
    """One file with one separator.  `places`: of its records, where it was measured before."""

    def __init__(self, content: Content, separator: str, places: tuple[Place, ...] = ()) -> None:
        self._content, self._separator, self._known = content, separator, places
        self._wanted: dict[Column, tuple[int, ...]] = {}
        self._read: dict[Column, Any] = {}

    @cached_property
    def _measure(self) -> Measure:
        return measured(self._content, self._separator, self._known)

    @property
    def places(self) -> tuple[Place, ...]:
        """From which its records can be read, as who measures it again is told."""
        return self._measure.places

    @cached_property
    def _headed(self) -> bool:
        return self._measure.headed

    @cached_property
    def _widths(self) -> list[tuple[int, int]]:
        """The longest cell of each column, with and without the first record."""
        first = [len(cell) for cell in self._measure.names]
        widths = [0] * len(first)
        for at, (rows, _) in enumerate(self._rows()):
            for column in range(len(widths)):
                cells = map(itemgetter(column), rows if at else rows[1:])
                widths[column] = max(widths[column], max(map(len, cells), default=0))
        return [(max(pair), pair[1]) for pair in zip(first, widths, strict=True)]

    def _rows(self) -> Iterator[tuple[list[list[str]], list[int]]]:
        for block in blocks(self._content, self._separator):
            lines, rows = block.records
            if not block.whole:
                raise damaged(f"line {block.line} is too long for a table with text")
            if rows:
                yield block.plain(), lines

    def shape(self, wanted: Column) -> tuple[int, ...]:
        """The shape that the file gives it; from here on it is read with the others."""
        if not wanted.member and wanted.kind is Kind.CHAR:
            raise disagrees("is a table of numbers, its declared type is char", "name a column, or a txt file for text")
        place, headed = self._place(wanted)
        lines = self._measure.records - headed
        if place is None:
            shape = _as_rank(lines, self._measure.columns, wanted.rank)
        else:
            shape = (lines,)
            if wanted.kind is Kind.CHAR:
                shape = (lines, max(self._widths[place][headed], len(str(wanted.reading.missing or ""))))
            if len(shape) != wanted.rank:
                held = "two axes" if len(shape) == 2 else "one axis"
                text = "a column of text is `char[n w]`, w its longest cell"
                note = text if wanted.kind is Kind.CHAR else "a column is `[n]`"
                raise disagrees(f"gives {held}, its declared type has {wanted.rank}", note)
        self._wanted[wanted] = shape
        return shape

    def values(self, wanted: Column, shape: tuple[int, ...]) -> Any:
        """The items as a NumPy array of the kind; the file is read when the first of its columns is asked for."""
        require_shape(self.shape(wanted), shape)
        if wanted not in self._read:
            self._read = self._read_all()
        return self._read.pop(wanted)

    def items(self, wanted: Column, first: int) -> tuple[int, Iterator[Any]]:
        """A row that is not behind row `first`, and the items from there on, some at a time, as vectors."""
        task = _Task(wanted, None, *self._place(wanted), converter(wanted))
        place = self._measure.place_of(first + task.headed) if self._measure.records > 1 else START
        return max(0, place[0] - task.headed), self._items(task, place)

    def _items(self, task: _Task, place: Place) -> Iterator[Any]:
        found: list[Any] = []

        def room(task: _Task, done: int, column: int, count: int) -> Any:
            found.append(new_array((count,), task.wanted.kind))
            return found[-1]

        done = place[0]
        for block in blocks(self._content, self._separator, place):
            done += self._fill(block, [task], done, room)
            yield from found
            found.clear()

    @property
    def doubt(self) -> str:
        """Why the first record may be a header although it was read as data; nothing if it was not, or surely is none."""
        if self._headed or self._measure.columns > _MOST_TOLD or not any(not self._place(wanted)[1] for wanted in self._wanted):
            return ""
        names = self._measure.names
        if not may_be_years(names):
            return ""
        shown = listed(names[:_SHOWN]) + ", …" * (len(names) > _SHOWN)
        return f"line 1 ({shown}) is read as data, for it holds numbers; if it is a header, name columns by it: `:{names[-1]}`"

    def texts(self) -> tuple[list[str], list[list[str]], bool]:
        """The cells of the first record, all cells by column, and whether the first record is a header."""
        columns: list[list[str]] = [[] for _ in range(self._measure.columns)]
        for rows, _ in self._rows():
            for at, cells in enumerate(columns):
                cells += map(itemgetter(at), rows)
        return self._measure.names, columns, self._headed

    def _place(self, wanted: Column) -> tuple[int | None, bool]:
        """Which column it is (from 0; None: all), and whether the first record is a header."""
        if not wanted.member:
            return None, self._is_header(None, wanted)
        names = self._measure.names
        number = _PLACE.fullmatch(wanted.member)
        if number is not None and wanted.member not in names:
            place = int(number[1])
            if not 1 <= place <= len(names):
                raise FileTrouble(Code.E704, f"has no column {place}: it has {len(names)}")
            return place - 1, self._is_header(place - 1, wanted)
        places = [at for at, name in enumerate(names) if name == wanted.member]
        if not places:
            meant = nearest(wanted.member, names)
            notes = for_line(names[0], self._separator) if len(names) == 1 else ()
            hint = f"; did you mean `{meant}`?" if meant else ""
            raise FileTrouble(Code.E704, f"has no column named {wanted.member}{hint}", f"its columns: {listed(names)}", *notes)
        if len(places) > 1:
            numbers = " and ".join(str(at + 1) for at in places[:2])
            note = f"name one by its place: `:#{places[0] + 1}`"
            raise damaged(f"has two columns named {wanted.member}: columns {numbers} of its header", note)
        return places[0], True

    def _is_header(self, place: int | None, wanted: Column) -> bool:
        """Is the first record a header for who wants the column at a place (None: all)?"""
        if not self._headed or wanted.kind is Kind.CHAR or wanted.reading.form is Form.PRESENT:
            return self._headed
        cells = self._measure.names if place is None else [self._measure.names[place]]
        try:
            return any(cell in MISSING or filled(cell, wanted) is None for cell in cells)
        except Unsuitable:
            return True

    # ------------------------------------------------------------------------------------- the cells

    def _read_all(self) -> dict[Column, Any]:
        """Every column that was asked for."""
        tasks = []
        for wanted, shape in self._wanted.items():
            array = new_array(shape, wanted.kind)
            if wanted.kind is Kind.CHAR:
                array.view("=u4")[...] = BLANK
            tasks.append(_Task(wanted, array, *self._place(wanted), converter(wanted)))
        done = 0
        for block in blocks(self._content, self._separator):
            done += self._fill(block, tasks, done, self._room)
        require_shape((done,), (self._measure.records,))
        return {task.wanted: task.array for task in tasks}

    def _fill(self, block: Block, tasks: list[_Task], done: int, room_of: Callable[[_Task, int, int, int], Any]) -> int:
        """Put a block's items where `room_of` says, `done` records having been read; how many records end with it."""
        count: int | None = None
        for task in tasks:
            items = _at_once(block, task, self._measure.columns) if done else None
            if items is not None:
                count = len(items)
                room_of(task, done, block.column, items.size)[...] = items.reshape(-1)
                continue
            if task.headed and not done and not block.whole:
                count = 1
                continue
            lines, rows = block.records
            count, skip = len(rows), int(task.headed and not done)
            if task.place is None:
                cells = list(chain.from_iterable(rows[skip:]))
            else:
                place = task.place - block.column
                cells = [row[place] for row in rows[skip:] if 0 <= place < len(row)]
            if not cells:
                continue
            if block.quoted and not task.wanted.takes_quoted:
                cells = [cell.removeprefix(QUOTED) for cell in cells]
            room = room_of(task, done + skip, block.column, len(cells))
            try:
                task.convert(cells, room)
            except NotAtOnce:
                self._one_by_one(task, cells, lines[skip:], block.column, room)
        return (len(block.records[1]) if count is None else count) if block.ends else 0

    def _room(self, task: _Task, done: int, column: int, count: int) -> Any:
        """Where the items of a block go."""
        start = done - task.headed
        array = task.array
        if task.place is None:
            start, array = start * self._measure.columns + column, array.reshape(-1)
        if start + count > len(array):
            raise changed()
        return array[start : start + count]

    def _one_by_one(self, task: _Task, cells: list[str], lines: list[int], column: int, room: Any) -> None:
        wanted, names = task.wanted, self._measure.names if task.place is not None and task.headed else []
        for at, cell in enumerate(cells):
            record, place = (at, task.place) if task.place is not None else divmod(at, len(cells) // len(lines))
            place += column * (task.place is None)
            where = f"line {lines[record]}, column {place + 1}" + (f" ({names[place]})" if names and names[place] else "")
            try:
                put(room, at, filled(cell, wanted))
            except Unsuitable as trouble:
                first = lines[record] == self._measure.first[0].line and bool(self.doubt)
                notes = ["a first line with numbers is no header; read columns by name: `file.csv:name`"] if first else []
                raise damaged(f"{where}{trouble.message}", *trouble.notes, *notes) from None


def _as_rank(lines: int, columns: int, rank: int) -> tuple[int, ...]:
    if rank == 2:
        return lines, columns
    if rank == 1 and 1 in (lines, columns):
        return (lines * columns,)
    if rank == 0 and lines == columns == 1:
        return ()
    shape = f"a table of {lines} × {columns}"
    wanted = {0: "a scalar is one cell", 1: "one axis is one line or one column"}.get(rank, "a table has two axes")
    axes = "1 axis" if rank == 1 else f"{rank} axes"
    raise disagrees(f"is {shape}, its declared type has {axes} ({wanted})")


def _at_once(block: Block, task: _Task, columns: int) -> Any:
    """The numbers by NumPy's reader, or None where it hesitates.  See Note [Fast and exact]."""
    import numpy

    kind = _ONCE.get(task.wanted.kind) if replace(task.wanted.reading, separator="") == AS_WRITTEN else None
    place = task.place if block.whole else None
    if kind is None or block.quoted or place != task.place:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            items = numpy.loadtxt(
                block.text.split("\n"), kind, comments=None, delimiter=block.separator, usecols=place, ndmin=2
            )
    except (ValueError, OverflowError, Warning):
        return None
    expected = len(items) * columns if block.whole else items.size
    return items if block.text.count(block.separator) == expected - len(items) else None
