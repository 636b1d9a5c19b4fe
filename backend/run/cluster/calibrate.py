"""Links of a cluster, measured by messages on connections such as runs have: encrypted where they are, and through the same code.

A probe is an array that the other end answers with a few bytes once it has all of it.  Home probes one worker of each machine;
that worker probes another one of its machine, and one of the next machine.  The slowest figure between two machines holds for
all pairs of machines.  All times are of the clock of who sends.

Neighbours: `wire`, `resident` (answers), `profile` (makes links of the tables), `home` (asks once).
"""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Final

import numpy as np

from ...devices.tables import Table
from .membership import Member
from .shares import Process
from .wire import Kind, Lost, connect

SIZES: Final = (4096, 1 << 17, 2 << 20)
"""Bytes; above the last one time is in proportion to size."""
_TRIES: Final = (20, 5, 4)
_DIGITS: Final = 2
"""Of a figure, which is no more exact than that."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a message of each of `SIZES` takes: from home to a machine, between workers of a machine, between machines."""

    home: dict[str, Table]
    within: dict[str, Table]
    between: Table | None


def link_table(host: str, port: int, token: str, context: ssl.SSLContext | None, process: int = -1) -> Table:
    """What messages to a resident take.  Lost: it does not answer."""
    connection = connect(host, port, process, {"token": token, "as": "home"}, context)
    with closing(connection):

        def round_trip(size: int, tries: int) -> int:
            payload = [np.ones(size, np.uint8)] if size else []
            times = []
            for _ in range(tries + 1):
                start = perf_counter_ns()
                connection.send(Kind.PROBE, None, payload)
                while connection.receive().kind is not Kind.PROBED:
                    pass
                times.append(perf_counter_ns() - start)
            return min(times[1:])

        back = round_trip(0, _TRIES[0]) // 2
        times = [rounded(max(1, round_trip(size, tries) - back)) for size, tries in zip(SIZES, _TRIES, strict=True)]
    return rising(times)


def rising(times: Sequence[int]) -> Table:
    """A larger size never costs less."""
    return Table(SIZES, tuple(max(times[: at + 1]) for at in range(len(times))))


def rounded(ns: int) -> int:
    """To two digits, so that small changes of the machine make no other plan."""
    unit: int = 10 ** max(0, len(str(ns)) - _DIGITS)
    return round(ns / unit) * unit


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
