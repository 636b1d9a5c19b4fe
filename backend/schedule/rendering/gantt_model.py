"""The model of a Gantt chart, of a plan or of an abstract solution: lanes of bars, arrows, memory curves, the graph, a table.

Pure data in ticks and bytes.  `chart_of_plan` makes one from a program's plan, `chart_of_answer` from an abstract answer;
renderers read nothing else.  Lanes of devices come first, then those of links.

Note [Critical path].  A chain of bars, back from the one that ends last: the predecessor of a bar is the one that it waited for
longest, either the bar before it on its lane or one of its producers.

Note [Many lanes].  Lanes that have the same bars at the same ticks are drawn once, with their number; of the others at most
`MOST_LANES` are kept and `hidden` counts the rest, so that a plan for thousands of devices can still be drawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from itertools import pairwise
from typing import Final

from ....lang.support.records import dataclass, replace
from ...graph.phases import PhaseId, ValueId
from ..plan.plan import (
    BranchStep,
    CellsStep,
    CombineStep,
    ExecutionPlan,
    FenceStep,
    FreeStep,
    JoinStep,
    LoopStep,
    PlannedPhase,
    RowsStep,
    RunStep,
    Step,
    SubPlan,
    TransferStep,
    WaitStep,
    box_text,
    phases_of,
    sub_plans,
)
from ..plan.plan_text import bytes_text, chunks_text, has_other_axes, space_lines, time_text as nanoseconds_text
from ..problem import Answer, Problem, QueueKind, Schedule, Status
from ..timeline.serial_sgs import ScheduleDecoder, decisions_of
from ..timeline.step_graph import StepGraph, memory_profiles, starts_in, step_buffers

# ---------------------------------------------------------------------------------------------------- chart

MOST_LANES: Final = 120


class BarKind(Enum):
    RUN = "run"
    COMBINE = "combine"
    TRANSFER = "transfer"
    CONTROL = "control"  # loops, branches, cells: steps with steps inside


@dataclass(frozen=True, slots=True)
class Bar:
    """A step or transfer, busy during ticks [start, end), its result available at `arrive`.

    `name`: chooses the colour; `after`: the keys of its producers; `node`: the graph's node whose result it computes or moves.
    """

    key: str
    name: str
    kind: BarKind
    start: int
    end: int
    arrive: int
    detail: str
    after: tuple[str, ...] = ()
    critical: bool = False
    node: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """The bars of one queue.  `equal`: the number of identical lanes that this one stands for."""

    name: str
    bars: tuple[Bar, ...]
    is_link: bool
    equal: int = 1


@dataclass(frozen=True, slots=True)
class Arrow:
    """A fence, from the end of one bar to the start of another."""

    fence: int
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class MemoryTrack:
    """Live bytes on a device from each tick on, and its limit; `stated`: the plan's peak, with work space of steps."""

    device: str
    limit: int | None
    points: tuple[tuple[int, int], ...]
    stated: int = 0

    @property
    def peak(self) -> int:
        return max(self.stated, max((size for _, size in self.points), default=0))


@dataclass(frozen=True, slots=True)
class ChartNode:
    """A phase in the graph: its devices, and whether it runs while a device's memory limit is exceeded."""

    id: str
    label: str
    devices: tuple[str, ...]
    ticks: int
    over_memory: bool = False


