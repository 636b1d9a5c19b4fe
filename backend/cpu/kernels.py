"""Runs structured phases with compiled kernels: binds a kernel to the arrays of a run and splits the work into tasks.

The operands are the views that NumPy would compute on, so NumPy has checked their bounds.  A kernel gets only the address, sizes
and strides of each, which are checked here for every new layout.  The arrays are kept alive until the kernel has returned.  If
kernels cannot run a phase (an unusual layout, no llvmlite) `otherwise` runs it on NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from ...lang.diagnostics.model import Code
from ...lang.support.records import dataclass, field
from ...typechecker.elements import Kind
from ...typechecker.sizes.polynomials import Size
from ..graph.phases import ApplyNode, Structured, ValueId, operand_kind
from ..jit import tiering
from ..jit.compiler import address_of, is_installed, vector_bytes
from ..lower.body import Body, Kernel, build_kernel, legalize, narrow, parts_of, with_short_rows
from ..lower.loop_order import BLOCK, LANES, NO_MEMORY, Form, LoopOrder, StoreMode, in_registers, plan_nest
from ..schedule.program_facts.scratch_memory import SMALL_SPACE_POINTS, workspace
from ..vm.check_failures import CheckFailed
from ..vm.run_state import ALIGNMENT, pooled_empty, trim
from .numpy_reductions import NumpyReduction, StoredItems
from .numpy_scalars import implementation
from .parallel_for import (
    ArgumentBlock,
    SplitReduction,
    TaskLaunch,
    TaskLoop,
    TaskSplit,
    WorkEstimate,
    parallel_for,
    task_split_of,
)
from .views import DTYPES, Box, DeferredView, NumArray, ViewOf, box_steps, boxes, broadcasts, contiguous, may_defer, start_of

if TYPE_CHECKING:
    from ..lower.rows import KernelCode

# ---------------------------------------------------------------------------------------------------- operand packing
#
# Packing: small operands are copied into contiguous memory before the kernel runs. An operand is packed if its stride along the
# vectorized loop is not 1 and the outer loops read it many times, so that the copy costs little compared with the strided reads.
# The copy keeps the order of axes in memory, except that a short summed axis becomes the last one.

MIN_READS: Final = 8


@dataclass(frozen=True, slots=True)
class PackedOperand:
    """The operand with this number is copied in NumPy's `order`: "K" keeps that of its axes, "C" is row-major."""

    operand: int
    order: Literal["K", "C"]


def operands_to_pack(nest: LoopOrder, arrays: Sequence[NumArray], most: int) -> tuple[PackedOperand, ...]:
    """The operands worth packing; their copies take at most `most` bytes together, which the plan accounts for."""
    columns = nest.form is not Form.MAP and nest.form is not Form.REDUCE_INNER
    vector = len(nest.sizes) - (2 if columns else 1)
    packs: list[PackedOperand] = []
    short = nest.form is Form.REDUCE_OUTER and nest.sizes[-1] <= LANES
    for number, (array, strides) in enumerate(zip(arrays, nest.strides, strict=True)):
        bytes = array.dtype.itemsize
        outside = prod(size for size, step in zip(nest.sizes[:vector], strides[:vector], strict=True) if not step)
        if outside < MIN_READS or array.nbytes > most:
            continue
        turned = short and abs(strides[-1]) > abs(strides[-2]) > 0
        if turned or strides[vector] not in (0, bytes, -bytes):
            packs.append(PackedOperand(number, "C" if turned else "K"))
            most -= array.nbytes
    return tuple(packs)


def pack(arrays: Sequence[NumArray], packs: Sequence[PackedOperand]) -> list[NumArray]:
    """The operands, with those in `packs` replaced by contiguous copies."""
    copies = list(arrays)
    for pack in packs:
        copies[pack.operand] = np.copy(copies[pack.operand], order=pack.order)
    return copies


