"""A plan as text: phases in the order they run, what each reads, how long its buffers live, and the peak.

plan/2 · 5 phases · peak 160.0 MB on cpu0
cpu0 compute
  #3  map     t ← mul add                 i<10000000         80.0 MB → 80.0 MB
        x[i]
  #4  reduce  add/                        i<10000000 reduce  80.0 MB → 8 B     over t
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import Final, TypeAlias

from ....typechecker.sizes.polynomials import Size
from ...graph import traverse
from ...graph.phases import (
    Affine,
    AffineIndex,
    ApplyNode,
    AxisKind,
    AxisNode,
    Choice,
    Decision,
    Graph,
    LibraryPhase,
    Output,
    Phase,
    PhaseId,
    Print,
    Projection,
    ReadNode,
    Structured,
    ValueId,
)
from ...graph.symbolic_costs import Types, cost_of, reduced_axes
from ..problem import QueueKind, Status
from .plan import (
    BranchStep,
    CellsStep,
    CombineStep,
    DeviceId,
    ExecutionPlan,
    FenceStep,
    FreeStep,
    JoinStep,
    LoopStep,
    PlannedPhase,
    PlannedRead,
    Prediction,
    Queue,
    RowsStep,
    RunStep,
    Step,
    StreamStep,
    SubPlan,
    TransferStep,
    WaitStep,
    box_text,
    phases_of,
    sub_plans,
)

# ---------------------------------------------------------------------------------------------------- plan as a block
#
# The decisions of a plan as a `schedule` block: the axis, the devices and the rows of each phase, and their order.
#
# Phases have the numbers of the plan (`#4`), since fusion skips values that a block names.  Distributed loops and phases in
# chunks get no line: the planner decides them again.

def schedule_text(plan: ExecutionPlan) -> str:
    """A `schedule` block with which the same program, sizes and devices get these decisions."""
    starts: dict[PhaseId, int] = {}
    shards: dict[PhaseId, list[tuple[int, DeviceId, int]]] = {}
    axis_of = {one.phase: one for one in plan.space.cuts}
    apart = {*(one.phase for one in plan.spread), *(one.phase for one in plan.chunks)}
    for queue in plan.main.queues:
        for step in queue.steps:
            if isinstance(step, RunStep | LoopStep | BranchStep | CellsStep) and step.phase not in apart:
                axis = axis_of[step.phase].axis if step.phase in axis_of else None
                box = step.box if isinstance(step, RunStep) else None
                first, stop = (0, 0) if box is None or axis is None else box[axis]
                starts[step.phase] = min(step.start, starts.get(step.phase, step.start))
                shards.setdefault(step.phase, []).append((first, queue.device, stop - first))
    labels = {phase.id: phase for phase in plan.phases}
    lines = [f"cut #{one.phase} axis {one.axis}" for one in plan.space.cuts if one.is_chosen and one.axis is not None]
    lines += [f"speculate #{phase}" for phase in plan.speculated]
    order = [phase for phase in sorted(starts, key=lambda phase: (starts[phase], phase)) if labels[phase].op not in _AT_HOME]
    for phase in order:
        parts = sorted(shards[phase])
        devices = " ".join(device for _, device, _ in parts)
        line = f"place #{phase} on {devices}"
        if len(parts) > 1:
            line = f"split #{phase} rows {':'.join(str(rows) for _, _, rows in parts)} over {devices}"
        lines.append(f"{line}  ⍝ {labels[phase].label}")
    if len(order) > 1:
        lines.append("order " + " ".join(f"#{phase}" for phase in order))
    sizes = " ".join(f"{name}={number}" for name, number in plan.sizes)
    return "\n".join(("schedule {", f"  ⍝ for {sizes or 'these sizes'}", *(f"  {each}" for each in lines), "}"))


_AT_HOME: Final = ("input", "output", "print", "constant")
"""Phases that run at home."""


# ---------------------------------------------------------------------------------------------------- labels of phases
#
# The description of phases in a plan, in numbers and words.
#
# Iteration axes are named i j k …; an operand's read is rendered through its projection, `x[i;2j+1]`, a row-major
# reinterpretation as `x[⟨i j⟩ as 6]`, a read that may leave the operand with `·` after it.

SizeNumber = Callable[[Size], int]


def describe(phase: Phase, graph: Graph, number: SizeNumber, device: DeviceId, scratch: int) -> PlannedPhase:
    """The description of a phase; `scratch`: bytes that its step needs beside operands and results."""
    cost = cost_of(phase, graph.types)
    axes: tuple[tuple[int, str], ...] = ()
    if isinstance(phase, Structured):
        axes = tuple((number(axis.size), axis.kind.value) for axis in phase.axes)
    elif isinstance(phase, LibraryPhase) and phase.results and (reduced := reduced_axes(phase, graph.types)):
        parallel = tuple((number(size), AxisKind.PARALLEL.value) for size in graph.types[phase.results[0]].shape)
        axes = (*parallel, *((size, AxisKind.REDUCE.value) for size, _ in reduced))
    return PlannedPhase(
        phase.id,
        op_name(phase),
        label(phase, graph),
        (phase.span.file, phase.span.start, phase.span.end),
        axes,
        _reads(phase, graph.types, number),
        traverse.results(phase),
        number(cost.touched),
        number(cost.written),
        scratch,
        tuple(sorted((name, number(count)) for name, count in cost.operations.items())),
        device,
    )


def overwritten_operands(graph: Graph, plan: ExecutionPlan) -> list[Decision]:
    """The results with a name that are written over an operand which is not read again."""
    phases = {phase.id: phase for phase in traverse.all_phases(graph)}
    decisions: list[Decision] = []
    pending = [plan.main]
    while pending:
        for step in (step for queue in pending.pop().queues for step in queue.steps):
            pending += sub_plans(step)
            over = step.overwrite if isinstance(step, RunStep | RowsStep) else None
            if over is None:
                continue
            phase = phases[phases_of(step)[-1]]
            first = step.results[0] if isinstance(step, RowsStep) else traverse.results(phase)[0]
            if first in graph.names:
                why = f"written over {graph.names.get(over, 'its operand')}, whose last read this is"
                decisions.append(Decision(Choice.IN_PLACE, graph.names[first], why, phase.span))
    return decisions


def op_name(phase: Phase) -> str:
    """`map`, `reduce` or `view` for a structured phase, the library op's name, or the control phase's."""
    match phase:
        case Structured():
            if any(r.reduction for r in phase.results):
                return "reduce"
            return "view" if all(isinstance(phase.body[r.node], ReadNode) for r in phase.results) else "map"
        case LibraryPhase():
            return phase.op
        case _:
            return type(phase).__name__.lower()


def label(phase: Phase, graph: Graph) -> str:
    """The names that the program gives the phase's results, and its functions; an output or a print has its own label."""
    if isinstance(phase, Output):
        return f"output {phase.name}"
    if isinstance(phase, Print):
        return f"print {graph.names.get(phase.arg, '')}".strip()
    names = " ".join(graph.names[v] for v in traverse.results(phase) if v in graph.names)
    work = _work(phase)
    return f"{names} ← {work}" if names else work


