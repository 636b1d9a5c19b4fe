"""Reductions: their states, the neutral state, the join of two states, and the order in which states are joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from math import nan
from typing import Final

from ...lang.support.records import dataclass
from ...typechecker.elements import Kind
from ...typechecker.scalars import identity_of, is_ordered, neutral
from ..graph.phases import ARGUMENT_REDUCTIONS
from ..lower.body import bits_of
from ..lower.kernel_ir import BLOCK, LANES
from .ir import (
    ONE,
    ZERO,
    Apply,
    Fail,
    Index,
    LoopBuilder,
    LoopKind,
    Statement,
    ViewRole,
    at,
    integer,
    plus,
    times,
    walk,
    whole_multiples,
)
from .verifier import may_fail

# ------------------------------------------------------------------------------------------------------ states

SHARED: Final = 40 << 10
"""Bytes of a block's own memory that are used, of the 48 KiB that it may have on any card."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduction with a function of items of a kind.

    The state is the accumulated value; for an argument reduction it is the best item and its index, where the first of equal
    items is best, and a number is better than a NaN.  `in_order`: are partial results combined in index order?"""

    function: str
    kind: Kind
    in_order: bool = True

    @property
    def is_ordered(self) -> bool:
        """Does it follow the order of sums?"""
        return is_ordered(self.function, self.kind)

    @property
    def is_argument_reduction(self) -> bool:
        return self.function in ARGUMENT_REDUCTIONS

    @property
    def counted(self) -> Kind:
        """What places are counted in: in order as wide as the items, so that both fill as many registers."""
        return Kind.I32 if self.in_order and self.kind.bytes < 8 else Kind.I64

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return (self.kind, self.counted) if self.is_argument_reduction else (self.kind,)

    @property
    def empty_value(self) -> int:
        """The bits of what no item comes to."""
        identity = identity_of(self.function, self.kind)
        return self.neutral_bits if identity is None else bits_of(self.kind, identity)

    @property
    def neutral_bits(self) -> int:
        """The bits of an item that changes nothing."""
        if self.is_argument_reduction:
            least = self.function == "argmin"
            return bits_of(self.kind, nan if self.kind.is_float else neutral("min" if least else "max", self.kind))
        return bits_of(self.kind, neutral(self.function, self.kind))

    def entry(self, b: LoopBuilder) -> list[tuple[Kind, str, None]]:
        """What a loop carries at first."""
        bits = self.neutral_bits, 0 if self.in_order else (1 << 63) - 1
        return [(kind, b.constant(kind, pattern), None) for kind, pattern in zip(self.kinds, bits, strict=False)]

    def of_item(self, b: LoopBuilder, item: str, position: str) -> list[str]:
        """The state of an item."""
        if not self.is_argument_reduction:
            return [item]
        return [item, position if self.counted is Kind.I64 else b.apply("convert", (position,), Kind.I64, self.counted)]

    def joined(self, b: LoopBuilder, left: Sequence[str], right: Sequence[str]) -> list[str]:
        if not self.is_argument_reduction:
            return [b.apply(self.function, (left[0], right[0]), self.kind, self.kind)]
        (best, position), (item, there) = left, right
        wins = self.is_better(b, item, best)
        if not self.in_order:
            is_worse, is_first = self.is_better(b, best, item), b.compare("lt", at(there), at(position))
            equals = b.apply("and", (_not(b, is_worse), is_first), Kind.BOOL, Kind.BOOL)
            wins = b.apply("or", (wins, equals), Kind.BOOL, Kind.BOOL)
        pairs = zip(self.kinds, right, left, strict=True)
        return [b.apply("select", (wins, new, old), kind, kind) for kind, new, old in pairs]

    def is_better(self, b: LoopBuilder, item: str, best: str) -> str:
        least = self.function == "argmin"
        if not self.kind.is_float:
            return b.apply("lt" if least else "gt", (item, best), self.kind, Kind.BOOL)
        loses = b.apply("ge" if least else "le", (item, best), self.kind, Kind.BOOL)  # the other may be NaN
        is_number = b.apply("eq", (item, item), self.kind, Kind.BOOL)
        return b.apply("and", (_not(b, loses), is_number), Kind.BOOL, Kind.BOOL)

    def result(self, b: LoopBuilder, state: Sequence[str]) -> str:
        last = state[-1]
        if not self.is_argument_reduction or self.counted is Kind.I64:
            return last
        return b.apply("convert", (last,), self.counted, Kind.I64)


def states(reductions: Sequence[Reduction], registers: Sequence[str]) -> Iterator[tuple[Reduction, Sequence[str]]]:
    """Each with its part of the registers of all."""
    first = 0
    for one in reductions:
        last = first + len(one.kinds)
        yield one, registers[first:last]
        first = last


def joined(b: LoopBuilder, reductions: Sequence[Reduction], left: Sequence[str], right: Sequence[str]) -> tuple[str, ...]:
    """The states of several, one after the other."""
    pairs = zip(states(reductions, left), states(reductions, right), strict=True)
    return tuple([register for (one, before), (_, after) in pairs for register in one.joined(b, before, after)])


def _not(b: LoopBuilder, truth: str) -> str:
    return b.apply("not", (truth,), Kind.BOOL, Kind.BOOL)


# ------------------------------------------------------------------------------------------- summation order
#
# The orders of float sums, and of reductions from the right, as builders of loops.
#
# phases.md, "Order of sums": blocks of `ROWS` × `LANES` items, lanes added down the rows, halved, blocks joined by a binary tree.
# What is absent counts as the identity, which changes no bit.
#
# Note [Tree].  Blocks are the leaves of a binary tree of neighbours, in which a last odd one passes through.  Its partial results
# wait on a stack, one a level, and are joined as a binary counter carries: with those of all levels below the counter's lowest
# zero after each block, with all that are left after the last.

MOST_UNROLLED: Final = 8
"""Items that are added without a loop."""


def unrolled(b: LoopBuilder, sums: Sequence[Reduction], length: int, items: Callable[[Index], Sequence[str]]) -> list[str]:
    """A few items, whose number is known: lanes halved in registers."""
    rows = [list(items(Index((), position))) for position in range(length)]
    half = LANES // 2
    while half:
        for lane in range(half):
            if lane + half < len(rows):
                rows[lane] = list(joined(b, sums, rows[lane], rows[lane + half]))
        rows = rows[:half]
        half //= 2
    return rows[0]


def in_vectors(b: LoopBuilder, reductions: Sequence[Reduction], items: Callable[[Index], Sequence[str]], upper: Sequence[Index],
               lower: Index = ZERO, before: Sequence[str] = ()) -> tuple[str, ...]:  # fmt: skip
    """Reductions that are exact in any order; or of so many items, a row of lanes at most, each a lane in registers."""
    firsts = before or [b.constant(one.kind, one.neutral_bits) for one in reductions]
    carried = [(one.kind, first, one.function) for one, first in zip(reductions, firsts, strict=True)]
    with b.loop(LoopKind.VECTOR, (lower,), upper, carried) as lane:
        lane.yields = joined(b, reductions, lane.inside, items(at(lane.index)))
    return lane.results


@dataclass(frozen=True, slots=True)
class Short:
    """Sums of a few items, and the statements that make them, which are not written yet."""

    statements: Sequence[Statement]
    totals: tuple[str, ...]


def in_lanes(b: LoopBuilder, sums: Sequence[Reduction], length: int, items: Callable[[Index], Sequence[str]]) -> Short | None:
    """So many items in vectors; None: a loop over single items has to find what fails."""
    with b.block() as statements:
        totals = in_vectors(b, sums, items, (Index((), length),))
    return Short(statements, totals) if cannot_fail(statements) else None


def cannot_fail(statements: Sequence[Statement]) -> bool:
    """Is there no check among statements?"""
    return not any(isinstance(s, Fail) or (isinstance(s, Apply) and may_fail(s)) for s in walk(tuple(statements)))


def of_any_length(b: LoopBuilder, sums: Sequence[Reduction], length: Index, items: Items, most: int) -> list[str]:
    """Sums of as many items as are found when they are added: few are lanes in registers."""
    nothing = [b.constant(s.kind, s.empty_value) for s in sums]
    if most <= 0:
        return nothing

    def item(lane: Index) -> list[str]:
        is_there = b.compare("lt", lane, length)
        rows = zip(sums, items(lane, is_there), strict=True)
        return [b.apply("select", (is_there, item, b.constant(s.kind, s.neutral_bits)), s.kind, s.kind) for s, item in rows]

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


def from_the_right(b: LoopBuilder, kinds: Sequence[Kind], length: Index, first: Callable[[Index], Sequence[str]],
                   following: Callable[[Index, Sequence[str]], Sequence[str]]) -> list[str]:  # fmt: skip
    """Reductions by functions that are not associative, of at least one item: the state is the last item at first, then what
    `following` makes of each item before and the state."""

    def mirrored(index: Index) -> Index:
        return plus(plus(length, times(index, -1)), Index((), -1))

    carried = [(kind, item, None) for kind, item in zip(kinds, first(mirrored(ZERO)), strict=True)]
    with b.loop(LoopKind.SERIAL, (ONE,), (length,), carried) as loop:
        loop.yields = tuple(following(mirrored(at(loop.index)), loop.inside))
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
class AccumulatorCells:
    """Cells side by side, each with sums of its own: so many, and no more than `most`."""

    count: Index
    most: int


@contextmanager
def together(b: LoopBuilder, cells: Index, most: int) -> Iterator[tuple[Index, AccumulatorCells]]:
    """Cells, so many at once: where those at hand begin."""
    with b.loop(LoopKind.SERIAL, (ZERO,), (cells,), step=most) as tile:
        left = b.number(plus(cells, times(at(tile.index), -1)))
        count = b.apply("min", (left, b.constant(Kind.I64, most)), Kind.I64, Kind.I64)
        yield at(tile.index), AccumulatorCells(at(count), most)


def ordered(b: LoopBuilder, sums: Sequence[Reduction], length: Index, items: Callable[[Index], Items],
            give: Callable[[Index, Sequence[str]], None], cells: AccumulatorCells | None = None, most: int = MOST, *,
            is_some: bool = True
            ) -> None:  # fmt: skip
    """Sums of `length` items (at least one if there `is_some`, no more than `most`) of each cell.  `give(cell, totals)` takes the
    results."""
    with b.block() as there:
        if most > 0:
            block = _Across(b, sums, items, most, cells) if cells is not None else _ReducedAxis(b, sums, items, most)
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
        give(cell, [b.constant(s.kind, s.empty_value) for s in sums])
    b.choose(b.compare("lt", ZERO, length), there, none)


@contextmanager
def _each(b: LoopBuilder, cells: AccumulatorCells | None) -> Iterator[Index]:
    """Cells, if there are several."""
    if cells is None:
        yield ZERO
        return
    with b.range(LoopKind.VECTOR, cells.count) as cell:
        yield at(cell.index)


def _tree(block: _SumBlock, length: Index) -> None:
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


class _SumBlock:
    """A block of sums: `write` leaves them in the first of its lanes."""

    def __init__(self, b: LoopBuilder, sums: Sequence[Reduction], items: Callable[[Index], Items], most: int, held: int,
                 cells: AccumulatorCells | None = None) -> None:  # fmt: skip
        self.b, self.sums, self.items, self.most, self.cells = b, sums, items, most, cells
        self.held = min(held, 1 << (most - 1).bit_length())
        self.lanes = self.views("lanes", self.held)
        self.nothing = [b.constant(s.kind, s.neutral_bits) for s in sums]

    def write(self, start: Index, length: Index) -> None:
        """The sums of so many items from there on."""
        raise NotImplementedError

    def views(self, prefix: str, count: int) -> list[str]:
        shape = Index((), count), *(Index((), cells.most) for cells in (self.cells,) if cells)
        return [self.b.view(prefix, s.kind, shape, ViewRole.SCRATCH, private=True).name for s in self.sums]

    def state_indices(self, lane: Index, cell: Index) -> tuple[Index, ...]:
        return (lane, cell) if self.cells else (lane,)

    def each(self) -> AbstractContextManager[Index]:
        return _each(self.b, self.cells)

    def load(self, views: Sequence[str], lane: Index, cell: Index) -> list[str]:
        return [self.b.load(view, self.state_indices(lane, cell)) for view in views]

    def store(self, views: Sequence[str], lane: Index, cell: Index, values: Sequence[str]) -> None:
        for view, value in zip(views, values, strict=True):
            self.b.store(view, self.state_indices(lane, cell), value)

    def join(self, lane: Index, cell: Index, values: Sequence[str], *, before: bool = False) -> None:
        """Values with those of a lane, before or behind these."""
        held = self.load(self.lanes, lane, cell)
        left, right = (values, held) if before else (held, values)
        self.store(self.lanes, lane, cell, joined(self.b, self.sums, left, right))


class _ReducedAxis(_SumBlock):
    """Of one cell: vectors of lanes, which registers halve."""

    def __init__(self, b: LoopBuilder, sums: Sequence[Reduction], items: Callable[[Index], Items], most: int) -> None:
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
            full_lanes = times(whole_multiples(b, length, LANES), LANES)
            start, left = plus(start, full_lanes), plus(length, times(full_lanes, -1))
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


class _Across(_SumBlock):
    """Of cells side by side: vectors of cells, whose lanes go down the rows in registers."""

    def __init__(self, b: LoopBuilder, sums: Sequence[Reduction], items: Callable[[Index], Items], most: int,
        cells: AccumulatorCells) -> None:
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


# ------------------------------------------------------------------------------------------- block reductions
#
# The order of sums by the threads of a card: a lane of the order is a thread.
#
# What is reduced may be more than sums: a search for a place carries the best item beside it.

class Threads:
    """Blocks of sums by the threads of a block: each has a lane of a cell, and these are halved in the block's memory.

    `lanes` are held there; the others are joined with these by their thread, as halving does.  Neighbouring threads have
    neighbouring lanes, or (`across`) neighbouring cells, of which there are `cells` at most.  `most`: no cell has more items; of
    longer ones, blocks are done.  `other_states`: how many more values are carried in the block's memory."""

    def __init__(self, b: LoopBuilder, states: Sequence[Reduction], most: int, *, across: bool = False, are_cells: bool,
                 other_states: int = 0) -> None:  # fmt: skip
        self.b, self.states, self.most, self.across = b, states, min(most, BLOCK), across
        self.kinds = [kind for state in states for kind in state.kinds]
        self.lanes = min(HELD if across else LANES, 1 << (most - 1).bit_length())
        self.cells = (8 if across else 1) * LANES // self.lanes if are_cells else 1
        while 8 * (len(self.kinds) + other_states) * self.lanes * self.cells > SHARED:
            if self.cells > 1:
                self.cells //= 2
            else:
                self.lanes //= 2
        shape = Index((), self.lanes), Index((), self.cells)
        self.rooms = [b.view("lanes", kind, shape, ViewRole.SCRATCH, private=True).name for kind in self.kinds]
        self.nothing = [part for state in states for part in state.entry(b)]

    def write(self, cells: AccumulatorCells, length: Index, items: Callable[[Index], Callable[[Index], Sequence[str]]]) -> None:
        """A block of `length` items (of what is longer, the first) of each cell, into its first lane."""
        with self.each(cells, self.lanes) as (lane, cell):
            self.store(lane, cell, self.lane(lane, 0, self.lanes, length, items(cell)))
        half = self.lanes // 2
        while half:
            with self.each(cells, half) as (lane, cell):
                self.store(lane, cell, self.joined(self.load(lane, cell), self.load(plus(lane, Index((), half)), cell)))
            half //= 2

    @contextmanager
    def each(self, cells: AccumulatorCells, lanes: int = 1) -> Iterator[tuple[Index, Index]]:
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
