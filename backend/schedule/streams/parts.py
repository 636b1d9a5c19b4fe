"""Small boxes of flowing values, where a phase needs only these: the middle of a sorted vector, the last row.

Such a phase may have no axis to be tiled along, or may read a tile and a row far from it (`x-x[0]`).  So a separate phase takes
each box.  It flows with the value, its box is collected, and the original phase reads the box.

Neighbours: `flow` (says where), `planning` (asks), `graph.restriction` (reads of boxes), `scratch`, `selections`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import prod
from typing import Final

from ....typechecker.sizes import number
from ....typechecker.types import ArrayType
from ...graph import traverse
from ...graph.bind import BoundGraph
from ...graph.costs import Types
from ...graph.phases import (
    Phase,
    PhaseId,
    Structured,
    ValueId,
)
from ...graph.restriction import restrict, view_of
from ..facts.sharding import operand_boxes, shape_of, space_of, whole
from ..plan.model import Box

_SMALLER: Final = 1 << 10
"""A box is small if the value has so many times its points."""


def with_parts(bound: BoundGraph, wanted: Phase) -> BoundGraph | None:
    """The graph in which the phase reads small boxes as values of their own, near ones as one; None if it reads none."""
    graph, types = bound.graph, dict(bound.graph.types)
    space = space_of(wanted, types)
    near = _small_boxes(wanted, types)
    if not isinstance(wanted, Structured) or space is None or not near:
        return None
    if len(near) == 1 and whole(space) == tuple((0, stop - start) for start, stop in near[0][1]):  # it is such a part
        return None
    fresh = traverse.fresh_id(graph)
    values, parts = [read.value for read in wanted.reads], list[Phase]()
    held = [whole(shape_of(value, types) or ()) for value in values]
    for at, (value, hull, places) in enumerate(near):
        box, result = _two_rows(hull, shape_of(value, types) or ()), ValueId(fresh + at)
        there, starts = types[value].shape, [start for start, _ in box]
        types[result] = ArrayType(types[value].element, tuple(number(stop - start) for start, stop in box))
        parts.append(view_of(PhaseId(fresh + at), wanted.span, value, there, starts, types[result], result))
        for place in places:
            held[place], values[place] = box, result
    restricted = restrict(wanted, whole(space), held)
    if any(restricted.whole[place] for _, _, places in near for place in places):
        return None
    reads = tuple(replace(read, value=value) for read, value in zip(restricted.phase.reads, values, strict=True))
    own = replace(restricted.phase, reads=reads)
    phases = [one for phase in graph.phases for one in ((*parts, own) if phase.id == wanted.id else (phase,))]
    return BoundGraph(replace(graph, phases=tuple(phases), types=types), bound.sizes)


def reads_apart(phase: Phase, types: Types, flowing: Collection[ValueId]) -> bool:
    """Does it read a small box of what flows, and something else of what flows that is not near?"""
    near = [one for one in _small_boxes(phase, types) if one[0] in flowing]
    places = {place for _, _, places in near for place in places}
    values = [read.value for read in phase.reads] if isinstance(phase, Structured) else []
    others = [value for place, value in enumerate(values) if value in flowing and place not in places]
    return len(near) > 1 or (bool(near) and bool(others))


def _small_boxes(phase: Phase, types: Types) -> list[tuple[ValueId, Box, list[int]]]:
    """Those of a value that the phase needs, for all its points, and which of its reads are in each."""
    space, near = space_of(phase, types), list[tuple[ValueId, Box, list[int]]]()
    if not isinstance(phase, Structured) or space is None or 0 in space:
        return near
    for place, (read, box) in enumerate(zip(phase.reads, operand_boxes(phase, types, whole(space)), strict=True)):
        shape = shape_of(read.value, types) or ()
        for at, (value, other, places) in enumerate(near):
            if value == read.value and _is_small(_hull(box, other), shape):
                near[at] = value, _hull(box, other), [*places, place]
                break
        else:
            if _is_small(box, shape):
                near.append((read.value, box, [place]))
    return near


def _is_small(box: Box, shape: Sequence[int]) -> bool:
    return 0 < _points(box) * _SMALLER <= prod(shape)


def _hull(first: Box, second: Box) -> Box:
    return tuple((min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(first, second, strict=True))


def _points(box: Box) -> int:
    return prod(stop - start for start, stop in box)


def _two_rows(box: Box, shape: Sequence[int]) -> Box:
    """At least two rows along every axis that has them, since an axis of one is not cut."""
    starts = [
        max(0, min(start, size - 2)) if stop - start == 1 else start for (start, stop), size in zip(box, shape, strict=True)
    ]
    return tuple((start, max(stop, min(start + 2, size))) for start, (_, stop), size in zip(starts, box, shape, strict=True))
