"""New files of numbers that are written a slab at a time.

A sink is a temporary beside its target until the outputs of a run are renamed together (`writing.write_together`).  It has what a
value has to be spoken of, and no data.
"""

from __future__ import annotations

import errno
import io
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import field
from math import prod
from typing import Any, BinaryIO, ClassVar, Final, TypeAlias, cast

from ...lang.diagnostics.model import Code
from ...lang.support.files import FileReplacement
from ...lang.support.records import dataclass
from ...typechecker.elements import Kind
from .byte_source import bytes_of, fill, new_array
from .errors import FileTrouble

# ---------------------------------------------------------------------------------------------------- interface

@dataclass(slots=True)
class RowSink(ABC):
    """`working_memory`: bytes of memory that writing takes; `any_axis`: may slabs be along any axis in any order, or are they
    rows in order?  `name`: of the output; `came`: bytes of items that have been put."""

    working_memory: ClassVar[int] = 0
    any_axis: ClassVar[bool] = False

    path: str
    kind: Kind
    shape: tuple[int, ...]
    name: str = ""
    written: FileReplacement = field(default_factory=FileReplacement)
    handle: int = -1
    came: int = 0

    @property
    def dtype(self) -> Any:
        return new_array((0,), self.kind).dtype

    @abstractmethod
    def prepare(self) -> None:
        """All but the items.  FileTrouble: what the format does not hold.  OSError."""

    @abstractmethod
    def put(self, slab: Any, axis: int, first: int) -> None:
        """Items from `first` on along an axis, all of the others'.  OSError."""

    @abstractmethod
    def finish(self) -> None:
        """All items have come.  OSError."""

    def begin(self) -> None:
        """FileTrouble, OSError: as `prepare`."""
        self.handle = self.written.begin(self.path)
        self.prepare()

    def end(self) -> None:
        """That was all.  OSError."""
        if self.came != bytes_of(self.kind, self.shape):
            raise FileTrouble(Code.E708, "was not written whole")
        self.finish()
        self.written.end(self.handle)

    def discard(self) -> None:
        """Nothing of it stays, unless it has been renamed."""
        self.written.__exit__(None, None, None)


# ---------------------------------------------------------------------------------------------------- append targets
#
# Where libraries and buffers write until it is shut, and nowhere then.
#
# Writers of libraries write what is missing when they are freed, buffers what they hold: after an interrupt, into a file that is
# closed, or into another one that got its handle.

class Outlet(io.RawIOBase):
    """Hands on what is written; as a context, it is shut at the end."""

    def __init__(self, file: BinaryIO | io.FileIO) -> None:
        self._file: BinaryIO | io.FileIO | None = file
        self._count = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._count

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        done = 0
        while self._file is not None and done < len(view):
            done += some(self._file.write(view[done:]))
        self._count += len(view)
        return len(view)

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    def shut(self) -> None:
        self._file = None

    def __exit__(self, *error: object) -> None:
        self.shut()


# ---------------------------------------------------------------------------------------------------- append sinks
#
# Outputs whose rows are written in order, as they come: the bytes that the whole value gives.

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


# ---------------------------------------------------------------------------------------------------- random-access sinks
#
# Outputs whose items have places in their file that are known before any of them is: written in any order, by several processes.
#
# Another process has a sink without `begin`: it opens the same temporary (`stored`), and says afterwards how much it has written
# (`came`).

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
        for position, run in enumerate(runs):
            for chunk, at, start, stop in self.pieces((position * across + first) * step, len(run)):
                write_at(self.handle, run.data[start:stop], self.start_of(chunk) + at)
                self.came += stop - start

    def values(self) -> Any:
        """All items, as the file has them.  OSError."""
        import numpy

        result = numpy.empty(self.shape, self.dtype)
        data = result.reshape(-1).view(numpy.uint8).data
        with os.fdopen(self.handle, "rb", closefd=False) as file:
            for chunk, at, start, stop in self.pieces(0, len(data)):
                file.seek(self.start_of(chunk) + at)
                fill(file, data[start:stop])
        return result

    @property
    def temporary(self) -> str:
        """Where it is written."""
        return self.written.temporaries[0]

    def reserve(self, size: int) -> None:
        """Room for the whole file, which is zeros until something is written there.  OSError."""
        try:
            if size and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self.handle, 0, size)
                return
        except OSError as error:
            if error.errno not in _NOT_RESERVED:
                raise
        os.ftruncate(self.handle, size)


_NOT_RESERVED: Final = frozenset({errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP})
"""What file systems say that have no such call."""


def write_at(handle: int, data: Sequence[int], at: int) -> None:
    """OSError."""
    os.lseek(handle, at, os.SEEK_SET)
    done = 0
    while done < len(data):
        done += some(os.write(handle, data[done:]))  # type: ignore[arg-type]


def some(count: int | None) -> int:
    """How many bytes the system has taken.  OSError: none, and it says no more."""
    if not count:
        raise OSError(errno.ENOSPC, "the system takes no more bytes")
    return count
