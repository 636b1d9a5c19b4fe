"""Executes queues as coroutines: a queue runs its steps in order and yields the fence it waits for.

Two schedulers resume queues: `run_by_clock` resumes the queue whose next step starts first on the predicted clock,
`run_in_threads` gives each queue a thread.  Both run the queues of a plan and those of each iteration of a distributed loop
(`steps.DistributedLoopRun`).
"""

from __future__ import annotations

import ctypes
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from heapq import heappop, heappush
from typing import Final, NamedTuple, Protocol, TypeAlias

from ...lang.diagnostics.model import RunFailed
from ...lang.support.processes import POLL_SECONDS
from ...lang.support.records import dataclass, field, replace
from ..graph import traverse
from ..graph.phases import PhaseId, ValueId
from ..schedule.plan.plan import (
    Box,
    CombineStep,
    DeviceId,
    FenceStep,
    JoinStep,
    LoopStep,
    Queue,
    RunStep,
    Step,
    TransferStep,
    WaitStep,
)
from ..vm.check_failures import CheckFailed
from ..vm.run_state import RunState
from .buffers import LOCAL, Action, FenceRegistry, RunBuffers, Transport

# ---------------------------------------------------------------------------------------------------- order of failures
#
# The choice among failures of concurrent queues is deterministic, whichever queue was faster.
#
# Failures are ordered by the predicted start of their step; shards count from the earliest shard of their phase, and among shards
# the one with the first items of the array is first.

PROGRAM_FAILURES: Final = (RunFailed, CheckFailed)
"""Failures of the program, after which the other queues continue; any other exception stops them."""


@dataclass(frozen=True, slots=True)
class QueueFailure:
    """The error that ended queue number `queue`.  `start`: the position of its step (`FailureOrder`), in a loop with the
    iteration."""

    start: tuple[int, ...]
    queue: int
    error: BaseException


class FailureOrder:
    """The positions of steps by which failures are ordered."""

    def __init__(self, queues: Iterable[Sequence[Step]]) -> None:
        self.earliest: dict[PhaseId, int] = {}
        for step in (step for steps in queues for step in steps):
            if isinstance(step, RunStep) and step.box is not None:
                self.earliest[step.phase] = min(step.start, self.earliest.get(step.phase, step.start))

    def of(self, step: Step, now: tuple[int, ...]) -> tuple[int, ...]:
        """The position of a step; `now`: the position of the step before it."""
        if isinstance(step, RunStep) and step.box is not None:
            return self.earliest[step.phase], step.phase, *(first for first, _ in step.box)
        start = getattr(step, "start", None)
        return now if start is None else (start,)


def first_failure(failures: Sequence[QueueFailure]) -> QueueFailure | None:
    """The failure that stopped all queues, otherwise the first one by position; None if there is none."""
    for failure in failures:
        if not isinstance(failure.error, PROGRAM_FAILURES):
            return failure
    return min(failures, key=lambda failure: (failure.start, failure.queue), default=None)


# ---------------------------------------------------------------------------------------------------- queues

Compile: TypeAlias = Callable[[RunBuffers, Step, DeviceId], Action]


class WaitFor(NamedTuple):
    """A queue's request to wait for a fence (None: for none), then for a tick of the predicted clock."""

    fence: Hashable | None
    tick: int = 0


@dataclass(slots=True)
class Fences:
    """By fence, the number of queues that have yet to reach it (`remaining`); `now`: the current tick, if there is a clock."""

    remaining: dict[Hashable, int] = field(default_factory=dict)
    now: int = 0

    def is_passed(self, fence: Hashable) -> bool:
        return not self.remaining.get(fence, 1)

    def passed(self, fence: Hashable, of: int) -> None:
        """Counts a queue that has reached a fence which `of` queues must reach."""
        self.remaining[fence] = self.remaining.get(fence, of) - 1

    def forget(self, fences: Sequence[Hashable]) -> None:
        """Drops fences for which no queue waits any more."""
        for fence in fences:
            self.remaining.pop(fence, None)


