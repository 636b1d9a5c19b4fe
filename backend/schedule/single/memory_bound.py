"""The peak of memory as a formula in the sizes, never below what `one_device` plans once they are numbers.

The same walk (`storages`) on sizes instead of numbers, of phases one by one.  Buffers whose size is not a number count 512 bytes
more for rounding.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from functools import reduce

from ....typechecker.sizes import ZERO, Size, number
from ....typechecker.types import ArrayType
from ...graph import traverse
from ...graph.costs import bytes_of
from ...graph.formulas import larger
from ...graph.phases import Graph, Phase, Structured, ValueId
from ..facts.workspace import rounded, scratch_within, workspace_bound
from ..plan.model import ALIGNMENT
from .storages import Block


class Formulas:
    """Amounts for all sizes."""

    zero = ZERO
    exact = False

    def bytes(self, type: ArrayType) -> Size:
        return bytes_of(type)

    def number(self, size: Size) -> Size:
        return size

    def larger(self, a: Size, b: Size) -> Size:
        return larger(a, b)

    def rounded(self, count: Size) -> Size:
        known = count.constant
        return count + ALIGNMENT if known is None else number(rounded(known))

    def never_less(self, a: Size, b: Size) -> bool:
        low = (a - b).bounds()[0]
        return low is not None and low >= 0

    def workspace(self, phase: Structured, scattered: Container[ValueId]) -> Size:
        return workspace_bound(phase, scattered)


def peak_bound(graph: Graph) -> Size:
    """At least the planned peak, for all sizes."""
    formulas, scattered = Formulas(), set[ValueId]()

    def peak(phases: Sequence[Phase], params: Iterable[ValueId], kept: Iterable[ValueId]) -> Size:
        block, inner = Block(graph, formulas, scattered, phases, params, kept), list[Size]()
        for place, phase in enumerate(phases):
            block.enter(place)
            bodies = [peak(body.phases, body.params, body.results) for body in traverse.subgraphs(phase)]
            inner.append(scratch_within(phase, bodies, graph.types, formulas, scattered))
        return reduce(larger, block.in_use(inner), ZERO)

    return peak(graph.phases, (), graph.roots)
