"""Structured phases through compiled kernels: binds a kernel to the arrays of a run, cuts the work for the team.

The operands are the views that NumPy would compute on, so their bounds are NumPy's; a kernel sees only an address, sizes and
strides of each, checked here for every new layout.  The arrays are held until the kernel has returned.  A run that kernels cannot
do (a foreign layout, no llvmlite) goes to `otherwise`, the same phase on NumPy.

Neighbours: `backend.kernels` (what is bound), `cuts` (pieces), `structured` (decides), `reduce` (joins partial results).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ....lang.codes import Code
from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph.phases import Structured, ValueId
from ...kernels import policy
from ...kernels.build import Body, build_body, build_kernel, spans_of
from ...kernels.ir import NO_MEMORY, Apply, Form, Kernel, Stores
from ...kernels.llvm_leaf import is_installed, vector_bytes
from ...kernels.narrowing import narrow
from ...kernels.nest import Nest, in_registers, plan_nest
from ...kernels.short_rows import with_short_rows
from ...kernels.store import address_of
from ...loops.lower.kernel import KernelCode
from ...loops.lower.rows import RowsCode
from ...loops.written import Joining
from ...schedule.facts.workspace import workspace
from ..failures import CheckFailed
from ..pool import ALIGNMENT, room, trim
from .bound import Bound, joined
from .complexes import in_parts
from .cuts import Cuts, Made, Reduction, Work, cuts_of
from .deferred import Deferred
from .kinds import DTYPES, NumArray, start_of
from .launching import Block, moved
from .layouts import broadcasts, contiguous
from .packing import packed, to_pack
from .scalars import implementation
from .views import View, may_defer

if TYPE_CHECKING:
    from .boxes import BoxedRun

Run: TypeAlias = Callable[[Mapping[ValueId, Any], Any], tuple[Any, ...]]

STREAMED: Final = 1 << 25
"""Results of at least this many bytes bypass the caches."""
MOST_KEPT: Final = 256
"""Pieces that are kept; more are made one by one, each time."""
ASKED: Final = 16
"""A small phase asks for its kernel once in so many runs: asking costs as much as such a run."""


def compile_kernel(
    phase: Structured, views: Sequence[tuple[ValueId, View]], space: tuple[int, ...], kinds: Callable[[ValueId], Kind],
    number: Callable[[Size], int], threads: int, otherwise: Run,
) -> Run:  # fmt: skip
    """The run of a phase through kernels where they are worth it; `otherwise` itself where they never are."""
    mode = policy.mode()
    body = build_body(phase, complexes=True) if is_installed() else None
    if body is None:
        return otherwise
    operands, scalars = [kinds(read.value) for read in phase.reads], [number(size) for size in body.sizes]
    packable = workspace(phase, number) // 2  # what NumPy would take; partial results are in the other half
    return CompiledRun(narrow(body), views, space, operands, scalars, threads, mode, otherwise, packable, phase).run


class CompiledRun:
    """A phase; its kernels by the layout of the operands."""

    def __init__(self, body: Body, views: Sequence[tuple[ValueId, View]], space: tuple[int, ...], operands: Sequence[Kind],
                 scalars: Sequence[int], threads: int, mode: policy.Mode, otherwise: Run,
                 packable: int, phase: Structured | None = None) -> None:  # fmt: skip
        self.phase = phase
        self.body, self.views, self.space, self.operands = body, views, space, operands
        self.scalars, self.threads, self.mode, self.otherwise = scalars, threads, mode, otherwise
        self.reduces = body.results[0].reduction is not None
        self.points, self.packable = prod(space), packable
        self.kept: dict[tuple[Any, ...], Bound | KernelCode | RowsCode | None] = {}
        self.small = self.points < policy.SMALL
        self.defers = phase is not None and any(map(may_defer, phase.reads))
        self.boxed: BoxedRun | None = None
        self.runs = 0

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        if self.defers:
            operands = [view(values[value]) for value, view in self.views]
            if any(isinstance(operand, Deferred) for operand in operands):
                return self.in_boxes(operands) or self.otherwise(values, overwrite)
        arrays = [np.asarray(view(values[value])) for value, view in self.views]
        bound = self.bound(arrays, self.stores(overwrite is not None))
        if bound is None:
            del arrays
            trim()
            return self.otherwise(values, overwrite)
        if bound.packs:
            arrays = packed(arrays, bound.packs)
        results = self.room(bound, overwrite)
        self.call(bound, arrays, results)
        return self.finish(bound, results)

    def in_boxes(self, operands: Sequence[Any]) -> tuple[Any, ...] | None:
        """The results from operands some of which are deferred; None: NumPy does it."""
        from .boxes import BoxedRun

        if self.boxed is None:
            self.boxed = BoxedRun(self)
        return self.boxed.run(operands)

    # ------------------------------------------------------------------------------------------ binding

    def stores(self, overwrites: bool) -> Stores:
        """How large results that are written over nothing are stored."""
        return Stores.STREAMED if not overwrites and self.points * 16 >= STREAMED else Stores.PLAIN

    def bound(self, arrays: Sequence[NumArray], stores: Stores) -> Bound | None:
        key = (stores, layout_of(arrays))
        found = self.kept.get(key)
        if isinstance(found, Bound):
            return found
        if key not in self.kept and self.small and self.mode is policy.Mode.AUTO and (self.runs + 1) % ASKED:
            self.runs += 1  # nothing is asked of the compiler (which would be imported) before it may be wanted
            return None
        found = self.kept[key] if key in self.kept else self.code_for(arrays, stores)
        if found is not None and not isinstance(found, Bound) and self.wanted(found):
            found = self.bind(found, arrays)
        self.kept[key] = found
        return found if isinstance(found, Bound) else None

    def wanted(self, code: KernelCode | RowsCode) -> bool:
        if self.mode is not policy.Mode.AUTO:
            return True
        self.runs += 1
        if self.small and self.runs % ASKED:
            return False
        return policy.is_worthwhile(code, self.body, self.points, ASKED if self.small else 1)

    def shape_of(self, place: int) -> tuple[int, ...]:
        """Of a result."""
        return self.space[:-1] if self.reduces else self.space

    def nest(self, arrays: Sequence[NumArray]) -> Nest:
        strides = [strides_over(array, self.space) for array in arrays]
        nest = plan_nest(self.space, self.reduces, strides, self.body.coordinates)
        return in_registers(nest, is_free=not self.body.is_ordered, is_whole=self.is_whole)

    def code_for(self, arrays: Sequence[NumArray], stores: Stores) -> KernelCode | RowsCode | None:
        """The kernel for operands like these; None where an array is not what the phase says."""
        for array, kind in zip(arrays, self.operands, strict=True):
            if array.dtype != DTYPES[kind] or not broadcasts(array.shape, self.space):
                return None
        arrays = packed(arrays, to_pack(self.nest(arrays), arrays, self.packable))
        nest = self.nest(arrays)
        if self.body.finds_places and nest.form is not Form.COLUMNS:
            return None
        if stores is Stores.STREAMED and not self.may_stream(nest):
            stores = Stores.PLAIN
        kernel = build_kernel(self.body, nest, self.operands, stores)
        return KernelCode(with_short_rows(kernel, nest, vector_bytes()))

    def may_stream(self, nest: Nest) -> bool:
        """Are the results larger than caches, and is each row of them aligned?"""
        if self.reduces or self.points * sum(r.kind.bytes for r in self.body.results) < STREAMED:
            return False
        return len(nest.sizes) == 1 or all(nest.sizes[-1] * r.kind.bytes % ALIGNMENT == 0 for r in self.body.results)

    def bind(self, code: KernelCode | RowsCode, arrays: Sequence[NumArray]) -> Bound | None:
        address, kernel = address_of(code), code.kernel
        if address is None:
            return None
        packs = to_pack(self.nest(arrays), arrays, self.packable)
        nest = self.nest(packed(arrays, packs))
        head = 2 * kernel.axes + kernel.scalars
        each = 1 + kernel.axes
        places = [head + i * each for i in range(len(arrays))]
        first = head + len(arrays) * each
        places += [first + i * (1 + kernel.result_axes) for i in range(len(self.body.results))]
        work = Work(policy.work(self.body, self.points), self.threads, self.reduction())
        cuts = self.cuts(nest, work)
        blocks: Sequence[Block] = Made(cuts.count, lambda place: self.block(kernel, nest, cuts, places, place))
        blocks = tuple(blocks) if cuts.count <= MOST_KEPT else blocks
        shapes = [tuple([shape[axis] for axis in nest.order if axis < len(shape)])
                  for shape in map(self.shape_of, range(len(self.body.results)))]  # fmt: skip
        dtypes = tuple(DTYPES[result.kind] for result in self.body.results)
        combine: list[int] = []
        for result in self.body.results if cuts.partials > 1 else ():
            joining = address_of(Joining(result.reduction or "", result.kind))
            if joining is None:
                return None
            combine.append(joining)
        return Bound(kernel, address, blocks, len(places), self.threads, work.nanoseconds, tuple(shapes), nest.order,
                     cuts.partials, dtypes, packs, tuple(combine))  # fmt: skip

    def cuts(self, nest: Nest, work: Work) -> Cuts:
        return cuts_of(nest, work)

    @property
    def is_whole(self) -> bool:
        """Is a reduced axis one piece?"""
        return self.body.finds_places or self.body.is_from_the_right

    def reduction(self) -> Reduction:
        if not self.reduces:
            return Reduction.NONE
        return Reduction.WHOLE if self.is_whole else Reduction.SUMS

    def strides_of(self, place: int, nest: Nest) -> tuple[int, ...]:
        """How far apart items of a result are along each loop: not at all along a reduce axis."""
        bytes = self.body.results[place].kind.bytes
        return contiguous(nest.sizes[:-1], bytes) if self.reduces else contiguous(nest.sizes, bytes)[:-1]

    def block(self, kernel: Kernel, nest: Nest, cuts: Cuts, places: Sequence[int], place: int) -> Block:
        """The words of a piece; `places`: of the addresses in them."""
        ranges = cuts.ranges(place)
        words = [*(stop - start for start, stop in ranges), *(start for start, _ in ranges), *self.scalars]
        for strides in nest.strides:
            words += [0, *strides]
        starts = [sum(start * step for (start, _), step in zip(ranges, own, strict=True)) for own in nest.strides]
        for at, result in enumerate(self.body.results):
            strides = self.strides_of(at, nest)
            ahead = cuts.partial(place) * prod(self.shape_of(at)) * result.kind.bytes
            starts.append(ahead + sum(start * step for (start, _), step in zip(ranges, strides, strict=True)))
            words += [0, *strides[: kernel.result_axes]]
        return Block((*words, 0), moved(places, [(number, 0) for number in range(len(places))], starts))

    # ---------------------------------------------------------------------------------------- running

    def room(self, bound: Bound, overwrite: NumArray | None) -> list[NumArray]:
        """An array for each result, laid out as the nest has it."""
        made: list[NumArray] = []
        for place, result in enumerate(self.body.results):
            dtype = DTYPES[result.kind]
            shape = bound.shapes[place] if bound.partials == 1 else (bound.partials, *bound.shapes[place])
            if place == 0 and overwrite is not None and overwrite.dtype == dtype and overwrite.shape == self.shape_of(0):
                moved = overwrite.transpose(bound.order[: overwrite.ndim])
                if moved.flags.c_contiguous:
                    made.append(moved)
                    continue
            made.append(room(shape, dtype))
        return made

    def call(self, bound: Bound, arrays: Sequence[NumArray], results: Sequence[NumArray]) -> None:
        """Run every piece.  CheckFailed: the first failure in the order of the pieces."""
        addresses = [start_of(array) for array in (*arrays, *results)]
        code, word = bound.pieces.outcome(addresses)
        if code:
            self.fail(bound.kernel, code - 1, word)

    def fail(self, kernel: Kernel, place: int, word: int) -> None:
        """Let NumPy's check of the value say what is wrong with it.  MemoryError: there was none to work in."""
        if place == NO_MEMORY - 1:
            raise MemoryError
        node = kernel.body[place]
        assert isinstance(node, Apply)
        if node.compute.is_float:
            value = np.array([word], np.int64).view(np.float64).astype(DTYPES[node.compute])
        else:
            value = np.array([word], np.int64).astype(DTYPES[node.compute])
        try:
            implementation(node.function, node.compute, node.kind, node.parameter)(value)
            raise CheckFailed(Code.E703, f"{value[0]} is not a value of {node.kind.value}")
        except CheckFailed as failure:
            failure.span = None if self.phase is None else spans_of(self.phase, kernel.body).get(place)
            raise

    def finish(self, bound: Bound, results: Sequence[NumArray]) -> tuple[Any, ...]:
        """Partial results joined, axes in the program's order."""
        made: list[Any] = []
        for result, value in zip(self.body.results, results, strict=True):
            if bound.partials > 1:
                assert result.reduction is not None
                value = joined(bound, len(made), value)
            made.append(value if bound.back is None else value.transpose(bound.back))
        return in_parts(made, self.body.split) if self.body.split else tuple(made)


def layout_of(arrays: Sequence[NumArray]) -> tuple[Any, ...]:
    """What a bound kernel is for."""
    return tuple([(a.strides, a.shape, a.dtype.num) for a in arrays])


def strides_over(array: NumArray, space: tuple[int, ...]) -> tuple[int, ...]:
    if array.ndim != len(space):
        return (0,) * len(space)
    return tuple([0 if size == 1 else stride for size, stride in zip(array.shape, array.strides, strict=True)])
