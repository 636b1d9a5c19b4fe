"""Text tables: all columns (`sales.csv`), one by its header (`sales.csv:price`) or by its number (`sales.csv:#2`).

A cell is a number, bool, date, time or text, padded with blanks or not; an empty one is an error, not NaN, unless `missing` says
what stands for it.  Of a column that is named the first record is the header; otherwise it is one, and skipped, if none of its
cells is a number, a date or what the column is declared as.  A whole table has the shape [records, columns]; declared with one
axis it may be one column or one record, declared as a scalar it is one cell.

A table is measured once (`measured`) and read once, for all requested columns together (`Table.shape`).
"""

from __future__ import annotations

import functools
import math
import re
import shutil
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, BinaryIO, ClassVar, Final

from ...lang.diagnostics.model import Code
from ...lang.primitives.table import nearest
from ...lang.support.records import cached_property, dataclass, replace
from ...lang.tree.program import CellFormat, ColumnFormat, has_time
from ...typechecker.elements import Kind
from ..vm.values import shortest_f32
from .cells import (
    BLANK,
    DATE_PATTERNS,
    MISSING,
    CellError,
    Column,
    changed,
    for_line,
    item_of,
    item_or_missing,
    number_of,
    require_shape,
    texts_of,
)
from .formats import FileTrouble, damaged, disagrees, listed
from .records import START, TOGETHER, Converter, RecordBlock, RecordOffset, UnreadableCell, blocks
from .sources_and_sinks import ITEMS, AppendSink, Content, blocks_of, characters_of, new_array, suffix_of

# ---------------------------------------------------------------------------------------------------- detection of headers
#
# Detection of headers: whether the first record of a table is a header.
#
# It is data if a cell is a number (also with a decimal comma, groups of digits or a currency), a date or a time in a frequent
# format; `2-9`, `20+` and `1st` are text.

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
    """Is some cell filled, and none of them a number, a date or a time?"""
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
    """Can a record that counts as data still be a header, because its numbers are years and all other cells text?"""
    filled = [cell for cell in map(str.strip, cells) if cell not in MISSING]
    numbers = [cell for cell in filled if _is_value(cell)]
    return 0 < len(numbers) < len(filled) and all(map(_YEAR.fullmatch, numbers))


# ---------------------------------------------------------------------------------------------------- measuring


_MOST_PLACES: Final = 2048


@dataclass
class RecordMeasure:
    """The measurements of a table: the line of its first record, the number of columns, and record starts from which reading can
    begin; the last one is the table's end.  The cells of the first record are read again when they are wanted.

    `widths`: characters of the longest cell of each column, in the first record and in all others; `long_line`: the first line
    that was read in parts, whose cells were not measured (0: none)."""

    content: Content
    separator: str
    begins: int
    columns: int
    places: tuple[RecordOffset, ...]
    widths: Any
    long_line: int = 0

    @property
    def records(self) -> int:
        return self.places[-1][0]

    def last_start(self, record: int) -> RecordOffset:
        """The last known record start at or before a record."""
        return self.places[bisect_right(self.places[:-1], record, key=itemgetter(0)) - 1]

    @property
    def headed(self) -> bool:
        """Does the first record look like a header?"""
        return is_header(chain.from_iterable(map(set, self._texts())))

    def _texts(self) -> Iterator[list[str]]:
        """The texts of the first record's cells, in parts."""
        for block in blocks(self.content, self.separator):
            cells = block.cells
            yield [cells.text(at) for at in range(self.columns)] if block.is_complete else cells.texts()
            if block.ends:
                return

    def first_record(self) -> Iterator[str]:
        """The cells of the first record."""
        return map(str.strip, chain.from_iterable(self._texts()))

    @functools.cached_property
    def names(self) -> list[str]:
        """The cells of the first record, together."""
        return [*self.first_record()]


