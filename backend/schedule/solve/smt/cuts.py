"""What a makespan of T implies at once: latest starts, and how much work fits between heads and tails on each device and channel.

Stated anew for each probe, because T is a constant in them.
"""

from __future__ import annotations

from ...timeline.routes import Channel
from .encoding import Encoding
from .solver import negation


class Cuts:
    """The loads of an encoding's devices and channels, collected once."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        shape = encoding.shape
        self.devices: dict[int, list[tuple[str, int, int, int]]] = {}
        """By device: (literal, ticks, head, tail)."""
        for p, k, _, piece, head, tail in encoding.heads.spans():
            literal = encoding.mode_literals[p][k]
            self.devices.setdefault(piece.device, []).append((literal, piece.ticks, head, tail))
        for p in range(shape.count):
            combine = shape.problem.phases[p].combine
            if combine is not None:
                for k, literal in enumerate(encoding.mode_literals[p]):
                    ticks = combine.ticks_per_shard * len(shape.modes[p][k])
                    head = encoding.heads.finish(p, k) - ticks if combine.barrier else 0
                    self.devices.setdefault(shape.home, []).append((literal, ticks, head, encoding.heads.combine_tail[p]))
        self.channels: dict[Channel, list[tuple[str, int, int, int]]] = {}
        self._channels()

    def _channels(self) -> None:
        encoding = self.encoding
        for sent in encoding.sendings.values():
            for route in sent.routes:
                if route.hop is None or route.hop.channel is None:
                    continue
                least = min(route.occupied.values(), default=0)
                if least == 0:
                    continue
                literal = sent.present
                if route.here != "true" and route.here != sent.present:
                    literal = encoding.solver.boolean(f"r!{sent.start}!{route.maker}")
                    encoding.solver.clause((negation(sent.present), negation(route.here), literal))
                head, tail = self._around(sent.phase, route.maker, sent.target, sent.partial)
                self.channels.setdefault(route.hop.channel, []).append((literal, least, head, tail))

    def _around(self, p: int, maker: int, target: int, partial: bool) -> tuple[int, int]:
        """A tick before which the output is not on `maker`, and the ticks that must follow its arrival on `target`."""
        heads, shape = self.encoding.heads, self.encoding.shape
        if shape.combined[p] and not partial:
            head = min((heads.finish(p, k) for k in range(len(shape.modes[p]))), default=0)
        else:
            head = min(
                (
                    heads.head[p][k][i] + piece.ticks
                    for k, pieces in enumerate(shape.pieces[p])
                    for i, piece in enumerate(pieces)
                    if piece.device == maker
                ),
                default=0,
            )
        if partial:
            return head, heads.combine_tail[p]
        rests = [
            piece.ticks + heads.tail[q][k][i]
            for edge in shape.timer.outgoing[p]
            for q in (int(shape.problem.edges[edge].target),)
            for k, pieces in enumerate(shape.pieces[q])
            for i, piece in enumerate(pieces)
            if piece.device == target
        ]
        relays = target == shape.home and any(
            path is not None and len(path) == 2
            for d in range(len(shape.timer.kinds))
            if d != maker
            for path in (shape.path(maker, d),)
        )
        return head, 0 if relays else min(rests, default=0)

    def state(self, makespan: int) -> None:
        """Assert everything for schedules of at most `makespan` ticks (the caller pushes and pops)."""
        encoding, solver = self.encoding, self.encoding.solver
        heads = encoding.heads
        for p, k, _, piece, head, tail in heads.spans():
            latest = makespan - tail - piece.ticks
            literal = encoding.mode_literals[p][k]
            if latest < head:
                encoding.clause(negation(literal))
            else:
                encoding.clause(negation(literal), f"(<= {encoding.start(p, piece.device)} {latest})")
        for p in range(encoding.shape.count):
            if encoding.shape.combined[p]:
                for moment in encoding.combine_ends(p):
                    latest = makespan - heads.combine_tail[p] - moment.ticks
                    encoding.clause(*map(negation, moment.guards), f"(<= {moment.base} {latest})")
        for sent in encoding.sendings.values():
            if sent.phase in encoding.shape.timer.brought:
                for route in sent.routes:
                    moment = sent.busy_moments(route)
                    latest = makespan - moment.ticks - (route.hop.latency if route.hop is not None else 0)
                    encoding.clause(negation(sent.present), *map(negation, moment.guards), f"(<= {moment.base} {latest})")
        for entries in (*self.devices.values(), *self.channels.values()):
            for limit, weighted in windows(entries, makespan):
                solver.at_most(weighted, limit)


def windows(entries: list[tuple[str, int, int, int]], makespan: int) -> list[tuple[int, list[tuple[str, int]]]]:
    """For every set of items with heads of at least a and tails of at least b: they fit into makespan - a - b; the tightest
    per set, and only those that some choice could break."""
    by_set: dict[tuple[int, ...], int] = {}
    tails = sorted({entry[3] for entry in entries})
    for a in sorted({entry[2] for entry in entries}):
        after = [i for i, entry in enumerate(entries) if entry[2] >= a and entry[1]]
        for b in tails:
            members = tuple(i for i in after if entries[i][3] >= b)
            if not members:
                break
            by_set[members] = max(by_set.get(members, 0), a + b)
    result: list[tuple[int, list[tuple[str, int]]]] = []
    for members, used in by_set.items():
        limit = max(0, makespan - used)  # none at all, where a and b alone are too much
        if sum(entries[i][1] for i in members) > limit:
            result.append((limit, [(entries[i][0], entries[i][1]) for i in members]))
    return result
