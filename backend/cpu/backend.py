"""`CpuBackend`, the back end for this machine's CPU: implements `vm.run_state.Backend` with kernels and NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...typechecker.elements import Kind
from ..graph.phases import Constant, Fold, LibraryPhase, Loop, Map, Phase, PhaseId, Structured, ValueId
from ..vm.run_state import MIN_POOLED, Index, Kernel, PooledBuffer, RegionKernel, Types, pooled_empty
from .phases import compile_structured
from .views import DTYPES, as_stored, as_view, constants


class CpuBackend:
    """The CPU with `threads` threads."""

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._borrowed: list[Any] = []
        self._given: list[Any] = []

    def structured(self, phase: Structured, types: Types) -> Kernel:
        return compile_structured(phase, types.kind, types.number, self.threads)

    def rows(self, members: Sequence[Structured], wanted: Sequence[ValueId], types: Types) -> Kernel:
        from .phases import compile_rows

        return compile_rows(members, wanted, types.kind, types.number, self.threads)

    def library(self, phase: LibraryPhase, types: Types) -> Kernel:
        from ..library.operation import OperationContext
        from ..library.operation_table import OPERATIONS

        context = OperationContext(types.types, types.sizes, types.guards, self.threads)
        operation, operands = OPERATIONS[phase.op], phase.args

        def run(memory: Mapping[ValueId, Any], overwrite: Any) -> tuple[Any, ...]:
            return operation.run(phase, tuple([np.asarray(memory[value]) for value in operands]), context)

        return run

    def region(self, phase: Loop | Fold | Map, types: Types, program: Mapping[PhaseId, Phase]) -> RegionKernel | None:
        """The compiled region of the phase and the phases inside it, if compiling pays."""
        from .regions import region_of

        def run(memory: Mapping[ValueId, Any]) -> Sequence[Any] | None:
            return region_of(phase).run(memory, types, program, type(self), self.threads)

        return run

    def constant(self, phase: Constant, types: Types) -> Any:
        return constants(types.kind(phase.result), phase.data, types.shape(phase.result))

    def bring(self, value: Any, kind: Kind) -> Any:
        array = as_stored(value, kind)
        self._borrowed.append(array)
        return array

    def fetch(self, value: Any, kind: Kind, room: Any = None) -> Any:
        """The value of kind `kind` as its consumer may keep it: a copy if it shares memory with an array of the caller or is
        read-only."""
        array = np.asarray(value)
        if not array.flags.writeable or any(np.may_share_memory(array, given) for given in self._given):
            array = self.copy(array)
        base: Any = array.base
        if base is None or type(base) is PooledBuffer:  # no view: only its own views share its memory
            if any(array is borrowed or array is borrowed.base for borrowed in self._borrowed):
                array = self.copy(array)
        elif 0 in array.strides or any(np.may_share_memory(array, borrowed) for borrowed in self._borrowed):
            array = self.copy(array)
        self._given.append(array)
        return as_view(array, kind) if kind is Kind.CHAR else array

    def copy(self, array: Any) -> Any:
        """A row-major copy."""
        if array.nbytes < MIN_POOLED:
            return array.copy()
        from .templates import contiguous_copy

        return contiguous_copy(array, self.threads)

    def forget(self) -> None:
        """Forget which arrays the caller passed in."""
        self._borrowed.clear()
        self._given.clear()

    def item(self, value: Any) -> Any:
        return value.item()

    def part(self, value: Any, index: Index) -> Any:
        return value[index] if index else value

    def empty(self, kind: Kind, shape: tuple[int, ...]) -> Any:
        return pooled_empty(shape, DTYPES[kind])

    def store(self, target: Any, index: Index, part: Any) -> None:
        target[index] = part

    def quiet(self) -> Any:
        return np.errstate(all="ignore")
