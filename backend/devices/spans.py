"""A formula of costs over a whole range of rows: what it is worth for each number of them, and bounds of all.

The cost model is asked once with a `Span` in place of the number of rows.  It goes through the same formulas as a number does,
knows between which numbers it lies, and writes down what is done to it; the `Formula` that comes out is then evaluated for any
number of rows, or for the ends of any part of the range, without asking the model again.

A `Span` is no `int`: what has no rule here raises TypeError, and a comparison whose outcome depends on the number raises
`Undecided`; whoever asked takes a smaller range then.  `largest` and `smallest` stand for `max` and `min`, which compare.

Neighbours: `curves` (asks), `structured`, `library`, `tables` (are asked).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol


class Undecided(Exception):
    """A comparison is true for some numbers of a span and false for others."""


class LookedUp(Protocol):
    """A table: its value at a number, and the least and greatest between two."""

    def at(self, size: int, /) -> int: ...
    def between(self, low: int, high: int, /) -> tuple[int, int]: ...


class Op(IntEnum):
    ROWS = 0
    CONSTANT = 1
    ADD = 2
    SUBTRACT = 3
    MULTIPLY = 4
    DIVIDE = 5
    LARGEST = 6
    SMALLEST = 7
    TABLE = 8


Step = tuple[Op, Any, Any]
"""An operation on the results of two earlier steps; a table and a step; a number."""
Line = tuple[int, int]
"""(a, b) of a × rows + b."""


_NOTHING: Step = (Op.CONSTANT, 0, None)


class Trace:
    """The steps of a formula of `first` to `last` rows."""

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last = first, last
        self.steps: list[Step] = []
        self.places: dict[Step, int] = {}
        self.rows = self.span(first, last, (Op.ROWS, None, None), (1, 0))

    def span(self, low: int, high: int, step: Step, line: Line | None = None) -> Span:
        if low == high:
            step, line = (Op.CONSTANT, low, None), (0, low)
        place = self.places.get(step)
        if place is None:
            place = self.places[step] = len(self.steps)
            self.steps.append(step)
        return Span(low, high, place, self, line)

    def along(self, line: Line) -> tuple[int, int]:
        """The ends of what goes in a line with the rows."""
        ends = line[0] * self.first + line[1], line[0] * self.last + line[1]
        return min(ends), max(ends)

    def of(self, value: Any) -> Span:
        """A number as a span of one."""
        if isinstance(value, Span):
            return value
        if isinstance(value, int):
            return self.span(value, value, (Op.CONSTANT, value, None))
        raise TypeError(f"no span of {type(value).__name__}")

    def formula(self, result: Any) -> Formula:
        place = self.of(result).place
        return Formula(self._needed(place), place)

    def _needed(self, place: int) -> tuple[Step, ...]:
        """All steps, but for what no later one asks: those are nothing."""
        wanted = [False] * len(self.steps)
        wanted[place] = True
        for at in range(len(self.steps) - 1, -1, -1):
            op, a, b = self.steps[at]
            if wanted[at] and op > Op.CONSTANT:
                wanted[b] = True
                if op != Op.TABLE:
                    wanted[a] = True
        return tuple(step if wanted[at] else _NOTHING for at, step in enumerate(self.steps))


@dataclass(frozen=True, slots=True)
class Formula:
    """Steps, and the place of the last."""

    steps: Sequence[Step]
    result: int

    def at(self, rows: int) -> int:
        """The result for a number of rows in the range."""
        found: list[int] = []
        for op, a, b in self.steps:
            if op == Op.TABLE:
                found.append(a.at(found[b]))
            elif op == Op.CONSTANT:
                found.append(a)
            elif op == Op.ADD:
                found.append(found[a] + found[b])
            elif op == Op.MULTIPLY:
                found.append(found[a] * found[b])
            elif op == Op.SUBTRACT:
                found.append(found[a] - found[b])
            elif op == Op.LARGEST:
                found.append(found[a] if found[a] > found[b] else found[b])
            elif op == Op.SMALLEST:
                found.append(found[a] if found[a] < found[b] else found[b])
            elif op == Op.DIVIDE:
                found.append(found[a] // found[b])
            else:
                found.append(rows)
        return found[self.result]

    def between(self, first: int, last: int) -> tuple[int, int]:
        """Bounds of the result for `first` to `last` rows, which are in the range."""
        found: list[tuple[int, int]] = []
        for op, a, b in self.steps:
            if op == Op.TABLE:
                found.append(a.between(*found[b]))
            elif op == Op.CONSTANT:
                found.append((a, a))
            elif op == Op.ROWS:
                found.append((first, last))
            else:
                found.append(_bounds(op, found[a], found[b]))
        return found[self.result]


def _bounds(op: Op, one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    (a, b), (c, d) = one, other
    match op:
        case Op.ADD:
            return a + c, b + d
        case Op.SUBTRACT:
            return a - d, b - c
        case Op.LARGEST:
            return max(a, c), max(b, d)
        case Op.SMALLEST:
            return min(a, c), min(b, d)
        case Op.MULTIPLY:
            if a >= 0 and c >= 0:
                return a * c, b * d
            products = (a * c, a * d, b * c, b * d)
            return min(products), max(products)
        case _:
            if c <= 0:
                raise Undecided
            quotients = (a // c, a // d, b // c, b // d)
            return min(quotients), max(quotients)


class Span:
    """Some whole number from `low` to `high`, both included: what a step of a trace makes; `line`: if it is one of the rows."""

    __slots__ = ("high", "line", "low", "place", "trace")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, low: int, high: int, place: int, trace: Trace, line: Line | None) -> None:
        self.low, self.high, self.place, self.trace, self.line = low, high, place, trace, line

    def __repr__(self) -> str:
        return f"Span({self.low}, {self.high})"

    def apply(self, op: Op, one: Any, other: Any) -> Span:
        a, b = self.trace.of(one), self.trace.of(other)
        line = _line(op, a.line, b.line)
        low, high = _bounds(op, (a.low, a.high), (b.low, b.high)) if line is None else self.trace.along(line)
        return self.trace.span(low, high, (op, a.place, b.place), line)

    def less(self, other: Any) -> Span | int:
        """The difference to another: 0 to itself."""
        return 0 if isinstance(other, Span) and other.place == self.place else self - other

    def looked_up(self, table: LookedUp) -> Span:
        return self.trace.span(*table.between(self.low, self.high), (Op.TABLE, table, self.place))

    def __add__(self, other: Any) -> Span:
        return self.apply(Op.ADD, self, other)

    __radd__ = __add__

    def __neg__(self) -> Span:
        return self.apply(Op.SUBTRACT, 0, self)

    def __sub__(self, other: Any) -> Span:
        return self.apply(Op.SUBTRACT, self, other)

    def __rsub__(self, other: Any) -> Span:
        return self.apply(Op.SUBTRACT, other, self)

    def __mul__(self, other: Any) -> Span:
        return self.apply(Op.MULTIPLY, self, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Span:
        return self.apply(Op.DIVIDE, self, other)

    def __rfloordiv__(self, other: Any) -> Span:
        return self.apply(Op.DIVIDE, other, self)

    def __abs__(self) -> Span:
        return largest(self, -self)  # type: ignore[no-any-return]

    def __lt__(self, other: Any) -> bool:
        low, high = _ends(self.less(other))
        return _decided(high < 0, low >= 0)

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __gt__(self, other: Any) -> bool:
        low, high = _ends(self.less(other))
        return _decided(low > 0, high <= 0)

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | Span):
            return NotImplemented
        low, high = _ends(self.less(other))
        return _decided(low == high == 0, high < 0 or low > 0)

    def __bool__(self) -> bool:
        return self != 0


def _line(op: Op, one: Line | None, other: Line | None) -> Line | None:
    """What becomes of two lines."""
    if one is None or other is None:
        return None
    (a, b), (c, d) = one, other
    if op is Op.ADD:
        return a + c, b + d
    if op is Op.SUBTRACT:
        return a - c, b - d
    if op is Op.MULTIPLY and not (a and c):
        return a * d + b * c, b * d
    return None


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


def largest(*values: Any) -> Any:
    """As `max`."""
    return _one_of(Op.LARGEST, values)


def smallest(*values: Any) -> Any:
    """As `min`."""
    return _one_of(Op.SMALLEST, values)


def _one_of(op: Op, values: Sequence[Any]) -> Any:
    if any(isinstance(value, Span) for value in values):
        found = values[0]
        for value in values[1:]:
            span = found if isinstance(found, Span) else value
            found = span.apply(op, found, value) if isinstance(span, Span) else _one_of(op, (found, value))
        return found
    return max(values) if op is Op.LARGEST else min(values)
