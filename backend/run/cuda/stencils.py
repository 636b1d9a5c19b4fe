"""Loops over rotations of their state: one kernel a turn that reads neighbours where they are, between two buffers of the state.

Neighbours: `kernels.stencils` (which loops), `loops.lower.cards` (offsets), `loops` (asks here), `cpu.stencils` (the same there).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph import traverse
from ...graph.phases import Loop, ValueId
from ...kernels.build import Body, build_body, build_kernel
from ...kernels.narrowing import narrow
from ...kernels.nest import plan_nest
from ...kernels.stencils import Turn, merge_stencil, rotation_amounts
from ...loops.cuda import cuda_text
from ...loops.lower.cards import CardCode
from ..cpu.kinds import DTYPES, FILLS
from .launching import VECTOR, Bound
from .layouts import Placed, compile_reading, whole
from .modules import Modules


class Stencil:
    """A loop of this sort, for known sizes; `repeat` is a `cpu.loops.LoopRunner`."""

    def __init__(self, xp: Any, modules: Modules, loop: Loop, kinds: Callable[[ValueId], Kind],
                 shapes: Callable[[ValueId], tuple[Size, ...]], number: Callable[[Size], int]) -> None:  # fmt: skip
        self.xp, self.modules, self.loop, self.kinds, self.shapes, self.number = xp, modules, loop, kinds, shapes, number
        self.amounts = rotation_amounts(loop) or ()
        self.turns: dict[tuple[int, ...], tuple[Turn, Body] | None] = {}

    def turn(self, values: Mapping[ValueId, Any]) -> tuple[Turn, Body] | None:
        found = [values[amount] for amount in self.amounts]
        if any(array.size != 1 for array in found):
            return None
        key = tuple(int(array.item()) for array in found)
        if key not in self.turns:
            self.turns[key] = self._merged(dict(zip(self.amounts, key, strict=True)))
        return self.turns[key]

    def _merged(self, amounts: Mapping[ValueId, int]) -> tuple[Turn, Body] | None:
        turn = merge_stencil(self.loop, self.kinds, self.shapes, amounts)
        if turn is None or any(size.constant is None for size in traverse.sizes(turn.phase)):
            return None
        body = build_body(turn.phase, complexes=True)
        if body is None or any(r.kind is not self.kinds(p) for r, p in zip(body.results, self.loop.body.params, strict=True)):
            return None
        return turn, narrow(body)

    def repeat(self, values: Mapping[ValueId, Any], state: list[Any], turns: int) -> tuple[Any, ...] | None:
        """The last state; None: of another sort."""
        found = self.turn(values)
        if found is None or not turns:
            return None
        turn, body = found
        space = tuple(self.number(axis.size) for axis in turn.phase.axes)
        if 0 in space or any(tuple(array.shape) != space for array in state):
            return None
        now = [self.xp.ascontiguousarray(array) for array in state]
        placed: list[Placed | None] = [None] * len(turn.states)
        for place, (read, own) in enumerate(zip(turn.phase.reads, turn.states, strict=True)):
            if own is None:
                fill = FILLS[self.kinds(read.value)]
                placed[place] = compile_reading(self.xp, read.projection, space, fill, self.number)(values[read.value])
        ready = [p or whole(now[own or 0]) for p, own in zip(placed, turn.states, strict=True)]
        flat = [tuple(0 if n == 1 else s for n, s in zip(space, p.strides, strict=True)) for p in ready]
        nest = plan_nest(space, False, flat, range(len(space)))
        if list(nest.order) != sorted(nest.order):
            return None
        kernel = build_kernel(body, nest, [self.kinds(read.value) for read in turn.phase.reads], VECTOR)
        offsets = tuple(tuple(own[group[-1]] if group else 0 for group in nest.groups) for own in turn.offsets)
        bound = Bound(kernel, cuda_text(CardCode(kernel, offsets=offsets).program()), nest, space)
        scalars = [self.number(size) for size in body.sizes]

        def words(sources: list[Any], targets: list[Any]) -> list[int]:
            operands = [p.address if own is None else int(sources[own].data.ptr)
                        for p, own in zip(ready, turn.states, strict=True)]  # fmt: skip
            return bound.words(scalars, operands, [int(target.data.ptr) for target in targets])

        buffers = [[self.xp.empty(space, DTYPES[r.kind]) for r in body.results] for _ in range(min(2, turns))]
        chain = [now, *buffers]
        kept: dict[tuple[int, int], list[int]] = {}
        source = 0
        for _ in range(turns):
            target = 2 if source == 1 else 1
            if (source, target) not in kept:
                kept[source, target] = words(chain[source], chain[target])
            self.modules.run(bound.text, kept[source, target])
            source = target
        return tuple(chain[source])
