"""Builds the graph of one iteration of a loop, so that it can be partitioned and planned like any other graph.

The phases of an iteration are, in order: one *entry* for each state, which is the state where it lies already (as a phase it
copies the loop's first state into the body's parameter); the body; and a *carry* for each next state that is not made by a phase
of its own.  `leaving` is the graph after the last iteration: the states, and full copies of them as the loop's results.

Note [Rotations].  Along the axis that states are cut along, a join, or a rotation by a known amount, becomes a structured phase
that reads its operands through moved indices, so that a shard needs a few rows beside its own (a halo) and the
phases around it can be merged with it.  The rows that a rotation brings round from the other end are a phase by themselves.

Everything here follows from the graph, the loop and the axes; a follower of a plan builds the same graph again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise
from typing import Final

from ...lang.support.records import dataclass
from ...typechecker.elements import ArrayType, Kind
from ...typechecker.sizes.polynomials import Size, number
from . import traverse
from .bind_sizes import BoundGraph
from .passes.pipeline import optimise
from .passes.rewriting import phase_may_fail
from .phases import (
    Affine,
    AffineIndex,
    ApplyNode,
    Axis,
    AxisKind,
    AxisNode,
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
    Read,
    ReadNode,
    Structured,
    SubGraph,
    Term,
    ValueId,
)
from .projections import IDENTITY, affine, axis_index
from .traverse import all_phases, defines, subgraphs

# ----------------------------------------------------------------------------------------------- iterations

SPACE: Final = 1 << 20
"""Ids that the turns of a loop may take."""
Axes = tuple[int | None, ...]
"""By state: the axis it is cut along, or None where it lies whole at home."""


@dataclass(frozen=True, slots=True)
class LoopIteration:
    """`bound` has the phases of a turn; the first of them, as many as there are states, are the entries.

    `next`: the values that are the states of the next turn.  `edges`: phases that take the rows which come round.  `stop`: the
    value that says whether this turn was the last."""

    loop: Loop
    axes: Axes
    bound: BoundGraph
    next: tuple[ValueId, ...]
    edges: tuple[PhaseId, ...] = ()
    stop: ValueId | None = None

    @property
    def left(self) -> frozenset[ValueId]:
        """What a turn leaves behind."""
        return frozenset(self.next if self.stop is None else (*self.next, self.stop))


def can_turn_together(loop: Loop, graph: Graph) -> bool:
    """Has the loop turns of known number and sizes, of which nothing can be seen before its end?"""
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
    """The values around a loop that its body reads."""
    blocks = traverse.subgraphs(loop)
    inner = [phase for block in blocks for phase in traverse.all_phases(block)]
    defined = {v for block in (*blocks, *(g for phase in inner for g in traverse.subgraphs(phase))) for v in block.params}
    defined |= {v for phase in inner for v in traverse.results(phase)}
    used = (v for block in blocks for phase in block.phases for v in traverse.uses(phase))
    return tuple(v for v in dict.fromkeys((*used, *(v for block in blocks for v in block.results))) if v not in defined)


def turn_of(bound: BoundGraph, loop: Loop, axes: Axes) -> LoopIteration:
    """One turn of a loop of the graph, with its states cut along these axes."""
    maker = _IterationBuilder(bound, loop, axes)
    body = maker.merged()
    entries = [maker.copy(old, new) for old, new in zip(loop.initial, loop.body.params, strict=True)]
    maker_of = {value: phase for phase in body.phases for value in traverse.results(phase)}
    placed: dict[PhaseId, int | None] = {}
    phases: list[Phase] = [*entries, *body.phases]
    next: list[ValueId] = []
    for value, axis in zip(loop.body.results, axes, strict=True):
        phase = maker_of.get(value)
        if phase is None or value in next or not _can_leave(phase, axis) or placed.setdefault(phase.id, axis) != axis:
            carried = maker.value(body.types[value])
            phases.append(maker.copy(value, carried))
            value = carried
        next.append(value)
    stop = maker.stop
    if stop is not None and (stop not in maker_of or stop in next or placed.setdefault(maker_of[stop].id, None) is not None):
        stop = maker.value(body.types[stop])
        phases.append(maker.copy(maker.stop or stop, stop))
    graph = replace(body, phases=tuple(phases), types={**body.types, **maker.types}, roots=frozenset())
    return LoopIteration(loop, axes, replace(bound, graph=graph), tuple(next), tuple(maker.edges), stop)


def leaving(bound: BoundGraph, loop: Loop, iteration: LoopIteration) -> LoopIteration:
    """Returns the graph that runs after the last iteration: it copies the states to the loop's full results on the client."""
    maker = _IterationBuilder(bound, loop, iteration.axes)
    maker.last_value = max(maker.last_value, *map(int, iteration.bound.graph.types))
    maker.last_phase = max(maker.last_phase, *(int(phase.id) for phase in traverse.all_phases(iteration.bound.graph)))
    maker.types |= iteration.bound.graph.types
    entries = [maker.copy(old, new) for old, new in zip(iteration.next, loop.body.params, strict=True)]
    copies = [maker.copy(old, new) for old, new in zip(loop.body.params, loop.results, strict=True)]
    graph = replace(bound.graph, phases=(*entries, *copies), types={**iteration.bound.graph.types, **maker.types},
        roots=frozenset())
    return LoopIteration(loop, iteration.axes, replace(bound, graph=graph), loop.results)


