"""Writes outputs atomically.

A failure at any step (no space, no permission, an interrupt) leaves the old file, or none, and no temporary file; several outputs
are replaced together (`lang.support.files`).

Formats by suffix: `.npy`, `.csv`, `.tsv`, `.parquet`, `.zarr.zip`, `.png` (see `png`), `.txt` (text, or the display), `.json`
(`{"elem", "shape", "data"}` with nested lists, complex as `[re, im]`, text as rows, NaN and infinities as strings).

Errors: RunFailed with E708.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, Final, TypeAlias

import numpy as np

from ...lang.diagnostics.model import Code
from ...lang.support.files import FileReplacement
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Span
from ...lang.tree.program import AS_WRITTEN, CellFormat, ColumnFormat
from ...typechecker.elements import Kind
from ..vm.values import DIGITS, Array, needs_exponent, number_text, shortest_decimal, split_at_point, to_numpy
from . import csv
from .cells import counted_items, require_dated, text_of, texts_of
from .csv import CsvColumn, TextSink
from .formats import BY_SUFFIX, COMPRESSED, DATED_TABLES, JSON_LINES, FileTrouble, require_package, suffixes
from .reading import located
from .sources_and_sinks import ITEMS, RowSink, blocks_of, characters_of, padded_texts, require_utf8, suffix_of

# ---------------------------------------------------------------------------------------------------- JSON
#
# Outputs as JSON, block by block: `{"elem", "shape", "data"}` with nested lists.
#
# Complex numbers are `[re, im]`, NaN and infinities text, the last axis of text a string.

_SPELLED: Final = (Kind.F32, Kind.F64, Kind.C64, Kind.C128)
"""Kinds with items that JSON cannot represent as numbers."""


def texts(kind: Kind, values: Any, reading: ColumnFormat = AS_WRITTEN) -> Iterator[str]:
    """Yields the full text in blocks; `values`: a NumPy array of the kind."""
    element = kind.value if reading.form is CellFormat.ITEM else reading.form.name.lower()
    yield f'{{"elem": "{element}", "shape": {json.dumps(list(values.shape))}, "data": '
    yield from _nested(kind, values, reading) if values.ndim else (_text(kind, values, reading),)
    yield "}\n"


def _nested(kind: Kind, values: Any, reading: ColumnFormat) -> Iterator[str]:
    """Yields a nested list in blocks; the last axis of text is a string."""
    opening, comma, closing = ('"', "", '"') if kind is Kind.CHAR and values.ndim == 1 else ("[", ", ", "]")
    rows = max(1, ITEMS // max(1, values[:1].size))
    yield opening
    for start in range(0, len(values), rows):
        part = values[start : start + rows]
        if start:
            yield comma
        if part.size > ITEMS:
            yield from _nested(kind, part[0], reading)
        else:
            yield _text(kind, part, reading)[1:-1]
    yield closing


def _text(kind: Kind, values: Any, reading: ColumnFormat) -> str:
    if reading.form is not CellFormat.ITEM:
        write = partial(text_of, reading=reading) if reading.form.is_point else None
        return json.dumps(counted_items(values.tolist(), write), ensure_ascii=False)
    if kind is Kind.CHAR:
        return json.dumps(_strings(values), ensure_ascii=False)
    items = values.tolist()
    return json.dumps(items if kind not in _SPELLED or (not kind.is_complex and np.isfinite(values).all()) else _spelled(items))


def _strings(values: Any) -> Any:
    return characters_of(values.reshape(-1)) if values.ndim < 2 else [_strings(row) for row in values]


def _spelled(item: Any) -> Any:
    if isinstance(item, list):
        return [_spelled(one) for one in item]
    if isinstance(item, complex):
        return [_spelled(item.real), _spelled(item.imag)]
    if isinstance(item, float) and not math.isfinite(item):
        return "nan" if math.isnan(item) else "inf" if item > 0 else "-inf"
    return item


# ---------------------------------------------------------------------------------------------------- text files
#
# `.txt`: a char vector as it is (with a final newline), a char matrix as lines; other values as they display.
#
# The columns of a matrix of numbers line up, as `vm.values` says, so all its items are examined before any is written: first
# which columns need exponents, then how wide they are.  Texts are made block by block.

_ELSEWHERE = "write it to an npy or a json file"
_LEAST, _MOST = 1e-4, 10.0 ** (DIGITS - 2)
"""Numbers of these magnitudes need no exponent, however they are rounded."""


def texts_of_lines(kind: Kind, values: Any) -> Iterator[str]:
    """Yields the full text in blocks; `values`: a NumPy array of the kind."""
    if kind is Kind.CHAR:
        return _characters(values)
    return _line(kind, values) if values.ndim < 2 else _table(kind, values)


def require_lines(values: Any) -> None:
    """Raises E708 for text that would read back as another value."""
    import numpy

    if values.size and characters_of(values.reshape(-1)[:1]) == "\ufeff":
        raise FileTrouble(Code.E708, "begins with a byte order mark, which is not read as a character", _ELSEWHERE)
    if values.ndim < 2 or not values.size:
        return
    codes = numpy.ascontiguousarray(values).view("=u4").reshape(-1, values.shape[-1])
    broken = (codes == ord("\n")).any(axis=1) | (codes[:, -1] == ord("\r"))
    if broken.any():
        raise FileTrouble(Code.E708, f"has a row that is no line: row {int(broken.argmax())} holds the end of one", _ELSEWHERE)


def _characters(values: Any) -> Iterator[str]:
    import numpy

    if values.ndim < 2:
        last = ""
        for block in blocks_of(values):
            last = characters_of(block)
            yield last
        if not last.endswith("\n"):
            yield "\n"
        return
    for number, index in enumerate(numpy.ndindex(values.shape[:-1])):
        yield _blank_lines(number, values.shape)
        for block in blocks_of(values[index]):
            yield characters_of(block)
        yield "\n"


def _line(kind: Kind, values: Any) -> Iterator[str]:
    between = ""
    for block in blocks_of(values):
        yield between + " ".join(number_text(item, DIGITS) for item in _items(kind, block))
        between = " "
    yield "\n"


def _items(kind: Kind, block: Any) -> list[Any]:
    items: list[Any] = block.tolist()
    return [shortest_decimal(item) for item in items] if kind in (Kind.F32, Kind.C64) else items


def _table(kind: Kind, values: Any) -> Iterator[str]:
    import numpy

    width = values.shape[-1]
    if not values.size:
        lines = math.prod(values.shape[:-1])
        for number in range(lines):
            yield _blank_lines(number, values.shape) + "\n"
        return
    forced = numpy.zeros(width, numpy.bool_)
    for column, items in _by_column(kind, values):
        for at, item in enumerate(items, column):
            if not _LEAST <= abs(item) < _MOST and needs_exponent(item, DIGITS):
                forced[at % width] = True
    left, right = numpy.zeros(width, numpy.int32), numpy.zeros(width, numpy.int32)
    for column, parts in _split(kind, values, forced):
        for at, (before, after) in enumerate(parts, column):
            which = at % width
            left[which] = max(left[which], len(before))
            right[which] = max(right[which], len(after))
    number = 0
    for column, parts in _split(kind, values, forced):
        texts: list[str] = []
        for at, (before, after) in enumerate(parts, column):
            which = at % width
            if not which:
                texts.append(_blank_lines(number, values.shape))
                number += 1
            last = which == width - 1
            texts.append(before.rjust(left[which]) + ("" if last else after.ljust(right[which])))
            texts.append(after.rstrip() + "\n" if last else " ")
        yield "".join(texts)


def _by_column(kind: Kind, values: Any) -> Iterator[tuple[int, list[Any]]]:
    """Yields blocks of items, each with the column of its first item."""
    column = 0
    for block in blocks_of(values):
        yield column, _items(kind, block)
        column = (column + len(block)) % values.shape[-1]


def _split(kind: Kind, values: Any, forced: Any) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Yields blocks of texts, each text split at its point, with the column of the first."""
    exponents = forced.tolist()
    for column, items in _by_column(kind, values):
        texts = (number_text(item, DIGITS, exponent=exponents[at % len(exponents)]) for at, item in enumerate(items, column))
        yield column, [split_at_point(text) for text in texts]


