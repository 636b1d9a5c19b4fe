"""Forwarding: scratch that only shows other memory, or cheap values of it, is not made: who loads it computes the item.

Where all stores to a view of scratch are `producers` of one block, and all loads come behind them, a load is replaced by the
producer's body at the point that wrote the item; of several producers the last one that wrote it, chosen by comparisons that
`splitting` then takes apart.

Legal where no store that comes between may touch what the producer loaded.  Done where the body is a copy, or where each item is
loaded about once; not where a copy made items lie side by side that are then loaded often.

Neighbours: `producers` (an item computed), `fusing` (what remains), `dead` (removes the producers).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

from ....typechecker.elements import Kind
from ..affine import Facts, facts_of
from ..definitions import Definitions
from ..ir import (
    Apply,
    Call,
    Fail,
    For,
    If,
    Load,
    Program,
    Role,
    Statement,
    loaded_views,
    stored_views,
    walk,
)
from .producers import Item, Part, Producer, Segment, Site, producer_of, sites_of
from .rewriting import Names

_MOST_PRODUCERS: Final = 3
_MOST_LOADS: Final = 6
"""Loads of a view that is forwarded."""
_ONCE: Final = 2
"""So many loads, each of distinct items, load an item about once (sums load their first items and the others apart)."""


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
        parts: list[Part] = []
        places: dict[str, list[int]] = {}
        for place, statement in enumerate(body):
            parts.append(Part((statement,), facts))
            producer = producer_of(place, statement)
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

    def view(self, name: str, places: list[int], parts: list[Part]) -> None:
        """Replace the loads of a view, if all can be, and take its producers away."""
        producers: list[Producer] = []
        for place in places:
            producer = producer_of(place, parts[place].segment[0]) if len(parts[place].segment) == 1 else None
            if producer is None:
                return
            producers.append(producer)
        sources = {load.view for producer in producers for load in producer.scalars if isinstance(load, Load)}
        if sources & self.called:
            return
        sites = list(sites_of(parts, places[0] + 1, name, sources))
        loads = sum(_loads(part.segment, name) for part in parts if name in part.loaded)
        made: dict[str, Segment] = {}
        for site in sites:
            node = site.access.node
            if not isinstance(node, Load) or node.view != name:
                continue
            item = Item(self.definitions, self.names, self.views, site, sites)
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
            parts[place] = Part(_replaced(parts[place].segment, made), parts[place].facts)
        for place in places:
            self.count(parts[place].segment, -1)
            parts[place] = Part((), parts[place].facts)
        self.loads[name] = self.stores[name] = 0

    def is_worth(self, producer: Producer, site: Site, loads: int) -> bool:
        """Is the item loaded cheaply, or loaded no more often than it was made?"""
        wanted = {name for form in site.access.node.indices for name, _ in self.definitions.expand(form).terms}
        if loads <= _ONCE and all(loop.index in wanted for loop in site.loops):
            return True
        inner = producer.loops[-1].index if producer.loops else None
        changed = {loop.index for loop in producer.loops} | {s.name for s in producer.scalars if isinstance(s, Load | Apply)}
        for load in (s for s in producer.scalars if isinstance(s, Load)):
            ends = [i for i in load.indices if inner is not None and any(t == inner for t, _ in self.definitions.expand(i).terms)]
            lies_along = not ends or (len(ends) == 1 and ends[0] is load.indices[-1] and self.views[load.view].unit)
            if not lies_along or any(t in changed and t not in producer.indices for i in load.indices for t, _ in i.terms):
                return False
        return not any(isinstance(s, Apply) for s in producer.scalars)


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
