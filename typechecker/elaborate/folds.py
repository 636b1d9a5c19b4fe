"""Reductions and scans with a function that is not a scalar primitive.

The items of an array of rank ≥ 2 are its elements along the axis if the function takes elements to an element (as in APL, where
`{≢⍵}⌿` counts one item of each column), else the cells along the axis (leading-axis theory).  A function whose result has
another shape than its items is unrolled when the axis's length is a small number.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...lang.codes import Code
from ...lang.source import Span
from ..core import Scalar
from ..core_blocks import Fold, FoldScan
from ..elements import Kind, plain
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, Value, is_poisoned, leaves
from ..rules.common import item_of
from ..sizes import ONE, Size
from ..types import ArrayType
from .axes import from_front, to_front
from .context import Context, rebuild
from .environment import FunctionValue
from .lifting import lift
from .states import Stable, changing, stabilise
from .values import cast

UNROLL_LIMIT = 64
_SAME = "the function must give back the type of its items"


def fold_axis(ctx: Context, function: FunctionValue, x: Operand, axis: int, span: Span) -> Value:
    """Reduce one axis of an array with a general function."""
    front = to_front(ctx, x, axis, span)
    if x.type.rank > 1 and _takes_elements(ctx, function, front, span):
        cells = _rest_first(ctx, front, span)
        return lift(ctx, [cells], [1], lambda cell: fold(ctx, function, cell[0], span), span)
    return fold(ctx, function, front, span)


def scan_axis(ctx: Context, function: FunctionValue, x: Operand, axis: int, span: Span) -> Value:
    """Scan one axis of an array with a dfn, left to right."""
    front = to_front(ctx, x, axis, span)
    if x.type.rank > 1 and _takes_elements(ctx, function, front, span):
        cells = _rest_first(ctx, front, span)
        scanned = lift(ctx, [cells], [1], lambda cell: scan(ctx, function, cell[0], span), span)
        if not isinstance(scanned, Operand) or scanned.poisoned:
            return scanned
        return from_front(ctx, to_front(ctx, scanned, scanned.type.rank - 1, span), axis, span)
    result = scan(ctx, function, front, span)
    if not isinstance(result, Operand) or result.poisoned:
        return result
    return from_front(ctx, result, axis, span)


def _rest_first(ctx: Context, front: Operand, span: Span) -> Operand:
    """The leading axis last."""
    return from_front(ctx, front, front.type.rank - 1, span)


def _takes_elements(ctx: Context, function: FunctionValue, front: Operand, span: Span) -> bool:
    """Does the function take two elements to one element?  Not if whole cells give the same: what leaves an element as it is,
    such as `1⌽`, may yet move the items of a cell."""
    element = plain(front.type.element)
    rank, of_elements = _tried(ctx, function, ArrayType(element, ()), span)
    return rank == 0 and not (of_elements and _tried(ctx, function, ArrayType(element, front.type.shape[1:]), span)[1])


def _tried(ctx: Context, function: FunctionValue, cell: ArrayType, span: Span) -> tuple[int | None, bool]:
    """The rank of what the function makes of two cells, None if it takes none, and whether scalar functions alone make it."""
    builder = ctx.builder
    mark = builder.mark()
    params = builder.open_block([cell] * 2, span)
    with ctx.operator_body(span):
        value = ctx.call(function, params[0], params[1], span)
    block = builder.close_block(() if is_poisoned(value) else leaves(value))
    builder.rollback(mark)
    if is_poisoned(value) or not isinstance(value, Operand):
        return None, False
    return value.type.rank, all(isinstance(op, Scalar) for op in block.ops)


# -------------------------------------------------------------------------------------- folds


def _leading(ctx: Context, value: Value, span: Span) -> Size | None:
    """The common leading size of the arrays of a value; None after an error."""
    length: Size | None = None
    for x in leaves(value):
        if x.type.rank == 0:
            ctx.error(Code.E131, "the arrays reduced in step need at least one axis each", span)
            return None
        if length is None:
            length = x.type.shape[0]
        elif ctx.builder.equal(length, x.type.shape[0]) is not True:
            ctx.error(Code.E101, f"the arrays reduced in step have leading sizes {length} and {x.type.shape[0]}", span)
            return None
    return length


_STARTS = {"`⌈/`": "`⌈/¯∞,x`", "`⌊/`": "`⌊/∞,x`"}


def require_items(ctx: Context, what: str, length: Size, span: Span, kind: Kind | None = None) -> bool:
    """E204 unless the reduced axis has an item.  `kind`: of the items; ∞ would make integers floats."""
    empty = "is empty" if length.constant is not None else f"of length {length} may be empty"
    start = ""
    if what in _STARTS and kind is not None:
        start = f" ({_STARTS[what]})" if kind.is_float else f" (`{what[1:-1]}k,x` with an integer k)" if kind.is_integer else ""
    known = length.constant is not None or length.is_runtime()
    stated = "" if known else f", or state that the axis is not empty (`where {length} ≥ 1`)"
    return ctx.builder.require(
        Obligation(
            SizeFact(Relation.AT_MOST, ONE, length),
            Code.E204,
            span,
            f"{what} has no identity, and the reduced axis {empty}",
            notes=(f"give it a start value{start}{stated}",),
        )
    )


def fold(ctx: Context, function: FunctionValue, value: Value, span: Span) -> Value:
    """Put the function between the major cells (of several arrays in step, for a tuple), right to left."""
    length = _leading(ctx, value, span)
    if length is None or not require_items(ctx, "this function", length, span):
        return ctx.builder.poison(span)
    arrays = leaves(value)
    pattern = rebuild(value, [_item(x) for x in arrays])
    mark = ctx.builder.mark()

    def body(items: Sequence[Operand], state: Value) -> Value:
        return ctx.call(function, rebuild(value, items), state, span)

    if length == ONE:
        return _nth(ctx, value, 0, span)
    items = [ArrayType(plain(x.type.element), x.type.shape[1:]) for x in arrays]
    found = stabilise(ctx, items, pattern, body, span, shared=True)
    if isinstance(found, Stable):
        stable = found
        args = tuple([cast(ctx, x, t.element, span).value for x, t in zip(arrays, stable.types, strict=True)])

        return rebuild(value, ctx.builder.emit_many(lambda results: Fold(results, args, stable.block), stable.types, span))
    count = length.constant
    if count is not None and count <= UNROLL_LIMIT:
        ctx.builder.rollback(mark)
        state = _nth(ctx, value, count - 1, span)
        for i in range(count - 2, -1, -1):
            state = ctx.call(function, _nth(ctx, value, i, span), state, span)
        return state
    return changing(ctx, found, "the accumulator of this reduction", _SAME, span)


def scan(ctx: Context, function: FunctionValue, value: Value, span: Span) -> Value:
    """Left fold over the major cells keeping every accumulator."""
    length = _leading(ctx, value, span)
    if length is None:
        return ctx.builder.poison(span)
    arrays = leaves(value)
    pattern = rebuild(value, [_item(x) for x in arrays])

    def body(items: Sequence[Operand], state: Value) -> Value:
        return ctx.call(function, state, rebuild(value, items), span)

    items = [ArrayType(plain(x.type.element), x.type.shape[1:]) for x in arrays]
    found = stabilise(ctx, items, pattern, body, span, state_first=True, shared=True)
    if not isinstance(found, Stable):
        return changing(ctx, found, "the accumulator of this scan", _SAME, span)
    stable = found
    args = tuple([cast(ctx, x, t.element, span).value for x, t in zip(arrays, stable.types, strict=True)])
    types = [ArrayType(t.element, (length, *t.shape)) for t in stable.types]

    return rebuild(value, ctx.builder.emit_many(lambda results: FoldScan(results, args, stable.block), types, span))


def _item(x: Operand) -> Operand:
    """A major cell of x, as a pattern only."""
    return Operand(x.value, ArrayType(x.type.element, x.type.shape[1:]))


def _nth(ctx: Context, value: Value, i: int, span: Span) -> Value:
    return rebuild(value, [item_of(ctx.builder, x, i, span) for x in leaves(value)])
