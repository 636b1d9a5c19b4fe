"""Zip archives, of which `.npz` and a zarr store in one file are some: opened with a bound on their list of members.

Members that are stored or deflated are read; bzip2 and LZMA, which can ask for any amount of memory, are not.

Neighbours: `npz`, `zarr_store`.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, cast

from .content import Content
from .trouble import damaged, first_line, system_errors

LONGEST_DIRECTORY: Final = 8 << 20
"""Bytes of the list of members, which zipfile reads at once and makes objects of."""
_ENCRYPTED: Final = 1
_LOCAL: Final = struct.Struct("<26sHH")
"""What stands before a member: how long its name is, and what follows that."""
_UNSOUND: Final = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, OverflowError, RuntimeError)
"""What zipfile raises on what is not an archive, names that are no text and lengths that are none."""


class _Bounded(io.BufferedIOBase):
    """A file of which nobody reads more at once than the longest list of members."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, count: int | None = -1) -> bytes:
        if count is not None and count > LONGEST_DIRECTORY:
            raise damaged(f"has a list of members of {count} bytes, more than {LONGEST_DIRECTORY}")
        return self._file.read(-1 if count is None else count)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


@contextmanager
def opened(content: Content, otherwise: str) -> Iterator[zipfile.ZipFile]:
    """The archive; trouble with its members is E705, and so is a file that is none: `otherwise` says so."""
    with system_errors(), content.open() as file:
        archive = None
        try:
            with zipfile.ZipFile(cast(BinaryIO, _Bounded(file))) as archive:
                yield archive
        except _UNSOUND as error:
            raise damaged(otherwise if archive is None else f"has a damaged member: {first_line(error)}") from None


def stored_at(content: Content, info: zipfile.ZipInfo) -> int | None:
    """With which byte a member begins that is stored as it is; None: it is not."""
    if info.flag_bits & _ENCRYPTED or info.compress_type != zipfile.ZIP_STORED:
        return None
    with content.open() as file:
        file.seek(info.header_offset)
        own = file.read(_LOCAL.size)
    if len(own) < _LOCAL.size or not own.startswith(b"PK\3\4"):
        raise damaged("has a damaged member: it does not begin as the list of members says")
    _, name, more = _LOCAL.unpack(own)
    return int(info.header_offset + _LOCAL.size + name + more)


@contextmanager
def member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[BinaryIO]:
    """A member's content as a stream, whose checksum is compared where it ends."""
    if info.flag_bits & _ENCRYPTED:
        raise damaged("is encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise damaged("uses a compression that is not read: members are stored or deflated")
    with archive.open(info) as stream:
        yield cast(BinaryIO, stream)
