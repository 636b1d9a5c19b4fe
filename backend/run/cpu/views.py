"""Reads: a projection with known sizes, compiled into a function from an operand to a view over the iteration space.

Axes of the space that the read does not depend on have length 1 in the view, so that NumPy's broadcasting replicates and
nothing is computed twice.  An affine stage without fills is a strided view of its operand, a stage with fills copies the part
that is read into a padded box.  A reshape is NumPy's where strides can say it, or a copy of few items; else it is `deferred`, and
so is every stage before it: their items are copied box by box of the space, by whoever works on it.

Note [Safety of strided views].  `bounds` computes the least and greatest index on every axis from the sizes; a view is
made only if both lie in the operand.  A projection that leaves it is a bug in Rho and raises AssertionError.

Neighbours: `graph.phases` (Note [Projections]), `structured` (uses one view a read).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ....lang.certain import certain
from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph.phases import Affine, Projection, Read, Reshaped, Stage, Structured, ValueId
from ..pool import room
from .deferred import WHOLE, Deferred, Moved, reshaped
from .kinds import FILLS, NumArray

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
    boxes = [space]
    for stage in projection.stages:
        boxes.append(tuple(map(number, stage.shape if isinstance(stage, Affine) else stage.target)))
    varying = [tuple(size != 1 for size in boxes[-1])]
    for stage, box, target in zip(reversed(projection.stages), reversed(boxes[:-1]), reversed(boxes[1:]), strict=True):
        varying.insert(0, _varying(stage, box, target, varying[0]))
    if not projection.stages:
        return _itself, varying[0]
    reduced = [tuple(n if on else 1 for n, on in zip(box, which, strict=True)) for box, which in zip(boxes, varying, strict=True)]
    steps: list[View] = []
    for place, stage in enumerate(projection.stages):
        box, reached, target, matters = reduced[place], boxes[place + 1], reduced[place + 1], varying[place + 1]
        if isinstance(stage, Affine) and stage.fills:
            target, matters = reached, (True,) * len(reached)
        step = _compile_stage(stage, box, target, matters, fill, number)
        if isinstance(stage, Affine) and any(isinstance(later, Reshaped) for later in projection.stages[place + 1 :]):
            step = _or_deferred(step, stage, box, target, matters, fill, number)
        steps.append(step if target == reduced[place + 1] else _filling(step, reached))
    if len(steps) == 1:
        return steps[0], varying[0]
    steps.reverse()
    if prod(reduced[0]) <= WHOLE:
        return _few(steps), varying[0]

    def view(operand: Any) -> Any:
        for step in steps:
            operand = step(operand)
        return operand

    return view, varying[0]


def _few(steps: Sequence[View]) -> View:
    """A view of few items, which are there when it is made."""

    def view(operand: Any) -> Any:
        for step in steps:
            operand = step(operand)
        return operand.whole() if isinstance(operand, Deferred) else operand

    return view


def compile_views(
    phase: Structured, space: Numbers, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int]
) -> tuple[list[tuple[ValueId, View]], list[tuple[bool, ...]]]:
    """Of all reads of a phase: the views with what they are of, and which axes of the space each varies on."""
    made = [compile_view(read.projection, space, FILLS[kinds(read.value)], number) for read in phase.reads]
    return [(read.value, view) for read, (view, _) in zip(phase.reads, made, strict=True)], [varying for _, varying in made]


def may_defer(read: Read) -> bool:
    """May a view of it be deferred, of some operand?"""
    return any(isinstance(stage, Reshaped) for stage in read.projection.stages)


def _itself(operand: Any) -> Any:
    return operand


def _varying(stage: Stage, box: Numbers, target: Numbers, varies: tuple[bool, ...]) -> tuple[bool, ...]:
    """On which axes of its box a stage's target depends, given which of the target's axes matter.

    An axis on which nothing varies has length 1 from here on; a fill depends on every index."""
    if isinstance(stage, Affine):
        used = {t.axis for index, on in zip(stage.indices, varies, strict=True) if on or stage.fills for t in index.terms}
        return tuple(size != 1 and axis in used for axis, size in enumerate(box))
    if 0 in box:
        return tuple(size != 1 for size in box)
    found = [False] * len(box)
    for sources, targets in groups(box, target):
        if any(varies[axis] for axis in targets):
            for axis in sources:
                found[axis] = box[axis] != 1
    return tuple(found)


def groups(source: Numbers, target: Numbers) -> Iterator[tuple[range, range]]:
    """The shortest runs of axes of equal products, from the front, of two boxes of equal size without zeros."""
    i = j = 0
    while i < len(source) or j < len(target):
        start_i, start_j, left, right = i, j, 1, 1
        while True:
            if left < right or (left == right and i == start_i and i < len(source)):
                left *= source[i]
                i += 1
            elif right < left or (left == right and j == start_j and j < len(target)):
                right *= target[j]
                j += 1
            if left == right and (i > start_i or i == len(source)) and (j > start_j or j == len(target)):
                break
        yield range(start_i, i), range(start_j, j)


def _filling(step: View, shape: Numbers) -> View:
    """A stage that may leave its box needs the box's whole extent, also on axes along which the operand repeats."""
    return lambda operand: step(_repeated(operand, shape))


