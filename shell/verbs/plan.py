"""`rho plan FILE`: the schedule of a script for its data's sizes, as text, JSON (`plan/2`) or a picture.  Computes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...backend.graph.phases import Constant, Input, Loop, Output, Phase, Print
from ...backend.schedule.instances.directive_resolution import DirectivesRejected
from ...backend.schedule.instances.instance_json import requested_devices
from ...backend.schedule.instances.solve_instance import Solved, gap_of, read_instance, result_json, result_text, solve
from ...backend.schedule.plan.plan_text import busy_of, bytes_text, label, plans_text, schedule_text, space_lines, time_text
from ...backend.schedule.problem import Conflict, Contention, Objective, Problem, Status
from ...lang.diagnostics.model import Code, Diagnostic, Refused, RhoError, pointing_into
from ...lang.support.bounded_parsing import parse_natural
from ...lang.support.files import Pipes, read_text
from ...lang.support.records import replace
from ...lang.syntax.source import Source, Span
from ..cli.arguments import Arguments, permissions_of, request_of, scheduling_of
from ..cli.outputs import reject_overwriting_inputs, report_error, wants_json, write_result
from ..console import standard_streams
from ..console.process_exit import Exit, UsageError, nearest
from ..console.standard_streams import Console, read_source, to_json
from ..display.costs import duration
from ..display.plan_output import PICTURES, picture, plan_lines
from ..display.progress import planning_progress
from ..execution.run_request import RunRequest, require_complete
from ..execution.scheduling import PlanPurpose, Scheduling, budget_of, profile_of, require_optimal, with_schedule_file
from ..execution.stored_plans import read_plan
from ..pipeline import Session
from ..pipeline_types import LoadedProgram, Strictness

if TYPE_CHECKING:
    from ...backend.devices.profile import Profile
    from ...backend.schedule.plan.plan import ExecutionPlan
    from ...backend.schedule.program.plan_program import ParetoFront, ParetoPoint
    from ...backend.schedule.program.problem_from_program import CutCost
    from ...backend.schedule.rendering.gantt import FrontDrawing
    from ...typechecker.core.operations import Core


# ---------------------------------------------------------------------------------------------------- --explain-cut
#
# `rho plan FILE --explain-cut PHASE`: the costs of one phase by axis and number of shards, as a table or JSON.

HEADER = ("cut", "shards", "time", "sent", "returned", "energy")
IS_DISTRIBUTED = (
    "several devices can run this loop together; its iterations are planned with the whole program, without --explain-cut"
)


def explain_cut(arguments: Arguments, loaded: LoadedProgram, scheduling: Scheduling) -> str:
    """A table for each phase that `--explain-cut` names.  UsageError: it names none.  Refused: as `cut_costs`."""
    from ...backend.graph.partial_graphs import is_distributable
    from ...backend.schedule.program.problem_from_program import cut_costs

    profile, graph = profile_of(scheduling), loaded.bound.graph
    phases = phases_of(arguments.value("--explain-cut") or "", loaded)
    costs = [(phase, cut_costs(loaded.bound, phase, profile)) for phase in phases]
    if wants_json(arguments):
        return to_json({"version": 1, "phases": [_cut_json(label(phase, graph), rows) for phase, rows in costs]})
    lines: list[str] = []
    for phase, rows in costs:
        lines += ["", *_table(label(phase, graph), _line(loaded, phase.span), rows)]
        if rows and all(row.cut is None for row in rows):
            together = isinstance(phase, Loop) and is_distributable(phase, graph)
            lines.append(f"  {IS_DISTRIBUTED if together else 'no cut of it is known, or the profile has one device'}")
    return "\n".join(lines[1:])


def phases_of(asked: str, loaded: LoadedProgram) -> list[Phase]:
    """The phases that compute the value of this name, or that the line of this number writes.  UsageError: there are none."""
    from ...backend.schedule.program.problem_from_program import names_in

    graph = loaded.bound.graph
    working: list[Phase] = [phase for phase in graph.phases if not isinstance(phase, Input | Output | Print | Constant)]
    if asked.isascii() and asked.isdigit():
        written = [phase for phase in working if int(asked) in _lines(loaded, phase)]
        if not written:
            lines = sorted({line for phase in working for line in _lines(loaded, phase)} - {0})
            message = f"--explain-cut {asked}: no phase is computed on line {asked}; it may be fused into one that reads it"
            raise UsageError(message, f"there is work on {_listed(lines)}")
        return written
    names = {name: [graph.phases[index] for index in places] for name, places in names_in(loaded.bound).items()}
    names = {name: [phase for phase in phases if phase in working] for name, phases in names.items()}
    names = {name: phases for name, phases in names.items() if phases}
    if asked not in names:
        guess = nearest(asked, sorted(names))
        known = f"name one of {', '.join(sorted(names))}, or a line" if names else "give the number of a line"
        hint = f"did you mean `{guess}`?" if guess else known
        message = f"--explain-cut {asked}: no phase makes a value of this name; it may be fused into one that reads it"
        raise UsageError(message, hint)
    return names[asked]


def _lines(loaded: LoadedProgram, phase: Phase) -> set[int]:
    """The lines of a phase and of the named values that it computes."""
    from ...backend.graph.traverse import results

    core, named = loaded.core, loaded.bound.graph.names
    produced = {named[value] for value in results(phase) if value in named}
    spans = [core.spans[value] for value, name in core.names.items() if name in produced]
    return {_line(loaded, span) for span in (phase.span, *spans)}


def _line(loaded: LoadedProgram, span: Span) -> int:
    """The line of a span, from 1; 0 in another file."""
    source = loaded.checked.source
    return source.position(span.start)[0] + 1 if span.file == source.name else 0


def _listed(lines: Sequence[int]) -> str:
    return f"line{'s' * (len(lines) != 1)} {', '.join(map(str, lines))}" if lines else "no line"


def _cut_json(name: str, rows: Sequence[CutCost]) -> dict[str, Any]:
    return {"phase": name, "cuts": [
        {
            "axis": None if row.cut is None else row.cut.axis, "size": None if row.cut is None else row.cut.size,
            "combines": row.cut is not None and row.cut.combines, "devices": row.devices, "shards": row.shards, "ns": row.ns,
            "bytes_sent": row.sent, "bytes_returned": row.returned,
            "millijoules": None if row.picojoules is None else row.picojoules / 1e9,
        }
        for row in rows
    ]}  # fmt: skip


def _table(name: str, line: int, rows: Sequence[CutCost]) -> Iterator[str]:
    where = f" (line {line})" if line else ""
    yield f"{name}{where}, its operands at home before it and its results after it"
    if not rows:
        yield "it fits on no device"
        return
    cells = [HEADER, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for first, *rest in cells:
        yield "  ".join(["", first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))])
    if any(row.cut is not None and row.cut.combines for row in rows):
        yield "  (partial): shards make partial results, which are combined at home"


def _cells(row: CutCost) -> tuple[str, ...]:
    cut = "whole" if row.cut is None else f"axis {row.cut.axis}, of {row.cut.size:,}" + " (partial)" * row.cut.combines
    energy = "" if row.picojoules is None else f"{row.picojoules / 1e9:,.1f} mJ"
    return cut, str(row.shards), duration(row.ns), bytes_text(row.sent), bytes_text(row.returned), energy


# ---------------------------------------------------------------------------------------------------- --pareto
#
# `rho plan FILE --pareto time,energy`: the Pareto front of plans for latency and another objective.
#
# The front is shown as text, JSON, SVG or HTML; `--point N` or `--weights …` chooses one of its plans, which is then shown and
# stored as any plan.

MOST_POINTS: Final = 50
UNITS: Final = {"energy": "mJ", "throughput": "ticks a run", "machines": "machines", "syncs": "syncs"}
FRONT_FORMATS: Final = (None, "text", "json", "svg", "html")


def trade_off_objective(text: str) -> Objective:
    """The other objective in `time,energy`.  UsageError: not two objectives, one of them time."""
    from ...backend.schedule.problem import Objective

    names = ["latency" if name.strip() == "time" else name.strip() for name in text.split(",")]
    other = [name for name in names if name != "latency"]
    if len(names) != 2 or len(other) != 1 or other[0] not in UNITS:
        raise UsageError(f"--pareto {text}: write two objectives, one of them time", f"such as time,energy; the other is one of "
                         f"{', '.join(UNITS)}")  # fmt: skip
    return Objective(other[0])


def pareto_front(arguments: Arguments, loaded: LoadedProgram, scheduling: Scheduling) -> ParetoFront:
    """The Pareto front that the options ask for.  Raises as `plan_program`."""
    from ...backend.schedule.program.plan_program import pareto_front_of

    count = _point_count(arguments.value("--points"))
    objective = trade_off_objective(arguments.value("--pareto") or "")
    return pareto_front_of(
        loaded.core, loaded.bound, profile_of(scheduling), objective, count=count, budget=budget_of(scheduling)
    )  # fmt: skip


def require_front_options(arguments: Arguments) -> None:
    """Check the options for a front before it is computed.  Raises UsageError."""
    objective = trade_off_objective(arguments.value("--pareto") or "")
    number, weights, form = arguments.value("--point"), arguments.value("--weights"), arguments.value("--format")
    if number is not None and weights is not None:
        raise UsageError("--point and --weights both choose a plan of the front", "give one of them")
    if weights is not None:
        weights_of(weights, objective)
    if number is None and weights is None and form not in FRONT_FORMATS:
        raise UsageError(f"a front is shown as text, json, svg or html, not {form}", "--point N takes one plan of it")


def chosen_point(arguments: Arguments, front: ParetoFront) -> ParetoPoint | None:
    """The point that `--point` or `--weights` chooses; None without them.  UsageError: there is no such point."""
    number, weights = arguments.value("--point"), arguments.value("--weights")
    if weights is not None:
        return front.chosen(weights_of(weights, front.objective))
    if number is None:
        return None
    number_of_point = parse_natural(number, len(front.points))
    if not number_of_point:
        raise UsageError(f"--point {number}: the front has the points 1 to {len(front.points)}")
    return front.points[number_of_point - 1]


def weights_of(text: str, other: Objective) -> dict[Objective, float]:
    """The weights in `time=1,energy=0.2`: of a second, and of a joule, machine, sync or tick.  Raises UsageError."""
    from ...backend.schedule.problem import Objective

    weights: dict[Objective, float] = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        name = "latency" if name.strip() == "time" else name.strip()
        try:
            weight = float(number)
        except ValueError:
            weight = -1.0
        if name not in ("latency", other.value) or not 0 <= weight < float("inf"):
            raise UsageError(f"--weights {text}: write weights such as time=1,{other.value}=0.2")
        weights[Objective(name)] = weight
    return weights


def _point_count(text: str | None) -> int:
    count = parse_natural(text or "8", MOST_POINTS)
    if count is None or count < 2:
        raise UsageError(f"--points {text}: write a number of plans from 2 to {MOST_POINTS}")
    return count


def front_text(arguments: Arguments, front: ParetoFront, name: str) -> str:
    """The front in the format of `--format`."""
    format = arguments.value("--format")
    if wants_json(arguments):
        return to_json(front_json(front))
    if format == "svg":
        from ...backend.schedule.rendering.gantt import fronts_svg

        return fronts_svg([front_drawing(front, name)])
    if format == "html":
        from ...backend.schedule.rendering.gantt_model import chart_of_plan
        from ...backend.schedule.rendering.html_page import front_page

        charts = [chart_of_plan(point.planned.plan, f"{number}") for number, point in enumerate(front.points, 1)]
        return front_page(front_drawing(front, name), charts)
    return "\n".join(front_lines(front))


def front_json(front: ParetoFront) -> dict[str, Any]:
    """The front as the object of `--json`."""
    return {
        "version": 1, "objectives": ["latency", front.objective.value], "least_ns": front.lower_bound_ns,
        "points": [
            {"ns": point.ns, front.objective.value: point.value, "devices": list(_used_devices(point))} for point in front.points
        ],
        "floors": [{"ns": ns, front.objective.value: value} for ns, value in front.floors],
        "bound_over": space_lines(front.smallest_space_plan),
    }  # fmt: skip


def front_drawing(front: ParetoFront, name: str) -> FrontDrawing:
    """The front as a chart of time against the other objective, titled with the program's `name`."""
    from ...backend.schedule.rendering.gantt import FrontDrawing

    unit = UNITS[front.objective.value]
    points = tuple((one.ns, one.value, _point_text(one, unit)) for one in front.points)
    title = f"{name}: time against {front.objective.value}"
    return FrontDrawing(
        title, unit, points, front.floors, plans_text(front.smallest_space_plan), tuple(space_lines(front.smallest_space_plan))
    )


