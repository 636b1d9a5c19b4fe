"""Loading a graph: sizes become numbers and guards are checked before anything runs.

Sizes of inputs and params are substituted everywhere; run-time sizes stay variables, with numbers for caps.  Guards over known
sizes are refused as E701 (all together) when false and dropped when true; guards that mention a run-time size stay in
the graph, to be checked when the size is defined.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Final

from ...lang.diagnostics.model import Code, Diagnostic, Refused
from ...lang.support.records import dataclass, field, replace
from ...typechecker.core.operations import CoreGuard, Payload
from ...typechecker.elements import ArrayType, Element, Kind
from ...typechecker.sizes.polynomials import ZERO, Size, SizeVariable, number, variable
from . import traverse
from .phases import (
    Affine,
    AffineIndex,
    ApplyNode,
    Axis,
    AxisNode,
    Branch,
    Constant,
    ConstantNode,
    Graph,
    LibraryPhase,
    Loop,
    Map,
    Phase,
    Read,
    ReadNode,
    Shape,
    SizeNode,
    Structured,
    SubGraph,
    Term,
    ValueId,
    substitute,
)
from .registry import signature_of
from .traverse import axis_sizes, results

# ---------------------------------------------------------------------------------------------------- bind

_ADDRESSES: Final = 1 << 63


@dataclass(frozen=True, slots=True)
class BoundGraph:
    """A graph whose only size variables are run-time sizes; `sizes` are the numbers that were substituted for all others.
    `stores`: the store of each stored input, by its name, and of each stored output, by `output NAME`; other inputs and outputs
    are in the client's memory."""

    graph: Graph
    sizes: Mapping[SizeVariable, int]
    stores: Mapping[str, str] = field(default_factory=dict)


def bind(graph: Graph, sizes: Mapping[SizeVariable, int]) -> BoundGraph:
    """Returns the graph with the sizes of inputs and params substituted.

    Refused: E701 for each guard that does not hold, with the numbers substituted; E702 for an empty array whose other axes are
    too long for any address space."""
    problems = [_violation(g, sizes) for g in graph.guards if _known(g, sizes) and not g.holds(sizes)]
    if problems:
        raise Refused(problems)
    bound = _Binder(graph, {v: number(n) for v, n in sizes.items()}).graph()
    for phase in traverse.all_phases(bound):
        for value in traverse.results(phase):
            _require_addresses(phase, bound.types[value])
    return BoundGraph(bound, dict(sizes))


def _require_addresses(phase: Phase, type: ArrayType) -> None:
    """Raises E702 for an empty array whose other axes have more positions than there are addresses: no strides can step through
    it."""
    shape = [size.constant for size in type.shape]
    if 0 in shape and prod(n for n in shape if n) * type.element.kind.bytes >= _ADDRESSES:
        shown = " ".join(map(str, type.shape))
        raise Refused([Diagnostic(Code.E702, f"an array of shape {shown} has axes that are longer than any memory", phase.span)])


def substitute_sizes(graph: Graph, equal: Mapping[SizeVariable, Size]) -> Graph:
    """The graph with some sizes written in terms of others."""
    return _Binder(graph, equal).graph() if equal else graph


def _known(guard: CoreGuard, sizes: Mapping[SizeVariable, int]) -> bool:
    return all(v in sizes for v in guard.variables())


def _violation(guard: CoreGuard, sizes: Mapping[SizeVariable, int]) -> Diagnostic:
    fact, need = guard.fact, guard.obligation
    mentioned = sorted(guard.variables(), key=lambda v: v.key)
    values = {v.name: sizes[v] for v in mentioned}
    return Diagnostic(
        Code.E701, fact.describe_failure(sizes), need.span,
        labels=need.labels, notes=(need.message, *need.notes), goal=str(fact), counterexample=values,
    )  # fmt: skip


class _Binder:
    def __init__(self, graph: Graph, sizes: Mapping[SizeVariable, Size]) -> None:
        self.source = graph
        self.substituted = frozenset(sizes)
        self.known: dict[SizeVariable, Size] = dict(sizes)
        self.memo: dict[Size, Size] = {}
        self.types: dict[ValueId, ArrayType] = {}

    def graph(self) -> Graph:
        self.types = {v: self.type(t) for v, t in self.source.types.items()}
        guards = tuple(g for g in self.source.guards if not g.variables() <= self.substituted)
        phases = tuple(self.phase(p) for p in self.source.phases)
        return replace(self.source, phases=phases, types=self.types, guards=guards)

    def size(self, size: Size) -> Size:
        if size.constant is not None:
            return size
        bound_size = self.memo.get(size)
        if bound_size is None:
            for v in size.variables():
                self.variable(v)
            bound_size = self.memo[size] = size.substitute(self.known)
        return bound_size

    def variable(self, v: SizeVariable) -> SizeVariable:
        """A run-time size with its cap as a number; other sizes are numbers already."""
        if not v.is_runtime:
            return v
        if v not in self.known:
            self.known[v] = variable(v)  # a cap may mention its own variable
            cap = None if v.cap is None else self.size(v.cap)
            self.known[v] = variable(SizeVariable(v.name, v.id, v.origin, cap, v.minimum))
        return next(iter(self.known[v].variables()), v)

    def type(self, type: ArrayType) -> ArrayType:
        element = type.element
        if element.index_bound is not None:
            element = Element(element.kind, element.low, element.high, self.size(element.index_bound), element.weak)
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


