"""Blocks of phases, and the phases that hold blocks: loops, branches, maps and folds, inside a region and as one.

Note [Interrupts].  The caller hears them between ranges of the outermost iterations.  Where one of these is long, because of a
loop in it, they are heard in that loop, too, once in so many points.

Neighbours: `recurrences` (what loops and folds are), `structured`, `library`, `region` (the outermost loop).
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from ....typechecker.core import Payload
from ....typechecker.elements import Kind
from ....typechecker.sizes import number
from ...graph import traverse
from ...graph.phases import Branch, Constant, Fold, LibraryPhase, Loop, Map, Phase, Structured, SubGraph, ValueId
from ...kernels.build import bits_of
from ..builder import at
from ..ir import ONE, ZERO, Fail, Index, LoopKind, Statement, plus, times
from ..iterations import points_inside
from .calls import call_routine, check_guards, found, hear
from .in_place import aliased, in_place, read_outside
from .library import lower_library
from .recurrences import Component, Lies, Recurrence, recurrence_of
from .structured import copy, lower_structured
from .values import Check, Data, Place, Registers, Scope, Unsupported, Where

# --------------------------------------------------------------------------------------------- blocks


def lower_block(scope: Scope, block: SubGraph, overwritten: AbstractSet[ValueId] = frozenset()) -> list[Where]:
    """Every phase in order; where the results lie (where `scope.destinations` wants them)."""
    scope.aliases |= aliased(block, overwritten, scope.shape)
    wanted = [scope.destinations.get(result) for result in block.results]
    for phase in block.phases:
        lower_phase(scope, phase)
    places: list[Where] = []
    for result, place in zip(block.results, wanted, strict=True):
        source = scope.where(result)
        if place is not None:
            scope.destinations.pop(result, None)
            if isinstance(source, Place):
                copy(scope, scope.shape(result), source, place)
                source = place
        places.append(source)
    return places


def lower_phase(scope: Scope, phase: Phase) -> None:
    match phase:
        case Structured() | LibraryPhase():
            _whole(scope, phase)
        case Constant():
            _constant(scope, phase)
        case Loop() | Fold():
            _inner(scope, recurrence_of(scope, phase))
        case Branch():
            _branch(scope, phase)
        case Map():
            _map(scope, phase)
        case _:
            raise Unsupported(f"{type(phase).__name__.lower()} inside a loop")


def _whole(scope: Scope, phase: Structured | LibraryPhase) -> None:
    """As loops, or else as a call of its routine."""
    written, wanted = len(scope.b.statements), dict(scope.destinations)
    try:
        if isinstance(phase, Structured):
            lower_structured(scope, phase)
        else:
            lower_library(scope, phase)
    except Unsupported:
        del scope.b.statements[written:]
        scope.destinations = wanted
        call_routine(scope, phase)


def _constant(scope: Scope, phase: Constant) -> None:
    kind, shape = scope.kind(phase.result), scope.shape(phase.result)
    if shape:
        scope.values[phase.result] = scope.given(kind, shape, Data(phase))
    else:
        literal = phase.data[0]
        parts: tuple[Payload, ...] = (complex(literal).real, complex(literal).imag) if kind.is_complex else (literal,)
        rows = zip(scope.parts(phase.result), parts, strict=True)
        scope.values[phase.result] = tuple(scope.b.constant(part, bits_of(part, value)) for part, value in rows)


# --------------------------------------------------------------------------------------------- loops


@dataclass(frozen=True, slots=True)
class After:
    """Registers after a loop: of each component of rank 0, which buffer is now, and whether the loop has ended early."""

    items: tuple[Registers | None, ...]
    turn: str
    ended: str


def iterate(scope: Scope, loop: Recurrence, components: Sequence[Component], bounds: tuple[Index, Index],
            firsts: Sequence[Registers | None]) -> After:  # fmt: skip
    """The iterations in bounds; `firsts`: the first values of rank 0."""
    b, flip = scope.b, any(c.lies is Lies.TURNS for c in components)
    first = Index((), loop.first)
    carried: list[tuple[Kind, str, str | None]] = []
    for component, item in zip(components, firsts, strict=True):
        carried += [(part, r, None) for part, r in zip(scope.parts(component.param), item, strict=True)] if item else []
    registers = len(carried)
    if flip:
        done, two = plus(bounds[0], times(first, -1)), b.constant(Kind.I64, 2)
        carried.append((Kind.I64, b.apply("residue", (two, b.number(done)), Kind.I64, Kind.I64), None))
    if loop.until is not None:
        carried.append((Kind.BOOL, b.constant(Kind.BOOL, 0), None))

    def items(supply: Sequence[str]) -> list[Registers | None]:
        left = iter(supply)
        return [tuple(next(left) for _ in item) if item is not None else None for item in firsts]

    known = dict(scope.sizes)
    with b.loop(LoopKind.SERIAL, bounds[:1], bounds[1:], carried) as opened:
        turn = at(opened.inside[registers]) if flip else ZERO
        iteration = plus(at(opened.index), times(first, -1))
        buffers = [None if c.place is None else c.buffers(iteration, turn) for c in components]
        old: list[Where] = []
        for item, places in zip(items(opened.inside[:registers]), buffers, strict=True):
            assert item is not None or places is not None
            old.append(item if item is not None else places[0])  # type: ignore[index]
        loop.enter(opened.index)
        new = _step(scope, loop, components, old, [None if places is None else places[1] for places in buffers])
        registered = [where for item, where in zip(firsts, new, strict=True) if item is not None]
        following = [register for where in registered for register in scope.read(where, ())]
        if flip:
            following.append(b.number(plus(ONE, times(turn, -1))))
        if loop.until is not None:
            opened.until = _ends(scope, loop.until, new, old)
            following.append(opened.until)
        opened.yields = tuple(following)
    scope.sizes = known
    last = opened.results
    return After(tuple(items(last[:registers])), last[registers] if flip else "", last[-1] if loop.until is not None else "")


def _step(scope: Scope, loop: Recurrence, components: Sequence[Component], old: Sequence[Where], targets: Sequence[Place | None]
          ) -> list[Where]:  # fmt: skip
    """One iteration's new state."""
    overwritten: set[ValueId] = set()
    for component, result, own, target in zip(components, loop.body.results, old, targets, strict=True):
        scope.values[component.param] = own
        if target is not None and scope.shape(component.param):
            for value in component.chain or (result,):
                scope.destinations.setdefault(value, target)
            overwritten.update(component.chain)
    new: list[Where] = []
    for component, where, target in zip(components, lower_block(scope, loop.body, overwritten), targets, strict=True):
        shape = scope.shape(component.param)
        if shape:
            assert target is not None
            copy(scope, shape, where, target)
            new.append(target)
            continue
        item = scope.read(where, ())
        if target is not None:
            scope.write(target, (), item)
        new.append(item)
    return new


