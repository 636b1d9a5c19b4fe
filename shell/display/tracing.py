"""`rho run --trace FILE`: a trace of the stages and steps of a run, with the predicted schedule, as JSON for Perfetto.

A process of the trace is a process of the cluster, a thread is a queue.  The executor reports a step when it is over.  Phases
inside loops are recorded one by one, up to `MOST_STEPS` steps in all; later ones count only in the bar of their loop. """

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ...backend.schedule.plan.plan import DeviceId, TransferStep
from ...backend.schedule.plan.plan_text import label, time_text
from ...backend.schedule.rendering.gantt_model import Bar, BarKind, GanttChart, Lane, chart_of_plan
from ...lang.diagnostics.model import RhoError
from ...lang.support.records import dataclass, field
from ..execution.running import StageTimes

if TYPE_CHECKING:
    from ...backend.vm.run_state import Observer, StepTiming
    from ..pipeline_types import LoadedProgram

MOST_STEPS: Final = 100_000


@dataclass(slots=True)
class TraceRecorder(StageTimes):
    """Records the times of stages, and of each step of the first run.  `left_out`: executions that are not recorded one by
    one."""

    steps: list[StepTiming] = field(default_factory=list)
    left_out: int = 0
    _first: bool = True

    @property
    def observer(self) -> Observer | None:
        """The callback for the first run; None for later ones, which only measure."""
        first, self._first = self._first, False
        return self._record if first else None

    def _record(self, took: StepTiming) -> None:
        if len(self.steps) < MOST_STEPS and took.times == 1:
            self.steps.append(took)
        else:
            self.left_out += took.times

    def text(self) -> str:
        """The trace as JSON for Perfetto."""
        from ...backend.schedule.rendering.gantt import trace_json
        assert self.loaded is not None, "only what has run is drawn"
        end = time.perf_counter_ns() - self.started
        name = os.path.basename(self.loaded.checked.source.name)
        notes = (f"{self.left_out:,} executions inside loops are not drawn one by one",) if self.left_out else ()
        title = f"{name}: {time_text(end)}" if not notes else f"{name}: {time_text(end)} ({notes[0]})"
        lanes = {"": [self._stage_lane(end)]}
        for (process, _), lane in self._queue_lanes().items():
            lanes.setdefault(process, []).append(lane)
        charts = [
            GanttChart(title if not process else f"{name} on {process}", notes, 1, end, None, tuple(lane), (), (), (), (), ())
            for process, lane in lanes.items()
        ]
        return trace_json(_predicted_chart(self.loaded, name), charts)

    def _stage_lane(self, end: int) -> Lane:
        ends = [*(start for _, start in self.stages[1:]), end]
        bars = [
            Bar(f"stage {n}", stage.value, BarKind.CONTROL, start, after, after, stage.name.lower())
            for n, ((stage, start), after) in enumerate(zip(self.stages, ends, strict=True))
        ]
        return Lane("rho", tuple(bars), is_link=False)

    def _queue_lanes(self) -> dict[tuple[str, DeviceId], Lane]:
        """A lane for each process and queue; an inner phase comes after the phase around it."""
        assert self.loaded is not None
        devices = {device.id for device in self.loaded.plan.devices}
        lanes: dict[tuple[str, DeviceId], Lane] = {}
        for process, queue in sorted({(took.process, took.queue) for took in self.steps}):
            ran = [took for took in self.steps if (took.process, took.queue) == (process, queue)]
            ran.sort(key=lambda took: (took.start, -took.end))
            bars = [self._bar(f"{len(lanes)}.{index}", took) for index, took in enumerate(ran)]
            lanes[process, queue] = Lane(str(queue), tuple(bars), is_link=queue not in devices)
        return lanes

    def _bar(self, key: str, took: StepTiming) -> Bar:
        from ...backend.graph import traverse
        assert self.loaded is not None
        start, end, step, graph = took.start - self.started, took.end - self.started, took.step, self.loaded.bound.graph
        if isinstance(step, TransferStep):
            maker = next((one for one in traverse.all_phases(graph) if step.value in traverse.results(one)), None)
            name = f"#{step.value}" if maker is None else label(maker, graph)
            return Bar(key, name, BarKind.TRANSFER, start, end, end, f"{step.source} → {step.target}, {step.bytes:,} bytes")
        kind = BarKind.CONTROL if any(traverse.subgraphs(step)) else BarKind.RUN
        return Bar(key, label(step, graph), kind, start, end, end, f"phase #{step.id}")


def _predicted_chart(loaded: LoadedProgram, name: str) -> GanttChart:
    """The chart of the predicted schedule; a plan without a prediction is planned again with the cost model."""
    from ..execution.scheduling import PlanPurpose, Scheduling, plan_loaded

    plan = loaded.plan
    if plan.prediction is None:
        with suppress(RhoError):  # then only what was measured is drawn
            plan = plan_loaded(loaded, Scheduling(PlanPurpose.LOOK)).plan
    return chart_of_plan(plan, name)


def write_trace(recorder: TraceRecorder, path: str) -> None:
    """Write the trace to a file.  Raises NotWritten."""
    from ..console.standard_streams import save_text

    save_text(path, recorder.text() + "\n", f"--trace {path}: this file")
