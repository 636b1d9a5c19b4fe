"""Scheduling problems as models of CP-SAT (`ortools`), an independent planner for `second_opinions.py`.

The model follows the definitions in `backend/schedule/problem.py` and shares only these records with the planner.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from rho.backend.schedule.problem import Contention, DeviceIndex, Link, PhaseIndex, Problem, Schedule, Shard, Transfer


class Contradiction(Exception):
    """The results of Rho and of another planner contradict each other."""


@dataclass(frozen=True)
class Proposal:
    schedule: Schedule | None
    lower_bound: int
    proved: bool


class Model:
    """The CP-SAT model of a problem with atomic phases, one device a class, no directives, and no contention or one bus.

    A copy is sent by the producer if it has a link to the device, else by home.  `placed`: a schedule that fixes the device of
    each phase."""

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
        """An upper bound of the makespan: everything in sequence, with two transfers of every output to every device."""
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
        """The device that sends a copy to a device."""
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
        """A copy exists if it is read, or, at home, if it is relayed."""
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
        """Live ranges: of an output from the start of its phase, of a copy from the start of its transfer, to the end of the last
        use."""
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
