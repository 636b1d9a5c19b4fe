"""Sinks phases into the maps that alone read them, batches maps that need not be maps, and rematerialises cheap producers.

Lifted functions are batched (`lowering.state`, Note [Batching]), so a phase that does not depend on a cell's run-time size runs
for all cells at once: in `{m ← ⍵<x ⋄ (+/m/x)÷+/m}¨y` the masks form one matrix.  Sunk into the map they are one row at a time,
which stays in cache.  Reductions of such rows sink too, as further results of the map.

Sizes are numbers: rows of a few items stay outside, where one phase computes them faster than one call a row would.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import prod
from typing import Final

from ....lang.support.records import dataclass, replace
from ....typechecker.elements import ArrayType, Element, Kind
from ...scalar.function_table import LIGHT, MODERATE
from ..phases import (
    Affine,
    ApplyNode,
    Axis,
    AxisKind,
    AxisNode,
    Graph,
    Map,
    Node,
    Phase,
    PhaseId,
    PhaseResult,
    Projection,
    Read,
    ReadNode,
    Reshaped,
    Shape,
    Stage,
    Structured,
    SubGraph,
    Term,
    ValueId,
    affine,
    axis_index,
    may_fill,
    simplify,
)
from ..traverse import all_phases, axis_sizes, operands, results, subgraphs, uses, with_subgraphs
from .fusion import Fusion, FusionCluster
from .rewriting import BodyBuilder, body_may_fail, has_reduction
from .unroll_short_axes import MIN_POINTS
from .usage import at_most_once, multiplicity

# ---------------------------------------------------------------------------------------------------- sinking

MIN_ROW_ITEMS: Final = 1 << 8
"""The least items of a row for which its producer sinks into the map."""


def sink(graph: Graph) -> Graph:
    """Returns the graph with producers of rows moved into the maps that alone read them."""
    sinking = _Sinking(graph)
    phases = sinking.block(graph.phases)
    return graph if phases is graph.phases else replace(graph, phases=phases, types=sinking.types)


@dataclass(slots=True)
class _SinkTarget:
    """A map that phases sink into.  `known`: its params, by operand and the number of frame axes that the operand carries.
    `before`: phases to insert before the map."""

    map: Map
    known: dict[tuple[ValueId, int], ValueId]
    before: list[Phase]


class _Sinking:
    def __init__(self, graph: Graph) -> None:
        self.roots, self.types = graph.roots, dict(graph.types)
        self.last_value = max(graph.types, default=0)
        self.last_phase = max((phase.id for phase in all_phases(graph)), default=0)
        self.uses: Counter[ValueId] = Counter()
        for phase in all_phases(graph):
            self.uses.update(operands(phase))
            for sub in subgraphs(phase):
                self.uses.update(sub.results)

    def block(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        block = [with_subgraphs(phase, self.subgraph) for phase in phases]
        for phase in [phase for phase in block if isinstance(phase, Map)]:
            known = {(arg, n): param for arg, n, param in zip(phase.args, phase.frames, phase.body.params, strict=True)}
            filling = _SinkTarget(phase, known, [])
            while len(filling.known) == len(filling.map.args) and self.sink_one(filling, block):
                pass
        same = len(block) == len(phases) and all(a is b for a, b in zip(block, phases, strict=True))
        return phases if same else tuple(block)

    def subgraph(self, sub: SubGraph) -> SubGraph:
        phases = self.block(sub.phases)
        return sub if phases is sub.phases else replace(sub, phases=phases)

    def sink_one(self, filling: _SinkTarget, block: list[Phase]) -> bool:
        """Sink the producer of an operand of the map into it, with the reductions of its result; False if no producer can
        sink."""
        map = filling.map
        makers = {value: phase for phase in block[: block.index(map)] for value in results(phase)}
        for value, depth in zip(map.args, map.frames, strict=True):
            maker = makers.get(value)
            if not isinstance(maker, Structured) or not self.makes_rows(maker, depth):
                continue
            rows = set(results(maker))
            others = [phase for phase in block if phase is not map and not rows.isdisjoint(uses(phase))]
            readers = [phase for phase in others if isinstance(phase, Structured) and self.may_follow(phase, map, block)]
            read = Counter([v for v in map.args if v in rows])
            read.update(v for phase in readers for v in operands(phase) if v in rows)
            alone = all(self.uses[v] == read[v] for v in rows)
            if len(readers) == len(others) and alone and self.try_sink(filling, maker, readers, depth, block):
                return True
        return False

    def makes_rows(self, maker: Structured, depth: int) -> bool:
        cell = [size.constant for size in axis_sizes(maker.axes)[depth:]]
        if not depth or not cell or None in cell or prod(size for size in cell if size is not None) < MIN_ROW_ITEMS:
            return False
        return self.roots.isdisjoint(results(maker)) and not body_may_fail(maker.body)

    def may_follow(self, reader: Structured, map: Map, block: list[Phase]) -> bool:
        """May a reduction of rows sink into the map?"""
        rank, at, reduced = len(map.frame), block.index(map), results(reader)
        if not has_reduction(reader) or body_may_fail(reader.body) or not self.roots.isdisjoint(reduced):
            return False
        if len(reader.axes) <= rank or axis_sizes(reader.axes[:rank]) != map.frame:
            return False
        before = {value for phase in block[:at] for value in uses(phase)}
        later = {value for phase in block[at:] for value in results(phase)}
        return before.isdisjoint(reduced) and later.isdisjoint(operands(reader))

    def try_sink(
        self, filling: _SinkTarget, maker: Structured, readers: Sequence[Structured], depth: int, block: list[Phase]
    ) -> bool:
        """Sink a phase and the reductions of its results into a map; False if some of them cannot be computed cell by cell."""
        old, rank = filling.map, len(filling.map.frame)
        trial = _SinkTarget(old, dict(filling.known), [])
        rows = {value: trial.known.setdefault((value, depth), self.cell(value, depth)) for value in results(maker)}
        inner = [self.phase_of_cell(maker, depth, trial), *(self.phase_of_cell(reader, rank, trial) for reader in readers)]
        sunk = [phase for phase in inner if phase is not None]
        if len(sunk) < len(inner):
            return False
        for value in rows:
            del trial.known[value, depth]
        outside = {value for value, _ in trial.known} | {value for phase in sunk for value in operands(phase)}
        if not outside.isdisjoint(rows):
            return False
        cells = {value: self.cell(value, rank) for reader in readers for value in results(reader)}
        names = rows | cells
        sunk = [replace(phase, results=tuple(replace(r, value=names[r.value]) for r in phase.results)) for phase in sunk]
        args, frames = tuple(value for value, _ in trial.known), tuple(carried for _, carried in trial.known)
        body = SubGraph(tuple(trial.known.values()), (*sunk, *old.body.phases), (*old.body.results, *cells.values()))
        new = replace(old, args=args, frames=frames, body=body, results=(*old.results, *cells))
        gone: list[Phase] = [maker, *readers]
        here: list[Phase] = [new, *sunk, *trial.before]
        self.uses.subtract(value for phase in [old, *gone] for value in operands(phase))
        self.uses.update(value for phase in here for value in operands(phase))
        self.uses.update(cells.values())
        at = block.index(old)
        block[at : at + 1] = [*trial.before, new]
        block[:] = [phase for phase in block if not any(phase is other for other in gone)]
        filling.map, filling.known = new, trial.known
        return True

    def cell(self, value: ValueId, depth: int) -> ValueId:
        """A fresh value for the cell of `value` below its first `depth` axes."""
        return self.value(self.types[value].element.kind, self.types[value].shape[depth:])

    def value(self, kind: Kind, shape: Shape) -> ValueId:
        self.last_value += 1
        self.types[ValueId(self.last_value)] = ArrayType(Element(kind), shape)
        return ValueId(self.last_value)

    # ------------------------------------------------------------------------------------------- phases of a cell

    def phase_of_cell(self, phase: Structured, depth: int, filling: _SinkTarget) -> Structured | None:
        """The phase at one point of its first `depth` axes, on params of the map; None if a read is not of one cell."""
        builder, places = BodyBuilder(), list[int]()
        for node in phase.body:
            match node:
                case ReadNode():
                    read = self.read_of_cell(phase, phase.reads[node.index], node.kind, depth, filling)
                    if read is None:
                        return None
                    places.append(builder.read(read, node))
                case AxisNode(axis) if axis < depth:
                    row = self.read_of_point(phase, depth, node, Kind.I64, (), filling)
                    places.append(builder.read(row, ReadNode(0, Kind.I64)))
                case AxisNode(axis):
                    places.append(builder.add(AxisNode(axis - depth)))
                case ApplyNode():
                    places.append(builder.add(replace(node, args=tuple(places[arg] for arg in node.args))))
                case _:
                    places.append(builder.add(node))
        cell = replace(phase, axes=phase.axes[depth:])
        return builder.finish(cell, [replace(result, node=places[result.node]) for result in phase.results])

    def read_of_cell(self, phase: Structured, read: Read, kind: Kind, depth: int, filling: _SinkTarget) -> Read | None:
        space = axis_sizes(phase.axes)
        first, *rest = read.projection.stages or (Affine(tuple(map(axis_index, range(len(space)))), space),)
        if not isinstance(first, Affine):
            return None
        mentioned = {term.axis for index in first.indices for term in index.terms}
        carried = 0
        while carried < min(depth, len(first.indices)) and first.indices[carried] == axis_index(carried):
            if first.shape[carried] != space[carried]:
                break
            carried += 1
        cell = first.indices[carried:]
        if any(term.axis < depth for index in cell for term in index.terms) or (carried and rest):
            if any(axis >= depth for axis in mentioned):
                return None
            return self.read_of_point(phase, depth, ReadNode(0, kind), kind, (read,), filling)
        shifted = tuple(replace(i, terms=tuple(Term(t.axis - depth, t.coefficient) for t in i.terms)) for i in cell)
        stages = (Affine(shifted, first.shape[carried:], first.fills), *rest)
        return Read(self.known(filling, read.value, carried), simplify(space[depth:], stages))

    def read_of_point(
        self, phase: Structured, depth: int, node: Node, kind: Kind, reads: tuple[Read, ...], filling: _SinkTarget
    ) -> Read:
        """A read of a value that depends only on the point of the frame; a phase before the map computes the value."""
        axes = phase.axes[:depth]
        value = self.value(kind, axis_sizes(axes))
        self.last_phase += 1
        results = (PhaseResult(value, 0, None),)
        filling.before.append(Structured(PhaseId(self.last_phase), phase.span, axes, reads, (node,), results))
        return Read(self.known(filling, value, depth), affine(axis_sizes(phase.axes[depth:]), (), ()))

    def known(self, filling: _SinkTarget, value: ValueId, carried: int) -> ValueId:
        if not carried:
            return value
        if (value, carried) not in filling.known:
            filling.known[value, carried] = self.cell(value, carried)
        return filling.known[value, carried]


# -------------------------------------------------------------------------------------------- batching of maps
#
# Batching of maps whose body defines no run-time size: its phases run over the frame at once.
#
# Lowering batches what it can (`lowering.state`, Note [Batching]).  The op that required a map, such as a selection by a mask of
# a cell, may be gone once it is part of a masked reduction (`masked_reductions`); then the body has only structured phases.

def batch_maps(phases: tuple[Phase, ...], types: dict[ValueId, ArrayType]) -> tuple[Phase, ...]:
    """The phases of a block with such maps batched, also in sub-graphs; updates `types` of the values that get a frame."""

    def inside(sub: SubGraph) -> SubGraph:
        inner = batch_maps(sub.phases, types)
        return sub if inner is sub.phases else replace(sub, phases=inner)

    unmapped: list[Phase] = []
    for phase in phases:
        phase = with_subgraphs(phase, inside)
        unmapped += _batched_body(phase, types) if isinstance(phase, Map) else [phase]
    same = len(unmapped) == len(phases) and all(a is b for a, b in zip(unmapped, phases, strict=True))
    return phases if same else tuple(unmapped)


def _batched_body(map: Map, types: dict[ValueId, ArrayType]) -> list[Phase]:
    """The phases of the body over the frame; the map itself if one of them is not structured or may fail, or if the map returns a
    value twice or one that its body does not define."""
    body = [phase for phase in map.body.phases if isinstance(phase, Structured) and not body_may_fail(phase.body)]
    defined = {value for phase in body for value in results(phase)}
    shown = map.body.results
    if len(body) < len(map.body.phases) or not defined.issuperset(shown) or len(set(shown)) < len(shown):
        return [map]
    names = dict(zip(shown, map.results, strict=True))
    carried = {param: (arg, n) for param, arg, n in zip(map.body.params, map.args, map.frames, strict=True)}
    carried |= {value: (names.get(value, value), len(map.frame)) for value in defined}
    for value in defined - names.keys():
        types[value] = replace(types[value], shape=(*map.frame, *types[value].shape))
    for value in (*names, *map.body.params):
        del types[value]
    return [_over_frame(map.frame, phase, carried) for phase in body]


def _over_frame(frame: Shape, phase: Structured, carried: Mapping[ValueId, tuple[ValueId, int]]) -> Structured:
    """The phase over the frame.  `carried`: by value of a cell, the batched value and how many axes of the frame it has."""
    depth, cell = len(frame), axis_sizes(phase.axes)
    axes = (*(Axis(size, AxisKind.PARALLEL) for size in frame), *phase.axes)
    reads: list[Read] = []
    for read in phase.reads:
        value, depth_of_value = carried.get(read.value, (read.value, 0))
        chosen = (*range(depth_of_value), *range(depth, len(axes)))
        point = Affine(tuple(map(axis_index, chosen)), (*frame[:depth_of_value], *cell))
        stages = (point, *(_in_frame(stage, frame[:depth_of_value]) for stage in read.projection.stages))
        reads.append(Read(value, simplify(axis_sizes(axes), stages)))
    body = tuple(AxisNode(node.axis + depth) if isinstance(node, AxisNode) else node for node in phase.body)
    renamed = tuple(replace(result, value=carried[result.value][0]) for result in phase.results)
    return replace(phase, axes=axes, reads=tuple(reads), body=body, results=renamed)


def _in_frame(stage: Stage, frame: Shape) -> Stage:
    """The stage with the axes of a frame in front, which it leaves unchanged."""
    if isinstance(stage, Reshaped):
        return Reshaped((*frame, *stage.source), (*frame, *stage.target))
    depth = len(frame)
    moved = (
        replace(index, terms=tuple(replace(term, axis=term.axis + depth) for term in index.terms)) for index in stage.indices
    )
    return replace(stage, indices=(*map(axis_index, range(depth)), *moved), shape=(*frame, *stage.shape))


# ---------------------------------------------------------------------------------------------- rematerialisation
#
# Rematerialisation: a little arithmetic on one large array is computed again in each of several readers.
#
# If `+/d×d` and `d÷s` read `d ← x-m`, it would be written once and read twice; computed again from `x` in both it needs no array.
# The same goes for a scalar made of scalars (`m ← s÷n`), which otherwise would be a phase of its own.
#
# Runs on a graph whose sizes are numbers, for spaces large enough for kernels, and only in the main block: loops are compiled as
# one region.

MOST_READERS: Final = 4
MOST_LIGHT_NODES: Final = 8


def recompute(graph: Graph) -> Graph:
    """Returns the graph with cheap producers of several readers merged into each reader."""
    fusion = _Recomputing(graph)
    phases = fusion.block(graph.phases, {})
    return fusion.result(phases) if fusion.changed else graph


class _Recomputing(Fusion):
    """Fusion restricted to cheap producers, which are merged into all their readers."""

    why_recomputed = "making it takes little arithmetic, each time it is read"

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.changed = False
        self.reading: dict[ValueId, list[tuple[Shape, Projection]]] = defaultdict(list)
        for phase in graph.phases:
            if isinstance(phase, Structured):
                space = axis_sizes(phase.axes)
                for read in phase.reads:
                    self.reading[read.value].append((space, read.projection))

    def pays(self, producer: FusionCluster, value: ValueId) -> bool:
        readers = self.reading[value]
        if len(readers) != self.mentions[value] or len(readers) > MOST_READERS or not self.is_light(producer):
            return False
        if producer.phase.axes and not all(at_most_once(multiplicity(*reader)) and not may_fill(reader[1]) for reader in readers):
            return False
        return all(_points(points) >= MIN_POINTS for points, _ in readers)

    def mark(self, phase: Structured, here: dict[ValueId, FusionCluster]) -> FusionCluster:
        cluster = super().mark(phase, here)
        self.changed |= bool(cluster.fused)
        return cluster

    def is_light(self, producer: FusionCluster) -> bool:
        """Is the producer a little arithmetic on at most one array of the result's size, or a scalar made of scalars?"""
        points = _points(axis_sizes(producer.phase.axes))
        sizes = [_points(self.graph.types[value].shape) for value in producer.sources]
        few = all(size == 1 for size in sizes) if points == 1 else sum(2 * size > points for size in sizes) == 1
        return few and producer.nodes <= MOST_LIGHT_NODES and _is_arithmetic(producer)

    def enters_subgraphs(self) -> bool:
        return False


def _is_arithmetic(cluster: FusionCluster) -> bool:
    phase = cluster.phase
    known = LIGHT if phase.axes else MODERATE
    if has_reduction(phase) or body_may_fail(phase.body):
        return False
    for node in phase.body:
        if isinstance(node, AxisNode) or (isinstance(node, ApplyNode) and node.function not in known):
            return False
        if isinstance(node, ApplyNode | ReadNode) and node.kind.is_complex:
            return False
    return all(_is_arithmetic(inner) for inner in cluster.fused.values())


def _points(shape: Shape) -> int:
    sizes = [size.constant for size in shape]
    return 0 if None in sizes else int(prod(n for n in sizes if n is not None))
