"""Branches: run both arms before the condition is known, or only the chosen one after it; costs and objectives decide.

A problem states its selects in the speculated form: both arms are phases, and the select reads their results and the condition.
In the late form (`with_late`) a select and its arms are one atomic phase that reads the condition and the operands of both arms,
and takes as long as the longer arm.  `plan_selects` plans every combination (up to `MOST_TOGETHER` selects; of more, one after
the other) and keeps the best by the objectives; the bound is the least over all forms, so that "optimal" ranges over them.

An arm with an effect is never speculated.  `speculate z` demands the speculated form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Final, TypeAlias

from ....lang.support.records import dataclass, replace
from ...devices.cost_functions import Ticks
from ..problem import (
    Answer,
    Before,
    BoundCertificate,
    Directive,
    Edge,
    IssueBefore,
    Keep,
    NoSplit,
    PhaseIndex,
    PhaseTask,
    PlaceDirective,
    Problem,
    Replicate,
    Select,
    Speculate,
    Split,
    Status,
)
from .lexicographic_search import plan_objectives
from .strategy import DEFAULT, Budget, Planner

MOST_TOGETHER: Final = 4
MOST_TRIED: Final = 12
"""Selects that are tried one after the other; further ones stay late."""


@dataclass(frozen=True, slots=True)
class PlannedForm:
    """The problem in the chosen form, and its answer; the answer's `speculated` are phases of selects in the original problem."""

    problem: Problem
    answer: Answer


ProblemFactory: TypeAlias = Callable[[frozenset[int]], Problem]


def plan_selects(
    problem: Problem, budget: Budget = DEFAULT, plan: Planner = plan_objectives, form: ProblemFactory | None = None,
    together: int = MOST_TOGETHER, trial: Budget | None = None,
) -> PlannedForm:  # fmt: skip
    """The best form of the problem's selects with its answer.

    `form`: makes the problem in which the selects of these indices are late.  Up to `together` selects every combination is
    planned; of more, one select after the other is tried with the budget `trial`."""
    if not problem.selects:
        return PlannedForm(problem, plan(problem, budget))
    build_problem = form or (lambda late: with_late(problem, late))
    options = [_options(problem, select) for select in problem.selects]
    if len(options) <= together:
        combinations = [frozenset(i for i, late in enumerate(chosen) if late) for chosen in product(*options)]
        return _best(problem, combinations, budget, plan, build_problem)
    at_once = frozenset(i for i, each in enumerate(options) if each[0])
    for index, each in enumerate(options):
        if len(each) > 1 and index < MOST_TRIED:
            planned = _best(problem, [at_once | {index}, at_once - {index}], trial or budget, plan, build_problem)
            spoken = problem.selects[index].phase in planned.answer.speculated
            at_once = at_once - {index} if spoken else at_once | {index}
    return _without_bound(_best(problem, [at_once], budget, plan, build_problem))


def _options(problem: Problem, select: Select) -> tuple[bool, ...]:
    """The forms that a select may have (True: late), preferred first among equals: late needs fewer devices and waits."""
    if has_effect(problem, select):
        return (True,)
    spoken = any(requires_both_arms(directive, select) for directive in problem.directives)
    if spoken or not _kinds(problem, select):
        return (False,)
    return (True, False)


def has_effect(problem: Problem, select: Select) -> bool:
    """Does an arm have an effect?  Then it runs only when it is chosen."""
    return any(problem.phases[phase].effect for phase in (*select.then, *select.otherwise))


def requires_both_arms(directive: Directive, select: Select) -> bool:
    """Does the directive, about a select or single phases of its arms, hold only if both arms run?"""
    arms = {*select.then, *select.otherwise}
    match directive:
        case Speculate(_, phase):
            return phase in arms or phase == select.phase
        case Split(_, phase):
            return phase in arms or phase == select.phase
        case Replicate(_, phase) | Keep(_, phase):
            return phase in arms
        case Before(_, first, then) | IssueBefore(_, first, then):
            return not {*arms, select.phase}.isdisjoint(first) and not arms.isdisjoint(then)
        case _:
            return False


def _best(
    problem: Problem, forms: Iterable[frozenset[int]], budget: Budget, plan: Planner, build_problem: ProblemFactory
) -> PlannedForm:
    planned: list[PlannedForm] = []
    for late in forms:
        form = build_problem(late)
        answer = plan(form, budget)
        speculated = tuple(select.phase for index, select in enumerate(problem.selects) if index not in late)
        planned.append(PlannedForm(form, replace(answer, speculated=speculated)))
    usable = [each for each in planned if each.answer.is_usable]
    if not usable:
        unsure = [each for each in planned if each.answer.status is not Status.IMPOSSIBLE]
        return (unsure or planned)[0]
    best = min(usable, key=lambda each: each.answer.values)
    bounds = [each.answer.lower_bound for each in planned if each.answer.status is not Status.IMPOSSIBLE]
    return replace(best, answer=best.answer.bounded(replace(best.answer.proof, lower_bound=min(bounds))))


def _without_bound(planned: PlannedForm) -> PlannedForm:
    """An answer with the bound 0, since not every combination of many selects was planned."""
    answer = planned.answer
    return planned if answer.schedule is None else replace(planned, answer=answer.bounded(BoundCertificate("none", 0)))


