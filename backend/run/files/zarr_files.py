"""Where a zarr array's metadata and chunks are: a folder, or a zip file.

Links inside a folder are not followed.  Neighbours: `zarr_store` (what they mean), `archive`, `lang.opening`.
"""

from __future__ import annotations

import errno
import io
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import BinaryIO, Final, Protocol, TypeAlias

from ....lang.codes import Code
from ....lang.opening import NotRegular, open_beneath
from . import archive, zarr_metadata
from .content import Content
from .trouble import FileTrouble, damaged, system_errors

METADATA: Final = ("zarr.json", ".zarray", ".zgroup")
_MOST_SHOWN: Final = 200

Key: TypeAlias = tuple[str, ...]
"""Names, each inside the one before it."""
Identity: TypeAlias = tuple[int | str, ...]


class Store(Protocol):
    """Named contents."""

    def open(self, parts: Key) -> BinaryIO | None:
        """A content; None if there is none."""
        ...

    def names(self) -> Iterator[str]:
        """What is directly in it."""
        ...

    def below(self, parts: Key, depth: int) -> Iterator[Key]:
        """Names of what is in a part of it, and in the parts of that, so many deep.  FileTrouble: a link."""
        ...

    def identity(self, parts: Key, depth: int) -> Identity:
        """The same while nobody has written what is there.  OSError; FileTrouble."""
        ...


class _Folder:
    def __init__(self, path: str) -> None:
        self._path = path

    def open(self, parts: Key) -> BinaryIO | None:
        shown = "/".join(parts)[-_MOST_SHOWN:]
        try:
            return open_beneath(self._path, parts)
        except FileNotFoundError:
            return None
        except (NotRegular, IsADirectoryError):
            raise FileTrouble(Code.E704, f"has a part `{shown}` that is not a regular file") from None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
                raise _link(shown) from None
            raise

    def names(self) -> Iterator[str]:
        with os.scandir(self._path) as entries:
            yield from (entry.name for entry in entries)

    def below(self, parts: Key, depth: int) -> Iterator[Key]:
        yield from (key for key, _ in self._entries(parts, (), depth))

    def identity(self, parts: Key, depth: int) -> Identity:
        count, total = 0, 0
        for key, entry in self._entries(parts, (), depth):
            found = entry.stat(follow_symlinks=False)
            told = f"{key} {found.st_ino} {found.st_size} {found.st_mtime_ns}".encode("utf-8", "surrogateescape")
            count, total = count + 1, total ^ int.from_bytes(sha256(told).digest()[:16])
        return count, total

    def _entries(self, parts: Key, inner: Key, depth: int) -> Iterator[tuple[Key, os.DirEntry[str]]]:
        with os.scandir(os.path.join(self._path, *parts, *inner)) as entries:
            for entry in entries:
                key = (*inner, entry.name)
                if entry.is_symlink():
                    raise _link("/".join((*parts, *key)))
                yield key, entry
                if depth > 1 and entry.is_dir(follow_symlinks=False):
                    yield from self._entries(parts, key, depth - 1)


def _link(part: str) -> FileTrouble:
    return FileTrouble(Code.E704, f"has a part `{part[-_MOST_SHOWN:]}` that is a link, which is not followed")


class _Archive:
    def __init__(self, found: zipfile.ZipFile, content: Content) -> None:
        self._found, self._content = found, content

    def open(self, parts: Key) -> BinaryIO | None:
        try:
            info = self._found.getinfo("/".join(parts))
        except KeyError:
            return None
        with archive.member(self._found, info) as stream:
            content = stream.read(min(info.file_size, zarr_metadata.LARGEST_CHUNK) + 1)
        if len(content) != info.file_size:
            raise damaged("has a member that ends early, or is too large")
        return io.BytesIO(content)

    def names(self) -> Iterator[str]:
        yield from {name.partition("/")[0] for name in self._found.namelist()}

    def below(self, parts: Key, depth: int) -> Iterator[Key]:
        for name in self._found.namelist():
            key = tuple(name.split("/"))
            if key[: len(parts)] == parts and len(key) <= len(parts) + depth:
                yield key[len(parts) :]

    def identity(self, parts: Key, depth: int) -> Identity:
        return self._content.identity()


@contextmanager
def opened(content: Content) -> Iterator[Store]:
    with system_errors():
        if content.held is None and os.path.isdir(content.path):
            yield _Folder(content.path)
            return
        with archive.opened(content, "is not a zarr array or group") as found:
            yield _Archive(found, content)


