"""The memory of a plan by its own ticks: what each device holds when, from the plan's steps and frees alone.

A piece lives from the start of the step or transfer that brings it about until it is freed and every transfer that reads it has
arrived; what is never freed lives to the end.  Scratch of a step counts while it runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import prod

from ....graph import traverse
from ....graph.bind import BoundGraph
from ....graph.phases import PhaseId, ValueId
from ...facts.sharding import MOST_PAIRS, meet, result_boxes, shape_of, space_of, volume, whole
from ...facts.workspace import Numbers, rounded, scratch_of
from ...plan.model import (
    Box,
    BranchStep,
    CellsStep,
    CombineStep,
    DeviceId,
    FreeStep,
    JoinStep,
    LoopStep,
    Plan,
    RowsStep,
    RunStep,
    TransferStep,
)
from .turns_checked import shared_loops


def peaks_of(plan: Plan, bound: BoundGraph) -> dict[DeviceId, int]:
    """The most bytes on each device by the plan's ticks, scratch included, each buffer rounded up."""
    phases = {phase.id: phase for phase in bound.graph.phases}
    numbers = Numbers()
    maker = {value: phase for phase in bound.graph.phases for value in traverse.results(phase)}
    combined = {s.phase for queue in plan.main.queues for s in queue.steps if isinstance(s, CombineStep)}
    read: dict[tuple[DeviceId, ValueId], list[tuple[int, Box | None]]] = defaultdict(list)  # arrivals, and what is read
    born: dict[tuple[DeviceId, PhaseId], list[tuple[Box | None, int, int]]] = defaultdict(list)  # box, start, bytes
    gone: dict[tuple[DeviceId, ValueId, Box | None], int] = {}
    changes: dict[DeviceId, list[tuple[int, int]]] = {device.id: [] for device in plan.devices}

    def size_of(value: ValueId, box: Box | None) -> int:
        type = bound.graph.types[value]
        return (prod(map(numbers.cap, type.shape)) if box is None else volume(box)) * type.element.kind.bytes

    shared = shared_loops(plan, bound)
    for queue in plan.main.queues:
        now = 0
        for step in queue.steps:
            match step:
                case JoinStep(rows=None):
                    now = step.end
                case LoopStep() | JoinStep() if step.rows is not None:
                    now = step.end
                    if step.phase not in shared:
                        continue
                    loop, values = shared[step.phase], traverse.results(phases[step.phase])
                    boxes = loop.boxes(step.rows)
                    total = sum(size_of(value, box) for value, box in zip(values, boxes, strict=True))
                    if loop.leave is not None:
                        total = sum(size_of(value, None) for value in values) if queue.device == plan.home else 0
                    plans = [one for one in (loop.step.body, loop.step.leave) if one is not None]
                    peak = max(dict(one.peak).get(queue.device, 0) for one in plans)
                    meanwhile = max(0, peak - rounded(total))
                    changes[queue.device] += [(step.start, meanwhile), (step.end, -meanwhile)]
                    if loop.leave is None or queue.device == plan.home:
                        box = None if loop.leave is not None else _named(boxes[0], values[0], bound)
                        born[queue.device, step.phase].append((box, step.start, total))
                case RunStep() | LoopStep() | BranchStep() | CellsStep():
                    phase, now = phases[step.phase], step.end
                    box = step.box if isinstance(step, RunStep) else None
                    scratch = scratch_of(step, phase, bound.graph.types, numbers)
                    space = None if box is None else space_of(phase, bound.graph.types)
                    if box is not None and space is not None:
                        scratch = -(-scratch * volume(box) // max(1, prod(space)))
                    changes[queue.device] += [(step.start, rounded(scratch)), (step.end, -rounded(scratch))]
                    values = traverse.results(phase)
                    if phase.id in combined or not values:
                        continue
                    parts = (None,) * len(values) if box is None else result_boxes(phase, bound.graph.types, box)
                    total = sum(size_of(value, part) for value, part in zip(values, parts, strict=True))
                    born[queue.device, phase.id].append((_named(parts[0], values[0], bound), step.start, total))
                case RowsStep():
                    for member in step.phases:
                        own = [value for value in traverse.results(phases[member]) if value in step.results]
                        if own:
                            born[queue.device, member].append((None, now, sum(size_of(value, None) for value in own)))
                case CombineStep():
                    values = traverse.results(phases[step.phase])
                    born[queue.device, step.phase].append((None, step.start, sum(size_of(v, None) for v in values)))
                    now = step.end
                case TransferStep():
                    now = step.arrive
                    if step.partial:
                        continue
                    read[step.source, step.value].append((step.arrive, step.box))
                    phase = maker[step.value]
                    values = traverse.results(phase)
                    if step.value == values[0]:
                        total = step.bytes * sum(size_of(v, None) for v in values) // max(1, size_of(step.value, None))
                        born[step.target, phase.id].append((step.box, step.start, total))
                case FreeStep():
                    where = queue.device if step.device is None else step.device
                    for value in step.values:
                        gone[where, value, step.box] = now
                case _:
                    continue
    end = max((tick for found in changes.values() for tick, _ in found), default=0)
    for (device, id), pieces in born.items():
        value = traverse.results(phases[id])[0]
        for box, start, size in pieces:
            freed = gone.get((device, value, box), gone.get((device, value, None)))
            sent = read[device, value]
            fine = len(pieces) * len(sent) <= MOST_PAIRS
            until = max((arrive for arrive, part in sent if not fine or meet(part, box)), default=0)
            last = end if freed is None else max(freed, until)
            changes[device] += [(start, rounded(size)), (max(last, start), -rounded(size))]
    return {device: _most(found) for device, found in changes.items()}


def _most(changes: Sequence[tuple[int, int]]) -> int:
    live = most = 0
    for _, size in sorted(changes):
        live += size
        most = max(most, live)
    return most


def _named(box: Box | None, value: ValueId, bound: BoundGraph) -> Box | None:
    """The box as frees name it: None where it is all of the value."""
    shape = shape_of(value, bound.graph.types)
    return None if box is None or shape is None or box == whole(shape) else box
