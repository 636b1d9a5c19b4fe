"""Files replaced whole or not at all, and several of them together.

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

Neighbours: `temporaries`; `backend.run.files.writing`, `shell.cli.results` and the caches write through this.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Callable, Sequence
from enum import Enum
from types import TracebackType
from typing import Any, BinaryIO, Final

from . import temporaries
from .records import dataclass

FORMAT: Final = "rho files 1"
_MOST_BYTES = 1 << 20


class NotReplaceable(OSError):
    """The target is a folder, a device, a pipe: `strerror` says which."""


@dataclass(frozen=True, slots=True)
class _Part:
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
    with Replacement(durability) as files:
        files.add(path, fill, mode)
        files.commit()


class Replacement:
    """Files to be replaced together.  Leaving the block without `commit` removes the temporaries."""

    def __init__(self, durability: Durability = Durability.POWER_LOSS) -> None:
        self._durability = durability
        self._parts: list[_Part] = []
        self._journals: list[tuple[str, int]] = []
        self._decided = False  # a journal answers for the temporaries, or they are files now

    def __enter__(self) -> Replacement:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        parts, journals = self._parts, self._journals
        self._parts, self._journals = [], []
        for part in parts:
            if not self._decided:
                temporaries.discard(part.temporary)
            os.close(part.handle)
        for path, handle in journals:
            if path in temporaries.live():
                temporaries.discard(path)
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
        before, kept = _before(target)
        temporary, handle = temporaries.create(folder, name, mode if kept is None else 0o600)
        self._parts.append(_Part(folder, name, temporary, handle, before, kept))
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

    def take(self, other: Replacement) -> None:
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
        for place, part in enumerate(self._parts):
            try:
                os.replace(part.temporary, part.target)
            except Exception as error:
                if place == 0:
                    self._undo()
                if isinstance(error, OSError):
                    raise OSError(error.errno, error.strerror or str(error), part.target) from error
                raise
            temporaries.keep([part.temporary])
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
        paths = [os.path.join(folder, f".rho-{temporaries.token()}.journal") for folder in folders]
        for folder, path in zip(folders, paths, strict=True):
            own = [part for part in self._parts if part.folder == folder]
            text = json.dumps({
                "format": FORMAT,
                "decided_by": None if path == paths[0] else paths[0],
                "others": paths[1:] if path == paths[0] else [],
                "entries": [{"temporary": os.path.basename(p.temporary), "target": p.name, "before": p.before} for p in own],
            })  # fmt: skip
            temporary, handle = temporaries.create(folder, "journal")
            self._journals.append((temporary, handle))
            with os.fdopen(handle, "wb", closefd=False) as file:
                file.write(text.encode("ascii"))
            os.fsync(handle)
        temporaries.keep([part.temporary for part in self._parts])
        for place in reversed(range(len(folders))):
            temporary, handle = self._journals[place]
            self._decided = place == 0
            os.replace(temporary, paths[place])
            self._journals[place] = (paths[place], handle)
            temporaries.keep([temporary])
            _sync_folder(folders[place])


def _before(target: str) -> tuple[tuple[int, ...] | None, int | None]:
    """What identifies the file that is replaced, and its permissions; None where there is none.  A folder or device never is."""
    try:
        found = os.stat(target)
    except FileNotFoundError:
        return None, None
    if stat.S_ISDIR(found.st_mode):
        raise NotReplaceable(21, "it is a folder", target)
    if not stat.S_ISREG(found.st_mode):
        raise NotReplaceable(22, "it is not a regular file", target)
    return _identity(found), stat.S_IMODE(found.st_mode)


def _identity(found: os.stat_result) -> tuple[int, ...]:
    return (found.st_ino, found.st_size, found.st_mtime_ns)


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
    journals, left = temporaries.leftovers(folder)
    listed: set[str] = set()
    for path in journals:
        try:
            listed.update(_settle(folder, path))
        except OSError:
            continue
    temporaries.sweep([path for path in left if path not in listed])


def _settle(folder: str, path: str) -> list[str]:
    """Rename what one journal lists, or remove it, then the journal; the temporaries that it still answers for.  OSError."""
    handle = os.open(path, temporaries.OPEN)
    try:
        decided, others, entries = _read(handle) or (None, (), ())
        sources = [os.path.join(folder, temporary) for temporary, _, _ in entries]
        if not temporaries.is_abandoned(handle, path):
            return sources
        finish = decided is None or os.path.lexists(decided)
        for source, (_, name, before) in zip(sources, entries, strict=True):
            target = os.path.join(folder, name)
            if finish and _is_own_file(source) and _is_as_before(target, before):
                os.replace(source, target)
            else:
                temporaries.discard(source)
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
            if not (_is_name(temporary) and temporaries.TEMPORARY.fullmatch(temporary) and _is_name(name)):
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
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and temporaries.is_own(found)


def _is_as_before(target: str, before: tuple[int, ...] | None) -> bool:
    try:
        return _identity(os.lstat(target)) == before
    except FileNotFoundError:
        return before is None
