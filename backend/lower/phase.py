"""Writes loop nests for scalar bodies: kernels, chains along rows and structured phases of regions.

The axes are loops in order, the reduced one last; `loop_order.Form` says which of them is the vector axis.  Each node is computed
in the outermost loop in which all its operands are known.  Reductions of floats follow the order of sums (`loopir.reductions`),
others accumulate in registers.  Subclasses of `PhaseNest` define where items are loaded from and where results go.

Note [Few items].  Rows of so few items that vectors go across rows (UNROLLED_INNER) have one vector a column, which the printer
transposes from full rows (`codegen.llvm_memory`, Note [Rows]).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy as shallow_copy
from typing import ClassVar, Final

from ...lang.support.records import dataclass
from ...typechecker.elements import Kind, identity_of, may_fail
from ...typechecker.sizes.polynomials import Size
from ..graph.phases import (
    Affine,
    ApplyNode,
    AxisKind,
    AxisNode,
    ConstantNode,
    Projection,
    Read,
    ReadNode,
    SizeNode,
    Structured,
    bits_of,
    kind_of,
    operand_kind,
)
from ..loopir.ir import (
    ONE,
    ZERO,
    Index,
    LoopBuilder,
    LoopKind,
    LoopProgram,
    View,
    ViewRole,
    at,
    integer,
    plus,
    power,
    quotient,
    times,
)
from ..loopir.reductions import (
    MAX_SUM,
    MOST_UNROLLED,
    AccumulatorCells,
    Items,
    Reduction,
    ThreadBlockReduction,
    cannot_fail,
    cell_tiles,
    in_vectors,
    joined,
    ordered_sums,
    right_fold,
    short_sum,
    states,
    sum_of_any_length,
    unrolled,
)
from .body import FETCH, PROVED, Body, Kernel, KernelOperand, Node, StateNode, legalize, parts_of
from .loop_order import BLOCK, LANES, Form, StoreMode, VectorStride
from .scope import SMALL, Check, LoweringScope, NotLowerable, Registers, Storage, ValueLocation, indices_of

# ---------------------------------------------------------------------------------------------------- nests

@dataclass(frozen=True, slots=True)
class Extent:
    """What is known about the last axis: its `length` if that is short and constant (else 0), its upper bound `most`, and whether
    it provably has an item (`is_nonempty`)."""

    length: int = 0
    most: int = MAX_SUM
    is_nonempty: bool = True


_ANY_EXTENT: Final = Extent()

SHARING_ROWS: Final = 4
SHORT_SHARING_ROWS: Final = 2
"""Rows that are reduced at once where they share an operand; the second constant is for rows whose vectors all fit in
registers."""

SEARCHED: Final = 1024
"""Items per block of an argument reduction: the position is searched for in one block, once the extreme is known."""


class PhaseNest:
    """The loop nest of a body, in one of the forms of `loop_order.Form`.

    `parts`: the nodes of all results in order (two for a complex result); `reductions`: by part.  `at_depth[d]`: the nodes to
    compute at the start of the body of d nested loops.  `known`: registers of nodes computed outside all loops."""

    outer: ClassVar = LoopKind.SERIAL
    """The kind of the loops outside the vector axis."""
    in_order: ClassVar = True
    """Are items reduced in index order, rather than by many threads?"""
    shares_rows: ClassVar = False
    """May several rows be reduced at once?"""
    most_cells = 4096
    """The most adjacent cells that are reduced together."""

    def __init__(self, b: LoopBuilder, form: Form, body: Body, extents: Sequence[Index], last: Extent = _ANY_EXTENT) -> None:
        self.b, self.form, self.body, self.nodes, self.extents, self.last = b, form, body, body.nodes, extents, last
        self.parts = [node for r in body.results for node in r.nodes]
        self.reductions = [
            Reduction(r.reduction or "", kind_of(self.nodes[node]), self.in_order) for r in body.results for node in r.nodes
        ]
        self.state_dependent = body.state_dependent
        self.axes: list[frozenset[int]] = []
        for node in self.nodes:
            self.axes.append(self.depends(node))
        self.at_depth: list[list[int]] = [[] for _ in range(len(extents) + 1)]
        """By depth: the nodes that become known inside so many loops."""
        for index in sorted(body.used):
            self.at_depth[max(self.axes[index], default=-1) + 1].append(index)
        self.known: dict[int, str] = {}

    # ------------------------------------------------------------------------------------------- items

    def depends(self, node: Node) -> frozenset[int]:
        """The axes on which a node depends; `self.axes` has those of earlier nodes."""
        raise NotImplementedError

    def load(self, node: ReadNode, point: Sequence[Index], mask: str | None) -> str:
        """The register of an operand's item; with a mask it is read only where the mask is true."""
        raise NotImplementedError

    def size(self, size: Size) -> str:
        raise NotImplementedError

    def coordinate(self, axis: int, point: Sequence[Index]) -> Index:
        return point[axis]

    def fetch(self, number: int, node: ApplyNode, registers: Sequence[str], point: Sequence[Index]) -> str:
        """The register of an item that is read at a computed index."""
        raise NotImplementedError

    def check(self, number: int, node: ApplyNode) -> int:
        """The number of the check of a node that may fail."""
        return number

    def emit(self, point: Sequence[Index], registers: Sequence[str]) -> None:
        """Stores the results at a point of the parallel axes; `registers`: one per part."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------- nodes

    def compute(self, places: Iterable[int], point: Sequence[Index], known: dict[int, str], mask: str | None = None) -> None:
        for number in places:
            known[number] = self.node(number, point, known, mask)

    def enter(self, point: Sequence[Index], known: dict[int, str]) -> None:
        """Computes the nodes that become known at the depth of the point."""
        self.compute(self.at_depth[len(point)], point, known)

    def values(self, point: Sequence[Index], known: dict[int, str], mask: str | None = None) -> list[str]:
        """The registers of the parts at a point of all axes."""
        values = dict(known)
        independent = [number for number in self.at_depth[len(point)] if number not in self.state_dependent]
        self.compute(independent, point, values, mask)
        return [values[node] for node in self.parts]

    def states(self, point: Sequence[Index], known: dict[int, str]) -> list[str]:
        """The initial states of the reductions for the single item at a point of all axes."""
        has_argument_reduction = any(one.is_argument_reduction for one in self.reductions)
        items, last = self.values(point, known), len(point) - 1
        position = self.b.number(self.coordinate(last, point)) if has_argument_reduction else ""
        return [register for one, item in zip(self.reductions, items, strict=True) for register in one.of_item(self.b, item,
            position)]

    def results_of(self, registers: Sequence[str]) -> list[str]:
        """The results of reduction states."""
        return [one.result(self.b, state) for one, state in states(self.reductions, registers)]

    def node(self, index: int, point: Sequence[Index], known: dict[int, str], mask: str | None = None) -> str:
        b, node = self.b, self.nodes[index]
        match node:
            case ReadNode():
                return self.load(node, point, mask)
            case ConstantNode():
                return b.constant(node.kind, node.bits)
            case SizeNode(size):
                return self.size(size)
            case StateNode():
                return known[index]
            case AxisNode(axis):
                return b.number(self.coordinate(axis, point))
            case ApplyNode(function, args, kind, parameter):
                registers, compute = [known[arg] for arg in args], operand_kind(self.nodes, node)
                if function in (FETCH, PROVED):
                    return self.fetch(index, node, registers, point)
                if function == "ipow":
                    return power(b, registers[0], registers[1], kind)
                if not may_fail(function, kind):
                    return b.apply(function, registers, compute, kind, parameter)
                return b.apply(function, b.where(mask, registers, compute), compute, kind, parameter, self.check(index, node))

    # ------------------------------------------------------------------------------------------- loops

    @property
    def vector_axis(self) -> int:
        return len(self.extents) - (1 if self.form in (Form.MAP, Form.REDUCE_INNER) else 2)

    def write(self) -> None:
        point, known = list[Index](), self.known
        outer, together = self.extents[: max(0, self.vector_axis)], self.rows_together()
        with ExitStack() as loops:
            self.enter(point, known)
            for extent in outer[:-1] if together > 1 else outer:
                point.append(at(loops.enter_context(self.b.range(self.outer, extent)).index))
                self.enter(point, known)
            if together > 1:
                self.write_rows(point, known, outer[-1], together)
            else:
                self.write_inner(point, known)

    def rows_together(self) -> int:
        """The number of rows that are reduced at once, a power of two, so that shared operands are loaded once; 1 if none is
        shared, or a row may fail."""
        last = len(self.extents) - 1
        if not (self.shares_rows and self.form is Form.REDUCE_INNER and last and all(one.is_ordered for one in self.reductions)):
            return 1
        applied = [node for node in self.nodes if isinstance(node, ApplyNode)]
        if self.state_dependent or any(n.function in (FETCH, PROVED) or may_fail(n.function, n.kind) for n in applied):
            return 1
        loads = [self.axes[number] for number in self.at_depth[-1] if isinstance(self.nodes[number], ReadNode)]
        is_shared = any(last - 1 not in axes for axes in loads) and any(last - 1 in axes for axes in loads)
        rows = (SHORT_SHARING_ROWS if self.last.length else SHARING_ROWS) // len(self.reductions) if is_shared else 1
        return 1 << (max(1, rows).bit_length() - 1)

    def write_rows(self, point: Sequence[Index], known: dict[int, str], extent: Index, together: int) -> None:
        """Reduces `together` neighbouring rows at a time, then each remaining row."""
        b, full = self.b, times(quotient(self.b, extent, together), together)
        with b.loop(self.outer, (ZERO,), (full,), step=together) as loop:
            points = [[*point, plus(at(loop.index), Index((), row))] for row in range(together)]
            before = [dict(known) for _ in points]
            for here, values in zip(points, before, strict=True):
                self.enter(here, values)
            axis = len(point)
            alone = [number for number in self.at_depth[-1] if axis not in self.axes[number]]
            both = [number for number in self.at_depth[-1] if axis in self.axes[number]]

            def items(index: Index, mask: str | None = None) -> list[str]:
                self.compute(alone, [*points[0], index], shared := dict(before[0]), mask)
                parts: list[str] = []
                for here, values in zip(points, before, strict=True):
                    self.compute(both, [*here, index], local := shared | values, mask)
                    parts += [local[node] for node in self.parts]
                return parts

            totals = self.ordered(items, [*self.reductions] * together)
            for row, here in enumerate(points):
                self.emit(here, totals[row * len(self.parts) :][: len(self.parts)])
        with b.loop(self.outer, (full,), (extent,)) as loop:
            here = [*point, at(loop.index)]
            self.enter(here, local := dict(known))
            self.write_inner(here, local)

    def write_inner(self, point: Sequence[Index], known: dict[int, str]) -> None:
        """Writes the vector axis and the reduced axis, inside the other loops."""
        match self.form:
            case Form.REDUCE_INNER:
                self.emit(point, self.reduced(point, known))
            case Form.REDUCE_OUTER:
                self.reduce_cells(point, known)
            case Form.UNROLLED_INNER:
                self.unrolled_columns(point, known)
            case _ if not self.extents:
                self.emit(point, self.values(point, known))
            case Form.MAP | Form.REDUCE_IN_REGISTERS:
                with self.b.range(LoopKind.VECTOR, self.extents[self.vector_axis]) as loop:
                    here = [*point, at(loop.index)]
                    if self.form is Form.MAP:
                        self.emit(here, self.values(here, known))
                    else:
                        self.enter(here, local := dict(known))
                        self.emit(here, self.reduced(here, local))

    def unrolled_columns(self, point: Sequence[Index], known: dict[int, str]) -> None:
        """Writes rows of few items, with one vector per column.  See Note [Few items]."""
        column = len(self.extents) - 1
        rows, items = column - 1, [dict(known) for _ in range(self.last.length)]
        alone = [number for number in self.at_depth[column + 1] if rows not in self.axes[number]]
        both = [number for number in self.at_depth[column + 1] if rows in self.axes[number]]
        for column_index, values in enumerate(items):
            self.compute(alone, [*point, ZERO, Index((), column_index)], values)
        with self.b.range(LoopKind.VECTOR, self.extents[rows]) as loop:
            here, of_row = [*point, at(loop.index)], dict(known)
            self.enter(here, of_row)
            for column_index, values in enumerate(items):
                values.update(of_row)
                self.compute(both, [*here, Index((), column_index)], values)
            for column_index, values in enumerate(items):
                self.emit([*here, Index((), column_index)], [values[node] for node in self.parts])

    def reduce_cells(self, point: Sequence[Index], known: dict[int, str]) -> None:
        """Reduces adjacent cells, up to `most_cells` at a time."""
        most = min(self.most_cells, 2 * PhaseNest.most_cells >> (len(self.parts) - 1).bit_length())
        with cell_tiles(self.b, self.extents[-2], most) as (start, cells):

            def items(cell: Index) -> Items:
                here, values = [*point, plus(start, cell)], dict(known)
                self.enter(here, values)
                return lambda row, mask: self.values([*here, row], values, mask)

            def give(cell: Index, totals: Sequence[str]) -> None:
                self.emit([*point, plus(start, cell)], totals)

            last = self.last
            ordered_sums(
                self.b, self.reductions, self.extents[-1], items, give, cells, last.most, is_nonempty=last.is_nonempty
            )

    # -------------------------------------------------------------------------------------- reductions

    def reduced(self, point: Sequence[Index], known: dict[int, str]) -> list[str]:
        """The reduced parts at a point of the parallel axes."""
        if self.state_dependent:
            return self.right_fold(point, known)
        has_argument_reduction = any(one.is_argument_reduction for one in self.reductions)
        if has_argument_reduction and any(one.is_ordered for one in self.reductions):
            return self.reduced_apart(point, known)
        if any(one.is_ordered for one in self.reductions):

            def items(index: Index, mask: str | None = None) -> list[str]:
                return self.values([*point, index], known, mask)

            return self.ordered(items, self.reductions, is_alone=not point)
        if self.form is Form.REDUCE_IN_REGISTERS or (has_argument_reduction and self.last.most <= MOST_UNROLLED):
            return self.itemwise(point, known)
        return self.first_extremes(point, known) if has_argument_reduction else self.in_any_order(point, known)

    def reduced_apart(self, point: Sequence[Index], known: dict[int, str]) -> list[str]:
        """The results where sums, which have an order, and argument reductions need separate loops."""
        totals: dict[int, str] = {}
        for is_ordered in (True, False):
            numbers = [number for number, one in enumerate(self.reductions) if one.is_ordered is is_ordered]
            nest = shallow_copy(self)
            nest.reductions, nest.parts = [self.reductions[n] for n in numbers], [self.parts[n] for n in numbers]
            totals |= zip(numbers, nest.reduced(point, known), strict=True)
        return [totals[number] for number in range(len(totals))]

    def ordered(self, items: Items, sums: Sequence[Reduction], *, is_alone: bool = False) -> list[str]:
        """Results in the order of sums; `is_alone`: there is only one cell."""
        b, length, totals = self.b, self.last.length, list[str]()
        if 0 < length <= MOST_UNROLLED and (self.form is Form.REDUCE_IN_REGISTERS or is_alone):
            return unrolled(b, sums, length, lambda index: items(index, None))
        if length and (short := short_sum(b, sums, length, lambda index: items(index, None))) is not None:
            b.statements += short.statements
            return list(short.totals)
        if not self.last.is_nonempty:
            return sum_of_any_length(b, sums, self.extents[-1], items, self.last.most)
        length_index, most = self.extents[-1], self.last.most
        ordered_sums(b, sums, length_index, lambda _: items, lambda _, registers: totals.extend(registers), most=most)
        return totals

    def in_any_order(self, point: Sequence[Index], known: dict[int, str]) -> list[str]:
        """Reductions that are exact in any order; a single ∧ or ∨ stops early."""
        b, size, (first, *others) = self.b, self.extents[-1], self.reductions

        def items(index: Index) -> list[str]:
            return self.values([*point, index], known)

        if first.kind is Kind.BOOL and first.function in ("and", "or") and not others and self.last.most > BLOCK:
            with b.block() as early:
                totals = self.short_circuit(first, items)
            if cannot_fail(early):
                b.statements += early
                return totals
        return list(in_vectors(b, self.reductions, items, (size,)))

    def short_circuit(self, decided: Reduction, items: Callable[[Index], Sequence[str]]) -> list[str]:
        """An ∧ or ∨ that stops after the first block of items that decides it."""
        b, size = self.b, self.extents[-1]
        with b.loop(LoopKind.SERIAL, (ZERO,), (size,), decided.entry(b), step=BLOCK) as block:
            start = at(block.index)
            block.yields = in_vectors(b, [decided], items, (plus(start, Index((), BLOCK)), size), start, block.inside)
            (now,) = block.yields
            block.until = now if decided.function == "or" else b.apply("not", (now,), Kind.BOOL, Kind.BOOL)
        return list(block.results)

    def itemwise(self, point: Sequence[Index], known: dict[int, str]) -> list[str]:
        """Reductions that are exact in any order, and argument reductions, item by item with their states in registers."""
        b, entry = self.b, [register for one in self.reductions for register in one.entry(self.b)]
        with b.range(LoopKind.SERIAL, self.extents[-1], entry) as loop:
            loop.yields = joined(b, self.reductions, loop.inside, self.states([*point, at(loop.index)], known))
        return self.results_of(loop.results)

    def first_extremes(self, point: Sequence[Index], known: dict[int, str], *, shares: bool = True) -> list[str]:
        """Argument reductions, and others that are exact in any order: computes the extremes in vectors, block by block, then the
        position of each within the first block that has it.  `shares`: may the extreme of the same items be that of another
        result, which is NaN if an item is?"""
        b, size, reductions = self.b, self.extents[-1], self.reductions
        finding = [number for number, one in enumerate(reductions) if one.is_argument_reduction]
        shared = {number: self.extreme_of(number) if shares else None for number in finding}
        computed = [number for number in range(len(reductions)) if shared.get(number) is None]
        extremes = [reductions[number].extreme for number in computed]
        source = {number: computed.index(number if other is None else other) for number, other in shared.items()}

        def items(index: Index) -> list[str]:
            values = self.values([*point, index], known)
            return [reductions[number].number(b, values[number]) for number in computed]

        entry = [register for one in extremes for register in one.entry(b)]
        entry += [(Kind.I64, b.constant(Kind.I64, 0), None) for _ in finding]
        with b.loop(LoopKind.SERIAL, (ZERO,), (size,), entry, step=SEARCHED) as block:
            start, before = at(block.index), block.inside[: len(extremes)]
            after = in_vectors(b, extremes, items, (plus(start, Index((), SEARCHED)), size), start, before)
            better = [reductions[n].is_better(b, after[source[n]], before[source[n]]) for n in finding]
            firsts = zip(better, block.inside[len(extremes) :], strict=True)
            blocks = [b.apply("select", (wins, block.index, first), Kind.I64, Kind.I64) for wins, first in firsts]
            block.yields = (*after, *blocks)
        totals = dict(zip(computed, block.results, strict=False))
        for number, first in zip(finding, block.results[len(extremes) :], strict=True):
            extreme = block.results[source[number]]
            totals[number] = self.first_position(point, known, number, extreme, at(first), is_own=shared[number] is None)
        return [totals[number] for number in range(len(reductions))]

    def extreme_of(self, number: int) -> int | None:
        """The result that is the extreme of the items of an argument reduction, to which zero may be added, if there is one."""
        one, item = self.reductions[number], self.parts[number]
        for other, (node, reduction) in enumerate(zip(self.parts, self.reductions, strict=True)):
            applied = self.nodes[node]
            if isinstance(applied, ApplyNode) and applied.function == "add" and item in applied.args:
                others = [self.nodes[arg] for arg in applied.args if arg != item]
                node = item if any(isinstance(zero, ConstantNode) and zero.bits == 0 for zero in others) else node
            if node == item and reduction == one.extreme:
                return other
        return None

    def first_position(
        self, point: Sequence[Index], known: dict[int, str], number: int, extreme: str, first: Index, *, is_own: bool
    ) -> str:
        """The position of the first item that equals the extreme.  It lies in the block that begins at `first`, unless all items
        of that block are NaN; then it is searched item by item.  An extreme that is NaN (not `is_own`) is computed again."""
        b, size, one = self.b, self.extents[-1], self.reductions[number]
        least = Reduction("min", Kind.I64)
        none = b.constant(Kind.I64, least.neutral_bits)

        def items(index: Index) -> list[str]:
            here = [*point, index]
            equals = b.apply("eq", (self.values(here, known)[number], extreme), one.kind, Kind.BOOL)
            return [b.apply("select", (equals, b.number(self.coordinate(len(point), here)), none), Kind.I64, Kind.I64)]

        (position,) = in_vectors(b, [least], items, (plus(first, Index((), SEARCHED)), size), first)
        with b.block() as slow:
            if is_own:
                again = self.itemwise(point, known)[number]
            else:
                nest = shallow_copy(self)
                nest.reductions, nest.parts = [one], [self.parts[number]]
                (again,) = nest.first_extremes(point, known, shares=False)
        return b.choose(b.compare("eq", at(position), at(none)), slow, (), [(Kind.I64, again, position)])[0]

    def right_fold(self, point: Sequence[Index], known: dict[int, str]) -> list[str]:
        """Right folds; the result for no items is the function's identity."""
        b, results, kinds = self.b, self.body.results, [one.kind for one in self.reductions]
        some = None if self.last.is_nonempty else b.compare("lt", ZERO, self.extents[-1])
        nothing = [n for r in results for n in (identity_of(r.reduction or "", r.kind) or 0, 0)[: len(r.nodes)]]

        def first(index: Index) -> list[str]:
            items = self.values([*point, index], known, some)
            if some is None:
                return items
            rows = zip(kinds, items, nothing, strict=True)
            return [b.apply("select", (some, item, b.constant(k, bits_of(k, value))), k, k) for k, item, value in rows]

        def following(index: Index, states: Sequence[str]) -> list[str]:
            values = known | dict(zip((state for r in results for state in r.states), states, strict=True))
            self.compute(self.at_depth[-1], [*point, index], values)
            return [values[node] for result in results for node in result.following]

        return right_fold(b, kinds, self.extents[-1], first, following)


