"""The library ops of the graph on NumPy arrays: one implementation a row of `graph.registry`.

`IMPLEMENTATIONS[phase.op](phase, arrays, context)` takes the operands in order and gives the results in order.  Operands
are read only and may be strided views; a result never shares memory with one.  Ops that define a run-time size record it in the
context.  A failed check is `RunFailed` at the phase's span.  Nothing warns: the executor turns floating-point flags off.

Element semantics are those of `reference`, bit for bit except where `contract`, the transforms and linear algebra
sum in BLAS's order.

Neighbours: `run.cpu.context`, `graph.phases.LibraryPhase` (names and attributes), `run.cpu.executor` (calls this).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from .....typechecker.elements import Kind
from .....typechecker.sizes import Size, SizeVariable
from ....graph.phases import LibraryPhase, ValueId
from ....graph.registry import is_unread
from ...device import Kernel, Types
from ...failures import CheckFailed
from ...pool import trim
from ..context import Context
from .compiled import COMPILED, Compiled
from .contracting import CONTRACTING
from .finding import FINDING
from .frames import Arrays, Call, Implementation, Surroundings
from .grading import GRADING
from .keyed import KEYED
from .linear import LINEAR
from .making import MAKING
from .masking import MASKING
from .moving import MOVING
from .radix import RADIX
from .searching import SEARCHING
from .selecting import SELECTING
from .sequential import SEQUENTIAL
from .transforms import TRANSFORMS

__all__ = ["IMPLEMENTATIONS", "Context", "Implementation", "library_kernel"]


def _located(implementation: Implementation, compiled: Compiled | None) -> Implementation:
    """By the kernel or the implementation, with failed checks blamed on the phase's span."""

    def run(phase: LibraryPhase, arrays: Arrays, context: Surroundings) -> Arrays:
        try:
            if compiled is not None:
                made = compiled(Call(phase, context), arrays)
                if made is not None:
                    return (made,)
            if not is_unread(phase):  # such a result takes no memory
                trim()
            return implementation(phase, arrays, context)
        except CheckFailed as failure:
            raise failure.at(phase.span) from None

    return run


IMPLEMENTATIONS: Final[dict[str, Implementation]] = {
    name: _located(implementation, COMPILED.get(name))
    for topic in (
        MOVING, SELECTING, MASKING, SEQUENTIAL, CONTRACTING, GRADING, SEARCHING, FINDING, RADIX, KEYED, MAKING, LINEAR,
        TRANSFORMS,
    )
    for name, implementation in topic.items()
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Executing:
    """`Surroundings` in the executor, which records run-time sizes itself; shapes are fixed for one kernel."""

    types: Types
    shapes: dict[ValueId, tuple[int, ...]] = field(default_factory=dict)

    def kind(self, value: ValueId) -> Kind:
        return self.types.kind(value)

    def shape(self, value: ValueId) -> tuple[int, ...]:
        known = self.shapes.get(value)
        if known is None:
            known = self.shapes[value] = self.types.shape(value)
        return known

    def size(self, size: Size) -> int:
        return self.types.number(size)

    def define(self, variable: SizeVariable, value: int) -> None:
        return None


def library_kernel(phase: LibraryPhase, types: Types) -> Kernel:
    """The phase as a kernel for the sizes that `types` knows now; it never writes over an operand."""
    implementation, surroundings, args = IMPLEMENTATIONS[phase.op], _Executing(types), phase.args

    def run(memory: Mapping[ValueId, Any], target: Any) -> tuple[Any, ...]:
        return implementation(phase, tuple([np.asarray(memory[a]) for a in args]), surroundings)

    return run
