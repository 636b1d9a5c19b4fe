"""Records of text tables: blocks of bytes, the cells in them, and cells as items.

UTF-8, with or without a byte order mark; lines end in LF or CRLF; blank lines are no records, but `""` is one of an empty cell.
Quotes are those of RFC 4180: a quoted cell may contain separators, quotes (doubled) and line ends.  A line without quotes may
have any length: it is read in parts of complete cells, so that memory does not depend on the layout of a table.

Note [Cells in C].  `records.c` splits blocks and converts cells, as compiled code like the runtime's (`tools/runtime.py`).  It
does what it is certain of: a block that it finds odd is split here, a cell that it finds odd is converted by
`cells.item_or_missing`, which either gives the item or names the fault.  Without it every block and cell is odd.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

import numpy as np

from ...lang.support.files import read_text
from ...lang.support.records import cached_property, dataclass
from ...lang.tree.program import CellFormat
from ...typechecker.elements import Kind
from ..cpu.parallel_for import address_if_worthwhile
from ..vm.values import INTEGER_BITS, integer_range
from .cells import BLANK, CellError, Column, item_or_missing, put
from .formats import FileTrouble, damaged, system_errors
from .sources_and_sinks import Content, new_array

RecordOffset: TypeAlias = tuple[int, int, int]
"""The start of a record: the number of records before it, its byte offset, and its line (from 1)."""
START: Final[RecordOffset] = (0, 0, 1)
TOGETHER: Final = 1 << 18
"""Approximate bytes of a block of lines."""
_PIECE: Final = 1 << 18
"""Bytes of a part of a long line; also the most bytes of a line within a cell, and of a line with quotes."""
_LONGEST_CELL: Final = 1 << 17
_MARK: Final = "\ufeff".encode()
_LINE_END: Final = 10
_NOT_WINDOWS: Final = frozenset({0x81, 0x8D, 0x8F, 0x90, 0x9D})
"""Bytes that are undefined in Windows-1252."""
_LONE_RETURN: Final = (
    "a carriage return stands where no line ends",
    "lines end in LF or CR LF: `tr '\\r' '\\n' < old.csv > new.csv`",
)

# ---------------------------------------------------------------------------------------------------- compiled code

_BYTE_NANOSECONDS: Final = 150
"""Approximate nanoseconds per byte of a table without compiled code."""
_MOST_TEXT: Final = 1 << 20
_SPLIT, _WIDTHS, _CONVERT = range(3)
_COMPLETE, _OPEN, _ODD = range(3)
_QUOTED, _ESCAPED = 1 << 31, 1 << 30
_WHERE: Final = _ESCAPED - 1
_TEXT, _DOUBLE, _FLOAT, _INTEGER, _TRUTH, _PRESENT, _DATE, _TIME, _PATTERN_DATE, _PATTERN_TIME = range(10)
_LEAST_POWER, _MOST_POWER = -342, 308
_DIRECTIVES: Final = re.compile(r"(?:%[YmdHMS]|[\x21-\x24\x26-\x7e ])+")
_POINTER, _WORD = ctypes.c_void_p, ctypes.c_int64


class _Request(ctypes.Structure):
    """The Python form of `struct request` of `records.c`."""

    _fields_ = (
        ("operation", _WORD), ("data", ctypes.c_char_p), ("length", _WORD), ("separator", _WORD), ("keeps_blank", _WORD),
        ("columns", _WORD), ("starts", _POINTER), ("stops", _POINTER), ("firsts", _POINTER), ("cells", _WORD),
        ("records", _WORD), ("end", _WORD), ("lines", _WORD), ("widths", _POINTER), ("from_", _WORD), ("stride", _WORD),
        ("done", _WORD), ("count", _WORD), ("target", _POINTER), ("bytes", _WORD), ("form", _WORD), ("takes_quoted", _WORD),
        ("missing", _POINTER), ("low", _WORD), ("high", _WORD), ("decimal", _WORD), ("group", ctypes.c_char_p),
        ("group_bytes", _WORD), ("pattern", ctypes.c_char_p), ("powers", _POINTER),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecordCode:
    """The text of the code of `records.c`."""

    def text(self) -> str:
        return read_text(Path(__file__).with_name("records.ll"), _MOST_TEXT)


def _compiled(size: int) -> Callable[[Any], int] | None:
    """The compiled function of `records.c`, if it pays for a table of `size` bytes."""
    address = address_if_worthwhile(RecordCode(), size * _BYTE_NANOSECONDS)
    return None if address is None else ctypes.CFUNCTYPE(_WORD, _POINTER)(address)


@cache
def _powers_of_five() -> Any:
    """The 128 leading bits of powers of five, those of negative powers rounded up: a table of `records.c`."""
    words = []
    for power in range(_LEAST_POWER, _MOST_POWER + 1):
        five = 5 ** abs(power)
        if power < 0:
            bits = five.bit_length()
            five = (1 << (bits + 127 if power >= -27 else 2 * bits + 128)) // five + 1
        five = five << 128 - five.bit_length() if five.bit_length() <= 128 else five >> five.bit_length() - 128
        words += [five & (1 << 64) - 1, five >> 64]
    return np.array(words, np.uint64)


# ---------------------------------------------------------------------------------------------------- splitting

@dataclass(slots=True)
class RecordCells:
    """The cells of some records: the start and stop of each cell in the data (with flag bits of `records.c`), and the first cell
    of each record.

    `end`: where the last complete record ends; `lines`: line ends before there; `is_open`: a quote is open after it."""

    data: bytes
    starts: Any
    stops: Any
    firsts: Any
    end: int
    lines: int
    is_open: bool

    @property
    def count(self) -> int:
        return len(self.starts)

    @property
    def records(self) -> int:
        return len(self.firsts)

    @property
    def lengths(self) -> Any:
        """The number of cells of each record."""
        return np.diff(self.firsts, append=len(self.starts))

    def is_quoted(self, at: int) -> bool:
        return bool(int(self.stops[at]) & _QUOTED)

    def text(self, at: int) -> str:
        """The text of a cell."""
        stop = int(self.stops[at])
        text = self.data[int(self.starts[at]) : stop & _WHERE].decode()
        return text.replace('""', '"') if stop & _ESCAPED else text

    def texts(self) -> list[str]:
        """The texts of all cells."""
        if not self.data.isascii() or b'"' in self.data:
            return [self.text(at) for at in range(self.count)]
        text = self.data.decode()
        return [text[start:stop] for start, stop in zip(self.starts.tolist(), self.stops.tolist(), strict=True)]

    def record_lines(self, line: int) -> list[int]:
        """The line at which each record begins, if the data begin at `line`."""
        ends = np.flatnonzero(np.frombuffer(self.data, np.uint8) == _LINE_END)
        lines: list[int] = (line + np.searchsorted(ends, self.starts[self.firsts])).tolist()
        return lines

    def lines_before(self, at: int) -> int:
        """The number of lines before that of a cell."""
        return self.data.count(b"\n", 0, int(self.starts[at]))


class Splitter:
    """Splits the blocks of a table into cells, in buffers that each block reuses.  `size`: bytes of the table."""

    def __init__(self, separator: str, size: int) -> None:
        self.separator = separator
        self.call = _compiled(size) if separator.isascii() and separator != " " else None
        self._buffers = np.empty((3, 0), np.uint32)

    def split(self, data: bytes, line: int, *, is_part: bool = False) -> RecordCells:
        """The cells of data that begins at a line.  Raises FileTrouble E705, but not for a quote that is still open at the
        end."""
        if self.call is not None and len(data) < _WHERE:
            if self._buffers.shape[1] < len(data) + 2:
                self._buffers = np.empty((3, len(data) + 2), np.uint32)
            starts, stops, firsts = self._buffers
            request = _Request(
                operation=_SPLIT, data=data, length=len(data), separator=ord(self.separator), keeps_blank=is_part,
                starts=starts.ctypes.data, stops=stops.ctypes.data, firsts=firsts.ctypes.data,
            )  # fmt: skip
            result = self.call(ctypes.addressof(request))
            if result != _ODD:
                cells, records = request.cells, request.records
                is_open = result == _OPEN
                return RecordCells(data, starts[:cells], stops[:cells], firsts[:records], request.end, request.lines, is_open)
        return _split(data, self.separator, line, is_part)

    def widths(self, cells: RecordCells, part: range, widest: Any) -> None:
        """Raises the `widest` characters of columns to those of these cells, the first of which is in the first column."""
        columns = len(widest)
        if self.call is None:
            for at in part:
                widest[at % columns] = max(widest[at % columns], len(cells.text(at)))
            return
        request = _Request(
            operation=_WIDTHS, data=cells.data, columns=columns, starts=cells.starts.ctypes.data, stops=cells.stops.ctypes.data,
            cells=part.stop, widths=widest.ctypes.data, from_=part.start,
        )  # fmt: skip
        self.call(ctypes.addressof(request))


@cache
def _grammar(separator: str) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """The patterns of a cell (its quoted or plain text) with its end, and of a cell that another cell follows."""
    sign = re.escape(separator.encode())
    plain = rb"(?:(?!" + sign + rb')[^"\r\n](?:(?!' + sign + rb")[^\r\n])*+)?+"
    if len(separator.encode()) == 1:
        plain = rb'(?:[^"\r\n' + sign + rb"][^\r\n" + sign + rb"]*+)?+"
    cell = rb' *+(?:"((?:[^"]|"")*+)"|(' + plain + rb"))"
    return re.compile(cell + rb"(" + sign + rb"|\r*\n|\r*\Z)"), re.compile(cell)


def _split(data: bytes, separator: str, line: int, is_part: bool) -> RecordCells:
    """`Splitter.split` by regular expressions."""
    pattern, unended = _grammar(separator)
    starts, stops, firsts = list[int](), list[int](), list[int]()
    at = end = 0
    is_open = False
    while at < len(data) or (is_part and not firsts):
        first = len(starts)
        while True:
            match = pattern.match(data, at)
            if match is None:
                is_open = _require_open(data, at, unended, line + data.count(b"\n", 0, end))
                break
            quoted = match[1] is not None
            start, stop = match.span(1 if quoted else 2)
            if stop - start > _LONGEST_CELL and len(data[start:stop].decode()) > _LONGEST_CELL:
                raise _too_long(line + data.count(b"\n", 0, end))
            starts.append(start)
            stops.append(stop | (quoted and _QUOTED) | (quoted and b'""' in match[1] and _ESCAPED))
            at = match.end()
            if match[3] != separator.encode():
                break
        if is_open:
            del starts[first:], stops[first:]
            break
        end = at
        is_plain = len(starts) - first == 1 and not stops[first] & _QUOTED
        if is_plain and not is_part and not data[starts[first] : stops[first]].decode().strip():
            del starts[first:], stops[first:]
        else:
            firsts.append(first)
    at_starts, at_stops, at_firsts = (np.array(numbers, np.uint32) for numbers in (starts, stops, firsts))
    return RecordCells(data, at_starts, at_stops, at_firsts, end, data.count(b"\n", 0, end), is_open)


def _require_open(data: bytes, at: int, unended: re.Pattern[bytes], line: int) -> bool:
    """Returns whether no cell begins here because a quote is still open.  Raises FileTrouble E705 for any other reason."""
    match = unended.match(data, at)
    rest = data[at:].lstrip(b" ")
    if rest.startswith(b'"') and (match is None or match[1] is None):
        if len(rest) > _LONGEST_CELL and len(rest.decode()) > _LONGEST_CELL:
            raise _too_long(line)
        return True
    if match is not None and data[match.end() :].startswith(b"\r"):
        raise damaged(f"line {line}: {_LONE_RETURN[0]}", _LONE_RETURN[1])
    raise damaged(f"line {line}: text follows a closing quote; a quote in a quoted cell is doubled")


def _too_long(line: int) -> FileTrouble:
    return damaged(f"line {line}: a cell is too long, or its quote is not closed")


# ---------------------------------------------------------------------------------------------------- blocks

@dataclass
class RecordBlock:
    """Complete records, or a part of a long one: the line (from 1) and column (from 0) at which the data begin, and whether
    its last record ends here.  `byte`: the offset of its first line in the file.

    Its cells are valid until the next block is read."""

    line: int
    data: bytes
    splitter: Splitter
    column: int = 0
    ends: bool = True
    byte: int = 0

    @property
    def is_complete(self) -> bool:
        return self.ends and not self.column

    @cached_property
    def cells(self) -> RecordCells:
        return self.splitter.split(self.data, self.line, is_part=not self.is_complete)


def blocks(content: Content, separator: str, start: RecordOffset = START) -> Iterator[RecordBlock]:
    """Yields the blocks of a table from the start of a record on."""
    with system_errors(), content.open() as file:
        splitter = Splitter(separator, content.size())
        _, byte, line = start
        file.seek(byte)
        data, more = b"", True
        while more or data:
            if more:
                following = file.read(TOGETHER)
                rest = b"" if not following or following.endswith(b"\n") else file.readline(_PIECE)
                more, data = bool(following), b"".join([data, following, rest])
            end = data.rfind(b"\n") + 1 if more else len(data)
            if not end:
                if len(data) >= _PIECE:
                    yield from _parts(file, data, byte, line, splitter)
                    byte, line, data = file.tell(), line + 1, b""
                continue
            lines = data if end == len(data) else data[:end]
            _require_text(lines, line)
            mark = len(_MARK) if line == 1 and lines.startswith(_MARK) else 0
            block = RecordBlock(line, lines[mark:], splitter, byte=byte)
            cells = block.cells
            if cells.is_open and not cells.end:
                if not more:
                    raise damaged(f"line {line}: a quoted cell is not closed")
                continue
            size = mark + cells.end
            byte, line, data = byte + size, line + cells.lines, data[size:]
            if cells.records:
                yield block


def _parts(file: BinaryIO, data: bytes, byte: int, line: int, splitter: Splitter) -> Iterator[RecordBlock]:
    """Yields the parts of a long line, whose beginning has already been read."""
    column, ends, separator = 0, False, splitter.separator.encode()
    while not ends:
        more = file.readline(_PIECE)
        ends = more.endswith(b"\n") or len(more) < _PIECE
        data += more
        cells, delimiter, data = (data, b"", b"") if ends else data.rpartition(separator)
        if b"\r" in (cells or data).removesuffix(b"\n").removesuffix(b"\r"):
            raise damaged(f"line {line}: {_LONE_RETURN[0]}", _LONE_RETURN[1])
        if not ends and (not delimiter or len(data) >= _PIECE):
            raise damaged(f"line {line} has a cell of more than {_PIECE} bytes")
        _require_text(cells, line)
        block = RecordBlock(line, cells.removeprefix(_MARK) if line == 1 and not column else cells, splitter, column, ends, byte)
        if b'"' in cells:
            raise damaged(f"line {line} has quotes and more than {_PIECE} bytes")
        yield block
        column += block.cells.count


def _require_text(data: bytes, line: int) -> None:
    """Raises FileTrouble E705 unless the data, which begin at `line`, are UTF-8 without NUL."""
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise _undecodable(data, error.start, line) from None
    if b"\0" in data:
        raise damaged(f"is not a table: line {line + data.count(10, 0, data.index(0))} holds a NUL character")


def _undecodable(data: bytes, at: int, line: int) -> FileTrouble:
    if line == 1 and data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return damaged("is UTF-16, not UTF-8", "save it as UTF-8")
    message = f"is not UTF-8: line {line + data.count(10, 0, at)} has the byte 0x{data[at]:02x}"
    others = {ord(sign) & 0xFF for sign in data[at:].decode("utf-8", "surrogateescape") if "\udc80" <= sign <= "\udcff"}
    page, name = ("cp850", "a code page of DOS") if _NOT_WINDOWS & others else ("cp1252", "Windows-1252")
    return damaged(message, f"this looks like {name}: save it as UTF-8 with `iconv -f {page} -t utf-8 old.csv > new.csv`")


# ---------------------------------------------------------------------------------------------------- items

_MOST_KNOWN: Final = 1 << 16


class Converter:
    """Converts cells to items of an array, according to a column's declaration."""

    def __init__(self, wanted: Column) -> None:
        self._wanted, self._form = wanted, _form_of(wanted)
        self._known: dict[str, Any] = {}
        """The numbers of dates and times that were converted one by one."""

    def fill(self, block: RecordBlock, first: int, stride: int, room: Any) -> None:
        """Fills `room` with the items of every `stride`-th cell from `first` on.  Raises UnreadableCell."""
        at, count, cells = 0, len(room), block.cells
        call = None if self._form is None else block.splitter.call
        request, _missing = self._request(cells, first, stride, room) if call is not None else (None, None)
        while at < count:
            if call is not None and request is not None:
                request.done = at
                at = call(ctypes.addressof(request))
                if at == count:
                    break
            cell = first + at * stride
            try:
                with np.errstate(over="ignore"):
                    put(room, at, self._item(cells, cell))
            except CellError as trouble:
                raise UnreadableCell(block.line + cells.lines_before(cell), cell, trouble) from None
            at += 1

    def _item(self, cells: RecordCells, cell: int) -> Any:
        text, wanted = cells.text(cell), self._wanted
        if not wanted.reading.form.is_point:
            return item_or_missing(text, wanted, is_text=wanted.takes_quoted and cells.is_quoted(cell))
        item = self._known.get(text)
        if item is None:
            item = item_or_missing(text, wanted)
            if len(self._known) < _MOST_KNOWN:
                self._known[text] = item
        return item

    def _request(self, cells: RecordCells, first: int, stride: int, room: Any) -> tuple[_Request, Any]:
        """The request, and the item for missing cells, which must stay alive as long as the request."""
        wanted, reading = self._wanted, self._wanted.reading
        low, high = integer_range(wanted.kind) if wanted.kind in INTEGER_BITS else (0, 0)
        size, missing = room.dtype.itemsize * (room.shape[1] if room.ndim == 2 else 1), None
        if reading.missing is not None:
            missing = new_array((1, *room.shape[1:]), wanted.kind)
            if wanted.kind is Kind.CHAR:
                missing.view("=u4")[...] = BLANK
            put(missing, 0, reading.missing)
        request = _Request(
            operation=_CONVERT, data=cells.data, starts=cells.starts.ctypes.data, stops=cells.stops.ctypes.data, from_=first,
            stride=stride, count=len(room), target=room.ctypes.data, bytes=size, form=self._form,
            takes_quoted=wanted.takes_quoted, missing=None if missing is None else missing.ctypes.data, low=low, high=high,
            decimal=ord(reading.decimal), group=reading.group.encode(), group_bytes=len(reading.group.encode()),
            pattern=reading.pattern.encode(), powers=_powers_of_five().ctypes.data,
        )  # fmt: skip
        return request, missing


class UnreadableCell(Exception):
    """Raised for a cell that is no item: its line, its index in the block, and the reason."""

    def __init__(self, line: int, cell: int, trouble: CellError) -> None:
        self.line, self.cell, self.trouble = line, cell, trouble
        super().__init__(trouble.message)


def _form_of(wanted: Column) -> int | None:
    """The number of the conversion in `records.c`; None if it has none."""
    reading, kind = wanted.reading, wanted.kind
    if not reading.decimal.isascii() or len(reading.decimal) != 1:
        return None
    if reading.form is CellFormat.PRESENT:
        return _PRESENT
    if reading.form.is_point:
        if kind is not Kind.I64:
            return None
        if not reading.pattern:
            return _DATE if reading.form is CellFormat.DATE else _TIME
        if not _DIRECTIVES.fullmatch(reading.pattern):
            return None
        return _PATTERN_DATE if reading.form is CellFormat.DATE else _PATTERN_TIME
    if kind in INTEGER_BITS:
        return _INTEGER
    return {Kind.CHAR: _TEXT, Kind.F64: _DOUBLE, Kind.F32: _FLOAT, Kind.BOOL: _TRUTH}.get(kind)
