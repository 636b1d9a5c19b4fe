"""The profile of this machine.

The facts come from `machine`, the tables from the user's calibration or from the defaults.

Neighbours: `shell.verbs.devices`, `shell.display.analysis`, `backend.devices`, `backend.run.calibration`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from . import machine

if TYPE_CHECKING:
    from ...backend.devices.host import HostFacts
    from ...backend.devices.profile import Profile


def facts() -> HostFacts:
    from ...backend.devices.host import HostFacts

    return HostFacts(machine.cores(), machine.memory(), machine.model())


def this_machine() -> Profile:
    """As calibrated, or with default tables."""
    from ...backend.devices.host import machine_profile
    from ...backend.run.calibration.tier import numpy_version, tier_name

    return machine_profile(facts(), tier_name(), numpy_version())


def calibrate(*, refine: bool, force: bool = False) -> tuple[Profile, Path | None]:
    """Measure this machine, longer and together with what was known if `refine`; where it is kept, if it could be.

    RunFailed: others disturb it, unless what they disturbed is to be kept (`force`)."""
    from ...backend.devices.host import keep_calibration, merged
    from ...backend.run.calibration import REFINED, Effort
    from ...backend.run.calibration import calibrate as measure

    known = this_machine()
    profile = measure(facts(), effort=replace(REFINED if refine else Effort(), force=force))
    if refine and known.calibration.calibrated is not None:
        profile = merged(known, profile)
    try:
        return profile, keep_calibration(profile)
    except OSError:
        return profile, None
