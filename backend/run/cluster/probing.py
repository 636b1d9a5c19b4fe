"""The time of messages of several sizes to a resident, on a connection like those of a run: the same code, and the same
encryption.

A probe is an array; the other end answers with a few bytes when it has received all of it.  All times are of the sender's clock.

Neighbours: `wire`, `resident` (answers, and probes for home), `calibrate` (says who probes whom).
"""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from contextlib import closing
from time import perf_counter_ns
from typing import Final

import numpy as np

from ...devices.tables import Table
from .wire import Door, Kind, connect

SIZES: Final = (4096, 1 << 17, 2 << 20)
"""Bytes; above the last one time is in proportion to size."""
_TRIES: Final = (20, 5, 4)
_DIGITS: Final = 2
"""Of a figure, which is no more exact than that."""


def link_table(to: Door, context: ssl.SSLContext | None, process: int = -1) -> Table:
    """What messages to a resident take.  Lost: it does not answer."""
    connection = connect(to, process, {"as": "home"}, context)
    with closing(connection):

        def round_trip(size: int, tries: int) -> int:
            payload = [np.ones(size, np.uint8)] if size else []
            times = []
            for _ in range(tries + 1):
                start = perf_counter_ns()
                connection.send(Kind.PING, None, payload)
                while connection.receive().kind is not Kind.PONG:
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
