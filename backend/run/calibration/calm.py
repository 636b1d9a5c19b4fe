"""Others on the same machine: programs that use a core of ours, and guests that share one with us, so that everything takes half
as long again, for a moment or for seconds.  A measurement waits until they are gone, and is made anew if they came meanwhile.

Programs are told by the number of tasks that could run just now, where the system says it: one is us.  (So the helpers of NumPy's
products are waited for, too, which spin for a tenth of a second after one.)  Guests are told by a short computation whose least
time is known.  Waiting has a limit for a whole calibration; where it is used up, what is measured counts as it is.

Neighbours: `timing` (what is measured).
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns, sleep
from typing import Final, TypeVar

import numpy as np

from ....lang.opening import KERNEL_TEXT, read_text

T = TypeVar("T")

_POINTS: Final = 2048
_SLOWER: Final = 1.15
"""So much more than the least says that somebody is there; turns of the clock and caches stay below."""
_PAUSE_SECONDS: Final = 0.01
_AGAIN: Final = 2
"""A measurement is made anew so many times at most."""
_TASKS: Final = "/proc/loadavg"


class Watch:
    """Waits for so many seconds at most.  `spare_ns`: how long it may still wait.  `waits`: how often it had to.  `measured`,
    `disturbed`: measurements in all, and those that count although somebody was there."""

    def __init__(self, seconds: float) -> None:
        self.spare_ns, self.waits = int(seconds * 10**9), 0
        self.measured = self.disturbed = 0
        self._x = np.linspace(0.1, 0.9, _POINTS)
        self._made = np.empty_like(self._x)
        self._least = min(self._probe() for _ in range(50))

    def _probe(self) -> int:
        found = []
        for _ in range(3):
            start = perf_counter_ns()
            np.sin(self._x, out=self._made)
            found.append(perf_counter_ns() - start)
        return min(found)

    def is_calm(self) -> bool:
        now = self._probe()
        self._least = min(self._least, now)
        return now <= _SLOWER * self._least and not all(_others() for _ in range(3))

    def wait(self) -> None:
        """Until nobody is there, or no more waiting is allowed."""
        while not self.is_calm() and self.spare_ns > 0:
            start = perf_counter_ns()
            sleep(_PAUSE_SECONDS)
            self.waits += 1
            self.spare_ns -= perf_counter_ns() - start

    def undisturbed(self, measure: Callable[[], T]) -> T:
        """What `measure` finds while nobody disturbs, or when no more waiting is allowed."""
        for _ in range(_AGAIN + 1):
            self.wait()
            found = measure()
            if calm := self.is_calm():
                break
            if self.spare_ns <= 0:
                break
        self.measured += 1
        self.disturbed += not calm
        return found


def _others() -> bool:
    """Is there a task besides this one that could run?"""
    try:
        return int(read_text(_TASKS, KERNEL_TEXT).split()[3].partition("/")[0]) > 1
    except (OSError, ValueError, IndexError):
        return False
