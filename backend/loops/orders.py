"""The orders of float sums and of scans, as builders of loops.

phases.md, "Order of sums": blocks of `ROWS` × `LANES` items, lanes added down the rows, halved, blocks joined by a binary tree.
What is absent counts as the identity, which changes no bit.  A lane is a place in a scratch view here; of several cells side by
side each has lanes of its own.

Neighbours: `backend.run.sums` and `backend.run.scans` (the definitions); `lower.structured` (asks).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from ...typechecker.elements import Kind
from ...typechecker.scalars import neutral
from ..kernels.build import bits_of
from ..kernels.ir import BLOCK, LANES
from .builder import Builder, at
from .ir import ZERO, Index, LoopKind, Role, plus, times

MOST_UNROLLED: Final = 8
"""Items that are added without a loop."""
CELLS: Final = 64
"""Cells side by side that have their lanes in one scratch view."""


@dataclass(frozen=True, slots=True)
class Sum:
    """One reduction of several over the same items."""

    kind: Kind
    function: str

    @property
    def of_nothing(self) -> int:
        """The bits of an empty sum."""
        return bits_of(self.kind, {"add": 0.0, "mul": 1.0}[self.function])


def unrolled(b: Builder, sums: Sequence[Sum], length: int, items: Callable[[Index], Sequence[str]]) -> list[str]:
    """A few items, whose number is known: lanes halved in registers."""
    if not length:
        return [b.constant(s.kind, s.of_nothing) for s in sums]
    rows = [list(items(Index((), place))) for place in range(length)]
    half = LANES // 2
    while half:
        for lane in range(half):
            if lane + half < len(rows):
                pairs = zip(sums, rows[lane], rows[lane + half], strict=True)
                rows[lane] = [b.apply(s.function, (x, y), s.kind, s.kind) for s, x, y in pairs]
        rows = rows[:half]
        half //= 2
    return rows[0]


_FILLED: Final = 64
"""Items of whole vectors, however many go together."""
_LEVELS: Final = 28
"""Of a binary tree of blocks."""


def streamed(b: Builder, sums: Sequence[Sum], length: Index, items: Callable[[Index, str | None], Sequence[str]]) -> list[str]:
    """Sums of any number of items, at least one: lanes in memory, which registers halve, and the tree of blocks as a stack of
    partial results, one a level, joined as a binary counter carries.  `items` are 0 where a mask is false.

    A last row is filled up to whole vectors with what changes no bit."""
    zero, one = b.constant(Kind.I64, 0), b.constant(Kind.I64, 1)
    lanes = [b.view("lanes", s.kind, (Index((), LANES),), Role.SCRATCH, private=True).name for s in sums]
    stacks = [b.view("stack", s.kind, (Index((), _LEVELS),), Role.SCRATCH, private=True).name for s in sums]
    none = [b.constant(s.kind, bits_of(s.kind, neutral(s.function, s.kind))) for s in sums]

    def join(views: Sequence[str], place: Index, values: Sequence[str], mask: str | None = None) -> list[str]:
        loaded = [b.load(view, (place,), mask) for view in views]
        return [b.apply(s.function, pair, s.kind, s.kind) for s, *pair in zip(sums, loaded, values, strict=True)]

    with b.loop(LoopKind.SERIAL, (ZERO,), (length,), [(Kind.I64, zero, None)], step=BLOCK) as block:
        (count,) = block.inside
        rest = at(b.number(plus(length, times(at(block.index), -1))))
        with b.range(LoopKind.VECTOR, Index((), LANES)) as lane:
            for view, value in zip(lanes, none, strict=True):
                b.store(view, (at(lane.index),), value)
        whole_rows = plus(rest, Index((), 1 - LANES)), Index((), BLOCK)
        with b.loop(LoopKind.SERIAL, (ZERO,), whole_rows, step=LANES) as row, b.range(LoopKind.VECTOR, Index((), LANES)) as lane:
            values = items(plus(plus(at(block.index), at(row.index)), at(lane.index)), None)
            for view, value in zip(lanes, join(lanes, at(lane.index), values), strict=True):
                b.store(view, (at(lane.index),), value)
        here = at(b.apply("min", (b.number(rest), b.constant(Kind.I64, BLOCK)), Kind.I64, Kind.I64))
        whole = times(_floor(b, here, LANES), LANES)
        left = plus(here, times(whole, -1))
        with b.range(LoopKind.VECTOR, times(_floor(b, plus(left, Index((), _FILLED - 1)), _FILLED), _FILLED)) as lane:
            is_there = b.compare("lt", at(lane.index), left)
            values = items(plus(plus(at(block.index), whole), at(lane.index)), is_there)
            filled = [b.apply("select", (is_there, value, nothing), s.kind, s.kind)
                      for s, value, nothing in zip(sums, values, none, strict=True)]  # fmt: skip
            for view, value in zip(lanes, join(lanes, at(lane.index), filled), strict=True):
                b.store(view, (at(lane.index),), value)
        entry = [(s.kind, first, s.function) for s, first in zip(sums, none, strict=True)]
        with b.range(LoopKind.VECTOR, Index((), LANES), entry) as lane:
            loaded = [b.load(view, (at(lane.index),)) for view in lanes]
            pairs = zip(sums, lane.inside, loaded, strict=True)
            lane.yields = tuple([b.apply(s.function, (inside, item), s.kind, s.kind) for s, inside, item in pairs])
        totals = [(s.kind, total, None) for s, total in zip(sums, lane.results, strict=True)]
        with b.range(LoopKind.SERIAL, Index((), _LEVELS), [(Kind.I64, count, None), (Kind.I64, zero, None), *totals]) as level:
            digits, height, *now = level.inside
            digit = b.apply("band", (digits, one), Kind.I64, Kind.I64)
            is_odd = b.compare("lt", ZERO, at(digit))
            both = zip(sums, join(stacks, at(level.index), now, is_odd), now, strict=True)
            following = [b.apply("select", (is_odd, joined, own), s.kind, s.kind) for s, joined, own in both]
            above = b.apply("add", (height, digit), Kind.I64, Kind.I64)
            level.yields = b.apply("shr", (one, digits), Kind.I64, Kind.I64), above, *following
            level.until = b.apply("not", (is_odd,), Kind.BOOL, Kind.BOOL)
        _, height, *now = level.results
        for view, value in zip(stacks, now, strict=True):
            b.store(view, (at(height),), value)
        block.yields = (b.apply("add", (count, one), Kind.I64, Kind.I64),)
    begin = [(s.kind, first, None) for s, first in zip(sums, none, strict=True)]
    entry_of_all = [(Kind.I64, block.results[0], None), (Kind.BOOL, b.constant(Kind.BOOL, 0), None), *begin]
    with b.range(LoopKind.SERIAL, Index((), _LEVELS), entry_of_all) as level:
        digits, has_any, *now = level.inside
        is_odd = b.compare("lt", ZERO, at(b.apply("band", (digits, one), Kind.I64, Kind.I64)))
        is_next, following = b.apply("and", (is_odd, has_any), Kind.BOOL, Kind.BOOL), []
        for s, view, own in zip(sums, stacks, now, strict=True):
            item = b.load(view, (at(level.index),), is_odd)
            joined = b.apply(s.function, (item, own), s.kind, s.kind)
            either = b.apply("select", (is_odd, item, own), s.kind, s.kind)
            following.append(b.apply("select", (is_next, joined, either), s.kind, s.kind))
        above = b.apply("shr", (one, digits), Kind.I64, Kind.I64)
        level.yields = above, b.apply("or", (is_odd, has_any), Kind.BOOL, Kind.BOOL), *following
        level.until = b.compare("eq", at(above), ZERO)
    return list(level.results[2:])


def _floor(b: Builder, number: Index, divisor: int) -> Index:
    """A number divided by a power of two."""
    shift = b.constant(Kind.I64, divisor.bit_length() - 1)
    return at(b.apply("shr", (shift, b.number(number)), Kind.I64, Kind.I64))


Items = Callable[[Index, Index], Sequence[str]]
"""Writes what is to be added, by cell and place."""


@dataclass(frozen=True, slots=True)
class _Lanes:
    """Where the lanes of sums lie: alone, with the lanes side by side, or of `cells` cells, with the cells side by side."""

    b: Builder
    cells: Index | None

    def views(self, prefix: str, sums: Sequence[Sum], count: int) -> list[str]:
        shape = (Index((), count),) if self.cells is None else (Index((), count), Index((), CELLS))
        return [self.b.view(prefix, s.kind, shape, Role.SCRATCH, private=True).name for s in sums]

    def place(self, lane: Index, cell: Index) -> tuple[Index, ...]:
        return (lane,) if self.cells is None else (lane, cell)

    @contextmanager
    def over(self, lower: Index, *upper: Index) -> Iterator[tuple[Index, Index]]:
        """Lanes and cells."""
        if self.cells is None:
            with self.b.loop(LoopKind.VECTOR, (lower,), upper) as lane:
                yield at(lane.index), ZERO
            return
        with self.b.loop(LoopKind.SERIAL, (lower,), upper) as lane, self.b.range(LoopKind.VECTOR, self.cells) as cell:
            yield at(lane.index), at(cell.index)

    @contextmanager
    def each(self) -> Iterator[Index]:
        """Cells."""
        if self.cells is None:
            yield ZERO
            return
        with self.b.range(LoopKind.VECTOR, self.cells) as cell:
            yield at(cell.index)


def ordered(b: Builder, sums: Sequence[Sum], length: Index, most: int, cells: Index | None, items: Items,
            give: Callable[[Index, Sequence[str]], None]) -> None:  # fmt: skip
    """Sums of `length` items (at least one, at most `most`), of one cell or of `cells` (at most `CELLS`) side by side.

    `give(cell, totals)` takes the results."""
    blocks, lanes = -(-most // BLOCK), _Lanes(b, cells)
    views = lanes.views("lanes", sums, min(LANES, most))
    if blocks <= 1:
        _block(lanes, sums, views, ZERO, length, most, items)
        with lanes.each() as cell:
            give(cell, [b.load(view, lanes.place(ZERO, cell)) for view in views])
        return
    partials = lanes.views("partials", sums, blocks)
    one = b.constant(Kind.I64, 1)
    with b.loop(LoopKind.SERIAL, (ZERO,), (length,), [(Kind.I64, b.constant(Kind.I64, 0), None)], step=BLOCK) as block:
        (count,) = block.inside
        _block(lanes, sums, views, at(block.index), length, BLOCK, items)
        with lanes.each() as cell:
            for view, partial in zip(views, partials, strict=True):
                b.store(partial, lanes.place(at(count), cell), b.load(view, lanes.place(ZERO, cell)))
        block.yields = (b.apply("add", (count, one), Kind.I64, Kind.I64),)
    _tree(lanes, sums, partials, block.results[0], blocks)
    with lanes.each() as cell:
        give(cell, [b.load(view, lanes.place(ZERO, cell)) for view in partials])


def _block(lanes: _Lanes, sums: Sequence[Sum], views: Sequence[str], start: Index, length: Index, most: int,
           items: Items) -> None:  # fmt: skip
    """The items start … of one block into its lanes, and these into the first of them."""
    b = lanes.b
    rest = at(b.number(plus(length, times(start, -1))))
    with lanes.over(ZERO, rest, Index((), LANES)) as (lane, cell):
        for view, value in zip(views, items(cell, plus(start, lane)), strict=True):
            b.store(view, lanes.place(lane, cell), value)
    if most > LANES:
        with b.loop(LoopKind.SERIAL, (Index((), LANES),), (rest, Index((), BLOCK)), step=LANES) as row:
            left = at(b.number(plus(rest, times(at(row.index), -1))))
            with lanes.over(ZERO, left, Index((), LANES)) as (lane, cell):
                values = items(cell, plus(plus(start, at(row.index)), lane))
                for s, view, value in zip(sums, views, values, strict=True):
                    joined = b.apply(s.function, (b.load(view, lanes.place(lane, cell)), value), s.kind, s.kind)
                    b.store(view, lanes.place(lane, cell), joined)
    if most <= 1:
        return
    widest = min(LANES, 1 << (most - 1).bit_length()) // 2
    with b.range(LoopKind.SERIAL, Index((), widest.bit_length())) as level:
        half = at(b.apply("shr", (level.index, b.constant(Kind.I64, widest)), Kind.I64, Kind.I64))
        with lanes.over(ZERO, half, plus(rest, times(half, -1))) as (lane, cell):
            for s, view in zip(sums, views, strict=True):
                here, there = lanes.place(lane, cell), lanes.place(plus(lane, half), cell)
                b.store(view, here, b.apply(s.function, (b.load(view, here), b.load(view, there)), s.kind, s.kind))


def _tree(lanes: _Lanes, sums: Sequence[Sum], partials: Sequence[str], count: str, most: int) -> None:
    """Neighbours are joined level by level, a last odd one passes through; the total is the first."""
    b, levels = lanes.b, Index((), max(1, (most - 1).bit_length()))
    one = b.constant(Kind.I64, 1)
    with b.loop(LoopKind.SERIAL, (ZERO,), (levels,), [(Kind.I64, count, None)]) as level:
        (now,) = level.inside
        last = plus(at(now), Index((), -1))
        with b.loop(LoopKind.SERIAL, (ZERO,), (last,), [(Kind.I64, b.constant(Kind.I64, 0), None)], step=2) as pair:
            (place,) = pair.inside
            with lanes.each() as cell:
                for s, view in zip(sums, partials, strict=True):
                    left, right = at(pair.index), plus(at(pair.index), Index((), 1))
                    pieces = b.load(view, lanes.place(left, cell)), b.load(view, lanes.place(right, cell))
                    b.store(view, lanes.place(at(place), cell), b.apply(s.function, pieces, s.kind, s.kind))
            pair.yields = (b.apply("add", (place, one), Kind.I64, Kind.I64),)
        (pairs,) = pair.results
        following = b.number(plus(at(now), times(at(pairs), -1)))
        with b.loop(LoopKind.SERIAL, (at(pairs),), (at(following),)), lanes.each() as cell:  # a last odd one
            for view in partials:
                b.store(view, lanes.place(at(pairs), cell), b.load(view, lanes.place(last, cell)))
        level.yields = (following,)
        level.until = b.compare("le", at(following), Index((), 1))