@dataclass(frozen=True, slots=True)
class ChartLine:
    """An edge of the graph; `moved`: the bytes that cross a link for it."""

    source: str
    target: str
    bytes: int
    moved: int


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A row of the cost table."""

    phase: str
    device: str
    part: str
    estimate_ns: int


class TimeAxis(Enum):
    """The labels of the time axis; for abstract graphs in ticks."""

    TICKS = "ticks"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class GanttChart:
    """A chart.  `sub_plans`: charts of steps that contain steps, such as an iteration of a loop, with ticks from its start."""

    title: str
    notes: tuple[str, ...]
    tick_ns: int
    makespan: int
    lower_bound: int | None
    lanes: tuple[Lane, ...]
    arrows: tuple[Arrow, ...]
    memory: tuple[MemoryTrack, ...]
    nodes: tuple[ChartNode, ...]
    lines: tuple[ChartLine, ...]
    rows: tuple[ChartRow, ...]
    hidden: int = 0
    axis: TimeAxis = TimeAxis.TIME
    inside: tuple[GanttChart, ...] = ()


def with_critical_path(lanes: Sequence[Lane]) -> tuple[Lane, ...]:
    """Returns the lanes with the bars of one critical path marked.  See Note [Critical path]."""
    ended = sorted(((b.arrive, -index, b.key) for index, lane in enumerate(lanes) for b in lane.bars), reverse=True)
    if not ended:
        return tuple(lanes)
    bars = {bar.key: bar for lane in lanes for bar in lane.bars}
    previous: dict[str, str] = {}
    for lane in lanes:
        in_order = sorted((b for b in lane.bars if b.end > b.start), key=lambda b: b.start)
        previous.update({later.key: earlier.key for earlier, later in pairwise(in_order)})
    marked: set[str] = set()
    key: str | None = ended[0][2]
    while key is not None and key not in marked:
        marked.add(key)
        bar = bars[key]
        waited = [(bars[k].arrive, k) for k in bar.after if k in bars and bars[k].arrive <= bar.start and k not in marked]
        if key in previous:
            waited.append((bars[previous[key]].end, previous[key]))
        key = max(waited)[1] if waited else None
    return tuple(replace(lane, bars=tuple(replace(b, critical=b.key in marked) for b in lane.bars)) for lane in lanes)


def merge_equal_lanes(lanes: Sequence[Lane]) -> tuple[tuple[Lane, ...], int]:
    """Returns equal lanes once, at most MOST_LANES, and how many lanes are not shown.  See Note [Many lanes]."""
    lanes_by_key: dict[object, Lane] = {}
    for lane in lanes:
        stem = lane.name.split("[")[0]
        key = (stem, lane.is_link, tuple((b.name, b.start, b.end) for b in lane.bars)) if "[" in lane.name else lane.name
        known = lanes_by_key.get(key)
        lanes_by_key[key] = lane if known is None else replace(known, equal=known.equal + 1)
    all_lanes = sorted(lanes_by_key.values(), key=lambda lane: lane.is_link)
    return tuple(all_lanes[:MOST_LANES]), sum(lane.equal for lane in all_lanes[MOST_LANES:])


def memory_over_time(
    changes: Mapping[str, Sequence[tuple[int, int]]], limits: Mapping[str, int | None], stated: Mapping[str, int] | None = None
) -> tuple[MemoryTrack, ...]:
    """Returns memory curves from (tick, change in bytes) by device; at one tick, frees precede allocations."""
    curves = []
    for device, events in changes.items():
        live = 0
        points: list[tuple[int, int]] = [(0, 0)]
        for tick, change in sorted(events):
            live += change
            if points[-1][0] == tick:
                points[-1] = (tick, live)
            else:
                points.append((tick, live))
        curves.append(MemoryTrack(device, limits.get(device), tuple(points), (stated or {}).get(device, 0)))
    return tuple(curves)


def time_text(ticks: int, tick_ns: int) -> str:
    """Returns ticks as a time: `1.25 ms`."""
    return nanoseconds_text(ticks * tick_ns)


# ---------------------------------------------------------------------------------------------------- chart of a plan
#
# The chart of a program's plan (`plan/2`).
#
# Bars are the steps of the main plan with their ticks; sub-plans are inside their step's bar.  Memory is that of buffers: a
# buffer counts on its device from the tick that computes or receives it to the end of the last step or transfer that reads it.

MOST_INSIDE: Final = 60
"""The most steps whose sub-plans are drawn."""


def chart_of_plan(plan: ExecutionPlan, name: str = "") -> GanttChart:
    """Returns the chart of a plan."""
    return _PlanReader(plan, plan.main, name).chart()


class _PlanReader:
    """Builds a chart from a plan; `main`: the plan's steps, or the sub-plan of one of them."""

    def __init__(self, plan: ExecutionPlan, main: SubPlan, name: str) -> None:
        self.plan, self.main, self.name = plan, main, name
        self.phases = {phase.id: phase for phase in plan.phases}
        self.names = {value: name for name, value in (*plan.inputs, *plan.outputs)}
        self.makers: dict[ValueId, list[tuple[str, str]]] = defaultdict(list)  # value -> (device, key of the bar)
        self.producer = {value: phase for phase in plan.phases for value in phase.results}
        self.fences: dict[int, str] = {}
        self.waits: list[tuple[int, str]] = []
        self.ran: dict[PhaseId, list[tuple[str, int]]] = defaultdict(list)

    def chart(self) -> GanttChart:
        plan = self.plan
        self.find_makers()
        lanes = [self.lane(index) for index in range(len(self.main.queues))]
        lanes.sort(key=lambda lane: lane.is_link)
        timed = any(bar.arrive for lane in lanes for bar in lane.bars)
        lanes = lanes if timed else [_in_order(lane) for lane in lanes]
        marked = with_critical_path(lanes)
        shown, hidden = merge_equal_lanes(marked)
        prediction = plan.prediction if self.main is plan.main else None
        makespan = max((b.arrive for lane in lanes for b in lane.bars), default=0)
        arrows = tuple(Arrow(fence, self.fences[fence], key) for fence, key in self.waits if self.fences.get(fence))
        nodes, lines = self.graph()
        title = f"{self.name or 'plan'}: {time_text(makespan, plan.tick_ns)} predicted"
        notes: list[str] = []
        if self.main is not plan.main:
            title = self.name if not timed else f"{self.name}: {time_text(makespan, plan.tick_ns)}"
            notes += [] if timed else ["one after the other; what each takes is not planned"]
        if prediction is not None:
            title = f"{self.name or 'plan'}: {time_text(prediction.makespan, plan.tick_ns)} predicted"
            gap = (
                f" {100 * (prediction.makespan - prediction.lower_bound) / prediction.makespan:.1f} %"
                if prediction.status is Status.GAP and prediction.makespan
                else ""
            )
            notes.append(
                f"lower bound {time_text(prediction.lower_bound, plan.tick_ns)} · {prediction.status.value}{gap}"
                + (" along these axes" if has_other_axes(plan) else "")
                + ("" if prediction.proof.method == "none" else f" ({prediction.proof.method})")
            )
            notes += [*space_lines(plan), *chunks_text(plan)]
            baselines = [f"{b.name} {time_text(b.ticks, plan.tick_ns)}" for b in prediction.baselines if b.ticks is not None]
            notes += [f"baselines: {', '.join(baselines)}"] if baselines else []
        sizes = plan.sizes if self.main is plan.main else ()
        notes += [" · ".join(f"{name}={number}" for name, number in sizes)] if sizes else []
        return GanttChart(
            title,
            tuple(notes),
            plan.tick_ns,
            makespan if prediction is None else prediction.makespan,
            None if prediction is None else prediction.lower_bound,
            shown,
            arrows,
            self.memory(),
            nodes,
            lines,
            self.rows(),
            hidden,
            TimeAxis.TIME if timed else TimeAxis.TICKS,
            tuple(self.inside()),
        )

    def inside(self) -> Iterator[GanttChart]:
        """Yields the charts of an iteration of each loop, the arms of each branch, a cell of each map."""
        parts = [(step, part) for queue in self.main.queues for step in queue.steps for part in sub_plans(step)]
        for step, part in parts[:MOST_INSIDE]:
            phase = next((self.phases[id] for id in phases_of(step) if id in self.phases), None)
            name = "a step" if phase is None else _titled(phase)
            match step:
                case LoopStep():
                    what = "an iteration of" if part is step.body else "whether to go on with" if part is step.until else "after"
                case BranchStep():
                    what = "the first arm of" if part is step.then else "the other arm of"
                case _:
                    what = "one cell of"
            yield _PlanReader(self.plan, part, f"{what} {name}").chart()

    def find_makers(self) -> None:
        for lane_index, queue in enumerate(self.main.queues):
            for index, step in enumerate(queue.steps):
                key = f"{lane_index}:{index}"
                match step:
                    case TransferStep():
                        self.makers[step.value].append((step.target, key))
                    case RowsStep() | RunStep() | CombineStep() | LoopStep() | JoinStep() | BranchStep() | CellsStep():
                        named = [self.phases[id] for id in phases_of(step) if id in self.phases]
                        for value in (result for phase in named for result in phase.results):
                            self.makers[value].append((queue.device, key))

    def lane(self, lane_index: int) -> Lane:
        queue = self.main.queues[lane_index]
        bars: list[Bar] = []
        waiting: list[int] = []
        for index, step in enumerate(queue.steps):
            if isinstance(step, WaitStep):
                waiting.append(step.fence)
            elif isinstance(step, FenceStep):
                self.fences[step.fence] = bars[-1].key if bars else ""
            elif not isinstance(step, FreeStep):
                bar = self.bar(f"{lane_index}:{index}", step, queue.device)
                self.waits += [(fence, bar.key) for fence in waiting]
                waiting = []
                bars.append(bar)
        is_link = queue.kind is QueueKind.COPY
        return Lane(queue.device, tuple(bars), is_link)

    def bar(self, key: str, step: Step, device: str) -> Bar:
        match step:
            case TransferStep():
                text = f"{self.value(step.value)}{box_text(step.box)}: {step.source} → {step.target}, {bytes_text(step.bytes)}"
                after = tuple(k for where, k in self.makers[step.value] if where == step.source)
                producer = self.producer.get(step.value)
                node = "" if producer is None else str(producer.id)
                times = (step.start, step.busy, step.arrive)
                return Bar(key, self.value(step.value), BarKind.TRANSFER, *times, text, after, node=node)
            case RowsStep():
                label = ", ".join(self.phases[id].label for id in step.phases if id in self.phases)
                for id in step.phases:
                    self.ran[id].append((device, 0))
                return Bar(key, label, BarKind.RUN, 0, 0, 0, f"{label} by rows on {device}", (), node=str(step.phases[-1]))
            case RunStep() | CombineStep() | LoopStep() | JoinStep() | BranchStep() | CellsStep():
                phase = self.phases.get(step.phase)
                label = phase.label if phase else f"#{step.phase}"
                box = step.box if isinstance(step, RunStep) else None
                if isinstance(step, LoopStep | JoinStep) and step.rows is not None:
                    box = (step.rows,)
                kind = (
                    BarKind.RUN if isinstance(step, RunStep)
                    else BarKind.COMBINE if isinstance(step, CombineStep) else BarKind.CONTROL
                )  # fmt: skip
                after = tuple(k for r in (phase.reads if phase else ()) for where, k in self.makers[r.value] if where == device)
                if not isinstance(step, JoinStep) or step.rows is not None:
                    self.ran[step.phase].append((device, step.end - step.start))
                name = f"{label}{' combine' if kind is BarKind.COMBINE else ''}"
                text = f"{name}{box_text(box)} on {device}, {time_text(step.end - step.start, self.plan.tick_ns)}"
                return Bar(key, name, kind, step.start, step.end, step.end, text, after, node=str(step.phase))
            case _:
                raise AssertionError("fences, waits and frees have no bar")

    def value(self, value: ValueId) -> str:
        if value in self.names:
            return self.names[value]
        producer = self.producer.get(value)
        return producer.label.split(" ← ")[0] if producer is not None and " ← " in producer.label else f"%{value}"

    def memory(self) -> tuple[MemoryTrack, ...]:
        """Returns the memory curves from the live ranges of buffers; a value may have several buffers on one device."""
        plan = self.plan
        changes: dict[str, list[tuple[int, int]]] = {device.id: [] for device in plan.devices}
        for buffer in self.main.buffers:
            if buffer.device in changes and buffer.alias_of is None:
                changes[buffer.device] += [(buffer.first, buffer.bytes), (max(buffer.first, buffer.last), -buffer.bytes)]
        limits: dict[str, int | None] = {device.id: device.memory for device in plan.devices}
        return memory_over_time(changes, limits, dict(self.main.peak))

    def graph(self) -> tuple[tuple[ChartNode, ...], tuple[ChartLine, ...]]:
        moved: dict[ValueId, int] = defaultdict(int)
        for queue in self.main.queues:
            for step in queue.steps:
                if isinstance(step, TransferStep):
                    moved[step.value] += step.bytes
        limits = {device.id: device.memory for device in self.plan.devices}
        peaks = dict(self.main.peak)
        over = {d for d, limit in limits.items() if limit is not None and peaks.get(d, 0) > limit}
        nodes, lines = [], []
        for phase in self.plan.phases:
            if phase.id not in self.ran:
                continue
            devices = tuple(dict.fromkeys(device for device, _ in self.ran[phase.id]))
            ticks = sum(ticks for _, ticks in self.ran[phase.id])
            nodes.append(ChartNode(str(phase.id), phase.label, devices, ticks, any(d in over for d in devices)))
            for value in dict.fromkeys(read.value for read in phase.reads):
                source = self.producer.get(value)
                if source is not None and source.id in self.ran:
                    size = next(read.bytes for read in phase.reads if read.value == value)
                    lines.append(ChartLine(str(source.id), str(phase.id), size, moved[value]))
        return tuple(nodes), tuple(lines)

    def rows(self) -> tuple[ChartRow, ...]:
        rows = []
        for phase in self.plan.phases:
            runs = self.ran.get(phase.id, [])
            for index, (device, ticks) in enumerate(runs):
                part = f"{index + 1} of {len(runs)}" if len(runs) > 1 else "whole"
                rows.append(ChartRow(_titled(phase), device, part, ticks * self.plan.tick_ns))
        return tuple(rows)


