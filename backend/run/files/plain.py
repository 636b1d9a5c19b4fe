"""`.txt`: UTF-8 text as characters.

Declared with one axis (`char[n]`) the file is its characters, newlines included, without a byte order mark.  Declared
with two (`char[n m]`) it is its lines, padded with blanks to the longest.

Writing: a char vector is written as it is (with a final newline), a matrix as lines; other values as they display.

Neighbours: `files`; `run.text` (displays).
"""

from __future__ import annotations

import math
from typing import Any

from ....typechecker.elements import Kind
from ..text import separator, table_of
from .elements import require_shape
from .trouble import damaged, disagrees, system_errors


def _characters(path: str, kind: Kind, rank: int) -> str:
    if kind is not Kind.CHAR:
        raise disagrees(f"is text, its declared type is {kind.value}", "declare it `char[n]`, or name a csv file for numbers")
    if rank not in (1, 2):
        raise disagrees(f"is text, which has one axis (characters) or two (lines), not {rank}")
    with system_errors(), open(path, "rb") as file:
        raw = file.read()
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise damaged(f"is not UTF-8: byte {error.start} (line {line}) is 0x{raw[error.start]:02x}") from None


def _lines(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def header(path: str, kind: Kind, rank: int) -> tuple[int, ...]:
    text = _characters(path, kind, rank)
    if rank == 1:
        return (len(text),)
    lines = _lines(text)
    return len(lines), max(map(len, lines), default=0)


def read(path: str, kind: Kind, shape: tuple[int, ...]) -> Any:
    """The characters as a NumPy array of dtype U1."""
    import numpy

    text = _characters(path, kind, len(shape))
    if len(shape) == 2:
        lines = _lines(text)
        width = max(map(len, lines), default=0)
        require_shape((len(lines), width), shape)
        text = "".join(line.ljust(width) for line in lines)
    else:
        require_shape((len(text),), shape)
    codes = numpy.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return codes.astype("=u4").view("U1").reshape(shape)


def render(kind: Kind, items: list[Any], shape: tuple[int, ...]) -> str:
    """What a `.txt` output holds."""
    rows = [separator(kind).join(row) for row in table_of(kind, items, shape)]
    if kind is Kind.CHAR and len(shape) <= 1:
        return rows[0] if rows[0].endswith("\n") else rows[0] + "\n"
    lines: list[str] = []
    for i, row in enumerate(rows):
        for axis in range(len(shape) - 2):  # a blank line where each enclosing axis steps
            if i and i % math.prod(shape[axis + 1 : -1]) == 0:
                lines.append("")
        lines.append(row if kind is Kind.CHAR else row.rstrip())
    return "".join(line + "\n" for line in lines)
