"""Messages of a run between processes: values of transfers, fences that others wait for, and sizes known only during the run;
and the times of steps that processes report, by which drift from the cost tables is measured.

The source of a transfer sends it as soon as its queue reaches the step.  At the target the arrival is a fence, so waiting,
failing and stopping work as in one process (`threads`).  A size that a step finds is sent with the next message, and each
receiver passes it on.  So every process that knows of the step knows the size.

Note [At rest].  After a failure of the program all queues run as far as they can.  This phase is over when every process only
waits and no message is in transit: the numbers of messages sent and received agree, twice in a row.

Note [Kept].  A worker holds the values that the plan keeps there (`keep`) from one run to the next, so they are not sent again.
A value is identified by a digest of its bytes, which its sender computes in every run; an array that was changed in place is
another value.  A worker reports what it holds when a run acquires it, and releases it when another program runs there.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from threading import Lock
from time import perf_counter_ns
from typing import Any, Final, NewType, TypeAlias

import numpy as np

from ...lang.support.records import dataclass, field
from ...typechecker.elements import Kind as Element
from ...typechecker.sizes.polynomials import SizeVariable
from ..cpu.backend import CpuBackend
from ..devices.profile import GRAIN, MESSAGE, Profile
from ..distributed.buffers import FenceRegistry, Parts, Transport
from ..graph import traverse
from ..graph.phases import PhaseId, ValueId
from ..io.external_arrays import StoreBackend
from ..schedule.plan.plan import (
    DeviceId,
    ExecutionPlan,
    FreeStep,
    JoinStep,
    LoopStep,
    Queue,
    RunStep,
    Step,
    TransferStep,
    WaitStep,
    sub_plans,
)
from ..schedule.problem import QueueKind
from ..schedule.program_facts.partitioning import stores_of
from ..vm.run_state import Observer, RunState, StepTiming
from .wire import Connection, Message, MessageKind, bytes_of

# -------------------------------------------------------------------------------------------------- steps of a process
#
# The steps of a plan that each process runs.
#
# The queue of a device is run by the process of the device.  The queue of a channel is run by every process at which its
# transfers start or end.  Each runs the transfers that it sends or receives, the frees of its devices, and all waits and fences;
# so a fence of the queue passes when all steps before it are complete at both ends.  Each part keeps the order of the queue, so
# the waits are the same as in one process.
#
# A store is available to every process, and the receiver of a transfer from it reads the file.  The queue of a store only states
# where its values are; home runs it for all processes.

Process = NewType("Process", int)
"""The number of a process; 0 is home."""
HOME = Process(0)
Where: TypeAlias = Mapping[DeviceId, Process]
_Key: TypeAlias = tuple[DeviceId, QueueKind]


@dataclass(slots=True)
class Shares:
    """The steps of every process.  `waiting`: by fence of the plan, the processes that wait for it; `joined`: by distributed
    loop, the processes that run it; `transfers`: the number of each transfer; `number_of`: the number of each device and link
    with a queue."""

    plan: ExecutionPlan
    where: Where
    owners: dict[_Key, frozenset[Process]] = field(default_factory=dict)
    waiting: dict[Hashable, frozenset[Process]] = field(default_factory=dict)
    joined: dict[PhaseId, frozenset[Process]] = field(default_factory=dict)
    transfers: dict[TransferStep, int] = field(default_factory=dict)
    number_of: dict[DeviceId, int] = field(default_factory=dict)
    undelivered: frozenset[int] = frozenset()
    """The transfers of values that stay on a device other than home after the run."""
    stores: frozenset[DeviceId] = frozenset()

    def __post_init__(self) -> None:
        self.stores = frozenset(stores_of(self.plan))
        for queue in _queues(self.plan):
            self.number_of.setdefault(queue.device, len(self.number_of))
            key = queue.device, queue.kind
            self.owners[key] = self.owners.get(key, frozenset()) | frozenset(self.ends(queue))
            for step in queue.steps:
                if isinstance(step, TransferStep):
                    self.transfers.setdefault(step, len(self.transfers))
        for queue in self.plan.main.queues:
            owners = self.owners[queue.device, queue.kind]
            for step in queue.steps:
                if isinstance(step, WaitStep):
                    self.waiting[step.fence] = self.waiting.get(step.fence, frozenset()) | owners
                elif isinstance(step, LoopStep | JoinStep):
                    self.joined[step.phase] = self.joined.get(step.phase, frozenset()) | owners

        self.undelivered = frozenset(self.transfers[step] for step in _left(self.plan))

    def ends(self, queue: Queue) -> Iterator[Process]:
        """The processes that run steps of a queue."""
        if queue.kind is not QueueKind.COPY:
            yield self.where[queue.device]
            return
        for step in queue.steps:
            if isinstance(step, TransferStep):
                yield from self.at(step.source, step.target)
            elif isinstance(step, FreeStep) and step.device is not None:
                yield from self.at(step.device)

    def at(self, *devices: DeviceId) -> list[Process]:
        """The processes of some devices; a store has none."""
        return [self.where[device] for device in devices if device not in self.stores]

    def steps(self, queue: Queue, process: Process) -> tuple[Step, ...]:
        if process not in self.owners[queue.device, queue.kind]:
            return ()
        return tuple(step for step in queue.steps if self.concerns(step, process))

    def concerns(self, step: Step, process: Process) -> bool:
        if isinstance(step, TransferStep):
            return process in self.at(step.source, step.target)
        if isinstance(step, FreeStep) and step.device is not None:
            return process in self.at(step.device)
        return True

    @property
    def processes(self) -> list[Process]:
        """The processes that have steps to run, and home."""
        busy = {process for queue in self.plan.main.queues if queue.steps for process in self.owners[queue.device, queue.kind]}
        return sorted(busy | {HOME})


def _left(plan: ExecutionPlan) -> Iterator[TransferStep]:
    """The transfers whose copies no step frees, on devices other than home."""
    steps = [(queue.device, step) for queue in plan.main.queues for step in queue.steps]
    freed = {(step.device or at, value) for at, step in steps if isinstance(step, FreeStep) for value in step.values}
    sent = (step for _, step in steps if isinstance(step, TransferStep) and not step.partial)
    return (step for step in sent if step.target != plan.home and (step.target, step.value) not in freed)


def _queues(plan: ExecutionPlan) -> Iterator[Queue]:
    """The queues of the plan, and those of the iterations of distributed loops."""
    for queue in plan.main.queues:
        yield queue
        for step in queue.steps:
            if isinstance(step, LoopStep) and step.rows is not None:
                for part in sub_plans(step):
                    yield from part.queues


# -------------------------------------------------------------------------------------------------- transfers between processes

Held: TypeAlias = dict[int, tuple[str, list[Any]]]
"""By transfer number: the digest of its values, and the arrays (Note [Kept])."""


def digest_of(arrays: Sequence[Any]) -> str:
    """The digest of arrays with their types and shapes."""
    digest = sha256()
    for items in arrays:
        digest.update(f"{items.dtype.str}{items.shape}".encode())
        digest.update(bytes_of(np.ascontiguousarray(items)))
    return digest.hexdigest()


@dataclass(slots=True)
class ClusterTransport(Transport):
    """The transport of one process in one run (`distributed.buffers`).  `links`: connections to the other processes; `tell`:
    called at a failure in this process; `held`: values kept from earlier runs; `holds`: by process, the digests that it holds by
    transfer number (as in JSON)."""

    shares: Shares
    me: Process
    run: str
    links: Mapping[Process, Connection]
    tell: Callable[[], None] = lambda: None
    held: Held = field(default_factory=dict)
    holds: dict[str, Mapping[str, str]] = field(default_factory=dict)
    machine: RunState | None = None
    gate: FenceRegistry | None = None
    failures: list[tuple[tuple[int, ...], int]] = field(default_factory=list)
    sent: int = 0
    received: int = 0
    _early: list[Message] = field(default_factory=list)
    _came: dict[int, deque[Parts]] = field(default_factory=lambda: defaultdict(deque))
    _counts: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    _sizes: list[SizeVariable] = field(default_factory=list)
    _steps: dict[int, tuple[Step, ...]] = field(default_factory=dict)
    _halted: list[BaseException | None] = field(default_factory=list)
    _lock: Any = field(default_factory=Lock)

    # ----------------------------------------------------------------------------- local devices

    def is_local(self, device: DeviceId) -> bool:
        return self.shares.where[device] == self.me or device in self.shares.stores

    def backends(self) -> dict[DeviceId, CpuBackend]:
        """The back ends of the devices of this process."""
        local = [device for device in self.shares.plan.devices if self.is_local(device.id)]
        return {one.id: StoreBackend() if one.id in self.shares.stores else CpuBackend(one.threads) for one in local}

    def steps(self, queue: Queue) -> tuple[Step, ...]:
        steps = self._steps.get(id(queue))
        if steps is None:
            steps = self._steps[id(queue)] = self.shares.steps(queue, self.me)
        return steps

    def process_count(self, queue: Queue) -> int:
        return len(self.shares.owners[queue.device, queue.kind])

    # ----------------------------------------------------------------------------- sending

    def begin(self, machine: RunState, gate: FenceRegistry) -> None:
        assert machine.around is not None
        self._sizes = [v for phase in machine.around.graph.phases for v in traverse.defines(phase)]
        with self._lock:
            self.machine, self.gate = machine, gate
            early, self._early = self._early, []
            for message in early:
                self._take(message)
            halted = self._halted
        if halted:
            gate.halt(halted[0])

    def passed(self, fence: Hashable, of: int | None) -> None:
        if isinstance(fence, tuple):
            parties, said = self.shares.joined[fence[0]], [*fence]
        else:
            parties, said = self.shares.waiting.get(fence, frozenset()), [fence]
        for process in parties:
            if process != self.me:
                self._send(process, MessageKind.FENCE, {"fence": said, "of": of})

    def failed(self, start: tuple[int, ...], queue: int) -> None:
        self.failures.append((start, queue))
        self.tell()

    def arrival_fence(self, step: TransferStep) -> Hashable | None:
        if self.is_local(step.source):
            return None
        number = self.shares.transfers[step]
        with self._lock:
            self._counts["awaited"][number] += 1
            return ("arrival", number, self._counts["awaited"][number])

    def send(self, step: TransferStep, parts: Parts, kind: Element) -> None:
        arrays = [np.asarray(array) for _, array in parts]
        number, target = self.shares.transfers[step], self.shares.where[step.target]
        facts: dict[str, Any] = {"transfer": number, "boxes": [box for box, _ in parts]}
        if number in self.shares.undelivered:
            there, facts["digest"] = self.holds.get(str(target), {}).get(str(number)), digest_of(arrays)
            facts["held"] = there == facts["digest"]
            if facts["held"]:
                arrays = []
            elif there is not None:  # the target frees its old value first
                self.links[target].send(MessageKind.DROP, {"run": self.run, "transfer": number})
        self._send(target, MessageKind.DATA, facts, arrays)

    def receive(self, step: TransferStep, kind: Element) -> Parts:
        assert self.gate is not None
        number = self.shares.transfers[step]
        with self._lock:
            self._counts["received"][number] += 1
            self.gate.forget([("arrival", number, self._counts["received"][number])])
            return self._came[number].popleft()

    def _send(self, process: Process, kind: MessageKind, facts: dict[str, Any], arrays: list[Any] | None = None) -> None:
        with self._lock:
            self.sent += 1
            facts["run"], facts["sizes"] = self.run, self._known()
        self.links[process].send(kind, facts, arrays or ())

    def _known(self) -> list[tuple[int, int]]:
        """All run-time sizes that this process knows, since messages of several queues may overtake each other."""
        sizes = {} if self.machine is None else self.machine.sizes
        return [(at, sizes[v]) for at, v in enumerate(self._sizes) if v in sizes]

    # ----------------------------------------------------------------------------- receiving

    def take(self, message: Message) -> None:
        """Handles a received value, fence or drop."""
        with self._lock:
            if message.kind is MessageKind.DROP:
                self.held.pop(message.facts["transfer"], None)
            elif self.gate is None:
                self._early.append(message)
            else:
                self._take(message)

    def _take(self, message: Message) -> None:
        assert self.gate is not None and self.machine is not None
        facts = message.facts
        self.received += 1
        for at, size in facts["sizes"]:
            self.machine.sizes[self._sizes[at]] = size
        if message.kind is MessageKind.DATA:
            number, arrays = facts["transfer"], message.arrays
            if "digest" in facts:
                if not facts["held"]:
                    self.held[number] = facts["digest"], arrays
                _, arrays = self.held[number]
                for items in arrays:
                    items.flags.writeable = False  # the next run reads it too
            boxes = [None if box is None else tuple((start, stop) for start, stop in box) for box in facts["boxes"]]
            self._came[number].append([*zip(boxes, arrays, strict=True)])
            self._counts["came"][number] += 1
            self.gate.arrived(("arrival", number, self._counts["came"][number]), 1)
        else:
            fence = facts["fence"]
            self.gate.arrived(tuple(fence) if len(fence) > 1 else fence[0], facts["of"])

    def state(self) -> dict[str, Any]:
        """The counts that home compares.  See Note [At rest]."""
        with self._lock:
            return {"idle": self.gate is not None and self.gate.is_idle(), "sent": self.sent, "received": self.received}

    def halt(self, error: BaseException | None = None) -> None:
        """Stops the queues of this process, now or as soon as they begin."""
        with self._lock:
            self._halted.append(error)
            gate = self.gate
        if gate is not None:
            gate.halt(error)

# ---------------------------------------------------------------------------------------------------- times of steps
#
# The times of steps in each process of a run, converted to home's clock for an observer, and their ratio to the predicted times.
#
# Clocks of two machines are never compared.  A worker measures from the message that starts the run to the message that ends it.
# Home knows when it sent the first and received the second, and centres the worker's interval in its own.  So all times of a
# worker have the same error, at most half of the time of the two messages.

MAX_RECORDED_STEPS: Final = 100_000
"""The most executions that are recorded individually; later ones are summed up by step, as a count and total time."""
_FIELDS: Final = 6
MIN_COMPARED_NS: Final = 50_000_000
"""Runs whose phases take less, by prediction and by measurement, are not compared with the tables."""
DRIFT_RUNS: Final = 3
"""The number of consecutive runs that must be off before tables are corrected."""


@dataclass(slots=True)
class Journal:
    """The journal of one process: rows (is it a transfer, its number, its queue, start, end, count), in ns since `began`."""

    shares: Shares
    began: int = field(default_factory=perf_counter_ns)
    fields: array[int] = field(default_factory=lambda: array("q"))
    more: dict[tuple[int, int, int], list[int]] = field(default_factory=dict)

    def __call__(self, took: StepTiming) -> None:
        moved = isinstance(took.step, TransferStep)
        number = self.shares.transfers[took.step] if isinstance(took.step, TransferStep) else took.step.id
        key = int(moved), number, self.shares.number_of[took.queue]
        if len(self.fields) < MAX_RECORDED_STEPS * _FIELDS:
            self.fields.extend((*key, took.start - self.began, took.end - self.began, 1))
        else:
            times, ns = self.more.get(key, (0, 0))
            self.more[key] = [times + 1, ns + took.ns]

    def rows(self) -> Any:
        """The rows as a table of integers."""
        more = [(*key, 0, ns, times) for key, (times, ns) in self.more.items()]
        recorded = np.array(self.fields, np.int64).reshape(-1, _FIELDS)
        return np.concatenate([recorded, np.array(more, np.int64).reshape(-1, _FIELDS)])

    @property
    def span(self) -> int:
        """Nanoseconds since the start."""
        return perf_counter_ns() - self.began

    @property
    def seen(self) -> ProcessJournal:
        """The journal of this process, as home would receive it."""
        return ProcessJournal("", self.began, self.span, self.began + self.span, self.rows())


@dataclass(slots=True)
class ComputeTime:
    """Compares the measured with the predicted time of one process's phases; passes each step on to `journal`."""

    expected: Mapping[int, int]
    """Predicted nanoseconds by phase."""
    journal: Journal | None = None
    ns: int = 0
    handled: int = 0
    """The nanoseconds of messages among the predicted ones, which are measured with no phase."""

    @staticmethod
    def of(shares: Shares, process: Process, journal: Journal | None, handled: int = 0) -> ComputeTime:
        """The comparison for the phases, or parts of them, that the plan assigns to a process."""
        expected: dict[int, int] = {}
        for queue in shares.plan.main.queues:
            if queue.kind is not QueueKind.COPY and shares.where.get(queue.device) == process:
                for step in queue.steps:
                    if isinstance(step, RunStep):
                        expected[step.phase] = expected.get(step.phase, 0) + (step.end - step.start) * shares.plan.tick_ns
        return ComputeTime({phase: ns for phase, ns in expected.items() if ns}, journal, 0, handled)

    def __call__(self, took: StepTiming) -> None:
        if self.journal is not None:
            self.journal(took)
        if not isinstance(took.step, TransferStep) and took.step.id in self.expected:
            self.ns += took.ns

    @property
    def ratio(self) -> Fraction | None:
        """The ratio of measured to predicted time; None if either is too short to compare."""
        expected = sum(self.expected.values()) - self.handled
        return Fraction(self.ns, expected) if expected > 0 and self.ns and max(self.ns, expected) >= MIN_COMPARED_NS else None


