"""The orders of float sums, and of reductions from the right, as builders of loops.

phases.md, "Order of sums": blocks of `ROWS` × `LANES` items, lanes added down the rows, halved, blocks joined by a binary tree.
What is absent counts as the identity, which changes no bit.

Note [Tree].  Blocks are the leaves of a binary tree of neighbours, in which a last odd one passes through.  Its partial results
wait on a stack, one a level, and are joined as a binary counter carries: with those of all levels below the counter's lowest zero
after each block, with all that are left after the last.

Neighbours: `backend.reference.sums` and `scans` (the definitions); `threads` (cards); `lower.nests` (asks).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Final

from ...typechecker.elements import Kind
from ..kernels.ir import BLOCK, LANES
from .builder import Builder, at
from .check import may_fail
from .ir import ONE, ZERO, Apply, Fail, Index, LoopKind, Role, Statement, plus, times, walk
from .reducing import Reduction, joined

MOST_UNROLLED: Final = 8
"""Items that are added without a loop."""


def unrolled(b: Builder, sums: Sequence[Reduction], length: int, items: Callable[[Index], Sequence[str]]) -> list[str]:
    """A few items, whose number is known: lanes halved in registers."""
    rows = [list(items(Index((), place))) for place in range(length)]
    half = LANES // 2
    while half:
        for lane in range(half):
            if lane + half < len(rows):
                rows[lane] = list(joined(b, sums, rows[lane], rows[lane + half]))
        rows = rows[:half]
        half //= 2
    return rows[0]


def in_vectors(b: Builder, reductions: Sequence[Reduction], items: Callable[[Index], Sequence[str]], upper: Sequence[Index],
               lower: Index = ZERO, before: Sequence[str] = ()) -> tuple[str, ...]:  # fmt: skip
    """Reductions that are exact in any order; or of so many items, a row of lanes at most, each a lane in registers."""
    firsts = before or [b.constant(one.kind, one.of_no_item) for one in reductions]
    carried = [(one.kind, first, one.function) for one, first in zip(reductions, firsts, strict=True)]
    with b.loop(LoopKind.VECTOR, (lower,), upper, carried) as lane:
        lane.yields = joined(b, reductions, lane.inside, items(at(lane.index)))
    return lane.results


@dataclass(frozen=True, slots=True)
class Short:
    """Sums of a few items, and the statements that make them, which are not written yet."""

    statements: Sequence[Statement]
    totals: tuple[str, ...]


def in_lanes(b: Builder, sums: Sequence[Reduction], length: int, items: Callable[[Index], Sequence[str]]) -> Short | None:
    """So many items in vectors; None: a loop over single items has to find what fails."""
    with b.block() as statements:
        totals = in_vectors(b, sums, items, (Index((), length),))
    return Short(statements, totals) if cannot_fail(statements) else None


def cannot_fail(statements: Sequence[Statement]) -> bool:
    """Is there no check among statements?"""
    return not any(isinstance(s, Fail) or (isinstance(s, Apply) and may_fail(s)) for s in walk(tuple(statements)))


def of_any_length(b: Builder, sums: Sequence[Reduction], length: Index, items: Items, most: int) -> list[str]:
    """Sums of as many items as are found when they are added: few are lanes in registers."""
    nothing = [b.constant(s.kind, s.of_nothing) for s in sums]
    if most <= 0:
        return nothing

    def item(lane: Index) -> list[str]:
        is_there = b.compare("lt", lane, length)
        rows = zip(sums, items(lane, is_there), strict=True)
        return [b.apply("select", (is_there, own, b.constant(s.kind, s.of_no_item)), s.kind, s.kind) for s, own in rows]

    with b.block() as some:
        totals: list[str] = []
        with b.block() as many:
            ordered(b, sums, length, lambda _: items, lambda _, registers: totals.extend(registers), most=most)
        few = in_lanes(b, sums, FEW, item)
        if few is None:
            b.statements += many
        else:
            arms = [(s.kind, short, long) for s, short, long in zip(sums, few.totals, totals, strict=True)]
            totals = list(b.choose(b.compare("le", length, Index((), FEW)), few.statements, many, arms))
    either = [(s.kind, total, none) for s, total, none in zip(sums, totals, nothing, strict=True)]
    return list(b.choose(b.compare("lt", ZERO, length), some, (), either))


def from_the_right(b: Builder, kinds: Sequence[Kind], length: Index, first: Callable[[Index], Sequence[str]],
                   following: Callable[[Index, Sequence[str]], Sequence[str]]) -> list[str]:  # fmt: skip
    """Reductions by functions that are not associative, of at least one item: the state is the last item at first, then what
    `following` makes of each item before and the state."""

    def place(index: Index) -> Index:
        return plus(plus(length, times(index, -1)), Index((), -1))

    carried = [(kind, item, None) for kind, item in zip(kinds, first(place(ZERO)), strict=True)]
    with b.loop(LoopKind.SERIAL, (ONE,), (length,), carried) as loop:
        loop.yields = tuple(following(place(at(loop.index)), loop.inside))
    return list(loop.results)


FEW: Final = 16
"""Items that have a way of their own where their number is found when they are added."""
_LEVELS: Final = 28
"""Of a binary tree of blocks."""
_FILLED: Final = 64
"""Items of whole vectors, however many go together."""
HELD: Final = 64
"""Lanes of a cell that are in memory: the others are joined with them in registers."""
_HALF: Final = LANES // 2

MOST: Final = BLOCK << _LEVELS
"""Items of a sum."""

Items = Callable[[Index, str | None], Sequence[str]]
"""Writes what is to be added, by place, if a mask is true (else it may be anything)."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells side by side, each with sums of its own: so many, and no more than `most`."""

    count: Index
    most: int