def _blank_lines(row: int, shape: tuple[int, ...]) -> str:
    """The blank lines before a row: one for each enclosing axis that moves on."""
    return "\n" * sum(1 for axis in range(len(shape) - 2) if row and row % math.prod(shape[axis + 1 : -1]) == 0)


# ---------------------------------------------------------------------------------------------------- formats

WRITABLE: Final = tuple(".zarr.zip" if suffix == ".zarr" else suffix for suffix in suffixes(lambda format: format.writes))


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """A file to be written: the function that fills it, and the program's line that names it."""

    path: str
    fill: Callable[[BinaryIO], object]
    span: Span
    written: FileReplacement | None = None
    """The temporary file next to the target, if the run has already written it."""


def write_values(path: str, values: Any, kind: Kind, span: Span) -> None:
    """Writes an `Array` or a NumPy array of the kind (text: dtype U1) to `path`, in the format of its suffix."""
    write_together([prepare_values(path, values, kind, span)])


def prepare_values(
    path: str, values: Any, kind: Kind, span: Span, *, shown: str | None = None, name: str = "values",
    reading: ColumnFormat = AS_WRITTEN,
) -> PendingWrite:  # fmt: skip
    """Prepares the write of one output.  Refuses at once all values that the format cannot contain, so that several outputs are
    refused together.

    `shown`: the output's name in messages if it is no file (`path` then only determines the format); `name`: the header of a
    text."""
    from . import npy, parquet

    with located(shown or path, span):
        if isinstance(values, RowSink):
            return PendingWrite(path, lambda file: None, span, values.written)
        suffix, column = _suffix(path), _column(path, name, values, kind, reading)
        if suffix == ".npy" and column.form is not CellFormat.ITEM:
            return PendingWrite(path, lambda file: npy.write(file, column.values, column.kind, column.form), span)
        if BY_SUFFIX[suffix].table and suffix not in csv.DELIMITERS:
            return PendingWrite(path, _table_writer(path, parquet.columns_of(column)), span)
        if suffix in csv.DELIMITERS and column.form is not CellFormat.ITEM:
            csv.require_table(column.kind, column.values.shape)
            return PendingWrite(path, _table_writer(path, csv.columns_of(column)), span)
        if suffix in csv.DELIMITERS and column.kind is Kind.CHAR and column.values.ndim == 2:
            return PendingWrite(path, _table_writer(path, [column]), span)
        if suffix == ".json":
            return PendingWrite(path, _json_writer(column), span)
        return PendingWrite(path, _writer(path, column.values, column.kind), span)


