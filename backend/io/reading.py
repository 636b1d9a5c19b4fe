"""Reads inputs: the shape from the header alone, then the data.

A path is `file.suffix`, or `file.npz:name` (`.parquet:`, `.zarr:`) for one of several arrays.  `read_shape` touches no data (text
formats are scanned once); the shape binds the sizes, obligations and memory are checked, and only then `read_values` reads.

Errors: RunFailed with E704 (unreadable) or E705 (damaged); Refused with E706 (not of the declared type).  The caller decides
which files may be touched (E707, `shell.execution.params`).
"""

from __future__ import annotations

import codecs
import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import numpy as np

from ...lang.diagnostics.model import Code, Diagnostic, Refused, RhoError, RunFailed
from ...lang.support.bounded_parsing import is_url
from ...lang.support.records import dataclass, field, replace
from ...lang.syntax.source import Span
from ...lang.tree.program import AS_WRITTEN, CellFormat, ColumnFormat
from ...typechecker.elements import ArrayType, Kind
from ...typechecker.sizes.polynomials import SizeVariable
from ..vm.check_failures import rho_number as number_in_text
from . import csv
from .cells import Column, changed, require_shape
from .csv import DELIMITERS, Table
from .formats import BY_SUFFIX, FileTrouble, damaged, disagrees, require_package, split_member, suffixes, system_errors
from .records import RecordOffset
from .sources_and_sinks import Content, bytes_of, new_array, suffix_of

# ---------------------------------------------------------------------------------------------------- text files
#
# `.txt`: UTF-8 text as characters.
#
# Declared with one axis (`char[n]`) the file is its characters, newlines included, without a byte order mark.  Declared
# with two (`char[n m]`) it is its lines, padded with blanks to the longest.

_TEXT_BLOCK: Final = 1 << 18
_LINE_END: Final = 10
_BLANK: Final = 32


def _require_text(wanted: Column) -> None:
    if wanted.kind is not Kind.CHAR:
        note = "declare it `char[n]`, or name a csv file for numbers"
        raise disagrees(f"is text, its declared type is {wanted.kind.value}", note)
    if wanted.rank not in (1, 2):
        raise disagrees(f"is text, which has one axis (characters) or two (lines), not {wanted.rank}")


def _texts(content: Content) -> Iterator[str]:
    """Yields the characters block by block, without a byte order mark."""
    decoder, before, lines, first = codecs.getincrementaldecoder("utf-8")(), 0, 1, True
    with system_errors(), content.open() as file:
        while True:
            raw = file.read(_TEXT_BLOCK)
            held = len(decoder.getstate()[0])
            try:
                text = decoder.decode(raw, final=not raw)
            except UnicodeDecodeError as error:
                line = lines + error.object.count(b"\n", 0, error.start)
                byte = error.object[error.start]
                raise damaged(f"is not UTF-8: byte {before - held + error.start} (line {line}) is 0x{byte:02x}") from None
            if text:
                yield text.removeprefix("\ufeff") if first else text
                first = False
            if not raw:
                return
            before += len(raw)
            lines += raw.count(b"\n")


def _codes(content: Content) -> Iterator[Any]:
    """Yields the characters as code points block by block, with `\\r\\n` as one `\\n`."""
    import numpy

    held = ""
    for text in itertools.chain(_texts(content), ("",)):
        characters = held + text
        held = "\r" if characters.endswith("\r") and text else ""
        characters = characters.removesuffix(held).replace("\r\n", "\n")
        yield numpy.frombuffer(characters.encode("utf-32-le"), "<u4")


