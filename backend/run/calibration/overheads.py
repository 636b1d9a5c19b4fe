"""What the executor itself takes: a step again, a step for the first time, a wait, an allocation.

Found by running programs of many small steps and taking off what their kernels take alone.

Neighbours: `measure` (puts them in the profile).
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

import numpy as np

from ....lang.source import Source
from ....typechecker.check import check
from ...graph import bind, lower, optimise
from ...graph.phases import Loop, Phase, Structured
from ...schedule.one_device import HOME, Detail, plan_one_device
from ...schedule.plan import Device
from ...schedule.profiles.tables import Table
from ..binding import bind_sizes
from ..cpu import CpuBackend
from ..executor import execute_plan
from .clock import Clock

REPEATS: Final = 15
TRIPS: Final = 400
_PROGRAM: Final = "input x : f64[n]\noutput y ← {⌊/⍵+0.5}⍣%d ⊢ ⌈/x\n"
_STEPS: Final = "input x : f64[n]\na ← +/x×x\nb ← ⌈/x-a\nc ← +/b×x\noutput y ← ⌊/x+c\n"


def kernels(threads: int) -> Table:
    """The first execution of a structured step, by the nodes and reads of its body: of a map and a sum of small vectors in
    programs that take turns, so that nothing is warmer than it is in use."""
    found: dict[int, list[int]] = {}
    texts = [f"input x : f64[n]\nb ← {'(0.5+' * length}x{')×x' * length}\noutput y ← b÷+/b\n" for length in (1, 4, 13)]
    for _ in range(REPEATS):
        for text in texts:
            for phase, ns in _run(text, {"x": np.arange(64.0)}, threads):
                if isinstance(phase, Structured):
                    found.setdefault(len(phase.body) + len(phase.reads), []).append(ns)
    sizes = sorted(found)
    times = [int(median(found[size])) for size in sizes]
    return Table(tuple(sizes), tuple(max(times[: place + 1]) for place in range(len(times))))


@dataclass(frozen=True, slots=True)
class Overheads:
    launch_ns: int
    dispatch_ns: int
    sync_ns: int
    alloc_ns: int


def measure(clock: Clock, threads: int) -> Overheads:
    steps, kernels = _first_steps(threads)
    return Overheads(_launch(threads), max(1, steps - kernels), _handover(clock), _allocation(clock))


def _run(text: str, values: dict[str, Any], threads: int) -> list[tuple[Phase, int]]:
    checked = check(Source("<calibration>", text))
    assert checked.core is not None, checked.diagnostics
    bound = bind(optimise(lower(checked.core)), bind_sizes(checked.core, {k: v.shape for k, v in values.items()}, {}))
    plan = plan_one_device(bound, Device(HOME, "cpu", threads), detail=Detail.STEPS)
    found: list[tuple[Phase, int]] = []
    execute_plan(plan, bound, values, {HOME: CpuBackend(threads)}, lambda phase, ns: found.append((phase, ns)))
    return found


def _launch(threads: int) -> int:
    """Of a loop of one small step: what an iteration takes beside its step's kernel."""
    found = []
    for _ in range(REPEATS // 3):
        seen = _run(_PROGRAM % TRIPS, {"x": np.arange(8.0)}, threads)
        whole = sum(ns for phase, ns in seen if isinstance(phase, Loop))
        inner = sum(sorted(ns for phase, ns in seen if isinstance(phase, Structured))[:-2])
        found.append(max(1, (whole - inner) // TRIPS))
    return int(median(found))


def _first_steps(threads: int) -> tuple[int, int]:
    """A structured step the first time, with its kernel found; and its kernel alone (the step again, in a loop)."""
    first, again = [], []
    for _ in range(REPEATS):
        first += [ns for phase, ns in _run(_STEPS, {"x": np.arange(64.0)}, threads) if isinstance(phase, Structured)]
    for _ in range(3):
        again += [ns for phase, ns in _run(_PROGRAM % 20, {"x": np.arange(64.0)}, threads) if isinstance(phase, Structured)]
    return int(median(first)), int(median(again))


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
