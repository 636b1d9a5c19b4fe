"""Bringing several values to one type: promotion, equal cells, arms with one result."""

from __future__ import annotations

from collections.abc import Sequence

from ...lang import tree
from ...lang.codes import Code
from ...lang.diagnostics import Label
from ...lang.source import Span
from ..display import show_type
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, Value, is_poisoned
from ..rules.static_arguments import static_sizes
from ..sizes import ONE, Size, product, quotient, remainder
from .context import Context
from .environment import PrimitiveFunction


def same_cells(ctx: Context, left: Operand, left_span: Span, right: Operand, right_span: Span) -> bool:
    """E110 unless two items of array notation have one shape."""
    if left.type.rank != right.type.rank:
        message = f"the items stacked here have different shapes: ranks {left.type.rank} and {right.type.rank}"
        counts = [x.type.shape[0] if x.type.rank else ONE for x in (left, right)]
        if {left.type.rank, right.type.rank} == {0, 1}:
            message = f"the items stacked here have {counts[0]} and {counts[1]} elements"
        ctx.error(Code.E110, message, right_span, label=show_type(right.type), labels=(Label(left_span, show_type(left.type)),))
        return False
    for axis, (a, b) in enumerate(zip(left.type.shape, right.type.shape, strict=True)):
        obligation = Obligation(
            SizeFact(Relation.EQUAL, a, b),
            Code.E110,
            right_span,
            f"the items stacked here have {a} and {b} {'elements' if left.type.rank == 1 else f'along axis {axis}'}",
            (Label(left_span, show_type(left.type)), Label(right_span, show_type(right.type))),
        )
        if not ctx.builder.require(obligation):
            return False
    return True


def reshape_with_slot(
    ctx: Context, given: Sequence[Value | None], nodes: Sequence[tree.Expression], right: Value, span: Span
) -> Value:
    """`a _ b ⍴ x`: the slot is the number of elements over the product of the others (E200/E201, E203)."""
    if is_poisoned(right) or any(value is not None and is_poisoned(value) for value in given):
        return ctx.builder.poison(span)
    if not isinstance(right, Operand):
        return ctx.error(Code.E305, "`⍴` needs an array on its right, not a tuple", span)
    known: list[Size | None] = []
    for value, node in zip(given, nodes, strict=True):
        if value is None:
            known.append(None)
            continue
        sizes = static_sizes(ctx.builder, value) if isinstance(value, Operand) and value.type.rank == 0 else None
        if sizes is None:
            return ctx.error(Code.E403, "a size must be known before the program runs", node.span)
        known.append(sizes[0])
    others = product([s for s in known if s is not None])
    elements_ = product(right.type.shape)
    slot = next(node for node, size in zip(nodes, known, strict=True) if size is None)
    divides = ctx.builder.require(
        Obligation(
            SizeFact(Relation.AT_MOST, ONE, others),
            Code.E203,
            slot.span,
            f"the inferred size is {elements_}÷{others}, and {others} may be 0",
        )
    )
    fits = divides and ctx.builder.require(
        Obligation(
            SizeFact(Relation.DIVIDES, others, elements_),
            Code.E201,
            span,
            f"the {elements_} elements of the array do not divide into cells of {others}",
        )
    )
    if not fits:
        return ctx.builder.poison(span)
    inferred = quotient(elements_, others) if remainder(elements_, others) != ONE else ONE
    shape = ctx.builder.size_vector([inferred if s is None else s for s in known], span)
    return ctx.call(PrimitiveFunction(span, "⍴"), shape, right, span)
