"""Chains along rows on arrays: through one kernel, or on NumPy in blocks of rows; both give the bits of the members one by one.

On NumPy a block is some rows along one axis of the frame (`rows_cut`); what is made of it lives as long as the block.  So a
chain never needs an array of what only it reads, whatever tier runs it, and the plan counts none.

Neighbours: `graph.chains` (finds and joins), `loops.lower.rows` (the kernel), `compiled` (binding of phases), `structured`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph import traverse
from ...graph.chains import Joined, joined
from ...graph.phases import ApplyNode, ConstantNode, ReadNode, SizeNode, Structured, ValueId
from ...kernels import policy
from ...kernels.ir import Stores
from ...kernels.llvm_leaf import is_installed
from ...schedule.facts.workspace import LARGEST_TEAM, rows_cut, rows_points
from ..pool import room, trim
from ..team import run_boxes
from . import space as boxes
from .kinds import DTYPES, FILLS, NumArray, constant
from .reals import FIXED_POWERS
from .reduce import Reduction, identity_array
from .scalars import implementation
from .structured import Kernel
from .views import View, compile_view

MOST_KEPT: Final = 256


def compile_rows(
    members: Sequence[Structured], wanted: Sequence[ValueId], kinds: Callable[[ValueId], Kind], number: Callable[[Size], int],
    threads: int,
) -> Kernel:  # fmt: skip
    """The run of a chain that makes the wanted values; kept with its members where their sizes are numbers."""
    key = (*map(id, members), *wanted, threads, policy.mode())
    found = _kept.get(key)
    if found is not None and all(old is new for old, new in zip(found[0], members, strict=True)):
        return found[1]
    run = RowsRun(joined(members, wanted), kinds, number, threads).run
    if all(size.constant is not None for member in members for size in traverse.sizes(member)):
        while len(_kept) >= MOST_KEPT:
            _kept.pop(next(iter(_kept)), None)
        _kept[key] = (tuple(members), run)
    return run


_kept: dict[tuple[Any, ...], tuple[tuple[Structured, ...], Kernel]] = {}


class RowsRun:
    """A chain of known sizes; its kernels by the layout of the operands."""

    def __init__(self, chain: Joined, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int], threads: int) -> None:
        phase = chain.phase
        self.chain, self.threads, self.mode = chain, threads, policy.mode()
        self.space = tuple(number(axis.size) for axis in phase.axes)
        self.points = prod(self.space)
        self.reads: list[tuple[ValueId, View]] = []
        self.operands = [kinds(read.value) for read in phase.reads]
        for read in phase.reads:
            view, _ = compile_view(read.projection, self.space, FILLS[kinds(read.value)], number)
            self.reads.append((read.value, view))
        self.kinds = [kinds(result.value) for result in phase.results]
        self.blocks = _Blocks(chain, self.space, self.reads, self.kinds, number, threads)
        self.compiled = None
        if self.points and self.mode is not policy.Mode.OFF and is_installed():
            from .row_kernels import RowBinding

            self.compiled = RowBinding.of(chain, self.space, self.operands, number, threads, self.mode)

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        arrays = [np.asarray(view(values[value])) for value, view in self.reads]
        if self.compiled is not None:
            streams = overwrite is None and self.compiled.may_stream()
            bound = self.compiled.bound(arrays, Stores.STREAMED if streams else Stores.PLAIN)
            if bound is not None:
                return self.compiled.call(bound, arrays, self.targets(overwrite))
            trim()
        return self.blocks.run(arrays, self.targets(overwrite))

    def targets(self, overwrite: NumArray | None) -> list[NumArray]:
        """An array for each result, in the program's order of axes."""
        made: list[NumArray] = []
        for place, (kind, on_row) in enumerate(zip(self.kinds, self.chain.is_row, strict=True)):
            shape, dtype = self.space[:-1] if on_row else self.space, DTYPES[kind]
            fits = place == 0 and overwrite is not None and overwrite.shape == shape and overwrite.dtype == dtype
            made.append(overwrite if fits and overwrite.flags.c_contiguous else room(shape, dtype))  # type: ignore[union-attr, arg-type]
        return made


@dataclass(frozen=True, slots=True)
class _Step:
    """`slot` ← function of slots; those in `dead` are not needed after it."""

    slot: int
    function: Callable[..., Any]
    args: tuple[int, ...]
    dead: tuple[int, ...]


