"""What is tried for large graphs, in order: wide cuts at several prices, the same along the clock, contracted chains, then
annealing of the best.

The numbers of moves follow from the number of shards, so that a layout of many costs no more in all than one of few.
Neighbours: `cutting`, `contract`; `planner` owns what is found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from ..bounds import Bounds
from ..budget import Budget
from ..costs import Costs
from ..found import Found
from ..heuristics import Candidate, anneal, anneal_order, retime, shifts, uniform
from ..heuristics.annealing import SEED
from ..heuristics.candidates import acceptable
from ..levels import FOREVER
from ..modes import candidate_modes
from ..problem import Answer, Problem
from ..timing import Decisions, Mode, Queueing, Sending, Timer, decisions_of
from .contract import contract
from .cutting import cut_list, rolling, urgencies

PRICES: Final = (100, 10, 1)
ROLLS: Final = ((20, 2), (30, 1), (40, 0), (60, 0), (100, 0))
"""Along the clock: the devices that a phase may have, of a hundred, and the patience in quarters of a phase."""
MOST_ROLLED: Final = 3
MOST_UNIFORM: Final = 4000
"""Phases times devices up to which the same devices are tried for all phases."""
WIDTHS: Final = (1, 256)
MOST_WORK: Final = 400_000
"""Shards placed in annealing, in all."""
FEW: Final = 8
LEAST_MOVES: Final = 10
"""Fewer are not worth the time."""
MOST_DEVICES: Final = 64
MOST_SHIFTED: Final = 64
"""Phases up to which rows are shifted: of more, single shifts change too little for what a layout costs."""


Planner: TypeAlias = Callable[[Problem, Budget], Answer]


def improve(
    costs: Costs, bounds: Bounds, found: Found, compared: Sequence[Candidate], budget: Budget, guided: Candidate | None = None,
    *, plan: Planner,
) -> None:  # fmt: skip
    """Offer what is better than the baselines to `found`; `plan`: how a smaller problem is planned."""
    timer = costs.timer
    candidates = [*compared, *([guided] if guided is not None else [])]
    seen: set[Decisions] = set()
    widths = WIDTHS if any(task.rows for task in timer.problem.phases) else (1,)
    for width in widths:
        for price in PRICES if width > 1 else (0,):
            decisions = None if found.met else cut_list(costs, bounds, price, width)
            if decisions is not None and decisions not in seen:
                seen.add(decisions)
                candidates.append(retime(timer, "cut", decisions))
                found.offer(candidates[-1].schedule)
    few = len(timer.kinds) <= MOST_DEVICES
    if few and not found.met:
        for decisions in _rolled(costs, bounds):
            candidates.append(retime(timer, "rolling", decisions))
            found.offer(candidates[-1].schedule)
    if few and not found.met and len(timer.before) * len(timer.kinds) <= MOST_UNIFORM:
        base = next((c for c in compared if c.name == "HEFT"), None)
        if base is not None:
            candidates += uniform(costs, base.decisions)
    ranked = sorted((c for c in candidates if c.ticks is not None), key=lambda c: c.ticks or 0)
    for candidate in ranked:
        found.offer(candidate.schedule)
    if few and not found.met:
        expanded = _contracted(costs, budget, plan)
        if expanded is not None:
            candidate = retime(timer, "chains", expanded)
            found.offer(candidate.schedule)
            if candidate.ticks is not None:
                ranked.insert(0, candidate)
    if few and not found.met and ranked:
        order = timer.legal(ranked[0].decisions.priority)
        moves = min(budget.moves // 2, MOST_WORK // (4 * len(timer.kinds) * len(timer.before)))
        ordered = None if order is None else anneal_order(costs, order, moves, found.bound)
        if ordered is not None:
            ranked.append(retime(timer, "ordered", ordered))
            found.offer(ranked[-1].schedule)
            ranked.sort(key=lambda c: FOREVER if c.ticks is None else c.ticks)
    choices = _choices(costs, ranked)
    shift = shifts(costs) if len(timer.before) <= MOST_SHIFTED else None
    if guided is not None and guided.ticks is not None:
        ranked.insert(0, guided)
    for turn in range(4):
        if found.met or not ranked:
            break
        start = ranked[turn % 2 if len(ranked) > 1 else 0].decisions
        moves = min(budget.moves, MOST_WORK // work(timer, start)) // 4
        if moves < LEAST_MOVES:
            break
        start = replace(start, queueing=Queueing.INSERT, sending=(Sending.LATE, Sending.EARLY)[turn // 2])
        better = anneal(timer, choices, start, moves, found.bound, SEED + turn, shift)
        if better is not None and acceptable(timer.limits, better):
            found.offer(better)


def _rolled(costs: Costs, bounds: Bounds) -> list[Decisions]:
    """The best few of several ways to go along the clock, by their estimates."""
    timer = costs.timer
    if all(bounds.whole):
        return []
    mean = sum(min(bounds.ticks_on(p, c) for c in costs.allowed_classes[p]) for p in bounds.order) // len(bounds.order)
    found: list[tuple[int, int, Decisions]] = []
    for urgency in urgencies(bounds):
        for part, patience in ROLLS:
            widest = max(2, len(timer.kinds) * part // 100)
            for price in PRICES[:2]:
                rolled = rolling(costs, bounds, urgency, price, widest, mean * patience // 4)
                if rolled is not None:
                    found.append((rolled[0], len(found), rolled[1]))
    found.sort(key=lambda entry: entry[:2])
    return [decisions for _, _, decisions in found[:MOST_ROLLED]]


def work(timer: Timer, decisions: Decisions) -> int:
    """What one layout costs, in shards; beyond a few devices what goes over links, and the devices themselves, count too."""
    shards = sum(map(len, decisions.modes))
    if len(timer.kinds) <= FEW:
        return shards
    edges = timer.problem.edges if timer.linked else ()
    sent = sum(len(decisions.modes[edge.source]) + len(decisions.modes[edge.target]) for edge in edges)
    return shards + sent + len(timer.kinds) // 8


def _choices(costs: Costs, ranked: Sequence[Candidate]) -> Sequence[Sequence[Mode]]:
    """Modes to anneal over: all of few devices; of many, those that some candidate used."""
    if len(costs.timer.kinds) <= MOST_DEVICES:
        return candidate_modes(costs).choices
    return [list(dict.fromkeys(c.decisions.modes[p] for c in ranked)) for p in range(len(costs.allowed))]


def _contracted(costs: Costs, budget: Budget, plan: Planner) -> Decisions | None:
    """The plan of the graph with its chains contracted, annealed there."""
    smaller = contract(costs)
    if smaller is None:
        return None
    steps = None if budget.steps is None else budget.steps // 8
    answer = plan(smaller.problem, replace(budget, moves=budget.moves // 2, steps=steps))
    if answer.schedule is None:
        return None
    return smaller.expand(decisions_of(smaller.problem, answer.schedule), len(costs.allowed))
