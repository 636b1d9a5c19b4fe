"""Frames of library phases (graph.phases, Note [Frames]): one call of an op, its cells, and how cells are batched.

Note [One batch axis].  An op that works on all cells at once sees every operand with exactly one leading batch axis: the
frame flattened to N, or 1 for an operand that serves every cell.  Without a frame N is 1, so both cases are one code.
Ops that are rarely lifted go through `cell_by_cell` instead.

Neighbours: every module of this package; `graph.registry` (attributes `frame` and `framed`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from .....typechecker.elements import Kind
from .....typechecker.sizes import Size, SizeVariable
from ....graph.phases import LibraryPhase, ValueId
from ....graph.registry import frame_of, framed_of
from ..kinds import DTYPES, NumArray


class Surroundings(Protocol):
    """What an op asks of the running program: `Context`, or the executor itself."""

    def kind(self, value: ValueId) -> Kind: ...
    def shape(self, value: ValueId) -> tuple[int, ...]: ...
    def size(self, size: Size) -> int: ...
    def define(self, variable: SizeVariable, value: int) -> None: ...


Arrays: TypeAlias = tuple[NumArray, ...]
Implementation: TypeAlias = Callable[[LibraryPhase, Arrays, Surroundings], Arrays]
"""The operands in order to the results in order.  A result never shares memory with an operand."""


@dataclass(frozen=True, slots=True)
class Call:
    """One execution of a phase; shapes and attributes are those of the cells."""

    phase: LibraryPhase
    context: Surroundings

    @property
    def rank(self) -> int:
        """How many leading axes are the frame."""
        return frame_of(self.phase)

    @property
    def frame(self) -> tuple[int, ...]:
        return self.context.shape(self.phase.results[0])[: self.rank] if self.rank else ()

    def shape(self, result: int = 0) -> tuple[int, ...]:
        """The shape of a result's cells."""
        return self.context.shape(self.phase.results[result])[self.rank :]

    def kind(self, result: int = 0) -> Kind:
        return self.context.kind(self.phase.results[result])

    def operand_kind(self, operand: int) -> Kind:
        return self.context.kind(self.phase.args[operand])

    @property
    def threads(self) -> int:
        """The team of the device."""
        found = getattr(self.context, "threads", 1)
        assert isinstance(found, int)
        return found

    def axis(self) -> int:
        value = self.phase.attributes["axis"]
        assert isinstance(value, int)
        return value

    def flag(self, name: str) -> bool:
        return self.phase.attributes.get(name) is True

    def function(self) -> str:
        value = self.phase.attributes["function"]
        assert isinstance(value, str)
        return value

    def batched(self, arrays: Arrays) -> list[NumArray]:
        """The operands with one batch axis each; see Note [One batch axis]."""
        if not self.rank:
            return [a[np.newaxis] for a in arrays]
        count = math.prod(self.frame)
        return [
            a.reshape((count, *a.shape[self.rank :])) if carries else a[np.newaxis]
            for a, carries in zip(arrays, framed_of(self.phase), strict=True)
        ]

    def unbatched(self, result: Any) -> Arrays:
        """The one result, its batch axis turned back into the frame."""
        return (np.asarray(result).reshape((*self.frame, *result.shape[1:])),)


Cell: TypeAlias = Callable[..., Any]


def cell_by_cell(cell: Cell) -> Implementation:
    """An op from a function of the call and one cell an operand, which gives the result's cell (or a tuple of them)."""

    def run(phase: LibraryPhase, arrays: Arrays, context: Surroundings) -> Arrays:
        call = Call(phase, context)
        if not call.rank:
            return _tuple(cell(call, *arrays))
        results = [np.empty(context.shape(r), DTYPES[context.kind(r)]) for r in phase.results]
        flags = framed_of(phase)
        for point in np.ndindex(call.frame):
            cells = [a[(*point, ...)] if carries else a for a, carries in zip(arrays, flags, strict=True)]
            for result, part in zip(results, _tuple(cell(call, *cells)), strict=True):
                result[(*point, ...)] = part
        return tuple(results)

    return run


def whole(function: Callable[[Call, Arrays], Any]) -> Implementation:
    """An op from a function of the call and its whole operands, frames included, which gives the one result."""

    def run(phase: LibraryPhase, arrays: Arrays, context: Surroundings) -> Arrays:
        return _tuple(function(Call(phase, context), arrays))

    return run


def _tuple(results: Any) -> Arrays:
    if isinstance(results, tuple):
        return tuple(np.asarray(r) for r in results)
    return (np.asarray(results),)
