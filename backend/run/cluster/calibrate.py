"""Links of a cluster, measured.

Home probes one worker of each machine; that worker probes another one of its machine, and one of the next machine.  The slowest
figure between two machines holds for all pairs of machines.

Neighbours: `probing` (one link), `profile` (makes links of the tables), `home` (asks once).
"""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from ...devices.tables import Table
from .membership import Member
from .probing import link_table, rising
from .shares import Process
from .wire import Kind, Lost, connect


@dataclass(frozen=True, slots=True)
class Measured:
    """What a message of each of `probing.SIZES` takes: from home to a machine, between workers of a machine, between machines."""

    home: dict[str, Table]
    within: dict[str, Table]
    between: Table | None


def measure(members: Sequence[Member], context: ssl.SSLContext | None) -> Measured:
    """Lost: a worker does not answer; its process is its place among the members, from 1."""
    machines: dict[str, list[tuple[Process, Member]]] = {}
    for at, member in enumerate(members, 1):
        machines.setdefault(member.machine, []).append((Process(at), member))
    home, within, between = {}, {}, []
    groups = [*machines.values()]
    for machine, following in zip(machines, [*groups[1:], []], strict=True):
        process, first = machines[machine][0]
        home[machine] = link_table(first.host, first.port, first.token, context, process)
        if len(machines[machine]) > 1:
            within[machine] = _asked(process, first, machines[machine][1][1], context)
        if following:
            between.append(_asked(process, first, following[0][1], context))
    slowest = rising([max(times) for times in zip(*(table.ns for table in between), strict=True)]) if between else None
    return Measured(home, within, slowest)


def _asked(process: Process, member: Member, other: Member, context: ssl.SSLContext | None) -> Table:
    """What a worker measures to another."""
    connection = connect(member.host, member.port, process, {"token": member.token, "as": "home"}, context)
    with closing(connection):
        connection.send(Kind.MEASURE, {"to": [other.host, other.port, other.token]})
        facts = connection.receive().facts
    if "ns" not in facts:
        raise Lost(process, f"it cannot reach {other.address}: {facts.get('words', 'no answer')}")
    return rising([int(ns) for ns in facts["ns"]])
