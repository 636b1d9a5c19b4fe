"""Structured phases on arrays: through kernels where they are worth it, else on NumPy.

On NumPy a body of ufuncs works on views of the operands.  A phase that only renames indices returns a view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Span
from ...typechecker.elements import Kind
from ...typechecker.sizes.polynomials import Size
from ..graph import traverse
from ..graph.fusion_groups import JoinedGroup, join_chain as joined_group
from ..graph.passes.rewriting import with_fixed_powers
from ..graph.phases import (
    ApplyNode,
    AxisKind,
    AxisNode,
    ConstantNode,
    Node,
    ReadNode,
    SizeNode,
    Structured,
    ValueId,
    kind_of,
    operand_kind,
)
from ..jit import tiering
from ..jit.compiler import LruCache, is_installed
from ..lower.body import Body, build_kernel, legalize
from ..lower.loop_order import Form, LoopOrder, StoreMode, row_nest
from ..schedule.program_facts.scratch_memory import LARGE_SPACE_POINTS, SUM_POINTS, rows_points
from ..vm.backend_interface import CheckFailed
from ..vm.run_state import ALIGNMENT, pooled_empty, trim
from .kernels import STREAMING_BYTES, CompiledRun, Run, compile_kernel, strides_over
from .numpy_reductions import (
    ROW_REDUCTION_PREFIX,
    NumpyReduction,
    combine_ravelled,
    identity_array,
    over_ravelled_axes,
    reduce_last,
)
from .numpy_scalars import Implementation, implementation
from .parallel_for import SplitReduction, TaskSplit, WorkEstimate, task_split_of
from .views import (
    DTYPES,
    WHOLE,
    Box,
    DeferredView,
    NumArray,
    Numbers,
    View,
    box_steps,
    boxes,
    compile_views,
    constant,
    contiguous,
    may_defer,
)

if TYPE_CHECKING:
    from ..lower.rows import KernelCode

# ---------------------------------------------------------------------------------------------------- NumPy instructions
#
# The scalar body of a structured phase as a list of instructions over slots.
#
# Nodes that do not depend on every axis of the space are *hoisted*: computed once, whole, before the slices.  The others are
# computed slice by slice, and are let go when nothing needs them any more.

def _with_span(function: Implementation, span: Span) -> Implementation:
    """`function`, whose failed checks get the span `span`."""

    def run(*args: Any) -> Any:
        try:
            return function(*args)
        except CheckFailed as failure:
            failure.span = span
            raise

    return run


@dataclass(frozen=True, slots=True)
class NumpyCall:
    """Store `function` of the slots `args` into `slot`; the slots `dead` are freed afterwards."""

    function: Implementation
    args: tuple[int, ...]
    slot: int
    dead: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NumpyBody:
    """`constants`: slots known now; `reads`: (slot, read index); `axes`: (slot, axis); then instructions in order.

    `varying[slot]` tells on which axes a slot's value varies."""

    constants: tuple[tuple[int, Any], ...]
    reads: tuple[tuple[int, int], ...]
    axes: tuple[tuple[int, int], ...]
    hoisted: tuple[NumpyCall, ...]
    inner: tuple[NumpyCall, ...]
    varying: tuple[frozenset[int], ...]


def evaluate(instructions: Sequence[NumpyCall], slots: list[Any], outputs: Mapping[int, NumArray]) -> None:
    """Execute the instructions.  `outputs`: arrays into which the ufuncs of some slots write their results."""
    for step in instructions:
        args = [slots[arg] for arg in step.args]
        slots[step.slot] = step.function(*args, out=outputs[step.slot]) if step.slot in outputs else step.function(*args)
        for slot in step.dead:
            slots[slot] = None


