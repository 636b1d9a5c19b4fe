"""Elaborates `¨ ˘ ⍤` (each element, each major cell, cells of given ranks; atop), stencils `⌺`, and outer and inner products."""

from __future__ import annotations

from ...lang.diagnostics.model import Code, Label
from ...lang.syntax.source import Span
from ..core.operations import Broadcast, Contract, Slice, SlidingWindows
from ..diagnostics import show_type
from ..elements import ArrayType, Element, promote, promote_all, strong
from ..frame_agreement import transpose_hint
from ..proof.obligations import Obligation, Relation, SizeFact
from ..rules.argument_checks import static_sizes
from ..sizes.polynomials import ONE, Size, number
from ..values.facts import EnclosedOperand, Operand, TupleOperand, Value
from . import reductions
from .broadcast import (
    apply_map,
    broadcast_map,
    broadcast_to,
    cell_rank,
    from_front,
    innermost,
    is_elementwise,
    is_scalar_primitive,
    ranks_of,
)
from .context import Context, DerivedFunction, FunctionValue, PrimitiveFunction, cast
from .expressions import single, stack
from .functions import as_function, as_primitive, lift
from .reductions import ScalarFold, reduce_axis, scalar_fold

# ---------------------------------------------------------------------------------------------------- each and rank

def each(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`f¨`: f of each element, or of each item of a tuple."""
    function = as_function(ctx, derived.operands[0], "¨", derived.span)
    if left is not None and (isinstance(left, EnclosedOperand) or isinstance(right, EnclosedOperand)):
        return _with_enclosed(ctx, function, left, right, span)
    if isinstance(left, TupleOperand) or isinstance(right, TupleOperand):
        return _each_item(ctx, function, left, right, span)
    return with_ranks(ctx, derived, function, (0, 0, 0), left, right, span)


def cells(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`f˘`: f of each major cell."""
    function = as_function(ctx, derived.operands[0], "˘", derived.span)
    return with_ranks(ctx, derived, function, (-1, -1, -1), left, right, span)


def rank_or_atop(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`f⍤r`: f of cells of rank r; `f⍤g`: f of g."""
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
    """Apply a function to cells of the given (monadic, left, right) ranks, without a loop over cells where none is needed."""
    y = single(ctx, right, span)
    if y.poisoned:
        return y
    if left is None:
        rank = cell_rank(ranks[0], y.type.rank)
        if is_elementwise(function):
            return ctx.call(innermost(function), None, y, span)
        direct = reductions.on_cells(ctx, function, rank, y, span)
        if direct is not None:
            return direct
        return lift(ctx, [y], [rank], lambda cell: ctx.call(function, None, cell[0], span), span)
    x = single(ctx, left, span)
    if x.poisoned:
        return x
    axis_map = broadcast_map(derived, x.type.rank, y.type.rank)
    if axis_map is not None:
        return apply_map(ctx, axis_map, x, y, span)
    cell_ranks = [cell_rank(ranks[1], x.type.rank), cell_rank(ranks[2], y.type.rank)]
    return lift(ctx, [x, y], cell_ranks, lambda pair: ctx.call(function, pair[0], pair[1], span), span)


def _with_enclosed(ctx: Context, function: FunctionValue, left: Value, right: Value, span: Span) -> Value:
    """`(⊂x)f¨y`: f of the whole array x and each element of y."""
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
    """f of the items of tuples, in pairs; an array on the other side is used with every item."""
    counts = {len(x.items) for x in (left, right) if isinstance(x, TupleOperand)}
    if len(counts) > 1:
        return ctx.error(Code.E105, "these tuples have different numbers of items", span)
    results: list[Value] = []
    for i in range(counts.pop()):
        x = left.items[i] if isinstance(left, TupleOperand) else left
        y = right.items[i] if isinstance(right, TupleOperand) else right
        results.append(ctx.call(function, x, y, span))
    return TupleOperand(tuple(results))


# ---------------------------------------------------------------------------------------------------- stencils
#
# `(f⌺w)x`: f of the window of shape w around every position, with fills beyond the edges.
#
# An odd window is centred on an item; an even one is between items, so its axis has one position fewer (as in Dyalog APL).

def stencil(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """Pad the leading axes with fills, take windows, apply f to each."""
    function = as_function(ctx, derived.operands[0], "⌺", derived.span)
    if left is not None:
        return ctx.error(Code.E130, "a stencil takes one argument, got two", span)
    x = single(ctx, right, span)
    operand = derived.operands[1]
    if x.poisoned or (isinstance(operand, Operand) and operand.poisoned):
        return ctx.builder.poison(span)
    sizes = static_sizes(ctx.builder, operand) if isinstance(operand, Operand) and operand.type.rank <= 1 else None
    widths = None if sizes is None else [s.constant for s in sizes]
    numbers = [w for w in widths or () if w is not None and w >= 1]
    if widths is None or not widths or len(numbers) != len(widths):
        return ctx.error(
            Code.E403, "the window of `⌺` is one positive integer for each axis, known before the program runs", derived.span
        )
    if len(numbers) > x.type.rank:
        return ctx.error(Code.E131, f"this window has {len(numbers)} axes, but the array only {x.type.rank}", span)
    if x.type.element.unit is not None:
        return ctx.error(Code.E300, f"`⌺` pads with 0, which is no {show_type(x.type)}", span)
    x = ctx.builder.to_number(x, span)
    for axis, width in enumerate(numbers):
        if width % 2 == 0:
            size = x.type.shape[axis]
            fact = SizeFact(Relation.AT_MOST, ONE, size)
            message = f"a window of {width} items needs an item on axis {axis}, whose length {size} may be 0"
            if not ctx.builder.require(Obligation(fact, Code.E202, span, message)):
                return ctx.builder.poison(span)
    windows = _windows(ctx, x, numbers, span)
    rank = windows.type.rank - len(numbers)
    return lift(ctx, [windows], [rank], lambda cell: ctx.call(function, None, cell[0], span), span)


def _windows(ctx: Context, x: Operand, widths: list[int], span: Span) -> Operand:
    pads = [(w - 1) // 2 for w in widths]
    rest = x.type.shape[len(widths) :]
    padded_sizes = tuple([size + 2 * pad for size, pad in zip(x.type.shape, pads, strict=False)])
    source = x
    if any(pads):
        starts: tuple[Size, ...] = tuple([number(-pad) for pad in pads])
        element = promote(strong(x.type.element), Element(x.type.element.kind, 0, 0)) or x.type.element
        type_ = ArrayType(element, padded_sizes + rest)
        source = ctx.builder.emit(lambda result: Slice(result, x.value, starts), type_, span)
    counts = tuple([size - (w - 1) for size, w in zip(padded_sizes, widths, strict=True)])
    shape = counts + tuple([number(w) for w in widths]) + rest
    padded, count = source, len(widths)
    type_ = ArrayType(padded.type.element, shape)
    return ctx.builder.emit(lambda result: SlidingWindows(result, padded.value, count), type_, span)


# ---------------------------------------------------------------------------------------------------- outer and inner products

def table(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`x ∘.f y`: f of every pair of elements; its shape is `(⍴x),⍴y`, then that of f's results."""
    if left is None:
        return ctx.error(Code.E133, "`∘.f` needs two arguments", span)
    function = as_primitive(as_function(ctx, derived.operands[0], "∘.", derived.span))
    x, y = single(ctx, left, span), single(ctx, right, span)
    if x.poisoned or y.poisoned:
        return ctx.builder.poison(span)
    if isinstance(function, PrimitiveFunction) and function.glyph == "○" and x.type.rank:
        return _circular(ctx, function, x, y, span)
    map_ = broadcast_map(DerivedFunction(derived.span, "∘.", (function,)), x.type.rank, y.type.rank)
    if map_ is not None:
        return apply_map(ctx, map_, x, y, span)
    if x.type.rank == 0 or y.type.rank == 0:
        return lift(ctx, [x, y], [0, 0], lambda pair: ctx.call(function, pair[0], pair[1], span), span)
    shape = x.type.shape + y.type.shape
    rows = broadcast_to(ctx, x, tuple(range(x.type.rank)), shape, span)
    columns = _along(ctx, y, x.type.rank, shape, span)
    return lift(ctx, [columns, rows], [0, 0], lambda pair: ctx.call(function, pair[1], pair[0], span), span)


def _along(ctx: Context, y: Operand, offset: int, shape: tuple[Size, ...], span: Span) -> Operand:
    axes = tuple(range(offset, offset + y.type.rank))
    return ctx.builder.emit(lambda result: Broadcast(result, y.value, axes), ArrayType(y.type.element, shape), span)


def _circular(ctx: Context, function: PrimitiveFunction, x: Operand, y: Operand, span: Span) -> Value:
    """`1 2∘.○y`: one application for each item of the left argument, which is literal."""
    if x.constant is None or x.type.rank != 1:
        return ctx.error(Code.E403, "the left argument of `○` must be literal", span)
    element = x.type.element
    parts: list[Operand] = []
    for value in x.constant:
        code = ctx.builder.literal((value,), ArrayType(element, ()), span)
        part = ctx.call(function, code, y, span)
        if not isinstance(part, Operand) or part.poisoned:
            return ctx.builder.poison(span)
        parts.append(part)
    if not parts:
        return ctx.error(Code.E403, "the left argument of `∘.○` is empty", span)
    return stack(ctx, parts, span, Code.E300, "the rows mix text and numbers")


def inner(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`x f.g y`: `f/` of g between the last axis of x and the first axis of y."""
    if left is None:
        return ctx.error(Code.E130, "an inner product takes two arguments, got one", span)
    first, second = [as_primitive(as_function(ctx, operand, ".", derived.span)) for operand in derived.operands]
    x, y = single(ctx, left, span), single(ctx, right, span)
    if x.poisoned or y.poisoned:
        return ctx.builder.poison(span)
    if x.type.rank and y.type.rank:
        fact = SizeFact(Relation.EQUAL, x.type.shape[-1], y.type.shape[0])
        notes, fixes = transpose_hint(ctx.builder, y, span) if y.type.rank > 1 and y.type.shape[-1] == fact.left else ((), ())
        labels = tuple([Label(ctx.builder.span_of(v), show_type(v.type)) for v in (x, y)])
        message = f"the inner axes differ: the left one is {fact.left} long, the right one {fact.right}"
        obligation = Obligation(fact, Code.E102, span, message, labels, notes, fixes)
        if not ctx.builder.require(obligation):
            return ctx.builder.poison(span)
    product = _is_glyph(second, "×") and _is_glyph(first, "+")
    if product and x.type.rank and y.type.rank:
        return _contract(ctx, first, x, y, span)
    return _general(ctx, first, second, x, y, span)


def _is_glyph(function: FunctionValue, glyph: str) -> bool:
    return isinstance(function, PrimitiveFunction) and function.glyph == glyph


def _contract(ctx: Context, add: FunctionValue, x: Operand, y: Operand, span: Span) -> Value:
    """`+.×` on numbers of one kind."""
    x, y = ctx.builder.to_number(x, span), ctx.builder.to_number(y, span)
    element = promote_all([x.type.element, y.type.element])
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
    """An inner product in general: a scalar g is broadcast over all rows and columns, another one mapped over pairs of them."""
    if is_scalar_primitive(second, dyadic=True):
        if x.type.rank == 0 or y.type.rank == 0:
            pairs = ctx.call(second, x, y, span)
            axis = 0 if x.type.rank == 0 else None
        else:
            rows = x.type.rank - 1
            shape = x.type.shape + y.type.shape[1:]
            right_axes = (rows, *range(rows + 1, len(shape)))
            a = broadcast_to(ctx, x, tuple(range(x.type.rank)), shape, span)
            b = broadcast_to(ctx, y, right_axes, shape, span)
            pairs = ctx.call(second, a, b, span)
            axis = rows
        if not isinstance(pairs, Operand) or pairs.poisoned or pairs.type.rank == 0:
            return pairs
        return reduce_axis(ctx, first, pairs, pairs.type.rank - 1 if axis is None else axis, span)
    rows_first = x
    columns = from_front(ctx, y, y.type.rank - 1, span) if y.type.rank else y

    def pair(row: Operand, column: Operand) -> Value:
        value = ctx.call(second, row, column, span)
        if not isinstance(value, Operand) or value.poisoned or value.type.rank == 0:
            return value
        return reduce_axis(ctx, first, value, value.type.rank - 1, span)

    def over_columns(row: Operand) -> Value:
        return lift(ctx, [columns], [min(1, columns.type.rank)], lambda column: pair(row, column[0]), span)

    return lift(ctx, [rows_first], [min(1, x.type.rank)], lambda row: over_columns(row[0]), span)