def _reshaped(stage: Reshaped, space: Numbers, shape: Numbers, matters: tuple[bool, ...], number: Callable[[Size], int]) -> View:
    """Axes that are reinterpreted together are needed in full when one of them matters."""
    source, target = tuple(map(number, stage.source)), tuple(map(number, stage.target))
    wanted = list(shape)
    if 0 not in source:
        for _, axes in groups(source, target):
            if any(matters[axis] for axis in axes):
                for axis in axes:
                    wanted[axis] = target[axis]
    needed = tuple(wanted)
    if needed == shape:
        return lambda operand: reshaped(operand, space)
    return lambda operand: reshaped(_repeated(operand, needed), space)


def _repeated(operand: Any, shape: Numbers) -> Any:
    """An operand that repeats along axes on which it has one item."""
    if not isinstance(operand, Deferred):
        return np.broadcast_to(operand, shape)
    rows = [[int(axis == own and operand.shape[own] != 1) for axis in range(len(shape))] for own in range(len(shape))]
    return Moved(operand, shape, tuple(map(tuple, rows)), (0,) * len(shape), None)


def _compile_stage(
    stage: Stage, space: Numbers, shape: Numbers, matters: tuple[bool, ...], fill: int, number: Callable[[Size], int]
) -> View:
    if isinstance(stage, Reshaped):
        return _reshaped(stage, space, shape, matters, number)
    known = known_affine(stage, space, shape, matters, number)
    if 0 in space:
        return lambda operand: np.empty(space, operand.dtype)
    low, high = bounds(known)
    match reach_of(stage, known, low, high):
        case Reach.INSIDE:
            return _strided(known)
        case Reach.AROUND:
            return _padded(known, low, high, fill)
        case Reach.FAR:
            return _fetched(known, fill)


def _or_deferred(
    view: View, stage: Affine, space: Numbers, shape: Numbers, matters: Sequence[bool], fill: int, number: Callable[[Size], int]
) -> View:
    """An affine stage after a reshape: of an array `view`, of what is deferred the same of its boxes."""
    known = known_affine(stage, space, shape, matters, number)

    def found(operand: Any) -> Any:
        if isinstance(operand, Deferred) and 0 not in space:
            return Moved(operand, known.space, known.coefficients, known.constants, fill if stage.fills else None)
        return view(operand)

    return found


def known_affine(
    stage: Affine, space: Numbers, shape: Numbers, matters: Sequence[bool], number: Callable[[Size], int]
) -> KnownAffine:
    """A stage in numbers; indices that do not matter are 0."""
    coefficients = [[0] * len(space) for _ in shape]
    constants = [0] * len(shape)
    for place, (row, index) in enumerate(zip(coefficients, stage.indices, strict=True)):
        if not matters[place]:
            continue
        constants[place] = number(index.constant)
        for term in index.terms:
            if space[term.axis] != 1:
                row[term.axis] += term.coefficient
    return KnownAffine(space, shape, tuple(map(tuple, coefficients)), tuple(constants))


class Reach(Enum):
    """How far a read goes beyond its operand."""

    INSIDE = "not at all"
    AROUND = "so little that the operand is padded"
    FAR = "so far that items are fetched one by one"


def reach_of(stage: Affine, known: KnownAffine, low: Numbers, high: Numbers) -> Reach:
    if all(a >= 0 and b < n for a, b, n in zip(low, high, known.shape, strict=True)):
        return Reach.INSIDE
    certain(stage.fills, f"a read stays in its operand: {low} to {high} of {known.shape}")
    near = prod(b - a + 1 for a, b in zip(low, high, strict=True)) <= PADDING_LIMIT * max(prod(known.space), 64)
    return Reach.AROUND if near else Reach.FAR


def bounds(stage: KnownAffine) -> tuple[Numbers, Numbers]:
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
    index = (*picks, ...)  # without the last an item would be a copy
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
        padded: NumArray = room(box, operand.dtype)
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


def points_inside(stage: KnownAffine) -> tuple[list[NumArray], NumArray]:
    """The index along each axis that every point of the space reads, and which points read inside the operand."""
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
    return indices, inside


def _fetched(stage: KnownAffine, fill: int) -> View:
    """Item by item through index arrays (a sparse read far outside its operand)."""
    indices, inside = points_inside(stage)

    def view(operand: Any) -> Any:
        found = np.full(stage.space, fill, operand.dtype)
        found[inside] = operand[tuple(index[inside] for index in indices)]
        return found

    return view
