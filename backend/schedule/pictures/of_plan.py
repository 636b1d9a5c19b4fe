"""The chart of a program's plan (`plan/2`).

Bars are the steps of the main plan with their ticks; sub-plans are inside their step's bar.  Memory is that of the buffers: a
piece's bytes on a device from the tick that makes or brings it to the end of the last step or transfer that reads it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ...graph.phases import PhaseId, ValueId
from ..answer import Status
from ..plan.explain import bytes_text
from ..plan.explain_queues import chunks_text
from ..plan.model import (
    BranchStep,
    CellsStep,
    CombineStep,
    FenceStep,
    FreeStep,
    JoinStep,
    LoopStep,
    Plan,
    QueueKind,
    RowsStep,
    RunStep,
    Step,
    SubPlan,
    TransferStep,
    WaitStep,
    inside,
    phases_of,
)
from ..plan.parts import PlannedPhase, box_text
from ..plan.space_text import has_other_axes, space_lines
from .chart import (
    Arrow,
    Axis,
    Bar,
    BarKind,
    Chart,
    Lane,
    Line,
    Memory,
    Node,
    Row,
    memory_over_time,
    merged,
    time_text,
    with_critical_path,
)

MOST_INSIDE: Final = 60
"""Steps whose inside is shown."""


def chart_of_plan(plan: Plan, name: str = "") -> Chart:
    """What pictures of `plan` show."""
    return _Reader(plan, plan.main, name).chart()


class _Reader:
    """`main`: the plan's own steps, or those inside one of them."""

    def __init__(self, plan: Plan, main: SubPlan, name: str) -> None:
        self.plan, self.main, self.name = plan, main, name
        self.phases = {phase.id: phase for phase in plan.phases}
        self.names = {value: name for name, value in (*plan.inputs, *plan.outputs)}
        self.makers: dict[ValueId, list[tuple[str, str]]] = defaultdict(list)  # value -> (device, key of the bar)
        self.producer = {value: phase for phase in plan.phases for value in phase.results}
        self.fences: dict[int, str] = {}
        self.waits: list[tuple[int, str]] = []
        self.ran: dict[PhaseId, list[tuple[str, int]]] = defaultdict(list)

    def chart(self) -> Chart:
        plan = self.plan
        self.find_makers()
        lanes = [self.lane(place) for place in range(len(self.main.queues))]
        lanes.sort(key=lambda lane: lane.is_link)
        timed = any(bar.arrive for lane in lanes for bar in lane.bars)
        lanes = lanes if timed else [_in_order(lane) for lane in lanes]
        marked = with_critical_path(lanes)
        shown, hidden = merged(marked)
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
            told = [f"{b.name} {time_text(b.ticks, plan.tick_ns)}" for b in prediction.baselines if b.ticks is not None]
            notes += [f"baselines: {', '.join(told)}"] if told else []
        sizes = plan.sizes if self.main is plan.main else ()
        notes += [" · ".join(f"{name}={number}" for name, number in sizes)] if sizes else []
        return Chart(
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
            Axis.TIME if timed else Axis.TICKS,
            tuple(self.inside()),
        )

    def inside(self) -> Iterator[Chart]:
        """An iteration of each loop, the arms of each branch, the cell of each map."""
        parts = [(step, part) for queue in self.main.queues for step in queue.steps for part in inside(step)]
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
            yield _Reader(self.plan, part, f"{what} {name}").chart()

    def find_makers(self) -> None:
        for place, queue in enumerate(self.main.queues):
            for index, step in enumerate(queue.steps):
                key = f"{place}:{index}"
                match step:
                    case TransferStep():
                        self.makers[step.value].append((step.target, key))
                    case RowsStep() | RunStep() | CombineStep() | LoopStep() | JoinStep() | BranchStep() | CellsStep():
                        named = [self.phases[id] for id in phases_of(step) if id in self.phases]
                        for value in (result for phase in named for result in phase.results):
                            self.makers[value].append((queue.device, key))

    def lane(self, place: int) -> Lane:
        queue = self.main.queues[place]
        bars: list[Bar] = []
        waiting: list[int] = []
        for index, step in enumerate(queue.steps):
            if isinstance(step, WaitStep):
                waiting.append(step.fence)
            elif isinstance(step, FenceStep):
                self.fences[step.fence] = bars[-1].key if bars else ""
            elif not isinstance(step, FreeStep):
                bar = self.bar(f"{place}:{index}", step, queue.device)
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

    def memory(self) -> tuple[Memory, ...]:
        """Each piece of a value by itself, while its buffer lives: a value may have several on one device."""
        plan = self.plan
        changes: dict[str, list[tuple[int, int]]] = {device.id: [] for device in plan.devices}
        for buffer in self.main.buffers:
            if buffer.device in changes and buffer.alias_of is None:
                changes[buffer.device] += [(buffer.first, buffer.bytes), (max(buffer.first, buffer.last), -buffer.bytes)]
        limits: dict[str, int | None] = {device.id: device.memory for device in plan.devices}
        return memory_over_time(changes, limits, dict(self.main.peak))

    def graph(self) -> tuple[tuple[Node, ...], tuple[Line, ...]]:
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
            nodes.append(Node(str(phase.id), phase.label, devices, ticks, any(d in over for d in devices)))
            for value in dict.fromkeys(read.value for read in phase.reads):
                source = self.producer.get(value)
                if source is not None and source.id in self.ran:
                    size = next(read.bytes for read in phase.reads if read.value == value)
                    lines.append(Line(str(source.id), str(phase.id), size, moved[value]))
        return tuple(nodes), tuple(lines)

    def rows(self) -> tuple[Row, ...]:
        found = []
        for phase in self.plan.phases:
            runs = self.ran.get(phase.id, [])
            for place, (device, ticks) in enumerate(runs):
                part = f"{place + 1} of {len(runs)}" if len(runs) > 1 else "whole"
                found.append(Row(_titled(phase), device, part, ticks * self.plan.tick_ns))
        return tuple(found)


def _in_order(lane: Lane) -> Lane:
    """A bar a step, one after the other, where steps have no ticks of their own."""
    bars = [replace(bar, start=place, end=place + 1, arrive=place + 1) for place, bar in enumerate(lane.bars)]
    return replace(lane, bars=tuple(bars))


def _titled(phase: PlannedPhase) -> str:
    return f"#{phase.id} {phase.label}"
