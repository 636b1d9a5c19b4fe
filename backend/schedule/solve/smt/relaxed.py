"""A lower bound over all cuts of every phase at once: a problem that is easier than the real one, which z3 refutes.

Note [Relaxed cuts].  `search` proves something of the cuts that it was given.  Here a phase says only, for every place (a device,
or all devices of a class together), whether at least r_1 = 1 < r_2 < … < r_L = all of its rows are there.  Any plan, whatever
its cuts, makes these Booleans true or false, and obeys what is stated of them:

* rows: those that the places have at the least sum to no more than there are, those they have at the most to no fewer;
* a shard takes the ticks of the rows that it has at the least (tables never fall); of a class of n devices one of them has
  the n-th part, rounded up;
* shards on one device exclude each other; devices of a class do not (they are many), so a class is never too short of time;
* a shard that reads everything waits for every shard of its operand, and the transfer of the bytes that those have at the
  least; a shard that reads a part waits for some shard, and for the latency;
* the combine waits for the partials, and keeps home busy by the number of places.

Memory, channels and the contents of transfers are left out (`fluid` counts what channels carry).  So a plan of at most T ticks is
a model, and if z3 refutes T there is none.  More levels are nearer to the truth and dearer: they are doubled where a model was
found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from ..bounds import Bounds
from .cuts import windows
from .solver import Solver, Steps, Verdict, available, negation

MOST_PLACES: Final = 6
"""Devices up to which each is a place of its own; of more, equal devices are one."""
LEVELS: Final = (2, 4, 8)
"""Numbers of levels, one after the other."""


@dataclass(frozen=True, slots=True)
class Place:
    """Equal devices together, or one alone."""

    kind: int
    device: int
    count: int


@dataclass(frozen=True, slots=True)
class Share:
    """A phase on a place: by level the literal that it has so many rows, those rows, and the least ticks of a shard there."""

    place: int
    start: str
    literals: tuple[str, ...]
    rows: tuple[int, ...]
    ticks: tuple[int, ...]

    @property
    def used(self) -> str:
        return self.literals[0]


@dataclass(frozen=True, slots=True)
class Item:
    """What keeps a device busy: a literal and ticks by level, from `start` on."""

    start: str
    literals: tuple[str, ...]
    ticks: tuple[int, ...]
    head: int
    tail: int


def relaxed_bound(bounds: Bounds, lower: int, upper: int, steps: Steps) -> int:
    """No plan is shorter than the result, which is at least `lower` and, where z3 says so, as much as `upper`."""
    if not available() or lower >= upper:
        return lower
    model = None
    for count in LEVELS:
        model = Relaxation(bounds, count)
        if model.probe(upper - 1, steps, steps.left // 4) is Verdict.UNSAT:
            return upper
        if steps.late or not steps.left or not model.refinable:
            break
    high = upper - 1
    while model is not None and lower < high and steps.left and not steps.late:
        middle = (lower + high) // 2
        found = model.probe(middle, steps, steps.left // 4)
        if found is Verdict.UNSAT:
            lower = middle + 1
        elif found is Verdict.ABORTED:
            break
        else:
            high = middle
    return lower


def refuted(bounds: Bounds, makespan: int, steps: Steps) -> bool:
    """Whether some relaxation has no plan of at most `makespan` ticks."""
    if not available():
        return False
    for count in LEVELS:
        model = Relaxation(bounds, count)
        if model.probe(makespan, steps, steps.left // 2) is Verdict.UNSAT:
            return True
        if not model.refinable:
            break
    return False


class Relaxation:
    """The formulas, asked for several makespans."""

    def __init__(self, bounds: Bounds, levels: int) -> None:
        self.bounds = bounds
        self.timer = bounds.timer
        self.costs = bounds.costs
        self.levels = levels
        self.refinable = False
        self.solver = Solver()
        self.places = self._places()
        self.items: dict[int, list[Item]] = {}
        self.shares = [self._shares(p) for p in range(len(bounds.order))]
        for p in bounds.order:
            self._rows(p)
            self._finish(p)
        for edge in range(len(self.timer.sources)):
            self._edge(edge)
        for items in self.items.values():
            for first, second in combinations(items, 2):
                self._exclude(first, second)

    def probe(self, makespan: int, steps: Steps, share: int) -> Verdict:
        """UNSAT: no plan has at most so many ticks."""
        solver = self.solver
        solver.push()
        try:
            for shares, p in zip(self.shares, range(len(self.shares)), strict=True):
                for share_ in shares:
                    rest = self.bounds.rest(p, self.places[share_.place].kind)
                    for literal, ticks in zip(share_.literals, share_.ticks, strict=True):
                        solver.clause((negation(literal), f"(<= {share_.start} {makespan - rest - ticks})"))
                solver.add(f"(<= {self._end(p)} {makespan - self._least_tail(p)})")
            entries = [
                [
                    (literal, ticks - before, item.head, item.tail)
                    for item in items
                    for literal, ticks, before in zip(item.literals, item.ticks, (0, *item.ticks), strict=False)
                ]
                for items in self.items.values()
            ]
            for entry in entries:
                for limit, weighted in windows(entry, makespan):
                    solver.at_most(weighted, limit)
            return solver.check(steps, share)
        finally:
            solver.pop()

    # ------------------------------------------------------------------------------ phases

    def _places(self) -> list[Place]:
        alone = len(self.timer.kinds) <= MOST_PLACES
        found: list[Place] = []
        for kind, members in enumerate(self.costs.members):
            found += [Place(kind, d, 1) for d in members] if alone else [Place(kind, members[0], len(members))]
        return found

    def _shares(self, p: int) -> list[Share]:
        bounds, solver = self.bounds, self.solver
        result: list[Share] = []
        allowed = set(self.costs.allowed[p])
        for index, place in enumerate(self.places):
            count = place.count if place.count == 1 else len([d for d in self.costs.members[place.kind] if d in allowed])
            if place.device not in allowed if place.count == 1 else not count:
                continue
            device = place.device if place.count == 1 else next(d for d in self.costs.members[place.kind] if d in allowed)
            rows = self._thresholds(p, device, count)
            start = solver.integer(f"s{p}_{index}")
            solver.add(f"(>= {start} {bounds.heads[p][place.kind]})")
            ticks = tuple(self.timer.least(p, device, -(-r // count)) for r in rows)
            literals = tuple(solver.boolean(f"g{p}_{index}_{r}") for r in rows)
            for more, fewer in zip(literals[1:], literals, strict=False):
                solver.clause((negation(more), fewer))
            share = Share(index, start, literals, rows, ticks)
            result.append(share)
            if place.count == 1:
                rest = bounds.rest(p, place.kind)
                item = Item(start, literals, ticks, bounds.heads[p][place.kind], rest)
                self.items.setdefault(index, []).append(item)
        return result

    def _thresholds(self, p: int, device: int, count: int) -> tuple[int, ...]:
        """The levels of a phase: all of it where it is never cut, fewer where they make no difference to ticks."""
        rows = self.bounds.phases[p].units
        if self.bounds.whole[p]:
            return (rows,)
        found = sorted({1, *(max(1, rows * i // (self.levels - 1)) for i in range(self.levels))})
        kept = [1]
        first, last = (self.timer.least(p, device, -(-r // count)) for r in (1, rows))
        for r in found[1:-1]:
            ticks, before = (self.timer.least(p, device, -(-n // count)) for n in (r, kept[-1]))
            if (ticks - before) * 4 * self.levels >= last > first:
                kept.append(r)
        self.refinable |= (last - first) * 100 > last and rows > self.levels
        return tuple(dict.fromkeys((*kept, rows)))

    def _rows(self, p: int) -> None:
        shares, solver = self.shares[p], self.solver
        total = self.bounds.phases[p].units
        solver.clause([share.used for share in shares])
        if self.bounds.whole[p]:
            for one, other in combinations(shares, 2):
                solver.clause((negation(one.used), negation(other.used)))
            return
        most: list[tuple[str, int]] = []
        least: list[tuple[str, int]] = []
        for share in shares:
            before = 0
            for literal, upper in zip(share.literals, [*(r - 1 for r in share.rows[1:]), total], strict=True):
                most.append((negation(literal), upper - before))
                before = upper
            least += [(literal, r - b) for literal, r, b in zip(share.literals, share.rows, (0, *share.rows), strict=False)]
        solver.at_most(most, sum(weight for _, weight in most) - total)
        solver.at_most(least, total)

    def _end(self, p: int) -> str:
        return self.solver.integer(f"e{p}")

    def _least_tail(self, p: int) -> int:
        return min(self.bounds.tails[p].values())

    def _after(self, guards: Sequence[str], later: str, earlier: str, ticks: int) -> None:
        """`later` >= `earlier` + `ticks`, where all guards are true."""
        known = f"(+ {earlier} {ticks})" if ticks else earlier
        self.solver.clause((*map(negation, guards), f"(>= {later} {known})"))

    def _finish(self, p: int) -> None:
        """When a phase has ended, its combine included, and what waits for all of that."""
        bounds = self.bounds
        combine = bounds.phases[p].combine
        end = self._end(p)
        if combine is None:
            for share in self.shares[p]:
                for literal, ticks in zip(share.literals, share.ticks, strict=True):
                    self._after((literal,), end, share.start, ticks)
        else:
            self._combine(p, combine.ticks_per_shard, barrier=combine.barrier)
        for q, earlier in enumerate(self.timer.limits.after):
            if p in earlier:
                for share in self.shares[q]:
                    self._after((share.used,), share.start, end, 0)

    def _combine(self, p: int, each: int, *, barrier: bool) -> None:
        solver, bounds = self.solver, self.bounds
        end, start = self._end(p), solver.integer(f"c{p}")
        first: list[str] = []
        for share in self.shares[p]:
            way = bounds.to_combine(p, self.places[share.place].kind)
            for literal, ticks in zip(share.literals, share.ticks, strict=True):
                self._after((literal,), start if barrier else end, share.start, ticks + way + (0 if barrier else each))
            chosen = solver.fresh()
            solver.clause((negation(chosen), share.used))
            self._after((chosen,), start, share.start, share.ticks[0] + way)
            first.append(chosen)
        solver.clause(first)
        used = [share.used for share in self.shares[p]]
        counts = [solver.boolean(f"n{p}_{n}") for n in range(1, len(used) + 1)]
        solver.add(counts[0])
        for n in range(2, len(used) + 1):
            for some in combinations(used, n):
                solver.clause((*map(negation, some), counts[n - 1]))
        for n, literal in enumerate(counts, 1):
            self._after((literal,), end, start, n * each)
        home = next((i for i, place in enumerate(self.places) if place.device == self.timer.home and place.count == 1), None)
        if home is not None and each:
            head = min(bounds.heads[p].values())
            merging = tuple(n * each for n in range(1, len(used) + 1))
            self.items.setdefault(home, []).append(Item(start, tuple(counts), merging, head, min(bounds.tails[p].values())))

    def _exclude(self, first: Item, second: Item) -> None:
        order = self.solver.fresh("o")
        for one, other, literal in ((first, second, order), (second, first, negation(order))):
            busy = next((guard for guard, ticks in zip(other.literals, other.ticks, strict=True) if ticks), None)
            for guard, ticks in zip(one.literals, one.ticks, strict=True):
                if ticks and busy is not None:  # what takes no time excludes nothing
                    self._after((guard, busy, literal), other.start, one.start, ticks)

    # ------------------------------------------------------------------------------ edges

    def _made(self, p: int) -> Iterator[tuple[int, str, str, int, int]]:
        """(place, literal, start, ticks, rows) of what an output may be made of; a combined one lies at home."""
        if self.bounds.phases[p].combine is not None:
            home = next(i for i, place in enumerate(self.places) if place.device == self.timer.home)
            yield home, "true", self._end(p), 0, self.bounds.phases[p].units
            return
        for share in self.shares[p]:
            for literal, ticks, rows in zip(share.literals, share.ticks, share.rows, strict=True):
                yield share.place, literal, share.start, ticks, rows

    def _edge(self, edge: int) -> None:
        p, q = self.timer.sources[edge], self.timer.targets[edge]
        bounds, described = self.bounds, self.timer.problem.edges[edge]
        one = bounds.whole[p] or bounds.phases[p].combine is not None  # made in one place
        units = bounds.phases[q].units
        for share in self.shares[q]:
            everything = bounds.whole[q] or described.whole
            single = self.places[share.place].count == 1
            for place, literal, start, ticks, rows in self._made(p):
                if everything:
                    self._arrive(edge, (literal, share.used), share, place, start, ticks, rows, bounds.phases[p].units)
                elif one:
                    for wanted, count in zip(share.literals, share.rows, strict=True):
                        if single or count == 1:
                            self._arrive(edge, (literal, wanted), share, place, start, ticks, count, units)
                elif single:
                    # all rows on one device need all of the operand
                    self._arrive(edge, (literal, share.literals[-1]), share, place, start, ticks, rows, bounds.phases[p].units)
            if not everything and not one:
                self._some(edge, share)

    def _some(self, edge: int, share: Share) -> None:
        """A part comes from some shard of the source."""
        p = self.timer.sources[edge]
        ways: list[str] = []
        for made in self.shares[p]:
            chosen = self.solver.fresh()
            self.solver.clause((negation(chosen), made.used))
            travel = self._travel(edge, made.place, share.place, 0, 1)
            if travel is None:
                continue
            self._after((chosen,), share.start, made.start, made.ticks[0] + travel)
            ways.append(chosen)
        self.solver.clause((negation(share.used), *ways))

    def _arrive(
        self, edge: int, guards: Sequence[str], share: Share, place: int, start: str, ticks: int, part: int, of: int
    ) -> None:
        """A shard waits for a shard of its operand, and for at least `part` of `of` of it to be brought."""
        travel = self._travel(edge, place, share.place, part, of)
        if travel is None:
            self.solver.clause([negation(guard) for guard in guards])
            return
        self._after(guards, share.start, start, ticks + travel)

    def _travel(self, edge: int, source: int, target: int, part: int, of: int) -> int | None:
        """The least ticks between two places of so much of an output; None if there is no way."""
        if source == target:
            return 0
        near, far = self.places[source].device, self.places[target].device
        delay = self.timer.delays[edge]
        if delay is not None:
            return delay + self.timer.syncs[far]
        path = self.timer.routes.path(near, far)
        if path is None:
            return None
        part = -(-part // self.places[source].count)  # one of equal makers has that much
        described = self.timer.problem.edges[edge]
        size = self.timer.problem.phases[described.source].out_bytes if described.bytes is None else described.bytes
        links = self.timer.problem.links
        return sum(links[hop.link].occupied(size * part // of) + hop.latency for hop in path) + self.timer.syncs[far]
