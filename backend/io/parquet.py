"""`.parquet`: a table of numbers through pyarrow (the extra `parquet`).

A table has the shape [rows, columns]; `table.parquet:name` is one column, and declared with one axis a table of one column
is that column.  Column types widen as stored types of other formats do (`cells`); decimals and nested columns are E706,
and so is a missing value without a clause that replaces it.  Columns of text, dates, times, dictionaries, and those with clauses,
come through the Arrow interface (`external_arrays`).

The header pass reads the footer only.  The data are read batch by batch; the number of rows must be that of the footer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, ClassVar, Final

import numpy as np

from ...lang.diagnostics.model import Code
from ...lang.support.records import dataclass
from ...lang.tree.program import AS_WRITTEN, MISSING_POINT, CellFormat, ColumnFormat
from ...typechecker.elements import Kind
from ..vm.values import NUMPY_NAMES
from . import csv
from .cells import (
    DAY,
    NANOSECONDS,
    CellError,
    Column,
    changed,
    converted_integers,
    example_missing,
    for_cell,
    multiplied,
    number_of,
    require_accepted,
    require_shape,
    undeclared,
)
from .csv import CsvColumn, require_columns
from .formats import FileTrouble, damaged, disagrees, first_line, listed, missing_package, system_errors
from .sources_and_sinks import AppendSink, Content, Outlet, new_array, padded_texts, suffix_of

# ---------------------------------------------------------------------------------------------------- Arrow columns
#
# Columns of pandas, polars, pyarrow and others through the Arrow C interface, by pyarrow (the extra `parquet`).
#
# An object offers `__arrow_c_stream__` or `__arrow_c_array__`.  Numbers, bools, text, dates, times and dictionaries of them are
# understood, and copied.

_WIDENED: Final = {
    "int8": "int32", "uint8": "uint8", "int16": "int32", "uint16": "int32", "int32": "int32", "uint32": "int64", "int64": "int64",
    "uint64": "uint64", "halffloat": "float32", "float": "float32", "double": "float64", "bool": "bool",
}  # fmt: skip
"""The stored type of numbers by Arrow's type."""
_TEXTS: Final = frozenset({"string", "large_string", "string_view"})
_DAY_OF_MILLISECONDS: Final = 86_400_000
_DAY_OF_SECONDS: Final = 86_400
_MOST: Final = 2**63


@dataclass(frozen=True, slots=True)
class ArrowColumn:
    """A column: items and their validity.  `form`: numbers, text (`U1` rows), dates and differences of dates (days), or times
    and differences of times (nanoseconds)."""

    name: str
    values: Any
    present: Any
    form: CellFormat = CellFormat.ITEM

    @property
    def missing(self) -> int:
        return int(self.present.size - self.present.sum())


def offers_arrow(value: object) -> bool:
    return any(hasattr(value, name) for name in ("__arrow_c_stream__", "__arrow_c_array__", "__arrow_array__"))


def columns_of_arrow(value: Any) -> tuple[list[ArrowColumn], bool]:
    """Returns the columns of a table, or a single column, and whether it is a table.

    Raises FileTrouble for an unsupported type, ImportError without pyarrow.
    """
    import pyarrow

    try:
        chunked = pyarrow.chunked_array(value if hasattr(value, "__arrow_c_stream__") else [pyarrow.array(value)])
    except pyarrow.ArrowException as error:
        raise FileTrouble(Code.E704, f"cannot be read: {first_line(error)}") from None
    if not pyarrow.types.is_struct(chunked.type):
        return [column_of("", chunked)], False
    return [column_of(field.name, part) for field, part in zip(chunked.type, chunked.flatten(), strict=True)], True


