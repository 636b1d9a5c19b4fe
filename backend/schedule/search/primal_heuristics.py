"""Strategies that offer schedules and no bound (primal heuristics): baselines, list scheduling, and local search from the
best of them.

The number of moves falls with the number of shards, so that the total cost of decoding is about the same for all problems.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ....lang.support.records import replace
from ..problem import (
    Deadline,
    Decisions,
    InsertionPolicy,
    Mode,
    PhaseIndex,
    Problem,
    QueueKind,
    Schedule,
    ScheduledStep,
    Shard,
    Synchronisation,
    Transfer,
    TransferPolicy,
)
from ..timeline.fence_insertion import Merging, completion_tick, synchronise
from ..timeline.serial_sgs import ScheduleDecoder, decisions_of
from .list_scheduling import (
    at_home,
    baselines,
    best_timing,
    moldable_list_schedule,
)
from .local_search import (
    MODE_TEMPERATURES,
    ROW_TEMPERATURES,
    SEED,
    RepartitionMove,
    SearchObjective,
    Temperatures,
    anneal,
    anneal_order,
    repartition_moves,
)
from .strategy import MOST_DEVICES, MOST_EXACT, SearchContext, Strategy

# ---------------------------------------------------------------------------------------------------- numbers of moves

PRICES: Final = (100, 10, 1)
WIDTHS: Final = (1, 256)
MOST_WORK: Final = 320_000
"""Shards scheduled in annealing of a large graph, in all."""
FEW_PHASES: Final = 8
LEAST_MOVES: Final = 10
"""Fewer moves are not worth the time."""
MOST_SHIFTED: Final = 64
"""Phases up to which rows are shifted: with more, a single shift gains too little for the cost of decoding."""
FULL_MOVES_GAP: Final = 64
"""With a gap of 1/FULL_MOVES_GAP or more all moves are taken; with a smaller one, proportionally fewer."""
MOST_IDLE: Final = 3
"""Runs of annealing in a row without a better schedule, after which no more are tried."""
FULL_MOVES_PHASES: Final = 16
"""Phases up to which all moves of the budget are taken; with more, proportionally fewer."""
CUT_RUNS: Final = (3, 3, 2)
"""The moves of each run of annealing that shifts rows, in eighths of the budget; the first is run twice."""

# ------------------------------------------------------------------------------------- constructions


def _baselines(context: SearchContext) -> None:
    context.baselines = baselines(context.costs)
    for candidate in context.baselines:
        context.consider(candidate)


BASELINES: Final = Strategy(
    "baselines", "the best single device, an even split, HEFT and PEFT, timed under the problem's own constraints",
    _baselines, always_runs=True, supports_chunks=True,
)  # fmt: skip


def _at_home(context: SearchContext) -> None:
    for candidate in at_home(context.costs):
        context.consider(candidate)


AT_HOME: Final = Strategy(
    "at-home", "everything that may on home, in the order of the file and depth first: what needs little memory",
    _at_home, lambda context: context.incumbent.schedule is None, supports_chunks=True,
)  # fmt: skip


def _list_scheduling(context: SearchContext) -> None:
    costs, decoder, incumbent = context.costs, context.decoder, context.incumbent
    seen: set[Decisions] = set()
    for width in WIDTHS if any(task.rows for task in context.problem.phases) else (1,):
        for price in PRICES if width > 1 else (0,):
            decisions = None if incumbent.is_closed else moldable_list_schedule(costs, context.bounds, price, width)
            if decisions is not None and decisions not in seen:
                seen.add(decisions)
                context.consider(best_timing(decoder, "cut", decisions))


LIST_SCHEDULING: Final = Strategy(
    "list-scheduling", "phases by what must follow them, each cut over as many devices of a class as pays at a price",
    _list_scheduling, lambda context: context.is_large,
)  # fmt: skip


# ------------------------------------------------------------------------------------- local search


def _moves(context: SearchContext, start: Decisions) -> int:
    """The moves of annealing from a start, over all its runs: fewer where the gap that they may close is small."""
    moves, incumbent = _most_moves(context, start), context.incumbent
    if incumbent.schedule is None or context.budget.steps is None:
        return moves
    makespan = incumbent.schedule.makespan
    return min(moves, FULL_MOVES_GAP * moves * (makespan - incumbent.bound) // max(1, makespan))


def _most_moves(context: SearchContext, start: Decisions) -> int:
    budget, count = context.budget, len(context.problem.phases)
    if context.is_large:
        return min(budget.moves, MOST_WORK // decoding_work(context.decoder, start))
    moves = budget.moves if count <= FULL_MOVES_PHASES else budget.moves * FULL_MOVES_PHASES // count
    if context.modes.complete and count < FULL_MOVES_PHASES and budget.steps != 0 and repartition_moves(context.costs) is None:
        moves = moves * count**3 // FULL_MOVES_PHASES**3  # the exact search is quicker
    return moves


def decoding_work(decoder: ScheduleDecoder, decisions: Decisions) -> int:
    """The cost of decoding once, in shards; with more than a few devices transfers count too."""
    shards = sum(map(len, decisions.modes))
    if len(decoder.kinds) <= FEW_PHASES:
        return shards
    edges = decoder.problem.edges if decoder.has_links else ()
    sent = sum(len(decisions.modes[edge.source]) + len(decisions.modes[edge.target]) for edge in edges)
    return shards + sent


def _activity_lists(context: SearchContext) -> None:
    ranked = context.ranked()
    if not ranked:
        return
    first = ranked[0].decisions
    moves = _moves(context, first) // 8
    order = first.priority
    if context.is_large:
        size = 4 * len(context.decoder.kinds) * len(context.problem.phases)
        moves, legal = min(4 * moves, context.budget.moves // 2, MOST_WORK // size), context.decoder.repair_order(order)
        if legal is None:
            return
        order = tuple(legal)
    ordered = anneal_order(context.costs, order, moves, context.incumbent.bound)
    if ordered is not None:
        context.consider(best_timing(context.decoder, "ordered", ordered))


ACTIVITY_LISTS: Final = Strategy(
    "activity-lists", "annealing over orders alone: each phase goes to the device where it ends first",
    _activity_lists, lambda context: context.few_devices,
)  # fmt: skip


def anneal_from(
    context: SearchContext, start: Decisions, moves: int, seed: int, *, shift: RepartitionMove | None,
    heat: Temperatures = MODE_TEMPERATURES, aim: SearchObjective | None = None,
) -> bool:  # fmt: skip
    """Offer the best schedule that annealing meets; is it better than the incumbent?"""
    incumbent, before = context.incumbent, context.incumbent.schedule
    choices = _choices(context)
    incumbent.offer(anneal(context.decoder, choices, start, moves, incumbent.bound, SEED + seed, shift, heat, aim))
    return incumbent.schedule is not before


def _row_shifts(context: SearchContext) -> None:
    """Anneal cuts from those of the LP relaxation, then from the incumbent at falling temperatures."""
    incumbent, guided = context.incumbent, context.lp_rounded
    shift, idle = row_moves(context), 0
    if shift is None or incumbent.schedule is None:
        return
    for run, part in enumerate(CUT_RUNS):
        known = decisions_of(context.problem, incumbent.schedule)
        start = guided.decisions if run == 0 and guided is not None and guided.ticks is not None else known
        moves = _moves(context, start) * part // 8
        for sending in (start.sending,) if run else (TransferPolicy.LATE, TransferPolicy.EARLY):
            if not incumbent.is_closed and idle < MOST_IDLE:
                given = replace(start, sending=sending)
                idle = 0 if anneal_from(context, given, moves, run, shift=shift, heat=ROW_TEMPERATURES) else idle + 1


def row_moves(context: SearchContext) -> RepartitionMove | None:
    """The repartition moves; with many devices only between those that the best schedule uses and one of each class."""
    if context.few_devices:
        return repartition_moves(context.costs)
    used = set() if context.incumbent.schedule is None else {int(shard.device) for shard in context.incumbent.schedule.shards}
    return repartition_moves(context.costs, frozenset(used | {members[0] for members in context.costs.members}))


def _choices(context: SearchContext) -> Sequence[Sequence[Mode]]:
    """Candidate modes; with many devices those of earlier candidates, of the best schedule, and narrow ones."""
    if context.few_devices:
        return context.modes.choices
    known = [one.decisions.modes for one in context.ranked()]
    narrow = [
        [modes[p] for phase, modes in enumerate(known) if not phase or len(modes[p]) <= MOST_DEVICES]
        for p in range(len(context.problem.phases))
    ]  # fmt: skip
    return [tuple(dict.fromkeys(modes)) for modes in narrow]


def _cut_and_known(context: SearchContext) -> bool:
    return len(context.problem.phases) <= MOST_EXACT and context.incumbent.schedule is not None and row_moves(context) is not None


ROW_SHIFTS: Final = Strategy(
    "row-shifts", "annealing that moves rows between devices, from the cuts of the LP relaxation and from the best known",
    _row_shifts, _cut_and_known,
)  # fmt: skip


def _annealing(context: SearchContext) -> None:
    """Four runs of annealing: from the best two starts, with late and early transfers."""
    incumbent, ranked = context.incumbent, context.ranked()
    if context.is_large:
        ranked = [one for one in ranked if one.ticks is not None]
    if not ranked:
        return
    shift = row_moves(context) if len(context.problem.phases) <= MOST_SHIFTED else None
    if context.lp_rounded is not None and context.lp_rounded.ticks is not None:
        ranked.insert(0, context.lp_rounded)
    sendings = (TransferPolicy.LATE, TransferPolicy.EARLY) if context.is_large else (TransferPolicy.EARLY, TransferPolicy.LATE)
    idle = 0
    for run in range(4):
        start = ranked[run % 2 if len(ranked) > 1 else 0].decisions
        moves = _moves(context, start) // 4
        if incumbent.is_closed or idle == MOST_IDLE or (context.is_large and moves < LEAST_MOVES):
            break
        start = replace(start, queueing=InsertionPolicy.INSERT, sending=sendings[run // 2])
        idle = 0 if anneal_from(context, start, moves, run, shift=shift) else idle + 1


ANNEALING: Final = Strategy(
    "annealing", "annealing over modes, orders and ways of queueing and sending, from the best starts",
    _annealing, lambda context: not _cut_and_known(context),
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------- merging of syncs
#
# Trading later starts for fewer waits: a step waits at once for what a later step of its queue will wait for anyway.
#
# `fewer_syncs` takes two waits of one queue for one device, delays the phase of the first until both fences have passed, decodes
# the decisions again, and keeps the schedule if a wait is saved.  It repeats with the best such delay by makespan while one
# exists.  Decoding ensures that memory, orders and copies hold.

MOST_MERGING_WORK: Final = 200_000
"""Steps × waits above which nothing is tried."""


def fewer_syncs(problem: Problem, schedule: Schedule, most: int | None = None) -> Schedule:
    """A schedule of the same decisions with as many syncs (by `Merging.SLACK`) or fewer, and at most `most` ticks."""
    limits = [d.ticks for d in problem.directives if isinstance(d, Deadline)] + ([] if most is None else [most])
    best, sync = schedule, synchronise(problem, schedule, Merging.SLACK)
    delayed = problem
    while True:
        if sum(len(queue.steps) for queue in sync.queues) * len(sync.waits) > MOST_MERGING_WORK:
            return best
        candidates: list[tuple[int, int, Problem, Schedule, Synchronisation]] = []
        for phase, tick in sorted(set(_delays(problem, best, sync))):
            later = _with_ready(delayed, phase, tick)
            for queueing in InsertionPolicy:
                candidate = ScheduleDecoder(later).decode(replace(decisions_of(later, best), queueing=queueing))
                if candidate is None or any(candidate.makespan > limit for limit in limits):
                    continue
                again = synchronise(problem, candidate, Merging.SLACK)
                if again.syncs < sync.syncs:
                    candidates.append((candidate.makespan, len(candidates), later, candidate, again))
        if not candidates:
            return best
        _, _, delayed, best, sync = min(candidates, key=lambda each: each[:2])


def _with_ready(problem: Problem, phase: PhaseIndex, tick: int) -> Problem:
    tasks = list(problem.phases)
    tasks[phase] = replace(tasks[phase], ready=max(tick, tasks[phase].ready))
    return replace(problem, phases=tuple(tasks))


def _delays(problem: Problem, schedule: Schedule, sync: Synchronisation) -> Iterator[tuple[PhaseIndex, int]]:
    """Candidate delays: a phase that waits, and the tick at which the queue's next fence of the same device has passed."""
    arrival = [group.sync for group in problem.devices for _ in range(group.count)]
    last: dict[tuple[int, int], ScheduledStep] = {}
    for wait in sync.waits:
        queue, fence = sync.queues[wait.queue], sync.fences[wait.fence]
        if queue.kind is not QueueKind.COMPUTE:
            continue
        key = (int(wait.queue), int(fence.source))
        first = last.get(key)
        if isinstance(first, Shard):
            passed = max(_passing_tick(sync.queues[q].steps[p], arrival) for q, p in fence.after)
            yield first.phase, passed
        last[key] = queue.steps[wait.position]


def _passing_tick(step: ScheduledStep, arrival: list[int]) -> int:
    """The tick from which a consumer of a step may start."""
    return completion_tick(step) + (arrival[step.target] if isinstance(step, Transfer) else 0)
