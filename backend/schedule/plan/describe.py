"""Phases in numbers and words: what a plan says about each of them.

Iteration axes are named i j k …; an operand's read is rendered through its projection, `x[i;2j+1]`, a row-major
reinterpretation as `x[⟨i j⟩ as 6]`, a read that may leave the operand with `·` after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ....typechecker.sizes import Size
from ...graph import traverse
from ...graph.cells import is_unread
from ...graph.costs import Types, cost_of
from ...graph.phases import (
    Affine,
    AffineIndex,
    ApplyNode,
    AxisNode,
    Choice,
    Decision,
    Graph,
    LibraryPhase,
    Output,
    Phase,
    Print,
    Projection,
    ReadNode,
    Structured,
    ValueId,
)
from .model import Plan, RowsStep, RunStep, inside, phases_of
from .parts import DeviceId, PlannedPhase, PlannedRead

Number = Callable[[Size], int]


def describe(phase: Phase, graph: Graph, number: Number, device: DeviceId, scratch: int) -> PlannedPhase:
    """`scratch`: what its step needs beside operands and results (`one_device`)."""
    cost = cost_of(phase, graph.types)
    axes = tuple((number(a.size), a.kind.value) for a in phase.axes) if isinstance(phase, Structured) else ()
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


def written_over(graph: Graph, plan: Plan) -> list[Decision]:
    """The results that the program names and that take the buffer of an operand which is not read again."""
    phases = {phase.id: phase for phase in traverse.all_phases(graph)}
    found: list[Decision] = []
    pending = [plan.main]
    while pending:
        for step in (step for queue in pending.pop().queues for step in queue.steps):
            pending += inside(step)
            over = step.overwrite if isinstance(step, RunStep | RowsStep) else None
            if over is None:
                continue
            phase = phases[phases_of(step)[-1]]
            first = step.results[0] if isinstance(step, RowsStep) else traverse.results(phase)[0]
            if first in graph.names:
                why = f"written over {graph.names.get(over, 'its operand')}, whose last read this is"
                found.append(Decision(Choice.IN_PLACE, graph.names[first], why, phase.span))
    return found


def op_name(phase: Phase) -> str:
    """`map`, `reduce` or `view` for a structured phase, the library op's name, or the control phase's."""
    match phase:
        case Structured():
            if any(r.reduction for r in phase.results):
                return "reduce"
            return "view" if all(isinstance(phase.body[r.node], ReadNode) for r in phase.results) else "map"
        case LibraryPhase():
            return "sort" if "sorts" in phase.attributes else phase.op
        case _:
            return type(phase).__name__.lower()


def label(phase: Phase, graph: Graph) -> str:
    """The names that the program gives the results, and the functions at work; an output or what is printed by its own."""
    if isinstance(phase, Output):
        return f"output {phase.name}"
    if isinstance(phase, Print):
        return f"print {graph.names.get(phase.arg, '')}".strip()
    names = " ".join(graph.names[v] for v in traverse.results(phase) if v in graph.names)
    work = _work(phase)
    return f"{names} ← {work}" if names else work


def _work(phase: Phase) -> str:
    if is_unread(phase):
        return f"{op_name(phase)} that nobody reads"
    if not isinstance(phase, Structured):
        return op_name(phase)
    functions = [node.function for node in phase.body if isinstance(node, ApplyNode)]
    functions += [f"{r.reduction}/" for r in phase.results if r.reduction is not None]
    if functions:
        return " ".join(functions)
    return "iota" if any(isinstance(node, AxisNode) for node in phase.body) else op_name(phase)


def _reads(phase: Phase, types: Types, number: Number) -> tuple[PlannedRead, ...]:
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


def render_projection(projection: Projection, rank: int, number: Number) -> str:
    """The index of a read, in terms of the iteration axes."""
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
                current = [f"({current[0]}).{place}" for place in range(len(stage.target))]
    return f"[{';'.join(current)}]{fills}"


def _index(index: AffineIndex, names: Sequence[str], number: Number) -> str:
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