# ---------------------------------------------------------------------------------------------------- specialized kernels
#
# A kernel bound to operands of one layout, and the launch that combines its partial results.

@dataclass(frozen=True, slots=True)
class BoundKernel:
    """A kernel specialized to operands of one layout; the buffers of its launch `pieces` are the operands, then the results.

    `partials`: partial results per cell (1 unless the reduce axis is split).  `combine`: by result, the address of the kernel
    that combines them.  `packs`: the operands to be packed before the launch."""

    pieces: TaskLaunch
    shapes: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    partials: int
    dtypes: tuple[np.dtype[Any], ...]
    packs: tuple[PackedOperand, ...] = ()
    combine: tuple[int, ...] = ()
    back: tuple[int, ...] | None = field(init=False)
    """The permutation from loop order back to the program's axes; None if they are the same."""

    def __post_init__(self) -> None:
        back = tuple(sorted(range(len(self.order)), key=self.order.__getitem__))
        object.__setattr__(self, "back", None if back == tuple(range(len(back))) else back)

    def joining(self, result: int) -> TaskLaunch:
        """The launch that combines the partial results of one result; its buffers are the partial results and the result."""
        cells, dtype = prod(self.shapes[result]), self.dtypes[result]
        words = [self.partials, cells * (1 + (dtype.kind == "c")), 0, cells * dtype.itemsize, 0]
        return TaskLaunch(self.combine[result], [ArgumentBlock(words, [(2, (0, 0)), (4, (1, 0))])], 2, 1, 0)


def combine_partials(bound: BoundKernel, number: int, rows: NumArray) -> NumArray:
    """Result `number`, combined from its partial results (along the leading axis of `rows`), which may be overwritten."""
    result = np.empty(rows.shape[1:], rows.dtype)
    arrays = rows, result
    bound.joining(number).run([start_of(array) for array in arrays])
    return result


# ---------------------------------------------------------------------------------------------------- kernel dispatch

Run: TypeAlias = Callable[[Mapping[ValueId, Any], Any], tuple[Any, ...]]

STREAMING_BYTES: Final = 1 << 25
"""Results of at least this many bytes bypass the caches."""


def compile_kernel(
    phase: Structured, views: Sequence[tuple[ValueId, ViewOf]], space: tuple[int, ...], kinds: Callable[[ValueId], Kind],
    number: Callable[[Size], int], threads: int, otherwise: Run,
) -> Run:  # fmt: skip
    """A function that runs a phase with kernels where they pay; `otherwise` itself where no kernel supports the phase."""
    mode = tiering.mode()
    body = legalize(phase, complexes=True) if mode is not tiering.Mode.OFF and is_installed() else None
    if body is None:
        return otherwise
    operands, scalars = [kinds(read.value) for read in phase.reads], [number(size) for size in body.sizes]
    packable = workspace(phase, number) // 2  # half of the scratch that NumPy would use; the other half is for partial results
    defers = any(map(may_defer, phase.reads))
    return CompiledRun(narrow(body), views, space, operands, scalars, threads, mode, otherwise, packable, defers).run


