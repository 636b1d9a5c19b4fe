"""What `layout` keeps of a phase that is placed: who made its output, who wants it, where it lies in memory.

Neighbours: `layout` fills these; `heuristics.listing` shares the search for gaps.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field


class DoesNotFit(Exception):
    """`device` is short of memory for `phase`; -1: no route or no kernel; -2: later than the limit."""

    def __init__(self, device: int, phase: int) -> None:
        super().__init__(device, phase)
        self.device = device
        self.phase = phase


@dataclass(slots=True)
class Buffer:
    """Bytes on a device with a limit, in use from a start on; closed at `last` when no use is left."""

    size: int
    last: int
    uses: int = 0


@dataclass(slots=True)
class Demand:
    """Units [low, high) of an output that a device needs from its maker, for `uses` consumers there.

    `sizes`: what the whole takes on a link, by edge.  `delay`: an edge's own ticks.  Sent: `landed` is the arrival,
    `arrived` the tick from which consumers may start."""

    low: int
    high: int
    delay: int | None
    sizes: set[int | None] = field(default_factory=set)
    uses: int = 0
    landed: int = -1
    arrived: int = -1


@dataclass(slots=True)
class Output:
    """What was made of a phase: (maker, first unit, end unit, tick at which it is there), in the order of units; what is
    wanted of it, by (maker, device, own ticks or -1); and its buffers, by (device, maker, own ticks or -1)."""

    makers: list[tuple[int, int, int, int]] = field(default_factory=list)
    made: dict[int, int] = field(default_factory=dict)
    begins: list[int] = field(default_factory=list)
    demands: dict[tuple[int, int, int], Demand] = field(default_factory=dict)
    buffers: dict[tuple[int, int, int], Buffer] = field(default_factory=dict)

    def among(self, low: int, high: int) -> list[tuple[int, int, int, int]]:
        """The makers of units [low, high)."""
        if len(self.makers) < 4:
            return [maker for maker in self.makers if maker[1] < high and maker[2] > low]
        return self.makers[max(0, bisect_right(self.begins, low) - 1) : bisect_left(self.begins, high)]


def gap(busy: list[tuple[int, int]], earliest: int, duration: int) -> int:
    """The first start at or after `earliest` of a gap of `duration` between the sorted intervals `busy`."""
    if not busy or busy[-1][1] <= earliest:
        return earliest
    start = earliest
    index = bisect_left(busy, (earliest, earliest))
    if index and busy[index - 1][1] > start:
        start = busy[index - 1][1]
    while index < len(busy):
        begin, end = busy[index]
        if start + duration <= begin:
            return start
        if end > start:
            start = end
        index += 1
    return start
