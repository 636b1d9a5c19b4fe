"""Branches of programs as selects: which arms run before their condition is known is chosen with the plan.

The problem of a program with all arms beside their branches (`graph.arms`) states the selects; each form that
`speculation.plan_selects` asks for is the problem of the graph with the arms of some branches inside again, so that a late branch
costs what it costs as one step of the program.  Ticks are as long in all forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, TypeAlias

from ...graph import traverse
from ...graph.arms import branches_of, taken_apart, with_arms_out
from ...graph.bind import BoundGraph
from ...graph.phases import Branch, Phase, PhaseId, SubGraph
from ..answer import Answer, Status
from ..problem import Adjacent, Before, Directive, IssueBefore, Line, Objective, Order, PhaseIndex, Place, Problem, Select
from ..solve.budget import FAST, Budget
from ..solve.speculation import plan_selects
from .together import ProgramProblem

MOST_TOGETHER: Final = 2
"""Branches of which every combination is planned."""

Former: TypeAlias = Callable[[BoundGraph], ProgramProblem]
"""The problem of a bound graph with its directives."""
Planner: TypeAlias = Callable[[Problem, Budget], Answer]


@dataclass(frozen=True, slots=True)
class Formed:
    """The form that was chosen, and its answer."""

    program: ProgramProblem
    answer: Answer


def speculated(bound: BoundGraph, chosen: Iterable[PhaseId]) -> BoundGraph:
    """The graph with the arms of these branches beside them."""
    return replace(bound, graph=with_arms_out(bound.graph, frozenset(chosen)))


def plan_forms(bound: BoundGraph, former: Former, budget: Budget, plan: Planner) -> Formed:
    """The best form of the program's branches with its plan."""
    branches = branches_of(bound.graph)
    if not branches:
        program = former(bound)
        return Formed(program, plan(program.problem, budget))
    full = former(speculated(bound, branches))
    stated = replace(full.problem, selects=selects_of(bound, full, branches))
    forms: dict[int, tuple[ProgramProblem, tuple[PhaseId, ...]]] = {}

    def form(late: frozenset[int]) -> Problem:
        chosen = set(branches) - {branches[place] for place in late}
        program = former(speculated(bound, chosen))
        forms[id(program.problem)] = program, taken_apart(bound.graph, chosen)
        return program.problem

    planned = plan_selects(stated, budget, plan, form, MOST_TOGETHER, FAST)
    if len(branches) > MOST_TOGETHER and full.problem.objectives[:1] == (Objective.LATENCY,):
        planned = replace(planned, answer=_bounded(planned.answer, plan(relaxed(bound, former), FAST)))
    program, apart = forms[id(planned.problem)]
    places = tuple(PhaseIndex(place) for place, phase in enumerate(program.phases) if phase.id in apart)
    return Formed(program, replace(planned.answer, speculated=places))


def _bounded(answer: Answer, least: Answer) -> Answer:
    """An answer of which nothing is known of other forms, with the bound of what all of them are at least."""
    if answer.schedule is None or least.schedule is None or answer.status is Status.ABORTED:
        return answer
    bound = min(least.lower_bound, answer.values[0])
    status = Status.OPTIMAL if bound == answer.values[0] else Status.GAP
    return replace(answer, status=status, lower_bound=bound, proof=replace(answer.proof, method="bound", lower_bound=bound))


def relaxed(bound: BoundGraph, former: Former) -> Problem:
    """What every form does at least: no arms, and of each branch the choice when its condition is there.

    A schedule of any form, without the steps of arms, is one of this problem; so its bounds are bounds of all."""
    branches = branches_of(bound.graph)
    late, full = former(bound), former(speculated(bound, branches))
    chosen = {phase.id: task for phase, task in zip(full.phases, full.problem.phases, strict=True) if phase.id in branches}
    phases = tuple(chosen.get(phase.id, task) for phase, task in zip(late.phases, late.problem.phases, strict=True))
    conditions = {
        place: phase.condition for place, phase in enumerate(late.phases) if isinstance(phase, Branch) and phase.id in chosen
    }
    edges = tuple(
        edge for edge in late.problem.edges
        if edge.target not in conditions or conditions[edge.target] in traverse.results(late.phases[edge.source])
    )  # fmt: skip
    return replace(late.problem, phases=phases, edges=edges)


