"""Loops that several queues run together, checked: the body of a turn like a plan by itself, twice.

The second turn begins with what the first has left, where it has left it, so that states lie the same at entry and exit; what a
device has of the loop's results is what it has of the last states.  All queues of the body take part, and no others; entry and
exit are barriers; the ticks are those of the turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ....graph.bind import BoundGraph
from ....graph.phases import Loop, Phase, PhaseId, Read, Structured
from ....graph.turns import Turn, leaving, turn_of
from ...plan.model import Box, DeviceId, JoinStep, LoopStep, Plan, QueueKind, Step, SubPlan, TransferStep

Part = tuple[int, LoopStep | JoinStep]
"""A queue, and its step of a loop."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A loop as the queues of a plan run it; `faults`: what is wrong with that, by code."""

    step: LoopStep
    turn: Turn
    leave: Turn | None
    parts: tuple[Part, ...]
    faults: tuple[tuple[str, str], ...]

    def rows_on(self, plan: Plan) -> dict[DeviceId, tuple[int, int]]:
        return {plan.main.queues[which].device: step.rows for which, step in self.parts if step.rows is not None}

    def boxes(self, rows: tuple[int, int]) -> list[Box]:
        """The box of each state on a device that has those rows."""
        return [box_of_state(self.turn, place, rows) for place in range(len(self.turn.axes))]


def box_of_state(turn: Turn, place: int, rows: tuple[int, int]) -> Box:
    """Rows of a state, or all of it where it is not cut."""
    shape = [size.constant or 0 for size in turn.bound.graph.types[turn.next[place]].shape]
    return tuple(rows if axis == turn.axes[place] else (0, n) for axis, n in enumerate(shape))


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
        if (
            isinstance(phase, Loop)
            and len(states) == 1
            and len(axes.get(id, ())) == len(phase.initial)
            and _able(phase, axes[id], bound)
        ):
            turn = turn_of(bound, phase, axes[id])
            leave = leaving(bound, phase, turn) if None in turn.axes else None
            result[id] = Shared(states[0], turn, leave, tuple(parts), tuple(_faults(plan, states[0], turn, leave, parts)))
    return result


def _able(loop: Loop, axes: Sequence[int | None], bound: BoundGraph) -> bool:
    ranks = [len(bound.graph.types[value].shape) for value in loop.initial]
    return loop.trip.constant is not None and all(axis is None or axis < rank for axis, rank in zip(axes, ranks, strict=True))


def _faults(plan: Plan, step: LoopStep, turn: Turn, leave: Turn | None, parts: Sequence[Part]) -> list[tuple[str, str]]:
    """Who takes part, with which rows, and when."""
    name, queues = f"loop #{step.phase}", plan.main.queues
    found: list[tuple[str, str]] = []
    plans = [step.body, *(() if step.leave is None else (step.leave,))]
    inside = {(queue.device, queue.kind) for one in plans for queue in one.queues}
    joined = [(queues[which].device, queues[which].kind) for which, _ in parts]
    if set(joined) != inside or len(set(joined)) != len(joined):
        odd = ", ".join(sorted(device for device, _ in set(joined) ^ inside)) or "one of them twice"
        found.append(("V1", f"the queues of {name} and those that run it differ: {odd}"))
    if any((one.rows is None) != (queues[which].kind is QueueKind.COPY) for which, one in parts):
        found.append(("V1", f"{name} has rows on a channel, or none on a device"))
    rows = sorted(one.rows for _, one in parts if one.rows is not None)
    sizes = {_size(turn, place) for place, axis in enumerate(turn.axes) if axis is not None}
    ends = {rows[-1][1]} if rows else set()
    if not rows or rows[0][0] or any(a[1] != b[0] for a, b in pairwise(rows)) or any(a >= b for a, b in rows):
        found.append(("V3", f"the rows of {name} do not follow each other"))
    elif sizes and sizes != ends:
        found.append(("V3", f"the rows of {name} are not those of its states"))
    if (leave is None) != (step.leave is None) or step.until is not None:
        found.append(("V1", f"{name} leaves its states elsewhere than it says"))
    if len({(one.start, one.end) for _, one in parts}) > 1:
        found.append(("V9", f"{name} does not start and end everywhere at the same ticks"))
    last = 0 if step.leave is None else length(step.leave)
    ticks = max(1, step.making + (turn.loop.trip.constant or 0) * length(step.body) + last)
    if step.end - step.start != ticks:
        found.append(("V9", f"{name} takes {step.end - step.start} ticks, its turns {ticks}"))
    return found


def _size(turn: Turn, place: int) -> int:
    axis = turn.axes[place]
    return 0 if axis is None else turn.bound.graph.types[turn.next[place]].shape[axis].constant or 0


def length(plan: SubPlan) -> int:
    """The ticks of a turn."""
    steps = [step for queue in plan.queues for step in queue.steps]
    ends = (step.arrive if isinstance(step, TransferStep) else getattr(step, "end", 0) for step in steps)
    return max(ends, default=0)


def next_turn(turn: Turn) -> Sequence[Phase]:
    """The phases of a turn that begins with what another has left."""
    phases = list(turn.bound.graph.phases)
    for place, value in enumerate(turn.next):
        entry = phases[place]
        assert isinstance(entry, Structured)
        phases[place] = replace(entry, reads=(Read(value, entry.reads[0].projection),))
    return phases


def with_phases(bound: BoundGraph, phases: Sequence[Phase]) -> BoundGraph:
    return replace(bound, graph=replace(bound.graph, phases=tuple(phases)))
