"""Lowers chains along rows to loop programs that make all passes over a row while it is in the L1 cache.

The body is that of `graph.fusion_groups.join_chain`: elements, and reductions of the row to one value, on which later elements
depend.  It runs in *sweeps* (passes) over the row.  A sweep evaluates the elements that its reductions and results need; an
element of an earlier sweep is spilled to scratch if computing it again would cost more than reading it.  Rows of strided operands
are copied to scratch too.

A kernel of form MAP runs row by row, with vectors along the row.  One of form REDUCE_OUTER runs short rows side by side, with
vectors across rows: its last axis is the row, the one before it counts rows.

Note [Short rows].  Such rows are shorter than the lanes of a block, so the order of sums is halving: item i with item i + 16,
then with item i + 8, and so on, leaving out absent items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from ...lang.support.records import dataclass, field
from ...typechecker.elements import Kind
from ..graph.fusion_groups import ALONG, SHORT_ROW
from ..graph.phases import ApplyNode, ReadNode, kind_of
from ..loopir.ir import ZERO, Index, LoopKind, LoopProgram, View, ViewRole, at, plus, times
from ..loopir.reductions import AccumulatorCells, Reduction, ThreadBlockReduction, cell_tiles, in_vectors, joined, ordered_sums
from ..scalar.function_table import weight_of
from .body import Kernel, Node
from .loop_order import BLOCK, Form, VectorStride
from .phase import GpuPhase, KernelLowering

# ------------------------------------------------------------------------------------------- passes over a row
#
# The sweeps of a chain along rows: which nodes each pass over a row evaluates, and which it spills.

FUNCTIONS: Final = {name: function for function, name in ALONG.items()}
MAX_SIDE_BY_SIDE: Final = SHORT_ROW
"""Rows shorter than this run side by side; a power of two."""
_RECOMPUTED_OPERATIONS: Final = 4
"""Operations on an element up to which it is recomputed rather than spilled."""


@dataclass(slots=True)
class RowPass:
    """One pass over a row: `nodes` to evaluate in order, nodes of reductions, nodes to spill to scratch, and results to store."""

    nodes: set[int] = field(default_factory=set)
    reduces: list[int] = field(default_factory=list)
    spills: list[int] = field(default_factory=list)
    stores: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RowPasses:
    """The passes of a chain.  `scratch_rows`: the scratch row of each spilled node.  `elements`: the nodes that vary along the
    row.  `levels`, by node: the pass after which its value is known."""

    sweeps: tuple[RowPass, ...]
    scratch_rows: dict[int, int]
    elements: frozenset[int]
    levels: tuple[int, ...]


def plan_row_passes(kernel: Kernel, *, spills: bool = True) -> RowPasses:
    """The passes of a chain; without `spills` each pass recomputes all elements that it needs."""
    body, results = kernel.body.nodes, [result.nodes[0] for result in kernel.body.results]
    elements: set[int] = set()
    levels: list[int] = []
    costs: list[int] = []
    for index, node in enumerate(body):
        args = node.args if isinstance(node, ApplyNode) else ()
        level = max((levels[arg] for arg in args), default=0)
        cost = 0
        if isinstance(node, ReadNode) and kernel.operands[node.index].moves[-1]:
            elements.add(index)
        elif isinstance(node, ApplyNode) and node.function in FUNCTIONS:
            level += 1
        elif any(arg in elements for arg in args):
            assert isinstance(node, ApplyNode)
            elements.add(index)
            weight = weight_of(node.function)
            cost = min(1000, weight + sum(costs[arg] for arg in args))
        levels.append(level)
        costs.append(cost)
    reductions = [p for p, node in enumerate(body) if isinstance(node, ApplyNode) and node.function in FUNCTIONS]
    stores = [i for i, on_row in enumerate(kernel.is_row) if not on_row]
    last = max([levels[p] - 1 for p in reductions] + [levels[results[i]] for i in stores], default=0)
    sweeps = [RowPass() for _ in range(last + 1)]
    scratch_rows: dict[int, int] = {}
    for index in reductions:
        sweeps[levels[index] - 1].reduces.append(index)
    for i in stores:
        sweeps[levels[results[i]]].stores.append(i)
    for current in range(last, -1, -1):
        sweep = sweeps[current]
        pending = [_argument(body, reduction) for reduction in sweep.reduces] + sweep.spills
        pending += [results[i] for i in sweep.stores]
        while pending:
            index = pending.pop()
            if index not in elements or index in sweep.nodes:
                continue
            node = body[index]
            if spills and levels[index] < current and costs[index] > _RECOMPUTED_OPERATIONS:
                if index not in scratch_rows:
                    scratch_rows[index] = len(scratch_rows)
                    sweeps[levels[index]].spills.append(index)
            elif isinstance(node, ApplyNode):
                pending += node.args
            sweep.nodes.add(index)
    return RowPasses(tuple(sweeps), scratch_rows, frozenset(elements), tuple(levels))


def _argument(nodes: Sequence[Node], index: int) -> int:
    node = nodes[index]
    assert isinstance(node, ApplyNode)
    return node.args[0]


# ---------------------------------------------------------------------------------------------------- rows

_TILE: Final = 64
"""Short rows whose scratch fits in the cache together."""
_SCRATCH_GAP: Final = 16
"""Items of padding between rows of scratch, so that they do not start in the same cache set."""


def program_of(kernel: Kernel) -> LoopProgram:
    """The loop program of a kernel; its parameters and views are laid out as the kernel's argument block."""
    if not kernel.is_row:
        return KernelLowering(kernel).program()
    return (_RowsSideBySide if kernel.form is Form.REDUCE_OUTER else _RowByRow)(kernel).program()


