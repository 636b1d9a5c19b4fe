"""Outputs as files take them: some items, or some text, at a time, so that a file is never in memory beside its values.

Neighbours: `writing`, and every format that is written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final

from ....lang.codes import Code
from .trouble import FileTrouble

ITEMS: Final = 1 << 13
"""Items that are made into text together."""


def blocks_of(values: Any, items: int = ITEMS) -> Iterator[Any]:
    """The items of a NumPy array in the order of its axes, as vectors of at most `items`."""
    if values.ndim == 0:
        yield values.reshape(1)
    elif values.flags.c_contiguous:
        flat = values.reshape(-1)
        for start in range(0, flat.size, items):
            yield flat[start : start + items]
    else:
        yield from _rows(values, items)


def _rows(values: Any, items: int) -> Iterator[Any]:
    """Of an array that is a view: nothing is copied whole."""
    size = values[:1].size
    if values.ndim == 1:
        for start in range(0, len(values), items):
            yield values[start : start + items]
    elif size <= items:
        rows = max(1, items // max(1, size))
        for start in range(0, len(values), rows):
            yield values[start : start + rows].reshape(-1)
    else:
        for row in values:
            yield from _rows(row, items)


def rows_of(values: Any) -> Iterator[Any]:
    """The vectors along the last axis (of which there is one)."""
    if values.ndim == 1:
        yield values
        return
    for part in values:
        yield from rows_of(part)


def characters_of(items: Any) -> str:
    """The characters of a vector of dtype `U1`; NumPy itself drops the NUL."""
    import numpy

    return str(numpy.ascontiguousarray(items).view("=u4").tobytes(), "utf-32-le" if sys.byteorder == "little" else "utf-32-be")


def require_utf8(values: Any) -> None:
    """E708 where an array of `U1` holds what UTF-8 has no bytes for."""
    for block in blocks_of(values, 1 << 18):
        try:
            characters_of(block)
        except UnicodeDecodeError as error:
            code = int.from_bytes(error.object[error.start : error.start + 4], sys.byteorder)
            raise FileTrouble(Code.E708, f"cannot be written: {chr(code)!r} is not a character of UTF-8") from None
