"""Lower bounds from work: what must be done in an interval against what the devices can do in it.

* load: the phases that start no earlier than a and leave at least b after them.  Their work over unequal devices is a linear
  program, in which a class of devices has what is left of T between the earliest head and the least tail there; any weights
  w >= 0 of the classes give a bound of it: the sum over phases of the min over classes of w times ticks must fit in the sum of
  w times what the classes have.  Weights are sought in floating point and used as integers, so no bound trusts them;
* energy: for every interval, counting phases that may lie partly in it, all devices taken together.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Final

from .bounds import Bound, Bounds
from .filling import least

SCALE: Final = 1 << 24
MOST_WINDOWS: Final = 24
MOST_HEADS: Final = 1024
"""Classes times phases up to which windows also begin by the earliest start on each class."""
ROUNDS: Final = 60
TURNS: Final = 3
SHUT: Final = 1 << 20
"""How much dearer than any other a class is that has no time at all."""


def best_bound(bounds: Bounds) -> Bound:
    """The best of all bounds but `energy`, which takes longer."""
    return max((bounds.path, load(bounds), bounds.links()), key=lambda bound: bound.ticks)


def load(bounds: Bounds) -> Bound:
    """The best window."""
    order = bounds.order
    tail = [min(bounds.rest(p, c) for c in bounds.tails[p]) for p in range(len(order))]
    work, number_of = works(bounds), sizes(bounds)
    number = min(sum(number_of), bounds.timer.limits.machines or sum(number_of))
    best = 0
    count = max(3, min(MOST_WINDOWS, 1500 // len(order)))
    for head in _heads(bounds):
        for a in _spread(head, count):
            late = [p for p in order if head[p] >= a]
            for b in _spread([tail[p] for p in late], count):
                chosen = [p for p in late if tail[p] >= b]
                first = min(min(bounds.heads[p].values()) for p in chosen)
                best = max(best, _Window(bounds, chosen, work, number_of).bound(best))
                best = max(best, first + b + -(-sum(min(work[p].values()) for p in chosen) // (SCALE * number)))
    return Bound(best, "load")


def _heads(bounds: Bounds) -> list[tuple[int, ...]]:
    """What windows begin by: the earliest start of each phase anywhere, and, if that is little to look at, on each class."""
    first = [min(heads.values()) for heads in bounds.heads]
    kinds = range(len(bounds.costs.members)) if len(bounds.costs.members) * len(first) <= MOST_HEADS else ()
    on_each = (tuple(heads.get(c, least) for heads, least in zip(bounds.heads, first, strict=True)) for c in kinds)
    return list(dict.fromkeys((tuple(first), *on_each)))


def shared(bounds: Bounds) -> int:
    """The busiest device works for at least so many ticks."""
    return _Window(bounds, bounds.order, works(bounds), sizes(bounds), whenever=True).bound(0)


def works(bounds: Bounds) -> list[dict[int, int]]:
    """By phase and class, `SCALE` times the least ticks of work."""
    return [{c: _work_on(bounds, p, c) for c in bounds.costs.allowed_classes[p]} for p in range(len(bounds.order))]


def sizes(bounds: Bounds) -> list[int]:
    """Devices of each class that may work."""
    machines = bounds.timer.limits.machines
    return [len(members) if machines is None else min(len(members), machines) for members in bounds.costs.members]


def _work_on(bounds: Bounds, phase: int, kind: int) -> int:
    """SCALE times the least ticks that all of a phase takes on a class; a part takes at least its share."""
    task = bounds.phases[phase]
    if bounds.whole[phase]:
        return bounds.ticks_on(phase, kind) * SCALE
    rate = task.ticks[bounds.timer.kinds[bounds.costs.members[kind][0]]].rate(task.rows)
    return SCALE * task.rows * rate.numerator // rate.denominator


class _Window:
    """Phases, and what each class loses of T before and after them (`whenever`: nothing)."""

    def __init__(
        self,
        bounds: Bounds,
        chosen: Sequence[int],
        work: Sequence[dict[int, int]],
        sizes: Sequence[int],
        *,
        whenever: bool = False,
    ) -> None:
        self.jobs = [list(work[p].items()) for p in chosen]
        self.sizes = sizes
        self.lost = (
            [0] * len(sizes)
            if whenever
            else [
                min((bounds.heads[p][c] for p in chosen if c in work[p]), default=0)
                + min((bounds.rest(p, c) for p in chosen if c in work[p]), default=0)
                for c in range(len(sizes))
            ]
        )

    def bound(self, known: int) -> int:
        """The best bound that is found, or something up to `known`."""
        on_fastest = [0] * len(self.sizes)
        for job in self.jobs:
            work, kind = min((w, c) for c, w in job)
            on_fastest[kind] += work
        if all(
            w == 0 or lost - (-w // (SCALE * n)) <= known for w, n, lost in zip(on_fastest, self.sizes, self.lost, strict=True)
        ):
            return known  # everything on its fastest class fits in that time
        best = known
        if len(self.sizes) <= 16:
            for kind in range(len(self.sizes)):
                best = self.least_time([SCALE * (c == kind) for c in range(len(self.sizes))], best)
        for _ in range(TURNS):
            found = self.least_time(self.weights(best), best)
            if found == best:
                break
            best = found
        return best

    def least_time(self, weights: Sequence[int], known: int) -> int:
        """The least T from `known` on in which these weights find no contradiction."""
        work = sum(min(weights[c] * w for c, w in job) for job in self.jobs)

        def room(time: int) -> int:
            return SCALE * sum(w * n * max(0, time - lost) for w, n, lost in zip(weights, self.sizes, self.lost, strict=True))

        if room(known) >= work:
            return known
        width = sum(w * n for w, n in zip(weights, self.sizes, strict=True))
        ceiling = max(known, *self.lost) + -(-work // (SCALE * width))
        return least(known, ceiling, lambda time: room(time) >= work)

    def weights(self, time: int) -> list[int]:
        """A few rounds of multiplicative updates at T = `time` + 1: a class that the cheapest assignment overloads gets
        dearer."""
        room = [float(n * max(0, time + 1 - lost)) for n, lost in zip(self.sizes, self.lost, strict=True)]
        open_classes = [c for c, ticks in enumerate(room) if ticks > 0]
        if not open_classes:
            return [1] * len(room)
        jobs = [[(c, w / SCALE) for c, w in job] for job in self.jobs]
        weights = [1.0 / sum(room) if ticks > 0 else 0.0 for ticks in room]
        best, best_value = weights, -1.0
        for step in range(ROUNDS):
            shut = SHUT * max(weights)
            current = [w if room[c] > 0 else shut for c, w in enumerate(weights)]
            load = [0.0] * len(room)
            value = 0.0
            for job in jobs:
                cost, kind, ticks = min((current[c] * w, c, w) for c, w in job)
                load[kind] += ticks
                value += cost
            if value > best_value:
                best, best_value = current, value
            if not value:
                break
            rate = 1.0 / (1.0 + 0.2 * step)
            for c in open_classes:
                weights[c] *= exp(rate * (min(load[c] / room[c] / value, 4.0) - 1.0))
            total = sum(weights[c] * room[c] for c in open_classes)
            weights = [w / total for w in weights]
        scale = (SCALE << 8) / max(best[c] for c in open_classes)
        return [int(w * scale) for w in best]


def energy(bounds: Bounds, start: int) -> Bound:
    """From `start` on, the least T in which no interval has more work than all devices together can do in it: whatever its
    place between head and tail, a phase does the overlap of its leftmost or of its rightmost position."""
    devices = sum(map(len, bounds.costs.members))
    devices = min(devices, bounds.timer.limits.machines or devices)
    jobs: list[tuple[int, int, int]] = []
    for p in bounds.order:
        if bounds.whole[p]:
            ticks = min(bounds.ticks_on(p, c) for c in bounds.costs.allowed_classes[p])
            if ticks:
                jobs.append((min(bounds.heads[p].values()), ticks, min(bounds.rest(p, c) for c in bounds.tails[p])))
    time = start
    while (lack := _lacking(jobs, devices, time)) > 0:
        time += -(-lack // max(1, devices))
    return Bound(time, "energy")


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


def _spread(values: Sequence[int], count: int) -> list[int]:
    """The different values, or `count` of them evenly if there are more."""
    different = sorted(set(values))
    if len(different) <= count:
        return different
    return [different[i * (len(different) - 1) // (count - 1)] for i in range(count)]
