"""Rows of an npy file: read by `preadv` where they lie, and written where they come to lie.

A source says nothing of the file but what its header says; that the file stays as it was is asked for again after each pass.
 A sink is a temporary beside its target until the outputs of the run are renamed together (`writing.write_together`).

Neighbours: `npy` (the header), `backend.run.streams` (reads ahead, and writes as results come), `lang.replacing`.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from math import prod
from typing import Any, ClassVar, Final

from ....lang.codes import Code
from ....lang.opening import open_regular
from ....lang.replacing import Replacement
from ....typechecker.elements import Kind
from . import npy
from .content import Content, length_of, suffix_of
from .filling import is_direct, new_array
from .trouble import FileTrouble, damaged, system_errors

BLOCK: Final = 1 << 20
"""Bytes of stored items that are converted at a time."""


@dataclass(frozen=True, slots=True)
class NpySource:
    """An npy file whose items are numbers of `kind`, or become so; of `bytes` data bytes.  `fortran`: its columns lie one after
    the other."""

    path: str
    kind: Kind
    shape: tuple[int, ...]
    description: str
    start: int
    identity: tuple[int, ...]
    fortran: bool = False

    @property
    def direct(self) -> bool:
        """Are the bytes of the file those of the array?"""
        import numpy

        stored = numpy.dtype(self.description)
        return is_direct(self.shape, new_array((0,), self.kind).dtype, stored, fortran=self.fortran)

    @property
    def row_bytes(self) -> int:
        import numpy

        return int(prod(self.shape[1:])) * int(numpy.dtype(self.description).itemsize)

    @property
    def beside(self) -> int:
        """Memory that reading takes."""
        return 0 if self.direct else 2 * BLOCK

    @property
    def going_back(self) -> bool:
        return True

    @property
    def bytes(self) -> int:
        return self.shape[0] * self.row_bytes

    def open(self) -> int:
        """A handle, after asking whether the file is still the one that was planned for.  FileTrouble."""
        with system_errors():
            handle = os.dup((file := open_regular(self.path)).fileno())
            file.close()
        self.require_same(handle)
        return handle

    def close(self, handle: int) -> None:
        with suppress(OSError):
            os.close(handle)

    def require_same(self, handle: int) -> None:
        if identity(handle) != self.identity:
            raise damaged("changed while it was read")

    def read(self, handle: int, first: int, into: Any, keep: int) -> None:
        """Rows from `first` on, as many as `into` has.  FileTrouble: the file ends before."""
        import numpy

        if self.fortran:
            size = numpy.dtype(self.description).itemsize
            columns = into.T
            for place, column in enumerate(numpy.ndindex(columns.shape[:-1])):
                self._convert(handle, self.start + (place * self.shape[0] + first) * size, columns[column])
            return
        at = self.start + first * self.row_bytes
        if self.direct:
            with system_errors():
                _fill(handle, into.reshape(-1).view(numpy.uint8).data, at)
            return
        self._convert(handle, at, into.reshape(-1))

    def _convert(self, handle: int, at: int, items: Any) -> None:
        """Stored items from a place on, as many as there is room for."""
        import numpy

        stored = numpy.dtype(self.description)
        step = max(1, BLOCK // stored.itemsize)
        raw = numpy.empty(min(step, len(items)), stored)
        for place in range(0, len(items), step):
            part = raw[: min(step, len(items) - place)]
            with system_errors():
                _fill(handle, part.view(numpy.uint8).data, at + place * stored.itemsize)
            items[place : place + len(part)] = part.view(numpy.uint8) != 0 if stored.kind == "b" else part


def _fill(handle: int, room: memoryview, at: int) -> None:
    filled = 0
    while filled < len(room):
        count = os.preadv(handle, [room[filled:]], at + filled)
        if not count:
            raise damaged("ended while it was read")
        filled += count


def identity(handle: int) -> tuple[int, ...]:
    """The same while nobody has written the file."""
    found = os.fstat(handle)
    return found.st_ino, found.st_dev, found.st_size, found.st_mtime_ns


def npy_source(path: str, kind: Kind, shape: tuple[int, ...]) -> NpySource | None:
    """The rows of a file whose header was read; None where they are no numbers."""
    if suffix_of(path) != ".npy" or not hasattr(os, "preadv") or not shape or kind is Kind.CHAR:
        return None
    with system_errors(), Content(path).open() as file:
        length_of(file)
        header = npy.parse_header(file)
        if header.shape != shape:
            return None
        fortran = header.fortran and len(shape) > 1
        return NpySource(path, kind, shape, header.description, header.start, identity(file.fileno()), fortran)


@dataclass(slots=True)
class NpySink:
    """A new npy file, whose items come a slab after the other.  It has what a value has to be spoken of, and no data."""

    beside: ClassVar[int] = 0
    any_axis: ClassVar[bool] = True

    path: str
    kind: Kind
    shape: tuple[int, ...]
    name: str = ""
    """Of the output, which an npy file does not say."""
    written: Replacement = field(default_factory=Replacement)
    handle: int = -1
    start: int = 0
    _left: int = 0
    """Bytes that have not come yet."""

    @property
    def dtype(self) -> Any:
        return new_array((0,), self.kind).dtype

    def begin(self) -> None:
        """The header, and room for all of it.  OSError."""
        import io

        import numpy

        self.handle = self.written.begin(self.path)
        header, described = io.BytesIO(), numpy.lib.format.dtype_to_descr(self.dtype)
        numpy.lib.format.write_array_header_1_0(
            header, {"descr": described, "fortran_order": False, "shape": self.shape}
        )  # fmt: skip
        self.start = len(header.getvalue())
        data = prod(self.shape) * self.dtype.itemsize
        self._left = self.start + data
        self._write(memoryview(header.getvalue()), 0)
        if data and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self.handle, 0, self.start + data)

    @property
    def temporary(self) -> str:
        """Where it is written."""
        return self.written.temporaries[0]

    def put(self, slab: Any, axis: int, first: int) -> None:
        """Items from `first` on along an axis, all of the others'.  OSError."""
        import numpy

        runs = numpy.ascontiguousarray(slab).reshape(prod(self.shape[:axis]), -1).view(numpy.uint8)
        step = prod(self.shape[axis + 1 :]) * self.dtype.itemsize
        for place, run in enumerate(runs):
            self._write(run.data, self.start + (place * self.shape[axis] + first) * step)

    def written_elsewhere(self) -> None:
        """Others have put all of it into the file."""
        self._left = 0

    def end(self) -> None:
        """That was all.  OSError."""
        if self._left or self.start + prod(self.shape) * self.dtype.itemsize != os.fstat(self.handle).st_size:
            raise FileTrouble(Code.E708, "was not written whole")
        self.written.end(self.handle)

    def discard(self) -> None:
        """Nothing of it stays, unless it has been renamed."""
        self.written.__exit__(None, None, None)

    def _write(self, data: memoryview, at: int) -> None:
        os.lseek(self.handle, at, os.SEEK_SET)
        done = 0
        while done < len(data):
            done += os.write(self.handle, data[done:])
        self._left -= len(data)
