"""The step graph of a choice of modes: shards and what they read, outputs and what is sent of them, with every size and length.

Note [Steps].  Once each phase has a mode, its shards, the transfers (hulls of what the consumers on a device read of a producer's
part, relays through home, partial results) and the number of uses of every buffer are determined; only the order is open.
`expand` derives them by phase from its neighbours, so an expansion that differs from the last in one phase shares the rest.

Note [Slots].  A shard is identified by its slot, `device + chunk × devices`: with one shard a device that is the device.

Units: an output that is atomic or gathered is counted in bytes, else in rows (`ProblemIndex.output_extent`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from ....lang.support.records import dataclass, field
from ..problem import Mode
from .problem_index import Channel, ProblemIndex

VIA_LINK: Final = -1
"""Stands for an edge's own ticks in a `TransferId`: the data goes over a link."""

TransferId: TypeAlias = tuple[int, int, int]
"""(slot of the producer, slot of the consumer, an edge's own ticks or `VIA_LINK`)."""


class ShardProducer(NamedTuple):
    """The slot that has units [low, high) of an output when the phase is complete."""

    device: int
    low: int
    high: int
    slot: int


@dataclass(frozen=True, slots=True)
class TransferSpec:
    """A transfer of units [low, high) from `source` to `uses` consumers on `target`.  `relay`: the transfer to home whose copy
    it forwards.  The channel (None: nothing excludes it) is busy for `ticks`; the data arrives `latency` later."""

    source: int
    target: int
    low: int
    high: int
    bytes: int
    memory: int
    link: int | None
    channel: Channel | None
    ticks: int
    latency: int
    uses: int
    relay: TransferId | None = None


class ShardRead(NamedTuple):
    """A read by a shard of what the slot `producer` made of `phase`; `transfer` brings it (None: it is on the device)."""

    phase: int
    producer: int
    transfer: TransferId | None


@dataclass(frozen=True, slots=True)
class ShardStep:
    """Rows [first, stop) on a device for `ticks` (None: its class cannot run it).  `output_bytes`, `scratch`: bytes of memory."""

    slot: int
    device: int
    first: int
    stop: int
    ticks: int | None
    output_bytes: int
    scratch: int
    reads: tuple[ShardRead, ...]


@dataclass(slots=True)
class ShardOutput:
    """The producers of an output and its transfers, in the order of consumers, with the units of each in `parts`.

    By slot: `uses` of a shard's output on its own device, and `partials`, transfers of partial results to the combine.
    `retained_on`: devices on which directives require the output at the end.  `reachable`: every consumer has a route."""

    producers: tuple[ShardProducer, ...]
    transfers: dict[TransferId, TransferSpec] = field(default_factory=dict)
    parts: dict[TransferId, tuple[int, int]] = field(default_factory=dict)
    uses: dict[int, int] = field(default_factory=dict)
    partials: dict[int, TransferSpec] = field(default_factory=dict)
    retained_on: frozenset[int] = frozenset()
    reachable: bool = True


@dataclass(frozen=True, slots=True)
class ExpandedSteps:
    """See Note [ExpandedSteps].  By phase."""

    modes: tuple[Mode, ...]
    shards: tuple[tuple[ShardStep, ...], ...]
    outputs: tuple[ShardOutput, ...]


def expand(problem_index: ProblemIndex, modes: tuple[Mode, ...], known: ExpandedSteps | None = None) -> ExpandedSteps:
    """The steps of the modes; parts of `known` whose modes are the same objects are shared."""
    count = len(modes)
    same = [known is not None and modes[p] is known.modes[p] for p in range(count)]
    makers = [
        known.outputs[p].producers if known is not None and same[p] else producers_of(problem_index, p, modes[p])
        for p in range(count)
    ]
    shards: list[tuple[ShardStep, ...]] = []
    outputs: list[ShardOutput] = []
    replicated = problem_index.constraints.replicated
    for p in range(count):
        if (
            known is not None and same[p] and p not in replicated
            and all(same[problem_index.targets[e]] for e in problem_index.outgoing[p])
        ):  # fmt: skip
            outputs.append(known.outputs[p])
        else:
            outputs.append(_TransferDemands(problem_index, p, modes, makers[p]).output())
    chunked = problem_index.problem.chunks > 1  # then one copy serves the requests of other chunks too
    for p in range(count):
        sources = {problem_index.sources[e] for e in problem_index.incoming[p]}
        if known is not None and same[p] and all(
            same[q] and (not chunked or outputs[q] is known.outputs[q]) for q in sources
        ):  # fmt: skip
            shards.append(known.shards[p])
        else:
            shards.append(_shards(problem_index, p, modes[p], makers, outputs))
    return ExpandedSteps(modes, tuple(shards), tuple(outputs))


