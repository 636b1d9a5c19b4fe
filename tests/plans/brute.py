"""The best of all splits, tried one by one, with the judge's prices: what no bound may exceed, and what `optimal` has to be.

For programs of one phase that can be cut.  Without links every split of the rows over up to three devices is tried; with links,
all ways to cut a few rows and all orders of the steps, by the oracle of tests/schedule.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations

import numpy as np

from rho.backend.devices.cost_functions import Ticks
from rho.backend.graph.phases import Constant, Input, Output, Print
from rho.backend.schedule.problem import Problem
from rho.backend.schedule.program.distributed_loop import ProgramProblem
from rho.backend.schedule.program_facts.partitioning import box_of, space_of
from rho.tests.schedule.oracle import shortest

from .planning import Case
from .prices import Prices

MOST_MODES = 400
"""Ways to cut a phase that the oracle is asked about."""


class Listed(Ticks):
    """The judge's ticks for every number of rows."""

    __slots__ = ("listed",)

    def __init__(self, listed: tuple[int, ...]) -> None:
        object.__setattr__(self, "listed", listed)
        object.__setattr__(self, "points", tuple(enumerate(listed, 1)))

    def at(self, rows: int) -> int:
        return self.listed[rows - 1]  # type: ignore[no-any-return]


def cut_place(case: Case) -> int | None:
    """The one phase that is cut into rows; None where there are more, or partial results to combine."""
    program = case.planned.program
    found = [
        place for place, phase in enumerate(program.phases)
        if not isinstance(phase, Input | Constant | Print | Output) and program.cuts.cut_of[place] is not None
    ]  # fmt: skip
    others = [phase for phase in program.phases if not isinstance(phase, Input | Constant | Print | Output)]
    if len(found) != 1 or len(others) != 1 or program.problem.phases[found[0]].combine is not None:
        return None
    return found[0]


def ticks_of(case: Case, prices: Prices, place: int, device: str) -> tuple[int, ...]:
    """By the judge, of 1 to all rows."""
    program = case.planned.program
    phase, cut = program.phases[place], program.cuts.cut_of[place]
    space = space_of(phase, program.bound.graph.types)
    assert cut is not None and space is not None
    found = [prices.shard(phase, device, box_of(cut, space, 0, rows)) for rows in range(1, cut.rows + 1)]
    return tuple(ticks for ticks in found if ticks is not None)


def best_split(case: Case) -> int | None:
    """The least makespan of all splits without links; None where this is no such program."""
    place = cut_place(case)
    names = [device["id"] for device in case.plan["devices"]]
    if place is None or case.profile.get("link") or len(names) > 3:
        return None
    prices, home = Prices(case.graph, case.profile, case.plan["tick_ns"]), case.plan["home"]
    after = sum(prices.shard(phase, home, None) or 0 for phase in case.graph.phases if isinstance(phase, Print | Output))
    ends = []
    for name in names:
        ticks = np.array(ticks_of(case, prices, place, name), np.int64)
        away = 0 if name == home else prices.sync(name) + prices.sync(home)
        ends.append(np.concatenate([[0], ticks + away]))
    rows = len(ends[0]) - 1
    ends += [np.concatenate([[0], np.full(rows, 1 << 60)])] * (3 - len(ends))
    best = 1 << 60
    for first in range(rows + 1):
        left = rows - first
        rest = np.maximum(ends[1][: left + 1], ends[2][: left + 1][::-1])
        best = min(best, max(int(ends[0][first]), int(rest.min())))
    return best + after


def best_order(case: Case) -> int | None:
    """The least makespan over all cuts and orders, links included; None where it would take too long."""
    place = cut_place(case)
    if place is None:
        return None
    program: ProgramProblem = case.planned.program
    problem, prices = program.problem, Prices(case.graph, case.profile, case.plan["tick_ns"])
    phases = list(problem.phases)
    task = phases[place]
    tables: dict[str, Ticks] = {}
    for group in problem.devices:
        if group.kind in task.ticks:
            tables[group.kind] = Listed(ticks_of(case, prices, place, next(iter(group.names()))))
    modes = list(every_mode(len(problem.device_names()), task.rows))
    if len(modes) > MOST_MODES:
        return None
    phases[place] = _with(task, tables)
    home = int(problem.home)
    choices = [[((home, max(1, other.rows)),)] for other in problem.phases]
    choices[place] = modes
    changed = Problem(
        problem.devices, problem.links, tuple(phases), problem.edges, tick_ns=problem.tick_ns, memory_grain=problem.memory_grain
    )
    return shortest(changed, choices)


def _with(task: object, tables: dict[str, Ticks]) -> object:
    from dataclasses import replace

    return replace(task, ticks=tables)  # type: ignore[type-var]


def every_mode(devices: int, rows: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Every way to give consecutive rows to some devices."""
    for count in range(1, min(devices, rows) + 1):
        for chosen in permutations(range(devices), count):
            for ends in combinations(range(1, rows), count - 1):
                yield tuple((d, b - a) for d, a, b in zip(chosen, (0, *ends), (*ends, rows), strict=True))
