"""A rule: a pattern, a condition, a replacement, and what it preserves.

A rule looks at one phase and what makes its operands.  What it gives replaces phases by others, each in its place; the values
that other phases read keep their names and what they are.  Rules are tried one after the other on the whole graph.

Neighbours: `patterns`, `table` (all rules), `..passes` (when they are tried).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from enum import Enum
from typing import Final, TypeAlias

from .....lang.records import dataclass
from .....typechecker.types import ArrayType
from ...phases import Graph, LibraryPhase, Phase, PhaseId, Rewritten, SubGraph, ValueId
from ...registry import signature_of
from ...traverse import all_phases, operands, results, subgraphs, with_subgraphs
from .patterns import Match, Op, matched


class Keeps(Enum):
    """What a rule preserves."""

    BITS = "the bits"
    BITS_UNLESS_NAN = "the bits unless there is a NaN, for which the new phases look"
    TOLERANCE = "the value within the tolerance that the old phases had"


@dataclass(frozen=True, slots=True)
class Change:
    """`phases`: what stands in the place of a phase; `types` of new values and of those that mean something else."""

    phases: Mapping[PhaseId, tuple[Phase, ...]]
    types: Mapping[ValueId, ArrayType] = field(default_factory=dict)


Make: TypeAlias = "Callable[[Match, Scope], Change | None]"


@dataclass(frozen=True, slots=True)
class Rule:
    """`make` gives None where the condition does not hold.  `says`: what the plan tells; empty where it tells nothing.
    `examples`: functions of one vector that the rule changes; each is compared with the reference on all short vectors."""

    name: str
    doc: str
    keeps: Keeps
    pattern: Op
    make: Make
    says: str = ""
    examples: tuple[str, ...] = ()


_MOST_TIMES: Final = 16
"""Times that a rule is tried: changes that touch one phase wait for the next time."""


class Scope:
    """A graph as rules ask it."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.types = graph.types
        self.makers: dict[ValueId, Phase] = {}
        self._readers: dict[ValueId, list[Phase | None]] = {value: [None] for value in graph.roots}
        self._places: dict[PhaseId, tuple[int, int]] = {}  # the block, and where in it
        self._number(graph.phases)
        for phase in all_phases(graph):
            for value in results(phase):
                self.makers[value] = phase
            for value in operands(phase):
                self._readers.setdefault(value, []).append(phase)
            for sub in subgraphs(phase):
                for value in sub.results:
                    self._readers.setdefault(value, []).append(None)
        self._next_value = max(graph.types, default=0)
        self._next_phase = max((phase.id for phase in all_phases(graph)), default=0)

    def readers(self, value: ValueId) -> list[Phase | None]:
        """Who reads a value; None is the end of a block or a schedule, which wants all of it."""
        return self._readers.get(value, [])

    def is_beside(self, phase: Phase, other: Phase) -> bool:
        """Are both in one block?"""
        return self._places[phase.id][0] == self._places[other.id][0]

    def is_before(self, value: ValueId, phase: Phase) -> bool:
        """Is a value that may be read in a phase's block there before the phase?"""
        maker = self.makers.get(value)
        return maker is None or not self.is_beside(maker, phase) or self._places[maker.id] < self._places[phase.id]

    def _number(self, phases: tuple[Phase, ...]) -> None:
        block = len(self._places)
        for place, phase in enumerate(phases):
            self._places[phase.id] = (block, place)
        for phase in phases:
            for sub in subgraphs(phase):
                self._number(sub.phases)

    def value(self) -> ValueId:
        self._next_value += 1
        return ValueId(self._next_value)

    def phase(self) -> PhaseId:
        self._next_phase += 1
        return PhaseId(self._next_phase)


def apply_rules(rules: tuple[Rule, ...], graph: Graph) -> Graph:
    """The graph after every rule; the same object if none found anything."""
    scope: Scope | None = None
    ops = {phase.op for phase in all_phases(graph) if isinstance(phase, LibraryPhase)}
    for rule in rules:
        if rule.pattern.op not in ops:
            continue
        for _ in range(_MOST_TIMES):
            scope = Scope(graph) if scope is None or scope.graph is not graph else scope
            changed = _apply(rule, scope)
            if changed is graph:
                break
            graph = changed
            ops = {phase.op for phase in all_phases(graph) if isinstance(phase, LibraryPhase)}
    return graph


def _apply(rule: Rule, scope: Scope) -> Graph:
    graph = scope.graph
    phases: dict[PhaseId, tuple[Phase, ...]] = {}
    types = dict(graph.types)
    notes: list[Rewritten] = []
    for phase in all_phases(graph):
        match = matched(rule.pattern, phase, scope.makers)
        change = None if match is None else rule.make(match, scope)
        if change is None or any(place in phases for place in change.phases):
            continue
        phases |= change.phases
        types |= change.types
        if rule.says:
            notes.append(Rewritten(rule.name, rule.says, phase.span))
    if not phases:
        return graph
    notes = [note for note in notes if note not in graph.rewritten]
    block = _Replacing(phases, types).block(graph.phases)
    return replace(graph, phases=block, types=types, rewritten=(*graph.rewritten, *notes))


@dataclass(frozen=True, slots=True)
class _Replacing:
    found: Mapping[PhaseId, tuple[Phase, ...]]
    types: Mapping[ValueId, ArrayType]

    def block(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        made: list[Phase] = []
        for phase in phases:
            for new in self.found.get(phase.id, (phase,)):
                if isinstance(new, LibraryPhase) and new is not phase:
                    new = replace(new, signature=signature_of(new, self.types))
                made.append(with_subgraphs(new, self.subgraph))
        return tuple(made)

    def subgraph(self, graph: SubGraph) -> SubGraph:
        phases = self.block(graph.phases)
        same = len(phases) == len(graph.phases) and all(a is b for a, b in zip(phases, graph.phases, strict=True))
        return graph if same else replace(graph, phases=phases)
