"""Estimate beside actual: what `run --analyze` says of every phase of a run.

The executor reports each execution of a step; a phase's time is the sum of its executions in one run on one device, of all runs
the median, its estimate what a plan for several devices says of it, else the cost model of as many executions.  A phase inside
a loop counts on its own and in the loop's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, field, fields, replace
from statistics import median
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ...backend.devices.phase_cost import step_ns, with_interval
from ...backend.devices.profile import Profile
from ...backend.devices.this_machine import READ, SCRATCH_READ, SCRATCH_WRITE, WRITE, disk_ns
from ...backend.graph import traverse
from ...backend.graph.bind_sizes import BoundGraph, bind
from ...backend.graph.lowering.blocks import lower
from ...backend.graph.passes.contractions import REGROUPED
from ...backend.graph.passes.fusion import explain_stored_values
from ...backend.graph.passes.pipeline import optimise
from ...backend.graph.phases import OFFER, Constant, Graph, Input, LibraryPhase, Output, Phase, PhaseId, Print
from ...backend.loopir.text import show
from ...backend.lower.region import Region
from ...backend.lower.scope import Routine
from ...backend.schedule.plan.plan import (
    Access,
    BranchStep,
    CellsStep,
    CombineStep,
    DeviceId,
    ExecutionPlan,
    JoinStep,
    LoopStep,
    RowsStep,
    RunStep,
    StreamStep,
    TransferStep,
)
from ...backend.schedule.plan.plan_text import label, op_name, written_over
from ...backend.schedule.program_facts.partitioning import lowered_loops
from ...backend.schedule.streams.pass_partitioning import flow_of
from ...backend.schedule.streams.stream_planning import Scratch, tiles_of
from ...backend.schedule.streams.tile_demands import Flow, demand
from ...backend.schedule.streams.tile_graph import tile_of
from ...backend.transform.pipeline import optimise as transform_optimise
from ...lang.support.records import cached_property, dataclass
from ...lang.syntax.source import Source, Span
from ...typechecker.check import check
from ..execution.stored_plans import default_tables

if TYPE_CHECKING:
    from ...backend.vm.run_state import Took
    from ..pipeline_types import LoadedProgram


# ---------------------------------------------------------------------------------------------------- analysis

Where: TypeAlias = tuple[PhaseId, DeviceId]


@dataclass(frozen=True, slots=True)
class AnalysisRow:
    """One phase on one device: executions, the time they took, and the estimate with its interval (None: no table)."""

    phase: str
    device: str
    times: int
    actual_ns: int
    estimate_ns: int | None
    p10_ns: int | None
    p90_ns: int | None

    @property
    def surprising(self) -> bool:
        """Outside the interval?"""
        return self.p10_ns is not None and self.p90_ns is not None and not self.p10_ns <= self.actual_ns <= self.p90_ns

    @property
    def ratio(self) -> float | None:
        """Actual over estimate."""
        return None if not self.estimate_ns else self.actual_ns / self.estimate_ns

    @staticmethod
    def of(record: Mapping[str, Any]) -> AnalysisRow:
        """What `json` made."""
        return AnalysisRow(*(record[field.name] for field in fields(AnalysisRow)))

    def json(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": None if self.ratio is None else round(self.ratio, 3)}


@dataclass(slots=True)
class Observed:
    """Collects what an executor reports, run by run: by phase and device the nanoseconds in each run, the executions in the
    last."""

    spent: dict[Where, list[int]] = field(default_factory=dict)
    times: dict[Where, int] = field(default_factory=dict)
    runs: int = 0

    def next_run(self) -> None:
        self.runs += 1
        self.times.clear()

    def __call__(self, took: Took) -> None:
        if isinstance(took.step, TransferStep):
            return
        where = took.step.id, took.queue
        times = self.spent.setdefault(where, [])
        if where in self.times:
            times[-1] += took.ns
        else:
            times.append(took.ns)
        self.times[where] = self.times.get(where, 0) + took.times


def rows(loaded: LoadedProgram, observed: Observed, profile: Profile) -> list[AnalysisRow]:
    """In the order of the program; phases that only name, read or show data are left out."""
    table_rows = []
    planned, chains = _planned(loaded.plan), _chains(loaded.plan)
    phases = {phase.id: phase for phase in loaded.bound.graph.phases}
    shown = [one for one in traverse.all_phases(loaded.bound.graph) if not isinstance(one, Constant | Input | Output | Print)]
    places = [(phase, device) for phase in shown for device in loaded.plan.devices if (phase.id, device.id) in observed.times]
    for phase, device in places:
        where, device_profile = (phase.id, device.id), replace(profile.home, threads=device.threads)
        times = observed.times[where]
        estimate = step_ns(phase, loaded.bound, device_profile, profile.calibration, times)
        if phase.id in chains:  # at most what its members would take apart
            members = [phases[member] for member in chains[phase.id]]
            each = [step_ns(member, loaded.bound, device_profile, profile.calibration, times) for member in members]
            known = [one.ns for one in each if one is not None]
            estimate = with_interval(sum(known), profile.calibration) if len(known) == len(each) else None
        if where in planned:
            estimate = with_interval(planned[where], profile.calibration)
        numbers = (None, None, None) if estimate is None else (estimate.ns, estimate.p10, estimate.p90)
        members = [phases[member] for member in chains.get(phase.id, ())] or [phase]
        name = ", ".join(label(member, loaded.bound.graph) for member in members)
        table_rows.append(AnalysisRow(name, str(device.id), times, int(median(observed.spent[where])), *numbers))
    return table_rows


def _chains(plan: ExecutionPlan) -> dict[PhaseId, tuple[PhaseId, ...]]:
    """The members of chains along rows by the last one, which the executor names."""
    steps = (step for queue in plan.main.queues for step in queue.steps)
    return {step.phases[-1]: step.phases for step in steps if isinstance(step, RowsStep)}


def _planned(plan: ExecutionPlan) -> dict[Where, int]:
    """What the steps of a plan for several devices are planned to take, in ns."""
    predicted: dict[Where, int] = {}
    for queue in plan.main.queues if plan.prediction is not None else ():
        for step in queue.steps:
            if isinstance(step, RunStep | LoopStep | JoinStep | BranchStep | CellsStep | CombineStep):
                where = step.phase, queue.device
                predicted[where] = predicted.get(where, 0) + (step.end - step.start) * plan.tick_ns
    return predicted


def table(rows: list[AnalysisRow], *, runs: int, calibrated: bool, unusable: str = "") -> list[str]:
    """As lines of text; `unusable`: why a stored calibration is not used."""
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
        cells.append((_cut(row.phase), *device_cells, str(row.times), estimate, interval, _micro(row.actual_ns), ratio))
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    lines = [
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))])
        for line in cells
    ]
    lines.append(f"actual: the median of {runs} runs after the first, kernels warm" if runs > 1 else "actual: of one more run")
    if not calibrated:
        lines.append(f"estimates are by {default_tables(unusable)}")
    elif any(row.surprising for row in rows):
        lines.append("some times lie outside their interval; `rho devices --refine` measures longer")
    return lines


BUDGET_MS: Final = 100
"""What a module of machine code may take to be made."""


def compiled(code: Mapping[str, Any]) -> str:
    """What machine code cost."""
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


def _cut(text: str, width: int = 48) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


# ---------------------------------------------------------------------------------------------------- rewritten
#
# What became of values and what rules changed, as lines of a plan: `fused      line 3: d, each element is read once`.

def rewritten_lines(graph: Graph, sources: Mapping[str, Source]) -> list[str]:
    """One line a rewriting, in the order of the program."""
    notes = [("offered" if note.rule == OFFER else "rewritten", note.says, note.span) for note in graph.rewritten]
    return _lines(notes, sources, "  ")


def regrouped_graph(graph: Graph) -> Graph | None:
    """The graph, if its products have another order than they are written in."""
    return graph if any(note.rule == REGROUPED for note in graph.rewritten) else None


def decision_lines(graph: Graph, plan: ExecutionPlan, sources: Mapping[str, Source]) -> list[str]:
    """One line a decision about a value that the program names: dropped, fused, made again or kept, by how often its elements
    are read; written in place, by when the last read is."""
    decisions = [*graph.decisions, *explain_stored_values(graph), *written_over(graph, plan)]
    notes = [(one.choice.value, f"{one.name}, {one.why}", one.span) for one in decisions if one.span.file in sources]
    return _lines([(f"{word:<10}", says, span) for word, says, span in notes], sources, " ")


def _lines(notes: list[tuple[str, str, Span]], sources: Mapping[str, Source], gap: str) -> list[str]:
    lines: list[str] = []
    for word, says, span in sorted(notes, key=lambda note: (note[2].file, note[2].start)):
        source = sources.get(span.file)
        line_text = "" if source is None else f"line {source.position(span.start)[0] + 1}: "
        lines.append(f"{word}{gap}{line_text}{says}")
    return list(dict.fromkeys(lines))


# ---------------------------------------------------------------------------------------------------- passes
#
# How long the passes of a program that is read in tiles take, by the cost model and the tables of the disk.
#
# In a pass one thread reads, and merges what is ordered on disk, while another computes, sorts and writes: it takes as long as
# the slower of the two.  What is computed is the graph of a tile, as often as there are tiles.  Passes, and what is computed
# between them, come one after the other.

_SORTED: Final = "x[⍋x]"
_GRADED: Final = "x[⍋y]"
"""Items that are taken by a grade, which is made: runs of places, and a merge, which grades the heads of its runs."""


@dataclass(frozen=True)
class PlannedTimes:
    """A plan with passes, of `bound`; `temporary`: stores that are not files of the program, of which `scratch` are ordered."""

    plan: ExecutionPlan
    bound: BoundGraph
    scratch: Sequence[Scratch]
    temporary: Collection[str]

    def ns(self, profile: Profile) -> int:
        steps = [step for queue in self.plan.main.queues for step in queue.steps if isinstance(step, StreamStep)]
        inside = {phase for step in steps for phase in step.phases}
        between = [phase for phase in self.bound.graph.phases if phase.id not in inside]
        return computing(between, self.bound, profile) + sum(self.of_pass(step, profile) for step in steps)

    @cached_property
    def flow(self) -> Flow:
        names = {access: [store.name for store in self.plan.stores if store.access is access] for access in Access}
        return flow_of(self.bound.graph, names[Access.READ], names[Access.WRITE], lambda count: True)

    def of_tiles(self, step: StreamStep, profile: Profile) -> int:
        """A tile in the middle stands for all."""
        same = (one for one in self.flow.passes if tuple(p.id for p in one.phases) == step.phases and one.results == step.results)
        one = next(same)
        tiles = [*tiles_of(one, step.rows)]
        tile = tiles[len(tiles) // 2]
        bound = tile_of(self.flow, one, demand(self.flow, one, tile), tile).bound
        return computing(bound.graph.phases, bound, profile, len(tiles)) + len(tiles) * profile.home.host_dispatch_ns

    def of_pass(self, step: StreamStep, profile: Profile) -> int:
        device, ids = profile.home, set(step.phases)
        phases = [phase for phase in self.bound.graph.phases if phase.id in ids]
        taken = {phase.name for phase in phases if isinstance(phase, Input)}
        given = {phase.name for phase in phases if isinstance(phase, Output)}
        back, scratch_write = min(step.reads, self.bytes(taken)), min(step.writes, self.bytes(given))
        merged = sum(ordering_ns(one, one.merged, profile, _GRADED) for one in self.scratch if one.name in taken)
        ordered = sum(
            ordering_ns(one, step.rows, profile, _GRADED if one.grades else _SORTED) for one in self.scratch if one.name in given
        )  # fmt: skip
        reading = disk_ns(device, READ, step.reads - back) + disk_ns(device, SCRATCH_READ, back) + merged
        writing = disk_ns(device, WRITE, step.writes - scratch_write) + disk_ns(device, SCRATCH_WRITE, scratch_write)
        return max(reading, self.of_tiles(step, profile) + ordered + writing)

    def bytes(self, names: Collection[str]) -> int:
        """Of the temporary stores of these names."""
        stored = {store.name: store.bytes for store in self.plan.stores if store.name in self.temporary}
        return sum(stored.get(name, 0) for name in names)


def computing(phases: Iterable[Phase], bound: BoundGraph, profile: Profile, times: int = 1) -> int:
    """So many executions of each.  What there is no table for counts as nothing."""
    real = [phase for phase in phases if not isinstance(phase, Constant | Input | Output | Print)]
    estimates = [step_ns(phase, bound, profile.home, profile.calibration, times) for phase in real]
    return sum(one.ns for one in estimates if one is not None)


def ordering_ns(scratch: Scratch, piece: int, profile: Profile, expression: str) -> int:
    """Ordering the items of a scratch store once, in pieces of so many."""
    declared = "".join(f"input {name} : {scratch.kind.value}[n]\n" for name in "xy")
    core = check(Source("<order>", f"{declared}output z ← {expression}\n")).core
    assert core is not None, "numbers have an order"
    piece = max(1, min(piece, scratch.size))
    bound = bind(
        optimise(lower(core)),
        {variable: piece for size in core.types[core.inputs[0].value].shape for variable in size.variables()},
    )
    return computing(bound.graph.phases, bound, profile, -(-scratch.size // piece))


# ---------------------------------------------------------------------------------------------------- compiled_loops
#
# What becomes of loops, folds, scans and maps by any function, as lines of a plan: compiled as one region, or not, and why.

def loop_lines(graph: Graph, sources: Mapping[str, Source], *, programs: bool = False) -> list[str]:
    """One line a region, in the order of the program; with `programs` its loop program after all transformations."""
    lines: list[str] = []
    for phase, region in lowered_loops(graph):
        source = sources.get(phase.span.file)
        line_text = "" if source is None else f"line {source.position(phase.span.start)[0] + 1}: "
        name = f"{line_text}{label(phase, graph)}"
        if not isinstance(region, Region):
            lines.append(f"phases     {name}: one by one in each iteration, because: {region}")
            continue
        lines.append(f"compiled   {name}: one region, {_state(region)}")
        if programs:
            calls = [f"# call {number}: {_name(routine)}" for number, routine in enumerate(region.routines)]
            lines += ["", *calls, show(transform_optimise(region.program)).rstrip("\n"), ""]
    return lines


def _state(region: Region) -> str:
    """Where the state lies, and which phases are called."""
    called = sorted({_name(routine) for routine in region.routines} - {_HEARS})
    return _lies(region) + (f"; it calls {', '.join(called)}" if called else "")


_HEARS: Final = "interrupts are heard"


def _name(routine: Routine) -> str:
    """What a routine does."""
    if routine.phase is None:
        return "a guard's check" if routine.defines else _HEARS
    return f"`{op_name(routine.phase)}`" if isinstance(routine.phase, LibraryPhase) else "NumPy's functions"


def _lies(region: Region) -> str:
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
