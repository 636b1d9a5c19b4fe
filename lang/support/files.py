"""Atomic replacement of one or several files, temporary files, and safe opening of files.

    with FileReplacement() as files:
        files.add("x.npy", fill)        # a temporary beside the target, filled and flushed to the disk
        files.add("y.npy", fill)
        files.commit()                  # renamed

A failure before the commit leaves the old files as they were, and no temporaries.  For several files a journal lists the renames.
Once it exists the replacement is decided, even if the process is killed: the next process that writes into the folder finishes
the renames (`recover`).  Before it exists, the next process removes the temporaries.

Note [Journals].  Each folder has a journal with names in that folder only, so that a forged journal can move only files beside
it. With several folders the journal of the first one decides: the others refer to it, are created before it and removed before
it, and their renames are finished as long as it exists.  A target that has changed meanwhile is left alone.  Journals, like
temporaries, are locked by the process that made them.

A link is followed: the file it points to is replaced.  The permissions of a replaced file are kept.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable, Collection, Sequence
from enum import Enum
from types import TracebackType
from typing import Any, BinaryIO, Final

from .records import dataclass

# ---------------------------------------------------------------------------------------------------- temporaries
#
# A temporary is in the folder of the file it becomes and is called `.NAME.rho-RANDOM.tmp`.  Its process holds a lock on it, so
# the temporaries of killed processes are those that nobody locks; `sweep` removes them.  `remove_live` removes those of this
# process; code that ends the process without unwinding calls it first.
#
# Only regular files of this user are removed.  Where the system has no such locks, nothing is swept.

try:
    import fcntl
except ImportError:  # Windows removes no file that is open
    _lock: Callable[[int], bool] | None = None
else:

    def _lock(handle: int) -> bool:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True


TEMPORARY: Final = re.compile(r"\..*\.rho-[0-9a-f]{16}\.tmp", re.DOTALL)
JOURNAL: Final = re.compile(r"\.rho-[0-9a-f]{16}\.journal")
_MOST_NAMED = 40  # characters of the target's name in that of its temporary, which at four bytes each stays below 255 bytes
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
OPEN: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

_live: dict[str, int] = {}
"""The process that made each temporary: those of the parent are not a forked child's to remove."""


def token() -> str:
    """A random part of a file name."""
    return os.urandom(8).hex()


def create(folder: str, name: str, mode: int = 0o600) -> tuple[str, int]:
    """Create a temporary for the file `name` of a folder: its path, and the handle that holds its lock.  Raises OSError."""
    while True:
        path = os.path.join(folder, f".{name[:_MOST_NAMED]}.rho-{token()}.tmp")
        _live[path] = os.getpid()  # before it exists, so that an interrupt leaves no file
        try:
            handle = os.open(path, _CREATE, mode)
        except FileExistsError:
            release([path])
            continue
        except BaseException:
            discard(path)
            raise
        if try_lock(handle) is not False and is_same(handle, path):
            return path, handle
        os.close(handle)  # another process swept it before it was locked
        release([path])


def try_lock(handle: int) -> bool | None:
    """Try to lock an open file: was it locked?  None where the system has no locks."""
    if _lock is None:
        return None
    try:
        return _lock(handle)
    except BlockingIOError:
        return False
    except OSError:
        return None


def is_same(handle: int, path: str) -> bool:
    """Does the path name the open file?"""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except OSError:
        return False


def discard(path: str) -> None:
    """Remove a temporary, if it still exists."""
    try:
        os.unlink(path)
    except OSError:
        pass
    finally:
        _live.pop(path, None)


def release(paths: Collection[str]) -> None:
    """Forget temporaries that have been renamed or are listed in a journal: `remove_live` no longer removes them."""
    for path in paths:
        _live.pop(path, None)


def live() -> frozenset[str]:
    """The unfinished temporaries of this process."""
    return frozenset([path for path, process in [*_live.items()] if process == os.getpid()])


def remove_live() -> None:
    """Remove the unfinished temporaries of this process.  Safe from any thread."""
    for path in live():
        discard(path)


