"""Interchange: a serial loop around a nest of independent loops whose points see only themselves goes inside the nest.

Each point then goes through all iterations before the next one does, with its *cells* (the items that iterations hand on) in
registers.

Legal where the nest is all that an iteration does; where no iteration of a loop of the nest touches what another one stores;
where the items that a point touches of what is stored are the same in all iterations; and where nothing may leave the program.
Not done where points that are neighbours read from elsewhere in each iteration.

Note [Standing still].  Iterations that are all alike come in stretches, after the few that fill none.  A stretch whose last
iteration changes no bit of a lane's cells ends the loop for it: all that would follow is the same again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from itertools import combinations
from typing import Final

from ...lang.support.records import dataclass
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
from .rewriting import FreshNames, copied, fails, is_independent, views_stored_in

_STRETCH: Final = 8
"""Iterations between two looks at whether anything changes, a power of two."""


def interchange_loops(program: LoopProgram) -> LoopProgram:
    """Move serial loops inwards."""
    interchanging = _Interchanging(program)
    body = interchanging.block(program.body, facts_of(program, interchanging.definitions))
    return replace(program, body=body) if interchanging.has_moved else program


@dataclass(slots=True)
class _StateCell:
    """An item that each point hands on: where it lies, the registers that are loaded from there, and the one that is stored."""

    view: str
    indices: tuple[Index, ...]
    loads: list[str] = field(default_factory=list)
    item: str = ""


@dataclass(frozen=True, slots=True)
class _PerfectNest:
    """Loops from the outermost on, and what a point does in an iteration."""

    loops: tuple[For, ...]
    point: tuple[Statement, ...]


class _NotInterchangeable(Exception):
    """The loop stays where it is."""


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
            cells, inside = self.cells(nest, loop), facts.in_iteration(loop)  # what is read off first, then what has to be proved
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
        """What is in a loop; the nest's bounds are the same in all iterations."""
        is_plain = around.kind is LoopKind.SERIAL and not around.carried and around.until is None and around.step == 1
        if not is_plain or len(around.lower) + len(around.upper) > 2 or fails(around.body):
            raise _NotInterchangeable
        loops: list[For] = []
        scalars: list[Statement] = []
        body = around.body
        while not loops or loops[-1].kind is not LoopKind.VECTOR:
            loop = body[-1] if body else None
            if not isinstance(loop, For) or not all(isinstance(s, ConstantStatement | IndexStatement | Load
                | Apply) for s in body[:-1]):
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
        """What a point hands on."""
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
                    raise _NotInterchangeable  # neighbouring points read neighbours, but one iteration after the other does not
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
        if not ordered or not all(cell.item for cell in ordered) or not all(any(map(_differ, *pair)) for pair in pairs):
            raise _NotInterchangeable
        return ordered

    # -------------------------------------------------------------------------------------------- writing

    def interchanged(self, around: For, nest: _PerfectNest, cells: Sequence[_StateCell]) -> Sequence[Statement]:
        """The nest, with the loop inside."""
        before: list[Statement] = []
        items = [self.names.fresh("item") for _ in cells]
        point: list[Statement] = [Load(item, cell.view, cell.indices) for item, cell in zip(items, cells, strict=True)]
        if any(name == around.index for s in walk(nest.point) for name in uses(s)):
            last = self.iterations(around, nest, cells, around.lower, around.upper, items)
        else:
            count, none, trips, few, shift, rest, stretches = map(
                self.names.fresh, ("count", "none", "trips", "few", "shift", "rest", "stretches")
            )
            before += [
                IndexStatement(count, minus(around.upper[0], around.lower[0])), IndexStatement(none, ZERO),
                Apply(trips, Kind.I64, "max", (count, none), Kind.I64),
                ConstantStatement(few, Kind.I64, _STRETCH - 1), Apply(rest, Kind.I64, "band", (trips, few), Kind.I64),
                ConstantStatement(shift, Kind.I64, _STRETCH.bit_length() - 1),
                Apply(stretches, Kind.I64, "shr", (shift, trips), Kind.I64),
            ]  # fmt: skip
            point.append(short := self.iterations(around, nest, cells, (ZERO,), (index(rest),), items))
            last = self.stretches(around, nest, cells, index(stretches), [c.result for c in short.carried])
        point.append(last)
        point += [Store(cell.view, cell.indices, c.result) for cell, c in zip(cells, last.carried, strict=True)]
        body = tuple(point)
        for loop in reversed(nest.loops):
            body = (replace(loop, body=body),)
        return [*before, *body]

    def iterations(self, around: For, nest: _PerfectNest, cells: Sequence[_StateCell], lower: tuple[Index, ...],
        upper: tuple[Index, ...],
                   initial: Sequence[str]) -> For:  # fmt: skip
        """Iterations of a point, from these items on."""
        index_here = self.names.fresh(around.index)
        inside = [self.names.fresh("item") for _ in cells]
        known = {around.index: index_here} | {name: register for cell, register in zip(cells, inside,
            strict=True) for name in cell.loads}
        handed = {cell.view for cell in cells}
        body, known = copied(
            tuple(s for s in nest.point if not (isinstance(s, Load | Store) and s.view in handed)), self.names, known
        )
        carried = tuple(
            Carried(register, self.kinds[cell.view], first, known.get(cell.item, cell.item), self.names.fresh("item"))
            for cell, register, first in zip(cells, inside, initial, strict=True)
        )
        return For(index_here, lower, upper, LoopKind.SERIAL, body, carried)

    def stretches(self, around: For, nest: _PerfectNest, cells: Sequence[_StateCell], count: Index,
        initial: Sequence[str]) -> For:
        """See Note [Standing still]."""
        now = [self.names.fresh("item") for _ in cells]
        inner = self.iterations(around, nest, cells, (ZERO,), (Index((), _STRETCH),), now)
        earlier = tuple(
            Carried(self.names.fresh("earlier"), c.kind, c.initial, c.inside, self.names.fresh("earlier")) for c in inner.carried
        )
        body: list[Statement] = [replace(inner, carried=(*inner.carried, *earlier))]
        stands = ""
        for c, before in zip(inner.carried, earlier, strict=True):
            same = self.names.fresh("same")
            body.append(Apply(same, Kind.BOOL, "same", (c.result, before.result), c.kind))
            if stands:
                both = self.names.fresh("same")
                body.append(Apply(both, Kind.BOOL, "and", (stands, same), Kind.BOOL))
                same = both
            stands = same
        carried = tuple(
            Carried(register, c.kind, first, c.result, self.names.fresh("item"))
            for register, c, first in zip(now, inner.carried, initial, strict=True)
        )
        return For(self.names.fresh("stretch"), (ZERO,), (count,), LoopKind.SERIAL, tuple(body), carried, stands)


def _differ(one: Index, other: Index) -> bool:
    distance = minus(one, other)
    return not distance.terms and distance.constant != 0
