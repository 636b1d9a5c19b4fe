"""HEFT (Topcuoglu, Hariri, Wu 2002) and PEFT (Arabnejad, Barbosa 2014): list scheduling of whole phases.

HEFT orders phases by upward rank with mean costs and places each where it finishes first, gaps included.  PEFT ranks by the
mean of the optimistic cost table OCT, takes the best ready phase, and adds OCT to the finish it minimises.  Both papers have
no contention and no memory: so do the placements here; `timing` then says what they cost in the problem.
"""

from __future__ import annotations

from bisect import insort
from fractions import Fraction

from ...timeline.orders import order_of
from ...timeline.resources import gap
from ...timeline.timing import Decisions, Queueing
from ..costs import Costs


def heft(costs: Costs) -> Decisions | None:
    """Decisions of HEFT; None where some phase can run nowhere, or the order is cyclic."""
    timer = costs.timer
    order = order_of(timer.before)
    if order is None or not all(costs.allowed):
        return None
    rank = upward_ranks(costs, order)
    placement = Placement(costs)
    listed = timer.legal(sorted(range(len(order)), key=lambda p: (-rank[p], p)))
    if listed is None:
        return None
    for p in listed:
        if not placement.place(p, None):
            return None
    return placement.decisions(listed)


def upward_ranks(costs: Costs, order: list[int]) -> list[Fraction]:
    """rank(p) = mean ticks + the largest of mean transfer + rank over its successors."""
    timer = costs.timer
    rank = [Fraction(0)] * len(order)
    for p in reversed(order):
        longest = Fraction(0)
        for edge in timer.outgoing[p]:
            longest = max(longest, costs.mean_transfer(edge) + rank[timer.targets[edge]])
        rank[p] = costs.mean_ticks(p) + longest
    for p in reversed(order):
        for q in timer.before[p]:
            rank[q] = max(rank[q], rank[p])
    return rank


def optimistic_costs(costs: Costs, order: list[int]) -> list[list[Fraction]]:
    """OCT by phase and device class: the least that must follow it, without waiting for devices."""
    timer = costs.timer
    count = len(costs.members)
    table = [[Fraction(0)] * count for _ in order]
    for p in reversed(order):
        for edge in timer.outgoing[p]:
            q = timer.targets[edge]
            mean = costs.mean_transfer(edge)
            least = sorted((table[q][w] + costs.ticks(q, costs.members[w][0]), w) for w in costs.allowed_classes[q])
            for c in range(count):
                best = min((value + (mean if w != c else 0) for value, w in least), default=Fraction(0))
                table[p][c] = max(table[p][c], best)
    return table


def peft(costs: Costs) -> Decisions | None:
    """Decisions of PEFT; None as for `heft`."""
    timer = costs.timer
    order = order_of(timer.before)
    if order is None or not all(costs.allowed):
        return None
    table = optimistic_costs(costs, order)
    weights = [len(members) for members in costs.members]
    rank = [sum((v * w for v, w in zip(row, weights, strict=True)), Fraction(0)) / sum(weights) for row in table]
    waiting = [len(earlier) for earlier in timer.before]
    followers: list[list[int]] = [[] for _ in order]
    for p, earlier in enumerate(timer.before):
        for q in earlier:
            followers[q].append(p)
    ready = sorted((-rank[p], p) for p in order if waiting[p] == 0)
    listed: list[int] = []
    while ready:
        _, p = ready.pop(0)
        listed.append(p)
        for q in followers[p]:
            waiting[q] -= 1
            if waiting[q] == 0:
                insort(ready, (-rank[q], q))
    final = timer.legal(listed)
    if final is None:
        return None
    placement = Placement(costs)
    for p in final:
        if not placement.place(p, table[p]):
            return None
    return placement.decisions(final)


class Placement:
    """Which device each placed phase has, and when each device is busy.  Unused equal devices are tried once a class."""

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        self.device = [-1] * len(costs.allowed)
        self.finish = [0] * len(costs.allowed)
        self.busy: dict[int, list[tuple[int, int]]] = {}
        self.used: list[list[int]] = [[] for _ in costs.members]
        self.machines = costs.timer.limits.machines

    def tried(self, phase: int) -> list[int]:
        """Devices worth a try: those in use, and the first unused one of each class unless no more machines may be used."""
        costs = self.costs
        full = self.machines is not None and sum(map(len, self.used)) >= self.machines
        result: list[int] = []
        for c in costs.allowed_classes[phase]:
            result += self.used[c]
            if not full and len(self.used[c]) < len(costs.members[c]):
                result.append(costs.members[c][len(self.used[c])])
        return result

    def place(self, phase: int, ahead: list[Fraction] | None) -> bool:
        costs = self.costs
        timer = costs.timer
        floor = timer.problem.phases[phase].ready
        for q in timer.before[phase]:
            floor = max(floor, self.finish[q] if q in timer.limits.after[phase] else 0)
        best: tuple[int | Fraction, int, int, int] | None = None
        for device in self.tried(phase):
            start = floor
            reachable = True
            for edge in timer.incoming[phase]:
                source = timer.sources[edge]
                travel = costs.transfer(edge, self.device[source], device)
                if travel is None:
                    reachable = False
                    break
                if self.finish[source] + travel > start:
                    start = self.finish[source] + travel
            if not reachable:
                continue
            ticks = costs.ticks(phase, device)
            start = gap(self.busy.get(device, []), start, ticks)
            value = start + ticks if ahead is None else start + ticks + ahead[costs.class_of[device]]
            if best is None or value < best[0]:
                best = (value, device, start, start + ticks)
        if best is None:
            return False
        _, device, start, end = best
        self.device[phase], self.finish[phase] = device, end
        if device not in self.busy:
            self.busy[device] = []
            insort(self.used[costs.class_of[device]], device)
        insort(self.busy[device], (start, end))
        return True

    def decisions(self, order: list[int]) -> Decisions:
        modes = tuple(self.costs.single(p, d) for p, d in enumerate(self.device))
        return Decisions(modes, tuple(order), Queueing.INSERT)
