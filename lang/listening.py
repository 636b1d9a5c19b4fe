"""Waits that hear signals.

Python runs the handler of a signal in the main thread, between two instructions.  A signal that comes after the last instruction
before a wait, but before the wait has begun in the operating system, does not end that wait.  So nothing waits for longer than
`LISTENING` at a time.

Neighbours: `shell.repl.interrupting`, `backend.kernels.one_thread`, `backend.run` (threads, streams, clusters).
"""

from __future__ import annotations

import queue
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

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
