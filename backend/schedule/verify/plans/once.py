"""V1, V3 and V8 of a plan, or of an iteration in it: every phase once, in a step of its kind, in boxes that tile it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from ....graph.bind import BoundGraph
from ....graph.phases import Branch, Constant, Fold, LibraryPhase, Loop, Map, Output, Phase, PhaseId, Print, Structured
from ...facts.sharding import space_of, whole
from ...facts.stores import stores_of
from ...facts.turns import Shared, is_shared, length
from ...plan.model import (
    BranchStep,
    CellsStep,
    CombineStep,
    JoinStep,
    LoopStep,
    Plan,
    QueueKind,
    RowsStep,
    RunStep,
    StreamStep,
    SubPlan,
    phases_of,
)
from ..judge import tiled
from ..violation import Rule, Violation

Running = RunStep | LoopStep | JoinStep | BranchStep | CellsStep


def once(plan: Plan, main: SubPlan, bound: BoundGraph, shared: Mapping[PhaseId, Shared]) -> list[Violation]:
    """What is wrong; nothing else can be asked of it then."""
    graph, devices = bound.graph, {device.id for device in plan.devices}
    phases = {phase.id: phase for phase in graph.phases}
    runs: dict[PhaseId, list[Running | RowsStep]] = defaultdict(list)
    combines: dict[PhaseId, int] = defaultdict(int)
    effects: list[PhaseId] = []
    saved: list[PhaseId] = []
    found: list[Violation] = []

    def wrong(code: Rule, message: str) -> None:
        found.append(Violation(code, message))

    if plan.home not in devices:
        wrong(Rule.V1, f"{plan.home} is home, and no device of the plan")
    for queue in main.queues:
        for step in queue.steps:
            if isinstance(step, StreamStep):
                wrong(Rule.V1, "a pass over stored inputs is planned for one run: no plan that is kept has one")
            elif any(named not in phases for named in phases_of(step)):
                wrong(Rule.V1, f"phase #{phases_of(step)[0]} is not in the program")
                continue
            elif isinstance(step, JoinStep) and step.phase not in shared:
                wrong(Rule.V1, f"{queue.device} joins phase #{step.phase}, which queues do not run together")
            elif isinstance(step, JoinStep) and step.rows is None:
                pass  # of a channel: `_of_shared`
            elif phases_of(step) and (queue.device not in devices or queue.kind is not QueueKind.COMPUTE):
                wrong(Rule.V1, f"phase #{phases_of(step)[0]} runs on {queue.device}, which is not a device of the plan")
            if isinstance(step, CombineStep):
                combines[step.phase] += 1
                if queue.device != plan.home:
                    wrong(Rule.V1, f"phase #{step.phase} is combined on {queue.device}, not at home")
            elif isinstance(step, RowsStep):
                for named in step.phases:
                    runs[named].append(step)
            elif isinstance(step, RunStep | LoopStep | JoinStep | BranchStep | CellsStep):
                runs[step.phase].append(step)
                if isinstance(phases[step.phase], Print | Output):
                    saves = isinstance(phases[step.phase], Output) and queue.device in stores_of(plan)
                    (saved if saves else effects).append(step.phase)
                    if queue.device != plan.home and not saves:
                        wrong(Rule.V8, f"phase #{step.phase} prints on {queue.device}, not at home")
    for phase in graph.phases:
        found += _one_phase(phase, runs[phase.id], combines[phase.id], bound, shared)
    for loop in shared.values():
        found += _of_shared(plan, loop)
    order = [phase.id for phase in graph.phases if isinstance(phase, Print | Output) and phase.id not in saved]
    if not found and effects != order:
        wrong(Rule.V8, "what prints is not in the order of the program")
    return found


def _one_phase(
    phase: Phase, runs: Sequence[Running | RowsStep], combines: int, bound: BoundGraph, shared: Mapping[PhaseId, Shared]
) -> Iterator[Violation]:  # fmt: skip
    boxes = [step.box for step in runs if isinstance(step, RunStep) and step.box is not None]
    space = space_of(phase, bound.graph.types)
    if not runs:
        yield Violation(Rule.V1, f"phase #{phase.id} does not run")
    elif any(is_shared(step) for step in runs):
        if phase.id not in shared or not all(is_shared(step) for step in runs):
            yield Violation(Rule.V1, f"phase #{phase.id} is not one loop that queues run together")
    elif not all(_fits(step, phase) for step in runs):
        yield Violation(Rule.V1, f"phase #{phase.id} runs in a step of another kind")
    elif not boxes and len(runs) > 1:
        yield Violation(Rule.V1, f"phase #{phase.id} runs {len(runs)} times")
    elif boxes and len(boxes) != len(runs):
        yield Violation(Rule.V1, f"phase #{phase.id} runs whole and in boxes")
    elif boxes and (space is None or not tiled(whole(space), boxes)):
        yield Violation(Rule.V3, f"the boxes of phase #{phase.id} do not tile it")
    elif combines != _is_cut_in_sums(phase, boxes) and not (combines == 1 and boxes and _reduces(phase)):
        yield Violation(Rule.V1, f"phase #{phase.id} is combined {combines} times")


def _fits(step: Running | RowsStep, phase: Phase) -> bool:
    match step:
        case RowsStep():
            return isinstance(phase, Structured | LibraryPhase | Constant)
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


def _reduces(phase: Phase) -> bool:
    return isinstance(phase, Structured) and any(r.reduction is not None for r in phase.results)


def _is_cut_in_sums(phase: Phase, boxes: Sequence[tuple[tuple[int, int], ...]]) -> bool:
    if not isinstance(phase, Structured) or not _reduces(phase):
        return False
    return any(box[-1] != (0, phase.axes[-1].size.constant) for box in boxes)


def _of_shared(plan: Plan, loop: Shared) -> Iterator[Violation]:
    """Who takes part in a loop, with which rows, and when."""
    step, parts, queues, turn = loop.step, loop.parts, plan.main.queues, loop.turn
    name = f"loop #{step.phase}"
    plans = [step.body, *(() if step.leave is None else (step.leave,))]
    inside = {(queue.device, queue.kind) for one in plans for queue in one.queues}
    joined = [(queues[which].device, queues[which].kind) for which, _ in parts]
    if set(joined) != inside or len(set(joined)) != len(joined):
        odd = ", ".join(sorted(device for device, _ in set(joined) ^ inside)) or "one of them twice"
        yield Violation(Rule.V1, f"the queues of {name} and those that run it differ: {odd}")
    if any((one.rows is None) != (queues[which].kind is QueueKind.COPY) for which, one in parts):
        yield Violation(Rule.V1, f"{name} has rows on a channel, or none on a device")
    rows = sorted(one.rows for _, one in parts if one.rows is not None)
    cut = [(place, axis) for place, axis in enumerate(turn.axes) if axis is not None]
    sizes = {turn.bound.graph.types[turn.next[place]].shape[axis].constant for place, axis in cut}
    if not rows or rows[0][0] or any(a[1] != b[0] for a, b in pairwise(rows)) or any(a >= b for a, b in rows):
        yield Violation(Rule.V3, f"the rows of {name} do not follow each other")
    elif sizes and sizes != {rows[-1][1]}:
        yield Violation(Rule.V3, f"the rows of {name} are not those of its states")
    if (loop.leave is None) != (step.leave is None) or step.until is not None:
        yield Violation(Rule.V1, f"{name} leaves its states elsewhere than it says")
    if len({(one.start, one.end) for _, one in parts}) > 1:
        yield Violation(Rule.V9, f"{name} does not start and end everywhere at the same ticks")
    last = 0 if step.leave is None else length(step.leave)
    ticks = max(1, step.making + (turn.loop.trip.constant or 0) * length(step.body) + last)
    if step.end - step.start != ticks:
        yield Violation(Rule.V9, f"{name} takes {step.end - step.start} ticks, its iterations {ticks}")