@contextmanager
def together(b: Builder, cells: Index, most: int) -> Iterator[tuple[Index, Cells]]:
    """Cells, so many at once: where those at hand begin."""
    with b.loop(LoopKind.SERIAL, (ZERO,), (cells,), step=most) as tile:
        left = b.number(plus(cells, times(at(tile.index), -1)))
        count = b.apply("min", (left, b.constant(Kind.I64, most)), Kind.I64, Kind.I64)
        yield at(tile.index), Cells(at(count), most)


def ordered(b: Builder, sums: Sequence[Reduction], length: Index, items: Callable[[Index], Items],
            give: Callable[[Index, Sequence[str]], None], cells: Cells | None = None, most: int = MOST, *, is_some: bool = True
            ) -> None:  # fmt: skip
    """Sums of `length` items (at least one if there `is_some`, no more than `most`) of each cell.  `give(cell, totals)` takes the
    results."""
    with b.block() as there:
        if most > 0:
            block = _Across(b, sums, items, most, cells) if cells is not None else _Along(b, sums, items, most)
            if most <= BLOCK:
                block.write(ZERO, length)
            else:
                _tree(block, length)
            with block.each() as cell:
                give(cell, block.load(block.lanes, ZERO, cell))
    if is_some:
        b.statements += there
        return
    with b.block() as none, _each(b, cells) as cell:
        give(cell, [b.constant(s.kind, s.of_nothing) for s in sums])
    b.choose(b.compare("lt", ZERO, length), there, none)


@contextmanager
def _each(b: Builder, cells: Cells | None) -> Iterator[Index]:
    """Cells, if there are several."""
    if cells is None:
        yield ZERO
        return
    with b.range(LoopKind.VECTOR, cells.count) as cell:
        yield at(cell.index)


