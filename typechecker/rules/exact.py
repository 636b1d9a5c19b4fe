"""Comparing i64 with floats exactly: the integer is never rounded first, so 9007199254740993=9007199254740992.0 is 0.

Against a float written in the program the comparison is made between integers.  Otherwise both ways are computed and one
is chosen: below 2^53 in magnitude the float of the integer is exact.  From there on the integer x is H+l with l in
0..2^32-1 and H a multiple of 2^32, whose float is exact, and x is to y as l is to y-H: near H that difference is exact,
and far from it its rounding stays on the right side of l.  A complex number equals x if its real part does and its
imaginary part is 0.

Functions that compare cells (`≡ ∊ ⍳ ⍷ ⍸` and sets) see pairs instead of numbers: of an integer its float and what that
rounded away, of a float itself and 0.  Pairs are equal, and in lexicographic order, as the numbers are.

Neighbours: `logic` (comparisons), `search` (cells).
"""

from __future__ import annotations

import math

from ...lang.source import Span
from ..builder import Builder
from ..core import Payload
from ..elements import Element, Kind, comparison, integer_range
from ..operands import Operand
from ..sizes import Size, number
from ..types import ArrayType
from .common import constant_array, reshaped
from .join import join_along

_EXACT = 2**53
_HALF = 2**32
_LIMIT = 2**63
_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_BOOL = Element(Kind.BOOL)


def rounds(x: Operand, y: Operand) -> bool:
    """Is x an integer that its float may misrepresent, and y a float or complex?"""
    other = y.type.element.kind
    if x.type.element.kind is not Kind.I64 or not (other.is_float or other.is_complex) or x.poisoned or y.poisoned:
        return False
    if x.type.element.most is not None or (isinstance(x.static, Size) and x.static.constant is None):
        return False  # a length, or below one
    low, high = integer_range(x.type.element)
    return low is None or high is None or low < -_EXACT or high > _EXACT


def compared_exactly(b: Builder, function: str, x: Operand, y: Operand, span: Span) -> Operand:
    """`x function y` for an i64 x and a float y; a complex one only for equality."""
    if y.type.element.kind.is_complex:
        return _with_complex(b, function, x, y, span)
    made = _with_literal(b, function, x, y, span) if y.constant is not None else None
    return _in_parts(b, function, x, y, span) if made is None else made


def compared_turned(b: Builder, function: str, x: Operand, y: Operand, span: Span) -> Operand:
    """`y function x` for an i64 x and a float y."""
    return compared_exactly(b, _TURNED[function], x, y, span)


def _with_complex(b: Builder, function: str, x: Operand, y: Operand, span: Span) -> Operand:
    real, imaginary = (b.scalar("circular", (b.convert(y, Kind.C128, span),), Element(Kind.F64), span, part) for part in (9, 11))
    zero = b.literal((0.0,), ArrayType(Element(Kind.F64), ()), span)
    equal = b.scalar("and", (_in_parts(b, "eq", x, real, span), b.scalar("eq", (imaginary, zero), _BOOL, span)), _BOOL, span)
    return equal if function == "eq" else b.scalar("not", (equal,), _BOOL, span)


def comparable(b: Builder, x: Operand, y: Operand, span: Span) -> tuple[Operand, Operand]:
    """Both in the kind they compare in (positions among themselves stay positions), with an axis of two more where an integer
    and a float are pairs."""
    if x.type.element.below is not None and y.type.element.below is not None:
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
    """The pairs of integers, complex ones beside complex numbers: their floats, and what those rounded away, which is exact."""
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
    """Against numbers of the program, as integers; None if some have no integer on the right side of them."""
    numbers = [value for value in y.constant or () if isinstance(value, int | float)]
    whole = [v for v in numbers if math.isfinite(v) and v == math.floor(v) and -_LIMIT <= v < _LIMIT]
    if len(whole) == len(numbers):
        return b.scalar(function, (x, _integers(b, [int(v) for v in whole], y, span)), _BOOL, span)
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