class CompiledRun:
    """A phase with its kernels, keyed by the layouts of the operands."""

    def __init__(self, body: Body, views: Sequence[tuple[ValueId, ViewOf]], space: tuple[int, ...], operands: Sequence[Kind],
                 scalars: Sequence[int], threads: int, mode: tiering.Mode, otherwise: Run,
                 packable: int, defers: bool = False) -> None:  # fmt: skip
        self.body, self.views, self.space, self.operands = body, views, space, operands
        self.scalars, self.threads, self.mode, self.otherwise = scalars, threads, mode, otherwise
        self.reduces = body.results[0].reduction is not None
        self.points, self.packable = prod(space), packable
        self.kept: dict[tuple[Any, ...], BoundKernel | KernelCode | None] = {}
        self.saving = tiering.saving(body, self.points)
        """Nanoseconds that a run loses without a kernel."""
        self.launched_from = tiering.launched_from(body)
        self.defers = defers
        self.boxed: BoxwiseRun | None = None
        self.runs = 0

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        if self.points < self.launched_from and self.mode is not tiering.Mode.ALWAYS:
            return self.otherwise(values, overwrite)
        if self.defers:
            operands = [view(values[value]) for value, view in self.views]
            if any(isinstance(operand, DeferredView) for operand in operands):
                return self.in_boxes(operands) or self.otherwise(values, overwrite)
        arrays = [np.asarray(view(values[value])) for value, view in self.views]
        bound = self.bound(arrays, self.stores(overwrite is not None))
        if bound is None:
            del arrays
            trim()
            return self.otherwise(values, overwrite)
        if bound.packs:
            arrays = pack(arrays, bound.packs)
        results = self.room(bound, overwrite)
        self.call(bound, arrays, results)
        return self.finish(bound, results)

    def in_boxes(self, operands: Sequence[Any]) -> tuple[Any, ...] | None:
        """The results where some operands are deferred views; None if NumPy has to compute them."""

        if self.boxed is None:
            self.boxed = BoxwiseRun(self)
        return self.boxed.run(operands)

    # ------------------------------------------------------------------------------------------ binding

    def stores(self, overwrites: bool) -> StoreMode:
        """The store mode of large results that reuse no operand's buffer."""
        return StoreMode.STREAMED if not overwrites and self.points * 16 >= STREAMING_BYTES else StoreMode.PLAIN

    def bound(self, arrays: Sequence[NumArray], stores: StoreMode) -> BoundKernel | None:
        key = (stores, layout_of(arrays))
        cached = self.kept.get(key)
        if isinstance(cached, BoundKernel):
            return cached
        self.runs += 1
        if self.runs == 1 and self.mode is tiering.Mode.AUTO and self.saving < tiering.LOAD_NANOSECONDS:
            return None  # a single run does not import the compiler
        cached = self.kept[key] if key in self.kept else self.code_for(arrays, stores)
        if cached is not None and not isinstance(cached, BoundKernel) and self.wanted(cached):
            cached = self.bind(cached, arrays)
        self.kept[key] = cached
        return cached if isinstance(cached, BoundKernel) else None

    def wanted(self, code: KernelCode) -> bool:
        return self.mode is not tiering.Mode.AUTO or tiering.is_wanted(code, self.saving)

    def shape_of(self, result: int) -> tuple[int, ...]:
        """The shape of a result."""
        return self.space[:-1] if self.reduces else self.space

    def nest(self, arrays: Sequence[NumArray]) -> LoopOrder:
        strides = [strides_over(array, self.space) for array in arrays]
        nest = plan_nest(self.space, self.reduces, strides, self.body.coordinates)
        body = self.body
        return in_registers(
            nest, is_exact=not body.is_ordered, has_argument_reduction=body.has_argument_reduction,
            is_right_fold=body.is_right_fold,
        )

    def code_for(self, arrays: Sequence[NumArray], stores: StoreMode) -> KernelCode | None:
        """The code for operands with these layouts; None if an array has another kind or shape than the phase declares."""
        for array, kind in zip(arrays, self.operands, strict=True):
            if array.dtype != DTYPES[kind] or not broadcasts(array.shape, self.space):
                return None
        arrays = pack(arrays, operands_to_pack(self.nest(arrays), arrays, self.packable))
        nest = self.nest(arrays)
        if self.body.has_argument_reduction and tiering.work(self.body, self.points) >= tiering.LONG_NANOSECONDS:
            return None  # it would be a single task, during which no interrupt is handled
        if stores is StoreMode.STREAMED and not self.may_stream(nest):
            stores = StoreMode.PLAIN
        from ..lower.rows import KernelCode

        return KernelCode(with_short_rows(build_kernel(self.body, nest, self.operands, stores), nest, vector_bytes()))

    def may_stream(self, nest: LoopOrder) -> bool:
        """Are the results too large for the caches, with every row aligned?"""
        if self.reduces or self.points * sum(r.kind.bytes for r in self.body.results) < STREAMING_BYTES:
            return False
        return len(nest.sizes) == 1 or all(nest.sizes[-1] * r.kind.bytes % ALIGNMENT == 0 for r in self.body.results)

    def bind(self, code: KernelCode, arrays: Sequence[NumArray]) -> BoundKernel | None:
        from ..loopir.templates import CombinePartials

        address, kernel = address_of(code), code.kernel
        if address is None:
            return None
        packs = operands_to_pack(self.nest(arrays), arrays, self.packable)
        nest = self.nest(pack(arrays, packs))
        head, each = kernel.head, 1 + kernel.axes
        places = [head + i * each for i in range(len(arrays))]
        first = head + len(arrays) * each
        places += [first + i * (1 + kernel.result_axes) for i in range(len(self.body.results))]
        work = WorkEstimate(tiering.work(self.body, self.points), self.threads, self.reduction())
        cuts = self.cuts(nest, work)
        block, loops = self.tasks(kernel, nest, cuts, places)
        pieces = TaskLaunch(address, [block], len(places), self.threads, work.nanoseconds, loops)
        shapes = [tuple([shape[axis] for axis in nest.order if axis < len(shape)])
                  for shape in map(self.shape_of, range(len(self.body.results)))]  # fmt: skip
        dtypes = tuple(DTYPES[result.kind] for result in self.body.results)
        combine: list[int] = []
        for result in self.body.results if cuts.partials > 1 else ():
            joining = address_of(CombinePartials(result.reduction or "", parts_of(result.kind)[0]))
            if joining is None:
                return None
            combine.append(joining)
        return BoundKernel(pieces, tuple(shapes), nest.order, cuts.partials, dtypes, packs, tuple(combine))

    def cuts(self, nest: LoopOrder, work: WorkEstimate) -> TaskSplit:
        return task_split_of(nest, work)

    @property
    def is_unsplittable(self) -> bool:
        """Must the reduce axis stay in one task?"""
        return self.body.has_argument_reduction or self.body.is_right_fold

    def reduction(self) -> SplitReduction:
        if not self.reduces:
            return SplitReduction.NONE
        return SplitReduction.UNSPLITTABLE if self.is_unsplittable else SplitReduction.SPLITTABLE

    def strides_of(self, result: int, nest: LoopOrder) -> tuple[int, ...]:
        """The strides of a result along each loop; 0 along a reduce axis."""
        bytes = self.body.results[result].kind.bytes
        return contiguous(nest.sizes[:-1], bytes) if self.reduces else contiguous(nest.sizes, bytes)[:-1]

    def tasks(
        self, kernel: Kernel, nest: LoopOrder, cuts: TaskSplit, places: Sequence[int]
    ) -> tuple[ArgumentBlock, list[TaskLoop]]:  # fmt: skip
        """The argument block of all tasks, and the loops that the tasks cut; `places`: the indices of the addresses in the
        block."""
        words = [*nest.sizes, *(0 for _ in nest.sizes), *self.scalars]
        strides, partials = [*nest.strides], [0] * len(nest.strides)
        for of_operand in nest.strides:
            words += [0, *of_operand]
        for at, result in enumerate(self.body.results):
            of_result = self.strides_of(at, nest)
            words += [0, *of_result[: kernel.result_axes]]
            strides.append(of_result)
            partials.append(prod(self.shape_of(at)) * result.kind.bytes if cuts.reduced else 0)
        each, last = [*zip(places, strides, partials, strict=True)], len(nest.sizes) - 1
        moves = [
            [(word, steps[loop], by_range if loop == last else 0) for word, steps, by_range in each] for loop in range(last + 1)
        ]
        return ArgumentBlock((*words, 0), [(word, (number, 0)) for number, word in enumerate(places)]), cuts.loops(moves)

    # ---------------------------------------------------------------------------------------- running

    def room(self, bound: BoundKernel, overwrite: NumArray | None) -> list[NumArray]:
        """Allocates an array for each result, with its axes in loop order."""
        targets: list[NumArray] = []
        for number, result in enumerate(self.body.results):
            dtype = DTYPES[result.kind]
            shape = bound.shapes[number] if bound.partials == 1 else (bound.partials, *bound.shapes[number])
            if number == 0 and overwrite is not None and overwrite.dtype == dtype and overwrite.shape == self.shape_of(0):
                moved = overwrite.transpose(bound.order[: overwrite.ndim])
                if moved.flags.c_contiguous:
                    targets.append(moved)
                    continue
            targets.append(pooled_empty(shape, dtype))
        return targets

    def call(self, bound: BoundKernel, arrays: Sequence[NumArray], results: Sequence[NumArray]) -> None:
        """Runs all tasks.  Raises CheckFailed for the first failure in the order of the tasks."""
        addresses = [start_of(array) for array in (*arrays, *results)]
        code, word = bound.pieces.outcome(addresses)
        if code:
            self.fail(code - 1, word)

    def fail(self, failure_node: int, word: int) -> None:
        """Raises the error of a kernel's failure by repeating NumPy's check of the value; MemoryError if the kernel ran out of
        memory."""
        if failure_node == NO_MEMORY - 1:
            raise MemoryError
        node = self.body.nodes[failure_node]
        assert isinstance(node, ApplyNode)
        value, compute = np.array([word], np.int64), operand_kind(self.body.nodes, node)
        value = (value.view(np.float64) if compute.is_float else value).astype(DTYPES[compute])
        try:
            implementation(node.function, compute, node.kind, node.parameter)(value)
            raise CheckFailed(Code.E703, f"{value[0]} is not a value of {node.kind.value}")
        except CheckFailed as failure:
            failure.span = node.span
            raise

    def finish(self, bound: BoundKernel, results: Sequence[NumArray]) -> tuple[Any, ...]:
        """The results, with partial results combined and axes in the program's order."""
        values: list[Any] = []
        for result, value in zip(self.body.results, results, strict=True):
            if bound.partials > 1:
                assert result.reduction is not None
                value = combine_partials(bound, len(values), value)
            values.append(value if bound.back is None else value.transpose(bound.back))
        return tuple(values)


