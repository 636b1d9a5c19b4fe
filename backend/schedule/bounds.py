"""Certified lower bounds of the makespan, for every plan that obeys the problem and its directives.

* heads and tails: the earliest start of a phase by class of device, and the ticks that must follow its end; their sum with
  its own least ticks (of all cuts, water-filled) is the critical path;
* load: the phases that start no earlier than a and leave at least b after them must do their work in T - a - b.  The work
  of a set over unequal devices is the value of a linear program; any weights w >= 0 of the devices give a bound of it,
  sum over phases of min over devices of w[d] times ticks, over sum of w.  Weights are sought in floating point and used
  as integers, so the bound needs no trust in them;
* energy: as load, for every interval and for phases that may lie partly in it;
* links: what must leave home or return to it over one channel.

All arithmetic of the results is in integers.  Neighbours: `planner` stops when a plan meets a bound; `large` reports gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

from .costs import Costs, order_of
from .problem import Ticks
from .splitting import least, most

SCALE: Final = 1 << 24
MOST_WINDOWS: Final = 24
ROUNDS: Final = 60
MOST_SHARDS: Final = 256
FAR: Final = 1 << 60


@dataclass(frozen=True, slots=True)
class Bound:
    """No plan is shorter than `ticks`, because of `reason`."""

    ticks: int
    reason: str


class Bounds:
    """Lower bounds of one problem, each computed when asked."""

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        self.timer = costs.timer
        order = order_of(self.timer.before)
        assert order is not None and all(costs.allowed)
        self.order = order
        self.phases = self.timer.problem.phases
        count = len(order)
        self.whole = [self._is_whole(p) for p in range(count)]
        """Phases that run on one device in every plan."""
        self.shortest = [self._least_ticks(p) for p in range(count)]

    def best(self) -> Bound:
        """The best of all bounds."""
        return max((self.path(), self.load(), self.links()), key=lambda bound: bound.ticks)

    # ------------------------------------------------------------------------------ phases

    def _is_whole(self, phase: int) -> bool:
        limits = self.timer.limits
        task = self.phases[phase]
        if phase in limits.fixed:
            return len(limits.fixed[phase]) == 1
        return not task.rows or phase in limits.unsplit or len(self.costs.allowed[phase]) == 1

    def _least_ticks(self, phase: int) -> int:
        """From the first start to the end of its combine, at the best."""
        timer, costs, task = self.timer, self.costs, self.phases[phase]
        each = 0 if task.combine is None else task.combine.ticks_per_shard
        if phase in timer.limits.fixed:
            mode = timer.limits.fixed[phase]
            return max(timer.ticks(phase, d, rows) or 0 for d, rows in mode) + each * len(mode) * (
                task.combine is not None and task.combine.barrier
            )
        if self.whole[phase]:
            return min(timer.ticks(phase, costs.members[c][0], task.units) or 0 for c in costs.allowed_classes[phase]) + each
        groups = [(costs.members[c][0], len(costs.members[c])) for c in costs.allowed_classes[phase]]

        def reach(time: int, machines: int) -> int:
            counts = sorted(((self._rows_within(phase, d, time), number) for d, number in groups), reverse=True)
            total = 0
            for rows, number in counts:
                total += rows * min(number, machines)
                machines -= min(number, machines)
            return total

        ceiling = min(timer.ticks(phase, d, task.rows) or 0 for d, _ in groups)
        limit = min(sum(number for _, number in groups), task.rows, timer.limits.machines or task.rows)
        time = least(0, ceiling, lambda t: reach(t, limit) >= task.rows)
        if not each:
            return time
        if (task.combine is not None and not task.combine.barrier) or limit > MOST_SHARDS:
            return time + each
        return least(time + each, ceiling + each, lambda t: any(
            reach(t - each * n, n) >= task.rows for n in range(1, limit + 1) if t >= each * n
        ))  # fmt: skip

    def _rows_within(self, phase: int, device: int, time: int) -> int:
        """The most rows whose shard takes at most `time` there."""
        return most(self.phases[phase].rows, lambda rows: rows == 0 or (self.timer.ticks(phase, device, rows) or 0) <= time)

    # --------------------------------------------------------------------- heads and tails

    @cached_property
    def heads(self) -> list[dict[int, int]]:
        """By phase and class: no shard of it starts there before."""
        costs, timer = self.costs, self.timer
        result: list[dict[int, int]] = [{} for _ in self.order]
        for p in self.order:
            floor = self.phases[p].ready
            for q in timer.limits.after[p]:
                floor = max(floor, self._end(result, q))
            for q in timer.limits.issued[p]:
                floor = max(floor, min(result[q].values()))
            for c in costs.allowed_classes[p]:
                start = floor
                for edge in timer.incoming[p]:
                    start = max(start, self._arrival(result, edge, c, self.whole[p]))
                result[p][c] = start
        return result

    def _end(self, heads: list[dict[int, int]], phase: int) -> int:
        if not self.whole[phase] or self.phases[phase].combine is not None:
            return min(heads[phase].values()) + self.shortest[phase]
        return min(head + self._ticks_on(phase, c) for c, head in heads[phase].items())

    def _ticks_on(self, phase: int, kind: int) -> int:
        return self.timer.ticks(phase, self.costs.members[kind][0], self.phases[phase].units) or 0

    def _arrival(self, heads: list[dict[int, int]], edge: int, kind: int, whole: bool) -> int:
        """The earliest tick at which a shard on a device of class `kind` has all or some of what it reads over `edge`."""
        q = self.timer.sources[edge]
        if self.phases[q].combine is not None:
            home = self.costs.class_of[self.timer.home]
            return self._end(heads, q) + (self._travel(edge, home, kind) if whole else 0)
        if not self.whole[q] or not whole:
            return self._end(heads, q) if self._reads_all(edge) else min(heads[q].values())
        return min(head + self._ticks_on(q, c) + self._travel(edge, c, kind) for c, head in heads[q].items())

    def _reads_all(self, edge: int) -> bool:
        """Whether every shard of the target waits for every shard of the source."""
        source, target = self.timer.sources[edge], self.timer.targets[edge]
        return self.whole[source] or self.whole[target] or self.timer.problem.edges[edge].whole

    def _travel(self, edge: int, source: int, target: int) -> int:
        """The least ticks between a device of one class and one of another."""
        if source == target:
            return 0
        ticks = self.costs.transfer(edge, self.costs.members[source][0], self.costs.members[target][0])
        return FAR if ticks is None else ticks

    @cached_property
    def tails(self) -> list[dict[int, int]]:
        """By phase and class: the ticks that must pass after all of it has ended there."""
        costs, timer = self.costs, self.timer
        result: list[dict[int, int]] = [{} for _ in self.order]
        followers: list[list[int]] = [[] for _ in self.order]
        for p, earlier in enumerate(timer.limits.after):
            for q in earlier:
                followers[q].append(p)
        home = costs.class_of[timer.home]
        for p in reversed(self.order):
            floor = max((self._rest(result, q) for q in followers[p]), default=0)
            for c in costs.allowed_classes[p]:
                ticks = floor
                for edge in timer.outgoing[p]:
                    q = timer.targets[edge]
                    if not self._reads_all(edge):
                        continue
                    at = home if self.phases[p].combine is not None else c
                    if self.whole[q] and (self.whole[p] or self.phases[p].combine is not None):
                        rest = min(
                            self._travel(edge, at, k) + self._ticks_on(q, k) + self._combined(q) + tail
                            for k, tail in result[q].items()
                        )
                    else:
                        rest = self._rest(result, q)
                    ticks = max(ticks, rest)
                result[p][c] = ticks
        return result

    def _combined(self, phase: int) -> int:
        combine = self.phases[phase].combine
        return 0 if combine is None else combine.ticks_per_shard

    def _rest(self, tails: list[dict[int, int]], phase: int) -> int:
        """From the start of a phase to the end of everything."""
        if self.whole[phase]:
            return min(self._ticks_on(phase, c) + self._combined(phase) + tail for c, tail in tails[phase].items())
        return self.shortest[phase] + min(tails[phase].values())

    def path(self) -> Bound:
        """The longest chain."""
        longest = 0
        for p in self.order:
            if self.whole[p]:
                through = min(
                    head + self._ticks_on(p, c) + self._combined(p) + self.tails[p][c] for c, head in self.heads[p].items()
                )
            else:
                through = min(self.heads[p].values()) + self.shortest[p] + min(self.tails[p].values())
            longest = max(longest, through)
        return Bound(longest, "critical path")

    # ------------------------------------------------------------------------------ load

    @cached_property
    def work(self) -> list[dict[int, int]]:
        """By phase and class: SCALE times the least ticks that all of it takes there, per whole phase; a part of it takes at
        least its share."""
        return [
            {c: self._work_on(p, self.costs.members[c][0]) for c in self.costs.allowed_classes[p]} for p in range(len(self.order))
        ]

    def _work_on(self, phase: int, device: int) -> int:
        task = self.phases[phase]
        if self.whole[phase]:
            return (self.timer.ticks(phase, device, task.units) or 0) * SCALE
        table = task.ticks[self.timer.kinds[device]]
        rate = _least_rate(table, task.rows)
        return SCALE * task.rows * rate.numerator // rate.denominator

    def load(self) -> Bound:
        """The best window: what must be done between a and T - b."""
        costs = self.costs
        sizes = [len(members) for members in costs.members]
        if self.timer.limits.machines is not None:
            sizes = [min(size, self.timer.limits.machines) for size in sizes]
        number = min(sum(sizes), self.timer.limits.machines or sum(sizes))
        head = [min(heads.values()) for heads in self.heads]
        tail = [self._after(p) for p in range(len(self.order))]
        best = 0
        count = max(3, min(MOST_WINDOWS, 1500 // len(self.order)))
        for a in _spread(head, count):
            late = [p for p in self.order if head[p] >= a]
            for b in _spread([tail[p] for p in late], count):
                chosen = [p for p in late if tail[p] >= b]
                quick = 0
                on_fastest = [0] * len(sizes)
                for p in chosen:
                    work, kind = min((w, c) for c, w in self.work[p].items())
                    quick += work
                    on_fastest[kind] += work
                # the program's value is at most that of everything on its fastest class
                if a + b + max(-(-w // (SCALE * n)) for w, n in zip(on_fastest, sizes, strict=True)) <= best:
                    continue
                best = max(best, a + b + -(-quick // (SCALE * number)))
                for weights in self._weights(chosen, sizes):
                    total = sum(w * n for w, n in zip(weights, sizes, strict=True))
                    if total:
                        work = sum(min(weights[c] * w for c, w in self.work[p].items()) for p in chosen)
                        best = max(best, a + b + -(-work // (SCALE * total)))
        return Bound(best, "load")

    def _after(self, phase: int) -> int:
        """Ticks after the last work of a phase on a device, whichever that is."""
        combine = self.phases[phase].combine
        extra = 0 if combine is None else combine.ticks_per_shard
        return min(self.tails[phase].values()) + extra

    def _weights(self, chosen: Sequence[int], sizes: Sequence[int]) -> list[list[int]]:
        """Weights of the classes worth trying: each class alone, and the result of a few rounds of multiplicative updates
        (a class that the cheapest assignment overloads gets dearer)."""
        count = len(sizes)
        result = [[SCALE * (c == k) for c in range(count)] for k in range(count)] if count <= 16 else []
        if count == 1 or not chosen:
            return result
        jobs = [[(c, w / SCALE) for c, w in self.work[p].items()] for p in chosen]
        weights = [1.0 / sum(sizes)] * count
        best, best_value = weights, 0.0
        for step in range(ROUNDS):
            load = [0.0] * count
            value = 0.0
            for job in jobs:
                cost, kind, ticks = min((weights[c] * w, c, w) for c, w in job)
                load[kind] += ticks
                value += cost
            if value > best_value:
                best, best_value = weights, value
            if not value:
                break
            rate = 1.0 / (1.0 + 0.2 * step)
            factors = [load[c] / sizes[c] / value for c in range(count)]
            weights = [w * 2.718281828459045 ** (rate * (min(f, 4.0) - 1.0)) for w, f in zip(weights, factors, strict=True)]
            total = sum(w * n for w, n in zip(weights, sizes, strict=True))
            weights = [w / total for w in weights]
        result.append([int(w * SCALE * 256) for w in best])
        return result

    def energy(self, start: int) -> Bound:
        """From `start` on, the least T in which no interval has more work than all devices together can do in it: whatever its
        place between head and tail, a phase does the overlap of its leftmost or of its rightmost position."""
        devices = sum(map(len, self.costs.members))
        devices = min(devices, self.timer.limits.machines or devices)
        jobs: list[tuple[int, int, int]] = []
        for p in self.order:
            if self.whole[p]:
                ticks = min(self._ticks_on(p, c) for c in self.costs.allowed_classes[p])
                if ticks:
                    jobs.append((min(self.heads[p].values()), ticks, self._after(p)))
        time = start
        while (lack := _lacking(jobs, devices, time)) > 0:
            time += -(-lack // max(1, devices))
        return Bound(time, "energy")

    # ------------------------------------------------------------------------------ links

    def links(self) -> Bound:
        """Transfers that no placement avoids, by channel: between phases with one possible device each."""
        timer, costs = self.timer, self.costs
        carried: dict[object, list[tuple[int, int, int]]] = {}
        done: set[tuple[int, int]] = set()
        for edge in range(len(timer.sources)):
            p, q = timer.sources[edge], timer.targets[edge]
            if timer.delays[edge] is not None or len(costs.allowed[p]) != 1 or len(costs.allowed[q]) != 1:
                continue
            source, target = costs.allowed[p][0], costs.allowed[q][0]
            path = timer.routes.path(source, target) if source != target else None
            if path is None or len(path) != 1 or path[0].channel is None or (p, target) in done:
                continue
            done.add((p, target))
            size = self.phases[p].out_bytes
            described = timer.problem.edges[edge].bytes
            busy = timer.problem.links[path[0].link].occupied(size if described is None else described)
            start = min(self.heads[p].values()) + self.shortest[p]
            rest = path[0].latency + timer.syncs[target] + self._rest(self.tails, q)
            carried.setdefault(path[0].channel, []).append((busy, start, rest))
        best = 0
        for items in carried.values():
            best = max(best, min(s for _, s, _ in items) + sum(b for b, _, _ in items) + min(r for _, _, r in items))
        return Bound(best, "link")


def _lacking(jobs: Sequence[tuple[int, int, int]], devices: int, time: int) -> int:
    """How much more work than there is room for some interval has in any schedule of `time`; at most 0 if none has."""
    begins = sorted({head for head, _, _ in jobs} | {time - tail - ticks for _, ticks, tail in jobs})
    ends = sorted({time - tail for _, _, tail in jobs} | {head + ticks for head, ticks, _ in jobs})
    worst = 0
    for begin in begins:
        late = [(head + ticks - begin, ticks, time - tail - ticks) for head, ticks, tail in jobs if head + ticks > begin]
        for end in ends:
            if end <= begin:
                continue
            work = 0
            for left, ticks, last in late:
                if last < end:
                    work += min(left, ticks, end - last, end - begin)
            worst = max(worst, work - devices * (end - begin))
    return worst


def _least_rate(table: Ticks, rows: int) -> Fraction:
    """The least ticks per row of any shard of 1 to `rows` rows: on a straight line that is at an end."""
    points = table.points
    if len(points) == 1:
        return Fraction(points[0][1], points[0][0])
    rates = [Fraction(ticks, size) for size, ticks in points if 1 <= size <= rows]
    for r in (1, rows):
        if r <= points[0][0]:
            rates.append(Fraction(points[0][1], r))
            continue
        place = next((i for i, (size, _) in enumerate(points) if r <= size), len(points) - 1)
        (low, first), (high, last) = points[place - 1], points[place]
        rates.append((first + Fraction((last - first) * (r - low), high - low)) / r)
    return min(rates)


def _spread(values: Sequence[int], count: int) -> list[int]:
    """The different values, or `count` of them evenly if there are more."""
    different = sorted(set(values))
    if len(different) <= count:
        return different
    return [different[i * (len(different) - 1) // (count - 1)] for i in range(count)]
