"""`⊥ ⊤ ? ⌹ ⍕`, conversions and library functions."""

from __future__ import annotations

from collections.abc import Callable

from ...lang.codes import Code
from ...lang.source import Span
from ..builder import Builder
from ..core import Library, named
from ..display import show_type
from ..elements import Element, Kind, arithmetic, integer_range, ranged, strong
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, TupleOperand, Value
from ..sizes import ONE, Size, number
from ..types import ArrayType
from .arithmetic import floats
from .common import (
    fit_weak,
    is_boolean,
    label,
    require_equal,
    require_integers,
    require_numbers,
    reshaped,
    to_vector,
)
from .join import join_along
from .static_arguments import require_natural, size_arguments  # fmt: skip

# -------------------------------------------------------------------------- decode, encode


def _same_kind(
    b: Builder, left: Operand, right: Operand, span: Span, widened: frozenset[Kind] = frozenset()
) -> tuple[Operand, Operand] | None:
    """Both arguments as numbers of their common kind; of a kind in `widened`, as i64."""
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
    return b.emit(lambda r: named(r, "decode", x.value, y.value), type, span)


def _counted(b: Builder, left: Operand, right: Operand) -> Element | None:
    """`1⊥m` counts the bits of m that hold, `m⊥m` the last ones."""
    if not right.type.rank or not is_boolean(right.type.element):
        return None
    if left.static != ONE and not (left.type.rank == right.type.rank == 1 and b.alike(left, right)):
        return None
    return Element(Kind.I64, 0, right.type.shape[0].constant, most=right.type.shape[0])


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
    return b.emit(lambda r: named(r, "encode", x.value, y.value), type, span)


# ----------------------------------------------------------------------------------- random


def key_pair(b: Builder, pair: TupleOperand, span: Span) -> Operand:
    """A key written as a tuple of two integers."""
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
    return b.emit(lambda r: named(r, "random", key.value), ArrayType(Element(Kind.F64), sizes), span)


# ------------------------------------------------------------------------------ conversions


def conversion(kind: Kind) -> Callable[[Builder, Operand, Operand | None, Span], Value]:
    """`f64 x` and the like: checked when it runs where the value may not fit."""

    def rule(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
        y = b.to_number(x, span)
        have = y.type.element.kind
        if Kind.CHAR in (have, kind) and have is not kind and not (have.is_integer or kind.is_integer):
            return b.error(Code.E300, f"`{kind.value}` does not convert {show_type(x.type)}", span, labels=(label(b, x),),
                           notes=("text converts to integers (code points) and back",))  # fmt: skip
        made = b.convert(y, kind, span)
        return b.retyped(made, ArrayType(strong(made.type.element), made.type.shape))

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
        made = b.emit_many(lambda r: Library(r, "inverse", (column.value,)), [ArrayType(element, (ONE, n))], span)[0]
        return reshaped(b, made, (n,), span)
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
    made = b.emit_many(lambda r: Library(r, "solve", (values.value, matrix.value)), [type], span)[0]
    shape = (*((columns,) if a.type.rank == 2 else ()), *y.type.shape[1:])
    return reshaped(b, made, shape, span)
