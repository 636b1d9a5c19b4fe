"""Plans on fewer devices: what devices behind slow links, or slow devices, cost is seen only by planning without them.

More devices never make the best plan longer, but they lead a search of so many moves astray.  So the problem is planned on the
subsets of the devices that its links and its tables suggest, and the best of these plans is where the search begins.  Groups
that are left out stay in the problem, so that devices keep their numbers and routes, but can run nothing.

Note [Slivers].  A device with less than a hundredth of a phase costs a transfer and a wait, and earns a hundredth at most.  After
the search its rows go to the largest shard, of all phases at once or one by one, if the plan is then at most a hundredth longer
than it was found, and no longer than a baseline.  A plan that is proved best keeps what it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from ..problem import DeviceGroup, Problem
from ..timeline.routes import Routes
from ..timeline.timing import Mode, decisions_of
from .budget import FAST
from .heuristics import Candidate, retime
from .strategy import Context, Strategy

MOST_SUBSETS: Final = 3
MOST_WORK: Final = 1024
"""Phases times devices up to which plans on fewer devices are made."""
MOST_SHARED: Final = 16
"""Phases up to which a subset gets the moves of the small effort; of more, so many fewer."""
SLIVER: Final = 100
"""A shard of less than one part in so many of its phase is a sliver."""
NOTHING: Final = "none"
"""The class of devices that run nothing: no table speaks of it."""

WITHOUT: Final = frozenset(
    ("fewer-devices", "slivers", "energetic", "z3", "chunks")
)  # fmt: skip
"""What a plan on fewer devices is made without: what only proves, and what is done with the best of them at the end."""


def subsets(problem: Problem) -> tuple[frozenset[int], ...]:
    """Home's group, and those that a phase cannot do without, with all that are behind links as quick as some link, and with all
    but the slowest of the slowest links; each a part of the next one, and none of them all groups or home alone."""
    starts = _firsts(problem.devices)
    routes, home = Routes(problem), int(problem.home)

    def slowness_of_links(group: int) -> Fraction:
        rates = (problem.links[hop.link].bytes_per_tick for hop in routes.path(home, starts[group]) or ())
        return sum((1 / rate for rate in rates if rate is not None), Fraction(0))

    base = {place for place, group in enumerate(problem.devices) if group.home}
    base |= {_group_at(starts, device) for task in problem.phases if task.together for device, _ in task.together.mode}
    kinds = [group.kind for group in problem.devices]
    needed = {kind for task in problem.phases if len(task.ticks) == 1 for kind in task.ticks}
    base |= {kinds.index(kind) for kind in needed if kinds.count(kind) == 1}
    ranked = sorted(
        (slowness_of_links(place), _slowness(problem, group.kind), place) for place, group in enumerate(problem.devices)
        if place not in base
    )  # fmt: skip
    found: list[frozenset[int]] = []
    for number, (links, speed, _) in enumerate(ranked):
        behind = [one[:2] for one in ranked[number:]]
        if number and ranked[number - 1][:2] != (links, speed) and (ranked[number - 1][0] != links or len(set(behind)) == 1):
            found.append(frozenset(base | {place for _, _, place in ranked[:number]}))
    return tuple(found)


def _firsts(groups: Sequence[DeviceGroup]) -> list[int]:
    """The first device of each group."""
    found, first = [], 0
    for group in groups:
        found.append(first)
        first += group.count
    return found


def _group_at(starts: Sequence[int], device: int) -> int:
    return max(place for place, first in enumerate(starts) if first <= device)


def _slowness(problem: Problem, kind: str) -> int:
    """Ticks of all phases that a class can run, each as a whole; phases that it cannot run count as on the slowest."""
    return sum(
        task.ticks[kind].at(task.units) if kind in task.ticks else max(table.at(task.units) for table in task.ticks.values())
        for task in problem.phases if task.ticks
    )  # fmt: skip


def without_others(problem: Problem, kept: frozenset[int]) -> Problem:
    """The problem of whole shards in which only these groups run anything."""
    groups = tuple(group if place in kept else replace(group, kind=NOTHING) for place, group in enumerate(problem.devices))
    return replace(problem, devices=groups, chunks=1)


def _fewer_devices(context: Context) -> None:
    problem, budget = context.problem, context.budget
    moves = min(budget.moves, FAST.moves) * MOST_SHARED // max(MOST_SHARED, len(problem.phases))
    small = replace(FAST, moves=moves, without=budget.without | WITHOUT)
    for kept in _spread(subsets(problem)):
        answer = None if context.plan_other is None else context.plan_other(without_others(problem, kept), small)
        if answer is not None and answer.schedule is not None:
            context.consider(Candidate("fewer devices", decisions_of(problem, answer.schedule), answer.schedule))


def _spread(found: Sequence[frozenset[int]]) -> Iterator[frozenset[int]]:
    """A few, with the largest."""
    count = min(MOST_SUBSETS, len(found))
    for place in range(count):
        yield found[len(found) - 1 - place * len(found) // count]


FEWER_DEVICES: Final = Strategy(
    "fewer-devices", "plans without the devices behind the slowest links, and without the slowest, as starts of the search",
    _fewer_devices, lambda context: len(context.problem.phases) * len(context.timer.kinds) <= MOST_WORK,
)  # fmt: skip


def _slivers(context: Context) -> None:
    """See Note [Slivers]."""
    found, timer = context.found, context.timer
    if found.schedule is None:
        return
    known = [found.schedule.makespan * (SLIVER + 1) // SLIVER]
    limit = max(found.schedule.makespan, min([*known, *(one.ticks for one in context.compared if one.ticks is not None)]))
    decisions = decisions_of(timer.problem, found.schedule)
    units = [task.units for task in timer.problem.phases]
    small = [p for p, mode in enumerate(decisions.modes) if _without_slivers(mode, units[p]) != mode]
    for phases in (small, *([p] for p in small)):
        modes = tuple(_without_slivers(mode, units[p]) if p in phases else mode for p, mode in enumerate(decisions.modes))
        without = retime(timer, "without slivers", replace(decisions, modes=modes)) if modes != decisions.modes else None
        if without is not None and without.schedule is not None and without.schedule.makespan <= limit:
            found.schedule, decisions = without.schedule, without.decisions


def _without_slivers(mode: Mode, units: int) -> Mode:
    """The same with the rows of devices that have too few where most are."""
    total: dict[int, int] = {}
    for device, rows in mode:
        total[device] = total.get(device, 0) + rows
    kept = [(device, rows) for device, rows in mode if SLIVER * total[device] >= units]
    if not kept or len(kept) == len(mode):
        return mode
    most = max(range(len(kept)), key=lambda place: kept[place][1])
    missing = units - sum(rows for _, rows in kept)
    return tuple((device, rows + missing * (place == most)) for place, (device, rows) in enumerate(kept))


SLIVERS: Final = Strategy(
    "slivers", "shards of less than a hundredth of their phase are left out where they make the plan no hundredth shorter",
    _slivers, lambda context: any(task.rows > SLIVER for task in context.problem.phases),
    of_chunks=True,
)  # fmt: skip
