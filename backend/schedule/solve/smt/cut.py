"""A problem of one phase refuted by the solver: the certificate of a cut, asked again."""

from __future__ import annotations

from collections import Counter

from ...timeline.timing import Timer
from ..costs import Costs
from ..filling import most
from .placing import least_bytes
from .solver import Solver, Steps, Verdict, available


def is_one_cut(timer: Timer) -> bool:
    """Is the problem one phase, about whose devices and copies no directive speaks?"""
    return len(timer.problem.phases) == 1 and available() and timer.limits.fixed == {} and not timer.wants_copies


def cut_refuted(timer: Timer, costs: Costs, makespan: int, steps: Steps) -> bool:
    """With however many devices, the rows that each can do in `makespan` ticks sum to fewer than there are.

    One question for each number n of devices: the sum of rows[d] z[d] is `rows` or more, with at most n of z (equal devices
    are counted together)."""
    phase = timer.problem.phases[0]
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
