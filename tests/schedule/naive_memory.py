"""Bytes in use on each device in each tick, counted one by one (V5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

from rho.backend.schedule.problem import Keep, LimitMemory, Replicate, ScheduledCombine, Shard, Transfer

from .naive_parts import Parts


@dataclass(eq=False)
class Buffer:
    """Bytes on a device from a tick on; `uses`: (the tick at which a use ends, the shard that reads it if it is one)."""

    phase: int
    device: int
    units: set[int]
    size: int
    start: int
    made: int
    copy: Transfer | None = None
    uses: list[tuple[int, Shard | None]] = field(default_factory=list)
    maker: Shard | None = None


def leaves(step: Shard | Transfer | ScheduledCombine) -> int:
    """What has no length holds memory for a tick."""
    return max(step.arrive if isinstance(step, Transfer) else step.end, step.start + 1)


class Memory(Parts):
    def too_full(self) -> Iterator[bool]:
        caps = self.caps()
        yield from (caps[device] < peak for device, peak in self.peaks().items())

    def caps(self) -> dict[int, int]:
        limits = [(d, group.memory) for d, group in enumerate(self.groups) if group.memory is not None]
        for directive in self.problem.directives:
            if isinstance(directive, LimitMemory):
                limits += [(d, directive.bytes) for d in self.devices_called(directive.device)]
        return {d: min(size for other, size in limits if other == d) for d, _ in limits}

    def peaks(self) -> dict[int, int]:
        """By device with a limit, the most bytes in use in any tick."""
        spans: list[tuple[int, int, int, int]] = []  # (device, start, end, bytes)
        buffers: list[Buffer] = []
        grain = self.problem.memory_grain
        for s in self.schedule.shards:
            task = self.problem.phases[s.phase]
            scratch = ceil(Fraction(task.scratch * (s.stop - s.first), task.units))
            if task.distributed is not None:
                scratch = sum(
                    n for (d, _), n in zip(task.distributed.mode, task.distributed.scratch, strict=True) if d == s.device
                )
            spans.append((s.device, s.start, leaves(s), scratch))
            if task.combine is not None:
                sent = [leaves(t) for t in self.partials(s.phase) if t.source == s.device]
                merged = [leaves(c) for c in self.schedule.combines if c.phase == s.phase and (s.device == self.home or not sent)]
                buffers.append(Buffer(-1, s.device, set(), task.combine.bytes, s.start, leaves(s), maker=s))
                buffers[-1].uses += [(tick, None) for tick in [leaves(s), *sent, *merged]]
            elif self.made(s.phase, s.device):
                units = set(range(self.units(s.phase))) if self.whole(s.phase) else set(range(s.first, s.stop))
                buffers.append(Buffer(s.phase, s.device, units, self.output(s), s.start, leaves(s), maker=s))
        for c in self.schedule.combines:
            units = set(range(self.units(c.phase)))
            buffers.append(Buffer(c.phase, self.home, units, self.problem.phases[c.phase].out_bytes, c.start, leaves(c)))
        for t in self.schedule.transfers:
            if t.partial:
                is_read = t.target == self.home and t.first < t.stop
                merged = [leaves(c) for c in self.schedule.combines if c.phase == t.phase and is_read]
                spans.append((t.target, t.start, max([leaves(t), *(merged or [self.last])]), t.bytes))
            else:
                units = set(range(t.first, t.stop))
                buffers.append(Buffer(t.phase, t.target, units, t.bytes, t.start, leaves(t), t))
        self.used(buffers)
        for b in buffers:
            last = max([b.made, *(tick for tick, _ in b.uses)] if b.uses else [b.made, self.last])
            inside = b.maker is not None and self.is_inside(b, buffers)
            spans.append((b.device, leaves(b.maker) if inside else b.start, last, b.size))
        found = dict.fromkeys(self.caps(), 0)
        for device in found:
            own = [(start, end, -(-size // grain) * grain) for d, start, end, size in spans if d == device]
            ticks = {start for start, _, _ in own}
            found[device] = max([0, *(sum(size for a, b, size in own if a <= tick < b) for tick in ticks)])
        return found

    def output(self, s: Shard) -> int:
        """Bytes of what a shard makes, grains not counted."""
        if self.whole(s.phase):
            return self.problem.phases[s.phase].out_bytes if self.units(s.phase) else 0
        return self.bytes(s.phase, (s.first, s.stop), None)

    def used(self, buffers: list[Buffer]) -> None:
        for b in buffers:
            for edge in self.problem.edges:
                if edge.source == b.phase and (b.copy is None or self.serves(b.copy, edge)):
                    for s in self.shards(edge.target, b.device):
                        needs = self.needs(edge, s)
                        if not needs or needs & b.units:
                            b.uses.append((leaves(s), s))
            for t in self.sent(b.phase):
                if t.source == b.device and (t.first == t.stop or set(range(t.first, t.stop)) & b.units):
                    b.uses.append((leaves(t), None))
        for directive in self.problem.directives:
            if isinstance(directive, Keep | Replicate):
                everywhere = {int(s.device) for s in self.schedule.shards}
                named = self.devices_called(directive.device) if isinstance(directive, Keep) else everywhere
                there = [d for d in sorted(named) if self.holds(directive.phase, d)]
                for device in there[:1] if isinstance(directive, Keep) else there:
                    for b in buffers:
                        if (b.phase, b.device) == (directive.phase, device):
                            b.uses.append((self.last, None))

    def is_inside(self, result: Buffer, buffers: list[Buffer]) -> bool:
        """Does what an in-place shard makes lie inside an operand that nobody else needs any more?"""
        grain, s = self.problem.memory_grain, result.maker
        assert s is not None
        return self.problem.phases[s.phase].inplace and any(
            -(-b.size // grain) >= -(-result.size // grain) and b.made <= s.start
            and any(user is s for _, user in b.uses) and all(user is s or end <= s.start for end, user in b.uses)
            for b in buffers
        )  # fmt: skip
