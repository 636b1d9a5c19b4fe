"""The read-eval-print loop: reads an entry, runs it and prints its values; handles interrupts."""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from ..console.process_exit import Exit
from ..console.standard_streams import Console
from ..workspace.exchange import CONTINUATION
from .commands import CommandContext, CommandResult, handle_entry
from .status_line import repl_folder

# ---------------------------------------------------------------------------------------------------- loop

PROMPT = "      "


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
