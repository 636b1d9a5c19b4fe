"""What the devices of a run hold, and which pieces of it transfers are still to read.

Note [Deferred frees].  A piece that is freed while transfers still have to read it goes when the last of them has, as
operands of a copy do on a real queue.

Neighbours: `steps` and `turning` (use it), `queues` (makes one for each queue), `pieces`, `others` (what is in other processes).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from threading import RLock
from typing import Any, TypeAlias

from ..graph.phases import PhaseId, ValueId
from ..schedule.facts.sharding import meet
from ..schedule.plan.model import ALIGNMENT, Box
from ..schedule.plan.parts import DeviceId
from .machine import Machine
from .others import ALONE, Others
from .pieces import Holdings, extents

Action: TypeAlias = Callable[[], None]


@dataclass(slots=True)
class Fleet:
    """The holdings of every device of this process, and the boxes that transfers are still to read of their values."""

    machine: Machine
    holdings: dict[DeviceId, Holdings]
    combined: frozenset[PhaseId]
    sharing: frozenset[ValueId]
    to_read: dict[tuple[DeviceId, ValueId], Counter[Box | None]] = field(default_factory=dict)
    deferred: dict[tuple[DeviceId, ValueId], list[Box | None]] = field(default_factory=dict)
    lock: Any = field(default_factory=RLock)
    others: Others = ALONE

    def bytes(self, value: ValueId, box: Box | None = None, partials: int = 1) -> int:
        """Bytes of a buffer, rounded to its grain; results of one phase share one, and the partial results of a box of rows."""
        shape = self.machine.cap_shape(value) if box is None else extents(box)
        size = prod(shape) * self.machine.kind(value).bytes * partials
        return size if value in self.sharing else -(-size // ALIGNMENT) * ALIGNMENT

    def free(self, device: DeviceId, value: ValueId, box: Box | None) -> None:
        """See Note [Deferred frees]."""
        with self.lock:
            if any(meet(box, other) for other in self.to_read.get((device, value), ())):
                self.deferred.setdefault((device, value), []).append(box)
            else:
                self._let_go(device, value, box)

    def has_read(self, device: DeviceId, value: ValueId, box: Box | None) -> None:
        left = self.to_read[device, value]
        left[box] -= 1
        if not left[box]:
            del left[box]
        waiting = self.deferred.get((device, value), [])
        for piece in [one for one in waiting if meet(one, box) and not any(meet(one, other) for other in left)]:
            waiting.remove(piece)
            self._let_go(device, value, piece)

    def _let_go(self, device: DeviceId, value: ValueId, box: Box | None) -> None:
        holdings = self.holdings[device]
        if box is not None and box == tuple((0, size) for size in self.machine.cap_shape(value)):
            holdings.free_whole(value, box)
        else:
            holdings.free(value, box)
