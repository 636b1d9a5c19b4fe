"""The planner: tiers from cheap to dear, until a plan meets a bound or the budget is spent.

baselines → one phase cut (`splitting`) → lower bounds → rows as a fluid (`fluid`) → uniform modes → annealing → bound over all
cuts (`exact.relaxed`) → exact search → left shift.  Graphs of more than `MOST_EXACT` phases, or on very many devices, go
through `large`.  The answer is never worse than a baseline, and says why no plan is better, or how far the bound is away.
Everything is counted in moves and solver steps, so the same problem gives the same answer; without z3 the status is
"optimal" only where a bound is met.

Neighbours: `exact` (imported when first needed), `objectives` (goals other than latency, on top of this).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from .bounds import Bounds
from .budget import DEFAULT, Budget
from .convex import worth
from .costs import Costs, order_of
from .forks import fork_of, solve
from .found import Found
from .heuristics import Candidate, anneal, anneal_order, baselines, retime, shifts, uniform
from .heuristics.annealing import CUT, SEED
from .heuristics.candidates import MOST_SHARDS, acceptable
from .heuristics.shifting import Shift
from .large import improve
from .levels import FOREVER
from .loads import best_bound, energy
from .modes import Modes, candidate_modes
from .problem import Answer, Baseline, Conflict, Problem, Proof, Schedule, Status
from .scaling import common_ticks, in_larger_ticks, in_own_ticks
from .splitting import Split, split
from .states.model import eligible
from .timing import Decisions, Queueing, Sending, Timer, decisions_of, left_shift

MOST_EXACT: Final = 24
"""Phases of a graph that the exact search is asked about as a whole."""
MOST_ENERGY: Final = 64
"""Phases up to which every interval is looked at."""
MOST_SOLVED: Final = 64
"""Phases up to which the exact search is asked after the heuristics for large graphs."""
MOST_LINKED: Final = 32
"""The same where transfers or memory make the encoding large."""
MOST_RELAXED: Final = 64
"""Phases up to which the bound over all cuts is asked for."""
MOST_RELAXING: Final = 20_000_000
"""Solver steps for the bound over all cuts."""
CUT_RUNS: Final = (3, 3, 2)
"""Eighths of the moves for each run of annealing that shifts rows; the first is run twice."""
HOPEFUL: Final = 16
"""Where candidate cuts are not all there are, the solver is asked if the gap is at most the so-manieth part."""
MOST_DEVICES: Final = 64
"""Devices up to which every one of them is looked at by the search."""
FIRST_STATES: Final = 4
"""The part of the search over states that comes before the solver."""
LARGE_STATES: Final = 3
"""How much more is searched where the search knows less of the whole."""
FIRST_STEPS: Final = 4_000_000
FIRST_SHARE: Final = 5
"""The solver is asked so many steps, or such a part, between the two parts of the search over states."""


def plan_problem(problem: Problem, budget: Budget = DEFAULT) -> Answer:
    """The best plan for the latency of `problem`, with its bound."""
    size = common_ticks(problem)
    if size > 1:
        answer = _plan(in_larger_ticks(problem, size), budget)
        if answer.conflict is None:
            return in_own_ticks(answer, size)
    return _plan(problem, budget)


@dataclass(slots=True)
class _Search:
    """What the stages work on.  `compared`: the baselines; `guided`: a plan whose cuts are those of the fluid."""

    problem: Problem
    budget: Budget
    timer: Timer
    costs: Costs
    found: Found = field(default_factory=Found)
    compared: Sequence[Candidate] = ()
    guided: Candidate | None = None
    conflict: Conflict | None = None
    known: Bounds | None = None

    @property
    def bounds(self) -> Bounds:
        """Bounds of the problem, made when first asked for."""
        if self.known is None:
            self.known = Bounds(self.costs)
            self.timer.tails = [min(tails.values()) for tails in self.known.tails]
        return self.known


def _plan(problem: Problem, budget: Budget) -> Answer:
    timer = Timer(problem)
    costs = Costs(timer)
    if not timer.limits.possible or order_of(timer.before) is None or not all(costs.allowed):
        return _nothing(problem, Found(), (), None)
    if not problem.phases:
        return _answer(Found(Schedule((), (), ()), 0, "bound"), ())
    together = any(task.together is not None for task in problem.phases)
    search = _Search(
        problem, replace(budget, steps=0) if together else budget, timer, costs
    )  # the solver knows of no such phases
    found = search.found
    for name, stage in _STAGES:
        if stage in (_baselines, _one_cut) or not found.met:
            with found.stage(name, problem):
                stage(search)
        if search.conflict is not None:
            break
    table = tuple(Baseline(candidate.name, candidate.ticks) for candidate in search.compared)
    if search.conflict is not None or found.schedule is None:
        return _nothing(problem, found, table, search.conflict)
    return _answer(found, table)


# ------------------------------------------------------------------------------------------ stages


def _baselines(search: _Search) -> None:
    search.compared = baselines(search.costs)
    for candidate in search.compared:
        search.found.offer(candidate.schedule)


def _one_cut(search: _Search) -> None:
    """The exact cut, where only one phase can be cut."""
    _ = search.bounds  # layouts stop early by them
    whole = None if any(task.together is not None for task in search.problem.phases) else split(search.costs)
    if whole is not None:
        search.conflict = _take_split(search.timer, search.found, whole)


def _bounded(search: _Search) -> None:
    search.found.raise_bound(best_bound(search.bounds).ticks, "bound")


def _intervals(search: _Search) -> None:
    if len(search.problem.phases) <= MOST_ENERGY:
        search.found.raise_bound(energy(search.bounds, search.found.bound).ticks, "bound")


def _forked(search: _Search) -> None:
    _fork(search.costs, search.found)


def _by_states(search: _Search) -> None:
    _states(search.costs, search.bounds, search.found, search.budget)


def _by_fluid(search: _Search) -> None:
    search.guided = _fluid(search.bounds, search.found)


def _improved(search: _Search) -> None:
    """The heuristics for large graphs, or annealing from the best starts."""
    better = partial(improve, plan=plan_problem) if _is_large(search) else _annealed
    better(search.costs, search.bounds, search.found, search.compared, search.budget, search.guided)


def _proved(search: _Search) -> None:
    """What the solver finds and refutes."""
    problem, timer, budget, found = search.problem, search.timer, search.budget, search.found
    if budget.steps == 0:
        return
    if not _is_large(search):
        prove(search.costs, search.bounds, found, candidate_modes(search.costs), budget)
        return
    heavy = (timer.linked or timer.capped) and budget.steps is not None
    limit = MOST_LINKED if heavy else MOST_SOLVED
    small = len(problem.phases) <= limit and len(timer.kinds) <= MOST_DEVICES
    if small:
        prove(search.costs, search.bounds, found, candidate_modes(search.costs), budget)
    elif len(problem.phases) <= MOST_RELAXED and len(timer.kinds) <= MOST_DEVICES:
        relax(search.bounds, found, budget)


def _is_large(search: _Search) -> bool:
    return len(search.problem.phases) > MOST_EXACT or len(search.timer.kinds) > MOST_DEVICES


def _shifted(search: _Search) -> None:
    found = search.found
    if found.schedule is not None and len(found.schedule.shards) <= MOST_SHARDS:
        found.offer(left_shift(search.timer, found.schedule))


_STAGES: Final[tuple[tuple[str, Callable[[_Search], None]], ...]] = (
    ("baselines", _baselines), ("one cut phase", _one_cut), ("paths and loads", _bounded), ("intervals", _intervals),
    ("forks", _forked), ("partial schedules", _by_states), ("fluid", _by_fluid), ("search", _improved), ("proof", _proved),
    ("left shift", _shifted),
)  # fmt: skip
"""From cheap to dear.  See Note [Stages] of `found`."""


def _take_split(timer: Timer, found: Found, whole: Split) -> Conflict | None:
    if whole.schedule is not None and acceptable(timer.limits, whole.schedule):
        found.offer(whole.schedule)
        # of equally long plans the one with the fewest shards: that of the cut
        if found.schedule is not None and whole.schedule.makespan == found.schedule.makespan:
            found.schedule = whole.schedule
    if whole.lower_bound:
        found.raise_bound(whole.lower_bound, "certificate", whole.detail)
    return whole.conflict


def starts(costs: Costs, compared: Sequence[Candidate]) -> list[Candidate]:
    """Candidates, the shortest first and those that do not fit last: the baselines and uniform modes on top of HEFT's."""
    base = next((c for c in compared if c.name == "HEFT"), None)
    found = [*compared, *(uniform(costs, base.decisions) if base is not None else [])]
    return sorted(found, key=lambda c: FOREVER if c.ticks is None else c.ticks)