def front_lines(front: ParetoFront) -> Iterator[str]:
    """The front as text: a line for each plan, then what is proved."""
    unit = UNITS[front.objective.value]
    yield f"time against {front.objective.value}: {len(front.points)} plans, each verified"
    for number, point in enumerate(front.points, 1):
        yield f"{number:>3}  {_point_text(point, unit)}"
    plans = plans_text(front.smallest_space_plan)
    yield f"no {plans} takes less than {time_text(front.lower_bound_ns)}"
    for ns, value in front.floors:
        yield f"no {plans} and at most {time_text(ns)} is below {value} {unit}"
    yield from space_lines(front.smallest_space_plan)


def _point_text(point: ParetoPoint, unit: str) -> str:
    used = _used_devices(point)
    shown = ", ".join(used[:6]) + (f" and {len(used) - 6} more" if len(used) > 6 else "")
    return f"{time_text(point.ns):>8}  {point.value:>8} {unit}  on {shown}"


def _used_devices(point: ParetoPoint) -> tuple[str, ...]:
    return tuple(str(device) for device in busy_of(point.planned.plan))


# ---------------------------------------------------------------------------------------------------- plan

ONE_PLAN = ("--objective", "--deadline", "--diff", "--require-optimal", "--loops")
"""Options that need a single plan."""


