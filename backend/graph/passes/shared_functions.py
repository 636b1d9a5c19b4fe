"""Functions that calls share, as graphs of their own: all passes run on each once, and once more for each choice of its sizes."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from ....typechecker.core.operations import Core, CoreFunction
from ..bind_sizes import BoundGraph, bind
from ..phases import Graph, GraphFunction
from .pipeline import optimise, optimise_with_sizes
from .rewriting import phase_may_fail

_functions: WeakKeyDictionary[CoreFunction, GraphFunction] = WeakKeyDictionary()


def lowered(function: CoreFunction, lower: Callable[[Core], Graph]) -> GraphFunction:
    """The graph of a function, which is lowered when it is first called."""
    known = _functions.get(function)
    if known is None:
        graph = optimise(lower(function.core))
        known = _functions[function] = GraphFunction(function, graph, any(map(phase_may_fail, graph.phases)))
    return known


def bound_function(function: GraphFunction, sizes: tuple[int, ...]) -> BoundGraph:
    """The graph of a function for these sizes, after all passes."""
    numbers = dict(zip(function.sizes, sizes, strict=True))
    return function.cached(("bound", sizes), lambda: optimise_with_sizes(bind(function.graph, numbers)))
