"""Element-wise fusion: a producer whose elements are each read at most once becomes part of the bodies of its readers.

How often elements are read is a grade (`usage`): a producer fuses into two phases that each read half of its value.  The reader
may reduce (the producer is its prologue).  Nothing is recomputed, except producers that are cheaper to recompute than to read:
conversions of one read, bodies that read nothing (`⍳n`, fills), and a little arithmetic on operands smaller than the result
(`x∘.-y`).  A producer stays a phase where fusing would change a result or a failure: under a fill (outside the box the *fill* is
read), when it may fail and is not read exactly once, when it is a root, or when the body would outgrow `MOST_NODES` or read more
than `MOST_SOURCES` values.

Note [Clusters].  A first walk marks every read that can be fused, with the size of the merged body so far; a second rebuilds
each phase that was not absorbed once, from its tree of marked producers.  So a chain of 5,000 phases costs one visit a phase,
not a copy of the body a step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

from ....lang.support.records import dataclass, field, replace, require_invariant
from ....typechecker.elements import Kind, is_sequential
from ....typechecker.sizes.polynomials import SizeVariable
from ....typechecker.usage.check_moves import times
from ...scalar.function_table import LIGHT
from ..phases import (
    IDENTITY,
    LONGEST_CHAIN,
    Affine,
    AffineIndex,
    ApplyNode,
    Axis,
    AxisNode,
    Choice,
    ConstantNode,
    Decision,
    Graph,
    LibraryPhase,
    Phase,
    PhaseResult,
    Projection,
    Read,
    ReadNode,
    SizeNode,
    Structured,
    SubGraph,
    ValueId,
    compose,
    is_identity,
    may_fill,
)
from ..traverse import all_phases, axis_sizes, defines, mentions, operands, results, sizes, subgraphs, with_subgraphs
from .folding import constant_size
from .rewriting import BodyBuilder, body_may_fail, has_reduction, is_view
from .usage import at_least_once, at_most_once, quantities_of

# ---------------------------------------------------------------------------------------------------- fusion

MOST_NODES: Final = 160
MOST_SOURCES: Final = 24


def fuse(graph: Graph) -> Graph:
    """Returns the graph with every producer merged into its readers where each of its elements is read at most once."""
    fusion = Fusion(graph)
    return fusion.result(fusion.block(graph.phases, {}))


def explain_stored_values(graph: Graph) -> list[Decision]:
    """The reason why each element-wise result that the program names is stored, if all passes left it as a phase."""
    fusion = Fusion(graph)
    fusion.block(graph.phases, {})
    decisions: list[Decision] = []
    for phase in all_phases(graph):
        if not isinstance(phase, Structured) or has_reduction(phase) or is_view(phase) or not phase.axes:
            continue
        names = [graph.names[value] for value in results(phase) if value in graph.names]
        if names:
            decisions.append(Decision(Choice.KEPT, " ".join(names), fusion.why_stored(phase), phase.span))
    return decisions


@dataclass(slots=True)
class FusionCluster:
    """A structured phase with the producers marked to be merged into it, by index of the read."""

    phase: Structured
    fused: dict[int, FusionCluster]
    nodes: int
    sources: set[ValueId]  # values that the merged body reads
    stages: int  # length of the longest projection after merging
    has_axes: bool  # does the merged body mention coordinates?
    may_fail: bool
    cheap: bool  # is it cheap to recompute?

    @property
    def generates(self) -> bool:
        return self.cheap and not self.phase.reads


class Fusion:
    why_recomputed = "making it costs less than reading it"

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.quantities = quantities_of(graph)
        self.mentions = mentions(graph)
        factors = Counter(v for p in all_phases(graph) if isinstance(p, LibraryPhase) and p.op == "contract" for v in p.args)
        self.multiplied = frozenset(value for value, count in factors.items() if count == self.mentions[value])
        self.readers: Counter[ValueId] = Counter()  # reads by structured phases of the same block, which could fuse it
        self.fused_reads: Counter[ValueId] = Counter()  # how many of them are marked
        self.decisions: list[Decision] = []
        self.obstacles: dict[ValueId, str] = {}

    def result(self, phases: tuple[Phase, ...]) -> Graph:
        """The graph with these phases and the decisions of this pass."""
        return replace(self.graph, phases=phases, decisions=tuple(dict.fromkeys((*self.graph.decisions, *self.decisions))))

    def is_read_once(self, value: ValueId) -> bool:
        """Is each element read at most once, by structured phases of the same block alone?"""
        return self.readers[value] == self.mentions[value] and at_most_once(self.quantities.grade(value))

    def is_absorbed(self, phase: Structured) -> bool:
        """Has the phase been fused into every reader?"""
        return all(0 < self.mentions[r.value] == self.fused_reads[r.value] for r in phase.results)

    def why_stored(self, phase: Structured) -> str:
        """The reason why a phase's results are stored, for people."""
        if len(phase.results) > 1:
            return "made in one pass"
        value = phase.results[0].value
        grade = self.quantities.grade(value)
        if value in self.graph.roots:
            return "the schedule names it"
        if not at_most_once(grade):
            return f"each element is read {times(grade)}"
        return self.obstacles.get(value, "what reads it takes arrays")

    def note(self, cluster: FusionCluster) -> None:
        """Record a decision for each named value whose producer was merged into the body."""
        for producer in cluster.fused.values():
            value = producer.phase.results[0].value
            if value in self.graph.names and producer.phase.axes:
                once = self.is_read_once(value)
                why = f"each element is read {times(self.quantities.grade(value))}" if once else self.why_recomputed
                choice = Choice.FUSED if once else Choice.REPEATED
                self.decisions.append(Decision(choice, self.graph.names[value], why, producer.phase.span))
            self.note(producer)

    def block(self, phases: tuple[Phase, ...], outer: dict[ValueId, FusionCluster]) -> tuple[Phase, ...]:
        """Fuse within a block and its sub-graphs; `outer`: producers of enclosing blocks that read nothing, such as `⍳n`."""
        here = dict(outer)
        defined = {value for phase in phases for value in results(phase)}
        self.readers.update(
            r.value for phase in phases if isinstance(phase, Structured) for r in phase.reads if r.value in defined
        )
        clusters: list[FusionCluster | None] = []
        rewritten: list[Phase] = []
        for phase in phases:
            cluster = None
            if isinstance(phase, Structured):
                cluster = self.mark(phase, here)
                if len(phase.results) == 1 and not has_reduction(phase) and phase.results[0].value not in self.graph.roots:
                    here[phase.results[0].value] = cluster
            elif subgraphs(phase) and self.enters_subgraphs():
                generated = {v: c for v, c in here.items() if c.generates}
                phase = with_subgraphs(phase, partial(self.subgraph, outer=generated))
            clusters.append(cluster)
            rewritten.append(phase)
        remaining: list[Phase] = []
        for phase, cluster in zip(rewritten, clusters, strict=True):
            if cluster is None:
                remaining.append(phase)
            elif not self.is_absorbed(cluster.phase):
                remaining.append(_merged(cluster) if cluster.fused else phase)
                self.note(cluster)
        return tuple(remaining)

    def subgraph(self, sub: SubGraph, outer: dict[ValueId, FusionCluster]) -> SubGraph:
        return replace(sub, phases=self.block(sub.phases, outer))

    def mark(self, phase: Structured, here: dict[ValueId, FusionCluster]) -> FusionCluster:
        """Mark the producers of the phase that become part of it."""
        cluster = FusionCluster(
            phase, {}, len(phase.body), {r.value for r in phase.reads}, stages=0,
            has_axes=any(isinstance(n, AxisNode) for n in phase.body), may_fail=body_may_fail(phase.body), cheap=is_cheap(phase),
        )  # fmt: skip
        for index, read in enumerate(phase.reads):
            producer = here.get(read.value)
            hindrance = None if producer is None else self.obstacle(cluster, producer, read)
            if producer is None or hindrance is not None:
                cluster.stages = max(cluster.stages, len(read.projection.stages))
                if hindrance is not None:
                    self.obstacles[read.value] = hindrance
                continue
            self.fused_reads[read.value] += 1
            cluster.fused[index] = producer
            cluster.nodes += producer.nodes
            cluster.sources.discard(read.value)
            cluster.sources |= producer.sources
            cluster.stages = max(cluster.stages, len(read.projection.stages) + producer.stages)
            cluster.has_axes |= producer.has_axes
            cluster.may_fail |= producer.may_fail
            cluster.cheap &= producer.cheap
        return cluster

    def pays(self, producer: FusionCluster, value: ValueId) -> bool:
        """Does fusing the producer into the readers of `value` save time?"""
        return producer.cheap or self.is_read_once(value)

    def enters_subgraphs(self) -> bool:
        """Does the pass enter the sub-graphs of loops, branches and maps?"""
        return True

    def obstacle(self, cluster: FusionCluster, producer: FusionCluster, read: Read) -> str | None:
        """The reason why a producer cannot become part of a reader, for people; None if it can."""
        projection, grade = read.projection, self.quantities.grade(read.value)
        if is_view(cluster.phase) and not producer.generates:  # products take it as it is, and other readers may too
            if cluster.phase.results[0].value in self.multiplied:
                return "what multiplies it takes it in any order"
            if not self.is_read_once(read.value):
                return f"each element is read {times(grade)}"
        if not self.pays(producer, read.value):
            return f"each element is read {times(grade)}"
        if may_fill(projection):
            return "its reader goes past its edges"
        if cluster.nodes + producer.nodes > MOST_NODES or len(cluster.sources | producer.sources) > MOST_SOURCES + 1:
            return "its reader would grow too long"
        if len(projection.stages) + producer.stages > LONGEST_CHAIN:
            return "its reader has it in too many other shapes"
        if producer.has_axes and not all(isinstance(s, Affine) for s in projection.stages):
            return "its reader has it in another shape"
        if producer.may_fail and any(is_sequential(result.reduction or "") for result in cluster.phase.results):
            return "it may fail, and its reader begins with the last item"
        alone = self.mentions[read.value] == 1 and at_most_once(grade) and at_least_once(grade)
        return "it may fail, and not every element is read exactly once" if producer.may_fail and not alone else None


