"""Chains of whole phases become one phase for the search.

A chain p → q is contracted where q reads nothing else, nothing else reads p, both run on one device of the same choices, and
no directive speaks of either's order.  The plan of the contracted problem is a plan of the whole: members run in a row on
the device of their chain.  It bounds nothing, because a chain might better be broken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ...problem import Edge, Keep, PhaseIndex, PhaseTask, Place, Problem, Replicate, Ticks
from ...timeline.timing import Decisions, Mode
from ..costs import Costs

WORTH: Final = 16
"""A graph is contracted if at least the so-manieth part of its phases goes: all is planned once more for it."""


@dataclass(frozen=True, slots=True)
class Contracted:
    """`members` of each phase of `problem`, in order, as phases of the original."""

    problem: Problem
    members: tuple[tuple[int, ...], ...]

    def expand(self, decisions: Decisions, count: int) -> Decisions:
        """Decisions of the original from those of `problem`."""
        modes: list[Mode] = [()] * count
        for members, mode in zip(self.members, decisions.modes, strict=True):
            for p in members:
                modes[p] = mode
        order = tuple(p for index in decisions.priority for p in self.members[index])
        return replace(decisions, modes=tuple(modes), priority=order)


def contract(costs: Costs) -> Contracted | None:
    """The contracted problem; None where it would be hardly smaller."""
    timer = costs.timer
    problem = timer.problem
    if any(not isinstance(directive, (Place, Keep, Replicate)) for directive in problem.directives):
        return None
    follower = {p: q for p in range(len(problem.phases)) if (q := _next(costs, p)) is not None}
    inner = set(follower.values())
    chains: list[tuple[int, ...]] = []
    for p in range(len(problem.phases)):
        if p not in inner:
            chain = [p]
            while chain[-1] in follower:
                chain.append(follower[chain[-1]])
            chains.append(tuple(chain))
    if len(chains) * WORTH > len(problem.phases) * (WORTH - 1):
        return None
    of = {p: index for index, chain in enumerate(chains) for p in chain}
    edges = tuple(
        Edge(PhaseIndex(of[edge.source]), PhaseIndex(of[edge.target]), edge.bytes, edge.ticks, edge.whole, edge.halo)
        for edge in problem.edges
        if of[edge.source] != of[edge.target]
    )
    phases = tuple(_merged(costs, chain) for chain in chains)
    directives = tuple(
        replace(directive, phases=tuple(PhaseIndex(of[p]) for p in directive.phases))
        if isinstance(directive, Place)
        else replace(directive, phase=PhaseIndex(of[directive.phase]))
        for directive in problem.directives
        if isinstance(directive, (Place, Keep, Replicate))
    )
    return Contracted(replace(problem, phases=phases, edges=edges, directives=directives), tuple(chains))


def _next(costs: Costs, phase: int) -> int | None:
    """The phase that may be contracted with `phase`."""
    timer = costs.timer
    problem = timer.problem
    if len(timer.outgoing[phase]) != 1 or phase in timer.limits.wanted or phase in timer.limits.replicated:
        return None
    q = timer.targets[timer.outgoing[phase][0]]
    first, then = problem.phases[phase], problem.phases[q]
    if len(timer.incoming[q]) != 1 or then.ready or first.effect or then.effect:
        return None
    if first.rows or then.rows or first.combine is not None or then.combine is not None:
        return None
    return q if costs.allowed[phase] == costs.allowed[q] else None


def _merged(costs: Costs, chain: tuple[int, ...]) -> PhaseTask:
    phases = [costs.timer.problem.phases[p] for p in chain]
    if len(phases) == 1:
        return phases[0]
    first, last = phases[0], phases[-1]
    ticks = {
        kind: Ticks(((1, sum(phase.ticks[kind].at(1) for phase in phases)),))
        for kind in first.ticks
        if all(kind in phase.ticks for phase in phases)
    }
    scratch = max(phase.scratch + phase.out_bytes for phase in phases)
    return replace(last, id=f"{first.id}…{last.id}", ticks=ticks, ready=first.ready, scratch=scratch, inplace=False)