def _tree(block: _Block, length: Index) -> None:
    """See Note [Tree]."""
    b, zero, one = block.b, block.b.constant(Kind.I64, 0), block.b.constant(Kind.I64, 1)
    levels = min(_LEVELS, (-(-block.most // BLOCK)).bit_length())
    stacks = block.views("stack", levels)
    with b.loop(LoopKind.SERIAL, (ZERO,), (length,), [(Kind.I64, zero, None)], step=BLOCK) as loop:
        (count,) = loop.inside
        rest = at(b.number(plus(length, times(at(loop.index), -1))))
        block.write(at(loop.index), at(integer(b, "min", b.number(rest), b.constant(Kind.I64, BLOCK))))
        following = integer(b, "add", count, one)
        carries = integer(b, "shr", one, integer(b, "bxor", count, following))
        is_last = b.compare("le", rest, Index((), BLOCK))
        left = b.apply("select", (is_last, count, carries), Kind.I64, Kind.I64)
        with b.range(LoopKind.SERIAL, Index((), levels), [(Kind.I64, left, None), (Kind.I64, zero, None)]) as level:
            digits, height = level.inside
            digit = integer(b, "band", digits, one)
            with b.block() as joined, block.each() as cell:
                block.join(ZERO, cell, block.load(stacks, at(level.index), cell), before=True)
            b.choose(b.compare("lt", ZERO, at(digit)), joined, ())
            above = integer(b, "shr", one, digits)
            level.yields = above, integer(b, "add", height, digit)
            level.until = b.compare("eq", at(above), ZERO)
        with block.each() as cell:
            block.store(stacks, at(level.results[1]), cell, block.load(block.lanes, ZERO, cell))
        loop.yields = (following,)


class _Block:
    """A block of sums: `write` leaves them in the first of its lanes."""

    def __init__(self, b: Builder, sums: Sequence[Reduction], items: Callable[[Index], Items], most: int, held: int,
                 cells: Cells | None = None) -> None:  # fmt: skip
        self.b, self.sums, self.items, self.most, self.cells = b, sums, items, most, cells
        self.held = min(held, 1 << (most - 1).bit_length())
        self.lanes = self.views("lanes", self.held)
        self.nothing = [b.constant(s.kind, s.of_no_item) for s in sums]

    def write(self, start: Index, length: Index) -> None:
        """The sums of so many items from there on."""
        raise NotImplementedError

    def views(self, prefix: str, count: int) -> list[str]:
        shape = Index((), count), *(Index((), cells.most) for cells in (self.cells,) if cells)
        return [self.b.view(prefix, s.kind, shape, Role.SCRATCH, private=True).name for s in self.sums]

    def place(self, lane: Index, cell: Index) -> tuple[Index, ...]:
        return (lane, cell) if self.cells else (lane,)

    def each(self) -> AbstractContextManager[Index]:
        return _each(self.b, self.cells)

    def load(self, views: Sequence[str], lane: Index, cell: Index) -> list[str]:
        return [self.b.load(view, self.place(lane, cell)) for view in views]

    def store(self, views: Sequence[str], lane: Index, cell: Index, values: Sequence[str]) -> None:
        for view, value in zip(views, values, strict=True):
            self.b.store(view, self.place(lane, cell), value)

    def join(self, lane: Index, cell: Index, values: Sequence[str], *, before: bool = False) -> None:
        """Values with those of a lane, before or behind these."""
        held = self.load(self.lanes, lane, cell)
        left, right = (values, held) if before else (held, values)
        self.store(self.lanes, lane, cell, joined(self.b, self.sums, left, right))


class _Along(_Block):
    """Of one cell: vectors of lanes, which registers halve."""

    def __init__(self, b: Builder, sums: Sequence[Reduction], items: Callable[[Index], Items], most: int) -> None:
        super().__init__(b, sums, items, most, LANES)

    def write(self, start: Index, length: Index) -> None:
        """Whole rows of lanes, whole vectors of the last row, and what is filled up to vectors with what changes no bit; then the
        lanes that anything came to are halved until registers hold them."""
        b, items, filled = self.b, self.items(ZERO), min(_FILLED, self.held)
        used, left, done = Index((), self.held), length, ZERO
        if self.held == LANES:
            halves = b.number(whole_multiples(b, plus(length, Index((), _HALF - 1)), _HALF))
            used = times(at(integer(b, "min", halves, b.constant(Kind.I64, LANES // _HALF))), _HALF)
        with b.range(LoopKind.VECTOR, used) as lane:
            self.store(self.lanes, at(lane.index), ZERO, self.nothing)
        if self.held == LANES:
            rows = (plus(length, Index((), 1 - LANES)),)
            with b.loop(LoopKind.SERIAL, (ZERO,), rows, step=LANES) as row, b.range(LoopKind.VECTOR, Index((), LANES)) as lane:
                self.join(at(lane.index), ZERO, items(plus(plus(start, at(row.index)), at(lane.index)), None))
            whole = times(whole_multiples(b, length, LANES), LANES)
            start, left = plus(start, whole), plus(length, times(whole, -1))
            done = times(whole_multiples(b, left, filled), filled)
            with b.range(LoopKind.VECTOR, done) as lane:
                self.join(at(lane.index), ZERO, items(plus(start, at(lane.index)), None))
        stop = times(whole_multiples(b, plus(left, Index((), filled - 1)), filled), filled)
        with b.loop(LoopKind.VECTOR, (done,), (stop,)) as lane:
            is_there = b.compare("lt", at(lane.index), left)
            values = items(plus(start, at(lane.index)), is_there)
            filled_up = [b.apply("select", (is_there, value, nothing), s.kind, s.kind)
                         for s, value, nothing in zip(self.sums, values, self.nothing, strict=True)]  # fmt: skip
            self.join(at(lane.index), ZERO, filled_up)
        if self.held == LANES:
            with b.range(LoopKind.VECTOR, plus(used, Index((), -_HALF))) as lane:
                self.join(at(lane.index), ZERO, self.load(self.lanes, plus(at(lane.index), Index((), _HALF)), ZERO))
        total = in_vectors(b, self.sums, lambda lane: self.load(self.lanes, lane, ZERO), (Index((), min(self.held, _HALF)),))
        self.store(self.lanes, ZERO, ZERO, total)


class _Across(_Block):
    """Of cells side by side: vectors of cells, whose lanes go down the rows in registers."""

    def __init__(self, b: Builder, sums: Sequence[Reduction], items: Callable[[Index], Items], most: int, cells: Cells) -> None:
        super().__init__(b, sums, items, most, HELD, cells)

    def write(self, start: Index, length: Index) -> None:
        """Halving joins lane i with lane i + 128, then with lane i + 64: that is done before they are stored."""
        b = self.b
        for half in (0, HELD) if self.most > HELD else (0,):
            held = plus(length, Index((), -half)), Index((), self.held)
            with b.loop(LoopKind.SERIAL, (ZERO,), held) as lane, self.each() as cell:
                items = self.items(cell)
                total = self.down(start, plus(at(lane.index), Index((), half)), length, items)
                if self.most > half + 2 * HELD:
                    other = plus(at(lane.index), Index((), half + 2 * HELD))
                    total = joined(self.b, self.sums, total, self.down(start, other, length, items))
                if half:
                    self.join(at(lane.index), cell, total)
                else:
                    self.store(self.lanes, at(lane.index), cell, total)
        widest = self.held // 2
        if not widest:
            return
        with b.range(LoopKind.SERIAL, Index((), widest.bit_length())) as level:
            half_of = at(integer(b, "shr", level.index, b.constant(Kind.I64, widest)))
            with b.loop(LoopKind.SERIAL, (ZERO,), (half_of, plus(length, times(half_of, -1)))) as lane, self.each() as cell:
                self.join(at(lane.index), cell, self.load(self.lanes, plus(at(lane.index), half_of), cell))

    def down(self, start: Index, lane: Index, length: Index, items: Items) -> tuple[str, ...]:
        """One lane, down the rows of the block."""
        entry = [(s.kind, first, None) for s, first in zip(self.sums, self.nothing, strict=True)]
        with self.b.loop(LoopKind.SERIAL, (lane,), (length,), entry, step=LANES) as row:
            row.yields = joined(self.b, self.sums, row.inside, items(plus(start, at(row.index)), None))
        return row.results


def integer(b: Builder, function: str, left: str, right: str) -> str:
    """A function of two integers."""
    return b.apply(function, (left, right), Kind.I64, Kind.I64)


def whole_multiples(b: Builder, number: Index, divisor: int) -> Index:
    """How often a power of two goes into a number."""
    return at(integer(b, "shr", b.constant(Kind.I64, divisor.bit_length() - 1), b.number(number)))
