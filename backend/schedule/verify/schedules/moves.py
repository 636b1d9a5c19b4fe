"""V6: transfers go by links that join their ends, and carry what they say.  That channels carry one at a time is the judge's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ...answer import Shard, Transfer
from ...problem import Edge
from ..violation import Rule, Violation
from .facts import Facts


def carried(facts: Facts) -> Iterator[Violation]:
    """V6: links exist and join the two devices, bytes are those of the units."""
    links = facts.problem.links
    onwards: dict[tuple[int, int], list[Transfer]] = defaultdict(list)
    for moved in facts.schedule.transfers:
        if not moved.partial:
            onwards[moved.phase, moved.source].append(moved)
    for moved in facts.schedule.transfers:
        what = f"`{facts.id(moved.phase)}` from {facts.names[moved.source]} to {facts.names[moved.target]}"
        if moved.link is None:
            edges = [edge for edge in facts.outgoing[moved.phase] if facts.delayed(edge)]
            if links and not edges:
                yield Violation(Rule.V6, f"{what} goes without a link")
                continue
        elif not 0 <= moved.link < len(links) or not facts.joins(links[moved.link], moved.source, moved.target):
            yield Violation(Rule.V6, f"{what} goes by link {moved.link}, which does not join them")
            continue
        expected = _sizes(facts, moved, onwards[moved.phase, moved.target])
        if moved.bytes not in expected:
            wanted = " or ".join(map(str, sorted(expected)))
            yield Violation(Rule.V6, f"{what} says {moved.bytes} bytes; units [{moved.first}, {moved.stop}) are {wanted}")
    for shard in facts.schedule.shards:
        together = facts.problem.phases[shard.phase].together
        if together is not None and shard.first == 0:
            for link, source, target in together.channels:
                if not 0 <= link < len(links) or not facts.joins(links[link], source, target):
                    yield Violation(Rule.V6, f"`{facts.id(shard.phase)}` uses link {link}, which does not join its devices")


def _sizes(facts: Facts, moved: Transfer, onwards: list[Transfer]) -> set[int]:
    """What the bytes may be: as much as any consumer on the target (or behind it) says the whole is."""
    if moved.partial:
        task = facts.problem.phases[moved.phase]
        return {0 if task.combine is None else task.combine.bytes}
    edges = facts.outgoing[moved.phase]
    behind = {
        int(onward.target)
        for onward in onwards
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
