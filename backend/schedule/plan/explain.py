"""A plan as text: phases in the order they run, what each reads, how long its buffers live, and the peak.

    plan/2 · 5 phases · peak 160.0 MB on cpu0
    cpu0 compute
      #3  map     t ← mul add                 i<10000000         80.0 MB → 80.0 MB
            x[i]
      #4  reduce  add/                        i<10000000 reduce  80.0 MB → 8 B     over t
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from ...graph.phases import PhaseId, ValueId
from .describe import axis_name
from .model import (
    BranchStep,
    CellsStep,
    CombineStep,
    FenceStep,
    FreeStep,
    JoinStep,
    LoopStep,
    Plan,
    RowsStep,
    RunStep,
    Step,
    StreamStep,
    SubPlan,
    TransferStep,
    WaitStep,
)
from .parts import PlannedPhase

_INDENT = "  "


def plan_text(plan: Plan) -> str:
    """The plan for people to read; needs a plan made in full detail."""
    known = {phase.id: phase for phase in plan.phases}
    names = {value: name for name, value in plan.inputs}
    sizes = "".join(f" · {name}={number}" for name, number in plan.sizes)
    peak = ", ".join(f"{bytes_text(size)} on {device}" for device, size in plan.main.peak)
    lines = [f"{plan.schema} · {counted(len(plan.phases), 'phase')}{sizes} · peak {peak}"]
    lines += _block(plan.main, known, names, "")
    operations: dict[str, int] = {}
    for phase in plan.phases:
        for kind, count in phase.operations:
            operations[kind] = operations.get(kind, 0) + count
    if operations:
        lines.append("operations: " + ", ".join(f"{count:,} {kind}" for kind, count in sorted(operations.items())))
    return "\n".join(lines)


def bytes_text(count: int) -> str:
    """`80.0 MB` (MB is 10⁶)."""
    for unit, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


def _block(plan: SubPlan, known: Mapping[PhaseId, PlannedPhase], names: Mapping[ValueId, str], indent: str) -> Iterator[str]:
    for queue in plan.queues:
        yield f"{indent}{queue.device} {queue.kind.value}"
        for step in queue.steps:
            yield from _step(step, known, names, indent + _INDENT)


def _step(step: Step, known: Mapping[PhaseId, PlannedPhase], names: Mapping[ValueId, str], indent: str) -> Iterator[str]:
    match step:
        case RunStep():
            over = "" if step.overwrite is None else f"  over {value_text(step.overwrite, names)}"
            yield from _phase(known[step.phase], names, indent, over)
        case RowsStep():
            over = "" if step.overwrite is None else f"  over {value_text(step.overwrite, names)}"
            yield f"{indent}by rows{over}  ⇒ {' '.join(value_text(v, names) for v in step.results)}"
            for member in step.phases:
                yield from _phase(known[member], names, indent + _INDENT, "")
        case StreamStep():
            written = f", {bytes_text(step.writes)} written" if step.writes else ""
            made = f"  ⇒ {' '.join(value_text(v, names) for v in step.results)}" if step.results else ""
            tiles = f"{step.tiles:,} tiles of {step.rows:,} rows, {step.depth} at once"
            yield f"{indent}stream  {tiles}: {bytes_text(step.reads)} read{written}{made}"
            for member in step.phases:
                yield from _phase(known[member], names, indent + _INDENT, "")
        case CombineStep():
            results = " ".join(value_text(v, names) for v in known[step.phase].results)
            yield f"{indent}combine #{step.phase}  ⇒ {results}"
        case FreeStep():
            yield f"{indent}free {' '.join(value_text(v, names) for v in step.values)}"
        case TransferStep():
            yield f"{indent}{value_text(step.value, names)}: {step.source} → {step.target}  {bytes_text(step.bytes)}"
        case FenceStep():
            yield f"{indent}---fence f{step.fence}"
        case WaitStep():
            yield f"{indent}sync(f{step.fence})"
        case JoinStep():
            yield f"{indent}join #{step.phase}"
        case LoopStep():
            yield from _phase(known[step.phase], names, indent, "")
            yield from _block(step.body, known, names, indent + _INDENT)
            if step.until is not None:
                yield f"{indent}until"
                yield from _block(step.until, known, names, indent + _INDENT)
        case BranchStep():
            yield from _phase(known[step.phase], names, indent, "")
            yield from _block(step.then, known, names, indent + _INDENT)
            yield f"{indent}otherwise"
            yield from _block(step.otherwise, known, names, indent + _INDENT)
        case CellsStep():
            yield from _phase(known[step.phase], names, indent, "")
            yield from _block(step.body, known, names, indent + _INDENT)


def _phase(phase: PlannedPhase, names: Mapping[ValueId, str], indent: str, over: str) -> Iterator[str]:
    space = " ".join(f"{axis_name(axis)}<{size}{' reduce' * (kind == 'reduce')}" for axis, (size, kind) in enumerate(phase.axes))
    moved = f"{bytes_text(phase.bytes_read)} → {bytes_text(phase.bytes_written)}"
    work = f"  {prod(size for size, _ in phase.axes):,} points" if phase.axes else ""
    results = " ".join(value_text(v, names) for v in phase.results)
    label = "" if phase.label == phase.op else phase.label.removesuffix(f" ← {phase.op}").removeprefix(f"{phase.op} ")
    head = f"{indent}#{phase.id:<4}{phase.op:<16}{label:<24}"
    yield f"{head} {space:<24} {moved}{work}{over}".rstrip() + (f"  ⇒ {results}" if results else "")
    for read in phase.reads:
        if read.projection:
            yield f"{indent}      {value_text(read.value, names)}{read.projection}"


def counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def value_text(value: ValueId, names: Mapping[ValueId, str]) -> str:
    return names.get(value, f"%{value}")
