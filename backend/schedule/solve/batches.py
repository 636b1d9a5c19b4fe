"""Several executions of one problem as one problem: each has phases of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..problem import (
    Adjacent,
    Before,
    Directive,
    IssueBefore,
    Keep,
    NoSplit,
    Order,
    PhaseIndex,
    Place,
    Problem,
    Replicate,
    Speculate,
    Split,
)


def unrolled(problem: Problem) -> Problem:
    """Every execution of the batches as phases of its own, `p#0`, `p#1`…; the problem itself if there is one only."""
    count = len(problem.phases)
    if problem.batches <= 1 or not count or problem.executions > 1:
        return problem
    phases = tuple(replace(phase, id=f"{phase.id}#{b}") for b in range(problem.batches) for phase in problem.phases)
    edges = tuple(
        replace(edge, source=PhaseIndex(edge.source + b * count), target=PhaseIndex(edge.target + b * count))
        for b in range(problem.batches)
        for edge in problem.edges
    )
    directives: list[Directive] = []
    for directive in problem.directives:
        directives += _copies(directive, problem.batches, count)
    return replace(problem, phases=phases, edges=edges, directives=tuple(directives), executions=problem.batches)


def _copies(directive: Directive, batches: int, count: int) -> Iterator[Directive]:
    """The directive for each execution."""

    def moved(phases: Sequence[PhaseIndex], batch: int) -> tuple[PhaseIndex, ...]:
        return tuple(PhaseIndex(p + batch * count) for p in phases)

    for b in range(batches):
        match directive:
            case Place(_, phases, _):
                yield replace(directive, phases=moved(phases, b))
            case Before(_, first, then) | IssueBefore(_, first, then):
                yield replace(directive, first=moved(first, b), then=moved(then, b))
            case Split(_, p) | NoSplit(_, p) | Replicate(_, p) | Keep(_, p) | Speculate(_, p):
                yield replace(directive, phase=PhaseIndex(p + b * count))
            case Adjacent(_, x, z):
                yield replace(directive, first=PhaseIndex(x + b * count), then=PhaseIndex(z + b * count))
            case Order(_, items, over):
                own = range(count) if over is None else over
                placed = tuple(None if item is None else PhaseIndex(item + b * count) for item in items)
                yield replace(directive, items=placed, over=moved(tuple(map(PhaseIndex, own)), b))
            case _:
                if b == 0:
                    yield directive
