"""Outputs whose items have places in their file that are known before any of them is: written in any order, by several processes.

A sink is a temporary beside its target until the outputs of a run are renamed together (`writing.write_together`).  Another
process has one without `begin`: it opens the same temporary (`stored`), and says afterwards how much it has written (`came`).

Neighbours: `npy_rows`, `zarr_writing` (formats), `ordered_rows` (formats that are written from start to end), `sinks` (which
files), `lang.replacing`.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, ClassVar, TypeAlias

from ....lang.codes import Code
from ....lang.replacing import Replacement
from ....typechecker.elements import Kind
from .filling import fill, new_array
from .trouble import FileTrouble

Piece: TypeAlias = tuple[int, int, int, int]
"""A chunk, a place in it, and which bytes lie there: from one to before another."""


@dataclass(slots=True)
class PlacedSink(ABC):
    """A new file of numbers, whose items come a slab after the other.  It has what a value has to be spoken of, and no data."""

    beside: ClassVar[int] = 0
    any_axis: ClassVar[bool] = True

    path: str
    kind: Kind
    shape: tuple[int, ...]
    name: str = ""
    """Of the output."""
    written: Replacement = field(default_factory=Replacement)
    handle: int = -1
    came: int = 0
    """Bytes of items that have been put."""

    @property
    def dtype(self) -> Any:
        return new_array((0,), self.kind).dtype

    @abstractmethod
    def prepare(self) -> None:
        """All but the items, and room for them.  FileTrouble: what the format does not hold.  OSError."""

    @abstractmethod
    def pieces(self, at: int, count: int) -> Iterator[Piece]:
        """Where so many bytes of the array lie, from one on in the order of its rows."""

    @abstractmethod
    def start_of(self, chunk: int) -> int:
        """In the file."""

    @abstractmethod
    def finish(self) -> None:
        """All items have come.  OSError."""

    def begin(self) -> None:
        """FileTrouble, OSError: as `prepare`."""
        self.handle = self.written.begin(self.path)
        self.prepare()

    def put(self, slab: Any, axis: int, first: int) -> None:
        """Items from `first` on along an axis, all of the others'.  OSError."""
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

    def end(self) -> None:
        """That was all.  OSError."""
        if self.came != prod(self.shape) * self.dtype.itemsize:
            raise FileTrouble(Code.E708, "was not written whole")
        self.finish()
        self.written.end(self.handle)

    def discard(self) -> None:
        """Nothing of it stays, unless it has been renamed."""
        self.written.__exit__(None, None, None)

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
