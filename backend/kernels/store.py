"""Machine code of kernels: kept in the process, and on disk in the user's cache folder.

A file holds one object, named by the digest of its text and of what else it depends on (processor, features, LLVM), with a digest
of its contents in front: a file that is damaged, foreign or unreadable is as good as absent.  The folder is the user's alone
(mode 0700, owned by the user); one that others may write is not read, for its files are code.  Files are written under a
temporary name and renamed; a folder that cannot be written is no error.  `RHO_KERNEL_CACHE` names another folder; `off`: none.

Neighbours: `llvm_leaf` (makes and links objects), `llvm_text`, `policy`.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from ...lang.opening import read_bytes
from . import llvm_leaf
from .ir import Kernel

SWITCH = "RHO_KERNEL_CACHE"
FORMAT = b"rho kernel 1\n"
_MOST_BYTES = 4 << 20
_MOST_FILES = 4096
_DIGEST_BYTES = 32


class Code(Protocol):
    """What has a text: kernels of other sorts than phases."""

    def text(self) -> str: ...
    def __hash__(self) -> int: ...


_addresses: dict[Kernel | Code, int | None] = {}
_lock = threading.Lock()
if hasattr(os, "register_at_fork"):  # a child must not find LLVM in the middle of something
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def address_of(kernel: Kernel | Code) -> int | None:
    """Where the kernel's code is, compiled now if need be; None if this machine cannot have it."""
    found = _addresses.get(kernel, 0)
    if found != 0:
        return found
    with _lock:
        if kernel not in _addresses:
            _addresses[kernel] = _made(kernel)
        return _addresses[kernel]


def is_ready(kernel: Kernel | Code) -> bool:
    """Is the code in the process?"""
    return kernel in _addresses


def is_stored(kernel: Kernel | Code) -> bool:
    """Is there a file that should hold the code?"""
    place = folder()
    return place is not None and (place / _name(_text(kernel))).exists()


def _text(kernel: Kernel | Code) -> str:
    from .llvm_text import llvm_text

    return llvm_text(kernel) if isinstance(kernel, Kernel) else kernel.text()


def _made(kernel: Kernel | Code) -> int | None:
    if llvm_leaf.binding() is None:
        return None
    text = _text(kernel)
    place, name = folder(), _name(text)
    code = None if place is None else _read(place, name)
    if code is not None:
        with contextlib.suppress(llvm_leaf.Unsupported):
            return llvm_leaf.link(code)
    try:
        code = llvm_leaf.compile_text(text)
        found = llvm_leaf.link(code)
    except llvm_leaf.Unsupported:
        return None
    if place is not None:
        _write(place, name, code)
    return found


def folder() -> Path | None:
    """Where objects are kept; None if nowhere."""
    chosen = os.environ.get(SWITCH, "")
    if chosen.lower() in ("off", "0", "no"):
        return None
    if chosen:
        return Path(chosen) if os.path.isabs(chosen) else None
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base) / "rho" / "kernels"
    home = os.path.expanduser("~")
    return Path(home) / ".cache" / "rho" / "kernels" if os.path.isabs(home) else None


def _name(text: str) -> str:
    return sha256(f"{llvm_leaf.identity()}\n{text}".encode()).hexdigest()[:40] + ".o"


def _is_private(place: Path) -> bool:
    """Does the folder belong to this user, and may nobody else write it?"""
    try:
        found = os.lstat(place)
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode):
        return False
    if not hasattr(os, "geteuid"):
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _read(place: Path, name: str) -> bytes | None:
    if not _is_private(place):
        return None
    try:
        data = read_bytes(place / name, _MOST_BYTES)
    except OSError:
        return None
    head = len(FORMAT) + _DIGEST_BYTES
    code = data[head:]
    if data[: len(FORMAT)] != FORMAT or sha256(code).digest() != data[len(FORMAT) : head]:
        return None
    return code


def _write(place: Path, name: str, code: bytes) -> None:
    temporary = place / f".{name}.{os.getpid()}"
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(place) or len(os.listdir(place)) >= _MOST_FILES:
            return
        temporary.write_bytes(FORMAT + sha256(code).digest() + code)
        os.replace(temporary, place / name)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
