"""Who else runs parts of a plan: what the loops that execute queues ask about devices that are not in this process.

By default nobody does (`ALONE`), and every step is run here.  `cluster.crossing` is the other answer: a process runs the steps of
its own devices, and values, fences and run-time sizes go between processes.

Neighbours: `queues`, `steps`, `threads` (ask), `cluster.shares` (who runs what).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final, Protocol, TypeAlias

from ...typechecker.elements import Kind
from ..schedule.plan.model import Box, Queue, Step, TransferStep
from ..schedule.plan.parts import DeviceId
from .machine import Machine

Parts: TypeAlias = Sequence[tuple[Box | None, Any]]
"""What a transfer carries: arrays with their boxes, None for the whole value."""


class Gate(Protocol):
    """Where the threads of a process wait for each other, and for other processes."""

    def arrived(self, fence: Hashable, of: int) -> None:
        """One of so many queues, one of another process, has come to a fence."""

    def forget(self, fences: Sequence[Hashable]) -> None: ...
    def halt(self, error: BaseException | None) -> None:
        """Let no queue go on; with an error, that is why."""

    def is_idle(self) -> bool:
        """Does every queue wait for what is still to come, or has it ended?"""


class Others:
    """Nobody: all devices are here."""

    __slots__ = ()

    def is_here(self, device: DeviceId) -> bool:
        return True

    def steps(self, queue: Queue) -> tuple[Step, ...]:
        """The steps of a queue, of the plan or of a turn, that this process runs."""
        return queue.steps

    def runners(self, queue: Queue) -> int:
        """How many processes come to the fences of a queue."""
        return 1

    def begin(self, machine: Machine, gate: Gate) -> None:
        """The queues of this process are about to run."""

    def passed(self, fence: Hashable, of: int) -> None:
        """A queue of this process has come to a fence."""

    def failed(self, start: tuple[int, ...], queue: int) -> None:
        """A queue of this process has ended by a failure of the program, at a step that starts then."""

    def awaited(self, step: TransferStep) -> Hashable | None:
        """What to wait for before a transfer: its arrival, where it comes from another process."""
        return None

    def send(self, step: TransferStep, parts: Parts, kind: Kind) -> None:
        raise AssertionError("every device is here")

    def receive(self, step: TransferStep, kind: Kind) -> Parts:
        """What has arrived of a transfer."""
        raise AssertionError("every device is here")


ALONE: Final = Others()
