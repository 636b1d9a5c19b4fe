"""Chains along rows as loop programs: everything about a row while it is in the nearest cache.

The body is that of `graph.chains.joined`: elements, and reductions of the row to one value, on which later elements depend.  It
is done in *sweeps* over the row (`kernels.row_plan`).  A sweep evaluates the elements that its reductions and results need; what
an earlier sweep computed is kept in scratch if computing it again would cost more than reading it.  So are the rows of operands
whose items do not lie side by side.

A kernel of form MAP does rows one after the other, with vectors along the row.  One of form ACROSS does short rows side by side,
with vectors across rows: its last axis is the row, the one before it counts rows.

Note [Short rows].  Such rows are shorter than the lanes of a block, so the order of sums is halving: item i with item i + 16,
then with item i + 8, and so on; what is absent is left out.

Neighbours: `kernel` (nodes and views), `orders` (sums), `card_rows` (the same on cards), `graph.chains` (bodies), `run.cpu.rows`
(binds this).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from ....typechecker.elements import Kind
from ...kernels.ir import Apply, Form, Kernel, Load, Node, Step, kind_of
from ...kernels.llvm_leaf import vector_bytes
from ...kernels.row_plan import FUNCTIONS, MOST_SIDE, Sweep, plan_sweeps
from ..builder import at
from ..ir import ZERO, Index, LoopKind, Program, Role, View, plus
from ..llvm import llvm_text
from ..orders import in_vectors, ordered, together
from ..reducing import Reduction, joined
from .kernel import Lowering

_TILE: Final = 64
"""Short rows whose scratch is in cache together."""
_APART: Final = 16
"""Items between rows of scratch, so that they do not begin at the same place in cache."""


@dataclass(frozen=True, slots=True)
class RowsCode:
    """`is_row`: which results have one item a row.  `most`: a power of two; no row is longer."""

    kernel: Kernel
    is_row: tuple[bool, ...]
    most: int

    def text(self) -> str:
        return llvm_text(program_of(self), vector_bytes())

    def words(self) -> int:
        return self.kernel.words()


def program_of(rows: RowsCode) -> Program:
    """A program whose block of words is the kernel's argument block."""
    return (_SideBySide if rows.kernel.form is Form.ACROSS else _OneByOne)(rows).program()


class Rows(Lowering):
    """`scratch`: views of nodes that are kept.  `keeps`: are there any?"""

    keeps: ClassVar = True

    def __init__(self, rows: RowsCode) -> None:
        self.rows, self.plan = rows, plan_sweeps(rows.kernel, rows.is_row, keeps=self.keeps)
        super().__init__(rows.kernel)
        self.scratch = {place: self.room(kind_of(self.kernel, place)) for place in self.plan.kept}

    def room(self, kind: Kind) -> str:
        """Scratch for an item of a row, for all of them."""
        raise NotImplementedError

    def kept_at(self, point: Sequence[Index]) -> tuple[Index, ...]:
        """Where the item of a point is in such scratch."""
        raise NotImplementedError

    def depends(self, node: Node) -> frozenset[int]:
        """What a reduction of the row becomes part of is known inside the loops over rows, and no sooner."""
        along = isinstance(node, Apply) and node.function in FUNCTIONS
        return super().depends(node) | (frozenset({self.kernel.axes - 1}) if along else frozenset())

    def of_row(self, known: dict[int, str], point: Sequence[Index]) -> None:
        """What is the same for the whole row and can be known now."""
        for place in self.at_depth[-1]:
            node = self.kernel.body[place]
            if place in known or place in self.plan.elements or not isinstance(node, Apply) or node.function in FUNCTIONS:
                continue
            if all(arg in known for arg in node.args):
                known[place] = self.node(place, point, known)

    def sweeps(self, row: Sequence[Index], known: dict[int, str]) -> None:
        """A row goes through everything; `known` is what is known of it."""
        self.of_row(known, row)
        for sweep in self.plan.sweeps:
            totals = self.sweep(sweep, row, known)
            known.update(zip(sweep.reduces, totals, strict=True))
            self.of_row(known, row)
        for place, result in enumerate(self.kernel.results):
            if self.rows.is_row[place]:
                self.b.store(self.results[place], self.target(place, [*row, ZERO]), known[result.node])

    def sweep(self, sweep: Sweep, row: Sequence[Index], known: dict[int, str]) -> Sequence[str]:
        """The reductions of one."""
        raise NotImplementedError

    def reductions_of(self, sweep: Sweep) -> list[Reduction]:
        functions = [FUNCTIONS[self.reduction(place).function] for place in sweep.reduces]
        return [Reduction(f, kind_of(self.kernel, n), self.in_order) for f, n in zip(functions, sweep.reduces, strict=True)]

    def reduction(self, place: int) -> Apply:
        node = self.kernel.body[place]
        assert isinstance(node, Apply)
        return node

    def element(self, sweep: Sweep, row: Sequence[Index], item: Index, known: dict[int, str], mask: str | None = None
                ) -> list[str]:  # fmt: skip
        """What is to be reduced at an item of the row, if a mask is true; what is kept and stored there, is."""
        point, values = [*row, item], dict(known)
        for place in sorted(sweep.nodes):
            if place in self.scratch and place not in sweep.keeps:
                values[place] = self.b.load(self.scratch[place], self.kept_at(point), mask)
            else:
                values[place] = self.node(place, point, values, mask)
        for place in sweep.keeps:
            self.b.store(self.scratch[place], self.kept_at(point), values[place], mask)
        for place in sweep.stores:
            self.b.store(self.results[place], self.target(place, point), values[self.kernel.results[place].node], mask)
        return [values[self.reduction(place).args[0]] for place in sweep.reduces]


