"""Loops that several queues of a plan run together: who takes part, and the turn of which the plan has a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...graph.bind import BoundGraph
from ...graph.phases import Loop, PhaseId
from ...graph.turns import Turn, leaving, turn_of
from ..plan.model import Box, JoinStep, LoopStep, Plan, Step, SubPlan, TransferStep
from ..plan.parts import DeviceId
from .sharding import slab

Part = tuple[int, LoopStep | JoinStep]
"""A queue, and its step of a loop."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A loop as the queues of a plan run it: the step that states it, a turn, what follows the last one, and all steps."""

    step: LoopStep
    turn: Turn
    leave: Turn | None
    parts: tuple[Part, ...]

    def rows_on(self, plan: Plan) -> dict[DeviceId, tuple[int, int]]:
        return {plan.main.queues[which].device: step.rows for which, step in self.parts if step.rows is not None}

    def boxes(self, rows: tuple[int, int]) -> list[Box]:
        """The box of each state on a device that has those rows."""
        return [box_of_state(self.turn, place, rows) for place in range(len(self.turn.axes))]


def box_of_state(turn: Turn, place: int, rows: tuple[int, int]) -> Box:
    """Rows of a state, or all of it where it is not cut."""
    shape = [size.constant or 0 for size in turn.bound.graph.types[turn.next[place]].shape]
    return slab(shape, turn.axes[place], rows)


def is_shared(step: Step) -> bool:
    return isinstance(step, JoinStep) or (isinstance(step, LoopStep) and step.rows is not None)


def shared_loops(plan: Plan, bound: BoundGraph) -> dict[PhaseId, Shared]:
    """The loops that queues of the plan run together."""
    found: dict[PhaseId, list[Part]] = {}
    for which, queue in enumerate(plan.main.queues):
        for step in queue.steps:
            if isinstance(step, LoopStep | JoinStep) and is_shared(step):
                found.setdefault(step.phase, []).append((which, step))
    phases = {phase.id: phase for phase in bound.graph.phases}
    axes = {spread.phase: spread.axes for spread in plan.spread}
    result: dict[PhaseId, Shared] = {}
    for id, parts in found.items():
        phase, states = phases.get(id), [step for _, step in parts if isinstance(step, LoopStep)]
        known = isinstance(phase, Loop) and len(states) == 1 and len(axes.get(id, ())) == len(phase.initial)
        if known and isinstance(phase, Loop) and _able(phase, axes[id], bound):
            turn = turn_of(bound, phase, axes[id])
            result[id] = Shared(states[0], turn, leaving(bound, phase, turn) if None in turn.axes else None, tuple(parts))
    return result


def _able(loop: Loop, axes: Sequence[int | None], bound: BoundGraph) -> bool:
    ranks = [len(bound.graph.types[value].shape) for value in loop.initial]
    return loop.trip.constant is not None and all(axis is None or axis < rank for axis, rank in zip(axes, ranks, strict=True))


def length(plan: SubPlan) -> int:
    """The ticks of a turn."""
    steps = [step for queue in plan.queues for step in queue.steps]
    ends = (step.arrive if isinstance(step, TransferStep) else getattr(step, "end", 0) for step in steps)
    return max(ends, default=0)
