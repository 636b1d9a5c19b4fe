"""Lowering of element-wise ops, generators and reductions: everything that is one structured phase with a body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from ....lang.support.records import replace
from ....typechecker.core import operations as c
from ....typechecker.core.operations import ValueId
from ....typechecker.elements import ArrayType, Element, Kind, may_fail
from ....typechecker.sizes.polynomials import ONE, ZERO, Size, number, product
from ..phases import (
    Affine,
    AffineIndex,
    ApplyNode,
    AxisNode,
    ConstantNode,
    Node,
    Projection,
    Read,
    ReadNode,
    Reshaped,
    Shape,
    SizeNode,
    Stage,
    Term,
    ValueId as GraphValueId,
    axis_index,
    constant_index,
    equal_products,
    not_negative,
    simplify,
)
from .state import AxisIndices, CarriedValue, FrameAxes, LoweringState, PointGather

# ---------------------------------------------------------------------------------------------------- elementwise

def literal(state: LoweringState, op: c.Literal) -> None:
    result = state.define(op.result)
    state.literals[op.result] = op
    if not state.shape(op.result):
        state.constants[op.result] = ConstantNode(state.kind(op.result), op.data[0])
    state.constant(result, op.data, state.span(op.result))


def size_vector(state: LoweringState, op: c.SizeVector) -> None:
    result = state.define(op.result)
    span = state.span(op.result)
    if op.scalar:
        state.constants[op.result] = SizeNode(op.sizes[0])
    known = [s.constant for s in op.sizes]
    if all(k is not None for k in known):
        data = tuple(k for k in known if k is not None)
        state.constant(result, data, span)
        state.literals[op.result] = c.Literal(op.result, data)
    elif len(op.sizes) == 1:
        space = () if op.scalar else (number(1),)
        state.structured(result, span, space, [], [SizeNode(op.sizes[0])])
    else:
        state.library("size_vector", span, (), (result,), {"sizes": op.sizes})


def scalar(state: LoweringState, op: c.Scalar) -> None:
    kind, span = state.kind(op.result), state.span(op.result)
    failing = may_fail(op.function, kind)
    frame = state.union(op.args, may_fail=failing)
    result = state.define(op.result, frame)
    space = state.types[result].shape
    reads: list[Read] = []
    body: list[Node] = []
    at: dict[c.ValueId, int] = {}
    for arg in op.args:
        if arg in at:
            continue
        at[arg] = len(body)
        if arg in state.constants:
            body.append(state.constants[arg])
            continue
        cell = [axis_index(len(frame) + i) for i in range(len(state.shape(arg)))]
        body.append(ReadNode(len(reads), state.kind(arg)))
        reads.append(state.operand(state.get(arg), frame, space, cell))
    body.append(ApplyNode(op.function, tuple(at[a] for a in op.args), kind, op.parameter, span if failing else None))
    state.structured(result, span, space, reads, body)


def iota(state: LoweringState, op: c.Iota) -> None:
    result = state.define(op.result)
    state.structured(result, state.span(op.result), state.shape(op.result), [], [AxisNode(0)])


def iota_grid(state: LoweringState, op: c.IotaGrid) -> None:
    """Lowers an index grid whose last axis picks the coordinate: nested selections over the few axes of the box."""
    result = state.define(op.result)
    space = state.shape(op.result)
    rank = len(space) - 1
    body: list[Node] = [AxisNode(a) for a in range(rank + 1)]
    if rank == 0:
        body = [ConstantNode(Kind.I64, 0)]
    else:
        chosen = rank - 1
        for axis in range(rank - 2, -1, -1):
            body.append(ConstantNode(Kind.I64, axis))
            body.append(ApplyNode("eq", (rank, len(body) - 1), Kind.BOOL))
            body.append(ApplyNode("select", (len(body) - 1, axis, chosen), Kind.I64))
            chosen = len(body) - 1
        body = body[: chosen + 1]
    state.structured(result, state.span(op.result), space, [], body)


def reduce(state: LoweringState, op: c.Reduce) -> None:
    carried = state.get(op.arg)
    frame = carried.frame
    result = state.define(op.result, frame)
    cell = state.shape(op.arg)
    parallel = state.types[result].shape
    space = (*parallel, cell[op.axis])
    rank = len(cell)
    # cell axes other than the reduced one keep their order behind the frame; the reduce axis comes last
    position = {a: len(frame) + (a if a < op.axis else a - 1) for a in range(rank)} | {op.axis: len(space) - 1}
    read = state.operand(carried, frame, space, [axis_index(position[a]) for a in range(rank)])
    body: list[Node] = [ReadNode(0, state.kind(op.arg))]
    state.structured(result, state.span(op.result), parallel, [read], body, (cell[op.axis], op.function))


# ---------------------------------------------------------------------------------------------------- views
#
# Lowering of ops that move elements and compute nothing: one structured phase with an identity body and a projection.
#
# A reshape whose products are not evidently equal, gathers, joins and rotations are library phases (`passes.folding` turns
# gathers by evenly stepping indices into views, and folds views into their readers).

def transpose(state: LoweringState, op: c.Transpose) -> None:
    _affine(state, op.result, op.arg, [axis_index(a) for a in op.axes])


def broadcast(state: LoweringState, op: c.Broadcast) -> None:
    _affine(state, op.result, op.arg, [axis_index(a) for a in op.axes])


def reverse(state: LoweringState, op: c.Reverse) -> None:
    shape = state.shape(op.arg)
    indices = [axis_index(a) for a in range(len(shape))]
    indices[op.axis] = AffineIndex((Term(op.axis, -1),), shape[op.axis] - 1)
    _affine(state, op.result, op.arg, indices)


def slice_(state: LoweringState, op: c.Slice) -> None:
    rank = len(state.shape(op.arg))
    starts = [*op.starts, *([ZERO] * (rank - len(op.starts)))]
    _affine(state, op.result, op.arg, [AffineIndex((Term(a, 1),), s) for a, s in enumerate(starts)], fills=True)


def windows(state: LoweringState, op: c.SlidingWindows) -> None:
    rank, k = len(state.shape(op.arg)), op.count
    indices = [AffineIndex((Term(a, 1), Term(k + a, 1)), ZERO) if a < k else axis_index(k + a) for a in range(rank)]
    _affine(state, op.result, op.arg, indices)


def reshape(state: LoweringState, op: c.Reshape) -> None:
    old, new = state.shape(op.arg), state.shape(op.result)
    extra = len(new) - len(old)
    if old == new or (extra >= 0 and new[extra:] == old):  # copies of arg along new leading axes; empty if arg is
        _affine(state, op.result, op.arg, [axis_index(extra + a) for a in range(len(old))])
    elif all(s == ONE for s in old):
        _affine(state, op.result, op.arg, [constant_index(ZERO)] * len(old))
    elif all(s == ONE for s in new):  # the first element, a fill if there is none
        _affine(state, op.result, op.arg, [constant_index(ZERO)] * len(old), fills=True)
    elif equal_products(old, new):
        _reshaped(state, op.result, op.arg, ())
    elif _truncates(old, new):
        _reshaped(state, op.result, op.arg, _flat(new, product(old)))
    else:
        carried = state.get(op.arg)
        result = state.define(op.result, carried.frame)
        frame = {"frame": len(carried.frame), "framed": (True,)}
        state.library("reshape_cycle", state.span(op.result), (carried.value,), (result,), frame)


def _truncates(old: Shape, new: Shape) -> bool:
    """Does the reshape provably take a leading part of arg?  (The strides of the flat position must be numbers.)"""
    room = product(old) - product(new)
    return not_negative(room) and all(s.constant is not None for s in new[1:])


def _flat(new: Shape, length: Size) -> tuple[Stage, ...]:
    """From a point of `new` to its row-major position in a vector of `length`."""
    stride, terms = 1, []
    for axis in range(len(new) - 1, -1, -1):
        terms.append(Term(axis, stride))
        stride *= new[axis].constant or 0
    return (Affine((AffineIndex(tuple(t for t in reversed(terms) if t.coefficient), ZERO),), (length,)),)


def _affine(state: LoweringState, result: c.ValueId, arg: c.ValueId, indices: Sequence[AffineIndex], *,
    fills: bool = False
            ) -> None:  # fmt: skip
    """A view with `indices` into the cell's axes; the axes of the frame stay in front."""
    carried = state.get(arg)
    target = state.define(result, carried.frame)
    space = state.types[target].shape
    shift = len(carried.frame)
    cell = [_shifted(i, shift) for i in indices]
    read = state.operand(carried, carried.frame, space, cell, fills=fills)
    state.view(target, state.span(result), carried.value, read.projection)


