"""An answer as JSON and as text.  docs/instances.md describes the JSON."""

from __future__ import annotations

from typing import Any, Final

from ..answer import Placed, Proof, Schedule, Shard, Status, Transfer
from ..plan.explain import counted
from ..problem import Problem
from ..timeline.fences import QueueKind, Synchronisation
from .solve import Solved

ENDLESS: Final = 1 << 59
"""Bounds from here on say that there is no schedule of any length."""


def result_json(solved: Solved) -> dict[str, Any]:
    """`makespan` and `queues` are null and empty where there is no schedule, and so is a bound beyond all numbers."""
    problem, answer = solved.problem, solved.answer
    schedule, proof = answer.schedule, answer.proof
    made: dict[str, Any] = {
        "makespan": None if schedule is None else schedule.makespan,
        "lower_bound": _bound(answer.lower_bound),
        "status": answer.status.value,
        "chunks": answer.chunks,
        "seconds": round(solved.seconds, 3),
        "objective": {o.value: v for o, v in zip(problem.objectives, answer.values, strict=False)},
        "queues": {},
        "proof": {"method": proof.method, "lower_bound": _bound(proof.lower_bound), "detail": dict(proof.detail)},
        "speculated": list(solved.speculated),
        "baselines": {baseline.name: baseline.ticks for baseline in answer.baselines},
    }
    if schedule is not None and solved.sync is not None:
        made["queues"] = _queues(problem, schedule)
        made["transfers"] = _transfers(problem, schedule)
        made |= _synchronisation(solved.sync)
    if answer.conflict is not None:
        conflict = answer.conflict
        lines = {(d.line.number, d.line.text): None for d in conflict.directives}
        made["conflict"] = {
            "code": conflict.code,
            "directives": [{"line": number, "text": text} for number, text in lines],
            "facts": list(conflict.facts),
            "hint": conflict.hint,
        }
    return made


def _bound(ticks: int) -> int | None:
    return None if ticks >= ENDLESS else ticks


def _queues(problem: Problem, schedule: Schedule) -> dict[str, list[dict[str, Any]]]:
    """Every device with what it runs, by start."""
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
    """Fences after positions of queues, waits of devices before positions of theirs."""
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
    """The answer for people: what is known of it, then each device's queue with its fences."""
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
    lines.append(f"{counted(len(answer.schedule.transfers), 'transfer')}, {counted(solved.sync.syncs, 'sync')}")
    return "\n".join([*lines, *_listed(problem, solved.sync)])


def gap_of(value: int, bound: int) -> float:
    """How far the bound is below, in percent of the value."""
    return 0.0 if value == 0 else 100 * (value - bound) / value


def _certainty(status: Status, proof: Proof, value: int) -> str:
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
        for told, position in sync.fences[wait.fence].after:
            fences.setdefault((told, position), []).append(wait.fence)
    for number, queue in enumerate(sync.queues[:_MOST_QUEUES]):
        lines += ["", queue.name]
        for position, step in enumerate(queue.steps):
            lines += [f"  sync(f{fence})" for fence in waits.get((number, position), ())]
            lines.append("  " + _step(problem, step))
            lines += [f"  ---fence f{fence}" for fence in fences.get((number, position), ())]
    if len(sync.queues) > _MOST_QUEUES:
        lines += ["", f"… and {len(sync.queues) - _MOST_QUEUES} more queues (--json has all)"]
    return lines


def _step(problem: Problem, step: Placed) -> str:
    task = problem.phases[step.phase]
    match step:
        case Shard():
            rows = f" rows {step.first}:{step.stop}" if task.rows else ""
            return f"{step.start:>6} … {step.end:<6} {task.id}{rows}"
        case Transfer():
            names = problem.device_names()
            way = f"{names[step.source]} → {names[step.target]}"
            return f"{step.start:>6} … {step.arrive:<6} {task.id}: {way}, {step.bytes} B"
        case _:
            return f"{step.start:>6} … {step.end:<6} combine {task.id}"
