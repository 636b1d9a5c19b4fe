"""Diagnostics on a console: rendered to standard error, in colour where that is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..lang.diagnostics import Diagnostic, Refused, Rejected, RhoError
from ..lang.render import Charset, Ink, render_text
from ..lang.source import Source
from .console import Console
from .exits import Exit

BUG = "BUG"
"""The code of a diagnostic that reports a bug in Rho itself."""


def show(console: Console, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> None:
    """Write diagnostics as text to standard error, a blank line after each."""
    if diagnostics:
        console.out.flush()
        console.err.write(text(console, diagnostics, sources) + "\n")


def text(console: Console, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> str:
    """Diagnostics as text, as this console wants them."""
    ink = Ink.ANSI if console.colour else Ink.PLAIN
    return render_text(diagnostics, sources, ink=ink, charset=Charset.UNICODE)


def exit_of(error: RhoError) -> Exit:
    """The exit code of an error raised by a stage."""
    codes = {found.code for found in error.diagnostics}
    if BUG in codes:
        return Exit.BUG
    if "E709" in codes and not isinstance(error, Refused):
        return Exit.BUDGET
    if isinstance(error, Rejected):
        return Exit.REJECTED
    return Exit.REFUSED if isinstance(error, Refused) else Exit.FAILED
