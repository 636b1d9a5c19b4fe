"""Exit codes, usage errors, and the orderly end of a command's process on Ctrl-C (SIGINT), SIGTERM or the limit of `--max-time`
(SIGALRM).

Each signal first raises an exception in the main thread, which cleans up and reports what happened.  Python raises it between
two of its instructions, and compiled code (LAPACK, an FFT, a decoder) may run for minutes between them; an exception may also
get lost in a destructor, and threads may delay the end of the interpreter.  So the number of every signal also goes through a
pipe to a watchdog thread.  If the process has not ended after `PATIENCE` seconds, that thread ends it: it removes temporary
files, prints the same message and exits with the same code.  A second interrupt exits at once.

Only a process that runs one command installs the handlers (`install_signal_handlers`): a session handles interrupts itself, and
a process that embeds Rho keeps its own handlers.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import IntEnum
from math import inf
from types import FrameType
from typing import Final, Generic, TypeVar

from ...lang.support.files import remove_live
from ...lang.support.processes import POLL_SECONDS
from ...lang.support.records import dataclass

# ---------------------------------------------------------------------------------------------------- exits
#
# Exit codes of the `rho` program.

class Exit(IntEnum):
    """The exit code of a command."""

    OK = 0
    FAILED = 1  # the program failed while running
    USAGE = 2
    REJECTED = 3  # by the checker
    REFUSED = 4  # by a bound, a load-time guard or a permission
    BUDGET = 5  # a budget (time) ran out
    BUG = 70  # in Rho; a reproducer file is written
    INTERRUPTED = 130
    TERMINATED = 143


# ---------------------------------------------------------------------------------------------------- signals

PATIENCE: Final = 0.25
"""Seconds between a signal and the end of a process whose main thread has not reacted to it."""


class Terminated(BaseException):
    """SIGTERM has arrived.  Not an `Exception`, so that no `except Exception` stops it."""


class Alarm(BaseException):
    """The time limit has passed.  Not an `Exception`, so that no library handles it as one of its errors."""


@dataclass(frozen=True, slots=True)
class ExitMessage:
    """The last output of a process that a signal ends: the texts for standard output and standard error, and the exit code."""

    out: str
    err: str
    code: Exit


_MESSAGES: Final[dict[int, Callable[[], ExitMessage]]] = {
    signal.SIGINT: lambda: ExitMessage("", "interrupted\n", Exit.INTERRUPTED),
    signal.SIGTERM: lambda: ExitMessage("", "terminated\n", Exit.TERMINATED),
}
_ERASE: Final = "\r\x1b[K"
"""Erases the progress line of a terminal."""


class _SignalWatchdog:
    """The state that signal handlers and the watchdog thread share.

    `has_thread`: the thread runs; `alarm_message` makes the message for a passed time limit, or is None; `exit_code` is set once
    the command has reported everything; `signal` is the number of the signal that has arrived, or 0.
    """

    def __init__(self) -> None:
        self.has_thread = False
        self.alarm_message: Callable[[], ExitMessage] | None = None
        self.exit_code: Exit | None = None
        self.signal = 0

    def raise_in_main(self, number: int, frame: FrameType | None) -> None:
        if self.exit_code is not None:  # nothing is left to interrupt
            remove_live()
            os._exit(self.exit_code)
        if self.signal and self.has_thread:  # the exception is on its way; the thread is the last resort
            return
        self.signal = number
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise Terminated

    def start_thread(self) -> None:
        """Start the watchdog thread.  Without file descriptors or threads left, signals work as Python alone handles them."""
        with suppress(OSError, ImportError, RuntimeError):
            from select import select  # here: the thread could not report a lack of descriptors

            reading, writing = _pipe()
            begun = _thread.allocate_lock()
            begun.acquire()
            _thread.start_new_thread(self.run_thread, (reading, begun, select))
            begun.acquire()  # a thread that starts while the process ends would need a library to end itself
            signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
            self.has_thread = True

    def run_thread(self, pipe: int, begun: _thread.LockType, wait: Callable[..., tuple[list[int], ...]]) -> None:
        """The watchdog thread: end the process if it does not end by itself."""
        begun.release()
        while True:
            number = os.read(pipe, 1)[0]
            message = self.alarm_message if number == signal.SIGALRM else _MESSAGES.get(number)
            if message is None:
                continue
            if number != signal.SIGALRM:
                wait([pipe], [], [], PATIENCE)
            else:
                time.sleep(PATIENCE)
                if self.alarm_message is not message:
                    continue  # the main thread has reacted, and its cleanup has no limit
                if signal.getitimer(signal.ITIMER_REAL)[0] or wait([pipe], [], [], 0)[0] or is_importing(_frame_of_main_thread()):
                    continue  # the alarm will be repeated, or has just been
            _end_process(message, self.exit_code)


def _frame_of_main_thread() -> FrameType | None:
    return sys._current_frames().get(threading.main_thread().ident or 0)


def _pipe() -> tuple[int, int]:
    """The reading and the writing end of a pipe.  OSError: no descriptor would remain for the files of the command."""
    ends = os.pipe()
    try:
        os.set_blocking(ends[1], False)
        os.close(os.dup(ends[0]))
    except OSError:
        for end in ends:
            os.close(end)
        raise
    return ends


_watchdog: _SignalWatchdog | None = None


def install_signal_handlers() -> None:
    """Make signals end the process, which runs one command.  Called by the main thread; later calls do nothing."""
    global _watchdog
    if _watchdog is not None or os.name != "posix" or not hasattr(signal, "set_wakeup_fd"):
        return
    installed = _watchdog = _SignalWatchdog()
    installed.start_thread()
    drop_lost_interrupts()
    for number in _MESSAGES:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, installed.raise_in_main)


def is_command() -> bool:
    """Does this process run one command (rather than a program that embeds Rho)?"""
    return _watchdog is not None


def drop_lost_interrupts() -> None:
    """Do not print an exception of a signal that Python drops: in a destructor, and in a thread whose work is done.

    The watchdog ends a process that runs one command; in a session, an interrupt that a destructor lost is sent again after the
    destructor has returned.
    """
    sys.unraisablehook, threading.excepthook = _in_destructor, _in_thread


def _in_thread(lost: threading.ExceptHookArgs) -> None:
    if not issubclass(lost.exc_type, KeyboardInterrupt | Terminated | Alarm):
        threading.__excepthook__(lost)


def _in_destructor(lost: sys.UnraisableHookArgs) -> None:
    if not issubclass(lost.exc_type, KeyboardInterrupt | Terminated | Alarm):
        sys.__unraisablehook__(lost)
    elif (_watchdog is None or not _watchdog.has_thread) and _thread.get_ident() == threading.main_thread().ident:
        _thread.start_new_thread(_interrupt_again, ())


_DESTRUCTOR_SECONDS: Final = 0.01
"""Seconds after which a destructor has returned."""


def _interrupt_again() -> None:
    time.sleep(_DESTRUCTOR_SECONDS)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def release_interrupts() -> None:
    """Leave SIGINT to Python, as the process becomes a session that handles interrupts itself; SIGTERM still ends it."""
    if _watchdog is not None:
        _watchdog.has_thread = False
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def preferring_signals() -> Iterator[None]:
    """After a signal, raise its exception in place of any other that the block raises: a compiled module whose import is
    interrupted raises ImportError."""
    try:
        yield
    except (KeyboardInterrupt, Terminated):
        raise
    except BaseException as error:
        raise_pending_signal(error)
        raise


def raise_pending_signal(cause: BaseException | None = None) -> None:
    """Raise the exception of a signal that has arrived, if any, since a library may have swallowed it or raised another one."""
    number = 0 if _watchdog is None else _watchdog.signal
    if number:
        raise (KeyboardInterrupt if number == signal.SIGINT else Terminated) from cause


def finish_process(code: Exit) -> None:
    """Record that everything has been reported.  After a signal exit at once, so that no thread or destructor delays the end."""
    if _watchdog is not None:
        _watchdog.exit_code = code
        if _watchdog.signal:
            remove_live()
            os._exit(code)


@contextmanager
def exit_on_alarm(message: Callable[[], ExitMessage]) -> Iterator[None]:
    """Inside the block, let the watchdog end the process with `message()` if the main thread does not react to SIGALRM."""
    if _watchdog is None:
        yield
        return
    _watchdog.alarm_message = message
    try:
        yield
    finally:
        _watchdog.alarm_message = None


def _end_process(message: Callable[[], ExitMessage], code: Exit | None) -> None:
    remove_live()
    if code is None:
        last = message()
        code = last.code
        _write_unbuffered(2, (_ERASE if os.isatty(2) else "") + last.err)
        _write_unbuffered(1, last.out)
    os._exit(code)


def _write_unbuffered(stream: int, text: str) -> None:
    """Write to a file descriptor, since the main thread may hold the lock of Python's buffer."""
    with suppress(OSError):
        if text:
            os.write(stream, text.encode("utf-8", "backslashreplace"))


