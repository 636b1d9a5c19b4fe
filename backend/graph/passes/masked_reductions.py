"""Masked reductions: `+/m/x` of integers sums `x` where the mask holds and 0 elsewhere, without selecting, and `≢m/x` counts the
mask.

The pass also rewrites inside maps; a map without a run-time size left is batched then (`sink_into_maps.batch_maps`).

Only reductions that are exact in any order qualify, since the order of float sums depends on which items are selected.  The
selection is dropped, so every reader must be such a reduction, with little arithmetic, along the selected axis.  If something
else uses the number of selected items, the mask is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Final

from ....lang.support.records import replace
from ....typechecker.core.operations import Payload
from ....typechecker.elements import FUNCTIONS, ArrayType, Element, Kind, is_ordered, neutral_element
from ....typechecker.sizes.polynomials import Size, SizeVariable, variable as size_of
from ...scalar.function_table import LIGHT, REDUCTIONS
from ..phases import (
    Affine,
    ApplyNode,
    Axis,
    AxisKind,
    AxisNode,
    Branch,
    ConstantNode,
    Graph,
    LibraryPhase,
    Node,
    Phase,
    PhaseId,
    PhaseResult,
    Projection,
    Read,
    ReadNode,
    SizeNode,
    Structured,
    SubGraph,
    ValueId,
    affine,
    axis_index,
    frame_of,
    kind_of,
)
from ..traverse import all_phases, axis_sizes, results, sizes, subgraphs, uses, with_subgraphs
from .folding import fold_views
from .fusion import fuse, join_siblings
from .rewriting import body_may_fail
from .sink_into_maps import batch_maps

_MOST_NODES: Final = 12
"""Larger bodies cost less on the selected items alone."""
_COUNTED: Final = frozenset({"compress", "where"})


def reduce_by_masks(graph: Graph) -> Graph:
    """Returns the graph with reductions of masked selections rewritten to masked reductions."""
    rewriter = _Masked(graph)
    phases = rewriter.block(graph.phases, ())
    if phases is graph.phases:
        return graph
    phases = batch_maps(phases, rewriter.types)
    names = {value: name for value, name in graph.names.items() if value in rewriter.types}
    return join_siblings(fuse(fold_views(replace(graph, phases=phases, types=rewriter.types, names=names))))


class _Masked:
    def __init__(self, graph: Graph) -> None:
        self.graph, self.types = graph, dict(graph.types)
        self.guarded = {variable for guard in graph.guards for variable in guard.variables()}
        self.counted: set[PhaseId] = set()
        self.values = _defined(graph.phases)
        self.next_value = max(self.types, default=0) + 1
        self.next_phase = max((phase.id for phase in all_phases(graph)), default=0) + 1

    def block(self, phases: tuple[Phase, ...], wanted: tuple[ValueId, ...]) -> tuple[Phase, ...]:
        """The phases of a block whose results are `wanted`; the same object if nothing changed.

        Arms of branches stay as they are, since the run-time sizes that they define are visible outside."""
        inner = tuple(phase if isinstance(phase, Branch) else with_subgraphs(phase, self.subgraph) for phase in phases)
        rewritten = phases if all(a is b for a, b in zip(inner, phases, strict=True)) else inner
        for phase in rewritten:
            if not isinstance(phase, LibraryPhase) or phase.op not in _COUNTED or frame_of(phase) or len(phase.defines) != 1:
                continue
            without = None if phase.results[0] in wanted else self.without_selection(rewritten, phase)
            if without is not None:
                rewritten = without
                self.forget(phase.defines[0], self.values - _defined(phases) | _defined(rewritten))
        return rewritten if rewritten is phases else self.with_numbers(rewritten)

    def subgraph(self, sub: SubGraph) -> SubGraph:
        phases = self.block(sub.phases, sub.results)
        return sub if phases is sub.phases else replace(sub, phases=phases)

    def without_selection(self, phases: tuple[Phase, ...], selection: LibraryPhase) -> tuple[Phase, ...] | None:
        """The phases with the readers of a selection rewritten to masked reductions; None if some reader cannot be."""
        (value,), mask, (variable,) = selection.results, selection.args[0], selection.defines
        mask_shape = self.types[mask].shape
        if value in self.graph.roots or len(mask_shape) != 1:
            return None
        rewritten: list[Phase] = []
        for phase in phases:
            if phase is selection or value not in uses(phase):
                rewritten.append(phase)
            elif isinstance(phase, Structured) and (reader := self.reader(phase, selection, mask_shape[0])) is not None:
                rewritten.append(reader)
            else:
                return None
        others = [inner for phase in rewritten if phase is not selection for inner in all_phases(SubGraph((), (phase,), ()))]
        position = rewritten.index(selection)
        is_wanted = any(variable in size.variables() for size in self.mentioned(others, _defined(others)))
        counted = is_wanted or variable in self.guarded
        rewritten[position : position + 1] = self.count(selection, mask, mask_shape[0]) if counted else []
        return tuple(rewritten)

    def forget(self, variable: SizeVariable, alive: Set[ValueId]) -> None:
        """Drop the types that mention a size which no phase defines any more, including those of values that earlier passes fused
        away."""
        for other, type in list(self.types.items()):
            if other not in alive and any(variable in size.variables() for size in type.shape):
                del self.types[other]

    def mentioned(self, phases: Iterable[Phase], values: Iterable[ValueId]) -> list[Size]:
        return [size for phase in phases for size in sizes(phase)] + [size for v in values for size in self.types[v].shape]

    def with_numbers(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        """Read the count as a value instead of a run-time size where no shape mentions that size any more."""
        for phase in phases:
            if not isinstance(phase, LibraryPhase) or phase.id not in self.counted:
                continue
            (variable,), every = phase.defines, [p for p in all_phases(SubGraph((), phases, ())) if p is not phase]
            numbers = [n.size for p in every if isinstance(p, Structured) for n in p.body if isinstance(n, SizeNode)]
            mentions = [size for size in self.mentioned(every, _defined(every)) if variable in size.variables()]
            if variable not in self.guarded and mentions == [size_of(variable)] * numbers.count(size_of(variable)):
                phases = tuple(_with_size_value(p, variable, phase.args[0]) for p in phases if p is not phase)
        return phases

    def count(self, selection: LibraryPhase, mask: ValueId, length: Size) -> list[Phase]:
        """The phases that count the mask and define the selection's size by it."""
        value = ValueId(self.next_value)
        self.next_value += 1
        self.types[value] = ArrayType(Element(Kind.I64), ())
        axes, reads = (Axis(length, AxisKind.REDUCE),), (Read(mask, Projection(())),)
        body = (ReadNode(0, Kind.BOOL), ApplyNode("convert", (0,), Kind.I64))
        counting = Structured(self.phase_id(), selection.span, axes, reads, body, (PhaseResult(value, 1, "add"),))
        self.counted.add(PhaseId(self.next_phase))
        size = LibraryPhase(self.phase_id(), selection.span, "runtime_size", (value,), (), {}, selection.defines, ())
        return [counting, size]

    def phase_id(self) -> PhaseId:
        self.next_phase += 1
        return PhaseId(self.next_phase - 1)

    # ------------------------------------------------------------------------------------------ readers

    def reader(self, phase: Structured, selection: LibraryPhase, length: Size) -> Structured | None:
        """The masked reduction over all items for a reduction of the selected items; None if it is not exact or not light."""
        if (
            selection.op != "compress"
            or not phase.axes
            or phase.axes[-1].kind is not AxisKind.REDUCE
            or not _is_light(phase.body)
        ):
            return None
        (variable,), last = selection.defines, len(phase.axes) - 1
        if any(isinstance(n, SizeNode) and variable in n.size.variables() for n in phase.body):
            return None  # only one device would know the size, but the reduction may be cut over several
        if phase.axes[last].size != self.types[selection.results[0]].shape[_axis(selection)] or any(
            isinstance(n, AxisNode) and n.axis == last for n in phase.body
        ):
            return None
        blanks = [_neutral(result, kind_of(phase.body[result.node]), variable) for result in phase.results]
        if None in blanks:
            return None
        axes = (*phase.axes[:last], replace(phase.axes[last], size=length))
        old, new = axis_sizes(phase.axes), axis_sizes(axes)
        mask, source = selection.args
        axis = _axis(selection)
        reads: list[Read] = []
        for read in phase.reads:
            if read.value != selection.results[0]:
                if _depends_on_axis(read.projection, last):
                    return None
                reads.append(read)
                continue
            if not read.projection.stages:
                if axis != last or self.types[read.value].shape != old or self.types[source].shape != new:
                    return None
                reads.append(Read(source, read.projection))
                continue
            moved = _widened(read.projection, axis, last, length)
            if moved is None or self.types[source].shape[axis] != length:
                return None
            reads.append(Read(source, moved))
        body: list[Node] = list(phase.body)
        body.append(ReadNode(len(reads), Kind.BOOL))
        reads.append(Read(mask, affine(new, [axis_index(last)], (length,))))
        held = len(body) - 1
        masked: list[PhaseResult] = []
        for result, blank in zip(phase.results, blanks, strict=True):
            kind = kind_of(phase.body[result.node])
            assert blank is not None
            body.append(ConstantNode(kind, blank))
            body.append(ApplyNode("select", (held, result.node, len(body) - 1), kind))
            masked.append(replace(result, node=len(body) - 1))
        return replace(phase, axes=axes, reads=tuple(reads), body=tuple(body), results=tuple(masked))


