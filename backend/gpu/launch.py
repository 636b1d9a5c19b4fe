"""Runs structured phases, chains and loops as generated kernels of a card.

A kernel is printed for the layout of its operands, and each text is compiled once (`Modules`).  Results are laid out in the order
of the loop nest, so that neighbouring threads access neighbouring items.  The host waits for a kernel with checks; if one failed,
the phase runs again on the host, which reports the failure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

import numpy as np

from ...lang.support.records import dataclass, require_invariant
from ...typechecker.elements import Kind
from ...typechecker.sizes.polynomials import Size
from ..codegen.gpu_printer import GpuText, gpu_text, value
from ..cpu.kernels import Run
from ..cpu.numpy_reductions import identity_array
from ..cpu.views import (
    DTYPES,
    FILLS,
    IndexRange,
    NumArray,
    StridedView,
    contiguous,
    index_range,
    strided_view,
)
from ..graph import traverse
from ..graph.bind_sizes import KnownValues
from ..graph.fusion_groups import MAX_ROW, JoinedGroup, join_chain
from ..graph.phases import Affine, AxisKind, Constant, Loop, Projection, ReadNode, Reshaped, Stage, Structured, ValueId
from ..loopir.facts import estimate_iteration
from ..loopir.ir import LoopProgram
from ..loopir.reductions import MAX_SUM
from ..lower.body import Body, BodyResult, Kernel, build_kernel, gather_body, legalize, narrow, operand_kinds
from ..lower.loop_order import BLOCK, Form, LoopOrder, plan_nest, row_nest
from ..lower.phase import gpu_kernel, length_class
from ..lower.region import Region, lower_region
from ..lower.rows import gpu_rows
from ..lower.scope import ConstantData, CurrentBuffer, InitialState, NotLowerable, ScopeInput, StateView
from ..transform import loop_shapes
from ..transform.pipeline import GPU_PIPELINE, POINTWISE_GPU_PIPELINE, optimise
from ..vm.run_state import Types, pooled_empty
from ..vm.values import fill_of
from .driver import Card, DeviceArray, Numbers, reshaped_view

# ---------------------------------------------------------------------------------------------------- layouts
#
# Reads as views: a projection with known sizes, applied to an operand in device memory (as `cpu.views` for the host).
#
# An affine stage without fills moves the first item and combines strides; a reshape keeps them where possible; other reads are
# copied on the device.
#
# Every address that a kernel can form from a view lies in the view's memory: `StridedView` bounds are checked here from the
# sizes, and a projection that leaves its operand without fills raises AssertionError.

Reading: TypeAlias = Callable[[DeviceArray], DeviceArray]


def compile_reading(card: Card, projection: Projection, space: Numbers, fill: int, number: Callable[[Size], int]) -> Reading:
    """The function from an operand to the view that the points of the space read."""
    boxes = [space]
    for stage in projection.stages:
        boxes.append(tuple(map(number, stage.shape if isinstance(stage, Affine) else stage.target)))
    steps = [
        _compile_stage(card, stage, boxes[at], boxes[at + 1], fill, number)
        for at, stage in enumerate(projection.stages)
    ]  # fmt: skip
    steps.reverse()

    def read(operand: DeviceArray) -> DeviceArray:
        for step in steps:
            operand = step(operand)
        return operand

    return read


def compile_readings(card: Card, phase: Structured, space: Numbers, kinds: Callable[[ValueId], Kind],
                     number: Callable[[Size], int]) -> list[tuple[ValueId, Reading]]:  # fmt: skip
    """The operands of a phase's reads, with `compile_reading` of each."""
    return [
        (read.value, compile_reading(card, read.projection, space, FILLS[kinds(read.value)], number)) for read in phase.reads
    ]


