"""The measurement loop of a calibration: rows of workloads to time, and the cost tables that follow from their times.

    Row("first.f64", (KERNEL + CALLED) * 0.5 - AGAIN, BEHIND, Curve.LEVEL)

A row is a point of a table for each of its sizes, at which its time is a sum of what ways (programs and calls) take.  A section
times all its ways in rounds, so that a spell of load hits many a little and none in full.  In a round a way is run a few times in
a row, as a program that is run again and again; the median counts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from fractions import Fraction
from statistics import median
from time import perf_counter_ns, process_time_ns
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from ...lang.support.files import KERNEL_TEXT, read_text
from ...lang.support.records import dataclass
from ..devices.profile import CostTable

# ---------------------------------------------------------------------------------------------------- disturbance by other load
#
# Other programs want the processors that a measurement wants.  The system counts how long each thread was ready but did not run;
# where it does not, the excess of the wall clock over processor time stands in.  A measurement during which the process waited is
# repeated, and takes the share of its time in which the process had its processors; it is discarded if that was less than half of
# it each time.  The time that a hypervisor gave to other guests is known only for the calibration as a whole.

T = TypeVar("T")

class Disturbed(Exception):
    """Raised for a calibration that is not kept; the text completes `this machine was not calibrated: `."""


_CALM: Final = 0.95
"""A measurement is repeated if the process had its processors for less than this share of it."""
_LEAST_SHARE: Final = 0.5
_TRIES: Final = 3
_DISTURBED: Final = Fraction(1, 5)
"""The greatest share of disturbed measurements."""
_STOLEN: Final = Fraction(1, 10)
_ENOUGH: Final = 60
"""The measurements after which a calibration is known to be disturbed."""
_PROCESSES: Final = "/proc"
_SHOWN: Final = 3


class LoadMonitor:
    """`measured`, `disturbed`: the numbers of all measurements, and of those for half of which a thread waited for a processor.
    `force`: keep these.  `preparing`: the nanoseconds in which probes were checked and compiled, which no deadline counts."""

    def __init__(self, *, force: bool = False) -> None:
        self.measured, self.disturbed, self.preparing, self.force = 0, 0, 0, force
        self._start, self._used, self._stolen = perf_counter_ns(), processor_times(), stolen_ns()

    def undisturbed(self, measure: Callable[[], T]) -> tuple[T, float]:
        """The result of the calmest of some attempts, and the share of it for which no thread waited; 0 if that is less than half
        of it.  Where several threads work, the others wait for the one that has no processor."""
        attempts = list[tuple[float, T]]()
        while len(attempts) < _TRIES and (not attempts or attempts[-1][0] < _CALM):
            start, before = perf_counter_ns(), waits_ns()
            result = measure()
            waited, elapsed = waits_ns(), max(1, perf_counter_ns() - start)
            longest = max(ns - before.get(thread, 0) for thread, ns in waited.items())
            attempts.append((1 - min(1.0, longest / elapsed), result))
        share, result = max(attempts, key=lambda attempt: attempt[0])
        self.measured += 1
        self.disturbed += share < _LEAST_SHARE
        return result, share if share >= _LEAST_SHARE or self.force else 0.0

    def require_calm(self, least: int = 0) -> None:
        """Raises Disturbed if too many of at least `least` measurements were disturbed."""
        stolen = self.stolen()
        if not self.force and self.measured >= least and (self.disturbed > _DISTURBED * self.measured or stolen > _STOLEN):
            reasons = list[str]()
            if stolen > _STOLEN:
                reasons.append(f"the hypervisor gave {float(stolen):.0%} of a core to other guests")
            if self.disturbed > _DISTURBED * self.measured:
                by = ", ".join(self.others())
                share = 100 * self.disturbed // max(1, self.measured)
                reasons.append(f"others used the processor during {share} % of the measurements" + f": {by}" * bool(by))
            raise Disturbed("; ".join(reasons))

    def stolen(self) -> Fraction:
        """The share of one processor's time that a hypervisor gave to other guests since the monitor began."""
        return Fraction(stolen_ns() - self._stolen, max(1, perf_counter_ns() - self._start))

    def others(self) -> list[str]:
        """The names, for messages, of the programs that used most processor time since the monitor began."""
        elapsed, ticks = (perf_counter_ns() - self._start) / 1e9, os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
        used = {key: count - self._used.get(key, 0) for key, count in processor_times().items()}
        busy = sorted(((100 * count / ticks / elapsed, key) for key, count in used.items()), reverse=True)
        return [f"`{name}` (process {number}, {share:.0f} % of a core)" for share, (number, name) in busy[:_SHOWN] if share >= 10]


