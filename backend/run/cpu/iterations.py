"""How long an iteration of a loop, fold, scan or map takes phase by phase, and whether it is one for machine code.

Neighbours: `regions` (asks).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ....lang.records import dataclass
from ....typechecker.sizes import Size, capacity
from ...graph import traverse
from ...graph.phases import ApplyNode, Fold, Loop, Map, Structured, ValueId
from ...graph.phases import Phase as AnyPhase
from ...loops.lower.region import Region
from ..device import Types

Phase: TypeAlias = Loop | Fold | Map
_PHASE_NANOSECONDS: Final = 4_000.0
"""What a phase of a body costs by Python in each iteration, roughly."""
_FUNCTION_NANOSECONDS: Final = 1.0
"""What a scalar function costs there at each point."""
_MOST_POINTS: Final = 20_000_000
"""Points of an iteration that is no region: inner loops are regions of their own then, between which interrupts are heard, and
large phases have all threads."""
_POINTS_A_PHASE: Final = 1 << 16
"""Points a phase from which an iteration with routines is phases one by one: these have all threads, and chains along rows."""


@dataclass(frozen=True, slots=True)
class Iteration:
    """Estimates of one: its phases, the points of all their nests, the scalar functions that are done there."""

    phases: int
    points: int
    functions: int

    @property
    def by_phases(self) -> float:
        """Nanoseconds by Python, roughly."""
        return _PHASE_NANOSECONDS * self.phases + _FUNCTION_NANOSECONDS * self.functions

    def is_for_region(self, region: Region | None) -> bool:
        """Is it better as machine code on one thread than with all threads for each phase?"""
        return self.points <= (_POINTS_A_PHASE * self.phases if region is not None and region.routines else _MOST_POINTS)


def iteration_of(phase: Phase, types: Types) -> Iteration:
    return Iteration(_phases(phase), _points(phase, types, _once), _points(phase, types, _functions))


def trips_of(phase: Phase, memory: Mapping[ValueId, Any], types: Types) -> int:
    match phase:
        case Loop():
            return types.number(phase.trip)
        case Map():
            frame = [types.number(size) for size in phase.frame]
            return int(np.prod(frame)) if all(frame) else 0
        case Fold():
            return int(np.asarray(memory[phase.args[0]]).shape[0])


def _phases(phase: Phase) -> int:
    return sum(1 for graph in traverse.subgraphs(phase) for _ in traverse.all_phases(graph))


def _points(phase: Phase, types: Types, weight: Callable[[AnyPhase], int]) -> int:
    """Points of all nests of an iteration, each so many times, roughly."""
    return 1 + sum(_points_of(inner, types, weight) for graph in traverse.subgraphs(phase) for inner in graph.phases)


def _points_of(phase: AnyPhase, types: Types, weight: Callable[[AnyPhase], int]) -> int:
    match phase:
        case Structured():
            return prod(_most(axis.size) for axis in phase.axes) * weight(phase)
        case Loop():
            return _most(phase.trip) * _points(phase, types, weight)
        case Fold():
            return _most(types.types[phase.args[0]].shape[0]) * _points(phase, types, weight)
        case Map():
            return prod(map(_most, phase.frame)) * _points(phase, types, weight)
        case _:
            sizes = [prod(map(_most, types.types[value].shape)) for value in traverse.results(phase)]
            inner = sum(_points_of(p, types, weight) for graph in traverse.subgraphs(phase) for p in graph.phases)
            return max(sizes, default=0) * weight(phase) + inner


def _once(phase: AnyPhase) -> int:
    return 1


def _functions(phase: AnyPhase) -> int:
    """Scalar functions at a point."""
    return sum(isinstance(node, ApplyNode) for node in phase.body) if isinstance(phase, Structured) else 1


def _most(size: Size) -> int:
    number = capacity(size).constant
    return 1 if number is None else max(0, number)
