"""`rho eval EXPR` and `rho eval --lines FILE`: programs from the command line."""

from __future__ import annotations

from dataclasses import replace

from ...lang import habits_told
from ...lang.limits import MAXIMUM_CHARACTERS
from ...lang.source import Source
from ..cli.arguments import Arguments, UsageError
from ..cli.console import Console, Volume
from ..cli.exits import Exit
from ..cli.requests import permissions_of, request_of
from ..cli.results import print_json, wants_json
from ..cli.sources import EVAL, read_source
from ..display.progress import RunProgress
from ..execution.running import Report, run_program
from ..execution.watching import StageTimes
from ..session import Session
from ..stages import Strictness


def run(arguments: Arguments, console: Console) -> Exit:
    request = request_of(arguments, console)
    strictness = Strictness.STRICT if arguments.has("--strict") else Strictness.GUARDED
    session = Session("", permissions_of(arguments, request, "", ""), strictness)
    lines = arguments.value("--lines")
    if lines is not None:
        from ..cli.lines import run_lines

        if arguments.positional:
            raise UsageError("rho eval: give an expression or --lines FILE, not both")
        text = console.read_input() if lines == "-" else read_source(lines).text
        if len(text) > MAXIMUM_CHARACTERS:
            raise UsageError(f"rho eval --lines: more than {MAXIMUM_CHARACTERS} characters")
        return run_lines(text, session, request, console, json=wants_json(arguments), verify=arguments.has("--verify"))
    text = " ".join(arguments.positional)
    if not text:
        raise UsageError("rho eval: needs an expression", "for example: rho eval '+/⍳10'")
    if text == "-":
        text = console.read_input()
    source, verify, json, times = Source(EVAL, text), arguments.has("--verify"), wants_json(arguments), StageTimes()
    with RunProgress(console, times) as watch:
        report = run_program(source, session, request, verify=verify, watch=watch, json=json)
    for line in times.lines() if console.volume is Volume.VERBOSE else ():
        console.note(line)
    remarks = habits_told.notes(source, report.diagnostics)
    return show_report(replace(report, diagnostics=(*report.diagnostics, *remarks)), console, json=json)


def show_report(report: Report, console: Console, *, json: bool) -> Exit:
    """Results to standard output, messages to standard error; with `json` the object of ux.md, messages in it too."""
    from ..cli import messages

    messages.show(console, report.diagnostics, report.sources)
    if json:
        print_json(console, report.json(console.digits))
    else:
        for shown in report.outcome.printed:
            console.print("\n".join(shown.lines(console)))
    return report.exit
