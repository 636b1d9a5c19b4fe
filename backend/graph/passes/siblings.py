"""Sibling fusion: phases over one iteration space that read the same operands, or one another at the same point, become one.

`+/x` and `⌈/x` become one pass over x; the bodies of a loop that work element by element on its state become one phase with
several results, and a value that only they read is never stored.  The merged phase takes the place of its first member, so
a phase joins only if everything else it reads is known there.  Views, roots, phases of different spaces, and reductions that
go one item after the other beside others stay apart; a body grows no further than `MOST_NODES` nodes, `MOST_SOURCES` operands
and `MOST_RESULTS` results.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field, replace
from typing import Final

from ....lang.records import dataclass
from ....typechecker.scalars import is_sequential
from ....typechecker.sizes import SizeVariable
from ..phases import ApplyNode, Axis, Graph, Phase, Projection, ReadNode, Result, Structured, SubGraph, ValueId
from ..projections import is_identity
from ..traverse import axis_sizes, defines, mentions, operands, results, sizes, with_subgraphs
from .fusion import MOST_NODES, MOST_SOURCES
from .rewriting import BodyBuilder, has_reduction, is_view

MOST_RESULTS: Final = 6


def join_siblings(graph: Graph) -> Graph:
    """See the module."""
    return replace(graph, phases=_Block(graph, mentions(graph)).block(graph.phases))


@dataclass(slots=True)
class _Group:
    """Phases to be merged at the place of the first."""

    at: int
    members: list[Structured] = field(default_factory=list)
    values: set[ValueId] = field(default_factory=set)  # what members make
    reads: set[tuple[ValueId, Projection]] = field(default_factory=set)
    sources: set[ValueId] = field(default_factory=set)
    nodes: int = 0

    def add(self, phase: Structured) -> None:
        self.members.append(phase)
        self.values.update(r.value for r in phase.results)
        self.reads.update((r.value, r.projection) for r in phase.reads)
        self.sources.update(r.value for r in phase.reads)
        self.nodes += len(phase.body)


class _Block:
    def __init__(self, graph: Graph, uses: Counter[ValueId]) -> None:
        self.graph = graph
        self.uses = uses

    def block(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        phases = tuple(with_subgraphs(p, self.subgraph) for p in phases)
        made_at: dict[ValueId | SizeVariable, int] = {}
        latest: dict[tuple[tuple[Axis, ...], bool], _Group] = {}
        groups: dict[int, _Group] = {}  # by the place of every member
        for at, phase in enumerate(phases):
            if isinstance(phase, Structured) and self.may_join(phase):
                key = phase.axes, any(is_sequential(r.reduction or "") for r in phase.results)
                group = latest.get(key)
                if group is None or not self.fits(group, phase, made_at):
                    group = latest[key] = _Group(at)
                group.add(phase)
                groups[at] = group
            made_at.update(dict.fromkeys(defines(phase), at))
            for value in results(phase):
                made_at[value] = groups[at].at if at in groups else at
        kept: list[Phase] = []
        for at, phase in enumerate(phases):
            group = groups.get(at)
            if group is None or len(group.members) == 1:
                kept.append(phase)
            elif group.at == at:
                kept.append(self.merged(group))
        return tuple(kept)

    def subgraph(self, sub: SubGraph) -> SubGraph:
        return replace(sub, phases=self.block(sub.phases))

    def may_join(self, phase: Structured) -> bool:
        return bool(phase.reads) and not is_view(phase) and not any(r.value in self.graph.roots for r in phase.results)

    def fits(self, group: _Group, phase: Structured, made_at: dict[ValueId | SizeVariable, int]) -> bool:
        """Does the phase share work with the group, and is all it reads known where the group is?"""
        if any(made_at.get(v, -1) >= group.at for size in sizes(phase) for v in size.variables()):
            return False
        space = axis_sizes(phase.axes)
        related = False
        for read in phase.reads:
            if read.value in group.values:
                if has_reduction(phase) or not is_identity(space, read.projection, self.graph.types[read.value].shape):
                    return False
                related = True
            elif made_at.get(read.value, -1) >= group.at:
                return False
            else:
                related |= (read.value, read.projection) in group.reads
        return (
            related
            and group.nodes + len(phase.body) <= MOST_NODES
            and len(group.sources | {r.value for r in phase.reads}) <= MOST_SOURCES
            and len(group.values) + len(phase.results) <= MOST_RESULTS
        )

    def merged(self, group: _Group) -> Structured:
        builder = BodyBuilder()
        made: dict[ValueId, int] = {}
        inside: Counter[ValueId] = Counter()
        found: list[Result] = []
        for phase in group.members:
            inside.update(v for v in operands(phase) if v in group.values)
            places: list[int] = []
            for node in phase.body:
                match node:
                    case ReadNode():
                        read = phase.reads[node.index]
                        places.append(made[read.value] if read.value in made else builder.read(read, node))
                    case ApplyNode():
                        places.append(builder.add(replace(node, args=tuple(places[a] for a in node.args))))
                    case _:
                        places.append(builder.add(node))
            made.update((r.value, places[r.node]) for r in phase.results)
            found.extend(replace(r, node=places[r.node]) for r in phase.results)
        wanted = [r for r in found if self.uses[r.value] > inside[r.value] or not inside[r.value]]  # nobody's: it may fail
        return builder.finish(group.members[0], wanted)
