"""Lexicographic search: the best schedule under several objectives in their order.

The first objective is minimised, then the next among the schedules that keep its value, and so on: each by the search driver,
from the best schedule of those before.  Latency and limits on machines are planned by the portfolio; energy, load and transfers
are bisected by the exact search where the candidate modes are complete; otherwise the best candidate is kept, and the bound says
how good it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from ....lang.support.records import replace
from ..bounds.bound_strategies import objective_lower_bound
from ..exact.infeasibility import find_conflict
from ..exact.z3_solver import SolverSteps
from ..problem import (
    Answer,
    BoundCertificate,
    Deadline,
    LimitMachines,
    Objective,
    PhaseIndex,
    PlaceDirective,
    Problem,
    Schedule,
    SourceLine,
    Status,
)
from ..timeline.objective_values import exact_objective_value, objective_values
from ..timeline.serial_sgs import FOREVER, decisions_of
from .portfolio import Z3, bound_is_confirmed, plan_problem, search_context, solver_allowed
from .primal_heuristics import (
    ANNEALING,
    FULL_MOVES_PHASES,
    ROW_TEMPERATURES,
    SearchObjective,
    anneal_from,
    fewer_syncs,
    row_moves,
)
from .strategy import DEFAULT, MOST_EXACT, Budget, SearchContext, Strategy, run_strategies

# ---------------------------------------------------------------------------------------------------- strategies

WIDE_TEMPERATURES: Final = (0.4, 0.001)
HEATS: Final = (WIDE_TEMPERATURES, WIDE_TEMPERATURES, WIDE_TEMPERATURES, ROW_TEMPERATURES)
"""Temperatures of the runs of annealing for energy and throughput, whose minima lie further apart than those of the makespan."""
GENERATED: Final = SourceLine(0, "")


def _on_each_group(context: SearchContext) -> None:
    problem, budget = context.problem, context.budget
    fast = replace(budget, moves=min(budget.moves, 400), steps=0)
    for group in problem.devices:
        everything = tuple(
            PhaseIndex(p) for p, phase in enumerate(problem.phases) if not phase.home and group.kind in phase.ticks
        )
        placement = PlaceDirective(GENERATED, everything, group.id)
        context.incumbent.offer(plan_problem(replace(problem, directives=(*problem.directives, placement)), fast).schedule)


def _fewest_machines(context: SearchContext) -> None:
    """A limit that the planner proves impossible gives a bound."""
    problem, incumbent = context.problem, context.incumbent
    deadlines = [most for objective, most in context.optima if objective is Objective.LATENCY]
    directives = (*problem.directives, *(Deadline(GENERATED, most) for most in deadlines))
    low = sure = 1  # fewer than `sure` are proved impossible; `low` is the least number to try
    while low < (before := incumbent.value):
        limit = (low + before - 1) // 2
        answer = plan_problem(replace(problem, directives=(*directives, LimitMachines(GENERATED, limit))), context.budget)
        incumbent.offer(answer.schedule)
        if incumbent.value == before:
            low = limit + 1
            sure = low if answer.status is Status.IMPOSSIBLE else sure
    incumbent.raise_bound(sure, "bound")


def _objective_bound(context: SearchContext) -> None:
    floor = objective_lower_bound(context.problem, context.incumbent.objective, context.shortest)
    context.incumbent.raise_bound(floor, "bound")


def _anneal(context: SearchContext) -> None:
    problem, incumbent, deadline = context.problem, context.incumbent, context.decoder.constraints.deadline
    late = [most for other, most in context.optima if other is Objective.LATENCY]
    others = [(other, most) for other, most in context.optima if other is not Objective.LATENCY]

    def worth(schedule: Schedule) -> int | None:
        allowed = all(exact_objective_value(problem, schedule, other) <= most for other, most in others)
        return exact_objective_value(problem, schedule, incumbent.objective) if allowed else None

    aim = SearchObjective(worth, min([FOREVER if deadline is None else deadline, *late]))
    moves = context.budget.moves * FULL_MOVES_PHASES // max(FULL_MOVES_PHASES, len(problem.phases)) // 2
    for run, heat in enumerate(HEATS):
        if incumbent.schedule is not None and not incumbent.is_closed:
            start = decisions_of(problem, incumbent.schedule)
            anneal_from(context, start, moves, run, shift=row_moves(context), heat=heat, aim=aim)


def _solve(context: SearchContext) -> None:
    """Syncs are minimised by fewer transfers and fewer receiving devices; there are at least as many syncs as receivers."""
    from ..exact.makespan_bisection import Measure, MeasureOutcome, ObjectiveSearch, TransferMeasure, measured

    problem, incumbent, limits = context.problem, context.incumbent, context.optima
    steps = context.budget.solver_steps()
    search = ObjectiveSearch(problem, [list(options) for options in context.modes.choices], steps)
    most_steps = steps.remaining // (3 if incumbent.objective is Objective.SYNCS else 1)

    def minimise(measure: Measure, bounded: Sequence[tuple[Measure, int]], start: Schedule, lower: int) -> MeasureOutcome:
        outcome = search.minimise(measure, bounded, start, lower, most_steps)
        incumbent.aborted |= outcome.aborted
        incumbent.offer(outcome.schedule)
        return outcome

    assert incumbent.schedule is not None
    if incumbent.objective is Objective.SYNCS:
        least = minimise(TransferMeasure.TRANSFERS, limits, incumbent.schedule, 0).lower
        reached = minimise(TransferMeasure.RECEIVERS, limits, incumbent.schedule, 0)
        receivers = measured(problem, reached.schedule, TransferMeasure.RECEIVERS)
        minimise(TransferMeasure.TRANSFERS, [*limits, (TransferMeasure.RECEIVERS, receivers)], reached.schedule, least)
    else:
        reached = minimise(incumbent.objective, limits, incumbent.schedule, incumbent.bound)
    if context.modes.complete:
        incumbent.raise_bound(reached.lower, "z3")


def _merge_syncs(context: SearchContext) -> None:
    assert context.incumbent.schedule is not None
    most = min((most for other, most in context.optima if other is Objective.LATENCY), default=None)
    context.incumbent.offer(fewer_syncs(context.problem, context.incumbent.schedule, most))


def _minimises(*objectives: Objective) -> Callable[[SearchContext], bool]:
    return lambda context: context.incumbent.objective in objectives


EXACT: Final = Strategy(
    Z3.name, "the exact search, bisecting the objective with the optima of earlier ones as limits",
    _solve,
    lambda context: context.incumbent.objective is not Objective.MACHINES and not context.is_large and solver_allowed(context),
)  # fmt: skip
STRATEGIES: Final = (
    Strategy(
        "groups", "schedules of least makespan on each group of devices", _on_each_group,
        lambda context: len(context.problem.phases) <= MOST_EXACT
        and context.incumbent.objective in (Objective.ENERGY, Objective.THROUGHPUT, Objective.SYNCS),
    ),
    Strategy("machines", "bisection over `limit machines`", _fewest_machines, _minimises(Objective.MACHINES)),
    Strategy("objective-bound", "work and energy with rows as a fluid", _objective_bound),
    Strategy(
        ANNEALING.name, "annealing over modes and orders from the best schedule, by the value of the objective", _anneal,
        lambda context: not context.is_large and context.incumbent.objective in (Objective.ENERGY, Objective.THROUGHPUT),
    ),
    EXACT,
    Strategy("merged-syncs", "later starts for fewer waits", _merge_syncs, _minimises(Objective.SYNCS)),
)  # fmt: skip
"""For objectives beside latency, and for latency after others."""

# ------------------------------------------------------------------------------------------ lexicographic search

TIES: Final = 500_000
"""Solver steps spent on breaking ties by fewer syncs, where syncs are no objective."""
MOST_TIED: Final = 20
MOST_TIED_PAIRS: Final = 1000
"""Phases, and pairs of their modes along edges, up to which ties are broken: with more, writing the formulas takes longer."""


def bound_of(problem: Problem, schedule: Schedule, budget: Budget = DEFAULT) -> int:
    """A lower bound of the first objective that `--prove` can derive again, in its unit; never above the value of `schedule`."""
    if not problem.objectives:
        return 0
    context = _context(problem, budget, plan_problem(problem, replace(budget, steps=0)), schedule)
    _minimise(context, problem.objectives[0])
    return _in_unit(context.incumbent.bound, problem.objectives[0])


def _context(problem: Problem, budget: Budget, answer: Answer, schedule: Schedule) -> SearchContext:
    """The context of searches from a schedule, with the bound of the makespan that an answer has."""
    context = search_context(problem, budget)
    assert context is not None, "a problem with a schedule is plannable"
    context.incumbent.schedule, context.shortest, context.shortest_by = schedule, answer.lower_bound, answer.proof.method
    return context


def _minimise(context: SearchContext, objective: Objective) -> None:
    """Minimise an objective while the optima so far keep their values."""
    context.aim(objective)
    if objective is Objective.LATENCY and not context.optima:
        context.incumbent.raise_bound(context.shortest, context.shortest_by)
    else:
        run_strategies(context, STRATEGIES)


def _in_unit(value: int, objective: Objective) -> int:
    """A value in the unit of users, from that of searches: millijoules, from picojoules."""
    return -(-value // 10**9) if objective is Objective.ENERGY else value


def plan_objectives(problem: Problem, budget: Budget = DEFAULT) -> Answer:
    """The best answer under the problem's objectives, in their order."""
    if not problem.objectives:
        problem = replace(problem, objectives=(Objective.LATENCY,))
    objectives = problem.objectives
    answer = plan_problem(problem, budget)
    if answer.schedule is None or answer.status in (Status.IMPOSSIBLE, Status.ABORTED):
        return answer
    if answer.chunks > 1:
        return _in_chunks(problem, answer, answer.schedule, budget)
    context = _context(replace(problem, chunks=1), budget, answer, answer.schedule)
    incumbent, proofs = context.incumbent, list[tuple[int, str]]()
    for objective in objectives:
        _minimise(context, objective)
        proofs.append((incumbent.bound, incumbent.method))
        context.optima.append((objective, incumbent.value))
    aborted = incumbent.aborted
    _break_ties(context)
    assert incumbent.schedule is not None
    values = objective_values(context.problem, incumbent.schedule)
    answer = replace(answer, schedule=incumbent.schedule, values=values,
        failures=(*answer.failures, *map(str, incumbent.failures)))
    if aborted:
        return replace(answer, status=Status.ABORTED)
    lower, method = proofs[0]
    method = method if lower else "none" if values[0] else "bound"  # no value is below 0
    detail = answer.proof.detail if objectives[0] is Objective.LATENCY else {}
    return answer.bounded(BoundCertificate(method, _in_unit(lower, objectives[0]), detail))


