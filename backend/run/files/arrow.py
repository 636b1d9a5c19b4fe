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
from .trouble import FileTrouble, damaged, disagrees, first_line

_WIDENED: Final = {
    "int8": "int32", "uint8": "uint8", "int16": "int32", "uint16": "int32", "int32": "int32", "uint32": "int64", "int64": "int64",
    "uint64": "uint64", "halffloat": "float32", "float": "float32", "double": "float64", "bool": "bool",
}  # fmt: skip
"""What numbers of a type of Arrow's are taken as."""
_TEXTS: Final = frozenset({"string", "large_string", "string_view"})
_TICKS: Final = {"s": 1_000_000, "ms": 1_000, "us": 1}
"""Microseconds of a unit; of nanoseconds there are a thousand to one."""
_DAY: Final = 86_400_000_000
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
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


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
        days = _plain(found.cast(pyarrow.date32()).cast(pyarrow.int32()))
        return Column(name, days.astype("int64"), present, Form.DATE)
    if pyarrow.types.is_timestamp(type):
        ticks = _plain(found.cast(pyarrow.int64()))
        return Column(name, ticks // 1000 if type.unit == "ns" else ticks * _TICKS[type.unit], present, Form.TIME)
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
    if reading.form is not Form.ITEM and column.form is not reading.form:
        if column.form not in (Form.DATE, Form.TIME):
            raise disagrees(f"holds no dates or times in column `{column.name}`")
        values = values * _DAY if reading.form is Form.TIME else values // _DAY
    if not column.missing:
        return values
    if reading.missing is None:
        elsewhere = "or fill them before (pandas `fillna`, polars and pyarrow `fill_null`)"
        items = "1 missing item" if column.missing == 1 else f"{column.missing} missing items"
        raise damaged(f"has {items}, the first at {int((~column.present).argmax())}",
                      "say what stands for them: `missing 0` in its `input`, " + elsewhere)  # fmt: skip
    filling = reading.missing
    if isinstance(filling, str):
        return padded_texts([text if there else filling for text, there in zip(_texts_of(values), column.present, strict=True)])
    if values.dtype.kind in "iub" and isinstance(filling, float):
        values = values.astype("float64")
    values = values.copy()
    values[~column.present] = filling
    return values


def padded_texts(texts: list[str]) -> Any:
    """Texts as rows of characters, padded with blanks."""
    width = max(map(len, texts), default=0)
    if not width:
        return np.zeros((len(texts), 0), "U1")
    codes = "".join([text.ljust(width) for text in texts]).encode("utf-32-le")
    return np.frombuffer(codes, "<u4").astype("=u4").view("U1").reshape(len(texts), width)


def _texts_of(rows: Any) -> list[str]:
    return ["".join(row).rstrip(" ") for row in rows.tolist()]
