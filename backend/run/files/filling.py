"""An input's array while it is read: made once, filled block by block, so that no file is in memory twice.

Neighbours: `npy`, `npz`, `npy_rows` (stored items), `elements` (which stored types a kind accepts).
"""

from __future__ import annotations

import math
from typing import Any, BinaryIO, Final

from ....typechecker.elements import Kind
from ..values import NUMPY_NAMES
from .elements import within
from .trouble import damaged

BLOCK: Final = 1 << 16
"""Bytes that are read at a time."""
LAST_CHARACTER: Final = 0x10FFFF


def new_array(shape: tuple[int, ...], kind: Kind) -> Any:
    """An array of the kind's own dtype (`U1` for text) whose items are not set."""
    import numpy

    return numpy.empty(shape, "U1" if kind is Kind.CHAR else NUMPY_NAMES[kind])


def bytes_of(kind: Kind, shape: tuple[int, ...]) -> int:
    """Of an array as it is in memory."""
    return math.prod(shape) * kind.bytes


def is_direct(dtype: Any, stored: Any) -> bool:
    """Are the bytes of items in a file those in an array?"""
    return bool(stored == dtype and stored.kind not in "bU")


def fill(file: BinaryIO, room: memoryview) -> None:
    """What a file has next, as much as there is room for.  OSError; FileTrouble E705: it ends before."""
    filled = 0
    while filled < len(room):
        count = file.readinto(room[filled : filled + BLOCK])  # type: ignore[attr-defined]
        if not count:
            raise damaged("ended while it was read")
        filled += count


def fill_with_items(file: BinaryIO, room: Any, stored: Any) -> None:
    """The items of dtype `stored` that a file has next, in the order of the axes of an array, which need not be contiguous.
    OSError; FileTrouble E705: it ends before, or holds what is no character."""
    import numpy

    if is_direct(room.dtype, stored) and room.flags.c_contiguous:
        fill(file, room.reshape(-1).view(numpy.uint8).data)
        return
    items = room.reshape(-1) if room.flags.c_contiguous else room.flat
    some = numpy.empty(min(BLOCK // stored.itemsize, len(items)), stored)
    for place in range(0, len(items), max(1, len(some))):
        part = some[: len(items) - place]
        fill(file, part.view(numpy.uint8).data)
        if stored.kind == "U":
            require_characters(part)
        items[place : place + len(part)] = part.view(numpy.uint8) != 0 if stored.kind == "b" else within(part, room.dtype)


def require_characters(items: Any) -> None:
    """E705 unless every item of a `U1` array is a character."""
    codes = items.view(items.dtype.str[0].replace("=", "<").replace("|", "<") + "u4")
    if len(codes) and int(codes.max()) > LAST_CHARACTER:
        raise damaged("holds numbers that are not characters")
