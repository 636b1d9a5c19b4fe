"""Plans seeded problems modelled on published sets and on programs: `python benchmarks/classes.py [KIND]… [--seeds A B]`.

* auckland: fork, join, fork-join, in- and out-trees, independent, pipeline, random, series-parallel and stencil graphs of 10,
  21 or 30 tasks, communication from little to much, on 2, 4, 8 equal or 4 unequal processors, no contention;
* stg: layered graphs of 50 tasks without communication, on 2, 4, 8 and 16 equal processors;
* atomic: 16 phases of every shape on 4 classes of devices behind shared, separate, half or full duplex links, with memory limits;
* rows: 8 to 16 phases that may be cut, of 32 rows each, on devices behind one bus.

It prints a line for each problem that is not proved optimal or takes more than a second, and the number proved of each kind.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator
from fractions import Fraction

from rho.backend.devices.cost_functions import Duplex, Ticks
from rho.backend.schedule.problem import Contention, DeviceGroup, Edge, Link, PhaseIndex, PhaseTask, Problem, Status
from rho.backend.schedule.search.portfolio import plan_problem
from rho.backend.schedule.search.strategy import DEFAULT

Arcs = list[tuple[int, int]]

# ------------------------------------------------------------------------------------------------ shapes


def fork(draw: random.Random, n: int) -> Arcs:
    return [(0, i) for i in range(1, n)]


def join(draw: random.Random, n: int) -> Arcs:
    return [(i, n - 1) for i in range(n - 1)]


def fork_join(draw: random.Random, n: int) -> Arcs:
    return [(0, i) for i in range(1, n - 1)] + [(i, n - 1) for i in range(1, n - 1)]


def independent(draw: random.Random, n: int) -> Arcs:
    return []


def chain(draw: random.Random, n: int) -> Arcs:
    return [(i, i + 1) for i in range(n - 1)]


def out_tree(draw: random.Random, n: int) -> Arcs:
    """A random out-tree in which every node has up to three children."""
    arcs: Arcs = []
    last = 0
    for p in range(n):
        for _ in range(draw.randint(1 if last == p else 0, 3)):
            if last + 1 < n:
                last += 1
                arcs.append((p, last))
    return arcs


def out_tree_balanced(draw: random.Random, n: int) -> Arcs:
    return [((i - 1) // 3, i) for i in range(1, n)]


def in_tree(draw: random.Random, n: int) -> Arcs:
    return [(n - 1 - b, n - 1 - a) for a, b in out_tree(draw, n)]


def in_tree_balanced(draw: random.Random, n: int) -> Arcs:
    return [(n - 1 - b, n - 1 - a) for a, b in out_tree_balanced(draw, n)]


def pipeline(draw: random.Random, n: int) -> Arcs:
    """Two rows of stages; each reads the one before it and the one above it."""
    width = 2 if n < 20 else 3
    arcs: Arcs = []
    for i in range(n):
        if i % width + 1 < width and i + 1 < n:
            arcs.append((i, i + 1))
        if i + width < n:
            arcs.append((i, i + width))
    return arcs


def stencil(draw: random.Random, n: int) -> Arcs:
    """Layers of nodes, each of which reads its neighbours in the layer before."""
    width = 2 if n <= 12 else 4
    return [
        (p, q)
        for q in range(width, n)
        for p in range((q // width - 1) * width, (q // width) * width)
        if abs(p % width - q % width) <= 1
    ]


def scattered(draw: random.Random, n: int) -> Arcs:
    """Every arc with the same probability."""
    density = draw.choice((0.1, 0.2, 0.35))
    return [(p, q) for q in range(n) for p in range(q) if draw.random() < density]


def layered(draw: random.Random, n: int) -> Arcs:
    return [(p, q) for q in range(1, n) for p in sorted(draw.sample(range(max(0, q - 6), q), min(q, draw.randint(1, 3))))]


def series_parallel(draw: random.Random, n: int) -> Arcs:
    """A series-parallel graph: arcs are repeatedly subdivided or duplicated; nodes are numbered in a topological order."""
    arcs: Arcs = [(0, 1)]
    count = 2
    while count < n:
        a, b = arcs[draw.randrange(len(arcs))]
        if draw.random() < 0.5:
            arcs.remove((a, b))
        arcs += [(a, count), (count, b)]
        count += 1
    return ordered(n, arcs)


def ordered(n: int, arcs: Arcs) -> Arcs:
    """The arcs with nodes renumbered in a topological order."""
    names: dict[int, int] = {}
    while len(names) < n:
        ready = next(p for p in range(n) if p not in names and all(a in names for a, b in arcs if b == p))
        names[ready] = len(names)
    return [(names[a], names[b]) for a, b in arcs]


SHAPES: dict[str, Callable[[random.Random, int], Arcs]] = {
    "fork": fork,
    "join": join,
    "fork-join": fork_join,
    "in-tree": in_tree,
    "in-tree-balanced": in_tree_balanced,
    "out-tree": out_tree,
    "out-tree-balanced": out_tree_balanced,
    "independent": independent,
    "pipeline": pipeline,
    "random": scattered,
    "series-parallel": series_parallel,
    "stencil": stencil,
}


# ------------------------------------------------------------------------------------------------ the sets


def auckland(shape: str, n: int, system: str, ccr: float, seed: int) -> Problem:
    """A problem like those of the Auckland set; `system` is Homogeneous-P or Heterogeneous-P-F."""
    draw = random.Random(f"{shape} {n} {system} {ccr} {seed}")
    arcs = SHAPES[shape](draw, n)
    if ccr < 0.5:
        work, moved = [11 * draw.randint(2, 10) + draw.randint(0, 9) for _ in range(n)], [draw.randint(2, 10) for _ in arcs]
    else:
        work = [draw.randint(2, 10) for _ in range(n)]
        scale = ccr * sum(work) / max(1, sum(range(2, 11)) // 9 * len(arcs))
        moved = [max(1, round(draw.randint(2, 10) * scale)) for _ in arcs]
    kind, count, *factor = system.split("-")
    processors = int(count)
    if kind == "Homogeneous":
        devices: tuple[DeviceGroup, ...] = (DeviceGroup("p", "p", processors, home=True),)
        phases = [PhaseTask(f"t{i}", {"p": Ticks(((1, w),))}) for i, w in enumerate(work)]
        unit = 1
    else:
        devices = (DeviceGroup("p0", "fast", home=True), DeviceGroup("p", "slow", processors - 1))
        slow = 100 * int(factor[0])
        phases = [
            PhaseTask(f"t{i}", {"fast": Ticks(((1, 100 * w),)), "slow": Ticks(((1, slow * w),))}) for i, w in enumerate(work)
        ]
        unit = 100
    edges = tuple(Edge(PhaseIndex(a), PhaseIndex(b), ticks=unit * c) for (a, b), c in zip(arcs, moved, strict=True))
    return Problem(devices, (), tuple(phases), edges, contention=Contention.OFF)


def stg(seed: int, processors: int, n: int = 50) -> Problem:
    """A problem like those of the Standard Task Graph set, which draws predecessors and times in several ways."""
    draw = random.Random(f"stg {seed}")
    way = seed % 4
    arcs: Arcs = []
    if way == 0:  # the same chance for every pair
        density = draw.choice((0.05, 0.1, 0.2))
        arcs = [(p, q) for q in range(n) for p in range(q) if draw.random() < density]
    elif way == 1:  # a number of predecessors each
        arcs = [(p, q) for q in range(1, n) for p in draw.sample(range(q), min(q, draw.choice((1, 1, 3, 5))))]
    else:  # layers
        layer = [0]
        while len(layer) < n:
            layer += [layer[-1] + 1] * min(n - len(layer), draw.randint(1, 2 * (5 if way == 2 else 10)))
        for q in range(n):
            earlier = [p for p in range(q) if layer[p] == layer[q] - 1] or [p for p in range(q) if layer[p] < layer[q]]
            arcs += [(p, q) for p in draw.sample(earlier, min(len(earlier), draw.randint(1, 3)))]
    times = {
        0: lambda: draw.randint(1, 10),
        1: lambda: max(1, min(20, round(draw.gauss(5, 2)))),
        2: lambda: max(1, min(50, round(draw.expovariate(0.2)))),
        3: lambda: draw.randint(1, 50),
    }[seed // 4 % 4]
    phases = tuple(PhaseTask(f"t{i}", {"p": Ticks(((1, times()),))}) for i in range(n))
    edges = tuple(Edge(PhaseIndex(a), PhaseIndex(b), ticks=0) for a, b in sorted(set(arcs)))
    return Problem((DeviceGroup("p", "p", processors, home=True),), (), phases, edges, contention=Contention.OFF)


KINDS = ("layered", "chain", "fork-join", "in-tree", "out-tree", "random", "series-parallel", "stencil")


def topology(
    draw: random.Random, count: int, memory: int | None, wiring: str
) -> tuple[tuple[DeviceGroup, ...], tuple[Link, ...]]:
    """Unequal devices around home, with links by `wiring`: bus, own, full (duplex on a bus) or mesh."""
    devices = tuple(
        DeviceGroup(f"d{i}", f"k{i}", home=i == 0, memory=None if i == 0 else memory, sync=draw.randint(0, 2))
        for i in range(count)
    )

    def link(a: int, b: int) -> Link:
        group = "bus" if wiring in ("bus", "full") else None
        duplex = Duplex.FULL if wiring == "full" else Duplex.HALF
        return Link(f"l{a}{b}", f"d{a}", f"d{b}", draw.randint(0, 3), Fraction(draw.randint(5, 20)), duplex, group)

    links = [link(0, i) for i in range(1, count)]
    if wiring == "mesh":
        links += [link(a, b) for a in range(1, count) for b in range(a + 1, count)]
    return devices, tuple(links)


def atomic(shape: str, wiring: str, tight: bool, seed: int, n: int = 16, classes: int = 4) -> Problem:
    """Atomic phases on unequal devices with memory for a third of all outputs, or a quarter (`tight`)."""
    draw = random.Random(f"{shape} {wiring} {tight} {seed}")
    arcs = (SHAPES | {"chain": chain, "layered": layered})[shape](draw, n)
    sizes = [draw.randint(10, 100) for _ in range(n)]
    most = max(sum([sizes[q], *(sizes[p] for p, t in arcs if t == q)]) for q in range(n))
    memory = max(sum(sizes) // (5 if tight else 3), most if tight else 4 * max(sizes))
    devices, links = topology(draw, classes, memory, wiring)
    tasks = []
    for p in range(n):
        base = draw.randint(5, 50)
        ticks = {f"k{k}": Ticks(((1, max(1, base * draw.randint(50, 150) // 100)),)) for k in range(classes)}
        tasks.append(PhaseTask(f"p{p}", ticks, out_bytes=sizes[p]))
    return Problem(devices, links, tuple(tasks), tuple(Edge(PhaseIndex(a), PhaseIndex(b)) for a, b in arcs))


def rows(shape: str, wiring: str, n: int, seed: int, count: int = 32, classes: int = 3) -> Problem:
    """Phases of `count` rows each, which may be split."""
    draw = random.Random(f"{shape} {wiring} {n} {seed} {count}")
    arcs = (SHAPES | {"chain": chain, "layered": layered})[shape](draw, n)
    devices, links = topology(draw, classes, None, wiring)
    tasks = []
    for p in range(n):
        base = draw.randint(2, 20)
        tables = {}
        for k in range(classes):
            each, launch = max(1, base * draw.randint(50, 150) // 100), draw.randint(0, 10)
            tables[f"k{k}"] = Ticks(((1, launch + each), (count, launch + each * count)))
        tasks.append(PhaseTask(f"p{p}", tables, rows=count, out_bytes=count * draw.randint(1, 40)))
    edges = tuple(Edge(PhaseIndex(a), PhaseIndex(b), whole=draw.random() < 0.15) for a, b in arcs)
    return Problem(devices, links, tuple(tasks), edges)


Cases = Iterator[tuple[str, Problem]]


def cases_auckland(seeds: range) -> Cases:
    for shape in SHAPES:
        for seed in seeds:
            draw = random.Random(f"{shape}{seed}")
            n = draw.choice((10, 10, 10, 21, 30))
            system = draw.choice(("Homogeneous-2", "Homogeneous-4", "Homogeneous-8", "Heterogeneous-4-2"))
            ccr = draw.choice((0.1, 1.0, 2.0, 10.0))
            yield f"{shape:18s} {n:2d} {system} {ccr}", auckland(shape, n, system, ccr, seed)


def cases_stg(seeds: range) -> Cases:
    for seed in seeds:
        for processors in (2, 4, 8, 16):
            yield f"stg {processors:2d}               {seed}", stg(seed, processors)


def cases_atomic(seeds: range) -> Cases:
    for shape in KINDS:
        for seed in seeds:
            wiring = ("bus", "own", "full", "mesh")[seed % 4]
            tight = seed // 4 % 2 == 1
            yield f"{shape:18s} {wiring} {'tight' if tight else 'loose'} {seed}", atomic(shape, wiring, tight, seed)


def cases_rows(seeds: range) -> Cases:
    for shape in KINDS:
        for seed in seeds:
            wiring = ("bus", "bus", "own", "full")[seed % 4]
            n = (8, 12, 16)[seed % 3]
            yield f"{shape:18s} {wiring} {n} {seed}", rows(shape, wiring, n, seed)


CASES = {"auckland": cases_auckland, "stg": cases_stg, "atomic": cases_atomic, "rows": cases_rows}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*", default=list(CASES))
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 4))
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true", help="a line for every problem, not only those unproved or slow")
    chosen = parser.parse_args()
    for kind in chosen.kinds:
        count = proved = 0
        gaps: list[float] = []
        slowest = 0.0
        for name, problem in CASES[kind](range(*chosen.seeds)):
            if chosen.only not in name:
                continue
            begin = time.perf_counter()
            answer = plan_problem(problem, DEFAULT)
            seconds = time.perf_counter() - begin
            ticks = answer.values[0] if answer.values else 0
            gap = (ticks - answer.lower_bound) / max(1, ticks)
            count += 1
            proved += answer.status is Status.OPTIMAL
            slowest = max(slowest, seconds)
            gaps.append(gap)
            if chosen.all or answer.status is not Status.OPTIMAL or seconds > 1:
                bound = f"{answer.lower_bound} ({answer.proof.method}) {answer.status.value} {100 * gap:.1f} %"
                print(f"  {name:44s} T = {ticks} ≥ {bound} in {seconds:.2f} s", flush=True)
        largest, mean = 100 * max(gaps, default=0), 100 * sum(gaps) / max(1, count)
        print(f"{kind}: {proved} of {count} proved, gaps up to {largest:.1f} %, mean {mean:.1f} %, slowest {slowest:.2f} s")


if __name__ == "__main__":
    main()
