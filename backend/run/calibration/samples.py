"""Structured phases made for measuring, so that no pass changes what is measured.

Data are drawn with a fixed seed: floats from 0.1 to 0.95 (inside every function's domain), integers from 1 to 7, as many true as
false.

Neighbours: `computing` (times their kernels), `library` (takes the data).
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
from ..cpu.kinds import DTYPES
from ..device import Types

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
    """A phase with the types of its values."""

    phase: Structured
    types: dict[ValueId, ArrayType]

    def kernel(self, backend: CpuBackend) -> Callable[[], object]:
        """A call of the phase's kernel on data."""
        kernel = backend.structured(self.phase, Types(self.types, {}))
        memory = {}
        for place, read in enumerate(self.phase.reads):
            shape = tuple(size.evaluate({}) for size in self.types[read.value].shape)
            memory[read.value] = data(self.types[read.value].element.kind, prod(shape), place).reshape(shape)
        return lambda: kernel(memory, None)


def sample(
    space: Sequence[int], operands: Sequence[Operand], body: Sequence[Node], result: Kind, reduction: str | None = None
) -> Sample:
    """A phase over `space` (its last axis reduced with `reduction`) whose result is the last node of `body`."""
    kinds = [AxisKind.PARALLEL] * (len(space) - 1) + [AxisKind.PARALLEL if reduction is None else AxisKind.REDUCE]
    axes = tuple(Axis(number(n), kind) for n, kind in zip(space, kinds, strict=True))
    types = {ValueId(place): _type(operand.kind, operand.shape) for place, operand in enumerate(operands)}
    reads = tuple(Read(ValueId(place), operand.projection) for place, operand in enumerate(operands))
    out = ValueId(len(operands))
    types[out] = _type(result, space if reduction is None else space[:-1])
    results = (Result(out, len(body) - 1, reduction),)
    return Sample(Structured(PhaseId(0), _NOWHERE, axes, reads, tuple(body), results), types)


def _type(kind: Kind, shape: Sequence[int]) -> ArrayType:
    return ArrayType(Element(kind), tuple(map(number, shape)))


@cache
def data(kind: Kind, count: int, seed: int) -> Any:
    generator = np.random.default_rng(seed)
    if kind is Kind.BOOL:
        return generator.random(count) < 0.5
    if kind.is_integer:
        return generator.integers(1, 8, count).astype(DTYPES[kind])
    real = generator.random(count) * 0.85 + 0.1
    if kind.is_complex:
        return (real + 1j * generator.permutation(real)).astype(DTYPES[kind])
    return real.astype(DTYPES[kind])


def forget_data() -> None:
    data.cache_clear()
