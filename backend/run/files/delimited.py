"""Tables of numbers as text: `.csv` (commas) and `.tsv` (tabs).

What is read: UTF-8, with or without a byte order mark; lines end in LF or CRLF; blank lines are skipped; the first line
is a header, and skipped, if none of its cells is a number or begins like one; cells may be quoted with `"` (no line
breaks inside) and padded with blanks; every line has as many cells as the first.  A number is written as in Python or
in APL: `-3`, `¯3`, `2.5`, `1e-3`, `nan`, `inf`, `∞`; complex `1+2j` or `1J2`; bool `0 1 true false`.  An empty cell is
an error, not NaN.
An integer kind takes whole numbers in its range only.

A table has the shape [lines, columns]; declared with one axis it may be one column or one line, declared as a scalar
it is one cell.  The header pass counts lines and columns without keeping anything.

Both passes read pieces of at most 256 KiB: a line, or as many whole cells of a long one, so that what is in memory does
not depend on how the numbers are laid out.

Note [Fast and exact].  NumPy's C reader is tried first on some lines at a time; wherever it hesitates (any error or warning)
their cells are read one by one here, which either succeeds or names the line and column at fault.

Neighbours: `files`; `delimited_writing` (the other way); `trouble`.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from ....typechecker.elements import Kind
from .cells import BEGINS_LIKE_NUMBER, Unsuitable, item_of
from .content import Content
from .elements import changed, require_shape
from .filling import new_array
from .trouble import damaged, disagrees, system_errors

_PIECE: Final = 1 << 18
"""Bytes of a line that are looked at together, and at most of a cell and of a line with quotes."""
_TOGETHER: Final = 1 << 17
"""Bytes of lines that are read at once, about."""
_MAY_BEGIN_NUMBER = re.compile(r"[0-9+\-.(¯−∞]|inf|nan", re.IGNORECASE)
_LINE_END, _RETURN = 10, 13
_MANY = 1000
"""Blank lines after which the next ones are looked for together."""
_MARK: Final = "\ufeff"


# ------------------------------------------------------------------------- pieces of lines


@dataclass(frozen=True, slots=True)
class _Piece:
    """Whole cells of a line that is not blank: which line (from 1), which column the first cell is (from 0), and whether the
    line ends here."""

    line: int
    column: int
    text: str
    ends: bool
    quoted: bool

    def count(self, delimiter: str) -> int:
        return len(self.cells(delimiter)) if self.quoted else self.text.count(delimiter) + 1

    def cells(self, delimiter: str) -> list[str]:
        if not self.quoted:
            return [cell.strip() for cell in self.text.split(delimiter)]
        try:
            rows = list(csv.reader([self.text], delimiter=delimiter, strict=True, skipinitialspace=True))
        except csv.Error as error:
            raise damaged(f"line {self.line}: {error}") from None
        return [cell.strip() for cell in rows[0]]


def _pieces(file: BinaryIO, delimiter: str, number: int = 0) -> Iterator[_Piece]:
    """The lines that are not blank, after `number` lines; long ones in several pieces."""
    separator = delimiter.encode()
    column = blank = 0
    left, ended = b"", True
    while raw := file.readline(_PIECE):
        if ended:
            number, column = number + 1, 0
        ended = raw.endswith(b"\n") or len(raw) < _PIECE
        if raw == b"\n" and not column:
            blank += 1
            if blank % _MANY == 0:
                number += _skip_blank(file)
            continue
        raw = left + raw
        left = b""
        if not ended:
            raw, found, left = raw.rpartition(separator)
            if not found or len(left) >= _PIECE:
                raise damaged(f"line {number} has a cell of more than {_PIECE} bytes")
        text = _decoded(raw, number, first=number == 1 and not column)
        quoted = '"' in text
        if quoted and (column or not ended):
            raise damaged(f"line {number} has quotes and more than {_PIECE} bytes")
        if column or not ended or text.strip(" \t"):
            piece = _Piece(number, column, text, ended, quoted)
            yield piece
            column += piece.count(delimiter)
    if not ended:
        yield _Piece(number, column, _decoded(left, number, first=False), True, False)


def _skip_blank(file: BinaryIO) -> int:
    """Go past the empty lines that follow; how many there are."""
    count = 0
    while block := file.read(_PIECE):
        rest = block.lstrip(b"\n")
        count += len(block) - len(rest)
        if rest:
            file.seek(-len(rest), io.SEEK_CUR)
            break
    return count


def _decoded(raw: bytes, number: int, *, first: bool) -> str:
    try:
        text = raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise damaged(f"is not UTF-8: line {number} has the byte 0x{raw[error.start]:02x}") from None
    if "\0" in text:
        raise damaged(f"is no table: line {number} holds a NUL character")
    return text.removeprefix(_MARK) if first else text


@dataclass(frozen=True, slots=True)
class _Table:
    """What the header pass finds; `heading` is the number of the line that is skipped, 0: there is none."""

    lines: int
    columns: int
    heading: int


def _scan(content: Content, delimiter: str) -> _Table:
    """Lines and columns; all lines have as many cells as the first."""
    with system_errors(), content.open() as file:
        found = _scan_fast(file, delimiter)
    return found or _scan_slowly(content, delimiter)


def _scan_fast(file: BinaryIO, delimiter: str) -> _Table | None:
    """What is surely a table of lines that are neither blank, long nor quoted; None: it has to be looked at."""
    import numpy

    first = next(_pieces(file, delimiter), None)
    if first is None:
        return _Table(0, 0, 0)
    if not first.ends or first.quoted:
        return None
    columns = first.count(delimiter)
    heading = first.line if _is_heading([first], delimiter) else 0
    lines, separator = 0 if heading else 1, ord(delimiter)
    for block in _blocks(file, _PIECE):
        if not block.endswith(b"\n") or any(character in block for character in b'"\0 ') or not block.isascii():
            return None
        codes = numpy.frombuffer(block, "u1")
        ends = numpy.flatnonzero(codes == _LINE_END)
        marks = numpy.diff(numpy.searchsorted(numpy.flatnonzero(codes == separator), ends), prepend=0)
        lengths = numpy.diff(ends, prepend=-1) - 1 - (codes[ends - 1] == _RETURN)
        if (marks != columns - 1).any() or (lengths <= marks).any():
            return None
        lines += len(ends)
    return _Table(lines, columns, heading)


def _blocks(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Whole lines of about `size` bytes, each ending with a line's end; what does not is one line too long, or its beginning."""
    while block := file.read(size):
        if not block.endswith(b"\n"):
            rest = file.readline(_PIECE)
            block += rest
            if not block.endswith(b"\n") and len(rest) < _PIECE:
                block += b"\n"
        yield block


