"""Loops over rotations of their state: one kernel call a turn and piece, between two buffers of the state.

Note [Borders].  Along the last axis each row has its wrapped neighbours beside it, copied after each turn, so that every vector
loads at a fixed distance.  Along the others the space is cut where an offset wraps, and each piece has its own addresses.

The argument blocks of all pieces are made once, for either direction between the buffers.

Neighbours: `kernels.stencils` (which loops), `loops` (asks here), `compiled` (phases).
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ....lang.certain import certain
from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph import traverse
from ...graph.phases import Loop, ValueId
from ...kernels import policy
from ...kernels.build import Body, build_body, build_kernel
from ...kernels.ir import Kernel
from ...kernels.llvm_leaf import vector_bytes
from ...kernels.narrowing import narrow
from ...kernels.nest import plan_nest
from ...kernels.stencils import Turn, merge_stencil, rotation_amounts
from ...kernels.store import address_of
from ...loops.lower.kernel import KernelCode
from ..pool import room
from ..team import run_boxes
from .bands import MOST_TURNS, Bands, buffers_planned, shape_of
from .compiled import CALL, strides_over
from .cuts import PARALLEL
from .kinds import DTYPES, FILLS, NumArray
from .views import compile_view


class Stencil:
    """A loop of this sort, for known sizes; `repeat` is a `loops.LoopRunner`."""

    def __init__(self, loop: Loop, kinds: Callable[[ValueId], Kind], shapes: Callable[[ValueId], tuple[Size, ...]],
                 number: Callable[[Size], int], threads: int) -> None:  # fmt: skip
        self.loop, self.kinds, self.shapes, self.number, self.threads = loop, kinds, shapes, number, threads
        self.mode = policy.mode()
        self.amounts = rotation_amounts(loop)
        self.turns: dict[tuple[int, ...], tuple[Turn, Body] | None] = {}
        self.bands: dict[tuple[Any, ...], Bands | None] = {}

    def turn(self, values: Mapping[ValueId, Any]) -> tuple[Turn, Body] | None:
        if self.amounts is None:
            return None
        found = [np.asarray(values[amount]) for amount in self.amounts]
        if any(array.size != 1 for array in found):
            return None
        key = tuple(int(array.reshape(())[()]) for array in found)
        if key not in self.turns:
            turn = merge_stencil(self.loop, self.kinds, self.shapes, dict(zip(self.amounts, key, strict=True)))
            body = None if turn is None or any(s.constant is None for s in traverse.sizes(turn.phase)) else build_body(turn.phase)
            same = body is not None and all(
                r.kind is self.kinds(p) for r, p in zip(body.results, self.loop.body.params, strict=True)
            )
            self.turns[key] = (turn, narrow(body)) if turn is not None and body is not None and same else None
        return self.turns[key]

    def repeat(self, values: Mapping[ValueId, Any], state: list[Any], turns: int) -> tuple[Any, ...] | None:
        """The last state; None: not worth it, or of another sort."""
        found = self.turn(values)
        if found is None or not turns:
            return None
        turn, body = found
        space = tuple(self.number(axis.size) for axis in turn.phase.axes)
        if 0 in space or any(tuple(np.shape(array)) != space for array in state):
            return None
        points = int(np.prod(space))
        threads = self.threads if policy.work(body, points) * min(turns, MOST_TURNS) >= PARALLEL else 1
        outside: dict[int, NumArray] = {}
        for place, read in enumerate(turn.phase.reads):
            if turn.states[place] is None:
                view, _ = compile_view(read.projection, space, FILLS[self.kinds(read.value)], self.number)
                outside[place] = np.asarray(view(values[read.value]))
                if outside[place].dtype != DTYPES[self.kinds(read.value)]:
                    return None
        found_bands = self.in_bands(turn, body, space, outside, state, turns, threads)
        if found_bands is not None:
            return found_bands
        run = _Run(turn, body, space, self.kinds, self.number)
        if not run.is_planned():
            return None
        kernel = run.kernel(outside)
        if kernel is None:
            return None
        if self.mode is not policy.Mode.ALWAYS and not policy.is_worthwhile_to_repeat(KernelCode(kernel), body, points, turns):
            return None
        address = address_of(KernelCode(kernel))
        if address is None:
            return None
        threads = self.threads if policy.work(body, points) >= PARALLEL else 1
        return run.run(CALL(address), kernel, outside, state, turns, threads)

    def in_bands(self, turn: Turn, body: Body, space: tuple[int, ...], outside: Mapping[int, NumArray], state: Sequence[Any],
                 turns: int, threads: int) -> tuple[Any, ...] | None:  # fmt: skip
        """Several turns at a time, where the space is of that shape; see `bands`."""
        key = (id(turn), space, turns, threads, tuple((place, array.strides) for place, array in outside.items()))
        if key not in self.bands:
            shape = shape_of(turn, body, space, turns, threads)
            operands = [self.kinds(read.value) for read in turn.phase.reads]
            scalars = [self.number(size) for size in body.sizes]
            self.bands[key] = (
                None if shape is None
                else Bands(turn, body, (space[0], space[1]), operands, scalars, shape, outside, threads)
            )  # fmt: skip
        bands = self.bands[key]
        kernel = None if bands is None else bands.kernel()
        if bands is None or kernel is None:
            return None
        points = space[0] * space[1]
        if self.mode is not policy.Mode.ALWAYS and not policy.is_worthwhile_to_repeat(KernelCode(kernel), body, points, turns):
            return None
        return bands.run(kernel, outside, state, turns)


class _Run:
    def __init__(self, turn: Turn, body: Body, space: tuple[int, ...], kinds: Callable[[ValueId], Kind],
                 number: Callable[[Size], int]) -> None:  # fmt: skip
        self.turn, self.body, self.space = turn, body, space
        self.operands = [kinds(read.value) for read in turn.phase.reads]
        self.scalars = [number(size) for size in body.sizes]
        last = [own[-1] for own, state in zip(turn.offsets, turn.states, strict=True) if state is not None]
        self.left, self.right = max(0, *(-o for o in last), 0), max(0, *last, 0)
        self.row = space[-1] + self.left + self.right

    def is_planned(self) -> bool:
        """Are both buffers, with what is beside their rows, within what the plan has (`bands.buffers_planned`)?"""
        held = prod(self.space) * sum(result.kind.bytes for result in self.body.results)
        return 2 * held // self.space[-1] * self.row <= held + buffers_planned(held)

    def strides(self, place: int, outside: Mapping[int, NumArray]) -> tuple[int, ...]:
        if place in outside:
            return strides_over(outside[place], self.space)
        return _padded_strides(self.space, self.row, self.operands[place].bytes)

    def kernel(self, outside: Mapping[int, NumArray]) -> Kernel | None:
        strides = [self.strides(place, outside) for place in range(len(self.operands))]
        nest = plan_nest(self.space, False, strides, range(len(self.space)))
        if list(nest.order) != sorted(nest.order):
            return None
        outside_moves = any(any(self.turn.offsets[place]) for place in outside)
        if outside_moves or not nest.groups or nest.groups[-1] != (len(self.space) - 1,):
            return None
        return build_kernel(self.body, nest, self.operands, vector_bytes())

    def run(self, call: Callable[[int], int], kernel: Kernel, outside: Mapping[int, NumArray], state: Sequence[Any], turns: int,
            threads: int) -> tuple[Any, ...]:  # fmt: skip
        kinds = [result.kind for result in self.body.results]
        buffers = [[room((*self.space[:-1], self.row), DTYPES[kind]) for kind in kinds] for _ in range(2)]
        inside = slice(self.left, self.left + self.space[-1])
        for buffer, array in zip(buffers[0], state, strict=True):
            buffer[..., inside] = array
            self.wrap(buffer)
        pieces = self.pieces(threads)
        blocks = [[self.block(kernel, outside, buffers[way], buffers[1 - way], piece) for piece in pieces] for way in range(2)]
        for turn in range(turns):
            now = blocks[turn % 2]

            def work(place: int, now: Sequence[Any] = now, owners: Any = (buffers, outside)) -> None:
                call(ctypes.addressof(now[place]))

            run_boxes(range(len(now)), lambda work=work: work, threads)  # type: ignore[misc]
            for buffer in buffers[1 - turn % 2]:
                self.wrap(buffer)
        made: list[Any] = []
        for kind, buffer in zip(kinds, buffers[turns % 2], strict=True):
            result = room(self.space, DTYPES[kind])
            result[...] = buffer[..., inside]
            made.append(result)
        return tuple(made)

    def wrap(self, buffer: NumArray) -> None:
        """Copy the ends of the rows beside them."""
        size = self.space[-1]
        if self.left:
            buffer[..., : self.left] = buffer[..., size : size + self.left]
        if self.right:
            buffer[..., self.left + size :] = buffer[..., self.left : self.left + self.right]

    def pieces(self, threads: int) -> list[tuple[tuple[int, int], ...]]:
        """Boxes in which no offset wraps but along the last axis; the first axis is cut for the team too."""
        intervals: list[list[tuple[int, int]]] = []
        for axis, size in enumerate(self.space):
            cuts = {0, size}
            if axis < len(self.space) - 1:
                cuts |= {-own[axis] % size for own in self.turn.offsets}
            if axis == 0 and threads > 1:
                step = max(1, -(-size // (2 * threads)))
                step = step if axis < len(self.space) - 1 else -(-step // 256) * 256
                cuts |= set(range(0, size, step))
            ends = sorted(cuts)
            intervals.append(list(itertools.pairwise(ends)))
        return list(itertools.product(*intervals))

    def block(self, kernel: Kernel, outside: Mapping[int, NumArray], sources: Sequence[NumArray], targets: Sequence[NumArray],
              piece: tuple[tuple[int, int], ...]) -> Any:  # fmt: skip
        loops = [axis for axis, size in enumerate(self.space) if size != 1] or [len(self.space) - 1]
        words = [*(piece[axis][1] - piece[axis][0] for axis in loops), *(piece[axis][0] for axis in loops), *self.scalars]
        for place, offsets in enumerate(self.turn.offsets):
            strides, state = self.strides(place, outside), self.turn.states[place]
            if state is None:
                address = outside[place].__array_interface__["data"][0]
                address += sum(start * stride for (start, _), stride in zip(piece, strides, strict=True))
            else:
                address = sources[state].__array_interface__["data"][0]
                for axis, ((start, _), stride) in enumerate(zip(piece, strides, strict=True)):
                    if axis == len(self.space) - 1:
                        address += (self.left + start + offsets[axis]) * stride
                    else:
                        address += (start + offsets[axis]) % self.space[axis] * stride
            words += [address, *(strides[axis] if self.space[axis] != 1 else 0 for axis in loops)]
        for result, target in zip(self.body.results, targets, strict=True):
            strides = _padded_strides(self.space, self.row, result.kind.bytes)
            address = target.__array_interface__["data"][0] + self.left * result.kind.bytes
            address += sum(start * stride for (start, _), stride in zip(piece, strides, strict=True))
            words += [address, *(strides[axis] for axis in loops)]
        words.append(0)
        certain(len(words) == kernel.words(), "a launch has the words that its kernel reads")
        return (ctypes.c_int64 * len(words))(*words)


def _padded_strides(space: tuple[int, ...], row: int, bytes: int) -> tuple[int, ...]:
    """Strides over the space of a buffer whose rows are `row` long; the last axis always counts, so that it is a loop."""
    strides, step = [bytes], bytes * row
    for size in reversed(space[:-1]):
        strides.insert(0, step)
        step *= size
    return tuple(strides)
