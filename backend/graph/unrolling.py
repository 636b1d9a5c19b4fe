"""The turns of a loop as phases one after the other, where something is to be done between turns: a pass over stored inputs.

What the body makes has values of its own in every turn, the state of a turn is what the one before made, and who reads the
loop's results reads those of the last turn.

Neighbours: `schedule.streams.planning` (asks), `turns` (one turn as a graph, for several devices).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...typechecker.types import ArrayType
from . import traverse
from .bind import BoundGraph
from .phases import Constant, Input, Loop, Output, Phase, PhaseId, Print, Structured, SubGraph, ValueId


def hindrance(loop: Loop, most: int) -> str:
    """Why the iterations of a loop cannot be phases one after the other, `most` in all; nothing where they can."""
    body = list(traverse.all_phases(loop.body))
    if loop.until is not None or loop.trip.constant is None:
        return "the number of its iterations is known only when it runs"
    if loop.keep:
        return "all its states are kept"
    if not loop.is_plain or any(traverse.defines(phase) for phase in body):
        return "its iterations are of different sizes"
    if loop.trip.constant * len(body) > most:
        return f"{loop.trip.constant:,} iterations are too many to plan one by one"
    return ""


def unrolled(bound: BoundGraph, loop: Loop) -> BoundGraph:
    """The graph without this loop, which nothing hinders."""
    graph = bound.graph
    first = traverse.fresh_id(graph)
    copier = _Copier(dict(graph.types), dict(graph.names), first)
    phases: list[Phase] = []
    names: dict[ValueId, ValueId] = {}
    for phase in graph.phases:
        if phase.id == loop.id:
            state = loop.initial
            for _ in range(loop.trip.constant or 0):
                own = dict(zip(loop.body.params, state, strict=True))
                phases += [copier.copied(inner, own) for inner in loop.body.phases]
                state = tuple(own.get(value, value) for value in loop.body.results)
            names = dict(zip(loop.results, state, strict=True))
        else:
            phases.append(renamed(phase, names))
    made = replace(graph, phases=tuple(phases), types=copier.types, names=copier.names)
    return BoundGraph(made, bound.sizes)


def renamed(phase: Phase, names: Mapping[ValueId, ValueId]) -> Phase:
    """The phase and all inside it reading other values."""

    def inside(sub: SubGraph) -> SubGraph:
        phases = tuple(renamed(inner, names) for inner in sub.phases)
        return SubGraph(sub.params, phases, tuple(names.get(value, value) for value in sub.results))

    return traverse.with_subgraphs(traverse.rename_operands(phase, names), inside)


@dataclass(slots=True)
class _Copier:
    types: dict[ValueId, ArrayType]
    names: dict[ValueId, str]
    fresh: int

    def copied(self, phase: Phase, own: dict[ValueId, ValueId]) -> Phase:
        """The phase with an id, values and sub-graphs of its own; `own` says what has been copied, and is added to."""

        def inside(sub: SubGraph) -> SubGraph:
            params = tuple(self.value(param, own) for param in sub.params)
            phases = tuple(self.copied(inner, own) for inner in sub.phases)
            return SubGraph(params, phases, tuple(own.get(value, value) for value in sub.results))

        made = traverse.with_subgraphs(traverse.rename_operands(phase, own), inside)
        results = tuple(self.value(value, own) for value in traverse.results(phase))
        return replace(_making(made, results), id=PhaseId(self.new()))

    def value(self, value: ValueId, own: dict[ValueId, ValueId]) -> ValueId:
        made = own[value] = ValueId(self.new())
        self.types[made] = self.types[value]
        if value in self.names:
            self.names[made] = self.names[value]
        return made

    def new(self) -> int:
        self.fresh += 1
        return self.fresh


def _making(phase: Phase, results: tuple[ValueId, ...]) -> Phase:
    """The phase with its results under other names."""
    match phase:
        case Structured():
            return replace(phase, results=tuple(replace(r, value=v) for r, v in zip(phase.results, results, strict=True)))
        case Input() | Constant():
            return replace(phase, result=results[0])
        case Print() | Output():
            return phase
        case _:
            return replace(phase, results=results)
