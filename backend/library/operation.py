"""A library operation and the ways to do it; one call of it, its cells, and how cells of a frame are batched (graph.phases, Note
[Frames]).

Note [One batch axis].  An op that works on all cells at once sees every operand with exactly one leading batch axis: the
frame flattened to N, or 1 for an operand that serves every cell.  Without a frame N is 1, so both cases are one code.
Ops that are rarely lifted go through `cell_by_cell` instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ...lang.support.records import dataclass
from ...typechecker.elements import Kind
from ...typechecker.sizes.polynomials import Size
from ..cpu.views import DTYPES, NumArray
from ..graph.phases import LibraryPhase
from ..graph.projections import frame_of, framed_of, is_unread
from ..vm.backend_interface import CheckFailed, Types
from ..vm.run_state import trim

if TYPE_CHECKING:
    from ..vm.specialization import Specialization


# ---------------------------------------------------------------------------------------------------- call
#
# What a library phase sees of the running program: the types of values, the sizes that are bound, and the threads it may use.
#
# Sizes of inputs and params are numbers before a run starts; a phase that defines a run-time size records it here.

@dataclass(slots=True)
class OperationContext(Types):
    """How many threads there are, too."""

    threads: int = 1


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a phase says of itself, by what it is."""

    phase: LibraryPhase

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

    def sizes(self, types: Types) -> list[int]:
        sizes = self.phase.attributes["sizes"]
        assert isinstance(sizes, tuple)
        return [types.number(size) for size in sizes if isinstance(size, Size)]


# ----------------------------------------------------------------------------------------------- operations by frames and cells

Arrays: TypeAlias = tuple[NumArray, ...]
Meaning: TypeAlias = Callable[[LibraryPhase, Arrays, OperationContext], Arrays]
"""Maps operands to results, each in the phase's order.  A result never shares memory with an operand."""
Function: TypeAlias = Callable[..., NumArray]
"""Takes the operands' arrays only; its result is a new row-major array."""


@dataclass(frozen=True, slots=True)
class OperationCall(Attributes):
    """One execution of a phase; shapes and attributes are those of cells."""

    context: OperationContext

    @property
    def rank(self) -> int:
        """The number of leading axes that form the frame."""
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
        """The number of threads of the device."""
        return self.context.threads

    def batched(self, arrays: Arrays) -> list[NumArray]:
        """The operands with the frame as one batch axis.  See Note [One batch axis]."""
        if not self.rank:
            return [a[np.newaxis] for a in arrays]
        count = math.prod(self.frame)
        return [
            a.reshape((count, *a.shape[self.rank :])) if carries else a[np.newaxis]
            for a, carries in zip(arrays, framed_of(self.phase), strict=True)
        ]

    def unbatched(self, result: Any) -> Arrays:
        """The single result, with its batch axis reshaped to the frame."""
        return (np.asarray(result).reshape((*self.frame, *result.shape[1:])),)


Compiled: TypeAlias = Callable[[OperationCall, Arrays], NumArray | None]
Short: TypeAlias = Callable[[LibraryPhase, Types, Function], Function | None]
Native: TypeAlias = "Callable[[Specialization, LibraryPhase], None]"
Again: TypeAlias = Callable[[Sequence[NumArray], Sequence[NumArray]], None]
"""Runs an operation on the first arrays and writes the results into the second."""
Prepare: TypeAlias = Callable[[Sequence[NumArray], Sequence[NumArray]], Again | None]


@dataclass(frozen=True, slots=True)
class Operation:
    """The implementations of a library operation; all give the same bits.

    meaning: defines the operation, for all operands, on NumPy.
    compiled: for operands that kernels handle faster, or None; runs before the buffer pool releases its free memory
        (`run_state`, Note [Pool and peak memory]).
    short: makes a function of NumPy calls only, for small operands of known sizes.
    native: specializes the operation for native programs.
    prepare: makes a function for arrays of these shapes, which loops call again and again."""

    meaning: Meaning
    compiled: Compiled | None = None
    short: Short | None = None
    native: Native | None = None
    prepare: Prepare | None = None

    def run(self, phase: LibraryPhase, arrays: Arrays, context: OperationContext) -> Arrays:
        """The results.  Raises RunFailed with the span of the phase for a failed check."""
        try:
            if self.compiled is not None:
                result = self.compiled(OperationCall(phase, context), arrays)
                if result is not None:
                    return (result,)
            if not is_unread(phase):  # such a result takes no memory
                trim()
            return self.meaning(phase, arrays, context)
        except CheckFailed as failure:
            raise failure.at(phase.span) from None

    def routine(self, phase: LibraryPhase, types: Types) -> Function | None:
        """The operation as a function of NumPy calls only; None if there is none for such operands."""
        if self.short is None:
            return None
        known = OperationContext(types.types, dict(types.sizes), types.guards)

        def otherwise(*given: NumArray) -> NumArray:
            with np.errstate(all="ignore"):
                return self.run(phase, given, known)[0].copy()

        return self.short(phase, types, otherwise)


Cell: TypeAlias = Callable[..., Any]


def cell_by_cell(cell: Cell, compiled: Compiled | None = None, short: Short | None = None, native: Native | None = None
                 ) -> Operation:  # fmt: skip
    """An operation defined by a function of the call and a cell of each operand, which returns the cells of the results."""

    def run(phase: LibraryPhase, arrays: Arrays, context: OperationContext) -> Arrays:
        call = OperationCall(phase, context)
        if not call.rank:
            return _tuple(cell(call, *arrays))
        results = [np.empty(context.shape(r), DTYPES[context.kind(r)]) for r in phase.results]
        flags = framed_of(phase)
        for point in np.ndindex(call.frame):
            cells = [a[(*point, ...)] if carries else a for a, carries in zip(arrays, flags, strict=True)]
            for result, part in zip(results, _tuple(cell(call, *cells)), strict=True):
                result[(*point, ...)] = part
        return tuple(results)

    return Operation(run, compiled, short, native)


def on_operands(function: Callable[[OperationCall, Arrays], Any], compiled: Compiled | None = None, short: Short | None = None,
          native: Native | None = None, prepare: Prepare | None = None) -> Operation:  # fmt: skip
    """An operation with one result, defined by a function of the call and its whole operands, frames included."""

    def run(phase: LibraryPhase, arrays: Arrays, context: OperationContext) -> Arrays:
        return _tuple(function(OperationCall(phase, context), arrays))

    return Operation(run, compiled, short, native, prepare)


def in_order(result: NumArray) -> NumArray:
    """A row-major array, as native programs need it: for column-major operands NumPy returns column-major results."""
    return result if result.flags.c_contiguous else result.copy()


def _tuple(results: Any) -> Arrays:
    if isinstance(results, tuple):
        return tuple(np.asarray(r) for r in results)
    return (np.asarray(results),)
