"""What a library phase sees of the running program: the types of values and the sizes that are bound.

Sizes of inputs and params are numbers before a run starts; a phase that defines a run-time size records it here, which
checks it against its cap and checks the guards that waited for it.

Neighbours: `frames` (asks), `run.executor` (owns the context of a run), `run.binding` (sizes at load).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...lang.codes import Code
from ...lang.diagnostics import RunFailed
from ...typechecker.core import CoreGuard
from ...typechecker.elements import Kind
from ...typechecker.sizes import Size, SizeVariable
from ...typechecker.types import ArrayType
from ..graph.phases import ValueId
from ..run.binding import broken_guard
from ..run.failures import CheckFailed


@dataclass(slots=True)
class Context:
    """`sizes` grows while the program runs; `guards` are those that mention a run-time size."""

    types: Mapping[ValueId, ArrayType]
    sizes: dict[SizeVariable, int]
    guards: tuple[CoreGuard, ...] = ()
    threads: int = 1

    def size(self, size: Size) -> int:
        """The number of a size whose variables are bound."""
        constant = size.constant
        return size.evaluate(self.sizes) if constant is None else constant

    def shape(self, value: ValueId) -> tuple[int, ...]:
        """The concrete shape of a value."""
        return tuple(map(self.size, self.types[value].shape))

    def kind(self, value: ValueId) -> Kind:
        return self.types[value].element.kind

    def define(self, variable: SizeVariable, value: int) -> None:
        """Bind a run-time size.  CheckFailed E403: outside 0 to its cap.  RunFailed E701: a guard that waited for it."""
        cap = None if variable.cap is None else self.size(variable.cap)
        if value < 0 or (cap is not None and value > cap):
            raise CheckFailed(Code.E403, f"{variable.name} is {value}, outside 0 to {cap}")
        self.sizes[variable] = value
        for guard in self.guards:
            needed = guard.variables()
            if variable in needed and all(v in self.sizes for v in needed) and not guard.holds(self.sizes):
                raise RunFailed([broken_guard(guard, self.sizes)])
