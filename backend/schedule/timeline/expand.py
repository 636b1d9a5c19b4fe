"""The step graph of a choice of modes: shards and what they read, outputs and what is sent of them, with every size and length.

Note [Steps].  Once each phase has a mode, its shards, the transfers (hulls of what the consumers on a device need of a maker's
part, relays through home, partial results) and the number of uses of every buffer are determined; what stays open is the order.
`expand` makes them by phase and its neighbours, so an expansion that differs in one phase from a known one shares the rest.

Units: an output that is atomic or combined is counted in bytes, else in rows (`Prepared.spans`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from .prepared import Mode, Prepared
from .routes import Channel

LINKED: Final = -1
"""In place of an edge's own ticks: a link carries it."""

SendKey: TypeAlias = tuple[int, int, int]
"""(maker, device that wants it, an edge's own ticks or `LINKED`)."""


class Maker(NamedTuple):
    """Who has units [low, high) of an output when the phase is done."""

    device: int
    low: int
    high: int


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


class Read(NamedTuple):
    """A shard reads what `maker` made of `phase`; `send` brings it (None: it is there)."""

    phase: int
    maker: int
    send: SendKey | None


@dataclass(frozen=True, slots=True)
class ShardStep:
    """Rows [first, stop) on a device for `ticks` (None: its class cannot).  `made` and `scratch`: bytes of memory."""

    device: int
    first: int
    stop: int
    ticks: int | None
    made: int
    scratch: int
    reads: tuple[Read, ...]


@dataclass(slots=True)
class Output:
    """`sends`: in the order in which consumers ask.  `uses` of what a device made itself, by device.  `partials`: by device, on
    their way to a combine.  `kept`: devices on which directives want it at the end.  `reachable`: there is a way to every
    consumer."""

    makers: tuple[Maker, ...]
    sends: dict[SendKey, Send] = field(default_factory=dict)
    uses: dict[int, int] = field(default_factory=dict)
    partials: dict[int, Send] = field(default_factory=dict)
    kept: frozenset[int] = frozenset()
    reachable: bool = True


@dataclass(frozen=True, slots=True)
class Steps:
    """See Note [Steps].  By phase."""

    modes: tuple[Mode, ...]
    shards: tuple[tuple[ShardStep, ...], ...]
    outputs: tuple[Output, ...]


def expand(prepared: Prepared, modes: tuple[Mode, ...], known: Steps | None = None) -> Steps:
    """The steps of the modes; what `known` has of the same modes (the same objects) is shared."""
    count = len(modes)
    same = [known is not None and modes[p] is known.modes[p] for p in range(count)]
    makers = [
        known.outputs[p].makers if known is not None and same[p] else makers_of(prepared, p, modes[p]) for p in range(count)
    ]
    shards: list[tuple[ShardStep, ...]] = []
    outputs: list[Output] = []
    replicated = prepared.limits.replicated
    for p in range(count):
        if known is not None and same[p] and all(same[prepared.sources[e]] for e in prepared.incoming[p]):
            shards.append(known.shards[p])
        else:
            shards.append(_shards(prepared, p, modes[p], makers))
        if (
            known is not None and same[p] and p not in replicated
            and all(same[prepared.targets[e]] for e in prepared.outgoing[p])
        ):  # fmt: skip
            outputs.append(known.outputs[p])
        else:
            outputs.append(_Demands(prepared, p, modes, makers[p]).output())
    return Steps(modes, tuple(shards), tuple(outputs))


def makers_of(prepared: Prepared, phase: int, mode: Mode) -> tuple[Maker, ...]:
    """Who has the output once the phase is done, in the order of units."""
    span = prepared.spans[phase]
    task = prepared.problem.phases[phase]
    if task.combine is not None or (task.rows and task.is_gathered):
        return (Maker(prepared.home, 0, span),)
    if task.rows == 0:
        return (Maker(mode[0][0], 0, span),)
    result: list[Maker] = []
    first = 0
    for device, rows in mode:
        result.append(Maker(device, first, first + rows))
        first += rows
    return tuple(result)


def needs_of(prepared: Prepared, edge: int, makers: Sequence[Maker], first: int, stop: int) -> list[Maker]:
    """What rows [first, stop) of the edge's target need of each maker of its source."""
    low, high = prepared.part(edge, first, stop)
    if prepared.single[prepared.sources[edge]]:
        return [Maker(maker.device, low, high) for maker in makers]
    if len(makers) >= 4:
        begin = max(0, bisect_right(makers, low, key=lambda m: m.low) - 1)
        makers = makers[begin : bisect_left(makers, high, key=lambda m: m.low)]
    return [Maker(m.device, max(m.low, low), min(m.high, high)) for m in makers if m.low < high and m.high > low]


def merged(arrivals: Sequence[int], start: int, each: int) -> int:
    """When partial results that are merged one after the other, as they arrive, from `start` on, are done."""
    time = start
    for arrival in sorted(arrivals):
        time = max(time, arrival) + each
    return time


