"""Solves an instance: reads the file, plans, inserts fences and verifies, and writes the solution as JSON and as text."""

from __future__ import annotations

import time
from enum import Enum
from typing import Any, Final

from ....lang.support.records import dataclass, replace
from ..plan.plan_text import count_text
from ..problem import (
    Answer,
    BoundCertificate,
    Contention,
    Problem,
    QueueKind,
    Schedule,
    ScheduledStep,
    Shard,
    Status,
    Synchronisation,
    Transfer,
)
from ..search.portfolio import plan_objectives
from ..search.strategy import DEFAULT, Budget
from ..timeline.fence_insertion import synchronise
from ..verify.schedule_checks import verify
from .graph_readers import decode_dot, decode_stg
from .instance_json import MOST_CHARACTERS, Devices, decode, equal_processors, load_json, problems_of

# ---------------------------------------------------------------------------------------------------- solving

@dataclass(frozen=True, slots=True)
class Solved:
    """A solved instance; `seconds`: planning time."""

    problem: Problem
    answer: Answer
    sync: Synchronisation | None
    seconds: float


class BadPlan(Exception):
    """Raised where the verifier rejects the planner's schedule: a bug in Rho."""


def solve(problem: Problem, budget: Budget = DEFAULT) -> Solved:
    """Returns the best answer found within the budget, verified."""
    begun = time.perf_counter()
    answer = plan_objectives(problem, budget)
    seconds = time.perf_counter() - begun
    sync = None if answer.schedule is None else synchronise(problem, answer.schedule)
    violations = verify(problem, answer, sync)
    if violations:
        raise BadPlan("\n".join(map(str, violations)))
    return Solved(problem, answer, sync, seconds)


# ---------------------------------------------------------------------------------------------------- reading
#
# The format of an instance file, and its problem.

class InstanceFormat(Enum):
    JSON = "instance/1"
    STG = "STG"
    DOT = "DOT"


def format_of(file: str, text: str) -> InstanceFormat:
    """Returns the format by the first characters of the text, else by the file's suffix."""
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "[")):
        return InstanceFormat.JSON
    if start.startswith(("digraph", "strict", "graph", "/*", "//")) or file.endswith((".dot", ".gv")):
        return InstanceFormat.DOT
    return InstanceFormat.JSON if file.endswith(".json") else InstanceFormat.STG


def read_instance(file: str, text: str, devices: Devices | None = None, contention: Contention | None = None) -> Problem:
    """Returns the problem of a text.  `devices`: devices instead of its own, or a number of equal ones.

    Raises Refused for a text that is no instance, Rejected (SCH107, SCH201, …) for directives that cannot be resolved.
    """
    problems = problems_of(file)
    if len(text) > MOST_CHARACTERS:
        problems.fail("", f"the file has {len(text)} characters; at most {MOST_CHARACTERS} are read")
    text = text.removeprefix("\ufeff")
    equal = None if devices is None else equal_processors(devices) if isinstance(devices, int) else devices(1)
    match format_of(file, text):
        case InstanceFormat.JSON:
            problem = decode(load_json(text, problems), problems, devices)
        case InstanceFormat.DOT:
            problem = decode_dot(text, problems, equal)
        case InstanceFormat.STG:
            if equal is None:
                problems.fail("", "a task graph says nothing of processors: give --devices N")
            problem = decode_stg(text, problems, equal)
    return problem if contention is None else replace(problem, contention=contention)


# ---------------------------------------------------------------------------------------------------- solution as JSON
#
# An answer as JSON and as text.  docs/instances.md describes the JSON.

ENDLESS: Final = 1 << 59
"""Bounds of at least this prove that no schedule exists."""


def result_json(solved: Solved) -> dict[str, Any]:
    """Returns the solution as JSON; without a schedule `makespan` is null and `queues` empty; an infinite bound is null."""
    problem, answer = solved.problem, solved.answer
    schedule, proof = answer.schedule, answer.proof
    report: dict[str, Any] = {
        "makespan": None if schedule is None else schedule.makespan,
        "lower_bound": _bound(answer.lower_bound),
        "status": answer.status.value,
        "chunks": answer.chunks,
        "seconds": round(solved.seconds, 3),
        "objective": {o.value: v for o, v in zip(problem.objectives, answer.values, strict=False)},
        "queues": {},
        "proof": {"method": proof.method, "lower_bound": _bound(proof.lower_bound), "detail": dict(proof.detail)},
        "baselines": {baseline.name: baseline.ticks for baseline in answer.baselines},
    }
    if schedule is not None and solved.sync is not None:
        report["queues"] = _queues(problem, schedule)
        report["transfers"] = _transfers(problem, schedule)
        report |= _synchronisation(solved.sync)
    if answer.conflict is not None:
        conflict = answer.conflict
        lines = {(d.line.number, d.line.text): None for d in conflict.directives}
        report["conflict"] = {
            "code": conflict.code,
            "directives": [{"line": number, "text": text} for number, text in lines],
            "facts": list(conflict.facts),
            "hint": conflict.hint,
        }
    return report


def _bound(ticks: int) -> int | None:
    return None if ticks >= ENDLESS else ticks


