"""Messages of a run between processes: values of transfers, fences that others wait for, and sizes known only during the run.

The source of a transfer sends it as soon as its queue reaches the step.  At the target the arrival is a fence, so waiting,
failing and stopping work as in one process (`threads`).  A size that a step finds is sent with the next message, and each
receiver passes it on.  So every process that knows of the step knows the size.

Note [At rest].  After a failure of the program all queues run as far as they can.  This phase is over when every process only
waits and no message is in transit: the numbers of messages sent and received agree, twice in a row.

Note [Kept].  A worker holds the values that the plan keeps there (`keep`) from one run to the next, so they are not sent again.
A value is identified by a digest of its bytes, which its sender computes in every run; an array that was changed in place is
another value.  A worker reports what it holds when a run acquires it, and releases it when another program runs there.

Neighbours: `wire`, `shares`, `home` and `resident` (who make one for a run).
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock
from typing import Any, TypeAlias

import numpy as np

from ....typechecker.elements import Kind as Element
from ....typechecker.sizes import SizeVariable
from ...graph import traverse
from ...schedule.plan.model import Queue, Step, TransferStep
from ...schedule.plan.parts import DeviceId
from ..cpu import CpuBackend
from ..files.stored import StoreBackend
from ..machine import Machine
from ..others import Gate, Others, Parts
from .shares import Process, Shares
from .wire import Connection, Kind, Message, bytes_of

Held: TypeAlias = dict[int, tuple[str, list[Any]]]
"""By transfer: a digest and the arrays (Note [Kept])."""


def digest_of(arrays: Sequence[Any]) -> str:
    """Of values, with their types and shapes."""
    found = sha256()
    for array in arrays:
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(bytes_of(np.ascontiguousarray(array)))
    return found.hexdigest()


@dataclass(slots=True)
class Crossing(Others):
    """One process of one run (`run.others`).  `links`: to every other process of it; `tell`: is told of a failure here; `held`:
    of runs before; `holds`: the digests that each process has by transfer, as JSON has them."""

    shares: Shares
    me: Process
    run: str
    links: Mapping[Process, Connection]
    tell: Callable[[], None] = lambda: None
    held: Held = field(default_factory=dict)
    holds: dict[str, Mapping[str, str]] = field(default_factory=dict)
    machine: Machine | None = None
    gate: Gate | None = None
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

    # ------------------------------------------------------------------------------ who runs what

    def is_here(self, device: DeviceId) -> bool:
        return self.shares.where[device] == self.me or device in self.shares.stores

    def backends(self) -> dict[DeviceId, CpuBackend]:
        """Those of the devices of this process."""
        own = [device for device in self.shares.plan.devices if self.is_here(device.id)]
        return {one.id: StoreBackend() if one.id in self.shares.stores else CpuBackend(one.threads) for one in own}

    def steps(self, queue: Queue) -> tuple[Step, ...]:
        found = self._steps.get(id(queue))
        if found is None:
            found = self._steps[id(queue)] = self.shares.steps(queue, self.me)
        return found

    def runners(self, queue: Queue) -> int:
        return len(self.shares.owners[queue.device, queue.kind])

    # ------------------------------------------------------------------------------ from here

    def begin(self, machine: Machine, gate: Gate) -> None:
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
                self._send(process, Kind.FENCE, {"fence": said, "of": of})

    def failed(self, start: tuple[int, ...], queue: int) -> None:
        self.failures.append((start, queue))
        self.tell()

    def awaited(self, step: TransferStep) -> Hashable | None:
        if self.is_here(step.source):
            return None
        number = self.shares.transfers[step]
        with self._lock:
            self._counts["awaited"][number] += 1
            return ("arrival", number, self._counts["awaited"][number])

    def send(self, step: TransferStep, parts: Parts, kind: Element) -> None:
        arrays = [np.asarray(array) for _, array in parts]
        number, target = self.shares.transfers[step], self.shares.where[step.target]
        facts: dict[str, Any] = {"transfer": number, "boxes": [box for box, _ in parts]}
        if number in self.shares.kept:
            there, facts["digest"] = self.holds.get(str(target), {}).get(str(number)), digest_of(arrays)
            facts["held"] = there == facts["digest"]
            if facts["held"]:
                arrays = []
            elif there is not None:  # room for what comes
                self.links[target].send(Kind.DROP, {"run": self.run, "transfer": number})
        self._send(target, Kind.DATA, facts, arrays)

    def receive(self, step: TransferStep, kind: Element) -> Parts:
        assert self.gate is not None
        number = self.shares.transfers[step]
        with self._lock:
            self._counts["received"][number] += 1
            self.gate.forget([("arrival", number, self._counts["received"][number])])
            return self._came[number].popleft()

    def _send(self, process: Process, kind: Kind, facts: dict[str, Any], arrays: list[Any] | None = None) -> None:
        with self._lock:
            self.sent += 1
            facts["run"], facts["sizes"] = self.run, self._known()
        self.links[process].send(kind, facts, arrays or ())

    def _known(self) -> list[tuple[int, int]]:
        """The run-time sizes that this process knows: all, as messages of several queues may overtake each other."""
        sizes = {} if self.machine is None else self.machine.sizes
        return [(at, sizes[v]) for at, v in enumerate(self._sizes) if v in sizes]

    # ------------------------------------------------------------------------------ from others

    def take(self, message: Message) -> None:
        """A value or a fence has come."""
        with self._lock:
            if message.kind is Kind.DROP:
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
        if message.kind is Kind.DATA:
            number, arrays = facts["transfer"], message.arrays
            if "digest" in facts:
                if not facts["held"]:
                    self.held[number] = facts["digest"], arrays
                _, arrays = self.held[number]
                for array in arrays:
                    array.flags.writeable = False  # the next run reads it too
            boxes = [None if box is None else tuple((start, stop) for start, stop in box) for box in facts["boxes"]]
            self._came[number].append([*zip(boxes, arrays, strict=True)])
            self._counts["came"][number] += 1
            self.gate.arrived(("arrival", number, self._counts["came"][number]), 1)
        else:
            fence = facts["fence"]
            self.gate.arrived(tuple(fence) if len(fence) > 1 else fence[0], facts["of"])

    def state(self) -> dict[str, Any]:
        """See Note [At rest]."""
        with self._lock:
            return {"idle": self.gate is not None and self.gate.is_idle(), "sent": self.sent, "received": self.received}

    def halt(self, error: BaseException | None = None) -> None:
        """Stop the queues of this process, now or as soon as they begin."""
        with self._lock:
            self._halted.append(error)
            gate = self.gate
        if gate is not None:
            gate.halt(error)
