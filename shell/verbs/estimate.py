"""`rho estimate FILE`: how long a program would take, and what memory, on the devices of several profiles.

Sizes come from `--size`, those that lack from the headers of the program's data; nothing is run.  One device is asked at its
tables; several are planned for (heuristics and bounds, unless more is asked for), so that a profile can be chosen before its
machine is there.

Exit codes: 0, 3 the program is rejected, 4 the sizes break a fact, or no profile can run it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ...lang.diagnostics import RhoError, about
from ...lang.records import dataclass
from ..cli.arguments import Arguments
from ..cli.console import Console
from ..cli.exits import Exit
from ..cli.requests import check_given, permissions_of, request_of
from ..cli.results import print_json, wants_json
from ..cli.sources import read_source
from ..display.progress import planning
from ..execution.params import settings_of
from ..execution.scheduling import Effort, Scheduling, Use, scheduling_of
from ..execution.sizing import headers_in, sized
from ..session import Session
from ..stages import Strictness

if TYPE_CHECKING:
    from ...backend.devices.profile import Profile
    from ...backend.graph.bind import BoundGraph
    from ...typechecker.core_blocks import Core

HERE = "here"


@dataclass(frozen=True, slots=True)
class Row:
    """One profile: nanoseconds with their interval, the bytes of the fullest device, what is proved; or why it cannot run it."""

    name: str
    devices: int = 1
    ns: int = 0
    p10: int = 0
    p90: int = 0
    memory: int = 0
    proved: str = ""
    values: tuple[tuple[str, int], ...] = ()
    turns: tuple[int, int] | None = None
    refused: str = ""

    def json(self) -> dict[str, Any]:
        if self.refused:
            return {"devices": self.name, "refused": self.refused}
        return {
            "devices": self.name, "count": self.devices, "ns": self.ns, "p10_ns": self.p10, "p90_ns": self.p90,
            "memory_bytes": self.memory, "proved": self.proved, "objectives": dict(self.values),
            **({} if self.turns is None else {"turns": self.turns[0], "turn_ns": self.turns[1]}),
        }  # fmt: skip


def run(arguments: Arguments, console: Console) -> Exit:
    path = arguments.positional[0]
    request = request_of(arguments, console)
    session = Session(strictness=Strictness.STRICT if arguments.has("--strict") else Strictness.GUARDED)
    checked = session.check(read_source(path))
    core = checked.require()
    check_given(core, request)
    with about(checked.sources):
        settings, folder = settings_of(core, request.params), os.path.dirname(path)
        shapes = {name: array.shape for name, array in settings.arrays.items()}
        headers = headers_in(folder, permissions_of(arguments, request, path, folder), request.inputs)
        bound = sized(core, {**settings.sizes, **request.sizes}, shapes, headers, request.grouping.without, request.inputs)
        with planning(console):
            rows = [_row(name, core, bound, arguments) for name in _names(arguments.value("--devices") or HERE)]
    sizes = {variable.name: number for variable, number in bound.sizes.items()}
    if wants_json(arguments):
        print_json(console, {"version": 1, "sizes": sizes, "estimates": [row.json() for row in rows]})
    else:
        for line in lines(sizes, rows):
            console.print(line)
    return Exit.REFUSED if all(row.refused for row in rows) else Exit.OK


def _names(text: str) -> list[str]:
    """The profiles of `--devices`: a file may have a comma in its name."""
    return [text] if os.path.exists(text) else [name for name in text.split(",") if name]


def _row(name: str, core: Core, bound: BoundGraph, arguments: Arguments) -> Row:
    """One profile.  Refused: it is not a profile."""
    from ...backend.devices.shipped import load_profile
    from ..execution.profiles import this_machine

    profile = this_machine() if name == HERE else load_profile(name)
    asked = scheduling_of(arguments, Use.LOOK)
    effort = Effort.FAST if asked is None or not (arguments.has("--budget") or arguments.has("--prove")) else asked.effort
    scheduling = Scheduling(
        Use.LOOK, name, () if asked is None else asked.objectives, effort, None if asked is None else asked.budget
    )
    count = sum(device.count for device in profile.devices)
    if count == 1 and not core.schedules and not scheduling.objectives:
        return _alone(name, profile, bound)
    return _planned(name, core, bound, profile, scheduling)


def _alone(name: str, profile: Profile, bound: BoundGraph) -> Row:
    """A profile of one device: the sum over the program's steps."""
    from ...backend import Device, plan
    from ...backend.devices.cost import missing_operation
    from ...backend.schedule.single.one_device import HOME
    from ..display.estimates import wall_time

    found = wall_time(bound, profile, profile.home)
    if found is None:
        missing = (missing_operation(phase, bound, profile.home) for phase in bound.graph.phases)
        return Row(name, refused=f"it has no table for `{next((one for one in missing if one), 'some phase')}`")
    peak = max((count for _, count in plan(bound, Device(HOME, "cpu", profile.home.threads)).main.peak), default=0)
    memory = profile.home.memory
    if memory is not None and peak > memory:
        return Row(name, refused=f"it needs {_bytes(peak)}, and {profile.home.name} has {_bytes(memory)}")
    return Row(name, 1, found.ns, found.p10, found.p90, peak, turns=found.turns)