def compile_body(
    nodes: Sequence[Node], results: Sequence[int], read_varying: Sequence[tuple[bool, ...]], space: Sequence[int],
    number: Callable[[Size], int], *, by_rows: bool = False,
) -> NumpyBody:  # fmt: skip
    """Instructions for the nodes that the results need; `by_rows`: for a row chain, where nothing is hoisted."""
    needed = _needed(nodes, results)
    constants: list[tuple[int, Any]] = []
    reads: list[tuple[int, int]] = []
    axes: list[tuple[int, int]] = []
    applied: list[tuple[int, ApplyNode]] = []
    varying: list[frozenset[int]] = []
    for slot, node in enumerate(nodes):
        on: frozenset[int] = frozenset()
        match node:
            case ConstantNode():
                if slot in needed:
                    constants.append((slot, constant(node.kind, node.value)))
            case SizeNode():
                if slot in needed:
                    constants.append((slot, np.array(number(node.size), np.int64)))
            case ReadNode():
                on = frozenset(axis for axis, varies in enumerate(read_varying[node.index]) if varies)
                if slot in needed:
                    reads.append((slot, node.index))
            case AxisNode():
                on = frozenset({node.axis}) if space[node.axis] != 1 else frozenset()
                if slot in needed:
                    axes.append((slot, node.axis))
            case ApplyNode():
                on = frozenset().union(*(varying[a] for a in node.args)) if node.args else on
                if slot in needed:
                    applied.append((slot, node))
        varying.append(on)
    full = frozenset().union(*(varying[r] for r in results)) if results else frozenset()
    inner = [(slot, node) for slot, node in applied if by_rows or varying[slot] == full]
    hoisted = [step for step in applied if step not in inner]
    last = {arg: slot for slot, node in (*hoisted, *inner) for arg in node.args}

    def instruction(slot: int, node: ApplyNode) -> NumpyCall:
        function, args = _function(nodes, node, space)
        dead = tuple(arg for arg in dict.fromkeys(node.args) if last[arg] == slot and arg not in results)
        return NumpyCall(function, args, slot, dead)

    return NumpyBody(
        tuple(constants), tuple(reads), tuple(axes), tuple(instruction(*step) for step in hoisted),
        tuple(instruction(*step) for step in inner), tuple(varying),
    )  # fmt: skip


def _function(nodes: Sequence[Node], node: ApplyNode, space: Sequence[int]) -> tuple[Implementation, tuple[int, ...]]:
    """The function that computes a node, and the slots of its arguments."""
    if node.function.startswith(ROW_REDUCTION_PREFIX):
        return reduce_last(node.function.removeprefix(ROW_REDUCTION_PREFIX), node.kind, space[-1]), node.args
    compute = operand_kind(nodes, node)
    function = implementation(node.function, compute, node.kind, node.parameter)
    return function if node.span is None else _with_span(function, node.span), node.args


def _needed(nodes: Sequence[Node], results: Sequence[int]) -> set[int]:
    needed = set(results)
    for slot in range(len(nodes) - 1, -1, -1):
        node = nodes[slot]
        if slot in needed and isinstance(node, ApplyNode):
            needed.update(node.args)
    return needed


# ---------------------------------------------------------------------------------------------------- blocked evaluation
#
# Structured phases on NumPy: the body on all points where they are few, else slice by slice.
#
# A slice has so few points that what is computed on it stays in cache, and within what the plan counts.  A reduced axis is cut at
# multiples of a block of the order of sums, so that slices do not show.
#
# Operands that are `deferred` are copied slice by slice, and at once where nodes that are computed once need them.

SLICE_BYTES: Final = LARGE_SPACE_POINTS
"""Bytes of a slice of an operand, twice as many of complex numbers."""

_ALL: Final = slice(None)


