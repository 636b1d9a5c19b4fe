"""Tables of numbers as text: `.csv` (commas) and `.tsv` (tabs).

What is read: UTF-8, with or without a byte order mark; lines end in LF or CRLF; blank lines are skipped; the first line
is a header, and skipped, if none of its cells is a number or begins like one; cells may be quoted with `"` (no line
breaks inside) and padded with blanks; every line has as many cells as the first.  A number is written as in Python or
in APL: `-3`, `¯3`, `2.5`, `1e-3`, `nan`, `inf`, `∞`; complex `1+2j` or `1J2`; bool `0 1 true false`.  An empty cell is
an error, not NaN.
An integer kind takes whole numbers in its range only.

A table has the shape [lines, columns]; declared with one axis it may be one column or one line, declared as a scalar
it is one cell.  The header pass counts lines and columns without keeping anything.

Note [Fast and exact].  NumPy's C reader is tried first; wherever it hesitates (any error or warning) the lines are read
one by one here, which either succeeds or names the line and column at fault.

Neighbours: `files`; `trouble`.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Final

from ....typechecker.elements import Kind
from ..text import shortest_f32
from ..values import INTEGER_BITS, integer_range
from .elements import require_shape, to_kind
from .trouble import FileTrouble, damaged, disagrees, system_errors

_LONGEST_LINE: Final = 1 << 26
_DECIMAL = r"(?:[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?|inf|infinity|nan)"
_WHOLE_NUMBER = re.compile(r"[-+]?[0-9]+")
_REAL_NUMBER = re.compile(rf"[-+]?{_DECIMAL}", re.IGNORECASE)
_IMAGINARY_NUMBER = re.compile(rf"([-+]?{_DECIMAL})[ij]", re.IGNORECASE)
_COMPLEX_NUMBER = re.compile(rf"([-+]?{_DECIMAL})(?:([-+]{_DECIMAL})[ij]|[jJ]([-+]?{_DECIMAL}))", re.IGNORECASE)
_TRUTHS: Final = {"0": False, "1": True, "false": False, "true": True}


# ------------------------------------------------------------------------- reading


def _lines(file: BinaryIO) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers from 1."""
    number = 0
    while raw := file.readline(_LONGEST_LINE):
        number += 1
        if len(raw) >= _LONGEST_LINE:
            raise damaged(f"line {number} is longer than {_LONGEST_LINE} bytes")
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise damaged(f"is not UTF-8: line {number} has the byte 0x{raw[error.start]:02x}") from None
        if "\0" in text:
            raise damaged(f"is no table: line {number} holds a NUL character")
        if text.strip(" \t"):
            yield number, text


