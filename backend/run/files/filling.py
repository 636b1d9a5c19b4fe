"""An input's array while it is read: made once, filled block by block, so that no file is in memory twice.

Neighbours: `npy`, `npz`, `zarr_chunks` (stored items), `elements` (which stored types a kind accepts).
"""

from __future__ import annotations

import math
from typing import Any, BinaryIO, Final

from ....typechecker.elements import Kind
from ..values import NUMPY_NAMES
from .trouble import damaged

BLOCK: Final = 1 << 16
"""Bytes that are read at a time."""
LAST_CHARACTER: Final = 0x10FFFF


def new_array(shape: tuple[int, ...], kind: Kind) -> Any:
    """An array of the kind's own dtype (`U1` for text) whose items are not set."""
    import numpy

    return numpy.empty(shape, "U1" if kind is Kind.CHAR else NUMPY_NAMES[kind])


def is_direct(shape: tuple[int, ...], dtype: Any, stored: Any, *, fortran: bool) -> bool:
    """Are the bytes of the file those of the array?"""
    return bool((not fortran or len(shape) < 2) and stored == dtype and stored.kind not in "bU")


class Filling:
    """`array` with the first `count` items of a file set: items of NumPy's dtype `stored`, the last axis fastest, or the
    first one with `fortran`."""

    def __init__(self, shape: tuple[int, ...], kind: Kind, stored: str, *, fortran: bool = False) -> None:
        import numpy

        self.array: Any = new_array(shape, kind)
        self.count = 0
        self._stored: Any = numpy.dtype(stored)
        self._item_bytes = int(self._stored.itemsize)
        self._in_order = not fortran or len(shape) < 2
        self._items = self.array.reshape(-1) if self._in_order else self.array.T.flat

    @property
    def data_bytes(self) -> int:
        """Of the items in the file."""
        return int(math.prod(self.array.shape)) * self._item_bytes

    def read(self, file: BinaryIO) -> None:
        """The items from an open file.  FileTrouble E705: it ends early, or holds what is no character."""
        if is_direct(self.array.shape, self.array.dtype, self._stored, fortran=not self._in_order):
            self._read_directly(file)
        else:
            most = BLOCK - BLOCK % self._item_bytes
            left = self.data_bytes
            while left and (block := file.read(min(most, left))):
                while len(block) % self._item_bytes and (more := file.read(1)):
                    block += more
                left -= len(block)
                self.take(block)
        if self.count != self.array.size:
            raise damaged("ended while it was read")

    def _read_directly(self, file: BinaryIO) -> None:
        import numpy

        room, filled = memoryview(self._items.view(numpy.uint8)), 0
        while filled < len(room):
            count = file.readinto(room[filled : filled + BLOCK])  # type: ignore[attr-defined]
            if not count:
                return
            filled += count
        self.count = self.array.size

    def take(self, block: bytes) -> None:
        """The next items."""
        import numpy

        if len(block) % self._item_bytes:
            raise damaged("ended while it was read")
        items = numpy.frombuffer(block, self._stored)
        if self._stored.kind == "U":
            require_characters(items)
        elif self._stored.kind == "b":
            items = items.view(numpy.uint8) != 0
        self._items[self.count : self.count + len(items)] = items
        self.count += len(items)


def require_characters(items: Any) -> None:
    """E705 unless every item of a `U1` array is a character."""
    codes = items.view(items.dtype.str[0].replace("=", "<").replace("|", "<") + "u4")
    if len(codes) and int(codes.max()) > LAST_CHARACTER:
        raise damaged("holds numbers that are not characters")
