"""Lowering: the typed core becomes the phase graph.

Tuples are gone already, lifts are batched away (`state`, Note [Batching]) or become maps (`control`, Note [Maps]); views
become projections, element-wise ops bodies, everything else rows of `registry`.  The graph computes exactly what
`backend.reference` computes on the core, value for value.

Neighbours: `typechecker.core` (source), `phases` (target), `passes` (what happens next).
"""

from __future__ import annotations

from collections.abc import Iterator

from ....lang import program_tree
from ....typechecker import core_blocks
from ..phases import Graph, Input, Output
from .blocks import Facts
from .control import lower_ops
from .state import State


def lower(program: core_blocks.Core) -> Graph:
    """The phase graph of a checked program, before any pass."""
    state = State(program, Facts(program), next_value=1 + max((int(v) for v in program.types), default=-1))
    for given in program.inputs:
        value = state.define(given.value)
        state.emit(Input(state.phase_id(), given.span, given.name, value))
    results = (*program.block.results, *(o.value for o in program.outputs))
    lower_ops(state, program.block.ops, results)
    for output in program.outputs:
        state.emit(Output(state.phase_id(), output.span, output.name, state.get(output.value).value))
    names = {state.get(v).value: name for v, name in program.names.items() if v in state.bound and not state.get(v).frame}
    scheduled = {word for schedule in program.schedules for word in _words(schedule.directives)}
    roots = frozenset(state.get(v).value for v, name in program.names.items() if name in scheduled and v in state.bound)
    return Graph(tuple(state.phases), state.types, names, program.inputs, program.params, program.guards, roots)


def _words(directives: tuple[program_tree.Directive, ...]) -> Iterator[str]:
    pending = list(directives)
    while pending:
        for word in pending.pop().words:
            if isinstance(word, program_tree.DirectiveWord):
                yield from (word.text, *word.text.split(","))
            else:
                pending.extend(word.directives)


__all__ = ["lower"]