# --------------------------------------------------------------------------------------------- structured phases
#
# Structured phases inside regions: nests that read and write values of a `LoweringScope`.

def lower_structured(scope: LoweringScope, phase: Structured) -> None:
    _note_transposition(scope, phase)
    if phase.results[0].value in scope.aliases:
        _defer_view(scope, phase)
        return
    body = legalize(phase, complexes=True, loops=True)
    if body is None:
        raise NotLowerable("a function or kind that kernels do not have")
    _RegionPhase(scope, phase, body).write()


def _defer_view(scope: LoweringScope, phase: Structured) -> None:
    """Defers a view: its readers read the items of its operand."""
    (read,), sizes = phase.reads, [axis.size for axis in phase.axes]

    def item(point: tuple[Index, ...], mask: str | None) -> Registers:
        indices, _ = indices_of(scope, read.projection, point, sizes)
        return scope.items(read.value, indices, mask)

    scope.deferred[phase.results[0].value] = item


def _note_transposition(scope: LoweringScope, phase: Structured) -> None:
    """Records a transposition in `scope.transposed`."""
    match phase:
        case Structured(reads=(Read(value, Projection((Affine(indices, _, False),))),), body=(ReadNode(),), results=(result,)):
            axes = [term.axis for index in indices for term in index.terms if term.coefficient == 1]
            plain = all(len(index.terms) == 1 and index.constant.constant == 0 for index in indices)
            rank = list(range(len(indices)))
            is_whole = sorted(axes) == rank and [phase.axes[axis].size for axis in axes] == list(scope.shape(value))
            if plain and is_whole and len(phase.axes) == len(rank) and result.reduction is None:
                scope.transposed[result.value] = value, tuple(map(axes.index, rank))


