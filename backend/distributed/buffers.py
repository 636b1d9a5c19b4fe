"""The buffers of each device in a plan of several devices: full values, pieces of values, and partial results.

A piece is a box of a value with its array.  A step reads the box that it needs: a view if one piece covers it, else a new array
assembled from the pieces.  Arrays are immutable here, so views are safe.

`limit` is the device's memory in bytes; holding more logical bytes at the end of a tick raises `OutOfMemory`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import Enum
from math import prod
from threading import RLock
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from ...lang.support.records import dataclass, field
from ...typechecker.elements import Kind
from ..graph.phases import PhaseId, ValueId
from ..schedule.plan.plan import ALIGNMENT, Box, DeviceId, Queue, Step, TransferStep
from ..schedule.program_facts.partitioning import boxes_overlap
from ..vm.run_state import Backend, Index, Kernel, Memory, RunState

# ---------------------------------------------------------------------------------------------------- parts of values

class OutOfMemory(Exception):
    """Raised when a device would exceed its memory: `held` and `limit` in bytes."""

    def __init__(self, held: int, limit: int) -> None:
        super().__init__(f"{held} bytes of {limit}")
        self.held = held
        self.limit = limit


@dataclass(slots=True)
class DeviceBuffers:
    """The buffers of one device.  `memory`: the full values, for kernels of undivided phases; `held`, `peak`: bytes in use at
    present and at most; `touched` collects the devices that allocated; `kernels`: those of its shards (`steps.KernelCache`).
    `wholes`: values that are results as a whole, with their kinds; the pieces of each are parts of one array (`rooms`)."""

    name: DeviceId
    backend: Backend
    touched: set[DeviceId]
    limit: int | None = None
    memory: Memory = field(default_factory=dict)
    pieces: dict[ValueId, dict[Box, Any]] = field(default_factory=dict)
    partials: dict[ValueId, list[tuple[Box, Any]]] = field(default_factory=dict)
    held: int = 0
    peak: int = 0
    sizes: dict[ValueId, dict[Box | None, int]] = field(default_factory=dict)
    kernels: dict[Hashable, Kernel] = field(default_factory=dict)
    wholes: Mapping[ValueId, Kind] = field(default_factory=dict)
    rooms: dict[ValueId, Any] = field(default_factory=dict)

    def room(self, value: ValueId, box: Box | None, shape: tuple[int, ...]) -> Any:
        """The array in which a piece must be stored; None if it may be anywhere."""
        if value not in self.wholes or box is None:
            return None
        if value not in self.rooms:
            self.rooms[value] = self.backend.empty(self.wholes[value], shape)
        return self.rooms[value][slices(box)]

    def count(self, value: ValueId, box: Box | None, size: int) -> None:
        """Counts the bytes of a value or a piece of it."""
        sizes = self.sizes.setdefault(value, {})
        if box in sizes:
            return
        sizes[box] = size
        self.held += size
        self.touched.add(self.name)

    def count_result(self, size: int) -> None:
        """Counts a copy that is a result of the run."""
        self.held += size
        self.touched.add(self.name)

    def check_limit(self) -> None:
        """Updates the peak and checks the limit at the end of a tick, since buffers that exchange within one tick do not add up.

        Raises OutOfMemory."""
        self.peak = max(self.peak, self.held)
        if self.limit is not None and self.held > self.limit:
            raise OutOfMemory(self.held, self.limit)

    def add_piece(self, value: ValueId, box: Box | None, array: Any, shape: tuple[int, ...]) -> None:
        """Adds a piece; a piece that is the full value goes to `memory`."""
        if box is None or is_whole(box, shape):
            self.memory[value] = array
        else:
            array = placed(self.room(value, box, shape), array)
            self.pieces.setdefault(value, {})[box] = array

    def free(self, value: ValueId, box: Box | None) -> None:
        """Frees all pieces of a value (box None), or one piece."""
        if box is None:
            self.rooms.pop(value, None)
            self.memory.pop(value, None)
            self.pieces.pop(value, None)
            self.partials.pop(value, None)
            self.held -= sum(self.sizes.pop(value, {}).values())
            return
        sizes, gone = self.sizes.get(value, {}), self.partials_in(value, box)
        for part in (box, *(one for one, _ in gone)):
            self.held -= sizes.pop(part, 0)
        if value in self.pieces:
            self.pieces[value].pop(box, None)
        if gone:
            boxes = [one for one, _ in gone]
            self.partials[value] = [piece for piece in self.partials[value] if piece[0] not in boxes]
        if not sizes:
            self.memory.pop(value, None)
            self.rooms.pop(value, None)

    def free_whole(self, value: ValueId, box: Box) -> None:
        """Frees the piece that is the full value; `box` is its box."""
        self.memory.pop(value, None)
        self.pieces.get(value, {}).pop(box, None)
        for one in (None, box):
            self.held -= self.sizes.get(value, {}).pop(one, 0)

    def partials_in(self, value: ValueId, box: Box | None) -> list[tuple[Box, Any]]:
        """The partial results of subtrees in a box (None: all of them)."""
        return [
            piece for piece in self.partials.get(value, ())
            if box is None or all(a <= c and d <= b for (a, b), (c, d) in zip(box, piece[0], strict=True))
        ]  # fmt: skip

    def read(self, value: ValueId, box: Box, kind: Kind, shape: tuple[int, ...]) -> Any:
        """The array of a box of a value: a view where one piece covers it."""
        full = self.memory.get(value)
        if full is not None:
            return full if is_whole(box, shape) else self.backend.part(full, slices(box))
        held = self.pieces.get(value, {})
        if box in held:
            return held[box]
        if value in self.rooms and is_whole(box, shape) and sum(prod(extents(part)) for part in held) == prod(shape):
            return self.rooms[value]
        for part, array in held.items():
            if all(a <= b and c <= d for (a, d), (b, c) in zip(part, box, strict=True)):
                return self.backend.part(array, slices(relative_to(box, part)))
        return self.assemble(held, box, kind)

    def read_in_place(self, value: ValueId, box: Box, kind: Kind, shape: tuple[int, ...]) -> Any:
        """An array of the full shape, of which only the box is filled."""
        if value in self.memory:
            return self.memory[value]
        target = self.backend.empty(kind, shape)
        if all(start < stop for start, stop in box):
            self.backend.store(target, slices(box), self.read(value, box, kind, shape))
        return target

    def assemble(self, held: Mapping[Box, Any], box: Box, kind: Kind) -> Any:
        """A new array of a box, assembled from the pieces that overlap it."""
        target = self.backend.empty(kind, extents(box))
        missing = prod(extents(box))
        for source, array in held.items():
            common = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(source, box, strict=True))
            if all(start < stop for start, stop in common):
                part = self.backend.part(array, slices(relative_to(common, source)))
                self.backend.store(target, slices(relative_to(common, box)), part)
                missing -= prod(extents(common))
        if missing > 0:
            raise AssertionError("a step needs what its device does not hold")
        return target


def placed(room: Any, array: Any) -> Any:
    """The array, copied into `room` unless it is already there."""
    if room is None or np.may_share_memory(room, array):
        return array
    room[...] = array
    return room


def is_whole(box: Box, shape: tuple[int, ...]) -> bool:
    return all(start == 0 and stop == size for (start, stop), size in zip(box, shape, strict=True))


def relative_to(box: Box, outer: Box) -> Box:
    """A box relative to the origin of another."""
    return tuple((start - origin, stop - origin) for (start, stop), (origin, _) in zip(box, outer, strict=True))


def slices(box: Box) -> Index:
    return tuple(slice(start, stop) for start, stop in box)


def extents(box: Box) -> tuple[int, ...]:
    return tuple(max(0, stop - start) for start, stop in box)


# -------------------------------------------------------------------------------------------------- transport between processes
#
# The interface through which values, fences and run-time sizes reach other processes that run parts of a plan.
#
# `LOCAL`: all devices are in this process.  `cluster.cluster_transport`: each process runs the steps of its own devices.

Parts: TypeAlias = Sequence[tuple[Box | None, Any]]
"""The contents of a transfer: arrays with their boxes (None: the whole value)."""


class FenceRegistry(Protocol):
    """The fences at which the threads of a process wait for each other, and for other processes."""

    def arrived(self, fence: Hashable, of: int) -> None:
        """Called when a queue of another process has reached a fence that `of` queues must reach."""

    def forget(self, fences: Sequence[Hashable]) -> None: ...
    def halt(self, error: BaseException | None) -> None:
        """Stops all queues; `error` is the reason, if there is one."""

    def is_idle(self) -> bool:
        """Has every queue ended, or is it waiting for a fence?"""


class Transport:
    """The transport of a run within one process; `ClusterTransport` overrides it."""

    __slots__ = ()

    def is_local(self, device: DeviceId) -> bool:
        return True

    def steps(self, queue: Queue) -> tuple[Step, ...]:
        """The steps of a queue, of the plan or of a loop iteration, that this process runs."""
        return queue.steps

    def process_count(self, queue: Queue) -> int:
        """The number of processes that reach the fences of a queue."""
        return 1

    def begin(self, machine: RunState, gate: FenceRegistry) -> None:
        """Called before the queues of this process run."""

    def passed(self, fence: Hashable, of: int) -> None:
        """Called when a queue of this process has reached a fence that `of` queues must reach."""

    def failed(self, start: tuple[int, ...], queue: int) -> None:
        """Called when a failure of the program has ended a queue of this process, at a step with this start."""

    def arrival_fence(self, step: TransferStep) -> Hashable | None:
        """The fence to wait for before a transfer: its arrival, if it comes from another process."""
        return None

    def send(self, step: TransferStep, parts: Parts, kind: Kind) -> None:
        raise AssertionError("every device is here")

    def receive(self, step: TransferStep, kind: Kind) -> Parts:
        """The received parts of a transfer."""
        raise AssertionError("every device is here")


LOCAL: Final = Transport()


# ---------------------------------------------------------------------------------------------------- buffers of devices
#
# The buffers of all devices of a process, and the boxes that transfers have yet to read.
#
# Note [Deferred frees].  A piece that is freed while transfers have yet to read it is released after the last of them, as the
# operands of a copy on a real queue are.

Action: TypeAlias = Callable[[], None]


@dataclass(slots=True)
class RunBuffers:
    """The buffers of every device of this process, and the boxes that transfers have yet to read of their values.  `given`: the
    values that are results of the run already."""

    state: RunState
    devices: dict[DeviceId, DeviceBuffers]
    combined: frozenset[PhaseId]
    sharing: frozenset[ValueId]
    pending_reads: dict[tuple[DeviceId, ValueId], Counter[Box | None]] = field(default_factory=dict)
    deferred_frees: dict[tuple[DeviceId, ValueId], list[Box | None]] = field(default_factory=dict)
    given: set[ValueId] = field(default_factory=set)
    lock: Any = field(default_factory=RLock)
    transport: Transport = LOCAL

    def bytes(self, value: ValueId, box: Box | None = None, partials: int = 1) -> int:
        """Bytes of a buffer, rounded up to the alignment; values in `sharing` share a buffer, so they are not rounded."""
        shape = self.state.cap_shape(value) if box is None else extents(box)
        size = prod(shape) * self.state.kind(value).bytes * partials
        return size if value in self.sharing else -(-size // ALIGNMENT) * ALIGNMENT

    def free(self, device: DeviceId, value: ValueId, box: Box | None) -> None:
        """Frees a value or a box of it, after the transfers that read it.  See Note [Deferred frees]."""
        with self.lock:
            if any(boxes_overlap(box, other) for other in self.pending_reads.get((device, value), ())):
                self.deferred_frees.setdefault((device, value), []).append(box)
            else:
                self._release(device, value, box)

    def has_read(self, device: DeviceId, value: ValueId, box: Box | None) -> None:
        left = self.pending_reads[device, value]
        left[box] -= 1
        if not left[box]:
            del left[box]
        waiting = self.deferred_frees.get((device, value), [])
        for piece in [one for one in waiting if boxes_overlap(one, box) and not any(boxes_overlap(one, other) for other in left)]:
            waiting.remove(piece)
            self._release(device, value, piece)

    def _release(self, device: DeviceId, value: ValueId, box: Box | None) -> None:
        device_buffers = self.devices[device]
        if box is not None and box == tuple((0, size) for size in self.state.cap_shape(value)):
            device_buffers.free_whole(value, box)
        else:
            device_buffers.free(value, box)


class QueueClock(Enum):
    """Decides which queue advances next."""

    PREDICTED = "one step after the other, by the predicted clock"
    SIMULATED = "so, and no device may hold more than the memory that the plan declares"
    THREADS = "each in a thread of its own"