def _in_order(lane: Lane) -> Lane:
    """Returns a lane of bars in sequence, one tick each, for steps without ticks."""
    bars = [replace(bar, start=index, end=index + 1, arrive=index + 1) for index, bar in enumerate(lane.bars)]
    return replace(lane, bars=tuple(bars))


def _titled(phase: PlannedPhase) -> str:
    return f"#{phase.id} {phase.label}"


# ---------------------------------------------------------------------------------------------------- chart of a solution
#
# The chart of an answer to an abstract problem (`instance/1`).

def chart_of_answer(problem: Problem, answer: Answer, name: str = "") -> GanttChart:
    """Returns the chart of an answer with a schedule; times are in ticks (`tick_ns` of the problem)."""
    schedule = answer.schedule
    assert schedule is not None, "an impossible problem has no picture"
    names = problem.device_names()
    lanes = with_critical_path(_lanes(problem, schedule, names))
    shown, hidden = merge_equal_lanes(lanes)
    baselines = [f"{b.name} {b.ticks}" for b in answer.baselines if b.ticks is not None]
    notes = [f"lower bound {answer.lower_bound} ticks · {answer.status.value}"] + (
        [f"baselines: {', '.join(baselines)}"] if baselines else []
    )
    rows = tuple(
        ChartRow(problem.phases[s.phase].id, names[s.device], f"rows {s.first} to {s.stop}", (s.end - s.start) * problem.tick_ns)
        for s in schedule.shards
    )
    nodes, lines = _graph(problem, schedule, names)
    return GanttChart(
        f"{name or 'instance'}: {schedule.makespan} ticks",
        tuple(notes),
        problem.tick_ns,
        schedule.makespan,
        answer.lower_bound,
        shown,
        (),
        _memory(problem, schedule, names),
        nodes,
        lines,
        rows,
        hidden,
        TimeAxis.TICKS,
    )


