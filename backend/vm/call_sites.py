"""What native code asks for where it has no binding: a phase on its operands, by Python.

The site does the phase as the interpreter in Python does, then says how native code can do it the next time, if it can.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter_ns
from typing import Any, Final

import numpy as np

from ...typechecker.sizes.polynomials import SizeVariable
from ...typechecker.sizes.size import upper_bound
from ..cpu.backend import CpuBackend
from ..cpu.views import DTYPES
from ..graph.phases import Fold, LibraryPhase, Loop, Map, Phase, Structured, ValueId
from ..library.operation_table import bind_library
from .backend_interface import CheckFailed
from .bytecode import BytecodeProgram
from .interpreter import Executed
from .run_state import RunState
from .specialization import MOST_CELLS, TUNING, Example, Later, Specialization, Tuned, Unbound, bind_structured, tuned

MOST_BINDINGS: Final = 96
MOST_UNTUNED: Final = 6
"""Bindings for one value of a size, after which none is sought for many."""
MOST_WAIT: Final = 256
CHANCES: Final = 8
"""Runs of a loop's words after which they are judged although Python was asked."""
_NEVER: Final = 1 << 62
_NEXT, _AFTER, _SITE, _BINDINGS = 0, 2, 3, 4
"""Where a binding names its neighbour; where a `struct run` has the place after it, its site, and the first of its bindings."""


class CallSite:
    """One word's.  `place`: of the word; given are `operands`, then `sizes` that the run has found, then whether the operand that
    is to be written over may be."""

    def __init__(
        self, program: BytecodeProgram, offset: int, phase: Phase, operands: Sequence[ValueId], results: Sequence[ValueId],
        overwrite: int,
        sizes: Sequence[SizeVariable],
    ) -> None:  # fmt: skip
        self.program, self.place, self.phase, self.overwrite = program, offset, phase, overwrite
        self.operands, self.results, self.sizes = tuple(operands), tuple(results), tuple(sizes)
        self.dtypes = [DTYPES[program.machine.kind(value)] for value in operands]
        self.runs, self.latest, self.bindings = 0, 0, 0
        self.due: dict[tuple[int, ...], int] = {}
        self.untuned = 0

    def run(self, memory: dict[ValueId, Any], target: Any) -> Sequence[Any] | None:
        """The results; None: the words inside are to be gone through."""
        raise NotImplementedError

    def bind(self, binding: Specialization) -> None:
        """Unbound: there is no native way."""
        raise NotImplementedError

    def defined(self) -> list[int]:
        """The sizes that it has found."""
        return []

    def __call__(self, *given: Any) -> tuple[Any, ...] | None:
        self.runs += 1
        program = self.program
        program.asked += 1
        arrays = [
            value if type(value) is np.ndarray else np.asarray(value, dtype)
            for value, dtype in zip(given, self.dtypes, strict=False)
        ]
        layouts, numbers = program.layouts, given[len(arrays) : -1]
        if numbers:
            program.machine.sizes.update(zip(self.sizes, numbers, strict=True))
        try:
            with np.errstate(all="ignore"):
                results = self.run(dict(zip(self.operands, arrays, strict=True)), arrays[self.overwrite] if given[-1] else None)
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
        """Add a binding for operands like these, if it is time to ask for one."""
        if self.bindings >= MOST_BINDINGS:
            return
        program = self.program
        key = (*map(program.layouts.of, arrays), *numbers)
        if self.runs < self.due.get(key, 0):
            return
        values = dict(zip(self.operands, arrays, strict=True))
        binding = Specialization(program.layouts, program.machine, program.threads, self.runs - self.latest, values, self.results)
        self.latest = self.runs
        try:
            self.bind(binding)
            words = binding.words(key, self.overwrites(binding, key))
        except Unbound as unbound:
            self.due[key] = self.runs + min(self.runs, MOST_WAIT) if isinstance(unbound, Later) else _NEVER
            return
        self.due[key] = _NEVER
        keep, tuning = binding.keep, self.tuned(values, numbers) if len(numbers) == 1 and self.untuned < MOST_UNTUNED else None
        if tuning is not None:
            changes = np.array(tuning.tuning, np.int64)
            words, keep = tuning.words, [changes, *tuning.keep]
            words[TUNING] = changes.ctypes.data
        elif numbers:
            self.untuned += 1
        added = np.array(words, np.int64)
        added[_NEXT] = program.words[self.place + _BINDINGS]
        program.keep += (added, *keep)
        program.native.ask_for_helpers(binding.helpers)
        program.words[self.place + _BINDINGS] = added.ctypes.data
        self.bindings += 1

    def overwrites(self, binding: Specialization, key: Sequence[int]) -> bool:
        return self.overwrite >= 0 and binding.made[self.results[0]][:2] == (key[self.overwrite], -1)

    def tuned(self, values: dict[ValueId, Any], numbers: Sequence[int]) -> Tuned | None:
        """A binding for this value of the only size that the run has found, and for others."""
        machine, layouts, (variable,), (size,) = self.program.machine, self.program.layouts, self.sizes, numbers

        def example(number: int) -> Example | None:
            machine.sizes[variable] = number
            if min([length for value in (*changed, *self.results) for length in machine.shape(value)], default=1) < 1:
                return None
            try:
                arrays = dict(values) | {value: np.empty(machine.shape(value), values[value].dtype) for value in changed}
                binding = Specialization(layouts, machine, self.program.threads, self.runs, arrays, self.results)
                key = (*map(layouts.of, arrays.values()), number)
                self.bind(binding)
                return binding.example(key, self.overwrites(binding, key))
            except (Unbound, CheckFailed, MemoryError):
                return None

        most = MOST_CELLS if variable.cap is None else min(MOST_CELLS, upper_bound(variable.cap).evaluate({}))
        changed = [value for value in values if any(variable in length.variables() for length in machine.types[value].shape)]
        is_guarded = any(variable in guard.variables() for guard in machine.guards)
        if is_guarded or not all(values[value].flags.c_contiguous for value in changed):
            return None
        try:
            return tuned(example, layouts, size, most)
        finally:
            machine.sizes[variable] = size


