"""Whole phases on devices with delays between them, as tables that the search over states reads.

Eligible are problems of atomic phases (or phases that are never cut) without channels, memory limits or directives about order:
published task graphs, mostly.  A phase may start on a device when all that it reads has come: at once from the device itself,
after the delay of the edge from another.

`mirrored` is the same problem backwards in time, which has the same makespans: a join becomes a fork.

Invariants: phases are in the order of falling `tail`, so those due first come first; integers only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Final, TypeAlias

from ...timeline.orders import order_of
from ..bounds import Bounds

MOST_PHASES: Final = 320
MOST_DEVICES: Final = 16
NEVER: Final = 1 << 29
"""Ticks of a phase on a device that cannot run it."""
WEIGHT: Final = 1 << 10
MOST_TICKS: Final = 1 << 27
"""Of all phases and delays together."""

Arcs: TypeAlias = "Mapping[tuple[int, int], int]"


@dataclass(frozen=True, slots=True)
class Model:
    """`phases`: what each of them is in the problem.  `ticks` by phase and device, `tails` likewise: the ticks that must pass
    after its end there; `delays` by edge; `ready` by phase; `classes`: devices that may be renamed among themselves; `weights`:
    by device, how much a tick of it counts when the devices are taken together."""

    phases: tuple[int, ...]
    ticks: tuple[tuple[int, ...], ...]
    tails: tuple[tuple[int, ...], ...]
    ready: tuple[int, ...]
    delays: Arcs
    classes: tuple[tuple[int, ...], ...]
    weights: tuple[int, ...]
    devices: tuple[int, ...]
    backwards: bool = False

    @property
    def horizon(self) -> int:
        """More than any plan worth a look takes."""
        return sum(max(t for t in row if t < NEVER) for row in self.ticks) + sum(self.delays.values()) + max(self.ready)

    @property
    def bound(self) -> int:
        """No plan is shorter."""
        return max(r + min(t + e for t, e in zip(self.ticks[p], self.tails[p], strict=True)) for p, r in enumerate(self.ready))


def eligible(bounds: Bounds) -> bool:
    """Whether the problem is one of these."""
    timer = bounds.timer
    limits = timer.limits
    if not 2 <= len(bounds.order) <= MOST_PHASES or not all(bounds.whole):
        return False
    if timer.linked or timer.capped or timer.wants_copies or timer.ordered or any(limits.after) or limits.fixed:
        return False
    if limits.machines is not None or limits.deadline is not None or any(timer.syncs):
        return False
    if sum(min(len(members), len(bounds.order)) for members in bounds.costs.members) > MOST_DEVICES:
        return False
    return all(task.combine is None and task.together is None for task in timer.problem.phases)


def model_of(bounds: Bounds) -> Model | None:
    """The tables of a problem; None if it is not one of these."""
    if not eligible(bounds):
        return None
    costs = bounds.costs
    timer = costs.timer
    count = len(costs.allowed)
    devices = sorted(d for members in costs.members for d in members[:count])
    place = {d: i for i, d in enumerate(devices)}
    classes = tuple(tuple(place[d] for d in members if d in place) for members in costs.members)
    ticks: list[tuple[int, ...]] = []
    for p in range(count):
        allowed = set(costs.allowed[p])
        ticks.append(tuple(bounds.ticks_on(p, costs.class_of[d]) if d in allowed else NEVER for d in devices))
    delays: dict[tuple[int, int], int] = {}
    for edge, delay in enumerate(timer.delays):
        pair = timer.sources[edge], timer.targets[edge]
        delays[pair] = max(delays.get(pair, 0), delay or 0)
    ready = tuple(task.ready for task in timer.problem.phases)
    if sum(max(t for t in row if t < NEVER) for row in ticks) + sum(delays.values()) + max(ready) > MOST_TICKS:
        return None
    return _made(tuple(range(count)), ticks, ready, (0,) * count, delays, classes, tuple(devices), bounds.order)


def mirrored(model: Model) -> Model:
    """The problem backwards."""
    delays = {(q, p): delay for (p, q), delay in model.delays.items()}
    order = _order(len(model.phases), delays)
    none = (0,) * len(model.phases)
    made = _made(model.phases, model.ticks, none, model.ready, delays, model.classes, model.devices, order)
    return Model(made.phases, made.ticks, made.tails, made.ready, made.delays, made.classes, made.weights, made.devices, True)


def _order(count: int, delays: Arcs) -> list[int]:
    before: list[list[int]] = [[] for _ in range(count)]
    for p, q in delays:
        before[q].append(p)
    return order_of(before) or []


def _made(
    phases: tuple[int, ...], ticks: Sequence[tuple[int, ...]], ready: Sequence[int], last: Sequence[int], delays: Arcs,
    classes: tuple[tuple[int, ...], ...], devices: tuple[int, ...], order: Sequence[int],
) -> Model:  # fmt: skip
    """With tails, and phases in the order of those.  `last`: ticks that must follow each phase whatever comes after it."""
    after: list[list[tuple[int, int]]] = [[] for _ in ticks]
    before: list[list[tuple[int, int]]] = [[] for _ in ticks]
    for (p, q), delay in delays.items():
        after[p].append((q, delay))
        before[q].append((p, delay))
    tails = chained(ticks, after, list(reversed(order)), last, classes)
    heads = chained(ticks, before, list(order), ready, classes)
    weights = _weights(ticks, len(devices))
    sorting = sorted(range(len(ticks)), key=lambda p: (-min(tails[p]), order.index(p)))
    place = {p: i for i, p in enumerate(sorting)}
    return Model(
        tuple(phases[p] for p in sorting),
        tuple(ticks[p] for p in sorting),
        tuple(tails[p] for p in sorting),
        tuple(min(heads[p]) for p in sorting),
        {(place[p], place[q]): delay for (p, q), delay in delays.items()},
        classes,
        weights,
        devices,
    )


def chained(
    ticks: Sequence[tuple[int, ...]], after: Sequence[Sequence[tuple[int, int]]], order: Sequence[int], last: Sequence[int],
    classes: Sequence[Sequence[int]],
) -> list[tuple[int, ...]]:  # fmt: skip
    """By phase and device: the ticks that must follow its end there.

    Of the phases that read it, those on the same device come one after the other there (at best those with the longest rests
    first), the others wait for the delay; for a rest of r ticks some must be local, and the least r for which these fit holds."""
    kind = {d: c for c, members in enumerate(classes) for d in members}
    rests: list[tuple[int, ...]] = [()] * len(ticks)
    for p in order:
        found = [last[p]] * len(ticks[p])
        for members in classes:
            d = members[0]
            if ticks[p][d] >= NEVER:
                continue
            near = [(ticks[q][d], rests[q][d]) for q, _ in after[p]]
            far = [
                delay + min(ticks[q][e] + rests[q][e] for e in kind if e != d) if len(kind) > 1 else NEVER
                for q, delay in after[p]
            ]
            rest = _least(near, far)
            for e in members:
                found[e] = max(found[e], rest)
        rests[p] = tuple(found)
    return rests


def _least(near: Sequence[tuple[int, int]], far: Sequence[int]) -> int:
    """The least r such that those with more than r when they are far fit in r ticks near."""
    low = max((min(n + t, f) for (n, t), f in zip(near, far, strict=True)), default=0)
    for r in sorted({low, *(f for f in far if f > low)}):
        local = sorted(((n, t) for (n, t), f in zip(near, far, strict=True) if f > r), key=lambda pair: -pair[1])
        free = end = 0
        for n, t in local:
            free += n
            end = max(end, free + t)
        if end <= r:
            return r
        following = min((f for f in far if f > r), default=NEVER)
        if end < following:
            return end  # the same are local until then
    return low


def _weights(ticks: Sequence[Sequence[int]], count: int) -> tuple[int, ...]:
    """How fast each device is, of WEIGHT at most."""
    least = [min(row) for row in ticks]
    result: list[int] = []
    for d in range(count):
        able = [p for p, row in enumerate(ticks) if row[d] < NEVER]
        spent = sum(ticks[p][d] for p in able)
        result.append(WEIGHT if not spent else max(1, min(WEIGHT, WEIGHT * sum(least[p] for p in able) // spent)))
    common = gcd(*result)
    return tuple(weight // common for weight in result)
