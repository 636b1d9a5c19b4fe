"""`+ - × ÷ ⌊ ⌈ | ⍟ √ !`: arithmetic by agreement, with integer ranges and singletons carried through.

A result whose operands are both singletons is one (`+ - × ⌊ ⌈ |`, and `⌊a÷b` through its exact quotients).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...lang.codes import Code
from ...lang.source import Span
from ..builder import Builder
from ..elements import Element, Kind, arithmetic, floating, integer_range, limits, ranged
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, Value
from ..scalars import FUNCTIONS
from ..sizes import ONE, ZERO, Size, maximum, minimum, number, quotient, remainder, surely_machine
from .common import fit_weak, is_boolean, require_numbers, with_static
from .static_arguments import static_sizes

DYADIC_FUNCTIONS = {"+": "add", "-": "sub", "×": "mul", "⌊": "min", "⌈": "max", "|": "residue"}

_STATIC: dict[str, Callable[[Size, Size], Size]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "min": minimum,
    "max": maximum,
    "residue": lambda x, y: remainder(y, x),
}


# ----------------------------------------------------------------------------------- dyadic


def dyadic(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`+ - × ⌊ ⌈ |`: equal kinds by promotion, bools as i64."""
    if not (require_numbers(b, left, span) and require_numbers(b, right, span)):
        return b.poison(span)
    return arithmetic_of(b, DYADIC_FUNCTIONS[b.glyph], left, right, span)


def arithmetic_of(b: Builder, function: str, left: Operand, right: Operand, span: Span) -> Operand:
    """Apply one of the arithmetic functions to numbers."""
    x, y = b.to_number(left, span), b.to_number(right, span)
    kind = arithmetic(x.type.element, y.type.element)
    assert kind is not None
    if kind.is_complex and kind not in FUNCTIONS[function].kinds:
        return b.error(Code.E300, f"`{b.glyph}` needs real numbers; these are complex", span)
    if not (fit_weak(b, x, kind, span) and fit_weak(b, y, kind, span)):
        return b.poison(span)
    static = static_result(b, function, x, y)
    element = _range(b, function, kind, _bounded_by_size(b, function, x), _bounded_by_size(b, function, y), static)
    made = b.scalar(function, (b.convert(x, kind, span), b.convert(y, kind, span)), element, span)
    return made if made.poisoned else with_static(made, static, x, y) if kind is Kind.I64 else made


def static_result(b: Builder, function: str, x: Operand, y: Operand) -> Size | tuple[Size, ...] | None:
    """The singleton of an arithmetic result on two singletons, scalars extending."""
    combine = _STATIC[function]
    left, right = _own_static(b, x), _own_static(b, y)
    if left is None or right is None:
        return None
    if isinstance(left, Size) and isinstance(right, Size):
        return bounded(combine(left, right))
    lefts = left if isinstance(left, tuple) else (left,) * len(right if isinstance(right, tuple) else ())
    rights = right if isinstance(right, tuple) else (right,) * len(lefts)
    if len(lefts) != len(rights):
        return None
    made = tuple(bounded(combine(p, q)) for p, q in zip(lefts, rights, strict=True))
    kept = tuple(m for m in made if m is not None)
    return kept if len(kept) == len(made) else None


def _own_static(b: Builder, x: Operand) -> Size | tuple[Size, ...] | None:
    if x.static is not None or x.constant is None or not x.type.element.weak:
        return x.static
    sizes = static_sizes(b, x)
    return sizes if sizes is None or x.type.rank else sizes[0]


def bounded(size: Size) -> Size | None:
    """Singletons are formulas within limits and numbers that i64 holds: one beyond would have wrapped."""
    low, high = limits(Kind.I64) or (0, 0)
    value = size.constant
    return size if size.is_simple() and (value is None or low <= value <= high) else None


def _bounded_by_size(b: Builder, function: str, x: Operand) -> Element:
    """The element of an operand of `⌊ ⌈`, where a size that it is (`¯1+≢x`) bounds it from both sides."""
    element = x.type.element
    if function not in ("min", "max") or not isinstance(x.static, Size) or x.static.constant is not None:
        return element
    low = element.low if element.low is not None and element.low >= 0 else 0 if b.at_most(ZERO, x.static) else element.low
    return replace(element, low=low, most=x.static)