def _picture_format(arguments: Arguments) -> str | None:
    """The format of `--format` if it is a picture."""
    format = arguments.value("--format")
    return format if format in PICTURES else None


def plan_command(arguments: Arguments, console: Console) -> Exit:
    if arguments.has("--instance"):
        return plan_instance_command(arguments, console)
    if arguments.has("--check"):
        return plan_check_command(arguments, console)
    if not arguments.positional:
        raise UsageError("rho plan: needs a FILE, or --instance FILE", "for example: rho plan examples/kmeans.rho")
    if arguments.has("--contention"):
        raise UsageError("rho plan: --contention is for --instance FILE", "a profile's link groups say it for programs")
    drawn = _picture_format(arguments)
    as_block = arguments.value("--format") == "schedule"
    scheduling = scheduling_of(arguments, PlanPurpose.LOOK)
    stored = arguments.has("-o") and (arguments.value("--format") is None or wants_json(arguments))
    if scheduling is None and (drawn is not None or stored or as_block or arguments.has("--diff")):
        scheduling = Scheduling(PlanPurpose.LOOK)  # pictures, comparisons and stored plans need ticks
    if unfit := [name for name in ("--points", "--point", "--weights") if arguments.has(name) and not arguments.has("--pareto")]:
        raise UsageError(f"rho plan: {unfit[0]} is for a front", "add --pareto time,energy")
    if arguments.has("--pareto"):
        scheduling = _front_scheduling(arguments, scheduling)
    if arguments.has("--explain-cut"):
        scheduling = _cut_scheduling(arguments, scheduling)
    request = request_of(arguments, console)
    path = arguments.positional[0]
    strictness = Strictness.STRICT if arguments.has("--strict") else Strictness.GUARDED
    session = Session("", permissions_of(arguments, request, path, os.path.dirname(path)), strictness)
    checked = session.check(with_schedule_file(arguments.value("--schedule"), read_source(path), scheduling, console))
    core = checked.require()
    standard_streams.show_diagnostics(console, checked.diagnostics, checked.sources)
    require_complete(core, request, planned=True)
    with pointing_into(checked.sources):
        with planning_progress(console), (scheduling and scheduling.cluster) or nullcontext():
            known = Scheduling(PlanPurpose.CHECK) if arguments.has("--pareto") or arguments.has("--explain-cut") else scheduling
            loaded = session.load(checked, request, known, full=True)
            front = None
            if scheduling is not None and arguments.has("--pareto"):
                front = pareto_front(arguments, loaded, scheduling)
        standard_streams.show_diagnostics(console, loaded.warnings, checked.sources)
        reject_overwriting_inputs(arguments, loaded)
        taken = None if front is None else chosen_point(arguments, front)
        if taken is not None:
            loaded = replace(loaded, plan=taken.planned.plan)
        if arguments.has("--require-optimal"):
            require_optimal(loaded.plan, path)
        if scheduling is not None and arguments.has("--explain-cut"):
            text = explain_cut(arguments, loaded, scheduling)
        elif front is not None and taken is None:
            text = front_text(arguments, front, os.path.basename(path))
        else:
            text = _plan_output(arguments, loaded, scheduling)
    write_result(arguments, console, text)
    return Exit.OK


