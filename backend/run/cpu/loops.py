"""Loops with element-wise bodies through one kernel: all turns of an element before the next one.

A long loop is run in stretches of turns, so that an interrupt is heard; from the second stretch on, results are read and written
in place.

Neighbours: `kernels.loops` (which loops), `compiled` (binding), `cpu` and `run.sites` (ask for this).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph import traverse
from ...graph.phases import Loop, ValueId
from ...kernels import policy
from ...kernels.ir import Stores
from ...kernels.kept import Kept
from ...kernels.llvm_leaf import is_installed
from ...kernels.loops import build_loop, merge_loop
from ..device import Types
from .compiled import CompiledRun
from .packing import packed
from .views import compile_views

STRETCH: Final = 1 << 28
"""Operations on elements between two chances to interrupt."""


def compile_loop_kernel(loop: Loop, types: Types, threads: int) -> LoopRun | None:
    """None where the loop is of another sort, or there are no kernels.  Kept with the loop where its sizes are numbers."""
    values = {*traverse.uses(loop), *loop.body.params, *loop.results}
    values.update(value for phase in loop.body.phases for value in traverse.results(phase))
    kinds, shapes = {value: types.kind(value) for value in values}, {value: types.types[value].shape for value in values}
    mentioned = [size for phase in loop.body.phases for size in traverse.sizes(phase)]
    mentioned += [size for shape in shapes.values() for size in shape]
    if any(size.constant is None for size in mentioned):
        return _compiled(loop, kinds, shapes, types.number, threads)

    def make() -> LoopRun | None:  # nothing of the run is kept
        return _compiled(loop, kinds, shapes, _constant, threads)

    return _kept.of((id(loop), threads, policy.mode()), (loop,), make)


def _constant(size: Size) -> int:
    value = size.constant
    assert value is not None, "only sizes that are numbers are asked for"
    return value


_kept: Final[Kept[LoopRun | None]] = Kept(64)


def _compiled(
    loop: Loop, kinds: Mapping[ValueId, Kind], shapes: Mapping[ValueId, tuple[Size, ...]], number: Callable[[Size], int],
    threads: int,
) -> LoopRun | None:  # fmt: skip
    mode = policy.mode()
    if mode is policy.Mode.OFF or not is_installed():
        return None
    phase = merge_loop(loop, kinds.__getitem__, shapes.__getitem__)
    if phase is None or any(size.constant is None for size in traverse.sizes(phase)):
        return None
    body = build_loop(phase, complexes=True)
    if body is None:
        return None
    space = tuple(number(axis.size) for axis in phase.axes)
    if 0 in space:
        return None
    views, _ = compile_views(phase, space, kinds.__getitem__, number)
    operands = [kinds[read.value] for read in phase.reads]
    scalars = [*(number(size) for size in body.sizes), 0]
    run = LoopRun(body, views, space, operands, scalars, threads, mode, _none, prod(space))
    run.loop = loop
    return run


def _none(values: Mapping[ValueId, Any], overwrite: Any) -> tuple[Any, ...]:
    return ()


class LoopRun(CompiledRun):
    """A phase that is one turn; the last scalar is the number of turns."""

    loop: Loop
    turns = 1

    def wanted(self, code: Any) -> bool:
        if self.mode is policy.Mode.ALWAYS:
            return True
        return policy.is_worthwhile_to_repeat(code, self.body, self.points, self.turns)

    def repeat(self, values: Mapping[ValueId, Any], turns: int) -> tuple[Any, ...] | None:
        """The last state, from the values of a memory and the number of turns; None: it is not worth it."""
        count = len(self.body.results)
        self.turns, self.small = turns, self.points * turns < policy.SMALL
        outside = [np.asarray(view(values[value])) for value, view in self.views[count:]]
        now = [np.asarray(values[value]) for value in self.loop.initial]
        stretch = max(1, STRETCH // max(1, self.points * max(1, self.body.operations)))
        done = 0
        while True:
            arrays = [*now, *outside]
            bound = self.bound(arrays, Stores.PLAIN)
            if bound is None:
                return None
            results = self.room(bound, None) if done == 0 else [array.transpose(bound.order) for array in now]
            if done and not all(array.flags.c_contiguous for array in results):
                results = self.room(bound, None)
            self.call(bound, packed(arrays, bound.packs), results, min(stretch, turns - done))
            now = list(self.finish(bound, results))
            done += stretch
            if done >= turns:
                return tuple(now)
