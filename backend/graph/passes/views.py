"""View folding: a phase that only moves elements is read through by its readers, so views cost nothing there.

A structured reader of a view composes its projection with the view's and reads the view's operand; a view that turns out to be
the identity is replaced by its operand everywhere.  What reads one place of a stack or a join reads what was put there.  The
view phase itself stays for readers that need the array as such (library phases, prints, outputs, loops); `dead` removes it when
none is left.  Roots are neither folded nor read through.
"""

from __future__ import annotations

from dataclasses import replace

from ....typechecker.sizes import number
from ..phases import Affine, Graph, LibraryPhase, Phase, Projection, Read, Structured, SubGraph, ValueId
from ..projections import LONGEST_CHAIN, Shape, compose, constant_index, is_identity, simplify
from ..traverse import axis_sizes, operands, rename_operands, with_subgraphs
from .rewriting import is_view


def fold_views(graph: Graph) -> Graph:
    """See the module."""
    folding = _Folding(graph)
    phases = folding.block(graph.phases)
    names = dict(graph.names)
    for old, new in folding.same.items():
        if old in names:
            names.setdefault(new, names[old])
            del names[old]
    return replace(graph, phases=phases, names=names)


class _Folding:
    def __init__(self, graph: Graph) -> None:
        self.types = graph.types
        self.roots = graph.roots
        self.views: dict[ValueId, tuple[ValueId, Projection]] = {}
        self.parts: dict[ValueId, LibraryPhase] = {}
        self.same: dict[ValueId, ValueId] = {}

    def block(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        kept: list[Phase] = []
        for phase in phases:
            phase = with_subgraphs(phase, self.subgraph)
            if any(v in self.same for v in operands(phase)):
                phase = rename_operands(phase, self.same)
            if isinstance(phase, LibraryPhase) and phase.op in ("stack", "join") and phase.results[0] not in self.roots:
                self.parts[phase.results[0]] = phase
            if isinstance(phase, Structured):
                phase = self.structured(phase)
                if is_view(phase) and phase.results[0].value not in self.roots and self.view(phase):
                    continue
            kept.append(phase)
        return tuple(kept)

    def subgraph(self, graph: SubGraph) -> SubGraph:
        phases = self.block(graph.phases)
        return replace(graph, phases=phases, results=tuple(self.same.get(v, v) for v in graph.results))

    def structured(self, phase: Structured) -> Structured:
        if not any(r.value in self.views or r.value in self.parts for r in phase.reads):
            return phase
        space = axis_sizes(phase.axes)
        return replace(phase, reads=tuple(self.through(r, space) for r in phase.reads))

    def through(self, read: Read, space: Shape) -> Read:
        if read.value in self.parts:
            part = self.part(self.parts[read.value], read, space)
            return read if part is None else self.through(part, space)
        found = self.views.get(read.value)
        if found is None:
            return read
        value, projection = found
        composed = compose(space, read.projection, projection)
        return Read(value, composed) if len(composed.stages) <= LONGEST_CHAIN else read

    def part(self, whole: LibraryPhase, read: Read, space: Shape) -> Read | None:
        """A read at one place along the axis of a stack or a join, of what is there."""
        axis, stages = whole.attributes["axis"], read.projection.stages
        last = stages[-1] if stages else None
        if not isinstance(last, Affine) or last.fills or not isinstance(axis, int) or last.indices[axis].terms:
            return None
        place = last.indices[axis].constant.constant
        if place is None:
            return None
        for arg in whole.args:
            shape = self.types[arg].shape
            count = 1 if whole.op == "stack" else shape[axis].constant
            if count is None:
                return None
            if place < count:
                own = () if whole.op == "stack" else (constant_index(number(place)),)
                indices = (*last.indices[:axis], *own, *last.indices[axis + 1 :])
                return Read(arg, simplify(space, (*stages[:-1], Affine(indices, shape))))
            place -= count
        return None

    def view(self, phase: Structured) -> bool:
        """Remember a view; says whether it is the identity, and so gone."""
        read, result = phase.reads[0], phase.results[0].value
        if is_identity(axis_sizes(phase.axes), read.projection, self.types[read.value].shape):
            self.same[result] = read.value
            return True
        self.views[result] = (read.value, read.projection)
        return False
