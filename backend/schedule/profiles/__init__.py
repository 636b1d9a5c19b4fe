"""Devices as data and what phases cost on them.

    profile = load_profile("workstation")                          # shipped, or a file
    groups, links = to_devices(profile)
    ticks = phase_ticks(phase, bound, profile, groups[0])          # Ticks, or None: it cannot run there

Neighbours: `backend.schedule.problem` (what planners get), `backend.run.calibration` (measures this machine's tables).
"""

from __future__ import annotations

from .cost import Cut, Estimate, Execution, combine_ticks, making_ticks, missing_operation, phase_ticks, step_ns
from .profile import Calibration, DeviceProfile, LinkProfile, Power, Profile, to_devices
from .reading import read_profile
from .shipped import load_profile, shipped_names
from .tables import Table
from .writing import canonical, fingerprint

__all__ = [
    "Calibration", "Cut", "DeviceProfile", "Estimate", "Execution", "LinkProfile", "Power", "Profile", "Table", "canonical",
    "combine_ticks", "fingerprint", "load_profile", "making_ticks", "missing_operation", "phase_ticks", "read_profile",
    "shipped_names", "step_ns", "to_devices",
]  # fmt: skip
