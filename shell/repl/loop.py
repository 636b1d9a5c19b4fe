"""The session's loop, whoever types: read an entry, do it, show what it printed.

Neighbours: `terminal` and `plain_entries` (where entries come from), `workspace` (what they do).
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


def plain_entries(console: Console) -> Iterator[str]:
    """Statements line by line; an open bracket continues on the next line."""
    from ..workspace.statements import unfinished

    pending = ""
    while True:
        if console.interactive:
            console.out.write(CONTINUED if pending else PROMPT)
            console.out.flush()
        try:
            line = console.input.readline()
        except KeyboardInterrupt:
            if not console.interactive:
                raise
            console.print("")
            pending = ""
            continue
        if not line:
            if pending.strip():
                yield pending
            return
        pending += line.rstrip("\r\n")
        if line.strip() and unfinished(pending) and not pending.lstrip().startswith(")"):
            pending += "\n"
            continue
        if pending.strip():
            yield pending
        pending = ""


def serve(entries: Iterator[str], desk: Desk) -> Exit:
    """Until the entries end, `)quit`, or, if nobody is typing, the first error, whose code it gives."""
    console = desk.console
    while True:
        try:
            entry = next(entries, None)
            if entry is None:
                break
            after, code = handle(entry, desk)
        except KeyboardInterrupt:
            if not console.interactive:
                raise
            console.note("interrupted; the session is as it was before")
            continue
        if after is After.LEAVE:
            break
        if code is not Exit.OK and not console.interactive and not entry.lstrip().startswith(")"):
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
        workspace.state = state
    else:
        entered = workspace.enter(entry)
    messages.show(console, entered.diagnostics, workspace.sources)
    for note in entered.notes:
        console.note(note)
    if entered.printed:
        from .showing import show
    for shown in entered.printed:
        show(shown, console, desk.settings)
    return After.GO_ON, entered.exit
