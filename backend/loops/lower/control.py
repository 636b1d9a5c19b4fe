"""Blocks of phases, and the phases that hold blocks: loops, branches, maps and folds inside a region.

Note [In place].  The new value of a component of the state may be written over the old one where nothing reads the old one
later, and where whoever writes it reads each old item before that item is written: an update of some items, a map that reads the
old value at its own point only, an inner loop or branch of which the same holds.  Otherwise the component has two buffers, and
turns say which is now.

Neighbours: `structured`, `library`, `region` (the outermost loop).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from ....typechecker.elements import Kind
from ....typechecker.sizes import Size, number
from ...graph import traverse
from ...graph.phases import AxisKind, Branch, Constant, Fold, LibraryPhase, Loop, Map, Phase, Structured, SubGraph, ValueId
from ...kernels.build import bits_of
from ..builder import OpenLoop, at
from ..ir import ZERO, Fail, Index, LoopKind, Statement, plus, times
from .library import LAZY, lower_library, writes_over
from .structured import copy, lower_structured
from .values import Check, Data, Place, Scope, Unsupported, Where

ONE = Index((), 1)


# -------------------------------------------------------------------------------------------- in place


def in_place(block: SubGraph, old: ValueId, new: ValueId) -> tuple[ValueId, ...] | None:
    """The values on the way from `old` to the result `new` of a block that may all have its place; see Note [In place]."""
    makers = {value: (at_, phase) for at_, phase in enumerate(block.phases) for value in traverse.results(phase)}
    chain: list[ValueId] = []
    moved = {p.results[0] for p in block.phases if isinstance(p, LibraryPhase) and p.op in LAZY and old in p.args}
    value = new
    while value != old:
        if value not in makers or value in chain:
            return None
        chain.append(value)
        position, phase = makers[value]
        source = _written_over(phase, value, old, moved)
        if source is None:
            return None
        later = [v for following in block.phases[position + 1 :] for v in traverse.uses(following)]
        if source in later or (source in block.results and source != new):
            return None
        value = source
    return tuple(chain)


def _written_over(phase: Phase, value: ValueId, old: ValueId, moved: set[ValueId]) -> ValueId | None:
    """The operand over which a phase may write `value`; not where it reads what has only been moved, which needs no copy then."""
    match phase:
        case LibraryPhase():
            source = writes_over(phase)
            return None if source is None or source in phase.args[1:] else source
        case Structured():
            if any(axis.kind is AxisKind.REDUCE for axis in phase.axes) or len(phase.results) > 1:
                return None
            if moved & set(traverse.operands(phase)):
                return None
            reads = [read for read in phase.reads if read.value == old]
            return old if reads and all(not read.projection.stages for read in reads) else None
        case Loop():
            place = phase.results.index(value)
            source = phase.initial[place]
            inside = [v for graph in traverse.subgraphs(phase) for v in _free(graph)]
            return None if phase.keep or source in inside or phase.initial.count(source) > 1 else source
        case Branch():
            place = phase.results.index(value)
            for arm in (phase.then, phase.otherwise):
                if in_place(arm, old, arm.results[place]) is None:
                    return None
            return old
        case _:
            return None


def _free(graph: SubGraph) -> Iterable[ValueId]:
    for phase in graph.phases:
        yield from traverse.uses(phase)
    yield from graph.results


def aliased(block: SubGraph, overwritten: AbstractSet[ValueId]) -> set[ValueId]:
    """Results of gathers by one index, rotations and joins that may show their operands, not overwritten before that."""
    writers: dict[ValueId, int] = {}
    last: dict[ValueId, int] = {}
    for position, phase in enumerate(block.phases):
        for value in traverse.uses(phase):
            last[value] = position
        if any(result in overwritten for result in traverse.results(phase)):
            for value in traverse.uses(phase):
                writers.setdefault(value, position)
    last.update(dict.fromkeys(block.results, len(block.phases)))
    nested = set(block.results) | {v for phase in block.phases if not isinstance(phase, Structured) for v in traverse.uses(phase)}
    written: dict[ValueId, int] = {}
    for phase in block.phases:
        if isinstance(phase, LibraryPhase) and phase.op in ("gather", *LAZY):
            (result,) = phase.results
            args = phase.args[:1] if phase.op != "join" else phase.args
            first = min(min(written.get(arg, _NEVER), writers.get(arg, _NEVER)) for arg in args)
            if phase.op in LAZY and result in nested:
                continue
            if result not in block.results and result not in overwritten and last.get(result, 0) < first:
                written[result] = first
    return set(written)


_NEVER: Final = 1 << 60


# --------------------------------------------------------------------------------------------- blocks


def lower_block(scope: Scope, block: SubGraph, overwritten: AbstractSet[ValueId] = frozenset()) -> list[Where]:
    """Every phase in order; where the results lie (where `scope.destinations` wants them)."""
    scope.aliases |= aliased(block, overwritten)
    wanted = [scope.destinations.get(result) for result in block.results]
    for phase in block.phases:
        lower_phase(scope, phase)
    places: list[Where] = []
    for result, place in zip(block.results, wanted, strict=True):
        if place is None:
            places.append(scope.where(result))
            continue
        scope.destinations.pop(result, None)
        source = scope.where(result)
        if isinstance(source, str):
            places.append(source)
            continue
        copy(scope, scope.kind(result), scope.shape(result), source, place)
        places.append(place)
    return places


def lower_phase(scope: Scope, phase: Phase) -> None:
    match phase:
        case Structured():
            lower_structured(scope, phase)
        case LibraryPhase():
            lower_library(scope, phase)
        case Constant():
            _constant(scope, phase)
        case Loop():
            _inner_loop(scope, phase)
        case Branch():
            _branch(scope, phase)
        case Map():
            _map(scope, phase)
        case Fold():
            _fold(scope, phase)
        case _:
            raise Unsupported(f"{type(phase).__name__.lower()} inside a loop")


def _constant(scope: Scope, phase: Constant) -> None:
    kind, shape = scope.kind(phase.result), scope.shape(phase.result)
    if shape:
        scope.values[phase.result] = Place(scope.given(kind, shape, Data(phase)))
    else:
        scope.values[phase.result] = scope.b.constant(kind, bits_of(kind, phase.data[0]))


# ------------------------------------------------------------------------------------------------ state


@dataclass(frozen=True, slots=True)
class Component:
    """One value of a loop's state: a register (of rank 0), or at `old`, the new one at `new`.

    `chain`: values that have one place, where the two are the same; see `in_place`."""

    kind: Kind
    shape: tuple[Size, ...]
    old: Place | None
    new: Place | None
    chain: tuple[ValueId, ...] = ()


def turned(view: str, turn: str) -> tuple[Place, Place]:
    """Both buffers of a view, the one that is now first."""
    return Place(view, (at(turn),)), Place(view, (plus(ONE, times(at(turn), -1)),))


def step_state(scope: Scope, body: SubGraph, until: SubGraph | None, components: Sequence[Component], registers: Sequence[str],
               loop: OpenLoop) -> list[str]:  # fmt: skip
    """One iteration: the new registers of the components of rank 0; sets `loop.until`."""
    overwritten: set[ValueId] = set()
    old = iter(registers)
    for param, result, component in zip(body.params, body.results, components, strict=True):
        if component.new is not None:
            for value in component.chain or (result,):
                scope.destinations.setdefault(value, component.new)
            overwritten.update(component.chain)
        scope.values[param] = component.old if component.shape and component.old is not None else next(old)
    places = lower_block(scope, body, overwritten)
    following: list[str] = []
    for component, where in zip(components, places, strict=True):
        if component.shape:
            assert component.new is not None
            copy(scope, component.kind, component.shape, where, component.new)
        else:
            following.append(where if isinstance(where, str) else scope.b.load(where.view, where.at(())))
    if until is not None:
        count = len(components)
        new, old = iter(following), iter(registers)
        for params, own, registered in ((until.params[:count], "new", new), (until.params[count : 2 * count], "old", old)):
            for param, component in zip(params, components, strict=True):
                place = component.new if own == "new" else component.old
                scope.values[param] = place if component.shape and place is not None else next(registered)
        (stop,) = lower_block(scope, until)
        assert isinstance(stop, str)
        loop.until = stop
    return following


def running(scope: Scope, body: SubGraph, targets: Sequence[Place], bounds: tuple[Index, Index], ahead: Index,
            begin: Callable[[str], None]) -> None:  # fmt: skip
    """Iteration i makes item i + 1 - `ahead` of each target from the one before it."""
    b, (lower, upper) = scope.b, bounds
    shapes = [scope.shape(param) for param in body.params]
    before = plus(lower, times(ahead, -1))
    firsts = [target.cell(0, before) for target in targets]
    carried: list[tuple[Kind, str, str | None]] = [
        (scope.kind(param), b.load(first.view, first.at(())), None)
        for param, first, shape in zip(body.params, firsts, shapes, strict=True) if not shape
    ]  # fmt: skip
    with b.loop(LoopKind.SERIAL, (lower,), (upper,), carried) as loop:
        here = plus(at(loop.index), times(ahead, -1))
        components = [
            Component(scope.kind(param), shape, target.cell(0, here), target.cell(0, plus(here, ONE)))
            for param, target, shape in zip(body.params, targets, shapes, strict=True)
        ]
        begin(loop.index)
        following = step_state(scope, body, None, components, loop.inside, loop)
        for register, component in zip(following, [c for c in components if not c.shape], strict=True):
            assert component.new is not None
            b.store(component.new.view, component.new.at(()), register)
        loop.yields = tuple(following)


def chains_of(body: SubGraph, until: SubGraph | None) -> list[tuple[ValueId, ...] | None]:
    """For each component how it may stay in place."""
    chains: list[tuple[ValueId, ...] | None] = []
    for place, (old, new) in enumerate(zip(body.params, body.results, strict=True)):
        chain = in_place(body, old, new)
        seen = until is not None and until.params[len(body.params) + place] in set(_free(until))
        chains.append(None if seen or body.results.count(new) > 1 else chain)
    return chains


def state_of(phase: Loop) -> SubGraph:
    """A loop's body as a block over its state; cells are known in it."""
    return SubGraph(phase.state, phase.body.phases, phase.body.results)


