"""Atomic replacement of one or several files, temporary files, and safe opening of files.

    with Replacement() as files:
        files.add("x.npy", fill)        # a temporary beside the target, filled and flushed to the disk
        files.add("y.npy", fill)
        files.commit()                  # renamed

What fails before the commit leaves every old file, or none, and no temporary.  Of several files a journal beside them says what
is to be renamed; once it is there the new files will all come, even if the process is killed: the next one that writes into the
folder renames the rest (`recover`).  Until it is there the next one removes the temporaries.

Note [Journals].  Each folder has a journal of its own files, and only of names in that folder, so that a journal which somebody
else put there moves nothing but files that are beside it.  With several folders the first one's journal decides: the others name
it and are made before it and removed before it; while it is there the files of all of them come.  A file that has changed since
is left as it is.  Journals, like temporaries, are locked by the process that is at work.

A link is followed: what it points to is replaced.  The permissions of the file replaced are kept.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import stat
from collections.abc import Callable, Collection, Sequence
from enum import Enum
from types import TracebackType
from typing import Any, BinaryIO, Final

from .processes import in_children
from .records import dataclass

# ---------------------------------------------------------------------------------------------------- temporaries
#
# Files that exist only while something is written: how they are named, locked and removed.
#
# A temporary lies beside the file it becomes and is called `.NAME.rho-RANDOM.tmp`.  Its process holds a lock on it for as long
# as it lives, so that whoever comes later knows those of a process that was killed: nobody holds their lock.  `sweep` removes
# them.  `remove_live` removes those of this process at once; whatever ends the process without unwinding calls it first.
#
# Only regular files of this user are ever removed.  Where the system has no such locks nothing is swept.

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
_MOST_NAMED = 40  # characters of the file's own name: with four bytes each a name stays below 255 bytes
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
OPEN: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

_live: set[str] = set()
in_children(_live.clear)  # the parent's are not the child's to remove


def token() -> str:
    """What makes a name unlike any other."""
    return os.urandom(8).hex()


def create(folder: str, name: str, mode: int = 0o600) -> tuple[str, int]:
    """A new temporary for the file `name` of a folder: its path, and the handle that holds its lock.  OSError."""
    while True:
        path = os.path.join(folder, f".{name[:_MOST_NAMED]}.rho-{token()}.tmp")
        _live.add(path)  # before it exists: an interrupt between the two leaves nothing
        try:
            handle = os.open(path, _CREATE, mode)
        except FileExistsError:
            keep([path])
            continue
        except BaseException:
            discard(path)
            raise
        if hold(handle) is not False and is_same(handle, path):
            return path, handle
        os.close(handle)  # somebody swept it before it was locked
        keep([path])


def hold(handle: int) -> bool | None:
    """Take the lock of an open file: is it this process's now?  None where the system has no locks."""
    if _lock is None:
        return None
    try:
        return _lock(handle)
    except BlockingIOError:
        return False
    except OSError:
        return None


def is_same(handle: int, path: str) -> bool:
    """Is the open file what the path names?"""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except OSError:
        return False


def discard(path: str) -> None:
    """Remove a temporary; gone already is as well."""
    try:
        os.unlink(path)
    except OSError:
        pass
    finally:
        _live.discard(path)


def keep(paths: Collection[str]) -> None:
    """Temporaries that have become files, or that a journal answers for: all at once no longer this process's to remove."""
    _live.difference_update(paths)


def live() -> frozenset[str]:
    """The temporaries that this process has not finished."""
    return frozenset(_live)


def remove_live() -> None:
    """Remove every temporary that this process has not finished.  Safe from any thread, and where nothing will unwind."""
    for path in tuple(_live):
        discard(path)


