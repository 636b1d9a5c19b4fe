"""Loops, folds, scans and maps as machine code: a region is lowered once, compiled when that pays, and run in ranges."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from math import inf, prod
from time import perf_counter_ns
from typing import Any, Final, TypeAlias

import numpy as np

from ...lang.diagnostics.model import Code, Diagnostic, RunFailed
from ...lang.support.records import cached_property, dataclass, field, replace
from ...typechecker.elements import Kind
from ..codegen.llvm_printer import llvm_text
from ..codegen.llvm_registers import calls_at, calls_of, is_own, strides_of, words_of
from ..graph import traverse
from ..graph.bind_sizes import KnownValues
from ..graph.fusion_groups import is_stencil_group
from ..graph.phases import Constant, Fold, LibraryPhase, Loop, Map, Phase as AnyPhase, PhaseId, ValueId
from ..jit import tiering
from ..jit.compiler import LruCache, MachineCode, address_of, is_installed, read_value, stored_value, vector_bytes
from ..library.operation_table import OPERATIONS, OperationRoutines
from ..loopir.facts import IterationEstimate, Phase, estimate_iteration
from ..loopir.ir import MOST_VALUES, Index, LoopProgram, View
from ..loopir.templates import LatestState
from ..lower.region import Region, lower_region, lowering_key, pointwise
from ..lower.scope import (
    Check,
    ConstantData,
    CurrentBuffer,
    ExitFlag,
    InitialState,
    NotLowerable,
    ScopeInput,
    ScopeOutput,
    ScratchView,
    StateView,
)
from ..transform import loop_shapes, simplify
from ..transform.pipeline import optimise, runs_in_tiles
from ..transform.simplify import KnownIndices
from ..transform.time_tiling import TimeTiling, tile_in_time
from ..vm.check_failures import CheckFailed, add_iteration, index_out_of_range, iteration_label
from ..vm.run_state import ALIGNMENT, Backend, Types, pooled_empty
from ..vm.specialization import NotCompiledYet, NotSpecializable, Specialization
from .kernels import layout_of
from .numpy_scalars import implementation
from .parallel_for import (
    UNBOUNDED_ROWS,
    ArgumentBlock,
    BufferRef,
    RangeSizer,
    TaskLaunch,
    TiledRows,
    bands_of,
    parallel_for,
    run_tiles,
    time_tiles_of,
)
from .views import DTYPES, NumArray, has_unit_stride, in_parts, is_packed, model_array, start_of

# ---------------------------------------------------------------------------------------------------- execution of a region
#
# One run of a region: its memory, its ranges of iterations, and the error that a failure record stands for.
#
# Python handles interrupts between ranges, whose lengths are adapted so that each takes `tiering.INTERRUPT_NANOSECONDS`.  Cells
# of maps are independent, so threads share their ranges, each with its own scratch memory.  Iterations are tiled in time if
# possible.  The choice of ranges changes no bit.

BackendOf: TypeAlias = Callable[[int], Backend]
"""Makes a back end with a number of threads."""
ROUTINE_SIGNATURE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
_NANOSECONDS: Final = 0.2
"""Nanoseconds of a scalar function per point in compiled code."""


@dataclass(slots=True)
class CompiledRegion:
    """A region compiled for operands of one layout; `words`: the length of its argument block."""

    program: LoopProgram
    code: TaskLaunch
    words: int
    tiling: TimeTiling | None


class RegionExecution:
    """One run of a region."""

    def __init__(self, phase: Phase, iteration: IterationEstimate, region: Region, compiled: CompiledRegion,
                 inputs: Mapping[str, NumArray], types: Types, backend_of: BackendOf, threads: int) -> None:  # fmt: skip
        self.phase, self.iteration, self.region, self.compiled = phase, iteration, region, compiled
        self.types, self.backend_of = types, backend_of
        self.threads = threads
        self.program = compiled.program
        self.arrays: dict[str, NumArray] = dict(inputs)
        self.others: dict[str, NumArray] = {}
        self.buffers: dict[int, list[NumArray]] = {}
        self.views = [(view, region.sources[view.name]) for view in self.program.views]

    def results(self, memory: Mapping[ValueId, Any], trips: int) -> tuple[Any, ...] | None:
        phase = self.phase
        if isinstance(phase, Map):
            results, count = self.allocated_results(), self.cell_count(phase)
            is_cut = not phase.frame and self.compiled.tiling is not None
            self.cells(count, self.iteration.points // max(1, count) if is_cut else 0)
            return tuple(results)
        first = int(isinstance(phase, Fold))
        if isinstance(phase, Loop):
            initial = [np.asarray(memory[value]) for value in phase.initial]
        else:
            initial = [np.asarray(memory[value])[0 if phase.scan else -1] for value in phase.args]
        results = self.allocated_results()
        for target, value in zip(results, initial, strict=False):
            target[0] = value
        self.states(initial)
        self.ranges(first, trips)
        return tuple(results) or self.final()

    def cell_count(self, phase: Map) -> int:
        """Returns the end of the range of a map: its cells along the first axis, or the rows of one cell, or 1."""
        if phase.frame:
            return self.types.number(phase.frame[0])
        return 1 if self.compiled.tiling is None else self.number(self.compiled.tiling.rows)

    # ----------------------------------------------------------------------------------------- memory

    def allocated_results(self) -> list[NumArray]:
        """Allocate the arrays that the program writes its results to."""
        results: list[NumArray] = []
        for view, source in self.views:
            if isinstance(source, ScopeOutput):
                result = traverse.results(self.phase)[source.index]
                results.append(pooled_empty(self.types.shape(result), DTYPES[self.types.kind(result)]))
                self.arrays[view.name] = in_parts(results[-1])
        return results

    def states(self, initial: Sequence[NumArray]) -> None:
        """Allocate the two buffers of the state and fill in the initial state."""
        for view, source in self.views:
            match source:
                case StateView(component, doubled):
                    first = initial[component]
                    dtype = DTYPES[self.types.kind(traverse.results(self.phase)[component])]
                    self.buffers[component] = [pooled_empty(first.shape, dtype) for _ in range(1 + doubled)]
                    self.buffers[component][0][...] = first
                    self.arrays[view.name], *others = map(in_parts, self.buffers[component])
                    self.others.update((view.name, other) for other in others)
                case CurrentBuffer():
                    self.arrays[view.name] = np.zeros((), np.int64)
                case ExitFlag():
                    self.arrays[view.name] = np.zeros((), np.bool_)
                case _:
                    pass

    def final(self) -> tuple[Any, ...]:
        """Returns the last state, by component."""
        parity = next((int(self.arrays[view.name]) for view, source in self.views if isinstance(source, CurrentBuffer)), 0)
        return tuple(self.buffers[component][parity * (len(self.buffers[component]) - 1)] for component in sorted(self.buffers))

    def placed(self, scratch: Mapping[str, NumArray]) -> tuple[Any, dict[str, int]]:
        """Returns a new argument block, and by view the index of its address in the block."""
        places: dict[str, int] = {}
        block = (ctypes.c_int64 * self.compiled.words)()
        slot = 2
        for size in self.region.sizes:
            block[slot] = self.types.number(size)
            slot += 1
        if self.compiled.tiling is not None:
            all_rows = (0, self.number(self.compiled.tiling.rows)) if self.compiled.tiling.wraps else (
                -UNBOUNDED_ROWS, UNBOUNDED_ROWS
            )
            block[slot : slot + 4] = [*all_rows, 0, 0]
            slot += 4
        for view, _ in self.views:
            if is_own(self.program, view):
                continue
            array = self.arrays.get(view.name)
            array = scratch[view.name] if array is None else array
            block[slot], places[view.name] = start_of(array), slot
            strides = list(array.strides)
            if view.name in self.others:  # the state's second buffer, at its distance from the first
                strides.insert(0, start_of(self.others[view.name]) - block[slot])
            slot += 1
            for stride in strides[: strides_of(view)]:
                block[slot] = stride
                slot += 1
        return block, places

    def number(self, form: Index) -> int:
        """Returns the value of an affine form in sizes."""
        sizes = dict(zip(self.program.parameters[2:], map(self.types.number, self.region.sizes), strict=False))
        return form.constant + sum(sizes[name] * c for name, c in form.terms)

    def scratch(self, *, is_local: bool = False) -> dict[str, NumArray]:
        """Allocate scratch views in the shapes that the transformations gave them; `is_local`: only those local to a thread."""
        buffers: dict[str, NumArray] = {}
        for view, source in self.views:
            if isinstance(source, ScratchView) and not is_own(self.program, view) and (view.local or not is_local):
                buffers[view.name] = pooled_empty(tuple(map(self.number, view.shape)), DTYPES[view.kind])
        return buffers

    # ---------------------------------------------------------------------------------------- running

    def ranges(self, first: int, last: int) -> None:
        """Runs iterations in order, in ranges no longer than an interrupt may wait."""
        block = _ThreadBlock(self, self.threads)
        if self.in_tiles(block, first, last):
            return
        ended = next((self.arrays[view.name] for view, source in self.views if isinstance(source, ExitFlag)), None)
        pace = RangeSizer(first, last, last, self.iteration.points)
        for start, stop in pace.ranges():
            self.timed(block, start, stop, pace)
            if ended is not None and ended:
                return

    def in_tiles(self, block: _ThreadBlock, first: int, last: int) -> bool:
        """Runs iterations in time tiles if that is faster; returns whether it did."""
        tiles = self.compiled.tiling
        if tiles is None:
            return False
        rows = self.rows(tiles)
        cut = None if rows.count < 1 else time_tiles_of(rows, last - first, self.threads)
        if cut is None or cut.bands == 1:
            return False
        local = [self.scratch(is_local=True) for _ in range(cut.bands)]
        blocks = [self.placed({**block.scratch, **private})[0] if private else block.words for private in local]
        run_tiles(self.compiled.code.address, lambda tile: blocks[tile], 2 + len(self.region.sizes), rows, cut, first, last,
                  self.threads)  # fmt: skip
        return True

    def pieces(self, places: Mapping[str, int], trips: int) -> tuple[TaskLaunch, int]:
        """Returns a launch of independent bands of rows, and the most iterations that it runs.

        Its first two buffer addresses are the bounds of the iterations, the others those of views."""
        tiles, (words, at) = self.compiled.tiling, self.placed({})
        address = self.compiled.code.address
        given = [(0, (0, 0)), (1, (1, 0)), *((at[name], (slot, 0)) for name, slot in places.items())]
        if tiles is None:
            each = max(1, self.iteration.functions)  # a dependence chain
            iterations = max(1, min(trips, int(tiering.INTERRUPT_NANOSECONDS / each)))
            return TaskLaunch(address, [ArgumentBlock(list(words), given)], 2 + len(places), 1, iterations * each), iterations
        rows, where = self.rows(tiles), 2 + len(self.region.sizes)
        cut = time_tiles_of(rows, trips, self.threads)
        assert cut is not None, "rows see nothing of each other"
        blocks = [ArgumentBlock([*words[:where], *tile, *words[where + 4 :]], given) for tile in bands_of(rows, cut)[0]]
        duration = rows.nanoseconds * rows.count * cut.iterations
        return TaskLaunch(address, blocks, 2 + len(places), self.threads, duration), cut.iterations

    def rows(self, tiles: TimeTiling) -> TiledRows:
        iteration, count = self.iteration, self.number(tiles.rows)
        touched = sum(array.nbytes for buffers in self.buffers.values() for array in buffers)
        each, time = max(1, count), _NANOSECONDS * iteration.functions
        if self.region.is_pointwise:
            touched = sum(self.arrays[view.name].nbytes for view, source in self.views if isinstance(source, StateView))
            time /= 2  # the carried values stay in registers
        return TiledRows(count, touched // each, time / each, tiles.halo, tiles.stages, tiles.wraps)

    def cells(self, count: int, points: int = 0) -> None:
        """Runs independent cells, or the rows of one cell, on the threads; `points`: of each, if not those of an iteration."""
        most = -(-count // (4 * self.threads))
        pace = RangeSizer(0, count, most, max(1, points or self.iteration.points))
        shared = {} if self.compiled.tiling is None else self.scratch()  # a thread touches only its rows

        def worker() -> Callable[[tuple[int, int]], None]:
            block = _ThreadBlock(self, 1, shared)
            return lambda cells: self.timed(block, *cells, pace)

        parallel_for(pace.ranges(), worker, min(self.threads, -(-count // pace.count)))

    def timed(self, block: _ThreadBlock, first: int, last: int, pace: RangeSizer) -> None:
        started = perf_counter_ns()
        self.call(block, first, last)
        pace.took(last - first, perf_counter_ns() - started)

    def call(self, block: _ThreadBlock, first: int, last: int) -> None:
        at = 0 if not isinstance(self.phase, Map) or self.compiled.tiling is None else 2 + len(self.region.sizes)
        block.words[at], block.words[at + 1], block.words[-1] = first, last, -1
        code = self.compiled.code.on(block.words)
        if not code:
            return
        *values, iteration = block.words[-MOST_VALUES - 1 :]
        try:
            if code < 0 and block.routines is not None:
                raise block.routines.raised.pop() if block.routines.raised else KeyboardInterrupt
            self.fail(self.region.checks[code - 1], values)
        except RunFailed as failure:
            if iteration >= 0:
                add_iteration(failure, iteration_label(self.phase, self.number_of(iteration)))
            raise

    def number_of(self, iteration: int) -> int:
        """Returns the number of an iteration for a message; a reduction visits its items from the last to the first."""
        phase = self.phase
        if not isinstance(phase, Fold) or phase.scan:
            return iteration
        return self.types.number(self.types.types[phase.args[0]].shape[0]) - 1 - iteration

    def fail(self, check: Check, values: list[int]) -> None:
        """Raise the error that a failure record describes."""
        if check.function == "empty":
            raise RunFailed([Diagnostic(Code.E204, "a reduction with a function needs at least one item", check.span)])
        if check.function == "index" or check.function.startswith("shift "):
            shift = check.function[6:] if check.function != "index" else None
            failure = index_out_of_range(
                values[0], values[1], shift, check.indexing, dict(zip(check.other_axes, values[2:], strict=False))
            )
            raise failure.at(check.span)
        if check.function.startswith("size "):
            message = f"{check.function[5:]} is {values[0]}, outside 0 to {values[1]}"
            raise RunFailed([Diagnostic(Code.E403, message, check.span)])
        kind = DTYPES[check.compute]
        value = np.array(values[:1], np.int64)
        value = value.view(np.float64).astype(kind) if check.compute.is_float else value.astype(kind)
        try:
            implementation(check.function, check.compute, check.kind, check.parameter)(value)
        except CheckFailed as failure:
            raise failure.at(check.span) from None
        raise RunFailed([Diagnostic(Code.E703, f"{value[0]} is not a value of {check.kind.value}", check.span)])


class _ThreadBlock:
    """A thread's argument block, the memory that it refers to, and the routines that the program calls."""

    def __init__(self, launch: RegionExecution, threads: int, shared: Mapping[str, NumArray] | None = None) -> None:
        """`shared`: scratch that all threads use, except local views."""
        self.scratch, self.routines = {**(shared or {}), **launch.scratch(is_local=bool(shared))}, None
        self.words = launch.placed(self.scratch)[0]
        if launch.region.routines:
            backend = launch.backend_of(threads)
            self.routines = OperationRoutines(launch.region.routines, launch.program, self.words, launch.types, backend, threads)
            server = self.routines.serve()
            next(server)
            self.entry = ROUTINE_SIGNATURE(server.send)
            self.words[calls_at(launch.program)[0] - 1] = ctypes.c_void_p.from_buffer(self.entry).value