def _compile_stage(
    card: Card, stage: Stage, space: Numbers, shape: Numbers, fill: int, number: Callable[[Size], int]
) -> Reading:
    if isinstance(stage, Reshaped):
        return lambda array: reshaped(card, array, space)
    known = strided_view(stage, space, shape, (True,) * len(shape), number)
    if 0 in space:
        return lambda array: array.viewed(space, (0,) * len(space))
    low, high = known.bounds()
    match index_range(stage, known, low, high):
        case IndexRange.INSIDE:
            return lambda array: _moved(array, known)
        case IndexRange.AROUND:
            return lambda array: _padded(card, array, known, low, high, fill)
        case IndexRange.FAR:
            return lambda array: _fetched(card, array, known, fill)


def _moved(array: DeviceArray, stage: StridedView) -> DeviceArray:
    offset, strides = stage.layout(array.strides)
    return array.viewed(stage.space, strides, offset)


def _padded(card: Card, array: DeviceArray, stage: StridedView, low: Numbers, high: Numbers, fill: int) -> DeviceArray:
    """A copy of the items that are read, in a box surrounded by fills."""
    around, source, target = stage.padded(low, high)
    padded = full(card, around.shape, fill, array.dtype)
    store(card, padded[target], array[source])
    return _moved(padded, around)


def _fetched(card: Card, array: DeviceArray, stage: StridedView, fill: int) -> DeviceArray:
    """A gather by positions that the host computes, for a sparse read far outside its operand; position ¯1 reads a fill."""
    indices = stage.all_indices()
    position = np.zeros(stage.space, np.int64)
    for axis, length in zip(indices, array.shape, strict=True):
        position = position * length + axis
    positions, kind = card.up(np.where(stage.are_inside(indices), position, -1)), kind_of_dtype(array.dtype)
    body = gather_body(kind, Kind.I64, fill_of(kind), proved=True)
    flat = reshaped(card, array, (array.size,)) if array.size else full(card, (1,), fill, array.dtype)
    operands = [flat.viewed(stage.space, (0,) * len(stage.space)), positions]
    return fetched(card, body, kind, stage.space, operands, (flat.size, flat.strides[0]))


# ---------------------------------------------------------------------------------------------------- launches of texts
#
# Loop programs on a device: the nests of a text are launched in order on the computing queue.


def text_for(card: Card, program: LoopProgram) -> GpuText:
    return gpu_text(program, card.driver.dialect)


def run_text(card: Card, text: GpuText, words: Sequence[int | DeviceArray]) -> bool:
    """Enqueues a program with these parameters and views; returns whether a check failed."""
    sizes = [word for word in words[: len(text.parameters)] if isinstance(word, int)]
    parameters = dict(zip(text.parameters, sizes, strict=True))
    extra = [
        card.empty(tuple(value(length, parameters) for length in view.shape), DTYPES[view.kind]) for view in text.scratch
    ]
    failed = card.up(np.zeros(1, np.int32)) if text.is_checked else None
    every = (*words, *extra, *([] if failed is None else [failed]))
    for grid in text.grids:
        if blocks := grid.blocks(parameters):
            card.driver.launch(text.source, grid.name, blocks, every)
    return failed is not None and bool(to_host(card, failed)[0])


# ---------------------------------------------------------------------------------------------------- copies