def measured(content: Content, separator: str, known: tuple[RecordOffset, ...] = ()) -> RecordMeasure:
    """Measure a table, whose records must all have as many cells as the first.

    `known`: record starts from an earlier measurement; then only the first record is read.  Raises FileTrouble E705 if there is
    no record, or one with another number of cells."""
    import numpy

    first = ""
    places: list[RecordOffset] = [START]
    begins = columns = records = parts = apart = long_line = end_line = 0
    widths = numpy.zeros((2, 0), numpy.int64)
    for block in blocks(content, separator):
        if known and columns:
            return RecordMeasure(content, separator, begins, columns, known, widths)
        if not block.column and block.byte >= places[-1][1] + max(1, apart):
            places.append((records, block.byte, block.line))
            if len(places) > _MOST_PLACES:
                del places[1::2]
                apart = 2 * max(apart, TOGETHER)
        cells, end_line = block.cells, block.line
        if block.is_complete:
            lengths = cells.lengths
            if not len(lengths):
                continue
        else:
            parts += cells.count
            long_line = long_line or block.line
            lengths = [parts] if block.ends else []
        if not columns and not records:
            first = first or cells.text(0)
            begins = begins or block.line + cells.lines_before(0)
        if not block.ends:
            continue
        if not columns:
            columns = int(lengths[0])
            widths = numpy.zeros((2, 0 if long_line else columns), numpy.int64)
        for record in numpy.flatnonzero(numpy.asarray(lengths) != columns)[:1].tolist():
            line = block.line + (cells.lines_before(int(cells.firsts[record])) if block.is_complete else 0)
            notes = for_line(first, separator) if columns == 1 else ()
            raise damaged(f"line {line} has {_count(int(lengths[record]))}, line {begins} has {_count(columns)}", *notes)
        if block.is_complete and not long_line:
            if not records:
                block.splitter.widths(cells, range(columns), widths[0])
            block.splitter.widths(cells, range(0 if records else columns, cells.count), widths[1])
        records, parts = records + len(lengths), 0
    if not records:
        raise damaged("is empty: it has neither numbers nor a header line")
    end = (records, content.size(), end_line)
    return RecordMeasure(content, separator, begins, columns, known or (*places, end), widths, long_line)


def _count(cells: int) -> str:
    return "1 cell" if cells == 1 else f"{cells} cells"


# ---------------------------------------------------------------------------------------------------- reading columns

_PLACE: Final = re.compile(r"#([0-9]{1,6})")
WORKING_MEMORY: Final = 6 << 20
"""Bytes that a block takes while its cells are converted to items."""
_LARGE: Final = 20 << 20
_SHOWN: Final = 4
_MOST_TOLD: Final = 1_000


def table_memory(content: Content) -> int:
    """Bytes that reading takes besides the arrays."""
    return _LARGE if content.is_compressed else min(80 * content.size(), _LARGE)


@dataclass(frozen=True, slots=True)
class _ParseTask:
    """A request: the target array, the column of the table (None: all), and whether the first record is a header."""

    wanted: Column
    array: Any
    column: int | None
    headed: bool
    converter: Converter


