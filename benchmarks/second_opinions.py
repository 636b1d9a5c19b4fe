"""What other planners find on instances of ours, and what our judge says of it.

    pip install --target FOLDER anrg-saga ortools
    python benchmarks/second_opinions.py --packages FOLDER [--effort 20] [-o benchmarks/results/second_opinions.md]

* HEFT and CPoP of the package `anrg-saga` (which has no PEFT), on instances without contention: neither may be shorter than
  Rho's plan.  Beside them stand Rho's own HEFT and PEFT.
* CP-SAT of `ortools` is given a model of every instance that was written from the notes of `backend/schedule/problem.py` and
  shares nothing with the planner.  It proposes a schedule; our judge says if it is one.

A package that is not there is left out; the folder is looked in last, so that Rho keeps its own packages.  The
last column explains each difference.  The script fails if two contradict each other: a proposal that the judge refuses, a
proposal below Rho's lower bound, or a bound of CP-SAT above Rho's plan.
It takes some minutes; CP-SAT works on one thread for `--effort` of its deterministic seconds an instance at most.
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
from itertools import product
from pathlib import Path
from typing import Any

from rho.backend.schedule.problem import (
    Answer,
    Contention,
    DeviceGroup,
    DeviceIndex,
    Edge,
    Link,
    PhaseIndex,
    PhaseTask,
    Problem,
    Schedule,
    Shard,
    Status,
    Ticks,
    Transfer,
)
from rho.backend.schedule.solve import plan_problem
from rho.backend.schedule.verify.schedules import verify_schedule
from rho.benchmarks.planning import graph


class Contradiction(Exception):
    """Rho and another planner cannot both be right."""


@dataclass(frozen=True)
class Related:
    """A random graph of tasks on processors of different speeds that divide all costs, and the problem it is."""

    costs: list[int]
    speeds: list[int]
    sizes: list[int]
    """Of the output of each task, for all that read it."""
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
        """Of HEFT and CPoP of `anrg-saga`."""
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


# ------------------------------------------------------------------------------------------------- CP-SAT


@dataclass(frozen=True)
class Proposal:
    schedule: Schedule | None
    lower_bound: int
    proved: bool


class Model:
    """The problem as CP-SAT has it: atomic phases, one device a class, no directives; contention off or one group of all links.

    A copy goes from the maker to a device that it has a link to, else from home.  `placed`: a schedule that says on which devices
    the phases run, and no more."""

    def __init__(self, problem: Problem, placed: Schedule | None = None) -> None:
        from ortools.sat.python import cp_model  # type: ignore[import-not-found]

        self.problem = problem
        self.model: Any = cp_model.CpModel()
        self.devices = range(len(problem.devices))
        self.tasks = range(len(problem.phases))
        self.readers = [[e.target for e in problem.edges if e.source == p] for p in self.tasks]
        ends = {(d, e): n for n, link in enumerate(problem.links) for d, e in self._pairs(link)}
        self.links = {pair: problem.links[n] for pair, n in ends.items()}
        self.numbers = ends
        self.horizon = self._horizon()
        self.on = {(p, d): self.model.new_bool_var("") for p, d in self._each()}
        self.comes = {(p, d): self.model.new_bool_var("") for p, d in self._each()}
        self.start, self.end = self._times(self.tasks), self._times(self.tasks)
        self.sent, self.busy, self.arrive = (self._times(list(self._each())) for _ in range(3))
        self.makespan = self.model.new_int_var(0, self.horizon, "")
        self._phases()
        self._copies()
        self._channel()
        self._memory()
        for shard in () if placed is None else placed.shards:
            self.model.add(self.on[shard.phase, shard.device] == 1)
        self.model.minimize(self.makespan)

    def _pairs(self, link: Link) -> Iterator[tuple[int, int]]:
        names = self.problem.device_names()
        ends = names.index(link.source), names.index(link.target)
        yield from (ends, ends[::-1])

    def _each(self) -> Iterator[tuple[int, int]]:
        return product(self.tasks, self.devices)

    def _times(self, keys: Any) -> dict[Any, Any]:
        return {key: self.model.new_int_var(0, self.horizon, "") for key in keys}

    def _horizon(self) -> int:
        """Everything one after the other, with two transfers of everything to every device."""
        size = sum(max(self._ticks(p, d) for d in self.devices) for p in self.tasks)
        sync = max(group.sync for group in self.problem.devices)
        slowest = [
            max(link.occupied(task.out_bytes) + link.latency + sync for link in self.links.values())
            for task in self.problem.phases
        ]
        return size + 2 * len(self.devices) * sum(slowest)

    def _ticks(self, task: int, device: int) -> int:
        return self.problem.phases[task].ticks[self.problem.devices[device].kind].at(1)

    def _from(self, maker: int, device: int) -> int:
        """Where a copy for a device is sent from."""
        return maker if (maker, device) in self.links else int(self.problem.home)

    def _phases(self) -> None:
        for p in self.tasks:
            self.model.add_exactly_one(self.on[p, d] for d in self.devices)
            self.model.add(self.end[p] == self.start[p] + sum(self.on[p, d] * self._ticks(p, d) for d in self.devices))
            self.model.add(self.makespan >= self.end[p])
        for d in self.devices:
            runs = [
                self.model.new_optional_fixed_size_interval_var(self.start[p], self._ticks(p, d), self.on[p, d], "")
                for p in self.tasks
            ]
            self.model.add_no_overlap(runs)
        for p, d in self._each():
            for q in self.readers[p]:
                ready = self.arrive[p, d] + self.problem.devices[d].sync
                self.model.add(self.start[q] >= ready).only_enforce_if(self.on[q, d], ~self.on[p, d])
                self.model.add(self.start[q] >= self.end[p]).only_enforce_if(self.on[q, d], self.on[p, d])

    def _copies(self) -> None:
        """A copy comes if it is read, or at home if it is sent on."""
        home = int(self.problem.home)
        for p, d in self._each():
            comes = self.comes[p, d]
            wanted = [self.on[q, d] for q in self.readers[p]]
            if d == home:
                for a, e in product(self.devices, self.devices):
                    if a != e and home not in (a, e) and (a, e) not in self.links:
                        relayed = self.model.new_bool_var("")
                        self.model.add_min_equality(relayed, [self.on[p, a], self.comes[p, e]])
                        wanted.append(relayed)
            self.model.add_implication(comes, ~self.on[p, d])
            self.model.add_bool_or(*wanted, ~comes)
            for want in wanted:
                self.model.add_bool_or(~want, self.on[p, d], comes)
            self.model.add(self.makespan >= self.arrive[p, d]).only_enforce_if(comes)
            for a in self.devices:
                if a == d:
                    continue
                source = self._from(a, d)
                link = self.links[source, d]
                then = comes, self.on[p, a]
                self.model.add(
                    self.busy[p, d] == self.sent[p, d] + link.occupied(self.problem.phases[p].out_bytes)
                ).only_enforce_if(*then)
                self.model.add(self.arrive[p, d] == self.busy[p, d] + link.latency).only_enforce_if(*then)
                there = self.end[p] if source == a else self.arrive[p, source]
                self.model.add(self.sent[p, d] >= there).only_enforce_if(*then)

    def _channel(self) -> None:
        if self.problem.contention is Contention.OFF:
            return
        taken = []
        for p, d in self._each():
            length = self.model.new_int_var(0, self.horizon, "")
            taken.append(self.model.new_optional_interval_var(self.sent[p, d], length, self.busy[p, d], self.comes[p, d], ""))
        self.model.add_no_overlap(taken)

    def _memory(self) -> None:
        """An output from the start of its phase, a copy from the start of its transfer, to the end of their last use there."""
        for d, group in enumerate(self.problem.devices):
            if group.memory is None:
                continue
            held = []
            for p in self.tasks:
                present, first, last = self.model.new_bool_var(""), *self._times((0, 1)).values()
                self.model.add_max_equality(present, [self.on[p, d], self.comes[p, d]])
                self.model.add(first == self.start[p]).only_enforce_if(self.on[p, d])
                self.model.add(last >= self.end[p]).only_enforce_if(self.on[p, d])
                self.model.add(first == self.sent[p, d]).only_enforce_if(self.comes[p, d])
                self.model.add(last >= self.arrive[p, d]).only_enforce_if(self.comes[p, d])
                for q in self.readers[p]:
                    self.model.add(last >= self.end[q]).only_enforce_if(self.on[q, d])
                for e in self.devices:
                    if (d, e) in self.links:
                        self.model.add(last >= self.arrive[p, e]).only_enforce_if(self.on[p, d], self.comes[p, e])
                if not self.readers[p]:
                    self.model.add(last == self.makespan).only_enforce_if(self.on[p, d])
                length = self.model.new_int_var(0, self.horizon, "")
                held.append(self.model.new_optional_interval_var(first, length, last, present, ""))
            self.model.add_cumulative(held, [task.out_bytes for task in self.problem.phases], group.memory)

    def solve(self, effort: float) -> Proposal:
        from ortools.sat.python import cp_model

        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.max_deterministic_time = effort
        status = solver.solve(self.model)
        bound = round(solver.best_objective_bound)
        if status == cp_model.INFEASIBLE:
            raise Contradiction("CP-SAT proves that there is no schedule")
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Proposal(None, bound, proved=False)
        return Proposal(self._schedule(solver), bound, status == cp_model.OPTIMAL)

    def _schedule(self, solver: Any) -> Schedule:
        makers = [next(d for d in self.devices if solver.value(self.on[p, d])) for p in self.tasks]
        shards = [
            Shard(PhaseIndex(p), DeviceIndex(d), 0, 1, solver.value(self.start[p]), solver.value(self.end[p]))
            for p, d in enumerate(makers)
        ]
        transfers = []
        for p, d in self._each():
            if solver.value(self.comes[p, d]):
                source, size = self._from(makers[p], d), self.problem.phases[p].out_bytes
                ticks = (solver.value(table[p, d]) for table in (self.sent, self.busy, self.arrive))
                ends = DeviceIndex(source), DeviceIndex(d)
                transfers.append(Transfer(PhaseIndex(p), *ends, 0, size, size, self.numbers[source, d], *ticks))
        return Schedule(
            tuple(sorted(shards, key=lambda s: (s.start, s.phase, s.device))),
            (),
            tuple(sorted(transfers, key=lambda t: (t.start, t.phase, t.target))),
        )


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
    """How much longer HEFT of `anrg-saga` takes than Rho on random graphs without contention."""
    instances = [Related.drawn(seed) for seed in range(count)]
    found = sorted(one.makespans()[0] / plan_problem(one.problem()).values[0] for one in instances)
    if found[0] < 1 - 1e-9:
        raise Contradiction(f"HEFT of anrg-saga takes {found[0]:.3f} × as long as Rho")
    median, most = found[count // 2], found[-1]
    return f"HEFT of anrg-saga takes {median:.2f} × as long as Rho at the median of {count} such graphs, {most:.2f} × at most."


def remembering(problem: Problem, share: int | None) -> Problem:
    """With memory on each device but home for that share of all outputs, but for the two largest at least; None: with any."""
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
    lines[1:1] = [
        "",
        f"`{command}`: {spent:.0f} s of the processor. In ticks. Every proposal of CP-SAT was judged to be a schedule.",
    ]
    if options.output is not None:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