def _fork(costs: Costs, found: Found) -> None:
    """Forks, joins and the like are solved as they are."""
    fork = fork_of(costs) if found.schedule is not None else None
    if fork is None or found.schedule is None:
        return
    bound, decisions = solve(fork, found.bound, found.schedule.makespan)
    if decisions is not None:
        found.offer(costs.timer.lay_out(decisions))
    found.raise_bound(bound, "bound")


def _states(costs: Costs, bounds: Bounds, found: Found, budget: Budget) -> None:
    """Whole phases with delays between them are searched state by state; small graphs, of which the search knows little at
    first, are asked of the solver in between, which is quicker where delays are long."""
    if found.schedule is None or not eligible(bounds):
        return
    from .states.search import solve, states_of  # array library

    work = budget.states if len(bounds.order) <= MOST_EXACT else budget.states * LARGE_STATES
    states = states_of(bounds, work)
    if states is None:
        return
    for share in (FIRST_STATES, 1):
        states.left = work // share
        bound, decisions = solve(states, found.bound, found.schedule.makespan)
        if decisions is not None:
            found.offer(bounds.timer.lay_out(decisions))
        found.raise_bound(bound, "search")
        if found.met or share == 1 or len(bounds.order) > MOST_LINKED:
            break
        if budget.steps != 0:
            steps = FIRST_STEPS if budget.steps is None else budget.steps // FIRST_SHARE
            exact(costs, found, candidate_modes(costs), replace(budget, steps=steps))
        if found.met:
            break


