"""Lifting: applying a function to the cells of its arguments over a principal frame.

The longest frame is the principal frame (ties: the first) and every other frame must be a prefix of
it.  An argument without a frame is not a parameter of the body: the body refers to it directly, so
that what is static about it stays static.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...lang.codes import Code
from ...lang.source import Span
from ..agreement import agree
from ..core_blocks import Lift
from ..core_walk import defined_sizes
from ..elements import Element, Kind, held, strong
from ..operands import EnclosedOperand, Operand, Value, is_poisoned, leaves
from ..sizes import ZERO, Size, product
from ..types import ArrayType
from .context import Context, rebuild
from .values import enclosed


def _element(x: Operand, frame: Sequence[Size]) -> Element:
    """What a cell holds: where there is none, an integer is below 0, and so an index of any axis."""
    element = strong(x.type.element)
    is_bounded = element.kind is Kind.I64 and element.low is not None
    return Element(Kind.I64, below=ZERO) if is_bounded and product(frame) == ZERO else element


def lift(
    ctx: Context, args: Sequence[Operand], cell_ranks: Sequence[int], body: Callable[[Sequence[Operand]], Value], span: Span
) -> Value:
    """`body` on every tuple of cells; `cell_ranks` are already clipped to the arguments' ranks."""
    builder = ctx.builder
    frames = [x.type.rank - r for x, r in zip(args, cell_ranks, strict=True)]
    if not any(frames):
        return body(args)
    frame = agree(builder, args, [x.type.shape[:length] for x, length in zip(args, frames, strict=True)], span)
    if frame is None:
        return builder.poison(span)
    framed = [i for i, length in enumerate(frames) if length]
    cell_types = [ArrayType(_element(args[i], frame), args[i].type.shape[frames[i] :]) for i in framed]
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
    if isinstance(value, EnclosedOperand):
        return enclosed(ctx, span)
    local = {size for op in block.ops for size in defined_sizes(op)}
    for x in results:
        irregular = [s for s in x.type.shape if s.variables() & local]
        if irregular:
            return ctx.error(
                Code.E401,
                f"each cell would get its own length {irregular[0]}, but an array has one length along each axis",
                span,
                notes=("keep the length fixed inside the function: mask with `¿` or reduce there",),
            )
    types = [ArrayType(held(x.type.element), frame + x.type.shape) for x in results]
    values = tuple([args[i].value for i in framed])
    lengths = tuple([frames[i] for i in framed])

    return rebuild(value, builder.emit_many(lambda made: Lift(made, values, lengths, frame, block), types, span))
