"""Convex functions of shares from below, as lines: the mean ticks of a cut phase, the waiting for what an edge moves.

Everything is rational, so a line is certainly below.  `worth` is here because it is asked of every problem, and `lp_relaxation`
needs an array library.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Final

from ..problem import Ticks
from ..timeline.timing import Mode
from .bounds import Bounds

GRAIN: Final = 1 << 16
"""Parts of a share, and of a tick, that coefficients are rounded to."""
MOST_COLUMNS: Final = 1600
MOST_POINTS: Final = 512
"""Rows up to which every number of them is a point of the hull."""
MOST_RANGES: Final = 64
"""The same where each number of rows is asked of the cost model."""
Line = tuple[Fraction, Fraction]
"""(at nothing, per share): a line below a convex function."""


@dataclass(frozen=True, slots=True)
class Place:
    """`count` equal devices like `device`."""

    kind: int
    device: int
    count: int


def places_of(bounds: Bounds, p: int, goal: int) -> list[Place]:
    """Where shards of a phase may be in a schedule of less than `goal` ticks."""
    costs, allowed = bounds.costs, set(bounds.costs.allowed[p])
    found = []
    for kind in costs.allowed_classes[p]:
        members = [d for d in costs.members[kind] if d in allowed]
        if bounds.heads[p][kind] + bounds.least_on(p, kind) + bounds.rest(p, kind) < goal:
            found.append(Place(kind, members[0], len(members)))
    return found


def worth(bounds: Bounds, goal: int) -> bool:
    """Whether something can be cut, and the program for schedules of less than `goal` ticks is small enough."""
    problem, timer = bounds.timer.problem, bounds.timer
    if all(bounds.whole) or any(edge.only is not None for edge in problem.edges):
        return False
    if any(task.together is not None for task in problem.phases):
        return False
    places = [places_of(bounds, p, goal) for p in range(len(problem.phases))]
    ends = {place.kind: place.device for own in places for place in own}.values()
    paths = (timer.routes.path(a, b) for a, b in permutations(ends, 2))
    legs = sum(path is not None and len(path) == 1 for path in paths) if problem.links else len(ends) ** 2
    pairs = zip(timer.sources, timer.targets, strict=True)
    flows = sum(min(legs, len(places[p]) * len(places[q])) for p, q in pairs)
    return 2 * sum(map(len, places)) + 5 * len(places) + 2 * flows <= MOST_COLUMNS


@dataclass(frozen=True, slots=True)
class Curve:
    """A convex function of column `share`, from below by `corners`."""

    share: int
    corners: tuple[tuple[Fraction, Fraction], ...]

    def value(self, share: float) -> float:
        start, slope = self.line(share)
        return float(start) + float(slope) * share

    def line(self, share: float) -> Line:
        """The line through the two corners around `share`."""
        place = next((i for i, (x, _) in enumerate(self.corners) if share <= x), len(self.corners) - 1)
        (x, y), (right, top) = self.corners[max(0, place - 1)], self.corners[max(1, place)]
        slope = (top - y) / (right - x)
        return y - slope * x, slope


@dataclass(frozen=True, slots=True)
class Haul:
    """m (fixed + m each) ticks of waiting on account of column `share`."""

    share: int
    fixed: Fraction
    each: Fraction

    def value(self, share: float) -> float:
        return share * (float(self.fixed) + share * float(self.each))

    def line(self, share: float) -> Line:
        """The tangent."""
        at = Fraction(max(0, min(GRAIN, round(share * GRAIN))), GRAIN)
        return -at * at * self.each, self.fixed + 2 * at * self.each


@dataclass(frozen=True, slots=True)
class Convex:
    """The sum of `parts` is at most column `above`."""

    above: int
    parts: tuple[Curve | Haul, ...]

    def value(self, values: Sequence[float]) -> float:
        return sum(part.value(values[part.share]) for part in self.parts)


def rounded(devices: Sequence[tuple[int, float]], rows: int) -> Mode:
    """All `rows`, in proportion by largest remainder; evenly where no device has a weight."""
    weights = [Fraction(weight) for _, weight in devices]
    total = sum(weights)
    exact = [weight * rows / total for weight in weights] if total > 0 else [Fraction(rows, len(devices))] * len(devices)
    counts = [int(share) for share in exact]
    by_rest = sorted(range(len(counts)), key=lambda place: (counts[place] - exact[place], place))
    for place in by_rest[: rows - sum(counts)]:
        counts[place] += 1
    return tuple((device, count) for (device, _), count in zip(devices, counts, strict=True) if count)


def hull_of(table: Ticks, rows: int) -> list[tuple[Fraction, Fraction]]:
    """Corners of the lower convex hull of (r/R) ticks(r) by r/R; of very many rows, of a staircase below it."""
    points = [(Fraction(0), Fraction(0))]
    cells = MOST_POINTS if type(table) is Ticks else MOST_RANGES
    if rows <= cells:
        points += [(Fraction(r, rows), Fraction(r * table.at(r), rows)) for r in range(1, rows + 1)]
    else:
        grid = [rows * i // cells for i in range(cells + 1)]
        points += [
            (Fraction(high, rows), Fraction(low * table.roughly(low, high), rows) if low else Fraction(0))
            for low, high in pairwise(grid)
        ]
    hull: list[tuple[Fraction, Fraction]] = []
    for x, y in points:
        while len(hull) > 1 and _above(hull[-1], hull[-2], (x, y)):
            hull.pop()
        hull.append((x, y))
    return hull


def _above(middle: tuple[Fraction, Fraction], left: tuple[Fraction, Fraction], right: tuple[Fraction, Fraction]) -> bool:
    """Whether the middle of three points is on or above the line through the others."""
    return (middle[1] - left[1]) * (right[0] - left[0]) >= (right[1] - left[1]) * (middle[0] - left[0])
