"""Tables of typed columns: Arrow IPC, JSON and JSON lines, SQLite and Excel.

Each format yields its columns as `ArrowColumn`s, through the usual library for it; one function (`items_of`) applies an input's
type and clauses to them, as for Parquet and data frames.  A file is read once for all its inputs, when the shape of the first is
requested.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar, Final

import numpy as np

from ...lang.diagnostics.model import Code
from ...lang.primitives.table import nearest
from ...lang.support.bounded_parsing import is_url
from ...lang.support.records import cached_property, dataclass, replace
from ...lang.tree.program import CellFormat
from ...typechecker.elements import Kind
from ..vm.values import NUMPY_NAMES, integer_range, shortest_f32
from .cells import DAY, NANOSECONDS, Column, multiplied, require_accepted, require_shape, undeclared
from .csv import CsvColumn, TextSink, rows_of_block
from .formats import BY_SUFFIX, TEXTS, FileTrouble, damaged, disagrees, first_line, listed, require_package, system_errors
from .parquet import ArrowColumn, column_of, items_of, require_storable, require_table
from .records import RecordOffset
from .sources_and_sinks import ITEMS, AppendSink, Content, padded_texts, suffix_of

_TOGETHER: Final = 1 << 16
"""Rows that are Python objects at a time."""
_LARGEST_DOCUMENT: Final = 256 << 20
"""The most bytes of a JSON text that is no list of lines, since it is parsed at once."""
_LARGEST_SHEET: Final = 1 << 30
_MOST_RATIO: Final = 200
"""The most bytes of an inflated Excel file, and the most times its stored size that they may be."""
_LONGEST_LINE: Final = 16 << 20
_MOST_ROWS: Final = 200_000_000
_STEPS: Final = 100_000
"""Steps of SQLite between two polls for interrupts."""
_EPOCH: Final = datetime.datetime(1970, 1, 1)
_FIRST, _LAST = -(2**63), 2**63 - 1


class ColumnTable:
    """The columns of one file."""

    doubt = ""
    places: tuple[RecordOffset, ...] = ()

    def __init__(self, content: Content, suffix: str) -> None:
        self._content, self._suffix = content, suffix
        self._items: dict[Column, Any] = {}
        self._queries: dict[str, ArrowColumn] = {}

    @cached_property
    def columns(self) -> _Columns:
        """The columns by name; a file that holds an array instead has it under an empty name."""
        require_package(BY_SUFFIX[self._suffix])
        with system_errors():
            return _READERS[self._suffix](self._content)

    def shape(self, wanted: Column) -> tuple[int, ...]:
        """The shape of an input.  Raises FileTrouble."""
        self._items[wanted] = items = self._read(wanted)
        return tuple(map(int, items.shape))

    def values(self, wanted: Column, shape: tuple[int, ...]) -> Any:
        """The items of an input as a NumPy array of its kind.  Raises FileTrouble."""
        items = self._items.pop(wanted) if wanted in self._items else self._read(wanted)
        require_shape(tuple(map(int, items.shape)), shape)
        return items

    def column(self, member: str) -> ArrowColumn:
        """The column of a name, or that of a query.  Raises FileTrouble E704 if there is none."""
        if self._suffix in _DATABASES:
            if member not in self._queries:
                with system_errors():
                    self._queries[member] = _queried(self._content, member)
            return self._queries[member]
        member = member.removeprefix(self.columns.prefix)
        if member not in self.columns:
            names = [name for name in self.columns if name]
            meant = nearest(member, names)
            hint = f"; did you mean `{meant}`?" if meant else ""
            raise FileTrouble(Code.E704, f"has no column named {member}{hint}", f"its columns: {listed(names)}")
        return self.columns[member]

    def _read(self, wanted: Column) -> Any:
        if wanted.member:
            return self._typed([self.column(wanted.member)], wanted)[:, 0] if wanted.kind is not Kind.CHAR else self._text(wanted)
        if "" in self.columns:
            items = self._narrowed(_array_of(self.columns[""], wanted), wanted.kind)
            require_accepted("str1" if items.dtype.kind == "U" else str(items.dtype), wanted.kind)
            return items if wanted.kind is Kind.CHAR else items.astype(NUMPY_NAMES[wanted.kind])
        if wanted.kind is Kind.CHAR:
            raise disagrees("is a table, its declared type is char", f"name a column: {listed(self.columns)}")
        items = self._typed([*self.columns.values()], wanted)
        return items[:, 0] if wanted.rank == 1 and items.shape[1] == 1 else items

    def _text(self, wanted: Column) -> Any:
        column = self.column(wanted.member)
        items = items_of(column, wanted.reading)
        if items.dtype.kind != "U":
            require_accepted(str(items.dtype), Kind.CHAR)
        return items

    def _narrowed(self, items: Any, kind: Kind) -> Any:
        """Numbers of a text, which have no stored type, as a narrower kind that holds them.  Raises FileTrouble E705."""
        if self._suffix not in TEXTS or items.dtype.kind not in "if":
            return items
        if kind in (Kind.F32, Kind.C64):
            with np.errstate(over="ignore"):
                return items.astype(np.float32)
        if kind not in (Kind.BOOL, Kind.U8, Kind.I32) or items.dtype.kind == "f":
            return items
        low, high = (0, 1) if kind is Kind.BOOL else integer_range(kind)
        outside = (items < low) | (items > high)
        if outside.any():
            at = int(outside.reshape(-1).argmax())
            raise damaged(f"holds {items.reshape(-1)[at]} as item {at}, which does not fit {kind.value} ({low} to {high})")
        return items.astype(NUMPY_NAMES[kind])

    def _typed(self, columns: Sequence[ArrowColumn], wanted: Column) -> Any:
        """Numeric columns side by side, as one matrix."""
        result = np.empty((len(columns[0].present) if columns else 0, len(columns)), NUMPY_NAMES[wanted.kind])
        for at, column in enumerate(columns):
            items = self._narrowed(items_of(column, wanted.reading), wanted.kind)
            if wanted.reading.form is CellFormat.ITEM and column.form is not CellFormat.ITEM:
                raise undeclared(column.form, column.name)
            try:
                require_accepted("str1" if items.dtype.kind == "U" else str(items.dtype), wanted.kind)
            except FileTrouble as trouble:
                raise FileTrouble(trouble.code, f"{trouble.message} (column `{column.name}`)", *trouble.notes) from None
            result[:, at] = items
        return result


_MB: Final = 1 << 20
_TAKEN: Final = {
    ".json": (14, 0, 0), ".jsonl": (4, 14, 96), ".ndjson": (4, 14, 96), ".arrow": (20, 0, 0), ".feather": (20, 0, 0),
    ".xlsx": (20, 0, 0),
}  # fmt: skip
"""The memory that reading takes: (bytes per stored byte of columns and full texts, the same of rows as objects, the most MB of
the latter)."""
_INFLATED: Final = 8


def table_memory(content: Content) -> int:
    """The bytes that reading takes besides the arrays: all columns, and Python objects for some rows or for the full text."""
    columns, objects, most = _TAKEN.get(suffix_of(content.path), (3, 8, 32))
    size = content.size() * (_INFLATED if content.is_compressed else 1)
    return columns * size + min(objects * size, most * _MB)


# ---------------------------------------------------------------------------------------------------- columns of objects

def _array_of(column: ArrowColumn, wanted: Column) -> Any:
    """The items of an array.  Raises FileTrouble."""
    form = wanted.reading.form
    if form is CellFormat.ITEM and column.form is not form:
        raise undeclared(column.form)
    if form.is_point and column.values.dtype.kind == "U" and column.values.ndim > column.present.ndim:
        column = replace(column, present=column.present & (column.values != " ").any(axis=-1))
    return items_of(column, wanted.reading)


class ColumnBuilder:
    """Collects the objects of a column, and converts them to arrays some at a time."""

    def __init__(self, name: str, rows: int = 0) -> None:
        self._name, self._objects = name, list[Any]()
        self._parts = [ArrowColumn(name, np.zeros(rows), np.zeros(rows, np.bool_))] * bool(rows)
        self.rows = rows
        self._column: ArrowColumn | None = None

    def add(self, item: Any) -> None:
        self._objects.append(item)
        self.rows += 1
        if len(self._objects) == _TOGETHER:
            self._parts.append(column_of_objects(self._name, self._objects, self.rows - _TOGETHER))
            self._objects = []

    def column(self) -> ArrowColumn:
        """The column of all rows.  Raises FileTrouble E706 for rows of several kinds."""
        if self._column is None:
            self._column = self._joined()
        return self._column

    def _joined(self) -> ArrowColumn:
        parts = [*self._parts, column_of_objects(self._name, self._objects, self.rows - len(self._objects))]
        self._objects, self._parts = [], []
        filled = [part for part in parts if part.present.any()] or parts[-1:]
        kinds = {(part.form, part.values.dtype.kind == "U") for part in filled}
        if len(kinds) > 1:
            raise disagrees(f"holds items of several kinds in column `{self._name}`")
        present = np.concatenate([part.present for part in parts])
        if filled[0].values.dtype.kind == "U":
            width = max(part.values.shape[1] for part in filled)
            values = np.full((len(present), width), " ", "U1")
            at = 0
            for part in parts:
                if part.values.dtype.kind == "U":
                    values[at : at + len(part.present), : part.values.shape[1]] = part.values
                at += len(part.present)
        else:
            dtype = np.result_type(*[part.values.dtype for part in filled])
            values = np.concatenate([np.asarray(part.values).astype(dtype) for part in parts])
        return ArrowColumn(self._name, values, present, filled[0].form)


def column_of_objects(name: str, objects: Sequence[Any], first: int = 0) -> ArrowColumn:
    """A column of Python numbers, bools, texts, dates and times, where None is missing.  Raises FileTrouble E706."""
    present = np.array([item is not None for item in objects], np.bool_)
    kinds = {type(item) for item in objects} - {type(None)}
    filled = next((at for at, item in enumerate(objects) if item is not None), 0)
    if not kinds:
        return ArrowColumn(name, np.zeros(len(objects)), present)
    if kinds == {str}:
        return ArrowColumn(name, padded_texts([item or "" for item in objects]), present)
    if kinds == {bool}:
        return ArrowColumn(name, np.array([bool(item) for item in objects]), present)
    if kinds <= {int, float}:
        if kinds == {int}:
            far = next((item for item in objects if item is not None and not _FIRST <= item <= _LAST), None)
            if far is not None:
                raise disagrees(f"has the integer {far} in column `{name}`, which does not fit i64")
        numbers = [0 if item is None else item for item in objects]
        return ArrowColumn(name, np.array(numbers, np.int64 if kinds == {int} else np.float64), present)
    if kinds <= {datetime.datetime, datetime.date}:
        moments = [_EPOCH if item is None else _moment(item) for item in objects]
        ticks = np.array([(moment - _EPOCH) // datetime.timedelta(microseconds=1) for moment in moments], np.int64)
        if not (ticks % (DAY // 1000)).any():
            return ArrowColumn(name, ticks // (DAY // 1000), present, CellFormat.DATE)
        return ArrowColumn(name, multiplied(ticks, NANOSECONDS["us"], CellFormat.TIME), present, CellFormat.TIME)
    other = next((at for at, item in enumerate(objects) if item is not None and type(item) is not type(objects[filled])), filled)
    names = {str: "a text", bool: "a bool", int: "a number", float: "a number", list: "a list", bytes: "bytes"}
    what = names.get(type(objects[other]), type(objects[other]).__name__)
    before = "" if other == filled else f", and {names.get(type(objects[filled]), 'something else')} before it"
    raise disagrees(f"has {what} in row {first + other + 1} of column `{name}`{before}: the items of a column are of one kind")


def _moment(item: Any) -> datetime.datetime:
    return item if isinstance(item, datetime.datetime) else datetime.datetime(item.year, item.month, item.day)


def columns_of_rows(rows: Iterable[Mapping[str, Any]]) -> _Columns:
    """The columns of rows of named items; items that a row lacks are missing there."""
    builders: dict[str, ColumnBuilder] = {}
    count = 0
    for row in rows:
        for name, item in row.items():
            builder = builders.get(name)
            if builder is None:
                builder = builders[name] = ColumnBuilder(name, count)
            while builder.rows < count:
                builder.add(None)
            builder.add(item)
        count += 1
    for builder in builders.values():
        while builder.rows < count:
            builder.add(None)
    return _Columns({name: builder.column for name, builder in builders.items()})


class _Columns(dict[str, Any]):
    """Columns by name, each converted when it is requested, so that an unreadable column matters only to its readers.

    `prefix`: may stand before a name without changing its meaning."""

    prefix = ""

    def __getitem__(self, name: str) -> ArrowColumn:
        column = super().__getitem__(name)
        if not isinstance(column, ArrowColumn):
            self[name] = column = column()
        assert isinstance(column, ArrowColumn)
        return column

    def values(self) -> Any:
        return [self[name] for name in self]


# ---------------------------------------------------------------------------------------------------- JSON

def _json_lines(content: Content) -> _Columns:
    return columns_of_rows(_objects(content))


def _objects(content: Content) -> Iterator[dict[str, Any]]:
    with content.open() as file:
        number = 0
        while line := file.readline(_LONGEST_LINE):
            number += 1
            if len(line) == _LONGEST_LINE:
                raise damaged(f"line {number} has more than {_LONGEST_LINE} bytes")
            if not line.strip():
                continue
            row = _parsed(line, number)
            if not isinstance(row, dict):
                raise damaged(f"line {number} is no object: a line is `{{\"name\": value, …}}`")
            yield _flat(row)


def _flat(row: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """The items of an object; items of inner objects get names such as `a.b`."""
    result: dict[str, Any] = {}
    for name, item in row.items():
        items = _flat(item, f"{before}{name}.") if isinstance(item, dict) else {before + name: item}
        if repeated := result.keys() & items.keys():
            raise damaged(f"has two items `{min(repeated)}` in one object")
        result |= items
    return result


def _parsed(text: bytes, line: int = 0) -> Any:
    """The value of a JSON text: a document, or one line.  Raises FileTrouble E705."""
    try:
        value = json.loads(text, object_pairs_hook=_object)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except json.JSONDecodeError as error:
        raise damaged(f"is not valid JSON: line {line or error.lineno}, column {error.colno}: {error.msg}") from None
    except UnicodeDecodeError as error:
        where = f"line {line}" if line else f"byte {error.start}"
        raise damaged(f"is not UTF-8: {where} has the byte 0x{error.object[error.start]:02x}") from None
    except UnicodeEncodeError as error:
        where = f"line {line}" if line else "a text"
        raise damaged(f"is not Unicode: {where} has the half character {error.object[error.start]!r} alone") from None
    except RecursionError:
        raise damaged("is nested too deeply") from None
    except ValueError as error:  # a repeated name, or a number with more digits than Python converts
        raise damaged(f"is not valid JSON: {f'line {line}: ' * bool(line)}{first_line(error).partition(';')[0]}") from None


_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object.  Raises ValueError for a repeated name, whose first items json.loads would drop."""
    items = dict(pairs)
    if len(items) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"an object has two items `{max(names, key=names.count)}`")
    return items


