"""Chains along rows on arrays: through one kernel, or on NumPy some rows at a time; both give the bits of the members one by one.

On NumPy what is made of some rows is let go before the next.  So a chain never needs an array of what only it reads, whatever
tier runs it, and the plan counts none.

Neighbours: `graph.chains` (finds and joins), `loops.lower.rows` (the kernel), `compiled` (binding of phases), `structured`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, Final

from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph import traverse
from ...graph.chains import Joined, joined
from ...graph.phases import Structured, ValueId
from ...kernels import policy
from ...kernels.build import Body, build_body, build_kernel
from ...kernels.ir import Form, Stores
from ...kernels.kept import Kept
from ...kernels.llvm_leaf import is_installed
from ...kernels.nest import Nest, row_nest
from ...kernels.row_plan import MOST_SIDE
from ...loops.lower.rows import RowsCode
from ...schedule.facts.workspace import rows_points
from ..pool import ALIGNMENT, room, trim
from .body import compile_body, evaluate
from .compiled import STREAMED, CompiledRun, strides_over
from .cuts import Cuts, Reduction, Work, cuts_of
from .kinds import DTYPES, NumArray
from .layouts import contiguous
from .slices import Sliced, slices
from .structured import Kernel
from .views import View, compile_views, may_defer


def compile_rows(
    members: Sequence[Structured], wanted: Sequence[ValueId], kinds: Callable[[ValueId], Kind], number: Callable[[Size], int],
    threads: int,
) -> Kernel:  # fmt: skip
    """The run of a chain that makes the wanted values; kept with its members where their sizes are numbers."""


    def make() -> Kernel:
        return _compiled(joined(members, wanted), kinds, number, threads)

    if any(size.constant is None for member in members for size in traverse.sizes(member)):
        return make()
    return _kept.of((*map(id, members), *wanted, threads, policy.mode()), tuple(members), make)


_kept: Final[Kept[Kernel]] = Kept(256)


def _compiled(chain: Joined, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int], threads: int) -> Kernel:
    phase, mode = chain.phase, policy.mode()
    space = tuple(number(axis.size) for axis in phase.axes)
    views, varying = compile_views(phase, space, kinds, number)
    nodes = [result.node for result in phase.results]
    sliced = Sliced(compile_body(phase.body, nodes, varying, space, number, by_rows=True), views, space, nodes)
    on_numpy = RowsOnNumPy(sliced, chain.is_row, [kinds(result.value) for result in phase.results]).run
    body = build_body(phase) if prod(space) and mode is not policy.Mode.OFF and is_installed() else None
    if body is None:
        return on_numpy
    operands, scalars = [kinds(read.value) for read in phase.reads], [number(size) for size in body.sizes]
    return RowsRun(body, views, space, operands, scalars, threads, mode, on_numpy, chain.is_row,
                   any(map(may_defer, phase.reads))).run


class RowsOnNumPy:
    """A chain, some rows at a time."""

    def __init__(self, sliced: Sliced, is_row: Sequence[bool], kinds: Sequence[Kind]) -> None:
        self.sliced, self.is_row, self.kinds = sliced, is_row, kinds

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        space, targets = self.sliced.space, self.targets(overwrite)
        slots, row = self.sliced.operands(values), space[-1]
        if not self.sliced.is_at_once(slots):
            trim()
        for box in slices(space, (*[1] * (len(space) - 1), row), rows_points(prod(space), row)):
            own = self.sliced.cut(slots, box)
            evaluate(self.sliced.body.inner, own, {})
            for node, target, on_row in zip(self.sliced.nodes, targets, self.is_row, strict=True):
                value = own[node]
                if on_row:
                    target[box[:-1]] = value[..., 0] if value.ndim else value
                else:
                    target[box] = value
            del own, value  # before the next rows are copied
        return tuple(targets)

    def targets(self, overwrite: NumArray | None) -> list[NumArray]:
        """An array for each result, in the program's order of axes."""
        space, made = self.sliced.space, list[NumArray]()
        for place, (kind, on_row) in enumerate(zip(self.kinds, self.is_row, strict=True)):
            shape, dtype = space[:-1] if on_row else space, DTYPES[kind]
            fits = place == 0 and overwrite is not None and overwrite.shape == shape and overwrite.dtype == dtype
            made.append(overwrite if fits and overwrite.flags.c_contiguous else room(shape, dtype))  # type: ignore[union-attr, arg-type]
        return made


class RowsRun(CompiledRun):
    """A chain through kernels.  `is_row`: which results have one item a row.  Short rows are done side by side."""

    def __init__(self, body: Body, views: Sequence[tuple[ValueId, View]], space: tuple[int, ...], operands: Sequence[Kind],
                 scalars: Sequence[int], threads: int, mode: policy.Mode, otherwise: Kernel,
                 is_row: tuple[bool, ...], defers: bool) -> None:  # fmt: skip
        super().__init__(body, views, space, operands, scalars, threads, mode, otherwise, 0)
        self.defers = defers
        self.is_row, self.is_side = is_row, space[-1] < MOST_SIDE

    def shape_of(self, place: int) -> tuple[int, ...]:
        return self.space[:-1] if self.is_row[place] else self.space

    def strides_of(self, place: int, nest: Nest) -> tuple[int, ...]:
        bytes = self.body.results[place].kind.bytes
        return contiguous(nest.sizes[:-1], bytes) if self.is_row[place] else contiguous(nest.sizes, bytes)[:-1]

    def nest(self, arrays: Sequence[NumArray]) -> Nest:
        """Loops in the program's order; axes that step evenly through every operand are one."""
        strides = [strides_over(array, self.space) for array in arrays]
        return row_nest(self.space, strides, Form.ACROSS if self.is_side else Form.MAP)

    def code_for(self, arrays: Sequence[NumArray], stores: Stores) -> RowsCode | None:
        for array, kind in zip(arrays, self.operands, strict=True):
            if array.dtype != DTYPES[kind] or (array.ndim != len(self.space) and array.size != 1):
                return None
        nest = self.nest(arrays)
        if self.is_side and len(nest.sizes) < 2:
            return None
        made = build_kernel(self.body, nest, self.operands, stores)
        return RowsCode(made, self.is_row, 1 << (self.space[-1] - 1).bit_length())

    def stores(self, overwrites: bool) -> Stores:
        """Results past the caches are larger than these, and each row of them is aligned."""
        kinds = [r.kind for r, on_row in zip(self.body.results, self.is_row, strict=True) if not on_row]
        large = self.points * sum(kind.bytes for kind in kinds) >= STREAMED
        aligned = all(self.space[-1] * kind.bytes % ALIGNMENT == 0 for kind in kinds)
        return Stores.STREAMED if large and aligned and not overwrites and not self.is_side else Stores.PLAIN

    def in_boxes(self, operands: Sequence[Any]) -> tuple[Any, ...] | None:
        return None

    def reduction(self) -> Reduction:
        return Reduction.WHOLE

    def cuts(self, nest: Nest, work: Work) -> Cuts:
        """Rows that are not side by side are cut anywhere."""
        return cuts_of(nest if self.is_side else replace(nest, form=Form.ALONG), work)
