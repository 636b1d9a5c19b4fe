"""Time, and how one thing is timed on a machine that others use too.

Every measurement is repeated in rounds that go through all of them, so that a spell of load hits many a little and none
in full.  A round keeps its fastest call; of the rounds the median counts.

Neighbours: `measure` (what is timed); tests bring a clock of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter_ns
from typing import Protocol

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


@dataclass(slots=True)
class Series:
    """One call and the fastest time of each round."""

    call: Call
    best: list[int] = field(default_factory=list)

    @property
    def ns(self) -> int:
        return int(median(self.best))


def run_rounds(series: Sequence[Series], clock: Clock, rounds: int, budget_ns: int, most: int = 5) -> None:
    """Time all series `rounds` times in turn, each for about `budget_ns` a round, at most `most` calls."""
    for _ in range(rounds):
        for one in series:
            best = clock.time(one.call)
            spent, calls = best, 1
            while spent < budget_ns and calls < most:
                took = clock.time(one.call)
                best, spent, calls = min(best, took), spent + took, calls + 1
            one.best.append(best)