class SlicedBody:
    """A body over a space; `nodes` are those of its results."""

    def __init__(self, body: NumpyBody, views: Sequence[tuple[ValueId, View]], space: Numbers, nodes: Sequence[int],
                 widest: int = 16) -> None:  # fmt: skip
        """`widest`: the bytes of its largest items."""
        self.body, self.views, self.space, self.nodes = body, views, space, nodes
        full = frozenset().union(*(body.varying[step.slot] for step in body.inner), *(body.varying[node] for node in nodes))
        self.extents = tuple(size if axis in full else 1 for axis, size in enumerate(space))
        self.is_one = prod(self.extents) <= WHOLE or not (body.inner or body.axes)
        self.once = tuple({arg for step in body.hoisted for arg in step.args})
        self.points = SLICE_BYTES // min(widest, 8)
        self.streams = False
        """Is nothing computed beside the results, so that slices need no memory?"""

    def operands(self, values: Mapping[ValueId, Any]) -> list[Any]:
        """Every slot that slices read, over the whole space."""
        body, rank = self.body, len(self.space)
        slots: list[Any] = [None] * len(body.varying)
        for slot, value in body.constants:
            slots[slot] = value
        for slot, index in body.reads:
            value_id, view = self.views[index]
            slots[slot] = view(values[value_id])
        for slot, axis in body.axes:
            if body.hoisted or self.is_one:
                slots[slot] = _coordinates(rank, axis, slice(0, self.space[axis]))
        if self.once:
            originals = {slot: slots[slot] for slot in self.once if isinstance(slots[slot], DeferredView)}
            for slot, deferred in originals.items():
                slots[slot] = deferred.materialized()
            evaluate(body.hoisted, slots, {})
            slots = [originals.get(slot, value) if value is not None else None for slot, value in enumerate(slots)]
        return slots

    def is_at_once(self, slots: Sequence[Any]) -> bool:
        """Is the space one slice, of these operands?"""
        return self.is_one and not any(isinstance(value, DeferredView) for value in slots)

    def slices(self, slots: Sequence[Any], extents: Sequence[int], grains: Sequence[int]) -> Iterator[Box]:
        """The boxes of the space that are computed one after the other; interrupts are handled between them."""
        streams = self.streams and not any(isinstance(value, DeferredView) for value in slots)
        return boxes(extents, box_steps(extents, grains, SUM_POINTS if streams else self.points))

    def cut(self, slots: Sequence[Any], box: Box) -> list[Any]:
        """The slots of a slice."""
        rank = len(box)
        slices = [a[_within(box, a.shape)] if a is not None and a.ndim == rank else a for a in slots]
        for slot, axis in self.body.axes:
            slices[slot] = _coordinates(rank, axis, box[axis])
        return slices


class MappedRun(SlicedBody):
    """Runs a phase without a reduce axis, or a row chain, some rows at a time.

    `is_row`: which results of a chain have one item a row; of no others if it is empty."""

    def __init__(self, body: NumpyBody, views: Sequence[tuple[ValueId, View]], space: Numbers, nodes: Sequence[int],
                 dtypes: Sequence[np.dtype[Any]], widest: int, is_row: Sequence[bool] = ()) -> None:  # fmt: skip
        super().__init__(body, views, space, nodes, widest)
        self.dtypes, self.is_row = dtypes, is_row or (False,) * len(nodes)
        computed = {step.slot for step in body.inner if isinstance(step.function, np.ufunc)}
        self.direct = frozenset(number for number, node in enumerate(nodes)
                                if node in computed and nodes.index(node) == number and not self.is_row[number])  # fmt: skip
        """Results that ufuncs write directly into the result array; the others are copied there."""
        self.grains = [1] * len(space)
        if is_row:
            self.grains[-1], self.points, self.is_one = space[-1], rows_points(prod(space), space[-1]), False
        else:
            results = computed.intersection(nodes)
            self.streams = len(self.direct) == len(nodes) and all(step.slot in results for step in body.inner)

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        """The results; none shares memory with another, or with an operand but the one that is written over."""
        slots, direct = self.operands(values), self.direct
        shapes = [self.extents[:-1] if on_row else self.extents for on_row in self.is_row]
        over = _fitting(overwrite, shapes[0], self.dtypes[0])
        targets = [
            over if number == 0 and over is not None else pooled_empty(shape, dtype)
            for number, (shape, dtype) in enumerate(zip(shapes, self.dtypes, strict=True))
        ]
        if over is not None and len(targets) > 1:
            direct = direct - {0}  # the others may be made of what is written over
        items = [target[..., np.newaxis] if on_row else target for target, on_row in zip(targets, self.is_row, strict=True)]
        is_one = self.is_at_once(slots)
        if not is_one:
            trim()
        for box in (None,) if is_one else self.slices(slots, self.extents, self.grains):
            sliced = slots if box is None else self.cut(slots, box)
            parts = items if box is None else [item[_within(box, item.shape)] for item in items]
            evaluate(self.body.inner, sliced, {self.nodes[number]: parts[number] for number in direct})
            for number in reversed(range(len(parts))):
                if number not in direct:
                    parts[number][...] = sliced[self.nodes[number]]
            del sliced  # before the next slice is copied
        return tuple([broadcast_copy(target, self.space[: target.ndim]) for target in targets])


