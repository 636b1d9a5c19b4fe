"""Programs that the passes have folded to constants: their results are in the graph, so nothing is executed.

This is why `rho eval '1+1'` starts no array library.  Neighbour: `shell.session`, which runs every other plan.
"""

from __future__ import annotations

from ...backend.graph.bind import BoundGraph
from ...backend.graph.phases import Constant, Output, Print, ValueId
from ...backend.run.values import Array, array


def folded_results(bound: BoundGraph) -> tuple[list[Array], dict[str, Array]] | None:
    """Printed values in order and outputs by name if every phase is a constant, a print or an output; else None."""
    graph = bound.graph
    if not all(isinstance(phase, Constant | Print | Output) for phase in graph.phases):
        return None
    known: dict[ValueId, Array] = {}
    printed: list[Array] = []
    outputs: dict[str, Array] = {}
    for phase in graph.phases:
        match phase:
            case Constant():
                type = graph.types[phase.result]
                known[phase.result] = array(type.element.kind, [size.evaluate({}) for size in type.shape], phase.data)
            case Print():
                printed.append(known[phase.arg])
            case Output():
                outputs[phase.name] = known[phase.arg]
            case _:
                return None
    return printed, outputs
