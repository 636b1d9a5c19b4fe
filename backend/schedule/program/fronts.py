"""The Pareto front of a program's plans, latency against another objective; and the best plan within one deadline.

Note [Epsilon constraint].  The front's ends are the plan that is best by latency and the one that is best by the other objective.
Between two neighbours lies a rectangle of what is not decided yet; the largest is asked next, by the best plan of the other
objective whose latency is at most the geometric mean of theirs.  Each point is a plan that both verifiers accept; of all that
were found those stay that no other is at least as good as in both.  A search with a deadline also certifies a floor: no plan
within that deadline is below it, so what is not reached is bounded too.

Neighbours: `planning` (each point), `objectives` (values), `pictures.front` (draws it).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isqrt

from ....lang.codes import Code
from ....lang.diagnostics import Diagnostic, RhoError, Severity
from ....lang.source import Span
from ....typechecker.core_blocks import Core
from ...devices.profile import Profile
from ...graph.bind import BoundGraph
from ..plan.explain_queues import amount, time_text
from ..plan.model import Plan
from ..plan.space_text import plans_text
from ..problem import Objective
from ..solve.budget import DEFAULT, Budget
from ..solve.values import value
from .planning import Planned, Within, plan_program


@dataclass(frozen=True, slots=True)
class Point:
    """A plan, its latency in nanoseconds and its value of the other objective."""

    planned: Planned
    ns: int
    value: int


@dataclass(frozen=True, slots=True)
class Front:
    """`points` by latency, the other objective falling; `floors`: (nanoseconds, value): no plan that is done by then is below.
    `least_ns`: no plan is quicker; `narrowest`: a plan whose space is part of the spaces of all these bounds."""

    objective: Objective
    points: tuple[Point, ...]
    floors: tuple[tuple[int, int], ...]
    least_ns: int
    narrowest: Plan

    def chosen(self, weights: Mapping[Objective, float]) -> Point:
        """The point of the least weighted sum, of seconds and of the other objective's unit (`unit_of`)."""
        return min(self.points, key=lambda point: (self.cost(point.ns, point.value, weights), point.ns))

    def cost(self, ns: int, value: int, weights: Mapping[Objective, float]) -> float:
        unit = 1e-3 if self.objective is Objective.ENERGY else 1.0
        return weights.get(Objective.LATENCY, 0.0) * ns * 1e-9 + weights.get(self.objective, 0.0) * value * unit


def front_of(
    core: Core, bound: BoundGraph, profile: Profile, objective: Objective, *, count: int = 8, budget: Budget = DEFAULT
) -> Front:  # fmt: skip
    """At most `count` plans.  See Note [Epsilon constraint].  Raises as `plan_program`."""
    def planned(first: Objective, second: Objective, within: Within | None = None) -> Planned:
        return plan_program(core, bound, profile, objectives=(first, second), budget=budget, within=within)

    quickest = planned(Objective.LATENCY, objective)
    cheapest = planned(objective, Objective.LATENCY)
    tick_ns = quickest.plan.tick_ns
    found = [_point(quickest, objective), _point(cheapest, objective)]
    floors, bounded = {found[1].ns: cheapest.floor}, [quickest.plan, cheapest.plan]
    asked: set[int] = set()
    while len(asked) + 2 < count:
        deadline = _next(_undominated(found), asked, tick_ns)
        if deadline is None:
            break
        asked.add(deadline)
        try:
            more = planned(objective, Objective.LATENCY, Within(deadline, cheapest.answer))
        except RhoError:  # none was found within the budget
            continue
        found.append(_point(more, objective))
        floors[deadline] = more.floor
        bounded.append(more.plan)
    narrowest = min(bounded, key=lambda plan: (plan.space.chunks, len(plan.space.dealt)))
    return Front(objective, _undominated(found), tuple(_falling(floors)), quickest.answer.lower_bound * tick_ns, narrowest)


def _point(planned: Planned, objective: Objective) -> Point:
    schedule = planned.answer.schedule
    assert schedule is not None
    problem = planned.program.problem
    return Point(planned, schedule.makespan * problem.tick_ns, value(problem, schedule, objective))


def _undominated(points: Sequence[Point]) -> tuple[Point, ...]:
    """By latency, each better in the other objective than all before it."""
    kept: list[Point] = []
    for point in sorted(points, key=lambda one: (one.ns, one.value)):
        if not kept or point.value < kept[-1].value:
            kept.append(point)
    return tuple(kept)


def _next(points: Sequence[Point], asked: set[int], tick_ns: int) -> int | None:
    """The deadline in the largest rectangle that is not decided and holds a tick that was not asked."""
    pairs = sorted(pairwise(points), key=lambda pair: (pair[0].ns - pair[1].ns) * (pair[0].value - pair[1].value))
    for first, last in pairs:
        deadline = isqrt(first.ns * last.ns) // tick_ns * tick_ns
        if first.ns <= deadline < last.ns and deadline not in asked and last.value + 1 < first.value:
            return deadline
    return None


def _falling(floors: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """A floor holds for every earlier deadline, too: those stay that say more than all later ones."""
    kept: list[tuple[int, int]] = []
    for ns in sorted(floors, reverse=True):
        if floors[ns] > (kept[-1][1] if kept else 0):
            kept.append((ns, floors[ns]))
    yield from reversed(kept)


def plan_by(
    core: Core, bound: BoundGraph, profile: Profile, ns: int, *, objectives: Sequence[Objective] = (), budget: Budget = DEFAULT
) -> Planned:  # fmt: skip
    """The best plan that is done within `ns` nanoseconds.  Raises as `plan_program`; Rejected SCH106 if none is."""
    free = plan_program(core, bound, profile, objectives=objectives, budget=budget)
    schedule = free.answer.schedule
    if schedule is not None and schedule.makespan * free.program.problem.tick_ns <= ns:
        return free
    soon = plan_program(core, bound, profile, objectives=objectives, budget=budget, within=Within(ns, free.answer))
    objective, value = soon.program.problem.objectives[0], soon.answer.values[0]
    if soon.floor >= value:
        said = f"no {plans_text(soon.plan)} that ends within {time_text(ns)} is better"
    else:
        floor = amount(objective.value, soon.floor, soon.plan.tick_ns)
        said = f"no {plans_text(soon.plan)} that ends within {time_text(ns)} is below {floor}"
    span = Span(core.sources[0].name if core.sources else "", 0, 0)
    return replace(soon, diagnostics=(*soon.diagnostics, Diagnostic(Code.SCH302, said, span, Severity.NOTE)))
