"""Chains of matrix products in the order that multiplies least: `(A+.×B)+.×v` becomes `A+.×B+.×v`.

The products of a chain are its contractions of matrices of one kind, of which each but the last is read by the next alone; both
ends may be vectors.  Sizes are numbers here, so the best order is found by trying every last product of every run of factors.
Another order rounds in other places, within the bound that contractions have (phases.md); integers wrap, so theirs are the same.

The new products take over the phases and the values of the old ones, all at the place of the last.

Neighbours: `registry` (what a contraction is), `run.cpu.library.contracting` (runs one).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from ....lang.records import dataclass
from ....typechecker.elements import Element, Kind
from ....typechecker.sizes import Size
from ....typechecker.types import ArrayType
from ..phases import Graph, LibraryPhase, Phase, SubGraph, ValueId
from ..registry import frame_of, signature_of
from ..traverse import all_phases, operands, subgraphs, with_subgraphs

LONGEST: Final = 64
WORTH: Final = 0.75
"""The share of the multiplications that is left, at most, where the order is changed."""

_KINDS: Final = frozenset({Kind.F64, Kind.F32, Kind.C128, Kind.C64, Kind.I64})

Tree: TypeAlias = "int | tuple[Tree, Tree]"


def order_products(graph: Graph) -> Graph:
    """See the module."""
    uses: Counter[ValueId] = Counter()
    contractions = 0
    for phase in all_phases(graph):
        uses.update(operands(phase))
        for sub in subgraphs(phase):
            uses.update(sub.results)
        contractions += isinstance(phase, LibraryPhase) and phase.op == "contract"
    if contractions < 2:
        return graph
    ordering = _Ordering(graph, uses)
    phases = ordering.block(graph.phases)
    if not ordering.types:
        return graph
    names = {value: name for value, name in graph.names.items() if value not in ordering.types}
    return replace(graph, phases=phases, types={**graph.types, **ordering.types}, names=names)


@dataclass(frozen=True, slots=True)
class _Chain:
    """Contractions, the last one last, and the values they multiply, from left to right."""

    members: tuple[LibraryPhase, ...]
    factors: tuple[ValueId, ...]


class _Ordering:
    def __init__(self, graph: Graph, uses: Counter[ValueId]) -> None:
        self.graph, self.uses = graph, uses
        self.types: dict[ValueId, ArrayType] = {}  # of values that mean something else now

    def block(self, phases: Sequence[Phase]) -> tuple[Phase, ...]:
        phases = [with_subgraphs(phase, self.subgraph) for phase in phases]
        makers = {phase.results[0]: phase for phase in phases if isinstance(phase, LibraryPhase) and self.is_product(phase)}
        inner = {arg for phase in makers.values() for arg in phase.args if arg in makers and self.may_go(makers, arg, phase)}
        placed: dict[int, list[Phase]] = {}
        gone: set[int] = set()
        for value, phase in makers.items():
            if value in inner:
                continue
            chain = self.chain(phase, makers, inner)
            made = self.reordered(chain) if 2 < len(chain.factors) <= LONGEST else None
            if made is not None:
                placed[phase.id] = made
                gone.update(member.id for member in chain.members)
        if not placed:
            return tuple(phases)
        return tuple(new for phase in phases for new in (placed.get(phase.id, [] if phase.id in gone else [phase])))

    def subgraph(self, graph: SubGraph) -> SubGraph:
        phases = self.block(graph.phases)
        return graph if phases == graph.phases else replace(graph, phases=phases)

    def is_product(self, phase: LibraryPhase) -> bool:
        if phase.op != "contract" or frame_of(phase):
            return False
        types = [self.graph.types[value] for value in (*phase.args, *phase.results)]
        kinds = {type.element.kind for type in types}
        known = all(size.constant is not None for type in types for size in type.shape)
        ranks = [len(type.shape) for type in types[:2]]
        kind = next(iter(kinds))
        return (
            known and len(kinds) == 1 and (kind.is_float or kind.is_complex or kind is Kind.I64) and all(0 < r < 3 for r in ranks)
        )

    def may_go(self, makers: dict[ValueId, LibraryPhase], value: ValueId, reader: LibraryPhase) -> bool:
        """Is a product only a factor of the next?"""
        rank = len(self.graph.types[value].shape)
        if self.uses[value] != 1 or value in self.graph.roots or reader.args[0] == reader.args[1] or not rank:
            return False
        left = reader.args[0] == value  # a vector may only be the end that is on its side
        return rank == 2 or len(self.graph.types[makers[value].args[0 if left else 1]].shape) == 1

    def chain(self, top: LibraryPhase, makers: dict[ValueId, LibraryPhase], inner: set[ValueId]) -> _Chain:
        members: list[LibraryPhase] = []
        factors: list[ValueId] = []
        pending: list[ValueId] = [top.results[0]]
        while pending:
            value = pending.pop()
            if value == top.results[0] or value in inner:
                phase = makers[value]
                members.append(phase)
                pending += (phase.args[1], phase.args[0])
            else:
                factors.append(value)
        return _Chain(tuple(reversed(members)), tuple(factors))

    def reordered(self, chain: _Chain) -> list[Phase] | None:
        """The products in the best order; None if that saves little."""
        shapes = [self.graph.types[factor].shape for factor in chain.factors]
        if any(len(shape) != 2 for shape in shapes[1:-1]):
            return None
        rows = [shape[0] if len(shape) == 2 or place else None for place, shape in enumerate(shapes)]
        numbers = [_number(size) for size in rows] + [_number(shapes[-1][1]) if len(shapes[-1]) == 2 else 1]
        tree, least = _best(numbers)
        if least > WORTH * self.cost(chain):
            return None
        element = Element(self.graph.types[chain.members[-1].results[0]].element.kind)
        made: list[Phase] = []
        waiting = list(chain.members[:-1])

        def multiply(tree: Tree, *, last: bool) -> tuple[ValueId, tuple[Size, ...]]:
            if isinstance(tree, int):
                return chain.factors[tree], shapes[tree]
            left, first = multiply(tree[0], last=False)
            right, second = multiply(tree[1], last=False)
            old = chain.members[-1] if last else waiting.pop(0)
            shape = (*first[:-1], *second[1:])
            if not last:
                self.types[old.results[0]] = ArrayType(element, shape)
            phase = replace(old, args=(left, right))
            made.append(replace(phase, signature=signature_of(phase, {**self.graph.types, **self.types})))
            return old.results[0], shape

        multiply(tree, last=True)
        return made

    def cost(self, chain: _Chain) -> int:
        total = 0
        for member in chain.members:
            left, right = (self.graph.types[arg].shape for arg in member.args)
            product = 1
            for size in (*left, *right[1:]):
                product *= _number(size)
            total += product
        return total


def _number(size: Size | None) -> int:
    return 1 if size is None or size.constant is None else size.constant


def _best(sizes: Sequence[int]) -> tuple[Tree, int]:
    """The order that multiplies least of factors `sizes[i]` × `sizes[i+1]`, and its multiplications."""
    count = len(sizes) - 1
    best: dict[tuple[int, int], tuple[int, Tree]] = {(i, i): (0, i) for i in range(count)}
    for length in range(2, count + 1):
        for first in range(count - length + 1):
            last = first + length - 1
            found: tuple[int, Tree] | None = None
            for cut in range(last - 1, first - 1, -1):
                (left, a), (right, b) = best[first, cut], best[cut + 1, last]
                cost = left + right + sizes[first] * sizes[cut + 1] * sizes[last + 1]
                if found is None or cost < found[0]:
                    found = (cost, (a, b))
            assert found is not None
            best[first, last] = found
    return best[0, count - 1][1], best[0, count - 1][0]
