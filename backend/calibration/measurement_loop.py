"""The measurement loop of a calibration: rows of workloads to time, and the cost tables that follow from their times.

    Row("first.f64", (KERNEL + CALLED) * 0.5 - AGAIN, BEHIND, Curve.LEVEL)

A row is a point of a table for each of its sizes, at which its time is a sum of what ways (programs and calls) take.  A section
times all its ways in rounds, so that a spell of load hits many a little and none in full.  In a round a way is run a few times in
a row, as a program that is run again and again; the median counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from functools import partial
from statistics import median
from time import perf_counter_ns, sleep
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import numpy as np

from ...lang.support.files import KERNEL_TEXT, read_text
from ...lang.support.records import dataclass
from ..devices.profile import CostTable

# ---------------------------------------------------------------------------------------------------- disturbance by other load
#
# Others on the same machine: programs that use a core of ours, and guests that share one with us, so that everything takes half
# as long again, for a moment or for seconds.  A measurement waits until they are gone, and is made anew if they came meanwhile.
#
# Programs are told by the number of tasks that could run just now, where the system says it: one is us.  (So the helpers of
# NumPy's products are waited for, too, which spin for a tenth of a second after one.)  Guests are told by a short computation
# whose least time is known.  Waiting has a limit for a whole calibration; where it is used up, what is measured counts as it is.

T = TypeVar("T")

_POINTS: Final = 2048
_SLOWER: Final = 1.15
"""So much more than the least says that somebody is there; turns of the clock and caches stay below."""
_PAUSE_SECONDS: Final = 0.01
_AGAIN: Final = 2
"""A measurement is made anew so many times at most."""
_TASKS: Final = "/proc/loadavg"


class LoadMonitor:
    """Waits for so many seconds at most.  `spare_ns`: how long it may still wait.  `waits`: how often it had to.  `measured`,
    `disturbed`: measurements in all, and those that count although somebody was there."""

    def __init__(self, seconds: float) -> None:
        self.spare_ns, self.waits = int(seconds * 10**9), 0
        self.measured = self.disturbed = 0
        self._x = np.linspace(0.1, 0.9, _POINTS)
        self._made = np.empty_like(self._x)
        self._least = min(self._probe() for _ in range(50))

    def _probe(self) -> int:
        durations = []
        for _ in range(3):
            start = perf_counter_ns()
            np.sin(self._x, out=self._made)
            durations.append(perf_counter_ns() - start)
        return min(durations)

    def is_calm(self) -> bool:
        now = self._probe()
        self._least = min(self._least, now)
        return now <= _SLOWER * self._least and not all(_others() for _ in range(3))

    def wait(self) -> None:
        """Wait until no other load is detected, or the waiting time is used up."""
        while not self.is_calm() and self.spare_ns > 0:
            start = perf_counter_ns()
            sleep(_PAUSE_SECONDS)
            self.waits += 1
            self.spare_ns -= perf_counter_ns() - start

    def undisturbed(self, measure: Callable[[], T]) -> T:
        """The result of `measure` without disturbance, or the last one when the waiting time is used up."""
        for _ in range(_AGAIN + 1):
            self.wait()
            result = measure()
            if calm := self.is_calm():
                break
            if self.spare_ns <= 0:
                break
        self.measured += 1
        self.disturbed += not calm
        return result


def _others() -> bool:
    """Is another task runnable?"""
    try:
        return int(read_text(_TASKS, KERNEL_TEXT).split()[3].partition("/")[0]) > 1
    except (OSError, ValueError, IndexError):
        return False


# ---------------------------------------------------------------------------------------------------- measurement loop

Clock: TypeAlias = Callable[[], int]
"""Nanoseconds since any fixed moment."""
Run: TypeAlias = Callable[[], int]
"""Runs a workload, and returns its time."""
Point: TypeAlias = tuple[float, float]
"""A size, and nanoseconds."""

_LEAST, _MOST = 2, 5
"""Consecutive runs that count."""
_LONGEST: Final = 10
"""A program may take so many times what its runs in a row may."""
TOGETHER: Final = 6
"""Rows that take turns, so that what one leaves in caches and predictors is gone, and their data are there at once."""
FLAT: Final = 1 << 50
"""Above the last point a table grows in proportion: what does not grow has a last point that is far away."""


class Workload(Protocol):
    def ready(self, size: int, threads: int, clock: Clock) -> Run:
        """OSError: the machine does not let it."""
        ...


Term: TypeAlias = tuple[Workload, int | None, float]
"""What a way takes, at the row's size (None) or at one of its own, times a factor."""
_Key: TypeAlias = tuple[Workload, int]


@dataclass(frozen=True, slots=True)
class Times:
    """A weighted sum of times of workloads."""

    terms: tuple[Term, ...]

    def __add__(self, other: Times) -> Times:
        return Times(self.terms + other.terms)

    def __sub__(self, other: Times) -> Times:
        return self + other * -1

    def __mul__(self, factor: float) -> Times:
        return Times(tuple((probe, size, factor_of * factor) for probe, size, factor_of in self.terms))

    def fixed(self, size: int) -> Times:
        return Times(tuple((probe, size, factor) for probe, _, factor in self.terms))


class MeasuredCurve(Enum):
    """A known property of a table; measurements that contradict it were disturbed."""

    ANY = "nothing"
    RISING = "more never takes less"
    RATES = "one of more never takes less than one of fewer"
    LEVEL = "more never takes less, and no more behind the last point"
    FALLING = "more never takes more"


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """`table`: its name, or who says what row this is once its first way is ready (None: none at all).  `at`: the size as the
    table knows it, where that is another.  No time is below `least`."""

    table: str | Callable[[ProbeRow, Any], ProbeRow | None]
    ns: Times
    sizes: Sequence[int] = (1,)
    curve: MeasuredCurve = MeasuredCurve.ANY
    at: Times | int | None = None
    least: float = 1


