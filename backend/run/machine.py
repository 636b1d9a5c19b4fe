"""The state of one run, and what it leaves.

Neighbours: `executor` and `prepared` (make one), `words.interpret` (works on it), `device` (what a back end offers).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter_ns
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeAlias

from ...typechecker.elements import Kind
from ..graph.bind import BoundGraph
from ..graph.phases import Phase, PhaseId
from ..schedule.plan.model import StreamStep, TransferStep
from ..schedule.plan.parts import DeviceId
from .device import Backend, Types
from .memory import Memory


class Shown(NamedTuple):
    """A value that left the run: its kind, and a host array (text has dtype `U1`)."""

    kind: Kind
    value: Any


class Results(NamedTuple):
    """Printed values in order, outputs by name; `held`: the most bytes that each device of several held.

    (As `Shown` made once a run, of which there may be a million a second: tuples are made in a quarter of the time.)"""

    printed: tuple[Shown, ...]
    outputs: Mapping[str, Shown]
    held: Mapping[DeviceId, int] = MappingProxyType({})


Action: TypeAlias = Callable[[Memory], None]
"""What a word does on a memory."""


class Took(NamedTuple):
    """One execution of a step, of a phase or of a transfer, by the queue of a device or of a link, in nanoseconds of this
    process's clock.

    `times`: so many executions, of a worker that had too many to tell of each.  `process`: which worker's, empty here."""

    step: Phase | TransferStep
    queue: DeviceId
    start: int
    end: int
    times: int = 1
    process: str = ""

    @property
    def ns(self) -> int:
        return self.end - self.start


Observer: TypeAlias = Callable[[Took], None]
"""Told of every execution when it is over, phases inside others before those around them."""


@dataclass(slots=True)
class Progress:
    """How far the passes of a run have come, in bytes read."""

    done: int = 0
    total: int = 0


class Stores(Protocol):
    """What runs passes over inputs that are never whole (`streams.driver`)."""

    @property
    def progress(self) -> Progress: ...

    def action(self, machine: Machine, step: StreamStep, device: DeviceId) -> Action:
        """What one pass does on a memory."""


@dataclass(slots=True)
class Machine(Types):
    """The state of one run."""

    backends: Mapping[DeviceId, Backend] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    memories: dict[DeviceId, Memory] = field(default_factory=dict)
    phases: Mapping[PhaseId, Phase] = field(default_factory=dict)
    printed: list[Shown] = field(default_factory=list)
    outputs: dict[str, Shown] = field(default_factory=dict)
    current: Phase | None = None
    around: BoundGraph | None = None
    """The graph that is run, for loops that queues run together."""
    observe: Observer | None = None
    stores: Stores | None = None
    """Of a plan with passes over inputs that are never whole."""
    making: Any = field(default_factory=Lock)
    """Held while a kernel is made: queues may be threads."""

    def observed(self, action: Callable[..., None], step: Phase | TransferStep, queue: DeviceId) -> Callable[..., None]:
        """An action of which whoever observes is told."""
        observe = self.observe
        if observe is None:
            return action

        def act(*memory: Memory) -> None:
            start = perf_counter_ns()
            action(*memory)
            observe(Took(step, queue, start, perf_counter_ns()))

        return act
