"""Reads: a projection with known sizes, compiled into a function from an operand to a view over the iteration space.

Axes of the space that the read does not depend on have length 1 in the view, so that NumPy's broadcasting replicates and
nothing is computed twice.  An affine stage without fills is a strided view of its operand, a reshape is NumPy's (a copy
only where strides cannot say it), a stage with fills copies the part that is read into a padded box.

Note [Safety of strided views].  `_bounds` computes the least and greatest index on every axis from the sizes; a view is
made only if both lie in the operand.  A projection that leaves it is a bug in Rho and raises AssertionError.

Neighbours: `graph.phases` (Note [Projections]), `structured` (uses one view a read).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ....typechecker.sizes import Size
from ...graph.phases import Affine, Projection, Reshaped, Stage
from .kinds import NumArray

View: TypeAlias = Callable[[Any], Any]
Numbers: TypeAlias = tuple[int, ...]
PADDING_LIMIT: Final = 4
"""A padded box may be this many times the size of what is read; beyond it items are fetched one by one."""


@dataclass(frozen=True, slots=True)
class KnownAffine:
    """An affine stage in numbers: index d is Σ coefficients[d][a] × point[a] + constants[d]."""

    space: Numbers
    shape: Numbers
    coefficients: tuple[Numbers, ...]
    constants: Numbers


def compile_view(
    projection: Projection, space: Numbers, fill: int, number: Callable[[Size], int]
) -> tuple[View, tuple[bool, ...]]:
    """The view of a read, and which axes of the space it varies on."""
    if not projection.stages:
        return _itself, tuple(size != 1 for size in space)
    varying = _varying(projection.stages[0], space)
    reduced = tuple(size if varies else 1 for size, varies in zip(space, varying, strict=True))
    boxes = [reduced]
    for stage in projection.stages:
        boxes.append(tuple(map(number, stage.shape if isinstance(stage, Affine) else stage.target)))
    steps = [_compile_stage(stage, boxes[place], boxes[place + 1], fill, number) for place, stage in enumerate(projection.stages)]
    if len(steps) == 1:
        return steps[0], varying
    steps.reverse()

    def view(operand: Any) -> Any:
        for step in steps:
            operand = step(operand)
        return operand

    return view, varying


def is_plain_view(projection: Projection) -> bool:
    """Can the read be a view of its operand, whatever the operand's layout?"""
    return all(isinstance(stage, Affine) and not stage.fills for stage in projection.stages)


def _itself(operand: Any) -> Any:
    return operand


def _varying(stage: Stage, space: Numbers) -> tuple[bool, ...]:
    if isinstance(stage, Reshaped):
        return tuple(size != 1 for size in space)
    used = {term.axis for index in stage.indices for term in index.terms}
    return tuple(size != 1 and axis in used for axis, size in enumerate(space))


def _compile_stage(stage: Stage, space: Numbers, shape: Numbers, fill: int, number: Callable[[Size], int]) -> View:
    if isinstance(stage, Reshaped):
        return lambda operand: operand.reshape(space)
    coefficients = [[0] * len(space) for _ in shape]
    for row, index in zip(coefficients, stage.indices, strict=True):
        for term in index.terms:
            if space[term.axis] != 1:
                row[term.axis] += term.coefficient
    known = KnownAffine(space, shape, tuple(map(tuple, coefficients)), tuple(number(i.constant) for i in stage.indices))
    if 0 in space:
        return lambda operand: np.empty(space, operand.dtype)
    low, high = _bounds(known)
    if all(a >= 0 and b < n for a, b, n in zip(low, high, shape, strict=True)):
        return _strided(known)
    assert stage.fills, f"a read leaves its operand: {low} to {high} of {shape}"
    if prod(b - a + 1 for a, b in zip(low, high, strict=True)) <= PADDING_LIMIT * max(prod(space), 64):
        return _padded(known, low, high, fill)
    return _fetched(known, fill)


def _bounds(stage: KnownAffine) -> tuple[Numbers, Numbers]:
    """The least and greatest index of each target axis over a space that is not empty."""
    low, high = list(stage.constants), list(stage.constants)
    for axis, row in enumerate(stage.coefficients):
        for coefficient, size in zip(row, stage.space, strict=True):
            reach = coefficient * (size - 1)
            low[axis] += min(reach, 0)
            high[axis] += max(reach, 0)
    return tuple(low), tuple(high)


