"""Runs the passes over a graph one at a time, each rewrite rule by itself, and records which of them change it.

Passes skip small arrays, which random programs use for speed; `at_any_size` lowers their thresholds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any
from unittest import mock

from rho.backend.graph.bind_sizes import BoundGraph, bind
from rho.backend.graph.lowering.blocks import lower
from rho.backend.graph.passes import contractions, masked_reductions, pipeline, sink_into_maps, unroll_short_axes
from rho.backend.graph.passes.folding import fold_views
from rho.backend.graph.passes.rewriting import RewriteRule, apply_rules
from rho.backend.graph.phases import Graph
from rho.backend.graph.verify import verify
from rho.backend.library import sort
from rho.backend.vm.input_sizes import bind_sizes
from rho.typechecker.core.operations import Core

THRESHOLDS: tuple[tuple[Any, str, Any], ...] = (
    (unroll_short_axes, "MIN_POINTS", 1), (sink_into_maps, "MIN_POINTS", 1), (unroll_short_axes, "MAX_REDUCE_STEPS", 5),
    (sink_into_maps, "MIN_ROW_ITEMS", 1),
    (sort, "_LEAST", 1), (contractions, "MAX_COST_SHARE", 0.99),
)  # fmt: skip


@contextmanager
def at_any_size() -> Iterator[None]:
    """Inside the block, passes treat small arrays like large ones."""
    patches = [mock.patch.object(module, name, value) for module, name, value in THRESHOLDS]
    for patch in patches:
        patch.start()
    try:
        yield
    finally:
        for patch in patches:
            patch.stop()


def _steps_of(step: pipeline.Pass) -> Iterator[tuple[str, Callable[[Graph], Graph]]]:
    function = step.function
    if function is pipeline._apply_sized_rules:
        for rule in pipeline.SIZED_RULES:
            yield _named(rule), partial(apply_rules, (rule,))
        yield "fold_views", fold_views
    elif isinstance(function, partial):
        for rule in function.args[0]:
            yield _named(rule), partial(function.func, (rule,))
    else:
        yield function.__name__, function


def _named(rule: RewriteRule) -> str:
    return f"rule {rule.name}"


OPTIMISING = [step for one in pipeline.PASSES for step in _steps_of(one)]
SETTLING = [step for one in pipeline.SIZED_PASSES for step in _steps_of(one)]
NAMES = (*dict.fromkeys(name for name, _ in (*OPTIMISING, *SETTLING)), "batch_maps")
"""The names of all passes, by their functions, and of all rules."""


def load(core: Core, inputs: Mapping[str, Any], *, verified: bool = True) -> tuple[BoundGraph, Set[str]]:
    """Lower, optimise and bind as `backend.load` does: the graph, and the names of the steps that changed its phases.

    With `verified`, the graph is verified after each of these."""
    changed: set[str] = set()

    def run(graph: Graph, steps: list[tuple[str, Callable[[Graph], Graph]]]) -> Graph:
        for name, function in steps:
            after = function(graph)
            if after is not graph and after.phases != graph.phases:
                changed.add(name)
                if verified:
                    verify(after, name)
            graph = after
        return graph

    def batched(phases: Any, types: Any) -> Any:
        made = original(phases, types)
        if made is not phases and made != phases:
            changed.add("batch_maps")
        return made

    original = masked_reductions.batch_maps
    with mock.patch.object(masked_reductions, "batch_maps", batched):
        graph = run(lower(core), OPTIMISING)
        bound = bind(graph, bind_sizes(core, {name: value.shape for name, value in inputs.items()}, {}))
        graph = run(bound.graph, SETTLING)
    return replace(bound, graph=graph), changed
