"""Executes a plan of several queues, each device with its own holdings.

How queues get on is in `queues`, what steps do in `steps`, loops that several run together in `turning`; here it is decided who
drives them.

Neighbours: `executor` (who calls this), `clock` and `threads` (the drivers), `pieces`, `fleet` (what devices hold).
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from functools import partial
from typing import Any

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, RunFailed
from ...lang.source import Span
from ..schedule.facts.turns import shared_loops
from ..schedule.plan.model import Plan, QueueKind, Step
from ..schedule.plan.parts import DeviceId
from .clock import run_by_clock
from .fleet import Action, Fleet
from .machine import Machine, Observer, Took
from .others import ALONE, Others
from .pieces import Holdings, OutOfMemory
from .queues import Course, compile_queues
from .steps import compile_step
from .threads import run_in_threads
from .turning import Together
from .watching import announce


class Pace(Enum):
    """How queues of several devices get on."""

    PREDICTED = "one step after the other, by the predicted clock"
    SIMULATED = "so, and no device may hold more than the memory that the plan declares"
    THREADS = "each in a thread of its own"


def run_distributed(machine: Machine, plan: Plan, pace: Pace, others: Others = ALONE) -> dict[DeviceId, int]:
    """Execute the main sub-plan; the most bytes each device held.  With `others` its steps on the devices of this process.

    In threads there is no tick at whose end to count: what was held is not known."""
    touched: set[DeviceId] = set()

    def settle() -> None:
        for device in touched:
            holdings[device].settle()
        touched.clear()

    def compile(fleet: Fleet, step: Step, device: DeviceId) -> Action:
        return compile_step(fleet, step, device, plan.home)

    holdings = {
        device.id: Holdings(
            device.id, machine.backends[device.id], touched, device.memory if pace is Pace.SIMULATED else None,
            machine.memories[device.id],
        )
        for device in plan.devices if others.is_here(device.id)
    }  # fmt: skip
    around = Fleet(machine, holdings, frozenset(), frozenset(), others=others)
    told = _one_at_a_time(machine.observe, around.lock)
    machines = {which: replace(machine, observe=told) for which in range(len(plan.main.queues))}  # each at its own phase
    for own in machines.values():
        announce(own)
    queues = compile_queues(dict(enumerate(plan.main.queues)), machines, around, compile)
    queues.begin()
    shared = shared_loops(plan, machine.around) if plan.spread and machine.around is not None else {}
    gangs = {
        phase: Together(plan, loop, queues, compile)
        for phase, loop in shared.items() if any(queues.steps[which] for which, _ in loop.parts)
    }  # fmt: skip
    courses = [Course(which, queues, gangs) for which, steps in queues.steps.items() if steps]
    if pace is not Pace.THREADS:
        failure = run_by_clock(courses, settle)
    else:
        first = plan.home if others.is_here(plan.home) else next(iter(holdings))
        is_first = [queue.kind is QueueKind.COMPUTE and queue.device == first for queue in plan.main.queues]
        courses.sort(key=lambda course: not is_first[course.which])
        failure = run_in_threads(courses, machine.backends[first].quiet, others, partial(others.begin, machine))
    if failure is None:
        return {} if pace is Pace.THREADS else {device: held.most for device, held in holdings.items()}
    machine.current = machines[failure.queue].current
    if isinstance(failure.error, OutOfMemory):
        span = machine.current.span if machine.current is not None else Span("", 0, 0)
        message = f"a device would hold {failure.error.held:,} bytes and has {failure.error.limit:,}"
        raise RunFailed([Diagnostic(Code.E702, message, span)]) from None
    raise failure.error


def _one_at_a_time(observe: Observer | None, lock: Any) -> Observer | None:
    if observe is None:
        return None

    def told(took: Took) -> None:
        with lock:
            observe(took)

    return told
