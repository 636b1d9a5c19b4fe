"""The steps of a loop that several queues run together: the loop in one of them, and in the others that they join it.

The loop stands in home's queue, or in that of its first device; every queue of its body that is another's has a step that joins
it, those of channels before whatever they carry later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ...graph import traverse
from ...graph.phases import ValueId
from ..answer import Schedule, Shard
from ..facts.sharding import operand_boxes, reads_of
from ..plan.model import Box, JoinStep, LoopStep, Queue, QueueKind, Step, TransferStep, WaitStep
from ..plan.parts import DeviceId
from .boxes import Boxes
from .together import Gang, ProgramProblem


def loop_step(gang: Gang, shard: Shard, home: int) -> LoopStep | JoinStep:
    """The step of a device that takes part."""
    devices = [device for device, _ in gang.mode]
    first = home if home in devices else devices[0]
    rows = shard.first, shard.stop
    if shard.device != first:
        return JoinStep(gang.loop.id, rows, shard.start, shard.end)
    leave = None if gang.leave is None else gang.leave.plan
    return LoopStep(gang.loop.id, gang.body.plan, None, shard.start, shard.end, rows, leave, gang.making)


def with_joins(queues: Sequence[Queue], program: ProgramProblem, schedule: Schedule) -> tuple[Queue, ...]:
    """The queues, with the channels of loops that devices run together joined to them."""
    found = {(queue.device, queue.kind): list(queue.steps) for queue in queues}
    for place, gang in program.gangs.items():
        shard = next(shard for shard in schedule.shards if shard.phase == place)
        join = JoinStep(gang.loop.id, None, shard.start, shard.end)
        for name in channels_of(gang):
            steps = found.setdefault((name, QueueKind.COPY), [])
            steps.insert(_place(steps, shard.start), join)
    return tuple(Queue(device, kind, tuple(steps)) for (device, kind), steps in found.items())


def needed_on(gang: Gang, device: int) -> dict[ValueId, list[Box | None]]:
    """What a device reads, in a turn, of what is around the loop."""
    turn, schedule = gang.body.turn, gang.body.schedule
    graph = turn.bound.graph
    boxes = Boxes(gang.body.program, schedule.shards)
    around = set(gang.uses)
    found: dict[ValueId, list[Box | None]] = defaultdict(list)
    for shard in schedule.shards:
        if shard.device != device:
            continue
        phase, box = graph.phases[shard.phase], boxes.of_run(shard)
        parts: list[tuple[ValueId, Box | None]] = [(value, None) for value in traverse.uses(phase)]
        if box is not None:
            parts = list(zip(reads_of(phase, graph.types), operand_boxes(phase, graph.types, box), strict=True))
        for value, part in parts:
            if value in around:
                found[value].append(part)
    return found


def channels_of(gang: Gang) -> list[DeviceId]:
    """The channels that transfers of a loop take."""
    return sorted({queue.device for one in gang.plans for queue in one.plan.queues if queue.kind is QueueKind.COPY})


def _place(steps: Sequence[Step], start: int) -> int:
    """Before the first transfer (and what it waits for) or loop that starts then or later, and is not there at once."""
    for position, step in enumerate(steps):
        later = isinstance(step, TransferStep) and step.start >= start and step.arrive > start
        if later or (isinstance(step, JoinStep) and step.start >= start):
            while position and isinstance(steps[position - 1], WaitStep):
                position -= 1
            return position
    return len(steps)
