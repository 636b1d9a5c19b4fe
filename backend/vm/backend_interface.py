"""What a back end offers the executor: kernels for phases, and values in and out of its memory; and what it is told of these."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from ...lang.diagnostics.model import Code, Diagnostic, Label, RunFailed
from ...lang.support.records import dataclass
from ...typechecker.core.arrays import Indexing
from ...typechecker.core.blocks import CoreGuard
from ...typechecker.elements import ArrayType, Kind
from ...typechecker.sizes.polynomials import Size, SizeVariable
from ...typechecker.sizes.size import upper_bound
from ..graph.phases import Constant, Fold, LibraryPhase, Loop, Map, Phase, PhaseId, Structured, ValueId
from .input_sizes import broken_guard

if TYPE_CHECKING:
    from ...lang.syntax.source import Span


# ---------------------------------------------------------------------------------------------------- failures
#
# How an operation of any back end says that a run-time check failed, before its span is known.
#
# Operations know the code and the sentence; who runs the nodes of a fused phase adds the span of the node, the executor that of
# the phase where there is none, and raises `RunFailed`.

_CHECKS: Final = frozenset({Code.E140, Code.E204, Code.E310, Code.E403, Code.E701, Code.E703})
"""What fails for the values at hand, and so in one iteration of a loop."""


NOTHING: Final[Mapping[int, int]] = {}


class CheckFailed(Exception):
    """A run-time check of the program failed: E310 index, E703 value, E403 size, E204 empty reduction, E702 memory."""

    def __init__(self, code: Code, message: str) -> None:
        self.code = code
        self.message = message
        self.span: Span | None = None
        """The part of a fused phase that failed, where it is known."""
        self.labels: tuple[Label, ...] = ()
        super().__init__(f"{code}: {message}")

    def at(self, span: Span) -> RunFailed:
        """The error of a program; `span`: of the phase."""
        return RunFailed([Diagnostic(self.code, self.message, self.span or span, labels=self.labels)])


def iteration_of(phase: Loop | Fold | Map, number: int) -> Label | None:
    """Where in a loop something failed; None of a map over several axes."""
    if isinstance(phase, Map) and len(phase.frame) > 1:
        return None
    what = "in iteration" if isinstance(phase, Loop) else "in cell" if isinstance(phase, Map) else "at item"
    return Label(phase.span, f"{what} {number:,} (counted from 0)")


def locate(error: BaseException, label: Label | None) -> None:
    """Let an error say in which iteration of a loop a check failed; others stay as they are."""
    if label is None:
        return
    if isinstance(error, CheckFailed):
        error.labels = (*error.labels, label)
    elif isinstance(error, RunFailed):
        error.diagnostics = tuple(
            [replace(d, labels=(*d.labels, label)) if d.code in _CHECKS else d for d in error.diagnostics]
        )


def outside(index: int, size: int, shift: object = None, indexing: Indexing | None = None, fixed: Mapping[int, int] = NOTHING
            ) -> CheckFailed:  # fmt: skip
    """An index outside its axis, or a count of bits of a `shift` of this kind; `place`: how the program writes it;
    `beside`: the indices of other axes, of one item."""
    if shift:
        return CheckFailed(Code.E310, f"a shift of {shift} is by 0 to {size - 1} bits, but this is {shown(index)}")
    indexing = indexing or Indexing(0, 1, 0)
    where, origin = "", indexing.origin
    if indexing.rank > 1:
        every = {**fixed, indexing.axis: index}
        where = f": [{';'.join(shown(every[axis] + origin) if axis in every else '' for axis in range(indexing.rank))}]"
    message = f"index {shown(index + origin)} (counted from {origin}) is outside an axis of length {size}{where}"
    failure = CheckFailed(Code.E310, message)
    failure.span = indexing.span
    return failure


def shown(value: complex | float | int | bool) -> str:
    """A number in a message as the program would write it: `¯3`, `2.5`, `1E30`, `NaN`, `¯∞`, `3J¯4`; every digit of it."""
    if isinstance(value, complex):
        return f"{shown(value.real)}J{shown(value.imag)}"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "¯∞"
    text = str(int(value)) if isinstance(value, int) else repr(value).removesuffix(".0")
    return text.replace("e+", "E").replace("e", "E").replace("-", "¯")


# ---------------------------------------------------------------------------------------------------- interface

Kernel: TypeAlias = Callable[[Mapping[ValueId, Any], Any], tuple[Any, ...]]
"""From a memory and an array to write the first result over (or None) to the results, in order."""
RegionKernel: TypeAlias = Callable[[Mapping[ValueId, Any]], Sequence[Any] | None]
"""From a memory to the results, in order; None: going through the phases inside is as good, or all there is."""
Index: TypeAlias = tuple[int | slice, ...]
"""Which part of an array: the point of a cell on the leading axes, or the slices of a box."""


@dataclass(slots=True)
class Types:
    """The types of values, with sizes as numbers at the time of asking; `sizes` grows while the program runs, and `guards` are
    those that wait for one."""

    types: Mapping[ValueId, ArrayType]
    sizes: dict[SizeVariable, int]
    guards: tuple[CoreGuard, ...] = ()

    def kind(self, value: ValueId) -> Kind:
        return self.types[value].element.kind

    def shape(self, value: ValueId) -> tuple[int, ...]:
        return tuple(map(self.number, self.types[value].shape))

    def cap_shape(self, value: ValueId) -> tuple[int, ...]:
        """The shape with sizes that are not known yet at their caps."""
        return tuple(upper_bound(size).evaluate({}) for size in self.types[value].shape)

    def number(self, size: Size) -> int:
        constant = size.constant
        return size.evaluate(self.sizes) if constant is None else constant

    def define(self, variable: SizeVariable, value: int) -> None:
        """A run-time size is known now.  CheckFailed E403: outside 0 to its cap.  RunFailed E701: a guard that waited for it."""
        cap = None if variable.cap is None else self.number(variable.cap)
        if value < 0 or (cap is not None and value > cap):
            raise CheckFailed(Code.E403, f"{variable.name} is {value}, outside 0 to {cap}")
        self.sizes[variable] = value
        self.check(variable)

    def check(self, variable: SizeVariable) -> None:
        """The guards that waited for a size."""
        for guard in self.guards:
            needed = guard.variables()
            if variable in needed and all(v in self.sizes for v in needed) and not guard.holds(self.sizes):
                raise RunFailed([broken_guard(guard, self.sizes)])


class Backend(Protocol):
    """One per device of a plan.  Kernels are for the sizes that `types` knows when they are made."""

    def structured(self, phase: Structured, types: Types) -> Kernel: ...
    def library(self, phase: LibraryPhase, types: Types) -> Kernel: ...
    def rows(self, members: Sequence[Structured], wanted: Sequence[ValueId], types: Types) -> Kernel:
        """A chain along rows (`graph.fusion_groups`) that makes the wanted values."""
        ...

    def region(self, phase: Loop | Map | Fold, types: Types, program: Mapping[PhaseId, Phase]) -> RegionKernel | None:
        """A phase that has others inside, of a program of these phases, as code of its own; None: go through the others."""
        ...

    def constant(self, phase: Constant, types: Types) -> Any: ...
    def bring(self, value: Any, kind: Kind) -> Any:
        """A host array into the device's memory.  The host's array is never written."""
        ...

    def fetch(self, value: Any, kind: Kind) -> Any:
        """A value as a host array, for printing and saving; not shared with anything that is written later."""
        ...

    def item(self, value: Any) -> Any:
        """The Python value of a scalar (conditions, sizes)."""
        ...

    def part(self, value: Any, index: Index) -> Any:
        """A cell or a box of an array, not copied."""
        ...

    def empty(self, kind: Kind, shape: tuple[int, ...]) -> Any:
        """Room for an array."""
        ...

    def store(self, target: Any, index: Index, part: Any) -> None:
        """Write a cell, or a box, of `target`, which `empty` made."""
        ...

    def quiet(self) -> Any:
        """A context in which no operation warns."""
        ...
