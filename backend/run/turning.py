"""Loops that several queues run together: every queue does its part of each turn, and nobody begins a turn before all are there.

A turn's entries take the states from where the loop's operands are, or where the last turn left them.  After a turn each device
keeps its states and lets go of everything else that the turn made.  Queues meet at fences that are new in every turn, so that
waiting, failing and stopping are as anywhere else (`queues`).

Neighbours: `distributed` (who makes these), `steps`, `graph.turns`, `schedule.facts.turns`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter_ns
from typing import Any

from ..graph import traverse
from ..graph.turns import Turn
from ..schedule.facts.turns import Shared, box_of_state, length
from ..schedule.plan.model import Box, Plan, QueueKind, RunStep, Step, SubPlan
from ..schedule.plan.parts import DeviceId
from .fleet import Action, Fleet
from .machine import Took
from .queues import Awaited, Compile, Course, Fences, Queues, compile_queues


@dataclass(slots=True)
class Together:
    """One loop; `states`: by device, the arrays of its states between turns, with their boxes."""

    plan: Plan
    shared: Shared
    around: Queues
    compile: Compile
    body: Queues = field(init=False)
    leave: Queues | None = field(init=False, default=None)
    states: dict[DeviceId, list[Any]] = field(default_factory=dict)
    first: int = field(init=False)
    """Of the queues that this process runs."""
    parties: int = field(init=False)
    """How many meet where all queues meet, in all processes."""

    def __post_init__(self) -> None:
        queues, others = [which for which, _ in self.shared.parts], self.around.others
        self.first = min(which for which in queues if self.around.steps[which])
        self.parties = sum(others.runners(self.plan.main.queues[which]) for which in queues)
        self.body = self.side(self.shared.step.body, self.shared.turn)
        if self.shared.step.leave is not None and self.shared.leave is not None:
            self.leave = self.side(self.shared.step.leave, self.shared.leave)

    # ------------------------------------------------------------------------------ compiling

    def side(self, plan: SubPlan, turn: Turn) -> Queues:
        """The queues of a turn, or of what follows the last, with the numbers that they have in the plan around it."""
        graph = turn.bound.graph
        where = {(queue.device, queue.kind): which for which, queue in enumerate(self.plan.main.queues)}
        phases = {phase.id: phase for phase in traverse.all_phases(graph)}
        entries = {phase.id: place for place, phase in enumerate(graph.phases[: len(turn.axes)])}
        queues = {where[queue.device, queue.kind]: queue for queue in plan.queues}
        machines = {
            which: replace(self.around.fleets[which].machine, types=graph.types, phases=phases, current=None, observe=None)
            for which in queues
        }  # fmt: skip

        def action(fleet: Fleet, step: Step, device: DeviceId) -> Action:
            if isinstance(step, RunStep) and step.phase in entries:
                return self.entry(fleet, turn, entries[step.phase], step.box, device)
            return self.compile(fleet, step, device)

        return compile_queues(queues, machines, self.around.fleet, action)

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

    # ------------------------------------------------------------------------------ the part of a queue

    def go(self, course: Course, fences: Fences) -> Iterator[Awaited]:
        start, which, trip = perf_counter_ns(), course.which, self.shared.turn.loop.trip.constant or 0
        machine, queue = self.around.fleets[which].machine, self.plan.main.queues[which]
        machine.current = self.shared.turn.loop
        device = queue.device if queue.kind is QueueKind.COMPUTE else None
        done = 0
        while done < trip:
            yield from self.turn(self.body, self.shared.step.body, course, fences, done)
            done += 1
            stop = self.is_last(self.devices[0] if device is None else device)
            if self.shared.turn.stop is not None:
                yield self.meet(fences, done - 1, "told")
            if device is not None:
                self.settle_states(device)
            if stop:
                break
        if self.leave is not None and self.shared.step.leave is not None:
            yield from self.turn(self.leave, self.shared.step.leave, course, fences, done)
        if device is not None:
            self.finish(device)
        if machine.observe is not None:
            machine.observe(Took(self.shared.turn.loop, queue.device, start, perf_counter_ns()))

    def turn(self, side: Queues, plan: SubPlan, course: Course, fences: Fences, turn: int) -> Iterator[Awaited]:
        id, which = self.shared.step.phase, course.which
        if which == self.first:
            side.begin()
        yield self.meet(fences, turn, "begin")
        if which == self.first:  # nobody is in the turn before any more
            fences.forget([(id, turn - 1, fence) for fence in ("begin", "end", "told", *self.body.counts)])
        inside, began = Course(which, side, turn=(id, turn), began=fences.now), course.at
        try:
            yield from inside.go(fences)
        except BaseException:
            course.at = (*began, turn, *inside.at)
            self.blame(side, which)
            raise
        yield Awaited(None, inside.began + length(plan))
        yield self.meet(fences, turn, "end")

    def meet(self, fences: Fences, turn: int, what: str) -> Awaited:
        """To go on when all queues of the loop have come here."""
        fence = (self.shared.step.phase, turn, what)
        fences.passed(fence, self.parties)
        return Awaited(fence)

    def blame(self, side: Queues, which: int) -> None:
        """The phase at which a turn stopped is where the run stopped."""
        current = side.fleets[which].machine.current
        if current is not None:
            self.around.fleets[which].machine.current = current

    # ------------------------------------------------------------------------------ between turns

    @property
    def devices(self) -> list[DeviceId]:
        """Those of this process that take part."""
        return [device for device in self.shared.rows_on(self.plan) if self.around.others.is_here(device)]

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
        stop, fleet = self.shared.turn.stop, self.body.fleet
        if stop is None:
            return False
        with fleet.lock:
            return bool(fleet.machine.backends[device].item(fleet.holdings[device].memory[stop]))

    def settle_states(self, device: DeviceId) -> None:
        """Keep the states that a turn has left on a device, and nothing else of the turn."""
        turn, fleet = self.shared.turn, self.body.fleet
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
        fleet, loop = self.body.fleet, self.shared.turn.loop
        holdings = fleet.holdings[device]
        with fleet.lock:
            for place, box in self.boxes(device):
                value = loop.results[place]
                holdings.count(value, box, fleet.bytes(value, box))
                holdings.keep(value, box, states[place], fleet.machine.cap_shape(value))
