"""Prints JSON and diagnostics, reads program texts and writes files; every error is a usage error or a diagnostic."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...lang.diagnostics.model import Code, Diagnostic, Refused, Rejected, RhoError
from ...lang.diagnostics.render import Ink, render_text
from ...lang.support.files import Pipes, read_bytes, replace_file
from ...lang.support.records import replace
from ...lang.syntax.source import MAXIMUM_CHARACTERS, Source, Span
from .process_exit import Exit, NotWritten, UsageError, nearest
from .standard_streams import Console, Volume, flush_results

# ---------------------------------------------------------------------------------------------------- results

def to_json(value: Any) -> str:
    """One line of JSON, glyphs as they are; never NaN or Infinity, which JSON does not have."""
    import json

    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def print_json(console: Console, value: Any) -> None:
    console.print(to_json(value))


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace a file atomically (`lang.support.files`).  OSError: the old file is unchanged."""
    data = content.encode() if isinstance(content, str) else content
    replace_file(path, lambda file: file.write(data))


def save_text(file: str | Path, text: str, what: str = "") -> None:
    """Replace a text file; `what` names it in the message.  Raises NotWritten."""
    try:
        write_atomically(Path(file), text)
    except OSError as error:
        raise NotWritten(f"{what or f'`{file}`'} cannot be written: {error.strerror}") from error


def require_writable(path: str, what: str) -> None:
    """Raise NotWritten if a file cannot be written, before anything runs; `what` names it in the message."""
    if not os.path.isdir(os.path.dirname(os.path.realpath(path))) or os.path.isdir(path):
        raise NotWritten(f"{what} cannot be written", "its folder has to be there")


# ---------------------------------------------------------------------------------------------------- diagnostics

def show_diagnostics(console: Console, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> None:
    """Write diagnostics as text to standard error, a blank line after each."""
    if console.volume is Volume.QUIET:
        diagnostics = [one for one in diagnostics if one.is_error]
    if diagnostics:
        flush_results(console.out)
        console.err.write(diagnostics_text(console, diagnostics, sources) + "\n")


def explain_fixes(console: Console, diagnostics: Sequence[Diagnostic], path: str) -> None:
    """Say on a terminal how what is marked `[fix]` is applied to the program in a file."""
    if path and path != "-" and console.err.isatty() and any(one.fixes and one.code != Code.N001 for one in diagnostics):
        console.note(f"`rho check --fix {path}` applies what is marked [fix]")


def with_input_options(
    diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source], inputs: Mapping[str, str]
) -> tuple[Diagnostic, ...]:  # fmt: skip
    """The diagnostics; one about a data file gets a note that names the option `--in` which gave the file, if one did.

    `inputs`: paths by the name of the input, as options give them."""
    return tuple([_with_input_option(diagnostic, sources, inputs) for diagnostic in diagnostics])


def _with_input_option(diagnostic: Diagnostic, sources: Mapping[str, Source], inputs: Mapping[str, str]) -> Diagnostic:
    source = sources.get(diagnostic.span.file)
    if source is None or diagnostic.code not in _FILE_ERRORS:
        return diagnostic
    declared = _INPUT_LINE.match(source.text, diagnostic.span.start)
    if declared is None or declared[1] not in inputs:
        return diagnostic
    return replace(diagnostic, notes=(*diagnostic.notes, f"the file was given by `--in {declared[1]}={inputs[declared[1]]}`"))


_FILE_ERRORS = frozenset({Code.E704, Code.E705, Code.E706})
_INPUT_LINE = re.compile(r"[ \t]*input[ \t]+(\w+)")


def diagnostics_text(console: Console, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> str:
    """Diagnostics as text, coloured if the console is."""
    ink = Ink.ANSI if console.colour else Ink.PLAIN
    return render_text(diagnostics, sources, ink=ink)


def exit_of(error: RhoError) -> Exit:
    """The exit code of an error that a stage of the pipeline raises."""
    codes = {diagnostic.code for diagnostic in error.diagnostics}
    if Code.BUG in codes:
        return Exit.BUG
    if codes & {Code.E709, Code.SCH302} and not isinstance(error, Refused):
        return Exit.BUDGET
    if isinstance(error, Rejected):
        return Exit.REJECTED
    return Exit.REFUSED if isinstance(error, Refused) else Exit.FAILED


# ---------------------------------------------------------------------------------------------------- sources
#
# Reads program texts (UTF-8, limited in size) and finds the files that `check`, `fmt` and `test` mean by a path.

_MOST_BYTES = 4 * MAXIMUM_CHARACTERS + 4
EVAL, STANDARD_INPUT = "<eval>", "<stdin>"
_SKIPPED_FOLDERS = ("__pycache__", "node_modules")


def read_source(path: str, name: str | None = None, pipes: Pipes = Pipes.READ) -> Source:
    """The text of a file, called `name` in messages.  UsageError: it cannot be read; Rejected E002: it is not UTF-8."""
    try:
        data = read_bytes(path, _MOST_BYTES, pipes)
    except FileNotFoundError:
        raise UsageError(f"there is no file `{path}`", _similar(path)) from None
    except IsADirectoryError:
        raise UsageError(f"`{path}` is a folder; name a .rho file in it") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"`{path}` cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return decode(name or path, data)


def decode(name: str, data: bytes) -> Source:
    """Decode UTF-8 with an optional byte order mark.  Rejected E002: at the first invalid byte."""
    try:
        return Source(name, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        at = len(data[: error.start].decode("utf-8", "replace"))
        line = data.count(b"\n", 0, error.start) + 1
        bad = Diagnostic(
            Code.E002, f"this file is not UTF-8 text: byte {data[error.start]:#04x} on line {line}",
            Span(name, at, at + 1), notes=("save it as UTF-8",),
        )  # fmt: skip
        raise Rejected([bad], {name: Source(name, text)}) from None


def _similar(path: str) -> str:
    folder, name = os.path.split(path)
    try:
        names = [entry for entry in os.listdir(folder or ".") if entry.endswith((".rho", ".md"))]
    except OSError:
        return ""
    guess = nearest(name, sorted(names))
    return f"did you mean `{os.path.join(folder, guess)}`?" if guess else ""


def find_files(paths: Iterable[str], suffixes: tuple[str, ...]) -> list[str]:
    """The files that paths mean, each once: a folder stands for all files below it with one of `suffixes`, sorted; `-` stays."""
    files: dict[str, None] = {}
    for path in paths:
        if not os.path.isdir(path):
            files[path] = None
            continue
        inside = sorted(_walk(Path(path), suffixes))
        if not inside:
            raise UsageError(f"there is no {' or '.join(suffixes)} file under `{path}`")
        files.update(dict.fromkeys(inside))
    return list(files)


def _walk(folder: Path, suffixes: tuple[str, ...]) -> Iterable[str]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS)
        inside = (os.path.join(root, name) for name in files if name.endswith(suffixes))
        yield from (os.path.normpath(path) for path in inside if os.path.isfile(path))