def _reshaped(state: LoweringState, result: c.ValueId, arg: c.ValueId, flatten: tuple[Stage, ...]) -> None:
    carried = state.get(arg)
    target = state.define(result, carried.frame)
    space = state.types[target].shape
    frame = state.sizes(carried.frame)
    old, new = state.shape(arg), state.shape(result)
    stages: list[Stage] = []
    source = new
    if flatten:
        stage = flatten[0]
        assert isinstance(stage, Affine)
        cell = [_shifted(i, len(frame)) for i in stage.indices]
        stages.append(Affine((*(axis_index(a) for a in range(len(frame))), *cell), frame + stage.shape))
        source = stage.shape
    stages.append(Reshaped(frame + source, frame + old))
    if state.types[carried.value].shape != frame + old:  # frames of equal size under two names
        stages.append(_renamed(frame + old, carried, state))
    state.view(target, state.span(result), carried.value, Projection(simplify(space, stages).stages))


def _shifted(index: AffineIndex, by: int) -> AffineIndex:
    return AffineIndex(tuple(Term(t.axis + by, t.coefficient) for t in index.terms), index.constant)


def _renamed(box: Shape, carried: CarriedValue, state: LoweringState) -> Affine:
    return Affine(tuple(axis_index(a) for a in range(len(box))), state.types[carried.value].shape)


