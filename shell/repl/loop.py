"""The session's loop, whoever types: read an entry, do it, show what it printed.

Neighbours: `terminal` and `PlainEntries` (where entries come from), `workspace` (what they do).
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from ..cli import messages
from ..cli.console import Console
from ..cli.exits import Exit
from ..workspace.pasting import CONTINUED
from .commands import After, Desk, perform
from .interrupting import interruptible
from .settings import folder

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
        from ...lang.resolution.entries import unfinished

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
    place = folder(environment)
    readline.set_history_length(MOST_LINES)
    if place is not None:
        with suppress(OSError):
            readline.read_history_file(place / "lines")
        atexit.register(_keep_lines, place)
    return True


def _keep_lines(place: Path) -> None:
    import readline

    with suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        readline.write_history_file(place / "lines")


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
        if after is After.LEAVE:
            break
        if code is not Exit.OK and not desk.console.interactive:
            return code
    return Exit.OK


def handle(entry: str, desk: Desk) -> tuple[After, Exit]:
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
    messages.show(console, entered.diagnostics, workspace.sources)
    for note in entered.notes:
        console.note(note)
    if entered.printed:
        from .showing import show
    for shown in entered.printed:
        show(shown, console, desk.settings)
    workspace.state = state  # in the end: whatever is interrupted before this leaves the session as it was
    return After.GO_ON, entered.exit
