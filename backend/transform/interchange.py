"""Loop interchange: moves a serial loop into a nest of independent loops whose points do not depend on one another.

Each point then runs all iterations before the next point does, with its *cells* (the items that carry its state from iteration to
iteration) in registers.

Legal if the nest is the whole body of the loop; if no iteration of a loop of the nest accesses an item that another one stores;
if each point accesses the same items of the stored views in all iterations; and if nothing may exit the program.  Not done where
neighbouring points read different items of other views in each iteration.

Note [Fixed points].  Iterations that do not use the index run in groups of `_CHECK_INTERVAL`, after the remainder.  A group whose
last iteration changes no bit of a lane's cells ends the loop for that lane: all further iterations would change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

from ...lang.support.records import dataclass, field, replace
from ...typechecker.elements import Kind
from ..loopir.facts import Definitions, Facts, facts_of
from ..loopir.ir import (
    ZERO,
    Apply,
    Carried,
    ConstantStatement,
    For,
    If,
    Index,
    IndexStatement,
    Load,
    LoopKind,
    LoopProgram,
    Statement,
    Store,
    defined_in_iteration,
    index,
    loaded_views,
    minus,
    uses,
    walk,
)
from .rewriting import FreshNames, copied, is_independent, may_exit, views_stored_in

_CHECK_INTERVAL: Final = 8
"""Iterations between two tests for a fixed point, a power of two."""


def interchange_loops(program: LoopProgram) -> LoopProgram:
    """Moves serial loops into the nests that they surround."""
    interchanging = _Interchanging(program)
    body = interchanging.block(program.body, facts_of(program, interchanging.definitions))
    return replace(program, body=body) if interchanging.has_moved else program


@dataclass(slots=True)
class _StateCell:
    """An item of a point's state: its view and indices, the registers loaded from it, and the register stored to it."""

    view: str
    indices: tuple[Index, ...]
    loads: list[str] = field(default_factory=list)
    item: str = ""


@dataclass(frozen=True, slots=True)
class _PerfectNest:
    """A perfect nest: its loops, outermost first, and the statements of a point."""

    loops: tuple[For, ...]
    point: tuple[Statement, ...]


class _NotInterchangeable(Exception):
    """Raised where the interchange is not legal."""


