"""Verifies the answer to a scheduling problem: the rules V1 to V10.

It shares no code with the planners: of the scheduler it imports only data (`problem`), and computes again what their
notes define (`JudgeIndex`).  V1, V3, V6 and V8 are in `placement_checks`; queues (V2), timing (V9) and claims (V10) are here;
residency, exclusion and memory are checked by `judge` on the execution that `ScheduleTranslation` makes of a schedule.

Every field of an answer is checked against the schedule, except those in `ADVISORY`.  A schedule cannot show that no plan is
better: `bound_status` says whether its bound is proved here or only claimed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from enum import Enum
from fractions import Fraction
from itertools import compress, pairwise
from math import ceil
from typing import Final, assert_never

from ....lang.support.records import dataclass, replace
from ..problem import (
    Answer,
    Before,
    DeviceIndex,
    Edge,
    Keep,
    Objective,
    PhaseIndex,
    Problem,
    QueueKind,
    Replicate,
    Schedule,
    ScheduledCombine,
    ScheduledStep,
    Shard,
    Status,
    Synchronisation,
    Transfer,
)
from .judge import (
    Box,
    Coverage,
    Execution,
    ReadFault,
    ResidentPiece,
    Rule,
    Task,
    TaskRead,
    Violation,
    blocking_waits,
    collisions,
    is_covered,
    peaks,
    redundant_waits,
    unordered_tasks,
    unresident_reads,
)
from .placement_checks import (
    JudgeIndex,
    check_directives,
    check_distributed_modes,
    check_phases_once,
    check_row_coverage,
    check_transfers,
)

# ---------------------------------------------------------------------------------------------------- timing
#
# V9: every tick is computed again from the tables, every objective value from the schedule.

def check_step_timing(facts: JudgeIndex) -> Iterator[Violation]:
    """V9 of the steps: their ticks follow from the tables."""
    for shard in facts.schedule.shards:
        task = facts.problem.phases[shard.phase]
        ticks = facts.ticks(shard.phase, shard.device, shard.stop - shard.first if task.rows else 1)
        if ticks is not None and shard.end - shard.start != ticks:
            took = shard.end - shard.start
            yield Violation(Rule.V9, f"`{task.id}` on {facts.names[shard.device]} takes {ticks} ticks, not {took}")
        if shard.start < max(0, task.ready):
            yield Violation(Rule.V9, f"`{task.id}` starts at {shard.start}, before it is ready at {task.ready}")
    for phase, task in enumerate(facts.problem.phases):
        if task.distributed is not None:
            starts = {shard.start for shard in facts.shards[phase]}
            if len(starts) > 1:
                yield Violation(Rule.V9, f"`{task.id}` starts at {min(starts)} here and at {max(starts)} there, not together")
    for moved in facts.schedule.transfers:
        if moved.link is None:
            busy = moved.start
            delays = {edge.ticks or 0 for edge in facts.outgoing[moved.phase] if facts.has_fixed_delay(edge)} or {0}
            arrives = {busy + delay for delay in (delays | {0} if moved.partial or moved.phase in facts.wanted else delays)}
        elif 0 <= moved.link < len(facts.problem.links):
            link = facts.problem.links[moved.link]
            busy = moved.start + link.occupied(moved.bytes, None if moved.partial else facts.problem.phases[moved.phase])
            arrives = {busy + link.latency}
        else:
            continue
        if moved.busy != busy or moved.arrive not in arrives:
            said = f"busy until {moved.busy} and there at {moved.arrive}"
            yield Violation(Rule.V9, f"`{facts.id(moved.phase)}` sent at {moved.start}: {said}, not {busy} and {max(arrives)}")
    for step in facts.schedule.combines:
        yield from _check_combine_timing(facts, step.phase, step.start, step.end)


def _check_combine_timing(facts: JudgeIndex, phase: int, start: int, end: int) -> Iterator[Violation]:
    combine = facts.problem.phases[phase].combine
    if combine is None:
        return
    there = [shard.end for shard in facts.shards[phase] if shard.device == facts.home]
    partials = [t for t in facts.schedule.transfers if t.partial and t.phase == phase and t.target == facts.home]
    there += [moved.arrive + facts.sync[facts.home] for moved in partials]
    if not there:
        return
    earliest, done = max(there), start + combine.ticks_per_shard * len(there)
    if start < earliest or end != done:
        said = f"starts at {start} and ends at {end}"
        yield Violation(Rule.V9, f"the combine of `{facts.id(phase)}` {said}; it can start at {earliest}, and then end at {done}")


def check_objective_values(facts: JudgeIndex, answer: Answer, sync: Synchronisation | None) -> Iterator[Violation]:
    """V9 of the objectives: each value is computed from the schedule (syncs from its queues) and compared."""
    objectives = facts.problem.objectives or (Objective.LATENCY,)
    if len(answer.values) != len(objectives):
        names = ", ".join(objective.value for objective in objectives)
        yield Violation(Rule.V9, f"{len(answer.values)} values for {len(objectives)} objectives: {names}")
    for objective, value in zip(objectives, answer.values, strict=False):
        measured = objective_value(facts, objective, sync)
        if measured is None:
            yield Violation(Rule.V9, f"{value} {objective.value}: without queues there is nothing that shows how many there are")
        elif measured != value:
            yield Violation(Rule.V9, f"{objective.value} is {measured}, not {value}")


def objective_value(facts: JudgeIndex, objective: Objective, sync: Synchronisation | None) -> int | None:
    """The value of an objective; None: syncs of a schedule whose queues are not given."""
    match objective:
        case Objective.LATENCY:
            return _makespan(facts)
        case Objective.THROUGHPUT:
            return _busiest(facts)
        case Objective.ENERGY:
            return _millijoules(facts)
        case Objective.MACHINES:
            return len({shard.device for shard in facts.schedule.shards})
        case Objective.SYNCS:
            if sync is None:
                return None
            return sum(sync.queues[wait.queue].kind is QueueKind.COMPUTE for wait in sync.waits)
        case _:
            assert_never(objective)


def _busiest(facts: JudgeIndex) -> int:
    """The ticks in which the busiest device or channel works: a lower bound of the initiation interval of repeated executions."""
    schedule = facts.schedule
    busy: dict[object, int] = defaultdict(int)
    for shard in schedule.shards:
        busy[shard.device] += shard.end - shard.start
        distributed = facts.problem.phases[shard.phase].distributed
        if distributed is not None and shard.first == 0:
            for device in facts.reserved_channels(shard, distributed):
                busy[device] += shard.end - shard.start
    for step in schedule.combines:
        busy[facts.home] += step.end - step.start
    for moved in schedule.transfers:
        if (channel := facts.channel(moved)) is not None:
            busy[channel] += moved.busy - moved.start
    return max(busy.values(), default=0)


def _millijoules(facts: JudgeIndex) -> int:
    """Energy in millijoules, rounded up: idle power of powered devices over the makespan, additional power of work, and bytes on
    links."""
    schedule, problem = facts.schedule, facts.problem
    steps = [(int(shard.device), shard.end - shard.start) for shard in schedule.shards]
    steps += [(facts.home, step.end - step.start) for step in schedule.combines]
    ends = {int(end) for moved in schedule.transfers for end in (moved.source, moved.target)}
    used = {device for device, _ in steps} | ends | {facts.home}
    picojoules = Fraction(0)
    for device, index in enumerate(facts.group):
        group = problem.devices[index]
        if device in used or not problem.power_off_unused:
            picojoules += group.idle_mw * _makespan(facts) * problem.tick_ns
    for device, ticks in steps:
        group = problem.devices[facts.group[device]]
        picojoules += (group.active_mw - group.idle_mw) * ticks * problem.tick_ns
    for moved in schedule.transfers:
        if moved.link is not None:
            picojoules += 1000 * problem.links[moved.link].nj_per_byte * moved.bytes
    picojoules += sum(task.distributed.picojoules for task in problem.phases if task.distributed is not None)
    return ceil(picojoules / 10**9)


def _makespan(facts: JudgeIndex) -> int:
    schedule = facts.schedule
    ends = [shard.end for shard in schedule.shards] + [step.end for step in schedule.combines]
    return max(ends + [moved.arrive for moved in schedule.transfers], default=0)


# ---------------------------------------------------------------------------------------------------- claimed bounds
#
# V10: what an answer claims about plans that it does not contain, as far as elementary bounds can tell.
#
# A claim that contradicts itself or the schedule is refused, and so is one that the trivial schedule refutes: everything on home,
# one phase after the other.  A remaining claim may still be false: a bound is `PROVED` here only if the critical path or the work
# divided evenly reaches it.  Any other is `CLAIMED`, whatever method the answer names; it is confirmed by deriving it again
# (`bound_is_reproved`, `rho plan --check --prove`).
#
# `ADVISORY` names the fields about other plans, other problems or the origin of a proof: nothing is concluded from them.

METHODS: Final = ("none", "bound", "certificate", "z3")
ADVISORY: Final = (
    "Answer.baselines", "Baseline.name", "Baseline.ticks", "Answer.speculated", "Answer.failures", "BoundCertificate.method",
    "BoundCertificate.detail",
    "Answer.every_axis",
    "Conflict.facts", "Conflict.hint", "Conflict.phase", "ScheduledQueue.name", "Schedule.decisions", "Decisions.modes",
    "Decisions.priority", "Decisions.queueing", "Decisions.sending",
)  # fmt: skip
"""Fields from which nothing is concluded, here or elsewhere (the names of copy queues; the decisions of a schedule)."""


class BoundStatus(Enum):
    """What is known about an answer's lower bound."""

    PROVED = "proved by paths and loads"
    CLAIMED = "claimed, and to be proved again"


