"""The step graph of a choice of modes: shards and what they read, outputs and what is sent of them, with every size and length.

Note [Steps].  Once each phase has a mode, its shards, the transfers (hulls of what the consumers on a device need of a maker's
part, relays through home, partial results) and the number of uses of every buffer are determined; what stays open is the order.
`expand` makes them by phase and its neighbours, so an expansion that differs in one phase from a known one shares the rest.

Note [Slots].  A shard is named by its slot, `device + number × devices`: of whole shards (number 0) that is the device.

Units: an output that is atomic or combined is counted in bytes, else in rows (`Prepared.spans`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final, NamedTuple, TypeAlias

from ....lang.support.records import dataclass
from ..solution import Mode
from .problem_index import Channel, ProblemIndex

LINKED: Final = -1
"""In place of an edge's own ticks: a link carries it."""

SendKey: TypeAlias = tuple[int, int, int]
"""(slot of the maker, slot that wants it, an edge's own ticks or `LINKED`)."""


class ShardProducer(NamedTuple):
    """Who has units [low, high) of an output when the phase is done."""

    device: int
    low: int
    high: int
    slot: int


@dataclass(frozen=True, slots=True)
class Send:
    """A transfer of units [low, high) from `source`, to `uses` consumers on `target`.  `relay`: the transfer to home whose copy
    it passes on.  The channel (None: nothing excludes it) is busy for `ticks`; the data is there `latency` after."""

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
    relay: SendKey | None = None


class ShardRead(NamedTuple):
    """A shard reads what the slot `maker` made of `phase`; `send` brings it (None: it is there)."""

    phase: int
    maker: int
    send: SendKey | None


@dataclass(frozen=True, slots=True)
class ShardStep:
    """Rows [first, stop) on a device for `ticks` (None: its class cannot).  `made` and `scratch`: bytes of memory."""

    slot: int
    device: int
    first: int
    stop: int
    ticks: int | None
    made: int
    scratch: int
    reads: tuple[ShardRead, ...]


@dataclass(slots=True)
class ShardOutput:
    """`sends`: in the order in which consumers ask, with the units of each in `parts`.  `uses` of what a shard made, on its own
    device, and `partials`, on their way to a combine: by slot.  `kept`: devices on which directives want it at the end.
    `reachable`: there is a way to every consumer."""

    makers: tuple[ShardProducer, ...]
    sends: dict[SendKey, Send] = field(default_factory=dict)
    parts: dict[SendKey, tuple[int, int]] = field(default_factory=dict)
    uses: dict[int, int] = field(default_factory=dict)
    partials: dict[int, Send] = field(default_factory=dict)
    kept: frozenset[int] = frozenset()
    reachable: bool = True


@dataclass(frozen=True, slots=True)
class Steps:
    """See Note [Steps].  By phase."""

    modes: tuple[Mode, ...]
    shards: tuple[tuple[ShardStep, ...], ...]
    outputs: tuple[ShardOutput, ...]


def expand(prepared: ProblemIndex, modes: tuple[Mode, ...], known: Steps | None = None) -> Steps:
    """The steps of the modes; what `known` has of the same modes (the same objects) is shared."""
    count = len(modes)
    same = [known is not None and modes[p] is known.modes[p] for p in range(count)]
    makers = [
        known.outputs[p].makers if known is not None and same[p] else makers_of(prepared, p, modes[p]) for p in range(count)
    ]
    shards: list[tuple[ShardStep, ...]] = []
    outputs: list[ShardOutput] = []
    replicated = prepared.limits.replicated
    for p in range(count):
        if (
            known is not None and same[p] and p not in replicated
            and all(same[prepared.targets[e]] for e in prepared.outgoing[p])
        ):  # fmt: skip
            outputs.append(known.outputs[p])
        else:
            outputs.append(_TransferDemands(prepared, p, modes, makers[p]).output())
    chunked = prepared.problem.chunks > 1  # then copies that others ask for serve as well
    for p in range(count):
        sources = {prepared.sources[e] for e in prepared.incoming[p]}
        if known is not None and same[p] and all(
            same[q] and (not chunked or outputs[q] is known.outputs[q]) for q in sources
        ):  # fmt: skip
            shards.append(known.shards[p])
        else:
            shards.append(_shards(prepared, p, modes[p], makers, outputs))
    return Steps(modes, tuple(shards), tuple(outputs))


def makers_of(prepared: ProblemIndex, phase: int, mode: Mode) -> tuple[ShardProducer, ...]:
    """Who has the output once the phase is done, in the order of units."""
    span = prepared.spans[phase]
    task = prepared.problem.phases[phase]
    if task.combine is not None or (task.rows and task.is_gathered):
        return (ShardProducer(prepared.home, 0, span, prepared.home),)
    if task.rows == 0:
        return (ShardProducer(mode[0][0], 0, span, mode[0][0]),)
    result: list[ShardProducer] = []
    first = 0
    for slot, (device, rows) in zip(slots_of(prepared, mode), mode, strict=True):
        result.append(ShardProducer(device, first, first + rows, slot))
        first += rows
    return tuple(result)