def enter(scope: Scope, phase: Loop, index: str, cells: Sequence[Where]) -> None:
    """What an iteration knows beside the state: its number, and its cells."""
    if phase.index is not None:
        if phase.index in scope.waits_for:
            raise Unsupported("a guard that is checked in every iteration")
        scope.sizes[phase.index] = index
    for param, cell in zip(phase.body.params, cells, strict=False):
        cell_of(scope, param, cell, [at(index)])


# ---------------------------------------------------------------------------------- loops inside loops


def _inner_loop(scope: Scope, phase: Loop) -> None:
    body = state_of(phase)
    if phase.keep:
        _inner_keep(scope, phase)
        return
    cells = [scope.where(value) for value in phase.cells]
    firsts = [scope.where(initial) for initial in phase.initial]
    bounds = (ZERO, scope.index_of(phase.trip))
    _repeat(scope, body, phase.until, bounds, firsts, phase.results, lambda index: enter(scope, phase, index, cells))


def _repeat(scope: Scope, body: SubGraph, until: SubGraph | None, bounds: tuple[Index, Index], firsts: Sequence[Where],
            results: Sequence[ValueId], begin: Callable[[str], None]) -> None:  # fmt: skip
    """A loop inside a region: the state in registers, in place, or in two buffers."""
    b = scope.b
    rows = list(zip(firsts, results, chains_of(body, until), strict=True))
    views: list[Place | None] = []
    for first, result, chain in rows:
        kind, shape = scope.kind(result), scope.shape(result)
        if not shape:
            views.append(None)
            continue
        place = scope.place_for(result) if chain is not None else _doubled(scope, kind, shape)
        copy(scope, kind, shape, first, place if chain is not None else place.cell(0, ZERO))
        views.append(place)
    doubled = any(place is not None and chain is None for place, (_, _, chain) in zip(views, rows, strict=True))
    scalars = [(first, result) for first, result, _ in rows if not scope.shape(result)]
    carried: list[tuple[Kind, str, str | None]] = [
        (scope.kind(r), f if isinstance(f, str) else b.load(f.view, f.at(())), None) for f, r in scalars
    ]
    if doubled:
        carried.append((Kind.I64, b.constant(Kind.I64, 0), None))

    def component(place: Place | None, result: ValueId, chain: tuple[ValueId, ...] | None, turn: str) -> Component:
        old = new = place
        if place is not None and chain is None:
            old, new = turned(place.view, turn)
        return Component(scope.kind(result), scope.shape(result), old, new, chain or ())

    with b.loop(LoopKind.SERIAL, bounds[:1], bounds[1:], carried) as loop:
        turn = loop.inside[-1] if doubled else ""
        components = [component(place, result, chain, turn) for place, (_, result, chain) in zip(views, rows, strict=True)]
        begin(loop.index)
        following = step_state(scope, body, until, components, loop.inside[: len(scalars)], loop)
        loop.yields = (*following, *([b.number(plus(ONE, times(at(turn), -1)))] if doubled else []))
    last = iter(loop.results)
    for buffer, (_, result, chain) in zip(views, rows, strict=True):
        if buffer is None:
            scope.keep(result, next(last))
            continue
        where = buffer if chain is not None else buffer.cell(0, at(loop.results[-1]))
        if result in scope.destinations:
            wanted = scope.place_for(result)
            copy(scope, scope.kind(result), scope.shape(result), where, wanted)
            where = wanted
        scope.values[result] = where