class Table:
    """One file with one separator.  `places`: record starts from an earlier measurement."""

    def __init__(self, content: Content, separator: str, places: tuple[RecordOffset, ...] = ()) -> None:
        self._content, self._separator, self._known = content, separator, places
        self._wanted: dict[Column, tuple[int, ...]] = {}
        self._read: dict[Column, Any | FileTrouble] = {}

    @cached_property
    def _measure(self) -> RecordMeasure:
        return measured(self._content, self._separator, self._known)

    @property
    def places(self) -> tuple[RecordOffset, ...]:
        """The measured record starts, for opening the file again."""
        return self._measure.places

    @cached_property
    def _headed(self) -> bool:
        return self._measure.headed

    def _width(self, column: int, headed: bool) -> int:
        """The longest cell of a column.  Raises FileTrouble E705 for lines that are read in parts."""
        if self._measure.long_line:
            raise damaged(f"line {self._measure.long_line} is too long for a table with text")
        first, others = self._measure.widths[:, column].tolist()
        return int(others if headed else max(first, others))

    def shape(self, wanted: Column) -> tuple[int, ...]:
        """The shape of a requested column, which will be read together with the others."""
        if not wanted.member and wanted.kind is Kind.CHAR:
            raise disagrees("is a table of numbers, its declared type is char", "name a column, or a txt file for text")
        column, headed = self._place(wanted)
        lines = self._measure.records - headed
        if column is None:
            shape = _as_rank(lines, self._measure.columns, wanted.rank)
        else:
            shape = (lines,)
            if wanted.kind is Kind.CHAR:
                shape = (lines, max(self._width(column, headed), len(str(wanted.reading.missing or ""))))
            if len(shape) != wanted.rank:
                held = "two axes" if len(shape) == 2 else "one axis"
                text = "a column of text is `char[n w]`, w its longest cell"
                note = text if wanted.kind is Kind.CHAR else "a column is `[n]`"
                raise disagrees(f"gives {held}, its declared type has {wanted.rank}", note)
        self._wanted[wanted] = shape
        return shape

    def values(self, wanted: Column, shape: tuple[int, ...]) -> Any:
        """The items as a NumPy array of the kind; the first call reads all requested columns.  Raises FileTrouble: E705 for a
        cell of this column; errors in cells of other columns are reported when their values are requested."""
        require_shape(self.shape(wanted), shape)
        if wanted not in self._read:
            self._read = self._read_all()
        values = self._read.pop(wanted)
        if isinstance(values, FileTrouble):
            raise values
        return values

    def items(self, wanted: Column, first: int) -> tuple[int, Iterator[Any]]:
        """A record number at or before `first`, and the items from there on as vectors, block by block."""
        task = _ParseTask(wanted, None, *self._place(wanted), Converter(wanted))
        start = self._measure.last_start(first + task.headed) if self._measure.records > 1 else START
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
        """Why the first record, which was read as data, may be a header; empty if it cannot be one."""
        if self._headed or self._measure.columns > _MOST_TOLD or not any(not self._place(wanted)[1] for wanted in self._wanted):
            return ""
        try:
            names = self._measure.names
        except FileTrouble:  # the record is read again; a mere note must not fail
            return ""
        if not may_be_years(names):
            return ""
        shown = listed(names[:_SHOWN]) + ", …" * (len(names) > _SHOWN)
        return f"line 1 ({shown}) is read as data, for it holds numbers; if it is a header, name columns by it: `:{names[-1]}`"

    def texts(self) -> tuple[list[str], list[list[str]], bool, list[int]]:
        """The cells of the first record, all cells by column, whether the first record is a header, and each record's line."""
        names, texts, lines = self._measure.names, list[str](), list[int]()
        for block in blocks(self._content, self._separator):
            if not block.is_complete:
                raise damaged(f"line {block.line} is too long for a table with text")
            texts += block.cells.texts()
            lines += block.cells.record_lines(block.line)
        return names, [texts[at :: len(names)] for at in range(len(names))], self._headed, lines

    def _place(self, wanted: Column) -> tuple[int | None, bool]:
        """The index of the column (None: all), and whether the first record is a header."""
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
        """Is the first record a header when the given column (None: all) is read?"""
        if not self._headed or wanted.kind is Kind.CHAR or wanted.reading.form is CellFormat.PRESENT:
            return self._headed
        cells = self._measure.first_record() if column is None else [self._measure.names[column]]
        try:
            return any(cell in MISSING or item_or_missing(cell, wanted) is None for cell in cells)
        except CellError:
            return True

    # ------------------------------------------------------------------------------------- the cells

    def _read_all(self) -> dict[Column, Any | FileTrouble]:
        """Reads all requested columns; stores the arrays, or the error of the first unreadable cell of a column."""
        tasks = []
        for wanted, shape in self._wanted.items():
            array = new_array(shape, wanted.kind)
            if wanted.kind is Kind.CHAR:
                array.view("=u4")[...] = BLANK
            tasks.append(_ParseTask(wanted, array, *self._place(wanted), Converter(wanted)))
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
        """Converts a block's items into the parts of arrays that `room_of` returns, after `done` records; returns the number of
        records that end in the block.  An unreadable cell raises FileTrouble (E705), or is stored by its column in `refused`."""
        cells, columns = block.cells, self._measure.columns
        records = cells.records if block.is_complete else int(block.ends)
        if block.is_complete and cells.count != records * columns:
            raise changed()
        for task in tasks:
            skip = int(task.headed and not done)
            if block.is_complete:
                first, stride = skip * columns + (task.column or 0), 1 if task.column is None else columns
                count = (records - skip) * (columns if task.column is None else 1)
            else:
                first, stride = 0 if task.column is None else task.column - block.column, 1
                count = cells.count if task.column is None else int(0 <= first < cells.count)
                count *= not skip
            if count <= 0:
                continue
            room = room_of(task, done + skip, block.column, count)
            try:
                task.converter.fill(block, first, stride, room)
            except UnreadableCell as unreadable:
                trouble = self._trouble(task, block, unreadable)
                if refused is None:
                    raise trouble from None
                refused.setdefault(task.wanted, trouble)
        return records

    def _room(self, task: _ParseTask, done: int, column: int, count: int) -> Any:
        """The part of the target array for the items of a block."""
        start = done - task.headed
        array = task.array
        if task.column is None:
            start, array = start * self._measure.columns + column, array.reshape(-1)
        if start + count > len(array):
            raise changed()
        return array[start : start + count]

    def _trouble(self, task: _ParseTask, block: RecordBlock, unreadable: UnreadableCell) -> FileTrouble:
        """The error of an unreadable cell, with its position."""
        names = self._measure.names if task.headed else []
        index = (block.column + unreadable.cell) % self._measure.columns
        where = f"line {unreadable.line}, column {index + 1}" + (f" ({names[index]})" if names and names[index] else "")
        first = unreadable.line == self._measure.begins and bool(self.doubt)
        notes = ["a first line with numbers is no header; read columns by name: `file.csv:name`"] if first else []
        return damaged(f"{where}{unreadable.trouble.message}", *unreadable.trouble.notes, *notes)


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


