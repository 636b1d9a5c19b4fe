"""Structured phases made for measuring: one application, chains of them, reductions in each layout, reads that are awkward.

Built as phases, not as programs, so that no pass changes what is measured.  Data are drawn once with a fixed seed: floats
from 0.1 to 0.95 (inside every function's domain), integers from 1 to 7, as many true as false.

Neighbours: `measure` (times their kernels), `backend.devices.keys` (what is learnt from which).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

import numpy as np

from ....lang.source import Span
from ....typechecker.elements import Element, Kind
from ....typechecker.scalars import FUNCTIONS
from ....typechecker.sizes import number
from ....typechecker.types import ArrayType
from ...graph.phases import (
    Affine,
    AffineIndex,
    ApplyNode,
    Axis,
    AxisKind,
    Node,
    PhaseId,
    Projection,
    Read,
    ReadNode,
    Result,
    Structured,
    Term,
    ValueId,
)
from ..cpu import CpuBackend
from ..cpu.kinds import DTYPES
from ..machine import Machine

NOWHERE = Span("<calibration>", 0, 0)
X, Y, Z, OUT = ValueId(0), ValueId(1), ValueId(2), ValueId(3)
IDENTITY = Projection(())


@dataclass(frozen=True, slots=True)
class Operand:
    kind: Kind
    shape: tuple[int, ...]
    projection: Projection = IDENTITY


@dataclass(frozen=True, slots=True)
class Probe:
    """A phase with the types of its values."""

    phase: Structured
    types: dict[ValueId, ArrayType]

    def kernel(self, backend: CpuBackend) -> Callable[[], object]:
        """A call of the phase's kernel on data."""
        machine = Machine({}, {}, {}, {}, self.types, (), {})
        kernel = backend.structured(self.phase, machine)
        memory = {}
        for place, read in enumerate(self.phase.reads):
            type = self.types[read.value]
            shape = tuple(size.evaluate({}) for size in type.shape)
            memory[read.value] = data(type.element.kind, prod(shape), place).reshape(shape)
        return lambda: kernel(memory, None)


@cache
def data(kind: Kind, count: int, seed: int) -> Any:
    generator = np.random.default_rng(seed)
    if kind is Kind.BOOL:
        return generator.random(count) < 0.5
    if kind is Kind.CHAR:
        return generator.integers(97, 123, count).astype(np.uint32).view(DTYPES[kind])
    if kind.is_integer:
        return generator.integers(1, 8, count).astype(DTYPES[kind])
    real = generator.random(count) * 0.85 + 0.1
    if kind.is_complex:
        return (real + 1j * generator.permutation(real)).astype(DTYPES[kind])
    return real.astype(DTYPES[kind])


def forget_data() -> None:
    data.cache_clear()


def type_of(kind: Kind, shape: Sequence[int]) -> ArrayType:
    return ArrayType(Element(kind), tuple(map(number, shape)))


def probe(
    space: Sequence[int], operands: Sequence[Operand], body: Sequence[Node], result: Kind, reduction: str | None = None
) -> Probe:
    """A phase over `space` (its last axis reduced with `reduction`) whose result is the last node of `body`."""
    axes = [Axis(number(n), AxisKind.PARALLEL) for n in space]
    if reduction is not None:
        axes[-1] = Axis(axes[-1].size, AxisKind.REDUCE)
    values = (X, Y, Z)[: len(operands)]
    types = {value: type_of(o.kind, o.shape) for value, o in zip(values, operands, strict=True)}
    types[OUT] = type_of(result, space if reduction is None else space[:-1])
    reads = tuple(Read(value, o.projection) for value, o in zip(values, operands, strict=True))
    phase = Structured(PhaseId(0), NOWHERE, tuple(axes), reads, tuple(body), (Result(OUT, len(body) - 1, reduction),))
    return Probe(phase, types)


def chain(kind: Kind, points: int, functions: Sequence[str], operands: int = 2) -> Probe:
    """`f(… f(f(x, y), x) …, y)` over one axis."""
    nodes: list[Node] = [ReadNode(i, kind) for i in range(operands)]
    last = 0
    for place, function in enumerate(functions):
        nodes.append(ApplyNode(function, (last, (place + 1) % operands), kind))
        last = len(nodes) - 1
    return probe((points,), [Operand(kind, (points,))] * operands, nodes, kind)


def once(function: str, kind: Kind, points: int, parameter: int = 0, target: Kind | None = None) -> Probe:
    """One application of full operands."""
    operands, nodes = _operands(function, kind, points)
    result = target or result_kind(function, kind, parameter)
    nodes.append(ApplyNode(function, tuple(range(len(nodes))), result, parameter))
    return probe((points,), operands, nodes, result)


