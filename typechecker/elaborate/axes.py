"""Bracket axes, and moving axes to the front and back."""

from __future__ import annotations

from ...lang.codes import Code
from ...lang.source import Span
from ..operands import Operand
from ..rules.common import transposed
from ..rules.static_arguments import check_axis, static_integer
from .context import Context


def axis_number(ctx: Context, axis: Operand | None, default: int, rank: int, span: Span) -> int | None:
    """The 0-based axis of `f[axis]`, or the default; None after E132."""
    if axis is None:
        return default
    value = static_integer(ctx.builder, axis)
    if value is None:
        ctx.error(Code.E132, "an axis is one integer known before the program runs", span)
        return None
    return check_axis(ctx.builder, value - ctx.builder.index_origin, rank, span)


def to_front(ctx: Context, x: Operand, axis: int, span: Span) -> Operand:
    """`axis` first, the others in order."""
    axes = tuple([0 if a == axis else a + 1 if a < axis else a for a in range(x.type.rank)])
    return transposed(ctx.builder, x, axes, span)


def from_front(ctx: Context, x: Operand, axis: int, span: Span) -> Operand:
    """The first axis becomes axis number `axis`, the others in order."""
    axes = tuple([axis if a == 0 else a - 1 if a <= axis else a for a in range(x.type.rank)])
    return transposed(ctx.builder, x, axes, span)