# ---------------------------------------------------------------------------------------------------- writing CSV
#
# Writing of `.csv` and `.tsv` files that read back to the same values.
#
# A vector is one column; without rows, a header names the columns.  Several outputs in one table, and rows of text, have a
# header.

DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
"""Delimiters by suffix."""


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """A NumPy array of the kind, with a header."""

    name: str
    values: Any
    kind: Kind
    form: CellFormat = CellFormat.ITEM
    """Of dates, times and differences the values are numbers of days or nanoseconds."""
    pattern: str = ""
    """The strftime pattern of dates and times in text."""

    @property
    def is_text(self) -> bool:
        """Is it text in formats that have types of dates and times?"""
        return self.kind is Kind.CHAR or bool(self.pattern)

    def texts(self, start: int, stop: int) -> list[str]:
        """Items that are rows of text, dates, times or differences; a missing one has none."""
        block = self.values[start:stop]
        if self.form is not CellFormat.ITEM:
            return texts_of(block, ColumnFormat(self.form, self.pattern))
        return [characters_of(row).rstrip(" ") for row in block]


class TextSink(AppendSink):
    """Writes rows of a new csv or tsv file: numbers, or dates or times under their name."""

    working_memory: ClassVar[int] = ITEMS * 288
    """Bytes of a block of items as numbers, as texts, as lines and as encoded bytes."""

    @property
    def _delimiter(self) -> str:
        return DELIMITERS[suffix_of(self.path)]

    @property
    def _is_dated(self) -> bool:
        return self.reading.form is not CellFormat.ITEM

    def require(self) -> None:
        require_table(self.kind, self.shape)

    def prepare(self) -> None:
        AppendSink.prepare(self)
        if self._is_dated:
            self._write([header_text(self._delimiter, self._columns(new_array((0, *self.shape[1:]), self.kind)))])

    def append(self, rows: Any) -> None:
        is_dated, delimiter = self._is_dated, self._delimiter
        self._write(row_texts(delimiter, self._columns(rows)) if is_dated else texts(delimiter, self.kind, rows))

    @classmethod
    def part_type(cls) -> type[AppendSink]:
        return cls

    def join(self, part: BinaryIO, rows: int) -> None:
        assert self.file is not None, "it has begun"
        shutil.copyfileobj(part, self.file)

    def _columns(self, rows: Any) -> list[CsvColumn]:
        return columns_of(CsvColumn(self.name, rows, self.kind, self.reading.form, self.reading.pattern))

    def _write(self, texts: Iterable[str]) -> None:
        assert self.file is not None, "it has begun"
        for text in texts:
            self.file.write(text.encode("utf-8"))

    def finish(self) -> None:
        assert self.file is not None, "it has begun"
        if not self.came and not self._is_dated:  # without rows, the header determines the number of columns
            self.append(new_array(self.shape, self.kind))
        self.suspend()


