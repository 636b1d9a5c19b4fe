"""The interface of back ends (`Backend`): it makes kernels for phases and moves values into and out of device memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from ...lang.diagnostics.model import Code, Diagnostic, Label, RunFailed
from ...lang.support.records import dataclass, replace
from ...typechecker.core.operations import CoreGuard, Indexing
from ...typechecker.elements import ArrayType, Kind
from ...typechecker.sizes.polynomials import Size, SizeVariable
from ...typechecker.sizes.size import upper_bound
from ..graph.phases import Constant, Fold, LibraryPhase, Loop, Map, Phase, PhaseId, Structured, ValueId
from .input_sizes import broken_guard

if TYPE_CHECKING:
    from ...lang.syntax.source import Span


# ---------------------------------------------------------------------------------------------------- failures
#
# The exception by which an operation of any back end reports a failed run-time check, before its span is known.
#
# An operation knows the error code and the message.  The interpreter of a fused phase adds the span of the failing node; where
# there is none, the executor adds the span of the phase.  The executor then raises `RunFailed`.

DATA_DEPENDENT_CHECKS: Final = frozenset({Code.E140, Code.E204, Code.E310, Code.E403, Code.E701, Code.E703})
"""Checks that depend on values, so that their messages name the iteration of the loop in which they failed."""


NO_FIXED_INDICES: Final[Mapping[int, int]] = {}


class CheckFailed(Exception):
    """A run-time check of the program failed: E310 index, E703 value, E403 size, E204 empty reduction, E702 memory."""

    def __init__(self, code: Code, message: str) -> None:
        self.code = code
        self.message = message
        self.span: Span | None = None
        """The span of the node of a fused phase that failed, if it is known."""
        self.labels: tuple[Label, ...] = ()
        super().__init__(f"{code}: {message}")

    def at(self, span: Span) -> RunFailed:
        """The error to raise; `span`: the phase's, used if the failing node's span is not known."""
        return RunFailed([Diagnostic(self.code, self.message, self.span or span, labels=self.labels)])


def iteration_label(phase: Loop | Fold | Map, number: int) -> Label | None:
    """The label of a diagnostic that names iteration `number` of a loop; None for a map over several axes."""
    if isinstance(phase, Map) and len(phase.frame) > 1:
        return None
    what = "in iteration" if isinstance(phase, Loop) else "in cell" if isinstance(phase, Map) else "at item"
    return Label(phase.span, f"{what} {number:,} (counted from 0)")


def add_iteration(error: BaseException, label: Label | None) -> None:
    """Add `label` to the error of a failed check that depends on values; leave other errors unchanged."""
    if label is None:
        return
    if isinstance(error, CheckFailed):
        error.labels = (*error.labels, label)
    elif isinstance(error, RunFailed):
        error.diagnostics = tuple(
            [replace(d, labels=(*d.labels, label)) if d.code in DATA_DEPENDENT_CHECKS else d for d in error.diagnostics]
        )


def index_out_of_range(
    index: int, size: int, shift: object = None, indexing: Indexing | None = None,
    fixed: Mapping[int, int] = NO_FIXED_INDICES,
) -> CheckFailed:  # fmt: skip
    """E310 for an index outside its axis of `size` items, or for a bit count out of range if `shift` is the kind of a shift.

    `indexing`: how the program writes the index; `fixed`: the indices of the other axes, where they are single numbers."""
    if shift:
        return CheckFailed(Code.E310, f"a shift of {shift} is by 0 to {size - 1} bits, but this is {rho_number(index)}")
    indexing = indexing or Indexing(0, 1, 0)
    where, origin = "", indexing.origin
    if indexing.rank > 1:
        every = {**fixed, indexing.axis: index}
        where = f": [{';'.join(rho_number(every[axis] + origin) if axis in every else '' for axis in range(indexing.rank))}]"
    message = f"index {rho_number(index + origin)} (counted from {origin}) is outside an axis of length {size}{where}"
    failure = CheckFailed(Code.E310, message)
    failure.span = indexing.span
    return failure


def rho_number(value: complex | float | int | bool) -> str:
    """A number in Rho's notation with all its digits, for messages: `¯3`, `2.5`, `1E30`, `NaN`, `¯∞`, `3J¯4`."""
    if isinstance(value, complex):
        return f"{rho_number(value.real)}J{rho_number(value.imag)}"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "¯∞"
    text = str(int(value)) if isinstance(value, int) else repr(value).removesuffix(".0")
    return text.replace("e+", "E").replace("e", "E").replace("-", "¯")