def belongs_to_user(status: os.stat_result) -> bool:
    """Does a file belong to this user?  True where files have no owners."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def is_abandoned(handle: int, path: str) -> bool:
    """Is the open file a regular file of this user, still at the path, that no process locks?  If so, it is locked now."""
    status = os.fstat(handle)
    return stat.S_ISREG(status.st_mode) and belongs_to_user(status) and bool(try_lock(handle)) and is_same(handle, path)


def leftovers(folder: str) -> tuple[list[str], list[str]]:
    """The journals and the temporaries of all processes in a folder."""
    try:
        names = sorted(name for name in os.listdir(folder) if ".rho-" in name)
    except OSError:
        return [], []
    journals = [os.path.join(folder, name) for name in names if JOURNAL.fullmatch(name)]
    return journals, [os.path.join(folder, name) for name in names if TEMPORARY.fullmatch(name)]


def sweep(paths: Collection[str]) -> None:
    """Remove those temporaries, among some, that belong to killed processes."""
    for path in paths:
        if path in live():
            continue
        try:
            handle = os.open(path, OPEN)
        except OSError:
            continue
        try:
            if is_abandoned(handle, path):
                discard(path)
        finally:
            os.close(handle)


# ---------------------------------------------------------------------------------------------------- replacement

FORMAT: Final = "rho files 1"
_MOST_BYTES = 1 << 20


class NotReplaceable(OSError):
    """The target is a folder, a device or a pipe; `strerror` says which."""


@dataclass(frozen=True, slots=True)
class _PendingFile:
    """One file to be replaced: its folder and name, its temporary with the handle that locks it, and of the file that it replaces
    (None for a new one) the identity and the permissions."""

    folder: str
    name: str
    temporary: str
    handle: int
    identity: tuple[int, ...] | None
    mode: int | None = None

    @property
    def target(self) -> str:
        return os.path.join(self.folder, self.name)


class Durability(Enum):
    """The failures that a replaced file must survive."""

    POWER_LOSS = "it is flushed to the disk before it is renamed"
    PROCESS = "it is only renamed: for caches, which recognise damaged entries"


def replace_file(
    path: str | os.PathLike[str], fill: Callable[[BinaryIO], object], durability: Durability = Durability.POWER_LOSS,
    mode: int = 0o666,
) -> None:  # fmt: skip
    """Replace one file by what `fill` writes; a new file gets `mode`, restricted by the process's mask.

    Raises OSError, or what `fill` raises; the old file is then unchanged."""
    with FileReplacement(durability) as files:
        files.add(path, fill, mode)
        files.commit()


class FileReplacement:
    """Files that are replaced together.  Leaving the block without `commit` removes the temporaries."""

    def __init__(self, durability: Durability = Durability.POWER_LOSS) -> None:
        self._durability = durability
        self._parts: list[_PendingFile] = []
        self._journals: list[tuple[str, int]] = []
        self._is_decided = False  # the journal exists, or the temporaries have been renamed

    def __enter__(self) -> FileReplacement:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        parts, journals = self._parts, self._journals
        self._parts, self._journals = [], []
        for part in parts:
            if not self._is_decided:
                discard(part.temporary)
            os.close(part.handle)
        for path, handle in journals:
            if path in live():
                discard(path)
            os.close(handle)
        if journals and self._is_decided and error is not None:  # an interrupt, or a failed rename
            for folder in reversed(dict.fromkeys(part.folder for part in parts)):  # the deciding journal's folder last
                recover(folder)

    def add(self, path: str | os.PathLike[str], fill: Callable[[BinaryIO], object], mode: int = 0o666) -> None:
        """Write the new content of a file into a temporary.  Raises OSError, or what `fill` raises."""
        handle = self.begin(path, mode)
        with os.fdopen(handle, "wb", closefd=False) as file:
            fill(file)
        self.end(handle)

    def begin(self, path: str | os.PathLike[str], mode: int = 0o666) -> int:
        """A handle for the new content of a file, to be written before `end`.  Raises OSError."""
        target = os.path.realpath(path)
        folder, name = os.path.split(target)
        recover(folder)
        before, permissions = _identity_and_mode(target)
        temporary, handle = create(folder, name, mode if permissions is None else 0o600)
        self._parts.append(_PendingFile(folder, name, temporary, handle, before, permissions))
        return handle

    @property
    def temporaries(self) -> list[str]:
        """The paths of the temporaries."""
        return [part.temporary for part in self._parts]

    def end(self, handle: int) -> None:
        """Finish the temporary of a handle.  Raises OSError."""
        (part,) = [part for part in self._parts if part.handle == handle]
        if self._durability is Durability.POWER_LOSS:
            os.fsync(handle)
        if part.mode is not None:
            os.chmod(part.temporary, part.mode)

    def merge(self, other: FileReplacement) -> None:
        """Take over the files of another replacement."""
        self._parts, other._parts = [*self._parts, *other._parts], []

    def commit(self) -> None:
        """Rename every temporary to its target.  Raises OSError, whose `filename` is the target.

        If the first rename fails, nothing has changed.  If a later one fails, the journal stays, so that the next process can
        finish."""
        if len(self._parts) > 1:
            try:
                self._write_journals()
            except BaseException:
                self._remove_journals()
                raise
        for index, part in enumerate(self._parts):
            try:
                os.replace(part.temporary, part.target)
            except Exception as error:
                if index == 0:
                    self._remove_journals()
                if isinstance(error, OSError):
                    raise OSError(error.errno, error.strerror or str(error), part.target) from error
                raise
            release([part.temporary])
        if self._durability is Durability.POWER_LOSS:
            for folder in dict.fromkeys(part.folder for part in self._parts):
                _sync_folder(folder)
        for path, _ in reversed(self._journals):  # the deciding one last
            with contextlib.suppress(OSError):
                os.unlink(path)

    def _remove_journals(self) -> None:
        """Remove the journals, the deciding one first, before anything is renamed; leaving the block removes the temporaries."""
        for path, _ in self._journals:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        self._is_decided = False

    def _write_journals(self) -> None:
        """Write a journal into each folder; that of the first folder, which decides, last."""
        import json

        folders = list(dict.fromkeys(part.folder for part in self._parts))
        for folder in folders:
            _sync_folder(folder)
        paths = [os.path.join(folder, f".rho-{token()}.journal") for folder in folders]
        for folder, path in zip(folders, paths, strict=True):
            parts = [part for part in self._parts if part.folder == folder]
            content = json.dumps({
                "format": FORMAT,
                "decided_by": None if path == paths[0] else paths[0],
                "others": paths[1:] if path == paths[0] else [],
                "entries": [{"temporary": os.path.basename(p.temporary), "target": p.name, "before": p.identity} for p in parts],
            })  # fmt: skip
            temporary, handle = create(folder, "journal")
            self._journals.append((temporary, handle))
            with os.fdopen(handle, "wb", closefd=False) as file:
                file.write(content.encode("ascii"))
            os.fsync(handle)
        release([part.temporary for part in self._parts])
        for index in reversed(range(len(folders))):
            temporary, handle = self._journals[index]
            self._is_decided = index == 0
            os.replace(temporary, paths[index])
            self._journals[index] = (paths[index], handle)
            release([temporary])
            _sync_folder(folders[index])


def _identity_and_mode(target: str) -> tuple[tuple[int, ...] | None, int | None]:
    """The identity and the permissions of the file to be replaced, None if there is none.  Raises NotReplaceable."""
    try:
        status = os.stat(target)
    except FileNotFoundError:
        return None, None
    if stat.S_ISDIR(status.st_mode):
        raise NotReplaceable(21, "it is a folder", target)
    if not stat.S_ISREG(status.st_mode):
        raise NotReplaceable(22, "it is not a regular file", target)
    return _identity(status), stat.S_IMODE(status.st_mode)


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def _sync_folder(folder: str) -> None:
    """Flush a folder to the disk, where the system can, so that renames survive a power loss."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# ------------------------------------------------------------------------------------ after a process was killed


