"""Removal of scratch memory: store-to-load forwarding, and storage folding to a few rows.

Forwarding: if all stores to a view of scratch are by *producers* in one block, and all loads come after them, each load is
replaced by the producer's body at the point that wrote the item; with several producers, by that of the last one that wrote it,
selected by comparisons that `index_set_splitting` then removes.

Legal if no store in between may write an item that the producer loaded.  Done if the body is a copy, or if each item is loaded
about once; not if the copy makes items contiguous that are then loaded often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Final, TypeAlias

from ...lang.support.records import cached_property, dataclass, replace
from ...typechecker.elements import Kind
from ..loopir.facts import Definitions, Facts, conditions, facts_of
from ..loopir.ir import (
    ONE,
    ZERO,
    Apply,
    Call,
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
    View,
    ViewRole,
    coefficient,
    defined_in_iteration,
    index,
    loaded_views,
    minus,
    stored_views,
    substitute,
    times,
    walk,
)
from ..loopir.verifier import ViewAccess, are_disjoint, may_fail
from .rewriting import FreshNames, copied

# ---------------------------------------------------------------------------------------------------- producers
#
# The parts of store-to-load forwarding: producers of items, and the item computed at a load.
#
# A *producer* is a nest of loops whose only effect is to store one item of a view at each point, all at distinct indices: each
# index of the store is an index of the nest plus an invariant, or an invariant.

Segment: TypeAlias = tuple[Statement, ...]


class BodyPart:
    """The replacement of a statement of a block so far, the facts before it, and the views that it loads and stores."""

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
    """A producer: its position in its block, the `loops` around its `store`, and the scalars before that."""

    position: int
    loops: tuple[For, ...]
    scalars: tuple[Statement, ...]
    store: Store

    @property
    def indices(self) -> set[str]:
        return {loop.index for loop in self.loops}


@dataclass(frozen=True, slots=True)
class LoadSite:
    """A load after its producers: the position of its statement in their block, and the loops around it in that statement."""

    position: int
    access: ViewAccess
    loops: tuple[For, ...]


def producer_of(position: int, statement: Statement) -> Producer | None:
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
                return Producer(position, tuple(loops), tuple(scalars), statement)
            case _:
                return None


def _is_scalar(statement: Statement) -> bool:
    if isinstance(statement, Apply):
        return not may_fail(statement)
    return isinstance(statement, ConstantStatement | IndexStatement | Load)


def sites_of(parts: list[BodyPart], first: int, name: str, sources: set[str]) -> Iterator[LoadSite]:
    """The loads of the view, and the stores to its producers' sources, from position `first` on, in order."""
    for position in range(first, len(parts)):
        part = parts[position]
        if name in part.loaded or not part.stored.isdisjoint(sources):
            for site in _sites_in(position, part.segment, part.facts, ()):
                node = site.access.node
                if node.view == name if isinstance(node, Load) else node.view in sources:
                    yield site


def _sites_in(position: int, body: tuple[Statement, ...], facts: Facts, loops: tuple[For, ...]) -> Iterator[LoadSite]:
    for statement in body:
        match statement:
            case Load() | Store():
                yield LoadSite(position, ViewAccess(statement, facts.assuming(statement.mask)), loops)
            case Fail():
                facts = facts.assuming(statement.condition, False)
            case For():
                yield from _sites_in(position, statement.body, facts.in_iteration(statement), (*loops, statement))
            case If(condition, then, otherwise, _):
                yield from _sites_in(position, then, facts.assuming(condition), loops)
                yield from _sites_in(position, otherwise, facts.assuming(condition, False), loops)


