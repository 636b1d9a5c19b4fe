"""Diagnostics on a console: rendered to standard error, in colour where that is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Refused, Rejected, RhoError
from ...lang.render import Charset, Ink, diagnostic_json, render_text
from ...lang.source import Source
from .arguments import Arguments
from .console import Console, Volume
from .exits import Exit
from .results import print_json, wants_json


def show(console: Console, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> None:
    """Write diagnostics as text to standard error, a blank line after each."""
    if console.volume is Volume.QUIET:
        diagnostics = [found for found in diagnostics if found.is_error]
    if diagnostics:
        console.out.flush()
        console.err.write(text(console, diagnostics, sources) + "\n")


def refuse(arguments: Arguments, console: Console, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> None:
    """Show why a command has no result; whoever asked for JSON gets an object all the same."""
    show(console, diagnostics, sources)
    answer(arguments, console, diagnostics, sources)


def answer(arguments: Arguments, console: Console, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> None:
    """The object of a command that was refused, if JSON was asked for."""
    if wants_json(arguments):
        print_json(console, {"diagnostics": [diagnostic_json(found, sources) for found in diagnostics]})


def text(console: Console, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> str:
    """Diagnostics as text, as this console wants them."""
    ink = Ink.ANSI if console.colour else Ink.PLAIN
    return render_text(diagnostics, sources, ink=ink, charset=Charset.UNICODE)


def exit_of(error: RhoError) -> Exit:
    """The exit code of an error raised by a stage."""
    codes = {found.code for found in error.diagnostics}
    if Code.BUG in codes:
        return Exit.BUG
    if codes & {Code.E709, Code.SCH302} and not isinstance(error, Refused):
        return Exit.BUDGET
    if isinstance(error, Rejected):
        return Exit.REJECTED
    return Exit.REFUSED if isinstance(error, Refused) else Exit.FAILED