_CHEAP_GENERATOR_NODES = 8


def is_cheap(phase: Structured) -> bool:
    """Is the phase cheaper to compute again than to store and read back?"""
    if has_reduction(phase) or body_may_fail(phase.body):
        return False
    if not phase.reads:
        return len(phase.body) <= _CHEAP_GENERATOR_NODES
    if _is_small_outer_product(phase):
        return True
    return len(phase.reads) == 1 and all(
        isinstance(n, ReadNode) or (isinstance(n, ApplyNode) and n.function in LIGHT and len(n.args) == 1) for n in phase.body
    )


_OUTER_PRODUCT_NODES = 8


def _is_small_outer_product(phase: Structured) -> bool:
    """Is it a little arithmetic on operands that all have fewer axes than the result, such as an outer product?

    Reading the result back would cost more than computing it again from operands that stay in cache."""
    space = len(phase.axes)
    if len(phase.body) > _OUTER_PRODUCT_NODES or len(phase.reads) > 2 or space < 2:
        return False
    for read in phase.reads:
        stages = read.projection.stages
        if len(stages) != 1 or not isinstance(stages[0], Affine) or stages[0].fills:
            return False
        if len({term.axis for index in stages[0].indices for term in index.terms}) >= space:
            return False
    return all(
        isinstance(n, ReadNode | ConstantNode) or (isinstance(n, ApplyNode) and n.function in LIGHT)
        for n in phase.body
    )