# ---------------------------------------------------------------------------------------------------- element-wise loops
#
# Element-wise loops: each item of the state depends only on itself, so some rows may run all iterations before others start.
#
# One launch runs all iterations if that is short.  Otherwise each launch runs a range of them, so that interrupts are handled in
# between; from the second range on, the state is read from where the range before wrote it.  Launches are cached by the layout of
# their operands.

class PointwiseLoop:
    def __init__(self, loop: Loop, region: Region, iteration: IterationEstimate) -> None:
        self.loop, self.region, self.iteration = loop, region, iteration
        self.launches: LruCache[tuple[TaskLaunch, int]] = LruCache(16)

    def repeated(self, compiled: CompiledRegion, arrays: Mapping[str, NumArray], types: Types, trips: int, threads: int
                 ) -> tuple[Any, ...]:  # fmt: skip
        """Run `trips` iterations; returns the last state."""
        results = [pooled_empty(types.shape(value), DTYPES[types.kind(value)]) for value in self.loop.results]
        arrays, done = dict(arrays) | self.shown(compiled, results, StateView), 0
        while True:
            pieces, iterations = self.launch(compiled, arrays, types, trips, threads)
            addresses = [start_of(arrays[view.name]) for view in compiled.program.views]
            pieces.run([done, min(trips, done + iterations), *addresses])
            done += iterations
            if done >= trips:
                return tuple(results)
            arrays |= self.shown(compiled, results, InitialState)

    def shown(self, compiled: CompiledRegion, state: Sequence[NumArray], role: type[StateView] | type[InitialState]) -> dict[str,
        NumArray]:
        """Returns the arrays of the state, by name of their view."""
        views: dict[str, NumArray] = {}
        for view in compiled.program.views:
            source = self.region.sources[view.name]
            if isinstance(source, role):
                array = state[source.index]
                views[view.name] = in_parts(array.reshape(-1) if self.region.is_flat else array)
        return views

    def launch(self, compiled: CompiledRegion, arrays: Mapping[str, NumArray], types: Types, trips: int, threads: int
               ) -> tuple[TaskLaunch, int]:  # fmt: skip
        """Returns a launch for operands of this layout, and the most iterations that it runs."""
        views = [view.name for view in compiled.program.views]
        key = (compiled.code.address, threads, trips, layout_of([arrays[name] for name in views]))
        launch = self.launches.get(key)
        if launch is None:
            ranges = RegionExecution(self.loop, self.iteration, self.region, compiled, arrays, types, _no_backend, threads)
            places = {name: 2 + number for number, name in enumerate(views)}
            launch = self.launches.put(key, (), ranges.pieces(places, trips))
        return launch


