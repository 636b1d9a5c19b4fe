"""The bytes of an input: a regular file, opened again for each pass, a URL, or what was read once from a pipe.

Neighbours: `lang.opening`, `remote`; every codec takes a `Content`.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import urlsplit

from ....lang.opening import open_regular
from ....lang.properties import cached_property
from ....lang.urls import is_url

if TYPE_CHECKING:
    from .remote import Version


@dataclass(frozen=True)
class Content:
    """`held`: the bytes of what can be read only once; None: they are in the file."""

    path: str
    held: bytes | None = None

    @cached_property
    def version(self) -> Version:
        """Of a URL, when it was first asked for.  FileTrouble."""
        from .remote import known

        return known(self.path)

    def open(self) -> BinaryIO:
        """From its start.  OSError; FileTrouble."""
        if self.held is not None:
            return io.BytesIO(self.held)
        if is_url(self.path):
            from .remote import Remote

            return cast(BinaryIO, io.BufferedReader(Remote(self.path, self.version)))
        return open_regular(self.path)

    def size(self) -> int:
        """Bytes.  OSError; FileTrouble."""
        if self.held is not None:
            return len(self.held)
        if is_url(self.path):
            return self.version.size
        return os.path.getsize(self.path)

    @property
    def kept(self) -> int:
        """Bytes that the process keeps of it beside what it is read into.  OSError; FileTrouble."""
        if self.held is not None:
            return len(self.held)
        if is_url(self.path):
            from .remote import KEPT

            return min(self.version.size, KEPT)
        return 0

    def identity(self, file: BinaryIO | None = None) -> tuple[int | str, ...]:
        """The same while nobody has written the file.  `file`: the content, if it is open.  OSError; FileTrouble."""
        if self.held is not None:
            return ()
        if is_url(self.path):
            from .remote import known

            version = self.version if self.version.told else known(self.path)  # else every answer is compared with it
            return version.size, version.digest
        found = os.stat(self.path) if file is None else os.fstat(file.fileno())
        return found.st_ino, found.st_dev, found.st_size, found.st_mtime_ns


def suffix_of(path: str) -> str:
    """How a name ends, in small letters, which tells the format.  Both forms of a zarr store are `.zarr`: the folder and
    `.zarr.zip`."""
    name = (urlsplit(path).path if is_url(path) else path).lower()
    return ".zarr" if name.endswith(".zarr.zip") else os.path.splitext(name)[1]


def length_of(file: BinaryIO) -> int:
    """Bytes of an opened content; it is at its start then."""
    length = file.seek(0, io.SEEK_END)
    file.seek(0)
    return length
