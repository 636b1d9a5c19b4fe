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

from ...backend.io.cells import (
    DATE_PATTERNS,
    MISSING,
    SEPARATORS,
    CellError,
    Column,
    all_read,
    number_clauses,
    number_of,
    separator_clause,
)
from ...backend.io.csv import DELIMITERS, Table, may_be_years
from ...backend.io.formats import BY_SUFFIX, require_package, split_member
from ...backend.io.reading import (
    InputSpec,
    check_declared,
    content_of,
    format_of,
    read_shape,
    read_values,
    reading_bytes,
)
from ...backend.io.sources_and_sinks import Content, suffix_of
from ...backend.vm.values import kind_of_dtype
from ...lang.diagnostics.model import Code, Diagnostic, Refused, RhoError, RunFailed
from ...lang.support.bounded_parsing import file_of, is_file_url, is_url, url_error
from ...lang.support.files import Pipes, TooLarge, is_pipe, read_bytes
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import NAME, RESERVED
from ...lang.tree.program import AS_WRITTEN, CellFormat, ColumnFormat, has_time
from ...typechecker.core.operations import Core, CoreInput
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
    """The bytes that reading takes in addition to the array."""

    @property
    def shown(self) -> str:
        """The path as the program or the option writes it."""
        return self.wanted.shown or self.path


def find_inputs(
    core: Core, given: Mapping[str, str], folder: str, permissions: Permissions, limit: int | None = None,
    standard_input: TextIO | None = None,
) -> dict[str, InputFile]:  # fmt: skip
    """The file of every input, with its shape, by name; `given` has paths that override those in the program.

    Pipes and standard input are read here, at most `limit` bytes.  Refused, RunFailed: one error with the diagnostics of all
    inputs that fail.
    """
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
    """The shapes, where text inputs with one size variable as their width have the greatest of their widths."""
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
    """All bytes of a pipe, at most `limit` or the memory of this machine.  Raises Refused or RunFailed."""
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
# `rho init --from`: infers the types of a file's columns, or of its arrays, and writes the `input` lines of a program that reads
# it.
#
# Every record is examined, so that the program can read the file.  A column of text is bool (`true`, `false`), i64, dates or
# times (ISO 8601 or one of some patterns), f64, else text.  Whole numbers with missing cells become f64, where NaN stands for a
# missing one.  A remark says why a column is text, and what else would read it.

_SAMPLE_BYTES: Final = 1 << 16
_KINDS: Final = (Kind.BOOL, Kind.U8, Kind.I32, Kind.I64, Kind.F32, Kind.F64, Kind.C64, Kind.C128, Kind.CHAR)
_AXES: Final = "nmklhij"
_LONGEST_REMARK: Final = 30
_SAMPLE: Final = 1_000
"""The number of cells by which the type of most cells is judged."""


@dataclass(frozen=True, slots=True)
class _Inferred:
    """The type of an input, its clauses, and a remark for people."""

    type: str
    clauses: str = ""
    remark: str = ""


def starter_program(path: str, folder: str) -> str:
    """The text of a program with the file's columns or arrays as inputs, by paths relative to `folder`.  Raises FileTrouble."""
    shown, name = os.path.relpath(path, folder or "."), os.path.basename(path)
    content, suffix = content_of(path, None)
    require_package(BY_SUFFIX[suffix])
    if suffix in DELIMITERS:
        lines, count = infer_input_lines(path, shown)
    elif BY_SUFFIX[suffix].cells:
        lines, count = _typed_lines(content, suffix, shown)
    else:
        lines, count = _array_lines(content, suffix, shown), None
    return "\n".join([f"⍝ {name}" + (f": {count} rows" if count is not None else ""), *lines, ""])


def infer_input_lines(path: str, shown: str) -> tuple[list[str], int]:
    """An `input` line for each column of a text table, and the number of records; `shown` is the path to write.

    FileTrouble: it is not a table.
    """
    separator = _infer_separator(path)
    table = Table(Content(path), separator)
    first, columns, headed, numbers = table.texts()
    second = [cells[1] for cells in columns if len(cells) > 1]
    headed = headed or (may_be_years(first) and not may_be_years(second))
    usual = DELIMITERS[suffix_of(path)]
    clause = "" if separator == usual else f" {separator_clause(separator)}"
    lines, taken = [], set(RESERVED) | {"n"}
    for at, cells in enumerate(columns):
        body = cells[1:] if headed else cells
        name = _column_name(first[at] if headed else "", at, taken)
        member = first[at] if headed and first.count(first[at]) == 1 and first[at] else f"#{at + 1}"
        where = [f"line {line}" for line in numbers[headed:]]
        inferred = _infer_column([cell.strip() for cell in body], name, separator, where)
        lines.append(_input_line(name, f"{shown}:{member}", replace(inferred, clauses=inferred.clauses + clause)))
    return lines, len(columns[0]) - headed if columns else 0


