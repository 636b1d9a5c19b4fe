"""Large buffers, aligned and used again: fresh memory costs more to touch than most phases cost to compute.

`room` gives an array whose memory returns to the pool when the last array that shows it is gone (`Lease` is at the end of their
chain of bases).  Only arrays of at least `LEAST` bytes come from here.

Note [The bound holds].  What the pool keeps must not add to a run's peak.  A buffer is kept only from values that were alive
together, a request that no kept buffer meets first gives back as many kept bytes as it asks for, and `trim` gives back all
before anything else allocates (library phases, blocks of ufuncs).  So kept and used bytes together never exceed the most that
was in use at once.

Neighbours: `memory.sole_owner` (a leased array may be overwritten), `cpu.compiled` (asks for rooms).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

LEAST: Final = 1 << 17
MOST_KEPT: Final = 1 << 30
"""Bytes kept at most."""
ALIGNMENT: Final = 64
_PAGE: Final = 512


class _Buffer:
    """Memory, and how it was last shown."""

    __slots__ = ("address", "memory", "shown", "size")

    def __init__(self, size: int) -> None:
        self.size, self.memory = size, np.empty(size + ALIGNMENT, np.uint8)
        self.address = -(-self.memory.__array_interface__["data"][0] // ALIGNMENT) * ALIGNMENT
        self.shown: tuple[tuple[int, ...], np.dtype[Any], dict[str, Any]] | None = None

    def interface(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
        shown = self.shown
        if shown is None or shown[1] is not dtype or shown[0] != shape:
            made = {"shape": shape, "typestr": dtype.str, "data": (self.address, False), "version": 3}
            self.shown = shown = shape, dtype, made
        return shown[2]


_free: dict[int, list[_Buffer]] = {}


class Lease:
    """The right to a buffer; gives it back at its end."""

    __slots__ = ("__array_interface__", "buffer")

    def __init__(self, buffer: _Buffer, interface: dict[str, Any]) -> None:
        self.buffer, self.__array_interface__ = buffer, interface

    def __del__(self) -> None:
        kept, buffer = _free, self.buffer
        if kept is not None and buffer.size + sum([size * len(row) for size, row in list(kept.items())]) <= MOST_KEPT:
            row = kept.get(buffer.size)
            if row is None:
                row = kept.setdefault(buffer.size, [])
            row.append(buffer)


def room(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """An array of undefined contents, contiguous, on an address that is a multiple of `ALIGNMENT` if it is large."""
    size = dtype.itemsize
    for length in shape:
        size *= length
    if size < LEAST:
        return np.empty(shape, dtype)
    size = -(-size // _PAGE) * _PAGE
    try:
        buffer = _free[size].pop()
    except (KeyError, IndexError):
        trim(size)
        buffer = _Buffer(size)
    return np.asarray(Lease(buffer, buffer.interface(shape, dtype)))


def trim(wanted: int | None = None) -> None:
    """Give back kept buffers of at least `wanted` bytes together (all, if not said).  See Note [The bound holds]."""
    for size in sorted(_free, reverse=True):
        row = _free.get(size, [])
        while row and (wanted is None or wanted > 0):
            try:
                row.pop()
            except IndexError:
                break
            if wanted is not None:
                wanted -= size
        if not row:
            _free.pop(size, None)


def kept_bytes() -> int:
    """Bytes that the pool keeps."""
    return sum(size * len(row) for size, row in list(_free.items()))
