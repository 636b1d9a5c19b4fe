"""Queues, fences and waits as data: what `fences` makes of a schedule and the verifier checks.

A queue completes its steps in order; a fence passes when the queues it names have completed steps up to a position; a wait
stands before a step.  See `fences` for how they are chosen.
"""

from __future__ import annotations

from enum import Enum
from typing import NewType

from ...lang.records import dataclass
from .answer import Placed
from .problem import DeviceIndex

QueueIndex = NewType("QueueIndex", int)


class QueueKind(Enum):
    COMPUTE = "compute"
    COPY = "copy"


@dataclass(frozen=True, slots=True)
class Queue:
    """`device` of a compute queue; `name` is the device's or the channel's."""

    kind: QueueKind
    name: str
    device: DeviceIndex | None
    steps: tuple[Placed, ...]


@dataclass(frozen=True, slots=True)
class Fence:
    """Passes when every (queue, position) of `after` is complete.  `source`: the device whose doing it tells of."""

    id: int
    source: DeviceIndex
    after: tuple[tuple[QueueIndex, int], ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """The queue goes no further than `position` before the fence passes."""

    queue: QueueIndex
    position: int
    fence: int


@dataclass(frozen=True, slots=True)
class Synchronisation:
    queues: tuple[Queue, ...]
    fences: tuple[Fence, ...]
    waits: tuple[Wait, ...]

    @property
    def syncs(self) -> int:
        """Waits of devices."""
        return sum(self.queues[wait.queue].kind is QueueKind.COMPUTE for wait in self.waits)
