"""Loads the inputs of a program: their files, permissions and shapes first, then their data.

Paths in a program are relative to the program's folder, paths on the command line to the working folder.  Only headers are read
before sizes are bound.  `backend.io` reads the formats.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final, TextIO

from ...backend.io.byte_source import Content
from ...backend.io.cells import DATE_PATTERNS, MISSING, SEPARATORS, CellError, item_of, number_of, separator_clause
from ...backend.io.csv import Table, may_be_years
from ...backend.io.reading import InputSpec, check_declared, read_shape, read_values, reading_bytes, split_member
from ...lang.diagnostics.model import Code, Diagnostic, Refused, RhoError, RunFailed
from ...lang.support.bounded_parsing import file_of, is_file_url, is_url, url_error
from ...lang.support.files import Pipes, TooLarge, is_pipe, read_bytes
from ...lang.support.records import dataclass, replace
from ...lang.syntax.lexer import NAME, RESERVED
from ...lang.tree.program import CellFormat, ColumnFormat
from ...typechecker.core.blocks import Core, CoreInput
from ...typechecker.elements import Kind
from ..console.standard_streams import read_standard_input, stream_of
from . import stored_plans
from .params import Permissions


@dataclass(frozen=True, slots=True)
class InputFile:
    """One input and its file: `path` as opened, `stored` the shape in its header, and `shape` after `common_widths`."""

    entry: CoreInput
    path: str
    wanted: InputSpec
    stored: tuple[int, ...]
    shape: tuple[int, ...]
    working_memory: int = 0
    """Bytes that reading takes in addition to the array."""

    @property
    def shown(self) -> str:
        """The path as the program or the option writes it."""
        return self.wanted.shown or self.path


def find_inputs(
    core: Core, given: Mapping[str, str], folder: str, permissions: Permissions, limit: int | None = None,
    standard_input: TextIO | None = None,
) -> dict[str, InputFile]:  # fmt: skip
    """The file of every input, with its shape, by name.  `given`: paths that override those in the program.

    Pipes and standard input are read here, at most `limit` bytes.  Refused, RunFailed: one error with the diagnostics of all
    inputs that fail."""
    files: dict[str, InputFile] = {}
    failures: list[RhoError] = []
    tables: dict[tuple[str, str], Any] = {}
    pipes: dict[str, bytes] = {}
    for entry in core.data:
        shown = given.get(entry.name) or entry.path or ""
        path = shown if entry.name in given or is_url(shown) else os.path.join(folder, shown)
        type = core.types[entry.value]
        stream = stream_of(shown) if entry.name in given else None
        try:
            held = None
            if is_url(path):
                path = _known_url(path, entry)
            if stream is not None:
                if "-" not in pipes:
                    pipes["-"] = _read_pipe(lambda most: read_standard_input(standard_input, most), shown, limit, entry)
                held = pipes["-"]
                path = stream.named(held)
            elif not permissions.may_read(split_member(path)[0]):
                raise Refused([permissions.refusal(shown, entry.span)])
            elif entry.name in given and is_pipe(file := split_member(path)[0]):
                if file not in pipes:
                    pipes[file] = _read_pipe(partial(read_bytes, file, pipes=Pipes.READ), shown, limit, entry)
                held = pipes[file]
            wanted = InputSpec(type.element.kind, type.rank, entry.span, entry.reading, shown, held, tables)
            shape = read_shape(path, wanted)
            reading_memory = reading_bytes(path, type.element.kind, shape, entry.span, held=held)
        except RhoError as error:
            failures.append(error)
            continue
        files[entry.name] = InputFile(entry, path, wanted, shape, shape, reading_memory)
    if failures:
        raise _merged_failure(failures)
    shapes = common_widths(core, {name: file.shape for name, file in files.items()})
    return {name: replace(file, shape=shapes[name]) for name, file in files.items()}


def header_doubts(files: Mapping[str, InputFile]) -> list[str]:
    """A line for each table whose first record may be a header although it is read as data."""
    shown = {split_member(file.path)[0]: split_member(file.shown)[0] for file in files.values()}
    tables = {key: table for file in files.values() for key, table in file.wanted.tables.items()}
    return [f"`{shown[path]}` {table.doubt}" for (path, _), table in tables.items() if path in shown and table.doubt]


def common_widths(core: Core, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """The shapes, with text inputs that share a size variable for their width made as wide as the widest of them."""
    texts = {}
    for entry in core.inputs:
        declared = core.types[entry.value]
        if declared.element.kind is Kind.CHAR and declared.rank == 2 and len(shapes.get(entry.name, ())) == 2:
            texts[entry.name] = declared.shape[1]
    widest = {width: max(shapes[name][1] for name, of in texts.items() if of == width) for width in texts.values()}
    return {name: (shape[0], widest[texts[name]]) if name in texts else shape for name, shape in shapes.items()}


def pad_text_rows(values: Any, shape: tuple[int, ...]) -> Any:
    """Rows of text padded with blanks to a shape; other values as they are."""
    if values.dtype.kind != "U" or values.ndim != 2 or values.shape == shape:
        return values
    import numpy

    room = numpy.full((len(values), shape[1]), " ", "U1")
    room[:, : values.shape[1]] = values
    return room


def _known_url(url: str, entry: CoreInput) -> str:
    """The URL, or the path of a `file:` URL.  RunFailed: not a valid URL."""
    trouble = url_error(url)
    if trouble is not None:
        raise RunFailed([Diagnostic(Code.E704, f"`{url}` {trouble}", entry.span)])
    return file_of(url) if is_file_url(url) else url


def _read_pipe(read: Callable[[int], bytes], shown: str, limit: int | None, entry: CoreInput) -> bytes:
    """All bytes of a pipe, at most `limit` or the memory there is.  Refused, RunFailed."""
    most = limit or stored_plans.memory() or sys.maxsize
    try:
        return read(most)
    except TooLarge:
        message = f"`{shown}` has more than the {most:,} bytes of memory there are"
        raise Refused([Diagnostic(Code.E702, message, entry.span)]) from None
    except OSError as error:
        raise RunFailed([Diagnostic(Code.E704, f"`{shown}` cannot be read: {error.strerror or error}", entry.span)]) from None


def _merged_failure(failures: list[RhoError]) -> RhoError:
    """One error of the first failure's class with all diagnostics; a fault of a table is reported for one of its columns."""
    diagnostics: dict[tuple[str, str, str], Diagnostic] = {}
    for diagnostic in [one for failure in failures for one in failure.diagnostics]:
        name, _, trouble = diagnostic.message.partition("` ")
        diagnostics.setdefault((diagnostic.code, split_member(name)[0], trouble), diagnostic)
    return type(failures[0])(list(diagnostics.values()))


