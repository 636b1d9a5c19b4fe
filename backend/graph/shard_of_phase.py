"""The phase of one shard: a phase restricted to a box, reading just the boxes of its operands that the shard has.

A restricted phase is an ordinary phase, so every back end runs it with the kernels it has.  Its operands are renumbered
-1, -2, …, one a read, because one value may be read through two boxes.

Note [Restricted projections].  A projection first adds the box's origin and finally subtracts the origin of the operand's box;
each stage between is rewritten for the box that reaches it.  A stage that fills still reads fills outside: the operand's box is
the bounding box clipped to the operand, so a point outside the box lies outside the operand.  A reshape can be narrowed where
both its sides, group of axes by group of axes, are the same contiguous run of points in row-major order, or where one side's run
contains the other's.  Otherwise the shard reads the operand in its full shape, of which only the box has data
(`Restricted.is_unnarrowed`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Span
from ...typechecker.elements import ArrayType, Kind
from ...typechecker.sizes.polynomials import Size, number
from .phases import (
    Affine,
    AffineIndex,
    ApplyNode,
    Axis,
    AxisKind,
    AxisNode,
    Box,
    ConstantNode,
    Node,
    PhaseId,
    PhaseResult,
    Projection,
    Read,
    ReadNode,
    Reshaped,
    Stage,
    Structured,
    Term,
    ValueId,
    box_needed,
    simplify,
    sizes_of,
)


def box_view(
    id: PhaseId, span: Span, value: ValueId, source_shape: Sequence[Size], starts: Sequence[int], type: ArrayType, result: ValueId
) -> Structured:  # fmt: skip
    """The phase that copies a box of `value`, whose shape is `source_shape`: the box has the shape of `type` and starts at
    `starts`."""
    indices = tuple(AffineIndex((Term(axis, 1),), number(start)) for axis, start in enumerate(starts))
    read = Read(value, Projection((Affine(indices, tuple(source_shape)),)))
    axes = tuple(Axis(size, AxisKind.PARALLEL) for size in type.shape)
    return Structured(id, span, axes, (read,), (ReadNode(0, type.element.kind),), (PhaseResult(result, 0, None),))


@dataclass(frozen=True, slots=True)
class Restricted:
    """`phase` reads operand i as value -1-i.  `boxes` are what it reads; `is_unnarrowed[i]`: operand i has its full shape, of
    which only the box matters."""

    phase: Structured
    boxes: tuple[Box, ...]
    is_unnarrowed: tuple[bool, ...]


def restrict(
    phase: Structured, box: Box, available: Sequence[Box] | None = None, moving: Mapping[int, ValueId] | None = None
) -> Restricted:  # fmt: skip
    """The phase on `box` of its iteration space.  Sizes are numbers; the box is not empty.

    `available`: by read, the box of the operand that the shard has, which contains the one it needs (None: just that one).
    `moving`: axes whose origin is a run-time value, an i64, instead of the box's, so that one phase serves all boxes along
    them."""
    extents = tuple(stop - start for start, stop in box)
    reads: list[Read] = []
    boxes: list[Box] = []
    unnarrowed: list[bool] = []
    for position, read in enumerate(phase.reads):
        needed = box_needed(extents, read.projection, box) if available is None else available[position]
        narrow = _narrowed(read.projection, box, needed)
        unnarrowed.append(narrow is None)
        boxes.append(needed)
        if narrow is None:
            narrow = (_from_box(box, [axis.size for axis in phase.axes]), *read.projection.stages)
        reads.append(Read(ValueId(-1 - position), simplify(sizes_of(extents), narrow)))
    axes = tuple(Axis(number(size), axis.kind) for size, axis in zip(extents, phase.axes, strict=True))
    origins = {axis: _ShardOrigin(len(phase.reads) + position, value) for position, (axis,
        value) in enumerate((moving or {}).items())}
    no_axes = Projection((Affine((), ()),))
    reads += [Read(origin.value, simplify(sizes_of(extents), no_axes.stages)) for origin in origins.values()]
    body, new_index = _body(phase.body, [start for start, _ in box], {axis: one.read for axis, one in origins.items()})
    results = tuple(PhaseResult(r.value, new_index[r.node], r.reduction) for r in phase.results)
    return Restricted(replace(phase, axes=axes, reads=tuple(reads), body=body, results=results), tuple(boxes), tuple(unnarrowed))


@dataclass(frozen=True, slots=True)
class _ShardOrigin:
    """Where a box starts along an axis: a value, and the index of its read."""

    read: int
    value: ValueId


def _from_box(box: Box, shape: Sequence[Size]) -> Affine:
    """From the coordinates of the box to those of the full space."""
    return Affine(tuple(AffineIndex((Term(a, 1),), number(start)) for a, (start, _) in enumerate(box)), tuple(shape))


def _narrowed(projection: Projection, box: Box, needed: Box) -> tuple[Stage, ...] | None:
    """The stages between the boxes that reach them; None where a reshape does not allow it."""
    stages: list[Stage] = []
    current, extents = box, [stop - start for start, stop in box]
    if not projection.stages and needed != box:
        points = tuple(AffineIndex((Term(axis, 1),), number(0)) for axis in range(len(box)))
        return (_between(Affine(points, _extents(box)), box, needed),)
    for position, stage in enumerate(projection.stages):
        reached = box_needed(extents, Projection((stage,)), current)
        if position == len(projection.stages) - 1:
            reached = needed
        if any(start >= stop for start, stop in reached):
            return (*stages, _outside(needed)) if needed else None
        match stage:
            case Affine():
                stages.append(_between(stage, current, reached))
            case Reshaped():
                source, target = [_value(n) for n in stage.source], [_value(n) for n in stage.target]
                if _same_run(source, current, target, reached):
                    stages.append(Reshaped(_extents(current), _extents(reached)))
                    current = reached
                    continue
                inside, outside = _run(source, current), _run(target, reached)
                if inside is None or outside is None or inside[0] < outside[0] or outside[1] < inside[1]:
                    return None
                count, room = number(inside[1] - inside[0]), number(outside[1] - outside[0])
                along = AffineIndex((Term(0, 1),), number(inside[0] - outside[0]))
                stages += [Reshaped(_extents(current), (count,)), Affine((along,), (room,)), Reshaped((room,), _extents(reached))]
        current = reached
    return tuple(stages)


def _outside(needed: Box) -> Affine:
    """A filling stage into a box without points: index 0 lies outside along the axes on which the box has no extent."""
    return Affine(tuple(AffineIndex((), number(0)) for _ in needed), _extents(needed), True)


def _between(stage: Affine, source: Box, target: Box) -> Affine:
    """An affine stage from the coordinates of one box to those of another."""
    indices = []
    for index, (origin, _) in zip(stage.indices, target, strict=True):
        start = _value(index.constant) + sum(term.coefficient * source[term.axis][0] for term in index.terms)
        indices.append(AffineIndex(index.terms, number(start - origin)))
    return Affine(tuple(indices), _extents(target), stage.fills)


def _same_run(source: Sequence[int], box: Box, target: Sequence[int], reached: Box) -> bool:
    """Are two boxes, group of axes by group of axes, one run of points in row-major order?"""
    if 0 in source:
        return True
    for left, right in _groups(source, target):
        a = _run([source[i] for i in left], [box[i] for i in left])
        b = _run([target[i] for i in right], [reached[i] for i in right])
        if a is None or a != b:
            return False
    return True


def _groups(source: Sequence[int], target: Sequence[int]) -> list[tuple[range, range]]:
    """The shortest runs of axes of equal products, from the front."""
    groups: list[tuple[range, range]] = []
    i = j = first = second = 0
    left = right = 1
    while i < len(source) or j < len(target):
        if (left <= right and i < len(source)) or j == len(target):
            left *= source[i]
            i += 1
        else:
            right *= target[j]
            j += 1
        if left == right and i > first and j > second:
            groups.append((range(first, i), range(second, j)))
            first, second, left, right = i, j, 1, 1
    if first < i or second < j:
        groups.append((range(first, i), range(second, j)))
    return groups


def _run(extents: Sequence[int], box: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The row-major interval of points that a box is; None if it is not one."""
    first = last = 0
    for size, (start, stop) in zip(extents, box, strict=True):
        first, last = first * size + start, last * size + stop - 1
    count = prod(stop - start for start, stop in box)
    return (first, last + 1) if last + 1 - first == count else None


def _body(nodes: Sequence[Node], origin: Sequence[int], moving: Mapping[int, int]) -> tuple[tuple[Node, ...], list[int]]:
    """The body with coordinates of the full space, and the new index of each node."""
    body: list[Node] = []
    new_index: list[int] = []
    for node in nodes:
        if isinstance(node, ApplyNode):
            node = replace(node, args=tuple(new_index[arg] for arg in node.args))
        body.append(node)
        if isinstance(node, AxisNode) and (origin[node.axis] or node.axis in moving):
            read = moving.get(node.axis)
            body.append(ConstantNode(Kind.I64, origin[node.axis]) if read is None else ReadNode(read, Kind.I64))
            body.append(ApplyNode("add", (len(body) - 2, len(body) - 1), Kind.I64))
        new_index.append(len(body) - 1)
    return tuple(body), new_index


def _extents(box: Box) -> tuple[Size, ...]:
    return tuple(number(stop - start) for start, stop in box)


def _value(size: Size) -> int:
    value = size.constant
    if value is None:
        raise ValueError(f"size {size} is not known")
    return value
