"""The portfolio: the list of strategies, run from cheap to expensive, for planning and for confirming a bound.

Work is counted in moves and solver steps, so the same problem gives the same answer.  The answer is never worse than a baseline,
and has a certificate that no schedule is shorter, or the gap to its lower bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from ....lang.diagnostics.model import Code
from ....lang.support.records import replace
from ..bounds.bound_strategies import ENERGETIC, LP_RELAXATION, PATHS, SINGLE_SPLIT, objective_lower_bound
from ..bounds.head_tail_bounds import Costs, bisect_min, bytes_text, limit_bytes, limit_text
from ..bounds.single_phase_split import FEWER_DEVICES, SLIVERS
from ..exact.infeasibility import find_conflict, memory_conflict
from ..exact.z3_solver import SolverSteps
from ..problem import (
    Answer,
    Baseline,
    BoundCertificate,
    Conflict,
    Deadline,
    Directive,
    LimitMachines,
    LimitMemory,
    NoSplit,
    Objective,
    PhaseIndex,
    PlaceDirective,
    Problem,
    Schedule,
    SourceLine,
    Split,
    Status,
)
from ..timeline.objective_values import objective_values
from ..timeline.problem_index import ample_memory
from ..timeline.serial_sgs import ScheduleDecoder, decisions_of
from .instance_transformations import IN_CHUNKS, chunkable_phases, may_help
from .list_scheduling import MOST_SHARDS, best_timing
from .mode_enumeration import common_ticks, in_larger_ticks, in_original_ticks
from .primal_heuristics import (
    ACTIVITY_LISTS,
    ANNEALING,
    AT_HOME,
    BASELINES,
    LIST_SCHEDULING,
    MERGED_SYNCS,
    ROW_SHIFTS,
)
from .strategy import (
    DEFAULT,
    FAST,
    MOST_EXACT,
    PROVE,
    Budget,
    Incumbent,
    SearchContext,
    Strategy,
    run_strategies,
    tolerate_failures,
)

# ---------------------------------------------------------------------------------------------------- cures
#
# Cures of a conflict: changes of the problem with which a plan exists; each is planned before it is offered.

Planner: TypeAlias = Callable[[Problem], bool]
"""Returns whether a plan of the problem is known."""

TRIES: Final = 10
"""The most plans that are tried for one number."""
MOST_PHASES: Final = 64
"""Phases up to which cures are tried."""


def with_cure(problem: Problem, conflict: Conflict, is_planned: Planner) -> Conflict:
    """The conflict with a cure, or without one where none is known."""
    if conflict.code not in (Code.SCH103, Code.SCH106) or len(problem.phases) > MOST_PHASES:
        return conflict
    hint = next(_cures(problem, conflict, is_planned), None)
    return replace(conflict, hint=hint or (conflict.hint if conflict.code is Code.SCH106 else None))


def _cures(problem: Problem, conflict: Conflict, is_planned: Planner) -> Iterator[str]:
    """Changes of the problem that may resolve the conflict: more memory for a limit of a directive, for one device or for all; or
    one directive fewer."""
    limits = [one for one in conflict.directives if isinstance(one, LimitMemory)]
    for limit in limits:
        size = _sufficient_memory(
            limit.bytes, ample_memory(problem),
            lambda size, limit=limit: _limited(problem, limit, size),  # type: ignore[misc]
            is_planned,
        )  # fmt: skip
        if size is not None:
            yield f"`limit memory {limit.device} {limit_text(size)}` would fit"
    for index, group in enumerate(problem.devices) if conflict.code is Code.SCH103 and not limits else ():
        if group.memory is not None:
            size = _sufficient_memory(
                group.memory, ample_memory(problem),
                lambda size, index=index: _with_memory(problem, index, size),  # type: ignore[misc]
                is_planned,
            )  # fmt: skip
            if size is not None:
                yield f"`{group.id}` with {bytes_text(size)}{' each' if group.count > 1 else ''} would fit"
    for one in conflict.directives:
        if isinstance(one, LimitMachines):
            devices = sum(group.count for group in problem.devices)
            for count in range(one.count + 1, min(devices, one.count + TRIES) + 1):
                if is_planned(_replaced(problem, one, replace(one, count=count))):
                    yield f"`limit machines {count}` would do"
                    break
    for one in conflict.directives:
        if isinstance(one, PlaceDirective | Split | NoSplit | LimitMachines) and is_planned(_replaced(problem, one, None)):
            yield f"without `{one.line.text}` it would fit"


def _sufficient_memory(low: int, high: int, problem_of: Callable[[int], Problem], is_planned: Planner) -> int | None:
    """A number of bytes above `low` with which a plan exists, rounded as messages print it; None if no number is."""
    high = limit_bytes(max(low + 1, high))
    if memory_conflict(problem_of(high)) is not None:
        return None
    may = limit_bytes(bisect_min(low + 1, high, lambda size: memory_conflict(problem_of(size)) is None))
    if is_planned(problem_of(may)):
        return may
    if may >= high or not is_planned(problem_of(high)):
        return None
    for _ in range(TRIES):
        middle = limit_bytes((may + high) // 2)
        if not may < middle < high:
            break
        may, high = (may, middle) if is_planned(problem_of(middle)) else (middle, high)
    return high


def _limited(problem: Problem, limit: LimitMemory, size: int) -> Problem:
    return _replaced(problem, limit, replace(limit, bytes=size))


def _with_memory(problem: Problem, chosen: int, size: int) -> Problem:
    groups = (replace(group, memory=size) if index == chosen else group for index, group in enumerate(problem.devices))
    return replace(problem, devices=tuple(groups))


def _replaced(problem: Problem, old: Directive, new: Directive | None) -> Problem:
    others = (one if one != old else new for one in problem.directives)
    return replace(problem, directives=tuple(one for one in others if one is not None))


# ---------------------------------------------------------------------------------------------------- exact strategy
#
# The strategy that searches the candidate modes exactly, by the solver.

MOST_SOLVED: Final = 64
"""Phases up to which the exact search is asked after the heuristics for large graphs."""
MOST_LINKED: Final = 32
"""The same where transfers or memory make the encoding large."""
MOST_REFUTED: Final = 40
"""Phases up to which the exact search is asked to refute a bound again."""
MAX_GAP_DIVISOR: Final = 16
"""Where candidate modes are incomplete, the solver is asked only if the gap is at most 1/MAX_GAP_DIVISOR…"""
MIN_GAP_DIVISOR: Final = 1000
"""…and at least 1/MIN_GAP_DIVISOR: it can only find a schedule that is shorter by that."""


def solver_allowed(context: SearchContext) -> bool:
    """Is a solver installed, and may this budget ask it?"""
    from ..exact.z3_solver import available

    return context.budget.steps != 0 and available()


def _is_promising(context: SearchContext) -> bool:
    incumbent = context.incumbent
    if context.modes.complete or context.budget.steps is None or incumbent.schedule is None:
        return True
    makespan, gap = incumbent.schedule.makespan, incumbent.schedule.makespan - incumbent.bound
    return MAX_GAP_DIVISOR * gap <= makespan <= MIN_GAP_DIVISOR * gap


def _solvable(context: SearchContext) -> bool:
    if not context.minimises_makespan:
        return context.incumbent.objective is not Objective.MACHINES and not context.is_large and solver_allowed(context)
    if not solver_allowed(context) or not context.few_devices or not _is_promising(context):
        return False
    decoder = context.decoder
    heavy = (decoder.has_links or decoder.has_memory_limits) and context.budget.steps is not None
    return not context.is_large or len(context.problem.phases) <= (MOST_LINKED if heavy else MOST_SOLVED)


def _bisect_objective(context: SearchContext) -> None:
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


def _prove(context: SearchContext) -> None:
    """Run the exact search; its bound holds for the problem only if the candidate modes are complete."""
    if not context.minimises_makespan:
        _bisect_objective(context)
        return
    from ..exact.makespan_bisection import refine

    incumbent, decoder, modes = context.incumbent, context.decoder, context.modes
    choices = [list(options) for options in modes.choices]
    if incumbent.schedule is not None:
        for p, mode in enumerate(decisions_of(decoder.problem, incumbent.schedule).modes):
            if mode not in choices[p]:
                choices[p].append(mode)
    outcome = refine(decoder.problem, choices, incumbent.schedule, incumbent.bound, context.budget.solver_steps())
    incumbent.aborted |= outcome.aborted
    if outcome.schedule is not None:
        incumbent.offer(outcome.schedule)
        if len(outcome.schedule.shards) <= MOST_SHARDS:
            incumbent.offer(best_timing(decoder, "left shift", decisions_of(decoder.problem, outcome.schedule)).schedule)
    if modes.complete and outcome.lower_bound > incumbent.bound:
        incumbent.raise_bound(outcome.lower_bound, "z3")
    elif not modes.complete and not incumbent.is_closed:
        # it holds for the candidate modes only, so it is reported as a detail and never as the bound
        incumbent.detail = {**(incumbent.detail or {}), "candidates": outcome.lower_bound}


def _search_refutes(context: SearchContext, bound: int, steps: SolverSteps) -> bool:
    from ..exact.makespan_bisection import MakespanSearch
    from ..exact.z3_solver import ProbeVerdict

    modes = context.modes
    if not modes.complete or len(context.problem.phases) > MOST_REFUTED or not context.few_devices:
        return False
    search = MakespanSearch(context.problem, modes.choices, steps)
    return search.probe(bound - 1, steps.remaining) is ProbeVerdict.UNSAT


Z3: Final = Strategy(
    "z3", "the exact search over candidate modes, orders and transfers: bisection with lazy constraints for memory",
    _prove, _solvable, _search_refutes, others=True,
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------- other objectives

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


GROUPS: Final = Strategy(
    "groups", "schedules of least makespan on each group of devices",
    _on_each_group,
    lambda context: len(context.problem.phases) <= MOST_EXACT
    and context.incumbent.objective in (Objective.ENERGY, Objective.THROUGHPUT, Objective.SYNCS),
    makespan=False, others=True,
)  # fmt: skip
MACHINES: Final = Strategy(
    "machines", "bisection over `limit machines`",
    _fewest_machines, lambda context: context.incumbent.objective is Objective.MACHINES, makespan=False, others=True,
)  # fmt: skip
OBJECTIVE_BOUND: Final = Strategy(
    "objective-bound", "work and energy with rows as a fluid", _objective_bound, makespan=False, others=True
)

# ---------------------------------------------------------------------------------------------------- portfolio

STRATEGIES: Final[tuple[Strategy, ...]] = (
    BASELINES, AT_HOME, SINGLE_SPLIT, PATHS, ENERGETIC, LP_RELAXATION, LIST_SCHEDULING, FEWER_DEVICES, ACTIVITY_LISTS,
    ROW_SHIFTS, GROUPS, MACHINES, OBJECTIVE_BOUND, ANNEALING, Z3, IN_CHUNKS, SLIVERS, MERGED_SYNCS,
)  # fmt: skip
"""The strategies from cheap to expensive.  See Note [Strategies].  `benchmarks/results/strategies.md` shows what each
contributes."""


CURE: Final = Budget(100, 0, without=frozenset(("lp-relaxation", "fewer-devices", "slivers", "annealing")))
"""The budget for testing cures of problems with more than `MOST_CURED` phases."""
MOST_CURED: Final = 8


def strategy_names() -> tuple[str, ...]:
    return tuple(strategy.name for strategy in STRATEGIES)


def plan_problem(problem: Problem, budget: Budget = DEFAULT) -> Answer:
    """The best schedule for the latency of `problem`, with its lower bound: of whole shards, or in chunks if that is shorter.

    IMPOSSIBLE ranges over all schedules that the problem allows: where chunks are allowed, whole shards alone refute nothing."""
    return explained(problem, _plan_within(problem, budget))


def _plan_within(problem: Problem, budget: Budget) -> Answer:
    deadlines = [one.ticks for one in problem.directives if isinstance(one, Deadline)]
    if not deadlines:
        return _plan_in_any_time(problem, budget)
    if (late := _deadline_conflict(problem)) is not None:
        return Answer(Status.IMPOSSIBLE, None, 0, (), BoundCertificate("none", 0), conflict=late)
    answer = _plan_in_any_time(problem, budget)
    if answer.schedule is not None or answer.status is not Status.ABORTED:
        return answer
    rest = tuple(one for one in problem.directives if not isinstance(one, Deadline))
    quickest = _plan_in_any_time(replace(problem, directives=rest), budget)  # begin with schedules that ignore the deadline
    return answer if quickest.schedule is None or quickest.schedule.makespan > min(deadlines) else quickest


def _plan_in_any_time(problem: Problem, budget: Budget) -> Answer:
    if not chunkable_phases(problem):
        return _plan_whole(replace(problem, chunks=1), budget)
    unchunked = _plan_whole(replace(problem, chunks=1), budget, refuting=False)
    cut_short = unchunked.schedule is not None and unchunked.status is Status.ABORTED
    if IN_CHUNKS.name in budget.without or cut_short or not may_help(problem, unchunked.schedule):
        return unchunked if unchunked.schedule is not None else _with_conflict(problem, unchunked)
    cut = _plan(problem, budget, unchunked.schedule, refuting=False)
    failures = (*unchunked.failures, *cut.failures)
    if cut.schedule is None and unchunked.schedule is None:
        return _with_conflict(problem, replace(cut, baselines=unchunked.baselines, failures=failures))
    if cut.schedule is None or (unchunked.schedule is not None and unchunked.schedule.makespan <= cut.schedule.makespan):
        return replace(unchunked, failures=failures)
    if unchunked.status is Status.OPTIMAL:
        cut = replace(cut, proof=replace(cut.proof, detail={**cut.proof.detail, "whole": unchunked.lower_bound}))
    return replace(cut, chunks=problem.chunks, baselines=unchunked.baselines, failures=failures)


def _deadline_conflict(problem: Problem) -> Conflict | None:
    """The conflict of a deadline below the lower bound, if there is one; then nothing is searched."""
    try:
        from ..exact.infeasibility import limit_conflict
    except ImportError:
        return None
    return limit_conflict(problem)


def _with_conflict(problem: Problem, answer: Answer) -> Answer:
    """An answer without a schedule, with a conflict if one is known that also holds for schedules in chunks."""
    conflict = _conflict(problem)
    if conflict is None:
        return replace(answer, status=Status.ABORTED, conflict=None)
    return replace(answer, status=Status.IMPOSSIBLE, proof=BoundCertificate("none", answer.lower_bound), conflict=conflict)


def _plan_whole(problem: Problem, budget: Budget, *, refuting: bool = True) -> Answer:
    size = common_ticks(problem)
    if size > 1:
        answer = _plan(in_larger_ticks(problem, size), budget, refuting=refuting)
        if answer.conflict is None:
            return in_original_ticks(answer, size)
    return _plan(problem, budget, refuting=refuting)


def bound_is_confirmed(problem: Problem, bound: int, steps: SolverSteps) -> bool:
    """Does some strategy show, from the problem alone, that no schedule with at most the problem's chunks is shorter than `bound`
    ticks?"""
    if bound <= 0:
        return True
    size = common_ticks(problem)
    if size > 1:
        problem, bound = in_larger_ticks(problem, size), -(-bound // size)
    context = search_context(problem, PROVE)
    if context is None:
        return False
    for strategy in STRATEGIES:
        with tolerate_failures(strategy.name, context.incumbent.failures):
            able = (
                strategy.refutes is not None and (strategy.supports_chunks or problem.chunks == 1) and strategy.applies(context)
            )
            if able and strategy.refutes is not None and strategy.refutes(context, bound, steps):
                return True
    return False


def search_context(problem: Problem, budget: Budget) -> SearchContext | None:
    """The context of a search; None where the orders are cyclic or some phase has no device."""
    decoder = ScheduleDecoder(problem)
    costs = Costs(decoder)
    if not costs.is_plannable:
        return None
    context = SearchContext(problem, budget, decoder, costs, solve_subproblem=_plan_within)
    context.aim(Objective.LATENCY)
    if context.has_distributed_phases:
        context.budget = replace(budget, steps=0)  # the solver does not support distributed phases
    return context


def _plan(problem: Problem, budget: Budget, known: Schedule | None = None, *, refuting: bool = True) -> Answer:
    """Run all strategies, or where chunks are allowed those that support them.

    `known`: a schedule to begin with; `refuting`: search for a conflict where no schedule is found."""
    context = search_context(problem, budget)
    if context is None:
        return _without_schedule(problem, Incumbent(), (), None, refuting=refuting)
    context.incumbent.offer(known)
    if not problem.phases:
        return _answer(Incumbent(Schedule((), (), ()), 0, "bound"), ())
    incumbent = context.incumbent
    run_strategies(context, STRATEGIES)
    table = tuple(Baseline(candidate.name, candidate.ticks) for candidate in context.baselines)
    if context.conflict is not None or incumbent.schedule is None:
        return _without_schedule(problem, incumbent, table, context.conflict, refuting=refuting)
    return _answer(incumbent, table)


def _answer(incumbent: Incumbent, table: tuple[Baseline, ...]) -> Answer:
    """The answer of an incumbent with a schedule: OPTIMAL if its bound is reached, else GAP."""
    assert incumbent.schedule is not None
    ticks = incumbent.schedule.makespan
    bound = min(incumbent.bound, ticks)
    status = Status.OPTIMAL if bound == ticks else Status.ABORTED if incumbent.aborted else Status.GAP
    method = incumbent.method if status is Status.OPTIMAL or incumbent.method != "certificate" else "bound"
    proof = BoundCertificate(method, bound, incumbent.detail or {})
    return Answer(status, incumbent.schedule, bound, (ticks,), proof, table, failures=tuple(map(str, incumbent.failures)))


def _without_schedule(
    problem: Problem, incumbent: Incumbent, table: tuple[Baseline, ...], conflict: Conflict | None, *, refuting: bool
) -> Answer:  # fmt: skip
    """The answer without a schedule: IMPOSSIBLE with a conflict, or ABORTED."""
    if conflict is None and refuting:
        conflict = _conflict(problem)
    status = Status.IMPOSSIBLE if conflict is not None else Status.ABORTED
    proof = BoundCertificate("none" if conflict is not None else incumbent.method, incumbent.bound)
    return Answer(status, None, incumbent.bound, (), proof, table, conflict, failures=tuple(map(str, incumbent.failures)))


def _conflict(problem: Problem) -> Conflict | None:
    try:
        from ..exact.infeasibility import find_conflict
    except ImportError:
        return None
    return find_conflict(problem)


def explained(problem: Problem, answer: Answer) -> Answer:
    """The answer; its conflict is extended by a cure if one is known."""
    if answer.conflict is None:
        return answer

    def is_planned(other: Problem) -> bool:
        return _plan_within(other, CURE if len(other.phases) > MOST_CURED else FAST).schedule is not None

    return replace(answer, conflict=with_cure(problem, answer.conflict, is_planned))


# ---------------------------------------------------------------------------------------------------- lexicographic search
#
# The best schedule under several objectives in their order: the first is minimised, then the next among the schedules that keep
# its value, and so on, each from the best schedule of those before.  Energy, load and transfers are bisected by the exact search
# where the candidate modes are complete; otherwise the best candidate is kept, and the bound says how good it is.

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
            run_strategies(context, (Z3,))
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