def _ends(scope: Scope, until: SubGraph, new: Sequence[Where], old: Sequence[Where]) -> str:
    """Does the loop end with this state?"""
    scope.values.update(zip(until.params, (*new, *old), strict=True))
    (stop,) = lower_block(scope, until)
    (register,) = scope.read(stop, ())
    return register


# ---------------------------------------------------------------------------------- loops inside loops


def _inner(scope: Scope, loop: Recurrence) -> None:
    """A loop or fold inside a region: the state is copied to where it will lie, and results are left there."""
    b, length, results = scope.b, scope.index_of(loop.length), loop.results
    loop = _hearing(scope, loop)
    bounds = (Index((), loop.first), length)
    if isinstance(loop.phase, Fold) and not loop.keep:
        b.statements.append(Fail(scope.check(Check(loop.phase.span, "empty")), b.compare("lt", length, ONE), ()))
    with b.block() as there:
        components: list[Component] = []
        firsts: list[Registers | None] = []
        for param, result, first, (lies, chain) in zip(loop.body.params, results, loop.initial(), loop.lies(scope), strict=True):
            kind, shape = scope.kind(param), scope.shape(param)
            place: Place | None = None
            if lies is Lies.TURNS:
                place = scope.room(kind, (number(2), *shape))
            elif lies is not Lies.REGISTERS:
                place = scope.place_for(result)
            if place is not None:
                copy(scope, shape, first, place if lies is Lies.IN_PLACE else place.cell(0, ZERO))
            components.append(Component(param, lies, place, chain))
            firsts.append(None if shape else scope.read(first, ()))
        after = iterate(scope, loop, components, bounds, firsts)
    if loop.first and loop.keep:  # a scan of nothing has no first state
        b.choose(b.compare("lt", ZERO, length), there, ())
    else:
        b.statements += there
    for result, component, item in zip(results, components, after.items, strict=True):
        if component.place is None:
            assert item is not None
            scope.keep(result, item)
            continue
        where = component.place
        if component.lies is Lies.TURNS:
            where = where.cell(0, at(after.turn))
            if result in scope.destinations:
                wanted = scope.place_for(result)
                copy(scope, scope.shape(result), where, wanted)
                where = wanted
        scope.values[result] = where


