"""Python values as arrays that Rho can take, without copying where the memory can be shared.

Taken: anything with the array interface, the buffer protocol, DLPack (on the CPU) or the Arrow interface (columns and tables of
pandas, polars and pyarrow, which are copied), numbers, text, and nested lists.  Rows of text are padded with blanks, dates are
days and times microseconds since 1970.

Neighbours: `functions`, `programs`; `backend.run.values` (which element types there are).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backend.run.files.arrow import Column, columns_of, items_of, offers_arrow, padded_texts
from ...backend.run.files.moments import from_numpy
from ...backend.run.files.trouble import missing_package
from ...backend.run.values import kind_of_dtype
from ...lang.reading_clauses import AS_WRITTEN, Reading
from ...typechecker.elements import Kind


def as_array(value: object, what: str, reading: Reading = AS_WRITTEN) -> tuple[np.ndarray[Any, Any], Kind]:
    """The array and its element kind; `what` names the argument in messages, `reading` are the clauses of its declaration.

    TypeError: not an array, or of elements that Rho has no type for.  FileTrouble: a column with missing items for which nothing
    stands, or that is not of the declared form.  The array may be the caller's own: never write to it."""
    if isinstance(value, str):
        array = np.array(list(value), dtype="U1")
    elif isinstance(value, np.ndarray):
        array = _filled(value, what, reading) if isinstance(value, np.ma.MaskedArray) else value
    elif offers_arrow(value) and not isinstance(getattr(value, "dtype", None), np.dtype):
        array = _from_arrow(value, what, reading)
    elif hasattr(value, "__array__") or hasattr(value, "__array_interface__") or isinstance(value, (int, float, complex, bool)):
        array = _as_numpy_takes_it(value, what)
    elif hasattr(value, "__dlpack__"):
        array = _from_dlpack(value, what)
    else:
        array = _from_items(value, what)
    kind = kind_of_dtype(array.dtype)
    if kind is None:
        array = _widened(array, what) if array.dtype.name in _WIDER else _of_rows(array, what, reading)
        kind = kind_of_dtype(array.dtype)
    if kind is None:
        raise TypeError(f"{what} has elements of type {array.dtype}, which no Rho element type stores; {_ADVICE}")
    return array, kind


_WIDER = {"int8": "int32", "int16": "int32", "uint16": "int32", "uint32": "int64", "uint64": "int64", "float16": "float32"}
"""Element types that no kind stores, and the narrowest that holds what they hold (but for the upper half of uint64)."""


def _widened(array: np.ndarray[Any, Any], what: str) -> np.ndarray[Any, Any]:
    if array.dtype.name == "uint64" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise TypeError(f"{what} holds {array.max()}, which is beyond i64")
    return array.astype(_WIDER[array.dtype.name])


def _filled(array: np.ma.MaskedArray[Any, Any], what: str, reading: Reading) -> np.ndarray[Any, Any]:
    """With what stands for its masked items."""
    if not np.ma.is_masked(array):
        return np.asarray(array.data)
    if array.ndim != 1:
        raise TypeError(f"{what} has masked items; fill them with `.filled(…)`")
    items: np.ndarray[Any, Any] = items_of(Column("", np.asarray(array.data), ~np.ma.getmaskarray(array)), reading)
    return items


_ADVICE = "convert it to bool, uint8, int32, int64, float32, float64, complex64, complex128 or one-character text"


def _from_arrow(value: object, what: str, reading: Reading) -> np.ndarray[Any, Any]:
    """A column as a vector (of text as rows), a table of numbers as a matrix; without pyarrow as NumPy takes it, if it does."""
    try:
        columns, is_table = columns_of(value)
    except ImportError:
        if not hasattr(value, "__array__"):
            raise missing_package("parquet", "pyarrow") from None
        return _as_numpy_takes_it(value, what)
    items: list[np.ndarray[Any, Any]] = [items_of(column, reading) for column in columns]
    if not is_table:
        return items[0]
    texts = [column.name for column, item in zip(columns, items, strict=True) if item.dtype.kind == "U"]
    if texts:
        raise TypeError(f"{what} has the text column {texts[0]}; give its columns one by one")
    return np.stack(items, axis=1) if items else np.zeros((0, 0))


def _as_numpy_takes_it(value: Any, what: str) -> np.ndarray[Any, Any]:
    """The array; TypeError where missing items, which are no NaN of a NumPy dtype, would become one."""
    of_numpy = isinstance(getattr(value, "dtype", np.dtype(float)), np.dtype)
    if not of_numpy and hasattr(value, "isna") and np.asarray(value.isna()).any():
        raise TypeError(f"{what} has missing items; fill them before (pandas `fillna`)")
    return np.asarray(value)


def _of_rows(array: np.ndarray[Any, Any], what: str, reading: Reading) -> np.ndarray[Any, Any]:
    """Texts as rows of characters; dates and times as numbers.  Others stay."""
    if array.dtype.kind == "M":
        counts: np.ndarray[Any, Any] = items_of(Column("", *from_numpy(array.reshape(-1))), reading)
        return counts.reshape(array.shape)
    texts = [text for text in array.reshape(-1).tolist() if isinstance(text, str)] if array.dtype.kind in "UO" else []
    if array.dtype.kind not in "UO" or len(texts) != array.size:
        return array
    rows: np.ndarray[Any, Any] = padded_texts(texts)
    return rows.reshape(*array.shape, rows.shape[1])


def _from_dlpack(value: Any, what: str) -> np.ndarray[Any, Any]:
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError) as error:
        raise TypeError(f"{what} is not in memory that NumPy can share: {error}") from None


def _from_items(value: object, what: str) -> np.ndarray[Any, Any]:
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError) as error:
        raise TypeError(f"{what} is not a rectangular array: {error}") from None
    if array.dtype.kind not in "OU" and not _may_have_rounded(array):
        return array
    items = np.asarray(value, object)
    for item in items.flat:
        if isinstance(item, (int, np.integer)) and not np.iinfo(np.int64).min <= item <= np.iinfo(np.int64).max:
            raise TypeError(f"{what} holds {item}, which is beyond i64")
    if array.dtype.kind in "OU":
        if not all(isinstance(item, str) for item in items.flat):
            raise TypeError(f"{what} is a {type(value).__name__}, not an array of numbers or text")
        return array
    return items.astype(np.int64) if all(isinstance(item, (int, np.integer)) for item in items.flat) else array


def _may_have_rounded(array: np.ndarray[Any, Any]) -> bool:
    """Are there floats which NumPy may have rounded integers to?"""
    return array.dtype.kind in "fc" and bool((np.abs(array) >= 2**53).any())
