"""A run of a region: its memory, its iterations in ranges, and what a failure says.

Between ranges Python hears interrupts; they are made as long as `policy.HEARD_NANOSECONDS`, by the clock.  Cells of maps are
independent, so their ranges are shared by threads, each with scratch of its own; iterations that can be done in tiles of rows are
(`tiles`).  Which ranges there are changes no bit.

Neighbours: `regions` (asks), `loops.llvm.words` (the words of a call), `routines` (what is called from inside).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any, Final, TypeAlias

import numpy as np

from ....lang.codes import Code
from ....lang.diagnostics import Diagnostic, RunFailed
from ...graph import traverse
from ...graph.phases import Fold, Loop, Map, ValueId
from ...kernels import policy
from ...library.routines import Routines, in_parts
from ...loops.ir import MOST_VALUES, Index, Program
from ...loops.iterations import Iteration, Phase
from ...loops.llvm import calls_at, is_own, strides_of
from ...loops.lower.region import Region
from ...loops.lower.values import Check, Ended, Made, Scratch, State, Turn
from ...loops.transform.tiling import Tiled
from ..device import Backend, Types
from ..failures import CheckFailed, locate, outside
from ..failures import iteration_of as label_of
from ..pool import room
from .kinds import DTYPES, NumArray, start_of
from .launching import Block
from .scalars import implementation
from .sharing import Pieces, run_boxes
from .tiles import WHOLE, Rows, bands_of, run_tiles, stretches_of

BackendOf: TypeAlias = Callable[[int], Backend]
"""A back end by how many threads it has."""
_FIRST_OPERATIONS: Final = 200_000
"""Points of the first range."""
_GROWTH: Final = 16
ROUTINE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
_NANOSECONDS: Final = 0.2
"""What a scalar function costs in code at each point."""


@dataclass(slots=True)
class Compiled:
    """A region for operands of one layout; `words`: how many it is given."""

    program: Program
    code: Pieces
    words: int
    tiled: Tiled | None


class Ranges:
    """One run of a region."""

    def __init__(self, phase: Phase, iteration: Iteration, region: Region, compiled: Compiled,
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
            made, tiles = self.made(), self.compiled.tiled
            if phase.frame:
                self.cells(made[0].shape[0] if made else self.types.number(phase.frame[0]))
            elif tiles is not None:
                self.cells(self.number(tiles.rows), self.iteration.points // max(1, self.number(tiles.rows)))
            else:
                self.cells(1)
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
                result = traverse.results(self.phase)[source.place]
                made.append(room(self.types.shape(result), DTYPES[self.types.kind(result)]))
                self.arrays[view.name] = in_parts(made[-1])
        return made

    def states(self, initial: Sequence[NumArray]) -> None:
        """Buffers of the state, filled."""
        for view, source in self.views:
            match source:
                case State(component, doubled):
                    first = initial[component]
                    dtype = DTYPES[self.types.kind(traverse.results(self.phase)[component])]
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
        return self.placed(scratch)[0]

    def placed(self, scratch: Mapping[str, NumArray]) -> tuple[Any, dict[str, int]]:
        """The words of a call, and where in them the address of each view is."""
        places: dict[str, int] = {}
        block = (ctypes.c_int64 * self.compiled.words)()
        place = 2
        for size in self.region.sizes:
            block[place] = self.types.number(size)
            place += 1
        if self.compiled.tiled is not None:
            all_rows = (0, self.number(self.compiled.tiled.rows)) if self.compiled.tiled.wraps else (-WHOLE, WHOLE)
            block[place : place + 4] = [*all_rows, 0, 0]
            place += 4
        for view, _ in self.views:
            if is_own(self.program, view):
                continue
            array = self.arrays.get(view.name)
            array = scratch[view.name] if array is None else array
            block[place], places[view.name] = start_of(array), place
            strides = list(array.strides)
            if view.name in self.others:  # two buffers are one view, wherever they lie
                strides.insert(0, start_of(self.others[view.name]) - block[place])
            place += 1
            for stride in strides[: strides_of(view)]:
                block[place] = stride
                place += 1
        return block, places

    def number(self, form: Index) -> int:
        """A form in sizes."""
        sizes = dict(zip(self.program.parameters[2:], map(self.types.number, self.region.sizes), strict=False))
        return form.constant + sum(sizes[name] * c for name, c in form.terms)

    def scratch(self, *, is_local: bool = False) -> dict[str, NumArray]:
        """In the shapes that transformations have left; `is_local`: only what is local."""
        made: dict[str, NumArray] = {}
        for view, source in self.views:
            if isinstance(source, Scratch) and not is_own(self.program, view) and (view.local or not is_local):
                made[view.name] = room(tuple(map(self.number, view.shape)), DTYPES[view.kind])
        return made

    # ---------------------------------------------------------------------------------------- running

    def ranges(self, first: int, last: int) -> None:
        """Iterations one after the other, each range as long as an interrupt may wait."""
        block = _Block(self, self.threads)
        if self.in_tiles(block, first, last):
            return
        ended = next((self.arrays[view.name] for view, source in self.views if isinstance(source, Ended)), None)
        pace = Pace(first, last, last, self.iteration.points)
        for start, stop in pace.ranges():
            self.timed(block, start, stop, pace)
            if ended is not None and ended:
                return

    def in_tiles(self, block: _Block, first: int, last: int) -> bool:
        """Iterations in tiles of rows, where that is better."""
        tiles = self.compiled.tiled
        if tiles is None:
            return False
        rows = self.rows(tiles)
        cut = None if rows.count < 1 else stretches_of(rows, last - first, self.threads)
        if cut is None or cut.bands == 1:
            return False
        local = [self.scratch(is_local=True) for _ in range(cut.bands)]
        blocks = [self.words({**block.scratch, **own}) if own else block.words for own in local]
        run_tiles(self.compiled.code.address, lambda tile: blocks[tile], 2 + len(self.region.sizes), rows, cut, first, last,
                  self.threads)  # fmt: skip
        return True

    def pieces(self, places: Mapping[str, int], trips: int) -> tuple[Pieces, int]:
        """Bands of rows that see nothing of each other in one launch, and how many iterations it does at most; its first two
        bases are the bounds of these, others those of views."""
        tiles, (words, at) = self.compiled.tiled, self.placed({})
        address = self.compiled.code.address
        given = [(0, (0, 0)), (1, (1, 0)), *((at[name], (place, 0)) for name, place in places.items())]
        if tiles is None:
            each = max(1, self.iteration.functions)  # one waits for the other
            turns = max(1, min(trips, int(policy.HEARD_NANOSECONDS / each)))
            return Pieces(address, [Block(list(words), given)], 2 + len(places), 1, turns * each), turns
        rows, where = self.rows(tiles), 2 + len(self.region.sizes)
        cut = stretches_of(rows, trips, self.threads)
        assert cut is not None, "rows see nothing of each other"
        blocks = [Block([*words[:where], *tile, *words[where + 4 :]], given) for tile in bands_of(rows, cut)[0]]
        return Pieces(address, blocks, 2 + len(places), self.threads, rows.nanoseconds * rows.count * cut.turns), cut.turns

    def rows(self, tiles: Tiled) -> Rows:
        iteration, count = self.iteration, self.number(tiles.rows)
        touched = sum(array.nbytes for buffers in self.buffers.values() for array in buffers)
        each, time = max(1, count), _NANOSECONDS * iteration.functions
        if self.region.is_pointwise:
            touched = sum(self.arrays[view.name].nbytes for view, source in self.views if isinstance(source, State))
            time /= 2  # what iterations hand on is in registers
        return Rows(count, touched // each, time / each, tiles.reach, tiles.levels, tiles.wraps)

    def cells(self, count: int, points: int = 0) -> None:
        """Cells in any order, or rows of one cell; `points`: of each, if not of an iteration."""
        most = -(-count // (4 * self.threads))
        pace = Pace(0, count, most, max(1, points or self.iteration.points))
        shared = {} if self.compiled.tiled is None else self.scratch()  # of which each thread touches its own rows

        def worker() -> Callable[[tuple[int, int]], None]:
            block = _Block(self, 1, shared)
            return lambda cells: self.timed(block, *cells, pace)

        run_boxes(pace.ranges(), worker, min(self.threads, -(-count // pace.count)))

    def timed(self, block: _Block, first: int, last: int, pace: Pace) -> None:
        started = perf_counter_ns()
        self.call(block, first, last)
        pace.took(last - first, perf_counter_ns() - started)

    def call(self, block: _Block, first: int, last: int) -> None:
        at = 0 if not isinstance(self.phase, Map) or self.compiled.tiled is None else 2 + len(self.region.sizes)
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
                locate(failure, label_of(self.phase, self.number_of(iteration)))
            raise

    def number_of(self, iteration: int) -> int:
        """The number of an iteration for people: items are gone through from the last where that is a reduction."""
        phase = self.phase
        if not isinstance(phase, Fold) or phase.scan:
            return iteration
        return self.types.number(self.types.types[phase.args[0]].shape[0]) - 1 - iteration

    def fail(self, check: Check, values: list[int]) -> None:
        """Say what the record says."""
        if check.function == "empty":
            raise RunFailed([Diagnostic(Code.E204, "a reduction with a function needs at least one item", check.span)])
        if check.function == "index" or check.function.startswith("shift "):
            shift = check.function[6:] if check.function != "index" else None
            failure = outside(values[0], values[1], shift, check.place, dict(zip(check.beside, values[2:], strict=False)))
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


class Pace:
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

    def __init__(self, launch: Ranges, threads: int, shared: Mapping[str, NumArray] | None = None) -> None:
        """`shared`: scratch that other threads have too, but for what is local."""
        self.scratch, self.routines = {**(shared or {}), **launch.scratch(is_local=bool(shared))}, None
        self.words = launch.words(self.scratch)
        if launch.region.routines:
            backend = launch.backend_of(threads)
            self.routines = Routines(launch.region.routines, launch.program, self.words, launch.types, backend, threads)
            server = self.routines.serve()
            next(server)
            self.entry = ROUTINE(server.send)
            self.words[calls_at(launch.program)[0] - 1] = ctypes.c_void_p.from_buffer(self.entry).value
