"""Loops that several queues run together: every queue does its part of each turn, and nobody begins a turn before all are there.

A turn's entries take the states from where the loop's operands are, or where the last turn left them.  After a turn each device
keeps its states and lets go of everything else that the turn made.  On the predicted clock a whole turn runs at once, queue by
queue; queues that are threads meet at fences that are new in every turn, so that waiting, failing and stopping are as
anywhere else (`threads`).

Neighbours: `distributed` (who calls this, and compiles the steps), `graph.turns`, `schedule.facts.turns`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter_ns
from typing import Any

from ..graph import traverse
from ..graph.phases import ValueId
from ..graph.turns import Turn
from ..schedule.facts.turns import Shared, box_of_state
from ..schedule.plan.model import Box, CombineStep, FenceStep, Plan, QueueKind, RunStep, Step, SubPlan, TransferStep, WaitStep
from ..schedule.plan.parts import DeviceId
from .firsts import Order
from .fleet import Action, Fleet
from .machine import Machine, Took
from .others import Gate, Others

Compile = Callable[[Fleet, Step, DeviceId], Action]
Loop = Callable[[Sequence[Sequence[Step]], Sequence[Sequence[Action]], Action], None]


class Unreached(Exception):
    """A fence in a turn will never be passed: another queue has failed."""


@dataclass(slots=True)
class Side:
    """A turn, or what follows the last, compiled: by queue of the plan around it, its steps and what they do."""

    turn: Turn
    fleets: dict[int, Fleet]
    steps: dict[int, tuple[Step, ...]]
    actions: dict[int, list[Action]]
    reads: dict[tuple[DeviceId, ValueId], list[Box | None]]
    counts: dict[Hashable, int]

    def begin(self) -> None:
        """Transfers are to read again what they read in every turn."""
        for fleet in self.fleets.values():
            fleet.to_read.update({key: Counter(boxes) for key, boxes in self.reads.items()})
            break


@dataclass(slots=True)
class Together:
    """One loop; `states`: by device, the arrays of its states between turns, with their boxes."""

    plan: Plan
    shared: Shared
    fleets: Sequence[Fleet]
    compile: Compile
    body: Side = field(init=False)
    leave: Side | None = field(init=False, default=None)
    states: dict[DeviceId, list[Any]] = field(default_factory=dict)
    at: dict[int, tuple[int, ...]] = field(default_factory=dict)
    first: int = field(init=False)
    """Of the queues that this process runs."""
    parties: int = field(init=False)
    """How many meet where all queues meet, in all processes."""

    def __post_init__(self) -> None:
        queues = [which for which, _ in self.shared.parts]
        self.first = min(which for which in queues if self.takes_part(which))
        self.parties = sum(self.others.runners(self.plan.main.queues[which]) for which in queues)
        self.body = self.side(self.shared.step.body, self.shared.turn)
        if self.shared.step.leave is not None and self.shared.leave is not None:
            self.leave = self.side(self.shared.step.leave, self.shared.leave)

    # ------------------------------------------------------------------------------ compiling

    def side(self, plan: SubPlan, turn: Turn) -> Side:
        graph = turn.bound.graph
        where = {(queue.device, queue.kind): which for which, queue in enumerate(self.plan.main.queues)}
        others = self.others
        steps = [step for queue in plan.queues for step in queue.steps]
        several = [made for made in map(traverse.results, graph.phases) if len(made) > 1]
        reads: dict[tuple[DeviceId, ValueId], list[Box | None]] = {}
        counts: dict[Hashable, int] = {}
        for queue in plan.queues:
            for step in queue.steps:
                if isinstance(step, TransferStep) and others.is_here(step.source):
                    reads.setdefault((step.source, step.value), []).append(step.box)
                elif isinstance(step, FenceStep):
                    counts[step.fence] = counts.get(step.fence, 0) + others.runners(queue)
        common = replace(
            self.fleets[0], combined=frozenset(s.phase for s in steps if isinstance(s, CombineStep)),
            sharing=frozenset(value for made in several for value in made), to_read={}, deferred={},
        )  # fmt: skip
        phases = {phase.id: phase for phase in traverse.all_phases(graph)}
        side = Side(turn, {}, {}, {}, reads, counts)
        machines: dict[int, Machine] = {}
        for queue in plan.queues:
            which, own = where[queue.device, queue.kind], others.steps(queue)
            if not own and not self.takes_part(which):
                continue
            around = self.fleets[which].machine
            if id(around) not in machines:
                machines[id(around)] = replace(around, types=graph.types, phases=phases, current=None, observe=None)
            machine = machines[id(around)]
            fleet = side.fleets[which] = replace(common, machine=machine)
            side.steps[which] = own
            side.actions[which] = [self.action(fleet, turn, step, queue.device) for step in own]
        return side

    def action(self, fleet: Fleet, turn: Turn, step: Step, device: DeviceId) -> Action:
        entries = {phase.id: place for place, phase in enumerate(turn.bound.graph.phases[: len(turn.axes)])}
        if isinstance(step, RunStep) and step.phase in entries:
            return self.entry(fleet, turn, entries[step.phase], step.box, device)
        return self.compile(fleet, step, device)

    def entry(self, fleet: Fleet, turn: Turn, place: int, box: Box | None, device: DeviceId) -> Action:
        """The state is where it lies already."""
        machine, holdings = fleet.machine, fleet.holdings[device]
        value, first = turn.loop.body.params[place], turn.loop.initial[place]
        shape, kind = machine.cap_shape(value), machine.kind(value)
        wanted = tuple((0, n) for n in shape) if box is None else box

        def enter() -> None:
            with fleet.lock:
                own = self.states.get(device)
                array = holdings.take(first, wanted, kind, shape) if own is None else own[place]
                holdings.count(value, box, fleet.bytes(value, box))
                holdings.keep(value, box, array, shape)

        return enter

    # ------------------------------------------------------------------------------ between turns

    def boxes(self, device: DeviceId) -> list[tuple[int, Box | None]]:
        """The states that a device has, by place, and of each its box (None: all of it)."""
        rows = self.shared.rows_on(self.plan)[device]
        found: list[tuple[int, Box | None]] = []
        for place, axis in enumerate(self.shared.turn.axes):
            if axis is not None:
                found.append((place, box_of_state(self.shared.turn, place, rows)))
            elif device == self.plan.home:
                found.append((place, None))
        return found

    def is_last(self, device: DeviceId) -> bool:
        """Does a turn say, to that device, that it was the last?"""
        stop, fleet = self.shared.turn.stop, next(iter(self.body.fleets.values()))
        if stop is None:
            return False
        with fleet.lock:
            return bool(fleet.machine.backends[device].item(fleet.holdings[device].memory[stop]))

    def settle_states(self, device: DeviceId) -> None:
        """Keep the states that a turn has left on a device, and nothing else of the turn."""
        turn = self.shared.turn
        fleet = next(iter(self.body.fleets.values()))
        holdings = fleet.holdings[device]
        kept: list[Any] = [None] * len(turn.axes)
        with fleet.lock:
            for place, box in self.boxes(device):
                value = turn.next[place]
                shape = fleet.machine.cap_shape(value)
                wanted = tuple((0, n) for n in shape) if box is None else box
                kept[place] = holdings.take(value, wanted, fleet.machine.kind(value), shape)
            for phase in turn.bound.graph.phases:
                for value in traverse.results(phase):
                    holdings.free(value, None)
            self.states[device] = kept

    def finish(self, device: DeviceId) -> None:
        """The last states are the loop's results."""
        states = self.states.pop(device)
        if self.leave is not None:
            return
        fleet, loop = next(iter(self.body.fleets.values())), self.shared.turn.loop
        holdings = fleet.holdings[device]
        with fleet.lock:
            for place, box in self.boxes(device):
                value = loop.results[place]
                size = fleet.bytes(value, box)
                holdings.count(value, box, size)
                holdings.keep(value, box, states[place], fleet.machine.cap_shape(value))

    @property
    def others(self) -> Others:
        return self.fleets[0].others

    @property
    def devices(self) -> list[DeviceId]:
        """Those of this process that take part."""
        return [device for device in self.shared.rows_on(self.plan) if self.others.is_here(device)]

    def takes_part(self, which: int) -> bool:
        """Does a queue run in this process?"""
        return bool(self.others.steps(self.plan.main.queues[which]))

    def observed(self, which: int, start: int) -> None:
        machine = self.fleets[which].machine
        if machine.observe is not None:
            machine.observe(Took(self.shared.turn.loop, self.plan.main.queues[which].device, start, perf_counter_ns()))

    # ------------------------------------------------------------------------------ on the predicted clock

    def run(self, loop: Loop, settle: Action) -> None:
        """All turns, one queue after the other."""
        start = perf_counter_ns()
        for _ in range(self.shared.turn.loop.trip.constant or 0):
            self.one(self.body, loop, settle)
            stop = self.is_last(self.plan.home)
            for device in self.devices:
                self.settle_states(device)
            if stop:
                break
        if self.leave is not None:
            self.one(self.leave, loop, settle)
        for device in self.devices:
            self.finish(device)
        for which, _ in self.shared.parts:
            self.observed(which, start)

    def one(self, side: Side, loop: Loop, settle: Action) -> None:
        side.begin()
        try:
            loop(list(side.steps.values()), list(side.actions.values()), settle)
            settle()
        except BaseException:
            self.blame(side, next(iter(side.fleets)))  # all queues have one machine
            raise

    def blame(self, side: Side, which: int) -> None:
        """The phase at which a turn stopped is where the run stopped."""
        inner = side.fleets[which].machine
        if inner is not self.fleets[which].machine and inner.current is not None:
            self.fleets[which].machine.current = inner.current

    # ------------------------------------------------------------------------------ in threads

    def take_part(self, which: int, gate: Gate) -> None:
        """All turns of one queue.  Unreached: another has failed."""
        start = perf_counter_ns()
        self.fleets[which].machine.current = self.shared.turn.loop
        queue = self.plan.main.queues[which]
        device = queue.device if queue.kind is QueueKind.COMPUTE else None
        trip = self.shared.turn.loop.trip.constant or 0
        done = 0
        while done < trip:
            self.turn(self.body, which, gate, done)
            done += 1
            stop = self.is_last(self.devices[0] if device is None else device)
            if self.shared.turn.stop is not None:
                self.meet(gate, (self.shared.step.phase, done - 1, "told"), which)
            if device is not None:
                self.settle_states(device)
            if stop:
                break
        if self.leave is not None:
            self.turn(self.leave, which, gate, done)
        if device is not None:
            self.finish(device)
        self.observed(which, start)

    def is_first(self, which: int) -> bool:
        return which == self.first

    def turn(self, side: Side, which: int, gate: Gate, turn: int) -> None:
        id = self.shared.step.phase
        if self.is_first(which):
            side.begin()
        self.meet(gate, (id, turn, "begin"), which)
        if self.is_first(which):  # nobody is in the turn before any more
            gate.forget([(id, turn - 1, fence) for fence in ("begin", "end", "told", *self.body.counts)])
        self.at[which] = (turn, 0)
        order = Order(side.steps.values())
        for step, act in zip(side.steps.get(which, ()), side.actions.get(which, ()), strict=True):
            self.at[which] = (turn, *order.of(step, self.at[which][1:]))
            arrival = self.others.awaited(step) if isinstance(step, TransferStep) else None
            awaited = (id, turn, step.fence) if isinstance(step, WaitStep) else arrival
            if awaited is not None and not gate.wait(which, awaited):
                raise Unreached
            try:
                act()
            except BaseException:
                self.blame(side, which)
                raise
            if isinstance(step, FenceStep):
                gate.passed((id, turn, step.fence), side.counts[step.fence])
        self.meet(gate, (id, turn, "end"), which)

    def meet(self, gate: Gate, fence: Hashable, which: int) -> None:
        """Go on when all queues of the loop have come here."""
        gate.passed(fence, self.parties)
        if not gate.wait(which, fence):
            raise Unreached


@dataclass(slots=True)
class Part:
    """What one queue does at its step of a loop."""

    together: Together
    which: int

    def __call__(self) -> None:
        raise AssertionError("queues run a loop together, or not at all")
