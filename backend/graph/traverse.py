"""Operands, results and sub-graphs of phases, and renaming: the only module that knows every field of every phase.

Invariant: a value, a size variable or a sub-graph that a phase mentions is found here, so that passes, the verifier, binding
and the scheduler need no `match` of their own to follow data flow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from ...lang.support.records import replace
from ...typechecker.sizes.polynomials import Size, SizeVariable
from .phases import (
    Affine,
    Axis,
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
    Projection,
    Reshaped,
    SizeNode,
    Structured,
    SubGraph,
    ValueId,
)


def results(phase: Phase) -> tuple[ValueId, ...]:
    """The values a phase defines."""
    match phase:
        case Structured():
            return tuple(r.value for r in phase.results)
        case Input() | Constant():
            return (phase.result,)
        case Print() | Output():
            return ()
        case LibraryPhase() | Loop() | Branch() | Map() | Fold():
            return phase.results


def operands(phase: Phase) -> tuple[ValueId, ...]:
    """The values that a phase reads directly, without what its sub-graphs capture."""
    match phase:
        case Structured():
            return tuple(r.value for r in phase.reads)
        case Input() | Constant():
            return ()
        case Print() | Output():
            return (phase.arg,)
        case LibraryPhase() | Map() | Fold():
            return phase.args
        case Loop():
            return (*phase.cells, *phase.initial)
        case Branch():
            return (phase.condition,)


def subgraphs(phase: Phase) -> tuple[SubGraph, ...]:
    match phase:
        case Loop():
            return (phase.body,) if phase.until is None else (phase.body, phase.until)
        case Branch():
            return (phase.then, phase.otherwise)
        case Map() | Fold():
            return (phase.body,)
        case _:
            return ()


def with_subgraphs(phase: Phase, change: Callable[[SubGraph], SubGraph]) -> Phase:
    """The phase with each sub-graph replaced; the same object when nothing changed."""
    old = subgraphs(phase)
    if not old:
        return phase
    new = tuple(change(s) for s in old)
    if all(a is b for a, b in zip(old, new, strict=True)):
        return phase
    match phase:
        case Loop():
            return replace(phase, body=new[0], until=new[1] if phase.until is not None else None)
        case Branch():
            return replace(phase, then=new[0], otherwise=new[1])
        case Map() | Fold():
            return replace(phase, body=new[0])
        case _:
            return phase


def defines(phase: Phase) -> tuple[SizeVariable, ...]:
    """The run-time sizes that are known once the phase has run."""
    match phase:
        case LibraryPhase():
            return phase.defines
        case Branch():
            return tuple(variable for variable, _, _ in phase.defines)
        case _:
            return ()


def uses(phase: Phase) -> Iterator[ValueId]:
    """Every value read, also inside sub-graphs (their own values included)."""
    pending: list[Phase] = [phase]
    while pending:
        current = pending.pop()
        yield from operands(current)
        for graph in subgraphs(current):
            yield from graph.results
            pending.extend(graph.phases)


def sizes(phase: Phase) -> Iterator[Size]:
    """The sizes that a phase mentions directly: not in its sub-graphs, not in the types of its values."""
    match phase:
        case Structured():
            for axis in phase.axes:
                yield axis.size
            for node in phase.body:
                if isinstance(node, SizeNode):
                    yield node.size
            for read in phase.reads:
                yield from projection_sizes(read.projection)
        case LibraryPhase():
            for value in phase.attributes.values():
                if isinstance(value, Size):
                    yield value
                elif isinstance(value, tuple):
                    yield from (item for item in value if isinstance(item, Size))
        case Loop():
            yield phase.trip
        case Branch():
            for _, then, otherwise in phase.defines:
                yield then
                yield otherwise
        case Map():
            yield from phase.frame
        case _:
            return


def projection_sizes(projection: Projection) -> Iterator[Size]:
    for stage in projection.stages:
        match stage:
            case Affine():
                for index in stage.indices:
                    yield index.constant
                yield from stage.shape
            case Reshaped():
                yield from stage.source
                yield from stage.target


def rename_operands(phase: Phase, names: Mapping[ValueId, ValueId]) -> Phase:
    """The phase reading `names[v]` instead of each operand v in `names`; its sub-graphs and results are unchanged."""

    def new(values: tuple[ValueId, ...]) -> tuple[ValueId, ...]:
        return tuple(names.get(v, v) for v in values)

    match phase:
        case Structured():
            return replace(phase, reads=tuple(replace(r, value=names.get(r.value, r.value)) for r in phase.reads))
        case Print() | Output():
            return replace(phase, arg=names.get(phase.arg, phase.arg))
        case LibraryPhase() | Map() | Fold():
            return replace(phase, args=new(phase.args))
        case Loop():
            return replace(phase, initial=new(phase.initial), cells=new(phase.cells))
        case Branch():
            return replace(phase, condition=names.get(phase.condition, phase.condition))
        case Input() | Constant():
            return phase


def fresh_id(graph: Graph) -> int:
    """An id greater than that of every value and phase."""
    return 1 + max([*map(int, graph.types), *(int(phase.id) for phase in all_phases(graph))])


def all_phases(graph: Graph | SubGraph) -> Iterator[Phase]:
    """Every phase, outer before inner, in order within a block."""
    pending: list[tuple[Phase, ...]] = [graph.phases]
    while pending:
        for phase in pending.pop():
            yield phase
            pending.extend(s.phases for s in subgraphs(phase))


def mentions(graph: Graph) -> Counter[ValueId]:
    """By value, how often it is an operand of a phase or a result of a body."""
    count: Counter[ValueId] = Counter()
    for phase in all_phases(graph):
        count.update(operands(phase))
        for sub in subgraphs(phase):
            count.update(sub.results)
    return count


def axis_sizes(axes: tuple[Axis, ...]) -> tuple[Size, ...]:
    return tuple(axis.size for axis in axes)
