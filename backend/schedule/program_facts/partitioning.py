"""Partitioning of a phase into boxes: what each shard reads and writes, from projections and axis signatures alone.

A structured phase is cut along parallel axes, where each shard computes its box of every result, or along its reduce axis, at
block boundaries of the order of sums, where each shard computes partial results.  A library phase is cut along the axes of its
signature: those of the result, or those that it reduces (the items of a reduction by key, the summed axis of a product), if its
function is exact in any order; boxes have these behind the axes of the result.  Boxes (`plan`, Note [Boxes]) may cut several
axes; plans cut one.  A loop whose body is element-wise on its state is cut as one structured phase (`merged_loop_body`), since
each element runs through all iterations by itself.

Phases with run-time sizes are not cut, nor a sort along its axis, nor a reduction with a non-associative function.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Final

from ....lang.support.records import dataclass, replace
from ....typechecker import elements
from ....typechecker.sizes.polynomials import Size
from ...graph import traverse
from ...graph.bind_sizes import BoundGraph, KnownValues
from ...graph.fusion_groups import merge_elementwise_loop
from ...graph.phases import (
    IDENTITY,
    AxisKind,
    Branch,
    Constant,
    Fold,
    Graph,
    Input,
    LibraryPhase,
    Loop,
    Map,
    Output,
    Phase,
    PhaseId,
    Print,
    Read,
    Structured,
    ValueId,
    box_needed,
)
from ...graph.symbolic_costs import Types, reduced_axes
from ...scalar.function_table import REDUCTIONS
from ..plan.plan import (
    Box,
    DeviceId,
    ExecutionPlan,
    JoinStep,
    LoopStateStorage,
    LoopStep,
    PlannedRegion,
    RunStep,
    Step,
    SubPlan,
    TransferStep,
)

if TYPE_CHECKING:
    from ...graph.partial_graphs import LoopIteration
    from ...lower.region import Region
    from ...lower.scope import NotLowerable

# ---------------------------------------------------------------------------------------------------- partitioning

BLOCK: Final = 4096
"""Elements of a block of the order of sums: 16 rows of 256 lanes (phases.md, "Order of sums")."""
MAX_READER_PAIRS: Final = 200_000
"""Pieces × transfers of a value on a device up to which each piece ends with its own readers."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A phase cut along `axis` of its box (iteration axis, or of a library phase: result axis, then reduced axis), of `size`
    points, at multiples of `grain`.  `combines`: the shards make partial results."""

    axis: int
    size: int
    grain: int = 1
    combines: bool = False

    @property
    def rows(self) -> int:
        """Rows that a scheduler distributes: grains, the last perhaps short."""
        return -(-self.size // self.grain)

    def interval(self, first: int, stop: int) -> tuple[int, int]:
        """The points of rows [first, stop)."""
        return first * self.grain, min(stop * self.grain, self.size)


def constant_sizes(sizes: Iterable[Size]) -> tuple[int, ...] | None:
    """Sizes as numbers; None if one is known only when run."""
    constants = [size.constant for size in sizes]
    return None if any(n is None for n in constants) else tuple(n for n in constants if n is not None)


def shape_of(value: ValueId, types: Types) -> tuple[int, ...] | None:
    return constant_sizes(types[value].shape)


def full_box(shape: Sequence[int]) -> Box:
    return tuple((0, size) for size in shape)


def merged_loop_body(phase: Phase, types: Types) -> Phase:
    """A loop with an element-wise body as one structured phase, whose first reads are the loop's initial states; any other phase
    unchanged."""
    if not isinstance(phase, Loop) or phase.trip.constant is None:
        return phase
    for of_types, merged in phase.merged:
        if of_types is types:
            return merged
    iteration = merge_elementwise_loop(phase, lambda value: types[value].element.kind, lambda value: types[value].shape)
    merged = phase
    if iteration is not None:
        reads = (*(Read(value, IDENTITY) for value in phase.initial), *iteration.reads[len(phase.initial) :])
        merged = replace(iteration, reads=reads)
    phase.merged[:] = [(types, merged)]
    return merged


def reads_of(phase: Phase, types: Types) -> tuple[ValueId, ...]:
    """The values of the boxes of `operand_boxes`, in order."""
    return traverse.operands(merged_loop_body(phase, types))


def space_of(phase: Phase, types: Types) -> tuple[int, ...] | None:
    """The extents of the space that boxes of the phase divide; None if the phase has no boxes or an extent is unknown."""
    phase = merged_loop_body(phase, types)
    match phase:
        case Structured():
            return constant_sizes(axis.size for axis in phase.axes)
        case LibraryPhase() if phase.results:
            shape = shape_of(phase.results[0], types)
            return None if shape is None else (*shape, *(size for size, _ in reduced_axes(phase, types)))
        case _:
            return None


def joining_function(phase: Structured | LibraryPhase, value: ValueId) -> str:
    """The function that joins partial results of one result."""
    if isinstance(phase, LibraryPhase):
        return next(one.combine for one in phase.signature if one.combine is not None)
    function = next(r.reduction for r in phase.results if r.value == value)
    assert function is not None
    return function


def cuts_of(phase: Phase, types: Types) -> tuple[Cut, ...]:
    """Every way to cut the phase along one axis into two rows or more."""
    phase = merged_loop_body(phase, types)
    space = space_of(phase, types)
    values = (*traverse.operands(phase), *traverse.results(phase))
    if space is None or 0 in space or any(shape_of(value, types) is None for value in values):
        return ()
    match phase:
        case Structured():
            candidates = [_structured_cut(phase, types, axis, size) for axis, size in enumerate(space)]
            return tuple(cut for cut in candidates if cut is not None and cut.rows > 1)
        case LibraryPhase():
            if phase.defines:
                return ()
            axes = dict.fromkeys(s.result for s in phase.signature if s.result is not None and s.combine is None)
            reduced = range(len(space) - len(reduced_axes(phase, types)), len(space))
            cuts = (*(Cut(axis, space[axis]) for axis in axes), *(Cut(axis, space[axis], 1, True) for axis in reduced))
            return tuple(cut for cut in cuts if cut.size > 1)
        case _:
            return ()


def axes_of(phase: Phase, types: Types) -> tuple[int, ...]:
    """The axes along which a phase may be cut, or the rows of an input may lie."""
    if isinstance(phase, Input):
        return tuple(axis for axis, size in enumerate(shape_of(phase.result, types) or ()) if size > 1)
    return tuple(cut.axis for cut in cuts_of(phase, types))


def reason_not_cut(phase: Phase, types: Types) -> str:
    """The reason why a phase has no cuts; empty where it is too small to cut, or an input, print or output."""
    from ...graph.partial_graphs import is_divisible

    phase = merged_loop_body(phase, types)
    values = (*traverse.operands(phase), *traverse.results(phase))
    if isinstance(phase, Input | Constant | Print | Output):
        return ""
    if isinstance(phase, Loop):
        return "a loop whose iterations one device runs"
    if isinstance(phase, Branch):
        return "a choice of which one device runs the arm"
    if isinstance(phase, Map | Fold):
        kind = "scan" if isinstance(phase, Fold) and phase.scan else type(phase).__name__.lower()
        return f"a {kind} with a function of its own"
    if isinstance(phase, LibraryPhase) and phase.op in ("compress", "join_runs"):
        return "a selection in one pass" if is_divisible(phase, types) else "its size is known only when it runs"
    if traverse.defines(phase) or any(shape_of(value, types) is None for value in values):
        return "its sizes are known only when it runs"
    if all(prod(shape_of(value, types) or ()) <= 1 for value in values):
        return ""
    if isinstance(phase, Structured):
        parallel = any(axis.kind is AxisKind.PARALLEL and axis.size.constant != 1 for axis in phase.axes)
        reduced = any(axis.kind is AxisKind.REDUCE and (axis.size.constant or 0) > 1 for axis in phase.axes)
        return "its function does not join partial results" if reduced and not parallel else ""
    if phase.op == "scan_before":
        return ""
    name = _OPERATIONS.get(phase.op, phase.op)
    if is_divisible(phase, types):
        return f"a {name} in one pass"
    if phase.op == "key_reduce" and elements.is_ordered(str(phase.attributes["function"]), types[phase.results[0]].element.kind):
        return "each bin is joined in the order of its items"
    if phase.op == "key_reduce" or any(one.combine is not None for one in phase.signature):
        return "its function does not join partial results"
    return f"no cut of a {name} is known"


_OPERATIONS: Final = {"index_of": "look-up", "member_of": "look-up", "grade_by": "grade"}


def _structured_cut(phase: Structured, types: Types, axis: int, size: int) -> Cut | None:
    if phase.axes[axis].kind is AxisKind.PARALLEL:
        return Cut(axis, size)
    if any(result.reduction not in REDUCTIONS for result in phase.results):
        return None
    return Cut(axis, size, BLOCK if any(is_ordered(phase, r.value, types) for r in phase.results) else 1, True)


def is_ordered(phase: Structured | LibraryPhase, value: ValueId, types: Types) -> bool:
    """Do the bits of this result depend on the order of sums?"""
    if isinstance(phase, LibraryPhase):
        return False  # the cut reduced axis combines exactly in any order
    function = next(r.reduction for r in phase.results if r.value == value)
    return elements.is_ordered(function or "", types[value].element.kind)


def is_cut_in_sums(phase: Phase, types: Types, boxes: Sequence[Box]) -> bool:
    """Do boxes of a phase divide an axis that it reduces?"""
    match phase:
        case Structured() if any(result.reduction is not None for result in phase.results):
            reduced = [phase.axes[-1].size.constant or 0]
        case LibraryPhase():
            reduced = [size for size, _ in reduced_axes(phase, types)]
        case _:
            return False
    return any(part != (0, size) for box in boxes for part, size in zip(box[len(box) - len(reduced) :], reduced, strict=True))


def box_along_axis(shape: Sequence[int], along: int | None, interval: tuple[int, int]) -> Box:
    """The box with `interval` along one axis and all of the others; `along` None: all of every axis."""
    return tuple(interval if axis == along else (0, size) for axis, size in enumerate(shape))


def box_of(cut: Cut, space: Sequence[int], first: int, stop: int) -> Box:
    """The box of rows [first, stop)."""
    return box_along_axis(space, cut.axis, cut.interval(first, stop))


def operand_boxes(phase: Phase, types: Types, box: Box) -> tuple[Box, ...]:
    """The box of each operand that a box of the phase reads, one a read of a structured phase, one an argument otherwise."""
    phase = merged_loop_body(phase, types)
    match phase:
        case Structured():
            space = [stop - start for start, stop in box]
            return tuple(box_needed(space, read.projection, box) for read in phase.reads)
        case LibraryPhase():
            return tuple(_argument_box(phase, types, index, box) for index in range(len(phase.args)))
        case _:
            return tuple(_all_of(value, types) for value in traverse.operands(phase))


def _argument_box(phase: LibraryPhase, types: Types, index: int, box: Box) -> Box:
    """The box of an argument: axes that the signature cuts with the result take its interval, the others are whole."""
    argument_box = list(_all_of(phase.args[index], types))
    results = _all_of(phase.results[0], types)
    for signature in phase.signature:
        axis = signature.operands[index]
        if signature.result is not None and axis is not None and box[signature.result] != results[signature.result]:
            part, (_, size), (_, extent) = box[signature.result], results[signature.result], argument_box[axis]
            argument_box[axis] = signature.operand_part(part, size, extent)
    for part, (_, signature) in zip(box[len(results) :], reduced_axes(phase, types), strict=True):
        axis = signature.operands[index]
        if axis is not None:
            argument_box[axis] = part
    return tuple(argument_box)


def _all_of(value: ValueId, types: Types) -> Box:
    shape = shape_of(value, types)
    assert shape is not None, "only phases of known sizes are cut"
    return full_box(shape)


def result_boxes(phase: Phase, types: Types, box: Box) -> tuple[Box, ...]:
    """The box of each result that a box of the phase computes (of a reduction: once its partial results are combined)."""
    phase = merged_loop_body(phase, types)
    match phase:
        case Structured():
            return (box[: sum(a.kind is AxisKind.PARALLEL for a in phase.axes)],) * len(phase.results)
        case LibraryPhase():
            first = _all_of(phase.results[0], types)
            cut = {axis: part for axis, part in enumerate(box[: len(first)]) if part != first[axis]}
            return tuple(
                tuple(cut.get(axis, extent) for axis, extent in enumerate(_all_of(value, types))) for value in phase.results
            )
        case _:
            return tuple(_all_of(value, types) for value in traverse.results(phase))


def boxes_overlap(a: Box | None, b: Box | None) -> bool:
    """Do two boxes of a value overlap?  None is all of it; equal boxes overlap, even if empty."""
    return a is None or b is None or a == b or all(max(p[0], q[0]) < min(p[1], q[1]) for p, q in zip(a, b, strict=True))


def is_inside(box: Box, outer: Box) -> bool:
    """Has one box all that another has?"""
    return all(low <= start and stop <= high for (start, stop), (low, high) in zip(box, outer, strict=True))


# ------------------------------------------------------------------------------ partial results


def subtrees(first: int, stop: int, blocks: int) -> tuple[tuple[int, int], ...]:
    """The largest whole subtrees, as intervals of blocks, of the tree over `blocks` blocks that make up [first, stop).

    Node i at height h covers those of the blocks [i×2ʰ, (i+1)×2ʰ) that exist.  Summing a node by itself gives the same bits as
    the node has within the full sum."""
    intervals: list[tuple[int, int]] = []
    while first < stop:
        size = 1
        while first % (2 * size) == 0 and (first + 2 * size <= stop or stop == blocks):
            size *= 2
            if first + size >= stop:
                break
        intervals.append((first, min(first + size, stop)))
        first += size
    return tuple(intervals)


def max_subtrees(blocks: int) -> int:
    """The most subtrees that any interval of these blocks divides into."""
    return max(1, 2 * (blocks - 1).bit_length() - 1) if blocks > 1 else 1


# ---------------------------------------------------------------------------------------------------- distributed loops
#
# Distributed loops of a plan: the queues that take part, and the iteration that the plan's body is of.

Part = tuple[int, LoopStep | JoinStep]
"""A queue's index, and its step of a distributed loop."""


