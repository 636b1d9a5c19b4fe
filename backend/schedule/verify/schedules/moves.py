"""V4 and V6: operands are where they are read, brought by transfers that a link can carry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from ...problem import Edge, Shard, Transfer
from .facts import Facts
from .places import covered
from .violation import Code, Violation


def resident(facts: Facts) -> Iterator[Violation]:
    """V4: each shard's operands are made on its device or have arrived there; so is what a transfer or combine takes."""
    for shard in facts.schedule.shards:
        for edge in facts.incoming[shard.phase]:
            low, high = facts.needed(edge, shard)
            if not _there(facts, edge, shard, low, high):
                where = f"`{facts.id(shard.phase)}` starts at {shard.start} on {facts.names[shard.device]}"
                yield Violation(Code.V4, f"{where} without [{low}, {high}) of `{facts.id(edge.source)}`")
    for moved in facts.schedule.transfers:
        if not _has(facts, moved):
            what = f"[{moved.first}, {moved.stop}) of `{facts.id(moved.phase)}`"
            yield Violation(Code.V4, f"{facts.names[moved.source]} has not {what} to send at {moved.start}")
    for step in facts.schedule.combines:
        for shard in facts.shards[step.phase]:
            sent = any(t.target == facts.home for t in facts.partials[step.phase, shard.device])
            if shard.device != facts.home and not sent:
                name = facts.names[shard.device]
                yield Violation(Code.V4, f"the partial of `{facts.id(step.phase)}` on {name} is not brought home")


def _there(facts: Facts, edge: Edge, shard: Shard, low: int, high: int) -> bool:
    device = int(shard.device)
    parts = [(first, stop) for first, stop, tick in facts.made(edge.source, device) if tick <= shard.start]
    for moved in facts.arrivals[edge.source, device]:
        if facts.serves(moved, edge) and moved.arrive + facts.sync[device] <= shard.start:
            parts.append((moved.first, moved.stop))
    return bool(parts) and covered(parts, low, high)


def _has(facts: Facts, moved: Transfer) -> bool:
    if moved.partial:
        mine = facts.on[moved.phase, moved.source]
        return any((s.first, s.stop) == (moved.first, moved.stop) and s.end <= moved.start for s in mine)
    parts = [(low, high) for low, high, tick in facts.made(moved.phase, moved.source) if tick <= moved.start]
    came = facts.arrivals[moved.phase, moved.source]
    parts += [(t.first, t.stop) for t in came if t is not moved and t.arrive <= moved.start]
    return bool(parts) and covered(parts, moved.first, moved.stop)


def carried(facts: Facts) -> Iterator[Violation]:
    """V6: links exist and join the two devices, bytes are those of the units, exclusive channels carry one at a time."""
    links = facts.problem.links
    busy: dict[tuple[object, ...], list[Transfer]] = defaultdict(list)
    for moved in facts.schedule.transfers:
        what = f"`{facts.id(moved.phase)}` from {facts.names[moved.source]} to {facts.names[moved.target]}"
        if moved.link is None:
            edges = [edge for edge in facts.outgoing[moved.phase] if facts.delayed(edge)]
            if links and not edges:
                yield Violation(Code.V6, f"{what} goes without a link")
                continue
        elif not 0 <= moved.link < len(links) or not facts.joins(links[moved.link], moved.source, moved.target):
            yield Violation(Code.V6, f"{what} goes by link {moved.link}, which does not join them")
            continue
        expected = _sizes(facts, moved)
        if moved.bytes not in expected:
            wanted = " or ".join(map(str, sorted(expected)))
            yield Violation(Code.V6, f"{what} says {moved.bytes} bytes; units [{moved.first}, {moved.stop}) are {wanted}")
        if moved.busy > moved.start and (channel := facts.channel(moved)) is not None:
            busy[channel].append(moved)
    for shard in facts.schedule.shards:
        together = facts.problem.phases[shard.phase].together
        if together is not None and shard.first == 0:
            for link, source, target in together.channels:
                if not 0 <= link < len(links) or not facts.joins(links[link], source, target):
                    yield Violation(Code.V6, f"`{facts.id(shard.phase)}` uses link {link}, which does not join its devices")
            for channel in facts.held(shard, together):
                held = Transfer(shard.phase, shard.device, shard.device, 0, 0, 0, None, shard.start, shard.end, shard.end)
                busy[channel].append(held)
    for moves in busy.values():
        moves.sort(key=lambda t: t.start)
        for first, then in pairwise(moves):
            if then.start < first.busy:
                names = f"`{facts.id(first.phase)}` and `{facts.id(then.phase)}`"
                yield Violation(Code.V6, f"{names} are on one channel at {then.start}")


def _sizes(facts: Facts, moved: Transfer) -> set[int]:
    """What the bytes may be: as much as any consumer on the target (or behind it) says the whole is."""
    if moved.partial:
        task = facts.problem.phases[moved.phase]
        return {0 if task.combine is None else task.combine.bytes}
    edges = facts.outgoing[moved.phase]
    behind = {
        int(onward.target)
        for onward in facts.departures[moved.phase, moved.target]
        if moved.first == moved.stop or (onward.first < moved.stop and onward.stop > moved.first)
    }
    said = {facts.size(moved.phase, moved.first, moved.stop, edge.bytes) for edge in edges}
    places = behind - {int(moved.source)} | {int(moved.target)}
    used = [e for e in edges if any(_reads(facts, e, shard, moved) for d in places for shard in facts.on[e.target, d])]
    least = max((facts.size(moved.phase, moved.first, moved.stop, edge.bytes) for edge in used), default=0)
    if moved.phase in facts.wanted or not edges:
        said.add(facts.size(moved.phase, moved.first, moved.stop, None))
    return {size for size in said if size >= least}


def _reads(facts: Facts, edge: Edge, shard: Shard, moved: Transfer) -> bool:
    """The shard reads something of what is moved."""
    low, high = facts.needed(edge, shard)
    return low == high or (low < moved.stop and high > moved.first)
