"""Links of a cluster, measured.

Home probes one worker of each machine; that worker probes another one of its machine, and one of the next machine.  The slowest
figure between two machines holds for all pairs of machines.

Neighbours: `probing` (one link), `profile` (makes links of the tables), `home` (asks once).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...devices.tables import Table
from .probing import link_table, rising
from .wire import Kind, Lost
from .workers import Worker


@dataclass(frozen=True, slots=True)
class Measured:
    """What a message of each of `probing.SIZES` takes: from home to a machine, between workers of a machine, between machines."""

    home: dict[str, Table]
    within: dict[str, Table]
    between: Table | None


def measure(workers: Sequence[Worker]) -> Measured:
    """Lost: a worker does not answer."""
    machines: dict[str, list[Worker]] = {}
    for worker in workers:
        machines.setdefault(worker.member.machine, []).append(worker)
    home, within, between = {}, {}, []
    groups = [*machines.values()]
    for (machine, own), following in zip(machines.items(), [*groups[1:], []], strict=True):
        first = own[0]
        home[machine] = link_table(first.member.door, first.every.context, first.process)
        if len(own) > 1:
            within[machine] = _asked(first, own[1])
        if following:
            between.append(_asked(first, following[0]))
    slowest = rising([max(times) for times in zip(*(table.ns for table in between), strict=True)]) if between else None
    return Measured(home, within, slowest)


def _asked(worker: Worker, other: Worker) -> Table:
    """What a worker measures to another."""
    (facts,) = worker.every.ask([worker], Kind.MEASURE, {"to": other.member.door})
    if "words" in facts:
        raise Lost(worker.process, f"it cannot reach {other.member.address}: {facts['words']}")
    return rising(facts["ns"])
