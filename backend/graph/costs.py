"""What each phase costs, as polynomials in the sizes: operations by class, bytes read and written, scratch, parallel axes.

Classes are those of a device profile (scheduling.md 4.1): one per scalar function group for structured phases, one per
library op otherwise; the device's table turns counts into time.  Run-time sizes count at their caps, because buffers have the
cap.  Bytes read count each element as often as it is read (the quantity); `touched` counts an operand once.

A loop costs trip × body (with an index, the sum of its turns), a map frame × body, a fold (length - 1) × body, a branch the
larger arm in each class (sizes have a maximum).

Neighbours: `registry` (work of library ops), `bind` (numbers), `backend.schedule` (modes and their durations).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ...lang.records import dataclass
from ...typechecker.sizes import ONE, ZERO, Size, SizeVariable, capacity, maximum, product, variable
from ...typechecker.turn_sums import at_most_summed, stand_in
from ...typechecker.types import ArrayType
from ..scalar.table import class_of
from . import traverse
from .bind import in_terms_of
from .cells import Operands, cells_of, frame_of
from .phases import (
    ApplyNode,
    AxisKind,
    Branch,
    Constant,
    Fold,
    Graph,
    Input,
    LibraryPhase,
    Loop,
    Map,
    Output,
    Phase,
    Print,
    Structured,
    SubGraph,
    ValueId,
)
from .registry import LIBRARY

Types = Mapping[ValueId, ArrayType]


@dataclass(frozen=True, slots=True)
class Cost:
    """`operations`: counts by class.  `read`, `written`, `touched`, `scratch`: bytes.  `parallel`: the axes that may be cut
    without a combine step, as (result axis, size)."""

    operations: Mapping[str, Size]
    read: Size
    written: Size
    touched: Size
    scratch: Size
    parallel: tuple[tuple[int, Size], ...]

    def total(self) -> Size:
        """All operations together, for a first comparison."""
        found = ZERO
        for count in self.operations.values():
            found = found + count
        return found


FREE: Final = Cost({}, ZERO, ZERO, ZERO, ZERO, ())


def bytes_of(type: ArrayType) -> Size:
    """Bytes of a value's buffer, run-time sizes at their caps."""
    return product(capacity(s) for s in type.shape) * type.element.kind.bytes


def cost_of(phase: Phase, types: Types) -> Cost:
    """The cost of one phase, sub-graphs included."""
    match phase:
        case Structured():
            return _structured(phase, types)
        case LibraryPhase():
            return _library(phase, types)
        case Loop():
            if phase.index is not None:
                return _turns(phase, phase.index, types)
            inner = _block(phase.body, types)
            if phase.until is not None:
                inner = _add(inner, _block(phase.until, types))
            return _times(inner, capacity(phase.trip))
        case Map():
            return _times(_block(phase.body, types), product(capacity(s) for s in phase.frame))
        case Fold():
            return _times(_block(phase.body, types), capacity(types[phase.args[0]].shape[0]))
        case Branch():
            return _either(_block(phase.then, types), _block(phase.otherwise, types))
        case Constant():
            return Cost({}, ZERO, bytes_of(types[phase.result]), ZERO, ZERO, ())
        case Input() | Print() | Output():
            return FREE


def graph_cost(graph: Graph) -> Cost:
    """The whole program's cost (scratch: the most that one phase needs)."""
    return _block(SubGraph((), graph.phases, ()), graph.types)


