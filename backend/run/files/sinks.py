"""Which outputs can be written some rows at a time, and how.

A sink is a new file of items of `kind`, which come a slab after the other, in order: `begin`, `put(slab, axis, first)`, `end`, or
`discard`.  It has what a value has to be spoken of, and no data; its type says `beside`, the bytes of memory that writing takes,
and `any_axis`, whether slabs may lie along any axis or only be rows.

Neighbours: `npy_rows`, `text_rows` (the ways); `backend.run.streams` writes so; `writing` writes whole; `rows` is the other way.
"""

from __future__ import annotations

import os
from typing import TypeAlias

from ....lang.reading_clauses import AS_WRITTEN, Reading
from ....typechecker.elements import Kind
from .delimited_writing import DELIMITERS
from .npy_rows import NpySink
from .text_rows import TextSink

RowSink: TypeAlias = NpySink | TextSink


def sink_type(path: str, kind: Kind, reading: Reading) -> type[NpySink] | type[TextSink] | None:
    """What takes the rows of an output to a file of this name; None where its format takes it only as a whole."""
    suffix = os.path.splitext(path)[1].lower()
    if reading != AS_WRITTEN:
        return None
    if suffix == ".npy":
        return NpySink
    return TextSink if suffix in DELIMITERS and kind is not Kind.CHAR else None
