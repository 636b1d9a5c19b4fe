"""Sinks: new files of numbers that are written a slab at a time.

A sink writes a temporary file next to its target, until the outputs of a run are renamed together (`writing.write_together`).  It
has the kind and shape of a value, but no data.
"""

from __future__ import annotations

import errno
import io
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, BinaryIO, ClassVar, Final, TypeAlias, cast

from ...lang.diagnostics.model import Code
from ...lang.support.files import FileReplacement
from ...lang.support.records import dataclass, field
from ...lang.tree.program import AS_WRITTEN, ColumnFormat
from ...typechecker.elements import Kind
from .byte_source import bytes_of, fill, new_array
from .cells import require_dated
from .errors import FileTrouble

# ---------------------------------------------------------------------------------------------------- interface

@dataclass(slots=True)
class RowSink(ABC):
    """A file that receives an output in slabs.

    `working_memory`: bytes that writing takes; `any_axis`: may slabs be along any axis in any order, rather than rows in order?
    `name`: of the output; `reading`: how its items are written; `came`: bytes of items written so far."""

    working_memory: ClassVar[int] = 0
    any_axis: ClassVar[bool] = False

    path: str
    kind: Kind
    shape: tuple[int, ...]
    name: str = ""
    reading: ColumnFormat = AS_WRITTEN
    written: FileReplacement = field(default_factory=FileReplacement)
    handle: int = -1
    came: int = 0

    @property
    def dtype(self) -> Any:
        return new_array((0,), self.kind).dtype

    @abstractmethod
    def prepare(self) -> None:
        """Write all but the items.  Raises FileTrouble for values that the format cannot contain, and OSError."""

    @abstractmethod
    def put(self, slab: Any, axis: int, first: int) -> None:
        """Write a slab: items from `first` on along an axis, and all along the others.  Raises OSError."""

    @abstractmethod
    def finish(self) -> None:
        """Write what follows the items.  Raises OSError."""

    def begin(self) -> None:
        """Create the temporary file.  Raises FileTrouble and OSError, as `prepare`."""
        self.handle = self.written.begin(self.path)
        self.prepare()

    def end(self) -> None:
        """Complete and close the temporary file.  Raises OSError."""
        if self.came != bytes_of(self.kind, self.shape):
            raise FileTrouble(Code.E708, "was not written whole")
        self.finish()
        self.written.end(self.handle)

    def discard(self) -> None:
        """Delete the temporary file, unless it has been renamed."""
        self.written.__exit__(None, None, None)


# ---------------------------------------------------------------------------------------------------- append targets
#
# A file wrapper that discards writes after it is shut.
#
# Writers of libraries flush when they are freed: after an interrupt that would be to a closed file, or to another one that got
# its handle.

class Outlet(io.RawIOBase):
    """Forwards writes to a file until it is shut; a context manager that shuts it at the end."""

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
            done += checked_count(self._file.write(view[done:]))
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
# Outputs whose rows are appended in order, giving the same bytes as writing the full value.

@dataclass(slots=True)
class AppendSink(RowSink):
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
        require_dated(slab, self.reading)
        self.append(slab)
        self.came += bytes_of(self.kind, slab.shape)


# ---------------------------------------------------------------------------------------------------- random-access sinks
#
# Outputs whose items have known offsets in their file, so that several processes can write them in any order.
#
# Another process uses the sink without `begin`: it opens the same temporary file (`external_arrays.StoredOutput`), and reports
# how much it has written (`came`).

Piece: TypeAlias = tuple[int, int, int, int]
"""A chunk, an offset in it, and the range of bytes of the array that are there (start, stop)."""


@dataclass(slots=True)
class RandomAccessSink(RowSink):
    """A sink whose file has its full size from the start (`prepare`)."""

    any_axis: ClassVar[bool] = True

    @abstractmethod
    def pieces(self, at: int, count: int) -> Iterator[Piece]:
        """The pieces of the file for `count` bytes of the array, in row-major order, from byte `at` on."""

    @abstractmethod
    def start_of(self, chunk: int) -> int:
        """The offset of a chunk in the file."""

    def put(self, slab: Any, axis: int, first: int) -> None:
        import numpy

        require_dated(slab, self.reading)
        runs = numpy.ascontiguousarray(slab, self.dtype).reshape(prod(self.shape[:axis]), -1).view(numpy.uint8)
        across, step = prod(self.shape[axis : axis + 1]), prod(self.shape[axis + 1 :]) * self.dtype.itemsize
        for position, run in enumerate(runs):
            for chunk, at, start, stop in self.pieces((position * across + first) * step, len(run)):
                write_at(self.handle, run.data[start:stop], self.start_of(chunk) + at)
                self.came += stop - start

    def values(self) -> Any:
        """All items, read from the file.  Raises OSError."""
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
        """The path of the temporary file."""
        return self.written.temporaries[0]

    def reserve(self, size: int) -> None:
        """Allocate the full file, of zeros.  Raises OSError."""
        try:
            if size and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self.handle, 0, size)
                return
        except OSError as error:
            if error.errno not in _NOT_RESERVED:
                raise
        os.ftruncate(self.handle, size)


_NOT_RESERVED: Final = frozenset({errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP})
"""The errors of file systems that cannot reserve space."""


def write_at(handle: int, data: Sequence[int], at: int) -> None:
    """OSError."""
    os.lseek(handle, at, os.SEEK_SET)
    done = 0
    while done < len(data):
        done += checked_count(os.write(handle, data[done:]))  # type: ignore[arg-type]


def checked_count(count: int | None) -> int:
    """The number of bytes that the system wrote; raises OSError if it wrote none without an error."""
    if not count:
        raise OSError(errno.ENOSPC, "the system takes no more bytes")
    return count
