"""Elaborates `f@i` (update at indices or where a mask is true) and `f⌸` (group by key)."""

from __future__ import annotations

from typing import Final

from ...lang.diagnostics.model import Code
from ...lang.primitives.table import identity_of
from ...lang.syntax.source import Span
from ..core.builder import Builder
from ..core.operations import Broadcast, Indexing, KeyReduce, MaskedUpdate
from ..diagnostics import show_type
from ..elements import ArrayType, Kind
from ..proof.obligations import Obligation, Relation, SizeFact
from ..rules import dates
from ..rules.argument_checks import common, is_boolean, is_one_item, joint_element, require_equal, reshaped, size_arguments
from ..rules.index import index_operand
from ..sizes.polynomials import ZERO, Size, product
from ..values.facts import Operand, TupleOperand, Value, is_poisoned
from . import indexing
from .broadcast import is_scalar_primitive
from .context import BoundFunction, Context, DerivedFunction, FunctionValue, PrimitiveFunction, cast
from .expressions import single
from .functions import as_function, as_primitive
from .reductions import ScalarFold, scalar_fold

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
        return ctx.error(Code.E305, "`k f⌸` takes a pair `(idx ⋄ values)`", span)
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
        ctx.error(Code.E131, "the number of bins of `⌸` is one integer", span, label=show_type(x.type))
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
            notes=(f"give every bin a value: join one key for each bin, as `k {glyph}⌸ ((⍳k),i ⋄ (k⍴{start}),v)`",),
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
