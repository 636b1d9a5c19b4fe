"""Parts of a graph that are planned and run by themselves: the phase of one shard, and the graph of one iteration of a loop.

A phase that is restricted to a box reads just the boxes of its operands that the shard has.  It is an ordinary phase, so every
back end runs it with the kernels it has.  Its operands are renumbered -1, -2, …, one a read, because one value may be read
through two boxes.

The phases of an iteration are, in order: one *entry* for each state (a copy of the loop's initial state into the body's
parameter; in later iterations the state is there already); the body; and a *carry* for each next state that no phase of the
body alone makes.  `exit_graph` runs after the last iteration: it copies the states to the loop's full results.  The graph is a
function of the program's graph, the loop and the axes alone, so that a worker builds the planner's graph again.

Note [Restricted projections].  A projection first adds the box's origin and finally subtracts the origin of the operand's box;
each stage between is rewritten for the box that reaches it.  A stage that fills still reads fills outside: the operand's box is
the bounding box clipped to the operand, so a point outside the box lies outside the operand.  A reshape can be narrowed where
both its sides, group of axes by group of axes, are the same contiguous run of points in row-major order, or where one side's
run contains the other's.  Otherwise the shard reads the operand in its full shape, of which only the box has data
(`Restricted.is_unnarrowed`).

Note [Rotations].  Along the axis that states are cut along, a join, or a rotation by a known amount, becomes a structured phase
that reads its operands at offset indices, so that a shard needs only a halo of a few rows and fusion can merge the phase with
its readers.  The rows that a rotation wraps around from the other end are a separate phase (`LoopIteration.wraparounds`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count, pairwise
from math import prod
from typing import Final

from ...lang.support.records import dataclass, field, replace
from ...lang.syntax.source import Span
from ...typechecker.elements import ArrayType, Element, Kind, is_exact_in_any_order
from ...typechecker.sizes.polynomials import Size, number
from ..scalar.function_table import REDUCTIONS
from . import traverse
from .bind_sizes import BoundGraph
from .passes.masked_reductions import divide_selections, is_long_selection
from .passes.pipeline import optimise
from .passes.rewriting import phase_may_fail
from .phases import (
    IDENTITY,
    Affine,
    AffineIndex,
    ApplyNode,
    Axis,
    AxisKind,
    AxisNode,
    Box,
    Branch,
    Constant,
    ConstantNode,
    Graph,
    Input,
    LibraryPhase,
    Loop,
    Node,
    Output,
    Phase,
    PhaseId,
    PhaseResult,
    Print,
    Projection,
    Read,
    ReadNode,
    Reshaped,
    Stage,
    Structured,
    SubGraph,
    Term,
    ValueId,
    affine,
    axis_index,
    box_needed,
    frame_of,
    needed_positions,
    simplify,
    sizes_of,
)
from .registry import SCAN_BLOCK, signature_of
from .scratch import SORTED_RUNS
from .traverse import all_phases, defines, fresh_id, subgraphs


def box_view(
    id: PhaseId, span: Span, value: ValueId, source_shape: Sequence[Size], starts: Sequence[int], type: ArrayType, result: ValueId
) -> Structured:  # fmt: skip
    """The phase that copies a box of `value`, whose shape is `source_shape`: the box has the shape of `type` and starts at
    `starts`."""
    indices = tuple(AffineIndex((Term(axis, 1),), number(start)) for axis, start in enumerate(starts))
    read = Read(value, Projection((Affine(indices, tuple(source_shape)),)))
    axes = tuple(Axis(size, AxisKind.PARALLEL) for size in type.shape)
    return Structured(id, span, axes, (read,), (ReadNode(0, type.element.kind),), (PhaseResult(result, 0, None),))


@dataclass(frozen=True, slots=True)
class Restricted:
    """`phase` reads operand i as value -1-i.  `boxes`, by operand, are the parts that it reads; `is_unnarrowed[i]`: operand i has
    its full shape, of which only the box matters."""

    phase: Structured
    boxes: tuple[Box, ...]
    is_unnarrowed: tuple[bool, ...]


def restrict(
    phase: Structured, box: Box, available: Sequence[Box] | None = None, moving: Mapping[int, ValueId] | None = None
) -> Restricted:  # fmt: skip
    """The phase on `box` of its iteration space.  Sizes are numbers; the box is not empty.

    `available`: by read, the operand's box that the shard holds; it contains the box that the read needs (None: it is just that
    box).  `moving`: axes whose origin is an i64 read at run time instead of the box's, so that one phase serves all boxes along
    them."""
    extents = tuple(stop - start for start, stop in box)
    reads: list[Read] = []
    boxes: list[Box] = []
    unnarrowed: list[bool] = []
    for position, read in enumerate(phase.reads):
        needed = box_needed(extents, read.projection, box) if available is None else available[position]
        narrow = _narrowed(read.projection, box, needed)
        unnarrowed.append(narrow is None)
        boxes.append(needed)
        if narrow is None:
            narrow = (_from_box(box, [axis.size for axis in phase.axes]), *read.projection.stages)
        reads.append(Read(ValueId(-1 - position), simplify(sizes_of(extents), narrow)))
    axes = tuple(Axis(number(size), axis.kind) for size, axis in zip(extents, phase.axes, strict=True))
    origins = {axis: _ShardOrigin(len(phase.reads) + position, value) for position, (axis,
        value) in enumerate((moving or {}).items())}
    no_axes = Projection((Affine((), ()),))
    reads += [Read(origin.value, simplify(sizes_of(extents), no_axes.stages)) for origin in origins.values()]
    body, new_index = _body(phase.body, [start for start, _ in box], {axis: one.read for axis, one in origins.items()})
    results = tuple(PhaseResult(r.value, new_index[r.node], r.reduction) for r in phase.results)
    return Restricted(replace(phase, axes=axes, reads=tuple(reads), body=body, results=results), tuple(boxes), tuple(unnarrowed))


@dataclass(frozen=True, slots=True)
class _ShardOrigin:
    """The origin of a box along an axis as a run-time value, and the index of the read that reads it."""

    read: int
    value: ValueId


def _from_box(box: Box, shape: Sequence[Size]) -> Affine:
    """From the coordinates of the box to those of the full space."""
    return Affine(tuple(AffineIndex((Term(a, 1),), number(start)) for a, (start, _) in enumerate(box)), tuple(shape))


def _narrowed(projection: Projection, box: Box, needed: Box) -> tuple[Stage, ...] | None:
    """The stages rewritten for the boxes that reach them; None where a reshape does not allow it."""
    stages: list[Stage] = []
    current, extents = box, [stop - start for start, stop in box]
    if not projection.stages and needed != box:
        points = tuple(AffineIndex((Term(axis, 1),), number(0)) for axis in range(len(box)))
        return (_between(Affine(points, _extents(box)), box, needed),)
    for position, stage in enumerate(projection.stages):
        reached = box_needed(extents, Projection((stage,)), current)
        if position == len(projection.stages) - 1:
            reached = needed
        if any(start >= stop for start, stop in reached):
            return (*stages, _outside(needed)) if needed else None
        match stage:
            case Affine():
                stages.append(_between(stage, current, reached))
            case Reshaped():
                source, target = [_value(n) for n in stage.source], [_value(n) for n in stage.target]
                if _same_run(source, current, target, reached):
                    stages.append(Reshaped(_extents(current), _extents(reached)))
                    current = reached
                    continue
                inside, outside = _run(source, current), _run(target, reached)
                if inside is None or outside is None or inside[0] < outside[0] or outside[1] < inside[1]:
                    return None
                count, room = number(inside[1] - inside[0]), number(outside[1] - outside[0])
                along = AffineIndex((Term(0, 1),), number(inside[0] - outside[0]))
                stages += [Reshaped(_extents(current), (count,)), Affine((along,), (room,)), Reshaped((room,), _extents(reached))]
        current = reached
    return tuple(stages)


def _outside(needed: Box) -> Affine:
    """A filling stage into a box without points: index 0 lies outside along the axes on which the box has no extent."""
    return Affine(tuple(AffineIndex((), number(0)) for _ in needed), _extents(needed), True)


def _between(stage: Affine, source: Box, target: Box) -> Affine:
    """An affine stage from coordinates of one box to coordinates of another."""
    indices = []
    for index, (origin, _) in zip(stage.indices, target, strict=True):
        start = _value(index.constant) + sum(term.coefficient * source[term.axis][0] for term in index.terms)
        indices.append(AffineIndex(index.terms, number(start - origin)))
    return Affine(tuple(indices), _extents(target), stage.fills)


def _same_run(source: Sequence[int], box: Box, target: Sequence[int], reached: Box) -> bool:
    """Are two boxes, group of axes by group of axes, the same row-major run of points?"""
    if 0 in source:
        return True
    for left, right in _groups(source, target):
        a = _run([source[i] for i in left], [box[i] for i in left])
        b = _run([target[i] for i in right], [reached[i] for i in right])
        if a is None or a != b:
            return False
    return True


def _groups(source: Sequence[int], target: Sequence[int]) -> list[tuple[range, range]]:
    """The shortest groups of leading axes with equal products, one after the other: (2, 3, 4) and (6, 4) give
    2×3 = 6 and 4 = 4."""
    groups: list[tuple[range, range]] = []
    i = j = first = second = 0
    left = right = 1
    while i < len(source) or j < len(target):
        if (left <= right and i < len(source)) or j == len(target):
            left *= source[i]
            i += 1
        else:
            right *= target[j]
            j += 1
        if left == right and i > first and j > second:
            groups.append((range(first, i), range(second, j)))
            first, second, left, right = i, j, 1, 1
    if first < i or second < j:
        groups.append((range(first, i), range(second, j)))
    return groups


def _run(extents: Sequence[int], box: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The row-major interval of a box's points; None if they are not contiguous."""
    first = last = 0
    for size, (start, stop) in zip(extents, box, strict=True):
        first, last = first * size + start, last * size + stop - 1
    count = prod(stop - start for start, stop in box)
    return (first, last + 1) if last + 1 - first == count else None


