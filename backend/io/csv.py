"""Text tables: all columns (`sales.csv`), one by its header (`sales.csv:price`) or by its number (`sales.csv:#2`).

A cell is a number, bool, date, time or text, padded with blanks or not; an empty one is an error, not NaN, unless `missing` says
what stands for it.  Of a column that is named the first record is the header; otherwise it is one, and skipped, if none of its
cells is a number, a date or what the column is declared as.  A whole table has the shape [records, columns]; declared with one
axis it may be one column or one record, declared as a scalar it is one cell.

A table is measured once (`measured`) and read once, for all requested columns together (`Table.shape`).

Note [Fast and exact].  NumPy's C reader is tried first on a block's numbers; wherever it hesitates (any error or warning)
the cells are converted together by Python, and where that fails one by one, which either succeeds or names the line and
column at fault.
"""

from __future__ import annotations

import csv
import functools
import io
import math
import re
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, BinaryIO, ClassVar, Final, TypeAlias

from ...lang.diagnostics.model import Code
from ...lang.primitives.table import nearest
from ...lang.support.records import cached_property, dataclass, field, replace
from ...lang.tree.program import AS_WRITTEN, CellFormat, ColumnFormat, has_time
from ...typechecker.elements import Kind
from ..vm.values import shortest_f32
from .byte_source import ITEMS, Content, blocks_of, characters_of, new_array, suffix_of
from .cells import (
    BLANK,
    DATE_PATTERNS,
    MISSING,
    QUOTED,
    CellError,
    Column,
    NeedsItemwise,
    changed,
    converter,
    for_line,
    item_of,
    item_or_missing,
    number_of,
    put,
    require_shape,
)
from .errors import FileTrouble, damaged, disagrees, listed, system_errors
from .row_sinks import AppendSink

# ---------------------------------------------------------------------------------------------------- detection of headers
#
# Whether the first record of a table is a header.
#
# It is data if a cell is a number (also with a decimal comma, groups of digits or a currency), a date or a time in a frequent
# format; `2-9`, `20+` and `1st` are none.

_WITH_SIGNS: Final = re.compile(
    r"[-+¯−]?[$€£¥]? ?(?:[0-9]+[.,]?[0-9]*(?:[eE][-+]?[0-9]+)?"
    r"|[0-9]{1,3}(?:[.,'’_ \u00a0\u202f][0-9]{3})+(?:[.,][0-9]+)?) ?[$€£¥]?"
)
"""Numbers as people write them: with a decimal comma, groups of digits, a currency."""
_MAY_BEGIN_NUMBER: Final = re.compile(r"[-+¯−]?[-0-9.(∞$€£¥]|[-+¯−(]?(?:inf|nan)", re.IGNORECASE)
_MAY_BEGIN_DATE: Final = re.compile(r"[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]|[0-9]{4}-W|[0-9]{8}")
_READINGS: Final = (
    ColumnFormat(CellFormat.DATE), ColumnFormat(CellFormat.TIME),
    *[ColumnFormat(CellFormat.TIME if has_time(pattern) else CellFormat.DATE, pattern) for pattern in DATE_PATTERNS],
)  # fmt: skip
_YEAR: Final = re.compile(r"(1[5-9]|20)[0-9]{2}")


def is_header(cells: Iterable[str]) -> bool:
    """Is a cell filled, and none of them a number, a date or a time?"""
    filled = False
    for cell in map(str.strip, cells):
        if cell and _is_value(cell):
            return False
        filled = filled or bool(cell)
    return filled


def _is_value(cell: str) -> bool:
    if _MAY_BEGIN_NUMBER.match(cell) is None:
        return False
    return _is_number(cell) or (_MAY_BEGIN_DATE.match(cell) is not None and any(_reads(cell, reading) for reading in _READINGS))


def _is_number(cell: str) -> bool:
    try:
        item_of(cell, Kind.C128)
    except CellError:
        return _WITH_SIGNS.fullmatch(cell) is not None
    return True


