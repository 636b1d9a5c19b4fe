"""The session's loop, whoever types: read an entry, do it, show what it printed.

Neighbours: `terminal` and `PlainEntries` (where entries come from), `workspace` (what they do).
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import messages
from ..console import Console
from ..exits import Exit
from ..workspace.pasting import CONTINUED
from .commands import After, Desk, perform
from .interrupting import interruptible

PROMPT = "      "


class PlainEntries:
    """Statements line by line; an open bracket continues on the next line, and Ctrl-C drops what has been typed of one.

    Not a generator, which an interrupt at the wrong moment would end."""

    def __init__(self, console: Console) -> None:
        self._console = console

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

    def _entry(self) -> str | None:
        """The next one; None at the end."""
        from ..workspace.statements import unfinished

        console, pending = self._console, ""
        while True:
            if console.interactive:
                console.out.write(CONTINUED if pending else PROMPT)
                console.out.flush()
            line = console.input.readline()
            if not line:
                return pending if pending.strip() else None
            pending += line.rstrip("\r\n")
            if line.strip() and unfinished(pending) and not pending.lstrip().startswith(")"):
                pending += "\n"
            elif pending.strip():
                return pending
            else:
                pending = ""


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
        if code is not Exit.OK and not desk.console.interactive and not entry.lstrip().startswith(")"):
            return code
    return Exit.OK


def handle(entry: str, desk: Desk) -> tuple[After, Exit]:
    """One entry or command."""
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
