"""Structured phases on arrays: through kernels where they are worth it, else on NumPy.

On NumPy a body of ufuncs works on views of the operands.  A phase that only renames indices returns a view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
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
from ..vm.check_failures import CheckFailed
from ..vm.run_state import ALIGNMENT, pooled_empty, trim
from .kernels import STREAMING_BYTES, CompiledRun, Run, compile_kernel, strides_over
from .numpy_reductions import (
    ROW_REDUCTION_PREFIX,
    NumpyReduction,
    StoredItems,
    broadcast_copy,
    broadcast_view,
    combine_ravelled,
    identity_array,
    joint_reductions,
    over_ravelled_axes,
    reduce_last,
    within,
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
    ViewOf,
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
# Nodes that do not depend on every axis of the space are *hoisted*: computed once for the full space, before the boxes.  The
# others are computed box by box, and their arrays are dropped after the last use.

def _with_span(function: Implementation, span: Span) -> Implementation:
    """`function`, with `span` as the location of its failed checks."""

    def run(*args: Any) -> Any:
        try:
            return function(*args)
        except CheckFailed as failure:
            failure.span = span
            raise

    return run


@dataclass(frozen=True, slots=True)
class NumpyCall:
    """Stores `function` of the slots `args` in `slot`; then frees the slots `dead`."""

    function: Implementation
    args: tuple[int, ...]
    slot: int
    dead: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NumpyBody:
    """`constants`: (slot, value); `reads`: (slot, read index); `axes`: (slot, axis); then the hoisted calls and those of each
    box, in order.  `varying[slot]`: the axes on which a slot's value varies."""

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
    """Instructions for the nodes that the results need; `by_rows`: for a chain along rows, in which nothing is hoisted."""
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


# ---------------------------------------------------------------------------------------------------- interpreter
#
# Runs a structured phase, or a chain along rows, on NumPy: its body on all points if they are few, else box by box.
#
# The values computed on a box fit in the cache and in the scratch that the plan counts.  A reduced axis is cut at multiples of a
# block of the order of sums, so results do not depend on boxes.
#
# Deferred operands are copied box by box, or at once where hoisted nodes need them.

BOX_BYTES: Final = LARGE_SPACE_POINTS
"""The bytes of an operand in a box, at most; complex operands may take twice as many."""


