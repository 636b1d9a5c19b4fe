"""What the planner promises, measured: `python benchmarks/planning.py [split] [graphs] [scale] [heft]`.

* split: one phase over 40 unequal devices, proved.
* graphs: fifty seeded graphs of 16 phases on 4 classes of devices, with shared links and memory limits: how many are proved
  within 5 s, and the gap of the rest.
* scale: 1,000 phases on 10,000 devices of 5 classes, with the bound and the gap.
* heft: makespans against HEFT of the package `anrg-saga`, contention off, on 100 random instances (skipped if it is not there).
"""

from __future__ import annotations

import logging
import random
import sys
import time
from fractions import Fraction

from rho.backend.schedule.problem import (
    Answer,
    Contention,
    DeviceGroup,
    Edge,
    Link,
    PhaseIndex,
    PhaseTask,
    Problem,
    Status,
    Ticks,
)
from rho.backend.schedule.solve import plan_problem
from rho.backend.schedule.solve.budget import DEFAULT


def timed(problem: Problem) -> tuple[Answer, float]:
    """The answer and its seconds."""
    begin = time.perf_counter()
    answer = plan_problem(problem, DEFAULT)
    return answer, time.perf_counter() - begin


def forty_devices() -> Problem:
    """One phase of 100,000 rows, devices with their own speed, start-up and link."""
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
    """A layered graph of atomic phases on unequal devices around home: one shared bus, memory for about a third of all
    outputs on each device."""
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
    """A graph of layers of phases, half of which can be cut, on five classes of two thousand devices."""
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


def related(seed: int) -> tuple[Problem, list[int], list[int], list[tuple[int, int, int]], dict[tuple[int, int], int]]:
    """A random graph on processors of different speeds, all numbers divisible: the problem, and what it was made of: costs,
    speeds, edges (from, to, size), speeds of links."""
    draw = random.Random(1000 + seed)
    count, nodes = draw.randint(8, 16), draw.randint(3, 4)
    costs = [60 * draw.randint(1, 20) for _ in range(count)]
    speeds = [draw.choice((1, 2, 3, 4, 5, 6)) for _ in range(nodes)]
    sizes = [6 * draw.randint(0, 60) for _ in range(count)]  # of an output, for all that read it
    rates = {(a, b): draw.choice((1, 2, 3)) for a in range(nodes) for b in range(a + 1, nodes)}
    edges = [(p, q, sizes[p]) for q in range(1, count) for p in sorted(draw.sample(range(q), min(q, draw.randint(1, 3))))]
    devices = tuple(DeviceGroup(f"n{i}", f"n{i}", home=i == 0) for i in range(nodes))
    links = tuple(Link(f"l{a}{b}", f"n{a}", f"n{b}", bytes_per_tick=Fraction(rate)) for (a, b), rate in rates.items())
    phases = tuple(
        PhaseTask(f"t{p}", {f"n{i}": Ticks(((1, cost // speed),)) for i, speed in enumerate(speeds)}, out_bytes=sizes[p])
        for p, cost in enumerate(costs)
    )
    problem = Problem(
        devices,
        links,
        phases,
        tuple(Edge(PhaseIndex(p), PhaseIndex(q)) for p, q, _ in edges),
        contention=Contention.OFF,
    )
    return problem, costs, speeds, edges, rates


def heft(count: int = 100) -> None:
    try:
        from saga import Network, TaskGraph
        from saga.schedulers.heft import HeftScheduler
    except ImportError:
        print("heft: anrg-saga is not installed; skipped (a fresh environment is best: it brings many packages)")
        return
    logging.getLogger().setLevel(logging.ERROR)
    ratios: list[float] = []
    own: list[float] = []
    proved = 0
    for seed in range(count):
        problem, costs, speeds, edges, rates = related(seed)
        network = Network.create(
            [(f"n{i}", float(speed)) for i, speed in enumerate(speeds)],
            [(f"n{a}", f"n{b}", float(rate)) for (a, b), rate in rates.items()],
        )
        tasks = TaskGraph.create(
            [(f"t{p}", float(cost)) for p, cost in enumerate(costs)],
            [(f"t{p}", f"t{q}", float(size)) for p, q, size in edges],
        )
        theirs = HeftScheduler().schedule(network, tasks).makespan
        answer, _ = timed(problem)
        proved += answer.status is Status.OPTIMAL
        ratios.append(theirs / answer.values[0])
        own.append(theirs / next(b.ticks or 0 for b in answer.baselines if b.name == "HEFT"))
        if ratios[-1] < 1 - 1e-9:
            print(f"  instance {seed}: worse than HEFT: {answer.values[0]} against {theirs}")
    ordered = sorted(ratios)
    shown = ", ".join(f"p{q} {ordered[min(count - 1, q * count // 100)]:.3f}" for q in (0, 10, 25, 50, 75, 90))
    print(f"HEFT of anrg-saga over Rho on {count} instances: {shown}, most {ordered[-1]:.3f}")
    print(f"  never worse: {ordered[0] >= 1 - 1e-9}; {proved} proved optimal")
    print(f"  HEFT of anrg-saga over Rho's HEFT: {min(own):.3f} to {max(own):.3f}, mean {sum(own) / count:.3f}")


def main(names: list[str]) -> None:
    known = {"split": split, "graphs": graphs, "scale": scale, "heft": heft}
    for name in names or known:
        known[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