def _reads(cell: str, reading: ColumnFormat) -> bool:
    try:
        number_of(cell, reading)
    except CellError:
        return False
    return True


def may_be_years(cells: Sequence[str]) -> bool:
    """Could a record that counts as data be a header after all, because its numbers are years and all other cells text?"""
    filled = [cell for cell in map(str.strip, cells) if cell not in MISSING]
    numbers = [cell for cell in filled if _is_value(cell)]
    return 0 < len(numbers) < len(filled) and all(map(_YEAR.fullmatch, numbers))


# ---------------------------------------------------------------------------------------------------- CSV tokenizer
#
# A text table as blocks of complete records.
#
# UTF-8, with or without a byte order mark; lines end in LF or CRLF; blank lines are no records, but `""` is one of an empty cell.
# Quotes are those of RFC 4180: a quoted cell may contain separators, quotes (doubled) and line ends.  A line without quotes may
# have any length: it is read in parts of complete cells, so that memory does not depend on the layout of a table.
#
# Note [Quoted cells].  The csv module does not distinguish `""` from an empty cell, nor `"NA"` from `NA`.  Cells that are text
# only because they are quoted get a prefix, a character that no table contains.

_TOGETHER: Final = 1 << 17
"""Bytes of a block of lines, approximately."""
_PIECE: Final = 1 << 18
"""Bytes of a part of a long line; also the limit for a line within a cell and for a line with quotes."""
_MARK: Final = "\ufeff"
_LINE_END, _RETURN = 10, 13
_MOST_PLACES: Final = 2048
_LONE_RETURN: Final = (
    "a carriage return stands where no line ends",
    "lines end in LF or CR LF: `tr '\\r' '\\n' < old.csv > new.csv`",
)
_MISSING_IF_BARE: Final = re.compile(r"\s*(?:NA)?\s*")
_MAY_HAVE_ONE: Final = re.compile(r'"\s*(?:NA)?\s*(?:"|$)')

RecordOffset: TypeAlias = tuple[int, int, int]
"""The start of a record: how many records are before it, its byte offset, and its line (from 1)."""
START: Final[RecordOffset] = (0, 0, 1)


@dataclass(slots=True)
class RecordBlock:
    """Complete records, or a part of a long one: the line (from 1) and column (from 0) at which the text begins, and whether its
    last record ends here.  `byte`: the offset of its first line in the file."""

    line: int
    text: str
    separator: str
    column: int = 0
    ends: bool = True
    byte: int = 0
    _records: tuple[list[int], list[list[str]]] | None = field(default=None, repr=False)

    @property
    def is_complete(self) -> bool:
        return self.ends and not self.column

    @property
    def quoted(self) -> bool:
        return '"' in self.text

    @property
    def records(self) -> tuple[list[int], list[list[str]]]:
        """The line at which each non-blank record begins, and its cells."""
        if self._records is None:
            self._records = self.read()
        return self._records

    def read(self, following: Iterable[str] = ()) -> tuple[list[int], list[list[str]]]:
        """The records; while a quote is open, lines are taken from `following`."""
        lines, rows = list[int](), list[list[str]]()
        count, begins = self.text.count("\n") + (not self.text.endswith("\n")), 0
        source = chain(io.StringIO(self.text, newline="\n"), following)
        marked = _with_marks(source, self.separator) if self.quoted else source
        reader = csv.reader(marked, delimiter=self.separator, strict=True, skipinitialspace=True)
        try:
            while begins < count and (row := next(reader, None)) is not None:
                if len(row) > 1 or (row and row[0].strip()) or not self.is_complete:
                    lines.append(self.line + begins)
                    rows.append(row)
                begins = reader.line_num
        except csv.Error as error:
            message, *notes = _csv_problem(error)
            raise damaged(f"line {self.line + begins}: {message}", *notes) from None
        return lines, rows

    def plain(self) -> list[list[str]]:
        """The records without marks.  See Note [Quoted cells]."""
        rows = self.records[1]
        return [[cell.removeprefix(QUOTED) for cell in row] for row in rows] if self.quoted else rows


