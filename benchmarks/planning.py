"""Measures the planner: `python benchmarks/planning.py [split] [graphs] [scale] [fleet]`.

* split: one phase over 40 unequal devices, proved optimal.
* graphs: fifty seeded graphs of 16 phases on 4 classes of devices, with shared links and memory limits: how many are proved
optimal
  within 5 s, and the gaps of the others.
* scale: 1,000 phases on 10,000 devices of 5 classes, with the bound and the gap.
* fleet: a sum of 2 GB on the shipped `fleet10000`, compared with 200 random splits.

`second_opinions.py` compares with other planners.
"""

from __future__ import annotations

import random
import sys
import time
from fractions import Fraction
from itertools import accumulate, pairwise

import rho
from rho.backend.devices.cost_functions import Ticks
from rho.backend.devices.this_machine import load_profile
from rho.backend.schedule.problem import Answer, Decisions, DeviceGroup, Edge, Link, PhaseIndex, PhaseTask, Problem, Status
from rho.backend.schedule.program.problem_from_program import problem_of
from rho.backend.schedule.search.portfolio import plan_problem
from rho.backend.schedule.search.strategy import DEFAULT
from rho.backend.schedule.timeline.serial_sgs import ScheduleDecoder
from rho.shell.execution.modules import bind_known_sizes


def timed(problem: Problem) -> tuple[Answer, float]:
    """The answer, and the processor time of planning in seconds."""
    begin = time.process_time()
    answer = plan_problem(problem, DEFAULT)
    return answer, time.process_time() - begin


def forty_devices() -> Problem:
    """One phase of 100,000 rows on devices that differ in speed, start-up time and link."""
    draw = random.Random(40)
    devices = [DeviceGroup(f"d{i}", f"k{i}", home=i == 0) for i in range(40)]
    tables = {}
    for i in range(40):
        start, each = draw.randint(0, 500), draw.randint(3, 40)
        tables[f"k{i}"] = Ticks(((1, start + each), (2, start + 2 * each)))
    links = tuple(
        Link(f"l{i}", "d0", f"d{i}", latency=draw.randint(1, 50), bytes_per_tick=Fraction(draw.randint(1, 8)))
        for i in range(1, 40)
    )
    phases = (
        PhaseTask("x", {"k0": Ticks(((1, 0),))}, home=True, out_bytes=800_000),
        PhaseTask("m", tables, rows=100_000),
    )
    return Problem(tuple(devices), links, phases, (Edge(PhaseIndex(0), PhaseIndex(1)),))