class ForwardedItem:
    """Computes the item of a load from its producers: `statements` define the register `value`."""

    def __init__(
        self, definitions: Definitions, names: FreshNames, views: Mapping[str, View], site: LoadSite, sites: list[LoadSite]
    ) -> None:
        self.definitions, self.names, self.views = definitions, names, views
        self.site, self.sites = site, sites
        self.statements: list[Statement] = []
        self.value = ""
        self.is_loaded = True
        """Is the value a masked load, which is 0 where the mask is false?"""

    def close(self) -> None:
        """Replaces the value by 0 where the load's mask is false."""
        mask, kind = self.site.access.node.mask, self.views[self.site.access.node.view].kind
        if mask is not None and not self.is_loaded:
            zero = self.names.fresh("zero")
            self.statements.append(ConstantStatement(zero, kind, 0))
            self.value = self.apply(kind, "select", mask, self.value, zero, compute=kind)

    def apply(self, kind: Kind, function: str, *args: str, compute: Kind) -> str:
        name = self.names.fresh("item")
        self.statements.append(Apply(name, kind, function, args, compute))
        return name

    def number(self, form: Index) -> str:
        name = self.names.fresh("place")
        self.statements.append(IndexStatement(name, form))
        return name

    def add(self, producer: Producer) -> bool:
        """Takes the value from a producer where it wrote the item; False if that is not legal."""
        access, view = self.site.access, self.views[producer.store.view]
        node = access.node
        point = self.point(producer, node.indices)
        if point is None:
            return False
        self.is_loaded = self.is_loaded and any(isinstance(s, Load) and s.name == producer.store.value for s in producer.scalars)
        conditions = [*point[1]]
        for loop in producer.loops:
            iteration = point[0][loop.index]
            for bounds, sign, least in ((loop.lower, 1, ZERO), (loop.upper, -1, ONE)):
                for bound in bounds:
                    there = self.definitions.expand(bound)
                    # Bounds of inner loops may mention outer ones.
                    inside = substitute(there, point[0])
                    conditions.append(minus(times(minus(iteration, inside), sign), least))
        # the load is in bounds
        facts = access.facts.with_facts(
            bound
            for form, length in zip(node.indices, view.shape, strict=True)
            for bound in (form, minus(minus(length, form), ONE))
        )
        open_conditions = [c for c in conditions if not facts.proves(c)]
        facts = facts.with_facts(open_conditions)
        for load in (s for s in producer.scalars if isinstance(s, Load)):
            items = tuple(substitute(self.definitions.expand(i), point[0]) for i in load.indices)
            if not self.is_unchanged(ViewAccess(Load("", load.view, items), facts), producer):
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

    def point(self, producer: Producer, target: tuple[Index, ...]) -> tuple[dict[str, Index], list[Index]] | None:
        """The point of the nest that writes at the target indices, by loop index, and forms that must be non-negative for that;
        None if it is not affine."""
        indices = producer.indices
        point: dict[str, Index] = {}
        conditions: list[Index] = []
        for stored_index, form in zip(producer.store.indices, map(self.definitions.expand, target), strict=True):
            stored_index = self.definitions.expand(stored_index)
            moving = [(name, c) for name, c in stored_index.terms if name in indices]
            names = [name for name, _ in stored_index.terms if name not in indices]
            if any(name in defined_in_iteration(loop) for loop in producer.loops for name in names):
                return None
            match moving:
                case []:
                    conditions += [minus(form, stored_index), minus(stored_index, form)]
                case [(name, 1)] if name not in point:
                    point[name] = minus(form, minus(stored_index, index(name)))
                case _:
                    return None
        return (point, conditions) if len(point) == len(indices) else None

    def is_unchanged(self, load: ViewAccess, producer: Producer) -> bool:
        """Is the item that the producer loaded still unchanged at the site?  `load`: the same item, loaded at the site."""
        here = self.sites.index(self.site)
        for order, other in enumerate(self.sites):
            node = other.access.node
            if not isinstance(node, Store) or node.view != load.node.view or other.position > self.site.position:
                continue
            if other.position <= producer.position:
                continue
            common = []
            if other.position == self.site.position:
                pairs = zip(other.loops, self.site.loops, strict=False)
                common = [loop for loop, _ in takewhile(lambda pair: pair[0] is pair[1], pairs)]
            for loop in common:
                inner = frozenset(defined_in_iteration(loop))
                independent = loop.kind is not LoopKind.SERIAL
                if not are_disjoint(other.access, load, loop, inner):
                    return False
                if independent and not are_disjoint(load, other.access, loop, inner):
                    return False
            if (other.position < self.site.position or order < here) and not self.is_disjoint(other.access, load):
                return False
        return True

    def is_disjoint(self, store: ViewAccess, load: ViewAccess) -> bool:
        both = store.facts.with_facts(load.facts.assumed)
        pairs = zip(store.node.indices, load.node.indices, strict=True)
        return both.unreachable or any(both.proves_nonzero(minus(*map(self.definitions.expand, pair))) for pair in pairs)


