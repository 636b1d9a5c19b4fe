"""Outputs whose items have places in their file that are known before any of them is: written in any order, by several processes.

Another process has a sink without `begin`: it opens the same temporary (`stored`), and says afterwards how much it has written
(`came`).

Neighbours: `npy_rows`, `zarr_writing` (formats), `ordered_rows` (formats that are written from start to end), `row_sink`.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, TypeAlias

from .filling import fill
from .row_sink import RowSink

Piece: TypeAlias = tuple[int, int, int, int]
"""A chunk, a place in it, and which bytes lie there: from one to before another."""


@dataclass(slots=True)
class PlacedSink(RowSink):
    """Its file has room for all items from the start (`prepare`)."""

    any_axis: ClassVar[bool] = True

    @abstractmethod
    def pieces(self, at: int, count: int) -> Iterator[Piece]:
        """Where so many bytes of the array lie, from one on in the order of its rows."""

    @abstractmethod
    def start_of(self, chunk: int) -> int:
        """In the file."""

    def put(self, slab: Any, axis: int, first: int) -> None:
        import numpy

        runs = numpy.ascontiguousarray(slab, self.dtype).reshape(prod(self.shape[:axis]), -1).view(numpy.uint8)
        across, step = prod(self.shape[axis : axis + 1]), prod(self.shape[axis + 1 :]) * self.dtype.itemsize
        for place, run in enumerate(runs):
            for chunk, at, start, stop in self.pieces((place * across + first) * step, len(run)):
                write_at(self.handle, run.data[start:stop], self.start_of(chunk) + at)
                self.came += stop - start

    def values(self) -> Any:
        """All items, as the file has them.  OSError."""
        import numpy

        made = numpy.empty(self.shape, self.dtype)
        data = made.reshape(-1).view(numpy.uint8).data
        with os.fdopen(self.handle, "rb", closefd=False) as file:
            for chunk, at, start, stop in self.pieces(0, len(data)):
                file.seek(self.start_of(chunk) + at)
                fill(file, data[start:stop])
        return made

    @property
    def temporary(self) -> str:
        """Where it is written."""
        return self.written.temporaries[0]

    def reserve(self, size: int) -> None:
        """Room for the whole file, which is zeros until something is written there.  OSError."""
        if size and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self.handle, 0, size)
        else:
            os.ftruncate(self.handle, size)


def write_at(handle: int, data: Sequence[int], at: int) -> None:
    """OSError."""
    os.lseek(handle, at, os.SEEK_SET)
    done = 0
    while done < len(data):
        done += os.write(handle, data[done:])  # type: ignore[arg-type]
