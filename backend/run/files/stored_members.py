"""Zip archives with uncompressed members: the offset of each is known before any of them is written.

The layout is that of APPNOTE.TXT, and byte for byte what `zipfile` writes; large archives have the fields of 64 bits.

Neighbours: `zarr_writing` (writes such), `archive` (reads any).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from struct import pack
from typing import Final

_MADE: Final = 0, 0x21
"""The time and the day of every member, the first that zip files know: equal values give equal files."""
_VERSION: Final = 20
_LARGE_VERSION: Final = 45
_UNIX: Final = 3
_RIGHTS: Final = 0o600 << 16
_MOST: Final = (1 << 31) - 1
_MOST_MEMBERS: Final = (1 << 16) - 1
_ELSEWHERE: Final = 0xFFFFFFFF
"""In a field of 32 bits: the number is in one of 64."""
_HEADER: Final = 30


@dataclass(frozen=True, slots=True)
class Member:
    """`at`: of its header; its `size` bytes begin at `start`."""

    name: bytes
    size: int
    at: int

    @property
    def start(self) -> int:
        return self.at + _HEADER + len(self.name)

    @property
    def end(self) -> int:
        return self.start + self.size

    def header(self, checksum: int) -> bytes:
        numbers = _VERSION, 0, 0, *_MADE, checksum, self.size, self.size, len(self.name), 0
        return pack("<4s5H3L2H", b"PK\3\4", *numbers) + self.name

    def entry(self, checksum: int) -> bytes:
        """In the list of members."""
        large = self.at > _MOST
        extra = pack("<2HQ", 1, 8, self.at) if large else b""
        version, at = (_LARGE_VERSION, _ELSEWHERE) if large else (_VERSION, self.at)
        numbers = version, _UNIX, version, 0, 0, 0, *_MADE, checksum, self.size, self.size, len(self.name), len(extra), 0, 0, 0
        return pack("<4s4B4H3L5H2L", b"PK\1\2", *numbers, _RIGHTS, at) + self.name + extra


def members_of(sizes: Iterable[tuple[str, int]]) -> Iterator[Member]:
    """One behind the other."""
    at = 0
    for name, size in sizes:
        member = Member(name.encode("ascii"), size, at)
        yield member
        at = member.end


def directory(members: Sequence[Member], checksums: Iterable[int]) -> bytes:
    """The list of members, which ends the archive."""
    entries = b"".join(member.entry(checksum) for member, checksum in zip(members, checksums, strict=True))
    count, size, start = len(members), len(entries), members[-1].end
    if count <= _MOST_MEMBERS and size <= _MOST and start <= _MOST:
        return entries + pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, size, start, 0)
    large = pack("<4sQ2H2L4Q", b"PK\6\6", 44, _LARGE_VERSION, _LARGE_VERSION, 0, 0, count, count, size, start)
    large += pack("<4sLQL", b"PK\6\7", 0, start + size, 1)
    count, size, start = min(count, _MOST_MEMBERS), min(size, _ELSEWHERE), min(start, _ELSEWHERE)
    return entries + large + pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, size, start, 0)
