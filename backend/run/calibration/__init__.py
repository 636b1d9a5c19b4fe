"""Measures this machine's tables through Rho's own CPU back end, so that they say what the executor will do.

    profile = calibrate(facts, clock)      # at most about 30 s

`clock` (time, and how one call is timed), `calm` (waits while other guests of the machine slow it),
`bodies` (phases made for measuring structured work), `programs` (one library op each),
`solve` (from times to tables), `measure` (what is measured at which sizes, in which order), `tier` (which kernels are in use).
"""

from __future__ import annotations

from .clock import WallClock
from .measure import REFINED, Effort, calibrate, settle_memory
from .tier import tier_name

__all__ = ["REFINED", "Effort", "WallClock", "calibrate", "settle_memory", "tier_name"]