def graph(seed: int, phases: int = 16, classes: int = 4) -> Problem:
    """A layered graph of atomic phases on unequal devices around home, with one bus and memory for about a third of all outputs
    on each device."""
    draw = random.Random(seed)
    sizes = [draw.randint(10, 100) for _ in range(phases)]
    memory = max(sum(sizes) // 3, 4 * max(sizes))
    devices = tuple(
        DeviceGroup(f"d{i}", f"k{i}", home=i == 0, memory=None if i == 0 else memory, sync=draw.randint(0, 2))
        for i in range(classes)
    )
    links = tuple(
        Link(f"l{i}", "d0", f"d{i}", latency=draw.randint(0, 3), bytes_per_tick=Fraction(draw.randint(5, 20)), group="bus")
        for i in range(1, classes)
    )
    tasks = []
    for p in range(phases):
        base = draw.randint(5, 50)
        ticks = {f"k{k}": Ticks(((1, max(1, base * draw.randint(50, 150) // 100)),)) for k in range(classes)}
        tasks.append(PhaseTask(f"p{p}", ticks, out_bytes=sizes[p]))
    edges = []
    for q in range(1, phases):
        for p in sorted(draw.sample(range(max(0, q - 6), q), min(q, draw.randint(1, 3)))):
            edges.append(Edge(PhaseIndex(p), PhaseIndex(q)))
    return Problem(devices, links, tuple(tasks), tuple(edges))


def large(seed: int = 1, phases: int = 1000) -> Problem:
    """A layered graph of phases, half of which can be split, on five classes of two thousand devices."""
    draw = random.Random(seed)
    devices = (
        DeviceGroup("home", "host", home=True),
        *(DeviceGroup(f"c{k}", f"k{k}", count=2000 if k else 1999, memory=1 << 30) for k in range(5)),
    )
    links = tuple(Link(f"n{k}", "home", f"c{k}", latency=20, bytes_per_tick=Fraction(1000), group="nic[i]") for k in range(5))
    links += tuple(
        Link(f"n{k}{j}", f"c{k}", f"c{j}", latency=20, bytes_per_tick=Fraction(1000), group="nic[i]")
        for k in range(5)
        for j in range(k, 5)
    )
    tasks = []
    edges = []
    width = 25
    for p in range(phases):
        work = draw.randint(1000, 20_000)
        rows = draw.choice((0, 0, 64, 256))
        speeds = {"host": 4, "k0": 1, "k1": 2, "k2": 3, "k3": 5, "k4": 8}
        units = max(1, rows)
        table = {kind: Ticks(((units, work * speed),)) for kind, speed in speeds.items()}
        tasks.append(PhaseTask(f"p{p}", table, rows=rows, out_bytes=draw.randint(1, 64) * 1000))
        layer = p // width
        if layer:
            for q in sorted(draw.sample(range((layer - 1) * width, layer * width), draw.randint(1, 3))):
                edges.append(Edge(PhaseIndex(q), PhaseIndex(p)))
    return Problem(devices, links, tuple(tasks), tuple(edges))


def report(answer: Answer) -> str:
    ticks = answer.values[0] if answer.values else None
    gap = "" if ticks is None or ticks == answer.lower_bound else f", gap {100 * (ticks - answer.lower_bound) / ticks:.1f} %"
    return f"T = {ticks}, lower bound {answer.lower_bound} ({answer.proof.method}), {answer.status.value}{gap}"


def split() -> None:
    answer, seconds = timed(forty_devices())
    print(f"one phase over 40 devices: {report(answer)} in {seconds:.3f} s")


def graphs(count: int = 50) -> None:
    proved, gaps, slow = 0, [], 0.0
    for seed in range(count):
        answer, seconds = timed(graph(seed))
        slow = max(slow, seconds)
        if answer.status is Status.OPTIMAL and seconds <= 5:
            proved += 1
        else:
            gaps.append((answer.values[0] - answer.lower_bound) / answer.values[0])
            print(f"  graph {seed}: {report(answer)} in {seconds:.2f} s")
    worst = max(gaps, default=0.0)
    print(f"{proved} of {count} graphs proved within 5 s; largest gap {100 * worst:.1f} %; slowest {slow:.2f} s")


def scale() -> None:
    answer, seconds = timed(large())
    print(f"1,000 phases on 10,000 devices: {report(answer)} in {seconds:.1f} s")
    print("  baselines: " + ", ".join(f"{b.name} {b.ticks}" for b in answer.baselines))


def fleet() -> None:
    """Compare the plan with random splits over home and up to three devices of the classes."""
    profile = load_profile("fleet10000")
    core = rho.check("input x : f64[n]\n+/x\n").core
    assert core is not None
    problem = problem_of(bind_known_sizes(core, {"n": 1 << 28}, {}, lambda _: {}), profile).problem
    answer, seconds = timed(problem)
    print(f"2 GB summed on fleet10000: {report(answer)} in {seconds:.1f} s")
    draw, decoder, rows = random.Random(7), ScheduleDecoder(problem), problem.phases[1].rows
    firsts = list(accumulate((group.count for group in problem.devices), initial=0))[:-1]
    best: int | None = None
    for _ in range(200):
        others = draw.sample([first + 1 for first in firsts], draw.randint(1, 3))
        cuts = sorted(draw.sample(range(1, rows), len(others)))
        given = [stop - start for start, stop in pairwise([0, *cuts, rows])]
        modes = (((0, problem.phases[0].units),), tuple(zip((0, *others), given, strict=True)), ((0, 1),))
        ticks = decoder.makespan(Decisions(modes, (0, 1, 2)))
        best = ticks if best is None or (ticks is not None and ticks < best) else best
    print(f"  best of 200 random splits {best}; " + ", ".join(f"{b.name} {b.ticks}" for b in answer.baselines))


def main(names: list[str]) -> None:
    known = {"split": split, "graphs": graphs, "scale": scale, "fleet": fleet}
    for name in names or known:
        known[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
