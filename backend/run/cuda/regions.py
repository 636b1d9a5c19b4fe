"""Loops whose iterations are nests of independent loops: a program of launches, once an iteration, on buffers of the state.

Rotations, edges that are joined or chosen, phases that need each other's results: each iteration is lowered as on processors, but
not cut into interiors and edges, as a launch takes longer than a choice.

Neighbours: `loops.lower.region` (the program), `loops.transform.spreading` (one iteration), `loops` (asks).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ...graph.phases import Constant, Loop, ValueId
from ...loops.cuda import cuda_text
from ...loops.ir import Program
from ...loops.lower.region import Region, literals_of, lower_region
from ...loops.lower.values import Data, Given, State, Turn, Unsupported
from ...loops.transform import ON_CARDS, optimise, spreading
from ..device import Types
from .modules import Modules

LoopRunner: TypeAlias = Callable[[Mapping[ValueId, Any], list[Any], int], "tuple[Any, ...] | None"]
"""From the values of a memory, the first state and the number of turns to the last state; None: its turns are steps."""


def compile_region(
    xp: Any, modules: Modules, loop: Loop, types: Types, constant: Callable[[Constant], Any]
) -> LoopRunner | None:
    """None: not all of an iteration is nests."""
    region, program = modules.launches.of(("region", id(loop)), (loop,), lambda: _lowered(loop, types))
    if region is None or program is None:
        return None
    text = cuda_text(program)

    def repeat(values: Mapping[ValueId, Any], state: list[Any], turns: int) -> tuple[Any, ...] | None:
        words, buffers = [0, 0, *map(types.number, region.sizes)], dict[int, list[Any]]()
        for view in program.views:
            match region.sources[view.name]:
                case Given(value):
                    arrays = [xp.ascontiguousarray(values[value])]
                case Data(phase):
                    arrays = [constant(phase)]
                case State(place, doubled):
                    arrays = buffers[place] = [state[place].copy()]
                    arrays += [xp.empty(state[place].shape, state[place].dtype) for _ in range(doubled)]
                case _:
                    continue
            first, *others = (int(array.data.ptr) for array in arrays)
            strides = [*(other - first for other in others), *arrays[0].strides, view.kind.bytes]
            words += first, *strides[: len(view.shape) - bool(view.shape)]
        for turn in range(turns):
            words[:2] = turn, turn + 1
            if modules.run(text, words):
                return None  # whoever runs it step by step says what failed
        return tuple(buffers[place][turns % len(buffers[place])] for place in sorted(buffers))

    return repeat


def _lowered(loop: Loop, types: Types) -> tuple[Region | None, Program | None]:
    if not loop.is_plain or loop.keep or loop.until is not None:
        return None, None
    try:
        region = lower_region(loop, types.types, types.guards, literals_of(loop.body.phases, types.types))
    except Unsupported:
        return None, None
    turn = next((name for name, source in region.sources.items() if isinstance(source, Turn)), None)
    return region, spreading.run(optimise(region.program, ON_CARDS), turn)
