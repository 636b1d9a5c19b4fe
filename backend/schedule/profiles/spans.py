"""Numbers that are known to lie between two others: what a formula of costs is worth over a whole range of rows.

A `Span` goes through the same formulas as a number of rows does and comes out as bounds of the result.  It is no `int`: what has
no rule here raises TypeError, and a comparison whose outcome depends on the number raises `Undecided`; whoever asked takes a
smaller range then.  `largest` and `smallest` stand for `max` and `min`, which compare.

Neighbours: `curves` (asks), `structured`, `library`, `tables` (are asked).
"""

from __future__ import annotations

from typing import Any


class Undecided(Exception):
    """A comparison is true for some numbers of a span and false for others."""


class Span:
    """Some whole number from `low` to `high`, both included."""

    __slots__ = ("high", "low")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    def __repr__(self) -> str:
        return f"Span({self.low}, {self.high})"

    def __add__(self, other: Any) -> Span:
        low, high = _ends(other)
        return Span(self.low + low, self.high + high)

    __radd__ = __add__

    def __neg__(self) -> Span:
        return Span(-self.high, -self.low)

    def __sub__(self, other: Any) -> Span:
        low, high = _ends(other)
        return Span(self.low - high, self.high - low)

    def __rsub__(self, other: Any) -> Span:
        low, high = _ends(other)
        return Span(low - self.high, high - self.low)

    def __mul__(self, other: Any) -> Span:
        low, high = _ends(other)
        products = (self.low * low, self.low * high, self.high * low, self.high * high)
        return Span(min(products), max(products))

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Span:
        return _quotient(self, other)

    def __rfloordiv__(self, other: Any) -> Span:
        return _quotient(other, self)

    def __abs__(self) -> Span:
        if self.low >= 0:
            return self
        return -self if self.high <= 0 else Span(0, max(-self.low, self.high))

    def __lt__(self, other: Any) -> bool:
        low, high = _ends(other)
        return _decided(self.high < low, self.low >= high)

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __gt__(self, other: Any) -> bool:
        low, high = _ends(other)
        return _decided(self.low > high, self.high <= low)

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | Span):
            return NotImplemented
        low, high = _ends(other)
        return _decided(self.low == self.high == low == high, self.high < low or high < self.low)

    def __bool__(self) -> bool:
        return self != 0


def _ends(value: Any) -> tuple[int, int]:
    if isinstance(value, Span):
        return value.low, value.high
    if isinstance(value, int):
        return value, value
    raise TypeError(f"no span of {type(value).__name__}")


def _decided(true: bool, false: bool) -> bool:
    if true is false:
        raise Undecided
    return true


def _quotient(dividend: Any, divisor: Any) -> Span:
    (a, b), (low, high) = _ends(dividend), _ends(divisor)
    if low <= 0:
        raise Undecided
    quotients = (a // low, a // high, b // low, b // high)
    return Span(min(quotients), max(quotients))


def largest(*values: Any) -> Any:
    """As `max`."""
    if any(isinstance(value, Span) for value in values):
        ends = [_ends(value) for value in values]
        return Span(max(low for low, _ in ends), max(high for _, high in ends))
    return max(values)


def smallest(*values: Any) -> Any:
    """As `min`."""
    if any(isinstance(value, Span) for value in values):
        ends = [_ends(value) for value in values]
        return Span(min(low for low, _ in ends), min(high for _, high in ends))
    return min(values)


def lowest(value: Any) -> int:
    """The number itself, or the low end of a span."""
    return _ends(value)[0]
