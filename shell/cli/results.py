"""How a command gives its results: as text or JSON, to standard output or to the file of `-o`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lang.diagnostics.model import RhoError
from ...lang.diagnostics.render import diagnostic_json
from ..console.messages import exit_of, print_json, save_text, show_diagnostics, with_input_options
from ..console.process_exit import Exit
from ..console.standard_streams import Console
from .arguments import Arguments

if TYPE_CHECKING:
    from ..execution.running import RunReport


def wants_json(arguments: Arguments) -> bool:
    return arguments.has("--json") or arguments.value("--format") == "json"


def write_result(arguments: Arguments, console: Console, text: str) -> None:
    """Write a result to the file of `-o`, else to standard output.  Raises NotWritten."""
    target = arguments.value("-o")
    if target is None:
        console.print(text.rstrip("\n"))
    else:
        save_text(target, text.rstrip("\n") + "\n")


def report_error(arguments: Arguments, console: Console, error: RhoError) -> Exit:
    """Show why a command has no result, as a JSON object too if that was asked for; returns the exit code."""
    paths = {name: path for name, _, path in (word.partition("=") for word in arguments.values("--in"))}
    diagnostics = with_input_options(error.diagnostics, error.sources, paths)
    show_diagnostics(console, diagnostics, error.sources)
    if wants_json(arguments):
        print_json(console, {"diagnostics": [diagnostic_json(one, error.sources) for one in diagnostics]})
    return exit_of(error)


def report_or_raise(error: Exception, arguments: Arguments, console: Console) -> Exit:
    """`report_error` for an error of a stage; any other exception is raised again."""
    if not isinstance(error, RhoError):
        raise error
    return report_error(arguments, console, error)


def show_report(report: RunReport, console: Console, *, json: bool) -> Exit:
    """Print the results of a run to standard output and its messages to standard error; with `json` both as one JSON object."""
    show_diagnostics(console, report.diagnostics, report.sources)
    if json:
        print_json(console, report.json(console.digits))
    else:
        for shown in report.outcome.printed:
            console.print("\n".join(shown.lines(console)))
    return report.exit
