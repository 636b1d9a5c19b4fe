"""The times at which steps of a run took place in each process, converted to home's clock for an observer.

Clocks of two machines are never compared.  A worker measures from the message that starts the run to the message that ends it.
Home knows when it sent the first and received the second, and centres the worker's interval in its own.  So all times of a worker
have the same error, at most half of the time of the two messages.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter_ns
from typing import Any, Final

import numpy as np

from ...lang.support.records import dataclass, field
from ..graph.phases import PhaseId
from ..schedule.plan.plan import DeviceId, TransferStep
from ..vm.run_state import Observer, StepTiming
from .cluster_transport import ClusterTransport, Shares

MOST: Final = 100_000
"""Executions that are kept one by one; of those after them only how many, and how long they took together."""
_FIELDS: Final = 6


@dataclass(slots=True)
class Journal:
    """Of one process; rows are (is it a transfer, its number, its queue, start, end, times), in ns since `began`."""

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
        """As a table of integers."""
        more = [(*key, 0, ns, times) for key, (times, ns) in self.more.items()]
        recorded = np.array(self.fields, np.int64).reshape(-1, _FIELDS)
        return np.concatenate([recorded, np.array(more, np.int64).reshape(-1, _FIELDS)])

    @property
    def span(self) -> int:
        """Nanoseconds until now."""
        return perf_counter_ns() - self.began

    @property
    def seen(self) -> Seen:
        """Of this process itself."""
        return Seen("", self.began, self.span, self.began + self.span, self.rows())


@dataclass(slots=True)
class Seen:
    """What home knows of the journal of a process: when it asked it to run, how long that says it took, and when it said so."""

    address: str = ""
    asked: int = field(default_factory=perf_counter_ns)
    span: int = 0
    answered: int = 0
    rows: Any = ()

    def has_ended(self, facts: Mapping[str, Any], arrays: Sequence[Any]) -> None:
        self.span, self.answered, (self.rows,) = facts["span"], perf_counter_ns(), arrays

    @property
    def slack(self) -> int:
        """How far off its times may be."""
        return max(0, self.answered - self.asked - self.span) // 2

    @property
    def process(self) -> str:
        return f"{self.address}, to {self.slack / 1e6:.2f} ms" if self.address else ""


def tell(observe: Observer, crossing: ClusterTransport, journals: Iterable[Seen]) -> None:
    """What all processes of a run have seen, in home's time."""
    assert crossing.machine is not None, "it has run"
    transfers = {number: step for step, number in crossing.shares.transfers.items()}
    queues: dict[int, DeviceId] = {number: queue for queue, number in crossing.shares.number_of.items()}
    for seen in journals:
        began = seen.asked + seen.slack
        for moved, number, queue, start, end, times in np.asarray(seen.rows).tolist():
            step = transfers[number] if moved else crossing.machine.phases[PhaseId(number)]
            observe(StepTiming(step, queues[queue], began + start, began + end, times, seen.process))
