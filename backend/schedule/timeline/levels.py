"""How much memory of one device is in use at every tick: a step function that buffers are added to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Final

FOREVER: Final = 1 << 62


class Levels:
    """`sizes[i]` bytes are in use during [times[i], times[i + 1]); the last holds for ever."""

    __slots__ = ("cap", "sizes", "times")

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self.times = [0]
        self.sizes = [0]

    def _cut(self, time: int) -> int:
        """The index of the step that starts at `time`, made if need be."""
        index = bisect_left(self.times, time)
        if index == len(self.times) or self.times[index] != time:
            self.times.insert(index, time)
            self.sizes.insert(index, self.sizes[index - 1])
        return index

    def add(self, size: int, start: int, end: int = FOREVER) -> None:
        """`size` more bytes (or fewer, if negative) during [start, end)."""
        if size == 0 or start >= end:
            return
        first = self._cut(start)
        last = len(self.times) if end >= FOREVER else self._cut(end)
        sizes = self.sizes
        for index in range(first, last):
            sizes[index] += size

    def fits(self, size: int, start: int, end: int = FOREVER) -> int | None:
        """The first tick from which a buffer that wants [start, end) can succeed: `start` itself if it fits there, else the
        end of the last step in its way; None if that never ends."""
        room = self.cap - size
        times, sizes = self.times, self.sizes
        first = bisect_right(times, start) - 1
        last = len(times) if end >= FOREVER else max(bisect_left(times, end), first + 1)
        for index in range(last - 1, first - 1, -1):
            if sizes[index] > room:
                return times[index + 1] if index + 1 < len(times) else None
        return start
