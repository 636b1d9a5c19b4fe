"""What the executor itself takes: a step again, a step for the first time, a wait, an allocation.

Found by running programs of many small steps and taking off what their kernels take alone.

Neighbours: `measure` (puts them in the profile).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

import numpy as np

from ....lang.source import Source
from ....typechecker.check import check
from ....typechecker.elements import Kind
from ...graph import bind, lower, optimise
from ...graph.phases import LibraryPhase, Loop, Phase, Structured
from ...schedule.one_device import HOME, Detail, plan_one_device
from ...schedule.plan import Device
from ...schedule.profiles.tables import Table
from ..binding import bind_sizes
from ..cpu import CpuBackend
from ..executor import execute_plan
from .clock import Clock, low

REPEATS: Final = 15
TRIPS: Final = 200
_PROGRAM: Final = f"input x : f64[n]\noutput y ← {{1⌽⍵}}⍣{TRIPS} ⊢ x\n"
_TURNS: Final = f"input x : f64[n]\noutput y ← {{0.5+⍵×0.5}}⍣{TRIPS} ⊢ x\n"
_STEPS: Final = "input x : f64[n]\na ← +/x×x\nb ← ⌈/x-a\nc ← +/b×x\noutput y ← ⌊/x+c\n"


def kernels(threads: int) -> dict[str, Table]:
    """The first execution of a structured step, by the nodes and reads of its body: maps and sums of a few elements in programs
    that take turns, so that nothing is warmer than it is in use."""
    found: dict[int, list[int]] = {}
    texts = [f"input x : f64[n]\nb ← {'(0.5+' * length}x{')×x' * length}\noutput y ← b÷+/b\n" for length in (1, 4, 13)]
    ready = [_prepared(text, {"x": np.arange(64.0)}, threads) for text in texts]
    for _ in range(REPEATS):
        for run in ready:
            for phase, ns in run():
                if isinstance(phase, Structured):
                    found.setdefault(len(phase.body) + len(phase.reads), []).append(ns)
    sizes = sorted(found)
    times = [low(found[size]) for size in sizes]
    return {"kernel.i64": Table(tuple(sizes), tuple(max(times[: place + 1]) for place in range(len(times))))}


def turns(threads: int) -> dict[str, Table]:
    """One application in a turn of a loop that is one kernel, by the bytes it would touch; empty where loops are not kernels."""
    found: dict[int, int] = {}
    for points in (1 << 14, 1 << 16, 1 << 18):
        times = []
        run = _prepared(_TURNS, {"x": np.linspace(0, 1, points)}, threads)
        for _ in range(4):
            seen = run()
            if any(isinstance(phase, Structured) for phase, _ in seen):
                return {}
            times.append(next(ns for phase, ns in seen if isinstance(phase, Loop)))
        found[points * 3 * Kind.F64.bytes] = max(1, low(times[1:]) // (2 * TRIPS))
    return {"turn.f64": Table(tuple(found), tuple(found.values()))}


@dataclass(frozen=True, slots=True)
class Overheads:
    launch_ns: int
    dispatch_ns: int
    sync_ns: int
    alloc_ns: int


def measure(clock: Clock, threads: int) -> Overheads:
    return Overheads(_launch(threads), _first_steps(threads), _handover(clock), _allocation(clock))


def _prepared(text: str, values: dict[str, Any], threads: int) -> Callable[[], list[tuple[Phase, int]]]:
    """A program that can be run again and again, each time with its steps and their nanoseconds."""
    checked = check(Source("<calibration>", text))
    assert checked.core is not None, checked.diagnostics
    bound = bind(optimise(lower(checked.core)), bind_sizes(checked.core, {k: v.shape for k, v in values.items()}, {}))
    plan = plan_one_device(bound, Device(HOME, "cpu", threads), detail=Detail.STEPS)

    def run() -> list[tuple[Phase, int]]:
        found: list[tuple[Phase, int]] = []
        execute_plan(plan, bound, values, {HOME: CpuBackend(threads)}, lambda phase, ns: found.append((phase, ns)))
        return found

    return run


def _launch(threads: int) -> int:
    """Of a loop of one small library step: what an iteration takes beside it."""
    found = []
    run = _prepared(_PROGRAM, {"x": np.arange(8.0)}, threads)
    for _ in range(REPEATS // 3):
        seen = run()
        whole = sum(ns for phase, ns in seen if isinstance(phase, Loop))
        inner = sum(ns for phase, ns in seen if isinstance(phase, LibraryPhase))
        found.append(max(1, (whole - inner) // TRIPS))
    return int(median(found))


def _first_steps(threads: int) -> int:
    """A small structured step the first time, with its kernel made."""
    run = _prepared(_STEPS, {"x": np.arange(64.0)}, threads)
    first = [ns for _ in range(REPEATS) for phase, ns in run() if isinstance(phase, Structured)]
    return max(1, int(median(first)))


def _handover(clock: Clock) -> int:
    """From one thread to another and back, halved."""
    there, back = threading.Event(), threading.Event()

    def answer() -> None:
        for _ in range(REPEATS):
            there.wait()
            there.clear()
            back.set()

    helper = threading.Thread(target=answer, daemon=True)
    helper.start()
    found = []
    for _ in range(REPEATS):
        start = clock.now()
        there.set()
        back.wait()
        back.clear()
        found.append(clock.now() - start)
    helper.join()
    return int(median(found)) // 2


def _allocation(clock: Clock) -> int:
    return min(clock.time(lambda: np.empty(1 << 12)) for _ in range(REPEATS))
