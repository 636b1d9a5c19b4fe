"""Outputs: written whole or not at all.

A failure at any step (no space, no right, an interrupt) leaves the old file, or none, and no temporary one; several outputs are
replaced together (`lang.replacing` has how).

Formats by suffix: `.npy`, `.csv`, `.tsv`, `.parquet`, `.zarr.zip`, `.png` (see `picture`), `.txt` (text, or the display), `.json`
(`{"elem", "shape", "data"}` with nested lists, complex as `[re, im]`, text as rows, NaN and infinities as strings).

Failures: RunFailed with E708.

Neighbours: `lang.replacing`; `reading` (the same formats inwards); `run.values` (plain arrays are accepted too).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from ....lang.codes import Code
from ....lang.reading_clauses import AS_WRITTEN, Form, Reading
from ....lang.replacing import Replacement
from ....lang.source import Span
from ....typechecker.elements import Kind
from ..values import Array, to_numpy
from . import delimited_writing, json_writing, npy, parquet_writing, picture, plain_writing, png, zarr_writing
from .blocks import require_utf8
from .cells import Unsuitable
from .content import suffix_of
from .dates import texts_of
from .delimited_writing import Column
from .reading import located
from .row_sink import RowSink
from .trouble import FileTrouble

WRITABLE: Final = (".npy", ".csv", ".tsv", ".parquet", ".zarr.zip", ".png", ".txt", ".json")


@dataclass(frozen=True, slots=True)
class Prepared:
    """One file that is to be written: what fills it, and the program's line that asked for it."""

    path: str
    fill: Callable[[BinaryIO], object]
    span: Span
    written: Replacement | None = None
    """What has it already, beside the target, where the run has written it."""


def write_values(path: str, values: Any, kind: Kind, span: Span) -> None:
    """Write an `Array` or a NumPy array of the kind (text: dtype U1) to `path` in the format of its suffix."""
    write_together([prepare_values(path, values, kind, span)])


def prepare_values(
    path: str, values: Any, kind: Kind, span: Span, *, shown: str | None = None, name: str = "values",
    reading: Reading = AS_WRITTEN,
) -> Prepared:  # fmt: skip
    """What fills the file.  All that its format can refuse is refused here, so several outputs are refused together.

    `shown` is how messages name it where it is not a file and `path` tells only the format; `name` is the header of a text."""
    with located(shown or path, span):
        if isinstance(values, RowSink):
            return Prepared(path, lambda file: None, span, values.written)
        suffix, column = _suffix(path), _column(path, name, values, kind, reading)
        if suffix == ".parquet":
            return Prepared(path, _table_writer(path, parquet_writing.columns_of(column)), span)
        if column.kind is Kind.CHAR and column.values.ndim == 2 and suffix in delimited_writing.DELIMITERS:
            return Prepared(path, _table_writer(path, [column]), span)
        return Prepared(path, _writer(path, column.values, column.kind), span)


def prepare_table(
    path: str, outputs: Sequence[tuple[str, Any, Kind, Reading]], span: Span, *, shown: str | None = None
) -> Prepared:
    """What fills a file of several outputs beside each other, each a column under its name."""
    with located(shown or path, span):
        if _suffix(path) not in (*delimited_writing.DELIMITERS, ".parquet"):
            raise FileTrouble(Code.E708, "cannot hold several outputs", "a table is a csv, a tsv or a parquet file")
        return Prepared(path, _table_writer(path, [_column(path, *output) for output in outputs]), span)


def _column(path: str, name: str, values: Any, kind: Kind, reading: Reading) -> Column:
    """The array, dates and times as text where the format knows only text."""
    array = to_numpy(values) if isinstance(values, Array) else values
    if reading.form is Form.ITEM:
        return Column(name, array, kind)
    import numpy

    known = _suffix(path) == ".parquet" and not reading.pattern
    try:
        texts = texts_of(numpy.array([array.min(), array.max()]) if known and array.size else array, reading)
    except Unsuitable as trouble:
        raise FileTrouble(Code.E708, trouble.message) from None
    if known:
        return Column(name, array, kind, reading.form)
    width = max(map(len, texts), default=0)
    characters = numpy.array([list(text.ljust(width)) for text in texts], "U1").reshape(*array.shape, width)
    return Column(name, characters, Kind.CHAR)