def blocks(content: Content, separator: str, start: RecordOffset = START) -> Iterator[RecordBlock]:
    """The blocks of a table from the start of a record on."""
    with system_errors(), content.open() as file:
        _, byte, line = start
        file.seek(byte)
        while data := file.read(_TOGETHER):
            rest = b"" if data.endswith(b"\n") else file.readline(_PIECE)
            data += rest
            if len(rest) == _PIECE and not rest.endswith(b"\n"):
                above, newline, long = data.rpartition(b"\n")
                if not newline:
                    yield from _parts(file, data, byte, line, separator)
                    byte, line = file.tell(), line + 1
                    continue
                file.seek(-len(long), io.SEEK_CUR)
                data = above + newline
            block = RecordBlock(line, _decoded(data, line), separator, byte=byte)
            byte, line = byte + len(data), line + data.count(b"\n")
            if not data.strip(b"\n"):
                continue
            if block.quoted:
                more: list[str] = []
                block._records = block.read(_following(file, line, more))
                block.text, byte, line = block.text + "".join(more), file.tell(), line + len(more)
            yield block


def _with_marks(lines: Iterable[str], separator: str) -> Iterator[str]:
    """The lines with prefixes for quoted cells.  See Note [Quoted cells]."""
    inside = False
    for line in lines:
        quotes = line.count('"')
        yield _with_mark(line, separator, inside) if _MAY_HAVE_ONE.search(line) else line
        inside ^= bool(quotes % 2)


def _with_mark(line: str, separator: str, inside: bool) -> str:
    parts = line.split('"')
    for at in range(2 if inside else 1, len(parts), 2):
        before, cell, after = parts[at - 1].rstrip(" "), parts[at], "".join(parts[at + 1 : at + 2])
        begins = before.endswith(separator) or (at == 1 and not before)
        ends = after[:1] in (separator, "\n", "\r") if after else at + 2 >= len(parts)
        if begins and ends and _MISSING_IF_BARE.fullmatch(cell):
            parts[at] = QUOTED + cell
    return '"'.join(parts)


def _parts(file: BinaryIO, data: bytes, byte: int, line: int, separator: str) -> Iterator[RecordBlock]:
    """The parts of a long line, whose beginning has been read."""
    column, ends = 0, False
    while not ends:
        more = file.readline(_PIECE)
        ends = more.endswith(b"\n") or len(more) < _PIECE
        data += more
        cells, delimiter, data = (data, b"", b"") if ends else data.rpartition(separator.encode())
        if b"\r" in (cells or data).removesuffix(b"\n").removesuffix(b"\r"):
            raise damaged(f"line {line}: {_LONE_RETURN[0]}", _LONE_RETURN[1])
        if not ends and (not delimiter or len(data) >= _PIECE):
            raise damaged(f"line {line} has a cell of more than {_PIECE} bytes")
        block = RecordBlock(line, _decoded(cells, line, first=not column), separator, column, ends, byte)
        if block.quoted:
            raise damaged(f"line {line} has quotes and more than {_PIECE} bytes")
        yield block
        column += block.text.count(separator) + 1


def _following(file: BinaryIO, line: int, lines: list[str]) -> Iterator[str]:
    """The lines that follow, which are appended to `lines` as they are consumed."""
    while data := file.readline(_PIECE):
        if len(data) == _PIECE and not data.endswith(b"\n"):
            raise damaged(f"line {line} has quotes and more than {_PIECE} bytes")
        lines.append(_decoded(data, line))
        yield lines[-1]
        line += 1


