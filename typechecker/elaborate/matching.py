"""Checking a value against a declared type, and converting it to that type where it widens."""

from __future__ import annotations

from ...lang.codes import Code
from ...lang.diagnostics import Edit, Fix
from ...lang.source import Span
from ..display import show_type
from ..elements import Element, Kind, fits, integer_range, widens
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, TupleOperand, Value, is_poisoned
from ..rules.index import is_below_if_any
from ..sizes import ZERO, Size, capacity, product
from ..sizes import number as size_number
from ..types import ArrayType
from .context import Context
from .type_expressions import DeclaredType, TupleType


def conform(
    ctx: Context, value: Value, wanted: DeclaredType, span: Span, what: str, notes: tuple[str, ...] = ()
) -> Value:  # fmt: skip
    """`value` as one of the declared type: sizes E200/E201, elements E300/E301/E302."""
    if is_poisoned(value):
        return ctx.builder.poison(span)
    if isinstance(wanted, TupleType):
        if not isinstance(value, TupleOperand) or len(value.items) != len(wanted.items):
            return ctx.error(Code.E305, f"{what} is declared a tuple of {len(wanted.items)} items, but this is not one", span)
        items: list[Value] = []
        for item, type_ in zip(value.items, wanted.items, strict=True):
            items.append(conform(ctx, item, type_, span, what, notes))
        return ctx.builder.poison(span) if any(is_poisoned(item) for item in items) else TupleOperand(tuple(items))
    if isinstance(value, TupleOperand):
        return ctx.error(Code.E305, f"{what} is declared {show_type(wanted)}, but this is a tuple", span)
    if value.type.rank != wanted.rank:
        return ctx.error(
            Code.E200,
            f"{what} is declared {show_type(wanted)}, but this has rank {value.type.rank}: it can never work",
            span,
            label=show_type(value.type),
            notes=notes,
        )
    for a, b in zip(value.type.shape, wanted.shape, strict=True):
        fact = SizeFact(Relation.EQUAL, a, b)
        message = f"{what} is declared {show_type(wanted)}, but this is {show_type(value.type)}"
        if not ctx.builder.require(Obligation(fact, Code.E201, span, message, notes=notes)):
            return ctx.builder.poison(span)
    return element_as(ctx, value, wanted, span, what)


def element_as(ctx: Context, x: Operand, wanted: ArrayType, span: Span, what: str) -> Operand:
    """x with the declared element type, where it widens by itself."""
    element = wanted.element
    if element.below is not None:
        return _position_as(ctx, x, element, wanted.permutation, span, what)
    given = x.type.element
    if Kind.CHAR in (given.kind, element.kind) and given.kind is not element.kind:
        return ctx.error(Code.E300, f"{what} is declared {element.kind.value}, but this is {given.kind.value}", span)
    number = ctx.builder.to_number(x, span)
    given = number.type.element
    if not widens(given, element):
        low, high = integer_range(given)
        if (
            given.weak
            and low is not None
            and not given.kind.is_float
            and not given.kind.is_complex
            and not fits(given, element.kind)
        ):
            shown = low if low == high else f"{low}..{high}"
            return ctx.error(Code.E302, f"{str(shown).replace('-', '¯')} does not fit {element.kind.value}", span)
        fixes = _conversion(ctx, x, element.kind, span)
        return ctx.error(
            Code.E301,
            f"{what} is declared {element.kind.value}, and {given.kind.value} does not narrow to it by itself",
            span,
            notes=() if fixes else (f"write `{element.kind.value} …` to convert (checked when it runs)",),
            fixes=fixes,
        )
    if not _within_range(ctx, number, element, span, what, show_type(x.type)):
        return ctx.builder.poison(span)
    return ctx.builder.convert(number, element.kind, span)


def _within_range(ctx: Context, x: Operand, element: Element, span: Span, what: str, label: str) -> bool:
    """Is x within the declared `int<…>`?  E302, or E201 where the upper bound is a size."""
    low, high = integer_range(x.type.element)
    exact = x.static if isinstance(x.static, Size) else None
    if element.low is not None and not (low is not None and low >= element.low):
        least = str(element.low).replace("-", "¯")
        if exact is None or not ctx.builder.at_most(size_number(element.low), exact):
            ctx.error(Code.E302, f"{what} is declared at least {least}, but this may be less", span, label=label)
            return False
    if element.high is not None and not (high is not None and high <= element.high):
        most = str(element.high).replace("-", "¯")
        ctx.error(Code.E302, f"{what} is declared at most {most}, but this may be more", span, label=label)
        return False
    if element.most is None:
        return True
    top = exact or x.type.element.most or (None if high is None else size_number(high))
    if top is None or (exact is None and ctx.builder.at_most(top, element.most) is False):
        may = "more" if top is None else str(top)
        ctx.error(Code.E302, f"{what} is declared at most {element.most}, but this may be {may}", span, label=label)
        return False
    message = f"{what} is declared at most {element.most}, but this may be {top}"
    return ctx.builder.require(Obligation(SizeFact(Relation.AT_MOST, top, element.most), Code.E201, span, message))


def _conversion(ctx: Context, x: Operand, kind: Kind, span: Span) -> tuple[Fix, ...]:
    """The repair by an explicit conversion, where the value itself is underlined."""
    text = ctx.builder.text(span)
    if ctx.builder.wording.uses.get(x.value) != span or not text:
        return ()
    last = ctx.builder.text(Span(span.file, span.end, span.end + 1)) in ("", "\n")
    converted = f"{kind.value} {text}" if last else f"({kind.value} {text})"
    return (Fix(f"convert it: `{converted}` (checked when it runs)", (Edit(span, converted),)),)


def _position_as(ctx: Context, x: Operand, element: Element, permutation: bool, span: Span, what: str) -> Operand:
    assert element.below is not None
    given = x.type.element
    if permutation and not x.type.permutation:
        return ctx.error(
            Code.E301, f"{what} is declared a permutation, but this is not known to be one", span, label=show_type(x.type)
        )
    if given.below is not None:
        if ctx.builder.at_most(given.below, element.below) is True:
            return x
        return ctx.error(Code.E310, f"{what} is declared idx<{element.below}>, but this is idx<{given.below}>", span)
    stored = ctx.builder.to_position(x, span)
    if stored.type.element.kind is Kind.I64 and _is_below(ctx, stored, element.below):
        return ctx.builder.retyped(stored, ArrayType(element, stored.type.shape))
    return ctx.error(
        Code.E310,
        f"{what} is declared idx<{element.below}>, but this is not known to be in that range",
        span,
        label=show_type(x.type),
    )


def _is_below(ctx: Context, x: Operand, size: Size) -> bool:
    """Is every element of x, counted from 0, known to be a position of an axis of this size?"""
    if product(map(capacity, x.type.shape)) == ZERO:
        return True
    low, high = integer_range(x.type.element)
    exact = x.static if isinstance(x.static, Size) else None
    if not (low is not None and low >= 0) and not (exact is not None and ctx.builder.at_most(ZERO, exact)):
        return False
    tops = (exact, x.type.element.most, None if high is None else size_number(high))
    return any(
        top is not None and (ctx.builder.at_most(top + 1, size) or is_below_if_any(ctx.builder, x, top + 1, size)) for top in tops
    )