def slots_of(prepared: ProblemIndex, mode: Mode) -> list[int]:
    """See Note [Slots]."""
    slots = [device for device, _ in mode]
    if prepared.problem.chunks > 1:
        seen: dict[int, int] = {}
        for index, device in enumerate(slots):
            slots[index] = seen[device] = seen.get(device, device - prepared.devices) + prepared.devices
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


def serving(parts: Mapping[SendKey, tuple[int, int]], key: SendKey, low: int, high: int, devices: int) -> list[SendKey]:
    """The transfers that bring units [low, high) to a slot: its number's, and those of smaller numbers with something of it."""
    maker, slot, link_key = key
    keys = [(maker, other, link_key) for other in range(slot % devices, slot + 1, devices)]
    if low >= high:
        return [one for one in keys if one in parts][:1]
    return [one for one in keys if one in parts and parts[one][0] < high and parts[one][1] > low]


def needs_of(prepared: ProblemIndex, edge: int, makers: Sequence[ShardProducer], first: int, stop: int) -> list[ShardProducer]:
    """What rows [first, stop) of the edge's target need of each maker of its source."""
    low, high = prepared.part(edge, first, stop)
    if prepared.single[prepared.sources[edge]]:
        return [ShardProducer(maker.device, low, high, maker.slot) for maker in makers]
    if len(makers) >= 4:
        begin = max(0, bisect_right(makers, low, key=lambda m: m.low) - 1)
        makers = makers[begin : bisect_left(makers, high, key=lambda m: m.low)]
    return [ShardProducer(m.device, max(m.low, low), min(m.high, high), m.slot) for m in makers if m.low < high and m.high > low]


def merged(arrivals: Sequence[int], start: int, each: int) -> int:
    """When partial results that are merged one after the other, as they arrive, from `start` on, are done."""
    time = start
    for arrival in sorted(arrivals):
        time = max(time, arrival) + each
    return time