@dataclass(frozen=True, slots=True)
class KernelCode:
    """The machine code of a kernel on a processor."""

    kernel: Kernel

    def text(self) -> str:
        """The LLVM text."""
        from ..codegen.llvm_printer import llvm_text
        from ..jit.compiler import vector_bytes

        return llvm_text(program_of(self.kernel), vector_bytes())


class RowLowering(KernelLowering):
    """The loops of a chain.  `scratch`: the views of spilled nodes.  `spills`: may nodes be spilled?"""

    spills: ClassVar = True

    def __init__(self, kernel: Kernel) -> None:
        self.plan = plan_row_passes(kernel, spills=self.spills)
        super().__init__(kernel)
        self.scratch = {index: self.scratch_view(kind_of(self.nodes[index])) for index in self.plan.scratch_rows}

    def scratch_view(self, kind: Kind) -> str:
        """A scratch view with an item for each item of the rows that run together."""
        raise NotImplementedError

    def scratch_index(self, point: Sequence[Index]) -> tuple[Index, ...]:
        """The indices of a point's item in such a view."""
        raise NotImplementedError

    def depends(self, node: Node) -> frozenset[int]:
        """The axes on which a node depends; row reductions, and all nodes that depend on one, count as varying along the row."""
        along = isinstance(node, ApplyNode) and node.function in FUNCTIONS
        return super().depends(node) | (frozenset({self.kernel.axes - 1}) if along else frozenset())

    def row_invariants(self, known: dict[int, str], point: Sequence[Index]) -> None:
        """Compute the nodes that are constant along the row and whose operands are known."""
        for index in self.at_depth[-1]:
            node = self.nodes[index]
            if index in known or index in self.plan.elements or not isinstance(node, ApplyNode) or node.function in FUNCTIONS:
                continue
            if all(arg in known for arg in node.args):
                known[index] = self.node(index, point, known)

    def sweeps(self, row: Sequence[Index], known: dict[int, str]) -> None:
        """Run all passes over a row and store its row results; `known`: registers that are constant along the row."""
        self.row_invariants(known, row)
        for sweep in self.plan.sweeps:
            totals = self.sweep(sweep, row, known)
            known.update(zip(sweep.reduces, totals, strict=True))
            self.row_invariants(known, row)
        for number, result in enumerate(self.body.results):
            if self.kernel.is_row[number]:
                self.b.store(self.results[number], self.target(number, [*row, ZERO]), known[result.nodes[0]])

    def sweep(self, sweep: RowPass, row: Sequence[Index], known: dict[int, str]) -> Sequence[str]:
        """Run one pass; returns the registers of its reductions."""
        raise NotImplementedError

    def reductions_of(self, sweep: RowPass) -> list[Reduction]:
        functions = [FUNCTIONS[self.reduction(reduction).function] for reduction in sweep.reduces]
        return [Reduction(f, kind_of(self.nodes[n]), self.in_order) for f, n in zip(functions, sweep.reduces, strict=True)]

    def reduction(self, index: int) -> ApplyNode:
        node = self.nodes[index]
        assert isinstance(node, ApplyNode)
        return node

    def element(self, sweep: RowPass, row: Sequence[Index], item: Index, known: dict[int, str], mask: str | None = None
                ) -> list[str]:  # fmt: skip
        """Evaluates a pass at one item of the row, where the mask is true: spills and stores values, and returns the items to be
        reduced."""
        point, values = [*row, item], dict(known)
        for index in sorted(sweep.nodes):
            if index in self.scratch and index not in sweep.spills:
                values[index] = self.b.load(self.scratch[index], self.scratch_index(point), mask)
            else:
                values[index] = self.node(index, point, values, mask)
        for index in sweep.spills:
            self.b.store(self.scratch[index], self.scratch_index(point), values[index], mask)
        for index in sweep.stores:
            self.b.store(self.results[index], self.target(index, point), values[self.body.results[index].nodes[0]], mask)
        return [values[self.reduction(reduction).args[0]] for reduction in sweep.reduces]


