"""The read-eval-print loop: reads an entry, runs it and prints its values; handles interrupts."""

from __future__ import annotations

import atexit
import ctypes
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Final, Generic, TypeVar

from ...lang.support.processes import POLL_SECONDS
from ...lang.support.records import dataclass
from ..console import messages
from ..console.process_exit import Exit
from ..console.standard_streams import Console
from ..workspace.exchange import CONTINUED
from .commands import CommandResult, Desk, perform
from .status_line import folder

# ---------------------------------------------------------------------------------------------------- interrupting
#
# Work that Ctrl-C gets away from at once, even while compiled code runs that no signal reaches.
#
# The work is done in a thread of its own while the main thread waits, where interrupts arrive.  After one the thread is told to
# stop at its next Python instruction and is not waited for; what it would have answered is dropped.
#
# It is told when it imports nothing: compiled modules (NumPy's) that are interrupted in the middle of that cannot be imported
# again as long as the process lives.

_T = TypeVar("_T")


@dataclass(slots=True)
class _EvaluatedInput(Generic[_T]):
    value: _T | None = None
    error: BaseException | None = None


def interruptible(work: Callable[[], _T]) -> _T:
    """What `work` returns or raises; KeyboardInterrupt as soon as there is one.  `work` must change nothing that is kept."""
    answer: _EvaluatedInput[_T] = _EvaluatedInput()
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
        while not done.wait(POLL_SECONDS):
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


# ---------------------------------------------------------------------------------------------------- loop

PROMPT = "      "
_PLAIN = {"help": ")help", "?": ")help", "help()": ")help", "exit": ")quit", "quit": ")quit", "exit()": ")quit",
          "quit()": ")quit"}  # fmt: skip
"""What people type who do not know the commands, unless it is a name of theirs."""


class PlainEntries:
    """Statements line by line; an open bracket continues on the next line, and Ctrl-C drops what has been typed of one.

    Not a generator, which an interrupt at the wrong moment would end."""

    def __init__(self, console: Console, *, edited: bool = False) -> None:
        """`edited`: by Python's own line editor, if it has one."""
        self._console = console
        self._edited = edited and edit_lines(console.environment)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while True:
            try:
                entry = self._entry()
            except KeyboardInterrupt:
                if not self._console.interactive:
                    raise
                self._console.print("")
                continue
            if entry is None:
                raise StopIteration
            return entry

    def _line(self, prompt: str) -> str:
        """The next line with its end; nothing at the end of all."""
        console = self._console
        if self._edited:
            try:
                return input(prompt) + "\n"
            except EOFError:
                return ""
        if console.interactive:
            console.out.write(prompt)
            console.out.flush()
        return console.input.readline()

    def _entry(self) -> str | None:
        """The next one; None at the end."""
        from ...lang.bind.statement_dependencies import unfinished

        pending = ""
        while True:
            line = self._line(CONTINUED if pending else PROMPT)
            if not line:
                return pending if pending.strip() else None
            pending += line.rstrip("\r\n")
            if line.strip() and unfinished(pending) and not pending.lstrip().startswith(")"):
                pending += "\n"
            elif pending.strip():
                return pending
            else:
                pending = ""


def edit_lines(environment: Mapping[str, str]) -> bool:
    """Make `input` an editor of lines with a history; False where Python has none."""
    try:
        import readline
    except ImportError:
        return False
    directory = folder(environment)
    readline.set_history_length(MOST_LINES)
    if directory is not None:
        with suppress(OSError):
            readline.read_history_file(directory / "lines")
        atexit.register(_keep_lines, directory)
    return True


def _keep_lines(directory: Path) -> None:
    import readline

    with suppress(OSError):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        readline.write_history_file(directory / "lines")


MOST_LINES = 1_000


def serve(entries: Iterator[str], desk: Desk) -> Exit:
    """Until the entries end, `)quit`, or, if nobody is typing, the first error, whose code it gives."""
    while True:
        try:
            return _serve(entries, desk)
        except KeyboardInterrupt:
            if not desk.console.interactive:
                raise
            desk.console.note("interrupted; the session is as it was before")


def _serve(entries: Iterator[str], desk: Desk) -> Exit:
    """Until then, or an interrupt."""
    for entry in entries:
        after, code = handle(entry, desk)
        if after is CommandResult.LEAVE:
            break
        if code is not Exit.OK and not desk.console.interactive:
            return code
    return Exit.OK


def handle(entry: str, desk: Desk) -> tuple[CommandResult, Exit]:
    """One entry or command."""
    entry = _PLAIN.get(entry.strip(), entry) if entry.strip() not in desk.types else entry
    if entry.lstrip().startswith(")"):
        return perform(entry, desk)
    workspace, console = desk.workspace, desk.console
    if console.interactive:
        try:
            entered, state = interruptible(lambda: workspace.evaluate(entry))
        except KeyboardInterrupt:
            workspace.abandon()
            raise
    else:
        entered, state = workspace.evaluate(entry)
    messages.show_diagnostics(console, entered.diagnostics, workspace.sources)
    for note in entered.notes:
        console.note(note)
    if entered.printed:
        from .status_line import show
    for shown in entered.printed:
        show(shown, console, desk.settings)
    workspace.state = state  # in the end: whatever is interrupted before this leaves the session as it was
    return CommandResult.GO_ON, entered.exit
