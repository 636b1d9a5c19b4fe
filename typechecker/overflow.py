"""Integer results that leave their type: known ones are E330, ones that finite ranges of all operands allow are W330.

Integers wrap, which is seldom meant.  The range of u8 is its type's; i32 and i64 have one where literals, sizes, params or `idx`
bound them, so plain data never warns, nor do the functions on bits, nor `n|e`.

Neighbours: `builder.scalar` asks for every element-wise op, `elaborate.reduce_scan` for sums; `folding` for exact values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..lang.codes import Code
from ..lang.diagnostics import Diagnostic, Severity
from ..lang.source import Span
from .elements import Element, Kind, integer_range, limits

_MOST_POWER = 64


def refused(value: int, kind: Kind, span: Span) -> Diagnostic:
    """E330: the result is known."""
    message = f"the result is {_shown(value)}, which does not fit {kind.value}{_bounds(kind)}"
    return Diagnostic(Code.E330, message, span, notes=(_advice(kind),))


def warned(function: str, kind: Kind, args: Sequence[Element], span: Span) -> Diagnostic | None:
    """W330 where the ranges of the operands are known and the result's is wider than its type."""
    if limits(kind) is None or kind is Kind.BOOL or function not in ("add", "sub", "mul", "neg", "ipow"):
        return None
    ranges = [_range(element) for element in args]
    (low1, high1), (low2, high2) = ranges[0], ranges[-1]
    if low1 is None or high1 is None or low2 is None or high2 is None:
        return None
    match function:
        case "neg":
            low, high = -high1, -low1
        case "add":
            low, high = low1 + low2, high1 + high2
        case "sub":
            low, high = low1 - high2, high1 - low2
        case "mul":
            corners = [p * q for p in (low1, high1) for q in (low2, high2)]
            low, high = min(corners), max(corners)
        case _:
            greatest = min(max(high2, 0), _MOST_POWER)
            powers = [power for power in (greatest, greatest - 1) if power >= max(low2, 0)] or [greatest]
            corners = [base**power for base in (low1, high1) for power in powers]
            low, high = min(corners), max(corners)
    return _outside(low, high, kind, span)


def summed(items: Element, count: int, kind: Kind, span: Span) -> tuple[Element, Diagnostic | None]:
    """What a sum of so many integers is, and W330 as of `warned`."""
    low, high = _range(items)
    if low is None or high is None:
        return Element(kind), None
    low, high = count * low, count * high
    warning = _outside(low, high, kind, span)
    return Element(kind) if warning else Element(kind, low, high), warning


def _outside(low: int, high: int, kind: Kind, span: Span) -> Diagnostic | None:
    """W330 where not all of a range is in the type's."""
    bounds = limits(kind)
    if bounds is None or (bounds[0] <= low and high <= bounds[1]):
        return None
    message = f"this may be {_shown(low)} to {_shown(high)}, and {kind.value} wraps{_bounds(kind)}"
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
