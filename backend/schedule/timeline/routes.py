"""Which link carries data from one device to another, and which channel that keeps busy.

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

    __slots__ = ("_by_group", "_group", "_home", "_instance", "_links", "_memo", "_names", "_problem")

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
        self._links: dict[tuple[int, int], tuple[int, bool] | None] = {}

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
        found = self._links[key]
        if found is None:
            return None
        index, forwards = found
        link = self._problem.links[index]
        near, far = (source, target) if forwards else (target, source)
        return Hop(source, target, index, link.latency, self._channel(index, link, near, far, forwards=forwards))

    def _find(self, source: int, target: int) -> tuple[int, bool] | None:
        """The link, and whether the way is from its source to its target."""
        for index, link in enumerate(self._problem.links):
            if self._ends(source, link.source) and self._ends(target, link.target):
                return index, True
        for index, link in enumerate(self._problem.links):
            if link.duplex is not Duplex.SIMPLEX and self._ends(source, link.target) and self._ends(target, link.source):
                return index, False
        return None

    def _channel(self, index: int, link: Link, near: int, far: int, *, forwards: bool) -> Channel | None:
        """`near` is at the link's source; of one group's two instances the direction is by their numbers."""
        if self._problem.contention is Contention.OFF or link.bytes_per_tick is None:
            return None
        if link.source == link.target:
            forwards = (near < far) == forwards
        direction = 0 if link.duplex is not Duplex.FULL else 1 if forwards else 2
        if link.group is None:
            return (f"link {index}", min(near, far), max(near, far), direction)
        if link.group.endswith("[i]"):
            counted = near if self._problem.devices[self._group[near]].count > 1 else far
            return (link.group, self._instance[counted], -1, direction)
        return (link.group, -1, -1, direction)