def store(card: Card, target: DeviceArray, source: DeviceArray) -> None:
    """Copies the items of an array into another of its shape and type, which is contiguous along the last axis."""
    if not target.size:
        return
    if target.is_contiguous and source.is_contiguous:
        card.driver.copy(source, target)
        return
    size = target.dtype.itemsize
    word, parts = _WORDS[min(size, 8)], max(1, size // 8)
    if parts > 1:
        target, source = (one.viewed((*one.shape, parts), (*one.strides, 8)) for one in (target, source))
    is_unit = target.strides[-1] == target.dtype.itemsize or target.shape[-1] == 1 or parts > 1
    require_invariant(is_unit, "a copy's last axis is contiguous")

    def make() -> BoundGpuKernel:
        nest = row_nest(target.shape, [source.strides, target.strides])
        kernel = build_kernel(_COPIES[word], nest, (word, word))
        return BoundGpuKernel(kernel, text_for(card, gpu_kernel(kernel)), nest, target.shape)

    bound: BoundGpuKernel = card.launches.of((word, target.shape, source.strides, target.strides), (), make)
    run_text(card, bound.text, bound.words((), [source, target], [(target, bound.nest.strides[1])]))


def copied(card: Card, array: DeviceArray) -> DeviceArray:
    """A contiguous copy."""
    result = card.empty(array.shape, array.dtype)
    store(card, result, array)
    return result


def contiguous_array(card: Card, array: DeviceArray) -> DeviceArray:
    return array if array.is_contiguous else copied(card, array)


def to_host(card: Card, array: DeviceArray, room: NumArray | None = None) -> NumArray:
    """The items of an array on the host, in `room` if it is given; what cannot be copied as it lies is packed first."""
    if room is not None and card.read(array, room):
        return room
    host: NumArray = pooled_empty(array.shape, array.dtype)
    if not card.read(array, host):
        card.read(copied(card, array), host)
    if room is None:
        return host
    room[...] = host
    return room


def full(card: Card, shape: Numbers, fill: complex, dtype: np.dtype[Any]) -> DeviceArray:
    result, one = card.empty(shape, dtype), card.up(np.array(fill, dtype))
    store(card, result, one.viewed(shape, (0,) * len(shape)))
    return result


def reshaped(card: Card, array: DeviceArray, target: Numbers) -> DeviceArray:
    """The row-major reshape, as a copy if strides cannot express it."""
    view = reshaped_view(array, target)
    return copied(card, array).viewed(target, contiguous(target, array.dtype.itemsize)[: len(target)]) if view is None else view


_WORDS: Final = {1: Kind.U8, 4: Kind.I32, 8: Kind.I64}
"""By bytes per item, the integer kind as which items are copied."""
_COPIES: Final = {kind: Body((ReadNode(0, kind),), (BodyResult((0,), kind, None),)) for kind in _WORDS.values()}
"""By kind, the body of a copy.  Operand 1 is the target, which the body does not read: loops merge where both arrays allow it."""


def kind_of_dtype(dtype: np.dtype[Any]) -> Kind:
    return next(kind for kind, other in DTYPES.items() if other == dtype)


def fetched(
    card: Card, body: Body, kind: Kind, shape: Numbers, operands: Sequence[DeviceArray], scalars: Sequence[int],
    failed: Callable[[], object] = lambda: None,
) -> DeviceArray:  # fmt: skip
    """The items that a body with computed indices reads; `failed` raises the error of an index that is out of range."""
    source, other = operands
    kinds, views = operand_kinds(kind, kind_of_dtype(other.dtype)), [source, other]
    if kind.is_complex:
        views.append(source.viewed(source.shape, source.strides, kinds[0].bytes))
    return computed(card, body, shape, tuple(kinds), views, scalars, failed)


def computed(
    card: Card, body: Body, space: Numbers, kinds: tuple[Kind, ...], views: Sequence[DeviceArray], scalars: Sequence[int] = (),
    failed: Callable[[], object] = lambda: None,
) -> DeviceArray:  # fmt: skip
    """The result of a body over a space; `failed` raises the error of a check."""
    launch: Launch = card.launches.of((body, space, kinds), (), lambda: Launch(card, body, [], space, kinds, []))
    bound = launch.bound([view.strides for view in views])
    results = launch.room(bound, None)
    if launch.launch(bound, views, results, scalars):
        failed()
        raise AssertionError("a check failed on the device and not on the host")
    return launch.finish(bound, results)[0]


# ---------------------------------------------------------------------------------------------------- launches

Values: TypeAlias = Mapping[ValueId, Any]


def compile_structured(
    card: Card, phase: Structured, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int], on_host: Run
) -> Run | None:
    """The kernel of a phase for known sizes, cached with the phase; None if kernels lack a function of the body.  `on_host`
    reports a failed check."""
    kernel: Launch | Run | None = _stored(card, ("phase", id(phase)), (phase,), lambda: _compiled(card, phase, kinds, number))
    if not isinstance(kernel, Launch):
        return kernel
    return lambda values, overwrite: kernel.run(values, overwrite, on_host)


