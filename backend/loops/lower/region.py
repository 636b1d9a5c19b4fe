"""A whole loop, fold, scan or map as one loop program.

The caller hands out the iterations in ranges (parameters `first` and `last`), so that it can be interrupted and can use threads
where cells are independent.  What goes from one range to the next lies in views: the state of a loop, which of two buffers holds
it, and whether the loop has ended before its time.

Neighbours: `control` (bodies), `backend.run.cpu.regions` (the caller).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ....typechecker.core_blocks import CoreGuard
from ....typechecker.elements import Kind
from ....typechecker.sizes import Size, SizeVariable, number
from ....typechecker.types import ArrayType
from ...graph.elementwise import on_one_axis
from ...graph.phases import Fold, Loop, Map, ValueId
from ...graph.steps import NOTHING_KNOWN, KnownValues
from ..builder import Builder, at
from ..ir import Index, LoopKind, Program, Role, plus, times
from .control import iterate, map_cell
from .recurrences import Component, Lies, Recurrence, pointwise, recurrence_of
from .structured import copy
from .values import Check, Ended, First, Made, Place, Registers, Routine, Scope, Scratch, Source, State, Turn

FIRST, LAST = "first", "last"


@dataclass(frozen=True, slots=True)
class Region:
    """`sizes`: the parameters but for `first` and `last`; `sources`: what each view shows; `states`: for each component of a
    loop's state whether it has two buffers; `is_flat`: are arrays seen as vectors of all their items?"""

    program: Program
    sizes: tuple[Size, ...]
    sources: Mapping[str, Source]
    checks: tuple[Check, ...]
    routines: tuple[Routine, ...]
    states: tuple[bool, ...]
    cells: bool
    is_flat: bool = False

    @property
    def calls(self) -> bool:
        """Are there phases that are routines?"""
        return any(routine.phase is not None for routine in self.routines)

    @property
    def is_pointwise(self) -> bool:
        """Does each item of a loop's state see only itself?"""
        return any(isinstance(source, First) for source in self.sources.values())


def lower_region(phase: Loop | Fold | Map, types: Mapping[ValueId, ArrayType], guards: Iterable[CoreGuard] = (),
                 known: KnownValues = NOTHING_KNOWN, *, may_be_flat: bool = False) -> Region:  # fmt: skip
    """`known`: what is of values from outside; `may_be_flat`: if so, operands must have their items side by side.
    Unsupported: something in it has no loops."""
    flat = None
    if may_be_flat and isinstance(phase, Loop) and (merged := pointwise(phase, types)) is not None:
        flat = on_one_axis(phase, merged, types)
    phase, types = flat or (phase, types)
    scope = Scope(Builder(), types, known, waits_for=_variables(guards))
    states = _map(scope, phase) if isinstance(phase, Map) else _recurrence(scope, recurrence_of(scope, phase))
    b = scope.b
    views = tuple(b.views.values())
    parameters = (FIRST, LAST, *scope.parameters)
    facts = [at(FIRST), *(plus(at(name), Index((), -1)) for name, size in scope.parameters.items() if (size.constant or 0) > 0)]
    program = Program(type(phase).__name__.lower(), parameters, views, (*b.preamble, *b.statements), (*facts, *scope.facts))
    sources = {view.name: scope.sources.get(view.name) or _scratch(view.shape) for view in views}
    sizes = tuple(scope.parameters.values())
    checks, routines = tuple(scope.checks), tuple(scope.routines)
    return Region(program, sizes, sources, checks, routines, states, isinstance(phase, Map), flat is not None)


def _scratch(shape: tuple[Index, ...]) -> Source:
    """Of a shape that the program says in numbers."""
    return Scratch(tuple(number(index.constant) for index in shape))


def _variables(guards: Iterable[CoreGuard]) -> frozenset[SizeVariable]:
    return frozenset(variable for guard in guards for variable in guard.variables())


def _word(scope: Scope, kind: Kind, source: Source) -> Place:
    return scope.given(kind, (), source, Role.OUTPUT)


def _recurrence(scope: Scope, loop: Recurrence) -> tuple[bool, ...]:
    """A loop or fold whose state the caller fills and reads; for each component whether it has two buffers."""
    components: list[Component] = []
    places: list[Place] = []
    firsts: list[Registers | None] = []
    copies: list[tuple[tuple[Size, ...], Place, Place]] = []
    for position, (param, result, (lies, chain)) in enumerate(zip(loop.body.params, loop.results, loop.lies(scope), strict=True)):
        shape, is_doubled = scope.shape(param), lies is Lies.TURNS
        if lies is Lies.CELLS:
            place = scope.given(scope.kind(result), scope.shape(result), Made(position), Role.OUTPUT)
        else:
            shown = (number(2), *shape) if is_doubled else shape
            place = scope.given(scope.kind(param), shown, State(position, is_doubled), Role.OUTPUT)
        places.append(place)
        components.append(Component(param, lies, None if lies is Lies.REGISTERS else place, chain))
        first = place.cell(0, plus(at(FIRST), Index((), -loop.first))) if lies is Lies.CELLS else place
        if loop.is_pointwise:
            first = scope.given(scope.kind(param), shape, First(position))
            copies.append((shape, first, place))
        firsts.append(None if shape else scope.read(first, ()))
    doubled = tuple(component.lies is Lies.TURNS for component in components)
    turn = scope.given(Kind.I64, (), Turn(), Role.OUTPUT) if any(doubled) else None
    ended = scope.given(Kind.BOOL, (), Ended(), Role.OUTPUT) if loop.until is not None else None
    scope.facts += [plus(at(FIRST), Index((), -loop.first)), plus(scope.index_of(loop.length), times(at(LAST), -1))]
    for shape, first, place in copies:
        if shape:
            copy(scope, shape, first, place)
    after = iterate(scope, loop, components, (at(FIRST), at(LAST)), firsts)
    words = [(place, item) for place, item, c in zip(places, after.items, components, strict=True) if c.lies is Lies.REGISTERS]
    for word, item in (*words, (turn, (after.turn,)), (ended, (after.ended,))):
        if word is not None and item is not None:
            scope.write(word, (), item)
    return doubled if not loop.keep else ()


def _map(scope: Scope, phase: Map) -> tuple[bool, ...]:
    """Cells in any order, on any thread; or one, which is all of it."""
    targets = [scope.given(scope.kind(v), scope.shape(v), Made(place), Role.OUTPUT) for place, v in enumerate(phase.results)]
    b = scope.b
    if not phase.frame:
        map_cell(scope, phase, (), targets)
        return ()
    scope.facts.append(plus(scope.index_of(phase.frame[0]), times(at(LAST), -1)))
    with b.loop(LoopKind.PARALLEL, (at(FIRST),), (at(LAST),)) as outer, scope.points(phase.frame[1:], LoopKind.SERIAL) as rest:
        map_cell(scope, phase, [at(outer.index), *rest], targets)
    return ()
