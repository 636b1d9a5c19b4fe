"""Contractions regrouped: regions of products and sums that hold a contraction, in the order that multiplies least.

`(A+.×B)+.×v` becomes `A+.×B+.×v`, and of row sums of `A+.×B` the rows of B are summed first.  Another order rounds in other
places, within the bound that contractions have (docs/kernels.md); integers wrap, so theirs are the same.  Sizes are numbers here.

Neighbours: `index_form` (what a region is), `tree` (the cheapest order), `phases` (what a tree becomes), `wording` (in words).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from .....typechecker.elements import Kind
from .....typechecker.types import ArrayType
from ...costs import cost_of
from ...phases import OFFER, Graph, Phase, PhaseId, Rewritten, SubGraph, ValueId
from ...traverse import all_phases, operands, results, subgraphs, with_subgraphs
from .index_form import Block, Region, is_member, region_of
from .phases import Making
from .tree import best_tree
from .wording import written

_LARGEST: Final = (1 << 63) - 1
WORTH: Final = 0.75
"""The share of the multiplications that is left, at most, where the order is changed."""
REGROUPED: Final = "products"
OFFERED: Final = 2
LEAST_OFFERED: Final = 1 << 16
"""What sums without a product would spare, and take, at least, for the plan to say so: their order is theirs."""


def regroup(graph: Graph) -> Graph:
    """See the module."""
    regrouping = _Regrouping(graph)
    phases = regrouping.block(graph.phases)
    if not regrouping.notes:
        return graph
    if not regrouping.types and phases == graph.phases:
        phases = graph.phases
    types = {**graph.types, **regrouping.types}
    return replace(graph, phases=phases, types=types, rewritten=(*graph.rewritten, *regrouping.notes))


class _Regrouping:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.uses: Counter[ValueId] = Counter(graph.roots)
        for phase in all_phases(graph):
            self.uses.update(operands(phase))
            for sub in subgraphs(phase):
                self.uses.update(sub.results)
        self.uses.update(graph.roots)
        self.shapes: dict[ValueId, tuple[int, ...]] = {}
        for value, type in graph.types.items():
            sizes = [size.constant for size in type.shape]
            if None not in sizes:
                self.shapes[value] = tuple(int(size) for size in sizes if size is not None)
        self.kinds: dict[ValueId, Kind] = {value: type.element.kind for value, type in graph.types.items()}
        self.types: dict[ValueId, ArrayType] = {}
        self.notes: list[Rewritten] = []
        self.making = Making(graph, self.types)

    def subgraph(self, graph: SubGraph) -> SubGraph:
        phases = self.block(graph.phases)
        return graph if phases == graph.phases else replace(graph, phases=phases)

    def block(self, phases: Sequence[Phase]) -> tuple[Phase, ...]:
        phases = [with_subgraphs(phase, self.subgraph) for phase in phases]
        members = {results(phase)[0]: phase for phase in phases if is_member(phase, self.kinds, self.shapes)}
        block = Block(members, self.uses, self.shapes)
        inner = {value for phase in members.values() for value in operands(phase) if value in members and self.uses[value] == 1}
        replaced: dict[PhaseId, list[Phase]] = {}
        pending = [value for value in members if value not in inner]
        done: set[ValueId] = set()
        while pending:
            value = pending.pop()
            if value in done:
                continue
            done.add(value)
            region = region_of(members[value], value, block, self.kinds[value])
            pending += [operand.value for operand in region.operands if operand.value in inner]
            made = self.regrouped(region, value)
            if made is not None:
                replaced.update({member.id: [] for member in region.members})
                replaced[members[value].id] = made
        if not replaced:
            return tuple(phases)
        return tuple(new for phase in phases for new in replaced.get(phase.id, [phase]))

    def regrouped(self, region: Region, value: ValueId) -> list[Phase] | None:
        """The region in the best order; None if that saves little."""
        if len(region.members) < 2 or len(region.operands) < 2 or 0 in region.sizes.values() or region.repetitions > _LARGEST:
            return None
        tree = best_tree(region)
        if tree.cost[0] > WORTH * region.cost:
            return None
        root = region.members[0]
        if region.contracts:
            made = self.making.phases(region, tree, value, root)
            says = f"regrouped: {self.fewer(region, made, self.types)} operations"
            self.notes.append(Rewritten(REGROUPED, says, root.span))
            return made
        if region.cost >= max(OFFERED * tree.cost[0], LEAST_OFFERED):
            types: dict[ValueId, ArrayType] = {}
            fewer = self.fewer(region, Making(self.graph, types).phases(region, tree, value, root), types)
            says = f"written with `+.×`, its sums might have another order: {fewer} operations"
            self.notes.append(Rewritten(OFFER, says, root.span, written(region, tree, self.graph.names) or ""))
        return None

    def fewer(self, region: Region, made: Sequence[Phase], types: Mapping[ValueId, ArrayType]) -> str:
        """How many times fewer operations than its members the phases that are made of a region take, as plans count them."""
        before = _operations(region.members, self.graph.types)
        factor = before / max(1, _operations(made, {**self.graph.types, **types}))
        return f"{factor:.0f}× fewer" if factor >= 10 else f"{factor:.1f}× fewer"


def _operations(phases: Sequence[Phase], types: Mapping[ValueId, ArrayType]) -> int:
    """Of sizes that are numbers."""
    return sum(cost_of(phase, types).total().constant or 0 for phase in phases)
