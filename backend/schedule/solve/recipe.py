"""The planner as one list of strategies, and the two folds over it: planning and proving.

Everything is counted in moves and solver steps, so the same problem gives the same answer.  The answer is never worse than a
baseline, and says why no schedule is shorter, or how far the lower bound is away.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..answer import Answer, Baseline, Conflict, Proof, Schedule, Status
from ..problem import Deadline, Problem
from ..timeline.orders import order_of
from ..timeline.timing import Timer
from .bounding import ENERGETIC, LP_RELAXATION, PATHS, SINGLE_SPLIT
from .budget import DEFAULT, PROVE, Budget
from .chunking import IN_CHUNKS, chunked, pays
from .costs import Costs
from .cures import cured
from .found import Found, guarded
from .proving import Z3
from .scaling import common_ticks, in_larger_ticks, in_own_ticks
from .searching import (
    ACTIVITY_LISTS,
    ANNEALING,
    AT_HOME,
    BASELINES,
    CHAINS,
    LIST_SCHEDULING,
    ROLLING,
    ROW_SHIFTS,
    UNIFORM,
)
from .strategy import Context, Strategy
from .subsets import FEWER_DEVICES, SLIVERS

if TYPE_CHECKING:
    from .smt.solver import Steps

STRATEGIES: Final[tuple[Strategy, ...]] = (
    BASELINES, AT_HOME, SINGLE_SPLIT, PATHS, ENERGETIC, LP_RELAXATION, LIST_SCHEDULING, ROLLING, UNIFORM, CHAINS,
    FEWER_DEVICES, ACTIVITY_LISTS, ROW_SHIFTS, ANNEALING, Z3, IN_CHUNKS, SLIVERS,
)  # fmt: skip
"""From cheap to dear.  See Note [Strategies].  `benchmarks/results/strategies.md` shows what each one earns."""


CURE: Final = Budget(100, 0, without=frozenset(("lp-relaxation", "fewer-devices", "slivers", "annealing")))
"""For trying whether what a message offers would do."""


def strategy_names() -> tuple[str, ...]:
    return tuple(strategy.name for strategy in STRATEGIES)


def plan_problem(problem: Problem, budget: Budget = DEFAULT) -> Answer:
    """The best schedule for the latency of `problem`, with its lower bound: of whole shards, or in chunks if that is shorter.

    That there is none is said of all that the problem allows: whole shards alone refute nothing where there may be chunks."""
    return explained(problem, _plan_within(problem, budget))


def _plan_within(problem: Problem, budget: Budget) -> Answer:
    if any(isinstance(one, Deadline) for one in problem.directives) and (late := _too_late(problem)) is not None:
        return Answer(Status.IMPOSSIBLE, None, 0, (), Proof("none", 0), conflict=late)
    if not chunked(problem):
        return _plan_whole(replace(problem, chunks=1), budget)
    whole = _plan_whole(replace(problem, chunks=1), budget, refuting=False)
    cut_short = whole.schedule is not None and whole.status is Status.ABORTED
    if IN_CHUNKS.name in budget.without or cut_short or not pays(problem, whole.schedule):
        return whole if whole.schedule is not None else _refuted(problem, whole)
    cut = _plan(problem, budget, whole.schedule, refuting=False)
    failures = (*whole.failures, *cut.failures)
    if cut.schedule is None and whole.schedule is None:
        return _refuted(problem, replace(cut, baselines=whole.baselines, failures=failures))
    if cut.schedule is None or (whole.schedule is not None and whole.schedule.makespan <= cut.schedule.makespan):
        return replace(whole, failures=failures)
    return replace(cut, chunks=problem.chunks, baselines=whole.baselines, failures=failures)


def _too_late(problem: Problem) -> Conflict | None:
    """A deadline below what every schedule takes: nothing is searched then."""
    try:
        from .smt.conflict import limit_conflict
    except ImportError:
        return None
    return limit_conflict(problem)


def _refuted(problem: Problem, answer: Answer) -> Answer:
    """An answer without a schedule, with the reason why there is none if one is known that holds with chunks."""
    conflict = _conflict(problem)
    if conflict is None:
        return replace(answer, status=Status.ABORTED, conflict=None)
    return replace(answer, status=Status.IMPOSSIBLE, proof=Proof("none", answer.lower_bound), conflict=conflict)


def _plan_whole(problem: Problem, budget: Budget, *, refuting: bool = True) -> Answer:
    size = common_ticks(problem)
    if size > 1:
        answer = _plan(in_larger_ticks(problem, size), budget, refuting=refuting)
        if answer.conflict is None:
            return in_own_ticks(answer, size)
    return _plan(problem, budget, refuting=refuting)


def confirmed(problem: Problem, bound: int, steps: Steps) -> bool:
    """Whether some strategy shows from the problem alone that no schedule, of whole shards or with chunks as the problem says, is
    shorter than `bound` ticks."""
    if bound <= 0:
        return True
    size = common_ticks(problem)
    if size > 1:
        problem, bound = in_larger_ticks(problem, size), -(-bound // size)
    context = _context(problem, PROVE)
    if context is None:
        return False
    for strategy in STRATEGIES:
        with guarded(strategy.name, context.found.failures):
            able = strategy.refutes is not None and (strategy.of_chunks or problem.chunks == 1) and strategy.applies(context)
            if able and strategy.refutes is not None and strategy.refutes(context, bound, steps):
                return True
    return False


def _context(problem: Problem, budget: Budget) -> Context | None:
    """None where no order or no device is possible at all."""
    timer = Timer(problem)
    costs = Costs(timer)
    if not timer.limits.possible or order_of(timer.before) is None or not all(costs.allowed):
        return None
    context = Context(problem, budget, timer, costs, plan_other=plan_problem)
    if context.has_together:
        context.budget = replace(budget, steps=0)  # the solver knows of no such phases
    return context


def _plan(problem: Problem, budget: Budget, known: Schedule | None = None, *, refuting: bool = True) -> Answer:
    """All strategies, or where chunks are allowed those that know of them; `known`: a schedule to begin with; `refuting`: look
    for the reason where no schedule is found."""
    in_chunks, context = problem.chunks > 1, _context(problem, budget)
    if context is None:
        return _nothing(problem, Found(), (), None, refuting=refuting)
    context.found.offer(known)
    if not problem.phases:
        return _answer(Found(Schedule((), (), ()), 0, "bound"), ())
    found = context.found
    for strategy in STRATEGIES:
        if strategy.name in budget.without or (found.met and not strategy.first) or (in_chunks and not strategy.of_chunks):
            continue
        with found.stage(strategy.name, problem):
            if strategy.applies(context):
                strategy.run(context)
        if context.conflict is not None:
            break
    table = tuple(Baseline(candidate.name, candidate.ticks) for candidate in context.compared)
    if context.conflict is not None or found.schedule is None:
        return _nothing(problem, found, table, context.conflict, refuting=refuting)
    return _answer(found, table)


def _answer(found: Found, table: tuple[Baseline, ...]) -> Answer:
    """The best schedule with its bound, which no strategy left above it."""
    assert found.schedule is not None
    ticks = found.schedule.makespan
    bound = min(found.bound, ticks)
    status = Status.OPTIMAL if bound == ticks else Status.ABORTED if found.aborted else Status.GAP
    method = found.method if status is Status.OPTIMAL or found.method != "certificate" else "bound"
    proof = Proof(method, bound, found.detail or {})
    return Answer(status, found.schedule, bound, (ticks,), proof, table, failures=tuple(map(str, found.failures)))


def _nothing(
    problem: Problem, found: Found, table: tuple[Baseline, ...], conflict: Conflict | None, *, refuting: bool
) -> Answer:  # fmt: skip
    """No schedule: impossible with the reason, or given up."""
    if conflict is None and refuting:
        conflict = _conflict(problem)
    status = Status.IMPOSSIBLE if conflict is not None else Status.ABORTED
    proof = Proof("none" if conflict is not None else found.method, found.bound)
    return Answer(status, None, found.bound, (), proof, table, conflict, failures=tuple(map(str, found.failures)))


def _conflict(problem: Problem) -> Conflict | None:
    try:
        from .smt.conflict import find_conflict
    except ImportError:
        return None
    return find_conflict(problem)


def explained(problem: Problem, answer: Answer) -> Answer:
    """An answer whose conflict has a cure that was tried."""
    if answer.conflict is None:
        return answer

    def is_planned(other: Problem) -> bool:
        return _plan_within(other, CURE).schedule is not None

    return replace(answer, conflict=cured(problem, answer.conflict, is_planned))
