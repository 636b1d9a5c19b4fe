"""What is made again rather than kept: a little arithmetic on one large array, read by several phases.

`d ← x-m` that `+/d×d` and `d÷s` read would be written once and read twice; made again from `x` in both it is never written, and
no array is needed for it.  So too a number made of numbers (`m ← s÷n`), which is then part of the phases that use it, not a
phase of its own.

Runs on a graph whose sizes are numbers, for spaces that kernels are for, and in the main block: a loop is made one body anyhow.

Neighbours: `fusion` (does it: this says which producers), `rewriting` (equal nodes of a body are one).
"""

from __future__ import annotations

from collections import defaultdict
from math import prod
from typing import Final

from ...scalar.table import LIGHT, MODERATE
from ..phases import ApplyNode, AxisNode, Graph, Projection, ReadNode, Structured, ValueId
from ..projections import Shape, may_fill
from ..traverse import axis_sizes
from .fusion import Cluster, Fusion
from .quantities import at_most_once, multiplicity
from .rewriting import body_may_fail, has_reduction
from .short_axes import FEWEST_POINTS

MOST_READERS: Final = 4
MOST_LIGHT_NODES: Final = 8


def recompute(graph: Graph) -> Graph:
    """See the module."""
    fusion = _Recomputing(graph)
    phases = fusion.block(graph.phases, {})
    return fusion.result(phases) if fusion.found else graph


class _Recomputing(Fusion):
    """Fusion of just those producers, into every one of their readers."""

    made_again = "making it takes little arithmetic, each time it is read"

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.found = False
        self.reading: dict[ValueId, list[tuple[Shape, Projection]]] = defaultdict(list)
        for phase in graph.phases:
            if isinstance(phase, Structured):
                space = axis_sizes(phase.axes)
                for read in phase.reads:
                    self.reading[read.value].append((space, read.projection))

    def suits(self, producer: Cluster, value: ValueId) -> bool:
        readers = self.reading[value]
        if len(readers) != self.mentions[value] or len(readers) > MOST_READERS or not self.is_light(producer):
            return False
        if producer.phase.axes and not all(at_most_once(multiplicity(*own)) and not may_fill(own[1]) for own in readers):
            return False
        return all(_points(own) >= FEWEST_POINTS for own, _ in readers)

    def mark(self, phase: Structured, here: dict[ValueId, Cluster]) -> Cluster:
        cluster = super().mark(phase, here)
        self.found |= bool(cluster.fused)
        return cluster

    def is_light(self, producer: Cluster) -> bool:
        """Little arithmetic on at most one array of the result's size, or a number made of numbers."""
        points = _points(axis_sizes(producer.phase.axes))
        sizes = [_points(self.graph.types[value].shape) for value in producer.sources]
        few = all(size == 1 for size in sizes) if points == 1 else sum(2 * size > points for size in sizes) == 1
        return few and producer.nodes <= MOST_LIGHT_NODES and _is_arithmetic(producer)

    def inner(self) -> bool:
        return False


def _is_arithmetic(cluster: Cluster) -> bool:
    phase = cluster.phase
    known = LIGHT if phase.axes else MODERATE
    if has_reduction(phase) or body_may_fail(phase.body):
        return False
    for node in phase.body:
        if isinstance(node, AxisNode) or (isinstance(node, ApplyNode) and node.function not in known):
            return False
        if isinstance(node, ApplyNode | ReadNode) and node.kind.is_complex:
            return False
    return all(_is_arithmetic(inner) for inner in cluster.fused.values())


def _points(shape: Shape) -> int:
    found = [size.constant for size in shape]
    return 0 if None in found else int(prod(n for n in found if n is not None))
