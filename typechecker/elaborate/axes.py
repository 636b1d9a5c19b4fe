"""Bracket axes, and moving axes to the front and back."""

from __future__ import annotations

from ...lang.codes import Code
from ...lang.source import Span
from ..core import Transpose
from ..operands import Operand
from ..rules.common import show_number
from ..rules.static_arguments import static_integer
from ..types import ArrayType
from .context import Context


def axis_number(ctx: Context, axis: Operand | None, default: int, rank: int, span: Span) -> int | None:
    """The 0-based axis of `f[axis]`, or the default; None after E132."""
    if axis is None:
        return default
    value = static_integer(ctx.builder, axis)
    if value is None:
        ctx.error(Code.E132, "an axis is one integer known before the program runs", span)
        return None
    value -= ctx.builder.index_origin
    if 0 <= value < rank:
        return value
    origin = ctx.builder.index_origin
    there = f"axes {origin}..{rank - 1 + origin} exist" if rank else "a scalar has no axes"
    ctx.error(Code.E132, f"there is no axis {show_number(value + origin)} here: {there}", span)
    return None


def transpose(ctx: Context, x: Operand, axes: tuple[int, ...], span: Span) -> Operand:
    """Operand axis i becomes result axis `axes[i]`; nothing if that changes nothing."""
    if axes == tuple(range(len(axes))):
        return x
    shape = list(x.type.shape)
    for axis, to in enumerate(axes):
        shape[to] = x.type.shape[axis]
    return ctx.builder.emit(lambda result: Transpose(result, x.value, axes), ArrayType(x.type.element, tuple(shape)), span)


def to_front(ctx: Context, x: Operand, axis: int, span: Span) -> Operand:
    """`axis` first, the others in order."""
    axes = tuple([0 if a == axis else a + 1 if a < axis else a for a in range(x.type.rank)])
    return transpose(ctx, x, axes, span)


def from_front(ctx: Context, x: Operand, axis: int, span: Span) -> Operand:
    """The first axis becomes axis number `axis`, the others in order."""
    axes = tuple([axis if a == 0 else a - 1 if a <= axis else a for a in range(x.type.rank)])
    return transpose(ctx, x, axes, span)