# ----------------------------------------------------------------------------------- evenly stepping values
#
# Constant propagation over phases: scalars that are literals, and integer arrays that are affine functions of their indices.

@dataclass(frozen=True, slots=True)
class IndexSteps:
    """An integer array whose element at index i is Σ coefficients[a] × i[a] + constant, such as `3+2×⍳n`: ((2,), 3)."""

    coefficients: tuple[int, ...]
    constant: Size

    def plus(self, other: IndexSteps, sign: int = 1) -> IndexSteps:
        pairs = zip(self.coefficients, other.coefficients, strict=True)
        return IndexSteps(tuple(a + sign * b for a, b in pairs), self.constant + other.constant * sign)

    def times(self, factor: int) -> IndexSteps:
        return IndexSteps(tuple(a * factor for a in self.coefficients), self.constant * factor)

    def index(self, first: int) -> AffineIndex:
        """The index over an iteration space whose axes from `first` are the array's."""
        return AffineIndex(tuple(Term(first + a, c) for a, c in enumerate(self.coefficients) if c), self.constant)

    def through(self, read: Read, rank: int) -> IndexSteps | None:
        """The same values as a function of the points of a space of `rank` axes that reads the array; None if the read is not
        affine."""
        match read.projection.stages:
            case ():
                return self
            case (Affine(indices, _, False),):
                total = IndexSteps((0,) * rank, self.constant)
                for index, coefficient in zip(indices, self.coefficients, strict=True):
                    terms = {term.axis: term.coefficient for term in index.terms}
                    steps = IndexSteps(tuple(terms.get(axis, 0) for axis in range(rank)), index.constant)
                    total = total.plus(steps.times(coefficient))
                return total
            case _:
                return None

    @property
    def constant_value(self) -> int | None:
        """The array's one value if it is a scalar; otherwise None."""
        return None if any(self.coefficients) else self.constant.constant


class KnownValues:
    """Scalars and evenly stepping arrays among the results of `phases` (outer phases come before those inside them)."""

    def __init__(self, phases: Iterable[Phase], types: Mapping[ValueId, ArrayType]) -> None:
        self.literals: dict[ValueId, Payload] = {}
        """Scalars that are constants of the program."""
        self.steps: dict[ValueId, IndexSteps] = {}
        """Arrays of i64 that step evenly."""
        for phase in phases:
            if isinstance(phase, Constant) and not types[phase.result].shape:
                self.literals[phase.result] = phase.data[0]
            if not isinstance(phase, Structured | Constant) or types[results(phase)[0]].element.kind is not Kind.I64:
                continue
            if isinstance(phase, Structured):
                steps = self.computed(phase)
            else:
                steps = _steps_of_data(phase.data, types[phase.result].shape)
            if steps is not None:
                self.steps[results(phase)[0]] = steps

    def computed(self, phase: Structured) -> IndexSteps | None:
        """The affine function of its axes that a phase computes."""
        (first, *others), rank = phase.results, len(axis_sizes(phase.axes))
        if others or first.reduction is not None or len(phase.body) > _MOST_NODES:
            return None
        node_steps: list[IndexSteps | None] = []
        for node in phase.body:
            match node:
                case AxisNode():
                    node_steps.append(IndexSteps(tuple(int(a == node.axis) for a in range(rank)), ZERO))
                case SizeNode():
                    node_steps.append(IndexSteps((0,) * rank, node.size))
                case ConstantNode():
                    value = node.value if isinstance(node.value, int) and node.kind is Kind.I64 else None
                    node_steps.append(None if value is None else IndexSteps((0,) * rank, number(int(value))))
                case ApplyNode():
                    node_steps.append(_applied(node, [node_steps[a] for a in node.args]))
                case ReadNode():
                    read = phase.reads[node.index]
                    steps = self.steps.get(read.value)
                    node_steps.append(None if steps is None else steps.through(read, rank))
        return node_steps[first.node]


_MOST_NODES: Final = 32


def _applied(node: ApplyNode, args: Sequence[IndexSteps | None]) -> IndexSteps | None:
    known = [a for a in args if a is not None]
    if len(known) != len(args) or node.kind is not Kind.I64:
        return None
    match node.function, known:
        case "add", [left, right]:
            return left.plus(right)
        case "sub", [left, right]:
            return left.plus(right, -1)
        case "neg", [arg]:
            return arg.times(-1)
        case "convert", [arg]:
            return arg
        case "mul", [left, right]:
            if left.constant_value is not None:
                return right.times(left.constant_value)
            return left.times(right.constant_value) if right.constant_value is not None else None
    return None


def _steps_of_data(data: tuple[Payload, ...], shape: Shape) -> IndexSteps | None:
    """The affine function of the index that yields these integers (row-major); None if there is none."""
    numbers = [int(v) for v in data if isinstance(v, int)]
    if not numbers or len(numbers) != len(data):
        return None
    sizes = [s.constant or 0 for s in shape]
    strides = [1] * len(sizes)
    for a in range(len(sizes) - 2, -1, -1):
        strides[a] = strides[a + 1] * sizes[a + 1]
    first = numbers[0]
    steps = tuple(numbers[stride] - first if n > 1 else 0 for n, stride in zip(sizes, strides, strict=True))
    for flat, value in enumerate(numbers):
        if value != first + sum(flat // stride % n * step for n, stride, step in zip(sizes, strides, steps, strict=True)):
            return None
    return IndexSteps(steps, number(first))


NO_KNOWN_VALUES: Final = KnownValues((), {})
