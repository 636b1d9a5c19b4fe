"""What a schedule in the making has taken: ticks of devices and channels, and memory where it is limited."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass

from ..answer import Decisions, Queueing
from ..problem import Together
from .levels import Levels
from .prepared import Prepared
from .routes import Channel


class DoesNotFit(Exception):
    """`device` is short of memory for `phase`; -1: no route or no kernel; -2: later than the limit."""

    def __init__(self, device: int, phase: int) -> None:
        super().__init__(device, phase)
        self.device = device
        self.phase = phase


@dataclass(slots=True, eq=False)
class Held:
    """Bytes on a device with a limit, in use from a start on; closed at `last` when no use is left."""

    size: int
    last: int
    uses: int = 0


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


class Resources:
    """Devices, channels and memory of one schedule in the making."""

    __slots__ = ("_channels", "_free", "_insert", "_levels", "_prepared", "_queues")

    def __init__(self, prepared: Prepared, decisions: Decisions) -> None:
        self._prepared = prepared
        self._insert = decisions.queueing is Queueing.INSERT and not prepared.ordered
        self._free: dict[int, int] = {}
        self._queues: dict[int, list[tuple[int, int]]] = {}
        self._channels: dict[Channel, list[tuple[int, int]]] = {}
        self._levels: dict[int, Levels] = {}

    def _memory(self, device: int) -> Levels | None:
        """What is in use on a device; None where it has no limit."""
        levels = self._levels.get(device)
        if levels is None and (cap := self._prepared.caps[device]) is not None:
            levels = self._levels[device] = Levels(cap)
        return levels

    def _slot(self, device: int, earliest: int, duration: int) -> int:
        """The first start at or after `earliest` at which the device is free for `duration`."""
        if self._insert:
            return gap(self._queues.setdefault(device, []), earliest, duration)
        return max(earliest, self._free.get(device, 0))

    def _occupy(self, device: int, start: int, end: int) -> None:
        if self._insert:
            insort(self._queues.setdefault(device, []), (start, end))
        else:
            self._free[device] = max(end, self._free.get(device, 0))

    @staticmethod
    def _use(held: Held, levels: Levels, until: int) -> None:
        """One use fewer to come of a buffer, which lasts `until` then."""
        held.uses -= 1
        held.last = max(held.last, until)
        if held.uses == 0:
            levels.add(-held.size, held.last)

    def _kept(self, together: Together) -> list[tuple[list[tuple[int, int]], int]]:
        """The intervals of the channels that a phase keeps to itself, and how long before its start.  See Note [Together]."""
        channels: dict[Channel, int] = {}
        for _, source, target in together.channels:
            path = self._prepared.routes.path(int(source), int(target))
            if path is not None and len(path) == 1 and path[0].channel is not None:
                channels[path[0].channel] = self._prepared.problem.settling(path[0].link)
        return [(self._channels.setdefault(channel, []), settling) for channel, settling in channels.items()]

    def _claim(
        self,
        phase: int,
        channels: Sequence[tuple[list[tuple[int, int]], int]],
        held: Sequence[tuple[int, int, int]],
        earliest: int,
        duration: int,
    ) -> int:
        """Take devices and channels together for so many ticks, as soon as all are free; the start.  `held`: by device, bytes
        that stay and bytes that go at the end."""
        start, later = earliest, -1
        while later != start:
            start = later = max(start, later)
            for busy, settling in channels:
                later = max(later, gap(busy, start - settling, duration + settling) + settling)
            for device, size, scratch in held:
                later = max(later, self._slot(device, start, duration))
                levels = self._memory(device)
                if levels is not None:
                    room = room_for(levels, size, scratch, start, max(1, duration))
                    if room is None:
                        raise DoesNotFit(device, phase)
                    later = max(later, room)
        end = start + duration
        for busy, settling in channels:
            insort(busy, (start - settling, end))
        for device, size, scratch in held:
            self._occupy(device, start, end)
            levels = self._memory(device)
            if levels is not None:
                levels.add(scratch, start, start + max(1, duration))
                levels.add(size, start)
        return start


def room_for(levels: Levels, size: int, scratch: int, start: int, duration: int) -> int | None:
    """Like `Levels.fits`, for an output that stays and scratch that goes with the shard."""
    later = levels.fits(size, start)
    if later != start or not scratch:
        return later
    return levels.fits(size + scratch, start, start + duration)