def _shards(prepared: Prepared, phase: int, mode: Mode, makers: Sequence[tuple[Maker, ...]]) -> tuple[ShardStep, ...]:
    task = prepared.problem.phases[phase]
    together = task.together
    result: list[ShardStep] = []
    first = 0
    for place, (device, rows) in enumerate(mode):
        stop = first + rows
        reads = [
            Read(prepared.sources[e], need.device, None if need.device == device else (need.device, device, prepared.keys[e]))
            for e in prepared.incoming[phase]
            for need in needs_of(prepared, e, makers[prepared.sources[e]], first, stop)
        ]
        made, scratch = prepared.made_bytes(phase, first, stop), -(-task.scratch * rows // task.units)
        if together is not None:
            scratch = together.scratch[place]
            if together.gathers:
                made = task.out_bytes if device == prepared.home else 0
        ticks = prepared.ticks(phase, device, rows)
        result.append(ShardStep(device, first, stop, ticks, prepared.grain(made), prepared.grain(scratch), tuple(reads)))
        first = stop
    return tuple(result)


class _Demands:
    """What is wanted of one output, from the modes of its consumers."""

    def __init__(self, prepared: Prepared, phase: int, modes: Sequence[Mode], makers: tuple[Maker, ...]) -> None:
        self.prepared, self.phase, self.modes = prepared, phase, modes
        self.made = Output(makers)
        self.hulls: dict[SendKey, tuple[int, int]] = {}
        self.sizes: dict[SendKey, set[int | None]] = {}
        self.uses: dict[SendKey, int] = {}

    def output(self) -> Output:
        prepared, made = self.prepared, self.made
        self._consumers()
        if prepared.wants_copies:
            self._copies()
        relays = self._relays()
        for key, (low, high) in self.hulls.items():
            relay = relays.get(key)
            size = max(prepared.part_bytes(self.phase, low, high, whole) for whole in self.sizes[key])
            send = self._send(key, key[0] if relay is None else prepared.home, (low, high), size, self.uses[key], relay)
            if send is not None:
                made.sends[key] = send
            if relay is None:
                made.uses[key[0]] = made.uses.get(key[0], 0) + 1
        self._partials()
        return made

    def _want(self, key: SendKey, low: int, high: int, size: int | None) -> None:
        """One more consumer of units [low, high), of which the whole takes `size` on a link."""
        hull = self.hulls.get(key)
        self.hulls[key] = (low, high) if hull is None else (min(low, hull[0]), max(high, hull[1]))
        self.sizes.setdefault(key, set()).add(size)
        self.uses[key] = self.uses.get(key, 0) + 1

    def _consumers(self) -> None:
        prepared, local = self.prepared, self.made.uses
        for edge in prepared.outgoing[self.phase]:
            key, size = prepared.keys[edge], prepared.problem.edges[edge].bytes
            first = 0
            for device, rows in self.modes[prepared.targets[edge]]:
                for maker, low, high in needs_of(prepared, edge, self.made.makers, first, first + rows):
                    if maker == device:
                        local[device] = local.get(device, 0) + 1
                    else:
                        self._want((maker, device, key), low, high, size)
                first += rows

    def _copies(self) -> None:
        prepared, local = self.prepared, self.made.uses
        self.made.kept = frozenset(prepared.copies(self.phase, self.modes))
        for device in sorted(self.made.kept):
            for maker, low, high in self.made.makers:
                if maker == device:
                    local[device] = local.get(device, 0) + 1
                else:
                    self._want((maker, device, LINKED if prepared.linked else 0), low, high, None)

    def _relays(self) -> dict[SendKey, SendKey]:
        """The transfers that home sends on, with those that bring it home."""
        prepared = self.prepared
        relays: dict[SendKey, SendKey] = {}
        for key in list(self.hulls):
            maker, device, own = key
            if own != LINKED:
                continue
            path = prepared.routes.path(maker, device)
            if path is None:
                self.made.reachable = False
            elif len(path) == 2:
                relays[key] = first = (maker, prepared.home, LINKED)
                for size in self.sizes[key]:
                    self._want(first, *self.hulls[key], size)
                self.uses[first] -= len(self.sizes[key]) - 1
        return relays

    def _partials(self) -> None:
        prepared = self.prepared
        combine = prepared.problem.phases[self.phase].combine
        if combine is None:
            return
        first = 0
        for device, rows in self.modes[self.phase]:
            if device != prepared.home:
                key = (device, prepared.home, LINKED if prepared.linked else 0)
                send = self._send(key, device, (first, first + rows), combine.bytes, 1, None)
                if send is None:
                    self.made.reachable = False
                else:
                    self.made.partials[device] = send
            first += rows

    def _send(
        self, key: SendKey, source: int, hull: tuple[int, int], size: int, uses: int, relay: SendKey | None
    ) -> Send | None:  # fmt: skip
        """One hop; None without a way."""
        _, target, own = key
        memory = self.prepared.grain(size)
        if own != LINKED:
            return Send(source, target, *hull, size, memory, None, None, 0, own, uses, relay)
        path = self.prepared.routes.path(source, target)
        if path is None or len(path) != 1:
            return None
        hop = path[0]
        ticks = self.prepared.problem.links[hop.link].occupied(size)
        channel = hop.channel if ticks else None
        return Send(source, target, *hull, size, memory, hop.link, channel, ticks, hop.latency, uses, relay)
