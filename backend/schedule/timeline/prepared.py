"""A problem prepared for many layouts: its tables, routes and orders, looked up instead of searched."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence

from ..answer import Mode
from ..constraints import Restrictions, restrictions
from ..problem import Contention, Problem
from .routes import Routes


class Prepared:
    """What every layout of a problem asks."""

    def __init__(self, problem: Problem, limits: Restrictions | None = None) -> None:
        self.problem = problem
        self.limits = restrictions(problem) if limits is None else limits
        self.routes = Routes(problem)
        self.home = int(problem.home)
        self.kinds = [group.kind for group in problem.devices for _ in range(group.count)]
        self.devices = len(self.kinds)
        self.syncs = [group.sync for group in problem.devices for _ in range(group.count)]
        self.caps = self.limits.caps
        self.capped = any(cap is not None for cap in self.caps)
        self.linked = bool(problem.links)
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
            (edge.ticks or 0) if not self.linked or (off and edge.ticks is not None) else None for edge in problem.edges
        ]
        """By edge: its own ticks, where those count, or None where links do."""
        self.keys = [-1 if delay is None else delay for delay in self.delays]
        self.spans = [phase.rows if phase.rows and not phase.is_gathered else phase.out_bytes for phase in problem.phases]
        """Units in which parts of an output are counted: rows, or bytes where it is atomic or combined."""
        self.single = [phase.rows == 0 or phase.is_gathered for phase in problem.phases]
        self.before: list[frozenset[int]] = [
            frozenset(int(problem.edges[e].source) for e in self.incoming[p])
            | frozenset(self.limits.after[p])
            | frozenset(self.limits.issued[p])
            for p in range(count)
        ]
        self.ordered = any(self.limits.issued) or bool(self.limits.glued)
        """Directives speak of the order of queues, so gaps are not filled."""
        self.wants_copies = bool(self.limits.wanted or self.limits.replicated)
        self.brought = frozenset(self.limits.replicated) | {
            phase for phase, devices in self.limits.wanted.items() if self.limits.devices[phase] != frozenset(devices)
        }
        """Phases whose outputs directives may want elsewhere than where they are made; of others they say how long they stay."""
        self.tails = [0] * count
        """Ticks that certainly follow the end of a phase; whoever knows bounds may raise them, to stop layouts early."""
        self._ticks: dict[tuple[int, str, int], int | None] = {}
        self._least: dict[tuple[int, str, int], int] = {}
        self._most: dict[tuple[int, str, int], int] = {}

    # ------------------------------------------------------------------------------ facts

    def ticks(self, phase: int, device: int, rows: int) -> int | None:
        """Ticks of that many rows on that device; None if its class cannot run the phase."""
        key = (phase, self.kinds[device], rows)
        if key not in self._ticks:
            table = self.problem.phases[phase].ticks.get(self.kinds[device])
            self._ticks[key] = None if table is None else table.at(rows)
        return self._ticks[key]

    def least(self, phase: int, device: int, rows: int) -> int:
        """No shard of `rows` rows or more takes less there; 0 if its class cannot run the phase."""
        key = (phase, self.kinds[device], rows)
        if key not in self._least:
            task = self.problem.phases[phase]
            table = task.ticks.get(self.kinds[device])
            self._least[key] = 0 if table is None else table.least(rows, task.units)
        return self._least[key]

    def most(self, phase: int, device: int, time: int) -> int:
        """No shard of more rows takes at most `time` there; all of them if its class cannot run the phase."""
        key = (phase, self.kinds[device], time)
        if key not in self._most:
            task = self.problem.phases[phase]
            table = task.ticks.get(self.kinds[device])
            self._most[key] = task.rows if table is None else table.most(time, task.rows)
        return self._most[key]

    def about(self, phase: int, device: int, time: int) -> int:
        """As many rows as take at most `time` there; none if its class cannot run the phase."""
        task = self.problem.phases[phase]
        table = task.ticks.get(self.kinds[device])
        return 0 if table is None else table.about(time, task.rows)

    def grain(self, size: int) -> int:
        """The memory that a buffer of `size` bytes takes."""
        grain = self.problem.memory_grain
        return -(-size // grain) * grain

    def part(self, edge: int, first: int, stop: int) -> tuple[int, int]:
        """What rows [first, stop) of the target need of the source's output, in its units.  See Note [Needs]."""
        described = self.problem.edges[edge]
        source, target = int(described.source), int(described.target)
        span, rows = self.spans[source], self.problem.phases[target].rows
        if described.whole or rows == 0:
            return described.only if described.only is not None and not self.single[source] else (0, span)
        low, high = first * span // rows, -(-stop * span // rows)
        if described.halo and not self.single[source]:
            return max(0, low - described.halo), min(span, high + described.halo)
        return low, high

    def part_bytes(self, phase: int, low: int, high: int, size: int | None) -> int:
        """Bytes on a link of units [low, high) of the output, of which the whole takes `size` (None: `out_bytes`)."""
        span, out = self.spans[phase], self.problem.phases[phase].out_bytes
        if size is None or size == out:
            return -(-out * high // span) - -(-out * low // span) if span else 0
        return -(-size * (high - low) // span) if span else size

    def made_bytes(self, phase: int, first: int, stop: int) -> int:
        """Bytes that the shard [first, stop) makes: of the output, or its partial."""
        task = self.problem.phases[phase]
        if task.combine is not None:
            return task.combine.bytes
        return -(-task.out_bytes * stop // task.units) - -(-task.out_bytes * first // task.units)

    def copies(self, phase: int, modes: Sequence[Mode]) -> set[int]:
        """Devices on which directives want the output at the end."""
        found = set(self.limits.wanted.get(phase, ()))
        if phase in self.limits.replicated:
            found |= {device for mode in modes for device, _ in mode}
        return found

    def legal(self, priority: Sequence[int]) -> list[int] | None:
        """`priority` made legal: phases after what they read and wait for, glued ones side by side, else as given."""
        rank = [0] * len(priority)
        ordered = True
        for position, p in enumerate(priority):
            rank[p] = position
        glued = self.limits.glued
        for p, earlier in enumerate(self.before):
            for q in earlier:
                if rank[q] >= rank[p]:
                    ordered = False
        if ordered and all(rank[b] == rank[a] + 1 for a, b in glued.items()):
            return list(priority)
        return self._chains(rank)

    def _chains(self, rank: list[int]) -> list[int] | None:
        """Kahn's order by `rank`, over chains of glued phases."""
        glued, inner = self.limits.glued, set(self.limits.glued.values())
        chain_of: dict[int, int] = {}
        members: dict[int, list[int]] = {}
        for p in range(len(rank)):
            if p in inner:
                continue
            chain = [p]
            while chain[-1] in glued:
                chain.append(glued[chain[-1]])
            members[p] = chain
            for q in chain:
                chain_of[q] = p
        if len(chain_of) != len(rank) or sum(map(len, members.values())) != len(rank):
            return None
        waiting: dict[int, set[int]] = {
            head: {chain_of[q] for p in chain for q in self.before[p]} - {head} for head, chain in members.items()
        }
        followers: dict[int, list[int]] = {head: [] for head in members}
        for head, earlier in waiting.items():
            for other in earlier:
                followers[other].append(head)
        for chain in members.values():
            position = {p: i for i, p in enumerate(chain)}
            if any(position.get(q, -1) >= position[p] for p in chain for q in self.before[p]):
                return None
        ready = sorted((rank[head], head) for head, earlier in waiting.items() if not earlier)
        result: list[int] = []
        while ready:
            _, head = ready.pop(0)
            result += members[head]
            for other in followers[head]:
                waiting[other].discard(head)
                if not waiting[other]:
                    insort(ready, (rank[other], other))
        return result if len(result) == len(rank) else None
