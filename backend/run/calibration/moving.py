"""What it takes to run a step at all, and to move bytes past the processor: measured in programs, as phases run in use.

A program is run a few times in a row, as programs are, and the median time of its step counts.  Reading is told from a greatest
element, writing from a product; sizes are of all bytes that go round (`points`, Note [Moving]).  A small phase behind a large one
says what a step takes when the interpreter's own data have left the caches.

Neighbours: `overheads` (programs ready to run), `computing` (the other half), `backend.schedule.profiles.points` (asks).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ...graph.phases import Loop, Phase, Structured
from ...schedule.profiles.tables import Table
from .clock import Clock, low, rising
from .overheads import prepared

WIDTH: Final = Kind.F64.bytes
ROUND: Final = (1 << 16, 1 << 18, 1 << 20, 1 << 21, 1 << 22, 1 << 23, 1 << 24, 1 << 25, 1 << 26, 1 << 27)
"""Bytes that go round."""
FRESH: Final = (1 << 18, 1 << 20, 1 << 22, 1 << 24, (1 << 25) - (1 << 16), (1 << 25) + (1 << 16), 1 << 26)
BEHIND: Final = (1 << 10, 1 << 18, 1 << 20, 1 << 22, 1 << 24)
SIDES: Final = (100, 300, 500, 700, 1100, 1700)
SMALL: Final = 64
IN_A_ROW: Final = 5
_FLAT: Final = 1 << 50
"""Above the last point a table grows in proportion: what does not grow has a last point that is far away."""

Run = Callable[[], list[tuple[Phase, int]]]


@dataclass(slots=True)
class Program:
    """`of`: which of its observed phases is timed."""

    run: Run
    of: Callable[[list[tuple[Phase, int]]], int]
    times: list[int] = field(default_factory=list)

    def again(self, count: int) -> None:
        self.run()
        self.times.append(int(median([self.of(self.run()) for _ in range(count)])))

    @property
    def ns(self) -> int:
        return int(median(self.times))


def _structured(place: int) -> Callable[[list[tuple[Phase, int]]], int]:
    return lambda seen: [ns for phase, ns in seen if isinstance(phase, Structured)][place]


def _values(count: int) -> Any:
    return np.random.default_rng(count).random(count) * 0.85 + 0.1


def measure(threads: int, clock: Clock, rounds: int, until: int, most: int = ROUND[-1]) -> dict[str, Table]:
    """`most`: bytes that go round at most."""
    found = _steps(threads, rounds, most)
    reads: dict[int, int] = {}
    writes: dict[int, int] = {}
    shared: dict[int, int] = {}
    for size in (size for size in ROUND if size <= most):
        x = _values(size // WIDTH)
        ready = [
            Program(prepared(text, values, team), _structured(0))
            for text, values in ((_GREATEST, {"x": x}), (_DOUBLED, {"x": x[: len(x) // 2]})) for team in (1, threads)
        ]  # fmt: skip
        _take_turns(ready, rounds if clock.now() < until else 1)
        own = found["step.f64"].at(size) + found["first.f64"].at(size) >> 16
        greatest, greatest_shared, doubled, doubled_shared = (max(1, program.ns - own) for program in ready)
        reads[size], writes[size] = greatest, max(1, 2 * doubled - greatest)
        shared.update({greatest: greatest_shared, doubled: doubled_shared})
    found["read.f64"], found["write.f64"] = _slower(reads), _slower(writes)
    found["team.moved.f64"] = shared_out(shared)
    found["strided.f64"] = _across(rounds)
    found["pad.f64"] = _padded(rounds)
    found["fresh.f64"] = _fresh(clock, rounds)
    return found


_GREATEST: Final = "input x : f64[n]\noutput y ← ⌈/x\n"
_DOUBLED: Final = "input x : f64[n]\noutput y ← x×0.5\n"


def shared_out(found: Mapping[int, int]) -> Table:
    """From what one thread takes to what the team takes: more work never takes less, and a team never more than one thread."""
    alone = sorted(found)
    times = rising([float(min(found[ns], ns)) for ns in alone])
    return Table(tuple(alone), tuple(min(ns, max(1, round(time))) for ns, time in zip(alone, times, strict=True)))


def _take_turns(programs: Sequence[Program], rounds: int) -> None:
    for _ in range(rounds):
        for program in programs:
            program.again(IN_A_ROW)


def _slower(found: Mapping[int, int]) -> Table:
    """A byte never takes less where more of them go round; what says otherwise was disturbed."""
    sizes = sorted(found)
    rates = rising([found[size] / size for size in sizes])
    return Table(tuple(sizes), tuple(max(1, round(rate * size)) for rate, size in zip(rates, sizes, strict=True)))


def _steps(threads: int, rounds: int, most: int) -> dict[str, Table]:
    """A step by what was touched before: of a kernel, of NumPy calls, and what more its first execution takes."""
    programs: dict[tuple[str, int], Program] = {}
    for size in (size for size in BEHIND if size <= most):
        values = {"x": _values(SMALL), "y": _values(size // WIDTH)}
        text = "input x : f64[n]\ninput y : f64[m]\ns ← ⌈/y\noutput z ← {}x×s\n"
        for name, function in (("kernel", "*"), ("calls", "s-"), ("many", "s-s÷s+x×x⌈s-s÷s+x×x⌈s-")):
            programs[name, size] = Program(prepared(text.format(function), values, threads), _structured(-1))
        turns = f"input x : f64[n]\ninput y : f64[m]\noutput z ← {{⍵×⌈/y+⌈/⍵}}⍣{_TRIPS}⊢x\n"
        programs["again", size] = Program(prepared(turns, values, threads), _last_of_turn)
    _take_turns(list(programs.values()), rounds + 1)
    tables: dict[str, dict[int, int]] = {"step.f64": {}, "first.f64": {}, "call.f64": {}}
    for size in sorted({size for _, size in programs}):
        kernel, calls, many, again = (programs[name, size].ns for name in ("kernel", "calls", "many", "again"))
        tables["step.f64"][size] = again
        tables["first.f64"][size] = max(1, (kernel + calls) // 2 - again)
        tables["call.f64"][size] = max(1, (many - calls) // _MORE)
    return {name: _level(points) for name, points in tables.items()}


_TRIPS: Final = 12
_MORE: Final = 11
"""Applications that the long one of two small phases has more."""


def _last_of_turn(seen: list[tuple[Phase, int]]) -> int:
    """The smallest phase of a turn, after the first turn."""
    by_phase: dict[int, list[int]] = {}
    for phase, ns in seen:
        if isinstance(phase, Structured):
            by_phase.setdefault(phase.id, []).append(ns)
    return min(low(times[1:]) for times in by_phase.values() if len(times) > 1)


def _level(points: Mapping[int, int]) -> Table:
    sizes = sorted(points)
    times: list[int] = []
    for size in sizes:
        times.append(max(points[size], times[-1] if times else 1))
    return Table((*sizes, _FLAT), (*times, times[-1]))


def _across(rounds: int) -> Table:
    """A square and its transpose: what reading one of them across takes more than reading it along."""
    points: dict[int, int] = {}
    for side in SIDES:
        values = {"A": _values(side * side).reshape(side, side), "B": _values(side * side).reshape(side, side)}
        head = "input A : f64[r r]\ninput B : f64[r r]\n"
        along = Program(prepared(head + "output z ← A+B\n", values, 1), _structured(0))
        across = Program(prepared(head + "output z ← A+⍉B\n", values, 1), _structured(-1))
        _take_turns([along, across], rounds)
        points[side * side * WIDTH] = max(1, across.ns - along.ns)
    return _slower(points)


def _fresh(clock: Clock, rounds: int) -> Table:
    """What writing to memory that was just asked for takes more than writing to memory that was there."""
    points: dict[int, int] = {}
    for size in FRESH:
        kept = np.empty(size // WIDTH)
        again = sorted(clock.time(lambda kept=kept: kept.fill(1.0)) for _ in range(2 * rounds + 1))  # type: ignore[misc]
        fresh = sorted(clock.time(lambda size=size: np.empty(size // WIDTH).fill(1.0)) for _ in range(2 * rounds + 1))  # type: ignore[misc]
        points[size] = max(1, fresh[rounds] - again[rounds])
    return _slower(points)


def _padded(rounds: int) -> Table:
    """A read that may leave its operand."""
    points: dict[int, int] = {}
    for size in ROUND[1:-2:2]:
        values = {"x": _values(size // WIDTH), "y": _values(size // WIDTH)}
        head = "input x : f64[n]\ninput y : f64[n]\n"
        inside = Program(prepared(head + "output z ← x+y\n", values, 1), _structured(0))
        padded = Program(prepared(head + "output z ← x+(≢x)↑1↓y\n", values, 1), _structured(-1))
        _take_turns([inside, padded], rounds)
        points[size] = max(1, padded.ns - inside.ns)
    return _slower(points)


def turns(threads: int, start: int) -> dict[str, Table]:
    """An application that waits for the one before, in a loop that is one kernel; and a turn of a loop over rotations.

    `start`: nanoseconds before the first turn."""
    found: dict[str, Table] = {}
    points, trips = 1 << 15, 40
    run = prepared(f"input x : f64[n]\noutput y ← {{0.5+⍵×0.5}}⍣{trips} ⊢ x\n", {"x": np.linspace(0, 1, points)}, 1)
    seen = run()
    if any(isinstance(phase, Structured) for phase, _ in seen):
        return {}
    times = [next(ns for phase, ns in run() if isinstance(phase, Loop)) for _ in range(9)]
    found["turn.f64"] = Table((points * 3 * WIDTH,), (max(1, (low(times) - start) // (2 * trips)),))
    trips = 400
    text = f"input A : f64[r r]\noutput y ← {{(⍵+1⌽⍵)÷2}}⍣{trips} ⊢ A\n"
    run = prepared(text, {"A": np.linspace(0, 1, 256).reshape(16, 16)}, threads)
    if not any(isinstance(phase, Structured) for phase, _ in run()):
        times = [next(ns for phase, ns in run() if isinstance(phase, Loop)) for _ in range(7)]
        found["turn.step.f64"] = Table((1, _FLAT), (max(1, min(times) // trips),) * 2)
    return found
