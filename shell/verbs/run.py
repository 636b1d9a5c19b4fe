"""`rho run FILE`: check, load, plan and run a script; print and save, both only after the whole run has succeeded."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...lang.diagnostics import Refused
from ...lang.source import Source, Span
from ...typechecker.elements import Kind
from ..cli.arguments import Arguments, NotWritten, UsageError
from ..cli.console import Console, Volume
from ..cli.exits import Exit
from ..cli.overwriting import require_unread
from ..cli.requests import Request, permissions_of, request_of
from ..cli.results import require_place, wants_json
from ..cli.sources import STANDARD_INPUT, read_source
from ..cli.streams import bytes_out, stream_of
from ..display.progress import RunProgress
from ..display.tracing import Recorder, write_trace
from ..execution.clusters import let_go
from ..execution.outcome import Outcome
from ..execution.permissions import Permissions
from ..execution.running import run_program
from ..execution.scheduling import Use, require_optimal, scheduling_of, simulation_lines
from ..execution.stored_plans import program_in, read_plan
from ..execution.watching import StageTimes
from ..plotting.requested import drawings_of
from ..session import Session
from ..stages import Loaded, Strictness
from .check import stamps, wait_for_change
from .eval import show_report

if TYPE_CHECKING:
    from ...backend.run.files import Prepared
    from ...typechecker.core_blocks import CoreOutput


def run(arguments: Arguments, console: Console) -> Exit:
    if not arguments.has("--watch"):
        return run_once(arguments, console, set())
    if arguments.positional in ((), ("-",)):
        raise UsageError("--watch needs a file: nothing else changes")
    read = {arguments.positional[0]}
    while True:
        before, again = stamps(read), {arguments.positional[0]}  # as they are before the run, in which they may change
        run_once(arguments, console, again)
        before = {name: stamp for name, stamp in before.items() if name in again}
        before = stamps(again) | before
        console.out.flush()
        read = again
        wait_for_change(before)


def run_once(arguments: Arguments, console: Console, read: set[str]) -> Exit:
    """Run the script; the files that were read are added to `read`."""
    request = request_of(arguments, console)
    json = wants_json(arguments)
    results = console
    if any(stream_of(target) is not None for target in request.outputs.values()):
        if json:
            raise UsageError("--json and an output `-` both write standard output", "give the output a file")
        console = replace(console, out=console.err)  # what is printed
    stored = arguments.value("--plan")
    if not arguments.positional and stored is None:
        raise UsageError("rho run: needs FILE, or --plan PLAN", "for example: rho run examples/kmeans.rho")
    path = arguments.positional[0] if arguments.positional else stored or ""
    texts: dict[str, Source] = {}
    if not arguments.positional:
        source, texts = program_in(read_plan(path), path)
    else:
        source = Source(STANDARD_INPUT, console.read_input()) if path == "-" else read_source(path)
    folder = "" if path == "-" else os.path.dirname(path)
    permissions = permissions_of(arguments, request, path, folder)
    strictness = Strictness.STRICT if arguments.has("--strict") else Strictness.GUARDED
    session = Session("", permissions, strictness, texts)
    scheduling = scheduling_of(arguments, Use.RUN)
    if scheduling is not None and scheduling.cluster is not None:
        scheduling.cluster.tell = console.note
    drawings = drawings_of(arguments)
    if scheduling is not None and not (json or drawings.wanted):
        scheduling = replace(scheduling, in_place=scheduling.cluster is not None)
    traced = arguments.value("--trace")
    if traced is not None:
        require_place(traced, f"--trace {traced}: this file")
    recorder = StageTimes() if traced is None else Recorder()
    request = _with_folder(request, arguments.value("--out-dir"), session, source)
    program, drawings = drawings.program(source, session, stored=arguments.has("--plan"))
    drawn: list[str] = []

    def ready(loaded: Loaded) -> None:
        read.update(file.path for file in loaded.files.values())
        if loaded.files:
            from ..execution.loading import doubts

            for line in doubts(loaded.files):
                console.note(line)
        if loaded.streams:
            from ..execution.streaming import stream_lines

            for line in stream_lines(loaded):
                console.note(line)
        if arguments.has("--require-optimal"):
            require_optimal(loaded.plan, path)
        require_unread(arguments, loaded, request.outputs)
        _make_folder(arguments.value("--out-dir"))
        if traced is not None and not permissions.may_write(traced):
            raise Refused([permissions.write_refusal(traced, Span(source.name, 0, 0))])
        _check_outputs(loaded, request, permissions)
        drawings.check(loaded, permissions)

    def save(loaded: Loaded, outcome: Outcome) -> None:
        pictures = drawings.files(loaded, outcome)
        drawings.show(outcome, console, drawn.append)
        _save(loaded, request, outcome, console, results, pictures)

    with RunProgress(console, recorder) as watch, let_go(None if scheduling is None else scheduling.cluster):
        report = run_program(
            program, session, request, scheduling=scheduling, verify=arguments.has("--verify"),
            analyze=arguments.has("--analyze"), ready=ready, save=save, watch=watch, json=json,
        )  # fmt: skip
    for line in recorder.lines() if console.volume is Volume.VERBOSE else ():
        console.note(line)
    read.update(name for name in report.sources if not name.startswith("<"))
    report = replace(report, outcome=drawings.without(report.outcome))
    if isinstance(recorder, Recorder) and traced is not None and report.exit is Exit.OK:
        write_trace(recorder, traced)
    code = show_report(report, console, json=json)
    for line in drawn:
        (console.note if json else console.print)(line)
    plan = report.outcome.plan
    if "measured" in plan:
        from ..display.analysis import Row, compiled, table

        peaks = ", ".join(f"{count:,} bytes on {device}" for device, count in plan["predicted"]["peak_bytes"].items())
        rows = [Row.of(found) for found in plan["measured"]["phases"]]
        for line in table(rows, runs=plan["measured"]["runs"], **plan["profile"]):
            console.note(line)
        console.note(compiled(plan["machine_code"]))
        console.note(f"took {plan['measured']['seconds'] * 1000:.1f} ms; memory at most {peaks}")
    if code is Exit.OK and not (json or drawings.wanted or request.outputs or report.outcome.printed):
        for line in _silent(report.outcome, program):
            console.note(line)
    return code


def _make_folder(folder: str | None) -> None:
    if folder is None:
        return
    try:
        os.makedirs(folder, exist_ok=True)
    except (OSError, ValueError) as error:
        raise NotWritten(f"--out-dir {folder}: the folder cannot be made ({getattr(error, 'strerror', None) or error})") from None


def _with_folder(request: Request, folder: str | None, session: Session, source: Source) -> Request:
    """The request with a file in a folder for every output that has none of its own."""
    if folder is None:
        return request
    core = session.check(source).core
    kinds = {} if core is None else {entry.name: core.types[entry.value].element.kind for entry in core.outputs}
    made = {name: os.path.join(folder, f"{name}.txt" if kind is Kind.CHAR else f"{name}.npy") for name, kind in kinds.items()}
    return replace(request, outputs={**made, **request.outputs})


_MOST_NAMED = 8


def _silent(outcome: Outcome, program: Source) -> list[str]:
    """What a run that showed and kept nothing has computed: nobody should wonder whether it ran."""
    made = [f"{name} {shown.measured_type}" for name, shown in outcome.outputs.items()]
    if made:
        more = f" and {len(made) - _MOST_NAMED} more" if len(made) > _MOST_NAMED else ""
        return [f"outputs: {', '.join(made[:_MOST_NAMED])}{more} (keep one with --out NAME=FILE)"]
    from ...lang.spelling import spell
    from ...lang.splitter import split_statements

    return [] if split_statements(spell(program)) else ["the program is empty"]


def _check_outputs(loaded: Loaded, request: Request, permissions: Permissions) -> None:
    """Refuse outputs that cannot be written, before anything is computed."""
    from ...backend.run.files import check_writable

    targets = {name: target for name, target in request.outputs.items() if stream_of(target) is None}
    for entry in loaded.core.outputs:
        path = targets.get(entry.name)
        if path is not None:
            if not permissions.may_write(path):
                raise Refused([permissions.write_refusal(path, entry.span)])
            check_writable(path, entry.span)


def _by_path(outputs: Sequence[CoreOutput], paths: Mapping[str, str]) -> dict[str, list[CoreOutput]]:
    """The outputs that each file takes, in the order in which it names them."""
    entries = {entry.name: entry for entry in outputs}
    found: dict[str, list[CoreOutput]] = {}
    for name, path in paths.items():
        found.setdefault(path, []).append(entries[name])
    return found


def _save(
    loaded: Loaded, request: Request, outcome: Outcome, console: Console, results: Console, pictures: Sequence[Prepared]
) -> None:
    """Files first, as they can fail together; then what goes to standard output, the `out` of `results`."""
    from ...backend.run.files import prepare_table, prepare_values, write_together

    if loaded.simulated:
        for line in simulation_lines(loaded.plan):
            console.note(line)
    files: list[Prepared] = []
    streamed: list[Prepared] = []
    for path, entries in _by_path(loaded.core.outputs, request.outputs).items():
        span, stream = entries[0].span, stream_of(path)
        kept, name = (files, path) if stream is None else (streamed, stream.named())
        if len(entries) > 1:
            every = [(e.name, outcome.outputs[e.name].value, outcome.outputs[e.name].kind, e.reading) for e in entries]
            kept.append(prepare_table(name, every, span, shown=path))
            continue
        entry, shown = entries[0], outcome.outputs[entries[0].name]
        kept.append(prepare_values(name, shown.value, shown.kind, span, shown=path, name=entry.name, reading=entry.reading))
    if files or pictures:
        write_together([*files, *pictures])
    for one in streamed:
        file = bytes_out(results.out)
        one.fill(file)
        file.flush()
