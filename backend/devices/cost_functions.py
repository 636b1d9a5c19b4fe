"""Costs of shards as functions of their rows, with bounds over ranges of rows by interval arithmetic.

A table of a profile may have steps, plateaus, kinks and falls, so a few points joined by lines do not describe the cost of a
shard. A `Curve` evaluates the cost model once for each row count that occurs, and for a range of rows evaluates the same formula
on an `Interval`, which gives a lower bound over the range.

Note [Ranges].  The rows 1 to R are bisected repeatedly; each range keeps its bound.  The most rows within a time are searched
from above, in ranges whose bound permits them.  After `MOST_PARTS` ranges a search returns the largest number that is not
refuted, so planners' conclusions are bounds in any case; certificates may then be weaker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, IntEnum
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any, Final, Protocol

from ...lang.support.records import dataclass

# --------------------------------------------------------------------------------------------------- intervals
#
# Tracing turns the cost model into a formula in the number of rows that is valid over a range of rows.
#
# The cost model runs once with an `Interval` in place of the number of rows.  The interval knows its ends, and records the
# operations applied to it; the resulting `Formula` is then evaluated for any number of rows, or over any part of the range by
# interval arithmetic, without running the model again.
#
# An `Interval` is no `int`: an operation without a rule raises TypeError, and a comparison whose outcome depends on the number
# raises `Undecided`; the caller then takes a smaller range.  `largest` and `smallest` replace `max` and `min`, which compare.

class Undecided(Exception):
    """Raised where a comparison is true for some numbers of an interval and false for others."""


class LookedUp(Protocol):
    """A table: its value at a number, and its least and greatest values between two numbers."""

    def at(self, size: int, /) -> int: ...
    def between(self, low: int, high: int, /) -> tuple[int, int]: ...


class FormulaOp(IntEnum):
    ROWS = 0
    CONSTANT = 1
    ADD = 2
    SUBTRACT = 3
    MULTIPLY = 4
    DIVIDE = 5
    LARGEST = 6
    SMALLEST = 7
    TABLE = 8


Step = tuple[FormulaOp, Any, Any]
"""An operation, and its operands: the indices of two earlier steps; a table and the index of a step; or a number."""
Line = tuple[int, int]
"""(a, b) of a × rows + b."""


_NOTHING: Step = (FormulaOp.CONSTANT, 0, None)


class Trace:
    """Records the steps of a formula that is valid for `first` to `last` rows."""

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last = first, last
        self.steps: list[Step] = []
        self.places: dict[Step, int] = {}
        self.rows = self.span(first, last, (FormulaOp.ROWS, None, None), (1, 0))

    def span(self, low: int, high: int, step: Step, line: Line | None = None) -> Interval:
        if low == high:
            step, line = (FormulaOp.CONSTANT, low, None), (0, low)
        number = self.places.get(step)
        if number is None:
            number = self.places[step] = len(self.steps)
            self.steps.append(step)
        return Interval(low, high, number, self, line)

    def along(self, line: Line) -> tuple[int, int]:
        """The least and greatest value of a linear function of the rows over the range."""
        ends = line[0] * self.first + line[1], line[0] * self.last + line[1]
        return min(ends), max(ends)

    def of(self, value: Any) -> Interval:
        """A number as a constant interval."""
        if isinstance(value, Interval):
            return value
        if isinstance(value, int):
            return self.span(value, value, (FormulaOp.CONSTANT, value, None))
        raise TypeError(f"no span of {type(value).__name__}")

    def formula(self, result: Any) -> Formula:
        number = self.of(result).place
        return Formula(self._needed(number), number)

    def _needed(self, number: int) -> tuple[Step, ...]:
        """All steps; those that no later step uses become constants."""
        wanted = [False] * len(self.steps)
        wanted[number] = True
        for at in range(len(self.steps) - 1, -1, -1):
            op, a, b = self.steps[at]
            if wanted[at] and op > FormulaOp.CONSTANT:
                wanted[b] = True
                if op != FormulaOp.TABLE:
                    wanted[a] = True
        return tuple(step if wanted[at] else _NOTHING for at, step in enumerate(self.steps))


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in the number of rows: steps, and the index of its result."""

    steps: Sequence[Step]
    result: int

    def at(self, rows: int) -> int:
        """The result for a number of rows in the range."""
        values: list[int] = []
        for op, a, b in self.steps:
            if op == FormulaOp.TABLE:
                values.append(a.at(values[b]))
            elif op == FormulaOp.CONSTANT:
                values.append(a)
            elif op == FormulaOp.ADD:
                values.append(values[a] + values[b])
            elif op == FormulaOp.MULTIPLY:
                values.append(values[a] * values[b])
            elif op == FormulaOp.SUBTRACT:
                values.append(values[a] - values[b])
            elif op == FormulaOp.LARGEST:
                values.append(values[a] if values[a] > values[b] else values[b])
            elif op == FormulaOp.SMALLEST:
                values.append(values[a] if values[a] < values[b] else values[b])
            elif op == FormulaOp.DIVIDE:
                values.append(values[a] // values[b])
            else:
                values.append(rows)
        return values[self.result]

    def between(self, first: int, last: int) -> tuple[int, int]:
        """Bounds of the result for `first` to `last` rows, which lie in the formula's range."""
        bounds: list[tuple[int, int]] = []
        for op, a, b in self.steps:
            if op == FormulaOp.TABLE:
                bounds.append(a.between(*bounds[b]))
            elif op == FormulaOp.CONSTANT:
                bounds.append((a, a))
            elif op == FormulaOp.ROWS:
                bounds.append((first, last))
            else:
                bounds.append(_bounds(op, bounds[a], bounds[b]))
        return bounds[self.result]


def _bounds(op: FormulaOp, one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    (a, b), (c, d) = one, other
    match op:
        case FormulaOp.ADD:
            return a + c, b + d
        case FormulaOp.SUBTRACT:
            return a - d, b - c
        case FormulaOp.LARGEST:
            return max(a, c), max(b, d)
        case FormulaOp.SMALLEST:
            return min(a, c), min(b, d)
        case FormulaOp.MULTIPLY:
            if a >= 0 and c >= 0:
                return a * c, b * d
            products = (a * c, a * d, b * c, b * d)
            return min(products), max(products)
        case _:
            if c <= 0:
                raise Undecided
            quotients = (a // c, a // d, b // c, b // d)
            return min(quotients), max(quotients)


class Interval:
    """The result of a traced step: an integer from `low` to `high`, inclusive; `line`: (a, b) if it is a × rows + b."""

    __slots__ = ("high", "line", "low", "place", "trace")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, low: int, high: int, number: int, trace: Trace, line: Line | None) -> None:
        self.low, self.high, self.place, self.trace, self.line = low, high, number, trace, line

    def __repr__(self) -> str:
        return f"Span({self.low}, {self.high})"

    def apply(self, op: FormulaOp, one: Any, other: Any) -> Interval:
        a, b = self.trace.of(one), self.trace.of(other)
        line = _line(op, a.line, b.line)
        low, high = _bounds(op, (a.low, a.high), (b.low, b.high)) if line is None else self.trace.along(line)
        return self.trace.span(low, high, (op, a.place, b.place), line)

    def less(self, other: Any) -> Interval | int:
        """The difference to another interval, which is exactly 0 to the interval itself."""
        return 0 if isinstance(other, Interval) and other.place == self.place else self - other

    def looked_up(self, table: LookedUp) -> Interval:
        return self.trace.span(*table.between(self.low, self.high), (FormulaOp.TABLE, table, self.place))

    def __add__(self, other: Any) -> Interval:
        return self.apply(FormulaOp.ADD, self, other)

    __radd__ = __add__

    def __neg__(self) -> Interval:
        return self.apply(FormulaOp.SUBTRACT, 0, self)

    def __sub__(self, other: Any) -> Interval:
        return self.apply(FormulaOp.SUBTRACT, self, other)

    def __rsub__(self, other: Any) -> Interval:
        return self.apply(FormulaOp.SUBTRACT, other, self)

    def __mul__(self, other: Any) -> Interval:
        return self.apply(FormulaOp.MULTIPLY, self, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Interval:
        return self.apply(FormulaOp.DIVIDE, self, other)

    def __rfloordiv__(self, other: Any) -> Interval:
        return self.apply(FormulaOp.DIVIDE, other, self)

    def __abs__(self) -> Interval:
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
        if not isinstance(other, int | Interval):
            return NotImplemented
        low, high = _ends(self.less(other))
        return _decided(low == high == 0, high < 0 or low > 0)

    def __bool__(self) -> bool:
        return self != 0


def _line(op: FormulaOp, one: Line | None, other: Line | None) -> Line | None:
    """The line of the result of an operation on two lines; None if it is not linear."""
    if one is None or other is None:
        return None
    (a, b), (c, d) = one, other
    if op is FormulaOp.ADD:
        return a + c, b + d
    if op is FormulaOp.SUBTRACT:
        return a - c, b - d
    if op is FormulaOp.MULTIPLY and not (a and c):
        return a * d + b * c, b * d
    return None


def _ends(value: Any) -> tuple[int, int]:
    if isinstance(value, Interval):
        return value.low, value.high
    if isinstance(value, int):
        return value, value
    raise TypeError(f"no span of {type(value).__name__}")


def _decided(true: bool, false: bool) -> bool:
    if true is false:
        raise Undecided
    return true


def largest(*values: Any) -> Any:
    """`max`, also of intervals, which it does not compare."""
    return _one_of(FormulaOp.LARGEST, values)


def smallest(*values: Any) -> Any:
    """`min`, also of intervals, which it does not compare."""
    return _one_of(FormulaOp.SMALLEST, values)


def _one_of(op: FormulaOp, values: Sequence[Any]) -> Any:
    if any(isinstance(value, Interval) for value in values):
        result = values[0]
        for value in values[1:]:
            span = result if isinstance(result, Interval) else value
            result = span.apply(op, result, value) if isinstance(span, Interval) else _one_of(op, (result, value))
        return result
    return max(values) if op is FormulaOp.LARGEST else min(values)


# ---------------------------------------------------------------------------------------------------- tables in ticks
#
# Types that problems and profiles share: the ticks of a shard, and the directions of a link that exclude each other.

class Duplex(Enum):
    HALF = "half"  # one channel for both directions
    FULL = "full"  # one channel for each direction
    SIMPLEX = "simplex"  # only from source to target


@dataclass(frozen=True, slots=True)
class Ticks:
    """Ticks of a shard as a function of its rows: (rows, ticks) points joined by straight lines, rounded up.  Before the first
    point its ticks hold, and after the last one the last line continues; a single point is proportional.  Atomic phases have one
    point, (1, ticks).  The function never decreases (a `Curve` may)."""

    points: tuple[tuple[int, int], ...]

    def at(self, rows: int) -> int:
        """Ticks of `rows` rows, at least 1 row; for an atomic phase `rows` is 1."""
        points = self.points
        if len(points) == 1:
            size, ticks = points[0]
            return -(-ticks * rows // size)
        if rows <= points[0][0]:
            return points[0][1]
        upper = next((i for i, (size, _) in enumerate(points) if rows <= size), len(points) - 1)
        (low, first), (high, last) = points[upper - 1], points[upper]
        return first + -(-(last - first) * (rows - low) // (high - low))

    @property
    def key(self) -> object:
        """A key that is equal for tables with the same ticks for every number of rows."""
        return self.points

    def min_ticks(self, first: int, last: int) -> int:
        """A lower bound of the ticks of shards of `first` to `last` rows."""
        return self.at(first)

    def weak_min_ticks(self, first: int, last: int) -> int:
        """As `min_ticks`; the bound may be weaker."""
        return self.at(first)

    def max_rows_within(self, time: int, rows: int) -> int:
        """An upper bound of the row counts r <= `rows` with ticks(r) <= `time`."""
        return self.rows_within(time, rows)

    def rows_within(self, time: int, rows: int) -> int:
        """A row count r <= `rows` with ticks(r) <= `time`; the largest if ticks is monotone."""
        if time < 0 or rows < 1:
            return 0
        if self.at(rows) <= time:
            return rows
        low, high = 0, rows - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self.at(middle) <= time:
                low = middle
            else:
                high = middle - 1
        return low

    def rate(self, rows: int) -> Fraction:
        """A lower bound of the ticks per row of shards of 1 to `rows` rows.  On a line the minimum is at an end."""
        points = self.points
        if len(points) == 1:
            return Fraction(points[0][1], points[0][0])
        rates = [Fraction(ticks, size) for size, ticks in points if 1 <= size <= rows]
        for r in (1, rows):
            if r <= points[0][0]:
                rates.append(Fraction(points[0][1], r))
                continue
            upper = next((i for i, (size, _) in enumerate(points) if r <= size), len(points) - 1)
            (low, first), (high, last) = points[upper - 1], points[upper]
            rates.append((first + Fraction((last - first) * (r - low), high - low)) / r)
        return min(rates)


# ---------------------------------------------------------------------------------------------------- cost curves

MOST_PARTS: Final = 150
MOST_RATED: Final = 100
CLOSE: Final = Fraction(199, 200)
"""A search ends as soon as its bound is at least this fraction of the best value."""
SHOWN: Final = 12
"""The number of halvings of all rows at which a curve is sampled for `points`."""


class Curve(Ticks):
    """Ticks by evaluating the cost model.  `exact(rows)`: ticks; `traced(first, last)`: the formula over a range (raises
    Undecided, TypeError), whose results `up` rounds to ticks.

    `points` are samples for texts and comparisons, taken when they are first read; no bound is derived from them."""

    __slots__ = ("_exact", "_formulas", "_known", "_opaque", "_parts", "_rates", "_traced", "_up", "rows")
    rows: int
    _exact: Callable[[int], int]
    _traced: Callable[[int, int], Formula]
    _up: Callable[[int], int]
    _known: dict[int, int]
    _parts: dict[tuple[int, int], int]
    _rates: dict[int, Fraction]
    _formulas: dict[tuple[int, int], Formula | None]
    _opaque: bool

    def __init__(
        self, rows: int, exact: Callable[[int], int], traced: Callable[[int, int], Formula], up: Callable[[int], int]
    ) -> None:
        for name, value in (
            ("rows", rows), ("_exact", exact), ("_traced", traced), ("_up", up), ("_known", {}), ("_parts", {}),
            ("_rates", {}), ("_formulas", {}), ("_opaque", False),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    @property
    def points(self) -> tuple[tuple[int, int], ...]:
        sizes = sorted({1, self.rows, *(max(1, self.rows >> halving) for halving in range(1, SHOWN + 1))})
        return tuple((size, self.at(size)) for size in sizes)

    def __repr__(self) -> str:
        return f"Curve({self.points})"

    def at(self, rows: int) -> int:
        """The ticks of a shard of `rows` rows."""
        ticks = self._known.get(rows)
        if ticks is None:
            formula = self._formula(rows, rows)
            ticks = self._known[rows] = self._exact(rows) if formula is None else self._up(formula.at(rows))
        return ticks

    @property
    def key(self) -> object:
        """The curve's identity, by which curves are compared."""
        return id(self)

    def _formula(self, first: int, last: int) -> Formula | None:
        """The formula of the largest traceable range that contains these rows; None if there is none."""
        low, high = 1, self.rows
        while low < high and not self._opaque:
            if (low, high) not in self._formulas:
                self._formulas[low, high] = self._try(low, high)
            formula = self._formulas[low, high]
            if formula is not None:
                return formula
            middle = (low + high) // 2
            if first <= middle < last:
                return None
            low, high = (low, middle) if last <= middle else (middle + 1, high)
        return None

    def _try(self, first: int, last: int) -> Formula | None:
        try:
            return self._traced(first, last)
        except Undecided:
            return None
        except TypeError:  # a part of the cost model does not support intervals
            object.__setattr__(self, "_opaque", True)
            return None

    def _floor(self, first: int, last: int) -> int:
        """A lower bound of the ticks of `first` to `last` rows, from one evaluation of the formula over the range."""
        if first == last:
            return self.at(first)
        floor = self._parts.get((first, last))
        if floor is None:
            formula = self._formula(first, last)
            floor = self._parts[first, last] = 0 if formula is None else self._up(formula.between(first, last)[0])
        return floor

    def weak_min_ticks(self, first: int, last: int) -> int:
        """As `min_ticks`, from one evaluation of the formula over the range; the bound may be weaker."""
        return self._floor(first, min(last, self.rows))

    def min_ticks(self, first: int, last: int) -> int:
        """A lower bound of the ticks of shards of `first` to `last` rows.  See Note [Ranges]."""
        last = min(last, self.rows)
        if first >= last:
            return self.at(last)
        best = min(self.at(first), self.at(last))
        waiting = [(self._floor(1, self.rows), 1, self.rows)]
        settled = best
        for _ in range(MOST_PARTS):
            if not waiting:
                return settled
            floor, low, high = heappop(waiting)
            if floor * CLOSE.denominator >= best * CLOSE.numerator:
                return min(settled, floor)  # the remaining ranges have no lower bound
            if low == high or (self._opaque and high - low >= MOST_PARTS):
                if low == high:
                    best = min(best, floor)
                    settled = min(settled, best)
                    continue
                return 0
            middle = (low + high) // 2
            for part in ((low, middle), (middle + 1, high)):
                if part[1] >= first and part[0] <= last:
                    heappush(waiting, (self._floor(*part), *part))
        return min([settled, *(floor for floor, _, _ in waiting)])

    def max_rows_within(self, time: int, rows: int) -> int:
        """An upper bound of the row counts r <= `rows` with ticks(r) <= `time`, usually the largest such r.  See Note
        [Ranges]."""
        rows = min(rows, self.rows)
        waiting = [(1, self.rows)]
        for _ in range(MOST_PARTS):
            if not waiting:
                return 0
            low, high = waiting.pop()
            if low > rows or self._floor(low, high) > time:
                continue
            top = min(high, rows)
            if self.at(top) <= time:
                return top
            if low == top:
                continue
            if self._opaque and high - low >= MOST_PARTS:
                return top
            middle = (low + high) // 2
            waiting += [(low, middle), (middle + 1, high)]
        return min(waiting[-1][1], rows) if waiting else 0

    def rate(self, rows: int) -> Fraction:
        """A lower bound of the ticks per row of shards of 1 to `rows` rows."""
        rows = min(rows, self.rows)
        if rows not in self._rates:
            self._rates[rows] = self._least_rate(rows)
        return self._rates[rows]

    def _least_rate(self, rows: int) -> Fraction:
        best = min(Fraction(self.at(rows), rows), Fraction(self.at(1)))
        waiting = [(Fraction(self._floor(1, self.rows), self.rows), 1, self.rows)]
        for _ in range(MOST_RATED):
            if not waiting:
                return best
            floor, low, high = waiting[0]
            if floor >= best * CLOSE:
                return min(best, floor)
            heappop(waiting)
            if low == high:
                best = min(best, floor)
                continue
            middle = (low + high) // 2
            for first, last in ((low, middle), (middle + 1, high)):
                if first <= rows:
                    best = min(best, Fraction(self.at(min(last, rows)), min(last, rows)))
                    heappush(waiting, (Fraction(self._floor(first, last), min(last, rows)), first, last))
        return min([best, *(floor for floor, _, _ in waiting)])
