"""Machine code of kernels: kept in the process, and on disk in the user's cache folder.

An entry holds one object, named by the digest of its text and of what else it depends on (processor, features, LLVM).  Entries
are code: only those that this user's runs wrote, under the name that they have, are read (`lang.user_cache`); one that is
damaged, foreign, exchanged or unreadable is as good as absent, and a folder that cannot be written is no error.
`RHO_KERNEL_CACHE` names another folder; `off`: none.

Neighbours: `llvm_leaf` (makes and links objects), `apart` (makes them in another process), `policy`.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Final, Protocol

from ...lang import forking
from ...lang.user_cache import Cache
from . import apart, dumping, llvm_leaf

SWITCH = "RHO_KERNEL_CACHE"
CACHE = Cache("kernels", SWITCH, ".o", 4 << 20, 4096)


class Code(Protocol):
    """What has a text."""

    def text(self) -> str: ...
    def __hash__(self) -> int: ...


@dataclass(slots=True)
class Made:
    """What this process spent on machine code: modules compiled, their nanoseconds, and modules that were in the cache."""

    compiled: int = 0
    nanoseconds: int = 0
    longest: int = 0
    stored: int = 0

    def add(self, nanoseconds: int) -> None:
        self.compiled += 1
        self.nanoseconds += nanoseconds
        self.longest = max(self.longest, nanoseconds)


made: Final = Made()
_addresses: dict[Code, int | None] = {}
_lock = forking.lock()
"""A child must not find LLVM in the middle of something."""


def address_of(kernel: Code) -> int | None:
    """Where the kernel's code is, compiled now if need be; None if this machine cannot have it."""
    found = _addresses.get(kernel, 0)
    if found != 0:
        return found
    with _lock:
        if kernel not in _addresses:
            _addresses[kernel] = _made(kernel)
        return _addresses[kernel]


def is_ready(kernel: Code) -> bool:
    """Is the code in the process?"""
    return kernel in _addresses


def is_stored(kernel: Code) -> bool:
    """Is there a file that should hold the code?"""
    file = CACHE.file(_key(kernel.text()))
    return file is not None and file.exists()


def _made(kernel: Code) -> int | None:
    if llvm_leaf.binding() is None:
        return None
    text = kernel.text()
    key = _key(text)
    code = CACHE.read(key)
    if code is not None:
        with contextlib.suppress(llvm_leaf.Unsupported):
            address = llvm_leaf.link(code)
            made.stored += 1
            return _told(text, code, address)
    began = perf_counter_ns()
    try:
        code = apart.compile_text(text)
        address = llvm_leaf.link(code)
    except llvm_leaf.Unsupported:
        return None
    made.add(perf_counter_ns() - began)
    CACHE.write(key, code)
    if dumping.is_wanted():
        name = dumping.name_of(text)
        dumping.write(name, "ll", text)
        dumping.write(name, "s", llvm_leaf.assembly(text))
    return _told(text, code, address)


def _told(text: str, code: bytes, address: int) -> int:
    if dumping.is_mapped():
        dumping.tell_perf(dumping.name_of(text), address, llvm_leaf.code_bytes(code))
    return address


def _key(text: str) -> str:
    return f"{llvm_leaf.identity()}\n{text}"