def header(content: Content, wanted: Column) -> tuple[int, ...]:
    """The shape: the number of characters, or of lines and of the characters of the longest line."""
    import numpy

    _require_text(wanted)
    if wanted.rank == 1:
        return (sum(map(len, _texts(content))),)
    lines = longest = column = 0
    for codes in _codes(content):
        ends = numpy.flatnonzero(codes == _LINE_END)
        if len(ends):
            longest = max(longest, column + int(ends[0]), int(numpy.diff(ends).max(initial=1)) - 1)
            lines, column = lines + len(ends), len(codes) - 1 - int(ends[-1])
        else:
            column += len(codes)
    return lines + (column > 0), max(longest, column)


def working_memory(content: Content, wanted: Column) -> int:
    """The bytes that reading takes besides the array: blocks as bytes, as text, and as code points with their positions."""
    return min(64 * content.size(), 64 * _TEXT_BLOCK)


def read(content: Content, wanted: Column, shape: tuple[int, ...]) -> Any:
    """The characters as a NumPy array of dtype U1."""
    import numpy

    _require_text(wanted)
    array = new_array(shape, wanted.kind)
    items = array.reshape(-1).view("=u4")
    if len(shape) == 1:
        count = 0
        for text in _texts(content):
            if count + len(text) > len(items):
                raise changed()
            items[count : count + len(text)] = numpy.frombuffer(text.encode("utf-32-le"), "<u4")
            count += len(text)
        require_shape((count,), shape)
        return array
    items[:] = _BLANK
    lines, column = 0, 0
    for codes in _codes(content):
        lines, column = _place_lines(items, shape, codes, lines, column)
    require_shape((lines + (column > 0), shape[1]), shape)
    return array


def _place_lines(items: Any, shape: tuple[int, ...], codes: Any, line: int, column: int) -> tuple[int, int]:
    """Stores a block that begins at a line and a column; returns the line and column of the next block."""
    import numpy

    ends = codes == _LINE_END
    starts = numpy.concatenate([[-column], numpy.flatnonzero(ends) + 1])
    at = numpy.flatnonzero(~ends)
    rows = numpy.cumsum(ends)[at]
    columns = at - starts[rows]
    if len(at) and (line + int(rows[-1]) >= shape[0] or int(columns.max()) >= shape[1]):
        raise changed()
    items[(line + rows) * shape[1] + columns] = codes[at]
    return line + len(starts) - 1, len(codes) - int(starts[-1])


# ---------------------------------------------------------------------------------------------------- formats

READABLE: Final = suffixes(lambda format: format.reads)
_WIDEST: Final = 16  # bytes of an item


class ArrayCodec(NamedTuple):
    """The functions that read a format; they raise FileTrouble."""

    header: Callable[[Content, Column], tuple[int, ...]]
    """The shape, after all checks that need no data."""
    read: Callable[[Content, Column, tuple[int, ...]], Any]
    """The data as a NumPy array of the kind (text: dtype U1)."""
    working_memory: Callable[[Content, Column], int]
    """An upper bound of the bytes that reading takes besides the array."""


@cache
def format_of(suffix: str) -> ArrayCodec | None:
    """The codec of a suffix, imported on first use; None for tables of columns and for unknown suffixes."""
    format = BY_SUFFIX.get(suffix)
    if format is None or format.codec is None:
        return None
    module = import_module(f".{format.module}", __package__)
    return ArrayCodec(*(getattr(module, format.codec + field) for field in ArrayCodec._fields))


class ColumnReader(Protocol):
    """A table of columns: the shapes of all inputs are requested before their values."""

    @property
    def doubt(self) -> str:
        """The reason why the first record, which was read as data, may be a header."""
        ...

    @property
    def places(self) -> tuple[RecordOffset, ...]: ...
    def shape(self, wanted: Column) -> tuple[int, ...]: ...
    def values(self, wanted: Column, shape: tuple[int, ...]) -> Any: ...


@dataclass(frozen=True, slots=True)
class InputSpec:
    """The declaration of an input: its kind and rank, its clauses, and its line in the program.

    `shown`: the file's name in messages.  `held`: the file's bytes, if they could be read only once.  `tables`: the tables that
    several inputs take columns of, each of which is read once."""

    kind: Kind
    rank: int
    span: Span
    reading: ColumnFormat = AS_WRITTEN
    shown: str | None = None
    held: bytes | None = None
    tables: dict[tuple[str, str], ColumnReader] = field(default_factory=dict)


