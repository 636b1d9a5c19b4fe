"""The CPU back end on NumPy (`device.Backend`): structured phases as slices of ufuncs, library phases as NumPy calls.

Neighbours: `structured`, `library`, `kinds`; `executor` drives it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....typechecker.elements import Kind
from ...graph.phases import Constant, Fold, LibraryPhase, Loop, Map, Phase, PhaseId, Structured, ValueId
from ...schedule.plan.model import Box
from ..device import Kernel, Types
from ..pool import LEAST, Lease
from .kinds import DTYPES, constants, shown, stored
from .structured import compile_structured

if TYPE_CHECKING:
    from .loops import LoopRunner


class CpuBackend:
    """NumPy on `threads` threads."""

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._borrowed: list[Any] = []
        self._given: list[Any] = []

    def structured(self, phase: Structured, types: Types) -> Kernel:
        return compile_structured(phase, types.kind, types.number, self.threads)

    def rows(self, members: Sequence[Structured], wanted: Sequence[ValueId], types: Types) -> Kernel:
        from .rows import compile_rows

        return compile_rows(members, wanted, types.kind, types.number, self.threads)

    def library(self, phase: LibraryPhase, types: Types) -> Kernel:
        from ...library.context import Context
        from ...library.operations import OPERATIONS

        context = Context(types.types, types.sizes, types.guards, self.threads)
        operation, operands = OPERATIONS[phase.op], phase.args

        def run(memory: Mapping[ValueId, Any], overwrite: Any) -> tuple[Any, ...]:
            return operation.run(phase, tuple([np.asarray(memory[value]) for value in operands]), context)

        return run

    def loop(self, phase: Loop, types: Types) -> LoopRunner | None:
        """A loop as one kernel, if it is of that sort."""
        from .loops import compile_loop_kernel

        return compile_loop_kernel(phase, types.kind, lambda value: types.types[value].shape, types.number, self.threads)

    def region(self, phase: Loop | Fold | Map, memory: Mapping[ValueId, Any], types: Types, program: Mapping[PhaseId, Phase]
               ) -> tuple[Any, ...] | None:  # fmt: skip
        """The results of a loop, fold, scan or map by machine code; None: phase by phase is as good, or all there is."""
        from .regions import region_of

        return region_of(phase).run(memory, types, program, type(self), self.threads)

    def constant(self, phase: Constant, types: Types) -> Any:
        return constants(types.kind(phase.result), phase.data, types.shape(phase.result))

    def bring(self, value: Any, kind: Kind) -> Any:
        made = stored(value, kind)
        self._borrowed.append(made)
        return made

    def fetch(self, value: Any, kind: Kind) -> Any:
        """A copy where the value is, or shows memory of, an array that came from outside, went there, or is nobody's to write."""
        array = np.asarray(value)
        if not array.flags.writeable or any(np.may_share_memory(array, given) for given in self._given):
            array = self.copy(array)
        base: Any = array.base
        if base is None or type(base) is Lease:  # nobody's view: it shares memory only with its own views
            if any(array is borrowed or array is borrowed.base for borrowed in self._borrowed):
                array = self.copy(array)
        elif 0 in array.strides or any(np.may_share_memory(array, borrowed) for borrowed in self._borrowed):
            array = self.copy(array)
        self._given.append(array)
        return shown(array, kind) if kind is Kind.CHAR else array

    def copy(self, array: Any) -> Any:
        """A copy, the last axis innermost."""
        if array.nbytes < LEAST:
            return array.copy()
        from .copying import copied

        return copied(array, self.threads)

    def forget(self) -> None:
        """The arrays that were brought are nothing to this back end any more."""
        self._borrowed.clear()
        self._given.clear()

    def item(self, value: Any) -> Any:
        return value.item()

    def cell(self, value: Any, point: tuple[int, ...]) -> Any:
        return value[point] if point else value

    def empty(self, kind: Kind, shape: tuple[int, ...]) -> Any:
        return np.empty(shape, DTYPES[kind])

    def put(self, target: Any, point: tuple[int, ...], cell: Any) -> None:
        target[point] = cell

    def window(self, value: Any, box: Box) -> Any:
        return value[tuple(slice(start, stop) for start, stop in box)]

    def paste(self, target: Any, box: Box, part: Any) -> None:
        target[tuple(slice(start, stop) for start, stop in box)] = part

    def quiet(self) -> Any:
        return np.errstate(all="ignore")
