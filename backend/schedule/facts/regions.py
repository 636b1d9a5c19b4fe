"""What becomes of the outermost loops, folds, scans and maps of a program: compiled as one region, or not, and why."""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import partial

from ...graph import traverse
from ...graph.phases import Branch, Fold, Graph, Loop, Map, Phase, PhaseId
from ...graph.steps import KnownValues
from ...loops.iterations import iteration_of
from ...loops.lower.region import Region, lower_region
from ...loops.lower.values import Unsupported
from ...loops.transform import runs_in_tiles
from ..plan.parts import Lies, PlannedRegion


def regions_of(graph: Graph, spread: Container[PhaseId] = ()) -> tuple[PlannedRegion, ...]:
    """In the order of the program; loops that several devices run together (`spread`) are none."""
    return tuple(_planned(phase, lowered) for phase, lowered in lowered_loops(graph) if phase.id not in spread)


def lowered_loops(graph: Graph) -> Iterator[tuple[Loop | Fold | Map, Region | Unsupported]]:
    """Each with its region, or what is in the way of one."""
    known = KnownValues(traverse.all_phases(graph), graph.types)
    for phase in _outermost(graph.phases):
        try:
            region = lower_region(phase, graph.types, graph.guards, known)
        except Unsupported as unsupported:
            yield phase, unsupported
            continue
        in_tiles = partial(runs_in_tiles, region.program)
        is_one = iteration_of(phase, graph.types).is_for_region(calls=region.calls, in_tiles=in_tiles)
        yield phase, region if is_one else Unsupported("they are large, and have all threads")


def _planned(phase: Loop | Fold | Map, lowered: Region | Unsupported) -> PlannedRegion:
    if isinstance(lowered, Unsupported):
        return PlannedRegion(phase.id, (), False, str(lowered))
    states = tuple(Lies.TWO_BUFFERS if doubled else Lies.IN_PLACE for doubled in lowered.states)
    return PlannedRegion(phase.id, states, lowered.cells, "")


def _outermost(phases: tuple[Phase, ...]) -> Iterator[Loop | Fold | Map]:
    for phase in phases:
        match phase:
            case Loop() | Fold() | Map():
                yield phase
            case Branch():
                yield from _outermost(phase.then.phases)
                yield from _outermost(phase.otherwise.phases)
            case _:
                pass
