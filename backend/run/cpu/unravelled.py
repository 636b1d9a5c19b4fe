"""Reductions of a ravel that are exact in any order (`+/,a∘.=b` of integers), over the axes of what was ravelled: reads are
strides there, so that nothing is copied and kernels run as over any array.

The longest axis is reduced first, and what that leaves is small.  Sums of floats have the order of the ravel: they go box by box.

Neighbours: `structured` (asks), `deferred` (what reads of a ravel are otherwise), `reduce`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any, TypeAlias

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.scalars import is_ordered, is_sequential
from ....typechecker.sizes import ZERO, Size
from ....typechecker.sizes import number as size_of
from ...graph.phases import (
    PLACES,
    Affine,
    AffineIndex,
    ApplyNode,
    Axis,
    AxisKind,
    AxisNode,
    Read,
    Reshaped,
    Stage,
    Structured,
    Term,
    ValueId,
)
from ...graph.projections import axis_index, simplify, sizes_of
from ...schedule.facts.workspace import workspace
from .deferred import WHOLE
from .kinds import NumArray
from .reduce import reduce_first
from .views import groups

Numbers: TypeAlias = tuple[int, ...]


def unravelled(
    phase: Structured, space: Numbers, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int]
) -> Structured | None:
    """The phase over the axes of a ravel, the longest reduced, the others parallel; None: it has none, or its order counts."""
    if prod(space) <= WHOLE or any(isinstance(n, AxisNode) and n.axis == len(space) - 1 for n in phase.body):
        return None
    if any(isinstance(node, ApplyNode) and node.span is not None for node in phase.body):
        return None
    for result in phase.results:
        function = result.reduction or ""
        if function in PLACES or is_sequential(function) or is_ordered(function, kinds(result.value)):
            return None
    factors = next((found for read in phase.reads if (found := _factors(read, space, number))), None)
    if factors is None:
        return None
    longest = max(range(len(factors)), key=factors.__getitem__)
    order = [*(place for place in range(len(factors)) if place != longest), longest]
    sizes = (*space[:-1], *(factors[place] for place in order))
    reads = [_moved(read, space, sizes, factors, order, number) for read in phase.reads]
    if any(map(_is_apart, reads)):
        return None
    left = prod(sizes[:-1]) * sum(kinds(result.value).bytes for result in phase.results)
    if left > workspace(phase, number) // 4:
        return None
    axes = tuple(Axis(size_of(size), AxisKind.PARALLEL) for size in sizes[:-1])
    return replace(phase, axes=(*axes, Axis(size_of(sizes[-1]), AxisKind.REDUCE)), reads=tuple(reads))


def joined(phase: Structured, rank: int, kinds: Callable[[ValueId], Kind], found: Sequence[Any]) -> tuple[Any, ...]:
    """The results of the phase, of `rank` axes, from what its unravelled form gives."""
    made: list[Any] = []
    for result, value in zip(phase.results, found, strict=True):
        items: NumArray = np.asarray(value)
        rows = items.reshape(*items.shape[:rank], -1)
        made.append(np.asarray(reduce_first(result.reduction or "", kinds(result.value), np.moveaxis(rows, -1, 0))))
    return tuple(made)


def _is_apart(read: Read) -> bool:
    """Is it a read of a ravel that no strides may say?"""
    stages = read.projection.stages
    return any(
        isinstance(stage, Reshaped) and any(isinstance(later, Affine) for later in stages[place + 1 :])
        for place, stage in enumerate(stages)
    )


def _factors(read: Read, space: Numbers, number: Callable[[Size], int]) -> Numbers | None:
    """The sizes whose product the reduced axis is, where a read takes it apart."""
    stages = read.projection.stages
    if not _is_apart(read) or not isinstance(first := stages[0], Reshaped):
        return None
    target = tuple(map(number, first.target))
    for sources, targets in groups(space, target):
        if sources.start <= len(space) - 1 < sources.stop:
            found = tuple(target[axis] for axis in targets if target[axis] != 1)
            alone = all(space[axis] == 1 for axis in sources if axis != len(space) - 1)
            return found if alone and len(found) > 1 else None
    return None


def _moved(
    read: Read, space: Numbers, sizes: Numbers, factors: Numbers, order: Sequence[int], number: Callable[[Size], int]
) -> Read:
    """A read at the same item."""
    around = len(space) - 1
    axis_of = {factor: around + place for place, factor in enumerate(order)}
    before = [axis_index(axis) for axis in range(around)]
    stages = tuple(read.projection.stages)
    first: tuple[Stage, ...]
    if stages and isinstance(stages[0], Reshaped):
        apart = sizes_of((*space[:-1], *factors))
        indices = (*before, *(axis_index(axis_of[factor]) for factor in range(len(factors))))
        first = Affine(indices, apart), Reshaped(apart, sizes_of(space))
    else:
        terms = sorted((axis_of[factor], prod(factors[factor + 1 :])) for factor in range(len(factors)))
        flat = AffineIndex(tuple(Term(axis, step) for axis, step in terms), ZERO)
        first = (Affine((*before, flat), sizes_of(space)),)
    known = tuple(_in_numbers(stage, number) for stage in stages)
    return replace(read, projection=simplify(sizes_of(sizes), (*first, *known)))


def _in_numbers(stage: Stage, number: Callable[[Size], int]) -> Stage:
    """With the sizes that a run has."""

    def known(sizes: Sequence[Size]) -> tuple[Size, ...]:
        return sizes_of([number(size) for size in sizes])

    if isinstance(stage, Reshaped):
        return Reshaped(known(stage.source), known(stage.target))
    indices = tuple(AffineIndex(index.terms, size_of(number(index.constant))) for index in stage.indices)
    return Affine(indices, known(stage.shape), stage.fills)