def read_shape(path: str, wanted: InputSpec) -> tuple[int, ...]:
    """The shape of an input according to its file."""
    rank = wanted.rank
    with located(wanted.shown or path, wanted.span), system_errors():
        shape = _header(path, wanted)
        if len(shape) != rank:
            raise disagrees(f"has shape [{' '.join(map(str, shape))}], its declared type has {_axes(rank)}")
        if math.prod(max(1, size) for size in shape) * _WIDEST > sys.maxsize:
            raise damaged(f"has shape [{' '.join(map(str, shape))}], which no array can have")
        return shape


def read_values(path: str, wanted: InputSpec, shape: tuple[int, ...]) -> Any:
    """The data as a NumPy array of the kind (text: dtype U1), of the shape that `read_shape` returned."""
    with located(wanted.shown or path, wanted.span), system_errors():
        file, member = split_member(path)
        content, suffix = content_of(file, wanted.held)
        column = column_of(member, wanted)
        before = identity_of(content, suffix, column)
        codec = format_of(suffix)
        if codec is not None:
            values = codec.read(content, column, shape)
        else:
            values = table_of(content, suffix, wanted).values(column, shape)
        if identity_of(content, suffix, column) != before:
            raise damaged("changed while it was read")
        return values


def identity_of(content: Content, suffix: str, column: Column) -> tuple[int | str, ...]:
    """A value that changes when the file of an input is written."""
    if suffix != ".zarr":
        return content.identity()
    from . import zarr

    return zarr.identity(content, column)


def table_of(content: Content, suffix: str, wanted: InputSpec, places: tuple[RecordOffset, ...] = ()) -> ColumnReader:
    """The table of which an input reads one or all columns.  `places`: its record starts, if they are known."""
    separator = wanted.reading.separator or DELIMITERS.get(suffix, "")
    key = content.path, separator
    if key not in wanted.tables:
        if suffix in DELIMITERS:
            wanted.tables[key] = Table(content, separator, places)
        else:
            from .columns import ColumnTable

            wanted.tables[key] = ColumnTable(content, suffix)
    return wanted.tables[key]


def column_of(member: str, wanted: InputSpec) -> Column:
    """The column of a table that an input reads."""
    return Column(member, wanted.kind, wanted.rank, wanted.reading)


def is_any_value(declared: ArrayType) -> bool:
    """Does an input's type allow every value of its kind and shape?"""
    element = declared.element
    bounds = (element.low, element.high, element.symbolic_max, element.index_bound, element.unit)
    return all(bound is None for bound in bounds) and not declared.permutation


def check_declared(values: Any, declared: ArrayType, sizes: Mapping[SizeVariable, int], path: str, span: Span) -> None:
    """Raises E706 where an input's values (a NumPy array of the declared shape) are not of its declared elements: outside
    `int<low..high>` or `idx<n>`, or not each of 0..n-1 once where it is declared `perm<n>`."""
    element = declared.element
    low, high = element.low, element.high if element.symbolic_max is None else element.symbolic_max.evaluate(sizes)
    if element.index_bound is not None:
        low, high = 0, element.index_bound.evaluate(sizes) - 1
    if low is not None or high is not None:
        check_range(values, low, high, path, span)
    if declared.permutation:
        check_permutation(values, path, span)


def check_range(values: Any, low: int | None, high: int | None, path: str, span: Span) -> None:
    """Raises E706 where an input declared `int<low..high>` or `idx<n>` (0..n-1) has other values.  `values`: a NumPy array."""
    if not values.size:
        return
    below, above = low is not None and int(values.min()) < low, high is not None and int(values.max()) > high
    if below or above:
        items = values.reshape(-1)
        outside = (items < low if below else np.False_) | (items > high if above else np.False_)
        first = items[outside.argmax()]
        with located(path, span):
            raise disagrees(f"holds {number_in_text(int(first))}, its declared type allows {_bound(low)} to {_bound(high)}")