class _OneByOne(Rows):
    """Vectors along the row."""

    def __init__(self, rows: RowsCode) -> None:
        super().__init__(rows)
        self.copies = {
            i: self.room(row.kind) for i, row in enumerate(self.kernel.operands) if row.moves[-1] and row.step is Step.STRIDED
        }

    def room(self, kind: Kind) -> str:
        return self.b.view("kept", kind, (Index((), self.rows.most + _APART),), Role.SCRATCH, private=True).name

    def kept_at(self, point: Sequence[Index]) -> tuple[Index, ...]:
        return (point[-1],)

    def sweep(self, sweep: Sweep, row: Sequence[Index], known: dict[int, str]) -> Sequence[str]:
        b, sums, length, totals = self.b, self.reductions_of(sweep), at(self.sizes[-1]), list[str]()

        def items(place: Index, mask: str | None = None) -> list[str]:
            return self.element(sweep, row, place, known, mask)

        if not any(one.is_ordered for one in sums):
            return in_vectors(b, sums, items, (length,))
        ordered(b, sums, length, lambda _: items, lambda _, values: totals.extend(values), most=self.rows.most)
        return totals

    def inside(self, point: Sequence[Index], known: dict[int, str]) -> None:
        for operand, copy in self.copies.items():
            with self.b.range(LoopKind.VECTOR, at(self.sizes[-1])) as loop:
                item = self.b.load(self.operands[operand], self.item(operand, [*point, at(loop.index)]))
                self.b.store(copy, (at(loop.index),), item)
        self.sweeps(point, known)

    def load(self, node: Load, point: Sequence[Index], mask: str | None) -> str:
        if node.operand in self.copies:
            return self.b.load(self.copies[node.operand], self.kept_at(point), mask)
        return super().load(node, point, mask)


class _SideBySide(Rows):
    """Vectors across rows, item after item."""

    def room(self, kind: Kind) -> str:
        shape = (Index((), MOST_SIDE), Index((), _TILE))
        return self.b.view("kept", kind, shape, Role.SCRATCH, private=True).name

    def kept_at(self, point: Sequence[Index]) -> tuple[Index, ...]:
        return point[-1], self.cell

    def result(self, place: int, kind: Kind) -> str:
        if self.rows.is_row[place]:
            return super().result(place, kind)
        view = View(f"y{place}", kind, tuple(map(at, self.sizes)), Role.OUTPUT)
        self.views.append(view)
        return view.name

    def target(self, place: int, point: Sequence[Index], part: int = 0) -> tuple[Index, ...]:
        return super().target(place, point[:-1], part) if self.rows.is_row[place] else tuple(point)

    def inside(self, point: Sequence[Index], known: dict[int, str]) -> None:
        b = self.b
        with together(b, at(self.sizes[-2]), _TILE) as (start, cells), b.range(LoopKind.VECTOR, cells.count) as cell:
            self.cell, row, own = at(cell.index), [*point, plus(start, at(cell.index))], dict(known)
            self.enter(row, own)
            self.sweeps(row, own)

    def sweep(self, sweep: Sweep, row: Sequence[Index], known: dict[int, str]) -> Sequence[str]:
        b, sums, length = self.b, self.reductions_of(sweep), at(self.sizes[-1])
        trees = [self.room(one.kind) if one.is_ordered else "" for one in sums]
        plain = [one for one in sums if not one.is_ordered]
        with b.range(LoopKind.SERIAL, length, [own for one in plain for own in one.entry(b)]) as loop:
            point = [*row, at(loop.index)]
            items = self.element(sweep, row, point[-1], known)
            for tree, item in zip(trees, items, strict=True):
                if tree:
                    b.store(tree, self.kept_at(point), item)
            others = [item for tree, item in zip(trees, items, strict=True) if not tree]
            loop.yields = joined(b, plain, loop.inside, others)
        results = iter(loop.results)
        return [self.halved(tree, one) if tree else next(results) for one, tree in zip(sums, trees, strict=True)]

    def halved(self, tree: str, total: Reduction) -> str:
        """See Note [Short rows]."""
        b, half = self.b, MOST_SIDE // 2
        while half:
            bounds = Index((), half), plus(at(self.sizes[-1]), Index((), -half))
            with b.loop(LoopKind.SERIAL, (ZERO,), bounds) as loop:
                low, high = (at(loop.index), self.cell), (plus(at(loop.index), Index((), half)), self.cell)
                pair = b.load(tree, low), b.load(tree, high)
                b.store(tree, low, b.apply(total.function, pair, total.kind, total.kind))
            half //= 2
        return b.load(tree, (ZERO, self.cell))