def check_claims(
    problem: Problem, answer: Answer, judge: Callable[[Problem, Schedule], Sequence[Violation]]
) -> Iterator[Violation]:
    """Claims that contradict themselves, or that running everything at home refutes, if `judge` accepts that schedule."""
    bound, status = answer.lower_bound, answer.status
    if answer.proof.method not in METHODS:
        yield Violation(Rule.V10, f"`{answer.proof.method}` is not a method of proof")
    if bound < 0 or answer.proof.lower_bound != bound:
        yield Violation(Rule.V10, f"a lower bound of {bound}, of which the proof says {answer.proof.lower_bound}")
    if bound > 0 and answer.proof.method == "none" and status is not Status.IMPOSSIBLE:
        yield Violation(Rule.V10, f"a lower bound of {bound} by no method")
    runs = Counter((s.phase, s.device) for s in answer.schedule.shards) if answer.schedule is not None else Counter()
    most = max(runs.values(), default=0)  # V1 reports chunks beyond the problem's limit
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
    worth = objective_value(JudgeIndex(problem, at_home), _first_objective(problem), Synchronisation((), (), ()))
    if worth is not None and bound > worth:
        yield Violation(Rule.V10, f"a lower bound of {bound}, and everything at home has {worth}")


def bound_status(problem: Problem, answer: Answer) -> BoundStatus:
    """The status of the bound of an answer that has passed all other checks."""
    if answer.every_axis and problem.axes is not None and not problem.axes.is_single:
        return BoundStatus.CLAIMED
    least = elementary_lower_bound(replace(problem.along(answer.axes or problem.chosen), chunks=answer.chunks))
    return BoundStatus.PROVED if answer.lower_bound <= least else BoundStatus.CLAIMED