# ------------------------------------------------------------------------------------------- merging


@dataclass(slots=True)
class _FusionVisit:
    """A cluster being merged: the new indices of its nodes so far, and the projection from the top reader's space to its own."""

    cluster: FusionCluster
    path: Projection
    new_index: list[int]
    at: int = 0


def _merged(top: FusionCluster) -> Structured:
    """The phase with all its marked producers in its body, producers before their readers."""
    space = axis_sizes(top.phase.axes)
    builder = BodyBuilder()
    visits = [_FusionVisit(top, IDENTITY, [])]
    finished: dict[tuple[int, int], int] = {}  # (depth of the reader, its node) -> new index of the producer's result
    while True:
        visit = visits[-1]
        phase = visit.cluster.phase
        if visit.at == len(phase.body):
            if len(visits) == 1:
                return builder.finish(phase, [replace(r, node=visit.new_index[r.node]) for r in phase.results])
            visits.pop()
            reader = visits[-1]
            finished[len(visits), reader.at] = visit.new_index[phase.results[0].node]
            continue
        node = phase.body[visit.at]
        match node:
            case ReadNode():
                read = phase.reads[node.index]
                path = compose(space, visit.path, read.projection)
                producer = visit.cluster.fused.get(node.index)
                done = finished.pop((len(visits), visit.at), None)
                if producer is None:
                    visit.new_index.append(builder.read(Read(read.value, path), node))
                elif done is None:
                    visits.append(_FusionVisit(producer, path, []))
                    continue
                else:
                    visit.new_index.append(done)
            case AxisNode():
                visit.new_index.append(_coordinate(builder, visit.path, node.axis))
            case ApplyNode():
                args = tuple(visit.new_index[a] for a in node.args)
                visit.new_index.append(builder.add(replace(node, args=args)))
            case _:
                visit.new_index.append(builder.add(node))
        visit.at += 1


