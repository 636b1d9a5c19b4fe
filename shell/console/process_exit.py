"""Ends the process of a command early and in order: on Ctrl-C, a request to terminate or the limit of `--max-time`.

Each of them first raises an exception in the main thread, which cleans up and says what happened.  Python raises it between two
of its instructions, and compiled code (LAPACK, an FFT, a decoder) may run for minutes between them; an exception may also get
lost in a destructor, and threads may hold up the end of the interpreter.  So the number of every signal also goes through a
pipe to a thread, and what has not ended `PATIENCE` seconds later that thread ends: temporary files are removed, the same is said,
and the process exits with the same code.  A second interrupt is not waited for.

Only a process that is one command is guarded (`guard`): a session answers interrupts itself, and in the processes of others
signals are theirs.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from types import FrameType
from typing import Final

from ...lang.support.files import remove_live
from ...lang.support.records import dataclass

# ---------------------------------------------------------------------------------------------------- exits
#
# Exit codes of the `rho` program: the one place that says which outcome gives which number.

class Exit(IntEnum):
    OK = 0
    FAILED = 1  # the program failed while running
    USAGE = 2
    REJECTED = 3  # by the checker
    REFUSED = 4  # by a bound, a load-time guard or a permission
    BUDGET = 5  # a budget (time) ran out
    BUG = 70  # in Rho; a reproducer file is written
    INTERRUPTED = 130
    TERMINATED = 143


# ---------------------------------------------------------------------------------------------------- ending

PATIENCE: Final = 0.25
"""Seconds between a signal and the end of a process whose main thread has not heard it."""


class Terminated(BaseException):
    """Somebody asked the process to end; no `except Exception` stops it."""


class Alarm(BaseException):
    """The time is up: raised between any two instructions, so that nothing on the way may take it for an error of its own."""


@dataclass(frozen=True, slots=True)
class LastWords:
    """What a process says that is ended from outside: on standard output, on standard error, and its exit code."""

    out: str
    err: str
    code: Exit


_WORDS: Final[dict[int, Callable[[], LastWords]]] = {
    signal.SIGINT: lambda: LastWords("", "interrupted\n", Exit.INTERRUPTED),
    signal.SIGTERM: lambda: LastWords("", "terminated\n", Exit.TERMINATED),
}
_ERASE: Final = "\r\x1b[K"
"""The line of progress that may stand there."""


class _SignalGuard:
    """What the thread knows.  `watched`: there is a thread; `limit`: what is said when the time is up, while there is a limit;
    `said`: the code that the process exits with once everything has been said; `signal`: which has come, if any."""

    def __init__(self) -> None:
        self.watched = False
        self.limit: Callable[[], LastWords] | None = None
        self.said: Exit | None = None
        self.signal = 0

    def raise_in_main(self, number: int, frame: FrameType | None) -> None:
        if self.said is not None:  # there is nothing left to be interrupted
            remove_live()
            os._exit(self.said)
        if self.signal and self.watched:  # the exception is on its way, and the thread ends what does not end
            return
        self.signal = number
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise Terminated

    def begin(self) -> None:
        """Start the thread.  Without descriptors or threads signals are heard as Python hears them."""
        with suppress(OSError, ImportError, RuntimeError):
            from select import select  # here, and not in the thread, where a lack of descriptors would be no news

            reading, writing = _pipe()
            begun = _thread.allocate_lock()
            begun.acquire()
            _thread.start_new_thread(self.watch, (reading, begun, select))
            begun.acquire()  # one that began while the process ends would have to load a library to end itself
            signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
            self.watched = True

    def watch(self, pipe: int, begun: _thread.LockType, wait: Callable[..., object]) -> None:
        """In a thread of its own: end what does not end by itself."""
        begun.release()
        while True:
            number = os.read(pipe, 1)[0]
            words = self.limit if number == signal.SIGALRM else _WORDS.get(number)
            if words is None:
                continue
            wait([pipe], [], [], PATIENCE)
            if number == signal.SIGALRM and self.limit is not words:
                continue  # it was heard, and what the process does now has no limit
            _end(words, self.said)


def _pipe() -> tuple[int, int]:
    """Its ends, and a descriptor is left for the files of the command.  OSError."""
    ends = os.pipe()
    try:
        os.set_blocking(ends[1], False)
        os.close(os.dup(ends[0]))
    except OSError:
        for end in ends:
            os.close(end)
        raise
    return ends


_guard: _SignalGuard | None = None


def guard() -> None:
    """From now on the process is one command, and its signals end it.  For the main thread."""
    global _guard
    if _guard is not None or os.name != "posix" or not hasattr(signal, "set_wakeup_fd"):
        return
    installed = _guard = _SignalGuard()
    installed.begin()
    drop_lost_interrupts()
    for number in _WORDS:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, installed.raise_in_main)


def is_command() -> bool:
    """Is this process one command, and not that of others?"""
    return _guard is not None


def drop_lost_interrupts() -> None:
    """The exception of a signal is not shown where Python drops it: in a destructor, and in a thread whose work is done.

    A process that is one command is ended by its thread; in a session the interrupt of a destructor is sent again after it."""
    sys.unraisablehook, threading.excepthook = _in_destructor, _in_thread


def _in_thread(lost: threading.ExceptHookArgs) -> None:
    if not issubclass(lost.exc_type, KeyboardInterrupt | Terminated | Alarm):
        threading.__excepthook__(lost)


def _in_destructor(lost: sys.UnraisableHookArgs) -> None:
    if not issubclass(lost.exc_type, KeyboardInterrupt | Terminated | Alarm):
        sys.__unraisablehook__(lost)
    elif (_guard is None or not _guard.watched) and _thread.get_ident() == threading.main_thread().ident:
        _thread.start_new_thread(_interrupt_again, ())


_DESTRUCTION: Final = 0.01
"""Seconds within which a destructor is over."""


def _interrupt_again() -> None:
    time.sleep(_DESTRUCTION)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def release() -> None:
    """The process becomes a session, which answers interrupts itself; requests to terminate still end it."""
    if _guard is not None:
        _guard.watched = False
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def hearing() -> Iterator[None]:
    """What the block raises after a signal is that signal: compiled modules that are interrupted while they are imported say
    that they cannot be."""
    try:
        yield
    except (KeyboardInterrupt, Terminated):
        raise
    except BaseException as error:
        raise_heard(error)
        raise


def raise_heard(cause: BaseException | None = None) -> None:
    """Raise the signal that has come, if any: a library has caught it, or says something else instead."""
    number = 0 if _guard is None else _guard.signal
    if number:
        raise (KeyboardInterrupt if number == signal.SIGINT else Terminated) from cause


def leave(code: Exit) -> None:
    """Everything has been said.  After a signal nothing holds up the end: no thread, no destructor, no memory to be freed."""
    if _guard is not None:
        _guard.said = code
        if _guard.signal:
            remove_live()
            os._exit(code)


@contextmanager
def limited(words: Callable[[], LastWords]) -> Iterator[None]:
    """Inside the block SIGALRM ends the process with these words, if the main thread does not hear it."""
    if _guard is None:
        yield
        return
    _guard.limit = words
    try:
        yield
    finally:
        _guard.limit = None


def _end(words: Callable[[], LastWords], said: Exit | None) -> None:
    remove_live()
    if said is None:
        last = words()
        said = last.code
        _write(2, (_ERASE if os.isatty(2) else "") + last.err)
        _write(1, last.out)
    os._exit(said)


def _write(stream: int, text: str) -> None:
    """Past Python's buffers, which the main thread may hold."""
    with suppress(OSError):
        if text:
            os.write(stream, text.encode("utf-8", "backslashreplace"))
