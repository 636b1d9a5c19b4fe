"""`* ⍟ ○` dyadic: powers that keep integers, numbers of digits, and the circular functions picked by a literal."""

from __future__ import annotations

from ...lang.codes import Code
from ...lang.source import Span
from ..builder import Builder
from ..core import Stack
from ..elements import Element, Kind, arithmetic, integer_range, limits, promote_kinds
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, Value
from ..scalars import FUNCTIONS
from ..sizes import ZERO, Size, number
from ..types import ArrayType
from .arithmetic import bounded, float_dyadic, floats, integer_static
from .common import fit_weak, item_of, require_numbers, with_static
from .static_arguments import static_sizes

MOST_BASE = 2**53


def power(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`*`: integers stay integers when the exponent is static and not negative, anything else is a float."""
    if not (require_numbers(b, left, span) and require_numbers(b, right, span)):
        return b.poison(span)
    x, y = b.to_number(left, span), b.to_number(right, span)
    integers = all(v.type.element.kind in (Kind.BOOL, Kind.U8, Kind.I32, Kind.I64) for v in (x, y))
    exponents = integer_static(b, y) if integers else None
    if exponents is not None and all(b.at_most(ZERO, s) is True for s in exponents):
        kind = arithmetic(x.type.element, y.type.element)
        assert kind is not None
        if not fit_weak(b, x, kind, span):
            return b.poison(span)
        made = b.scalar("ipow", (b.convert(x, kind, span), b.convert(y, kind, span)), Element(kind), span)
        return made if made.poisoned or kind is not Kind.I64 else with_static(made, _static_power(b, x, y), x, y)
    p, q = floats(b, (x, y), span)
    return b.scalar("pow", (p, q), Element(p.type.element.kind), span)


def _static_power(b: Builder, x: Operand, y: Operand) -> Size | None:
    if x.type.rank or y.type.rank or x.static is None or y.static is None:
        return None
    base, exponent = static_sizes(b, x), static_sizes(b, y)
    if base is None or exponent is None:
        return None
    low, high = base[0].constant, exponent[0].constant
    if low is None or high is None or high > 62:
        return None
    return bounded(number(low**high))


def circular(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`⍺○⍵`: ⍺ is a literal ¯12…12, or a vector of them whose items meet ⍵'s major cells."""
    if not (require_numbers(b, left, span) and require_numbers(b, right, span)):
        return b.poison(span)
    codes = static_sizes(b, left)
    picks = None if codes is None else [s.constant for s in codes]
    if picks is None or any(p is None or not -12 <= p <= 12 for p in picks):
        return b.error(Code.E300, "the left argument of `○` must be a literal from ¯12 to 12", span,
                       notes=("1 2 3 are sin cos tan, ¯1 ¯2 ¯3 their inverses, 5 6 7 the hyperbolic ones",))  # fmt: skip
    numbers = [p for p in picks if p is not None]
    if left.type.rank == 0:
        return _circular(b, numbers[0], right, span)
    if right.type.rank and not b.require(_same_count(b, len(numbers), right, span)):
        return b.poison(span)
    cells = [_circular(b, k, item_of(b, right, i, span) if right.type.rank else right, span) for i, k in enumerate(numbers)]
    if any(c.poisoned for c in cells) or not cells:
        return b.poison(span) if cells else b.literal((), ArrayType(Element(Kind.F64), left.type.shape), span)
    kind = cells[0].type.element.kind
    for cell in cells[1:]:
        kind = promote_kinds(kind, cell.type.element.kind) or kind
    values = tuple(b.convert(c, kind, span).value for c in cells)
    return b.emit(lambda r: Stack(r, values), ArrayType(Element(kind), (number(len(values)), *cells[0].type.shape)), span)


def _same_count(b: Builder, count: int, right: Operand, span: Span) -> Obligation:
    message = f"these arrays do not line up: axis 0 is {count} on the left and {right.type.shape[0]} on the right"
    return Obligation(SizeFact(Relation.EQUAL, number(count), right.type.shape[0]), Code.E101, span, message)


def _circular(b: Builder, code: int, right: Operand, span: Span) -> Operand:
    (x,) = floats(b, (right,), span)
    if code in (-11, -12) and not x.type.element.kind.is_complex:
        x = b.convert(x, Kind.C64 if x.type.element.kind is Kind.F32 else Kind.C128, span)
    kind = FUNCTIONS["circular"].result_kind(x.type.element.kind, code)
    assert kind is not None
    return b.scalar("circular", (x,), Element(kind), span, parameter=code)


def logarithm(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`b⍟x`, remembering how great `⌊b⍟n` can be for an integer n (a number of digits; of 0 and below there is none)."""
    made = float_dyadic("log")(b, left, right, axis, span)
    element, base = right.type.element, left.constant[0] if left.constant and not left.type.rank else None
    if not isinstance(made, Operand) or not isinstance(base, int | float) or not 2 <= base < MOST_BASE:
        return made
    if limits(element.kind) is not None:
        greatest = integer_range(element)[1] if element.below is None else None
        bits = 63 if greatest is None else max(greatest, 1).bit_length()
        b.note(made, digits=-int(-bits // (int(base).bit_length() - 1)) + 1)
    return made