def _coordinate(builder: BodyBuilder, path: Projection, axis: int) -> int:
    """A producer's coordinate in terms of the reader's axes."""
    if not path.stages:
        return builder.add(AxisNode(axis))
    stage = path.stages[0]
    assert isinstance(stage, Affine)
    require_invariant(len(path.stages) == 1, "a coordinate is read along one affine stage")
    return _index(builder, stage.indices[axis])


def _index(builder: BodyBuilder, index: AffineIndex) -> int:
    total: int | None = None
    for term in index.terms:
        part = builder.add(AxisNode(term.axis))
        if term.coefficient != 1:
            factor = builder.add(ConstantNode(Kind.I64, term.coefficient))
            part = builder.add(ApplyNode("mul", (part, factor), Kind.I64))
        total = part if total is None else builder.add(ApplyNode("add", (total, part), Kind.I64))
    if total is None or index.constant.constant != 0:
        constant = builder.add(constant_size(SizeNode(index.constant)))
        total = constant if total is None else builder.add(ApplyNode("add", (total, constant), Kind.I64))
    return total


# ---------------------------------------------------------------------------------------------------- siblings
#
# Sibling fusion: phases over one iteration space that read the same operands, or one another at the same point, become one.
#
# `+/x` and `⌈/x` become one pass over x; the element-wise phases of a loop's body become one phase with several results, and a
# value that only they read is never stored.  The merged phase runs where its first member did, so a phase joins only if all else
# it reads is available there.  Views and roots do not join, nor do phases of different spaces, nor sequential reductions with
# others; a body has at most `MOST_NODES` nodes, `MOST_SOURCES` operands and `MOST_RESULTS` results that others read.

MOST_RESULTS: Final = 6
_MOST_ATTEMPTS: Final = 4
"""The most attempts to divide groups whose members read one another into groups with few results; the last allows few results
from the start."""


def join_siblings(graph: Graph) -> Graph:
    """Returns the graph with phases over one iteration space merged where they share operands or read one another."""
    return replace(graph, phases=_FusedBlock(graph, mentions(graph)).block(graph.phases))


_Key: TypeAlias = tuple[tuple[Axis, ...], bool]