Output: TypeAlias = tuple[str, Any, Kind, ColumnFormat]
"""The name of an output, its value, and how it is written."""


def prepare_table(
    path: str, outputs: Sequence[Output], span: Span, *, shown: str | None = None, headers: Mapping[str, Output] | None = None
) -> PendingWrite:  # fmt: skip
    """Prepares the write of several outputs to one table: a vector is a column under its name, a matrix one column for each of
    its own.

    `headers`: by the name of a matrix, the output that names its columns."""
    with located(shown or path, span):
        if not BY_SUFFIX[_suffix(path)].table:
            every = " ".join(suffixes(lambda format: format.table))
            raise FileTrouble(Code.E708, "cannot hold several outputs", f"files that are tables: {every}")
        columns: list[CsvColumn] = []
        for output in outputs:
            columns += _columns_of(_column(path, *output), None if headers is None else headers.get(output[0]))
        repeated = [name for name, count in Counter(column.name for column in columns).items() if count > 1]
        if repeated:
            raise FileTrouble(Code.E708, f"cannot have two columns named `{repeated[0]}`")
        return PendingWrite(path, _table_writer(path, columns), span)


def arrow_table_of(outputs: Sequence[Output]) -> Any:
    """Outputs as a pyarrow table, each a column under its name.  Raises FileTrouble E708, or ImportError without pyarrow."""
    from .parquet import arrow_table

    return arrow_table([column for output in outputs for column in _columns_of(_column("x.arrow", *output), None)])