def _decoded(data: bytes, line: int, *, first: bool = True) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _undecodable(data, error.start, line) from None
    if "\0" in text:
        raise damaged(f"is not a table: line {line + text[: text.index(chr(0))].count(chr(10))} holds a NUL character")
    return text.removeprefix(_MARK) if first and line == 1 else text


def _undecodable(data: bytes, at: int, line: int) -> FileTrouble:
    if line == 1 and data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return damaged("is UTF-16, not UTF-8", "save it as UTF-8")
    message = f"is not UTF-8: line {line + data.count(10, 0, at)} has the byte 0x{data[at]:02x}"
    if 0x80 <= data[at] < 0xA0:
        return damaged(message, "this looks like Windows-1252: save it as UTF-8 with `iconv -f cp1252 -t utf-8`")
    return damaged(message, "save it as UTF-8: `iconv -f latin1 -t utf-8`")


def _csv_problem(error: csv.Error) -> tuple[str, ...]:
    """The message and notes for an error of the csv module."""
    text = str(error)
    if "new-line character" in text:
        return _LONE_RETURN
    if "end of data" in text:
        return ("a quoted cell is not closed",)
    if "field limit" in text:
        return ("a cell is too long, or its quote is not closed",)
    if "expected after" in text:
        return ("text follows a closing quote; a quote in a quoted cell is doubled",)
    return (text,)


# ------------------------------------------------------------------------- counting records


@dataclass
class RecordMeasure:
    """The measurements of a table: the text of its first record, the number of columns, and record starts from which reading can
    begin; the last one is the table's end."""

    first: list[RecordBlock]
    columns: int
    places: tuple[RecordOffset, ...]

    @property
    def records(self) -> int:
        return self.places[-1][0]

    def place_of(self, record: int) -> RecordOffset:
        """The last known start at or before a record."""
        return self.places[bisect_right(self.places[:-1], record, key=itemgetter(0)) - 1]

    @property
    def headed(self) -> bool:
        """Does the first record look like a header?"""
        return is_header(self._cells())

    def _cells(self) -> Iterator[str]:
        for block in self.first:
            yield from (cell.removeprefix(QUOTED) for cell in block.read()[1][0])

    @functools.cached_property
    def names(self) -> list[str]:
        """The cells of the first record."""
        return [cell.strip() for cell in self._cells()]


def measured(content: Content, separator: str, known: tuple[RecordOffset, ...] = ()) -> RecordMeasure:
    """Measure a table, whose records must all have as many cells as the first.

    `known`: record starts from an earlier measurement; then only the first record is read.  Raises FileTrouble E705 if there is
    no record, or one with another number of cells."""
    first: list[RecordBlock] = []
    places: list[RecordOffset] = [START]
    begins = columns = records = cells = apart = 0
    for block in blocks(content, separator):
        if known and columns:
            return RecordMeasure(first, columns, known)
        if not block.column and block.byte >= places[-1][1] + max(1, apart):
            places.append((records, block.byte, block.line))
            if len(places) > _MOST_PLACES:
                del places[1::2]
                apart = 2 * max(apart, _TOGETHER)
        count = _uniform(block, columns) if columns else None
        if count is not None:
            records += count
            continue
        lines = block.records[0] if block.is_complete else [block.line]
        lengths = map(len, block.records[1]) if block.is_complete else [block.text.count(separator) + 1]
        for line, length in zip(lines, lengths, strict=True):
            cells += length
            if not records and not columns:
                first.append(_first_record(block, lines) if block.is_complete else replace(block, _records=None))
                begins = line
            if block.ends:
                columns = columns or cells
                if cells != columns:
                    notes = for_line(first[0].text, separator) if columns == 1 else ()
                    raise damaged(f"line {line} has {_count(cells)}, line {begins} has {_count(columns)}", *notes)
                records, cells = records + 1, 0
    if not records:
        raise damaged("is empty: it has neither numbers nor a header line")
    return RecordMeasure(first, columns, known or (*places, (records, content.size(), block.line)))