def _json(content: Content) -> _Columns:
    size = content.size()
    if size > _LARGEST_DOCUMENT:
        raise damaged(
            f"is a JSON text of {size} bytes; texts of more than {_LARGEST_DOCUMENT} are read as lines",
            "write one object on each line: `jq -c '.[]' old.json > new.jsonl`",
        )
    with content.open() as file:
        data = file.read(_LARGEST_DOCUMENT + 1)
    if len(data) > _LARGEST_DOCUMENT:
        raise damaged(f"inflates to more than {_LARGEST_DOCUMENT} bytes")
    value = _parsed(data)
    if isinstance(value, dict):
        if {"elem", "shape", "data"} <= value.keys():
            return _Columns({"": _as_rho_writes(value)})
        if value and all(isinstance(item, list) for item in value.values()):
            lengths = {len(item) for item in value.values()}
            if len(lengths) > 1:
                counts = listed(f"{name} {len(item)}" for name, item in value.items())
                raise damaged(f"holds columns of several lengths: {counts}")
            return _Columns({name: partial(column_of_objects, name, items) for name, items in value.items()})
        raise damaged("is an object, and no table: a table is a list of objects, or an object of lists of one length")
    if not isinstance(value, list):
        value = [value]
    if value and all(isinstance(item, dict) for item in value):
        return columns_of_rows(map(_flat, value))
    return _Columns({"": _array(value)})


