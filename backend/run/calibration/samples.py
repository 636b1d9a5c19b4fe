"""Structured phases made for measuring, so that no pass changes what is measured.

Neighbours: `scalars` (times their kernels), `ways` (draws the data).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from ....lang.source import Span
from ....typechecker.elements import Element, Kind
from ....typechecker.sizes import number
from ....typechecker.types import ArrayType
from ...graph.phases import (
    Affine,
    AffineIndex,
    Axis,
    AxisKind,
    Node,
    PhaseId,
    Projection,
    Read,
    Result,
    Structured,
    Term,
    ValueId,
)
from ..cpu import CpuBackend
from ..device import Types
from .ways import drawn

_NOWHERE = Span("<calibration>", 0, 0)


@dataclass(frozen=True, slots=True)
class Operand:
    """Of an array of this shape, the item at the coordinates of the space on `axes` (none given: the point itself)."""

    kind: Kind
    shape: tuple[int, ...]
    axes: tuple[int, ...] = ()

    @property
    def projection(self) -> Projection:
        indices = tuple(AffineIndex((Term(axis, 1),), number(0)) for axis in self.axes)
        return Projection((Affine(indices, tuple(map(number, self.shape))),) if self.axes else ())


@dataclass(frozen=True, slots=True)
class Sample:
    """`body` over `space` (its last axis reduced with `reduction`); the result is its last node."""

    space: Sequence[int]
    operands: Sequence[Operand]
    body: Sequence[Node]
    result: Kind
    reduction: str | None = None

    @property
    def phase(self) -> Structured:
        kinds = [AxisKind.PARALLEL] * (len(self.space) - 1) + [AxisKind.REDUCE if self.reduction else AxisKind.PARALLEL]
        axes = tuple(Axis(number(n), kind) for n, kind in zip(self.space, kinds, strict=True))
        reads = tuple(Read(ValueId(place), operand.projection) for place, operand in enumerate(self.operands))
        result = Result(ValueId(len(self.operands)), len(self.body) - 1, self.reduction)
        return Structured(PhaseId(0), _NOWHERE, axes, reads, tuple(self.body), (result,))

    def kernel(self) -> Callable[[], object]:
        """A call of the phase's kernel on data."""
        made = Operand(self.result, tuple(self.space[:-1] if self.reduction else self.space))
        types = {
            ValueId(place): ArrayType(Element(operand.kind), tuple(map(number, operand.shape)))
            for place, operand in enumerate((*self.operands, made))
        }
        kernel = CpuBackend(1).structured(self.phase, Types(types, {}))
        memory = {
            ValueId(place): drawn(operand.kind, prod(operand.shape), place).reshape(operand.shape)
            for place, operand in enumerate(self.operands)
        }
        return lambda: kernel(memory, None)