# -------------------------------------------------------------------------------------- store-to-load forwarding

_MOST_PRODUCERS: Final = 3
_MOST_LOADS: Final = 6
"""The most loads of a view that is forwarded."""
_LOADS_OF_ONE_PASS: Final = 2
"""Loads that together load each item about once (sums have one load for the first items and one for the others)."""


def forward_stores(program: LoopProgram) -> LoopProgram:
    """Forwards the stores of scratch views to their loads, in program order."""
    forwarding = _Forwarding(program)
    body = forwarding.block(program.body, facts_of(program, forwarding.definitions))
    return replace(program, body=body) if forwarding.has_forwarded else program


def _replaced(body: Segment, replacements: dict[str, Segment]) -> Segment:
    """A block with loads, by name, replaced by other statements."""
    done: list[Statement] = []
    for statement in body:
        match statement:
            case Load():
                done += replacements.get(statement.name, (statement,))
            case For():
                done.append(replace(statement, body=_replaced(statement.body, replacements)))
            case If(_, then, otherwise, _):
                done.append(replace(statement, then=_replaced(then, replacements), otherwise=_replaced(otherwise, replacements)))
            case _:
                done.append(statement)
    return tuple(done)


class _Forwarding:
    def __init__(self, program: LoopProgram) -> None:
        self.definitions, self.names = Definitions(program), FreshNames(program)
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
        """A block with the views that it produces and uses forwarded, then those of inner blocks."""
        parts: list[BodyPart] = []
        positions_of: dict[str, list[int]] = {}
        for position, statement in enumerate(body):
            parts.append(BodyPart((statement,), facts))
            producer = producer_of(position, statement)
            if producer is not None and self.views[producer.store.view].role is ViewRole.SCRATCH:
                positions_of.setdefault(producer.store.view, []).append(position)
            if isinstance(statement, Fail):
                facts = facts.assuming(statement.condition, False)
        # index vectors first, so that indices computed from them are affine
        for name, positions in sorted(positions_of.items(), key=lambda pair: self.views[pair[0]].kind is not Kind.I64):
            if self.stores[name] == len(positions) <= _MOST_PRODUCERS and 0 < self.loads[name] <= _MOST_LOADS:
                self.view(name, positions, parts)
        return tuple(self.inside(statement, part.facts) for part in parts for statement in part.segment)

    def inside(self, statement: Statement, facts: Facts) -> Statement:
        match statement:
            case For():
                return replace(statement, body=self.block(statement.body, facts.in_iteration(statement)))
            case If(condition, then, otherwise, _):
                arms = self.block(then, facts.assuming(condition)), self.block(otherwise, facts.assuming(condition, False))
                return replace(statement, then=arms[0], otherwise=arms[1])
        return statement

    # -------------------------------------------------------------------------------------------- one view

    def view(self, name: str, positions: list[int], parts: list[BodyPart]) -> None:
        """Replaces all loads of a view and removes its producers, if that is legal and pays."""
        producers: list[Producer] = []
        for position in positions:
            producer = producer_of(position, parts[position].segment[0]) if len(parts[position].segment) == 1 else None
            if producer is None:
                return
            producers.append(producer)
        sources = {load.view for producer in producers for load in producer.scalars if isinstance(load, Load)}
        if sources & self.called:
            return
        sites = list(sites_of(parts, positions[0] + 1, name, sources))
        loads = sum(_loads(part.segment, name) for part in parts if name in part.loaded)
        replacements: dict[str, Segment] = {}
        for site in sites:
            node = site.access.node
            if not isinstance(node, Load) or node.view != name:
                continue
            item = ForwardedItem(self.definitions, self.names, self.views, site, sites)
            if site.position <= positions[-1] or not all(self.pays(p, site, loads) and item.add(p) for p in producers):
                return
            item.close()
            kind = self.views[name].kind
            replacements[node.name] = (*item.statements, Apply(node.name, kind, "convert", (item.value,), kind))
        if len(replacements) < self.loads[name]:
            return
        self.has_forwarded = True
        for segment in replacements.values():
            self.definitions.add(segment)
            self.count(segment, 1)
        for position in {site.position for site in sites if site.access.node.view == name}:
            parts[position] = BodyPart(_replaced(parts[position].segment, replacements), parts[position].facts)
        for position in positions:
            self.count(parts[position].segment, -1)
            parts[position] = BodyPart((), parts[position].facts)
        self.loads[name] = self.stores[name] = 0

    def pays(self, producer: Producer, site: LoadSite, loads: int) -> bool:
        """Is computing the item at each load cheap, or no more frequent than producing it was?"""
        used = {name for form in site.access.node.indices for name, _ in self.definitions.expand(form).terms}
        if loads <= _LOADS_OF_ONE_PASS and all(loop.index in used for loop in site.loops):
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
    """The number of loads of a view; for a branch, the greater number of its arms."""
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