def low(times: Sequence[int]) -> int:
    """The lower quartile: the usual time on a lightly loaded machine, since other load only makes runs slower."""
    return sorted(times)[(len(times) - 1) // 3]


def rising(values: Iterable[float]) -> list[float]:
    """Isotonic regression: the nearest non-decreasing values; falling neighbours are replaced by their mean."""
    groups: list[tuple[float, int]] = []
    for value in values:
        groups.append((value, 1))
        while len(groups) > 1 and groups[-2][0] > groups[-1][0]:
            (late, few), (early, many) = groups.pop(), groups.pop()
            groups.append(((late * few + early * many) / (few + many), few + many))
    return [value for value, count in groups for _ in range(count)]


def table_of(points: Iterable[Point], curve: MeasuredCurve = MeasuredCurve.ANY) -> CostTable:
    """A table through the medians of points of equal size."""
    by_size: dict[int, list[float]] = {}
    for size, ns in points:
        by_size.setdefault(max(1, round(size)), []).append(max(1, ns))
    sizes = sorted(by_size)
    times = [float(median(by_size[size])) for size in sizes]
    match curve:
        case MeasuredCurve.RATES:
            rates = rising(time / size for time, size in zip(times, sizes, strict=True))
            times = [rate * size for rate, size in zip(rates, sizes, strict=True)]
        case MeasuredCurve.RISING | MeasuredCurve.LEVEL:
            times = rising(times)
        case MeasuredCurve.FALLING:
            times = [-time for time in rising(-time for time in times)]
    if curve in (MeasuredCurve.LEVEL, MeasuredCurve.FALLING):
        sizes, times = [*sizes, FLAT], [*times, times[-1]]
    return CostTable(tuple(sizes), tuple(max(1, round(time)) for time in times))


class Section:
    """`live`: ways at a size that are timed; `times`: the median of each round, also of those that are not live any more.
    `budget_ns`: of runs in a row; `usual`: which of the times counts; `until`: when to stop timing again."""

    def __init__(
        self, clock: Clock, budget_ns: int, watch: LoadMonitor, threads: int = 1, usual: Callable[[Sequence[int]], int] = low
    ) -> None:
        self.clock, self.budget_ns, self.watch, self.threads, self.usual = clock, budget_ns, watch, threads, usual
        self.live: dict[_Key, Run] = {}
        self.times: dict[_Key, list[int]] = {}
        self._points: list[tuple[ProbeRow, int]] = []

    def add(self, row: ProbeRow, size: int) -> None:
        """A point, known when all is timed."""
        measured = row if isinstance(row.table, str) else row.table(row, self.live[self._probe(row.ns.terms[0], size)])
        if measured is not None:
            for term in (*measured.ns.terms, *(measured.at.terms if isinstance(measured.at, Times) else ())):
                self._probe(term, size)
            self._points.append((measured, size))

    def _probe(self, term: Term, size: int) -> _Key:
        key = term[0], term[1] or size
        if key not in self.times:
            self.live[key] = term[0].ready(key[1], self.threads, self.clock)
            self.times[key] = []
        return key

    def ns(self, times: Times, size: int) -> float:
        return sum(term[2] * self.usual(self.times[self._probe(term, size)]) for term in times.terms)

    def grow(self, rows: Iterable[ProbeRow], rounds: int, until: int, places: int, optional_after: int) -> None:
        """All rows, the first `places` sizes at most.  Small sizes first: what there is no time for, after `optional_after`, are
        the largest.  A row ends before a size that would take far longer than its budget."""
        growing = list(rows)
        for number in range(places):
            growing = [row for row in growing if number < len(row.sizes) and (not number or self._fits(row, number))]
            for first in range(0, len(growing), TOGETHER):
                if number and self.clock() > optional_after:
                    return
                for row in growing[first : first + TOGETHER]:
                    with suppress(OSError):
                        self.add(row, row.sizes[number])
                self.again(rounds, until)
                self.live.clear()

    def _fits(self, row: ProbeRow, number: int) -> bool:
        before = row.sizes[number - 1]
        took = self.usual(self.times[self._probe(row.ns.terms[0], before)])
        return took * row.sizes[number] <= _LONGEST * self.budget_ns * before

    def again(self, rounds: int, until: int) -> None:
        """Each is timed in so many rounds, but after `until` only what has no time yet."""
        for _ in range(rounds):
            for key, run in self.live.items():
                if not self.times[key] or self.clock() <= until:
                    self.times[key].append(self.watch.undisturbed(partial(self._in_a_row, run)))

    def _in_a_row(self, run: Run) -> int:
        run()
        start, times = self.clock(), list[int]()
        while len(times) < _LEAST or (len(times) < _MOST and self.clock() - start < self.budget_ns):
            times.append(run())
        return int(median(times))

    def tables(self) -> Mapping[str, CostTable]:
        points: dict[tuple[str, MeasuredCurve], list[Point]] = {}
        for row, size in self._points:
            at = self.ns(row.at, size) if isinstance(row.at, Times) else row.at or size
            points.setdefault((str(row.table), row.curve), []).append((at, max(row.least, self.ns(row.ns, size))))
        return {name: table_of(points_of, curve) for (name, curve), points_of in points.items()}
