"""Work that Ctrl-C gets away from at once, even while compiled code runs that no signal reaches.

The work is done in a thread of its own while the main thread waits, where interrupts arrive.  After one the thread is told to
stop at its next Python instruction and is not waited for; what it would have answered is dropped.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Thread
from typing import Generic, TypeVar

_T = TypeVar("_T")


@dataclass(slots=True)
class _Answer(Generic[_T]):
    value: _T | None = None
    error: BaseException | None = None


def interruptible(work: Callable[[], _T]) -> _T:
    """What `work` returns or raises; KeyboardInterrupt as soon as there is one.  `work` must change nothing that is kept."""
    answer: _Answer[_T] = _Answer()
    done = Event()

    def run() -> None:
        try:
            answer.value = work()
        except BaseException as error:
            answer.error = error
        finally:
            done.set()

    thread = Thread(target=run, name="rho entry", daemon=True)
    thread.start()
    try:
        done.wait()
    except KeyboardInterrupt:
        if thread.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(KeyboardInterrupt))
        raise
    if answer.error is not None:
        raise answer.error
    return answer.value  # type: ignore[return-value]
