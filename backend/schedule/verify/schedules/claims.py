"""V10: what an answer claims of plans that it does not show, as far as arithmetic on one page can tell.

A claim that contradicts itself or the schedule is refused, and so is one that a schedule refutes which anybody can write
down: everything on home, one phase after the other.  What is left may still be false: a bound is `PROVED` here only if the
longest path and the work shared out evenly come to it.  Any other is `CLAIMED`, whatever the answer calls its method; to
believe it, it has to be derived again (`exact.reprove`, `rho plan --check --prove`).

`ADVISORY` names the fields that speak of other plans, of other problems or of how a proof was come by: nothing is concluded
from them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from fractions import Fraction
from math import ceil
from typing import Final, assert_never

from ...answer import Answer, CombineStep, Schedule, Shard, Status
from ...problem import DeviceIndex, Edge, Objective, PhaseIndex, Problem
from ...synchronisation import Synchronisation
from ..violation import Rule, Violation
from .clock import value_of
from .facts import Facts

METHODS: Final = ("none", "bound", "certificate", "z3")
ADVISORY: Final = (
    "Answer.baselines", "Baseline.name", "Baseline.ticks", "Answer.speculated", "Answer.failures", "Proof.method", "Proof.detail",
    "Conflict.facts", "Conflict.hint", "Conflict.phase", "Queue.name", "Schedule.decisions", "Decisions.modes",
    "Decisions.priority", "Decisions.queueing", "Decisions.sending",
)  # fmt: skip
"""Fields from which nothing is concluded, here or elsewhere (of queues, the names of those that copy; of schedules, how they were
come by)."""


class Standing(Enum):
    """How far an answer's lower bound is to be believed."""

    PROVED = "proved by paths and loads"
    CLAIMED = "claimed, and to be proved again"


def claimed(problem: Problem, answer: Answer, judge: Callable[[Problem, Schedule], Sequence[Violation]]) -> Iterator[Violation]:
    """Claims that are false in themselves, or that everything at home refutes, if `judge` finds nothing wrong with that."""
    bound, status = answer.lower_bound, answer.status
    if answer.proof.method not in METHODS:
        yield Violation(Rule.V10, f"`{answer.proof.method}` is not a method of proof")
    if bound < 0 or answer.proof.lower_bound != bound:
        yield Violation(Rule.V10, f"a lower bound of {bound}, of which the proof says {answer.proof.lower_bound}")
    if bound > 0 and answer.proof.method == "none" and status is not Status.IMPOSSIBLE:
        yield Violation(Rule.V10, f"a lower bound of {bound} by no method")
    runs = Counter((s.phase, s.device) for s in answer.schedule.shards) if answer.schedule is not None else Counter()
    most = max(runs.values(), default=0)  # more than the problem allows is V1's
    if not 1 <= answer.chunks <= problem.chunks or answer.chunks < most <= problem.chunks:
        yield Violation(Rule.V10, f"of at most {answer.chunks} chunks a device, and has {most}; {problem.chunks} are allowed")
    if (status is Status.IMPOSSIBLE) != (answer.conflict is not None):
        yield Violation(Rule.V10, f"called {status.value} with{'out' if answer.conflict is None else ''} a conflict")
    if answer.conflict is not None:
        unknown = [one for one in answer.conflict.directives if one not in problem.directives]
        if unknown or len(set(answer.conflict.directives)) < len(answer.conflict.directives):
            yield Violation(Rule.V10, "the conflict is of directives that were not given (V8), or of one twice")
        if answer.conflict.phase is not None and not 0 <= answer.conflict.phase < len(problem.phases):
            yield Violation(Rule.V10, f"the conflict is about phase {answer.conflict.phase}, which is not there")
    if status is Status.IMPOSSIBLE and answer.schedule is not None:
        yield Violation(Rule.V10, f"called impossible with a schedule of {answer.schedule.makespan} ticks")
    if answer.schedule is None and answer.values:
        yield Violation(Rule.V10, f"{len(answer.values)} values without a schedule")
    if answer.values:
        value = answer.values[0]
        if bound > value:
            yield Violation(Rule.V10, f"a lower bound of {bound} for a value of {value}")
        elif status is Status.OPTIMAL and bound < value:
            yield Violation(Rule.V10, f"called optimal with a bound of {bound} for a value of {value}")
    at_home = everything_at_home(problem)
    if at_home is None or judge(problem, at_home):
        return
    if status is Status.IMPOSSIBLE:
        yield Violation(Rule.V10, f"called impossible, and everything runs at home in {at_home.makespan} ticks")
    worth = value_of(Facts(problem, at_home), _first(problem), Synchronisation((), (), ()))
    if worth is not None and bound > worth:
        yield Violation(Rule.V10, f"a lower bound of {bound}, and everything at home has {worth}")