@dataclass(frozen=True, slots=True)
class SharedLoop:
    """A distributed loop as the queues of a plan run it: its `LoopStep`, its iteration and epilogue, and all its steps."""

    step: LoopStep
    iteration: LoopIteration
    epilogue: LoopIteration | None
    parts: tuple[Part, ...]

    def rows_on(self, plan: ExecutionPlan) -> dict[DeviceId, tuple[int, int]]:
        return {plan.main.queues[which].device: step.rows for which, step in self.parts if step.rows is not None}

    def boxes(self, rows: tuple[int, int]) -> list[Box]:
        """The box of each state on a device that has those rows."""
        return [box_of_state(self.iteration, index, rows) for index in range(len(self.iteration.axes))]


def box_of_state(iteration: LoopIteration, index: int, rows: tuple[int, int]) -> Box:
    """Rows of a state, or all of it where it is not cut."""
    shape = [size.constant or 0 for size in iteration.bound.graph.types[iteration.next[index]].shape]
    return box_along_axis(shape, iteration.axes[index], rows)


def is_shared(step: Step) -> bool:
    return isinstance(step, JoinStep) or (isinstance(step, LoopStep) and step.rows is not None)


def shared_loops(plan: ExecutionPlan, bound: BoundGraph) -> dict[PhaseId, SharedLoop]:
    """The distributed loops of a plan."""
    from ...graph.partial_graphs import exit_graph, iteration_of

    parts_of_loop: dict[PhaseId, list[Part]] = {}
    for which, queue in enumerate(plan.main.queues):
        for step in queue.steps:
            if isinstance(step, LoopStep | JoinStep) and is_shared(step):
                parts_of_loop.setdefault(step.phase, []).append((which, step))
    phases = {phase.id: phase for phase in bound.graph.phases}
    axes = {spread.phase: spread.axes for spread in plan.spread}
    result: dict[PhaseId, SharedLoop] = {}
    for id, parts in parts_of_loop.items():
        phase, states = phases.get(id), [step for _, step in parts if isinstance(step, LoopStep)]
        known = isinstance(phase, Loop) and len(states) == 1 and len(axes.get(id, ())) == len(phase.initial)
        if known and isinstance(phase, Loop) and _is_partitionable(phase, axes[id], bound):
            iteration = iteration_of(bound, phase, axes[id])
            result[id] = SharedLoop(states[0], iteration, exit_graph(bound, phase, iteration) if None in iteration.axes else None,
                tuple(parts))
    return result