def elementary_lower_bound(problem: Problem) -> int:
    """A bound of the first objective: the longest path of least times, and the least work divided over all devices."""
    match _first_objective(problem):
        case Objective.LATENCY:
            return max(_critical_path(problem), ceil(_least_work(problem) / _device_count(problem)))
        case Objective.THROUGHPUT:
            return ceil(_least_work(problem) / _device_count(problem))
        case Objective.MACHINES:
            return min(1, len(problem.phases))
        case Objective.ENERGY | Objective.SYNCS:
            return 0
        case _ as never:
            assert_never(never)


def _first_objective(problem: Problem) -> Objective:
    return problem.objectives[0] if problem.objectives else Objective.LATENCY


def _device_count(problem: Problem) -> int:
    return sum(group.count for group in problem.devices)


def _least_work(problem: Problem) -> Fraction:
    """A lower bound of the device ticks of all phases: rows times the ticks of the cheapest row on the cheapest class."""
    total = Fraction(0)
    for phase in problem.phases:
        total += min((table.rate(phase.units) for table in phase.ticks.values()), default=Fraction(0)) * phase.units
    return total


def _critical_path(problem: Problem) -> int:
    """The earliest end of the last phase.  A phase that reads part of an output may start when the part that is ready first
    is."""
    reads: dict[int, list[Edge]] = defaultdict(list)
    for edge in problem.edges:
        reads[edge.target].append(edge)
    parts: dict[int, int] = {}
    ends: dict[int, int] = {}
    for p in _topological_order(problem):
        phase = problem.phases[p]
        begins = phase.ready
        for edge in reads[p]:
            source = problem.phases[edge.source]
            in_part = source.rows > 0 and not source.is_gathered and not edge.whole and (phase.rows > 0 or edge.only is not None)
            begins = max(begins, (parts if in_part else ends)[edge.source])
        tables = [(phase.ticks[group.kind], group.count) for group in problem.devices if group.kind in phase.ticks]
        merging = 0 if phase.combine is None else phase.combine.ticks_per_shard
        parts[p] = begins + min((table.min_ticks(1, phase.units) for table, _ in tables), default=0)
        ends[p] = begins + _least_ticks(problem, p) + merging
    return max(ends.values(), default=0)