class NumpyRun:
    """Runs a phase or a chain along rows box by box; results collect the values of each box.

    `widest`: the bytes of its largest items; `by_rows`: must rows stay whole, because some functions reduce them?"""

    def __init__(self, body: NumpyBody, views: Sequence[tuple[ValueId, ViewOf]], space: Numbers,
                 results: Sequence[StoredItems | NumpyReduction], widest: int = 16, *,
                 by_rows: bool = False) -> None:  # fmt: skip
        self.body, self.views, self.space, self.results = body, views, space, results
        nodes, computed = {result.node for result in results}, {step.slot for step in body.inner}
        full = frozenset().union(*(body.varying[slot] for slot in computed | nodes))
        self.extents = tuple(size if axis in full else 1 for axis, size in enumerate(space))
        self.is_one = (prod(self.extents) <= WHOLE or not (body.inner or body.axes)) and not by_rows
        self.once = tuple({arg for step in body.hoisted for arg in step.args})
        self.reductions = reductions = [result for result in results if isinstance(result, NumpyReduction)]
        self.joint, self.are_several = joint_reductions(reductions), len(results) > 1
        self.grains, self.points = [1] * len(space), BOX_BYTES // min(widest, 8)
        if reductions:
            self.extents, self.points = (*self.extents[:-1], space[-1]), BOX_BYTES // 2
            self.grains[-1] = max(reduction.grain(space[-1]) for reduction in reductions)
        elif by_rows:
            self.grains[-1], self.points = space[-1], rows_points(prod(space), space[-1])
        self.streams = not (body.inner or body.axes) if reductions else not (body.axes or by_rows) and (
            computed <= nodes and all(isinstance(result, StoredItems) and result.is_direct for result in results)
        )
        """Is nothing computed beside the results, so that boxes need no memory?"""

    def operands(self, values: Mapping[ValueId, Any]) -> list[Any]:
        """The operands and hoisted values that boxes read, by slot, over the full space."""
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

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        """The results.  None of them shares memory with another result, or with an operand except the overwritten one."""
        slots = self.operands(values)
        is_one = self.is_one and not any(isinstance(value, DeferredView) for value in slots)
        if is_one and self.reductions and not self.joint:
            evaluate(self.body.inner, slots, {})
            totals = [result.total(broadcast_view(slots[result.node], self.extents)) for result in self.reductions]
            return tuple([broadcast_copy(total, self.space[:-1]) for total in totals])
        states: list[Any] = [None] * len(self.results)
        for number, result in enumerate(self.results):
            if number not in self.joint:
                states[number] = result.begin(self.extents, None if number else overwrite, is_shared=self.are_several)
        for number, argument in self.joint.items():
            states[number] = states[argument].extremes()
        if not is_one:
            trim()
        for box in (tuple([slice(0, size) for size in self.extents]),) if is_one else self.boxes(slots):
            sliced = slots if is_one else self.cut(slots, box)
            gathered = [*zip(self.results, states, strict=True)]
            evaluate(self.body.inner, sliced, {result.node: state.part(box) for result, state in gathered if state.is_direct})
            for result, state in reversed(gathered):
                if not state.is_direct:
                    state.put(box, sliced[result.node])
            del sliced  # before copies of the next box are made
        return tuple([broadcast_copy(value, self.space[: value.ndim]) for value in (state.result() for state in states)])

    def boxes(self, slots: Sequence[Any]) -> Iterator[Box]:
        """Yields the boxes in order; cells of one box are reduced side by side, and interrupts are handled between boxes."""
        streams = self.streams and not any(isinstance(value, DeferredView) for value in slots)
        first = -1 if self.reductions else 0
        extents, grains = ((*sizes[first:], *sizes[:first]) if first else sizes for sizes in (self.extents, self.grains))
        for box in boxes(extents, box_steps(extents, grains, SUM_POINTS if streams else self.points)):
            yield (*box[1:], box[0]) if first else box

    def cut(self, slots: Sequence[Any], box: Box) -> list[Any]:
        """The slots restricted to a box."""
        rank = len(box)
        parts = [a[within(box, a.shape)] if a is not None and a.ndim == rank else a for a in slots]
        for slot, axis in self.body.axes:
            parts[slot] = _coordinates(rank, axis, box[axis])
        return parts


def _coordinates(rank: int, axis: int, part: slice) -> NumArray:
    line = np.arange(part.start, part.stop)
    return line.reshape((1,) * axis + (len(line),) + (1,) * (rank - axis - 1))


# ---------------------------------------------------------------------------------------------------- structured phases

"""A function from the values in memory, and an array that the first result may overwrite, to the results."""


def compile_structured(
    phase: Structured, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int], threads: int
) -> Run:
    """The run function of a phase for known sizes, cached with the phase if the sizes are the same in every run.

    The cached function must not refer to the run that made it, since it would keep that run's values alive."""
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
    if not reduces and all(isinstance(phase.body[r.node], ReadNode) for r in phase.results):
        return _views_of_operands(phase, views, space)
    constants = all(isinstance(phase.body[r.node], ConstantNode) for r in phase.results)
    if not reduces and constants and prod(space) >= tiering.SMALL:
        return _constant_results(phase, space)
    body = compile_body(phase.body, [r.node for r in phase.results], varying, space, number)
    results = [NumpyReduction(r.node, r.reduction or "", kinds(r.value)) for r in phase.results] if reduces else (
        _stored(phase, body, kinds)
    )

    def on_numpy(some: Sequence[StoredItems | NumpyReduction]) -> Run:
        needed = body if some is results else compile_body(phase.body, [r.node for r in some], varying, space, number)
        return NumpyRun(needed, views, space, some, 16 if reduces else widest).run

    return compile_kernel(phase, views, space, kinds, number, threads, _with_products(phase.body, results, on_numpy))


