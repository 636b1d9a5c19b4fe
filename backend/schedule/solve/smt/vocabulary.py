"""Names and clauses of the exact search: literals of modes, starts, ends, transfers that may happen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ...timeline.routes import Hop
from .heads import Heads
from .shape import Shape
from .solver import Solver, negation


@dataclass(frozen=True, slots=True)
class Moment:
    """`base + ticks`, if all of `guards` are true."""

    guards: tuple[str, ...]
    base: str
    ticks: int


@dataclass(slots=True)
class Route:
    """A transfer's last hop, if the maker is on `maker`: `occupied` by guards (the longest that holds counts)."""

    maker: int
    hop: Hop | None
    here: str  # literal: the maker is on that device
    occupied: dict[tuple[str, ...], int] = field(default_factory=dict)
    delay: int = 0


@dataclass(slots=True)
class Sending:
    """A possible transfer of an output to `target`.  `maker` is -1 where any one device may be the maker."""

    phase: int
    maker: int
    target: int
    present: str
    start: str
    busy: str | None  # variable: the channel is free again; None: `start` plus a constant of the route
    routes: list[Route]
    partial: bool = False
    key: int = -1  # an edge's own ticks, where those count

    def busy_moments(self, route: Route) -> Moment:
        if self.busy is not None:
            return Moment((route.here,), self.busy, 0)
        return Moment((route.here,), self.start, max(route.occupied.values(), default=0))