def _can_leave(phase: Phase, axis: int | None) -> bool:
    """Can a phase leave its result cut along that axis (None: whole)?"""
    match phase:
        case Structured():
            return axis is None or phase.axes[axis].kind is AxisKind.PARALLEL
        case LibraryPhase():
            cut = any(one.result == axis and one.combine is None for one in phase.signature)
            return axis is None or (cut and phase.op != "random" and "sorts" not in phase.attributes)
        case _:
            return axis is None and not isinstance(phase, Constant)


@dataclass(slots=True)
class _IterationBuilder:
    """Phases and values with ids that nothing in the program has."""

    around: BoundGraph
    loop: Loop
    axes: Axes
    types: dict[ValueId, ArrayType] = field(default_factory=dict)
    edges: list[PhaseId] = field(default_factory=list)
    roots: list[ValueId] = field(default_factory=list)
    stop: ValueId | None = None
    last_value: int = 0
    last_phase: int = 0

    def __post_init__(self) -> None:
        graph = self.around.graph
        loops = [phase.id for phase in traverse.all_phases(graph) if isinstance(phase, Loop)]
        apart = SPACE * loops.index(self.loop.id)  # no two loops have the same
        self.last_value = apart + max(map(int, graph.types), default=0)
        self.last_phase = apart + max((int(phase.id) for phase in traverse.all_phases(graph)), default=0)

    def value(self, type: ArrayType) -> ValueId:
        self.last_value += 1
        self.types[ValueId(self.last_value)] = type
        return ValueId(self.last_value)

    def phase_id(self) -> PhaseId:
        self.last_phase += 1
        return PhaseId(self.last_phase)

    def type(self, value: ValueId) -> ArrayType:
        return self.types[value] if value in self.types else self.around.graph.types[value]

    def copy(self, source: ValueId, target: ValueId) -> Structured:
        type = self.type(source)
        return self.structured(self.phase_id(), type.shape, (Read(source, IDENTITY),), (ReadNode(0, type.element.kind),), target)

    def structured(
        self, id: PhaseId, shape: Sequence[Size], reads: Sequence[Read], body: Sequence[Node], result: ValueId
    ) -> Structured:
        axes = tuple(Axis(size, AxisKind.PARALLEL) for size in shape)
        return Structured(id, self.loop.span, axes, tuple(reads), tuple(body), (PhaseResult(result, len(body) - 1, None),))

    # ------------------------------------------------------------------------------ the body

    def merged(self) -> Graph:
        """The body with its moves along the cut axis written out, and merged again."""
        loop, graph = self.loop, self.around.graph
        phases: list[Phase] = []
        makers: dict[ValueId, Phase] = {}
        until = () if loop.until is None else loop.until.phases
        for phase in (*self.constants(), *loop.body.phases, *until):
            for value in traverse.results(phase):
                makers[value] = phase
        for phase in (*loop.body.phases, *self.until()):
            phases += self.written(phase, makers)
        outside = dict.fromkeys((*loop.body.params, *captured(loop)))
        stand_ins = [Input(self.phase_id(), loop.span, f"state {value}", value) for value in outside]
        wanted = loop.body.results if self.stop is None else (*loop.body.results, self.stop)
        next = [value for value in wanted if value not in outside]
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
        """What decides whether a turn was the last, of its states and those before it."""
        until, body = self.loop.until, self.loop.body
        if until is None:
            return []
        names = dict(zip(until.params, (*body.results, *body.params), strict=True))
        (stop,) = until.results
        self.stop = names.get(stop, stop)
        return [traverse.rename_operands(phase, names) for phase in until.phases]

    def constants(self) -> list[Phase]:
        return [phase for phase in self.around.graph.phases if isinstance(phase, Constant)]

    def is_along(self, value: ValueId, axis: object) -> bool:
        """Is this an axis that states are cut along, by its place and size?"""
        shape = self.type(value).shape
        return any(
            cut is not None and axis == cut and len(shape) == len(self.type(param).shape)
            for param, cut in zip(self.loop.body.params, self.axes, strict=True)
        )

    def written(self, phase: Phase, makers: Mapping[ValueId, Phase]) -> list[Phase]:
        """See Note [Rotations]."""
        if not isinstance(phase, LibraryPhase) or phase.attributes.get("frame", 0):
            return [phase]
        axis = phase.attributes.get("axis")
        if not isinstance(axis, int) or not self.is_along(phase.results[0], axis):
            return [phase]
        if phase.op == "join":
            return [self.joined(phase, axis, makers)]
        if phase.op == "rotate":
            amount = makers.get(phase.args[1])
            if isinstance(amount, Constant) and len(amount.data) == 1 and isinstance(amount.data[0], int):
                return self.rotated(phase, axis, int(amount.data[0]))
        return [phase]

    def rotated(self, phase: LibraryPhase, axis: int, amount: int) -> list[Phase]:
        """`x[i+k]`, or where that lies outside, of the rows that come round."""
        value, result = phase.args[0], phase.results[0]
        type = self.type(value)
        shape, kind = type.shape, type.element.kind
        rows = shape[axis].constant or 0
        turned = amount % rows if rows else 0
        if not turned:
            return [self.structured(phase.id, shape, (Read(value, IDENTITY),), (ReadNode(0, kind),), result)]
        back = turned > rows // 2  # round from the far end
        count = rows - turned if back else turned
        first = rows - count if back else 0
        edge = self.value(replace(type, shape=tuple(number(count) if a == axis else n for a, n in enumerate(shape))))
        taken = affine(self.types[edge].shape, _moved(len(shape), axis, first), shape)
        taking = self.structured(self.phase_id(), self.types[edge].shape, (Read(value, taken),), (ReadNode(0, kind),), edge)
        self.edges.append(taking.id)
        self.roots.append(edge)
        shift = -count if back else count
        shifted = affine(shape, _moved(len(shape), axis, shift), shape, fills=True)
        round_ = affine(shape, _moved(len(shape), axis, 0 if back else count - rows), self.types[edge].shape, fills=True)
        limit = count if back else rows - count
        body: list[Node] = [
            ReadNode(0, kind), ReadNode(1, kind), AxisNode(axis), ConstantNode(Kind.I64, limit),
            ApplyNode("lt", (2, 3), Kind.BOOL), ApplyNode("select", (4, 1, 0) if back else (4, 0, 1), kind),
        ]  # fmt: skip
        return [taking, self.structured(phase.id, shape, (Read(value, shifted), Read(edge, round_)), body, result)]

    def joined(self, phase: LibraryPhase, axis: int, makers: Mapping[ValueId, Phase]) -> Structured:
        """Each element from the operand in which it lies; operands that are parts of values are read there."""
        type = self.type(phase.results[0])
        shape, kind = type.shape, type.element.kind
        reads: list[Read] = []
        body: list[Node] = [AxisNode(axis)]
        starts: list[tuple[int, int]] = []  # of each operand, with the node that has its element
        start = 0
        for value in phase.args:
            rows = self.type(value).shape[axis].constant or 0
            if rows == 0:
                continue
            same = _constant(makers.get(value))
            if same is not None:
                body.append(same)
                starts.append((start, len(body) - 1))
                start += rows
                continue
            part = _part(makers.get(value))
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


