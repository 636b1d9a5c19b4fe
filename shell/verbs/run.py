"""`rho run FILE` and `rho eval EXPR`: check, load, plan and run; print and save, both only after the whole run has succeeded."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ...lang.diagnostics.model import Code, Diagnostic, Refused, Rejected, RhoError, pointing_into
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import MAXIMUM_CHARACTERS, Source, Span
from ...typechecker.elements import Kind
from ..cli.arguments import Arguments, permissions_of, request_of, scheduling_of
from ..cli.outputs import reject_overwriting_inputs, show_report, wants_json
from ..console import standard_streams
from ..console.process_exit import Exit, NotWritten, UsageError, nearest
from ..console.standard_streams import (
    EVAL,
    STANDARD_INPUT,
    Console,
    Volume,
    bytes_out,
    find_files,
    print_json,
    read_source,
    reporting,
    require_writable,
    stream_of,
)
from ..display.progress import RunProgress, planning_progress, progress_line
from ..execution.modules import bind_known_sizes, header_reader
from ..execution.params import Permissions, param_values_of
from ..execution.run_request import Outcome, RunRequest, empty_outcome, require_known_names
from ..execution.running import RunReport, run_program
from ..execution.scheduling import PlanningEffort, PlanPurpose, Scheduling, require_optimal, simulation_lines, with_schedule_file
from ..execution.stored_plans import program_in, read_plan
from ..pipeline import Session
from ..pipeline_types import Checked, LoadedProgram, StageTimes, Strictness

if TYPE_CHECKING:
    from ...backend.devices.profile import Profile
    from ...backend.graph.bind_sizes import BoundGraph
    from ...backend.io.writing import PendingWrite
    from ...typechecker.core.operations import Core, CoreOutput
    from ..display.costs import DefinitionCost
    from ..execution.doctest import DoctestFailure


# ---------------------------------------------------------------------------------------------------- run

def run_command(arguments: Arguments, console: Console) -> Exit:
    if not arguments.has("--watch"):
        return run_once(arguments, console, set())
    from .check import file_stamps, wait_for_change

    if arguments.positional in ((), ("-",)):
        raise UsageError("--watch needs a file: nothing else changes")
    read = {arguments.positional[0]}
    while True:
        before, again = file_stamps(read), {arguments.positional[0]}  # the stamps before the run, during which they may change
        run_once(arguments, console, again)
        before = {name: stamp for name, stamp in before.items() if name in again}
        before = file_stamps(again) | before
        console.out.flush()
        read = again
        wait_for_change(before)


def run_once(arguments: Arguments, console: Console, read: set[str]) -> Exit:
    """Run the script; the files that were read are added to `read`."""
    from ..plotting.figures import plot_requests_of

    request = request_of(arguments, console)
    json = wants_json(arguments)
    results = console
    if any(stream_of(target) is not None for _, target in request.written):
        if json:
            raise UsageError("--json and an output `-` both write standard output", "give the output a file")
        console = replace(console, out=console.err)  # printed values
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
    scheduling = scheduling_of(arguments, PlanPurpose.RUN)
    if scheduling is not None and scheduling.cluster is not None:
        scheduling.cluster.report = console.note
    source = with_schedule_file(arguments.value("--schedule"), source, scheduling, console)
    plots = plot_requests_of(arguments.values("--plot"), arguments.value("--plot-size"))
    if scheduling is not None and not (json or plots.requests):
        scheduling = replace(scheduling, in_place=scheduling.cluster is not None)
    traced = arguments.value("--trace")
    if traced is not None:
        require_writable(traced, f"--trace {traced}: this file")
    recorder = _recorder(traced)
    request = _with_output_folder(request, arguments.value("--out-dir"), session, source)
    program, plots = plots.with_outputs(source, session, stored=arguments.has("--plan"))
    drawn: list[str] = []
    shown: list[str] = []
    shows_outputs = results is console and console.out.isatty() and console.volume is not Volume.QUIET and not json

    def ready(loaded: LoadedProgram) -> None:
        read.update(file.path for file in loaded.files.values())
        if loaded.files:
            from ..execution.loading import header_doubts

            for line in header_doubts(loaded.files):
                console.note(line)
        if loaded.streams:
            from ..display.plan_output import stream_lines

            for line in stream_lines(loaded):
                console.note(line)
        if arguments.has("--require-optimal"):
            require_optimal(loaded.plan, path)
        reject_overwriting_inputs(arguments, loaded, request.written)
        _make_folder(arguments.value("--out-dir"))
        if traced is not None and not permissions.may_write(traced):
            raise Refused([permissions.write_refusal(traced, Span(source.name, 0, 0))])
        _check_outputs(loaded, request, permissions)
        plots.require_drawable(loaded, permissions)

    def save(loaded: LoadedProgram, outcome: Outcome) -> None:
        pictures = plots.picture_files(loaded, outcome, console.note)
        plots.show(outcome, console, drawn.append)
        is_simulated = scheduling is not None and scheduling.purpose is PlanPurpose.SIMULATE
        for line in simulation_lines(loaded.plan) if is_simulated else ():
            console.note(line)
        _save(loaded, request, outcome, console, results, pictures)
        if shows_outputs:
            shown.extend(_shown_outputs(loaded, outcome, console, without=plots.added))

    with RunProgress(console, recorder) as callbacks, (scheduling and scheduling.cluster) or nullcontext():
        report = run_program(
            program, session, request, scheduling=scheduling, verify=arguments.has("--verify"),
            analyze=arguments.has("--analyze"), ready=ready, save=save, callbacks=callbacks, json=json,
        )  # fmt: skip
    for line in recorder.lines() if console.volume is Volume.VERBOSE else ():
        console.note(line)
    read.update(name for name in report.sources if not name.startswith("<"))
    report = replace(report, outcome=plots.without_added(report.outcome))
    if traced is not None and report.exit is Exit.OK:
        _write_trace(recorder, traced)
    code = show_report(report, console, json=json)
    standard_streams.explain_fixes(console, report.diagnostics, path if arguments.positional else "")
    for line in (*shown, *drawn):
        (console.note if json else console.print)(line)
    plan = report.outcome.plan
    if "tiles" in plan:
        from ..display.plan_output import tile_lines

        for line in tile_lines(plan):
            console.note(line)
    if "measured" in plan:
        from ..display.analysis import AnalysisRow, analysis_table, compilation_line

        peaks = ", ".join(f"{count:,} bytes on {device}" for device, count in plan["predicted"]["peak_bytes"].items())
        rows = [AnalysisRow.of(record) for record in plan["measured"]["phases"]]
        for line in analysis_table(rows, runs=plan["measured"]["runs"], **plan["profile"]):
            console.note(line)
        console.note(compilation_line(plan["machine_code"]))
        console.note(f"took {plan['measured']['seconds'] * 1000:.1f} ms; memory at most {peaks}")
    if code is Exit.OK and not (json or plots.requests or request.outputs or report.outcome.printed):
        for line in _silent_run_notes(report.outcome, program, shows_outputs):
            console.note(line)
    if code is Exit.OK and console.err.isatty():
        for line in _written_lines(request.written, [one.path for one in plots.requests], traced):
            console.note(line)
    return code


def _shown_outputs(loaded: LoadedProgram, outcome: Outcome, console: Console, without: Sequence[str]) -> list[str]:
    """The lines of the outputs on a terminal, without those that the program prints under their names."""
    from ..display.values import output_lines

    printed = {shown.name for shown in outcome.printed}
    entries = [entry for entry in loaded.core.outputs if entry.name not in printed and entry.name not in without]
    return output_lines([outcome.outputs[one.name] for one in entries], console.width, console.digits)


def _written_lines(outputs: Sequence[tuple[str, str]], pictures: Sequence[str | None], trace: str | None) -> list[str]:
    """The lines that say what was written to which file."""
    names: dict[str, list[str]] = {}
    for name, path in outputs:
        if stream_of(path) is None:
            names.setdefault(path, []).append(name)
    lines = [f"wrote {', '.join(written)} to {path}" for path, written in names.items()]
    return [*lines, *(f"drew {path}" for path in pictures if path is not None), *([f"wrote {trace}"] if trace else [])]


def _recorder(traced: str | None) -> StageTimes:
    """A recorder of stage times and, with `--trace`, of each step."""
    if traced is None:
        return StageTimes()
    from ..display.analysis import TraceRecorder

    return TraceRecorder()


def _write_trace(recorder: StageTimes, path: str) -> None:
    from ..display.analysis import TraceRecorder, write_trace

    assert isinstance(recorder, TraceRecorder)
    write_trace(recorder, path)


def _make_folder(folder: str | None) -> None:
    if folder is None:
        return
    try:
        os.makedirs(folder, exist_ok=True)
    except (OSError, ValueError) as error:
        raise NotWritten(f"--out-dir {folder}: the folder cannot be made ({getattr(error, 'strerror', None) or error})") from None


def _with_output_folder(request: RunRequest, folder: str | None, session: Session, source: Source) -> RunRequest:
    """The request with a file in `folder` for every output that has no file (`--out-dir`)."""
    if folder is None:
        return request
    core = session.check_file(source).core
    kinds = {} if core is None else {entry.name: core.types[entry.value].element.kind for entry in core.outputs}
    outputs = {name: os.path.join(folder, f"{name}.txt" if kind is Kind.CHAR else f"{name}.npy") for name, kind in kinds.items()}
    return replace(request, outputs={**outputs, **request.outputs})


_MOST_NAMED = 8


def _silent_run_notes(outcome: Outcome, program: Source, shows_outputs: bool) -> list[str]:
    """Notes on what a run computed that printed and saved nothing, so that it is clear that it ran."""
    if shows_outputs and outcome.outputs:
        return ["keep one with --out NAME=FILE"]
    types = [f"{name} {shown.measured_type}" for name, shown in outcome.outputs.items()]
    if types:
        more = f" and {len(types) - _MOST_NAMED} more" if len(types) > _MOST_NAMED else ""
        return [f"outputs: {', '.join(types[:_MOST_NAMED])}{more} (keep one with --out NAME=FILE)"]
    from ...lang.syntax.glyph_input import to_glyphs
    from ...lang.syntax.reader import split_statements

    if not split_statements(to_glyphs(program)):
        return ["the program is empty"]
    return ["it shows nothing: a line with an expression prints it, and `output NAME` keeps a value"] if shows_outputs else []


def _check_outputs(loaded: LoadedProgram, request: RunRequest, permissions: Permissions) -> None:
    """Raise Refused or RunFailed if an output cannot be written, before anything is computed."""
    targets = [(name, target) for name, target in request.written if stream_of(target) is None]
    if not targets:
        return
    from ...backend.io.writing import check_writable

    for entry in loaded.core.outputs:
        for path in [target for name, target in targets if name == entry.name]:
            if not permissions.may_write(path):
                raise Refused([permissions.write_refusal(path, entry.span)])
            check_writable(path, entry.span)


def _by_path(outputs: Sequence[CoreOutput], files: Sequence[tuple[str, str]]) -> dict[str, list[CoreOutput]]:
    """The outputs by the path of their file, in the order in which the options name them."""
    entries = {entry.name: entry for entry in outputs}
    entries_of: dict[str, list[CoreOutput]] = {}
    for name, path in files:
        entries_of.setdefault(path, []).append(entries[name])
    return entries_of


def _save(
    loaded: LoadedProgram, request: RunRequest, outcome: Outcome, console: Console, results: Console,
    pictures: Sequence[PendingWrite],
) -> None:
    """Write all files together or none; then write the output that goes to standard output, the `out` of `results`."""
    if not (request.outputs or pictures):
        return
    from ...backend.io.writing import prepare_table, prepare_values, write_together

    files: list[PendingWrite] = []
    streamed: list[PendingWrite] = []
    for path, entries in _by_path(loaded.core.outputs, request.written).items():
        span, stream = entries[0].span, stream_of(path)
        prepared, name = (files, path) if stream is None else (streamed, stream.named())
        if len(entries) > 1 or entries[0].name in request.headers:
            values = outcome.outputs
            every = {e.name: (e.name, values[e.name].value, values[e.name].kind, e.reading) for e in loaded.core.outputs}
            headers = {matrix: every[header] for matrix, header in request.headers.items()}
            prepared.append(prepare_table(name, [every[e.name] for e in entries], span, shown=path, headers=headers))
            continue
        entry, shown = entries[0], outcome.outputs[entries[0].name]
        prepared.append(prepare_values(name, shown.value, shown.kind, span, shown=path, name=entry.name, reading=entry.reading))
    if files or pictures:
        write_together([*files, *pictures])
    for one in streamed:
        file = bytes_out(results.out)
        one.fill(file)
        file.flush()


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
        standard_streams.show_diagnostics(console, report.diagnostics, report.sources)
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
    except Exception as error:  # a bug is reported with exit code 70, and the next line runs
        return _failed(Exit.BUG, Code.BUG, f"a bug in Rho: {type(error).__name__}: {error}", source)


def _failed(exit: Exit, code: Code, message: str, source: Source) -> RunReport:
    diagnostic = Diagnostic(code, message, Span(source.name, 0, len(source.text)))
    return RunReport(exit, empty_outcome(), (diagnostic,), {source.name: source})


# ---------------------------------------------------------------------------------------------------- estimate
#
# `rho estimate FILE`: the predicted time and memory of a program on the devices of several profiles.
#
# Sizes come from `--size`, and missing ones from the headers of the program's data; nothing is run.  The estimate for one
# device comes from its cost tables, that for several from a plan (by heuristics and bounds, unless options ask for more).
#
# Exit codes: 0, 3 the program is rejected, 4 a guard does not hold for the sizes, or no profile can run it.

HERE = "here"


@dataclass(frozen=True, slots=True)
class EstimateRow:
    """The estimate for one profile: nanoseconds with their interval, the bytes of the fullest device, and what is proved; or
    `refused`, the reason why it cannot run the program."""

    name: str
    devices: int = 1
    ns: int = 0
    p10: int = 0
    p90: int = 0
    memory: int = 0
    proved: str = ""
    values: tuple[tuple[str, int], ...] = ()
    iterations: tuple[int, int] | None = None
    refused: str = ""

    def json(self) -> dict[str, Any]:
        if self.refused:
            return {"devices": self.name, "refused": self.refused}
        return {
            "devices": self.name, "count": self.devices, "ns": self.ns, "p10_ns": self.p10, "p90_ns": self.p90,
            "memory_bytes": self.memory, "proved": self.proved, "objectives": dict(self.values),
            **({} if self.iterations is None else {"turns": self.iterations[0], "turn_ns": self.iterations[1]}),
        }  # fmt: skip


def estimate_command(arguments: Arguments, console: Console) -> Exit:
    path = arguments.positional[0]
    request = request_of(arguments, console)
    session = Session(strictness=Strictness.STRICT if arguments.has("--strict") else Strictness.GUARDED)
    checked = session.with_patterns(session.check(read_source(path)), request.params)
    core = checked.require()
    require_known_names(core, request)
    with pointing_into(checked.sources):
        settings, folder = param_values_of(core, request.params), os.path.dirname(path)
        shapes = {name: array.shape for name, array in settings.arrays.items()}
        headers = header_reader(folder, permissions_of(arguments, request, path, folder), request.inputs)
        numbers, without = {**settings.sizes, **request.sizes}, request.grouping.disabled_passes
        bound = bind_known_sizes(core, numbers, shapes, headers, without, request.inputs)
        with planning_progress(console):
            rows = [_estimate_row(name, core, bound, arguments) for name in _profile_names(arguments.value("--devices") or HERE)]
    sizes = {variable.name: number for variable, number in bound.sizes.items()}
    if wants_json(arguments):
        print_json(console, {"version": 1, "sizes": sizes, "estimates": [row.json() for row in rows]})
    else:
        for line in estimate_lines(sizes, rows):
            console.print(line)
    return Exit.REFUSED if all(row.refused for row in rows) else Exit.OK


def _profile_names(text: str) -> list[str]:
    """The profiles in the value of `--devices`, which is one file if a file of this name exists."""
    return [text] if os.path.exists(text) else [name for name in text.split(",") if name]


def _estimate_row(name: str, core: Core, bound: BoundGraph, arguments: Arguments) -> EstimateRow:
    """The estimate for one profile.  Refused: it is not a profile."""
    from ..execution.stored_plans import profile_named, this_machine

    profile = this_machine() if name == HERE else profile_named(name)
    options = scheduling_of(arguments, PlanPurpose.LOOK)
    asks_effort = arguments.has("--budget") or arguments.has("--prove")
    effort = options.effort if options is not None and asks_effort else PlanningEffort.FAST
    scheduling = Scheduling(
        PlanPurpose.LOOK, name, () if options is None else options.objectives, effort, None if options is None else options.budget
    )
    count = sum(device.count for device in profile.devices)
    if count == 1 and not core.schedules and not scheduling.objectives:
        return _single_device_row(name, profile, bound)
    return _planned_row(name, core, bound, profile, scheduling)


def _single_device_row(name: str, profile: Profile, bound: BoundGraph) -> EstimateRow:
    """The estimate for a profile of one device: the sum over the program's phases."""
    from ...backend import plan
    from ...backend.devices.phase_cost import missing_operation
    from ...backend.schedule.plan.plan import Device
    from ...backend.schedule.single_device import HOME
    from ..display.costs import wall_time

    time = wall_time(bound, profile, profile.home)
    if time is None:
        missing = (missing_operation(phase, bound, profile.home) for phase in bound.graph.phases)
        return EstimateRow(name, refused=f"it has no table for `{next((one for one in missing if one), 'some phase')}`")
    peak = max((count for _, count in plan(bound, Device(HOME, "cpu", profile.home.threads)).main.peak), default=0)
    memory = profile.home.memory
    if memory is not None and peak > memory:
        return EstimateRow(name, refused=f"it needs {_bytes(peak)}, and {profile.home.name} has {_bytes(memory)}")
    return EstimateRow(name, 1, time.ns, time.p10, time.p90, peak, iterations=time.iterations)


