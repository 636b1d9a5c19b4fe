"""The passes over the phase graph, in order: one list that reads as a recipe.

A pass is a pure function from graph to graph that never changes what a graph computes; each can be switched off by
its name, and the graph can be verified after each, so that a failure names the pass.

Neighbours: one module a pass; `verify`; `rewriting` (what passes share).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ....lang.records import dataclass
from ..bind import BoundGraph
from ..phases import Graph
from ..verify import verify
from .constants import fold_constants
from .contractions import regroup
from .dead import drop_dead, drop_unread
from .fusion import fuse
from .gathers import gathers_to_views
from .invariants import hoist_invariants, hoist_rest
from .masked import reduce_by_masks
from .recomputing import recompute
from .rules.rule import Rule, apply_rules
from .rules.table import ORDERS, RULES, SETTLED, TOLERANT
from .sharing import share_common
from .short_axes import write_out_reductions, write_out_sides
from .siblings import join_siblings
from .sinking import sink
from .views import fold_views


@dataclass(frozen=True, slots=True)
class Pass:
    """`function` returns an equivalent graph (the same object when it finds nothing to do)."""

    name: str
    doc: str
    function: Callable[[Graph], Graph]


def _applying(rules: tuple[Rule, ...]) -> Callable[[Graph], Graph]:
    return partial(apply_rules, rules)


def _settled(graph: Graph) -> Graph:
    """What rules make of views is read through at once: short axes look at it."""
    changed = apply_rules(SETTLED, graph)
    return graph if changed is graph else fold_views(changed)


PASSES: tuple[Pass, ...] = (
    Pass("dead", "what nothing reads is dropped", drop_unread),
    Pass("views", "phases that only move elements are read through", fold_views),
    Pass("constants", "what is known already is computed once", fold_constants),
    Pass("gathers", "gathers by evenly stepping indices become views", gathers_to_views),
    Pass("views", "the views that the last step made are read through", fold_views),
    Pass("invariants", "what each iteration repeats is computed before the loop", hoist_invariants),
    Pass("sharing", "equal phases are computed once", share_common),
    Pass("dead", "what nothing needs is dropped", drop_dead),
    Pass("rules", "what is known to be quicker in other words is put so", _applying(RULES)),
    Pass("products", "an inverse times something is a solution", _applying(TOLERANT)),
    Pass("fusion", "element-wise producers become part of their readers", fuse),
    Pass("invariants", "what fusion left of what each iteration repeats is computed before the loop", hoist_rest),
    Pass("siblings", "phases over one space that read the same become one", join_siblings),
    Pass("masked", "exact reductions of what a mask selects are of everything", reduce_by_masks),
    Pass("constants", "what fusion brought together is folded", fold_constants),
    Pass("dead", "what fusion left over is dropped", drop_dead),
    Pass("rules", "sorts and parts of orders are marked as such", _applying(ORDERS)),
)
SETTLED_PASSES: tuple[Pass, ...] = (
    Pass("dead", "what nothing reads is dropped", drop_unread),
    Pass("gathers", "gathers by evenly stepping indices become views", gathers_to_views),
    Pass("products", "contractions with what is multiplied and added around them are regrouped", regroup),
    Pass("rules", "what is quicker in other words for these sizes is put so", _settled),
    Pass("cells", "maps make the rows that only they read", sink),
    Pass("short axes", "reductions of a few steps are written out", write_out_reductions),
    Pass("short axes", "parallel axes of a few steps are written out where that fuses", write_out_sides),
    Pass("again", "a little arithmetic on one large array is made again in each of its readers", recompute),
)
"""What needs sizes that are numbers; `_AFTER` follows if they found something."""
_AFTER: tuple[Pass, ...] = (
    Pass("views", "phases that only move elements are read through", fold_views),
    Pass("dead", "what is read through is no reader", drop_dead),
    Pass("fusion", "element-wise producers become part of their readers", fuse),
    Pass("constants", "what fusion brought together is folded", fold_constants),
    Pass("dead", "what fusion left over is dropped", drop_dead),
)
PASS_NAMES: tuple[str, ...] = tuple(dict.fromkeys(step.name for step in (*PASSES, *SETTLED_PASSES)))


def optimise(graph: Graph, without: frozenset[str] = frozenset(), verify_each: bool = False) -> Graph:
    """Run the passes in order, leaving out those named in `without`; `verify_each` checks the graph after every pass."""
    for step in PASSES:
        if step.name not in without:
            graph = step.function(graph)
            if verify_each:
                verify(graph, step.name)
    return graph


def settle(bound: BoundGraph, without: frozenset[str] = frozenset(), verify_each: bool = False) -> BoundGraph:
    """The passes over a bound graph, as `optimise`."""
    graph = bound.graph
    for step in SETTLED_PASSES:
        if step.name not in without:
            graph = step.function(graph)
            if verify_each:
                verify(graph, step.name)
    if graph is bound.graph:
        return bound
    if graph.phases is bound.graph.phases:  # nothing but words
        return replace(bound, graph=graph)
    for step in _AFTER:
        if step.name not in without:
            graph = step.function(graph)
            if verify_each:
                verify(graph, step.name)
    return replace(bound, graph=graph)