def _input_line(name: str, path: str, inferred: _Inferred) -> str:
    quoted, remark = path.replace(chr(34), chr(34) * 2), f"  ⍝ {inferred.remark}" if inferred.remark else ""
    return f'input {name} : {inferred.type} ← "{quoted}"{inferred.clauses}{remark}'


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


def _infer_column(cells: Sequence[str], name: str, separator: str, where: Sequence[str]) -> _Inferred:
    """The type and clauses that read the cells of a column; `where` has the position of each cell, for remarks."""
    filled = [cell for cell in cells if cell not in MISSING]
    lacks = len(filled) < len(cells)
    integral = all_read(filled, Kind.I64)
    if integral and not lacks:
        return _Inferred("i64[n]", remark=_grouping_remark(filled, separator))
    if not lacks and filled and all(cell.lower() in ("true", "false") for cell in filled):
        return _Inferred("bool[n]")
    if dated := _infer_dates(filled, lacks, patterns=() if integral else DATE_PATTERNS):
        return dated
    missing = " missing ⎕nan" * lacks
    if all_read(filled, Kind.F64):
        return _Inferred("f64[n]", missing, _grouping_remark(filled, separator))
    numbers = sorted(number_clauses(filled, Kind.F64), key=lambda clause: separator == ";" and clause == 'group ","')
    whole_numbers = [] if lacks or numbers[:1] == ['decimal ","'] else number_clauses(filled, Kind.I64)
    for type, clauses in (("i64[n]", whole_numbers), ("f64[n]", numbers)):
        if clauses:
            others = [clause for clause in numbers if clause != clauses[0]]
            return _Inferred(type, f"{missing} {clauses[0]}", f"or {others[0]}: both fit" if others else "")
    return _Inferred(f"char[n {name}_w]", ' missing ""' * lacks, _text_remark(cells, where))


def _infer_dates(filled: Sequence[str], lacks: bool, patterns: Sequence[str]) -> _Inferred | None:
    """The type and clauses that read cells as dates or times; a remark names another pattern that fits."""
    missing = " missing ⎕nat" * lacks
    for form in (CellFormat.DATE, CellFormat.TIME):
        if _all_read_as(filled, ColumnFormat(form)):
            return _Inferred(f"{form.name.lower()}[n]", missing)
    fitting = [pattern for pattern in patterns if _all_read_as(filled, ColumnFormat(CellFormat.DATE, pattern))]
    if not fitting:
        return None
    remark = f"or {fitting[1]}: both fit" if len(fitting) > 1 else ""
    return _Inferred("time[n]" if has_time(fitting[0]) else "date[n]", f' as "{fitting[0]}"{missing}', remark)


def _grouping_remark(filled: Sequence[str], separator: str) -> str:
    """A remark on numbers whose points may group digits, if cells are separated by semicolons."""
    is_ambiguous = separator == ";" and all(re.fullmatch(r"[-+]?[1-9][0-9]{0,2}(\.[0-9]{3})+", cell) for cell in filled)
    return 'or group "." decimal ",": both fit' if is_ambiguous else ""


def _text_remark(cells: Sequence[str], where: Sequence[str]) -> str:
    """The cell because of which a column is text: the first that is not a number if most are, else not a date if most are, else
    the first."""
    filled = [at for at, cell in enumerate(cells) if cell not in MISSING]
    if not filled:
        return "text: no cell is filled"
    sample, odd = filled[:_SAMPLE], filled[0]
    readings = [ColumnFormat(), *[ColumnFormat(CellFormat.DATE, pattern) for pattern in ("", *DATE_PATTERNS)]]
    for reading in readings:
        if 2 * sum(_is_read(cells[at], reading) for at in sample) > len(sample):
            odd = next((at for at in filled if not _is_read(cells[at], reading)), odd)
            break
    shown = cells[odd][:_LONGEST_REMARK].replace("\n", " ").replace("\r", " ")
    return f"text: {where[odd]} “{shown}{'…' if len(cells[odd]) > _LONGEST_REMARK else ''}”"


def _is_read(cell: str, reading: ColumnFormat) -> bool:
    return all_read([cell], Kind.F64) if reading.form is CellFormat.ITEM else _all_read_as([cell], reading)