def _moved(rank: int, axis: int, by: int) -> list[AffineIndex]:
    return [AffineIndex((Term(a, 1),), number(by)) if a == axis and by else axis_index(a) for a in range(rank)]


def _constant(phase: Phase | None) -> ConstantNode | None:
    """What every element is that a phase makes of nothing."""
    if not isinstance(phase, Structured) or phase.reads or len(phase.results) != 1 or phase.results[0].reduction:
        return None
    node = phase.body[phase.results[0].node]
    return node if isinstance(node, ConstantNode) else None


def _part(phase: Phase | None) -> tuple[ValueId, list[int]] | None:
    """The value of which a phase takes a box, and where that begins."""
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
# Unrolls a loop into its iterations, where something is to be done between them: a pass over stored inputs.
#
# Each iteration defines values of its own, its state is what the iteration before yielded, and readers of the loop's results
# read those of the last iteration.

def hindrance(loop: Loop, most: int) -> str:
    """Why the iterations of a loop cannot be phases one after the other, `most` in all; nothing where they can."""
    body = list(traverse.all_phases(loop.body))
    if loop.until is not None or loop.trip.constant is None:
        return "the number of its iterations is known only when it runs"
    if loop.keep:
        return "all its states are kept"
    if not loop.is_plain or any(traverse.defines(phase) for phase in body):
        return "its iterations are of different sizes"
    if loop.trip.constant * len(body) > most:
        return f"{loop.trip.constant:,} iterations are too many to plan one by one"
    return ""