def _stored(card: Card, key: tuple[object, ...], phases: Sequence[Structured], make: Callable[[], Any]) -> Any:
    """What is compiled for phases, cached if their sizes are known."""
    is_known = all(size.constant is not None for phase in phases for size in traverse.sizes(phase))
    return card.launches.of(key, phases, make) if is_known else make()


def _compiled(
    card: Card, phase: Structured, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int]
) -> Launch | Run | None:
    space = tuple(number(axis.size) for axis in phase.axes)
    reduces = any(a.kind is AxisKind.REDUCE for a in phase.axes)
    if 0 in space:
        return _empty(card, phase, space[:-1] if reduces else space, kinds)
    reads = compile_readings(card, phase, space, kinds, number)
    if not reduces and all(isinstance(phase.body[r.node], ReadNode) for r in phase.results):
        return _renaming(card, phase, reads)
    body = legalize(phase, complexes=True)
    if body is None or body.is_right_fold:
        return None
    body = narrow(body)
    operands = [kinds(read.value) for read in phase.reads]
    return Launch(card, body, reads, space, operands, [number(size) for size in body.sizes])


def compile_rows(
    card: Card, members: Sequence[Structured], wanted: Sequence[ValueId], kinds: Callable[[ValueId], Kind],
    number: Callable[[Size], int],
) -> Run | None:  # fmt: skip
    """A chain along rows in one launch, cached with its members; None if they have to run one by one."""

    def make() -> Launch | None:
        return _compiled_rows(card, join_chain(members, wanted), kinds, number)

    launch = _stored(card, ("rows", *map(id, members), *wanted), members, make)
    return None if launch is None else lambda values, overwrite: launch.run(values, None)


def _compiled_rows(
    card: Card, chain: JoinedGroup, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int]
) -> Launch | None:
    phase, body = chain.phase, legalize(chain.phase)
    space = tuple(number(axis.size) for axis in phase.axes)
    if body is None or 0 in space or space[-1] > MAX_ROW:
        return None
    reads = compile_readings(card, phase, space, kinds, number)
    operands, scalars = [kinds(read.value) for read in phase.reads], [number(size) for size in body.sizes]
    return Launch(card, body, reads, space, operands, scalars, chain.is_row)


def _empty(card: Card, phase: Structured, parallel: tuple[int, ...], kinds: Callable[[ValueId], Kind]) -> Run:
    empty = [np.asarray(identity_array(r.reduction, kinds(r.value), parallel)) for r in phase.results]
    return lambda values, overwrite: tuple(map(card.up, empty))


def _renaming(card: Card, phase: Structured, reads: Sequence[tuple[ValueId, Reading]]) -> Run:
    nodes = [phase.body[result.node] for result in phase.results]
    picks = [reads[node.index] for node in nodes if isinstance(node, ReadNode)]

    def run(values: Values, overwrite: Any) -> tuple[Any, ...]:
        return tuple(copied(card, read(values[value])) for value, read in picks)

    return run