def _doubled(scope: Scope, kind: Kind, shape: tuple[Size, ...]) -> Place:
    return scope.room(kind, (number(2), *shape))


def _branch(scope: Scope, phase: Branch) -> None:
    if phase.defines:
        raise Unsupported("a branch that finds a size")
    b = scope.b
    condition = scope.load(phase.condition, ())
    targets = [scope.place_for(r) if scope.shape(r) else None for r in phase.results]
    arms: list[tuple[list[Statement], list[str]]] = []
    known = dict(scope.values)
    for arm in (phase.then, phase.otherwise):
        scope.values = dict(known)
        with b.block() as statements:
            overwritten: set[ValueId] = set()
            for result, target, place in zip(arm.results, targets, range(len(targets)), strict=True):
                if target is None:
                    continue
                source = next((v for v, w in known.items() if w == target), None)
                chain = None if source is None else in_place(arm, source, arm.results[place])
                for value in chain or ():
                    scope.destinations[value] = target
                    overwritten.add(value)
                if chain is None and result in {v for p in arm.phases for v in traverse.results(p)}:
                    scope.destinations.setdefault(result, target)
            made = lower_block(scope, arm, overwritten)
            registers: list[str] = []
            for result, where, target in zip(arm.results, made, targets, strict=True):
                if target is None:
                    registers.append(where if isinstance(where, str) else b.load(where.view, where.at(())))
                else:
                    copy(scope, scope.kind(result), scope.shape(result), where, target)
        arms.append((list(statements), registers))
    outside = _outside(phase)
    outer = {value: where for value, where in scope.values.items() if value in outside}
    scope.values = known | outer
    scalars = [scope.kind(r) for r, target in zip(phase.results, targets, strict=True) if target is None]
    chosen = iter(b.choose(condition, arms[0][0], arms[1][0], list(zip(scalars, arms[0][1], arms[1][1], strict=True))))
    for result, target in zip(phase.results, targets, strict=True):
        if target is None:
            scope.keep(result, next(chosen))
        else:
            scope.values[result] = target


