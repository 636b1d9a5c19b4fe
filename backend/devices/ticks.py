"""What problems and profiles both speak of: how many ticks a shard takes, and which directions of a link exclude each other.

Neighbours: `curves` (ticks asked for at each number of rows), `cost` (makes them), `backend.schedule.problem` (has them by
class of device).
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from ...lang.records import dataclass


class Duplex(Enum):
    HALF = "half"  # one channel for both directions
    FULL = "full"  # one channel a direction
    SIMPLEX = "simplex"  # only from source to target


@dataclass(frozen=True, slots=True)
class Ticks:
    """Ticks of a shard by its rows: points joined by straight lines, rounded up; before the first point its ticks, after
    the last on along the last line; a single point is proportional.  Atomic phases have one point, (1, ticks).  Never
    decreasing.  (`curves` has ticks that are asked for at each number of rows, and may fall.)"""

    points: tuple[tuple[int, int], ...]

    def at(self, rows: int) -> int:
        """Ticks of `rows` rows, at least 1 row; for an atomic phase `rows` is 1."""
        points = self.points
        if len(points) == 1:
            size, ticks = points[0]
            return -(-ticks * rows // size)
        if rows <= points[0][0]:
            return points[0][1]
        place = next((i for i, (size, _) in enumerate(points) if rows <= size), len(points) - 1)
        (low, first), (high, last) = points[place - 1], points[place]
        return first + -(-(last - first) * (rows - low) // (high - low))

    @property
    def key(self) -> object:
        """Equal for tables that give the same ticks for every number of rows."""
        return self.points

    def least(self, first: int, last: int) -> int:
        """No shard of `first` to `last` rows takes less."""
        return self.at(first)

    def roughly(self, first: int, last: int) -> int:
        """As `least`, where a weaker answer will do."""
        return self.at(first)

    def most(self, time: int, rows: int) -> int:
        """The most rows, of up to `rows`, that take at most `time` ticks; never fewer than there are."""
        return self.about(time, rows)

    def about(self, time: int, rows: int) -> int:
        """As many rows, of up to `rows`, as take at most `time` ticks; the most, where ticks never fall."""
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
        """No shard of 1 to `rows` rows takes fewer ticks a row: on a straight line that is at an end."""
        points = self.points
        if len(points) == 1:
            return Fraction(points[0][1], points[0][0])
        rates = [Fraction(ticks, size) for size, ticks in points if 1 <= size <= rows]
        for r in (1, rows):
            if r <= points[0][0]:
                rates.append(Fraction(points[0][1], r))
                continue
            place = next((i for i, (size, _) in enumerate(points) if r <= size), len(points) - 1)
            (low, first), (high, last) = points[place - 1], points[place]
            rates.append((first + Fraction((last - first) * (r - low), high - low)) / r)
        return min(rates)