@dataclass(slots=True)
class Queues:
    """The queues of a plan, or of a loop iteration, by number: their steps in this process, and the action of each step.

    `counts`: by fence, the number of queues of all processes that reach it; `reads`: the boxes that transfers read."""

    buffers_of: dict[int, RunBuffers]
    steps: dict[int, tuple[Step, ...]]
    actions: dict[int, list[Action]]
    counts: Counter[Hashable]
    reads: dict[tuple[DeviceId, ValueId], Counter[Box | None]]
    order: FailureOrder
    transport: Transport

    @property
    def buffers(self) -> RunBuffers:
        """The buffers that all queues share."""
        return next(iter(self.buffers_of.values()))

    def begin(self) -> None:
        """Registers the pending reads of all transfers, before each execution."""
        self.buffers.pending_reads.update({key: Counter(boxes) for key, boxes in self.reads.items()})


def compile_queues(queues: Mapping[int, Queue], machines: Mapping[int, RunState], around: RunBuffers, compile: Compile) -> Queues:
    """Queues by number, with the machine of each, on the devices of a fleet."""
    counts, reads = Counter[Hashable](), dict[tuple[DeviceId, ValueId], Counter[Box | None]]()
    combined: set[PhaseId] = set()
    transport = around.transport
    for queue in queues.values():
        for step in queue.steps:
            if isinstance(step, FenceStep):
                counts[step.fence] += transport.process_count(queue)
            elif isinstance(step, CombineStep):
                combined.add(step.phase)
            elif isinstance(step, TransferStep) and transport.is_local(step.source):
                reads.setdefault((step.source, step.value), Counter())[step.box] += 1
    phases = next(iter(machines.values())).phases
    several = [results for results in map(traverse.results, phases.values()) if len(results) > 1]
    sharing = frozenset(value for results in several for value in results)
    common = replace(around, combined=frozenset(combined), sharing=sharing, pending_reads={}, deferred_frees={})
    fleets = {which: replace(common, state=machine) for which, machine in machines.items()}
    steps = {which: transport.steps(queue) for which, queue in queues.items()}
    actions = {
        which: [compile(fleets[which], step, queue.device) for step in steps[which]] for which, queue in queues.items()
    }  # fmt: skip
    order = FailureOrder(queue.steps for queue in queues.values())
    return Queues(fleets, steps, actions, counts, reads, order, transport)


class JoinedQueues(Protocol):
    """A distributed loop (`steps.DistributedLoopRun`)."""

    def run(self, cursor: QueueCursor, fences: Fences) -> Iterator[WaitFor]:
        """Runs one queue's part of the loop, as a coroutine."""


@dataclass(slots=True)
class QueueCursor:
    """The cursor of a running queue.  `position`: as in `FailureOrder`.  Inside a loop, `iteration` is (loop, iteration), and
    ticks are relative to `start_tick`."""

    which: int
    queues: Queues
    joined_loops: Mapping[PhaseId, JoinedQueues] = field(default_factory=dict)
    iteration: tuple[int, ...] = ()
    start_tick: int = 0
    position: tuple[int, ...] = (0,)

    def run(self, fences: Fences) -> Iterator[WaitFor]:
        queues = self.queues
        steps, actions = queues.steps.get(self.which, ()), queues.actions.get(self.which, ())
        for step, action in zip(steps, actions, strict=True):
            self.position = queues.order.of(step, self.position)
            yield WaitFor(self.fence_before(step), self.start_tick + getattr(step, "start", 0))
            if isinstance(step, LoopStep | JoinStep) and step.phase in self.joined_loops:
                yield from self.joined_loops[step.phase].run(self, fences)
            else:
                action()
            if isinstance(step, FenceStep):
                fences.passed(self.named(step.fence), queues.counts[step.fence])

    def fence_before(self, step: Step) -> Hashable | None:
        if isinstance(step, WaitStep):
            return self.named(step.fence)
        return self.queues.transport.arrival_fence(step) if isinstance(step, TransferStep) else None

    def named(self, fence: Hashable) -> Hashable:
        """The name of a fence; fences in a loop get a distinct name in every iteration."""
        return (*self.iteration, fence) if self.iteration else fence