def require_table(kind: Kind, shape: tuple[int, ...]) -> None:
    """Raises E708 for values that a table cannot contain."""
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


def columns_of(column: CsvColumn) -> list[CsvColumn]:
    """The columns of a value, those of a matrix numbered."""
    values = column.values if column.values.ndim else column.values.reshape(1)
    if column.kind is Kind.CHAR or values.ndim < 2:
        return [replace(column, values=values)]
    return [replace(column, name=f"column{number}", values=values[:, number]) for number in range(values.shape[1])]


def require_columns(columns: Sequence[CsvColumn]) -> None:
    """Raises E708 unless every item is a column, and all columns have one length."""
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
    yield header_text(delimiter, columns)
    yield from row_texts(delimiter, columns)


def header_text(delimiter: str, columns: Sequence[CsvColumn]) -> str:
    return delimiter.join(_quoted(column.name, delimiter) for column in columns) + "\n"


def row_texts(delimiter: str, columns: Sequence[CsvColumn]) -> Iterator[str]:
    """The text of rows, block by block."""
    rows = rows_of_block(columns)
    for start in range(0, len(columns[0].values), rows):
        written = [_cells(column, start, start + rows, delimiter) for column in columns]
        yield "".join([delimiter.join(row) + "\n" for row in zip(*written, strict=True)])


def rows_of_block(columns: Sequence[CsvColumn]) -> int:
    """The rows that are text at once: those of `ITEMS` cells, where a text is a cell for each sixteen characters."""
    cells: int = sum(1 + math.prod(column.values.shape[1:]) // 16 for column in columns)
    return max(1, ITEMS // cells)


def _cells(column: CsvColumn, start: int, stop: int, delimiter: str) -> list[str]:
    if column.kind is Kind.CHAR or column.form is not CellFormat.ITEM:
        return [_quoted(text, delimiter) for text in column.texts(start, stop)]
    return _all_written(column.values[start:stop].tolist(), column.kind)


def _quoted(text: str, delimiter: str) -> str:
    """A cell quoted as needed to read back; one that would be missing is quoted."""
    if text not in MISSING and not any(sign in text for sign in (delimiter, '"', "\n", "\r")) and text == text.strip():
        return text
    return '"' + text.replace('"', '""') + '"'


def _all_written(items: list[Any], kind: Kind) -> list[str]:
    if kind is Kind.F64 and all(map(math.isfinite, items)):  # JSON writes floats as Python does, but faster
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