@dataclass(frozen=True, slots=True)
class BoundGpuKernel:
    """A kernel specialized to one layout of operands.  `shape`: that of its results."""

    kernel: Kernel
    text: GpuText
    nest: LoopOrder
    shape: tuple[int, ...]

    def words(
        self, scalars: Sequence[int], operands: Sequence[DeviceArray], results: Sequence[tuple[DeviceArray, Numbers]]
    ) -> list[int | DeviceArray]:
        """The argument words; `results`: with their strides along the loops."""
        sizes = self.nest.sizes
        words: list[int | DeviceArray] = [*sizes, *(0 for _ in sizes), *scalars]
        if self.kernel.form is not Form.MAP:
            words.append(-(-sizes[-1] // BLOCK))
        for array, strides in (*zip(operands, self.nest.strides, strict=True), *results):
            words += array, *strides
        return words


class Launch:
    """A phase or chain, with a cache of its kernels by the layout of the operands.  `is_row`: the results of a chain with one
    item per row."""

    def __init__(
        self, card: Card, body: Body, reads: Sequence[tuple[ValueId, Reading]], space: Numbers, operands: Sequence[Kind],
        scalars: Sequence[int], is_row: tuple[bool, ...] = (),
    ) -> None:  # fmt: skip
        self.card, self.body, self.reads, self.space = card, body, reads, space
        self.operands, self.scalars = operands, list(scalars)
        self.reduces, self.is_row = body.results[0].reduction is not None, is_row
        self.kept: dict[tuple[Numbers, ...], BoundGpuKernel] = {}

    def run(self, values: Values, overwrite: Any, on_host: Run | None = None) -> tuple[Any, ...]:
        views = [read(values[value]) for value, read in self.reads]
        bound = self.bound([view.strides for view in views])
        results = self.room(bound, overwrite)
        if self.launch(bound, views, results, self.scalars):
            assert on_host is not None, "a body without checks does not fail"
            on_host(values, None)
            raise AssertionError("a check failed on the device and not on the host")
        return self.finish(bound, results)

    def bound(self, strides: Sequence[Numbers]) -> BoundGpuKernel:
        key = tuple(strides)
        specialized = self.kept.get(key)
        if specialized is None:
            flat = [tuple(0 if n == 1 else s for n, s in zip(self.space, steps, strict=True)) for steps in strides]
            nest = row_nest(self.space, flat) if self.is_row else plan_nest(self.space, self.reduces, flat, self.body.coordinates)
            kernel, length = build_kernel(self.body, nest, self.operands), nest.sizes[-1]
            if self.is_row:
                program = gpu_rows(replace(kernel, is_row=self.is_row, longest=1 << (length - 1).bit_length()))
            else:
                program = gpu_kernel(kernel, length_class(length) if self.reduces else MAX_SUM)
            shape = tuple(self.space[axis] for axis in nest.order)
            specialized = self.kept[key] = BoundGpuKernel(kernel, text_for(self.card, program), nest, shape)
        return specialized

    def room(self, bound: BoundGpuKernel, overwrite: Any) -> list[DeviceArray]:
        """Allocates a new array for each result, in the order of the loop nest."""
        targets: list[DeviceArray] = []
        if bound.text.is_checked:
            overwrite = None  # the host needs the operands if a check fails
        for number, result in enumerate(self.body.results):
            dtype = DTYPES[result.kind]
            if number == 0 and overwrite is not None and overwrite.dtype == dtype and overwrite.shape == self.space:
                moved = overwrite.transpose(bound.nest.order)
                if moved.is_contiguous:
                    targets.append(moved)
                    continue
            targets.append(self.card.empty(bound.shape[:-1] if self.on_row(number) else bound.shape, dtype))
        return targets

    def on_row(self, number: int) -> bool:
        """Does a result have one item per row?"""
        return bool(self.is_row) and self.is_row[number]

    def launch(
        self, bound: BoundGpuKernel, views: Sequence[DeviceArray], results: Sequence[DeviceArray], scalars: Sequence[int]
    ) -> bool:
        """Enqueues the kernel; returns whether a check failed."""
        axes, sizes, rows = bound.kernel.result_axes, bound.nest.sizes, list[tuple[DeviceArray, Numbers]]()
        for number, result in enumerate(results):
            steps = contiguous(sizes[: axes - self.on_row(number)], result.dtype.itemsize)
            rows.append((result, steps[:axes]))
        return run_text(self.card, bound.text, bound.words(scalars, views, rows))

    def finish(self, bound: BoundGpuKernel, results: Sequence[DeviceArray]) -> tuple[DeviceArray, ...]:
        """The results with axes in the program's order."""
        order = bound.nest.order
        if list(order) == sorted(order):
            return tuple(results)
        back = sorted(range(len(order)), key=order.__getitem__)
        return tuple(value.transpose(back) for value in results)


# ---------------------------------------------------------------------------------------------------- regions
#
# Loops whose iterations are nests of independent loops: a sequence of launches for each iteration, on buffers of the state.
#
# Each iteration is lowered as on CPUs, but without index-set splitting, since a launch takes longer than a branch.  If each item
# of the state depends only on itself, one launch runs many iterations (`transform.interchange`), but few enough for interrupts,
# and for the watchdog of a GPU that drives a display.

INTERRUPT_OPERATIONS: Final = 1 << 36
"""Scalar operations between two polls for interrupts."""
LoopRunner: TypeAlias = Callable[[Values, list[DeviceArray], int], "tuple[DeviceArray, ...] | None"]
"""A function from values, the initial state and the number of iterations to the final state; None if iterations must run step by
step."""


def compile_region(
    card: Card, loop: Loop, types: Types, constant: Callable[[Constant], DeviceArray]
) -> LoopRunner | None:
    """The runner of a loop; None if an iteration has statements other than nests of independent loops."""
    region, program = card.launches.of(("region", id(loop)), (loop,), lambda: nests_of(loop, types))
    if region is None or program is None:
        return None
    text, stretch = text_for(card, program), 1
    if region.is_pointwise:
        stretch = max(1, INTERRUPT_OPERATIONS // estimate_iteration(loop, types.types).functions)

    def words_of(values: Values, state: Sequence[DeviceArray], buffers: Sequence[DeviceArray]) -> list[int | DeviceArray]:
        """The argument words of a launch; the buffers of a component are adjacent parts of one array."""
        words: list[int | DeviceArray] = [0, 0, *map(types.number, region.sizes)]
        for view in program.views:
            match region.sources[view.name]:
                case ScopeInput(value):
                    array = contiguous_array(card, values[value])
                case ConstantData(phase):
                    array = constant(phase)
                case InitialState(component):
                    array = contiguous_array(card, state[component])
                case StateView(component, is_doubled):
                    array = buffers[component] if is_doubled else buffers[component][0,]
                case _:
                    continue
            strides = [*contiguous(array.shape, array.dtype.itemsize)[: array.ndim], view.kind.bytes]
            words += array, *strides[: len(view.shape) - bool(view.shape)]
        return words

    def repeat(values: Values, state: list[DeviceArray], iterations: int) -> tuple[DeviceArray, ...] | None:
        buffers = [card.empty((1 + doubled, *one.shape), one.dtype) for one, doubled in zip(state, region.states, strict=True)]
        if not region.is_pointwise:
            for buffer, one in zip(buffers, state, strict=True):
                store(card, buffer[0,], one)
        words = words_of(values, state, buffers)
        for start in range(0, iterations, stretch):
            words[:2] = start, min(iterations, start + stretch)
            if run_text(card, text, words):
                return None  # running step by step reports the failure
            if region.is_pointwise:
                words = words_of(values, [buffer[0,] for buffer in buffers], buffers)
        return tuple(buffer[iterations % buffer.shape[0],] for buffer in buffers)

    return repeat


def nests_of(loop: Loop, types: Types) -> tuple[Region | None, LoopProgram | None]:
    """The region of a loop, and the program of one iteration as nests; None if the loop does not qualify."""
    if not loop.is_plain or loop.keep or loop.until is not None:
        return None, None
    try:
        region = lower_region(loop, types.types, types.guards, KnownValues(loop.body.phases, types.types))
    except NotLowerable:
        return None, None
    iteration = next((name for name, source in region.sources.items() if isinstance(source, CurrentBuffer)), None)
    program = optimise(region.program, POINTWISE_GPU_PIPELINE if region.is_pointwise else GPU_PIPELINE)
    return region, loop_shapes.parallelise_iteration(program, iteration)
