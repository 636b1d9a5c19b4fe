"""Times measured at a few sizes, and what lies between them: log-log interpolation in integers.

Note [Log-log].  Between two points (a, s) and (b, t) the curve is a straight line on log-log paper.  Its values are found by
halving: the geometric means √ab and √st are a point of it, and after six halvings (a decade is then cut in parts of 3.7 %) a
straight line joins the neighbours.  Square roots are exact integer ones of numbers shifted left by 32 bits, so every
machine finds the same value, and between two points it goes one way only.

Note [Beyond the ends].  Below the first point its time holds (what a call costs at all); above the last, time is in
proportion to size.  No bytes, or no operations, take no time.

Results are in grains of 2⁻¹⁶ ns, which are cut off here, so that sums of many parts are rounded up to ticks once, at the end.

Neighbours: `profile` (where tables live), `cost` (looks times up).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import isqrt
from typing import Final, NewType, cast

from .spans import Span, largest, smallest

Grains = NewType("Grains", int)
"""Time in units of 2⁻¹⁶ ns."""

GRAIN: Final = 1 << 16
"""Grains of a nanosecond."""
_SHIFT: Final = 32
_HALVINGS: Final = 6


@dataclass(frozen=True, slots=True)
class Table:
    """`ns[i]` is the time at `size[i]`.  Sizes grow; both have at least one entry.  Times may fall where a device begins to use
    more of itself (a second thread); where they do not, a larger size never costs less."""

    size: tuple[int, ...]
    ns: tuple[int, ...]

    @staticmethod
    def of_rate(per_second: int) -> Table:
        """Time in proportion to size, from about a nanosecond on."""
        rate = Fraction(per_second, 10**9)
        rate = rate.limit_denominator(1000) or rate
        return Table((rate.numerator,), (rate.denominator,))

    def at(self, size: int) -> Grains:
        """See Notes [Log-log] and [Beyond the ends].  Of a `Span` of sizes, the span of their times."""
        if isinstance(size, Span):
            return cast(Grains, size.looked_up(self))
        if size <= 0:
            return Grains(0)
        sizes, times = self.size, self.ns
        if size <= sizes[0]:
            return Grains(times[0] * GRAIN)
        if size >= sizes[-1]:
            return Grains(times[-1] * GRAIN * size // sizes[-1])
        place = bisect_left(sizes, size)
        if sizes[place] == size:
            return Grains(times[place] * GRAIN)
        return Grains(_between(sizes[place - 1], times[place - 1], sizes[place], times[place], size))

    def between(self, low: int, high: int) -> tuple[int, int]:
        """The least and greatest time of sizes from `low` to `high`: between two points time goes one way only."""
        inside = self.ns[bisect_right(self.size, low) : bisect_left(self.size, high)]
        times = [self.at(low), self.at(high), *(ns * GRAIN for ns in inside)]
        return min(times), max(times)

    def rate(self, size: int, where: int | None = None) -> Grains:
        """`size` at the rate that holds at `where` (left out: at `size`): in proportion below the first point, too."""
        place = smallest(largest(size if where is None else where, self.size[0]), self.size[-1])
        return Grains(self.at(place) * size // place)


def _between(low: int, first: int, high: int, last: int, size: int) -> int:
    """Grains at `size`, strictly between two points."""
    sizes, times = _means(low, first, high, last)
    x = size << _SHIFT
    place = bisect_left(sizes, x)
    a, s, b, t = sizes[place - 1], times[place - 1], sizes[place], times[place]
    grains = (s << 16) * (b - a) + ((t - s) << 16) * (x - a)
    return grains // ((b - a) << _SHIFT)


@lru_cache(maxsize=4096)
def _means(low: int, first: int, high: int, last: int) -> tuple[list[int], list[int]]:
    """The points of the curve after all halvings.  See Note [Log-log]."""
    sizes, times = [low << _SHIFT, high << _SHIFT], [first << _SHIFT, last << _SHIFT]
    for _ in range(_HALVINGS):
        sizes, times = _halved(sizes), _halved(times)
    return sizes, times


def _halved(points: list[int]) -> list[int]:
    means = [isqrt(a * b) for a, b in pairwise(points)]
    return [point for pair in zip(points, means, strict=False) for point in pair] + points[-1:]