def _break_ties(context: SearchContext) -> None:
    """Among equally good schedules prefer few syncs, then a short makespan."""
    problem, budget, schedule = context.problem, context.budget, context.incumbent.schedule
    if not problem.links or len(problem.phases) > MOST_TIED or budget.steps == 0 or not (schedule and schedule.transfers):
        return
    choices = context.modes.choices
    if sum(len(choices[edge.source]) * len(choices[edge.target]) for edge in problem.edges) > MOST_TIED_PAIRS:
        return
    context.budget = replace(budget, steps=TIES if budget.steps is None else min(TIES, budget.steps))
    for objective in (Objective.SYNCS, Objective.LATENCY):
        if all(objective is not other for other, _ in context.optima):
            context.aim(objective)
            run_strategies(context, (EXACT,))
            context.optima.append((objective, context.incumbent.value))


def _in_chunks(problem: Problem, answer: Answer, schedule: Schedule, budget: Budget) -> Answer:
    """The answer in chunks.  Latency alone searches for chunks; under other objectives they are used only where no whole shards
    fit, and then without a bound."""
    answer = replace(answer, values=objective_values(problem, schedule))
    if problem.objectives[0] is Objective.LATENCY:
        return answer
    unchunked = plan_objectives(replace(problem, chunks=1), budget)
    return answer.bounded(BoundCertificate("none", 0)) if unchunked.schedule is None else unchunked


