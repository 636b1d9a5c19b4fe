"""Loops with element-wise bodies as one kernel: all turns of an element before the next one, the state in registers.

A long loop is run in stretches of turns, so that an interrupt is heard and no launch outlasts a display's patience.

Neighbours: `kernels.loops` (which loops), `launching` (binding), `regions` (other loops),
`run.words` (asks for this), `cpu.loops` (the same there).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final

from ...graph import traverse
from ...graph.phases import Constant, Loop, ValueId
from ...kernels.loops import build_loop, merge_loop
from ..device import Types
from .launching import Launch
from .layouts import compile_readings, whole
from .modules import Modules
from .regions import LoopRunner, compile_region

STRETCH: Final = 1 << 36
"""Operations on elements between two chances to interrupt."""


def compile_loop(
    xp: Any, modules: Modules, loop: Loop, types: Types, constant: Callable[[Constant], Any]
) -> LoopRunner | None:
    """None where the loop is of another sort: its turns are steps."""
    kinds, number = types.kind, types.number
    phase = merge_loop(loop, kinds, lambda value: types.types[value].shape)
    if phase is None:
        return compile_region(xp, modules, loop, types, constant)
    if any(size.constant is None for size in traverse.sizes(phase)):
        return None
    body = build_loop(phase, complexes=True)
    if body is None:
        return None
    space = tuple(number(axis.size) for axis in phase.axes)
    if 0 in space:
        return None
    reads = compile_readings(xp, phase, space, kinds, number)
    operands = [kinds(read.value) for read in phase.reads]
    sizes = [number(size) for size in body.sizes]
    launch = Launch(xp, modules, body, reads, space, operands, sizes, None)
    count = len(body.results)
    stretch = max(1, STRETCH // max(1, prod(space) * max(1, body.operations)))

    def repeat(values: Mapping[ValueId, Any], state: list[Any], turns: int) -> tuple[Any, ...]:
        outside = [read(values[value]) for value, read in reads[count:]]
        now = list(state)
        done = 0
        while True:
            placed = [*map(whole, now), *outside]
            bound = launch.bound([p.strides for p in placed])
            results = launch.room(bound, None)
            launch.launch(bound, placed, results, [*sizes, min(stretch, turns - done)])
            now = list(launch.finish(bound, results))
            done += stretch
            if done >= turns:
                return tuple(now)

    return repeat
