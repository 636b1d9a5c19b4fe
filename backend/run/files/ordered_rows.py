"""Outputs whose rows are written in order, as they come: the bytes that the whole value gives.

Neighbours: `delimited_writing`, `parquet_writing`, `zarr_writing` (formats), `sinks` (which files), `npy_rows` (in any order),
`lang.replacing`.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import prod
from typing import Any, BinaryIO, ClassVar

from ....lang.codes import Code
from ....lang.replacing import Replacement
from ....typechecker.elements import Kind
from .filling import new_array
from .trouble import FileTrouble


@dataclass(slots=True)
class OrderedSink(ABC):
    """A new file of numbers, whose rows come in order.  It has what a value has to be spoken of, and no data."""

    beside: ClassVar[int]
    any_axis: ClassVar[bool] = False

    path: str
    kind: Kind
    shape: tuple[int, ...]
    name: str
    """Of the output."""
    written: Replacement = field(default_factory=Replacement)
    handle: int = -1
    file: BinaryIO | None = None
    _rows: int = 0
    """Those that have come."""

    @property
    def dtype(self) -> Any:
        return new_array((0,), self.kind).dtype

    @abstractmethod
    def require(self) -> None:
        """FileTrouble: what the format does not hold."""

    @abstractmethod
    def append(self, rows: Any) -> None:
        """Rows that follow those before.  OSError."""

    @abstractmethod
    def finish(self) -> None:
        """All rows have come.  OSError."""

    def begin(self) -> None:
        """FileTrouble: what the format does not hold.  OSError."""
        self.require()
        self.handle = self.written.begin(self.path)
        self.file = os.fdopen(self.handle, "wb", closefd=False)

    def put(self, slab: Any, axis: int, first: int) -> None:
        """Rows from `first` on.  OSError."""
        if axis != 0 or first != self._rows:
            raise FileTrouble(Code.E708, "was not written in order")
        self.append(slab)
        self._rows += len(slab)

    def end(self) -> None:
        """That was all.  OSError."""
        if self._rows != self.shape[0] or not prod(self.shape) or self.file is None:
            raise FileTrouble(Code.E708, "was not written whole")
        self.finish()
        self.file.close()
        self.written.end(self.handle)

    def discard(self) -> None:
        """Nothing of it stays, unless it has been renamed."""
        self.written.__exit__(None, None, None)