def _planned_row(name: str, core: Core, bound: BoundGraph, profile: Profile, scheduling: Scheduling) -> EstimateRow:
    """The estimate for several devices or other objectives: the prediction of a plan."""
    from ...backend.devices.phase_cost import with_interval
    from ...backend.schedule.plan.plan_text import bound_text, plans_text
    from ...backend.schedule.problem import Status
    from ..display.costs import duration
    from ..execution.scheduling import plan_on

    try:
        plan = plan_on(core, bound, profile, scheduling).plan
    except RhoError as error:
        return EstimateRow(name, refused="; ".join(one.message for one in error.diagnostics[:2]))
    prediction = plan.prediction
    assert prediction is not None
    estimate = with_interval(prediction.makespan * plan.tick_ns, profile.calibration)
    peak = max((count for _, count in plan.main.peak), default=0)
    values = tuple((name, value) for name, value in prediction.objectives if name != "latency")
    count = sum(device.count for device in profile.devices)
    first = prediction.objectives[0][0] if prediction.objectives else "latency"
    proved, plans = bound_text(plan), plans_text(plan)
    if prediction.status is Status.OPTIMAL:
        proved = f"no {plans} is better"
    elif first == "latency":
        proved = f"no {plans} takes less than {duration(prediction.lower_bound * plan.tick_ns)}"
    return EstimateRow(name, count, estimate.ns, estimate.p10, estimate.p90, peak, proved, values)


