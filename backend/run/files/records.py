"""A table that is text as blocks of whole records, which end where no quote is open.

UTF-8, with or without a byte order mark; lines end in LF or CRLF; blank lines are no records, but `""` is one of an empty cell.
Quotes are those of RFC 4180: a quoted cell may hold separators, quotes (doubled) and line ends.  A line without quotes may be of
any length: it comes in parts of whole cells, so that what is in memory does not depend on how a table is laid out.

Note [Quoted cells].  The csv module does not tell `""` from an empty cell, nor `"NA"` from `NA`.  Cells that are text only
because they are quoted come with a mark, a character that no table holds.

Neighbours: `columns` (cells to items), `content`.
"""

from __future__ import annotations

import csv
import io
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import BinaryIO, Final, TypeAlias

from .advice import for_line
from .content import Content
from .conversions import QUOTED
from .headers import is_header
from .trouble import FileTrouble, damaged, system_errors

_TOGETHER: Final = 1 << 17
"""Bytes of lines that are looked at together, about."""
_PIECE: Final = 1 << 18
"""Bytes of a line that are looked at together, and at most of a line in a cell and of a line with quotes."""
_MARK: Final = "\ufeff"
_LINE_END, _RETURN = 10, 13
_MOST_PLACES: Final = 2048
_LONE_RETURN: Final = (
    "a carriage return stands where no line ends",
    "lines end in LF or CR LF: `tr '\\r' '\\n' < old.csv > new.csv`",
)
_MISSING_IF_BARE: Final = re.compile(r"\s*(?:NA)?\s*")
_MAY_HAVE_ONE: Final = re.compile(r'"\s*(?:NA)?\s*(?:"|$)')

Place: TypeAlias = tuple[int, int, int]
"""Where a record begins, outside all quotes: how many records are before it, its byte, and its line (from 1)."""
START: Final[Place] = (0, 0, 1)


@dataclass(slots=True)
class Block:
    """Whole records, or a part of a long one: which line (from 1) and column (from 0) the text begins with, and whether its last
    record ends here.  `byte`: of the file, with which its first line begins."""

    line: int
    text: str
    separator: str
    column: int = 0
    ends: bool = True
    byte: int = 0
    _records: tuple[list[int], list[list[str]]] | None = field(default=None, repr=False)

    @property
    def whole(self) -> bool:
        return self.ends and not self.column

    @property
    def quoted(self) -> bool:
        return '"' in self.text

    @property
    def records(self) -> tuple[list[int], list[list[str]]]:
        """The records that are not blank: on which lines they begin, and their cells."""
        if self._records is None:
            self._records = self.read()
        return self._records

    def read(self, following: Iterable[str] = ()) -> tuple[list[int], list[list[str]]]:
        """The records; lines are taken from those that follow while a quote is open."""
        lines, rows = list[int](), list[list[str]]()
        count, begins = self.text.count("\n") + (not self.text.endswith("\n")), 0
        source = chain(io.StringIO(self.text, newline="\n"), following)
        marked = _with_marks(source, self.separator) if self.quoted else source
        reader = csv.reader(marked, delimiter=self.separator, strict=True, skipinitialspace=True)
        try:
            while begins < count and (row := next(reader, None)) is not None:
                if len(row) > 1 or (row and row[0].strip()) or not self.whole:
                    lines.append(self.line + begins)
                    rows.append(row)
                begins = reader.line_num
        except csv.Error as error:
            told, *notes = _told(error)
            raise damaged(f"line {self.line + begins}: {told}", *notes) from None
        return lines, rows

    def plain(self) -> list[list[str]]:
        """The records without marks.  See Note [Quoted cells]."""
        rows = self.records[1]
        return [[cell.removeprefix(QUOTED) for cell in row] for row in rows] if self.quoted else rows


def blocks(content: Content, separator: str, place: Place = START) -> Iterator[Block]:
    """The text of a table from a place on."""
    with system_errors(), content.open() as file:
        _, byte, line = place
        file.seek(byte)
        while data := file.read(_TOGETHER):
            rest = b"" if data.endswith(b"\n") else file.readline(_PIECE)
            data += rest
            if len(rest) == _PIECE and not rest.endswith(b"\n"):
                above, found, long = data.rpartition(b"\n")
                if not found:
                    yield from _parts(file, data, byte, line, separator)
                    byte, line = file.tell(), line + 1
                    continue
                file.seek(-len(long), io.SEEK_CUR)
                data = above + found
            block = Block(line, _decoded(data, line), separator, byte=byte)
            byte, line = byte + len(data), line + data.count(b"\n")
            if not data.strip(b"\n"):
                continue
            if block.quoted:
                more: list[str] = []
                block._records = block.read(_following(file, line, more))
                block.text, byte, line = block.text + "".join(more), file.tell(), line + len(more)
            yield block


def _with_marks(lines: Iterable[str], separator: str) -> Iterator[str]:
    """Lines outside all quotes, and marks in them.  See Note [Quoted cells]."""
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