def _fluid(bounds: Bounds, found: Found) -> Candidate | None:
    """Raise the bound by that of rows as a fluid; the plan whose cuts are those of the fluid."""
    if found.schedule is None or not worth(bounds):
        return None
    from .fluid import Fluid  # the only tier that needs an array library

    fluid = Fluid(bounds, found.schedule.makespan)
    found.raise_bound(fluid.bound(found.schedule.makespan), "bound")
    if not fluid.solved:
        return None
    guided = retime(bounds.timer, "fluid", Decisions(fluid.guided(), tuple(bounds.order), Queueing.INSERT))
    found.offer(guided.schedule)
    return guided


def _annealed(
    costs: Costs, bounds: Bounds, found: Found, compared: Sequence[Candidate], budget: Budget, guided: Candidate | None
) -> None:
    """Annealing from the best starts."""
    timer = costs.timer
    modes = candidate_modes(costs)
    ranked = starts(costs, compared)
    for candidate in ranked:
        found.offer(candidate.schedule)
    count = len(timer.before)
    moves = budget.moves if count <= 16 else budget.moves * 16 // count
    shift = shifts(costs)
    if shift is None and modes.complete and count < 16 and budget.steps != 0:
        moves = moves * count**3 // 16**3  # the exact search is quicker
    ordered = None if found.met else anneal_order(costs, ranked[0].decisions.priority, moves // 8, found.bound)
    if ordered is not None:
        ranked.insert(0, retime(timer, "ordered", ordered))
        found.offer(ranked[0].schedule)
        ranked.sort(key=lambda c: FOREVER if c.ticks is None else c.ticks)
    if shift is not None and found.schedule is not None:
        _shift_rows(costs, found, modes, guided, moves, shift)
    for turn in range(4 if shift is None or found.schedule is None else 0):
        candidate = ranked[turn % 2 if len(ranked) > 1 else 0]
        start = replace(candidate.decisions, queueing=Queueing.INSERT, sending=(Sending.EARLY, Sending.LATE)[turn // 2])
        if not found.met:
            better = anneal(timer, modes.choices, start, moves // 4, found.bound, SEED + turn, shift)
            if better is not None and acceptable(timer.limits, better):
                found.offer(better)
    if found.schedule is not None:
        found.offer(left_shift(timer, found.schedule))


def _shift_rows(costs: Costs, found: Found, modes: Modes, guided: Candidate | None, moves: int, shift: Shift) -> None:
    """Annealing that shifts rows: from the cuts of the fluid, then from the best that is known, which is left less and less."""
    timer = costs.timer
    for turn, part in enumerate(CUT_RUNS):
        assert found.schedule is not None
        known = replace(decisions_of(timer.problem, found.schedule), queueing=Queueing.INSERT)
        start = guided.decisions if turn == 0 and guided is not None and guided.ticks is not None else known
        for sending in (start.sending,) if turn else (Sending.LATE, Sending.EARLY):
            if not found.met:
                given = replace(start, sending=sending)
                better = anneal(timer, modes.choices, given, moves * part // 8, found.bound, SEED + turn, shift, CUT)
                if better is not None and acceptable(timer.limits, better):
                    found.offer(better)


def prove(costs: Costs, bounds: Bounds, found: Found, modes: Modes, budget: Budget) -> None:
    """Where the candidate cuts are not all: the easier problem with all cuts, before and after the exact search."""
    known = found.schedule
    if not modes.complete and known is not None:
        if budget.steps is not None and HOPEFUL * (known.makespan - found.bound) > known.makespan:
            return
        relax(bounds, found, budget)
    if not found.met:
        exact(costs, found, modes, budget)
        if not modes.complete and found.schedule is not known:
            relax(bounds, found, budget)


def relax(bounds: Bounds, found: Found, budget: Budget) -> None:
    """Raise the bound by what holds of all cuts.  See `exact.relaxed`."""
    try:
        from .exact.relaxed import relaxed_bound
        from .exact.solver import Steps
    except ImportError:
        return
    import time

    if found.schedule is None or found.met:
        return
    until = None if budget.seconds is None else time.monotonic() + budget.seconds
    steps = Steps(MOST_RELAXING if budget.steps is None else min(budget.steps, MOST_RELAXING), until)
    ticks = relaxed_bound(bounds, found.bound, found.schedule.makespan, steps)
    if ticks > found.bound:
        found.raise_bound(ticks, "z3")


def exact(costs: Costs, found: Found, modes: Modes, budget: Budget) -> None:
    """Ask the exact search; its bound is one of the problem only if the modes are all there are."""
    try:
        from .exact.search import refine
        from .exact.solver import Steps
    except ImportError:
        return
    import time

    timer = costs.timer
    until = None if budget.seconds is None else time.monotonic() + budget.seconds
    steps = Steps(1 << 50 if budget.steps is None else budget.steps, until)
    choices = [list(options) for options in modes.choices]
    if found.schedule is not None:
        for p, mode in enumerate(decisions_of(timer.problem, found.schedule).modes):
            if mode not in choices[p]:
                choices[p].append(mode)
    outcome = refine(timer.problem, choices, found.schedule, found.bound, steps)
    found.aborted |= outcome.aborted
    if outcome.schedule is not None and acceptable(timer.limits, outcome.schedule):
        found.offer(outcome.schedule)
    if modes.complete and outcome.lower_bound > found.bound:
        found.raise_bound(outcome.lower_bound, "z3")
    elif not modes.complete and not found.met:
        # what holds of the cuts that were tried, though not of all: told beside the bound, never as one
        found.detail = {**(found.detail or {}), "candidates": outcome.lower_bound}


def _answer(found: Found, table: tuple[Baseline, ...]) -> Answer:
    """The best plan with its bound, which no stage left above it."""
    assert found.schedule is not None
    ticks = found.schedule.makespan
    bound = min(found.bound, ticks)
    status = Status.OPTIMAL if bound == ticks else Status.ABORTED if found.aborted else Status.GAP
    method = found.method if status is Status.OPTIMAL or found.method != "certificate" else "bound"
    return Answer(
        status,
        found.schedule,
        bound,
        (ticks,),
        Proof(method, bound, found.detail or {}),
        table,
        failures=tuple(map(str, found.failures)),
    )


def _nothing(problem: Problem, found: Found, table: tuple[Baseline, ...], conflict: Conflict | None) -> Answer:
    """No plan: impossible with the reason, or given up."""
    if conflict is None:
        conflict = _conflict(problem)
    status = Status.IMPOSSIBLE if conflict is not None else Status.ABORTED
    return Answer(
        status, None, found.bound, (), Proof("none", found.bound), table, conflict, failures=tuple(map(str, found.failures))
    )


def _conflict(problem: Problem) -> Conflict | None:
    try:
        from .exact.conflict import find_conflict
    except ImportError:
        return None
    return find_conflict(problem)