class ReducedRun(SlicedBody):
    """Runs a phase whose last axis is reduced."""

    def __init__(self, body: NumpyBody, views: Sequence[tuple[ValueId, View]], space: Numbers,
                 reductions: Sequence[NumpyReduction]) -> None:  # fmt: skip
        super().__init__(body, views, space, [r.node for r in reductions])
        self.reductions = reductions
        self.points, self.streams = SLICE_BYTES, not (body.inner or body.axes)
        slots = {(r.node, r.function): number for number, r in enumerate(reductions)}
        self.joint = {slots[r.node, name]: number for number, r in enumerate(reductions)
                      if (r.node, name := r.function.removeprefix("arg")) in slots and name != r.function}  # fmt: skip
        """The argument reduction, by a `min` or `max` of the same items, which it finds as well."""

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        """Boxes have the reduced axis first, so that cells are reduced side by side."""
        slots, length = self.operands(values), self.space[-1]
        extents = (length, *self.extents[:-1])
        if not self.joint and self.is_at_once(slots):
            evaluate(self.body.inner, slots, {})
            shape, order = (*extents[1:], length), (len(extents) - 1, *range(len(extents) - 1))
            lines = [broadcast_view(slots[r.node], shape).transpose(order) for r in self.reductions]
            return tuple([broadcast_copy(r.total(line), self.space[:-1]) for r, line in zip(self.reductions, lines, strict=True)])
        targets = [r.room(extents) for r in self.reductions]
        for number, argument in self.joint.items():
            targets[number] = targets[argument]
        if not self.is_at_once(slots):
            trim()
        grains = (max(r.grain(length) for r in self.reductions), *[1] * (len(extents) - 1))
        for first, *cells in self.slices(slots, extents, grains):
            box = (*cells, first)
            sliced = self.cut(slots, box)
            evaluate(self.body.inner, sliced, {})
            shape = tuple([part.stop - part.start for part in box])
            for number, (r, target) in enumerate(zip(self.reductions, targets, strict=True)):
                if number not in self.joint:
                    value = broadcast_view(sliced[r.node], shape)
                    r.put(target, (first, *cells), value.transpose(value.ndim - 1, *range(value.ndim - 1)))
            del sliced, value  # before the next slice is copied
        return tuple(
            [broadcast_copy(r.combine(target), self.space[:-1]) for r, target in zip(self.reductions, targets, strict=True)]
        )


def _fitting(array: NumArray | None, extents: Numbers, dtype: np.dtype[Any]) -> NumArray | None:
    """The array, if the result of such items can be written over it."""
    fits = array is not None and array.dtype == dtype and array.shape == extents and array.flags.c_contiguous
    return array if fits else None


def broadcast_view(value: Any, shape: Numbers) -> Any:
    """A value broadcast to `shape`, as a view."""
    return value if value.shape == shape else np.broadcast_to(value, shape)


def broadcast_copy(value: Any, shape: Numbers) -> Any:
    """A value broadcast to `shape`, as a new array."""
    return value if value.shape == shape else np.array(np.broadcast_to(value, shape))


def _within(box: Box, shape: Numbers) -> Box:
    """A box of an array of this shape, which is 1 where it does not vary."""
    return tuple([_ALL if size == 1 else part for size, part in zip(shape, box, strict=True)])


def _coordinates(rank: int, axis: int, part: slice) -> NumArray:
    line = np.arange(part.start, part.stop)
    return line.reshape((1,) * axis + (len(line),) + (1,) * (rank - axis - 1))


# ---------------------------------------------------------------------------------------------------- structured phases

"""From the values of a memory, and an array to write the first result over, to the results."""


def compile_structured(
    phase: Structured, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int], threads: int
) -> Run:
    """The kernel of a phase for known sizes; kept with the phase as long as these are the same in every run.

    What is kept asks nothing of the run it was made in, whose values would be held with it."""
    if any(size.constant is None for size in traverse.sizes(phase)):
        return _compiled(phase, kinds, number, threads)

    def make() -> Run:
        known = {value: kinds(value) for value in (*traverse.operands(phase), *traverse.results(phase))}
        return _compiled(phase, known.__getitem__, _as_is, threads)

    return _kept.of((id(phase), threads, tiering.mode()), (phase,), make)


def _as_is(size: Size) -> int:
    assert size.constant is not None
    return int(size.constant)


_kept: Final[LruCache[Run]] = LruCache(1024)


