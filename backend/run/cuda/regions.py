"""Loops whose iterations are nests of independent loops: a program of launches, once an iteration, on buffers of the state.

Rotations, edges that are joined or chosen, phases that need each other's results: each iteration is lowered as on processors, but
not cut into interiors and edges, as a launch takes longer than a choice.  Where items of the state see only themselves one launch
does many iterations (`loops.transform.interchanging`), few enough that an interrupt is heard and no launch outlasts a display's
patience.

Neighbours: `loops.lower.region` (the program), `loops.transform.spreading` (the nests), `card` (asks).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ...graph.phases import Constant, Loop, ValueId
from ...graph.steps import KnownValues
from ...loops.cuda import cuda_text
from ...loops.ir import Program
from ...loops.iterations import iteration_of
from ...loops.lower.region import Region, lower_region
from ...loops.lower.values import Data, First, Given, State, Turn, Unsupported
from ...loops.transform import ON_CARDS, POINTWISE_ON_CARDS, optimise, spreading
from ..device import Types
from .modules import Modules

STRETCH: Final = 1 << 36
"""Operations on elements between two chances to interrupt."""
LoopRunner: TypeAlias = Callable[[Mapping[ValueId, Any], list[Any], int], "tuple[Any, ...] | None"]
"""From the values of a memory, the first state and the number of turns to the last state; None: its turns are steps."""


def compile_region(
    xp: Any, modules: Modules, loop: Loop, types: Types, constant: Callable[[Constant], Any]
) -> LoopRunner | None:
    """None: not all of an iteration is nests."""
    region, program = modules.launches.of(("region", id(loop)), (loop,), lambda: nests_of(loop, types))
    if region is None or program is None:
        return None
    text, stretch = cuda_text(program), 1
    if region.is_pointwise:
        stretch = max(1, STRETCH // iteration_of(loop, types.types).functions)

    def words_of(values: Mapping[ValueId, Any], state: Sequence[Any], buffers: Sequence[Sequence[Any]]) -> tuple[list[int], Any]:
        """The words of a launch, and what they show."""
        words, shown = [0, 0, *map(types.number, region.sizes)], list[Any]()
        for view in program.views:
            match region.sources[view.name]:
                case Given(value):
                    arrays: Sequence[Any] = [xp.ascontiguousarray(values[value])]
                case Data(phase):
                    arrays = [constant(phase)]
                case First(place):
                    arrays = [xp.ascontiguousarray(state[place])]
                case State(place):
                    arrays = buffers[place]
                case _:
                    continue
            shown += arrays
            first, *others = (int(array.data.ptr) for array in arrays)
            strides = [*(other - first for other in others), *arrays[0].strides, view.kind.bytes]
            words += first, *strides[: len(view.shape) - bool(view.shape)]
        return words, shown

    def repeat(values: Mapping[ValueId, Any], state: list[Any], turns: int) -> tuple[Any, ...] | None:
        buffers = [
            [xp.empty(one.shape, one.dtype)] if region.is_pointwise
            else [one.copy(), *(xp.empty(one.shape, one.dtype) for _ in range(doubled))]
            for one, doubled in zip(state, region.states, strict=True)
        ]  # fmt: skip
        words, shown = words_of(values, state, buffers)
        for start in range(0, turns, stretch):
            words[:2] = start, min(turns, start + stretch)
            if modules.run(text, words):
                return None  # whoever runs it step by step says what failed
            if region.is_pointwise:
                words, shown = words_of(values, [own for own, in buffers], buffers)
        del shown
        return tuple(own[turns % len(own)] for own in buffers)

    return repeat


def nests_of(loop: Loop, types: Types) -> tuple[Region | None, Program | None]:
    """The region of a loop, and its nests as a program; None: it is of another sort."""
    if not loop.is_plain or loop.keep or loop.until is not None:
        return None, None
    try:
        region = lower_region(loop, types.types, types.guards, KnownValues(loop.body.phases, types.types))
    except Unsupported:
        return None, None
    turn = next((name for name, source in region.sources.items() if isinstance(source, Turn)), None)
    program = optimise(region.program, POINTWISE_ON_CARDS if region.is_pointwise else ON_CARDS)
    return region, spreading.run(program, turn)