def unrolled(bound: BoundGraph, loop: Loop) -> BoundGraph:
    """The graph without this loop, which nothing hinders."""
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
            phases.append(renamed(phase, names))
    flat = replace(graph, phases=tuple(phases), types=copier.types, names=copier.names)
    return BoundGraph(flat, bound.sizes)


def renamed(phase: Phase, names: Mapping[ValueId, ValueId]) -> Phase:
    """The phase and all inside it reading other values."""

    def inside(sub: SubGraph) -> SubGraph:
        phases = tuple(renamed(inner, names) for inner in sub.phases)
        return SubGraph(sub.params, phases, tuple(names.get(value, value) for value in sub.results))

    return traverse.with_subgraphs(traverse.rename_operands(phase, names), inside)


@dataclass(slots=True)
class _Copier:
    types: dict[ValueId, ArrayType]
    names: dict[ValueId, str]
    fresh: int

    def copied(self, phase: Phase, names: dict[ValueId, ValueId]) -> Phase:
        """The phase with an id, values and sub-graphs of its own; `names` maps what has been copied, and is extended."""

        def inside(sub: SubGraph) -> SubGraph:
            params = tuple(self.value(param, names) for param in sub.params)
            phases = tuple(self.copied(inner, names) for inner in sub.phases)
            return SubGraph(params, phases, tuple(names.get(value, value) for value in sub.results))

        copy = traverse.with_subgraphs(traverse.rename_operands(phase, names), inside)
        results = tuple(self.value(value, names) for value in traverse.results(phase))
        return replace(_making(copy, results), id=PhaseId(self.new()))

    def value(self, value: ValueId, names: dict[ValueId, ValueId]) -> ValueId:
        copy = names[value] = ValueId(self.new())
        self.types[copy] = self.types[value]
        if value in self.names:
            self.names[copy] = self.names[value]
        return copy

    def new(self) -> int:
        self.fresh += 1
        return self.fresh


def _making(phase: Phase, results: tuple[ValueId, ...]) -> Phase:
    """The phase with its results under other names."""
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
# Branches whose arms may both run before the condition is known: their phases beside the branch, which then only chooses.
#
# An arm may be run in vain if nothing of it can be seen or can fail, and if it defines no size: structured phases, constants,
# library phases and loops of these.  `with_arms_out` puts the phases of the arms of chosen branches before the branch, whose own
# arms are empty then and name the result; ids stay, so one graph and the ids of the chosen branches say which graph is meant.

def may_run_in_vain(phase: Phase) -> bool:
    """Is this a branch with arms of which either may be run and thrown away?"""
    if not isinstance(phase, Branch) or phase.defines or not (phase.then.phases or phase.otherwise.phases):
        return False
    inner = [each for arm in subgraphs(phase) for each in all_phases(arm)]
    return not any(isinstance(each, Print | Output) or defines(each) for each in inner) and not phase_may_fail(phase)


def branches_of(graph: Graph) -> tuple[PhaseId, ...]:
    """The branches that `with_arms_out` can take apart, those within the arms of others before them."""
    return tuple(phase.id for phase in _flat(graph.phases, None) if isinstance(phase, Branch) and _is_apart(phase))


def with_arms_out(graph: Graph, chosen: Collection[PhaseId] | None = None) -> Graph:
    """The graph in which the arms of the chosen branches (None: of all that can) are phases beside them."""
    if chosen is not None and not chosen:
        return graph
    phases = tuple(_flat(graph.phases, chosen))
    return graph if len(phases) == len(graph.phases) else replace(graph, phases=phases)


def taken_apart(graph: Graph, chosen: Collection[PhaseId]) -> tuple[PhaseId, ...]:
    """Those of the chosen branches whose arms `with_arms_out` puts beside them: not those within one that stays whole."""
    wanted = set(chosen)
    return tuple(p.id for p in _flat(graph.phases, wanted) if isinstance(p, Branch) and p.id in wanted and _is_apart(p))


def _flat(phases: Sequence[Phase], chosen: Collection[PhaseId] | None) -> Iterator[Phase]:
    for phase in phases:
        if isinstance(phase, Branch) and (chosen is None or phase.id in chosen) and may_run_in_vain(phase):
            yield from _flat(phase.then.phases, chosen)
            yield from _flat(phase.otherwise.phases, chosen)
            yield replace(phase, then=replace(phase.then, phases=()), otherwise=replace(phase.otherwise, phases=()))
        else:
            yield phase


def _is_apart(branch: Branch) -> bool:
    return not (branch.then.phases or branch.otherwise.phases)
