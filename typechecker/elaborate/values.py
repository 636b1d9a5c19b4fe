"""Small facts about operands that many rules ask for."""

from __future__ import annotations

from ...lang.codes import Code
from ...lang.source import Span
from ..elements import Element
from ..operands import Operand, Value, leaves
from ..sizes import Size
from .context import Context, rebuild


def static_vector(x: Operand) -> tuple[Size, ...] | None:
    """The sizes of a static scalar or vector."""
    if isinstance(x.static, Size):
        return (x.static,)
    return x.static


def cast(ctx: Context, x: Operand, element: Element, span: Span) -> Operand:
    """x with the kind of `element`: positions become numbers unless `element` is one."""
    if element.below is None:
        x = ctx.builder.to_number(x, span)
    if x.type.element.kind is not element.kind:
        x = ctx.builder.convert(x, element.kind, span)
    return x


def numbers(ctx: Context, value: Value, span: Span) -> Value:
    """Every position in a value turned into a number."""
    return rebuild(value, [ctx.builder.to_number(x, span) for x in leaves(value)])


def enclosed(ctx: Context, span: Span) -> Operand:
    """An enclosed array where nothing can take it."""
    return ctx.error(
        Code.E620, "`⊂` has a meaning only left of `⌷`, as in `(⊂1 2)⌷x`, and beside `¨`", span, notes=("arrays do not nest",)
    )
