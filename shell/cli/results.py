"""How a command gives its results: as text or JSON, to standard output or to the file of `-o`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lang.diagnostics.model import RhoError
from ...lang.diagnostics.render import diagnostic_json
from ..console.messages import exit_of, print_json, rewrite, show, with_options
from ..console.process_exit import Exit
from ..console.standard_streams import Console
from .arguments import Arguments

if TYPE_CHECKING:
    from ..execution.running import RunReport


def wants_json(arguments: Arguments) -> bool:
    return arguments.has("--json") or arguments.value("--format") == "json"


def give(arguments: Arguments, console: Console, text: str) -> None:
    """A result: to the file of `-o`, else to standard output.  NotWritten."""
    target = arguments.value("-o")
    if target is None:
        console.print(text.rstrip("\n"))
    else:
        rewrite(target, text.rstrip("\n") + "\n")


def refuse(arguments: Arguments, console: Console, error: RhoError) -> Exit:
    """Show why a command has no result; whoever asked for JSON gets an object all the same."""
    given = {name: path for name, _, path in (word.partition("=") for word in arguments.values("--in"))}
    diagnostics = with_options(error.diagnostics, error.sources, given)
    show(console, diagnostics, error.sources)
    if wants_json(arguments):
        print_json(console, {"diagnostics": [diagnostic_json(one, error.sources) for one in diagnostics]})
    return exit_of(error)


def refuse_or_raise(error: Exception, arguments: Arguments, console: Console) -> Exit:
    """`refuse` for an error of a stage; any other exception is raised again."""
    if not isinstance(error, RhoError):
        raise error
    return refuse(arguments, console, error)


def show_report(report: RunReport, console: Console, *, json: bool) -> Exit:
    """Results to standard output, messages to standard error; with `json` the JSON object, messages in it too."""
    show(console, report.diagnostics, report.sources)
    if json:
        print_json(console, report.json(console.digits))
    else:
        for shown in report.outcome.printed:
            console.print("\n".join(shown.lines(console)))
    return report.exit
