"""Executes a plan: here one queue, as a program of words; several queues in `distributed`.

What a run leaves: prints in order and outputs by name, or an exception and nothing.  `RunFailed` carries the span of the
phase that failed; running out of memory is E702 there; an interrupt passes through.

Neighbours: `schedule.plan` (what is executed), `machine` (the state of a run), `words` (programs), `distributed` (shards,
transfers and fences).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any, Final

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Refused, RunFailed
from ...lang.source import Span
from ..graph import traverse
from ..graph.arms import with_arms_out
from ..graph.bind import BoundGraph
from ..graph.phases import Phase
from ..schedule.facts.stores import in_files, lying_in
from ..schedule.plan.model import CombineStep, FenceStep, Plan, QueueKind, RunStep, Step, TransferStep, WaitStep
from ..schedule.plan.parts import DeviceId
from .device import Backend
from .distributed import Pace, run_distributed
from .failures import CheckFailed
from .machine import Machine, Observer, Results, Stores
from .memory import Memory
from .others import ALONE, Others
from .threads import MOST_THREADS
from .watching import announce
from .words.assemble import assemble
from .words.interpret import compile_words

ADDRESSABLE: Final = 1 << 47
"""Bytes that no machine has in one address space."""


def execute_plan(
    plan: Plan, bound: BoundGraph, inputs: Mapping[str, Any], backends: Mapping[DeviceId, Backend],
    observe: Observer | None = None, pace: Pace = Pace.PREDICTED, stores: Stores | None = None, others: Others = ALONE,
) -> Results:  # fmt: skip
    """Run a plan of `bound` on host arrays, or what of it is for the devices of this process; `backends`: theirs.  RunFailed: a
    run-time check, or memory."""
    graph = with_arms_out(bound.graph, plan.speculated)
    phases = {phase.id: phase for phase in traverse.all_phases(graph)}
    memories: dict[DeviceId, Memory] = {device.id: {} for device in plan.devices}
    around = replace(bound, graph=graph)
    lying = lying_in(plan, around)
    for phase in graph.phases if lying else ():
        name, value = in_files(phase) or ("", None)
        if value is not None and name in lying:  # there before anything runs, for all who read or write it
            memories[DeviceId(lying[name])][value] = inputs[name]
    machine = Machine(
        graph.types, dict(bound.sizes), graph.guards, backends, inputs, memories, phases, observe=observe, around=around,
        stores=stores,
    )  # fmt: skip
    require_memory(plan, machine)
    announce(machine)
    with next(iter(backends.values())).quiet():
        try:
            held = _run(machine, plan, pace, others)
        except CheckFailed as failure:
            raise failure.at(current_span(machine)) from None
        except MemoryError:
            raise RunFailed([Diagnostic(Code.E702, f"memory ran out; {need_text(plan)}", current_span(machine))]) from None
    return Results(tuple(machine.printed), machine.outputs, held)


def _run(machine: Machine, plan: Plan, pace: Pace, others: Others) -> Mapping[DeviceId, int]:
    if len(plan.devices) == 1 and len(plan.main.queues) == 1 and not any(map(is_shared, plan.main.queues[0].steps)):
        (queue,) = plan.main.queues
        compile_words(machine, assemble(queue.steps, machine.phases, machine.types), queue.device)(machine.memories[queue.device])
        return {}
    if pace is Pace.THREADS and others is ALONE and not _is_parallel(plan):
        pace = Pace.PREDICTED
    return run_distributed(machine, plan, pace, others)


def _is_parallel(plan: Plan) -> bool:
    """Do several devices have work, and not so many that threads would be too many?"""
    busy = [queue.kind for queue in plan.main.queues if queue.steps]
    return busy.count(QueueKind.COMPUTE) > 1 and len(busy) <= MOST_THREADS


def is_shared(step: Step) -> bool:
    """Is a step about parts of values, or about another queue?"""
    parts = isinstance(step, RunStep) and step.box is not None
    return parts or isinstance(step, CombineStep | TransferStep | FenceStep | WaitStep)


def require_memory(plan: Plan, machine: Machine) -> None:
    """Refuse what no machine holds, and what a device declares it does not."""
    limits = {device.id: device.memory for device in plan.devices}
    for device, peak in plan.main.peak:
        limit = limits.get(device)
        if peak >= ADDRESSABLE or (limit is not None and peak > limit):
            first = next(iter(machine.phases.values()))
            raise Refused([Diagnostic(Code.E702, f"{need_text(plan)}, more than there is", _largest(machine, first).span)])


def need_text(plan: Plan) -> str:
    return f"the program needs at most {max((size for _, size in plan.main.peak), default=0):,} bytes at once"


def _largest(machine: Machine, first: Phase) -> Phase:
    """The phase that makes the largest value."""

    def size(phase: Phase) -> int:
        return sum(prod(machine.cap_shape(v)) * machine.kind(v).bytes for v in traverse.results(phase))

    return max(machine.phases.values(), key=size, default=first)


def current_span(machine: Machine) -> Span:
    return machine.current.span if machine.current is not None else Span("", 0, 0)
