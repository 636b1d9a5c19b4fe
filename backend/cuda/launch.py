"""Runs structured phases, chains and loops as generated CUDA kernels on the current stream.

A kernel is printed for the layout of its operands, and each text is compiled once (`Modules`).  Results are laid out in the order
of the loop nest, so that neighbouring threads access neighbouring items.  The host waits for a kernel with checks; if one failed,
the phase runs again on the host, which reports the failure.

Note [Views].  A CuPy array over foreign memory does not keep that memory alive, so no such array becomes a value: a phase that is
a view is copied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

import numpy as np

from ...lang.support.records import dataclass
from ...typechecker.elements import Kind
from ...typechecker.sizes.polynomials import Size
from ..codegen.cuda_printer import THREADS, CudaText, cuda_text, value
from ..cpu.kernels import Run
from ..cpu.numpy_reductions import identity_array
from ..cpu.views import (
    DTYPES,
    FILLS,
    IndexRange,
    KnownAffine,
    bounds,
    contiguous,
    index_range,
    known_affine,
    points_inside,
    reshaped_strides,
)
from ..graph.bind_sizes import KnownValues
from ..graph.fusion_groups import MAX_ROW, JoinedGroup
from ..graph.phases import Affine, AxisKind, Constant, Loop, Projection, ReadNode, Reshaped, Stage, Structured, ValueId
from ..jit.compiler import LruCache
from ..loopir.facts import estimate_iteration
from ..loopir.ir import LoopProgram
from ..loopir.reductions import MAX_SUM
from ..lower.body import Body, Kernel, build_kernel, legalize, narrow
from ..lower.loop_order import BLOCK, Form, LoopOrder, plan_nest, row_nest
from ..lower.phase import gpu_kernel, length_class
from ..lower.region import Region, lower_region
from ..lower.rows import gpu_rows
from ..lower.scope import ConstantData, CurrentBuffer, InitialState, NotLowerable, ScopeInput, StateView
from ..transform import loop_shapes
from ..transform.pipeline import GPU_PIPELINE, POINTWISE_GPU_PIPELINE, optimise
from ..vm.backend_interface import Types
from .bindings import OPTIONS

# ---------------------------------------------------------------------------------------------------- layouts
#
# Reads as addresses and strides: a projection with known sizes, applied to an operand in device memory.
#
# The counterpart of `cpu.views`, which yields an address and strides for a kernel instead of an array.  An affine stage without
# fills moves the address and combines strides; a reshape keeps strides where possible; other reads are copied on the device.
#
# Every address a kernel may form from a `DeviceView` lies in its array: `KnownAffine` bounds are checked here from the sizes, and
# a projection that leaves its operand without fills raises AssertionError.

Numbers: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DeviceView:
    """A strided view of `array`'s memory; `offset` and `strides` in bytes."""

    array: Any
    offset: int
    shape: Numbers
    strides: Numbers

    @property
    def address(self) -> int:
        return int(self.array.data.ptr) + self.offset

    def strided(self, xp: Any) -> Any:
        """The items as an array, not copied.  It must not outlive the step, since it does not keep the memory alive."""
        return xp.ndarray(self.shape, self.array.dtype, memptr=self.array.data + self.offset, strides=self.strides)


Reading: TypeAlias = Callable[[Any], DeviceView]


def device_view(array: Any) -> DeviceView:
    """The view of a full array."""
    return DeviceView(array, 0, tuple(array.shape), tuple(array.strides))


def compile_reading(xp: Any, projection: Projection, space: Numbers, fill: int, number: Callable[[Size], int]) -> Reading:
    """The function from an operand to the view that the points of the space read."""
    boxes = [space]
    for stage in projection.stages:
        boxes.append(tuple(map(number, stage.shape if isinstance(stage, Affine) else stage.target)))
    steps = [
        _compile_stage(xp, stage, boxes[at], boxes[at + 1], fill, number)
        for at, stage in enumerate(projection.stages)
    ]  # fmt: skip
    steps.reverse()

    def read(operand: Any) -> DeviceView:
        placed = device_view(operand)
        for step in steps:
            placed = step(placed)
        return placed

    return read


def compile_readings(xp: Any, phase: Structured, space: Numbers, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int]
                     ) -> list[tuple[ValueId, Reading]]:  # fmt: skip
    """The operands of a phase's reads, with `compile_reading` of each."""
    return [
        (read.value, compile_reading(xp, read.projection, space, FILLS[kinds(read.value)], number)) for read in phase.reads
    ]  # fmt: skip


