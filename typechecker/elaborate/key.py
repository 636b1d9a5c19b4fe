"""`k f⌸ (idx ⋄ values)`: reduce values by key into k bins."""

from __future__ import annotations

from typing import Final

from ...lang.codes import Code
from ...lang.primitives import identity_of
from ...lang.source import Span
from ..builder import Builder
from ..core import Indexing, KeyReduce, Spread
from ..display import show_type
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, TupleOperand, Value
from ..rules.common import require_equal
from ..rules.index import index_operand
from ..sizes import ZERO, Size
from ..types import ArrayType
from .compose import as_function
from .context import Context
from .environment import DerivedFunction, PrimitiveFunction
from .expressions import single, static_size
from .patterns import simplified
from .pervasive import is_scalar_primitive
from .reduce_scan import ScalarFold, scalar_fold
from .values import cast

_START: Final = {"⌈": "¯∞", "⌊": "∞"}
"""What changes no number."""
_ANY_FUNCTION: Final = (
    "with another function `f`, of indices `i` and values `v`, write a loop: `{s ← ⍵ ⋄ s[i[⍺]] ← s[i[⍺]] f v[⍺] ⋄ s}⍣(⍳≢v) ⊢ k⍴0`"
)


def key(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """Bins 0..k-1 (counted from the index origin); an unused bin holds the function's identity."""
    function = simplified(as_function(ctx, derived.operands[0], "⌸", derived.span))
    if left is None:
        return ctx.error(Code.E133, "`f⌸` needs the number of bins on its left: `k f⌸ (idx ⋄ values)`", span,
                         notes=("to count how often each item of x occurs write `+/(∪x)∘.=x`",))  # fmt: skip
    bins = static_size(ctx, left, "the number of bins of `⌸`", span)
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


def _bins(ctx: Context, function: PrimitiveFunction, bins: Size, indices: Operand, values: Operand, span: Span) -> Value:
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
        values = ctx.builder.emit(lambda result: Spread(result, scalar.value, ()), ArrayType(scalar.type.element, shape), span)
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
    place = Indexing(0, 1, ctx.builder.index_origin)
    return ctx.builder.emit(
        lambda result: KeyReduce(result, fold.function, index.operand.value, arg.value, index.checked, place), type_, span
    )


def _every_bin_used(b: Builder, indices: Operand, bins: Size) -> bool:
    """Known of keys written in the program, and of those that all positions of the bins are joined to."""
    covers = b.known(indices).covers
    if covers is not None and b.equal(covers, bins):
        return True
    count = bins.constant
    if count is None or indices.constant is None:
        return count == 0
    base = 0 if indices.type.element.below is not None else b.index_origin
    used = {int(v) - base for v in indices.constant if isinstance(v, int)}
    return used >= set(range(count))