# -------------------------------------------------------------------------------------------- storage contraction
#
# Storage folding (array contraction): of scratch that a loop fills row by row and reads a few rows behind, only these rows are
# stored, in a circular buffer.
#
# Legal if all accesses of the scratch are in the loop and have, along one axis, the loop's index plus a constant as their index,
# and if each loaded item was stored in an earlier iteration, or earlier in the same, by a nest whose loops and branches cover it.

def fold_storage(program: LoopProgram) -> LoopProgram:
    """Folds scratch views to the rows that are still read."""
    contracting = _Contracting(program)
    called = {box.view for s in walk(program.body) if isinstance(s, Call) for box in s.boxes}
    for view in program.views:
        if view.role is ViewRole.SCRATCH and view.name not in called:
            program = contracting.view(program, view)
    return program


@dataclass(frozen=True, slots=True)
class _ScratchSite:
    """An access, the statements around it, outermost first, each with its arm (True for a loop), and its `path`: its position in
    each of their blocks."""

    node: Load | Store
    facts: Facts
    around: tuple[tuple[For | If, bool], ...]
    path: tuple[int, ...]


def _scratch_sites(body: tuple[Statement, ...], facts: Facts, around: tuple[tuple[For | If, bool], ...], places: tuple[int, ...]
           ) -> Iterator[_ScratchSite]:  # fmt: skip
    for position, statement in enumerate(body):
        here = (*places, position)
        match statement:
            case Load() | Store():
                yield _ScratchSite(statement, facts.assuming(statement.mask), around, here)
            case For():
                yield from _scratch_sites(statement.body, facts.in_iteration(statement), (*around, (statement, True)), here)
            case If(condition, then, otherwise, _):
                yield from _scratch_sites(then, facts.assuming(condition), (*around, (statement, True)), here)
                yield from _scratch_sites(otherwise, facts.assuming(condition, False), (*around, (statement, False)), here)


