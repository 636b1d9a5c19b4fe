"""Gathers by evenly stepping indices are views: `x[3+⍳4]`, `x[n-1]`, every other row.

The index array must be an affine function of its own axes (`steps`: a constant that steps evenly, or `c+k×i` of what does), and
either proved in range by the checker or evidently in range here; a gather that has to check its indices stays one.
"""

from __future__ import annotations

from dataclasses import replace

from ..phases import Affine, Axis, AxisKind, Graph, LibraryPhase, Phase, Read, ReadNode, Result, Structured, SubGraph
from ..projections import Shape, affine, axis_index, in_bounds
from ..steps import KnownValues
from ..traverse import all_phases, with_subgraphs


def gathers_to_views(graph: Graph) -> Graph:
    """See the module."""
    phases = _Rewriting(graph).block(graph.phases)
    return graph if phases is graph.phases else replace(graph, phases=phases)


class _Rewriting:
    def __init__(self, graph: Graph) -> None:
        self.graph, self.steps = graph, KnownValues(all_phases(graph), graph.types).steps

    def block(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        """The same object if nothing is found."""
        made = tuple(self.phase(p) for p in phases)
        return phases if all(a is b for a, b in zip(made, phases, strict=True)) else made

    def subgraph(self, graph: SubGraph) -> SubGraph:
        phases = self.block(graph.phases)
        return graph if phases is graph.phases else replace(graph, phases=phases)

    def phase(self, phase: Phase) -> Phase:
        is_plain = isinstance(phase, LibraryPhase) and "frame" not in phase.attributes and not phase.attributes.get("fills")
        if isinstance(phase, LibraryPhase) and phase.op == "gather" and is_plain:
            return self.gather(phase)
        return with_subgraphs(phase, self.subgraph)

    def gather(self, phase: LibraryPhase) -> Phase:
        arg, indices, *_ = phase.args
        steps, axis = self.steps.get(indices), phase.attributes["axis"]
        if steps is None or not isinstance(axis, int):
            return phase
        shape = self.graph.types[arg].shape
        space = self.graph.types[phase.results[0]].shape
        rank = len(steps.coefficients)
        indexed: Shape = space[axis : axis + rank]  # checks are made even where other axes are empty
        if phase.attributes["checked"] and not in_bounds(indexed, Affine((steps.index(0),), (shape[axis],))):
            return phase
        picked = [
            axis_index(a) if a < axis else steps.index(axis) if a == axis else axis_index(a - 1 + rank) for a in range(len(shape))
        ]
        read = Read(arg, affine(space, picked, shape))
        axes = tuple(Axis(s, AxisKind.PARALLEL) for s in space)
        kind = self.graph.types[arg].element.kind
        return Structured(phase.id, phase.span, axes, (read,), (ReadNode(0, kind),), (Result(phase.results[0], 0, None),))
