"""`.parquet`: a table of numbers through pyarrow (the extra `parquet`).

A table has the shape [rows, columns]; `table.parquet:name` is one column, and declared with one axis a table of one column
is that column.  Column types widen as stored types of other formats do (`elements`); text, dates, decimals and nested
columns are E706, and so is a missing value: Rho has no null, and NaN is a number.

The header pass reads the footer only.  Neighbours: `reading`, `elements`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from ....typechecker.elements import Kind
from .elements import require_accepted, require_shape, to_kind
from .trouble import FileTrouble, damaged, disagrees, first_line, missing_package, system_errors

_STORED: Final = {
    "bool": "bool", "uint8": "uint8", "int8": "int8", "int16": "int16", "uint16": "uint16", "int32": "int32", "uint32": "uint32",
    "int64": "int64", "uint64": "uint64", "halffloat": "float16", "float": "float32", "double": "float64",
}  # fmt: skip


@contextmanager
def _opened(path: str) -> Iterator[Any]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise missing_package("parquet", "pyarrow") from None
    with system_errors(), open(path, "rb") as stream:
        try:
            with parquet.ParquetFile(stream) as file:
                yield file
        except (ArrowException, OverflowError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # pyarrow's own have none
                raise
            raise damaged(f"is no sound parquet file: {first_line(error)}") from None


def _columns(file: Any, name: str, kind: Kind) -> list[str]:
    """The columns that are asked for, each of a type that the kind accepts."""
    schema = file.schema_arrow
    listed = ", ".join(schema.names) or "none"
    if name and name not in schema.names:
        raise FileTrouble("E704", f"has no column named {name}", f"its columns: {listed}")
    wanted = [name] if name else list(schema.names)
    if len(set(schema.names)) != len(schema.names):
        raise disagrees("has two columns of one name")
    for column in wanted:
        stored = _STORED.get(str(schema.field(column).type))
        if stored is None:
            raise disagrees(f"has a column `{column}` of {schema.field(column).type}, which no element type stores")
        require_accepted(stored, kind)
    return wanted


def _shape(file: Any, columns: list[str], name: str, rank: int) -> tuple[int, ...]:
    rows = file.metadata.num_rows
    return (rows,) if name or (rank == 1 and len(columns) == 1) else (rows, len(columns))


def header(path: str, name: str, kind: Kind, rank: int) -> tuple[int, ...]:
    """The shape, after checking the columns' types."""
    with _opened(path) as file:
        return _shape(file, _columns(file, name, kind), name, rank)


def read(path: str, name: str, kind: Kind, shape: tuple[int, ...]) -> Any:
    """The data as a NumPy array of the kind."""
    import numpy

    with _opened(path) as file:
        columns = _columns(file, name, kind)
        require_shape(_shape(file, columns, name, len(shape)), shape)
        table = file.read(columns=columns)
        for column in columns:
            if table.column(column).null_count:
                raise disagrees(f"has {table.column(column).null_count} missing values in column `{column}`")
        parts = [to_kind(table.column(column).to_numpy(), kind) for column in columns]
    if len(shape) == 1:
        return parts[0]
    return numpy.ascontiguousarray(numpy.stack(parts, axis=1)) if parts else to_kind(numpy.empty(shape), kind)