def _is_partitionable(loop: Loop, axes: Sequence[int | None], bound: BoundGraph) -> bool:
    ranks = [len(bound.graph.types[value].shape) for value in loop.initial]
    return loop.trip.constant is not None and all(axis is None or axis < rank for axis, rank in zip(axes, ranks, strict=True))


def iteration_ticks(plan: SubPlan) -> int:
    """The ticks of an iteration: the end of its last step."""
    steps = [step for queue in plan.queues for step in queue.steps]
    ends = (step.arrive if isinstance(step, TransferStep) else getattr(step, "end", 0) for step in steps)
    return max(ends, default=0)


# ---------------------------------------------------------------------------------------------------- storage devices
#
# The devices of a plan that are stores, and the values in them: inputs by name, outputs by `output NAME`.

STORE: Final = "store"
"""The back end name of stores."""


def stores_of(plan: ExecutionPlan) -> tuple[DeviceId, ...]:
    return tuple(device.id for device in plan.devices if device.backend == STORE)


def stored_value(phase: Phase) -> tuple[str, ValueId] | None:
    """The name and the value of an input or output, which may be in a store; None for other phases."""
    match phase:
        case Input():
            return phase.name, phase.result
        case Output():
            return output_store_name(phase.name), phase.arg
        case _:
            return None


