"""Columns of tables that are text: one, by its header (`sales.csv:price`) or its place (`sales.csv:#2`), or all of them.

Quotes, separators and line ends are those of RFC 4180: a quoted cell may hold separators, quotes (doubled) and line ends.  UTF-8
with or without a mark; blank lines are skipped; every record has as many cells as the first.  Of a column that is named the
first record is the header; otherwise it is one if none of its cells begins like a number.

A table is scanned once, for the number of its records and the longest cell of each column, and read once, for all the columns
that were asked for (`Table.shape`).  Note [Fast and exact] of `delimited` holds here too: many cells are made into numbers at
once, and only where that fails they are looked at one by one, which gives the line and the column at fault.

Neighbours: `cells`, `dates` (what a cell says), `delimited` (tables of numbers without any clause), `shell.execution.loading`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, Final

from ....lang.primitives import nearest
from ....lang.reading_clauses import Form, Reading
from ....typechecker.elements import Kind
from ..values import INTEGER_BITS
from .cells import Unsuitable, begins_like_number, item_of
from .content import Content
from .dates import number_of
from .elements import changed, require_shape
from .filling import new_array
from .trouble import FileTrouble, damaged, disagrees, listed, system_errors

_RECORDS: Final = 2000
"""Records that are looked at together."""
MISSING: Final = frozenset({"", "NA"})
_PLACE: Final = re.compile(r"#([0-9]{1,6})")
_BLANK: Final = 32


@dataclass(frozen=True, slots=True)
class _Scanned:
    """What a table has: its header ([] for none), how many records below it, and the longest cell of each column."""

    first: list[str]
    records: int
    widths: list[int]


@dataclass(frozen=True, slots=True)
class Column:
    """A column (or with "" all of them) and what it is declared as."""

    member: str
    kind: Kind
    rank: int
    reading: Reading


class Table:
    """One file with one separator."""

    def __init__(self, content: Content, separator: str) -> None:
        self._content, self._separator = content, separator
        self._wanted: dict[Column, tuple[int, ...]] = {}
        self._read: dict[Column, Any] = {}

    def shape(self, wanted: Column) -> tuple[int, ...]:
        """The shape that the file gives it; from here on it is read with the others."""
        scanned = self._scanned
        places, headed = self._places(wanted)
        lines = scanned.records - headed
        if wanted.kind is Kind.CHAR:
            if not wanted.member:
                raise disagrees("is a table of numbers, its declared type is char", "name a column, or a txt file for text")
            width = max((scanned.widths[places[0]], len(str(wanted.reading.missing or ""))))
            shape: tuple[int, ...] = (lines, width)
        elif wanted.member or (wanted.rank == 1 and len(places) == 1):
            shape = (lines,)
        else:
            shape = (lines, len(places))
        if len(shape) != wanted.rank:
            held = "two axes" if len(shape) == 2 else "one axis"
            note = "a column of text is `char[n w]`, w its longest cell" if wanted.kind is Kind.CHAR else "a column is `[n]`"
            raise disagrees(f"gives {held}, its declared type has {wanted.rank}", note)
        self._wanted[wanted] = shape
        return shape

    def values(self, wanted: Column, shape: tuple[int, ...]) -> Any:
        """The items as a NumPy array of the kind; the file is read when the first of its columns is asked for."""
        require_shape(self.shape(wanted), shape)
        if wanted not in self._read:
            self._read = self._read_all()
        return self._read.pop(wanted)

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """The cells of the first record, and all cells by column."""
        columns: list[list[str]] = []
        for _, rows in self._batches():
            columns = columns or [[] for _ in rows[0]]
            for at, cells in enumerate(columns):
                cells += map(itemgetter(at), rows)
        if not columns:
            raise damaged("is empty: it has neither numbers nor a header line")
        return [cells[0].strip() for cells in columns], columns

    # ------------------------------------------------------------------------------------- the header

    @cached_property
    def _scanned(self) -> _Scanned:
        first: list[str] = []
        widths: list[int] = []
        records = 0
        for _, rows in self._batches():
            if not records:
                first, widths = [cell.strip() for cell in rows[0]], [0] * len(rows[0])
            records += len(rows)
            body = rows if records > len(rows) else rows[1:]
            for at in range(len(widths)):
                widths[at] = max(widths[at], max(map(len, map(itemgetter(at), body)), default=0))
        if not records:
            raise damaged("is empty: it has neither numbers nor a header line")
        if not self._is_heading(first):
            widths = [max(width, len(cell)) for width, cell in zip(widths, first, strict=True)]
        return _Scanned(first, records, widths)

    @staticmethod
    def _is_heading(cells: list[str]) -> bool:
        return any(cells) and not any(map(begins_like_number, cells))

    def _places(self, wanted: Column) -> tuple[list[int], bool]:
        """Which columns these are (from 0), and whether the first record is a header."""
        first = self._scanned.first
        if not wanted.member:
            return list(range(len(first))), self._is_heading(first)
        place = _PLACE.fullmatch(wanted.member)
        if place is not None and wanted.member not in first:
            number = int(place[1])
            if not 1 <= number <= len(first):
                raise FileTrouble("E704", f"has no column {number}: it has {len(first)}")
            return [number - 1], self._is_heading(first)
        places = [at for at, name in enumerate(first) if name == wanted.member]
        if not places:
            meant = nearest(wanted.member, first)
            hint = f"; did you mean `{meant}`?" if meant else ""
            raise FileTrouble("E704", f"has no column named {wanted.member}{hint}", f"its columns: {listed(first)}")
        if len(places) > 1:
            numbers = " and ".join(str(at + 1) for at in places[:2])
            note = f"name one by its place: `:#{places[0] + 1}`"
            raise damaged(f"has two columns named {wanted.member}: columns {numbers} of its header", note)
        return places, True

    # ------------------------------------------------------------------------------------- the cells

    def _read_all(self) -> dict[Column, Any]:
        """Every column that was asked for."""
        tasks = []
        for wanted, shape in self._wanted.items():
            array = new_array(shape, wanted.kind)
            if wanted.kind is Kind.CHAR:
                array.view("=u4")[...] = _BLANK
            places, headed = self._places(wanted)
            for at, place in enumerate(places):
                room = array if wanted.kind is Kind.CHAR or array.ndim == 1 else array[:, at]
                tasks.append((wanted, place, headed, room, _converter(wanted)))
        count = 0
        for lines, rows in self._batches():
            for wanted, place, headed, room, convert in tasks:
                skip = 1 if headed and not count else 0
                body = rows[skip:]
                cells = [row[place] for row in body]
                start = count - headed + skip
                if start + len(cells) > len(room):
                    raise changed()
                try:
                    convert(cells, room[start : start + len(cells)])
                except _NotAtOnce:
                    self._one_by_one(wanted, cells, lines[skip:], place, room[start : start + len(cells)])
            count += len(rows)
        for wanted, shape in self._wanted.items():
            headed = self._places(wanted)[1]
            require_shape((count - headed,), shape[:1])
        found: dict[Column, Any] = {}
        for wanted, _, _, room, _ in tasks:
            found.setdefault(wanted, room if room.base is None else room.base)
        return found

    def _one_by_one(self, wanted: Column, cells: list[str], lines: list[int], place: int, room: Any) -> None:
        name = self._scanned.first[place] if self._places(wanted)[1] else ""
        for at, (cell, line) in enumerate(zip(cells, lines, strict=True)):
            where = f"line {line}, column {place + 1}" + (f" ({name})" if name else "")
            text = cell.strip()
            if text in MISSING:
                if wanted.reading.missing is None:
                    note = f"say what stands for it: `missing {_example(wanted)}`"
                    raise damaged(f"{where} is {text or 'empty'}", note)
                _put(room, at, wanted.reading.missing)
                continue
            try:
                _put(room, at, _item(text, wanted) if wanted.kind is not Kind.CHAR else cell)
            except Unsuitable as trouble:
                raise damaged(f"{where}: {trouble.message}", *trouble.notes) from None

    def _batches(self) -> Iterator[tuple[list[int], list[list[str]]]]:
        """Some records at a time, with the lines on which they begin (from 1)."""
        with system_errors(), self._content.open() as file:
            stream = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            reader = csv.reader(_without_nul(stream), delimiter=self._separator, strict=True, skipinitialspace=True)
            rows: list[list[str]] = []
            lines: list[int] = []
            line, columns, first = 1, 0, 0
            try:
                for row in reader:
                    begins, line = line, reader.line_num + 1
                    if not row or (len(row) == 1 and not row[0].strip()):
                        continue
                    if not columns:
                        columns, first = len(row), begins
                    if len(row) != columns:
                        raise damaged(f"line {begins} has {_count(len(row))}, line {first} has {_count(columns)}")
                    rows.append(row)
                    lines.append(begins)
                    if len(rows) == _RECORDS:
                        yield lines, rows
                        rows, lines = [], []
            except csv.Error as error:
                raise damaged(f"line {line}: {_told(error)}") from None
            except UnicodeDecodeError:
                raise self._undecodable() from None
            if rows:
                yield lines, rows

    def _undecodable(self) -> FileTrouble:
        with self._content.open() as file:
            start = file.read(2)
            if start in (b"\xff\xfe", b"\xfe\xff"):
                return damaged("is UTF-16, not UTF-8", "save it as UTF-8")
            file.seek(0)
            for number, raw in enumerate(file, 1):
                try:
                    raw.decode("utf-8")
                except UnicodeDecodeError as error:
                    message = f"is not UTF-8: line {number} has the byte 0x{raw[error.start]:02x}"
                    return damaged(message, "save it as UTF-8: `iconv -f latin1 -t utf-8`")
        return damaged("is not UTF-8")


def _without_nul(stream: Iterator[str]) -> Iterator[str]:
    for number, line in enumerate(stream, 1):
        if "\0" in line:
            raise damaged(f"is no table: line {number} holds a NUL character")
        yield line


def _told(error: csv.Error) -> str:
    text = str(error)
    if "end of data" in text or "field limit" in text:
        return "a quoted cell is not closed, or a cell is too long"
    if "expected after" in text:
        return "text follows a closing quote; a quote in a quoted cell is doubled"
    return text


def _count(cells: int) -> str:
    return "1 cell" if cells == 1 else f"{cells} cells"


# ------------------------------------------------------------------------------------- cells to items


class _NotAtOnce(Exception):
    """Some cells have to be looked at one by one."""


_Convert = Callable[[list[str], Any], None]


def _converter(wanted: Column) -> _Convert:
    """What puts many cells into a part of an array, or raises `_NotAtOnce`."""
    reading = wanted.reading
    if reading.form is Form.PRESENT:
        return _presence
    if reading.form is not Form.ITEM:
        return _remembering(reading)
    if wanted.kind is Kind.CHAR:
        return lambda cells, room: _texts(cells, room, reading)
    if wanted.kind is Kind.I64:
        return lambda cells, room: _numbers(cells, room, int, reading)
    if wanted.kind in (Kind.F64, Kind.F32):
        return lambda cells, room: _numbers(cells, room, float, reading)
    return _slowly


def _slowly(cells: list[str], room: Any) -> None:
    raise _NotAtOnce


def _presence(cells: list[str], room: Any) -> None:
    room[...] = [cell.strip() not in MISSING for cell in cells]


def _numbers(cells: list[str], room: Any, make: Callable[[str], Any], reading: Reading) -> None:
    whole = "".join(cells)
    if not whole.isascii() or "_" in whole:
        raise _NotAtOnce
    if reading.decimal != ".":
        if "." in whole:
            raise _NotAtOnce
        cells = [cell.replace(reading.decimal, ".") for cell in cells]
    if reading.missing is not None:
        filler = str(reading.missing)
        cells = [filler if cell.strip() in MISSING else cell for cell in cells]
    try:
        room[...] = list(map(make, cells))
    except (ValueError, OverflowError):
        raise _NotAtOnce from None


def _texts(cells: list[str], room: Any, reading: Reading) -> None:
    import numpy

    if any(cell in MISSING for cell in map(str.strip, cells)):
        if reading.missing is None:
            raise _NotAtOnce
        cells = [str(reading.missing) if cell.strip() in MISSING else cell for cell in cells]
    width = room.shape[1]
    if width:
        padded = "".join([cell.ljust(width) for cell in cells])
        if len(padded) != room.size:
            raise changed()
        room.view("=u4")[...] = numpy.frombuffer(padded.encode("utf-32-le"), "<u4").reshape(room.shape)


def _remembering(reading: Reading) -> _Convert:
    known: dict[str, int] = {}

    def convert(cells: list[str], room: Any) -> None:
        for cell in cells:
            if cell not in known:
                try:
                    known[cell] = number_of(cell, reading)
                except Unsuitable:
                    raise _NotAtOnce from None
        room[...] = [known[cell] for cell in cells]

    return convert


def _item(text: str, wanted: Column) -> Any:
    reading = wanted.reading
    if reading.form in (Form.DATE, Form.TIME):
        return number_of(text, reading)
    if reading.decimal != "." and wanted.kind not in INTEGER_BITS:
        if "." in text:
            raise Unsuitable(f"“{text}” has a point; the decimals of this column are written with `{reading.decimal}`")
        text = text.replace(reading.decimal, ".")
    return item_of(text, wanted.kind)


def _put(room: Any, at: int, item: Any) -> None:
    if room.dtype.kind != "U":
        room[at] = item
        return
    text = str(item)
    if len(text) > room.shape[1]:
        raise changed()
    room[at, : len(text)] = list(text)


def _example(wanted: Column) -> str:
    if wanted.kind is Kind.CHAR:
        return '""'
    return "⎕nan" if wanted.kind.is_float else "0"