def _first_record(block: RecordBlock, lines: list[int]) -> RecordBlock:
    """The first record of a block."""
    texts = block.text.split("\n")
    start = lines[0] - block.line
    end = lines[1] - block.line if len(lines) > 1 else len(texts)
    return RecordBlock(lines[0], "\n".join(texts[start:end]), block.separator)


def _uniform(block: RecordBlock, columns: int) -> int | None:
    """The number of records in a block of complete lines without quotes or blank lines; None if they have to be parsed."""
    import numpy

    data = block.text.encode()
    if not block.is_complete or not data.endswith(b"\n") or any(sign in data for sign in b'" ') or not block.text.isascii():
        return None
    codes = numpy.frombuffer(data, "u1")
    ends = numpy.flatnonzero(codes == _LINE_END)
    marks = numpy.diff(numpy.searchsorted(numpy.flatnonzero(codes == ord(block.separator)), ends), prepend=0)
    lengths = numpy.diff(ends, prepend=-1) - 1 - (codes[ends - 1] == _RETURN)
    return None if (marks != columns - 1).any() or (lengths <= marks).any() else len(ends)


def _count(cells: int) -> str:
    return "1 cell" if cells == 1 else f"{cells} cells"


# ---------------------------------------------------------------------------------------------------- reading columns

_PLACE: Final = re.compile(r"#([0-9]{1,6})")
WORKING_MEMORY: Final = 6 << 20
"""Bytes that a block takes while its cells become items."""
_SHOWN: Final = 4
_MOST_TOLD: Final = 1_000
_NUMPY_READS: Final = {Kind.I64: "int64", Kind.F64: "float64", Kind.F32: "float64"}
"""The kinds that NumPy's reader reads, and the dtype."""


@dataclass(frozen=True, slots=True)
class _ParseTask:
    """Items to read: the target array, the column of the table (None: all), and whether the first record is a header."""

    wanted: Column
    array: Any
    column: int | None
    headed: bool
    convert: Any