def _defined(phases: Iterable[Phase]) -> set[ValueId]:
    """The values that phases define, also in their sub-graphs."""
    every = list(all_phases(SubGraph((), tuple(phases), ())))
    return {value for p in every for value in (*results(p), *(param for sub in subgraphs(p) for param in sub.params))}


def _with_size_value(phase: Phase, variable: SizeVariable, value: ValueId) -> Phase:
    """The phase and those inside it reading `value` where their bodies mention the size."""

    def inside(sub: SubGraph) -> SubGraph:
        return replace(sub, phases=tuple(_with_size_value(p, variable, value) for p in sub.phases))

    phase = with_subgraphs(phase, inside)
    if not isinstance(phase, Structured) or SizeNode(size_of(variable)) not in phase.body:
        return phase
    read = Read(value, affine(axis_sizes(phase.axes), (), ()))
    new = ReadNode(len(phase.reads), Kind.I64)
    body = tuple(new if node == SizeNode(size_of(variable)) else node for node in phase.body)
    return replace(phase, reads=(*phase.reads, read), body=body)


def _axis(selection: LibraryPhase) -> int:
    axis = selection.attributes.get("axis", 0)
    assert isinstance(axis, int)
    return axis


def _is_light(body: Sequence[Node]) -> bool:
    if len(body) > _MOST_NODES or body_may_fail(body):
        return False
    return all(n.function in LIGHT for n in body if isinstance(n, ApplyNode))