def _cut_scheduling(arguments: Arguments, scheduling: Scheduling | None) -> Scheduling:
    """The scheduling for `--explain-cut`.  UsageError: there is only one device, or an option that it excludes."""
    if arguments.value("--devices") is None and not arguments.has("--cluster"):
        raise UsageError("rho plan --explain-cut: on one device nothing is cut", "add --devices workstation, or a profile")
    if unfit := [name for name in ("--pareto", *ONE_PLAN) if arguments.has(name)]:
        raise UsageError(f"rho plan --explain-cut: {unfit[0]} is for a plan")
    if arguments.value("--format") not in (None, "text", "json"):
        raise UsageError("rho plan --explain-cut is shown as text or json")
    return scheduling or Scheduling(PlanPurpose.LOOK)


def _front_scheduling(arguments: Arguments, scheduling: Scheduling | None) -> Scheduling:
    """The scheduling for `--pareto`.  UsageError: options that it excludes."""
    require_front_options(arguments)
    for name in ONE_PLAN:
        if arguments.has(name):
            raise UsageError(f"rho plan --pareto: {name} is for one plan")
    return scheduling or Scheduling(PlanPurpose.LOOK)


def _plan_output(arguments: Arguments, loaded: LoadedProgram, scheduling: Scheduling | None) -> str:
    """The plan in the format of `--format`.  A plan of declared devices that is saved is JSON, for `run --plan`."""
    from ...backend.schedule.plan.plan import encode_plan
    from ..execution.streaming import require_one_run, require_sizes_known

    plan = loaded.plan
    older, drawn = arguments.value("--diff"), _picture_format(arguments)
    if drawn is not None:
        require_one_run(loaded, "a picture of its plan")
    is_json = wants_json(arguments) or (scheduling is not None and arguments.has("-o") and arguments.value("--format") is None)
    if older is not None or is_json:
        require_sizes_known(loaded, "a plan that is kept or compared")
    if older is not None:
        from ...backend.schedule.rendering.gantt import diff_text

        return diff_text(read_plan(older), plan)
    if drawn is not None:
        from ...backend.schedule.rendering.gantt_model import chart_of_plan

        return picture(chart_of_plan(plan, os.path.basename(loaded.checked.source.name)), drawn)
    if is_json:
        return encode_plan(plan)
    if arguments.value("--format") == "schedule":
        require_one_run(loaded, "a schedule block of its plan")
        return schedule_text(plan)
    return plan_lines(loaded, programs=arguments.has("--loops"))


