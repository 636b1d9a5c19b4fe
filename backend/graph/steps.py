"""What is known of values by looking at the phases that made them: numbers that are literals, and arrays that step evenly.

Neighbours: `passes.gathers` (indices that step evenly name a view), `loops.lower` (updates of a box, rotations by a literal).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ...lang.records import dataclass
from ...typechecker.core import Payload
from ...typechecker.elements import Kind
from ...typechecker.sizes import ZERO, Size, number
from ...typechecker.types import ArrayType
from .phases import (
    Affine,
    AffineIndex,
    ApplyNode,
    AxisNode,
    Constant,
    ConstantNode,
    Phase,
    Read,
    ReadNode,
    SizeNode,
    Structured,
    Term,
    ValueId,
)
from .projections import Shape
from .traverse import axis_sizes, results


@dataclass(frozen=True, slots=True)
class Steps:
    """Σ coefficient × axis + constant over an array's own axes."""

    coefficients: tuple[int, ...]
    constant: Size

    def plus(self, other: Steps, sign: int = 1) -> Steps:
        pairs = zip(self.coefficients, other.coefficients, strict=True)
        return Steps(tuple(a + sign * b for a, b in pairs), self.constant + other.constant * sign)

    def times(self, factor: int) -> Steps:
        return Steps(tuple(a * factor for a in self.coefficients), self.constant * factor)

    def index(self, first: int) -> AffineIndex:
        """The index over an iteration space whose axes from `first` are the array's."""
        return AffineIndex(tuple(Term(first + a, c) for a, c in enumerate(self.coefficients) if c), self.constant)

    def through(self, read: Read, rank: int) -> Steps | None:
        """Of what reads the array at each point of a space of so many axes."""
        match read.projection.stages:
            case ():
                return self
            case (Affine(indices, _, False),):
                total = Steps((0,) * rank, self.constant)
                for index, coefficient in zip(indices, self.coefficients, strict=True):
                    terms = {term.axis: term.coefficient for term in index.terms}
                    own = Steps(tuple(terms.get(axis, 0) for axis in range(rank)), index.constant)
                    total = total.plus(own.times(coefficient))
                return total
            case _:
                return None

    @property
    def alone(self) -> int | None:
        """The number this is, if it is one."""
        return None if any(self.coefficients) else self.constant.constant


class KnownValues:
    """Answers about the values that some phases make, outer ones before those inside them."""

    def __init__(self, phases: Iterable[Phase], types: Mapping[ValueId, ArrayType]) -> None:
        self.literals: dict[ValueId, Payload] = {}
        """Numbers."""
        self.steps: dict[ValueId, Steps] = {}
        """Arrays of i64 that step evenly."""
        for phase in phases:
            if isinstance(phase, Constant) and not types[phase.result].shape:
                self.literals[phase.result] = phase.data[0]
            if not isinstance(phase, Structured | Constant) or types[results(phase)[0]].element.kind is not Kind.I64:
                continue
            found = self.computed(phase) if isinstance(phase, Structured) else _of_numbers(phase.data, types[phase.result].shape)
            if found is not None:
                self.steps[results(phase)[0]] = found

    def computed(self, phase: Structured) -> Steps | None:
        """The affine function of its axes that a phase computes."""
        (first, *others), rank = phase.results, len(axis_sizes(phase.axes))
        if others or first.reduction is not None or len(phase.body) > _MOST_NODES:
            return None
        found: list[Steps | None] = []
        for node in phase.body:
            match node:
                case AxisNode():
                    found.append(Steps(tuple(int(a == node.axis) for a in range(rank)), ZERO))
                case SizeNode():
                    found.append(Steps((0,) * rank, node.size))
                case ConstantNode():
                    whole = isinstance(node.value, int) and node.kind is Kind.I64
                    found.append(Steps((0,) * rank, number(int(node.value))) if whole and isinstance(node.value, int) else None)
                case ApplyNode():
                    found.append(_applied(node, [found[a] for a in node.args]))
                case ReadNode():
                    read = phase.reads[node.index]
                    steps = self.steps.get(read.value)
                    found.append(None if steps is None else steps.through(read, rank))
        return found[first.node]


_MOST_NODES: Final = 32


def _applied(node: ApplyNode, args: Sequence[Steps | None]) -> Steps | None:
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


def _of_numbers(data: tuple[Payload, ...], shape: Shape) -> Steps | None:
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
    return Steps(steps, number(first))


NOTHING_KNOWN: Final = KnownValues((), {})
