"""Typing rules of arithmetic (`+ - × ÷ ⌊ ⌈ | ⍟ √ ! * ○`), number systems, random numbers, conversions and linear systems.

Integer ranges and static values are propagated: a result of `+ - × ⌊ ⌈ |` on static operands is static, and so is `⌊a÷b`, by its
exact quotients.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import partial

from ...lang.diagnostics.model import Code
from ...lang.support.records import replace
from ...lang.syntax.source import Span
from ..core.builder import Builder
from ..core.operations import Library, Payload, Stack, library_op
from ..diagnostics import show_type
from ..elements import (
    FUNCTIONS,
    ArrayType,
    Element,
    Kind,
    arithmetic,
    comparison,
    floating,
    integer_range,
    limits,
    promote_kinds,
    ranged,
    size_range,
    strong,
    surely_unwrapped,
)
from ..proof.obligations import Obligation, Relation, SizeFact
from ..sizes.polynomials import INTERVALS, ONE, ZERO, Size, number
from ..sizes.size import maximum, minimum, quotient, remainder, surely_fits_i64
from ..values.facts import Operand, TupleOperand, Value
from .argument_checks import (
    DyadicRule,
    MonadicRule,
    constant_array,
    fit_weak,
    is_boolean,
    item_of,
    label,
    require_equal,
    require_integers,
    require_natural,
    require_numbers,
    reshaped,
    size_arguments,
    static_sizes,
    to_vector,
    with_static,
)
from .shape import join_along

# ---------------------------------------------------------------------------------------------------- arithmetic

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
    result = b.scalar(function, (b.convert(x, kind, span), b.convert(y, kind, span)), element, span)
    return result if result.poisoned else with_static(b, result, static, x, y) if kind is Kind.I64 else result


def static_result(b: Builder, function: str, x: Operand, y: Operand) -> Size | tuple[Size, ...] | None:
    """The static value of an arithmetic function on two static operands; scalars extend."""
    combine = _STATIC[function]
    left, right = _exact_sizes(b, x), _exact_sizes(b, y)
    if left is None or right is None:
        return None
    if isinstance(left, Size) and isinstance(right, Size):
        return bounded(combine(left, right))
    lefts = left if isinstance(left, tuple) else (left,) * len(right if isinstance(right, tuple) else ())
    rights = right if isinstance(right, tuple) else (right,) * len(lefts)
    if len(lefts) != len(rights):
        return None
    sizes = tuple(bounded(combine(p, q)) for p, q in zip(lefts, rights, strict=True))
    known = tuple(m for m in sizes if m is not None)
    return known if len(known) == len(sizes) else None


def _exact_sizes(b: Builder, x: Operand) -> Size | tuple[Size, ...] | None:
    if x.static is not None or x.constant is None or not x.type.element.weak:
        return x.static
    sizes = static_sizes(b, x)
    return sizes if sizes is None or x.type.rank else sizes[0]


def bounded(size: Size) -> Size | None:
    """The size, if its formula is within the limits and a number fits i64 (if not, it has wrapped); else None."""
    low, high = limits(Kind.I64) or (0, 0)
    value = size.constant
    return size if size.is_simple() and (value is None or low <= value <= high) else None


def _bounded_by_size(b: Builder, function: str, x: Operand) -> Element:
    """The element of an operand of `⌊ ⌈ ×`; if its value is a size (`¯1+≢x`), that is both bounds."""
    element = x.type.element
    if function not in ("min", "max", "mul") or not isinstance(x.static, Size) or x.static.constant is not None:
        return element
    low = element.low if element.low is not None and element.low >= 0 else 0 if b.at_most(ZERO, x.static) else element.low
    return replace(element, low=low, symbolic_max=x.static)


def _range(
    b: Builder, function: str, kind: Kind, x: Element, y: Element, static: Size | tuple[Size, ...] | None
) -> Element:  # fmt: skip
    """The result's element with its range, without one if values might wrap."""
    if limits(kind) is None:
        return Element(kind)
    if isinstance(static, Size):
        low, high = static.bounds()
        return ranged(kind, low, high)
    (low1, high1), (low2, _) = first, second = integer_range(x), integer_range(y)
    top1, top2 = size_range(x)[1], size_range(y)[1]
    symbolic = x.symbolic_max is not None or y.symbolic_max is not None
    low, high = INTERVALS[function](first, second)
    most: Size | None = None
    match function:
        case "add" if top1 is not None and top2 is not None:
            most = top1 + top2
        case "sub" if top1 is not None and low2 is not None:
            most = top1 - low2
        case "mul" if top1 is not None and top2 is not None and low1 is not None and low2 is not None and min(low1, low2) >= 0:
            most = top1 * top2
        case "min":
            low = low if surely_unwrapped(x) and surely_unwrapped(y) else None
            most = _least_bound(b, [t for t in (top1, top2) if t is not None])
            if low is None and symbolic:
                return Element(kind, None, high, symbolic_max=most)  # the lower bound is open until `0⌈` gives one
        case "max":
            most = _greatest_bound(b, top1, top2)
        case "residue" if low1 is not None and low1 >= 1 and high1 is None and top1 is not None:  # x is the divisor
            most, symbolic = top1 - 1, True
    if most is not None and not most.is_simple():
        most = None
    if function == "mul" and (is_boolean(x) or is_boolean(y)):
        pass  # the result is an item or 0
    elif function in ("add", "sub", "mul") and (low is None or (high is None and not (symbolic and most is not None))):
        return Element(kind)  # with one side open, values wrap from the other side
    if high is None and low is None and most is not None and not symbolic:
        most = None
    is_exact = symbolic and low is not None and (high is None or function == "min")
    return ranged(kind, low, high, symbolic_max=most if is_exact else None)