def every_form(bound: BoundGraph) -> list[tuple[PhaseId, ...]]:
    """The ids of the branches that each form takes apart, each form once; none if they are too many to be planned."""
    branches = branches_of(bound.graph)
    if len(branches) > MOST_TOGETHER:
        return []
    sets = [[b for place, b in enumerate(branches) if number >> place & 1] for number in range(1 << len(branches))]
    return list(dict.fromkeys(taken_apart(bound.graph, chosen) for chosen in sets))


def arms_in(bound: BoundGraph, program: ProgramProblem) -> dict[PhaseIndex, tuple[PhaseIndex, ...]]:
    """The phases of the arms of each branch of which they are beside it."""
    place = {phase.id: PhaseIndex(at) for at, phase in enumerate(program.phases)}
    found = {phase.id: phase for phase in traverse.all_phases(bound.graph) if isinstance(phase, Branch)}
    return {
        place[branch.id]: tuple(place[inner.id] for arm in traverse.subgraphs(branch) for inner in _laid_out(arm, place))
        for branch in found.values() if branch.id in place
    }  # fmt: skip


def with_arms(directives: Sequence[Directive], arms: Mapping[PhaseIndex, Sequence[PhaseIndex]]) -> Iterator[Directive]:
    """Where a branch is placed, its arms are; what comes before it, comes before them, in an `order` too."""

    def all_of(phases: Sequence[PhaseIndex]) -> tuple[PhaseIndex, ...]:
        return tuple(dict.fromkeys(each for phase in phases for each in (*arms.get(phase, ()), phase)))

    for directive in directives:
        match directive:
            case Place():
                yield replace(directive, phases=all_of(directive.phases))
            case Before() | IssueBefore():
                yield replace(directive, then=all_of(directive.then))
            case Adjacent(line, one, other):
                yield directive
                yield from _before_arms(line, (one,), other, arms)
            case Order(line, items, over):
                yield directive
                named = [item for item in items if item is not None]
                for one, other in pairwise(named):
                    yield from _before_arms(line, (one,), other, arms)
                if items and items[-1] is not None:
                    others = tuple(phase for phase in over or () if phase not in named)
                    yield from _before_arms(line, others, items[-1], arms)
            case _:
                yield directive


def _before_arms(
    line: Line, first: tuple[PhaseIndex, ...], branch: PhaseIndex, arms: Mapping[PhaseIndex, Sequence[PhaseIndex]]
) -> Iterator[Directive]:  # fmt: skip
    if first and arms.get(branch):
        yield IssueBefore(line, first, tuple(arms[branch]))


def selects_of(bound: BoundGraph, full: ProgramProblem, branches: Sequence[PhaseId]) -> tuple[Select, ...]:
    """The selects of the problem in which all arms are phases."""
    place = {phase.id: PhaseIndex(at) for at, phase in enumerate(full.phases)}
    maker = {value: PhaseIndex(at) for at, phase in enumerate(full.phases) for value in traverse.results(phase)}
    found: list[Select] = []
    for branch in arms_of(bound, branches):
        then, otherwise = (tuple(place[inner.id] for inner in _laid_out(arm, place)) for arm in (branch.then, branch.otherwise))
        found.append(Select(place[branch.id], maker[branch.condition], then, otherwise))
    return tuple(found)


def arms_of(bound: BoundGraph, branches: Sequence[PhaseId]) -> list[Branch]:
    """These branches of a graph, as they are in it."""
    found = {phase.id: phase for phase in traverse.all_phases(bound.graph) if isinstance(phase, Branch)}
    return [found[branch] for branch in branches]


def _laid_out(arm: SubGraph, place: dict[PhaseId, PhaseIndex]) -> list[Phase]:
    return sorted((p for p in traverse.all_phases(arm) if p.id in place), key=lambda p: place[p.id])