def estimate_lines(sizes: dict[str, int], rows: list[EstimateRow]) -> list[str]:
    """A line for each profile, with the quickest marked."""
    from ..display.costs import duration

    able = [row for row in rows if not row.refused]
    quickest = min((row.ns for row in able), default=0)
    wide = max(len(row.name) for row in rows)
    shown = [" ".join(f"{name}={number}" for name, number in sizes.items())] if sizes else []
    for row in rows:
        if row.refused:
            shown.append(f"{row.name:<{wide}}  cannot run it: {row.refused}")
            continue
        time = f"{duration(row.ns)} ({duration(row.p10)} to {duration(row.p90)})"
        parts = [f"{row.name:<{wide}}  {time:<36}  {_bytes(row.memory):>9}"]
        if row.iterations is not None:
            parts.append(f"{row.iterations[0]} iterations of {duration(row.iterations[1])}")
        if row.devices > 1:
            parts.append(f"{row.devices:,} devices")
        parts += [f"{name} {value}" for name, value in row.values]
        parts += [row.proved] if row.proved else []
        if len(able) > 1 and quickest:
            parts.append("quickest" if row.ns == quickest else f"{row.ns / quickest:.3g} × the quickest")
        shown.append("  ".join(parts))
    return shown


def _bytes(count: int) -> str:
    from ...backend.schedule.plan.plan_text import bytes_text

    return bytes_text(count)