def _upper(element: Element) -> Size | None:
    if element.most is not None:
        return element.most
    high = integer_range(element)[1]
    return None if high is None else number(high)


def _range(
    b: Builder, function: str, kind: Kind, x: Element, y: Element, static: Size | tuple[Size, ...] | None
) -> Element:  # fmt: skip
    """The result's element with its range; a range that might wrap is dropped."""
    if limits(kind) is None:
        return Element(kind)
    if isinstance(static, Size):
        low, high = static.bounds()
        return ranged(kind, low, high)
    (low1, high1), (low2, high2) = integer_range(x), integer_range(y)
    top1, top2 = _upper(x), _upper(y)
    symbolic = x.most is not None or y.most is not None
    low = high = None
    most: Size | None = None
    match function:
        case "add":
            low, high = _plus(low1, low2), _plus(high1, high2)
            most = top1 + top2 if top1 is not None and top2 is not None else None
        case "sub":
            low, high = _plus(low1, _minus(high2)), _plus(high1, _minus(low2))
            most = top1 - low2 if top1 is not None and low2 is not None else None
        case "mul":
            if None not in (low1, high1, low2, high2):
                corners = [p * q for p in (low1, high1) for q in (low2, high2) if p is not None and q is not None]
                low, high = min(corners), max(corners)
            elif low1 is not None and low2 is not None and low1 >= 0 and low2 >= 0:
                low = low1 * low2
                most = top1 * top2 if top1 is not None and top2 is not None else None
        case "min":
            low = None if low1 is None or low2 is None or not (_unwrapped(x) and _unwrapped(y)) else min(low1, low2)
            highs = [h for h in (high1, high2) if h is not None]
            high = min(highs, default=None)
            tops = [t for t in (top1, top2) if t is not None]
            most = _least(b, tops)
            if low is None and symbolic:
                return Element(kind, None, high, most=most)  # no lower bound yet: `0⌈` will give one
        case "max":
            lows = [v for v in (low1, low2) if v is not None]
            low = max(lows, default=None)
            high = None if high1 is None or high2 is None else max(high1, high2)
            most = _greatest(b, top1, top2)
        case _:  # residue: x is the divisor
            if low1 is not None and low1 >= 1:
                low, high = 0, None if high1 is None else high1 - 1
                if high1 is None and top1 is not None:
                    most, symbolic = top1 - 1, True
    if function == "mul" and (is_boolean(x) or is_boolean(y)):
        pass  # an item or 0
    elif function in ("add", "sub", "mul") and (low is None or (high is None and not (symbolic and most is not None))):
        return Element(kind)  # where one side is open, what is beyond i64 comes back on the other
    if high is None and low is None and most is not None and not symbolic:
        most = None
    kept = symbolic and low is not None and (high is None or function == "min")
    return ranged(kind, low, high, most=most if kept else None)


def _unwrapped(element: Element) -> bool:
    """Whatever the sizes are, no value has wrapped: what is above all of i64 could be anything, also negative."""
    return element.most is None or surely_machine(element.most)


def _least(b: Builder, tops: list[Size]) -> Size | None:
    if len(tops) == 2 and b.at_most(*tops):
        return tops[0]
    return minimum(*tops) if tops else None


def _greatest(b: Builder, top1: Size | None, top2: Size | None) -> Size | None:
    if top1 is None or top2 is None:
        return None
    if b.at_most(top1, top2):
        return top2
    return top1 if b.at_most(top2, top1) else maximum(top1, top2)


def _plus(x: int | None, y: int | None) -> int | None:
    return None if x is None or y is None else x + y


def _minus(x: int | None) -> int | None:
    return None if x is None else -x