def _least_bound(b: Builder, tops: list[Size]) -> Size | None:
    if len(tops) == 2 and b.at_most(*tops):
        return tops[0]
    return minimum(*tops) if tops else None


def _greatest_bound(b: Builder, top1: Size | None, top2: Size | None) -> Size | None:
    if top1 is None or top2 is None:
        return None
    if b.at_most(top1, top2):
        return top2
    return top1 if b.at_most(top2, top1) else maximum(top1, top2)


def residue(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`⍺|⍵`: by a size n ≥ 1 the result is `int<0..n-1>`, which indexes an array of n cells."""
    result = dyadic(b, left, right, axis, span)
    if not isinstance(result, Operand) or result.poisoned or result.static is not None or not result.type.element.kind.is_integer:
        return result
    divisor = left.static if left.type.element.index_bound is None else None
    if isinstance(divisor, Size):
        b.add_facts(result, modulus=divisor)
    if isinstance(divisor, Size) and divisor.constant is None and surely_fits_i64(divisor) and b.at_most(ONE, divisor):
        element = Element(result.type.element.kind, 0, symbolic_max=divisor - 1)
        return b.with_type(result, replace(result.type, element=element))
    return result


def floats(b: Builder, items: tuple[Operand, ...], span: Span) -> tuple[Operand, ...]:
    """Operands in their common float or complex kind."""
    numbers = tuple(b.to_number(x, span) for x in items)
    if len(numbers) == 1:
        kind: Kind | None = numbers[0].type.element.kind
    else:
        kind = arithmetic(numbers[0].type.element, numbers[1].type.element)
    assert kind is not None
    return tuple(b.convert(x, floating(kind), span) for x in numbers)


def _in_floats(b: Builder, function: str, values: tuple[Operand, ...], span: Span) -> Operand:
    """A function that computes in floats."""
    if not all(require_numbers(b, x, span) for x in values):
        return b.poison(span)
    numbers = floats(b, values, span)
    kind = numbers[0].type.element.kind
    if kind not in FUNCTIONS[function].kinds:
        return b.error(Code.E300, f"`{b.glyph}` needs real numbers; these are complex", span)
    return b.scalar(function, numbers, Element(kind), span)


def float_dyadic(function: str) -> DyadicRule:
    """A rule for functions that compute in floats: `÷ ⍟ √ !` and the library's."""
    return lambda b, left, right, axis, span: _in_floats(b, function, (left, right), span)


def float_monadic(function: str) -> MonadicRule:
    """A rule for functions that compute in floats: `÷ * ⍟ √ ! ○` and the library's."""
    return lambda b, x, axis, span: _in_floats(b, function, (x,), span)


def divide(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`÷`: a float; of two static operands the exact quotient is recorded, for `⌊ ⌈`."""
    result = float_dyadic("div")(b, left, right, axis, span)
    if isinstance(result, Operand) and not result.poisoned:
        x, y = integer_static(b, left), integer_static(b, right)
        if x is not None and y is not None:
            count = len(x) if left.type.rank else len(y)
            if left.type.rank == 0 or right.type.rank == 0 or len(x) == len(y):
                xs, ys = (v if o.type.rank else v * count for v, o in ((x, left), (y, right)))
                b.add_facts(result, quotients=tuple(zip(xs, ys, strict=True)))
    return result


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
    """The rule of `- × |`: bools become i64, other kinds stay."""

    def rule(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
        if not require_numbers(b, x, span):
            return b.poison(span)
        y = b.to_number(x, span)
        if y.type.element.kind is Kind.BOOL:
            y = b.convert(y, Kind.I64, span)
        kind = FUNCTIONS[function].result_kind(y.type.element.kind)
        assert kind is not None
        static = _static_monadic(b, function, y)
        result = b.scalar(function, (y,), _monadic_range(function, kind, y.type.element), span)
        if function == "neg" and kind is Kind.I64 and not y.type.rank:
            b.add_facts(result, negated=y)
        return with_static(b, result, static, y) if kind is Kind.I64 else result

    return rule


negate, sign, magnitude = _integers_too("neg"), _integers_too("sign"), _integers_too("abs")


def _static_monadic(b: Builder, function: str, x: Operand) -> Size | tuple[Size, ...] | None:
    static = _exact_sizes(b, x)
    if static is None:
        return None
    sizes = tuple(_monadic_size(function, s) for s in (static if isinstance(static, tuple) else (static,)))
    known = tuple(m for m in sizes if m is not None)
    if len(known) != len(sizes):
        return None
    return known if isinstance(static, tuple) else known[0]


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
            is_open = low is None or kind is Kind.U8  # the least number has no negation
            return Element(kind) if is_open else ranged(kind, *INTERVALS[function]((low, high)))
        case "abs":
            if low is not None and low >= 0:
                return ranged(kind, low, high, symbolic_max=x.symbolic_max)
            return ranged(kind, 0, max(-low, high)) if low is not None and high is not None else Element(kind)
        case _:
            least = -1 if low is None or low < 0 else min(low, 1)
            return ranged(kind, least, 1 if high is None or high > 0 else max(high, -1))


def rounding(function: str) -> Callable[[Builder, Operand, Operand | None, Span], Value]:
    """The rule of `⌊ ⌈`: to i64 (complex stays complex); a quotient of two sizes becomes a size."""

    def rule(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
        if not require_numbers(b, x, span):
            return b.poison(span)
        y = b.to_number(x, span)
        kind = y.type.element.kind
        if limits(kind) is not None:
            return b.convert(y, Kind.I64, span)
        exact = b.facts_of(y).quotients
        if exact is not None:
            return _exact(b, function, y, exact, span)
        digits = b.facts_of(y).digits
        element = Element(kind if kind.is_complex else Kind.I64) if digits is None else ranged(Kind.I64, 0, digits)
        result = b.scalar(function, (y,), element, span)
        return with_static(b, result, _literal_rounding(function, y), y)

    return rule


def _exact(b: Builder, function: str, x: Operand, pairs: tuple[tuple[Size, Size], ...], span: Span) -> Operand:
    quotients: list[Size] = []
    for top, bottom in pairs:
        if bottom.constant is not None and bottom.constant < 0:
            top, bottom = -top, -bottom
        message = "the divisor is 0, so there is no number to round" if bottom == ZERO else f"the divisor {bottom} may be 0"
        if not b.require(Obligation(SizeFact(Relation.AT_MOST, ONE, bottom), Code.E203, span, message)):
            return b.poison(span)
        quotients.append(quotient(top, bottom) if function == "floor" else quotient(top + bottom - 1, bottom))
    return b.size_vector(quotients, span) if x.type.rank else b.size_value(quotients[0], span)


def _literal_rounding(function: str, x: Operand) -> Size | None:
    import math

    if x.type.rank or x.constant is None or not isinstance(x.constant[0], float) or not math.isfinite(x.constant[0]):
        return None
    if not x.type.element.weak:
        return None
    return bounded(number(math.floor(x.constant[0]) if function == "floor" else math.ceil(x.constant[0])))


floor, ceiling = rounding("floor"), rounding("ceil")


def reciprocal(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`÷⍵`; of a size the exact quotient is recorded, so that `⌊÷n` is a size."""
    result = float_monadic("reciprocal")(b, x, axis, span)
    sizes = integer_static(b, x)
    if isinstance(result, Operand) and not result.poisoned and sizes is not None:
        b.add_facts(result, quotients=tuple((ONE, s) for s in sizes))
    return result


# ---------------------------------------------------------------------------------------------------- number systems and more
#
# `⊥ ⊤ ? ⌹` and conversions.

# -------------------------------------------------------------------------- decode, encode


def _same_kind(
    b: Builder, left: Operand, right: Operand, span: Span, widened: frozenset[Kind] = frozenset()
) -> tuple[Operand, Operand] | None:
    """Both arguments as numbers of their common kind, or as i64 if that is in `widened`."""
    if not (require_numbers(b, left, span) and require_numbers(b, right, span)):
        return None
    x, y = b.to_number(left, span), b.to_number(right, span)
    kind = arithmetic(x.type.element, y.type.element)
    assert kind is not None
    if not (fit_weak(b, x, kind, span) and fit_weak(b, y, kind, span)):
        return None
    target = Kind.I64 if kind in widened else kind
    return b.convert(x, target, span), b.convert(y, target, span)


_SUMMED_AS_I64 = frozenset({Kind.U8, Kind.I32})


def decode(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`r⊥x`: r's last axis against x's first; a scalar or an axis of length 1 extends.  Small integers widen as in `+.×`."""
    both = _same_kind(b, left, right, span, _SUMMED_AS_I64)
    if both is None:
        return b.poison(span)
    x, y = both
    if x.type.rank and y.type.rank and x.type.shape[-1] != ONE and y.type.shape[0] != ONE:
        inner, outer = x.type.shape[-1], y.type.shape[0]
        message = f"the inner axes of `⊥` differ: {inner} on the left and {outer} on the right"
        if not require_equal(b, inner, outer, Code.E102, span, message, left, right):
            return b.poison(span)
    type = ArrayType(_counted(b, left, right) or Element(x.type.element.kind), (*x.type.shape[:-1], *y.type.shape[1:]))
    return b.emit(lambda r: library_op(r, "decode", x.value, y.value), type, span)


def _counted(b: Builder, left: Operand, right: Operand) -> Element | None:
    """The element of `1⊥m`, which counts the true bits of m, or of `m⊥m`, which counts the trailing ones; else None."""
    if not right.type.rank or not is_boolean(right.type.element):
        return None
    if left.static != ONE and not (left.type.rank == right.type.rank == 1 and b.is_same_value(left, right)):
        return None
    return Element(Kind.I64, 0, right.type.shape[0].constant, symbolic_max=right.type.shape[0])


def encode(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`r⊤x`: digits along a new leading axis: shape `(⍴r),⍴x`."""
    both = _same_kind(b, left, right, span)
    if both is None:
        return b.poison(span)
    x, y = both
    kind, (low, high) = x.type.element.kind, integer_range(x.type.element)
    digits = kind.is_integer and low is not None and low > 0 and high is not None
    element = ranged(kind, 0, high - 1) if digits and high is not None else Element(kind)
    type = ArrayType(element, (*x.type.shape, *y.type.shape))
    return b.emit(lambda r: library_op(r, "encode", x.value, y.value), type, span)


# ----------------------------------------------------------------------------------- random


def key_pair(b: Builder, pair: TupleOperand, span: Span) -> Operand:
    """The key of a random generator written as a tuple of two integers, as a vector."""
    items = pair.items
    if len(items) == 2 and isinstance(items[0], Operand) and isinstance(items[1], Operand):
        first, second = items[0], items[1]
        if first.type.rank == 0 and second.type.rank == 0:
            return join_along(b, to_vector(b, first, span), to_vector(b, second, span), 0, span)
    return b.error(Code.E305, "the key of `?` is one integer or a pair of integers", span)


def random(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`key?s`: uniform f64 of shape s; the key is an integer or a pair."""
    if not require_integers(b, left, span, "the key of `?`"):
        return b.poison(span)
    pair = left.type.rank == 1 and left.type.shape[0] == number(2)
    if left.type.rank and not pair:
        return b.error(Code.E131, f"the key of `?` is one integer or a pair, but this is {show_type(left.type)}", span,
                       labels=(label(b, left),))  # fmt: skip
    sizes = size_arguments(b, right, span, "the shape of `?`")
    if sizes is None or not require_natural(b, sizes, span, "a size"):
        return b.poison(span)
    key = b.convert(b.to_number(left, span), Kind.I64, span)
    return b.emit(lambda r: library_op(r, "random", key.value), ArrayType(Element(Kind.F64), sizes), span)


# ------------------------------------------------------------------------------ conversions


def conversion(kind: Kind) -> Callable[[Builder, Operand, Operand | None, Span], Value]:
    """The rule of a conversion such as `f64 x`, checked at run time where a value may not fit."""

    def rule(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
        y = b.to_number(x, span)
        actual = y.type.element.kind
        if Kind.CHAR in (actual, kind) and actual is not kind and not (actual.is_integer or kind.is_integer):
            return b.error(Code.E300, f"`{kind.value}` does not convert {show_type(x.type)}", span, labels=(label(b, x),),
                           notes=("text converts to integers (code points) and back",))  # fmt: skip
        converted = b.convert(y, kind, span)
        return b.with_type(converted, ArrayType(strong(converted.type.element), converted.type.shape))

    return rule


# ---------------------------------------------------------------------------------- linear algebra


def inverse(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`⌹x`: the inverse (least squares for more rows than columns); of a vector or scalar the pseudo-inverse."""
    if not require_numbers(b, x, span):
        return b.poison(span)
    (y,) = floats(b, (x,), span)
    element = Element(y.type.element.kind)
    if y.type.rank == 0:
        return b.scalar("reciprocal", (y,), element, span)
    if y.type.rank == 1:
        (n,) = y.type.shape
        column = reshaped(b, y, (n, ONE), span)
        solution = b.emit_many(lambda r: Library(r, "inverse", (column.value,)), [ArrayType(element, (ONE, n))], span)[0]
        return reshaped(b, solution, (n,), span)
    *frame, rows, columns = y.type.shape
    if not _tall(b, rows, columns, x, span):
        return b.poison(span)
    type = ArrayType(element, (*frame, columns, rows))
    return b.emit_many(lambda r: Library(r, "inverse", (y.value,)), [type], span)[0]


def _tall(b: Builder, rows: Size, columns: Size, x: Operand, span: Span) -> bool:
    message = f"`⌹` needs at least as many rows as columns: {rows} rows, {columns} columns"
    return b.require(Obligation(SizeFact(Relation.AT_MOST, columns, rows), Code.E101, span, message, (label(b, x),)))


def solve(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`y⌹A`: the least-squares solution of A +.× x = y."""
    if not (require_numbers(b, left, span) and require_numbers(b, right, span)):
        return b.poison(span)
    y, a = floats(b, (left, right), span)
    element = Element(a.type.element.kind)
    if a.type.rank == 0 and y.type.rank == 0:
        return b.scalar("div", (y, a), element, span)
    if a.type.rank > 2 or y.type.rank > 2:
        return b.error(Code.E131, "`⌹` takes matrices and vectors", span, labels=(label(b, left), label(b, right)))
    matrix = reshaped(b, a, (*a.type.shape, *(ONE,) * (2 - a.type.rank)), span)
    values = reshaped(b, y, (*y.type.shape, *(ONE,) * (2 - y.type.rank)), span)
    rows, columns = matrix.type.shape
    message = f"`⌹` needs as many values as equations: {values.type.shape[0]} and {rows}"
    if not (_tall(b, rows, columns, right, span)
            and require_equal(b, values.type.shape[0], rows, Code.E101, span, message, left, right)):  # fmt: skip
        return b.poison(span)
    type = ArrayType(element, (columns, values.type.shape[1]))
    solution = b.emit_many(lambda r: Library(r, "solve", (values.value, matrix.value)), [type], span)[0]
    shape = (*((columns,) if a.type.rank == 2 else ()), *y.type.shape[1:])
    return reshaped(b, solution, shape, span)


# ---------------------------------------------------------------------------------------------------- exact comparisons
#
# i64 is compared with floats exactly, without rounding the integer: 9007199254740993=9007199254740992.0 is 0.
#
# A comparison with a float written in the program becomes one between integers.  Otherwise two comparisons are computed and one
# is selected.  Below 2^53 in magnitude the float of the integer is exact.  From there on the integer x is H+l with l in 0..2^32-1
# and H a multiple of 2^32, whose float is exact, and x compares with y as l with y-H: near H that difference is exact, and far
# from it its rounding stays on the same side of l.  A complex number equals x if its real part does and its imaginary part is 0.
#
# Functions that compare cells (`≡ ∊ ⍳ ⍷ ⍸` and sets) get pairs instead of numbers: of an integer its float and the rounding
# error, of a float itself and 0.  Pairs compare, also lexicographically, as the numbers do.

_EXACT = 2**53
_HALF = 2**32
_LIMIT = 2**63
_SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_BOOL = Element(Kind.BOOL)


def rounds(x: Operand, y: Operand) -> bool:
    """Is x an integer that a float may not represent exactly, and y a float or complex?"""
    other = y.type.element.kind
    if x.type.element.kind is not Kind.I64 or not (other.is_float or other.is_complex) or x.poisoned or y.poisoned:
        return False
    if x.type.element.symbolic_max is not None or (isinstance(x.static, Size) and x.static.constant is None):
        return False  # at most a length, so below 2^53
    low, high = integer_range(x.type.element)
    return low is None or high is None or low < -_EXACT or high > _EXACT


def compared_exactly(b: Builder, function: str, x: Operand, y: Operand, span: Span) -> Operand:
    """`x function y` for an i64 x and a float y; a complex one only for equality."""
    if y.type.element.kind.is_complex:
        return _with_complex(b, function, x, y, span)
    compared = _with_literal(b, function, x, y, span) if y.constant is not None else None
    return _in_parts(b, function, x, y, span) if compared is None else compared


def compared_swapped(b: Builder, function: str, x: Operand, y: Operand, span: Span) -> Operand:
    """`y function x` for an i64 x and a float y."""
    return compared_exactly(b, _SWAPPED[function], x, y, span)


def _with_complex(b: Builder, function: str, x: Operand, y: Operand, span: Span) -> Operand:
    real, imaginary = (b.scalar("circular", (b.convert(y, Kind.C128, span),), Element(Kind.F64), span, part) for part in (9, 11))
    zero = b.literal((0.0,), ArrayType(Element(Kind.F64), ()), span)
    equal = b.scalar("and", (_in_parts(b, "eq", x, real, span), b.scalar("eq", (imaginary, zero), _BOOL, span)), _BOOL, span)
    return equal if function == "eq" else b.scalar("not", (equal,), _BOOL, span)


def comparable(b: Builder, x: Operand, y: Operand, span: Span) -> tuple[Operand, Operand]:
    """Both operands in the kind they compare in (two positions stay positions); an integer and a float as pairs, with one more
    axis of length 2."""
    if x.type.element.index_bound is not None and y.type.element.index_bound is not None:
        return x, y
    x, y = b.to_number(x, span), b.to_number(y, span)
    if rounds(x, y):
        return _of_integers(b, x, y, span), _of_floats(b, y, span)
    if rounds(y, x):
        return _of_floats(b, x, span), _of_integers(b, y, x, span)
    kind = comparison(x.type.element, y.type.element)
    assert kind is not None
    return b.convert(x, kind, span), b.convert(y, kind, span)


def _of_integers(b: Builder, x: Operand, like: Operand, span: Span) -> Operand:
    """The pairs of integers (complex if `like` is): their floats, and the rounding errors, which are exact."""
    i64, f64 = Element(Kind.I64), Element(Kind.F64)
    rest = b.scalar("residue", (b.literal((_HALF,), ArrayType(i64, ()), span), x), i64, span)
    high, low = (b.convert(part, Kind.F64, span) for part in (b.scalar("sub", (x, rest), i64, span), rest))
    rounded = b.convert(x, Kind.F64, span)
    away = b.scalar("add", (b.scalar("sub", (high, rounded), f64, span), low), f64, span)
    kind = Kind.C128 if like.type.element.kind.is_complex else Kind.F64
    return _pairs(b, b.convert(rounded, kind, span), b.convert(away, kind, span), span)


def _of_floats(b: Builder, y: Operand, span: Span) -> Operand:
    kind = Kind.C128 if y.type.element.kind.is_complex else Kind.F64
    zero: Payload = 0j if kind.is_complex else 0.0
    return _pairs(b, b.convert(y, kind, span), constant_array(b, zero, Element(kind), y.type.shape, span), span)


def _pairs(b: Builder, first: Operand, second: Operand, span: Span) -> Operand:
    shape = (*first.type.shape, number(1))
    return join_along(b, reshaped(b, first, shape, span), reshaped(b, second, shape, span), len(shape) - 1, span)


def _with_literal(b: Builder, function: str, x: Operand, y: Operand, span: Span) -> Operand | None:
    """The comparison with constants as one between integers; None if some constant has no equivalent integer."""
    numbers = [value for value in y.constant or () if isinstance(value, int | float)]
    integral = [v for v in numbers if math.isfinite(v) and v == math.floor(v) and -_LIMIT <= v < _LIMIT]
    if len(integral) == len(numbers):
        return b.scalar(function, (x, _integers(b, [int(v) for v in integral], y, span)), _BOOL, span)
    if len(numbers) != 1 or y.type.rank or not math.isfinite(numbers[0]) or not -_LIMIT < numbers[0] < _LIMIT:
        return None
    if function in ("eq", "ne"):
        return constant_array(b, function == "ne", _BOOL, x.type.shape, span)
    near = (math.ceil if function in ("lt", "ge") else math.floor)(numbers[0])
    return b.scalar(function, (x, _integers(b, [near], y, span)), _BOOL, span) if -_LIMIT <= near < _LIMIT else None


def _integers(b: Builder, values: list[int], like: Operand, span: Span) -> Operand:
    data: tuple[Payload, ...] = tuple(values)
    return b.literal(data, ArrayType(Element(Kind.I64), like.type.shape), span)


def _in_parts(b: Builder, function: str, x: Operand, y: Operand, span: Span) -> Operand:
    def integer(value: int) -> Operand:
        return b.literal((value,), ArrayType(Element(Kind.I64), ()), span)

    i64, f64 = Element(Kind.I64), Element(Kind.F64)
    y = b.convert(y, Kind.F64, span)
    low = b.scalar("residue", (integer(_HALF), x), i64, span)
    high = b.convert(b.scalar("sub", (x, low), i64, span), Kind.F64, span)
    far = b.scalar(function, (b.convert(low, Kind.F64, span), b.scalar("sub", (y, high), f64, span)), _BOOL, span)
    near = b.scalar(function, (b.convert(x, Kind.F64, span), y), _BOOL, span)
    above = b.scalar("ge", (x, integer(_EXACT)), _BOOL, span)
    below = b.scalar("le", (x, integer(-_EXACT)), _BOOL, span)
    return b.scalar("select", (b.scalar("or", (above, below), _BOOL, span), far, near), _BOOL, span)


# ---------------------------------------------------------------------------------------------------- powers, logarithms, `○`

MOST_BASE = 2**53


def power(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`*`: integers with a static exponent that is not negative stay integers; other powers are floats."""
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
        element = _power_range(b, kind, x.type.element, exponents)
        result = b.scalar("ipow", (b.convert(x, kind, span), b.convert(y, kind, span)), element, span)
        return result if result.poisoned or kind is not Kind.I64 else with_static(b, result, _static_power(b, x, y), x, y)
    p, q = floats(b, (x, y), span)
    return b.scalar("pow", (p, q), Element(p.type.element.kind), span)


def _power_range(b: Builder, kind: Kind, base: Element, exponents: Sequence[Size]) -> Element:
    """The element of integer powers of numbers that are not negative, with its range if that cannot exceed the kind."""
    low, high = integer_range(base)
    if limits(kind) is None or low is None or high is None or low < 0:
        return Element(kind)
    candidates = range(kind.bytes * 8)
    tops = [bisect_left(candidates, True, key=partial(_is_at_most, b, size)) for size in exponents]
    most, least = max(tops, default=0), min([max(size.bounds()[0] or 0, 0) for size in exponents], default=0)
    return ranged(kind, min(low**least, low**most), max(high**least, high**most)) if most in candidates else Element(kind)


def _is_at_most(b: Builder, size: Size, top: int) -> bool:
    return b.at_most(size, number(top)) is True


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
    """`⍺○⍵`: ⍺ is a literal ¯12…12, or a vector of them, one for each major cell of ⍵."""
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
    """`b⍟x`; for an integer n the largest value of `⌊b⍟n`, a number of digits, is recorded."""
    result = float_dyadic("log")(b, left, right, axis, span)
    element, base = right.type.element, left.constant[0] if left.constant and not left.type.rank else None
    if not isinstance(result, Operand) or not isinstance(base, int | float) or not 2 <= base < MOST_BASE:
        return result
    if limits(element.kind) is not None:
        greatest = integer_range(element)[1] if element.index_bound is None else None
        bits = 63 if greatest is None else max(greatest, 1).bit_length()
        b.add_facts(result, digits=-int(-bits // (int(base).bit_length() - 1)) + 1)
    return result
