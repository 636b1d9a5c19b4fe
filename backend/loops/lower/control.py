"""Blocks of phases, and the phases that hold blocks: loops, branches, maps and folds, inside a region and as one.

Note [State].  What goes from iteration to iteration is the same wherever a loop stands: values of rank 0 are registers; others
are written in place (`in_place`), or lie in two buffers of which a carried number says which is now; where every state is kept,
iteration i reads cell i and writes cell i + 1.  A loop inside a region makes room for its state, that of the region is given
(`region`).  A fold is a loop over the cells of its argument backwards, a scan one that keeps every state.

Note [Interrupts].  The caller hears them between ranges of the outermost iterations.  Where one of these is long, because of a
loop in it, they are heard in that loop, too, once in so many points.

Neighbours: `structured`, `library`, `region` (the outermost loop).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from ....typechecker.core import Payload
from ....typechecker.elements import Kind
from ....typechecker.sizes import Size, number
from ...graph import traverse
from ...graph.phases import Branch, Constant, Fold, LibraryPhase, Loop, Map, Phase, Structured, SubGraph, ValueId
from ...kernels.build import bits_of
from ..builder import at
from ..ir import ONE, ZERO, Fail, Index, LoopKind, Statement, plus, times
from ..iterations import points_inside
from .calls import call_routine, check_guards, found, hear
from .in_place import aliased, chains_of, in_place, read_outside
from .library import lower_library
from .structured import copy, lower_structured
from .values import Check, Data, Place, Registers, Scope, Unsupported, Where

# --------------------------------------------------------------------------------------------- blocks


def lower_block(scope: Scope, block: SubGraph, overwritten: AbstractSet[ValueId] = frozenset()) -> list[Where]:
    """Every phase in order; where the results lie (where `scope.destinations` wants them)."""
    scope.aliases |= aliased(block, overwritten)
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


# ---------------------------------------------------------------------------------------------- state


class Lies(Enum):
    """Where a value of a loop's state lies; see Note [State]."""

    REGISTERS = "registers"
    IN_PLACE = "in place"
    TURNS = "two buffers in turn"
    CELLS = "every state is kept"


@dataclass(frozen=True, slots=True)
class Component:
    """One value of a loop's state.  `place`: all the memory that it has; `chain`: values in it that have one place."""

    param: ValueId
    lies: Lies
    place: Place | None = None
    chain: tuple[ValueId, ...] = ()

    def buffers(self, iteration: Index, turn: Index) -> tuple[Place, Place]:
        """Where the old value is, and where the new one goes."""
        assert self.place is not None
        match self.lies:
            case Lies.TURNS:
                return self.place.cell(0, turn), self.place.cell(0, plus(ONE, times(turn, -1)))
            case Lies.CELLS:
                return self.place.cell(0, iteration), self.place.cell(0, plus(iteration, ONE))
        return self.place, self.place


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A loop or fold as a state that a block makes anew `length` times, less `first`: its first value is item 0.

    `enter` tells an iteration, by number from `first` on, what it knows besides; `initial`: the first state."""

    phase: Loop | Fold
    body: SubGraph
    until: SubGraph | None
    first: int
    length: Size
    keep: bool
    initial: Callable[[], Sequence[Where]]
    enter: Callable[[str], None]

    @property
    def results(self) -> tuple[ValueId, ...]:
        return self.phase.results

    def lies(self, scope: Scope) -> list[tuple[Lies, tuple[ValueId, ...]]]:
        """For each component where it lies, and its chain."""
        if self.keep:
            return [(Lies.CELLS, ())] * len(self.results)
        rows: list[tuple[Lies, tuple[ValueId, ...]]] = []
        for param, chain in zip(self.body.params, chains_of(self.body, self.until), strict=True):
            lies = Lies.REGISTERS if not scope.shape(param) else Lies.TURNS if chain is None else Lies.IN_PLACE
            rows.append((lies, chain or ()))
        return rows


def recurrence_of(scope: Scope, phase: Loop | Fold) -> Recurrence:
    if isinstance(phase, Fold):
        return _of_fold(scope, phase)
    if phase.keep and phase.until is not None:
        raise Unsupported("every state of a loop that may end early")
    body = SubGraph(phase.state, phase.body.phases, phase.body.results)
    cells = [scope.where(value) for value in phase.cells]

    def enter(index: str) -> None:
        if phase.index is not None:
            scope.sizes[phase.index] = index
            check_guards(scope, phase.index)
        for param, cell in zip(phase.body.params, cells, strict=False):
            scope.cell(param, cell, [at(index)])

    return Recurrence(phase, body, phase.until, 0, phase.trip, phase.keep, lambda: [scope.where(v) for v in phase.initial], enter)


def _of_fold(scope: Scope, phase: Fold) -> Recurrence:
    """Left to right if it is a scan, else right to left; its first state is a cell."""
    count, length = len(phase.args), scope.shape(phase.args[0])[0]
    args = [scope.where(arg) for arg in phase.args]
    params = phase.body.params[:count], phase.body.params[count:]
    state, cells = params if phase.scan else params[::-1]

    def place(number: Index) -> Index:
        return number if phase.scan else plus(plus(scope.index_of(length), Index((), -1)), times(number, -1))

    def enter(index: str) -> None:
        for param, arg in zip(cells, args, strict=True):
            scope.cell(param, arg, [place(at(index))])

    def initial() -> Sequence[Where]:
        return [arg.cell(0, place(ZERO)) for arg in args if isinstance(arg, Place)]

    return Recurrence(phase, SubGraph(state, phase.body.phases, phase.body.results), None, 1, length, phase.scan, initial, enter)


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
    with ExitStack() as loops:
        point = [at(loops.enter_context(scope.b.range(LoopKind.SERIAL, scope.index_of(s))).index) for s in phase.frame]
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