def recover(folder: str) -> None:
    """Finish or undo the replacements of killed processes in a folder, best effort: a failure is left for the next call."""
    journals, answered = leftovers(folder)
    listed: set[str] = set()
    for path in journals:
        try:
            listed.update(_finish_or_undo(folder, path))
        except OSError:
            continue
    sweep([path for path in answered if path not in listed])


def _finish_or_undo(folder: str, path: str) -> list[str]:
    """Finish or undo one journal: rename or remove its temporaries, then remove it.

    Returns the temporaries of a journal whose process is at work, which must stay.  Raises OSError."""
    handle = os.open(path, OPEN)
    try:
        decided, others, entries = _read_journal(handle) or (None, (), ())
        sources = [os.path.join(folder, temporary) for temporary, _, _ in entries]
        if not is_abandoned(handle, path):
            return sources
        finish = decided is None or os.path.lexists(decided)
        for source, (_, name, before) in zip(sources, entries, strict=True):
            target = os.path.join(folder, name)
            if finish and _is_own_regular_file(source) and _is_unchanged(target, before):
                os.replace(source, target)
            else:
                discard(source)
        _sync_folder(folder)
        if not any(os.path.lexists(other) for other in others):
            os.unlink(path)
        return []
    finally:
        os.close(handle)


_Journal = tuple[str | None, Sequence[str], Sequence[tuple[str, str, tuple[int, ...] | None]]]


