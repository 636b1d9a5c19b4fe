"""`∘.f` and `f.g`: every pair of elements; rows against columns."""

from __future__ import annotations

from ...lang.codes import Code
from ...lang.diagnostics import Label
from ...lang.source import Span
from ..agreement import turned
from ..core import Contract, Spread
from ..display import show_type
from ..elements import joint
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, Value
from ..sizes import Size
from ..types import ArrayType
from .axes import from_front
from .compose import as_function
from .context import Context
from .environment import DerivedFunction, FunctionValue, PrimitiveFunction
from .expressions import single
from .lifting import lift
from .literals import stack
from .patterns import simplified
from .pervasive import apply_map, is_scalar_primitive, plan, spread
from .reduce_scan import ScalarFold, along, scalar_fold
from .values import cast


def table(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`x ∘.f y`: shape of x then shape of y (then the cells of f's results)."""
    if left is None:
        return ctx.error(Code.E133, "`∘.f` needs two arguments", span)
    function = simplified(as_function(ctx, derived.operands[0], "∘.", derived.span))
    x, y = single(ctx, left, span), single(ctx, right, span)
    if x.poisoned or y.poisoned:
        return ctx.builder.poison(span)
    if isinstance(function, PrimitiveFunction) and function.glyph == "○" and x.type.rank:
        return _circular(ctx, function, x, y, span)
    map_ = plan(DerivedFunction(derived.span, "∘.", (function,)), x.type.rank, y.type.rank)
    if map_ is not None:
        return apply_map(ctx, map_, x, y, span)
    if x.type.rank == 0 or y.type.rank == 0:
        return lift(ctx, [x, y], [0, 0], lambda pair: ctx.call(function, pair[0], pair[1], span), span)
    shape = x.type.shape + y.type.shape
    rows = spread(ctx, x, tuple(range(x.type.rank)), shape, span)
    columns = _along(ctx, y, x.type.rank, shape, span)
    return lift(ctx, [columns, rows], [0, 0], lambda pair: ctx.call(function, pair[1], pair[0], span), span)


def _along(ctx: Context, y: Operand, offset: int, shape: tuple[Size, ...], span: Span) -> Operand:
    axes = tuple(range(offset, offset + y.type.rank))
    return ctx.builder.emit(lambda result: Spread(result, y.value, axes), ArrayType(y.type.element, shape), span)


def _circular(ctx: Context, function: PrimitiveFunction, x: Operand, y: Operand, span: Span) -> Value:
    """`1 2∘.○y`: the left argument is literal, so one application for each of its items."""
    if x.constant is None or x.type.rank != 1:
        return ctx.error(Code.E403, "the left argument of `○` must be literal", span)
    element = x.type.element
    parts: list[Operand] = []
    for value in x.constant:
        which = ctx.builder.literal((value,), ArrayType(element, ()), span)
        part = ctx.call(function, which, y, span)
        if not isinstance(part, Operand) or part.poisoned:
            return ctx.builder.poison(span)
        parts.append(part)
    if not parts:
        return ctx.error(Code.E403, "the left argument of `∘.○` is empty", span)
    return stack(ctx, parts, span, Code.E300, "the rows mix text and numbers")


def inner(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`x f.g y`: f/ of g between the last axis of x and the first of y."""
    if left is None:
        return ctx.error(Code.E130, "an inner product takes two arguments, got one", span)
    first, second = [simplified(as_function(ctx, operand, ".", derived.span)) for operand in derived.operands]
    x, y = single(ctx, left, span), single(ctx, right, span)
    if x.poisoned or y.poisoned:
        return ctx.builder.poison(span)
    if x.type.rank and y.type.rank:
        fact = SizeFact(Relation.EQUAL, x.type.shape[-1], y.type.shape[0])
        notes, fixes = turned(ctx.builder, y, span) if y.type.rank > 1 and y.type.shape[-1] == fact.left else ((), ())
        labels = tuple([Label(ctx.builder.where(v), show_type(v.type)) for v in (x, y)])
        message = f"the inner axes differ: the left one is {fact.left} long, the right one {fact.right}"
        obligation = Obligation(fact, Code.E102, span, message, labels, notes, fixes)
        if not ctx.builder.require(obligation):
            return ctx.builder.poison(span)
    product = _is(second, "×") and _is(first, "+")
    if product and x.type.rank and y.type.rank:
        return _contract(ctx, first, x, y, span)
    return _general(ctx, first, second, x, y, span)


def _is(function: FunctionValue, glyph: str) -> bool:
    return isinstance(function, PrimitiveFunction) and function.glyph == glyph


def _contract(ctx: Context, add: FunctionValue, x: Operand, y: Operand, span: Span) -> Value:
    """`+.×` on numbers of one kind."""
    x, y = ctx.builder.to_number(x, span), ctx.builder.to_number(y, span)
    element = joint([x.type.element, y.type.element])
    assert isinstance(add, PrimitiveFunction)
    if element is None:
        return ctx.error(Code.E300, "`+.×` needs numbers, but one argument is text", span)
    pattern = Operand(x.value, ArrayType(element, ()))
    fold = scalar_fold(ctx, add, pattern, span)
    if not isinstance(fold, ScalarFold):
        return ctx.builder.poison(span)
    a, b = cast(ctx, x, fold.element, span), cast(ctx, y, fold.element, span)
    type_ = ArrayType(fold.element, x.type.shape[:-1] + y.type.shape[1:])
    return ctx.builder.emit(lambda result: Contract(result, a.value, b.value), type_, span)


def _general(ctx: Context, first: FunctionValue, second: FunctionValue, x: Operand, y: Operand, span: Span) -> Value:
    """A scalar g meets all rows and columns at once; else a loop over pairs of a row and a column."""
    if is_scalar_primitive(second, dyadic=True):
        if x.type.rank == 0 or y.type.rank == 0:
            pairs = ctx.call(second, x, y, span)
            axis = 0 if x.type.rank == 0 else None
        else:
            rows = x.type.rank - 1
            shape = x.type.shape + y.type.shape[1:]
            right_axes = (rows, *range(rows + 1, len(shape)))
            a = spread(ctx, x, tuple(range(x.type.rank)), shape, span)
            b = spread(ctx, y, right_axes, shape, span)
            pairs = ctx.call(second, a, b, span)
            axis = rows
        if not isinstance(pairs, Operand) or pairs.poisoned or pairs.type.rank == 0:
            return pairs
        return along(ctx, first, pairs, pairs.type.rank - 1 if axis is None else axis, span)
    rows_first = x
    columns = from_front(ctx, y, y.type.rank - 1, span) if y.type.rank else y

    def pair(row: Operand, column: Operand) -> Value:
        value = ctx.call(second, row, column, span)
        if not isinstance(value, Operand) or value.poisoned or value.type.rank == 0:
            return value
        return along(ctx, first, value, value.type.rank - 1, span)

    def over_columns(row: Operand) -> Value:
        return lift(ctx, [columns], [min(1, columns.type.rank)], lambda column: pair(row, column[0]), span)

    return lift(ctx, [rows_first], [min(1, x.type.rank)], lambda row: over_columns(row[0]), span)
