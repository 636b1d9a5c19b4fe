"""Products with a vector, and of small matrices, as structured phases: sums of products in the order of sums.

Neighbours: `backend.library.vector_products` (why they are no calls of BLAS), `loops.lower.library` (inside loops).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from ...lang.source import Span
from ...typechecker.elements import Kind
from ...typechecker.sizes import ZERO, Size
from .phases import (
    Affine,
    AffineIndex,
    ApplyNode,
    Axis,
    AxisKind,
    PhaseId,
    Projection,
    Read,
    ReadNode,
    Result,
    Structured,
    Term,
    ValueId,
)

_SPAN: Final = Span("", 0, 0)
SMALL: Final = 64
"""Products of numbers up to which calling BLAS takes longer than they do."""
Shape: TypeAlias = tuple[Size, ...]


def is_summed(rows: int, shared: int, columns: int) -> bool:
    """Is one product of matrices of these sizes one of sums in the order of sums?  The others, and those of a frame of matrices,
    are BLAS's."""
    return 1 in (rows, columns) or rows * shared * columns <= SMALL


def sum_of_products(kind: Kind, left: Shape, right: Shape, depth: int, values: tuple[ValueId, ValueId, ValueId]) -> Structured:
    """The phase for operands of these shapes, both with a frame of `depth` axes: left's last axis by right's first."""
    frame, rows, columns = left[:depth], left[depth:-1], right[depth + 1 :]
    sizes = (*frame, *rows, *columns)
    axes = (*(Axis(size, AxisKind.PARALLEL) for size in sizes), Axis(left[-1], AxisKind.REDUCE))
    before, last = range(depth), len(sizes)
    reads = (
        _read(values[0], left, [*before, *range(depth, depth + len(rows)), last]),
        _read(values[1], right, [*before, last, *range(depth + len(rows), last)]),
    )
    body = (ReadNode(0, kind), ReadNode(1, kind), ApplyNode("mul", (0, 1), kind))
    return Structured(PhaseId(-1), _SPAN, axes, reads, body, (Result(values[2], 2, "add"),))


def _read(value: ValueId, shape: Shape, axes: Sequence[int]) -> Read:
    """Along these axes of the space."""
    indices = tuple([AffineIndex((Term(axis, 1),), ZERO) for axis in axes])
    return Read(value, Projection((Affine(indices, shape),)))
