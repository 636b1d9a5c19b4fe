"""Simulated annealing over modes and activity lists from a good start, with a fixed seed and a fixed number of moves.

A move gives one phase another mode, or another position in the order.  Feasible schedules are compared by their makespan or by
the value of a `SearchObjective`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from random import Random
from typing import Final, TypeAlias

from ....lang.support.records import dataclass, replace
from ..bounds.head_tail_bounds import Costs
from ..problem import Decisions, InsertionPolicy, Mode, Schedule, TransferPolicy
from ..timeline.serial_sgs import FOREVER, Infeasible, ScheduleDecoder
from .list_scheduling import Placement

# ---------------------------------------------------------------------------------------------------- repartition moves
#
# Moves of annealing that change where phases are cut: they shift rows from one device to another, in one phase or in several at
# once, or give a phase the cut of a neighbour, so that nothing is transferred between them.

MOST_DEVICES: Final = 64

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
"""Times the deadline: the end of a schedule that is no step of the search."""
INFEASIBLE_VALUE: Final = 1 << 128
"""More than the value of any schedule."""


@dataclass(frozen=True, slots=True)
class SearchObjective:
    """A function to minimise instead of the makespan, of schedules that end by `deadline`; its value None: not allowed.

    Later schedules are steps of the search, at `LATENESS_PRICE` times their relative lateness: those in time are often no
    neighbours of each other."""

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
    """The best schedule met in `moves` moves from `start`, or None if none is better; stops when its value reaches `goal`.

    `shift`: repartition moves, taken for a part ROW_MOVE_SHARE of the moves.  Infeasible decisions are compared by how many
    phases could be scheduled."""
    random = Random(seed)
    count = len(start.modes)
    open_phases = [p for p in range(count) if len(choices[p]) > 1]
    after: list[set[int]] = [set() for _ in range(count)]
    for p, earlier in enumerate(decoder.before):
        for q in earlier:
            after[q].add(p)
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
        if known is None or known[0] > known[2] < most:  # never decoded, or up to a lower limit
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
    """The first and the last temperature, and the one now."""
    scale = value if value < INFEASIBLE_VALUE else 1
    return max(1.0, scale * heat[0]), max(0.05, scale * heat[1]), max(1.0, scale * heat[0])


def _value(decoder: ScheduleDecoder, decisions: Decisions, limit: int, aim: SearchObjective | None) -> tuple[int, bool]:
    """The makespan if it is within `limit`, or the value of the objective, and whether the deadline is missed; of infeasible
    decisions the larger the fewer phases could be scheduled."""
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
    count = len(state.priority)
    position = int(random.random() * count)
    p = state.priority[position]
    low = high = position
    while low > 0 and state.priority[low - 1] not in before[p]:
        low -= 1
    while high + 1 < count and state.priority[high + 1] not in after[p]:
        high += 1
    order = list(state.priority)
    del order[position]
    order.insert(low + int(random.random() * (high - low + 1)), p)
    return Decisions(state.modes, tuple(order), state.queueing, state.sending)


# ---------------------------------------------------------------------------------------------------- activity list search
#
# Annealing over orders alone: each phase goes to the device where it ends first, as in HEFT.
#
# The space is much smaller than that of `anneal`, and sufficient where devices are alike and transfers cheap.  Ends are those of
# HEFT's placement, so contention and memory are not considered until the best order is decoded.

def anneal_order(costs: Costs, start: Sequence[int], moves: int, goal: int = 0, seed: int = SEED) -> Decisions | None:
    """Decisions of the best order met in `moves` moves from `start`, a topological order; stops at `goal`."""
    decoder = costs.decoder
    random = Random(seed)
    after: list[set[int]] = [set() for _ in decoder.before]
    for p, earlier in enumerate(decoder.before):
        for q in earlier:
            after[q].add(p)
    current = list(start)
    best, best_value = current, _order_value(costs, current, FOREVER)
    value = best_value
    heat, cold = max(1.0, value * MODE_TEMPERATURES[0] / 2), max(0.05, value * MODE_TEMPERATURES[1])
    cooling = (cold / heat) ** (1.0 / max(1, moves))
    for _ in range(moves):
        if best_value <= goal:
            break
        heat *= cooling
        position = int(random.random() * len(current))
        p = current[position]
        low = high = position
        while low > 0 and current[low - 1] not in decoder.before[p]:
            low -= 1
        while high + 1 < len(current) and current[high + 1] not in after[p]:
            high += 1
        trial = current[:position] + current[position + 1 :]
        trial.insert(low + int(random.random() * (high - low + 1)), p)
        most = value + int(-heat * log(1.0 - random.random()))
        trial_value = _order_value(costs, trial, most)
        if trial_value <= most:
            current, value = trial, trial_value
            if trial_value < best_value:
                best, best_value = trial, trial_value
    placement = Placement(costs)
    return placement.decisions(best) if all(placement.place(p, None) for p in best) else None


def _order_value(costs: Costs, order: Sequence[int], limit: int) -> int:
    """The makespan of the placement, or some number above `limit`."""
    placement = Placement(costs)
    tails = costs.decoder.tails
    latest = 0
    for p in order:
        if not placement.place(p, None) or placement.finish[p] + tails[p] > limit:
            return 2 * FOREVER
        latest = max(latest, placement.finish[p])
    return latest