# ---------------------------------------------------------------------------------------------------- interface

Kernel: TypeAlias = Callable[[Mapping[ValueId, Any], Any], tuple[Any, ...]]
"""`kernel(memory, target)`: the results in order; the first may be written into the array `target`, which may be None."""
RegionKernel: TypeAlias = Callable[[Mapping[ValueId, Any]], Sequence[Any] | None]
"""`kernel(memory)`: the results in order; None if the interpreter is to run the phases inside instead."""
Index: TypeAlias = tuple[int | slice, ...]
"""A part of an array: a cell by its indices on the leading axes, or a box by slices."""


@dataclass(slots=True)
class Types:
    """The types of values, with the sizes known so far.

    `sizes` grows while the program runs; `guards` are those that mention a run-time size."""

    types: Mapping[ValueId, ArrayType]
    sizes: dict[SizeVariable, int]
    guards: tuple[CoreGuard, ...] = ()

    def kind(self, value: ValueId) -> Kind:
        return self.types[value].element.kind

    def shape(self, value: ValueId) -> tuple[int, ...]:
        return tuple(map(self.number, self.types[value].shape))

    def cap_shape(self, value: ValueId) -> tuple[int, ...]:
        """The shape, with each unknown size at its cap."""
        return tuple(upper_bound(size).evaluate({}) for size in self.types[value].shape)

    def number(self, size: Size) -> int:
        constant = size.constant
        return size.evaluate(self.sizes) if constant is None else constant

    def define(self, variable: SizeVariable, value: int) -> None:
        """Record the value of a run-time size.

        Raises CheckFailed E403 if it is negative or above its cap, and RunFailed E701 if a guard that mentions it fails."""
        cap = None if variable.cap is None else self.number(variable.cap)
        if value < 0 or (cap is not None and value > cap):
            raise CheckFailed(Code.E403, f"{variable.name} is {value}, outside 0 to {cap}")
        self.sizes[variable] = value
        self.check(variable)

    def check(self, variable: SizeVariable) -> None:
        """Check the guards that mention this size.  Raises RunFailed E701."""
        for guard in self.guards:
            needed = guard.variables()
            if variable in needed and all(v in self.sizes for v in needed) and not guard.holds(self.sizes):
                raise RunFailed([broken_guard(guard, self.sizes)])


class Backend(Protocol):
    """One per device of a plan.  A kernel is for the sizes that `types` has when the kernel is made."""

    def structured(self, phase: Structured, types: Types) -> Kernel: ...
    def library(self, phase: LibraryPhase, types: Types) -> Kernel: ...
    def rows(self, members: Sequence[Structured], wanted: Sequence[ValueId], types: Types) -> Kernel:
        """The kernel of a row chain (`graph.fusion_groups`) that computes the `wanted` values."""
        ...

    def region(self, phase: Loop | Map | Fold, types: Types, program: Mapping[PhaseId, Phase]) -> RegionKernel | None:
        """One kernel for a phase that contains others (all phases: `program`); None if the interpreter is to run those inside."""
        ...

    def constant(self, phase: Constant, types: Types) -> Any: ...
    def bring(self, value: Any, kind: Kind) -> Any:
        """Copy a host array into the device's memory, or share it: the host's array is never written."""
        ...

    def fetch(self, value: Any, kind: Kind) -> Any:
        """A value as a host array, for printing and saving, which shares memory with nothing that is written later."""
        ...

    def item(self, value: Any) -> Any:
        """A scalar as a Python number, for conditions and sizes."""
        ...

    def part(self, value: Any, index: Index) -> Any:
        """A view of a cell or a box of an array."""
        ...

    def empty(self, kind: Kind, shape: tuple[int, ...]) -> Any:
        """A new array with undefined contents."""
        ...

    def store(self, target: Any, index: Index, part: Any) -> None:
        """Write `part` into a cell or a box of `target`, which `empty` made."""
        ...

    def quiet(self) -> Any:
        """A context manager that turns off floating-point warnings."""
        ...
