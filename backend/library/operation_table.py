"""The table of library operations by name, their specialization for native code, and the routines that regions call."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ...typechecker.elements import Kind
from ...typechecker.sizes.polynomials import Size
from ..cpu.views import DTYPES, NumArray
from ..graph.phases import LibraryPhase, ValueId
from ..loopir.ir import Call, LoopProgram
from ..vm.check_failures import CheckFailed
from ..vm.run_state import Backend, Kernel, Types
from ..vm.specialization import NotCompiledYet, NotSpecializable, Specialization
from .linear import LINEAR, TRANSFORMS
from .operation import CALLING, Function, Operation, OperationCall, OperationContext, as_results
from .products import CONTRACTING
from .scans_and_generators import KEYED, MAKING, RADIX, SCANS
from .search import FINDING, SEARCHING
from .select import MASKING, MOVING, SELECTING
from .sort import GRADING

if TYPE_CHECKING:
    from ..lower.scope import Routine

# ---------------------------------------------------------------------------------------------------- table

OPERATIONS: Final[dict[str, Operation]] = {
    **MOVING, **SELECTING, **MASKING, **SCANS, **CONTRACTING, **GRADING, **SEARCHING, **FINDING, **RADIX, **KEYED, **MAKING,
    **LINEAR, **TRANSFORMS, **CALLING,
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------- specialization
#
# Specializations of library phases: native code where the operation has some for such operands, else one call of a NumPy
# function.

def bind_library(binding: Specialization, phase: LibraryPhase) -> None:
    """Specialize a library phase.  Raises NotSpecializable."""
    operation, types = OPERATIONS[phase.op], binding.types
    if len(phase.results) != 1 or (phase.defines and operation.lowering is None):
        raise NotSpecializable
    if 0 in [array.size for array in binding.values.values()]:
        raise NotSpecializable
    (value,) = phase.results
    try:
        if operation.lowering is not None:
            operation.lowering(binding, phase)
            return
    except NotSpecializable as error:
        if phase.defines or isinstance(error, NotCompiledYet):
            raise
    known = OperationContext(types.types, dict(types.sizes), types.guards, binding.threads)
    binding.routine = operation.meaning(OperationCall(phase, known, is_native=True))
    if list(binding.values) != list(phase.args):  # an operand that is read twice is passed once
        binding.routine = partial(_repeated, binding.routine, [binding.places[value] for value in phase.args])
    binding.result(value, types.shape(value), DTYPES[types.kind(value)])


def _repeated(function: Function, positions: Sequence[int], *operands: Any) -> Any:
    return function(*[operands[position] for position in positions])


# ---------------------------------------------------------------------------------------------------- callbacks of regions
#
# Machine code calls back: a region runs library phases as routines, on the region's memory.
#
# The region's argument block has the address and sizes of each operand and result; the arrays over that memory are cached between
# calls.  The exception of a routine is stored, the machine code returns, and the region raises the exception.
#
# Note [Interrupts].  A signal that arrives while machine code runs is handled when Python continues.  In a callback function that
# is before its first statement, outside every `try`, so the exception would be lost.  A generator continues inside its `try`.

_MOST_BOUND: Final = 64
"""The most address tuples per call whose arrays are cached."""


class _Sizes(Types):
    """The types of the run around a region, plus the run-time sizes that the region has defined."""

    __slots__ = ("numbers",)

    def __init__(self, types: Types, numbers: Mapping[ValueId, Size]) -> None:
        super().__init__(types.types, dict(types.sizes), types.guards)
        self.numbers = numbers

    def kind(self, value: ValueId) -> Kind:
        return Kind.I64 if value in self.numbers else Types.kind(self, value)


class _ScratchMemory:
    """Memory at an address, with NumPy's array interface."""

    def __init__(self, address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any) -> None:
        self.__array_interface__ = {
            "data": (address, False), "shape": shape, "strides": strides, "typestr": dtype.str, "version": 3,
        }  # fmt: skip


BoundArrays: TypeAlias = tuple[dict[ValueId, NumArray], list[NumArray]]
"""The arrays of a routine call at given addresses: operands by value, and results."""


