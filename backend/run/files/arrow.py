"""Columns of pandas, polars, pyarrow and others through the Arrow C interface, by pyarrow (the extra `parquet`).

An object offers `__arrow_c_stream__` or `__arrow_c_array__`.  Numbers, bools, text, dates, times and dictionaries of them are
understood, and copied.

Neighbours: `parquet` (whose columns come through here where they are not plain numbers), `shell.embedding.arrays`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ....lang.codes import Code
from ....lang.reading_clauses import Form, Reading
from .cells import Unsuitable
from .dates import number_of
from .moments import DAY, MICROSECONDS, PARTS, multiplied
from .trouble import FileTrouble, damaged, disagrees, first_line

_WIDENED: Final = {
    "int8": "int32", "uint8": "uint8", "int16": "int32", "uint16": "int32", "int32": "int32", "uint32": "int64", "int64": "int64",
    "uint64": "uint64", "halffloat": "float32", "float": "float32", "double": "float64", "bool": "bool",
}  # fmt: skip
"""What numbers of a type of Arrow's are taken as."""
_TEXTS: Final = frozenset({"string", "large_string", "string_view"})
_DAY_OF_MILLISECONDS: Final = 86_400_000
_MOST: Final = 2**63


@dataclass(frozen=True, slots=True)
class Column:
    """Items and which of them are there.  `form`: they are numbers, or text (`U1` rows), dates (days) or times (microseconds)."""

    name: str
    values: Any
    present: Any
    form: Form = Form.ITEM

    @property
    def missing(self) -> int:
        return len(self.present) - int(self.present.sum())


def offers_arrow(value: object) -> bool:
    return any(hasattr(value, name) for name in ("__arrow_c_stream__", "__arrow_c_array__", "__arrow_array__"))


def columns_of(value: Any) -> tuple[list[Column], bool]:
    """The columns of a table, or the one that a column is, and whether it is a table.  FileTrouble: a type that is not read.
    ImportError: there is no pyarrow."""
    import pyarrow

    try:
        found = pyarrow.chunked_array(value if hasattr(value, "__arrow_c_stream__") else [pyarrow.array(value)])
    except pyarrow.ArrowException as error:
        raise FileTrouble(Code.E704, f"cannot be read: {first_line(error)}") from None
    if not pyarrow.types.is_struct(found.type):
        return [column_of("", found)], False
    return [column_of(field.name, part) for field, part in zip(found.type, found.flatten(), strict=True)], True


def column_of(name: str, found: Any) -> Column:
    """A `ChunkedArray` of pyarrow.  FileTrouble: a type that is not read."""
    import pyarrow

    of = f" in column `{name}`" if name else ""
    if pyarrow.types.is_dictionary(found.type):
        found = found.cast(found.type.value_type)
    type, present = found.type, found.is_valid().to_numpy()
    told = str(type)
    if told in _TEXTS:
        return Column(name, padded_texts([text or "" for text in found.to_pylist()]), present)
    if told == "null":
        return Column(name, np.zeros(len(present)), present)
    if pyarrow.types.is_date(type):
        if pyarrow.types.is_date64(type):
            return Column(name, _plain(found.cast(pyarrow.int64())) // _DAY_OF_MILLISECONDS, present, Form.DATE)
        return Column(name, _plain(found.cast(pyarrow.int32())).astype("int64"), present, Form.DATE)
    if pyarrow.types.is_timestamp(type):
        ticks = _plain(found.cast(pyarrow.int64()))
        times = ticks // PARTS["ns"] if type.unit == "ns" else multiplied(ticks, MICROSECONDS[type.unit], Form.TIME)
        return Column(name, times, present, Form.TIME)
    if told not in _WIDENED:
        raise disagrees(f"has{of} items of Arrow's type `{told}`, which no element type stores")
    values = _plain(found).astype(_WIDENED[told])
    if told == "uint64":
        if len(values) and int(values.max()) >= _MOST:
            raise disagrees(f"has{of} integers beyond 2*63-1")
        values = values.astype("int64")
    return Column(name, values, present)


def _plain(found: Any) -> Any:
    """Numbers as a NumPy array; 0 where there is none."""
    return found.fill_null(False if str(found.type) == "bool" else 0).to_numpy()


def items_of(column: Column, reading: Reading) -> Any:
    """A column as a NumPy array, as the clauses of an input say.  FileTrouble E705: missing items; E706: not of the form."""
    if reading.form is Form.PRESENT:
        return column.present
    values = column.values
    if reading.form is not Form.ITEM and values.dtype.kind == "U":
        values = _dates_of(column, reading)
    elif reading.form is not Form.ITEM and column.form is not reading.form:
        if column.form not in (Form.DATE, Form.TIME):
            raise disagrees("holds no dates or times" + (f" in column `{column.name}`" if column.name else ""))
        values = multiplied(values, DAY, Form.TIME) if reading.form is Form.TIME else values // DAY
    if not column.missing:
        return values
    if reading.missing is None:
        elsewhere = "or fill them before (pandas `fillna`, polars and pyarrow `fill_null`)"
        items = "1 missing item" if column.missing == 1 else f"{column.missing} missing items"
        of = f" of column `{column.name}`" if column.name else ""
        raise damaged(f"has {items}, the first at {int((~column.present).argmax())}{of}",
                      "say what stands for them: `missing 0` in its `input`, " + elsewhere)  # fmt: skip
    filling = reading.missing
    if isinstance(filling, str):
        return padded_texts([text if there else filling for text, there in zip(_texts_of(values), column.present, strict=True)])
    if values.dtype.kind in "iub" and isinstance(filling, float):
        values = values.astype("float64")
    values = values.copy()
    values[~column.present] = filling
    return values


def _dates_of(column: Column, reading: Reading) -> Any:
    """The numbers of dates or times that are text; 0 where there is none.  FileTrouble E705."""
    numbers = np.zeros(len(column.present), np.int64)
    for at, (text, there) in enumerate(zip(_texts_of(column.values), column.present, strict=True)):
        if there:
            try:
                numbers[at] = number_of(text, reading)
            except Unsuitable as trouble:
                of = f" of column `{column.name}`" if column.name else ""
                raise damaged(f"item {at}{of}: {trouble.message}") from None
    return numbers


def padded_texts(texts: list[str]) -> Any:
    """Texts as rows of characters, padded with blanks."""
    width = max(map(len, texts), default=0)
    if not width:
        return np.zeros((len(texts), 0), "U1")
    codes = "".join([text.ljust(width) for text in texts]).encode("utf-32-le")
    return np.frombuffer(codes, "<u4").astype("=u4").view("U1").reshape(len(texts), width)


def _texts_of(rows: Any) -> list[str]:
    return ["".join(row).rstrip(" ") for row in rows.tolist()]