def read_inputs(
    core: Core, files: Mapping[str, InputFile], sizes: Mapping[Any, int], without: Collection[str] = ()
) -> dict[str, Any]:  # fmt: skip
    """By name, the data as NumPy arrays, except for the inputs `without`; declared ranges are checked.  Raises RunFailed."""
    values: dict[str, Any] = {}
    for name, file in files.items():
        if name in without:
            continue
        declared = core.types[file.entry.value]
        values[name] = pad_text_rows(read_values(file.path, file.wanted, file.stored), file.shape)
        check_declared(values[name], declared, sizes, file.shown, file.entry.span)
    return values


# ---------------------------------------------------------------------------------------------------- inferring columns
#
# `rho init --from`: infers the types of a table's columns and writes the `input` lines of a program that reads it.
#
# Every record is examined, so that the program can read the file.  A column is bool (`true`, `false`), i64, dates or times (ISO
# 8601 or one of some patterns), f64, else text.  Whole numbers with missing cells become f64, where NaN stands for a missing
# one.

_SAMPLE_BYTES: Final = 1 << 16


def infer_input_lines(path: str, shown: str) -> tuple[list[str], int]:
    """An `input` line for each column, and the number of records.  `shown`: the path to write.  FileTrouble: not a table."""
    separator = _infer_separator(path)
    table = Table(Content(path), separator)
    first, columns, headed = table.texts()
    second = [cells[1] for cells in columns if len(cells) > 1]
    headed = headed or (may_be_years(first) and not may_be_years(second))
    usual = "\t" if path.lower().endswith(".tsv") else ","
    clause = "" if separator == usual else f" {separator_clause(separator)}"
    lines, taken = [], set(RESERVED) | {"n"}
    for at, cells in enumerate(columns):
        body = cells[1:] if headed else cells
        name = _column_name(first[at] if headed else "", at, taken)
        member = first[at] if headed and first.count(first[at]) == 1 and first[at] else f"#{at + 1}"
        type, clauses = _infer_column([cell.strip() for cell in body], name, separator)
        lines.append(f'input {name} : {type} ← "{shown}:{member.replace(chr(34), chr(34) * 2)}"{clauses}{clause}')
    return lines, len(columns[0]) - headed if columns else 0


