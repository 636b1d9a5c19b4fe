"""Loops and folds as recurrences: a state, where it lies, and what an iteration knows.

Note [State].  What goes from iteration to iteration is the same wherever a loop stands: values of rank 0 are registers; others
are written in place (`in_place`), or lie in two buffers of which a carried number says which is now; where every state is kept,
iteration i reads cell i and writes cell i + 1.  A loop inside a region makes room for its state, that of the region is given
(`region`).  A fold is a loop over the cells of its argument backwards, a scan one that keeps every state.

Neighbours: `control` (the loops), `region` (the outermost one), `in_place` (what may be written there).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from ....typechecker.sizes import Size
from ....typechecker.types import ArrayType
from ...graph.elementwise import merge_loop
from ...graph.phases import Fold, Loop, Structured, SubGraph, ValueId
from ...kernels.build import build_body
from ..builder import at
from ..ir import ONE, ZERO, Index, plus, times
from .calls import check_guards
from .in_place import chains_of, is_made_beside
from .values import Place, Scope, Unsupported, Where


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

    `enter` tells an iteration, by number from `first` on, what it knows besides; `initial`: the first state; `is_pointwise`: does
    each item of the state depend on what was there, and on values from outside?"""

    phase: Loop | Fold
    body: SubGraph
    until: SubGraph | None
    first: int
    length: Size
    keep: bool
    initial: Callable[[], Sequence[Where]]
    enter: Callable[[str], None]
    is_pointwise: bool = False

    @property
    def results(self) -> tuple[ValueId, ...]:
        return self.phase.results

    def lies(self, scope: Scope) -> list[tuple[Lies, tuple[ValueId, ...]]]:
        """For each component where it lies, and its chain."""
        if self.keep:
            return [(Lies.CELLS, ())] * len(self.results)
        rows: list[tuple[Lies, tuple[ValueId, ...]]] = []
        for param, chain in zip(self.body.params, chains_of(self.body, self.until), strict=True):
            is_apart = chain is None or is_made_beside(self.body, param, chain, scope)
            lies = Lies.REGISTERS if not scope.shape(param) else Lies.TURNS if is_apart else Lies.IN_PLACE
            rows.append((lies, chain or ()))
        return rows


def pointwise(loop: Loop, types: Mapping[ValueId, ArrayType]) -> Structured | None:
    """An iteration as one phase, if items of the state see only themselves and are computed by what loops have."""
    merged = merge_loop(loop, lambda value: types[value].element.kind, lambda value: types[value].shape)
    return None if merged is None or build_body(merged, complexes=True, loops=True) is None else merged


def recurrence_of(scope: Scope, phase: Loop | Fold) -> Recurrence:
    if isinstance(phase, Fold):
        return _of_fold(scope, phase)
    if phase.keep and phase.until is not None:
        raise Unsupported("every state of a loop that may end early")
    merged = pointwise(phase, scope.types)
    body = SubGraph(phase.state, phase.body.phases, phase.body.results)
    if merged is not None:
        body = SubGraph(phase.state, (merged,), phase.results)
    cells = [scope.where(value) for value in phase.cells]

    def enter(index: str) -> None:
        if phase.index is not None:
            scope.sizes[phase.index] = index
            check_guards(scope, phase.index)
        for param, cell in zip(phase.body.params, cells, strict=False):
            scope.cell(param, cell, [at(index)])

    def initial() -> Sequence[Where]:
        return [scope.where(value) for value in phase.initial]

    return Recurrence(phase, body, phase.until, 0, phase.trip, phase.keep, initial, enter, merged is not None)


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