def _columns_of(column: CsvColumn, header: Output | None) -> list[CsvColumn]:
    """The columns of a matrix, named by a header or numbered; any other value as its only column.  Raises E708."""
    if column.kind is Kind.CHAR or column.values.ndim != 2:
        if header is not None:
            shape = " ".join(map(str, column.values.shape))
            message = f"has columns named by `{header[0]}`, but `{column.name}` is no matrix (its shape is [{shape}])"
            raise FileTrouble(Code.E708, message)
        return [column]
    count = column.values.shape[1]
    names = [f"{column.name}{at}" for at in range(count)] if header is None else names_of(header)
    if len(names) != count:
        message = f"has {len(names)} names in `{header and header[0]}` for the {count} columns of `{column.name}`"
        raise FileTrouble(Code.E708, message)
    return [replace(column, name=name, values=column.values[:, at]) for at, name in enumerate(names)]


def names_of(header: Output) -> list[str]:
    """The names of columns that an output has, rows of text or a vector.  Raises E708."""
    column = _column("x.csv", *header)
    if column.kind is Kind.CHAR and column.values.ndim == 2:
        return [characters_of(row).rstrip(" ") for row in column.values]
    if column.form is not CellFormat.ITEM:
        return texts_of(column.values, header[3])
    if column.values.ndim != 1:
        raise FileTrouble(Code.E708, f"cannot have columns named by `{header[0]}`: names are rows of text, or a vector")
    return [number_text(item, DIGITS) for item in column.values.tolist()]


def _column(path: str, name: str, values: Any, kind: Kind, reading: ColumnFormat) -> CsvColumn:
    """The column of an output.  Where the format has no dates, times and differences, points and what a text file has are text,
    and differences are numbers."""
    array, suffix = to_numpy(values) if isinstance(values, Array) else values, _suffix(path)
    require_dated(array, reading)
    if reading.form is CellFormat.ITEM or BY_SUFFIX[suffix].cells or (suffix == ".npy" and not reading.pattern):
        return CsvColumn(name, array, kind, reading.form, reading.pattern)
    if reading.form.is_difference and suffix != ".txt":
        return CsvColumn(name, array, kind)
    characters = padded_texts(texts_of(array, reading))
    return CsvColumn(name, characters.reshape(*array.shape, characters.shape[1]), Kind.CHAR)


def _table_writer(path: str, columns: Sequence[CsvColumn]) -> Callable[[BinaryIO], None]:
    from . import parquet

    suffix = _suffix(path)
    for column in columns:
        if column.kind is Kind.CHAR:
            require_utf8(column.values, table=suffix in csv.DELIMITERS)
    if suffix in DATED_TABLES:
        parquet.require_table(columns)
        for column in columns:
            parquet.require_written(column)
        return lambda file: parquet.write_table(file, columns, ipc=suffix != ".parquet")
    if suffix not in csv.DELIMITERS:
        from .columns import json_lines, require_json_lines

        require_json_lines(columns)
        return lambda file: _write_texts(file, json_lines(columns))
    csv.require_columns(columns)
    return lambda file: _write_texts(file, csv.column_texts(csv.DELIMITERS[suffix], columns))


def write_together(prepared: Sequence[PendingWrite]) -> None:
    """Replaces all of the files or none of them (`lang.support.files`).  Raises RunFailed E708."""
    by_target = {os.path.realpath(one.path): one for one in prepared}
    with FileReplacement() as files:
        for one in prepared:
            if one.written is not None:
                files.merge(one.written)
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
    """Raises E708, before anything runs, if the suffix is unknown, the folder is missing, or the path is a folder."""
    from . import zarr

    with located(path, span):
        suffix = _suffix(path)
        require_package(BY_SUFFIX[suffix], writes=True)
        if suffix == ".zarr":
            zarr.require_writable(path, Kind.F64)
        target = os.path.realpath(path)
        if not os.path.isdir(os.path.dirname(target)):
            raise FileTrouble(Code.E708, "cannot be written: its folder does not exist")
        if os.path.isdir(target):
            raise FileTrouble(Code.E708, "cannot be written: it is a folder")