def layout_of(arrays: Sequence[NumArray]) -> tuple[Any, ...]:
    """The shapes and strides of the arrays: the key of a specialized kernel."""
    return tuple([(a.strides, a.shape, a.dtype.num) for a in arrays])


def strides_over(array: NumArray, space: tuple[int, ...]) -> tuple[int, ...]:
    if array.ndim != len(space):
        return (0,) * len(space)
    return tuple([0 if size == 1 else stride for size, stride in zip(array.shape, array.strides, strict=True)])


# ---------------------------------------------------------------------------------------------------- blocked evaluation
#
# Runs a phase box by box of its iteration space where operands are deferred views: the items of a box are copied, then the kernel
# runs on the copies.
# The reduce axis is cut at multiples of 2ᵐ blocks of the summation order.  Partial results of boxes are then subtrees of its
# combination tree, so that boxes do not change the result.

POINTS: Final = 1 << 15
"""Points of a box; twice as many where they are reduced."""
MAX_CONCURRENT_BOXES: Final = 8
"""The most boxes that exist at once (of items of 8 bytes), which the plan accounts for; a quarter as many for small spaces."""


class BoxwiseRun:
    """Runs a phase on deferred operands box by box; caches its kernels by the shape of the box."""

    def __init__(self, run: CompiledRun) -> None:
        self.whole, self.kept = run, dict[tuple[int, ...], _BoxRun]()
        grains = [*[1] * (len(run.space) - 1), min(BLOCK, run.space[-1]) if run.reduces else 1]
        self.steps = box_steps(run.space, grains, 2 * POINTS if run.reduces else POINTS)

    def run(self, operands: Sequence[NumArray | DeferredView]) -> tuple[Any, ...] | None:
        """The results; None if kernels cannot run on boxes, or do not pay yet."""
        run = self.whole
        if run.is_unsplittable or run.body.coordinates:
            return None
        parts = list(boxes(run.space, self.steps))
        for box in {_shape(box): box for box in parts}.values():
            if self.part(box, _cut(operands, box)) is None:
                return None
        states = [
            StoredItems(0, DTYPES[result.kind]).begin(run.space) if result.reduction is None
            else NumpyReduction(0, result.reduction, result.kind).begin(run.space, interval=self.steps[-1])
            for result in run.body.results
        ]  # fmt: skip
        missing: list[Box] = []
        trim()

        def worker() -> Callable[[Box], object]:
            def work(box: Box) -> None:
                arrays = _cut(operands, box)
                bound_part = self.part(box, arrays)
                if bound_part is None:
                    missing.append(box)
                else:
                    bound_part[0].put(bound_part[1], arrays, [state.part(box) for state in states])

            return work

        widest = max(operand.dtype.itemsize for operand in operands)
        most = (MAX_CONCURRENT_BOXES if run.points >= SMALL_SPACE_POINTS else MAX_CONCURRENT_BOXES // 4) * 8 // max(8, widest)
        parallel_for(parts, worker, min(run.threads, max(1, most)))
        return None if missing else tuple([state.result() for state in states])

    def part(self, box: Box, arrays: Sequence[NumArray]) -> tuple[_BoxRun, BoundKernel] | None:
        """The kernel for a box, bound to arrays of these layouts."""
        shape = _shape(box)
        box_run = self.kept.get(shape) or self.kept.setdefault(shape, _BoxRun(self.whole, shape))
        bound = box_run.bound(arrays, StoreMode.PLAIN)
        return None if bound is None or bound.packs else (box_run, bound)


class _BoxRun(CompiledRun):
    """The kernel of a phase on boxes of one shape."""

    def __init__(self, run: CompiledRun, shape: tuple[int, ...]) -> None:
        super().__init__(run.body, run.views, shape, run.operands, run.scalars, 1, run.mode, run.otherwise, 0)
        self.saving = run.saving

    def put(self, bound: BoundKernel, arrays: Sequence[NumArray], targets: Sequence[Any]) -> None:
        """Write the results of a box into their targets: directly if a target has the order of the loops, else through a copy."""
        buffers: list[NumArray] = []
        for number, target in enumerate(targets):
            moved = target.transpose(bound.order[: target.ndim])
            shape = bound.shapes[number] if bound.partials == 1 else (bound.partials, *bound.shapes[number])
            is_final = bound.partials == 1 and moved.flags.c_contiguous
            buffers.append(moved if is_final else pooled_empty(shape, bound.dtypes[number]))
        self.call(bound, arrays, buffers)
        for target, value in zip(targets, self.finish(bound, buffers), strict=True):
            if not np.may_share_memory(target, value):
                target[...] = value


def _shape(box: Box) -> tuple[int, ...]:
    return tuple([part.stop - part.start for part in box])


def _cut(operands: Sequence[NumArray | DeferredView], box: Box) -> list[NumArray]:
    """The part of each operand in a box; axes along which an operand does not vary stay whole."""
    parts: list[NumArray] = []
    for operand in operands:
        if operand.ndim == len(box):
            index = tuple([slice(0, 1) if size == 1 else part for size, part in zip(operand.shape, box, strict=True)])
            parts.append(operand[index])
        else:
            parts.append(np.asarray(operand))
    return parts
