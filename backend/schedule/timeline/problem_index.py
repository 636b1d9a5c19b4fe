"""An index of a problem for decoding many schedules: its cost tables, routes and orders, looked up instead of searched."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from heapq import heapify, heappop, heappush
from typing import TypeAlias

from ....lang.support.records import dataclass
from ...devices.cost_functions import Duplex
from ..problem import Contention, DirectiveConstraints, Link, Mode, Problem, directive_constraints

# ---------------------------------------------------------------------------------------------------- memory

def ample_memory(problem: Problem) -> int:
    """Bytes that all buffers of any schedule on one device take together at most.

    Home relays what others send each other, and each chunk may bring what an earlier one brought."""
    devices = sum(group.count for group in problem.devices)
    copies = problem.chunks * (devices + 1)
    size = buffers = 0
    for task in problem.phases:
        scratch = task.scratch if task.distributed is None else max([task.scratch, *task.distributed.scratch])
        partials = 0 if task.combine is None else task.combine.bytes * min(task.units, problem.chunks * devices)
        size += (copies + 2) * task.out_bytes + scratch + 2 * partials
        buffers += copies * copies + 4 * copies
    for edge in problem.edges:
        size += copies * (problem.phases[edge.source].out_bytes if edge.bytes is None else edge.bytes)
        buffers += copies * copies
    return size + problem.memory_grain * buffers


# ---------------------------------------------------------------------------------------------------- topological order

def topological_order(before: Sequence[Collection[int]], rank: Sequence[int] | None = None) -> list[int] | None:
    """A topological order by Kahn's algorithm, layer by layer or always the free one of the lowest rank; None: there is a cycle.

    `before[p]`: the predecessors of p."""
    waiting = [len(earlier) for earlier in before]
    followers: list[list[int]] = [[] for _ in before]
    for p, earlier in enumerate(before):
        for q in earlier:
            followers[q].append(p)
    keys = range(len(before)) if rank is None else rank
    free = [(keys[p], p) for p, count in enumerate(waiting) if count == 0]
    heapify(free)
    result: list[int] = []
    while len(result) < len(free) if rank is None else free:
        _, p = free[len(result)] if rank is None else heappop(free)
        result.append(p)
        for q in followers[p]:
            waiting[q] -= 1
            if waiting[q] == 0:
                free.append((keys[q], q)) if rank is None else heappush(free, (keys[q], q))
    return result if len(result) == len(waiting) else None


# ---------------------------------------------------------------------------------------------------- routes
#
# Which link carries data from one device to another, and which channel that keeps busy.  See Note [Channels] of `problem`.
#
# Paths are computed for pairs of devices as they occur and cached: ten thousand devices have too many pairs to list.

Channel: TypeAlias = tuple[str, int, int, int]
"""The resource on which transfers exclude each other: (name of the group or link, an instance or -1, the other instance or -1,
direction or 0)."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One link from a device to another.  `channel` is None where nothing is exclusive."""

    source: int
    target: int
    link: int
    latency: int
    channel: Channel | None


class Routes:
    """Paths between devices: one hop, or two hops through home, or None."""

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
        """The hops from `source` to another device; None where there is no route."""
        key = (source, target)
        if key in self._memo:
            return self._memo[key]
        direct = self._direct(source, target)
        hops: tuple[Hop, ...] | None = None
        if direct is not None:
            hops = (direct,)
        elif self._home not in key:
            first, second = self._direct(source, self._home), self._direct(self._home, target)
            if first is not None and second is not None:
                hops = (first, second)
        self._memo[key] = hops
        return hops

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
        """The index of the link from one device to another; a link stated for this direction takes precedence."""
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
        """The device that all links of a full-duplex group have in common, if there is one."""
        if group not in self._centres:
            common: set[int] | None = None
            for link in self._problem.links if self._is_full(group) else ():
                if link.group == group:
                    ends = self._singles(link)
                    common = ends if common is None else common & ends
            self._centres[group] = min(common) if common else None
        return self._centres[group]

    def _singles(self, link: Link) -> set[int]:
        """The ends of a link that are single devices, not groups."""
        devices: set[int] = set()
        for end in (link.source, link.target):
            members = [device for device in range(len(self._names)) if self._ends(device, end)]
            if len(members) == 1:
                devices.update(members)
        return devices


# ---------------------------------------------------------------------------------------------------- problem index