def standing(problem: Problem, answer: Answer) -> Standing:
    """Of an answer in which nothing was found wrong."""
    return Standing.PROVED if answer.lower_bound <= least(replace(problem, chunks=answer.chunks)) else Standing.CLAIMED


def least(problem: Problem) -> int:
    """A bound of the first objective: the longest path of least times, and the least work shared out over all devices."""
    match _first(problem):
        case Objective.LATENCY:
            return max(_path(problem), ceil(_work(problem) / _count(problem)))
        case Objective.THROUGHPUT:
            return ceil(_work(problem) / (_count(problem) * problem.executions))
        case Objective.MACHINES:
            return min(1, len(problem.phases))
        case Objective.ENERGY | Objective.SYNCS:
            return 0
        case _ as never:
            assert_never(never)


def _first(problem: Problem) -> Objective:
    return problem.objectives[0] if problem.objectives else Objective.LATENCY


def _count(problem: Problem) -> int:
    return sum(group.count for group in problem.devices)


def _work(problem: Problem) -> Fraction:
    """Ticks of devices that all phases take at least: as often as it has rows, the cheapest row of the cheapest class."""
    total = Fraction(0)
    for phase in problem.phases:
        total += min((table.rate(phase.units) for table in phase.ticks.values()), default=Fraction(0)) * phase.units
    return total


def _path(problem: Problem) -> int:
    """When the last phase is done at the earliest.  What reads a part of an output may start when the quickest part is there."""
    reads: dict[int, list[Edge]] = defaultdict(list)
    for edge in problem.edges:
        reads[edge.target].append(edge)
    parts: dict[int, int] = {}
    ends: dict[int, int] = {}
    for place in _in_order(problem):
        phase = problem.phases[place]
        begins = phase.ready
        for edge in reads[place]:
            source = problem.phases[edge.source]
            in_part = source.rows > 0 and not source.is_gathered and not edge.whole and (phase.rows > 0 or edge.only is not None)
            begins = max(begins, (parts if in_part else ends)[edge.source])
        tables = [(phase.ticks[group.kind], group.count) for group in problem.devices if group.kind in phase.ticks]
        merging = 0 if phase.combine is None else phase.combine.ticks_per_shard
        parts[place] = begins + min((table.least(1, phase.units) for table, _ in tables), default=0)
        ends[place] = begins + _quickest(problem, place) + merging
    return max(ends.values(), default=0)


def _quickest(problem: Problem, place: int) -> int:
    """The fewest ticks by which the rows that each device can have done are all the rows."""
    phase = problem.phases[place]
    tables = [(phase.ticks[group.kind], group.count) for group in problem.devices if group.kind in phase.ticks]
    if not tables:
        return 0
    rates = [(table.rate(phase.units), count) for table, count in tables]
    if phase.rows and problem.chunks > 1:  # each row by itself, if need be
        return 0 if not all(rate for rate, _ in rates) else ceil(phase.units / sum(count / rate for rate, count in rates))
    low, high = 0, min(table.at(phase.units) for table, _ in tables)
    while low < high:
        ticks = (low + high) // 2
        rows = sum(count * table.most(ticks, phase.units) for table, count in tables)
        low, high = (low, ticks) if rows >= phase.units else (ticks + 1, high)
    return low


def _in_order(problem: Problem) -> list[int]:
    """The phases, each after what it reads."""
    after: dict[int, list[int]] = defaultdict(list)
    waiting = [0] * len(problem.phases)
    for edge in problem.edges:
        after[edge.source].append(edge.target)
        waiting[edge.target] += 1
    order = [place for place, count in enumerate(waiting) if count == 0]
    for place in order:
        for other in after[place]:
            waiting[other] -= 1
            if waiting[other] == 0:
                order.append(other)
    return order


def everything_at_home(problem: Problem) -> Schedule | None:
    """Every phase whole on the home device, one after the other; None if one has no ticks there."""
    home = next(place for place, group in enumerate(problem.devices) if group.home)
    kind, device = problem.devices[home].kind, DeviceIndex(sum(group.count for group in problem.devices[:home]))
    shards, combines, now = [], [], 0
    for place in map(PhaseIndex, _in_order(problem)):
        phase = problem.phases[place]
        if kind not in phase.ticks or phase.together is not None:
            return None
        start = max(now, phase.ready)
        now = start + phase.ticks[kind].at(phase.units)
        shards.append(Shard(place, device, 0, phase.units, start, now))
        if phase.combine is not None:
            combines.append(CombineStep(place, now, now + phase.combine.ticks_per_shard))
            now += phase.combine.ticks_per_shard
    return Schedule(tuple(shards), tuple(combines), ())