def twice(function: str, kind: Kind, points: int, parameter: int = 0, target: Kind | None = None) -> Probe:
    """Two applications, each to other operands, joined by one addition (of truth values: `and`)."""
    result = target or result_kind(function, kind, parameter)
    arity = FUNCTIONS[function].arity
    nodes: list[Node]
    if arity == 3:
        operands = [Operand(Kind.BOOL, (points,)), Operand(kind, (points,)), Operand(kind, (points,))]
        nodes = [ReadNode(i, o.kind) for i, o in enumerate(operands)]
        first, second = [0, 1, 2], [0, 2, 1]
    else:
        operands = [Operand(kind, (points,)), Operand(kind, (points,))]
        nodes = [ReadNode(0, kind), ReadNode(1, kind)]
        first, second = ([0], [1]) if arity == 1 else ([0, 1], [1, 0])
    at = len(nodes)
    nodes.append(ApplyNode(function, tuple(first), result, parameter))
    nodes.append(ApplyNode(function, tuple(second), result, parameter))
    nodes.append(ApplyNode(joining(result), (at, at + 1), result))
    return probe((points,), operands, nodes, result)


def joining(kind: Kind) -> str:
    return "and" if kind is Kind.BOOL else "add"


def result_kind(function: str, kind: Kind, parameter: int = 0) -> Kind:
    return FUNCTIONS[function].result_kind(kind, parameter) or kind


def _operands(function: str, kind: Kind, points: int) -> tuple[list[Operand], list[Node]]:
    arity = FUNCTIONS[function].arity
    kinds = [Kind.BOOL, kind, kind] if arity == 3 else [kind] * arity
    return [Operand(k, (points,)) for k in kinds], [ReadNode(i, k) for i, k in enumerate(kinds)]


# ------------------------------------------------------------------------------------ reductions


def shape_of(layout: str, points: int) -> tuple[int, int]:
    """(cells, length) of a reduction in a layout."""
    match layout:
        case "full":
            return 1, points
        case "row":
            return max(1, points // 1024), min(points, 1024)
        case "short":
            return max(1, points // 8), 8
        case "col":
            return min(points, 1024), max(1, points // 1024)
        case "narrow":
            return 8, max(1, points // 8)
        case _:
            raise ValueError(layout)


def reduction(function: str, kind: Kind, layout: str, points: int, *, fused: bool) -> Probe:
    """Of x, or of x×y (of truth values: x and y); counting widens to i64."""
    cells, length = shape_of(layout, points)
    count = 2 if fused else 1
    nodes: list[Node] = [ReadNode(i, kind) for i in range(count)]
    if fused:
        nodes.append(ApplyNode("and" if kind is Kind.BOOL else "mul", (0, 1), kind))
    result = kind
    if function == "add" and kind is Kind.BOOL:
        result = Kind.I64
        nodes.append(ApplyNode("convert", (len(nodes) - 1,), Kind.I64))
    if layout == "full":
        return probe((length,), [Operand(kind, (length,))] * count, nodes, result, function)
    if layout in ("row", "short"):
        return probe((cells, length), [Operand(kind, (cells, length))] * count, nodes, result, function)
    across = Projection((Affine((AffineIndex((Term(1, 1),), number(0)), AffineIndex((Term(0, 1),), number(0))),
                                (number(length), number(cells))),))  # fmt: skip
    return probe((cells, length), [Operand(kind, (length, cells), across)] * count, nodes, result, function)


# ------------------------------------------------------------------------------------ awkward reads


def transposed(kind: Kind, side: int) -> Probe:
    """A square plus its transpose."""
    across = Projection((Affine((AffineIndex((Term(1, 1),), number(0)), AffineIndex((Term(0, 1),), number(0))),
                                (number(side), number(side))),))  # fmt: skip
    operands = [Operand(kind, (side, side)), Operand(kind, (side, side), across)]
    nodes: list[Node] = [ReadNode(0, kind), ReadNode(1, kind), ApplyNode("add", (0, 1), kind)]
    return probe((side, side), operands, nodes, kind)


def padded(kind: Kind, points: int) -> Probe:
    """x plus y one further on, whose last element is a fill."""
    shifted = Projection((Affine((AffineIndex((Term(0, 1),), number(1)),), (number(points),), True),))
    operands = [Operand(kind, (points,)), Operand(kind, (points,), shifted)]
    nodes: list[Node] = [ReadNode(0, kind), ReadNode(1, kind), ApplyNode("add", (0, 1), kind)]
    return probe((points,), operands, nodes, kind)
