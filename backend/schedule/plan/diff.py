"""How two plans of one program differ, as lines: predictions, placements, transfers, synchronisations, memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from ...graph.phases import PhaseId
from ..pictures.chart import time_text
from .explain import bytes_text
from .model import BranchStep, CellsStep, CombineStep, JoinStep, LoopStep, Plan, RowsStep, RunStep, TransferStep, WaitStep
from .parts import box_text
from .space_text import space_lines


def diff_text(old: Plan, new: Plan) -> str:
    """Lines that begin with `-` (only in `old`), `+` (only in `new`) or a name; `the plans are the same` if they are."""
    lines = [*_identity(old, new), *_numbers(old, new), *_placements(old, new), *_transfers(old, new), *_memory(old, new)]
    return "\n".join(lines) if lines else "the plans are the same"


def _identity(old: Plan, new: Plan) -> Iterator[str]:
    if old.program != new.program:
        yield "program: another text, parameters or passes"
    if old.sizes != new.sizes:
        before, after = dict(old.sizes), dict(new.sizes)
        changed = [n for n in dict.fromkeys((*before, *after)) if before.get(n) != after.get(n)]
        yield "sizes: " + ", ".join(f"{n} {before.get(n, 'absent')} → {after.get(n, 'absent')}" for n in changed)
    if old.profile != new.profile:
        yield "devices: another profile"


def _numbers(old: Plan, new: Plan) -> Iterator[str]:
    before, after = old.prediction, new.prediction
    if before is not None and after is not None:
        if before.makespan * old.tick_ns != after.makespan * new.tick_ns:
            first, second = before.makespan * old.tick_ns, after.makespan * new.tick_ns
            ratio = f" ({second / first:.2f} ×)" if first else ""
            yield f"time: {time_text(first, 1)} → {time_text(second, 1)}{ratio}"
        if before.status is not after.status:
            yield f"status: {before.status.value} → {after.status.value}"
        over = [space_lines(plan)[0].removeprefix("bound over: ") for plan in (old, new)]
        if over[0] != over[1]:
            yield f"bound over: {over[0]} → {over[1]}"
    waits = [sum(isinstance(s, WaitStep) for q in p.main.queues for s in q.steps) for p in (old, new)]
    if waits[0] != waits[1]:
        yield f"waits: {waits[0]} → {waits[1]}"


def _placements(old: Plan, new: Plan) -> Iterator[str]:
    before, after = _places(old), _places(new)
    labels = {phase.id: f"#{phase.id} {phase.label}" for phase in (*old.phases, *new.phases)}
    for phase in dict.fromkeys((*before, *after)):
        if before.get(phase) != after.get(phase):
            yield labels.get(phase, f"#{phase}")
            for mark, places in (("-", before.get(phase, [])), ("+", after.get(phase, []))):
                yield from (f"  {mark} {place}" for place in places)


def _places(plan: Plan) -> dict[PhaseId, list[str]]:
    found: dict[PhaseId, list[str]] = defaultdict(list)
    for queue in plan.main.queues:
        for step in queue.steps:
            match step:
                case RunStep(box=box):
                    found[step.phase].append(f"{queue.device} {box_text(box)}".rstrip())
                case RowsStep():
                    for member in step.phases:
                        found[member].append(f"{queue.device} by rows")
                case CombineStep():
                    found[step.phase].append(f"{queue.device} combine")
                case LoopStep(rows=rows) | JoinStep(rows=rows) if rows is not None:
                    found[step.phase].append(f"{queue.device} rows {rows[0]}:{rows[1]}")
                case LoopStep() | BranchStep() | CellsStep():
                    found[step.phase].append(str(queue.device))
                case _:
                    pass
    return {phase: sorted(places) for phase, places in found.items()}


def _transfers(old: Plan, new: Plan) -> Iterator[str]:
    before, after = _sent(old), _sent(new)
    for mark, counted in (("-", before - after), ("+", after - before)):
        for (value, source, target, size), count in sorted(counted.items()):
            times = f" ×{count}" if count > 1 else ""
            yield f"{mark} transfer %{value}: {source} → {target}, {bytes_text(size)}{times}"


def _sent(plan: Plan) -> Counter[tuple[int, str, str, int]]:
    return Counter(
        (int(s.value), str(s.source), str(s.target), s.bytes)
        for queue in plan.main.queues for s in queue.steps if isinstance(s, TransferStep)
    )  # fmt: skip


def _memory(old: Plan, new: Plan) -> Iterator[str]:
    before, after = old.peak, new.peak
    for device in dict.fromkeys((*before, *after)):
        if before.get(device, 0) != after.get(device, 0):
            yield f"peak on {device}: {bytes_text(before.get(device, 0))} → {bytes_text(after.get(device, 0))}"
