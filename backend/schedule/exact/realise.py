"""A schedule from a model: the modes and the orders that it chose, with everything else exact and as early as these allow.

The model's own ticks may be too optimistic where the encoding leaves something out; the search finds what from the plan.
Neighbours: `encoding` (whose names are read here), `peaks` (memory of the result), `search`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from ..problem import CombineStep, DeviceIndex, PhaseIndex, Schedule, Shard, Transfer
from .encoding import Encoding, Sending
from .shape import Shape

Key: TypeAlias = tuple[int, ...]
"""Kind of step, phase, then what tells its steps apart: devices, an edge's own ticks."""


@dataclass(slots=True)
class Item:
    """One step of a queue.  `sent` names the possible transfer of the encoding that it is."""

    key: Key
    phase: int
    resource: tuple[object, ...] | None
    ticks: int
    model: int
    rank: tuple[int, int]
    after: list[tuple[Key, int]] = field(default_factory=list)
    start: int = 0
    source: int = -1
    device: int = -1
    low: int = 0
    high: int = 0
    bytes: int = 0
    link: int | None = None
    latency: int = 0
    partial: bool = False
    origin: int = -1
    sent: Sending | None = None

    @property
    def end(self) -> int:
        return self.start + self.ticks


@dataclass(slots=True)
class Plan:
    """The items of a model, in the order of the model's starts."""

    shape: Shape
    chosen: list[int]
    items: dict[Key, Item]
    no_barrier: dict[int, list[tuple[Key, int]]]

    def schedule(self) -> Schedule:
        shards: list[Shard] = []
        combines: list[CombineStep] = []
        transfers: list[Transfer] = []
        for item in self.items.values():
            phase = PhaseIndex(item.phase)
            if item.key[0] == SHARD:
                shards.append(Shard(phase, DeviceIndex(item.device), item.low, item.high, item.start, item.end))
            elif item.key[0] == COMBINE:
                combines.append(CombineStep(phase, item.start, item.end))
            else:
                transfers.append(
                    Transfer(
                        phase, DeviceIndex(item.source), DeviceIndex(item.device), item.low, item.high, item.bytes, item.link,
                        item.start, item.end, item.end + item.latency, item.partial,
                    )
                )  # fmt: skip
        shards.sort(key=lambda s: (s.start, s.phase, s.device))
        combines.sort(key=lambda c: (c.start, c.phase))
        transfers.sort(key=lambda t: (t.start, t.phase, t.source, t.target, t.first))
        return Schedule(tuple(shards), tuple(combines), tuple(transfers))


SHARD, SEND, PARTIAL, COMBINE = range(4)


