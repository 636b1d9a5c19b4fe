"""Kernels as loop programs for cards: the bodies, views and words of `kernel`, in loops over blocks of threads.

A map is one space of threads.  A reduction of long lines is two nests: blocks of the order of sums (`threads`), each by a
block of threads, then the blocks of each cell, neighbours level by level, in place.

`most`: no line is longer; a power of two up to a block, else `orders.MOST`, and then the last parameter is how many blocks there
are.

Neighbours: `kernel` (for processors), `threads` (blocks), `loops.cuda` (prints this), `backend.run.cuda.launching` (binds it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import ClassVar

from ....typechecker.elements import Kind
from ...kernels.ir import BLOCK, LANES, Form, Kernel
from ..builder import at
from ..ir import ONE, ZERO, Index, LoopKind, Program, Role, plus, times
from ..orders import MOST, Cells, integer
from ..threads import Threads
from .kernel import Lowering


def card_kernel(kernel: Kernel, most: int = MOST) -> Program:
    return (OnCard(kernel) if kernel.form is Form.MAP else _Reductions(kernel, most)).program()


def most_of(length: int) -> int:
    """The length that lines of a length are printed for."""
    return MOST if length > BLOCK else BLOCK if length > LANES else 1 << (length - 1).bit_length()


class OnCard(Lowering):
    """A map; and the cells of blocks of threads."""

    outer: ClassVar = LoopKind.PARALLEL
    in_order: ClassVar = False

    @contextmanager
    def cells(self, together: int) -> Iterator[tuple[list[Index], Cells]]:
        """The cells of a block of threads: the point of the first, and how many there are along the last axis of these."""
        b, point, sizes = self.b, list[Index](), self.sizes[:-1]
        with ExitStack() as loops:
            if not sizes:
                loops.enter_context(b.range(LoopKind.PARALLEL, ONE))
            for size, step in zip(sizes, [*(1 for _ in sizes[1:]), together], strict=False):
                loop = loops.enter_context(b.loop(LoopKind.PARALLEL, (ZERO,), (at(size),), step=step))
                point.append(at(loop.index))
            yield point, Cells(plus(at(sizes[-1]), times(point[-1], -1)) if sizes else ONE, together)

    def of_cell(self, point: Sequence[Index], cell: Index) -> tuple[list[Index], dict[int, str]]:
        """Its point, and what is known of it before its items are."""
        here, known = [*point[:-1], plus(point[-1], cell)] if point else [], dict(self.known)
        for depth in range(1, self.kernel.axes):
            self.enter(here[:depth], known)
        return here, known


class _Reductions(OnCard):
    def __init__(self, kernel: Kernel, most: int) -> None:
        super().__init__(kernel)
        self.is_long = most > BLOCK
        self.threads = Threads(self.b, self.reductions, most, across=kernel.form is Form.ACROSS, are_cells=kernel.axes > 1)
        self.partials = [
            self.b.view("partials", kind, (*map(at, self.sizes[:-1]), at("blocks")), Role.SCRATCH).name
            for kind in self.threads.kinds if self.is_long
        ]  # fmt: skip

    @property
    def parameters(self) -> tuple[str, ...]:
        return (*super().parameters, "blocks")

    def write(self) -> None:
        self.enter([], self.known)
        with self.cells(self.threads.cells) as (point, cells):
            length, start, block = at(self.sizes[-1]), ZERO, ZERO
            with ExitStack() as blocks:
                if self.is_long:
                    block = at(blocks.enter_context(self.b.range(LoopKind.PARALLEL, at("blocks"))).index)
                    start = times(block, BLOCK)
                    length = plus(length, times(start, -1))
                self.block(point, cells, start, length, block)
        if self.is_long:
            with self.cells(1) as (point, _):
                self.join(point)

    def block(self, point: Sequence[Index], cells: Cells, start: Index, length: Index, block: Index) -> None:
        """So many items from `start` on, of some cells."""

        def items(cell: Index) -> Callable[[Index], list[str]]:
            here, column = self.of_cell(point, cell)

            return lambda place: self.states([*here, plus(start, place)], column)

        self.threads.write(cells, length, items)
        with self.threads.each(cells) as (_, cell):
            here, totals = self.of_cell(point, cell)[0], self.threads.load(ZERO, cell)
            if self.is_long:
                for partial, total in zip(self.partials, totals, strict=True):
                    self.b.store(partial, (*here, block), total)
            else:
                self.give(here, self.outcomes(totals))

    def join(self, point: Sequence[Index]) -> None:
        """The blocks of a cell, as a binary tree of neighbours."""
        b, one = self.b, self.b.constant(Kind.I64, 1)
        with b.range(LoopKind.SERIAL, Index((), 63), [(Kind.I64, one, None)]) as level:
            (step,) = level.inside
            twice = integer(b, "shl", one, step)
            most = b.number(plus(plus(at("blocks"), at(step)), Index((), -1)))
            pairs = integer(b, "shr", b.number(plus(at(level.index), ONE)), most)
            with b.range(LoopKind.VECTOR, at(pairs)) as pair:
                left = at(integer(b, "mul", pair.index, twice))
                sides = [[b.load(partial, (*point, place)) for partial in self.partials]
                         for place in (left, plus(left, at(step)))]  # fmt: skip
                for partial, total in zip(self.partials, self.threads.joined(*sides), strict=True):
                    b.store(partial, (*point, left), total)
            level.yields, level.until = (twice,), b.compare("le", at("blocks"), at(twice))
        self.give(point, self.outcomes([b.load(partial, (*point, ZERO)) for partial in self.partials]))
