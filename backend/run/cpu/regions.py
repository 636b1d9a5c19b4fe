"""Loops, folds, scans and maps as machine code: a region is lowered once, compiled when it pays, and run in ranges.

Neighbours: `loops.lower.region` (what a region is), `loops.llvm` (its text), `ranges` (runs it), `run.words.interpret` (asks here
first).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Final, TypeAlias

import numpy as np

from ...graph.neighbours import is_group
from ...graph.phases import Constant, Loop, PhaseId, ValueId
from ...graph.phases import Phase as AnyPhase
from ...graph.steps import KnownValues
from ...kernels import policy
from ...kernels.kept import Kept
from ...kernels.llvm_leaf import is_installed, vector_bytes
from ...kernels.store import address_of
from ...library.routines import in_parts
from ...loops.ir import Index, Program, View
from ...loops.iterations import Iteration, Phase, iteration_of, trips_of
from ...loops.llvm import calls_of, llvm_text, words_of
from ...loops.lower.recurrences import pointwise
from ...loops.lower.region import Region, lower_region
from ...loops.lower.values import Data, First, Given, State, Unsupported
from ...loops.transform import collapsing, optimise, progressions, runs_in_tiles
from ...loops.transform.progressions import Direction, Known, Progression
from ...loops.transform.tiling import Tiled, tiled
from ..device import Backend, Types
from .bindings import SAVED_NANOSECONDS, Binding, Later, Unbound
from .kinds import DTYPES, NumArray, start_of
from .launching import Base
from .pointwise import Pointwise
from .ranges import BackendOf, Compiled, Ranges
from .sharing import Pieces

Phases: TypeAlias = Mapping[PhaseId, AnyPhase]
Key: TypeAlias = tuple[tuple[tuple[bool, bool], ...], tuple[tuple[str, Known], ...]]
"""What code depends on: which arrays have neighbours and rows side by side, and which index vectors count."""
_LAUNCH_NANOSECONDS: Final = 500.0
"""What one costs in a native program."""
_CALL_NANOSECONDS: Final = 2_500.0
"""What a routine costs in a region beside its work."""
_STEP_NANOSECONDS: Final = 40_000.0
"""What a step of a plan costs beside its work."""
_LEAST_SAVED: Final = 1.5e6
"""Nanoseconds that code must have been able to save before a region is lowered."""
_COPIED: Final = 1 << 20
"""Bytes of an operand up to which a loop reads a copy in rows."""
_MOST_VARIANTS: Final = 4
"""Layouts and index vectors for which there is code; what else comes is served by code that loads its index vectors."""
_MOST_INDICES: Final = 1 << 14
_MOST_FIRST: Final = 8
"""Index vectors are recognised that are no longer than the one, and begin below the other."""


@dataclass(frozen=True, slots=True)
class LoopCode:
    """The text of a region."""

    written: str

    def text(self) -> str:
        return self.written


@dataclass(slots=True)
class RegionRun:
    """One phase: what it is as a program, or why it is none."""

    phase: Phase
    region: Region | None = None
    reason: str = ""
    saved: float = 0.0
    asked: bool = False
    compiled: dict[Key, Compiled | None] = field(default_factory=dict)
    codes: dict[Key, tuple[Program, Tiled | None, LoopCode]] = field(default_factory=dict)
    constants: dict[str, NumArray] = field(default_factory=dict)
    estimated: Iteration | None = None
    sees_itself: bool | None = None
    strided: RegionRun | None = None
    """For operands whose items are not side by side, if this is for others."""
    may_be_flat: bool = True
    pointwise: Pointwise | None = None
    single: tuple[str, ...] = ()
    """Views of single indices."""
    called: frozenset[str] = frozenset()
    """Views that routines are given."""

    def iteration(self, types: Types) -> Iteration:
        if self.estimated is None:
            self.estimated = iteration_of(self.phase, types.types)
        return self.estimated

    def lower(self, types: Types, program: Phases) -> None:
        self.asked = True
        try:
            known = KnownValues(program.values(), types.types)
            self.region = lower_region(self.phase, types.types, types.guards, known, may_be_flat=self.may_be_flat)
            if self.region.is_pointwise and isinstance(self.phase, Loop):
                self.pointwise = Pointwise(self.phase, self.region, self.iteration(types))
            self.single = progressions.single(self.region.program)
            self.called = frozenset(box.view for call in calls_of(self.region.program) for box in call.boxes)
        except Unsupported as unsupported:
            self.reason = str(unsupported)

    def run(self, memory: Mapping[ValueId, Any], types: Types, program: Phases, backend_of: BackendOf, threads: int
            ) -> tuple[Any, ...] | None:  # fmt: skip
        """The results; None where the phase is better run by Python, or must be.  `program`: all its phases."""
        mode = policy.mode()
        if self.reason or mode is policy.Mode.OFF or not is_installed():
            return None
        trips, iteration = trips_of(self.phase, memory, types.number), self.iteration(types)
        if trips <= 0:
            return None
        self.saved += trips * iteration.by_phases
        if mode is policy.Mode.AUTO and self.saved < _LEAST_SAVED:
            return None
        if not self.asked:
            self.lower(types, program)
        if self.region is None or not self.is_one(self.region, iteration):
            return None
        arrays = self.inputs(memory, lambda constant: backend_of(1).constant(constant, types))
        if arrays is None:
            return self.for_strided().run(memory, types, program, backend_of, threads) if self.region.is_flat else None
        compiled = self.code(arrays, self.sizes(types), trips * iteration.by_phases)
        if compiled is None:
            return None
        if self.pointwise is not None:
            return self.pointwise.repeated(compiled, arrays, types, trips, threads)
        return Ranges(self.phase, iteration, self.region, compiled, arrays, types, backend_of, threads).results(memory, trips)

    def is_one(self, region: Region, iteration: Iteration) -> bool:
        return iteration.is_for_region(calls=region.calls, in_tiles=lambda: self.has_rows and runs_in_tiles(region.program))

    @property
    def has_rows(self) -> bool:
        """Are rows what threads may share?  Of maps with a frame it is cells."""
        return isinstance(self.phase, Loop) or is_group(self.phase)

    def is_better(self, memory: Mapping[ValueId, Any], types: Types, program: Phases, drafted: float | None = None) -> bool:
        """Better than what takes so many nanoseconds, or (before that is known) one native launch a phase and iteration?"""
        if self.reason or policy.mode() is policy.Mode.OFF or not is_installed():
            return False
        if isinstance(self.phase, Loop) and self.is_pointwise(self.phase, types):
            return True  # its next run is a launch of its own
        trips, iteration = trips_of(self.phase, memory, types.number), self.iteration(types)
        least = trips * iteration.phases * _LAUNCH_NANOSECONDS if drafted is None else drafted
        if least < _STEP_NANOSECONDS:
            return False
        if not self.asked:
            self.lower(types, program)
        if self.region is None or not self.is_one(self.region, iteration):
            return False
        calls = sum(routine.phase is not None for routine in self.region.routines)
        if calls and drafted is None:
            return False  # they may be native, too
        return drafted is None or _STEP_NANOSECONDS + trips * calls * _CALL_NANOSECONDS < drafted

    def bind(self, binding: Binding, backend: Backend) -> None:
        """What native code does for a loop whose items see only themselves: one launch.  Unbound: it is of another sort."""
        phase, types = self.phase, binding.types
        if not isinstance(phase, Loop):
            raise Unbound
        trips = phase.trip.constant
        if self.region is None and not self.reason:
            raise Later
        if self.region is None or not trips or self.pointwise is None:
            raise Unbound
        arrays = self.inputs(binding.values, lambda constant: backend.constant(constant, types), are_copied=False)
        if arrays is None and self.region.is_flat:
            self.for_strided().bind(binding, backend)
            return
        compiled = None if arrays is None else self.code(arrays, self.sizes(types), binding.runs * SAVED_NANOSECONDS)
        if arrays is None or compiled is None:
            raise Later
        made = [np.empty(types.shape(value), DTYPES[types.kind(value)]) for value in phase.results]
        arrays |= self.pointwise.shown(compiled, made, State)
        pieces, turns = self.pointwise.launch(compiled, arrays, types, int(trips), binding.threads)
        if turns < trips:
            raise Unbound
        bases: list[Base] = [(None, 0), (None, int(trips))]
        for view in compiled.program.views:
            array = arrays[view.name]
            match self.region.sources[view.name]:
                case State(component):
                    bases.append((binding.result(phase.results[component], made[component].shape, made[component].dtype), 0))
                case Given(value):
                    bases.append(binding.base(value, array))
                case First(component):
                    bases.append(binding.base(phase.initial[component], array))
                case _:
                    bases.append((None, start_of(array)))
                    binding.keep.append(array)
        binding.share(pieces, bases)

    def is_pair(self, view: View) -> bool:
        """Is the last axis but one that of two buffers, wherever they lie?"""
        assert self.region is not None
        source = self.region.sources[view.name]
        return isinstance(source, State) and source.doubled and len(view.shape) == 2

    def for_strided(self) -> RegionRun:
        self.strided = self.strided or RegionRun(self.phase, may_be_flat=False)
        return self.strided

    def sizes(self, types: Types) -> dict[str, int]:
        """The program's parameters, but for the range."""
        assert self.region is not None
        return dict(zip(self.region.program.parameters[2:], map(types.number, self.region.sizes), strict=True))

    def is_pointwise(self, loop: Loop, types: Types) -> bool:
        """Does each item of the state see only itself?"""
        if self.sees_itself is None:
            self.sees_itself = pointwise(loop, types.types) is not None
        return self.sees_itself

    def inputs(self, memory: Mapping[ValueId, Any], make: Callable[[Constant], Any], *, are_copied: bool = True
               ) -> dict[str, NumArray] | None:  # fmt: skip
        """The arrays of views that are only read, by view; None if one is not what its type says, or the region wants.
        `are_copied`: may small ones be copies in rows?"""
        assert self.region is not None
        arrays: dict[str, NumArray] = {}
        for view in self.region.program.views:
            match self.region.sources[view.name]:
                case Given(value):
                    array = np.asarray(memory[value])
                case First(component):
                    assert isinstance(self.phase, Loop)
                    array = np.asarray(memory[self.phase.initial[component]])
                case Data(phase):
                    if view.name not in self.constants:
                        self.constants[view.name] = np.asarray(make(phase))
                    array = self.constants[view.name]
                case _:
                    continue
            if self.region.is_flat and len(view.shape) > (array.dtype.kind == "c"):
                if not array.flags.c_contiguous:
                    return None
                array = array.reshape(-1)
            if array.dtype.kind == "c":
                array = in_parts(array)
            if array.dtype != DTYPES[view.kind] or array.ndim != len(view.shape):
                return None
            is_small = are_copied and array.nbytes <= _COPIED and not self.region.is_pointwise
            if is_small and isinstance(self.phase, Loop) and not is_unit(array) and view.name not in self.called:
                array = np.ascontiguousarray(array)
            arrays[view.name] = array
        return arrays

    def code(self, arrays: Mapping[str, NumArray], sizes: Mapping[str, int], nanoseconds: float) -> Compiled | None:
        assert self.region is not None
        flags = {name: is_unit(array) for name, array in arrays.items()}
        counted: dict[str, Known] = {name: p for name, array in arrays.items() if (p := progression(array)) is not None}
        for name in self.single:
            item = single_index(int(arrays[name]), sizes)
            if item is not None:
                counted[name] = item
        packed = {view.name for view in self.region.program.views if not self.is_pair(view)}
        packed -= {name for name, array in arrays.items() if not is_packed(array)}
        layout = tuple((flag, name in packed) for name, flag in flags.items())
        key: Key = (layout, tuple(counted.items()))
        if key not in self.codes and len(self.codes) >= _MOST_VARIANTS:
            counted, key = {}, (layout, ())
        if key in self.compiled:
            return self.compiled[key]
        if key not in self.codes:
            program = self.region.program
            views = tuple(replace(v, unit=flags.get(v.name, True)) for v in program.views)
            program = optimise(progressions.run(replace(program, views=views), counted))
            tiles = tiled(program) if self.has_rows else None
            program = program if tiles is None else tiles.program
            program = collapsing.run(program, packed)
            self.codes[key] = program, tiles, LoopCode(llvm_text(program, vector_bytes()))
        program, tiles, code = self.codes[key]
        if not policy.is_worth(code, nanoseconds):
            return None
        address = address_of(code)
        words = words_of(program)
        self.compiled[key] = None if address is None else Compiled(program, Pieces(address, (), 0, 1, inf), words, tiles)
        return self.compiled[key]