class _Contracting:
    def __init__(self, program: LoopProgram) -> None:
        self.definitions, self.names = Definitions(program), FreshNames(program)
        self.sites: dict[str, list[_ScratchSite]] = {}
        for site in _scratch_sites(program.body, facts_of(program, self.definitions), (), ()):
            self.sites.setdefault(site.node.view, []).append(site)

    def view(self, program: LoopProgram, view: View) -> LoopProgram:
        sites = self.sites.get(view.name, [])
        depth = min((len(site.around) for site in sites), default=0)
        for level in range(depth):
            loop = sites[0].around[level][0]
            if any(site.around[level][0] is not loop for site in sites) or not isinstance(loop, For):
                break
            if loop.kind is LoopKind.VECTOR or loop.step != 1 or (loop.kind is LoopKind.PARALLEL and not view.private):
                continue
            for axis in range(len(sites[0].node.indices)):
                rows = self.rows(loop, level, axis, sites)
                if rows is not None:
                    return self.contracted(program, view.name, loop, axis, *rows)
        return program

    def rows(self, loop: For, level: int, axis: int, sites: list[_ScratchSite]) -> tuple[Index, int] | None:
        """The index of the row that an iteration stores, and the number of rows that are live; None if folding is not legal."""
        forms = [self.definitions.expand(site.node.indices[axis]) for site in sites]
        inner = defined_in_iteration(loop) - {loop.index}
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
                self.was_stored(loop, level, site, store, distance.constant) for store, _ in stores
            ):
                return None
        return row, most + 1

    def was_stored(self, loop: For, level: int, load: _ScratchSite, store: _ScratchSite, behind: int) -> bool:
        """Was the loaded item provably stored `behind` iterations before?"""
        node, around = store.node, store.around[level:]
        loops = [inner for inner, _ in around[1:] if isinstance(inner, For)]
        if node.mask is not None or any(inner.until is not None or inner.step != 1 for inner in loops):
            return False
        if not behind and store.path[level + 1] >= load.path[level + 1]:
            return False
        indices = {inner.index for inner in loops}
        point = {loop.index: index(loop.index, constant=-behind)}
        equal: list[tuple[Index, Index]] = []
        for stored_index, form in zip(map(self.definitions.expand, node.indices), load.node.indices, strict=True):
            moving = [name for name, _ in stored_index.terms if name in indices]
            if len(moving) == 1 and coefficient(stored_index, moving[0]) == 1 and moving[0] not in point:
                point[moving[0]] = minus(form, minus(substitute(stored_index, point), index(moving[0])))
            else:
                equal.append((stored_index, form))
        held = list[Index]()
        for statement, arm in around:
            match statement:
                case For():
                    stored_index = index(statement.index)
                    held += [minus(stored_index, bound) for bound in statement.lower]
                    held += [minus(minus(bound, stored_index), ONE) for bound in statement.upper]
                case If(condition):
                    alternatives = conditions(self.definitions, condition, arm)
                    if len(alternatives) != 1:
                        return False
                    held += alternatives[0]
        held = list(map(self.definitions.expand, held))
        changing = defined_in_iteration(loop) - set(point)
        if any(name in changing for form in (*held, *(stored_index for stored_index, _ in equal)) for name, _ in form.terms):
            return False
        distances = [minus(substitute(stored_index, point), form) for stored_index, form in equal]
        required = [substitute(form, point) for form in held] + distances + [minus(ZERO, form) for form in distances]
        return all(map(load.facts.proves, required))

    # ---------------------------------------------------------------------------------------- rewriting

    def contracted(self, program: LoopProgram, name: str, loop: For, axis: int, row: Index, row_count: int) -> LoopProgram:
        is_local = row_count == 1 and loop.lower != tuple(map(index, program.parameters[:1]))  # and that loop is over rows
        slots: dict[Index, Index] = {}
        first: list[Statement] = []

        def slot(form: Index) -> Index:
            form = self.definitions.expand(form)
            if row_count == 1:
                return ZERO
            if form not in slots:
                row, size, slot_name = map(self.names.fresh, ("row", "rows", "slot"))
                first.extend((IndexStatement(row, form), ConstantStatement(size, Kind.I64, row_count)))
                first.append(Apply(slot_name, Kind.I64, "residue", (size, row), Kind.I64))
                slots[form] = index(slot_name)
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
            replace(view, shape=(*view.shape[:axis], Index((), row_count), *view.shape[axis + 1 :]), local=is_local or view.local)
            if view.name == name
            else view
            for view in program.views
        )
        return replace(program, body=block(program.body), views=views)