def column_of(name: str, chunked: Any) -> ArrowColumn:
    """Returns the column of a `ChunkedArray` of pyarrow.  Raises FileTrouble for an unsupported type."""
    import pyarrow

    of = f" in column `{name}`" if name else ""
    if pyarrow.types.is_dictionary(chunked.type):
        chunked = chunked.cast(chunked.type.value_type)
    type, present = chunked.type, chunked.is_valid().to_numpy()
    type_name = str(type)
    if type_name in _TEXTS:
        return ArrowColumn(name, padded_texts([text or "" for text in chunked.to_pylist()]), present)
    if type_name == "null":
        return ArrowColumn(name, np.zeros(len(present)), present)
    if pyarrow.types.is_date(type):
        if pyarrow.types.is_date64(type):
            return ArrowColumn(name, _plain(chunked.cast(pyarrow.int64())) // _DAY_OF_MILLISECONDS, present, CellFormat.DATE)
        return ArrowColumn(name, _plain(chunked.cast(pyarrow.int32())).astype("int64"), present, CellFormat.DATE)
    if pyarrow.types.is_timestamp(type):
        ticks = _plain(chunked.cast(pyarrow.int64()))
        times = multiplied(ticks, NANOSECONDS[type.unit], CellFormat.TIME)
        return ArrowColumn(name, times, present, CellFormat.TIME)
    if pyarrow.types.is_duration(type):
        ticks = _plain(chunked.cast(pyarrow.int64()))
        if type.unit == "s" and not (ticks % _DAY_OF_SECONDS).any():
            return ArrowColumn(name, ticks // _DAY_OF_SECONDS, present, CellFormat.DAYS)
        return ArrowColumn(name, multiplied(ticks, NANOSECONDS[type.unit], CellFormat.DURATION), present, CellFormat.DURATION)
    if type_name not in _WIDENED:
        raise disagrees(f"has{of} items of Arrow's type `{type_name}`, which no element type stores")
    values = _plain(chunked).astype(_WIDENED[type_name])
    if type_name == "uint64":
        if len(values) and int(values.max()) >= _MOST:
            raise disagrees(f"has{of} integers beyond 2⁶³-1")
        values = values.astype("int64")
    return ArrowColumn(name, values, present)


def _plain(chunked: Any) -> Any:
    """Returns numbers as a NumPy array, with 0 for missing ones."""
    return chunked.fill_null(False if str(chunked.type) == "bool" else 0).to_numpy()


def items_of(column: ArrowColumn, reading: ColumnFormat) -> Any:
    """Returns a column as a NumPy array by the clauses of an input.  Raises FileTrouble: E705 for missing items, E706 for a wrong
    form."""
    if reading.form is CellFormat.PRESENT:
        return column.present
    values, filling = column.values, reading.missing
    if filling is not None and column.present.size and not column.present.any():
        shape = column.present.shape
        return padded_texts([filling] * len(values)) if isinstance(filling, str) else np.full(shape, filling)
    if reading.form is not CellFormat.ITEM and values.dtype.kind == "U":
        values = _dates_of(column, reading)
    elif reading.form.is_difference:
        values = _differences_of(column, reading.form)
    elif reading.form is not CellFormat.ITEM and column.form is not reading.form:
        if not column.form.is_point:
            raise disagrees("holds no dates or times" + (f" in column `{column.name}`" if column.name else ""))
        values = multiplied(values, DAY, CellFormat.TIME) if reading.form is CellFormat.TIME else values // DAY
    if not column.missing:
        return values
    if filling is None:
        elsewhere = "or fill them before (pandas `fillna`, polars and pyarrow `fill_null`)"
        items = "1 missing item" if column.missing == 1 else f"{column.missing} missing items"
        of = f" of column `{column.name}`" if column.name else ""
        clause = 'missing ""' if values.dtype.kind == "U" else "missing 0"
        note = f"say what stands for them: `{clause}` in its `input`, {elsewhere}"
        raise damaged(f"has {items}, the first at {int((~column.present).argmax())}{of}", note)
    if isinstance(filling, str):
        if values.dtype.kind != "U":
            of = f" in column `{column.name}`" if column.name else ""
            raise disagrees(f"holds no text{of}, and a text stands for what is missing")
        return padded_texts([text if there else filling for text, there in zip(_texts_of(values), column.present, strict=True)])
    if values.dtype.kind in "iub" and isinstance(filling, float):
        values = values.astype("float64")
    values = values.copy()
    values[~column.present] = filling
    return values


def _differences_of(column: ArrowColumn, form: CellFormat) -> Any:
    """Returns a column of differences, or of their numbers, in days or nanoseconds.  Raises FileTrouble E706."""
    of = f" in column `{column.name}`" if column.name else ""
    if not column.form.is_difference and (column.form is not CellFormat.ITEM or column.values.dtype.kind not in "iu"):
        raise disagrees(f"holds no differences of dates or times{of}")
    if column.form is form or column.form is CellFormat.ITEM:
        return column.values
    if form is CellFormat.DURATION:
        return multiplied(column.values, DAY, form)
    if (column.values % DAY).any():
        raise disagrees(f"holds differences that are no number of days{of}", "declare it `duration[n]`")
    return column.values // DAY


def _dates_of(column: ArrowColumn, reading: ColumnFormat) -> Any:
    """Returns the numbers of dates or times written as text, with 0 for missing ones.  Raises FileTrouble (E705)."""
    numbers, rows = np.zeros(column.present.size, np.int64), column.values.reshape(column.present.size, column.values.shape[-1])
    for at, (text, there) in enumerate(zip(_texts_of(rows), column.present.reshape(-1), strict=True)):
        if there:
            try:
                numbers[at] = number_of(text, reading)
            except CellError as trouble:
                of = f" of column `{column.name}`" if column.name else ""
                raise damaged(f"item {at}{of}: {trouble.message}", *for_cell(text, Kind.I64, reading)) from None
    return numbers.reshape(column.present.shape)


def _texts_of(rows: Any) -> list[str]:
    return ["".join(row).rstrip(" ") for row in rows.tolist()]


# ---------------------------------------------------------------------------------------------------- reading Parquet

_STORED: Final = {
    "bool": "bool", "uint8": "uint8", "int8": "int8", "int16": "int16", "uint16": "uint16", "int32": "int32", "uint32": "uint32",
    "int64": "int64", "uint64": "uint64", "halffloat": "float16", "float": "float32", "double": "float64",
}  # fmt: skip
_BATCH: Final = 1 << 16
"""Items that are decoded at a time."""
_ALLOCATOR: Final = 16 << 20
"""The bytes that pyarrow's allocator requests from the system at a time, about."""
_LARGEST_FOOTER: Final = 16 << 20
"""An upper bound of the bytes of a footer's list of columns, as strings and as containers."""


@contextmanager
def _opened(content: Content) -> Iterator[Any]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise missing_package("parquet", "pyarrow") from None
    with system_errors(), content.open() as stream:
        try:
            with parquet.ParquetFile(
                stream, pre_buffer=False, buffer_size=1 << 16,
                thrift_string_size_limit=_LARGEST_FOOTER, thrift_container_size_limit=1 << 20,
            ) as file:  # fmt: skip
                yield file
        except (ArrowException, OverflowError, UnicodeError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # pyarrow's own errors have no errno
                raise
            raise damaged(f"is not a valid parquet file: {first_line(error)}") from None


def _names(file: Any, name: str) -> list[str]:
    """Returns the names of the requested columns."""
    names = list(file.schema_arrow.names)
    if name and name not in names:
        raise FileTrouble(Code.E704, f"has no column named {name}", f"its columns: {listed(names)}")
    if len(set(names)) != len(names):
        raise disagrees("has two columns of one name")
    return [name] if name else names


def _columns(file: Any, asked: Column) -> list[str]:
    """Returns the names of the requested columns, after checking that the kind accepts their types."""
    wanted = _names(file, asked.member)
    for column in wanted:
        type = str(file.schema_arrow.field(column).type)
        stored = _STORED.get(type)
        if stored is None:
            note = ["read columns one by one: `file.parquet:name`"] if not asked.member else []
            if type.startswith("timestamp"):
                cure = f"read it by its name, as `file.parquet:{column}`, declared `time[n]`"
                raise disagrees(f"has times in the column `{column}` ({type})", cure)
            raise disagrees(f"has a column `{column}` of {type}, which no element type stores", *note)
        require_accepted(stored, asked.kind)
    return wanted


def _shape(file: Any, columns: list[str], wanted: Column) -> tuple[int, ...]:
    rows = file.metadata.num_rows
    if rows < 0:
        raise damaged(f"is not a valid parquet file: it says that it has {rows} rows")
    if wanted.rank == 0 and rows == len(columns) == 1:
        return ()
    return (rows,) if wanted.member or (wanted.rank == 1 and len(columns) == 1) else (rows, len(columns))


def header(content: Content, wanted: Column) -> tuple[int, ...]:
    """The shape, after checking the columns' types; a text column is read for its longest item."""
    if _by_arrow(wanted):
        return tuple(map(int, _one_column(content, wanted).shape))
    with _opened(content) as file:
        return _shape(file, _columns(file, wanted), wanted)


def _groups(file: Any, name: str) -> list[list[Any]]:
    """Returns the footer's metadata of the requested columns, by row group."""
    groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
    columns = [[group.column(at) for at in range(group.num_columns)] for group in groups]
    return [[one for one in group if not name or one.path_in_schema == name] for group in columns]


def working_memory(content: Content, wanted: Column) -> int:
    """Returns the bytes besides the array: the pages of a column in one row group, stored and decoded, and a batch."""
    return _extra_bytes(content, "", lambda group: max(group, default=0))


def largest_group(content: Content, wanted: Column) -> int:
    """Returns the bytes for reading by rows: the pages of all columns in one row group, and a batch."""
    return _extra_bytes(content, wanted.member, sum)


def _extra_bytes(content: Content, name: str, of_group: Callable[[list[int]], int]) -> int:
    with _opened(content) as file:
        sizes = [[max(0, int(one.total_uncompressed_size)) for one in group] for group in _groups(file, name)]
        most = max(map(of_group, sizes), default=0)
        total = sum(int(file.metadata.row_group(at).total_byte_size) for at in range(file.metadata.num_row_groups))
        return 2 * most + min(8 * total, _ALLOCATOR)


def _by_arrow(wanted: Column) -> bool:
    """Returns whether a column is read through Arrow: text, or with clauses."""
    return wanted.kind is Kind.CHAR or wanted.reading != AS_WRITTEN


def _one_column(content: Content, asked: Column) -> Any:
    kind, reading = asked.kind, asked.reading
    with _opened(content) as file:
        names = _names(file, asked.member)
        if len(names) != 1:
            raise FileTrouble(Code.E704, "is a table, name a column as `file.parquet:name`", f"its columns: {listed(names)}")
        (wanted,) = names
        column = column_of(wanted, file.read(columns=[wanted], use_threads=False).column(0))
    items = items_of(column, reading)
    if reading.form is CellFormat.ITEM and column.form is not CellFormat.ITEM:
        raise undeclared(column.form, wanted)
    require_accepted("str1" if items.dtype.kind == "U" else str(items.dtype), kind)
    return items.astype(NUMPY_NAMES[kind]) if kind is not Kind.CHAR else items


def read(content: Content, wanted: Column, shape: tuple[int, ...]) -> Any:
    """The data as a NumPy array of the kind."""
    if _by_arrow(wanted):
        values = _one_column(content, wanted)
        require_shape(tuple(map(int, values.shape)), shape)
        return values
    with _opened(content) as file:
        columns = _columns(file, wanted)
        require_shape(_shape(file, columns, wanted), shape)
        array = new_array(shape, wanted.kind)
        table = array.reshape(-1, len(columns))
        rows = len(table)
        for number, column in enumerate(columns):
            count = 0
            for part in _batches(file, [column], wanted):
                if count + len(part) > rows:
                    raise changed()
                table[count : count + len(part), number] = part[:, 0]
                count += len(part)
            if count != rows:
                raise damaged(f"is not a valid parquet file: it says {rows} rows, and column `{column}` has {count}")
        return array


def columns(content: Content) -> Mapping[str, Callable[[], ArrowColumn]]:
    """Returns by name the functions that each read a full column."""
    with _opened(content) as file:
        names = _names(file, "")

    def read_column(name: str) -> ArrowColumn:
        with _opened(content) as file:
            return column_of(name, file.read(columns=[name], use_threads=False).column(0))

    return {name: partial(read_column, name) for name in names}


def stored_bytes(content: Content, wanted: Column) -> int:
    """Returns the stored bytes of the requested columns."""
    with _opened(content) as file:
        return sum(int(one.total_compressed_size) for group in _groups(file, wanted.member) for one in group)


def blocks(content: Content, wanted: Column, first: int) -> tuple[int, Iterator[Any]]:
    """Returns the first row of the row group with row `first`, and an iterator of items in row order from there on, block by
    block."""
    with _opened(content) as file:
        groups, start = list(range(file.metadata.num_row_groups)), 0
        while len(groups) > 1 and start + file.metadata.row_group(groups[0]).num_rows <= first:
            start += file.metadata.row_group(groups.pop(0)).num_rows
    return start, _blocks(content, wanted, groups)


def _blocks(content: Content, wanted: Column, groups: list[int]) -> Iterator[Any]:
    with _opened(content) as file:
        for part in _batches(file, _columns(file, wanted), wanted, groups):
            yield part.reshape(-1)


def _batches(file: Any, columns: list[str], wanted: Column, groups: list[int] | None = None) -> Iterator[Any]:
    """Yields batches of rows of some columns as tables; `groups`: row groups (None: all)."""
    size = max(1, _BATCH // max(1, len(columns)))
    for batch in file.iter_batches(batch_size=size, row_groups=groups, columns=columns, use_threads=False):
        table = new_array((batch.num_rows, len(columns)), wanted.kind)
        for number, column in enumerate(columns):
            items = batch.column(batch.schema.get_field_index(column))
            if items.null_count:
                clause = f"`missing {example_missing(wanted.kind)}` at the end of its `input`"
                by_name = "" if wanted.member else f"read the column by its name, `:{column}`, and "
                raise disagrees(f"has missing values in column `{column}`", f"{by_name}say what stands for them: {clause}")
            table[:, number] = converted_integers(items.to_numpy(zero_copy_only=False), table.dtype)
        yield table


# ---------------------------------------------------------------------------------------------------- writing Parquet
#
# Writing `.parquet` files of columns through pyarrow (the extra `parquet`).
#
# A vector is one column under the output's name, a matrix has columns `column0`, `column1`, …, and several outputs form one
# table.  Rows of text become text without the blanks at their ends, dates days (`date32`), times
# nanoseconds (UTC), missing ones null.

_GROUP: Final = 1 << 19
"""Items of a row group."""
WORKING_MEMORY: Final = 5 * 8 * _GROUP + (16 << 20)
"""Bytes of memory: a row group as collected, as Arrow array, encoded and compressed, and pyarrow's allocator."""
_COMPLEX: Final = (Kind.C64, Kind.C128)


def require_written(column: CsvColumn) -> None:
    """Raises E708 for dates and days outside the range of Arrow's types."""
    most = {CellFormat.DATE: 2**31 - 1, CellFormat.DAYS: (2**63 - 1) // _DAY_OF_SECONDS}.get(column.form)
    if most is not None and column.values.size:
        present = column.values[column.values != MISSING_POINT]
        if present.size and not -most <= int(present.min()) <= int(present.max()) <= most:
            raise FileTrouble(Code.E708, f"has {column.form.name.lower()} that no type of Arrow's reaches")


def columns_of(column: CsvColumn) -> list[CsvColumn]:
    """Returns the columns of a value.  Raises E708 for more than two axes."""
    require_storable(column.kind, column.values.shape)
    return csv.columns_of(column)


def require_storable(kind: Kind, shape: tuple[int, ...]) -> None:
    """Raises E708 for values that a parquet file cannot hold."""
    if kind in _COMPLEX:
        raise FileTrouble(Code.E708, "is complex, which no column of such a table is", "write it to an npy file")
    if kind is not Kind.CHAR or len(shape) != 2:
        csv.require_table(kind, shape)


def require_table(columns: Sequence[CsvColumn]) -> None:
    """Raises E708 for outputs that do not form one table."""
    require_columns(columns)
    for column in columns:
        require_storable(column.kind, column.values.shape)


def write_table(file: BinaryIO, columns: Sequence[CsvColumn], *, ipc: bool = False) -> None:
    """Writes columns of one length, as Parquet or (`ipc`) as an Arrow IPC file.  Raises OSError."""
    with Outlet(file) as outlet:
        writer = _RowGroups(outlet, columns, ipc=ipc)
        for start in range(0, len(columns[0].values), writer.rows):
            writer.write([_part(column, start, start + writer.rows) for column in columns])
        writer.close()


def arrow_table(columns: Sequence[CsvColumn]) -> Any:
    """Columns of one length as a pyarrow table, which shares the memory of numbers.  Raises FileTrouble E708."""
    import pyarrow

    require_table(columns)
    types, every = [_type(column) for column in columns], len(columns[0].values)
    arrays = [pyarrow.array(_items(_part(column, 0, every), type), type) for column, type in zip(columns, types, strict=True)]
    return pyarrow.Table.from_arrays(arrays, names=[column.name for column in columns])


class _RowGroups:
    """Writes a new file one row group after another."""

    def __init__(
        self, file: BinaryIO | Outlet | None, columns: Sequence[CsvColumn], *, ipc: bool = False
    ) -> None:  # fmt: skip
        import pyarrow
        from pyarrow import parquet

        self.rows = max(1, _GROUP // len(columns))
        self._schema = pyarrow.schema([(column.name, _type(column)) for column in columns])
        texts = [column.name for column in columns if column.is_text]
        self._writer: Any
        if ipc:
            self._writer = pyarrow.ipc.new_file(file, self._schema)
        else:
            self._writer = parquet.ParquetWriter(file, self._schema, use_dictionary=texts)

    def write(self, parts: Sequence[Any]) -> None:
        """Writes a row group."""
        import pyarrow

        arrays = [pyarrow.array(_items(part, field.type), field.type) for part, field in zip(parts, self._schema, strict=True)]
        self._writer.write_table(pyarrow.Table.from_arrays(arrays, schema=self._schema), self.rows)

    def close(self) -> None:
        self._writer.close()


def _type(column: CsvColumn) -> Any:
    """Returns the Arrow type of a column; differences of days are stored as seconds, Arrow's longest unit."""
    import pyarrow

    if column.is_text:
        return pyarrow.string()
    match column.form:
        case CellFormat.DATE:
            return pyarrow.date32()
        case CellFormat.TIME:
            return pyarrow.timestamp("ns", "UTC")
        case CellFormat.DAYS:
            return pyarrow.duration("s")
        case CellFormat.DURATION:
            return pyarrow.duration("ns")
    return pyarrow.from_numpy_dtype(NUMPY_NAMES[column.kind])


def _part(column: CsvColumn, start: int, stop: int) -> Any:
    """Returns rows of a column: an array, or a list of texts, None for a missing date or time."""
    if not column.is_text:
        return column.values[start:stop]
    texts = column.texts(start, stop)
    return texts if column.form is CellFormat.ITEM else [text or None for text in texts]


def _items(part: Any, type: Any) -> Any:
    import numpy
    import pyarrow

    if isinstance(part, list):
        return part
    if not pyarrow.types.is_temporal(type):
        return numpy.ascontiguousarray(part)
    missing = part == MISSING_POINT
    items = numpy.where(missing, 0, part).astype(numpy.int32 if pyarrow.types.is_date(type) else numpy.int64)
    if type == pyarrow.duration("s"):
        items = items * _DAY_OF_SECONDS
    return pyarrow.array(items, mask=missing).cast(type)


@dataclass(slots=True)
class ParquetSink(AppendSink):
    """Collects rows and appends them to a new Parquet or Arrow IPC file whenever they fill a row group."""

    working_memory: ClassVar[int] = WORKING_MEMORY

    _groups: Any = None
    _waiting: Any = None
    _count: int = 0

    def require(self) -> None:
        require_storable(self.kind, self.shape)

    def prepare(self) -> None:
        import numpy

        AppendSink.prepare(self)
        no_rows = new_array((0, *self.shape[1:]), self.kind)
        columns = csv.columns_of(CsvColumn(self.name, no_rows, self.kind, self.reading.form))
        self._groups = _RowGroups(self.file, columns, ipc=suffix_of(self.path) != ".parquet")
        self._waiting = numpy.empty((self._groups.rows, len(columns)), NUMPY_NAMES[self.kind])

    def append(self, rows: Any) -> None:
        require_written(CsvColumn(self.name, rows, self.kind, self.reading.form))
        while len(rows):
            taken = rows[: len(self._waiting) - self._count]
            self._waiting[self._count : self._count + len(taken)] = taken.reshape(len(taken), -1)
            self._count, rows = self._count + len(taken), rows[len(taken) :]
            if self._count == len(self._waiting):
                self._flush()

    def finish(self) -> None:
        assert self.file is not None, "it has begun"
        if self._count:
            self._flush()
        self._groups.close()
        self.file.close()

    def _flush(self) -> None:
        self._groups.write(list(self._waiting[: self._count].T))
        self._count = 0
