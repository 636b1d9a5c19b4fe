"""Dead phases: what no output, print, root, guard or possible failure needs is dropped.

A phase that may fail when run (a checked index, a narrowing conversion) is kept even if nobody reads its result, because dropping
it would turn an error into success.  A run-time size keeps the phase that defines it.  Results of maps and branches that nobody
reads are dropped one by one.
"""

from __future__ import annotations

from dataclasses import replace

from ....typechecker.sizes import Size, SizeVariable
from ..phases import Branch, Graph, Input, Map, Output, Phase, Print, SubGraph, ValueId
from ..traverse import all_phases, defines, operands, results, sizes, subgraphs, with_subgraphs
from .rewriting import phase_may_fail


def drop_dead(graph: Graph) -> Graph:
    """See the module."""
    need = _Need(graph)
    phases = need.block(graph.phases)
    result = replace(graph, phases=phases)
    made = {v for phase in all_phases(result) for v in results(phase)}
    made.update(p for phase in all_phases(result) for s in subgraphs(phase) for p in s.params)
    types = {v: t for v, t in graph.types.items() if v in made}
    return replace(result, types=types, names={v: n for v, n in graph.names.items() if v in made})


class _Need:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.values: set[ValueId] = set(graph.roots)
        self.sizes: set[SizeVariable] = set()
        for guard in graph.guards:
            self.size(guard.fact.left)
            self.size(guard.fact.right)

    def size(self, size: Size) -> None:
        self.sizes.update(v for v in size.variables() if v.is_runtime)

    def block(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        kept: list[Phase] = []
        for phase in reversed(phases):
            if not self.needs(phase):
                continue
            if isinstance(phase, Map | Branch):
                phase = self.fewer_results(phase)
            for size in sizes(phase):
                self.size(size)
            for value in results(phase):
                for size in self.graph.types[value].shape:
                    self.size(size)
            if subgraphs(phase):
                phase = with_subgraphs(phase, self.subgraph)
            if isinstance(phase, Map):
                phase = self.fewer_operands(phase)
            self.values.update(operands(phase))
            kept.append(phase)
        kept.reverse()
        return tuple(kept)

    def subgraph(self, graph: SubGraph) -> SubGraph:
        self.values.update(graph.results)
        return replace(graph, phases=self.block(graph.phases))

    def needs(self, phase: Phase) -> bool:
        if isinstance(phase, Input | Print | Output):
            return True
        return (
            any(r in self.values for r in results(phase))
            or any(s in self.sizes for s in defines(phase))
            or phase_may_fail(phase)
            or any(isinstance(p, Print | Output) for s in subgraphs(phase) for p in all_phases(s))
        )

    def fewer_results(self, phase: Map | Branch) -> Map | Branch:
        keep = [i for i, r in enumerate(phase.results) if r in self.values]
        if len(keep) == len(phase.results):
            return phase

        def some(values: tuple[ValueId, ...]) -> tuple[ValueId, ...]:
            return tuple(values[i] for i in keep)

        kept = some(phase.results)
        if isinstance(phase, Map):
            return replace(phase, results=kept, body=replace(phase.body, results=some(phase.body.results)))
        then = replace(phase.then, results=some(phase.then.results))
        otherwise = replace(phase.otherwise, results=some(phase.otherwise.results))
        return replace(phase, results=kept, then=then, otherwise=otherwise)

    def fewer_operands(self, phase: Map) -> Map:
        """Params of a map that its body no longer reads go, with their operands."""
        keep = [i for i, p in enumerate(phase.body.params) if p in self.values]
        if len(keep) == len(phase.args):
            return phase
        params = tuple(phase.body.params[i] for i in keep)
        body = replace(phase.body, params=params)
        return replace(phase, args=tuple(phase.args[i] for i in keep), frames=tuple(phase.frames[i] for i in keep), body=body)
