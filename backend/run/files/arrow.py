"""Columns of pandas, polars, pyarrow and others through the Arrow C interface, without importing any of them.

An object offers `__arrow_c_stream__` or `__arrow_c_array__`; the structures behind its capsules are read with ctypes and copied.
Numbers, bools, text, dates, times and dictionaries of them are understood.  Layouts are those of the Arrow columnar format.

Neighbours: `parquet` (whose batches come through here where they are not plain numbers), `shell.embedding.arrays`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_void_p, pointer, py_object
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np

from ....lang.codes import Code
from ....lang.reading_clauses import Form, Reading
from .trouble import FileTrouble, damaged, disagrees

_WIDENED: Final = {
    "c": ("int8", "int32"), "C": ("uint8", "uint8"), "s": ("int16", "int32"), "S": ("uint16", "int32"), "i": ("int32", "int32"),
    "I": ("uint32", "int64"), "l": ("int64", "int64"), "L": ("uint64", "uint64"), "e": ("float16", "float32"),
    "f": ("float32", "float32"), "g": ("float64", "float64"), "tdD": ("int32", "int64"), "tdm": ("int64", "int64"),
}  # fmt: skip
"""How a format is stored, and what it is taken as."""
_TICKS: Final = {"s": 1_000_000, "m": 1_000, "u": 1}
"""Microseconds of a unit; of nanoseconds there are a thousand to one."""
_DAY: Final = 86_400_000_000
_INLINE: Final = 12
"""Bytes of a text that stand in its view."""
_FIELDS: Final = 3
_MOST: Final = 2**63


class _Schema(Structure):
    pass


class _Array(Structure):
    pass


class _Stream(Structure):
    pass


_Schema._fields_ = [
    ("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64), ("n_children", c_int64),
    ("children", POINTER(POINTER(_Schema))), ("dictionary", POINTER(_Schema)), ("release", c_void_p), ("private_data", c_void_p),
]  # fmt: skip
_Array._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64), ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(_Array))), ("dictionary", POINTER(_Array)),
    ("release", c_void_p), ("private_data", c_void_p),
]  # fmt: skip
_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Array))),
    ("get_last_error", ctypes.CFUNCTYPE(c_char_p, POINTER(_Stream))), ("release", c_void_p), ("private_data", c_void_p),
]  # fmt: skip


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
    """The columns of a table, or the one that a column is, and whether it is a table.  FileTrouble: a type that is not read."""
    if hasattr(value, "__arrow_c_stream__"):
        capsule = value.__arrow_c_stream__()
        parts = list(_streamed(_pointer(capsule, b"arrow_array_stream", _Stream)))
    else:
        schema, array = value.__arrow_c_array__()
        parts = [_table(_pointer(schema, b"arrow_schema", _Schema), _pointer(array, b"arrow_array", _Array))]
        del schema, array
    is_table = parts[0][1]
    found = [_joined([columns[at] for columns, _ in parts]) for at in range(len(parts[0][0]))]
    return found, is_table


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


def _pointer(capsule: object, name: bytes, structure: type[Structure]) -> Any:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = c_void_p, [py_object, c_char_p]
    return ctypes.cast(get(capsule, name), POINTER(structure)).contents


def _released(structure: Any) -> None:
    if structure.release:
        ctypes.CFUNCTYPE(None, c_void_p)(structure.release)(ctypes.addressof(structure))


def _streamed(stream: Any) -> Iterator[tuple[list[Column], bool]]:
    schema = _Schema()
    _require(stream, stream.get_schema(pointer(stream), pointer(schema)))
    try:
        count = 0
        while True:
            array = _Array()
            _require(stream, stream.get_next(pointer(stream), pointer(array)))
            if not array.release:
                break
            try:
                yield _table(schema, array)
            finally:
                _released(array)
            count += 1
        if not count:
            yield _table(schema, None)
    finally:
        _released(schema)


def _require(stream: Any, code: int) -> None:
    if code:
        told = stream.get_last_error(pointer(stream)) or b""
        raise FileTrouble(Code.E704, f"cannot be read: {told.decode(errors='replace') or f'error {code}'}")


def _table(schema: Any, array: Any) -> tuple[list[Column], bool]:
    """The columns of a batch; `array` None: there are no rows."""
    if schema.format != b"+s":
        return [_column(schema, array, 0, None)], False
    start, count = (0, 0) if array is None else (array.offset, array.length)
    items = [None if array is None else array.children[at].contents for at in range(schema.n_children)]
    return [_column(schema.children[at].contents, item, start, count) for at, item in enumerate(items)], True


def _column(schema: Any, array: Any, start: int, count: int | None) -> Column:
    """`start`, `count`: of a column of a table, the rows that the table has."""
    format, name = schema.format.decode(), (schema.name or b"").decode(errors="replace")
    first, length = (0, 0) if array is None else (array.offset + start, array.length - start if count is None else count)
    present = np.ones(length, np.bool_) if array is None else _bits(array, 0, first, length, default=True)
    if schema.dictionary:
        stored, _ = _WIDENED.get(format, ("", ""))
        codes = _buffer(array, 1, stored, first, length) if length else np.zeros(0, np.int64)
        meant = _column(schema.dictionary.contents, array.dictionary.contents if array is not None else None, 0, None)
        codes = np.where(present, codes, 0).astype(np.int64)
        values = meant.values[codes] if len(meant.values) else np.resize(meant.values, (length, *meant.values.shape[1:]))
        seen = meant.present[codes] if len(meant.present) else np.zeros(length, np.bool_)
        return replace(meant, name=name, values=values, present=present & seen)
    values, form = _items(format, array, first, length, present, name)
    return Column(name, values, present, form)


def _of(name: str) -> str:
    return f" in column `{name}`" if name else ""


def _items(format: str, array: Any, first: int, length: int, present: Any, name: str) -> tuple[Any, Form]:
    if format == "b":
        return _bits(array, 1, first, length, default=False), Form.ITEM
    if format in ("u", "U", "vu"):
        return padded_texts(list(_strings(format, array, first, length, present))), Form.ITEM
    if format == "n":
        present[:] = False
        return np.zeros(length), Form.ITEM
    if format.startswith("ts"):
        ticks = _buffer(array, 1, "int64", first, length)
        return (ticks // 1000 if format[2] == "n" else ticks * _TICKS[format[2]]), Form.TIME
    if format not in _WIDENED:
        raise disagrees(f"has{_of(name)} items of Arrow's type `{format}`, which no element type stores")
    stored, wide = _WIDENED[format]
    values = _buffer(array, 1, stored, first, length).astype(wide)
    if wide == "uint64":
        if length and int(values.max(where=present, initial=0)) >= _MOST:
            raise disagrees(f"has{_of(name)} integers beyond 2*63-1")
        values = values.astype("int64")
    if format == "tdm":
        return values // 86_400_000, Form.DATE
    return values, Form.DATE if format == "tdD" else Form.ITEM


def _buffer(array: Any, at: int, dtype: str, first: int, length: int) -> Any:
    """A copy of the items of one buffer."""
    if not length or array is None or not array.buffers[at]:
        return np.zeros(length, dtype)
    size = np.dtype(dtype).itemsize
    raw = ctypes.string_at(array.buffers[at] + first * size, length * size)
    return np.frombuffer(raw, dtype)


def _bits(array: Any, at: int, first: int, length: int, *, default: bool) -> Any:
    if not length or array is None or not array.buffers[at]:
        return np.full(length, default)
    begin, end = first // 8, (first + length + 7) // 8
    raw = np.frombuffer(ctypes.string_at(array.buffers[at] + begin, end - begin), "u1")
    return np.unpackbits(raw, bitorder="little")[first % 8 : first % 8 + length].astype(np.bool_)


def _strings(format: str, array: Any, first: int, length: int, present: Any) -> Iterator[str]:
    if not length:
        return
    if format == "vu":
        views = _buffer(array, 1, "V16", first, length)
        for view, there in zip(views, present, strict=True):
            yield _viewed(bytes(view), array).decode() if there else ""
        return
    offsets = _buffer(array, 1, "int32" if format == "u" else "int64", first, length + 1).tolist()
    data = ctypes.string_at(array.buffers[2] + offsets[0], offsets[-1] - offsets[0]) if array.buffers[2] else b""
    for begin, end in pairwise(offsets):
        yield data[begin - offsets[0] : end - offsets[0]].decode()


def _viewed(view: bytes, array: Any) -> bytes:
    size = int.from_bytes(view[:4], "little", signed=True)
    if size <= _INLINE:
        return view[4 : 4 + size]
    which, offset = (int.from_bytes(view[at : at + 4], "little", signed=True) for at in (8, 12))
    return ctypes.string_at(array.buffers[2 + which] + offset, size)


def padded_texts(texts: list[str]) -> Any:
    """Texts as rows of characters, padded with blanks."""
    width = max(map(len, texts), default=0)
    if not width:
        return np.zeros((len(texts), 0), "U1")
    codes = "".join([text.ljust(width) for text in texts]).encode("utf-32-le")
    return np.frombuffer(codes, "<u4").astype("=u4").view("U1").reshape(len(texts), width)


def _texts_of(rows: Any) -> list[str]:
    return ["".join(row).rstrip(" ") for row in rows.tolist()]


def _joined(parts: list[Column]) -> Column:
    """The chunks of one column as one."""
    if len(parts) == 1:
        return parts[0]
    values = [part.values for part in parts]
    if values[0].dtype.kind == "U":
        width = max(value.shape[1] for value in values)
        whole = np.full((sum(map(len, values)), width), " ", "U1")
        start = 0
        for value in values:
            whole[start : start + len(value), : value.shape[1]] = value
            start += len(value)
    else:
        whole = np.concatenate(values)
    return replace(parts[0], values=whole, present=np.concatenate([part.present for part in parts]))
