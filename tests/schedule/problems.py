"""Small random problems for the exact search, from a seed, and the modes that brute force can go through."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.problem import DeviceGroup, Edge, Link, PhaseIndex, PhaseTask, Problem

KINDS = ("cpu", "gpu", "dsp", "npu")
Modes = list[list[tuple[tuple[int, int], ...]]]


def atomic(seed: int, phases: int, devices: int, *, memory: bool = False, bus: bool = False) -> Problem:
    """Phases of unequal ticks on unequal devices around a home, with links that matter."""
    r = Random(seed)
    tasks: list[PhaseTask] = []
    for index in range(phases):
        base = r.randint(20, 200)
        ticks = {kind: Ticks(((1, max(1, base * r.randint(3, 12) // 6)),)) for kind in KINDS[:devices]}
        tasks.append(PhaseTask(f"p{index}", ticks, out_bytes=r.randint(10, 100)))
    edges: list[Edge] = []
    for target in range(1, phases):
        sources = r.sample(range(max(0, target - 8), target), min(target, r.randint(0 if target > 2 else 1, 2)))
        edges += [Edge(PhaseIndex(source), PhaseIndex(target)) for source in sources]
    groups = [
        DeviceGroup(kind, kind, 1, r.randint(220, 420) if memory and index else None, index == 0, r.randint(0, 2))
        for index, kind in enumerate(KINDS[:devices])
    ]
    links = [
        Link(f"l{kind}", "cpu", kind, r.randint(1, 10), Fraction(r.randint(1, 8), 4), group="bus" if bus else None)
        for kind in KINDS[1:devices]
    ]
    return Problem(tuple(groups), tuple(links), tuple(tasks), tuple(edges))


def singles(problem: Problem) -> Modes:
    count = len(problem.device_names())
    return [[((device, task.units),) for device in range(count)] for task in problem.phases]


def small(seed: int, *, cuts: bool, memory: bool, delays: bool = False) -> tuple[Problem, Modes]:
    """Few enough phases and modes for brute force."""
    r = Random(seed)
    devices = r.randint(2, 2 if cuts else 3)
    problem = atomic(seed, r.randint(2, 4 if cuts else 5), devices, bus=r.random() < 0.5)
    if memory:
        groups = tuple(replace(g, memory=None if r.random() < 0.2 else r.randint(110, 260)) for g in problem.devices)
        problem = replace(problem, devices=groups)
    if delays:
        problem = replace(problem, links=(), edges=tuple(replace(edge, ticks=r.randint(0, 60)) for edge in problem.edges))
    modes = singles(problem)
    if not cuts:
        return problem, modes
    tasks: list[PhaseTask] = []
    for index, task in enumerate(problem.phases):
        rows = r.choice([0, 7, 10])
        if not rows:
            tasks.append(task)
            continue
        ticks = {kind: Ticks(((1, r.randint(3, 20)), (rows, r.randint(20, 200)))) for kind in task.ticks}
        tasks.append(replace(task, rows=rows, scratch=r.choice([0, 20]), ticks=ticks))
        first = r.randint(1, rows - 1)
        modes[index] = [((0, rows),), ((1, rows),), ((0, first), (1, rows - first))]
        if r.random() < 0.5:
            modes[index].append(((1, first), (0, rows - first)))
    edges = tuple(replace(edge, whole=r.random() < 0.2, halo=r.choice([0, 0, 1])) for edge in problem.edges)
    return replace(problem, phases=tuple(tasks), edges=edges), modes
