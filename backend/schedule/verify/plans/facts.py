"""What judging a plan speaks of: faults, pieces of values on devices, and what a queue knows to be complete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from ....graph import traverse
from ....graph.phases import Branch, Fold, Graph, LibraryPhase, Loop, Map, Phase, Structured, ValueId
from ....kernels.units import RowsUnit, may_write_over, units_of
from ...facts.sharding import covers, volume
from ...plan.model import Box, BranchStep, CellsStep, DeviceId, JoinStep, LoopStep, RowsStep, RunStep

At = tuple[int, int]
"""Queue and position of a step."""
BEFORE: Final = (-1, -1)
"""What was there before the first step."""
Running = RunStep | LoopStep | JoinStep | BranchStep | CellsStep


@dataclass(frozen=True, slots=True)
class Fault:
    code: str
    message: str


class Reader(Enum):
    """Who reads a piece: frees are put off for transfers (`plan.FreeStep`)."""

    RUN = "run"
    TRANSFER = "transfer"


class Broken(Exception):
    """So wrong that nothing more can be checked."""

    def __init__(self, code: str, message: str) -> None:
        self.fault = Fault(code, message)


@dataclass(slots=True)
class Piece:
    """A box (None: whole) of a value on a device, there since the step at `since`; one that is freed is there for transfers."""

    box: Box | None
    since: At
    partial: bool
    freed: bool = False


def fits(step: Running | RowsStep, phase: Phase) -> bool:
    match step:
        case RowsStep():
            return isinstance(phase, Structured)
        case RunStep():
            if step.box is not None:
                return isinstance(phase, Structured | LibraryPhase | Loop)  # of a loop: as the one phase that it is
            return not isinstance(phase, Loop | Branch | Map | Fold)
        case LoopStep() | JoinStep():
            return isinstance(phase, Loop)
        case BranchStep():
            return isinstance(phase, Branch)
        case CellsStep():
            return isinstance(phase, Map | Fold)


def reduces(phase: Phase) -> bool:
    return isinstance(phase, Structured) and any(r.reduction is not None for r in phase.results)


def cuts_reduction(phase: Phase, boxes: Sequence[Box]) -> bool:
    if not isinstance(phase, Structured) or not reduces(phase):
        return False
    size = phase.axes[-1].size.constant
    return any(box[-1] != (0, size) for box in boxes)


def inside_of(phase: Phase) -> Iterator[tuple[ValueId, ...]]:
    """The values that the sub-graphs of a phase make."""
    pending = list(traverse.subgraphs(phase))
    while pending:
        graph = pending.pop()
        yield graph.params
        for inner in graph.phases:
            yield traverse.results(inner)
            pending.extend(traverse.subgraphs(inner))


def knows(known: Mapping[int, int], event: At) -> bool:
    return known.get(event[0], -1) >= event[1]


def join(knows: dict[int, int], more: Mapping[int, int]) -> None:
    for queue, position in more.items():
        if knows.get(queue, -1) < position:
            knows[queue] = position


def inside_shape(box: Box, shape: Sequence[int]) -> bool:
    return len(box) == len(shape) and all(0 <= a <= b <= n for (a, b), n in zip(box, shape, strict=True))


def shown(box: Box) -> str:
    return "[" + ",".join(f"{start}:{stop}" for start, stop in box) + "]"


def group_of(device: DeviceId) -> str:
    return device.partition("[")[0]


def covered(box: Box, parts: Sequence[Box]) -> bool:
    """Do boxes cover another, cut along one axis at most?"""
    if volume(box) == 0 or any(covers(part, box) for part in parts):
        return True
    clipped = [tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(part, box, strict=True)) for part in parts]
    clipped = [part for part in clipped if all(a < b for a, b in part)]
    for axis in range(len(box)):
        rest = [p for p in clipped if all(p[a] == box[a] for a in range(len(box)) if a != axis)]
        reach = box[axis][0]
        for start, stop in sorted(p[axis] for p in rest):
            if start <= reach:
                reach = max(reach, stop)
        if reach >= box[axis][1]:
            return True
    return False


def fault_of_rows(step: RowsStep, graph: Graph) -> str | None:
    """What is wrong with a step that claims to run a chain of the main block."""
    for unit in units_of(graph.phases, graph, graph.roots):
        if not isinstance(unit, RowsUnit) or unit.ids != step.phases:
            continue
        phase = unit.joined.phase
        if tuple(result.value for result in phase.results) != step.results:
            return "does not make what others need of it"
        over = [read for read in phase.reads if read.value == step.overwrite]
        if step.overwrite is not None and (not over or not may_write_over(unit) or any(r.projection.stages for r in over)):
            return f"writes over %{step.overwrite}, which it reads elsewhere or later, or not at all"
        return None
    return "is no chain along rows"
