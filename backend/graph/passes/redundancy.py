"""Removal of redundant work: common subexpressions, dead phases, branches of known conditions, and loop invariants.

Of phases that compute the same from the same operands, the first serves all readers.  Sub-graphs may reuse what enclosing blocks
computed before them, never the reverse.  Effects, inputs, phases with sub-graphs, phases that define a run-time size, and roots
are not shared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence, Set
from enum import Enum
from math import prod

from ....lang.support.records import dataclass, replace
from ....typechecker.sizes.polynomials import Size, SizeVariable, number
from ..bind_sizes import substitute_sizes
from ..phases import (
    Branch,
    Choice,
    Constant,
    Decision,
    Graph,
    LibraryPhase,
    Loop,
    Map,
    Phase,
    Structured,
    SubGraph,
    ValueId,
    payload_key,
)
from ..traverse import all_phases, defines, operands, rename_operands, results, sizes, subgraphs, with_subgraphs
from .folding import fold_constants
from .fusion import is_cheap
from .rewriting import deduplicate, is_view, node_key, phase_may_fail
from .usage import LivePhases, liveness_of

# -------------------------------------------------------------------------------------- common subexpressions

def share_common(graph: Graph) -> Graph:
    """Returns the graph without common subexpressions: the first of equal phases serves all readers."""
    sharing = _PhaseSharing(graph)
    phases = sharing.block(graph.phases)
    names = dict(graph.names)
    for old, new in sharing.aliases.items():
        if old in names:
            names.setdefault(new, names.pop(old))
    return replace(graph, phases=phases, names=names)


class _PhaseSharing:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.aliases: dict[ValueId, ValueId] = {}
        self.known: dict[Hashable, Phase] = {}  # by key, the phases visible in the current block

    def block(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        remaining: list[Phase] = []
        keys: list[Hashable] = []
        for phase in phases:
            phase = with_subgraphs(phase, self.subgraph)
            if any(v in self.aliases for v in operands(phase)):
                phase = rename_operands(phase, self.aliases)
            if isinstance(phase, Structured) and len(phase.reads) > 1:
                phase = deduplicate(phase)
            key = self.key(phase)
            first = None if key is None else self.known.get(key)
            if first is not None:
                self.aliases.update(zip(results(phase), results(first), strict=True))
                continue
            if key is not None:
                self.known[key] = phase
                keys.append(key)
            remaining.append(phase)
        for key in keys:
            del self.known[key]
        return tuple(remaining)

    def subgraph(self, graph: SubGraph) -> SubGraph:
        phases = self.block(graph.phases)
        return replace(graph, phases=phases, results=tuple(self.aliases.get(v, v) for v in graph.results))

    def key(self, phase: Phase) -> Hashable | None:
        """The key that equal computations share; None if the phase may not be shared."""
        if any(r in self.graph.roots for r in results(phase)):
            return None
        match phase:
            case Structured():
                body = tuple(node_key(n) for n in phase.body)
                return ("structured", phase.axes, phase.reads, body, tuple((r.node, r.reduction) for r in phase.results))
            case LibraryPhase():
                if phase.defines:
                    return None
                shapes = tuple((self.graph.types[r].element.kind, self.graph.types[r].shape) for r in phase.results)
                return ("library", phase.op, phase.args, tuple(sorted(phase.attributes.items())), shapes)
            case Constant():
                type = self.graph.types[phase.result]
                return ("constant", type.element.kind, type.shape, tuple(payload_key(v) for v in phase.data))
            case _:
                return None


# --------------------------------------------------------------------------------------------- dead phases
#
# Dead code elimination: phases that no output, print, root, guard or possible failure needs are dropped.
#
# A phase that may fail when run (a checked index, a narrowing conversion) stays even if nothing reads its result, because
# dropping it would turn an error into success.  So does a phase that defines a run-time size in use.  Unread results of maps and
# branches are dropped one by one.

def drop_dead(graph: Graph) -> Graph:
    """Returns the graph without phases and results that nothing demands."""
    result = replace(graph, phases=_Dropping(liveness_of(graph)).block(graph.phases))
    defined = {v for phase in all_phases(result) for v in results(phase)}
    defined.update(p for phase in all_phases(result) for s in subgraphs(phase) for p in s.params)
    types = {v: t for v, t in graph.types.items() if v in defined}
    return replace(result, types=types, names={v: n for v, n in graph.names.items() if v in defined})


def drop_unread(graph: Graph) -> Graph:
    """`drop_dead` on the program as written; records which of its named values are dropped."""
    live = drop_dead(graph)
    dropped = [
        Decision(Choice.DROPPED, graph.names[value], "no element is read", phase.span)
        for phase in all_phases(graph)
        for value in results(phase)
        if value in graph.names and graph.types[value].shape and value not in live.types
    ]
    return replace(live, decisions=(*graph.decisions, *dropped))


@dataclass(frozen=True, slots=True)
class _Dropping:
    live: LivePhases

    def block(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        return tuple(self.prune(phase) for phase in phases if phase.id in self.live.runs)

    def prune(self, phase: Phase) -> Phase:
        """The phase without the results and operands that no phase needs."""
        if isinstance(phase, Map | Branch):
            phase = self.prune_results(phase)
        if subgraphs(phase):
            phase = with_subgraphs(phase, lambda body: replace(body, phases=self.block(body.phases)))
        return self.prune_operands(phase) if isinstance(phase, Map) else phase

    def prune_results(self, phase: Map | Branch) -> Map | Branch:
        keep = [i for i, r in enumerate(phase.results) if r in self.live.mentioned]
        if len(keep) == len(phase.results):
            return phase

        def some(values: tuple[ValueId, ...]) -> tuple[ValueId, ...]:
            return tuple(values[i] for i in keep)

        remaining = some(phase.results)
        if isinstance(phase, Map):
            return replace(phase, results=remaining, body=replace(phase.body, results=some(phase.body.results)))
        then = replace(phase.then, results=some(phase.then.results))
        otherwise = replace(phase.otherwise, results=some(phase.otherwise.results))
        return replace(phase, results=remaining, then=then, otherwise=otherwise)

    def prune_operands(self, phase: Map) -> Map:
        """The map without the params that its body does not read, and without their operands."""
        keep = [i for i, p in enumerate(phase.body.params) if p in self.live.mentioned]
        if len(keep) == len(phase.args):
            return phase
        params = tuple(phase.body.params[i] for i in keep)
        body = replace(phase.body, params=params)
        return replace(phase, args=tuple(phase.args[i] for i in keep), frames=tuple(phase.frames[i] for i in keep), body=body)


# ----------------------------------------------------------------------------------- branches of known conditions

def take_known_arms(graph: Graph) -> Graph:
    """Returns the graph with the arm that is taken in place of each branch whose condition is known, such as one about sizes.  A
    branch stays if a `schedule` block names a value in it, or if a guard is about a size that it defines."""
    if not any(isinstance(phase, Branch) for phase in all_phases(graph)):
        return graph
    taking = _ArmTaking(graph)
    phases = taking.block(graph.phases)
    if not taking.taken:
        return graph
    names = {taking.aliases.get(value, value): name for value, name in graph.names.items()} | dict(graph.names)
    return drop_dead(substitute_sizes(replace(graph, phases=phases, names=names), taking.sizes))


class _ArmTaking:
    def __init__(self, graph: Graph) -> None:
        constants = [phase for phase in all_phases(fold_constants(graph)) if isinstance(phase, Constant)]
        self.known = {phase.result: bool(phase.data[0]) for phase in constants if len(phase.data) == 1}
        self.roots = graph.roots
        self.guarded = {variable for guard in graph.guards for variable in guard.variables()}
        self.aliases: dict[ValueId, ValueId] = {}
        self.sizes: dict[SizeVariable, Size] = {}
        self.taken = False

    def block(self, phases: Sequence[Phase]) -> tuple[Phase, ...]:
        remaining: list[Phase] = []
        for phase in phases:
            if isinstance(phase, Branch) and self.is_decided(phase):
                remaining += self.arm(phase, is_then=self.known[phase.condition])
            else:
                remaining.append(rename_operands(with_subgraphs(phase, self.subgraph), self.aliases))
        return tuple(remaining)

    def subgraph(self, graph: SubGraph) -> SubGraph:
        phases = self.block(graph.phases)
        return replace(graph, phases=phases, results=tuple(self.aliases.get(v, v) for v in graph.results))

    def is_decided(self, phase: Branch) -> bool:
        inside = (*phase.results, *(v for arm in subgraphs(phase) for one in all_phases(arm) for v in results(one)))
        return phase.condition in self.known and self.roots.isdisjoint(inside) and self.guarded.isdisjoint(defines(phase))

    def arm(self, phase: Branch, *, is_then: bool) -> tuple[Phase, ...]:
        self.taken = True
        arm = self.subgraph(phase.then if is_then else phase.otherwise)
        self.aliases.update(zip(phase.results, arm.results, strict=True))
        self.sizes.update({v: (then if is_then else other).substitute(self.sizes) for v, then, other in phase.defines})
        return arm.phases


# ----------------------------------------------------------------------------------------------- loop invariants
#
# Loop-invariant code motion: phases that every iteration of a loop, fold or map would compute alike are computed once, before it.
#
# Structured and library phases move if they read nothing defined in the body, mention no size defined in it, and cannot fail (a
# loop that never runs must not fail; the work it wastes is that of one iteration).  A phase that is cheaper to compute again than
# to read back, such as a conversion or a transposition, stays until after fusion, unless its result is a scalar; if fusion left
# it as a phase of its own, it moves then (`hoist_unfused_invariants`).  Arms of branches keep their phases, since they may not
# run. So does a loop whose body was checked under the premise that it runs (`Loop.premised`), unless it provably runs.

def hoist_invariants(graph: Graph) -> Graph:
    """Hoist the invariant phases that would not fuse with their readers."""
    return replace(graph, phases=_PhaseHoisting(graph, _HoistStage.BEFORE_FUSION).block(graph.phases))


def hoist_unfused_invariants(graph: Graph) -> Graph:
    """Hoist the invariant phases that fusion left."""
    phases = _PhaseHoisting(graph, _HoistStage.AFTER_FUSION).block(graph.phases)
    return graph if phases == graph.phases else replace(graph, phases=phases)


class _HoistStage(Enum):
    BEFORE_FUSION = "before fusion"
    AFTER_FUSION = "after fusion"


class _PhaseHoisting:
    def __init__(self, graph: Graph, stage: _HoistStage) -> None:
        self.graph, self.stage = graph, stage

    def block(self, phases: Sequence[Phase]) -> tuple[Phase, ...]:
        done: list[Phase] = []
        for phase in phases:
            moved: list[Phase] = []
            needs_trip = isinstance(phase, Loop) and phase.needs_iteration and (phase.trip.bounds()[0] or 0) < 1
            if isinstance(phase, Branch) or needs_trip:
                phase = with_subgraphs(phase, lambda g: replace(g, phases=self.block(g.phases)))
            else:
                index = {phase.index} if isinstance(phase, Loop) and phase.index is not None else set[SizeVariable]()
                phase = with_subgraphs(phase, lambda g, out=moved, indices=index: self.body(g, out, indices))  # type: ignore[misc]
            done.extend(moved)
            done.append(phase)
        return tuple(done)

    def body(self, graph: SubGraph, moved: list[Phase], indices: Set[SizeVariable]) -> SubGraph:
        """The body without its invariant phases, which go to `moved` in order."""
        phases = self.block(graph.phases)
        inside: set[ValueId | SizeVariable] = {*graph.params, *indices}
        for phase in phases:
            inside.update(results(phase))
            inside.update(defines(phase))
        remaining: list[Phase] = []
        for phase in phases:
            if self.may_move(phase) and not self.mentions(phase, inside):
                inside.difference_update(results(phase))
                moved.append(phase)
            else:
                remaining.append(phase)
        return replace(graph, phases=tuple(remaining))

    def may_move(self, phase: Phase) -> bool:
        match phase:
            case Structured():
                if phase.axes and (is_cheap(phase) or is_view(phase)):
                    return self.stage is _HoistStage.AFTER_FUSION and self.is_no_larger(phase) and not phase_may_fail(phase)
                return not phase_may_fail(phase)
            case LibraryPhase():
                return not phase.defines and not phase_may_fail(phase)
            case Constant():
                return True
            case _:
                return False

    def is_no_larger(self, phase: Structured) -> bool:
        """Does each result provably have no more items than some operand, so that hoisting stores no outer product?"""
        read = [self.graph.types[value].shape for value in operands(phase)]
        written = [self.graph.types[value].shape for value in results(phase)]
        return all(any(_has_no_more_items(shape, other) for other in read) for shape in written)

    def mentions(self, phase: Phase, inside: set[ValueId | SizeVariable]) -> bool:
        if any(v in inside for v in operands(phase)):
            return True
        types = (size for value in results(phase) for size in self.graph.types[value].shape)
        return any(v in inside for size in (*sizes(phase), *types) for v in size.variables())


def _has_no_more_items(shape: Sequence[Size], other: Sequence[Size]) -> bool:
    """Does `shape` provably have no more items than `other`?"""
    items, others = (prod(sizes, start=number(1)) for sizes in (shape, other))
    few, many = items.constant, others.constant
    return items == others or Counter(shape) <= Counter(other) or (few is not None and many is not None and few <= many)