def progression(array: NumArray) -> Progression | None:
    """What an index vector counts, if it does."""
    if array.dtype != np.int64 or array.ndim != 1 or not 2 <= array.size <= _MOST_INDICES:
        return None
    step, least = int(array[1]) - int(array[0]), min(int(array[0]), int(array[-1]))
    if abs(step) != 1 or not 0 <= least < _MOST_FIRST:
        return None
    counted = np.arange(array[0], array[0] + step * array.size, step)
    return Progression(least, Direction(step)) if np.array_equal(array, counted) else None


def single_index(item: int, sizes: Mapping[str, int]) -> Index | None:
    """A few, or a few less than a size."""
    if 0 <= item < _MOST_FIRST:
        return Index((), item)
    below = [(size - item, name) for name, size in sizes.items() if 0 <= size - item < _MOST_FIRST]
    return Index(((min(below)[1], 1),), -min(below)[0]) if below else None


def is_unit(array: NumArray) -> bool:
    """Are neighbours along the last axis side by side?"""
    return not array.ndim or array.shape[-1] <= 1 or array.strides[-1] == array.itemsize


def is_packed(array: NumArray) -> bool:
    """Do the rows lie one after the other?"""
    return array.ndim > 1 and is_unit(array) and (array.shape[-2] <= 1 or array.strides[-2] == array.shape[-1] * array.itemsize)


_runs: Kept[RegionRun] = Kept(256)


def region_of(phase: Phase) -> RegionRun:
    """Kept with the phase."""
    return _runs.of(id(phase), (phase,), lambda: RegionRun(phase))


