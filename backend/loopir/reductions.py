"""Reductions: their states, the neutral state, the combination of two states, and the order in which states are combined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from math import nan
from typing import Final

from ...lang.support.records import dataclass, replace
from ...typechecker.elements import Kind, identity_of, is_ordered, neutral_element
from ..graph.phases import ARGUMENT_REDUCTIONS, bits_of
from ..lower.loop_order import BLOCK, LANES
from ..scalar.function_table import LONG, weight_of
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
    quotient,
    times,
    walk,
)
from .verifier import may_fail

# ------------------------------------------------------------------------------------------------------ states

SHARED_BYTES: Final = 40 << 10
"""The most bytes of shared memory that a reduction uses, of the 48 KiB that every GPU has."""


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
        """Does the reduction follow the order of sums?"""
        return is_ordered(self.function, self.kind)

    @property
    def is_argument_reduction(self) -> bool:
        return self.function in ARGUMENT_REDUCTIONS

    @property
    def extreme(self) -> Reduction:
        """The reduction of the same items without their index."""
        return replace(self, function=self.function.removeprefix("arg"))

    @property
    def index_kind(self) -> Kind:
        """The kind of indices.  Reductions in index order use one as wide as the items, so that both fill as many registers."""
        return Kind.I32 if self.in_order and self.kind.bytes < 8 else Kind.I64

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return (self.kind, self.index_kind) if self.is_argument_reduction else (self.kind,)

    @property
    def empty_value(self) -> int:
        """The bits of the result for no items."""
        identity = identity_of(self.function, self.kind)
        return self.neutral_bits if identity is None else bits_of(self.kind, identity)

    @property
    def neutral_bits(self) -> int:
        """The bits of the neutral item, which changes no result."""
        if self.is_argument_reduction:
            least = self.function == "argmin"
            return bits_of(self.kind, nan if self.kind.is_float else neutral_element("min" if least else "max", self.kind))
        return bits_of(self.kind, neutral_element(self.function, self.kind))

    def entry(self, b: LoopBuilder) -> list[tuple[Kind, str, None]]:
        """The initial values that a loop carries: the neutral state."""
        bits = self.neutral_bits, 0 if self.in_order else (1 << 63) - 1
        return [(kind, b.constant(kind, pattern), None) for kind, pattern in zip(self.kinds, bits, strict=False)]

    def of_item(self, b: LoopBuilder, item: str, position: str) -> list[str]:
        """The state of a single item."""
        if not self.is_argument_reduction:
            return [item]
        return [item, position if self.index_kind is Kind.I64 else b.apply("convert", (position,), Kind.I64, self.index_kind)]

    def number(self, b: LoopBuilder, item: str) -> str:
        """The item; replaced by the neutral item if it loses to any number."""
        if not (self.is_argument_reduction and self.kind.is_float):
            return item
        is_number, worst = b.apply("eq", (item, item), self.kind, Kind.BOOL), b.constant(self.kind, self.extreme.neutral_bits)
        return b.apply("select", (is_number, item, worst), self.kind, self.kind)

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
        loses = b.apply("ge" if least else "le", (item, best), self.kind, Kind.BOOL)  # false if `best` is NaN
        is_number = b.apply("eq", (item, item), self.kind, Kind.BOOL)
        return b.apply("and", (_not(b, loses), is_number), Kind.BOOL, Kind.BOOL)

    def result(self, b: LoopBuilder, state: Sequence[str]) -> str:
        last = state[-1]
        if not self.is_argument_reduction or self.index_kind is Kind.I64:
            return last
        return b.apply("convert", (last,), self.index_kind, Kind.I64)


def states(reductions: Sequence[Reduction], registers: Sequence[str]) -> Iterator[tuple[Reduction, Sequence[str]]]:
    """The registers of each reduction, among those of all reductions."""
    first = 0
    for one in reductions:
        last = first + len(one.kinds)
        yield one, registers[first:last]
        first = last


def joined(b: LoopBuilder, reductions: Sequence[Reduction], left: Sequence[str], right: Sequence[str]) -> tuple[str, ...]:
    """The combined states of several reductions, in order."""
    pairs = zip(states(reductions, left), states(reductions, right), strict=True)
    return tuple([register for (one, before), (_, after) in pairs for register in one.joined(b, before, after)])


def _not(b: LoopBuilder, truth: str) -> str:
    return b.apply("not", (truth,), Kind.BOOL, Kind.BOOL)


# ------------------------------------------------------------------------------------------- summation order
#
# The order of float sums, and right folds, as builders of loops.
#
# phases.md, "Order of sums": blocks of `ROWS` × `LANES` items, lanes added down the rows, then halved, blocks combined by a
# binary tree.  An absent item counts as the identity, which changes no bit.
#
# Note [Tree].  Blocks are the leaves of a binary tree of neighbours, in which an odd last one moves up unchanged.  Partial
# results are on a stack, one per level, and are combined as a binary counter carries: after each block with those of all levels
# below the counter's lowest zero, and after the last block with all that remain.

MOST_UNROLLED: Final = 8
"""The most items that are added without a loop."""


def unrolled(b: LoopBuilder, sums: Sequence[Reduction], length: int, items: Callable[[Index], Sequence[str]]) -> list[str]:
    """The sums of a small constant number of items: lanes are halved in registers, without a loop."""
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
    """Reductions as a VECTOR loop: those that are exact in any order, or those of a constant number of at most `LANES` items."""
    firsts = before or [b.constant(one.kind, one.neutral_bits) for one in reductions]
    carried = [(one.kind, first, one.function) for one, first in zip(reductions, firsts, strict=True)]
    with b.loop(LoopKind.VECTOR, (lower,), upper, carried) as lane:
        lane.yields = joined(b, reductions, lane.inside, items(at(lane.index)))
    return lane.results


@dataclass(frozen=True, slots=True)
class ShortSum:
    """Sums of a few items, and the statements that compute them, which no block contains yet."""

    statements: Sequence[Statement]
    totals: tuple[str, ...]


def short_sum(b: LoopBuilder, sums: Sequence[Reduction], length: int, items: Callable[[Index], Sequence[str]]) -> ShortSum | None:
    """The sums of `length` items as a VECTOR loop; None if an item may fail, which needs a loop that finds the first failure."""
    with b.block() as statements:
        totals = in_vectors(b, sums, items, (Index((), length),))
    return ShortSum(statements, totals) if cannot_fail(statements) else None


def cannot_fail(statements: Sequence[Statement]) -> bool:
    """Do the statements contain no checks?"""
    return not any(isinstance(s, Fail) or (isinstance(s, Apply) and may_fail(s)) for s in walk(tuple(statements)))


def is_long(statements: Sequence[Statement]) -> bool:
    """Do the statements apply a function that takes so long that code for several forms of a loop does not pay?"""
    return any(isinstance(s, Apply) and weight_of(s.function) >= LONG for s in walk(tuple(statements)))


def padded(b: LoopBuilder, sums: Sequence[Reduction], start: Index, length: Index, items: Items
           ) -> Callable[[Index], Sequence[str]]:  # fmt: skip
    """The items from `start` on, followed by neutral ones."""

    def item(lane: Index) -> list[str]:
        is_there = b.compare("lt", lane, length)
        rows = zip(sums, items(plus(start, lane), is_there), strict=True)
        return [b.apply("select", (is_there, item, b.constant(s.kind, s.neutral_bits)), s.kind, s.kind) for s, item in rows]

    return item


def sum_of_any_length(b: LoopBuilder, sums: Sequence[Reduction], length: Index, items: Items, most: int) -> list[str]:
    """Sums of a run-time number of items; if there are few, they are lanes in registers."""
    nothing = [b.constant(s.kind, s.empty_value) for s in sums]
    if most <= 0:
        return nothing

    with b.block() as some:
        totals: list[str] = []
        with b.block() as many:
            ordered_sums(b, sums, length, lambda _: items, lambda _, registers: totals.extend(registers), most=most)
        few = short_sum(b, sums, SHORT_SUM, padded(b, sums, ZERO, length, items))
        if few is None:
            b.statements += many
        else:
            arms = [(s.kind, short, long) for s, short, long in zip(sums, few.totals, totals, strict=True)]
            totals = list(b.choose(b.compare("le", length, Index((), SHORT_SUM)), few.statements, many, arms))
    either = [(s.kind, total, none) for s, total, none in zip(sums, totals, nothing, strict=True)]
    return list(b.choose(b.compare("lt", ZERO, length), some, (), either))


def right_fold(b: LoopBuilder, kinds: Sequence[Kind], length: Index, first: Callable[[Index], Sequence[str]],
                   following: Callable[[Index, Sequence[str]], Sequence[str]]) -> list[str]:  # fmt: skip
    """Right folds of at least one item: the initial state is the last item, and `following(index, state)` returns the next state,
    for each earlier item in descending order of index."""

    def mirrored(index: Index) -> Index:
        return plus(plus(length, times(index, -1)), Index((), -1))

    carried = [(kind, item, None) for kind, item in zip(kinds, first(mirrored(ZERO)), strict=True)]
    with b.loop(LoopKind.SERIAL, (ONE,), (length,), carried) as loop:
        loop.yields = tuple(following(mirrored(at(loop.index)), loop.inside))
    return list(loop.results)


SHORT_SUM: Final = 16
"""The most items for which sums of a run-time number of items use lanes in registers."""
_LEVELS: Final = 28
"""Levels of the binary tree of blocks."""
LANES_IN_MEMORY: Final = 64
"""Lanes of a cell that are stored in memory; the other lanes are combined with them in registers."""
_LANE_BITS: Final = LANES.bit_length() - 1
_FEW_ROWS: Final = 2 * LANES
"""The most rows for which several lanes of columns are added at once."""
_TOGETHER: Final = 2
"""The bits of the numbers of such lanes."""
_FEW_BYTES: Final = 160
"""The most bytes of cells for which `_NEIGHBOURS` neighbouring lanes of columns are added at once."""
_NEIGHBOURS: Final = 4
_LINE: Final = 64
"""Bytes of a cache line, and of the widest vector."""
_BYTES_IN_MEMORY: Final = 64 << 10
"""The most bytes of the results of lanes that follow each other."""
_BITS_IN_MEMORY: Final = 3
"""The most bits of the numbers of such lanes."""

MAX_SUM: Final = BLOCK << _LEVELS
"""The most items of a sum."""

Items = Callable[[Index, str | None], Sequence[str]]
"""Computes the items at an index; where the mask is false they are arbitrary."""


@dataclass(frozen=True, slots=True)
class AccumulatorCells:
    """Adjacent cells with separate sums: `count` of them, at most `most`."""

    count: Index
    most: int


@contextmanager
def cell_tiles(b: LoopBuilder, cells: Index, most: int) -> Iterator[tuple[Index, AccumulatorCells]]:
    """A loop over tiles of at most `most` cells: yields the first cell of the tile and its cells."""
    with b.loop(LoopKind.SERIAL, (ZERO,), (cells,), step=most) as tile:
        left = b.number(plus(cells, times(at(tile.index), -1)))
        count = b.apply("min", (left, b.constant(Kind.I64, most)), Kind.I64, Kind.I64)
        yield at(tile.index), AccumulatorCells(at(count), most)


def ordered_sums(b: LoopBuilder, sums: Sequence[Reduction], length: Index, items: Callable[[Index], Items],
            emit: Callable[[Index, Sequence[str]], None], cells: AccumulatorCells | None = None, most: int = MAX_SUM, *,
            is_nonempty: bool = True
            ) -> None:  # fmt: skip
    """Sums of `length` items of each cell in the order of sums, passed to `emit(cell, totals)`.

    `items(cell)(index, mask)` computes an item.  `most`: an upper bound of the length.  `is_nonempty`: the length is at least
    1."""
    with b.block() as there:
        if most > 0:
            block = _ReducedCells(b, sums, items, most, cells) if cells is not None else _ReducedRow(b, sums, items, most)
            if most <= BLOCK:
                block.write(ZERO, length)
            else:
                _tree(block, length)
            with block.each() as cell:
                emit(cell, block.load(block.lanes, ZERO, cell))
    if is_nonempty:
        b.statements += there
        return
    with b.block() as none, _each(b, cells) as cell:
        emit(cell, [b.constant(s.kind, s.empty_value) for s in sums])
    b.choose(b.compare("lt", ZERO, length), there, none)


@contextmanager
def _each(b: LoopBuilder, cells: AccumulatorCells | None) -> Iterator[Index]:
    """A loop over the cells, if there are several; else cell 0."""
    if cells is None:
        yield ZERO
        return
    with b.range(LoopKind.VECTOR, cells.count) as cell:
        yield at(cell.index)


def _tree(block: _SumBlock, length: Index) -> None:
    """The partial results of blocks on a stack, as a binary counter.  See Note [Tree]."""
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
    """The sums of one block of items; `write` leaves them in the first lane."""

    def __init__(self, b: LoopBuilder, sums: Sequence[Reduction], items: Callable[[Index], Items], most: int,
                 cells: AccumulatorCells | None = None, rows: int = 0) -> None:  # fmt: skip
        self.b, self.sums, self.items, self.most, self.cells = b, sums, items, most, cells
        self.lanes_in_memory = min(LANES, 1 << (most - 1).bit_length())
        self.lanes = self.views("lanes", rows or self.lanes_in_memory)
        self.neutral = [b.constant(s.kind, s.neutral_bits) for s in sums]

    def write(self, start: Index, length: Index) -> None:
        """Writes the sums of `length` items from `start` on."""
        raise NotImplementedError

    def views(self, prefix: str, count: int) -> list[str]:
        """Scratch for so many lanes; a cache line lies between those of many cells, so that they are in different sets."""
        most = [self.cells.most] if self.cells else []

        def view(kind: Kind) -> str:
            shape = Index((), count), *(Index((), cells + _LINE // kind.bytes) for cells in most)
            return self.b.view(prefix, kind, shape, ViewRole.SCRATCH, private=True).name

        return [view(s.kind) for s in self.sums]

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
        """Combines values with a lane, as its left operand if `before`, else as its right one."""
        held = self.load(self.lanes, lane, cell)
        left, right = (values, held) if before else (held, values)
        self.store(self.lanes, lane, cell, joined(self.b, self.sums, left, right))


class _ReducedRow(_SumBlock):
    """The sums of one cell: vectors of lanes, halved in registers."""

    def __init__(self, b: LoopBuilder, sums: Sequence[Reduction], items: Callable[[Index], Items], most: int) -> None:
        super().__init__(b, sums, items, most)
        self.vector = min(_LINE // min(s.kind.bytes for s in self.sums), self.lanes_in_memory)

    def write(self, start: Index, length: Index) -> None:
        """Stores lanes, of which the halves of few items are joined first where several sums are computed at once: a single sum
        waits for memory, and takes half as long to compile."""
        b, lanes = self.b, self.lanes_in_memory
        if lanes < LANES:
            few = short_sum(b, self.sums, lanes, padded(b, self.sums, start, length, self.items(ZERO)))
            if few is not None:
                b.statements += few.statements
                self.store(self.lanes, ZERO, ZERO, few.totals)
                return
        with b.block() as many_rows:
            self.write_rows(start, length)
            self.halve(lanes)
        if lanes < LANES or len(self.sums) == 1 or is_long(many_rows):
            b.statements += many_rows
            return
        with b.block() as few_rows:
            self.write_halves(start, length)
            self.halve(LANES // 2)
        are_lanes, are_few = b.compare("le", Index((), LANES), length), b.compare("le", length, Index((), _FEW_ROWS))
        b.choose(b.apply("and", (are_lanes, are_few), Kind.BOOL, Kind.BOOL), few_rows, many_rows)

    def halve(self, lanes: int) -> None:
        """Halves the lanes that are stored, in registers."""
        b = self.b
        for one, view in zip(self.sums, self.lanes, strict=True):

            def lane_of(lane: Index, view: str = view) -> list[str]:
                return [b.load(view, (lane,))]

            (total,) = in_vectors(b, [one], lane_of, (Index((), lanes),))
            b.store(view, (ZERO,), total)

    def write_halves(self, start: Index, length: Index) -> None:
        """Stores the sums of each lane and the one half of the lanes further on, of at least `LANES` items and at most twice as
        many: lanes of two items first, the last of them in a vector padded with neutral items."""
        b, items, half, vector = self.b, self.items(ZERO), LANES // 2, self.vector
        more = plus(length, Index((), -LANES))
        full, above = quotient(b, more, vector), quotient(b, plus(more, Index((), vector - 1)), vector)
        vectors = b.constant(Kind.I64, half // vector)
        front = at(integer(b, "min", b.number(above), vectors))
        both = plus(above, times(front, -1))
        second = padded(b, self.sums, start, length, items)

        def first(item: Index) -> Sequence[str]:
            return items(plus(start, item), None)

        @contextmanager
        def lanes(lower: Index, upper: Index) -> Iterator[Index]:
            with b.loop(LoopKind.VECTOR, (times(lower, vector),), (times(upper, vector),)) as lane:
                yield at(lane.index)

        for lower, upper, item in ((ZERO, full, first), (full, above, second)):
            with lanes(lower, upper) as lane:
                pair = first(lane), item(plus(lane, Index((), LANES)))
                self.store(self.lanes, lane, ZERO, joined(b, self.sums, *pair))
        with lanes(ZERO, both) as lane:
            self.join(lane, ZERO, self.load(self.lanes, plus(lane, Index((), half)), ZERO))
        with lanes(both, front) as lane:
            self.join(lane, ZERO, first(plus(lane, Index((), half))))
        with lanes(front, Index((), half // vector)) as lane:
            self.store(self.lanes, lane, ZERO, joined(b, self.sums, first(lane), first(plus(lane, Index((), half)))))

    def write_rows(self, start: Index, length: Index) -> None:
        """Stores the first row of lanes, adds the full vectors of further rows in the order of memory, then the remaining items,
        padded with neutral items to a full vector."""
        b, items, vector, done, origin = self.b, self.items(ZERO), self.vector, ZERO, ZERO
        with b.block() as neutral, b.range(LoopKind.VECTOR, Index((), self.lanes_in_memory)) as lane:
            self.store(self.lanes, at(lane.index), ZERO, self.neutral)
        if self.lanes_in_memory < LANES:
            b.statements += neutral
        else:
            done = times(quotient(b, length, vector), vector)
            self.write_vectors(start, length, done, neutral)
            origin = times(quotient(b, done, LANES), LANES)
        start, left = plus(start, origin), plus(length, times(origin, -1))
        stop = times(quotient(b, plus(left, Index((), vector - 1)), vector), vector)
        with b.loop(LoopKind.VECTOR, (plus(done, times(origin, -1)),), (stop,)) as lane:
            self.join(at(lane.index), ZERO, padded(b, self.sums, start, left, items)(at(lane.index)))

    def write_vectors(self, start: Index, length: Index, done: Index, neutral: Sequence[Statement]) -> None:
        """The lanes of the first `done` items, a multiple of `vector`; `neutral` stores neutral items in all lanes."""
        b, items, vector = self.b, self.items(ZERO), self.vector
        is_full = b.compare("le", Index((), LANES), length)
        with b.block() as first, b.range(LoopKind.VECTOR, Index((), LANES)) as lane:
            self.store(self.lanes, at(lane.index), ZERO, items(plus(start, at(lane.index)), None))
        b.choose(is_full, first, neutral)
        lanes, zero = b.constant(Kind.I64, LANES), b.constant(Kind.I64, 0)
        following = at(b.apply("select", (is_full, lanes, zero), Kind.I64, Kind.I64))
        with b.loop(LoopKind.SERIAL, (following,), (done,), step=LANES) as row:
            vectors = b.number(quotient(b, plus(done, times(at(row.index), -1)), vector))
            vectors = integer(b, "min", vectors, b.constant(Kind.I64, LANES // vector))
            with b.range(LoopKind.VECTOR, times(at(vectors), vector)) as lane:
                self.join(at(lane.index), ZERO, items(plus(plus(start, at(row.index)), at(lane.index)), None))


class _ReducedCells(_SumBlock):
    """The sums of adjacent cells: vectors of cells, each lane of which accumulates down the rows in a register.

    Halving combines lanes that differ in the highest bit of their number first.  Those that differ in the highest `together` bits
    are added at once and combined in registers; those that differ in the next bits are visited in the order of reversed bits, in
    which halving combines neighbours, with a stack of partial results as in Note [Tree].  Lanes that differ in the lowest bits
    follow each other, so that rows are read in the order of memory; each has its stack, and their results are halved at last."""

    def __init__(
        self, b: LoopBuilder, sums: Sequence[Reduction], items: Callable[[Index], Items], most: int, cells: AccumulatorCells
    ) -> None:
        super().__init__(b, sums, items, most, cells, LANES_IN_MEMORY)
        assert cells is not None
        self.count = cells.count

    def write(self, start: Index, length: Index) -> None:
        """Adds several lanes at once where each has few rows; else neighbouring lanes where cells are few, since their rows share
        cache lines; else one lane, since more are slow from main memory, and where items take longer than that saves."""
        b = self.b
        with b.block() as one:
            self.write_lanes(start, length, 0)
        if is_long(one):
            b.statements += one
            return
        with b.block() as few_rows:
            self.write_lanes(start, length, _TOGETHER)
        with b.block() as others:
            if self.most <= _FEW_ROWS:
                b.statements += one
            else:
                with b.block() as narrow:
                    self.write_neighbours(start, length)
                few_cells = b.compare("le", self.count, Index((), _FEW_BYTES // max(s.kind.bytes for s in self.sums)))
                many_rows = b.compare("le", Index((), LANES), length)
                b.choose(b.apply("and", (few_cells, many_rows), Kind.BOOL, Kind.BOOL), narrow, one)
        are_several, are_few = b.compare("le", Index((), 1 << _TOGETHER), length), b.compare("le", length, Index((), _FEW_ROWS))
        b.choose(b.apply("and", (are_several, are_few), Kind.BOOL, Kind.BOOL), few_rows, others)

    def write_neighbours(self, start: Index, length: Index) -> None:
        """The sums of at least `LANES` items of few cells: `_NEIGHBOURS` lanes go down the rows together, in registers."""
        b = self.b
        rows = times(quotient(b, length, LANES), LANES)
        with b.loop(LoopKind.SERIAL, (ZERO,), (Index((), LANES_IN_MEMORY),), step=_NEIGHBOURS) as low, self.each() as cell:
            items = self.items(cell)

            def halved(lane: int, step: int) -> list[tuple[str, ...]]:
                if step == LANES:
                    return self.neighbours(start, plus(at(low.index), Index((), lane)), rows, length, items)
                pairs = zip(halved(lane, 2 * step), halved(lane + step, 2 * step), strict=True)
                return [joined(b, self.sums, left, right) for left, right in pairs]

            for number, totals in enumerate(halved(0, LANES_IN_MEMORY)):
                self.store(self.lanes, plus(at(low.index), Index((), number)), cell, totals)
        self.halve_in_memory(Index((), LANES_IN_MEMORY.bit_length() - 1))

    def neighbours(self, start: Index, lane: Index, rows: Index, length: Index, items: Items) -> list[tuple[str, ...]]:
        """The sums of `_NEIGHBOURS` lanes from `lane` on; `rows`: the items of full rows."""
        b, width = self.b, len(self.sums)
        entry = [(s.kind, first, None) for s, first in zip(self.sums, self.neutral, strict=True)]
        with b.loop(LoopKind.SERIAL, (lane,), (rows,), entry * _NEIGHBOURS, step=LANES) as row:
            index, yields = plus(start, at(row.index)), list[str]()
            for number in range(_NEIGHBOURS):
                total = row.inside[number * width : (number + 1) * width]
                yields += joined(b, self.sums, total, items(plus(index, Index((), number)), None))
            row.yields = tuple(yields)
        return [
            self.down(start, plus(plus(rows, lane), Index((), number)), length, items,
                      row.results[number * width : (number + 1) * width])
            for number in range(_NEIGHBOURS)
        ]  # fmt: skip

    def write_lanes(self, start: Index, length: Index, together: int) -> None:
        b = self.b
        bits = at(self.true_among("le", [Index((), 1 << bit) for bit in range(together + 1, _LANE_BITS + 1)], length, together))
        bytes_of_cell = max(s.kind.bytes for s in self.sums)
        limits = [Index((), (_BYTES_IN_MEMORY >> bit) // bytes_of_cell) for bit in range(1, _BITS_IN_MEMORY + 1)]
        free = b.number(plus(bits, Index((), -together)))
        in_memory = integer(b, "min", self.true_among("ge", limits, self.count), free)
        on_stack = plus(at(free), times(at(in_memory), -1))
        steps, lanes = [self.power(plus(bits, Index((), -1 - level))) for level in range(together)], self.power(bits)
        with b.range(LoopKind.SERIAL, self.power(on_stack)) as high:
            lane, height = self.reversed_bits(high.index, on_stack)
            first, is_last = at(integer(b, "shl", in_memory, lane)), b.compare("eq", height, on_stack)
            with b.range(LoopKind.SERIAL, self.power(at(in_memory))) as low:

                def row_of(level: Index) -> Index:
                    return plus(at(integer(b, "shl", in_memory, b.number(plus(level, ONE)))), at(low.index))

                row = b.apply("select", (is_last, low.index, b.number(row_of(height))), Kind.I64, Kind.I64)
                with self.each() as cell:
                    totals = self.halved(start, plus(at(low.index), first), lanes, length, self.items(cell), steps)
                    entry = [(s.kind, total, None) for s, total in zip(self.sums, totals, strict=True)]
                    with b.range(LoopKind.SERIAL, height, entry) as level:
                        before = self.load(self.lanes, row_of(at(level.index)), cell)
                        level.yields = joined(b, self.sums, before, level.inside)
                    self.store(self.lanes, at(row), cell, level.results)
        self.halve_in_memory(at(in_memory))

    def halve_in_memory(self, bits: Index) -> None:
        """Halves the lanes whose numbers have `bits` bits, in memory."""
        b = self.b
        with b.range(LoopKind.SERIAL, bits) as level:
            half = self.power(plus(plus(bits, Index((), -1)), times(at(level.index), -1)))
            with b.range(LoopKind.SERIAL, half) as lane, self.each() as cell:
                self.join(at(lane.index), cell, self.load(self.lanes, plus(at(lane.index), half), cell))

    def true_among(self, comparison: str, limits: Sequence[Index], number: Index, before: int = 0) -> str:
        """How many limits compare true with a number, plus `before`."""
        b, count = self.b, Index((), before)
        zero, one = b.constant(Kind.I64, 0), b.constant(Kind.I64, 1)
        for limit in limits:
            count = plus(count, at(b.apply("select", (b.compare(comparison, limit, number), one, zero), Kind.I64, Kind.I64)))
        return b.number(count)

    def power(self, exponent: Index) -> Index:
        """A power of two."""
        return at(integer(self.b, "shl", self.b.number(exponent), self.b.constant(Kind.I64, 1)))

    def reversed_bits(self, number: str, bits: Index) -> tuple[str, Index]:
        """The number whose `bits` bits are those of `number` in reverse order, and how many of its lowest bits are ones."""
        b, zero, one = self.b, self.b.constant(Kind.I64, 0), self.b.constant(Kind.I64, 1)
        entry = [(Kind.I64, first, None) for first in (number, zero, one, zero)]
        with b.range(LoopKind.SERIAL, bits, entry) as bit:
            rest, result, are_ones, ones = bit.inside
            digit = integer(b, "band", rest, one)
            are_ones = integer(b, "band", are_ones, digit)
            bit.yields = (integer(b, "shr", one, rest), b.number(plus(times(at(result), 2), at(digit))), are_ones,
                          integer(b, "add", ones, are_ones))  # fmt: skip
        return bit.results[1], at(bit.results[3])

    def halved(self, start: Index, lane: Index, lanes: Index, length: Index, items: Items, steps: Sequence[Index]
               ) -> tuple[str, ...]:  # fmt: skip
        """The sums of the lanes at all sums of a subset of `steps`, combined by the first step first."""
        if not steps:
            return self.down(start, plus(lane, lanes), length, items, items(plus(start, lane), None))
        *others, step = steps
        left = self.halved(start, lane, lanes, length, items, others)
        return joined(self.b, self.sums, left, self.halved(start, plus(lane, step), lanes, length, items, others))

    def down(self, start: Index, first: Index, length: Index, items: Items, before: Sequence[str]) -> tuple[str, ...]:
        """The sums of one lane down the rows of the block, from item `first` on, after those of earlier rows (`before`)."""
        entry = [(s.kind, total, None) for s, total in zip(self.sums, before, strict=True)]
        with self.b.loop(LoopKind.SERIAL, (first,), (length,), entry, step=LANES) as row:
            row.yields = joined(self.b, self.sums, row.inside, items(plus(start, at(row.index)), None))
        return row.results


# ------------------------------------------------------------------------------------------- block reductions
#
# The order of sums on a GPU: each lane of the order is a thread of a block.
#
# A state may have several values: an argument reduction carries the best item and its index.

class ThreadBlockReduction:
    """Reduces a block of items by a thread block: each thread has a lane of a cell, and lanes are halved in shared memory.

    `lanes`: those in shared memory; each thread combines the other lanes with its own first, in the same order.  Neighbouring
    threads have neighbouring lanes or, if `across`, neighbouring cells, of which there are at most `cells`.  `most`: an upper
    bound of a cell's items, of which one call reduces a block.  `other_states`: values of other reductions in shared memory."""

    def __init__(self, b: LoopBuilder, states: Sequence[Reduction], most: int, *, across: bool = False, are_cells: bool,
                 other_states: int = 0) -> None:  # fmt: skip
        self.b, self.states, self.most, self.across = b, states, min(most, BLOCK), across
        self.kinds = [kind for state in states for kind in state.kinds]
        self.lanes = min(LANES_IN_MEMORY if across else LANES, 1 << (most - 1).bit_length())
        self.cells = (8 if across else 1) * LANES // self.lanes if are_cells else 1
        while 8 * (len(self.kinds) + other_states) * self.lanes * self.cells > SHARED_BYTES:
            if self.cells > 1:
                self.cells //= 2
            else:
                self.lanes //= 2
        shape = Index((), self.lanes), Index((), self.cells)
        self.views = [b.view("lanes", kind, shape, ViewRole.SCRATCH, private=True).name for kind in self.kinds]
        self.neutral = [part for state in states for part in state.entry(b)]

    def write(self, cells: AccumulatorCells, length: Index, items: Callable[[Index], Callable[[Index], Sequence[str]]]) -> None:
        """Reduces the first `length` items of each cell, at most a block of them, into the cell's first lane."""
        with self.each(cells, self.lanes) as (lane, cell):
            self.store(lane, cell, self.lane(lane, 0, self.lanes, length, items(cell)))
        half = self.lanes // 2
        while half:
            with self.each(cells, half) as (lane, cell):
                self.store(lane, cell, self.joined(self.load(lane, cell), self.load(plus(lane, Index((), half)), cell)))
            half //= 2

    @contextmanager
    def each(self, cells: AccumulatorCells, lanes: int = 1) -> Iterator[tuple[Index, Index]]:
        """Opens a loop over threads: `lanes` lanes of each cell."""
        with ExitStack() as nest:

            def loop(*upper: Index) -> Index:
                return at(nest.enter_context(self.b.loop(LoopKind.VECTOR, (ZERO,), upper)).index)

            if self.across or self.cells == 1:
                lane = loop(Index((), lanes)) if lanes > 1 or self.cells == 1 else ZERO
                yield lane, loop(Index((), self.cells), cells.count) if self.cells > 1 else ZERO
            else:
                cell = loop(Index((), self.cells), cells.count)
                yield loop(Index((), lanes)) if lanes > 1 else ZERO, cell

    def lane(
        self, lane: Index, offset: int, stride: int, length: Index, items: Callable[[Index], Sequence[str]]
    ) -> Sequence[str]:
        """The state of lane + offset, combined with those of the lanes at multiples of `stride` from it, below `LANES`."""
        if stride < LANES:
            total = self.lane(lane, offset, 2 * stride, length, items)
            if offset + stride >= self.most:
                return total
            return self.joined(total, self.lane(lane, offset + stride, 2 * stride, length, items))
        bounds = (length, Index((), self.most)) if self.most > LANES else (length,)
        with self.b.loop(LoopKind.SERIAL, (plus(lane, Index((), offset)),), bounds, self.neutral, step=LANES) as row:
            row.yields = self.joined(row.inside, items(at(row.index)))
        return row.results

    def joined(self, left: Sequence[str], right: Sequence[str]) -> tuple[str, ...]:
        return joined(self.b, self.states, left, right)

    def load(self, lane: Index, cell: Index) -> list[str]:
        return [self.b.load(room, (lane, cell)) for room in self.views]

    def store(self, lane: Index, cell: Index, values: Sequence[str]) -> None:
        for room, value in zip(self.views, values, strict=True):
            self.b.store(room, (lane, cell), value)