# ---------------------------------------------------------------------------------------------------- type
#
# `rho type EXPR` or `rho type FILE`: the type of the last value, and how often the elements of every named value are read.
#
# `rho type FILE NAME…` prints only these names: the type and reads of a value, the signature of a function, which is inferred
# (with `where`) if it is not annotated.
#
# With `--cost` also the costs of the program, and of each definition in the sizes of its arguments.

def type_command(arguments: Arguments, console: Console) -> Exit:
    session = Session()
    checked = session.check(_source_to_type(arguments, console))
    standard_streams.show_diagnostics(console, checked.diagnostics, checked.sources)
    if not checked.accepted:
        if wants_json(arguments):
            from ...lang.diagnostics.render import diagnostic_json

            print_json(console, {"type": None, "diagnostics": [diagnostic_json(d, checked.sources) for d in checked.diagnostics]})
        return Exit.REJECTED
    names = _type_names(arguments)
    if names:
        return _show_names(checked, names, arguments, console)
    return _show_json(checked, arguments, console) if wants_json(arguments) else _show(checked, arguments, console)


def _show_json(checked: Checked, arguments: Arguments, console: Console) -> Exit:
    from ..display.costs import cost_of_program, costs_of_definitions, functions_json, names_json

    names, functions = names_json(checked), functions_json(checked)
    shown: dict[str, Any] = {"type": checked.last, "names": names, "functions": functions, "diagnostics": []}
    if arguments.has("--cost") and checked.core is not None and checked.result is not None:
        shown["cost"] = cost_of_program(checked.core).json()
        shown["costs"] = _costs_json(costs_of_definitions(checked.result))
    print_json(console, shown)
    return Exit.OK


