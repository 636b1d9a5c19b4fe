"""Tables of numbers as text, the other way: `.csv` and `.tsv` that read back to the same values.

A vector is one column; without rows, a header names the columns.  Neighbours: `delimited`, `blocks`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from ....typechecker.elements import Kind
from ..text import shortest_f32
from .blocks import blocks_of
from .trouble import FileTrouble


def require_table(kind: Kind, shape: tuple[int, ...]) -> None:
    """E708: what a table cannot hold."""
    if kind is Kind.CHAR:
        raise FileTrouble("E708", "is text, which a table of numbers cannot hold", "write it to a txt file")
    if len(shape) > 2:
        raise FileTrouble("E708", f"has {len(shape)} axes, a table has two", "write it to an npy file")
    if shape[1:] == (0,):
        raise FileTrouble("E708", "has no columns, which a table cannot say", "write it to an npy file")


def texts(delimiter: str, kind: Kind, values: Any) -> Iterator[str]:
    """The table's text block by block; `values` is a NumPy array of the kind."""
    columns = values.shape[1] if values.ndim == 2 else 1
    if not values.size:
        yield delimiter.join(f"column{column}" for column in range(columns)) + "\n"
    column = 0
    for items in blocks_of(values):
        written = _all_written(items.tolist(), kind)
        if columns == 1:
            yield "\n".join(written) + "\n"
            continue
        lines = []
        at = 0
        while at < len(written):
            part = written[at : at + columns - column]
            lines.append(delimiter.join(part))
            at += len(part)
            column = (column + len(part)) % columns
            lines.append("\n" if not column else delimiter)
        yield "".join(lines)


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
