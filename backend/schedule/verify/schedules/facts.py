"""A problem as the verifier reads it: devices, links, bytes and ticks by arithmetic of its own (rationals, rounded up once).

Nothing of the planner is imported: an error there must not be made again here.  Units of an output are its rows, or its
bytes where it is atomic or combined.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

from ...answer import CombineStep, Schedule, Shard, Transfer
from ...problem import Contention, Duplex, Edge, Keep, LimitMemory, Link, Problem, Replicate, Ticks, Together


def up(number: int, size: int) -> int:
    """number ÷ size, rounded up."""
    return -(-number // size)


class Facts:
    """A problem and a schedule, indexed."""

    def __init__(self, problem: Problem, schedule: Schedule) -> None:
        self.problem = problem
        self.schedule = schedule
        self.names: list[str] = []
        self.group: list[int] = []
        self.instance: list[int] = []
        for place, group in enumerate(problem.devices):
            for instance, name in enumerate(group.names()):
                self.names.append(name)
                self.group.append(place)
                self.instance.append(instance)
        self.home = next(device for device, place in enumerate(self.group) if problem.devices[place].home)
        self.sync = [problem.devices[place].sync for place in self.group]
        self.kind = [problem.devices[place].kind for place in self.group]
        self.caps = self._caps()
        self.shards: dict[int, list[Shard]] = defaultdict(list)
        for shard in schedule.shards:
            self.shards[shard.phase].append(shard)
        self.combine: dict[int, CombineStep] = {step.phase: step for step in schedule.combines}
        self.on: dict[tuple[int, int], list[Shard]] = defaultdict(list)
        for shard in schedule.shards:
            self.on[shard.phase, shard.device].append(shard)
        self.incoming: dict[int, list[Edge]] = defaultdict(list)
        self.outgoing: dict[int, list[Edge]] = defaultdict(list)
        for edge in problem.edges:
            self.incoming[edge.target].append(edge)
            self.outgoing[edge.source].append(edge)
        self.used = {int(shard.device) for shard in schedule.shards}
        self._both_ways: dict[str, bool] = {}
        self._meeting: dict[str, frozenset[int]] = {}
        self.wanted = {
            d.phase for d in problem.directives if isinstance(d, Keep | Replicate)
            and not (isinstance(d, Keep) and problem.phases[d.phase].home and self.named(d.device) == {self.home})
        }  # fmt: skip

    def _caps(self) -> list[int | None]:
        caps = [self.problem.devices[place].memory for place in self.group]
        for directive in self.problem.directives:
            if isinstance(directive, LimitMemory):
                for device in self.named(directive.device):
                    before = caps[device]
                    caps[device] = directive.bytes if before is None else min(before, directive.bytes)
        return caps

    def named(self, name: str) -> set[int]:
        """The devices that `name` stands for: an instance, a group, a class (of which `class/group` is one kind)."""
        groups = self.problem.devices
        return {
            device for device, place in enumerate(self.group)
            if name in (self.names[device], groups[place].id, groups[place].kind, groups[place].kind.split("/", 1)[0])
        }  # fmt: skip

    def id(self, phase: int) -> str:
        return self.problem.phases[phase].id

    def name(self, step: object) -> str:
        """A shard, combine or transfer in words."""
        match step:
            case Shard():
                return f"`{self.id(step.phase)}` on {self.names[step.device]} (at {step.start})"
            case CombineStep():
                return f"the combine of `{self.id(step.phase)}` (at {step.start})"
            case Transfer():
                return f"`{self.id(step.phase)}` from {self.names[step.source]} to {self.names[step.target]} (at {step.start})"
            case _:
                return ""

    # ------------------------------------------------------------------ outputs

    def whole(self, phase: int) -> bool:
        """The output is one piece: made by one device, or put together at home."""
        task = self.problem.phases[phase]
        return task.rows == 0 or task.is_gathered

    def elsewhere(self, phase: int, device: int) -> bool:
        """The device takes part in a phase whose output is all at home."""
        together = self.problem.phases[phase].together
        return together is not None and together.gathers and device != self.home

    def units(self, phase: int) -> int:
        task = self.problem.phases[phase]
        return task.out_bytes if self.whole(phase) else task.rows

    def ended(self, phase: int) -> int:
        """The tick at which all of a phase is done."""
        ends = [shard.end for shard in self.shards[phase]]
        return self.combine[phase].end if phase in self.combine else max(ends, default=0)

    def needed(self, edge: Edge, shard: Shard) -> tuple[int, int]:
        """Units of the source that a shard of the target reads."""
        units, rows = self.units(edge.source), self.problem.phases[edge.target].rows
        if rows == 0 and edge.only is not None and not self.whole(edge.source):
            return edge.only
        if edge.whole or rows == 0:
            return 0, units
        around = 0 if self.whole(edge.source) else edge.halo
        return max(0, shard.first * units // rows - around), min(units, up(shard.stop * units, rows) + around)

    def size(self, phase: int, first: int, stop: int, whole: int | None) -> int:
        """Bytes of units [first, stop) of an output that is `whole` bytes (None: its `out_bytes`) on a link."""
        units, out = self.units(phase), self.problem.phases[phase].out_bytes
        if whole is None or whole == out:
            return up(out * stop, units) - up(out * first, units) if units else 0
        return up(whole * (stop - first), units) if units else whole

    def rounded(self, size: int) -> int:
        return up(size, self.problem.memory_grain) * self.problem.memory_grain

    def ticks(self, phase: int, device: int, rows: int) -> int | None:
        """Ticks of a shard by the table of the device's class; None if it cannot run there."""
        table = self.problem.phases[phase].ticks.get(self.kind[device])
        if table is None:
            return None
        if type(table) is not Ticks:  # asked of the cost model at each number of rows: no line to draw anew
            return table.at(rows)
        points = table.points
        if len(points) == 1:
            return up(points[0][1] * rows, points[0][0])
        if rows <= points[0][0]:
            return points[0][1]
        at = 1
        while at < len(points) - 1 and points[at][0] < rows:
            at += 1
        (low, first), (high, last) = points[at - 1], points[at]
        return first + up((last - first) * (rows - low), high - low)

    # ------------------------------------------------------------------ links

    def delayed(self, edge: Edge) -> bool:
        """The edge takes its own ticks and no link."""
        return not self.problem.links or (self.problem.contention is Contention.OFF and edge.ticks is not None)

    def at(self, device: int, end: str) -> bool:
        return end in (self.names[device], self.problem.devices[self.group[device]].id)

    def joins(self, link: Link, source: int, target: int) -> bool:
        forwards = self.at(source, link.source) and self.at(target, link.target)
        backwards = self.at(source, link.target) and self.at(target, link.source)
        return source != target and (forwards or (backwards and link.duplex is not Duplex.SIMPLEX))

    def channel(self, transfer: Transfer) -> tuple[object, ...] | None:
        """What the transfer keeps others from using; None if nothing."""
        links = self.problem.links
        if transfer.link is None or not 0 <= transfer.link < len(links) or self.problem.contention is Contention.OFF:
            return None
        link = links[transfer.link]
        source, target = int(transfer.source), int(transfer.target)
        if link.group is None:
            return (transfer.link, min(source, target), max(source, target), source < target and link.duplex is Duplex.FULL)
        several = [device for device in (source, target) if self.problem.devices[self.group[device]].count > 1]
        if link.group.endswith("[i]") and several:
            return (link.group, self.instance[several[0]], self.both_ways(link.group) and several[0] == source)
        meeting = self.meeting(link.group) if self.both_ways(link.group) else frozenset()
        return (link.group, bool(meeting) and source == min(meeting))

    def both_ways(self, group: str) -> bool:
        """Every link of a group carries one transfer in each direction."""
        if group not in self._both_ways:
            self._both_ways[group] = {link.duplex for link in self.problem.links if link.group == group} == {Duplex.FULL}
        return self._both_ways[group]

    def meeting(self, group: str) -> frozenset[int]:
        """The devices that are an end of every link of a group."""
        if group not in self._meeting:
            every = set(range(len(self.names)))
            for link in self.problem.links:
                if link.group == group:
                    ends = [[d for d in range(len(self.names)) if self.at(d, end)] for end in (link.source, link.target)]
                    every &= {device for members in ends if len(members) == 1 for device in members}
            self._meeting[group] = frozenset(every)
        return self._meeting[group]

    def held(self, shard: Shard, together: Together) -> dict[Hashable, int]:
        """The channels that a phase which devices run together keeps to itself, each with the tick from which it does."""
        channels: dict[Hashable, int] = {}
        for link, source, target in together.channels:
            channel = self.channel(Transfer(shard.phase, source, target, 0, 0, 0, link, shard.start, shard.end, shard.end))
            if channel is not None:
                channels[channel] = shard.start - self.problem.settling(link)
        return channels