def is_own(status: os.stat_result) -> bool:
    """Does a file belong to this user?  Where files have no owners it does."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def is_abandoned(handle: int, path: str) -> bool:
    """Is the open file a regular one of this user, still called so, that no process holds?  If so it is locked now."""
    status = os.fstat(handle)
    return stat.S_ISREG(status.st_mode) and is_own(status) and bool(hold(handle)) and is_same(handle, path)


def leftovers(folder: str) -> tuple[list[str], list[str]]:
    """The journals and the temporaries in a folder, of whatever process."""
    try:
        names = sorted(name for name in os.listdir(folder) if ".rho-" in name)
    except OSError:
        return [], []
    journals = [os.path.join(folder, name) for name in names if JOURNAL.fullmatch(name)]
    return journals, [os.path.join(folder, name) for name in names if TEMPORARY.fullmatch(name)]


def sweep(paths: Collection[str]) -> None:
    """Remove those of some temporaries that killed processes left."""
    for path in paths:
        if path in _live:
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


# ---------------------------------------------------------------------------------------------------- replacing

FORMAT: Final = "rho files 1"
_MOST_BYTES = 1 << 20


class NotReplaceable(OSError):
    """The target is a folder, a device, a pipe: `strerror` says which."""


@dataclass(frozen=True, slots=True)
class _PathPart:
    """One file: its folder and name, its temporary with the handle that locks it, what was there before, and the permissions to
    keep."""

    folder: str
    name: str
    temporary: str
    handle: int
    before: tuple[int, ...] | None
    mode: int | None = None

    @property
    def target(self) -> str:
        return os.path.join(self.folder, self.name)


class Durability(Enum):
    """What a file must survive."""

    POWER_LOSS = "it is flushed to the disk before it is renamed"
    PROCESS = "it is only renamed: for caches, which know a damaged entry"


def replace_file(
    path: str | os.PathLike[str], fill: Callable[[BinaryIO], object], durability: Durability = Durability.POWER_LOSS,
    mode: int = 0o666,
) -> None:  # fmt: skip
    """Replace one file with what `fill` writes; a new one gets `mode`, less what the process's mask takes away.

    OSError, and whatever `fill` raises: the old file is as it was."""
    with FileReplacement(durability) as files:
        files.add(path, fill, mode)
        files.commit()


class FileReplacement:
    """Files to be replaced together.  Leaving the block without `commit` removes the temporaries."""

    def __init__(self, durability: Durability = Durability.POWER_LOSS) -> None:
        self._durability = durability
        self._parts: list[_PathPart] = []
        self._journals: list[tuple[str, int]] = []
        self._decided = False  # a journal answers for the temporaries, or they are files now

    def __enter__(self) -> FileReplacement:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        parts, journals = self._parts, self._journals
        self._parts, self._journals = [], []
        for part in parts:
            if not self._decided:
                discard(part.temporary)
            os.close(part.handle)
        for path, handle in journals:
            if path in live():
                discard(path)
            os.close(handle)
        if journals and self._decided and error is not None:  # an interrupt, or a rename that failed: as the next process would
            for folder in reversed(dict.fromkeys(part.folder for part in parts)):  # the one that decides last
                recover(folder)

    def add(self, path: str | os.PathLike[str], fill: Callable[[BinaryIO], object], mode: int = 0o666) -> None:
        """Write the new contents of a file beside it.  OSError, and whatever `fill` raises."""
        handle = self.begin(path, mode)
        with os.fdopen(handle, "wb", closefd=False) as file:
            fill(file)
        self.end(handle)

    def begin(self, path: str | os.PathLike[str], mode: int = 0o666) -> int:
        """A handle for the new contents of a file, written beside it until `end`.  OSError."""
        target = os.path.realpath(path)
        folder, name = os.path.split(target)
        recover(folder)
        before, permissions = _before(target)
        temporary, handle = create(folder, name, mode if permissions is None else 0o600)
        self._parts.append(_PathPart(folder, name, temporary, handle, before, permissions))
        return handle

    @property
    def temporaries(self) -> list[str]:
        """The files that are written."""
        return [part.temporary for part in self._parts]

    def end(self, handle: int) -> None:
        """All of a file has been written.  OSError."""
        (part,) = [part for part in self._parts if part.handle == handle]
        if self._durability is Durability.POWER_LOSS:
            os.fsync(handle)
        if part.mode is not None:
            os.chmod(part.temporary, part.mode)

    def take(self, other: FileReplacement) -> None:
        """The files of another replacement, which are to be renamed with these."""
        self._parts, other._parts = [*self._parts, *other._parts], []

    def commit(self) -> None:
        """Rename every temporary to its target.  OSError, whose `filename` is the target.

        Where the first rename fails nothing has changed.  Where a later one fails the journal stays, and with it what the
        next process needs to finish."""
        if len(self._parts) > 1:
            try:
                self._decide()
            except BaseException:
                self._undo()
                raise
        for index, part in enumerate(self._parts):
            try:
                os.replace(part.temporary, part.target)
            except Exception as error:
                if index == 0:
                    self._undo()
                if isinstance(error, OSError):
                    raise OSError(error.errno, error.strerror or str(error), part.target) from error
                raise
            keep([part.temporary])
        if self._durability is Durability.POWER_LOSS:
            for folder in dict.fromkeys(part.folder for part in self._parts):
                _sync_folder(folder)
        for path, _ in reversed(self._journals):  # the one that decides last
            with contextlib.suppress(OSError):
                os.unlink(path)

    def _undo(self) -> None:
        """Nothing has been renamed: first the journal that decides goes, then leaving the block removes the temporaries."""
        for path, _ in self._journals:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        self._decided = False

    def _decide(self) -> None:
        """A journal in each folder; the first folder's, which decides, comes last."""
        folders = list(dict.fromkeys(part.folder for part in self._parts))
        for folder in folders:
            _sync_folder(folder)
        paths = [os.path.join(folder, f".rho-{token()}.journal") for folder in folders]
        for folder, path in zip(folders, paths, strict=True):
            parts = [part for part in self._parts if part.folder == folder]
            text = json.dumps({
                "format": FORMAT,
                "decided_by": None if path == paths[0] else paths[0],
                "others": paths[1:] if path == paths[0] else [],
                "entries": [{"temporary": os.path.basename(p.temporary), "target": p.name, "before": p.before} for p in parts],
            })  # fmt: skip
            temporary, handle = create(folder, "journal")
            self._journals.append((temporary, handle))
            with os.fdopen(handle, "wb", closefd=False) as file:
                file.write(text.encode("ascii"))
            os.fsync(handle)
        keep([part.temporary for part in self._parts])
        for index in reversed(range(len(folders))):
            temporary, handle = self._journals[index]
            self._decided = index == 0
            os.replace(temporary, paths[index])
            self._journals[index] = (paths[index], handle)
            keep([temporary])
            _sync_folder(folders[index])