def _body(nodes: Sequence[Node], origin: Sequence[int], moving: Mapping[int, int]) -> tuple[tuple[Node, ...], list[int]]:
    """The body with coordinates of the full space, and by old node index the new one."""
    body: list[Node] = []
    new_index: list[int] = []
    for node in nodes:
        if isinstance(node, ApplyNode):
            node = replace(node, args=tuple(new_index[arg] for arg in node.args))
        body.append(node)
        if isinstance(node, AxisNode) and (origin[node.axis] or node.axis in moving):
            read = moving.get(node.axis)
            body.append(ConstantNode(Kind.I64, origin[node.axis]) if read is None else ReadNode(read, Kind.I64))
            body.append(ApplyNode("add", (len(body) - 2, len(body) - 1), Kind.I64))
        new_index.append(len(body) - 1)
    return tuple(body), new_index


def _extents(box: Box) -> tuple[Size, ...]:
    return tuple(number(stop - start) for start, stop in box)


def _value(size: Size) -> int:
    value = size.constant
    if value is None:
        raise ValueError(f"size {size} is not known")
    return value


# ----------------------------------------------------------------------------------------------- iterations

IDS_PER_LOOP: Final = 1 << 20
"""Ids of values and phases that the iterations of one loop may take."""
StateAxes = tuple[int | None, ...]
"""By state: the axis that it is cut along; None where the client holds all of it."""


