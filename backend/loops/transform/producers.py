"""What stores items, and such an item computed where it is loaded: the pieces of `forwarding`.

A *producer* is a nest of loops that does nothing but store one item of a view at each point, at distinct places: each index of
the store is an index of the nest plus what the nest does not change, or is what it does not change.

Neighbours: `forwarding` (which views, and whether it is worth it).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import TypeAlias

from ....lang.properties import cached_property
from ....lang.records import dataclass
from ....typechecker.elements import Kind
from ..affine import Facts
from ..check import Access, apart, may_fail
from ..definitions import Definitions
from ..forms import minus, substitute
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
    Statement,
    Store,
    View,
    index,
    times,
    walk,
    within,
)
from .rewriting import Names, copied

Segment: TypeAlias = tuple[Statement, ...]


class Part:
    """What has become of a statement of a block, what holds before it, and the views that it loads and stores."""

    def __init__(self, segment: Segment, facts: Facts) -> None:
        self.segment, self.facts = segment, facts

    @cached_property
    def loaded(self) -> set[str]:
        return {s.view for s in walk(self.segment) if isinstance(s, Load)}

    @cached_property
    def stored(self) -> set[str]:
        return {s.view for s in walk(self.segment) if isinstance(s, Store)}


@dataclass(frozen=True, slots=True)
class Producer:
    """`place`: of its block; `loops` around `store`, and the scalars before it."""

    place: int
    loops: tuple[For, ...]
    scalars: tuple[Statement, ...]
    store: Store

    @property
    def indices(self) -> set[str]:
        return {loop.index for loop in self.loops}


@dataclass(frozen=True, slots=True)
class Site:
    """An access behind producers: its statement's place in their block, the loops of that statement around it."""

    place: int
    access: Access
    loops: tuple[For, ...]


def producer_of(place: int, statement: Statement) -> Producer | None:
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
            case Store(mask=None, join=None):
                return Producer(place, tuple(loops), tuple(scalars), statement)
            case _:
                return None


def _is_scalar(statement: Statement) -> bool:
    return isinstance(statement, Constant | Number | Load) or (isinstance(statement, Apply) and not may_fail(statement))


def sites_of(parts: list[Part], first: int, name: str, sources: set[str]) -> Iterator[Site]:
    """The accesses of what stands from `first` on, in their order, where the view is loaded or its sources are stored."""
    for place in range(first, len(parts)):
        part = parts[place]
        if name in part.loaded or not part.stored.isdisjoint(sources):
            for site in _within(place, part.segment, part.facts, ()):
                node = site.access.node
                if node.view == name if isinstance(node, Load) else node.view in sources:
                    yield site


def _within(place: int, body: tuple[Statement, ...], facts: Facts, loops: tuple[For, ...]) -> Iterator[Site]:
    for statement in body:
        match statement:
            case Load() | Store():
                yield Site(place, Access(statement, facts.assuming(statement.mask)), loops)
            case Fail():
                facts = facts.assuming(statement.condition, False)
            case For():
                yield from _within(place, statement.body, facts.within(statement), (*loops, statement))
            case If(condition, then, otherwise, _):
                yield from _within(place, then, facts.assuming(condition), loops)
                yield from _within(place, otherwise, facts.assuming(condition, False), loops)


class Item:
    """The item that a load wants, computed: `statements` end with `value`."""

    def __init__(self, definitions: Definitions, names: Names, views: Mapping[str, View], site: Site, sites: list[Site]) -> None:
        self.definitions, self.names, self.views = definitions, names, views
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

    def add(self, producer: Producer) -> bool:
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

    def point(self, producer: Producer, wanted: tuple[Index, ...]) -> tuple[dict[str, Index], list[Index]] | None:
        """The point of the nest that writes at the wanted indices, and what must not be negative for that to be so."""
        indices = producer.indices
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

    def is_unchanged(self, load: Access, producer: Producer) -> bool:
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
