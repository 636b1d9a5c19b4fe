"""`¨ ˘ ⍤`: each element, each major cell, cells of given ranks; `⍤` with a function is atop."""

from __future__ import annotations

from ...lang.codes import Code
from ...lang.source import Span
from ..operands import EnclosedOperand, Operand, TupleOperand, Value
from . import reduce_scan
from .compose import as_function
from .context import Context
from .environment import DerivedFunction, FunctionValue
from .expressions import single
from .lifting import lift
from .pervasive import apply_map, cell_rank, innermost, pervades, plan, ranks_of


def each(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`f¨`: on each element; on a tuple, on each item."""
    function = as_function(ctx, derived.operands[0], "¨", derived.span)
    if left is not None and (isinstance(left, EnclosedOperand) or isinstance(right, EnclosedOperand)):
        return _beside_whole(ctx, function, left, right, span)
    if isinstance(left, TupleOperand) or isinstance(right, TupleOperand):
        return _each_item(ctx, function, left, right, span)
    return with_ranks(ctx, derived, function, (0, 0, 0), left, right, span)


def cells(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`f˘`: on each major cell."""
    function = as_function(ctx, derived.operands[0], "˘", derived.span)
    return with_ranks(ctx, derived, function, (-1, -1, -1), left, right, span)


def rank_or_atop(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`f⍤r` on cells of rank r; `f⍤g` is `f` of `g`."""
    function = as_function(ctx, derived.operands[0], "⍤", derived.span)
    operand = derived.operands[1]
    if not isinstance(operand, (Operand, TupleOperand)):
        return ctx.call(function, None, ctx.call(operand, left, right, span), span)
    ranks = ranks_of(derived)
    if ranks is None:
        if isinstance(operand, Operand) and operand.poisoned:
            return operand
        return ctx.error(Code.E132, "the ranks of `⍤` are one to three integers known before the program runs", derived.span)
    return with_ranks(ctx, derived, function, ranks, left, right, span)


def with_ranks(
    ctx: Context,
    derived: DerivedFunction,
    function: FunctionValue,
    ranks: tuple[int, int, int],
    left: Value | None,
    right: Value,
    span: Span,
) -> Value:
    """Apply to cells of the given (monadic, left, right) ranks, directly where no loop over cells is needed."""
    y = single(ctx, right, span)
    if y.poisoned:
        return y
    if left is None:
        rank = cell_rank(ranks[0], y.type.rank)
        if pervades(function):
            return ctx.call(innermost(function), None, y, span)
        direct = reduce_scan.on_cells(ctx, function, rank, y, span)
        if direct is not None:
            return direct
        return lift(ctx, [y], [rank], lambda cell: ctx.call(function, None, cell[0], span), span)
    x = single(ctx, left, span)
    if x.poisoned:
        return x
    axis_map = plan(derived, x.type.rank, y.type.rank)
    if axis_map is not None:
        return apply_map(ctx, axis_map, x, y, span)
    cell_ranks = [cell_rank(ranks[1], x.type.rank), cell_rank(ranks[2], y.type.rank)]
    return lift(ctx, [x, y], cell_ranks, lambda pair: ctx.call(function, pair[0], pair[1], span), span)


def _beside_whole(ctx: Context, function: FunctionValue, left: Value, right: Value, span: Span) -> Value:
    """`(⊂x)f¨y`: the whole of an enclosed argument serves every element of the other."""
    arrays: list[Operand] = []
    ranks: list[int] = []
    for value in (left, right):
        inner = value.items[0] if isinstance(value, EnclosedOperand) else value
        x = single(ctx, inner, span)
        if x.poisoned:
            return x
        arrays.append(x)
        ranks.append(x.type.rank if isinstance(value, EnclosedOperand) else 0)
    return lift(ctx, arrays, ranks, lambda pair: ctx.call(function, pair[0], pair[1], span), span)


def _each_item(ctx: Context, function: FunctionValue, left: Value | None, right: Value, span: Span) -> Value:
    """Items of tuples pair up; an array on the other side serves every item."""
    counts = {len(x.items) for x in (left, right) if isinstance(x, TupleOperand)}
    if len(counts) > 1:
        return ctx.error(Code.E105, "these tuples have different numbers of items", span)
    results: list[Value] = []
    for i in range(counts.pop()):
        x = left.items[i] if isinstance(left, TupleOperand) else left
        y = right.items[i] if isinstance(right, TupleOperand) else right
        results.append(ctx.call(function, x, y, span))
    return TupleOperand(tuple(results))
