"""Earliest starts and shortest remainders of every shard of every mode: those of `bounds`, which hold whatever the cuts.

A head is a tick before which a shard cannot start, a tail the ticks that must pass after its end, whatever the other phases do.
"""

from __future__ import annotations

from ...timeline.expand import merged
from ..bounds import Bounds
from ..costs import Costs
from .shape import Piece, Shape


class Heads:
    """`head[p][k][i]`, `tail[p][k][i]` of piece i of mode k of phase p; `combine_tail[p]` after its combine."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        costs = Costs(shape.timer)
        bounds, class_of = Bounds(costs), costs.class_of
        self.head: list[list[list[int]]] = []
        self.tail: list[list[list[int]]] = []
        for p, task in enumerate(shape.problem.phases):
            again = task.combine.ticks_per_shard if task.combine is not None and task.combine.barrier else 0
            kinds = [[class_of[piece.device] for piece in pieces] for pieces in shape.pieces[p]]
            self.head.append([[bounds.heads[p][kind] for kind in own] for own in kinds])
            self.tail.append([[bounds.rest(p, kind) + again * (len(own) - 1) for kind in own] for own in kinds])
        self.combine_tail = [max(tails.values()) for tails in bounds.tails]

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

    def spans(self) -> list[tuple[int, int, int, Piece, int, int]]:
        """(phase, mode, piece index, piece, head, tail) of everything that may run."""
        return [
            (p, k, i, piece, self.head[p][k][i], self.tail[p][k][i])
            for p in range(self.shape.count)
            for k, pieces in enumerate(self.shape.pieces[p])
            for i, piece in enumerate(pieces)
        ]