def _least_ticks(problem: Problem, p: int) -> int:
    """The fewest ticks in which the devices together can run all rows of a phase."""
    phase = problem.phases[p]
    tables = [(phase.ticks[group.kind], group.count) for group in problem.devices if group.kind in phase.ticks]
    if not tables:
        return 0
    rates = [(table.rate(phase.units), count) for table, count in tables]
    if phase.rows and problem.chunks > 1:  # possibly each row in a shard by itself
        return 0 if not all(rate for rate, _ in rates) else ceil(phase.units / sum(count / rate for rate, count in rates))
    low, high = 0, min(table.at(phase.units) for table, _ in tables)
    while low < high:
        ticks = (low + high) // 2
        rows = sum(count * table.max_rows_within(ticks, phase.units) for table, count in tables)
        low, high = (low, ticks) if rows >= phase.units else (ticks + 1, high)
    return low


def _topological_order(problem: Problem) -> list[int]:
    """The phases in a topological order of edges and of the order of effects."""
    after: dict[int, list[int]] = defaultdict(list)
    waiting = [0] * len(problem.phases)
    effects = [p for p, phase in enumerate(problem.phases) if phase.effect]
    for source, target in (*((int(edge.source), int(edge.target)) for edge in problem.edges), *pairwise(effects)):
        after[source].append(target)
        waiting[target] += 1
    order = [p for p, count in enumerate(waiting) if count == 0]
    for p in order:
        for other in after[p]:
            waiting[other] -= 1
            if waiting[other] == 0:
                order.append(other)
    return order


def everything_at_home(problem: Problem) -> Schedule | None:
    """The schedule that runs every phase undivided on home, one after the other; None if one has no ticks there, or edges and the
    order of effects form a cycle."""
    home = next(index for index, group in enumerate(problem.devices) if group.home)
    kind, device = problem.devices[home].kind, DeviceIndex(sum(group.count for group in problem.devices[:home]))
    shards, combines, now = [], [], 0
    order = _topological_order(problem)
    if len(order) < len(problem.phases):
        return None
    for p in map(PhaseIndex, order):
        phase = problem.phases[p]
        if kind not in phase.ticks or phase.distributed is not None:
            return None
        start = max(now, phase.ready)
        now = start + phase.ticks[kind].at(phase.units)
        shards.append(Shard(p, device, 0, phase.units, start, now))
        if phase.combine is not None:
            combines.append(ScheduledCombine(p, now, now + phase.combine.ticks_per_shard))
            now += phase.combine.ticks_per_shard
    return Schedule(tuple(shards), tuple(combines), ())


# ---------------------------------------------------------------------------------------------------- queues
#
# V2 of the queues themselves: each step is in its queue once, in the order of time, and fences and waits name existing positions.

def check_queues(facts: JudgeIndex, sync: Synchronisation) -> Iterator[Violation]:
    """V2: the queues, fences and waits are well formed; the other checks of order require it."""
    wrong = tuple(_check_steps_of_queues(facts, sync))
    yield from wrong or _check_fences(facts, sync)


def _check_fences(facts: JudgeIndex, sync: Synchronisation) -> Iterator[Violation]:
    there = {(q, p) for q, queue in enumerate(sync.queues) for p in range(len(queue.steps))}
    for wait in sync.waits:
        if (wait.queue, wait.position) not in there or not 0 <= wait.fence < len(sync.fences):
            yield Violation(Rule.V2, f"a wait before step {wait.position} of queue {wait.queue} is nowhere")
    if len(set(sync.waits)) < len(sync.waits):
        yield Violation(Rule.V2, "a wait is stated twice")
    for index, fence in enumerate(sync.fences):
        if not there.issuperset(fence.after):
            yield Violation(Rule.V2, f"fence f{fence.id} is nowhere")
        elif fence.id != index or not fence.after or len({q for q, _ in fence.after}) < len(fence.after):
            yield Violation(Rule.V2, f"fence f{fence.id} has number {index}, or comes after nothing, or twice after one queue")
        elif int(fence.source) not in {_signalling_device(facts, sync.queues[q].steps[p]) for q, p in fence.after}:
            yield Violation(Rule.V2, f"fence f{fence.id} tells of device {fence.source}, which does nothing before it")


