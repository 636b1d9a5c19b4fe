"""Lifting: applying a function to the cells of its arguments over a principal frame.

The longest frame is the principal frame (ties: the first) and every other frame must be a prefix of
it.  An argument without a frame is not a parameter of the body: the body refers to it directly, so
that what is static about it stays static.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...lang.diagnostics import Label
from ...lang.source import Span
from ..core import Lift, ValueId
from ..display import show_type
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, Value
from ..sizes import Size
from ..types import ArrayType
from .blocks import defined_sizes
from .context import Context, is_poisoned, leaves, rebuild
from .values import plain, strong


def lift(
    ctx: Context, args: Sequence[Operand], cell_ranks: Sequence[int], body: Callable[[Sequence[Operand]], Value], span: Span
) -> Value:
    """`body` on every tuple of cells; `cell_ranks` are already clipped to the arguments' ranks."""
    builder = ctx.builder
    frames = [x.type.rank - r for x, r in zip(args, cell_ranks, strict=True)]
    if not any(frames):
        return body(args)
    longest = max(frames)
    principal = args[frames.index(longest)]
    frame = principal.type.shape[:longest]
    for x, length in zip(args, frames, strict=True):
        for axis in range(length):
            if x is not principal and not builder.require(frame_obligation(axis, frame[axis], x, principal, span)):
                return builder.poison(span)
    framed = [i for i, length in enumerate(frames) if length]
    cell_types = [ArrayType(strong(args[i].type.element), args[i].type.shape[frames[i] :]) for i in framed]
    params = builder.open_block(cell_types, span)
    cells = list(args)
    for i, param in zip(framed, params, strict=True):
        cells[i] = param
    with ctx.operator_body(span):
        value = body(cells)
    results = leaves(value)
    block = builder.close_block(results)
    if is_poisoned(value):
        return builder.poison(span)
    local = defined_sizes(block.ops)
    for x in results:
        irregular = [s for s in x.type.shape if s.variables() & local]
        if irregular:
            return ctx.error(
                "E401",
                f"each cell would get its own length {irregular[0]}, but an array has one length along each axis",
                span,
                notes=("keep the length fixed inside the function: mask with `¿` or reduce there",),
            )
    types = [ArrayType(plain(x.type.element), frame + x.type.shape) for x in results]
    values = tuple([args[i].value for i in framed])
    lengths = tuple([frames[i] for i in framed])

    def make(made: tuple[ValueId, ...]) -> Lift:
        return Lift(made, values, lengths, frame, block)

    return rebuild(value, builder.emit_many(make, types, span))


def frame_obligation(axis: int, size: Size, x: Operand, principal: Operand, span: Span) -> Obligation:
    """Frame axis `axis` of x must be as long as the principal frame's."""
    own = x.type.shape[axis]
    return Obligation(
        SizeFact(Relation.EQUAL, size, own),
        "E101",
        span,
        f"these arrays do not line up: axis {axis} is {size} there and {own} here",
        (Label(span, f"{show_type(principal.type)} with {show_type(x.type)}"),),
    )
