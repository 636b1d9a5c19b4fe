"""Inserts the synchronisation of a schedule: its queues, with the fewest fences and waits that delay no step.

Note [Queues].  Each device has a compute queue (its shards and, at home, combines, by start) and each channel a copy queue (its
transfers, by arrival); a queue completes its steps in order.  A pair of devices whose link has no channel (nothing is exclusive)
has one copy queue in each direction.

Note [Fences].  A fence passes when the queues it names have completed their steps up to a position; a wait stands before a
step of a queue.  A *sync* is a wait of a compute queue; copy queues wait as well (a transfer for its producer), which costs no
device time.  A step requires events because of data (a transfer has arrived; on its own device the producer has ended), because
of `before` and the order of effects (the earlier phase has ended), and, for a transfer, its producer.  An event that queue order
and earlier waits already imply needs no wait, and one fence serves all events of one source device at one step: what remains is
the transitive reduction.

Note [Piggybacking].  A fence also covers a transfer from the same device that a later step of the waiting queue needs, if the
transfer has arrived by then and its data was produced before the fence's position: no step is delayed, and a wait is saved.  With
`Merging.SLACK` a fence covers every event of the same device that has happened by then.

Invariants: waits are in order of (queue, position); no wait is implied by queue order and earlier waits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from enum import Enum
from heapq import heapify, heappop, heappush
from typing import Final, TypeAlias

from ....lang.support.records import dataclass
from ..problem import (
    DeviceIndex,
    Fence,
    Objective,
    PhaseIndex,
    Problem,
    QueueIndex,
    QueueKind,
    Schedule,
    ScheduledCombine,
    ScheduledQueue,
    ScheduledStep,
    Shard,
    Synchronisation,
    Transfer,
    Wait,
)
from .problem_index import ProblemIndex, topological_order

__all__ = [
    "Fence",
    "Merging",
    "QueueIndex",
    "QueueKind",
    "ScheduledQueue",
    "Synchronisation",
    "Wait",
    "synchronise",
]  # fmt: skip


class Merging(Enum):
    """Which later requirements a fence covers as well.  See Note [Piggybacking]."""

    NONE = "fences cover what was made before them"
    SLACK = "fences cover what has happened by then"


_Event: TypeAlias = tuple[int, int]
"""(queue, position): that step is complete."""
_MOST_SOURCES: Final = 100
"""The number of devices one step waits for above which redundant waits between them are not searched."""
_Clock: TypeAlias = dict[int, int]
"""A vector clock: by queue, the last position known to be complete."""
_CLOSURE_LIMIT: Final = 20_000_000
"""Steps × queues above which clocks are not propagated: a queue then counts only what it waited for itself."""


def synchronise(problem: Problem, schedule: Schedule, merging: Merging | None = None) -> Synchronisation:
    """The queues of a schedule with their fences and waits.  `merging` None: SLACK where the objectives count syncs."""
    if merging is None:
        merging = Merging.SLACK if Objective.SYNCS in problem.objectives else Merging.NONE
    return _Synchroniser(problem, schedule, merging).result()


_PASSED_ON: Final = 1 << 60
"""The position of data that a device only forwards: later than every fence."""


@dataclass(frozen=True, slots=True)
class _SyncRequirement:
    """An event that a step requires: its device `source`, the position `produced_at` in that device's compute queue, and the
    `tick` from which it has happened."""

    event: _Event
    source: int
    produced_at: int
    tick: int
    may_piggyback: bool


class _Synchroniser:
    def __init__(self, problem: Problem, schedule: Schedule, merging: Merging) -> None:
        self.problem = problem
        self.schedule = schedule
        self.merging = merging
        self.problem_index = ProblemIndex(problem)
        self.rank = _ranks(self.problem_index)
        self.queues: list[ScheduledQueue] = []
        self.position_of: dict[ScheduledStep, _Event] = {}
        self._make_queues()
        self.shards_of: dict[int, list[Shard]] = defaultdict(list)
        self.shards_on: dict[tuple[int, int], list[Shard]] = defaultdict(list)
        for shard in schedule.shards:
            self.shards_of[shard.phase].append(shard)
            self.shards_on[shard.phase, shard.device].append(shard)
        self.combine_of = {combine.phase: combine for combine in schedule.combines}
        self.transfers_to: dict[tuple[int, int], list[Transfer]] = defaultdict(list)
        for transfer in schedule.transfers:
            self.transfers_to[transfer.phase, transfer.target].append(transfer)

    # ------------------------------------------------------------------ queues

    def _make_queues(self) -> None:
        schedule, problem = self.schedule, self.problem
        names = problem.device_names()
        computing: dict[int, list[tuple[int, int, int, ScheduledStep]]] = defaultdict(list)
        for shard in schedule.shards:
            key = (shard.start, shard.end, self.rank[shard.phase])
            computing[shard.device].append((*key, shard))
        at_home: dict[int, int] = {}
        for shard in schedule.shards:
            if shard.device == problem.home:
                at_home[shard.phase] = max(shard.end, at_home.get(shard.phase, 0))
        for combine in schedule.combines:
            key = (max(combine.start, at_home.get(combine.phase, 0)), combine.end, self.rank[combine.phase])
            computing[problem.home].append((*key, combine))
        copying: dict[str, list[tuple[int, int, int, int, int, ScheduledStep]]] = defaultdict(list)
        for transfer in schedule.transfers:
            onwards = int(transfer.target != problem.home)  # the second of two hops sorts after the first
            moved = (transfer.arrive, transfer.start, self.rank[transfer.phase], onwards, int(transfer.target))
            copying[self._channel(transfer, names)].append((*moved, transfer))
        for device in sorted(computing):
            steps = tuple(each[-1] for each in sorted(computing[device], key=lambda s: s[:-1]))
            self._add(ScheduledQueue(QueueKind.COMPUTE, names[device], DeviceIndex(device), steps))
        for name in sorted(copying):
            steps = tuple(each[-1] for each in sorted(copying[name], key=lambda s: s[:-1]))
            self._add(ScheduledQueue(QueueKind.COPY, name, None, steps))

    def _add(self, queue: ScheduledQueue) -> None:
        for position, step in enumerate(queue.steps):
            self.position_of[step] = (len(self.queues), position)
        self.queues.append(queue)

    def _channel(self, transfer: Transfer, names: tuple[str, ...]) -> str:
        """The name of the queue of a transfer."""
        path = None if transfer.link is None else self.problem_index.routes.path(transfer.source, transfer.target)
        channel = path[0].channel if path is not None and path[0].link == transfer.link else None
        if channel is None or transfer.link is None:
            link = "" if transfer.link is None else f"{self.problem.links[transfer.link].id} "
            return f"{link}{names[transfer.source]}→{names[transfer.target]}"
        name, first, second, direction = channel
        if second >= 0:
            name = f"{self.problem.links[transfer.link].id} {names[first]}–{names[second]}"
        elif first >= 0:
            name = f"{name.removesuffix('[i]')}[{first}]"
        return name + ("", " →", " ←")[direction]

    # ------------------------------------------------------------------ needs

    def _completing_steps(self, phase: int) -> Sequence[Shard | ScheduledCombine]:
        """The steps whose ends complete a phase."""
        return [self.combine_of[PhaseIndex(phase)]] if phase in self.combine_of else self.shards_of[phase]

    def _end_requirement(self, step: Shard | ScheduledCombine) -> _SyncRequirement:
        event = self.position_of[step]
        device = self.problem.home if isinstance(step, ScheduledCombine) else step.device
        return _SyncRequirement(event, int(device), event[1], step.end, False)

    def _arrival_requirement(self, transfer: Transfer) -> _SyncRequirement:
        """The arrival of a transfer, signalled by its source; the position is that of the last step that produced its data."""
        sent = max((self.position_of[step][1] for step in self._sent_by(transfer)), default=_PASSED_ON)
        arrived = transfer.arrive + self.problem_index.syncs[transfer.target]
        return _SyncRequirement(self.position_of[transfer], int(transfer.source), sent, arrived, True)

    def _requirements(self) -> dict[ScheduledStep, list[_SyncRequirement]]:
        """By step, the events that it requires, those of its own queue included."""
        schedule, problem_index = self.schedule, self.problem_index
        needs: dict[ScheduledStep, list[_SyncRequirement]] = {}
        for shard in schedule.shards:
            requirements: list[_SyncRequirement] = []
            for edge in problem_index.incoming[shard.phase]:
                phase = problem_index.sources[edge]
                part = problem_index.part(edge, shard.first, shard.stop)
                requirements += [self._end_requirement(step) for step in self._producing_steps(phase, int(shard.device), part)]
                requirements += [
                    self._arrival_requirement(t) for t in self._arrivals(phase, int(shard.device), part, shard.start)
                ]
            for phase in problem_index.constraints.start_after[shard.phase]:
                requirements += [self._end_requirement(step) for step in self._completing_steps(phase)]
            needs[shard] = requirements
        for combine in schedule.combines:
            requirements = [self._end_requirement(step) for step in self.shards_on[combine.phase, self.problem.home]]
            requirements += [
                self._arrival_requirement(t) for t in self.transfers_to[combine.phase, self.problem.home] if t.partial
            ]
            needs[combine] = requirements
        for moved in schedule.transfers:
            steps = self._sent_by(moved)
            requirements = [self._end_requirement(step) for step in steps]
            if not steps:  # forwarded: it requires the arrival of the first hop
                part = (moved.first, moved.stop)
                requirements = [
                    self._arrival_requirement(t) for t in self._arrivals(moved.phase, int(moved.source), part, moved.start)
                ]
            needs[moved] = requirements
        return needs

    def _sent_by(self, moved: Transfer) -> Sequence[Shard | ScheduledCombine]:
        """The steps of the source that produced what a transfer carries; none if the source only forwards it."""
        if moved.partial:
            return [shard for shard in self.shards_on[moved.phase, moved.source] if shard.first == moved.first]
        return self._producing_steps(moved.phase, int(moved.source), (moved.first, moved.stop))

    def _producing_steps(self, phase: int, device: int, part: tuple[int, int]) -> Sequence[Shard | ScheduledCombine]:
        """The steps of a device that produced units within `part` of an output."""
        if phase in self.combine_of:
            return self._completing_steps(phase) if device == self.problem.home else []
        mine = self.shards_on[phase, device]
        if self.problem.phases[phase].is_gathered and device != self.problem.home:
            return []
        if self.problem_index.undivided[phase]:
            return mine
        return [shard for shard in mine if shard.first < part[1] and shard.stop > part[0]]

    def _arrivals(self, phase: int, device: int, part: tuple[int, int], start: int) -> list[Transfer]:
        """The transfers that brought units within `part` of an output to a device by tick `start`."""
        single = self.problem_index.undivided[phase]
        return [
            moved for moved in self.transfers_to[phase, device]
            if not moved.partial and moved.arrive <= start and (single or (moved.first < part[1] and moved.stop > part[0]))
        ]  # fmt: skip

    # ------------------------------------------------------------------ fences

    def result(self) -> Synchronisation:
        needs = self._requirements()
        later: dict[tuple[int, int], list[tuple[int, _SyncRequirement]]] = defaultdict(list)
        for step, requirements in needs.items():
            queue, position = self.position_of[step]
            for need in requirements:
                if need.event[0] != queue:
                    later[queue, need.source].append((position, need))
        for wanted in later.values():
            wanted.sort(key=lambda each: each[0])
        closure = len(self.position_of) * len(self.queues) <= _CLOSURE_LIMIT
        known: list[_Clock] = [{} for _ in self.queues]
        clocks: dict[_Event, _Clock] = {}
        done: set[_Event] = set()
        fences: list[Fence] = []
        waits: list[Wait] = []
        for step in self._order(needs):
            queue, position = self.position_of[step]
            knows = known[queue]
            missing = [n for n in needs[step] if n.event[0] != queue and knows.get(n.event[0], -1) < n.event[1]]
            fence_clocks: dict[int, _Clock] = {}
            for source, group in sorted(_transitive_reduction(missing, clocks).items()):
                fence_clocks[source] = {}
                for need in (*group, *self._piggybacked(later[queue, source], step, position, group, done)):
                    _join(fence_clocks[source], {need.event[0]: need.event[1]})
            learnt = {source: _closed(events, clocks) for source, events in fence_clocks.items()}
            for source in list(fence_clocks) if 1 < len(fence_clocks) <= _MOST_SOURCES else ():
                others = [clock for other, clock in learnt.items() if other != source]
                if all(any(clock.get(q, -1) >= p for clock in (knows, *others)) for q, p in fence_clocks[source].items()):
                    del fence_clocks[source], learnt[source]
            for source, events in fence_clocks.items():
                waits.append(Wait(QueueIndex(queue), position, len(fences)))
                after = tuple((QueueIndex(q), p) for q, p in sorted(events.items()))
                fences.append(Fence(len(fences), DeviceIndex(source), after))
                _join(knows, learnt[source])
            knows[queue] = position
            done.add((queue, position))
            if closure:
                clocks[queue, position] = dict(knows)
        ordered = sorted(waits, key=lambda w: (w.queue, w.position, w.fence))
        return Synchronisation(tuple(self.queues), tuple(fences), tuple(ordered))

    def _piggybacked(
        self, later: list[tuple[int, _SyncRequirement]], step: ScheduledStep, position: int, group: list[_SyncRequirement],
        done: set[_Event]
    ) -> list[_SyncRequirement]:
        """The later requirements that a fence covers as well.  See Note [Piggybacking]."""
        start = step.start
        latest = max((need.produced_at for need in group if need.produced_at < _PASSED_ON), default=-1)
        slack = self.merging is Merging.SLACK
        return [
            need
            for index, need in later
            if index > position
            and need.tick <= start
            and need.event in done
            and (slack or (need.may_piggyback and need.produced_at <= latest))
        ]

    def _order(self, needs: Mapping[ScheduledStep, list[_SyncRequirement]]) -> list[ScheduledStep]:
        """The steps by end, each after those it requires and those before it in its queue; steps on a cycle come last."""
        at = {event: step for step, event in self.position_of.items()}
        waiting: dict[ScheduledStep, int] = {}
        followers: dict[ScheduledStep, list[ScheduledStep]] = defaultdict(list)
        for step, (queue, position) in self.position_of.items():
            earlier = {at[need.event] for need in needs[step]} - {step}
            if position:
                earlier.add(at[queue, position - 1])
            waiting[step] = len(earlier)
            for other in earlier:
                followers[other].append(step)
        steps = list(self.position_of)
        number = {step: at for at, step in enumerate(steps)}
        key = {step: (completion_tick(step), step.start, position) for step, position in self.position_of.items()}
        free = [(key[step], at) for at, step in enumerate(steps) if waiting[step] == 0]
        heapify(free)
        order: list[ScheduledStep] = []
        while free:
            step = steps[heappop(free)[1]]
            order.append(step)
            for other in followers[step]:
                waiting[other] -= 1
                if waiting[other] == 0:
                    heappush(free, (key[other], number[other]))
        reached = set(order)
        return order + [step for step in self.position_of if step not in reached]


def completion_tick(step: ScheduledStep) -> int:
    """The tick at which a step has ended, or a transfer arrived."""
    return step.arrive if isinstance(step, Transfer) else step.end


def _transitive_reduction(missing: list[_SyncRequirement], clocks: Mapping[_Event, _Clock]) -> dict[int, list[_SyncRequirement]]:
    """By source device, the missing events that no other missing event implies; at most the last of each queue."""
    last: dict[int, _SyncRequirement] = {}
    for need in missing:
        if need.event[0] not in last or last[need.event[0]].event[1] < need.event[1]:
            last[need.event[0]] = need
    implied: _Clock = {}
    for need in last.values():
        for queue, position in clocks.get(need.event, {}).items():
            if queue != need.event[0] and implied.get(queue, -1) < position:
                implied[queue] = position
    reduced: dict[int, list[_SyncRequirement]] = defaultdict(list)
    for need in last.values():
        if implied.get(need.event[0], -1) < need.event[1]:
            reduced[need.source].append(need)
    return reduced


def _closed(events: _Clock, clocks: Mapping[_Event, _Clock]) -> _Clock:
    """The clock of a queue that waited for these events: the events and all that they imply."""
    closure = dict(events)
    for event in events.items():
        _join(closure, clocks.get(event, {}))
    return closure


def _join(knows: _Clock, more: _Clock) -> None:
    for queue, position in more.items():
        if knows.get(queue, -1) < position:
            knows[queue] = position


def _ranks(problem_index: ProblemIndex) -> list[int]:
    """By phase, its position in a topological order of edges and directives, which orders steps that take no time."""
    edges = [{problem_index.sources[edge] for edge in incoming} for incoming in problem_index.incoming]
    asked = [predecessors.union(after) for predecessors, after in zip(edges, problem_index.constraints.start_after, strict=True)]
    indices = range(len(edges))
    order = topological_order(asked, indices) or topological_order(edges, indices) or indices
    return [rank for _, rank in sorted(zip(order, range(len(edges)), strict=True))]