def _check_steps_of_queues(facts: JudgeIndex, sync: Synchronisation) -> Iterator[Violation]:
    schedule = facts.schedule
    steps: Counter[ScheduledStep] = Counter(step for queue in sync.queues for step in queue.steps)
    everything: Counter[ScheduledStep] = Counter((*schedule.shards, *schedule.combines, *schedule.transfers))
    if steps != everything or steps.total() > len(steps):
        lacks = next(map(facts.name, everything - steps), "one is there twice, or is not of the schedule")
        yield Violation(Rule.V2, f"the queues do not hold each step once: {lacks}")
        return
    names = [queue.name for queue in sync.queues]
    channels: dict[tuple[object, ...], str] = {}
    for index, queue in enumerate(sync.queues):
        if queue.name in names[:index]:
            yield Violation(Rule.V2, f"two queues are called {queue.name}")
        computes = queue.kind is QueueKind.COMPUTE
        if computes != (queue.device is not None) or (computes and queue.name not in facts.names):
            yield Violation(Rule.V2, f"queue {queue.name} is of no device, or of one that does not compute")
            continue
        for step in queue.steps:
            if isinstance(step, Transfer) == computes:
                yield Violation(Rule.V2, f"{facts.name(step)} is in queue {queue.name}")
            elif isinstance(step, Transfer):
                channel = facts.channel(step) if step.busy > step.start else None
                if channel is not None and channels.setdefault(channel, queue.name) != queue.name:
                    yield Violation(Rule.V2, f"{facts.name(step)} is in queue {queue.name}, its channel's is {channels[channel]}")
            elif not _device(facts, step) == queue.device == facts.names.index(queue.name):
                yield Violation(Rule.V2, f"{facts.name(step)} is in the queue of {queue.name}")
        for early, late in pairwise(queue.steps):
            if _queue_order(facts, early) > _queue_order(facts, late):
                yield Violation(Rule.V2, f"{facts.name(late)} comes after what is later, in queue {queue.name}")


def _queue_order(facts: JudgeIndex, step: ScheduledStep) -> tuple[int, int]:
    """The key by which steps of a queue are in order: (start, end) on a device, (arrival, start) of transfers."""
    match step:
        case Shard():
            return step.start, step.end
        case ScheduledCombine():
            return max([step.start, *(shard.end for shard in facts.on[step.phase, facts.home])]), step.end
        case Transfer():
            return step.arrive, step.start


def _signalling_device(facts: JudgeIndex, step: ScheduledStep) -> int:
    """The device to which a fence after a step belongs; for a transfer its source."""
    return int(step.source) if isinstance(step, Transfer) else _device(facts, step)


def _device(facts: JudgeIndex, step: Shard | ScheduledCombine) -> int:
    return facts.home if isinstance(step, ScheduledCombine) else int(step.device)


# ---------------------------------------------------------------------------------------------------- execution of a schedule
#
# A schedule of a problem, and its queues, as an execution: outputs are values, units (rows or bytes) their one axis.

@dataclass(frozen=True, slots=True)
class Partial:
    """The value, in an execution, of the partial results of a phase, one for each shard's rows."""

    phase: int