class Realiser:
    """Makes plans from models of one encoding."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self.shape = encoding.shape

    def chosen(self, true: frozenset[str]) -> list[int]:
        return [
            next((k for k, literal in enumerate(literals) if literal == "true" or literal in true), 0)
            for literals in self.encoding.mode_literals
        ]

    def items(self, numbers: Mapping[str, int], true: frozenset[str]) -> Plan:
        """Every step, with exact ticks and what it waits for; starts are still the model's."""
        shape = self.shape
        chosen = self.chosen(true)
        place = {p: i for i, p in enumerate(shape.order)}
        items: dict[Key, Item] = {}
        merging: dict[int, list[tuple[Key, int]]] = {}
        for p in shape.order:
            for piece in shape.pieces[p][chosen[p]]:
                start = numbers.get(self.encoding.start(p, piece.device), 0)
                key = (SHARD, p, piece.device)
                items[key] = Item(
                    key, p, ("device", piece.device), piece.ticks, start, (place[p], 0), device=piece.device,
                    low=piece.first, high=piece.stop,
                )  # fmt: skip
            if shape.combined[p]:
                self._combine(p, chosen, items, numbers, place[p], merging)
        self._transfers(chosen, items, numbers, place)
        self._waits(chosen, items)
        for item in items.values():
            item.start = item.model
        return Plan(shape, chosen, items, merging)

    def _combine(
        self, p: int, chosen: list[int], items: dict[Key, Item], numbers: Mapping[str, int], place: int,
        merging: dict[int, list[tuple[Key, int]]],
    ) -> None:  # fmt: skip
        shape = self.shape
        combine = shape.problem.phases[p].combine
        assert combine is not None
        pieces = shape.pieces[p][chosen[p]]
        key = (COMBINE, p)
        step = Item(
            key, p, ("device", shape.home), combine.ticks_per_shard * len(pieces), numbers.get(f"c{p}", 0), (place, 3),
            device=shape.home,
        )  # fmt: skip
        arrivals: list[tuple[Key, int]] = []
        for piece in pieces:
            shard = (SHARD, p, piece.device)
            if piece.device == shape.home:
                arrivals.append((shard, piece.ticks))
                continue
            sync = shape.timer.syncs[shape.home]
            sent = self.encoding.sendings.get((p, -2 - piece.device, shape.home))
            begin = items[shard].model + piece.ticks
            partial = Item((PARTIAL, p, piece.device), p, None, 0, begin, (place, 1), source=piece.device, device=shape.home)
            if sent is not None:
                hop = sent.routes[0].hop
                partial.model = numbers.get(sent.start, begin)
                if hop is not None:
                    partial.ticks = shape.occupied(hop, combine.bytes)
                    partial.latency, partial.link = hop.latency, hop.link
                    partial.resource = None if hop.channel is None or not partial.ticks else ("channel", hop.channel)
                    partial.sent = sent
            partial.bytes, partial.partial = combine.bytes, True
            partial.low, partial.high = piece.first, piece.stop
            partial.after.append((shard, piece.ticks))
            items[partial.key] = partial
            arrivals.append((partial.key, partial.ticks + partial.latency + sync))
        if combine.barrier:
            step.after += arrivals
        else:
            merging[p] = arrivals
        items[key] = step

    def _transfers(self, chosen: list[int], items: dict[Key, Item], numbers: Mapping[str, int], place: dict[int, int]) -> None:
        shape, timer = self.shape, self.shape.timer
        for p in shape.order:
            demands: dict[tuple[int, int, int], tuple[int, int, list[int | None]]] = {}

            def want(maker: int, device: int, key: int, low: int, high: int, sizes: list[int | None]) -> None:
                known = demands.get((maker, device, key))  # noqa: B023
                if known is None:
                    demands[maker, device, key] = (low, high, list(sizes))  # noqa: B023
                else:
                    demands[maker, device, key] = (min(low, known[0]), max(high, known[1]), known[2] + sizes)  # noqa: B023

            for edge in timer.outgoing[p]:
                described = shape.problem.edges[edge]
                for need in shape.needs(edge, chosen[p], chosen[described.target]):
                    if need.maker != need.device:
                        want(need.maker, need.device, timer.keys[edge], need.low, need.high, [described.bytes])
            wanted = timer.copies(p, [shape.modes[q][chosen[q]] for q in range(shape.count)]) if timer.wants_copies else ()
            for device in sorted(wanted):
                for made in shape.makers(p, chosen[p]):
                    if made.device != device:
                        want(made.device, device, -1 if timer.linked else 0, made.low, made.high, [None])
            for (maker, device, key), (low, high, sizes) in list(demands.items()):
                path = shape.path(maker, device) if key < 0 else None
                if path is not None and len(path) == 2:
                    want(maker, shape.home, key, low, high, sizes)
            for (maker, device, key), (low, high, sizes) in demands.items():
                shard: Key = (COMBINE, p) if shape.combined[p] else (SHARD, p, maker)
                size = max(timer.part_bytes(p, low, high, whole) for whole in sizes)
                identity = (SEND, p, maker, device, key)
                model = items[shard].model + items[shard].ticks
                item = Item(
                    identity, p, None, 0, model, (place[p], 4), source=maker, device=device, low=low, high=high, bytes=size
                )
                item.origin = maker
                if key >= 0:
                    item.latency = key
                    late = self.encoding.delayed.get((p, maker if shape.scattered[p] else -1, device, key))
                    if late is not None:
                        item.model = max(model, numbers.get(late.start, model))
                    item.after.append((shard, items[shard].ticks))
                    items[identity] = item
                    continue
                path = shape.path(maker, device)
                sent = self.encoding.sendings.get((p, maker if shape.scattered[p] else -1, device))
                if path is None or sent is None:
                    continue
                hop = path[-1]
                item.source, item.link, item.latency = hop.source, hop.link, hop.latency
                item.ticks = shape.occupied(hop, size)
                item.resource = None if hop.channel is None or not item.ticks else ("channel", hop.channel)
                item.model = numbers.get(sent.start, model)
                item.sent = sent
                if len(path) == 1:
                    item.after.append((shard, items[shard].ticks))
                else:
                    item.rank = (place[p], 5)
                    item.after.append(((SEND, p, maker, shape.home, key), -1))  # its ticks are filled in below
                items[identity] = item
            for item in items.values():
                item.after = [
                    (other, items[other].ticks + items[other].latency if ticks == -1 else ticks) for other, ticks in item.after
                ]

    def _waits(self, chosen: list[int], items: dict[Key, Item]) -> None:
        """What each shard waits for, and the orders of directives."""
        shape, timer = self.shape, self.shape.timer
        for edge, described in enumerate(shape.problem.edges):
            p, q = int(described.source), int(described.target)
            for need in shape.needs(edge, chosen[p], chosen[q]):
                shard = items[SHARD, q, need.device]
                if need.maker == need.device:
                    made: Key = (COMBINE, p) if shape.combined[p] else (SHARD, p, need.maker)
                    shard.after.append((made, items[made].ticks))
                    continue
                transfer = items.get((SEND, p, need.maker, need.device, timer.keys[edge]))
                if transfer is not None:
                    shard.after.append((transfer.key, transfer.ticks + transfer.latency + timer.syncs[need.device]))
        shards = {p: [items[SHARD, p, piece.device] for piece in shape.pieces[p][chosen[p]]] for p in range(shape.count)}
        for q in range(shape.count):
            for p in timer.limits.after[q]:
                done = [items[COMBINE, p]] if shape.combined[p] else shards[p]
                for shard in shards[q]:
                    shard.after += [(item.key, item.ticks) for item in done]
            for p in timer.limits.issued[q]:
                first = min(shards[p], key=lambda item: (item.model, item.rank))
                for shard in shards[q]:
                    shard.after.append((first.key, 0))
        for x, z in timer.limits.glued.items():
            opening = min(item.model for item in shards[x])
            last = min(shards[z], key=lambda item: (item.model, item.rank))
            queues = {item.device for item in (*shards[x], *shards[z])}
            for other in range(shape.count):
                for between in shards[other]:
                    if other in (x, z) or between.device not in queues:
                        continue
                    if between.model <= opening:
                        for shard in shards[x]:
                            shard.after.append((between.key, 0))
                    else:
                        between.after.append((last.key, 0))

    def shift(self, plan: Plan) -> bool:
        """Everything as early as the order of the model's starts on each device and channel allows; False if that order has
        a cycle."""
        ready = [phase.ready for phase in self.shape.problem.phases]
        queue = sorted(plan.items.values(), key=lambda item: (item.model, item.rank, item.key))
        before: dict[tuple[object, ...], Item] = {}
        chain: dict[Key, Item] = {}
        for item in queue:
            if item.resource is not None:
                if item.resource in before:
                    chain[item.key] = before[item.resource]
                before[item.resource] = item
            item.start = 0
        for _ in range(len(queue) + 1):
            changed = False
            for item in queue:
                start = ready[item.phase] if item.key[0] == SHARD else 0
                for other, ticks in item.after:
                    start = max(start, plan.items[other].start + (plan.items[other].ticks if other[0] == COMBINE else ticks))
                previous = chain.get(item.key)
                if previous is not None:
                    start = max(start, previous.end)
                if item.key[0] == COMBINE and item.phase in plan.no_barrier:
                    start = self._merge(plan, item, start)
                if start != item.start:
                    item.start = start
                    changed = True
            if not changed:
                return True
        return False

    def place(self, plan: Plan, starts: Mapping[Key, int]) -> bool:
        """Put everything at these starts; False if something there is too early."""
        held: dict[tuple[object, ...], list[Item]] = {}
        for item in plan.items.values():
            item.start = starts[item.key]
            if item.resource is not None:
                held.setdefault(item.resource, []).append(item)
        for item in plan.items.values():
            start = item.start
            if item.key[0] == COMBINE and item.phase in plan.no_barrier:
                start = self._merge(plan, item, start)
            if item.key[0] == SHARD:
                start = max(start, self.shape.problem.phases[item.phase].ready)
            for other, ticks in item.after:
                start = max(start, plan.items[other].start + (plan.items[other].ticks if other[0] == COMBINE else ticks))
            if start > item.start:
                return False
        for queue in held.values():
            queue.sort(key=lambda item: (item.start, item.end))
            if any(then.start < first.end for first, then in pairwise(queue)):
                return False
        return True

    @staticmethod
    def _merge(plan: Plan, item: Item, start: int) -> int:
        """The first merge, and the length of the step with every partial merged as it arrives."""
        combine = plan.shape.problem.phases[item.phase].combine
        assert combine is not None
        arrivals = sorted(plan.items[key].start + ticks for key, ticks in plan.no_barrier[item.phase])
        start = max(start, arrivals[0])
        now = start
        for arrival in arrivals:
            now = max(now, arrival) + combine.ticks_per_shard
        item.ticks = now - start
        return start
