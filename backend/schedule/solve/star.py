"""What each device can do of one cut phase between home and home, by a time: the arithmetic of `splitting`.

A row is brought, computed and brought back.  Costs here are never above the real ones: bytes are rounded down.
"""

from __future__ import annotations

from typing import Final

from ..timeline.timing import Timer
from .costs import Costs
from .filling import most

MOST_TRIES: Final = 100
"""Ranges of rows that are looked at for the most rows by a time."""


class Star:
    """Home at the centre, devices around it, one phase to cut."""

    def __init__(self, costs: Costs, phase: int, order: list[int]) -> None:
        self.costs = costs
        self.timer = costs.timer
        self.phase = phase
        self.order = order
        self.task = self.timer.problem.phases[phase]
        self.rows = self.task.rows
        self.workers = [[d for d in members if d in set(costs.allowed[phase])] for members in costs.members]
        self.workers = [members for members in self.workers if members]
        self.heads = self._heads()
        self.tail = self._tail()
        self.returns = self.task.combine is not None or bool(self.timer.outgoing[phase])
        self.room = [self._room(members[0]) for members in self.workers]

    def _heads(self) -> list[int]:
        """When the inputs can be there at home, by incoming edge; at least `ready` for the phase itself."""
        end = [0] * len(self.order)
        timer = self.timer
        for p in self.order:
            if p == self.phase:
                break
            start = max([timer.problem.phases[p].ready, *(end[q] for q in timer.before[p])])
            end[p] = start + (timer.ticks(p, timer.home, timer.problem.phases[p].units) or 0)
        self.ready = max([self.task.ready, *(end[q] for q in timer.limits.after[self.phase])])
        return [end[timer.sources[edge]] for edge in timer.incoming[self.phase]]

    def _tail(self) -> int:
        """Ticks that must pass at home after the output is there."""
        timer = self.timer
        rest = [0] * len(self.order)
        for p in reversed(self.order):
            for q in timer.before[p]:
                if q in timer.limits.after[p] or any(timer.sources[edge] == q for edge in timer.incoming[p]):
                    rest[q] = max(rest[q], rest[p] + (timer.ticks(p, timer.home, timer.problem.phases[p].units) or 0))
        return rest[self.phase]

    # ------------------------------------------------------------------------------ one device

    def _in_bytes(self, edge: int, rows: int) -> int:
        """Bytes that `rows` rows need of an input, rounded down."""
        timer = self.timer
        described = timer.problem.edges[edge]
        size = timer.problem.phases[described.source].out_bytes if described.bytes is None else described.bytes
        return size if described.whole else size * rows // self.rows

    def _out_bytes(self, rows: int) -> int:
        return self.task.combine.bytes if self.task.combine is not None else self.task.out_bytes * rows // self.rows

    def _room(self, device: int) -> int:
        """Rows that fit in its memory; inputs at home count there as a whole."""
        cap = self.timer.caps[device]
        if cap is None:
            return self.rows
        timer = self.timer

        def within(rows: int) -> bool:
            size = self._out_bytes(rows) + self.task.scratch * rows // self.rows
            for edge in timer.incoming[self.phase]:
                if device != timer.home:
                    size += self._in_bytes(edge, rows)
                elif not self.task.inplace:
                    size += timer.problem.phases[timer.sources[edge]].out_bytes
            return size <= cap

        return most(self.rows, within)

    def _brought(self, device: int, rows: int) -> int:
        """When its inputs can be there, on channels of its own."""
        timer = self.timer
        start = self.ready
        free = 0
        for head, edge in sorted(zip(self.heads, timer.incoming[self.phase], strict=True)):
            delay = timer.delays[edge]
            if device == timer.home:
                start = max(start, head)
            elif delay is not None:
                start = max(start, head + delay + timer.syncs[device])
            else:
                path = timer.routes.path(timer.home, device)
                assert path is not None  # `_kind` asked
                busy = timer.problem.links[path[0].link].occupied(self._in_bytes(edge, rows))
                begin = head
                if busy and path[0].channel is not None:
                    begin = max(free, head)
                    free = begin + busy
                start = max(start, begin + busy + path[0].latency + timer.syncs[device])
        return start

    def _served(self, device: int, rows: int, earlier: int) -> int:
        """When its inputs can be there at the soonest, on a channel that brings the inputs of `earlier` rows before."""
        timer = self.timer
        if device == timer.home:
            return self._brought(device, rows)
        path = timer.routes.path(timer.home, device)
        assert path is not None
        link = timer.problem.links[path[0].link]
        rate = link.bytes_per_tick
        assert rate is not None
        size = sum(self._in_bytes(edge, self.rows) for edge in timer.incoming[self.phase])
        busy = -(-size * (earlier + rows) * rate.denominator // (self.rows * rate.numerator))
        return max(self.ready, max(self.heads) + busy + link.latency + timer.syncs[device])

    def _back(self, device: int, rows: int) -> int:
        """Ticks from the end of a shard until its part is at home."""
        timer = self.timer
        if device == timer.home or not self.returns:
            return 0
        if self.task.combine is not None and not timer.linked:
            return timer.syncs[timer.home]
        if self.task.combine is None:
            delays = [delay for edge in timer.outgoing[self.phase] if (delay := timer.delays[edge]) is not None]
            if delays:
                return max(delays) + timer.syncs[timer.home]
        path = timer.routes.path(device, timer.home)
        assert path is not None
        link = timer.problem.links[path[0].link]
        return link.occupied(self._out_bytes(rows)) + link.latency + timer.syncs[timer.home]

    def _done(self, device: int, rows: int, earlier: int | None = None) -> int:
        ticks = self.timer.ticks(self.phase, device, rows)
        assert ticks is not None
        return self._moved(device, rows, earlier) + ticks

    def _moved(self, device: int, rows: int, earlier: int | None) -> int:
        """What bringing so many rows and sending back what they make takes: never less for more rows."""
        brought = self._brought(device, rows) if earlier is None else self._served(device, rows, earlier)
        return brought + self._back(device, rows)

    def _capacity(self, index: int, time: int, earlier: int | None = None) -> int:
        """The most rows that are done by `time`, or (after many tries) a few more."""
        device = self.workers[index][0]
        table = self.task.ticks[self.timer.kinds[device]]
        waiting = [(1, self.room[index])]
        top = 0
        for _ in range(MOST_TRIES):
            if not waiting:
                return 0
            low, high = waiting.pop()
            left = time - self._moved(device, low, earlier) if low <= high else -1
            top = table.most(left, high) if left >= 0 else 0
            if top < low:
                continue
            if self._done(device, top, earlier) <= time:
                return top
            if low < top:
                middle = (low + top) // 2
                waiting += [(low, middle), (middle + 1, top)]
        return max([0, *(high for _, high in waiting)])

    # ------------------------------------------------------------------------------ all devices

    def _kind(self) -> str | None:
        """How the devices hang together: "free" if no two share a channel, "shared" if one channel, of one speed, serves
        all but home and nothing returns over it."""
        timer = self.timer
        remote = [index for index, members in enumerate(self.workers) if members != [timer.home]]
        moved = any(self._in_bytes(edge, self.rows) for edge in timer.incoming[self.phase] if timer.delays[edge] is None)
        back = timer.linked and self.returns and self._out_bytes(self.rows) > 0
        for index in remote:
            device = self.workers[index][0]
            needs_way = timer.linked and (any(timer.delays[edge] is None for edge in timer.incoming[self.phase]) or self.returns)
            if needs_way and (timer.routes.path(timer.home, device) is None or timer.routes.path(device, timer.home) is None):
                return None
        if not timer.linked or not (moved or back):
            return "free"
        ways = [
            {_channel(timer, timer.home, device, moved), _channel(timer, device, timer.home, back)} - {None}
            for index in remote
            for device in self.workers[index][:2]
        ]
        channels = [channel for way in ways for channel in way]
        if len(set(channels)) == len(channels):
            return "free"  # a device's own inputs are there before its output leaves
        speeds = {
            timer.problem.links[path[0].link].bytes_per_tick
            for index in remote
            if (path := timer.routes.path(timer.home, self.workers[index][0])) is not None
        }
        even = len(set(self.heads)) == 1 and not any(
            timer.problem.edges[edge].whole or timer.delays[edge] is not None for edge in timer.incoming[self.phase]
        )
        if len(set(channels)) == 1 and not back and len(speeds) == 1 and even:
            return "shared"
        return None


def _channel(timer: Timer, source: int, target: int, used: bool) -> object:
    path = timer.routes.path(source, target) if used else None
    return None if path is None else path[0].channel
