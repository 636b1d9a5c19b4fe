"""Constant folding while checking, only where every back end gives the same bits.

Integers, bools, comparisons and text are folded; f64 for the operations that IEEE 754 defines to the last bit (`+ - × ÷ √`), for
rounding to whole numbers, and for factorials of small ones.  Folding removes no op: it lets later rules see values, such as axes
of `⍉`, codes of `○`, and masks.  Integers wrap as at run time; an overflow is returned too, for the checker to refuse (E330).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...lang.diagnostics.model import Code, Diagnostic, Severity
from ...lang.support.records import replace
from ...lang.syntax.source import Span
from ..core.operations import Payload
from ..elements import Element, Kind, integer_range, limits
from ..sizes.polynomials import INTERVALS

# ---------------------------------------------------------------------------------------------------- elementwise functions

MOST_ITEMS = 4096
_MOST_POWER = 4096
_EXACT = frozenset({"add", "sub", "mul", "neg", "abs", "ipow"})


class Folded(NamedTuple):
    """The items of the result (None if it is not constant), and the first exact result that does not fit the type."""

    data: tuple[Payload, ...] | None = None
    overflow: int | None = None


_ANY: dict[str, Callable[[Any, Any], Payload]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "ge": lambda a, b: a >= b,
    "gt": lambda a, b: a > b,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "nand": lambda a, b: not (a and b),
    "nor": lambda a, b: not (a or b),
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
}
_INTEGER: dict[str, Callable[[Any, Any], Payload | None]] = {
    "min": min,
    "max": max,
    "residue": lambda a, b: b % a if a else b,
    "gcd": math.gcd,
    "band": lambda a, b: a & b,
    "bor": lambda a, b: a | b,
    "bxor": lambda a, b: a ^ b,
    "ipow": lambda a, b: a ** (b if abs(a) < 2 else min(b, _MOST_POWER)) if b >= 0 else None,
}
_MONADIC: dict[str, Callable[[Any], Payload]] = {
    "neg": lambda a: -a,
    "abs": abs,
    "not": lambda a: not a,
    "bnot": lambda a: ~a,
    "sign": lambda a: (a > 0) - (a < 0),
}
MOST_WHOLE = 2.0**62
_SMALL = frozenset(map(float, range(19)))  # 18! is below 2*53
_FLOATS: dict[str, Callable[..., Payload | None]] = {
    "neg": lambda a: -a,
    "abs": abs,
    "floor": lambda a: math.floor(a) if abs(a) <= MOST_WHOLE else None,
    "ceil": lambda a: math.ceil(a) if abs(a) <= MOST_WHOLE else None,
    "sqrt": lambda a: math.sqrt(a) if a >= 0 else None,
    "reciprocal": lambda a: 1.0 / a if a else None,
    "factorial": lambda a: float(math.factorial(int(a))) if a in _SMALL else None,
    "pow": lambda a, b: _power(a, b),
    "div": lambda a, b: a / b if b else None,
}


def _power(base: float, exponent: float) -> float | None:
    """The power for a small whole exponent, which no library rounds, else None; a zero keeps the sign of the base."""
    if not base.is_integer() or abs(base) > 2.0**53:
        return None
    if exponent == 0.5 and base >= 0 and math.isqrt(int(base)) ** 2 == base:
        return float(math.isqrt(int(base)))
    if exponent.is_integer() and 0 <= exponent <= 53 and (power := int(abs(base)) ** int(exponent)) <= 2**53:
        return math.copysign(power, base if exponent % 2 else 1.0)
    return None


def fold(
    function: str, kind: Kind, target: Kind, args: Sequence[tuple[Payload, ...] | None], shapes: Sequence[tuple[int | None, ...]]
) -> tuple[Payload, ...] | None:  # fmt: skip
    """The items of the result if all operands are constants, of one shape or scalars, else None."""
    return folded(function, kind, target, args, shapes).data


def folded(
    function: str, kind: Kind, target: Kind, args: Sequence[tuple[Payload, ...] | None], shapes: Sequence[tuple[int | None, ...]]
) -> Folded:  # fmt: skip
    """Like `fold`, with the first result that overflows."""
    if any(a is None for a in args):
        return Folded()
    known = [a for a in args if a is not None]
    longest = max(range(len(known)), key=lambda i: len(shapes[i]))
    if any(shapes[i] and shapes[i] != shapes[longest] for i in range(len(known))):
        return Folded()
    count = len(known[longest])
    if count > MOST_ITEMS:
        return Folded()
    spread = [a if shapes[i] else a * count for i, a in enumerate(known)]
    compute = _function(function, kind, len(known))
    if compute is None:
        return Folded(_convert(known[0], kind, target) if function == "convert" else None)
    values: list[Payload] = []
    overflow: int | None = None
    for items in zip(*spread, strict=True):
        value = compute(*items)
        if value is None:
            return Folded(None, overflow)
        if overflow is None and function in _EXACT and isinstance(value, int) and not _holds(target, value):
            overflow = value
        values.append(as_payload(value, target))
    return Folded(None if function == "ipow" else tuple(values), overflow)  # powers are checked for overflow only


def _function(function: str, kind: Kind, arity: int) -> Callable[..., Payload | None] | None:
    exact = kind.is_integer or kind in (Kind.BOOL, Kind.F64, Kind.CHAR)
    if not exact:
        return None
    if kind is Kind.F64 and function in _FLOATS:
        return _FLOATS[function]
    if arity == 1:
        return _MONADIC.get(function) if kind is not Kind.F64 else None
    if arity == 2:
        return _ANY.get(function) or (_INTEGER.get(function) if kind is not Kind.F64 else None)
    return None


def _holds(kind: Kind, value: int) -> bool:
    bounds = limits(kind)
    return bounds is None or bounds[0] <= value <= bounds[1]


def _convert(data: tuple[Payload, ...], kind: Kind, target: Kind) -> tuple[Payload, ...] | None:
    if kind is Kind.CHAR or target is Kind.CHAR:
        return None
    if target in (Kind.F32, Kind.C64):
        return tuple(as_payload(_single(v), target) for v in data)
    return tuple(as_payload(v, target) for v in data)


def _single(value: Payload) -> Payload:
    """A number rounded once to binary32; of large integers a sticky bit survives the conversion to binary64."""
    if isinstance(value, complex):
        return complex(_rounded(value.real), _rounded(value.imag))
    if isinstance(value, float):
        return _rounded(value)
    size = abs(int(value))
    shift = max(0, size.bit_length() - 40)
    sticky = (size >> shift << shift) != size
    return math.copysign(_rounded(float((size >> shift | sticky) << shift)), int(value))


def _rounded(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def as_payload(value: Payload, kind: Kind) -> Payload:
    """A Python value as the payload of `kind`: integers wrap."""
    if kind is Kind.CHAR or isinstance(value, str):
        return value
    if kind is Kind.BOOL:
        return bool(value)
    if kind.is_complex:
        return complex(value)
    if isinstance(value, complex):
        return value
    if kind.is_float:
        return float(value)
    low, high = limits(kind) or (0, 0)
    return (int(value) - low) % (high - low + 1) + low


# ---------------------------------------------------------------------------------------------------- overflow
#
# Integer results that do not fit their type: known ones are E330, those that the ranges of all operands allow are W330.
#
# Integers wrap.  u8 has the range of its type; i32 and i64 have a range only where literals, sizes, params or `idx` bound them,
# so input data never warn, nor do functions on bits, nor `n|e`.

_OVERFLOW_MOST_POWER = 64


def refused(value: int, kind: Kind, span: Span) -> Diagnostic:
    """E330 for a result known while checking."""
    message = f"the result is {_shown(value)}, which does not fit {kind.value}{_bounds(kind)}"
    return Diagnostic(Code.E330, message, span, notes=(_advice(kind),))


def warned(function: str, kind: Kind, args: Sequence[Element], span: Span) -> Diagnostic | None:
    """W330 if the operands have ranges that allow results outside the type."""
    if limits(kind) is None or kind is Kind.BOOL or function not in ("add", "sub", "mul", "neg", "ipow"):
        return None
    ranges = [_range(element) for element in args]
    if function != "ipow":
        low, high = INTERVALS[function](*ranges)
    elif None in (*ranges[0], *ranges[1]):
        return None
    else:
        (first, last), (least, most) = [(low or 0, high or 0) for low, high in ranges]
        greatest = min(max(most, 0), _OVERFLOW_MOST_POWER)
        powers = [power for power in (greatest, greatest - 1) if power >= max(least, 0)] or [greatest]
        corners = [base**power for base in (first, last) for power in powers]
        low, high = min(corners), max(corners)
    return _outside(low, high, kind, span)


def summed(items: Element, count: int, kind: Kind, span: Span) -> tuple[Element, Diagnostic | None]:
    """The element of a sum of `count` integers, and W330 as in `warned`."""
    low, high = INTERVALS["mul"]((count, count), _range(items))
    if low is None or high is None:
        return Element(kind), None
    warning = _outside(low, high, kind, span)
    return Element(kind) if warning else Element(kind, low, high), warning


def _outside(low: int | None, high: int | None, kind: Kind, span: Span) -> Diagnostic | None:
    """W330 if a known range is not within that of the type."""
    bounds = limits(kind)
    if bounds is None or low is None or high is None or (bounds[0] <= low and high <= bounds[1]):
        return None
    values = f"is {_shown(low)}" if low == high else f"may be {_shown(low)} to {_shown(high)}"
    message = f"this {values}, and {kind.value} wraps{_bounds(kind)}"
    return Diagnostic(Code.W330, message, span, Severity.WARNING, notes=(_advice(kind),))


def _range(element: Element) -> tuple[int | None, int | None]:
    return integer_range(element if element.kind in (Kind.U8, Kind.BOOL) else replace(element, kind=Kind.I64))


def _advice(kind: Kind) -> str:
    wider = "f64" if kind is Kind.I64 else "i64"
    return f"compute in a wider type: write `{wider} x` for one of the operands"


def _bounds(kind: Kind) -> str:
    low, high = limits(kind) or (0, 0)
    return f" ({_shown(low)} to {_shown(high)})"


def _shown(value: int) -> str:
    text = str(abs(value)) if abs(value) < 10**40 else f"about 10*{len(hex(abs(value))) * 1204 // 1000}"
    return f"¯{text}" if value < 0 else text