def residue(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`⍺|⍵`: by a size n ≥ 1 the result is `int<0..n-1>`, which indexes an array of n cells."""
    made = dyadic(b, left, right, axis, span)
    if not isinstance(made, Operand) or made.poisoned or made.static is not None or not made.type.element.kind.is_integer:
        return made
    divisor = left.static if left.type.element.below is None else None
    if isinstance(divisor, Size):
        b.note(made, modulus=divisor)
    if isinstance(divisor, Size) and divisor.constant is None and surely_machine(divisor) and b.at_most(ONE, divisor):
        element = Element(made.type.element.kind, 0, most=divisor - 1)
        return b.retyped(made, replace(made.type, element=element))
    return made


def floats(b: Builder, items: tuple[Operand, ...], span: Span) -> tuple[Operand, ...]:
    """Operands in their common float or complex kind."""
    numbers = tuple(b.to_number(x, span) for x in items)
    if len(numbers) == 1:
        kind: Kind | None = numbers[0].type.element.kind
    else:
        kind = arithmetic(numbers[0].type.element, numbers[1].type.element)
    assert kind is not None
    return tuple(b.convert(x, floating(kind), span) for x in numbers)


def float_dyadic(function: str) -> Callable[[Builder, Operand, Operand, Operand | None, Span], Value]:
    """A rule for functions that compute in floats: `÷ ⍟ √ !` and the library's."""

    def rule(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
        if not (require_numbers(b, left, span) and require_numbers(b, right, span)):
            return b.poison(span)
        x, y = floats(b, (left, right), span)
        if x.type.element.kind not in FUNCTIONS[function].kinds:
            return b.error(Code.E300, f"`{b.glyph}` needs real numbers; these are complex", span)
        return b.scalar(function, (x, y), Element(x.type.element.kind), span)

    return rule


def divide(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`÷`: a float; the exact quotient of two singletons is remembered for `⌊ ⌈`."""
    made = float_dyadic("div")(b, left, right, axis, span)
    if isinstance(made, Operand) and not made.poisoned:
        x, y = integer_static(b, left), integer_static(b, right)
        if x is not None and y is not None:
            count = len(x) if left.type.rank else len(y)
            if left.type.rank == 0 or right.type.rank == 0 or len(x) == len(y):
                xs, ys = (v if o.type.rank else v * count for v, o in ((x, left), (y, right)))
                b.note(made, quotients=tuple(zip(xs, ys, strict=True)))
    return made


def integer_static(b: Builder, x: Operand) -> tuple[Size, ...] | None:
    kind = x.type.element.kind
    if not (kind.is_integer or kind is Kind.BOOL):
        return None
    return static_sizes(b, x) if x.static is not None or x.type.element.weak else None


# ---------------------------------------------------------------------------------- monadic


def conjugate(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`+`: the identity on reals."""
    if not require_numbers(b, x, span):
        return b.poison(span)
    y = b.to_number(x, span)
    if y.type.element.kind.is_complex:
        return b.scalar("conj", (y,), Element(y.type.element.kind), span)
    return b.convert(y, Kind.I64, span) if y.type.element.kind is Kind.BOOL else y


def _integers_too(function: str) -> Callable[[Builder, Operand, Operand | None, Span], Value]:
    """A rule for `- × |`: bools as i64, every other kind its own."""

    def rule(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
        if not require_numbers(b, x, span):
            return b.poison(span)
        y = b.to_number(x, span)
        if y.type.element.kind is Kind.BOOL:
            y = b.convert(y, Kind.I64, span)
        kind = FUNCTIONS[function].result_kind(y.type.element.kind)
        assert kind is not None
        static = _static_monadic(b, function, y)
        made = b.scalar(function, (y,), _monadic_range(function, kind, y.type.element), span)
        if function == "neg" and kind is Kind.I64 and not y.type.rank:
            b.note(made, negated=y)
        return with_static(made, static, y) if kind is Kind.I64 else made

    return rule


negate, sign, magnitude = _integers_too("neg"), _integers_too("sign"), _integers_too("abs")


def _static_monadic(b: Builder, function: str, x: Operand) -> Size | tuple[Size, ...] | None:
    static = _own_static(b, x)
    if static is None:
        return None
    made = tuple(_monadic_size(function, s) for s in (static if isinstance(static, tuple) else (static,)))
    kept = tuple(m for m in made if m is not None)
    if len(kept) != len(made):
        return None
    return kept if isinstance(static, tuple) else kept[0]


def _monadic_size(function: str, size: Size) -> Size | None:
    low, high = size.bounds()
    match function:
        case "neg":
            return -size
        case "abs":
            return size if low is not None and low >= 0 else -size if high is not None and high <= 0 else maximum(size, -size)
        case _:
            if low is not None and low >= 0:
                return minimum(1, size)
            return number((size.constant > 0) - (size.constant < 0)) if size.constant is not None else None


def _monadic_range(function: str, kind: Kind, x: Element) -> Element:
    if limits(kind) is None:
        return Element(kind)
    low, high = integer_range(x)
    match function:
        case "neg":
            is_open = low is None or kind is Kind.U8  # the least number has no opposite
            return Element(kind) if is_open else ranged(kind, _minus(high), _minus(low))
        case "abs":
            if low is not None and low >= 0:
                return ranged(kind, low, high, most=x.most)
            return ranged(kind, 0, max(-low, high)) if low is not None and high is not None else Element(kind)
        case _:
            least = -1 if low is None or low < 0 else min(low, 1)
            return ranged(kind, least, 1 if high is None or high > 0 else max(high, -1))


def rounding(function: str) -> Callable[[Builder, Operand, Operand | None, Span], Value]:
    """`⌊ ⌈`: to i64 (complex stays complex); the quotient of two sizes becomes a size."""

    def rule(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
        if not require_numbers(b, x, span):
            return b.poison(span)
        y = b.to_number(x, span)
        kind = y.type.element.kind
        if limits(kind) is not None:
            return b.convert(y, Kind.I64, span)
        exact = b.known(y).quotients
        if exact is not None:
            return _exact(b, function, y, exact, span)
        digits = b.known(y).digits
        element = Element(kind if kind.is_complex else Kind.I64) if digits is None else ranged(Kind.I64, 0, digits)
        made = b.scalar(function, (y,), element, span)
        return with_static(made, _literal_rounding(function, y), y)

    return rule


def _exact(b: Builder, function: str, x: Operand, pairs: tuple[tuple[Size, Size], ...], span: Span) -> Operand:
    made: list[Size] = []
    for top, bottom in pairs:
        if bottom.constant is not None and bottom.constant < 0:
            top, bottom = -top, -bottom
        message = "the divisor is 0, so there is no number to round" if bottom == ZERO else f"the divisor {bottom} may be 0"
        if not b.require(Obligation(SizeFact(Relation.AT_MOST, ONE, bottom), Code.E203, span, message)):
            return b.poison(span)
        made.append(quotient(top, bottom) if function == "floor" else quotient(top + bottom - 1, bottom))
    return b.size_vector(made, span) if x.type.rank else b.size_value(made[0], span)


def _literal_rounding(function: str, x: Operand) -> Size | None:
    import math

    if x.type.rank or x.constant is None or not isinstance(x.constant[0], float) or not math.isfinite(x.constant[0]):
        return None
    if not x.type.element.weak:
        return None
    return bounded(number(math.floor(x.constant[0]) if function == "floor" else math.ceil(x.constant[0])))


floor, ceiling = rounding("floor"), rounding("ceil")


def float_monadic(function: str) -> Callable[[Builder, Operand, Operand | None, Span], Value]:
    """A rule for functions that compute in floats: `÷ * ⍟ √ ! ○` and the library's."""

    def rule(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
        if not require_numbers(b, x, span):
            return b.poison(span)
        (y,) = floats(b, (x,), span)
        kind = y.type.element.kind
        if kind not in FUNCTIONS[function].kinds:
            return b.error(Code.E300, f"`{b.glyph}` needs real numbers; these are complex", span)
        return b.scalar(function, (y,), Element(kind), span)

    return rule


def reciprocal(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`÷⍵`, remembering `⌊÷n`."""
    made = float_monadic("reciprocal")(b, x, axis, span)
    sizes = integer_static(b, x)
    if isinstance(made, Operand) and not made.poisoned and sizes is not None:
        b.note(made, quotients=tuple((ONE, s) for s in sizes))
    return made
