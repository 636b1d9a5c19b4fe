"""Outputs whose rows are written in order, as they come: the bytes that the whole value gives.

Neighbours: `delimited_writing`, `parquet_writing` (formats), `placed_rows` (in any order), `row_sink`.
"""

from __future__ import annotations

import io
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from ....lang.codes import Code
from .filling import bytes_of
from .outlets import Outlet
from .row_sink import RowSink
from .trouble import FileTrouble


@dataclass(slots=True)
class OrderedSink(RowSink):
    """`finish` closes its file."""

    file: BinaryIO | None = None
    outlet: Outlet | None = None

    @abstractmethod
    def require(self) -> None:
        """FileTrouble: what the format does not hold."""

    @abstractmethod
    def append(self, rows: Any) -> None:
        """Rows that follow those before.  OSError."""

    def prepare(self) -> None:
        self.require()
        self.outlet = Outlet(io.FileIO(self.handle, "wb", closefd=False))
        self.file = cast(BinaryIO, io.BufferedWriter(self.outlet))

    def discard(self) -> None:
        if self.outlet is not None:
            self.outlet.shut()
        RowSink.discard(self)

    def put(self, slab: Any, axis: int, first: int) -> None:
        if axis != 0 or first * bytes_of(self.kind, self.shape[1:]) != self.came:
            raise FileTrouble(Code.E708, "was not written in order")
        self.append(slab)
        self.came += bytes_of(self.kind, slab.shape)
