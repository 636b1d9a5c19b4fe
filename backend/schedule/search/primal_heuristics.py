"""Strategies that offer schedules and no bound (primal heuristics): baselines, list scheduling, and simulated annealing over
modes and activity lists from the best of them.

A move gives one phase another mode, or another position in the order.  Seeds and numbers of moves are fixed; there are fewer with
more shards, so that the total cost of decoding is about the same for all problems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import log
from random import Random
from typing import Final, TypeAlias

from ....lang.support.records import dataclass, replace
from ..bounds.head_tail_bounds import Costs
from ..problem import (
    Deadline,
    Decisions,
    InsertionPolicy,
    Mode,
    Objective,
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
from ..timeline.objective_values import exact_objective_value
from ..timeline.serial_sgs import FOREVER, Infeasible, ScheduleDecoder, decisions_of
from .list_scheduling import (
    Placement,
    at_home,
    baselines,
    best_timing,
    moldable_list_schedule,
)
from .strategy import MOST_DEVICES, MOST_EXACT, SearchContext, Strategy

# ---------------------------------------------------------------------------------------------------- numbers of moves

PRICES: Final = (100, 10, 1)
WIDTHS: Final = (1, 256)
MOST_WORK: Final = 320_000
"""Shards scheduled in annealing of a large graph, in all."""
FEW_PHASES: Final = 8
LEAST_MOVES: Final = 10
"""The least number of moves of a run of annealing; fewer do not pay."""
MOST_SHIFTED: Final = 64
"""Phases up to which rows are shifted: with more, a single shift gains too little for the cost of decoding."""
FULL_MOVES_GAP: Final = 64
"""With a gap of 1/FULL_MOVES_GAP or more all moves are taken; with a smaller one, proportionally fewer."""
MOST_IDLE: Final = 3
"""Consecutive runs of annealing without a better schedule after which annealing stops."""
FULL_MOVES_PHASES: Final = 16
"""Phases up to which all moves of the budget are taken; with more, proportionally fewer."""
CUT_RUNS: Final = (3, 3, 2)
"""The moves of each run of annealing that shifts rows, in eighths of the budget."""

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


# ---------------------------------------------------------------------------------------------------- repartition moves
#
# Moves of annealing that change where phases are cut: they shift rows from one device to another, in one phase or in several at
# once, or give a phase the cut of a neighbour, so that nothing is transferred between them.

RepartitionMove = Callable[[Random, Decisions], Decisions]


def repartition_moves(costs: Costs, among: frozenset[int] | None = None) -> RepartitionMove | None:
    """The repartition moves of a problem (between devices `among` these); None where no phase has another cut."""
    decoder = costs.decoder
    constraints, phases = decoder.constraints, decoder.problem.phases
    devices = [options if among is None else [d for d in options if d in among] for options in costs.allowed]
    open_phases = [
        p
        for p, task in enumerate(phases)
        if task.rows > 1
        and p not in constraints.fixed_modes
        and p not in constraints.undivided
        and 1 < len(devices[p]) <= MOST_DEVICES
    ]
    if not open_phases:
        return None
    neighbours = {
        p: [
            q
            for q in {decoder.targets[e] for e in decoder.outgoing[p]} | {decoder.sources[e] for e in decoder.incoming[p]}
            if phases[q].units == phases[p].units and q in open_phases
        ]
        for p in open_phases
    }
    allowed = [frozenset(devices_of_phase) for devices_of_phase in devices]

    def transferred(mode: Mode, source: int, target: int, count: int) -> Mode:
        rows = dict(mode)
        moved = min(count, rows.get(source, 0))
        rows[source] = rows.get(source, 0) - moved
        rows[target] = rows.get(target, 0) + moved
        return tuple(sorted((device, n) for device, n in rows.items() if n))

    def shift(random: Random, state: Decisions) -> Decisions:
        p = open_phases[int(random.random() * len(open_phases))]
        mode, pick = state.modes[p], random.random()
        modes = list(state.modes)
        if pick < 0.3 and neighbours[p]:
            other = state.modes[neighbours[p][int(random.random() * len(neighbours[p]))]]
            if all(device in allowed[p] for device, _ in other):
                modes[p] = other
                return replace(state, modes=tuple(modes))
        source = mode[int(random.random() * len(mode))][0]
        choices = [d for d in devices[p] if d != source]
        target = choices[int(random.random() * len(choices))]
        size = phases[p].rows
        count = max(1, int(random.expovariate(1.0) * (1.0, 4.0, size / 4)[int(random.random() * 3)]))
        modes[p] = transferred(mode, source, target, count)
        if pick > 0.75:
            for q in open_phases:
                if q != p and {source, target} <= allowed[q] and random.random() < 0.5:
                    modes[q] = transferred(state.modes[q], source, target, max(1, count * phases[q].rows // size))
        return replace(state, modes=tuple(modes))

    return shift


# ---------------------------------------------------------------------------------------------------- simulated annealing

SEED: Final = 20261121
Temperatures: TypeAlias = tuple[float, float]
MODE_TEMPERATURES: Final[Temperatures] = (0.1, 0.002)
"""(first, last) temperature as fractions of the makespan, for moves of modes."""
ROW_TEMPERATURES: Final[Temperatures] = (0.02, 0.0003)
"""The same for moves of rows, from a start whose cuts are nearly right."""
ROW_MOVE_SHARE: Final = 0.6
LATENESS_PRICE: Final = 2
LATEST: Final = 2
"""Schedules that end later than LATEST × the deadline are no steps of the search."""
INFEASIBLE_VALUE: Final = 1 << 128
"""Greater than the value of every schedule."""


@dataclass(frozen=True, slots=True)
class SearchObjective:
    """A function to minimise instead of the makespan, of schedules that end by `deadline`; a value of None forbids the schedule.

    Later schedules may be passed through, at `LATENESS_PRICE` times their relative lateness, because schedules in time are often
    not neighbours of each other."""

    value: Callable[[Schedule], int | None]
    deadline: int = FOREVER


def anneal(
    decoder: ScheduleDecoder,
    choices: Sequence[Sequence[Mode]],
    start: Decisions,
    moves: int,
    goal: int = 0,
    seed: int = SEED,
    shift: RepartitionMove | None = None,
    heat: Temperatures = MODE_TEMPERATURES,
    aim: SearchObjective | None = None,
) -> Schedule | None:
    """The best schedule seen in `moves` moves from `start`, or None if none is better; stops when its value reaches `goal`.

    `shift`: repartition moves, which are drawn with probability ROW_MOVE_SHARE.  Infeasible decisions are compared by how many
    phases could be scheduled."""
    random = Random(seed)
    count = len(start.modes)
    open_phases = [p for p in range(count) if len(choices[p]) > 1]
    after = _successors(decoder)
    value, late = _value(decoder, start, INFEASIBLE_VALUE, aim)
    first = best_value = INFEASIBLE_VALUE if late else value
    current, best = start, start
    hot, cold, warm = _temperatures(value, heat)
    cooling = (cold / hot) ** (1.0 / max(1, moves))
    values: dict[Decisions, tuple[int, bool, int]] = {}
    for _ in range(moves):
        warm *= cooling
        if shift is not None and random.random() < ROW_MOVE_SHARE:
            trial = shift(random, current)
            if trial == current:
                continue
        else:
            trial = _move(random, current, choices, open_phases, decoder.before, after)
        most = value + int(-warm * log(1.0 - random.random()))
        known = values.get(trial)
        if known is None or known[0] > known[2] < most:  # never decoded, or known only down to a limit below `most`
            known = values[trial] = *_value(decoder, trial, most, aim), most
        trial_value, late, _ = known
        if trial_value > most:
            continue
        if value >= INFEASIBLE_VALUE > trial_value:
            hot, cold, warm = _temperatures(trial_value, heat)
        current, value = trial, trial_value
        if trial_value < best_value and not late:
            best, best_value = trial, trial_value
            if trial_value <= goal:
                break
    return decoder.decode(best) if best_value < min(first, INFEASIBLE_VALUE) else None


def _temperatures(value: int, heat: Temperatures) -> tuple[float, float, float]:
    """(first temperature, last temperature, current temperature)."""
    scale = value if value < INFEASIBLE_VALUE else 1
    return max(1.0, scale * heat[0]), max(0.05, scale * heat[1]), max(1.0, scale * heat[0])


def _value(decoder: ScheduleDecoder, decisions: Decisions, limit: int, aim: SearchObjective | None) -> tuple[int, bool]:
    """The makespan if it is within `limit`, or the objective's value; and whether the deadline is missed.  The value of
    infeasible decisions grows with the number of phases that could not be scheduled."""
    constraints = decoder.constraints
    if constraints.machines is not None and len({d for mode in decisions.modes for d, _ in mode}) > constraints.machines:
        return 2 * INFEASIBLE_VALUE, False
    layout = decoder.try_decode(decisions, limit if aim is None else LATEST * aim.deadline)
    if isinstance(layout, Infeasible):
        return INFEASIBLE_VALUE + (len(decisions.modes) - layout.scheduled_phases if layout.device != -2 else 0), False
    if aim is None:
        return layout.makespan, False
    worth, lateness = aim.value(layout.schedule()), max(0, layout.makespan - aim.deadline)
    if worth is None:
        return INFEASIBLE_VALUE, False
    return worth + LATENESS_PRICE * worth * lateness // max(1, aim.deadline), lateness > 0


def _move(
    random: Random, state: Decisions, choices: Sequence[Sequence[Mode]], open_phases: Sequence[int],
    before: Sequence[frozenset[int]], after: Sequence[set[int]],
) -> Decisions:  # fmt: skip
    """A neighbour: another mode of one phase, another position for one between its predecessors and successors, or rarely another
    insertion or transfer policy."""
    pick = random.random()
    if pick < 0.01:
        return replace(
            state, queueing=InsertionPolicy.INSERT if state.queueing is InsertionPolicy.APPEND else InsertionPolicy.APPEND
        )
    if pick < 0.02:
        return replace(state, sending=TransferPolicy.EARLY if state.sending is TransferPolicy.LATE else TransferPolicy.LATE)
    if open_phases and pick < 0.6:
        p = open_phases[int(random.random() * len(open_phases))]
        mode = choices[p][int(random.random() * len(choices[p]))]
        return Decisions((*state.modes[:p], mode, *state.modes[p + 1 :]), state.priority, state.queueing, state.sending)
    order = _reordered(random, state.priority, before, after)
    return Decisions(state.modes, tuple(order), state.queueing, state.sending)


def _reordered(
    random: Random, order: Sequence[int], before: Sequence[frozenset[int]], after: Sequence[set[int]]
) -> list[int]:  # fmt: skip
    """The order with one phase at another position between its predecessors and successors."""
    low = high = position = int(random.random() * len(order))
    p = order[position]
    while low > 0 and order[low - 1] not in before[p]:
        low -= 1
    while high + 1 < len(order) and order[high + 1] not in after[p]:
        high += 1
    trial = [*order[:position], *order[position + 1 :]]
    trial.insert(low + int(random.random() * (high - low + 1)), p)
    return trial


def _successors(decoder: ScheduleDecoder) -> list[set[int]]:
    after: list[set[int]] = [set() for _ in decoder.before]
    for p, earlier in enumerate(decoder.before):
        for q in earlier:
            after[q].add(p)
    return after


# ---------------------------------------------------------------------------------------------------- activity list search
#
# Annealing over orders alone: each phase goes to the device where it ends first, as in HEFT.
#
# The space is much smaller than that of `anneal`, and sufficient where devices are alike and transfers cheap.  Ends are those of
# HEFT's placement, so contention and memory are not considered until the best order is decoded.

def anneal_order(costs: Costs, start: Sequence[int], moves: int, goal: int = 0, seed: int = SEED) -> Decisions | None:
    """Decisions of the best order seen in `moves` moves from `start`, a topological order; stops at `goal`."""
    decoder = costs.decoder
    random = Random(seed)
    after, current = _successors(decoder), list(start)
    best, best_value = current, _order_value(costs, current, FOREVER)
    value = best_value
    heat, cold = max(1.0, value * MODE_TEMPERATURES[0] / 2), max(0.05, value * MODE_TEMPERATURES[1])
    cooling = (cold / heat) ** (1.0 / max(1, moves))
    for _ in range(moves):
        if best_value <= goal:
            break
        heat *= cooling
        trial = _reordered(random, current, decoder.before, after)
        most = value + int(-heat * log(1.0 - random.random()))
        trial_value = _order_value(costs, trial, most)
        if trial_value <= most:
            current, value = trial, trial_value
            if trial_value < best_value:
                best, best_value = trial, trial_value
    placement = Placement(costs)
    return placement.decisions(best) if all(placement.place(p, None) for p in best) else None


def _order_value(costs: Costs, order: Sequence[int], limit: int) -> int:
    """The makespan of the placement, or any number above `limit` if the makespan exceeds it."""
    placement = Placement(costs)
    tails = costs.decoder.tails
    latest = 0
    for p in order:
        if not placement.place(p, None) or placement.finish[p] + tails[p] > limit:
            return 2 * FOREVER
        latest = max(latest, placement.finish[p])
    return latest


# ---------------------------------------------------------------------------------------------------- local search


def _moves(context: SearchContext, start: Decisions) -> int:
    """The number of annealing moves from a start, over all its runs; smaller where the gap to the bound is small."""
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
        moves = moves * count**3 // FULL_MOVES_PHASES**3  # the exact search is faster there
    return moves


def decoding_work(decoder: ScheduleDecoder, decisions: Decisions) -> int:
    """The cost of one decoding, in shards; on more than a few devices transfers count too."""
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
    """Anneal cuts from those of the LP relaxation, then from the incumbent, whose transfers may be sent otherwise."""
    incumbent, guided = context.incumbent, context.lp_rounded
    shift = row_moves(context)
    if shift is None:
        return
    for run, part in enumerate(CUT_RUNS):
        if incumbent.schedule is not None and not incumbent.is_closed:
            start = decisions_of(context.problem, incumbent.schedule)
            if run == 0:
                cuts = start if guided is None or guided.ticks is None else guided.decisions
                start = replace(cuts, sending=TransferPolicy.EARLY)
            moves = _moves(context, start) * part // 8
            anneal_from(context, start, moves, run, shift=shift, heat=ROW_TEMPERATURES)


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


WIDE_TEMPERATURES: Final = (0.4, 0.001)
HEATS: Final = (WIDE_TEMPERATURES, WIDE_TEMPERATURES, WIDE_TEMPERATURES, ROW_TEMPERATURES)
"""Temperatures of the runs of annealing for energy and throughput, whose minima lie further apart than those of the makespan."""


def _anneal_objective(context: SearchContext) -> None:
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


def _annealing(context: SearchContext) -> None:
    """Four runs of annealing: from the best two starts, with late and early transfers."""
    if not context.minimises_makespan:
        _anneal_objective(context)
        return
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


def _annealing_applies(context: SearchContext) -> bool:
    if context.minimises_makespan:
        return not _cut_and_known(context)
    return not context.is_large and context.incumbent.objective in (Objective.ENERGY, Objective.THROUGHPUT)


ANNEALING: Final = Strategy(
    "annealing", "annealing over modes, orders and ways of queueing and sending, from the best starts",
    _annealing, _annealing_applies, others=True,
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
    """The tick from which a consumer of the step may start."""
    return completion_tick(step) + (arrival[step.target] if isinstance(step, Transfer) else 0)


def _merge_syncs(context: SearchContext) -> None:
    assert context.incumbent.schedule is not None
    most = min((most for other, most in context.optima if other is Objective.LATENCY), default=None)
    context.incumbent.offer(fewer_syncs(context.problem, context.incumbent.schedule, most))


MERGED_SYNCS: Final = Strategy(
    "merged-syncs", "later starts for fewer waits",
    _merge_syncs, lambda context: context.incumbent.objective is Objective.SYNCS, makespan=False, others=True,
)  # fmt: skip