# ------------------------------------------------------------------------------------------ late form


def with_late(problem: Problem, late: Iterable[int]) -> Problem:
    """The problem in which the selects of these indices choose before an arm runs."""
    form = problem
    left = list(range(len(problem.selects)))
    for index in sorted(late, key=lambda at: -_size(problem.selects[at])):
        if index in left:  # otherwise it lies inside another late select
            select = form.selects[left.index(index)]
            inner = {*select.then, *select.otherwise, select.phase}
            left = [at for at, each in zip(left, form.selects, strict=True) if each.phase not in inner]
            form = _late(form, select)
    return form


def _size(select: Select) -> int:
    return len(select.then) + len(select.otherwise)


def _kinds(problem: Problem, select: Select) -> list[str]:
    """Classes of devices that can run all of a select."""
    members = (*select.then, *select.otherwise, select.phase)
    return [kind for kind in problem.phases[select.phase].ticks if all(kind in problem.phases[p].ticks for p in members)]


def _late(problem: Problem, select: Select) -> Problem:
    arms = (*select.then, *select.otherwise)
    gone = set(arms)
    renumbered: dict[int, PhaseIndex] = {}
    for phase in range(len(problem.phases)):
        if phase not in gone:
            renumbered[phase] = PhaseIndex(len(renumbered))
    for phase in gone:
        renumbered[phase] = renumbered[select.phase]
    phases = tuple(
        _late_phase(problem, select) if index == select.phase else phase
        for index, phase in enumerate(problem.phases) if index not in gone
    )  # fmt: skip
    inside = gone | {select.phase}
    edges: dict[tuple[int, int], Edge] = {}
    for edge in problem.edges:
        if edge.source in inside and edge.target in inside:
            continue
        undivided = edge.whole or edge.target in inside
        moved = replace(edge, source=renumbered[edge.source], target=renumbered[edge.target], whole=undivided)
        key = (moved.source, moved.target)
        edges[key] = _merged_edges(problem, edges[key], moved) if key in edges else moved
    others = (each for each in problem.selects if each.phase not in inside)
    return replace(
        problem, phases=phases, edges=tuple(edges.values()),
        directives=tuple(_renumbered_directives(problem.directives, renumbered, renumbered[select.phase])),
        selects=tuple(_renumbered(each, renumbered) for each in others),
    )  # fmt: skip


def _merged_edges(problem: Problem, first: Edge, second: Edge) -> Edge:
    """The union of two edges from one phase to another."""
    size = None if first.bytes is None or second.bytes is None else max(first.bytes, second.bytes)
    ticks = first.ticks if second.ticks is None else max(first.ticks or 0, second.ticks)
    return replace(first, bytes=size, ticks=ticks, whole=first.whole or second.whole, halo=max(first.halo, second.halo))


def _late_phase(problem: Problem, select: Select) -> PhaseTask:
    """The atomic phase of a late select: the ticks and the memory of its larger arm."""
    task = problem.phases[select.phase]
    arms = [[problem.phases[phase] for phase in arm] for arm in (select.then, select.otherwise)]

    def ticks(kind: str) -> Ticks:
        return Ticks(((1, max(sum(phase.ticks[kind].at(phase.units) for phase in arm) for arm in arms)),))

    return replace(
        task, ticks={kind: ticks(kind) for kind in _kinds(problem, select)}, rows=0, combine=None, inplace=False,
        scratch=max(sum(phase.out_bytes for phase in arm) + max((phase.scratch for phase in arm), default=0) for arm in arms),
        home=task.home or any(phase.home for arm in arms for phase in arm),
        ready=max([task.ready, *(phase.ready for arm in arms for phase in arm)]),
        effect=task.effect or any(phase.effect for arm in arms for phase in arm),
    )  # fmt: skip


def _renumbered(select: Select, to: dict[int, PhaseIndex]) -> Select:
    def each(phases: tuple[PhaseIndex, ...]) -> tuple[PhaseIndex, ...]:
        return tuple(dict.fromkeys(to[phase] for phase in phases))

    return Select(to[select.phase], to[select.condition], each(select.then), each(select.otherwise))


def _renumbered_directives(directives: Iterable[Directive], to: dict[int, PhaseIndex], chosen: PhaseIndex) -> Iterator[Directive]:
    """The directives in terms of the new phases; `requires_both_arms` is false for all, and an atomic phase is not split."""

    def each(phases: Iterable[PhaseIndex]) -> tuple[PhaseIndex, ...]:
        return tuple(dict.fromkeys(to[phase] for phase in phases))

    for directive in directives:
        match directive:
            case PlaceDirective():
                yield replace(directive, phases=each(directive.phases))
            case Before() | IssueBefore():
                first, then = each(directive.first), each(directive.then)
                if chosen in first and chosen in then:  # arms always precede their select
                    others = tuple(phase for phase in first if phase != chosen)
                    yield from (replace(directive, first=others, then=then) for _ in others[:1])
                    then = tuple(phase for phase in then if phase != chosen)
                if then:
                    yield replace(directive, first=first, then=then)
            case Split() | NoSplit():
                if to[directive.phase] != chosen:
                    yield replace(directive, phase=to[directive.phase])
            case Replicate() | Keep() | Speculate():
                yield replace(directive, phase=to[directive.phase])
            case _:
                yield directive
