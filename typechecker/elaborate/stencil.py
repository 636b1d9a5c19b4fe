"""`(f⌺w)x`: f of the window of shape w around every position, with fills beyond the edges.

An odd window is centred on each item; an even one lies between items, so that axis gets one position fewer (as in Dyalog).
"""

from __future__ import annotations

from ...lang.codes import Code
from ...lang.source import Span
from ..core import Slice, Windows
from ..elements import Element, promote, strong
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, Value
from ..rules.static_arguments import static_sizes
from ..sizes import ONE, Size, number
from ..types import ArrayType
from .compose import as_function
from .context import Context
from .environment import DerivedFunction
from .expressions import single
from .lifting import lift


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
    return ctx.builder.emit(lambda result: Windows(result, padded.value, count), type_, span)