def _bound(number: int | None) -> str:
    return "any" if number is None else number_in_text(number)


def check_permutation(values: Any, path: str, span: Span) -> None:
    """Raises E706 where an input declared `perm<n>` lacks some of 0..n-1; its range has already been checked."""
    if not values.size:
        return
    seen = np.zeros(values.size, np.bool_)
    seen[values] = True
    if not seen.all():
        missing = int(np.flatnonzero(~seen)[0])
        with located(path, span):
            raise disagrees(f"is declared a permutation, but does not hold {missing} (each of 0 to {values.size - 1} once)")


def _header(path: str, wanted: InputSpec) -> tuple[int, ...]:
    file, member = split_member(path)
    content, suffix = content_of(file, wanted.held)
    column = column_of(member, wanted)
    is_typed = wanted.reading.form is not CellFormat.PRESENT
    clauses = replace(wanted.reading, form=CellFormat.ITEM) if is_typed else wanted.reading
    if not BY_SUFFIX[suffix].cells and clauses != AS_WRITTEN:
        of = " ".join(suffixes(lambda format: format.cells))
        raise disagrees(f"has no cells: `as`, `missing`, `sep`, `decimal` and `group` are for {of}")
    require_package(BY_SUFFIX[suffix])
    codec = format_of(suffix)
    return table_of(content, suffix, wanted).shape(column) if codec is None else codec.header(content, column)


def content_of(file: str, held: bytes | None) -> tuple[Content, str]:
    """The file's content, and its format, which must be known."""
    suffix = suffix_of(file)
    if suffix not in READABLE:
        raise FileTrouble(
            Code.E704, f"has the suffix {suffix!r}, which is not a known format" if suffix else "has no suffix", _known(file),
            *(() if suffix else ("what has no name that says so is read from standard input, with its format: `-:csv`",)),
        )
    return Content(file, held), suffix


def _known(file: str) -> str:
    every = " ".join(READABLE)
    return "URLs that can be read: " + every.replace(".zarr", ".zarr.zip") if is_url(file) else "files that can be read: " + every


def _axes(rank: int) -> str:
    return "no axes" if rank == 0 else "one axis" if rank == 1 else f"{rank} axes"


@contextmanager
def located(path: str, span: Span) -> Iterator[None]:
    """Turns a codec's `FileTrouble` into the diagnostic of an input or output."""
    try:
        yield
    except FileTrouble as trouble:
        raise _error(trouble, path, span) from None


def _error(trouble: FileTrouble, path: str, span: Span) -> RhoError:
    name = path if path.startswith("the input ") else f"`{path}`"
    diagnostic = Diagnostic(trouble.code, f"{name} {trouble.message}", span, notes=trouble.notes)
    return Refused([diagnostic]) if trouble.code in (Code.E702, Code.E706) else RunFailed([diagnostic])


# ---------------------------------------------------------------------------------------------------- sequential sources
#
# Ranges of rows of a file that is read sequentially: text, row groups, chunks.
#
# Rows that have been read and are still needed stay in memory.  Earlier rows are read again: from their chunk if the format has
# chunks, else from the start of the file.

Blocks: TypeAlias = Callable[[int], tuple[int, Iterator[Any]]]
"""Takes a row; returns a row at or before it, and an iterator of the items from there on as vectors."""


@dataclass(slots=True)
class _Cursor:
    """The state of a sequential read: the blocks in memory, of which the first item has number `at`, and the iterator of further
    blocks (None: not open)."""

    at: int = 0
    blocks: list[Any] = field(default_factory=list)
    more: Iterator[Any] | None = None

    @property
    def end(self) -> int:
        return self.at + sum(map(len, self.blocks))