class Vocabulary:
    """What the formulas speak of.  `guard` is put before every clause while it is set (for facts that may be given up)."""

    def __init__(self, shape: Shape, heads: Heads, solver: Solver) -> None:
        self.shape = shape
        self.heads = heads
        self.solver = solver
        self.guard: tuple[str, ...] = ()
        self.mode_literals = [self._mode_literals(p) for p in range(shape.count)]
        self._on: dict[tuple[int, int], str] = {}
        self.sendings: dict[tuple[int, int, int], Sending] = {}
        self.delayed: dict[tuple[int, int, int, int], Sending] = {}
        """Copies over edges with ticks of their own, where memory is limited."""
        self._orders: dict[tuple[str, str], str] = {}
        self._separated: set[tuple[str, str]] = set()
        self._lengthened: set[tuple[str, ...]] = set()
        self._ends: set[str] = set()
        self._needed: dict[int, dict[tuple[int, int], list[tuple[str, ...]]]] = {}
        self._used: dict[int, str] = {}

    @contextmanager
    def under(self, literal: str) -> Iterator[None]:
        """Clauses that hold only if `literal` does."""
        before = self.guard
        self.guard = (*before, negation(literal))
        try:
            yield
        finally:
            self.guard = before

    def clause(self, *literals: str) -> None:
        self.solver.clause((*self.guard, *literals))

    def at_least(self, guards: Sequence[str], later: str, earlier: str, ticks: int) -> None:
        """`later` is `ticks` or more after `earlier`, if the guards hold."""
        self.clause(*map(negation, guards), f"(>= (- {later} {earlier}) {ticks})")

    def after_moment(self, guards: Sequence[str], later: str, moment: Moment, ticks: int = 0) -> None:
        self.at_least((*guards, *moment.guards), later, moment.base, moment.ticks + ticks)

    def _mode_literals(self, p: int) -> list[str]:
        count = len(self.shape.modes[p])
        if count == 1:
            return ["true"]
        return [self.solver.boolean(f"x{p}_{k}") for k in range(count)]

    def on(self, p: int, device: int) -> str:
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

    def made_on(self, p: int, device: int) -> str:
        """The output of the phase, or a part of it, is made on the device."""
        if self.shape.combined[p]:
            return "true" if device == self.shape.home else "false"
        return self.on(p, device)

    def start(self, p: int, device: int) -> str:
        return self.solver.integer(f"s{p}_{device}" if self.shape.split[p] else f"s{p}")

    def starts(self, p: int) -> list[tuple[str, str]]:
        """(literal, start) of each shard that the phase may have."""
        if not self.shape.split[p]:
            return [("true", self.start(p, -1))]
        return [(self.on(p, d), self.start(p, d)) for d in self.shape.devices[p]]

    def shard_ends(self, p: int, device: int) -> list[Moment]:
        """When the shard on the device ends; guarded by its being there."""
        by_ticks: dict[int, list[str]] = {}
        for literal, pieces in zip(self.mode_literals[p], self.shape.pieces[p], strict=True):
            for piece in pieces:
                if piece.device == device:
                    by_ticks.setdefault(piece.ticks, []).append(literal)
        start = self.start(p, device)
        if len(by_ticks) == 1:
            return [Moment((self.on(p, device),), start, ticks) for ticks in by_ticks]
        name = self.solver.integer(f"e{p}_{device}")
        if name not in self._ends:
            self._ends.add(name)
            for ticks, literals in by_ticks.items():
                for literal in literals:
                    self.solver.define((negation(literal), f"(>= (- {name} {start}) {ticks})"))
        return [Moment((self.on(p, device),), name, 0)]

    def combine_ends(self, p: int) -> list[Moment]:
        combine = self.shape.problem.phases[p].combine
        assert combine is not None
        if not combine.barrier:
            return [Moment((), self.solver.integer(f"ce{p}"), 0)]
        return [
            Moment((literal,), self.solver.integer(f"c{p}"), combine.ticks_per_shard * len(mode))
            for literal, mode in zip(self.mode_literals[p], self.shape.modes[p], strict=True)
        ]

    def ready(self, p: int, device: int) -> list[Moment]:
        """When what is made on the device of the output is there."""
        return self.combine_ends(p) if self.shape.combined[p] else self.shard_ends(p, device)

    def ends(self, p: int) -> list[Moment]:
        """No earlier than all of these is the phase done."""
        if self.shape.combined[p]:
            return self.combine_ends(p)
        return [moment for d in self.shape.devices[p] for moment in self.shard_ends(p, d)]

    def needed(self, edge: int) -> dict[tuple[int, int], list[tuple[str, ...]]]:
        """For (maker, device): the combinations of literals under which that device needs what that maker made."""
        if edge not in self._needed:
            self._needed[edge] = self._needers(edge)
        return self._needed[edge]

    def _needers(self, edge: int) -> dict[tuple[int, int], list[tuple[str, ...]]]:
        shape = self.shape
        described = shape.problem.edges[edge]
        p, q = int(described.source), int(described.target)
        if not shape.scattered[p] or described.whole or not shape.split[q]:
            return {
                (maker, target): [(self.made_on(p, maker), self.on(q, target))]
                for maker in shape.maker_devices(p)
                for target in shape.devices[q]
            }
        pairs: dict[tuple[int, int], dict[int, list[int]]] = {}
        for k in range(len(shape.modes[p])):
            for mode in range(len(shape.modes[q])):
                for need in shape.needs(edge, k, mode):
                    pairs.setdefault((need.maker, need.device), {}).setdefault(k, []).append(mode)
        result: dict[tuple[int, int], list[tuple[str, ...]]] = {}
        for (maker, target), by_mode in pairs.items():
            there = {m for m, mode in enumerate(shape.modes[q]) if any(d == target for d, _ in mode)}
            makers = {k for k, mode in enumerate(shape.modes[p]) if any(d == maker for d, _ in mode)}
            full = [k for k, modes in by_mode.items() if set(modes) == there]
            if len(full) == len(makers):
                result[maker, target] = [(self.on(p, maker), self.on(q, target))]
                continue
            guards = result.setdefault((maker, target), [])
            name = self.solver.boolean(f"n{edge}_{maker}_{target}")
            for k, modes in by_mode.items():
                if k in full:
                    self.clause(negation(self.mode_literals[p][k]), negation(self.on(q, target)), name)
                else:
                    for mode in modes:
                        self.clause(negation(self.mode_literals[p][k]), negation(self.mode_literals[q][mode]), name)
            guards.append((name, self.on(p, maker), self.on(q, target)))
        return result

    def used(self, device: int) -> str:
        """Some shard runs on the device."""
        if device not in self._used:
            literals = [self.on(p, device) for p in range(self.shape.count) if device in self.shape.devices[p]]
            if "true" in literals:
                self._used[device] = "true"
            else:
                name = self.solver.boolean(f"z{device}")
                for literal in literals:
                    self.solver.define((negation(literal), name))
                self.solver.define((negation(name), *literals))
                self._used[device] = name
        return self._used[device]