class _RegionPhase(PhaseNest):
    """The loops of a phase of a region; loop-invariant code motion happens later (`transform`)."""

    def __init__(self, scope: LoweringScope, phase: Structured, body: Body) -> None:
        self.scope, self.phase, self.body = scope, phase, body
        self.parallel = [axis.size for axis in phase.axes if axis.kind is AxisKind.PARALLEL]
        self.along = next((axis.size for axis in phase.axes if axis.kind is AxisKind.REDUCE), None)
        last, extents = Extent(), [scope.index_of(axis.size) for axis in phase.axes]
        if (size := self.along) is not None:
            known = size.constant or 0
            last = Extent(known if known < SMALL else 0, scope.upper_bound(size), known > 0)
            if body.has_argument_reduction and not known:
                raise NotLowerable("the place of an extreme where there may be no item")
        super().__init__(scope.b, self.choose_form(), body, extents, last)
        if self.parallel:
            self.most_cells = max(1, min(self.most_cells, scope.upper_bound(self.parallel[-1])))
            self.targets = [scope.destination_of(result.value) for result in phase.results]

    def choose_form(self) -> Form:
        """Chooses the form whose vector axis is contiguous for most operands."""
        size = self.along
        if size is None:
            return Form.MAP
        if not self.parallel:
            return Form.REDUCE_INNER
        few = size.constant is not None and size.constant <= MOST_UNROLLED
        if few or self.body.is_right_fold or not (self.body.is_ordered or self.is_along()):
            return Form.REDUCE_IN_REGISTERS
        return Form.REDUCE_INNER if self.is_along() else Form.REDUCE_OUTER

    def is_along(self) -> bool:
        """Are more operands contiguous along the reduced axis than along the last parallel one?"""
        reduced = len(self.parallel)
        votes = 0
        for read in self.phase.reads:
            stage = read.projection.stages[-1] if read.projection.stages else None
            if stage is None:
                votes += 1  # the identity projection: the reduced axis is the last
            elif isinstance(stage, Affine) and stage.indices:
                axes = {term.axis for term in stage.indices[-1].terms} if len(read.projection.stages) == 1 else set()
                votes += (reduced in axes) - (reduced - 1 in axes)
        return votes > 0

    def write(self) -> None:
        super().write()
        if self.parallel:
            self.scope.values.update(zip((result.value for result in self.phase.results), self.targets, strict=True))

    def emit(self, point: Sequence[Index], registers: Sequence[str]) -> None:
        supply = iter(registers)
        for number, result in enumerate(self.phase.results):
            item = tuple(next(supply) for _ in self.scope.parts(result.value))
            if self.parallel:
                self.scope.write(self.targets[number], point, item)
            else:
                self.scope.define_scalar(result.value, item)

    def depends(self, node: Node) -> frozenset[int]:
        return frozenset({len(self.phase.axes) - 1})

    def load(self, node: ReadNode, point: Sequence[Index], mask: str | None) -> str:
        read, sizes = self.phase.reads[node.index], [axis.size for axis in self.phase.axes]
        indices, present = indices_of(self.scope, read.projection, point, sizes)
        return self.scope.items(read.value, indices, self.b.both(mask, present))[node.part]

    def size(self, size: Size) -> str:
        return self.b.number(self.scope.index_of(size))

    def check(self, number: int, node: ApplyNode) -> int:
        compute = operand_kind(self.nodes, node)
        return self.scope.check(Check(node.span or self.phase.span, node.function, compute, node.kind, node.parameter))


