"""An answer's proof, done again: z3 refutes what would be better by one, or the certificate of a cut.

Nothing of the stored proof is believed: the bound is derived again from the problem alone.  A bound that somebody else claims
(a proposer, a hand-written file) is confirmed only in this way, so one above a feasible plan never is.
Neighbours: `search`, `goals`, `objectives`; `plan --check --prove` calls `reprove`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

from ..bounds import Bounds
from ..convex import worth
from ..costs import Costs, order_of
from ..forks import fork_of, within
from ..modes import candidate_modes
from ..problem import Answer, Objective, Problem, Status
from ..scaling import common_ticks, in_larger_ticks
from ..splitting import most, split
from ..states.model import eligible
from ..timing import Timer
from .conflict import certified_bound, find_conflict
from .placing import least_bytes
from .relaxed import refuted
from .search import Search
from .solver import Solver, Steps, Verdict, available

STEPS: Final = 400_000_000
STATES: Final = 200_000_000
"""Numbers of states of the search over states."""
MOST_RELAXED: Final = 64
"""Phases up to which the bound over all cuts is derived again."""


def reprove(problem: Problem, answer: Answer, steps: Steps | None = None) -> bool:
    """Whether the answer's bound, and its being optimal or impossible, can be derived again."""
    steps = steps or Steps(STEPS)
    if answer.status is Status.ABORTED:
        return False
    if answer.status is Status.IMPOSSIBLE:
        if answer.conflict is None:
            return False
        found = find_conflict(replace(problem, directives=answer.conflict.directives), steps)  # these alone
        return found is not None and found.code == answer.conflict.code
    if answer.schedule is None or not answer.values:
        return answer.lower_bound <= 0 or confirmed(problem, answer.lower_bound, steps)
    if answer.lower_bound > answer.values[0]:
        return False  # no bound is above a plan
    if answer.status is Status.OPTIMAL and answer.lower_bound != answer.values[0]:
        return False
    objective = problem.objectives[0] if problem.objectives else Objective.LATENCY
    if objective is not Objective.LATENCY:
        from ..objectives import bound_of  # it uses this package

        return bound_of(problem, answer.schedule) >= answer.lower_bound
    if answer.schedule.makespan != answer.values[0]:
        return False
    return confirmed(problem, answer.lower_bound, steps)


def confirmed(problem: Problem, bound: int, steps: Steps) -> bool:
    """Whether no schedule is shorter than `bound` ticks, by z3 where it can be asked, else by certificates and bounds."""
    if bound <= 0:
        return True
    size = common_ticks(problem)
    if size > 1:
        problem, bound = in_larger_ticks(problem, size), -(-bound // size)
    timer = Timer(problem)
    costs = Costs(timer)
    if not timer.limits.possible or order_of(timer.before) is None or not all(costs.allowed):
        return False
    if len(problem.phases) == 1 and available() and timer.limits.fixed == {} and not timer.wants_copies:
        return _cut_refuted(problem, timer, costs, bound - 1, steps)
    whole = split(costs)
    if whole is not None and whole.lower_bound >= bound:
        return True
    fork = fork_of(costs)
    if fork is not None and within(fork, bound - 1) is False:
        return True
    if searched(Bounds(costs), bound):
        return True
    modes = candidate_modes(costs)
    if modes.complete and available() and len(problem.phases) <= 40 and len(timer.kinds) <= 64:
        search = Search(problem, modes.choices, steps, alone=True)
        if search.probe(bound - 1, steps.left) is Verdict.UNSAT:
            return True
    if certified_bound(problem) >= bound:
        return True
    bounds = Bounds(costs)
    if worth(bounds):
        from ..fluid import Fluid

        if Fluid(bounds, bound).bound(bound) >= bound:
            return True
    return len(problem.phases) <= MOST_RELAXED and refuted(bounds, bound - 1, steps)


def searched(bounds: Bounds, bound: int) -> bool:
    """Whether the search over states refutes a plan of one tick less."""
    if not eligible(bounds):
        return False
    from ..states.search import refuted as none_left  # array library

    return none_left(bounds, bound - 1, STATES)


def _cut_refuted(problem: Problem, timer: Timer, costs: Costs, makespan: int, steps: Steps) -> bool:
    """With however many devices, the rows that each can do in `makespan` ticks sum to fewer than there are.

    One question for each number n of devices: the sum of rows[d] z[d] is `rows` or more, with at most n of z (equal devices
    are counted together)."""
    phase = problem.phases[0]
    devices = costs.allowed[0]
    cut = bool(phase.rows) and 0 not in timer.limits.unsplit
    limit = len(devices) if cut else 1
    if timer.limits.machines is not None:
        limit = min(limit, timer.limits.machines)
    combine = phase.combine
    for number in range(1, limit + 1) if combine is not None else (limit,):
        spare = makespan - phase.ready
        if combine is not None:
            spare -= combine.ticks_per_shard * (number if combine.barrier else 1)
        counts = tuple(
            most(phase.units, lambda r, d=d, t=spare: r == 0 or ((timer.ticks(0, d, r) or 0) <= t and _fits(timer, d, r)))  # type: ignore[misc]
            for d in devices
        )
        if spare < 0:
            continue
        if not cut:
            counts = tuple(count if count == phase.units else 0 for count in counts)
        kinds = Counter(counts)  # how many devices can do so many rows
        solver = Solver()
        names = {count: solver.integer(f"z{count}") for count in kinds}
        for count, name in names.items():
            solver.add(f"(<= 0 {name} {kinds[count]})")
        solver.add(f"(<= (+ {' '.join(names.values())} 0) {number})")
        solver.add(f"(>= (+ {' '.join(f'(* {count} {name})' for count, name in names.items())} 0) {phase.units})")
        if solver.check(steps, steps.left) is not Verdict.UNSAT:
            return False
    return True


def _fits(timer: Timer, device: int, rows: int) -> bool:
    cap = timer.caps[device]
    return cap is None or least_bytes(timer, 0, device, rows) <= cap
