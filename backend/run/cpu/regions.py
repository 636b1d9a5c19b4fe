"""Loops, folds, scans and maps as machine code: a region is lowered once, compiled when it pays, and run in ranges.

Between ranges Python hears interrupts; they are made as long as `policy.HEARD_NANOSECONDS`, by the clock.  Cells of maps are
independent, so their ranges go to the team, each thread with scratch of its own.  Which ranges there are changes no bit.

Neighbours: `loops.lower.region` (what a region is), `loops.llvm` (its text), `run.words.interpret` (asks here first).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter_ns
from typing import Any, Final, TypeAlias

import numpy as np

from ....lang.codes import Code
from ....lang.diagnostics import Diagnostic, RunFailed
from ....typechecker.sizes import Size
from ...graph import traverse
from ...graph.phases import Constant, Fold, Loop, Map, PhaseId, ValueId
from ...graph.phases import Phase as AnyPhase
from ...kernels import policy
from ...kernels.llvm_leaf import is_installed, vector_bytes
from ...kernels.store import address_of
from ...loops.ir import MOST_VALUES, Index, Program
from ...loops.iterations import Iteration, Phase, iteration_of, trips_of
from ...loops.llvm import calls_at, calls_of, is_own, llvm_text, strides_of, words_of
from ...loops.lower.region import Region, literals_of, lower_region
from ...loops.lower.values import Check, Data, Ended, Given, Made, Scratch, State, Turn, Unsupported
from ...loops.transform import optimise, progressions
from ...loops.transform.progressions import Direction, Known, Progression
from ...loops.transform.tiling import Tiled, tiled
from ..device import Backend, Types
from ..failures import CheckFailed, locate, outside
from ..failures import iteration_of as label_of
from ..pool import room
from ..team import run_boxes
from .compiled import CALL
from .kinds import DTYPES, NumArray
from .routines import Routines, in_parts
from .scalars import implementation
from .tiles import Rows, run_tiles, stretches_of

Phases: TypeAlias = Mapping[PhaseId, AnyPhase]
BackendOf: TypeAlias = Callable[[int], Backend]
"""A back end by how many threads it has."""
Key: TypeAlias = tuple[tuple[bool, ...], tuple[tuple[str, Known], ...]]
"""What code depends on: which arrays have neighbours side by side, and which index vectors count."""
_LAUNCH_NANOSECONDS: Final = 500.0
"""What one costs in a native program."""
_CALL_NANOSECONDS: Final = 2_500.0
"""What a routine costs in a region beside its work."""
_STEP_NANOSECONDS: Final = 40_000.0
"""What a step of a plan costs beside its work."""
_LEAST_SAVED: Final = 1.5e6
"""Nanoseconds that code must have been able to save before a region is lowered."""
_FIRST_OPERATIONS: Final = 200_000
"""Points of the first range."""
_COPIED: Final = 1 << 20
"""Bytes of an operand up to which a loop reads a copy in rows."""
_GROWTH: Final = 16
ROUTINE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
_MOST_VARIANTS: Final = 4
"""Layouts and index vectors for which there is code; what else comes is served by code that loads its index vectors."""
_NANOSECONDS: Final = 0.2
"""What a scalar function costs in code at each point."""
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
class Compiled:
    """A region for operands of one layout; `words`: how many it is given."""

    program: Program
    call: Callable[[int], int]
    words: int
    address: int
    tiled: Tiled | None


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
            self.region = lower_region(self.phase, types.types, types.guards, literals_of(program.values(), types.types))
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
        if trips <= 0 or not iteration.is_for_region(calls=self.region is not None and self.region.calls):
            return None
        self.saved += trips * iteration.by_phases
        if mode is policy.Mode.AUTO and self.saved < _LEAST_SAVED:
            return None
        if not self.asked:
            self.lower(types, program)
        if self.region is None or not iteration.is_for_region(calls=self.region.calls):
            return None
        arrays = self.inputs(memory, lambda constant: backend_of(1).constant(constant, types))
        if arrays is None:
            return None
        sizes = dict(zip(self.region.program.parameters[2:], map(types.number, self.region.sizes), strict=True))
        compiled = self.code(arrays, sizes, trips * iteration.by_phases)
        if compiled is None:
            return None
        return _Launch(self, self.region, compiled, arrays, types, backend_of, threads).results(memory, trips)

    def is_better(self, memory: Mapping[ValueId, Any], types: Types, program: Phases, drafted: float | None = None) -> bool:
        """Better than what takes so many nanoseconds, or (before that is known) one native launch a phase and iteration?"""
        if self.reason or policy.mode() is policy.Mode.OFF or not is_installed():
            return False
        trips, iteration = trips_of(self.phase, memory, types.number), self.iteration(types)
        least = trips * iteration.phases * _LAUNCH_NANOSECONDS if drafted is None else drafted
        if least < _STEP_NANOSECONDS:
            return False
        if not self.asked:
            self.lower(types, program)
        if self.region is None or not iteration.is_for_region(calls=self.region.calls):
            return False
        calls = sum(routine.phase is not None for routine in self.region.routines)
        if calls and drafted is None:
            return False  # they may be native, too
        return drafted is None or _STEP_NANOSECONDS + trips * calls * _CALL_NANOSECONDS < drafted

    def inputs(self, memory: Mapping[ValueId, Any], make: Callable[[Constant], Any]) -> dict[str, NumArray] | None:
        """The arrays of views that are only read, by view; None if one is not what its type says."""
        assert self.region is not None
        arrays: dict[str, NumArray] = {}
        for view in self.region.program.views:
            match self.region.sources[view.name]:
                case Given(value):
                    array = np.asarray(memory[value])
                case Data(phase):
                    if view.name not in self.constants:
                        self.constants[view.name] = np.asarray(make(phase))
                    array = self.constants[view.name]
                case _:
                    continue
            if array.dtype.kind == "c":
                array = in_parts(array)
            if array.dtype != DTYPES[view.kind] or array.ndim != len(view.shape):
                return None
            if array.nbytes <= _COPIED and isinstance(self.phase, Loop) and not is_unit(array) and view.name not in self.called:
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
        key: Key = (tuple(flags.values()), tuple(counted.items()))
        if key not in self.codes and len(self.codes) >= _MOST_VARIANTS:
            counted, key = {}, (tuple(flags.values()), ())
        if key in self.compiled:
            return self.compiled[key]
        if key not in self.codes:
            program = self.region.program
            views = tuple(replace(v, unit=flags.get(v.name, True)) for v in program.views)
            program = optimise(progressions.run(replace(program, views=views), counted))
            tiles = tiled(program) if isinstance(self.phase, Loop) else None
            program = program if tiles is None else tiles.program
            self.codes[key] = program, tiles, LoopCode(llvm_text(program, vector_bytes()))
        program, tiles, code = self.codes[key]
        if not policy.is_worth(code, nanoseconds):
            return None
        address = address_of(code)
        self.compiled[key] = None if address is None else Compiled(program, CALL(address), words_of(program), address, tiles)
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


class _Launch:
    """One run of a region."""

    def __init__(self, run: RegionRun, region: Region, compiled: Compiled, inputs: Mapping[str, NumArray], types: Types,
                 backend_of: BackendOf, threads: int) -> None:  # fmt: skip
        self.run, self.region, self.compiled, self.types, self.backend_of = run, region, compiled, types, backend_of
        self.threads = threads
        self.program = compiled.program
        self.arrays: dict[str, NumArray] = dict(inputs)
        self.others: dict[str, NumArray] = {}
        self.buffers: dict[int, list[NumArray]] = {}
        self.views = [(view, region.sources[view.name]) for view in self.program.views]

    def shape(self, sizes: Sequence[Size]) -> tuple[int, ...]:
        return tuple([self.types.number(size) for size in sizes])

    def results(self, memory: Mapping[ValueId, Any], trips: int) -> tuple[Any, ...] | None:
        phase = self.run.phase
        if isinstance(phase, Map):
            made = self.made()
            self.cells(made[0].shape[0] if made else self.types.number(phase.frame[0]))
            return tuple(made)
        first = int(isinstance(phase, Fold))
        if isinstance(phase, Loop):
            initial = [np.asarray(memory[value]) for value in phase.initial]
        else:
            initial = [np.asarray(memory[value])[0 if phase.scan else -1] for value in phase.args]
        made = self.made()
        for target, value in zip(made, initial, strict=False):
            target[0] = value
        self.states(initial)
        self.ranges(first, trips)
        return tuple(made) or self.final()

    # ----------------------------------------------------------------------------------------- memory

    def made(self) -> list[NumArray]:
        """Arrays of the results, which the program writes."""
        made: list[NumArray] = []
        for view, source in self.views:
            if isinstance(source, Made):
                result = traverse.results(self.run.phase)[source.place]
                made.append(room(self.types.shape(result), DTYPES[self.types.kind(result)]))
                self.arrays[view.name] = in_parts(made[-1])
        return made

    def states(self, initial: Sequence[NumArray]) -> None:
        """Buffers of the state, filled."""
        for view, source in self.views:
            match source:
                case State(component, doubled):
                    first = initial[component]
                    dtype = DTYPES[self.types.kind(traverse.results(self.run.phase)[component])]
                    self.buffers[component] = [room(first.shape, dtype) for _ in range(1 + doubled)]
                    self.buffers[component][0][...] = first
                    self.arrays[view.name], *others = map(in_parts, self.buffers[component])
                    self.others.update((view.name, other) for other in others)
                case Turn():
                    self.arrays[view.name] = np.zeros((), np.int64)
                case Ended():
                    self.arrays[view.name] = np.zeros((), np.bool_)
                case _:
                    pass

    def final(self) -> tuple[Any, ...]:
        """The last state, in order of the components."""
        turn = next((int(self.arrays[view.name]) for view, source in self.views if isinstance(source, Turn)), 0)
        return tuple(self.buffers[component][turn * (len(self.buffers[component]) - 1)] for component in sorted(self.buffers))

    def words(self, scratch: Mapping[str, NumArray]) -> Any:
        block = (ctypes.c_int64 * self.compiled.words)()
        place = 2
        for size in self.region.sizes:
            block[place] = self.types.number(size)
            place += 1
        if self.compiled.tiled is not None:
            block[place : place + 4] = [0, self.number(self.compiled.tiled.rows), 0, 0]
            place += 4
        for view, _ in self.views:
            if is_own(self.program, view):
                continue
            array = self.arrays.get(view.name)
            array = scratch[view.name] if array is None else array
            block[place] = array.__array_interface__["data"][0]
            strides = list(array.strides)
            if view.name in self.others:  # two buffers are one view, wherever they lie
                strides.insert(0, self.others[view.name].__array_interface__["data"][0] - block[place])
            place += 1
            for stride in strides[: strides_of(view)]:
                block[place] = stride
                place += 1
        return block

    def number(self, form: Index) -> int:
        """A form in sizes."""
        sizes = dict(zip(self.program.parameters[2:], map(self.types.number, self.region.sizes), strict=False))
        return form.constant + sum(sizes[name] * c for name, c in form.terms)

    def scratch(self) -> dict[str, NumArray]:
        """In the shapes that transformations have left."""
        made: dict[str, NumArray] = {}
        for view, source in self.views:
            if isinstance(source, Scratch) and not is_own(self.program, view):
                made[view.name] = room(tuple(map(self.number, view.shape)), DTYPES[view.kind])
        return made

    # ---------------------------------------------------------------------------------------- running

    def ranges(self, first: int, last: int) -> None:
        """Iterations one after the other, each range as long as an interrupt may wait."""
        block = _Block(self, self.threads)
        if self.in_tiles(block, first, last):
            return
        ended = next((self.arrays[view.name] for view, source in self.views if isinstance(source, Ended)), None)
        pace = _Pace(first, last, last, self.run.iteration(self.types).points)
        for start, stop in pace.ranges():
            self.timed(block, start, stop, pace)
            if ended is not None and ended:
                return

    def in_tiles(self, block: _Block, first: int, last: int) -> bool:
        """Iterations in tiles of rows, where that is better."""
        tiles = self.compiled.tiled
        if tiles is None:
            return False
        iteration, count = self.run.iteration(self.types), self.number(tiles.rows)
        if count < 1:
            return False
        touched = sum(array.nbytes for buffers in self.buffers.values() for array in buffers)
        rows = Rows(count, touched // count, _NANOSECONDS * iteration.functions / count, tiles.reach, tiles.levels, tiles.wraps)
        cut = stretches_of(rows, last - first, self.threads)
        if cut is None:
            return False
        owners = block, self.arrays, self.buffers
        run_tiles(self.compiled.call, self.compiled.address, block.words, 2 + len(self.region.sizes), rows, cut, first, last,
                  self.threads, owners)  # fmt: skip
        return True

    def cells(self, count: int) -> None:
        """Cells in any order."""
        most = -(-count // (4 * self.threads))
        pace = _Pace(0, count, most, self.run.iteration(self.types).points)
        failures: dict[int, CheckFailed | RunFailed] = {}

        def worker() -> Callable[[tuple[int, int]], None]:
            block = _Block(self, 1)

            def work(cells: tuple[int, int]) -> None:
                try:
                    self.timed(block, *cells, pace)
                except (CheckFailed, RunFailed) as failure:
                    failures[cells[0]] = failure

            return work

        run_boxes(pace.ranges(), worker, min(self.threads, -(-count // pace.count)))
        if failures:
            raise failures[min(failures)]

    def timed(self, block: _Block, first: int, last: int, pace: _Pace) -> None:
        started = perf_counter_ns()
        self.call(block, first, last)
        pace.took(last - first, perf_counter_ns() - started)

    def call(self, block: _Block, first: int, last: int) -> None:
        block.words[0], block.words[1], block.words[-1] = first, last, -1
        code = self.compiled.call(ctypes.addressof(block.words))
        if not code:
            return
        *values, iteration = block.words[-MOST_VALUES - 1 :]
        try:
            if code < 0 and block.routines is not None:
                raise block.routines.raised.pop() if block.routines.raised else KeyboardInterrupt
            self.fail(self.region.checks[code - 1], values)
        except RunFailed as failure:
            if iteration >= 0:
                locate(failure, label_of(self.run.phase, self.number_of(iteration)))
            raise

    def number_of(self, iteration: int) -> int:
        """The number of an iteration for people: items are gone through from the last where that is a reduction."""
        phase = self.run.phase
        if not isinstance(phase, Fold) or phase.scan:
            return iteration
        return self.types.number(self.types.types[phase.args[0]].shape[0]) - 1 - iteration

    def fail(self, check: Check, values: list[int]) -> None:
        """Say what the record says."""
        if check.function == "empty":
            raise RunFailed([Diagnostic(Code.E204, "a reduction with a function needs at least one item", check.span)])
        if check.function == "index" or check.function.startswith("shift "):
            failure = outside(values[0], values[1], check.function[6:] if check.function != "index" else None)
            raise RunFailed([Diagnostic(failure.code, failure.message, check.span)])
        if check.function.startswith("size "):
            message = f"{check.function[5:]} is {values[0]}, outside 0 to {values[1]}"
            raise RunFailed([Diagnostic(Code.E403, message, check.span)])
        kind = DTYPES[check.compute]
        value = np.array(values[:1], np.int64)
        value = value.view(np.float64).astype(kind) if check.compute.is_float else value.astype(kind)
        try:
            implementation(check.function, check.compute, check.kind, check.parameter)(value, None)
        except CheckFailed as failure:
            raise failure.at(check.span) from None
        raise RunFailed([Diagnostic(Code.E703, f"{value[0]} is not a value of {check.kind.value}", check.span)])


class _Pace:
    """Ranges of iterations, each as long as an interrupt may wait, at most `most` of them; `points`: of one, or a bound."""

    def __init__(self, first: int, last: int, most: int, points: int) -> None:
        self.first, self.last, self.most = first, last, most
        self.count = max(1, min(most, _FIRST_OPERATIONS // points))

    def ranges(self) -> Iterator[tuple[int, int]]:
        while self.first < self.last:
            start, self.first = self.first, min(self.last, self.first + self.count)
            yield start, self.first

    def took(self, count: int, nanoseconds: int) -> None:
        wanted = min(count * _GROWTH, int(count * policy.HEARD_NANOSECONDS / max(1, nanoseconds)))
        self.count = max(1, min(self.most, wanted))


class _Block:
    """The words of one thread, the memory that they show, and the routines that are called with them."""

    def __init__(self, launch: _Launch, threads: int) -> None:
        self.scratch, self.routines = launch.scratch(), None
        self.words = launch.words(self.scratch)
        if launch.region.routines:
            backend = launch.backend_of(threads)
            self.routines = Routines(launch.region.routines, launch.program, self.words, launch.types, backend, threads)
            server = self.routines.serve()
            next(server)
            self.entry = ROUTINE(server.send)
            self.words[calls_at(launch.program)[0] - 1] = ctypes.cast(self.entry, ctypes.c_void_p).value


_runs: dict[int, RegionRun] = {}
_MOST_RUNS: Final = 256


def region_of(phase: Phase) -> RegionRun:
    """Kept with the phase."""
    found = _runs.get(id(phase))
    if found is None or found.phase is not phase:
        while len(_runs) >= _MOST_RUNS:
            _runs.pop(next(iter(_runs)), None)
        found = _runs[id(phase)] = RegionRun(phase)
    return found


