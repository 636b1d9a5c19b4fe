"""Reads stored plans and rejects invalid ones; calibrates this machine and loads its profile."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ...lang.diagnostics.model import Code, Diagnostic, Refused
from ...lang.support.files import Pipes, read_text
from ...lang.support.processes import cores as cores, memory as memory, model as model
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Source, Span

if TYPE_CHECKING:
    from ...backend.devices.profile import Profile
    from ...backend.devices.this_machine import HostFacts
    from ...backend.schedule.plan.plan import ExecutionPlan


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """A stored plan with passes over inputs, and its path."""

    plan: ExecutionPlan
    path: str


def read_plan(path: str) -> ExecutionPlan:
    """The plan in a file.  Refused: E704 unreadable, E705 not a plan."""
    from ...backend.schedule.plan.plan import LARGEST_PLAN, PlanFormatError, decode_plan

    try:
        text = read_text(path, 4 * LARGEST_PLAN, Pipes.READ)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise Refused([Diagnostic(Code.E704, f"`{path}` cannot be read: {reason}", Span(path, 0, 0))]) from None
    try:
        return decode_plan(text)
    except PlanFormatError as error:
        message = f"`{path}` is not a plan that can be read: {error}"
        notes = (f"make it again from its script: `rho plan SCRIPT -o {path}`",)
        raise Refused([Diagnostic(Code.E705, message, Span(path, 0, 0), notes=notes)]) from None


def stored_streaming_plan(path: str) -> StoredPlan | None:
    """The stored plan if it has passes over its inputs, else None.  Raises as `read_plan`."""
    plan = read_plan(path)
    if not plan.stores:
        return None
    return StoredPlan(plan, path)


def program_in(plan: ExecutionPlan, path: str) -> tuple[Source, dict[str, Source]]:
    """The source text that a stored plan holds, with paths as if it were in the plan's folder, and its modules by name.

    Refused E705: the plan holds none."""
    if not plan.program:
        raise Refused([Diagnostic(Code.E705, f"`{path}` holds no program: name its script too", Span(path, 0, 0))])
    folder, old = os.path.dirname(path), os.path.dirname(plan.program[0].name)

    if nameless := [index for index, file in enumerate(plan.program) if not file.name]:
        message = f"`{path}` is not a plan that can be read: program[{nameless[0]}] has no name"
        raise Refused([Diagnostic(Code.E705, message, Span(path, 0, 0), notes=("make it again from its script",))])

    def moved(name: str) -> str:
        return name if name.startswith("<") else os.path.normpath(os.path.join(folder, os.path.relpath(name, old or ".")))

    sources = [Source(moved(file.name), file.text) for file in plan.program]
    return sources[0], {source.name: source for source in sources[1:] if not source.name.startswith("<")}


def require_valid(faults: list[str], path: str) -> None:
    if faults:
        more = tuple(faults[1:4])
        raise Refused([Diagnostic(Code.E705, f"the plan in `{path}` is wrong: {faults[0]}", Span(path, 0, 0), notes=more)])


# ---------------------------------------------------------------------------------------------------- this machine
#
# Cost tables come from the user's calibration, or are the default ones.

def host_facts() -> HostFacts:
    from ...backend.devices.this_machine import HostFacts

    return HostFacts(cores(), memory(), model())


def this_machine() -> Profile:
    """The profile of this machine, as calibrated or with default tables."""
    from ...backend.calibration.probes import numpy_version, tier_name
    from ...backend.devices.this_machine import machine_profile

    return machine_profile(host_facts(), tier_name(), numpy_version())


def calibrate(
    *, refine: bool, force: bool = False, report: Callable[[str], None] = lambda words: None
) -> tuple[Profile, Path | str]:
    """Measure this machine; returns its profile and the path of the stored calibration, or the reason why it is not stored.

    `refine`: measure longer and merge with the stored calibration; `report` as `calibrate`'s.  RunFailed: other programs disturb
    the measurement, unless `force`."""
    from ...backend.calibration.calibrate import REFINED, CalibrationEffort, calibrate as measure
    from ...backend.devices.this_machine import UnusableCalibration, cache_file, keep_calibration, merged

    known = this_machine()
    profile = measure(host_facts(), effort=replace(REFINED if refine else CalibrationEffort(), force=force), report=report)
    if refine and known.calibration.calibrated is not None:
        profile = merged(known, profile)
    try:
        return profile, keep_calibration(profile)
    except UnusableCalibration as error:
        return profile, f"`{cache_file(profile)}` {error}"
    except OSError as error:
        path = cache_file(profile)
        return profile, f"{'' if path is None else f'`{path}` cannot be written: '}{error.strerror or error}"


def default_tables(unusable: str) -> str:
    """The text that says that estimates use default tables, and why; `unusable`: what is wrong with the stored calibration."""
    because = f", because {unusable}" if unusable else ""
    return f"default tables{because}; `rho devices --calibrate` measures this machine"
