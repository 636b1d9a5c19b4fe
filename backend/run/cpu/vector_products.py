"""A matrix by a vector, a vector by a matrix, a vector by a vector: sums of products in the order of sums.

BLAS adds these up as it likes: by the threads it has at that moment, by the cores of the machine, by how the matrix lies in
memory.  Each is therefore a structured phase of its own here, with the kernels, tiers and bits of `+/x×y`: an item follows from
the items it is made of and their number alone.

Neighbours: `library.contracting` (asks), `linked_library` (in native calls), `structured` (runs them), `products` (matrices).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np

from ....lang.source import Span
from ....typechecker.elements import Kind
from ....typechecker.sizes import ZERO, Size, number
from ...graph.phases import (
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
from .kinds import NumArray
from .structured import compile_structured

LEFT, RIGHT, RESULT = ValueId(-1), ValueId(-2), ValueId(-3)
_SPAN: Final = Span("", 0, 0)
Shape: TypeAlias = tuple[Size, ...]


def summed_products(kind: Kind, left: NumArray, right: NumArray, threads: int) -> NumArray:
    """Of a batch of matrices (or one for all) and another, one side of whose products has length 1."""
    count = max(len(left), len(right))
    first, second = [np.broadcast_to(array, (count, *array.shape[1:])) for array in (left, right)]
    phase = sum_of_products(kind, tuple(map(number, first.shape)), tuple(map(number, second.shape)), 1, (LEFT, RIGHT, RESULT))
    run = compile_structured(phase, lambda value: kind, lambda size: size.evaluate({}), threads)
    (made,) = run({LEFT: first, RIGHT: second}, None)
    found: NumArray = np.ascontiguousarray(made)
    return found


@lru_cache(256)
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
