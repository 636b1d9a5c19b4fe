"""A whole loop, fold, scan or map as one loop program.

The caller hands out the iterations in ranges (parameters `first` and `last`), so that it can be interrupted and can use threads
where cells are independent.  What goes from one range to the next lies in views: the state of a loop, which of two buffers holds
it, and whether the loop has ended before its time.

Neighbours: `control` (bodies), `backend.run.cpu.regions` (the caller).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from ....typechecker.core import CoreGuard, Payload
from ....typechecker.elements import Kind
from ....typechecker.sizes import Size, SizeVariable, number
from ....typechecker.types import ArrayType
from ...graph.phases import Constant, Fold, Loop, Map, Phase, SubGraph, ValueId
from ..builder import Builder, OpenLoop, at
from ..ir import ZERO, Index, LoopKind, Program, Role, plus, times
from .control import ONE, Component, cell_of, chains_of, enter, map_cell, running, state_of, step_state, turned
from .values import Check, Ended, Made, Place, Scope, Scratch, Source, State, Turn, Unsupported

FIRST, LAST = "first", "last"
_NO_CONSTANTS: Final[Mapping[ValueId, Payload]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Region:
    """`sizes`: the parameters but for `first` and `last`; `sources`: what each view shows; `states`: for each component of a
    loop's state whether it has two buffers."""

    program: Program
    sizes: tuple[Size, ...]
    sources: Mapping[str, Source]
    checks: tuple[Check, ...]
    states: tuple[bool, ...]
    cells: bool


def lower_region(phase: Loop | Fold | Map, types: Mapping[ValueId, ArrayType], guards: Iterable[CoreGuard] = (),
                 constants: Mapping[ValueId, Payload] = _NO_CONSTANTS) -> Region:  # fmt: skip
    """`constants`: values of rank 0 that are literals.  Unsupported: something in it has no loops."""
    scope = Scope(Builder(), types, constants, waits_for=_variables(guards))
    match phase:
        case Loop():
            states = _loop(scope, phase)
        case Fold():
            states = _scan(scope, phase) if phase.scan else _fold(scope, phase)
        case Map():
            states = _map(scope, phase)
    b = scope.b
    views = tuple(view for view in b.views.values())
    parameters = (FIRST, LAST, *scope.parameters)
    facts = [at(FIRST), *(plus(at(name), Index((), -1)) for name, size in scope.parameters.items() if (size.constant or 0) > 0)]
    program = Program(type(phase).__name__.lower(), parameters, views, (*b.preamble, *b.statements), (*facts, *scope.facts))
    sources = {view.name: scope.sources.get(view.name) or _scratch(view.shape) for view in views}
    sizes = tuple(scope.parameters.values())
    return Region(program, sizes, sources, tuple(scope.checks), states, isinstance(phase, Map))


def literals_of(phases: Iterable[Phase], types: Mapping[ValueId, ArrayType]) -> dict[ValueId, Payload]:
    """Constants of rank 0 among phases."""
    return {p.result: p.data[0] for p in phases if isinstance(p, Constant) and not types[p.result].shape}


def _scratch(shape: tuple[Index, ...]) -> Source:
    """Of a shape that the program says in numbers."""
    return Scratch(tuple(number(index.constant) for index in shape))


def _variables(guards: Iterable[CoreGuard]) -> frozenset[SizeVariable]:
    return frozenset(variable for guard in guards for variable in guard.variables())


def _word(scope: Scope, kind: Kind, source: Source) -> str:
    return scope.given(kind, (), source, Role.OUTPUT)


class _Kept:
    """The state of the outermost loop: views that the caller fills and reads."""

    def __init__(self, scope: Scope, values: Sequence[ValueId], chains: Sequence[tuple[ValueId, ...] | None]) -> None:
        self.scope, self.values, self.chains = scope, values, chains
        self.views: list[str] = []
        for place, (value, chain) in enumerate(zip(values, chains, strict=True)):
            kind, shape = scope.kind(value), scope.shape(value)
            doubled = bool(shape) and chain is None
            view = scope.given(kind, _twice(shape) if doubled else shape, State(place, doubled), Role.OUTPUT)
            self.views.append(view)
        self.doubled = tuple(bool(scope.shape(v)) and c is None for v, c in zip(values, chains, strict=True))
        self.turn = _word(scope, Kind.I64, Turn()) if any(self.doubled) else None

    def carried(self, done: Index) -> list[tuple[Kind, str, str | None]]:
        """Registers of rank 0, and which buffers hold the others: they change with each iteration, of which so many are done."""
        scope = self.scope
        found: list[tuple[Kind, str, str | None]] = [
            (scope.kind(value), scope.b.load(view, ()), None)
            for value, view in zip(self.values, self.views, strict=True) if not scope.shape(value)
        ]  # fmt: skip
        if self.turn is not None:
            two = scope.b.constant(Kind.I64, 2)
            found.append((Kind.I64, scope.b.apply("residue", (two, scope.b.number(done)), Kind.I64, Kind.I64), None))
        return found

    def components(self, loop: OpenLoop) -> list[Component]:
        made: list[Component] = []
        turn = loop.inside[self.scalars] if self.turn is not None else ""
        for value, view, chain, doubled in zip(self.values, self.views, self.chains, self.doubled, strict=True):
            kind, shape = self.scope.kind(value), self.scope.shape(value)
            if not shape:
                made.append(Component(kind, shape, None, None))
            elif doubled:
                made.append(Component(kind, shape, *turned(view, turn)))
            else:
                made.append(Component(kind, shape, Place(view), Place(view), chain or ()))
        return made

    @property
    def scalars(self) -> int:
        return sum(not self.scope.shape(value) for value in self.values)

    def yields(self, loop: OpenLoop, registers: Sequence[str]) -> tuple[str, ...]:
        if self.turn is None:
            return tuple(registers)
        return (*registers, self.scope.b.number(plus(ONE, times(at(loop.inside[self.scalars]), -1))))

    def store(self, results: Sequence[str]) -> None:
        last = iter(results)
        for value, view in zip(self.values, self.views, strict=True):
            if not self.scope.shape(value):
                self.scope.b.store(view, (), next(last))
        if self.turn is not None:
            self.scope.b.store(self.turn, (), next(last))


