"""The planner as one list of strategies, and the two folds over it: planning and proving.

Everything is counted in moves and solver steps, so the same problem gives the same answer.  The answer is never worse than a
baseline, and says why no schedule is shorter, or how far the lower bound is away.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ....lang.codes import Code
from ..answer import Answer, Baseline, Conflict, Proof, Schedule, Status
from ..problem import Problem
from ..timeline.orders import order_of
from ..timeline.timing import Timer
from .bounding import ENERGETIC, LP_RELAXATION, PATHS, SINGLE_SPLIT
from .budget import DEFAULT, PROVE, Budget
from .chunking import IN_CHUNKS, pays
from .costs import Costs
from .found import Found, guarded
from .proving import Z3
from .scaling import common_ticks, in_larger_ticks, in_own_ticks
from .searching import (
    ACTIVITY_LISTS,
    ANNEALING,
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
    BASELINES, SINGLE_SPLIT, PATHS, ENERGETIC, LP_RELAXATION, LIST_SCHEDULING, ROLLING, UNIFORM, CHAINS,
    FEWER_DEVICES, ACTIVITY_LISTS, ROW_SHIFTS, ANNEALING, Z3, IN_CHUNKS, SLIVERS,
)  # fmt: skip
"""From cheap to dear.  See Note [Strategies].  `benchmarks/results/strategies.md` shows what each one earns."""


def strategy_names() -> tuple[str, ...]:
    return tuple(strategy.name for strategy in STRATEGIES)


def plan_problem(problem: Problem, budget: Budget = DEFAULT) -> Answer:
    """The best schedule for the latency of `problem`, with its lower bound: of whole shards, or in chunks if that is shorter."""
    whole = _plan_whole(replace(problem, chunks=1), budget)
    if IN_CHUNKS.name in budget.without or whole.status is Status.ABORTED or not pays(problem, whole.schedule):
        return whole
    cut = _plan(problem, budget, whole.schedule)
    if cut.schedule is None or (whole.schedule is not None and whole.schedule.makespan <= cut.schedule.makespan):
        return replace(whole, failures=(*whole.failures, *cut.failures))
    return replace(cut, chunks=problem.chunks, baselines=whole.baselines, failures=(*whole.failures, *cut.failures))


def _plan_whole(problem: Problem, budget: Budget) -> Answer:
    size = common_ticks(problem)
    if size > 1:
        answer = _plan(in_larger_ticks(problem, size), budget)
        if answer.conflict is None:
            return in_own_ticks(answer, size)
    return _plan(problem, budget)


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


def _plan(problem: Problem, budget: Budget, known: Schedule | None = None) -> Answer:
    """All strategies, or where chunks are allowed those that know of them; `known`: a schedule to begin with."""
    chunked, context = problem.chunks > 1, _context(problem, budget)
    if context is None:
        return _nothing(problem, Found(), (), None)
    context.found.offer(known)
    if not problem.phases:
        return _answer(Found(Schedule((), (), ()), 0, "bound"), ())
    found = context.found
    for strategy in STRATEGIES:
        if strategy.name in budget.without or (found.met and not strategy.first) or (chunked and not strategy.of_chunks):
            continue
        with found.stage(strategy.name, problem):
            if strategy.applies(context):
                strategy.run(context)
        if context.conflict is not None:
            break
    table = tuple(Baseline(candidate.name, candidate.ticks) for candidate in context.compared)
    if context.conflict is not None or found.schedule is None:
        return _nothing(problem, found, table, context.conflict if not chunked else Conflict(Code.SCH103, (), ()))
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


def _nothing(problem: Problem, found: Found, table: tuple[Baseline, ...], conflict: Conflict | None) -> Answer:
    """No schedule: impossible with the reason, or given up."""
    if conflict is None:
        conflict = _conflict(problem)
    status = Status.IMPOSSIBLE if conflict is not None else Status.ABORTED
    proof = Proof("none", found.bound)
    return Answer(status, None, found.bound, (), proof, table, conflict, failures=tuple(map(str, found.failures)))


def _conflict(problem: Problem) -> Conflict | None:
    try:
        from .smt.conflict import find_conflict
    except ImportError:
        return None
    return find_conflict(problem)