def _parts(file: BinaryIO, data: bytes, byte: int, line: int, separator: str) -> Iterator[Block]:
    """A long line, whose beginning has been read."""
    column, ends = 0, False
    while not ends:
        more = file.readline(_PIECE)
        ends = more.endswith(b"\n") or len(more) < _PIECE
        data += more
        cells, found, data = (data, b"", b"") if ends else data.rpartition(separator.encode())
        if b"\r" in (cells or data).removesuffix(b"\n").removesuffix(b"\r"):
            raise damaged(f"line {line}: {_LONE_RETURN[0]}", _LONE_RETURN[1])
        if not ends and (not found or len(data) >= _PIECE):
            raise damaged(f"line {line} has a cell of more than {_PIECE} bytes")
        block = Block(line, _decoded(cells, line, first=not column), separator, column, ends, byte)
        if block.quoted:
            raise damaged(f"line {line} has quotes and more than {_PIECE} bytes")
        yield block
        column += block.text.count(separator) + 1


def _following(file: BinaryIO, line: int, kept: list[str]) -> Iterator[str]:
    """The lines that follow, which are kept as they are taken."""
    while data := file.readline(_PIECE):
        if len(data) == _PIECE and not data.endswith(b"\n"):
            raise damaged(f"line {line} has quotes and more than {_PIECE} bytes")
        kept.append(_decoded(data, line))
        yield kept[-1]
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
    return damaged(message, "save it as UTF-8: `iconv -f latin1 -t utf-8`")


def _told(error: csv.Error) -> tuple[str, ...]:
    """What is wrong, and notes."""
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


# ------------------------------------------------------------------------- how many there are


@dataclass
class Measure:
    """What a table has: the text of its first record, how many columns, and places from which it can be read; the last is its
    end."""

    first: list[Block]
    columns: int
    places: tuple[Place, ...]

    @property
    def records(self) -> int:
        return self.places[-1][0]

    def place_of(self, record: int) -> Place:
        """The nearest place that is not behind a record."""
        return self.places[bisect_right(self.places[:-1], record, key=itemgetter(0)) - 1]

    @property
    def headed(self) -> bool:
        """Is the first record a header by its looks?"""
        return is_header(self._cells())

    def _cells(self) -> Iterator[str]:
        for block in self.first:
            yield from (cell.removeprefix(QUOTED) for cell in block.read()[1][0])

    @cached_property
    def names(self) -> list[str]:
        """The cells of the first record."""
        return [cell.strip() for cell in self._cells()]


def measured(content: Content, separator: str, known: tuple[Place, ...] = ()) -> Measure:
    """Places and columns; all records have as many cells as the first.  `known`: the places, if they were found
    before; then only the first record is read.  FileTrouble E705: it has none, or one has others."""
    first: list[Block] = []
    places: list[Place] = [START]
    begins = columns = records = cells = apart = 0
    for block in blocks(content, separator):
        if known and columns:
            return Measure(first, columns, known)
        if not block.column and block.byte >= places[-1][1] + max(1, apart):
            places.append((records, block.byte, block.line))
            if len(places) > _MOST_PLACES:
                del places[1::2]
                apart = 2 * max(apart, _TOGETHER)
        count = _uniform(block, columns) if columns else None
        if count is not None:
            records += count
            continue
        lines = block.records[0] if block.whole else [block.line]
        lengths = map(len, block.records[1]) if block.whole else [block.text.count(separator) + 1]
        for line, length in zip(lines, lengths, strict=True):
            cells += length
            if not records and not columns:
                first.append(_alone(block, lines) if block.whole else replace(block, _records=None))
                begins = line
            if block.ends:
                columns = columns or cells
                if cells != columns:
                    notes = for_line(first[0].text, separator) if columns == 1 else ()
                    raise damaged(f"line {line} has {_count(cells)}, line {begins} has {_count(columns)}", *notes)
                records, cells = records + 1, 0
    if not records:
        raise damaged("is empty: it has neither numbers nor a header line")
    return Measure(first, columns, known or (*places, (records, content.size(), block.line)))


def _alone(block: Block, lines: list[int]) -> Block:
    """The first record of a block."""
    texts = block.text.split("\n")
    start = lines[0] - block.line
    end = lines[1] - block.line if len(lines) > 1 else len(texts)
    return Block(lines[0], "\n".join(texts[start:end]), block.separator)


def _uniform(block: Block, columns: int) -> int | None:
    """How many records there are of whole lines that are surely neither blank nor quoted; None: they have to be looked at."""
    import numpy

    data = block.text.encode()
    if not block.whole or not data.endswith(b"\n") or any(sign in data for sign in b'" ') or not block.text.isascii():
        return None
    codes = numpy.frombuffer(data, "u1")
    ends = numpy.flatnonzero(codes == _LINE_END)
    marks = numpy.diff(numpy.searchsorted(numpy.flatnonzero(codes == ord(block.separator)), ends), prepend=0)
    lengths = numpy.diff(ends, prepend=-1) - 1 - (codes[ends - 1] == _RETURN)
    return None if (marks != columns - 1).any() or (lengths <= marks).any() else len(ends)


def _count(cells: int) -> str:
    return "1 cell" if cells == 1 else f"{cells} cells"