def _array(value: list[Any]) -> ArrowColumn:
    """Nested lists of numbers, bools or dates as an array, or a list of texts as rows of characters.  Raises FileTrouble."""
    shape, level = list[int](), [value]
    flat: list[Any] = value
    while True:
        lengths = {len(part) for part in level}
        if len(lengths) > 1:
            raise damaged(f"holds lists of several lengths ({listed(map(str, sorted(lengths)))}) on one level: an array has none")
        shape.append(lengths.pop())
        flat = [item for part in level for item in part]
        if not flat or not all(isinstance(item, list) for item in flat):
            break
        level = flat
    column = column_of_objects("", flat)
    values = column.values.reshape(*shape, *column.values.shape[1:])
    return replace(column, values=values, present=column.present.reshape(shape))


def _as_rho_writes(value: Mapping[str, Any]) -> ArrowColumn:
    """The array of `{"elem", "shape", "data"}`.  Raises FileTrouble E705."""
    try:
        shape = tuple(map(int, value["shape"]))
        if value["elem"] in _COUNTED:
            return _counted(_COUNTED[value["elem"]], np.array(value["data"], np.object_).reshape(shape))
        values = _plain_array(Kind(value["elem"]), shape, value["data"])
        return ArrowColumn("", values, np.ones(shape[: values.ndim - (values.dtype.kind == "U")], np.bool_))
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        raise damaged(f"is not an array as Rho writes them: {first_line(error)}") from None


