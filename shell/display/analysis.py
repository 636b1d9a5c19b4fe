"""Estimate beside actual: what `run --analyze` says of every phase of a run.

The executor reports each execution of a step; a phase's time is the sum of its executions in one run on one device, of all runs
the median, its estimate what a plan for several devices says of it, else the cost model of as many executions.  A phase inside
a loop counts on its own and in the loop's.

Neighbours: `shell.display.costs.measured` (runs), `backend.devices.cost` (estimates), `shell.execution.profiles` (whose tables).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from statistics import median
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ...backend.devices.cost import step_ns, with_interval
from ...backend.graph import traverse
from ...backend.graph.phases import Constant, Input, Output, PhaseId, Print
from ...backend.schedule.plan.describe import label
from ...backend.schedule.plan.model import (
    BranchStep,
    CellsStep,
    CombineStep,
    JoinStep,
    LoopStep,
    Plan,
    RowsStep,
    RunStep,
    TransferStep,
)
from ...backend.schedule.plan.parts import DeviceId
from ..execution.profiles import default_tables

if TYPE_CHECKING:
    from ...backend.devices.profile import Profile
    from ...backend.run.machine import Took
    from ..stages import Loaded

Where: TypeAlias = tuple[PhaseId, DeviceId]


@dataclass(frozen=True, slots=True)
class Row:
    """One phase on one device: executions, the time they took, and the estimate with its interval (None: no table)."""

    phase: str
    device: str
    times: int
    actual_ns: int
    estimate_ns: int | None
    p10_ns: int | None
    p90_ns: int | None

    @property
    def surprising(self) -> bool:
        """Outside the interval?"""
        return self.p10_ns is not None and self.p90_ns is not None and not self.p10_ns <= self.actual_ns <= self.p90_ns

    @property
    def ratio(self) -> float | None:
        """Actual over estimate."""
        return None if not self.estimate_ns else self.actual_ns / self.estimate_ns

    @staticmethod
    def of(found: Mapping[str, Any]) -> Row:
        """What `json` made."""
        return Row(*(found[field.name] for field in fields(Row)))

    def json(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": None if self.ratio is None else round(self.ratio, 3)}


@dataclass(slots=True)
class Observed:
    """Collects what an executor reports, run by run: by phase and device the nanoseconds in each run, the executions in the
    last."""

    spent: dict[Where, list[int]] = field(default_factory=dict)
    times: dict[Where, int] = field(default_factory=dict)
    runs: int = 0

    def next_run(self) -> None:
        self.runs += 1
        self.times.clear()

    def __call__(self, took: Took) -> None:
        if isinstance(took.step, TransferStep):
            return
        where = took.step.id, took.queue
        found = self.spent.setdefault(where, [])
        if where in self.times:
            found[-1] += took.ns
        else:
            found.append(took.ns)
        self.times[where] = self.times.get(where, 0) + took.times


def rows(loaded: Loaded, observed: Observed, profile: Profile) -> list[Row]:
    """In the order of the program; phases that only name, read or show data are left out."""
    found = []
    planned, chains = _planned(loaded.plan), _chains(loaded.plan)
    phases = {phase.id: phase for phase in loaded.bound.graph.phases}
    shown = [one for one in traverse.all_phases(loaded.bound.graph) if not isinstance(one, Constant | Input | Output | Print)]
    places = [(phase, device) for phase in shown for device in loaded.plan.devices if (phase.id, device.id) in observed.times]
    for phase, device in places:
        where, own = (phase.id, device.id), replace(profile.home, threads=device.threads)
        times = observed.times[where]
        estimate = step_ns(phase, loaded.bound, own, profile.calibration, times)
        if phase.id in chains:  # at most what its members would take apart
            members = [phases[member] for member in chains[phase.id]]
            each = [step_ns(member, loaded.bound, own, profile.calibration, times) for member in members]
            known = [one.ns for one in each if one is not None]
            estimate = with_interval(sum(known), profile.calibration) if len(known) == len(each) else None
        if where in planned:
            estimate = with_interval(planned[where], profile.calibration)
        numbers = (None, None, None) if estimate is None else (estimate.ns, estimate.p10, estimate.p90)
        members = [phases[member] for member in chains.get(phase.id, ())] or [phase]
        name = ", ".join(label(member, loaded.bound.graph) for member in members)
        found.append(Row(name, str(device.id), times, int(median(observed.spent[where])), *numbers))
    return found


def _chains(plan: Plan) -> dict[PhaseId, tuple[PhaseId, ...]]:
    """The members of chains along rows by the last one, which the executor names."""
    steps = (step for queue in plan.main.queues for step in queue.steps)
    return {step.phases[-1]: step.phases for step in steps if isinstance(step, RowsStep)}


def _planned(plan: Plan) -> dict[Where, int]:
    """What the steps of a plan for several devices are planned to take, in ns."""
    found: dict[Where, int] = {}
    for queue in plan.main.queues if plan.prediction is not None else ():
        for step in queue.steps:
            if isinstance(step, RunStep | LoopStep | JoinStep | BranchStep | CellsStep | CombineStep):
                where = step.phase, queue.device
                found[where] = found.get(where, 0) + (step.end - step.start) * plan.tick_ns
    return found


def table(rows: list[Row], *, runs: int, calibrated: bool, unusable: str = "") -> list[str]:
    """As lines of text; `unusable`: why a stored calibration is not used."""
    if not rows:
        return []
    several = len({row.device for row in rows}) > 1
    head = ("phase", *(("device",) if several else ()), "times")
    head += (f"estimate µs{'' if calibrated else ' (uncalibrated)'}", "p10 – p90", "actual µs", "ratio")
    cells = [head]
    for row in rows:
        interval = "" if row.p10_ns is None or row.p90_ns is None else f"{_micro(row.p10_ns)} – {_micro(row.p90_ns)}"
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        estimate = "no table" if row.estimate_ns is None else _micro(row.estimate_ns)
        place = (row.device,) if several else ()
        cells.append((_cut(row.phase), *place, str(row.times), estimate, interval, _micro(row.actual_ns), ratio))
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    made = [
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))])
        for line in cells
    ]
    made.append(f"actual: the median of {runs} runs after the first, kernels warm" if runs > 1 else "actual: of one more run")
    if not calibrated:
        made.append(f"estimates are by {default_tables(unusable)}")
    elif any(row.surprising for row in rows):
        made.append("some times lie outside their interval; `rho devices --refine` measures longer")
    return made


BUDGET_MS: Final = 100
"""What a module of machine code may take to be made."""


def compiled(code: Mapping[str, Any]) -> str:
    """What machine code cost."""
    if not code["compiled"]:
        return f"machine code: nothing compiled, {code['from_cache']} from the cache"
    longest = code["longest"] * 1000
    over = f", over its budget of {BUDGET_MS} ms" if longest > BUDGET_MS else ""
    return (
        f"machine code: {code['compiled']} compiled in {code['seconds'] * 1000:.1f} ms (the longest {longest:.1f} ms{over}), "
        f"{code['from_cache']} from the cache"
    )


def _micro(ns: int) -> str:
    return f"{ns / 1000:.1f}"


def _cut(text: str, width: int = 48) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
