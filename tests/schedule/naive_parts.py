"""What a schedule has where and when, by sets of units: what the rules of `naive` speak of."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from rho.backend.devices.cost_functions import Duplex
from rho.backend.schedule.problem import Contention, Edge, Problem, Schedule, Shard, Transfer


class Parts:
    def __init__(self, problem: Problem, schedule: Schedule) -> None:
        self.problem, self.schedule = problem, schedule
        self.names = problem.device_names()
        self.groups = [group for group in problem.devices for _ in range(group.count)]
        self.home = next(d for d, group in enumerate(self.groups) if group.home)
        self.last = schedule.makespan + 1

    # ------------------------------------------------------------------ units

    def shards(self, phase: int, device: int | None = None) -> list[Shard]:
        return [s for s in self.schedule.shards if s.phase == phase and device in (None, s.device)]

    def combine_end(self, phase: int) -> int | None:
        return next((c.end for c in self.schedule.combines if c.phase == phase), None)

    def whole(self, phase: int) -> bool:
        task = self.problem.phases[phase]
        return task.rows == 0 or task.combine is not None or bool(task.distributed and task.distributed.gathers)

    def units(self, phase: int) -> int:
        return self.problem.phases[phase].out_bytes if self.whole(phase) else self.problem.phases[phase].rows

    def needs(self, edge: Edge, shard: Shard) -> set[int]:
        """Note [Needs]: the units that overlap the same part of the source."""
        task, units = self.problem.phases[edge.target], self.units(edge.source)
        if task.rows == 0 and edge.only is not None and not self.whole(edge.source):
            return set(range(*edge.only))
        if task.rows == 0 or edge.whole:
            return set(range(units))
        low, high = Fraction(shard.first, task.rows) * units, Fraction(shard.stop, task.rows) * units
        halo = 0 if self.whole(edge.source) else edge.halo
        return {u for u in range(units) if floor(low) - halo <= u < ceil(high) + halo}

    def bytes(self, phase: int, units: tuple[int, int], edge: Edge | None) -> int:
        """Of a part of an output on a link."""
        out, count = self.problem.phases[phase].out_bytes, self.units(phase)
        whole = out if edge is None or edge.bytes is None else edge.bytes
        if whole == out:
            return ceil(Fraction(out * units[1], count)) - ceil(Fraction(out * units[0], count)) if count else 0
        return ceil(Fraction(whole * (units[1] - units[0]), count)) if count else whole

    def delayed(self, edge: Edge) -> bool:
        return not self.problem.links or (self.problem.contention is Contention.OFF and edge.ticks is not None)

    def serves(self, moved: Transfer, edge: Edge) -> bool:
        """An edge that takes ticks of its own is not served by a link, nor another edge by anything else."""
        if not self.delayed(edge):
            return moved.link is not None
        return moved.link is None and moved.arrive == moved.start + (edge.ticks or 0)

    def devices_called(self, name: str) -> set[int]:
        return {
            d for d, group in enumerate(self.groups)
            if name in {self.names[d], group.id, group.kind, group.kind.partition("/")[0]}
        }  # fmt: skip

    def made(self, phase: int, device: int) -> list[tuple[set[int], int]]:
        """What a device makes of an output, and when."""
        everything = set(range(self.units(phase)))
        end = self.combine_end(phase)
        if end is not None:
            return [(everything, end)] if device == self.home else []
        if self.whole(phase):
            gathered = self.problem.phases[phase].distributed is not None and self.problem.phases[phase].rows > 0
            return [] if gathered and device != self.home else [(everything, s.end) for s in self.shards(phase, device)]
        return [(set(range(s.first, s.stop)), s.end) for s in self.shards(phase, device)]

    def sent(self, phase: int) -> list[Transfer]:
        return [t for t in self.schedule.transfers if t.phase == phase and not t.partial]

    def partials(self, phase: int) -> list[Transfer]:
        return [t for t in self.schedule.transfers if t.phase == phase and t.partial]

    def holds(self, phase: int, device: int) -> bool:
        parts = [units for units, _ in self.made(phase, device)]
        parts += [set(range(t.first, t.stop)) for t in self.sent(phase) if t.target == device]
        return bool(parts) and set().union(*parts) >= set(range(self.units(phase)))

    # ------------------------------------------------------------------ channels

    def direction(self, link: int, source: int, target: int) -> bool | None:
        """Is a link used from its source to its target?  None: it does not join the two."""
        if not 0 <= link < len(self.problem.links) or source == target:
            return None
        ends = [{self.names[d], self.groups[d].id} for d in (source, target)]
        one = self.problem.links[link]
        if one.source in ends[0] and one.target in ends[1]:
            return True
        return False if one.duplex is not Duplex.SIMPLEX and one.source in ends[1] and one.target in ends[0] else None

    def on_its_way(self, link: int) -> int:
        """The longest that anything which a link's channel was busy with takes to arrive."""
        group = self.problem.links[link].group
        return max(one.latency for at, one in enumerate(self.problem.links) if at == link or (group and one.group == group))

    def channel(self, link: int | None, source: int, target: int) -> object:
        """What nobody else may use at the same time."""
        if link is None or self.problem.contention is Contention.OFF:
            return None
        forwards = self.direction(link, source, target)
        if forwards is None:
            return None
        one = self.problem.links[link]
        if one.group is None:
            return link, frozenset((source, target)), source if one.duplex is Duplex.FULL else "both ways"
        members = [other for other in self.problem.links if other.group == one.group]
        full = all(other.duplex is Duplex.FULL for other in members)
        counted = [device for device in (source, target) if self.groups[device].count > 1]
        if one.group.endswith("[i]") and counted:
            return one.group, self.names[counted[0]].partition("[")[2], full and counted[0] == source
        common = set(range(len(self.names)))
        for other in members:
            ends = [self.devices_at(end) for end in (other.source, other.target)]
            common &= set().union(*(devices for devices in ends if len(devices) == 1))
        return one.group, full and bool(common) and source == min(common)

    def devices_at(self, end: str) -> set[int]:
        return {d for d, name in enumerate(self.names) if end in (name, self.groups[d].id)}
