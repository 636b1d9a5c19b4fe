"""The one way in which Rho opens a file for reading.

A name may stand for anything: a device without an end, a pipe that nobody writes to, a folder, a link to either.  Whatever
is read here is a regular file, told from what was opened and not from its name, and nothing waits for somebody to write.
A reader says how many bytes it takes at most, or reads in blocks.  A pipe is read only where the user named it on the
command line (`Pipes.READ`), once and to its end.

All errors are OSErrors whose `strerror` reads on after "cannot be read:"; text that is not UTF-8 is a UnicodeDecodeError.

Neighbours: every reader of programs, profiles, plans, instances, settings, caches and data; `tests/bad_input` holds that
there is no other way.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from enum import Enum
from typing import BinaryIO, Final

StrPath = str | os.PathLike[str]

BLOCK: Final = 1 << 20
"""Bytes that are read at a time where all of a file is wanted."""

KERNEL_TEXT: Final = 1 << 16
"""Most bytes of a file of `/proc` or `/sys`.  The kernel says that a few digits have the size of a page, at most this."""

_FLAGS: Final = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"))
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_BENEATH: Final = os.open in os.supports_dir_fd and bool(_NO_LINK)


class Pipes(Enum):
    """May the file be a pipe?"""

    REFUSED = "only a regular file"
    READ = "also a pipe: the user named it"


class NotRegular(OSError):
    """A device, a socket, or a pipe that nobody named."""

    def __init__(self, path: StrPath) -> None:
        super().__init__(errno.EINVAL, "it is not a regular file", os.fspath(path))


class TooLarge(OSError):
    """More bytes than the reader takes."""

    def __init__(self, path: StrPath, most: int) -> None:
        super().__init__(errno.EFBIG, f"it has more than the {most:,} bytes that are read", os.fspath(path))


def open_regular(path: StrPath) -> BinaryIO:
    """The regular file of that name, for reading.  Never waits."""
    return _regular(os.open(path, _FLAGS), path)


def open_beneath(folder: StrPath, parts: Sequence[str]) -> BinaryIO:
    """The regular file `parts` inside a folder, where no part is a link: what is read lies inside.

    The folder's own name may be a link.  `parts` are names, not `.` or `..`."""
    if not parts or not all(is_name(part) for part in parts):
        raise NotRegular(os.path.join(folder, *parts))
    path = os.path.join(folder, *parts)
    if not _BENEATH:
        inner = os.fspath(folder)
        for part in parts:
            inner = os.path.join(inner, part)
            if os.path.islink(inner):
                raise OSError(errno.ELOOP, "it is a link", path)
        return open_regular(path)
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            inside = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | _NO_LINK, dir_fd=at)
            os.close(at)
            at = inside
        return _regular(os.open(parts[-1], _FLAGS | _NO_LINK, dir_fd=at), path)
    finally:
        os.close(at)


def is_name(part: str) -> bool:
    """Is this the name of something inside a folder?"""
    return part not in ("", ".", "..") and "/" not in part and "\0" not in part and (os.sep == "/" or os.sep not in part)


def _regular(handle: int, path: StrPath) -> BinaryIO:
    """A file that was opened, once it is known to be a regular one."""
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        if not stat.S_ISREG(mode):
            raise NotRegular(path)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def is_pipe(path: StrPath) -> bool:
    """Is this a pipe (`mkfifo`, `<(…)`)?"""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def read_bytes(path: StrPath, most: int, pipes: Pipes = Pipes.REFUSED) -> bytes:
    """All of a file of at most `most` bytes.  A pipe is waited for, and read to its end."""
    if pipes is Pipes.READ and is_pipe(path):
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)), "rb") as file:
            return read_stream(file, most, path)
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise TooLarge(path, most)
        return read_stream(file, most, path)


def read_stream(file: BinaryIO, most: int, name: StrPath = "-") -> bytes:
    """What is left of an open file, at most `most` bytes of it."""
    first = file.read(min(BLOCK, most + 1))
    if len(first) < min(BLOCK, most + 1):
        return first
    content = bytearray(first)
    while block := file.read(min(BLOCK, most + 1 - len(content))):
        content += block
    if len(content) > most:
        raise TooLarge(name, most)
    return bytes(content)


def read_text(path: StrPath, most: int, pipes: Pipes = Pipes.REFUSED) -> str:
    """All of a file of UTF-8 (with or without a mark) of at most `most` bytes."""
    return read_bytes(path, most, pipes).decode("utf-8-sig")