def _twice(shape: tuple[Size, ...]) -> tuple[Size, ...]:
    return (number(2), *shape)


def _loop(scope: Scope, phase: Loop) -> tuple[bool, ...]:
    if phase.keep:
        _keep(scope, phase)
        return ()
    b, body = scope.b, state_of(phase)
    kept = _Kept(scope, phase.results, chains_of(body, phase.until))
    cells = [scope.where(value) for value in phase.cells]
    ended = _word(scope, Kind.BOOL, Ended()) if phase.until is not None else None
    carried = kept.carried(at(FIRST))
    if ended is not None:
        carried.append((Kind.BOOL, b.constant(Kind.BOOL, 0), None))
    scope.facts.append(plus(scope.index_of(phase.trip), times(at(LAST), -1)))
    with b.loop(LoopKind.SERIAL, (at(FIRST),), (at(LAST),), carried) as loop:
        enter(scope, phase, loop.index, cells)
        following = step_state(scope, body, phase.until, kept.components(loop), loop.inside[: kept.scalars], loop)
        loop.yields = (*kept.yields(loop, following), *([loop.until] if loop.until is not None else []))
    kept.store(loop.results)
    if ended is not None:
        b.store(ended, (), loop.results[-1])
    return kept.doubled


def _keep(scope: Scope, phase: Loop) -> None:
    """State i of every one lies at i of the results."""
    if phase.until is not None:
        raise Unsupported("every state of a loop that may end early")
    views = [scope.given(scope.kind(v), scope.shape(v), Made(place), Role.OUTPUT) for place, v in enumerate(phase.results)]
    cells = [scope.where(value) for value in phase.cells]
    scope.facts.append(plus(scope.index_of(phase.trip), times(at(LAST), -1)))
    running(scope, state_of(phase), _places(views), (at(FIRST), at(LAST)), ZERO, lambda index: enter(scope, phase, index, cells))


def _scan(scope: Scope, phase: Fold) -> tuple[bool, ...]:
    """Left to right from the second item on."""
    count = len(phase.args)
    views = [scope.given(scope.kind(v), scope.shape(v), Made(place), Role.OUTPUT) for place, v in enumerate(phase.results)]
    body = SubGraph(phase.body.params[:count], phase.body.phases, phase.body.results)
    args = [_array(scope, arg) for arg in phase.args]
    scope.facts += [plus(at(FIRST), Index((), -1)), plus(scope.index_of(scope.shape(phase.args[0])[0]), times(at(LAST), -1))]

    def begin(index: str) -> None:
        for param, arg in zip(phase.body.params[count:], args, strict=True):
            cell_of(scope, param, Place(arg), [at(index)])

    running(scope, body, _places(views), (at(FIRST), at(LAST)), ONE, begin)
    return ()


def _places(views: Sequence[str]) -> list[Place]:
    return [Place(view) for view in views]


def _fold(scope: Scope, phase: Fold) -> tuple[bool, ...]:
    """Right to left: iteration i takes item length - 1 - i."""
    b, count = scope.b, len(phase.args)
    body = SubGraph(phase.body.params[count:], phase.body.phases, phase.body.results)
    kept = _Kept(scope, phase.results, chains_of(body, None))
    args = [_array(scope, arg) for arg in phase.args]
    length = scope.index_of(scope.shape(phase.args[0])[0])
    scope.facts += [plus(at(FIRST), Index((), -1)), plus(length, times(at(LAST), -1))]
    with b.loop(LoopKind.SERIAL, (at(FIRST),), (at(LAST),), kept.carried(plus(at(FIRST), Index((), -1)))) as loop:
        place = plus(plus(length, Index((), -1)), times(at(loop.index), -1))
        for param, arg in zip(phase.body.params[:count], args, strict=True):
            cell_of(scope, param, Place(arg), [place])
        loop.yields = kept.yields(loop, step_state(scope, body, None, kept.components(loop), loop.inside[: kept.scalars], loop))
    kept.store(loop.results)
    return kept.doubled


def _array(scope: Scope, value: ValueId) -> str:
    where = scope.where(value)
    assert isinstance(where, Place)
    return where.view


def _map(scope: Scope, phase: Map) -> tuple[bool, ...]:
    """Cells in any order, on any thread."""
    views = [scope.given(scope.kind(v), scope.shape(v), Made(place), Role.OUTPUT) for place, v in enumerate(phase.results)]
    b = scope.b
    scope.facts.append(plus(scope.index_of(phase.frame[0]), times(at(LAST), -1)))
    with b.loop(LoopKind.PARALLEL, (at(FIRST),), (at(LAST),)) as outer, ExitStack() as loops:
        point = [at(outer.index)]
        point += [at(loops.enter_context(b.range(LoopKind.SERIAL, scope.index_of(s))).index) for s in phase.frame[1:]]
        map_cell(scope, phase, point, _places(views))
    return ()