def _infer_separator(path: str) -> str:
    """The separator that is most frequent in the first line and equally frequent in the next ones."""
    with Content(path).open() as file:
        lines = file.read(_SAMPLE_BYTES).decode("utf-8", "replace").splitlines()[:20]
    counts = {sign: [line.count(sign) for line in lines if line.strip()] for sign in SEPARATORS}
    even = [sign for sign, per_line in counts.items() if per_line and per_line[0] and min(per_line) == max(per_line)]
    some = even or [sign for sign, per_line in counts.items() if per_line and per_line[0]] or [","]
    return max(some, key=lambda sign: counts[sign][0] if counts[sign] else 0)


def _column_name(header: str, at: int, taken: set[str]) -> str:
    name = re.sub(r"\W+", "_", header.strip()).strip("_")
    if re.fullmatch(NAME, name) is None:
        name = f"c{at + 1}" if not name else f"c_{name}"
    base, count = name, 2
    while name in taken:
        name, count = f"{base}_{count}", count + 1
    taken.add(name)
    return name


def _infer_column(cells: Sequence[str], name: str, separator: str) -> tuple[str, str]:
    """The type of a column and the clauses that it needs (`as date`, `missing 0`, `decimal ","`)."""
    filled = [cell for cell in cells if cell not in MISSING]
    lacks = len(filled) < len(cells)
    integral = _all_are(filled, Kind.I64)
    if integral and not lacks:
        return "i64[n]", ""
    if not lacks and filled and all(cell.lower() in ("true", "false") for cell in filled):
        return "bool[n]", ""
    for form in (CellFormat.DATE, CellFormat.TIME):
        if _all_read_as(filled, ColumnFormat(form)):
            return "i64[n]", f" as {form.name.lower()}" + " missing 0" * lacks
    if not integral:
        for pattern in DATE_PATTERNS:
            if _all_read_as(filled, ColumnFormat(CellFormat.DATE, pattern)):
                return "i64[n]", f' as "{pattern}"' + " missing 0" * lacks
    missing = " missing ⎕nan" * lacks
    if filled and _all_are(filled, Kind.F64):
        return "f64[n]", missing
    commas = separator != "," and not any("." in cell for cell in filled)
    if commas and _all_are([cell.replace(",", ".") for cell in filled], Kind.F64):
        return "f64[n]", f'{missing} decimal ","'
    return f"char[n {name}_w]", ' missing ""' * lacks


def _all_are(cells: Sequence[str], kind: Kind) -> bool:
    try:
        return bool(cells) and all(item_of(cell, kind) is not None for cell in cells)
    except CellError:
        return False


def _all_read_as(cells: Sequence[str], reading: ColumnFormat) -> bool:
    try:
        return bool(cells) and all(number_of(cell, reading) is not None for cell in dict.fromkeys(cells))
    except CellError:
        return False


def starter_program(path: str, folder: str) -> str:
    """The text of a program with the table's columns as inputs; its paths are relative to `folder`."""
    lines, count = infer_input_lines(path, os.path.relpath(path, folder or "."))
    return "\n".join([f"⍝ {os.path.basename(path)}: {count} rows", *lines, ""])