def _read_journal(handle: int) -> _Journal | None:
    """(the deciding journal or None for itself, the other journals, (temporary, target, identity of the old file) of each file);
    None if it is not a journal."""
    import json

    try:
        data: Any = json.loads(os.pread(handle, _MOST_BYTES, 0))
        if data["format"] != FORMAT or not (data["decided_by"] is None or isinstance(data["decided_by"], str)):
            return None
        others, entries = data["others"], []
        for entry in data["entries"]:
            temporary, name, before = entry["temporary"], entry["target"], entry["before"]
            if not (_is_name(temporary) and TEMPORARY.fullmatch(temporary) and _is_name(name)):
                return None
            if before is not None and not (len(before) == 3 and all(type(n) is int for n in before)):
                return None
            entries.append((temporary, name, None if before is None else tuple(before)))
        if not all(isinstance(other, str) for other in others):
            return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return data["decided_by"], others, entries


def _is_name(text: object) -> bool:
    return isinstance(text, str) and text not in ("", ".", "..") and os.path.basename(text) == text and "\0" not in text


def _is_own_regular_file(path: str) -> bool:
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and belongs_to_user(status)


def _is_unchanged(target: str, before: tuple[int, ...] | None) -> bool:
    try:
        return _identity(os.lstat(target)) == before
    except FileNotFoundError:
        return before is None


# ---------------------------------------------------------------------------------------------------- reading
#
# Rho opens every file for reading here.  A path may name an endless device, a pipe without a writer, a folder, or a link to one
# of these; only regular files are read, decided from the open file and not from its name, and opening never blocks.  A reader
# gives the most bytes it accepts, or reads in blocks.  A pipe is read only where the user named it on the command line
# (`Pipes.READ`), once and to its end.
#
# Errors are OSErrors whose `strerror` continues "cannot be read:"; text that is not UTF-8 is a UnicodeDecodeError.

StrPath = str | os.PathLike[str]

BLOCK: Final = 1 << 20
"""Bytes that are read at a time."""

KERNEL_TEXT: Final = 1 << 16
"""Most bytes of a file of `/proc` or `/sys`, whose reported size is a page however short its content is."""

_FLAGS: Final = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"))
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_BENEATH: Final = os.open in os.supports_dir_fd and bool(_NO_LINK)


class Pipes(Enum):
    """Whether a pipe may be read."""

    REFUSED = "only a regular file"
    READ = "also a pipe: the user named it"


class NotRegular(OSError):
    """The file is a device, a socket, or a pipe that the user did not name."""

    def __init__(self, path: StrPath) -> None:
        super().__init__(errno.EINVAL, "it is not a regular file", os.fspath(path))


class TooLarge(OSError):
    """The file has more bytes than its reader accepts."""

    def __init__(self, path: StrPath, most: int) -> None:
        super().__init__(errno.EFBIG, f"it has more than the {most:,} bytes that are read", os.fspath(path))


def open_regular(path: StrPath) -> BinaryIO:
    """Open a regular file for reading, without blocking.  Raises NotRegular or another OSError."""
    return _regular(os.open(path, _FLAGS), path)


def open_beneath(folder: StrPath, parts: Sequence[str]) -> BinaryIO:
    """Open the regular file at the path `parts` inside a folder, following no links inside it, so that the file is inside too.

    The path of the folder itself may have links.  `parts` are names, not `.` or `..`."""
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
    position = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            inside = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | _NO_LINK, dir_fd=position)
            os.close(position)
            position = inside
        return _regular(os.open(parts[-1], _FLAGS | _NO_LINK, dir_fd=position), path)
    finally:
        os.close(position)


def is_name(part: str) -> bool:
    """Is a part of a path the name of an entry of a folder: not `.`, `..` or several parts?"""
    return part not in ("", ".", "..") and "/" not in part and "\0" not in part and (os.sep == "/" or os.sep not in part)


def _regular(handle: int, path: StrPath) -> BinaryIO:
    """The file of a handle, if it is regular; else the handle is closed and NotRegular or another OSError raised."""
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
    """Does a path name a pipe (`mkfifo`, `<(…)`)?"""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def read_bytes(path: StrPath, most: int, pipes: Pipes = Pipes.REFUSED) -> bytes:
    """The content of a file of at most `most` bytes; a pipe is read to its end, which may block.  Raises TooLarge."""
    if pipes is Pipes.READ and is_pipe(path):
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)), "rb") as file:
            return read_stream(file, most, path)
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise TooLarge(path, most)
        return read_stream(file, most, path)


def read_stream(file: BinaryIO, most: int, name: StrPath = "-") -> bytes:
    """The rest of an open file, at most `most` bytes.  Raises TooLarge."""
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
    """The text of a UTF-8 file (with or without a byte order mark) of at most `most` bytes."""
    return read_bytes(path, most, pipes).decode("utf-8-sig")