def waits_ns() -> dict[str, int]:
    """By thread of this process, the nanoseconds, from some fixed moment, for which it was ready but did not run."""
    try:
        threads = os.listdir(f"{_PROCESSES}/self/task")
        return {thread: int(_kernel_text(f"self/task/{thread}/schedstat").split()[1]) for thread in threads}
    except (OSError, ValueError, IndexError):
        return {"": perf_counter_ns() - process_time_ns()}


def waited_ns() -> int:
    """The nanoseconds for which all threads of this process together were ready but did not run."""
    return sum(waits_ns().values())


def stolen_ns() -> int:
    """Nanoseconds that a hypervisor gave to other guests while this machine had work; 0 where the system does not report them."""
    try:
        return int(_kernel_text("stat").split()[8]) * 10**9 // os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0


def processor_times() -> dict[tuple[int, str], int]:
    """By (process number, name), the ticks of processor time of each other process; none where the system does not report
    them."""
    times: dict[tuple[int, str], int] = {}
    with suppress(OSError):
        for number in filter(str.isdigit, os.listdir(_PROCESSES)):
            with suppress(OSError, ValueError, IndexError):
                head, _, fields = _kernel_text(f"{number}/stat").rpartition(")")
                if int(number) != os.getpid():
                    times[int(number), head.partition("(")[2]] = sum(map(int, fields.split()[11:13]))
    return times


def _kernel_text(name: str) -> str:
    return read_text(f"{_PROCESSES}/{name}", KERNEL_TEXT)


# ---------------------------------------------------------------------------------------------------- measurement loop

Clock: TypeAlias = Callable[[], int]
"""Nanoseconds since some fixed moment."""
Run: TypeAlias = Callable[[], int]
"""Runs a workload and returns its nanoseconds."""
Point: TypeAlias = tuple[float, float]
"""A size, and its nanoseconds."""

_LEAST, _MOST = 2, 5
"""The least and the most consecutive runs of a workload in a round."""
_LONGEST: Final = 10
"""The first run of a program may take this many times the budget of its consecutive runs."""
TOGETHER: Final = 6
"""Rows whose workloads alternate, so that none finds its data in caches or its branches in predictors."""
_NOISE: Final = 50
"""A difference below 1/_NOISE of its terms is lost in noise."""
FLAT: Final = 1 << 50
"""The last size of tables that do not grow, because above its last point a table grows in proportion."""


class Workload(Protocol):
    def ready(self, size: int, threads: int, clock: Clock) -> Run:
        """Prepares the workload for a size.  Raises OSError if the machine does not allow it."""
        ...


Term: TypeAlias = tuple[Workload, int | None, float]
"""A workload, its size (None: the row's), and a factor."""
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
    """What is known about the shape of a table; measurements that contradict it were disturbed."""

    ANY = "nothing"
    RISING = "more never takes less"
    RATES = "one of more never takes less than one of fewer"
    LEVEL = "more never takes less, and no more behind the last point"
    FALLING = "more never takes more"


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """`table`: its name, or a function that returns the row once its first workload is prepared (None: there is no row).  `at`:
    the size in the table, if it differs.  Times below `least` are noise."""

    table: str | Callable[[ProbeRow, Any], ProbeRow | None]
    ns: Times
    sizes: Sequence[int] = (1,)
    curve: MeasuredCurve = MeasuredCurve.ANY
    at: Times | int | None = None
    least: float = 1


