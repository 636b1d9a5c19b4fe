"""Rewrites that need numbers for sizes: a branch becomes the arm it takes, a gather at indices that step along an axis becomes
joined slices, and a gather at few computed places a reduction.

Note [Clamped indices].  `x[0⌈(n-1)⌊(⍳n)-k]` reads consecutive rows of x, and repeats the first or last row where the index leaves
x.  It equals a slice of x joined with copies of these rows, and each part flows in tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final, TypeAlias

from ....lang.support.records import dataclass, replace
from ....typechecker.elements import ArrayType, Element, Kind, neutral_element
from ....typechecker.sizes.polynomials import Size, number
from ...graph import traverse
from ...graph.bind_sizes import BoundGraph
from ...graph.partial_graphs import box_view
from ...graph.passes.folding import fold_constants
from ...graph.passes.redundancy import drop_dead, take_known_arms
from ...graph.phases import (
    Affine,
    AffineIndex,
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
    Term,
    ValueId,
    frame_of,
)
from ...graph.registry import signature_of
from ..program_facts.partitioning import shape_of


def with_arm(bound: BoundGraph, wanted: Phase) -> BoundGraph | None:
    """Returns the graph with the arm that a branch takes in its place; None if sizes do not decide which."""
    graph = take_known_arms(bound.graph) if isinstance(wanted, Branch) else bound.graph
    return None if any(phase.id == wanted.id for phase in graph.phases) else BoundGraph(graph, bound.sizes)


# ---------------------------------------------------------------------------------------------------- indices that step


@dataclass(frozen=True, slots=True)
class _ClampedIndex:
    """The index `low ⌈ high ⌊ offset+i` at point i of an axis; a bound of None is no bound."""

    offset: int
    low: int | None = None
    high: int | None = None

    def plus(self, more: int) -> _ClampedIndex:
        low, high = (None if limit is None else limit + more for limit in (self.low, self.high))
        return _ClampedIndex(self.offset + more, low, high)

    def at_least(self, limit: int) -> _ClampedIndex:
        low, high = (None if one is None else max(one, limit) for one in (self.low, self.high))
        return _ClampedIndex(self.offset, limit if low is None else low, high)

    def at_most(self, limit: int) -> _ClampedIndex:
        low, high = (None if one is None else min(one, limit) for one in (self.low, self.high))
        return _ClampedIndex(self.offset, low, limit if high is None else high)


_IndexOrNumber: TypeAlias = _ClampedIndex | int | None


def with_joined_slices(bound: BoundGraph, wanted: Phase) -> BoundGraph | None:
    """Returns the graph in which a gather is replaced by joined slices; None if its indices do not step by one.  See Note
    [Clamped indices]."""
    graph, types = bound.graph, dict(bound.graph.types)
    if not isinstance(wanted, LibraryPhase) or wanted.op != "gather" or frame_of(wanted) or len(wanted.args) != 2:
        return None
    source, shape = wanted.args[0], shape_of(wanted.args[0], types)
    steps, rows = _steps_of(graph, wanted.args[1]), shape_of(wanted.args[1], types)
    if wanted.attributes["axis"] != 0 or wanted.attributes.get("fills") or shape is None or steps is None:
        return None
    assert rows is not None, "indices that step are computed along one axis"
    until = 0 if steps.low is None else max(0, min(rows[0], steps.low - steps.offset))
    since = rows[0] if steps.high is None else max(until, min(rows[0], steps.high + 1 - steps.offset))
    slices = [(steps.low, until), (until + steps.offset, since - until), (steps.high, rows[0] - since)]
    last = [(steps.low, until), (since + steps.offset - 1, since - until), (steps.high, rows[0] - since)]
    if not rows[0] or any(count and (row is None or not 0 <= row < shape[0]) for row, count in (*slices, *last)):
        return None
    builder = _SliceBuilder(wanted, types, traverse.fresh_id(graph), [])
    parts: list[ValueId] = []
    for at, (row, count) in enumerate(slices):
        if row is not None and count:
            parts.append(builder.rows(source, row, count) if at == 1 else builder.repeated(source, row, count))
    builder.join(parts)
    phases = [one for phase in graph.phases for one in (builder.phases if phase.id == wanted.id else (phase,))]
    return BoundGraph(drop_dead(replace(graph, phases=tuple(phases), types=types)), bound.sizes)


MOST_PLACES: Final = 64
"""The most places for which every row is compared with each of them."""


def with_compared_places(bound: BoundGraph, wanted: Phase) -> BoundGraph | None:
    """Returns the graph in which a gather at few places is a reduction of the items whose row is the place, which flows where
    only the places are whole; None if there are many, or if one may lie outside."""
    graph, types = bound.graph, dict(bound.graph.types)
    if not isinstance(wanted, LibraryPhase) or wanted.op != "gather" or frame_of(wanted) or len(wanted.args) != 2:
        return None
    (source, indices), (result,), attributes = wanted.args, wanted.results, wanted.attributes
    shape, places, kind = shape_of(source, types), shape_of(indices, types), types[source].element.kind
    if attributes["axis"] != 0 or attributes.get("fills") or attributes.get("checked") or kind is Kind.CHAR or kind.is_complex:
        return None
    if not shape or places is None or not 0 < prod(places) <= MOST_PLACES or 0 in shape:
        return None
    function, outer = "or" if kind is Kind.BOOL else "max", len(places)
    axes = [Axis(size, AxisKind.PARALLEL) for size in types[result].shape]
    axes.append(Axis(types[source].shape[0], AxisKind.REDUCE))
    along = [AffineIndex((Term(axis, 1),), number(0)) for axis in range(len(axes))]
    cells = (along[-1], *along[outer:-1])
    reads = tuple(
        Read(value, Projection((Affine(tuple(index), types[value].shape),)))
        for value, index in ((source, cells), (indices, along[:outer]))
    )
    position = (ReadNode(1, types[indices].element.kind), ApplyNode("convert", (1,), Kind.I64), AxisNode(len(axes) - 1))
    other = ConstantNode(kind, neutral_element(function, kind))
    item_there = (ApplyNode("eq", (2, 3), Kind.BOOL), other, ApplyNode("select", (4, 0, 5), kind))
    body: tuple[Node, ...] = (ReadNode(0, kind), *position, *item_there)
    results, after = [PhaseResult(result, 6, function)], list[Phase]()
    if kind.is_float:  # the greatest of zeros is 0.0: whether it is ¯0.0 is another reduction
        fresh = traverse.fresh_id(graph)
        item, minus = ValueId(fresh), ValueId(fresh + 1)
        types |= {item: types[result], minus: ArrayType(Element(Kind.BOOL), types[result].shape)}
        zero = (ConstantNode(kind, 0.0), ApplyNode("eq", (0, 7), Kind.BOOL), ApplyNode("and", (4, 8), Kind.BOOL))
        below = (ConstantNode(kind, 1.0), ApplyNode("div", (10, 0), kind), ApplyNode("lt", (11, 7), Kind.BOOL))
        body = (*body, *zero, *below, ApplyNode("and", (9, 12), Kind.BOOL))
        signed = (ReadNode(0, kind), ReadNode(1, Kind.BOOL), ConstantNode(kind, -0.0), ApplyNode("select", (1, 2, 0), kind))
        both = tuple(Read(value, Projection((Affine(tuple(along[:-1]), types[result].shape),))) for value in (item, minus))
        after.append(Structured(PhaseId(fresh), wanted.span, tuple(axes[:-1]), both, signed, (PhaseResult(result, 3, None),)))
        results = [PhaseResult(item, 6, function), PhaseResult(minus, 13, "or")]
    reduction = Structured(wanted.id, wanted.span, tuple(axes), reads, body, tuple(results))
    phases = [one for phase in graph.phases for one in ((reduction, *after) if phase.id == wanted.id else (phase,))]
    return BoundGraph(replace(graph, phases=tuple(phases), types=types), bound.sizes)


@dataclass(slots=True)
class _SliceBuilder:
    gather: LibraryPhase
    types: dict[ValueId, ArrayType]
    fresh: int
    phases: list[Phase]

    def value(self, source: ValueId, shape: Sequence[Size]) -> tuple[ValueId, ArrayType]:
        self.fresh += 1
        type = ArrayType(self.types[source].element, tuple(shape))
        self.types[ValueId(self.fresh)] = type
        return ValueId(self.fresh), type

    def rows(self, source: ValueId, first: int, count: int) -> ValueId:
        shape = self.types[source].shape
        result, type = self.value(source, (number(count), *shape[1:]))
        starts = [first] + [0] * (len(shape) - 1)
        self.phases.append(box_view(PhaseId(self.fresh), self.gather.span, source, shape, starts, type, result))
        return result

    def repeated(self, source: ValueId, row: int, count: int) -> ValueId:
        """Returns `count` copies of a row, which is sliced first."""
        shape = self.types[source].shape
        cell, type = self.value(source, shape[1:])
        axes = range(len(type.shape))
        indices = (AffineIndex((), number(row)), *(AffineIndex((Term(axis, 1),), number(0)) for axis in axes))
        self.phases.append(self.copy(Read(source, Projection((Affine(indices, shape),))), type, cell))
        result, type = self.value(source, (number(count), *shape[1:]))
        indices = tuple(AffineIndex((Term(axis + 1, 1),), number(0)) for axis in axes)
        self.phases.append(self.copy(Read(cell, Projection((Affine(indices, shape[1:]),))), type, result))
        return result

    def copy(self, read: Read, type: ArrayType, result: ValueId) -> Structured:
        axes = tuple(Axis(size, AxisKind.PARALLEL) for size in type.shape)
        body, results = (ReadNode(0, type.element.kind),), (PhaseResult(result, 0, None),)
        return Structured(PhaseId(self.fresh), self.gather.span, axes, (read,), body, results)

    def join(self, parts: Sequence[ValueId]) -> None:
        gather = self.gather
        phase = replace(gather, op="join", args=tuple(parts), attributes={"axis": 0})
        self.phases.append(replace(phase, signature=signature_of(phase, self.types)))


def _steps_of(graph: Graph, indices: ValueId) -> _ClampedIndex | None:
    """Returns the clamped index that a value computes from its axis and constants; None if it has another form."""
    maker = next((phase for phase in fold_constants(graph).phases if indices in traverse.results(phase)), None)
    if not isinstance(maker, Structured) or len(maker.axes) != 1 or maker.axes[0].kind is not AxisKind.PARALLEL:
        return None
    nodes: list[_IndexOrNumber] = []
    for node in maker.body:
        nodes.append(_index_of(node, nodes))
    steps = nodes[next(result.node for result in maker.results if result.value == indices)]
    return steps if isinstance(steps, _ClampedIndex) else None


def _index_of(node: Node, before: Sequence[_IndexOrNumber]) -> _IndexOrNumber:
    match node:
        case AxisNode():
            return _ClampedIndex(0)
        case SizeNode():
            return node.size.constant
        case ConstantNode():
            return node.value if isinstance(node.value, int) and node.kind.is_integer else None
        case ApplyNode() if node.kind.is_integer:
            return _applied(node.function, [before[at] for at in node.args])
        case _:
            return None


def _applied(function: str, args: Sequence[_IndexOrNumber]) -> _IndexOrNumber:
    match function, args:
        case "convert", [arg]:
            return arg
        case ("add" | "min" | "max"), [int(number), _ClampedIndex() as steps]:
            return _applied(function, (steps, number))
        case "add", [_ClampedIndex() as steps, int(number)]:
            return steps.plus(number)
        case "sub", [_ClampedIndex() as steps, int(number)]:
            return steps.plus(-number)
        case "max", [_ClampedIndex() as steps, int(number)]:
            return steps.at_least(number)
        case "min", [_ClampedIndex() as steps, int(number)]:
            return steps.at_most(number)
        case _:
            return None
