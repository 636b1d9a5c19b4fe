"""Chains along rows as loop programs for cards: a block of threads takes some rows through everything.

Elements are computed again in each sweep: the row is in cache by then, and arithmetic is what a card has most of.  What a row
comes to stays in the block's memory, whence every thread takes it.

Neighbours: `rows` (the same on processors), `cards` (cells), `threads` (sums), `backend.run.cuda.launching` (launches this).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from ...kernels.ir import BLOCK
from ...kernels.row_plan import Sweep
from ..builder import at
from ..ir import ZERO, Index, LoopKind, Program, Role, plus, times
from ..orders import Cells
from ..threads import Threads
from .cards import OnCard
from .rows import Rows, RowsCode


def card_rows(rows: RowsCode) -> Program:
    return _CardRows(rows).program()


class _CardRows(Rows, OnCard):
    """`totals`: where the reductions of the rows are."""

    keeps: ClassVar = False

    def __init__(self, rows: RowsCode) -> None:
        super().__init__(rows)
        self.totals: dict[int, str] = {}

    def write(self) -> None:
        b, are_cells, most = self.b, self.kernel.axes > 1, self.rows.most
        states = list(map(self.reductions_of, self.plan.sweeps))
        count = sum(map(len, states))
        sweeps = [Threads(b, own, most, are_cells=are_cells, beside=count - len(own)) for own in states]
        self.enter([], self.known)
        with self.cells(sweeps[0].cells) as (point, cells):
            for sweep, threads in zip(self.plan.sweeps, sweeps, strict=True):
                if sweep.reduces:
                    self.reduce(sweep, threads, point, cells)
                    self.totals.update(zip(sweep.reduces, threads.rooms, strict=True))
                else:
                    self.only_store(sweep, threads, point, cells)
            with sweeps[0].each(cells) as (_, cell):
                row, known = self.of_cell(point, cell)
                for place, result in enumerate(self.kernel.results):
                    if self.rows.is_row[place]:
                        b.store(self.results[place], self.target(place, [*row, ZERO]), known[result.node])

    def of_cell(self, point: Sequence[Index], cell: Index) -> tuple[list[Index], dict[int, str]]:
        row, known = super().of_cell(point, cell)
        for place, room in self.totals.items():
            known[place] = self.b.load(room, (ZERO, cell))
        self.of_row(known, row)
        return row, known

    def reduce(self, sweep: Sweep, threads: Threads, point: Sequence[Index], cells: Cells) -> None:
        """The totals are left where the lanes were: of several blocks, joined as a tree."""
        b, length = self.b, at(self.sizes[-1])

        def items_from(start: Index) -> Callable[[Index], Callable[[Index], Sequence[str]]]:
            def items(cell: Index) -> Callable[[Index], Sequence[str]]:
                row, known = self.of_cell(point, cell)
                return lambda place: self.element(sweep, row, plus(start, place), known)

            return items

        blocks = self.rows.most // BLOCK
        if blocks <= 1:
            threads.write(cells, length, items_from(ZERO))
            return
        totals = [b.view("totals", kind, (Index((), blocks),), Role.SCRATCH, private=True).name for kind in threads.kinds]
        with b.range(LoopKind.SERIAL, Index((), blocks)) as block:
            start = times(at(block.index), BLOCK)
            threads.write(cells, plus(length, times(start, -1)), items_from(start))
            with threads.each(cells) as (_, cell):
                for room, total in zip(totals, threads.load(ZERO, cell), strict=True):
                    b.store(room, (at(block.index),), total)
        with threads.each(cells) as (_, cell):
            found: list[Sequence[str]] = [[b.load(room, (Index((), block),)) for room in totals] for block in range(blocks)]
            while len(found) > 1:
                found = [threads.joined(*pair) for pair in zip(found[::2], found[1::2], strict=True)]
            threads.store(ZERO, cell, found[0])

    def only_store(self, sweep: Sweep, threads: Threads, point: Sequence[Index], cells: Cells) -> None:
        b, length = self.b, at(self.sizes[-1])
        if threads.cells == 1:
            row, known = self.of_cell(point, ZERO)
            with b.range(LoopKind.VECTOR, length) as loop:
                self.element(sweep, row, at(loop.index), known)
            return
        with b.loop(LoopKind.VECTOR, (ZERO,), (Index((), threads.cells), cells.count)) as cell_loop:
            row, known = self.of_cell(point, at(cell_loop.index))
            with b.loop(LoopKind.VECTOR, (ZERO,), (Index((), threads.lanes), length)) as loop:
                self.element(sweep, row, at(loop.index), known)
