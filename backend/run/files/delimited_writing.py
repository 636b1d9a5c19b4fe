"""Tables of numbers as text, the other way: `.csv` and `.tsv` that read back to the same values.

A vector is one column; without rows, a header names the columns.  Several outputs beside each other, and rows of text, have
a header.  Neighbours: `columns` (the other way), `blocks`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from ....lang.codes import Code
from ....lang.reading_clauses import Form
from ....typechecker.elements import Kind
from ..text import shortest_f32
from .blocks import ITEMS, blocks_of, characters_of
from .content import suffix_of
from .conversions import MISSING
from .filling import new_array
from .ordered_rows import OrderedSink
from .trouble import FileTrouble

DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
"""By suffix."""


@dataclass(frozen=True, slots=True)
class Column:
    """A NumPy array of the kind, under a header."""

    name: str
    values: Any
    kind: Kind
    form: Form = Form.ITEM
    """Dates and times as numbers are for formats that know them."""


class TextSink(OrderedSink):
    """Rows of a new csv or tsv file of numbers."""

    beside: ClassVar[int] = ITEMS * 288
    """A block of items as numbers, as texts, as lines and as bytes."""

    def require(self) -> None:
        require_table(self.kind, self.shape)

    def append(self, rows: Any) -> None:
        assert self.file is not None, "it has begun"
        for text in texts(DELIMITERS[suffix_of(self.path)], self.kind, rows):
            self.file.write(text.encode("utf-8"))

    def finish(self) -> None:
        assert self.file is not None, "it has begun"
        if not self.came:  # a header tells how many columns have no rows
            self.append(new_array(self.shape, self.kind))
        self.file.close()


def require_table(kind: Kind, shape: tuple[int, ...]) -> None:
    """E708: what a table cannot hold."""
    if kind is Kind.CHAR:
        raise FileTrouble(Code.E708, f"is text of {len(shape)} axes, a column of a table is rows of text `char[n w]`")
    if len(shape) > 2:
        raise FileTrouble(Code.E708, f"has {len(shape)} axes, a table has two", "write it to an npy file")
    if shape[1:] == (0,):
        raise FileTrouble(Code.E708, "has no columns, which a table cannot express", "write it to an npy file")


def texts(delimiter: str, kind: Kind, values: Any) -> Iterator[str]:
    """The table's text block by block; `values` is a NumPy array of the kind."""
    columns = values.shape[1] if values.ndim == 2 else 1
    if not values.size:
        yield delimiter.join(f"column{column}" for column in range(columns)) + "\n"
    if columns > ITEMS:
        for row in values:
            for start in range(0, columns, ITEMS):
                yield delimiter * (start > 0) + delimiter.join(_all_written(row[start : start + ITEMS].tolist(), kind))
            yield "\n"
        return
    for block in blocks_of(values, ITEMS - ITEMS % columns):
        cells = _all_written(block.tolist(), kind)
        lines = cells if columns == 1 else [delimiter.join(cells[at : at + columns]) for at in range(0, len(cells), columns)]
        yield "\n".join(lines) + "\n"


def require_columns(columns: Sequence[Column]) -> None:
    """E708 unless every item is a column, and all are of one length."""
    for column in columns:
        shape = column.values.shape
        if len(shape) != (2 if column.kind is Kind.CHAR else 1):
            wanted = "`char[n w]`" if column.kind is Kind.CHAR else "`[n]`"
            raise FileTrouble(
                Code.E708, f"cannot have `{column.name}` of shape [{' '.join(map(str, shape))}]: a column is {wanted}"
            )
    first = columns[0]
    for column in columns[1:]:
        if len(column.values) != len(first.values):
            lengths = f"`{first.name}` has {len(first.values)} rows, `{column.name}` {len(column.values)}"
            raise FileTrouble(Code.E708, f"cannot have columns of two lengths: {lengths}")


def column_texts(delimiter: str, columns: Sequence[Column]) -> Iterator[str]:
    """A header and the columns beside each other, block by block."""
    yield delimiter.join(_quoted(column.name, delimiter) for column in columns) + "\n"
    for start in range(0, len(columns[0].values), ITEMS):
        written = [_cells(column, start, delimiter) for column in columns]
        yield "".join([delimiter.join(row) + "\n" for row in zip(*written, strict=True)])


def _cells(column: Column, start: int, delimiter: str) -> list[str]:
    block = column.values[start : start + ITEMS]
    if column.kind is Kind.CHAR:
        return [_quoted(characters_of(row).rstrip(" "), delimiter) for row in block]
    return _all_written(block.tolist(), column.kind)


def _quoted(text: str, delimiter: str) -> str:
    """A cell that reads back; one that would be missing is quoted."""
    if text not in MISSING and not any(sign in text for sign in (delimiter, '"', "\n", "\r")) and text == text.strip():
        return text
    return '"' + text.replace('"', '""') + '"'


def _all_written(items: list[Any], kind: Kind) -> list[str]:
    if kind is Kind.F64 and all(map(math.isfinite, items)):  # JSON's floats are Python's, and it is quick
        return (json.dumps(items, separators=(",", ":"))[1:-1] + ",").replace(".0,", ",")[:-1].split(",")
    return [_written(item, kind) for item in items]


def _written(item: Any, kind: Kind) -> str:
    if isinstance(item, complex):
        part = Kind.F32 if kind is Kind.C64 else Kind.F64
        imaginary = _written(item.imag, part)
        return f"{_written(item.real, part)}{'' if imaginary[0] == '-' else '+'}{imaginary}j"
    if isinstance(item, float):
        text = repr(shortest_f32(item) if kind is Kind.F32 else item)
        return text.removesuffix(".0")
    return str(int(item))
