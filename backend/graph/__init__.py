"""The phase graph: lowering from the core, passes, verification, binding to concrete sizes.

    graph = optimise(lower(core))        # sizes symbolic
    bound = bind(graph, sizes)           # numbers in, guards checked, peak memory known
    bound = settle(bound)                # the passes that need numbers

Neighbours: `typechecker.core` before, `backend.schedule` and `backend.run` after.
"""

from __future__ import annotations

from .bind import BoundGraph, bind
from .lower import lower
from .passes import PASS_NAMES, optimise, settle
from .verify import GraphError, verify

__all__ = ["PASS_NAMES", "BoundGraph", "GraphError", "bind", "lower", "optimise", "settle", "verify"]