# ---------------------------------------------------------------------------------------------------- virtual clock
#
# Runs queues in one thread: the queue whose next step starts first on the predicted clock is resumed.
#   Execution is deterministic, costs depend on the number of steps, not on the number of devices, and a simulated device holds at
# each tick what the plan states.

@dataclass(slots=True)
class _Clock(Fences):
    """`ready`: (tick, queue) of queues that may resume; `waiting`: queues by the fence they wait for."""

    ready: list[tuple[int, int]] = field(default_factory=list)
    waiting: dict[Hashable, list[int]] = field(default_factory=dict)

    def passed(self, fence: Hashable, of: int) -> None:
        Fences.passed(self, fence, of)
        for which in self.waiting.pop(fence, ()) if self.is_passed(fence) else ():
            heappush(self.ready, (self.now, which))


def run_by_clock(cursors: Sequence[QueueCursor], settle: Callable[[], None]) -> QueueFailure | None:
    """Runs every queue to its end; returns the failure to raise, if there is one.  `settle` is called at the end of each tick.

    After a failure of the program the other queues continue as far as they can, as in threads."""
    clock = _Clock(ready=[(0, number) for number in range(len(cursors))])
    coroutines = [cursor.run(clock) for cursor in cursors]
    number, under_way, failures = 0, len(cursors), list[QueueFailure]()
    try:
        while clock.ready:
            now, following = heappop(clock.ready)
            if now > clock.now and not failures:  # a failed queue frees nothing more
                settle()
            clock.now, number = now, following
            try:
                for fence, tick in coroutines[number]:
                    if fence is not None and not clock.is_passed(fence):
                        clock.waiting.setdefault(fence, []).append(number)
                        break
                    if tick > now:
                        heappush(clock.ready, (tick, number))
                        break
                else:
                    under_way -= 1
            except PROGRAM_FAILURES as error:
                failures.append(QueueFailure(cursors[number].position, cursors[number].which, error))
        if not failures:
            settle()
    except BaseException as error:
        failures.append(QueueFailure(cursors[number].position, cursors[number].which, error))
    if under_way and not failures:
        raise AssertionError("every queue waits for another")
    return first_failure(failures)


# ---------------------------------------------------------------------------------------------------- threads
#
# Runs each queue in a thread of this process.
#
# The caller's thread runs the home queue, so that prints, time limits and Ctrl-C work as usual.  Values do not depend on timing,
# since fences guard every step's operands.  Neither do failures of the program: after one the other queues continue as far as
# they can, and the first of all failures is raised (`first_failure`).  Any other exception (memory, an interrupt, a bug in Rho)
# stops all threads at once.  Deadlocks are detected.

MOST_THREADS: Final = 64


class _Stop(SystemExit):
    """Raised in threads to end them silently, wherever they are."""


