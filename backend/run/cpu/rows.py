"""Chains along rows on arrays: through one kernel, or on NumPy some rows at a time; both give the bits of the members one by one.

On NumPy what is made of some rows is let go before the next.  So a chain never needs an array of what only it reads, whatever
tier runs it, and the plan counts none.

Neighbours: `graph.chains` (finds and joins), `loops.lower.rows` (the kernel), `compiled` (binding of phases), `structured`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph import traverse
from ...graph.chains import Joined, joined
from ...graph.phases import Structured, ValueId
from ...kernels import policy
from ...kernels.ir import Stores
from ...kernels.llvm_leaf import is_installed
from ...schedule.facts.workspace import rows_points
from ..pool import room, trim
from .body import compile_body, evaluate
from .kinds import DTYPES, FILLS, NumArray
from .slices import Sliced, slices
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
        varying: list[tuple[bool, ...]] = []
        self.operands = [kinds(read.value) for read in phase.reads]
        for read in phase.reads:
            view, on = compile_view(read.projection, self.space, FILLS[kinds(read.value)], number)
            self.reads.append((read.value, view))
            varying.append(on)
        self.kinds = [kinds(result.value) for result in phase.results]
        nodes = [result.node for result in phase.results]
        body = compile_body(phase.body, nodes, varying, self.space, number, by_rows=True)
        self.sliced = Sliced(body, self.reads, self.space, nodes)
        self.compiled = None
        if self.points and self.mode is not policy.Mode.OFF and is_installed():
            from .row_kernels import RowBinding

            self.compiled = RowBinding.of(chain, self.space, self.operands, number, threads, self.mode)

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        if self.compiled is not None:
            arrays = [np.asarray(view(values[value])) for value, view in self.reads]
            streams = overwrite is None and self.compiled.may_stream()
            bound = self.compiled.bound(arrays, Stores.STREAMED if streams else Stores.PLAIN)
            if bound is not None:
                return self.compiled.call(bound, arrays, self.targets(overwrite))
            del arrays
            trim()
        return self.on_numpy(values, self.targets(overwrite))

    def on_numpy(self, values: Mapping[ValueId, Any], targets: list[NumArray]) -> tuple[Any, ...]:
        """The body on some rows at a time."""
        slots, order, row = self.sliced.operands(values), tuple(range(len(self.space))), self.space[-1]
        for box in slices(self.space, (*[1] * (len(order) - 1), row), rows_points(self.points, row)):
            own = self.sliced.cut(slots, order, box)
            evaluate(self.sliced.body.inner, own, {})
            for node, target, on_row in zip(self.sliced.nodes, targets, self.chain.is_row, strict=True):
                value = own[node]
                if on_row:
                    target[box[:-1]] = value[..., 0] if value.ndim else value
                else:
                    target[box] = value
        return tuple(targets)

    def targets(self, overwrite: NumArray | None) -> list[NumArray]:
        """An array for each result, in the program's order of axes."""
        made: list[NumArray] = []
        for place, (kind, on_row) in enumerate(zip(self.kinds, self.chain.is_row, strict=True)):
            shape, dtype = self.space[:-1] if on_row else self.space, DTYPES[kind]
            fits = place == 0 and overwrite is not None and overwrite.shape == shape and overwrite.dtype == dtype
            made.append(overwrite if fits and overwrite.flags.c_contiguous else room(shape, dtype))  # type: ignore[union-attr, arg-type]
        return made
