"""Ablation study of the planner's strategies: every instance is planned with all of them, and without each one.

`python benchmarks/strategies.py [random graphs (200)] [file [seconds]] > benchmarks/results/strategies.md`.  Results are stored
in the file, so that a run continues an earlier one; it starts no instance after so many seconds.

The instances are the task graphs of tests/corpora (Auckland, STG), some of `planning.graph` (contention and memory), large
graphs, and seeded random problems with every feature.  A strategy that changed nothing in the run with all of them (no schedule,
bound or start) is not ablated, since the answer would be the same.  Budgets count moves and solver steps, so the table does not
depend on the machine; seconds are processor time.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from statistics import mean

from rho.backend.schedule.instances.solve_instance import read_instance
from rho.backend.schedule.problem import DeviceGroup, Edge, PhaseIndex, Problem
from rho.backend.schedule.search import portfolio
from rho.backend.schedule.search.portfolio import plan_problem
from rho.backend.schedule.search.strategy import Budget, SearchContext, Strategy
from rho.benchmarks.planning import graph
from rho.tests.schedule.drawn import problem_of

HERE = Path(__file__).parent.parent / "tests" / "corpora" / "data" / "schedules"
QUICK = Budget(600, 300_000)


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
    """A graph whose phases may be split, with several devices of each class."""
    draw, whole = Random(seed), graph(seed, phases)
    tasks = tuple(replace(task, rows=draw.choice((0, 64, 1000))) for task in whole.phases)
    tables = [{kind: replace(t, points=((task.units, 20 * t.points[0][1]),)) for kind, t in task.ticks.items()} for task in tasks]
    tasks = tuple(replace(task, ticks=table) for task, table in zip(tasks, tables, strict=True))
    groups: tuple[DeviceGroup, ...] = tuple(replace(g, count=1 if g.home else devices, memory=None) for g in whole.devices)
    return replace(whole, phases=tasks, devices=groups)


def _chained(seed: int) -> Problem:
    """Chains of three phases, each of which continues another chain."""
    whole = graph(seed, 40)
    edges = [edge for edge in whole.edges if edge.target % 3 == 0]
    edges += [Edge(PhaseIndex(q - 1), PhaseIndex(q)) for q in range(1, 40) if q % 3]
    return replace(whole, edges=tuple(edges), devices=tuple(replace(group, memory=None) for group in whole.devices))


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run: the makespan (None without a schedule), the bound, the status and the seconds."""

    ticks: int | None
    bound: int
    status: str
    seconds: float


@dataclass(frozen=True)
class Measured:
    """The outcomes of an instance with all strategies, and without each one that changed something."""

    name: str
    whole: Outcome
    without: dict[str, Outcome]


def planned(problem: Problem, without: frozenset[str] = frozenset()) -> Outcome:
    begun = time.process_time()
    answer = plan_problem(problem, replace(QUICK, without=without))
    ticks = None if answer.schedule is None else answer.schedule.makespan
    return Outcome(ticks, answer.lower_bound, answer.status.value, time.process_time() - begun)


class Watch:
    """The strategies that changed something in a run."""

    def __init__(self) -> None:
        self.active: set[str] = set()

    def of(self, strategy: Strategy) -> Strategy:
        def run(context: SearchContext) -> None:
            before = self.state(context)
            strategy.run(context)
            if self.state(context) != before:
                self.active.add(strategy.name)

        return replace(strategy, run=run)

    @staticmethod
    def state(context: SearchContext) -> tuple[object, ...]:
        found = context.incumbent
        return found.schedule, found.bound, len(context.candidates), context.lp_rounded is None, context.conflict


def measured(name: str, problem: Problem) -> Measured:
    listed, watch = portfolio.STRATEGIES, Watch()
    portfolio.STRATEGIES = tuple(map(watch.of, listed))  # type: ignore[misc]
    whole = planned(problem)
    portfolio.STRATEGIES = listed  # type: ignore[misc]
    print(f"{name}: {whole.status} {whole.ticks} {sorted(watch.active)} {whole.seconds:.1f} s", file=sys.stderr, flush=True)
    return Measured(name, whole, {each: planned(problem, frozenset({each})) for each in sorted(watch.active)})


def kept(file: Path) -> dict[str, Measured]:
    """The results of an earlier run, by instance."""
    known: dict[str, Measured] = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        name, whole, without = json.loads(line)
        known[name] = Measured(name, Outcome(**whole), {each: Outcome(**one) for each, one in without.items()})
    return known


def main(count: int, file: Path | None = None, seconds: float = 1e9) -> None:
    known = {} if file is None else kept(file)
    begun = time.process_time()
    for name, problem in instances(count):
        if name not in known and time.process_time() - begun < seconds:
            known[name] = one = measured(name, problem)
            if file is not None:
                with file.open("a") as lines:
                    without = {each: asdict(outcome) for each, outcome in one.without.items()}
                    lines.write(json.dumps([name, asdict(one.whole), without]) + "\n")
    show(count, list(known.values()))


def show(count: int, every: list[Measured]) -> None:
    """Print the table as Markdown."""
    proved = sum(one.whole.status == "optimal" for one in every)
    gaps = [1 - one.whole.bound / max(1, one.whole.ticks) for one in every if one.whole.ticks is not None]
    print("# What each strategy earns\n")
    print(f"`python benchmarks/strategies.py {count}`: {len(every)} instances, {proved} proved with all, mean gap")
    print(f"{100 * mean(gaps):.2f} %. A row is of runs without that strategy; *used*: it changed anything on so many.\n")
    print("| strategy | used | no longer proved | longer schedules (mean) | shorter | lower bounds (mean) | seconds more |")
    print("|---|---|---|---|---|---|---|")
    for name in portfolio.strategy_names():
        pairs = [(one.whole, one.without[name]) for one in every if name in one.without]
        lost = sum(whole.status in ("optimal", "impossible") and part.status != whole.status for whole, part in pairs)
        both = [(whole, part) for whole, part in pairs if whole.ticks is not None and part.ticks is not None]
        times = [(part.ticks or 0) / max(1, whole.ticks or 0) for whole, part in both]
        bounds = [part.bound / max(1, whole.bound) for whole, part in both]
        longer, shorter = [ratio for ratio in times if ratio > 1], [ratio for ratio in times if ratio < 1]
        more = sum(part.seconds - whole.seconds for whole, part in pairs)
        lower = _of([ratio for ratio in bounds if ratio < 1])
        print(f"| {name} | {len(pairs)} | {lost} | {_of(longer)} | {_of(shorter)} | {lower} | {more:+.1f} |")


def _of(ratios: list[float]) -> str:
    return f"{len(ratios)} ({100 * (mean(ratios) - 1):+.1f} %)" if ratios else "0"


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(
        int(arguments[0]) if arguments else 200,
        Path(arguments[1]) if len(arguments) > 1 else None,
        float(arguments[2]) if len(arguments) > 2 else 1e9,
    )