def _work(phase: Phase) -> str:
    if not isinstance(phase, Structured):
        return op_name(phase)
    functions = [node.function for node in phase.body if isinstance(node, ApplyNode)]
    functions += [f"{r.reduction}/" for r in phase.results if r.reduction is not None]
    if functions:
        return " ".join(functions)
    return "iota" if any(isinstance(node, AxisNode) for node in phase.body) else op_name(phase)


def _reads(phase: Phase, types: Types, number: SizeNumber) -> tuple[PlannedRead, ...]:
    def size_of(value: ValueId) -> int:
        return prod(map(number, types[value].shape)) * types[value].element.kind.bytes

    if isinstance(phase, Structured):
        return tuple(
            PlannedRead(r.value, render_projection(r.projection, len(phase.axes), number), size_of(r.value)) for r in phase.reads
        )
    return tuple(PlannedRead(v, "", size_of(v)) for v in traverse.operands(phase))


# --------------------------------------------------------------------------------------- projections


def axis_name(axis: int) -> str:
    return "ijklmn"[axis] if axis < 6 else f"i{axis}"


def render_projection(projection: Projection, rank: int, number: SizeNumber) -> str:
    """The index of a read in terms of the iteration axes, such as `i;2j+1`."""
    current = [axis_name(axis) for axis in range(rank)]
    fills = ""
    for stage in projection.stages:
        if isinstance(stage, Affine):
            current = [_index(index, current, number) for index in stage.indices]
            fills = "·" if stage.fills else fills
        else:
            target = " ".join(str(number(size)) for size in stage.target)
            current = [f"⟨{' '.join(current)}⟩ as {target}"]
            if len(stage.target) != 1:
                current = [f"({current[0]}).{index}" for index in range(len(stage.target))]
    return f"[{';'.join(current)}]{fills}"


