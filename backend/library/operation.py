"""A library operation (its meaning on arrays and its lowering for native code), one call of it, and how cells of a frame are
batched (graph.phases, Note [Frames]).

Note [One batch axis].  An op that works on all cells at once gets every operand with exactly one leading batch axis: the frame
flattened to N, or 1 for an operand that serves every cell.  Without a frame N is 1, so one code handles both cases.  Ops that are
rarely lifted use `cell_by_cell` instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ...lang.support.records import dataclass
from ...typechecker.elements import Kind, integer_range
from ...typechecker.sizes.polynomials import Size
from ..cpu.views import DTYPES, NumArray
from ..graph.phases import LibraryPhase, frame_of, framed_of
from ..graph.registry import called
from ..vm.check_failures import CheckFailed
from ..vm.run_state import SharedFunctions, Types, reshaped, trim

if TYPE_CHECKING:
    from ..vm.specialization import Specialization


# ---------------------------------------------------------------------------------------------------- call
#
# The part of the running program that a library phase sees: the types of values, the bound sizes, and the threads it may use.
#
# Sizes of inputs and params are numbers before a run starts; a phase that defines a run-time size records it here.

@dataclass(slots=True)
class OperationContext(Types):
    """The types of values, and the number of threads."""

    threads: int = 1


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes of a phase, by their type."""

    phase: LibraryPhase

    def axis(self) -> int:
        value = self.phase.attributes["axis"]
        assert isinstance(value, int)
        return value

    def flag(self, name: str) -> bool:
        return self.phase.attributes.get(name) is True

    def origin(self) -> int:
        """Where a shard begins along the first axis of a cell."""
        value = self.phase.attributes.get("origin", 0)
        assert isinstance(value, int)
        return value

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
Function: TypeAlias = Callable[..., Any]
"""Maps the operands' arrays to the result, or to a tuple of several; a result never shares memory with an operand."""


@dataclass(frozen=True, slots=True)
class OperationCall(Attributes):
    """One execution of a phase; shapes and attributes are those of cells."""

    context: OperationContext
    is_native: bool = False
    """Is the call made by a native program, which passes numbers for operands without axes and needs a row-major result?"""

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

    def bounds(self, operand: int) -> tuple[int | None, int | None]:
        """The least and the greatest value of an operand's items, as far as their type bounds them."""
        return integer_range(self.context.types[self.phase.args[operand]].element)

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
        return (reshaped(np.asarray(result), (*self.frame, *result.shape[1:])),)


Meaning: TypeAlias = Callable[[OperationCall], Function]
Lowering: TypeAlias = "Callable[[Specialization, LibraryPhase], None]"
Cell: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Operation:
    """A library operation.

    `meaning`: makes the function of a call, from all that the phase and its types state; it may use machine code, with the same
    bits.  `lowering`: specializes the operation for native programs, which otherwise call the function."""

    meaning: Meaning
    lowering: Lowering | None = None

    def run(self, phase: LibraryPhase, arrays: Arrays, context: OperationContext) -> Arrays:
        """Runs the phase; returns its results.  Raises RunFailed with the span of the phase for a failed check."""
        return as_results(self.meaning(OperationCall(phase, context))(*arrays))


def checked(call: OperationCall, function: Function, *, trims: bool = True) -> Function:
    """A function that may fail or warn; with `trims` it takes memory besides pooled results (`run_state`, Note [Pool and peak
    memory])."""
    phase = call.phase
    dtypes = [DTYPES[call.context.kind(value)] for value in phase.args] if call.is_native else ()

    def run(*arrays: Any) -> Any:
        if trims:
            trim()
        if dtypes:
            typed = zip(arrays, dtypes, strict=True)
            arrays = tuple([array if type(array) is np.ndarray else np.asarray(array, dtype) for array, dtype in typed])
        try:
            with np.errstate(all="ignore"):
                results = as_results(function(*arrays))
        except CheckFailed as failure:
            raise failure.at(phase.span) from None
        if len(results) != 1:
            return results
        return in_order(results[0]) if call.is_native else results[0]

    return run


def over_cells(call: OperationCall, cell: Function) -> Function:
    """A function of framed operands, given one of their cells."""
    if not call.rank:
        return cell
    phase, context = call.phase, call.context
    flags = framed_of(phase)

    def run(*arrays: NumArray) -> Arrays:
        results = [np.empty(context.shape(r), DTYPES[context.kind(r)]) for r in phase.results]
        for point in np.ndindex(call.frame):
            cells = [a[(*point, ...)] if carries else a for a, carries in zip(arrays, flags, strict=True)]
            for result, part in zip(results, as_results(cell(*cells)), strict=True):
                result[(*point, ...)] = part
        return tuple(results)

    return run


def _call(call: OperationCall) -> Function:
    """A shared function, run as a plan of its own."""
    function, sizes = called(call.phase.attributes)
    numbers = tuple(map(call.context.number, sizes.values()))

    def run(*cells: NumArray) -> Arrays:
        results = SharedFunctions.run(function, numbers, cells, call.threads)
        for variable, (_, at, axis) in zip(call.phase.defines, function.core.defines, strict=True):
            call.context.define(variable, results[at].shape[axis])
        return results

    return checked(call, over_cells(call, run), trims=False)


CALLING: Final = {"call": Operation(_call)}


def cell_by_cell(cell: Cell, lowering: Lowering | None = None) -> Operation:
    """An operation defined by a function of the call and a cell of each operand, which returns the cells of the results."""
    return Operation(lambda call: checked(call, over_cells(call, partial(cell, call))), lowering)


def on_operands(
    function: Callable[[OperationCall, Arrays], Any], lowering: Lowering | None = None, *, trims: bool = True
) -> Operation:  # fmt: skip
    """An operation defined by a function of the call and its full operands, frames included."""
    return Operation(lambda call: checked(call, lambda *arrays: function(call, arrays), trims=trims), lowering)


def in_order(result: NumArray) -> NumArray:
    """A row-major array, which native programs need; NumPy returns column-major results for column-major operands."""
    return result if result.flags.c_contiguous else result.copy()


def as_results(results: Any) -> Arrays:
    return tuple(map(np.asarray, results)) if isinstance(results, tuple) else (np.asarray(results),)