def _compile_stage(
    xp: Any, stage: Stage, space: Numbers, shape: Numbers, fill: int, number: Callable[[Size], int]
) -> Callable[[DeviceView], DeviceView]:
    if isinstance(stage, Reshaped):
        return lambda placed: _reshaped(xp, placed, space)
    known = known_affine(stage, space, shape, (True,) * len(shape), number)
    if 0 in space:
        return lambda placed: DeviceView(placed.array, 0, space, (0,) * len(space))
    low, high = bounds(known)
    match index_range(stage, known, low, high):
        case IndexRange.INSIDE:
            return lambda placed: _moved(placed, known)
        case IndexRange.AROUND:
            return lambda placed: _padded(xp, placed, known, low, high, fill)
        case IndexRange.FAR:
            return lambda placed: _fetched(xp, placed, known, fill)


def _moved(placed: DeviceView, stage: KnownAffine) -> DeviceView:
    offset = placed.offset + sum(c * s for c, s in zip(stage.constants, placed.strides, strict=True))
    strides = tuple(
        sum(row[axis] * stride for row, stride in zip(stage.coefficients, placed.strides, strict=True))
        for axis in range(len(stage.space))
    )
    return DeviceView(placed.array, offset, stage.space, strides)


def _reshaped(xp: Any, placed: DeviceView, target: Numbers) -> DeviceView:
    """The row-major reshape of a view; copied if strides cannot express it."""
    strides = reshaped_strides(placed.shape, placed.strides, target)
    if strides is None:
        return device_view(placed.strided(xp).copy().reshape(target))
    return DeviceView(placed.array, placed.offset, target, strides)


def _padded(xp: Any, placed: DeviceView, stage: KnownAffine, low: Numbers, high: Numbers, fill: int) -> DeviceView:
    """A copy of the items that are read, in a box padded with fills."""
    box = tuple(b - a + 1 for a, b in zip(low, high, strict=True))
    padded = xp.full(box, fill, placed.array.dtype)
    source, target = [], []
    for a, b, n in zip(low, high, stage.shape, strict=True):
        start, stop = max(a, 0), max(max(a, 0), min(b + 1, n))
        source.append(slice(start, stop))
        target.append(slice(start - a, stop - a))
    if all(part.start < part.stop for part in source):
        padded[tuple(target)] = placed.strided(xp)[tuple(source)]
    constants = tuple(c - a for c, a in zip(stage.constants, low, strict=True))
    return _moved(device_view(padded), KnownAffine(stage.space, box, stage.coefficients, constants))


def _fetched(xp: Any, placed: DeviceView, stage: KnownAffine, fill: int) -> DeviceView:
    """A gather through index arrays, for a sparse read far outside its operand."""
    indices, inside = points_inside(stage)
    fetched = xp.full(stage.space, fill, placed.array.dtype)
    if inside.any():
        where = tuple(xp.asarray(axis) for axis in np.nonzero(inside))
        fetched[where] = placed.strided(xp)[tuple(xp.asarray(index[inside]) for index in indices)]
    return device_view(fetched)


# ---------------------------------------------------------------------------------------------------- modules
#
# Loop programs on a device: each text is compiled once, and its nests are launched in order on the current stream.

MOST_BLOCKS: Final = 1 << 20


