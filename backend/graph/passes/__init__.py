"""The passes over the phase graph, in order: one list that reads as a recipe.

A pass is a pure function from graph to graph that never changes what a graph computes; each can be switched off by
its name, and the graph can be verified after each, so that a failure names the pass.

Neighbours: one module a pass; `verify`; `rewriting` (what passes share).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..phases import Graph
from ..verify import verify


@dataclass(frozen=True, slots=True)
class Pass:
    """`function` returns an equivalent graph (the same object when it finds nothing to do)."""

    name: str
    doc: str
    function: Callable[[Graph], Graph]


PASSES: tuple[Pass, ...] = ()


def optimise(graph: Graph, without: frozenset[str] = frozenset(), verify_each: bool = False) -> Graph:
    """Run the passes in order, leaving out those named in `without`; `verify_each` checks the graph after every pass."""
    for step in PASSES:
        if step.name not in without:
            graph = step.function(graph)
            if verify_each:
                verify(graph, step.name)
    return graph
