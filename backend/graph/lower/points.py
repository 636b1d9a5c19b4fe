"""Indexing one table along several axes, by places that differ from cell to cell: `{m[⍺;⍵]}¨`.

The core indexes one axis after the other.  Of a table that is the same for every cell this would make a part of the table for
each cell.  So a later index joins those before it: the axes that are indexed become one, and each point is read once.  The part
that nobody reads is dropped, which may not drop its checks: places along several axes are checked apart from what they read.

Neighbours: `library` (the other gathers), `state` (Note [Batching]).
"""

from __future__ import annotations

from collections.abc import Sequence

from ....typechecker import core
from ....typechecker.elements import Element, Kind
from ....typechecker.sizes import product
from ....typechecker.types import ArrayType
from ..phases import ApplyNode, AxisNode, Node, Projection, ReadNode, Reshaped, SizeNode, ValueId
from ..projections import axis_index
from .state import Carried, FrameAxes, Place, Points, State


def begins(state: State, op: core.Gather) -> bool:
    """Is this the first of several indices of such a table?"""
    several = op.place is not None and op.place.rank > 1 and not op.fills and op.shift is None
    return several and bool(state.get(op.indices).frame) and not state.get(op.arg).frame


def begin(state: State, op: core.Gather, indices: Carried) -> None:
    """Remember what the first index, whose result is bound, reads."""
    rank, before = len(state.shape(op.indices)), range(len(state.shape(op.arg)))
    layout = (*before[: op.axis], *[op.axis] * rank, *before[op.axis + 1 :])
    state.points[op.result] = Points(state.get(op.result), op.arg, {op.axis: Place(indices, rank)}, layout)


def goes_on(state: State, op: core.Gather) -> bool:
    """Does this index a further axis of such a table?"""
    points = state.points.get(op.arg)
    simple = not op.fills and op.shift is None
    return simple and points is not None and points.carried == state.get(op.arg) and points.layout[op.axis] not in points.places


def ready(state: State, op: core.Gather) -> Carried:
    """The places of an index; those that need it are checked, by looking them up among all that the axis has."""
    places = state.get(op.indices)
    if not op.checked:
        return places
    frame = state.union([op.indices], may_fail=True)
    span, length = state.span(op.result), state.shape(op.arg)[op.axis]
    every = state.fresh(ArrayType(Element(Kind.I64, below=length), (length,)))
    state.structured(every, span, (length,), [], [AxisNode(0)])
    value = state.carry(places, frame, span)
    made = state.fresh(ArrayType(Element(Kind.I64, below=length), state.types[value].shape))
    attributes: dict[str, object] = {"axis": 0, "checked": True, "fills": False}
    if op.place is not None:
        attributes["place"] = op.place
    state.library("gather", span, (every, value), (made,), attributes)
    return Carried(made, frame)


def go_on(state: State, op: core.Gather) -> None:
    """The points that all indices so far name, each read once."""
    indices = ready(state, op)
    points = state.points[op.arg]
    axis, rank, span = points.layout[op.axis], len(state.shape(op.indices)), state.span(op.result)
    places = dict(sorted({**points.places, axis: Place(indices, rank)}.items()))
    layout = (*points.layout[: op.axis], *[axis] * rank, *points.layout[op.axis + 1 :])
    frame = tuple(sorted({a for place in places.values() for a in place.value.frame}))
    shape = state.shape(points.table)
    rest = [a for a in range(len(shape)) if a not in places]
    at = _flat_places(state, op, places, frame)
    cells = state.types[at].shape + tuple(shape[a] for a in rest)
    read = state.fresh(ArrayType(state.type(op.result).element, cells))
    state.library("gather", span, (_flat_table(state, op, points.table, [*places, *rest], len(places)), at), (read,),
                  {"axis": 0, "checked": False, "fills": False})  # fmt: skip
    made_of = [a for a, place in places.items() for _ in range(place.rank)] + rest
    order = sorted(range(len(made_of)), key=lambda i: (layout.index(made_of[i]), i))
    depth = len(frame)
    state.permute(read, [*range(depth), *(depth + i for i in order)], span, state.define(op.result, frame))
    state.points[op.result] = Points(state.get(op.result), points.table, places, layout)


def _flat_places(state: State, op: core.Gather, places: dict[int, Place], frame: FrameAxes) -> ValueId:
    """The places along the axes that became one: row-major positions over the frame and the axes of each index in turn."""
    shape, span = state.shape(state.points[op.arg].table), state.span(op.result)
    cells = [state.types[place.value.value].shape[len(place.value.frame) :] for place in places.values()]
    space = state.sizes(frame) + tuple(size for cell in cells for size in cell)
    reads, body, first = [], list[Node](), len(frame)
    for (axis, place), cell in zip(places.items(), cells, strict=True):
        reads.append(state.operand(place.value, frame, space, [axis_index(first + a) for a in range(len(cell))]))
        first += len(cell)
        before = len(body) - 1
        kind = state.types[place.value.value].element.kind
        body.append(ReadNode(len(reads) - 1, kind))
        if kind is not Kind.I64:
            body.append(ApplyNode("convert", (len(body) - 1,), Kind.I64))
        if before >= 0:
            here = len(body) - 1
            body += [SizeNode(shape[axis]), ApplyNode("mul", (before, here + 1), Kind.I64)]
            body.append(ApplyNode("add", (here + 2, here), Kind.I64))
    made = state.fresh(ArrayType(Element(Kind.I64, below=product([shape[axis] for axis in places])), space))
    state.structured(made, span, space, reads, body)
    return made


def _flat_table(state: State, op: core.Gather, table: core.ValueId, order: Sequence[int], count: int) -> ValueId:
    """The table with its axes in `order`, the first `count` of them as one."""
    span = state.span(op.result)
    value = state.permute(state.get(table).value, order, span)
    shape = state.types[value].shape
    flat = (product(shape[:count]), *shape[count:])
    made = state.fresh(ArrayType(state.types[value].element, flat))
    state.view(made, span, value, Projection((Reshaped(flat, shape),)))
    return made
