"""Which steps of a plan each process runs.

The queue of a device is run by the process of the device.  The queue of a channel is run by every process at which its transfers
start or end.  Each takes the transfers that it sends or receives, the frees of its devices, and all waits and fences; so a fence
of the queue passes when all steps before it are complete at both ends.  Each part keeps the order of the queue, so the waits are
the same as in one process.

A store is available to every process, and the receiver of a transfer from it reads the file.  The queue of a store only states
where its values are, which home does for all.

Neighbours: `crossing` (asks), `run.others`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NewType, TypeAlias

from ...graph.phases import PhaseId
from ...schedule.facts.stores import stores_of
from ...schedule.plan.model import FreeStep, JoinStep, LoopStep, Plan, Queue, QueueKind, Step, TransferStep, WaitStep, inside
from ...schedule.plan.parts import DeviceId

Process = NewType("Process", int)
"""0 is home."""
HOME = Process(0)
Where: TypeAlias = Mapping[DeviceId, Process]
_Key: TypeAlias = tuple[DeviceId, QueueKind]


@dataclass(slots=True)
class Shares:
    """The steps of every process.  `waiting`: the processes that wait for each fence of the plan; `joined`: those that run each
    loop together; `transfers`: every transfer by its number; `number_of`: so every device and link that has a queue."""

    plan: Plan
    where: Where
    owners: dict[_Key, frozenset[Process]] = field(default_factory=dict)
    waiting: dict[Hashable, frozenset[Process]] = field(default_factory=dict)
    joined: dict[PhaseId, frozenset[Process]] = field(default_factory=dict)
    transfers: dict[TransferStep, int] = field(default_factory=dict)
    number_of: dict[DeviceId, int] = field(default_factory=dict)
    kept: frozenset[int] = frozenset()
    """The transfers of what is left on another device than home."""
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
            own = self.owners[queue.device, queue.kind]
            for step in queue.steps:
                if isinstance(step, WaitStep):
                    self.waiting[step.fence] = self.waiting.get(step.fence, frozenset()) | own
                elif isinstance(step, LoopStep | JoinStep):
                    self.joined[step.phase] = self.joined.get(step.phase, frozenset()) | own

        self.kept = frozenset(self.transfers[step] for step in _left(self.plan))

    def ends(self, queue: Queue) -> Iterator[Process]:
        """The processes that a queue has something for."""
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
        """Those that have something to do."""
        busy = {process for queue in self.plan.main.queues if queue.steps for process in self.owners[queue.device, queue.kind]}
        return sorted(busy | {HOME})


def _left(plan: Plan) -> Iterator[TransferStep]:
    """To where nothing frees what was sent."""
    steps = [(queue.device, step) for queue in plan.main.queues for step in queue.steps]
    freed = {(step.device or at, value) for at, step in steps if isinstance(step, FreeStep) for value in step.values}
    sent = (step for _, step in steps if isinstance(step, TransferStep) and not step.partial)
    return (step for step in sent if step.target != plan.home and (step.target, step.value) not in freed)


def _queues(plan: Plan) -> Iterator[Queue]:
    """Those of the plan, and of turns of loops that several run together."""
    for queue in plan.main.queues:
        yield queue
        for step in queue.steps:
            if isinstance(step, LoopStep) and step.rows is not None:
                for part in inside(step):
                    yield from part.queues
