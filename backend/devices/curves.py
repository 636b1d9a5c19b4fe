"""Ticks of shards asked for at each shard's own size, with bounds of whole ranges of sizes.

A table of a profile may have steps, plateaus, kinks and falls, so no few points and straight lines between them say what a shard
takes.  A `Curve` asks the cost model at every number of rows that comes up, once, and for a range of rows evaluates the same
formula over a `Span`: what comes out is below every shard of the range.

Note [Ranges].  The rows 1 to R are halved again and again; each part that comes up keeps its bound.  The most rows within a time
are sought from above, in parts whose bound leaves hope.  A search that has looked at `MOST_PARTS` parts gives the largest number
that is not refuted yet, so what planners conclude from it is a bound in any case; certificates then fall short of the plan.

Neighbours: `cost` makes curves, `spans` is the arithmetic of ranges, `problem.Ticks` what planners see.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from heapq import heappop, heappush
from typing import Final

from .spans import Formula, Undecided
from .ticks import Ticks

MOST_PARTS: Final = 150
MOST_RATED: Final = 100
CLOSE: Final = Fraction(199, 200)
"""A bound that is that part of what is found is good enough."""
SHOWN: Final = 12
"""Halvings of all rows at which a curve is written down, where it has to be."""


class Curve(Ticks):
    """`exact`: the ticks of so many rows; `traced`: the formula of their grains for rows in a range (Undecided, TypeError), of
    which `up` makes ticks.

    `points` are some points of it, for texts and comparisons; nothing is concluded from them."""

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
        sizes = sorted({1, rows, *(max(1, rows >> halving) for halving in range(1, SHOWN + 1))})
        object.__setattr__(self, "points", tuple((size, self.at(size)) for size in sizes))

    def __repr__(self) -> str:
        return f"Curve({self.points})"

    def at(self, rows: int) -> int:
        """The ticks of a shard of so many rows."""
        found = self._known.get(rows)
        if found is None:
            formula = self._formula(rows, rows)
            found = self._known[rows] = self._exact(rows) if formula is None else self._up(formula.at(rows))
        return found

    @property
    def key(self) -> object:
        """Curves are compared as they are, not by some points of them."""
        return id(self)

    def _formula(self, first: int, last: int) -> Formula | None:
        """That of the largest part which holds these rows, which lie in one; None if they are less alike than that."""
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
        except TypeError:  # a part of the cost model that knows no spans
            object.__setattr__(self, "_opaque", True)
            return None

    def _floor(self, first: int, last: int) -> int:
        """No shard of `first` to `last` rows takes less: what a look at all of them together tells."""
        if first == last:
            return self.at(first)
        found = self._parts.get((first, last))
        if found is None:
            formula = self._formula(first, last)
            found = self._parts[first, last] = 0 if formula is None else self._up(formula.between(first, last)[0])
        return found

    def roughly(self, first: int, last: int) -> int:
        """As `least`, at one look."""
        return self._floor(first, min(last, self.rows))

    def least(self, first: int, last: int) -> int:
        """No shard of `first` to `last` rows takes less.  See Note [Ranges]."""
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
                return min(settled, floor)  # the parts that wait have no lower bound
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

    def most(self, time: int, rows: int) -> int:
        """The most of up to `rows` rows that take at most `time`, or a little more.  See Note [Ranges]."""
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
        """No shard of 1 to `rows` rows takes fewer ticks a row."""
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
