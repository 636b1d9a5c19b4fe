"""A tree of products as phases: contractions of matrices where that is what two parts are, else sums and products as such.

Neighbours: `tree`; `backend.library.contracting` and the kernels of sums run what is made.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import prod
from typing import Final

from .....typechecker.elements import Element, Kind
from .....typechecker.sizes import Size, number
from .....typechecker.types import ArrayType
from ...phases import (
    ApplyNode,
    Axis,
    AxisKind,
    Graph,
    LibraryPhase,
    Node,
    Phase,
    PhaseId,
    Projection,
    Read,
    ReadNode,
    Reshaped,
    Result,
    SizeNode,
    Structured,
    ValueId,
)
from ...projections import affine, axis_index
from ...registry import signature_of
from ...traverse import all_phases
from .index_form import Index, Operand, Region
from .tree import Part, Tree

RESULT: Final = -1
"""Stands for what a region makes, where operands have their numbers."""


class Making:
    """Makes phases; new values go into `types`."""

    def __init__(self, graph: Graph, types: dict[ValueId, ArrayType]) -> None:
        self.graph, self.types = graph, types
        self.last_value = max(graph.types, default=0)
        self.last_phase = max((phase.id for phase in all_phases(graph)), default=0)
        self.made: list[Phase] = []
        self.region: Region
        self.repeated: int | None = None
        self.root: Phase
        self.target: tuple[ValueId, tuple[Index, ...]]

    def phases(self, region: Region, tree: Tree, value: ValueId, root: Phase) -> list[Phase]:
        self.made, self.region, self.root = [], region, root
        wanted = frozenset(region.result)
        self.repeated = self.smallest() if region.repetitions != 1 else None
        found = self.part(tree.part, wanted, frozenset())
        if self.repeated == RESULT:
            found = self.times(found, region.repetitions)
        self.view(found, region.result, value)
        return self.made

    def smallest(self) -> int:
        """The operand with the fewest items, or `RESULT` if that has fewer: what a number multiplies with the least work."""
        parts = {place: set(operand.indices) for place, operand in enumerate(self.region.operands)}
        parts[RESULT] = set(self.region.result).intersection(set().union(*parts.values()))
        return min(parts, key=lambda place: prod(self.region.sizes[index] for index in parts[place]))

    # ------------------------------------------------------------------------------------- parts of a tree

    def part(self, part: Part, result: frozenset[Index], others: frozenset[Index]) -> Operand:
        """What a part makes; `others`: the indices of what it is multiplied with later."""
        if isinstance(part, int):
            summed = self.summed(self.region.operands[part], result | others)
            return self.times(summed, self.region.repetitions) if part == self.repeated else summed
        left, right = part
        first = self.part(left, result, others | self.all_of(right))
        second = self.part(right, result, others | self.all_of(left))
        kept = (frozenset(first.indices) | frozenset(second.indices)) & (result | others)
        return self.joined(first, second, kept)

    def all_of(self, part: Part) -> frozenset[Index]:
        if isinstance(part, int):
            return frozenset(self.region.operands[part].indices)
        return self.all_of(part[0]) | self.all_of(part[1])

    def summed(self, operand: Operand, kept: Collection[Index]) -> Operand:
        """An operand with the indices that nothing else has summed, one after the other; a diagonal read as such."""
        for index in dict.fromkeys(operand.indices):
            if index in kept:
                continue
            rest = tuple(own for own in dict.fromkeys(operand.indices) if own != index)
            operand = self.structured([operand], rest, index)
        if len(set(operand.indices)) < len(operand.indices):
            operand = self.view(operand, tuple(dict.fromkeys(operand.indices)))
        return operand

    def joined(self, first: Operand, second: Operand, kept: frozenset[Index]) -> Operand:
        """Two parts multiplied, and summed over what is not kept."""
        if first.indices[:1] == second.indices[-1:] and first.indices[-1:] != second.indices[:1]:
            first, second = second, first  # which need not be turned
        both = [index for index in first.indices if index in second.indices]
        shared = [index for index in both if index not in kept]
        batch = [index for index in both if index in kept]
        left = [index for index in first.indices if index not in both]
        right = [index for index in second.indices if index not in both]
        if not shared:
            return self.structured([first, second], (*batch, *left, *right), None)
        if not (batch or left or right) and len(shared) > 1:  # a sum of items: neither is turned
            return self.summed(self.structured([first, second], tuple(shared[:-1]), shared[-1]), ())
        if batch and not (left and right):
            merged = [self.flattened(part, (*batch, *own), shared) for part, own in ((first, left), (second, right))]
            return self.structured(merged, (*batch, *left, *right), shared[0])
        a = self.flattened(first, (*batch, *left), shared)
        b = self.flattened(second, tuple(batch), shared, tuple(right))
        return self.contracted(a, b, tuple(batch), tuple(left), tuple(right))

    def flattened(
        self, operand: Operand, before: tuple[Index, ...], shared: Sequence[Index], behind: tuple[Index, ...] = ()
    ) -> Operand:
        """With its axes in this order, and the shared ones as one, which the first of them names from now on."""
        if len(shared) == 1:
            return self.view(operand, (*before, shared[0], *behind))
        moved = self.view(operand, (*before, *shared, *behind))
        old = self.shape(moved.indices)
        new = (*self.shape(before), number(prod(self.region.sizes[index] for index in shared)), *self.shape(behind))
        return Operand(self.moved(moved.value, Projection((Reshaped(new, old),)), new), (*before, shared[0], *behind))

    # ------------------------------------------------------------------------------------------- phases

    def shape(self, indices: Sequence[Index]) -> tuple[Size, ...]:
        return tuple(number(self.region.sizes[index]) for index in indices)

    def value(self, shape: tuple[Size, ...]) -> ValueId:
        self.last_value += 1
        made = ValueId(self.last_value)
        self.types[made] = ArrayType(Element(self.region.kind), shape)
        return made

    def id(self) -> PhaseId:
        self.last_phase += 1
        return PhaseId(self.last_phase)

    def type(self, value: ValueId) -> ArrayType:
        return self.types.get(value) or self.graph.types[value]

    def moved(self, value: ValueId, projection: Projection, shape: tuple[Size, ...], target: ValueId | None = None) -> ValueId:
        """A view of a value."""
        made = self.value(shape) if target is None else target
        axes = tuple(Axis(size, AxisKind.PARALLEL) for size in shape)
        body = (ReadNode(0, self.region.kind),)
        self.made.append(
            Structured(self.id(), self.root.span, axes, (Read(value, projection),), body, (Result(made, 0, None),))
        )
        return made

    def view(self, operand: Operand, order: tuple[Index, ...], target: ValueId | None = None) -> Operand:
        """The operand with its axes in an order; of repeated ones the diagonal."""
        if operand.indices == order and target is None:
            return operand
        if operand.indices == order and target is not None and self.renamed(operand.value, target):
            return Operand(target, order)
        shape = self.type(target).shape if target is not None else self.shape(order)
        places = [axis_index(order.index(index)) for index in operand.indices]
        projection = affine(shape, places, self.type(operand.value).shape)
        return Operand(self.moved(operand.value, projection, shape, target), order)

    def renamed(self, value: ValueId, target: ValueId) -> bool:
        """Let the phase that made a value last make the target instead."""
        last = self.made[-1] if self.made else None
        if isinstance(last, Structured) and last.results[0].value == value:
            self.made[-1] = replace(last, results=(replace(last.results[0], value=target),))
        elif isinstance(last, LibraryPhase) and last.results == (value,):
            self.made[-1] = replace(last, results=(target,))
        else:
            return False
        self.types.pop(value, None)
        return True

    def structured(self, operands: Sequence[Operand], result: tuple[Index, ...], summed: Index | None) -> Operand:
        """The product of one or two operands, with one index summed."""
        names = result if summed is None else (*result, summed)
        sizes: dict[Index, Size] = {}
        for operand in operands:
            sizes.update(zip(operand.indices, self.type(operand.value).shape, strict=True))
        space = tuple(sizes[index] for index in names)
        kinds = [AxisKind.REDUCE if index == summed else AxisKind.PARALLEL for index in names]
        axes = tuple(map(Axis, space, kinds))
        reads: list[Read] = []
        for operand in operands:
            places = [axis_index(names.index(index)) for index in operand.indices]
            reads.append(Read(operand.value, affine(space, places, self.type(operand.value).shape)))
        body: list[Node] = [ReadNode(place, self.region.kind) for place in range(len(reads))]
        if len(reads) == 2:
            body.append(ApplyNode("mul", (0, 1), self.region.kind))
        made = self.value(tuple(sizes[index] for index in result))
        reduction = None if summed is None else "add"
        results = (Result(made, len(body) - 1, reduction),)
        self.made.append(Structured(self.id(), self.root.span, axes, tuple(reads), tuple(body), results))
        return Operand(made, result)

    def times(self, operand: Operand, count: int) -> Operand:
        """The operand multiplied by a whole number."""
        kind, shape = self.region.kind, self.type(operand.value).shape
        body: list[Node] = [ReadNode(0, kind), SizeNode(number(count))]
        if kind is not Kind.I64:
            body.append(ApplyNode("convert", (1,), kind))
        body.append(ApplyNode("mul", (0, len(body) - 1), kind))
        made = self.value(shape)
        axes = tuple(Axis(size, AxisKind.PARALLEL) for size in shape)
        reads = (Read(operand.value, Projection(())),)
        self.made.append(Structured(self.id(), self.root.span, axes, reads, tuple(body), (Result(made, len(body) - 1, None),)))
        return Operand(made, operand.indices)

    def contracted(
        self, first: Operand, second: Operand, batch: tuple[Index, ...], left: tuple[Index, ...], right: tuple[Index, ...]
    ) -> Operand:
        """`first +.× second`, of each point of a frame; several axes of a side stay several."""
        order = (*batch, *left, *right)
        made = self.value(self.shape(order))
        attributes = {"frame": len(batch), "framed": (True, True)} if batch else {}
        phase = LibraryPhase(self.id(), self.root.span, "contract", (first.value, second.value), (made,), attributes, (), ())
        self.made.append(replace(phase, signature=signature_of(phase, {**self.graph.types, **self.types})))
        return Operand(made, order)


