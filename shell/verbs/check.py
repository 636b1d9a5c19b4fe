"""`rho check PATH…` and `rho fmt PATH…`.  They read program texts and no data, and import no array library.

With `--watch`, `rho check` checks again whenever a text that it has read changes, until it is interrupted; a check then costs
only what has changed (`typechecker.check`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from ... import __version__
from ...lang.diagnostics.model import Diagnostic, Rejected, RhoError, Severity
from ...lang.foreign import hints
from ...lang.support.records import replace
from ...lang.syntax.formatter import format_source
from ...lang.syntax.source import Source
from ...typechecker.check import Checker
from ..cli.arguments import Arguments
from ..console import standard_streams
from ..console.apply_fixes import FixRefused, apply_safe_fixes, difference
from ..console.process_exit import Exit, UsageError
from ..console.standard_streams import STANDARD_INPUT, Console, find_files, read_source, reporting, save_text, to_json
from ..display import costs
from ..display.progress import progress_line
from ..pipeline import Session
from ..pipeline_types import Checked, Strictness

# ---------------------------------------------------------------------------------------------------- check

def check_command(arguments: Arguments, console: Console) -> Exit:
    strictness = Strictness.STRICT if arguments.has("--strict") else Strictness.GUARDED
    session = Session(strictness=strictness, devices=arguments.value("--devices"))
    if session.devices is not None:
        from ..execution.stored_plans import profile_named

        profile_named(session.devices)
    if arguments.has("--fix") or arguments.has("--diff"):
        if arguments.has("--watch"):
            raise UsageError("--watch does not go together with --fix and --diff")
        changes = fix_all(session, arguments, console)
        if arguments.has("--diff"):
            return Exit.FAILED if changes else Exit.OK
    if not arguments.has("--watch"):
        return check_all(session, arguments, console, {})[0]
    if "-" in arguments.positional:
        raise UsageError("--watch needs files: standard input does not change")
    return watch(session, arguments, console, wait_until_changed)


def fix_all(session: Session, arguments: Arguments, console: Console) -> int:
    """Apply the fixes of every file, or show them (`--diff`); returns their number."""
    total = 0
    for file in find_files(arguments.positional, (".rho",)):
        if file == "-":
            raise UsageError("--fix and --diff need files")
        try:
            source = read_source(file)
        except Rejected:
            continue  # checking reports it
        after = apply_safe_fixes(source, lambda text: session.check(text).diagnostics)
        total += after.count
        if arguments.has("--diff"):
            with reporting(Exit.FAILED if total else Exit.OK):
                console.out.write(difference(source, after.source.text))
        elif after.count:
            save_text(file, after.source.text)
            console.note(f"{_counted(after.count, 'fix', 'fixes')} applied to {file}")
        for refused in after.refused:
            console.note(_not_applied(refused, after.source))
        if notes := notes_on_habits(session, after.source, session.check(after.source).diagnostics):
            which = "the fix of 1 note" if len(notes) == 1 else f"the fixes of {len(notes)} notes"
            console.note(f"{which} (N001) in {file} not applied: the program would compute something else")
    return total


def _not_applied(refused: FixRefused, source: Source) -> str:
    """The note on a fix that was not applied, with the reason."""
    line, column = source.position(refused.diagnostic.span.start)
    why = f"with it there would be {_counted(refused.errors, 'error')}"
    if refused.first is not None:
        why += f", such as {refused.first.code}: {refused.first.message}"
    return f"not applied at {source.name}:{line + 1}:{column + 1}: {refused.diagnostic.fixes[0].title}; {why}"


def check_all(
    session: Session, arguments: Arguments, console: Console, checkers: dict[str, Checker]
) -> tuple[Exit, frozenset[str]]:
    """Check every file once and report; returns the exit code and the names of the texts that were read."""
    started = time.perf_counter()
    files = find_files(arguments.positional, (".rho",))
    diagnostics: list[Diagnostic] = []
    sources: dict[str, Source] = {}
    programs: list[Checked] = []
    with progress_line(console, lambda: f"checking {len(programs) + 1}/{len(files)} {files[min(len(programs), len(files) - 1)]}"):
        for file in files:
            checked = _check(session, file, console, checkers.get(file))
            programs.append(checked)
            sources.update(checked.sources)
            diagnostics += [one for one in checked.diagnostics if one not in diagnostics]
    names = [STANDARD_INPUT if file == "-" else file for file in files]
    milliseconds = (time.perf_counter() - started) * 1000
    code = Exit.REJECTED if any(one.is_error for one in diagnostics) else Exit.OK
    with reporting(code):
        _report(arguments, console, diagnostics, sources, names, milliseconds, programs)
    return code, frozenset([*files, *sources])


def watch(session: Session, arguments: Arguments, console: Console, wait: Callable[[frozenset[str]], bool]) -> Exit:
    """Check, `wait` until one of the texts changes, and check again; ends when `wait` returns False."""
    checkers: dict[str, Checker] = {}
    while True:
        for file in find_files(arguments.positional, (".rho",)):
            checkers.setdefault(file, session.checker())
        code, read = check_all(session, arguments, console, checkers)
        console.out.flush()
        if not wait(read):
            return code


def wait_until_changed(names: frozenset[str]) -> bool:
    """Wait until one of the files is written or removed (polled several times a second); returns True."""
    wait_for_change(file_stamps(names))
    return True


def wait_for_change(before: Mapping[str, object]) -> None:
    """Wait until the files no longer have these stamps."""
    while file_stamps(before) == before:
        time.sleep(_POLL_SECONDS)


_POLL_SECONDS = 0.1


def file_stamps(names: Iterable[str]) -> dict[str, tuple[int, int] | None]:
    """Time of modification and size of each file; None for one that does not exist."""
    stamps_of: dict[str, tuple[int, int] | None] = {}
    for name in names:
        try:
            status = os.stat(name)
        except (OSError, ValueError):
            stamps_of[name] = None  # a standard library module, or a file between two writes
        else:
            stamps_of[name] = (status.st_mtime_ns, status.st_size)
    return stamps_of


def _check(session: Session, file: str, console: Console, checker: Checker | None) -> Checked:
    if file == "-":
        source = Source(STANDARD_INPUT, console.read_input())
    else:
        try:
            source = read_source(file)
        except Rejected as error:
            return Checked(error.sources[file], None, error.diagnostics, error.sources)
    checked = session.check(source, checker)
    return replace(checked, diagnostics=(*checked.diagnostics, *notes_on_habits(session, source, checked.diagnostics)))


def notes_on_habits(session: Session, source: Source, diagnostics: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The notes (N001) on a text whose diagnostics are known."""
    return hints.lint_foreign_syntax(source, diagnostics, lambda text: session.check(text).diagnostics)