@dataclass(frozen=True, slots=True)
class LoopIteration:
    """The graph of one iteration: `bound` has its phases, the first of which, one a state, are the entries.

    `next`: the values that are the states of the next iteration.  `wraparounds`: the phases that copy the rows which a rotation
    wraps around.  `stop`: the value that says whether this iteration was the last (None: the loop has no `until`)."""

    loop: Loop
    axes: StateAxes
    bound: BoundGraph
    next: tuple[ValueId, ...]
    wraparounds: tuple[PhaseId, ...] = ()
    stop: ValueId | None = None

    @property
    def live_out(self) -> frozenset[ValueId]:
        """The values that are read after the iteration."""
        return frozenset(self.next if self.stop is None else (*self.next, self.stop))


def is_distributable(loop: Loop, graph: Graph) -> bool:
    """Can several devices run the loop's iterations together?

    The number of iterations and all sizes are numbers, and nothing of an iteration is visible before the loop's end: no print,
    no stacked states, no branch."""
    trip = loop.trip.constant
    if trip is None or trip < 1 or loop.keep or not loop.initial or not loop.is_plain:
        return False
    if loop.until is not None and any(traverse.subgraphs(phase) for phase in loop.until.phases):
        return False
    inner = [loop, *(phase for block in traverse.subgraphs(loop) for phase in traverse.all_phases(block))]
    if any(isinstance(phase, Print | Output | Input | Branch) or traverse.defines(phase) for phase in inner):
        return False
    values = {v for phase in inner for v in (*traverse.operands(phase), *traverse.results(phase))}
    return all(size.constant is not None for value in values for size in graph.types[value].shape)


def captured(loop: Loop) -> tuple[ValueId, ...]:
    """The values from outside a loop that its blocks read."""
    blocks = traverse.subgraphs(loop)
    inner = [phase for block in blocks for phase in traverse.all_phases(block)]
    defined = {v for block in (*blocks, *(g for phase in inner for g in traverse.subgraphs(phase))) for v in block.params}
    defined |= {v for phase in inner for v in traverse.results(phase)}
    used = (v for block in blocks for phase in block.phases for v in traverse.uses(phase))
    return tuple(v for v in dict.fromkeys((*used, *(v for block in blocks for v in block.results))) if v not in defined)


def iteration_of(bound: BoundGraph, loop: Loop, axes: StateAxes) -> LoopIteration:
    """One iteration of a loop of the graph, with its states cut along `axes` (one entry a state)."""
    builder = _IterationBuilder(bound, loop, axes)
    body = builder.fused_body()
    entries = [builder.copy(old, new) for old, new in zip(loop.initial, loop.body.params, strict=True)]
    producer_of = {value: phase for phase in body.phases for value in traverse.results(phase)}
    cut_of: dict[PhaseId, int | None] = {}
    phases: list[Phase] = [*entries, *body.phases]
    next: list[ValueId] = []
    for value, axis in zip(loop.body.results, axes, strict=True):
        phase = producer_of.get(value)
        if phase is None or value in next or not _can_yield(phase, axis) or cut_of.setdefault(phase.id, axis) != axis:
            carried = builder.new_value(body.types[value])
            phases.append(builder.copy(value, carried))
            value = carried
        next.append(value)
    stop = builder.stop
    if stop is not None and (
        stop not in producer_of or stop in next or cut_of.setdefault(producer_of[stop].id, None) is not None
    ):
        stop = builder.new_value(body.types[stop])
        phases.append(builder.copy(builder.stop or stop, stop))
    graph = replace(body, phases=tuple(phases), types={**body.types, **builder.types}, roots=frozenset())
    return LoopIteration(loop, axes, replace(bound, graph=graph), tuple(next), tuple(builder.wraparounds), stop)


def exit_graph(bound: BoundGraph, loop: Loop, iteration: LoopIteration) -> LoopIteration:
    """Returns the graph that runs after the last iteration: it copies the states to the loop's full results on the client."""
    builder = _IterationBuilder(bound, loop, iteration.axes)
    builder.last_value = max(builder.last_value, *map(int, iteration.bound.graph.types))
    builder.last_phase = max(builder.last_phase, *(int(phase.id) for phase in traverse.all_phases(iteration.bound.graph)))
    builder.types |= iteration.bound.graph.types
    entries = [builder.copy(old, new) for old, new in zip(iteration.next, loop.body.params, strict=True)]
    copies = [builder.copy(old, new) for old, new in zip(loop.body.params, loop.results, strict=True)]
    graph = replace(bound.graph, phases=(*entries, *copies), types={**iteration.bound.graph.types, **builder.types},
        roots=frozenset())
    return LoopIteration(loop, iteration.axes, replace(bound, graph=graph), loop.results)


