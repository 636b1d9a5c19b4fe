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

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

LEAST: Final = 1 << 17
MOST_KEPT: Final = 1 << 30
"""Bytes kept at most."""
ALIGNMENT: Final = 64
_PAGE: Final = 512

_free: dict[int, list[Any]] = {}


class Lease:
    """The right to a buffer; gives it back at its end."""

    __slots__ = ("__array_interface__", "buffer", "size")

    def __init__(self, buffer: Any, size: int, address: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.buffer, self.size = buffer, size
        self.__array_interface__ = {"shape": shape, "typestr": dtype.str, "data": (address, False), "version": 3}

    def __del__(self) -> None:
        kept = _free
        if kept is not None and self.size + sum(size * len(row) for size, row in list(kept.items())) <= MOST_KEPT:
            kept.setdefault(self.size, []).append(self.buffer)


def room(shape: Sequence[int], dtype: np.dtype[Any]) -> Any:
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
        buffer = np.empty(size + ALIGNMENT, np.uint8)
    address = buffer.__array_interface__["data"][0]
    return np.asarray(Lease(buffer, size, -(-address // ALIGNMENT) * ALIGNMENT, tuple(shape), dtype))


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
