"""Kernels as loop programs: a nest of loops with a scalar body, on the argument block of `kernels.ir`.

A node is computed in the outermost loop in which all that it depends on is known.  The number of a check is that of its node.

Note [Few columns].  A kernel with `length` has rows of so few items that vectors go across rows: a vector for each column, which
the printer takes from whole rows (`llvm.memory`, Note [Rows]).

Neighbours: `kernel_items` (views, nodes), `kernels.build` (makes kernels), `llvm` (prints this), `run.cpu.compiled` (binds it).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import ClassVar, Final

from ....typechecker.elements import Kind
from ....typechecker.scalars import is_ordered, may_fail
from ...kernels.ir import BLOCK, Apply, Form, Kernel, kind_of
from ...kernels.llvm_leaf import vector_bytes
from ..builder import at
from ..ir import ZERO, Index, LoopKind, Program, plus
from ..llvm import llvm_text
from ..orders import MOST, Items, Sum, from_the_right, ordered, together
from ..reducing import entry, joined, outcome
from .kernel_items import KernelItems

_TILE: Final = 1024
"""Columns that are summed together, of all results."""


@dataclass(frozen=True, slots=True)
class KernelCode:
    """The code of a kernel."""

    kernel: Kernel

    def text(self) -> str:
        return llvm_text(program_of(self.kernel), vector_bytes())


def program_of(kernel: Kernel) -> Program:
    """A program whose block of words is the kernel's argument block."""
    return Lowering(kernel).program()


