"""Turns of loops that run as machine code: an application that waits for the one before.

Neighbours: `programs` (what is run), `backend.devices.repeated` (asks).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ...graph.phases import Structured
from .probes import Probe, Section
from .programs import loop, prepared

TRIPS: Final = 40
LONG: Final = 1 << 21
WIDTH: Final = Kind.F64.bytes


def add(section: Section, threads: int, start: int) -> None:
    """`start`: nanoseconds before the first turn.  Nothing where a loop is no machine code."""

    def probe(body: str, trips: int, x: Any, team: int) -> Probe | None:
        program = prepared(f"input x : f64[n]\noutput y ← {body}⍣{trips} ⊢ x\n", {"x": x}, team)
        if any(isinstance(took.step, Structured) for took in program.run()):
            return None
        return section.probe(program.timed(loop))

    points = 1 << 15
    x = np.linspace(0, 1, points)
    plain, series = (probe(body, TRIPS, x, 1) for body in ("{0.5+⍵×0.5}", "{*-⍵}"))
    if plain is None or series is None:
        return

    def turn(one: Probe) -> float:
        return max(2, (one.ns - start) / TRIPS)

    section.point("turn.f64", points * 3 * WIDTH, lambda: turn(plain) / 2)
    section.point("turn.exp.f64", points * 2 * WIDTH, lambda: turn(series) - turn(plain) / 2)
    alone, team = (probe("{0.5+⍵×0.5}", 20, np.linspace(0, 1, LONG), those) for those in (1, threads))
    if alone is not None and team is not None and threads > 1:
        section.point("team.long.f64", lambda: alone.ns - start, lambda: team.ns - start)
