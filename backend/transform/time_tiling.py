"""Time tiling: lets a loop over iterations of a stencil run for a tile of rows at a time.

A program that qualifies gets four more parameters.  In iteration `first` it computes the rows from `rows_from` up to `rows_to`;
from one *stage* to the next these bounds move by `from_step` and `to_step`.  A stage is a sequence of nests none of which reads
another row of a view that one of them writes, so an iteration has at least one stage.  A caller that moves both bounds inwards by
`halo` a stage can run several iterations of a tile of rows independently of its neighbours, and afterwards the gaps between two
such tiles with bounds that move outwards.  Every row of every stage is computed once, after all that it reads and before that is
overwritten, so the bits are the same.  (The trapezoids of Frigo and Strumpen, "Cache oblivious stencil computations", 2005.)

Legal if every access of an iteration to a view that the loop stores is in the row of its nest, plus a constant (at most `halo` in
magnitude) and a multiple of the number of rows (wraparound), and if nothing is carried but the parity of the current buffer.  A
tile that covers row 0 of a view with wraparound continues at the last row, in a loop of two over the rows.

Local scratch has no rows: the statements that fill and read it run together for one row (a *unit*), and tiles that run
concurrently have separate scratch.  A program without a loop over iterations is one iteration of one stage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from ...lang.support.records import dataclass, replace
from ...typechecker.elements import Kind
from ..loopir.facts import Definitions
from ..loopir.ir import (
    ONE,
    ZERO,
    Apply,
    Call,
    Carried,
    ConstantStatement,
    Fail,
    For,
    If,
    Index,
    IndexStatement,
    Load,
    LoopKind,
    LoopProgram,
    Statement,
    Store,
    coefficient,
    defined,
    defined_within,
    index,
    minus,
    plus,
    stored_views,
    times,
    uses,
    walk,
)
from ..loopir.verifier import may_fail
from .rewriting import FreshNames

FROM, TO, FROM_STEP, TO_STEP = PARAMETERS = ("rows_from", "rows_to", "from_step", "to_step")


_Unit: TypeAlias = tuple[Statement, ...]
"""Statements of an iteration that run together for one row."""


@dataclass(frozen=True, slots=True)
class TimeTiling:
    """A program that can run in time tiles.  `rows`: their number; `halo`: rows that a stage reads beyond its own; `stages`: the
    number of stages of an iteration; `wraps`: is the first row a neighbour of the last one?"""

    program: LoopProgram
    rows: Index
    halo: int
    stages: int
    wraps: bool


def tile_in_time(program: LoopProgram) -> TimeTiling | None:
    """The program with parameters for tiles of rows; None if it does not qualify."""
    try:
        return _Tiling(program).tiled()
    except _NotTileable:
        return None


class _NotTileable(Exception):
    """Raised where the program does not qualify."""


class _Tiling:
    def __init__(self, program: LoopProgram) -> None:
        self.program, self.definitions, self.names = program, Definitions(program), FreshNames(program)
        self.local = {view.name for view in program.views if view.local}
        self.stored = {view for statement in walk(program.body) for view in stored_views(statement)} - self.local
        self.lengths = {view.name: view.shape for view in program.views}
        self.rows: Index | None = None
        self.halo, self.wraps = 0, False
        self.sources: dict[str, tuple[Load, ...]] = {}
        """The loads of stored views on which scalars of an iteration, outside its nests, depend."""

    def tiled(self) -> TimeTiling:
        scratch = {v.name for v in self.program.views if v.private and not any(length.terms for length in v.shape)}
        if self.stored & scratch:  # scratch of a single call holds the state
            raise _NotTileable
        for statement in walk(self.program.body):
            if isinstance(statement, Fail | Call) or (isinstance(statement, Apply) and may_fail(statement)):
                raise _NotTileable
        loops = [position for position, statement in enumerate(self.program.body) if isinstance(statement, For)]
        if self.program.name == "map" or any(map(self.has_rows, (self.program.body[position] for position in loops))):
            return self.single_iteration()
        if len(loops) != 1:
            raise _NotTileable
        (position,) = loops
        before, loop, after = self.program.body[:position], self.program.body[position], self.program.body[position + 1 :]
        assert isinstance(loop, For)
        self.check_outside((*before, *after), loop)
        levels = self.stages(loop.body)
        body = (*before, self.with_moving_bounds(loop, levels), *after)
        if self.rows is None or (self.wraps and self.row_counts(loop.body) != {self.rows}):
            raise _NotTileable
        return self.result(body, self.rows, len(levels.runs))

    def has_rows(self, loop: Statement) -> bool:
        """Does the loop store items at its index along the axis of rows?"""
        stores = [node for node in walk((loop,)) if isinstance(node, Store) and node.indices and node.view not in self.local]
        rows = [self.definitions.expand(node.indices[self.axis(node)[0]]) for node in stores]
        return isinstance(loop, For) and any(coefficient(row, loop.index) for row in rows)

    def single_iteration(self) -> TimeTiling:
        """The tiling of a program that is one iteration, or runs all iterations at each point."""
        levels = self.stages(self.program.body)
        heights = self.row_counts(self.program.body)
        if len(levels.runs) != 1 or len(heights) != 1 or self.halo or self.wraps:
            raise _NotTileable
        body = (*levels.counts, *self.clipped(levels.runs[0], index(FROM), index(TO)))
        (height,) = heights
        return self.result(body, height, 1)

    def result(self, body: tuple[Statement, ...], rows: Index, levels: int) -> TimeTiling:
        program = replace(self.program, parameters=(*self.program.parameters, *PARAMETERS), body=body)
        return TimeTiling(program, rows, self.halo, levels, self.wraps)

    def row_counts(self, body: tuple[Statement, ...]) -> set[Index]:
        """The row counts of the stored views."""
        stores = (s for s in walk(body) if isinstance(s, Store) and s.view not in self.local)
        return {self.lengths[store.view][self.axis(store)[0]] for store in stores}

    def check_outside(self, around: tuple[Statement, ...], loop: For) -> None:
        """Check that the statements outside the loop have the same effect for every tile."""
        results = {carried.result for carried in loop.carried}
        if loop.kind is not LoopKind.SERIAL or loop.until is not None or loop.step != 1 or len(loop.lower) + len(loop.upper) > 2:
            raise _NotTileable
        for carried in loop.carried:
            first = self.definitions.of.get(carried.initial)
            known = first is None or not isinstance(first, Apply) or first.function == "residue"
            if not self.definitions.alternates(carried.inside) or not known:
                raise _NotTileable
        for statement in around:
            match statement:
                case Store(indices=indices, value=value):
                    if indices or value not in results:
                        raise _NotTileable
                case Load(view=view):
                    if view in self.stored:
                        raise _NotTileable
                case ConstantStatement() | IndexStatement() | Apply():
                    pass
                case _:
                    raise _NotTileable

    # -------------------------------------------------------------------------------------------- levels

    def stages(self, body: tuple[Statement, ...]) -> _Stages:
        """The statements of an iteration: scalars that do not depend on stored views, and the stages of the other units."""
        counts: list[Statement] = []
        units: list[_Unit] = []
        waiting: _Unit = ()
        """Statements that only touch local scratch, until one stores something else."""
        for statement in body:
            extended = (*waiting, statement)
            if isinstance(statement, ConstantStatement | IndexStatement | Apply | Load) and not self.is_local(extended):
                loads = self.loads(statement)
                if not loads:
                    counts.append(statement)
                    continue
                self.sources[statement.name] = loads
                units.append((statement,))
                continue
            waiting = extended
            if not any(isinstance(node, Store) and node.view not in self.local for node in walk(waiting)):
                continue
            while self.loads_before_it_stores(waiting):
                if not units:
                    raise _NotTileable
                waiting = (*units.pop(), *waiting)
            units.append(waiting)
            waiting = ()
        if waiting:
            raise _NotTileable
        runs: list[list[_Unit]] = []
        touched: list[set[_TiledAccess]] = []
        for unit in units:
            accessed = set(self.accesses(unit))
            if any(_conflict(one, other) for one in accessed for other in accessed):
                raise _NotTileable
            if not runs or any(_conflict(one, other) for one in touched[-1] for other in accessed):
                runs.append([])
                touched.append(set())
            runs[-1].append(unit)
            touched[-1] |= accessed
        self.check_separate([tuple(statement for unit in run for statement in unit) for run in runs])
        self.check_separate([unit for unit in units if self.row(unit) is not None and not self.is_over_rows(unit)])
        return _Stages(tuple(counts), tuple(map(tuple, runs)))

    def check_separate(self, parts: Sequence[_Unit]) -> None:
        """Check that no part uses a value that another one defines."""
        for position, part in enumerate(parts):
            inside = {name for statement in part for name in defined(statement)}
            others = (*parts[:position], *parts[position + 1 :])
            if any(not inside.isdisjoint(uses(node)) for other in others for node in walk(other)):
                raise _NotTileable

    def is_local(self, unit: _Unit) -> bool:
        """Does the last statement access local scratch, or use a value of the statements before it?"""
        *before, last = unit
        names = {name for statement in before for name in defined(statement)}
        nodes = list(walk((last,)))
        return any(isinstance(node, Load | Store) and node.view in self.local for node in nodes) or any(
            not names.isdisjoint(uses(node)) for node in nodes
        )

    def loads_before_it_stores(self, unit: _Unit) -> bool:
        """Does the unit load local scratch that it does not fill first?"""
        filled: set[str] = set()
        for node in walk(unit):
            if isinstance(node, Load) and node.view in self.local - filled:
                return True
            if isinstance(node, Store):
                filled.add(node.view)
        return False

    def loads(self, *unit: Statement) -> tuple[Load, ...]:
        """The loads of stored views in the statements, and those on which the scalars they use depend; each load once."""
        nodes = list(walk(unit))
        loads = {node.name: node for node in nodes if isinstance(node, Load) and node.view in self.stored}
        for name in {name for node in nodes for name in uses(node)}:
            loads |= {load.name: load for load in self.sources.get(name, ())}
        return tuple(loads.values())

    def accesses(self, unit: _Unit) -> Iterator[_TiledAccess]:
        """The accesses of a unit to stored views; updates `halo` and `wraps`."""
        row = self.row(unit)
        for load in self.loads(*unit):
            axis, buffer = self.axis(load)
            if row is None:  # a scalar for a store, with which it is checked
                yield _TiledAccess(load.view, buffer, False, True)
                continue
            distance = minus(self.definitions.expand(load.indices[axis]), row)
            around = self.wrap_distance(distance, self.lengths[load.view][axis])
            near = distance.constant if around is None else around
            self.halo, self.wraps = max(self.halo, abs(near)), self.wraps or around is not None
            yield _TiledAccess(load.view, buffer, False, near != 0 or around is not None)
        for node in walk(unit):
            if isinstance(node, Store) and node.view not in self.local:
                yield _TiledAccess(node.view, self.axis(node)[1], True, False)

    def wrap_distance(self, distance: Index, rows: Index) -> int | None:
        """A distance modulo the number of rows if it wraps around; None if it does not."""
        if self.rows is None:
            self.rows = rows
        if not distance.terms:
            return None
        for sign in (-1, 1):
            left = plus(distance, times(rows, sign))
            if not left.terms and rows == self.rows:
                return left.constant
        raise _NotTileable

    def axis(self, node: Load | Store) -> tuple[int, Index | None]:
        """The axis of rows of an access, and the index of its buffer (None: there is only one)."""
        first = self.definitions.expand(node.indices[0]) if node.indices else None
        if first is not None and len(first.terms) == 1 and self.definitions.alternates(first.terms[0][0]):
            if len(node.indices) < 2:
                raise _NotTileable
            return 1, first
        if first is None:
            raise _NotTileable
        return 0, None

    def row(self, unit: _Unit) -> Index | None:
        """The row of a unit: that of its stores; None for a scalar."""
        stores = [node for node in walk(unit) if isinstance(node, Store) and node.view not in self.local]
        rows = {self.definitions.expand(node.indices[self.axis(node)[0]]) for node in stores}
        for statement in unit:
            if isinstance(statement, For) and (statement.carried or statement.until is not None or statement.step != 1):
                raise _NotTileable
        if len(rows) > 1 or (not rows and not isinstance(unit[-1], Load | Apply)):
            raise _NotTileable
        row = next(iter(rows), None)
        inside = {name for statement in walk(unit) for name in defined_within(statement)}
        counted = inside.intersection(name for name, _ in row.terms) if row is not None else set()
        if counted and not (len(unit) == 1 and isinstance(unit[0], For) and counted == {unit[0].index}):
            raise _NotTileable
        return row

    def is_over_rows(self, unit: _Unit) -> bool:
        """Is the unit a loop over rows?"""
        row, (first, *_) = self.row(unit), unit
        return row is not None and isinstance(first, For) and coefficient(row, first.index) != 0

    # -------------------------------------------------------------------------------------------- writing

    def with_moving_bounds(self, loop: For, levels: _Stages) -> For:
        """The loop with bounds of rows that move from stage to stage."""
        low, high = self.names.fresh("from"), self.names.fresh("to")
        body: list[Statement] = list(levels.counts)
        for level, run in enumerate(levels.runs):
            start, stop = index(low, (FROM_STEP, level)), index(high, (TO_STEP, level))
            body += self.wrapped(run, start, stop) if self.wraps else self.clipped(run, start, stop)
        moved: list[Carried] = []
        for name, parameter, step in ((low, FROM, FROM_STEP), (high, TO, TO_STEP)):
            following = self.names.fresh(name)
            body.append(IndexStatement(following, index(name, (step, len(levels.runs)))))
            moved.append(Carried(name, Kind.I64, parameter, following, self.names.fresh(name)))
        return replace(loop, body=tuple(body), carried=(*loop.carried, *moved))

    def wrapped(self, run: tuple[_Unit, ...], start: Index, stop: Index) -> list[Statement]:
        """A stage for the rows in the bounds, and for those that wrap around into them."""
        assert self.rows is not None
        copy, ahead, following, last, none = map(self.names.fresh, ("around", "ahead", "ahead", "ahead", "none"))
        body = (*self.clipped(run, plus(start, index(ahead)), plus(stop, index(ahead))),
                IndexStatement(following, plus(index(ahead), self.rows)))  # fmt: skip
        carried = Carried(ahead, Kind.I64, none, following, last)
        return [IndexStatement(none, ZERO), For(copy, (ZERO,), (Index((), 2),), LoopKind.SERIAL, body, (carried,))]

    def clipped(self, run: tuple[_Unit, ...], start: Index, stop: Index) -> list[Statement]:
        """A stage clipped to the rows in the bounds."""
        done: list[Statement] = []
        for unit in run:
            row, statement = self.row(unit), unit[0]
            if row is None:
                done += unit
                continue
            if self.is_over_rows(unit):
                assert isinstance(statement, For)
                ahead = minus(row, index(statement.index))
                if coefficient(row, statement.index) != 1 or ahead.terms:
                    raise _NotTileable
                lower, upper = (*statement.lower, minus(start, ahead)), (*statement.upper, minus(stop, ahead))
                done.append(replace(statement, lower=lower, upper=upper))
                continue
            left, right, nothing = self.names.fresh("left"), self.names.fresh("right"), self.names.fresh("nothing")
            above, below, holds = self.names.fresh("above"), self.names.fresh("below"), self.names.fresh("holds")
            done += [
                IndexStatement(left, minus(row, start)), IndexStatement(right, minus(minus(stop, ONE), row)),
                IndexStatement(nothing, ZERO),
                Apply(above, Kind.BOOL, "le", (nothing, left), Kind.I64),
                Apply(below, Kind.BOOL, "le", (nothing, right), Kind.I64),
                Apply(holds, Kind.BOOL, "and", (above, below), Kind.BOOL), If(holds, unit),
            ]  # fmt: skip
        return done


@dataclass(frozen=True, slots=True)
class _Stages:
    counts: tuple[Statement, ...]
    runs: tuple[tuple[_Unit, ...], ...]


@dataclass(frozen=True, slots=True)
class _TiledAccess:
    view: str
    buffer: Index | None
    is_store: bool
    in_other_row: bool
    """Is it in another row than that of its nest?"""


def _conflict(one: _TiledAccess, other: _TiledAccess) -> bool:
    """Can two nests access one item, one of them in another row than its own, and one of them storing it?"""
    if one.view != other.view or not (one.is_store or other.is_store) or not (one.in_other_row or other.in_other_row):
        return False
    return one.buffer is None or other.buffer is None or plus(one.buffer, other.buffer) != ONE
