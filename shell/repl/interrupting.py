"""Work that Ctrl-C gets away from at once, even while compiled code runs that no signal reaches.

The work is done in a thread of its own while the main thread waits, where interrupts arrive.  After one the thread is told to
stop at its next Python instruction and is not waited for; what it would have answered is dropped.

It is told when it imports nothing: compiled modules (NumPy's) that are interrupted in the middle of that cannot be imported again
as long as the process lives.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Thread
from typing import Final, Generic, TypeVar

from ...lang.listening import LISTENING

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
    try:
        thread.start()
    except RuntimeError:  # there are no more threads: compiled code holds up an interrupt then
        return work()
    try:
        while not done.wait(LISTENING):
            pass
    except KeyboardInterrupt:
        try:
            Thread(target=_tell, args=(thread,), name="rho interrupt", daemon=True).start()
        except RuntimeError:
            _tell(thread)
        raise
    if answer.error is not None:
        raise answer.error
    return answer.value  # type: ignore[return-value]


_AGAIN: Final = 0.01
"""Seconds until a thread that imports is looked at again."""


def _tell(thread: Thread) -> None:
    """Raise KeyboardInterrupt in a thread, once it imports nothing."""
    while thread.is_alive() and thread.ident is not None:
        if not _imports(thread.ident):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(KeyboardInterrupt))
            return
        time.sleep(_AGAIN)


def _imports(thread: int) -> bool:
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