def _index(index: AffineIndex, names: Sequence[str], number: SizeNumber) -> str:
    parts: list[str] = []
    for term in index.terms:
        name = names[term.axis] if term.axis < len(names) else axis_name(term.axis)
        name = f"({name})" if any(c in name for c in "+-⟨") and term.coefficient != 1 else name
        sign = "-" if term.coefficient < 0 else "+"
        magnitude = abs(term.coefficient)
        parts.append(f"{sign}{'' if magnitude == 1 else magnitude}{name}")
    constant = number(index.constant)
    if constant or not parts:
        parts.append(f"{'-' if constant < 0 else '+'}{abs(constant)}")
    text = "".join(parts)
    return text[1:] if text[0] == "+" else text


# ---------------------------------------------------------------------------------------------------- plan of one device

_INDENT = "  "


def plan_text(plan: ExecutionPlan) -> str:
    """The plan for people to read; needs a plan made in full detail."""
    known = {phase.id: phase for phase in plan.phases}
    names = {value: name for name, value in plan.inputs}
    sizes = "".join(f" · {name}={number}" for name, number in plan.sizes)
    peak = ", ".join(f"{bytes_text(size)} on {device}" for device, size in plan.main.peak)
    lines = [f"{plan.schema} · {count_text(len(plan.phases), 'phase')}{sizes} · peak {peak}"]
    lines += _block(plan.main, known, names, "")
    operations: dict[str, int] = {}
    for phase in plan.phases:
        for kind, count in phase.operations:
            operations[kind] = operations.get(kind, 0) + count
    if operations:
        lines.append("operations: " + ", ".join(f"{count:,} {kind}" for kind, count in sorted(operations.items())))
    return "\n".join(lines)


def bytes_text(count: int) -> str:
    """A byte count as text, such as `80.0 MB` (1 MB = 10⁶ bytes)."""
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
            shown = f"  ⇒ {' '.join(value_text(v, names) for v in step.results)}" if step.results else ""
            tiles = f"{step.tiles:,} tiles of {step.rows:,} rows, {step.depth} at once"
            yield f"{indent}stream  {tiles}: {bytes_text(step.reads)} read{written}{shown}"
            for share in step.shares:
                part = f"{share.device}: tiles {share.first:,} to {share.stop:,}, {bytes_text(share.reads)} read"
                yield f"{indent}{_INDENT}{part}, {bytes_text(share.memory)} of memory"
            if step.undivided:
                yield f"{indent}{_INDENT}on one device: {step.undivided}"
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
    work = f"  {prod(size for size, _ in phase.axes):,} points" if phase.op in ("map", "reduce", "view") and phase.axes else ""
    results = " ".join(value_text(v, names) for v in phase.results)
    label = "" if phase.label == phase.op else phase.label.removesuffix(f" ← {phase.op}").removeprefix(f"{phase.op} ")
    head = f"{indent}#{phase.id:<4}{phase.op:<16}{label:<24}"
    yield f"{head} {space:<24} {moved}{work}{over}".rstrip() + (f"  ⇒ {results}" if results else "")
    for read in phase.reads:
        if read.projection:
            yield f"{indent}      {value_text(read.value, names)}{read.projection}"