class _RowByRow(RowLowering):
    """The passes of a chain row by row, with vectors along the row."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self.copies = {
            i: self.scratch_view(row.kind)
            for i, row in enumerate(self.kernel.operands)
            if row.moves[-1] and row.step is VectorStride.STRIDED
        }

    def scratch_view(self, kind: Kind) -> str:
        return self.b.view("kept", kind, (Index((), self.kernel.longest + _SCRATCH_GAP),), ViewRole.SCRATCH, private=True).name

    def scratch_index(self, point: Sequence[Index]) -> tuple[Index, ...]:
        return (point[-1],)

    def sweep(self, sweep: RowPass, row: Sequence[Index], known: dict[int, str]) -> Sequence[str]:
        b, sums, length, totals = self.b, self.reductions_of(sweep), at(self.sizes[-1]), list[str]()

        def items(item: Index, mask: str | None = None) -> list[str]:
            return self.element(sweep, row, item, known, mask)

        if not any(one.is_ordered for one in sums):
            return in_vectors(b, sums, items, (length,))
        ordered_sums(b, sums, length, lambda _: items, lambda _, values: totals.extend(values), most=self.kernel.longest)
        return totals

    def write_inner(self, point: Sequence[Index], known: dict[int, str]) -> None:
        for operand, copy in self.copies.items():
            with self.b.range(LoopKind.VECTOR, at(self.sizes[-1])) as loop:
                item = self.b.load(self.operands[operand], self.item(operand, [*point, at(loop.index)]))
                self.b.store(copy, (at(loop.index),), item)
        self.sweeps(point, known)

    def load(self, node: ReadNode, point: Sequence[Index], mask: str | None) -> str:
        if node.index in self.copies:
            return self.b.load(self.copies[node.index], self.scratch_index(point), mask)
        return super().load(node, point, mask)


class _RowsSideBySide(RowLowering):
    """The passes of a chain for several rows side by side, with vectors across rows, item by item."""

    def scratch_view(self, kind: Kind) -> str:
        shape = (Index((), MAX_SIDE_BY_SIDE), Index((), _TILE))
        return self.b.view("kept", kind, shape, ViewRole.SCRATCH, private=True).name

    def scratch_index(self, point: Sequence[Index]) -> tuple[Index, ...]:
        return point[-1], self.cell

    def result(self, number: int, kind: Kind) -> str:
        if self.kernel.is_row[number]:
            return super().result(number, kind)
        view = View(f"y{number}", kind, tuple(map(at, self.sizes)), ViewRole.OUTPUT)
        self.views.append(view)
        return view.name

    def target(self, number: int, point: Sequence[Index], part: int = 0) -> tuple[Index, ...]:
        return super().target(number, point[:-1], part) if self.kernel.is_row[number] else tuple(point)

    def write_inner(self, point: Sequence[Index], known: dict[int, str]) -> None:
        b = self.b
        with cell_tiles(b, at(self.sizes[-2]), _TILE) as (start, cells), b.range(LoopKind.VECTOR, cells.count) as cell:
            self.cell, row, values = at(cell.index), [*point, plus(start, at(cell.index))], dict(known)
            self.enter(row, values)
            self.sweeps(row, values)

    def sweep(self, sweep: RowPass, row: Sequence[Index], known: dict[int, str]) -> Sequence[str]:
        b, sums, length = self.b, self.reductions_of(sweep), at(self.sizes[-1])
        trees = [self.scratch_view(one.kind) if one.is_ordered else "" for one in sums]
        plain = [one for one in sums if not one.is_ordered]
        with b.range(LoopKind.SERIAL, length, [entry for one in plain for entry in one.entry(b)]) as loop:
            point = [*row, at(loop.index)]
            items = self.element(sweep, row, point[-1], known)
            for tree, item in zip(trees, items, strict=True):
                if tree:
                    b.store(tree, self.scratch_index(point), item)
            others = [item for tree, item in zip(trees, items, strict=True) if not tree]
            loop.yields = joined(b, plain, loop.inside, others)
        results = iter(loop.results)
        return [self.halved(tree, one) if tree else next(results) for one, tree in zip(sums, trees, strict=True)]

    def halved(self, tree: str, total: Reduction) -> str:
        """Combines the items of a short row by halving.  See Note [Short rows]."""
        b, half = self.b, MAX_SIDE_BY_SIDE // 2
        while half:
            bounds = Index((), half), plus(at(self.sizes[-1]), Index((), -half))
            with b.loop(LoopKind.SERIAL, (ZERO,), bounds) as loop:
                low, high = (at(loop.index), self.cell), (plus(at(loop.index), Index((), half)), self.cell)
                pair = b.load(tree, low), b.load(tree, high)
                b.store(tree, low, b.apply(total.function, pair, total.kind, total.kind))
            half //= 2
        return b.load(tree, (ZERO, self.cell))


# ----------------------------------------------------------------------------------------------- chains on GPUs
#
# Chains along rows as loop programs for GPUs: a thread block makes all passes over some rows.
#
# Elements are recomputed in each pass, since the row is in the cache and arithmetic is cheap on a GPU.  Row reductions stay in
# shared memory, where every thread of the block reads them.

def gpu_rows(kernel: Kernel) -> LoopProgram:
    return _GpuRows(kernel).program()


class _GpuRows(RowLowering, GpuPhase):
    """The GPU loops of a chain.  `totals`: by node, the shared-memory view of the rows' reductions."""

    spills: ClassVar = False

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self.totals: dict[int, str] = {}

    def write(self) -> None:
        b, are_cells, most = self.b, self.kernel.axes > 1, self.kernel.longest
        states = list(map(self.reductions_of, self.plan.sweeps))
        count = sum(map(len, states))
        sweeps = [ThreadBlockReduction(b, group, most, are_cells=are_cells, other_states=count - len(group)) for group in states]
        self.enter([], self.known)
        with self.cells(sweeps[0].cells) as (point, cells):
            for sweep, threads in zip(self.plan.sweeps, sweeps, strict=True):
                if sweep.reduces:
                    self.reduce(sweep, threads, point, cells)
                    self.totals.update(zip(sweep.reduces, threads.views, strict=True))
                else:
                    self.only_store(sweep, threads, point, cells)
            with sweeps[0].each(cells) as (_, cell):
                row, known = self.of_cell(point, cell)
                for number, result in enumerate(self.body.results):
                    if self.kernel.is_row[number]:
                        b.store(self.results[number], self.target(number, [*row, ZERO]), known[result.nodes[0]])

    def of_cell(self, point: Sequence[Index], cell: Index) -> tuple[list[Index], dict[int, str]]:
        row, known = super().of_cell(point, cell)
        for index, room in self.totals.items():
            known[index] = self.b.load(room, (ZERO, cell))
        self.row_invariants(known, row)
        return row, known

    def reduce(self, sweep: RowPass, threads: ThreadBlockReduction, point: Sequence[Index], cells: AccumulatorCells) -> None:
        """Reduce the rows of a thread block in one pass; rows of several blocks combine their partial results as a tree."""
        b, length = self.b, at(self.sizes[-1])

        def items_from(start: Index) -> Callable[[Index], Callable[[Index], Sequence[str]]]:
            def items(cell: Index) -> Callable[[Index], Sequence[str]]:
                row, known = self.of_cell(point, cell)
                return lambda item: self.element(sweep, row, plus(start, item), known)

            return items

        blocks = self.kernel.longest // BLOCK
        if blocks <= 1:
            threads.write(cells, length, items_from(ZERO))
            return
        totals = [b.view("totals", kind, (Index((), blocks),), ViewRole.SCRATCH, private=True).name for kind in threads.kinds]
        with b.range(LoopKind.SERIAL, Index((), blocks)) as block:
            start = times(at(block.index), BLOCK)
            threads.write(cells, plus(length, times(start, -1)), items_from(start))
            with threads.each(cells) as (_, cell):
                for room, total in zip(totals, threads.load(ZERO, cell), strict=True):
                    b.store(room, (at(block.index),), total)
        with threads.each(cells) as (_, cell):
            partials: list[Sequence[str]] = [[b.load(room, (Index((), block),)) for room in totals] for block in range(blocks)]
            while len(partials) > 1:
                partials = [threads.joined(*pair) for pair in zip(partials[::2], partials[1::2], strict=True)]
            threads.store(ZERO, cell, partials[0])

    def only_store(self, sweep: RowPass, threads: ThreadBlockReduction, point: Sequence[Index], cells: AccumulatorCells) -> None:
        b, length = self.b, at(self.sizes[-1])
        if threads.cells == 1:
            row, known = self.of_cell(point, ZERO)
            with b.range(LoopKind.VECTOR, length) as loop:
                self.element(sweep, row, at(loop.index), known)
            return
        with b.loop(LoopKind.VECTOR, (ZERO,), (Index((), threads.cells), cells.count)) as cell_loop:
            row, known = self.of_cell(point, at(cell_loop.index))
            with b.loop(LoopKind.VECTOR, (ZERO,), (Index((), threads.lanes), length)) as loop:
                self.element(sweep, row, at(loop.index), known)