class Lowering(KernelItems):
    """The loops of a kernel.  `outer`: the kind of those over axes that are not the vector axis, behind no other."""

    outer: ClassVar = LoopKind.SERIAL

    def program(self) -> Program:
        self.write()
        return Program("kernel", self.parameters, (*self.views, *self.b.views.values()), (*self.b.preamble, *self.b.statements))

    @property
    def parameters(self) -> tuple[str, ...]:
        return (*self.sizes, *self.origins, *self.scalars)

    # ------------------------------------------------------------------------------------------- loops

    def write(self) -> None:
        kernel, point = self.kernel, list[Index]()
        with ExitStack() as loops:
            self.compute(self.at_depth(0), point, self.known)
            for axis in range(kernel.vector_axis - self.has_few_columns):
                loop = loops.enter_context(self.b.range(self.outer, at(self.sizes[axis])))
                point.append(at(loop.index))
                self.compute(self.at_depth(axis + 1), point, self.known)
            if self.has_few_columns:
                self.few_columns(point)
                return
            if kernel.form in (Form.ALONG, Form.ACROSS):
                self.along(point) if kernel.form is Form.ALONG else self.across(point)
                return
            with self.b.range(LoopKind.VECTOR, at(self.sizes[kernel.vector_axis])) as loop:
                here, known = [*point, at(loop.index)], dict(self.known)
                self.compute(self.at_depth(kernel.vector_axis + 1), here, known)
                for place in range(len(kernel.results)) if kernel.form is Form.MAP else ():
                    self.store(place, here, known)
                if kernel.form is Form.COLUMNS:
                    self.down_columns(here, known)

    def store(self, place: int, point: Sequence[Index], known: dict[int, str]) -> None:
        for part, node in enumerate(self.kernel.results[place].nodes):
            self.b.store(self.results[place], self.target(place, point, part), known[node])

    def few_columns(self, point: Sequence[Index]) -> None:
        """See Note [Few columns]."""
        kernel = self.kernel
        rows, column = kernel.axes - 2, kernel.axes - 1
        items: list[dict[int, str]] = [{} for _ in range(kernel.length)]
        alone = [place for place in sorted(self.needed) if column in self.axes[place] and rows not in self.axes[place]]
        for place, own in enumerate(items):
            own |= self.known
            self.compute(alone, [*point, ZERO, Index((), place)], own)
        with self.b.range(LoopKind.VECTOR, at(self.sizes[rows])) as loop:
            here, known = [*point, at(loop.index)], dict(self.known)
            self.compute(self.at_depth(rows + 1), here, known)
            both = [place for place in sorted(self.needed) if {rows, column} <= self.axes[place]]
            for place, own in enumerate(items):
                self.compute(both, [*here, Index((), place)], own := known | own)
                items[place] = own
            for result in range(len(kernel.results)):
                for place, own in enumerate(items):
                    self.store(result, [*here, Index((), place)], own)

    def along(self, point: Sequence[Index]) -> None:
        """Reductions of a row."""
        b, kernel, results = self.b, self.kernel, self.kernel.results
        if self.late:
            self.from_the_right(point, self.known)
            return

        def items(place: Index, mask: str | None = None) -> list[str]:
            known, self.mask = dict(self.known), mask
            self.compute(self.at_depth(kernel.axes), [*point, place], known)
            self.mask = None
            return [known[result.node] for result in results]

        length = Index((), kernel.length) if kernel.length else at(self.sizes[-1])
        is_short = kernel.length > 0 and not self.may_fail  # what fails is found in a loop over single items
        if not is_short and any(is_ordered(r.reduction or "", r.kind) for r in results):
            ordered(b, self.sums, length, lambda _: items, lambda _, totals: self.give(point, totals), most=kernel.length or MOST)
        else:
            first = [own for r in results for _, own, _ in entry(b, r.reduction or "", r.kind)]
            totals = self.until_decided(items) if self.is_decided else self.in_registers(first, ZERO, (length,), items)
            self.give(point, totals)

    @property
    def sums(self) -> list[Sum]:
        return [Sum(r.kind, r.reduction or "") for r in self.kernel.results]

    def give(self, point: Sequence[Index], totals: Sequence[str]) -> None:
        for place, total in enumerate(totals):
            self.b.store(self.results[place], self.target(place, point), total)

    def across(self, point: Sequence[Index]) -> None:
        """Reductions of columns, so many at once."""
        b, kernel = self.b, self.kernel
        most = min(_TILE, 2 * _TILE >> (len(kernel.results) - 1).bit_length())
        with together(b, at(self.sizes[-2]), most) as (start, cells):

            def items(cell: Index) -> Items:
                here, column = [*point, plus(start, cell)], dict(self.known)
                self.compute(self.at_depth(kernel.axes - 1), here, column)

                def values(row: Index, mask: str | None) -> list[str]:
                    known = dict(column)
                    self.compute(self.at_depth(kernel.axes), [*here, row], known)
                    return [known[result.node] for result in kernel.results]

                return values

            def give(cell: Index, totals: Sequence[str]) -> None:
                self.give([*point, plus(start, cell)], totals)

            ordered(b, self.sums, at(self.sizes[-1]), items, give, cells)

    def in_registers(self, entry: Sequence[str], lower: Index, upper: Sequence[Index], items: Callable[[Index], Sequence[str]]
                     ) -> list[str]:  # fmt: skip
        """Reductions that are exact in any order, or of a few items."""
        b, results = self.b, self.kernel.results
        carried = [(r.kind, first, r.reduction) for r, first in zip(results, entry, strict=True)]
        with b.loop(LoopKind.VECTOR, (lower,), upper, carried) as loop:
            pairs = zip(results, loop.inside, items(at(loop.index)), strict=True)
            loop.yields = tuple([b.apply(r.reduction or "", (x, y), r.kind, r.kind) for r, x, y in pairs])
        return list(loop.results)

    @property
    def is_decided(self) -> bool:
        """May one truth value be the result, whatever follows?"""
        first, *others = self.kernel.results
        is_truth = first.kind is Kind.BOOL and first.reduction in ("and", "or")
        return is_truth and not others and not self.may_fail and not self.kernel.length

    @property
    def may_fail(self) -> bool:
        return any(isinstance(node, Apply) and may_fail(node.function, node.kind) for node in self.kernel.body)

    def until_decided(self, items: Callable[[Index], Sequence[str]]) -> list[str]:
        """A reduction that ends with the first block that decides it: what follows is not looked at."""
        b, (decided,), size = self.b, self.kernel.results, at(self.sizes[-1])
        function = decided.reduction or ""
        with b.loop(LoopKind.SERIAL, (ZERO,), (size,), entry(b, function, decided.kind), step=BLOCK) as block:
            start = at(block.index)
            block.yields = tuple(self.in_registers(block.inside, start, (plus(start, Index((), BLOCK)), size), items))
            (now,) = block.yields
            block.until = now if function == "or" else b.apply("not", (now,), Kind.BOOL, Kind.BOOL)
        return list(block.results)

    def down_columns(self, point: Sequence[Index], known: dict[int, str]) -> None:
        """Reductions that are exact in any order, with their state in registers."""
        if self.late:
            self.from_the_right(point, known)
            return
        b, results = self.b, self.kernel.results
        rows = [(own.reduction or "", kind_of(self.kernel, own.node)) for own in results]
        carried = [part for row in rows for part in entry(b, *row)]
        with b.range(LoopKind.SERIAL, at(self.sizes[-1]), carried) as loop:
            here, now, state = [*point, at(loop.index)], dict(known), list(loop.inside)
            self.compute(self.at_depth(self.kernel.axes), here, now)
            at_row = b.number(plus(here[-1], at(self.origins[-1])))
            pairs = zip(rows, results, strict=True)
            loop.yields = tuple(part for row, own in pairs for part in joined(b, *row, now[own.node], at_row, state))
        last = list(loop.results)
        for place, row in enumerate(rows):
            b.store(self.results[place], self.target(place, point), outcome(b, *row, last))

    def from_the_right(self, point: Sequence[Index], known: dict[int, str]) -> None:
        """Reductions one item after the other."""
        kernel, inside = self.kernel, self.at_depth(self.kernel.axes)
        early = [place for place in inside if place not in self.late]
        late = [place for place in inside if place in self.late]

        def first(place: Index) -> list[str]:
            now = dict(known)
            self.compute(early, [*point, place], now)
            return [now[node] for result in kernel.results for node in result.nodes]

        def following(place: Index, states: Sequence[str]) -> list[str]:
            now, supply = dict(known), iter(states)
            now |= {state: next(supply) for result in kernel.results for state in result.states}
            self.compute([*early, *late], [*point, place], now)
            return [now[node] for result in kernel.results for node in result.following]

        kinds = [kind_of(kernel, node) for result in kernel.results for node in result.nodes]
        totals = iter(from_the_right(self.b, kinds, at(self.sizes[-1]), first, following))
        for place, result in enumerate(kernel.results):
            for part in range(len(result.nodes)):
                self.b.store(self.results[place], self.target(place, point, part), next(totals))
