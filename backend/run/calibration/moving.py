"""What it takes to run a step at all, and to move bytes past the processor: measured in programs, as phases run in use.

A program is run a few times in a row, as programs are, and the median time of its step counts.  Reading is told from a greatest
element, writing from a product; sizes are of all bytes that go round (`points`, Note [Moving]).  A small phase behind a large one
says what a step takes when the interpreter's own data have left the caches.

Neighbours: `overheads` (programs ready to run), `computing` (the other half), `backend.devices.points` (asks).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ...devices.tables import Table
from ...graph.phases import LibraryPhase, Structured
from . import sharing
from .clock import Clock, low, rising
from .overheads import prepared
from .timed import Program, Seen, structured, take_turns

WIDTH: Final = Kind.F64.bytes
ROUND: Final = (1 << 16, 1 << 18, 1 << 19, 3 << 18, 1 << 20, 3 << 19, 1 << 21, 5 << 19, 3 << 20, 1 << 22, 3 << 21, 1 << 23,
                1 << 24, 1 << 25, 1 << 26, 1 << 27)  # fmt: skip
"""Bytes that go round; caches end somewhere between them."""
FRESH: Final = (1 << 18, 1 << 20, 1 << 22, 1 << 24, (1 << 25) - (1 << 16), (1 << 25) + (1 << 16), 1 << 26)
_QUICK: Final = 1 << 24
"""Bytes that are gone through in so little time that there are more rounds."""
BEHIND: Final = (1 << 10, 1 << 18, 1 << 20, 1 << 21, 1 << 22, 1 << 24, 1 << 26)
SIDES: Final = (100, 300, 500, 700, 1100, 1700)
SMALL: Final = 64
_FLAT: Final = 1 << 50
"""Above the last point a table grows in proportion: what does not grow has a last point that is far away."""


def _values(count: int) -> Any:
    return np.random.default_rng(count).random(count) * 0.85 + 0.1


def measure(threads: int, clock: Clock, rounds: int, until: int, most: int = ROUND[-1]) -> dict[str, Table]:
    """`most`: bytes that go round at most."""
    found = {**_steps(threads, rounds, most), **_firsts(threads, rounds, most)}
    reads: dict[int, int] = {}
    writes: dict[int, int] = {}
    shared = sharing.Pairs()
    ready: dict[int, list[Program]] = {}
    for size in (size for size in ROUND if size <= most):
        x = _values(size // WIDTH)
        ready[size] = [
            Program(prepared(text, values, team), structured(0))
            for text, values in ((_GREATEST, {"x": x}), (_DOUBLED, {"x": x[: len(x) // 2]})) for team in (1, threads)
        ]  # fmt: skip
    computed, others = sharing.computing(threads), sharing.others(threads)
    for place in range(rounds + 2):
        for size, programs in [*ready.items(), *((0, pair) for pair in (*computed, *chain.from_iterable(others.values())))]:
            if not place or (clock.now() < until and (place < rounds or size < _QUICK)):
                take_turns(programs, 1)

    def own(size: int) -> int:
        return found["step.f64"].at(size) + found["first.f64"].at(size) >> 16

    start = own(1)  # programs of one phase: see `Around.before`
    for size, (greatest, greatest_shared, doubled, doubled_shared) in ready.items():
        most_read, most_written = max(1, greatest.ns - start), max(1, doubled.ns - start)
        reads[size], writes[size] = most_read, max(1, 2 * most_written - most_read)
        shared.add(greatest_shared.run, most_read, max(1, greatest_shared.ns - start))
        shared.add(doubled_shared.run, most_written, max(1, doubled_shared.ns - start))
    for alone, team in computed:
        shared.add(team.run, max(1, alone.ns - start), max(1, team.ns - start))
    for name, both in others.items():
        leads = name in sharing.LEADING
        starts = [start if leads else own(sum(value.nbytes for value in team.run.values.values())) for _, team in both]
        pairs = [(max(1, one.ns - start), max(1, team.ns - start)) for (one, team), start in zip(both, starts, strict=True)]
        found[name] = sharing.mapped(pairs)
    found["read.f64"], found["write.f64"] = _slower(reads), _slower(writes)
    found.update(shared.tables())
    found["strided.f64"] = _across(rounds)
    found["pad.f64"] = _padded(rounds)
    found["fresh.f64"] = _fresh(clock, rounds)
    return found


_GREATEST: Final = "input x : f64[n]\noutput y ← ⌈/x\n"
_DOUBLED: Final = "input x : f64[n]\noutput y ← x×0.5\n"


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
            programs[name, size] = Program(prepared(text.format(function), values, threads), structured(-1))
        turns = f"input x : f64[n]\ninput y : f64[m]\noutput z ← {{⍵×⌈/y+⌈/⍵}}⍣{_TRIPS}⊢x\n"
        if size <= _QUICK:
            programs["again", size] = Program(prepared(turns, values, threads), _last_of_turn)
    take_turns(list(programs.values()), rounds + 1)
    tables: dict[str, dict[int, int]] = {"step.f64": {}, "first.f64": {}, "call.f64": {}}
    for size in sorted({size for _, size in programs}):
        kernel, calls, many = (programs[name, size].ns for name in ("kernel", "calls", "many"))
        again = programs["again", min(size, _QUICK)].ns
        tables["step.f64"][size] = again
        tables["first.f64"][size] = max(1, (kernel + calls) // 2 - again)
        tables["call.f64"][size] = max(1, (many - calls) // _MORE)
    return {name: _level(points) for name, points in tables.items()}


def _firsts(threads: int, rounds: int, most: int) -> dict[str, Table]:
    """What the first execution of a library step takes more than the next, by what was touched before; and the first of a phase
    whose sizes only the run knows."""
    x = {"x": _values(SMALL)}
    head, before = "input x : f64[n]\n", "input x : f64[n]\ninput y : f64[m]\noutput s ← ⌈/y\n"
    sizes = [size for size in BEHIND if size <= most]
    behind = [
        Program(prepared(before + "output z ← +\\x\n", {**x, "y": _values(size // WIDTH)}, threads), _of_library)
        for size in sizes
    ]
    again = Program(prepared(f"{head}output y ← {{+\\⍵}}⍣{_TRIPS}⊢x\n", x, threads), _of_library)
    known = Program(prepared(head + "y ← ⌽+\\x\noutput z ← 2+y÷3+y\n", x, threads), structured(-1))
    unknown = Program(prepared(head + "y ← (x>0.4)⌿x\noutput z ← 2+y÷3+y\n", x, threads), structured(-1))
    take_turns((*behind, again, known, unknown), rounds + 1)
    made = max(1, unknown.ns - known.ns)
    library = {size: max(1, program.ns - again.ns) for size, program in zip(sizes, behind, strict=True)}
    return {"first.library.f64": _level(library), "first.made.f64": Table((1, _FLAT), (made, made))}


def _of_library(seen: Seen) -> int:
    times = [ns for phase, ns in seen if isinstance(phase, LibraryPhase)]
    return low(times[1:] or times)


_TRIPS: Final = 12
_MORE: Final = 11
"""Applications that the long one of two small phases has more."""


def _last_of_turn(seen: Seen) -> int:
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
        along = Program(prepared(head + "output z ← A+B\n", values, 1), structured(0))
        across = Program(prepared(head + "output z ← A+⍉B\n", values, 1), structured(-1))
        take_turns([along, across], rounds)
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
        inside = Program(prepared(head + "output z ← x+y\n", values, 1), structured(0))
        padded = Program(prepared(head + "output z ← x+(≢x)↑1↓y\n", values, 1), structured(-1))
        take_turns([inside, padded], rounds)
        points[size] = max(1, padded.ns - inside.ns)
    return _slower(points)