def _planned(name: str, core: Core, bound: BoundGraph, profile: Profile, scheduling: Scheduling) -> Row:
    """A profile of several devices, or objectives: what a plan for it promises."""
    from ...backend.devices.cost import with_interval
    from ...backend.schedule.answer import Status
    from ...backend.schedule.plan.explain_queues import judged
    from ...backend.schedule.plan.space_text import plans_text
    from ..display.durations import duration
    from ..execution.scheduling import planned_on

    try:
        plan = planned_on(core, bound, profile, scheduling).plan
    except RhoError as error:
        return Row(name, refused="; ".join(one.message for one in error.diagnostics[:2]))
    found = plan.prediction
    assert found is not None
    estimate = with_interval(found.makespan * plan.tick_ns, profile.calibration)
    peak = max((count for _, count in plan.main.peak), default=0)
    values = tuple((name, value) for name, value in found.objectives if name != "latency")
    count = sum(device.count for device in profile.devices)
    first = found.objectives[0][0] if found.objectives else "latency"
    proved, plans = judged(plan), plans_text(plan)
    if found.status is Status.OPTIMAL:
        proved = f"no {plans} is better"
    elif first == "latency":
        proved = f"no {plans} takes less than {duration(found.lower_bound * plan.tick_ns)}"
    return Row(name, count, estimate.ns, estimate.p10, estimate.p90, peak, proved, values)


def lines(sizes: dict[str, int], rows: list[Row]) -> list[str]:
    """A line a profile, the quickest marked."""
    from ..display.durations import duration

    able = [row for row in rows if not row.refused]
    quickest = min((row.ns for row in able), default=0)
    wide = max(len(row.name) for row in rows)
    shown = [" ".join(f"{name}={number}" for name, number in sizes.items())] if sizes else []
    for row in rows:
        if row.refused:
            shown.append(f"{row.name:<{wide}}  cannot run it: {row.refused}")
            continue
        time = f"{duration(row.ns)} ({duration(row.p10)} to {duration(row.p90)})"
        parts = [f"{row.name:<{wide}}  {time:<36}  {_bytes(row.memory):>9}"]
        if row.turns is not None:
            parts.append(f"{row.turns[0]} iterations of {duration(row.turns[1])}")
        if row.devices > 1:
            parts.append(f"{row.devices:,} devices")
        parts += [f"{name} {value}" for name, value in row.values]
        parts += [row.proved] if row.proved else []
        if len(able) > 1 and quickest:
            parts.append("quickest" if row.ns == quickest else f"{row.ns / quickest:.3g} × the quickest")
        shown.append("  ".join(parts))
    return shown


def _bytes(count: int) -> str:
    from ...backend.schedule.plan.explain import bytes_text

    return bytes_text(count)