@dataclass(frozen=True, slots=True)
class SequentialSource:
    """Rows of a file that is read sequentially.

    `bytes`: the stored bytes of all rows; `working_memory`: the memory that reading takes; `identify`: returns the current
    identity of the file, which was `identity` during planning."""

    content: Content
    kind: Kind
    shape: tuple[int, ...]
    bytes: int
    working_memory: int
    blocks: Blocks
    identify: Callable[[], tuple[int | str, ...]]
    identity: tuple[int | str, ...]

    @property
    def path(self) -> str:
        return self.content.path

    @property
    def _width(self) -> int:
        return math.prod(self.shape[1:])

    def open(self) -> _Cursor:
        """Returns a cursor.  Raises FileTrouble if the file has changed since planning."""
        cursor = _Cursor()
        self.require_same(cursor)
        return cursor

    def close(self, cursor: _Cursor) -> None:
        """Releases the blocks in memory."""
        close = getattr(cursor.more, "close", None)
        if close is not None:
            close()

    def require_same(self, cursor: _Cursor) -> None:
        with system_errors():
            current = self.identify()
        if current != self.identity:
            raise damaged("changed while it was read")

    def read(self, cursor: _Cursor, first: int, into: Any, keep: int) -> None:
        """Fills `into` with the rows from `first` on; rows from `keep` on will be read again.  Raises FileTrouble."""
        items, wanted = into.reshape(-1), first * self._width
        more = self._begin(cursor, first)
        filled, start, index = 0, cursor.at, 0
        while filled < len(items):
            if index == len(cursor.blocks):
                block = next(more, None)
                if block is None:
                    raise damaged("ended while it was read")
                cursor.blocks.append(block)
            block = cursor.blocks[index]
            part = block[wanted + filled - start :][: len(items) - filled]
            items[filled : filled + len(part)] = part
            filled, start, index = filled + len(part), start + len(block), index + 1
            while cursor.blocks and cursor.at + len(cursor.blocks[0]) <= min(keep * self._width, wanted + filled):
                cursor.at += len(cursor.blocks.pop(0))
                index -= 1

    def _begin(self, cursor: _Cursor, first: int) -> Iterator[Any]:
        """The iterator that yields row `first` first or later; skips earlier chunks if the format has chunks."""
        before, beyond = first * self._width < cursor.at, first * self._width > cursor.end
        if cursor.more is None or before or beyond:
            row, more = self.blocks(first)
            if cursor.more is None or before or row * self._width > cursor.end:
                self.close(cursor)
                cursor.at, cursor.blocks, cursor.more = row * self._width, [], more
                return more
        return cursor.more


# ---------------------------------------------------------------------------------------------------- random-access sources
#
# Inputs of which a range of rows can be read.

_BLOCK: Final = 1 << 20


class RowSource(Protocol):
    """An input of which ranges of rows can be read; `bytes`: its stored bytes; `working_memory`: bytes that reading takes."""

    @property
    def path(self) -> str: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def bytes(self) -> int: ...
    @property
    def working_memory(self) -> int: ...

    def open(self) -> Any:
        """Returns a handle.  Raises FileTrouble if the file has changed since planning."""
        ...

    def read(self, handle: Any, first: int, into: Any, keep: int) -> None:
        """Fills `into` with the rows from `first` on; rows from `keep` on will be read again.  Raises FileTrouble."""
        ...

    def require_same(self, handle: Any) -> None:
        """Raises FileTrouble if the file has been written since it was opened."""
        ...

    def close(self, handle: Any) -> None: ...


