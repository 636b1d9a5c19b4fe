"""Common subexpressions: of phases that compute the same from the same operands, the first serves all readers.

Sub-graphs see what enclosing blocks computed before them, never the reverse.  Effects, inputs, phases with sub-graphs,
phases that define a run-time size, and roots stay as they are.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from ..phases import Constant, Graph, LibraryPhase, Phase, Structured, SubGraph, ValueId
from ..traverse import operands, rename_operands, results, with_subgraphs
from .rewriting import node_key, payload_key, tidied


def share_common(graph: Graph) -> Graph:
    """See the module."""
    sharing = _Sharing(graph)
    phases = sharing.block(graph.phases)
    names = dict(graph.names)
    for old, new in sharing.same.items():
        if old in names:
            names.setdefault(new, names.pop(old))
    return replace(graph, phases=phases, names=names)


class _Sharing:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.same: dict[ValueId, ValueId] = {}
        self.known: dict[Hashable, Phase] = {}  # what is visible here

    def block(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        kept: list[Phase] = []
        own: list[Hashable] = []
        for phase in phases:
            phase = with_subgraphs(phase, self.subgraph)
            if any(v in self.same for v in operands(phase)):
                phase = rename_operands(phase, self.same)
            if isinstance(phase, Structured) and len(phase.reads) > 1:
                phase = tidied(phase)
            key = self.key(phase)
            first = None if key is None else self.known.get(key)
            if first is not None:
                self.same.update(zip(results(phase), results(first), strict=True))
                continue
            if key is not None:
                self.known[key] = phase
                own.append(key)
            kept.append(phase)
        for key in own:
            del self.known[key]
        return tuple(kept)

    def subgraph(self, graph: SubGraph) -> SubGraph:
        phases = self.block(graph.phases)
        return replace(graph, phases=phases, results=tuple(self.same.get(v, v) for v in graph.results))

    def key(self, phase: Phase) -> Hashable | None:
        """What a phase computes; None if it may not be shared."""
        if any(r in self.graph.roots for r in results(phase)):
            return None
        match phase:
            case Structured():
                body = tuple(node_key(n) for n in phase.body)
                return ("structured", phase.axes, phase.reads, body, tuple((r.node, r.reduction) for r in phase.results))
            case LibraryPhase():
                if phase.defines:
                    return None
                shapes = tuple((self.graph.types[r].element.kind, self.graph.types[r].shape) for r in phase.results)
                return ("library", phase.op, phase.args, tuple(sorted(phase.attributes.items())), shapes)
            case Constant():
                type = self.graph.types[phase.result]
                return ("constant", type.element.kind, type.shape, tuple(payload_key(v) for v in phase.data))
            case _:
                return None
