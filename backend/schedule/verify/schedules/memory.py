"""V5: bytes in use on each device, replayed from the schedule by liveness.  See Note [Memory] of `problem`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil

from ...problem import Keep, Replicate, Shard, Transfer
from .facts import Facts
from .places import holds
from .violation import Code, Violation


@dataclass(slots=True, eq=False)
class _Buffer:
    """`uses`: (end of the use, the consuming shard if it is one)."""

    size: int
    start: int
    made: int
    copy: Transfer | None = None
    uses: list[tuple[int, Shard | None]] = field(default_factory=list)
    ended: int | None = None

    def end(self, forever: int) -> int:
        if self.ended is not None:
            return self.ended
        return max(self.made, max((end for end, _ in self.uses), default=forever))


def peaks(facts: Facts) -> dict[int, tuple[int, int]]:
    """By device with a limit: the most bytes in use, and the tick at which they first are."""
    limited = {device for device, cap in enumerate(facts.caps) if cap is not None}
    if not limited:
        return {}
    forever = facts.schedule.makespan + 1
    buffers: dict[tuple[int, int], list[tuple[int, int, _Buffer]]] = defaultdict(list)
    spans: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for shard in facts.schedule.shards:
        task = facts.problem.phases[shard.phase]
        spans[shard.device].append((shard.start, shard.end, _scratch(facts, shard)))
        if task.combine is not None:
            _partial(facts, shard, spans)
            continue
        if facts.elsewhere(shard.phase, shard.device):
            continue
        first, stop = (0, facts.units(shard.phase)) if facts.whole(shard.phase) else (shard.first, shard.stop)
        made = _Buffer(_result(facts, shard), shard.start, shard.end)
        buffers[shard.phase, shard.device].append((first, stop, made))
    for step in facts.schedule.combines:
        size = facts.rounded(facts.problem.phases[step.phase].out_bytes)
        made = _Buffer(size, step.start, step.end)
        buffers[step.phase, facts.home].append((0, facts.units(step.phase), made))
    for moved in facts.schedule.transfers:
        size = facts.rounded(moved.bytes)
        if moved.partial:
            combined = facts.combine[moved.phase].end if moved.phase in facts.combine else forever
            spans[moved.target].append((moved.start, combined, size))
        else:
            copy = _Buffer(size, moved.start, moved.arrive, moved)
            buffers[moved.phase, moved.target].append((moved.first, moved.stop, copy))
    _uses(facts, buffers, forever)
    _in_place(facts, buffers, forever)
    for (_, device), parts in buffers.items():
        spans[device] += [(buffer.start, buffer.end(forever), buffer.size) for _, _, buffer in parts]
    return {device: _peak(spans[device]) for device in sorted(limited)}


def _scratch(facts: Facts, shard: Shard) -> int:
    """Bytes that a shard needs while it runs."""
    task = facts.problem.phases[shard.phase]
    if task.together is not None:
        stated = {int(device): size for (device, _), size in zip(task.together.mode, task.together.scratch, strict=True)}
        return facts.rounded(stated.get(int(shard.device), 0))
    return facts.rounded(ceil(task.scratch * (shard.stop - shard.first) / task.units)) if task.scratch else 0


def _result(facts: Facts, shard: Shard) -> int:
    """Bytes that a shard makes: of the output, or its partial result."""
    task = facts.problem.phases[shard.phase]
    if task.combine is not None:
        return facts.rounded(task.combine.bytes)
    first, stop = (0, facts.units(shard.phase)) if facts.whole(shard.phase) else (shard.first, shard.stop)
    return facts.rounded(facts.size(shard.phase, first, stop, None))


def _partial(facts: Facts, shard: Shard, spans: dict[int, list[tuple[int, int, int]]]) -> None:
    """A partial result lives until it has arrived at home, or is combined there."""
    sent = [moved.arrive for moved in facts.partials[shard.phase, shard.device]]
    combined = facts.combine[shard.phase].end if shard.phase in facts.combine else shard.end
    spans[shard.device].append((shard.start, max(sent, default=combined), _result(facts, shard)))


def _uses(facts: Facts, buffers: dict[tuple[int, int], list[tuple[int, int, _Buffer]]], forever: int) -> None:
    for shard in facts.schedule.shards:
        for edge in facts.incoming[shard.phase]:
            low, high = facts.needed(edge, shard)
            for first, stop, buffer in buffers[edge.source, shard.device]:
                serves = buffer.copy is None or facts.serves(buffer.copy, edge)
                if serves and (low == high or (first < high and stop > low)):
                    buffer.uses.append((shard.end, shard))
    for moved in facts.schedule.transfers:
        for first, stop, buffer in buffers[moved.phase, moved.source]:
            if not moved.partial and ((first < moved.stop and stop > moved.first) or moved.first == moved.stop):
                buffer.uses.append((moved.arrive, None))
    for directive in facts.problem.directives:
        if isinstance(directive, Keep | Replicate):
            phase = int(directive.phase)
            everywhere = {int(shard.device) for shard in facts.schedule.shards}
            named = facts.named(directive.device) if isinstance(directive, Keep) else everywhere
            there = [device for device in sorted(named) if holds(facts, phase, device)]
            for device in there[:1] if isinstance(directive, Keep) else there:
                parts = buffers[phase, device]
                last = {(first, stop): buffer for first, stop, buffer in sorted(parts, key=lambda part: part[2].start)}
                for buffer in last.values():  # of equal copies one is enough
                    buffer.uses.append((forever, None))


def _in_place(facts: Facts, buffers: dict[tuple[int, int], list[tuple[int, int, _Buffer]]], forever: int) -> None:
    """An operand whose last use is a shard that may overwrite it ends where that starts."""
    for shard in sorted(facts.schedule.shards, key=lambda s: (s.start, s.end, s.phase)):
        task = facts.problem.phases[shard.phase]
        size = _result(facts, shard)
        if not task.inplace or not size:
            continue
        candidates = [
            buffer
            for edge in facts.incoming[shard.phase]
            for _, _, buffer in buffers[edge.source, shard.device]
            if buffer.ended is None and buffer.size >= size and buffer.made <= shard.start
            and any(user is shard for _, user in buffer.uses)
            and all(user is shard or end <= shard.start for end, user in buffer.uses)
        ]  # fmt: skip
        if candidates:
            max(candidates, key=lambda b: b.size).ended = shard.start


def _peak(spans: list[tuple[int, int, int]]) -> tuple[int, int]:
    changes: dict[int, int] = defaultdict(int)
    for start, end, size in spans:
        if end > start:
            changes[start] += size
            changes[end] -= size
    level = most = at = 0
    for tick in sorted(changes):
        level += changes[tick]
        if level > most:
            most, at = level, tick
    return most, at


def fits(facts: Facts) -> Iterator[Violation]:
    """V5: no device has more in use than it has."""
    for device, (peak, tick) in peaks(facts).items():
        cap = facts.caps[device]
        if cap is not None and peak > cap:
            yield Violation(Code.V5, f"{facts.names[device]} has {peak} bytes in use at {tick}, and {cap} at most")
