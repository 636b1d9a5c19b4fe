"""Forwarding: scratch that only shows other memory, or cheap values of it, is not made: who loads it computes the item.

A *producer* is a nest of loops that does nothing but store one item of a scratch view at each point, at distinct places: each
index of the store is an index of the nest plus what the nest does not change, or is what it does not change.  Where all stores
to a view are producers of one block, and all loads come behind them, a load is replaced by the producer's body at the point that
wrote the item; of several producers the last one that wrote it, chosen by comparisons that `splitting` then takes apart.

Legal where no store that comes between may touch what the producer loaded.  Done where the body is a copy, or where each item is
loaded about once; not where a copy made items lie side by side that are then loaded often.

Neighbours: `fusing` (what remains), `dead` (removes the producers).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from typing import Final, TypeAlias

from ....lang.records import dataclass
from ....typechecker.elements import Kind
from ..affine import Definitions, Facts, facts_of, minus, substitute
from ..check import Access, apart, may_fail
from ..ir import (
    ONE,
    ZERO,
    Apply,
    Constant,
    Fail,
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
    index,
    times,
    walk,
    within,
)
from .rewriting import Names, copied

_MOST_PRODUCERS: Final = 3
_MOST_LOADS: Final = 6
"""Loads of a view that is forwarded."""
_ONCE: Final = 2
"""So many loads, each of distinct items, load an item about once (sums load their first items and the others apart)."""

Replacement: TypeAlias = dict[str, tuple[Statement, ...]]


def run(program: Program) -> Program:
    """Forward what can be, one view after the other."""
    refused: set[str] = set()
    while True:
        forwarding = _Forwarding(program, refused)
        made = forwarding.visit(program.body, facts_of(program, forwarding.definitions))
        if made is None:
            return program
        program = replace(program, body=_replaced(program.body, made))


def _replaced(body: tuple[Statement, ...], made: Replacement) -> tuple[Statement, ...]:
    done: list[Statement] = []
    for statement in body:
        match statement:
            case Load():
                done += made.get(statement.name, (statement,))
            case For():
                done.append(replace(statement, body=_replaced(statement.body, made)))
            case If(_, then, otherwise, _):
                done.append(replace(statement, then=_replaced(then, made), otherwise=_replaced(otherwise, made)))
            case _:
                done.append(statement)
    return tuple(done)


@dataclass(frozen=True, slots=True)
class _Producer:
    """`place`: of its block; `loops` around `store`, and the scalars before it."""

    place: int
    loops: tuple[For, ...]
    scalars: tuple[Statement, ...]
    store: Store


@dataclass(frozen=True, slots=True)
class _Site:
    """An access behind producers: its statement's place in their block, the loops of that statement around it."""

    place: int
    access: Access
    loops: tuple[For, ...]


def _producer(place: int, statement: Statement) -> _Producer | None:
    loops: list[For] = []
    scalars: list[Statement] = []
    while True:
        match statement:
            case For(carried=(), until=None, step=1) if statement.body:
                loops.append(statement)
                *before, statement = statement.body
                if not all(_is_scalar(s) for s in before):
                    return None
                scalars += before
            case Store(mask=None):
                return _Producer(place, tuple(loops), tuple(scalars), statement)
            case _:
                return None


def _is_scalar(statement: Statement) -> bool:
    return isinstance(statement, Constant | Number | Load) or (isinstance(statement, Apply) and not may_fail(statement))