def low(times: Sequence[int]) -> int:
    """The lower quartile: the usual time on a lightly loaded machine, since other load only slows runs down."""
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
    """`live`: the (workload, size) pairs that are being timed; `times`: their medians by round, also of pairs that are no longer
    live.  `budget_ns`: for consecutive runs; `usual`: selects the time that counts; `until`: when repetitions stop.  `spoilt`:
    times of pairs that were never timed undisturbed."""

    def __init__(
        self, clock: Clock, budget_ns: int, watch: LoadMonitor, threads: int = 1, usual: Callable[[Sequence[int]], int] = low
    ) -> None:
        self.clock, self.budget_ns, self.watch, self.threads, self.usual = clock, budget_ns, watch, threads, usual
        self.live: dict[_Key, Run] = {}
        self.times: dict[_Key, list[int]] = {}
        self.spoilt: dict[_Key, list[int]] = {}
        self._points: list[tuple[ProbeRow, int]] = []

    def add(self, row: ProbeRow, size: int) -> None:
        """Adds a point, whose time is known when all its terms are timed."""
        measured = row if isinstance(row.table, str) else row.table(row, self.live[self._probe(row.ns.terms[0], size)])
        if measured is not None:
            for term in _terms(measured):
                self._probe(term, size)
            self._points.append((measured, size))

    def _probe(self, term: Term, size: int) -> _Key:
        key = term[0], term[1] or size
        if key not in self.times:
            self.live[key] = self._prepared(lambda: term[0].ready(key[1], self.threads, self.clock))
            self.times[key] = []
        return key

    def _prepared(self, prepare: Callable[[], T]) -> T:
        start = self.clock()
        value = prepare()
        self.watch.preparing += self.clock() - start
        return value

    def _is_over(self, until: int) -> bool:
        return self.clock() - self.watch.preparing > until

    def ns(self, times: Times, size: int) -> float:
        keys = ((self._probe(term, size), term[2]) for term in times.terms)
        return sum(factor * self.usual(self.times[key] or self.spoilt[key]) for key, factor in keys)

    def grow(self, rows: Iterable[ProbeRow], rounds: int, until: int, places: int, optional_after: int) -> None:
        """Times all rows, each at its first `places` sizes.  Small sizes come first, so that the largest are dropped when time
        runs out (after `optional_after`).  A row ends before a size that would take far longer than its budget."""
        growing = list(rows)
        for number in range(places):
            growing = [row for row in growing if number < len(row.sizes) and (not number or self._fits(row, number))]
            for first in range(0, len(growing), TOGETHER):
                if number and self._is_over(optional_after):
                    return
                for row in growing[first : first + TOGETHER]:
                    with suppress(OSError):
                        self.add(row, row.sizes[number])
                self.again(rounds, until)
                self.live.clear()

    def _fits(self, row: ProbeRow, number: int) -> bool:
        before = row.sizes[number - 1]
        return self.ns(Times(row.ns.terms[:1]), before) * row.sizes[number] <= _LONGEST * self.budget_ns * before

    def again(self, rounds: int, until: int) -> None:
        """Times each pair in `rounds` rounds; after `until`, only pairs without a time."""
        for _ in range(rounds):
            for key, run in self.live.items():
                if not (self.times[key] or key in self.spoilt) or not self._is_over(until):
                    took, calm = self._in_a_row(run)
                    (self.times[key] if calm else self.spoilt.setdefault(key, [])).append(took)
            self.watch.require_calm(_ENOUGH)

    def _in_a_row(self, run: Run) -> tuple[int, bool]:
        """The median of consecutive runs, the least where some of them waited, without what they waited; and whether most of them
        count."""
        self._prepared(run)  # which compiles
        start, times, spoilt = self.clock(), list[float](), list[int]()
        usual: Callable[[Sequence[float]], float] = median
        while len(times) + len(spoilt) < _LEAST or (len(times) < _MOST and self.clock() - start < self.budget_ns):
            took, share = self.watch.undisturbed(run)
            if share:
                times.append(took * share)
            else:
                spoilt.append(took)
            if share < _CALM:
                usual = min
        return round(usual(times or spoilt)), len(times) >= len(spoilt)

    def tables(self, *, disturbed: bool = False) -> Mapping[str, CostTable]:
        """Tables through the points that were timed undisturbed; `disturbed`: through all times.  A difference that is lost in
        the noise of its terms is no point."""
        points: dict[tuple[str, MeasuredCurve], list[Point]] = {}
        for row, size in self._points:
            if disturbed or all(self.times[self._probe(term, size)] for term in _terms(row)):
                at = self.ns(row.at, size) if isinstance(row.at, Times) else row.at or size
                ns, terms = self.ns(row.ns, size), Times(tuple((probe, of, abs(factor)) for probe, of, factor in row.ns.terms))
                if at > 0 and ns >= max(row.least, self.ns(terms, size) / _NOISE):
                    points.setdefault((str(row.table), row.curve), []).append((at, ns))
        return {name: table_of(points_of, curve) for (name, curve), points_of in points.items()}


def _terms(row: ProbeRow) -> tuple[Term, ...]:
    return (*row.ns.terms, *(row.at.terms if isinstance(row.at, Times) else ()))
