"""Turns of loops that run as machine code: an application that waits for the one before, and turns over rotations of the state.

A loop over rotations is run with few turns and with many: what the many take more is turns; what is left is what it takes to
begin and to end.  A vector goes turn by turn, a table in bands of rows, several turns at a time.

Neighbours: `programs` (what is run), `backend.devices.repeated` (asks).
"""

from __future__ import annotations

from math import isqrt
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ...graph.phases import Structured
from .moving import values
from .probes import Curve, Probe, Section
from .programs import loop, prepared

POINTS: Final = (1 << 10, 1 << 13, 1 << 15, 1 << 17, 1 << 18, 1 << 20, 1 << 21)
FEW, MANY = 4, 12
TRIPS: Final = 40
LONG: Final = 1 << 21
WIDTH: Final = Kind.F64.bytes


def add(section: Section, threads: int, start: int) -> None:
    """`start`: nanoseconds before the first turn.  Nothing where a loop is no machine code."""

    def probe(body: str, trips: int, x: Any, team: int, shape: str = "n") -> Probe | None:
        program = prepared(f"input x : f64[{shape}]\noutput y ← {body}⍣{trips} ⊢ x\n", {"x": x}, team)
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
    for name, shape in (("line", "n"), ("plane", "r r")):
        for count in POINTS:
            side = isqrt(count)
            state = values(count) if shape == "n" else values(side * side).reshape(side, side)
            few, many = (probe("{(⍵+1⌽⍵)÷2}", trips, state, threads, shape) for trips in (FEW, MANY))
            if few is not None and many is not None:
                _rotating(section, f"turn.{name}", 2 * WIDTH * state.size, few, many, start)


def _rotating(section: Section, table: str, size: int, few: Probe, many: Probe, start: int) -> None:
    def turn() -> float:
        return max(1.0, (many.ns - few.ns) / (MANY - FEW))

    section.point(f"{table}.f64", size, turn, Curve.RISING)
    section.point(f"{table}.ends.f64", size, lambda: few.ns - start - FEW * turn(), Curve.RISING)