def _outside(phase: Branch) -> set[ValueId]:
    """Values that the arms read and do not make."""
    made = {v for arm in (phase.then, phase.otherwise) for p in traverse.all_phases(arm) for v in traverse.results(p)}
    return {v for v in traverse.uses(phase) if v not in made}


def _map(scope: Scope, phase: Map) -> None:
    """Cell after cell."""
    targets = [scope.place_for(result) for result in phase.results]
    with ExitStack() as loops:
        point = [at(loops.enter_context(scope.b.range(LoopKind.SERIAL, scope.index_of(s))).index) for s in phase.frame]
        map_cell(scope, phase, point, targets)
    for result, target in zip(phase.results, targets, strict=True):
        scope.values[result] = target


def map_cell(scope: Scope, phase: Map, point: Sequence[Index], targets: Sequence[Place]) -> None:
    """One cell of a map."""
    for param, arg, depth in zip(phase.body.params, phase.args, phase.frames, strict=True):
        cell_of(scope, param, scope.where(arg), point[:depth])
    for result, target in zip(phase.body.results, targets, strict=True):
        cell = _fixed(target, point)
        if scope.shape(result) and result not in scope.destinations:
            scope.destinations[result] = cell
    made = lower_block(scope, phase.body)
    for result, where, target in zip(phase.body.results, made, targets, strict=True):
        cell = _fixed(target, point)
        if not scope.shape(result):
            value = where if isinstance(where, str) else scope.b.load(where.view, where.at(()))
            scope.b.store(cell.view, cell.at(()), value)
        else:
            copy(scope, scope.kind(result), scope.shape(result), where, cell)