def _queues(problem: Problem, schedule: Schedule) -> dict[str, list[dict[str, Any]]]:
    """Returns for each device the phases that it runs, by start."""
    names = problem.device_names()
    lanes: dict[str, list[tuple[int, int, int, dict[str, Any]]]] = {name: [] for name in names}
    for shard in schedule.shards:
        step = {"id": problem.phases[shard.phase].id, "rows": [shard.first, shard.stop], "start": shard.start, "end": shard.end}
        lanes[names[shard.device]].append((shard.start, shard.end, shard.phase, step))
    for combine in schedule.combines:
        task = problem.phases[combine.phase]
        step = {"id": task.id, "rows": [0, task.units], "start": combine.start, "end": combine.end, "combine": True}
        lanes[names[problem.home]].append((combine.start, combine.end, combine.phase, step))
    return {name: [step for *_, step in sorted(lane, key=lambda s: s[:3])] for name, lane in lanes.items()}


def _transfers(problem: Problem, schedule: Schedule) -> list[dict[str, Any]]:
    names = problem.device_names()
    return [
        {
            "id": problem.phases[moved.phase].id, "from": names[moved.source], "to": names[moved.target],
            "part": [moved.first, moved.stop], "bytes": moved.bytes,
            "link": None if moved.link is None else problem.links[moved.link].id,
            "start": moved.start, "busy": moved.busy, "arrive": moved.arrive, "partial": moved.partial,
        }
        for moved in schedule.transfers
    ]  # fmt: skip


def _synchronisation(sync: Synchronisation) -> dict[str, Any]:
    """Returns the fences (after positions of queues) and waits (before positions of queues)."""
    names = [queue.name for queue in sync.queues]
    waits = [wait for wait in sync.waits if sync.queues[wait.queue].kind is QueueKind.COMPUTE]
    used = {wait.fence for wait in waits}
    return {
        "syncs": sync.syncs,
        "fences": [
            {"id": f"f{fence.id}", "after": [[names[queue], position] for queue, position in fence.after]}
            for fence in sync.fences if fence.id in used
        ],
        "waits": [{"queue": names[wait.queue], "before": wait.position, "fence": f"f{wait.fence}"} for wait in waits],
    }  # fmt: skip


def result_text(solved: Solved) -> str:
    """Returns the answer as text: makespan, status and bound, then each device's queue with its fences."""
    problem, answer = solved.problem, solved.answer
    if answer.schedule is None or solved.sync is None:
        return f"{answer.status.value}: no schedule"
    ticks = answer.schedule.makespan
    space = f" with at most {answer.chunks} chunks" if answer.chunks > 1 else ""
    lines = [f"{ticks} ticks, {_certainty(answer.status, answer.proof, answer.values[0])}{space} ({solved.seconds:.2f} s)"]
    others = [f"{o.value} {v}" for o, v in zip(problem.objectives, answer.values, strict=False) if o.value != "latency"]
    if others:
        lines.append("objectives: " + ", ".join(others))
    compared = [f"{b.name} {b.ticks} ({b.ticks / ticks:.2f}×)" for b in answer.baselines if b.ticks is not None and ticks]
    if compared:
        lines.append("baselines: " + ", ".join(compared))
    lines.append(f"{count_text(len(answer.schedule.transfers), 'transfer')}, {count_text(solved.sync.syncs, 'sync')}")
    return "\n".join([*lines, *_listed(problem, solved.sync)])


def gap_of(value: int, bound: int) -> float:
    """Returns the distance of the bound from the value in percent of the value."""
    return 0.0 if value == 0 else 100 * (value - bound) / value


def _certainty(status: Status, proof: BoundCertificate, value: int) -> str:
    if status is Status.OPTIMAL:
        return f"optimal ({proof.method})"
    return f"lower bound {proof.lower_bound}, gap {gap_of(value, proof.lower_bound):.1f} %"


_MOST_QUEUES = 40


def _listed(problem: Problem, sync: Synchronisation) -> list[str]:
    lines: list[str] = []
    fences: dict[tuple[int, int], list[int]] = {}
    waits: dict[tuple[int, int], list[int]] = {}
    used = [wait for wait in sync.waits if sync.queues[wait.queue].kind is QueueKind.COMPUTE]
    for wait in used:
        waits.setdefault((wait.queue, wait.position), []).append(wait.fence)
        for phase, position in sync.fences[wait.fence].after:
            fences.setdefault((phase, position), []).append(wait.fence)
    for number, queue in enumerate(sync.queues[:_MOST_QUEUES]):
        lines += ["", queue.name]
        for position, step in enumerate(queue.steps):
            lines += [f"  sync(f{fence})" for fence in waits.get((number, position), ())]
            lines.append("  " + _step(problem, step))
            lines += [f"  ---fence f{fence}" for fence in fences.get((number, position), ())]
    if len(sync.queues) > _MOST_QUEUES:
        lines += ["", f"… and {len(sync.queues) - _MOST_QUEUES} more queues (--json has all)"]
    return lines


def _step(problem: Problem, step: ScheduledStep) -> str:
    task = problem.phases[step.phase]
    match step:
        case Shard():
            rows = f" rows {step.first}:{step.stop}" if task.rows else ""
            return f"{step.start:>6} … {step.end:<6} {task.id}{rows}"
        case Transfer():
            names = problem.device_names()
            route = f"{names[step.source]} → {names[step.target]}"
            return f"{step.start:>6} … {step.arrive:<6} {task.id}: {route}, {step.bytes} B"
        case _:
            return f"{step.start:>6} … {step.end:<6} combine {task.id}"
