"""`rho repl [FILE]`: statements line by line.  Piped lines run without prompts and stop at the first error with its exit code.

A session is the text of the accepted definitions; each entry is checked after them, so a rejected one leaves no trace, and
what an earlier entry printed is not printed again.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...lang.source import Source
from ...lang.spelling import spell
from ...lang.splitter import split_statements
from .. import messages
from ..arguments import Arguments
from ..claims import definitions
from ..console import Console
from ..exits import Exit
from ..permissions import Permissions
from ..requests import Request
from ..running import Report, run_program
from ..session import Session, Strictness
from ..sources import read_source

PROMPT = "      "
CONTINUED = "    … "
REPL = "<repl>"


def run(arguments: Arguments, console: Console) -> Exit:
    strictness = Strictness.STRICT if arguments.has("--strict") else Strictness.GUARDED
    session = Session("", Permissions.of(["."], []), strictness)
    before = ""
    if arguments.positional:
        before, code = _start(session, read_source(arguments.positional[0]), console)
        if code is not Exit.OK:
            return code
    if console.interactive:
        console.note("Rho: type statements; )help for help, )quit to leave.")
    for entry in _entries(console):
        command = entry.strip()
        if command.startswith(")"):
            if command in (")quit", ")exit", ")off"):
                break
            _command(command, session, before, console)
            continue
        report, before = enter(session, before, entry)
        messages.show(console, report.diagnostics, report.sources)
        for shown in report.outcome.printed:
            console.print("\n".join(shown.lines(console)))
        if report.exit is not Exit.OK and not console.interactive:
            return report.exit
    return Exit.OK


def enter(session: Session, before: str, entry: str) -> tuple[Report, str]:
    """Run one entry after the definitions `before`; the definitions afterwards (as they were if it failed)."""
    text = before + entry
    report = run_program(Source(REPL, text), session, Request())
    return report, definitions(text) if report.exit is Exit.OK else before


def _start(session: Session, source: Source, console: Console) -> tuple[str, Exit]:
    report = run_program(source, Session("", Permissions.of(["."], [source.name]), session.strictness), Request())
    messages.show(console, report.diagnostics, report.sources)
    for shown in report.outcome.printed:
        console.print("\n".join(shown.lines(console)))
    return definitions(source.text), report.exit


def _entries(console: Console) -> Iterator[str]:
    """Statements as typed; an open bracket continues on the next line."""
    pending = ""
    while True:
        if console.interactive:
            console.out.write(CONTINUED if pending else PROMPT)
            console.out.flush()
        line = console.input.readline()
        if not line:
            if pending.strip():
                yield pending
            return
        pending += line.rstrip("\r\n")
        if unfinished(pending) and line.strip():
            pending += "\n"
            continue
        if pending.strip():
            yield pending
        pending = ""


def unfinished(text: str) -> bool:
    """Does the text end inside a bracket?"""
    pieces = split_statements(spell(Source(REPL, text)))
    return any(piece.damage is not None and "never closed" in piece.damage.message for piece in pieces[-1:])


def _command(command: str, session: Session, before: str, console: Console) -> None:
    word, _, rest = command.partition(" ")
    match word:
        case ")type":
            checked = session.check(Source(REPL, before + rest))
            messages.show(console, checked.diagnostics, checked.sources)
            if checked.accepted:
                console.print(checked.last or "")
        case ")names":
            checked = session.check(Source(REPL, before))
            for name, type in checked.types.items():
                console.print(f"{name} : {type}")
        case ")help":
            from ...lang.explain import explain

            text = explain(rest.strip()) if rest.strip() else HELP
            console.print((text or f"`{rest.strip()}` means nothing here").rstrip("\n"))
        case _:
            console.note(f"unknown command {word}; )help lists them")


HELP = """\
      x ← ⍳5          names a value; an expression alone prints
)type EXPR            the type of an expression
)names                what has been named
)help GLYPH           what a glyph does
)quit                 leave"""