def _scan_slowly(content: Content, delimiter: str) -> _Table:
    columns: int | None = None
    lines = first = cells = heading = 0
    top: list[_Piece] = []
    with system_errors(), content.open() as file:
        for piece in _pieces(file, delimiter):
            cells += piece.count(delimiter)
            if columns is None:
                top.append(piece)
            if not piece.ends:
                continue
            if columns is None:
                columns, first = cells, piece.line
                heading = first if _is_heading(top, delimiter) else 0
                top = []
            if cells != columns:
                raise damaged(f"line {piece.line} has {_count(cells)}, line {first} has {_count(columns)}")
            lines, cells = lines + 1, 0
    return _Table(lines - (heading > 0), columns or 0, heading)


def _is_heading(pieces: list[_Piece], delimiter: str) -> bool:
    """A line with a cell that is not empty, and none that is a number or begins like one."""
    blank = not any(piece.text.strip(f'{delimiter} \t"') for piece in pieces)
    return not blank and not any(_holds_number(piece, delimiter) for piece in pieces)


def _holds_number(piece: _Piece, delimiter: str) -> bool:
    """Does a cell begin like a number?  (`1_000` or `1;2` in the first line is a mistake to report, not a heading.)"""
    if _MAY_BEGIN_NUMBER.search(piece.text) is None:
        return False
    text = "\n".join(piece.cells(delimiter)) if piece.quoted else piece.text.replace(delimiter, "\n")
    return BEGINS_LIKE_NUMBER.search(text) is not None


def _count(cells: int) -> str:
    return "1 cell" if cells == 1 else f"{cells} cells"


# ------------------------------------------------------------------------- reading


def header(content: Content, delimiter: str, kind: Kind, rank: int) -> tuple[int, ...]:
    """The shape of the table for a declared rank."""
    if kind is Kind.CHAR:
        raise disagrees("is a table of numbers, its declared type is char", "name a txt file for text")
    table = _scan(content, delimiter)
    if not table.columns:
        raise damaged("is empty: it has neither numbers nor a header line")
    return _as_rank(table.lines, table.columns, rank)


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


