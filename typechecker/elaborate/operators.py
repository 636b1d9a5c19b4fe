"""Elaborates the operators `¨ ˘ ⍤` (each element, each major cell, cells of given ranks; atop), stencils `⌺`, outer and inner
products, `f@i` (update at indices or where a mask is true) and `f⌸` (group by key).
"""

from __future__ import annotations

from typing import Final

from ...lang.diagnostics.model import Code, Label
from ...lang.primitives.table import identity_of
from ...lang.syntax.source import Span
from ..core.builder import Builder
from ..core.operations import Broadcast, Contract, Indexing, KeyReduce, MaskedUpdate, Slice, SlidingWindows
from ..diagnostics import show_type
from ..elements import ArrayType, Element, Kind, promote, promote_all, strong
from ..frame_agreement import transpose_hint
from ..proof.obligations import Obligation, Relation, SizeFact
from ..rules import dates
from ..rules.argument_checks import (
    common,
    is_boolean,
    is_one_item,
    joint_element,
    require_equal,
    reshaped,
    size_arguments,
    static_sizes,
)
from ..rules.index import index_operand
from ..sizes.polynomials import ONE, ZERO, Size, number, product
from ..values.facts import EnclosedOperand, Operand, TupleOperand, Value, is_poisoned
from . import indexing, reductions
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
from .context import BoundFunction, Context, DerivedFunction, FunctionValue, PrimitiveFunction, cast
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


# ---------------------------------------------------------------------------------------------------- update