def exchanged_values(bound: BoundGraph) -> frozenset[ValueId]:
    """The values that home has before or after the run: other devices receive the former from home and send it the latter."""
    here = [one for one in map(stored_value, bound.graph.phases) if one is not None and one[0] not in bound.stores]
    printed = (phase.arg for phase in bound.graph.phases if isinstance(phase, Print))
    return frozenset((*(value for _, value in here), *printed))


def output_store_name(output: str) -> str:
    return f"output {output}"


def stored_on(plan: ExecutionPlan, bound: BoundGraph) -> dict[str, str]:
    """The store of each stored input and output, by name."""
    stores = stores_of(plan)
    if not stores:
        return {}
    names = {phase.id: files[0] for phase in bound.graph.phases if (files := stored_value(phase)) is not None}
    return {
        names[step.phase]: str(queue.device) for queue in plan.main.queues if queue.device in stores
        for step in queue.steps if isinstance(step, RunStep) and step.phase in names
    }  # fmt: skip


# ---------------------------------------------------------------------------------------------------- compiled regions
#
# The outermost loops, folds, scans and maps of a program: compiled as one region, or the reason why not.

def regions_of(graph: Graph, spread: Container[PhaseId] = ()) -> tuple[PlannedRegion, ...]:
    """The regions in program order; distributed loops (`spread`) are not among them."""
    return tuple(_planned(phase, lowered) for phase, lowered in lowered_loops(graph) if phase.id not in spread)


