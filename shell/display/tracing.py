"""`rho run --trace FILE`: when each stage and each phase of a run took place, beside what was predicted, for Perfetto.

The executor tells of a step when it is over.  Phases inside loops are recorded one by one up to `MOST` of them; what comes after
counts only in the bar of its loop.

Neighbours: `running` (stages), `backend.run.executor` (steps), `backend.schedule.pictures` (the format).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...backend.schedule.plan.model import BranchStep, CellsStep, LoopStep, RunStep
from ...lang.diagnostics import RhoError
from ..cli.arguments import UsageError
from ..execution.watching import StageTimes

if TYPE_CHECKING:
    from ...backend.graph.phases import Phase
    from ...backend.run.machine import Observer
    from ...backend.schedule.pictures.chart import Chart, Lane
    from ..stages import Loaded

MOST: Final = 100_000


@dataclass(slots=True)
class Recorder(StageTimes):
    """Collects also the times of phases; `parts` are (thread, phase, start, end)."""

    parts: list[tuple[int, Phase, int, int]] = field(default_factory=list)
    left_out: int = 0
    _first: bool = True

    @property
    def observer(self) -> Observer | None:
        """For the first run; those that measure again are not drawn."""
        first, self._first = self._first, False
        return self._record if first else None

    def _record(self, phase: Phase, ns: int) -> None:
        end = time.perf_counter_ns() - self.started
        if len(self.parts) < MOST:
            self.parts.append((threading.get_ident(), phase, end - ns, end))
        else:
            self.left_out += 1

    def text(self) -> str:
        """The trace: JSON that opens in Perfetto."""
        from ...backend.schedule.pictures.chart import Chart
        from ...backend.schedule.pictures.trace import trace_json
        from ...backend.schedule.plan.explain_queues import time_text

        assert self.loaded is not None, "only what has run is drawn"
        end = time.perf_counter_ns() - self.started
        name = os.path.basename(self.loaded.checked.source.name)
        notes = (f"{self.left_out:,} executions inside loops are not drawn one by one",) if self.left_out else ()
        lanes = (self._stage_lane(end), *self._phase_lanes())
        title = f"{name}: {time_text(end)}" if not notes else f"{name}: {time_text(end)} ({notes[0]})"
        measured = Chart(title, notes, 1, end, None, lanes, (), (), (), (), ())
        return trace_json(_predicted(self.loaded, name), measured)

    def _stage_lane(self, end: int) -> Lane:
        from ...backend.schedule.pictures.chart import Bar, BarKind, Lane

        ends = [*(start for _, start in self.stages[1:]), end]
        bars = [
            Bar(f"stage {n}", stage.value, BarKind.CONTROL, start, after, after, stage.name.lower())
            for n, ((stage, start), after) in enumerate(zip(self.stages, ends, strict=True))
        ]
        return Lane("rho", tuple(bars), is_link=False)

    def _phase_lanes(self) -> list[Lane]:
        """One for each thread; inner phases lie under those around them."""
        from ...backend.graph import traverse
        from ...backend.schedule.pictures.chart import Bar, BarKind, Lane
        from ...backend.schedule.plan.describe import label

        assert self.loaded is not None
        bound = self.loaded.bound
        threads = list(dict.fromkeys(thread for thread, *_ in self.parts))
        lanes = []
        for number, own in enumerate(threads, 1):
            bars = []
            ran = sorted((part for part in self.parts if part[0] == own), key=lambda part: (part[2], -part[3]))
            for place, (_, phase, start, end) in enumerate(ran):
                kind = BarKind.CONTROL if any(traverse.subgraphs(phase)) else BarKind.RUN
                bars.append(Bar(f"{number}.{place}", label(phase, bound.graph), kind, start, end, end, f"phase #{phase.id}"))
            lanes.append(Lane(self._lane_name(ran, number, alone=len(threads) == 1), tuple(bars), is_link=False))
        return lanes

    def _lane_name(self, ran: Sequence[tuple[int, Phase, int, int]], number: int, *, alone: bool) -> str:
        """The device that most of what a thread ran is planned for."""
        assert self.loaded is not None
        plan = self.loaded.plan
        if alone and len(plan.devices) > 1:
            return f"{len(plan.devices)} devices, one step after the other"
        phases = {phase.id for _, phase, _, _ in ran}
        counts: dict[str, int] = {}
        for queue in plan.main.queues:
            own = {step.phase for step in queue.steps if isinstance(step, RunStep | LoopStep | BranchStep | CellsStep)}
            counts[str(queue.device)] = counts.get(str(queue.device), 0) + len(own & phases)
        return f"{max(counts, key=lambda device: counts[device])} compute" if counts else f"thread {number}"


def _predicted(loaded: Loaded, name: str) -> Chart:
    """What was predicted; a plan made without the cost model is made again with it."""
    from ...backend.schedule.pictures.of_plan import chart_of_plan
    from ..execution.scheduling import Scheduling, Use, scheduled

    plan = loaded.plan
    if plan.prediction is None:
        with suppress(RhoError):  # then only what was measured is drawn
            plan = scheduled(loaded, Scheduling(Use.LOOK)).plan
    return chart_of_plan(plan, name)


def require_writable(path: str) -> None:
    """UsageError where a trace cannot be written, before anything runs."""
    if not os.path.isdir(os.path.dirname(os.path.realpath(path))) or os.path.isdir(path):
        raise UsageError(f"--trace {path}: this file cannot be written", "its folder has to be there")


def write_trace(recorder: Recorder, path: str) -> None:
    from ..cli.results import write_whole

    try:
        write_whole(Path(path), recorder.text() + "\n")
    except OSError as error:
        raise UsageError(f"--trace {path}: this file cannot be written: {error.strerror}") from error
