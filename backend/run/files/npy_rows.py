"""Rows of an npy file: read where they lie, also inside an archive, and written where they come to lie.

A source says nothing of the file but what its header says; that the file stays as it was is asked for again after each pass.

Neighbours: `npy` (the header), `placed_rows` (writing), `backend.run.streams` (reads ahead, and writes as results come).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import Any, BinaryIO

from ....typechecker.elements import Kind
from . import npy
from .content import Content
from .filling import BLOCK, fill_with_items, is_direct, new_array
from .placed_rows import Piece, PlacedSink, write_at
from .trouble import damaged, system_errors


@dataclass(frozen=True, slots=True)
class NpySource:
    """An npy file whose items are numbers of `kind`, or become so; of `bytes` data bytes, which begin at `start`.  `fortran`: its
    columns lie one after the other."""

    content: Content
    kind: Kind
    shape: tuple[int, ...]
    dtype: Any
    start: int
    identity: tuple[int | str, ...]
    fortran: bool = False

    @property
    def path(self) -> str:
        return self.content.path

    @property
    def row_bytes(self) -> int:
        return int(prod(self.shape[1:])) * int(self.dtype.itemsize)

    @property
    def beside(self) -> int:
        """Memory that reading takes."""
        direct = is_direct(new_array((0,), self.kind).dtype, self.dtype) and not self.fortran
        return self.content.kept + (0 if direct else 2 * BLOCK)

    @property
    def bytes(self) -> int:
        return self.shape[0] * self.row_bytes

    def open(self) -> BinaryIO:
        """A handle, after asking whether the file is still the one that was planned for.  FileTrouble."""
        with system_errors():
            file = self.content.open()
        self.require_same(file)
        return file

    def close(self, handle: BinaryIO) -> None:
        with suppress(OSError):
            handle.close()

    def require_same(self, handle: BinaryIO) -> None:
        with system_errors():
            found = self.content.identity(handle)
        if found != self.identity:
            raise damaged("changed while it was read")

    def read(self, handle: BinaryIO, first: int, into: Any, keep: int) -> None:
        """Rows from `first` on, as many as `into` has.  FileTrouble: the file ends before."""
        import numpy

        with system_errors():
            if not self.fortran:
                self._fill(handle, into, first * self.row_bytes)
                return
            columns = into.T
            if len(into) == self.shape[0]:
                self._fill(handle, columns, 0)
                return
            for place, column in enumerate(numpy.ndindex(columns.shape[:-1])):
                self._fill(handle, columns[column], (place * self.shape[0] + first) * int(self.dtype.itemsize))

    def _fill(self, handle: BinaryIO, into: Any, at: int) -> None:
        handle.seek(self.start + at)
        fill_with_items(handle, into, self.dtype)


def npy_source(content: Content, kind: Kind, shape: tuple[int, ...], at: int = 0) -> NpySource | None:
    """The rows of an npy file that begins `at` a byte of a content and whose header was read; None where it is another now."""
    with system_errors(), content.open() as file:
        file.seek(at)
        header = npy.parse_header(file)
        if header.shape != shape:
            return None
        fortran = header.fortran and len(shape) > 1
        return NpySource(content, kind, shape, header.dtype, at + header.start, content.identity(file), fortran)


@dataclass(slots=True)
class NpySink(PlacedSink):
    """A new npy file, in which the items lie as in the array."""

    def prepare(self) -> None:
        header = npy.header_of(self.kind, self.shape)
        write_at(self.handle, header, 0)
        self.reserve(len(header) + prod(self.shape) * self.dtype.itemsize)

    def pieces(self, at: int, count: int) -> Iterator[Piece]:
        yield 0, at, 0, count

    def finish(self) -> None:
        """The header says all."""

    def start_of(self, chunk: int) -> int:
        return len(npy.header_of(self.kind, self.shape))
