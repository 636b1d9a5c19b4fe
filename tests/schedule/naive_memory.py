"""Bytes in use on each device in each tick, counted one by one (V5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

from rho.backend.schedule.answer import Shard, Transfer
from rho.backend.schedule.problem import Keep, LimitMemory, Replicate

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
    ended: int | None = None


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
            if task.together is not None:
                scratch = sum(n for (d, _), n in zip(task.together.mode, task.together.scratch, strict=True) if d == s.device)
            spans.append((s.device, s.start, s.end, scratch))
            if task.combine is not None:
                sent = [t.arrive for t in self.partials(s.phase) if t.source == s.device]
                ends = [s.end, *sent, *([self.combine_end(s.phase) or s.end] if s.device == self.home or not sent else [])]
                spans.append((s.device, s.start, max(ends), task.combine.bytes))
            elif self.made(s.phase, s.device):
                units = set(range(self.units(s.phase))) if self.whole(s.phase) else set(range(s.first, s.stop))
                buffers.append(Buffer(s.phase, s.device, units, self.output(s), s.start, s.end))
        for c in self.schedule.combines:
            units = set(range(self.units(c.phase)))
            buffers.append(Buffer(c.phase, self.home, units, self.problem.phases[c.phase].out_bytes, c.start, c.end))
        for t in self.schedule.transfers:
            if t.partial:
                is_read = t.target == self.home and t.first < t.stop
                combined = self.combine_end(t.phase) if is_read else None
                spans.append((t.target, t.start, self.last if combined is None else max(t.arrive, combined), t.bytes))
            else:
                units = set(range(t.first, t.stop))
                buffers.append(Buffer(t.phase, t.target, units, t.bytes, t.start, t.arrive, t))
        self.used(buffers)
        self.replaced(buffers)
        for b in buffers:
            last = max([b.made, *(tick for tick, _ in b.uses)] if b.uses else [b.made, self.last])
            spans.append((b.device, b.start, last if b.ended is None else b.ended, b.size))
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
                            b.uses.append((s.end, s))
            for t in self.sent(b.phase):
                if t.source == b.device and (t.first == t.stop or set(range(t.first, t.stop)) & b.units):
                    b.uses.append((t.arrive, None))
        for directive in self.problem.directives:
            if isinstance(directive, Keep | Replicate):
                everywhere = {int(s.device) for s in self.schedule.shards}
                named = self.devices_called(directive.device) if isinstance(directive, Keep) else everywhere
                there = [d for d in sorted(named) if self.holds(directive.phase, d)]
                for device in there[:1] if isinstance(directive, Keep) else there:
                    latest: dict[frozenset[int], Buffer] = {}
                    for b in sorted(buffers, key=lambda b: b.start):
                        if (b.phase, b.device) == (directive.phase, device):
                            latest[frozenset(b.units)] = b
                    for b in latest.values():
                        b.uses.append((self.last, None))

    def replaced(self, buffers: list[Buffer]) -> None:
        """Outputs that take the place of the largest operand which nobody needs any more."""
        grain = self.problem.memory_grain
        for s in sorted(self.schedule.shards, key=lambda s: (s.start, s.end, s.phase)):
            task = self.problem.phases[s.phase]
            size = task.combine.bytes if task.combine else self.output(s)
            if not task.inplace or not size:
                continue
            own = [
                b for b in buffers
                if b.ended is None and -(-b.size // grain) >= -(-size // grain) and b.made <= s.start
                and any(user is s for _, user in b.uses) and all(user is s or end <= s.start for end, user in b.uses)
            ]  # fmt: skip
            if own:
                max(own, key=lambda b: -(-b.size // grain)).ended = s.start