def _can_yield(phase: Phase, axis: int | None) -> bool:
    """Can the phase's result stay cut along `axis` as the next state (None: the client holds all of it)?"""
    match phase:
        case Structured():
            return axis is None or phase.axes[axis].kind is AxisKind.PARALLEL
        case LibraryPhase():
            cut = any(one.result == axis and one.combine is None for one in phase.signature)
            return axis is None or (cut and phase.op != "random")
        case _:
            return axis is None and not isinstance(phase, Constant)


@dataclass(slots=True)
class _IterationBuilder:
    """Builds the phases and values of an iteration, with ids that occur nowhere in the program."""

    outer: BoundGraph
    loop: Loop
    axes: StateAxes
    types: dict[ValueId, ArrayType] = field(default_factory=dict)
    wraparounds: list[PhaseId] = field(default_factory=list)
    roots: list[ValueId] = field(default_factory=list)
    stop: ValueId | None = None
    last_value: int = 0
    last_phase: int = 0

    def __post_init__(self) -> None:
        graph = self.outer.graph
        loops = [phase.id for phase in traverse.all_phases(graph) if isinstance(phase, Loop)]
        first_id = IDS_PER_LOOP * loops.index(self.loop.id)  # ids of different loops are disjoint
        self.last_value = first_id + max(map(int, graph.types), default=0)
        self.last_phase = first_id + max((int(phase.id) for phase in traverse.all_phases(graph)), default=0)

    def new_value(self, type: ArrayType) -> ValueId:
        self.last_value += 1
        self.types[ValueId(self.last_value)] = type
        return ValueId(self.last_value)

    def phase_id(self) -> PhaseId:
        self.last_phase += 1
        return PhaseId(self.last_phase)

    def type(self, value: ValueId) -> ArrayType:
        return self.types[value] if value in self.types else self.outer.graph.types[value]

    def copy(self, source: ValueId, target: ValueId) -> Structured:
        type = self.type(source)
        return self.structured(self.phase_id(), type.shape, (Read(source, IDENTITY),), (ReadNode(0, type.element.kind),), target)

    def structured(
        self, id: PhaseId, shape: Sequence[Size], reads: Sequence[Read], body: Sequence[Node], result: ValueId
    ) -> Structured:
        axes = tuple(Axis(size, AxisKind.PARALLEL) for size in shape)
        return Structured(id, self.loop.span, axes, tuple(reads), tuple(body), (PhaseResult(result, len(body) - 1, None),))

    # ------------------------------------------------------------------------------ the body

    def fused_body(self) -> Graph:
        """The body with joins and rotations along the cut axis lowered to structured phases, and fused again."""
        loop, graph = self.loop, self.outer.graph
        phases: list[Phase] = []
        makers: dict[ValueId, Phase] = {}
        until = () if loop.until is None else loop.until.phases
        for phase in (*self.constants(), *loop.body.phases, *until):
            for value in traverse.results(phase):
                makers[value] = phase
        for phase in (*loop.body.phases, *self.until()):
            phases += self.lower_shift(phase, makers)
        outside = dict.fromkeys((*loop.body.params, *captured(loop)))
        stand_ins = [Input(self.phase_id(), loop.span, f"state {value}", value) for value in outside]
        next_values = loop.body.results if self.stop is None else (*loop.body.results, self.stop)
        next = [value for value in next_values if value not in outside]
        joint = replace(
            graph, phases=(*stand_ins, *phases), types={**graph.types, **self.types}, inputs=(), params=(), guards=(),
            names={}, roots=frozenset((*self.roots, *next)),
        )  # fmt: skip
        optimised = optimise(joint, frozenset({"invariants"}))
        self.last_value = max(self.last_value, *map(int, optimised.types))
        self.last_phase = max(self.last_phase, *(int(phase.id) for phase in traverse.all_phases(optimised)))
        remaining = tuple(phase for phase in optimised.phases if not isinstance(phase, Input))
        return replace(graph, phases=remaining, types={**joint.types, **optimised.types})

    def until(self) -> list[Phase]:
        """The phases of the exit condition, on the iteration's next states and its states."""
        until, body = self.loop.until, self.loop.body
        if until is None:
            return []
        names = dict(zip(until.params, (*body.results, *body.params), strict=True))
        (stop,) = until.results
        self.stop = names.get(stop, stop)
        return [traverse.rename_operands(phase, names) for phase in until.phases]

    def constants(self) -> list[Phase]:
        return [phase for phase in self.outer.graph.phases if isinstance(phase, Constant)]

    def is_along(self, value: ValueId, axis: object) -> bool:
        """Is the axis one along which states of the value's rank are cut?"""
        shape = self.type(value).shape
        return any(
            cut is not None and axis == cut and len(shape) == len(self.type(param).shape)
            for param, cut in zip(self.loop.body.params, self.axes, strict=True)
        )

    def lower_shift(self, phase: Phase, makers: Mapping[ValueId, Phase]) -> list[Phase]:
        """The structured phases of a join or rotation along the cut axis; other phases as they are.  See Note [Rotations]."""
        if not isinstance(phase, LibraryPhase) or phase.attributes.get("frame", 0):
            return [phase]
        axis = phase.attributes.get("axis")
        if not isinstance(axis, int) or not self.is_along(phase.results[0], axis):
            return [phase]
        if phase.op == "join":
            return [self.lower_join(phase, axis, makers)]
        if phase.op == "rotate":
            amount = makers.get(phase.args[1])
            if isinstance(amount, Constant) and len(amount.data) == 1 and isinstance(amount.data[0], int):
                return self.lower_rotation(phase, axis, int(amount.data[0]))
        return [phase]

    def lower_rotation(self, phase: LibraryPhase, axis: int, amount: int) -> list[Phase]:
        """Lowers a rotation to `x[i+k]` where that is in range, elsewhere to an element of the rows that wrap around."""
        value, result = phase.args[0], phase.results[0]
        type = self.type(value)
        shape, kind = type.shape, type.element.kind
        rows = shape[axis].constant or 0
        shift_left = amount % rows if rows else 0
        if not shift_left:
            return [self.structured(phase.id, shape, (Read(value, IDENTITY),), (ReadNode(0, kind),), result)]
        from_end = shift_left > rows // 2  # count the shift from the other end
        count = rows - shift_left if from_end else shift_left
        first = rows - count if from_end else 0
        edge = self.new_value(replace(type, shape=tuple(number(count) if a == axis else n for a, n in enumerate(shape))))
        edge_shape = self.types[edge].shape
        edge_read = affine(edge_shape, _offset_indices(len(shape), axis, first), shape)
        edge_copy = self.structured(self.phase_id(), edge_shape, (Read(value, edge_read),), (ReadNode(0, kind),), edge)
        self.wraparounds.append(edge_copy.id)
        self.roots.append(edge)
        shift = -count if from_end else count
        shifted = affine(shape, _offset_indices(len(shape), axis, shift), shape, fills=True)
        wrapped = affine(shape, _offset_indices(len(shape), axis, 0 if from_end else count - rows), edge_shape, fills=True)
        limit = count if from_end else rows - count
        body: list[Node] = [
            ReadNode(0, kind), ReadNode(1, kind), AxisNode(axis), ConstantNode(Kind.I64, limit),
            ApplyNode("lt", (2, 3), Kind.BOOL), ApplyNode("select", (4, 1, 0) if from_end else (4, 0, 1), kind),
        ]  # fmt: skip
        return [edge_copy, self.structured(phase.id, shape, (Read(value, shifted), Read(edge, wrapped)), body, result)]

    def lower_join(self, phase: LibraryPhase, axis: int, makers: Mapping[ValueId, Phase]) -> Structured:
        """Lowers a join: each element is read from the operand that has it; an operand that is a box of a value is read from that
        value."""
        type = self.type(phase.results[0])
        shape, kind = type.shape, type.element.kind
        reads: list[Read] = []
        body: list[Node] = [AxisNode(axis)]
        starts: list[tuple[int, int]] = []  # by operand: its start, and the node with its element
        start = 0
        for value in phase.args:
            rows = self.type(value).shape[axis].constant or 0
            if rows == 0:
                continue
            same = _uniform_constant(makers.get(value))
            if same is not None:
                body.append(same)
                starts.append((start, len(body) - 1))
                start += rows
                continue
            part = _box_read(makers.get(value))
            source, moved = (value, [0] * len(shape)) if part is None else part
            offsets = [by - (start if a == axis else 0) for a, by in enumerate(moved)]
            indices = [AffineIndex((Term(a, 1),), number(by)) for a, by in enumerate(offsets)]
            reads.append(Read(source, affine(shape, indices, self.type(source).shape, fills=True)))
            body.append(ReadNode(len(reads) - 1, kind))
            starts.append((start, len(body) - 1))
            start += rows
        chosen = starts[-1][1]
        for (_, node), (limit, _) in reversed(list(pairwise(starts))):
            body += [ConstantNode(Kind.I64, limit), ApplyNode("lt", (0, len(body)), Kind.BOOL)]
            body.append(ApplyNode("select", (len(body) - 1, node, chosen), kind))
            chosen = len(body) - 1
        return self.structured(phase.id, shape, reads, body, phase.results[0])