# ---------------------------------------------------------------------------------------------------- second proof of a conflict
#
# An answer's bound is derived again from the problem alone, without the stored proof.
#
# A claimed bound (of a stored plan or a hand-written file) is confirmed only in this way, so a bound above a feasible plan never
# is.  `plan --check --prove` calls `bound_is_reproved`; `portfolio.bound_is_confirmed` asks the strategies.

STEPS: Final = 400_000_000

Derivation: TypeAlias = Callable[[Problem, Answer, SolverSteps], bool]
"""Returns whether an answer's bound can be derived from its problem."""


def bound_is_reproved(
    problem: Problem, answer: Answer, steps: SolverSteps | None = None, derive: Derivation | None = None
) -> bool:  # fmt: skip
    """Whether the answer's bound, and its being optimal or impossible, can be derived again; `derive` does so for an answer with
    a schedule."""
    steps = steps or SolverSteps(STEPS)
    problem = replace(problem, chunks=answer.chunks)  # the problem over whose schedules the bound ranges
    if answer.status is Status.ABORTED:
        return False
    if answer.status is Status.IMPOSSIBLE:
        if answer.conflict is None:
            return False
        conflict = find_conflict(replace(problem, directives=answer.conflict.directives), steps)  # these alone
        return conflict is not None and conflict.code == answer.conflict.code
    if answer.schedule is None or not answer.values:
        return answer.lower_bound <= 0 or bound_is_confirmed(problem, answer.lower_bound, steps)
    if answer.lower_bound > answer.values[0]:
        return False  # a bound above a plan is wrong
    if answer.status is Status.OPTIMAL and answer.lower_bound != answer.values[0]:
        return False
    objective = problem.objectives[0] if problem.objectives else Objective.LATENCY
    if objective is not Objective.LATENCY:
        return (derive or _derived)(problem, answer, steps)
    if answer.schedule.makespan != answer.values[0]:
        return False
    return (derive or _derived)(problem, answer, steps)


def _derived(problem: Problem, answer: Answer, steps: SolverSteps) -> bool:
    assert answer.schedule is not None
    if problem.objectives and problem.objectives[0] is not Objective.LATENCY:
        return bound_of(problem, answer.schedule) >= answer.lower_bound
    return bound_is_confirmed(problem, answer.lower_bound, steps)
