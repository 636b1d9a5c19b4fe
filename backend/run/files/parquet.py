"""`.parquet`: a table of numbers through pyarrow (the extra `parquet`).

A table has the shape [rows, columns]; `table.parquet:name` is one column, and declared with one axis a table of one column
is that column.  Column types widen as stored types of other formats do (`elements`); decimals and nested columns are E706,
and so is a missing value where no clause says what stands for it.  Columns of text, dates, times, dictionaries, and those with
clauses, come through the Arrow interface (`arrow`).

The header pass reads the footer only; the data come batch by batch, and must be as many as the footer says.  Neighbours:
`reading`, `elements`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from ....lang.codes import Code
from ....lang.reading_clauses import AS_WRITTEN, Form
from ....typechecker.elements import Kind
from ..values import NUMPY_NAMES
from . import arrow
from .content import Content
from .conversions import Column
from .elements import changed, require_accepted, require_shape, within
from .filling import new_array
from .trouble import FileTrouble, damaged, disagrees, first_line, listed, missing_package, system_errors

_STORED: Final = {
    "bool": "bool", "uint8": "uint8", "int8": "int8", "int16": "int16", "uint16": "uint16", "int32": "int32", "uint32": "uint32",
    "int64": "int64", "uint64": "uint64", "halffloat": "float16", "float": "float32", "double": "float64",
}  # fmt: skip
_BATCH: Final = 1 << 16
"""Items that are decoded at a time."""
_ALLOCATOR: Final = 16 << 20
"""Bytes that pyarrow's allocator takes from the system at a time, about."""
_LARGEST_FOOTER: Final = 16 << 20
"""Bytes that the list of columns may take, as strings and as containers."""


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
            if isinstance(error, OSError) and error.errno is not None:  # pyarrow's own have none
                raise
            raise damaged(f"is not a valid parquet file: {first_line(error)}") from None


def _names(file: Any, name: str) -> list[str]:
    """The columns that are asked for."""
    names = list(file.schema_arrow.names)
    if name and name not in names:
        raise FileTrouble(Code.E704, f"has no column named {name}", f"its columns: {listed(names)}")
    if len(set(names)) != len(names):
        raise disagrees("has two columns of one name")
    return [name] if name else names


def _columns(file: Any, asked: Column) -> list[str]:
    """The same, each of a type that the kind accepts."""
    wanted = _names(file, asked.member)
    for column in wanted:
        type = str(file.schema_arrow.field(column).type)
        stored = _STORED.get(type)
        if stored is None:
            note = ["read columns one by one: `file.parquet:name`, dates with `as date`"] if not asked.member else []
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
    """The shape, after checking the columns' types; a column of text is read for its longest."""
    if _by_arrow(wanted):
        return tuple(map(int, _one_column(content, wanted).shape))
    with _opened(content) as file:
        return _shape(file, _columns(file, wanted), wanted)


def _groups(file: Any, name: str) -> list[list[Any]]:
    """What the footer says of the columns that are asked for, by group of rows."""
    groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
    columns = [[group.column(at) for at in range(group.num_columns)] for group in groups]
    return [[one for one in group if not name or one.path_in_schema == name] for group in columns]


def beside_bytes(content: Content, wanted: Column) -> int:
    """What reading may take beside the array: the pages of a column of one group of rows, stored and decoded, and a batch."""
    return _beside(content, "", lambda group: max(group, default=0))


def largest_group(content: Content, wanted: Column) -> int:
    """What reading in rows may take: the pages of all columns asked for of one group of rows, stored and decoded, and a batch."""
    return _beside(content, wanted.member, sum)


def _beside(content: Content, name: str, of_group: Callable[[list[int]], int]) -> int:
    with _opened(content) as file:
        sizes = [[max(0, int(one.total_uncompressed_size)) for one in group] for group in _groups(file, name)]
        most = max(map(of_group, sizes), default=0)
        total = sum(int(file.metadata.row_group(at).total_byte_size) for at in range(file.metadata.num_row_groups))
        return 2 * most + min(8 * total, _ALLOCATOR)


def _by_arrow(wanted: Column) -> bool:
    """Is it a column of text, or one that clauses speak of?"""
    return wanted.kind is Kind.CHAR or wanted.reading != AS_WRITTEN


def _one_column(content: Content, asked: Column) -> Any:
    kind, reading = asked.kind, asked.reading
    with _opened(content) as file:
        names = _names(file, asked.member)
        if len(names) != 1:
            raise FileTrouble(Code.E704, "is a table, name a column as `file.parquet:name`", f"its columns: {listed(names)}")
        (wanted,) = names
        column = arrow.column_of(wanted, file.read(columns=[wanted], use_threads=False).column(0))
    items = arrow.items_of(column, reading)
    if reading.form is Form.ITEM and column.form is not Form.ITEM:
        form = column.form.name.lower()
        raise disagrees(f"holds dates or times in column `{wanted}`", f"write `as {form}` after its path")
    require_accepted("str1" if items.dtype.kind == "U" else str(items.dtype), kind)
    return items.astype(NUMPY_NAMES[kind]) if kind is not Kind.CHAR else items


def read(content: Content, wanted: Column, shape: tuple[int, ...]) -> Any:
    """The data as a NumPy array of the kind."""
    if _by_arrow(wanted):
        found = _one_column(content, wanted)
        require_shape(tuple(map(int, found.shape)), shape)
        return found
    with _opened(content) as file:
        columns = _columns(file, wanted)
        require_shape(_shape(file, columns, wanted), shape)
        array = new_array(shape, wanted.kind)
        table = array.reshape(-1, len(columns))
        rows = len(table)
        for place, column in enumerate(columns):
            count = 0
            for part in _batches(file, [column], wanted):
                if count + len(part) > rows:
                    raise changed()
                table[count : count + len(part), place] = part[:, 0]
                count += len(part)
            if count != rows:
                raise damaged(f"is not a valid parquet file: it says {rows} rows, and column `{column}` has {count}")
        return array


def stored_bytes(content: Content, wanted: Column) -> int:
    """What the columns that are asked for take as they are stored."""
    with _opened(content) as file:
        return sum(int(one.total_compressed_size) for group in _groups(file, wanted.member) for one in group)


def blocks(content: Content, wanted: Column, first: int) -> tuple[int, Iterator[Any]]:
    """The first row of the group that has row `first`, and the items from there on, row by row, as vectors."""
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
    """The items of some columns, some rows at a time, as tables; `groups` None: those of all rows."""
    size = max(1, _BATCH // max(1, len(columns)))
    for batch in file.iter_batches(batch_size=size, row_groups=groups, columns=columns, use_threads=False):
        table = new_array((batch.num_rows, len(columns)), wanted.kind)
        for place, column in enumerate(columns):
            items = batch.column(batch.schema.get_field_index(column))
            if items.null_count:
                raise disagrees(f"has missing values in column `{column}`", "say what stands for them: `missing 0`")
            table[:, place] = within(items.to_numpy(zero_copy_only=False), table.dtype)
        yield table
