"""Which link carries data from one device to another, and which channel that keeps busy.  See Note [Channels] of `problem`.

Asked for pairs of devices as they occur (ten thousand devices have too many pairs to list); answers are remembered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ..problem import Contention, Duplex, Link, Problem

Channel: TypeAlias = tuple[str, int, int, int]
"""What is exclusive: (name of the group or link, one instance or -1, the other or -1, direction or 0)."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One link from a device to another.  `channel` is None where nothing is exclusive."""

    source: int
    target: int
    link: int
    latency: int
    channel: Channel | None


class Routes:
    """Paths between devices: one hop, or two through home, or None."""

    __slots__ = ("_by_group", "_centres", "_group", "_home", "_instance", "_links", "_memo", "_names", "_problem")

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._home = int(problem.home)
        self._group: list[int] = []
        self._instance: list[int] = []
        for index, group in enumerate(problem.devices):
            self._group += [index] * group.count
            self._instance += range(group.count)
        self._names = problem.device_names()
        self._memo: dict[tuple[int, int], tuple[Hop, ...] | None] = {}
        groups = {group.id for group in problem.devices}
        self._by_group = all(end in groups for link in problem.links for end in (link.source, link.target))
        self._links: dict[tuple[int, int], int | None] = {}
        self._centres: dict[str, int | None] = {}

    def path(self, source: int, target: int) -> tuple[Hop, ...] | None:
        """The hops from `source` to another device; None where there is no way."""
        key = (source, target)
        if key in self._memo:
            return self._memo[key]
        direct = self._direct(source, target)
        found: tuple[Hop, ...] | None = None
        if direct is not None:
            found = (direct,)
        elif self._home not in key:
            first, second = self._direct(source, self._home), self._direct(self._home, target)
            if first is not None and second is not None:
                found = (first, second)
        self._memo[key] = found
        return found

    def _ends(self, device: int, end: str) -> bool:
        return end == self._names[device] or end == self._problem.devices[self._group[device]].id

    def _direct(self, source: int, target: int) -> Hop | None:
        key = (self._group[source], self._group[target]) if self._by_group else (source, target)
        if key not in self._links:
            self._links[key] = self._find(source, target)
        index = self._links[key]
        if index is None:
            return None
        link = self._problem.links[index]
        return Hop(source, target, index, link.latency, self._channel(index, link, source, target))

    def _find(self, source: int, target: int) -> int | None:
        """The link from one device to another; one that is stated for this direction goes before."""
        for index, link in enumerate(self._problem.links):
            if self._ends(source, link.source) and self._ends(target, link.target):
                return index
        for index, link in enumerate(self._problem.links):
            if link.duplex is not Duplex.SIMPLEX and self._ends(source, link.target) and self._ends(target, link.source):
                return index
        return None

    def _channel(self, index: int, link: Link, source: int, target: int) -> Channel | None:
        if self._problem.contention is Contention.OFF or link.bytes_per_tick is None:
            return None
        if link.group is None:
            direction = 0 if link.duplex is not Duplex.FULL else 1 if source < target else 2
            return (f"link {index}", min(source, target), max(source, target), direction)
        counted = [device for device in (source, target) if self._problem.devices[self._group[device]].count > 1]
        if link.group.endswith("[i]") and counted:
            direction = 0 if not self._is_full(link.group) else 1 if target == counted[0] else 2
            return (link.group, self._instance[counted[0]], -1, direction)
        centre = self._centre(link.group)
        return (link.group, -1, -1, 0 if centre is None else 1 if source == centre else 2)

    def _is_full(self, group: str) -> bool:
        return all(link.duplex is Duplex.FULL for link in self._problem.links if link.group == group)

    def _centre(self, group: str) -> int | None:
        """The device at which all links of a group meet, if all of them carry both ways at once."""
        if group not in self._centres:
            common: set[int] | None = None
            for link in self._problem.links if self._is_full(group) else ():
                if link.group == group:
                    ends = self._singles(link)
                    common = ends if common is None else common & ends
            self._centres[group] = min(common) if common else None
        return self._centres[group]

    def _singles(self, link: Link) -> set[int]:
        """The ends of a link that are one device."""
        found: set[int] = set()
        for end in (link.source, link.target):
            members = [device for device in range(len(self._names)) if self._ends(device, end)]
            if len(members) == 1:
                found.update(members)
        return found
