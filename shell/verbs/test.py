"""`rho test PATH…`: run the documented examples of `.rho` and `.md` files (`execution.examples` says what counts as one)."""

from __future__ import annotations

import os

from ...lang.diagnostics import Rejected
from ..cli.arguments import Arguments
from ..cli.console import Console
from ..cli.exits import Exit
from ..cli.lost_output import reporting
from ..cli.results import print_json, wants_json
from ..cli.sources import find_files, read_source
from ..display.progress import progress
from ..execution.claims import Failure, check_case
from ..execution.examples import markdown_cases, rho_cases


def run(arguments: Arguments, console: Console) -> Exit:
    failures: list[Failure] = []
    cases, file = 0, ""
    files = find_files(arguments.positional, (".rho", ".md"))
    with progress(console, lambda: f"{cases} examples, now in {file}"):
        for file in files:
            try:
                text = read_source(file).text
            except Rejected as error:
                failures.append(Failure(file, 1, error.diagnostics[0].message))
                continue
            for case in markdown_cases(text) if file.endswith(".md") else rho_cases(text):
                cases += 1
                failures += check_case(case, file, text)
    code = Exit.FAILED if failures else Exit.OK
    with reporting(code):
        _report(arguments, console, failures, cases, len(files))
    return code


def _report(arguments: Arguments, console: Console, failures: list[Failure], cases: int, files: int) -> None:
    if wants_json(arguments):
        found = [{"file": failure.file, "line": failure.line, "message": failure.message} for failure in failures]
        print_json(console, {"files": files, "examples": cases, "failures": found})
        return
    for failure in failures:
        console.print(f"{os.path.normpath(failure.file)}:{failure.line}: {failure.message}")
    verdict = f"{len(failures)} failed" if failures else "all hold"
    where = f"in {files} file{'' if files == 1 else 's'}"
    if not cases and not failures:
        console.note(f"nothing to test {where}")
    else:
        console.note(f"{cases} example{'' if cases == 1 else 's'} {where}: {verdict}")