def _structured(phase: Structured, types: Types) -> Cost:
    sizes = [capacity(a.size) for a in phase.axes]
    points = product(sizes)
    operations: dict[str, Size] = {}
    for node in phase.body:
        if isinstance(node, ApplyNode):
            _count(operations, class_of(node.function), points)
    if not operations and not any(r.reduction for r in phase.results):
        operations["copy"] = points
    for result in phase.results:
        if result.reduction is not None:
            _count(operations, "reduce", points)
    read, touched = ZERO, ZERO
    seen: set[ValueId] = set()
    for item in phase.reads:
        each = types[item.value].element.kind.bytes
        read = read + points * each
        if item.value not in seen:
            touched = touched + bytes_of(types[item.value])
            seen.add(item.value)
    written = _sum(bytes_of(types[r.value]) for r in phase.results)
    parallel = tuple((a, size) for a, size in enumerate(sizes) if phase.axes[a].kind is AxisKind.PARALLEL)
    return Cost(operations, read, written, touched, ZERO, parallel)


def _library(phase: LibraryPhase, types: Types) -> Cost:
    cells = cells_of(phase, types)
    row = LIBRARY[phase.op]
    frame = product(capacity(s) for s in types[phase.results[0]].shape[: frame_of(phase)]) if phase.results else ONE
    operations = {name: capacity(count) * frame for name, count in row.work(cells).items()}
    touched = _sum(bytes_of(types[a]) for a in dict.fromkeys(phase.args))
    written = _sum(bytes_of(types[r]) for r in phase.results)
    parallel = tuple(
        (s.result, capacity(types[phase.results[0]].shape[s.result]))
        for s in phase.signature
        if s.result is not None and s.combine is None
    )
    return Cost(operations, touched, written, touched, row.scratch(Operands(phase, types)), parallel)


def _block(graph: SubGraph, types: Types) -> Cost:
    total = FREE
    for phase in graph.phases:
        total = _add(total, cost_of(phase, types))
    return total


def _turns(phase: Loop, index: SizeVariable, types: Types) -> Cost:
    """The sum over the turns of a loop with an index; scratch is the largest turn's."""
    inside = set(phase.body.params)
    for own in traverse.all_phases(phase.body):
        inside.update(traverse.uses(own), traverse.results(own), *[graph.params for graph in traverse.subgraphs(own)])
    known = {value: types[value] for value in inside}
    turn = in_terms_of(Graph(phase.body.phases, known, {}, (), (), ()), {index: variable(stand_in(index))})
    inner, trip = _block(SubGraph((), turn.phases, ()), turn.types), capacity(phase.trip)

    def over_turns(count: Size) -> Size:
        return at_most_summed(count, index, trip)

    operations = {name: over_turns(count) for name, count in inner.operations.items()}
    scratch = _block(phase.body, types).scratch
    total = Cost(operations, over_turns(inner.read), over_turns(inner.written), over_turns(inner.touched), scratch, ())
    return total if phase.until is None else _add(total, _times(_block(phase.until, types), trip))


def _add(a: Cost, b: Cost) -> Cost:
    operations = dict(a.operations)
    for name, count in b.operations.items():
        _count(operations, name, count)
    return Cost(operations, a.read + b.read, a.written + b.written, a.touched + b.touched, _larger(a.scratch, b.scratch), ())


def _either(a: Cost, b: Cost) -> Cost:
    operations = {
        n: _larger(a.operations.get(n, ZERO), b.operations.get(n, ZERO)) for n in dict.fromkeys([*a.operations, *b.operations])
    }
    return Cost(operations, _larger(a.read, b.read), _larger(a.written, b.written), _larger(a.touched, b.touched),
                _larger(a.scratch, b.scratch), ())  # fmt: skip


def _times(cost: Cost, factor: Size) -> Cost:
    operations = {n: c * factor for n, c in cost.operations.items()}
    return Cost(operations, cost.read * factor, cost.written * factor, cost.touched * factor, cost.scratch, ())


def _count(operations: dict[str, Size], name: str, count: Size) -> None:
    operations[name] = operations.get(name, ZERO) + count


def _larger(a: Size, b: Size) -> Size:
    return a if a == b else maximum(a, b)


def _sum(sizes: Iterable[Size]) -> Size:
    total = ZERO
    for size in sizes:
        total = total + size
    return total