def _with_products(nodes: Sequence[Node], results: Sequence[StoredItems | NumpyReduction],
                   on_numpy: Callable[[Sequence[StoredItems | NumpyReduction]], Run]) -> Run:  # fmt: skip
    """The run of the results on NumPy.  The sum of x - x beside the product of floats x (`graph.lowering.structured`) is 0 where
    the product is finite, since then all factors are; it is computed only if some product is not."""
    for at, check in enumerate(results):
        differences = [nodes[slot] for slot in _operands_of(nodes, check, "add")]
        factors = {n.args[0] for n in differences if isinstance(n, ApplyNode) and n.function == "sub" and n.args[0] == n.args[-1]}
        if differences and len(factors) == len(differences) and kind_of(nodes[check.node]).is_float:
            for number, result in enumerate(results):
                if _operands_of(nodes, result, "mul", factors) == factors:
                    others = [*results[:at], *results[at + 1 :]]
                    return _checked_run(on_numpy(results), on_numpy(others), on_numpy([check]), at, number - (number > at))
    return on_numpy(results)


def _operands_of(nodes: Sequence[Node], result: StoredItems | NumpyReduction, function: str, stop: Set[int] = frozenset()
                 ) -> set[int]:  # fmt: skip
    """The slots of the items that a result reduces with a function: a reduction, or one that is unrolled; none if it does not."""
    if isinstance(result, NumpyReduction):
        return {result.node} if result.function == function else set()
    pending, leaves = [result.node], set[int]()
    while pending:
        slot = pending.pop()
        node = nodes[slot]
        if isinstance(node, ApplyNode) and node.function == function and slot not in stop:
            pending += node.args
        else:
            leaves.add(slot)
    return leaves - {result.node}