class _Forwarding:
    def __init__(self, program: Program, refused: set[str]) -> None:
        self.program, self.refused = program, refused
        self.definitions = Definitions(program)
        self.views = {view.name: view for view in program.views}
        statements = list(walk(program.body))
        self.loads = Counter(s.view for s in statements if isinstance(s, Load))
        self.stores = Counter(s.view for s in statements if isinstance(s, Store))

    def visit(self, body: tuple[Statement, ...], facts: Facts) -> Replacement | None:
        """What the loads of one view of this block, or of one inside it, become."""
        producers: dict[str, list[_Producer]] = {}
        for place, statement in enumerate(body):
            producer = _producer(place, statement)
            if producer is not None:
                producers.setdefault(producer.store.view, []).append(producer)
        for name, own in producers.items():
            if self.is_candidate(name, own):
                made = self.forward(name, own, body, facts)
                if made is not None:
                    return made
                self.refused.add(name)
        for statement in body:
            inner: list[tuple[tuple[Statement, ...], Facts]] = []
            match statement:
                case Fail():
                    facts = facts.assuming(statement.condition, False)
                case For():
                    inner = [(statement.body, facts.within(statement))]
                case If(condition, then, otherwise, _):
                    inner = [(then, facts.assuming(condition)), (otherwise, facts.assuming(condition, False))]
            for block, there in inner:
                made = self.visit(block, there)
                if made is not None:
                    return made
        return None

    def is_candidate(self, name: str, producers: list[_Producer]) -> bool:
        is_scratch = self.views[name].role is Role.SCRATCH and name not in self.refused
        few = len(producers) <= _MOST_PRODUCERS and 0 < self.loads[name] <= _MOST_LOADS
        return is_scratch and few and self.stores[name] == len(producers)

    # -------------------------------------------------------------------------------------------- one view

    def forward(self, name: str, producers: list[_Producer], body: tuple[Statement, ...], facts: Facts) -> Replacement | None:
        last = producers[-1].place
        sites = list(_sites(body, facts, producers[0].place + 1))
        loads = [site for site in sites if isinstance(site.access.node, Load) and site.access.node.view == name]
        if len(loads) != self.loads[name] or any(site.place <= last for site in loads):
            return None
        if not all(self.is_worth(p, site, len(loads)) for p in producers for site in loads):
            return None
        names = Names(self.program)
        made: Replacement = {}
        for site in loads:
            item = _Item(self, names, site, sites)
            for producer in producers:
                if not item.add(producer):
                    return None
            node = site.access.node
            assert isinstance(node, Load)
            kind = self.views[name].kind
            made[node.name] = (*item.statements, Apply(node.name, kind, "convert", (item.value,), kind))
        return made

    def is_worth(self, producer: _Producer, site: _Site, loads: int) -> bool:
        """Is the item loaded cheaply, or loaded no more often than it was made?"""
        wanted = {name for form in site.access.node.indices for name, _ in self.definitions.expand(form).terms}
        if loads <= _ONCE and all(loop.index in wanted for loop in site.loops):
            return True
        inner = producer.loops[-1].index if producer.loops else None
        changed = {loop.index for loop in producer.loops} | {s.name for s in producer.scalars if isinstance(s, Load | Apply)}
        for load in (s for s in producer.scalars if isinstance(s, Load)):
            ends = [i for i in load.indices if inner is not None and any(t == inner for t, _ in self.definitions.expand(i).terms)]
            lies_along = not ends or (len(ends) == 1 and ends[0] is load.indices[-1] and self.views[load.view].unit)
            if not lies_along or any(t in changed and t not in _indices(producer) for i in load.indices for t, _ in i.terms):
                return False
        return not any(isinstance(s, Apply) for s in producer.scalars)


def _indices(producer: _Producer) -> set[str]:
    return {loop.index for loop in producer.loops}


def _sites(body: tuple[Statement, ...], facts: Facts, first: int) -> Iterator[_Site]:
    """The accesses of the statements from `first` on, in their order."""
    for place, statement in enumerate(body):
        if place >= first:
            yield from _within(place, (statement,), facts, ())
        if isinstance(statement, Fail):
            facts = facts.assuming(statement.condition, False)


def _within(place: int, body: tuple[Statement, ...], facts: Facts, loops: tuple[For, ...]) -> Iterator[_Site]:
    for statement in body:
        match statement:
            case Load() | Store():
                yield _Site(place, Access(statement, facts.assuming(statement.mask)), loops)
            case Fail():
                facts = facts.assuming(statement.condition, False)
            case For():
                yield from _within(place, statement.body, facts.within(statement), (*loops, statement))
            case If(condition, then, otherwise, _):
                yield from _within(place, then, facts.assuming(condition), loops)
                yield from _within(place, otherwise, facts.assuming(condition, False), loops)