def _table_writer(path: str, columns: Sequence[Column]) -> Callable[[BinaryIO], None]:
    suffix = _suffix(path)
    for column in columns:
        if column.kind is Kind.CHAR:
            require_utf8(column.values, table=suffix != ".parquet")
    if suffix == ".parquet":
        parquet_writing.require_table(columns)
        return lambda file: parquet_writing.write(file, columns)
    delimited_writing.require_columns(columns)
    return lambda file: _write_texts(file, delimited_writing.column_texts(delimited_writing.DELIMITERS[suffix], columns))


def write_together(prepared: Sequence[Prepared]) -> None:
    """Replace all of the files or none of them (`lang.replacing`).  RunFailed E708."""
    by_target = {os.path.realpath(one.path): one for one in prepared}
    with Replacement() as files:
        for one in prepared:
            if one.written is not None:
                files.take(one.written)
                continue
            with located(one.path, one.span), system_trouble():
                files.add(one.path, one.fill)
        try:
            files.commit()
        except (OSError, MemoryError) as error:
            one = by_target.get(str(getattr(error, "filename", None)), prepared[0])
            with located(one.path, one.span), system_trouble():
                raise


def check_writable(path: str, span: Span) -> None:
    """E708 before anything runs where the suffix is unknown, the folder is missing or the path is one."""
    with located(path, span):
        suffix = _suffix(path)
        if suffix == ".parquet":
            parquet_writing.require_package()
        if suffix == ".zarr":
            zarr_writing.require_writable(path, Kind.F64)
        target = os.path.realpath(path)
        if not os.path.isdir(os.path.dirname(target)):
            raise FileTrouble(Code.E708, "cannot be written: its folder does not exist")
        if os.path.isdir(target):
            raise FileTrouble(Code.E708, "cannot be written: it is a folder")


def _suffix(path: str) -> str:
    suffix = suffix_of(path)
    if "\0" in path:
        raise FileTrouble(Code.E708, "is not a path")
    if suffix not in WRITABLE and suffix != ".zarr":
        raise FileTrouble(
            Code.E708, f"has the suffix {suffix!r}, which is not a known format" if suffix else "has no suffix",
            "files that can be written: " + " ".join(WRITABLE),
        )  # fmt: skip
    return suffix


def _writer(path: str, values: Any, kind: Kind) -> Callable[[BinaryIO], None]:
    """What fills the file, block by block; everything that can be refused is refused here, before a file exists."""
    suffix = _suffix(path)
    array = to_numpy(values) if isinstance(values, Array) else values
    if kind is Kind.CHAR and suffix in (".txt", ".json"):
        require_utf8(array)
        if suffix == ".txt":
            plain_writing.require_lines(array)
    match suffix:
        case ".npy":
            npy.require_writable(array)
            return lambda file: npy.write(file, array, kind)
        case ".zarr":
            zarr_writing.require_writable(path, kind)
            return lambda file: zarr_writing.write(file, array, kind)
        case ".png":
            pixels = picture.pixels(array, kind)
            return lambda file: png.write(file, array.shape, pixels.depth, pixels.band)
        case ".txt":
            return lambda file: _write_texts(file, plain_writing.texts(kind, array))
        case ".json":
            return lambda file: _write_texts(file, json_writing.texts(kind, array))
        case _:
            delimited_writing.require_table(kind, array.shape)
            return lambda file: _write_texts(file, delimited_writing.texts(delimited_writing.DELIMITERS[suffix], kind, array))


def _write_texts(file: BinaryIO, texts: Iterator[str]) -> None:
    for text in texts:
        file.write(text.encode("utf-8"))


# -------------------------------------------------------------------------- whole or not at all


@contextmanager
def system_trouble() -> Iterator[None]:
    """Errors of the operating system while writing become E708."""
    try:
        yield
    except FileNotFoundError:
        raise FileTrouble(Code.E708, "cannot be written: its folder does not exist") from None
    except PermissionError:
        raise FileTrouble(Code.E708, "cannot be written: permission denied") from None
    except NotADirectoryError:
        raise FileTrouble(Code.E708, "cannot be written: its folder is a file") from None
    except OSError as error:
        raise FileTrouble(Code.E708, f"cannot be written: {error.strerror or error}") from None
    except MemoryError:
        raise FileTrouble(Code.E708, "cannot be written: memory ran out") from None
