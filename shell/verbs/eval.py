"""`rho eval EXPR` and `rho eval --lines FILE`: programs from the command line."""

from __future__ import annotations

from ...lang.diagnostics.model import Code, Diagnostic
from ...lang.support.records import replace
from ...lang.syntax.source import MAXIMUM_CHARACTERS, Source, Span
from ..cli.arguments import Arguments, permissions_of, request_of
from ..cli.outputs import show_report, wants_json
from ..console import messages
from ..console.messages import EVAL, print_json, read_source
from ..console.process_exit import Exit, UsageError
from ..console.standard_streams import Console, Volume
from ..display.progress import RunProgress
from ..execution.outcome import empty_outcome
from ..execution.progress_events import StageTimes
from ..execution.run_request import RunRequest
from ..execution.running import RunReport, run_program
from ..pipeline import Session
from ..pipeline_types import Strictness

# ---------------------------------------------------------------------------------------------------- eval

def eval_command(arguments: Arguments, console: Console) -> Exit:
    from ...lang.foreign import hints

    request = request_of(arguments, console)
    strictness = Strictness.STRICT if arguments.has("--strict") else Strictness.GUARDED
    session = Session("", permissions_of(arguments, request, "", ""), strictness)
    lines = arguments.value("--lines")
    if lines is not None:
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
    with RunProgress(console, times) as callbacks:
        report = run_program(source, session, request, verify=verify, callbacks=callbacks, json=json)
    for line in times.lines() if console.volume is Volume.VERBOSE else ():
        console.note(line)
    remarks = hints.lint_foreign_syntax(source, report.diagnostics, lambda text: session.check(text).diagnostics)
    return show_report(replace(report, diagnostics=(*report.diagnostics, *remarks)), console, json=json)


# ---------------------------------------------------------------------------------------------------- lines
#
# `rho eval --lines`: each line is a program of its own, in one process; after a line that fails the next one runs.

def run_lines(text: str, session: Session, request: RunRequest, console: Console, *, json: bool, verify: bool) -> Exit:
    """Run every line; with `json` one object a line, in order, blank lines included.  The exit code is the first that is not OK
    without `json`, and OK with it (each object has its own)."""
    worst = Exit.OK
    for number, line in enumerate(text.splitlines(), 1):
        report = run_line(Source(f"<line {number}>", line), session, request, verify=verify)
        worst = worst or report.exit
        if json:
            print_json(console, {**report.json(console.digits), "exit": int(report.exit)})
            continue
        messages.show_diagnostics(console, report.diagnostics, report.sources)
        for shown in report.outcome.printed:
            console.print("\n".join(shown.lines(console)))
    return Exit.OK if json else worst


def run_line(source: Source, session: Session, request: RunRequest, *, verify: bool) -> RunReport:
    """Run one line; any exception, even a bug in Rho, is in its report."""
    try:
        return run_program(source, session, request, verify=verify)
    except UsageError as error:
        return _failed(Exit.USAGE, Code.E704, error.message, source)
    except RecursionError:
        return _failed(Exit.REJECTED, Code.E610, "the program is too deeply nested for Rho to check or run", source)
    except MemoryError:
        return _failed(Exit.FAILED, Code.E702, "there is not enough memory to go on", source)
    except Exception as error:  # the line's own barrier: reported as a bug with exit 70
        return _failed(Exit.BUG, Code.BUG, f"a bug in Rho: {type(error).__name__}: {error}", source)


def _failed(exit: Exit, code: Code, message: str, source: Source) -> RunReport:
    diagnostic = Diagnostic(code, message, Span(source.name, 0, len(source.text)))
    return RunReport(exit, empty_outcome(), (diagnostic,), {source.name: source})