def _all_read_as(cells: Sequence[str], reading: ColumnFormat) -> bool:
    try:
        return bool(cells) and all(number_of(cell, reading) is not None for cell in dict.fromkeys(cells))
    except CellError:
        return False


# ---------------------------------------------------------------------------------------------------- inferring typed files

def _typed_lines(content: Content, suffix: str, shown: str) -> tuple[list[str], int]:
    """An `input` line for each column of a table whose columns have types, and the number of rows."""
    from ...backend.io.formats import FileTrouble

    if suffix == ".parquet":
        from ...backend.io import parquet

        readers = parquet.columns(content)
    else:
        from ...backend.io.columns import ColumnTable

        columns = ColumnTable(content, suffix).columns
        if "" in columns:
            array = columns[""].values
            kind = kind_of_dtype(array.dtype)
            return [f'input x : {kind.value if kind else "f64"}[{" ".join(_AXES[: array.ndim])}] ← "{shown}"'], len(array)
        readers = {name: partial(columns.__getitem__, name) for name in columns}
    lines, taken, rows, sizes = list[str](), set(RESERVED) | {"n"}, 0, dict[str, str]()
    for at, (member, reader) in enumerate(readers.items()):
        table = re.split(r"[.!]", member)[0] if BY_SUFFIX[suffix].tables and re.search("[.!]", member) else ""
        size = sizes.get(table)
        if size is None:
            size = sizes[table] = _column_name(f"{table}_n", at, taken) if sizes else "n"
        try:
            column = reader()
        except FileTrouble as trouble:
            lines.append(f"⍝ column {member}: it {trouble.message}")
            continue
        rows = max(rows, len(column.present))
        name = _column_name(member, at, taken)
        inferred = _infer_typed(column, name)
        lines.append(_input_line(name, f"{shown}:{member}", replace(inferred, type=inferred.type.replace("[n", f"[{size}", 1))))
    return lines, rows


def _infer_typed(column: Any, name: str) -> _Inferred:
    lacks = bool(column.missing)
    if column.form is not CellFormat.ITEM:
        return _Inferred(f"{column.form.name.lower()}[n]", " missing ⎕nat" * lacks)
    if column.values.dtype.kind == "U":
        rows = zip(column.values.tolist(), column.present, strict=True)
        texts = ["".join(row).rstrip(" ") if is_present else "" for row, is_present in rows]
        filled = [text for text, is_present in zip(texts, column.present, strict=True) if is_present]
        dated = _infer_dates(filled, lacks, DATE_PATTERNS)
        where = [f"row {row + 1}" for row in range(len(texts))]
        return dated or _Inferred(f"char[n {name}_w]", ' missing ""' * lacks, _text_remark(texts, where))
    if column.values.dtype.kind == "b":
        return _Inferred("bool[n]", " missing 0" * lacks)
    if column.values.dtype.kind in "iu" and not lacks:
        return _Inferred("i64[n]")
    return _Inferred("f64[n]", " missing ⎕nan" * lacks)


def _array_lines(content: Content, suffix: str, shown: str) -> list[str]:
    """An `input` line for each array of a file."""
    from ...backend.io.formats import FileTrouble

    members = [""]
    if suffix == ".npz":
        from ...backend.io.sources_and_sinks import opened

        with opened(content, "is not an npz file") as archive:
            members = [name.removesuffix(".npy") for name in archive.namelist()]
    elif BY_SUFFIX[suffix].module == "hdf5":
        from ...backend.io import hdf5

        members = [*hdf5.datasets(content)]
    codec = format_of(suffix)
    assert codec is not None, "a format of arrays"
    lines, taken = [], {*RESERVED, *(_AXES if len(members) == 1 else ())}
    for at, member in enumerate(members):
        name = _column_name(member.rpartition("/")[2] or "x", at, taken)
        trouble: FileTrouble | None = None
        for kind in _KINDS:
            try:
                shape = codec.header(content, Column(member, kind, 2 if kind is Kind.CHAR else 1, AS_WRITTEN))
                break
            except FileTrouble as error:
                trouble = error if trouble is None or error.code is Code.E704 else trouble  # the file cannot be read at all
        else:
            assert trouble is not None
            if len(members) == 1:
                raise trouble
            lines.append(f"⍝ {member}: it {trouble.message}")
            continue
        axes = _AXES[: len(shape)] if len(members) == 1 else [f"{name}_{axis}" for axis in _AXES[: len(shape)]]
        sizes = "×".join(map(str, shape))
        path = f"{shown}:{member}" if member else shown
        lines.append(_input_line(name, path, _Inferred(f"{kind.value}[{' '.join(axes)}]" if shape else kind.value, remark=sizes)))
    return lines
