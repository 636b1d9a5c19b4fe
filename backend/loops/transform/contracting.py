"""Contraction: of scratch that a loop fills row by row, and reads a few rows behind, only these rows are kept, in turn.

Legal where all accesses of the scratch stand in the loop and have, along one axis, the loop's index plus a constant, and each
item that is loaded was stored in an earlier iteration, or earlier in the same, by a nest whose loops and branches include it.

Neighbours: `fusing` (brings what makes rows and what reads them into one loop).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ....lang.records import dataclass
from ....typechecker.elements import Kind
from ..affine import Facts, conditions, facts_of
from ..definitions import Definitions
from ..forms import coefficient, minus, substitute
from ..ir import (
    ONE,
    ZERO,
    Apply,
    Call,
    Constant,
    For,
    If,
    Index,
    Load,
    LoopKind,
    Number,
    Program,
    Role,
    Statement,
    Store,
    View,
    index,
    walk,
    within,
)
from .rewriting import Names


def run(program: Program) -> Program:
    """Keep of scratch what is read again."""
    contracting = _Contracting(program)
    called = {box.view for s in walk(program.body) if isinstance(s, Call) for box in s.boxes}
    for view in program.views:
        if view.role is Role.SCRATCH and view.name not in called:
            program = contracting.view(program, view)
    return program


@dataclass(frozen=True, slots=True)
class _Site:
    """An access, the statements around it from the outermost on, each with its arm (of a loop: True), and its place in the blocks
    of these."""

    node: Load | Store
    facts: Facts
    around: tuple[tuple[For | If, bool], ...]
    places: tuple[int, ...]


def _sites(body: tuple[Statement, ...], facts: Facts, around: tuple[tuple[For | If, bool], ...], places: tuple[int, ...]
           ) -> Iterator[_Site]:  # fmt: skip
    for place, statement in enumerate(body):
        here = (*places, place)
        match statement:
            case Load() | Store():
                yield _Site(statement, facts.assuming(statement.mask), around, here)
            case For():
                yield from _sites(statement.body, facts.within(statement), (*around, (statement, True)), here)
            case If(condition, then, otherwise, _):
                yield from _sites(then, facts.assuming(condition), (*around, (statement, True)), here)
                yield from _sites(otherwise, facts.assuming(condition, False), (*around, (statement, False)), here)


class _Contracting:
    def __init__(self, program: Program) -> None:
        self.definitions, self.names = Definitions(program), Names(program)
        self.sites: dict[str, list[_Site]] = {}
        for site in _sites(program.body, facts_of(program, self.definitions), (), ()):
            self.sites.setdefault(site.node.view, []).append(site)

    def view(self, program: Program, view: View) -> Program:
        sites = self.sites.get(view.name, [])
        depth = min((len(site.around) for site in sites), default=0)
        for level in range(depth):
            loop = sites[0].around[level][0]
            if any(site.around[level][0] is not loop for site in sites) or not isinstance(loop, For):
                break
            if loop.kind is LoopKind.VECTOR or loop.step != 1 or (loop.kind is LoopKind.PARALLEL and not view.private):
                continue
            for axis in range(len(sites[0].node.indices)):
                kept = self.rows(loop, level, axis, sites)
                if kept is not None:
                    return self.contracted(program, view.name, loop, axis, *kept)
        return program

    def rows(self, loop: For, level: int, axis: int, sites: list[_Site]) -> tuple[Index, int] | None:
        """The row that an iteration stores, and how many rows are kept."""
        forms = [self.definitions.expand(site.node.indices[axis]) for site in sites]
        inner = within(loop) - {loop.index}
        if any(coefficient(form, loop.index) != 1 or any(name in inner for name, _ in form.terms) for form in forms):
            return None
        stores = [(site, form) for site, form in zip(sites, forms, strict=True) if isinstance(site.node, Store)]
        row = stores[0][1] if stores else forms[0]
        behind = [minus(row, form) for form in forms]
        if not stores or any(distance.terms or distance.constant < 0 for distance in behind):
            return None
        most = max(distance.constant for distance in behind)
        if (most and loop.kind is not LoopKind.SERIAL) or any(form != row for _, form in stores):
            return None
        for site, distance in zip(sites, behind, strict=True):
            if isinstance(site.node, Load) and not any(
                self.is_there(loop, level, site, store, distance.constant) for store, _ in stores
            ):
                return None
        return row, most + 1

    def is_there(self, loop: For, level: int, load: _Site, store: _Site, behind: int) -> bool:
        """Was the item that is loaded stored so many iterations before?"""
        node, around = store.node, store.around[level:]
        loops = [inner for inner, _ in around[1:] if isinstance(inner, For)]
        if node.mask is not None or any(inner.until is not None or inner.step != 1 for inner in loops):
            return False
        if not behind and store.places[level + 1] >= load.places[level + 1]:
            return False
        indices = {inner.index for inner in loops}
        point = {loop.index: index(loop.index, constant=-behind)}
        equal: list[tuple[Index, Index]] = []
        for own, form in zip(map(self.definitions.expand, node.indices), load.node.indices, strict=True):
            moving = [name for name, _ in own.terms if name in indices]
            if len(moving) == 1 and coefficient(own, moving[0]) == 1 and moving[0] not in point:
                point[moving[0]] = minus(form, minus(substitute(own, point), index(moving[0])))
            else:
                equal.append((own, form))
        held = list[Index]()
        for statement, arm in around:
            match statement:
                case For():
                    own = index(statement.index)
                    held += [minus(own, bound) for bound in statement.lower]
                    held += [minus(minus(bound, own), ONE) for bound in statement.upper]
                case If(condition):
                    alternatives = conditions(self.definitions, condition, arm)
                    if len(alternatives) != 1:
                        return False
                    held += alternatives[0]
        held = list(map(self.definitions.expand, held))
        changing = within(loop) - set(point)
        if any(name in changing for form in (*held, *(own for own, _ in equal)) for name, _ in form.terms):
            return False
        distances = [minus(substitute(own, point), form) for own, form in equal]
        wanted = [substitute(form, point) for form in held] + distances + [minus(ZERO, form) for form in distances]
        return all(map(load.facts.proves, wanted))

    # ---------------------------------------------------------------------------------------- rewriting

    def contracted(self, program: Program, name: str, loop: For, axis: int, row: Index, kept: int) -> Program:
        is_local = kept == 1 and loop.lower != tuple(map(index, program.parameters[:1]))  # and that loop is over rows
        slots: dict[Index, Index] = {}
        first: list[Statement] = []

        def slot(form: Index) -> Index:
            form = self.definitions.expand(form)
            if kept == 1:
                return ZERO
            if form not in slots:
                place, size, turn = map(self.names.fresh, ("row", "rows", "slot"))
                first.extend((Number(place, form), Constant(size, Kind.I64, kept)))
                first.append(Apply(turn, Kind.I64, "residue", (size, place), Kind.I64))
                slots[form] = index(turn)
            return slots[form]

        def block(body: tuple[Statement, ...]) -> tuple[Statement, ...]:
            done: list[Statement] = []
            for statement in body:
                match statement:
                    case Load() | Store() if statement.view == name:
                        forms = list(statement.indices)
                        forms[axis] = slot(forms[axis])
                        statement = replace(statement, indices=tuple(forms))
                    case For():
                        inner = block(statement.body)
                        if statement.index == loop.index:
                            inner = (*first, *inner)
                        statement = replace(statement, body=inner)
                    case If():
                        statement = replace(statement, then=block(statement.then), otherwise=block(statement.otherwise))
                    case _:
                        pass
                done.append(statement)
            return tuple(done)

        views = tuple(
            replace(view, shape=(*view.shape[:axis], Index((), kept), *view.shape[axis + 1 :]), local=is_local or view.local)
            if view.name == name
            else view
            for view in program.views
        )
        return replace(program, body=block(program.body), views=views)