class _Interchanging:
    def __init__(self, program: LoopProgram) -> None:
        self.definitions, self.names = Definitions(program), FreshNames(program)
        self.kinds = {view.name: view.kind for view in program.views}
        self.has_moved = False

    def block(self, body: tuple[Statement, ...], facts: Facts) -> tuple[Statement, ...]:
        done: list[Statement] = []
        for statement in body:
            match statement:
                case For():
                    done += self.loop(statement, facts)
                case If(condition, then, otherwise, _):
                    arms = self.block(then, facts.assuming(condition)), self.block(otherwise, facts.assuming(condition, False))
                    done.append(replace(statement, then=arms[0], otherwise=arms[1]))
                case _:
                    done.append(statement)
        return tuple(done)

    def loop(self, loop: For, facts: Facts) -> Sequence[Statement]:
        try:
            nest = self.nest(loop)
            cells, inside = self.cells(nest, loop), facts.in_iteration(loop)  # cheap tests first, then proofs
            for point_loop in nest.loops:
                if not is_independent(point_loop, inside):
                    raise _NotInterchangeable
                inside = inside.in_iteration(point_loop)
            interchanged = self.interchanged(loop, nest, cells)
        except _NotInterchangeable:
            return [replace(loop, body=self.block(loop.body, facts.in_iteration(loop)))]
        self.has_moved = True
        return interchanged

    # ------------------------------------------------------------------------------------------- legality

    def nest(self, around: For) -> _PerfectNest:
        """The perfect nest inside a loop, whose bounds must not change with the loop's iterations."""
        is_plain = around.kind is LoopKind.SERIAL and not around.carried and around.until is None and around.step == 1
        if not is_plain or len(around.lower) + len(around.upper) > 2 or may_exit(around.body):
            raise _NotInterchangeable
        loops: list[For] = []
        scalars: list[Statement] = []
        body = around.body
        while not loops or loops[-1].kind is not LoopKind.VECTOR:
            loop = body[-1] if body else None
            if not isinstance(loop, For):
                raise _NotInterchangeable
            if not all(isinstance(s, ConstantStatement | IndexStatement | Load | Apply) for s in body[:-1]):
                raise _NotInterchangeable
            if loop.carried or loop.until is not None:
                raise _NotInterchangeable
            loops.append(replace(loop, lower=self.expanded(loop.lower), upper=self.expanded(loop.upper)))
            scalars += body[:-1]
            body = loop.body
        changing = defined_in_iteration(around) - {loop.index for loop in loops}
        if any(name in changing for loop in loops for form in (*loop.lower, *loop.upper) for name, _ in form.terms):
            raise _NotInterchangeable
        return _PerfectNest(tuple(loops), (*scalars, *body))

    def expanded(self, forms: Sequence[Index]) -> tuple[Index, ...]:
        return tuple(map(self.definitions.expand, forms))

    def cells(self, nest: _PerfectNest, around: For) -> list[_StateCell]:
        """The cells of a point."""
        stored, points = views_stored_in(nest.point), {loop.index for loop in nest.loops}
        changing = defined_in_iteration(around) - points
        cells: dict[tuple[str, tuple[Index, ...]], _StateCell] = {}
        for statement in nest.point:
            if not isinstance(statement, Load | Store):
                touched = {view for s in walk((statement,)) for view in loaded_views(s)} | views_stored_in((statement,))
                if not stored.isdisjoint(touched):
                    raise _NotInterchangeable
                continue
            indices = self.expanded(statement.indices)
            names = {name for form in indices for name, _ in form.terms}
            if statement.view not in stored:
                if not names.isdisjoint(changing) and not names.isdisjoint(points):
                    raise _NotInterchangeable  # contiguous along points but scattered along iterations
                continue
            cell = cells.setdefault((statement.view, indices), _StateCell(statement.view, indices))
            if statement.mask is not None or cell.item or not names.isdisjoint(changing):
                raise _NotInterchangeable
            if isinstance(statement, Load):
                cell.loads.append(statement.name)
            elif statement.join is None:
                cell.item = statement.value
        ordered = list(cells.values())
        pairs = [(one.indices, other.indices) for one, other in combinations(ordered, 2) if one.view == other.view]
        if not ordered or not all(cell.item for cell in ordered) or not all(any(map(_are_distinct, *pair)) for pair in pairs):
            raise _NotInterchangeable
        return ordered

    # -------------------------------------------------------------------------------------------- writing

    def interchanged(self, around: For, nest: _PerfectNest, cells: Sequence[_StateCell]) -> Sequence[Statement]:
        """The nest with the loop inside."""
        before: list[Statement] = []
        items = [self.names.fresh("item") for _ in cells]
        point: list[Statement] = [Load(item, cell.view, cell.indices) for item, cell in zip(items, cells, strict=True)]
        if any(name == around.index for s in walk(nest.point) for name in uses(s)):
            last = self.iterations(around, nest, cells, around.lower, around.upper, items)
        else:
            count, none, trips, few, shift, rest, groups = map(
                self.names.fresh, ("count", "none", "trips", "few", "shift", "rest", "stretches")
            )
            before += [
                IndexStatement(count, minus(around.upper[0], around.lower[0])), IndexStatement(none, ZERO),
                Apply(trips, Kind.I64, "max", (count, none), Kind.I64),
                ConstantStatement(few, Kind.I64, _CHECK_INTERVAL - 1), Apply(rest, Kind.I64, "band", (trips, few), Kind.I64),
                ConstantStatement(shift, Kind.I64, _CHECK_INTERVAL.bit_length() - 1),
                Apply(groups, Kind.I64, "shr", (shift, trips), Kind.I64),
            ]  # fmt: skip
            point.append(short := self.iterations(around, nest, cells, (ZERO,), (index(rest),), items))
            last = self.iterations_with_early_exit(around, nest, cells, index(groups), [c.result for c in short.carried])
        point.append(last)
        point += [Store(cell.view, cell.indices, c.result) for cell, c in zip(cells, last.carried, strict=True)]
        body = tuple(point)
        for loop in reversed(nest.loops):
            body = (replace(loop, body=body),)
        return [*before, *body]

    def iterations(
        self, around: For, nest: _PerfectNest, cells: Sequence[_StateCell], lower: tuple[Index, ...], upper: tuple[Index, ...],
        initial: Sequence[str],
    ) -> For:  # fmt: skip
        """The loop over iterations of a point whose cells initially have these registers."""
        index_here = self.names.fresh(around.index)
        inside = [self.names.fresh("item") for _ in cells]
        known = {around.index: index_here}
        known |= {name: register for cell, register in zip(cells, inside, strict=True) for name in cell.loads}
        state_views = {cell.view for cell in cells}
        body, known = copied(
            tuple(s for s in nest.point if not (isinstance(s, Load | Store) and s.view in state_views)), self.names, known
        )
        carried = tuple(
            Carried(register, self.kinds[cell.view], first, known.get(cell.item, cell.item), self.names.fresh("item"))
            for cell, register, first in zip(cells, inside, initial, strict=True)
        )
        return For(index_here, lower, upper, LoopKind.SERIAL, body, carried)

    def iterations_with_early_exit(self, around: For, nest: _PerfectNest, cells: Sequence[_StateCell], count: Index,
        initial: Sequence[str]) -> For:
        """The loop over groups of iterations, which ends at a fixed point; see Note [Fixed points]."""
        current = [self.names.fresh("item") for _ in cells]
        inner = self.iterations(around, nest, cells, (ZERO,), (Index((), _CHECK_INTERVAL),), current)
        earlier = tuple(
            Carried(self.names.fresh("earlier"), c.kind, c.initial, c.inside, self.names.fresh("earlier")) for c in inner.carried
        )
        body: list[Statement] = [replace(inner, carried=(*inner.carried, *earlier))]
        unchanged = ""
        for c, before in zip(inner.carried, earlier, strict=True):
            same = self.names.fresh("same")
            body.append(Apply(same, Kind.BOOL, "same", (c.result, before.result), c.kind))
            if unchanged:
                both = self.names.fresh("same")
                body.append(Apply(both, Kind.BOOL, "and", (unchanged, same), Kind.BOOL))
                same = both
            unchanged = same
        carried = tuple(
            Carried(register, c.kind, first, c.result, self.names.fresh("item"))
            for register, c, first in zip(current, inner.carried, initial, strict=True)
        )
        return For(self.names.fresh("stretch"), (ZERO,), (count,), LoopKind.SERIAL, tuple(body), carried, unchanged)


def _are_distinct(one: Index, other: Index) -> bool:
    distance = minus(one, other)
    return not distance.terms and distance.constant != 0