_COUNTED: Final = {form.name.lower(): form for form in CellFormat if form.is_point or form.is_difference}
"""By element type."""


def _counted(form: CellFormat, items: Any) -> ArrowColumn:
    """Dates and times, which are texts, or differences, which are numbers; a missing one is null."""
    flat = items.reshape(-1).tolist()
    present = np.array([item is not None for item in flat], np.bool_).reshape(items.shape)
    if form.is_difference:
        numbers = np.array([0 if item is None else item for item in flat], np.int64)
        return ArrowColumn("", numbers.reshape(items.shape), present, form)
    texts = padded_texts(["" if item is None else str(item) for item in flat])
    return ArrowColumn("", texts.reshape(*items.shape, texts.shape[1]), present)


def _plain_array(kind: Kind, shape: tuple[int, ...], data: Any) -> Any:
    spelled = np.object_ if kind is Kind.CHAR else np.str_ if kind.is_float or kind.is_complex else NUMPY_NAMES[kind]
    items = np.array(data, dtype=spelled)
    if kind is Kind.CHAR:
        return np.array(list("".join(np.ravel(items).tolist())), "U1").reshape(shape)
    if kind.is_complex:
        parts = np.ascontiguousarray(items.astype(np.float64)).reshape(-1)
        return parts.view(np.complex128).astype(NUMPY_NAMES[kind]).reshape(shape)
    return items.astype(NUMPY_NAMES[kind]).reshape(shape)


