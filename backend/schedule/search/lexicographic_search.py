"""Lexicographic search: the best schedule under several objectives in their order.

The first objective is minimised, then the next among the schedules that keep its value, and so on.  Latency and limits on
machines are planned by the portfolio; energy, load and transfers are bisected by the exact search where the candidate modes are
complete; otherwise the best candidate is kept, and the bound says how good it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeAlias

from ....lang.support.records import dataclass, field, replace
from ..bounds.bound_strategies import (
    energy_of_schedule,
    exact_objective_value,
    load_of_schedule,
    machine_count,
    objective_lower_bound,
    objective_values,
    receiver_count,
    sync_count,
    transfer_count,
)
from ..bounds.head_tail_bounds import Costs
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
from ..timeline.serial_sgs import FOREVER, ScheduleDecoder, decisions_of
from .instance_transformations import unrolled
from .list_scheduling import within_limits
from .local_search import ROW_TEMPERATURES, SEED, SearchObjective, anneal, repartition_moves
from .mode_enumeration import candidate_modes
from .portfolio import Z3, bound_is_confirmed, plan_problem
from .primal_heuristics import ANNEALING, FULL_MOVES_PHASES, fewer_syncs
from .strategy import DEFAULT, MOST_DEVICES, MOST_EXACT, Budget, StrategyFailure, first_violation, note_failure, tolerate_failures

# ---------------------------------------------------------------------------------------------------- objectives

TIES: Final = 500_000
"""Solver steps for breaking ties by fewer syncs where syncs are no objective."""
MOST_TIED: Final = 20
WIDE_TEMPERATURES: Final = (0.4, 0.001)
HEATS: Final = (WIDE_TEMPERATURES, WIDE_TEMPERATURES, WIDE_TEMPERATURES, ROW_TEMPERATURES)
"""Temperatures of the runs of annealing for energy and throughput, whose minima lie further apart than those of the makespan."""
GENERATED: Final = SourceLine(0, "")


# ------------------------------------------------------------------------------------------ lexicographic search


def bound_of(problem: Problem, schedule: Schedule, budget: Budget = DEFAULT) -> int:
    """The derivable lower bound of the first objective, in its unit; never above the value of `schedule`."""
    if not problem.objectives:
        return 0
    state = _ObjectiveState(problem, budget, plan_problem(problem, replace(budget, steps=0)), schedule)
    lower, _ = _improve(state, problem.objectives[0], ())
    return -(-lower // 10**9) if problem.objectives[0] is Objective.ENERGY else lower


@dataclass(slots=True)
class _ObjectiveState:
    """The best schedule so far, and the bound of the first objective with its method."""

    problem: Problem
    budget: Budget
    answer: Answer
    schedule: Schedule
    lower: int = 0
    method: str = "none"
    aborted: bool = False
    failures: list[StrategyFailure] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Run the block as a stage: if it raises, or its schedule is not valid, the schedule before it stands."""
        before = self.schedule
        with tolerate_failures(name, self.failures):
            yield
        wrong = None if self.schedule is before else first_violation(self.problem, self.schedule)
        if wrong is not None:
            self.schedule = before
            note_failure(StrategyFailure(name, f"its plan is not valid: {wrong}"), self.failures)


