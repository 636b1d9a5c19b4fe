"""Fork safety and interruptible waits: after a fork no lock of Rho is held, and no state is half changed.

Only the thread that forks lives on in the child.  A lock that another one held would be held for ever there, and what it guards
be half changed.  So a fork takes every lock of this module's (`lock`) beforehand, which waits for whoever holds one, and both
processes release them; the child then begins anew what belongs to its parent alone (`in_children`: threads, pipes to processes).

Locks may be nested in any order: who forks holds none while it waits for one.  They are reentrant, so that a fork inside a block
of its own thread does not wait for itself.  All is behind one registration of Python's: a function that another thread registered
while a process forks would be called after the fork without having been called before it.

A module that another thread is importing would be half there in the child, and never unlocked: a fork waits also for what Rho is
importing, and lets nobody begin with a module until it is over.
"""

from __future__ import annotations

import _imp
import os
import queue
import sys
from _thread import RLock, get_ident
from collections.abc import Callable
from time import sleep
from types import FrameType
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future


# ---------------------------------------------------------------------------------------------------- forking

_IMPORTING: Final = "<frozen importlib._bootstrap>"
_PACKAGE: Final = __name__.removesuffix("lang.support.processes")
_AGAIN: Final = 0.001
"""Seconds until it is looked again whether a module is imported."""

_forking: Final = RLock()
"""Held from before a fork until after it: two threads fork one after the other."""
_locks: Final[list[RLock]] = []
_renewals: Final[list[Callable[[], object]]] = []
_taken: Final[list[RLock]] = []
"""By the thread that forks; the list, and not the one of all locks, which may grow meanwhile, says what is to be released."""


def lock() -> RLock:
    """A lock of the process, for as long as it lives, that a fork waits for."""
    new = RLock()
    _locks.append(new)
    return new


def in_children(renewal: Callable[[], object]) -> None:
    """Call it in every child that is forked from now on, where all locks are held and no other thread is."""
    _renewals.append(renewal)


def _before() -> None:
    _forking.acquire()
    _take_locks()
    _imp.acquire_lock()
    while any(map(_imports, [frame for thread, frame in sys._current_frames().items() if thread != get_ident()])):
        _imp.release_lock()
        _release()
        sleep(_AGAIN)
        _take_locks()
        _imp.acquire_lock()


def _imports(frame: FrameType | None) -> bool:
    """Is a thread that is in this frame importing something for a function of Rho?"""
    inside = False
    while frame is not None:
        inside = inside or frame.f_code.co_filename == _IMPORTING
        if inside and str(frame.f_globals.get("__name__")).startswith(_PACKAGE):
            return True
        frame = frame.f_back
    return False


def _take_locks() -> None:
    first: RLock | None = None
    while True:
        if first is not None:
            _taken.append(first)
            first.acquire()
        first = next((one for one in [*_locks] if one is not first and not _try(one)), None)
        if first is None:
            return
        _release()


def _try(one: RLock) -> bool:
    if one.acquire(blocking=False):
        _taken.append(one)
        return True
    return False


def _release() -> None:
    while _taken:
        try:
            _taken.pop().release()
        except RuntimeError:  # an interrupt came before it was taken
            continue


def _after_in_parent() -> None:
    _imp.release_lock()
    _release()
    _forking.release()


def _after_in_child() -> None:
    _imp.release_lock()
    for renewal in [*_renewals]:
        renewal()
    _release()
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)


# ---------------------------------------------------------------------------------------------------- listening
#
# Waits that hear signals.
#
# Python runs the handler of a signal in the main thread, between two instructions.  A signal that comes after the last
# instruction before a wait, but before the wait has begun in the operating system, does not end that wait.  So nothing waits for
# longer than `LISTENING` at a time.

_T = TypeVar("_T")

LISTENING: Final = 0.2
"""Seconds."""


class Lock(Protocol):
    """A lock or a semaphore."""

    def acquire(self, blocking: bool = ..., timeout: float = ...) -> bool: ...


def acquire(lock: Lock) -> None:
    """Take the lock, however long that lasts."""
    while not lock.acquire(timeout=LISTENING):
        pass


def take(items: queue.SimpleQueue[_T]) -> _T:
    """The next item, however long it does not come."""
    while True:
        try:
            return items.get(timeout=LISTENING)
        except queue.Empty:
            pass


def ended(future: Future[_T]) -> Future[_T]:
    """It, once it has a result or an exception, however long that lasts."""
    from concurrent.futures import wait

    while not wait([future], LISTENING).done:
        pass
    return future