def json_lines(columns: Sequence[CsvColumn]) -> Iterator[str]:
    """Yields one object per row, block by block: NaN and missing dates are null, text has no trailing blanks."""
    names = [json.dumps(column.name, ensure_ascii=False) + ": " for column in columns]
    block = rows_of_block(columns)
    for start in range(0, len(columns[0].values), block):
        written = [_json_items(column, start, start + block) for column in columns]
        rows = zip(*written, strict=True)
        yield "".join(["{" + ", ".join(map(str.__add__, names, row)) + "}\n" for row in rows])


def _json_items(column: CsvColumn, start: int, stop: int) -> list[str]:
    is_counted = column.form is not CellFormat.ITEM
    if column.kind is Kind.CHAR or is_counted:
        texts: list[Any] = column.texts(start, stop)
        if column.form.is_difference:
            return [text or "null" for text in texts]
        return [json.dumps(None if is_counted and not text else text, ensure_ascii=False) for text in texts]
    items = column.values[start:stop].tolist()
    if column.kind is Kind.F32:
        items = [shortest_f32(item) for item in items]
    return ["null" if item != item else json.dumps(item) for item in items]


def require_json_lines(columns: Sequence[CsvColumn]) -> None:
    """Raises E708 for columns of several lengths, and for complex numbers and infinities, which JSON lacks."""
    require_table(columns)
    for column in columns:
        if column.kind.is_float and np.isinf(column.values).any():
            raise FileTrouble(Code.E708, f"cannot have the infinity in `{column.name}`, which JSON has not", "write a csv file")


