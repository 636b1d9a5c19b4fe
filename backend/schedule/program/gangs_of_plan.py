"""The loops that a stored plan runs together, as the planner would have made them, to be judged with their ticks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ...graph.phases import Loop, PhaseId
from ..plan.model import JoinStep, LoopStep, Plan, SubPlan
from ..verify.schedules import verify_schedule
from .plan_of import sub_plan_of
from .schedule_of import NotOfThisProblem, schedule_of
from .together import Gang, Planned, ProgramProblem, Setting
from .turning import left_by, turning


def gangs_of(plan: Plan, program: ProgramProblem, setting: Setting) -> dict[PhaseId, Gang]:
    """The loops of `spread`.  NotOfThisProblem: they are no loops that could be run so."""
    loops = {phase.id: phase for phase in program.phases if isinstance(phase, Loop)}
    devices = {name: place for place, name in enumerate(program.problem.device_names())}
    found: dict[PhaseId, Gang] = {}
    for spread in plan.spread:
        parts = list(_parts(plan, spread.phase))
        stated = [step for _, step in parts if isinstance(step, LoopStep)]
        one = turning(program.bound, loops[spread.phase], spread.axes, setting) if spread.phase in loops else None
        if one is None or len(stated) != 1:
            raise NotOfThisProblem(f"loop #{spread.phase} is not one that devices run together")
        rows = sorted((step.rows, devices[name]) for name, step in parts if step.rows is not None)
        mode = tuple((device, stop - first) for (first, stop), device in rows)
        body = _planned(plan, stated[0].body, one.empty())
        leave = None
        if stated[0].leave is not None:
            leave = _planned(plan, stated[0].leave, left_by(one))
        found[spread.phase] = Gang(spread, mode, body, leave, one.making)
    return found


def faults_of(gangs: Mapping[PhaseId, Gang]) -> Iterator[str]:
    """What is wrong with the schedules of iterations."""
    for id, gang in gangs.items():
        for one in gang.plans:
            found = verify_schedule(one.problem, one.schedule)
            yield from (f"{fault.code.name}: an iteration of loop #{id}: {fault.message}" for fault in found)


def described_faults(gangs: Mapping[PhaseId, Gang]) -> Iterator[str]:
    """Buffers and peaks of iterations that are not what their steps give."""
    for id, gang in gangs.items():
        for one in gang.plans:
            made = sub_plan_of(one.program, one.schedule, one.turn.left)
            for what, said, right in (
                ("buffers", one.plan.buffers, made.buffers),
                ("peak", sorted(one.plan.peak), sorted(made.peak)),
            ):
                if said != right:
                    yield f"V12: `{what}` of an iteration of loop #{id} are not those of its steps"


def _parts(plan: Plan, loop: PhaseId) -> Iterator[tuple[str, LoopStep | JoinStep]]:
    for queue in plan.main.queues:
        for step in queue.steps:
            if isinstance(step, LoopStep | JoinStep) and step.phase == loop and step.rows is not None:
                yield queue.device, step


def _planned(plan: Plan, body: SubPlan, empty: Planned) -> Planned:
    """An iteration with the schedule that the plan has for it."""
    schedule = schedule_of(replace(plan, main=body, spread=()), empty.program)
    return replace(empty, schedule=schedule, plan=body)