def _compiled(phase: Structured, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int], threads: int) -> Run:
    phase, space = with_fixed_powers(phase), tuple(number(axis.size) for axis in phase.axes)
    reduces = any(a.kind is AxisKind.REDUCE for a in phase.axes)
    parallel = space[:-1] if reduces else space
    if 0 in space:
        return _empty(phase, parallel, kinds)
    apart = over_ravelled_axes(phase, space, kinds, number) if reduces else None
    if apart is not None:
        return _over_axes(phase, len(parallel), _compiled(apart, kinds, number, threads), kinds)
    views, varying = compile_views(phase, space, kinds, number)
    widest = max((kind_of(node).bytes for node in phase.body), default=16)
    if reduces:
        reductions = [NumpyReduction(r.node, r.reduction or "", kinds(r.value)) for r in phase.results]
        body = compile_body(phase.body, [r.node for r in reductions], varying, space, number)
        run = ReducedRun(body, views, space, reductions).run
        return compile_kernel(phase, views, space, kinds, number, threads, run)
    if all(isinstance(phase.body[r.node], ReadNode) for r in phase.results):
        return _views_of_operands(phase, views, space)
    constants = all(isinstance(phase.body[r.node], ConstantNode) for r in phase.results)
    if constants and prod(space) >= tiering.SMALL:
        return _constant_results(phase, space)
    nodes = [r.node for r in phase.results]
    body = compile_body(phase.body, nodes, varying, space, number)
    run = MappedRun(body, views, space, nodes, [DTYPES[kinds(r.value)] for r in phase.results], widest).run
    return compile_kernel(phase, views, space, kinds, number, threads, run)


def _over_axes(phase: Structured, rank: int, run: Run, kinds: Callable[[ValueId], Kind]) -> Run:
    """A reduction of a ravel by `run` over the axes of what was ravelled."""
    known = {result.value: kinds(result.value) for result in phase.results}
    return lambda values, overwrite: combine_ravelled(phase, rank, known.__getitem__, run(values, None))


def _empty(phase: Structured, parallel: tuple[int, ...], kinds: Callable[[ValueId], Kind]) -> Run:
    """No points: empty results, or identities where only the reduce axis is empty."""

    def run(values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        return tuple(identity_array(r.reduction, kinds(r.value), parallel) for r in phase.results)

    return run


def _views_of_operands(phase: Structured, views: Sequence[tuple[ValueId, View]], space: tuple[int, ...]) -> Run:
    picks = []
    for result in phase.results:
        node = phase.body[result.node]
        assert isinstance(node, ReadNode)
        picks.append(views[node.index])
    return ViewsRun(picks, space).run


class ViewsRun:
    """Runs a phase whose results are operands under other indices: views, replicated by stride 0, or copies of deferred ones."""

    def __init__(self, picks: Sequence[tuple[ValueId, View]], space: tuple[int, ...]) -> None:
        self.picks, self.space = picks, space

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        views = [view(values[value]) for value, view in self.picks]
        views = [v.into(pooled_empty(v.shape, v.dtype)) if isinstance(v, DeferredView) else v for v in views]
        return tuple([broadcast_view(v, self.space) for v in views])


def _constant_results(phase: Structured, space: tuple[int, ...]) -> Run:
    """One item each, replicated by stride 0."""
    nodes = [phase.body[result.node] for result in phase.results]
    filled = tuple(np.broadcast_to(constant(n.kind, n.value), space) for n in nodes if isinstance(n, ConstantNode))
    return lambda values, overwrite: filled


# ---------------------------------------------------------------------------------------------------- fused rows
#
# Chains along rows on arrays: through one kernel, or on NumPy some rows at a time; both give the bits of the members one by one.
#
# On NumPy what is made of some rows is let go before the next.  So a chain never needs an array of what only it reads, whatever
# tier runs it, and the plan counts none.

def compile_rows(
    members: Sequence[Structured], wanted: Sequence[ValueId], kinds: Callable[[ValueId], Kind], number: Callable[[Size], int],
    threads: int,
) -> Run:  # fmt: skip
    """The run of a chain that makes the wanted values; kept with its members where their sizes are numbers."""


    def make() -> Run:
        return _compiled_rows(joined_group(members, wanted), kinds, number, threads)

    if any(size.constant is None for member in members for size in traverse.sizes(member)):
        return make()
    return _row_kernels.of((*map(id, members), *wanted, threads, tiering.mode()), tuple(members), make)


_row_kernels: Final[LruCache[Run]] = LruCache(256)


def _compiled_rows(chain: JoinedGroup, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int], threads: int) -> Run:
    phase, mode = with_fixed_powers(chain.phase), tiering.mode()
    space = tuple(number(axis.size) for axis in phase.axes)
    views, varying = compile_views(phase, space, kinds, number)
    nodes = [result.node for result in phase.results]
    numpy_body = compile_body(phase.body, nodes, varying, space, number, by_rows=True)
    dtypes = [DTYPES[kinds(result.value)] for result in phase.results]
    on_numpy = MappedRun(numpy_body, views, space, nodes, dtypes, 16, chain.is_row).run
    body = legalize(phase) if prod(space) and mode is not tiering.Mode.OFF and is_installed() else None
    if body is None:
        return on_numpy
    operands, scalars = [kinds(read.value) for read in phase.reads], [number(size) for size in body.sizes]
    return CompiledRowsRun(body, views, space, operands, scalars, threads, mode, on_numpy, chain.is_row,
                   any(map(may_defer, phase.reads))).run


