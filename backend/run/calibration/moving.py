"""What it takes to run a step at all, and to move bytes past the processor: measured in programs, as phases run in use.

A small phase behind a large one says what a step takes when the interpreter's own data have left the caches.

Neighbours: `programs` (what is run), `teams` (what the team makes of it), `computing` (the other half), `backend.devices.points`.
"""

from __future__ import annotations

import threading
from statistics import median
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ...graph.phases import LibraryPhase, Loop, Structured
from .probes import Clock, Curve, Probe, Section, low
from .programs import Of, PhaseByPhase, Seen, library, prepared, structured
from .samples import data

WIDTH: Final = Kind.F64.bytes
ROUND: Final = (1 << 16, 1 << 18, 1 << 19, 3 << 18, 1 << 20, 3 << 19, 1 << 21, 5 << 19, 3 << 20, 1 << 22, 3 << 21, 1 << 23,
                1 << 24, 1 << 25, 1 << 26, 1 << 27)  # fmt: skip
"""Bytes that go round; caches end somewhere between them."""
FRESH: Final = (1 << 18, 1 << 20, 1 << 22, 1 << 24, (1 << 25) - (1 << 16), (1 << 25) + (1 << 16), 1 << 26)
BEHIND: Final = (1 << 10, 1 << 18, 1 << 20, 1 << 21, 1 << 22, 1 << 24, 1 << 26)
SIDES: Final = (100, 300, 500, 700, 1100, 1700)
_TRIPS: Final = 12
_MANY_TRIPS: Final = 200
_MORE: Final = 4
"""Applications that the long one of two small phases has more: it stays NumPy's, as the short one does."""
_HEAD: Final = "input x : f64[n]\n"
_BEHIND: Final = f"{_HEAD}input y : f64[m]\n"
_BOTH: Final = f"{_HEAD}input y : f64[n]\n"
_SQUARES: Final = "input A : f64[r r]\ninput B : f64[r r]\n"


def values(count: int) -> Any:
    return data(Kind.F64, count, count)


def add_steps(section: Section, threads: int, most: int) -> None:
    """A step by what was touched before (`most` bytes at most): again, and what more its first execution takes, of a kernel, of
    NumPy calls and of a library step; and the first of a phase whose sizes only the run knows."""
    x = values(64)

    def probe(text: str, of: Of, **others: Any) -> Probe:
        return section.probe(prepared(text, {"x": x, **others}, threads, PhaseByPhase).timed(of))

    scanned = probe(f"{_HEAD}output y ← {{+\\⍵}}⍣{_TRIPS}⊢x\n", _of_turns(LibraryPhase))

    def behind(size: int) -> None:
        y = values(size // WIDTH)
        kernel, calls, many = (
            probe(f"{_BEHIND}s ← ⌈/y\noutput z ← {applied}x×s\n", structured(-1), y=y) for applied in ("*", "s-", "s-x×x⌈x-")
        )
        again = probe(f"{_BEHIND}output z ← {{⍵×⌈/y+⌈/⍵}}⍣{_TRIPS}⊢x\n", _of_turns(Structured), y=y)
        first = probe(f"{_BEHIND}output s ← ⌈/y\noutput z ← +\\x\n", library, y=y)
        section.point("step.f64", size, lambda: again.ns, Curve.LEVEL)
        section.point("first.f64", size, lambda: (kernel.ns + calls.ns) / 2 - again.ns, Curve.LEVEL)
        section.point("call.f64", size, lambda: (many.ns - calls.ns) / _MORE, Curve.LEVEL)
        section.point("first.library.f64", size, lambda: first.ns - scanned.ns, Curve.LEVEL)

    for size in (size for size in BEHIND if size <= most):
        behind(size)
    known, unknown = (probe(f"{_HEAD}y ← {made}\noutput z ← 2+y÷3+y\n", structured(-1)) for made in ("⌽+\\x", "(x>0.4)⌿x"))
    section.point("first.made.f64", 1, lambda: unknown.ns - known.ns, Curve.LEVEL)


def _of_turns(sort: type[LibraryPhase | Structured]) -> Of:
    """The smallest such phase of a turn, after the first turn."""

    def of(seen: Seen) -> int:
        by_phase: dict[int, list[int]] = {}
        for took in seen:
            if isinstance(took.step, sort):
                by_phase.setdefault(took.step.id, []).append(took.ns)
        return min(low(times[1:]) for times in by_phase.values() if len(times) > 1)

    return of


def add_awkward(section: Section) -> None:
    """What an operand that is read across, one that is read beyond its ends, and memory that was just asked for take more than
    others."""

    def pair(table: str, size: int, head: str, plain: str, more: str, operands: dict[str, Any]) -> None:
        one, other = (section.probe(prepared(head + text, operands, 1).timed(structured(-1))) for text in (plain, more))
        section.point(table, size, lambda: other.ns - one.ns, Curve.RATES)

    for side in SIDES:
        squares = {name: data(Kind.F64, side * side, place).reshape(side, side) for place, name in enumerate("AB")}
        pair("strided.f64", side * side * WIDTH, _SQUARES, "output z ← A+B\n", "output z ← A+⍉B\n", squares)
    for size in ROUND[1:-2:2]:
        vectors = {name: data(Kind.F64, size // WIDTH, place) for place, name in enumerate("xy")}
        pair("pad.f64", size, _BOTH, "output z ← x+y\n", "output z ← x+(≢x)↑1↓y\n", vectors)

    def written(size: int) -> None:
        kept = np.empty(size // WIDTH)
        again, fresh = section.call(lambda: kept.fill(1.0)), section.call(lambda: np.empty(size // WIDTH).fill(1.0))
        section.point("fresh.f64", size, lambda: fresh.ns - again.ns, Curve.RATES)

    for size in FRESH:
        written(size)


def add_own(section: Section, threads: int) -> tuple[Probe, Probe, Probe]:
    """What the executor takes for an iteration beside its step, a wait, and an allocation."""
    turning = prepared(f"{_HEAD}output y ← {{1⌽⍵}}⍣{_MANY_TRIPS} ⊢ x\n", {"x": np.arange(8.0)}, threads, PhaseByPhase)

    def beside(seen: Seen) -> int:
        known = [took for took in seen if isinstance(took.step, Loop | LibraryPhase)]
        whole = sum(took.ns if isinstance(took.step, Loop) else -took.ns for took in known)
        return max(1, whole // _MANY_TRIPS)

    wait, allocation = section.probe(lambda: _handover(section.clock)), section.call(lambda: np.empty(1 << 12))
    return section.probe(turning.timed(beside)), wait, allocation


def _handover(clock: Clock) -> int:
    """From one thread to another and back, halved."""
    there, back, repeats = threading.Event(), threading.Event(), 15

    def answer() -> None:
        for _ in range(repeats):
            there.wait()
            there.clear()
            back.set()

    helper = threading.Thread(target=answer, daemon=True)
    helper.start()
    times = []
    for _ in range(repeats):
        start = clock.now()
        there.set()
        back.wait()
        back.clear()
        times.append(clock.now() - start)
    helper.join()
    return int(median(times)) // 2