# ---------------------------------------------------------------------------------------------------- --check
#
# `rho plan --check PLAN [FILE]`: verifies a stored plan without code of the planner; `--prove` proves its optimality again.
#
# The script is FILE, or the one that the plan names, or, if that file is missing, the text in the plan.  The profile is that of
# `--devices`, or the shipped one or this machine's that has the plan's fingerprint.  Exit codes: 0 the plan holds; 4 it does not
# hold, cannot be read, is not a plan, or is out of date.

_NOT_WITH_CHECK = (
    "-o", "--diff", "--objective", "--budget", "--fast", "--without", "--require-optimal", "--contention", "--strict",
    "--pareto", "--points", "--point", "--weights",
)  # fmt: skip
"""Options of `rho plan` that `--check` would ignore."""


def plan_check_command(arguments: Arguments, console: Console) -> Exit:
    from ..execution.stored_plans import read_plan

    if ignored := [name for name in _NOT_WITH_CHECK if arguments.has(name)]:
        raise UsageError(
            f"rho plan --check: {ignored[0]} is for making a plan", "--check reads a stored one and says whether it holds"
        )
    if (asked := arguments.value("--format")) not in (None, "text", "json"):
        raise UsageError(f"rho plan --check: --format cannot be `{asked}`", "it prints text or json")
    path = arguments.value("--check") or ""
    plan = read_plan(path)
    loaded = _program_of_plan(arguments, console, plan, path)
    with planning_progress(console):
        notes = _verify(plan, loaded, _profile(arguments, plan), path, prove=arguments.has("--prove"))
    if wants_json(arguments):
        console.print(to_json({"plan": path, "holds": True, "checked": notes}))
    else:
        console.print(f"`{path}` holds: " + "; ".join(notes))
    return Exit.OK