@dataclass(slots=True)
class JsonLinesSink(TextSink):
    """Writes rows of a new file of JSON lines."""

    working_memory: ClassVar[int] = ITEMS * 512
    """Bytes of a block of items as numbers, as texts with the names of their columns, as lines and as encoded bytes."""

    def require(self) -> None:
        require_storable(self.kind, self.shape)

    def prepare(self) -> None:
        AppendSink.prepare(self)

    def append(self, rows: Any) -> None:
        step = max(1, ITEMS // max(1, math.prod(self.shape[1:])))
        for start in range(0, len(rows), step):
            columns = self._columns(rows[start : start + step])
            require_json_lines(columns)
            self._write(json_lines(columns))

    def finish(self) -> None:
        self.suspend()


# ---------------------------------------------------------------------------------------------------- Arrow IPC

def _arrow(content: Content) -> _Columns:
    import pyarrow
    from pyarrow import ipc

    with content.open() as file:
        try:
            magic = file.read(6)
            file.seek(0)
            if magic == b"ARROW1":
                reader = ipc.open_file(file)
                batches = [reader.get_batch(at) for at in range(reader.num_record_batches)]
            else:
                reader = ipc.open_stream(file)
                batches = list(reader)
            for batch in batches:
                batch.validate(full=True)
            table = pyarrow.Table.from_batches(batches, reader.schema)
            names = list(table.column_names)
        except (pyarrow.ArrowException, OverflowError, UnicodeError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise damaged(f"is not a valid Arrow file: {first_line(error)}") from None
    if len(set(names)) != len(names):
        raise disagrees("has two columns of one name")
    return _Columns({name: partial(column_of, name, table.column(at)) for at, name in enumerate(names)})


# ---------------------------------------------------------------------------------------------------- SQLite

_DATABASES: Final = (".sqlite", ".sqlite3", ".db")


@contextmanager
def _database(content: Content) -> Iterator[Any]:
    """A read-only connection.  Raises FileTrouble."""
    import sqlite3
    from urllib.parse import quote

    try:
        if content.held is None and not is_url(content.path):
            if os.path.isdir(content.path):  # sqlite3 would report a disk error for it
                raise IsADirectoryError(content.path)
            if not content.size():
                raise damaged("is empty")
            is_written = os.path.exists(content.path + "-wal")
            path = quote(os.path.abspath(content.path))
            connection = sqlite3.connect(f"file:{path}?mode=ro{'' if is_written else '&immutable=1'}", uri=True)
        else:
            connection = sqlite3.connect(":memory:")
            with content.open() as file:
                connection.deserialize(file.read())
        allowed = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, getattr(sqlite3, "SQLITE_RECURSIVE", 33)}

        def permit(action: int, name: str | None, *others: str | None) -> int:
            known = action in allowed or (action == sqlite3.SQLITE_PRAGMA and name == "table_info")
            return sqlite3.SQLITE_OK if known and "load_extension" not in others else sqlite3.SQLITE_DENY

        connection.set_authorizer(permit)
        connection.set_progress_handler(lambda: 0, _STEPS)  # returning to Python handles interrupts
    except sqlite3.Error as error:
        raise damaged(f"cannot be opened: {first_line(error)}") from None
    try:
        yield connection
    except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError) as error:
        raise damaged(f"cannot be read: {first_line(error)}", *_tables_note(connection)) from None
    finally:
        connection.close()


