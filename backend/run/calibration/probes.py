"""Probes (things that are timed, in turns) and the points of tables that follow from their times.

A section times all of its probes in rounds, so that a spell of load hits many a little and none in full.  In a round a probe
is run a few times in a row, as a program that is run again and again; of the rounds' medians the lower quartile counts, because
others only ever make a run slower.

Neighbours: `calm` (waits for others to be gone), `measure` (runs the sections); tests bring a clock of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from statistics import median
from time import perf_counter_ns
from typing import Final, Protocol, TypeAlias

from ...devices.tables import Table
from .calm import undisturbed
from .samples import forget_data

Call: TypeAlias = Callable[[], object]
Time: TypeAlias = Callable[[], float]
Point: TypeAlias = tuple[float, float]
"""A size, and nanoseconds."""

_LEAST, _MOST = 2, 5
"""Runs in a row that count."""
FLAT: Final = 1 << 50
"""Above the last point a table grows in proportion: what does not grow has a last point that is far away."""


class Clock(Protocol):
    def now(self) -> int:
        """Nanoseconds since any fixed moment."""
        ...

    def time(self, call: Call) -> int:
        """Nanoseconds that one call takes."""
        ...


class WallClock:
    def now(self) -> int:
        return perf_counter_ns()

    def time(self, call: Call) -> int:
        start = perf_counter_ns()
        call()
        return perf_counter_ns() - start


def low(times: Sequence[int]) -> int:
    """The lower quartile: what is usual while others ask for little."""
    return sorted(times)[(len(times) - 1) // 3]


def rising(values: Iterable[float]) -> list[float]:
    """The nearest values that never fall: neighbours that do are replaced by their mean."""
    groups: list[tuple[float, int]] = []
    for value in values:
        groups.append((value, 1))
        while len(groups) > 1 and groups[-2][0] > groups[-1][0]:
            (late, few), (early, many) = groups.pop(), groups.pop()
            groups.append(((late * few + early * many) / (few + many), few + many))
    return [value for value, count in groups for _ in range(count)]


class Curve(Enum):
    """What is known of a table; what says otherwise was disturbed."""

    ANY = "nothing"
    RISING = "more never takes less"
    RATES = "one of more never takes less than one of fewer"
    LEVEL = "more never takes less, and no more behind the last point"
    FALLING = "more never takes more"


def table_of(points: Iterable[Point], curve: Curve = Curve.ANY) -> Table:
    """Through the medians of points of one size."""
    by_size: dict[int, list[float]] = {}
    for size, ns in points:
        by_size.setdefault(max(1, round(size)), []).append(max(1, ns))
    sizes = sorted(by_size)
    times = [float(median(by_size[size])) for size in sizes]
    match curve:
        case Curve.RATES:
            rates = rising(time / size for time, size in zip(times, sizes, strict=True))
            times = [rate * size for rate, size in zip(rates, sizes, strict=True)]
        case Curve.RISING | Curve.LEVEL:
            times = rising(times)
        case Curve.FALLING:
            times = [-time for time in rising(-time for time in times)]
    if curve in (Curve.LEVEL, Curve.FALLING):
        sizes, times = [*sizes, FLAT], [*times, times[-1]]
    return Table(tuple(sizes), tuple(max(1, round(time)) for time in times))


def _never() -> int:
    raise AssertionError("a probe that was let go")


@dataclass(slots=True, eq=False)
class Probe:
    """`run` gives nanoseconds; `times`: the median of each round."""

    run: Callable[[], int]
    times: list[int] = field(default_factory=list)

    @property
    def ns(self) -> int:
        return low(self.times)

    def usual(self) -> int:
        return self.ns

    @property
    def best(self) -> int:
        """The least: of work so short that only disturbances differ."""
        return min(self.times)


class Section:
    """Probes that take turns; `budget_ns`: of a probe's runs in a row."""

    def __init__(self, clock: Clock, budget_ns: int) -> None:
        self.clock, self.budget_ns = clock, budget_ns
        self.probes: list[Probe] = []
        self._points: list[tuple[str, Callable[[], Point], Curve]] = []

    def probe(self, run: Callable[[], int]) -> Probe:
        self.probes.append(Probe(run))
        return self.probes[-1]

    def call(self, call: Call) -> Probe:
        return self.probe(lambda: self.clock.time(call))

    def point(self, table: str, size: float | Time, ns: Time, curve: Curve = Curve.ANY) -> None:
        """A point of a table, known when all is timed."""
        self._points.append((table, lambda: (size() if callable(size) else size, ns()), curve))

    def again(self, rounds: int, until: int) -> None:
        """Each probe is timed in so many rounds, but after `until` only what has no time yet."""
        for _ in range(rounds):
            for probe in self.probes:
                if not probe.times or self.clock.now() <= until:
                    probe.times.append(undisturbed(partial(self._in_a_row, probe.run)))

    def _in_a_row(self, run: Callable[[], int]) -> int:
        run()
        start, times = self.clock.now(), list[int]()
        while len(times) < _LEAST or (len(times) < _MOST and self.clock.now() - start < self.budget_ns):
            times.append(run())
        return int(median(times))

    def let_go(self) -> None:
        """Of the probes so far only their times stay."""
        for probe in self.probes:
            probe.run = _never
        self.probes.clear()
        forget_data()

    def tables(self) -> Mapping[str, Table]:
        points: dict[tuple[str, Curve], list[Point]] = {}
        for name, point, curve in self._points:
            points.setdefault((name, curve), []).append(point())
        return {name: table_of(found, curve) for (name, curve), found in points.items()}
