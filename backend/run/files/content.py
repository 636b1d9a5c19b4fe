"""The bytes of an input: a regular file, opened again for each pass, or what was read once from a pipe.

Neighbours: `lang.opening`; every codec takes a `Content`.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import BinaryIO

from ....lang.opening import open_regular


@dataclass(frozen=True, slots=True)
class Content:
    """`held`: the bytes of what can be read only once; None: they are in the file."""

    path: str
    held: bytes | None = None

    def open(self) -> BinaryIO:
        """From its start.  OSError."""
        return open_regular(self.path) if self.held is None else io.BytesIO(self.held)

    def size(self) -> int:
        """Bytes.  OSError."""
        return os.path.getsize(self.path) if self.held is None else len(self.held)


def suffix_of(path: str) -> str:
    """How a name ends, in small letters, which tells the format.  Both forms of a zarr store are `.zarr`: the folder and
    `.zarr.zip`."""
    name = path.lower()
    return ".zarr" if name.endswith(".zarr.zip") else os.path.splitext(name)[1]


def length_of(file: BinaryIO) -> int:
    """Bytes of an opened content; it is at its start then."""
    length = file.seek(0, io.SEEK_END)
    file.seek(0)
    return length