class _Blocks:
    """The body on NumPy, some rows at a time."""

    def __init__(self, chain: Joined, space: tuple[int, ...], reads: Sequence[tuple[ValueId, View]], kinds: Sequence[Kind],
                 number: Callable[[Size], int], threads: int) -> None:  # fmt: skip
        body = chain.phase.body
        self.chain, self.space, self.kinds = chain, space, kinds
        self.threads = min(threads, LARGEST_TEAM)
        self.constants: list[tuple[int, Any]] = []
        self.loads: list[tuple[int, int]] = []
        self.steps: list[_Step] = []
        last: dict[int, int] = {}
        for place, node in enumerate(body):
            if isinstance(node, ApplyNode):
                last.update(dict.fromkeys(node.args, place))
        shown = {result.node for result in chain.phase.results}
        for place, node in enumerate(body):
            match node:
                case ConstantNode():
                    self.constants.append((place, constant(node.kind, node.value)))
                case SizeNode():
                    self.constants.append((place, np.array(number(node.size), np.int64)))
                case ReadNode():
                    self.loads.append((place, node.index))
                case ApplyNode():
                    dead = tuple(arg for arg in dict.fromkeys(node.args) if last[arg] == place and arg not in shown)
                    function, args = self.function(node)
                    self.steps.append(_Step(place, function, args, dead))

    def function(self, node: ApplyNode) -> tuple[Callable[..., Any], tuple[int, ...]]:
        body = self.chain.phase.body
        if node.function.startswith("along_"):
            return _along(Reduction(0, node.function.removeprefix("along_"), node.kind, False), self.space[-1]), node.args
        compute = getattr(body[node.args[1 if node.function == "select" else 0]], "kind", Kind.I64)
        if node.function == "pow" and compute.is_float:
            from ...kernels.constants import real_constant

            fixed = FIXED_POWERS.get(real_constant(body, node.args[1]))
            if fixed is not None:
                return fixed, node.args[:1]
        return implementation(node.function, compute, node.kind, node.parameter), node.args

    def run(self, arrays: Sequence[NumArray], targets: Sequence[NumArray]) -> tuple[Any, ...]:
        axis, points = rows_cut(self.space), prod(self.space)
        outer, length = (self.space[:axis], self.space[axis]) if len(self.space) > 1 else ((), 1)
        inner = prod(self.space[axis + 1 :]) if len(self.space) > 1 else self.space[0]
        threads = self.threads if points >= boxes.THREADED else 1
        many = max(1, rows_points(points, inner) // threads // max(1, inner))
        starts = [(*place, start) for place in np.ndindex(outer) for start in range(0, length, many)]

        def work(start: tuple[int, ...]) -> None:
            *place, first = start
            self.block(arrays, targets, (*(slice(at, at + 1) for at in place), slice(first, first + many)))

        run_boxes(starts, lambda: work, threads)
        return tuple(targets)

    def block(self, arrays: Sequence[NumArray], targets: Sequence[NumArray], rows: tuple[slice, ...]) -> None:
        slots: dict[int, Any] = dict(self.constants)
        rows = rows if len(self.space) > 1 else ()
        for place, index in self.loads:
            array = arrays[index]
            if array.ndim != len(self.space) and array.size == 1:
                array = array.reshape((1,) * len(self.space))
            slots[place] = array[tuple(slice(None) if n == 1 else own for own, n in zip(rows, array.shape, strict=False))]
        for step in self.steps:
            slots[step.slot] = step.function(*[slots[arg] for arg in step.args], None)
            for arg in step.dead:
                slots.pop(arg, None)
        for result, target, on_row in zip(self.chain.phase.results, targets, self.chain.is_row, strict=True):
            value = slots[result.node]
            if on_row and value.ndim:
                value = value[..., 0]
            np.copyto(target[rows] if rows else target, value)


def _along(reduction: Reduction, length: int) -> Callable[..., Any]:
    """The reduction of the last axis, which stays with length 1."""

    def reduce(value: Any, out: None) -> Any:
        if value.shape[-1] != length:
            value = np.broadcast_to(value, (*value.shape[:-1], length))
        if value.size == 0:
            return identity_array(reduction.function, reduction.kind, (*value.shape[:-1], 1))
        return np.asarray(reduction.whole(value))[..., np.newaxis]

    return reduce
