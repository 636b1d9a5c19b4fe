"""Earliest starts and shortest remainders of every shard of every mode, and the load cuts that follow from them.

A head is a tick before which a shard cannot start, a tail the ticks that must pass after its end, whatever the other phases do;
both hold in every schedule with the candidate modes.
"""

from __future__ import annotations

from ...timeline.expand import Maker, merged
from .shape import Piece, Shape


class Heads:
    """`head[p][k][i]`, `tail[p][k][i]` of piece i of mode k of phase p; `combine_tail[p]` after its combine."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        count = shape.count
        self.head: list[list[list[int]]] = [[[0] * len(pieces) for pieces in shape.pieces[p]] for p in range(count)]
        self.tail: list[list[list[int]]] = [[[0] * len(pieces) for pieces in shape.pieces[p]] for p in range(count)]
        self.combine_tail = [0] * count
        for p in shape.order:
            self._heads(p)
        for p in reversed(shape.order):
            self._tails(p)

    # ------------------------------------------------------------------------------ heads

    def finish(self, p: int, k: int) -> int:
        """The earliest end of phase p in mode k, its combine included."""
        shape = self.shape
        ends = [head + piece.ticks for head, piece in zip(self.head[p][k], shape.pieces[p][k], strict=True)]
        combine = shape.problem.phases[p].combine
        if combine is None:
            return max(ends)
        arrivals = [
            end + (shape.partial_travel(p, piece.device) or 0) for end, piece in zip(ends, shape.pieces[p][k], strict=True)
        ]
        if combine.barrier:
            return max(arrivals) + combine.ticks_per_shard * len(ends)
        return merged(arrivals, 0, combine.ticks_per_shard)

    def _available(self, p: int, k: int) -> list[tuple[Maker, int]]:
        makers = self.shape.makers(p, k)
        if self.shape.combined[p]:
            return [(makers[0], self.finish(p, k))]
        pieces = self.shape.pieces[p][k]
        return [(maker, self.head[p][k][i] + pieces[i].ticks) for i, maker in enumerate(makers)]

    def _heads(self, q: int) -> None:
        shape = self.shape
        timer = shape.timer
        base = shape.problem.phases[q].ready
        for p in timer.limits.after[q]:
            base = max(base, min((self.finish(p, k) for k in range(len(shape.modes[p]))), default=0))
        for p in timer.limits.issued[q]:
            base = max(base, min((min(heads) for heads in self.head[p]), default=0))
        for heads in self.head[q]:
            for i in range(len(heads)):
                heads[i] = base
        for edge in timer.incoming[q]:
            p = int(shape.problem.edges[edge].source)
            available = [{maker.device: end for maker, end in self._available(p, k)} for k in range(len(shape.modes[p]))]
            for mode in range(len(shape.modes[q])):
                best: dict[int, int] = {}
                for k, ends in enumerate(available):
                    arrival: dict[int, int] = {}
                    for need in shape.needs(edge, k, mode):
                        travel = self.travel(edge, need.maker, need.device, need.low, need.high)
                        tick = UNREACHED if travel is None else ends[need.maker] + travel
                        arrival[need.device] = max(arrival.get(need.device, 0), tick)
                    for piece in shape.pieces[q][mode]:
                        tick = arrival.get(piece.device, 0)
                        best[piece.device] = min(best.get(piece.device, UNREACHED), tick)
                heads = self.head[q][mode]
                for i, piece in enumerate(shape.pieces[q][mode]):
                    heads[i] = max(heads[i], best.get(piece.device, 0))

    def travel(self, edge: int, source: int, target: int, low: int, high: int) -> int | None:
        shape = self.shape
        if source == target:
            return 0
        if shape.timer.keys[edge] >= 0:
            return shape.delay(edge, source, target)
        described = shape.problem.edges[edge]
        return shape.travel(source, target, shape.timer.part_bytes(int(described.source), low, high, described.bytes))

    # ------------------------------------------------------------------------------ tails

    def _tails(self, p: int) -> None:
        shape = self.shape
        timer = shape.timer
        base = 0
        for q in shape.followers[p]:
            base = max(base, min((min(self._rest(q, k)) for k in range(len(shape.modes[q]))), default=0))
        combine = shape.problem.phases[p].combine
        for k, pieces in enumerate(shape.pieces[p]):
            after: dict[int, int] = {}
            for edge in timer.outgoing[p]:
                q = int(shape.problem.edges[edge].target)
                best: dict[int, int] = {}
                for mode in range(len(shape.modes[q])):
                    rest = dict(zip((piece.device for piece in shape.pieces[q][mode]), self._rest(q, mode), strict=True))
                    longest: dict[int, int] = {}
                    for need in shape.needs(edge, k, mode):
                        travel = self.travel(edge, need.maker, need.device, need.low, need.high)
                        ticks = UNREACHED if travel is None else travel + rest[need.device]
                        longest[need.maker] = max(longest.get(need.maker, 0), ticks)
                    for maker in shape.makers(p, k):
                        best[maker.device] = min(best.get(maker.device, UNREACHED), longest.get(maker.device, 0))
                for device, ticks in best.items():
                    after[device] = max(after.get(device, 0), ticks)
            if combine is None:
                self.tail[p][k] = [max(base, after.get(piece.device, 0)) for piece in pieces]
                continue
            self.combine_tail[p] = max(base, after.get(shape.home, 0))
            steps = len(pieces) if combine.barrier else 1
            last = combine.ticks_per_shard * steps + self.combine_tail[p]
            self.tail[p][k] = [(shape.partial_travel(p, piece.device) or 0) + last for piece in pieces]

    def _rest(self, q: int, mode: int) -> list[int]:
        return [piece.ticks + tail for piece, tail in zip(self.shape.pieces[q][mode], self.tail[q][mode], strict=True)]

    def spans(self) -> list[tuple[int, int, int, Piece, int, int]]:
        """(phase, mode, piece index, piece, head, tail) of everything that may run."""
        return [
            (p, k, i, piece, self.head[p][k][i], self.tail[p][k][i])
            for p in range(self.shape.count)
            for k, pieces in enumerate(self.shape.pieces[p])
            for i, piece in enumerate(pieces)
        ]

    def bound(self) -> int:
        """No schedule is shorter."""
        longest = 0
        for p in range(self.shape.count):
            least = UNREACHED
            for k, pieces in enumerate(self.shape.pieces[p]):
                ticks = max((self.head[p][k][i] + piece.ticks + self.tail[p][k][i] for i, piece in enumerate(pieces)), default=0)
                least = min(least, ticks)
            if self.shape.pieces[p]:
                longest = max(longest, least)
        return longest


UNREACHED = 1 << 60
