"""What each strategy of the planner earns: every instance is planned with all of them and without each one.

`python benchmarks/strategies.py [random graphs (200)] > benchmarks/results/strategies.md`.  Instances: the task graphs of
tests/corpora (Auckland, STG), some of `planning.graph` (contention and memory), large graphs, and seeded random problems with
every feature.  A strategy that changed nothing in a run with all of them (no schedule, bound or start) is not left out of it
again: the answer would be the same.  Budgets count moves and solver steps, so the table does not depend on the machine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from statistics import mean

from rho.backend.schedule.files.read import read_instance
from rho.backend.schedule.problem import Answer, DeviceGroup, Edge, PhaseIndex, Problem, Status
from rho.backend.schedule.solve import plan_problem, recipe
from rho.backend.schedule.solve.budget import Budget
from rho.backend.schedule.solve.strategy import Context, Strategy
from rho.benchmarks.planning import graph
from rho.tests.schedule.drawn import problem_of

HERE = Path(__file__).parent.parent / "tests" / "corpora" / "data" / "schedules"
QUICK = Budget(600, 300_000, None, 300_000)


def instances(count: int) -> Iterator[tuple[str, Problem]]:
    for file in sorted(HERE.glob("auckland/*.dot")):
        yield f"auckland {file.stem}", read_instance(file.name, file.read_text())
    for file in sorted(HERE.glob("stg/*.stg")):
        for devices in (2, 4):
            yield f"stg {file.stem} {devices}", read_instance(file.name, file.read_text(), devices)
    few = max(1, count // 20)
    for seed in range(4 * few):
        yield f"graph {seed}", graph(seed, 12)
    for seed in range(few):
        yield f"large {seed}", graph(100 + seed, 40)
        yield f"chains {seed}", _chained(seed)
        yield f"cut {seed}", _cut(seed, 10)
        yield f"wide {seed}", _cut(seed, 30, 30)
        yield f"large and cut {seed}", _cut(seed, 30)
    for seed in range(count):
        yield f"random {seed}", problem_of(Random(seed), 8)


def _cut(seed: int, phases: int, devices: int = 2) -> Problem:
    """A graph whose phases may be cut, with more devices of each class."""
    draw, whole = Random(seed), graph(seed, phases)
    tasks = tuple(replace(task, rows=draw.choice((0, 64, 1000))) for task in whole.phases)
    tables = [{kind: replace(t, points=((task.units, 20 * t.points[0][1]),)) for kind, t in task.ticks.items()} for task in tasks]
    tasks = tuple(replace(task, ticks=table) for task, table in zip(tasks, tables, strict=True))
    groups: tuple[DeviceGroup, ...] = tuple(replace(g, count=1 if g.home else devices, memory=None) for g in whole.devices)
    return replace(whole, phases=tasks, devices=groups)


def _chained(seed: int) -> Problem:
    """Chains of three phases, each of which continues others."""
    whole = graph(seed, 40)
    edges = [edge for edge in whole.edges if edge.target % 3 == 0]
    edges += [Edge(PhaseIndex(q - 1), PhaseIndex(q)) for q in range(1, 40) if q % 3]
    return replace(whole, edges=tuple(edges), devices=tuple(replace(group, memory=None) for group in whole.devices))


@dataclass
class Row:
    """Instances on which something is worse without the strategy (and better: it stood in the way)."""

    used: int = 0
    proved: list[str] = field(default_factory=list)
    longer: list[float] = field(default_factory=list)
    shorter: list[float] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    seconds: float = 0.0


def timed(problem: Problem, without: frozenset[str] = frozenset()) -> tuple[Answer, float]:
    begun = time.perf_counter()
    answer = plan_problem(problem, replace(QUICK, without=without))
    return answer, time.perf_counter() - begun


class Watch:
    """The strategies that changed something in a run."""

    def __init__(self) -> None:
        self.active: set[str] = set()

    def of(self, strategy: Strategy) -> Strategy:
        def run(context: Context) -> None:
            before = self.state(context)
            strategy.run(context)
            if self.state(context) != before:
                self.active.add(strategy.name)

        return replace(strategy, run=run)

    @staticmethod
    def state(context: Context) -> tuple[object, ...]:
        found = context.found
        return found.schedule, found.bound, len(context.candidates), context.guided is None, context.conflict


@dataclass
class Table:
    """What was seen so far."""

    rows: dict[str, Row]
    total: int = 0
    proved: int = 0
    gaps: list[float] = field(default_factory=list)

    def add(self, name: str, problem: Problem) -> None:
        listed, watch = recipe.STRATEGIES, Watch()
        recipe.STRATEGIES = tuple(map(watch.of, listed))  # type: ignore[misc]
        whole, seconds = timed(problem)
        recipe.STRATEGIES = listed  # type: ignore[misc]
        print(f"{name}: {whole.status.value} {whole.values} {sorted(watch.active)} {seconds:.1f} s", file=sys.stderr, flush=True)
        parts = [(each, *timed(problem, frozenset({each}))) for each in sorted(watch.active)]
        self.total += 1
        self.proved += whole.status is Status.OPTIMAL
        self.gaps += [] if whole.schedule is None else [1 - whole.lower_bound / max(1, whole.values[0])]
        for each, part, spent in parts:
            row = self.rows[each]
            row.used += 1
            row.seconds += spent - seconds
            if whole.status in (Status.OPTIMAL, Status.IMPOSSIBLE) and part.status is not whole.status:
                row.proved.append(name)
            if whole.schedule is None or part.schedule is None:
                continue
            times, bounds = part.values[0] / max(1, whole.values[0]), part.lower_bound / max(1, whole.lower_bound)
            row.longer += [times] if times > 1 else []
            row.shorter += [times] if times < 1 else []
            row.lower += [bounds] if bounds < 1 else []

    def show(self, count: int) -> None:
        print("# What each strategy earns\n")
        print(f"`python benchmarks/strategies.py {count}`: {self.total} instances, {self.proved} proved with all, mean gap")
        print(f"{100 * mean(self.gaps):.2f} %. A row is of runs without that strategy; *used*: it changed anything on so many.\n")
        print("| strategy | used | no longer proved | longer schedules (mean) | shorter | lower bounds (mean) | seconds more |")
        print("|---|---|---|---|---|---|---|")
        for name, row in self.rows.items():
            print(
                f"| {name} | {row.used} | {len(row.proved)} | {_of(row.longer)} | {_of(row.shorter)} | {_of(row.lower)} | "
                f"{row.seconds:+.1f} |"
            )


def main(count: int) -> None:
    table = Table({strategy.name: Row() for strategy in recipe.STRATEGIES})
    try:
        for name, problem in instances(count):
            table.add(name, problem)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    table.show(count)


def _of(ratios: list[float]) -> str:
    return f"{len(ratios)} ({100 * (mean(ratios) - 1):+.1f} %)" if ratios else "0"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
