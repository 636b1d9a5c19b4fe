"""`rho.Plan`: a schedule as a Python object, made by `Program.plan`, stored, loaded and run again.

Neighbours: `programs` (plans and runs), `shell.execution.scheduling` (options, stored plans),
`shell.display.plan_output` (pictures).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...backend.schedule.plan.model import Plan as StoredPlan
from ...lang.directives import OBJECTIVES
from ..cli.results import write_whole
from ..execution.scheduling import Effort, Scheduling, Use
from ..execution.stored_plans import read_plan
from .showing import shown

PICTURES = ("svg", "html", "dot", "trace", "gantt")


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan of a program for known sizes on known devices, verified when it was made.  `simulate`: run it here even if its
    devices are not this machine's, each held to its memory; values never depend on the plan."""

    stored: StoredPlan
    simulate: bool = False

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Plan:
        """A plan that `save` or `rho plan -o` stored.  Refused: E704, it cannot be read; E705, it is not a plan."""
        with shown({}):
            return Plan(read_plan(os.fspath(path)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Store it in canonical form (`plan/2`), whole or not at all."""
        from ...backend.schedule.plan.stored import encode_plan

        write_whole(Path(os.fspath(path)), encode_plan(self.stored).rstrip("\n") + "\n")

    def simulated(self) -> Plan:
        """The same plan, to run here as if on its devices."""
        return replace(self, simulate=True)

    @property
    def seconds(self) -> float:
        """The predicted time of a run."""
        return self._prediction[0] * self.stored.tick_ns / 1e9

    @property
    def at_least(self) -> float:
        """Seconds that no plan of its `space` goes below, as far as is proved; of an objective other than latency, its bound."""
        found = self.stored.prediction
        by_time = found is None or not found.objectives or found.objectives[0][0] == "latency"
        return self._prediction[1] * self.stored.tick_ns / 1e9 if by_time else float(self._prediction[1])

    @property
    def status(self) -> str:
        """`optimal` (of its `space`) or `gap`."""
        found = self.stored.prediction
        return "" if found is None else found.status.value

    @property
    def space(self) -> tuple[str, ...]:
        """What `at_least` and `optimal` range over, in words: whole shards or chunks, the axes of cuts, and what is not cut."""
        from ...backend.schedule.plan.space_text import space_lines

        return tuple(space_lines(self.stored))

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes it is for, by name."""
        return dict(self.stored.sizes)

    @property
    def devices(self) -> tuple[str, ...]:
        """The names of its devices."""
        return tuple(str(device.id) for device in self.stored.devices)

    @property
    def memory(self) -> dict[str, int]:
        """The most bytes live at once, by device."""
        return {str(device): count for device, count in self.stored.main.peak}

    @property
    def objectives(self) -> dict[str, int]:
        """The value of each objective, the most important first."""
        found = self.stored.prediction
        return {} if found is None else dict(found.objectives)

    def __str__(self) -> str:
        from ...backend.schedule.plan.explain_queues import queues_text

        return queues_text(self.stored)

    def __repr__(self) -> str:
        from ...backend.schedule.plan.space_text import has_other_axes
        from ..display.durations import duration

        status = self.status + (" along these axes" if self.status and has_other_axes(self.stored) else "")
        return f"<rho plan: {duration(self.seconds * 1e9)} on {len(self.devices)} devices, {status}>"

    def picture(self, format: str = "svg") -> str:
        """The text of a picture: svg, html, dot, trace (for Perfetto) or gantt.  ValueError: another format."""
        from ...backend.schedule.pictures.of_plan import chart_of_plan
        from ..display.plan_output import picture

        if format not in PICTURES:
            raise ValueError(f"a picture of a plan is one of {', '.join(PICTURES)}, not {format!r}")
        return picture(chart_of_plan(self.stored, os.path.basename(self.stored.program[0].name)), format)

    def _repr_html_(self) -> str:
        return self.picture("svg")

    @property
    def _prediction(self) -> tuple[int, int]:
        found = self.stored.prediction
        return (0, 0) if found is None else (found.makespan, found.lower_bound)


def scheduling_for(
    devices: str | os.PathLike[str] | None, objective: str | Sequence[str], budget: float | str | None
) -> Scheduling:  # fmt: skip
    """What the arguments of `Program.plan` ask.  ValueError: they mean nothing."""
    objectives = (objective,) if isinstance(objective, str) else tuple(objective)
    for name in objectives:
        if name not in OBJECTIVES:
            raise ValueError(f"an objective is one of {', '.join(OBJECTIVES)}, not {name!r}")
    efforts = {None: Effort.DEFAULT, "fast": Effort.FAST, "prove": Effort.PROVE}
    seconds: float | None = None
    if budget in efforts:
        effort = efforts[budget]
    elif isinstance(budget, int | float) and not isinstance(budget, bool) and 0 < budget <= 86_400:
        effort, seconds = Effort.DEFAULT, float(budget)
    else:
        raise ValueError(f"a budget is a number of seconds, 'fast' or 'prove', not {budget!r}")
    return Scheduling(Use.LOOK, None if devices is None else os.fspath(devices), objectives, effort, seconds)
