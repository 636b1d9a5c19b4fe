"""What the executor itself takes: a step again, a step for the first time, a wait, an allocation.

Found by running programs of many small steps and taking off what their kernels take alone.

Neighbours: `measure` (puts them in the profile).
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any, Final

import numpy as np

from ....lang.source import Source
from ....typechecker.check import check
from ....typechecker.core import Core
from ...graph import bind, lower, optimise
from ...graph.bind import BoundGraph
from ...graph.phases import LibraryPhase, Loop, Phase
from ...schedule.plan.model import Plan
from ...schedule.plan.parts import Device
from ...schedule.single.one_device import HOME, Detail, plan_one_device
from ..binding import bind_sizes
from ..cpu import CpuBackend
from ..executor import execute_plan
from .clock import Clock

REPEATS: Final = 15
TRIPS: Final = 200
_PROGRAM: Final = f"input x : f64[n]\noutput y ← {{1⌽⍵}}⍣{TRIPS} ⊢ x\n"


@dataclass(frozen=True, slots=True)
class Overheads:
    launch_ns: int
    sync_ns: int
    alloc_ns: int


def measure(clock: Clock, threads: int) -> Overheads:
    return Overheads(_launch(threads), _handover(clock), _allocation(clock))


@dataclass(frozen=True, slots=True)
class Ready:
    """A program that can be run again and again, each time with its steps and their nanoseconds."""

    bound: BoundGraph
    plan: Plan
    values: dict[str, Any]
    threads: int

    def __call__(self) -> list[tuple[Phase, int]]:
        found: list[tuple[Phase, int]] = []
        backends = {HOME: CpuBackend(self.threads)}
        execute_plan(self.plan, self.bound, self.values, backends, lambda phase, ns: found.append((phase, ns)))
        return found


def prepared(text: str, values: dict[str, Any], threads: int) -> Ready:
    core = _core(text)
    bound = bind(optimise(lower(core)), bind_sizes(core, {k: v.shape for k, v in values.items()}, {}))
    return Ready(bound, plan_one_device(bound, Device(HOME, "cpu", threads), detail=Detail.STEPS), values, threads)


@cache
def _core(text: str) -> Core:
    checked = check(Source("<calibration>", text))
    assert checked.core is not None, checked.diagnostics
    return checked.core


def _launch(threads: int) -> int:
    """Of a loop of one small library step: what an iteration takes beside it."""
    found = []
    run = prepared(_PROGRAM, {"x": np.arange(8.0)}, threads)
    for _ in range(REPEATS // 3):
        seen = run()
        whole = sum(ns for phase, ns in seen if isinstance(phase, Loop))
        inner = sum(ns for phase, ns in seen if isinstance(phase, LibraryPhase))
        found.append(max(1, (whole - inner) // TRIPS))
    return int(median(found))


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