def read(content: Content, delimiter: str, kind: Kind, shape: tuple[int, ...]) -> Any:
    """The cells as a NumPy array of the kind."""
    table = _scan(content, delimiter)
    require_shape(_as_rank(table.lines, table.columns, len(shape)), shape)
    array = new_array(shape, kind)
    room, count = array.reshape(-1), 0
    with system_errors(), content.open() as file:
        for items in _vectors(file, delimiter, kind, table):
            if count + len(items) > len(room):
                raise changed()
            room[count : count + len(items)] = items
            count += len(items)
    require_shape((count,), (len(room),))
    return array


def _vectors(file: BinaryIO, delimiter: str, kind: Kind, table: _Table) -> Iterator[Any]:
    """The items, some lines at a time."""
    number = table.heading
    for _ in range(number):
        if not file.readline(_PIECE).endswith(b"\n"):  # a heading that is long, or alone
            file.seek(0)
            yield from _looked_at(file, delimiter, kind, table, 0)
            return
    start = file.tell()
    for block in _blocks(file, _TOGETHER):
        if not block.endswith(b"\n"):
            file.seek(start)
            yield from _looked_at(file, delimiter, kind, table, number)
            return
        start += len(block)
        lines = _lines(block)
        fast = _read_fast(lines, delimiter, kind)
        if fast is not None and fast.shape == (len(lines), table.columns):
            yield fast.reshape(-1)
        else:
            yield from _looked_at(io.BytesIO(block), delimiter, kind, table, number)
        number += block.count(b"\n")


def _lines(block: bytes) -> list[str]:
    try:
        return block.decode("utf-8").split("\n")[:-1]
    except UnicodeDecodeError:
        return []


def _looked_at(file: BinaryIO, delimiter: str, kind: Kind, table: _Table, number: int) -> Iterator[Any]:
    """The items of the lines after `number` of them."""
    for pieces in _together(_pieces(file, delimiter, number), table.heading):
        yield _items(pieces, delimiter, kind, table.columns)


def _together(pieces: Iterator[_Piece], heading: int) -> Iterator[list[_Piece]]:
    """Whole lines of about `_TOGETHER` bytes, or one part of a long one."""
    some: list[_Piece] = []
    size = 0
    for piece in pieces:
        if piece.line == heading:
            continue
        alone = bool(piece.column) or not piece.ends
        if some and (alone or size > _TOGETHER):
            yield some
            some, size = [], 0
        some.append(piece)
        size += len(piece.text)
        if alone:
            yield some
            some, size = [], 0
    if some:
        yield some


def _items(pieces: list[_Piece], delimiter: str, kind: Kind, columns: int) -> Any:
    """The cells of some lines, or of a part of one, as a vector."""
    import numpy

    fast = _read_fast([piece.text for piece in pieces], delimiter, kind)
    if fast is not None and (fast.shape[1] == columns or (len(pieces) == len(fast) == 1)):
        return fast.reshape(-1)
    items: list[Any] = []
    for piece in pieces:
        cells = enumerate(piece.cells(delimiter), piece.column + 1)
        items += [_item(cell, kind, piece.line, column) for column, cell in cells]
    return numpy.array(items, dtype=_WIDE[kind])


_WIDE: Final = {
    Kind.BOOL: "bool", Kind.U8: "int64", Kind.I32: "int64", Kind.I64: "int64", Kind.F32: "float64", Kind.F64: "float64",
    Kind.C64: "complex128", Kind.C128: "complex128",
}  # fmt: skip


def _read_fast(texts: list[str], delimiter: str, kind: Kind) -> Any:
    """NumPy's reader for i64 and floats, or None where it hesitates.  See Note [Fast and exact]."""
    import numpy

    if not texts or kind not in (Kind.I64, Kind.F64, Kind.F32):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return numpy.loadtxt(
                texts, dtype="int64" if kind is Kind.I64 else "float64", comments=None, delimiter=delimiter, ndmin=2
            )
    except (ValueError, OverflowError, Warning):
        return None


def _item(cell: str, kind: Kind, line: int, column: int) -> Any:
    """One cell as an item of the kind."""
    where = f"line {line}, column {column}"
    if not cell:
        raise damaged(f"{where} is empty")
    try:
        return item_of(cell, kind)
    except Unsuitable as trouble:
        raise damaged(f"{where}: {trouble.message}", *trouble.notes) from None
