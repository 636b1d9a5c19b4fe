"""Time, and how one thing is timed on a machine that others use too.

Every measurement is repeated in rounds that go through all of them, so that a spell of load hits many a little and none
in full.  A round calls a few times in a row, as a program that is run again and again, and keeps the median; of the rounds'
medians the lower quartile counts, because others only ever make a call slower.

Neighbours: `measure` (what is timed); tests bring a clock of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter_ns
from typing import Protocol

from .calm import undisturbed

Call = Callable[[], object]


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


def rising(values: Sequence[float]) -> list[float]:
    """The nearest values that never fall: neighbours that do are replaced by their mean."""
    groups: list[tuple[float, int]] = []
    for value in values:
        groups.append((value, 1))
        while len(groups) > 1 and groups[-2][0] > groups[-1][0]:
            (late, few), (early, many) = groups.pop(), groups.pop()
            groups.append(((late * few + early * many) / (few + many), few + many))
    return [value for value, count in groups for _ in range(count)]


@dataclass(slots=True)
class Series:
    """One call and the median of each round."""

    call: Call
    medians: list[int] = field(default_factory=list)

    @property
    def ns(self) -> int:
        return low(self.medians)

    @property
    def best(self) -> int:
        """The least: of work so short that only disturbances differ."""
        return min(self.medians)


def run_rounds(
    series: Sequence[Series], clock: Clock, rounds: int, budget_ns: int, most: int = 7, until: int | None = None
) -> None:
    """Time all series `rounds` times in turn, each for about `budget_ns` a round, three to `most` calls, of which the first is
    not counted.  No round begins after `until` but the first."""
    for place in range(rounds):
        if place and until is not None and clock.now() > until:
            return
        for one in series:
            one.medians.append(undisturbed(lambda one=one: _some(one.call, clock, budget_ns, most)))  # type: ignore[misc]


def _some(call: Call, clock: Clock, budget_ns: int, most: int) -> int:
    """The median of a few calls in a row."""
    first = clock.time(call)
    times = [clock.time(call)]
    spent = first + times[0]
    while len(times) < 2 or (spent < budget_ns and len(times) < most):
        times.append(clock.time(call))
        spent += times[-1]
    return int(median(times))
