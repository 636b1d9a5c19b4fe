"""What the columns of a table seem to be: the `input` lines of a program that reads it.

Every record is looked at, so that what is written reads the file.  A column is bool (`true`, `false`), i64, dates or times (ISO
8601 or one of some patterns), f64, else text.  Whole numbers with missing cells become f64, where NaN stands for them.

Neighbours: `backend.run.files.columns` (reads the records), `verbs.init`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Final

from ...backend.run.files.advice import DATE_PATTERNS, SEPARATORS, separator_clause
from ...backend.run.files.cells import Unsuitable, item_of
from ...backend.run.files.columns import Table
from ...backend.run.files.content import Content
from ...backend.run.files.conversions import MISSING
from ...backend.run.files.dates import number_of
from ...backend.run.files.headers import may_be_years
from ...lang.lexer import NAME
from ...lang.reading_clauses import Form, Reading
from ...lang.vocabulary import RESERVED
from ...typechecker.elements import Kind

_LOOKED_AT: Final = 1 << 16


def input_lines(path: str, shown: str) -> tuple[list[str], int]:
    """A line for each column, and how many records there are.  FileTrouble: it is not a table."""
    separator = _separator(path)
    table = Table(Content(path), separator)
    first, columns, headed = table.texts()
    second = [cells[1] for cells in columns if len(cells) > 1]
    headed = headed or (may_be_years(first) and not may_be_years(second))
    usual = "\t" if path.lower().endswith(".tsv") else ","
    clause = "" if separator == usual else f" {separator_clause(separator)}"
    lines, taken = [], set(RESERVED) | {"n"}
    for at, cells in enumerate(columns):
        body = cells[1:] if headed else cells
        name = _name(first[at] if headed else "", at, taken)
        member = first[at] if headed and first.count(first[at]) == 1 and first[at] else f"#{at + 1}"
        type, clauses = _declared([cell.strip() for cell in body], name, separator)
        lines.append(f'input {name} : {type} ← "{shown}:{member.replace(chr(34), chr(34) * 2)}"{clauses}{clause}')
    return lines, len(columns[0]) - headed if columns else 0


def _separator(path: str) -> str:
    """The sign that stands most often in the first line and equally often in the next ones."""
    with Content(path).open() as file:
        lines = file.read(_LOOKED_AT).decode("utf-8", "replace").splitlines()[:20]
    counts = {sign: [line.count(sign) for line in lines if line.strip()] for sign in SEPARATORS}
    even = [sign for sign, found in counts.items() if found and found[0] and min(found) == max(found)]
    some = even or [sign for sign, found in counts.items() if found and found[0]] or [","]
    return max(some, key=lambda sign: counts[sign][0] if counts[sign] else 0)


def _name(header: str, at: int, taken: set[str]) -> str:
    name = re.sub(r"\W+", "_", header.strip()).strip("_")
    if re.fullmatch(NAME, name) is None:
        name = f"c{at + 1}" if not name else f"c_{name}"
    base, count = name, 2
    while name in taken:
        name, count = f"{base}_{count}", count + 1
    taken.add(name)
    return name


def _declared(cells: Sequence[str], name: str, separator: str) -> tuple[str, str]:
    """The type of a column and its clauses."""
    filled = [cell for cell in cells if cell not in MISSING]
    lacks = len(filled) < len(cells)
    whole = _all(filled, Kind.I64)
    if whole and not lacks:
        return "i64[n]", ""
    if not lacks and filled and all(cell.lower() in ("true", "false") for cell in filled):
        return "bool[n]", ""
    for form in (Form.DATE, Form.TIME):
        if _reads(filled, Reading(form)):
            return "i64[n]", f" as {form.name.lower()}" + " missing 0" * lacks
    if not whole:
        for pattern in DATE_PATTERNS:
            if _reads(filled, Reading(Form.DATE, pattern)):
                return "i64[n]", f' as "{pattern}"' + " missing 0" * lacks
    missing = " missing ⎕nan" * lacks
    if filled and _all(filled, Kind.F64):
        return "f64[n]", missing
    commas = separator != "," and not any("." in cell for cell in filled)
    if commas and _all([cell.replace(",", ".") for cell in filled], Kind.F64):
        return "f64[n]", f'{missing} decimal ","'
    return f"char[n {name}_w]", ' missing ""' * lacks


def _all(cells: Sequence[str], kind: Kind) -> bool:
    try:
        return bool(cells) and all(item_of(cell, kind) is not None for cell in cells)
    except Unsuitable:
        return False


def _reads(cells: Sequence[str], reading: Reading) -> bool:
    try:
        return bool(cells) and all(number_of(cell, reading) is not None for cell in dict.fromkeys(cells))
    except Unsuitable:
        return False


def program_of(path: str, folder: str) -> str:
    """A program of the table's inputs, whose paths are relative to a folder."""
    lines, count = input_lines(path, os.path.relpath(path, folder or "."))
    return "\n".join([f"⍝ {os.path.basename(path)}: {count} rows", *lines, ""])
