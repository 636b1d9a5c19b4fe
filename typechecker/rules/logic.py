"""`~ ∧ ∨ ⍲ ⍱ < ≤ = ≥ > ≠ ≡ ≢ ¿`: truth values, comparisons, matching and selection."""

from __future__ import annotations

from ...lang.codes import Code
from ...lang.source import Span
from ..agreement import principal_frame
from ..builder import Builder
from ..core import named
from ..elements import Element, Kind, arithmetic, comparison
from ..operands import Operand, TupleOperand, Value
from ..scalars import FUNCTIONS
from ..types import ArrayType
from .common import (
    as_bool,
    common,
    constant_array,
    fit_weak,
    is_boolean,
    joint_element,
    label,
    require_numbers,
    require_rank,
    text_and_numbers,
)
from .exact import comparable, compared_exactly, compared_turned, rounds

BOOL = Element(Kind.BOOL)
COMPARISONS = {"<": "lt", "≤": "le", "=": "eq", "≥": "ge", ">": "gt", "≠": "ne"}
_LOGIC = {"∧": ("and", "lcm"), "∨": ("or", "gcd"), "⍲": ("nand", ""), "⍱": ("nor", "")}


def negation(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`~`: not, on bools."""
    y = as_bool(b, x, span)
    return b.poison(span) if y is None else b.scalar("not", (y,), BOOL, span)


def logical(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`∧ ∨ ⍲ ⍱`: bool on two bools; `∧ ∨` on other numbers are lcm and gcd."""
    if not (require_numbers(b, left, span) and require_numbers(b, right, span)):
        return b.poison(span)
    truth, number = _LOGIC[b.glyph]
    x, y = b.to_number(left, span), b.to_number(right, span)
    if (is_boolean(x.type.element) and is_boolean(y.type.element)) or not number:
        p, q = as_bool(b, x, span), as_bool(b, y, span)
        return b.poison(span) if p is None or q is None else b.scalar(truth, (p, q), BOOL, span)
    return _number_theory(b, number, x, y, span)


def _number_theory(b: Builder, function: str, x: Operand, y: Operand, span: Span) -> Operand:
    kind = arithmetic(x.type.element, y.type.element)
    assert kind is not None
    if not (fit_weak(b, x, kind, span) and fit_weak(b, y, kind, span)):
        return b.poison(span)
    return b.scalar(function, (b.convert(x, kind, span), b.convert(y, kind, span)), Element(kind), span)


def compare(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """Comparisons: exact, bool; text against numbers is never equal, and has no order (E300)."""
    return compared(b, COMPARISONS[b.glyph], left, right, span)


def compared(b: Builder, function: str, left: Operand, right: Operand, span: Span) -> Operand:
    """One comparison by its core name."""
    if text_and_numbers(left, right):
        if function not in ("eq", "ne"):
            return b.error(Code.E300, f"`{b.glyph}` compares text with text or numbers with numbers", span,
                           labels=(label(b, left), label(b, right)))  # fmt: skip
        shape = principal_frame(b, (left, right), span)
        return b.poison(span) if shape is None else constant_array(b, function == "ne", BOOL, shape, span)
    x, y = left, right
    if not (x.type.element.below is not None and y.type.element.below is not None):
        x, y = b.to_number(x, span), b.to_number(y, span)
        kind = comparison(x.type.element, y.type.element)
        assert kind is not None
        if kind not in FUNCTIONS[function].kinds:
            return b.error(Code.E300, f"`{b.glyph}` needs real numbers; complex numbers have no order", span,
                           labels=(label(b, left), label(b, right)))  # fmt: skip
        if not (x.poisoned or y.poisoned) and (rounds(x, y) or rounds(y, x)):
            if principal_frame(b, (x, y), span) is None:
                return b.poison(span)
            exact = compared_exactly if rounds(x, y) else compared_turned
            return exact(b, function, *((x, y) if rounds(x, y) else (y, x)), span)
        x, y = b.convert(x, kind, span), b.convert(y, kind, span)
    return b.scalar(function, (x, y), BOOL, span)


def match(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`≡ ≢`: a scalar bool; different shapes or text against numbers do not match."""
    same = _match(b, left, right, span)
    return same if b.glyph == "≡" or same.poisoned else b.scalar("not", (same,), BOOL, span)


def _match(b: Builder, left: Operand, right: Operand, span: Span) -> Operand:
    differs = left.type.rank != right.type.rank or text_and_numbers(left, right)
    pairs = zip(left.type.shape, right.type.shape, strict=False)
    if differs or any(b.equal(x, y) is False for x, y in pairs):
        return constant_array(b, False, BOOL, (), span)
    x, y = comparable(b, left, right, span)
    constant = None
    if x.constant is not None and y.constant is not None:
        constant = (x.constant == y.constant and tuple(x.type.shape) == tuple(y.type.shape),)
    return b.emit(lambda r: named(r, "match", x.value, y.value), ArrayType(BOOL, ()), span, constant=constant)


def first_occurrence(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`≠⍵`: is each major cell the first of its kind?"""
    if not require_rank(b, x, 1, span):
        return b.poison(span)
    return b.emit(lambda r: named(r, "first_occurrence", x.value), ArrayType(BOOL, x.type.shape[:1]), span)


def select(b: Builder, left: Operand, right: Value, axis: Operand | None, span: Span) -> Value:
    """`m ¿ (a ⋄ b)`: a where m holds, else b; each pair of tuple items in turn."""
    if not isinstance(right, TupleOperand) or len(right.items) != 2:
        return b.error(Code.E305, "`¿` takes a tuple of two on its right: `m ¿ (a ⋄ b)`", span)
    mask = as_bool(b, left, span)
    return b.poison(span) if mask is None else _select(b, mask, right.items[0], right.items[1], span)


def _select(b: Builder, mask: Operand, yes: Value, no: Value, span: Span) -> Value:
    if isinstance(yes, TupleOperand) or isinstance(no, TupleOperand):
        if not (isinstance(yes, TupleOperand) and isinstance(no, TupleOperand) and len(yes.items) == len(no.items)):
            return b.error(Code.E305, "the two sides of `¿` are tuples of different structure", span)
        return TupleOperand(tuple(_select(b, mask, p, q, span) for p, q in zip(yes.items, no.items, strict=True)))
    if yes.poisoned or no.poisoned:
        return b.poison(span)
    both = common(b, (yes, no), span, "`¿` needs two values of one type, but these mix text and numbers")
    if both is None:
        return b.poison(span)
    return b.scalar("select", (mask, *both), joint_element(both), span)
