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
from ...lang.syntax.source import Source
from ..console import messages
from ..console.process_exit import Exit
from ..console.standard_streams import Console
from ..workspace.exchange import CONTINUATION
from .commands import CommandContext, CommandResult, LastEntry, run_command
from .status_line import repl_folder

# ---------------------------------------------------------------------------------------------------- interruptible work
#
# Ctrl-C returns to the prompt at once, even while compiled code runs that no signal reaches.
#
# The work runs in a thread while the main thread, where interrupts arrive, waits.  After an interrupt KeyboardInterrupt is
# raised in the thread at its next Python instruction; the main thread does not wait for it and drops its result.
#
# The exception is raised only when the thread imports nothing: a compiled module (NumPy's) whose import is interrupted cannot be
# imported again in the same process.

_T = TypeVar("_T")


@dataclass(slots=True)
class _ThreadResult(Generic[_T]):
    value: _T | None = None
    error: BaseException | None = None


def interruptible(work: Callable[[], _T]) -> _T:
    """`work()` in a thread; raises KeyboardInterrupt at once when it comes.  `work` must not change any lasting state."""
    answer: _ThreadResult[_T] = _ThreadResult()
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
    except RuntimeError:  # no thread can be started: compiled code delays an interrupt then
        return work()
    try:
        while not done.wait(POLL_SECONDS):
            pass
    except KeyboardInterrupt:
        try:
            Thread(target=_interrupt_thread, args=(thread,), name="rho interrupt", daemon=True).start()
        except RuntimeError:
            _interrupt_thread(thread)
        raise
    if answer.error is not None:
        raise answer.error
    return answer.value  # type: ignore[return-value]


_RETRY_SECONDS: Final = 0.01
"""Seconds between two looks at whether a thread still imports."""


def _interrupt_thread(thread: Thread) -> None:
    """Raise KeyboardInterrupt in a thread, once it imports nothing."""
    while thread.is_alive() and thread.ident is not None:
        if not _is_importing(thread.ident):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(KeyboardInterrupt))
            return
        time.sleep(_RETRY_SECONDS)


def _is_importing(thread: int) -> bool:
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


# ---------------------------------------------------------------------------------------------------- loop

PROMPT = "      "
_NEWCOMER_COMMANDS = {"help": ")help", "?": ")help", "help()": ")help", "exit": ")quit", "quit": ")quit", "exit()": ")quit",
          "quit()": ")quit"}  # fmt: skip
"""What newcomers type for a command; not replaced where it is a name of the session."""


class PlainEntryReader:
    """Reads entries line by line; an open bracket continues on the next line, and Ctrl-C drops an unfinished entry.

    An iterator class, since an interrupt would end a generator."""

    def __init__(self, console: Console, *, edited: bool = False) -> None:
        """`edited`: with Python's own line editor (readline), if there is one."""
        self._console = console
        self._edited = edited and enable_line_editing(console.environment)

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
        """The next line with its line end; empty at the end of input."""
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
        """The next entry; None at the end of input."""
        from ...lang.bind.statement_dependencies import unfinished

        pending = ""
        while True:
            line = self._line(CONTINUATION if pending else PROMPT)
            if not line:
                return pending if pending.strip() else None
            pending += line.rstrip("\r\n")
            if line.strip() and unfinished(pending) and not pending.lstrip().startswith(")"):
                pending += "\n"
            elif pending.strip():
                return pending
            else:
                pending = ""


def enable_line_editing(environment: Mapping[str, str]) -> bool:
    """Give Python's `input` a line editor with a history; False if Python has no readline."""
    try:
        import readline
    except ImportError:
        return False
    directory = repl_folder(environment)
    readline.set_history_length(MOST_HISTORY_LINES)
    if directory is not None:
        with suppress(OSError):
            readline.read_history_file(directory / "lines")
        atexit.register(_write_history, directory)
    return True


def _write_history(directory: Path) -> None:
    import readline

    with suppress(OSError):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        readline.write_history_file(directory / "lines")


MOST_HISTORY_LINES = 1_000


def run_session(entries: Iterator[str], context: CommandContext) -> Exit:
    """Handle entries until they end, `)quit`, or (if nobody is typing) the first error; returns the exit code."""
    while True:
        try:
            return _run_until_interrupt(entries, context)
        except KeyboardInterrupt:
            if not context.console.interactive:
                raise
            context.console.note("interrupted; the session is as it was before")


def _run_until_interrupt(entries: Iterator[str], context: CommandContext) -> Exit:
    """As `run_session`, but an interrupt is raised."""
    for entry in entries:
        after, code = handle_entry(entry, context)
        if after is CommandResult.QUIT:
            break
        if code is not Exit.OK and not context.console.interactive:
            return code
    return Exit.OK


def handle_entry(entry: str, context: CommandContext) -> tuple[CommandResult, Exit]:
    """Run one entry or command; returns whether the session goes on, and the exit code."""
    entry = _NEWCOMER_COMMANDS.get(entry.strip(), entry) if entry.strip() not in context.types else entry
    if entry.lstrip().startswith(")"):
        return run_command(entry, context)
    workspace, console = context.workspace, context.console
    if console.interactive:
        try:
            entered, state = interruptible(lambda: workspace.evaluate(entry))
        except KeyboardInterrupt:
            workspace.abandon()
            raise
    else:
        entered, state = workspace.evaluate(entry)
    messages.show_diagnostics(console, entered.diagnostics, workspace.sources)
    context.last = LastEntry(Source(workspace.entry_name, entry), entered.diagnostics, entered.exit is Exit.OK)
    if context.explains_fixes and any(one.fixes for one in entered.diagnostics):
        context.explains_fixes = False
        console.note(")fix applies what is marked [fix], and enters that")
    for note in entered.notes:
        console.note(note)
    if entered.printed:
        from .status_line import show_value
    for shown in entered.printed:
        show_value(shown, console, context.settings)
    workspace.state = state  # last, so that an interrupt before leaves the session as it was
    return CommandResult.CONTINUE, entered.exit