def _offset_indices(rank: int, axis: int, by: int) -> list[AffineIndex]:
    return [AffineIndex((Term(a, 1),), number(by)) if a == axis and by else axis_index(a) for a in range(rank)]


def _uniform_constant(phase: Phase | None) -> ConstantNode | None:
    """The constant that all elements of the phase's result equal; None if there is none."""
    if not isinstance(phase, Structured) or phase.reads or len(phase.results) != 1 or phase.results[0].reduction:
        return None
    node = phase.body[phase.results[0].node]
    return node if isinstance(node, ConstantNode) else None


def _box_read(phase: Phase | None) -> tuple[ValueId, list[int]] | None:
    """The value of which the phase copies a box, and the box's origin; None for any other phase."""
    if not isinstance(phase, Structured) or len(phase.reads) != 1 or len(phase.results) != 1 or phase.results[0].reduction:
        return None
    stages = phase.reads[0].projection.stages
    if not isinstance(phase.body[phase.results[0].node], ReadNode) or len(stages) != 1:
        return None
    stage = stages[0]
    if not isinstance(stage, Affine) or stage.fills:
        return None
    if any(index.terms != (Term(axis, 1),) for axis, index in enumerate(stage.indices)) or len(stage.indices) != len(phase.axes):
        return None
    origin = [index.constant.constant for index in stage.indices]
    return None if any(n is None for n in origin) else (phase.reads[0].value, [n or 0 for n in origin])


