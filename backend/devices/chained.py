"""Chains along rows: which phases run together as one body, so that their time is the body's.

An executor reports a chain's time as that of its last member, and so does an estimate; the other members have none of their own.

Neighbours: `kernels.units` (finds chains as the plan does), `cost` (asks).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..graph import traverse
from ..graph.bind import BoundGraph
from ..graph.phases import Graph, Phase, PhaseId, ValueId
from ..kernels.kept import Kept
from ..kernels.units import RowsUnit, units_of

_kept: Kept[dict[PhaseId, RowsUnit]] = Kept(16)


def chains_in(bound: BoundGraph) -> dict[PhaseId, RowsUnit]:
    """By the last member of each; kept with the graph."""

    def make() -> dict[PhaseId, RowsUnit]:
        made: dict[PhaseId, RowsUnit] = {}
        _walk(bound.graph.phases, (), bound.graph, made)
        return made

    return _kept.of(id(bound), (bound,), make)


def _walk(phases: Sequence[Phase], results: Sequence[ValueId], graph: Graph, made: dict[PhaseId, RowsUnit]) -> None:
    for unit in units_of(phases, graph, results):
        if isinstance(unit, RowsUnit):
            made[unit.ids[-1]] = unit
    for phase in phases:
        for inside in traverse.subgraphs(phase):
            _walk(inside.phases, inside.results, graph, made)
