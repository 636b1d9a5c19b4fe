"""`.parquet` files of columns, the other way, through pyarrow (the extra `parquet`).

A vector is one column under the output's name, a matrix has columns `column0`, `column1`, …, and several outputs stand beside
each other.  Rows of text become text without the blanks at their ends, dates days (`date32`), times microseconds (UTC).

Neighbours: `parquet` (the other way), `delimited_writing` (the same tables as text), `ordered_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, BinaryIO, ClassVar, Final

from ....lang.codes import Code
from ....lang.reading_clauses import Form
from ....typechecker.elements import Kind
from ..values import NUMPY_NAMES
from . import delimited_writing
from .blocks import characters_of
from .delimited_writing import Column, require_columns
from .ordered_rows import OrderedSink
from .outlets import Outlet
from .trouble import FileTrouble

_GROUP: Final = 1 << 19
"""Items of a group of rows."""
BESIDE: Final = 5 * 8 * _GROUP + (16 << 20)
"""Bytes: a group of rows as it waits, as Arrow has it, encoded and compressed, and what pyarrow's allocator holds."""
_COMPLEX: Final = (Kind.C64, Kind.C128)


def require_package() -> None:
    """E708 where pyarrow is not installed."""
    if find_spec("pyarrow") is None:
        raise FileTrouble(Code.E708, "is written by pyarrow, which is not installed", "`pip install 'rho-lang[parquet]'`")


def columns_of(column: Column) -> list[Column]:
    """The columns of a value: E708 for what is not a table."""
    require_storable(column.kind, column.values.shape)
    if column.kind is Kind.CHAR or column.values.ndim < 2:
        return [replace(column, values=column.values if column.values.ndim else column.values.reshape(1))]
    count = column.values.shape[1]
    return [replace(column, name=f"column{place}", values=column.values[:, place]) for place in range(count)]


def require_storable(kind: Kind, shape: tuple[int, ...]) -> None:
    """E708: what a parquet file cannot hold."""
    if kind in _COMPLEX:
        raise FileTrouble(Code.E708, "is complex, which no column of a parquet file is", "write it to an npy file")
    if kind is not Kind.CHAR or len(shape) != 2:
        delimited_writing.require_table(kind, shape)


def require_table(columns: Sequence[Column]) -> None:
    """E708: several outputs that no table has beside each other."""
    require_columns(columns)
    for column in columns:
        require_storable(column.kind, column.values.shape)


def write(file: BinaryIO, columns: Sequence[Column]) -> None:
    """Columns of one length.  OSError."""
    with Outlet(file) as outlet:
        writer = _Groups(outlet, [(column.name, column.kind, column.form) for column in columns])
        for start in range(0, len(columns[0].values), writer.rows):
            writer.write([column.values[start : start + writer.rows] for column in columns])
        writer.close()


class _Groups:
    """A new file, a group of `rows` after the other."""

    def __init__(self, file: BinaryIO | Outlet | None, columns: Sequence[tuple[str, Kind, Form]]) -> None:
        import pyarrow
        from pyarrow import parquet

        self.rows = max(1, _GROUP // len(columns))
        stored = [_type(kind, form) for _, kind, form in columns]
        self._schema = pyarrow.schema([(name, type) for (name, _, _), type in zip(columns, stored, strict=True)])
        texts = [name for name, kind, _ in columns if kind is Kind.CHAR]
        self._writer = parquet.ParquetWriter(file, self._schema, use_dictionary=texts)

    def write(self, parts: Sequence[Any]) -> None:
        """A group; text comes as characters."""
        import pyarrow

        arrays = [pyarrow.array(_items(part, field.type), field.type) for part, field in zip(parts, self._schema, strict=True)]
        self._writer.write_table(pyarrow.Table.from_arrays(arrays, schema=self._schema), row_group_size=self.rows)

    def close(self) -> None:
        self._writer.close()


def _type(kind: Kind, form: Form) -> Any:
    import pyarrow

    if form is Form.DATE:
        return pyarrow.date32()
    if form is Form.TIME:
        return pyarrow.timestamp("us", "UTC")
    return pyarrow.string() if kind is Kind.CHAR else pyarrow.from_numpy_dtype(NUMPY_NAMES[kind])


def _items(part: Any, type: Any) -> Any:
    import numpy
    import pyarrow

    if part.ndim == 2:
        return [characters_of(row).rstrip(" ") for row in part]
    return numpy.ascontiguousarray(part, numpy.int32 if type == pyarrow.date32() else None)


@dataclass(slots=True)
class ParquetSink(OrderedSink):
    """Rows of a new parquet file, which wait until a group is full."""

    beside: ClassVar[int] = BESIDE

    _groups: Any = None
    _waiting: Any = None
    _count: int = 0

    def require(self) -> None:
        require_storable(self.kind, self.shape)

    def prepare(self) -> None:
        import numpy

        OrderedSink.prepare(self)
        names = [self.name] if len(self.shape) == 1 else [f"column{place}" for place in range(self.shape[1])]
        self._groups = _Groups(self.file, [(column, self.kind, Form.ITEM) for column in names])
        self._waiting = numpy.empty((self._groups.rows, len(names)), NUMPY_NAMES[self.kind])

    def append(self, rows: Any) -> None:
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