class _Item:
    """The item that a load wants, computed: `statements` end with `value`."""

    def __init__(self, forwarding: _Forwarding, names: Names, site: _Site, sites: list[_Site]) -> None:
        self.definitions, self.views = forwarding.definitions, forwarding.views
        self.names, self.site, self.sites = names, site, sites
        self.statements: list[Statement] = []
        self.value = ""

    def apply(self, kind: Kind, function: str, *args: str, compute: Kind) -> str:
        name = self.names.fresh("item")
        self.statements.append(Apply(name, kind, function, args, compute))
        return name

    def number(self, form: Index) -> str:
        name = self.names.fresh("place")
        self.statements.append(Number(name, form))
        return name

    def add(self, producer: _Producer) -> bool:
        """Take the value from a producer where it wrote the item; may it be?"""
        access, view = self.site.access, self.views[producer.store.view]
        node = access.node
        point = self.point(producer, node.indices)
        if point is None or (node.mask is not None and not any(
            isinstance(s, Load) and s.name == producer.store.value for s in producer.scalars)):  # fmt: skip
            return False
        conditions = [*point[1]]
        for loop in producer.loops:
            own = point[0][loop.index]
            for bounds, sign, least in ((loop.lower, 1, ZERO), (loop.upper, -1, ONE)):
                for bound in bounds:
                    there = self.definitions.expand(bound)
                    # Bounds of inner loops may mention outer ones.
                    inside = substitute(there, point[0])
                    conditions.append(minus(times(minus(own, inside), sign), least))
        facts = access.facts
        open_conditions = [c for c in conditions if not facts.proves(c)]
        facts = facts.also(open_conditions)
        for load in (s for s in producer.scalars if isinstance(s, Load)):
            items = tuple(substitute(self.definitions.expand(i), point[0]) for i in load.indices)
            if not self.is_unchanged(Access(Load("", load.view, items), facts), producer):
                return False
        mask = node.mask
        for condition in open_conditions:
            holds = self.apply(Kind.BOOL, "ge", self.number(condition), self.number(ZERO), compute=Kind.I64)
            mask = holds if mask is None else self.apply(Kind.BOOL, "and", mask, holds, compute=Kind.BOOL)
        indices = {loop.index: self.number(point[0][loop.index]) for loop in producer.loops}
        copies, new = copied(producer.scalars, self.names, indices)
        for copy in copies:
            if isinstance(copy, Load) and mask is not None:
                both = mask if copy.mask is None else self.apply(Kind.BOOL, "and", copy.mask, mask, compute=Kind.BOOL)
                copy = replace(copy, mask=both)
            self.statements.append(copy)
        value = new.get(producer.store.value, producer.store.value)
        if value in indices:
            value = indices[value]
        if self.value and open_conditions:
            assert mask is not None
            value = self.apply(view.kind, "select", mask, value, self.value, compute=view.kind)
        self.value = value
        return True

    def point(self, producer: _Producer, wanted: tuple[Index, ...]) -> tuple[dict[str, Index], list[Index]] | None:
        """The point of the nest that writes at the wanted indices, and what must not be negative for that to be so."""
        indices = _indices(producer)
        point: dict[str, Index] = {}
        conditions: list[Index] = []
        for own, form in zip(producer.store.indices, map(self.definitions.expand, wanted), strict=True):
            own = self.definitions.expand(own)
            moving = [(name, c) for name, c in own.terms if name in indices]
            if any(name in within(loop) and name not in indices for loop in producer.loops for name, _ in own.terms):
                return None
            match moving:
                case []:
                    conditions += [minus(form, own), minus(own, form)]
                case [(name, 1)] if name not in point:
                    point[name] = minus(form, minus(own, index(name)))
                case _:
                    return None
        return (point, conditions) if len(point) == len(indices) else None

    def is_unchanged(self, load: Access, producer: _Producer) -> bool:
        """Is the item that the producer loaded still there?  `load`: the same item, loaded at the site."""
        here = self.sites.index(self.site)
        for order, other in enumerate(self.sites):
            node = other.access.node
            if not isinstance(node, Store) or node.view != load.node.view or other.place > self.site.place:
                continue
            if other.place <= producer.place:
                continue
            common = []
            if other.place == self.site.place:
                pairs = zip(other.loops, self.site.loops, strict=False)
                common = [loop for loop, _ in takewhile(lambda pair: pair[0] is pair[1], pairs)]
            for loop in common:
                inner = frozenset(within(loop))
                independent = loop.kind is not LoopKind.SERIAL
                if not apart(other.access, load, loop, inner) or (independent and not apart(load, other.access, loop, inner)):
                    return False
            if (other.place < self.site.place or order < here) and not self.is_elsewhere(other.access, load):
                return False
        return True

    def is_elsewhere(self, store: Access, load: Access) -> bool:
        both = store.facts.also(load.facts.assumed)
        pairs = zip(store.node.indices, load.node.indices, strict=True)
        return both.never or any(both.differs(minus(*map(self.definitions.expand, pair))) for pair in pairs)
