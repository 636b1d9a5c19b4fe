"""How a queue gets on: its steps in order, what it waits for before each, and what it hands on after it.

A queue is a generator.  It yields what it waits for, and is resumed when that has come; who is resumed is for its driver: `clock`
takes the queue whose next step starts first on the predicted clock, `threads` gives each a thread.  The queues of a plan are
gone along so, and those of each turn of a loop that they run together (`turning`).

Neighbours: `steps` (what steps do), `distributed` (asks), `others` (queues in other processes), `firsts` (where a queue is).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol, TypeAlias

from ..graph import traverse
from ..graph.phases import PhaseId, ValueId
from ..schedule.plan.model import Box, CombineStep, FenceStep, JoinStep, LoopStep, Queue, Step, TransferStep, WaitStep
from ..schedule.plan.parts import DeviceId
from .firsts import Order
from .fleet import Action, Fleet
from .machine import Machine
from .others import Others

Compile: TypeAlias = Callable[[Fleet, Step, DeviceId], Action]


class Awaited(NamedTuple):
    """What a queue waits for: a fence (None: nothing), then a tick of the predicted clock."""

    fence: Hashable | None
    tick: int = 0


@dataclass(slots=True)
class Fences:
    """How often each fence is still to be come to; `now`: the tick, where there is a clock."""

    to_come: dict[Hashable, int] = field(default_factory=dict)
    now: int = 0

    def is_passed(self, fence: Hashable) -> bool:
        return not self.to_come.get(fence, 1)

    def passed(self, fence: Hashable, of: int) -> None:
        """One of so many queues has come to a fence."""
        self.to_come[fence] = self.to_come.get(fence, of) - 1

    def forget(self, fences: Sequence[Hashable]) -> None:
        """Nobody will wait for these again."""
        for fence in fences:
            self.to_come.pop(fence, None)


@dataclass(slots=True)
class Queues:
    """The queues of a plan, or of a turn of a loop, by number: their steps in this process, and what these do.

    `counts`: how many queues of all processes come to each fence; `reads`: what transfers read."""

    fleets: dict[int, Fleet]
    steps: dict[int, tuple[Step, ...]]
    actions: dict[int, list[Action]]
    counts: Counter[Hashable]
    reads: dict[tuple[DeviceId, ValueId], Counter[Box | None]]
    order: Order
    others: Others

    @property
    def fleet(self) -> Fleet:
        """What all have, whichever machine of which queue it names."""
        return next(iter(self.fleets.values()))

    def begin(self) -> None:
        """Transfers are to read what they read each time."""
        self.fleet.to_read.update({key: Counter(boxes) for key, boxes in self.reads.items()})


def compile_queues(queues: Mapping[int, Queue], machines: Mapping[int, Machine], around: Fleet, compile: Compile) -> Queues:
    """Queues by number, with the machine of each, on the devices of a fleet."""
    counts, reads = Counter[Hashable](), dict[tuple[DeviceId, ValueId], Counter[Box | None]]()
    combined: set[PhaseId] = set()
    others = around.others
    for queue in queues.values():
        for step in queue.steps:
            if isinstance(step, FenceStep):
                counts[step.fence] += others.runners(queue)
            elif isinstance(step, CombineStep):
                combined.add(step.phase)
            elif isinstance(step, TransferStep) and others.is_here(step.source):
                reads.setdefault((step.source, step.value), Counter())[step.box] += 1
    phases = next(iter(machines.values())).phases
    several = [made for made in map(traverse.results, phases.values()) if len(made) > 1]
    sharing = frozenset(value for made in several for value in made)
    common = replace(around, combined=frozenset(combined), sharing=sharing, to_read={}, deferred={})
    fleets = {which: replace(common, machine=machine) for which, machine in machines.items()}
    steps = {which: others.steps(queue) for which, queue in queues.items()}
    actions = {
        which: [compile(fleets[which], step, queue.device) for step in steps[which]] for which, queue in queues.items()
    }  # fmt: skip
    order = Order(queue.steps for queue in queues.values())
    return Queues(fleets, steps, actions, counts, reads, order, others)


class Gang(Protocol):
    """A loop that several queues run together (`turning`)."""

    def go(self, course: Course, fences: Fences) -> Iterator[Awaited]:
        """The part of one of them."""


@dataclass(slots=True)
class Course:
    """A queue on its way, and where it is (`Order`).  `turn`: of which loop and turn, whose ticks count from `began`."""

    which: int
    queues: Queues
    gangs: Mapping[PhaseId, Gang] = field(default_factory=dict)
    turn: tuple[int, ...] = ()
    began: int = 0
    at: tuple[int, ...] = (0,)

    def go(self, fences: Fences) -> Iterator[Awaited]:
        queues = self.queues
        steps, actions = queues.steps.get(self.which, ()), queues.actions.get(self.which, ())
        for step, action in zip(steps, actions, strict=True):
            self.at = queues.order.of(step, self.at)
            yield Awaited(self.fence_before(step), self.began + getattr(step, "start", 0))
            if isinstance(step, LoopStep | JoinStep) and step.phase in self.gangs:
                yield from self.gangs[step.phase].go(self, fences)
            else:
                action()
            if isinstance(step, FenceStep):
                fences.passed(self.named(step.fence), queues.counts[step.fence])

    def fence_before(self, step: Step) -> Hashable | None:
        if isinstance(step, WaitStep):
            return self.named(step.fence)
        return self.queues.others.awaited(step) if isinstance(step, TransferStep) else None

    def named(self, fence: Hashable) -> Hashable:
        """Fences in a loop are new in every turn."""
        return (*self.turn, fence) if self.turn else fence