# ------------------------------------------------------------------------------------------------ products of floats
#
# Float products that are NaN only where an item is NaN or infinite: `×/`, `×\` and products by key.
#
# The order of sums multiplies the factors of a block or lane first, so that finite items may overflow to ∞ and then meet a zero,
# which gives NaN, where a product of finite items with a zero is 0.  So a NaN of a reduction is replaced by the sum of x - x,
# which is 0 if all items are finite and NaN otherwise; sibling fusion computes both in one pass over the items.  For a scan, a
# running `∧` says up to which item all are finite.

_BOOL: Final = Element(Kind.BOOL)
_FLOATS: Final = (Kind.F32, Kind.F64)


def expanded(state: LoweringState, op: c.Op) -> Iterator[c.Op]:
    """The ops that replace `op`: `op` alone, unless it is a product of real floats, or a match of values of one type."""
    if isinstance(op, c.Reduce | c.Scan | c.KeyReduce) and op.function == "mul" and state.kind(op.arg) in _FLOATS:
        yield from _product(state, op)
    elif isinstance(op, c.Library) and op.name == "match" and len({_comparable(state, arg) for arg in op.args}) == 1:
        yield from _match(state, op)
    else:
        yield op


def _comparable(state: LoweringState, value: ValueId) -> tuple[Kind, Shape]:
    return state.kind(value), state.type(value).shape


def _match(state: LoweringState, op: c.Library) -> Iterator[c.Op]:
    """Lowers a match: whether all items are equal, reduced axis by axis."""
    shape = state.type(op.args[0]).shape
    values = [state.derived(ArrayType(_BOOL, shape[:rank]), state.span(op.results[0])) for rank in range(len(shape), 0, -1)]
    steps = [*values, op.results[0]]
    yield c.Scalar(steps[0], "eq", op.args)
    for axis, (arg, result) in zip(range(len(shape) - 1, -1, -1), pairwise(steps), strict=True):
        yield c.Reduce(result, "and", arg, axis)


def _product(state: LoweringState, op: c.Reduce | c.Scan | c.KeyReduce) -> Iterator[c.Op]:
    def like(value: ValueId, element: Element | None = None) -> ValueId:
        type = state.type(value)
        return state.derived(ArrayType(element or type.element, type.shape), state.span(op.result))

    product, difference, is_number = like(op.result), like(op.arg), like(op.result, _BOOL)
    yield replace(op, result=product)
    yield c.Scalar(difference, "sub", (op.arg, op.arg))
    replacement = like(op.result)
    if isinstance(op, c.Scan):
        is_finite, all_finite = like(op.arg, _BOOL), like(op.arg, _BOOL)
        zero = state.derived(ArrayType(state.type(op.arg).element, ()), state.span(op.result))
        yield c.Scalar(is_finite, "eq", (difference, difference))
        yield replace(op, result=all_finite, arg=is_finite, function="and")
        yield c.Literal(zero, (0.0,))
        yield c.Scalar(replacement, "select", (all_finite, zero, product))
    else:
        yield replace(op, result=replacement, arg=difference, function="add")
    yield c.Scalar(is_number, "eq", (product, product))
    yield c.Scalar(op.result, "select", (is_number, product, replacement))


# -------------------------------------------------------------------------------------------- joint indexing
#
# Indexing one table along several axes, by indices that differ from cell to cell: `{m[⍺;⍵]}¨`.
#
# The core indexes one axis after the other, which for a table that all cells share would copy a part of the table for each cell.
# So a later index joins those before it: the indexed axes are flattened into one, and each point is read once.  The first gather,
# which nothing reads then, is dropped as dead; so that its check is not, indices along several axes are checked by themselves.

def starts_point_gather(state: LoweringState, op: c.Gather) -> bool:
    """Is this the first of several indices of a table that all cells share?"""
    several = op.indexing is not None and op.indexing.rank > 1 and not op.fills and op.shift is None
    return several and bool(state.get(op.indices).frame) and not state.get(op.arg).frame


def start_point_gather(state: LoweringState, op: c.Gather, indices: CarriedValue) -> None:
    """Record the gather of the first index, whose result is bound."""
    rank, before = len(state.shape(op.indices)), range(len(state.shape(op.arg)))
    layout = (*before[: op.axis], *[op.axis] * rank, *before[op.axis + 1 :])
    state.points[op.result] = PointGather(state.get(op.result), op.arg, {op.axis: AxisIndices(indices, rank)}, layout)


