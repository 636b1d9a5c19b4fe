"""Loops whose items see only themselves: all iterations of some rows, then of others, in one launch where that is not long.

What would take longer is done in stretches of iterations, so that interrupts are heard; from the second stretch on the state is
where the first one has left it.  Launches are kept by the layout of their operands.

Neighbours: `regions` (asks), `ranges` (the words of a launch), `tiles` (bands of rows), `bindings` (native programs).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...graph.phases import Loop
from ...library.routines import in_parts
from ...loops.lower.values import First, Given, State
from ..device import Backend, Types
from ..pool import room
from .bindings import SAVED_NANOSECONDS, Binding, Later, Unbound
from .compiled import layout_of
from .kinds import DTYPES, NumArray, start_of
from .launching import Base
from .ranges import Compiled, Ranges
from .sharing import Pieces

if TYPE_CHECKING:
    from .regions import RegionRun


def repeated(run: RegionRun, loop: Loop, compiled: Compiled, arrays: Mapping[str, NumArray], types: Types, trips: int,
             threads: int) -> tuple[Any, ...]:  # fmt: skip
    """The last state."""
    assert run.region is not None
    made = [room(types.shape(value), DTYPES[types.kind(value)]) for value in loop.results]
    arrays, done = dict(arrays) | shown(run, compiled, made, State), 0
    while True:
        pieces, turns = launch_of(run, compiled, arrays, types, trips, threads)
        addresses = [start_of(arrays[view.name]) for view in compiled.program.views]
        pieces.run([done, min(trips, done + turns), *addresses], arrays)
        done += turns
        if done >= trips:
            return tuple(made)
        arrays |= shown(run, compiled, made, First)


def shown(run: RegionRun, compiled: Compiled, state: list[NumArray], role: type[State] | type[First]) -> dict[str, NumArray]:
    """Arrays of the state as views of the program."""
    assert run.region is not None
    found: dict[str, NumArray] = {}
    for view in compiled.program.views:
        source = run.region.sources[view.name]
        if isinstance(source, role):
            array = state[source.place]
            found[view.name] = in_parts(array.reshape(-1) if run.region.is_flat else array)
    return found


def launch_of(run: RegionRun, compiled: Compiled, arrays: Mapping[str, NumArray], types: Types, trips: int, threads: int
              ) -> tuple[Pieces, int]:  # fmt: skip
    """A launch on operands like these, and how many iterations it does at most."""
    assert run.region is not None
    views = [view.name for view in compiled.program.views]
    key = (compiled.code.address, threads, trips, layout_of([arrays[name] for name in views]))
    found = run.launches.get(key)
    if found is None:
        launch = Ranges(run.phase, run.iteration(types), run.region, compiled, arrays, types, _nobody, threads)
        places = {name: 2 + place for place, name in enumerate(views)}
        found = run.launches.put(key, (), launch.pieces(places, trips))
    return found


def _nobody(threads: int) -> Any:
    raise AssertionError("no routine is called")


def bind_loop(binding: Binding, phase: Loop, run: RegionRun, backend: Backend) -> None:
    """What native code does for such a loop.  Unbound: it is of another sort."""
    types, trips = binding.types, phase.trip.constant
    if run.region is None and not run.reason:
        raise Later
    if run.region is None or not trips or not run.region.is_pointwise:
        raise Unbound
    arrays = run.inputs(binding.values, lambda constant: backend.constant(constant, types), are_copied=False)
    if arrays is None and run.region.is_flat:
        bind_loop(binding, phase, run.for_strided(), backend)
        return
    compiled = None if arrays is None else run.code(arrays, run.sizes(types), binding.runs * SAVED_NANOSECONDS)
    if arrays is None or compiled is None:
        raise Later
    made = [np.empty(types.shape(value), DTYPES[types.kind(value)]) for value in phase.results]
    arrays |= shown(run, compiled, made, State)
    pieces, turns = launch_of(run, compiled, arrays, types, int(trips), binding.threads)
    if turns < trips:
        raise Unbound
    bases: list[Base] = [(None, 0), (None, int(trips))]
    for view in compiled.program.views:
        array = arrays[view.name]
        match run.region.sources[view.name]:
            case State(component):
                bases.append((binding.result(phase.results[component], made[component].shape, made[component].dtype), 0))
            case Given(value):
                bases.append(binding.base(value, array, _itself))
            case First(component):
                bases.append(binding.base(phase.initial[component], array, _itself))
            case _:
                bases.append((None, start_of(array)))
                binding.keep.append(array)
    binding.share(pieces, bases)


def _itself(array: NumArray) -> NumArray:
    return array
