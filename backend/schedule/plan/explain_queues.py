"""A plan of several devices as text: what it promises, then every queue in its order with its fences and waits.

    T = 68 ticks (68 µs), lower bound 68: optimal (bound).  Baselines: best single device 80 (1.18×), even split 100 (1.47×)
    cpu0
      0–10      z ← add [0:6,0:4]             48 B → 48 B
      ---fence f1
    link0 cpu0–gpu0
      sync(f1)
      10–22     x[6:20] cpu0 → gpu0           112 B
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ...graph.phases import PhaseId, ValueId
from ..answer import Status
from .explain import bytes_text, counted, value_text
from .explain_classes import folded, ranges
from .model import (
    BranchStep,
    CellsStep,
    CombineStep,
    FenceStep,
    FreeStep,
    JoinStep,
    LoopStep,
    Plan,
    Queue,
    QueueKind,
    RowsStep,
    RunStep,
    Step,
    TransferStep,
    WaitStep,
)
from .parts import DeviceId, PlannedPhase, box_text
from .space_text import has_other_axes, space_lines

_INDENT = "  "


def queues_text(plan: Plan) -> str:
    """The plan for people to read."""
    known = {phase.id: phase for phase in plan.phases}
    names = _names(plan)
    sizes = "".join(f" · {name}={number}" for name, number in plan.sizes)
    syncs = sum(isinstance(s, WaitStep) for q in plan.main.queues if q.kind is QueueKind.COMPUTE for s in q.steps)
    transfers = [s for q in plan.main.queues for s in q.steps if isinstance(s, TransferStep)]
    moved = bytes_text(sum(step.bytes for step in transfers))
    lines = [
        f"{plan.schema} · {len(plan.devices)} devices{sizes} · {counted(syncs, 'sync')} · "
        f"{counted(len(transfers), 'transfer')}, {moved}"
    ]
    if plan.prediction is not None:
        lines.append(prediction_text(plan))
    busy, peaks = busy_of(plan), dict(plan.main.peak)
    lines += [*space_lines(plan), *chunks_text(plan)]
    lines += [f"obeys: {text}" for text in plan.directives]
    if plan.speculated:
        made = [value for phase in plan.speculated if phase in known for value in known[phase].results]
        lines.append("both arms run: " + ", ".join(value_text(value, names) for value in made))
    lines += folded([
        (_heading(queue, busy, peaks, plan), *(_INDENT + line for step in queue.steps for line in _step(step, known, names)))
        for queue in plan.main.queues
    ])  # fmt: skip
    idle = ranges([device.id for device in plan.devices if device.id not in busy])
    if idle:
        shown = ", ".join(idle[:8]) + (f" and {len(idle) - 8} more" if len(idle) > 8 else "")
        lines.append(f"idle: {shown}")
    return "\n".join(lines)


def chunks_text(plan: Plan) -> list[str]:
    """Which phases go in chunks."""
    parts = ", ".join(f"#{one.phase} in {one.count}" for one in plan.chunks)
    return [f"chunks: {parts}"] if parts else []


_UNITS: Final = {"energy": " mJ", "throughput": " ticks a run"}


def judged(plan: Plan) -> str:
    """The certified bound, and how near the plan is to it; empty of a plan without a prediction."""
    found = plan.prediction
    if found is None:
        return ""
    word, along = found.status.value, " along these axes" if has_other_axes(plan) else ""
    if found.status is Status.OPTIMAL:
        word = f"optimal{along} ({found.proof.method})"
    elif found.status is Status.GAP and found.objectives and found.objectives[0][1]:
        first = found.objectives[0][1]
        word = f"gap {100 * (first - found.lower_bound) / first:.1f} %"
    return f"lower bound {found.lower_bound}{'' if found.status is Status.OPTIMAL else along}: {word}"


def prediction_text(plan: Plan) -> str:
    """One line: the makespan, its bound or gap, the baselines."""
    found, tick_ns = plan.prediction, plan.tick_ns
    if found is None:
        return ""
    others = ", ".join(
        f"{one.name} {one.ticks} ({one.ticks / found.makespan:.2f}×)" if one.ticks is not None and found.makespan
        else f"{one.name} {'infeasible' if one.ticks is None else one.ticks}"
        for one in found.baselines
    )  # fmt: skip
    values = "".join(f", {amount(name, value, tick_ns)}" for name, value in found.objectives if name != "latency")
    end = f"  Baselines: {others}" if others else ""
    time = time_text(found.makespan * tick_ns)
    return f"T = {found.makespan} ticks ({time}){values}, {judged(plan)}.{end}"


def amount(objective: str, value: int, tick_ns: int) -> str:
    """`energy 924 mJ`."""
    return f"{objective} " + (time_text(value * tick_ns) if objective == "latency" else f"{value}{_UNITS.get(objective, '')}")


def time_text(ns: int) -> str:
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if ns >= size:
            return f"{ns / size:.4g} {unit}"
    return f"{ns} ns"


def busy_of(plan: Plan) -> dict[str, int]:
    """Ticks that each device with work computes."""
    found: dict[str, int] = {}
    for queue in plan.main.queues:
        if queue.kind is QueueKind.COMPUTE:
            timed = RunStep | LoopStep | JoinStep | BranchStep | CellsStep | CombineStep
            steps = [step for step in queue.steps if isinstance(step, timed)]
            if steps:
                found[queue.device] = found.get(queue.device, 0) + sum(s.end - s.start for s in steps)
    return found


def _heading(queue: Queue, busy: Mapping[str, int], peaks: Mapping[DeviceId, int], plan: Plan) -> str:
    if queue.kind is QueueKind.COPY:
        return f"{queue.device} copies"
    makespan = plan.prediction.makespan if plan.prediction is not None else 0
    share = f", {100 * busy.get(queue.device, 0) // makespan} % busy" if makespan else ""
    return f"{queue.device}  (memory {bytes_text(peaks.get(queue.device, 0))}{share})"


def _names(plan: Plan) -> dict[ValueId, str]:
    names = {value: name for name, value in plan.inputs}
    for phase in plan.phases:
        label, arrow, _ = phase.label.partition(" ← ")
        own = label.split() if arrow else []
        for place, value in enumerate(phase.results):
            if place < len(own):
                names.setdefault(value, own[place])
    for name, value in plan.outputs:
        names.setdefault(value, name)
    return names


def _step(step: Step, known: Mapping[PhaseId, PlannedPhase], names: Mapping[ValueId, str]) -> Iterator[str]:
    match step:
        case JoinStep(rows=None):
            yield f"{_when(step.start, step.end)} for {known[step.phase].label.strip()}"
        case RunStep() | LoopStep() | JoinStep() | BranchStep() | CellsStep():
            phase = known[step.phase]
            box = "" if not isinstance(step, RunStep) or step.box is None else f" {box_text(step.box)}"
            if isinstance(step, LoopStep | JoinStep) and step.rows is not None:
                box = f" rows {step.rows[0]}:{step.rows[1]}, together"
            made = " ".join(value_text(v, names) for v in phase.results)
            label = phase.label if phase.label != phase.op else f"{phase.op} {made}"
            if phase.label == phase.op and not phase.results and phase.reads:
                label = f"{phase.op} {value_text(phase.reads[0].value, names)}"
            moved = f"{bytes_text(phase.bytes_read)} → {bytes_text(phase.bytes_written)}" if phase.bytes_written else ""
            yield f"{_when(step.start, step.end)} {label.strip() + box:<40} {moved}".rstrip()
            if isinstance(step, LoopStep) and step.rows is not None:
                yield from _turn(step, known, names)
        case RowsStep():
            yield f"{'':<14} by rows: {', '.join(known[member].label.strip() for member in step.phases)}"
        case CombineStep():
            results = " ".join(value_text(v, names) for v in known[step.phase].results)
            yield f"{_when(step.start, step.end)} combine {results}"
        case FreeStep():
            box = box_text(step.box)
            where = "" if step.device is None else f" on {step.device}"
            yield f"{'':<14} free {' '.join(value_text(v, names) + box for v in step.values)}{where}"
        case TransferStep():
            box = box_text(step.box)
            what = f"{'partial ' if step.partial else ''}{value_text(step.value, names)}{box}"
            yield f"{_when(step.start, step.arrive)} {f'{what}: {step.source} → {step.target}':<40} {bytes_text(step.bytes)}"
        case FenceStep():
            yield f"---fence f{step.fence}"
        case WaitStep():
            yield f"sync(f{step.fence})"


def _turn(step: LoopStep, known: Mapping[PhaseId, PlannedPhase], names: Mapping[ValueId, str]) -> Iterator[str]:
    """What an iteration of a loop that queues run together does, queue by queue, in ticks from its start."""
    for title, plan in (("each iteration", step.body), ("after the last iteration", step.leave)):
        if plan is None:
            continue
        yield f"{'':<14} {title}:"
        for queue in plan.queues:
            yield f"{'':<16} {queue.device}"
            for inner in queue.steps:
                if isinstance(inner, RunStep | CombineStep | TransferStep) and (
                    isinstance(inner, TransferStep) or inner.end > inner.start
                ):
                    yield from (f"{'':<18} {line}" for line in _step(inner, known, names))


def _when(start: int, end: int) -> str:
    return f"{f'{start}–{end}':<14}"