def copy(scope: LoweringScope, shape: Sequence[Size], source: Storage, target: ValueLocation) -> None:
    """Writes loops that copy every item of a value of this shape from `source` to `target`."""
    if source == target:
        return
    with scope.points(shape) as point:
        scope.write(target, point, scope.read(source, point))


# --------------------------------------------------------------------------------------------------- kernels
#
# Kernels as loop programs: nests over their argument block (`body`).
#
# Parameters are the sizes of the axes, their first coordinates and the scalars.  Views are the operands and the results, with the
# axes of the nest and a last axis of contiguous items: those of the vector axis if its stride is one item, the parts of a complex
# number, and the items that a `FETCH` indexes.  The number of a check is that of its node.

class KernelLowering(PhaseNest):
    """The loops of a kernel."""

    shares_rows: ClassVar = True

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.sizes = [f"n{axis}" for axis in range(kernel.axes)]
        self.origins = [f"o{axis}" for axis in range(kernel.axes)]
        self.scalars = {size: f"s{number}" for number, size in enumerate(kernel.body.sizes)}
        extents, last = list(map(at, self.sizes)), Extent(kernel.length, kernel.length or MAX_SUM)
        if kernel.length:
            extents[-1] = Index((), kernel.length)
        super().__init__(LoopBuilder(), kernel.form, kernel.body, extents, last)
        self.views: list[View] = []
        self.operands = [self.operand(f"x{i}", row) for i, row in enumerate(kernel.operands)]
        self.results = [self.result(i, result.kind) for i, result in enumerate(kernel.body.results)]

    def program(self) -> LoopProgram:
        self.write()
        views = (*self.views, *self.b.views.values())
        return LoopProgram("kernel", self.parameters, views, (*self.b.preamble, *self.b.statements))

    @property
    def parameters(self) -> tuple[str, ...]:
        return (*self.sizes, *self.origins, *self.scalars.values())

    # ------------------------------------------------------------------------------------------- views

    def operand(self, name: str, row: KernelOperand) -> str:
        parts, extents = parts_of(row.kind), [at(n) if on else ONE for n, on in zip(self.sizes, row.moves, strict=True)]
        together = self.contiguous_axes(row)
        last = Index((), len(parts))
        for axis in together:
            last, extents[axis] = times(at(self.sizes[axis]), len(parts)), ONE
        if len(together) > 1:
            last = times(at(self.sizes[together[0]]), len(parts) * self.kernel.length)
        self.views.append(View(name, parts[0], (*extents, last), ViewRole.INPUT))
        return name

    def result(self, number: int, kind: Kind) -> str:
        name = f"y{number}"
        parts, extents = parts_of(kind), [at(n) for n in self.sizes[: self.kernel.result_axes]]
        if self.form is Form.UNROLLED_INNER:
            extents[-2:] = ONE, ONE, times(extents[-2], len(parts) * self.kernel.length)
        elif extents:
            extents[-1:] = ONE, times(extents[-1], len(parts))
        elif len(parts) > 1:
            extents.append(Index((), len(parts)))
        is_streamed = self.kernel.stores is StoreMode.STREAMED
        self.views.append(View(name, parts[0], tuple(extents), ViewRole.OUTPUT, streamed=is_streamed))
        return name

    def contiguous_axes(self, row: KernelOperand) -> tuple[int, ...]:
        """The axes along which the items of an operand are contiguous, forwards or backwards."""
        vector = self.vector_axis
        if self.form is not Form.UNROLLED_INNER:
            return (vector,) if row.step in (VectorStride.UNIT, VectorStride.REVERSED) else ()
        if row.moves[vector] and row.moves[vector + 1]:
            return vector, vector + 1
        return (vector + 1,) if row.step in (VectorStride.UNIT, VectorStride.REVERSED) else ()

    def item(self, number: int, point: Sequence[Index], part: int = 0, ahead: Index = ZERO) -> tuple[Index, ...]:
        """The view indices of an operand's item at a point, plus `ahead` items along the contiguous axis."""
        row = self.kernel.operands[number]
        indices = [index if on else ZERO for index, on in zip(point, row.moves, strict=False)]
        indices += [ZERO] * (self.kernel.axes - len(indices))
        last, step = plus(Index((), part), ahead), len(parts_of(row.kind))
        for axis in reversed(self.contiguous_axes(row)):
            last = plus(last, times(indices[axis], -step if row.step is VectorStride.REVERSED else step))
            indices[axis], step = ZERO, step * self.kernel.length
        return *indices, last

    def target(self, number: int, point: Sequence[Index], part: int = 0) -> tuple[Index, ...]:
        """The view indices of a result's item; the last axis is contiguous."""
        parts = len(parts_of(self.body.results[number].kind))
        if not point:
            return (Index((), part),) if parts > 1 else ()
        *indices, last = point
        if self.form is Form.UNROLLED_INNER:
            last, indices[-1] = plus(last, times(indices[-1], self.kernel.length)), ZERO
        return *indices, ZERO, plus(times(last, parts), Index((), part))

    # ------------------------------------------------------------------------------------------- items

    def depends(self, node: Node) -> frozenset[int]:
        match node:
            case ReadNode(operand):
                return self.moving(operand)
            case AxisNode(axis):
                return frozenset({axis})
            case ApplyNode(args=args):
                moving = self.moving(node.parameter) if node.function in (FETCH, PROVED) else frozenset[int]()
                return moving.union(*(self.axes[arg] for arg in args))
            case StateNode():
                return frozenset({self.kernel.axes - 1})
            case ConstantNode() | SizeNode():
                return frozenset()

    def moving(self, operand: int) -> frozenset[int]:
        """The axes on which an operand's address changes."""
        return frozenset(axis for axis, on in enumerate(self.kernel.operands[operand].moves) if on)

    def load(self, node: ReadNode, point: Sequence[Index], mask: str | None) -> str:
        return self.b.load(self.operands[node.index], self.item(node.index, point, node.part), mask)

    def size(self, size: Size) -> str:
        return self.scalars[size]

    def coordinate(self, axis: int, point: Sequence[Index]) -> Index:
        return plus(point[axis], at(self.origins[axis]))

    def fetch(self, number: int, node: ApplyNode, registers: Sequence[str], point: Sequence[Index]) -> str:
        """The register of an item at a computed index, which is checked unless it is known to be in range."""
        b, (index, count, stride), operand = self.b, registers, node.parameter
        if node.function == FETCH:
            b.fail(number, b.apply("outside", (index, count), Kind.I64, Kind.BOOL), (index,))
        shift = b.constant(Kind.I64, self.kernel.operands[operand].kind.bytes.bit_length() - 1)
        items = b.apply("shr", (shift, stride), Kind.I64, Kind.I64)
        ahead = b.apply("mul", (index, items), Kind.I64, Kind.I64)
        return b.load(self.operands[operand], self.item(operand, point, ahead=at(ahead)))

    def emit(self, point: Sequence[Index], registers: Sequence[str]) -> None:
        supply = iter(registers)
        for number, result in enumerate(self.body.results):
            for part in range(len(result.nodes)):
                self.b.store(self.results[number], self.target(number, point, part), next(supply))


