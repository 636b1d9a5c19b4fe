"""What an answer claims: bounds that arithmetic proves, to the tick, and claims that contradict themselves or the schedule."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from share import seeds

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.problem import (
    Answer,
    BoundCertificate,
    Combine,
    Conflict,
    Deadline,
    DeviceGroup,
    DeviceIndex,
    Directive,
    DistributedMode,
    Edge,
    NoSplit,
    Objective,
    PhaseIndex,
    PhaseTask,
    Problem,
    Schedule,
    Shard,
    SourceLine,
    Status,
)
from rho.backend.schedule.verify.judge import Rule
from rho.backend.schedule.verify.schedule_checks import BoundStatus, bound_status, everything_at_home, verify, verify_schedule
from rho.lang.diagnostics.model import Code

from .drawn import problem_of

CPU = DeviceGroup("c", "cpu", home=True)
TWO = (CPU, DeviceGroup("g", "gpu"))
THREE = (CPU, DeviceGroup("g", "gpu", 2))
MANY = (CPU, DeviceGroup("g", "gpu", 8))
LATENCY, THROUGHPUT = Objective.LATENCY, Objective.THROUGHPUT


def atomic(cpu: int | None, gpu: int | None = None, **more: Any) -> PhaseTask:
    ticks = {kind: Ticks(((1, n),)) for kind, n in (("cpu", cpu), ("gpu", gpu)) if n is not None}
    return PhaseTask("", ticks, **more)


def rows(count: int, cpu: int | None, gpu: int | None = None, **more: Any) -> PhaseTask:
    """So many rows, and the ticks of each."""
    ticks = {kind: Ticks(((count, n * count),)) for kind, n in (("cpu", cpu), ("gpu", gpu)) if n is not None}
    return PhaseTask("", ticks, rows=count, **more)


def problem(devices: tuple[DeviceGroup, ...], phases: list[PhaseTask], *edges: tuple[int, int] | Edge, **more: Any) -> Problem:
    joined = tuple(e if isinstance(e, Edge) else Edge(PhaseIndex(e[0]), PhaseIndex(e[1])) for e in edges)
    named = tuple(replace(phase, id=f"p{place}") for place, phase in enumerate(phases))
    return Problem(devices, (), named, joined, **more)


def after(**more: Any) -> Edge:
    return Edge(PhaseIndex(0), PhaseIndex(1), **more)


class Measured(Ticks):
    """Ticks by rows as they were measured: they may fall."""

    def at(self, rows: int) -> int:
        return dict(self.points)[rows]

    def min_ticks(self, first: int, last: int) -> int:
        return min(self.at(rows) for rows in range(first, last + 1))

    def max_rows_within(self, time: int, rows: int) -> int:
        return max((n for n in range(1, rows + 1) if self.at(n) <= time), default=0)

    def rate(self, rows: int) -> Fraction:
        return min(Fraction(self.at(n), n) for n in range(1, rows + 1))


def measured(*ticks: int, kinds: tuple[str, ...] = ("cpu", "gpu")) -> PhaseTask:
    return PhaseTask("", dict.fromkeys(kinds, Measured(tuple(enumerate(ticks, 1)))), rows=len(ticks))


STEPS = Ticks(((1, 10), (4, 12), (8, 40)))
"""3 ticks a row at 4 rows, and more before and after."""
DEARER = Ticks(((1, 10), (4, 40), (5, 5), (16, 16)))
PROVED: dict[str, tuple[Problem, int]] = {
    "the cheapest class of each": (problem(TWO, [atomic(3, 7), atomic(9, 5)], (0, 1)), 8),
    "an order that is not that of the list": (problem(TWO, [atomic(4, 9), atomic(3, 9)], (1, 0)), 7),
    "the longest of two ways": (problem(MANY, [atomic(1, 1), atomic(5, 5), atomic(2, 2), atomic(1, 1)],
                                        (0, 1), (0, 2), (1, 3), (2, 3)), 7),
    "work shared out": (problem(TWO, [atomic(4, 4)] * 5), 10),
    "work shared out, rounded up": (problem((*TWO, DeviceGroup("h", "gpu")), [atomic(4, 4)] * 5), 7),
    "ready late": (problem(TWO, [atomic(2, 2, ready=6), atomic(1, 1)], (0, 1)), 9),
    "ready after what it reads": (problem(TWO, [atomic(2, 2), atomic(1, 1, ready=6)], (0, 1)), 7),
    "rows shared out": (problem((CPU, DeviceGroup("g", "gpu", 2)), [rows(12, 10, 10)]), 40),
    "rows on devices of unequal speed": (problem(TWO, [rows(9, 10, 5)]), 30),
    "rows that a class cannot run": (problem(MANY, [rows(9, 10)]), 90),
    "a merge": (problem((CPU, DeviceGroup("g", "gpu", 2)), [rows(12, 10, 10, combine=Combine(5, bytes=1))]), 45),
    "a part is read": (problem(TWO, [rows(8, 3), rows(8, None, 3)], (0, 1)), 27),
    "all is read": (problem(TWO, [rows(8, 3), rows(8, None, 3)], after(whole=True)), 48),
    "some rows are read": (problem(TWO, [rows(8, 3), atomic(None, 24)], after(only=(0, 1))), 27),
    "all rows are read": (problem(TWO, [rows(8, 3), atomic(None, 24)], (0, 1)), 48),
    "what is atomic is read": (problem(TWO, [atomic(24), rows(8, None, 3)], (0, 1)), 48),
    "what is combined is read": (problem(TWO, [rows(8, 3, combine=Combine(5)), rows(8, None, 3)], (0, 1)), 53),
    "a part that was late": (problem(TWO, [rows(8, 3, ready=4), rows(8, None, 3)], (0, 1)), 31),
    "the cheapest size": (problem(TWO, [PhaseTask("", {"cpu": STEPS, "gpu": STEPS}, rows=8)] * 3), 36),
    "no cheaper size than there are rows": (problem(TWO, [PhaseTask("", {"cpu": DEARER, "gpu": DEARER}, rows=4)] * 4), 80),
    "ticks that fall": (problem(THREE, [measured(50, 50, 5, 50, 50, 50, 50, 50, 50)]), 5),
    "a step": (problem(TWO, [measured(10, 10, 10, 10, 50, 50, 50, 50)] * 3), 30),
    "a part that is quicker than a row": (problem(TWO, [measured(9, 2, 9, 9, kinds=("cpu",)), rows(4, None, 4)], (0, 1)), 18),
    "throughput": (problem(TWO, [atomic(4, 4), atomic(3, 3)], (0, 1), objectives=(THROUGHPUT, LATENCY)), 4),
    "throughput of five": (problem(TWO, [atomic(4, 4)] * 5, objectives=(THROUGHPUT,)), 10),
    "machines": (problem(TWO, [atomic(4, 4)] * 5, objectives=(Objective.MACHINES,)), 1),
    "no machines": (problem(TWO, [], objectives=(Objective.MACHINES,)), 0),
    "nothing to do": (problem(TWO, []), 0),
    "energy": (problem(TWO, [atomic(4, 4)], objectives=(Objective.ENERGY,)), 0),
    "syncs": (problem(TWO, [atomic(4, 4)], objectives=(Objective.SYNCS,)), 0),
    "no objective is latency": (problem(TWO, [atomic(4, 4)], objectives=()), 4),
}  # fmt: skip


@pytest.mark.parametrize("name", PROVED)
def test_what_paths_and_loads_prove(name: str) -> None:
    what, bound = PROVED[name]
    for claimed, expected in ((bound, BoundStatus.PROVED), (bound + 1, BoundStatus.CLAIMED)):
        answer = Answer(Status.GAP, Schedule((), (), ()), claimed, (claimed,), BoundCertificate("z3", claimed))
        assert bound_status(what, answer) is expected


# -------------------------------------------------------------------------------------- everything at home


def test_everything_runs_at_home_one_after_the_other() -> None:
    devices = (DeviceGroup("g", "gpu", 2), CPU)
    phases = [rows(3, 10, 1, combine=Combine(4, bytes=1)), atomic(5, 1, ready=2), atomic(7, 1, ready=60)]
    found = everything_at_home(problem(devices, phases, (1, 0), (0, 2)))
    assert found is not None
    home = DeviceIndex(2)
    assert found.shards == (
        Shard(PhaseIndex(1), home, 0, 1, 2, 7), Shard(PhaseIndex(0), home, 0, 3, 7, 37), Shard(PhaseIndex(2), home, 0, 1, 60, 67),
    )  # fmt: skip
    assert [(step.start, step.end) for step in found.combines] == [(37, 41)] and found.transfers == ()
    assert everything_at_home(problem(TWO, [atomic(1), atomic(None, 1)])) is None
    both = DistributedMode(((DeviceIndex(0), 1), (DeviceIndex(1), 1)), (0, 0))
    assert everything_at_home(problem(TWO, [rows(2, 1, 1, distributed=both)])) is None


def test_what_runs_at_home_is_right() -> None:
    for seed in seeds(100, 20010084):  # effects in another order than edges alone give
        drawn = problem_of(Random(seed))
        free = replace(drawn, devices=tuple(replace(group, memory=None) for group in drawn.devices))
        found = everything_at_home(free)
        assert found is not None and verify_schedule(free, found) == (), seed


# ---------------------------------------------------------------------------------------------- claims

DEADLINE = Deadline(SourceLine(1, "deadline"), 100)
CHAIN = problem(TWO, [atomic(4, 4), atomic(3, 3)], (0, 1), directives=(DEADLINE,))
AT_HOME = everything_at_home(CHAIN)
GAP = Answer(Status.GAP, AT_HOME, 5, (7,), BoundCertificate("bound", 5))
OPTIMAL = Answer(Status.OPTIMAL, AT_HOME, 7, (7,), BoundCertificate("bound", 7))
EARLY = replace(CHAIN, directives=(Deadline(DEADLINE.line, 6),))


def against(*directives: Directive, phase: int | None = None) -> Conflict:
    return Conflict(Code.SCH103, directives, (), phase=None if phase is None else PhaseIndex(phase))


NEVER = Answer(Status.IMPOSSIBLE, None, 0, (), BoundCertificate("none", 0), conflict=against(*EARLY.directives))
WRONG: dict[str, tuple[Problem, Answer]] = {
    "no such method": (CHAIN, replace(GAP, proof=BoundCertificate("oracle", 5))),
    "a bound below nothing": (CHAIN, replace(GAP, lower_bound=-1, proof=BoundCertificate("bound", -1))),
    "a proof of more": (CHAIN, replace(GAP, proof=BoundCertificate("bound", 6))),
    "a proof of less": (CHAIN, replace(GAP, proof=BoundCertificate("bound", 4))),
    "a bound by no method": (CHAIN, replace(GAP, proof=BoundCertificate("none", 5))),
    "a bound of one by no method": (CHAIN, replace(GAP, lower_bound=1, proof=BoundCertificate("none", 1))),
    "a bound above the value": (EARLY, replace(GAP, lower_bound=8, proof=BoundCertificate("z3", 8))),
    "optimal above its bound": (CHAIN, replace(GAP, status=Status.OPTIMAL)),
    "a bound that home refutes": (CHAIN, replace(GAP, schedule=None, status=Status.ABORTED, values=(), lower_bound=8,
                                                 proof=BoundCertificate("z3", 8))),
    "a conflict of what is possible": (CHAIN, replace(GAP, conflict=against(DEADLINE))),
    "values without a schedule": (CHAIN, replace(GAP, status=Status.ABORTED, schedule=None)),
    "impossible, and it runs at home": (CHAIN, replace(NEVER, conflict=against(DEADLINE))),
    "impossible with a schedule": (EARLY, replace(NEVER, schedule=AT_HOME)),
    "impossible for no reason": (EARLY, replace(NEVER, conflict=None)),
    "a conflict with what nobody said": (EARLY, replace(NEVER, conflict=against(NoSplit(DEADLINE.line, PhaseIndex(0))))),
    "a conflict with one said and one not": (EARLY, replace(NEVER, conflict=against(*EARLY.directives, DEADLINE))),
    "a conflict with one twice": (EARLY, replace(NEVER, conflict=against(*EARLY.directives * 2))),
    "a conflict of a phase before the first": (EARLY, replace(NEVER, conflict=against(*EARLY.directives, phase=-1))),
    "a conflict of a phase after the last": (EARLY, replace(NEVER, conflict=against(*EARLY.directives, phase=2))),
}  # fmt: skip
RIGHT: dict[str, tuple[Problem, Answer]] = {
    "a gap": (CHAIN, GAP),
    "a gap that is closed": (CHAIN, replace(OPTIMAL, status=Status.GAP)),
    "optimal": (CHAIN, OPTIMAL),
    "no bound by no method": (CHAIN, replace(GAP, lower_bound=0, proof=BoundCertificate("none", 0))),
    "no bound by a method": (CHAIN, replace(GAP, lower_bound=0, proof=BoundCertificate("bound", 0))),
    "given up with nothing": (CHAIN, replace(GAP, status=Status.ABORTED, schedule=None, values=())),
    "given up with as much as home has": (CHAIN, Answer(Status.ABORTED, None, 7, (), BoundCertificate("z3", 7))),
    "impossible": (EARLY, NEVER),
    "impossible beside a bound": (EARLY, replace(NEVER, lower_bound=3, proof=BoundCertificate("none", 3))),
    "impossible for the first phase": (EARLY, replace(NEVER, conflict=against(phase=0))),
    "impossible for the last phase": (EARLY, replace(NEVER, conflict=against(phase=1))),
    "a bound that home would refute, were it allowed": (EARLY, Answer(Status.ABORTED, None, 8, (), BoundCertificate("z3", 8))),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_claims_that_are_refused(name: str) -> None:
    asked, answer = WRONG[name]
    assert Rule.V10 in {violation.code for violation in verify(asked, answer)}


@pytest.mark.parametrize("name", RIGHT)
def test_claims_that_stand(name: str) -> None:
    asked, answer = RIGHT[name]
    assert verify(asked, answer) == ()


@pytest.mark.parametrize("status", [Status.OPTIMAL, Status.GAP])
def test_an_answer_without_a_schedule_is_no_answer(status: Status) -> None:
    assert [v.code for v in verify(CHAIN, Answer(status, None, 0, (), BoundCertificate("none", 0)))] == [Rule.V1]