# ---------------------------------------------------------------------------------------------------- usage errors
#
# What every front (command line, session, notebook, Python) raises, and "did you mean" suggestions.

class UsageError(Exception):
    """A request of the user is wrong (exit 2): `message` says why, `hint` what to type instead."""

    exit: Exit = Exit.USAGE

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class NotWritten(UsageError):
    """The command is right, but a file of its results cannot be written (exit 1, like an output of a program)."""

    exit = Exit.FAILED


def parse_seconds(option: str, text: str | None, most: float = inf) -> float | None:
    """The value of an option in seconds (`10` or `10s`), at most `most`; None if it is not given.  UsageError: not such a
    number."""
    if text is None:
        return None
    try:
        value = float(text.removesuffix("s"))
    except ValueError:
        value = 0.0
    if not 0 < value <= most or value == inf:
        raise UsageError(f"{option} {text}: write a number of seconds such as 10")
    return value


def nearest(word: str, candidates: Sequence[str]) -> str | None:
    """The candidate that a misspelt word most likely means: the only one it is a prefix of, else the nearest by edits; or
    None."""
    from ...lang.primitives.table import nearest as nearest_by_edits

    by_prefix = [candidate for candidate in candidates if len(word) >= 2 and candidate.startswith(word)]
    if len(by_prefix) == 1:
        return by_prefix[0]
    return nearest_by_edits(word, candidates)