def _program_of_plan(arguments: Arguments, console: Console, plan: ExecutionPlan, path: str) -> LoadedProgram:
    """The loaded script of a stored plan."""
    from ..execution.scheduling import PlanPurpose, Scheduling
    from ..execution.stored_plans import program_in

    named = arguments.positional[0] if arguments.positional else next((file.name for file in plan.program), "")
    texts: dict[str, Source] = {}
    if arguments.positional or os.path.isfile(named):
        source = read_source(named)
    else:
        named = path
        source, texts = program_in(plan, path)
    request = request_of(arguments, console)
    session = Session("", permissions_of(arguments, request, named, os.path.dirname(named)), texts=texts)
    checked = session.check(source)
    core = checked.require()
    request = replace(request, sizes=_sizes(core, request, plan))
    require_complete(core, request, planned=True)
    with_passes = path if plan.stores else None  # such a plan is compared with one that is made with its tiles
    return session.load(checked, request, scheduling=Scheduling(PlanPurpose.CHECK, plan=with_passes))


def _sizes(core: Core, request: RunRequest, plan: ExecutionPlan) -> dict[str, int]:
    """The sizes of the request, and the plan's sizes of inputs that have no file."""
    lacking = [entry for entry in core.data if entry.path is None and entry.name not in request.inputs]
    names = {variable.name for entry in lacking for size in core.types[entry.value].shape for variable in size.variables()}
    return {name: size for name, size in plan.sizes if name in names and name not in request.params} | dict(request.sizes)


def _profile(arguments: Arguments, plan: ExecutionPlan) -> Profile | None:
    """The profile of `--devices`, or the known one that the plan was made for; else None."""
    from ..execution.scheduling import profile_of_plan
    from ..execution.stored_plans import profile_named

    devices = arguments.value("--devices")
    return profile_of_plan(plan) if devices is None else profile_named(devices)


def _verify(plan: ExecutionPlan, loaded: LoadedProgram, profile: Profile | None, path: str, *, prove: bool) -> list[str]:
    """The facts about a plan that were verified, as text.

    Refused: SCH301, out of date; E705, a check fails; SCH302, a claim cannot be proved.
    """
    from ...backend.schedule.program.plan_program import faults_of_stored, plan_is_reproved, require_current
    from ...backend.schedule.program.schedule_from_plan import single_device_faults
    from ...backend.schedule.verify.plan_checks import needless_waits
    from ..execution.stored_plans import require_valid

    require_current(plan, loaded.core, loaded.bound, profile, path)
    notes = ["program and sizes are those of the script"]
    if plan.stores:
        return [*notes, "every pass has the phases that flow to what it makes, tiles fill it, memory suffices"]
    if len(plan.devices) == 1 and plan.prediction is None:
        require_valid(single_device_faults(plan, loaded.bound), path)
        notes.append("one device runs every phase in order")
        return notes
    require_valid(faults_of_stored(plan, loaded.bound, loaded.core, profile), path)
    notes.append(
        "every phase runs once, its operands are where it runs, no queue waits for itself, memory suffices (V1 to V6, V8, V9)"
    )
    notes += [f"but {fault.message} (V7)" for fault in needless_waits(plan, loaded.bound)]
    if profile is None:
        notes.append(
            "labels are those of the script (V12); what depends on the profile was not compared (devices, links, cuts, times, "
            "transfers, buffers, peaks, the lower bound, directives): name the profile with --devices"
        )
    elif plan.prediction is not None:
        notes.append(
            f"ticks are those of the profile; the lower bound {plan.prediction.lower_bound} is not above the makespan (V10); "
            "what it says of phases, buffers and devices is so (V12)"
        )
        if not prove and plan.prediction.lower_bound:
            how = f"{plan.prediction.status.value}, by {plan.prediction.proof.method}"
            notes.append(f"that no {plans_text(plan)} is below that bound is only said ({how}): --prove derives it again")
            notes += space_lines(plan)
    if prove:
        if profile is None or plan.prediction is None:
            raise Refused(
                [Diagnostic(Code.SCH302, "a proof needs the plan's profile", Span(path, 0, 0), notes=("add --devices",))]
            )
        if not plan_is_reproved(plan, loaded.bound, loaded.core, profile):
            raise Refused([Diagnostic(Code.SCH302, "the plan claims more than could be proved again", Span(path, 0, 0))])
        notes.append(f"proved again: no {plans_text(plan)} is better than {plan.prediction.lower_bound} ticks")
    return notes


