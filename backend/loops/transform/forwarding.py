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
from functools import cached_property
from itertools import takewhile
from typing import Final, TypeAlias

from ....lang.records import dataclass
from ....typechecker.elements import Kind
from ..affine import Facts, facts_of
from ..check import Access, apart, may_fail
from ..definitions import Definitions
from ..forms import minus, substitute
from ..ir import (
    ONE,
    ZERO,
    Apply,
    Call,
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
    loaded_views,
    stored_views,
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

Segment: TypeAlias = tuple[Statement, ...]


class _Part:
    """What has become of a statement of a block, what holds before it, and the views that it loads and stores."""

    def __init__(self, segment: Segment, facts: Facts) -> None:
        self.segment, self.facts = segment, facts

    @cached_property
    def loaded(self) -> set[str]:
        return {s.view for s in walk(self.segment) if isinstance(s, Load)}

    @cached_property
    def stored(self) -> set[str]:
        return {s.view for s in walk(self.segment) if isinstance(s, Store)}


def run(program: Program) -> Program:
    """Forward what can be, in the order in which it is made."""
    forwarding = _Forwarding(program)
    body = forwarding.block(program.body, facts_of(program, forwarding.definitions))
    return replace(program, body=body) if forwarding.has_forwarded else program


def _replaced(body: Segment, made: dict[str, Segment]) -> Segment:
    """A block in which loads, by name, are other statements."""
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
    def __init__(self, program: Program) -> None:
        self.definitions, self.names = Definitions(program), Names(program)
        self.views = {view.name: view for view in program.views}
        self.loads: Counter[str] = Counter()
        self.stores: Counter[str] = Counter()
        self.count(program.body, 1)
        self.called = {view for s in walk(program.body) if isinstance(s, Call) for view in stored_views(s)}
        self.has_forwarded = False

    def count(self, body: Segment, sign: int) -> None:
        for statement in walk(body):
            for view in loaded_views(statement):
                self.loads[view] += sign
            for view in stored_views(statement):
                self.stores[view] += sign

    def block(self, body: Segment, facts: Facts) -> Segment:
        """A block in which views that are made and used up there are forwarded, then those of inner blocks."""
        parts: list[_Part] = []
        places: dict[str, list[int]] = {}
        for place, statement in enumerate(body):
            parts.append(_Part((statement,), facts))
            producer = _producer(place, statement)
            if producer is not None and self.views[producer.store.view].role is Role.SCRATCH:
                places.setdefault(producer.store.view, []).append(place)
            if isinstance(statement, Fail):
                facts = facts.assuming(statement.condition, False)
        # Index vectors first: what they read is then judged by what it is.
        for name, own in sorted(places.items(), key=lambda pair: self.views[pair[0]].kind is not Kind.I64):
            if self.stores[name] == len(own) <= _MOST_PRODUCERS and 0 < self.loads[name] <= _MOST_LOADS:
                self.view(name, own, parts)
        return tuple(self.inside(statement, part.facts) for part in parts for statement in part.segment)

    def inside(self, statement: Statement, facts: Facts) -> Statement:
        match statement:
            case For():
                return replace(statement, body=self.block(statement.body, facts.within(statement)))
            case If(condition, then, otherwise, _):
                arms = self.block(then, facts.assuming(condition)), self.block(otherwise, facts.assuming(condition, False))
                return replace(statement, then=arms[0], otherwise=arms[1])
        return statement

    # -------------------------------------------------------------------------------------------- one view

    def view(self, name: str, places: list[int], parts: list[_Part]) -> None:
        """Replace the loads of a view, if all can be, and take its producers away."""
        producers: list[_Producer] = []
        for place in places:
            producer = _producer(place, parts[place].segment[0]) if len(parts[place].segment) == 1 else None
            if producer is None:
                return
            producers.append(producer)
        sources = {load.view for producer in producers for load in producer.scalars if isinstance(load, Load)}
        if sources & self.called:
            return
        sites = list(_sites(parts, places[0] + 1, name, sources))
        loads = sum(_loads(part.segment, name) for part in parts if name in part.loaded)
        made: dict[str, Segment] = {}
        for site in sites:
            node = site.access.node
            if not isinstance(node, Load) or node.view != name:
                continue
            item = _Item(self, site, sites)
            if site.place <= places[-1] or not all(self.is_worth(p, site, loads) and item.add(p) for p in producers):
                return
            item.close()
            kind = self.views[name].kind
            made[node.name] = (*item.statements, Apply(node.name, kind, "convert", (item.value,), kind))
        if len(made) < self.loads[name]:
            return
        self.has_forwarded = True
        for segment in made.values():
            self.definitions.add(segment)
            self.count(segment, 1)
        for place in {site.place for site in sites if site.access.node.view == name}:
            parts[place] = _Part(_replaced(parts[place].segment, made), parts[place].facts)
        for place in places:
            self.count(parts[place].segment, -1)
            parts[place] = _Part((), parts[place].facts)
        self.loads[name] = self.stores[name] = 0

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


def _loads(body: Segment, view: str) -> int:
    """The loads of a view, of the arms of a branch those of one."""
    count = 0
    for statement in body:
        match statement:
            case For():
                count += _loads(statement.body, view)
            case If(_, then, otherwise, _):
                count += max(_loads(then, view), _loads(otherwise, view))
            case _:
                count += list(loaded_views(statement)).count(view)
    return count


def _sites(parts: list[_Part], first: int, name: str, sources: set[str]) -> Iterator[_Site]:
    """The accesses of what stands from `first` on, in their order, where the view is loaded or its sources are stored."""
    for place in range(first, len(parts)):
        part = parts[place]
        if name in part.loaded or not part.stored.isdisjoint(sources):
            for site in _within(place, part.segment, part.facts, ()):
                node = site.access.node
                if node.view == name if isinstance(node, Load) else node.view in sources:
                    yield site


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

    def __init__(self, forwarding: _Forwarding, site: _Site, sites: list[_Site]) -> None:
        self.definitions, self.views, self.names = forwarding.definitions, forwarding.views, forwarding.names
        self.site, self.sites = site, sites
        self.statements: list[Statement] = []
        self.value = ""
        self.is_loaded = True
        """Is the value one that was loaded, 0 where a mask is false?"""

    def close(self) -> None:
        """Where the load is masked, the value is 0."""
        mask, kind = self.site.access.node.mask, self.views[self.site.access.node.view].kind
        if mask is not None and not self.is_loaded:
            zero = self.names.fresh("zero")
            self.statements.append(Constant(zero, kind, 0))
            self.value = self.apply(kind, "select", mask, self.value, zero, compute=kind)

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
        if point is None:
            return False
        self.is_loaded = self.is_loaded and any(isinstance(s, Load) and s.name == producer.store.value for s in producer.scalars)
        conditions = [*point[1]]
        for loop in producer.loops:
            own = point[0][loop.index]
            for bounds, sign, least in ((loop.lower, 1, ZERO), (loop.upper, -1, ONE)):
                for bound in bounds:
                    there = self.definitions.expand(bound)
                    # Bounds of inner loops may mention outer ones.
                    inside = substitute(there, point[0])
                    conditions.append(minus(times(minus(own, inside), sign), least))
        # A load that is done is in its view.
        facts = access.facts.also(
            bound
            for form, length in zip(node.indices, view.shape, strict=True)
            for bound in (form, minus(minus(length, form), ONE))
        )
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