# ---------------------------------------------------------------------------------------------------- unrolling
#
# Unrolls a loop into its iterations, for streams that need a pass over stored inputs between them.
#
# Each iteration defines fresh values, its state is the results of the iteration before, and readers of the loop's results read
# those of the last iteration.

def unrolling_obstacle(loop: Loop, max_phases: int) -> str:
    """The reason why the loop cannot be unrolled into at most `max_phases` phases, as part of a message; empty if it can."""
    body = list(traverse.all_phases(loop.body))
    if loop.until is not None or loop.trip.constant is None:
        return "the number of its iterations is known only when it runs"
    if loop.keep:
        return "all its states are kept"
    if not loop.is_plain or any(traverse.defines(phase) for phase in body):
        return "its iterations are of different sizes"
    if loop.trip.constant * len(body) > max_phases:
        return f"{loop.trip.constant:,} iterations are too many to plan one by one"
    return ""


def unrolled(bound: BoundGraph, loop: Loop) -> BoundGraph:
    """The graph with this loop, which `unrolling_obstacle` accepts, unrolled."""
    graph = bound.graph
    first = traverse.fresh_id(graph)
    copier = _Copier(dict(graph.types), dict(graph.names), first)
    phases: list[Phase] = []
    names: dict[ValueId, ValueId] = {}
    for phase in graph.phases:
        if phase.id == loop.id:
            state = loop.initial
            for _ in range(loop.trip.constant or 0):
                current = dict(zip(loop.body.params, state, strict=True))
                phases += [copier.copied(inner, current) for inner in loop.body.phases]
                state = tuple(current.get(value, value) for value in loop.body.results)
            names = dict(zip(loop.results, state, strict=True))
        else:
            phases.append(rename_all_operands(phase, names))
    flat = replace(graph, phases=tuple(phases), types=copier.types, names=copier.names)
    return BoundGraph(flat, bound.sizes)


def rename_all_operands(phase: Phase, names: Mapping[ValueId, ValueId]) -> Phase:
    """The phase, and all phases inside it, reading `names[v]` instead of v."""

    def inside(sub: SubGraph) -> SubGraph:
        phases = tuple(rename_all_operands(inner, names) for inner in sub.phases)
        return SubGraph(sub.params, phases, tuple(names.get(value, value) for value in sub.results))

    return traverse.with_subgraphs(traverse.rename_operands(phase, names), inside)


@dataclass(slots=True)
class _Copier:
    types: dict[ValueId, ArrayType]
    names: dict[ValueId, str]
    fresh: int

    def copied(self, phase: Phase, names: dict[ValueId, ValueId]) -> Phase:
        """A copy of the phase and of the phases inside it, with fresh ids and values; adds the copied values to `names`."""

        def inside(sub: SubGraph) -> SubGraph:
            params = tuple(self.new_value(param, names) for param in sub.params)
            phases = tuple(self.copied(inner, names) for inner in sub.phases)
            return SubGraph(params, phases, tuple(names.get(value, value) for value in sub.results))

        copy = traverse.with_subgraphs(traverse.rename_operands(phase, names), inside)
        results = tuple(self.new_value(value, names) for value in traverse.results(phase))
        return replace(_with_results(copy, results), id=PhaseId(self.new()))

    def new_value(self, value: ValueId, names: dict[ValueId, ValueId]) -> ValueId:
        copy = names[value] = ValueId(self.new())
        self.types[copy] = self.types[value]
        if value in self.names:
            self.names[copy] = self.names[value]
        return copy

    def new(self) -> int:
        self.fresh += 1
        return self.fresh


def _with_results(phase: Phase, results: tuple[ValueId, ...]) -> Phase:
    """The phase with its results renamed."""
    match phase:
        case Structured():
            return replace(phase, results=tuple(replace(r, value=v) for r, v in zip(phase.results, results, strict=True)))
        case Input() | Constant():
            return replace(phase, result=results[0])
        case Print() | Output():
            return phase
        case _:
            return replace(phase, results=results)


# ----------------------------------------------------------------------------------------- speculated arms
#
# Speculation of branches: both arms run before the condition is known, and the branch only selects.
#
# An arm can be speculated if it has no effect, cannot fail and defines no size: structured phases, constants, library phases and
# loops of these.  `hoist_arms` moves the phases of the arms of chosen branches before the branch, whose arms then have no phases
# and only name their results; ids stay, so that a graph and the ids of the chosen branches determine the graph with them hoisted.

def can_speculate(phase: Phase) -> bool:
    """Is this a branch whose arms both have neither effects nor failures, so that either may run in vain?"""
    if not isinstance(phase, Branch) or phase.defines or phase.needs_condition:
        return False
    if not (phase.then.phases or phase.otherwise.phases):
        return False
    inner = [each for arm in subgraphs(phase) for each in all_phases(arm)]
    return not any(isinstance(each, Print | Output) or defines(each) for each in inner) and not phase_may_fail(phase)


def speculable_branches(graph: Graph) -> tuple[PhaseId, ...]:
    """The branches whose arms `hoist_arms` can hoist, inner ones before those around them."""
    return tuple(phase.id for phase in _with_hoisted_arms(graph.phases, None) if isinstance(phase, Branch) and _is_hoisted(phase))


