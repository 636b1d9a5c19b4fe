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
from .constants import fold_constants
from .dead import drop_dead
from .fusion import fuse
from .gathers import gathers_to_views
from .invariants import hoist_invariants
from .orders import spare_orders
from .sharing import share_common
from .siblings import join_siblings
from .views import fold_views


@dataclass(frozen=True, slots=True)
class Pass:
    """`function` returns an equivalent graph (the same object when it finds nothing to do)."""

    name: str
    doc: str
    function: Callable[[Graph], Graph]


PASSES: tuple[Pass, ...] = (
    Pass("views", "phases that only move elements are read through", fold_views),
    Pass("constants", "what is known already is computed once", fold_constants),
    Pass("gathers", "gathers by evenly stepping indices become views", gathers_to_views),
    Pass("views", "the views that the last step made are read through", fold_views),
    Pass("invariants", "what each iteration repeats is computed before the loop", hoist_invariants),
    Pass("sharing", "equal phases are computed once", share_common),
    Pass("dead", "what nothing needs is dropped", drop_dead),
    Pass("fusion", "element-wise producers become part of their readers", fuse),
    Pass("siblings", "phases over one space that read the same become one", join_siblings),
    Pass("constants", "what fusion brought together is folded", fold_constants),
    Pass("dead", "what fusion left over is dropped", drop_dead),
    Pass("orders", "grades of which only a sort or the first place is wanted are marked", spare_orders),
)
PASS_NAMES: tuple[str, ...] = tuple(dict.fromkeys(step.name for step in PASSES))


def optimise(graph: Graph, without: frozenset[str] = frozenset(), verify_each: bool = False) -> Graph:
    """Run the passes in order, leaving out those named in `without`; `verify_each` checks the graph after every pass."""
    for step in PASSES:
        if step.name not in without:
            graph = step.function(graph)
            if verify_each:
                verify(graph, step.name)
    return graph
