"""The BLAS that NumPy was built with: its products by address, and how many threads of its own it uses.

Its threads wait for each other in turns of the scheduler, so that a product takes twenty times as long on a machine that also
does something else, and go on looking for work for a tenth of a second, in the way of the device's team.  Rho therefore cuts
products itself, and asks for one thread meanwhile (`alone`).  The number is the whole process's: it is set back when the last
product is done, and products that others make at that moment run on one thread.

Known is OpenBLAS with 64-bit numbers, as in NumPy's wheels; with any other NumPy's own calls are used.

Neighbours: `products` (asks), `native/product.c` (calls what is found here).
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from ...lang import forking

PRODUCTS: Final = ("sgemm", "dgemm", "cgemm", "zgemm")
_AFFIXES: Final = (("scipy_", "64_"), ("", "64_"))
"""Around the names of OpenBLAS with 64-bit numbers: in NumPy's wheels, and as others build it."""


@dataclass(frozen=True, slots=True)
class Blas:
    """Addresses of products by name; how many threads it has and should have."""

    addresses: Mapping[str, int]
    threads: Callable[[], int]
    set_threads: Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Library:
    """The shared library, and what is around its names."""

    handle: ctypes.CDLL
    before: str
    after: str

    def function(self, name: str) -> Any:
        """AttributeError: there is none."""
        return getattr(self.handle, f"{self.before}{name}{self.after}")

    def address(self, name: str) -> int | None:
        try:
            return ctypes.cast(self.function(name), ctypes.c_void_p).value
        except AttributeError:
            return None


@cache
def found_library() -> Library | None:
    """OpenBLAS as NumPy has loaded it; None where nothing is known of it."""
    module = getattr(getattr(np, "_core", None), "_multiarray_umath", None)
    path = getattr(module, "__file__", None)
    if path is None or os.name != "posix":
        return None
    try:
        handle = ctypes.PyDLL(path)
    except OSError:
        return None
    found = (Library(handle, before, after) for before, after in _AFFIXES)
    return next((library for library in found if library.address("openblas_get_num_threads") is not None), None)


@cache
def blas() -> Blas | None:
    """What there is; None where nothing is known of it."""
    library = found_library()
    if library is None:
        return None
    addresses = {name: library.address(f"cblas_{name}") or 0 for name in PRODUCTS}
    try:
        asked, told = library.function("openblas_get_num_threads"), library.function("openblas_set_num_threads")
    except AttributeError:
        return None
    asked.restype, asked.argtypes, told.restype, told.argtypes = ctypes.c_int, (), None, (ctypes.c_int,)
    return Blas(addresses, asked, told) if all(addresses.values()) else None


class _Alone:
    """While one of these lives BLAS uses one thread."""

    __slots__ = ("__weakref__", "own")

    def __init__(self) -> None:
        self.own = weakref.ref(self)
        _enter(self.own)

    def __enter__(self) -> _Alone:
        return self

    def __exit__(self, *ignored: object) -> None:
        _leave(self.own)

    def __del__(self) -> None:
        _leave(self.own)


def alone(*ignored: object) -> _Alone:
    """Something to hold while BLAS is to use one thread, as a context or until nobody has it any more."""
    return _Alone()


_lock = forking.lock()
_held: set[weakref.ref[_Alone]] = set()
"""Also of one whose end an interrupt cut short: it is dead, and the next to end puts its number of threads back."""
_before = 1


def _enter(own: weakref.ref[_Alone]) -> None:
    global _before
    found = blas()
    with _lock:
        if found is not None:
            now = found.threads()
            if now > 1 or not _held:
                _before = now
            if now > 1:  # also where somebody has set it since
                found.set_threads(1)
        _held.add(own)


def _leave(own: weakref.ref[_Alone]) -> None:
    found = blas()
    with _lock:
        if own not in _held:
            return
        _held.discard(own)
        _held.difference_update([other for other in _held if other() is None])
        if found is not None and not _held and _before > 1 and found.threads() == 1:
            found.set_threads(_before)


def _after_fork() -> None:
    """The threads that were inside are not in the child."""
    found = blas() if _held else None
    if found is not None and _before > 1:
        found.set_threads(_before)
    _held.clear()


forking.in_children(_after_fork)