class OperationRoutines:
    """The routine calls of one argument block; `raised`: the exception of the last failed call."""

    def __init__(self, routines: Sequence[Routine], program: LoopProgram, block: Any, types: Types, backend: Backend, threads: int
                 ) -> None:  # fmt: skip
        from ..codegen.llvm_registers import calls_at, calls_of

        self.block, self.raised = block, list[BaseException]()
        places = calls_at(program)
        self.sites = [
            _OperationSite(routines[call.routine], call, program, block, offset, following, types, backend, threads)
            for call, offset, following in zip(calls_of(program), places, places[1:], strict=False)
        ]

    def serve(self) -> Generator[int, int, None]:
        """A generator that runs the calls whose numbers are sent to it; yields 1, or 0 if a call raised an exception.  See Note
        [Interrupts]."""
        done = 1
        while True:
            try:
                while True:
                    self.sites[(yield done)].run()
                    done = 1
            except GeneratorExit:
                return
            except BaseException as error:  # raised again after the machine code has returned
                done = 0
                self.raised.append(error)


class _OperationSite:
    """One routine call of the program."""

    def __init__(self, routine: Routine, call: Call, program: LoopProgram, block: Any, first: int, last: int, types: Types,
                 backend: Backend, threads: int) -> None:  # fmt: skip
        self.routine, self.call, self.block, self.words = routine, call, block, slice(first, last)
        self.types, self.backend, self.threads = _Sizes(types, routine.numbers), backend, threads
        self.known = dict(types.sizes)
        self.strides = _strides(program, block)
        kinds = [self.types.kind(value) for value in (*routine.operands, *routine.results)]
        self.dtypes = [DTYPES[kind] for kind in kinds] + [DTYPES[Kind.I64]] * len(routine.defines)
        self.bound: dict[tuple[int, ...], BoundArrays] = {}
        self.kernels: dict[tuple[int, ...], Kernel] = {}

    def run(self) -> None:
        words, routine, sizes = self.block[self.words], self.routine, self.types.sizes
        numbers = tuple(words[len(words) - len(routine.sizes) :])
        if routine.sizes or routine.defines:
            sizes.clear()
            sizes.update(self.known)
            sizes.update(zip(routine.sizes, numbers, strict=True))
        if routine.phase is None:
            for variable in routine.defines:
                self.types.check(variable)
            return
        key = tuple(words)
        if key not in self.bound:
            if len(self.bound) >= _MOST_BOUND:
                self.bound.clear()
            self.bound[key] = self.bind(words)
        memory, targets = self.bound[key]
        try:
            kernel = self.kernels.get(numbers)
            if kernel is None:
                self.kernels.clear()
                kernel = self.kernels[numbers] = self.kernel()
            results = kernel(memory, None)
        except CheckFailed as failure:
            raise failure.at(routine.phase.span) from None
        for target, array in zip(targets, results, strict=False):
            if routine.defines:
                target = target[tuple(map(slice, array.shape))]
            target[...] = array
        for target, variable in zip(targets[len(results) :], routine.defines, strict=True):
            target[...] = sizes[variable]

    def kernel(self) -> Kernel:
        from ..lower.library_loops import with_size_operands

        phase = self.routine.phase
        assert phase is not None
        if isinstance(phase, LibraryPhase):
            types, operands = self.types, phase.args
            context = OperationContext(types.types, types.sizes, types.guards, self.threads)
            function = OPERATIONS[phase.op].meaning(OperationCall(phase, context))
            return lambda memory, _: as_results(function(*[memory[value] for value in operands]))
        return self.backend.structured(with_size_operands(phase, self.routine.numbers), self.types)

    def bind(self, words: Sequence[int]) -> BoundArrays:
        """Returns the arrays at the addresses and with the sizes in `words`."""
        supply, arrays = iter(words), list[NumArray]()
        for box, dtype in zip(self.call.boxes, self.dtypes, strict=True):
            address = next(supply)
            rows = zip(box.shape, self.strides[box.view], strict=True)
            axes = [(next(supply), stride) for size, stride in rows if size is not None]
            if dtype.kind == "c":
                axes.pop()
            shape, strides = tuple(size for size, _ in axes), tuple(stride for _, stride in axes)
            arrays.append(np.asarray(_ScratchMemory(address, shape, strides, dtype)))
        count = len(self.call.reads)
        memory = dict(zip(self.routine.operands, arrays[:count], strict=True))
        memory.update((alias, memory[other].transpose(axes)) for alias, other, axes in self.routine.transposed)
        return memory, arrays[count:]


def _strides(program: LoopProgram, block: Any) -> dict[str, list[int]]:
    """Returns the strides of each view in bytes."""
    from ..codegen.llvm_registers import strides_of

    strides, offset = {}, len(program.parameters)
    for view in program.views:
        last = offset + 1 + strides_of(view)
        strides[view.name] = [*block[offset + 1 : last], view.kind.bytes][: len(view.shape)]
        offset = last
    return strides