def hoist_arms(graph: Graph, chosen: Collection[PhaseId] | None = None) -> Graph:
    """The graph with the arms of the chosen branches (None: of all that `can_speculate`) hoisted before them."""
    if chosen is not None and not chosen:
        return graph
    phases = tuple(_with_hoisted_arms(graph.phases, chosen))
    return graph if len(phases) == len(graph.phases) else replace(graph, phases=phases)


def speculated_branches(graph: Graph, chosen: Collection[PhaseId]) -> tuple[PhaseId, ...]:
    """The chosen branches whose arms `hoist_arms` hoists: all but those inside a branch that was not chosen."""
    chosen_ids = set(chosen)
    phases = _with_hoisted_arms(graph.phases, chosen_ids)
    return tuple(p.id for p in phases if isinstance(p, Branch) and p.id in chosen_ids and _is_hoisted(p))


def _with_hoisted_arms(phases: Sequence[Phase], chosen: Collection[PhaseId] | None) -> Iterator[Phase]:
    for phase in phases:
        if isinstance(phase, Branch) and (chosen is None or phase.id in chosen) and can_speculate(phase):
            yield from _with_hoisted_arms(phase.then.phases, chosen)
            yield from _with_hoisted_arms(phase.otherwise.phases, chosen)
            yield replace(phase, then=replace(phase.then, phases=()), otherwise=replace(phase.otherwise, phases=()))
        else:
            yield phase


def _is_hoisted(branch: Branch) -> bool:
    return not (branch.then.phases or branch.otherwise.phases)


# ----------------------------------------------------------------------------------------- phases in two passes
#
# Phases that go along one line as several, which can be cut along it.  The bits are those of one pass.  Items are read twice, so
# one device alone makes one pass.
#
# A scan: the total of each block of the order of scans, what precedes each block, and the scan, each shard of which starts from
# what precedes its first block (`library.scans_and_generators`).
#
# A sort or a grade: each shard sorts its items, at least a run of them, and then merges what comes to its part of the result from
# all of the runs (`library.sort`).  Where shards end decides what the runs are, and nothing else.
#
# A selection: `passes.masked_reductions`.

_FEWEST_SORTED: Final = 1024
"""The least items of a run."""


def is_divisible(phase: Phase, types: Mapping[ValueId, ArrayType]) -> bool:
    """Can `divide_phases` divide the phase?"""
    if not isinstance(phase, LibraryPhase) or frame_of(phase):
        return False
    if phase.op == "compress":
        return is_long_selection(phase, types)
    return _is_long_scan(phase, types) if phase.op == "scan" else _is_long_sort(phase, types)


def _is_long_scan(phase: LibraryPhase, types: Mapping[ValueId, ArrayType]) -> bool:
    function, type = str(phase.attributes["function"]), types[phase.results[0]]
    sizes = [size.constant for size in type.shape]
    if len(phase.args) > 1 or None in sizes or max(size or 0 for size in sizes) <= 2 * SCAN_BLOCK:
        return False
    kind, axis = type.element.kind, phase.attributes["axis"]
    exact = function == "add" or is_exact_in_any_order(function, kind)
    is_line = [size != 1 for size in sizes].count(True) == 1 and sizes[int(str(axis))] != 1
    return is_line and function in REDUCTIONS and exact and not kind.is_complex and kind is not Kind.CHAR


def _is_long_sort(phase: LibraryPhase, types: Mapping[ValueId, ArrayType]) -> bool:
    if phase.op not in ("sort", "grade") or needed_positions(phase) is not None:
        return False
    sizes = [size.constant or 0 for size in types[phase.args[0]].shape]
    return len(sizes) == 1 and sizes[0] > 2 * _FEWEST_SORTED


def divisible_phases(graph: Graph) -> tuple[PhaseId, ...]:
    """The phases that `divide_phases` can divide."""
    return tuple(phase.id for phase in graph.phases if is_divisible(phase, graph.types))


def divisions(graph: Graph) -> tuple[tuple[PhaseId, ...], ...]:
    """What forms of the graph have in two passes: nothing, all phases and inputs that can be, all of these phases, all scans, all
    selections, all sorts and grades, all broadcasts of inputs."""
    every, broadcast, kinds = divisible_phases(graph), broadcast_inputs(graph), dict[str, list[PhaseId]]()
    both = tuple(phase.id for phase in graph.phases if phase.id in (*every, *broadcast))
    for phase in graph.phases:
        if phase.id in every and isinstance(phase, LibraryPhase):
            kinds.setdefault(phase.op if phase.op in ("scan", "compress") else "sort", []).append(phase.id)
    each = (tuple(kinds.get(kind, ())) for kind in ("scan", "compress", "sort"))
    return tuple(dict.fromkeys(((), both, every, *each, broadcast)))


def divide_phases(graph: Graph, chosen: Collection[PhaseId] | None = None) -> Graph:
    """The graph with the chosen phases (None: all that can be) in two passes."""
    divided = [id for id in divisible_phases(graph) if chosen is None or id in chosen]
    if not divided:
        return graph
    selections = {p.id for p in graph.phases if p.id in divided and isinstance(p, LibraryPhase) and p.op == "compress"}
    graph = divide_selections(graph, selections)
    types, fresh, phases = dict(graph.types), count(fresh_id(graph)), list[Phase]()
    for phase in graph.phases:
        if isinstance(phase, LibraryPhase) and phase.id in divided and phase.id not in selections:
            divide = _divided_scan if phase.op == "scan" else _divided_sort
            phases += [replace(one, signature=signature_of(one, types)) for one in divide(phase, types, fresh)]
        else:
            phases.append(phase)
    return replace(graph, phases=tuple(phases), types=types)


