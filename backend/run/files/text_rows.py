"""Rows of a table as text, written as they come: the bytes that `delimited_writing` makes of the whole value.

Neighbours: `delimited_writing` (the text), `sinks` (which files), `npy_rows` (the same for npy), `lang.replacing`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from math import prod
from typing import Any, ClassVar

from ....lang.codes import Code
from ....lang.replacing import Replacement
from ....typechecker.elements import Kind
from .blocks import ITEMS
from .delimited_writing import DELIMITERS, require_table, texts
from .filling import new_array
from .trouble import FileTrouble


@dataclass(slots=True)
class TextSink:
    """A new csv or tsv file of numbers, whose rows come in order.  It has what a value has to be spoken of, and no data."""

    beside: ClassVar[int] = ITEMS * 288
    """A block of items as numbers, as texts, as lines and as bytes."""
    any_axis: ClassVar[bool] = False

    path: str
    kind: Kind
    shape: tuple[int, ...]
    written: Replacement = field(default_factory=Replacement)
    handle: int = -1
    _rows: int = 0
    """Those that have come."""

    @property
    def dtype(self) -> Any:
        return new_array((0,), self.kind).dtype

    def begin(self) -> None:
        """FileTrouble: what no table holds.  OSError."""
        require_table(self.kind, self.shape)
        self.handle = self.written.begin(self.path)

    def put(self, slab: Any, axis: int, first: int) -> None:
        """Rows from `first` on.  OSError."""
        if axis != 0 or first != self._rows:
            raise FileTrouble(Code.E708, "was not written in order")
        delimiter = DELIMITERS[os.path.splitext(self.path)[1].lower()]
        for text in texts(delimiter, self.kind, slab):
            data = text.encode("utf-8")
            done = 0
            while done < len(data):
                done += os.write(self.handle, data[done:])
        self._rows += len(slab)

    def end(self) -> None:
        """That was all.  OSError."""
        if self._rows != self.shape[0] or not prod(self.shape):
            raise FileTrouble(Code.E708, "was not written whole")
        self.written.end(self.handle)

    def discard(self) -> None:
        """Nothing of it stays, unless it has been renamed."""
        self.written.__exit__(None, None, None)
