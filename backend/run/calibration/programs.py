"""Programs that can be run again and again, each time with its steps and their nanoseconds.

Neighbours: `probes` (times them), `moving`, `teams`, `turning`, `library`, `checking` (what is run).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from ....lang.source import Source
from ....typechecker.check import check
from ....typechecker.core import Core
from ...graph import bind, lower, optimise
from ...graph.bind import BoundGraph
from ...graph.phases import LibraryPhase, Loop, Structured
from ...schedule.plan.model import Plan
from ...schedule.plan.parts import Device
from ...schedule.single.one_device import HOME, Detail, plan_one_device
from ..binding import bind_sizes
from ..cpu import CpuBackend
from ..executor import execute_plan
from ..machine import Took

Seen: TypeAlias = list[Took]
Of: TypeAlias = Callable[[Seen], int]
"""Which of the observed times is meant."""


class PhaseByPhase(CpuBackend):
    """Whose loops are no machine code, so that their steps are seen."""

    def whole(self, *_: Any) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Program:
    bound: BoundGraph
    plan: Plan
    values: Mapping[str, Any]
    threads: int
    backend: type[CpuBackend] = CpuBackend

    def run(self) -> Seen:
        seen: Seen = []
        backends = {HOME: self.backend(self.threads)}
        execute_plan(self.plan, self.bound, self.values, backends, seen.append)
        return seen

    def timed(self, of: Of) -> Callable[[], int]:
        return lambda: of(self.run())


def prepared(text: str, values: Mapping[str, Any], threads: int, backend: type[CpuBackend] = CpuBackend) -> Program:
    core = _core(text)
    bound = bind(optimise(lower(core)), bind_sizes(core, {name: value.shape for name, value in values.items()}, {}))
    return Program(bound, plan_one_device(bound, Device(HOME, "cpu", threads), detail=Detail.STEPS), values, threads, backend)


@cache
def _core(text: str) -> Core:
    checked = check(Source("<calibration>", text))
    assert checked.core is not None, (text, checked.diagnostics)
    return checked.core


def structured(place: int) -> Of:
    return lambda seen: [took.ns for took in seen if isinstance(took.step, Structured)][place]


def library(seen: Seen) -> int:
    """The last library step."""
    return [took.ns for took in seen if isinstance(took.step, LibraryPhase)][-1]


def loop(seen: Seen) -> int:
    return next(took.ns for took in seen if isinstance(took.step, Loop))
