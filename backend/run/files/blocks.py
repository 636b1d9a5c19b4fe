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
    """The items of a NumPy array in the order of its axes, as vectors of at most `items`, each there until the next is asked for.

    Those of a table with so many columns that they divide `items` are whole rows.  Of a view nothing is copied whole."""
    import numpy

    if values.size:
        yield from numpy.nditer(values, ["external_loop", "buffered"], order="C", buffersize=items)


def characters_of(items: Any) -> str:
    """The characters of a vector of dtype `U1`; NumPy itself drops the NUL."""
    import numpy

    return str(numpy.ascontiguousarray(items).view("=u4").tobytes(), "utf-32-le" if sys.byteorder == "little" else "utf-32-be")


def require_utf8(values: Any, *, table: bool = False) -> None:
    """E708 where an array of `U1` holds what UTF-8 has no bytes for, or a `table` of text cannot hold."""
    for block in blocks_of(values, 1 << 18):
        if table and not block.view("=u4").all():
            raise FileTrouble(Code.E708, "holds the character NUL, which no table of text has", "write it to an npy file")
        try:
            characters_of(block)
        except UnicodeDecodeError as error:
            code = int.from_bytes(error.object[error.start : error.start + 4], sys.byteorder)
            raise FileTrouble(Code.E708, f"cannot be written: {chr(code)!r} is not a character of UTF-8") from None
