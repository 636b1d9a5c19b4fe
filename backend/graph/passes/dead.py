"""Dead phases: what no output, print, root, guard or possible failure needs is dropped.

A phase that may fail when run (a checked index, a narrowing conversion) is kept even if nobody reads its result, because dropping
it would turn an error into success.  A run-time size keeps the phase that defines it.  Results of maps and branches that nobody
reads are dropped one by one.
"""

from __future__ import annotations

from dataclasses import replace

from ....lang.records import dataclass
from ..phases import Branch, Choice, Decision, Graph, Map, Phase, ValueId
from ..traverse import all_phases, results, subgraphs, with_subgraphs
from .quantities import Quantities, quantities_of


def drop_dead(graph: Graph) -> Graph:
    """See the module."""
    quantities = quantities_of(graph)
    result = replace(graph, phases=_Dropping(quantities).block(graph.phases))
    made = {v for phase in all_phases(result) for v in results(phase)}
    made.update(p for phase in all_phases(result) for s in subgraphs(phase) for p in s.params)
    types = {v: t for v, t in graph.types.items() if v in made}
    return replace(result, types=types, names={v: n for v, n in graph.names.items() if v in made})


def drop_unread(graph: Graph) -> Graph:
    """The same of a program as it is written, saying which of its values are dropped."""
    kept = drop_dead(graph)
    dropped = [
        Decision(Choice.DROPPED, graph.names[value], "no element is read", phase.span)
        for phase in all_phases(graph)
        for value in results(phase)
        if value in graph.names and graph.types[value].shape and value not in kept.types
    ]
    return replace(kept, decisions=(*graph.decisions, *dropped))


@dataclass(frozen=True, slots=True)
class _Dropping:
    quantities: Quantities

    def block(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        return tuple(self.fewer(phase) for phase in phases if phase.id in self.quantities.runs)

    def fewer(self, phase: Phase) -> Phase:
        """A phase without results and operands that are not needed."""
        if isinstance(phase, Map | Branch):
            phase = self.fewer_results(phase)
        if subgraphs(phase):
            phase = with_subgraphs(phase, lambda body: replace(body, phases=self.block(body.phases)))
        return self.fewer_operands(phase) if isinstance(phase, Map) else phase

    def fewer_results(self, phase: Map | Branch) -> Map | Branch:
        keep = [i for i, r in enumerate(phase.results) if r in self.quantities.mentioned]
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
        keep = [i for i, p in enumerate(phase.body.params) if p in self.quantities.mentioned]
        if len(keep) == len(phase.args):
            return phase
        params = tuple(phase.body.params[i] for i in keep)
        body = replace(phase.body, params=params)
        return replace(phase, args=tuple(phase.args[i] for i in keep), frames=tuple(phase.frames[i] for i in keep), body=body)