class PhaseSite(CallSite):
    """Of phases that one kernel does."""

    def __init__(self, executed: Executed, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.executed = executed
        self.of_nothing: Any = None
        """The result, if no operand has an item, or it has none itself: then it is always this one."""

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
            bind_structured(binding, self.phase, self.executed.kernel())
        else:
            raise Unbound

    def defined(self) -> list[int]:
        defines = getattr(self.phase, "defines", ())
        return [self.program.machine.sizes[size] for size in defines]


class RoomSite(CallSite):
    """Of memory for a value into which cells are put."""

    def run(self, memory: dict[ValueId, Any], target: Any) -> Sequence[Any] | None:
        machine, (value,) = self.program.machine, self.results
        return (np.empty(machine.shape(value), DTYPES[machine.kind(value)]),)

    def bind(self, binding: Specialization) -> None:
        machine, (value,) = self.program.machine, self.results
        binding.result(value, machine.shape(value), DTYPES[machine.kind(value)])


class WholeSite(CallSite):
    """Of a phase that has others inside: by machine code for all of it where that is better than its words."""

    def __init__(self, backend: CpuBackend, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.backend, self.began, self.asked = backend, 0, 0
        self.took: float | None = None
        """What the words took, once they are native (or have had their chances)."""
        self.regional: deque[int] = deque(maxlen=2 * CHANCES)

    def run(self, memory: dict[ValueId, Any], target: Any) -> Sequence[Any] | None:
        from ..cpu.regions import region_of

        machine, phase = self.program.machine, self.phase
        assert isinstance(phase, Loop | Map | Fold)
        machine.current = phase
        results, region = None, region_of(phase)
        is_better = region.is_better(memory, machine, machine.phases, self.took)
        if is_better and self.is_quicker():
            began = perf_counter_ns()
            results = region.run(memory, machine, machine.phases, type(self.backend), self.program.threads)
            self.regional.append(perf_counter_ns() - began)
        elif not is_better and self.took is not None:
            self.leave()
        if results is None:
            self.began, self.asked = perf_counter_ns(), self.program.asked
        return results

    def is_quicker(self) -> bool:
        """Is machine code for all of it quicker than the words have been?  (They are tried again in runs 1, 2, 4, 8, …)"""
        is_trial = self.runs & (self.runs - 1) == 0 and self.took is not None
        return not is_trial and (self.took is None or len(self.regional) <= CHANCES or min(self.regional) < self.took)

    def leave(self) -> None:
        """The words inside are as good as all there is: neither this site nor their end (`encode.within`) is called any more."""
        words = self.program.words
        words[self.place + _SITE] = words[words[self.place + _AFTER] - 2] = 0

    def ended(self) -> int:
        """The words inside have come to their end."""
        if self.asked == self.program.asked or self.runs > CHANCES:
            self.took = min(perf_counter_ns() - self.began, self.took or _NEVER)
        return 0

    def bind(self, binding: Specialization) -> None:
        from ..cpu.regions import region_of

        assert isinstance(self.phase, Loop | Map | Fold)
        region_of(self.phase).bind(binding, self.backend)


def _copied(array: Any, *operands: Any) -> Any:
    return array.copy()


def located(
    phase: Phase | None, machine: RunState, sizes: Sequence[SizeVariable], function: Callable[[], int]
) -> Callable[..., int]:
    """The same of sizes that the run has found, with failed checks blamed on a phase."""

    def run(*numbers: int) -> int:
        machine.sizes.update(zip(sizes, numbers, strict=True))
        try:
            return function()
        except CheckFailed as failure:
            assert phase is not None
            raise failure.at(phase.span) from None

    return run
