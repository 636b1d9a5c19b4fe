"""Gathers by evenly stepping indices are views: `x[3+⍳4]`, `x[n-1]`, every other row.

The index array must be an affine function of its own axes (a constant that steps evenly, or a generator such as `c+k×⍳n`), and
either proved in range by the checker or evidently in range here; a gather that has to check its indices stays one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....lang.records import dataclass
from ....typechecker.core import Payload
from ....typechecker.elements import Kind
from ....typechecker.sizes import ZERO, Size, number
from ..phases import (
    Affine,
    AffineIndex,
    ApplyNode,
    Axis,
    AxisKind,
    AxisNode,
    Constant,
    ConstantNode,
    Graph,
    LibraryPhase,
    Phase,
    Read,
    ReadNode,
    Result,
    SizeNode,
    Structured,
    SubGraph,
    Term,
    ValueId,
)
from ..projections import Shape, affine, axis_index, in_bounds
from ..traverse import axis_sizes, with_subgraphs
from .rewriting import has_reduction


@dataclass(frozen=True, slots=True)
class _Steps:
    """Σ coefficient × axis + constant over an array's own axes."""

    coefficients: tuple[int, ...]
    constant: Size

    def plus(self, other: _Steps, sign: int = 1) -> _Steps:
        pairs = zip(self.coefficients, other.coefficients, strict=True)
        return _Steps(tuple(a + sign * b for a, b in pairs), self.constant + other.constant * sign)

    def times(self, factor: int) -> _Steps:
        return _Steps(tuple(a * factor for a in self.coefficients), self.constant * factor)

    def index(self, first: int) -> AffineIndex:
        """The index over an iteration space whose axes from `first` are the array's."""
        return AffineIndex(tuple(Term(first + a, c) for a, c in enumerate(self.coefficients) if c), self.constant)

    @property
    def alone(self) -> int | None:
        """The number this is, if it is one."""
        return None if any(self.coefficients) else self.constant.constant


def gathers_to_views(graph: Graph) -> Graph:
    """See the module."""
    phases = _Rewriting(graph).block(graph.phases)
    return graph if phases is graph.phases else replace(graph, phases=phases)


class _Rewriting:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.steps: dict[ValueId, _Steps] = {}

    def block(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        """The same object if nothing is found."""
        made = tuple(self.phase(p) for p in phases)
        return phases if all(a is b for a, b in zip(made, phases, strict=True)) else made

    def subgraph(self, graph: SubGraph) -> SubGraph:
        phases = self.block(graph.phases)
        return graph if phases is graph.phases else replace(graph, phases=phases)

    def phase(self, phase: Phase) -> Phase:
        match phase:
            case Structured():
                found = generator_steps(phase)
                if found is not None:
                    self.steps[phase.results[0].value] = found
            case Constant():
                found = constant_steps(phase.data, self.graph.types[phase.result].shape)
                if found is not None:
                    self.steps[phase.result] = found
            case LibraryPhase() if phase.op == "gather" and "frame" not in phase.attributes and not phase.attributes["fills"]:
                return self.gather(phase)
            case _:
                return with_subgraphs(phase, self.subgraph)
        return phase

    def gather(self, phase: LibraryPhase) -> Phase:
        arg, indices, *_ = phase.args
        steps, axis = self.steps.get(indices), phase.attributes["axis"]
        if steps is None or not isinstance(axis, int):
            return phase
        shape = self.graph.types[arg].shape
        space = self.graph.types[phase.results[0]].shape
        rank = len(steps.coefficients)
        indexed: Shape = space[axis : axis + rank]  # checks are made even where other axes are empty
        if phase.attributes["checked"] and not in_bounds(indexed, Affine((steps.index(0),), (shape[axis],))):
            return phase
        picked = [
            axis_index(a) if a < axis else steps.index(axis) if a == axis else axis_index(a - 1 + rank) for a in range(len(shape))
        ]
        read = Read(arg, affine(space, picked, shape))
        axes = tuple(Axis(s, AxisKind.PARALLEL) for s in space)
        kind = self.graph.types[arg].element.kind
        return Structured(phase.id, phase.span, axes, (read,), (ReadNode(0, kind),), (Result(phase.results[0], 0, None),))


def generator_steps(phase: Structured) -> _Steps | None:
    """The affine function that a phase without reads computes, in i64."""
    if phase.reads or has_reduction(phase) or len(phase.results) != 1 or len(phase.body) > 32:
        return None
    rank = len(axis_sizes(phase.axes))
    found: list[_Steps | None] = []
    for node in phase.body:
        match node:
            case AxisNode():
                found.append(_Steps(tuple(int(a == node.axis) for a in range(rank)), ZERO))
            case SizeNode():
                found.append(_Steps((0,) * rank, node.size))
            case ConstantNode():
                whole = isinstance(node.value, int) and node.kind is Kind.I64
                found.append(_Steps((0,) * rank, number(int(node.value))) if whole and isinstance(node.value, int) else None)
            case ApplyNode():
                found.append(_applied(node, [found[a] for a in node.args]))
            case ReadNode():
                return None
    return found[phase.results[0].node]


def _applied(node: ApplyNode, args: Sequence[_Steps | None]) -> _Steps | None:
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
            if left.alone is not None:
                return right.times(left.alone)
            return left.times(right.alone) if right.alone is not None else None
    return None


def constant_steps(data: tuple[Payload, ...], shape: Shape) -> _Steps | None:
    """The affine function of position that reproduces integer data, row-major."""
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
    return _Steps(steps, number(first))