class Modules:
    """The compiled texts of one device."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp
        self._modules: dict[str, Any] = {}
        self._functions: dict[tuple[str, str], Any] = {}
        self.launches: LruCache[Any] = LruCache(256)
        """Launches of library phases and of loops, by key."""

    def function(self, source: str, name: str) -> Any:
        function = self._functions.get((source, name))
        if function is None:
            if source not in self._modules:
                self._modules[source] = self.xp.RawModule(code=source, options=OPTIONS)
            function = self._functions[source, name] = self._modules[source].get_function(name)
        return function

    def launch(self, source: str, name: str, blocks: int, args: Sequence[int]) -> None:
        """Launch a kernel; each argument is a 64-bit word: a size, a stride, an address."""
        words = tuple([np.int64(arg) for arg in args])
        self.function(source, name)((max(1, min(blocks, MOST_BLOCKS)),), (THREADS,), words)

    def run(self, text: CudaText, words: Sequence[int]) -> bool:
        """Enqueue a program with these parameters and views; returns whether a check failed."""
        parameters = dict(zip(text.parameters, words, strict=False))
        shapes = [(tuple(value(length, parameters) for length in view.shape), view.kind) for view in text.scratch]
        rooms = [self.xp.empty(shape, DTYPES[kind]) for shape, kind in shapes]
        failed = self.xp.zeros((1,), np.int32) if text.is_checked else None
        rooms += [] if failed is None else [failed]
        every = (*words, *(int(room.data.ptr) for room in rooms))
        for grid in text.grids:
            self.launch(text.source, grid.name, grid.blocks(parameters), every)
        return failed is not None and bool(failed.item())


# ---------------------------------------------------------------------------------------------------- launches

Values: TypeAlias = Mapping[ValueId, Any]


def compile_structured(
    xp: Any, modules: Modules, phase: Structured, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int], on_host: Run
) -> Run | None:
    """The kernel of a phase for known sizes; None if kernels lack a function of the body."""
    space = tuple(number(axis.size) for axis in phase.axes)
    reduces = any(a.kind is AxisKind.REDUCE for a in phase.axes)
    if 0 in space:
        return _empty(xp, phase, space[:-1] if reduces else space, kinds)
    reads = compile_readings(xp, phase, space, kinds, number)
    if not reduces and all(isinstance(phase.body[r.node], ReadNode) for r in phase.results):
        return _renaming(xp, phase, reads)
    body = legalize(phase, complexes=True)
    if body is None or body.is_right_fold:
        return None
    body = narrow(body)
    operands = [kinds(read.value) for read in phase.reads]
    return Launch(xp, modules, body, reads, space, operands, [number(size) for size in body.sizes], on_host).run


def compile_rows(
    xp: Any, modules: Modules, chain: JoinedGroup, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int]
) -> Run | None:
    """A chain along rows in one launch; None if its members have to run one by one."""
    phase, body = chain.phase, legalize(chain.phase)
    space = tuple(number(axis.size) for axis in phase.axes)
    if body is None or 0 in space or space[-1] > MAX_ROW:
        return None
    reads = compile_readings(xp, phase, space, kinds, number)
    operands, scalars = [kinds(read.value) for read in phase.reads], [number(size) for size in body.sizes]
    launch = Launch(xp, modules, body, reads, space, operands, scalars, None, chain.is_row)
    return lambda values, overwrite: launch.run(values, None)


def _empty(xp: Any, phase: Structured, parallel: tuple[int, ...], kinds: Callable[[ValueId], Kind]) -> Run:
    def run(values: Values, overwrite: Any) -> tuple[Any, ...]:
        return tuple(xp.asarray(identity_array(r.reduction, kinds(r.value), parallel)) for r in phase.results)

    return run


def _renaming(xp: Any, phase: Structured, reads: Sequence[tuple[ValueId, Reading]]) -> Run:
    """See Note [Views]."""
    picks = []
    for result in phase.results:
        node = phase.body[result.node]
        assert isinstance(node, ReadNode)
        picks.append(reads[node.index])

    def run(values: Values, overwrite: Any) -> tuple[Any, ...]:
        return tuple(read(values[value]).strided(xp).copy() for value, read in picks)

    return run


@dataclass(frozen=True, slots=True)
class BoundCudaKernel:
    """A kernel specialized for one layout of operands.  `shape`: of its results.  `is_row`: results of a chain with one item a
    row."""

    kernel: Kernel
    text: CudaText
    nest: LoopOrder
    shape: tuple[int, ...]
    is_row: tuple[bool, ...] = ()

    def words(self, scalars: Sequence[int], operands: Sequence[int], results: Sequence[int]) -> list[int]:
        """The argument words: scalars, strides and addresses."""
        kernel, sizes = self.kernel, self.nest.sizes
        words = [*sizes, *(0 for _ in sizes), *scalars]
        if kernel.form is not Form.MAP:
            words.append(-(-sizes[-1] // BLOCK))
        for address, strides in zip(operands, self.nest.strides, strict=True):
            words += address, *strides
        for number, (address, result) in enumerate(zip(results, kernel.body.results, strict=True)):
            on_row = bool(self.is_row) and self.is_row[number]
            words += address, *contiguous(sizes[: kernel.result_axes - on_row], result.kind.bytes)[: kernel.result_axes]
        return words


class Launch:
    """A phase or chain, with a cache of its kernels by the layout of the operands.  `is_row`: results of a chain with one item a
    row."""

    def __init__(
        self, xp: Any, modules: Modules, body: Body, reads: Sequence[tuple[ValueId, Reading]], space: tuple[int, ...],
        operands: Sequence[Kind], scalars: Sequence[int], on_host: Run | None, is_row: tuple[bool, ...] = (),
    ) -> None:  # fmt: skip
        self.xp, self.modules, self.body, self.reads, self.space = xp, modules, body, reads, space
        self.operands, self.scalars, self.on_host = operands, list(scalars), on_host
        self.reduces, self.is_row = body.results[0].reduction is not None, is_row
        self.kept: dict[tuple[tuple[int, ...], ...], BoundCudaKernel] = {}

    def run(self, values: Values, overwrite: Any) -> tuple[Any, ...]:
        placed = [read(values[value]) for value, read in self.reads]
        bound = self.bound([p.strides for p in placed])
        results = self.room(bound, overwrite)
        if self.launch(bound, placed, results, self.scalars):
            assert self.on_host is not None, "a body without checks does not fail"
            self.on_host(values, None)
            raise AssertionError("a check failed on the device and not on the host")
        return self.finish(bound, results)

    def bound(self, strides: Sequence[tuple[int, ...]]) -> BoundCudaKernel:
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
            specialized = self.kept[key] = BoundCudaKernel(kernel, cuda_text(program), nest, shape, self.is_row)
        return specialized

    def room(self, bound: BoundCudaKernel, overwrite: Any) -> list[Any]:
        """A new array for each result, in the order of the loop nest."""
        targets: list[Any] = []
        if bound.text.is_checked:
            overwrite = None  # the host needs the operands if a check fails
        for number, result in enumerate(self.body.results):
            dtype = DTYPES[result.kind]
            if number == 0 and overwrite is not None and overwrite.dtype == dtype and overwrite.shape == self.space:
                moved = overwrite.transpose(bound.nest.order)
                if moved.flags.c_contiguous:
                    targets.append(moved)
                    continue
            on_row = bool(self.is_row) and self.is_row[number]
            targets.append(self.xp.empty(bound.shape[:-1] if on_row else bound.shape, dtype))
        return targets

    def launch(
        self, bound: BoundCudaKernel, placed: Sequence[DeviceView], results: Sequence[Any], scalars: Sequence[int]
    ) -> bool:
        """Enqueue the kernel; returns whether a check failed."""
        addresses = [int(result.data.ptr) for result in results]
        return self.modules.run(bound.text, bound.words(scalars, [p.address for p in placed], addresses))

    def finish(self, bound: BoundCudaKernel, results: Sequence[Any]) -> tuple[Any, ...]:
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
"""Operations on elements between two polls for interrupts."""
LoopRunner: TypeAlias = Callable[[Mapping[ValueId, Any], list[Any], int], "tuple[Any, ...] | None"]
"""From values, the initial state and the number of iterations to the final state; None if the iterations have to run step by
step."""


def compile_region(
    xp: Any, modules: Modules, loop: Loop, types: Types, constant: Callable[[Constant], Any]
) -> LoopRunner | None:
    """The runner of a loop; None if an iteration has other statements than nests of independent loops."""
    region, program = modules.launches.of(("region", id(loop)), (loop,), lambda: nests_of(loop, types))
    if region is None or program is None:
        return None
    text, stretch = cuda_text(program), 1
    if region.is_pointwise:
        stretch = max(1, INTERRUPT_OPERATIONS // estimate_iteration(loop, types.types).functions)

    def words_of(values: Mapping[ValueId, Any], state: Sequence[Any], buffers: Sequence[Sequence[Any]]) -> tuple[list[int], Any]:
        """The words of a launch, and the arrays that they point into."""
        words, shown = [0, 0, *map(types.number, region.sizes)], list[Any]()
        for view in program.views:
            match region.sources[view.name]:
                case ScopeInput(value):
                    arrays: Sequence[Any] = [xp.ascontiguousarray(values[value])]
                case ConstantData(phase):
                    arrays = [constant(phase)]
                case InitialState(component):
                    arrays = [xp.ascontiguousarray(state[component])]
                case StateView(component):
                    arrays = buffers[component]
                case _:
                    continue
            shown += arrays
            first, *others = (int(array.data.ptr) for array in arrays)
            strides = [*(other - first for other in others), *arrays[0].strides, view.kind.bytes]
            words += first, *strides[: len(view.shape) - bool(view.shape)]
        return words, shown

    def repeat(values: Mapping[ValueId, Any], state: list[Any], iterations: int) -> tuple[Any, ...] | None:
        buffers = [
            [xp.empty(one.shape, one.dtype)] if region.is_pointwise
            else [one.copy(), *(xp.empty(one.shape, one.dtype) for _ in range(doubled))]
            for one, doubled in zip(state, region.states, strict=True)
        ]  # fmt: skip
        words, shown = words_of(values, state, buffers)
        for start in range(0, iterations, stretch):
            words[:2] = start, min(iterations, start + stretch)
            if modules.run(text, words):
                return None  # running step by step reports the failure
            if region.is_pointwise:
                words, shown = words_of(values, [alternating for alternating, in buffers], buffers)
        del shown
        return tuple(alternating[iterations % len(alternating)] for alternating in buffers)

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
