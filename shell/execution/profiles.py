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


def calibrate(*, refine: bool, force: bool = False) -> tuple[Profile, Path | str]:
    """Measure this machine, longer and together with what was known if `refine`; where it is kept, or why it is not.

    RunFailed: others disturb it, unless what they disturbed is to be kept (`force`)."""
    from ...backend.devices.host import UnusableCalibration, cache_file, keep_calibration, merged
    from ...backend.run.calibration import REFINED, Effort
    from ...backend.run.calibration import calibrate as measure

    known = this_machine()
    profile = measure(facts(), effort=replace(REFINED if refine else Effort(), force=force))
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
    """That estimates are by default tables, why, and what to do about it; `unusable`: of the profile's calibration."""
    because = f", because {unusable}" if unusable else ""
    return f"default tables{because}; `rho devices --calibrate` measures this machine"
