"""Zip archives with uncompressed members: the offset of each is known before any of them is written.

Their bytes are written first, in any order, then `zipfile` goes over them in place.  Neighbours: `zarr_writing` (writes such),
`archive` (reads any).
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .filling import BLOCK
from .placed_rows import write_at

_HEADER: Final = 30


@dataclass(frozen=True, slots=True)
class Member:
    """`at`: of its header; its `size` bytes begin at `start`."""

    name: str
    size: int
    at: int

    @property
    def start(self) -> int:
        return self.at + _HEADER + len(self.name)

    @property
    def end(self) -> int:
        return self.start + self.size


def members_of(sizes: Iterable[tuple[str, int]]) -> Iterator[Member]:
    """One behind the other; names are ASCII."""
    at = 0
    for name, size in sizes:
        member = Member(name, size, at)
        yield member
        at = member.end


class _Written(io.FileIO):
    """A file in which members lie already: while one of them `comes`, it is read, and written nowhere."""

    comes = False

    def write(self, data: Any) -> int:
        if not self.comes:
            write_at(self.fileno(), data, self.tell())
        return len(data)


def complete(handle: int, members: Sequence[Member]) -> None:
    """The headers of members whose bytes lie in an open file, and the list of members, which ends the archive.  Equal values give
    equal files: every member has the first time that zip files know.  OSError."""
    with _Written(handle, "r+b", closefd=False) as file:
        file.seek(members[0].at)
        with zipfile.ZipFile(file, "w") as archive:
            for member in members:
                found = zipfile.ZipInfo(member.name)
                found.create_system, found.external_attr, found.file_size = 3, 0o600 << 16, member.size
                with archive.open(found, "w") as target:
                    file.comes = True
                    for start in range(0, member.size, BLOCK):
                        target.write(file.read(min(BLOCK, member.size - start)))
                    file.comes = False
