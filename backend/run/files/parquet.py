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
from ....lang.reading_clauses import AS_WRITTEN, Form, Reading
from ....typechecker.elements import Kind
from ..values import NUMPY_NAMES
from . import arrow
from .content import Content
from .elements import changed, require_accepted, require_shape
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


def _columns(file: Any, name: str, kind: Kind) -> list[str]:
    """The columns that are asked for, each of a type that the kind accepts."""
    schema = file.schema_arrow
    if name and name not in schema.names:
        raise FileTrouble(Code.E704, f"has no column named {name}", f"its columns: {listed(schema.names)}")
    wanted = [name] if name else list(schema.names)
    if len(set(schema.names)) != len(schema.names):
        raise disagrees("has two columns of one name")
    for column in wanted:
        stored = _STORED.get(str(schema.field(column).type))
        if stored is None:
            note = ["read columns one by one: `file.parquet:name`, dates with `as date`"] if not name else []
            raise disagrees(f"has a column `{column}` of {schema.field(column).type}, which no element type stores", *note)
        require_accepted(stored, kind)
    return wanted


def _shape(file: Any, columns: list[str], name: str, rank: int) -> tuple[int, ...]:
    rows = file.metadata.num_rows
    if rows < 0:
        raise damaged(f"is not a valid parquet file: it says that it has {rows} rows")
    return (rows,) if name or (rank == 1 and len(columns) == 1) else (rows, len(columns))


def header(content: Content, name: str, kind: Kind, rank: int, reading: Reading) -> tuple[int, ...]:
    """The shape, after checking the columns' types; a column of text is read for its longest."""
    if _by_arrow(kind, reading):
        return tuple(map(int, _one_column(content, name, kind, reading).shape))
    with _opened(content) as file:
        return _shape(file, _columns(file, name, kind), name, rank)


def largest_column(content: Content) -> int:
    """What reading may take beside the array: the pages of a column of one group of rows, stored and decoded, and a batch."""
    return _beside(content, lambda group: max(group, default=0))


def largest_group(content: Content, name: str) -> int:
    """What reading in rows may take: the pages of all columns asked for of one group of rows, stored and decoded, and a batch."""
    return _beside(content, sum, name)


def _beside(content: Content, of_group: Callable[[list[int]], int], name: str = "") -> int:
    with _opened(content) as file:
        groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
        columns = [[group.column(at) for at in range(group.num_columns)] for group in groups]
        asked = [[one for one in group if not name or one.path_in_schema == name] for group in columns]
        most = max((of_group([max(0, int(one.total_uncompressed_size)) for one in group]) for group in asked), default=0)
        return 2 * most + min(8 * sum(int(group.total_byte_size) for group in groups), _ALLOCATOR)


def _by_arrow(kind: Kind, reading: Reading) -> bool:
    """Is it a column of text, or one that clauses speak of?"""
    return kind is Kind.CHAR or reading != AS_WRITTEN


def _one_column(content: Content, name: str, kind: Kind, reading: Reading) -> Any:
    with _opened(content) as file:
        names = list(file.schema_arrow.names)
        if not name and len(names) != 1:
            raise FileTrouble(Code.E704, "is a table, name a column as `file.parquet:name`", f"its columns: {listed(names)}")
        wanted = name or names[0]
        if names.count(wanted) != 1:
            raise FileTrouble(Code.E704, f"has no column named {wanted}", f"its columns: {listed(names)}")
        (column,), _ = arrow.columns_of(file.read(columns=[wanted], use_threads=False).column(0))
    items = arrow.items_of(column, reading)
    if reading.form is Form.ITEM and column.form is not Form.ITEM:
        form = column.form.name.lower()
        raise disagrees(f"holds dates or times in column `{wanted}`", f"write `as {form}` after its path")
    require_accepted("str1" if items.dtype.kind == "U" else str(items.dtype), kind)
    return items.astype(NUMPY_NAMES[kind]) if kind is not Kind.CHAR else items


def read(content: Content, name: str, kind: Kind, shape: tuple[int, ...], reading: Reading) -> Any:
    """The data as a NumPy array of the kind."""
    if _by_arrow(kind, reading):
        found = _one_column(content, name, kind, reading)
        require_shape(tuple(map(int, found.shape)), shape)
        return found
    with _opened(content) as file:
        columns = _columns(file, name, kind)
        require_shape(_shape(file, columns, name, len(shape)), shape)
        array = new_array(shape, kind)
        table = array.reshape(shape[0], len(columns))
        for place, column in enumerate(columns):
            found = _read_column(file, column, table[:, place])
            if found != shape[0]:
                raise damaged(f"is not a valid parquet file: it says {shape[0]} rows, and column `{column}` has {found}")
        return array


def stored_bytes(content: Content, name: str) -> int:
    """What the columns that are asked for take as they are stored."""
    with _opened(content) as file:
        groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
        columns = [group.column(at) for group in groups for at in range(group.num_columns)]
        return sum(int(one.total_compressed_size) for one in columns if not name or one.path_in_schema == name)


def blocks(content: Content, name: str, kind: Kind, rank: int, first: int) -> tuple[int, Iterator[Any]]:
    """The first row of the group that has row `first`, and the items from there on, row by row, as vectors."""
    with _opened(content) as file:
        groups, start = list(range(file.metadata.num_row_groups)), 0
        while len(groups) > 1 and start + file.metadata.row_group(groups[0]).num_rows <= first:
            start += file.metadata.row_group(groups.pop(0)).num_rows
    return start, _blocks(content, name, kind, groups)


def _blocks(content: Content, name: str, kind: Kind, groups: list[int]) -> Iterator[Any]:
    with _opened(content) as file:
        columns = _columns(file, name, kind)
        size = max(1, _BATCH // max(1, len(columns)))
        for batch in file.iter_batches(batch_size=size, row_groups=groups, columns=columns, use_threads=False):
            table = new_array((batch.num_rows, len(columns)), kind)
            for place, column in enumerate(columns):
                items = batch.column(batch.schema.get_field_index(column))
                if items.null_count:
                    raise _missing(column, items.null_count)
                table[:, place] = items.to_numpy(zero_copy_only=False)
            yield table.reshape(-1)


def _missing(column: str, count: int) -> FileTrouble:
    return disagrees(f"has {count} missing values in column `{column}`", "say what stands for them: `missing 0`")


def _read_column(file: Any, column: str, room: Any) -> int:
    """How many items there are; they are put where they belong."""
    count = missing = 0
    for batch in file.iter_batches(batch_size=_BATCH, columns=[column], use_threads=False):
        items = batch.column(0)
        missing += items.null_count
        if count + len(items) > len(room):
            raise changed()
        if not items.null_count:
            room[count : count + len(items)] = items.to_numpy(zero_copy_only=False)
        count += len(items)
    if missing:
        raise _missing(column, missing)
    return count
