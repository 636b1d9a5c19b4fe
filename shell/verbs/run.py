"""`rho run FILE`: check, load, plan and run a script; print and save, both only after the whole run has succeeded."""

from __future__ import annotations

import os

from ...lang.source import Source
from ..arguments import Arguments, UsageError
from ..console import Console
from ..exits import Exit
from ..outcome import Outcome
from ..permissions import Permissions
from ..requests import Request, check_outputs, data_file, permissions_of, request_of
from ..results import wants_json
from ..running import run_program
from ..scheduling import Use, scheduling_of, simulation_lines
from ..session import Loaded, Session, Strictness
from ..sources import STANDARD_INPUT, Undecodable, read_source
from .eval import show_report


def run(arguments: Arguments, console: Console) -> Exit:
    from .. import messages

    request = request_of(arguments)
    check_outputs(request)
    path = arguments.positional[0]
    try:
        source = Source(STANDARD_INPUT, console.read_input()) if path == "-" else read_source(path)
    except Undecodable as error:
        messages.show(console, error.diagnostics, {path: error.source})
        return Exit.REJECTED
    folder = "" if path == "-" else os.path.dirname(path)
    permissions = permissions_of(arguments, request, path, folder)
    strictness = Strictness.STRICT if arguments.has("--strict") else Strictness.GUARDED
    session = Session("", permissions, strictness)
    scheduling = scheduling_of(arguments, Use.RUN)
    report = run_program(
        source, session, request, scheduling=scheduling, verify=arguments.has("--verify"), analyze=arguments.has("--analyze"),
        ready=lambda loaded: _check_outputs(loaded, request, permissions, path),
        save=lambda loaded, outcome: _save(loaded, request, outcome, console),
    )  # fmt: skip
    code = show_report(report, console, json=wants_json(arguments))
    plan = report.outcome.plan
    if "measured" in plan:
        from ..analysis import Row, table

        peaks = ", ".join(f"{count:,} bytes on {device}" for device, count in plan["predicted"]["peak_bytes"].items())
        rows = [Row.of(found) for found in plan["measured"]["phases"]]
        for line in table(rows, runs=plan["measured"]["runs"], calibrated=plan["profile"]["calibrated"]):
            console.note(line)
        console.note(f"took {plan['measured']['seconds'] * 1000:.1f} ms; memory at most {peaks}")
    return code


def _check_outputs(loaded: Loaded, request: Request, permissions: Permissions, program: str) -> None:
    """Refuse outputs that cannot be written, or are read, before anything is computed."""
    from ...backend.run.files import check_writable
    from ...lang.diagnostics import Refused

    read = {os.path.realpath(data_file(file.path)): f"read as input `{name}`" for name, file in loaded.files.items()}
    read[os.path.realpath(program)] = "the program"
    for name, target in request.outputs.items():
        what = read.get(os.path.realpath(target))
        if what is not None:
            raise UsageError(f"--out {name}={target}: that file is {what}", "save the output in a file of its own")
    for entry in loaded.core.outputs:
        path = request.outputs.get(entry.name)
        if path is not None:
            if not permissions.may_write(path):
                raise Refused([permissions.write_refusal(path, entry.span)])
            check_writable(path, entry.span)


def _save(loaded: Loaded, request: Request, outcome: Outcome, console: Console) -> None:
    from ...backend.run.files import prepare_values

    if loaded.simulated:
        for line in simulation_lines(loaded.plan):
            console.note(line)
    writes = []
    for entry in loaded.core.outputs:
        path = request.outputs.get(entry.name)
        if path is not None:
            shown = outcome.outputs[entry.name]
            writes.append(prepare_values(path, shown.value, shown.kind, entry.span))
    for write in writes:
        write()
