"""The order of sums by the threads of a card: a lane of the order is a thread.

What is reduced may be more than sums: a search for a place carries the best item beside it.

Neighbours: `orders` (the same on processors), `lower.cards` and `lower.rows` (ask), `cuda` (prints what is written here).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from ..kernels.ir import BLOCK, LANES
from .builder import Builder, at
from .cuda.text import SHARED
from .ir import ZERO, Index, LoopKind, Role, plus
from .orders import HELD, Cells
from .reducing import Reduction, joined


class Threads:
    """Blocks of sums by the threads of a block: each has a lane of a cell, and these are halved in the block's memory.

    `lanes` are held there; the others are joined with these by their thread, as halving does.  Neighbouring threads have
    neighbouring lanes, or (`across`) neighbouring cells, of which there are `cells` at most.  `most`: no cell has more items; of
    longer ones, blocks are done.  `beside`: how many others carry something in the block's memory."""

    def __init__(self, b: Builder, states: Sequence[Reduction], most: int, *, across: bool = False, are_cells: bool,
                 beside: int = 0) -> None:  # fmt: skip
        self.b, self.states, self.most, self.across = b, states, min(most, BLOCK), across
        self.kinds = [kind for state in states for kind in state.kinds]
        self.lanes = min(HELD if across else LANES, 1 << (most - 1).bit_length())
        self.cells = (8 if across else 1) * LANES // self.lanes if are_cells else 1
        while 8 * (len(self.kinds) + beside) * self.lanes * self.cells > SHARED:
            if self.cells > 1:
                self.cells //= 2
            else:
                self.lanes //= 2
        shape = Index((), self.lanes), Index((), self.cells)
        self.rooms = [b.view("lanes", kind, shape, Role.SCRATCH, private=True).name for kind in self.kinds]
        self.nothing = [part for state in states for part in state.entry(b)]

    def write(self, cells: Cells, length: Index, items: Callable[[Index], Callable[[Index], Sequence[str]]]) -> None:
        """A block of `length` items (of what is longer, the first) of each cell, into its first lane."""
        with self.each(cells, self.lanes) as (lane, cell):
            self.store(lane, cell, self.lane(lane, 0, self.lanes, length, items(cell)))
        half = self.lanes // 2
        while half:
            with self.each(cells, half) as (lane, cell):
                self.store(lane, cell, self.joined(self.load(lane, cell), self.load(plus(lane, Index((), half)), cell)))
            half //= 2

    @contextmanager
    def each(self, cells: Cells, lanes: int = 1) -> Iterator[tuple[Index, Index]]:
        """Threads: so many lanes of the cells."""
        with ExitStack() as nest:

            def loop(*upper: Index) -> Index:
                return at(nest.enter_context(self.b.loop(LoopKind.VECTOR, (ZERO,), upper)).index)

            if self.across or self.cells == 1:
                lane = loop(Index((), lanes)) if lanes > 1 or self.cells == 1 else ZERO
                yield lane, loop(Index((), self.cells), cells.count) if self.cells > 1 else ZERO
            else:
                cell = loop(Index((), self.cells), cells.count)
                yield loop(Index((), lanes)) if lanes > 1 else ZERO, cell

    def lane(self, lane: Index, ahead: int, apart: int, length: Index, items: Callable[[Index], Sequence[str]]) -> Sequence[str]:
        """A lane so far ahead, with those that lie so far apart."""
        if apart < LANES:
            total = self.lane(lane, ahead, 2 * apart, length, items)
            if ahead + apart >= self.most:
                return total
            return self.joined(total, self.lane(lane, ahead + apart, 2 * apart, length, items))
        bounds = (length, Index((), self.most)) if self.most > LANES else (length,)
        with self.b.loop(LoopKind.SERIAL, (plus(lane, Index((), ahead)),), bounds, self.nothing, step=LANES) as row:
            row.yields = self.joined(row.inside, items(at(row.index)))
        return row.results

    def joined(self, left: Sequence[str], right: Sequence[str]) -> tuple[str, ...]:
        return joined(self.b, self.states, left, right)

    def load(self, lane: Index, cell: Index) -> list[str]:
        return [self.b.load(room, (lane, cell)) for room in self.rooms]

    def store(self, lane: Index, cell: Index, values: Sequence[str]) -> None:
        for room, value in zip(self.rooms, values, strict=True):
            self.b.store(room, (lane, cell), value)
