"""Branches whose arms may both run before the condition is known: their phases beside the branch, which then only chooses.

An arm may be run in vain if nothing of it can be seen or can fail, and if it defines no size: structured phases, constants,
library phases and loops of these.  `with_arms_out` puts the phases of the arms of chosen branches before the branch, whose own
arms are empty then and name the result; ids stay, so one graph and the ids of the chosen branches say which graph is meant.

Neighbours: `schedule.program.speculating` (decides); `schedule.program.checking`, `run.executor` (follow a plan).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from .passes.rewriting import phase_may_fail
from .phases import Branch, Graph, Output, Phase, PhaseId, Print
from .traverse import all_phases, defines, subgraphs


def may_run_in_vain(phase: Phase) -> bool:
    """Is this a branch with arms of which either may be run and thrown away?"""
    if not isinstance(phase, Branch) or phase.defines or not (phase.then.phases or phase.otherwise.phases):
        return False
    inner = [each for arm in subgraphs(phase) for each in all_phases(arm)]
    return not any(isinstance(each, Print | Output) or defines(each) for each in inner) and not phase_may_fail(phase)


def branches_of(graph: Graph) -> tuple[PhaseId, ...]:
    """The branches that `with_arms_out` can take apart, those within the arms of others before them."""
    return tuple(phase.id for phase in _flat(graph.phases, None) if isinstance(phase, Branch) and _is_apart(phase))


def with_arms_out(graph: Graph, chosen: Collection[PhaseId] | None = None) -> Graph:
    """The graph in which the arms of the chosen branches (None: of all that can) are phases beside them."""
    if chosen is not None and not chosen:
        return graph
    phases = tuple(_flat(graph.phases, chosen))
    return graph if len(phases) == len(graph.phases) else replace(graph, phases=phases)


def taken_apart(graph: Graph, chosen: Collection[PhaseId]) -> tuple[PhaseId, ...]:
    """Those of the chosen branches whose arms `with_arms_out` puts beside them: not those within one that stays whole."""
    wanted = set(chosen)
    return tuple(p.id for p in _flat(graph.phases, wanted) if isinstance(p, Branch) and p.id in wanted and _is_apart(p))


def _flat(phases: Sequence[Phase], chosen: Collection[PhaseId] | None) -> Iterator[Phase]:
    for phase in phases:
        if isinstance(phase, Branch) and (chosen is None or phase.id in chosen) and may_run_in_vain(phase):
            yield from _flat(phase.then.phases, chosen)
            yield from _flat(phase.otherwise.phases, chosen)
            yield replace(phase, then=replace(phase.then, phases=()), otherwise=replace(phase.otherwise, phases=()))
        else:
            yield phase


def _is_apart(branch: Branch) -> bool:
    return not (branch.then.phases or branch.otherwise.phases)
