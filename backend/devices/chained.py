"""Chains along rows: which phases run together as one body, so that their time is the body's.

An executor reports a chain's time as that of its last member, and so does an estimate; the other members have none of their own.

Neighbours: `kernels.units` (finds chains as the plan does), `cost` (asks).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..graph import traverse
from ..graph.bind import BoundGraph
from ..graph.phases import Graph, Phase, PhaseId, ValueId
from ..kernels.units import RowsUnit, units_of

_MOST_KEPT = 16
_kept: dict[int, tuple[BoundGraph, dict[PhaseId, RowsUnit]]] = {}


def chains_in(bound: BoundGraph) -> dict[PhaseId, RowsUnit]:
    """By the last member of each; kept with the graph."""
    found = _kept.get(id(bound))
    if found is not None and found[0] is bound:
        return found[1]
    made: dict[PhaseId, RowsUnit] = {}
    _walk(bound.graph.phases, (), bound.graph, made)
    while len(_kept) >= _MOST_KEPT:
        _kept.pop(next(iter(_kept)), None)
    _kept[id(bound)] = (bound, made)
    return made


def _walk(phases: Sequence[Phase], results: Sequence[ValueId], graph: Graph, made: dict[PhaseId, RowsUnit]) -> None:
    for unit in units_of(phases, graph, results):
        if isinstance(unit, RowsUnit):
            made[unit.ids[-1]] = unit
    for phase in phases:
        for inside in traverse.subgraphs(phase):
            _walk(inside.phases, inside.results, graph, made)