def _before(target: str) -> tuple[tuple[int, ...] | None, int | None]:
    """What identifies the file that is replaced, and its permissions; None where there is none.  A folder or device never is."""
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
    """Make names durable where the system lets folders be flushed."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# ------------------------------------------------------------------------------------ after a process was killed


def recover(folder: str) -> None:
    """Finish or undo what killed processes began in a folder.  Best effort: what fails stays for the next one."""
    journals, left = leftovers(folder)
    listed: set[str] = set()
    for path in journals:
        try:
            listed.update(_settle(folder, path))
        except OSError:
            continue
    sweep([path for path in left if path not in listed])


def _settle(folder: str, path: str) -> list[str]:
    """Rename what one journal lists, or remove it, then the journal; the temporaries that it still answers for.  OSError."""
    handle = os.open(path, OPEN)
    try:
        decided, others, entries = _read(handle) or (None, (), ())
        sources = [os.path.join(folder, temporary) for temporary, _, _ in entries]
        if not is_abandoned(handle, path):
            return sources
        finish = decided is None or os.path.lexists(decided)
        for source, (_, name, before) in zip(sources, entries, strict=True):
            target = os.path.join(folder, name)
            if finish and _is_own_file(source) and _is_as_before(target, before):
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


def _read(handle: int) -> _Journal | None:
    """(who decides, the others, (temporary, target, what was there) of each file); None if it is not a journal."""
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


def _is_own_file(path: str) -> bool:
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and is_own(status)


def _is_as_before(target: str, before: tuple[int, ...] | None) -> bool:
    try:
        return _identity(os.lstat(target)) == before
    except FileNotFoundError:
        return before is None


# ---------------------------------------------------------------------------------------------------- opening
#
# The one way in which Rho opens a file for reading.
#
# A name may stand for anything: a device without an end, a pipe that nobody writes to, a folder, a link to either.  Whatever
# is read here is a regular file, told from what was opened and not from its name, and nothing waits for somebody to write.
# A reader says how many bytes it takes at most, or reads in blocks.  A pipe is read only where the user named it on the
# command line (`Pipes.READ`), once and to its end.
#
# All errors are OSErrors whose `strerror` reads on after "cannot be read:"; text that is not UTF-8 is a UnicodeDecodeError.

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
