"""Linear programs whose bound is believed only in integers: a dual simplex in floating point finds weights, integers check them.

The program is: the least x_0 with A x >= b, every x_j >= 0, and x_j at most x_0 ("ticks") or at most 1 ("shares").  Any weights
y >= 0 of the rows prove x_0 >= (y b - sum of the positive (y A)_j over shares) / (sum of (y A)_0 and the positive (y A)_j over
ticks), so a wrong weight costs sharpness and never truth.  Rows are integers; they may be added after a solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

NEAR: Final = 1e-9
SMALL: Final = 1e-7
"""What is less than that part of its row is no pivot: what is divided by it would be noise."""
NUDGE: Final = 1e-7
"""Costs that keep ties apart."""
WEIGHT: Final = 1 << 40
REFRESH: Final = 8
"""Pivots after which the lengths of rows are computed anew."""
IDLE: Final = 0.02
BROKEN: Final = 1e-7
MOST_ENTERED: Final = 60


@dataclass(frozen=True, slots=True)
class Row:
    """sum of coefficients times columns >= bound."""

    terms: tuple[tuple[int, int], ...]
    bound: int


@dataclass(slots=True)
class Linear:
    """`unit`: about how many ticks the result has, for scaling.  Column 0 is the result.

    Of all rows only those that solutions have broken are in the dictionary, the others are looked at between solutions."""

    unit: int
    ticks: list[bool] = field(default_factory=lambda: [True])
    rows: list[Row] = field(default_factory=list)
    _scales: list[float] = field(default_factory=list)
    _pool: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    _bounds: Floats = field(default_factory=lambda: np.zeros(0))
    _matrix: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    _buffer: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    _right: Floats = field(default_factory=lambda: np.zeros(0))
    _costs: Floats = field(default_factory=lambda: np.zeros(0))
    _outside: list[int] = field(default_factory=list)
    _inside: list[int] = field(default_factory=list)

    def column(self, *, ticks: bool) -> int:
        """A new unknown.  All are made before the first `solve`."""
        self.ticks.append(ticks)
        return len(self.ticks) - 1

    def solve(self, most: int) -> bool:
        """Whether an optimum over all rows was found in `most` pivots; it goes on from the last one."""
        self._take()
        while True:
            most = self._optimise(most)
            if most <= 0:
                return False
            level = np.array(self._level())
            broken = self._pool @ level - self._bounds
            worst = np.argsort(broken)[:MOST_ENTERED]
            fresh = [int(i) for i in worst if broken[i] < -BROKEN]
            if not fresh:
                return True
            self._drop_idle()
            present = set(self._inside) | set(self._outside)
            fresh = [i for i in fresh if len(self.ticks) + i not in present]
            if not fresh:
                return True
            self._enter(fresh)

    def _optimise(self, most: int) -> int:
        """Pivots left when the rows in the dictionary hold; 0 if they do not."""
        self._buffer = np.empty_like(self._matrix)
        matrix, right = self._matrix, self._right
        lengths = np.ones(len(right))
        for turn in range(most if len(right) else 0):
            if turn % REFRESH == 0:
                lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix) + 1.0)
            leaving = int(np.argmin(right / lengths))
            if right[leaving] > -NEAR:
                return most - turn
            row = matrix[leaving]
            able = np.flatnonzero(row > SMALL * max(1.0, row.max()))
            if not able.size:
                return 0
            least = float(((self._costs[able] + NEAR) / row[able]).min())
            ties = able[self._costs[able] <= least * row[able]]  # of those that break no cost by more than NEAR the largest
            self._pivot(leaving, int(ties[np.argmax(row[ties])]))
            lengths[leaving] = np.sqrt(matrix[leaving] @ matrix[leaving] + 1.0)
        return most if not len(right) else 0

    def _pivot(self, leaving: int, entering: int) -> None:
        """Dictionary pivot: the slack of row `leaving` and the unknown of column `entering` change places."""
        matrix, right, costs = self._matrix, self._right, self._costs
        row = matrix[leaving].copy()
        pivot = row[entering]
        row /= -pivot
        row[entering] = 1.0 / pivot
        moved = -right[leaving] / pivot
        column = matrix[:, entering].copy()
        matrix[:, entering] = 0.0
        touched = np.flatnonzero(column)
        if 3 * touched.size < column.size:
            matrix[touched] += column[touched, None] * row
        else:
            np.multiply(column[:, None], row, out=self._buffer)
            matrix += self._buffer
        right += column * moved
        matrix[leaving], right[leaving] = row, moved
        cost = costs[entering]
        costs[entering] = 0.0
        costs += max(cost, 0.0) * row
        np.maximum(costs, 0.0, out=costs)
        self._outside[entering], self._inside[leaving] = self._inside[leaving], self._outside[entering]

    def _drop_idle(self) -> None:
        """Put rows that the solution is far from out of the dictionary."""
        count = len(self.ticks)
        kept = [i for i, name in enumerate(self._inside) if name < count or self._right[i] < IDLE]
        self._matrix, self._right = self._matrix[kept], self._right[kept]
        self._inside = [self._inside[i] for i in kept]

    def _take(self) -> None:
        """Scale the rows that are new."""
        count = len(self.ticks)
        if not self._outside:
            self._outside = list(range(count))
            self._matrix, self._pool = np.zeros((0, count)), np.zeros((0, count))
            self._costs = NUDGE * (1.0 + np.random.default_rng(1).random(count))
            self._costs[0] = 1.0
        fresh = self.rows[len(self._bounds) :]
        if not fresh:
            return
        block, bounds = np.zeros((len(fresh), count)), np.zeros(len(fresh))
        for i, row in enumerate(fresh):
            for name, coefficient in row.terms:
                block[i, name] += coefficient * (self.unit if self.ticks[name] else 1)
            scale = 1.0 / max(1.0, float(np.abs(block[i]).max()))
            block[i] *= scale
            bounds[i] = row.bound * scale
            self._scales.append(scale)
        self._pool = np.vstack([self._pool, block])
        self._bounds = np.concatenate([self._bounds, bounds])

    def _enter(self, fresh: Sequence[int]) -> None:
        """Put rows into the dictionary."""
        count = len(self.ticks)
        outside = {name: place for place, name in enumerate(self._outside) if name < count}
        inside = {name: place for place, name in enumerate(self._inside) if name < count}
        block = np.zeros((len(fresh), len(self._outside)))
        right = -self._bounds[list(fresh)]
        for i, row in enumerate(fresh):
            for name in np.flatnonzero(self._pool[row]):
                coefficient = self._pool[row, name]
                place = inside.get(int(name))
                if place is None:
                    block[i, outside[int(name)]] += coefficient
                else:
                    block[i] += coefficient * self._matrix[place]
                    right[i] += coefficient * self._right[place]
        self._matrix = np.vstack([self._matrix, block])
        self._right = np.concatenate([self._right, right])
        self._inside += [count + i for i in fresh]

    def _level(self) -> list[float]:
        """The unknowns as they are now, in units."""
        found = [0.0] * len(self.ticks)
        for place, name in enumerate(self._inside):
            if name < len(found):
                found[name] = float(self._right[place])
        return found

    def values(self) -> list[float]:
        """The unknowns as they are now, in ticks or shares."""
        return [value * (self.unit if ticks else 1) for value, ticks in zip(self._level(), self.ticks, strict=True)]

    def certified(self) -> int:
        """The result is at least this, by integers alone."""
        count = len(self.ticks)
        weights = [0] * len(self._bounds)
        for place, name in enumerate(self._outside):
            if name >= count and self._costs[place] > 0:
                weights[name - count] = int(self._costs[place] * self._scales[name - count] * self.unit * WEIGHT)
        return bound_of(self.rows, weights, self.ticks)


def bound_of(rows: Sequence[Row], weights: Sequence[int], ticks: Sequence[bool]) -> int:
    """What non-negative weights of the rows prove of column 0; 0 if nothing."""
    sums = [0] * len(ticks)
    right = 0
    for row, weight in zip(rows, weights, strict=False):
        if weight > 0:
            right += weight * row.bound
            for name, coefficient in row.terms:
                sums[name] += weight * coefficient
    below = sums[0]
    for name in range(1, len(ticks)):
        if sums[name] > 0:
            if ticks[name]:
                below += sums[name]
            else:
                right -= sums[name]
    return max(0, -(-right // below)) if below > 0 else 0
