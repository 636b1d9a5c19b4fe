"""How much an iteration of a loop, fold, scan or map does, and whether it is one for machine code.

Estimates take sizes that a run finds at their caps.

Neighbours: `run.cpu.regions` (asks before it compiles), `lower.control` (asks where interrupts are to be heard), the profiles of
`backend.schedule` (ask what a plan is to expect).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ...lang.records import dataclass
from ...typechecker.sizes import Size, capacity
from ...typechecker.types import ArrayType
from ..graph import traverse
from ..graph.phases import ApplyNode, Fold, Loop, Map, Structured, ValueId
from ..graph.phases import Phase as AnyPhase
from ..scalar.table import TRANSCENDENTAL

Phase: TypeAlias = Loop | Fold | Map
Types: TypeAlias = Mapping[ValueId, ArrayType]
_PHASE_NANOSECONDS: Final = 4_000.0
"""What a phase of a body costs by Python in each iteration, roughly."""
_FUNCTION_NANOSECONDS: Final = 1.0
"""What a scalar function costs there at each point."""
_HARD: Final = 6
"""Plain functions that take as long as a transcendental one."""
_MOST_POINTS: Final = 20_000_000
"""Points of the phases of an iteration, loops inside apart, that is no region: large phases have all threads."""
_POINTS_A_PHASE: Final = 1 << 16
"""The same for each phase of an iteration with routines, whose phases have all threads, and chains along rows."""
_COPIED: Final = 8
"""Points of phases on all threads that make up for an item of state that is copied."""


@dataclass(frozen=True, slots=True)
class Iteration:
    """Estimates of one: its phases, the points of all their nests and of those outside the loops in it, the items of these loops'
    states, and the scalar functions that are done there."""

    phases: int
    points: int
    outside_loops: int
    state: int
    functions: int

    @property
    def by_phases(self) -> float:
        """Nanoseconds by Python, roughly."""
        return _PHASE_NANOSECONDS * self.phases + _FUNCTION_NANOSECONDS * self.functions

    def is_for_region(self, *, calls: bool, in_tiles: Callable[[], bool]) -> bool:
        """Is it better as machine code than with all threads for each phase?  Loops inside have one thread anyway, and by
        themselves they would copy their state each time.  `calls`: are some of its phases routines?  `in_tiles`: do threads share
        its rows?"""
        most = _POINTS_A_PHASE * self.phases if calls else _MOST_POINTS
        return self.outside_loops <= most + _COPIED * self.state or (not calls and in_tiles())


def iteration_of(phase: Phase, types: Types) -> Iteration:
    body = [p for graph in traverse.subgraphs(phase) for p in graph.phases]
    outside = 1 + sum(_points_of(p, types, _once) for p in body if not isinstance(p, Phase))
    states = sum(prod(map(_most, types[value].shape)) for p in body if isinstance(p, Loop) for value in p.initial)
    return Iteration(_phases(phase), _points(phase, types, _once), outside, states, _points(phase, types, _functions))


def points_inside(phase: Phase, types: Types) -> tuple[int, int]:
    """How many iterations a loop has at most, and the points of one."""
    return _trips(phase, types), _points(phase, types, _once)


def trips_of(phase: Phase, memory: Mapping[ValueId, Any], number: Callable[[Size], int]) -> int:
    match phase:
        case Loop():
            return number(phase.trip)
        case Map():
            frame = [number(size) for size in phase.frame]
            return int(np.prod(frame)) if all(frame) else 0
        case Fold():
            return int(np.asarray(memory[phase.args[0]]).shape[0])


def _phases(phase: Phase) -> int:
    return sum(1 for graph in traverse.subgraphs(phase) for _ in traverse.all_phases(graph))


def _points(phase: Phase, types: Types, weight: Callable[[AnyPhase], int]) -> int:
    """Points of all nests of an iteration, each so many times, roughly."""
    return 1 + sum(_points_of(inner, types, weight) for graph in traverse.subgraphs(phase) for inner in graph.phases)


def _trips(phase: Phase, types: Types) -> int:
    match phase:
        case Loop():
            return _most(phase.trip)
        case Fold():
            return _most(types[phase.args[0]].shape[0])
        case Map():
            return prod(map(_most, phase.frame))


def _points_of(phase: AnyPhase, types: Types, weight: Callable[[AnyPhase], int]) -> int:
    match phase:
        case Structured():
            return prod(_most(axis.size) for axis in phase.axes) * weight(phase)
        case Loop() | Fold() | Map():
            return _trips(phase, types) * _points(phase, types, weight)
        case _:
            sizes = [prod(map(_most, types[value].shape)) for value in traverse.results(phase)]
            inner = sum(_points_of(p, types, weight) for graph in traverse.subgraphs(phase) for p in graph.phases)
            return max(sizes, default=0) * weight(phase) + inner


def _once(phase: AnyPhase) -> int:
    return 1


def _functions(phase: AnyPhase) -> int:
    """Scalar functions at a point; those that are many operations count so often."""
    if not isinstance(phase, Structured):
        return 1
    return sum(_HARD if node.function in TRANSCENDENTAL else 1 for node in phase.body if isinstance(node, ApplyNode))


def _most(size: Size) -> int:
    number = capacity(size).constant
    return 1 if number is None else max(0, number)