def lowered_loops(graph: Graph) -> Iterator[tuple[Loop | Fold | Map, Region | NotLowerable]]:
    """Each outermost loop, fold and map with its region, or the reason why there is none."""
    from ...loopir.facts import estimate_iteration
    from ...lower.region import lower_region
    from ...lower.scope import NotLowerable
    from ...transform.pipeline import runs_in_tiles

    known = KnownValues(traverse.all_phases(graph), graph.types)
    for phase in _outermost(graph.phases):
        try:
            region = lower_region(phase, graph.types, graph.guards, known)
        except NotLowerable as unsupported:
            yield phase, unsupported
            continue
        in_tiles = partial(runs_in_tiles, region.program)
        is_one = estimate_iteration(phase, graph.types).is_for_region(calls=region.calls, in_tiles=in_tiles)
        yield phase, region if is_one else NotLowerable("they are large, and have all threads")


def _planned(phase: Loop | Fold | Map, lowered: Region | NotLowerable) -> PlannedRegion:
    from ...lower.scope import NotLowerable

    if isinstance(lowered, NotLowerable):
        return PlannedRegion(phase.id, (), False, str(lowered))
    states = tuple(LoopStateStorage.TWO_BUFFERS if doubled else LoopStateStorage.IN_PLACE for doubled in lowered.states)
    return PlannedRegion(phase.id, states, lowered.cells, "")


def _outermost(phases: tuple[Phase, ...]) -> Iterator[Loop | Fold | Map]:
    for phase in phases:
        match phase:
            case Loop() | Fold() | Map():
                yield phase
            case Branch():
                yield from _outermost(phase.then.phases)
                yield from _outermost(phase.otherwise.phases)
            case _:
                pass
