"""What the candidate modes of a problem's phases amount to: shards with ticks, makers of outputs, what consumers need of them.

All arithmetic is `timing.Timer`'s, so that the exact search and the heuristics mean the same thing by a mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .....lang.properties import cached_property
from ...problem import Problem
from ...timeline.expand import Maker, makers_of, needs_of
from ...timeline.orders import order_of
from ...timeline.routes import Hop
from ...timeline.timing import Mode, Timer


class Piece(NamedTuple):
    """A shard of a mode: rows [first, stop) on a device, and its ticks there."""

    device: int
    first: int
    stop: int
    ticks: int


class Need(NamedTuple):
    """Units [low, high) made on `maker`, needed by the shard on `device`."""

    maker: int
    device: int
    low: int
    high: int


class Shape:
    """`modes` per phase, those that a class cannot run left out."""

    def __init__(self, problem: Problem, modes: Sequence[Sequence[Mode]], timer: Timer | None = None) -> None:
        self.timer = Timer(problem) if timer is None else timer
        self.problem = problem
        self.count = len(problem.phases)
        self.modes: list[list[Mode]] = []
        self.pieces: list[list[tuple[Piece, ...]]] = []
        for p in range(self.count):
            kept: list[Mode] = []
            cut: list[tuple[Piece, ...]] = []
            for mode in modes[p]:
                pieces = self._pieces(p, mode)
                if pieces is not None:
                    kept.append(mode)
                    cut.append(pieces)
            self.modes.append(kept)
            self.pieces.append(cut)
        self.split = [any(len(mode) > 1 for mode in options) for options in self.modes]
        self.devices = [sorted({d for mode in options for d, _ in mode}) for options in self.modes]
        self.combined = [phase.combine is not None for phase in problem.phases]
        self.scattered = [split and not combined for split, combined in zip(self.split, self.combined, strict=True)]
        """Phases whose output may lie on several devices."""
        self.followers: list[list[int]] = [[] for _ in range(self.count)]
        """By `before` and the order of effects."""
        for q, earlier in enumerate(self.timer.limits.after):
            for p in earlier:
                self.followers[p].append(q)
        self._needs: dict[tuple[int, int, int], list[Need]] = {}

    def _pieces(self, phase: int, mode: Mode) -> tuple[Piece, ...] | None:
        result: list[Piece] = []
        first = 0
        for device, rows in mode:
            ticks = self.timer.ticks(phase, device, rows)
            if ticks is None:
                return None
            result.append(Piece(device, first, first + rows, ticks))
            first += rows
        return tuple(result)

    @property
    def home(self) -> int:
        return self.timer.home

    def makers(self, phase: int, mode: int) -> tuple[Maker, ...]:
        return makers_of(self.timer, phase, self.modes[phase][mode])

    def maker_devices(self, phase: int) -> list[int]:
        return [self.home] if self.combined[phase] else self.devices[phase]

    def needs(self, edge: int, source_mode: int, target_mode: int) -> list[Need]:
        """What each shard of the target needs from each maker, its own device's included."""
        known = self._needs.get((edge, source_mode, target_mode))
        if known is not None:
            return known
        described = self.problem.edges[edge]
        makers = self.makers(int(described.source), source_mode)
        result = [
            Need(need.device, piece.device, need.low, need.high)
            for piece in self.pieces[int(described.target)][target_mode]
            for need in needs_of(self.timer, edge, makers, piece.first, piece.stop)
        ]
        self._needs[edge, source_mode, target_mode] = result
        return result

    def path(self, source: int, target: int) -> tuple[Hop, ...] | None:
        return self.timer.routes.path(source, target)

    def occupied(self, hop: Hop, size: int) -> int:
        return self.problem.links[hop.link].occupied(size)

    def travel(self, source: int, target: int, size: int) -> int | None:
        """Ticks from an end on `source` to the earliest start of a consumer on another device; None without a way."""
        path = self.path(source, target)
        if path is None:
            return None
        return sum(self.occupied(hop, size) + hop.latency for hop in path) + self.timer.syncs[target]

    def partial_travel(self, phase: int, source: int) -> int | None:
        """Ticks of a partial result on its way to the combine on home."""
        combine = self.problem.phases[phase].combine
        assert combine is not None
        if source == self.home:
            return 0
        if not self.timer.linked:
            return self.timer.syncs[self.home]
        return self.travel(source, self.home, combine.bytes)

    def delay(self, edge: int, source: int, target: int) -> int:
        """Ticks of an edge that has ticks of its own."""
        if source == target:
            return 0
        return self.timer.keys[edge] + self.timer.syncs[target]

    @cached_property
    def order(self) -> list[int]:
        """The phases in a topological order of data and `before`, the smallest index first."""
        return order_of(self.timer.before, by_index=True) or []

    @cached_property
    def precedes(self) -> list[set[int]]:
        """precedes[p]: the phases of which every shard starts after every shard of p has ended, whatever the modes."""
        reach: list[set[int]] = [set() for _ in range(self.count)]
        partly: list[set[int]] = [set() for _ in range(self.count)]
        for p in reversed(self.order):
            for q in self.followers[p]:
                reach[p] |= {q} | reach[q] | partly[q]
            for index in self.timer.outgoing[p]:
                edge = self.problem.edges[index]
                q = int(edge.target)
                whole = edge.whole or not (self.split[q] and self.scattered[p])
                if whole:
                    reach[p] |= {q} | partly[q]
                else:
                    partly[p] |= {q} | partly[q]
                reach[p] |= reach[q]
        return reach