def _costs_json(costs: Mapping[str, tuple[DefinitionCost, ...]]) -> dict[str, Any]:
    return {name: [{"signature": one.signature, **one.cost.json()} for one in every] for name, every in costs.items()}


def _show(checked: Checked, arguments: Arguments, console: Console) -> Exit:
    from ..display.costs import cost_of_program, costs_of_definitions, definition_lines, quantity_lines, value_lines

    lines = quantity_lines(checked)
    if checked.last is not None or not lines:
        console.print(checked.last or "nothing")
    if not arguments.has("--cost") or checked.core is None or checked.result is None:
        for line in lines:
            console.print(line)
        return Exit.OK
    computes = bool(checked.core.block.ops or checked.core.inputs)
    for line in (*value_lines(checked), *(cost_of_program(checked.core).lines() if computes else ())):
        console.print(line)
    for line in definition_lines(costs_of_definitions(checked.result)):
        console.print(line)
    return Exit.OK


def _type_names(arguments: Arguments) -> tuple[str, ...]:
    """The names after a file on the command line."""
    first, *rest = arguments.positional
    return tuple(rest) if first.endswith(".rho") else ()


def _show_names(checked: Checked, wanted: Sequence[str], arguments: Arguments, console: Console) -> Exit:
    assert checked.result is not None
    described = {name: checked.result.describe(name) for name in wanted}
    missing = [name for name, lines in described.items() if not lines]
    if missing:
        guess = nearest(missing[0], [*checked.result.types])
        raise UsageError(f"`{checked.source.name}` has no name `{missing[0]}`", f"did you mean `{guess}`?" if guess else "")
    shown: dict[str, Any] = {"names": {name: list(lines) for name, lines in described.items()}, "diagnostics": []}
    if arguments.has("--cost"):
        from ..display.costs import costs_of_definitions, definition_lines

        costs = {name: one for name, one in costs_of_definitions(checked.result).items() if name in described}
        described |= {name: tuple(definition_lines({name: one})) for name, one in costs.items()}
        shown["costs"] = _costs_json(costs)
        if values := [name for name in described if name not in costs]:
            hint = f"`rho type {checked.source.name} --cost`"
            console.note(f"`{values[0]}` is a value, and costs are of functions or of the program: {hint}")
    if wants_json(arguments):
        print_json(console, shown)
        return Exit.OK
    for lines in described.values():
        for line in lines:
            console.print(line)
    return Exit.OK


