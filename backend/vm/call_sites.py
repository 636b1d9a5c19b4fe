"""Call sites (inline caches): native code calls one when it has no specialization of a phase for its operands.

The call site runs the phase in Python and then, if possible, adds a specialization that native code uses the next time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter_ns
from typing import Any, Final

import numpy as np

from ...typechecker.sizes.polynomials import SizeVariable
from ...typechecker.sizes.size import upper_bound
from ..cpu.backend import CpuBackend
from ..cpu.views import DTYPES, model_array, start_of
from ..graph.phases import Fold, LibraryPhase, Loop, Map, Phase, Structured, ValueId
from ..jit import tiering
from ..library.operation_table import bind_library
from .bytecode import BytecodeProgram
from .check_failures import CheckFailed
from .interpreter import LazyKernel
from .run_state import RunState
from .specialization import (
    MAX_TABLE_CELLS,
    SIZE_FAMILY_WORD,
    NotCompiledYet,
    NotSpecializable,
    Sample,
    SizeFamily,
    Specialization,
    fit_size_family,
    specialize_structured,
)

MAX_SPECIALIZATIONS: Final = 96
MAX_FAMILIES: Final = 6
"""The number of specializations of a call site above which it tries no more size families."""
_NEVER: Final = 1 << 62
_NEXT, _SITE, _BINDINGS = 0, 3, 4
"""Word offsets: in a `struct binding` of the next one; in a `struct run` of its call site, and of its first specialization."""


class CallSite:
    """The call site of one instruction, whose words begin at `place`.

    Its arguments are the `operands`, then the run-time `sizes`, then whether the operand `overwrite` may be overwritten."""

    def __init__(
        self, program: BytecodeProgram, offset: int, phase: Phase, operands: Sequence[ValueId], results: Sequence[ValueId],
        overwrite: int,
        sizes: Sequence[SizeVariable],
    ) -> None:  # fmt: skip
        self.program, self.place, self.phase, self.overwrite = program, offset, phase, overwrite
        self.operands, self.results, self.sizes = tuple(operands), tuple(results), tuple(sizes)
        self.dtypes = [DTYPES[program.machine.kind(value)] for value in operands]
        self.runs, self.bindings = 0, 0
        self.least = _NEVER
        """The least nanoseconds of a run through this call site; the first one, which makes kernels, does not count."""
        self.waiting: dict[tuple[int, ...], Sequence[tiering.CodeRequest] | None] = {}
        """By layouts, sizes and variant: the code that a specialization waits for; None if there is one, or can be none."""

    def run(self, memory: dict[ValueId, Any], target: Any) -> Sequence[Any] | None:
        """Runs the phase; returns its results, or None if the inner instructions must run instead."""
        raise NotImplementedError

    def bind(self, binding: Specialization) -> None:
        """Fills in the specialization.  Raises NotSpecializable."""
        raise NotImplementedError

    def defined(self) -> list[int]:
        """The values of the run-time sizes that the phase has defined."""
        return []

    def variant(self, arrays: Sequence[Any]) -> int:
        """The key of a specialization besides layouts and sizes."""
        return 0

    def __call__(self, *given: Any) -> tuple[Any, ...] | None:
        self.runs += 1
        program = self.program
        arrays = [
            value if type(value) is np.ndarray else np.asarray(value, dtype)
            for value, dtype in zip(given, self.dtypes, strict=False)
        ]
        layouts, numbers, began = program.layouts, given[len(arrays) : -1], perf_counter_ns()
        if numbers:
            program.machine.sizes.update(zip(self.sizes, numbers, strict=True))
        try:
            with np.errstate(all="ignore"):
                results = self.run(dict(zip(self.operands, arrays, strict=True)), arrays[self.overwrite] if given[-1] else None)
            if self.runs > 1:
                self.least = min(self.least, perf_counter_ns() - began)
            self.offer(arrays, numbers)
        except CheckFailed as failure:
            raise failure.at(self.phase.span) from None
        if results is None:
            return None
        rows = [array if type(array) is np.ndarray else np.asarray(array) for array in results]
        if layouts.is_full:
            program.retire()
        return (*[item for array in rows for item in (array, layouts.of(array))], *self.defined())

    def offer(self, arrays: Sequence[Any], numbers: Sequence[int]) -> None:
        """Adds a specialization for operands with these layouts and sizes, if its code is compiled."""
        if self.bindings >= MAX_SPECIALIZATIONS:
            return
        program = self.program
        key = (*map(program.layouts.of, arrays), *numbers)
        variant, lost = (*key, self.variant(arrays)), self.least if self.runs > 1 else 0
        waiting = self.waiting.get(variant, ())
        if waiting is None or [request for request in waiting if not request.is_wanted(lost)]:
            return
        values = dict(zip(self.operands, arrays, strict=True))
        binding = Specialization(program.layouts, program.machine, program.threads, lost, values, self.results)
        binding.before = program.before
        try:
            self.bind(binding)
            if binding.waiting:
                raise NotCompiledYet
            words = binding.words(key, self.overwrites(binding, key))
        except NotSpecializable as unbound:
            self.waiting[variant] = binding.waiting if isinstance(unbound, NotCompiledYet) else None
            return
        self.waiting[variant] = None
        keep, tuning = binding.keep, self.tuned(values, numbers) if len(numbers) == 1 and self.bindings < MAX_FAMILIES else None
        if tuning is not None:
            changes = np.array(tuning.tuning, np.int64)
            words, keep = tuning.words, [changes, *tuning.keep]
            words[SIZE_FAMILY_WORD] = changes.ctypes.data
        added = np.array(words, np.int64)
        added[_NEXT] = program.words[self.place + _BINDINGS]
        program.keep += (added, *keep)
        program.native.ask_for_helpers(binding.helpers)
        program.words[self.place + _BINDINGS] = added.ctypes.data
        self.bindings += 1

    def overwrites(self, binding: Specialization, key: Sequence[int]) -> bool:
        return self.overwrite >= 0 and binding.made[self.results[0]][:2] == (key[self.overwrite], -1)

    def tuned(self, values: dict[ValueId, Any], numbers: Sequence[int]) -> SizeFamily | None:
        """The size family for a range around the current value of the only run-time size; None if there is none.

        A condition may exclude sizes of the range, at which a read would leave its operand or lengths would differ; no run has
        these.
        """
        machine, layouts, (variable,), (size,) = self.program.machine, self.program.layouts, self.sizes, numbers

        def example(number: int) -> Sample | None:
            machine.sizes[variable] = number
            if min([length for value in (*changed, *self.results) for length in machine.shape(value)], default=1) < 1:
                return None
            try:
                arrays = dict(values) | {value: model_array(machine.shape(value), values[value].dtype) for value in changed}
                binding = Specialization(layouts, machine, self.program.threads, 0, arrays, self.results)
                key = (*map(layouts.of, arrays.values()), number)
                self.bind(binding)
                return binding.example(key, self.overwrites(binding, key))
            except (NotSpecializable, CheckFailed, MemoryError, AssertionError, ValueError):
                return None

        most = MAX_TABLE_CELLS if variable.cap is None else min(MAX_TABLE_CELLS, upper_bound(variable.cap).evaluate({}))
        changed = [value for value in values if any(variable in length.variables() for length in machine.types[value].shape)]
        is_guarded = any(variable in guard.variables() for guard in machine.guards)
        if is_guarded or not all(values[value].flags.c_contiguous for value in changed):
            return None
        try:
            return fit_size_family(example, layouts, size, most)
        finally:
            machine.sizes[variable] = size


class UnitSite(CallSite):
    """The call site of phases that one kernel runs."""

    def __init__(self, executed: LazyKernel, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.executed = executed
        self.of_nothing: Any = None
        """The result, if it or all operands are empty: then every run gives the same."""

    def run(self, memory: dict[ValueId, Any], target: Any) -> Sequence[Any] | None:
        results = self.executed.run(memory, target)
        self.of_nothing = None
        if len(results) == 1 and memory and not getattr(self.phase, "defines", ()):
            is_empty = isinstance(self.phase, Structured) and not np.size(results[0])
            if is_empty or not any(array.size for array in memory.values()):
                self.of_nothing = np.array(results[0])
        return results

    def bind(self, binding: Specialization) -> None:
        if self.of_nothing is not None:
            binding.made[self.results[0]] = (binding.layouts.of(self.of_nothing.copy()), -1, 0)
            binding.routine = partial(_copied, self.of_nothing)
        elif isinstance(self.phase, LibraryPhase):
            bind_library(binding, self.phase)
        elif isinstance(self.phase, Structured):
            specialize_structured(binding, self.phase, self.executed.kernel())
        else:
            raise NotSpecializable

    def variant(self, arrays: Sequence[Any]) -> int:
        """Is a matrix multiplied by its own transpose?"""
        is_product = isinstance(self.phase, LibraryPhase) and self.phase.op == "contract" and len(arrays) == 2
        return int(is_product and start_of(arrays[0]) == start_of(arrays[1]))

    def defined(self) -> list[int]:
        defines = getattr(self.phase, "defines", ())
        return [self.program.machine.sizes[size] for size in defines]


class AllocSite(CallSite):
    """The call site that allocates memory for a value whose cells are stored later."""

    def run(self, memory: dict[ValueId, Any], target: Any) -> Sequence[Any] | None:
        machine, (value,) = self.program.machine, self.results
        return (np.empty(machine.shape(value), DTYPES[machine.kind(value)]),)

    def bind(self, binding: Specialization) -> None:
        machine, (value,) = self.program.machine, self.results
        binding.result(value, machine.shape(value), DTYPES[machine.kind(value)])


class RegionSite(CallSite):
    """The call site of a phase with inner phases: runs it as one region if the cost model prefers that, else as its
    instructions."""

    def __init__(self, backend: CpuBackend, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.backend, self.is_chosen = backend, False

    @property
    def region(self) -> Any:
        """The region of the phase (`cpu.regions.RegionRun`)."""
        from ..cpu.regions import region_of

        assert isinstance(self.phase, Loop | Map | Fold)
        return region_of(self.phase)

    def run(self, memory: dict[ValueId, Any], target: Any) -> Sequence[Any] | None:
        machine, region = self.program.machine, self.region
        machine.current = self.phase
        is_chosen = region.is_chosen(machine, machine.phases)
        self.is_chosen = bool(is_chosen)
        if is_chosen:
            results: Sequence[Any] | None
            results = region.run(memory, machine, machine.phases, type(self.backend), self.program.threads)
            return results
        if is_chosen is not None and not self.sizes:  # the choice holds for every run, so the call site is no longer called
            self.program.words[self.place + _SITE] = 0
        return None

    def bind(self, binding: Specialization) -> None:
        if not self.is_chosen:
            raise NotCompiledYet
        self.region.bind(binding, self.backend)


def _copied(array: Any, *operands: Any) -> Any:
    return array.copy()


def with_failures_located(
    phase: Phase | None, machine: RunState, sizes: Sequence[SizeVariable], function: Callable[[], int]
) -> Callable[..., int]:
    """`function` with the run-time `sizes` as its arguments, which it records; a failed check gets the span of the phase."""

    def run(*numbers: int) -> int:
        machine.sizes.update(zip(sizes, numbers, strict=True))
        try:
            return function()
        except CheckFailed as failure:
            assert phase is not None
            raise failure.at(phase.span) from None

    return run
