"""List scheduling of phases that may be cut, on classes of many equal devices.

Phases go in the order of what must follow them at the least, all at once (`cut_list`) or along the clock (`rolling`).  Each takes
the mode that ends first by an estimate without contention: one device (also that of an operand), the cut of an operand (nothing
moves), or k devices of a class or of the faster classes together, k = 2, 4, 8…, or all that are free before it could end.
`price` is added for every shard, so that runs with several prices trade width against transfers; `timing` then tells which was
best.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Final

from ...constraints import shares
from ...problem import Ticks
from ...timeline.timing import Decisions, Mode, Queueing
from ..bounds import Bounds
from ..costs import Costs
from ..filling import fill, least

WIDEST: Final = 256


def cut_list(costs: Costs, bounds: Bounds, price: int, widest: int = WIDEST) -> Decisions | None:
    """Decisions for a price of a shard; None where some phase finds no device."""
    urgency = [bounds.shortest[p] + min(bounds.tails[p].values()) for p in range(len(bounds.order))]
    order = costs.timer.legal(sorted(bounds.order, key=lambda p: (-urgency[p], p)))
    if order is None:
        return None
    state = _State(costs, price, widest)
    for p in order:
        if not state.place(p):
            return None
    return Decisions(tuple(state.modes), tuple(order), Queueing.INSERT)


def rolling(
    costs: Costs, bounds: Bounds, urgency: Sequence[float], price: int, widest: int, patience: int
) -> tuple[int, Decisions] | None:
    """The same along the clock: of the phases whose operands are there when the first device is free, or `patience` ticks
    later, the most urgent goes first.  With the estimated end; None where some phase finds no device."""
    timer = costs.timer
    state = _State(costs, price, widest)
    waiting = [len(earlier) for earlier in timer.before]
    followers: list[list[int]] = [[] for _ in waiting]
    for p, earlier in enumerate(timer.before):
        for q in earlier:
            followers[q].append(p)
    since = {p: 0 for p, count in enumerate(waiting) if not count}
    order: list[int] = []
    devices = [d for members in costs.members for d in members]
    while since:
        now = max(min(state.free.get(d, 0) for d in devices), min(since.values())) + patience
        chosen = max((p for p, tick in since.items() if tick <= now), key=lambda p: (urgency[p], -p))
        del since[chosen]
        if not state.place(chosen):
            return None
        order.append(chosen)
        for q in followers[chosen]:
            waiting[q] -= 1
            if not waiting[q]:
                since[q] = max(state.end[p] for p in timer.before[q])
    return max(state.end, default=0), Decisions(tuple(state.modes), tuple(order), Queueing.INSERT)


def urgencies(bounds: Bounds) -> list[list[float]]:
    """By phase, what must follow its start at the least: cut as well as can be, and half way from that to not cut at all."""
    timer, result = bounds.timer, []
    whole = [min(bounds.ticks_on(p, c) for c in bounds.costs.allowed_classes[p]) for p in range(len(bounds.order))]
    for own in (bounds.shortest, [(one + other) / 2 for one, other in zip(bounds.shortest, whole, strict=True)]):
        ranks = [0.0] * len(own)
        for p in reversed(bounds.order):
            ranks[p] = own[p] + max((ranks[timer.targets[edge]] for edge in timer.outgoing[p]), default=0.0)
        result.append(ranks)
    return result


class _State:
    """What has been placed, and when each device is free."""

    def __init__(self, costs: Costs, price: int, widest: int) -> None:
        self.costs = costs
        self.timer = costs.timer
        self.price = price
        self.widest = widest
        self.modes: list[Mode] = [()] * len(costs.allowed)
        self.end = [0] * len(costs.allowed)
        self.free: dict[int, int] = {}
        self.heaps: list[list[tuple[int, int]]] = [[(0, d) for d in members] for members in costs.members]
        for heap in self.heaps:
            heapify(heap)
        self.speed: dict[int, list[int]] = {}

    def earliest(self, kind: int, count: int) -> list[tuple[int, int]]:
        """(tick, device) of the `count` devices of a class that are free first."""
        heap = self.heaps[kind]
        found: list[tuple[int, int]] = []
        while heap and len(found) < count:
            tick, device = heappop(heap)
            now = self.free.get(device, 0)
            if now != tick:
                heappush(heap, (now, device))
                continue
            found.append((tick, device))
        for entry in found:
            heappush(heap, entry)
        return found

    def place(self, phase: int) -> bool:
        timer = self.timer
        best: tuple[int, int, Mode] | None = None
        for mode in self.options(phase):
            end = self.estimate(phase, mode)
            value = end + self.price * (len(mode) - 1)
            if best is None or value < best[0]:
                best = (value, end, mode)
        if best is None:
            return False
        _, end, mode = best
        self.modes[phase], self.end[phase] = mode, end
        combine = timer.problem.phases[phase].combine
        if combine is not None:
            self.end[phase] = end + combine.ticks_per_shard * len(mode)
        for device, _ in mode:
            self.free[device] = max(end, self.free.get(device, 0))
        return True

    def options(self, phase: int) -> list[Mode]:
        costs, timer = self.costs, self.timer
        task = timer.problem.phases[phase]
        if phase in timer.limits.fixed:
            return [timer.limits.fixed[phase]]
        classes = costs.allowed_classes[phase]
        allowed = set(classes)
        result: list[Mode] = []
        for edge in timer.incoming[phase]:
            before = self.modes[timer.sources[edge]]
            if all(costs.class_of[d] in allowed for d, _ in before):
                if len(before) == 1:
                    result.append(((before[0][0], task.units),))
                elif task.rows and phase not in timer.limits.unsplit and sum(rows for _, rows in before) == task.rows:
                    result.append(before)
        whole = not task.rows or phase in timer.limits.unsplit
        limit = 1 if whole else min(self.widest, task.rows, timer.limits.machines or task.rows)
        first = {c: self.earliest(c, limit) for c in classes}
        result += [((device, task.units),) for c in classes for _, device in first[c][:1]]
        if whole:
            return result
        by_speed = sorted(classes, key=lambda c: (timer.ticks(phase, costs.members[c][0], task.rows) or 0, c))
        fastest = by_speed[:3]
        for c in fastest:
            width = 2
            while width < 2 * limit and width < 2 * len(costs.members[c]):
                result.append(_evenly([d for _, d in first[c][: min(width, limit)]], task.rows))
                width *= 2
        if len(by_speed) > 1:
            result += self.mixed(phase, [d for c in by_speed for _, d in first[c]][:limit])
        result += self.filled(phase, [(tick, d) for c in classes for tick, d in first[c]], limit)
        return [mode for mode in result if mode]

    def mixed(self, phase: int, devices: list[int]) -> list[Mode]:
        """Over the faster classes together, rows by speed."""
        timer = self.timer
        rows = timer.problem.phases[phase].rows
        ticks = [max(1, timer.ticks(phase, d, rows) or 1) for d in devices]
        slowest = max(ticks)
        given = shares(rows, [max(1, 1000 * slowest // t) for t in ticks]) if len(devices) > 1 else []
        return [tuple((d, n) for d, n in zip(devices, given, strict=True) if n)] if given else []

    def filled(self, phase: int, free: list[tuple[int, int]], limit: int) -> list[Mode]:
        """Over all devices that are free before the phase could end, each with what it can do until then.

        `free`: (tick, device)."""
        timer = self.timer
        task = timer.problem.phases[phase]
        start = self.floor(phase)
        for edge in timer.incoming[phase]:
            before = self.modes[timer.sources[edge]]
            start = max(start, self.end[timer.sources[edge]] + self.travel(edge, before, ((-1, task.rows),)))
        begins = [(max(start, tick), d, task.ticks[timer.kinds[d]]) for tick, d in free]
        begins.sort(key=lambda b: b[:2])
        begins = begins[:limit]
        if len(begins) < 2:
            return []

        def reach(time: int) -> int:
            return sum(within(table, time - begin, task.rows) for begin, _, table in begins)

        high = min(begin + table.at(task.rows) for begin, _, table in begins)
        time = least(begins[0][0], high, lambda t: reach(t) >= task.rows)
        given = fill([within(table, time - begin, task.rows) for begin, _, table in begins], task.rows)
        return [tuple(sorted((d, n) for (_, d, _), n in zip(begins, given, strict=True) if n))]

    def floor(self, phase: int) -> int:
        """The tick before which directives let no shard of the phase start."""
        timer = self.timer
        return max([timer.problem.phases[phase].ready, *(self.end[q] for q in timer.limits.after[phase])])

    def estimate(self, phase: int, mode: Mode) -> int:
        """When the phase would end, transfers in parallel."""
        timer = self.timer
        start = self.floor(phase)
        for edge in timer.incoming[phase]:
            source = timer.sources[edge]
            start = max(start, self.end[source] + self.travel(edge, self.modes[source], mode))
        return max(max(start, self.free.get(device, 0)) + (timer.ticks(phase, device, rows) or 0) for device, rows in mode)

    def travel(self, edge: int, before: Mode, mode: Mode) -> int:
        """Ticks from the makers of an operand to a mode: of the largest part, as if it came from one device."""
        timer = self.timer
        source = timer.sources[edge]
        if timer.problem.phases[source].combine is not None:
            makers = [timer.home]
        else:
            if before == mode and not timer.problem.edges[edge].whole:
                return 0
            makers = [device for device, _ in before]
        targets = [device for device, _ in mode]
        if makers == targets and len(makers) == 1:
            return 0
        near, far = makers[0], next((d for d in targets if d != makers[0]), targets[0])
        if far < 0:
            far = next((d for members in self.costs.members for d in members[:2] if d != near), near)
        delay = timer.delays[edge]
        if delay is not None:
            return delay
        path = timer.routes.path(near, far) if near != far else ()
        if path is None:
            return 1 << 50
        size = timer.part_bytes(source, 0, timer.spans[source], timer.problem.edges[edge].bytes)
        return sum(timer.problem.links[hop.link].occupied(size) + hop.latency for hop in path) + timer.syncs[far]


def _evenly(devices: list[int], rows: int) -> Mode:
    used = sorted(devices)[:rows]
    return tuple(zip(used, shares(rows, [1] * len(used)), strict=True)) if used else ()


def within(table: Ticks, time: int, rows: int) -> int:
    """The most rows of a table that take at most `time` ticks."""
    if time < 0:
        return 0
    if len(table.points) == 1:
        size, ticks = table.points[0]
        return rows if not ticks else min(rows, time * size // ticks)
    return table.about(time, rows)