class ScheduleTranslation:
    def __init__(self, facts: JudgeIndex) -> None:
        self.facts = facts
        self.execution = Execution(self.describe_fault)
        self.tasks: dict[ScheduledStep, Task] = {}
        self.shards: dict[int, list[Task]] = {}
        self.combines: dict[int, Task] = {}
        schedule = facts.schedule
        everything: list[Task] = []
        for shard in schedule.shards:
            self.tasks[shard] = task = self.shard(shard)
            self.shards.setdefault(shard.phase, []).append(task)
            everything.append(task)
        for step in schedule.combines:
            self.tasks[step] = self.combines[step.phase] = self.combine(step)
            everything.append(self.tasks[step])
        for moved in schedule.transfers:
            self.tasks[moved] = self.transfer(moved)
            everything.append(self.tasks[moved])
        self.add_required_copies()
        self.add_precedences()
        self.execution.queues = [everything]

    def with_queues(self, sync: Synchronisation) -> Execution:
        """The execution with the stated queues, fences and waits."""
        execution = self.execution
        execution.queues = [[] for _ in sync.queues]
        for which, queue in enumerate(sync.queues):
            for step in queue.steps:
                execution.add(which, self.tasks[step])
        execution.fences.update({fence.id: [(int(q), p) for q, p in fence.after] for fence in sync.fences})
        for wait in sync.waits:
            execution.waits[int(wait.queue), wait.position].append(wait.fence)
        return execution

    # ------------------------------------------------------------------ steps

    def shard(self, shard: Shard) -> Task:
        facts, device = self.facts, int(shard.device)
        problem = facts.problem.phases[shard.phase]
        size = self.result_bytes(shard)
        lanes: dict[Hashable, int] = {device: shard.start}
        if problem.distributed is not None and shard.first == 0:
            lanes |= facts.reserved_channels(shard, problem.distributed)
        task = Task(
            shard, shard.start, shard.end, shard.start, lanes, shard.end, overwritable_bytes=size if problem.inplace else 0
        )
        for edge in facts.incoming[shard.phase]:
            box = self.box(edge.source, *facts.units_read(edge, shard))
            task.reads.append(TaskRead((device, edge.source), box, route=self.route(edge)))
        self.execution.extra_memory[device].append((shard.start, shard.end, self.scratch(shard)))
        piece = ResidentPiece(((shard.first, shard.stop),), shard.start, shard.end, shard.end, size)
        if problem.combine is not None:
            self.execution.add_piece((device, Partial(shard.phase)), piece, task)
        elif not facts.holds_no_output(shard.phase, device):
            if facts.is_undivided(shard.phase):
                piece.box = self.box(shard.phase, 0, facts.units(shard.phase))
            self.execution.add_piece((device, shard.phase), piece, task)
        return task

    def combine(self, step: ScheduledCombine) -> Task:
        """The task of a combine.  Merging of partial results as they arrive is checked by V9."""
        facts, phase = self.facts, self.facts.problem.phases[step.phase]
        task = Task(step, step.start, step.end, None, {facts.home: step.start}, step.end)
        task.reads.append(TaskRead((facts.home, Partial(step.phase)), ((0, phase.units),), Coverage.TILE))
        size = facts.rounded_to_grain(phase.out_bytes)
        piece = ResidentPiece(self.box(step.phase, 0, facts.units(step.phase)), step.start, step.end, step.end, size)
        self.execution.add_piece((facts.home, step.phase), piece, task)
        return task

    def transfer(self, moved: Transfer) -> Task:
        facts, target = self.facts, int(moved.target)
        channel = facts.channel(moved) if moved.busy > moved.start else None
        lanes: dict[Hashable, int] = {} if channel is None else {channel: moved.start}
        task = Task(moved, moved.start, moved.arrive, moved.start, lanes, moved.busy, sends=True)
        value = Partial(moved.phase) if moved.partial else moved.phase
        box = ((moved.first, moved.stop),) if moved.partial else self.box(moved.phase, moved.first, moved.stop)
        task.reads.append(TaskRead((int(moved.source), value), box, Coverage.EXACT if moved.partial else Coverage.COVER))
        channel_key = ("ticks", moved.arrive - moved.start) if moved.link is None else "link"
        usable = moved.arrive + facts.sync[target]
        piece = ResidentPiece(box, moved.start, moved.arrive, usable, facts.rounded_to_grain(moved.bytes),
            None if moved.partial else channel_key)
        self.execution.add_piece((target, value), piece, task)
        return task

    def box(self, phase: int, first: int, stop: int) -> Box:
        """The box of units [first, stop).  Of an output of no bytes all parts have one unit, so that its absence is noticed."""
        if self.facts.units(phase) == 0:
            return ((-1, stop if first < stop else 0),)
        return ((first, stop),)

    def route(self, edge: Edge) -> object:
        """How the copy that an edge reads was transferred: in the edge's own ticks, or over a link."""
        return ("ticks", edge.ticks or 0) if self.facts.has_fixed_delay(edge) else "link"

    def scratch(self, shard: Shard) -> int:
        """Bytes that a shard needs while it runs."""
        task = self.facts.problem.phases[shard.phase]
        if task.distributed is not None:
            stated = {
                int(device): size for (device, _), size in zip(task.distributed.mode, task.distributed.scratch, strict=True)
            }
            return self.facts.rounded_to_grain(stated.get(int(shard.device), 0))
        return self.facts.rounded_to_grain(ceil(task.scratch * (shard.stop - shard.first) / task.units)) if task.scratch else 0

    def result_bytes(self, shard: Shard) -> int:
        """Bytes that a shard produces: of the output, or its partial result."""
        facts, task = self.facts, self.facts.problem.phases[shard.phase]
        if task.combine is not None:
            return facts.rounded_to_grain(task.combine.bytes)
        first, stop = (0, facts.units(shard.phase)) if facts.is_undivided(shard.phase) else (shard.first, shard.stop)
        return facts.rounded_to_grain(facts.size(shard.phase, first, stop, None))

    # ------------------------------------------------------------------ directives and effects

    def has_output(self, phase: int, device: int) -> bool:
        """Is all of an output on a device at the end?"""
        there = [piece.box for piece in self.execution.pieces.get((device, phase), ())]
        return bool(there) and is_covered(self.box(phase, 0, self.facts.units(phase)), there)

    def add_required_copies(self) -> None:
        """Every copy of an output that directives require is used until the end."""
        facts, last = self.facts, self.facts.schedule.makespan + 1
        for directive in facts.problem.directives:
            if isinstance(directive, Keep | Replicate):
                named = facts.named(directive.device) if isinstance(directive, Keep) else facts.used
                there = [device for device in sorted(named) if self.has_output(directive.phase, device)]
                for device in there[:1] if isinstance(directive, Keep) else there:
                    for piece in self.execution.pieces[device, directive.phase]:
                        piece.uses.append((last, None))

    def add_precedences(self) -> None:
        """`before` and the order of effects: all of the first phase completes before any of the second starts."""
        pairs = [(a, b) for d in self.facts.problem.directives if isinstance(d, Before) for b in d.then for a in d.first]
        effects = [index for index, phase in enumerate(self.facts.problem.phases) if phase.effect]
        for first, then in (*pairs, *pairwise(effects)):
            for task in self.shards[then]:
                task.after += self.completing_tasks(first)

    def completing_tasks(self, phase: int) -> Iterator[Task]:
        if phase in self.combines:
            return iter((self.combines[phase],))
        shards = self.facts.shards[phase]
        return compress(self.shards[phase], [not self.facts.holds_no_output(phase, shard.device) for shard in shards])

    # ------------------------------------------------------------------ words

    def describe_fault(self, lack: ReadFault, task: Task, read: TaskRead | Task) -> Violation:
        facts, step = self.facts, task.what
        if isinstance(read, Task):
            return Violation(Rule.V2, f"{self.name(task)} is not certain to come after {self.name(read)}")
        (low, high), value = read.box[0], read.key[1]
        phase = value.phase if isinstance(value, Partial) else value
        assert isinstance(phase, int)
        part = f"[{max(0, low)}, {high}) of `{facts.id(phase)}`"
        if lack is ReadFault.UNCERTAIN:
            return Violation(Rule.V2, f"{self.name(task)} is not certain to come after what brings {part}")
        if isinstance(step, Shard):
            where = f"`{facts.id(step.phase)}` starts at {step.start} on {facts.names[step.device]}"
            return Violation(Rule.V4, f"{where} without {part}")
        if isinstance(step, Transfer):
            return Violation(Rule.V4, f"{facts.names[step.source]} has not {part} to send at {step.start}")
        return Violation(Rule.V4, f"the partial results of `{facts.id(phase)}` are not brought home, each once")

    def name(self, task: Task) -> str:
        return self.facts.name(task.what)


