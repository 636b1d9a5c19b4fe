"""The outputs of a command: results as text or JSON, to standard output or the file of `-o`, and files not to be overwritten."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...lang.diagnostics.model import RhoError
from ...lang.diagnostics.render import diagnostic_json
from ..console.process_exit import Exit, UsageError
from ..console.standard_streams import Console, exit_of, print_json, save_text, show_diagnostics, stream_of, with_input_options
from . import arguments as registry
from .arguments import Arguments, FileUse, Option, Takes

if TYPE_CHECKING:
    from ..execution.running import RunReport
    from ..pipeline_types import LoadedProgram


# ---------------------------------------------------------------------------------------------------- results

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
    """Show the error that prevents a result, also as a JSON object if the command line asks for JSON; returns the exit code."""
    paths = {name: path for name, _, path in (word.partition("=") for word in arguments.values("--in"))}
    diagnostics = with_input_options(error.diagnostics, error.sources, paths)
    show_diagnostics(console, diagnostics, error.sources)
    if wants_json(arguments):
        print_json(console, {"diagnostics": [diagnostic_json(one, error.sources) for one in diagnostics]})
    return exit_of(error)


def report_or_raise(error: Exception, arguments: Arguments, console: Console) -> Exit:
    """Like `report_error`, for an error of a stage; any other exception is raised again."""
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


# ---------------------------------------------------------------------------------------------------- conflicts of files
#
# Rejects commands that would overwrite a file they read, or write one file twice.
#
# The row of an option (`shell.cli.arguments`) says whether it reads or writes the file it names, so that the checks hold for
# every verb: for the files on the command line before anything is read, and for those in the program once it is loaded.

def reject_same_file(arguments: Arguments) -> None:
    """Raise UsageError if two options of a command line write one file, or one writes what another reads."""
    written = list(_named_files(arguments, FileUse.WRITTEN))
    if not written:
        return
    taken = {_real_path(path): f"read by {option}" for option, path in _named_files(arguments, FileUse.READ)}
    taken.update({_real_path(path): "the program" for path in arguments.positional if path != "-"})
    for option, path in written:
        _reject_taken(option, path, taken)
        taken[_real_path(path)] = f"{option} already"


def reject_overwriting_inputs(arguments: Arguments, loaded: LoadedProgram, outputs: Sequence[tuple[str, str]] = ()) -> None:
    """Raise UsageError if an option writes a file that the program reads: an input or a module.

    `outputs`: outputs with their paths, also those that `--out-dir` writes."""
    taken = {_real_path(name): "the program" for name in loaded.checked.sources if not name.startswith("<")}
    on_disk = {name: file for name, file in loaded.files.items() if file.wanted.held is None}
    taken.update({_real_path(file.path): f"read as input `{name}`" for name, file in on_disk.items()})
    named = list(_named_files(arguments, FileUse.WRITTEN))
    for option, path in named:
        _reject_taken(option, path, taken)
    taken.update({_real_path(path): f"{option} already" for option, path in named})
    stated = {(name.partition(":")[0], path) for option, path in named for name in option.removeprefix("--out ").split(",")}
    for name, path in outputs:
        if (name, path) not in stated and stream_of(path) is None:
            _reject_taken(f"--out-dir for {name}", path, taken)


def _reject_taken(option: str, path: str, taken: Mapping[str, str]) -> None:
    what = taken.get(_real_path(path))
    if what is not None:
        hint = "give each output a file of its own" if what.endswith("already") else "save the output in a file of its own"
        joint = "=" if " " in option else " "
        raise UsageError(f"{option}{joint}{path}: that file is {what}", hint)


def _named_files(arguments: Arguments, use: FileUse) -> Iterator[tuple[str, str]]:
    """(the option with the name it is for, the path) of every file that options read or write."""
    verb = registry.find_verb(arguments.verb)
    for option in () if verb is None else verb.options:
        if option.file is use:
            for text in arguments.values(option.name):
                yield from _files_in_value(option, text)


def _files_in_value(option: Option, text: str) -> Iterator[tuple[str, str]]:
    """The files in an option's value `NAME=PATH`, `NAME[=PATH]` or `PATH`; standard streams are no files."""
    name, equals, path = text.partition("=") if option.takes is Takes.VALUES else ("", "=", text)
    if equals and path and stream_of(path) is None:
        yield f"{option.name} {name.strip()}".strip(), path


def _real_path(path: str) -> str:
    """A path with links resolved, without the member of an archive."""
    from ...backend.io.formats import split_member

    try:
        return os.path.realpath(split_member(path)[0])
    except (OSError, ValueError):
        return path