def _no_backend(threads: int) -> Any:
    raise AssertionError("no routine is called")


# ---------------------------------------------------------------------------------------------------- region dispatch

Phases: TypeAlias = Mapping[PhaseId, AnyPhase]
Key: TypeAlias = tuple[tuple[tuple[bool, bool], ...], tuple[tuple[str, KnownIndices], ...]]
"""What compiled code depends on: by operand, (unit stride, packed); by view, its index vector if that is a progression."""
_LAUNCH_NANOSECONDS: Final = 150.0
_ROUTINE_NANOSECONDS: Final = 1_200.0
_SITE_NANOSECONDS: Final = 20_000.0
"""Overhead in nanoseconds of a phase in a native program: of a launch, of a NumPy function, of a call site."""
_REGION_NANOSECONDS: Final = 40_000.0
_CALL_NANOSECONDS: Final = 4_000.0
_REDUCED_NANOSECONDS: Final = 0.3
"""Overhead in nanoseconds, beyond a kernel's, of a region that Python runs, of a call of a routine, per reduced point."""
_MAP_TASKS: Final = 8
"""Tasks of a map for each thread, if its cells need no scratch memory."""
_MAP_NANOSECONDS: Final = 1e9
"""Work in nanoseconds above which Python runs a map, since a launch has a few hundred tasks at most."""
_MAX_COPY_BYTES: Final = 1 << 20
"""The most bytes of an operand that a loop reads through a contiguous copy."""
_MAX_PAIR_BYTES: Final = 1 << 16
"""The most bytes of a double-buffered state whose last buffer a native program copies."""
_MAX_VARIANTS: Final = 4
"""The most layouts whose code is specialized to their index vectors; code of further layouts loads index vectors."""