# ---------------------------------------------------------------------------------------------------- verdict

__all__ = ["ADVISORY", "BoundStatus", "Rule", "Violation", "bound_status", "memory_in_use", "verify", "verify_schedule"]

MAX_REDUNDANCY_WORK: Final = 20_000_000
"""Waits × steps above which V7 is not checked; steps × queues above which orders are checked by ticks alone."""
MAX_STEPS_PER_RUN: Final = 10_000


def verify(problem: Problem, answer: Answer, sync: Synchronisation | None = None) -> tuple[Violation, ...]:
    """All violations of an answer; empty if it may be used.  Objective values of an invalid schedule are not checked."""
    schedule, axes = answer.schedule, answer.axes or problem.chosen
    known = [(k,) for k in problem.chosen] if problem.axes is None else [range(len(one)) for one in problem.axes.phases]
    if len(axes) != len(known) or any(k not in among for k, among in zip(axes, known, strict=True)):
        return (Violation(Rule.V3, f"it is along axes {list(axes)}, which the problem does not have"),)
    problem = problem.along(axes)
    claims = tuple(check_claims(problem, answer, verify_schedule))
    if schedule is None:
        if answer.status in (Status.OPTIMAL, Status.GAP):
            return (Violation(Rule.V1, f"called {answer.status.value} without a schedule"),)
        return claims
    violations = verify_schedule(problem, schedule, sync)
    return (*(violations or check_objective_values(JudgeIndex(problem, schedule), answer, sync)), *claims)