def _lanes(problem: Problem, schedule: Schedule, names: tuple[str, ...]) -> list[Lane]:
    devices: dict[int, list[Bar]] = defaultdict(list)
    links: dict[str, list[Bar]] = defaultdict(list)
    keys_of: dict[tuple[int, int], list[str]] = defaultdict(list)
    for index, shard in enumerate(schedule.shards):
        keys_of[shard.phase, shard.device].append(f"s{index}")
    for index, transfer in enumerate(schedule.transfers):
        keys_of[transfer.phase, transfer.target].append(f"t{index}")
    inputs: dict[int, list[int]] = defaultdict(list)
    for edge in problem.edges:
        inputs[edge.target].append(edge.source)
    for index, shard in enumerate(schedule.shards):
        phase = problem.phases[shard.phase]
        after = tuple(key for source in inputs[shard.phase] for key in keys_of[source, shard.device])
        part = f" rows {shard.first}:{shard.stop}" if phase.rows else ""
        text = f"{phase.id}{part} on {names[shard.device]}, {shard.end - shard.start} ticks"
        devices[shard.device].append(
            Bar(f"s{index}", phase.id, BarKind.RUN, shard.start, shard.end, shard.end, text, after, node=phase.id)
        )
    for index, step in enumerate(schedule.combines):
        phase = problem.phases[step.phase]
        after = tuple(key for (p, _), keys in keys_of.items() if p == step.phase for key in keys)
        text = f"{phase.id} combine, {step.end - step.start} ticks"
        bar = Bar(f"c{index}", f"{phase.id} combine", BarKind.COMBINE, step.start, step.end, step.end, text, after, node=phase.id)
        devices[problem.home].append(bar)
    for index, transfer in enumerate(schedule.transfers):
        phase = problem.phases[transfer.phase]
        link = "delay" if transfer.link is None else problem.links[transfer.link].id
        text = f"{phase.id}: {names[transfer.source]} → {names[transfer.target]}, {transfer.bytes} bytes"
        after = tuple(keys_of[transfer.phase, transfer.source])
        times = (transfer.start, transfer.busy, transfer.arrive)
        bar = Bar(f"t{index}", phase.id, BarKind.TRANSFER, *times, text, after, node=phase.id)
        links[link].append(bar)
    lanes = [Lane(names[device], tuple(sorted(bars, key=lambda b: b.start)), False) for device, bars in sorted(devices.items())]
    return lanes + [Lane(link, tuple(sorted(bars, key=lambda b: b.start)), True) for link, bars in sorted(links.items())]