def _neutral(result: PhaseResult, kind: Kind, variable: SizeVariable) -> Payload | None:
    """The reduction's neutral value.  None if the order of items matters, or if there is none and the selection may be empty."""
    function = result.reduction or ""
    if kind.is_complex or kind is Kind.CHAR or function not in REDUCTIONS or is_ordered(function, kind):
        return None
    if FUNCTIONS[function].identity is None and variable.minimum < 1:
        return None
    value = neutral_element(function, kind)
    return bool(value) if kind is Kind.BOOL else value


def _depends_on_axis(projection: Projection, axis: int) -> bool:
    """May the element that is read depend on the axis?"""
    first = projection.stages[0] if projection.stages else None
    return not isinstance(first, Affine) or any(term.axis == axis for index in first.indices for term in index.terms)


def _widened(projection: Projection, axis: int, last: int, length: Size) -> Projection | None:
    """The projection into the unselected operand, whose `axis` has `length` items and is indexed by the reduce axis alone."""
    if len(projection.stages) != 1:
        return None
    (stage,) = projection.stages
    if not isinstance(stage, Affine) or stage.fills:
        return None
    for position, index in enumerate(stage.indices):
        terms = [(term.axis, term.coefficient) for term in index.terms]
        if (position == axis) != any(term_axis == last for term_axis, _ in terms):
            return None
        if position == axis and (terms != [(last, 1)] or index.constant.constant != 0):
            return None
    shape = (*stage.shape[:axis], length, *stage.shape[axis + 1 :])
    return Projection((replace(stage, shape=shape),))
