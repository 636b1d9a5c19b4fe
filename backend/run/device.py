"""What a back end offers the executor: kernels for phases, and values in and out of its memory; and what it is told of these.

Neighbours: `executor` (drives it), `cpu` and `cuda` (two implementations).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from ...lang.codes import Code
from ...lang.diagnostics import RunFailed
from ...typechecker.core_blocks import CoreGuard
from ...typechecker.elements import Kind
from ...typechecker.sizes import Size, SizeVariable, capacity
from ...typechecker.types import ArrayType
from ..graph.phases import Constant, Fold, LibraryPhase, Loop, Map, Phase, PhaseId, Structured, ValueId
from .binding import broken_guard
from .failures import CheckFailed

Kernel: TypeAlias = Callable[[Mapping[ValueId, Any], Any], tuple[Any, ...]]
"""From a memory and an array to write the first result over (or None) to the results, in order."""
Whole: TypeAlias = Callable[[Mapping[ValueId, Any]], Sequence[Any] | None]
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
        return tuple(capacity(size).evaluate({}) for size in self.types[value].shape)

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
        """A chain along rows (`graph.chains`) that makes the wanted values."""
        ...

    def whole(self, phase: Loop | Map | Fold, types: Types, program: Mapping[PhaseId, Phase]) -> Whole | None:
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

    def place(self, target: Any, index: Index, part: Any) -> None:
        """Write a cell, or a box, of `target`, which `empty` made."""
        ...

    def quiet(self) -> Any:
        """A context in which no operation warns."""
        ...
