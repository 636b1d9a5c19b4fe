"""Costs without contention, as the list-scheduling papers count them: of a phase on a device, of an edge between two.

Devices of one group cost the same unless a link or a directive names an instance of it; then each device is its own class.
"""

from __future__ import annotations

from fractions import Fraction

from ..constraints import allowed_devices
from ..timeline.timing import Mode, Timer


class Costs:
    """`classes`: devices that cost the same; `members` of each, in order; `class_of` a device."""

    def __init__(self, timer: Timer) -> None:
        self.timer = timer
        self.allowed, self._different = self._allowed()
        self.members = self._classes()
        self.class_of = [0] * len(timer.kinds)
        for index, members in enumerate(self.members):
            for device in members:
                self.class_of[device] = index
        classes = {id(devices): sorted({self.class_of[d] for d in devices}) for devices in self._different}
        self.allowed_classes = [classes[id(devices)] for devices in self.allowed]
        self._links: dict[tuple[int, int, int], int | None] = {}
        self._means: dict[int, Fraction] = {}

    def _allowed(self) -> tuple[list[list[int]], list[list[int]]]:
        """By phase, the devices that may run it; and the different ones of these lists."""
        timer = self.timer
        limits = timer.limits
        known: dict[tuple[frozenset[str], frozenset[int] | None], list[int]] = {}
        result: list[list[int]] = []
        for p, task in enumerate(timer.problem.phases):
            chosen = limits.devices[p]
            if p in limits.fixed:
                fixed = frozenset(device for device, _ in limits.fixed[p])
                chosen = fixed if chosen is None else chosen & fixed
            key = (frozenset(task.ticks), chosen)
            if key not in known:
                known[key] = [d for d in allowed_devices(timer.problem, limits, p) if chosen is None or d in chosen]
            result.append(known[key])
        return result, list(known.values())

    def _classes(self) -> list[list[int]]:
        """Devices of a group that the same phases may use; apart, home if it matters and instances that a link names."""
        problem = self.timer.problem
        home = self.timer.home if problem.links or any(task.combine is not None for task in problem.phases) else -1
        ends = {end for link in problem.links for end in (link.source, link.target)} - {group.id for group in problem.devices}
        wanted = {d for devices in self.timer.limits.wanted.values() for d in devices}
        sets = [frozenset(devices) for devices in self._different]
        result: list[list[int]] = []
        first = 0
        for group in problem.devices:
            alike: dict[tuple[object, ...], list[int]] = {}
            for device, name in enumerate(group.names(), first):
                own = device if device == home or device in wanted or name in ends else -1
                alike.setdefault((own, self.timer.caps[device], *(device in devices for devices in sets)), []).append(device)
            first += group.count
            result += alike.values()
        return result

    def single(self, phase: int, device: int) -> Mode:
        """The mode of all of `phase` on one device (or the one that a directive fixes)."""
        fixed = self.timer.limits.fixed.get(phase)
        return fixed if fixed is not None else ((device, self.timer.problem.phases[phase].units),)

    def ticks(self, phase: int, device: int) -> int:
        """Ticks of all of `phase` there."""
        result = 0
        for place, rows in self.single(phase, device):
            result = max(result, self.timer.ticks(phase, place, rows) or 0)
        combine = self.timer.problem.phases[phase].combine
        return result + (combine.ticks_per_shard if combine is not None else 0)

    def transfer(self, edge: int, source: int, target: int) -> int | None:
        """Ticks from the end of the source phase on one device until the target phase can start on another."""
        if source == target:
            return 0
        key = (edge, self.class_of[source], self.class_of[target])
        if key not in self._links:
            self._links[key] = self._between(edge, source, target)
        return self._links[key]

    def carried(self, edge: int) -> int:
        """Bytes on a link of what all of the target phase needs of the source, by Note [Needs] of `problem`."""
        timer = self.timer
        low, high = timer.part(edge, 0, timer.problem.phases[timer.targets[edge]].units)
        return timer.part_bytes(timer.sources[edge], low, high, timer.problem.edges[edge].bytes)

    def _between(self, edge: int, source: int, target: int) -> int | None:
        timer = self.timer
        delay = timer.delays[edge]
        if delay is not None:
            return delay + timer.syncs[target]
        path = timer.routes.path(source, target)
        if path is None:
            return None
        size = self.carried(edge)
        return sum(timer.problem.links[hop.link].occupied(size) + hop.latency for hop in path) + timer.syncs[target]

    def mean_ticks(self, phase: int) -> Fraction:
        """Over the devices that may run it."""
        classes = self.allowed_classes[phase]
        devices = sum(len(self.members[c]) for c in classes)
        return Fraction(sum(self.ticks(phase, self.members[c][0]) * len(self.members[c]) for c in classes), max(1, devices))

    def mean_transfer(self, edge: int) -> Fraction:
        """Over the pairs of different devices."""
        if edge not in self._means:
            self._means[edge] = self._mean(edge)
        return self._means[edge]

    def _mean(self, edge: int) -> Fraction:
        delay = self.timer.delays[edge]
        if delay is not None:
            return Fraction(delay)
        total = pairs = 0
        for source in self.members:
            for target in self.members:
                count = len(source) * (len(target) - (source is target))
                if count:
                    ticks = self.transfer(edge, source[0], target[1] if source is target else target[0])
                    total += (ticks or 0) * count
                    pairs += count
        return Fraction(total, max(1, pairs))