def _heard(scope: Scope, phase: Loop | Fold | Map) -> int:
    """Every how many iterations of a loop inside an interrupt is heard, a power of two; 0 where it is short."""
    trips, points = points_inside(phase, scope.types)
    return 1 << max(0, (_HEARD_POINTS // points).bit_length() - 1) if trips * points >= _HEARD_POINTS else 0


_HEARD_POINTS: Final = 1 << 22


def _hearing(scope: Scope, loop: Recurrence) -> Recurrence:
    """A loop inside, which hears interrupts where it is long."""
    every = _heard(scope, loop.phase)

    def enter(index: str) -> None:
        hear(scope, index, every)
        loop.enter(index)

    return replace(loop, enter=enter) if every else loop


# -------------------------------------------------------------------------------------------- branches


def _branch(scope: Scope, phase: Branch) -> None:
    b = scope.b
    condition = scope.load(phase.condition, ())
    targets = [scope.place_for(r) if scope.shape(r) else None for r in phase.results]
    arms: list[tuple[list[Statement], list[str]]] = []
    known, sizes = dict(scope.values), dict(scope.sizes)
    for arm in (phase.then, phase.otherwise):
        scope.values, scope.sizes = dict(known), dict(sizes)
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
            registers = [b.number(scope.index_of((then, otherwise)[len(arms)])) for _, then, otherwise in phase.defines]
            for result, where, target in zip(arm.results, made, targets, strict=True):
                if target is None:
                    registers += scope.read(where, ())
                else:
                    copy(scope, scope.shape(result), where, target)
        arms.append((list(statements), registers))
    outside = read_outside(phase)
    outer = {value: where for value, where in scope.values.items() if value in outside}
    scope.values, scope.sizes = known | outer, sizes
    kinds = [Kind.I64 for _ in phase.defines]
    kinds += [part for r, target in zip(phase.results, targets, strict=True) if target is None for part in scope.parts(r)]
    chosen = iter(b.choose(condition, arms[0][0], arms[1][0], list(zip(kinds, arms[0][1], arms[1][1], strict=True))))
    for variable, _, _ in phase.defines:
        found(scope, variable, next(chosen), phase.span)
        check_guards(scope, variable)
    for result, target in zip(phase.results, targets, strict=True):
        if target is None:
            scope.keep(result, tuple(next(chosen) for _ in scope.parts(result)))
        else:
            scope.values[result] = target


# ------------------------------------------------------------------------------------------------ maps


def _map(scope: Scope, phase: Map) -> None:
    """Cell after cell."""
    targets = [scope.place_for(result) for result in phase.results]
    with scope.points(phase.frame, LoopKind.SERIAL) as point:
        if every := _heard(scope, phase):
            hear(scope, scope.b.number(point[-1]), every)
        map_cell(scope, phase, point, targets)
    for result, target in zip(phase.results, targets, strict=True):
        scope.values[result] = target


def map_cell(scope: Scope, phase: Map, point: Sequence[Index], targets: Sequence[Place]) -> None:
    """One cell of a map."""
    known = dict(scope.sizes)
    for param, arg, depth in zip(phase.body.params, phase.args, phase.frames, strict=True):
        scope.cell(param, scope.where(arg), point[:depth])
    for result, target in zip(phase.body.results, targets, strict=True):
        if scope.shape(result) and result not in scope.destinations:
            scope.destinations[result] = target.cells(point)
    made = lower_block(scope, phase.body)
    for result, where, target in zip(phase.body.results, made, targets, strict=True):
        cell = target.cells(point)
        if scope.shape(result):
            copy(scope, scope.shape(result), where, cell)
        else:
            scope.write(cell, (), scope.read(where, ()))
    scope.sizes = known