def _suffix(path: str) -> str:
    suffix = suffix_of(path)
    if "\0" in path:
        raise FileTrouble(Code.E708, "is not a path")
    if path.lower().endswith(COMPRESSED):
        raise FileTrouble(Code.E708, "is not written compressed", "write the file without that suffix, then compress it")
    if suffix not in WRITABLE and suffix != ".zarr":
        raise FileTrouble(
            Code.E708, f"has the suffix {suffix!r}, which is not a known format" if suffix else "has no suffix",
            "files that can be written: " + " ".join(WRITABLE),
        )  # fmt: skip
    return suffix


def _writer(path: str, values: Any, kind: Kind) -> Callable[[BinaryIO], None]:
    """The function that writes the file block by block; refuses, before any file exists, all values that can be refused early."""
    from . import npy, png, zarr

    suffix = _suffix(path)
    array = to_numpy(values) if isinstance(values, Array) else values
    if kind is Kind.CHAR and suffix == ".txt":
        require_utf8(array)
        require_lines(array)
    match suffix:
        case ".npy":
            npy.require_writable(array)
            return lambda file: npy.write(file, array, kind)
        case ".zarr":
            zarr.require_writable(path, kind)
            return lambda file: zarr.write(file, array, kind)
        case ".png":
            pixels = png.pixels(array, kind)
            return lambda file: png.write(file, array.shape, pixels.depth, pixels.band)
        case ".txt":
            return lambda file: _write_texts(file, texts_of_lines(kind, array))
        case _:
            csv.require_table(kind, array.shape)
            return lambda file: _write_texts(file, csv.texts(csv.DELIMITERS[suffix], kind, array))


def _json_writer(column: CsvColumn) -> Callable[[BinaryIO], None]:
    if column.kind is Kind.CHAR:
        require_utf8(column.values)
    reading = ColumnFormat(column.form, column.pattern)
    return lambda file: _write_texts(file, texts(column.kind, column.values, reading))


def _write_texts(file: BinaryIO, texts: Iterator[str]) -> None:
    for text in texts:
        file.write(text.encode("utf-8"))


# -------------------------------------------------------------------------- errors of the system


@contextmanager
def system_trouble() -> Iterator[None]:
    """Turns errors of the operating system during a write into E708."""
    try:
        yield
    except FileNotFoundError as error:
        is_there = os.path.isdir(os.path.dirname(os.path.abspath(error.filename or "")))
        why = "the temporary file beside it was removed meanwhile" if error.filename and is_there else "its folder does not exist"
        raise FileTrouble(Code.E708, f"cannot be written: {why}") from None
    except PermissionError:
        raise FileTrouble(Code.E708, "cannot be written: permission denied") from None
    except NotADirectoryError:
        raise FileTrouble(Code.E708, "cannot be written: its folder is a file") from None
    except OSError as error:
        raise FileTrouble(Code.E708, f"cannot be written: {error.strerror or error}") from None
    except MemoryError:
        raise FileTrouble(Code.E708, "cannot be written: memory ran out") from None


# ---------------------------------------------------------------------------------------------------- sinks of streamed outputs
#
# The sink of each format that can be written slab by slab.

def sink_type(path: str, kind: Kind, reading: ColumnFormat) -> type[RowSink] | None:
    """The sink type for an output to a file of this name; None if its format needs the full value."""
    from .npy import NpySink
    from .parquet import ParquetSink
    from .zarr import ZarrSink

    suffix = suffix_of(path)
    if suffix == ".npy":
        return None if reading.pattern else NpySink
    if kind is Kind.CHAR:
        return None
    if suffix in DATED_TABLES:
        return None if reading.pattern else ParquetSink
    if suffix == ".zarr":
        return None if reading.form.is_point else ZarrSink
    if suffix in JSON_LINES:
        from .columns import JsonLinesSink

        return JsonLinesSink
    return TextSink if suffix in csv.DELIMITERS else None


def endings_in_order(kind: Kind, rank: int) -> tuple[str, ...]:
    """The suffixes of formats that accept numeric rows in order; tables accept values of one or two axes."""
    if kind is Kind.CHAR:
        return ()
    tables = () if rank > 2 else tuple(csv.DELIMITERS) if kind.is_complex else suffixes(lambda format: format.table)
    return (*tables, ".zarr.zip")