def _source_to_type(arguments: Arguments, console: Console) -> Source:
    """The program to type: a file, standard input (`-`), or the words of the command line."""
    words = arguments.positional
    if words[0].endswith(".rho"):
        return read_source(words[0])
    return Source(EVAL, console.read_input() if list(words) == ["-"] else " ".join(words))


# ---------------------------------------------------------------------------------------------------- test
#
# `rho test PATH…`: runs the doctests of `.rho` and `.md` files (`shell.execution.doctest_parser` defines them).

def test_command(arguments: Arguments, console: Console) -> Exit:
    from ..execution.doctest import DoctestFailure, DoctestRunner
    from ..execution.doctest_parser import markdown_cases, rho_cases

    failures: list[DoctestFailure] = []
    cases, file = 0, ""
    files = find_files(arguments.positional, (".rho", ".md"))
    with progress_line(console, lambda: f"{cases} examples, now in {file}"):
        for file in files:
            try:
                text = read_source(file).text
            except Rejected as error:
                failures.append(DoctestFailure(file, 1, error.diagnostics[0].message))
                continue
            runner = DoctestRunner(file)
            for case in markdown_cases(text) if file.endswith(".md") else rho_cases(text):
                cases += 1
                failures += runner.case(case, text)
    code = Exit.FAILED if failures else Exit.OK
    with reporting(code):
        _report(arguments, console, failures, cases, len(files))
    return code


def _report(arguments: Arguments, console: Console, failures: list[DoctestFailure], cases: int, files: int) -> None:
    if wants_json(arguments):
        failed = [{"file": failure.file, "line": failure.line, "message": failure.message} for failure in failures]
        print_json(console, {"files": files, "examples": cases, "failures": failed})
        return
    for failure in failures:
        console.print(f"{os.path.normpath(failure.file)}:{failure.line}: {failure.message}")
    verdict = f"{len(failures)} failed" if failures else "all hold"
    where = f"in {files} file{'' if files == 1 else 's'}"
    if not cases and not failures:
        console.note(f"nothing to test {where}")
    else:
        console.note(f"{cases} example{'' if cases == 1 else 's'} {where}: {verdict}")
