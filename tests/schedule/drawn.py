"""Random scheduling problems and decisions, from a seed: every feature that a problem may have."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random

from rho.backend.devices.cost_functions import Duplex, Ticks
from rho.backend.schedule.problem import (
    Combine,
    Contention,
    Decisions,
    DeviceGroup,
    Edge,
    InsertionPolicy,
    Link,
    PhaseIndex,
    PhaseTask,
    Problem,
    TransferPolicy,
)


def problem_of(r: Random, most_phases: int = 6) -> Problem:
    """Up to three groups of devices, links or delays, atomic and shardable phases."""
    groups = [DeviceGroup("cpu0", "cpu", home=True, sync=r.randint(0, 2))]
    groups.append(DeviceGroup("gpu", "gpu", r.randint(1, 2), sync=r.randint(0, 2)))
    if r.random() < 0.3:
        groups.append(DeviceGroup("far", "gpu"))
    if r.random() < 0.5:
        groups = [replace(group, memory=r.randint(20, 90)) for group in groups]
    delayed = r.random() < 0.3
    links = () if delayed else links_of(r, groups)
    phases = tuple(task_of(r, f"p{i}") for i in range(r.randint(1, most_phases)))
    edges = tuple(
        edge_of(r, PhaseIndex(a), PhaseIndex(b), phases[a], delayed)
        for a in range(len(phases)) for b in range(a + 1, len(phases)) if r.random() < 0.4
    )  # fmt: skip
    contention = r.choice([Contention.GROUP, Contention.OFF])
    return Problem(tuple(groups), links, phases, edges, contention=contention, memory_grain=r.choice([1, 8]))


def links_of(r: Random, groups: list[DeviceGroup]) -> tuple[Link, ...]:
    found: list[Link] = []
    pairs = [("cpu0", "gpu")] + [("gpu", "gpu")] * (groups[1].count > 1 and r.random() < 0.5)
    pairs += [("cpu0", "far")] * (len(groups) > 2) + [("gpu", "far")] * (len(groups) > 2 and r.random() < 0.5)
    for source, target in pairs:
        rate = r.choice([None, Fraction(r.randint(1, 5), r.randint(1, 3))])
        one = Link(
            f"l{len(found)}", source, target, r.randint(0, 4), rate, Duplex.HALF, r.choice([None, "bus", "nic[i]"]),
            least_row=(2, None, 5)[len(found) % 3],
        )  # fmt: skip
        if source != target and r.random() < 0.2:
            found += [replace(one, duplex=Duplex.SIMPLEX), replace(one, id=f"{one.id}b", source=target, target=source, latency=1)]
        else:
            found.append(replace(one, duplex=r.choice([Duplex.HALF, Duplex.FULL])))
    return tuple(found)


def task_of(r: Random, name: str) -> PhaseTask:
    rows = r.choice([0, 0, 1, 3, 8])

    def table() -> Ticks:
        if rows == 0 or r.random() < 0.5:
            return Ticks(((max(1, rows), r.randint(0, 6)),))
        low = r.randint(0, 6)
        return Ticks(((1, low), (rows + 1, low + r.randint(0, 9))))

    combine = Combine(r.randint(0, 3), r.randint(0, 6)) if rows and r.random() < 0.3 else None
    effect = rows == 0 and r.random() < 0.2
    return PhaseTask(
        name, {kind: table() for kind in ("cpu", "gpu")}, rows, combine, r.choice([0, r.randint(1, 20)]),
        r.randint(0, 6), r.random() < 0.5, effect, r.choice([0, 0, r.randint(0, 6)]), effect,
        packing=Fraction(r.choice([0, 0, r.randint(1, 4)]), 5), pieces=1 + rows % 4,
    )  # fmt: skip


def edge_of(r: Random, source: PhaseIndex, target: PhaseIndex, task: PhaseTask, delayed: bool) -> Edge:
    size = None if delayed or r.random() < 0.5 else r.randint(0, 20)
    return Edge(source, target, size, r.randint(0, 5) if delayed else None, r.random() < 0.2, r.randint(0, 1) if task.rows else 0)


def decisions_for(r: Random, problem: Problem) -> Decisions:
    """Any modes, in any order (layouts make it legal)."""
    count = sum(group.count for group in problem.devices)
    modes: list[tuple[tuple[int, int], ...]] = []
    for phase in problem.phases:
        devices = [int(problem.home)] if phase.home else r.sample(range(count), count)
        parts = r.randint(1, min(len(devices), phase.units))
        bounds = [0, *sorted(r.sample(range(1, phase.units), parts - 1)), phase.units]
        modes.append(tuple((devices[at], high - low) for at, (low, high) in enumerate(pairwise(bounds))))
    order = r.sample(range(len(problem.phases)), len(problem.phases))
    return Decisions(tuple(modes), tuple(order), r.choice(list(InsertionPolicy)), r.choice(list(TransferPolicy)))


def directives_for(r: Random, problem: Problem) -> list[str]:
    """Up to three directives, some of which may contradict each other or the data."""
    ids = [phase.id for phase in problem.phases]
    free = [phase.id for phase in problem.phases if not phase.home] or ids
    cut = [phase.id for phase in problem.phases if phase.rows]
    names = [group.id for group in problem.devices] + ["gpu", *problem.device_names()]
    found: list[str] = []
    for _ in range(r.randint(0, 3)):
        x, y = sorted(r.sample(ids, 2)) if len(ids) > 1 else (ids[0], ids[0])
        choices = [
            f"place {r.choice(free)} on {r.choice(names)}", f"{x} before {y}", f"{x} issue_before {y}", f"nosplit {x}",
            f"limit memory {r.choice(names)} {r.randint(20, 90)}", f"limit machines {r.randint(1, 4)}", f"replicate {x}",
            f"keep {x} on {r.choice(names)}", f"order {x} {y}",
        ]  # fmt: skip
        if cut:
            last = problem.device_names()[-1]
            choices.append(f"split {r.choice(cut)} rows {r.randint(0, 3)}:{r.randint(1, 3)} over cpu0 {last}")
        found.append(r.choice(choices))
    return found