def row_source(path: str, wanted: InputSpec, shape: tuple[int, ...], places: tuple[RecordOffset, ...] = ()) -> RowSource | None:
    """The rows of a file, whose header gave this shape; None if the format cannot be read in ranges.

    `places`: the record starts of a table, if they were measured elsewhere."""
    from . import npy, parquet, zarr
    from .npy import npy_source

    kind = wanted.kind
    if wanted.held is not None or not shape or kind is Kind.CHAR:
        return None
    file, member = split_member(path)
    content, suffix, column = Content(file), suffix_of(file), column_of(member, wanted)
    if suffix in (".npy", ".npz"):
        at = 0 if suffix == ".npy" else npy.member_offset(content, member)
        return None if at is None else npy_source(content, kind, shape, at)
    size = content.size()
    blocks: Blocks
    identify = partial(identity_of, content, suffix, column)
    match suffix:
        case ".parquet" if wanted.reading == AS_WRITTEN:
            size, working_memory = parquet.stored_bytes(content, column), parquet.largest_group(content, column) + _BLOCK
            blocks = lambda first: parquet.blocks(content, column, first)  # noqa: E731
        case ".zarr":
            size = bytes_of(kind, shape)
            working_memory = zarr.working_memory(content, column)
            working_memory += 2 * zarr.band_bytes(content, column, bytes_of(kind, shape[1:]))
            blocks = lambda first: zarr.blocks(content, column, first)  # noqa: E731
        case ".h5" | ".hdf5":
            from . import hdf5

            size, working_memory = bytes_of(kind, shape), hdf5.working_memory(content, column)
            blocks = lambda first: hdf5.blocks(content, column, first)  # noqa: E731
        case ".csv" | ".tsv":
            table = table_of(content, suffix, wanted, places)
            assert isinstance(table, Table), "a text table"
            working_memory, items = csv.WORKING_MEMORY, table.items
            blocks = lambda first: items(column, first)  # noqa: E731
        case _:
            return None
    return SequentialSource(content, kind, shape, size, content.cached_bytes + working_memory, blocks, identify, identify())


def places_of(path: str, wanted: InputSpec) -> tuple[RecordOffset, ...]:
    """The record starts of a text table; empty for other formats."""
    file, suffix = content_of(split_member(path)[0], wanted.held)
    return table_of(file, suffix, wanted).places if suffix in DELIMITERS else ()


# ---------------------------------------------------------------------------------------------------- memory of reading
#
# The bytes that reading or writing a file takes in addition to its array, as part of the planned peak.
#
# Every figure is an upper bound.  `tests/soak/test_files_memory.py` compares them with the memory of processes.

_MB: Final = 1 << 20


def reading_bytes(path: str, kind: Kind, shape: tuple[int, ...], span: Span, *, held: bytes | None = None) -> int:
    """The bytes, besides the array, of reading an input.  `held`: the bytes of a pipe, which stay in memory."""
    with located(path, span), system_errors():
        file, member = split_member(path)
        content, file_suffix = content_of(file, held)
        wanted = Column(member, kind, len(shape), AS_WRITTEN)
        codec = format_of(file_suffix)
        if codec is None:
            needed = int(import_module(f".{BY_SUFFIX[file_suffix].module}", __package__).table_memory(content))
        else:
            needed = codec.working_memory(content, wanted)
        return needed + content.cached_bytes


def writing_bytes(path: str, kind: Kind, shape: tuple[int, ...]) -> int:
    """The bytes, besides the array, of writing an output."""
    from . import parquet, zarr

    items, most = math.prod(shape), bytes_of(kind, shape)
    match suffix_of(path):
        case ".npy":
            return min(2 * most, 4 * _MB)
        case ".parquet" | ".arrow" | ".feather":
            return min(40 * items, parquet.WORKING_MEMORY)
        case ".zarr":
            return zarr.writing_bytes(kind, shape)
        case ".png":
            return min(64 * items, 16 * _MB) + _MB // 2
        case ".txt":
            return min(600 * items, 6 * _MB) + (64 * shape[-1] if len(shape) > 1 else 0)
        case _:
            return min(600 * items, 6 * _MB)