@dataclass(slots=True)
class _FenceGate(Fences):
    """Fences between threads, and the failures of queues.  The condition `change` guards all fields."""

    unfinished: set[int] = field(default_factory=set)
    transport: Transport = LOCAL
    change: threading.Condition = field(default_factory=threading.Condition)
    waiting: dict[int, Hashable] = field(default_factory=dict)
    failures: list[QueueFailure] = field(default_factory=list)
    stopped: bool = False
    has_unreached: bool = False

    def wait(self, queue: int, fence: Hashable) -> bool:
        """Waits for a fence; returns False if it will never be passed."""
        with self.change:
            self.waiting[queue] = fence
            try:
                while not (self.stopped or self.is_passed(fence)):
                    if self.is_deadlocked():
                        self.has_unreached = True
                        self.change.notify_all()
                        return False
                    self.change.wait(POLL_SECONDS)
                return not self.stopped
            finally:
                del self.waiting[queue]

    def is_deadlocked(self) -> bool:
        """Does every queue wait for a fence of this process, so that none can advance?"""
        return self.transport is LOCAL and self.all_wait()

    def is_idle(self) -> bool:
        with self.change:
            return self.all_wait()

    def all_wait(self) -> bool:
        return all(queue in self.waiting and not self.is_passed(self.waiting[queue]) for queue in self.unfinished)

    def passed(self, fence: Hashable, of: int) -> None:
        self.transport.passed(fence, of)
        self.arrived(fence, of)

    def arrived(self, fence: Hashable, of: int) -> None:
        with self.change:
            Fences.passed(self, fence, of)
            if fence in self.waiting.values() and self.is_passed(fence):
                self.change.notify_all()

    def forget(self, fences: Sequence[Hashable]) -> None:
        with self.change:
            Fences.forget(self, fences)

    def finished(self, queue: int, failure: QueueFailure | None, *, stop: bool) -> None:
        with self.change:
            self.unfinished.discard(queue)
            if failure is not None:
                self.failures.append(failure)
            self.stopped = self.stopped or stop
            self.change.notify_all()
        if failure is not None and not stop:
            self.transport.failed(failure.start, queue)

    def halt(self, error: BaseException | None) -> None:
        with self.change:
            if error is not None:
                self.failures.append(QueueFailure((0,), 0, error))
            self.stopped = True
            self.change.notify_all()

    def release_lock(self) -> None:
        """Releases the lock if this thread holds it.  An asynchronous exception (`interrupt`, Ctrl-C) may arrive between
        acquiring a lock and entering the block that releases it; all other threads would then wait for ever."""
        with suppress(RuntimeError):  # another thread holds it, or none
            while True:
                self.change.release()

    def wait_for_all(self) -> None:
        with self.change:
            while self.unfinished and not self.stopped:
                self.change.wait(POLL_SECONDS)


def run_in_threads(
    cursors: Sequence[QueueCursor], quiet: Callable[[], AbstractContextManager[object]], transport: Transport,
    begin: Callable[[FenceRegistry], None]
) -> QueueFailure | None:  # fmt: skip
    """Runs every queue to its end, the first one in this thread; returns the failure to raise, if there is one.

    `quiet`: the context that each thread runs in; `begin`: called with the gate before threads start."""
    gate = _FenceGate(unfinished={cursor.which for cursor in cursors}, transport=transport)
    begin(gate)
    threads: list[threading.Thread] = []

    def serve(cursor: QueueCursor) -> None:
        failure, stop = None, False
        try:
            with quiet():
                for fence, _ in cursor.run(gate):
                    if gate.stopped or (fence is not None and not gate.wait(cursor.which, fence)):
                        return
        except _Stop:
            pass
        except BaseException as error:
            failure = QueueFailure(cursor.position, cursor.which, error)
            stop = not isinstance(error, PROGRAM_FAILURES)
        finally:
            gate.release_lock()
            gate.finished(cursor.which, failure, stop=stop)

    def work(cursor: QueueCursor) -> None:
        try:
            with suppress(_Stop):
                serve(cursor)
        finally:
            gate.release_lock()

    try:
        for cursor in cursors[1:]:
            thread = threading.Thread(target=work, args=(cursor,), daemon=True)
            thread.start()
            threads.append(thread)
        for cursor in cursors[:1]:
            serve(cursor)
        gate.wait_for_all()
    except BaseException as error:  # an interrupt outside this thread's own queue
        gate.release_lock()
        gate.halt(error)
    while alive := [thread for thread in threads if thread.is_alive()]:
        if gate.stopped:
            interrupt(alive)  # repeated, since an exception raised in a finalizer is ignored
        alive[0].join(POLL_SECONDS)
    if gate.has_unreached and not gate.failures:
        raise AssertionError("every queue waits for another")
    return first_failure(gate.failures)


def interrupt(threads: Sequence[threading.Thread]) -> None:
    """Raises _Stop in these threads as soon as they return from compiled code."""
    for thread in threads:
        if thread.ident is not None and thread.is_alive():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_Stop))
