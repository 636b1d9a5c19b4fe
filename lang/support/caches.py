"""Caches: authenticated entries in a folder of the user, kept between runs, and a generational cache in memory.

A folder is read and written only if it belongs to the user and nobody else may write it (mode 0700 when made here).  An entry
is a line with a keyed digest, then what was kept.  The key is a file of random bytes in the folder that only the user may read,
and the digest covers the kind of the folder and the entry's name: what was damaged, changed, exchanged with another entry or
brought from another place is as good as absent.  So is what is not a regular file; no pipe is waited for and no device read.

Whoever reads an entry still decides what to believe of it: the digest says who wrote it, not that it is true.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Generic, TypeVar

from . import files
from .files import Durability, replace_file
from .records import dataclass

# ---------------------------------------------------------------------------------------------------- user_cache

_KEY: Final = ".key"
_KEY_BYTES: Final = 32
_DIGEST_DIGITS: Final = 64
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True, slots=True)
class Cache:
    """Entries of one kind, in `rho/KIND` of the user's cache folder.

    `switch`: the environment variable that names another folder (absolute), or turns the cache `off`.  `suffix` of the names,
    `most_bytes` of an entry, `most_files` of the folder."""

    kind: str
    switch: str
    suffix: str
    most_bytes: int
    most_files: int

    def folder(self) -> Path | None:
        """Where entries are kept; None if nowhere."""
        chosen = os.environ.get(self.switch, "")
        if chosen.lower() in ("off", "0", "no"):
            return None
        if chosen:
            return Path(chosen) if os.path.isabs(chosen) else None
        return cache_folder(self.kind)

    def file(self, key: str) -> Path | None:
        """Where the entry of a key is, if there is one."""
        folder = self.folder()
        return None if folder is None else folder / self._name(key)

    def read(self, key: str) -> bytes | None:
        """What was kept under a key; None if that is nothing, or nothing that this user wrote."""
        path, name = self.folder(), self._name(key)
        if path is None:
            return None
        head = len(self._line(b""))
        with _opened(path) as folder:
            secret = None if folder is None else _secret(folder)
            if folder is None or secret is None:
                return None
            data = read_bounded(name, head + self.most_bytes, folder)
        if data is None:
            return None
        content = data[head:]
        return content if data[:head] == self._line(self._digest(secret, name, content)) else None

    def write(self, key: str, content: bytes) -> None:
        """Keep something; what goes wrong is nobody's concern."""
        path, name = self.folder(), self._name(key)
        if path is None or len(content) > self.most_bytes:
            return
        with suppress(OSError):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _opened(path) as folder:
                if folder is None or len(os.listdir(path)) >= self.most_files:
                    return
                secret = _secret(folder) or _made_secret(path, folder)
            if secret is None:
                return
            line = self._line(self._digest(secret, name, content))
            if os.path.islink(path / name) or not os.path.isfile(path / name):
                (path / name).unlink(missing_ok=True)  # a link is not followed, and no pipe is in the way
            replace_file(path / name, lambda file: (file.write(line), file.write(content)), Durability.PROCESS, 0o600)

    def _name(self, key: str) -> str:
        from hashlib import blake2b

        return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest() + self.suffix

    def _line(self, digest: bytes) -> bytes:
        return f"rho {self.kind} ".encode() + digest.ljust(_DIGEST_DIGITS) + b"\n"

    def _digest(self, secret: bytes, name: str, content: bytes) -> bytes:
        from hashlib import blake2b

        keyed = blake2b(f"{self.kind}\n{name}\n".encode(), key=secret, digest_size=_DIGEST_DIGITS // 2)
        keyed.update(content)
        return keyed.hexdigest().encode()


def cache_folder(kind: str) -> Path | None:
    """`rho/KIND` in the user's cache folder; None for a user who has none."""
    return _of_user(os.environ.get("XDG_CACHE_HOME", "") or os.environ.get("LOCALAPPDATA", ""), ".cache", kind)


def state_folder(environment: Mapping[str, str]) -> Path | None:
    """`rho` in the user's folder of state (history, settings); None for a user who has none."""
    return _of_user(environment.get("XDG_STATE_HOME", ""), os.path.join(".local", "state"), "")


def _of_user(base: str, usual: str, below: str) -> Path | None:
    """Below `base` if that is a path, else at the usual place of the home folder, if there is one."""
    if os.path.isabs(base):
        return Path(base, "rho", below)
    home = os.path.expanduser("~")  # stays as it is for a user whom the system does not know
    return Path(home, usual, "rho", below) if os.path.isabs(home) else None


def read_private(path: Path, most_bytes: int) -> bytes | None:
    """A file of a folder that is the user's alone; None if it is not there, not a regular file of the user's, or larger."""
    with _opened(path.parent) as folder:
        return None if folder is None else read_bounded(path.name, most_bytes, folder)


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    """The folder's handle; None if it is not the user's alone, or where folders have none."""
    try:
        handle = os.open(path, _FOLDER)
    except OSError:
        yield None
        return
    try:
        status = os.fstat(handle)
        yield handle if files.is_own(status) and not status.st_mode & _OTHERS_WRITE else None
    finally:
        os.close(handle)


def read_bounded(name: str, most_bytes: int, folder: int) -> bytes | None:
    """A regular file of this user in an open folder, if it is no larger; links are not followed."""
    try:
        handle = os.open(name, files.OPEN, dir_fd=folder)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or not files.is_own(status) or status.st_size > most_bytes:
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(most_bytes + 1)
        return data if len(data) <= most_bytes else None
    except OSError:
        return None
    finally:
        os.close(handle)


def _secret(folder: int) -> bytes | None:
    """The key of a folder; one of another length, or that others may read, is none."""
    try:
        mode = os.stat(_KEY, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return None
    secret = None if mode & 0o077 else read_bounded(_KEY, _KEY_BYTES, folder)
    return secret if secret is not None and len(secret) == _KEY_BYTES else None


def _made_secret(path: Path, folder: int) -> bytes | None:
    """A new key; the one that another process made meanwhile, if it did.  OSError."""
    temporary, handle = files.create(str(path), _KEY)
    try:
        os.write(handle, os.urandom(_KEY_BYTES))
        try:
            os.link(temporary, path / _KEY)
        except FileExistsError:
            if _secret(folder) is None:
                os.replace(temporary, path / _KEY)
        except OSError:  # no such links here
            os.replace(temporary, path / _KEY)
    finally:
        files.discard(temporary)
        os.close(handle)
    return _secret(folder)


# ---------------------------------------------------------------------------------------------------- recent
#
# A table that keeps what is still asked for, however long its process lives.
#
# Entries are in two generations.  What is asked for moves to the younger one; when that is full (at the end of a turn, say a
# version of a program) it becomes the older one, and what had stayed there is dropped.  Full means twice what a turn asks for:
# a large program keeps all its entries, and a session of ten thousand small ones no more than a few hundred.

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

LEAST: Final = 256
"""Entries of a generation, however few are read."""
MOST: Final = 50_000


class GenerationalCache(Generic[_Key, _Value]):
    """`get`, `put` and, after each version of the program, `end_generation`."""

    __slots__ = ("_asked", "_old", "_young")

    def __init__(self) -> None:
        self._young: dict[_Key, _Value] = {}
        self._old: dict[_Key, _Value] = {}
        self._asked = 0

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def get(self, key: _Key) -> _Value | None:
        self._asked += 1
        value = self._young.get(key)
        if value is None and self._old:
            value = self._old.pop(key, None)
            if value is not None:
                self._young[key] = value
        return value

    def put(self, key: _Key, value: _Value) -> None:
        if len(self._young) >= MOST:
            self._old, self._young = self._young, {}
        self._young[key] = value

    def end_generation(self) -> None:
        if len(self._young) > max(LEAST, 2 * self._asked):
            self._old, self._young = self._young, {}
        self._asked = 0
