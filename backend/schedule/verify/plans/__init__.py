"""The front end of plans: what a plan must satisfy before anything of it runs.

Shared with what makes plans: the boxes of phases, sizes and scratch, who runs a loop together (`facts`), chains of rows (`units`)
and turns of loops (`graph.turns`); an error there may be made here again.  The graph is the one that runs.  The codes are:

  V1 every phase runs exactly once, on a device of the plan, in a step of its kind; V2 queues and fences have no cycle;
  V3 boxes tile their phase; V4 every step finds its operands on its device, made or brought there before, with fences that
  say so; V5 no device holds more than its memory, nor than the plan says; V6 transfers follow links of the plan, and their
  bytes are those of their box; V7 every wait is needed; V8 what prints does so at home, and what saves
  there or in a store, in the order of the program;
  V9 ticks add up, and no queue goes on before what it waits for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from ....graph.arms import with_arms_out
from ....graph.bind import BoundGraph
from ....graph.phases import PhaseId
from ...facts.turns import Shared, shared_loops
from ...plan.model import Plan, QueueKind, SubPlan, TransferStep
from ...plan.parts import DeviceId
from ..execution import Execution
from ..judge import collisions, held_up, needless, ordered, peaks, resident
from ..violation import Rule, Violation
from .once import once
from .translate import Translation

__all__ = ["check_plan", "memory_in_use", "needless_waits"]


def check_plan(plan: Plan, bound: BoundGraph) -> tuple[Violation, ...]:
    """What is wrong with a plan of several devices; empty: nothing."""
    bound = replace(bound, graph=with_arms_out(bound.graph, plan.speculated))
    shared = shared_loops(plan, bound)
    found = once(plan, plan.main, bound, shared)
    turns = [] if found else list(_turns(shared))
    for name, body, inner in turns:
        found += [Violation(one.code, f"{name}: {one.message}") for one in once(plan, body, inner, {})]
    if found:
        return tuple(found)
    whole = Translation(plan, plan.main, bound, shared)
    found = [*whole.faults, *resident(whole.execution), *ordered(whole.execution)]
    if not found:
        found += _memory(plan, plan.main, whole.execution)
    found += [*_ticks(plan.main, whole.execution), *_makespan(plan)]
    for name, body, inner in turns:
        alone = Translation(plan, body, inner, {}).execution
        own = [*_memory(plan, body, alone), *_ticks(body, alone)]
        found += [Violation(one.code, f"{name}: {one.message}") for one in own]
    return tuple(found)


def needless_waits(plan: Plan, bound: BoundGraph) -> tuple[Violation, ...]:
    """V7: waits that tell what is known without them; not asked of large plans."""
    bound = replace(bound, graph=with_arms_out(bound.graph, plan.speculated))
    execution = Translation(plan, plan.main, bound, shared_loops(plan, bound)).execution
    if sum(map(len, execution.queues)) * len(execution.waits) > MOST_WORK:
        return ()
    stated = [(at, fence) for at, fence in needless(execution) if isinstance(fence, int)]
    return tuple(Violation(Rule.V7, f"{execution.names[at[0]]} need not wait for fence f{fence}") for at, fence in stated)


MOST_WORK = 1_000_000


def memory_in_use(plan: Plan, bound: BoundGraph) -> Mapping[DeviceId, int]:
    """The most bytes on each device by the plan's ticks, scratch included, each buffer rounded up."""
    found = peaks(Translation(plan, plan.main, bound, shared_loops(plan, bound)).execution)
    return {device.id: found.get(device.id, (0, 0))[0] for device in plan.devices}


def _turns(shared: Mapping[PhaseId, Shared]) -> Iterator[tuple[str, SubPlan, BoundGraph]]:
    for id, loop in shared.items():
        yield f"an iteration of loop #{id}", loop.step.body, loop.turn.bound
        if loop.leave is not None and loop.step.leave is not None:
            yield f"what follows loop #{id}", loop.step.leave, loop.leave.bound


def _memory(plan: Plan, main: SubPlan, execution: Execution) -> Iterator[Violation]:
    limits, said, found = {device.id: device.memory for device in plan.devices}, dict(main.peak), peaks(execution)
    for device, limit in limits.items():
        peak, _ = found.get(device, (0, 0))
        if limit is not None and peak > limit:
            yield Violation(Rule.V5, f"{device} would hold {peak:,} bytes and has {limit:,}")
        elif peak > said.get(device, 0):
            yield Violation(Rule.V5, f"{device} would hold {peak:,} bytes, the plan says {said.get(device, 0):,}")


def _ticks(main: SubPlan, execution: Execution) -> Iterator[Violation]:
    for lane, first, then in collisions(execution):
        yield Violation(Rule.V9, f"{then.what} starts at {then.start}, when {lane} is busy with {first.what} until {first.end}")
    for queue, tasks in zip(main.queues, execution.queues, strict=True):
        for task in tasks:
            if not task.start <= task.end:
                yield Violation(Rule.V9, f"{task.what} ends before it starts")
        running = [task for task in tasks if task.lanes]
        if queue.kind is QueueKind.COMPUTE and any(a.start > b.start for a, b in pairwise(running)):
            yield Violation(Rule.V9, f"the steps of {queue.device} are not in the order of their ticks")
        for step in queue.steps:
            if isinstance(step, TransferStep) and not step.start <= step.busy <= step.arrive:
                yield Violation(Rule.V9, f"a transfer of %{step.value} arrives before it starts")
    for task, told in held_up(execution):
        name = execution.names[task.at[0]]
        yield Violation(Rule.V9, f"{name} goes on before tick {told.end}, until which it waits for {told.what}")


def _makespan(plan: Plan) -> Iterator[Violation]:
    steps = [step for queue in plan.main.queues for step in queue.steps]
    last = max((step.arrive if isinstance(step, TransferStep) else getattr(step, "end", 0) for step in steps), default=0)
    if plan.prediction is not None and plan.prediction.makespan != last:
        yield Violation(Rule.V9, f"the plan says {plan.prediction.makespan} ticks, its steps end at {last}")
