"""`⎕band ⎕bor ⎕bxor ⎕bnot ⎕shl ⎕shr ⎕shru`: the bits of integers in two's complement; bools count as i64.

A result of `⎕band` with a number that is not negative is within it, so `255⎕band x` indexes an array of 256 cells.
"""

from __future__ import annotations

from collections.abc import Callable

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Severity, Verdict
from ...lang.source import Span
from ..builder import Builder
from ..core import Gather, Iota
from ..display import show_type
from ..elements import Element, Kind, arithmetic, integer_range, ranged
from ..operands import Operand, Value
from ..sizes import ZERO, Size, number
from ..types import ArrayType
from .common import fit_weak, label, show_number

DyadicRule = Callable[[Builder, Operand, Operand, Operand | None, Span], Value]


def _integers(b: Builder, x: Operand, span: Span) -> Operand | None:
    """x as numbers, bools as i64; None after E300."""
    kind = x.type.element.kind
    if not (kind.is_integer or kind is Kind.BOOL):
        b.error(Code.E300, f"`{b.glyph}` needs integers, but this is {show_type(x.type)}", span, labels=(label(b, x),))
        return None
    y = b.to_number(x, span)
    return b.convert(y, Kind.I64, span) if y.type.element.kind is Kind.BOOL else y


def complement(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`⎕bnot`: every bit the other."""
    y = _integers(b, x, span)
    if y is None:
        return b.poison(span)
    kind = y.type.element.kind
    low, high = integer_range(y.type.element)
    known = kind is not Kind.U8 and low is not None and high is not None
    element = ranged(kind, -1 - high, -1 - low) if known and low is not None and high is not None else Element(kind)
    return b.scalar("bnot", (y,), element, span)


def both(function: str) -> DyadicRule:
    """`⎕band ⎕bor ⎕bxor`: bit by bit, of one promoted kind."""

    def rule(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
        x, y = _integers(b, left, span), _integers(b, right, span)
        if x is None or y is None:
            return b.poison(span)
        kind = arithmetic(x.type.element, y.type.element)
        assert kind is not None
        if not (fit_weak(b, x, kind, span) and fit_weak(b, y, kind, span)):
            return b.poison(span)
        element = _bounded(function, kind, x.type.element, y.type.element)
        return b.scalar(function, (b.convert(x, kind, span), b.convert(y, kind, span)), element, span)

    return rule


def _bounded(function: str, kind: Kind, x: Element, y: Element) -> Element:
    """The result's element; numbers that are not negative bound it."""
    (low1, high1), (low2, high2) = integer_range(x), integer_range(y)
    natural = [high for low, high in ((low1, high1), (low2, high2)) if low is not None and low >= 0]
    highs = [high for high in natural if high is not None]
    if function == "band":
        return ranged(kind, 0, min(highs)) if highs else Element(kind, 0) if natural else Element(kind)
    if len(highs) < 2:
        return Element(kind, 0) if len(natural) == 2 else Element(kind)
    return ranged(kind, 0, (1 << max(highs).bit_length()) - 1)


def shift(function: str) -> DyadicRule:
    """`k⎕shl x`, `k⎕shr x`, `k⎕shru x`: x keeps its kind; a count outside 0..width-1 is E310, when it runs if it must be."""

    def rule(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
        count, y = _integers(b, left, span), _integers(b, right, span)
        if count is None or y is None:
            return b.poison(span)
        kind = y.type.element.kind
        inside = _in_width(b, count, kind, span)
        if inside is None:
            return b.poison(span)
        element = _shifted(function, kind, inside.type.element, y.type.element)
        return b.scalar(function, (b.convert(inside, kind, span), y), element, span)

    return rule


def _in_width(b: Builder, count: Operand, kind: Kind, span: Span) -> Operand | None:
    """The count, known or checked (E310, W310) to be one of the bits' places."""
    width = 8 * kind.bytes
    low, high = integer_range(count.type.element)
    bad = next((int(c) for c in count.constant or () if isinstance(c, int) and not 0 <= c < width), None)
    if bad is None and ((low is not None and low >= width) or (high is not None and high < 0)):
        bad = low if high is None or high >= 0 else high
    if bad is not None:
        b.error(Code.E310, f"a shift of {kind.value} is by 0 to {width - 1} bits, but this is {show_number(bad)}", span,
                labels=(label(b, count),))  # fmt: skip
        return None
    element = Element(Kind.I64, max(0, low or 0), min(width - 1, width if high is None else high))
    position = b.convert(count, Kind.I64, span)
    if low is not None and low >= 0 and high is not None and high < width:
        return b.retyped(position, ArrayType(element, position.type.shape))
    sizes = (count.static,) if isinstance(count.static, Size) else count.static
    if sizes is not None and all(b.at_most(ZERO, size) and b.at_most(size, number(width - 1)) for size in sizes):
        return b.retyped(position, ArrayType(element, position.type.shape))
    b.report(Diagnostic(
        Code.W310,
        f"this count may be any {count.type.element.kind.value}, but a shift of {kind.value} is by 0 to {width - 1} bits",
        span, Severity.WARNING, labels=(label(b, count),), verdict=Verdict.UNKNOWN,
        notes=("every count is checked when the program runs", f"limit it: `{width - 1}⎕band n`, or `{width - 1}⌊0⌈n`"),
    ))  # fmt: skip
    places = b.emit(lambda r: Iota(r), ArrayType(Element(Kind.I64, 0, width - 1), (number(width),)), span)
    type = ArrayType(element, position.type.shape)
    return b.emit(lambda r: Gather(r, places.value, position.value, 0, checked=True, shift=kind), type, span)


def _shifted(function: str, kind: Kind, count: Element, y: Element) -> Element:
    """The result's element; what is not negative stays so to the right."""
    low, high = integer_range(y)
    least, most = count.low or 0, count.high
    if function == "shl":
        fits = low is not None and high is not None and most is not None and low >= 0
        return ranged(kind, low << least, high << most) if fits and low is not None and high is not None and most is not None \
            else Element(kind)  # fmt: skip
    if low is not None and low >= 0:
        return ranged(kind, 0, None if high is None else high >> least)
    if function == "shru" and least > 0:
        return ranged(kind, 0, (1 << (8 * kind.bytes - least)) - 1)
    return Element(kind)