def _tables(connection: Any) -> list[str]:
    query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
    return [name for (name,) in connection.execute(query)]


def _tables_note(connection: Any) -> tuple[str, ...]:
    try:
        return (f"its tables: {listed(_tables(connection))}",)
    except Exception:
        return ()


def _queried(content: Content, member: str) -> ArrowColumn:
    """The one column of a query, or `table.column`."""
    with _database(content) as connection:
        query = member
        if member.split(None, 1)[0].lower() not in ("select", "with", "values"):
            table, point, column = member.rpartition(".")
            if not point:
                raise FileTrouble(
                    Code.E704, "is a database: name a column of a table, or a query of one column",
                    f'`"{os.path.basename(content.path)}:table.column"`, `":SELECT price FROM sales ORDER BY day"`; '
                    f"its tables: {listed(_tables(connection))}",
                )  # fmt: skip
            known = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({_text(table)})")]
            if column not in known:
                raise FileTrouble(
                    Code.E704, f"has no column `{column}` in a table `{table}`",
                    f"its columns: {listed(known)}" if known else f"its tables: {listed(_tables(connection))}",
                )  # fmt: skip
            query = f"SELECT {_quoted(column)} FROM {_quoted(table)}"
        cursor = connection.execute(query)
        if cursor.description is None or len(cursor.description) != 1:
            count = len(cursor.description or ())
            raise FileTrouble(Code.E704, f"gives {count} columns for the query; an input takes one")
        builder = ColumnBuilder(cursor.description[0][0])
        while rows := cursor.fetchmany(_TOGETHER):
            for (item,) in rows:
                builder.add(item)
            if builder.rows > _MOST_ROWS:
                raise damaged(f"gives more than {_MOST_ROWS} rows for the query")
        return builder.column()


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _every_table(content: Content) -> _Columns:
    """The columns `table.column` of all tables."""
    with _database(content) as connection:
        names = [
            f"{table}.{name}"
            for table in _tables(connection)
            for _, name, *_ in connection.execute(f"PRAGMA table_info({_text(table)})")
        ]
    return _Columns({name: partial(_queried, content, name) for name in names})


# ---------------------------------------------------------------------------------------------------- Excel

def _excel(content: Content) -> _Columns:
    """The columns of the first sheet by header, and those of the others as `sheet!header`."""
    import openpyxl

    _require_inflatable(content)
    columns = _Columns()
    with content.open() as file, _excel_errors():
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        for number, sheet in enumerate(book.worksheets):
            before = f"{sheet.title}!"
            columns.prefix = columns.prefix if number else before
            columns.update({before * bool(number) + name: column for name, column in _sheet(content, sheet).items()})
        book.close()
    return columns