def message_ns(plan: ExecutionPlan, exchanged: Collection[ValueId], device: DeviceId, profile: Profile) -> int:
    """The predicted nanoseconds of a device's messages from and to home, which are part of its phases (`with_messages`)."""
    known = profile.device(device)
    if known is None or (table := known.ops.get(MESSAGE)) is None:
        return 0
    ends = {device, plan.home}
    sent = (step for queue in plan.main.queues for step in queue.steps if isinstance(step, TransferStep))
    sizes = [step.bytes for step in sent if {step.source, step.target} == ends and step.value in exchanged]
    return sum(table.at(size) for size in sizes) // (known.threads * GRAIN)


@dataclass(slots=True)
class Drift:
    """The deviation of a process from its predictions over consecutive runs.  `factor`: the correction of its predicted times."""

    factor: Fraction = Fraction(1)
    ratios: list[Fraction] = field(default_factory=list)

    def add(self, ratio: Fraction | None, interval: tuple[float, float]) -> bool:
        """Counts a run; `interval`: the ratios that count as predicted.  Returns True if the factor changed, because DRIFT_RUNS
        consecutive runs were all slower, or all faster, than predicted."""
        low, high = interval
        if ratio is None:
            return False
        if low <= ratio <= high:
            self.ratios.clear()
            return False
        if self.ratios and (self.ratios[0] > 1) != (ratio > 1):
            self.ratios.clear()
        self.ratios.append(ratio)
        if len(self.ratios) < DRIFT_RUNS:
            return False
        self.factor = (self.factor * sorted(self.ratios)[DRIFT_RUNS // 2]).limit_denominator(1000) or self.factor
        self.ratios.clear()
        return True


@dataclass(slots=True)
class ProcessJournal:
    """The journal of a process as home knows it: when home requested the run, how long the process says that it took, and when it
    reported."""

    address: str = ""
    asked: int = field(default_factory=perf_counter_ns)
    span: int = 0
    answered: int = 0
    rows: Any = ()

    def has_ended(self, facts: Mapping[str, Any], arrays: Sequence[Any]) -> None:
        self.span, self.answered, (self.rows,) = facts["span"], perf_counter_ns(), arrays

    @property
    def slack(self) -> int:
        """The uncertainty of its times in nanoseconds."""
        return max(0, self.answered - self.asked - self.span) // 2

    @property
    def process(self) -> str:
        return f"{self.address}, to {self.slack / 1e6:.2f} ms" if self.address else ""


def report_step_times(observe: Observer, crossing: ClusterTransport, journals: Iterable[ProcessJournal]) -> None:
    """Reports the steps of all processes to the observer, in home's time."""
    assert crossing.machine is not None, "it has run"
    transfers = {number: step for step, number in crossing.shares.transfers.items()}
    queues: dict[int, DeviceId] = {number: queue for queue, number in crossing.shares.number_of.items()}
    for seen in journals:
        began = seen.asked + seen.slack
        for moved, number, queue, start, end, times in np.asarray(seen.rows).tolist():
            step = transfers[number] if moved else crossing.machine.phases[PhaseId(number)]
            observe(StepTiming(step, queues[queue], began + start, began + end, times, seen.process))
