"""Names and clauses of the exact search: literals of modes, starts, ends, transfers that may happen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ....lang.support.records import cached_property, dataclass, field
from ..bounds.head_tail_bounds import BoundSet, Costs
from ..problem import Mode, Problem
from ..timeline.problem_index import Hop, topological_order
from ..timeline.serial_sgs import ScheduleDecoder
from ..timeline.step_expansion import ShardProducer, accesses_of, producers_of
from .z3_solver import Solver, negation

# ---------------------------------------------------------------------------------------------------- shards of modes
#
# The candidate modes of a problem's phases in detail: shards with ticks, producers of outputs, and the units that consumers read.
#
# All arithmetic is `ScheduleDecoder`'s, so that a mode means the same to the exact search and to the heuristics.

class ModeShard(NamedTuple):
    """A shard of a mode: rows [first, stop) on a device, and its ticks there."""

    device: int
    first: int
    stop: int
    ticks: int


class RowAccess(NamedTuple):
    """Units [low, high) made on `producer`, needed by the shard on `device`."""

    producer: int
    device: int
    low: int
    high: int


class ModeTable:
    """The candidate modes of each phase, without those that some class cannot run."""

    def __init__(self, problem: Problem, modes: Sequence[Sequence[Mode]], decoder: ScheduleDecoder | None = None) -> None:
        self.decoder = ScheduleDecoder(problem) if decoder is None else decoder
        self.problem = problem
        self.count = len(problem.phases)
        self.modes: list[list[Mode]] = []
        self.pieces: list[list[tuple[ModeShard, ...]]] = []
        for p in range(self.count):
            modes_of_phase: list[Mode] = []
            cut: list[tuple[ModeShard, ...]] = []
            for mode in modes[p]:
                pieces = self._pieces(p, mode)
                if pieces is not None:
                    modes_of_phase.append(mode)
                    cut.append(pieces)
            self.modes.append(modes_of_phase)
            self.pieces.append(cut)
        self.split = [any(len(mode) > 1 for mode in options) for options in self.modes]
        self.devices = [sorted({d for mode in options for d, _ in mode}) for options in self.modes]
        self.combined = [phase.combine is not None for phase in problem.phases]
        self.scattered = [split and not combined for split, combined in zip(self.split, self.combined, strict=True)]
        """Phases whose output may lie on several devices."""
        self.followers: list[list[int]] = [[] for _ in range(self.count)]
        """By `before` and the order of effects."""
        for q, earlier in enumerate(self.decoder.constraints.start_after):
            for p in earlier:
                self.followers[p].append(q)
        self._accesses: dict[int, dict[tuple[int, int], list[tuple[int, int, RowAccess]]]] = {}

    def _pieces(self, phase: int, mode: Mode) -> tuple[ModeShard, ...] | None:
        result: list[ModeShard] = []
        first = 0
        for device, rows in mode:
            ticks = self.decoder.ticks(phase, device, rows)
            if ticks is None:
                return None
            result.append(ModeShard(device, first, first + rows, ticks))
            first += rows
        return tuple(result)

    @property
    def home(self) -> int:
        return self.decoder.home

    def producers(self, phase: int, mode: int) -> tuple[ShardProducer, ...]:
        return producers_of(self.decoder, phase, self.modes[phase][mode])

    def producer_devices(self, phase: int) -> list[int]:
        return [self.home] if self.combined[phase] else self.devices[phase]

    def accesses(self, edge: int) -> Mapping[tuple[int, int], Sequence[tuple[int, int, RowAccess]]]:
        """By producer and device, also where these are one: (mode of the source, mode of the target, the units that a shard there
        reads of the producer)."""
        if edge not in self._accesses:
            result: dict[tuple[int, int], list[tuple[int, int, RowAccess]]] = {}
            source, target = self.decoder.sources[edge], self.decoder.targets[edge]
            for k in range(len(self.modes[source])):
                makers = self.producers(source, k)
                for mode, pieces in enumerate(self.pieces[target]):
                    for piece in pieces:
                        for need in accesses_of(self.decoder, edge, makers, piece.first, piece.stop):
                            access = RowAccess(need.device, piece.device, need.low, need.high)
                            result.setdefault((need.device, piece.device), []).append((k, mode, access))
            self._accesses[edge] = result
        return self._accesses[edge]

    def path(self, source: int, target: int) -> tuple[Hop, ...] | None:
        return self.decoder.routes.path(source, target)

    def occupied(self, hop: Hop, size: int) -> int:
        return self.problem.links[hop.link].occupied(size)

    def travel(self, source: int, target: int, size: int) -> int | None:
        """Ticks from an end on `source` to the earliest start of a consumer on another device; None without a route."""
        path = self.path(source, target)
        if path is None:
            return None
        return sum(self.occupied(hop, size) + hop.latency for hop in path) + self.decoder.syncs[target]

    def partial_travel(self, phase: int, source: int) -> int | None:
        """Ticks of a partial result on its way to the combine on home."""
        combine = self.problem.phases[phase].combine
        assert combine is not None
        if source == self.home:
            return 0
        if not self.decoder.has_links:
            return self.decoder.syncs[self.home]
        return self.travel(source, self.home, combine.bytes)

    def delay(self, edge: int, source: int, target: int) -> int:
        """Ticks of an edge that states its own ticks."""
        if source == target:
            return 0
        return self.decoder.edge_keys[edge] + self.decoder.syncs[target]

    @cached_property
    def order(self) -> list[int]:
        """The phases in a topological order of data and `before`, the smallest index first."""
        return topological_order(self.decoder.before, range(self.count)) or []

    @cached_property
    def precedes(self) -> list[set[int]]:
        """precedes[p]: the phases of which every shard starts after every shard of p has ended, whatever the modes."""
        reach: list[set[int]] = [set() for _ in range(self.count)]
        partly: list[set[int]] = [set() for _ in range(self.count)]
        for p in reversed(self.order):
            for q in self.followers[p]:
                reach[p] |= {q} | reach[q] | partly[q]
            for index in self.decoder.outgoing[p]:
                edge = self.problem.edges[index]
                q = int(edge.target)
                undivided = edge.whole or not (self.split[q] and self.scattered[p])
                if undivided:
                    reach[p] |= {q} | partly[q]
                else:
                    partly[p] |= {q} | partly[q]
                reach[p] |= reach[q]
        return reach


# ---------------------------------------------------------------------------------------------------- heads and tails
#
# Heads and tails of every shard of every mode, from `BoundSet`, which hold for all cuts.
#
# A head is a lower bound of a shard's start, a tail a lower bound of the ticks after its end.

class HeadsAndTails:
    """`head[p][k][i]` and `tail[p][k][i]` are of shard i of mode k of phase p; `combine_tail[p]` are the ticks after p's
    combine."""

    def __init__(self, shape: ModeTable) -> None:
        self.shape = shape
        costs = Costs(shape.decoder)
        bounds, class_of = BoundSet(costs), costs.class_of
        self.head: list[list[list[int]]] = []
        self.tail: list[list[list[int]]] = []
        for p, task in enumerate(shape.problem.phases):
            again = task.combine.ticks_per_shard if task.combine is not None else 0
            kinds = [[class_of[piece.device] for piece in pieces] for pieces in shape.pieces[p]]
            self.head.append([[bounds.heads[p][kind] for kind in classes] for classes in kinds])
            self.tail.append(
                [[bounds.tail_with_combine(p, kind) + again * (len(classes) - 1) for kind in classes] for classes in kinds]
            )
        self.combine_tail = [max(tails.values()) for tails in bounds.tails]

    def finish(self, p: int, k: int) -> int:
        """The earliest end of phase p in mode k, its combine included."""
        shape = self.shape
        ends = [head + piece.ticks for head, piece in zip(self.head[p][k], shape.pieces[p][k], strict=True)]
        combine = shape.problem.phases[p].combine
        if combine is None:
            return max(ends)
        arrivals = [
            end + (shape.partial_travel(p, piece.device) or 0) for end, piece in zip(ends, shape.pieces[p][k], strict=True)
        ]
        return max(arrivals) + combine.ticks_per_shard * len(ends)

    def pieces(self) -> list[tuple[int, int, int, ModeShard, int, int]]:
        """(phase, mode, shard index, shard, head, tail) of every candidate shard."""
        return [
            (p, k, i, piece, self.head[p][k][i], self.tail[p][k][i])
            for p in range(self.shape.count)
            for k, pieces in enumerate(self.shape.pieces[p])
            for i, piece in enumerate(pieces)
        ]


# ---------------------------------------------------------------------------------------------------- variables

@dataclass(frozen=True, slots=True)
class TimePoint:
    """A point in time: `base + ticks`, if all of `guards` are true."""

    guards: tuple[str, ...]
    base: str
    ticks: int


@dataclass(slots=True)
class Route:
    """The last hop of a transfer whose maker is on `producer`; the channel is `occupied` for the longest time whose guards
    hold."""

    producer: int
    hop: Hop | None
    here: str  # literal: the maker is on that device
    occupied: dict[tuple[str, ...], int] = field(default_factory=dict)
    delay: int = 0


@dataclass(slots=True)
class OptionalTransfer:
    """A possible transfer of an output to `target`.  `producer` is -1 where any one device may be the maker."""

    phase: int
    producer: int
    target: int
    present: str
    start: str
    busy: str | None  # variable: the tick at which the channel is free again; None: `start` plus a constant of the route
    routes: list[Route]
    partial: bool = False
    key: int = -1  # the edge's own ticks, where it states them

    def busy_moments(self, route: Route) -> TimePoint:
        if self.busy is not None:
            return TimePoint((route.here,), self.busy, 0)
        return TimePoint((route.here,), self.start, max(route.occupied.values(), default=0))


class SolverVariables:
    """The variables and clauses of the formulas.  While `guard` is set, every clause is guarded by it (for facts that may be
    retracted)."""

    def __init__(self, shape: ModeTable, heads: HeadsAndTails, solver: Solver) -> None:
        self.shape = shape
        self.heads = heads
        self.solver = solver
        self.guard: tuple[str, ...] = ()
        self.mode_literals = [self._mode_literals(p) for p in range(shape.count)]
        self._on: dict[tuple[int, int], str] = {}
        self.transfers: dict[tuple[int, int, int], OptionalTransfer] = {}
        self.delayed: dict[tuple[int, int, int, int], OptionalTransfer] = {}
        """Copies over edges with ticks of their own, where memory is limited."""
        self._orders: dict[tuple[str, str], str] = {}
        self._separated: set[tuple[str, str]] = set()
        self._lengthened: set[tuple[str, ...]] = set()
        self._ends: set[str] = set()
        self._needed: dict[int, dict[tuple[int, int], list[tuple[str, ...]]]] = {}
        self._used: dict[int, str] = {}

    @contextmanager
    def under(self, literal: str) -> Iterator[None]:
        """Guard the clauses of the block by `literal`."""
        before = self.guard
        self.guard = (*before, negation(literal))
        try:
            yield
        finally:
            self.guard = before

    def clause(self, *literals: str) -> None:
        self.solver.clause((*self.guard, *literals))

    def add_difference(self, guards: Sequence[str], later: str, earlier: str, ticks: int) -> None:
        """If the guards hold, `later` is at least `ticks` after `earlier`."""
        self.clause(*map(negation, guards), f"(>= (- {later} {earlier}) {ticks})")

    def add_after(self, guards: Sequence[str], later: str, moment: TimePoint, ticks: int = 0) -> None:
        self.add_difference((*guards, *moment.guards), later, moment.base, moment.ticks + ticks)

    def _mode_literals(self, p: int) -> list[str]:
        count = len(self.shape.modes[p])
        if count == 1:
            return ["true"]
        return [self.solver.boolean(f"x{p}_{k}") for k in range(count)]

    def runs_on(self, p: int, device: int) -> str:
        """The phase has a shard on the device."""
        key = (p, device)
        if key not in self._on:
            literals = [
                self.mode_literals[p][k] for k, mode in enumerate(self.shape.modes[p]) if any(d == device for d, _ in mode)
            ]
            if len(literals) == len(self.mode_literals[p]):
                self._on[key] = "true" if literals else "false"
            elif len(literals) < 2:
                self._on[key] = literals[0] if literals else "false"
            else:
                name = self.solver.boolean(f"o{p}_{device}")
                for literal in literals:
                    self.solver.define((negation(literal), name))
                self.solver.define((negation(name), *literals))
                self._on[key] = name
        return self._on[key]

    def is_made_on(self, p: int, device: int) -> str:
        """The literal that the output of the phase, or a part of it, is produced on the device."""
        if self.shape.combined[p]:
            return "true" if device == self.shape.home else "false"
        return self.runs_on(p, device)

    def start(self, p: int, device: int) -> str:
        return self.solver.integer(f"s{p}_{device}" if self.shape.split[p] else f"s{p}")

    def starts(self, p: int) -> list[tuple[str, str]]:
        """(literal, start) of each shard that the phase may have."""
        if not self.shape.split[p]:
            return [("true", self.start(p, -1))]
        return [(self.runs_on(p, d), self.start(p, d)) for d in self.shape.devices[p]]

    def shard_ends(self, p: int, device: int) -> list[TimePoint]:
        """The ends of the phase's shards on the device, each guarded by the literal that the shard exists."""
        by_ticks: dict[int, list[str]] = {}
        for literal, pieces in zip(self.mode_literals[p], self.shape.pieces[p], strict=True):
            for piece in pieces:
                if piece.device == device:
                    by_ticks.setdefault(piece.ticks, []).append(literal)
        start = self.start(p, device)
        if len(by_ticks) == 1:
            return [TimePoint((self.runs_on(p, device),), start, ticks) for ticks in by_ticks]
        name = self.solver.integer(f"e{p}_{device}")
        if name not in self._ends:
            self._ends.add(name)
            for ticks, literals in by_ticks.items():
                for literal in literals:
                    self.solver.define((negation(literal), f"(>= (- {name} {start}) {ticks})"))
        return [TimePoint((self.runs_on(p, device),), name, 0)]

    def combine_ends(self, p: int) -> list[TimePoint]:
        combine = self.shape.problem.phases[p].combine
        assert combine is not None
        return [
            TimePoint((literal,), self.solver.integer(f"c{p}"), combine.ticks_per_shard * len(mode))
            for literal, mode in zip(self.mode_literals[p], self.shape.modes[p], strict=True)
        ]

    def output_ready(self, p: int, device: int) -> list[TimePoint]:
        """The points at which the device's part of the output is ready."""
        return self.combine_ends(p) if self.shape.combined[p] else self.shard_ends(p, device)

    def ends(self, p: int) -> list[TimePoint]:
        """The points in time of which the latest completes the phase."""
        if self.shape.combined[p]:
            return self.combine_ends(p)
        return [moment for d in self.shape.devices[p] for moment in self.shard_ends(p, d)]

    def accesses(self, edge: int) -> dict[tuple[int, int], list[tuple[str, ...]]]:
        """By (producer, device): conjunctions of literals under which the device reads a part of the producer's output."""
        if edge not in self._needed:
            self._needed[edge] = self._compute_accesses(edge)
        return self._needed[edge]

    def _compute_accesses(self, edge: int) -> dict[tuple[int, int], list[tuple[str, ...]]]:
        shape = self.shape
        described = shape.problem.edges[edge]
        p, q = int(described.source), int(described.target)
        if not shape.scattered[p] or described.whole or not shape.split[q]:
            return {
                (maker, target): [(self.is_made_on(p, maker), self.runs_on(q, target))]
                for maker in shape.producer_devices(p)
                for target in shape.devices[q]
            }
        pairs: dict[tuple[int, int], dict[int, list[int]]] = {}
        for pair, accesses in shape.accesses(edge).items():
            by_mode: dict[int, list[int]] = {}
            pairs[pair] = by_mode
            for k, mode, _ in accesses:
                by_mode.setdefault(k, []).append(mode)
        result: dict[tuple[int, int], list[tuple[str, ...]]] = {}
        for (maker, target), by_mode in pairs.items():
            there = {m for m, mode in enumerate(shape.modes[q]) if any(d == target for d, _ in mode)}
            makers = {k for k, mode in enumerate(shape.modes[p]) if any(d == maker for d, _ in mode)}
            full = [k for k, modes in by_mode.items() if set(modes) == there]
            if len(full) == len(makers):
                result[maker, target] = [(self.runs_on(p, maker), self.runs_on(q, target))]
                continue
            guards = result.setdefault((maker, target), [])
            name = self.solver.boolean(f"n{edge}_{maker}_{target}")
            for k, modes in by_mode.items():
                if k in full:
                    self.clause(negation(self.mode_literals[p][k]), negation(self.runs_on(q, target)), name)
                else:
                    for mode in modes:
                        self.clause(negation(self.mode_literals[p][k]), negation(self.mode_literals[q][mode]), name)
            guards.append((name, self.runs_on(p, maker), self.runs_on(q, target)))
        return result

    def is_used(self, device: int) -> str:
        """The literal that some shard runs on the device."""
        if device not in self._used:
            literals = [self.runs_on(p, device) for p in range(self.shape.count) if device in self.shape.devices[p]]
            if "true" in literals:
                self._used[device] = "true"
            else:
                name = self.solver.boolean(f"z{device}")
                for literal in literals:
                    self.solver.define((negation(literal), name))
                self.solver.define((negation(name), *literals))
                self._used[device] = name
        return self._used[device]