class Table:
    """One file with one separator.  `places`: record starts, if it was measured before."""

    def __init__(self, content: Content, separator: str, places: tuple[RecordOffset, ...] = ()) -> None:
        self._content, self._separator, self._known = content, separator, places
        self._wanted: dict[Column, tuple[int, ...]] = {}
        self._read: dict[Column, Any | FileTrouble] = {}

    @cached_property
    def _measure(self) -> RecordMeasure:
        return measured(self._content, self._separator, self._known)

    @property
    def places(self) -> tuple[RecordOffset, ...]:
        """The record starts of its measurement, for whoever opens it again."""
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
            if not block.is_complete:
                raise damaged(f"line {block.line} is too long for a table with text")
            if rows:
                yield block.plain(), lines

    def shape(self, wanted: Column) -> tuple[int, ...]:
        """The shape of a requested column, which is then read together with the others."""
        if not wanted.member and wanted.kind is Kind.CHAR:
            raise disagrees("is a table of numbers, its declared type is char", "name a column, or a txt file for text")
        column, headed = self._place(wanted)
        lines = self._measure.records - headed
        if column is None:
            shape = _as_rank(lines, self._measure.columns, wanted.rank)
        else:
            shape = (lines,)
            if wanted.kind is Kind.CHAR:
                shape = (lines, max(self._widths[column][headed], len(str(wanted.reading.missing or ""))))
            if len(shape) != wanted.rank:
                held = "two axes" if len(shape) == 2 else "one axis"
                text = "a column of text is `char[n w]`, w its longest cell"
                note = text if wanted.kind is Kind.CHAR else "a column is `[n]`"
                raise disagrees(f"gives {held}, its declared type has {wanted.rank}", note)
        self._wanted[wanted] = shape
        return shape

    def values(self, wanted: Column, shape: tuple[int, ...]) -> Any:
        """The items as a NumPy array of the kind; the first call reads all requested columns.  Raises FileTrouble: E705 for a
        cell of this column; the cells of the others are reported where their values are asked for."""
        require_shape(self.shape(wanted), shape)
        if wanted not in self._read:
            self._read = self._read_all()
        values = self._read.pop(wanted)
        if isinstance(values, FileTrouble):
            raise values
        return values

    def items(self, wanted: Column, first: int) -> tuple[int, Iterator[Any]]:
        """A row at or before `first`, and the items from there on as vectors, block by block."""
        task = _ParseTask(wanted, None, *self._place(wanted), converter(wanted))
        start = self._measure.place_of(first + task.headed) if self._measure.records > 1 else START
        return max(0, start[0] - task.headed), self._items(task, start)

    def _items(self, task: _ParseTask, start: RecordOffset) -> Iterator[Any]:
        arrays: list[Any] = []

        def room(task: _ParseTask, done: int, column: int, count: int) -> Any:
            arrays.append(new_array((count,), task.wanted.kind))
            return arrays[-1]

        done = start[0]
        for block in blocks(self._content, self._separator, start):
            done += self._fill(block, [task], done, room)
            yield from arrays
            arrays.clear()

    @property
    def doubt(self) -> str:
        """Why the first record, which was read as data, may be a header; empty if there is no doubt."""
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
        """The number of the column (from 0; None: all), and whether the first record is a header."""
        if not wanted.member:
            return None, self._is_header(None, wanted)
        names = self._measure.names
        number = _PLACE.fullmatch(wanted.member)
        if number is not None and wanted.member not in names:
            ordinal = int(number[1])
            if not 1 <= ordinal <= len(names):
                raise FileTrouble(Code.E704, f"has no column {ordinal}: it has {len(names)}")
            return ordinal - 1, self._is_header(ordinal - 1, wanted)
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

    def _is_header(self, column: int | None, wanted: Column) -> bool:
        """Is the first record a header, if the given column (None: all) is read?"""
        if not self._headed or wanted.kind is Kind.CHAR or wanted.reading.form is CellFormat.PRESENT:
            return self._headed
        cells = self._measure.names if column is None else [self._measure.names[column]]
        try:
            return any(cell in MISSING or item_or_missing(cell, wanted) is None for cell in cells)
        except CellError:
            return True

    # ------------------------------------------------------------------------------------- the cells

    def _read_all(self) -> dict[Column, Any | FileTrouble]:
        """All requested columns, or what is wrong with the first cell of one that cannot be read."""
        tasks = []
        for wanted, shape in self._wanted.items():
            array = new_array(shape, wanted.kind)
            if wanted.kind is Kind.CHAR:
                array.view("=u4")[...] = BLANK
            tasks.append(_ParseTask(wanted, array, *self._place(wanted), converter(wanted)))
        done = 0
        refused: dict[Column, FileTrouble] = {}
        for block in blocks(self._content, self._separator):
            done += self._fill(block, tasks, done, self._room, refused)
        require_shape((done,), (self._measure.records,))
        return {task.wanted: refused.get(task.wanted, task.array) for task in tasks}

    def _fill(
        self,
        block: RecordBlock,
        tasks: list[_ParseTask],
        done: int,
        room_of: Callable[[_ParseTask, int, int, int], Any],
        refused: dict[Column, FileTrouble] | None = None,
    ) -> int:
        """Convert a block's items into the parts of arrays that `room_of` returns, after `done` records; returns the number of
        records read so far.  An unreadable cell is raised as FileTrouble (E705), or stored by its column in `refused`."""
        count: int | None = None
        for task in tasks:
            items = _parsed_by_numpy(block, task, self._measure.columns) if done else None
            if items is not None:
                count = len(items)
                room_of(task, done, block.column, items.size)[...] = items.reshape(-1)
                continue
            if task.headed and not done and not block.is_complete:
                count = 1
                continue
            lines, rows = block.records
            count, skip = len(rows), int(task.headed and not done)
            if task.column is None:
                cells = list(chain.from_iterable(rows[skip:]))
            else:
                column = task.column - block.column
                cells = [row[column] for row in rows[skip:] if 0 <= column < len(row)]
            if not cells:
                continue
            if block.quoted and not task.wanted.takes_quoted:
                cells = [cell.removeprefix(QUOTED) for cell in cells]
            room = room_of(task, done + skip, block.column, len(cells))
            try:
                task.convert(cells, room)
            except NeedsItemwise:
                try:
                    self._one_by_one(task, cells, lines[skip:], block.column, room)
                except FileTrouble as trouble:
                    if refused is None:
                        raise
                    refused.setdefault(task.wanted, trouble)
        return (len(block.records[1]) if count is None else count) if block.ends else 0

    def _room(self, task: _ParseTask, done: int, column: int, count: int) -> Any:
        """The part of the array for the items of a block."""
        start = done - task.headed
        array = task.array
        if task.column is None:
            start, array = start * self._measure.columns + column, array.reshape(-1)
        if start + count > len(array):
            raise changed()
        return array[start : start + count]

    def _one_by_one(self, task: _ParseTask, cells: list[str], lines: list[int], column: int, room: Any) -> None:
        wanted, names = task.wanted, self._measure.names if task.headed else []
        for at, cell in enumerate(cells):
            record, index = (at, task.column) if task.column is not None else divmod(at, len(cells) // len(lines))
            index += column * (task.column is None)
            where = f"line {lines[record]}, column {index + 1}" + (f" ({names[index]})" if names and names[index] else "")
            try:
                put(room, at, item_or_missing(cell, wanted))
            except CellError as trouble:
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


def _parsed_by_numpy(block: RecordBlock, task: _ParseTask, columns: int) -> Any:
    """The numbers by NumPy's reader; None if it reports any error or warning.  See Note [Fast and exact]."""
    import numpy

    kind = _NUMPY_READS.get(task.wanted.kind) if replace(task.wanted.reading, separator="") == AS_WRITTEN else None
    column = task.column if block.is_complete else None
    if kind is None or block.quoted or column != task.column:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            items = numpy.loadtxt(
                block.text.split("\n"), kind, comments=None, delimiter=block.separator, usecols=column, ndmin=2
            )
    except (ValueError, OverflowError, Warning):
        return None
    expected = len(items) * columns if block.is_complete else items.size
    return items if block.text.count(block.separator) == expected - len(items) else None


# ---------------------------------------------------------------------------------------------------- writing CSV
#
# Writing of `.csv` and `.tsv` files that read back to the same values.
#
# A vector is one column; without rows, a header names the columns.  Several outputs in one table, and rows of text, have a
# header.

DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
"""By suffix."""


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """A NumPy array of the kind, under a header."""

    name: str
    values: Any
    kind: Kind
    form: CellFormat = CellFormat.ITEM
    """DATE and TIME: the values are numbers of days or microseconds, for formats with such types."""


class TextSink(AppendSink):
    """Rows of a new csv or tsv file of numbers."""

    working_memory: ClassVar[int] = ITEMS * 288
    """Bytes: a block of items as numbers, as texts, as lines and as bytes."""

    def require(self) -> None:
        require_table(self.kind, self.shape)

    def append(self, rows: Any) -> None:
        assert self.file is not None, "it has begun"
        for text in texts(DELIMITERS[suffix_of(self.path)], self.kind, rows):
            self.file.write(text.encode("utf-8"))

    def finish(self) -> None:
        assert self.file is not None, "it has begun"
        if not self.came:  # without rows, the header determines the number of columns
            self.append(new_array(self.shape, self.kind))
        self.file.close()


def require_table(kind: Kind, shape: tuple[int, ...]) -> None:
    """E708 for values that a table cannot contain."""
    if kind is Kind.CHAR:
        raise FileTrouble(Code.E708, f"is text of {len(shape)} axes, a column of a table is rows of text `char[n w]`")
    if len(shape) > 2:
        raise FileTrouble(Code.E708, f"has {len(shape)} axes, a table has two", "write it to an npy file")
    if shape[1:] == (0,):
        raise FileTrouble(Code.E708, "has no columns, which a table cannot express", "write it to an npy file")


def texts(delimiter: str, kind: Kind, values: Any) -> Iterator[str]:
    """The table's text block by block; `values` is a NumPy array of the kind."""
    columns = values.shape[1] if values.ndim == 2 else 1
    if not values.size:
        yield delimiter.join(f"column{column}" for column in range(columns)) + "\n"
    if columns > ITEMS:
        for row in values:
            for start in range(0, columns, ITEMS):
                yield delimiter * (start > 0) + delimiter.join(_all_written(row[start : start + ITEMS].tolist(), kind))
            yield "\n"
        return
    for block in blocks_of(values, ITEMS - ITEMS % columns):
        cells = _all_written(block.tolist(), kind)
        lines = cells if columns == 1 else [delimiter.join(cells[at : at + columns]) for at in range(0, len(cells), columns)]
        yield "\n".join(lines) + "\n"


def require_columns(columns: Sequence[CsvColumn]) -> None:
    """E708 unless every item is a column, and all are of one length."""
    for column in columns:
        shape = column.values.shape
        if len(shape) != (2 if column.kind is Kind.CHAR else 1):
            wanted = "`char[n w]`" if column.kind is Kind.CHAR else "`[n]`"
            raise FileTrouble(
                Code.E708, f"cannot have `{column.name}` of shape [{' '.join(map(str, shape))}]: a column is {wanted}"
            )
    first = columns[0]
    for column in columns[1:]:
        if len(column.values) != len(first.values):
            lengths = f"`{first.name}` has {len(first.values)} rows, `{column.name}` {len(column.values)}"
            raise FileTrouble(Code.E708, f"cannot have columns of two lengths: {lengths}")


def column_texts(delimiter: str, columns: Sequence[CsvColumn]) -> Iterator[str]:
    """The text of a header and the columns, block by block."""
    yield delimiter.join(_quoted(column.name, delimiter) for column in columns) + "\n"
    for start in range(0, len(columns[0].values), ITEMS):
        written = [_cells(column, start, delimiter) for column in columns]
        yield "".join([delimiter.join(row) + "\n" for row in zip(*written, strict=True)])


def _cells(column: CsvColumn, start: int, delimiter: str) -> list[str]:
    block = column.values[start : start + ITEMS]
    if column.kind is Kind.CHAR:
        return [_quoted(characters_of(row).rstrip(" "), delimiter) for row in block]
    return _all_written(block.tolist(), column.kind)


def _quoted(text: str, delimiter: str) -> str:
    """A cell that reads back; one that would be missing is quoted."""
    if text not in MISSING and not any(sign in text for sign in (delimiter, '"', "\n", "\r")) and text == text.strip():
        return text
    return '"' + text.replace('"', '""') + '"'


def _all_written(items: list[Any], kind: Kind) -> list[str]:
    if kind is Kind.F64 and all(map(math.isfinite, items)):  # JSON writes floats as Python does, and faster
        import json

        return (json.dumps(items, separators=(",", ":"))[1:-1] + ",").replace(".0,", ",")[:-1].split(",")
    return [_written(item, kind) for item in items]


def _written(item: Any, kind: Kind) -> str:
    if isinstance(item, complex):
        part = Kind.F32 if kind is Kind.C64 else Kind.F64
        imaginary = _written(item.imag, part)
        return f"{_written(item.real, part)}{'' if imaginary[0] == '-' else '+'}{imaginary}j"
    if isinstance(item, float):
        text = repr(shortest_f32(item) if kind is Kind.F32 else item)
        return text.removesuffix(".0")
    return str(int(item))
