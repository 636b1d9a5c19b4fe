"""What concerns the process as a whole: forks, its end, waits for threads, and what the system grants it.

Fork safety: after a fork no lock of Rho is held and no shared state is half changed.

In a forked child only the forking thread exists.  A lock that another thread held would stay locked there, and the data it guards
might be half changed.  So a fork first acquires every lock that `lock` made, waiting for their holders, and both processes
release them afterwards; the child then runs the callbacks of `in_children`, which drop what belongs to the parent (threads,
pipes).

Locks may be nested in any order, since the forking thread holds none while it waits for one.  They are reentrant, so that a fork
inside a locked block of the same thread does not deadlock.  Everything hangs on one `os.register_at_fork`: a callback that
another thread registered during a fork would run after it without having run before it.

A module that another thread is importing would stay half imported and locked in the child, so a fork also waits for imports by
Rho and lets no thread begin one until it is over.
"""

from __future__ import annotations

import _imp
import os
import platform
import queue
import sys
from _thread import RLock, get_ident
from collections.abc import Callable
from time import sleep
from types import FrameType
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future


# ---------------------------------------------------------------------------------------------------- forks

_IMPORTING: Final = "<frozen importlib._bootstrap>"
_PACKAGE: Final = __name__.removesuffix("lang.support.processes")
_RETRY_SECONDS: Final = 0.001
"""Seconds between two checks for threads that are importing."""

_forking: Final = RLock()
"""Held during a fork, so that two threads fork one after the other."""
_locks: Final[list[RLock]] = []
_child_callbacks: Final[list[Callable[[], object]]] = []
_held_for_fork: Final[list[RLock]] = []
"""The locks that the forking thread has acquired and will release; `_locks` may grow meanwhile."""


def lock() -> RLock:
    """A new lock that every fork waits for; it lives as long as the process."""
    new = RLock()
    _locks.append(new)
    return new


def in_children(callback: Callable[[], object]) -> None:
    """Register a callback to run in every child forked after this call, while all locks are held and no other thread exists."""
    _child_callbacks.append(callback)


def _before_fork() -> None:
    _forking.acquire()
    _take_locks()
    _imp.acquire_lock()
    while any(map(_imports, [frame for thread, frame in sys._current_frames().items() if thread != get_ident()])):
        _imp.release_lock()
        _release()
        sleep(_RETRY_SECONDS)
        _take_locks()
        _imp.acquire_lock()


def _imports(frame: FrameType | None) -> bool:
    """Is the thread of this frame importing a module on behalf of a function of Rho?"""
    in_rho = False
    while frame is not None:
        in_rho = in_rho or frame.f_code.co_filename == _IMPORTING
        if in_rho and str(frame.f_globals.get("__name__")).startswith(_PACKAGE):
            return True
        frame = frame.f_back
    return False


def _take_locks() -> None:
    first: RLock | None = None
    while True:
        if first is not None:
            _held_for_fork.append(first)
            first.acquire()
        first = next((lock_ for lock_ in [*_locks] if lock_ is not first and not _try_lock(lock_)), None)
        if first is None:
            return
        _release()


def _try_lock(lock_: RLock) -> bool:
    if lock_.acquire(blocking=False):
        _held_for_fork.append(lock_)
        return True
    return False


def _release() -> None:
    while _held_for_fork:
        try:
            _held_for_fork.pop().release()
        except RuntimeError:  # an interrupt came before it was acquired
            continue


def _after_in_parent() -> None:
    _imp.release_lock()
    _release()
    _forking.release()


def _after_in_child() -> None:
    _imp.release_lock()
    for callback in [*_child_callbacks]:
        callback()
    _release()
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)


# ---------------------------------------------------------------------------------------------------- the end of Python

def keep_forever(value: object) -> None:
    """Keep an object until the process has ended.  Python clears modules earlier, while threads may still run compiled code that
    is in the object's memory."""
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))


# ---------------------------------------------------------------------------------------------------- interruptible waits
#
# Python runs signal handlers in the main thread, between two instructions.  A signal that arrives after the last instruction
# before a wait, but before the operating system has begun it, does not end that wait.  So every wait is split into waits of at
# most `POLL_SECONDS`.

_T = TypeVar("_T")

POLL_SECONDS: Final = 0.2
"""The longest uninterruptible wait."""


class Lock(Protocol):
    """A lock or a semaphore."""

    def acquire(self, blocking: bool = ..., timeout: float = ...) -> bool: ...


def acquire(lock: Lock) -> None:
    """Acquire a lock, polling for signals."""
    while not lock.acquire(timeout=POLL_SECONDS):
        pass


def take(items: queue.SimpleQueue[_T]) -> _T:
    """The next item of a queue, polling for signals."""
    while True:
        try:
            return items.get(timeout=POLL_SECONDS)
        except queue.Empty:
            pass


def wait_for(future: Future[_T]) -> Future[_T]:
    """The future, once it has a result or an exception; polls for signals."""
    from concurrent.futures import wait

    while not wait([future], POLL_SECONDS).done:
        pass
    return future


# ---------------------------------------------------------------------------------------------------- what the system grants

def cores() -> int:
    """Cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def memory() -> int:
    """Bytes of memory, or the control group's limit if that is lower; 0 if the system does not say."""
    from .bounded_parsing import parse_natural
    from .files import KERNEL_TEXT, read_text

    total = 0
    if hasattr(os, "sysconf"):
        try:
            total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (ValueError, OSError):
            total = 0
    try:
        limit = read_text("/sys/fs/cgroup/memory.max", KERNEL_TEXT).strip()
    except (OSError, ValueError):
        return total
    allowed = parse_natural(limit, total)
    return total if allowed is None else allowed


def model() -> str:
    """The processor's name."""
    from .files import read_bytes

    try:
        for line in read_bytes("/proc/cpuinfo", 1 << 24).decode("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "processor"


_SAMPLES: Final = 5
_SAMPLE_SECONDS: Final = 0.02


def doing(number: int) -> str:
    """What another process of this machine does: `working` if in most of a few samples a thread of it runs, or wants a processor
    or the disk; `stopped` (by a signal, or ended), `waiting`; empty where the system does not say."""
    from contextlib import suppress

    from .files import KERNEL_TEXT, read_text

    busy = 0
    for sample in range(_SAMPLES):
        if sample:
            sleep(_SAMPLE_SECONDS)
        states = set[str]()
        try:
            threads = os.listdir(f"/proc/{number}/task")
        except OSError:
            return ""
        for thread in threads:
            with suppress(OSError, ValueError, IndexError):  # it has ended meanwhile
                states.add(read_text(f"/proc/{number}/task/{thread}/stat", KERNEL_TEXT).rpartition(")")[2].split()[0])
        if states and states <= {*"TtZX"}:
            return "stopped"
        busy += not states.isdisjoint("RD")
    return "working" if 2 * busy > _SAMPLES else "waiting"


# ---------------------------------------------------------------------------------------------------- packages

def is_numpy_installed() -> bool:
    """Can NumPy be imported?  For code that goes on without it, as in a browser before its wheel is loaded."""
    from importlib.util import find_spec

    return "numpy" in sys.modules or find_spec("numpy") is not None
