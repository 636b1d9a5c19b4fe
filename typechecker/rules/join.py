"""`, ⍪` dyadic: join along an axis, lamination, and the join that set functions use."""

from __future__ import annotations

from ...lang.codes import Code
from ...lang.source import Span
from ..builder import Builder
from ..core import Join, Payload, Stack
from ..display import show_type
from ..elements import Kind
from ..folding import MOST_ITEMS
from ..operands import Operand, Value
from ..sizes import ONE, ZERO, Size
from ..types import ArrayType
from .common import common, joint_element, label, require_equal, reshaped, spread, text_and_numbers, to_vector, with_static
from .shape import fractional_axis
from .static_arguments import axis_index  # fmt: skip


def join(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`x,y` along the last axis, `x⍪y` along the first, `x,[k]y` along k, `x,[k.5]y` along a new one."""
    rank = max(left.type.rank, right.type.rank)
    if axis is not None:
        place = fractional_axis(b, axis, rank, span)
        if place is not None:
            return laminate(b, left, right, place, span)
    if rank == 0 and axis is None:
        return join_along(b, to_vector(b, left, span), to_vector(b, right, span), 0, span)
    at = axis_index(b, axis, rank - 1 if b.glyph == "," else 0, rank, span)
    return b.poison(span) if at is None else join_along(b, left, right, at, span)


def join_along(b: Builder, left: Operand, right: Operand, axis: int, span: Span) -> Operand:
    """Join along one axis of the longer rank; a rank-1-lower argument is one cell, a scalar fills one."""
    if text_and_numbers(left, right):
        nothing = next((i for i, x in enumerate((left, right)) if x.type.rank == 1 and x.type.shape[0] == ZERO), None)
        if nothing is not None and max(left.type.rank, right.type.rank) == 1:
            return to_vector(b, (right, left)[nothing], span)
    both = common(b, (left, right), span, f"`{b.glyph}` joins text with text or numbers with numbers")
    if both is None:
        return b.poison(span)
    element = joint_element(both)
    rank = max(x.type.rank for x in both)
    if abs(both[0].type.rank - both[1].type.rank) > 1 and min(x.type.rank for x in both) > 0:
        return b.error(Code.E103, f"arrays of rank {both[0].type.rank} and {both[1].type.rank} cannot be joined: "
                       "ranks may differ by one at most", span, labels=(label(b, left), label(b, right)))  # fmt: skip
    target = next(x.type.shape for x in both if x.type.rank == rank)
    x, y = (_as_cells(b, v, rank, axis, target, span) for v in both)
    for at in range(rank):
        if at == axis:
            continue
        mine, theirs = x.type.shape[at], y.type.shape[at]
        message = f"only axis {axis} may differ in this join: {mine} meets {theirs} on axis {at}"
        if not require_equal(b, mine, theirs, Code.E103, span, message, left, right):
            return b.poison(span)
    length = x.type.shape[axis] + y.type.shape[axis]
    shape = (*x.type.shape[:axis], length, *x.type.shape[axis + 1 :])
    constant = _joined(x.constant, y.constant) if rank == 1 else None
    values = (x.value, y.value)
    made = b.emit(lambda r: Join(r, values, axis), ArrayType(element, shape), span, constant=constant)
    covers = b.known(left).covers or b.known(right).covers
    if covers is not None:
        b.note(made, covers=covers)
    statics = [v.static for v in both]
    if sum([len(s) if isinstance(s, tuple) else 1 for s in statics]) > MOST_ITEMS:
        return made
    if rank != 1 or any(s is None for s in statics) or element.kind is not Kind.I64 or element.below is not None:
        return made
    return with_static(made, tuple(item for s in statics for item in (s if isinstance(s, tuple) else (s,)) if item is not None),
                       *both)  # fmt: skip


def _joined(x: tuple[Payload, ...] | None, y: tuple[Payload, ...] | None) -> tuple[Payload, ...] | None:
    return None if x is None or y is None or len(x) + len(y) > MOST_ITEMS else x + y


def _as_cells(b: Builder, x: Operand, rank: int, axis: int, target: tuple[Size, ...], span: Span) -> Operand:
    """x with the result's rank: a cell gets an axis of length 1, a scalar is replicated."""
    if x.type.rank == rank:
        return x
    if x.type.rank == 0:
        shape = [ONE if at == axis else s for at, s in enumerate(target)]
        return to_vector(b, x, span) if rank == 1 else spread(b, x, (), shape, span)
    return reshaped(b, x, (*x.type.shape[:axis], ONE, *x.type.shape[axis:]), span)


def laminate(b: Builder, left: Operand, right: Operand, axis: int, span: Span) -> Operand:
    """Both arrays (a scalar extends) as the two cells of a new axis."""
    both = common(b, (left, right), span, f"`{b.glyph}` joins text with text or numbers with numbers")
    if both is None:
        return b.poison(span)
    element = joint_element(both)
    x, y = both
    if x.type.rank == 0 and y.type.rank:
        x = spread(b, x, (), y.type.shape, span)
    elif y.type.rank == 0 and x.type.rank:
        y = spread(b, y, (), x.type.shape, span)
    if x.type.rank != y.type.rank:
        return b.error(Code.E103, f"lamination needs equal shapes: {show_type(x.type)} and {show_type(y.type)}", span)
    for mine, theirs in zip(x.type.shape, y.type.shape, strict=True):
        if not require_equal(
            b, mine, theirs, Code.E103, span, f"lamination needs equal shapes: {mine} meets {theirs}", left, right
        ):
            return b.poison(span)
    shape = (*x.type.shape[:axis], ONE + ONE, *x.type.shape[axis:])
    values = (x.value, y.value)
    return b.emit(lambda r: Stack(r, values, axis), ArrayType(element, shape), span)