def _memory(problem: Problem, schedule: Schedule, names: tuple[str, ...]) -> tuple[MemoryTrack, ...]:
    """Returns the memory curves by the rules of Note [Memory] of `problem`."""
    decoder = ScheduleDecoder(problem)
    decisions = decisions_of(problem, schedule)
    graph = StepGraph(
        decoder, decoder.expand_modes(decisions.modes), decoder.repair_order(decisions.priority) or decisions.priority
    )
    profiles = memory_profiles(graph, starts_in(graph, schedule), step_buffers(graph, everywhere=True))
    limits = [group.memory for group in problem.devices for _ in range(group.count)]
    return tuple(
        MemoryTrack(names[device], limits[device], ((0, 0), *profile.levels) if profile.levels[0][0] else profile.levels)
        for device, profile in profiles.items()
    )


def _graph(problem: Problem, schedule: Schedule, names: tuple[str, ...]) -> tuple[tuple[ChartNode, ...], tuple[ChartLine, ...]]:
    where: dict[int, dict[str, int]] = defaultdict(dict)
    for shard in schedule.shards:
        where[shard.phase][names[shard.device]] = shard.end - shard.start
    moved: dict[int, int] = defaultdict(int)
    for transfer in schedule.transfers:
        moved[transfer.phase] += transfer.bytes
    nodes = tuple(
        ChartNode(phase.id, phase.id, tuple(where[index]), sum(where[index].values())) for index,
        phase in enumerate(problem.phases)
    )
    lines = tuple(
        ChartLine(problem.phases[e.source].id, problem.phases[e.target].id,
             problem.phases[e.source].out_bytes if e.bytes is None else e.bytes, moved[e.source])
        for e in problem.edges
    )  # fmt: skip
    return nodes, lines
