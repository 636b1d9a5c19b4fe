"""Loading a graph: sizes become numbers and guards are checked before anything runs.

Sizes of inputs and params are substituted everywhere; run-time sizes stay variables, with numbers for caps.  Guards over known
sizes are refused as E701 (all together) when false and dropped when true; guards that mention a run-time size stay in
the graph, to be checked when the size is defined.

Neighbours: `run.binding` reads the sizes from file headers; `backend.schedule` plans the bound graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from math import prod
from typing import Final

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Refused
from ...lang.records import dataclass
from ...typechecker.core_blocks import CoreGuard
from ...typechecker.elements import Element
from ...typechecker.sizes import Size, SizeVariable, number, variable
from ...typechecker.types import ArrayType
from . import traverse
from .phases import (
    Axis,
    Branch,
    Graph,
    LibraryPhase,
    Loop,
    Map,
    Phase,
    Read,
    SizeNode,
    Structured,
    SubGraph,
    ValueId,
)
from .projections import substitute
from .registry import signature_of

_ADDRESSES: Final = 1 << 63


@dataclass(frozen=True, slots=True)
class BoundGraph:
    """A graph whose only size variables are known when run; `sizes` are the numbers that were put in.  `lies`: the stores of
    inputs, by name, and of outputs, by `output NAME`; what is not in one lies at home."""

    graph: Graph
    sizes: Mapping[SizeVariable, int]
    lies: Mapping[str, str] = field(default_factory=dict)


def bind(graph: Graph, sizes: Mapping[SizeVariable, int]) -> BoundGraph:
    """Put in the sizes of inputs and params.

    Refused: E701 for each guard that does not hold, with the numbers substituted; E702 for an array without items whose other
    axes are longer than any memory."""
    problems = [_broken(g, sizes) for g in graph.guards if _known(g, sizes) and not g.holds(sizes)]
    if problems:
        raise Refused(problems)
    bound = _Binder(graph, {v: number(n) for v, n in sizes.items()}).graph()
    for phase in traverse.all_phases(bound):
        for value in traverse.results(phase):
            _require_addresses(phase, bound.types[value])
    return BoundGraph(bound, dict(sizes))


def _require_addresses(phase: Phase, type: ArrayType) -> None:
    """Nobody can step through an empty array whose other axes have more positions than there are addresses."""
    shape = [size.constant for size in type.shape]
    if 0 in shape and prod(n for n in shape if n) * type.element.kind.bytes >= _ADDRESSES:
        shown = " ".join(map(str, type.shape))
        raise Refused([Diagnostic(Code.E702, f"an array of shape {shown} has axes that are longer than any memory", phase.span)])


def in_terms_of(graph: Graph, equal: Mapping[SizeVariable, Size]) -> Graph:
    """The graph with some sizes written in terms of others."""
    return _Binder(graph, equal).graph() if equal else graph


def _known(guard: CoreGuard, sizes: Mapping[SizeVariable, int]) -> bool:
    return all(v in sizes for v in guard.variables())


def _broken(guard: CoreGuard, sizes: Mapping[SizeVariable, int]) -> Diagnostic:
    fact, need = guard.fact, guard.obligation
    mentioned = sorted(guard.variables(), key=lambda v: v.key)
    values = {v.name: sizes[v] for v in mentioned}
    return Diagnostic(
        Code.E701, fact.broken_with(sizes), need.span,
        labels=need.labels, notes=(need.message, *need.notes), goal=str(fact), counterexample=values,
    )  # fmt: skip


class _Binder:
    def __init__(self, graph: Graph, sizes: Mapping[SizeVariable, Size]) -> None:
        self.source = graph
        self.given = frozenset(sizes)
        self.known: dict[SizeVariable, Size] = dict(sizes)
        self.memo: dict[Size, Size] = {}
        self.types: dict[ValueId, ArrayType] = {}

    def graph(self) -> Graph:
        self.types = {v: self.type(t) for v, t in self.source.types.items()}
        guards = tuple(g for g in self.source.guards if not g.variables() <= self.given)
        phases = tuple(self.phase(p) for p in self.source.phases)
        return replace(self.source, phases=phases, types=self.types, guards=guards)

    def size(self, size: Size) -> Size:
        if size.constant is not None:
            return size
        found = self.memo.get(size)
        if found is None:
            for v in size.variables():
                self.variable(v)
            found = self.memo[size] = size.substitute(self.known)
        return found

    def variable(self, v: SizeVariable) -> SizeVariable:
        """A run-time size with its cap as a number; the known sizes are numbers already."""
        if not v.is_runtime:
            return v
        if v not in self.known:
            self.known[v] = variable(v)  # what a cap mentions of itself stays
            cap = None if v.cap is None else self.size(v.cap)
            self.known[v] = variable(SizeVariable(v.name, v.id, v.origin, cap, v.minimum))
        return next(iter(self.known[v].variables()), v)

    def type(self, type: ArrayType) -> ArrayType:
        element = type.element
        if element.below is not None:
            element = Element(element.kind, element.low, element.high, self.size(element.below), element.weak)
        return ArrayType(element, tuple(self.size(s) for s in type.shape), type.permutation)

    def phase(self, phase: Phase) -> Phase:
        phase = traverse.with_subgraphs(phase, self.subgraph)
        match phase:
            case Structured():
                axes = tuple(Axis(self.size(a.size), a.kind) for a in phase.axes)
                space = traverse.axis_sizes(axes)
                reads = tuple(Read(r.value, substitute(r.projection, space, self.size)) for r in phase.reads)
                body = tuple(SizeNode(self.size(n.size)) if isinstance(n, SizeNode) else n for n in phase.body)
                return replace(phase, axes=axes, reads=reads, body=body)
            case LibraryPhase():
                attributes = {name: self.attribute(value) for name, value in phase.attributes.items()}
                defines = tuple(self.variable(v) for v in phase.defines)
                bound = replace(phase, attributes=attributes, defines=defines)
                return replace(bound, signature=signature_of(bound, self.types))
            case Loop():
                index = None if phase.index is None else self.variable(phase.index)
                return replace(phase, trip=self.size(phase.trip), index=index)
            case Branch():
                return replace(phase, defines=tuple((self.variable(v), self.size(a), self.size(b)) for v, a, b in phase.defines))
            case Map():
                return replace(phase, frame=tuple(self.size(s) for s in phase.frame))
            case _:
                return phase

    def subgraph(self, graph: SubGraph) -> SubGraph:
        return replace(graph, phases=tuple(self.phase(p) for p in graph.phases))

    def attribute(self, value: object) -> object:
        if isinstance(value, Size):
            return self.size(value)
        if isinstance(value, tuple):
            return tuple(self.attribute(item) for item in value)
        return value
