"""The times of steps in each process of a run, converted to home's clock for an observer, and their ratio to the predicted times.

Clocks of two machines are never compared.  A worker measures from the message that starts the run to the message that ends it.
Home knows when it sent the first and received the second, and centres the worker's interval in its own.  So all times of a worker
have the same error, at most half of the time of the two messages.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from time import perf_counter_ns
from typing import Any, Final

import numpy as np

from ...lang.support.records import dataclass, field
from ..graph.phases import PhaseId
from ..schedule.plan.plan import DeviceId, RunStep, TransferStep
from ..schedule.problem import QueueKind
from ..vm.run_state import Observer, StepTiming
from .cluster_transport import ClusterTransport, Process, Shares

MOST: Final = 100_000
"""The most executions that are recorded individually; later ones are summed up by step, as a count and total time."""
_FIELDS: Final = 6
LEAST_NS: Final = 50_000_000
"""Runs whose phases take less, by prediction and by measurement, are not compared with the tables."""
IN_A_ROW: Final = 3
"""The number of consecutive runs that must be off before tables are corrected."""


@dataclass(slots=True)
class Journal:
    """The journal of one process: rows (is it a transfer, its number, its queue, start, end, count), in ns since `began`."""

    shares: Shares
    began: int = field(default_factory=perf_counter_ns)
    fields: array[int] = field(default_factory=lambda: array("q"))
    more: dict[tuple[int, int, int], list[int]] = field(default_factory=dict)

    def __call__(self, took: StepTiming) -> None:
        moved = isinstance(took.step, TransferStep)
        number = self.shares.transfers[took.step] if isinstance(took.step, TransferStep) else took.step.id
        key = int(moved), number, self.shares.number_of[took.queue]
        if len(self.fields) < MOST * _FIELDS:
            self.fields.extend((*key, took.start - self.began, took.end - self.began, 1))
        else:
            times, ns = self.more.get(key, (0, 0))
            self.more[key] = [times + 1, ns + took.ns]

    def rows(self) -> Any:
        """The rows as a table of integers."""
        more = [(*key, 0, ns, times) for key, (times, ns) in self.more.items()]
        recorded = np.array(self.fields, np.int64).reshape(-1, _FIELDS)
        return np.concatenate([recorded, np.array(more, np.int64).reshape(-1, _FIELDS)])

    @property
    def span(self) -> int:
        """Nanoseconds since the start."""
        return perf_counter_ns() - self.began

    @property
    def seen(self) -> Seen:
        """The journal of this process, as home would receive it."""
        return Seen("", self.began, self.span, self.began + self.span, self.rows())


@dataclass(slots=True)
class ComputeTime:
    """Compares the measured with the predicted time of one process's phases; passes each step on to `journal`."""

    expected: Mapping[int, int]
    """Predicted nanoseconds by phase."""
    journal: Journal | None = None
    ns: int = 0

    @staticmethod
    def of(shares: Shares, process: Process, journal: Journal | None) -> ComputeTime:
        """The comparison for the phases, or parts of them, that the plan assigns to a process."""
        expected: dict[int, int] = {}
        for queue in shares.plan.main.queues:
            if queue.kind is not QueueKind.COPY and shares.where.get(queue.device) == process:
                for step in queue.steps:
                    if isinstance(step, RunStep):
                        expected[step.phase] = expected.get(step.phase, 0) + (step.end - step.start) * shares.plan.tick_ns
        return ComputeTime({phase: ns for phase, ns in expected.items() if ns}, journal)

    def __call__(self, took: StepTiming) -> None:
        if self.journal is not None:
            self.journal(took)
        if not isinstance(took.step, TransferStep) and took.step.id in self.expected:
            self.ns += took.ns

    @property
    def ratio(self) -> Fraction | None:
        """The ratio of measured to predicted time; None if either is too short to tell."""
        expected = sum(self.expected.values())
        return Fraction(self.ns, expected) if expected and self.ns and max(self.ns, expected) >= LEAST_NS else None


@dataclass(slots=True)
class Drift:
    """The deviation of a process from its predictions over consecutive runs.  `factor`: the correction of its predicted times."""

    factor: Fraction = Fraction(1)
    ratios: list[Fraction] = field(default_factory=list)

    def add(self, ratio: Fraction | None, interval: tuple[float, float]) -> bool:
        """Counts a run; `interval`: the ratios that count as predicted.  Returns True if the factor changed, because IN_A_ROW
        consecutive runs were all slower, or all faster, than predicted."""
        low, high = interval
        if ratio is None:
            return False
        if low <= ratio <= high:
            self.ratios.clear()
            return False
        if self.ratios and (self.ratios[0] > 1) != (ratio > 1):
            self.ratios.clear()
        self.ratios.append(ratio)
        if len(self.ratios) < IN_A_ROW:
            return False
        self.factor = (self.factor * sorted(self.ratios)[IN_A_ROW // 2]).limit_denominator(1000) or self.factor
        self.ratios.clear()
        return True


@dataclass(slots=True)
class Seen:
    """The journal of a process as home knows it: when home requested the run, how long the process says that it took, and when it
    reported."""

    address: str = ""
    asked: int = field(default_factory=perf_counter_ns)
    span: int = 0
    answered: int = 0
    rows: Any = ()

    def has_ended(self, facts: Mapping[str, Any], arrays: Sequence[Any]) -> None:
        self.span, self.answered, (self.rows,) = facts["span"], perf_counter_ns(), arrays

    @property
    def slack(self) -> int:
        """The uncertainty of its times in nanoseconds."""
        return max(0, self.answered - self.asked - self.span) // 2

    @property
    def process(self) -> str:
        return f"{self.address}, to {self.slack / 1e6:.2f} ms" if self.address else ""


def tell(observe: Observer, crossing: ClusterTransport, journals: Iterable[Seen]) -> None:
    """Reports the steps of all processes to the observer, in home's time."""
    assert crossing.machine is not None, "it has run"
    transfers = {number: step for step, number in crossing.shares.transfers.items()}
    queues: dict[int, DeviceId] = {number: queue for queue, number in crossing.shares.number_of.items()}
    for seen in journals:
        began = seen.asked + seen.slack
        for moved, number, queue, start, end, times in np.asarray(seen.rows).tolist():
            step = transfers[number] if moved else crossing.machine.phases[PhaseId(number)]
            observe(StepTiming(step, queues[queue], began + start, began + end, times, seen.process))