@dataclass(slots=True)
class _FusionGroup:
    """Phases of one space, all or none of them sequential (`key`), to be merged at the position `at` of the first."""

    at: int
    key: _Key
    members: dict[int, Structured] = field(default_factory=dict)  # by position
    values: set[ValueId] = field(default_factory=set)  # values that members define
    reads: set[tuple[ValueId, Projection]] = field(default_factory=set)
    sources: set[ValueId] = field(default_factory=set)
    nodes: int = 0
    outputs: int = 0
    """How many results other phases read."""

    def add(self, at: int, phase: Structured, outputs: int) -> None:
        self.members[at] = phase
        self.outputs += outputs
        self.values.update(r.value for r in phase.results)
        self.reads.update((r.value, r.projection) for r in phase.reads)
        self.sources.update(r.value for r in phase.reads)
        self.nodes += len(phase.body)

    def extend(self, others: _FusionGroup) -> None:
        self.members |= others.members
        self.outputs += others.outputs
        self.values |= others.values
        self.reads |= others.reads
        self.sources |= others.sources
        self.nodes += others.nodes


def _key(phase: Structured) -> _Key:
    return phase.axes, any(is_sequential(result.reduction or "") for result in phase.results)


class _FusedBlock:
    def __init__(self, graph: Graph, uses: Counter[ValueId]) -> None:
        self.graph = graph
        self.uses = uses

    def block(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        phases = tuple(with_subgraphs(p, self.subgraph) for p in phases)
        keys = [_key(phase) if isinstance(phase, Structured) and self.may_join(phase) else None for phase in phases]
        within = Counter((v, key) for phase, key in zip(phases, keys, strict=True) if key is not None for v in operands(phase))
        begins = set[int]()
        for attempt in range(_MOST_ATTEMPTS):
            lasting = None if attempt == _MOST_ATTEMPTS - 1 else within
            groups = self.groups(phases, keys, lasting, begins)
            ends = [self.first_too_many(group) for at, group in groups.items() if group.at == at]
            late = {at for at in ends if at is not None}
            if not late:
                break
            begins |= late
        merged: list[Phase] = []
        for at, phase in enumerate(phases):
            group = groups.get(at)
            if group is None or len(group.members) == 1:
                merged.append(phase)
            elif group.at == at:
                merged.append(self.merged(group))
        return tuple(merged)

    def groups(
        self, phases: Sequence[Phase], keys: Sequence[_Key | None], within: Counter[tuple[ValueId, _Key]] | None,
        begins: Container[int],
    ) -> dict[int, _FusionGroup]:  # fmt: skip
        """The group of each phase that may join one, by position; a new group begins at each position in `begins`.

        `within`: how often phases of one key read a value; None counts every value as read by other phases.
        """
        made_at: dict[ValueId | SizeVariable, int] = {}
        latest: dict[_Key, _FusionGroup] = {}
        groups: dict[int, _FusionGroup] = {}
        for at, (phase, key) in enumerate(zip(phases, keys, strict=True)):
            made_at.update(dict.fromkeys(defines(phase), at))
            if key is None:
                made_at.update(dict.fromkeys(results(phase), at))
                continue
            assert isinstance(phase, Structured)
            outputs = sum(within is None or self.uses[v] != within[v, key] or not self.uses[v] for v in results(phase))
            near = [latest.get(key), *(groups.get(made_at.get(value, -1)) for value in operands(phase))]
            may = (g for g in near if g is not None and g.key == key and self.fits(g, phase, outputs, made_at))
            group = None if at in begins else next(may, None)
            if group is None:
                group = _FusionGroup(at, key)
            elif group.at not in begins:
                united = self.united(group, phase, outputs, groups, made_at)
                if united is not group:
                    group = united
                    groups |= dict.fromkeys(group.members, group)
                    made_at |= dict.fromkeys(group.values, group.at)
            latest[key] = group
            group.add(at, phase, outputs)
            groups[at] = group
            made_at.update(dict.fromkeys(results(phase), group.at))
        return groups

    def united(
        self, group: _FusionGroup, phase: Structured, outputs: int, groups: Mapping[int, _FusionGroup],
        made_at: Mapping[ValueId | SizeVariable, int],
    ) -> _FusionGroup:  # fmt: skip
        """The group, or an earlier one that takes over all its members, where the phase reads values of both."""
        for value in operands(phase):
            earlier = groups.get(made_at.get(value, -1))
            if earlier is None or earlier is group or earlier.key != group.key or earlier.nodes + group.nodes > MOST_NODES:
                continue
            both = _FusionGroup(earlier.at, group.key)
            both.extend(earlier)
            if all(self.fits(both, member, 0, made_at, others=group) for member in group.members.values()):
                both.extend(group)
                if self.fits(both, phase, outputs, made_at):
                    return both
        return group

    def first_too_many(self, group: _FusionGroup) -> int | None:
        """The position of the first member after the longest prefix of members with few enough results for other phases."""
        inside: Counter[ValueId] = Counter()
        values, read_outside = set[ValueId](), set[ValueId]()
        first = None
        for at, phase in group.members.items():
            for value in operands(phase):
                inside[value] += value in values
                if value in values and not self.is_result(value, inside):
                    read_outside.discard(value)
            values.update(results(phase))
            read_outside.update(results(phase))
            if len(read_outside) <= MOST_RESULTS:
                first = None
            elif first is None:
                first = at
        return first

    def is_result(self, value: ValueId, inside: Counter[ValueId]) -> bool:
        """Do phases outside the group read the value?  A value without readers counts too: it is kept because it may fail."""
        return self.uses[value] > inside[value] or not inside[value]

    def subgraph(self, sub: SubGraph) -> SubGraph:
        return replace(sub, phases=self.block(sub.phases))

    def may_join(self, phase: Structured) -> bool:
        return bool(phase.reads) and not is_view(phase) and not any(r.value in self.graph.roots for r in phase.results)

    def fits(
        self, group: _FusionGroup, phase: Structured, outputs: int, made_at: Mapping[ValueId | SizeVariable, int],
        others: _FusionGroup | None = None,
    ) -> bool:  # fmt: skip
        """Does the phase share reads with the group, and is all it reads available at the group's position?

        `outputs`: the number of results that other phases read.  `others`: the phase's own group, all of which is to join."""
        if any(made_at.get(v, -1) >= group.at for size in sizes(phase) for v in size.variables()):
            return False
        space = axis_sizes(phase.axes)
        inside = group.values if others is None else group.values | others.values
        related = others is not None
        for read in phase.reads:
            if read.value in inside:
                if has_reduction(phase) or not is_identity(space, read.projection, self.graph.types[read.value].shape):
                    return False
                related = True
            elif made_at.get(read.value, -1) >= group.at:
                return False
            else:
                related |= (read.value, read.projection) in group.reads
        sources = group.sources.union(operands(phase), () if others is None else others.sources) - inside
        nodes = group.nodes + (len(phase.body) if others is None else others.nodes)
        results_of_all = group.outputs + (outputs if others is None else others.outputs)
        return related and nodes <= MOST_NODES and len(sources) <= MOST_SOURCES and results_of_all <= MOST_RESULTS

    def merged(self, group: _FusionGroup) -> Structured:
        builder = BodyBuilder()
        node_of: dict[ValueId, int] = {}
        inside: Counter[ValueId] = Counter()
        merged: list[PhaseResult] = []
        for phase in group.members.values():
            inside.update(v for v in operands(phase) if v in group.values)
            places: list[int] = []
            for node in phase.body:
                match node:
                    case ReadNode():
                        read = phase.reads[node.index]
                        places.append(node_of[read.value] if read.value in node_of else builder.read(read, node))
                    case ApplyNode():
                        places.append(builder.add(replace(node, args=tuple(places[a] for a in node.args))))
                    case _:
                        places.append(builder.add(node))
            node_of.update((r.value, places[r.node]) for r in phase.results)
            merged.extend(replace(r, node=places[r.node]) for r in phase.results)
        return builder.finish(group.members[group.at], [r for r in merged if self.is_result(r.value, inside)])