def _divided_scan(phase: LibraryPhase, types: dict[ValueId, ArrayType], fresh: Iterator[int]) -> Iterator[LibraryPhase]:
    axis, type = int(str(phase.attributes["axis"])), types[phase.results[0]]
    blocks = number(-(-(type.shape[axis].constant or 0) // SCAN_BLOCK))
    part = ArrayType(Element(type.element.kind), (*type.shape[:axis], blocks, *type.shape[axis + 1 :]))
    value = phase.args[0]
    for op in ("scan_totals", "scan_before"):
        result = ValueId(next(fresh))
        types[result] = part
        yield replace(phase, id=PhaseId(result), op=op, args=(value,), results=(result,))
        value = result
    yield replace(phase, args=(*phase.args, value))


def _divided_sort(phase: LibraryPhase, types: dict[ValueId, ArrayType], fresh: Iterator[int]) -> Iterator[LibraryPhase]:
    length = types[phase.args[0]].shape[0].constant or 0
    run = max(_FEWEST_SORTED, -(-length // SORTED_RUNS))
    descending = phase.attributes["descending"]
    value, is_grade = ValueId(next(fresh)), phase.op == "grade"
    types[value] = ArrayType(types[phase.results[0]].element, (number(-(-length // run)), number(run)))
    one, op = replace(phase, results=(value,)), "grade_runs" if is_grade else "sort_runs"
    yield replace(one, id=PhaseId(value), op=op, attributes={"descending": descending, "run": run})
    args, attributes = (value, *phase.args) if is_grade else (value,), {"descending": descending, "length": length}
    yield replace(phase, op="merge_runs", args=args, attributes=attributes)


# ----------------------------------------------------------------------------------------- broadcasts
#
# An input that several shards read whole: home sends each device a part of it (scatter), and the devices send their parts to
# each other (all-gather).  The phase `broadcast` copies its operand; it is cut like any other, and its readers gather its shards.

_LEAST_BROADCAST: Final = 1 << 20
"""The fewest bytes of an input that is broadcast."""


def broadcast_inputs(graph: Graph) -> tuple[PhaseId, ...]:
    """The inputs that all shards of some phase, cut along some axis, read whole."""
    undivided = {value for phase in graph.phases for value in _read_whole(phase, graph.types)}
    return tuple(phase.id for phase in graph.phases if isinstance(phase, Input) and phase.result in undivided)


def _read_whole(phase: Phase, types: Mapping[ValueId, ArrayType]) -> Iterator[ValueId]:
    """The large operands that a phase reads whole if it is cut along some axis."""
    match phase:
        case LibraryPhase() if phase.results:
            shape = types[phase.results[0]].shape
            cut = [one for one in phase.signature if one.result is not None and shape[one.result].constant != 1]
            operands = [value for position, value in enumerate(phase.args) if any(one.operands[position] is None for one in cut)]
        case Structured():
            parallel = {a for a, axis in enumerate(phase.axes) if axis.kind is AxisKind.PARALLEL and axis.size.constant != 1}
            operands = [read.value for read in phase.reads if _is_invariant(read, parallel)]
        case _:
            return
    for value in operands:
        sizes = [size.constant or 0 for size in types[value].shape]
        if prod(sizes) * types[value].element.kind.bytes >= _LEAST_BROADCAST and sizes[0] > 1:
            yield value


def _is_invariant(read: Read, axes: set[int]) -> bool:
    """Are the items of a read, all of the operand, the same along one of these axes?"""
    match read.projection.stages:
        case (Affine(indices),):
            terms = [term.axis for index in indices for term in index.terms]
            return len(terms) == len(indices) and not axes <= {*terms}
        case _:
            return False


def broadcast(graph: Graph, chosen: Collection[PhaseId]) -> Graph:
    """The graph in which phases that may read the chosen inputs whole read their broadcasts."""
    values = [phase.result for phase in graph.phases if isinstance(phase, Input) and phase.id in chosen]
    if not values:
        return graph
    types, first = dict(graph.types), fresh_id(graph)
    names = {value: ValueId(first + number) for number, value in enumerate(values)}
    types |= {name: types[value] for value, name in names.items()}
    phases = list[Phase]()
    for phase in graph.phases:
        broadcast = {value: names[value] for value in _read_whole(phase, graph.types) if value in names}
        phases.append(traverse.rename_operands(phase, broadcast) if broadcast else phase)
        if isinstance(phase, Input) and phase.result in names:
            name = names[phase.result]
            copy = LibraryPhase(PhaseId(name), phase.span, "broadcast", (phase.result,), (name,), {"axis": 0}, (), ())
            phases.append(replace(copy, signature=signature_of(copy, types)))
    return replace(graph, phases=tuple(phases), types=types)


def in_form(graph: Graph, chosen: Collection[PhaseId]) -> Graph:
    """The graph in one of its forms: with the chosen inputs broadcast (not to arms), the arms of the chosen branches hoisted, and
    the chosen phases in two passes."""
    return divide_phases(hoist_arms(broadcast(graph, chosen), chosen), chosen)