def did_you_mean(word: str, candidates: Sequence[str]) -> str:
    """The end of a message, `; did you mean …?`, if a candidate is near; else empty."""
    from ...lang.primitives.table import did_you_mean as suggestion

    return suggestion(nearest(word, candidates))


# ---------------------------------------------------------------------------------------------------- interruptible work
#
# Ctrl-C returns to the prompt at once, even during compiled code that a signal does not stop.
#
# The work runs in a thread while the main thread, where interrupts arrive, waits.  After an interrupt KeyboardInterrupt is raised
# in the thread at its next Python instruction; the main thread does not wait for that, and drops the result.
#
# The exception is raised only while the thread imports nothing: a compiled module (such as NumPy's) whose import is interrupted
# cannot be imported again in the same process.

_T = TypeVar("_T")


@dataclass(slots=True)
class _ThreadResult(Generic[_T]):
    value: _T | None = None
    error: BaseException | None = None


def interruptible(work: Callable[[], _T]) -> _T:
    """`work()` in a thread; raises KeyboardInterrupt at once when it comes.  `work` must not change any lasting state."""
    answer: _ThreadResult[_T] = _ThreadResult()
    done = threading.Event()

    def run() -> None:
        try:
            answer.value = work()
        except BaseException as error:
            answer.error = error
        finally:
            done.set()

    thread = threading.Thread(target=run, name="rho entry", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no thread can be started: compiled code delays an interrupt then
        return work()
    try:
        while not done.wait(POLL_SECONDS):
            pass
    except KeyboardInterrupt:
        try:
            threading.Thread(target=_interrupt_thread, args=(thread,), name="rho interrupt", daemon=True).start()
        except RuntimeError:
            _interrupt_thread(thread)
        raise
    if answer.error is not None:
        raise answer.error
    return answer.value  # type: ignore[return-value]


RETRY_SECONDS: Final = 0.01
"""Seconds between two checks whether a thread still imports."""


def _interrupt_thread(thread: threading.Thread) -> None:
    """Raise KeyboardInterrupt in a thread, once it imports nothing."""
    import ctypes

    while thread.is_alive() and thread.ident is not None:
        if not is_importing(sys._current_frames().get(thread.ident)):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(KeyboardInterrupt))
            return
        time.sleep(RETRY_SECONDS)


def is_importing(frame: FrameType | None) -> bool:
    """Is a module being imported in this frame or one that called it?"""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