# ---------------------------------------------------------------------------------------------------- --instance
#
# `rho plan --instance FILE`: schedules an abstract task graph.  docs/instances.md has the formats.
#
# Exit codes: 0 optimal or with a gap that is printed, 2 not an instance, 3 impossible (or directives that cannot be meant),
# 5 the search was cut off, or `--require-optimal` and the schedule is not proved optimal.

_NOT_WITH_INSTANCE = (
    "--check", "--diff", "--in", "--set", "--allow-read", "--max-memory", "--max-time", "--strict",
    "--pareto", "--points", "--point", "--weights", "--deadline",
)  # fmt: skip
"""Options of `rho plan` that `--instance` would ignore."""

_MOST_BYTES = 256 << 20


def plan_instance_command(arguments: Arguments, console: Console) -> Exit:
    file = arguments.value("--instance") or ""
    if ignored := [name for name in _NOT_WITH_INSTANCE if arguments.has(name)]:
        raise UsageError(
            f"rho plan --instance: {ignored[0]} is for programs", "a task graph has no inputs, no params and no plan/2"
        )
    if arguments.positional:
        raise UsageError(f"rho plan --instance takes one file: `{arguments.positional[0]}` is one too many")
    budget = budget_of(scheduling_of(arguments, PlanPurpose.LOOK) or Scheduling(PlanPurpose.LOOK))
    try:
        problem = _problem(file, arguments)
    except RhoError as error:
        code = report_error(arguments, console, error)
        return code if isinstance(error, DirectivesRejected) else Exit.USAGE
    with planning_progress(console):
        solved = solve(problem, budget)
    drawn = _picture_format(arguments)
    if drawn is not None and solved.answer.schedule is not None:
        from ...backend.schedule.rendering.gantt_model import chart_of_answer

        write_result(arguments, console, picture(chart_of_answer(solved.problem, solved.answer, Path(file).name), drawn))
    else:
        write_result(arguments, console, to_json(result_json(solved)) if wants_json(arguments) else result_text(solved))
    return _outcome(problem, solved, arguments, console)


def _problem(file: str, arguments: Arguments) -> Problem:
    devices = arguments.value("--devices")
    contention = arguments.value("--contention")
    try:
        text = read_text(file, _MOST_BYTES, Pipes.READ)
    except UnicodeDecodeError:
        raise UsageError(f"`{file}` is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"`{file}` cannot be read: {getattr(error, 'strerror', None) or error}") from None
    problem = read_instance(
        file,
        text,
        None if devices is None else requested_devices(devices),
        None if contention is None else Contention(contention),
    )
    objectives = tuple(Objective(name) for name in dict.fromkeys(arguments.values("--objective")))
    return replace(problem, objectives=objectives) if objectives else problem


def _outcome(problem: Problem, solved: Solved, arguments: Arguments, console: Console) -> Exit:
    answer = solved.answer
    if answer.conflict is not None:
        console.note(_conflict(answer.conflict))
    if answer.status is Status.IMPOSSIBLE:
        return Exit.REJECTED
    if answer.status is Status.ABORTED or answer.schedule is None:
        if answer.schedule is None and problem.chunks > 1:
            console.note(
                "rho: no schedule was found, nor is it proved that there is none: chunks are not all tried, with any --budget; "
                "with more memory or fewer directives one may be found"
            )
        else:
            console.note("rho: the search was cut off before it was certain of anything; give it more with --budget or --prove")
        return Exit.BUDGET
    if answer.status is Status.GAP:
        gap = gap_of(answer.values[0], answer.lower_bound)
        is_required = arguments.has("--require-optimal")
        kind = "error" if is_required else "note"
        console.note(
            f"{kind}[SCH302]: not proved optimal: the value is {answer.values[0]}, the lower bound {answer.lower_bound}, the gap "
            f"{gap:.1f} %"
        )
        return Exit.BUDGET if is_required else Exit.OK
    return Exit.OK


def _conflict(conflict: Conflict) -> str:
    lines = [f"error[{conflict.code}]: no schedule can be made"]
    lines += dict.fromkeys(f"  directive {d.line.number}: {d.line.text}" for d in conflict.directives)
    lines += [f"  {fact}" for fact in conflict.facts]
    if conflict.hint:
        lines.append(f"  help: {conflict.hint}")
    return "\n".join(lines)