def extends_point_gather(state: LoweringState, op: c.Gather) -> bool:
    """Does this index a further axis of a table whose first index is recorded?"""
    points = state.points.get(op.arg)
    simple = not op.fills and op.shift is None
    return simple and points is not None and points.carried == state.get(op.arg) and points.layout[op.axis] not in points.places


def checked_indices(state: LoweringState, op: c.Gather) -> CarriedValue:
    """The indices of a gather.  Where the program requires a check, a checked gather from `⍳length` does it."""
    places = state.get(op.indices)
    if not op.checked:
        return places
    frame = state.union([op.indices], may_fail=True)
    span, length = state.span(op.result), state.shape(op.arg)[op.axis]
    every = state.fresh(ArrayType(Element(Kind.I64, index_bound=length), (length,)))
    state.structured(every, span, (length,), [], [AxisNode(0)])
    value = state.carry(places, frame, span)
    positions = state.fresh(ArrayType(Element(Kind.I64, index_bound=length), state.types[value].shape))
    attributes: dict[str, object] = {"axis": 0, "checked": True, "fills": False}
    if op.indexing is not None:
        attributes["indexing"] = op.indexing
    state.library("gather", span, (every, value), (positions,), attributes)
    return CarriedValue(positions, frame)


def extend_point_gather(state: LoweringState, op: c.Gather) -> None:
    """One gather of the points that all indices so far select, from the table with its indexed axes flattened."""
    indices = checked_indices(state, op)
    points = state.points[op.arg]
    axis, rank, span = points.layout[op.axis], len(state.shape(op.indices)), state.span(op.result)
    places = dict(sorted({**points.places, axis: AxisIndices(indices, rank)}.items()))
    layout = (*points.layout[: op.axis], *[axis] * rank, *points.layout[op.axis + 1 :])
    frame = tuple(sorted({a for point in places.values() for a in point.value.frame}))
    shape = state.shape(points.table)
    rest = [a for a in range(len(shape)) if a not in places]
    at = _flat_indices(state, op, places, frame)
    cells = state.types[at].shape + tuple(shape[a] for a in rest)
    read = state.fresh(ArrayType(state.type(op.result).element, cells))
    state.library("gather", span, (_flat_table(state, op, points.table, [*places, *rest], len(places)), at), (read,),
                  {"axis": 0, "checked": False, "fills": False})  # fmt: skip
    axis_of = [a for a, point in places.items() for _ in range(point.rank)] + rest
    order = sorted(range(len(axis_of)), key=lambda i: (layout.index(axis_of[i]), i))
    depth = len(frame)
    state.permute(read, [*range(depth), *(depth + i for i in order)], span, state.define(op.result, frame))
    state.points[op.result] = PointGather(state.get(op.result), points.table, places, layout)


def _flat_indices(state: LoweringState, op: c.Gather, places: dict[int, AxisIndices], frame: FrameAxes) -> GraphValueId:
    """The indices into the flattened axes: row-major positions, over the frame and the axes of each index in turn."""
    shape, span = state.shape(state.points[op.arg].table), state.span(op.result)
    cells = [state.types[point.value.value].shape[len(point.value.frame) :] for point in places.values()]
    space = state.sizes(frame) + tuple(size for cell in cells for size in cell)
    reads, body, first = [], list[Node](), len(frame)
    for (axis, point), cell in zip(places.items(), cells, strict=True):
        reads.append(state.operand(point.value, frame, space, [axis_index(first + a) for a in range(len(cell))]))
        first += len(cell)
        before = len(body) - 1
        kind = state.types[point.value.value].element.kind
        body.append(ReadNode(len(reads) - 1, kind))
        if kind is not Kind.I64:
            body.append(ApplyNode("convert", (len(body) - 1,), Kind.I64))
        if before >= 0:
            here = len(body) - 1
            body += [SizeNode(shape[axis]), ApplyNode("mul", (before, here + 1), Kind.I64)]
            body.append(ApplyNode("add", (here + 2, here), Kind.I64))
    flat = state.fresh(ArrayType(Element(Kind.I64, index_bound=product([shape[axis] for axis in places])), space))
    state.structured(flat, span, space, reads, body)
    return flat


def _flat_table(state: LoweringState, op: c.Gather, table: c.ValueId, order: Sequence[int],
    count: int) -> GraphValueId:
    """The table with its axes in `order`, the first `count` of them flattened into one."""
    span = state.span(op.result)
    value = state.permute(state.get(table).value, order, span)
    shape = state.types[value].shape
    flat = (product(shape[:count]), *shape[count:])
    flattened = state.fresh(ArrayType(state.types[value].element, flat))
    state.view(flattened, span, value, Projection((Reshaped(flat, shape),)))
    return flattened
