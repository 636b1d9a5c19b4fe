"""Plain answers without a search: everything at home, or everything split evenly.

Plans of these are right, not good: what tests of executors and checks want.
"""

from __future__ import annotations

from rho.backend.schedule.problem import Answer, Baseline, BoundCertificate, Decisions, Mode, Problem, Schedule, Status
from rho.backend.schedule.timeline.serial_sgs import decode_schedule


def answer_of(problem: Problem, schedule: Schedule) -> Answer:
    """A schedule as an answer of which nothing is known."""
    makespan = schedule.makespan
    return Answer(Status.GAP, schedule, 0, (makespan,), BoundCertificate("none", 0), (Baseline("given", makespan),))


def at_home(problem: Problem) -> Answer | None:
    """Every phase whole at home."""
    return with_modes(problem, [((int(problem.home), max(1, task.rows)),) for task in problem.phases])


def split_evenly(problem: Problem, devices: tuple[int, ...] | None = None) -> Answer | None:
    """Every phase that has rows over all devices, the others in turn; what is bound to home at home."""
    names = problem.device_names()
    all_devices = tuple(range(len(names))) if devices is None else devices
    home = int(problem.home)
    modes: list[Mode] = []
    for place, task in enumerate(problem.phases):
        able = [d for d in all_devices if problem.group_of(d).kind in task.ticks] or [home]  # type: ignore[arg-type]
        if task.home:
            modes.append(((home, max(1, task.rows)),))
        elif task.rows < 2:
            modes.append(((able[place % len(able)], max(1, task.rows)),))
        else:
            used = able[: task.rows]
            each, rest = divmod(task.rows, len(used))
            modes.append(tuple((d, each + (at < rest)) for at, d in enumerate(used)))
    return with_modes(problem, modes)


def with_modes(problem: Problem, modes: list[Mode]) -> Answer | None:
    schedule = decode_schedule(problem, Decisions(tuple(modes), tuple(range(len(modes)))))
    return None if schedule is None else answer_of(problem, schedule)