def producers_of(problem_index: ProblemIndex, phase: int, mode: Mode) -> tuple[ShardProducer, ...]:
    """The slots that have the output once the phase is complete, in the order of units."""
    span = problem_index.output_extent[phase]
    task = problem_index.problem.phases[phase]
    if task.combine is not None or (task.rows and task.is_gathered):
        return (ShardProducer(problem_index.home, 0, span, problem_index.home),)
    if task.rows == 0:
        return (ShardProducer(mode[0][0], 0, span, mode[0][0]),)
    result: list[ShardProducer] = []
    first = 0
    for slot, (device, rows) in zip(slots_of(problem_index, mode), mode, strict=True):
        result.append(ShardProducer(device, first, first + rows, slot))
        first += rows
    return tuple(result)


def slots_of(problem_index: ProblemIndex, mode: Mode) -> list[int]:
    """See Note [Slots]."""
    slots = [device for device, _ in mode]
    if problem_index.problem.chunks > 1:
        seen: dict[int, int] = {}
        for index, device in enumerate(slots):
            slots[index] = seen[device] = seen.get(device, device - problem_index.devices) + problem_index.devices
    return slots


def trimmed(low: int, high: int, brought: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Units [low, high) without those at either end that are in disjoint ascending intervals."""
    for first, last in brought:
        if first <= low < last:
            low = last
    for first, last in reversed(brought):
        if first < high <= last:
            high = first
    return low, high


def covering_transfers(
    parts: Mapping[TransferId, tuple[int, int]], key: TransferId, low: int, high: int, devices: int
) -> list[TransferId]:
    """The transfers from which chunk k of a device gets units [low, high): its own, and those of chunks < k that overlap it."""
    maker, slot, link_key = key
    keys = [(maker, other, link_key) for other in range(slot % devices, slot + 1, devices)]
    if low >= high:
        return [one for one in keys if one in parts][:1]
    return [one for one in keys if one in parts and parts[one][0] < high and parts[one][1] > low]


def accesses_of(
    problem_index: ProblemIndex, edge: int, makers: Sequence[ShardProducer], first: int, stop: int
) -> list[ShardProducer]:
    """The units of each producer that rows [first, stop) of the edge's target read."""
    low, high = problem_index.part(edge, first, stop)
    if problem_index.undivided[problem_index.sources[edge]]:
        return [ShardProducer(maker.device, low, high, maker.slot) for maker in makers]
    if len(makers) >= 4:
        begin = max(0, bisect_right(makers, low, key=lambda m: m.low) - 1)
        makers = makers[begin : bisect_left(makers, high, key=lambda m: m.low)]
    return [ShardProducer(m.device, max(m.low, low), min(m.high, high), m.slot) for m in makers if m.low < high and m.high > low]


def _shards(
    problem_index: ProblemIndex,
    phase: int,
    mode: Mode,
    makers: Sequence[tuple[ShardProducer, ...]],
    outputs: Sequence[ShardOutput],
) -> tuple[ShardStep, ...]:
    task = problem_index.problem.phases[phase]
    distributed, chunked = task.distributed, problem_index.problem.chunks > 1
    result: list[ShardStep] = []
    first = 0
    for index, (slot, (device, rows)) in enumerate(zip(slots_of(problem_index, mode), mode, strict=True)):
        stop = first + rows
        reads: list[ShardRead] = []
        for e in problem_index.incoming[phase]:
            source = problem_index.sources[e]
            for need in accesses_of(problem_index, e, makers[source], first, stop):
                key = (need.slot, slot, problem_index.edge_keys[e])
                if need.device == device:
                    reads.append(ShardRead(source, need.slot, None))
                elif chunked and outputs[source].reachable:
                    brought = covering_transfers(outputs[source].parts, key, need.low, need.high, problem_index.devices)
                    reads += [ShardRead(source, need.slot, one) for one in brought]
                else:
                    reads.append(ShardRead(source, need.slot, key))
        written, scratch = problem_index.shard_bytes(phase, first, stop), -(-task.scratch * rows // task.units)
        if distributed is not None:
            scratch = distributed.scratch[index]
            if distributed.gathers:
                written = task.out_bytes if device == problem_index.home else 0
        ticks = problem_index.ticks(phase, device, rows)
        result.append(
            ShardStep(slot, device, first, stop, ticks, problem_index.grain(written), problem_index.grain(scratch), tuple(reads))
        )
        first = stop
    return tuple(result)


class _TransferDemands:
    """The transfers of one output, collected from the modes of its consumers."""

    def __init__(self, problem_index: ProblemIndex, phase: int, modes: Sequence[Mode], makers: tuple[ShardProducer, ...]) -> None:
        self.problem_index, self.phase, self.modes = problem_index, phase, modes
        self.producers = ShardOutput(makers)
        self.hulls: dict[TransferId, tuple[int, int]] = {}
        self.sizes: dict[TransferId, set[int | None]] = {}
        self.uses: dict[TransferId, int] = {}
        self.requested: list[tuple[TransferId, int, int, int | None]] = []

    def output(self) -> ShardOutput:
        problem_index, output = self.problem_index, self.producers
        self._add_consumers()
        if problem_index.requires_copies:
            self._add_required_copies()
        if problem_index.problem.chunks > 1:
            self._subtract_earlier_chunks()
        relays = self._relays()
        if problem_index.problem.chunks > 1:
            self._measure_sizes()
        for key, (low, high) in self.hulls.items():
            relay = relays.get(key)
            size = max(problem_index.part_bytes(self.phase, low, high, undivided) for undivided in self.sizes[key])
            source = key[0] % problem_index.devices if relay is None else problem_index.home
            send = self._send(key, source, (low, high), size, self.uses[key], relay)
            if send is not None:
                output.transfers[key] = send
            if relay is None:
                output.uses[key[0]] = output.uses.get(key[0], 0) + 1
        output.parts = self.hulls
        self._partials()
        return output

    def _subtract_earlier_chunks(self) -> None:
        """Subtract from each transfer what those of earlier chunks bring (Note [Transfers] of `problem`), and count its uses."""
        devices = self.problem_index.devices
        brought: dict[TransferId, list[tuple[int, int]]] = {}  # disjoint intervals by ascending units
        for key in sorted(self.hulls, key=lambda key: key[1]):
            maker, slot, link_key = key
            earlier = brought.setdefault((maker, slot % devices, link_key), [])
            low, high = trimmed(*self.hulls[key], earlier)
            if slot >= devices and low >= high:
                del self.hulls[key]
                continue
            self.hulls[key] = low, high
            joined = [one for one in earlier if one[0] <= high and low <= one[1]]
            union = min([low, *(one[0] for one in joined)]), max([high, *(one[1] for one in joined)])
            earlier[:] = sorted([union, *(one for one in earlier if one not in joined)])
        self.uses = dict.fromkeys(self.hulls, 0)
        for key, low, high, _ in self.requested:
            for one in covering_transfers(self.hulls, key, low, high, devices):
                self.uses[one] += 1
        self._measure_sizes()

    def _measure_sizes(self) -> None:
        """The largest size that any reader of a transfer states; with chunks, more consumers read it than requested it."""
        devices = self.problem_index.devices
        between: dict[TransferId, list[TransferId]] = {}
        for maker, slot, link_key in self.hulls:
            between.setdefault((maker, slot % devices, link_key), []).append((maker, slot, link_key))
        for (maker, slot, link_key), low, high, size in self.requested:
            for sent in between.get((maker, slot % devices, link_key), ()):
                first, last = self.hulls[sent]
                if first < high and last > low:
                    self.sizes[sent].add(size)

    def _add_demand(self, key: TransferId, low: int, high: int, size: int | None) -> None:
        """Add a consumer of units [low, high) of an output that takes `size` bytes on a link."""
        hull = self.hulls.get(key)
        self.hulls[key] = (low, high) if hull is None else (min(low, hull[0]), max(high, hull[1]))
        self.sizes.setdefault(key, set()).add(size)
        self.uses[key] = self.uses.get(key, 0) + 1
        self.requested.append((key, low, high, size))

    def _add_consumers(self) -> None:
        problem_index, local = self.problem_index, self.producers.uses
        for edge in problem_index.outgoing[self.phase]:
            key, size = problem_index.edge_keys[edge], problem_index.problem.edges[edge].bytes
            first, mode = 0, self.modes[problem_index.targets[edge]]
            for slot, (device, rows) in zip(slots_of(problem_index, mode), mode, strict=True):
                for maker, low, high, producer_slot in accesses_of(
                    problem_index, edge, self.producers.producers, first, first + rows
                ):
                    if maker == device:
                        local[producer_slot] = local.get(producer_slot, 0) + 1
                    else:
                        self._add_demand((producer_slot, slot, key), low, high, size)
                first += rows

    def _add_required_copies(self) -> None:
        problem_index, local = self.problem_index, self.producers.uses
        self.producers.retained_on = frozenset(problem_index.copy_devices(self.phase, self.modes))
        for device in sorted(self.producers.retained_on):
            for maker, low, high, slot in self.producers.producers:
                if maker == device:
                    local[slot] = local.get(slot, 0) + 1
                else:
                    self._add_demand((slot, device, VIA_LINK if problem_index.has_links else 0), low, high, None)

    def _relays(self) -> dict[TransferId, TransferId]:
        """The transfers that home forwards, each with the transfer that brings its data home."""
        problem_index = self.problem_index
        relays: dict[TransferId, TransferId] = {}
        for key in sorted(self.hulls, key=lambda key: key[1] // problem_index.devices):
            maker, slot, link_key = key
            if link_key != VIA_LINK:
                continue
            number, device = divmod(slot, problem_index.devices)
            path = problem_index.routes.path(maker % problem_index.devices, device)
            if path is None:
                self.producers.reachable = False
            elif len(path) == 2:
                low, high = self.hulls[key]
                able = [(maker, problem_index.home + n * problem_index.devices, VIA_LINK) for n in range(number + 1)]
                there = [one for one in able if one in self.hulls and self.hulls[one][0] <= low and high <= self.hulls[one][1]]
                relays[key] = first = (there or able[-1:])[0]
                for size in self.sizes[key]:
                    self._add_demand(first, *self.hulls[key], size)
                self.uses[first] -= len(self.sizes[key]) - 1
        return relays

    def _partials(self) -> None:
        problem_index = self.problem_index
        combine = problem_index.problem.phases[self.phase].combine
        if combine is None:
            return
        first, mode = 0, self.modes[self.phase]
        for slot, (device, rows) in zip(slots_of(problem_index, mode), mode, strict=True):
            if device != problem_index.home:
                key = (slot, problem_index.home, VIA_LINK if problem_index.has_links else 0)
                send = self._send(key, device, (first, first + rows), combine.bytes, 1, None, is_rows=False)
                if send is None:
                    self.producers.reachable = False
                else:
                    self.producers.partials[slot] = send
            first += rows

    def _send(
        self, key: TransferId, source: int, hull: tuple[int, int], size: int, uses: int, relay: TransferId | None, *,
        is_rows: bool = True,
    ) -> TransferSpec | None:  # fmt: skip
        """The transfer over one hop, of rows of the output or a partial result; None without a route."""
        target, link_key = key[1] % self.problem_index.devices, key[2]
        memory = self.problem_index.grain(size)
        if link_key != VIA_LINK:
            return TransferSpec(source, target, *hull, size, memory, None, None, 0, link_key, uses, relay)
        path = self.problem_index.routes.path(source, target)
        if path is None or len(path) != 1:
            return None
        hop = path[0]
        problem = self.problem_index.problem
        ticks = problem.links[hop.link].occupied(size, problem.phases[self.phase] if is_rows else None)
        channel = hop.channel if ticks else None
        return TransferSpec(source, target, *hull, size, memory, hop.link, channel, ticks, hop.latency, uses, relay)
