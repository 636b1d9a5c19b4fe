"""Diagnostics on a console: rendered to standard error, in colour where that is wanted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Refused, Rejected, RhoError
from ...lang.render import Ink, diagnostic_json, render_text
from ...lang.source import Source
from .arguments import Arguments
from .console import Console, Volume
from .exits import Exit
from .lost_output import in_order
from .results import print_json, wants_json


def show(console: Console, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> None:
    """Write diagnostics as text to standard error, a blank line after each."""
    if console.volume is Volume.QUIET:
        diagnostics = [found for found in diagnostics if found.is_error]
    if diagnostics:
        in_order(console.out)
        console.err.write(text(console, diagnostics, sources) + "\n")


def refuse(arguments: Arguments, console: Console, error: RhoError) -> Exit:
    """Show why a command has no result; whoever asked for JSON gets an object all the same."""
    given = {name: path for name, _, path in (word.partition("=") for word in arguments.values("--in"))}
    diagnostics = with_options(error.diagnostics, error.sources, given)
    show(console, diagnostics, error.sources)
    if wants_json(arguments):
        print_json(console, {"diagnostics": [diagnostic_json(found, error.sources) for found in diagnostics]})
    return exit_of(error)


def with_options(
    diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source], inputs: Mapping[str, str]
) -> tuple[Diagnostic, ...]:  # fmt: skip
    """The diagnostics; what is said of a file at the line of its input names the `--in` that gave the file, if one did."""
    return tuple([_with_option(found, sources, inputs) for found in diagnostics])


def _with_option(found: Diagnostic, sources: Mapping[str, Source], inputs: Mapping[str, str]) -> Diagnostic:
    source = sources.get(found.span.file)
    declared = None if source is None or found.code not in _OF_FILES else _INPUT.match(source.text, found.span.start)
    if declared is None or declared[1] not in inputs:
        return found
    return replace(found, notes=(*found.notes, f"the file was given by `--in {declared[1]}={inputs[declared[1]]}`"))


_OF_FILES = frozenset({Code.E704, Code.E705, Code.E706})
_INPUT = re.compile(r"[ \t]*input[ \t]+(\w+)")


def text(console: Console, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> str:
    """Diagnostics as text, as this console wants them."""
    ink = Ink.ANSI if console.colour else Ink.PLAIN
    return render_text(diagnostics, sources, ink=ink)


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