def verify_schedule(problem: Problem, schedule: Schedule, sync: Synchronisation | None = None) -> tuple[Violation, ...]:
    """All violations of a schedule by itself.  Where phases are missing nothing else is checked."""
    facts = JudgeIndex(problem, schedule)
    missing = tuple(check_phases_once(facts))
    if missing:
        return missing
    translated = ScheduleTranslation(facts)
    execution = translated.execution
    violations = [
        *check_row_coverage(facts),
        *check_distributed_modes(facts),
        *check_directives(facts, translated.has_output),
        *_resource_collisions(facts, execution),
        *unresident_reads(execution),
        *check_transfers(facts),
        *check_step_timing(facts),
        *_memory_overflows(facts, execution),
    ]
    if sync is not None:
        wrong = tuple(check_queues(facts, sync))
        violations += wrong
        if not wrong:
            violations += _check_blocking_waits(translated.with_queues(sync), facts)
            if sum(map(len, execution.queues)) * len(sync.queues) <= MAX_REDUNDANCY_WORK:
                violations += unordered_tasks(execution)
        if not violations:
            violations += _check_redundant_waits(facts, translated, sync)
    return tuple(violations)


def memory_in_use(problem: Problem, schedule: Schedule) -> dict[int, tuple[int, int]]:
    """By device with a limit: the most bytes in use, and the first tick at which they are."""
    facts = JudgeIndex(problem, schedule)
    peak_of = peaks(ScheduleTranslation(facts).execution)
    return {device: peak_of.get(device, (0, 0)) for device, cap in enumerate(facts.memory_limits) if cap is not None}


def _resource_collisions(facts: JudgeIndex, execution: Execution) -> Iterator[Violation]:
    """V2 of devices and V6 of channels: one step at a time."""
    for lane, first, then in collisions(execution):
        names = f"`{facts.id(first.what.phase)}` and `{facts.id(then.what.phase)}`"  # type: ignore[attr-defined]
        if isinstance(lane, int):
            yield Violation(Rule.V2, f"{facts.names[lane]} runs {names} at once, at {then.start}")
        else:
            yield Violation(Rule.V6, f"{names} are on one channel at {then.start}")


def _memory_overflows(facts: JudgeIndex, execution: Execution) -> Iterator[Violation]:
    """V5: no device exceeds its memory limit."""
    if any(cap is not None for cap in facts.memory_limits):
        peak_of = peaks(execution)
        for device, cap in enumerate(facts.memory_limits):
            peak, tick = peak_of.get(device, (0, 0))
            if cap is not None and peak > cap:
                yield Violation(Rule.V5, f"{facts.names[device]} has {peak} bytes in use at {tick}, and {cap} at most")


def _check_blocking_waits(execution: Execution, facts: JudgeIndex) -> Iterator[Violation]:
    """V2: no wait delays its queue beyond the ticks of the schedule."""
    for task, awaited in blocking_waits(execution):
        names = f"`{facts.name(task.what)}` waits for {facts.name(awaited.what)} until {awaited.end}"
        yield Violation(Rule.V2, f"{names}, and is to go on before")


def _check_redundant_waits(facts: JudgeIndex, translated: ScheduleTranslation, sync: Synchronisation) -> Iterator[Violation]:
    """V7: no wait is implied by the others; not checked for large schedules."""
    steps = sum(len(queue.steps) for queue in sync.queues)
    if steps <= MAX_STEPS_PER_RUN and steps * len(sync.waits) <= MAX_REDUNDANCY_WORK:
        for (which, position), fence in redundant_waits(translated.execution):
            waits = f"{sync.queues[which].name} waits for fence f{fence}"
            step = translated.name(translated.execution.queues[which][position])
            yield Violation(Rule.V7, f"{waits} before {step}, of which it knows already")
