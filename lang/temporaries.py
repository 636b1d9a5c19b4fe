"""Files that exist only while something is written: how they are named, locked and removed.

A temporary lies beside the file it becomes and is called `.NAME.rho-RANDOM.tmp`.  Its process holds a lock on it for as long
as it lives, so that whoever comes later knows those of a process that was killed: nobody holds their lock.  `sweep` removes
them.  `remove_live` removes those of this process at once; whatever ends the process without unwinding calls it first.

Only regular files of this user are ever removed.  Where the system has no such locks nothing is swept.

Neighbours: `replacing` (what temporaries are for), `user_cache`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection
from typing import Final

from .forking import in_children

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


def is_own(found: os.stat_result) -> bool:
    """Does a file belong to this user?  Where files have no owners it does."""
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


def is_abandoned(handle: int, path: str) -> bool:
    """Is the open file a regular one of this user, still called so, that no process holds?  If so it is locked now."""
    found = os.fstat(handle)
    return stat.S_ISREG(found.st_mode) and is_own(found) and bool(hold(handle)) and is_same(handle, path)


def leftovers(folder: str) -> tuple[list[str], list[str]]:
    """The journals and the temporaries in a folder, of whatever process."""
    try:
        found = sorted(name for name in os.listdir(folder) if ".rho-" in name)
    except OSError:
        return [], []
    journals = [os.path.join(folder, name) for name in found if JOURNAL.fullmatch(name)]
    return journals, [os.path.join(folder, name) for name in found if TEMPORARY.fullmatch(name)]


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
