"""`rho eval --lines`: each line its own program, in one process; a line that fails gives its problem and the next goes on."""

from __future__ import annotations

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic
from ...lang.source import Source, Span
from ..execution.outcome import nothing
from ..execution.running import Report, run_program
from ..session import Session
from . import messages
from .arguments import UsageError
from .console import Console
from .exits import Exit
from .requests import Request
from .results import print_json


def run_lines(text: str, session: Session, request: Request, console: Console, *, json: bool, verify: bool) -> Exit:
    """Run every line; with `json` one object a line, in order, blank lines included.  The exit code is the first that is not OK
    without `json`, and OK with it (each object has its own)."""
    worst = Exit.OK
    for number, line in enumerate(text.splitlines(), 1):
        report = run_line(Source(f"<line {number}>", line), session, request, verify=verify)
        worst = worst or report.exit
        if json:
            print_json(console, {**report.json(console.digits), "exit": int(report.exit)})
            continue
        messages.show(console, report.diagnostics, report.sources)
        for shown in report.outcome.printed:
            console.print("\n".join(shown.lines(console)))
    return Exit.OK if json else worst


def run_line(source: Source, session: Session, request: Request, *, verify: bool) -> Report:
    """One line, isolated: even a bug in Rho is only this line's."""
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


def _failed(exit: Exit, code: Code, message: str, source: Source) -> Report:
    found = Diagnostic(code, message, Span(source.name, 0, len(source.text)))
    return Report(exit, nothing(), (found,), {source.name: source})