def _shards(
    prepared: ProblemIndex, phase: int, mode: Mode, makers: Sequence[tuple[ShardProducer, ...]], outputs: Sequence[ShardOutput]
) -> tuple[ShardStep, ...]:  # fmt: skip
    task = prepared.problem.phases[phase]
    together, chunked = task.together, prepared.problem.chunks > 1
    result: list[ShardStep] = []
    first = 0
    for index, (slot, (device, rows)) in enumerate(zip(slots_of(prepared, mode), mode, strict=True)):
        stop = first + rows
        reads: list[ShardRead] = []
        for e in prepared.incoming[phase]:
            source = prepared.sources[e]
            for need in needs_of(prepared, e, makers[source], first, stop):
                key = (need.slot, slot, prepared.keys[e])
                if need.device == device:
                    reads.append(ShardRead(source, need.slot, None))
                elif chunked and outputs[source].reachable:
                    brought = serving(outputs[source].parts, key, need.low, need.high, prepared.devices)
                    reads += [ShardRead(source, need.slot, one) for one in brought]
                else:
                    reads.append(ShardRead(source, need.slot, key))
        written, scratch = prepared.made_bytes(phase, first, stop), -(-task.scratch * rows // task.units)
        if together is not None:
            scratch = together.scratch[index]
            if together.gathers:
                written = task.out_bytes if device == prepared.home else 0
        ticks = prepared.ticks(phase, device, rows)
        result.append(ShardStep(slot, device, first, stop, ticks, prepared.grain(written), prepared.grain(scratch), tuple(reads)))
        first = stop
    return tuple(result)


class _TransferDemands:
    """What is wanted of one output, from the modes of its consumers."""

    def __init__(self, prepared: ProblemIndex, phase: int, modes: Sequence[Mode], makers: tuple[ShardProducer, ...]) -> None:
        self.prepared, self.phase, self.modes = prepared, phase, modes
        self.made = ShardOutput(makers)
        self.hulls: dict[SendKey, tuple[int, int]] = {}
        self.sizes: dict[SendKey, set[int | None]] = {}
        self.uses: dict[SendKey, int] = {}
        self.asked: list[tuple[SendKey, int, int, int | None]] = []

    def output(self) -> ShardOutput:
        prepared, output = self.prepared, self.made
        self._consumers()
        if prepared.wants_copies:
            self._copies()
        if prepared.problem.chunks > 1:
            self._trim()
        relays = self._relays()
        if prepared.problem.chunks > 1:
            self._measure()
        for key, (low, high) in self.hulls.items():
            relay = relays.get(key)
            size = max(prepared.part_bytes(self.phase, low, high, undivided) for undivided in self.sizes[key])
            source = key[0] % prepared.devices if relay is None else prepared.home
            send = self._send(key, source, (low, high), size, self.uses[key], relay)
            if send is not None:
                output.sends[key] = send
            if relay is None:
                output.uses[key[0]] = output.uses.get(key[0], 0) + 1
        output.parts = self.hulls
        self._partials()
        return output

    def _trim(self) -> None:
        """No number brings what smaller ones did (see Note [Transfers] of `problem`), and each serves whoever needs of it."""
        devices = self.prepared.devices
        brought: dict[SendKey, list[tuple[int, int]]] = {}  # by ascending units, apart
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
        for key, low, high, _ in self.asked:
            for one in serving(self.hulls, key, low, high, devices):
                self.uses[one] += 1
        self._measure()

    def _measure(self) -> None:
        """The sizes that anyone who reads of a transfer says: with chunks not only those that asked for it."""
        devices = self.prepared.devices
        between: dict[SendKey, list[SendKey]] = {}
        for maker, slot, link_key in self.hulls:
            between.setdefault((maker, slot % devices, link_key), []).append((maker, slot, link_key))
        for (maker, slot, link_key), low, high, size in self.asked:
            for sent in between.get((maker, slot % devices, link_key), ()):
                first, last = self.hulls[sent]
                if first < high and last > low:
                    self.sizes[sent].add(size)

    def _want(self, key: SendKey, low: int, high: int, size: int | None) -> None:
        """One more consumer of units [low, high), of which the whole takes `size` on a link."""
        hull = self.hulls.get(key)
        self.hulls[key] = (low, high) if hull is None else (min(low, hull[0]), max(high, hull[1]))
        self.sizes.setdefault(key, set()).add(size)
        self.uses[key] = self.uses.get(key, 0) + 1
        self.asked.append((key, low, high, size))

    def _consumers(self) -> None:
        prepared, local = self.prepared, self.made.uses
        for edge in prepared.outgoing[self.phase]:
            key, size = prepared.keys[edge], prepared.problem.edges[edge].bytes
            first, mode = 0, self.modes[prepared.targets[edge]]
            for slot, (device, rows) in zip(slots_of(prepared, mode), mode, strict=True):
                for maker, low, high, producer_slot in needs_of(prepared, edge, self.made.makers, first, first + rows):
                    if maker == device:
                        local[producer_slot] = local.get(producer_slot, 0) + 1
                    else:
                        self._want((producer_slot, slot, key), low, high, size)
                first += rows

    def _copies(self) -> None:
        prepared, local = self.prepared, self.made.uses
        self.made.kept = frozenset(prepared.copies(self.phase, self.modes))
        for device in sorted(self.made.kept):
            for maker, low, high, slot in self.made.makers:
                if maker == device:
                    local[slot] = local.get(slot, 0) + 1
                else:
                    self._want((slot, device, LINKED if prepared.linked else 0), low, high, None)

    def _relays(self) -> dict[SendKey, SendKey]:
        """The transfers that home sends on, with those that bring it home."""
        prepared = self.prepared
        relays: dict[SendKey, SendKey] = {}
        for key in sorted(self.hulls, key=lambda key: key[1] // prepared.devices):
            maker, slot, link_key = key
            if link_key != LINKED:
                continue
            number, device = divmod(slot, prepared.devices)
            path = prepared.routes.path(maker % prepared.devices, device)
            if path is None:
                self.made.reachable = False
            elif len(path) == 2:
                low, high = self.hulls[key]
                able = [(maker, prepared.home + n * prepared.devices, LINKED) for n in range(number + 1)]
                there = [one for one in able if one in self.hulls and self.hulls[one][0] <= low and high <= self.hulls[one][1]]
                relays[key] = first = (there or able[-1:])[0]
                for size in self.sizes[key]:
                    self._want(first, *self.hulls[key], size)
                self.uses[first] -= len(self.sizes[key]) - 1
        return relays

    def _partials(self) -> None:
        prepared = self.prepared
        combine = prepared.problem.phases[self.phase].combine
        if combine is None:
            return
        first, mode = 0, self.modes[self.phase]
        for slot, (device, rows) in zip(slots_of(prepared, mode), mode, strict=True):
            if device != prepared.home:
                key = (slot, prepared.home, LINKED if prepared.linked else 0)
                send = self._send(key, device, (first, first + rows), combine.bytes, 1, None)
                if send is None:
                    self.made.reachable = False
                else:
                    self.made.partials[slot] = send
            first += rows

    def _send(
        self, key: SendKey, source: int, hull: tuple[int, int], size: int, uses: int, relay: SendKey | None
    ) -> Send | None:  # fmt: skip
        """One hop; None without a way."""
        target, link_key = key[1] % self.prepared.devices, key[2]
        memory = self.prepared.grain(size)
        if link_key != LINKED:
            return Send(source, target, *hull, size, memory, None, None, 0, link_key, uses, relay)
        path = self.prepared.routes.path(source, target)
        if path is None or len(path) != 1:
            return None
        hop = path[0]
        ticks = self.prepared.problem.links[hop.link].occupied(size)
        channel = hop.channel if ticks else None
        return Send(source, target, *hull, size, memory, hop.link, channel, ticks, hop.latency, uses, relay)
