"""Measured runs: estimated and measured times of phases (`run --analyze`), decisions of a plan (`rho plan`), and traces (`run
--trace FILE`).

A phase's measured time is the sum of its executions in one run on one device, and the median of these sums over all runs.  Its
estimate is the time in a plan for several devices, else the cost model's for the same number of executions.  A phase inside a
loop is counted by itself and as part of the loop.

A trace is JSON for Perfetto and contains the predicted schedule too.  A process of it is a process of the cluster, a thread is a
queue.  The executor reports a step when it is over.  Phases inside loops are recorded one by one, up to `MOST_STEPS` steps in
all; later ones are only part of the bar of their loop.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from statistics import median
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ...backend.devices.phase_cost import step_ns, with_interval
from ...backend.devices.profile import Profile
from ...backend.graph import traverse
from ...backend.graph.passes.contractions import REGROUPED
from ...backend.graph.passes.fusion import explain_stored_values
from ...backend.graph.phases import OFFER, Constant, Graph, Input, LibraryPhase, Output, PhaseId, Print
from ...backend.loopir.text import show
from ...backend.lower.region import Region
from ...backend.lower.scope import Routine
from ...backend.schedule.plan.plan import (
    BranchStep,
    CellsStep,
    CombineStep,
    DeviceId,
    ExecutionPlan,
    JoinStep,
    LoopStep,
    RowsStep,
    RunStep,
    TransferStep,
)
from ...backend.schedule.plan.plan_text import label, op_name, overwritten_operands, time_text
from ...backend.schedule.program_facts.partitioning import lowered_loops
from ...backend.schedule.rendering.gantt_model import Bar, BarKind, GanttChart, Lane, chart_of_plan
from ...backend.transform.pipeline import optimise as transform_optimise
from ...lang.diagnostics.model import RhoError
from ...lang.support.records import dataclass, field, replace
from ...lang.syntax.source import Span
from ..execution.stored_plans import default_tables
from ..pipeline_types import LoadedProgram, StageTimes

if TYPE_CHECKING:
    from ...backend.vm.run_state import Observer, StepTiming


# ---------------------------------------------------------------------------------------------------- estimated and measured

PhaseOnDevice: TypeAlias = tuple[PhaseId, DeviceId]


@dataclass(frozen=True, slots=True)
class AnalysisRow:
    """The times of one phase on one device: the number of executions, the measured nanoseconds, and the estimate with its 10th
    and 90th percentile (None if there is no cost table)."""

    phase: str
    device: str
    times: int
    actual_ns: int
    estimate_ns: int | None
    p10_ns: int | None
    p90_ns: int | None

    @property
    def is_outside_interval(self) -> bool:
        """Is the measured time outside the interval of the estimate?"""
        return self.p10_ns is not None and self.p90_ns is not None and not self.p10_ns <= self.actual_ns <= self.p90_ns

    @property
    def ratio(self) -> float | None:
        """Measured over estimated time."""
        return None if not self.estimate_ns else self.actual_ns / self.estimate_ns

    @staticmethod
    def of(record: Mapping[str, Any]) -> AnalysisRow:
        """The row of a JSON object that `json` returned."""
        return AnalysisRow(*(record[field.name] for field in fields(AnalysisRow)))

    def json(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": None if self.ratio is None else round(self.ratio, 3)}


@dataclass(slots=True)
class ObservedTimes:
    """The callback of an executor that collects, by phase and device, the nanoseconds in each run and the number of executions in
    the last run."""

    run_ns: dict[PhaseOnDevice, list[int]] = field(default_factory=dict)
    executions: dict[PhaseOnDevice, int] = field(default_factory=dict)
    runs: int = 0

    def next_run(self) -> None:
        self.runs += 1
        self.executions.clear()

    def __call__(self, timing: StepTiming) -> None:
        if isinstance(timing.step, TransferStep):
            return
        where = timing.step.id, timing.queue
        times = self.run_ns.setdefault(where, [])
        if where in self.executions:
            times[-1] += timing.ns
        else:
            times.append(timing.ns)
        self.executions[where] = self.executions.get(where, 0) + timing.times


def analysis_rows(loaded: LoadedProgram, observed: ObservedTimes, profile: Profile) -> list[AnalysisRow]:
    """A row for each phase and device, in the order of the program, without phases that only name, read or print data."""
    table_rows = []
    planned, chains = _planned_ns(loaded.plan), _chain_members(loaded.plan)
    phases = {phase.id: phase for phase in loaded.bound.graph.phases}
    shown = [one for one in traverse.all_phases(loaded.bound.graph) if not isinstance(one, Constant | Input | Output | Print)]
    pairs = [(phase, device) for phase in shown for device in loaded.plan.devices]
    for phase, device in [(phase, device) for phase, device in pairs if (phase.id, device.id) in observed.executions]:
        where, device_profile = (phase.id, device.id), replace(profile.home, threads=device.threads)
        times = observed.executions[where]
        estimate = step_ns(phase, loaded.bound, device_profile, profile.calibration, times)
        if phase.id in chains:  # a chain takes at most the sum of its members' times
            members = [phases[member] for member in chains[phase.id]]
            each = [step_ns(member, loaded.bound, device_profile, profile.calibration, times) for member in members]
            known = [one.ns for one in each if one is not None]
            estimate = with_interval(sum(known), profile.calibration) if len(known) == len(each) else None
        if where in planned:
            estimate = with_interval(planned[where], profile.calibration)
        numbers = (None, None, None) if estimate is None else (estimate.ns, estimate.p10, estimate.p90)
        members = [phases[member] for member in chains.get(phase.id, ())] or [phase]
        name = ", ".join(label(member, loaded.bound.graph) for member in members)
        table_rows.append(AnalysisRow(name, str(device.id), times, int(median(observed.run_ns[where])), *numbers))
    return table_rows


def _chain_members(plan: ExecutionPlan) -> dict[PhaseId, tuple[PhaseId, ...]]:
    """The members of chains along rows, by the last member, under which the executor reports a chain."""
    steps = (step for queue in plan.main.queues for step in queue.steps)
    return {step.phases[-1]: step.phases for step in steps if isinstance(step, RowsStep)}


def _planned_ns(plan: ExecutionPlan) -> dict[PhaseOnDevice, int]:
    """The planned nanoseconds of each phase on each device, in a plan for several devices; else empty."""
    predicted: dict[PhaseOnDevice, int] = {}
    for queue in plan.main.queues if plan.prediction is not None else ():
        for step in queue.steps:
            if isinstance(step, RunStep | LoopStep | JoinStep | BranchStep | CellsStep | CombineStep):
                where = step.phase, queue.device
                predicted[where] = predicted.get(where, 0) + (step.end - step.start) * plan.tick_ns
    return predicted


def analysis_table(rows: list[AnalysisRow], *, runs: int, calibrated: bool, unusable: str = "") -> list[str]:
    """The rows as lines of text.  `runs`: how often the program ran; `unusable`: why a stored calibration is not used."""
    if not rows:
        return []
    several = len({row.device for row in rows}) > 1
    head = ("phase", *(("device",) if several else ()), "times")
    head += (f"estimate µs{'' if calibrated else ' (uncalibrated)'}", "p10 – p90", "actual µs", "ratio")
    cells = [head]
    for row in rows:
        interval = "" if row.p10_ns is None or row.p90_ns is None else f"{_micro(row.p10_ns)} – {_micro(row.p90_ns)}"
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        estimate = "no table" if row.estimate_ns is None else _micro(row.estimate_ns)
        device_cells = (row.device,) if several else ()
        cells.append((_shortened(row.phase), *device_cells, str(row.times), estimate, interval, _micro(row.actual_ns), ratio))
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    lines = [
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))])
        for line in cells
    ]
    lines.append(f"actual: the median of {runs} runs after the first, kernels warm" if runs > 1 else "actual: of one more run")
    if not calibrated:
        lines.append(f"estimates are by {default_tables(unusable)}")
    elif any(row.is_outside_interval for row in rows):
        lines.append("some times lie outside their interval; `rho devices --refine` measures longer")
    return lines


BUDGET_MS: Final = 100
"""Milliseconds that compiling one module should take at most."""


def compilation_line(code: Mapping[str, Any]) -> str:
    """The line on compilation times; `code`: the `machine_code` that `run_measured` reports."""
    if not code["compiled"]:
        return f"machine code: nothing compiled, {code['from_cache']} from the cache"
    longest = code["longest"] * 1000
    over = f", over its budget of {BUDGET_MS} ms" if longest > BUDGET_MS else ""
    return (
        f"machine code: {code['compiled']} compiled in {code['seconds'] * 1000:.1f} ms (the longest {longest:.1f} ms{over}), "
        f"{code['from_cache']} from the cache"
    )


def _micro(ns: int) -> str:
    return f"{ns / 1000:.1f}"


def _shortened(text: str, width: int = 48) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


# ---------------------------------------------------------------------------------------------------- optimisation remarks
#
# Decisions of the passes, and the rules that changed the program: `fused      line 3: d, each element is read once`.

LineText: TypeAlias = Callable[[Span], str]
"""The text of the line of a span, such as `line 3`; empty if it is unknown."""


def rewritten_lines(graph: Graph, line_text: LineText) -> list[str]:
    """A line for each rewriting or offer, in the order of the program."""
    notes = [("offered" if note.rule == OFFER else "rewritten", note.says, note.span) for note in graph.rewritten]
    return _lines(notes, line_text, "  ")


def regrouped_graph(graph: Graph) -> Graph | None:
    """The graph, if a pass changed the order of its products, else None."""
    return graph if any(note.rule == REGROUPED for note in graph.rewritten) else None


def decision_lines(graph: Graph, plan: ExecutionPlan, line_text: LineText) -> list[str]:
    """A line for each decision about a named value.

    It is dropped, fused, recomputed or stored, with how often its elements are read; or it is updated in place, with its last
    read.
    """
    decisions = [*graph.decisions, *explain_stored_values(graph), *overwritten_operands(graph, plan)]
    notes = [(one.choice.value, f"{one.name}, {one.why}", one.span) for one in decisions if line_text(one.span)]
    return _lines([(f"{word:<10}", says, span) for word, says, span in notes], line_text, " ")


def _lines(notes: list[tuple[str, str, Span]], line_text: LineText, gap: str) -> list[str]:
    ordered = sorted(notes, key=lambda note: (note[2].file, note[2].start))
    return list(dict.fromkeys(f"{word}{gap}{_prefix(line_text(span))}{says}" for word, says, span in ordered))


def _prefix(line: str) -> str:
    return f"{line}: " if line else ""


# ---------------------------------------------------------------------------------------------------- compiled regions
#
# Whether loops, folds, scans and maps are compiled as one region, and if not, why.

def loop_lines(graph: Graph, line_text: LineText, *, programs: bool = False) -> list[str]:
    """A line for each region, in the order of the program; with `programs` also its loop program after all transformations."""
    lines: list[str] = []
    for phase, region in lowered_loops(graph):
        name = f"{_prefix(line_text(phase.span))}{label(phase, graph)}"
        if not isinstance(region, Region):
            lines.append(f"phases     {name}: one by one in each iteration, because: {region}")
            continue
        lines.append(f"compiled   {name}: one region, {_region_text(region)}")
        if programs:
            calls = [f"# call {number}: {_routine_name(routine)}" for number, routine in enumerate(region.routines)]
            lines += ["", *calls, show(transform_optimise(region.program)).rstrip("\n"), ""]
    return lines


def _region_text(region: Region) -> str:
    """The text on where a region stores its state, and which phases it calls."""
    called = sorted({_routine_name(routine) for routine in region.routines} - {_POLLS_INTERRUPTS})
    return _state_buffers(region) + (f"; it calls {', '.join(called)}" if called else "")


_POLLS_INTERRUPTS: Final = "interrupts are heard"


def _routine_name(routine: Routine) -> str:
    """The text on a routine that a region calls."""
    if routine.phase is None:
        return "a guard's check" if routine.defines else _POLLS_INTERRUPTS
    return f"`{op_name(routine.phase)}`" if isinstance(routine.phase, LibraryPhase) else "NumPy's functions"


def _state_buffers(region: Region) -> str:
    if region.cells:
        return "cells on all threads"
    doubled = sum(region.states)
    if not region.states:
        return "every state where it is kept"
    if not doubled:
        return "the state in place"
    if doubled == len(region.states):
        return "the state in two buffers"
    return f"{doubled} of {len(region.states)} components of the state in two buffers, the others in place"


MOST_STEPS: Final = 100_000


@dataclass(slots=True)
class TraceRecorder(StageTimes):
    """Records the times of stages, and of each step of the first run.  `left_out` is the number of executions without an entry of
    their own."""

    steps: list[StepTiming] = field(default_factory=list)
    left_out: int = 0
    _first: bool = True

    @property
    def observer(self) -> Observer | None:
        """The callback for the first run; None for later ones, which only measure."""
        first, self._first = self._first, False
        return self._record if first else None

    def _record(self, timing: StepTiming) -> None:
        if len(self.steps) < MOST_STEPS and timing.times == 1:
            self.steps.append(timing)
        else:
            self.left_out += timing.times

    def text(self) -> str:
        """The trace as JSON for Perfetto."""
        from ...backend.schedule.rendering.gantt import trace_json
        assert self.loaded is not None, "only what has run is drawn"
        end = time.perf_counter_ns() - self.started
        name = os.path.basename(self.loaded.checked.source.name)
        notes = (f"{self.left_out:,} executions inside loops are not drawn one by one",) if self.left_out else ()
        title = f"{name}: {time_text(end)}" if not notes else f"{name}: {time_text(end)} ({notes[0]})"
        lanes = {"": [self._stage_lane(end)]}
        for (process, _), lane in self._queue_lanes().items():
            lanes.setdefault(process, []).append(lane)
        charts = [
            GanttChart(title if not process else f"{name} on {process}", notes, 1, end, None, tuple(lane), (), (), (), (), ())
            for process, lane in lanes.items()
        ]
        return trace_json(_predicted_chart(self.loaded, name), charts)

    def _stage_lane(self, end: int) -> Lane:
        ends = [*(start for _, start in self.stages[1:]), end]
        bars = [
            Bar(f"stage {n}", stage.value, BarKind.CONTROL, start, after, after, stage.name.lower())
            for n, ((stage, start), after) in enumerate(zip(self.stages, ends, strict=True))
        ]
        return Lane("rho", tuple(bars), is_link=False)

    def _queue_lanes(self) -> dict[tuple[str, DeviceId], Lane]:
        """A lane for each process and queue; an inner phase comes after the phase around it."""
        assert self.loaded is not None
        devices = {device.id for device in self.loaded.plan.devices}
        lanes: dict[tuple[str, DeviceId], Lane] = {}
        for process, queue in sorted({(timing.process, timing.queue) for timing in self.steps}):
            ran = [timing for timing in self.steps if (timing.process, timing.queue) == (process, queue)]
            ran.sort(key=lambda timing: (timing.start, -timing.end))
            bars = [self._bar(f"{len(lanes)}.{index}", timing) for index, timing in enumerate(ran)]
            lanes[process, queue] = Lane(str(queue), tuple(bars), is_link=queue not in devices)
        return lanes

    def _bar(self, key: str, timing: StepTiming) -> Bar:
        from ...backend.graph import traverse
        assert self.loaded is not None
        start, end, step, graph = timing.start - self.started, timing.end - self.started, timing.step, self.loaded.bound.graph
        if isinstance(step, TransferStep):
            maker = next((one for one in traverse.all_phases(graph) if step.value in traverse.results(one)), None)
            name = f"#{step.value}" if maker is None else label(maker, graph)
            return Bar(key, name, BarKind.TRANSFER, start, end, end, f"{step.source} → {step.target}, {step.bytes:,} bytes")
        kind = BarKind.CONTROL if any(traverse.subgraphs(step)) else BarKind.RUN
        return Bar(key, label(step, graph), kind, start, end, end, f"phase #{step.id}")


def _predicted_chart(loaded: LoadedProgram, name: str) -> GanttChart:
    """The chart of the predicted schedule; a plan without a prediction is planned again with the cost model."""
    from ..execution.scheduling import PlanPurpose, Scheduling, plan_loaded

    plan = loaded.plan
    if plan.prediction is None:
        with suppress(RhoError):  # without a prediction only measured times are drawn
            plan = plan_loaded(loaded, Scheduling(PlanPurpose.LOOK)).plan
    return chart_of_plan(plan, name)


def write_trace(recorder: TraceRecorder, path: str) -> None:
    """Write the trace to a file.  Raises NotWritten."""
    from ..console.standard_streams import save_text

    save_text(path, recorder.text() + "\n", f"--trace {path}: this file")
