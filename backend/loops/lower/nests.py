"""A scalar body in loops over its axes: kernels, chains along rows and phases of regions.

The axes are loops in order, the reduced one last; `kernels.ir.Form` says which of them goes over vectors.  A node is computed in
the outermost loop in which all that it depends on is known.  Reductions are those of `orders` where the order shows, else in
registers.  Where items lie, and what becomes of results, is said by who has them.

Note [Few items].  Rows of so few items that vectors go across rows have a vector for each column, which the printer takes from
whole rows (`llvm.memory`, Note [Rows]).

Neighbours: `kernel` (over an argument block), `structured` (over a scope), `rows` and `cards`; `orders`, `reducing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import ClassVar

from ....typechecker.elements import Kind
from ....typechecker.scalars import identity_of, may_fail
from ...kernels.build import bits_of, late_nodes, used_nodes
from ...kernels.ir import BLOCK, FETCH, PROVED, Accumulator, Apply, Argument, Coordinate, Form, Literal, Load, Node, Result
from ..builder import Builder, at, power
from ..ir import ZERO, Index, LoopKind, plus
from ..orders import (
    MOST,
    MOST_UNROLLED,
    Items,
    cannot_fail,
    from_the_right,
    in_lanes,
    in_vectors,
    of_any_length,
    ordered,
    together,
    unrolled,
)
from ..reducing import Reduction, joined, states


@dataclass(frozen=True, slots=True)
class Extent:
    """What is known of the last axis: its `length`, if that is short and always the same; the most that it can be; whether there
    is surely an item."""

    length: int = 0
    most: int = MOST
    is_some: bool = True


class Nest:
    """`parts` are the nodes of all results, one after the other, and `reductions` join these; `known`: the registers of nodes."""

    outer: ClassVar = LoopKind.SERIAL
    """Of loops over axes that are not the vector axis, behind no other."""
    in_order: ClassVar = True
    """Are items reduced in their order, or by threads at once?"""
    most_cells = 1024
    """Cells side by side that are reduced together, of all results."""

    def __init__(self, b: Builder, form: Form, nodes: Sequence[Node], kinds: Sequence[Kind], results: Sequence[Result],
                 extents: Sequence[Index], last: Extent = Extent()) -> None:  # fmt: skip
        self.b, self.form, self.nodes, self.extents, self.last = b, form, nodes, extents, last
        self.results_of_body = results
        self.parts = [node for r in results for node in r.nodes]
        self.reductions = [Reduction(r.reduction or "", kinds[n], self.in_order) for r in results for n in r.nodes]
        self.late = late_nodes(nodes)
        """The nodes that depend on the state of a reduction from the right."""
        self.axes: list[frozenset[int]] = []
        for node in nodes:
            self.axes.append(self.depends(node))
        self.at_depth: list[list[int]] = [[] for _ in range(len(extents) + 1)]
        """The nodes that are known inside so many loops and not before."""
        for place in sorted(used_nodes(nodes, [node for r in results for node in r.roots])):
            self.at_depth[max(self.axes[place], default=-1) + 1].append(place)
        self.known: dict[int, str] = {}

    # ------------------------------------------------------------------------------------------- items

    def depends(self, node: Node) -> frozenset[int]:
        """The axes on which a node depends, once those of earlier ones are known."""
        raise NotImplementedError

    def load(self, node: Load, point: Sequence[Index], mask: str | None) -> str:
        """An operand's item, which is there if a mask is true."""
        raise NotImplementedError

    def argument(self, place: int) -> str:
        raise NotImplementedError

    def coordinate(self, axis: int, point: Sequence[Index]) -> Index:
        return point[axis]

    def fetch(self, place: int, node: Apply, registers: Sequence[str], point: Sequence[Index]) -> str:
        """An item by an index."""
        raise NotImplementedError

    def check(self, place: int, node: Apply) -> int:
        """The number of a node's check."""
        return place

    def give(self, point: Sequence[Index], registers: Sequence[str]) -> None:
        """Takes the results at a point of the parallel axes, part after part."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------- nodes

    def compute(self, places: Iterable[int], point: Sequence[Index], known: dict[int, str], mask: str | None = None) -> None:
        for place in places:
            known[place] = self.node(place, point, known, mask)

    def enter(self, point: Sequence[Index], known: dict[int, str]) -> None:
        """Compute what is known first at a point of so many axes."""
        self.compute(self.at_depth[len(point)], point, known)

    def values(self, point: Sequence[Index], known: dict[int, str], mask: str | None = None) -> list[str]:
        """Registers of the parts at a point of all axes."""
        own = dict(known)
        self.compute([place for place in self.at_depth[len(point)] if place not in self.late], point, own, mask)
        return [own[node] for node in self.parts]

    def states(self, point: Sequence[Index], known: dict[int, str]) -> list[str]:
        """Of the items at a point of all axes."""
        finds_places = any(one.finds_place for one in self.reductions)
        items, last = self.values(point, known), len(point) - 1
        place = self.b.number(self.coordinate(last, point)) if finds_places else ""
        return [own for one, item in zip(self.reductions, items, strict=True) for own in one.of_item(self.b, item, place)]

    def outcomes(self, registers: Sequence[str]) -> list[str]:
        """Of states."""
        return [one.result(self.b, own) for one, own in states(self.reductions, registers)]

    def node(self, place: int, point: Sequence[Index], known: dict[int, str], mask: str | None = None) -> str:
        b, node = self.b, self.nodes[place]
        match node:
            case Load():
                return self.load(node, point, mask)
            case Literal(kind, bits):
                return b.constant(kind, bits)
            case Argument(number):
                return self.argument(number)
            case Accumulator():
                return known[place]
            case Coordinate(axis):
                return b.number(self.coordinate(axis, point))
            case Apply(function, args, compute, kind, parameter):
                registers: Sequence[str] = [known[arg] for arg in args]
                if function in (FETCH, PROVED):
                    return self.fetch(place, node, registers, point)
                if function == "ipow":
                    return power(b, registers[0], registers[1], kind)
                if not may_fail(function, kind):
                    return b.apply(function, registers, compute, kind, parameter)
                return b.apply(function, b.where(mask, registers, compute), compute, kind, parameter, self.check(place, node))

    # ------------------------------------------------------------------------------------------- loops

    @property
    def vector_axis(self) -> int:
        return len(self.extents) - (1 if self.form in (Form.MAP, Form.ALONG) else 2)

    def write(self) -> None:
        point, known = list[Index](), self.known
        with ExitStack() as loops:
            self.enter(point, known)
            for extent in self.extents[: max(0, self.vector_axis)]:
                point.append(at(loops.enter_context(self.b.range(self.outer, extent)).index))
                self.enter(point, known)
            self.inside(point, known)

    def inside(self, point: Sequence[Index], known: dict[int, str]) -> None:
        """The vector axis and the reduced one."""
        match self.form:
            case Form.ALONG:
                self.give(point, self.reduced(point, known))
            case Form.ACROSS:
                self.across(point, known)
            case Form.FEW:
                self.few(point, known)
            case _ if not self.extents:
                self.give(point, self.values(point, known))
            case Form.MAP | Form.COLUMNS:
                with self.b.range(LoopKind.VECTOR, self.extents[self.vector_axis]) as loop:
                    here = [*point, at(loop.index)]
                    if self.form is Form.MAP:
                        self.give(here, self.values(here, known))
                    else:
                        self.enter(here, own := dict(known))
                        self.give(here, self.reduced(here, own))

    def few(self, point: Sequence[Index], known: dict[int, str]) -> None:
        """See Note [Few items]."""
        column = len(self.extents) - 1
        rows, items = column - 1, [dict(known) for _ in range(self.last.length)]
        alone = [place for place in self.at_depth[column + 1] if rows not in self.axes[place]]
        both = [place for place in self.at_depth[column + 1] if rows in self.axes[place]]
        for place, own in enumerate(items):
            self.compute(alone, [*point, ZERO, Index((), place)], own)
        with self.b.range(LoopKind.VECTOR, self.extents[rows]) as loop:
            here, of_row = [*point, at(loop.index)], dict(known)
            self.enter(here, of_row)
            for place, own in enumerate(items):
                own.update(of_row)
                self.compute(both, [*here, Index((), place)], own)
            for place, own in enumerate(items):
                self.give([*here, Index((), place)], [own[node] for node in self.parts])

    def across(self, point: Sequence[Index], known: dict[int, str]) -> None:
        """Reductions of cells side by side, so many at once."""
        most = min(self.most_cells, 2 * Nest.most_cells >> (len(self.parts) - 1).bit_length())
        with together(self.b, self.extents[-2], most) as (start, cells):

            def items(cell: Index) -> Items:
                here, own = [*point, plus(start, cell)], dict(known)
                self.enter(here, own)
                return lambda place, mask: self.values([*here, place], own, mask)

            def give(cell: Index, totals: Sequence[str]) -> None:
                self.give([*point, plus(start, cell)], totals)

            ordered(self.b, self.reductions, self.extents[-1], items, give, cells, self.last.most, is_some=self.last.is_some)

    # -------------------------------------------------------------------------------------- reductions

    def reduced(self, point: Sequence[Index], known: dict[int, str]) -> list[str]:
        """The reductions at a point of the parallel axes."""
        if self.late:
            return self.from_the_right(point, known)
        if any(one.is_ordered for one in self.reductions):
            return self.ordered(point, known)
        if self.form is Form.COLUMNS or any(one.finds_place for one in self.reductions):
            return self.one_by_one(point, known)
        return self.in_any_order(point, known)

    def ordered(self, point: Sequence[Index], known: dict[int, str]) -> list[str]:
        b, length, sums, totals = self.b, self.last.length, self.reductions, list[str]()

        def items(place: Index, mask: str | None = None) -> list[str]:
            return self.values([*point, place], known, mask)

        if 0 < length <= MOST_UNROLLED and (self.form is Form.COLUMNS or not point):
            return unrolled(b, sums, length, items)
        if length and (short := in_lanes(b, sums, length, items)) is not None:
            b.statements += short.statements
            return list(short.totals)
        if not self.last.is_some:
            return of_any_length(b, sums, self.extents[-1], items, self.last.most)
        ordered(b, sums, self.extents[-1], lambda _: items, lambda _, own: totals.extend(own), most=self.last.most)
        return totals

    def in_any_order(self, point: Sequence[Index], known: dict[int, str]) -> list[str]:
        """Reductions that are exact in any order; one truth value may be decided before the last item."""
        b, size, (first, *others) = self.b, self.extents[-1], self.reductions

        def items(place: Index) -> list[str]:
            return self.values([*point, place], known)

        if first.kind is Kind.BOOL and first.function in ("and", "or") and not others and self.last.most > BLOCK:
            with b.block() as early:
                totals = self.until_decided(first, items)
            if cannot_fail(early):
                b.statements += early
                return totals
        return list(in_vectors(b, self.reductions, items, (size,)))

    def until_decided(self, decided: Reduction, items: Callable[[Index], Sequence[str]]) -> list[str]:
        """What follows the block that decides it is not looked at."""
        b, size = self.b, self.extents[-1]
        with b.loop(LoopKind.SERIAL, (ZERO,), (size,), decided.entry(b), step=BLOCK) as block:
            start = at(block.index)
            block.yields = in_vectors(b, [decided], items, (plus(start, Index((), BLOCK)), size), start, block.inside)
            (now,) = block.yields
            block.until = now if decided.function == "or" else b.apply("not", (now,), Kind.BOOL, Kind.BOOL)
        return list(block.results)

    def one_by_one(self, point: Sequence[Index], known: dict[int, str]) -> list[str]:
        """Reductions that are exact in any order, and places of extremes, with their state in registers."""
        b, entry = self.b, [own for one in self.reductions for own in one.entry(self.b)]
        with b.range(LoopKind.SERIAL, self.extents[-1], entry) as loop:
            loop.yields = joined(b, self.reductions, loop.inside, self.states([*point, at(loop.index)], known))
        return self.outcomes(loop.results)

    def from_the_right(self, point: Sequence[Index], known: dict[int, str]) -> list[str]:
        """Reductions one item after the other; of nothing they are the identity."""
        b, results, kinds = self.b, self.results_of_body, [one.kind for one in self.reductions]
        some = None if self.last.is_some else b.compare("lt", ZERO, self.extents[-1])
        nothing = [n for r in results for n in (identity_of(r.reduction or "", r.kind) or 0, 0)[: len(r.nodes)]]

        def first(place: Index) -> list[str]:
            items = self.values([*point, place], known, some)
            if some is None:
                return items
            rows = zip(kinds, items, nothing, strict=True)
            return [b.apply("select", (some, item, b.constant(k, bits_of(k, value))), k, k) for k, item, value in rows]

        def following(place: Index, states: Sequence[str]) -> list[str]:
            own = known | dict(zip((state for r in results for state in r.states), states, strict=True))
            self.compute(self.at_depth[-1], [*point, place], own)
            return [own[node] for result in results for node in result.following]

        return from_the_right(b, kinds, self.extents[-1], first, following)
