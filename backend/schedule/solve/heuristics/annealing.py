"""Annealing over modes and priorities from a good start: a fixed seed and a fixed number of moves.

A move gives one phase another mode, or moves one phase to another place in the order.  Only schedules that are feasible
count, by their makespan or by what an `Aim` says they are worth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log
from random import Random
from typing import Final, TypeAlias

from ...answer import Schedule
from ...timeline.levels import FOREVER
from ...timeline.timing import Decisions, Mode, Queueing, Sending, Shortage, Timer
from .shifting import Shift

SEED: Final = 20261121
Heat: TypeAlias = tuple[float, float]
WHOLE: Final[Heat] = (0.1, 0.002)
"""The first and the last temperature, as parts of the makespan."""
CUT: Final[Heat] = (0.02, 0.0003)
"""The same where rows are shifted from a start whose cuts are about right."""
SHIFTED: Final = 0.6
UNFIT: Final = 1 << 128
"""More than any schedule is worth."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What is made least in place of the makespan, of schedules that end by `latest`; None: not allowed."""

    worth: Callable[[Schedule], int | None]
    latest: int = FOREVER


def anneal(
    timer: Timer,
    choices: Sequence[Sequence[Mode]],
    start: Decisions,
    moves: int,
    goal: int = 0,
    seed: int = SEED,
    shift: Shift | None = None,
    heat: Heat = WHOLE,
    aim: Aim | None = None,
) -> Schedule | None:
    """The best schedule met in `moves` moves from `start`, or None if none is better; stops at `goal`.

    `shift`: moves that change cuts, taken every other time.  A start that does not fit is worth less the fewer of its phases
    fit."""
    random = Random(seed)
    count = len(start.modes)
    open_phases = [p for p in range(count) if len(choices[p]) > 1]
    after: list[set[int]] = [set() for _ in range(count)]
    for p, earlier in enumerate(timer.before):
        for q in earlier:
            after[q].add(p)
    first = value = _value(timer, start, UNFIT, aim)
    current, best, best_value = start, start, value
    hot, cold, warm = _heats(value, heat)
    cooling = (cold / hot) ** (1.0 / max(1, moves))
    for _ in range(moves):
        warm *= cooling
        if shift is not None and random.random() < SHIFTED:
            trial = shift(random, current)
            if trial == current:
                continue
        else:
            trial = _move(random, current, choices, open_phases, timer.before, after)
        most = value + int(-warm * log(1.0 - random.random()))
        found = _value(timer, trial, most, aim)
        if found > most:
            continue
        if value >= UNFIT > found:
            hot, cold, warm = _heats(found, heat)
        current, value = trial, found
        if found < best_value:
            best, best_value = trial, found
            if found <= goal:
                break
    return timer.lay_out(best) if best_value < min(first, UNFIT) else None


def _heats(value: int, heat: Heat) -> tuple[float, float, float]:
    """The first and the last temperature, and the one now."""
    scale = value if value < UNFIT else 1
    return max(1.0, scale * heat[0]), max(0.05, scale * heat[1]), max(1.0, scale * heat[0])


def _value(timer: Timer, decisions: Decisions, limit: int, aim: Aim | None) -> int:
    """The makespan if it is within `limit`, or what the schedule is worth; for what does not fit, more the fewer phases fit."""
    limits = timer.limits
    if limits.machines is not None and len({d for mode in decisions.modes for d, _ in mode}) > limits.machines:
        return 2 * UNFIT
    layout = timer.attempt(decisions, limit if aim is None else aim.latest)
    if isinstance(layout, Shortage):
        return UNFIT + (len(decisions.modes) - layout.placed if layout.device != -2 else 0)
    if aim is None:
        return layout.makespan
    worth = aim.worth(layout.schedule()) if layout.makespan <= aim.latest else None
    return UNFIT if worth is None else worth


def _move(
    random: Random, state: Decisions, choices: Sequence[Sequence[Mode]], open_phases: Sequence[int],
    before: Sequence[frozenset[int]], after: Sequence[set[int]],
) -> Decisions:  # fmt: skip
    """A neighbour: another mode of one phase, another place for one between those it depends on and those on it, or now and
    then another way of queueing or sending."""
    pick = random.random()
    if pick < 0.01:
        return replace(state, queueing=Queueing.INSERT if state.queueing is Queueing.APPEND else Queueing.APPEND)
    if pick < 0.02:
        return replace(state, sending=Sending.EARLY if state.sending is Sending.LATE else Sending.LATE)
    if open_phases and pick < 0.6:
        p = open_phases[int(random.random() * len(open_phases))]
        mode = choices[p][int(random.random() * len(choices[p]))]
        return Decisions((*state.modes[:p], mode, *state.modes[p + 1 :]), state.priority, state.queueing, state.sending)
    count = len(state.priority)
    place = int(random.random() * count)
    p = state.priority[place]
    low = high = place
    while low > 0 and state.priority[low - 1] not in before[p]:
        low -= 1
    while high + 1 < count and state.priority[high + 1] not in after[p]:
        high += 1
    order = list(state.priority)
    del order[place]
    order.insert(low + int(random.random() * (high - low + 1)), p)
    return Decisions(state.modes, tuple(order), state.queueing, state.sending)