def _cells(text: str, delimiter: str, number: int) -> list[str]:
    if '"' not in text:
        return [cell.strip() for cell in text.split(delimiter)]
    try:
        rows = list(csv.reader([text], delimiter=delimiter, strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise damaged(f"line {number}: {error}") from None
    return [cell.strip() for cell in rows[0]]


def _is_header(cells: Sequence[str]) -> bool:
    """None of the cells is a number or begins like one (`1_000` or `1;2` is a mistake to report, not a heading)."""
    return any(cells) and not any(_begins_like_number(cell) for cell in cells)


def _begins_like_number(cell: str) -> bool:
    plain = _ascii(cell)
    return plain[:1] in tuple("0123456789+-.(") or bool(_REAL_NUMBER.fullmatch(plain))


def _ascii(cell: str) -> str:
    return cell.replace("¯", "-").replace("∞", "inf").replace("−", "-")


def _rows(file: BinaryIO, delimiter: str) -> Iterator[tuple[int, list[str], bool]]:
    """Line numbers and cells, all of one count; True for the header line."""
    columns: int | None = None
    first = 0
    for number, text in _lines(file):
        cells = _cells(text, delimiter, number)
        heading = columns is None and _is_header(cells)
        if columns is None:
            columns, first = len(cells), number
        if len(cells) != columns:
            raise damaged(f"line {number} has {_count(len(cells))}, line {first} has {_count(columns)}")
        yield number, cells, heading


def _count(cells: int) -> str:
    return "1 cell" if cells == 1 else f"{cells} cells"


def _scan(path: str, delimiter: str) -> tuple[int, int, int]:
    """Lines (not the header), columns, and how many physical lines stand above the first row."""
    lines = columns = skip = 0
    with system_errors(), open(path, "rb") as file:
        for number, cells, heading in _rows(file, delimiter):
            columns = len(cells)
            if heading:
                continue
            if not lines:
                skip = number - 1
            lines += 1
    return lines, columns, skip


def header(path: str, delimiter: str, kind: Kind, rank: int) -> tuple[int, ...]:
    """The shape of the table for a declared rank."""
    if kind is Kind.CHAR:
        raise disagrees("is a table of numbers, its declared type is char", "name a txt file for text")
    lines, columns, _ = _scan(path, delimiter)
    if not columns:
        raise damaged("is empty: it has neither numbers nor a header line")
    return _as_rank(lines, columns, rank)


def _as_rank(lines: int, columns: int, rank: int) -> tuple[int, ...]:
    if rank == 2:
        return lines, columns
    if rank == 1 and 1 in (lines, columns):
        return (lines * columns,)
    if rank == 0 and lines == columns == 1:
        return ()
    shape = f"a table of {lines} × {columns}"
    wanted = {0: "a scalar is one cell", 1: "one axis is one line or one column"}.get(rank, "a table has two axes")
    raise disagrees(f"is {shape}, its declared type has {rank} axes ({wanted})")


def read(path: str, delimiter: str, kind: Kind, shape: tuple[int, ...]) -> Any:
    """The cells as a NumPy array of the kind."""
    import numpy

    lines, columns, skip = _scan(path, delimiter)
    require_shape(_as_rank(lines, columns, len(shape)), shape)
    fast = _read_fast(path, delimiter, kind, skip) if lines else None
    if fast is not None and fast.shape == (lines, columns):
        return fast.reshape(shape)
    items: list[Any] = []
    with system_errors(), open(path, "rb") as file:
        for number, cells, heading in _rows(file, delimiter):
            if heading:
                continue
            items += [_item(cell, kind, number, column) for column, cell in enumerate(cells, 1)]
    require_shape((len(items),), (lines * columns,))
    return to_kind(numpy.array(items, dtype=_WIDE[kind]).reshape(shape), kind)


_WIDE: Final = {
    Kind.BOOL: "bool", Kind.U8: "int64", Kind.I32: "int64", Kind.I64: "int64", Kind.F32: "float64", Kind.F64: "float64",
    Kind.C64: "complex128", Kind.C128: "complex128",
}  # fmt: skip


def _read_fast(path: str, delimiter: str, kind: Kind, skip: int) -> Any:
    """NumPy's reader for i64 and floats, or None where it hesitates.  See Note [Fast and exact]."""
    import numpy

    if kind not in (Kind.I64, Kind.F64, Kind.F32):
        return None
    dtype = "int64" if kind is Kind.I64 else "float64"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            table = numpy.loadtxt(
                path, dtype=dtype, comments=None, delimiter=delimiter, skiprows=skip, ndmin=2, encoding="utf-8-sig"
            )
    except (ValueError, OverflowError, Warning, OSError):
        return None
    return to_kind(table, kind)


def _item(cell: str, kind: Kind, line: int, column: int) -> Any:
    """One cell as an item of the kind."""
    where = f"line {line}, column {column}"
    if not cell:
        raise damaged(f"{where} is empty")
    text = _ascii(cell)
    if kind is Kind.BOOL:
        if text.lower() not in _TRUTHS:
            raise damaged(f"{where}: {_shown(cell)} is no bool", "a bool is 0, 1, true or false")
        return _TRUTHS[text.lower()]
    if kind in INTEGER_BITS:
        if not _WHOLE_NUMBER.fullmatch(text) or len(text) > 4000:
            raise damaged(f"{where}: {_shown(cell)} is no whole number")
        low, high = integer_range(kind)
        if not low <= int(text) <= high:
            raise damaged(f"{where}: {_shown(cell)} does not fit {kind.value} ({low} to {high})")
        return int(text)
    if kind.is_complex:
        value = _complex(text)
        if value is None:
            raise damaged(f"{where}: {_shown(cell)} is no number")
        return value
    if not _REAL_NUMBER.fullmatch(text):
        raise damaged(f"{where}: {_shown(cell)} is no number", *(["cells are separated by commas"] if ";" in text else []))
    return float(text)


def _complex(text: str) -> complex | None:
    text = text.removeprefix("(").removesuffix(")")
    if _REAL_NUMBER.fullmatch(text):
        return complex(float(text))
    if alone := _IMAGINARY_NUMBER.fullmatch(text):
        return complex(0.0, float(alone[1]))
    parts = _COMPLEX_NUMBER.fullmatch(text)
    return complex(float(parts[1]), float(parts[2] or parts[3])) if parts else None


def _shown(cell: str) -> str:
    return f"“{cell[:30]}{'…' if len(cell) > 30 else ''}”"


# ------------------------------------------------------------------------- writing


def render(delimiter: str, kind: Kind, items: Sequence[Any], shape: tuple[int, ...]) -> str:
    """Rows of numbers that read back to the same values (a vector is one column; without rows, a header names the columns)."""
    if kind is Kind.CHAR:
        raise FileTrouble("E708", "is text, which a table of numbers cannot hold", "write it to a txt file")
    if len(shape) > 2:
        raise FileTrouble("E708", f"has {len(shape)} axes, a table has two", "write it to an npy file")
    columns = shape[1] if len(shape) == 2 else 1
    if not columns:
        raise FileTrouble("E708", "has no columns, which a table cannot say", "write it to an npy file")
    out = io.StringIO()
    if not items:
        out.write(delimiter.join(f"column{column}" for column in range(columns)) + "\n")
    for start in range(0, len(items), columns):
        out.write(delimiter.join(_written(item, kind) for item in items[start : start + columns]) + "\n")
    return out.getvalue()


def _written(item: Any, kind: Kind) -> str:
    if isinstance(item, complex):
        part = Kind.F32 if kind is Kind.C64 else Kind.F64
        imaginary = _written(item.imag, part)
        return f"{_written(item.real, part)}{'' if imaginary[0] == '-' else '+'}{imaginary}j"
    if isinstance(item, float):
        text = repr(shortest_f32(item) if kind is Kind.F32 else item)
        return text.removesuffix(".0")
    return str(int(item))
