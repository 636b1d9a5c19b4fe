"""CRC-32 of what is written in parts, in any order, by several processes.

The checksum is linear: that of a whole is the sum (XOR) of those of its parts, each with zeros for the others.  Zeros before a
part change nothing, zeros behind it multiply by a power of `x` (in polynomials over two elements, modulo that of CRC-32, lowest
power in the highest bit).

Neighbours: `zarr_writing` (whose chunks have checksums).
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

_ONE: Final = 1 << 31
_MODULUS: Final = 0xEDB88320
_ALL: Final = 0xFFFFFFFF
"""What a checksum begins with, and is turned around by at its end."""


@dataclass(slots=True)
class Parts:
    """The checksums of members of `sizes` bytes, of which a part comes after the other."""

    sizes: list[int]
    sums: dict[int, int] = field(default_factory=dict)
    """By member, of what has come of it."""
    _member: int = -1
    _at: int = 0
    _sum: int = 0
    """Of what came one after the other up to a place of a member."""

    def add(self, member: int, at: int, data: Any) -> None:
        """Bytes of a member from a place on."""
        if member != self._member or at < self._at:
            self.settle()
            self._member, self._at, self._sum = member, at, 0
        self._sum = zlib.crc32(data, _followed(self._sum, at - self._at) ^ _ALL) ^ _ALL
        self._at = at + len(data)

    def settle(self) -> None:
        """What comes next may lie anywhere."""
        if self._member >= 0:
            self.join({self._member: _followed(self._sum, self.sizes[self._member] - self._at)})
        self._member = -1

    def join(self, sums: dict[int, int]) -> None:
        """With those of other parts."""
        for member, one in sums.items():
            self.sums[member] = self.sums.get(member, 0) ^ one

    def of(self, member: int) -> int:
        """The checksum of a member; what has not come of it is zeros."""
        return _followed(_ALL, self.sizes[member]) ^ self.sums.get(member, 0) ^ _ALL


def _followed(checksum: int, zeros: int) -> int:
    """With so many bytes of zeros behind."""
    return _times(_power(zeros), checksum) if checksum and zeros else checksum


@lru_cache(1024)
def _power(count: int) -> int:
    """`x` to eight times a count."""
    found, square = _ONE, _ONE >> 8
    while count:
        if count & 1:
            found = _times(found, square)
        square, count = _times(square, square), count >> 1
    return found


def _times(left: int, right: int) -> int:
    found, bit = 0, _ONE
    while bit:
        if left & bit:
            found ^= right
        right = right >> 1 ^ _MODULUS if right & 1 else right >> 1
        bit >>= 1
    return found
