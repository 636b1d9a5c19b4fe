"""`f@i`: change at indices or where a mask holds."""

from __future__ import annotations

from ...lang.codes import Code
from ...lang.source import Span
from ..core import MaskUpdate
from ..display import show_type
from ..elements import Kind, held
from ..operands import Operand, TupleOperand, Value, is_poisoned
from ..rules.common import common, is_boolean, joint_element, require_equal, reshaped
from ..sizes import product
from ..types import ArrayType
from . import indexing
from .context import Context
from .environment import BoundFunction, DerivedFunction, FunctionValue, PrimitiveFunction
from .expressions import single


def at(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`f@i x`, `A@i x`, `y f@i x`; i is indices, a mask, or a function of x giving the mask."""
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
        places = where
    else:
        found = single(ctx, ctx.call(where, None, x, span), span)
        if found.poisoned:
            return found
        places = ctx.builder.convert(found, Kind.BOOL, span) if is_boolean(found.type.element) else found
        if places.type.element.kind is not Kind.BOOL:
            return ctx.error(
                Code.E303, f"a function on the right of `@` gives a mask, but this gives {show_type(places.type)}", derived.span
            )
    if places.type.element.kind is Kind.BOOL and places.type.rank > 0:
        return _masked(ctx, change, places, x, span)
    return _indexed(ctx, change, places, x, span)


def _indexed(ctx: Context, change: FunctionValue | Operand, places: Operand, x: Operand, span: Span) -> Value:
    """As `x[i] f← v` does: what is selected is given to the function, and replaced by what it gives."""
    axes = [indexing.Entry(places, span)]
    new = change
    if not isinstance(new, Operand):
        selected = indexing.index(ctx, x, axes, span)
        new = single(ctx, selected if is_poisoned(selected) else ctx.call(new, None, selected, span), span)
    return ctx.builder.poison(span) if new.poisoned else indexing.update(ctx, x, axes, new, span)


def _promoted(ctx: Context, x: Operand, new: Operand, span: Span) -> tuple[Operand, Operand] | None:
    pair = common(ctx.builder, [x, new], span, "the array and its new items mix text and numbers")
    return None if pair is None else (pair[0], pair[1])


def _masked(ctx: Context, change: FunctionValue | Operand, mask: Operand, x: Operand, span: Span) -> Value:
    """Replace where the mask (over x's leading axes) holds."""
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
        return ctx.builder.scalar("select", [mask, value, base], held(joint_element(pair)), span)
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
    type_ = ArrayType(held(joint_element(pair)), flat_shape)
    made = ctx.builder.emit(lambda result: MaskUpdate(result, base.value, flat_mask.value, value.value), type_, span)
    return reshaped(ctx.builder, made, x.type.shape, span)
