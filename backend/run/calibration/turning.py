"""Turns of loops that run as kernels: an application that waits for the one before, and turns over rotations of the state.

A loop over rotations is run with few turns and with many: what the many take more is turns; what is left is what it takes to
begin and to end.  A vector goes turn by turn, a table in bands of rows, several turns at a time.

Neighbours: `timed`, `backend.devices.repeated` (asks).
"""

from __future__ import annotations

from math import isqrt
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ...devices.tables import Table
from ...graph.phases import Loop, Structured
from .clock import Clock, low, rising
from .overheads import prepared
from .timed import Program, Seen, take_turns

POINTS: Final = (1 << 10, 1 << 13, 1 << 15, 1 << 17, 1 << 18, 1 << 20, 1 << 21)
FEW, MANY = 4, 12
LONG: Final = 1 << 21
WIDTH: Final = Kind.F64.bytes
_VECTOR: Final = "input x : f64[n]\noutput y ← {{(⍵+1⌽⍵)÷2}}⍣{}⊢x\n"
_TABLE: Final = "input x : f64[r r]\noutput y ← {{(⍵+1⌽⍵)÷2}}⍣{}⊢x\n"


def measure(threads: int, start: int, clock: Clock, rounds: int, until: int) -> dict[str, Table]:
    """`start`: nanoseconds before the first turn."""
    found: dict[str, Table] = {}
    points, trips = 1 << 15, 40

    def turn(body: str) -> int | None:
        """Nanoseconds of a turn; None: the loop is no kernel."""
        run = prepared(f"input x : f64[n]\noutput y ← {body}⍣{trips} ⊢ x\n", {"x": np.linspace(0, 1, points)}, 1)
        if any(isinstance(phase, Structured) for phase, _ in run()):
            return None
        return max(2, (low([_loop(run()) for _ in range(9)]) - start) // trips)

    plain, series = turn("{0.5+⍵×0.5}"), turn("{*-⍵}")
    if plain is None or series is None:
        return {}
    found["turn.f64"] = Table((points * 3 * WIDTH,), (plain // 2,))
    found["turn.exp.f64"] = Table((points * 2 * WIDTH,), (max(1, series - plain // 2),))
    found.update(_long(threads, start, rounds))
    for name, text in (("line", _VECTOR), ("plane", _TABLE)):
        found.update(_rotating(name, text, threads, start, clock, rounds, until))
    return found


def _long(threads: int, start: int, rounds: int) -> dict[str, Table]:
    """A loop so long that interrupts are heard meanwhile, on one thread and on all."""
    values = {"x": np.linspace(0, 1, LONG)}
    text = "input x : f64[n]\noutput y ← {0.5+⍵×0.5}⍣20 ⊢ x\n"
    both = [Program(prepared(text, values, those), _loop) for those in (1, threads)]
    take_turns(both, rounds)
    alone, team = (max(1, one.ns - start) for one in both)
    return {"team.long.f64": Table((alone,), (team,))} if threads > 1 else {}


def _loop(seen: Seen) -> int:
    return next(ns for phase, ns in seen if isinstance(phase, Loop))


def _rotating(
    name: str, text: str, threads: int, start: int, clock: Clock, rounds: int, until: int
) -> dict[str, Table]:  # fmt: skip
    """By the bytes of the state before a turn and after it."""
    pairs: dict[int, tuple[Program, Program]] = {}
    for points in POINTS:
        values = {"x": _values(text, points)}
        few, many = (Program(prepared(text.format(trips), values, threads), _loop) for trips in (FEW, MANY))
        if any(isinstance(phase, Structured) for phase, _ in few.run()):
            return {}
        pairs[2 * WIDTH * values["x"].size] = few, many
    for place in range(rounds):
        for both in pairs.values():
            if not place or clock.now() < until:
                take_turns(both, 1)
    turns = rising([max(1.0, (many.ns - few.ns) / (MANY - FEW)) for few, many in pairs.values()])
    ends = rising([max(1.0, few.ns - start - FEW * turn) for (few, _), turn in zip(pairs.values(), turns, strict=True)])
    sizes = tuple(pairs)
    return {
        f"turn.{name}.f64": Table(sizes, tuple(map(round, turns))),
        f"turn.{name}.ends.f64": Table(sizes, tuple(map(round, ends))),
    }


def _values(text: str, points: int) -> Any:
    found = np.random.default_rng(points).random(points)
    if text is _VECTOR:
        return found
    side = isqrt(points)
    return found[: side * side].reshape(side, side)