def _checked_run(full: Run, others: Run, check: Run, at: int, product: int) -> Run:
    def run(values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        if overwrite is not None:
            return full(values, overwrite)
        results = others(values, None)
        factor = results[product]
        is_finite = np.isfinite([factor.min(), factor.max()]).all()  # NaN is both; no array of truths is made
        sums = (np.zeros(factor.shape, factor.dtype),) if is_finite else check(values, None)
        return (*results[:at], *sums, *results[at:])

    return run


def _stored(
    phase: Structured, body: NumpyBody, kinds: Callable[[ValueId], Kind], is_row: Sequence[bool] = ()
) -> list[StoredItems]:
    """The results of a phase without a reduce axis; `is_row`: which results of a chain have one item per row."""
    computed, nodes = {step.slot for step in body.inner if isinstance(step.function, np.ufunc)}, [r.node for r in phase.results]
    return [
        StoredItems(r.node, DTYPES[kinds(r.value)], on_row, r.node in computed and nodes.index(r.node) == number and not on_row)
        for number, (r, on_row) in enumerate(zip(phase.results, is_row or [False] * len(nodes), strict=True))
    ]


def _over_axes(phase: Structured, rank: int, run: Run, kinds: Callable[[ValueId], Kind]) -> Run:
    """Runs a reduction of a ravel by `run`, which reduces over the axes of the ravelled array."""
    known = {result.value: kinds(result.value) for result in phase.results}
    return lambda values, overwrite: combine_ravelled(phase, rank, known.__getitem__, run(values, None))


def _empty(phase: Structured, parallel: tuple[int, ...], kinds: Callable[[ValueId], Kind]) -> Run:
    """The run function of a phase without points: empty results, or identities where only the reduce axis is empty."""

    def run(values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        return tuple(identity_array(r.reduction, kinds(r.value), parallel) for r in phase.results)

    return run


def _views_of_operands(phase: Structured, views: Sequence[tuple[ValueId, ViewOf]], space: tuple[int, ...]) -> Run:
    picks = []
    for result in phase.results:
        node = phase.body[result.node]
        assert isinstance(node, ReadNode)
        picks.append(views[node.index])
    return ViewsRun(picks, space).run


class ViewsRun:
    """Runs a phase whose results are operands under other indices: views, replicated by stride 0, or copies of deferred ones."""

    def __init__(self, picks: Sequence[tuple[ValueId, ViewOf]], space: tuple[int, ...]) -> None:
        self.picks, self.space = picks, space

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        views = [view(values[value]) for value, view in self.picks]
        views = [v.into(pooled_empty(v.shape, v.dtype)) if isinstance(v, DeferredView) else v for v in views]
        return tuple([broadcast_view(v, self.space) for v in views])


def _constant_results(phase: Structured, space: tuple[int, ...]) -> Run:
    """The run function of constant results: one item each, replicated by stride 0."""
    nodes = [phase.body[result.node] for result in phase.results]
    filled = tuple(np.broadcast_to(constant(n.kind, n.value), space) for n in nodes if isinstance(n, ConstantNode))
    return lambda values, overwrite: filled


# ---------------------------------------------------------------------------------------------------- fused rows
#
# Chains along rows run through one kernel, or on NumPy a few rows at a time; both give the bits of the members one by one.
#
# On NumPy the intermediate values of some rows are dropped before the next rows.  So no tier stores a value that only the chain
# reads, and the plan counts no memory for it.

def compile_rows(
    members: Sequence[Structured], wanted: Sequence[ValueId], kinds: Callable[[ValueId], Kind], number: Callable[[Size], int],
    threads: int,
) -> Run:  # fmt: skip
    """The run function of a chain that computes the `wanted` values; cached with its members where their sizes are numbers."""


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
    numpy_body = compile_body(phase.body, [result.node for result in phase.results], varying, space, number, by_rows=True)
    on_numpy = NumpyRun(numpy_body, views, space, _stored(phase, numpy_body, kinds, chain.is_row), by_rows=True).run
    body = legalize(phase) if prod(space) and mode is not tiering.Mode.OFF and is_installed() else None
    if body is None:
        return on_numpy
    operands, scalars = [kinds(read.value) for read in phase.reads], [number(size) for size in body.sizes]
    return CompiledRowsRun(body, views, space, operands, scalars, threads, mode, on_numpy, chain.is_row,
                   any(map(may_defer, phase.reads))).run


class CompiledRowsRun(CompiledRun):
    """Runs a row chain with a kernel.  `is_row`: which results have one item per row.  Several short rows are computed side by
    side in vector lanes."""

    def __init__(self, body: Body, views: Sequence[tuple[ValueId, ViewOf]], space: tuple[int, ...], operands: Sequence[Kind],
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
        """Loops in the program's order; axes along which all operands step evenly become one loop."""
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
        """Results larger than the caches bypass them if each row is aligned."""
        kinds = [r.kind for r, on_row in zip(self.body.results, self.is_row, strict=True) if not on_row]
        large = self.points * sum(kind.bytes for kind in kinds) >= STREAMING_BYTES
        aligned = all(self.space[-1] * kind.bytes % ALIGNMENT == 0 for kind in kinds)
        return StoreMode.STREAMED if large and aligned and not overwrites and not self.is_side else StoreMode.PLAIN

    def in_boxes(self, operands: Sequence[Any]) -> tuple[Any, ...] | None:
        return None

    def reduction(self) -> SplitReduction:
        return SplitReduction.UNSPLITTABLE

    def cuts(self, nest: LoopOrder, work: WorkEstimate) -> TaskSplit:
        """How rows are split into tasks: rows that do not share vectors may be cut anywhere."""
        return task_split_of(nest if self.is_side else replace(nest, form=Form.REDUCE_INNER), work)