def _strided(stage: KnownAffine) -> View:
    """In-bounds affine stage: indexing and transposing where that says it, else explicit strides."""
    uses = [[(axis, c) for axis, c in enumerate(row) if c] for row in stage.coefficients]
    axes = [terms[0][0] for terms in uses if len(terms) == 1]
    if all(len(terms) <= 1 for terms in uses) and len(set(axes)) == len(axes):
        return _indexed(stage, uses)

    def view(operand: Any) -> Any:
        strides = operand.strides
        offset = sum(c * s for c, s in zip(stage.constants, strides, strict=True))
        made = tuple(
            sum(row[axis] * stride for row, stride in zip(stage.coefficients, strides, strict=True))
            for axis in range(len(stage.space))
        )
        if operand.flags.c_contiguous:
            return np.ndarray(stage.space, operand.dtype, operand, offset, made)
        start = operand[tuple(slice(c, None) for c in stage.constants)]
        return np.lib.stride_tricks.as_strided(start, stage.space, made)

    return view


def _indexed(stage: KnownAffine, uses: Sequence[Sequence[tuple[int, int]]]) -> View:
    """Each operand axis is a number or a slice along one axis of the space."""
    picks: list[Any] = []
    kept: list[int] = []
    for terms, start in zip(uses, stage.constants, strict=True):
        if not terms:
            picks.append(start)
            continue
        axis, step = terms[0]
        last = start + step * (stage.space[axis] - 1)
        stop = last + (1 if step > 0 else -1)
        picks.append(slice(start, stop if stop >= 0 else None, step))
        kept.append(axis)
    index = tuple(picks)
    whole = all(p == slice(0, n, 1) for p, n in zip(picks, stage.shape, strict=True))
    order = sorted(range(len(kept)), key=kept.__getitem__)
    permuted = order != list(range(len(order)))
    shape = stage.space

    def view(operand: Any) -> Any:
        if not whole:
            operand = operand[index]
        if permuted:
            operand = operand.transpose(order)
        return operand if operand.shape == shape else operand[expand]

    expand = tuple(slice(None) if axis in kept else None for axis in range(len(shape)))
    return view


def _padded(stage: KnownAffine, low: Numbers, high: Numbers, fill: int) -> View:
    """Copy what is read into a box with fills around it, then view that."""
    box = tuple(b - a + 1 for a, b in zip(low, high, strict=True))
    inner = _strided(
        KnownAffine(stage.space, box, stage.coefficients, tuple(c - a for c, a in zip(stage.constants, low, strict=True)))
    )
    source, target, empty = [], [], False
    for a, b, n in zip(low, high, stage.shape, strict=True):
        start, stop = max(a, 0), min(b + 1, n)
        empty = empty or start >= stop
        source.append(slice(start, stop))
        target.append(slice(start - a, stop - a))

    def view(operand: Any) -> Any:
        padded: NumArray = np.empty(box, operand.dtype)
        if empty:
            padded.fill(fill)
        else:
            _fill_around(padded, target, fill)
            padded[tuple(target)] = operand[tuple(source)]
        return inner(padded)

    return view


def _fill_around(padded: NumArray, inside: Sequence[slice], fill: int) -> None:
    """Fill all but the inside box, slab by slab."""
    region: list[slice] = []
    for axis, part in enumerate(inside):
        rest = (slice(None),) * (len(inside) - axis - 1)
        if part.start:
            padded[(*region, slice(0, part.start), *rest)] = fill
        if part.stop < padded.shape[axis]:
            padded[(*region, slice(part.stop, None), *rest)] = fill
        region.append(part)


def _fetched(stage: KnownAffine, fill: int) -> View:
    """Item by item through index arrays (a sparse read far outside its operand)."""
    indices, inside = [], np.ones(stage.space, bool)
    for row, constant, size in zip(stage.coefficients, stage.constants, stage.shape, strict=True):
        index = np.full(stage.space, constant)
        for axis, coefficient in enumerate(row):
            if coefficient:
                shape = [1] * len(stage.space)
                shape[axis] = stage.space[axis]
                index = index + coefficient * np.arange(stage.space[axis]).reshape(shape)
        inside &= (index >= 0) & (index < size)
        indices.append(index)

    def view(operand: Any) -> Any:
        found = np.full(stage.space, fill, operand.dtype)
        found[inside] = operand[tuple(index[inside] for index in indices)]
        return found

    return view