def update_at(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`f@i x`, `A@i x` or `y f@i x`; i is indices, a mask, or a function from x to a mask."""
    change, where = derived.operands
    x = single(ctx, right, span)
    if x.poisoned:
        return x
    if isinstance(change, TupleOperand) or isinstance(where, TupleOperand):
        return ctx.error(Code.E305, "`@` takes arrays or functions, not tuples", derived.span)
    if left is not None:
        if isinstance(change, Operand):
            return ctx.error(Code.E130, "`A@i` takes one argument, got two", span)
        change = BoundFunction(derived.span, change, left)
    if x.type.rank == 0:
        return ctx.error(Code.E131, "`@` changes major cells, but a scalar has none", span)
    if isinstance(where, Operand):
        indices = where
    else:
        where_value = single(ctx, ctx.call(where, None, x, span), span)
        if where_value.poisoned:
            return where_value
        indices = ctx.builder.convert(where_value, Kind.BOOL, span) if is_boolean(where_value.type.element) else where_value
        if indices.type.element.kind is not Kind.BOOL:
            return ctx.error(
                Code.E303, f"a function on the right of `@` gives a mask, but this gives {show_type(indices.type)}", derived.span
            )
    if indices.type.element.kind is Kind.BOOL and indices.type.rank > 0:
        return _masked(ctx, change, indices, x, span)
    return _indexed(ctx, change, indices, x, span)


def _indexed(ctx: Context, change: FunctionValue | Operand, positions: Operand, x: Operand, span: Span) -> Value:
    """Replace the items at indices by f of them, as `x[i] f← v` does."""
    axes = [indexing.IndexEntry(positions, span)]
    new = change
    if not isinstance(new, Operand):
        selected = indexing.index(ctx, x, axes, span)
        new = single(ctx, selected if is_poisoned(selected) else ctx.call(new, None, selected, span), span)
    return ctx.builder.poison(span) if new.poisoned else indexing.update(ctx, x, axes, new, span)


def _promoted(ctx: Context, x: Operand, new: Operand, span: Span) -> tuple[Operand, Operand] | None:
    pair = common(ctx.builder, [x, new], span, "the array and its new items mix text and numbers")
    return None if pair is None else (pair[0], pair[1])


def _masked(ctx: Context, change: FunctionValue | Operand, mask: Operand, x: Operand, span: Span) -> Value:
    """Replace the items where the mask (over x's leading axes) is true."""
    if mask.type.rank > x.type.rank:
        return ctx.error(Code.E101, f"this mask has rank {mask.type.rank}, but the array only {x.type.rank}", span)
    for axis, (a, b) in enumerate(zip(mask.type.shape, x.type.shape, strict=False)):
        if not require_equal(ctx.builder, b, a, Code.E101, span, f"axis {axis} of the mask is {a} long, of the array {b}"):
            return ctx.builder.poison(span)
    if isinstance(change, Operand) and change.type.rank == 0:
        pair = _promoted(ctx, x, change, span)
        if pair is None:
            return ctx.builder.poison(span)
        base, value = pair
        return ctx.builder.scalar("select", [mask, value, base], joint_element(ctx.builder, pair), span)
    flat_shape = (product(mask.type.shape), *x.type.shape[mask.type.rank :])
    flat, flat_mask = reshaped(ctx.builder, x, flat_shape, span), reshaped(ctx.builder, mask, flat_shape[:1], span)
    selected = ctx.call(PrimitiveFunction(span, "⌿"), flat_mask, flat, span)
    if not isinstance(selected, Operand) or selected.poisoned:
        return ctx.builder.poison(span)
    new = change if isinstance(change, Operand) else single(ctx, ctx.call(change, None, selected, span), span)
    if new.poisoned:
        return new
    if new.type.rank == 0 and not isinstance(change, Operand):
        return _masked(ctx, new, mask, x, span)
    if not indexing.fits_selection(ctx, new, selected.type.shape, span):
        return ctx.builder.poison(span)
    pair = _promoted(ctx, flat, new, span)
    if pair is None:
        return ctx.builder.poison(span)
    base, value = pair
    type_ = ArrayType(joint_element(ctx.builder, pair), flat_shape)
    updated = ctx.builder.emit(lambda result: MaskedUpdate(result, base.value, flat_mask.value, value.value), type_, span)
    return reshaped(ctx.builder, updated, x.type.shape, span)


# ---------------------------------------------------------------------------------------------------- group by key
#
# `k f⌸ (idx ⋄ values)`: reduce values by key into k bins.

_START: Final = {"⌈": "¯∞", "⌊": "∞"}
"""The neutral elements, as suggested in messages."""
_OF_GROUPS: Final = {"⌈": "group.greatest", "⌊": "group.least"}
"""The functions of the library with these reductions."""
_PAIR: Final = "the pair is in parentheses on the right: `k +⌸ (keys ⋄ values)`, where `⋄` separates both"
_BINS: Final = (
    "number the classes of the keys first: `(keys code) ← set.classes x ⋄ (≢keys)+⌸(code ⋄ values)`; "
    "with 1 for the values it counts"
)
_ANY_FUNCTION: Final = (
    "with another function `f`, of indices `i` and values `v`, write a loop: `{s ← ⍵ ⋄ s[i[⍺]] ← s[i[⍺]] f v[⍺] ⋄ s}⍣(⍳≢v) ⊢ k⍴0`"
)


def group_by_key(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`k f⌸ (idx ⋄ values)`; an unused bin has the function's identity."""
    function = as_primitive(as_function(ctx, derived.operands[0], "⌸", derived.span))
    if left is None:
        return ctx.error(Code.E133, "`f⌸` needs the number of bins on its left: `k f⌸ (idx ⋄ values)`", span,
                         notes=(_BINS,))  # fmt: skip
    bins = _count_of_bins(ctx, left, span)
    if bins is None:
        return ctx.builder.poison(span)
    if not isinstance(right, TupleOperand) or len(right.items) != 2:
        return ctx.error(Code.E305, "`k f⌸` takes a pair `(idx ⋄ values)`", span, notes=(_PAIR,))
    if not isinstance(function, PrimitiveFunction) or not is_scalar_primitive(function, dyadic=True):
        return ctx.error(Code.E620, "`⌸` takes a scalar primitive such as `+ × ⌈ ⌊ ∧ ∨` in this version", derived.span,
                         notes=(_ANY_FUNCTION,))  # fmt: skip
    indices, values = [single(ctx, item, span) for item in right.items]
    if indices.poisoned or values.poisoned:
        return ctx.builder.poison(span)
    if not ctx.builder.require(
        Obligation(SizeFact(Relation.AT_MOST, ZERO, bins), Code.E202, span, f"there cannot be {bins} bins")
    ):
        return ctx.builder.poison(span)
    return _bins(ctx, function, bins, indices, values, span)


def _count_of_bins(ctx: Context, left: Value, span: Span) -> Size | None:
    """The number of bins: a size, or an integer with a bound; None after an error."""
    x = single(ctx, left, span)
    if x.poisoned:
        return None
    if not is_one_item(x):
        form = ("keys and values go right: `k +⌸ (keys ⋄ values)` has k bins",)
        ctx.error(Code.E131, "the number of bins of `⌸` is one integer", span, label=show_type(x.type), notes=form)
        return None
    sizes = size_arguments(ctx.builder, x, span, "the number of bins of `⌸`")
    return None if sizes is None else sizes[0]


def _bins(ctx: Context, function: PrimitiveFunction, bins: Size, indices: Operand, values: Operand, span: Span) -> Value:
    if values.type.element.unit is not None:
        return dates.reduced(
            ctx.builder, function.glyph, values, span,
            lambda glyph, items: _bins(ctx, PrimitiveFunction(span, glyph), bins, indices, items, span),
        )  # fmt: skip
    index = index_operand(ctx.builder, indices, bins, span)
    if index is None:
        return ctx.builder.poison(span)
    shape = indices.type.shape
    if values.type.rank < len(shape):
        if values.type.rank:
            return ctx.error(
                Code.E101, f"keys {show_type(indices.type)} and values {show_type(values.type)} do not line up", span
            )
        scalar = values
        values = ctx.builder.emit(lambda result: Broadcast(result, scalar.value, ()), ArrayType(scalar.type.element, shape), span)
    for axis, (a, b) in enumerate(zip(shape, values.type.shape, strict=False)):
        if not require_equal(ctx.builder, a, b, Code.E101, span, f"axis {axis} of the keys is {a} long, of the values {b}"):
            return ctx.builder.poison(span)
    fold = scalar_fold(ctx, function, values, span)
    if not isinstance(fold, ScalarFold):
        return (
            ctx.builder.poison(span)
            if fold is None
            else ctx.error(Code.E300, f"`{function.glyph}⌸` does not reduce these values", span)
        )
    if identity_of(function.glyph) is None and not _every_bin_used(ctx.builder, indices, bins):
        glyph, start = function.glyph, _START.get(function.glyph, "start")
        return ctx.error(
            Code.E204,
            f"`{glyph}` has no identity, so a bin that no key uses would have no value",
            span,
            notes=(
                f"give every bin a value: join one key for each bin, as `k {glyph}⌸ ((⍳k),i ⋄ (k⍴{start}),v)`",
                *([f"`i {_OF_GROUPS[glyph]} v`, with `use group`, has NaN for such a bin"] if glyph in _OF_GROUPS else ()),
            ),
        )
    arg = cast(ctx, values, fold.element, span)
    type_ = ArrayType(fold.element, (bins, *values.type.shape[len(shape) :]))
    bin_indexing = Indexing(0, 1, ctx.builder.index_origin)
    return ctx.builder.emit(
        lambda result: KeyReduce(result, fold.function, index.operand.value, arg.value, index.checked, bin_indexing), type_, span
    )


def _every_bin_used(b: Builder, indices: Operand, bins: Size) -> bool:
    """Is every bin known to be used, by keys written in the program or by all positions joined to the keys?"""
    covers = b.facts_of(indices).covers
    if covers is not None and b.equal(covers, bins):
        return True
    count = bins.constant
    if count is None or indices.constant is None:
        return count == 0
    base = 0 if indices.type.element.index_bound is not None else b.index_origin
    used = {int(v) - base for v in indices.constant if isinstance(v, int)}
    return used >= set(range(count))
