"""Compares the planner with other planners on its instances; their schedules are verified by the judge.

    pip install --target FOLDER anrg-saga ortools
    python benchmarks/second_opinions.py --packages FOLDER [--effort 20] [-o benchmarks/results/second_opinions.md]

* HEFT and CPoP of the package `anrg-saga` (which has no PEFT), on instances without contention: neither may be shorter than Rho's
plan.
  Rho's own HEFT and PEFT are listed too.
* CP-SAT of `ortools`, on a model of every instance (`cp_sat.py`), whose schedule the judge verifies.

A package that is not installed is skipped; the folder is searched last, so that Rho keeps its own packages.  The last column
explains each difference.  The script fails on a contradiction: a schedule that the judge rejects, a schedule below Rho's lower
bound, or a bound of CP-SAT above Rho's plan.  It takes some minutes; CP-SAT runs on one thread, for at most `--effort`
deterministic seconds an instance.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.problem import Answer, Contention, DeviceGroup, Edge, Link, PhaseIndex, PhaseTask, Problem, Status
from rho.backend.schedule.search.portfolio import plan_problem
from rho.backend.schedule.verify.schedule_checks import verify_schedule
from rho.benchmarks.cp_sat import Contradiction, Model, Proposal
from rho.benchmarks.planning import graph

LEGEND = """Lengths are in ticks. Every proposal of CP-SAT was judged
to be a schedule. A heuristic has *none* where what it does breaks a constraint; anrg-saga knows neither a shared bus nor memory,
and has no PEFT."""


@dataclass(frozen=True)
class Related:
    """A random task graph on processors whose speeds divide all costs, which both planners can represent."""

    costs: list[int]
    speeds: list[int]
    sizes: list[int]
    """The size of the output of each task."""
    edges: list[tuple[int, int]]
    rates: dict[tuple[int, int], int]
    """Speeds of the links between processors."""

    @classmethod
    def drawn(cls, seed: int) -> Related:
        draw = random.Random(1000 + seed)
        count, nodes = draw.randint(8, 16), draw.randint(3, 4)
        costs = [60 * draw.randint(1, 20) for _ in range(count)]
        speeds = [draw.choice((1, 2, 3, 4, 5, 6)) for _ in range(nodes)]
        sizes = [6 * draw.randint(0, 60) for _ in range(count)]
        rates = {(a, b): draw.choice((1, 2, 3)) for a in range(nodes) for b in range(a + 1, nodes)}
        edges = [(p, q) for q in range(1, count) for p in sorted(draw.sample(range(q), min(q, draw.randint(1, 3))))]
        return cls(costs, speeds, sizes, edges, rates)

    def problem(self) -> Problem:
        devices = tuple(DeviceGroup(f"n{i}", f"n{i}", home=i == 0) for i in range(len(self.speeds)))
        links = tuple(Link(f"l{a}{b}", f"n{a}", f"n{b}", bytes_per_tick=Fraction(rate)) for (a, b), rate in self.rates.items())
        phases = tuple(
            PhaseTask(f"t{p}", {f"n{i}": Ticks(((1, cost // speed),)) for i, speed in enumerate(self.speeds)}, out_bytes=size)
            for p, (cost, size) in enumerate(zip(self.costs, self.sizes, strict=True))
        )
        edges = tuple(Edge(PhaseIndex(p), PhaseIndex(q)) for p, q in self.edges)
        return Problem(devices, links, phases, edges, contention=Contention.OFF)

    def makespans(self) -> tuple[float, float]:
        """The makespans of HEFT and CPoP of `anrg-saga`."""
        from saga import Network, TaskGraph  # type: ignore[import-not-found]
        from saga.schedulers.cpop import CpopScheduler  # type: ignore[import-not-found]
        from saga.schedulers.heft import HeftScheduler  # type: ignore[import-not-found]

        logging.getLogger().setLevel(logging.ERROR)
        network = Network.create(
            [(f"n{i}", float(speed)) for i, speed in enumerate(self.speeds)],
            [(f"n{a}", f"n{b}", float(rate)) for (a, b), rate in self.rates.items()],
        )
        tasks = TaskGraph.create(
            [(f"t{p}", float(cost)) for p, cost in enumerate(self.costs)],
            [(f"t{p}", f"t{q}", float(self.sizes[p])) for p, q in self.edges],
        )
        heft, cpop = (one.schedule(network, tasks).makespan for one in (HeftScheduler(), CpopScheduler()))
        return heft, cpop


# ------------------------------------------------------------------------------------------------- table


def explained(answer: Answer, proposal: Proposal) -> str:
    ours, bound = answer.values[0], answer.lower_bound
    if proposal.lower_bound > ours:
        raise Contradiction(f"CP-SAT proves {proposal.lower_bound} and Rho has {ours}")
    theirs = None if proposal.schedule is None else proposal.schedule.makespan
    if theirs is not None and theirs < bound:
        raise Contradiction(f"Rho proves {bound} and CP-SAT has {theirs}")
    proofs = f"Rho {'proves it' if answer.status is Status.OPTIMAL else f'proves {bound}'}"
    proofs += f", CP-SAT {'proves it' if proposal.proved else f'proves {proposal.lower_bound}'}"
    if theirs == ours:
        return f"the same: {proofs}"
    if theirs is None:
        return f"CP-SAT has no schedule at this effort: {proofs}"
    longer, share = ("Rho's", (ours - theirs) / theirs) if ours > theirs else ("CP-SAT's", (theirs - ours) / ours)
    return f"{longer} search ended {100 * share:.1f} % above the other: {proofs}"


def judged(problem: Problem, proposal: Proposal) -> None:
    violations = () if proposal.schedule is None else verify_schedule(problem, proposal.schedule)
    if violations:
        raise Contradiction("the judge refuses what CP-SAT proposes: " + "; ".join(str(v) for v in violations))


def row(name: str, problem: Problem, related: Related | None, effort: float) -> str:
    answer = plan_problem(problem)
    cells = [name, f"{len(problem.phases)} × {len(problem.devices)}", f"{answer.values[0]} ({answer.lower_bound})"]
    reference = {one.name: one.ticks for one in answer.baselines}
    cells += [str(reference.get(one) or "none") for one in ("HEFT", "PEFT")]
    if related is None or find_spec("saga") is None:
        cells += ["—", "—"]
    else:
        found = related.makespans()
        if min(found) < answer.values[0] - 1e-6:
            raise Contradiction(f"{name}: a heuristic of anrg-saga has {min(found)}, Rho {answer.values[0]}")
        cells += [f"{one:.0f}" for one in found]
    if find_spec("ortools") is None:
        cells += ["—", "not installed"]
    else:
        proposal = Model(problem).solve(effort)
        judged(problem, proposal)
        note = ""
        if proposal.schedule is None:
            placed = Model(problem, answer.schedule).solve(effort)
            judged(problem, placed)
            note = "; on Rho's devices CP-SAT has " + ("none" if placed.schedule is None else f"{placed.schedule.makespan}")
        theirs = "none" if proposal.schedule is None else proposal.schedule.makespan
        cells += [f"{theirs} ({proposal.lower_bound})", explained(answer, proposal) + note]
    return "| " + " | ".join(cells) + " |"


def ratios(count: int) -> str:
    """The ratios of the makespans of `anrg-saga`'s HEFT to Rho's on random graphs without contention, as text."""
    instances = [Related.drawn(seed) for seed in range(count)]
    found = sorted(one.makespans()[0] / plan_problem(one.problem()).values[0] for one in instances)
    if found[0] < 1 - 1e-9:
        raise Contradiction(f"HEFT of anrg-saga takes {found[0]:.3f} × as long as Rho")
    median, most = found[count // 2], found[-1]
    return f"HEFT of anrg-saga takes {median:.2f} × as long as Rho at the median of {count} such graphs, {most:.2f} × at most."


def remembering(problem: Problem, share: int | None) -> Problem:
    """The problem with memory on each device but home for 1/`share` of all outputs, at least the two largest; None: unlimited."""
    sizes = [task.out_bytes for task in problem.phases]
    memory = None if share is None else max(sum(sizes) // share, 2 * max(sizes))
    groups = tuple(replace(group, memory=None if group.home else memory) for group in problem.devices)
    return replace(problem, devices=groups)


def instances() -> Iterator[tuple[str, Problem, Related | None]]:
    for seed in range(7):
        related = Related.drawn(seed)
        yield f"no contention {seed}", related.problem(), related
    for seed in range(4):
        yield f"one bus {seed}", remembering(graph(seed, 16), None), None
    for seed in range(3):
        yield f"one bus, more phases {seed}", remembering(graph(seed, 30), None), None
    for seed in range(6):
        yield f"one bus, little memory {seed}", remembering(graph(seed, 10), 6), None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effort", type=float, default=20.0, help="deterministic seconds of CP-SAT an instance")
    parser.add_argument("-o", "--output", type=Path, help="a file for the table")
    parser.add_argument("--packages", type=Path, help="a folder of other packages")
    options = parser.parse_args()
    if options.packages is not None:
        sys.path.append(str(options.packages))
    begun = time.process_time()
    lines = [
        "# Second opinions", "",
        "| instance | phases × devices | Rho (bound) | Rho's HEFT | Rho's PEFT | HEFT of anrg-saga | CPoP of anrg-saga"
        " | CP-SAT (bound) | difference |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for name, problem, related in instances():
        lines.append(row(name, problem, related, options.effort))
        print(lines[-1], flush=True)
    if find_spec("saga") is not None:
        lines += ["", ratios(100)]
        print(lines[-1])
    spent = time.process_time() - begun
    command = f"python benchmarks/second_opinions.py --effort {options.effort:g}"
    today = time.strftime("%Y-%m-%d", time.gmtime())
    lines[1:1] = ["", f"`{command}`, {today}: {spent:.0f} s of the processor. {LEGEND}"]
    if options.output is not None:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
