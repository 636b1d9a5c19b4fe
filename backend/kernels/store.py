"""Machine code of kernels: kept in the process, and on disk in the user's cache folder.

An entry holds one object, named by the digest of its text and of what else it depends on (processor, features, LLVM).  Entries
are code: only those that this user's runs wrote, under the name that they have, are read (`lang.user_cache`); one that is
damaged, foreign, exchanged or unreadable is as good as absent, and a folder that cannot be written is no error.
`RHO_KERNEL_CACHE` names another folder; `off`: none.

Neighbours: `llvm_leaf` (makes and links objects), `llvm_text`, `policy`.
"""

from __future__ import annotations

import contextlib
import os
import threading
from typing import Protocol

from ...lang.user_cache import Cache
from . import llvm_leaf
from .ir import Kernel

SWITCH = "RHO_KERNEL_CACHE"
CACHE = Cache("kernels", SWITCH, ".o", 4 << 20, 4096)


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
    file = CACHE.file(_key(_text(kernel)))
    return file is not None and file.exists()


def _text(kernel: Kernel | Code) -> str:
    from .llvm_text import llvm_text

    return llvm_text(kernel) if isinstance(kernel, Kernel) else kernel.text()


def _made(kernel: Kernel | Code) -> int | None:
    if llvm_leaf.binding() is None:
        return None
    text = _text(kernel)
    key = _key(text)
    code = CACHE.read(key)
    if code is not None:
        with contextlib.suppress(llvm_leaf.Unsupported):
            return llvm_leaf.link(code)
    try:
        code = llvm_leaf.compile_text(text)
        found = llvm_leaf.link(code)
    except llvm_leaf.Unsupported:
        return None
    CACHE.write(key, code)
    return found


def _key(text: str) -> str:
    return f"{llvm_leaf.identity()}\n{text}"