def _report(
    arguments: Arguments, console: Console, diagnostics: Sequence[Diagnostic], sources: dict[str, Source], files: Sequence[str],
    milliseconds: float, programs: Sequence[Checked],
) -> None:  # fmt: skip
    """Print the diagnostics, which are the results of this verb and go to standard output in every format."""
    from ...lang.diagnostics.render import to_github, to_json as diagnostics_json, to_sarif

    match "json" if arguments.has("--json") else arguments.value("--format") or "text":
        case "json":
            names = [entry for checked in programs for entry in costs.names_json(checked)]
            functions = [entry for checked in programs for entry in costs.signatures_json(checked)]
            report = diagnostics_json(diagnostics, sources, files, milliseconds)
            console.print(to_json({**report, "names": names, "functions": functions}))
        case "sarif":
            console.print(to_json(to_sarif(diagnostics, sources, __version__)))
        case "github":
            console.out.write(to_github(diagnostics, sources))
        case _:
            if diagnostics:
                console.print(standard_streams.diagnostics_text(console, diagnostics, sources))
            console.note(summary_line(diagnostics, len(files)))
            if not arguments.has("--fix"):
                standard_streams.explain_fixes(console, diagnostics, " ".join(arguments.positional))


def summary_line(diagnostics: Sequence[Diagnostic], files: int) -> str:
    """`2 errors, 1 warning in 3 files`."""
    numbers = {severity: sum(one.severity is severity for one in diagnostics) for severity in Severity}
    counts = [_counted(number, severity.value) for severity, number in numbers.items() if number]
    return f"{', '.join(counts) or 'no problems'} in {_counted(files, 'file')}"


def _counted(number: int, noun: str, nouns: str = "") -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {nouns or noun + 's'}"


# ---------------------------------------------------------------------------------------------------- fmt
#
# `rho fmt PATH…`: canonical layout, names to glyphs (`--ascii`: glyphs to names).  Files are replaced atomically.

def fmt_command(arguments: Arguments, console: Console) -> Exit:
    ascii_names, dry_run = arguments.has("--ascii"), arguments.has("--check") or arguments.has("--diff")
    changed: list[str] = []
    worst = Exit.OK
    files = find_files(arguments.positional, (".rho",))
    for file in files:
        try:
            source = Source(STANDARD_INPUT, console.read_input()) if file == "-" else read_source(file)
            formatted = format_source(source, ascii=ascii_names)
        except RhoError as error:
            standard_streams.show_diagnostics(console, error.diagnostics, error.sources or {source.name: source})
            worst = Exit.REJECTED
            continue
        if file == "-" and not dry_run:
            console.out.write(formatted)
        elif formatted != source.text or source.has_returns:
            changed.append(file)
            if arguments.has("--diff"):
                with reporting(Exit.FAILED):
                    console.out.write(difference(source, formatted))
            elif not dry_run:
                save_text(file, formatted)
    if dry_run:
        for file in changed if arguments.has("--check") else ():
            console.note(f"{file} is not in canonical layout")
        return worst or (Exit.FAILED if changed else Exit.OK)
    if not changed and not worst and files and "-" not in files:
        console.note(f"already formatted: {files[0] if len(files) == 1 else f'{len(files)} files'}")
    return worst