class CompiledRowsRun(CompiledRun):
    """Runs a row chain with a kernel.  `is_row`: which results have one item per row.  Short rows are computed in parallel
    lanes."""

    def __init__(self, body: Body, views: Sequence[tuple[ValueId, View]], space: tuple[int, ...], operands: Sequence[Kind],
                 scalars: Sequence[int], threads: int, mode: tiering.Mode, otherwise: Run,
                 is_row: tuple[bool, ...], defers: bool) -> None:  # fmt: skip
        from ..lower.rows import MAX_SIDE_BY_SIDE

        super().__init__(body, views, space, operands, scalars, threads, mode, otherwise, 0, defers)
        self.is_row, self.is_side = is_row, space[-1] < MAX_SIDE_BY_SIDE

    def shape_of(self, result: int) -> tuple[int, ...]:
        return self.space[:-1] if self.is_row[result] else self.space

    def strides_of(self, result: int, nest: LoopOrder) -> tuple[int, ...]:
        bytes = self.body.results[result].kind.bytes
        return contiguous(nest.sizes[:-1], bytes) if self.is_row[result] else contiguous(nest.sizes, bytes)[:-1]

    def nest(self, arrays: Sequence[NumArray]) -> LoopOrder:
        """Loops in the program's order; axes that step evenly through every operand are one."""
        strides = [strides_over(array, self.space) for array in arrays]
        return row_nest(self.space, strides, Form.REDUCE_OUTER if self.is_side else Form.MAP)

    def code_for(self, arrays: Sequence[NumArray], stores: StoreMode) -> KernelCode | None:
        for array, kind in zip(arrays, self.operands, strict=True):
            if array.dtype != DTYPES[kind] or (array.ndim != len(self.space) and array.size != 1):
                return None
        nest = self.nest(arrays)
        if self.is_side and len(nest.sizes) < 2:
            return None
        from ..lower.rows import KernelCode

        kernel = build_kernel(self.body, nest, self.operands, stores)
        return KernelCode(replace(kernel, is_row=self.is_row, longest=1 << (self.space[-1] - 1).bit_length()))

    def stores(self, overwrites: bool) -> StoreMode:
        """Results past the caches are larger than these, and each row of them is aligned."""
        kinds = [r.kind for r, on_row in zip(self.body.results, self.is_row, strict=True) if not on_row]
        large = self.points * sum(kind.bytes for kind in kinds) >= STREAMING_BYTES
        aligned = all(self.space[-1] * kind.bytes % ALIGNMENT == 0 for kind in kinds)
        return StoreMode.STREAMED if large and aligned and not overwrites and not self.is_side else StoreMode.PLAIN

    def in_boxes(self, operands: Sequence[Any]) -> tuple[Any, ...] | None:
        return None

    def reduction(self) -> SplitReduction:
        return SplitReduction.UNSPLITTABLE

    def cuts(self, nest: LoopOrder, work: WorkEstimate) -> TaskSplit:
        """Rows that are not side by side are cut anywhere."""
        return task_split_of(nest if self.is_side else replace(nest, form=Form.REDUCE_INNER), work)