class ProblemIndex:
    """Facts of a problem by phase, edge and device, precomputed for decoding.

    An *edge* is an index into `Problem.edges`; *units* of an output are rows, or bytes if it is atomic or gathered."""

    def __init__(self, problem: Problem, constraints: DirectiveConstraints | None = None) -> None:
        self.problem = problem
        self.constraints = directive_constraints(problem) if constraints is None else constraints
        self.routes = Routes(problem)
        self.home = int(problem.home)
        self.kinds = [group.kind for group in problem.devices for _ in range(group.count)]
        self.devices = len(self.kinds)
        self.syncs = [group.sync for group in problem.devices for _ in range(group.count)]
        ample = ample_memory(problem)
        self.memory_limits = [None if cap is None or cap >= ample else cap for cap in self.constraints.memory_limits]
        """By device, its bytes; None where all buffers of any schedule together take no more."""
        self.has_memory_limits = any(cap is not None for cap in self.memory_limits)
        self.has_links = bool(problem.links)
        count = len(problem.phases)
        self.incoming: list[list[int]] = [[] for _ in range(count)]
        self.outgoing: list[list[int]] = [[] for _ in range(count)]
        for index, edge in enumerate(problem.edges):
            self.incoming[edge.target].append(index)
            self.outgoing[edge.source].append(index)
        off = problem.contention is Contention.OFF
        self.sources = [int(edge.source) for edge in problem.edges]
        self.targets = [int(edge.target) for edge in problem.edges]
        self.delays: list[int | None] = [
            (edge.ticks or 0) if not self.has_links or (off and edge.ticks is not None) else None for edge in problem.edges
        ]
        """By edge: its own ticks, where those count, or None where links do."""
        self.edge_keys = [-1 if delay is None else delay for delay in self.delays]
        self.output_extent = [phase.rows if phase.rows and not phase.is_gathered else phase.out_bytes for phase in problem.phases]
        """By phase, how many units its output has: rows, or bytes where it is atomic or gathered."""
        self.undivided = [phase.rows == 0 or phase.is_gathered for phase in problem.phases]
        self.before: list[frozenset[int]] = [
            frozenset(int(problem.edges[e].source) for e in self.incoming[p])
            | frozenset(self.constraints.start_after[p])
            | frozenset(self.constraints.issue_after[p])
            for p in range(count)
        ]
        self.ordered = any(self.constraints.issue_after)
        """Directives constrain the order of queues, so gaps are not filled."""
        self.requires_copies = bool(self.constraints.required_copies or self.constraints.replicated)
        self.required_elsewhere = frozenset(self.constraints.replicated) | {
            phase
            for phase, devices in self.constraints.required_copies.items()
            if self.constraints.devices[phase] != frozenset(devices)
        }
        """Phases whose output directives may require on other devices than those that produce it; for others a required copy only
        extends the live range."""
        self.tails = [0] * count
        """By phase, a lower bound of the ticks that follow its end; bounds may raise it, so that decoding stops early."""
        self._ticks: dict[tuple[int, str, int], int | None] = {}
        self._min_ticks: dict[tuple[int, str, int], int] = {}
        self._max_rows: dict[tuple[int, str, int], int] = {}

    # ------------------------------------------------------------------------------ facts

    def ticks(self, phase: int, device: int, rows: int) -> int | None:
        """Ticks of a shard of `rows` rows on a device; None if its class cannot run the phase."""
        key = (phase, self.kinds[device], rows)
        if key not in self._ticks:
            table = self.problem.phases[phase].ticks.get(self.kinds[device])
            self._ticks[key] = None if table is None else table.at(rows)
        return self._ticks[key]

    def min_ticks(self, phase: int, device: int, rows: int) -> int:
        """A lower bound of the ticks of a shard of `rows` rows or more; 0 if the device's class cannot run the phase."""
        key = (phase, self.kinds[device], rows)
        if key not in self._min_ticks:
            task = self.problem.phases[phase]
            table = task.ticks.get(self.kinds[device])
            self._min_ticks[key] = 0 if table is None else table.min_ticks(rows, task.units)
        return self._min_ticks[key]

    def max_rows_within(self, phase: int, device: int, time: int) -> int:
        """An upper bound of the rows of a shard that takes at most `time` ticks; all rows if the class cannot run the phase."""
        key = (phase, self.kinds[device], time)
        if key not in self._max_rows:
            task = self.problem.phases[phase]
            table = task.ticks.get(self.kinds[device])
            self._max_rows[key] = task.rows if table is None else table.max_rows_within(time, task.rows)
        return self._max_rows[key]

    def rows_within(self, phase: int, device: int, time: int) -> int:
        """A row count whose shard takes at most `time` ticks (the largest if ticks never fall); 0 if the class cannot run it."""
        task = self.problem.phases[phase]
        table = task.ticks.get(self.kinds[device])
        return 0 if table is None else table.rows_within(time, task.rows)

    def grain(self, size: int) -> int:
        """The memory that a buffer of `size` bytes takes."""
        grain = self.problem.memory_grain
        return -(-size // grain) * grain

    def part(self, edge: int, first: int, stop: int) -> tuple[int, int]:
        """The units of the source's output that rows [first, stop) of the target read.  See Note [Needs] of `problem`."""
        described = self.problem.edges[edge]
        source, target = int(described.source), int(described.target)
        span, rows = self.output_extent[source], self.problem.phases[target].rows
        if described.whole or rows == 0:
            return described.only if described.only is not None and not self.undivided[source] else (0, span)
        low, high = first * span // rows, -(-stop * span // rows)
        if described.halo and not self.undivided[source]:
            return max(0, low - described.halo), min(span, high + described.halo)
        return low, high

    def part_bytes(self, phase: int, low: int, high: int, size: int | None) -> int:
        """Bytes on a link of units [low, high) of the output, of which the whole takes `size` (None: `out_bytes`)."""
        span, out = self.output_extent[phase], self.problem.phases[phase].out_bytes
        if size is None or size == out:
            return -(-out * high // span) - -(-out * low // span) if span else 0
        return -(-size * (high - low) // span) if span else size

    def shard_bytes(self, phase: int, first: int, stop: int) -> int:
        """Bytes that the shard [first, stop) produces: of the output, or its partial result."""
        task = self.problem.phases[phase]
        if task.combine is not None:
            return task.combine.bytes
        return -(-task.out_bytes * stop // task.units) - -(-task.out_bytes * first // task.units)

    def copy_devices(self, phase: int, modes: Sequence[Mode]) -> set[int]:
        """Devices on which directives require all of the output at the end."""
        devices = set(self.constraints.required_copies.get(phase, ()))
        if phase in self.constraints.replicated:
            devices |= {device for mode in modes for device, _ in mode}
        return devices

    def repair_order(self, priority: Sequence[int]) -> list[int] | None:
        """`priority` with violated precedences repaired (unchanged if there are none); None if no order satisfies them."""
        rank = [0] * len(priority)
        for position, p in enumerate(priority):
            rank[p] = position
        if all(rank[q] < rank[p] for p, earlier in enumerate(self.before) for q in earlier):
            return list(priority)
        return topological_order(self.before, rank)