def _require_inflatable(content: Content) -> None:
    import zipfile

    with content.open() as file:
        try:
            with zipfile.ZipFile(file) as archive:
                size = sum(info.file_size for info in archive.infolist())
        except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError, RuntimeError) as error:
            raise damaged(f"is not an Excel file (xlsx): {first_line(error)}") from None
    if size > _LARGEST_SHEET or size > max(1 << 24, _MOST_RATIO * content.size()):
        raise damaged(f"inflates to {size} bytes, {size // max(1, content.size())} times its size, which is refused")


@contextmanager
def _excel_errors() -> Iterator[None]:
    """Turns whatever openpyxl raises on a damaged file, of many types, into E705."""
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (FileTrouble, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise damaged(f"is not a valid Excel file: {first_line(error)}") from None


def _sheet(content: Content, sheet: Any) -> dict[str, Any]:
    """The columns of a sheet, whose first nonempty row is the header."""
    header: list[str] = []
    builders: list[ColumnBuilder] = []
    first = blank = 0
    problems: dict[int, FileTrouble] = {}
    for number, row in enumerate(sheet.iter_rows(), 1):
        if all(cell.value is None for cell in row):
            blank += bool(header)
            continue
        if not header:
            header = ["" if cell.value is None else str(cell.value).strip() for cell in row]
            builders, first = [ColumnBuilder(name) for name in header], number
            continue
        for at, builder in enumerate(builders):
            for _ in range(blank):
                builder.add(None)
            cell = row[at] if at < len(row) else None
            item = None if cell is None or cell.value in ("", "#N/A") else cell.value
            if cell is not None and cell.data_type == "e" and item is not None:
                problems.setdefault(at, damaged(f"has the error {item} in cell {cell.coordinate} of sheet `{sheet.title}`"))
                item = None
            builder.add(item)
        blank = 0
    result: dict[str, Any] = {}
    for at, (name, builder) in enumerate(zip(header, builders, strict=True)):
        unique = name if name and header.count(name) == 1 else f"#{at + 1}"
        result[unique] = partial(_excel_column, content, sheet.title, at, first, builder, problems.get(at))
    return result


def _excel_column(
    content: Content, title: str, at: int, first: int, builder: ColumnBuilder, problem: FileTrouble | None
) -> ArrowColumn:  # fmt: skip
    if problem is not None:
        raise problem
    column = builder.column()
    if column.missing:
        _require_computed(content, title, at, first)
    return column


def _require_computed(content: Content, title: str, at: int, first: int) -> None:
    """Raises FileTrouble E705 for a formula in a column whose value the file lacks."""
    import openpyxl

    with content.open() as file, _excel_errors():
        formulas = openpyxl.load_workbook(file, read_only=True)
        values = openpyxl.load_workbook(file, read_only=True, data_only=True)
        rows = zip(
            formulas[title].iter_rows(first + 1, None, at + 1, at + 1), values[title].iter_rows(first + 1, None, at + 1, at + 1),
            strict=False,
        )  # fmt: skip
        for (formula, *_), (value, *_) in rows:
            if value.value is None and isinstance(formula.value, str) and getattr(formula, "data_type", "") == "f":
                raise damaged(
                    f"has a formula without a value in cell {formula.coordinate} of sheet `{title}`: {formula.value[:40]}",
                    "open it in a spreadsheet program and save it, so that it holds the values",
                )


_READERS: Final[Mapping[str, Callable[[Content], _Columns]]] = {
    ".arrow": _arrow, ".feather": _arrow, ".jsonl": _json_lines, ".ndjson": _json_lines, ".json": _json, ".xlsx": _excel,
    **dict.fromkeys(_DATABASES, _every_table),
}  # fmt: skip