# ------------------------------------------------------------------------------------------ kernels on GPUs
#
# Kernels as loop programs for GPUs: the same bodies, views and argument block, in loops over thread blocks.
#
# A map is one grid of threads.  A reduction of long lines is two nests: each block of the order of sums is reduced by one thread
# block (`loopir.reductions.ThreadBlockReduction`), then the partial results of each cell are combined pairwise, level by level,
# in place.
def gpu_kernel(kernel: Kernel, most: int = MAX_SUM) -> LoopProgram:
    """The GPU program of a kernel.

    `most`: an upper bound of the reduced length (`length_class`).  It is a power of two up to the size of a block, or else
    `loopir.reductions.MAX_SUM`; then the last parameter is the number of blocks."""
    return (GpuPhase(kernel) if kernel.form is Form.MAP else _GpuReductions(kernel, most)).program()


def length_class(length: int) -> int:
    """The upper bound of the reduced length for which a kernel of lines of this length is printed.  There are few bounds, so
    kernels are reused."""
    return MAX_SUM if length > BLOCK else BLOCK if length > LANES else 1 << (length - 1).bit_length()


class GpuPhase(KernelLowering):
    """The GPU loops of a map; subclasses add reductions, with loops over the cells of thread blocks."""

    outer: ClassVar = LoopKind.PARALLEL
    in_order: ClassVar = False
    shares_rows: ClassVar = False

    @contextmanager
    def cells(self, together: int) -> Iterator[tuple[list[Index], AccumulatorCells]]:
        """Loops over groups of `together` cells, one group per thread block; yields the point of the first cell, and the cells
        along the last axis."""
        b, point, sizes = self.b, list[Index](), self.sizes[:-1]
        with ExitStack() as loops:
            if not sizes:
                loops.enter_context(b.range(LoopKind.PARALLEL, ONE))
            for size, step in zip(sizes, [*(1 for _ in sizes[1:]), together], strict=False):
                loop = loops.enter_context(b.loop(LoopKind.PARALLEL, (ZERO,), (at(size),), step=step))
                point.append(at(loop.index))
            yield point, AccumulatorCells(plus(at(sizes[-1]), times(point[-1], -1)) if sizes else ONE, together)

    def of_cell(self, point: Sequence[Index], cell: Index) -> tuple[list[Index], dict[int, str]]:
        """The point of a cell, and the registers that do not depend on the cell's items."""
        here, known = [*point[:-1], plus(point[-1], cell)] if point else [], dict(self.known)
        for depth in range(1, self.kernel.axes):
            self.enter(here[:depth], known)
        return here, known


