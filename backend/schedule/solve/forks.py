"""Forks, joins, fork-joins and independent phases without links: exact.

Families of up to some twenty members are counted (`covers`); larger ones are searched by what the devices may have done after
each phase.

The members of a family (`exact.families` has the argument) go in one order on every device, so a plan is a device for each. After
each of them in that order, only when each device is free matters; of two such states the one that is nowhere later is enough,
and equal devices may be renamed.  For a makespan of T, states that cannot end in time are left out; if none is left, no plan
takes T or less.  Source and sink are tried on each device.  Given up where there are too many states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final, TypeAlias

from ..timeline.timing import Decisions, Mode, Queueing
from .costs import Costs
from .smt.families import family, inner
from .smt.shape import Shape
from .workers import Worker

if TYPE_CHECKING:
    from .covers import Covers

MOST_MEMBERS: Final = 22
"""Members of a family that are counted: the tables double with each."""
MOST_TICKS: Final = 1 << 27
MOST_STATES: Final = 100_000
"""States looked at for one question."""
MOST_DEVICES: Final = 16

State: TypeAlias = tuple[int, ...]
"""By device, when it is free; equal devices but those of source and sink in the order of that."""
Step: TypeAlias = tuple[State, int, int]
"""The state before, the device, and when it is free again."""
Layer: TypeAlias = dict[State, Step]
Placed: TypeAlias = list[tuple[int, int]]
"""Members and their devices, in an order that devices may keep."""
Tables: TypeAlias = "dict[tuple[int, int], Covers]"
"""By the devices of source and sink."""


@dataclass(frozen=True, slots=True)
class Fork:
    """`members` in their order, if there is one for all devices; `ticks` by phase and device; what comes before and after
    them."""

    members: tuple[int, ...]
    source: int | None
    sink: int | None
    ticks: tuple[Mapping[int, int], ...]
    into: Mapping[int, int]
    out: Mapping[int, int]
    alike: tuple[int, ...]
    """By device: the first device that is like it."""
    syncs: tuple[int, ...]


def fork_of(costs: Costs) -> Fork | None:
    """The family of a problem, if it is one."""
    timer = costs.timer
    count = len(costs.allowed)
    if timer.linked or timer.limits.machines is not None or timer.limits.deadline is not None or len(timer.kinds) > MOST_DEVICES:
        return None
    modes: list[list[Mode]] = [[((d, 1),) for d in devices] for devices in costs.allowed]
    if count < 2 or any(task.rows for task in timer.problem.phases):
        return None
    shape = Shape(timer.problem, modes, timer)
    ranked = family(shape)
    if not ranked:
        ranked = {p: place for place, p in enumerate(inner(shape))}
        if not 2 <= len(ranked) <= MOST_MEMBERS:
            return None
    if sum(max(t for d in costs.allowed[p] if (t := timer.ticks(p, d, 1)) is not None) for p in range(count)) > MOST_TICKS:
        return None
    others = [p for p in range(count) if p not in ranked]
    source = next((p for p in others if timer.outgoing[p]), None)
    sink = next((p for p in others if timer.incoming[p]), None)
    ticks = tuple({d: timer.ticks(p, d, 1) or 0 for d in costs.allowed[p]} for p in range(count))
    into = {p: timer.delays[edge] or 0 for p in ranked for edge in timer.incoming[p]}
    out = {p: timer.delays[edge] or 0 for p in ranked for edge in timer.outgoing[p]}
    firsts = tuple(costs.members[c][0] for c in costs.class_of)
    return Fork(tuple(sorted(ranked, key=ranked.__getitem__)), source, sink, ticks, into, out, firsts, tuple(timer.syncs))


def solve(fork: Fork, lower: int, upper: int) -> tuple[int, Decisions | None]:
    """No plan takes less than the first; the best plan that was found of less than `upper` ticks."""
    best: Decisions | None = None
    tables: Tables = {}
    while lower < upper:
        middle = (lower + upper) // 2
        found = within(fork, middle, tables)
        if found is None:
            break
        if isinstance(found, bool):
            lower = middle + 1
        else:
            best, upper = found, middle
    return lower, best


def within(fork: Fork, makespan: int, tables: Tables | None = None) -> Decisions | bool | None:
    """A plan of at most so many ticks; False if there is none, None if that is not known.  `tables` are used again."""
    left = [MOST_STATES]
    known = True
    for first, last in _spots(fork):
        if len(fork.members) <= MOST_MEMBERS:
            found = _covered(fork, makespan, first, last, {} if tables is None else tables)
        else:
            found = _placed(fork, makespan, first, last, left)
        if found is None:
            known = False
        elif not isinstance(found, bool):
            modes: dict[int, Mode] = {p: ((d, 1),) for p, d in found}
            if fork.source is not None:
                modes[fork.source] = ((first, 1),)
            if fork.sink is not None:
                modes[fork.sink] = ((last, 1),)
            order = (
                *([] if fork.source is None else [fork.source]),
                *(p for p, _ in found),
                *([] if fork.sink is None else [fork.sink]),
            )
            return Decisions(tuple(modes[p] for p in range(len(modes))), order, Queueing.APPEND)
    return False if known else None


def _spots(fork: Fork) -> Iterator[tuple[int, int]]:
    """Where source and sink may run (-1: there is none), but for equal devices."""
    seen: set[tuple[int, int, bool]] = set()
    sources = sorted(fork.ticks[fork.source]) if fork.source is not None else [-1]
    sinks = sorted(fork.ticks[fork.sink]) if fork.sink is not None else [-1]
    for first, last in product(sources, sinks):
        key = (fork.alike[first] if first >= 0 else -1, fork.alike[last] if last >= 0 else -1, first == last)
        if key not in seen:
            seen.add(key)
            yield first, last


def _covered(fork: Fork, makespan: int, first: int, last: int, tables: Tables) -> Placed | bool | None:
    """The members with source and sink on two devices, by counting."""
    if (first, last) not in tables:
        from .covers import Covers  # array library

        tables[first, last] = Covers(_workers(fork, first, last))
    found = tables[first, last].placed(makespan)
    return found if found is None or isinstance(found, bool) else [(fork.members[m], d) for m, d in found]


def _workers(fork: Fork, first: int, last: int) -> list[Worker]:
    """Sets of equal devices, with what they see of source and sink."""
    begin = fork.ticks[fork.source][first] if fork.source is not None else 0
    final = fork.ticks[fork.sink][last] if fork.sink is not None else 0
    groups: dict[tuple[int, bool, bool], list[int]] = {}
    for d in range(len(fork.alike)):
        groups.setdefault((fork.alike[d], d == first, d == last), []).append(d)
    return [
        Worker(
            tuple(devices),
            begin if near else 0,
            tuple(begin if near or fork.source is None else begin + fork.into[p] + fork.syncs[devices[0]] for p in fork.members),
            tuple(fork.ticks[p].get(devices[0]) for p in fork.members),
            tuple(final if ends or fork.sink is None else final + fork.out[p] + fork.syncs[last] for p in fork.members),
        )
        for (_, near, ends), devices in groups.items()
    ]


def _placed(fork: Fork, makespan: int, first: int, last: int, left: list[int]) -> Placed | bool | None:
    """The members with source and sink on two devices."""
    devices = len(fork.alike)
    begin = fork.ticks[fork.source][first] if fork.source is not None else 0
    end = makespan - (fork.ticks[fork.sink][last] if fork.sink is not None else 0)
    start: State = tuple(begin if d == first else 0 for d in range(devices))
    apart = {first, last}
    groups: dict[int, list[int]] = {}
    for d in range(devices):
        if d not in apart:
            groups.setdefault(fork.alike[d], []).append(d)
    equal = [members for members in groups.values() if len(members) > 1]
    work = [min(fork.ticks[p].values()) for p in fork.members]
    rest = [sum(work[place:]) for place in range(len(work) + 1)]
    layers: list[Layer] = [{start: (start, -1, 0)}]
    for place, p in enumerate(fork.members):
        following: Layer = {}
        for state in layers[-1]:
            tried: set[tuple[int, int]] = set()
            for d, ticks in fork.ticks[p].items():
                mark = (fork.alike[d] if d not in apart else -1 - d, state[d])
                if mark in tried:
                    continue
                tried.add(mark)
                come = begin if d == first or fork.source is None else begin + fork.into[p] + fork.syncs[d]
                done = max(state[d], come) + ticks
                way = 0 if d == last or fork.sink is None else fork.out[p] + fork.syncs[last]
                if done + way > end:
                    continue
                made = _sorted((*state[:d], done, *state[d + 1 :]), equal)
                if sum(max(0, end - free) for free in made) >= rest[place + 1] and made not in following:
                    following[made] = (state, d, done)
        left[0] -= len(following)
        if left[0] < 0:
            return None
        if not following:
            return False
        layers.append(following)
    return list(zip(fork.members, _traced(layers, equal), strict=True))


def _sorted(state: State, equal: Sequence[Sequence[int]]) -> State:
    """The state with equal devices in the order of when they are free."""
    if not equal:
        return state
    made = list(state)
    for members in equal:
        for d, free in zip(members, sorted(state[d] for d in members), strict=True):
            made[d] = free
    return tuple(made)


def _traced(layers: Sequence[Layer], equal: Sequence[Sequence[int]]) -> list[int]:
    """The devices of the members: back to front, then with equal devices as they really are."""
    state = next(iter(layers[-1]))
    steps: list[Step] = []
    for layer in reversed(layers[1:]):
        steps.append(layer[state])
        state = steps[-1][0]
    free = list(state)
    result: list[int] = []
    for before, device, done in reversed(steps):
        alike = next((members for members in equal if device in members), (device,))
        result.append(next(d for d in alike if free[d] == before[device]))
        free[result[-1]] = done
    return result