class RegionLaunch:
    """Makes the launches of a region for a native program."""

    def __init__(self, run: RegionRun, binding: Specialization, compiled: CompiledRegion, inputs: Mapping[str, NumArray]) -> None:
        assert run.region is not None
        self.run, self.binding, self.phase, self.types = run, binding, run.phase, binding.types
        iteration = run.iteration(self.types)
        self.execution = RegionExecution(
            run.phase, iteration, run.region, compiled, inputs, self.types, _no_backend, binding.threads
        )
        self.duration = run.trips(self.types) * iteration.functions * _NANOSECONDS
        self.first, self.last = int(isinstance(run.phase, Fold)), run.trips(self.types)
        if isinstance(run.phase, Map):
            self.last = self.execution.cell_count(run.phase)
        self.starts = self.task_starts()
        self.bases: dict[str, BufferRef] = {name: run.input_base(binding, name, array) for name, array in inputs.items()}

    def bind(self) -> None:
        """Adds the launches to the specialization.  Raises NotSpecializable."""
        execution, phase = self.execution, self.phase
        scratch: dict[str, NumArray] = {}
        finals: list[tuple[int, NumArray, BufferRef]] = []
        parity: BufferRef = None, 0
        initial = [] if isinstance(phase, Map) else self.initial()
        for view, source in execution.views:
            match source:
                case ScopeOutput(index):
                    value = traverse.results(phase)[index]
                    array = model_array(self.types.shape(value), DTYPES[self.types.kind(value)])
                    base: BufferRef = self.binding.result(value, array.shape, array.dtype), 0
                    if initial:
                        self.binding.copy(array[0], base, *initial[index])
                    execution.arrays[view.name], self.bases[view.name] = in_parts(array), base
                case StateView(component, doubled):
                    self.state(view.name, component, initial[component], finals, doubled=doubled)
                case CurrentBuffer():
                    zero, parity = np.zeros((), np.int64), (self.binding.room((), np.dtype(np.int64)), 0)
                    self.binding.keep.append(zero)
                    self.binding.copy(zero, parity, zero, (None, start_of(zero)))
                    execution.arrays[view.name], self.bases[view.name] = zero, parity
                case ExitFlag():
                    execution.arrays[view.name] = np.zeros((), np.bool_)
                    self.bases[view.name] = self.binding.room((), np.dtype(np.bool_)), 0
                case ScratchView() if not is_own(execution.program, view):
                    array = model_array(tuple(map(execution.number, view.shape)), DTYPES[view.kind])
                    scratch[view.name], count = array, len(self.starts) if self.is_private(view) else 1
                    self.bases[view.name] = self.binding.room((count, _aligned(array.nbytes)), np.dtype(np.uint8)), 0
                case _:
                    pass
        self.launch(scratch)
        for component, array, base in finals:
            value = traverse.results(phase)[component]
            self.copy_latest(array, parity, base, (self.binding.result(value, array.shape, array.dtype), 0))

    def copy_latest(self, array: NumArray, parity: BufferRef, pair: BufferRef, result: BufferRef) -> None:
        """Adds a launch that copies the buffer of the pair which the last iteration wrote to the result."""
        kind = Kind.U8 if array.nbytes % 8 else Kind.I64
        code = LatestState(kind)
        address = address_of(code) if self.binding.wants(code) else 0
        if address is None:
            raise NotSpecializable
        if address:
            words, buffers = [array.nbytes // kind.bytes, 0, 0, array.nbytes, 0], [(1, (0, 0)), (2, (1, 0)), (4, (2, 0))]
            self.binding.share(TaskLaunch(address, [ArgumentBlock(words, buffers)], 3, 1, 0), [parity, pair, result])

    def initial(self) -> list[tuple[NumArray, BufferRef]]:
        """Returns each component of the initial state, and its base address."""
        phase, binding = self.phase, self.binding
        if isinstance(phase, Loop):
            arrays = [(value, binding.values[value]) for value in phase.initial]
        else:
            assert isinstance(phase, Fold)
            arrays = [(value, binding.values[value][0 if phase.scan else -1, ...]) for value in phase.args]
        return [(array, binding.base(value, array)) for value, array in arrays]

    def state(
        self, name: str, component: int, first: tuple[NumArray, BufferRef], finals: list[tuple[int, NumArray, BufferRef]], *,
        doubled: bool,
    ) -> None:  # fmt: skip
        """Stores a component in its result, unless that stacks all states; of two buffers (`doubled`) it gets the latest."""
        execution, value = self.execution, traverse.results(self.phase)[component]
        shape, dtype = first[0].shape, DTYPES[self.types.kind(value)]
        is_stacked = any(isinstance(source, ScopeOutput) for _, source in execution.views)
        pair, is_result = model_array((1 + doubled, *shape), dtype), not (doubled or is_stacked)
        if not is_result and pair.nbytes > _MAX_PAIR_BYTES:
            raise NotSpecializable
        base = self.binding.result(value, shape, dtype) if is_result else self.binding.room(pair.shape, dtype), 0
        self.binding.copy(pair[0], base, *first)
        execution.arrays[name], self.bases[name] = in_parts(pair[0]), base
        if doubled:
            execution.others[name] = in_parts(pair[1])
        if not (is_result or is_stacked):
            finals.append((component, pair[0], base))

    def is_private(self, view: View) -> bool:
        """Returns whether each task has its own scratch memory for a view; tasks of rows of one cell share it."""
        return view.local or self.execution.compiled.tiling is None

    def task_starts(self) -> Sequence[int]:
        """Returns the first cell of each task; loops are one task."""
        count, threads, execution = self.last, self.binding.threads, self.execution
        if not isinstance(self.phase, Map) or self.duration < tiering.SHARED_NANOSECONDS:
            return [self.first]
        scratch = [view for view, source in execution.views
                   if isinstance(source, ScratchView) and not is_own(execution.program, view)]  # fmt: skip
        if not any(map(self.is_private, scratch)):
            pieces = tiering.pieces(_MAP_TASKS * threads, self.duration)
            return tiering.starts(count, -(-count // pieces), threads, self.duration)
        if self.duration >= threads * tiering.LONG_NANOSECONDS:
            raise NotSpecializable  # that many short tasks would need more scratch than is planned
        return range(0, count, -(-count // threads))

    def launch(self, scratch: Mapping[str, NumArray]) -> None:
        execution = self.execution
        words, places = execution.placed(scratch)
        at = 0 if not isinstance(self.phase, Map) or execution.compiled.tiling is None else 2 + len(execution.region.sizes)
        private = {view.name for view, _ in execution.views if view.name in scratch and self.is_private(view)}
        blocks: list[ArgumentBlock] = []
        for task, (start, stop) in enumerate(zip(self.starts, [*self.starts[1:], self.last], strict=True)):
            words[at], words[at + 1], words[-1] = start, stop, -1
            addresses = [
                (word, (slot, task * _aligned(scratch[name].nbytes) if name in private else 0))
                for slot, (name, word) in enumerate(places.items())
            ]
            blocks.append(ArgumentBlock(list(words), addresses))
        launch = TaskLaunch(execution.compiled.code.address, blocks, len(places), self.binding.threads, self.duration)
        self.binding.share(launch, [self.bases[name] for name in places])


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


class RegionCode:
    """The code of a region for operands of one layout; optimised when its text or its program is first needed.

    `lowered`: the region's program with the strides of its operands; `counted`: its index vectors that are progressions;
    `packed`: its views that are packed arrays; `has_rows`: may threads share its rows?"""

    def __init__(self, lowered: LoopProgram, counted: Mapping[str, KnownIndices], packed: frozenset[str], *, has_rows: bool
                 ) -> None:  # fmt: skip
        self._lowered, self._counted, self._packed, self._has_rows = lowered, counted, packed, has_rows
        self._shown = f"{lowered} {[*counted.items()]} {sorted(packed)} {has_rows}"

    def __repr__(self) -> str:
        return self._shown

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RegionCode) and self._shown == other._shown

    def __hash__(self) -> int:
        return hash(self._shown)

    def text(self) -> str:
        return llvm_text(self.optimised[0], vector_bytes())

    @cached_property
    def optimised(self) -> tuple[LoopProgram, TimeTiling | None]:
        """Returns the program that is printed, and how its rows are tiled in time."""
        return stored_value(self, self._optimised)

    def _optimised(self) -> tuple[LoopProgram, TimeTiling | None]:
        program = optimise(simplify.propagate_progressions(self._lowered, self._counted))
        tiles = tile_in_time(program) if self._has_rows else None
        return loop_shapes.collapse_loops(program if tiles is None else tiles.program, self._packed), tiles


@dataclass
class RegionRun:
    """The region of a phase, with its compiled code by layout; or the `reason` why it has none."""

    phase: Phase
    region: Region | None = None
    reason: str = ""
    losses: tiering.Losses = field(default_factory=tiering.Losses)
    """The runs before the region was lowered."""
    asked: bool = False
    compiled: dict[Key, CompiledRegion | None] = field(default_factory=dict)
    codes: dict[Key, RegionCode] = field(default_factory=dict)
    constants: dict[str, NumArray] = field(default_factory=dict)
    estimated: IterationEstimate | None = None
    sees_itself: bool | None = None
    strided: RegionRun | None = None
    """The region for operands without unit stride, where this one requires unit stride."""
    may_be_flat: bool = True
    pointwise: PointwiseLoop | None = None
    single: tuple[str, ...] = ()
    """The views that contain single indices."""
    constant_values: frozenset[ValueId] = frozenset()
    """The values that are constants of the program."""
    called: frozenset[str] = frozenset()
    """The views that routines read or write."""

    @cached_property
    def launches(self) -> float:
        """Returns the overhead in nanoseconds of the phases of one iteration in a native program."""
        inner = [phase for graph in traverse.subgraphs(self.phase) for phase in traverse.all_phases(graph)]
        return sum(map(_overhead, inner))

    def iteration(self, types: Types) -> IterationEstimate:
        if self.estimated is None:
            self.estimated = estimate_iteration(self.phase, types.types)
        return self.estimated

    def lower(self, types: Types, program: Phases, lost: float) -> bool:
        """Lowers the region if it is time for that; `lost`: nanoseconds that this run loses without it."""
        if self.asked:
            return True
        known = KnownValues(program.values(), types.types)
        key = cache(lambda: lowering_key(self.phase, types.types, types.guards, known, may_be_flat=self.may_be_flat))
        if not self.losses.permit(lost, lambda: bool(key()) and read_value(key()) is not None):
            return False
        self.asked, make = True, partial(self.lowered, types, known)
        result = stored_value(key(), make) if key() else make()
        if isinstance(result, str):
            self.reason = result
            return True
        self.region = result
        if self.region.is_pointwise and isinstance(self.phase, Loop):
            self.pointwise = PointwiseLoop(self.phase, self.region, self.iteration(types))
        self.single = simplify.scalar_index_views(self.region.program)
        self.constant_values = frozenset([phase.result for phase in program.values() if isinstance(phase, Constant)])
        self.called = frozenset(box.view for call in calls_of(self.region.program) for box in call.boxes)
        return True

    def lowered(self, types: Types, known: KnownValues) -> Region | str:
        """Returns the region, or the reason why there is none."""
        try:
            return lower_region(self.phase, types.types, types.guards, known, may_be_flat=self.may_be_flat)
        except NotLowerable as unsupported:
            return str(unsupported)

    def run(self, memory: Mapping[ValueId, Any], types: Types, program: Phases, backend_of: BackendOf, threads: int
            ) -> tuple[Any, ...] | None:  # fmt: skip
        """Runs the phase; returns its results, or None if the interpreter has to run it.  `program`: all phases of the graph."""
        mode = tiering.mode()
        if self.reason or mode is tiering.Mode.OFF or not is_installed():
            return None
        trips, iteration = self.trips(types), self.iteration(types)
        if trips <= 0:
            return None
        lost = trips * iteration.phasewise_nanoseconds
        if not self.lower(types, program, lost) or self.region is None or not self.is_one(self.region, iteration):
            return None
        arrays = self.inputs(memory, lambda constant: backend_of(1).constant(constant, types))
        if arrays is None:
            return self.for_strided().run(memory, types, program, backend_of, threads) if self.region.is_flat else None
        compiled = self.code(arrays, self.sizes(types), lambda code: tiering.is_wanted(code, lost))
        if compiled is None:
            return None
        if self.pointwise is not None:
            return self.pointwise.repeated(compiled, arrays, types, trips, threads)
        return RegionExecution(
            self.phase, iteration, self.region, compiled, arrays, types, backend_of, threads
        ).results(memory, trips)

    def is_one(self, region: Region, iteration: IterationEstimate) -> bool:
        return iteration.is_for_region(calls=region.calls, in_tiles=lambda: self.has_rows and runs_in_tiles(region.program))

    @property
    def has_rows(self) -> bool:
        """Returns whether threads may share the rows; maps with a frame share cells instead."""
        return isinstance(self.phase, Loop) or is_stencil_group(self.phase)

    def is_chosen(self, types: Types, program: Phases) -> bool | None:
        """Returns whether the region is estimated to be faster than a launch per phase; None before it is lowered."""
        mode = tiering.mode()
        if self.reason or mode is tiering.Mode.OFF or not is_installed():
            return False
        if isinstance(self.phase, Loop) and self.is_pointwise(self.phase, types):
            return True  # its next run is one launch
        trips, iteration = self.trips(types), self.iteration(types)
        launches = trips * self.launches
        overhead = _LAUNCH_NANOSECONDS if self.is_native(types) else _REGION_NANOSECONDS
        more = launches - overhead - trips * iteration.reduced * _REDUCED_NANOSECONDS
        if mode is not tiering.Mode.ALWAYS and more < 0:
            return False
        if not self.lower(types, program, launches):
            return None
        if self.region is None or not self.is_one(self.region, iteration):
            return False
        calls = sum(routine.phase is not None for routine in self.region.routines)
        return mode is tiering.Mode.ALWAYS or trips * calls * _CALL_NANOSECONDS < more

    def bind(self, binding: Specialization, backend: Backend) -> None:
        """Specialize the phase as one launch of its region, with copies of its first and last state where it has two buffers.

        Raises NotSpecializable if Python runs it: it calls routines, or takes so long that interrupts are handled between its
        ranges."""
        types = binding.types
        if self.region is None and not self.reason:
            raise NotCompiledYet
        if self.region is None or not self.is_native(types):
            raise NotSpecializable
        arrays = self.inputs(binding.values, lambda constant: backend.constant(constant, types), are_copied=False)
        if arrays is None and self.region.is_flat:
            self.for_strided().bind(binding, backend)
            return
        if arrays is None:
            raise NotSpecializable
        compiled = self.code(arrays, self.sizes(types), binding.wants, self.is_constant)
        if compiled is None:
            raise NotCompiledYet
        if self.pointwise is not None:
            self._bind_pointwise(binding, compiled, arrays)
        else:
            RegionLaunch(self, binding, compiled, arrays).bind()

    def _bind_pointwise(self, binding: Specialization, compiled: CompiledRegion, arrays: dict[str, NumArray]) -> None:
        assert isinstance(self.phase, Loop) and self.pointwise is not None and self.region is not None
        phase, types, trips = self.phase, binding.types, self.trips(binding.types)
        results = [model_array(types.shape(value), DTYPES[types.kind(value)]) for value in phase.results]
        arrays |= self.pointwise.shown(compiled, results, StateView)
        pieces, iterations = self.pointwise.launch(compiled, arrays, types, trips, binding.threads)
        if iterations < trips:
            raise NotSpecializable
        bases: list[BufferRef] = [(None, 0), (None, trips)]
        for view in compiled.program.views:
            match self.region.sources[view.name]:
                case StateView(component):
                    result = results[component]
                    bases.append((binding.result(phase.results[component], result.shape, result.dtype), 0))
                case _:
                    bases.append(self.input_base(binding, view.name, arrays[view.name]))
        binding.share(pieces, bases)

    def is_constant(self, name: str) -> bool:
        """Returns whether an input view has the same items in every run."""
        assert self.region is not None
        source = self.region.sources[name]
        return isinstance(source, ConstantData) or (isinstance(source, ScopeInput) and source.value in self.constant_values)

    def input_base(self, binding: Specialization, name: str, array: NumArray) -> BufferRef:
        """Returns the base address of an input view."""
        assert self.region is not None
        match self.region.sources[name]:
            case ScopeInput(value):
                return binding.base(value, array)
            case InitialState(component):
                assert isinstance(self.phase, Loop)
                return binding.base(self.phase.initial[component], array)
            case _:
                binding.keep.append(array)
                return None, start_of(array)

    def trips(self, types: Types) -> int:
        """Returns the most iterations, as a fold counts them (its first item is the initial state)."""
        match self.phase:
            case Loop():
                return types.number(self.phase.trip)
            case Fold():
                return types.number(types.types[self.phase.args[0]].shape[0])
            case Map():
                return prod(map(types.number, self.phase.frame))

    def is_native(self, types: Types) -> bool:
        """Returns whether a native program can run the region as one launch."""
        phase, iteration, trips = self.phase, self.iteration(types), self.trips(types)
        if trips < 1 or (self.region is not None and self.region.routines):
            return False
        most = _MAP_NANOSECONDS if isinstance(phase, Map) else tiering.LONG_NANOSECONDS
        return trips * iteration.functions * _NANOSECONDS < most or self.pointwise is not None

    def is_pair(self, view: View) -> bool:
        """Returns whether the second-to-last axis selects one of two buffers at unrelated addresses."""
        assert self.region is not None
        source = self.region.sources[view.name]
        return isinstance(source, StateView) and source.doubled and len(view.shape) == 2

    def for_strided(self) -> RegionRun:
        self.strided = self.strided or RegionRun(self.phase, may_be_flat=False)
        return self.strided

    def sizes(self, types: Types) -> dict[str, int]:
        """Returns the program's parameters by name, without the bounds of the range."""
        assert self.region is not None
        return dict(zip(self.region.program.parameters[2:], map(types.number, self.region.sizes), strict=True))

    def is_pointwise(self, loop: Loop, types: Types) -> bool:
        """Returns whether each item of the state depends on itself only."""
        if self.sees_itself is None:
            self.sees_itself = pointwise(loop, types.types) is not None
        return self.sees_itself

    def inputs(self, memory: Mapping[ValueId, Any], make: Callable[[Constant], Any], *, are_copied: bool = True
               ) -> dict[str, NumArray] | None:  # fmt: skip
        """Returns the arrays of input views by name; None if one does not have its type, or the region's layout.

        `are_copied`: may small arrays be replaced by contiguous copies?"""
        assert self.region is not None
        arrays: dict[str, NumArray] = {}
        for view in self.region.program.views:
            match self.region.sources[view.name]:
                case ScopeInput(value):
                    array = np.asarray(memory[value])
                case InitialState(component):
                    assert isinstance(self.phase, Loop)
                    array = np.asarray(memory[self.phase.initial[component]])
                case ConstantData(phase):
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
            is_small = are_copied and array.nbytes <= _MAX_COPY_BYTES and not self.region.is_pointwise
            if is_small and isinstance(self.phase, Loop) and not has_unit_stride(array) and view.name not in self.called:
                array = np.ascontiguousarray(array)
            arrays[view.name] = array
        return arrays

    def code(
        self, arrays: Mapping[str, NumArray], sizes: Mapping[str, int], wants: Callable[[MachineCode], bool],
        is_read: Callable[[str], bool] = lambda name: True,
    ) -> CompiledRegion | None:  # fmt: skip
        """Returns the code for operands of these layouts; None if it is not wanted yet, or cannot be compiled.

        `is_read`: the index views on whose items the code may depend."""
        assert self.region is not None
        flags = {name: has_unit_stride(array) for name, array in arrays.items()}
        counted: dict[str, KnownIndices] = {
            name: known for name, array in arrays.items() if is_read(name) and (known := simplify.progression(array)) is not None
        }
        for name in filter(is_read, self.single):
            item = simplify.single_index(int(arrays[name]), sizes)
            if item is not None:
                counted[name] = item
        packed = {view.name for view in self.region.program.views if not self.is_pair(view)}
        packed -= {name for name, array in arrays.items() if not is_packed(array)}
        layout = tuple((flag, name in packed) for name, flag in flags.items())
        key: Key = (layout, tuple(counted.items()))
        if key not in self.codes and len(self.codes) >= _MAX_VARIANTS:
            counted, key = {}, (layout, ())
        if key in self.compiled:
            return self.compiled[key]
        if key not in self.codes:
            views = tuple([replace(view, unit=flags.get(view.name, True)) for view in self.region.program.views])
            lowered = replace(self.region.program, views=views)
            self.codes[key] = RegionCode(lowered, counted, frozenset(packed), has_rows=self.has_rows)
        code = self.codes[key]
        if not wants(code):
            return None
        address = address_of(code)
        program, tiles = code.optimised
        self.compiled[key] = None if address is None else CompiledRegion(
            program, TaskLaunch(address, (), 0, 1, inf), words_of(program), tiles
        )
        return self.compiled[key]


def _overhead(phase: AnyPhase) -> float:
    if not isinstance(phase, LibraryPhase) or OPERATIONS[phase.op].lowering is not None:
        return _LAUNCH_NANOSECONDS
    return _ROUTINE_NANOSECONDS if len(phase.results) == 1 and not phase.defines else _SITE_NANOSECONDS


_runs: LruCache[RegionRun] = LruCache(256)


def region_of(phase: Phase) -> RegionRun:
    """Returns the region of a phase, cached with the phase."""
    return _runs.of(id(phase), (phase,), lambda: RegionRun(phase))