class _GpuReductions(GpuPhase):
    def __init__(self, kernel: Kernel, most: int) -> None:
        super().__init__(kernel)
        self.is_long = most > BLOCK
        across, are_cells = kernel.form is Form.REDUCE_OUTER, kernel.axes > 1
        self.threads = ThreadBlockReduction(self.b, self.reductions, most, across=across, are_cells=are_cells)
        self.partials = [
            self.b.view("partials", kind, (*map(at, self.sizes[:-1]), at("blocks")), ViewRole.SCRATCH).name
            for kind in self.threads.kinds if self.is_long
        ]  # fmt: skip

    @property
    def parameters(self) -> tuple[str, ...]:
        return (*super().parameters, "blocks")

    def write(self) -> None:
        self.enter([], self.known)
        with self.cells(self.threads.cells) as (point, cells):
            length, start, block = at(self.sizes[-1]), ZERO, ZERO
            with ExitStack() as blocks:
                if self.is_long:
                    block = at(blocks.enter_context(self.b.range(LoopKind.PARALLEL, at("blocks"))).index)
                    start = times(block, BLOCK)
                    length = plus(length, times(start, -1))
                self.block(point, cells, start, length, block)
        if self.is_long:
            with self.cells(1) as (point, _):
                self.join(point)

    def block(self, point: Sequence[Index], cells: AccumulatorCells, start: Index, length: Index, block: Index) -> None:
        """Reduces `length` items from `start` on, for the cells of one thread block."""

        def items(cell: Index) -> Callable[[Index], list[str]]:
            here, column = self.of_cell(point, cell)

            return lambda row: self.states([*here, plus(start, row)], column)

        self.threads.write(cells, length, items)
        with self.threads.each(cells) as (_, cell):
            here, totals = self.of_cell(point, cell)[0], self.threads.load(ZERO, cell)
            if self.is_long:
                for partial, total in zip(self.partials, totals, strict=True):
                    self.b.store(partial, (*here, block), total)
            else:
                self.emit(here, self.results_of(totals))

    def join(self, point: Sequence[Index]) -> None:
        """Combines a cell's partial results as a binary tree of neighbours."""
        b, one = self.b, self.b.constant(Kind.I64, 1)
        with b.range(LoopKind.SERIAL, Index((), 63), [(Kind.I64, one, None)]) as level:
            (step,) = level.inside
            twice = integer(b, "shl", one, step)
            most = b.number(plus(plus(at("blocks"), at(step)), Index((), -1)))
            pairs = integer(b, "shr", b.number(plus(at(level.index), ONE)), most)
            with b.range(LoopKind.VECTOR, at(pairs)) as pair:
                left = at(integer(b, "mul", pair.index, twice))
                sides = [[b.load(partial, (*point, index)) for partial in self.partials]
                         for index in (left, plus(left, at(step)))]  # fmt: skip
                for partial, total in zip(self.partials, self.threads.joined(*sides), strict=True):
                    b.store(partial, (*point, left), total)
            level.yields, level.until = (twice,), b.compare("le", at("blocks"), at(twice))
        self.emit(point, self.results_of([b.load(partial, (*point, ZERO)) for partial in self.partials]))