def count_text(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def value_text(value: ValueId, names: Mapping[ValueId, str]) -> str:
    return names.get(value, f"%{value}")


# ---------------------------------------------------------------------------------------------------- folding of equal queues
#
# Folding of equal devices: queues with equal lines, whose numbers form arithmetic progressions, are printed once.
#
#     node[0] … node[5]  (memory 1.0 MB, 52 % busy), i = 0 … 5
#       0–117120       add [1261568+1093632i:2355200+1093632i]
#       ---fence f2+i
#
# The folding is lossless: the lines of each queue can be recovered (the tests do).

QueueText: TypeAlias = tuple[str, ...]
"""The heading of a queue and its lines."""

MIN_FOLDED: Final = 4
"""The least number of equal queues that are folded."""
_NUMBER: Final = re.compile(r"\d+")
_INSTANCE: Final = re.compile(r"(.*)\[(\d+)\]")
_WAITS: Final = re.compile(r"( *)sync\(f(\d+)\)")


def fold_equal_queues(pieces: Sequence[QueueText]) -> list[str]:
    """The lines of all queues, with runs of equal queues folded."""
    lines: list[str] = []
    index = 0
    while index < len(pieces):
        stop = _end_of_run(pieces, index)
        if stop - index < MIN_FOLDED:
            stop = index + 1
            lines += _joined_waits(pieces[index])
        else:
            lines += _joined_waits(_merged_lines(pieces[index], pieces[index + 1], pieces[stop - 1], stop - index))
        index = stop
    return lines


def ranges(names: Sequence[str]) -> list[str]:
    """Names of instances as `node[8..39]` where they follow each other, the others as they are."""
    parts: list[str] = []
    run: list[tuple[str, int]] = []

    def close() -> None:
        if run:
            stem, first = run[0]
            parts.append(f"{stem}[{first}..{run[-1][1]}]" if len(run) > 1 else f"{stem}[{first}]")
            run.clear()

    for name in names:
        instance = _INSTANCE.fullmatch(name)
        if instance is None or (run and (instance[1], int(instance[2])) != (run[-1][0], run[-1][1] + 1)):
            close()
        if instance is None:
            parts.append(name)
        else:
            run.append((instance[1], int(instance[2])))
    close()
    return parts


def _end_of_run(pieces: Sequence[QueueText], index: int) -> int:
    """The end of the run of queues from `index` on that differ only in arithmetic progressions of numbers."""
    if index + 1 == len(pieces) or _shape(pieces[index]) != _shape(pieces[index + 1]):
        return index + 1
    steps = _steps(pieces[index], pieces[index + 1])
    if any(steps[1 : len(_NUMBER.findall(pieces[index][0]))]) or not pieces[index][0].partition(" ")[0].endswith("]"):
        return index + 1  # the heading names no instance, or more than the instance number changes in it
    stop = index + 2
    while (
        stop < len(pieces) and _shape(pieces[stop]) == _shape(pieces[index]) and _steps(pieces[stop - 1], pieces[stop]) == steps
    ):
        stop += 1
    return stop


def _shape(piece: QueueText) -> tuple[str, ...]:
    return tuple(" ".join(_NUMBER.sub("#", line).split()) for line in piece)


def _numbers(piece: QueueText) -> list[int]:
    return [int(number) for line in piece for number in _NUMBER.findall(line)]


def _steps(first: QueueText, then: QueueText) -> list[int]:
    return [b - a for a, b in zip(_numbers(first), _numbers(then), strict=True)]


def _merged_lines(first: QueueText, second: QueueText, last: QueueText, count: int) -> QueueText:
    steps = iter(_steps(first, second))

    def growing(match: re.Match[str]) -> str:
        step = next(steps)
        if not step:
            return match[0]
        if match[0] == "0" and step == 1 and match.string[match.end() :].startswith("]"):
            return "i"
        return f"{match[0]}{'+' if step > 0 else '-'}{abs(step) if abs(step) != 1 else ''}i"

    lines = [_NUMBER.sub(growing, line) for line in first]
    name, _, rest = first[0].partition(" ")
    heading = f"{name} … {last[0].partition(' ')[0]} {rest}, i = 0 … {count - 1}"
    return (heading, *lines[1:])


def _joined_waits(piece: QueueText) -> list[str]:
    """The lines with consecutive waits for fences joined on one line."""
    lines: list[str] = []
    run: list[tuple[str, int]] = []
    for line, after in pairwise((*piece, "")):
        match, next_one = _WAITS.fullmatch(line), _WAITS.fullmatch(after)
        if match is None:
            lines.append(line)
            continue
        run.append((match[1], int(match[2])))
        if next_one is None or int(next_one[2]) != run[-1][1] + 1:
            if len(run) < MIN_FOLDED:
                lines += [f"{indent}sync(f{number})" for indent, number in run]
            else:
                lines.append(f"{run[0][0]}sync(f{run[0][1]} … f{run[-1][1]})")
            run = []
    return lines


# ---------------------------------------------------------------------------------------------------- search space
#
# The plan space of a bound as text, from the plan's data.
#
# bound over: whole shards, along axis 0 of 2 (x a b), axis 1 of 2 (c)
# not cut: y (no cut of a sort is known)

MOST_NAMED: Final = 8


def space_lines(plan: ExecutionPlan) -> list[str]:
    """Lines that state the plan space of the bound, and the phases that are not cut."""
    if plan.prediction is None:
        return []
    names = {phase.id: _name(phase) for phase in plan.phases}
    parts = ["whole shards" if plan.space.chunks == 1 else f"at most {plan.space.chunks} chunks a device"]
    if not _is_cuttable(plan):
        parts = ["phases each whole on one device"]
    axes = list(_axes(plan, names))
    parts += ["along any axis"] if plan.space.every_axis and axes else axes
    kinds = {phase.id: [kind for _, kind in phase.axes] for phase in plan.phases}
    cut = [(one.phase, one.axes if plan.space.every_axis else (one.axis,)) for one in plan.space.cuts if one.axis is not None]
    joined = [names.get(id, "") for id, among in cut if {*_kinds(kinds.get(id, ()), among)} == {"reduce"}]
    if joined:
        parts.append(f"partial results at home ({_listed(joined)})")
    if plan.space.dealt:
        parts.append(f"iterations of {_listed([names.get(id, f'#{id}') for id in plan.space.dealt])} on one device or several")
    if plan.space.broadcasts:
        inputs = _listed([names.get(id, f"#{id}") for id in plan.space.broadcasts])
        parts.append(f"{inputs} from home or by scatter and all-gather")
    lines = [f"bound over: {', '.join(parts)}"]
    if plan.space.every_axis and axes:
        lines.append(f"cut {', '.join(axes)}")
    reasons: dict[str, list[str]] = {}
    for one in plan.space.cuts:
        if one.because:
            reasons.setdefault(one.because, []).append(names.get(one.phase, f"#{one.phase}"))
    if reasons:
        lines.append("not cut: " + "; ".join(f"{_listed(phases)} ({because})" for because, phases in reasons.items()))
    return lines


def has_other_axes(plan: ExecutionPlan) -> bool:
    """Could some phase be cut along an axis that the plans of the bound do not use?"""
    return not plan.space.every_axis and any(one.is_chosen for one in plan.space.cuts)


def plans_text(plan: ExecutionPlan) -> str:
    """The plan space in a phrase: `plan of whole shards along these axes`."""
    words = ["plan"]
    if plan.space.chunks > 1:
        words.append(f"with at most {plan.space.chunks} chunks a device")
    elif _is_cuttable(plan):
        words.append("of whole shards")
    if has_other_axes(plan):
        words.append("along these axes")
    return " ".join(words)


def _kinds(kinds: Sequence[str], axes: Iterable[int | None]) -> Iterator[str]:
    """The kinds of these axes of a phase, parallel or reduce."""
    return (kinds[axis] for axis in axes if axis is not None and axis < len(kinds))


def _is_cuttable(plan: ExecutionPlan) -> bool:
    inputs = {phase.id for phase in plan.phases if phase.op == "input"}
    return bool(plan.space.dealt) or any(one.axes and one.phase not in inputs for one in plan.space.cuts)


def _axes(plan: ExecutionPlan, names: Mapping[PhaseId, str]) -> Iterator[str]:
    """The axes that were chosen, each with what is cut along it."""
    chosen: dict[tuple[int | None, int], list[str]] = {}
    for one in plan.space.cuts:
        if one.is_chosen:
            chosen.setdefault((one.axis, len(one.axes)), []).append(names.get(one.phase, f"#{one.phase}"))
    for index, ((axis, count), phases) in enumerate(chosen.items()):
        along = "uncut" if axis is None else f"axis {axis} of {count}"
        yield f"{'along ' if index == 0 and axis is not None else ''}{along} ({_listed(phases)})"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _name(phase: PlannedPhase) -> str:
    named, arrow, _ = phase.label.partition(" ← ")
    return named if arrow else phase.label or f"#{phase.id}"


# ---------------------------------------------------------------------------------------------------- queues
#
# A plan of several devices as text: its prediction, then every queue in order with its fences and waits.
#
# T = 68 ticks (68 µs), lower bound 68: optimal (bound).  Baselines: best single device 80 (1.18×), even split 100 (1.47×)
# cpu0
#   0–10      z ← add [0:6,0:4]             48 B → 48 B
#   ---fence f1
# link0 cpu0–gpu0
#   sync(f1)
#   10–22     x[6:20] cpu0 → gpu0           112 B

_QUEUE_INDENT = "  "


def queues_text(plan: ExecutionPlan) -> str:
    """The plan for people to read."""
    known = {phase.id: phase for phase in plan.phases}
    names = _names(plan)
    sizes = "".join(f" · {name}={number}" for name, number in plan.sizes)
    syncs = sum(isinstance(s, WaitStep) for q in plan.main.queues if q.kind is QueueKind.COMPUTE for s in q.steps)
    transfers = [s for q in plan.main.queues for s in q.steps if isinstance(s, TransferStep)]
    moved = bytes_text(sum(step.bytes for step in transfers))
    lines = [
        f"{plan.schema} · {len(plan.devices)} devices{sizes} · {count_text(syncs, 'sync')} · "
        f"{count_text(len(transfers), 'transfer')}, {moved}"
    ]
    if plan.prediction is not None:
        lines.append(prediction_text(plan))
    busy, peaks = busy_of(plan), dict(plan.main.peak)
    lines += [*space_lines(plan), *chunks_text(plan)]
    lines += [f"obeys: {text}" for text in plan.directives]
    inputs = {phase.id for phase in plan.phases if phase.op == "input"}
    passes, broadcast = [id for id in plan.divided if id not in inputs], [id for id in plan.divided if id in inputs]
    said_of = (("both arms run", plan.speculated), ("in two passes", passes), ("broadcast by scatter and all-gather", broadcast))
    for said, phases in said_of:
        results = [value_text(value, names) for phase in phases if phase in known for value in known[phase].results]
        lines += [f"{said}: {', '.join(results)}"] if results else []
    lines += fold_equal_queues([
        (_heading(queue, busy, peaks, plan),
        *(_QUEUE_INDENT + line for step in queue.steps for line in _queue_step_lines(step, known, names)))
        for queue in plan.main.queues
    ])  # fmt: skip
    idle = ranges([device.id for device in plan.devices if device.id not in busy])
    if idle:
        shown = ", ".join(idle[:8]) + (f" and {len(idle) - 8} more" if len(idle) > 8 else "")
        lines.append(f"idle: {shown}")
    return "\n".join(lines)


def chunks_text(plan: ExecutionPlan) -> list[str]:
    """A line that states which phases run in chunks."""
    parts = ", ".join(f"#{one.phase} in {one.count}" for one in plan.chunks)
    return [f"chunks: {parts}"] if parts else []


_UNITS: Final = {"energy": " mJ", "throughput": " ticks a run"}


def bound_text(plan: ExecutionPlan) -> str:
    """The certified bound, and the gap of the plan to it; empty for a plan without a prediction."""
    prediction = plan.prediction
    if prediction is None:
        return ""
    word, along = prediction.status.value, " along these axes" if has_other_axes(plan) else ""
    if prediction.status is Status.OPTIMAL:
        word = f"optimal{along} ({prediction.proof.method})"
    elif prediction.status is Status.GAP and prediction.objectives and prediction.objectives[0][1]:
        first = prediction.objectives[0][1]
        word = f"gap {100 * (first - prediction.lower_bound) / first:.1f} %" + _narrower_bounds(prediction, first)
    return f"lower bound {prediction.lower_bound}{'' if prediction.status is Status.OPTIMAL else along}: {word}"


def _narrower_bounds(prediction: Prediction, value: int) -> str:
    """Text of the bounds that hold for a subset of the plans."""
    detail = prediction.proof.detail
    parts = [f"; along these axes {bound}{' (optimal)' * (bound == value)}" for name, bound in detail.items() if name == "axes"]
    parts += [f"; the least in whole shards along these axes {bound}" for name, bound in detail.items() if name == "whole"]
    return "".join(parts)


def prediction_text(plan: ExecutionPlan) -> str:
    """One line: the makespan, its bound or gap, the baselines."""
    prediction, tick_ns = plan.prediction, plan.tick_ns
    if prediction is None:
        return ""
    others = ", ".join(
        f"{one.name} {one.ticks} ({one.ticks / prediction.makespan:.2f}×)" if one.ticks is not None and prediction.makespan
        else f"{one.name} {'infeasible' if one.ticks is None else one.ticks}"
        for one in prediction.baselines
    )  # fmt: skip
    values = "".join(f", {amount(name, value, tick_ns)}" for name, value in prediction.objectives if name != "latency")
    end = f"  Baselines: {others}" if others else ""
    time = time_text(prediction.makespan * tick_ns)
    return f"T = {prediction.makespan} ticks ({time}){values}, {bound_text(plan)}.{end}"


def amount(objective: str, value: int, tick_ns: int) -> str:
    """The value of an objective with its unit, such as `energy 924 mJ`."""
    return f"{objective} " + (time_text(value * tick_ns) if objective == "latency" else f"{value}{_UNITS.get(objective, '')}")


def time_text(ns: int) -> str:
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if ns >= size:
            return f"{ns / size:.4g} {unit}"
    return f"{ns} ns"


def busy_of(plan: ExecutionPlan) -> dict[str, int]:
    """By device with work, the ticks in which it computes."""
    busy: dict[str, int] = {}
    for queue in plan.main.queues:
        if queue.kind is QueueKind.COMPUTE:
            timed = RunStep | LoopStep | JoinStep | BranchStep | CellsStep | CombineStep
            steps = [step for step in queue.steps if isinstance(step, timed)]
            if steps:
                busy[queue.device] = busy.get(queue.device, 0) + sum(s.end - s.start for s in steps)
    return busy


def _heading(queue: Queue, busy: Mapping[str, int], peaks: Mapping[DeviceId, int], plan: ExecutionPlan) -> str:
    if queue.kind is QueueKind.COPY:
        return f"{queue.device} copies"
    makespan = plan.prediction.makespan if plan.prediction is not None else 0
    share = f", {100 * busy.get(queue.device, 0) // makespan} % busy" if makespan else ""
    return f"{queue.device}  (memory {bytes_text(peaks.get(queue.device, 0))}{share})"


def _names(plan: ExecutionPlan) -> dict[ValueId, str]:
    names = {value: name for name, value in plan.inputs}
    for phase in plan.phases:
        label, arrow, _ = phase.label.partition(" ← ")
        words = label.split() if arrow else []
        for index, value in enumerate(phase.results):
            if index < len(words):
                names.setdefault(value, words[index])
    for name, value in plan.outputs:
        names.setdefault(value, name)
    return names


def _queue_step_lines(step: Step, known: Mapping[PhaseId, PlannedPhase], names: Mapping[ValueId, str]) -> Iterator[str]:
    match step:
        case JoinStep(rows=None):
            yield f"{_tick_range(step.start, step.end)} for {known[step.phase].label.strip()}"
        case RunStep() | LoopStep() | JoinStep() | BranchStep() | CellsStep():
            phase = known[step.phase]
            box = "" if not isinstance(step, RunStep) or step.box is None else f" {box_text(step.box)}"
            if isinstance(step, LoopStep | JoinStep) and step.rows is not None:
                box = f" rows {step.rows[0]}:{step.rows[1]}, together"
            shown = " ".join(value_text(v, names) for v in phase.results)
            label = phase.label if phase.label != phase.op else f"{phase.op} {shown}"
            if phase.label == phase.op and not phase.results and phase.reads:
                label = f"{phase.op} {value_text(phase.reads[0].value, names)}"
            moved = f"{bytes_text(phase.bytes_read)} → {bytes_text(phase.bytes_written)}" if phase.bytes_written else ""
            yield f"{_tick_range(step.start, step.end)} {label.strip() + box:<40} {moved}".rstrip()
            if isinstance(step, LoopStep) and step.rows is not None:
                yield from _iteration_lines(step, known, names)
        case RowsStep():
            yield f"{'':<14} by rows: {', '.join(known[member].label.strip() for member in step.phases)}"
        case CombineStep():
            results = " ".join(value_text(v, names) for v in known[step.phase].results)
            yield f"{_tick_range(step.start, step.end)} combine {results}"
        case FreeStep():
            box = box_text(step.box)
            where = "" if step.device is None else f" on {step.device}"
            yield f"{'':<14} free {' '.join(value_text(v, names) + box for v in step.values)}{where}"
        case TransferStep():
            box = box_text(step.box)
            what = f"{'partial ' if step.partial else ''}{value_text(step.value, names)}{box}"
            what = f"{what}: {step.source} → {step.target}"
            yield f"{_tick_range(step.start, step.arrive)} {what:<40} {bytes_text(step.bytes)}"
        case FenceStep():
            yield f"---fence f{step.fence}"
        case WaitStep():
            yield f"sync(f{step.fence})"


def _iteration_lines(step: LoopStep, known: Mapping[PhaseId, PlannedPhase], names: Mapping[ValueId, str]) -> Iterator[str]:
    """The lines of an iteration of a distributed loop, queue by queue, in ticks from its start."""
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
                    yield from (f"{'':<18} {line}" for line in _queue_step_lines(inner, known, names))


def _tick_range(start: int, end: int) -> str:
    return f"{f'{start}–{end}':<14}"