def plan_objectives(problem: Problem, budget: Budget = DEFAULT) -> Answer:
    """The best answer under the problem's objectives, in their order."""
    if not problem.objectives:
        problem = replace(problem, objectives=(Objective.LATENCY,))
    objectives = problem.objectives
    if Objective.THROUGHPUT in objectives:
        problem = unrolled(problem)
    answer = plan_problem(problem, budget)
    if answer.schedule is None or answer.status in (Status.IMPOSSIBLE, Status.ABORTED):
        return answer
    if answer.chunks > 1:
        return _in_chunks(problem, answer, answer.schedule, budget)
    problem = replace(problem, chunks=1)
    state = _ObjectiveState(problem, budget, answer, answer.schedule, answer.lower_bound, answer.proof.method)
    optima: list[tuple[Objective, int]] = []
    for index, objective in enumerate(objectives):
        lower, method = 0, "none"
        with state.stage(objective.value):
            lower, method = _improve(state, objective, optima)
        if index == 0:
            state.lower, state.method = lower, method
        optima.append((objective, exact_objective_value(problem, state.schedule, objective)))
    with state.stage("ties"):
        _settle(state, optima)
    measured = objective_values(problem, state.schedule)
    answer = replace(answer, failures=(*answer.failures, *map(str, state.failures)))
    if state.aborted:
        return replace(answer, status=Status.ABORTED, schedule=state.schedule, values=measured)
    lower = -(-state.lower // 10**9) if objectives[0] is Objective.ENERGY else state.lower
    reached = state.lower >= exact_objective_value(problem, state.schedule, objectives[0])
    proof = BoundCertificate(state.method if reached or state.lower else "none", min(lower, measured[0]),
        answer.proof.detail)
    if objectives[0] is not Objective.LATENCY:
        proof = replace(proof, detail={})
    return replace(
        answer, status=Status.OPTIMAL if reached else Status.GAP, schedule=state.schedule, values=measured,
        lower_bound=min(lower, measured[0]), proof=proof,
    )  # fmt: skip


def _in_chunks(problem: Problem, answer: Answer, schedule: Schedule, budget: Budget) -> Answer:
    """Chunks are searched for latency only; under other objectives they are used where no whole shards fit, without a bound."""
    if problem.objectives[0] is Objective.LATENCY:
        return replace(answer, values=objective_values(problem, schedule))
    unchunked = plan_objectives(replace(problem, chunks=1), budget)
    if unchunked.schedule is not None:
        return unchunked
    return replace(
        answer, status=Status.GAP, values=objective_values(problem, schedule), lower_bound=0, proof=BoundCertificate("none", 0)
    )


def _settle(state: _ObjectiveState, reached: list[tuple[Objective, int]]) -> None:
    """Break ties: among equally good schedules prefer few syncs, then a short makespan."""
    problem, budget = state.problem, state.budget
    if not problem.links or len(problem.phases) > MOST_TIED or budget.steps == 0 or not state.schedule.transfers:
        return
    asked, aborted = state.budget, state.aborted
    state.budget = replace(budget, steps=TIES if budget.steps is None else min(TIES, budget.steps))
    for objective in (Objective.SYNCS, Objective.LATENCY):
        if all(objective is not other for other, _ in reached):
            _by_solver(state, objective, reached)
            reached.append((objective, exact_objective_value(problem, state.schedule, objective)))
    state.budget, state.aborted = asked, aborted


def _improve(state: _ObjectiveState, objective: Objective, reached: Sequence[tuple[Objective, int]]) -> tuple[int, str]:
    """Minimise an objective while those reached keep their values; returns its lower bound and the method of the bound."""
    for schedule in _candidates(state, objective, reached):
        _offer(state, schedule, objective, reached)
    if objective is Objective.LATENCY and not reached:
        return state.answer.lower_bound, state.answer.proof.method
    if objective is Objective.MACHINES:
        return _fewest_machines(state, reached)
    floor = objective_lower_bound(state.problem, objective, state.answer.lower_bound)
    if objective in (Objective.ENERGY, Objective.THROUGHPUT):
        _anneal(state, objective, reached, floor)
    improvement = _by_solver(state, objective, reached, floor)
    if objective is Objective.SYNCS:
        most = min((most for other, most in reached if other is Objective.LATENCY), default=None)
        _offer(state, fewer_syncs(state.problem, state.schedule, most), objective, reached)
    return improvement


def _offer(state: _ObjectiveState, schedule: Schedule | None, objective: Objective, reached: Sequence[tuple[Objective,
    int]]) -> None:
    problem = state.problem
    if schedule is None or not within_limits(ScheduleDecoder(problem).constraints, schedule):
        return
    if any(exact_objective_value(problem, schedule, other) > most for other, most in reached):
        return
    mine, theirs = (exact_objective_value(problem, s, objective) for s in (schedule, state.schedule))
    if (mine, schedule.makespan) < (theirs, state.schedule.makespan) if not reached else mine < theirs:
        state.schedule = schedule


def _candidates(state: _ObjectiveState, objective: Objective, reached: Sequence[tuple[Objective, int]]) -> Iterator[
    Schedule | None
]:
    """Schedules of least makespan on subsets of the device groups, for objectives that fewer devices may improve."""
    problem = state.problem
    if objective in (Objective.LATENCY, Objective.MACHINES) or len(problem.phases) > MOST_EXACT:
        return
    fast = replace(state.budget, moves=min(state.budget.moves, 400), steps=0)
    for group in problem.devices:
        everything = tuple(
            PhaseIndex(p) for p, phase in enumerate(problem.phases) if not phase.home and group.kind in phase.ticks
        )
        placement = PlaceDirective(GENERATED, everything, group.id)
        yield plan_problem(replace(problem, directives=(*problem.directives, placement)), fast).schedule


def _anneal(state: _ObjectiveState, objective: Objective, reached: Sequence[tuple[Objective, int]], floor: int) -> None:
    """Anneal modes and orders from the best schedule, by the value of the objective."""
    problem, count = state.problem, len(state.problem.phases)
    decoder = ScheduleDecoder(problem)
    if count > MOST_EXACT or len(decoder.kinds) > MOST_DEVICES or ANNEALING.name in state.budget.without:
        return
    costs = Costs(decoder)
    choices, shift = candidate_modes(costs).choices, repartition_moves(costs)
    deadline = FOREVER if decoder.constraints.deadline is None else decoder.constraints.deadline
    latest = min([deadline, *(most for other, most in reached if other is Objective.LATENCY)])

    def worth(schedule: Schedule) -> int | None:
        allowed = all(
            exact_objective_value(problem, schedule, other) <= most for other, most in reached if other is not Objective.LATENCY
        )
        return exact_objective_value(problem, schedule, objective) if allowed else None

    moves = state.budget.moves * FULL_MOVES_PHASES // max(FULL_MOVES_PHASES, count) // 2
    for run, heat in enumerate(HEATS):
        if exact_objective_value(problem, state.schedule, objective) <= floor:
            break
        start = decisions_of(problem, state.schedule)
        better = anneal(decoder, choices, start, moves, floor, SEED + run, shift, heat, SearchObjective(worth, latest))
        _offer(state, better, objective, reached)


def _fewest_machines(state: _ObjectiveState, reached: Sequence[tuple[Objective, int]]) -> tuple[int, str]:
    """Bisection over `limit machines`; a limit that the planner proves impossible or too slow gives a bound."""
    problem = state.problem
    deadlines = [most for objective, most in reached if objective is Objective.LATENCY]
    directives = (*problem.directives, *(Deadline(GENERATED, most) for most in deadlines))
    low = sure = 1  # fewer than `sure` are proved impossible; no schedule with fewer than `low` is known
    while low < machine_count(state.schedule):
        limit = (low + machine_count(state.schedule) - 1) // 2
        answer = plan_problem(replace(problem, directives=(*directives, LimitMachines(GENERATED, limit))), state.budget)
        before = machine_count(state.schedule)
        if answer.schedule is not None:
            _offer(state, answer.schedule, Objective.MACHINES, reached)
        if machine_count(state.schedule) < before:
            continue
        low = limit + 1
        if answer.status is Status.IMPOSSIBLE:
            sure = max(sure, limit + 1)
    return sure, "bound"


def _by_solver(state: _ObjectiveState, objective: Objective, optima: Sequence[tuple[Objective, int]],
    bottom: int = 0) -> tuple[int, str]:
    """Bisection by the exact search, for problems small enough for it; `bottom` is a known lower bound."""
    problem, budget = state.problem, state.budget
    names = len(problem.device_names())
    if bottom >= exact_objective_value(problem, state.schedule, objective):
        return bottom, "bound"
    distributed = any(task.distributed is not None for task in problem.phases)  # the solver knows nothing of these
    if distributed or len(problem.phases) > MOST_EXACT or names > MOST_DEVICES or budget.steps == 0 or Z3.name in budget.without:
        return bottom, "bound"
    modes = candidate_modes(Costs(ScheduleDecoder(problem)))
    import time

    from ..exact.makespan_bisection import ObjectiveLimit, ObjectiveMeasure, ObjectiveSearch, PowerMeasure
    from ..exact.z3_solver import SolverSteps, available

    if not available():
        return bottom, "bound"
    until = None if budget.seconds is None else time.monotonic() + budget.seconds
    steps = SolverSteps(1 << 50 if budget.steps is None else budget.steps, until)
    groups = [group for group in problem.devices for _ in range(group.count)]
    power = PowerMeasure(
        tuple(group.idle_mw * problem.tick_ns for group in groups),
        tuple(group.active_mw * problem.tick_ns for group in groups),
        tuple(not problem.power_off_unused or d == problem.home for d in range(names)),
    )
    choices = [list(options) for options in modes.choices]
    goals = ObjectiveSearch(problem, choices, power, steps)
    times = problem.executions

    def limit(of: Objective, most: int) -> ObjectiveLimit:
        match of:
            case Objective.LATENCY:
                return ObjectiveLimit(ObjectiveMeasure.MAKESPAN, most, lambda s: s.makespan)
            case Objective.THROUGHPUT:
                return ObjectiveLimit(ObjectiveMeasure.LOAD, most * times, lambda s: load_of_schedule(problem, s))
            case Objective.ENERGY:
                return ObjectiveLimit(ObjectiveMeasure.ENERGY, most, lambda s: energy_of_schedule(problem, s))
            case Objective.MACHINES:
                return ObjectiveLimit(ObjectiveMeasure.MACHINES, most, machine_count)
            case Objective.SYNCS:
                return ObjectiveLimit(
                    ObjectiveMeasure.RECEIVERS, most, lambda s: 0 if sync_count(problem, s) <= most else most + 1
                )

    fixed = [limit(other, most) for other, most in optima]
    if objective is Objective.SYNCS:
        return _fewest_syncs(state, goals, fixed, optima, modes.complete)
    wanted = limit(objective, 0)
    reached = goals.minimise(
        wanted.measure, wanted.of, fixed, state.schedule, bottom * times if times > 1 else bottom, steps.remaining
    )
    state.aborted |= reached.aborted
    _offer(state, reached.schedule, objective, optima)
    lower = -(-reached.lower // times) if objective is Objective.THROUGHPUT else reached.lower
    return (lower, "z3") if modes.complete else (bottom, "bound")


def _fewest_syncs(
    state: _ObjectiveState, goals: object, fixed: Sequence[object], reached: Sequence[tuple[Objective, int]], complete: bool
) -> tuple[int, str]:
    """Minimise syncs by fewer transfers and fewer receiving devices; the least number of receivers is a lower bound."""
    from ..exact.makespan_bisection import ObjectiveLimit, ObjectiveMeasure, ObjectiveSearch

    assert isinstance(goals, ObjectiveSearch)
    limits = [limit for limit in fixed if isinstance(limit, ObjectiveLimit)]
    share = goals.steps.remaining // 3
    few = goals.minimise(ObjectiveMeasure.TRANSFERS, transfer_count, limits, state.schedule, 0, share)
    _offer(state, few.schedule, Objective.SYNCS, reached)
    fewer = goals.minimise(ObjectiveMeasure.RECEIVERS, receiver_count, limits, state.schedule, 0, share)
    _offer(state, fewer.schedule, Objective.SYNCS, reached)
    if fewer.schedule is not None:
        both = [*limits, ObjectiveLimit(ObjectiveMeasure.RECEIVERS, receiver_count(fewer.schedule), receiver_count)]
        last = goals.minimise(ObjectiveMeasure.TRANSFERS, transfer_count, both, fewer.schedule, few.lower, share)
        _offer(state, last.schedule, Objective.SYNCS, reached)
        state.aborted |= last.aborted
    state.aborted |= few.aborted or fewer.aborted
    return (fewer.lower, "z3") if complete else (0, "bound")


# ---------------------------------------------------------------------------------------------------- second proof of a conflict
#
# An answer's bound derived again, from the problem alone and without its stored proof.
#
# A claimed bound (of a stored plan or a hand-written file) is confirmed only in this way, so a bound above a feasible plan never
# is.  `plan --check --prove` calls `bound_is_reproved`; `portfolio.bound_is_confirmed` asks the strategies.

STEPS: Final = 400_000_000

Derivation: TypeAlias = Callable[[Problem, Answer, SolverSteps], bool]
"""Can the bound of an answer be derived from a problem?"""


def bound_is_reproved(
    problem: Problem, answer: Answer, steps: SolverSteps | None = None, derive: Derivation | None = None
) -> bool:  # fmt: skip
    """Whether the answer's bound, and its being optimal or impossible, can be derived again; `derive` does it of an answer with
    a schedule."""
    steps = steps or SolverSteps(STEPS)
    problem = replace(problem, chunks=answer.chunks)  # the space of its bound
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
        return False  # no bound is above a plan
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
