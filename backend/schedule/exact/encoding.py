"""The scheduling problem as formulas: difference constraints guarded by Booleans, for a makespan fixed per probe.

`x` chooses a mode, `s` is the start of a shard, `y` and `u` say that a transfer happens and when, `c` is the start of a combine;
one order Boolean stands for each unrelated pair that may share a device.  What rarely matters is left out until a model breaks
it (`separate` for channels, `lengthen` for hulls, `memory` for peaks); so every refutation holds, and a model is checked.

Invariant: each schedule of the problem with the candidate modes satisfies the formulas (with its own ticks).
Neighbours: `shape` (what modes mean), `heads` (bounds), `cuts` (per probe), `realise` (models to schedules), `search`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Final

from ..routes import Channel, Hop
from .heads import Heads
from .shape import Shape
from .solver import Solver, negation


MOST_MERGED: Final = 5
"""Partials up to which every order of their arrival is stated."""


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


class Encoding:
    """Formulas in a solver.  `guard` is put before every clause while it is set (for facts that may be given up)."""

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

    def build(self) -> None:
        """Everything but what `search` adds when a model asks for it."""
        shape = self.shape
        for p in range(shape.count):
            self.choose(p)
        for edge in range(len(shape.problem.edges)):
            self.data(edge)
        for p in range(shape.count):
            if shape.combined[p]:
                self.combine(p)
        for q, earlier in enumerate(shape.timer.limits.after):
            for p in dict.fromkeys(earlier):
                self.after(p, q)
        for q, earlier in enumerate(shape.timer.limits.issued):
            for p in dict.fromkeys(earlier):
                self.issued(p, q)
        for x, z in shape.timer.limits.glued.items():
            self.glued(x, z)
        self.copies()
        self.exclusive()
        if shape.timer.limits.machines is not None:
            self.machines(shape.timer.limits.machines)

    # --------------------------------------------------------------------------- vocabulary

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

    # ---------------------------------------------------------------------------- structure

    def choose(self, p: int) -> None:
        literals = self.mode_literals[p]
        if not literals:
            self.solver.add("false")
        if len(literals) > 1:
            self.solver.clause(literals)
            self.solver.at_most([(literal, 1) for literal in literals], 1)
        for k, pieces in enumerate(self.shape.pieces[p]):
            for piece, head in zip(pieces, self.heads.head[p][k], strict=True):
                self.clause(negation(literals[k]), f"(>= {self.start(p, piece.device)} {head})")

    def data(self, edge: int) -> None:
        """The target's shards start after what they need has arrived."""
        described = self.shape.problem.edges[edge]
        p, q = int(described.source), int(described.target)
        needed = self.needed(edge)
        delayed = self.shape.timer.keys[edge] >= 0
        by_maker: dict[int, list[tuple[int, tuple[str, ...]]]] = {}
        for (maker, target), guards in needed.items():
            for guard in guards:
                by_maker.setdefault(maker, []).append((target, guard))
        if not self.shape.split[q] and not self.shape.scattered[p]:
            for maker in by_maker:  # whatever the target's device
                for moment in self.ready(p, maker):
                    self.after_moment((), self.start(q, -1), moment)
        for maker, entries in by_maker.items():
            for target, guard in entries:
                start = self.start(q, target)
                if maker == target:
                    if self.shape.split[q] or self.shape.scattered[p]:
                        for moment in self.ready(p, maker):
                            self.after_moment(guard, start, moment)
                elif delayed:
                    for moment in self.ready(p, maker):
                        self.after_moment(guard, start, moment, self.shape.delay(edge, maker, target))
                    if self.shape.timer.capped:
                        self._copied_late(edge, maker, target, guard, start)
                else:
                    self._delivered(edge, maker, target, guard, start)

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

    # ---------------------------------------------------------------------------- transfers

    def sending(self, p: int, maker: int, target: int) -> Sending:
        """The transfer of the output of `p` from `maker` (-1: its only one) to `target`, declared on first use."""
        key = (p, maker if self.shape.scattered[p] else -1, target)
        found = self.sendings.get(key)
        if found is not None:
            return found
        stem = f"{p}_{target}" if key[1] < 0 else f"{p}_{key[1]}_{target}"
        present = self.solver.boolean(f"y{stem}")
        start = self.solver.integer(f"u{stem}")
        sent = self.sendings[key] = Sending(p, key[1], target, present, start, None, [])
        makers = [d for d in self.shape.maker_devices(p) if key[1] in (-1, d)]
        self.clause(negation(present), negation(self.made_on(p, target))) if key[1] < 0 else None
        sizes = self.sizes(p, makers, target)
        for device in makers:
            if device == target:
                continue
            here = self.made_on(p, device)
            path = self.shape.path(device, target)
            if path is None:
                self.solver.clause((negation(here), negation(present)))
                continue
            hop = path[-1]
            route = Route(device, hop, here)
            sent.routes.append(route)
            if len(path) == 1:
                for moment in self.ready(p, device):
                    self._solid(start, moment)
            else:
                relay = self.sending(p, device, self.shape.home)
                self.solver.clause((negation(here), negation(present), relay.present))
                for other in relay.routes:
                    if other.maker == device:
                        self._relayed(start, relay, other, present)
            for guards, size in sizes[device]:
                occupied = self.shape.occupied(hop, size)
                route.occupied[guards] = max(occupied, route.occupied.get(guards, 0))
            least = route.occupied.setdefault((), min(route.occupied.values(), default=0))
            for guards in [g for g in route.occupied if g and route.occupied[g] <= least]:
                del route.occupied[guards]
        if any(len(route.occupied) > 1 for route in sent.routes) or (not self._wholly(p) and len(self.shape.timer.outgoing[p]) > 1):
            sent.busy = self.solver.integer(f"v{stem}")
            for route in sent.routes:
                for guards, ticks in route.occupied.items():
                    self.solver.clause((negation(route.here), *map(negation, guards), f"(>= (- {sent.busy} {start}) {ticks})"))
        self.clause(f"(>= {start} 0)")
        return sent

    def _copied_late(self, edge: int, maker: int, target: int, guard: tuple[str, ...], start: str) -> None:
        """A copy over an edge of its own ticks: it may be made later than it could be, to save memory."""
        shape = self.shape
        p, ticks = int(shape.problem.edges[edge].source), shape.timer.keys[edge]
        key = (p, maker if shape.scattered[p] else -1, target, ticks)
        sent = self.delayed.get(key)
        if sent is None:
            stem = f"d{p}_{key[1] + 1}_{target}_{ticks}"
            present, begin = self.solver.boolean(f"y{stem}"), self.solver.integer(f"u{stem}")
            sent = self.delayed[key] = Sending(p, key[1], target, present, begin, None, [], key=ticks)
            self.clause(f"(>= {begin} 0)")
            for device in shape.maker_devices(p):
                if device != target and key[1] in (-1, device):
                    sent.routes.append(Route(device, None, self.made_on(p, device), {(): 0}, ticks))
                    for moment in self.ready(p, device):
                        self._solid(begin, moment)
        self.clause(*map(negation, guard), sent.present)
        self.at_least(guard, start, sent.start, ticks + shape.timer.syncs[target])

    def _solid(self, later: str, moment: Moment) -> None:
        self.solver.clause((*map(negation, moment.guards), f"(>= (- {later} {moment.base}) {moment.ticks})"))

    def _relayed(self, start: str, relay: Sending, route: Route, present: str) -> None:
        moment = relay.busy_moments(route)
        assert route.hop is not None
        self.solver.clause(
            (negation(present), negation(route.here), f"(>= (- {start} {moment.base}) {moment.ticks + route.hop.latency})")
        )

    def sizes(self, p: int, makers: Sequence[int], target: int, key: int = -1) -> dict[int, list[tuple[tuple[str, ...], int]]]:
        """For each maker: (guards, bytes) that the transfer to `target` carries at least, of the last hop."""
        shape, timer = self.shape, self.shape.timer
        result: dict[int, list[tuple[tuple[str, ...], int]]] = {device: [] for device in makers}
        for edge in timer.outgoing[p]:
            if timer.keys[edge] != key:
                continue
            described = shape.problem.edges[edge]
            q = int(described.target)
            targets = [target]
            if target == shape.home and key < 0:
                targets = shape.devices[q]
            whole = described.whole or not shape.split[q]
            for end in targets:
                if end not in shape.devices[q]:
                    continue
                for device in makers:
                    path = shape.path(device, end) if device != end else None
                    if device == target or (key < 0 and (path is None or (end != target and len(path) == 1))):
                        continue
                    if whole and not shape.scattered[p]:
                        size = timer.part_bytes(p, 0, timer.spans[p], described.bytes)
                        sole = len(timer.outgoing[p]) == 1 and target != shape.home
                        result[device].append(((), size) if sole else ((self.on(q, end),), size))
                        continue
                    for k in range(len(shape.modes[p])):
                        for mode in range(len(shape.modes[q])):
                            for need in shape.needs(edge, k, mode):
                                if need.maker == device and need.device == end:
                                    size = timer.part_bytes(p, need.low, need.high, described.bytes)
                                    guards = tuple(
                                        literal
                                        for literal in (self.mode_literals[p][k], self.mode_literals[q][mode])
                                        if literal != "true"
                                    )
                                    result[device].append((guards, size))
        for device, sizes in result.items():
            known = {size for _, size in sizes}
            if len(known) == 1 and not self._copied(p) and (len(timer.outgoing[p]) == 1 or self._wholly(p)):
                result[device] = [((), size) for size in known]
            elif self._copied(p) or not known:
                low = 0 if not self._copied(p) else timer.part_bytes(p, 0, timer.spans[p], None)
                if not shape.scattered[p]:
                    result[device] = [*sizes, ((), low)]
                elif self._copied(p):
                    for k in range(len(shape.modes[p])):
                        for maker in shape.makers(p, k):
                            if maker.device == device:
                                result[device].append(
                                    ((self.mode_literals[p][k],), timer.part_bytes(p, maker.low, maker.high, None))
                                )
        return result

    def _wholly(self, p: int) -> bool:
        """Whoever reads the output reads all of it."""
        shape = self.shape
        edges = [shape.problem.edges[edge] for edge in shape.timer.outgoing[p]]
        return not shape.scattered[p] and all(edge.whole or not shape.split[edge.target] for edge in edges)

    def _copied(self, p: int) -> bool:
        limits = self.shape.timer.limits
        return p in limits.wanted or p in limits.replicated

    def _delivered(self, edge: int, maker: int, target: int, guard: tuple[str, ...], start: str) -> None:
        """`target` needs, under `guard`, what `maker` made: by a transfer that arrives before `start`."""
        shape = self.shape
        described = shape.problem.edges[edge]
        p = int(described.source)
        sent = self.sending(p, maker, target)
        self.clause(*map(negation, guard), sent.present)
        for route in sent.routes:
            if route.maker != maker or route.hop is None:
                continue
            sync = shape.timer.syncs[target]
            moment = sent.busy_moments(route)
            self.at_least((*guard, route.here), start, moment.base, moment.ticks + route.hop.latency + sync)
            least = min((size for _, size in self.sizes(p, [maker], target)[maker]), default=0)
            direct = shape.travel(maker, target, least)
            if direct is not None:
                for ready in self.ready(p, maker):
                    self.after_moment(guard, start, ready, direct)

    def combine(self, p: int) -> None:
        """The partials of `p` come home and are combined."""
        shape = self.shape
        combine = shape.problem.phases[p].combine
        assert combine is not None
        start = self.solver.integer(f"c{p}")
        arrived: dict[int, list[Moment]] = {}
        for device in shape.devices[p]:
            arrivals: list[Moment]
            if device == shape.home:
                arrivals = self.shard_ends(p, device)
            elif not shape.timer.linked and not shape.timer.capped:
                sync = shape.timer.syncs[shape.home]
                arrivals = [Moment(m.guards, m.base, m.ticks + sync) for m in self.shard_ends(p, device)]
            else:
                hop = None
                if shape.timer.linked:
                    path = shape.path(device, shape.home)
                    if path is None or len(path) != 1:
                        self.clause(negation(self.on(p, device)))
                        continue
                    hop = path[0]
                begin = self.solver.integer(f"up{p}_{device}")
                occupied = 0 if hop is None else shape.occupied(hop, combine.bytes)
                route = Route(device, hop, self.on(p, device), {(): occupied})
                self.sendings[p, -2 - device, shape.home] = Sending(
                    p, device, shape.home, self.on(p, device), begin, None, [route], partial=True
                )
                self.clause(f"(>= {begin} 0)")
                for moment in self.shard_ends(p, device):
                    self.after_moment((), begin, moment)
                latency = 0 if hop is None else hop.latency
                arrivals = [Moment((self.on(p, device),), begin, occupied + latency + shape.timer.syncs[shape.home])]
            arrived[device] = arrivals
            if combine.barrier or device == shape.home:
                for moment in arrivals:
                    self.after_moment((), start, moment)
        self.clause(f"(>= {start} 0)")
        if not combine.barrier:
            for literal, mode in zip(self.mode_literals[p], shape.modes[p], strict=True):
                self._merged(p, literal, [arrived[d] for d, _ in mode if d in arrived], combine.ticks_per_shard)

    def _merged(self, p: int, literal: str, arrivals: Sequence[Sequence[Moment]], each: int) -> None:
        """Without a barrier: merging starts when the first has arrived, and of any n the last is merged n merges after the
        first of them arrived."""
        start, end = self.solver.integer(f"c{p}"), self.solver.integer(f"ce{p}")
        for moments in product(*arrivals):
            self.clause(negation(literal), *(f"(>= (- {start} {moment.base}) {moment.ticks})" for moment in moments))
        self.at_least((literal,), end, start, each * len(arrivals))
        sizes = range(1, len(arrivals) + 1) if len(arrivals) <= MOST_MERGED else (1, 2)
        for size in sizes:
            for some in combinations(arrivals, size):
                for moments in product(*some):
                    ticks = each * size
                    self.clause(negation(literal), *(f"(>= (- {end} {moment.base}) {moment.ticks + ticks})" for moment in moments))

    # --------------------------------------------------------------------------- directives

    def after(self, p: int, q: int) -> None:
        for literal, start in self.starts(q):
            for moment in self.ends(p):
                self.after_moment((literal,), start, moment)

    def issued(self, p: int, q: int) -> None:
        """The first shard of p starts no later than any of q, and goes first on a device that both use."""
        earliest = self.starts(p)
        for literal, start in self.starts(q):
            choices = []
            for other, begin in earliest:
                held = f"(>= (- {start} {begin}) 0)"
                choices.append(held if other == "true" else f"(and {other} {held})")
            self.clause(negation(literal), *choices)
        for device in self.shape.devices[p]:
            if device in self.shape.devices[q]:
                self._first(p, q, device)

    def _first(self, p: int, q: int, device: int, guards: Sequence[str] = ()) -> None:
        both = (*guards, self.on(p, device), self.on(q, device))
        for moment in self.shard_ends(p, device):
            self.after_moment(both, self.start(q, device), moment)

    def glued(self, x: int, z: int) -> None:
        """Every other phase is issued before x or after z."""
        for other in range(self.shape.count):
            if other in (x, z):
                continue
            literal = self.solver.boolean(f"g{x}_{z}_{other}")
            for guard, p, q in ((literal, other, x), (negation(literal), z, other)):
                for there, start in self.starts(q):
                    choices = [
                        f"(>= (- {start} {begin}) 0)" if held == "true" else f"(and {held} (>= (- {start} {begin}) 0))"
                        for held, begin in self.starts(p)
                    ]
                    self.clause(negation(guard), negation(there), *choices)

    def copies(self) -> None:
        """`keep` and `replicate`: outputs are brought to devices that want them."""
        limits = self.shape.timer.limits
        for p, targets in limits.wanted.items():
            for target in sorted(targets):
                self._copy(p, target, "true")
        for p in sorted(limits.replicated):
            for target in sorted({d for q in range(self.shape.count) for d in self.shape.devices[q]}):
                self._copy(p, target, self.used(target))

    def _copy(self, p: int, target: int, guard: str) -> None:
        if not self.shape.timer.linked:
            return
        for maker in self.shape.maker_devices(p):
            if maker != target:
                sent = self.sending(p, maker, target)
                self.clause(negation(guard), negation(self.made_on(p, maker)), sent.present)

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

    def machines(self, limit: int) -> None:
        """At most so many devices have a shard."""
        devices = sorted({d for p in range(self.shape.count) for d in self.shape.devices[p]})
        weighted = [(self.used(d), 1) for d in devices]
        self.solver.at_most(weighted, limit)

    # ---------------------------------------------------------------------------- resources

    def order(self, first: str, then: str) -> str:
        """The literal: of two items, `first` goes first."""
        if (then, first) in self._orders:
            return negation(self._orders[then, first])
        if (first, then) not in self._orders:
            self._orders[first, then] = self.solver.boolean(f"b!{first}!{then}")
        return self._orders[first, then]

    def exclusive(self) -> None:
        """Of two items that share a device, one ends before the other starts."""
        shape = self.shape
        for p in range(shape.count):
            for q in range(p + 1, shape.count):
                if q in shape.precedes[p] or p in shape.precedes[q]:
                    continue
                for device in shape.devices[p]:
                    if device in shape.devices[q]:
                        self._either(p, q, device)
        for p in range(shape.count):
            if not shape.combined[p]:
                continue
            for q in range(shape.count):
                if q != p and q not in shape.precedes[p] and p not in shape.precedes[q] and shape.home in shape.devices[q]:
                    first = self.order(f"c{p}", f"s{q}")
                    for moment in self.combine_ends(p):
                        self.after_moment((first, self.on(q, shape.home)), self.start(q, shape.home), moment)
                    for moment in self.shard_ends(q, shape.home):
                        self.after_moment((negation(first),), f"c{p}", moment)
                if q > p and shape.combined[q] and q not in shape.precedes[p] and p not in shape.precedes[q]:
                    first = self.order(f"c{p}", f"c{q}")
                    for moment in self.combine_ends(p):
                        self.after_moment((first,), f"c{q}", moment)
                    for moment in self.combine_ends(q):
                        self.after_moment((negation(first),), f"c{p}", moment)

    def _either(self, p: int, q: int, device: int) -> None:
        shape = self.shape
        if shape.split[p] or shape.split[q]:
            first = self.order(f"s{p}_{device}", f"s{q}_{device}")
        else:
            first = self.order(f"s{p}", f"s{q}")
        if first == "true":
            return
        self._first(p, q, device, (first,))
        self._first(q, p, device, (negation(first),))

    def channel_ends(self, sent: Sending) -> dict[Channel, list[Route]]:
        """The routes of a transfer by the channel that they occupy."""
        result: dict[Channel, list[Route]] = {}
        for route in sent.routes:
            if route.hop is not None and route.hop.channel is not None:
                result.setdefault(route.hop.channel, []).append(route)
        return result

    def separate(self, one: Sending, other: Sending) -> bool:
        """Two transfers do not overlap on a channel that both may use; False if that was said already."""
        key = (min(one.start, other.start), max(one.start, other.start))
        if key in self._separated:
            return False
        self._separated.add(key)
        first = self.order(one.start, other.start)
        theirs = self.channel_ends(other)
        for channel, routes in self.channel_ends(one).items():
            for route in routes:
                for match in theirs.get(channel, ()):
                    both = (one.present, other.present, route.here, match.here)
                    self.after_moment((*both, first), other.start, one.busy_moments(route))
                    self.after_moment((*both, negation(first)), one.start, other.busy_moments(match))
        return True

    def lengthen(self, sent: Sending, guards: tuple[str, ...], ticks: int) -> bool:
        """The transfer takes so long under these guards; False if that was said already, or can be no news."""
        key = (sent.start, str(ticks), *guards)
        if sent.busy is None or key in self._lengthened:
            return False
        self._lengthened.add(key)
        self.solver.clause((*map(negation, guards), negation(sent.present), f"(>= (- {sent.busy} {sent.start}) {ticks})"))
        return True
