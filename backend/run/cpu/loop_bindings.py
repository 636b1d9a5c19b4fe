"""What native code does for a loop whose items see only themselves: one launch.

Neighbours: `bindings` (what a binding is), `pointwise` (the launch), `run.sites` (asks).
"""

from __future__ import annotations

import numpy as np

from ...graph.phases import Loop
from ...loops.lower.values import First, Given, State
from ..device import Backend
from .bindings import SAVED_NANOSECONDS, Binding, Later, Unbound
from .kinds import DTYPES, NumArray, start_of
from .launching import Base
from .regions import RegionRun


def bind_loop(binding: Binding, phase: Loop, run: RegionRun, backend: Backend) -> None:
    """What native code does for such a loop.  Unbound: it is of another sort."""
    types, trips = binding.types, phase.trip.constant
    if run.region is None and not run.reason:
        raise Later
    if run.region is None or not trips or run.pointwise is None:
        raise Unbound
    arrays = run.inputs(binding.values, lambda constant: backend.constant(constant, types), are_copied=False)
    if arrays is None and run.region.is_flat:
        bind_loop(binding, phase, run.for_strided(), backend)
        return
    compiled = None if arrays is None else run.code(arrays, run.sizes(types), binding.runs * SAVED_NANOSECONDS)
    if arrays is None or compiled is None:
        raise Later
    made = [np.empty(types.shape(value), DTYPES[types.kind(value)]) for value in phase.results]
    arrays |= run.pointwise.shown(compiled, made, State)
    pieces, turns = run.pointwise.launch(compiled, arrays, types, int(trips), binding.threads)
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