def _fixed(place: Place, point: Sequence[Index]) -> Place:
    for index in point:
        place = place.cell(0, index)
    return place


def cell_of(scope: Scope, param: ValueId, where: Where, point: Sequence[Index]) -> None:
    """A param of a body is a cell of a value."""
    if isinstance(where, str):
        scope.values[param] = where
        return
    cell = _fixed(where, point)
    scope.values[param] = cell if scope.shape(param) else scope.b.load(cell.view, cell.at(()))


def _inner_keep(scope: Scope, phase: Loop) -> None:
    """Every state, the first one first."""
    if phase.until is not None:
        raise Unsupported("every state of a loop that may end early")
    targets = [scope.place_for(result) for result in phase.results]
    for initial, target in zip(phase.initial, targets, strict=True):
        copy(scope, scope.kind(initial), scope.shape(initial), scope.where(initial), target.cell(0, ZERO))
    cells = [scope.where(value) for value in phase.cells]
    bounds = (ZERO, scope.index_of(phase.trip))
    running(scope, state_of(phase), targets, bounds, ZERO, lambda index: enter(scope, phase, index, cells))
    scope.values.update(zip(phase.results, targets, strict=True))


def _fold(scope: Scope, phase: Fold) -> None:
    """A fold, right to left, or a scan, left to right."""
    b, count = scope.b, len(phase.args)
    length = scope.index_of(scope.shape(phase.args[0])[0])
    args = [scope.where(arg) for arg in phase.args]
    if phase.scan:
        targets = [scope.place_for(result) for result in phase.results]
        with b.loop(LoopKind.SERIAL, (ZERO,), (length, ONE)):  # the first item, if there is one
            for target, arg, result in zip(targets, args, phase.results, strict=True):
                copy(scope, scope.kind(result), scope.shape(result)[1:], _cell(arg, ZERO), target.cell(0, ZERO))
        body = SubGraph(phase.body.params[:count], phase.body.phases, phase.body.results)

        def begin(index: str) -> None:
            for param, arg in zip(phase.body.params[count:], args, strict=True):
                cell_of(scope, param, arg, [at(index)])

        with b.block() as there:
            running(scope, body, targets, (ONE, length), ONE, begin)
        b.choose(b.compare("lt", ZERO, length), there, ())
        scope.values.update(zip(phase.results, targets, strict=True))
        return
    b.statements.append(Fail(scope.check(Check(phase.span, "empty")), b.compare("lt", length, ONE), ()))
    last = plus(length, Index((), -1))
    body = SubGraph(phase.body.params[count:], phase.body.phases, phase.body.results)
    firsts = [_cell(arg, last) for arg in args]

    def enter_fold(index: str) -> None:
        for param, arg in zip(phase.body.params[:count], args, strict=True):
            cell_of(scope, param, arg, [plus(last, times(at(index), -1))])

    _repeat(scope, body, None, (ONE, length), firsts, phase.results, enter_fold)


def _cell(where: Where, index: Index) -> Place:
    assert isinstance(where, Place)
    return where.cell(0, index)
