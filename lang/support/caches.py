"""Caches: authenticated entries on disk in the user's cache folder, and a generational cache in memory.

A folder is used only if it belongs to the user and nobody else may write to it (it is created with mode 0700).  An entry is a
line with a keyed digest (HMAC), then the content.  The key is a file of random bytes in the folder that only the user may read,
and the digest covers the kind of the folder and the entry's name.  An entry that was damaged, changed, exchanged with another one
or copied from elsewhere counts as absent, and so does anything but a regular file: no pipe is waited for and no device is read.

The digest proves who wrote an entry, not that its content is true: its reader has to check that.
"""

from __future__ import annotations

import os
import pickle
import stat
from _blake2 import blake2b  # what `hashlib` has, without OpenSSL, which takes longer to load than this
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, wraps
from io import BytesIO
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from . import files
from .records import dataclass

# ---------------------------------------------------------------------------------------------------- on disk

_KEY: Final = ".key"
_KEY_BYTES: Final = 32
_DIGEST_DIGITS: Final = 64
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True, slots=True)
class Cache:
    """The entries of one kind, in `rho/KIND` of the user's cache folder.

    `switch` is the environment variable that names another folder (an absolute path) or turns the cache `off`; `suffix` ends the
    names of files; an entry has at most `most_bytes`.  A folder with `most_files` entries forgets those read longest ago."""

    kind: str
    switch: str
    suffix: str
    most_bytes: int
    most_files: int

    def folder(self) -> Path | None:
        """The folder of the entries; None if there is no cache."""
        override = os.environ.get(self.switch, "")
        if override.lower() in ("off", "0", "no"):
            return None
        if override:
            return Path(override) if os.path.isabs(override) else None
        return cache_folder(self.kind)

    def file(self, key: str) -> Path | None:
        """The path of a key's entry; None if there is no cache."""
        folder = self.folder()
        return None if folder is None else folder / self._name(key)

    def read(self, key: str) -> bytes | None:
        """The content of a key's entry; None if it is absent or was not written by this user."""
        path, name = self.folder(), self._name(key)
        if path is None:
            return None
        head = len(self._line(b""))
        with _open_folder(path) as folder:
            secret = None if folder is None else _secret(folder)
            if folder is None or secret is None:
                return None
            data = read_bounded(name, head + self.most_bytes, folder)
        if data is None:
            return None
        content = data[head:]
        return content if data[:head] == self._line(self._digest(secret, name, content)) else None

    def write(self, key: str, content: bytes) -> None:
        """Store an entry, best effort: failures are ignored."""
        path, name = self.folder(), self._name(key)
        if path is None or len(content) > self.most_bytes:
            return
        with suppress(OSError):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _open_folder(path) as folder:
                if folder is None:
                    return
                self._make_room(folder)
                secret = _secret(folder) or _create_secret(path, folder)
            if secret is None:
                return
            line = self._line(self._digest(secret, name, content))
            if os.path.islink(path / name) or not os.path.isfile(path / name):
                (path / name).unlink(missing_ok=True)  # so that a link is not followed and a pipe does not block
            files.replace_file(path / name, lambda file: (file.write(line), file.write(content)), files.Durability.PROCESS, 0o600)

    def read_value(self, key: str) -> Any:
        """The value that `write_value` has stored; None if it is absent, or of records that have changed."""
        content = self.read(key)
        try:
            return None if content is None else _ValueReader(BytesIO(content)).load()
        except _UNREADABLE:
            return None

    def write_value(self, key: str, value: object) -> None:
        """Store plain data and Rho's records and enumerations, best effort."""
        file = BytesIO()
        with suppress(pickle.PicklingError, TypeError, AttributeError):
            pickle._Pickler(file, 5).dump(value)  # Python's: that in C takes C stack for each level
            self.write(key, file.getvalue())

    def _make_room(self, folder: int) -> None:
        """Remove a quarter of the entries, those read longest ago, if the folder is full.  Raises OSError."""
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.name.endswith(self.suffix)]
        if len(names) < self.most_files:
            return
        ages = []
        for name in names:
            with suppress(FileNotFoundError):  # another process removes entries, too
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                ages.append((max(status.st_atime_ns, status.st_mtime_ns), name))
        for _, name in sorted(ages)[: 1 + self.most_files // 4]:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)

    def _name(self, key: str) -> str:
        return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest() + self.suffix

    def _line(self, digest: bytes) -> bytes:
        return f"rho {self.kind} ".encode() + digest.ljust(_DIGEST_DIGITS) + b"\n"

    def _digest(self, secret: bytes, name: str, content: bytes) -> bytes:
        keyed = blake2b(f"{self.kind}\n{name}\n".encode(), key=secret, digest_size=_DIGEST_DIGITS // 2)
        keyed.update(content)
        return keyed.hexdigest().encode()


_PACKAGE: Final = __name__.partition(".")[0] + "."
_UNREADABLE: Final = (pickle.UnpicklingError, AttributeError, ImportError, LookupError, TypeError, ValueError, EOFError)


class _ValueReader(pickle.Unpickler):
    """An unpickler that builds only plain data and instances of Rho's classes."""

    def find_class(self, module: str, name: str) -> Any:
        is_plain = module.startswith(_PACKAGE) or (module, name) == ("builtins", "complex")
        value = super().find_class(module, name) if is_plain else None
        if not isinstance(value, type):
            raise pickle.UnpicklingError(f"{module}.{name}")
        return value


@cache
def code_version(*rooms: str) -> str:
    """The digest of the names, sizes and modification times of all modules in some rooms."""
    digest, package = blake2b(digest_size=16), Path(__file__).parents[2]
    pending = [package / room for room in rooms]
    while pending:
        folder = pending.pop()
        with suppress(OSError):  # in an archive there are no files
            for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
                if entry.name.endswith((".py", ".ll", ".loop")):
                    status = entry.stat()
                    digest.update(f"{folder.name}/{entry.name} {status.st_size} {status.st_mtime_ns}\n".encode())
                elif entry.is_dir():
                    pending.append(folder / entry.name)
    return digest.hexdigest()


def cache_folder(kind: str) -> Path | None:
    """`rho/KIND` in the user's cache folder; None for a user who has none."""
    return _of_user(os.environ.get("XDG_CACHE_HOME", "") or os.environ.get("LOCALAPPDATA", ""), ".cache", kind)


def state_folder(environment: Mapping[str, str]) -> Path | None:
    """`rho` in the user's folder of state (history, settings); None for a user who has none."""
    return _of_user(environment.get("XDG_STATE_HOME", ""), os.path.join(".local", "state"), "")


def _of_user(base: str, usual: str, inside: str) -> Path | None:
    """The folder `rho` in `base` if that is an absolute path, else in the usual folder of the home folder; None without
    either."""
    if os.path.isabs(base):
        return Path(base, "rho", inside)
    home = os.path.expanduser("~")  # unchanged for a user without an account
    return Path(home, usual, "rho", inside) if os.path.isabs(home) else None


def read_private(path: Path, most_bytes: int) -> bytes | None:
    """The content of a regular file in a folder that only the user may write; None if there is none, or it is larger."""
    with _open_folder(path.parent) as folder:
        return None if folder is None else read_bounded(path.name, most_bytes, folder)


@contextmanager
def _open_folder(path: Path) -> Iterator[int | None]:
    """The handle of a folder; None if others may write to it, or where the system has no handles of folders."""
    try:
        handle = os.open(path, _FOLDER)
    except OSError:
        yield None
        return
    try:
        status = os.fstat(handle)
        yield handle if files.belongs_to_user(status) and not status.st_mode & _OTHERS_WRITE else None
    finally:
        os.close(handle)


def read_bounded(name: str, most_bytes: int, folder: int) -> bytes | None:
    """The content of a regular file of this user in an open folder; None for a link, another kind of file, or a larger one."""
    try:
        handle = os.open(name, files.OPEN, dir_fd=folder)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or not files.belongs_to_user(status) or status.st_size > most_bytes:
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(most_bytes + 1)
        return data if len(data) <= most_bytes else None
    except OSError:
        return None
    finally:
        os.close(handle)


def _secret(folder: int) -> bytes | None:
    """The key of a folder; None if it has another length or others may read it."""
    try:
        mode = os.stat(_KEY, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return None
    secret = None if mode & 0o077 else read_bounded(_KEY, _KEY_BYTES, folder)
    return secret if secret is not None and len(secret) == _KEY_BYTES else None


def _create_secret(path: Path, folder: int) -> bytes | None:
    """Create a key; if another process has created one meanwhile, return that.  Raises OSError."""
    temporary, handle = files.create(str(path), _KEY)
    try:
        os.write(handle, os.urandom(_KEY_BYTES))
        try:
            os.link(temporary, path / _KEY)
        except FileExistsError:
            if _secret(folder) is None:
                os.replace(temporary, path / _KEY)
        except OSError:  # a file system without hard links
            os.replace(temporary, path / _KEY)
    finally:
        files.discard(temporary)
        os.close(handle)
    return _secret(folder)


# ---------------------------------------------------------------------------------------------------- in memory
#
# A cache with two generations.  A hit moves an entry to the younger one.  When the younger one is full at the end of a cycle,
# such as one version of a program, it becomes the older one, and the entries of the former older one are dropped.  Full means
# twice the look-ups of the cycle: a large program keeps all its entries, and a session of ten thousand small ones a few hundred.
# A cache of a function of texts counts their characters instead: its values are as long as its keys.

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

LEAST: Final = 256
"""The least capacity of a generation, in entries."""
MOST: Final = 50_000


class GenerationalCache(Generic[_Key, _Value]):
    """A cache of what recent cycles looked up: `get`, `put`, and `end_generation` after each cycle."""

    __slots__ = ("_lookups", "_old", "_young")

    def __init__(self) -> None:
        self._young: dict[_Key, _Value] = {}
        self._old: dict[_Key, _Value] = {}
        self._lookups = 0

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def get(self, key: _Key) -> _Value | None:
        self._lookups += 1
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
        if len(self._young) > max(LEAST, 2 * self._lookups):
            self._old, self._young = self._young, {}
        self._lookups = 0


def cached_by_text(most_characters: int) -> Callable[[Callable[[str], _Value]], Callable[[str], _Value]]:
    """Cache a function of a text, in two generations of texts that have at most so many characters together."""

    def decorate(function: Callable[[str], _Value]) -> Callable[[str], _Value]:
        young: dict[str, _Value] = {}
        old: dict[str, _Value] = {}
        characters = 0

        @wraps(function)
        def cached(text: str) -> _Value:
            nonlocal young, old, characters
            value = young.get(text)
            if value is None:
                value = old.pop(text, None)
                if value is None:
                    value = function(text)
                if characters + len(text) > most_characters:
                    old, young, characters = young, {}, 0
                young[text] = value
                characters += len(text)
            return value

        return cached

    return decorate
